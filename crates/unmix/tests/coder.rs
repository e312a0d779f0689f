//! Sparse codes in a known dictionary (table 17.8): the tolerance of single precision, and codes that are recovered from rows without noise.

use crate::made::{cast, encode, on_threads, wide};
use unmix::internal::num::random::Stream;
use unmix::internal::sparse::lasso_gap;
use unmix::method::sparse_coder::{Algorithm, Alpha};
use unmix::{Matrix, Rows, SparseCoder};

const P: usize = 64;
const M: usize = 256;

/// Rows of `k` of 256 normal atoms of norm 1, with codes `N(0, 1)` shifted away from 0 by 1, and noise.
struct Planted {
    atoms: Matrix<f64>,
    codes: Vec<f64>,
    x: Vec<f64>,
}

fn planted(n: usize, k: usize, deviation: f64, seed: u64) -> Planted {
    let [of_atoms, places, sizes, noise] = [60, 61, 62, 63].map(|part| Stream::new(seed, part));
    let mut atoms = Matrix::from_fn(M, P, |j, c| of_atoms.normal((j * P + c) as u64));
    for j in 0..M {
        let norm = atoms.row(j).iter().map(|a| a * a).sum::<f64>().sqrt();
        atoms.row_mut(j).iter_mut().for_each(|a| *a /= norm);
    }
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
        let gaps = lasso_gap(&rows, &wide(&encode(&model, &x)), &atoms, (0.05, false));
        for (i, (gap, row)) in gaps.iter().zip(rows.chunks_exact(P)).enumerate() {
            let most = 1e-5 * 0.5 * row.iter().map(|x| x * x).sum::<f64>();
            assert!(*gap <= most, "{algorithm:?}, row {i}: {gap:e} of {most:e}");
        }
    }
}

/// Of ten rows without noise, how many are recovered by basis pursuit (the lasso with a small penalty) and by matching pursuit: all with few
/// nonzero codes, hardly any with many.
#[test]
fn codes_without_noise_are_recovered_exactly() {
    for (k, basis, matching) in [
        (4, 10_u32..=10, 10_u32..=10),
        (8, 10..=10, 10..=10),
        (12, 10..=10, 8..=10),
        (16, 6..=10, 5..=10),
        (24, 0..=2, 0..=2),
    ] {
        let (mut by_basis, mut by_matching) = (0_u32, 0_u32);
        for seed in 0..10 {
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
            "{k} nonzero codes: {by_basis} and {by_matching} of 10 rows"
        );
    }
}
