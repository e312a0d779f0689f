//! Rules for the number of components: rules based on the variances, two based on the rows, and a table of their results; for methods
//! with a likelihood, a table over the number of components.
//!
//! Variances are given in descending order, without those at the level of rounding errors; no rule depends on units. `n` is the
//! number of samples, which need not be an integer: it is the sum of the sample weights.

mod bic;
mod cells;
mod cv;
mod gap;
mod gavish_donoho;
mod minka;
mod parallel;
mod rows;
mod sizes;
mod table;

#[doc(inline)]
pub use crate::spectrum::by_share;
pub use bic::bic;
pub(crate) use bic::bounded;
pub use cells::HeldOut;
#[doc(hidden)]
pub use cells::{CellDensities, GatherHeldOut};
pub(crate) use cells::{CellMask, MOST_ITERATIONS, best_by_cells};
pub use cv::cv;
pub use gap::gap;
pub use gavish_donoho::{
    gavish_donoho, hard_threshold, marchenko_pastur_median, shrunk, unknown_noise_threshold,
};
pub(crate) use minka::ln_gamma;
pub use minka::minka;
pub use parallel::parallel;
pub use rows::FittedRows;
pub(crate) use sizes::{FitBy, size_by};
pub use sizes::{Size, SizeRequest, SizeRule, Sizes, check_sizes, compare_sizes};
pub use table::{Choice, Criterion, Table, select_components};

use crate::error::{Error, Result, counted};
use crate::spectrum::Decomposition;

/// Refuses names of rules of which one is given twice: a typing error, such as `bic,bic` for `bic,aic`.
fn check_distinct<S: AsRef<str>>(names: &[S]) -> Result<()> {
    let names: Vec<&str> = names.iter().map(|name| name.as_ref().trim()).collect();
    match names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        None => Ok(()),
        Some((_, name)) => {
            let got = format!("'{name}' more than once");
            Err(Error::setting("rules", got, "must be distinct", "name each rule once"))
        }
    }
}

/// The variances on which the rules are based.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Spectrum {
    /// All `min(n_rows, n_features)` variances, descending; exactly 0 from `rank` on.
    pub values: Vec<f64>,
    /// Total variance.
    pub total: f64,
    /// Number of directions along which the rows vary.
    pub rank: usize,
    /// Number of samples.
    pub n: f64,
    /// Number of features.
    pub p: usize,
    /// Number of constant features.
    pub n_constant: usize,
}

impl Spectrum {
    /// From a complete decomposition, for `p` features.
    pub fn of(found: &Decomposition, p: usize) -> Self {
        let mut values = found.values.clone();
        let rank = found.rank.unwrap_or(values.len());
        values[rank..].fill(0.0);
        Self { values, total: found.total, rank, n: found.n, p, n_constant: found.n_constant }
    }

    /// The non-zero variances.
    fn varying(&self) -> &[f64] {
        &self.values[..self.rank]
    }

    /// The smallest number of components that explain more than the fraction `share` of the variance.
    pub fn by_share(&self, share: f64) -> usize {
        by_share(&self.values, self.total, share).clamp(1, self.values.len().max(1))
    }

    /// By [`minka`]; with fewer samples than features, for the directions that the samples can span.
    pub fn minka(&self) -> usize {
        match self.n >= self.p as f64 {
            true => minka(&self.values, self.n, self.p),
            false => minka(self.varying(), self.n, self.p),
        }
    }

    /// By [`bic`], for the features that are not constant.
    pub fn bic(&self) -> usize {
        bic(self.varying(), self.n, self.p - self.n_constant)
    }

    /// A warning if the number by [`bic`] is not at a maximum of the criterion.
    pub(crate) fn warning_of_bic(&self) -> Option<String> {
        bic::has_no_maximum(self.varying(), self.n, self.p - self.n_constant).then(|| {
            format!(
                "the Bayesian information criterion increases up to {}, half of the rank that {} rows can have, and beyond: it does \
                 not determine their number for so few rows of {} columns; choose n_components",
                counted(self.bic() as u64, "component"),
                self.n,
                self.p
            )
        })
    }

    /// By [`gavish_donoho`], for the features that are not constant.
    pub fn gavish_donoho(&self) -> usize {
        gavish_donoho(self.varying(), self.n, self.p - self.n_constant)
    }

    /// By the ratios of successive variances ([`gap`]) and by their differences.
    pub fn gaps(&self) -> (usize, usize) {
        (gap(self.varying()), gap::gap_difference(self.varying()))
    }
}
