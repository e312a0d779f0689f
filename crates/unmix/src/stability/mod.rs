//! Whether a decomposition would be found again: in each half of the rows, and from another start.
//!
//! A component that half of the data does not find again is a description of these rows, not of where they come from. So the rows
//! are cut into random halves several times, the method is fitted to either half, and what the halves find is compared,
//! component by component ([`Stability::halves`]). That is the test of Meinecke et al. 2002 and of ICASSO (Himberg et al. 2004)
//! without resampling with repetition: halves are disjoint, so they share no row and no luck. The same fit from other seeds
//! ([`Stability::restarts`]) tells whether the solver, rather than the data, is the reason.
//!
//! The model of all rows is the reference: components of every other fit are given to its components by the assignment of the
//! largest sum of similarities. Similarity is the cosine of the axes where these are orthonormal, and else the correlation of the
//! codes over a sample of rows.
//!
//! Cost: two fits of half the rows for each cut, and one of all for each restart.

mod gaussian;
mod verdict;

pub use verdict::{LEVEL, Verdict};

use crate::data::{AnyRows, Rows, Subset};
use crate::error::{Error, Result};
use crate::metrics::assignment;
use crate::model::{Model, fit};
use crate::num::random::Stream;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use serde_json::{Map, Value};

/// How often things are tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trials {
    /// Cuts into two random halves.
    pub cuts: usize,
    /// Fits of all rows from other seeds.
    pub restarts: usize,
}

impl Default for Trials {
    fn default() -> Self {
        Self { cuts: 5, restarts: 5 }
    }
}

/// What came of it, component by component of the model, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// Similarity of what two disjoint halves found, mean over the cuts; 1 is the same twice.
    pub halves: Vec<f64>,
    /// The least and the greatest that the mean over as many other cuts would be in 95 of 100 cases (bootstrap over the cuts).
    pub interval: Vec<(f64, f64)>,
    /// Similarity with what other seeds found, mean over the restarts; none where every restart gave the same bits, as with a
    /// solver that has one start only.
    pub restarts: Option<Vec<f64>>,
    /// Mean similarity to its own partners less that to all others, over all fits: the index of ICASSO, 1 for a component that
    /// is always found and like no other.
    pub index: Vec<f64>,
    /// The probability that codes of rows on which the direction was not chosen would look so unlike a Gaussian if it were one: found
    /// in one half, tested in the other, both ways round, the smaller doubled.
    pub gaussian: Vec<f64>,
    /// What can be told from these rows.
    pub verdicts: Vec<Verdict>,
}

/// Components whose halves agree by at least this are called stable.
pub const STABLE: f64 = 0.9;

impl Stability {
    /// In words: what can be told of component `j` from these rows, and whether the solver's start mattered.
    pub fn in_words(&self, j: usize) -> String {
        let start = self.restarts.as_ref().is_some_and(|r| r[j] < STABLE);
        let words = self.verdicts[j].in_words();
        if start { format!("{words}; depends on the start") } else { words }
    }

    /// As JSON, in the form that a report holds.
    pub fn to_json(&self) -> Value {
        let verdicts: Vec<String> = (0..self.halves.len()).map(|j| self.in_words(j)).collect();
        serde_json::json!({
            "halves": self.halves,
            "interval": self.interval.iter().map(|(a, b)| [a, b]).collect::<Vec<_>>(),
            "restarts": self.restarts,
            "index": self.index,
            "gaussian": self.gaussian,
            "verdict": verdicts,
        })
    }
}

/// Fits `model`'s method again, to halves of `rows` and from other seeds, and compares. The seed of `run` says which halves.
///
/// # Errors
///
/// Those of the method: half of the rows may be too few. Rows that cannot be read in any order, sparse rows, weights.
pub fn stability(model: &Model, rows: &AnyRows<'_>, trials: Trials, run: &Run<'_>) -> Result<Stability> {
    crate::with_rows!(rows, rows => tried(model, rows, trials, run))
}

fn tried<T: Real>(model: &Model, rows: &Rows<'_, T>, trials: Trials, run: &Run<'_>) -> Result<Stability>
where
    for<'b> AnyRows<'b>: From<Rows<'b, T>>,
{
    let source = rows.source().random().filter(|_| rows.sparse().is_none() && rows.weights().is_none());
    let source = source.ok_or_else(|| Error::Unsupported {
        asked: "stability of a decomposition".into(),
        found: "these rows are sparse, have weights, or can only be read forward".into(),
        remedy: "give dense rows without weights, from memory or a file".into(),
    })?;
    let (n, p, key) = (source.n_rows(), rows.n_features(), model.method().key);
    let of =
        |chosen: Vec<u64>| Rows::new(Subset::new(source, p, chosen), rows.features().clone(), rows.origin());
    let settings = again(model);
    let fitted = |rows: Rows<'_, T>, seed: u64| {
        let run = Run {
            seed,
            threads: run.threads,
            max_seconds: run.max_seconds,
            watch: run.watch,
            started: run.started,
        };
        fit(key, &settings, &mut AnyRows::from(rows), &run)
    };
    let seen = Reference::new(model, of(sample(n, run.seed)), run)?;
    let k = seen.codes.rows();
    let (mut halves, mut to_model, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    let mut gaussian = vec![1.0; k];
    for cut in 0..trials.cuts {
        let (left, right) = cut_in_two(n, run.seed, cut);
        let (a, b) = (fitted(of(left.clone()), run.seed)?, fitted(of(right.clone()), run.seed)?);
        let (found_a, found_b) = (seen.place(&a, run)?, seen.place(&b, run)?);
        if cut == 0 {
            let tested = [(&a, &found_a, right), (&b, &found_b, left)];
            for (model, found, held_out) in tested {
                let p = gaussian::p_values(&codes(model, &of(thinned(held_out)), run)?, model.n_codes());
                let of_component = |j: usize| found.order[j].map_or(1.0, |i| p[i]);
                (0..k).for_each(|j| gaussian[j] = f64::min(gaussian[j], (2.0 * of_component(j)).min(1.0)));
            }
        }
        halves.push(between(&found_a.vectors, &found_b.vectors));
        to_model.extend([seen.similar(&found_a.vectors), seen.similar(&found_b.vectors)]);
        pairs.push((found_a.vectors, found_b.vectors));
    }
    let mut restarts = Vec::new();
    let mut same = true;
    for restart in 0..trials.restarts {
        let other = fitted(of((0..n).collect()), run.seed.wrapping_add(1 + restart as u64))?;
        same &= other.tensor("components").map(|t| t.f64s()) == model.tensor("components").map(|t| t.f64s());
        let all = seen.similar(&seen.place(&other, run)?.vectors);
        restarts.push((0..all.rows()).map(|j| all[(j, j)]).collect::<Vec<f64>>());
        to_model.push(all);
    }
    let agreement = mean(&halves, k);
    let variances = variances(model);
    let evidence = verdict::Evidence {
        variances: variances.as_deref(),
        gaussian: looks_at_independence(model).then_some(&gaussian),
        n: n as f64,
    };
    let groups = verdict::groups(k, &evidence);
    let spaces: Vec<f64> = (0..k).map(|j| space(&pairs, j, &groups[j])).collect();
    Ok(Stability {
        verdicts: verdict::verdicts(groups, &agreement, &spaces),
        halves: agreement,
        gaussian,
        interval: intervals(&halves, k, run.seed),
        restarts: (!same && trials.restarts > 0).then(|| mean(&restarts, k)),
        index: index(&to_model, k),
    })
}

/// Streams of random numbers.
const CUTS: u64 = 1 << 21;
const BOOTSTRAP: u64 = 40;
const SAMPLE: u64 = 41;

/// The model's settings, with the number of components that it has: a rule might choose another in half of the rows.
fn again(model: &Model) -> Map<String, Value> {
    let mut settings = model.settings().clone();
    if settings.contains_key("n_components") {
        settings.insert("n_components".into(), model.n_components().into());
    }
    settings
}

/// Rows on which codes are compared.
fn sample(n: u64, seed: u64) -> Vec<u64> {
    const MOST: u64 = 4096;
    if n <= MOST {
        return (0..n).collect();
    }
    let draws = Stream::new(seed, SAMPLE);
    // One of each of as many equal stretches.
    (0..MOST)
        .map(|i| {
            let (a, b) = (i * n / MOST, (i + 1) * n / MOST);
            a + draws.bits(i) % (b - a)
        })
        .collect()
}

/// What components are compared by: vectors, as rows, whose cosines are the similarities.
struct Reference<'a, T: Real> {
    codes: Matrix<f64>,
    rows: Rows<'a, T>,
    by_axes: bool,
}

impl<'a, T: Real> Reference<'a, T> {
    fn new(model: &Model, rows: Rows<'a, T>, run: &Run<'_>) -> Result<Self> {
        let components = model.tensor("components").map(|t| t.to_matrix());
        let by_axes = components.as_ref().is_some_and(orthonormal);
        let codes = vectors(model, &rows, by_axes, run)?;
        Ok(Self { codes, rows, by_axes })
    }

    /// The vectors of another fit, in the order of their partners.
    fn place(&self, other: &Model, run: &Run<'_>) -> Result<Placed> {
        let found = vectors(other, &self.rows, self.by_axes, run)?;
        let k = self.codes.rows();
        let all = factor::multiply_transposed(&self.codes, &found);
        // A half may hold fewer directions than the whole: nothing is then the partner of some.
        let cost = Matrix::from_fn(k, found.rows().max(k), |i, j| {
            if j < found.rows() { 1.0 - all[(i, j)].abs() } else { 1.0 }
        });
        let order = assignment(&cost);
        let order: Vec<Option<usize>> = order.into_iter().map(|i| (i < found.rows()).then_some(i)).collect();
        let vectors = Matrix::from_fn(k, found.cols(), |i, c| order[i].map_or(0.0, |i| found.row(i)[c]));
        Ok(Placed { vectors, order })
    }

    /// Absolute cosines of every component of the model with every one of another fit in the order of partners.
    fn similar(&self, placed: &Matrix<f64>) -> Matrix<f64> {
        let all = factor::multiply_transposed(&self.codes, placed);
        Matrix::from_fn(all.rows(), all.cols(), |i, j| all[(i, j)].abs().min(1.0))
    }
}

/// What another fit found, in the order of the model's components.
struct Placed {
    vectors: Matrix<f64>,
    /// Which of its components is whose partner.
    order: Vec<Option<usize>>,
}

fn between(a: &Matrix<f64>, b: &Matrix<f64>) -> Vec<f64> {
    (0..a.rows())
        .map(|j| a.row(j).iter().zip(b.row(j)).map(|(x, y)| x * y).sum::<f64>().abs().min(1.0))
        .collect()
}

/// How well two halves agree about the space of component `j` and of `others`: the root mean square of the cosines of the
/// principal angles, mean over the cuts.
fn space(pairs: &[(Matrix<f64>, Matrix<f64>)], j: usize, others: &[usize]) -> f64 {
    let members: Vec<usize> = std::iter::once(j).chain(others.iter().copied()).collect();
    let basis = |m: &Matrix<f64>| {
        let rows = Matrix::from_fn(members.len(), m.cols(), |i, c| m.row(members[i])[c]);
        factor::orthonormal_rows(&rows)
    };
    let one = |(a, b): &(Matrix<f64>, Matrix<f64>)| {
        let product = factor::multiply_transposed(&basis(a), &basis(b));
        (product.as_slice().iter().map(|x| x * x).sum::<f64>() / members.len() as f64).sqrt()
    };
    pairs.iter().map(one).sum::<f64>() / pairs.len().max(1) as f64
}

/// Variances along the components, where the method tells directions apart by them: where codes are uncorrelated scores along axes.
fn variances(model: &Model) -> Option<Vec<f64>> {
    if model.tensor("second_rotation").is_some() {
        return None;
    }
    model
        .tensor("explained_variance")
        .map(|t| t.f64s())
        .or_else(|| model.tensor("scale").map(|t| t.f64s().iter().map(|s| s * s).collect()))
}

/// Whether the method looks at more than variances.
fn looks_at_independence(model: &Model) -> bool {
    !matches!(model.method().key, "pca" | "neural-pca")
}

fn cut_in_two(n: u64, seed: u64, cut: usize) -> (Vec<u64>, Vec<u64>) {
    let mut left: Vec<u64> = (0..n).collect();
    Stream::new(seed, CUTS + cut as u64).shuffle(0, &mut left);
    let right = left.split_off((n / 2) as usize);
    (left, right)
}

/// As many rows as a test needs: they are in random order already.
fn thinned(mut rows: Vec<u64>) -> Vec<u64> {
    rows.truncate(1 << 16);
    rows
}

fn codes<T: Real>(model: &Model, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Vec<f64>> {
    Ok(model.encode_to_vec(rows, run)?.iter().map(|v| v.to_f64()).collect())
}

fn orthonormal(rows: &Matrix<f64>) -> bool {
    let gram = factor::multiply_transposed(rows, rows);
    (0..gram.rows()).all(|i| (0..=i).all(|j| (gram[(i, j)] - f64::from(u8::from(i == j))).abs() < 0.1))
}

/// Unit vectors that stand for the components: axes, or centred codes of `rows`.
fn vectors<T: Real>(model: &Model, rows: &Rows<'_, T>, by_axes: bool, run: &Run<'_>) -> Result<Matrix<f64>> {
    let mut out = if by_axes {
        model.tensor("components").map_or_else(|| Matrix::zeros(0, 0), |t| t.to_matrix())
    } else {
        let (codes, k) = (codes(model, rows, run)?, model.n_codes());
        let n = codes.len() / k.max(1);
        let mut out = Matrix::from_fn(k, n, |j, i| codes[i * k + j]);
        for j in 0..k {
            let mean = out.row(j).iter().sum::<f64>() / n as f64;
            out.row_mut(j).iter_mut().for_each(|v| *v -= mean);
        }
        out
    };
    for j in 0..out.rows() {
        let length = out.row(j).iter().map(|v| v * v).sum::<f64>().sqrt();
        if length > 0.0 {
            out.row_mut(j).iter_mut().for_each(|v| *v /= length);
        }
    }
    Ok(out)
}

fn mean(trials: &[Vec<f64>], k: usize) -> Vec<f64> {
    (0..k).map(|j| trials.iter().map(|t| t[j]).sum::<f64>() / trials.len().max(1) as f64).collect()
}

/// Percentile intervals of the mean over cuts drawn with repetition.
fn intervals(trials: &[Vec<f64>], k: usize, seed: u64) -> Vec<(f64, f64)> {
    const DRAWS: usize = 1000;
    let (m, draws) = (trials.len(), Stream::new(seed, BOOTSTRAP));
    if m == 0 {
        return vec![(0.0, 1.0); k];
    }
    (0..k)
        .map(|j| {
            let mut means: Vec<f64> = (0..DRAWS)
                .map(|d| {
                    (0..m)
                        .map(|i| trials[(draws.bits((d * m + i) as u64) % m as u64) as usize][j])
                        .sum::<f64>()
                        / m as f64
                })
                .collect();
            means.sort_by(f64::total_cmp);
            (means[DRAWS / 40], means[DRAWS - 1 - DRAWS / 40])
        })
        .collect()
}

/// Own similarity less the mean of the others', over all fits.
fn index(fits: &[Matrix<f64>], k: usize) -> Vec<f64> {
    (0..k)
        .map(|j| {
            let (mut own, mut others) = (0.0, 0.0);
            for f in fits {
                own += f[(j, j)];
                others += (0..k).filter(|i| *i != j).map(|i| f[(j, i)]).sum::<f64>() / (k.max(2) - 1) as f64;
            }
            (own - others) / fits.len().max(1) as f64
        })
        .collect()
}
