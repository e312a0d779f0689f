//! A table of the rules for the number of components.

use super::{FittedRows, Spectrum, cv, parallel};
use crate::data::Rows;
use crate::error::{Error, Result, counted};
use crate::model::{named_share, share_name};
use crate::num::Real;
use crate::num::threads::on_pool;
use crate::run::Run;
use crate::spectrum::{RULE_NAMES, RULES, Rule, whole};
use serde_json::{Value, json};
use std::fmt;

/// A rule for the number of components, by name.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Criterion {
    /// The smallest number of components that explain more than this share of the variance.
    Share(f64),
    /// The largest ratio of successive variances.
    Gap,
    /// The largest difference of successive variances.
    GapDifference,
    /// The Bayesian information criterion of probabilistic PCA.
    Bic,
    /// Minka's Laplace approximation of the evidence.
    Minka,
    /// The optimal hard threshold for singular values with unknown noise.
    GavishDonoho,
    /// Parallel analysis by permutation. Needs the rows.
    Parallel,
    /// Bi-cross-validation. Needs the rows.
    Cv,
}

/// Default shares of the variance.
const SHARES: [f64; 4] = [0.8, 0.9, 0.95, 0.99];

impl Criterion {
    /// Rules that need the variances only.
    pub fn cheap() -> Vec<Criterion> {
        use Criterion::{Bic, Gap, GapDifference, GavishDonoho, Minka, Share};
        [Minka, Bic, GavishDonoho, Gap, GapDifference].into_iter().chain(SHARES.map(Share)).collect()
    }

    /// From a list of names: `share` means the default fractions, `share-0.9` or `0.9` one of them, `mle` means `minka`. A rule
    /// that has several of the names given is applied once; an empty list is [`cheap`](Self::cheap).
    ///
    /// # Errors
    ///
    /// An unknown name, with the nearest known one; a name that is given twice; a fraction that is not between 0 and 1.
    pub fn parse<S: AsRef<str>>(names: &[S]) -> Result<Vec<Criterion>> {
        super::check_distinct(names)?;
        let mut out: Vec<Criterion> = Vec::new();
        for name in names.iter().map(|name| name.as_ref().trim()) {
            for rule in Self::named(name)? {
                if !out.contains(&rule) {
                    out.push(rule);
                }
            }
        }
        Ok(if out.is_empty() { Self::cheap() } else { out })
    }

    fn named(name: &str) -> Result<Vec<Criterion>> {
        if name == "share" {
            return Ok(SHARES.map(Criterion::Share).to_vec());
        }
        let rule = RULES.into_iter().find(|rule| rule.name() == name);
        if let Some(criterion) = rule.and_then(Self::of) {
            return Ok(vec![criterion]);
        }
        match named_share(name).or_else(|| name.parse().ok()) {
            Some(share) if share > 0.0 && share < 1.0 => Ok(vec![Criterion::Share(share)]),
            Some(_) => Err(Error::setting(
                "rules",
                name,
                "a share of the variance must be between 0 and 1",
                "give a share between 0 and 1, as in 0.9",
            )),
            None => {
                let known = RULE_NAMES.into_iter().chain(["share", "share-0.9"]);
                Err(Error::unknown("rule", name, known))
            }
        }
    }

    /// The criterion of a rule that a fit takes, if the table has it.
    fn of(rule: Rule) -> Option<Criterion> {
        Some(match rule {
            Rule::Minka | Rule::Mle => Criterion::Minka,
            Rule::Bic => Criterion::Bic,
            Rule::GavishDonoho => Criterion::GavishDonoho,
            Rule::Gap => Criterion::Gap,
            Rule::GapDifference => Criterion::GapDifference,
            Rule::Parallel => Criterion::Parallel,
            Rule::Cv => Criterion::Cv,
            Rule::Cells | Rule::Aic => return None,
        })
    }

    /// The quantity that the number estimates, in a few words.
    pub fn estimates(self) -> String {
        match self {
            Criterion::Share(share) => {
                format!("components that explain over {} % of the variance", percent(share))
            }
            Criterion::Gap => "largest ratio of successive variances".into(),
            Criterion::GapDifference => "largest difference of successive variances".into(),
            Criterion::Bic => "rank of the signal in isotropic noise, for large n".into(),
            Criterion::Minka => "rank of the signal in isotropic noise, most probable".into(),
            Criterion::GavishDonoho => "optimal singular value threshold for denoising".into(),
            Criterion::Parallel => "components with more variance than in permuted columns".into(),
            Criterion::Cv => "smallest prediction error of held-out blocks".into(),
        }
    }
}

fn percent(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::Share(share) => f.write_str(&share_name(*share)),
            other => {
                let rule = RULES.into_iter().find(|rule| Self::of(*rule) == Some(*other));
                f.write_str(rule.map_or("", Rule::name))
            }
        }
    }
}

/// The result of one rule.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// The rule.
    pub rule: Criterion,
    /// Its number of components.
    pub k: usize,
}

/// The results of all rules, and the variances that they used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Table {
    /// The variances.
    pub spectrum: Spectrum,
    /// The choices, in the order requested.
    pub choices: Vec<Choice>,
    /// Notes for the user on how to interpret the table.
    pub warnings: Vec<String>,
    /// Seed of `parallel` and `cv`.
    pub seed: u64,
}

impl Table {
    /// The number of components by `rule`, if it was requested.
    pub fn get(&self, rule: Criterion) -> Option<usize> {
        self.choices.iter().find(|c| c.rule == rule).map(|c| c.k)
    }

    /// The suggested number: the one that most rules give, shares of the variance aside, which estimate nothing. Among several numbers that
    /// equally many give, that of Minka's rule, which is correct most often on simulated data, or of the first of these rules.
    pub fn suggested(&self) -> Option<usize> {
        let estimates = || self.choices.iter().filter(|c| !matches!(c.rule, Criterion::Share(_)));
        let votes = |k: usize| estimates().filter(|c| c.k == k).count();
        let most = estimates().map(|c| votes(c.k)).max().unwrap_or(0);
        let minka = self.get(Criterion::Minka).filter(|k| votes(*k) == most);
        let first = estimates().find(|c| votes(c.k) == most).or(self.choices.first());
        minka.or(first.map(|c| c.k))
    }

    /// As JSON, in the form that the command line prints for scripts.
    pub fn to_json(&self) -> Value {
        let s = &self.spectrum;
        let choice =
            |c: &Choice| json!({"rule": c.rule.to_string(), "k": c.k, "estimates": c.rule.estimates()});
        json!({
            "n_samples": s.n,
            "n_features": s.p,
            "n_constant": s.n_constant,
            "rank": s.rank,
            "rules": self.choices.iter().map(choice).collect::<Value>(),
            "suggested": self.suggested(),
            "explained_variance": s.values,
            "explained_variance_ratio": s.values.iter().map(|v| v / s.total).collect::<Vec<_>>(),
            "warnings": self.warnings,
            "seed": self.seed,
        })
    }
}

/// The number of components by every rule of `rules`, from one pass over the rows and one spectrum; `parallel` and `cv`
/// additionally load the rows into memory. Rows that can be read only once, in order, are prepared first.
///
/// A warning is added if [`Minka`](Criterion::Minka) and [`Bic`](Criterion::Bic) differ by more than 1: then the data do not
/// determine the number of components.
///
/// # Errors
///
/// Errors of a fit of [`Pca`](crate::Pca) that keeps all components; insufficient memory for `parallel` or `cv`.
pub fn select_components<T: Real>(
    rows: &mut Rows<'_, T>,
    rules: &[Criterion],
    run: &Run<'_>,
) -> Result<Table> {
    rows.prepare(run)?;
    let rows = &*rows;
    on_pool(run.threads, || {
        let found = whole(rows, run)?;
        let spectrum = Spectrum::of(&found, rows.n_features());
        let fitted = FittedRows { rows, mean: &found.mean, scale: None };
        let mut choices = Vec::new();
        for &rule in rules {
            let k = match rule {
                Criterion::Share(share) => spectrum.by_share(share),
                Criterion::Gap => spectrum.gaps().0,
                Criterion::GapDifference => spectrum.gaps().1,
                Criterion::Bic => spectrum.bic(),
                Criterion::Minka => spectrum.minka(),
                Criterion::GavishDonoho => spectrum.gavish_donoho(),
                Criterion::Parallel => parallel(&fitted, run)?,
                Criterion::Cv => cv(&fitted, run)?,
            };
            choices.push(Choice { rule, k });
        }
        let mut warnings: Vec<String> = ambiguous(&spectrum).into_iter().collect();
        if rules.contains(&Criterion::Bic) {
            warnings.extend(spectrum.warning_of_bic());
        }
        Ok(Table { spectrum, choices, warnings, seed: run.seed })
    })
}

fn ambiguous(spectrum: &Spectrum) -> Option<String> {
    let (minka, bic) = (spectrum.minka(), spectrum.bic());
    (minka.abs_diff(bic) > 1).then(|| {
        format!(
            "Minka's rule selects {} and BIC {bic}, so the data do not determine the number clearly; look at the \
             spectrum, or compare models of both sizes",
            counted(minka as u64, "component")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_names_and_misspelt_ones_a_suggestion() {
        let parse = |names: &[&str]| Criterion::parse(names);
        assert_eq!(parse(&[]).unwrap(), Criterion::cheap());
        assert_eq!(parse(&["mle", "minka"]).unwrap(), [Criterion::Minka]);
        assert_eq!(parse(&["0.5", " share-0.9"]).unwrap(), [Criterion::Share(0.5), Criterion::Share(0.9)]);
        assert_eq!(parse(&["share"]).unwrap().len(), 4);
        for rule in Criterion::cheap().into_iter().chain([Criterion::Parallel, Criterion::Cv]) {
            assert_eq!(parse(&[rule.to_string()].each_ref().map(String::as_str)).unwrap(), [rule]);
            // Space for a name, a number and this text in 80 columns.
            assert!(rule.estimates().len() <= 56, "{}", rule.estimates());
        }
        let misspelt = parse(&["paralel"]).unwrap_err().to_string();
        assert!(misspelt.contains("no rule named 'paralel' (did you mean 'parallel'?)"), "{misspelt}");
        assert!(parse(&["1.5"]).unwrap_err().to_string().contains("between 0 and 1"));
        let twice = parse(&["bic", "gap", " bic"]).unwrap_err().to_string();
        assert_eq!(twice, "rules must be distinct, got 'bic' more than once; name each rule once");
    }
}
