//! Blocks of equal variances: contiguous blocks of the sorted spectrum, each with one variance (Szwagier & Pennec 2024).
//!
//! ```text
//! log L = -n/2 [p ln 2pi + sum_b d_b ln v_b + (p - q) ln s² + p],   v_b the mean of the variances in block b
//! parameters = p(p-1)/2 - sum_b d_b(d_b-1)/2 - (p-q)(p-q-1)/2 + blocks + 1 + p
//! ```
//!
//! The Bayesian information criterion is a sum over blocks, so the best partition is found by dynamic programming.

use crate::select::bounded;

/// Sizes of the contiguous blocks of the first `q` of `values`, descending variances of `n` samples, that are best by the Bayesian information
/// criterion. `O(q²)`.
pub fn bic_blocks(values: &[f64], q: usize, n: f64) -> Vec<usize> {
    let (_, before) = costs(values, q, n);
    cut(&before, q)
}

/// The best blocks for any number of components from 1 to `most`, of `p` columns; their sum is that number. `total` is the sum of all variances.
pub(super) fn bic_blocks_of_any(values: &[f64], total: f64, p: usize, most: usize, n: f64) -> Vec<usize> {
    let (cost, before) = costs(values, most, n);
    let sums = cumulative(values);
    let penalty = |q: usize| {
        let rest = (p - q) as f64;
        -0.5 * n.ln() * rest * (rest - 1.0) / 2.0
    };
    let noise = |q: usize| {
        let tail: f64 = values[q..].iter().sum::<f64>() + (total - sums[values.len()]).max(0.0);
        let rest = (p - q) as f64;
        0.5 * n * rest * (tail / rest).max(f64::MIN_POSITIVE).ln()
    };
    let all: Vec<f64> = (1..=most).map(|q| -(cost[q] + noise(q) + penalty(q))).collect();
    // With fewer samples than columns, the likelihood of many components is unbounded.
    let last = if p as f64 > n - 1.0 { bounded(&all) } else { most.saturating_sub(1) };
    let largest = |best: usize, q: usize| if all[q] > all[best] { q } else { best };
    cut(&before, 1 + (0..all.len().min(last + 1)).fold(0, largest))
}

/// For each `j`, the cost of the best blocks of the first `j` variances, and the beginning of the last of these blocks.
fn costs(values: &[f64], q: usize, n: f64) -> (Vec<f64>, Vec<usize>) {
    let sums = cumulative(values);
    let penalty = 0.5 * n.ln();
    let (mut cost, mut before) = (vec![f64::INFINITY; q + 1], vec![0; q + 1]);
    cost[0] = 0.0;
    for j in 1..=q {
        for i in 0..j {
            let d = (j - i) as f64;
            let mean = ((sums[j] - sums[i]) / d).max(f64::MIN_POSITIVE);
            let one = cost[i] + 0.5 * n * d * mean.ln() + penalty * (1.0 - d * (d - 1.0) / 2.0);
            if one < cost[j] - 1e-12 * cost[j].abs().min(1e12) {
                (cost[j], before[j]) = (one, i);
            }
        }
    }
    (cost, before)
}

fn cut(before: &[usize], q: usize) -> Vec<usize> {
    let (mut sizes, mut j) = (Vec::new(), q);
    while j > 0 {
        sizes.push(j - before[j]);
        j = before[j];
    }
    sizes.reverse();
    sizes
}

fn cumulative(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for v in values {
        sums.push(sums[sums.len() - 1] + v);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All cuts of `q` into contiguous blocks.
    fn compositions(q: usize) -> Vec<Vec<usize>> {
        match q {
            0 => vec![Vec::new()],
            _ => (1..=q)
                .flat_map(|d| compositions(q - d).into_iter().map(move |rest| [vec![d], rest].concat()))
                .collect(),
        }
    }

    /// The criterion written out.
    fn criterion(values: &[f64], sizes: &[usize], n: f64) -> f64 {
        let (p, q) = (values.len() as f64, sizes.iter().sum::<usize>());
        let (mut at, mut kept, mut free) = (0, 0.0, p * (p - 1.0) / 2.0 + sizes.len() as f64 + 1.0 + p);
        for &d in sizes {
            let mean = values[at..at + d].iter().sum::<f64>() / d as f64;
            kept += d as f64 * mean.ln();
            free -= (d * (d - 1)) as f64 / 2.0;
            at += d;
        }
        let rest = p - q as f64;
        free -= rest * (rest - 1.0) / 2.0;
        let noise = values[q..].iter().sum::<f64>() / rest;
        let constant = p * (2.0 * std::f64::consts::PI).ln() + p;
        -0.5 * n * (constant + kept + rest * noise.ln()) - 0.5 * n.ln() * free
    }

    #[test]
    fn the_blocks_are_the_best_of_all_cuts() {
        let values = [9.1, 8.7, 5.0, 4.8, 4.7, 1.2, 1.0, 0.9];
        for n in [30.0, 300.0, 3000.0] {
            for q in 1..7 {
                let best = compositions(q)
                    .into_iter()
                    .max_by(|a, b| criterion(&values, a, n).total_cmp(&criterion(&values, b, n)))
                    .unwrap();
                assert_eq!(bic_blocks(&values, q, n), best, "q = {q}, n = {n}");
            }
            let best = (1..8)
                .flat_map(compositions)
                .max_by(|a, b| criterion(&values, a, n).total_cmp(&criterion(&values, b, n)))
                .unwrap();
            let found = bic_blocks_of_any(&values, values.iter().sum(), 8, 7, n);
            assert_eq!(found, best, "n = {n}");
        }
    }

    #[test]
    fn few_samples_do_not_select_the_last_increase() {
        let noise = (0..37).map(|i| 9.0 - 0.15 * i as f64);
        let values: Vec<f64> = [40.0, 39.0, 30.0].into_iter().chain(noise).collect();
        let found = bic_blocks_of_any(&values, values.iter().sum(), 200, 39, 41.0);
        assert_eq!(found.iter().sum::<usize>(), 3, "{found:?}");
    }
}
