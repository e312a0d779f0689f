//! Quality of the reconstruction of rows from their codes, and use of the units.

use crate::data::Workspace;
use crate::model::Encoder;
use crate::num::parallel;
use crate::num::{Matrix, Real, kernel};

/// Sums over rows of their codes and reconstruction errors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// Number of rows.
    pub n: u64,
    /// Squared norms of rows about `center`, of their residuals, and of their fitted parts.
    pub about: f64,
    /// See `about`.
    pub residual: f64,
    /// See `about`.
    pub fitted: f64,
    /// Inner products of the rows, centred on the model's mean, with their fitted parts.
    pub product: f64,
    /// Number of rows that activate each unit, and the sum of its codes.
    pub fired: Vec<u64>,
    /// See `fired`.
    pub size: Vec<f64>,
    /// Largest code of each unit.
    pub largest: Vec<f64>,
}

/// Rows that one thread takes at a time.
const ROWS: usize = 64;
/// Number of such parts of the rows whose sums are stored at a time.
const PARTS: usize = 64;

impl Evaluation {
    /// The empty sum, for `m` units.
    pub fn new(m: usize) -> Self {
        Self { fired: vec![0; m], size: vec![0.0; m], largest: vec![0.0; m], ..Self::default() }
    }

    /// Adds the rows of another evaluation.
    pub fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.about += other.about;
        self.residual += other.residual;
        self.fitted += other.fitted;
        self.product += other.product;
        self.fired.iter_mut().zip(&other.fired).for_each(|(a, b)| *a += b);
        self.size.iter_mut().zip(&other.size).for_each(|(a, b)| *a += b);
        self.largest.iter_mut().zip(&other.largest).for_each(|(a, b)| *a = a.max(*b));
    }

    /// Fraction of variance unexplained: residual sum of squares over that about `center`.
    pub fn fvu(&self) -> f64 {
        self.residual / self.about
    }

    /// Mean number of active units per row.
    pub fn l0(&self) -> f64 {
        self.fired.iter().sum::<u64>() as f64 / self.n.max(1) as f64
    }

    /// Fraction of the rows that activate each unit.
    pub fn density(&self) -> Vec<f64> {
        self.fired.iter().map(|fired| *fired as f64 / self.n.max(1) as f64).collect()
    }

    /// Optimal factor of the fitted parts of the rows: 1 if codes are not shrunk.
    pub fn shrinkage(&self) -> f64 {
        if self.fitted > 0.0 { self.product / self.fitted } else { 1.0 }
    }

    /// Adds the rows `x` with their codes. `mean` and `atoms` are those of the model; `center` is the mean of the rows.
    pub fn add<T: Real>(&mut self, x: &[T], codes: &[T], mean: &[f64], atoms: &Matrix<f64>, center: &[f64]) {
        let (p, m) = (atoms.cols(), atoms.rows());
        let mut fitted = vec![0.0; p];
        for (row, code) in x.chunks_exact(p).zip(codes.chunks_exact(m)) {
            let squares = Squares::new(row, code, (mean, atoms, center), &mut fitted);
            self.add_row(code, squares);
        }
    }

    /// Adds a row with its code.
    pub fn add_row<T: Real>(&mut self, code: &[T], squares: Squares) {
        for (j, z) in code.iter().enumerate().filter(|(_, z)| **z != T::default()) {
            let z = z.to_f64();
            self.fired[j] += 1;
            self.size[j] += z.abs();
            self.largest[j] = self.largest[j].max(z);
        }
        self.n += 1;
        self.about += squares.about;
        self.residual += squares.residual;
        self.fitted += squares.fitted;
        self.product += squares.product;
    }
}

/// Squared norms and an inner product for one row: see [`Evaluation`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Squares {
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
    pub fn new<T: Real>(
        x: &[T],
        code: &[T],
        (mean, atoms, center): (&[f64], &Matrix<f64>, &[f64]),
        fitted: &mut [f64],
    ) -> Self {
        fitted.fill(0.0);
        for (j, z) in code.iter().enumerate().filter(|(_, z)| **z != T::default()) {
            let z = z.to_f64();
            fitted.iter_mut().zip(atoms.row(j)).for_each(|(f, a)| *f += z * a);
        }
        let mut out = Self::default();
        for (((x, f), mean), center) in x.iter().zip(&*fitted).zip(mean).zip(center) {
            let x = x.to_f64();
            out.about += (x - center) * (x - center);
            out.residual += (x - mean - f) * (x - mean - f);
            out.fitted += f * f;
            out.product += f * (x - mean);
        }
        out
    }
}

/// Evaluates the rows `x` encoded by `encoder`, on the threads of the current pool.
pub fn evaluate<T: Real>(
    encoder: &dyn Encoder,
    map: &dyn crate::model::RowMap<T>,
    x: &[T],
    decoding: (&[f64], &Matrix<f64>, &[f64]),
) -> Evaluation {
    evaluate_until(encoder, map, x, decoding, &|| false).unwrap_or_else(|| Evaluation::new(encoder.n_codes()))
}

/// The same, or `None` once `late`: the condition is checked before every 64 rows.
pub fn evaluate_until<T: Real>(
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
        part.add(x, &codes, mean, atoms, center);
        Some(part)
    };
    let mut all = Evaluation::new(m);
    // The sums of many parts would need more memory than the parameters of the model.
    for x in x.chunks(ROWS * PARTS * p) {
        let parts: Vec<Evaluation> =
            parallel::map(x.chunks(ROWS * p), part).into_iter().collect::<Option<_>>()?;
        parts.iter().for_each(|part| all.merge(part));
    }
    Some(all)
}

/// Fraction of the atoms that have a cosine of at least `least` with another one; a zero atom has none. `O(m² p)`.
pub fn near_duplicates(atoms: &Matrix<f64>, least: f64) -> f64 {
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
    let near = parallel::map(0..m.div_ceil(ROWS), |part| {
        let rows = part * ROWS..((part + 1) * ROWS).min(m);
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
