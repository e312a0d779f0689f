//! From the result of a search to a model: scale, order and sign of the sources.

use super::view::{SweptRows, View};
use super::warnings::{mixed_sources, sizes, warnings_about};
use super::{Limits, Search, SolverResult, solver_name};
use crate::choices::choices;
use crate::data::Rows;
use crate::error::Result;
use crate::model::{Arrangement, Method, Model, Report, Tensor};
use crate::num::order;
use crate::num::{Dtype, Matrix, Real, factor};
use crate::run::Run;
use crate::spectrum::{Coordinates, Inverse};
use crate::stats::Contrast;
use serde_json::{Map, Value};

choices! {
    /// Order of the sources.
    #[derive(Default)]
    pub enum Order {
        /// Variance of the back-projection, largest first.
        #[default]
        Variance = "variance",
        /// Kurtosis, largest first.
        Kurtosis = "kurtosis",
        /// As returned by the solver.
        Found = "found",
    }
}

/// Scale of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variance {
    /// 1.
    Unit,
    /// `1 / n`: as in scikit-learn's `arbitrary-variance`.
    PerRow,
    /// As returned by the solver.
    AsFound,
}

/// The model of the estimated sources.
pub(crate) fn model<T: Real>(
    (method, settings, resolved): (&'static Method, Map<String, Value>, Map<String, Value>),
    rows: &Rows<'_, T>,
    coordinates: Coordinates,
    search: &Search<'_>,
    found: SolverResult,
    (variance, order): (Variance, Order),
    run: &Run<'_>,
) -> Result<Model> {
    let (k, dtype) = (coordinates.k(), T::DTYPE);
    let mut report = report(rows.n_features(), dtype, &coordinates, search, &found, run);
    report.settings = resolved;
    run.stage("components")?;
    let size = sizes(&coordinates, &found.w);
    let per_row = (1.0 / coordinates.n).sqrt();
    let wanted = |i: usize| match variance {
        Variance::Unit if size[i] > 0.0 => 1.0 / size[i],
        Variance::Unit | Variance::AsFound => 1.0,
        Variance::PerRow => per_row / size[i],
    };
    let unmixing = Matrix::from_fn(k, k, |i, j| found.w[(i, j)] * wanted(i));
    // The transposed mixing matrix.
    let mixing = coordinates.decoder(&unmixing, Inverse::Square)?;
    let component_variance: Vec<f64> = (0..k)
        .map(|i| mixing.row(i).iter().map(|m| m * m).sum::<f64>() * (size[i] * wanted(i)).powi(2))
        .collect();
    let ranked = ranking(&component_variance, order, rows, &coordinates, &unmixing, run, &mut report)?;
    let mut place = vec![0; k];
    ranked.iter().enumerate().for_each(|(at, &i)| place[i] = at);
    report.warnings.extend(warnings_about(rows, &coordinates, search, &found, &place, run)?);
    report.warnings.extend(mixed_sources(rows, &coordinates, search, &found, &place, run)?);
    let arranged = Arrangement::new(ranked, &mixing, dtype.eps());
    let (unmixing, mixing) = (arranged.rows(&unmixing), arranged.rows(&mixing));
    let basis = coordinates.basis();
    let components = basis.as_ref().map_or_else(|| unmixing.clone(), |b| factor::multiply(&unmixing, b));
    let rotation = unmixing.transposed();
    let described = coordinates.described(&components, Some(&mixing), Some(&rotation));
    let variance = arranged.values(&component_variance);
    let mut own = vec![("component_variance", Tensor::vector(&variance, dtype))];
    // Variances of correlated sources do not add up.
    if let Some(total) = coordinates.total.filter(|total| *total > 0.0 && search.rotates_only()) {
        let share: Vec<f64> = variance.iter().map(|v| v / total).collect();
        own.push(("explained_variance_ratio", Tensor::vector(&share, dtype)));
    }
    report.end(run);
    let tensors = described.tensors(dtype, own);
    Model::fitted(method, settings, rows.features().clone(), 0, tensors, report)
}

/// How the search ended, for rows of `p` numbers, without settings.
fn report(
    p: usize,
    dtype: Dtype,
    coordinates: &Coordinates,
    search: &Search<'_>,
    found: &SolverResult,
    run: &Run<'_>,
) -> Report {
    let mut report = Report::closed_form(solver_name(search), coordinates.n, p, dtype, run.seed);
    report.outcome = found.outcome;
    report.n_iter = found.n_iter;
    report.sweeps = found.sweeps + coordinates.sweeps;
    report.objective.clone_from(&found.objective);
    if !found.sign_changes.is_empty() {
        report.diagnostics.insert("sign_changes".into(), found.sign_changes.clone().into());
    }
    let Limits { tol, .. } = search.limits;
    (report.residual, report.tol) = (Some(found.residual).filter(|r| r.is_finite()), Some(tol));
    report.rank = coordinates.rank;
    report.n_constant = coordinates.n_constant;
    report.warnings = coordinates.warnings.clone();
    report.tell_rounding();
    report
}

/// Indices of the sources in the requested order.
fn ranking<T: Real>(
    variance: &[f64],
    order: Order,
    rows: &Rows<'_, T>,
    coordinates: &Coordinates,
    unmixing: &Matrix<f64>,
    run: &Run<'_>,
    report: &mut Report,
) -> Result<Vec<usize>> {
    let mut ranked: Vec<usize> = (0..variance.len()).collect();
    match order {
        Order::Found => {}
        Order::Variance => ranked = order::descending(variance),
        Order::Kurtosis => {
            report.sweeps += 1;
            ranked = order::descending(&kurtosis(rows, coordinates, unmixing, run)?);
        }
    }
    Ok(ranked)
}

/// Excess kurtosis of every source, in one pass.
fn kurtosis<T: Real>(
    rows: &Rows<'_, T>,
    coordinates: &Coordinates,
    unmixing: &Matrix<f64>,
    run: &Run<'_>,
) -> Result<Vec<f64>> {
    let basis = coordinates.basis();
    let view = View {
        place: SweptRows::Rows(rows),
        mean: Some(&coordinates.mean),
        basis: basis.as_ref(),
        k: coordinates.k(),
    };
    let size = sizes(coordinates, unmixing);
    let sums = view.means(unmixing, Contrast::Cube, run)?;
    let fourth = |i: usize| sums.as_ref().map_or(0.0, |s| s.cross[(i, i)]);
    Ok((0..size.len()).map(|i| fourth(i) / size[i].powi(4) - 3.0).collect())
}
