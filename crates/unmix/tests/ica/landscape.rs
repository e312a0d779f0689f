//! Maxima and saddle points of kurtosis on the sphere for exactly independent sources, computed with the statistics that the solvers
//! use.

use super::made::{fit, mixing};
use serde_json::json;
use unmix::Matrix;
use unmix::data::Workspace;
use unmix::internal::num::{Block, factor, random::Stream};
use unmix::stats::{Contrast, SourceSums, SourceView, UnitSums};

/// All combinations of sources that take the values `-a`, 0 and `a`: exactly independent, of variance 1, and of excess kurtosis `1 / (2
/// q) - 3`, where `q` is the probability of `a`.
fn design(values: &[&[f64]]) -> Matrix<f64> {
    let n: usize = values.iter().map(|v| v.len()).product();
    Matrix::from_fn(n, values.len(), |row, j| {
        let step: usize = values[j + 1..].iter().map(|v| v.len()).product();
        values[j][row / step % values[j].len()]
    })
}

const FIVE: f64 = 2.236_067_977_499_79;
const TWO: f64 = std::f64::consts::SQRT_2;
/// Values of a source of excess kurtosis 2.
const HEAVIER: &[f64] = &[-FIVE, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, FIVE];
/// Values of a source of excess kurtosis 1.
const HEAVY: &[f64] = &[-2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0];
/// Values of a source of excess kurtosis -1.
const FLAT: &[f64] = &[-TWO, 0.0, 0.0, TWO];
/// Values of a source of excess kurtosis -2.
const TWO_VALUES: &[f64] = &[-1.0, 1.0];

fn view(w: &[f64]) -> SourceView<'static, f64> {
    SourceView::new(None, Matrix::from_vec(1, w.len(), w.to_vec()), Contrast::Cube)
}

/// Excess kurtosis of `w'x` for a unit vector `w`.
fn kurtosis(x: &Matrix<f64>, w: &[f64]) -> f64 {
    let mut sums = SourceSums::empty(1);
    sums.gather(
        Block { data: x.as_slice(), n_features: x.cols(), first_row: 0, weights: None },
        &view(w),
        &mut Workspace::default(),
    );
    4.0 * sums.loss[0] / sums.n - 3.0
}

/// `E[y^3 x] - 3 w`: a quarter of the gradient of the kurtosis.
fn slope(x: &Matrix<f64>, w: &[f64]) -> Vec<f64> {
    let mut sums = UnitSums::empty(x.cols());
    sums.gather(
        Block { data: x.as_slice(), n_features: x.cols(), first_row: 0, weights: None },
        &view(w),
        &mut Workspace::default(),
    );
    sums.cross.iter().zip(w).map(|(c, w)| c / sums.n - 3.0 * w).collect()
}

fn unit(v: Vec<f64>) -> Vec<f64> {
    let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    v.into_iter().map(|x| x / length).collect()
}

/// A local maximum of kurtosis from a random start: the power method with a shift that makes the objective convex.
fn uphill(x: &Matrix<f64>, seed: u64) -> Vec<f64> {
    let s = Stream::new(seed, 60);
    let mut w = unit((0..x.cols()).map(|i| s.normal(i as u64)).collect());
    let mut before = kurtosis(x, &w);
    for _ in 0..4000 {
        let next = unit(slope(x, &w).iter().zip(&w).map(|(g, w)| g + 6.0 * w).collect());
        let now = kurtosis(x, &next);
        assert!(now >= before - 1e-12, "the shift is too small");
        let moved = next.iter().zip(&w).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        (w, before) = (next, now);
        if moved < 1e-10 {
            return w;
        }
    }
    panic!("seed {seed}: no maximum after 4000 steps");
}

#[test]
fn with_any_super_gaussian_source_every_maximum_is_one_super_gaussian_source() {
    for values in [&[HEAVIER, FLAT, HEAVY, TWO_VALUES][..], &[FLAT, HEAVY, TWO_VALUES]] {
        let x = design(values);
        for seed in 0..200 {
            let w = uphill(&x, seed);
            let (most, rest) = w.iter().fold((0.0f64, 0.0f64), |(m, r), &c| match c.abs() > m {
                true => (c.abs(), r.max(m)),
                false => (m, r.max(c.abs())),
            });
            assert!(rest < 1e-6, "seed {seed}: {w:?}");
            let source = w.iter().position(|c| c.abs() == most).unwrap();
            assert!(values[source].len() >= HEAVY.len(), "seed {seed}: source {source} is flat");
        }
    }
}

#[test]
fn with_sub_gaussian_sources_alone_every_maximum_combines_all_of_them() {
    let (x, kurtoses) = (design(&[FLAT, TWO_VALUES, FLAT]), [-1.0, -2.0, -1.0f64]);
    let total: f64 = kurtoses.iter().map(|k| 1.0 / k).sum();
    for seed in 0..50 {
        for (w, k) in uphill(&x, seed).iter().zip(kurtoses) {
            assert!((w.abs() - (1.0 / (k * total)).sqrt()).abs() < 1e-8, "seed {seed}: {w}");
        }
    }
}

#[test]
fn every_set_of_sources_of_one_sign_has_a_critical_point_of_known_curvature() {
    let values = [HEAVIER, FLAT, HEAVY, TWO_VALUES];
    let (x, kurtoses) = (design(&values), [2.0, -1.0, 1.0, -2.0f64]);
    for set in [&[0][..], &[1], &[2], &[3], &[0, 2], &[1, 3]] {
        let total: f64 = set.iter().map(|&i| 1.0 / kurtoses[i]).sum();
        let level = 1.0 / total;
        let mut w = vec![0.0; 4];
        set.iter().for_each(|&i| w[i] = (1.0 / (kurtoses[i] * total)).sqrt());
        assert!((kurtosis(&x, &w) - level).abs() < 1e-12, "{set:?}");
        // The gradient is parallel to w, so its tangential part is 0.
        let g = slope(&x, &w);
        let along: f64 = g.iter().zip(&w).map(|(g, w)| g * w).sum();
        assert!(g.iter().zip(&w).all(|(g, w)| (g - along * w).abs() < 1e-12), "{set:?}: {g:?}");
        // Second derivatives along great circles: 8 times the kurtosis at the point towards other sources of the set, -4 times towards
        // the others.
        let inside = match *set {
            [i, j] => {
                let mut v = vec![0.0; 4];
                (v[i], v[j]) = (w[j], -w[i]);
                Some((v, 8.0 * level))
            }
            _ => None,
        };
        let across = (0..4).filter(|i| !set.contains(i)).map(|i| {
            let mut v = vec![0.0; 4];
            v[i] = 1.0;
            (v, -4.0 * level)
        });
        for (v, want) in across.chain(inside) {
            let at = |t: f64| {
                kurtosis(&x, &w.iter().zip(&v).map(|(w, v)| t.cos() * w + t.sin() * v).collect::<Vec<_>>())
            };
            let t = 1e-3;
            let second = (at(t) - 2.0 * at(0.0) + at(-t)) / (t * t);
            assert!((second - want).abs() < 1e-4, "{set:?} along {v:?}: {second} instead of {want}");
        }
    }
}

#[test]
fn the_fixed_point_of_kurtosis_ends_at_a_single_source_from_every_start() {
    let sources = design(&[HEAVY, FLAT, HEAVY]);
    let turn = factor::orthonormal_rows(&mixing(3, 3, 8));
    let x = super::made::mix(&sources, &turn);
    for seed in 0..40 {
        let s = Stream::new(seed, 61);
        let start: Vec<Vec<f64>> = (0..3).map(|r| (0..3).map(|c| s.normal(3 * r + c)).collect()).collect();
        let given = json!({
            "algorithm": "fastica", "orthogonalization": "deflation", "fun": "cube", "tol": 1e-10, "order": "found", "w_init": start,
        });
        let model = fit("ica", given, &x, 3);
        let gain = super::made::gain(&model, &turn);
        for i in 0..3 {
            let mut row: Vec<f64> = gain.row(i).iter().map(|g| g.abs()).collect();
            row.sort_by(f64::total_cmp);
            assert!((row[2] - 1.0).abs() < 1e-8 && row[1] < 1e-8, "seed {seed}: {row:?}");
        }
    }
}
