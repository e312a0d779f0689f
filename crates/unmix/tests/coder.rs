//! Sparse codes in a known dictionary (table 17.8): the tolerance in both precisions, equal atoms, rows without observed cells, and codes that
//! are recovered from rows without noise.

use crate::made::{cast, encode, on_threads, warned, wide};
use unmix::data::VecSink;
use unmix::impute::{ImputeOptions, Imputer};
use unmix::internal::num::random::Stream;
use unmix::internal::sparse::lasso_gap;
use unmix::method::sparse_coder::{Algorithm, Alpha};
use unmix::{AnyRows, Matrix, Rows, SparseCoder};

const P: usize = 64;
const M: usize = 256;

/// Rows of `k` of 256 normal atoms of norm 1, with codes `N(0, 1)` shifted away from 0 by 1, and noise.
struct Planted {
    atoms: Matrix<f64>,
    codes: Vec<f64>,
    x: Vec<f64>,
}

fn planted(n: usize, k: usize, deviation: f64, seed: u64) -> Planted {
    planted_in(unit_atoms(seed), n, k, deviation, seed)
}

fn unit_atoms(seed: u64) -> Matrix<f64> {
    let draws = Stream::new(seed, 60);
    let mut atoms = Matrix::from_fn(M, P, |j, c| draws.normal((j * P + c) as u64));
    for j in 0..M {
        let norm = atoms.row(j).iter().map(|a| a * a).sum::<f64>().sqrt();
        atoms.row_mut(j).iter_mut().for_each(|a| *a /= norm);
    }
    atoms
}

/// The same for these atoms.
fn planted_in(atoms: Matrix<f64>, n: usize, k: usize, deviation: f64, seed: u64) -> Planted {
    let [places, sizes, noise] = [61, 62, 63].map(|part| Stream::new(seed, part));
    let mut codes = vec![0.0; n * M];
    let mut x: Vec<f64> = (0..n * P).map(|at| deviation * noise.normal(at as u64)).collect();
    for (i, (code, row)) in codes.chunks_exact_mut(M).zip(x.chunks_exact_mut(P)).enumerate() {
        let mut order: Vec<usize> = (0..M).collect();
        places.shuffle((i * M) as u64, &mut order);
        for (c, &j) in order[..k].iter().enumerate() {
            let at = 2 * (i * k + c) as u64;
            code[j] = sizes.normal(at) + sizes.normal(at + 1).signum();
            row.iter_mut().zip(atoms.row(j)).for_each(|(x, a)| *x += code[j] * a);
        }
    }
    Planted { atoms, codes, x }
}

/// Largest difference of the codes of `spec` from the planted ones.
fn apart(of: &Planted, spec: &SparseCoder) -> f64 {
    let model = spec.fit(&mut Rows::from_slice(&of.x, P).unwrap(), &on_threads(1)).unwrap();
    crate::made::apart(&encode(&model, &of.x), &of.codes)
}

/// Every gap, in double precision, is at most `tol ||x||² / 2`.
fn check_gaps(x: &[f64], codes: &[f64], atoms: &Matrix<f64>, penalty: (f64, bool), tol: f64, of: &str) {
    let gaps = lasso_gap(x, codes, atoms, penalty);
    for (i, (gap, row)) in gaps.iter().zip(x.chunks_exact(P)).enumerate() {
        let most = tol * 0.5 * row.iter().map(|x| x * x).sum::<f64>();
        assert!(*gap <= most, "{of}, row {i}: {gap:e} of {most:e}");
    }
}

#[test]
fn every_row_in_single_precision_stops_by_its_gap() {
    let of = planted(500, 8, 0.01, 0);
    let x: Vec<f32> = cast(&of.x);
    // Codes are certified in double precision, for the numbers that the solver has.
    let atoms = Matrix::from_fn(M, P, |j, c| f64::from(of.atoms[(j, c)] as f32));
    let rows: Vec<f64> = wide(&x);
    for algorithm in [Algorithm::Cd, Algorithm::Fista] {
        let spec = SparseCoder { algorithm, alpha: Alpha::Weight(0.05), ..SparseCoder::of(atoms.clone()) };
        let model = spec.fit(&mut Rows::from_slice(&x, P).unwrap(), &on_threads(2)).unwrap();
        assert_eq!(model.report().tol, Some(1e-5));
        let codes = wide(&encode(&model, &x));
        check_gaps(&rows, &codes, &atoms, (0.05, false), 1e-5, &format!("{algorithm:?}"));
    }
}

#[test]
fn every_row_in_double_precision_stops_by_its_gap_with_atoms_of_different_norms() {
    let (norms, unit) = (Stream::new(0, 64), unit_atoms(0));
    // From 0.01 to 100, log-uniform.
    let norm = |j: usize| 10f64.powf(4.0 * norms.uniform(j as u64) - 2.0);
    let atoms = Matrix::from_fn(M, P, |j, c| norm(j) * unit[(j, c)]);
    // Rows of the unit atoms, and of the atoms themselves.
    let rows = [planted_in(unit, 50, 8, 0.01, 0).x, planted_in(atoms.clone(), 50, 8, 0.01, 0).x];
    for (x, of) in rows.iter().zip(["rows of unit atoms", "rows of the atoms"]) {
        for algorithm in [Algorithm::Cd, Algorithm::Lars] {
            let spec =
                SparseCoder { algorithm, alpha: Alpha::Weight(0.05), ..SparseCoder::of(atoms.clone()) };
            let model = spec.fit(&mut Rows::from_slice(x, P).unwrap(), &on_threads(2)).unwrap();
            assert_eq!(model.report().tol, Some(1e-6));
            let codes = encode(&model, x);
            check_gaps(x, &codes, &atoms, (0.05, false), 1e-6, &format!("{algorithm:?}, {of}"));
        }
    }
}

#[test]
fn only_the_first_of_equal_atoms_has_nonzero_codes_with_any_algorithm() {
    let of = planted(20, 4, 0.01, 1);
    let twice = Matrix::from_fn(2 * M, P, |j, c| of.atoms[(j % M, c)]);
    for algorithm in [Algorithm::Cd, Algorithm::Fista, Algorithm::Ista, Algorithm::Lars, Algorithm::Omp] {
        for positive_code in [false, true] {
            let spec = SparseCoder {
                algorithm,
                positive_code,
                alpha: Alpha::Weight(0.05),
                max_iter: 100_000,
                ..SparseCoder::of(twice.clone())
            };
            let model = spec.fit(&mut Rows::from_slice(&of.x, P).unwrap(), &on_threads(2)).unwrap();
            assert!(warned(&model, "only the first of equal atoms has non-zero codes"));
            let (codes, name) =
                (encode(&model, &of.x), format!("{algorithm:?}, positive_code={positive_code}"));
            for (i, code) in codes.chunks_exact(2 * M).enumerate() {
                let (first, second) = code.split_at(M);
                assert!(first.iter().any(|z| *z != 0.0), "{name}, row {i}");
                assert!(second.iter().all(|z| *z == 0.0), "{name}, row {i}: {second:?}");
            }
            if algorithm != Algorithm::Omp {
                check_gaps(&of.x, &codes, &twice, (0.05, positive_code), 1e-6, &name);
            }
        }
    }
}

#[test]
fn rows_without_an_observed_cell_are_counted() {
    let mut of = planted(6, 4, 0.01, 2);
    let spec = SparseCoder { alpha: Alpha::Weight(0.05), ..SparseCoder::of(of.atoms.clone()) };
    let model = spec.fit(&mut Rows::from_slice(&of.x, P).unwrap(), &on_threads(1)).unwrap();
    of.x[P..2 * P].fill(f64::NAN);
    of.x[4 * P..5 * P].fill(f64::NAN);
    // A row with one observed cell is not counted.
    of.x[2 * P + 1..3 * P].fill(f64::NAN);
    let (rows, run) = (Rows::from_slice(&of.x, P).unwrap(), on_threads(2));
    let mut codes = VecSink(Vec::<f64>::new());
    let found = model.encode(&rows, &run, &mut codes).unwrap();
    assert_eq!(found.unseen, 2);
    assert_eq!(found.notes(), ["2 rows have no observed cell, and their codes are 0"]);
    assert!([1, 4].iter().all(|i| codes.0[i * M..(i + 1) * M].iter().all(|z| *z == 0.0)));
    assert_eq!(model.reconstruct(&rows, &run, &mut VecSink(Vec::<f64>::new())).unwrap().unseen, 2);
    let any = AnyRows::F64(Rows::from_slice(&of.x, P).unwrap());
    let imputer =
        Imputer::new(&model, &any, ImputeOptions::default(), &run).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(imputer.note_on_unseen(), None);
    imputer.fill(&rows, &run, &mut VecSink(Vec::<f64>::new())).unwrap();
    let said = "2 rows have no observed cell, and are filled by codes of 0";
    assert_eq!(imputer.note_on_unseen().as_deref(), Some(said));
}

/// Of 20 rows without noise, how many are recovered by basis pursuit (the lasso with a small penalty) and by matching pursuit: all with few
/// nonzero codes, hardly any with many. The bounds allow for the sampling error of shares that were measured on ten rows: 1 and 1, 1 and 1, 1 and .8, .8 and
/// .8, .1 and .4, 0 and 0.
#[test]
fn codes_without_noise_are_recovered_exactly() {
    for (k, basis, matching) in [
        (4, 20_u32..=20, 20_u32..=20),
        (8, 20..=20, 19..=20),
        (12, 19..=20, 13..=20),
        (16, 11..=20, 11..=20),
        (20, 0..=8, 3..=14),
        (24, 0..=4, 0..=4),
    ] {
        let (mut by_basis, mut by_matching) = (0_u32, 0_u32);
        for seed in 0..20 {
            let of = planted(1, k, 0.0, seed);
            let lasso = SparseCoder {
                algorithm: Algorithm::Lars,
                alpha: Alpha::Weight(1e-6),
                tol: Some(1e-12),
                ..SparseCoder::of(of.atoms.clone())
            };
            let pursuit = SparseCoder {
                algorithm: Algorithm::Omp,
                n_nonzero_coefs: Some(k),
                ..SparseCoder::of(of.atoms.clone())
            };
            by_basis += u32::from(apart(&of, &lasso) < 1e-4);
            by_matching += u32::from(apart(&of, &pursuit) < 1e-9);
        }
        assert!(
            basis.contains(&by_basis) && matching.contains(&by_matching),
            "{k} nonzero codes: {by_basis} and {by_matching} of 20 rows"
        );
    }
}
