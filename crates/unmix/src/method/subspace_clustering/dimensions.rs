//! Dimensions of the subspaces: what was asked for, or by the Bayesian information criterion.

use super::settings::Dimensions;
use super::table::{Table, principal};
use crate::error::Result;
use crate::select;

/// The dimension of every cluster of rows: as asked, or by the rows.
///
/// # Errors
///
/// An eigenvalue decomposition that does not converge.
pub(super) fn of_clusters(
    table: &Table,
    members: &[Vec<usize>],
    asked: Option<&Dimensions>,
) -> Result<Vec<usize>> {
    match asked {
        Some(Dimensions::Same(d)) => Ok(vec![*d; members.len()]),
        Some(Dimensions::Each(given)) => {
            // The cluster whose variance is spread over the most directions gets the largest.
            let mut spread = Vec::with_capacity(members.len());
            for rows in members {
                let (values, _) = principal(&table.rows(rows))?;
                let (sum, squares) = values.iter().fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
                spread.push(if squares > 0.0 { sum * (sum / squares) } else { 0.0 });
            }
            let mut order: Vec<usize> = (0..members.len()).collect();
            order.sort_by(|&a, &b| spread[b].total_cmp(&spread[a]).then(a.cmp(&b)));
            let mut sorted = given.clone();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            let mut out = vec![0; members.len()];
            order.into_iter().zip(sorted).for_each(|(c, d)| out[c] = d);
            Ok(out)
        }
        None => members.iter().map(|rows| by_criterion(table, rows, members.len())).collect(),
    }
}

/// The Bayesian information criterion of clusters of these dimensions, larger for better ones: the largest log-likelihood of the rows, each cluster a
/// Gaussian about 0 with variances along `d` axes and one across them, less half of `ln n` for each parameter. Up to what depends on the rows alone.
///
/// # Errors
///
/// Those of [`of_clusters`].
pub(super) fn criterion(table: &Table, members: &[Vec<usize>], dimensions: &[usize]) -> Result<f64> {
    let (n, p) = (table.n() as f64, table.p());
    // So that rows without noise have a likelihood.
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

/// Share of the rows of a cluster that may belong to others.
const STRAY: usize = 10;

/// The smallest dimension that is enough for all but a tenth of the rows, those farthest from the subspace of that dimension, by the Bayesian
/// information criterion: of rows without noise a single one of another cluster is a dimension more. At least 1 and, of several clusters,
/// below the number of columns.
fn by_criterion(table: &Table, rows: &[usize], k: usize) -> Result<usize> {
    let most = table.p() - usize::from(k > 1);
    let by_bic = |values: &[f64], n: usize| {
        // Rows without noise fill their subspace alone; of variances that are alike the criterion would take all for noise.
        if values.len() < n.min(table.p()) {
            return values.len();
        }
        let variances: Vec<f64> = values.iter().map(|v| v / n.max(1) as f64).collect();
        select::bic(&variances, n as f64, table.p())
    };
    let (values, axes) = principal(&table.rows(rows))?;
    let enough = |d: usize| -> Result<bool> {
        let distances = table.distances_of(rows, &axes.clone().top_rows(d));
        let mut near: Vec<usize> = (0..rows.len()).collect();
        near.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]).then(a.cmp(&b)));
        near.truncate(rows.len() - rows.len() / STRAY);
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
