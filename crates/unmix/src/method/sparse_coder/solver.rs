//! Codes of blocks of rows by the chosen solver, optionally with duality gaps.

use super::settings::Algorithm;
use crate::error::Result;
use crate::num::{Matrix, Real, factor};
use crate::sparse::{Atoms, Lars, Lasso, Measure, Omp, Proximal, StoppingRule, Work, measure};
use crate::stats::{GatherCorrelations, Packer, Unpacker};
use std::sync::Arc;

/// Everything that determines the codes besides the rows.
#[derive(Clone, Debug)]
pub(super) struct Solver<C> {
    pub(super) atoms: Arc<Atoms<C>>,
    pub(super) rules: Rules,
    /// Offset that is subtracted from rows.
    pub(super) mean: Arc<Vec<f64>>,
}

/// The problem and its solver, without the atoms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) algorithm: Algorithm,
    pub(super) alpha: f64,
    pub(super) positive: bool,
    pub(super) debias: bool,
    pub(super) tol: f64,
    pub(super) max_iter: usize,
    pub(super) omp: Omp,
}

/// Codes of a block, with their measures.
#[derive(Default)]
pub(super) struct Coded<C> {
    /// Centred rows, in the type of the computation.
    pub(super) rows: Vec<C>,
    pub(super) codes: Vec<C>,
    /// Measures of each row, for the code before it was debiased.
    pub(super) measures: Vec<Measure>,
    /// Maximum number of iterations of a row.
    pub(super) most: u64,
}

/// The default tolerance for rows of this precision.
pub(super) fn tolerance(single: bool) -> f64 {
    if single { 1e-5 } else { 1e-6 }
}

/// All algorithms, in the order of their declaration.
const ALGORITHMS: [Algorithm; 5] =
    [Algorithm::Cd, Algorithm::Fista, Algorithm::Ista, Algorithm::Lars, Algorithm::Omp];

impl Rules {
    pub(super) fn lasso(&self) -> Lasso {
        let stop = StoppingRule::UpTo { tol: self.tol, max_passes: self.max_iter };
        Lasso { positive: self.positive, stop, ..Lasso::of(self.alpha) }
    }

    /// Codes rows without missing cells, from the start in `codes`.
    pub(super) fn code<C: Real>(
        &self,
        atoms: &Atoms<C>,
        rows: &[C],
        codes: &mut [C],
        work: &mut Work<C>,
    ) -> u64 {
        let lasso = self.lasso();
        match self.algorithm {
            Algorithm::Cd => {
                let passes = lasso.code(atoms, rows, codes, work);
                if passes >= self.max_iter as u64 {
                    self.by_homotopy(atoms, rows, codes, work);
                }
                passes
            }
            Algorithm::Ista => Proximal::ista(lasso).code(atoms, rows, codes, work),
            Algorithm::Fista => Proximal::fista(lasso).code(atoms, rows, codes, work),
            Algorithm::Lars => {
                let lars = Lars { positive: self.positive, max_steps: self.max_iter, ..Lars::of(self.alpha) };
                let steps = lars.code(atoms, rows, codes, work);
                // Rows whose path ended early at linearly dependent atoms continue from there.
                steps.max(lasso.code(atoms, rows, codes, work))
            }
            Algorithm::Omp => self.omp.code(atoms, rows, codes, work),
        }
    }

    /// Codes again, by the homotopy in alpha, the rows whose gap exceeds the tolerance: coordinate descent is slow where the atoms of a code are
    /// nearly linearly dependent. The code of the smaller gap is kept.
    fn by_homotopy<C: Real>(&self, atoms: &Atoms<C>, rows: &[C], codes: &mut [C], work: &mut Work<C>) {
        let (m, p) = (atoms.n_atoms(), atoms.n_features());
        let mut gap_of = |row: &[C], code: &[C]| {
            let mut out = [Measure::default()];
            measure(atoms, (self.alpha, self.positive), row, code, &mut out, &mut work.checked);
            out[0].relative_gap()
        };
        let lars = Lars { positive: self.positive, max_steps: self.max_iter, ..Lars::of(self.alpha) };
        let mut own = Work::default();
        for (row, code) in rows.chunks_exact(p).zip(codes.chunks_exact_mut(m)) {
            let gap = gap_of(row, code);
            if gap <= self.tol {
                continue;
            }
            let mut other = vec![C::default(); m];
            lars.code(atoms, row, &mut other, &mut own);
            // A path that ended early at linearly dependent atoms continues from there, as for 'lars'.
            self.lasso().code(atoms, row, &mut other, &mut own);
            if gap_of(row, &other) < gap {
                code.copy_from_slice(&other);
            }
        }
    }

    fn pack(&self, out: &mut Packer) {
        out.count(self.algorithm as u64);
        [self.alpha, self.tol, self.omp.max_squared_error].into_iter().for_each(|x| out.number(x));
        [self.positive, self.debias].into_iter().for_each(|yes| out.count(u64::from(yes)));
        [self.max_iter, self.omp.n_nonzero].into_iter().for_each(|n| out.count(n as u64));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let algorithm = from.count()? as usize;
        from.check(algorithm < ALGORITHMS.len())?;
        let (alpha, tol, max_squared_error) = (from.number()?, from.number()?, from.number()?);
        let (positive, debias) = (from.flag()?, from.flag()?);
        let (max_iter, n_nonzero) = (from.count()? as usize, from.count()? as usize);
        let omp = Omp::to_error(max_squared_error, n_nonzero);
        Ok(Self { algorithm: ALGORITHMS[algorithm], alpha, positive, debias, tol, max_iter, omp })
    }
}

impl<C: Real> Solver<C> {
    /// The gather of the largest correlation of each row with an atom; only those of the sign that codes may have count.
    pub(super) fn correlations(&self) -> GatherCorrelations {
        GatherCorrelations::new(self.atoms.matrix(), self.mean.to_vec(), self.rules.positive, true)
    }

    pub(super) fn pack(&self, out: &mut Packer) {
        out.matrix(self.atoms.matrix());
        self.rules.pack(out);
        out.numbers(&self.mean);
    }

    pub(super) fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (atoms, rules, mean) = (from.matrix()?, Rules::unpack(from)?, from.numbers()?);
        from.check(atoms.cols() == mean.len() && atoms.rows() > 0)?;
        Ok(Self { atoms: Arc::new(Atoms::new(&atoms)), rules, mean: Arc::new(mean) })
    }

    /// Codes `rows`; NaN is a missing cell. The bits do not depend on the other rows.
    pub(super) fn code<T: Real>(&self, rows: &[T], measured: bool) -> Coded<C> {
        let rows = self.centred(rows);
        let n = rows.len() / self.atoms.n_features().max(1);
        let codes = vec![C::default(); n * self.atoms.n_atoms()];
        self.code_from(Coded { rows, codes, measures: Vec::new(), most: 0 }, measured)
    }

    /// The same for centred rows, from existing codes.
    pub(super) fn code_from(&self, mut coded: Coded<C>, measured: bool) -> Coded<C> {
        let (m, p) = (self.atoms.n_atoms(), self.atoms.n_features());
        let n = coded.rows.len() / p.max(1);
        let mut work = Work::default();
        let has_gap = |row: &[C]| row.iter().any(|x| x.to_f64().is_nan());
        let mut at = 0;
        let mut restricted: Option<(Vec<usize>, Atoms<C>)> = None;
        while at < n {
            let first = &coded.rows[at * p..(at + 1) * p];
            if has_gap(first) {
                let code = &mut coded.codes[at * m..(at + 1) * m];
                coded.most = coded.most.max(self.code_cells(first, code, &mut restricted, &mut work));
                at += 1;
                continue;
            }
            let end = at + coded.rows[at * p..].chunks_exact(p).take_while(|row| !has_gap(row)).count();
            let (rows, codes) = (&coded.rows[at * p..end * p], &mut coded.codes[at * m..end * m]);
            coded.most = coded.most.max(self.rules.code(&self.atoms, rows, codes, &mut work));
            at = end;
        }
        if measured {
            coded.measures = self.measures(&coded.rows, &coded.codes, &mut work);
        }
        if self.rules.debias {
            let pairs = coded.rows.chunks_exact(p).zip(coded.codes.chunks_exact_mut(m));
            pairs.for_each(|(row, code)| self.debias(row, code));
        }
        coded
    }

    /// Measures of these codes, from recomputed residuals.
    pub(super) fn measures(&self, rows: &[C], codes: &[C], work: &mut Work<C>) -> Vec<Measure> {
        let mut out = vec![Measure::default(); rows.len() / self.atoms.n_features().max(1)];
        let penalty = (self.rules.alpha, self.rules.positive);
        measure(&self.atoms, penalty, rows, codes, &mut out, &mut work.checked);
        out
    }

    /// Rows minus their mean.
    pub(super) fn centred<T: Real>(&self, rows: &[T]) -> Vec<C> {
        let p = self.mean.len().max(1);
        let mut out = Vec::with_capacity(rows.len());
        for row in rows.chunks_exact(p) {
            out.extend(row.iter().zip(self.mean.iter()).map(|(x, m)| C::from_f64(x.to_f64() - m)));
        }
        out
    }

    /// The code of a row by its observed cells; successive rows with the same observed cells share their restricted dictionary.
    fn code_cells(
        &self,
        row: &[C],
        code: &mut [C],
        kept: &mut Option<(Vec<usize>, Atoms<C>)>,
        work: &mut Work<C>,
    ) -> u64 {
        let cells: Vec<usize> = (0..row.len()).filter(|&j| !row[j].to_f64().is_nan()).collect();
        if cells.is_empty() {
            return 0;
        }
        let (_, atoms) = match kept.take() {
            Some(same) if same.0 == cells => kept.insert(same),
            _ => kept.insert((cells.clone(), self.atoms.restricted(&cells))),
        };
        let x: Vec<C> = cells.iter().map(|&j| row[j]).collect();
        self.rules.code(atoms, &x, code, work)
    }

    /// Least squares on the atoms of the code, if these determine it; non-negative least squares for codes that must be so.
    fn debias(&self, row: &[C], code: &mut [C]) {
        let used: Vec<usize> = (0..code.len()).filter(|&j| code[j] != C::default()).collect();
        let cells: Vec<usize> = (0..row.len()).filter(|&j| !row[j].to_f64().is_nan()).collect();
        if used.is_empty() || used.len() > cells.len() {
            return;
        }
        let wide = self.atoms.matrix();
        let of = |i: usize, c: usize| wide[(used[i], cells[c])];
        let part = Matrix::from_fn(used.len(), cells.len(), of);
        let right = Matrix::from_fn(1, used.len(), |_, i| {
            cells.iter().enumerate().map(|(c, &j)| part[(i, c)] * row[j].to_f64()).sum()
        });
        let gram = factor::multiply_transposed(&part, &part);
        let solve = |gram: &Matrix<f64>, right: &Matrix<f64>| {
            factor::Cholesky::new(gram).map(|of| of.solve_rows(right).into_vec())
        };
        let found = match solve(&gram, &right) {
            Some(all) if self.rules.positive && all.iter().any(|z| *z < 0.0) => {
                non_negative(&gram, right.row(0), solve)
            }
            found => found,
        };
        let Some(found) = found else { return };
        if found.iter().all(|z| z.is_finite()) {
            used.iter().zip(found).for_each(|(&j, z)| code[j] = C::from_f64(z));
        }
    }
}

/// The minimum of `z' gram z / 2 - right' z` over `z >= 0`, by the active-set method of Lawson & Hanson (1974, chapter 23). `solve` returns the
/// minimum without the constraint; `None` where it does.
fn non_negative(
    gram: &Matrix<f64>,
    right: &[f64],
    solve: impl Fn(&Matrix<f64>, &Matrix<f64>) -> Option<Vec<f64>>,
) -> Option<Vec<f64>> {
    let k = right.len();
    let least = 1e-12 * right.iter().fold(0.0f64, |most, r| most.max(r.abs()));
    let (mut z, mut free) = (vec![0.0; k], Vec::<usize>::new());
    // Every round enters one entry; an entry leaves at most as often as it enters.
    for _ in 0..3 * k {
        let slope = |i: usize| right[i] - gram.row(i).iter().zip(&z).map(|(g, z)| g * z).sum::<f64>();
        let held = (0..k).filter(|i| !free.contains(i)).map(|i| (slope(i), i));
        let Some((slope, enters)) = held.max_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        if slope <= least {
            break;
        }
        free.push(enters);
        while !free.is_empty() {
            let part = Matrix::from_fn(free.len(), free.len(), |a, b| gram[(free[a], free[b])]);
            let next = solve(&part, &Matrix::from_fn(1, free.len(), |_, a| right[free[a]]))?;
            let to_bound = |(&i, &new): (&usize, &f64)| (new <= 0.0).then(|| z[i] / (z[i] - new));
            let step = free.iter().zip(&next).filter_map(to_bound).fold(1.0, f64::min);
            for (&i, new) in free.iter().zip(&next) {
                z[i] += step * (new - z[i]);
            }
            if step >= 1.0 && next.iter().all(|new| *new > 0.0) {
                break;
            }
            // The entries that limited the step are 0 up to rounding errors.
            let nothing = 1e-15 * z.iter().fold(0.0f64, |most, z| most.max(*z));
            let mut next = next.iter();
            free.retain(|&i| {
                let leaves = next.next().is_some_and(|new| *new <= 0.0) && z[i] <= nothing;
                if leaves {
                    z[i] = 0.0;
                }
                !leaves
            });
        }
    }
    Some(z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    /// The best of the minima on all subsets of entries that are not negative.
    #[test]
    fn non_negative_least_squares_are_those_of_the_best_subset() {
        let solve = |gram: &Matrix<f64>, right: &Matrix<f64>| {
            factor::Cholesky::new(gram).map(|of| of.solve_rows(right).into_vec())
        };
        for seed in 0..30 {
            let (draws, k) = (Stream::new(seed, 0), 5);
            let a = Matrix::from_fn(k, 7, |i, j| draws.normal((7 * i + j) as u64) + 0.8);
            let gram = factor::multiply_transposed(&a, &a);
            let right: Vec<f64> = (0..k).map(|i| 3.0 * draws.normal(100 + i as u64)).collect();
            let value = |z: &[f64]| {
                let inner = |i: usize| (0..k).map(|j| gram[(i, j)] * z[j]).sum::<f64>();
                (0..k).map(|i| z[i] * (0.5 * inner(i) - right[i])).sum::<f64>()
            };
            let mut best = 0.0f64;
            for subset in 1..1 << k {
                let of: Vec<usize> = (0..k).filter(|i| subset >> i & 1 == 1).collect();
                let part = Matrix::from_fn(of.len(), of.len(), |i, j| gram[(of[i], of[j])]);
                let found = solve(&part, &Matrix::from_fn(1, of.len(), |_, i| right[of[i]])).unwrap();
                if found.iter().all(|z| *z >= 0.0) {
                    let mut z = vec![0.0; k];
                    of.iter().zip(found).for_each(|(&i, x)| z[i] = x);
                    best = best.min(value(&z));
                }
            }
            let found = non_negative(&gram, &right, solve).unwrap();
            assert!(found.iter().all(|z| *z >= 0.0), "seed {seed}: {found:?}");
            assert!(
                (value(&found) - best).abs() <= 1e-10 * best.abs(),
                "seed {seed}: {} {best}",
                value(&found)
            );
        }
    }
}
