//! Limited-memory BFGS: a minimum of a smooth function of many numbers, from its values and gradients.
//!
//! ```text
//! d = -H g                 H by two loops over the last pairs s = Δx, y = Δg (Nocedal 1980)
//! x <- x + t d             f(x + t d) <= f + 1e-4 t g'd,   |g(x + t d)'d| <= 0.9 |g'd|      (Wolfe 1969, strong)
//! ```
//!
//! Nothing depends on the units of the function or of its argument: multiply either by a power of two and the steps are the same
//! ones. No step raises the function. Where no step along `d` lowers it, what the pairs say is forgotten and the search goes on
//! downhill; where that does not lower it either, the search has stalled at the rounding errors of the function.
//!
//! `O(memory n)` beside the function, and `2 memory n` numbers.
//!
//! J. Nocedal (1980), Math. Comp. 35:773. D. Liu & J. Nocedal (1989), Math. Program. 45:503. Line search: J. Nocedal & S. Wright
//! (2006), Numerical Optimization, algorithms 3.5 and 3.6.

use super::widest;
use crate::error::Result;
use std::collections::VecDeque;

/// A function to minimise, and what is to happen on the way.
pub trait Objective {
    /// Its value at `x`, and its gradient there over `gradient`. A value that is not finite means that `x` is too far away.
    fn at(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64>;

    /// What is compared with `tol`: the largest entry of the gradient, unless said otherwise.
    fn residual(&self, gradient: &[f64]) -> f64 {
        gradient.iter().fold(0.0, |m, g| m.max(g.abs()))
    }

    /// Hears that an iteration ended; `false` ends the search.
    fn iterated(&mut self, n_iter: u64, residual: f64, value: f64) -> Result<bool> {
        let _ = (n_iter, residual, value);
        Ok(true)
    }

    /// Factors for the entries of `x` that change neither the function nor, up to a renaming, its gradient; asked for after every
    /// iteration. What the search remembers is scaled along.
    fn rescaled(&mut self, n_iter: u64, x: &[f64]) -> Option<Vec<f64>> {
        let _ = (n_iter, x);
        None
    }
}

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lbfgs {
    /// Pairs that are remembered.
    pub memory: usize,
    /// Iterations at most.
    pub max_iter: u64,
    /// The residual that ends the search.
    pub tol: f64,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The residual is at most `tol`.
    Converged,
    /// `max_iter` iterations were taken.
    MaxIter,
    /// The function asked for it.
    Asked,
    /// No step lowers the function: its rounding errors are larger than what is left to gain.
    Stalled,
}

/// Where a search ended.
#[derive(Clone, Debug)]
pub struct Minimum {
    /// The place.
    pub x: Vec<f64>,
    /// The function there.
    pub value: f64,
    /// What was compared with `tol`.
    pub residual: f64,
    /// Why it ended.
    pub ended: Ended,
    /// Iterations.
    pub n_iter: u64,
    /// The function at the start and after each iteration; never rises.
    pub objective: Vec<f64>,
}

/// The share of the decrease that the slope promises which a step must achieve, and the share of the slope that it may leave.
const DECREASE: f64 = 1e-4;
const SLOPE: f64 = 0.9;

/// A promised decrease below this share of the value drowns in its rounding errors: then any decrease will do.
const DROWNED: f64 = 1e-8;

/// So many iterations that lower the function by no more than this share of it are the last ones.
const IDLE: (usize, f64) = (30, 1e-14);

/// Trials along one direction.
const TRIALS: u32 = 25;

/// The first step ever takes the argument so far, as a share of its length.
const FIRST: f64 = 0.1;

impl Lbfgs {
    /// Searches from `x` on.
    ///
    /// # Errors
    ///
    /// Those of the function.
    pub fn minimise(&self, of: &mut impl Objective, x: Vec<f64>) -> Result<Minimum> {
        let mut gradient = vec![0.0; x.len()];
        let value = of.at(&x, &mut gradient)?;
        let mut here = Place { x, value, gradient };
        let mut pairs = Pairs::new(self.memory);
        let (mut n_iter, mut objective, mut drop) = (0, vec![value], None);
        let ended = loop {
            let residual = of.residual(&here.gradient);
            if residual <= self.tol {
                break Ended::Converged;
            }
            if !here.value.is_finite() {
                break Ended::Stalled;
            }
            if n_iter == self.max_iter {
                break Ended::MaxIter;
            }
            let direction = pairs.downhill(&here.gradient);
            let first = if pairs.is_empty() { here.first_step(&direction, drop) } else { 1.0 };
            let Some(next) = line_search(of, &here, &direction, first)? else {
                if pairs.is_empty() {
                    break Ended::Stalled;
                }
                pairs.forget();
                continue;
            };
            drop = Some(here.value - next.value);
            pairs.add(&here, &next);
            (here, n_iter) = (next, n_iter + 1);
            objective.push(here.value);
            let before = objective.len().checked_sub(IDLE.0 + 1).map(|i| objective[i]);
            if before.is_some_and(|b| b - here.value <= IDLE.1 * here.value.abs()) {
                break match of.residual(&here.gradient) <= self.tol {
                    true => Ended::Converged,
                    false => Ended::Stalled,
                };
            }
            if let Some(factors) = of.rescaled(n_iter, &here.x) {
                here.rescale(&factors);
                pairs.rescale(&factors);
            }
            if !of.iterated(n_iter, of.residual(&here.gradient), here.value)? {
                break Ended::Asked;
            }
        };
        let residual = of.residual(&here.gradient);
        Ok(Minimum { residual, x: here.x, value: here.value, ended, n_iter, objective })
    }
}

/// A place, and the function there.
struct Place {
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

impl Place {
    /// The first trial where nothing is known of curvature: as far as would repeat the last decrease, within reason.
    fn first_step(&self, direction: &[f64], drop: Option<f64>) -> f64 {
        let (size, steep) = (dot(&self.x, &self.x).sqrt(), dot(direction, direction).sqrt());
        let far = if size > 0.0 { FIRST * size / steep } else { 1.0 / steep };
        match drop.filter(|d| *d > 0.0) {
            Some(drop) => (2.02 * drop / (steep * steep)).min(far),
            None => far,
        }
    }

    fn rescale(&mut self, factors: &[f64]) {
        self.x.iter_mut().zip(factors).for_each(|(x, f)| *x *= f);
        self.gradient.iter_mut().zip(factors).for_each(|(g, f)| *g /= f);
    }
}

/// The last pairs of differences, newest last.
struct Pairs {
    most: usize,
    kept: VecDeque<Pair>,
}

struct Pair {
    /// Of places.
    s: Vec<f64>,
    /// Of gradients.
    y: Vec<f64>,
    /// `1 / s'y`.
    rho: f64,
}

impl Pairs {
    fn new(most: usize) -> Self {
        Self { most, kept: VecDeque::new() }
    }

    fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    fn forget(&mut self) {
        self.kept.clear();
    }

    /// Remembers a step, unless it met no curvature.
    fn add(&mut self, from: &Place, to: &Place) {
        let (mut s, mut y) = match self.kept.len() == self.most {
            true => self.kept.pop_front().map_or((Vec::new(), Vec::new()), |old| (old.s, old.y)),
            false => (Vec::new(), Vec::new()),
        };
        difference(&to.x, &from.x, &mut s);
        difference(&to.gradient, &from.gradient, &mut y);
        let along = dot(&s, &y);
        if self.most > 0 && along > f64::EPSILON * (dot(&s, &s) * dot(&y, &y)).sqrt() {
            self.kept.push_back(Pair { s, y, rho: 1.0 / along });
        }
    }

    /// `-H g`, which points downhill; straight down where nothing is remembered, or where rounding turned it up.
    fn downhill(&mut self, gradient: &[f64]) -> Vec<f64> {
        let mut d: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut shares = vec![0.0; self.kept.len()];
        for (share, pair) in shares.iter_mut().zip(&self.kept).rev() {
            *share = pair.rho * dot(&pair.s, &d);
            add(&mut d, -*share, &pair.y);
        }
        if let Some(last) = self.kept.back() {
            let size = 1.0 / (last.rho * dot(&last.y, &last.y));
            d.iter_mut().for_each(|x| *x *= size);
        }
        for (share, pair) in shares.iter().zip(&self.kept) {
            let back = pair.rho * dot(&pair.y, &d);
            add(&mut d, share - back, &pair.s);
        }
        if dot(&d, gradient) < 0.0 {
            return d;
        }
        self.forget();
        gradient.iter().map(|g| -g).collect()
    }

    fn rescale(&mut self, factors: &[f64]) {
        for pair in &mut self.kept {
            pair.s.iter_mut().zip(factors).for_each(|(s, f)| *s *= f);
            pair.y.iter_mut().zip(factors).for_each(|(y, f)| *y /= f);
        }
    }
}

/// The function along a line.
#[derive(Clone, Copy)]
struct Trial {
    t: f64,
    value: f64,
    slope: f64,
}

/// A place along `direction` that satisfies both conditions of Wolfe; the lowest one met where none was found that does; `None`
/// where none is lower than `from`.
fn line_search(
    of: &mut impl Objective,
    from: &Place,
    direction: &[f64],
    first: f64,
) -> Result<Option<Place>> {
    let start = Trial { t: 0.0, value: from.value, slope: dot(direction, &from.gradient) };
    // The minimum lies between these two; `low` is the lower one, and has the gradient kept.
    let (mut low, mut high, mut kept) = (start, None, None);
    let mut t = first;
    for _ in 0..TRIALS {
        let x = from.x.iter().zip(direction).map(|(x, d)| x + t * d).collect();
        let mut place = Place { x, value: 0.0, gradient: vec![0.0; direction.len()] };
        place.value = of.at(&place.x, &mut place.gradient)?;
        let trial = Trial { t, value: place.value, slope: dot(direction, &place.gradient) };
        if !trial.lowers(&start) || (kept.is_some() && trial.value >= low.value) {
            high = Some(trial);
        } else {
            if trial.slope.abs() <= SLOPE * start.slope.abs() {
                return Ok(Some(place));
            }
            let beyond = high.map_or(trial.slope > 0.0, |h: Trial| trial.slope * (h.t - low.t) > 0.0);
            let before = low;
            if beyond {
                high = Some(low);
            }
            (low, kept) = (trial, Some(place));
            if high.is_none() {
                // Still downhill: on, by at least half as much again, at most ten times as far.
                let guess = minimum_of_cubic(before, trial).filter(|g| *g > t).unwrap_or(10.0 * t);
                t = guess.clamp(1.5 * t, 10.0 * t);
                continue;
            }
        }
        let Some(other) = high else { continue };
        t = between(low, other);
        if t == low.t || t == other.t {
            break;
        }
    }
    Ok(kept)
}

impl Trial {
    /// Whether it is lower than `start` by as much as the slope there promises.
    fn lowers(&self, start: &Self) -> bool {
        let promised = -self.t * start.slope;
        let drowned = promised <= DROWNED * start.value.abs() && self.value <= start.value;
        // Not a number is not lower.
        (self.value <= start.value - DECREASE * promised || drowned) && self.slope.is_finite()
    }
}

/// A place between two trials, not too near either: that of the least value of the cubic through them, where there is one.
fn between(low: Trial, high: Trial) -> f64 {
    let width = high.t - low.t;
    if !(high.value.is_finite() && high.slope.is_finite()) {
        return low.t + 0.1 * width;
    }
    let share = minimum_of_cubic(low, high).map_or(0.5, |t| (t - low.t) / width);
    low.t + width * share.clamp(0.1, 0.9)
}

/// Where the cubic with these values and slopes is least, if it is anywhere (Nocedal & Wright, equation 3.59).
fn minimum_of_cubic(a: Trial, b: Trial) -> Option<f64> {
    let d1 = a.slope + b.slope - 3.0 * (a.value - b.value) / (a.t - b.t);
    let d2 = (b.t - a.t).signum() * (d1 * d1 - a.slope * b.slope).sqrt();
    let t = b.t - (b.t - a.t) * (b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2);
    t.is_finite().then_some(t)
}

/// `Σ a b`, in lanes, so that whole vectors can be used without changing the order of the sum.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 16;
    widest(
        #[inline(always)]
        || {
            let mut sums = [0.0; LANES];
            let (wide_a, rest_a) = a.as_chunks::<LANES>();
            let (wide_b, rest_b) = b.as_chunks::<LANES>();
            for (a, b) in wide_a.iter().zip(wide_b) {
                for i in 0..LANES {
                    sums[i] += a[i] * b[i];
                }
            }
            sums.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum::<f64>()
        },
    )
}

/// `to += factor of`.
fn add(to: &mut [f64], factor: f64, of: &[f64]) {
    widest(
        #[inline(always)]
        || to.iter_mut().zip(of).for_each(|(t, x)| *t += factor * x),
    );
}

fn difference(a: &[f64], b: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.extend(a.iter().zip(b).map(|(a, b)| a - b));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function of a few numbers, with the gradient beside it; counts how often it was asked.
    struct Plain<F> {
        f: F,
        asked: u64,
        /// Factors given once, after so many iterations.
        rescale: Option<(u64, Vec<f64>)>,
    }

    impl<F: FnMut(&[f64], &mut [f64]) -> f64> Objective for Plain<F> {
        fn at(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
            self.asked += 1;
            Ok((self.f)(x, gradient))
        }
        fn rescaled(&mut self, n_iter: u64, _: &[f64]) -> Option<Vec<f64>> {
            self.rescale.clone().filter(|(at, _)| *at == n_iter).map(|(_, factors)| factors)
        }
    }

    fn plain<F: FnMut(&[f64], &mut [f64]) -> f64>(f: F) -> Plain<F> {
        Plain { f, asked: 0, rescale: None }
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
    fn the_valley_of_rosenbrock_is_walked_to_its_end_and_never_up() {
        let mut f = plain(rosenbrock);
        let found = SEARCH.minimise(&mut f, vec![-1.2, 1.0, -1.2, 1.0, -1.2, 1.0]).unwrap();
        assert_eq!(found.ended, Ended::Converged);
        // One of the two minima of this function.
        let mut g = [0.0; 6];
        rosenbrock(&found.x, &mut g);
        assert!(g.iter().all(|g| g.abs() <= 1e-9) && found.n_iter < 100, "{found:?}");
        assert!(found.objective.windows(2).all(|v| v[1] <= v[0]), "{:?}", found.objective);
        assert_eq!(found.objective.len() as u64, found.n_iter + 1);
        assert!(f.asked < 2 * found.n_iter, "{} evaluations in {} iterations", f.asked, found.n_iter);
    }

    #[test]
    fn a_quadratic_of_condition_ten_thousand_has_its_minimum_found() {
        let n = 40;
        let curvature = |i: usize| 10f64.powf(4.0 * i as f64 / (n - 1) as f64);
        let mut f = plain(|x: &[f64], g: &mut [f64]| {
            (0..n).for_each(|i| g[i] = curvature(i) * (x[i] - 1.0));
            (0..n).map(|i| 0.5 * curvature(i) * (x[i] - 1.0).powi(2)).sum()
        });
        let found = Lbfgs { tol: 1e-10, max_iter: 3000, ..SEARCH }.minimise(&mut f, vec![0.0; n]).unwrap();
        assert_eq!(found.ended, Ended::Converged, "{found:?}");
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
            search.minimise(&mut f, start.iter().map(|x| x * unit_x).collect()).unwrap().x
        };
        let plain = run(1.0, 1.0);
        for (unit_f, unit_x) in [(2f64.powi(40), 1.0), (1.0, 2f64.powi(-30)), (2f64.powi(-60), 2f64.powi(20))]
        {
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
        let found = Lbfgs { tol: 0.0, ..SEARCH }.minimise(&mut f, vec![-1.2, 1.0]).unwrap();
        assert_eq!(found.ended, Ended::Stalled);
        assert!(found.objective.windows(2).all(|v| v[1] <= v[0]));
        assert!(found.x.iter().all(|x| (x - 1.0).abs() < 1e-3) && found.n_iter < 200, "{found:?}");
    }

    #[test]
    fn limits_are_kept_and_what_is_too_far_away_is_not_entered() {
        let f = || {
            plain(|x: &[f64], g: &mut [f64]| {
                // Defined for x > 0; its minimum is at 1e-3.
                g[0] = 1.0 - 1e-3 / x[0];
                if x[0] > 0.0 { x[0] - 1e-3 * x[0].ln() } else { f64::NAN }
            })
        };
        let found = SEARCH.minimise(&mut f(), vec![5.0]).unwrap();
        assert_eq!(found.ended, Ended::Converged);
        assert!((found.x[0] - 1e-3).abs() < 1e-9, "{found:?}");
        let cut = Lbfgs { max_iter: 3, ..SEARCH }.minimise(&mut f(), vec![5.0]).unwrap();
        assert_eq!((cut.ended, cut.n_iter), (Ended::MaxIter, 3));
        let there = SEARCH.minimise(&mut f(), vec![1e-3]).unwrap();
        assert_eq!((there.ended, there.n_iter), (Ended::Converged, 0));
    }

    #[test]
    fn a_change_of_scale_on_the_way_does_not_disturb_it() {
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
        let found = SEARCH.minimise(&mut f, vec![1.0, 1.0, 0.5]).unwrap();
        assert_eq!(found.ended, Ended::Converged);
        assert!((found.value - 1.0).abs() < 1e-12 && found.x[2].abs() > 4.0, "{found:?}");
        assert!(found.objective.windows(2).all(|v| v[1] <= v[0]), "{:?}", found.objective);
    }
}
