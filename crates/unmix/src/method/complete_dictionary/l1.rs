//! Filters one at a time by minimising the mean absolute value of their codes (Sun, Qu & Wright 2017; Bai,
//! Jiang & Sun 2019).
//!
//! The search for a filter starts from a random direction, first among the directions orthogonal to the filters before it, so that none is
//! found twice, and then continues from there among all directions.

use super::refine::{Descent, SAME_ATOM_COSINE, some_rows};
use super::search::{SearchResult, away_from};
use super::start::{Task, least_floor};
use crate::error::Result;
use crate::ica::View;
use crate::num::{Matrix, Real, factor};
use crate::power::dot;
use crate::run::Run;
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

/// Filters found so far.
#[derive(Serialize, Deserialize)]
struct State {
    found: SearchResult,
    /// Orthonormal rows that span the filters.
    span: Matrix<f64>,
}

/// Searches for as many filters as `task` has atoms.
pub(super) fn search<T: Real>(
    view: &View<'_, '_, T>,
    task: &Task,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<SearchResult> {
    let (k, r) = (task.k, task.coordinates.k());
    let rows = some_rows(view, run)?;
    let descent = Descent { rows: &rows, task, least: least_floor(T::DTYPE), auto: false, run };
    let start = task.start(0, run)?;
    let all = Limits::count(k as u64);
    let first = || Ok(State { found: SearchResult::empty(r), span: Matrix::zeros(0, r) });
    let (mut steps, mut at) = Steps::begin(run, "atoms", all, first)?;
    for i in steps.n_iter() as usize..k {
        let basis = factor::complement(&at.span);
        let begun = unit_within(&away_from(start.row(i), &at.span), &basis);
        let inside = descent.from(begun, Some(&basis), limits)?;
        let left = Limits { max_iter: limits.max_iter.saturating_sub(inside.n_iter), ..*limits };
        let free = descent.from(inside.q.clone(), None, &left)?;
        let before = (0..at.found.w.rows()).map(|j| at.found.w.row(j));
        let twin = before.map(|w| dot(w, &free.q).abs()).fold(0.0, f64::max) > SAME_ATOM_COSINE;
        let n_iter = inside.n_iter + free.n_iter;
        let ended = if twin { inside } else { free };
        let sweeps = (n_iter as f64 * rows.n_samples() / task.coordinates.n).ceil() as u64;
        at.span = extended(&at.span, &ended.q);
        at.found.push(SearchResult::of_descent(&ended, n_iter, sweeps));
        steps.counted(&at)?;
    }
    Ok(at.found)
}

/// The projection of `w` onto the span of the orthonormal rows of `basis`, normalised to length 1.
fn unit_within(w: &[f64], basis: &Matrix<f64>) -> Vec<f64> {
    let w = Matrix::from_vec(1, w.len(), w.to_vec());
    let inside = factor::multiply(&factor::multiply_transposed(&w, basis), basis).into_vec();
    let length = dot(&inside, &inside).sqrt();
    inside.into_iter().map(|x| x / length).collect()
}

/// The orthonormal rows of `span`, and the component of `q` orthogonal to them.
fn extended(span: &Matrix<f64>, q: &[f64]) -> Matrix<f64> {
    let rest = unit_within(&away_from(q, span), &factor::complement(span));
    Matrix::from_vec(span.rows() + 1, span.cols(), [span.as_slice(), &rest].concat())
}
