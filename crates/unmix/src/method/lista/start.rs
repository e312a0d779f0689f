//! Initial parameters: those of ISTA, or for ALISTA encoder vectors in closed form.

use super::gradient::Target;
use super::net::{Net, Params, Problem, transposed};
use super::settings::{LayerType, Lista};
use crate::error::{Error, Result};
use crate::num::{Matrix, Real, factor};
use crate::sparse::Atoms;

impl<T: Real> Problem<T> {
    /// The problem of these atoms and `alpha`.
    ///
    /// # Errors
    ///
    /// Atoms for which ALISTA's encoder vectors cannot be computed.
    pub(super) fn new(given: &Lista, atoms: &Atoms<T>, alpha: f64) -> Result<Self> {
        let w = match given.cell {
            LayerType::Alista => Some(analytic(&live(atoms))?.into_vec()),
            _ => None,
        };
        Ok(Self::with_analytic(given, atoms, alpha, w.as_deref()))
    }

    /// The same with a stored encoder matrix of ALISTA.
    pub(super) fn with_analytic(given: &Lista, atoms: &Atoms<T>, alpha: f64, w: Option<&[f64]>) -> Self {
        let (m, p, live) = (atoms.n_atoms(), atoms.n_features(), live(atoms));
        let narrow = live.cast::<T>();
        let lengths: Vec<f64> = (0..m).map(|j| length(live.row(j))).collect();
        let analytic = w.map(|w| {
            let w: Vec<T> = w.iter().map(|x| T::from_f64(*x)).collect();
            let across = transposed(&w, m, p);
            (w, across)
        });
        let unit = |l: &f64| if *l > 0.0 { 1.0 / l } else { 1.0 };
        // Thresholds are equal for codes of atoms scaled to norm 1.
        let scale = (given.cell == LayerType::Alista && lengths.iter().any(|l| (l - 1.0).abs() > 1e-6))
            .then(|| lengths.iter().map(unit).collect());
        Self {
            cell: given.cell,
            n_layers: given.n_layers,
            m,
            p,
            alpha,
            positive: given.positive_code,
            select: if given.cell.selects() { given.support_selection } else { 0.0 },
            across: transposed(narrow.as_slice(), m, p),
            atoms: narrow.into_vec(),
            analytic,
            scale,
            lipschitz: atoms.lipschitz().max(T::DTYPE.least()),
        }
    }

    /// ISTA with one step for each layer; for ALISTA, step lengths of 1 and thresholds of `theta`.
    pub(super) fn ista(&self, tied: bool, theta: f64) -> Params<T> {
        let (m, l, t) = (self.m, self.n_layers, 1.0 / self.lipschitz);
        let divided = || self.atoms.iter().map(|a| T::from_f64(a.to_f64() * t)).collect::<Vec<T>>();
        let copies = if tied || self.cell == LayerType::GregorLecun { 1 } else { l };
        let weights = match self.cell {
            LayerType::Lista => vec![self.atoms.clone(); copies],
            LayerType::Cp | LayerType::GregorLecun => vec![divided(); copies],
            LayerType::Alista | LayerType::Step => Vec::new(),
        };
        let recurrent = match self.cell {
            LayerType::GregorLecun => {
                let atoms = Matrix::from_vec(m, self.p, self.atoms.iter().map(|a| a.to_f64()).collect());
                let gram = factor::multiply_transposed(&atoms, &atoms);
                let entry = |i: usize, j: usize| f64::from(u8::from(i == j)) - t * gram[(i, j)];
                Matrix::from_fn(m, m, |i, j| T::from_f64(entry(i, j))).into_vec()
            }
            _ => Vec::new(),
        };
        let steps = match self.cell {
            LayerType::Lista | LayerType::Step => vec![t; l],
            LayerType::Alista => vec![1.0; l],
            LayerType::Cp | LayerType::GregorLecun => Vec::new(),
        };
        let thresholds = match self.cell {
            LayerType::Step => Vec::new(),
            LayerType::Alista => vec![theta; l],
            LayerType::GregorLecun => vec![self.alpha * t],
            LayerType::Lista | LayerType::Cp => vec![self.alpha * t; l],
        };
        Params { weights, recurrent, steps, thresholds }
    }

    /// The start of ALISTA: the threshold of the smallest loss on these rows, in a grid that descends from the smallest threshold for
    /// which all codes are 0.
    pub(super) fn searched(&self, x: &[T], target: Target<'_, T>, largest: f64) -> Params<T> {
        const GRID: i32 = 30;
        let mut best = (f64::INFINITY, largest);
        for i in 0..GRID {
            let theta = largest * 10f64.powf(-f64::from(i) / 8.0);
            let params = self.ista(false, theta);
            let net = Net { problem: self, params: &params, across: &[] };
            let loss = net.loss(x, target, self.n_layers);
            if loss < best.0 {
                best = (loss, theta);
            }
        }
        self.ista(false, best.1)
    }

    /// The smallest threshold for which all codes of these rows are 0, with encoder vectors in closed form.
    pub(super) fn largest_threshold(&self, x: &[T]) -> f64 {
        let Some((w, _)) = &self.analytic else { return 0.0 };
        let (m, p) = (self.m, self.p);
        let scale = |j: usize| self.scale.as_ref().map_or(1.0, |scale| scale[j]);
        let mut largest = 0.0f64;
        for row in x.chunks_exact(p) {
            for j in 0..m {
                let pairs = row.iter().zip(&w[j * p..(j + 1) * p]);
                let c: f64 = pairs.map(|(x, w)| x.to_f64() * w.to_f64()).sum();
                largest = largest.max(if self.positive { c } else { c.abs() } / scale(j));
            }
        }
        largest
    }
}

/// The atoms, with zeros in place of duplicates.
fn live<T: Real>(atoms: &Atoms<T>) -> Matrix<f64> {
    let mut live = atoms.matrix().clone();
    let unused = atoms.unused();
    (0..live.rows()).filter(|&j| unused[j]).for_each(|j| live.row_mut(j).fill(0.0));
    live
}

fn length(a: &[f64]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The encoder vectors of minimum `||W A'||_F` with `a_j w_j = 1`: `w_j = (A'A)^-1 a_j / a_j'(A'A)^-1 a_j` for atoms of norm 1, divided by
/// the norms of the atoms. If `A'A` is singular, as with fewer atoms than columns, 1e-8 of its mean eigenvalue is added to its diagonal.
fn analytic(atoms: &Matrix<f64>) -> Result<Matrix<f64>> {
    let (m, p) = (atoms.rows(), atoms.cols());
    let lengths: Vec<f64> = (0..m).map(|j| length(atoms.row(j))).collect();
    let unit = Matrix::from_fn(m, p, |j, c| if lengths[j] > 0.0 { atoms[(j, c)] / lengths[j] } else { 0.0 });
    let across = unit.transposed();
    let mut square = factor::multiply_transposed(&across, &across);
    let trace: f64 = (0..p).map(|c| square[(c, c)]).sum();
    let least = factor::eigenvalues(&square)?.into_iter().fold(f64::INFINITY, f64::min);
    if least <= 1e-12 * trace {
        (0..p).for_each(|c| square[(c, c)] += 1e-8 * trace / p as f64);
    }
    let Some(cholesky) = factor::Cholesky::new(&square) else {
        return Err(Error::setting(
            "dictionary",
            format!("{m} x {p}"),
            "the encoder vectors of ALISTA cannot be computed, because A'A is singular up to rounding errors",
            "give another dictionary, or choose cell='cp'",
        ));
    };
    let solved = cholesky.solve_rows(&unit);
    Ok(Matrix::from_fn(m, p, |j, c| {
        let along: f64 = solved.row(j).iter().zip(unit.row(j)).map(|(w, a)| w * a).sum();
        if along > 0.0 { solved[(j, c)] / (along * lengths[j]) } else { 0.0 }
    }))
}
