//! Clusters of rows from affinities between them: of sparse self-expression, or the shape interaction matrix.

use super::spectral::{self, Graph};
use super::table::{Table, principal};
use super::{Algorithm, Clusters, Dimensions, METHOD, SubspaceClustering, square_memory, ssc};
use crate::error::Result;
use crate::machine::check_memory;
use crate::num::{Matrix, factor};
use crate::run::Run;

impl SubspaceClustering {
    /// Spectral clustering of the affinities between rows. Rows of zeros, and rows that are orthogonal to all others, are left out.
    pub(super) fn by_affinities(&self, table: &Table, run: &Run<'_>) -> Result<Clusters> {
        let n = table.n();
        let what = format!("{} of {n} rows, which makes tables of {n} x {n} numbers,", METHOD.key);
        let remedy = "fit fewer rows, or choose algorithm='k-subspaces' with n_clusters and n_components";
        check_memory(&what, square_memory(n as u64), remedy)?;
        let kept: Vec<usize> = (0..n).filter(|&i| table.squares[i] > 0.0).collect();
        let mut warnings = Vec::new();
        if kept.len() < n {
            let zero = counted(
                n - kept.len(),
                "row is 0 and lies in every subspace",
                "rows are 0 and lie in every subspace",
            );
            warnings.push(zero);
        }
        run.stage("affinities")?;
        let mut cut = false;
        let graph = match self.algorithm {
            Algorithm::Shape => self.shape(&table.rows(&kept))?,
            _ => {
                let mut unit = table.rows(&kept);
                for (at, &i) in kept.iter().enumerate() {
                    let norm = table.squares[i].sqrt();
                    unit.row_mut(at).iter_mut().for_each(|x| *x /= norm);
                }
                let mut gram = factor::multiply_transposed(&unit, &unit);
                drop(unit);
                (0..kept.len()).for_each(|i| gram[(i, i)] = 1.0);
                let found = ssc::coefficients(&gram, self.alpha, run)?;
                if found.unsolved > 0 {
                    let rows = counted(found.unsolved, "row", "rows");
                    warnings.push(format!(
                        "the duality gap of the sparse coefficients of {rows} is above its tolerance"
                    ));
                }
                cut = found.cut;
                found.graph
            }
        };
        let linked = graph.linked();
        if linked.len() < kept.len() {
            warnings.push(counted(
                kept.len() - linked.len(),
                "row is orthogonal to all others and is assigned to the nearest subspace",
                "rows are orthogonal to all others and are assigned to the nearest subspace",
            ));
        }
        let clustered = spectral::cluster(&graph.among(&linked), self.n_clusters, run)?;
        let k = self.n_clusters.unwrap_or(clustered.k);
        let mut labels = vec![k; n];
        for (at, c) in linked.iter().zip(clustered.labels) {
            labels[kept[*at]] = c;
        }
        let early = (cut || clustered.cut).then(|| run.early_outcome());
        Ok(Clusters { labels, k, warnings, early })
    }

    /// Squared entries of `V' V`, `V` the leading right singular vectors of the rows as columns: as many as the sum of the dimensions if these
    /// are given, else selected by the Bayesian information criterion.
    fn shape(&self, x: &Matrix<f64>) -> Result<Graph> {
        let (n, p) = (x.rows(), x.cols());
        let (values, axes) = principal(x)?;
        let r = match (&self.n_components, self.n_clusters) {
            (Some(Dimensions::Each(list)), _) => list.iter().sum(),
            (Some(Dimensions::Same(d)), Some(k)) => k * d,
            _ => {
                let variances: Vec<f64> = values.iter().map(|v| v / n as f64).collect();
                crate::select::bic(&variances, n as f64, p).max(1)
            }
        };
        let r = r.min(values.len());
        let mut left = factor::multiply_transposed(x, &axes.top_rows(r));
        for i in 0..n {
            left.row_mut(i).iter_mut().zip(&values).for_each(|(u, v)| *u /= v.sqrt());
        }
        let mut table = factor::multiply_transposed(&left, &left);
        table.as_mut_slice().iter_mut().for_each(|w| *w *= *w);
        (0..n).for_each(|i| table[(i, i)] = 0.0);
        Ok(Graph::Dense(table))
    }
}

/// "1 row is" or "2 rows are".
fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}
