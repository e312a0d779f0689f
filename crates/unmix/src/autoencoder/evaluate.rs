//! Quality of the reconstruction of rows from their codes, and use of the units.

use crate::data::Workspace;
use crate::error::Result;
use crate::model::Encoder;
use crate::num::parallel;
use crate::num::{Matrix, Real, kernel, widest};
use crate::stats::{Packer, Partial, Unpacker};

/// Sums over rows of their codes and reconstruction errors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// Number of rows, weighted.
    pub n: f64,
    /// Squared norms of rows about `center`, of their residuals, and of their fitted parts.
    pub about: f64,
    /// See `about`.
    pub residual: f64,
    /// See `about`.
    pub fitted: f64,
    /// Inner products of the rows, centred on the model's mean, with their fitted parts.
    pub product: f64,
    /// Number of rows that activate each unit, weighted, and the sum of its codes.
    pub fired: Vec<f64>,
    /// See `fired`.
    pub size: Vec<f64>,
    /// Largest code of each unit.
    pub largest: Vec<f64>,
}

/// Rows that one thread takes at a time.
const ROWS_PER_PART: usize = 64;
/// Number of such parts of the rows whose sums are stored at a time.
const PARTS_HELD: usize = 64;

impl Evaluation {
    /// The empty sum, for `m` units.
    pub fn new(m: usize) -> Self {
        Self { fired: vec![0.0; m], size: vec![0.0; m], largest: vec![0.0; m], ..Self::default() }
    }

    /// Fraction of variance unexplained: residual sum of squares over that about `center`.
    pub fn fvu(&self) -> f64 {
        self.residual / self.about
    }

    /// Mean number of active units per row.
    pub fn l0(&self) -> f64 {
        self.per_row(self.fired.iter().sum())
    }

    fn per_row(&self, sum: f64) -> f64 {
        if self.n > 0.0 { sum / self.n } else { 0.0 }
    }

    /// Fraction of the rows that activate each unit.
    pub fn density(&self) -> Vec<f64> {
        self.fired.iter().map(|fired| self.per_row(*fired)).collect()
    }

    /// Optimal factor of the fitted parts of the rows: 1 if codes are not shrunk.
    pub fn shrinkage(&self) -> f64 {
        if self.fitted > 0.0 { self.product / self.fitted } else { 1.0 }
    }

    /// Adds the rows `x` with their codes and weights. `mean` and `atoms` are those of the model; `center` is the mean of the rows.
    pub fn add<T: Real>(
        &mut self,
        x: &[T],
        codes: &[T],
        weights: Option<&[f64]>,
        (mean, atoms, center): (&[f64], &Matrix<f64>, &[f64]),
    ) {
        let (p, m) = (atoms.cols(), atoms.rows());
        let mut fitted = vec![0.0; x.len()];
        widest(
            #[inline(always)]
            || add_atoms(codes, atoms, &mut fitted),
        );
        let rows = x.chunks_exact(p).zip(fitted.chunks_exact(p));
        for (i, ((row, fitted), code)) in rows.zip(codes.chunks_exact(m)).enumerate() {
            let squares = Squares::of_fitted(row, fitted, (mean, center));
            self.add_row(code, squares, weights.map_or(1.0, |w| w[i]));
        }
    }

    /// Adds a row with its code.
    fn add_row<T: Real>(&mut self, code: &[T], squares: Squares, weight: f64) {
        for (j, z) in code.iter().enumerate().filter(|(_, z)| **z != T::default()) {
            let z = z.to_f64();
            self.fired[j] += weight;
            self.size[j] += weight * z.abs();
            self.largest[j] = self.largest[j].max(z);
        }
        self.n += weight;
        self.about += weight * squares.about;
        self.residual += weight * squares.residual;
        self.fitted += weight * squares.fitted;
        self.product += weight * squares.product;
    }
}

impl Partial for Evaluation {
    fn merge(&mut self, right: Self) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        self.n += right.n;
        self.about += right.about;
        self.residual += right.residual;
        self.fitted += right.fitted;
        self.product += right.product;
        add(&mut self.fired, &right.fired);
        add(&mut self.size, &right.size);
        self.largest.iter_mut().zip(&right.largest).for_each(|(a, b)| *a = a.max(*b));
    }

    fn pack(&self, out: &mut Packer) {
        let sums = [self.n, self.about, self.residual, self.fitted, self.product];
        sums.into_iter().for_each(|x| out.number(x));
        [&self.fired, &self.size, &self.largest].into_iter().for_each(|each| out.numbers(each));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (n, about, residual) = (from.number()?, from.number()?, from.number()?);
        let (fitted, product) = (from.number()?, from.number()?);
        let (fired, size, largest) = (from.numbers()?, from.numbers()?, from.numbers()?);
        from.check([size.len(), largest.len()] == [fired.len(); 2])?;
        Ok(Self { n, about, residual, fitted, product, fired, size, largest })
    }

    fn bytes(&self) -> usize {
        8 * (5 + 3 * self.fired.len())
    }
}

/// Squared norms and an inner product for one row: see [`Evaluation`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Squares {
    /// Squared norm of the row about the mean of all rows.
    pub about: f64,
    /// Squared norm of the residual.
    pub residual: f64,
    /// Squared norm of the fitted part, the sum of atoms weighted by codes.
    pub fitted: f64,
    /// Inner product of the row, centred on the mean of the model, with its fitted part.
    pub product: f64,
}

impl Squares {
    /// For the row `x` with its `code`; the fitted part is written into `fitted`.
    pub(crate) fn new<T: Real>(
        x: &[T],
        code: &[T],
        (mean, atoms, center): (&[f64], &Matrix<f64>, &[f64]),
        fitted: &mut [f64],
    ) -> Self {
        fitted.fill(0.0);
        widest(
            #[inline(always)]
            || add_atoms(code, atoms, fitted),
        );
        Self::of_fitted(x, fitted, (mean, center))
    }

    /// For the row `x` with its fitted part.
    fn of_fitted<T: Real>(x: &[T], fitted: &[f64], (mean, center): (&[f64], &[f64])) -> Self {
        let mut out = Self::default();
        for (((x, f), mean), center) in x.iter().zip(fitted).zip(mean).zip(center) {
            let x = x.to_f64();
            out.about += (x - center) * (x - center);
            out.residual += (x - mean - f) * (x - mean - f);
            out.fitted += f * f;
            out.product += f * (x - mean);
        }
        out
    }
}

/// Adds to the rows of `fitted` the atoms weighted by the rows' codes: a block of atoms to all rows before the next one.
#[inline(always)]
fn add_atoms<T: Real>(codes: &[T], atoms: &Matrix<f64>, fitted: &mut [f64]) {
    const BLOCK: usize = 64;
    let (p, m) = (atoms.cols(), atoms.rows());
    for start in (0..m).step_by(BLOCK) {
        for (code, fitted) in codes.chunks_exact(m).zip(fitted.chunks_exact_mut(p)) {
            for (j, z) in code.iter().enumerate().take(start + BLOCK).skip(start) {
                if *z != T::default() {
                    let z = z.to_f64();
                    fitted.iter_mut().zip(atoms.row(j)).for_each(|(f, a)| *f += z * a);
                }
            }
        }
    }
}

/// Evaluates the rows `x` encoded by `encoder`, on the threads of the current pool.
pub(crate) fn evaluate<T: Real>(
    encoder: &dyn Encoder,
    map: &dyn crate::model::RowMap<T>,
    x: &[T],
    decoding: (&[f64], &Matrix<f64>, &[f64]),
) -> Evaluation {
    evaluate_until(encoder, map, x, decoding, &|| false).unwrap_or_else(|| Evaluation::new(encoder.n_codes()))
}

/// The same, or `None` once `late`: the condition is checked before every 64 rows.
pub(crate) fn evaluate_until<T: Real>(
    encoder: &dyn Encoder,
    map: &dyn crate::model::RowMap<T>,
    x: &[T],
    (mean, atoms, center): (&[f64], &Matrix<f64>, &[f64]),
    late: &(dyn Fn() -> bool + Sync),
) -> Option<Evaluation> {
    let (p, m) = (encoder.n_features(), encoder.n_codes());
    let part = |x: &[T]| {
        if late() {
            return None;
        }
        let (mut codes, mut work) = (vec![T::default(); x.len() / p * m], Workspace::default());
        map.apply(x, &mut codes, &mut work);
        let mut part = Evaluation::new(m);
        part.add(x, &codes, None, (mean, atoms, center));
        Some(part)
    };
    let mut all = Evaluation::new(m);
    // The sums of many parts would need more memory than the parameters of the model.
    for x in x.chunks(ROWS_PER_PART * PARTS_HELD * p) {
        let parts: Vec<Evaluation> =
            parallel::map(x.chunks(ROWS_PER_PART * p), part).into_iter().collect::<Option<_>>()?;
        parts.into_iter().for_each(|part| all.merge(part));
    }
    Some(all)
}

/// Fraction of the atoms that have a cosine of at least `least` with another one; a zero atom has none. `O(m² p)`.
pub(crate) fn near_duplicates(atoms: &Matrix<f64>, least: f64) -> f64 {
    let (m, p) = (atoms.rows(), atoms.cols());
    let unit = Matrix::from_vec(
        m,
        p,
        (0..m)
            .flat_map(|j| {
                let size = kernel::sum_of_squares(atoms.row(j)).sqrt();
                let by = if size > 0.0 { 1.0 / size } else { 0.0 };
                atoms.row(j).iter().map(move |x| x * by).collect::<Vec<f64>>()
            })
            .collect(),
    );
    let across = unit.transposed();
    let near = parallel::map(0..m.div_ceil(ROWS_PER_PART), |part| {
        let rows = part * ROWS_PER_PART..((part + 1) * ROWS_PER_PART).min(m);
        let mut products = vec![0.0; rows.len() * m];
        let some = &unit.as_slice()[rows.start * p..rows.end * p];
        kernel::product(&mut products, some, across.as_slice(), rows.len(), p, m);
        let near = |(i, row): (usize, &[f64])| {
            row.iter().enumerate().any(|(j, cosine)| j != rows.start + i && *cosine >= least)
        };
        products.chunks_exact(m).enumerate().filter(|each| near(*each)).count()
    });
    near.iter().sum::<usize>() as f64 / m.max(1) as f64
}
