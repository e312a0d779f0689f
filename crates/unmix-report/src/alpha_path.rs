//! Codes of some rows as a function of alpha, the weight of their penalty.

use crate::sample::Quiet;
use unmix::data::{RawArray, VecSink};
use unmix::model::ALONG_ALPHA;
use unmix::{Error, Event, Model, Result, Rows, Run};

/// Rows that are encoded by a model of so many atoms. The time for each of them grows with the square of this number.
pub(crate) fn n_rows(n_atoms: usize) -> usize {
    let share = (128.0 / n_atoms.max(1) as f64).min(1.0);
    ((200.0 * share * share) as usize).max(20)
}

/// Weights, from the smallest for which every code is 0 down to a thousandth of it.
const ALPHAS_DRAWN: usize = 25;

/// Means over rows for each weight, in descending order of the weights.
pub(crate) struct AlphaPath {
    /// The weight of the model.
    pub(crate) alpha: f64,
    pub(crate) alphas: Vec<f64>,
    /// Nonzero entries of a code.
    pub(crate) nonzero: Vec<f64>,
    /// Squared errors, as a share of those of codes of zeros.
    pub(crate) error: Vec<f64>,
    /// Largest duality gap of a row, as a share of half its squared norm.
    pub(crate) worst_gap: f64,
    pub(crate) n_rows: usize,
}

impl AlphaPath {
    /// Encodes `rows`, of `p` numbers each; none for models whose codes have no such weight, and for rows whose codes are 0 for every weight.
    pub(crate) fn of(model: &Model, rows: &[f64], run: &Run<'_>) -> Result<Option<Self>> {
        let Some(alpha) = model.code().encoder().along_alpha().map(|solver| solver.alpha()) else {
            return Ok(None);
        };
        let p = model.n_features();
        let given: Rows<'_, f64> =
            Rows::new(RawArray::borrowed(rows, p)?, model.features().clone(), "report");
        let quiet = Run { threads: run.threads, observer: &Quiet(run.observer), ..Run::default() };
        run.observer.event(Event::Stage("codes along alpha"));
        let mut found = VecSink(Vec::new());
        let alphas = match model.path(&given, ALPHAS_DRAWN, &quiet, &mut found) {
            Ok(alphas) => alphas,
            Err(Error::Unsupported { .. }) => return Ok(None),
            Err(other) => return Err(other),
        };
        let (width, n_rows) = (ALONG_ALPHA.len(), rows.len() / p.max(1));
        let each = || found.0.chunks_exact(width * alphas.len());
        let total = |i: usize, measure: usize| each().map(|row| row[width * i + measure]).sum::<f64>();
        let squares = total(0, 3).max(f64::MIN_POSITIVE);
        // For the first weight every code is 0, and the squared error is the squared norm.
        let gap =
            |row: &[f64], i: usize| if row[3] > 0.0 { row[width * i + 1] / (0.5 * row[3]) } else { 0.0 };
        Ok(Some(Self {
            alpha,
            nonzero: (0..alphas.len()).map(|i| total(i, 2) / n_rows.max(1) as f64).collect(),
            error: (0..alphas.len()).map(|i| total(i, 3) / squares).collect(),
            worst_gap: each().flat_map(|row| (0..alphas.len()).map(move |i| gap(row, i))).fold(0.0, f64::max),
            n_rows,
            alphas,
        }))
    }
}
