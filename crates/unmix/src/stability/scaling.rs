//! Positions of estimates in a plot: metric multidimensional scaling into the plane.
//!
//! Distances in the plot approximate `sqrt(1 - |r|)`, the distance of two unit vectors divided by `sqrt(2)`.
//! Classical scaling is not suitable: unrelated clusters are all equally far from each other, and its first
//! two axes separate only three of them. Stress majorisation (SMACOF; de Leeuw 1977) distributes the error.
//! The centrotypes are placed first, then all estimates.

use crate::num::Matrix;

/// Numbers of iterations for the centrotypes, which are few, and for all estimates.
const CENTROTYPE_ITERATIONS: usize = 300;
const ESTIMATE_ITERATIONS: usize = 60;

/// The position of each item. `similarity` is that of the items, `cluster` has the cluster of each, `centre` the item at the centre of
/// each cluster.
pub(super) fn scaled(similarity: &Matrix<f64>, cluster: &[usize], centre: &[usize]) -> Vec<(f64, f64)> {
    let distance = |i: usize, j: usize| (1.0 - similarity[(i, j)]).max(0.0).sqrt();
    // Initial positions on a spiral with golden-angle increments: distinct, and without symmetries that would
    // be stationary.
    let mut centres: Vec<(f64, f64)> =
        (0..centre.len()).map(|c| seed(c, ((c as f64 + 0.5) / centre.len() as f64).sqrt())).collect();
    majorise(&mut centres, |a, b| distance(centre[a], centre[b]), CENTROTYPE_ITERATIONS);
    let mut places: Vec<(f64, f64)> = cluster
        .iter()
        .enumerate()
        .map(|(i, &c)| {
            let (x, y) = seed(i, distance(i, centre[c]));
            (centres[c].0 + x, centres[c].1 + y)
        })
        .collect();
    majorise(&mut places, distance, ESTIMATE_ITERATIONS);
    rotate_to_principal_axes(&mut places);
    places
}

/// Initial position `i`: at this distance from the origin, at a multiple of the golden angle.
fn seed(i: usize, radius: f64) -> (f64, f64) {
    let (sine, cosine) = (2.399_963_229_728_653 * i as f64).sin_cos();
    (radius * cosine, radius * sine)
}

/// Iterations of the Guttman transform, none of which increases the stress, the sum of squared errors of the distances.
fn majorise(places: &mut Vec<(f64, f64)>, distance: impl Fn(usize, usize) -> f64, steps: usize) {
    let n = places.len();
    let wanted = Matrix::from_fn(n, n, &distance);
    for _ in 0..steps {
        let step = |i: usize| {
            let (x, y) = places[i];
            let (mut sum, row) = ((0.0, 0.0), wanted.row(i));
            for (&(u, v), want) in places.iter().zip(row) {
                let apart = (x - u).hypot(y - v);
                let share = if apart > 0.0 { want / apart } else { 0.0 };
                sum = (sum.0 + u + share * (x - u), sum.1 + v + share * (y - v));
            }
            (sum.0 / n as f64, sum.1 / n as f64)
        };
        *places = (0..n).map(step).collect();
    }
}

/// Centres the positions, and rotates them so that the horizontal axis has the largest variance.
fn rotate_to_principal_axes(places: &mut [(f64, f64)]) {
    let n = places.len().max(1) as f64;
    let (x, y) = places.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0 / n, s.1 + p.1 / n));
    places.iter_mut().for_each(|p| *p = (p.0 - x, p.1 - y));
    let (a, b, c) =
        places.iter().fold((0.0, 0.0, 0.0), |s, p| (s.0 + p.0 * p.0, s.1 + p.0 * p.1, s.2 + p.1 * p.1));
    let (sine, cosine) = (0.5 * f64::atan2(2.0 * b, a - c)).sin_cos();
    places.iter_mut().for_each(|p| *p = (cosine * p.0 + sine * p.1, cosine * p.1 - sine * p.0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_in_a_plane_are_recovered() {
        // Two clusters of two and one alone, from places in the plane.
        let at = [(0.0, 0.0), (0.1, 0.0), (0.9, 0.0), (0.9, 0.1), (0.3, 0.7)];
        let apart = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1);
        let similarity = Matrix::from_fn(5, 5, |i, j| 1.0 - apart(at[i], at[j]).powi(2));
        let found = scaled(&similarity, &[0, 0, 1, 1, 2], &[0, 2, 4]);
        for i in 0..5 {
            for j in 0..5 {
                let (want, is) = (apart(at[i], at[j]), apart(found[i], found[j]));
                assert!((want - is).abs() < 0.02, "{i} and {j}: {is}, not {want}");
            }
        }
        let spread = |f: fn(&(f64, f64)) -> f64| found.iter().map(|p| f(p).powi(2)).sum::<f64>();
        assert!(spread(|p| p.0) > spread(|p| p.1));
    }

    #[test]
    fn unrelated_clusters_have_distinct_positions() {
        for k in [1, 2, 3, 10, 40] {
            let n = 3 * k;
            let similarity = Matrix::from_fn(n, n, |i, j| if i % k == j % k { 1.0 } else { 0.0 });
            let cluster: Vec<usize> = (0..n).map(|i| i % k).collect();
            let found = scaled(&similarity, &cluster, &(0..k).collect::<Vec<_>>());
            for i in 0..n {
                for j in 0..n {
                    let apart = (found[i].0 - found[j].0).hypot(found[i].1 - found[j].1);
                    assert!(
                        found[i].0.is_finite() && (apart < 1e-9) == (i % k == j % k),
                        "{k}: {i} {j} {apart}"
                    );
                }
            }
        }
    }
}
