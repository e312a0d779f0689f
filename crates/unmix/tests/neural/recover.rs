//! Which sources every nonlinear rule recovers, and which it does not, on fixed designs.

use crate::scope::in_all;
use unmix::internal::learn::Optimiser;
use unmix::internal::neural::{
    Constraint, NONLINEAR, NONLINEAR_MORE, Sigma, Spec, Trained, Training, TrainingStart, train,
};
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::internal::spectrum::{self, Decomposition, Request, Solver};
use unmix::metrics::match_rows;
use unmix::{Matrix, Rows, Run};

pub(super) const TIED: [f64; 10] = [16.0, 4.0, 4.0, 4.0, 2.0, 0.5, 0.4, 0.3, 0.2, 0.1];
pub(super) const P: usize = 10;
pub(super) const K: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Laplace,
    Uniform,
}

/// Independent sources standardized in the sample, scaled by the square roots of `variances` and rotated; and the true axes (rows).
pub(super) fn mixed(kind: Kind, n: usize, scale: f64, seed: u64) -> (Vec<f64>, Matrix<f64>) {
    let (s, t) = (Stream::new(seed, 40), Stream::new(seed, 41));
    let mut z = Matrix::from_fn(n, P, |i, j| match kind {
        Kind::Laplace => s.laplace((i * P + j) as u64),
        Kind::Uniform => s.uniform((i * P + j) as u64) - 0.5,
    });
    for j in 0..P {
        let mean = (0..n).map(|i| z[(i, j)]).sum::<f64>() / n as f64;
        let square = (0..n).map(|i| (z[(i, j)] - mean).powi(2)).sum::<f64>() / n as f64;
        (0..n).for_each(|i| z[(i, j)] = (z[(i, j)] - mean) * (TIED[j] / square).sqrt() * scale);
    }
    let axes = factor::orthonormal_rows(&Matrix::from_fn(P, P, |i, j| t.normal((i * P + j) as u64)));
    (factor::multiply(&z, &axes).into_vec(), axes)
}

pub(super) fn decomposed(rows: &Rows<'_, f64>) -> Decomposition {
    let request = Request {
        method: "test",
        solver: Solver::CovarianceEigh,
        top: None,
        center: true,
        standardize: false,
        tol: 0.0,
        rounds: None,
        n_oversamples: 0,
        start: None,
    };
    spectrum::decompose(rows, &Run::default(), &request).unwrap()
}

/// Trains the rule from the principal axes.
pub(super) fn trained(spec: &Spec, x: &[f64], how: &Training, seed: u64) -> Trained {
    let rows = Rows::from_slice(x, P).unwrap();
    let run = Run { seed, ..Run::default() };
    let begin = TrainingStart::at_axes(&rows, &decomposed(&rows), spec, K, &run).unwrap();
    train(&rows, spec, &begin, how, &run).unwrap()
}

/// The smallest cosine between matched axes.
pub(super) fn least_cosine(w: &Matrix<f64>, axes: &Matrix<f64>) -> f64 {
    let (_, cosines) = matched(w, axes);
    cosines.into_iter().fold(1.0, f64::min)
}

/// For each column the matched true axis and the cosine with it, by greedy matching, largest cosine first.
pub(super) fn matched(w: &Matrix<f64>, axes: &Matrix<f64>) -> (Vec<usize>, Vec<f64>) {
    let length = |j: usize| (0..P).map(|i| w[(i, j)].powi(2)).sum::<f64>().sqrt();
    let cosine = |j: usize, a: usize| (0..P).map(|i| w[(i, j)] * axes[(a, i)]).sum::<f64>().abs() / length(j);
    let mut pairs: Vec<(usize, usize)> = (0..K).flat_map(|j| (0..K).map(move |a| (j, a))).collect();
    pairs.sort_by(|x, y| cosine(y.0, y.1).total_cmp(&cosine(x.0, x.1)));
    let (mut to, mut found) = (vec![usize::MAX; K], vec![0.0; K]);
    for (j, a) in pairs {
        if to[j] == usize::MAX && !to.contains(&a) {
            (to[j], found[j]) = (a, cosine(j, a));
        }
    }
    (to, found)
}

/// Long enough for every rule: 60 epochs over 8000 rows take a tenth of a second.
pub(super) const LONG: Training = Training {
    optimiser: Optimiser::Adam,
    learning_rate: 0.01,
    batch_size: 128,
    max_epochs: 60,
    tangent: true,
    decay: true,
    absolute: false,
    beta_by_variance: None,
};

/// Training exactly as published.
const LITERAL: Training = Training { tangent: false, decay: false, absolute: true, ..LONG };

fn lengths(w: &Matrix<f64>) -> Vec<f64> {
    (0..K).map(|j| (0..P).map(|i| w[(i, j)].powi(2)).sum::<f64>().sqrt()).collect()
}

#[test]
fn every_variant_recovers_the_documented_sources_and_no_others() {
    let (laplace, uniform) = (mixed(Kind::Laplace, 20_000, 1.0, 1), mixed(Kind::Uniform, 6000, 1.0, 1));
    for row in NONLINEAR.iter().chain(&NONLINEAR_MORE) {
        let mut spec = row.spec.unwrap();
        // In the published units, those of the rows. The published value is .9926, on one draw; eight draws with an independent implementation
        // are from .9915 to .9992, five of them in python/tests/test_bars.py.
        spec.own_units |= row.key == "ema-triangular";
        // Trained parameters in addition to the weights, triangular terms, and sub-Gaussian sources of equal variance, between which a rule may
        // stay near a saddle point, take longer: 20 epochs suffice for 7 of 12 orders of the rows, 60 for all of 16.
        let beside = spec.sigma == Sigma::Trained || spec.train_a || spec.triangle > 0.0 || spec.dec > 0.0;
        let slow = beside || row.recovers.starts_with("sub");
        let how = Training { max_epochs: if slow { 60 } else { 20 }, ..LONG };
        let on = |data: &(Vec<f64>, Matrix<f64>)| {
            let found = trained(&spec, &data.0, &how, 3);
            (least_cosine(&found.w, &data.1), lengths(&found.w))
        };
        let ((a, norms), (b, _)) = (on(&laplace), on(&uniform));
        let message = format!("{}: {a:.4} on Laplace, {b:.4} on uniform sources", row.key);
        // These two depend on the units of the data and have a test of their own.
        if ["decoder-no-sigma", "encoder-sigma"].contains(&row.key) {
            continue;
        }
        match row.recovers {
            // The triangular term also rotates the axes.
            _ if row.key == "ema-triangular" => assert!(a >= 0.99 && b < 0.9, "{message}"),
            r if r.starts_with("super") => assert!(a > 0.9985 && b < 0.9, "{message}"),
            r if r.starts_with("sub") => assert!(a < 0.9 && b > 0.998, "{message}"),
            _ => assert!(a < 0.9, "{message}"),
        }
        let unit = norms.iter().all(|l| (l - 1.0).abs() < 0.01);
        assert_eq!(unit, row.unit, "{}: lengths {norms:?}", row.key);
    }
}

/// Rules that recover super-Gaussian sources; the smallest cosine in one published run with 20,000 rows (specification 14.2); and the
/// median of the smallest cosines on the samples of the test below, by an independent implementation in numpy of the same training.
///
/// `trained-latent-symmetric` is left out, since one of the published seeds ends at .72, and so are rules with bounds of their own in
/// the test above.
const PUBLISHED: [(&str, f64, f64); 15] = [
    ("trained-sigma", 0.9999, 0.99983),
    ("trained-latent-linear", 0.9999, 0.99983),
    ("trained-latent-asymmetric", 0.9984, 0.99933),
    ("trained-latent-coupled", 0.9999, 0.99982),
    ("ema-scaled-tanh", 0.9999, 0.99983),
    ("ema-unit-slope", 0.9998, 0.99976),
    ("ema-hard-tanh", 0.9996, 0.99951),
    ("ema-adaptive-tanh", 0.9995, 0.99949),
    ("ema-constant-tanh", 0.9998, 0.99976),
    ("ema-latent-coupled", 0.9997, 0.99969),
    ("ema-trained-a", 0.9999, 0.99979),
    ("ema-deflation", 0.9988, 0.99937),
    ("ema-nested-dropout", 0.9998, 0.99979),
    ("ema-linear-reconstruction", 0.9999, 0.99987),
    ("skew-symmetric", 0.9999, 0.99986),
];

/// Half a unit of the last published digit.
const ROUNDING: f64 = 5e-5;

/// One and a half standard errors of the difference of two medians over seven samples that are due to the order of the rows.
const ORDERS: f64 = 3e-5;

/// The published measure: the smallest cosine of a column with the axis that it is matched with, among all ten, a different one for each
/// column. `ema-adaptive-tanh` exchanges one of the first five axes for one of smaller variance in 2 of 7 samples, and in 2 of 12 with an
/// independent implementation.
fn least_to_distinct(w: &Matrix<f64>, axes: &Matrix<f64>) -> f64 {
    match_rows(&w.transposed(), axes).cosine.into_iter().fold(1.0, f64::min)
}

#[test]
fn smallest_cosines_of_several_draws_are_as_published_or_as_those_of_a_reference() {
    if !in_all("smallest cosines of several draws") {
        return;
    }
    // The smallest cosine over five axes varies between samples. The published value is that of one sample, on which the bound is the
    // published value itself (python/tests/test_bars.py). Of the samples here at least one reaches it, and their median does, unless
    // that of the reference is smaller.
    let draws: Vec<_> = (1..=7).map(|seed| mixed(Kind::Laplace, 20_000, 1.0, seed)).collect();
    for (key, published, reference) in PUBLISHED {
        let spec = NONLINEAR.iter().find(|row| row.key == key).unwrap().spec.unwrap();
        let how = Training { max_epochs: 20, ..LONG };
        // Orders of the rows change a value by 4e-5 (standard deviation): the middle one of three.
        let of_draw = |(x, axes): &(Vec<f64>, Matrix<f64>)| {
            let mut found = [3, 4, 5].map(|seed| least_to_distinct(&trained(&spec, x, &how, seed).w, axes));
            found.sort_unstable_by(f64::total_cmp);
            found[1]
        };
        let mut least: Vec<f64> = draws.iter().map(of_draw).collect();
        least.sort_unstable_by(f64::total_cmp);
        let message = format!("{key}: {least:.5?}, published {published}, reference {reference}");
        assert!(least[6] >= published - ROUNDING, "{message}");
        assert!(least[3] >= (published - ROUNDING).min(reference - ROUNDING - ORDERS), "{message}");
    }
}

#[test]
fn adam_without_the_tangent_correction_misses_the_axes_and_weight_norm_needs_none() {
    let (x, axes) = mixed(Kind::Laplace, 8000, 1.0, 1);
    let main = NONLINEAR[8].spec.unwrap();
    let weight_norm = Spec { constraint: Constraint::WeightNorm, ..main };
    let short = Training { max_epochs: 20, ..LITERAL };
    assert!(least_cosine(&trained(&main, &x, &short, 3).w, &axes) < 0.9);
    assert!(least_cosine(&trained(&weight_norm, &x, &short, 3).w, &axes) > 0.99);
    // Plain gradient descent converges, too.
    let sgd = Training { optimiser: Optimiser::Sgd, tangent: false, learning_rate: 0.03, ..LONG };
    let found = least_cosine(&trained(&main, &x, &sgd, 3).w, &axes);
    assert!(found > 0.99, "gradient descent: {found}");
}

#[test]
fn learned_deviations_grow_without_bound_unless_penalised() {
    let (x, _) = mixed(Kind::Laplace, 20_000, 1.0, 1);
    let rows = Rows::from_slice(&x, P).unwrap();
    let published = Training { tangent: true, ..LITERAL };
    let rule = |l2: f64| Spec { sigma_l2: l2, ..NONLINEAR[2].spec.unwrap() };
    let ratios = |found: &Trained| -> Vec<Vec<f64>> {
        let axes = decomposed(&rows);
        let deviation = |j: usize| {
            let (w, n) = (&found.w, axes.n);
            let along = |a: usize| (0..P).map(|i| axes.axes[(a, i)] * w[(i, j)]).sum::<f64>();
            ((0..P).map(|a| axes.values[a] * along(a).powi(2)).sum::<f64>() * (n - 1.0) / n).sqrt()
        };
        found.sigma.iter().map(|s| (0..K).map(|j| s[j] / deviation(j)).collect()).collect()
    };
    let free = ratios(&trained(&rule(0.0), &x, &published, 3));
    assert_eq!(free.len(), 60);
    for j in 0..K {
        assert!(free.windows(2).all(|r| r[1][j] > r[0][j]), "column {j} does not grow at every epoch");
        assert!(free[59][j] > 7.0, "column {j}: {} after 60 epochs", free[59][j]);
    }
    // With the penalty ratios converge to the root of E[(t - tanh t)(tanh t - t sech² t)] = l2, t = z/r: 4.37 for Laplace and l2 =
    // 1e-3. The bound is 2 % after 60 epochs at a constant learning rate. The mean over the columns is within it in every order of the
    // rows. Each column fluctuates about the root for its own codes, and is within 2 % of that. The root of one column is 4.30 here, which
    // is 1.6 % lower, so every column is within 2 % of 4.37 in some orders only: of ten in three, and with an independent implementation
    // in numpy in none of nine; of the published rows in all (python/tests/test_bars.py).
    let mut off = Vec::new();
    for seed in 1..=9 {
        let settled = trained(&rule(1e-3), &x, &published, seed);
        let held = ratios(&settled).pop().unwrap();
        let mean = held.iter().sum::<f64>() / K as f64;
        assert!((mean / 4.37 - 1.0).abs() <= 0.02, "order {seed}: {mean}, {held:?}");
        let own: Vec<f64> = (0..K).map(|j| equilibrium(&x, &settled.w, j, 1e-3)).collect();
        let apart: Vec<f64> = held.iter().zip(&own).map(|(r, own)| (r / own - 1.0).abs()).collect();
        assert!(apart.iter().all(|a| *a <= 0.02), "order {seed}: {held:?}, and {own:?} by their own codes");
        off.extend(apart);
    }
    off.sort_unstable_by(f64::total_cmp);
    assert!(off[off.len() / 2] <= 0.01, "relative differences from the roots of their own codes: {off:.4?}");
    // With a decreasing learning rate the fluctuation vanishes, and each ratio converges to the root for its own codes.
    let settled = trained(&rule(1e-3), &x, &Training { decay: true, max_epochs: 180, ..published }, 3);
    for (j, r) in ratios(&settled)[179].iter().enumerate() {
        let rest = equilibrium(&x, &settled.w, j, 1e-3);
        assert!((r / rest - 1.0).abs() < 0.01, "column {j}: {r}, and {rest} by its own codes");
    }
}

/// The ratio of trained to true standard deviation at which the codes of column `j` are in equilibrium, by bisection.
fn equilibrium(x: &[f64], w: &Matrix<f64>, j: usize, l2: f64) -> f64 {
    let mut z: Vec<f64> = x.chunks(P).map(|row| (0..P).map(|i| row[i] * w[(i, j)]).sum()).collect();
    let n = z.len() as f64;
    let mean = z.iter().sum::<f64>() / n;
    let deviation = (z.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / n).sqrt();
    z.iter_mut().for_each(|z| *z = (*z - mean) / deviation);
    let push = |t: f64| (t - t.tanh()) * (t.tanh() - t * (1.0 - t.tanh().powi(2)));
    let (mut low, mut high) = (1.0, 20.0);
    for _ in 0..50 {
        let r = 0.5 * (low + high);
        if z.iter().map(|z| push(z / r)).sum::<f64>() / n > l2 { low = r } else { high = r }
    }
    low
}

/// The smallest cosine between matched axes of `found` and `reference`.
fn same_axes(found: &Matrix<f64>, reference: &Matrix<f64>) -> f64 {
    let by = lengths(reference);
    let axes = Matrix::from_fn(K, P, |j, i| reference[(i, j)] / by[j]);
    least_cosine(found, &axes)
}

#[test]
fn rules_that_are_scale_free_have_the_same_axes_at_every_scale() {
    let x = mixed(Kind::Laplace, 2000, 1.0, 4).0;
    let short = Training { max_epochs: 4, ..LONG };
    let scaled = |by: f64| x.iter().map(|v| v * by).collect::<Vec<f64>>();
    for row in NONLINEAR.iter().chain(&NONLINEAR_MORE) {
        let spec = row.spec.unwrap();
        let want = trained(&spec, &x, &short, 3);
        let worst = [0.01, 100.0, 1000.0]
            .map(|by| same_axes(&trained(&spec, &scaled(by), &short, 3).w, &want.w))
            .into_iter()
            .fold(1.0, f64::min);
        match row.scale_free {
            true => assert!(1.0 - worst < 1e-6, "{}: {worst}", row.key),
            false => assert!(
                worst < 0.99,
                "{}: {worst}, though the rule depends on the units of the data",
                row.key
            ),
        }
    }
}

#[test]
fn literal_forms_depend_on_the_units_of_the_data() {
    let (small, axes) = mixed(Kind::Laplace, 8000, 0.01, 1);
    let plain = mixed(Kind::Laplace, 8000, 1.0, 1).0;
    let absolute = Training { absolute: true, max_epochs: 20, ..LONG };
    let batch = |spec: Spec| Spec { sigma: Sigma::Batch, a: 4.0, sigma_l2: 0.0, ..spec };
    let orthogonal: Vec<Spec> = [4, 5, 6, 13, 16].map(|i: usize| batch(NONLINEAR[i].spec.unwrap())).to_vec();
    for (i, spec) in orthogonal.iter().enumerate() {
        // With weights relative to the variance the axes are the same at both scales.
        let relative = Training { absolute: false, ..absolute };
        let apart = same_axes(&trained(spec, &small, &relative, 3).w, &trained(spec, &plain, &relative, 3).w);
        assert!(1.0 - apart < 1e-6, "rule {i}: {apart}");
        let found = least_cosine(&trained(spec, &small, &absolute, 3).w, &axes);
        assert!(found < 0.9, "rule {i} with fixed weights, rows times 0.01: {found}");
    }
    // Rules that depend on units by a fixed learning rate, a fixed sparsity weight, or nonlinearities of codes that are not
    // standardized.
    let main = NONLINEAR[8].spec.unwrap();
    let sgd = Training { optimiser: Optimiser::Sgd, ..absolute };
    assert!(least_cosine(&trained(&main, &small, &sgd, 3).w, &axes) < 0.9);
    let rica = Spec { by_length: false, l1: 0.3, ..NONLINEAR[18].spec.unwrap() };
    assert!(least_cosine(&trained(&rica, &plain, &absolute, 3).w, &axes) > 0.99);
    assert!(least_cosine(&trained(&rica, &small, &absolute, 3).w, &axes) < 0.9);
    for i in [19, 20, 21] {
        let found = least_cosine(&trained(&NONLINEAR[i].spec.unwrap(), &small, &absolute, 3).w, &axes);
        assert!(found < 0.9, "{}: {found}", NONLINEAR[i].key);
    }
}

#[test]
fn the_decoder_prevents_separation_as_its_scale_predicts() {
    // Separation coefficients of a pair of equal variance: s²(A-b+cd), s²(A-b)+sd and s³(A-b)+s²d with A-b = 0.020, d = -0.044 for
    // Laplace and a = 4. They are positive for weights up to 0.46, and in the forms with a scale for standard deviations above 2.2
    // only.
    let main = NONLINEAR[8].spec.unwrap();
    let (x, axes) = mixed(Kind::Laplace, 8000, 1.0, 1);
    for (weight, works) in [(0.1, true), (1.0, false)] {
        let found = least_cosine(&trained(&Spec { dec: weight, ..main }, &x, &LONG, 3).w, &axes);
        assert_eq!(found > 0.95, works, "a weight of {weight}: {found}");
    }
    // The equal standard deviations are 2 in these data, and 10 in the larger ones.
    let large = mixed(Kind::Laplace, 8000, 5.0, 1).0;
    for key in ["decoder-no-sigma", "encoder-sigma"] {
        let spec = NONLINEAR_MORE.iter().find(|row| row.key == key).unwrap().spec.unwrap();
        let (small, large) = (trained(&spec, &x, &LONG, 3).w, trained(&spec, &large, &LONG, 3).w);
        let (small, large) = (least_cosine(&small, &axes), least_cosine(&large, &axes));
        assert!(small < 0.9 && large > 0.95, "{key}: {small} and {large}");
    }
}

#[test]
fn sparsity_within_its_range_finds_sources_and_beyond_it_minor_axes() {
    // Stable while beta < 2 sigma_k / E|z|, 2.8 sigma_k for Laplace: 3.96 here, with sigma_k = sqrt(2).
    let (x, axes) = mixed(Kind::Laplace, 8000, 1.0, 1);
    let own = Training { absolute: true, ..LONG };
    for (beta, works) in [(0.5, true), (2.0, true), (12.0, false)] {
        let spec = Spec { by_length: false, l1: beta, ..NONLINEAR[18].spec.unwrap() };
        let found = least_cosine(&trained(&spec, &x, &own, 3).w, &axes);
        assert_eq!(found > 0.99, works, "beta {beta}: {found}");
    }
    // Without the unit norm constraint the length d of a column is the larger root of d³ - d + beta E|z| / (4 s), with half that range
    // of beta for the subspace form; for beta above 1.54 s / E|z| there is no root, and the column collapses to 0.
    let rica = Spec { constraint: Constraint::None, by_length: false, ..NONLINEAR[18].spec.unwrap() };
    for (spec, over) in [(rica, 4.0), (Spec { lin_enc: 0.0, ..rica }, 2.0)] {
        let beta = 0.6;
        let found = trained(&Spec { l1: beta, ..spec }, &x, &own, 3);
        let (to, _) = matched(&found.w, &axes);
        for (j, length) in lengths(&found.w).into_iter().enumerate() {
            let c = beta * std::f64::consts::FRAC_1_SQRT_2 / (over * TIED[to[j]].sqrt());
            let root = (0..60).fold(1.0f64, |d, _| d - (d * d * d - d + c) / (3.0 * d * d - 1.0));
            assert!((length - root).abs() < 0.01, "column {j}: {length} and not {root}");
        }
        let beyond = trained(&Spec { l1: 2.6 * over, ..spec }, &x, &own, 3);
        let least = lengths(&beyond.w).into_iter().fold(1.0, f64::min);
        assert!(least < 0.1, "beyond the range: {:?}", lengths(&beyond.w));
    }
}

#[test]
fn lengths_without_a_constraint_are_those_of_their_formulas() {
    let (x, _) = mixed(Kind::Laplace, 4000, 1.0, 1);
    let codes = |w: &Matrix<f64>, j: usize| -> Vec<f64> {
        let y: Vec<f64> = x.chunks(P).map(|r| (0..P).map(|i| r[i] * w[(i, j)]).sum()).collect();
        let mean = y.iter().sum::<f64>() / y.len() as f64;
        let sigma = (y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / y.len() as f64).sqrt();
        y.iter().map(|y| (y - mean) / sigma).collect()
    };
    let mean = |v: &[f64], f: &dyn Fn(f64) -> f64| v.iter().map(|z| f(*z)).sum::<f64>() / v.len() as f64;
    let free = |spec: Spec| Spec { sigma: Sigma::Batch, constraint: Constraint::None, ..spec };
    // Full-batch training, to which the formulas apply.
    let whole = Training { batch_size: 4000, max_epochs: 600, learning_rate: 0.02, ..LONG };
    // With any slope: |w|² = E[z² h'] / E[z h h'].
    let main = free(NONLINEAR[8].spec.unwrap());
    let w = trained(&main, &x, &whole, 3).w;
    for (j, length) in lengths(&w).into_iter().enumerate() {
        let z = codes(&w, j);
        let (h, d) = (|z: f64| 4.0 * (z / 4.0).tanh(), |z: f64| 1.0 - (z / 4.0).tanh().powi(2));
        let want = mean(&z, &|z| z * z * d(z)) / mean(&z, &|z| z * h(z) * d(z));
        assert!((length * length - want).abs() < 0.01, "column {j}: {} and not {want}", length * length);
    }
    // With slope 1 and a linear reconstruction of weight alpha: |w|² = (1 + alpha) / (alpha + E[z h]).
    for alpha in [0.5, 2.0, 8.0] {
        let spec = free(Spec { lin_enc: alpha, ..NONLINEAR[17].spec.unwrap() });
        let w = trained(&spec, &x, &whole, 3).w;
        for (j, length) in lengths(&w).into_iter().enumerate() {
            let want = (1.0 + alpha) / (alpha + mean(&codes(&w, j), &|z| z * z.tanh()));
            assert!(
                (length * length - want).abs() < 0.01,
                "{alpha}, column {j}: {} not {want}",
                length * length
            );
        }
    }
}
