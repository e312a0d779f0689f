//! The method of a fit and its number of components, as given on the command line.

use crate::failure::Failure;
use crate::terminal;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use unmix::method::{self, Method};
use unmix::{Error, Result};

/// Usual names of methods that are called otherwise here.
const ALIASES: [(&str, &str); 6] = [
    ("efa", "factor-analysis"),
    ("fa", "factor-analysis"),
    ("probabilistic-pca", "ppca"),
    ("rpca", "robust-pca"),
    ("softimpute", "matrix-completion"),
    ("ssc", "subspace-clustering"),
];

/// The method of this name; of another usual name, the error suggests it.
pub(crate) fn method(name: &str) -> Result<&'static Method> {
    method::find(name).map_err(|e| match (e, ALIASES.iter().find(|(alias, _)| *alias == name)) {
        (Error::Unknown { kind, got, known, .. }, Some((_, key))) => {
            Error::Unknown { kind, got, suggestion: Some((*key).into()), known }
        }
        (e, _) => e,
    })
}

/// The method of this name, which comes before these inputs; other usage is refused.
pub(crate) fn method_before(name: &str, inputs: &[PathBuf]) -> std::result::Result<&'static Method, Failure> {
    let key = inputs.iter().filter_map(|input| input.to_str()).find(|input| method::find(input).is_ok());
    method(name).map_err(|e| match key {
        Some(key) if Path::new(name).exists() => Failure::Usage(format!(
            "the method must come before the input: unmix fit {}",
            terminal::command(&[key.to_string(), terminal::path_argument(Path::new(name))])
        )),
        _ => Failure::Usage(e.to_string()),
    })
}

/// Refuses a number of components for methods that have no such setting.
pub(crate) fn takes_k(method: &Method) -> std::result::Result<(), Failure> {
    if method.settings.iter().any(|setting| setting.name == "n_components") {
        return Ok(());
    }
    let why = match method.tensors().any(|table| table.default != "null") {
        true => "has as many components as --dictionary has rows",
        false => "finds the number of components from the rows",
    };
    Err(Failure::Usage(format!("-k is not possible for {}: it {why}; leave -k out", method.key)))
}

/// Refuses `-k all` for methods that select the number, or need one, where none is given.
pub(crate) fn takes_all(method: &Method) -> std::result::Result<(), Failure> {
    let setting = method.settings.iter().find(|setting| setting.name == "n_components");
    let Some(setting) = setting.filter(|setting| !setting.null_is_all) else { return Ok(()) };
    let remedy = match setting.default {
        "null" => "give a number, or leave -k out: the number is then chosen",
        _ => "give a number",
    };
    let found = "there is no number of components that is all of them";
    Err(Failure::Usage(format!("-k all is not possible for {}: {found}; {remedy}", method.key)))
}

/// Refuses an option for a table that the method does not take.
pub(crate) fn takes_table(method: &Method, name: &str) -> std::result::Result<(), Failure> {
    let takes = |method: &Method| method.tensors().any(|table| table.name == name);
    if takes(method) {
        return Ok(());
    }
    let option = format!("--{}", name.replace('_', "-"));
    let keys: Vec<&str> = method::all().into_iter().filter(|m| takes(m)).map(|m| m.key).collect();
    let (key, keys) = (method.key, keys.join(", "));
    Err(Failure::Usage(format!(
        "{key} takes no {option}; leave it out, or choose a method that does ({keys})"
    )))
}

/// The note that `-k` is not the number of clusters, for methods with a setting for that, which is not given.
pub(crate) fn k_of_clusters(method: &Method, k: &str, settings: &Map<String, Value>) -> Option<String> {
    let has = method.settings.iter().any(|setting| setting.name == "n_clusters");
    (has && !settings.contains_key("n_clusters")).then(|| {
        format!(
            "-k {k} is the dimension of each subspace; the number of clusters is set by --set n_clusters={k}"
        )
    })
}

/// A list of numbers without brackets, as in 20,5, in the form of a list; if the method takes that.
pub(crate) fn as_list(method: &Method, k: Option<&str>, settings: &Map<String, Value>) -> Option<String> {
    let list = format!("[{}]", k.filter(|k| k.contains(','))?);
    let mut settings = settings.clone();
    settings.insert("n_components".into(), serde_json::from_str(&list).ok()?);
    (method.spec)(&settings).is_ok().then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_components_is_not_that_of_clusters() {
        let note = |key: &str, settings: &str| {
            k_of_clusters(method(key).unwrap(), "3", &serde_json::from_str(settings).unwrap())
        };
        let said = note("subspace-clustering", "{}").unwrap();
        assert!(said.ends_with("the number of clusters is set by --set n_clusters=3"), "{said}");
        assert_eq!(note("subspace-clustering", "{\"n_clusters\": 2}"), None);
        assert_eq!(note("pca", "{}"), None);
    }

    #[test]
    fn usual_names_of_methods_are_suggested() {
        for (alias, key) in ALIASES {
            assert!(method::find(key).is_ok(), "{key}");
            let refused = method(alias).unwrap_err().to_string();
            assert!(
                refused.contains(&format!("no method named '{alias}' (did you mean '{key}'?)")),
                "{refused}"
            );
        }
        assert!(method("pac").unwrap_err().to_string().contains("did you mean 'pca'?"));
        assert_eq!(method("ppca").unwrap().key, "ppca");
    }
}
