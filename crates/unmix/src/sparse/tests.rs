//! Codes against first-order conditions, naive implementations, and each other.

use super::*;
use crate::num::random::Stream;
use crate::num::threads::on_pool;
use crate::num::{Matrix, Real};

/// `m` atoms of lengths about 1, and `n` rows of 5 of them each, with noise.
fn made(m: usize, p: usize, n: usize, seed: u64) -> (Matrix<f64>, Vec<f64>) {
    let (a, z, e) = (Stream::new(seed, 0), Stream::new(seed, 1), Stream::new(seed, 2));
    let scale = 1.0 / (p as f64).sqrt();
    let atoms =
        Matrix::from_fn(m, p, |j, c| a.normal((j * p + c) as u64) * scale * (1.0 + 0.3 * (j % 3) as f64));
    let mut rows = Vec::new();
    for i in 0..n {
        let mut x: Vec<f64> = (0..p).map(|c| 0.02 * e.normal((i * p + c) as u64)).collect();
        for t in 0..5 {
            let j = (i * 31 + t * 17) % m;
            let size = 1.0 + z.normal((i * 5 + t) as u64).abs();
            let size = if t % 2 == 0 { size } else { -size };
            x.iter_mut().zip(atoms.row(j)).for_each(|(x, a)| *x += size * a);
        }
        rows.extend(x);
    }
    (atoms, rows)
}

/// Plain coordinate descent on the residual.
fn naive(atoms: &Matrix<f64>, x: &[f64], (alpha, positive): (f64, bool), passes: usize) -> Vec<f64> {
    let (mut z, mut r) = (vec![0.0; atoms.rows()], x.to_vec());
    for _ in 0..passes {
        for (j, z) in z.iter_mut().enumerate() {
            let a = atoms.row(j);
            let square: f64 = a.iter().map(|a| a * a).sum();
            let t = a.iter().zip(&r).map(|(a, r)| a * r).sum::<f64>() + square * *z;
            let size = if positive { (t - alpha).max(0.0) } else { t.signum() * (t.abs() - alpha).max(0.0) };
            let new = size / square;
            r.iter_mut().zip(a).for_each(|(r, a)| *r -= (new - *z) * a);
            *z = new;
        }
    }
    z
}

fn coded<T: Real>(lasso: &Lasso, atoms: &Atoms<T>, rows: &[T]) -> (Vec<T>, Vec<Measure>) {
    let n = rows.len() / atoms.n_features();
    let mut codes = vec![T::default(); n * atoms.n_atoms()];
    let mut work = Work::default();
    lasso.code(atoms, rows, &mut codes, &mut work);
    let mut measures = vec![Measure::default(); n];
    measure(atoms, (lasso.alpha, lasso.positive), rows, &codes, &mut measures, &mut work.checked);
    (codes, measures)
}

fn tight(alpha: f64) -> Lasso {
    Lasso { stop: StoppingRule::UpTo { tol: 1e-13, max_passes: 100_000 }, ..Lasso::of(alpha) }
}

#[test]
fn codes_are_those_of_plain_coordinate_descent() {
    let (a, rows) = made(90, 24, 7, 1);
    for positive in [false, true] {
        for atoms in [Atoms::<f64>::new(&a), Atoms::without_pairs(&a)] {
            let lasso = Lasso { positive, ..tight(0.3) };
            let (codes, measures) = coded(&lasso, &atoms, &rows);
            for ((x, z), measure_of) in rows.chunks_exact(24).zip(codes.chunks_exact(90)).zip(&measures) {
                let other = naive(&a, x, (0.3, positive), 4000);
                let mut theirs = [Measure::default()];
                measure(&atoms, (0.3, positive), x, &other, &mut theirs, &mut Checked::default());
                let above = theirs[0].objective - measure_of.objective;
                assert!((-1e-12..1e-6).contains(&above), "{above}");
                assert!(measure_of.relative_gap() <= 1e-13, "{measure_of:?}");
                let correlation = |j: usize| -> f64 {
                    let fitted = |c: usize| (0..90).map(|j| z[j] * a[(j, c)]).sum::<f64>();
                    (0..24).map(|c| a[(j, c)] * (x[c] - fitted(c))).sum()
                };
                for j in 0..90 {
                    let c = correlation(j);
                    assert!((if positive { c } else { c.abs() }) <= 0.3 * (1.0 + 1e-5), "{j}: {c}");
                    assert!(z[j] == 0.0 || (c - 0.3 * z[j].signum()).abs() < 1e-6, "{j}: {c}, {}", z[j]);
                    assert!(!positive || z[j] >= 0.0);
                }
            }
        }
    }
}

#[test]
fn the_gap_bounds_how_far_the_objective_is_from_its_least() {
    let (a, rows) = made(60, 20, 5, 2);
    let atoms = Atoms::<f64>::new(&a);
    let (_, best) = coded(&tight(0.1), &atoms, &rows);
    for n in [1, 2, 5, 20] {
        let (_, found) = coded(&Lasso { stop: StoppingRule::Passes(n), ..Lasso::of(0.1) }, &atoms, &rows);
        for (found, best) in found.iter().zip(&best) {
            let above = found.objective - best.objective;
            assert!(above >= -1e-12 && found.gap >= above - 1e-12, "{n}: {found:?} {best:?}");
        }
    }
}

#[test]
fn passes_continue_from_the_initial_codes_and_never_raise_the_objective() {
    let (a, rows) = made(60, 20, 5, 3);
    for atoms in [Atoms::<f64>::new(&a), Atoms::without_pairs(&a)] {
        let one = Lasso { stop: StoppingRule::Passes(1), ..Lasso::of(0.1) };
        let (mut codes, mut work) = (vec![0.0; 5 * 60], Work::default());
        let mut before = f64::INFINITY;
        for _ in 0..6 {
            assert_eq!(one.code(&atoms, &rows, &mut codes, &mut work), 1);
            let mut found = [Measure::default(); 5];
            measure(&atoms, (0.1, false), &rows, &codes, &mut found, &mut work.checked);
            let now: f64 = found.iter().map(|m| m.objective).sum();
            assert!(now <= before);
            before = now;
        }
        let (six, _) = coded(&Lasso { stop: StoppingRule::Passes(6), ..Lasso::of(0.1) }, &atoms, &rows);
        six.iter().zip(&codes).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
        let plain = naive(&a, &rows[..20], (0.1, false), 6);
        six.iter().zip(&plain).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
    }
}

#[test]
fn a_row_has_the_same_bits_in_any_block_and_on_any_threads() {
    fn check<T: Real>() {
        let (a, rows) = made(70, 24, 150, 4);
        let rows: Vec<T> = rows.iter().map(|x| T::from_f64(*x)).collect();
        let atoms = Atoms::<T>::new(&a);
        let (lasso, omp) = (Lasso::of(0.1), Omp::of_atoms(5));
        let (all, _) = coded(&lasso, &atoms, &rows);
        let mut work = Work::default();
        let (mut alone, mut together) = (vec![T::default(); 70], vec![T::default(); 150 * 70]);
        for i in [0, 63, 64, 149] {
            alone.fill(T::default());
            lasso.code(&atoms, &rows[i * 24..(i + 1) * 24], &mut alone, &mut work);
            assert!(alone == all[i * 70..(i + 1) * 70]);
        }
        for threads in [1, 3] {
            together.fill(T::default());
            on_pool(threads, || lasso.code_all(&atoms, &rows, &mut together));
            assert!(together == all);
        }
        omp.code(&atoms, &rows, &mut together, &mut work);
        let first = together.clone();
        on_pool(3, || omp.code_all(&atoms, &rows, &mut together));
        assert!(together == first);
        omp.code(&atoms, &rows[24..48], &mut alone, &mut work);
        assert!(alone == first[70..140]);
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn initial_codes_do_not_change_the_solution() {
    let (a, rows) = made(80, 20, 6, 5);
    let atoms = Atoms::<f64>::new(&a);
    let (cold, _) = coded(&tight(0.05), &atoms, &rows);
    let (mut warm, _) = coded(&Lasso::of(0.3), &atoms, &rows);
    warm[3] = -4.0;
    tight(0.05).code(&atoms, &rows, &mut warm, &mut Work::default());
    cold.iter().zip(&warm).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{a} {b}"));
}

#[test]
fn above_the_largest_correlation_codes_are_zero_and_the_gap_is_zero() {
    let (a, rows) = made(40, 10, 3, 6);
    let atoms = Atoms::<f64>::new(&a);
    for (x, most) in rows.chunks_exact(10).map(|x| {
        (
            x,
            (0..40)
                .map(|j| a.row(j).iter().zip(x).map(|(a, x)| a * x).sum::<f64>().abs())
                .fold(0.0, f64::max),
        )
    }) {
        let (codes, measures) = coded(&tight(most * (1.0 + 1e-12)), &atoms, x);
        assert!(codes.iter().all(|z| *z == 0.0) && measures[0].gap == 0.0);
        let (codes, _) = coded(&tight(most * 0.999), &atoms, x);
        assert_eq!(codes.iter().filter(|z| **z != 0.0).count(), 1);
    }
}

#[test]
fn zero_atoms_zero_rows_and_duplicate_atoms() {
    let (a, mut rows) = made(30, 10, 3, 7);
    let twice = Matrix::from_fn(61, 10, |j, c| if j < 60 { a[(j % 30, c)] } else { 0.0 });
    rows[..10].fill(0.0);
    let atoms = Atoms::<f64>::new(&twice);
    assert_eq!(atoms.n_zero(), 1);
    let (codes, measures) = coded(&tight(0.05), &atoms, &rows);
    let (single, once) = coded(&tight(0.05), &Atoms::<f64>::new(&a), &rows);
    assert!(codes[..61].iter().all(|z| *z == 0.0) && measures[0] == Measure::default());
    for (i, (two, one)) in measures.iter().zip(&once).enumerate() {
        assert!((two.objective - one.objective).abs() < 1e-10);
        assert_eq!(codes[i * 61 + 60], 0.0);
        // All of a pair goes to the first.
        let (first, second) = codes[i * 61..i * 61 + 60].split_at(30);
        assert!(second.iter().all(|z| *z == 0.0), "{second:?}");
        first.iter().zip(&single[i * 30..]).for_each(|(a, b)| assert!((a - b).abs() < 1e-5));
    }
    let mut code = vec![0.0; 61];
    assert_eq!(Omp::of_atoms(60).code(&atoms, &rows[10..20], &mut code, &mut Work::default()), 10);
}

#[test]
fn a_code_on_a_dictionary_and_its_negative_has_the_optimum_of_either_sign() {
    let (a, rows) = made(40, 16, 4, 8);
    let both = Matrix::from_fn(80, 16, |j, c| if j < 40 { a[(j, c)] } else { -a[(j - 40, c)] });
    let (_, signed) = coded(&tight(0.1), &Atoms::<f64>::new(&a), &rows);
    let (_, doubled) = coded(&Lasso { positive: true, ..tight(0.1) }, &Atoms::<f64>::new(&both), &rows);
    signed.iter().zip(&doubled).for_each(|(a, b)| assert!((a.objective - b.objective).abs() < 1e-12));
}

#[test]
fn single_precision_reaches_its_tolerance() {
    let (a, rows) = made(256, 64, 300, 9);
    let rows: Vec<f32> = rows.iter().map(|x| *x as f32).collect();
    let lasso = Lasso { stop: StoppingRule::UpTo { tol: 1e-5, max_passes: 1000 }, ..Lasso::of(0.1) };
    let (_, measures) = coded(&lasso, &Atoms::<f32>::new(&a), &rows);
    let worst = measures.iter().map(Measure::relative_gap).fold(0.0, f64::max);
    assert!(worst <= 1e-5, "{worst:e}");
}

#[test]
fn every_solver_ends_at_the_same_objective() {
    let (a, rows) = made(60, 24, 2, 11);
    for positive in [false, true] {
        for atoms in [Atoms::<f64>::new(&a), Atoms::without_pairs(&a)] {
            let lasso = Lasso { positive, ..tight(0.3) };
            let (_, best) = coded(&lasso, &atoms, &rows);
            let close = Lasso { stop: StoppingRule::UpTo { tol: 1e-9, max_passes: 100_000 }, ..lasso };
            let mut work = Work::default();
            let check = |codes: &[f64], tol: f64| {
                let mut found = [Measure::default(); 2];
                measure(&atoms, (0.3, positive), &rows, codes, &mut found, &mut Checked::default());
                for (found, best) in found.iter().zip(&best) {
                    assert!(found.relative_gap() <= tol, "{found:?}");
                    assert!((found.objective - best.objective).abs() < 1e-8);
                }
            };
            let mut codes = vec![0.0; 2 * 60];
            Proximal::ista(close).code(&atoms, &rows, &mut codes, &mut work);
            check(&codes, 1e-9);
            codes.fill(0.0);
            Proximal::fista(close).code(&atoms, &rows, &mut codes, &mut work);
            check(&codes, 1e-9);
            Lars { positive, ..Lars::of(0.3) }.code(&atoms, &rows, &mut codes, &mut work);
            check(&codes, 1e-12);
        }
    }
}

/// Passes over all atoms until codes no longer change, and the homotopy, which shares no step with them.
#[test]
fn the_homotopy_gives_the_codes_of_coordinate_descent() {
    let (a, rows) = made(60, 24, 2, 11);
    for positive in [false, true] {
        for atoms in [Atoms::<f64>::new(&a), Atoms::without_pairs(&a)] {
            for alpha in [0.6, 0.3, 0.1, 0.05] {
                let (mut path, mut passes, mut work) = (vec![0.0; 120], vec![0.0; 120], Work::default());
                Lars { positive, ..Lars::of(alpha) }.code(&atoms, &rows, &mut path, &mut work);
                let stop = StoppingRule::Passes(10_000);
                Lasso { positive, stop, ..Lasso::of(alpha) }.code(&atoms, &rows, &mut passes, &mut work);
                for (j, (a, b)) in path.iter().zip(&passes).enumerate() {
                    assert!((a - b).abs() < 1e-10, "{positive} {alpha}, {j}: {a} {b}");
                }
            }
        }
    }
}

/// Down to alphas for which codes have as many atoms as columns, with atoms whose norms differ by four orders of magnitude.
#[test]
fn every_alpha_along_a_path_has_the_certificate_of_its_own() {
    let (unit, rows) = made(60, 24, 4, 13);
    let norms = Stream::new(13, 3);
    let a = Matrix::from_fn(60, 24, |j, c| 10f64.powf(4.0 * norms.uniform(j as u64) - 2.0) * unit[(j, c)]);
    for positive in [false, true] {
        for atoms in [Atoms::<f64>::new(&a), Atoms::without_pairs(&a)] {
            let alphas: Vec<f64> = (0..13).map(|i| 300.0 * 10f64.powf(-f64::from(i) / 2.0)).collect();
            for row in rows.chunks_exact(24) {
                let mut codes = vec![1.0; 13 * 60];
                Lars { positive, ..Lars::of(0.0) }.along(&atoms, row, &alphas, &mut codes);
                for (alpha, code) in alphas.iter().zip(codes.chunks_exact(60)) {
                    let mut found = [Measure::default()];
                    measure(&atoms, (*alpha, positive), row, code, &mut found, &mut Checked::default());
                    assert!(found[0].relative_gap() <= 1e-10, "{positive} {alpha}: {found:?}");
                    let (mut alone, mut work) = (vec![0.0; 60], Work::default());
                    Lars { positive, ..Lars::of(*alpha) }.code(&atoms, row, &mut alone, &mut work);
                    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * a.abs().max(1e-6);
                    assert!(alone.iter().zip(code).all(close), "{positive} {alpha}");
                }
            }
        }
    }
}

#[test]
fn a_step_of_ista_never_raises_the_objective() {
    let (a, rows) = made(60, 20, 3, 12);
    let atoms = Atoms::<f64>::new(&a);
    let one = Proximal::ista(Lasso { stop: StoppingRule::Passes(1), ..Lasso::of(0.1) });
    let (mut codes, mut work, mut before) = (vec![0.5; 3 * 60], Work::default(), [f64::INFINITY; 3]);
    for _ in 0..200 {
        one.code(&atoms, &rows, &mut codes, &mut work);
        let mut found = [Measure::default(); 3];
        measure(&atoms, (0.1, false), &rows, &codes, &mut found, &mut work.checked);
        for (now, before) in found.iter().zip(&mut before) {
            assert!(now.objective <= *before + 1e-13);
            *before = now.objective;
        }
    }
}

/// Pursuit by least squares on the atoms taken, from the rows themselves.
fn naive_omp(a: &Matrix<f64>, x: &[f64], n: usize) -> Vec<f64> {
    let (mut taken, mut z) = (Vec::<usize>::new(), vec![]);
    let mut r = x.to_vec();
    for _ in 0..n {
        let score = |j: &usize| {
            let square: f64 = a.row(*j).iter().map(|a| a * a).sum();
            a.row(*j).iter().zip(&r).map(|(a, r)| a * r).sum::<f64>().abs() / square.sqrt()
        };
        let free = (0..a.rows()).filter(|j| !taken.contains(j));
        taken.push(free.max_by(|i, j| score(i).total_cmp(&score(j))).unwrap());
        let k = taken.len();
        let gram = Matrix::from_fn(k, k, |s, t| {
            a.row(taken[s]).iter().zip(a.row(taken[t])).map(|(a, b)| a * b).sum()
        });
        let b = Matrix::from_fn(1, k, |_, s| a.row(taken[s]).iter().zip(x).map(|(a, x)| a * x).sum());
        z = crate::num::factor::Cholesky::new(&gram).unwrap().solve_rows(&b).into_vec();
        r = x.to_vec();
        for (z, &j) in z.iter().zip(&taken) {
            r.iter_mut().zip(a.row(j)).for_each(|(r, a)| *r -= z * a);
        }
    }
    let mut out = vec![0.0; a.rows()];
    taken.iter().zip(z).for_each(|(&j, z)| out[j] = z);
    out
}

#[test]
fn pursuit_is_least_squares_on_the_atoms_taken() {
    let (a, rows) = made(90, 24, 6, 10);
    for atoms in [Atoms::<f64>::new(&a), Atoms::without_pairs(&a)] {
        let mut codes = vec![0.0; 6 * 90];
        Omp::of_atoms(7).code(&atoms, &rows, &mut codes, &mut Work::default());
        for (x, z) in rows.chunks_exact(24).zip(codes.chunks_exact(90)) {
            let other = naive_omp(&a, x, 7);
            z.iter().zip(&other).for_each(|(a, b)| assert!((a - b).abs() < 1e-11, "{a} {b}"));
        }
        let mut measures = [Measure::default(); 6];
        Omp::to_error(0.05, 90).code(&atoms, &rows, &mut codes, &mut Work::default());
        measure(&atoms, (0.1, false), &rows, &codes, &mut measures, &mut Checked::default());
        for (m, x) in measures.iter().zip(rows.chunks_exact(24)) {
            assert!(m.squared_error <= 0.05);
            let mut fewer = [0.0; 90];
            Omp::of_atoms(m.n_nonzero - 1).code(&atoms, x, &mut fewer, &mut Work::default());
            let mut one = [Measure::default()];
            measure(&atoms, (0.1, false), x, &fewer, &mut one, &mut Checked::default());
            assert!(one[0].squared_error > 0.05);
        }
    }
}
