//! Comparison of two fits: axes, atoms, loadings of units, or codes as vectors.

use crate::data::Rows;
use crate::error::Result;
use crate::metrics::{pairs, similarity};
use crate::model::Model;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::stats::GatherMoments;

/// The vector that represents a component.
enum VectorKind {
    /// Its axis or atom.
    Axes,
    /// The loadings of a unit, each in standard deviations of its column; otherwise columns of large variance
    /// would dominate.
    Units(Vec<f64>),
    /// Its codes of some rows.
    Codes,
}

/// Vectors of components for comparison, as rows; their cosines are the similarities.
pub(super) struct Reference<'a, T: Real> {
    pub(super) codes: Matrix<f64>,
    rows: Rows<'a, T>,
    by: VectorKind,
    /// Whether codes are not negative: the similarity of a vector and its negative is then 0.
    signed: bool,
}

/// Whether components are compared by their own vectors, not by their codes, and each has its own verdict: atoms, whose codes are mostly 0, and
/// units with non-negative codes. Such codes are never Gaussian.
pub(super) fn alone(model: &Model) -> bool {
    let codes = model.code().codes();
    codes.sparse || (codes.non_negative && model.code().decodes() && !codes.distances)
}

/// Whether the negative of a component is another one: components that are compared by their own vectors, with non-negative codes.
pub(super) fn one_sided(model: &Model) -> bool {
    alone(model) && model.code().codes().non_negative
}

/// Standard deviations of the columns.
fn deviations<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Vec<f64>> {
    Ok(rows.sweep(run, "moments", &GatherMoments::new())?.deviations())
}

/// Loadings of every unit in standard deviations of the columns, normalised to length 1; zeros for a unit without loadings.
pub(crate) fn directions(model: &Model, deviations: &[f64]) -> Matrix<f64> {
    let Some(mixing) = model.code().mixing() else { return Matrix::zeros(0, deviations.len()) };
    let relative =
        |i: usize, j: usize| if deviations[i] > 0.0 { mixing[(i, j)] / deviations[i] } else { 0.0 };
    let mut out = Matrix::from_fn(mixing.cols(), deviations.len(), |j, i| relative(i, j));
    of_length_one(&mut out);
    out
}

impl<'a, T: Real> Reference<'a, T> {
    pub(super) fn new(model: &Model, rows: Rows<'a, T>, run: &Run<'_>) -> Result<Self> {
        let components = model.tensor("components").map(|t| t.to_matrix());
        // Atoms themselves are compared, because the codes of two similar atoms are not similar: each row
        // uses one of them.
        let by = match alone(model) {
            true if !model.code().codes().sparse => VectorKind::Units(deviations(&rows, run)?),
            true => VectorKind::Axes,
            false if components.as_ref().is_some_and(orthonormal) => VectorKind::Axes,
            false => VectorKind::Codes,
        };
        let codes = vectors(model, &rows, &by, run)?;
        Ok(Self { codes, rows, by, signed: one_sided(model) })
    }

    /// The vectors of another fit, in the order of the matched components of the model.
    pub(super) fn place(&self, other: &Model, run: &Run<'_>) -> Result<MatchedFit> {
        let found = vectors(other, &self.rows, &self.by, run)?;
        let k = self.codes.rows();
        let all = self.likeness(&factor::multiply_transposed(&self.codes, &found));
        // A half may have fewer directions than all rows: then some components have no match.
        let mut order = vec![None; k];
        pairs(&all).into_iter().for_each(|(j, i)| order[j] = Some(i));
        let vectors = Matrix::from_fn(k, found.cols(), |i, c| order[i].map_or(0.0, |i| found.row(i)[c]));
        Ok(MatchedFit { vectors, order })
    }

    /// Similarity of every component of the model with every one of another fit, in the order of [`place`](Self::place).
    pub(super) fn similar(&self, placed: &Matrix<f64>) -> Matrix<f64> {
        self.likeness(&factor::multiply_transposed(&self.codes, placed))
    }

    /// Similarities by cosines.
    pub(super) fn likeness(&self, cosines: &Matrix<f64>) -> Matrix<f64> {
        Matrix::from_fn(cosines.rows(), cosines.cols(), |i, j| self.alike(cosines[(i, j)]))
    }

    fn alike(&self, cosine: f64) -> f64 {
        similarity(cosine, self.signed)
    }

    pub(super) fn is_signed(&self) -> bool {
        self.signed
    }

    /// The agreement of two fits on each component.
    pub(super) fn between(&self, a: &Matrix<f64>, b: &Matrix<f64>) -> Vec<f64> {
        let cosine = |j: usize| a.row(j).iter().zip(b.row(j)).map(|(x, y)| x * y).sum();
        (0..a.rows()).map(|j| self.alike(cosine(j))).collect()
    }
}

/// The components of another fit, matched to those of the model.
pub(super) struct MatchedFit {
    pub(super) vectors: Matrix<f64>,
    /// For each component of the model, the index of the matched component.
    pub(super) order: Vec<Option<usize>>,
}

/// Agreement of the two halves of each split on the subspace of component `j` and `others`: the smallest cosine of the principal angles.
/// The mean of the cosines is not suitable: any two subspaces of dimension 31 in 32 dimensions have an intersection of
/// dimension 30.
pub(super) fn space(pairs: &[(Matrix<f64>, Matrix<f64>)], j: usize, others: &[usize]) -> Result<Vec<f64>> {
    let members: Vec<usize> = std::iter::once(j).chain(others.iter().copied()).collect();
    let of = |m: &Matrix<f64>| Matrix::from_fn(members.len(), m.cols(), |i, c| m.row(members[i])[c]);
    // If a half has no match for a member, its agreement is 0.
    let whole = |m: &Matrix<f64>| (0..m.rows()).all(|i| m.row(i).iter().any(|x| *x != 0.0));
    let of_cut = |(a, b): &(Matrix<f64>, Matrix<f64>)| {
        let (a, b) = (of(a), of(b));
        if !(whole(&a) && whole(&b)) {
            return Ok(0.0);
        }
        let cosines =
            factor::multiply_transposed(&factor::orthonormal_rows(&a), &factor::orthonormal_rows(&b));
        let squares = factor::eigenvalues(&factor::multiply_transposed(&cosines, &cosines))?;
        Ok(squares.last().map_or(0.0, |least| least.clamp(0.0, 1.0).sqrt()))
    };
    pairs.iter().map(of_cut).collect()
}

/// Codes of rows in double precision, row-major.
pub(super) fn codes<T: Real>(model: &Model, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Vec<f64>> {
    Ok(model.encode_to_vec(rows, run)?.iter().map(|v| v.to_f64()).collect())
}

/// Whether rows are orthonormal up to 0.1 in each entry of their Gram matrix.
fn orthonormal(rows: &Matrix<f64>) -> bool {
    let gram = factor::multiply_transposed(rows, rows);
    (0..gram.rows()).all(|i| (0..=i).all(|j| (gram[(i, j)] - f64::from(u8::from(i == j))).abs() < 0.1))
}

/// Unit vectors that represent the components: axes, relative loadings, or centred codes of `rows`.
fn vectors<T: Real>(
    model: &Model,
    rows: &Rows<'_, T>,
    by: &VectorKind,
    run: &Run<'_>,
) -> Result<Matrix<f64>> {
    let mut out = match by {
        VectorKind::Axes => model.tensor("components").map_or_else(|| Matrix::zeros(0, 0), |t| t.to_matrix()),
        VectorKind::Units(deviations) => return Ok(directions(model, deviations)),
        VectorKind::Codes => {
            let (codes, k) = (codes(model, rows, run)?, model.n_codes());
            let n = codes.len() / k.max(1);
            let mut out = Matrix::from_fn(k, n, |j, i| codes[i * k + j]);
            (0..k).for_each(|j| level(out.row_mut(j)));
            out
        }
    };
    of_length_one(&mut out);
    Ok(out)
}

/// Divides every row that is not 0 by its length.
pub(super) fn of_length_one(rows: &mut Matrix<f64>) {
    for j in 0..rows.rows() {
        let length = rows.row(j).iter().map(|v| v * v).sum::<f64>().sqrt();
        if length > 0.0 {
            rows.row_mut(j).iter_mut().for_each(|v| *v /= length);
        }
    }
}

/// Centres a column of codes, and clips the largest 1 % of them.
fn level(codes: &mut [f64]) {
    let centre = |codes: &mut [f64]| {
        let mean = codes.iter().sum::<f64>() / codes.len().max(1) as f64;
        codes.iter_mut().for_each(|v| *v -= mean);
    };
    let mut sizes = codes.to_vec();
    sizes.sort_by(f64::total_cmp);
    let Some(middle) = sizes.get(sizes.len() / 2).copied() else { return };
    sizes.iter_mut().for_each(|v| *v = (*v - middle).abs());
    sizes.sort_by(f64::total_cmp);
    let most = sizes[(sizes.len() - 1) * 99 / 100];
    // Codes that are almost constant are not clipped.
    if most > 0.0 {
        codes.iter_mut().for_each(|v| *v = (*v - middle).clamp(-most, most));
    }
    centre(codes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_found_where_every_direction_of_it_is() {
        let rows = |first: usize| Matrix::from_fn(7, 8, |i, c| f64::from(u8::from(c == i + first)));
        let others: Vec<usize> = (1..7).collect();
        // Six of seven directions are common; the seventh is not.
        let found = |a, b| space(&[(a, b)], 0, &others).unwrap()[0];
        assert!(found(rows(0), rows(1)) < 1e-7);
        assert!((found(rows(0), rows(0)) - 1.0).abs() < 1e-12);
        // The same space, whatever its basis is; one direction of it rotated by half a radian.
        let mixed = Matrix::from_fn(7, 8, |i, c| {
            if c == 7 { 0.0 } else { f64::from(u8::from(c == i)) + 0.3 * (i + 2 * c) as f64 / 7.0 }
        });
        assert!((found(rows(0), mixed) - 1.0).abs() < 1e-7);
        let mut rotated = rows(0);
        (rotated.row_mut(3)[3], rotated.row_mut(3)[7]) = (0.5f64.cos(), 0.5f64.sin());
        assert!((found(rows(0), rotated) - 0.5f64.cos()).abs() < 1e-12);
        let mut short = rows(0);
        short.row_mut(6).fill(0.0);
        assert_eq!(found(rows(0), short), 0.0, "one that a half has not");
    }
}
