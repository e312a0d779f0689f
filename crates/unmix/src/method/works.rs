//! The methods with which a refused request works, from the registry.

use super::{Method, all};
use crate::error::{Error, Needed};
use crate::model::Fit;
use serde_json::{Map, Value};

/// Methods that a message lists, at most; the error has all of them.
const MOST_LISTED_METHODS: usize = 8;

/// Methods whose models have what depends on their encoders, which no entry of the registry states, and the setting that they need if the
/// default is not sufficient. A test fits every method and compares.
const MODELS: &[(Needed, &[(&str, &str)])] = &[
    (
        Needed::Posteriors,
        &[("ppca", ""), ("linear-eigengan", ""), ("factor-analysis", ""), ("matrix-completion", "")],
    ),
    (
        Needed::Fills,
        &[
            ("ppca", ""),
            ("linear-eigengan", ""),
            ("factor-analysis", ""),
            ("matrix-completion", ""),
            ("robust-pca", ""),
            ("sparse-coder", ""),
        ],
    ),
    (Needed::Path, &[("sparse-coder", ""), ("dictionary", "")]),
    (Needed::Axes, &[("pca", ""), ("neural-pca", ""), ("sigma-pca", "")]),
    (
        Needed::NonNegative,
        &[
            ("rfn", ""),
            ("stacked-rfn", ""),
            ("sae", ""),
            ("dae", ""),
            ("rbm", ""),
            ("sparse-coder", " with positive_code=true"),
            ("lista", " with positive_code=true"),
            ("dictionary", " with positive_code=true"),
        ],
    ),
];

/// An error about a request with the methods with which the request works: their keys as [`ErrorDetails::works`](crate::ErrorDetails::works), the
/// first of them in the message. Errors of other kinds stay as they are, and so do those for which the registry does not answer which methods
/// these are.
///
/// Fits call it. A program calls it for errors of a model, such as those of [`Model::score_samples`](crate::Model::score_samples).
pub fn with_methods(mut error: Error) -> Error {
    let Error::Unsupported { details, remedy, .. } = &mut error else { return error };
    let Some(needed) = details.needed.take() else { return error };
    let found = all().into_iter().filter_map(|method| Some((method.key, named(method, needed)?)));
    let (keys, names): (Vec<String>, Vec<String>) = found.map(|(key, name)| (key.to_string(), name)).unzip();
    if keys.is_empty() {
        return error;
    }
    let or = match remedy.as_str() {
        "" => "",
        _ if remedy.contains(", or ") => ", ",
        _ => ", or ",
    };
    *remedy = format!("choose a method that {} ({}){or}{remedy}", clause(needed), shortly(&names));
    details.works = keys;
    error
}

/// What a method does that has it.
fn clause(needed: Needed) -> &'static str {
    match needed {
        Needed::Sparse | Needed::Weights => "takes them",
        Needed::Remote => "needs only sums over them",
        Needed::Likelihood => "has a likelihood",
        Needed::LikelihoodOfCells => "has a likelihood and takes missing cells",
        Needed::Sums => "is computed from sums",
        Needed::Batches => "is fitted incrementally",
        Needed::Posteriors => "has posteriors of its codes",
        Needed::Fills => "fills them",
        Needed::Path => "has such a penalty",
        Needed::Axes => "has them",
        Needed::NonNegative => "has non-negative codes that can be decoded",
    }
}

/// The name of a method with which the request works: its key, and its algorithm if the request needs another than the default.
fn named(method: &Method, needed: Needed) -> Option<String> {
    let accepts = &method.accepts;
    let works = match needed {
        Needed::Sparse => accepts.sparse,
        Needed::Weights => accepts.weights,
        Needed::Remote => accepts.remote,
        Needed::Likelihood => method.density.is_some(),
        Needed::LikelihoodOfCells => method.density.is_some() && accepts.missing,
        Needed::Sums => return with_algorithm(method, |spec| spec.takes_sums()),
        Needed::Batches => return with_algorithm(method, |spec| spec.takes_batches()),
        Needed::Posteriors | Needed::Fills | Needed::Path | Needed::Axes | Needed::NonNegative => {
            return with_models(method, needed);
        }
    };
    works.then(|| method.key.to_string())
}

/// The same, where it depends on the encoders of models.
fn with_models(method: &Method, needed: Needed) -> Option<String> {
    let (_, listed) = MODELS.iter().find(|(of, _)| *of == needed)?;
    let (key, setting) = listed.iter().find(|(key, _)| *key == method.key)?;
    Some(format!("{key}{setting}"))
}

/// The same, where it depends on the specification.
fn with_algorithm(method: &Method, works: impl Fn(&dyn Fit) -> bool) -> Option<String> {
    let takes = |word: Option<&str>| {
        let given: Map<String, Value> =
            word.map(|word| ("algorithm".into(), Value::from(word))).into_iter().collect();
        (method.spec)(&given).is_ok_and(|spec| works(&*spec))
    };
    if takes(None) {
        return Some(method.key.into());
    }
    let algorithm = method.settings.iter().find(|setting| setting.name == "algorithm")?;
    let word = algorithm.choices().iter().find(|word| takes(Some(word)))?;
    Some(format!("{} with algorithm='{word}'", method.key))
}

/// The first of these names, and how many more there are.
fn shortly(names: &[String]) -> String {
    // A single name is no longer than the number of those that are left out.
    match names.len() {
        n if n > MOST_LISTED_METHODS + 1 => {
            format!("{} and {} more", names[..MOST_LISTED_METHODS].join(", "), n - MOST_LISTED_METHODS)
        }
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..12).map(|i| i.to_string()).collect();
        assert_eq!(shortly(&names), "0, 1, 2, 3, 4, 5, 6, 7 and 4 more");
        assert_eq!(shortly(&names[..9]), "0, 1, 2, 3, 4, 5, 6, 7, 8");
        assert_eq!(shortly(&names[..1]), "0");
    }

    #[test]
    fn errors_without_an_answer_of_the_registry_stay_as_they_are() {
        let error = || Error::unsupported("a request", "it is not supported", "do something else");
        assert_eq!(with_methods(error()).to_string(), error().to_string());
        let found = with_methods(error().needing(Needed::Sums));
        let message = found.to_string();
        assert!(message.ends_with("factor-analysis), or do something else"), "{message}");
        // Once.
        assert_eq!(with_methods(found).to_string(), message);
    }
}
