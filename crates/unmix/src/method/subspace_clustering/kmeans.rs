//! k-means for few columns: Lloyd's algorithm from k-means++ starts; the bits do not depend on the number of threads.

use crate::num::Matrix;
use crate::num::order;
use crate::num::parallel;
use crate::num::random::Stream;

/// Maximum number of iterations of a start.
const MOST_ITERATIONS: usize = 300;

/// Labels of the rows in `k` clusters: those with the smallest sum of squared distances among `starts` starts, the first in case of ties.
pub fn kmeans(x: &Matrix<f64>, k: usize, starts: u64, seed: u64) -> Vec<usize> {
    kmeans_until(x, k, starts, seed, &|| false)
}

/// [`kmeans`], until `stop`: no further start is then begun, and those that run end with their current labels.
pub(super) fn kmeans_until(
    x: &Matrix<f64>,
    k: usize,
    starts: u64,
    seed: u64,
    stop: &(dyn Fn() -> bool + Sync),
) -> Vec<usize> {
    let runs: Vec<(f64, Vec<usize>)> = parallel::map(0..starts as usize, |start| match start > 0 && stop() {
        true => (f64::INFINITY, Vec::new()),
        false => lloyd(x, k, &Stream::new(seed, start as u64), stop),
    });
    let first = |best: (f64, Vec<usize>), next: (f64, Vec<usize>)| if next.0 < best.0 { next } else { best };
    runs.into_iter().reduce(first).map_or(vec![0; x.rows()], |(_, labels)| labels)
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The nearest centre, the first in case of ties, and its squared distance.
fn nearest(row: &[f64], centres: &Matrix<f64>) -> (usize, f64) {
    (0..centres.rows()).fold((0, f64::INFINITY), |best, c| {
        let far = squared(row, centres.row(c));
        if far < best.1 { (c, far) } else { best }
    })
}

fn lloyd(x: &Matrix<f64>, k: usize, draws: &Stream, stop: &(dyn Fn() -> bool + Sync)) -> (f64, Vec<usize>) {
    let mut centres = spread(x, k, draws);
    let (mut labels, mut cost) = (Vec::new(), f64::INFINITY);
    for _ in 0..MOST_ITERATIONS {
        let found: Vec<(usize, f64)> = (0..x.rows()).map(|i| nearest(x.row(i), &centres)).collect();
        let next: Vec<usize> = found.iter().map(|f| f.0).collect();
        cost = found.iter().map(|f| f.1).sum();
        if next == labels {
            break;
        }
        labels = next;
        if stop() {
            break;
        }
        let far: Vec<f64> = found.iter().map(|f| f.1).collect();
        move_centres(x, &labels, &far, &mut centres);
    }
    (cost, labels)
}

/// Moves the centres to the means of their clusters; an empty cluster is reinitialised at the row that is farthest from its centre.
fn move_centres(x: &Matrix<f64>, labels: &[usize], far: &[f64], centres: &mut Matrix<f64>) {
    let k = centres.rows();
    let mut counts = vec![0usize; k];
    let mut sums = Matrix::<f64>::zeros(k, x.cols());
    for (i, &c) in labels.iter().enumerate() {
        counts[c] += 1;
        sums.row_mut(c).iter_mut().zip(x.row(i)).for_each(|(s, x)| *s += x);
    }
    let mut farthest = order::descending(far).into_iter();
    for c in 0..k {
        if counts[c] > 0 {
            let mean = sums.row(c).iter().map(|s| s / counts[c] as f64);
            centres.row_mut(c).iter_mut().zip(mean).for_each(|(to, m)| *to = m);
        } else if let Some(i) = farthest.next() {
            centres.row_mut(c).copy_from_slice(x.row(i));
        }
    }
}

/// k-means++: rows drawn with probabilities proportional to their squared distances from the rows drawn before (Arthur & Vassilvitskii 2007).
fn spread(x: &Matrix<f64>, k: usize, draws: &Stream) -> Matrix<f64> {
    let n = x.rows();
    let mut centres = Matrix::zeros(k, x.cols());
    let mut far = vec![1.0; n];
    for c in 0..k {
        let i = drawn(&far, draws.uniform(c as u64));
        centres.row_mut(c).copy_from_slice(x.row(i));
        let to_centre = |j: usize| squared(x.row(j), x.row(i));
        match c {
            0 => far = (0..n).map(to_centre).collect(),
            _ => far.iter_mut().enumerate().for_each(|(j, f)| *f = f.min(to_centre(j))),
        }
    }
    centres
}

/// The index that a uniform number from [0, 1) selects, with probabilities proportional to `weights`.
pub(super) fn drawn(weights: &[f64], uniform: f64) -> usize {
    let total: f64 = weights.iter().sum();
    let mut left = uniform * total;
    for (i, w) in weights.iter().enumerate() {
        left -= w;
        if left < 0.0 {
            return i;
        }
    }
    // All weights are 0, or rounding errors left a remainder.
    weights.iter().rposition(|w| *w > 0.0).unwrap_or(((weights.len() - 1) as f64 * uniform) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separated_clusters_are_found_and_every_label_is_used() {
        let draws = Stream::new(1, 0);
        let x = Matrix::from_fn(90, 2, |i, j| {
            10.0 * f64::from(u8::from(i % 3 == j)) + 0.1 * draws.normal((2 * i + j) as u64)
        });
        let labels = kmeans(&x, 3, 5, 0);
        assert!((0..90).all(|i| labels[i] == labels[i % 3]));
        assert!(labels[0] != labels[1] && labels[1] != labels[2] && labels[0] != labels[2]);
        // As many clusters as rows, and more clusters than different rows.
        let few = x.top_rows(4);
        let mut own = kmeans(&few, 4, 3, 0);
        own.sort_unstable();
        assert_eq!(own, [0, 1, 2, 3]);
        assert_eq!(kmeans(&Matrix::zeros(5, 2), 3, 2, 0).len(), 5);
    }

    #[test]
    fn a_search_that_is_stopped_has_a_label_for_every_row() {
        let draws = Stream::new(1, 0);
        let x = Matrix::from_fn(200, 2, |i, j| draws.normal((2 * i + j) as u64));
        let stopped = kmeans_until(&x, 4, 5, 0, &|| true);
        assert!(stopped.len() == 200 && stopped.iter().all(|c| *c < 4));
        assert_ne!(stopped, kmeans(&x, 4, 5, 0));
    }

    #[test]
    fn weights_are_probabilities() {
        assert_eq!(drawn(&[0.0, 1.0, 3.0], 0.2), 1);
        assert_eq!(drawn(&[0.0, 1.0, 3.0], 0.3), 2);
        assert_eq!(drawn(&[0.0, 0.0, 0.0, 0.0], 0.9), 2);
    }
}
