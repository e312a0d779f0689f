//! Initial values of training: sizes, the scale of the rows, parameters, thresholds and weights.

use super::settings::{Init, L0, LearningRate};
use super::{METHOD, SparseAutoencoder};
use crate::autoencoder::{Activation, DeadUnit, Parameters, random_atoms};
use crate::data::Rows;
use crate::error::{Error, Result, counted};
use crate::machine::check_memory;
use crate::num::random::Stream;
use crate::num::{Dtype, Matrix, Real, kernel};
use crate::run::Run;
use crate::spectrum::{check_count, check_total, no_variance_of};
use crate::stats::{GatherLengths, GatherMoments};
use serde::{Deserialize, Serialize};

/// Number of rows from which dead units are resampled and initial atoms are chosen.
const SAMPLED_ROWS: u64 = 4096;
/// Default number of active units per row, and its maximum as a fraction of the number of units.
const DEFAULT_ACTIVE_UNITS: usize = 32;
const LEAST_UNITS_PER_ACTIVE: usize = 8;
/// Default learning rate, and the number of units up to which it applies.
const DEFAULT_RATE: f64 = 3e-3;
const UNITS_OF_DEFAULT_RATE: f64 = 1536.0;
/// Random stream of the choice of rows.
const CHOICE_STREAM: u64 = 0x7361_6533;

/// Centre and scale of the rows of a fit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RowScaling {
    pub(super) mean: Vec<f64>,
    /// Common divisor of the rows.
    pub(super) unit: f64,
    /// Half the mean squared norm of the centred rows after this division.
    pub(super) half_square: f64,
    pub(super) n_constant: usize,
}

/// Values of the settings that are "auto".
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Resolved {
    pub(super) m: usize,
    pub(super) l0: usize,
    pub(super) rate: f64,
    pub(super) dead: DeadUnit,
}

impl SparseAutoencoder {
    /// Rejects the weight of a penalty with an activation that has none: the number of active units is set directly, and a weight that is ignored
    /// would be taken for what determines it.
    fn check_penalty(&self) -> Result<()> {
        let Some(alpha) = self.alpha.filter(|_| self.activation.counts()) else { return Ok(()) };
        let why = format!("activation={} has no penalty, whose weight alpha is", quoted(self.activation));
        let remedy = "set l0, the number of active units per row, in its place, or choose activation='relu', 'gated' or 'jumprelu'";
        Err(Error::setting("alpha", alpha, why, remedy))
    }

    /// Resolves the sizes and settings for rows of `p` columns; `given` is the number of initial atoms, if there are any.
    ///
    /// # Errors
    ///
    /// No unit; `l0` above the number of units; `alpha` without a penalty. That `l0` is at least 1 is checked with the other settings.
    pub(super) fn resolved(&self, p: usize, given: Option<usize>) -> Result<Resolved> {
        self.check_penalty()?;
        let m = self.n_components.or(given).unwrap_or(4 * p);
        check_count(m, 1..=usize::MAX, String::new)?;
        let l0 = match self.l0 {
            L0::Auto(_) => (m / LEAST_UNITS_PER_ACTIVE).clamp(1, DEFAULT_ACTIVE_UNITS),
            L0::Number(l0) if l0 > m => {
                let why = format!("must be at most n_components, which is {m}");
                return Err(Error::setting("l0", l0, why, format!("choose a number from 1 to {m}")));
            }
            L0::Number(l0) => l0,
        };
        let rate = match self.learning_rate {
            LearningRate::Number(rate) => rate,
            LearningRate::Auto(_) => DEFAULT_RATE * (UNITS_OF_DEFAULT_RATE / m as f64).sqrt().min(1.0),
        };
        let dead = match self.dead_unit {
            DeadUnit::Auto if self.activation.counts() => DeadUnit::Auxk,
            DeadUnit::Auto => DeadUnit::Resample,
            other => other,
        };
        Ok(Resolved { m, l0, rate, dead })
    }

    /// Rejects tables that do not fit in memory.
    pub(super) fn check_size(&self, m: usize, p: usize, dtype: Dtype) -> Result<()> {
        check_memory(
            &format!("a sparse autoencoder of {m} units of {p} numbers"),
            self.memory((m as u64, p as u64), dtype.size() as u64),
            "choose fewer units (n_components), a smaller batch_size, or fewer columns",
        )
    }

    /// Bytes of a fit of `m` units of `p` numbers of `size` bytes: parameters, their gradients and moments, the model and its file, and a mini-batch.
    fn memory(&self, (m, p): (u64, u64), size: u64) -> u64 {
        let tables = m.saturating_mul(p).saturating_mul(10 * size.max(5));
        let row = m.saturating_add(p.saturating_mul(3));
        tables.saturating_add((self.batch_size as u64).saturating_mul(row).saturating_mul(size))
    }

    /// Mean and scale of the rows.
    pub(super) fn scaling<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<RowScaling> {
        let found = rows.sweep(run, "moments", &GatherMoments::new())?;
        let total: f64 = found.squares.iter().sum();
        if !total.is_finite() || !T::from_f64(total).finite() || found.mean.iter().any(|m| !m.is_finite()) {
            return Err(rows.not_finite(METHOD.key));
        }
        if total == 0.0 {
            return Err(no_variance_of(rows, METHOD.key));
        }
        check_total(METHOD.key, total, T::DTYPE)?;
        let p = rows.n_features() as f64;
        let unit = match self.normalize {
            false => 1.0,
            true => {
                let lengths = GatherLengths { about: found.mean.clone(), units: None };
                let sums = rows.sweep(run, "lengths", &lengths)?;
                let mean = sums.sum / sums.n;
                if !(mean > 0.0 && mean.is_finite()) {
                    return Err(no_variance_of(rows, METHOD.key));
                }
                mean / p.sqrt()
            }
        };
        let n_constant = found.squares.iter().filter(|s| **s == 0.0).count();
        let half_square = 0.5 * total / found.n / (unit * unit);
        Ok(RowScaling { mean: found.mean, unit, half_square, n_constant })
    }

    /// A random sample of the rows, in the coordinates of training.
    pub(super) fn sample<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        scaling: &RowScaling,
        m: usize,
        run: &Run<'_>,
    ) -> Result<Vec<T>> {
        let n = rows.n_rows().unwrap_or(0);
        let by_rows = self.init == Init::Data && self.dict_init.is_none();
        let count = if by_rows { SAMPLED_ROWS.max(m as u64) } else { SAMPLED_ROWS };
        let mut out = rows.picked(chosen(n, count, run.seed), run)?;
        for row in out.chunks_exact_mut(rows.n_features()) {
            for (x, mean) in row.iter_mut().zip(&scaling.mean) {
                *x = T::from_f64((x.to_f64() - mean) / scaling.unit);
            }
        }
        Ok(out)
    }

    /// Initial atoms if they are given: a table, or those of a model.
    pub(super) fn given_atoms(&self, p: usize, run: &Run<'_>) -> Result<Option<Matrix<f64>>> {
        let model = run.initial_components(p, self.n_components.unwrap_or(0))?;
        let Some(atoms) = &self.dict_init else { return Ok(model) };
        let shape = format!("{} x {}", atoms.rows(), atoms.cols());
        let refused =
            |why: String, remedy: &str| Err(Error::setting("dict_init", shape.clone(), why, remedy));
        if model.is_some() {
            return refused("the model given as init has initial atoms, too".into(), "give one of the two");
        }
        if atoms.cols() != p {
            return refused(
                format!("the rows have {}", counted(p as u64, "column")),
                "give atoms as rows, with as many columns as the data",
            );
        }
        if let Some(k) = self.n_components.filter(|k| *k != atoms.rows()) {
            return refused(format!("n_components is {k}"), "leave n_components out, or give as many atoms");
        }
        if atoms.as_slice().iter().any(|x| !x.is_finite()) {
            return refused(
                "must contain finite numbers only".into(),
                "leave out such atoms, or replace these numbers",
            );
        }
        match (0..atoms.rows()).find(|j| atoms.row(*j).iter().all(|x| *x == 0.0)) {
            Some(j) => refused(format!("atom {j} is 0, and has no direction"), "give atoms that are not 0"),
            None => Ok(Some(atoms.clone())),
        }
    }

    /// Initial atoms of any norm.
    pub(super) fn atoms<T: Real>(
        &self,
        m: usize,
        p: usize,
        given: Option<&Matrix<f64>>,
        sample: &[T],
        seed: u64,
    ) -> Matrix<f64> {
        match given {
            Some(atoms) => {
                // Zero atoms of another model have no direction.
                random_atoms(m, p, &atoms.as_slice()[..m.min(atoms.rows()) * p], seed)
            }
            None if self.init == Init::Data => {
                let mut order: Vec<u64> = (0..(sample.len() / p) as u64).collect();
                Stream::new(seed, CHOICE_STREAM + 1).shuffle(0, &mut order);
                let rows = order.iter().take(m);
                let rows = rows.flat_map(|i| &sample[*i as usize * p..(*i as usize + 1) * p]);
                random_atoms(m, p, &rows.map(|x| x.to_f64()).collect::<Vec<f64>>(), seed)
            }
            None => random_atoms(m, p, &[], seed),
        }
    }

    /// The mean over the first rows of the sample of the `l0`-th largest pre-activation.
    pub(super) fn level<T: Real>(&self, parameters: &Parameters<T>, sample: &[T], l0: usize) -> f64 {
        let (p, m) = (parameters.n_features(), parameters.n_units());
        let x = &sample[..(self.batch_size * p).min(sample.len())];
        let n = x.len() / p;
        let centred: Vec<T> = x
            .chunks_exact(p)
            .flat_map(|row| row.iter().zip(&parameters.mean).map(|(x, b)| *x - *b))
            .collect();
        let across = Matrix::from_vec(m, p, parameters.encoder.clone()).transposed();
        let (mut u, mut sum) = (vec![T::default(); n.min(256) * m], 0.0);
        for rows in centred.chunks(256 * p) {
            let u = &mut u[..rows.len() / p * m];
            kernel::product(u, rows, across.as_slice(), rows.len() / p, p, m);
            for row in u.chunks_exact_mut(m) {
                row.iter_mut().zip(&parameters.bias).for_each(|(u, b)| *u += *b);
                let descending = |a: &T, b: &T| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal);
                sum += row.select_nth_unstable_by(l0 - 1, descending).1.to_f64();
            }
        }
        let least = 1e-3 * (parameters.n_features() as f64).sqrt();
        // If most pre-activations are negative, the mean is not a usable level.
        (sum / n.max(1) as f64).max(if self.normalize { least } else { f64::MIN_POSITIVE })
    }
}

/// Bytes of a fit of `m` units with the default settings to `n` rows of `p` numbers in double precision, with its sample of the rows.
pub(super) fn memory_by_default((n, p): (u64, usize), m: u64) -> u64 {
    let sample = n.min(SAMPLED_ROWS).saturating_mul(p as u64).saturating_mul(8);
    SparseAutoencoder::default().memory((m, p as u64), 8).saturating_add(sample)
}

/// The name of an activation as in messages, in quotation marks.
pub(super) fn quoted(activation: Activation) -> String {
    serde_json::to_value(activation).map_or(String::new(), |v| v.to_string().replace('"', "'"))
}

/// `count` of `n` rows in ascending order, or all.
pub(in crate::method) fn chosen(n: u64, count: u64, seed: u64) -> Vec<u64> {
    if n <= count {
        return (0..n).collect();
    }
    // One row of each of `count` runs of consecutive rows: no list of all rows is needed.
    let draws = Stream::new(seed, CHOICE_STREAM);
    let border = |i: u64| (u128::from(i) * u128::from(n) / u128::from(count)) as u64;
    (0..count)
        .map(|i| {
            let (first, end) = (border(i), border(i + 1));
            first + ((u128::from(draws.bits(i)) * u128::from(end - first)) >> 64) as u64
        })
        .collect()
}

/// Initial thresholds as a fraction of the level.
pub(super) const INITIAL_THRESHOLD_SHARE: f64 = 0.5;
/// Bandwidth of the kernel for thresholds, relative to their initial value.
pub(super) const BANDWIDTH: f64 = 0.1;

/// The initial weight of the penalty, `alpha`, and the initial thresholds.
pub(super) fn weight(activation: Activation, given: Option<f64>, level: f64) -> f64 {
    match (given, activation) {
        _ if activation.counts() => 0.0,
        (Some(alpha), _) => alpha,
        (None, Activation::Relu | Activation::Gated) => INITIAL_THRESHOLD_SHARE * level,
        _ => 0.0,
    }
}
