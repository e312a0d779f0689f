//! Confidence intervals for the agreement of halves: their coverage, and the verdicts that follow from them.
//!
//! The parameter that an interval should cover is the expected agreement of two disjoint samples of half as many rows; here it is the
//! mean over many data sets, since each gives an unbiased estimate of it.

use crate::made::{self, repetitions};
use crate::scope::in_all;
use serde_json::{Map, json};
use unmix::datasets::Distribution;
use unmix::internal::num::random::Stream;
use unmix::metrics::match_units;
use unmix::stability::{
    DEFAULT_SPLITS, MIN_AGREEMENT, SIGNIFICANCE_LEVEL, Stability, Trials, Verdict, stability,
};
use unmix::{AnyRows, Matrix, Rows, Run};

/// Independent columns with these population variances; variances in the sample differ from them, and those of a tie from each other.
fn drawn(n: usize, law: Distribution, variances: &[f64], seed: u64) -> Matrix<f64> {
    let (draws, k) = (Stream::new(seed, 29), variances.len());
    Matrix::from_fn(n, k, |i, j| variances[j].sqrt() * law.draw(&draws, (i * k + j) as u64))
}

fn found(key: &str, x: &Matrix<f64>, splits: usize, seed: u64) -> Stability {
    tried(key, x, Trials { splits, restarts: 0, bootstrap: Some(0) }, seed)
}

fn tried(key: &str, x: &Matrix<f64>, trials: Trials, seed: u64) -> Stability {
    let mut rows: AnyRows<'_> = Rows::from_slice(x.as_slice(), x.cols()).unwrap().into();
    let run = Run { seed, ..made::on_threads(1) };
    let model = unmix::fit(key, &Map::new(), &mut rows, &run).unwrap();
    stability(&model, &rows, trials, &run).unwrap()
}

/// A model, and the component whose expected agreement between halves is tested.
struct Case {
    method: &'static str,
    law: Distribution,
    variances: Vec<f64>,
    n: usize,
    component: usize,
}

/// Over many data sets: the mean agreement, the shares of intervals that contain it, lie above and below `MIN_AGREEMENT`, and the mean width.
#[derive(Debug)]
struct Coverage {
    truth: f64,
    covered: f64,
    above: f64,
    below: f64,
    width: f64,
}

impl Case {
    /// PCA of columns of which two have variances 1 and `1 + gap sqrt(2 / n)`.
    fn pair(law: Distribution, n: usize, gap: f64) -> Self {
        let variances = vec![30.0, 6.0, 1.0 + gap * (2.0 / n as f64).sqrt(), 1.0, 0.2, 0.05];
        Self { method: "pca", law, variances, n, component: 2 }
    }

    /// PCA of `p` columns whose variances form a geometric sequence.
    fn ladder(law: Distribution, n: usize, p: usize, gap: f64, component: usize) -> Self {
        let ratio = 1.0 + gap * (2.0 / n as f64).sqrt();
        let variances = (0..p).map(|i| ratio.powi(-(i as i32))).collect();
        Self { method: "pca", law, variances, n, component }
    }

    fn sources(law: Distribution, n: usize, p: usize) -> Self {
        Self { method: "ica", law, variances: vec![1.0; p], n, component: 0 }
    }

    fn coverage(&self, splits: usize, bootstrap: usize, repeats: u64) -> Coverage {
        let mut of = Vec::new();
        for seed in 0..repeats {
            let x = drawn(self.n, self.law, &self.variances, 7_000 + seed);
            let found =
                tried(self.method, &x, Trials { splits, restarts: 0, bootstrap: Some(bootstrap) }, seed);
            of.push((found.halves[self.component], found.interval[self.component]));
        }
        let share = |which: &dyn Fn((f64, f64)) -> bool| {
            of.iter().filter(|(_, interval)| which(*interval)).count() as f64 / repeats as f64
        };
        let truth = of.iter().map(|(halves, _)| halves).sum::<f64>() / repeats as f64;
        Coverage {
            truth,
            covered: share(&|(low, high)| low <= truth && truth <= high),
            above: share(&|(low, _)| low >= MIN_AGREEMENT),
            below: share(&|(_, high)| high < MIN_AGREEMENT),
            width: of.iter().map(|(_, (low, high))| high - low).sum::<f64>() / repeats as f64,
        }
    }
}

/// Asserts that 95 % intervals contain the true value in 95 % of data sets, and lie on the wrong side of `MIN_AGREEMENT` in at most 2.5 %,
/// within three standard errors of such a proportion.
fn covers(case: &Case, splits: usize, repeats: u64, within: (f64, f64)) {
    covers_with(case, (splits, 0), repeats, within);
}

/// The same for intervals of `bootstrap` resamples.
fn covers_with(case: &Case, (splits, bootstrap): (usize, usize), repeats: u64, within: (f64, f64)) {
    let seen = case.coverage(splits, bootstrap, repeats);
    let slack = |rate: f64| 3.0 * (rate * (1.0 - rate) / repeats as f64).sqrt();
    let name = format!(
        "{} of {:?}, {} rows, {splits} splits, {bootstrap} resamples: {seen:?}",
        case.method, case.law, case.n
    );
    println!("{name}");
    assert!(
        within.0 < seen.truth && seen.truth < within.1,
        "the expected agreement is not within {within:?}: {name}"
    );
    // With few splits, whose spread is known inaccurately, the nominal coverage is lower.
    let stated = if splits < DEFAULT_SPLITS { 0.92 } else { 0.95 };
    assert!(seen.covered >= stated - slack(stated), "{name}");
    let wrong = if seen.truth < MIN_AGREEMENT { seen.above } else { seen.below };
    assert!(wrong <= 0.025 + slack(0.025), "{name}");
    // Intervals must also be narrow; those by resamples are wider where tails are heavy (0.70 for Laplace sources).
    let widest = if bootstrap == 0 { 0.6 } else { 0.9 };
    assert!(splits < DEFAULT_SPLITS || seen.width < widest, "{name}");
}

#[test]
fn intervals_cover_the_expected_agreement() {
    for (gap, within) in [(2.0, (0.83, 0.90)), (4.0, (0.89, 0.94)), (9.0, (0.96, 0.985))] {
        covers(&Case::pair(Distribution::Gaussian, 200, gap), DEFAULT_SPLITS, repetitions(25, 100), within);
    }
    covers(
        &Case::ladder(Distribution::Gaussian, 200, 8, 6.0, 3),
        DEFAULT_SPLITS,
        repetitions(15, 60),
        (0.82, 0.92),
    );
    covers(&Case::sources(Distribution::Laplace, 80, 2), DEFAULT_SPLITS, repetitions(15, 60), (0.85, 0.95));
}

#[test]
fn intervals_by_resamples_cover_the_expected_agreement_and_resolve_more() {
    for (gap, within) in [(4.0, (0.88, 0.94)), (9.0, (0.95, 0.985))] {
        covers_with(
            &Case::pair(Distribution::Gaussian, 200, gap),
            (DEFAULT_SPLITS, 20),
            repetitions(10, 40),
            within,
        );
    }
    covers_with(
        &Case::sources(Distribution::Laplace, 80, 2),
        (DEFAULT_SPLITS, 20),
        repetitions(8, 30),
        (0.85, 0.95),
    );
    // An agreement of about 0.97 decides more often than with the bound, which needs 0.985.
    let case = Case::pair(Distribution::Gaussian, 200, 14.0);
    let of = |bootstrap: usize| case.coverage(DEFAULT_SPLITS, bootstrap, repetitions(10, 30));
    let (bound, resampled) = (of(0), of(20));
    assert!(resampled.above > bound.above + 0.2 && resampled.width < bound.width, "{resampled:?} {bound:?}");
}

#[test]
fn resamples_change_the_intervals_and_nothing_else() {
    let case = Case::pair(Distribution::Gaussian, 400, 6.0);
    let x = drawn(case.n, case.law, &case.variances, 3);
    let trials = |bootstrap: usize| Trials { splits: 5, restarts: 2, bootstrap: Some(bootstrap) };
    let (plain, with) = (tried("pca", &x, trials(0), 3), tried("pca", &x, trials(6), 3));
    assert_eq!((plain.bootstrap, with.bootstrap), (0, 6));
    assert_ne!(plain.interval, with.interval);
    // As text, in which NaN equals NaN: the quality of a cluster may be NaN.
    let rest = |found: &Stability| {
        let mut found = found.clone();
        (found.interval, found.space_interval, found.verdicts, found.bootstrap) = Default::default();
        format!("{found:?}")
    };
    assert_eq!(rest(&plain), rest(&with));
    // One resample shows no variation.
    let one = tried("pca", &x, trials(1), 3);
    assert!(one.interval.iter().chain(&one.space_interval).all(|interval| *interval == (0.0, 1.0)));
    // The same bits for any number of threads, for single rows and for blocks of them.
    let mut slow = x.clone();
    for i in 1..slow.rows() {
        for j in 0..slow.cols() {
            slow[(i, j)] = 0.97 * slow[(i - 1, j)] + 0.24 * slow[(i, j)];
        }
    }
    for (x, dependent) in [(&x, false), (&slow, true)] {
        let of = |threads: usize| {
            let mut rows: AnyRows<'_> = Rows::from_slice(x.as_slice(), x.cols()).unwrap().into();
            let run = Run { seed: 4, ..made::on_threads(threads) };
            let model = unmix::fit("pca", &Map::new(), &mut rows, &run).unwrap();
            stability(&model, &rows, trials(4), &run).unwrap()
        };
        let (one, three) = (of(1), of(3));
        assert_eq!(format!("{one:?}"), format!("{three:?}"));
        assert_eq!(one.block_length > 1, dependent, "{}", one.block_length);
    }
}

#[test]
fn intervals_of_a_run_that_ends_early_are_from_0_to_1() {
    let x = drawn(400, Distribution::Gaussian, &[9.0, 4.0, 1.0], 3);
    let mut rows: AnyRows<'_> = Rows::from_slice(x.as_slice(), x.cols()).unwrap().into();
    let model = unmix::fit("pca", &Map::new(), &mut rows, &made::on_threads(1)).unwrap();
    let of = |max_seconds: Option<f64>| {
        let run = Run { max_seconds, ..made::on_threads(1) };
        let trials = Trials { splits: 5, restarts: 0, bootstrap: None };
        stability(&model, &rows, trials, &run).unwrap()
    };
    let (whole, late) = (of(None), of(Some(0.0)));
    assert_eq!((whole.bootstrap, late.bootstrap), (20, 0));
    assert_eq!((whole.incomplete, late.incomplete), (false, true));
    assert!(whole.interval.iter().all(|interval| *interval != (0.0, 1.0)));
    assert!(late.interval.iter().chain(&late.space_interval).all(|interval| *interval == (0.0, 1.0)));
}

/// Rows of three units with non-negative activations, active in a fifth of the rows, each of four of twelve columns, and noise; and the units.
fn planted(seed: u64) -> (Matrix<f64>, Matrix<f64>) {
    const N: usize = 400;
    const P: usize = 12;
    const UNITS: usize = 3;
    let (draws, noise) = (Stream::new(seed, 31), Stream::new(seed, 32));
    let units = Matrix::from_fn(UNITS, P, |u, j| if j / 4 == u { 0.5 } else { 0.0 });
    let code = |i: usize, u: usize| {
        let at = (2 * (i * UNITS + u)) as u64;
        if draws.uniform(at) < 0.2 { draws.normal(at + 1).max(0.0) } else { 0.0 }
    };
    let x = Matrix::from_fn(N, P, |i, j| 0.5 * code(i, j / 4) + 0.25 * noise.normal((i * P + j) as u64));
    (x, units)
}

/// The agreement on a unit, and its intervals by resamples and by the bound.
type OfUnit = (f64, [(f64, f64); 2]);

/// Shares of the intervals that contain the expected agreement on a unit of [`planted`] rows, over units and data sets: with resamples, and with
/// the bound.
#[test]
fn intervals_of_units_cover_the_expected_agreement() {
    if !in_all("intervals of units") {
        return;
    }
    let (repeats, settings) = (40, json!({"n_components": 3, "max_iter": 100}));
    // For each data set, of every unit.
    let mut found: Vec<Vec<OfUnit>> = Vec::new();
    for seed in 0..repeats {
        let (x, units) = planted(300 + seed);
        let mut rows: AnyRows<'_> = Rows::from_slice(x.as_slice(), x.cols()).unwrap().into();
        let run = Run { seed, ..made::on_threads(1) };
        let model = unmix::fit("rfn", settings.as_object().unwrap(), &mut rows, &run).unwrap();
        let of = |bootstrap: Option<usize>| {
            stability(&model, &rows, Trials { splits: DEFAULT_SPLITS, restarts: 0, bootstrap }, &run).unwrap()
        };
        let (resampled, bound) = (of(None), of(Some(0)));
        assert_eq!(
            (resampled.bootstrap, bound.bootstrap),
            (20, 0),
            "resamples are the default for units too"
        );
        let components = model.tensor("components").unwrap().to_matrix();
        let order = match_units(&units, &components).order;
        let unit = |j: &usize| (resampled.halves[*j], [resampled.interval[*j], bound.interval[*j]]);
        found.push(order.iter().map(unit).collect());
    }
    let shares = [0, 1].map(|which| {
        let covered = (0..3).map(|u| {
            let truth = found.iter().map(|set| set[u].0).sum::<f64>() / repeats as f64;
            let contains = |(low, high): (f64, f64)| low <= truth && truth <= high;
            found.iter().filter(|set| contains(set[u].1[which])).count()
        });
        covered.sum::<usize>() as f64 / (3 * repeats) as f64
    });
    println!(
        "intervals of units: {shares:?} of them contain the expected agreement, by resamples and by the bound"
    );
    // Three standard errors of as many data sets: units of one are not independent.
    assert!(shares[0] >= 0.95 - 3.0 * (0.95 * 0.05 / repeats as f64).sqrt(), "{shares:?}");
    assert!(shares[0] > shares[1], "the bound is from simulations of axes and sources: {shares:?}");
}

/// Pairs of similar variances, one of twenty decreasing variances, and independent sources; only where `UNMIX_TESTS` is "all".
fn in_many_cases(splits: usize, bootstrap: usize) {
    if !in_all("intervals in many cases") {
        return;
    }
    // Resamples take five times as long.
    let share = |n: u64| if bootstrap > 0 { n / 4 } else { n / 2 };
    for law in [Distribution::Gaussian, Distribution::Laplace, Distribution::Uniform] {
        for gap in [3.0, 7.0, 12.0] {
            covers_with(&Case::pair(law, 300, gap), (splits, bootstrap), share(100), (0.75, 1.0));
        }
        if bootstrap == 0 {
            covers_with(&Case::ladder(law, 400, 20, 6.0, 10), (splits, bootstrap), share(50), (0.6, 1.0));
        }
    }
    for (law, n) in
        [(Distribution::Laplace, 150), (Distribution::Uniform, 60), (Distribution::Exponential, 100)]
    {
        covers_with(&Case::sources(law, n, 2), (splits, bootstrap), share(100), (0.75, 1.0));
    }
}

#[test]
fn intervals_of_few_splits_cover_the_expected_agreement_in_many_cases() {
    in_many_cases(5, 0);
}

#[test]
fn intervals_of_the_default_splits_cover_the_expected_agreement_in_many_cases() {
    in_many_cases(DEFAULT_SPLITS, 0);
}

#[test]
fn intervals_by_resamples_cover_the_expected_agreement_in_many_cases() {
    in_many_cases(DEFAULT_SPLITS, 20);
}

#[test]
fn agreements_next_to_the_threshold_are_undecided_and_few_splits_decide_nothing() {
    // Halves agree by about 0.97, and the true agreement may still be 0.9.
    let case = Case::pair(Distribution::Gaussian, 400, 9.0);
    let x = drawn(case.n, case.law, &case.variances, 1);
    let near = found("pca", &x, DEFAULT_SPLITS, 1);
    assert!(near.halves[2] > MIN_AGREEMENT, "{:?}", near.halves);
    assert_eq!(near.in_words(2), "undecided: the interval crosses 0.9", "{:?}", near.interval);
    assert_eq!((near.in_words(0), near.splits), ("resolved".into(), DEFAULT_SPLITS));
    // A single split gives no spread, hence the interval from 0 to 1; with two splits it is so uncertain that intervals are wide.
    let one = found("pca", &x, 1, 1);
    assert!(one.interval.iter().all(|interval| *interval == (0.0, 1.0)));
    assert!(one.verdicts.iter().all(|v| matches!(v, Verdict::Undecided(_))), "{:?}", one.verdicts);
    let width = |splits| {
        let found = found("pca", &x, splits, 1);
        found.interval[2].1 - found.interval[2].0
    };
    assert!(width(2) > width(5) && width(5) > width(DEFAULT_SPLITS));
    assert_eq!(
        Trials::default().splits,
        DEFAULT_SPLITS,
        "the default number of splits must suffice for the interval"
    );
}

#[test]
fn columns_of_one_variance_are_rarely_resolved() {
    let (repeats, mut resolved, mut separated) = (repetitions(100, 500), 0, 0);
    for seed in 0..repeats {
        let x = drawn(300, Distribution::Gaussian, &[1.0, 1.0, 0.1], 9_000 + seed);
        let found = found("pca", &x, DEFAULT_SPLITS, seed);
        assert_eq!(found.verdicts[2], Verdict::Resolved);
        separated += u64::from(found.verdicts[0] != Verdict::Group(vec![1]));
        resolved += u64::from(found.verdicts[..2].contains(&Verdict::Resolved));
    }
    println!("{separated} ties of {repeats} separated, {resolved} resolved");
    // The number expected at rate `SIGNIFICANCE_LEVEL` plus three standard errors; a component must also agree between halves to be resolved.
    let mean = repeats as f64 * SIGNIFICANCE_LEVEL;
    assert!((separated as f64) <= mean + 3.0 * mean.sqrt(), "{separated} of {repeats}");
    assert!(resolved <= repeats / 100, "{resolved} of {repeats}");
}
