//! Held-out test of a search by one width: whether components found on half of the rows are non-Gaussian on the other half.
//!
//! A search among `k` Gaussian components of `n` rows ends at directions whose `t` is about `sqrt(k)`; with
//! few rows many true sources have no larger `t`, so the statistics on the rows that were used for the search
//! are not conclusive. On other rows they are: there the sum of the squares of the `t` of `k` Gaussian
//! components has mean `k`, whatever was searched for ([`non_gaussian_on_held_out`]).

use super::super::auto::{CANDIDATES, non_gaussian_on_held_out};
use super::super::nonlinearity::Nonlinearity;
use super::super::separation::Pass;
use super::super::start::{Principal, PrincipalOptions};
use super::{FEW_ROWS_PER_COORDINATE, GpmOptions};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::num::Real;
use crate::run::Run;

/// Maximum number of entries of each half.
const MOST_ENTRIES: u64 = 1 << 24;
/// The residual at which directions are tested on the other rows, and the maximum number of steps before that.
pub(super) const TESTED_RESIDUAL: f64 = 1e-3;
pub(super) const MOST_STEPS_BEFORE_TEST: u64 = 150;

impl GpmOptions {
    /// The width with which a search on one half of the rows finds `k` components that are jointly
    /// non-Gaussian on the other half; `None` if neither candidate does, or if there are few rows.
    pub(super) fn held_out_width<T: Real>(
        &self,
        rows: &Principal<'_, T>,
        k: usize,
        run: &Run<'_>,
    ) -> Result<Option<f64>> {
        let (n, r) = (rows.n_rows(), rows.r());
        let each = (n / 2).min(MOST_ENTRIES / r.max(1) as u64);
        if (each as f64) < FEW_ROWS_PER_COORDINATE * r as f64 {
            return Ok(None);
        }
        let part = |first: u64| -> Result<Rows<'static, T>> {
            let (numbers, weights) = rows.coordinates_of((first..first + each).collect(), run)?;
            Rows::of_picked(numbers, r, weights)
        };
        let (one, other) = (part(0)?, part(n - each)?);
        let ask = PrincipalOptions { method: "sigma-pca", k, center: true, standardize: false, kept: None };
        let (one, other) = match (Principal::new(&one, &ask, run), Principal::new(&other, &ask, run)) {
            // A half may be constant.
            (Err(Error::NoVariance { .. }), _) | (_, Err(Error::NoVariance { .. })) => return Ok(None),
            (one, other) => (one?, other?),
        };
        let mut found = None;
        // Each half is searched, and tested by the other: a source that one search misses may be found by the other.
        let ways = [(&one, &other), (&other, &one)];
        'widths: for a in CANDIDATES.into_iter().rev() {
            for (searched, tested) in ways {
                let h = Nonlinearity::tanh(vec![a]);
                let how = Self {
                    h,
                    auto: false,
                    tol: TESTED_RESIDUAL,
                    max_iter: MOST_STEPS_BEFORE_TEST,
                    ..self.clone()
                };
                let solved = how.solve(searched, searched.first(k.min(searched.r())), run, |_, _| ())?;
                let w = tested.unit_rows(&searched.directions(&solved.w).transposed());
                let separations = CANDIDATES.map(|c| Nonlinearity::tanh(vec![c])).to_vec();
                let means = tested.pass_means(&w, &Pass::with_separations(separations), run)?;
                if non_gaussian_on_held_out(&means.separations, tested.n()) {
                    found = Some(a);
                    break 'widths;
                }
            }
        }
        rows.count_sweeps((one.sweeps() + other.sweeps()).div_ceil(2));
        Ok(found)
    }
}
