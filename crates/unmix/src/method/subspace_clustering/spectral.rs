//! Normalized spectral clustering (Ng, Jordan & Weiss 2002): k-means of the rows of the leading eigenvectors of `D^-1/2 W D^-1/2`.

use super::kmeans::kmeans_until;
use crate::error::Result;
use crate::num::parallel;
use crate::num::top::{self, BlockResult, Lanczos, Pairs, SearchOptions};
use crate::num::{Matrix, factor};
use crate::run::Run;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Number of starts of k-means.
const K_MEANS_STARTS: u64 = 20;
/// Maximum number of clusters that the eigengap selects.
const MOST_CLUSTERS: usize = 20;

/// Affinities between rows, symmetric and non-negative.
pub(super) enum Graph {
    /// For each row, its neighbours in ascending order, with their affinities.
    Sparse(Vec<Vec<(usize, f64)>>),
    /// All affinities, `n x n`.
    Dense(Matrix<f64>),
}

impl Graph {
    pub(super) fn n(&self) -> usize {
        match self {
            Graph::Sparse(links) => links.len(),
            Graph::Dense(table) => table.rows(),
        }
    }

    /// All affinities, `n x n`.
    pub(super) fn table(self) -> Matrix<f64> {
        match self {
            Graph::Dense(table) => table,
            Graph::Sparse(links) => {
                let mut table = Matrix::zeros(links.len(), links.len());
                let all = links.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |l| (i, l)));
                all.for_each(|(i, (j, w))| table[(i, *j)] = *w);
                table
            }
        }
    }

    /// Sums of the affinities of each row.
    fn degrees(&self) -> Vec<f64> {
        match self {
            Graph::Sparse(links) => links.iter().map(|row| row.iter().map(|(_, w)| w).sum()).collect(),
            Graph::Dense(table) => (0..table.rows()).map(|i| table.row(i).iter().sum()).collect(),
        }
    }

    /// Rows with a positive affinity to another row.
    pub(super) fn linked(&self) -> Vec<usize> {
        self.degrees().iter().enumerate().filter(|(_, d)| **d > 0.0).map(|(i, _)| i).collect()
    }

    /// The subgraph of the rows `kept`, which are in ascending order.
    pub(super) fn among(&self, kept: &[usize]) -> Graph {
        if kept.len() == self.n() {
            return match self {
                Graph::Sparse(links) => Graph::Sparse(links.clone()),
                Graph::Dense(table) => Graph::Dense(table.clone()),
            };
        }
        match self {
            Graph::Sparse(links) => {
                let place = |j: &usize| kept.binary_search(j).ok();
                let row = |i: &usize| {
                    links[*i].iter().filter_map(|(j, w)| place(j).map(|at| (at, *w))).collect::<Vec<_>>()
                };
                Graph::Sparse(kept.iter().map(row).collect())
            }
            Graph::Dense(table) => {
                Graph::Dense(Matrix::from_fn(kept.len(), kept.len(), |i, j| table[(kept[i], kept[j])]))
            }
        }
    }

    /// `(I + D^-1/2 W D^-1/2) / 2`, which is positive semidefinite, applied to every row of `block`.
    fn apply(&self, scale: &[f64], block: &Matrix<f64>) -> Matrix<f64> {
        let n = self.n();
        let mut out = Matrix::zeros(block.rows(), n);
        let rows = out.as_mut_slice().chunks_mut(n).zip(block.as_slice().chunks(n));
        parallel::each(rows, |(to, from)| {
            let scaled: Vec<f64> = from.iter().zip(scale).map(|(x, s)| x * s).collect();
            for (i, to) in to.iter_mut().enumerate() {
                let sum: f64 = match self {
                    Graph::Sparse(links) => links[i].iter().map(|(j, w)| w * scaled[*j]).sum(),
                    Graph::Dense(table) => table.row(i).iter().zip(&scaled).map(|(w, x)| w * x).sum(),
                };
                *to = 0.5 * (from[i] + scale[i] * sum);
            }
        });
        out
    }

    /// The largest eigenpairs of [`apply`](Self::apply) by products with blocks, the current ones at `stop`; `None` where a full
    /// decomposition is needed.
    fn searched(
        &self,
        scale: &[f64],
        options: SearchOptions,
        run: &Run<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Pairs>> {
        let Some(mut search) = Lanczos::begin(self.n(), options, None) else { return Ok(None) };
        loop {
            run.check()?;
            let image = self.apply(scale, search.block());
            match search.add(image, options, stop())? {
                BlockResult::More(_) => {}
                BlockResult::Found(pairs) => return Ok(Some(pairs)),
                BlockResult::GivenUp => return Ok(None),
            }
        }
    }

    /// The `m` largest eigenvalues of the normalized affinities, descending, and their eigenvectors as rows; the current ones at `stop`.
    fn leading(&self, m: usize, run: &Run<'_>, stop: &dyn Fn() -> bool) -> Result<(Vec<f64>, Matrix<f64>)> {
        let n = self.n();
        let scale: Vec<f64> = self.degrees().iter().map(|d| 1.0 / d.sqrt()).collect();
        let searched = match top::search_options(n, m) {
            Some(options) => self.searched(&scale, options, run, stop)?,
            None => None,
        };
        let (values, vectors) = match searched {
            Some(Pairs { values, vectors, .. }) => (values, vectors),
            None => {
                let one = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
                factor::eigh(&self.apply(&scale, &one))?
            }
        };
        Ok((values.iter().take(m).map(|v| 2.0 * v - 1.0).collect(), vectors.top_rows(m)))
    }
}

/// Clusters of the rows of a graph, all of which have affinities.
pub(super) struct Clustered {
    pub(super) labels: Vec<usize>,
    pub(super) k: usize,
    /// Whether the run ended early, so that the search for eigenvectors or clusters was shortened.
    pub(super) cut: bool,
}

/// Clusters by the leading eigenvectors: `requested` of them, or as many as there are eigenvalues before the largest gap, at least 2.
///
/// # Errors
///
/// An eigenvalue decomposition that does not converge, a requested stop.
pub(super) fn cluster(graph: &Graph, requested: Option<usize>, run: &Run<'_>) -> Result<Clustered> {
    let n = graph.n();
    run.stage("eigenvectors")?;
    let m = requested.unwrap_or(MOST_CLUSTERS + 1).min(n);
    if n == 0 || m <= 1 {
        return Ok(Clustered { labels: vec![0; n], k: 1, cut: false });
    }
    let cut = AtomicBool::new(false);
    let stop = || {
        let now = run.ends_early();
        cut.fetch_or(now, Relaxed);
        now
    };
    let (values, vectors) = graph.leading(m, run, &stop)?;
    let k = requested.unwrap_or_else(|| gap(&values)).min(n);
    run.stage("k-means")?;
    let mut points = vectors.top_rows(k).transposed();
    for i in 0..n {
        let row = points.row_mut(i);
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter_mut().filter(|_| norm > 0.0).for_each(|x| *x /= norm);
    }
    let labels = kmeans_until(&points, k, K_MEANS_STARTS, run.seed, &|| run.observer.interrupted() || stop());
    run.check()?;
    Ok(Clustered { labels, k, cut: cut.load(Relaxed) })
}

/// The number of eigenvalues before the largest gap, the first in case of ties, at least 2: the gap after the first eigenvalue is large for
/// noisy affinities, too.
fn gap(values: &[f64]) -> usize {
    let gaps = values.windows(2).map(|w| w[0] - w[1]).zip(1..).skip(1);
    gaps.fold((f64::NEG_INFINITY, 1), |best, (g, k)| if g > best.0 { (g, k) } else { best }).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    /// Affinities of `sizes` groups: strong in each, weak between them.
    fn groups(sizes: &[usize], weak: f64) -> (Matrix<f64>, Vec<usize>) {
        let truth: Vec<usize> = sizes.iter().enumerate().flat_map(|(c, n)| vec![c; *n]).collect();
        let (n, draws) = (truth.len(), Stream::new(2, 0));
        let table = Matrix::from_fn(n, n, |i, j| {
            let (a, b) = (i.min(j), i.max(j));
            let draw = draws.uniform((a * n + b) as u64);
            if truth[i] == truth[j] { draw } else { weak * draw }
        });
        (table, truth)
    }

    #[test]
    fn groups_and_their_number_are_found_small_and_large_sparse_and_dense() {
        for sizes in [&[20, 30, 25][..], &[300, 250, 200]] {
            let (table, truth) = groups(sizes, 0.02);
            let links =
                |i: usize| (0..truth.len()).map(|j| (j, table[(i, j)])).filter(|l| l.1 > 0.3).collect();
            let sparse = Graph::Sparse((0..truth.len()).map(links).collect());
            for graph in [sparse, Graph::Dense(table)] {
                for requested in [None, Some(3)] {
                    let found = cluster(&graph, requested, &Run::default()).unwrap();
                    assert_eq!(found.k, 3);
                    for i in 0..truth.len() {
                        for j in 0..i {
                            assert_eq!(found.labels[i] == found.labels[j], truth[i] == truth[j]);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn rows_without_affinities_are_left_out() {
        let graph = Graph::Sparse(vec![vec![(2, 1.0)], vec![], vec![(0, 1.0)]]);
        assert_eq!(graph.linked(), [0, 2]);
        let Graph::Sparse(links) = graph.among(&[0, 2]) else { panic!("sparse") };
        assert_eq!(links, [vec![(1, 1.0)], vec![(0, 1.0)]]);
    }
}
