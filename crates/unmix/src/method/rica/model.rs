//! The model of the features.

use super::cost::lengths;
use super::{METHOD, Rica, Task, scaled};
use crate::data::Features;
use crate::error::Result;
use crate::method::as_map;
use crate::model::{Arrangement, Model, Outcome, Report, Tensor, Tensors};
use crate::num::{Dtype, Matrix, factor};
use crate::run::Run;
use crate::solve::lbfgs::Minimum;
use crate::spectrum::Inverse;

/// Features shorter than this have collapsed to 0: those that contribute to the reconstruction have a length of about 1.
pub(super) const DEAD_LENGTH: f64 = 1e-3;
/// Features with a cosine above this are reported as duplicates.
const DUPLICATE_COSINE: f64 = 0.95;

/// The result of the minimisation, and its coordinates.
pub(super) struct Fitted<'a> {
    pub(super) task: &'a Task,
    pub(super) found: Minimum,
    pub(super) outcome: Outcome,
    /// The warning about an outcome that differs from that of the minimisation.
    pub(super) doubt: Option<String>,
    /// Features, `k x d`, in these coordinates.
    pub(super) w: Matrix<f64>,
    pub(super) tol: f64,
    pub(super) sweeps: u64,
    pub(super) features: &'a Features,
    pub(super) dtype: Dtype,
}

impl Rica {
    pub(super) fn model(&self, fitted: Fitted<'_>, run: &Run<'_>) -> Result<Model> {
        let Fitted { task, found, outcome, doubt, w, tol, sweeps, features, dtype } = fitted;
        let (coordinates, p) = (&task.coordinates, task.coordinates.mean.len());
        let mut report = Report::closed_form("l-bfgs", coordinates.n, p, dtype, run.seed);
        report.outcome = outcome;
        report.n_iter = found.n_iter;
        report.sweeps = sweeps;
        report.objective = found.objective;
        report.residual = Some(found.residual).filter(|r| r.is_finite());
        // Batches end when the requested number of epochs is done.
        report.tol = Some(tol).filter(|_| self.batch_size.is_none());
        report.rank = coordinates.rank;
        report.n_constant = coordinates.n_constant;
        let likeness = likeness(&w);
        report.warnings = task.warnings.clone();
        match outcome {
            Outcome::Collapsed => {}
            _ => report.warnings.extend(feature_warnings(&w, &likeness)),
        }
        report.warnings.extend(doubt);
        let settings = as_map(&Rica { w_init: None, ..self.clone() });
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
    let (coordinates, k) = (&task.coordinates, task.k);
    let components = coordinates.folded(w);
    // Decoder vectors, as rows.
    let mixing = coordinates.decoder(w, Inverse::Pseudo)?;
    let moments = coordinates.root_moments();
    let size = match &moments {
        None => lengths(w),
        Some(f) => lengths(&factor::multiply_transposed(w, f)),
    };
    let decoder = lengths(&mixing);
    let variance: Vec<f64> = (0..k).map(|i| (decoder[i] * size[i]).powi(2)).collect();
    let arranged = Arrangement::by_variance(&variance, &mixing, dtype.eps());
    let complete = coordinates.white && k == coordinates.k();
    let rotation = complete.then(|| arranged.rows(w).transposed());
    let (components, mixing) = (arranged.rows(&components), arranged.rows(&mixing));
    let described = coordinates.described(&components, Some(&mixing), rotation.as_ref());
    let mut own = vec![
        ("component_variance", Tensor::vector(&arranged.values(&variance), dtype)),
        ("coherence", Tensor::scalar(coherence, dtype)),
    ];
    if coordinates.size != 1.0 {
        own.push(("data_scale", Tensor::scalar(coordinates.size, dtype)));
    }
    Ok(described.tensors(dtype, own))
}

/// For each feature, its largest cosine with another, without sign.
fn likeness(w: &Matrix<f64>) -> Vec<f64> {
    let lengths = lengths(w);
    let unit = scaled(w.clone(), |i| if lengths[i] > 0.0 { 1.0 / lengths[i] } else { 0.0 });
    let cosines = factor::multiply_transposed(&unit, &unit);
    let others = |i: usize| (0..w.rows()).filter(move |&j| j != i);
    (0..w.rows()).map(|i| others(i).fold(0.0f64, |m, j| m.max(cosines[(i, j)].abs())).min(1.0)).collect()
}

/// Warnings about collapsed and duplicate features.
fn feature_warnings(w: &Matrix<f64>, likeness: &[f64]) -> Vec<String> {
    let k = w.rows();
    let (dead, twins) = (
        lengths(w).iter().filter(|s| **s < DEAD_LENGTH).count(),
        likeness.iter().filter(|c| **c > DUPLICATE_COSINE).count(),
    );
    let mut out = Vec::new();
    if dead > 0 {
        out.push(format!(
            "{dead} of {k} features have collapsed to 0; a smaller beta, or unit_norm=true, prevents this"
        ));
    }
    if twins > 0 {
        out.push(format!(
            "{twins} of {k} features duplicate another one (cosine above {DUPLICATE_COSINE}): choose fewer features, or a smaller beta"
        ));
    }
    out
}
