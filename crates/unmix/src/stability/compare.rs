//! What two fits have in common: axes or codes, set against each other as vectors.

use crate::data::Rows;
use crate::error::Result;
use crate::metrics::pairs;
use crate::model::Model;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;

/// Vectors of components for comparison, as rows; their cosines are the similarities.
pub(super) struct Reference<'a, T: Real> {
    pub(super) codes: Matrix<f64>,
    rows: Rows<'a, T>,
    by_axes: bool,
}

impl<'a, T: Real> Reference<'a, T> {
    pub(super) fn new(model: &Model, rows: Rows<'a, T>, run: &Run<'_>) -> Result<Self> {
        let components = model.tensor("components").map(|t| t.to_matrix());
        // Atoms are compared themselves: two that are alike share the rows out between them, so that their codes are not.
        let by_axes = model.code().codes().sparse || components.as_ref().is_some_and(orthonormal);
        let codes = vectors(model, &rows, by_axes, run)?;
        Ok(Self { codes, rows, by_axes })
    }

    /// The vectors of another fit, in the order of their partners.
    pub(super) fn place(&self, other: &Model, run: &Run<'_>) -> Result<MatchedFit> {
        let found = vectors(other, &self.rows, self.by_axes, run)?;
        let k = self.codes.rows();
        let all = factor::multiply_transposed(&self.codes, &found);
        // A half may hold fewer directions than the whole: nothing is then the partner of some.
        let mut order = vec![None; k];
        pairs(&all).into_iter().for_each(|(j, i)| order[j] = Some(i));
        let vectors = Matrix::from_fn(k, found.cols(), |i, c| order[i].map_or(0.0, |i| found.row(i)[c]));
        Ok(MatchedFit { vectors, order })
    }

    /// Absolute cosines of every component of the model with every one of another fit in the order of partners.
    pub(super) fn similar(&self, placed: &Matrix<f64>) -> Matrix<f64> {
        let all = factor::multiply_transposed(&self.codes, placed);
        Matrix::from_fn(all.rows(), all.cols(), |i, j| all[(i, j)].abs().min(1.0))
    }
}

/// The components of another fit, matched to those of the model.
pub(super) struct MatchedFit {
    pub(super) vectors: Matrix<f64>,
    /// Which of its components is whose partner.
    pub(super) order: Vec<Option<usize>>,
}

pub(super) fn between(a: &Matrix<f64>, b: &Matrix<f64>) -> Vec<f64> {
    (0..a.rows())
        .map(|j| a.row(j).iter().zip(b.row(j)).map(|(x, y)| x * y).sum::<f64>().abs().min(1.0))
        .collect()
}

/// How well two halves agree about the space of component `j` and of `others`, for each cut: the least cosine of the principal angles.
/// The mean of the cosines would not do: of any two spaces of 31 directions out of 32, 30 are common.
pub(super) fn space(pairs: &[(Matrix<f64>, Matrix<f64>)], j: usize, others: &[usize]) -> Result<Vec<f64>> {
    let members: Vec<usize> = std::iter::once(j).chain(others.iter().copied()).collect();
    let of = |m: &Matrix<f64>| Matrix::from_fn(members.len(), m.cols(), |i, c| m.row(members[i])[c]);
    // A half that has nothing in place of a member does not find the space.
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

pub(super) fn codes<T: Real>(model: &Model, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Vec<f64>> {
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
        (0..k).for_each(|j| level(out.row_mut(j)));
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

/// Takes the mean off a column of codes, and cuts the largest hundredth of them down.
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
    // Codes that are hardly ever anything but one number are left as they are.
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
        // The same space, whatever its basis is; one direction of it turned by half a radian.
        let mixed = Matrix::from_fn(7, 8, |i, c| {
            if c == 7 { 0.0 } else { f64::from(u8::from(c == i)) + 0.3 * (i + 2 * c) as f64 / 7.0 }
        });
        assert!((found(rows(0), mixed) - 1.0).abs() < 1e-7);
        let mut turned = rows(0);
        (turned.row_mut(3)[3], turned.row_mut(3)[7]) = (0.5f64.cos(), 0.5f64.sin());
        assert!((found(rows(0), turned) - 0.5f64.cos()).abs() < 1e-12);
        let mut short = rows(0);
        short.row_mut(6).fill(0.0);
        assert_eq!(found(rows(0), short), 0.0, "one that a half has not");
    }
}
