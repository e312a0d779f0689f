//! Agglomerative clustering with average linkage (UPGMA).
//!
//! The two clusters with the smallest mean dissimilarity of their members are merged, until `k` are left. The nearest-neighbour chain
//! (Benzécri 1982; Murtagh 1983) finds the same tree as the search for the closest pair in every step, in `O(n²)` rather than `O(n³)`,
//! because average linkage is reducible: a merged cluster is never nearer to others than both of its parts were (Bruynooghe 1977).
//! Of equal dissimilarities the first in the order of the items is used.

use crate::num::Matrix;

/// For each item its cluster, from 0 to `k - 1` in the order of first members. `distance` is symmetric, its diagonal is not read.
///
/// `O(n²)` time; works in place.
pub(super) fn average_linkage(mut distance: Matrix<f64>, k: usize) -> Vec<usize> {
    let n = distance.rows();
    let mut merges = chain(&mut distance);
    // The chain finds merges out of order. Each names one member of either side.
    merges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut parent: Vec<usize> = (0..n).collect();
    for &(_, a, b) in merges.iter().take(n.saturating_sub(k.max(1))) {
        let (a, b) = (root(&parent, a), root(&parent, b));
        parent[a.max(b)] = a.min(b);
    }
    let mut number = vec![usize::MAX; n];
    let mut found = 0;
    (0..n)
        .map(|i| {
            let first = root(&parent, i);
            if number[first] == usize::MAX {
                number[first] = found;
                found += 1;
            }
            number[first]
        })
        .collect()
}

/// The first member of the cluster of `i`.
fn root(parent: &[usize], mut i: usize) -> usize {
    while parent[i] != i {
        i = parent[i];
    }
    i
}

/// All `n - 1` merges: mean dissimilarity, and a member of either cluster.
fn chain(distance: &mut Matrix<f64>) -> Vec<(f64, usize, usize)> {
    let n = distance.rows();
    let mut active: Vec<usize> = (0..n).collect();
    let mut size = vec![1.0; n];
    let (mut path, mut merges): (Vec<usize>, Vec<_>) = (Vec::new(), Vec::new());
    while active.len() > 1 {
        if path.is_empty() {
            path.push(active[0]);
        }
        let top = path[path.len() - 1];
        let before = path.len().checked_sub(2).map(|i| path[i]);
        // In case of ties the previous item is used: otherwise the chain could be a cycle.
        let (mut nearest, mut least) = before.map_or((top, f64::INFINITY), |b| (b, distance[(top, b)]));
        for &other in active.iter().filter(|&&other| other != top) {
            if distance[(top, other)] < least {
                (nearest, least) = (other, distance[(top, other)]);
            }
        }
        if Some(nearest) != before {
            path.push(nearest);
            continue;
        }
        path.truncate(path.len() - 2);
        let (kept, gone) = (top.min(nearest), top.max(nearest));
        merges.push((least, kept, gone));
        active.retain(|i| *i != gone);
        let (a, b) = (size[kept], size[gone]);
        for &other in active.iter().filter(|&&other| other != kept) {
            let (x, y) = (distance[(kept, other)], distance[(gone, other)]);
            // Rounding must not make the mean less than both.
            let mean = ((a * x + b * y) / (a + b)).max(x.min(y));
            (distance[(kept, other)], distance[(other, kept)]) = (mean, mean);
        }
        size[kept] = a + b;
    }
    merges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    fn random(n: usize, seed: u64) -> Matrix<f64> {
        let draws = Stream::new(seed, 5);
        let of = |i: usize, j: usize| draws.uniform((i.min(j) * n + i.max(j)) as u64);
        Matrix::from_fn(n, n, |i, j| if i == j { 0.0 } else { of(i, j) })
    }

    /// The definition: merges the closest pair, with means over the members computed from the matrix each time.
    fn naive(distance: &Matrix<f64>, k: usize) -> Vec<usize> {
        let mut clusters: Vec<Vec<usize>> = (0..distance.rows()).map(|i| vec![i]).collect();
        while clusters.len() > k {
            let mean = |a: &[usize], b: &[usize]| {
                let total: f64 = a.iter().flat_map(|&i| b.iter().map(move |&j| distance[(i, j)])).sum();
                total / (a.len() * b.len()) as f64
            };
            let (mut closest, mut least) = ((0, 1), f64::INFINITY);
            for b in 1..clusters.len() {
                for a in 0..b {
                    let found = mean(&clusters[a], &clusters[b]);
                    if found < least {
                        (closest, least) = ((a, b), found);
                    }
                }
            }
            let gone = clusters.remove(closest.1);
            clusters[closest.0].extend(gone);
        }
        clusters.sort_by_key(|c| c.iter().copied().min());
        let mut labels = vec![0; distance.rows()];
        for (number, members) in clusters.iter().enumerate() {
            members.iter().for_each(|&i| labels[i] = number);
        }
        labels
    }

    #[test]
    fn the_nearest_neighbour_chain_gives_the_clusters_of_closest_pairs() {
        for seed in 0..40 {
            let n = 2 + (seed as usize * 7) % 39;
            let distance = random(n, seed);
            for k in 1..=n {
                assert_eq!(
                    average_linkage(distance.clone(), k),
                    naive(&distance, k),
                    "{n} items, {k} clusters, seed {seed}"
                );
            }
        }
    }

    #[test]
    fn equal_dissimilarities_give_the_requested_number_of_clusters() {
        for n in [1, 2, 5, 64] {
            let equal = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i != j)));
            let none = Matrix::zeros(n, n);
            for k in 1..=n {
                for distance in [&equal, &none] {
                    let labels = average_linkage(distance.clone(), k);
                    assert_eq!(labels.iter().max(), Some(&(k - 1)));
                    assert_eq!(labels, average_linkage(distance.clone(), k));
                }
            }
        }
    }
}
