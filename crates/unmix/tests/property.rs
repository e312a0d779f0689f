//! Property tests: random shapes and numbers against naive implementations.

use crate::made::{apart, encode, numbers, pca, scores};
use crate::naive::{self, NaivePca};
use proptest::prelude::*;
use serde_json::json;
use unmix::{Matrix, Model, metrics, select};

/// The structure of a random table.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Plain,
    DuplicateColumns,
    /// Small integers: equal variances, repeated rows.
    Ties,
    /// Rank 2, whatever the number of columns.
    Deficient,
    ConstantColumn,
}

#[derive(Clone, Debug)]
struct Table {
    x: Vec<f64>,
    n: usize,
    p: usize,
    k: usize,
    scale: f64,
}

fn table() -> impl Strategy<Value = Table> {
    let shape = prop_oneof![
        4 => Just(Shape::Plain),
        1 => Just(Shape::DuplicateColumns),
        1 => Just(Shape::Ties),
        1 => Just(Shape::Deficient),
        1 => Just(Shape::ConstantColumn),
    ];
    let scale =
        prop_oneof![4 => Just(1.0), 1 => Just(1e-150), 1 => Just(1e150), 1 => Just(1e-20), 1 => Just(1e60)];
    let size = prop_oneof![6 => (2usize..30, 1usize..9), 2 => (2usize..8, 8usize..20), 1 => (2usize..3, 1usize..6), 1 => (2usize..30, 1usize..2)];
    (shape, scale, size, any::<u64>(), any::<prop::sample::Index>()).prop_map(
        |(shape, scale, (n, p), seed, k)| {
            let s = unmix::internal::num::random::Stream::new(seed, 0);
            let number = |i: usize, j: usize| s.normal((i * 64 + j) as u64) * (1.0 + j as f64) + j as f64;
            let x = (0..n * p).map(|at| {
                let (i, j) = (at / p, at % p);
                scale
                    * match shape {
                        Shape::Plain => number(i, j),
                        Shape::DuplicateColumns => number(i, j / 2),
                        Shape::Ties => (s.bits((i * 64 + j) as u64) % 3) as f64,
                        Shape::Deficient => number(i, 0) * (1.0 + j as f64) + number(i, 1) * (j as f64 - 2.0),
                        Shape::ConstantColumn if j == 0 => 0.3,
                        Shape::ConstantColumn => number(i, j),
                    }
            });
            Table { x: x.collect(), n, p, k: k.index(n.min(p)) + 1, scale }
        },
    )
}

/// The naive PCA of the table divided by its scale, so that squares neither underflow nor overflow.
fn reference(t: &Table) -> NaivePca {
    NaivePca::fit(&t.x.iter().map(|v| v / t.scale).collect::<Vec<_>>(), t.p)
}

fn compare(t: &Table, reference: &NaivePca, model: &Model, name: &str) -> Result<(), TestCaseError> {
    let (n, p, k) = (t.n, t.p, model.n_components());
    let values: Vec<f64> =
        numbers(model, "explained_variance").iter().map(|v| v / t.scale / t.scale).collect();
    let first = reference.values[0];
    let tol = 1e-13 * first;
    for c in 0..k {
        prop_assert!(
            (values[c] - reference.values[c]).abs() <= tol,
            "{name}: value {c}: {} not {}",
            values[c],
            reference.values[c]
        );
    }
    let mean: Vec<f64> = numbers(model, "mean").iter().map(|m| m / t.scale).collect();
    prop_assert!(
        apart(&mean, &reference.mean) < 1e-13 * mean.iter().fold(1.0f64, |a, m| a.max(m.abs())),
        "{name}: mean"
    );
    let noise = numbers(model, "noise_variance")[0] / t.scale / t.scale;
    prop_assert!(
        (noise - reference.noise(n, k)).abs() <= tol,
        "{name}: noise {noise} not {}",
        reference.noise(n, k)
    );

    // The spans of the leading axes are compared, because the axes of equal variances are arbitrary; a span is determined where a gap
    // follows.
    let axes = numbers(model, "components");
    for c in 1..=k {
        let gap = reference.values[c - 1] - reference.values.get(c).copied().unwrap_or(-first);
        if gap > 1e-6 * first && reference.values[c - 1] > 1e-9 * first {
            let a = Matrix::from_vec(c, p, axes[..c * p].to_vec());
            let b = Matrix::from_vec(c, p, reference.axes[..c].concat());
            let angle = metrics::subspace_angles(&a, &b).unwrap()[0];
            prop_assert!(
                angle < 1e-12 * first / gap + 1e-13,
                "{name}: the span of the first {c} axes is {angle:e} off, gap {gap:e}"
            );
        }
    }
    let zero = axes.iter().all(|x| x.is_finite()) && encode(model, &t.x).iter().all(|y| y.is_finite());
    prop_assert!(zero, "{name}: not finite");
    Ok(())
}

proptest! {
    #![proptest_config(crate::made::cases(250))]

    #[test]
    fn pca_is_that_of_the_naive_implementation(t in table()) {
        let reference = reference(&t);
        if reference.values[0] <= 1e-20 {
            return Ok(()); // No column varies: an error, which is tested elsewhere.
        }
        for solver in ["full", "covariance_eigh"] {
            let model = pca(json!({"n_components": t.k, "svd_solver": solver}), &t.x, t.p);
            compare(&t, &reference, &model, solver)?;
        }
    }

    #[test]
    fn the_likelihood_is_that_of_the_dense_covariance(n in 12usize..30, p in 1usize..8, k in 1usize..8, seed in any::<u64>()) {
        let k = k.min(p);
        let x: Vec<f64> = (0..n * p).map(|i| {
            let s = unmix::internal::num::random::Stream::new(seed, 1);
            s.normal(i as u64) * (1.0 + (i % p) as f64) - 3.0
        }).collect();
        let reference = NaivePca::fit(&x, p);
        let c = reference.model_covariance(n, k);
        let model = pca(json!({"n_components": k}), &x, p);
        let want = naive::log_likelihoods(&x, &reference.mean, &c);
        let found = scores(&model, &x);
        let worst = found.iter().zip(&want).fold(0.0f64, |m, (a, b)| m.max((a - b).abs() / b.abs().max(1.0)));
        prop_assert!(found.iter().all(|x| x.is_finite()), "{found:?}");
        prop_assert!(worst < 1e-9, "log-likelihoods differ by {worst:e}: {found:?} {want:?}");
        let gaussian = model.density().unwrap();
        let (covariance, precision) = (gaussian.covariance().unwrap(), gaussian.precision().unwrap());
        for i in 0..p {
            prop_assert!(apart(covariance.row(i), &c[i]) < 1e-12 * reference.values[0], "covariance, row {i}");
            for j in 0..p {
                let one: f64 = (0..p).map(|l| covariance[(i, l)] * precision[(l, j)]).sum();
                prop_assert!((one - f64::from(u8::from(i == j))).abs() < 1e-9, "covariance times precision at {i}, {j}: {one}");
            }
        }
    }

    #[test]
    fn the_share_rule_takes_the_fewest_that_explain_more(mut v in proptest::collection::vec(0.0..10.0f64, 1..12), share in 0.01..0.99f64) {
        v.sort_by(|a, b| b.total_cmp(a));
        v[0] += 0.1;
        let total = naive::sum(v.iter().copied());
        let k = select::by_share(&v, total, share);
        let explained = |k: usize| naive::sum(v[..k].iter().copied()) / total;
        prop_assert!(k >= 1 && k <= v.len());
        prop_assert!(explained(k) > share - 1e-12, "{k} explain {} of {share}", explained(k));
        prop_assert!(explained(k - 1) <= share + 1e-12, "{} suffice", k - 1);
    }

    #[test]
    fn minkas_rule_maximises_the_evidence(mut v in proptest::collection::vec(0.01..10.0f64, 2..14), extra in 0u64..200, scale in prop_oneof![Just(1.0), Just(1e-40), Just(1e40)]) {
        v.sort_by(|a, b| b.total_cmp(a));
        prop_assume!(v.windows(2).all(|w| w[0] - w[1] > 1e-6));
        let n = v.len() as u64 + 1 + extra;
        let want = naive::minka(&v, n as f64);
        let scaled: Vec<f64> = v.iter().map(|x| x * scale).collect();
        let found = select::minka(&scaled, n as f64, v.len());
        let evidence = |k: usize| naive::minka_log_evidence(&v, k, n as f64);
        // Two numbers of components whose evidence is equal up to rounding are both correct.
        prop_assert!((evidence(found) - evidence(want)).abs() <= 1e-9 * evidence(want).abs(), "{found} not {want}");
    }

    #[test]
    fn angles_between_subspaces_are_those_of_their_projectors(p in 2usize..8, a in 1usize..5, b in 1usize..5, seed in any::<u64>()) {
        let (a, b) = (a.min(p), b.min(p));
        let s = unmix::internal::num::random::Stream::new(seed, 2);
        let random = |k: usize, from: usize| Matrix::from_fn(k, p, |i, j| s.normal((from + i * p + j) as u64));
        let (u, v) = (random(a, 0), random(b, 1000));
        let angles = metrics::subspace_angles(&u, &v).unwrap();
        prop_assert_eq!(angles.len(), a.min(b));
        prop_assert!(angles.windows(2).all(|w| w[0] >= w[1] - 1e-9), "{:?}", angles);
        // Squared cosines are the largest eigenvalues of P_u P_v P_u, computed independently by Gram-Schmidt and Jacobi rotations.
        let (qu, qv) = (gram_schmidt(&u), gram_schmidt(&v));
        let cross = |i: usize, j: usize| naive::dot(&qu[i], &qv[j]);
        let square = (0..a).map(|i| (0..a).map(|j| naive::sum((0..b).map(|l| cross(i, l) * cross(j, l)))).collect()).collect();
        let (cosines, _) = naive::jacobi(square);
        for (i, angle) in angles.iter().rev().enumerate() {
            prop_assert!((angle.cos().powi(2) - cosines[i]).abs() < 1e-10, "{:?} {:?}", angles, cosines);
        }
    }

    #[test]
    fn the_assignment_is_the_cheapest_of_all(n in 1usize..6, more in 0usize..3, seed in any::<u64>(), whole in any::<bool>()) {
        let s = unmix::internal::num::random::Stream::new(seed, 3);
        // Integer costs have ties; negative costs are allowed.
        let cost = Matrix::from_fn(n, n + more, |i, j| {
            let u = s.uniform((i * 16 + j) as u64) * 10.0 - 5.0;
            if whole { u.round() } else { u }
        });
        let order = metrics::assignment(&cost);
        let mut seen = order.clone();
        seen.sort_unstable();
        seen.dedup();
        prop_assert_eq!(seen.len(), n, "every row has a column of its own: {:?}", order);
        let total: f64 = order.iter().enumerate().map(|(i, &j)| cost[(i, j)]).sum();
        let best = cheapest(&cost, 0, &mut vec![false; n + more]);
        prop_assert!((total - best).abs() < 1e-9, "{total} where {best} is possible");
    }
}

fn gram_schmidt(m: &Matrix<f64>) -> Vec<Vec<f64>> {
    let mut out: Vec<Vec<f64>> = Vec::new();
    for i in 0..m.rows() {
        let mut v = m.row(i).to_vec();
        for _ in 0..2 {
            for q in &out {
                let along = naive::dot(&v, q);
                v.iter_mut().zip(q).for_each(|(x, y)| *x -= along * y);
            }
        }
        let length = naive::dot(&v, &v).sqrt();
        out.push(v.iter().map(|x| x / length).collect());
    }
    out
}

fn cheapest(cost: &Matrix<f64>, row: usize, taken: &mut Vec<bool>) -> f64 {
    if row == cost.rows() {
        return 0.0;
    }
    let mut best = f64::INFINITY;
    for j in 0..cost.cols() {
        if !taken[j] {
            taken[j] = true;
            best = best.min(cost[(row, j)] + cheapest(cost, row + 1, taken));
            taken[j] = false;
        }
    }
    best
}

#[test]
fn rows_of_nan_are_matched() {
    let a = Matrix::from_vec(2, 2, vec![f64::NAN, 1.0, 0.0, 1.0]);
    let b = Matrix::from_vec(2, 2, vec![1.0, 0.0, 0.0, 2.0]);
    let found = metrics::match_rows(&a, &b);
    assert_eq!((found.order, found.cosine), (vec![0, 1], vec![0.0, 1.0]));
}
