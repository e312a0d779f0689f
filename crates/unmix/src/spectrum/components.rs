//! Number of components to keep: all, a number, a share of the variance, or the result of a rule.

use crate::choices::choices;
use crate::error::{Error, Result, counted};
use crate::model::named_share;
use serde::{Deserialize, Deserializer, Serialize};
use std::ops::RangeInclusive;

/// Number of components to keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Components {
    /// All, which is `min(n_samples, n_features)`.
    #[default]
    All,
    /// This number.
    Count(usize),
    /// The smallest number whose share of the variance exceeds this, between 0 and 1; by name as well, `"share-0.9"`.
    #[serde(deserialize_with = "share_or_name")]
    Share(f64),
    /// By a rule.
    Rule(Rule),
}

impl Components {
    /// The number, if it is given as one.
    pub(crate) fn count(&self) -> Option<usize> {
        match self {
            Components::Count(k) => Some(*k),
            _ => None,
        }
    }
}

impl From<usize> for Components {
    fn from(k: usize) -> Self {
        Components::Count(k)
    }
}

choices! {
    /// A rule for the number of components.
    pub enum Rule {
        /// Laplace's approximation of the evidence (Minka 2000); for fewer rows than columns, of the directions that the rows span.
        Minka = "minka",
        /// The same under scikit-learn's name and with its condition: no fewer rows than columns.
        Mle = "mle",
        /// The Bayesian information criterion of probabilistic PCA (Schwarz 1978).
        Bic = "bic",
        /// Parallel analysis by permutation (Horn 1965); holds the rows in memory.
        Parallel = "parallel",
        /// The optimal hard threshold for singular values (Gavish & Donoho 2014).
        GavishDonoho = "gavish-donoho",
        /// The largest ratio of successive variances.
        Gap = "gap",
        /// The largest difference of successive variances.
        GapDifference = "gap-difference",
        /// Bi-cross-validation (Owen & Perry 2009); holds the rows in memory.
        Cv = "cv",
        /// Prediction of held-out cells; for methods with a likelihood that take missing cells.
        Cells = "cells",
        /// The Akaike information criterion; for methods with a likelihood.
        Aic = "aic",
    }
}

/// The rules based on variances and rows: the single list for the settings of fits and for the table of all rules.
pub(crate) const RULES: [Rule; 8] = [
    Rule::Minka,
    Rule::Mle,
    Rule::Bic,
    Rule::GavishDonoho,
    Rule::Gap,
    Rule::GapDifference,
    Rule::Parallel,
    Rule::Cv,
];

/// The names of [`RULES`].
pub(crate) const RULE_NAMES: [&str; RULES.len()] = {
    let mut names = [""; RULES.len()];
    let mut i = 0;
    while i < RULES.len() {
        names[i] = RULES[i].name();
        i += 1;
    }
    names
};

fn share_or_name<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        Number(f64),
        Name(String),
    }
    match Given::deserialize(from)? {
        Given::Number(share) => Ok(share),
        Given::Name(name) => {
            named_share(&name).ok_or_else(|| serde::de::Error::custom("a share is named as in share-0.9"))
        }
    }
}

/// Why a number of components is outside its range, if it is; `limit` is the reason why there are no more than the last one.
fn outside(k: usize, range: &RangeInclusive<usize>, limit: impl FnOnce() -> String) -> Option<String> {
    match k {
        _ if k < *range.start() => Some(too_few(*range.start())),
        _ if k > *range.end() => Some(limit()),
        _ => None,
    }
}

fn too_few(least: usize) -> String {
    format!("must be at least {least}")
}

/// Checks a number of components; `limit` is the reason why there are no more than the last of the range, which is [`usize::MAX`] if there may be
/// any number. Where the limit is that of rows and columns, [`Bounds`] has the range and the message.
///
/// # Errors
///
/// A number outside the range.
pub(crate) fn check_count(
    k: usize,
    range: RangeInclusive<usize>,
    limit: impl FnOnce() -> String,
) -> Result<()> {
    let Some(why) = outside(k, &range, limit) else { return Ok(()) };
    let remedy = match range.into_inner() {
        (least, usize::MAX) => format!("choose at least {least}"),
        (least, most) => format!("choose a number from {least} to {most}"),
    };
    Err(Error::setting("n_components", k, why, remedy))
}

/// Range of the number of components by the numbers of rows and columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds<'a> {
    /// Number of rows of non-zero weight.
    pub(crate) n: u64,
    /// Number of columns.
    pub(crate) p: usize,
    /// Origin of the rows, for messages.
    pub(crate) origin: &'a str,
    /// Minimum number of components.
    pub(crate) least: usize,
    /// Whether more components than directions are allowed.
    pub(crate) overcomplete: bool,
}

impl Bounds<'_> {
    /// Maximum number of directions that rows span: `min(n, p)`.
    pub(crate) fn most(self) -> usize {
        self.n.min(self.p as u64) as usize
    }

    /// The number requested; by default the maximum.
    ///
    /// # Errors
    ///
    /// A number outside the range.
    pub(crate) fn count(self, requested: Option<usize>) -> Result<usize> {
        let Some(k) = requested else { return Ok(self.most()) };
        let most = if self.overcomplete { usize::MAX } else { self.most() };
        match outside(k, &(self.least..=most), || self.too_many()) {
            Some(why) => Err(self.refused(&k, why)),
            None => Ok(k),
        }
    }

    /// Refuses a number out of range, and a fraction that is not between 0 and 1.
    ///
    /// # Errors
    ///
    /// A value out of range.
    pub(crate) fn check(self, requested: &Components) -> Result<()> {
        match *requested {
            Components::Count(k) => self.count(Some(k)).map(|_| ()),
            // An integer that is too large for the type of a count.
            Components::Share(f) if f >= u64::MAX as f64 => Err(self.refused(&f, self.too_many())),
            Components::Share(f) if f < 0.0 && f.fract() == 0.0 => Err(self.refused(&f, too_few(self.least))),
            Components::Share(f) if !(f > 0.0 && f < 1.0) => Err(Error::setting(
                "n_components",
                // As in 1.0, so that it is not mistaken for an integer.
                format!("{f:?}"),
                "a share of the variance must be between 0 and 1",
                "choose a share between 0 and 1, or an integer, the number of components",
            )),
            _ => Ok(()),
        }
    }

    fn too_many(self) -> String {
        let Bounds { n, p, origin, .. } = self;
        let most = self.most();
        format!(
            "{origin} has {} and {}, so there are at most min({n}, {p}) = {}",
            counted(n, "row"),
            counted(p as u64, "column"),
            counted(most as u64, "component")
        )
    }

    fn refused(self, got: &dyn std::fmt::Display, why: String) -> Error {
        let remedy = match self.overcomplete {
            true => {
                let Bounds { n, p, least, .. } = self;
                format!("choose at least {least}, or leave it out for min({n}, {p}) = {}", self.most())
            }
            false => {
                format!("choose a number from {} to {}, or leave it out for all", self.least, self.most())
            }
        };
        Error::setting("n_components", got, why, remedy)
    }
}

/// The smallest number of components whose cumulative fraction of `total` is strictly greater than `share`.
pub fn by_share(values: &[f64], total: f64, share: f64) -> usize {
    let mut sum = 0.0;
    for (i, v) in values.iter().enumerate() {
        sum += v / total;
        if sum > share {
            return i + 1;
        }
    }
    values.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_components_have_a_range_that_messages_state() {
        let bounds = Bounds { n: 9, p: 5, origin: "x.npy", least: 1, overcomplete: false };
        let refused = |of: Bounds<'_>, requested: Components| of.check(&requested).unwrap_err().to_string();
        assert_eq!((bounds.count(None).unwrap(), bounds.count(Some(5)).unwrap()), (5, 5));
        assert_eq!(
            refused(bounds, Components::Count(6)),
            "n_components=6 is not possible: x.npy has 9 rows and 5 columns, so there are at most min(9, 5) = 5 components; choose a \
             number from 1 to 5, or leave it out for all"
        );
        assert!(
            refused(bounds, Components::Count(0))
                .contains("must be at least 1, got 0; choose a number from 1 to 5")
        );
        assert!(refused(bounds, Components::Share(-1.0)).contains("n_components must be at least 1, got -1"));
        assert!(refused(bounds, Components::Share(1e30)).contains("at most min(9, 5) = 5"));
        for share in [1.0, 0.0, -0.5, 2.5, f64::NAN] {
            assert!(
                refused(bounds, Components::Share(share))
                    .contains("a share of the variance must be between 0 and 1")
            );
        }
        let over = Bounds { overcomplete: true, ..bounds };
        assert_eq!(over.count(Some(60)).unwrap(), 60);
        assert!(
            refused(over, Components::Count(0))
                .ends_with("got 0; choose at least 1, or leave it out for min(9, 5) = 5")
        );
        assert!(Bounds { least: 0, ..bounds }.count(Some(0)).is_ok());
    }

    #[test]
    fn a_range_without_rows_and_columns_has_the_same_messages() {
        let refused = |k: usize, range: RangeInclusive<usize>| {
            check_count(k, range, || "only 3 rows have a cell".into()).unwrap_err().to_string()
        };
        assert_eq!(
            refused(4, 0..=3),
            "n_components=4 is not possible: only 3 rows have a cell; choose a number from 0 to 3"
        );
        assert_eq!(refused(0, 1..=3), "n_components must be at least 1, got 0; choose a number from 1 to 3");
        assert_eq!(refused(0, 1..=usize::MAX), "n_components must be at least 1, got 0; choose at least 1");
        for k in [1, 3] {
            assert!(check_count(k, 1..=3, String::new).is_ok());
        }
        assert!(check_count(usize::MAX, 1..=usize::MAX, String::new).is_ok());
    }

    #[test]
    fn rules_and_shares_are_written_as_they_are_named() {
        for rule in RULES {
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.name());
        }
        let read = |text: &str| serde_json::from_str::<Components>(text).unwrap();
        assert_eq!(read("\"share-0.9\""), Components::Share(0.9));
        assert_eq!(
            (read("0.9"), read("3"), read("null")),
            (Components::Share(0.9), 3.into(), Components::All)
        );
        assert_eq!(read("\"gap-difference\""), Components::Rule(Rule::GapDifference));
        assert!(serde_json::from_str::<Components>("\"share-most\"").is_err());
    }

    #[test]
    fn a_share_that_is_met_exactly_is_not_exceeded() {
        assert_eq!(by_share(&[2.0, 1.0, 1.0], 4.0, 0.5), 2);
        assert_eq!(by_share(&[2.0, 1.0, 1.0], 4.0, 0.49), 1);
    }
}
