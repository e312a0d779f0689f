//! Clusters of the components of all fits: the method of ICASSO.
//!
//! Himberg, J., Hyvärinen, A. & Esposito, F. 2004. Validating the independent components of neuroimaging time series via clustering and
//! visualization. *NeuroImage* 22(3), 1214-1222. <https://doi.org/10.1016/j.neuroimage.2004.03.027>
//!
//! 1. The estimates are the components of several fits. Their similarity is `|r|`: of axes the absolute cosine where these are
//!    orthonormal, else the absolute correlation of codes, as everywhere in [`stability`](super).
//! 2. They are clustered by average linkage on `1 - |r|` into as many clusters as the model has components (`linkage.rs`).
//! 3. The quality index of a cluster is `Iq = (mean |r| inside) - (mean |r| with estimates of other clusters)`. Means inside are over pairs
//!    of different estimates, so that a cluster of one estimate has no index, rather than one near 1.
//! 4. Its centrotype is the estimate whose similarities inside the cluster have the largest sum.
//! 5. Clusters are given to the components of the model by the assignment with the largest sum of similarities between components and
//!    centrotypes.
//!
//! ICASSO varies the seed, the rows, or both. Accordingly there are [`Clusters::restarts`],
//! [`Clusters::halves`], and [`Clusters::both`] for all fits together; halves of the rows replace ICASSO's
//! resampling with replacement.
//!
//! Cost, for `n` estimates: `O(n²)` memory and time, and `n²` products of vectors. At most [`MOST_ESTIMATES`] are clustered.

use super::linkage::average_linkage;
use super::scaling::scaled;
use crate::metrics::{pairs, similarity as alike};
use crate::model::Model;
use crate::num::{Matrix, factor};
use serde_json::{Value, json};

/// Maximum number of estimates in one clustering: if there are more, only the first fits are used, and [`Clustering::n_left_out`] is the
/// number of the others. Two tables of as many rows and columns take 64 MiB.
pub const MOST_ESTIMATES: usize = 2048;

/// Clusters of the estimates of several fits, each matched to a component of the model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Clusters {
    /// The model and the fits of all rows from other seeds. None without such fits, if every seed gives the same bits, and if two fits have
    /// more estimates than [`MOST_ESTIMATES`].
    pub restarts: Option<Clustering>,
    /// The fits of halves of the rows. None without splits, and if two fits have more estimates than [`MOST_ESTIMATES`].
    pub halves: Option<Clustering>,
    /// All of these fits together. None unless there are both kinds.
    pub both: Option<Clustering>,
    /// Positions in a plot of the estimates of `both`, else of `halves`, else of `restarts`: at most about 500 estimates, of the first 64
    /// components.
    pub map: Vec<MapPoint>,
}

/// One clustering. Vectors have one entry for each component of the model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Clustering {
    /// Iq: mean similarity inside the cluster minus that with estimates of other clusters. 1 for identical estimates that are orthogonal to
    /// all others; none for clusters of fewer than two.
    pub quality: Vec<Option<f64>>,
    /// Number of estimates in the cluster: ideally one from each fit.
    pub size: Vec<usize>,
    /// Number of different fits that they are from.
    pub fits: Vec<usize>,
    /// Similarity of its centrotype and the model's component.
    pub similarity: Vec<f64>,
    /// Rows of `components` of the fits that the centrotypes are from, with the signs of the model's, `n_components x n_features`; zeros
    /// for a component without a cluster. None if components and codes do not correspond one to one.
    pub centrotypes: Option<Matrix<f64>>,
    /// For each fit, and each component of the model, the cluster of the estimate that is matched to the component, given by the component
    /// of the cluster: `j` itself if clustering and matching agree, none if the fit has no estimate of it. In [`Clusters::restarts`] and
    /// [`Clusters::both`] the first fit is the model, followed by the restarts, then by both halves of each split.
    pub labels: Vec<Vec<Option<usize>>>,
    /// Number of fits that were left out to keep the number of estimates below its maximum.
    pub n_left_out: usize,
}

/// The position of an estimate in a plot in which distances approximate `sqrt(1 - |r|)`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MapPoint {
    /// Horizontal coordinate.
    pub x: f64,
    /// Vertical coordinate.
    pub y: f64,
    /// The component whose cluster it is in.
    pub component: usize,
    /// Whether it is from half of the rows.
    pub half: bool,
}

/// One fit, compared with the model.
pub(super) struct Fit<'a> {
    pub(super) model: &'a Model,
    /// Unit vectors, in the order of the matched components of the model; zeros for a component without a match.
    pub(super) vectors: &'a Matrix<f64>,
    /// Matching of its components to those of the model.
    pub(super) order: &'a [Option<usize>],
}

/// Clusters of the components of `restarts` (the model first) and `halves`; `vectors_of_model` are the vectors of the model. The similarity of a vector and
/// its negative is 1, unless vectors are `signed`: then it is 0.
pub(super) fn clusters(
    vectors_of_model: &Matrix<f64>,
    restarts: &[Fit<'_>],
    halves: &[Fit<'_>],
    signed: bool,
) -> Clusters {
    // Components that are 0 have no estimates, and get no clusters.
    let k = (0..vectors_of_model.rows()).filter(|&j| is_nonzero(vectors_of_model.row(j))).count();
    let of = |restarts, halves| clustered((vectors_of_model, k), restarts, halves, signed);
    let (started, halved) = (of(restarts, &[]), of(&[], halves));
    let together = if started.is_some() && halved.is_some() { of(restarts, halves) } else { None };
    let widest = together.as_ref().or(halved.as_ref()).or(started.as_ref());
    Clusters {
        map: widest.map(|(estimates, found, centres)| map(estimates, found, centres)).unwrap_or_default(),
        restarts: started.map(|(_, found, _)| found),
        halves: halved.map(|(_, found, _)| found),
        both: together.map(|(_, found, _)| found),
    }
}

fn is_nonzero(vector: &[f64]) -> bool {
    vector.iter().any(|x| *x != 0.0)
}

/// The estimates to be clustered: fit and component of each, and their similarities.
struct Estimates {
    at: Vec<(usize, usize)>,
    similarity: Matrix<f64>,
    /// Index of the first fit of half of the rows.
    first_half: usize,
}

impl Estimates {
    fn of(fits: &[&Fit<'_>], first_half: usize, signed: bool) -> Self {
        let at: Vec<(usize, usize)> = fits
            .iter()
            .enumerate()
            .flat_map(|(f, fit)| (0..fit.vectors.rows()).map(move |j| (f, j)))
            .filter(|&(f, j)| is_nonzero(fits[f].vectors.row(j)))
            .collect();
        let first: Vec<usize> = (0..=fits.len()).map(|f| at.partition_point(|(g, _)| *g < f)).collect();
        let mut similarity = Matrix::zeros(at.len(), at.len());
        for a in 0..fits.len() {
            for b in 0..=a {
                let block = factor::multiply_transposed(fits[a].vectors, fits[b].vectors);
                for p in first[a]..first[a + 1] {
                    for q in (first[b]..first[b + 1]).filter(|&q| q <= p) {
                        let r = if p == q { 1.0 } else { alike(block[(at[p].1, at[q].1)], signed) };
                        (similarity[(p, q)], similarity[(q, p)]) = (r, r);
                    }
                }
            }
        }
        Self { at, similarity, first_half }
    }
}

type Clustered = (Estimates, Clustering, Vec<Option<usize>>);

/// Estimates, their clusters, and the centrotype of each component.
fn clustered(
    (vectors_of_model, k): (&Matrix<f64>, usize),
    restarts: &[Fit<'_>],
    halves: &[Fit<'_>],
    signed: bool,
) -> Option<Clustered> {
    let most = MOST_ESTIMATES / k.max(1);
    // If there are too many of both kinds, each gets half of the maximum.
    let n_halves = halves.len().min(most.saturating_sub(restarts.len()).max(most / 2));
    let n_restarts = restarts.len().min(most - n_halves);
    let fits: Vec<&Fit<'_>> = restarts[..n_restarts].iter().chain(&halves[..n_halves]).collect();
    if fits.len() < 2 || k == 0 {
        return None;
    }
    let estimates = Estimates::of(&fits, n_restarts, signed);
    let n = estimates.at.len();
    if n < k {
        return None;
    }
    let distance = Matrix::from_fn(n, n, |i, j| 1.0 - estimates.similarity[(i, j)]);
    let cluster = average_linkage(distance, k);
    let found = cluster_statistics(&estimates.similarity, &cluster, k);
    let vector = |i: usize| fits[estimates.at[i].0].vectors.row(estimates.at[i].1);
    let cosine = |j: usize, i: usize| {
        alike(vectors_of_model.row(j).iter().zip(vector(i)).map(|(x, y)| x * y).sum::<f64>(), signed)
    };
    let table = Matrix::from_fn(vectors_of_model.rows(), k, |j, c| cosine(j, found[c].centrotype));
    let partners = pairs(&table);

    let (mut of_component, mut of_cluster) = (vec![None; vectors_of_model.rows()], vec![None; k]);
    for &(j, c) in &partners {
        (of_component[j], of_cluster[c]) = (Some(c), Some(j));
    }
    let mut labels = vec![vec![None; vectors_of_model.rows()]; fits.len()];
    let mut met = vec![vec![false; fits.len()]; k];
    for (&(f, j), &c) in estimates.at.iter().zip(&cluster) {
        labels[f][j] = of_cluster[c];
        met[c][f] = true;
    }
    let each = |f: &dyn Fn(usize) -> usize| of_component.iter().map(|c| c.map_or(0, f)).collect();
    let centres: Vec<Option<usize>> = of_component.iter().map(|c| c.map(|c| found[c].centrotype)).collect();
    let clustering = Clustering {
        quality: of_component.iter().map(|c| c.and_then(|c| found[c].quality)).collect(),
        size: each(&|c| found[c].size),
        fits: each(&|c| met[c].iter().filter(|is| **is).count()),
        similarity: (0..vectors_of_model.rows()).map(|j| centres[j].map_or(0.0, |i| cosine(j, i))).collect(),
        centrotypes: centrotypes(vectors_of_model, &fits, &estimates.at, &centres),
        labels,
        n_left_out: restarts.len() + halves.len() - fits.len(),
    };
    Some((estimates, clustering, centres))
}

/// Statistics of one cluster.
struct ClusterStatistics {
    quality: Option<f64>,
    size: usize,
    /// Index of the centrotype.
    centrotype: usize,
}

/// Quality, size and centrotype of the `k` clusters of items whose similarities these are.
fn cluster_statistics(similarity: &Matrix<f64>, cluster: &[usize], k: usize) -> Vec<ClusterStatistics> {
    let n = cluster.len();
    // Sums of the similarities of each item with each cluster, without itself.
    let mut sums = Matrix::<f64>::zeros(n, k);
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            sums[(i, cluster[j])] += similarity[(i, j)];
        }
    }
    (0..k)
        .map(|c| {
            let members: Vec<usize> = (0..n).filter(|&i| cluster[i] == c).collect();
            let size = members.len();
            let inside: f64 = members.iter().map(|&i| sums[(i, c)]).sum();
            let all: f64 = members.iter().map(|&i| sums.row(i).iter().sum::<f64>()).sum();
            let mean = |sum: f64, count: usize| if count > 0 { sum / count as f64 } else { 0.0 };
            let quality = mean(inside, size * size.saturating_sub(1)) - mean(all - inside, size * (n - size));
            let best = |a: usize, b: usize| if sums[(b, c)] > sums[(a, c)] { b } else { a };
            ClusterStatistics {
                quality: (size > 1).then_some(quality),
                size,
                centrotype: members.iter().copied().reduce(best).unwrap_or(0),
            }
        })
        .collect()
}

/// The centrotype of each component as a row of `components`; see [`Clustering::centrotypes`].
fn centrotypes(
    vectors_of_model: &Matrix<f64>,
    fits: &[&Fit<'_>],
    at: &[(usize, usize)],
    centres: &[Option<usize>],
) -> Option<Matrix<f64>> {
    let features = fits[0].model.n_features();
    let mut out = Matrix::zeros(vectors_of_model.rows(), features);
    for (j, centre) in centres.iter().enumerate() {
        let Some((f, partner)) = centre.map(|i| at[i]) else { continue };
        let fit = fits[f];
        let components = fit.model.tensor("components").map(|t| t.to_matrix())?;
        if (fit.model.n_codes(), components.cols()) != (components.rows(), features) {
            return None;
        }
        let own = components.row(fit.order[partner]?);
        let cosine: f64 =
            vectors_of_model.row(j).iter().zip(fit.vectors.row(partner)).map(|(x, y)| x * y).sum();
        let sign = if cosine < 0.0 { -1.0 } else { 1.0 };
        out.row_mut(j).iter_mut().zip(own).for_each(|(to, x)| *to = sign * x);
    }
    Some(out)
}

/// Maximum numbers of components and of estimates in a plot.
const MOST_DRAWN_COMPONENTS: usize = 64;
const MOST_DRAWN_ESTIMATES: usize = 512;

/// Positions of whole fits and of all centrotypes.
fn map(estimates: &Estimates, found: &Clustering, centres: &[Option<usize>]) -> Vec<MapPoint> {
    let fits = found.labels.len();
    let shown: Vec<usize> =
        (0..centres.len().min(MOST_DRAWN_COMPONENTS)).filter(|&j| centres[j].is_some()).collect();
    // Whole fits, evenly chosen; every centrotype.
    let n_fits = (MOST_DRAWN_ESTIMATES / shown.len().max(1)).clamp(2, fits);
    let mut chosen = vec![false; fits];
    (0..n_fits).for_each(|i| chosen[i * fits / n_fits] = true);
    let component = |i: usize| found.labels[estimates.at[i].0][estimates.at[i].1];
    let items: Vec<(usize, usize)> = (0..estimates.at.len())
        .filter_map(|i| component(i).map(|j| (i, j)))
        .filter(|(i, j)| shown.contains(j) && (chosen[estimates.at[*i].0] || centres[*j] == Some(*i)))
        .collect();
    let similarity =
        Matrix::from_fn(items.len(), items.len(), |a, b| estimates.similarity[(items[a].0, items[b].0)]);
    let cluster: Vec<usize> = items.iter().map(|(_, j)| shown.partition_point(|s| s < j)).collect();
    let centre: Vec<usize> =
        shown.iter().filter_map(|&j| items.iter().position(|(i, _)| Some(*i) == centres[j])).collect();
    let half = |i: usize| estimates.at[i].0 >= estimates.first_half;
    let places = scaled(&similarity, &cluster, &centre);
    let placed = |((x, y), &(i, component)): ((f64, f64), &(usize, usize))| MapPoint {
        x,
        y,
        component,
        half: half(i),
    };
    places.into_iter().zip(&items).map(placed).collect()
}

impl Clusters {
    /// As JSON, in the form that a report holds: without centrotypes, which are as large as the model.
    pub(super) fn to_json(&self) -> Value {
        // Four decimals are sufficient for a plot.
        let short = |x: f64| (x * 1e4).round() / 1e4;
        let place = |p: &MapPoint| json!([short(p.x), short(p.y), p.component, u8::from(p.half)]);
        json!({
            "restarts": self.restarts.as_ref().map(Clustering::to_json),
            "halves": self.halves.as_ref().map(Clustering::to_json),
            "both": self.both.as_ref().map(Clustering::to_json),
            "map": self.map.iter().map(place).collect::<Vec<_>>(),
        })
    }
}

impl Clustering {
    fn to_json(&self) -> Value {
        json!({
            "quality": self.quality,
            "size": self.size,
            "fits": self.fits,
            "similarity": self.similarity,
            "labels": self.labels,
            "n_left_out": self.n_left_out,
        })
    }
}

#[cfg(test)]
mod tests;
