//! Iterates of the generalised power iteration are those of loops written for one algorithm alone.

use crate::made::dot;
use unmix::datasets::bernoulli_gaussian;
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::method::fastica::{FastIca, FastIcaAlgorithm, FastIcaWhitening};
use unmix::method::ica::ContrastFunction;
use unmix::power::{
    Contrast, Contrasted, Image, PowerIteration, PowerMap, Projection, Shift, SparseLoadings, Symmetric,
};
use unmix::{Matrix, Outcome, Result, Rows, Run};

const STEPS: u64 = 20;

fn normal(rows: usize, cols: usize, stream: u64) -> Matrix<f64> {
    let draws = Stream::new(3, stream);
    Matrix::from_fn(rows, cols, |i, j| draws.normal((i * cols + j) as u64))
}

/// The largest entry of the difference of two matrices of unit rows, whose signs do not count.
fn change(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    let of_row = |i: usize| {
        let sign = dot(a.row(i), b.row(i)).signum();
        a.row(i).iter().zip(b.row(i)).fold(0.0f64, |m, (a, b)| m.max((a - sign * b).abs()))
    };
    (0..a.rows()).map(of_row).fold(0.0, f64::max)
}

/// Whitened rows of sparse codes.
fn white(n: usize, p: usize) -> Matrix<f64> {
    let x = bernoulli_gaussian((n, p, p), 0.3, 0.1, true, 5).unwrap().x;
    let gram = factor::multiply(&x.transposed(), &x);
    let (values, vectors) = factor::eigh(&Matrix::from_fn(p, p, |i, j| gram[(i, j)] / n as f64)).unwrap();
    let scaled = Matrix::from_fn(p, p, |i, j| vectors[(i, j)] / values[i].sqrt());
    factor::multiply_transposed(&x, &scaled)
}

/// Compares the driver after 1 to 20 steps with `dedicated`, one step of it at a time.
fn same_iterates(
    iteration: PowerIteration<'_>,
    map: &mut dyn PowerMap,
    start: &Matrix<f64>,
    mut dedicated: impl FnMut(&Matrix<f64>) -> Matrix<f64>,
) {
    let run = Run::default();
    let first = match iteration.projection {
        Projection::Rows => unit_rows(start),
        _ => factor::polar_rows(start).unwrap(),
    };
    let mut theirs = first.clone();
    for step in 1..=STEPS {
        let limited = PowerIteration { tol: f64::NEG_INFINITY, eps: 0.0, max_iter: step, ..iteration };
        let ours = limited.solve(map, start, &run).unwrap().a;
        theirs = dedicated(&theirs);
        let apart = change(&ours, &theirs);
        assert!(apart <= 1e-12, "step {step}: {apart:e}");
    }
    // The iterates differ from the start.
    assert!(change(&theirs, &first) > 1e-3);
}

fn by(projection: Projection<'_>, shift: Shift) -> PowerIteration<'_> {
    PowerIteration { projection, shift, tol: 0.0, max_iter: STEPS, eps: f64::EPSILON }
}

fn unit_rows(a: &Matrix<f64>) -> Matrix<f64> {
    let length = |i: usize| a.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
    Matrix::from_fn(a.rows(), a.cols(), |i, j| a[(i, j)] / length(i))
}

/// `Σ g(a_i' x) x' / n`, one number at a time.
fn naive(x: &Matrix<f64>, a: &Matrix<f64>, g: impl Fn(f64) -> f64) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.rows(), a.cols());
    for r in 0..x.rows() {
        for i in 0..a.rows() {
            let y: f64 = x.row(r).iter().zip(a.row(i)).map(|(x, a)| x * a).sum();
            let g = g(y) / x.rows() as f64;
            out.row_mut(i).iter_mut().zip(x.row(r)).for_each(|(o, x)| *o += g * x);
        }
    }
    out
}

#[test]
fn the_power_iteration_and_its_block_form() {
    let x = normal(40, 7, 1);
    let m = factor::multiply(&x.transposed(), &x);
    let start = normal(1, 7, 2);
    same_iterates(by(Projection::Rows, Shift::Constant(0.0)), &mut Symmetric(&m), &start, |a| {
        unit_rows(&factor::multiply(a, &m))
    });
    let start = normal(3, 7, 3);
    same_iterates(by(Projection::Polar, Shift::Constant(0.0)), &mut Symmetric(&m), &start, |a| {
        factor::polar_rows(&factor::multiply(a, &m)).unwrap()
    });
}

#[test]
fn matching_stretching_projection_with_fourth_and_third_powers() {
    let x = white(1500, 6);
    let rows = Rows::from_slice(x.as_slice(), 6).unwrap();
    let run = Run::default();
    let start = normal(6, 6, 4);
    for (contrast, g) in
        [(Contrast::Cube, (|y| y * y * y) as fn(f64) -> f64), (Contrast::AbsCube, |y| y * y.abs())]
    {
        let plain = by(Projection::Polar, Shift::Constant(0.0));
        same_iterates(plain, &mut Contrasted::new(&rows, contrast, &run), &start, |a| {
            factor::polar_rows(&naive(&x, a, g)).unwrap()
        });
        // Fewer filters than columns.
        same_iterates(plain, &mut Contrasted::new(&rows, contrast, &run), &normal(2, 6, 5), |a| {
            factor::polar_rows(&naive(&x, a, g)).unwrap()
        });
    }
}

#[test]
fn overcomplete_fourth_powers() {
    let x = white(1500, 5);
    let rows = Rows::from_slice(x.as_slice(), 5).unwrap();
    let run = Run::default();
    let mut map = Contrasted::new(&rows, Contrast::Cube, &run);
    let start = normal(9, 5, 6);
    same_iterates(by(Projection::Rows, Shift::Constant(0.0)), &mut map, &start, |a| {
        unit_rows(&naive(&x, a, |y| y.powi(3)))
    });
}

/// The gradient of `Σ a⁴ / 4`.
struct FourthPowers;

impl PowerMap for FourthPowers {
    fn apply(&mut self, a: &Matrix<f64>) -> Result<Option<Image>> {
        let direction = Matrix::from_fn(a.rows(), a.cols(), |i, j| a[(i, j)].powi(3));
        let objective = a.as_slice().iter().map(|a| a.powi(4)).sum::<f64>() / 4.0;
        Ok(Some(Image::new(direction, vec![0.0; a.rows()], objective)))
    }
}

/// A thousand random vectors of 2 to 20 numbers each: no step decreases the fourth powers, and every ascent ends with a single entry that is not
/// 0, the one that was largest.
#[test]
fn ascents_of_fourth_powers_on_the_sphere_end_at_sparse_vectors() {
    let fourth = |row: &[f64]| row.iter().map(|a| a.powi(4)).sum::<f64>();
    let largest =
        |row: &[f64]| (0..row.len()).max_by(|&i, &j| row[i].abs().total_cmp(&row[j].abs())).unwrap();
    let step = by(Projection::Rows, Shift::Constant(0.0));
    for p in 2..=20 {
        let start = unit_rows(&normal(1000, p, 100 + p as u64));
        let mut a = start.clone();
        for _ in 0..40 {
            let image = FourthPowers.apply(&a).unwrap().unwrap();
            let next = step.next(&a, &image, false).unwrap();
            assert!((0..1000).all(|i| fourth(next.row(i)) >= fourth(a.row(i)) - 1e-14), "{p} numbers");
            a = next;
        }
        for i in 0..1000 {
            let (row, j) = (a.row(i), largest(start.row(i)));
            assert!((row[j].abs() - 1.0).abs() < 1e-14, "{p} numbers, ascent {i}: {row:?}");
            assert!((0..p).all(|c| c == j || row[c].abs() < 1e-12), "{p} numbers, ascent {i}: {row:?}");
        }
    }
}

/// The method `fastica` computes the rotation from products of sources alone, keeps the sign of every source, and orders them at the end.
#[test]
fn fastica_with_cube_symmetric_and_by_deflation() {
    let x = white(1500, 5);
    let run = Run::default();
    let start = factor::polar_rows(&normal(5, 5, 7)).unwrap();
    let table: Vec<Vec<f64>> = (0..5).map(|i| start.row(i).to_vec()).collect();
    let rows = Rows::from_slice(x.as_slice(), 5).unwrap();
    let fitted = |algorithm, max_iter| {
        let spec = FastIca {
            algorithm,
            whiten: FastIcaWhitening::Not(false),
            fun: ContrastFunction::Cube,
            max_iter,
            tol: 0.0,
            w_init: Some(table.clone()),
            ..Default::default()
        };
        let mut rows = Rows::from_slice(x.as_slice(), 5).unwrap();
        let model = spec.fit(&mut rows, &run).unwrap();
        unit_rows(&model.tensor("components").unwrap().to_matrix())
    };
    let nearest = |all: &Matrix<f64>, a: &[f64]| {
        let row = (0..5).max_by(|i, j| dot(all.row(*i), a).abs().total_cmp(&dot(all.row(*j), a).abs()));
        Matrix::from_vec(1, 5, all.row(row.unwrap()).to_vec())
    };
    let one = |a: &[f64]| Matrix::from_vec(1, 5, a.to_vec());
    for step in 1..=STEPS {
        let dedicated = fitted(FastIcaAlgorithm::Parallel, step);
        let mut map = Contrasted::new(&rows, Contrast::Cube, &run);
        let limited = PowerIteration {
            tol: f64::NEG_INFINITY,
            eps: 0.0,
            max_iter: step,
            ..by(Projection::Polar, Shift::Slope)
        };
        let ours = limited.solve(&mut map, &start, &run).unwrap().a;
        for i in 0..5 {
            let apart = change(&one(ours.row(i)), &nearest(&dedicated, ours.row(i)));
            assert!(apart <= 1e-12, "symmetric, step {step}, row {i}: {apart:e}");
        }
        let dedicated = fitted(FastIcaAlgorithm::Deflation, step);
        let mut found = Matrix::zeros(0, 5);
        for i in 0..5 {
            // The first step of FastICA begins at the given vector; only its result is made orthogonal to the components found.
            let begun =
                PowerIteration { projection: Projection::Rest(&found), max_iter: step - 1, ..limited };
            let given = one(start.row(i));
            let image = map.apply(&given).unwrap().unwrap();
            let first = begun.next(&given, &image, false).unwrap();
            let ours = begun.solve(&mut map, &first, &run).unwrap().a;
            let apart = change(&ours, &nearest(&dedicated, ours.row(0)));
            assert!(apart <= 1e-12, "deflation, step {step}, row {i}: {apart:e}");
            found = Matrix::from_vec(i + 1, 5, [found.into_vec(), ours.into_vec()].concat());
        }
    }
}

/// A row that is sparse in six of fifty columns: both forms find these (Journée et al. 2010).
#[test]
fn gpower_with_both_thresholds_and_the_columns_that_it_finds() {
    let (n, p) = (200, 50);
    let (noise, scores) = (normal(n, p, 8), normal(n, 1, 9));
    let data = Matrix::from_fn(n, p, |i, j| {
        noise[(i, j)] + if j < 6 { 4.0 * scores[(i, 0)] / 6f64.sqrt() } else { 0.0 }
    });
    let square = |j: usize| (0..n).map(|i| data[(i, j)].powi(2)).sum::<f64>();
    let longest = (0..p).max_by(|a, b| square(*a).total_cmp(&square(*b))).unwrap();
    let largest = square(longest);
    let start = Matrix::from_fn(1, n, |_, i| data[(i, longest)]);
    let away = normal(1, n, 10);
    for (hard, threshold) in [(false, 0.35 * largest.sqrt()), (true, 0.2 * largest)] {
        let mut map = SparseLoadings { data: &data, threshold, hard };
        let plain = by(Projection::Rows, Shift::Constant(0.0));
        let start = Matrix::from_fn(1, n, |_, i| start[(0, i)] + 2.0 * away[(0, i)]);
        same_iterates(plain, &mut map, &start, |u| {
            let mut next = Matrix::zeros(1, n);
            for j in 0..p {
                let q: f64 = (0..n).map(|i| data[(i, j)] * u[(0, i)]).sum();
                let kept = match hard {
                    true => {
                        if q * q > threshold {
                            q
                        } else {
                            0.0
                        }
                    }
                    false => q.signum() * (q.abs() - threshold).max(0.0),
                };
                (0..n).for_each(|i| next[(0, i)] += kept * data[(i, j)]);
            }
            unit_rows(&next)
        });
        let found = plain.solve(&mut map, &start, &Run::default()).unwrap();
        let loadings = map.loadings(&found.a);
        let support: Vec<usize> = (0..p).filter(|&j| loadings[(0, j)] != 0.0).collect();
        assert_eq!(support, (0..6).collect::<Vec<_>>());
    }
}

/// The third order of steps by slopes, and the return from them where they lower the objective.
#[test]
fn hybrid_steps_are_fewer_and_end_at_the_objective_of_plain_ones() {
    let x = bernoulli_gaussian((8000, 12, 12), 0.5, 0.0, true, 2).unwrap().x;
    let rows = Rows::from_slice(x.as_slice(), 12).unwrap();
    let run = Run::default();
    let start = normal(12, 12, 11);
    let solve = |shift| {
        let limits = PowerIteration { tol: 1e-8, max_iter: 500, ..by(Projection::Polar, shift) };
        limits.solve(&mut Contrasted::new(&rows, Contrast::Cube, &run), &start, &run).unwrap()
    };
    let (plain, hybrid) = (solve(Shift::Constant(0.0)), solve(Shift::Hybrid(0.0)));
    assert_eq!((plain.outcome, hybrid.outcome), (Outcome::Converged, Outcome::Converged));
    assert!(hybrid.n_iter < plain.n_iter, "{} {}", hybrid.n_iter, plain.n_iter);
    for found in [&plain, &hybrid] {
        let rises = found.objective.windows(2).all(|w| w[1] >= w[0] * (1.0 - 1e-14));
        assert!(rises, "{:?}", found.objective);
    }
    assert!((plain.value - hybrid.value).abs() < 1e-6 * plain.value);
}
