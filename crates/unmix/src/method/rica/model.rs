//! From the features that a search found to a model.

use super::cost::lengths;
use super::{METHOD, Rica, Task, scaled};
use crate::data::Features;
use crate::error::Result;
use crate::model::{Code, Model, Outcome, Report, Tensor, Tensors, require, sign_of};
use crate::num::lbfgs::{Ended, Minimum};
use crate::num::{Dtype, Matrix, factor};
use crate::run::Run;
use serde_json::{Map, Value};

/// Features shorter than this have shrunk to nothing: where they take part in reconstruction their length is about 1.
pub(super) const DEAD: f64 = 1e-3;
/// Features with a cosine above this count as the same one.
const SAME: f64 = 0.95;

/// What a search found, and in what.
pub(super) struct Fitted<'a> {
    pub(super) task: &'a Task,
    pub(super) found: Minimum,
    pub(super) outcome: Outcome,
    /// Why it is not what the search said.
    pub(super) doubt: Option<String>,
    /// `k x d`, in the coordinates in which rows were seen.
    pub(super) w: Matrix<f64>,
    pub(super) tol: f64,
    pub(super) sweeps: u64,
    pub(super) features: &'a Features,
    pub(super) dtype: Dtype,
}

/// What a search's end is called in a report.
pub(super) fn outcome(ended: Ended) -> Outcome {
    match ended {
        Ended::Converged => Outcome::Converged,
        Ended::MaxIter => Outcome::MaxIter,
        Ended::Asked => Outcome::Time,
        Ended::Stalled => Outcome::Stalled,
    }
}

impl Rica {
    pub(super) fn model(&self, fitted: Fitted<'_>, run: &Run<'_>) -> Result<Model> {
        let Fitted { task, found, outcome, doubt, w, tol, sweeps, features, dtype } = fitted;
        let (seen, p) = (&task.seen, task.seen.mean.len());
        let mut report = Report::closed_form("l-bfgs", seen.n, p, dtype, run.seed);
        report.outcome = outcome;
        report.n_iter = found.n_iter;
        report.sweeps = sweeps;
        report.objective = found.objective;
        report.residual = Some(found.residual).filter(|r| r.is_finite());
        // Batches end when the rows have been gone through as often as was asked.
        report.tol = Some(tol).filter(|_| self.batch_size.is_none());
        report.rank = Some(seen.rank);
        report.n_constant = seen.n_constant;
        let likeness = likeness(&w);
        report.warnings = task.warnings.clone();
        match outcome {
            Outcome::Collapsed => {}
            _ => report.warnings.extend(doubts(&w, &likeness)),
        }
        report.warnings.extend(doubt);
        let settings = match serde_json::to_value(Rica { w_init: None, ..self.clone() }) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        report.settings = settings.clone();
        report.settings.insert("n_components".into(), task.k.into());
        report.settings.insert("beta".into(), task.beta.into());
        report.settings.insert("tol".into(), tol.into());
        report.settings.insert("unit_norm".into(), task.unit.into());
        if self.w_init.is_some() {
            report.settings.insert("w_init".into(), "given".into());
        }
        let coherence = likeness.iter().fold(0.0f64, |m, c| m.max(*c));
        let tensors = parameters(task, &w, coherence, dtype)?;
        report.end(run);
        Model::fitted(&METHOD, settings, features.clone(), 0, tensors, report)
    }
}

/// Parameters in canonical order and sign.
fn parameters(task: &Task, w: &Matrix<f64>, coherence: f64, dtype: Dtype) -> Result<Tensors> {
    let (seen, k) = (&task.seen, task.k);
    let components = seen.folded(w);
    // What each feature adds to a row, as rows.
    let mixing = match seen.white && k >= seen.d() {
        true => seen.decoded(pseudo_inverse(w)?.transposed()),
        false => pseudo_inverse(&components)?.transposed(),
    };
    let moments = seen.moments();
    let size = match &moments {
        None => lengths(w),
        Some(f) => lengths(&factor::multiply_transposed(w, f)),
    };
    let decoder = lengths(&mixing);
    let variance: Vec<f64> = (0..k).map(|i| (decoder[i] * size[i]).powi(2)).collect();
    let mut ranked: Vec<usize> = (0..k).collect();
    ranked.sort_by(|&a, &b| variance[b].total_cmp(&variance[a]));
    let sign: Vec<f64> = (0..k).map(|i| sign_of(mixing.row(i), dtype.eps())).collect();
    let arranged = |m: &Matrix<f64>| {
        let mut out = Matrix::from_fn(k, m.cols(), |i, j| sign[ranked[i]] * m[(ranked[i], j)]);
        // -0 and 0 are equal numbers but not equal bits.
        out.as_mut_slice().iter_mut().filter(|x| **x == 0.0).for_each(|x| *x = 0.0);
        out
    };
    let variance: Vec<f64> = ranked.iter().map(|&i| variance[i]).collect();
    let mut tensors = vec![
        ("components", Tensor::matrix(&arranged(&components), dtype)),
        ("mixing", Tensor::matrix(&arranged(&mixing).transposed(), dtype)),
        ("mean", Tensor::vector(&seen.mean, dtype)),
        ("component_variance", Tensor::vector(&variance, dtype)),
        ("coherence", Tensor::scalar(coherence, dtype)),
    ];
    if seen.white && k == seen.d() {
        tensors.push(("rotation", Tensor::matrix(&seen.axes.transposed(), dtype)));
        tensors.push(("scale", Tensor::vector(&seen.deviation, dtype)));
        tensors.push(("second_rotation", Tensor::matrix(&arranged(w).transposed(), dtype)));
    }
    if seen.size != 1.0 {
        tensors.push(("data_scale", Tensor::scalar(seen.size, dtype)));
    }
    if let Some(noise) = &seen.noise {
        tensors.push(("noise_scale", Tensor::vector(noise, dtype)));
    }
    Ok(tensors.into_iter().map(|(name, t)| (name.to_string(), t)).collect())
}

/// For each feature, its largest cosine with another, without sign.
fn likeness(w: &Matrix<f64>) -> Vec<f64> {
    let lengths = lengths(w);
    let unit = scaled(w.clone(), |i| if lengths[i] > 0.0 { 1.0 / lengths[i] } else { 0.0 });
    let cosines = factor::multiply_transposed(&unit, &unit);
    let others = |i: usize| (0..w.rows()).filter(move |&j| j != i);
    (0..w.rows()).map(|i| others(i).fold(0.0f64, |m, j| m.max(cosines[(i, j)].abs())).min(1.0)).collect()
}

/// What a person should know of the features.
fn doubts(w: &Matrix<f64>, likeness: &[f64]) -> Vec<String> {
    let k = w.rows();
    let (dead, twins) =
        (lengths(w).iter().filter(|s| **s < DEAD).count(), likeness.iter().filter(|c| **c > SAME).count());
    let mut out = Vec::new();
    if dead > 0 {
        out.push(format!(
            "{dead} of {k} features have shrunk to nothing; a smaller beta, or unit_norm=true, keeps them alive"
        ));
    }
    if twins > 0 {
        out.push(format!(
            "{twins} of {k} features point along another one (cosine above {SAME}): ask for fewer features, or a smaller beta"
        ));
    }
    out
}

/// The pseudo-inverse, `d x k`, of a `k x d` matrix: what decodes with the least squares.
fn pseudo_inverse(a: &Matrix<f64>) -> Result<Matrix<f64>> {
    if a.rows() < a.cols() {
        return Ok(pseudo_inverse(&a.transposed())?.transposed());
    }
    let (values, right) = factor::svd_right(a)?;
    // As rank is decided everywhere else.
    let floor = 10.0 * a.rows() as f64 * f64::EPSILON * values.first().copied().unwrap_or(0.0);
    let kept = values.iter().take_while(|s| **s > floor).count();
    let right = right.top_rows(kept);
    let image = factor::multiply_transposed(&right, a);
    let image = scaled(image, |i| 1.0 / (values[i] * values[i]));
    Ok(factor::multiply(&right.transposed(), &image))
}

/// `y = (x - mean) components'` and back.
pub(super) fn code(_: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let components = require(tensors, "components", &[None, None])?;
    let (k, p) = (components.shape()[0], components.shape()[1]);
    let mixing = require(tensors, "mixing", &[Some(p), Some(k)])?;
    let mean = require(tensors, "mean", &[Some(p)])?.clone();
    Ok(Code::Linear {
        mean,
        encoder: components.to_matrix().transposed(),
        decoder: mixing.to_matrix().transposed(),
        bend: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    #[test]
    fn a_pseudo_inverse_keeps_the_four_laws_of_penrose() {
        for (k, d, rank) in [(5, 5, 5), (9, 4, 4), (3, 8, 3), (6, 6, 2), (1, 1, 1)] {
            let s = Stream::new(8, (k * d) as u64);
            let left = Matrix::from_fn(k, rank, |i, j| s.normal((i * rank + j) as u64));
            let right = Matrix::from_fn(rank, d, |i, j| s.normal((1000 + i * d + j) as u64));
            let a = factor::multiply(&left, &right);
            let b = pseudo_inverse(&a).unwrap();
            let (ab, ba) = (factor::multiply(&a, &b), factor::multiply(&b, &a));
            let near = |x: &Matrix<f64>, y: &Matrix<f64>| {
                x.as_slice().iter().zip(y.as_slice()).all(|(x, y)| (x - y).abs() < 1e-12)
            };
            assert!(near(&factor::multiply(&ab, &a), &a) && near(&factor::multiply(&ba, &b), &b));
            assert!(near(&ab, &ab.transposed()) && near(&ba, &ba.transposed()), "{k} x {d} of rank {rank}");
        }
    }
}
