//! How far halves of the rows agree about the components.
//!
//! On photographs several fixed points lie near each other, and which of them is reached depends on the rows. So the fit is
//! repeated on two disjoint halves, each from its own principal axes, and the report has, for every component, the cosine between
//! what the halves have in its place: near 1 where the rows pin it down. [`stability`](crate::stability) does more: several cuts,
//! intervals, verdicts.

use super::SigmaPca;
use crate::data::{Rows, Subset};
use crate::error::{Error, Result};
use crate::metrics::match_rows;
use crate::model::Model;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::stability::cuts::{Memory, consecutive, cut_in_two};

/// Halves are fitted unasked up to this product of rows, coordinates and components: some tens of sweeps of 2 GFlop.
const CHEAP: u64 = 1 << 28;

impl SigmaPca {
    /// The agreement of two halves about each component of `model`; none where it was not asked for, or where halves are too few
    /// rows for such a fit.
    pub(super) fn halves_of<T: Real>(
        &self,
        model: &Model,
        rows: &Rows<'_, T>,
        k: usize,
        run: &Run<'_>,
    ) -> Result<Option<Vec<f64>>> {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        let cheap = || {
            let work = n.saturating_mul((4 * k).min(p) as u64).saturating_mul(k as u64);
            !self.is_trained() && work <= CHEAP
        };
        let source = rows.source().random().filter(|_| rows.weights().is_none());
        let Some(source) = source.filter(|_| self.halves.unwrap_or_else(cheap)) else { return Ok(None) };
        if n / 2 < (k as u64).max(2) || run.out_of_time() {
            return Ok(None);
        }
        run.stage("halves")?;
        let of = |chosen: Vec<u64>| -> Result<Rows<'_, T>> {
            let mut part = Rows::new(Subset::new(source, p, chosen), rows.features().clone(), rows.origin());
            part.settle(run)?;
            Ok(part)
        };
        let codes: Vec<f64> = {
            let part = of(consecutive(n, k))?;
            model.encode_to_vec(&part, run)?.iter().map(|y| y.to_f64()).collect()
        };
        let (left, right) = cut_in_two(n, run.seed, 0, Memory::of(&codes, k, n).stretch);
        let whole = components(model, k);
        let quiet = Self { halves: Some(false), ..self.clone() };
        let mut found = Vec::new();
        for half in [left, right] {
            match quiet.fit_settled(&of(half)?, k, run) {
                Ok(model) => found.push(components(&model, k)),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                // Half of the rows need not vary, or be enough.
                Err(_) => return Ok(None),
            }
        }
        let [a, b] = [0, 1].map(|i| match_rows(&whole, &found[i]).order);
        let cosine = |j: usize| {
            let pair = found[0].row(a[j]).iter().zip(found[1].row(b[j]));
            pair.map(|(x, y)| x * y).sum::<f64>().abs().min(1.0)
        };
        Ok(Some((0..k).map(cosine).collect()))
    }
}

fn components(model: &Model, k: usize) -> Matrix<f64> {
    model.tensor("components").map_or_else(|| Matrix::zeros(k, model.n_features()), |t| t.to_matrix())
}
