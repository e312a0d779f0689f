//! Tests of `lbfgs`.

use super::*;

/// A function of a few numbers and its gradient; counts its evaluations.
struct Plain<F> {
    f: F,
    n_evaluations: u64,
    /// Factors given once, after so many iterations.
    rescale: Option<(u64, Vec<f64>)>,
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Objective for Plain<F> {
    fn at(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.n_evaluations += 1;
        Ok((self.f)(x, gradient))
    }
    fn rescaled(&mut self, n_iter: u64, _: &[f64]) -> Option<Vec<f64>> {
        self.rescale.clone().filter(|(at, _)| *at == n_iter).map(|(_, factors)| factors)
    }
}

fn plain<F: FnMut(&[f64], &mut [f64]) -> f64>(f: F) -> Plain<F> {
    Plain { f, n_evaluations: 0, rescale: None }
}

fn rosenbrock(x: &[f64], g: &mut [f64]) -> f64 {
    g.fill(0.0);
    (0..x.len() - 1)
        .map(|i| {
            let (a, b) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
            g[i] += -2.0 * a - 400.0 * x[i] * b;
            g[i + 1] += 200.0 * b;
            a * a + 100.0 * b * b
        })
        .sum()
}

const SEARCH: Lbfgs = Lbfgs { memory: 20, max_iter: 1000, tol: 1e-9 };

#[test]
fn the_function_of_rosenbrock_is_minimised_without_an_increase() {
    let mut f = plain(rosenbrock);
    let found =
        SEARCH.minimise(&mut f, vec![-1.2, 1.0, -1.2, 1.0, -1.2, 1.0], "test", &Run::default()).unwrap();
    assert_eq!(found.outcome, Outcome::Converged);
    // One of the two minima of this function.
    let mut g = [0.0; 6];
    rosenbrock(&found.x, &mut g);
    assert!(g.iter().all(|g| g.abs() <= 1e-9) && found.n_iter < 100, "{found:?}");
    assert!(found.objective.windows(2).all(|v| v[1] <= v[0]), "{:?}", found.objective);
    assert_eq!(found.objective.len() as u64, found.n_iter + 1);
    assert!(
        f.n_evaluations < 2 * found.n_iter,
        "{} evaluations in {} iterations",
        f.n_evaluations,
        found.n_iter
    );
}

#[test]
fn a_quadratic_of_condition_ten_thousand_is_minimised() {
    let n = 40;
    let curvature = |i: usize| 10f64.powf(4.0 * i as f64 / (n - 1) as f64);
    let mut f = plain(|x: &[f64], g: &mut [f64]| {
        (0..n).for_each(|i| g[i] = curvature(i) * (x[i] - 1.0));
        (0..n).map(|i| 0.5 * curvature(i) * (x[i] - 1.0).powi(2)).sum()
    });
    let found = Lbfgs { tol: 1e-10, max_iter: 3000, ..SEARCH }
        .minimise(&mut f, vec![0.0; n], "test", &Run::default())
        .unwrap();
    assert_eq!(found.outcome, Outcome::Converged, "{found:?}");
    assert!(found.x.iter().all(|x| (x - 1.0).abs() < 1e-9), "{:?}", found.x);
}

#[test]
fn units_do_not_matter() {
    let start = [-1.2, 1.0, 0.3];
    let run = |unit_f: f64, unit_x: f64| {
        let mut f = plain(|x: &[f64], g: &mut [f64]| {
            let own: Vec<f64> = x.iter().map(|x| x / unit_x).collect();
            let value = rosenbrock(&own, g);
            g.iter_mut().for_each(|g| *g *= unit_f / unit_x);
            unit_f * value
        });
        let search = Lbfgs { max_iter: 25, tol: 0.0, ..SEARCH };
        search
            .minimise(&mut f, start.iter().map(|x| x * unit_x).collect(), "test", &Run::default())
            .unwrap()
            .x
    };
    let plain = run(1.0, 1.0);
    for (unit_f, unit_x) in [(2f64.powi(40), 1.0), (1.0, 2f64.powi(-30)), (2f64.powi(-60), 2f64.powi(20))] {
        let other: Vec<f64> = run(unit_f, unit_x).iter().map(|x| x / unit_x).collect();
        assert_eq!(plain, other, "{unit_f:e}, {unit_x:e}");
    }
}

#[test]
fn rounding_errors_end_the_search_and_do_not_raise_the_function() {
    // A function known to eight digits: its values step, its gradients do not.
    let mut f = plain(|x: &[f64], g: &mut [f64]| {
        let value = 1.0 + rosenbrock(x, g);
        g[0] += 1e-7;
        (value * 1e8).round() / 1e8
    });
    let found =
        Lbfgs { tol: 0.0, ..SEARCH }.minimise(&mut f, vec![-1.2, 1.0], "test", &Run::default()).unwrap();
    assert_eq!(found.outcome, Outcome::Stalled);
    assert!(found.objective.windows(2).all(|v| v[1] <= v[0]));
    assert!(found.x.iter().all(|x| (x - 1.0).abs() < 1e-3) && found.n_iter < 200, "{found:?}");
}

#[test]
fn a_gradient_falls_to_its_tolerance_below_the_rounding_errors_of_large_values() {
    // A value near 1e6 is accurate to 1e-10: steps below 1e-5 do not show in it, and gradients of 1e-9 take steps of 1e-11 and less.
    let mut f = plain(|x: &[f64], g: &mut [f64]| 1e6 + rosenbrock(x, g));
    let found = SEARCH.minimise(&mut f, vec![-1.2, 1.0, -1.2, 1.0], "test", &Run::default()).unwrap();
    assert_eq!(found.outcome, Outcome::Converged, "{found:?}");
    let mut g = [0.0; 4];
    rosenbrock(&found.x, &mut g);
    assert!(g.iter().all(|g| g.abs() <= 1e-9) && found.n_iter < 200, "{found:?}");
    assert!(found.objective.windows(2).all(|v| v[1] <= v[0]), "{:?}", found.objective);
}

#[test]
fn limits_are_kept_and_undefined_values_are_avoided() {
    let f = || {
        plain(|x: &[f64], g: &mut [f64]| {
            // Defined for x > 0; its minimum is at 1e-3.
            g[0] = 1.0 - 1e-3 / x[0];
            if x[0] > 0.0 { x[0] - 1e-3 * x[0].ln() } else { f64::NAN }
        })
    };
    let found = SEARCH.minimise(&mut f(), vec![5.0], "test", &Run::default()).unwrap();
    assert_eq!(found.outcome, Outcome::Converged);
    assert!((found.x[0] - 1e-3).abs() < 1e-9, "{found:?}");
    let cut = Lbfgs { max_iter: 3, ..SEARCH }.minimise(&mut f(), vec![5.0], "test", &Run::default()).unwrap();
    assert_eq!((cut.outcome, cut.n_iter), (Outcome::MaxIter, 3));
    let there = SEARCH.minimise(&mut f(), vec![1e-3], "test", &Run::default()).unwrap();
    assert_eq!((there.outcome, there.n_iter), (Outcome::Converged, 0));
}

#[test]
fn a_change_of_scale_between_iterations_is_allowed() {
    // A function of the angle alone: every multiple of x is as good.
    let angle = |x: &[f64], g: &mut [f64]| {
        let size = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let unit: Vec<f64> = x.iter().map(|x| x / size).collect();
        let weight = [3.0, 2.0, 1.0];
        let value: f64 = (0..3).map(|i| weight[i] * unit[i] * unit[i]).sum();
        (0..3).for_each(|i| g[i] = 2.0 * unit[i] * (weight[i] - value) / size);
        value
    };
    let mut f = plain(angle);
    f.rescale = Some((2, vec![8.0; 3]));
    let found = SEARCH.minimise(&mut f, vec![1.0, 1.0, 0.5], "test", &Run::default()).unwrap();
    assert_eq!(found.outcome, Outcome::Converged);
    assert!((found.value - 1.0).abs() < 1e-12 && found.x[2].abs() > 4.0, "{found:?}");
    assert!(found.objective.windows(2).all(|v| v[1] <= v[0]), "{:?}", found.objective);
}
