//! Dimensions of the subspaces: given, or selected by the Bayesian information criterion.

use super::settings::Dimensions;
use super::table::{Table, principal};
use crate::error::Result;
use crate::num::order;
use crate::select;

/// The dimension of every cluster of rows: as requested, or selected by the Bayesian information criterion.
///
/// # Errors
///
/// An eigenvalue decomposition that does not converge.
pub(super) fn of_clusters(
    table: &Table,
    members: &[Vec<usize>],
    requested: Option<&Dimensions>,
) -> Result<Vec<usize>> {
    match requested {
        Some(Dimensions::Same(d)) => Ok(vec![*d; members.len()]),
        Some(Dimensions::Each(given)) => {
            // The largest dimension is assigned to the cluster with the largest participation ratio `(Σ v)² / Σ v²` of its variances.
            let mut participation = Vec::with_capacity(members.len());
            for rows in members {
                let (values, _) = principal(&table.rows(rows))?;
                let (sum, squares) = values.iter().fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
                participation.push(if squares > 0.0 { sum * (sum / squares) } else { 0.0 });
            }
            let order = order::descending(&participation);
            let mut sorted = given.clone();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            let mut out = vec![0; members.len()];
            order.into_iter().zip(sorted).for_each(|(c, d)| out[c] = d);
            Ok(out)
        }
        None => members.iter().map(|rows| by_criterion(table, rows, members.len())).collect(),
    }
}

/// Minus half the Bayesian information criterion of clusters of these dimensions, so that larger is better: the maximum log-likelihood of the
/// rows, where each cluster is a Gaussian of mean 0 with a variance along each of `d` axes and one in all other directions, minus half of `ln n`
/// for each parameter. Terms that depend on the rows alone are left out.
///
/// # Errors
///
/// Those of [`of_clusters`].
pub(super) fn criterion(table: &Table, members: &[Vec<usize>], dimensions: &[usize]) -> Result<f64> {
    let (n, p) = (table.n() as f64, table.p());
    // The lower bound of variances: without it, the likelihood of rows without noise is unbounded.
    let least = 1e-10 * table.total / (n * p as f64);
    let mut sum = 0.0;
    for (rows, &d) in members.iter().zip(dimensions) {
        let count = rows.len() as f64;
        let (values, _) = principal(&table.rows(rows))?;
        let variance = |i: usize| (values.get(i).copied().unwrap_or(0.0) / count.max(1.0)).max(least);
        let along: f64 = (0..d.min(p)).map(|i| variance(i).ln()).sum();
        let across = values.iter().skip(d).sum::<f64>() / (count.max(1.0) * (p - d.min(p)).max(1) as f64);
        let rest = (p - d.min(p)) as f64 * across.max(least).ln();
        let share = if count > 0.0 { count * (count / n).ln() } else { 0.0 };
        let parameters = (p * d) as f64 - (d * d.saturating_sub(1)) as f64 / 2.0 + 2.0;
        sum += share - 0.5 * count * (along + rest) - 0.5 * n.ln() * parameters;
    }
    Ok(sum)
}

/// One in this many rows of a cluster, those farthest from its subspace, is left out: it may belong to another cluster.
const ROWS_PER_TRIMMED: usize = 10;

/// The smallest dimension `d` for which the Bayesian information criterion selects at most `d` dimensions, when the tenth of the rows that is
/// farthest from the subspace of that dimension is left out: among rows without noise, a single row of another cluster would add a dimension.
/// At least 1 and, with several clusters, below the number of columns.
fn by_criterion(table: &Table, rows: &[usize], k: usize) -> Result<usize> {
    let most = table.p() - usize::from(k > 1);
    let by_bic = |values: &[f64], n: usize| {
        // Rows without noise have the rank of their subspace; if their variances are similar, the criterion would take all of them for noise.
        if values.len() < n.min(table.p()) {
            return values.len();
        }
        let variances: Vec<f64> = values.iter().map(|v| v / n.max(1) as f64).collect();
        select::bic(&variances, n as f64, table.p())
    };
    let (values, axes) = principal(&table.rows(rows))?;
    let enough = |d: usize| -> Result<bool> {
        let distances = table.distances_of(rows, &axes.clone().top_rows(d));
        let mut near = order::ascending(&distances);
        near.truncate(rows.len() - rows.len() / ROWS_PER_TRIMMED);
        near.sort_unstable();
        let kept: Vec<usize> = near.iter().map(|&at| rows[at]).collect();
        Ok(by_bic(&principal(&table.rows(&kept))?.0, kept.len()) <= d)
    };
    let (mut below, mut above) = (0, by_bic(&values, rows.len()));
    while above > below + 1 {
        let middle = (below + above) / 2;
        match enough(middle)? {
            true => above = middle,
            false => below = middle,
        }
    }
    Ok(above.min(most).max(1))
}
