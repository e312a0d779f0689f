//! Line search (Nocedal & Wright 2006, algorithms 3.5 and 3.6).
//!
//! Near a minimum a step changes the function by less than its rounding errors, long before the gradient reaches its own: for a
//! function near 800, whose gradient is accurate to 1e-12, steps of 1e-6 and less do not change the computed value. There, values
//! within rounding errors of the initial one count as equal, and slopes alone decide (the approximate Wolfe conditions of Hager &
//! Zhang 2005, SIAM J. Optim. 16:170).

use super::{Objective, Point, dot};
use crate::error::Result;

/// Constants of the Wolfe conditions: minimum fraction of the decrease predicted by the slope, and maximum fraction of the slope at
/// the new point.
const LEAST_DECREASE_SHARE: f64 = 1e-4;
const LARGEST_SLOPE_SHARE: f64 = 0.9;

/// A predicted decrease below this fraction of the value, or this number of rounding errors, is not measurable: then any decrease
/// is accepted.
const LEAST_MEASURABLE_SHARE: f64 = 1e-8;
const LEAST_MEASURABLE_ROUNDINGS: f64 = 1e3;

/// Maximum number of trial steps along one direction.
const MOST_TRIALS: u32 = 25;

/// Value and slope of the function along the line.
#[derive(Clone, Copy)]
struct Trial {
    t: f64,
    value: f64,
    slope: f64,
}

/// A point along `direction` that satisfies both Wolfe conditions; if none is found, the one of lowest value; `None` if no value is
/// below that of `from`.
pub(super) fn line_search(
    objective: &mut impl Objective,
    from: &Point,
    direction: &[f64],
    first: f64,
) -> Result<Option<Point>> {
    let start = Trial { t: 0.0, value: from.value, slope: dot(direction, &from.gradient) };
    let rounding = objective.rounding(from.value);
    // The minimum is between these two; `low` has the lower value, and its gradient is kept.
    let (mut low, mut high, mut kept) = (start, None, None);
    let mut t = first;
    for _ in 0..MOST_TRIALS {
        let x = from.x.iter().zip(direction).map(|(x, d)| x + t * d).collect();
        let mut place = Point { x, value: 0.0, gradient: vec![0.0; direction.len()] };
        place.value = objective.at(&place.x, &mut place.gradient)?;
        let slope = dot(direction, &place.gradient);
        let flat = (place.value - start.value).abs() <= rounding
            && slope.is_finite()
            && start.is_within_rounding(t, rounding);
        if flat {
            place.value = place.value.min(start.value);
        }
        let trial = Trial { t, value: place.value, slope };
        if !flat && (!trial.lowers(&start, rounding) || (kept.is_some() && trial.value >= low.value)) {
            high = Some(trial);
        } else {
            if trial.slope.abs() <= LARGEST_SLOPE_SHARE * start.slope.abs() {
                return Ok(Some(place));
            }
            let beyond = high.map_or(trial.slope > 0.0, |h: Trial| trial.slope * (h.t - low.t) > 0.0);
            let before = low;
            if beyond {
                high = Some(low);
            }
            (low, kept) = (trial, Some(place));
            if high.is_none() {
                // The function still decreases: extrapolate, by a factor between 1.5 and 10.
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
    /// Whether the decrease predicted by the slope for a step `t` is below the rounding errors of the values.
    fn is_within_rounding(&self, t: f64, rounding: f64) -> bool {
        -t * self.slope
            <= (LEAST_MEASURABLE_SHARE * self.value.abs()).max(LEAST_MEASURABLE_ROUNDINGS * rounding)
    }

    /// Whether its value satisfies the condition of sufficient decrease relative to `start`.
    fn lowers(&self, start: &Self, rounding: f64) -> bool {
        let within_rounding = start.is_within_rounding(self.t, rounding) && self.value <= start.value;
        // NaN does not satisfy it.
        (self.value <= start.value + LEAST_DECREASE_SHARE * self.t * start.slope || within_rounding)
            && self.slope.is_finite()
    }
}

/// A point between two trials, not too close to either: the minimum of the interpolating cubic, if it exists.
fn between(low: Trial, high: Trial) -> f64 {
    let width = high.t - low.t;
    if !(high.value.is_finite() && high.slope.is_finite()) {
        return low.t + 0.1 * width;
    }
    let share = minimum_of_cubic(low, high).map_or(0.5, |t| (t - low.t) / width);
    low.t + width * share.clamp(0.1, 0.9)
}

/// The minimum of the cubic with these values and slopes, if it exists (Nocedal & Wright, equation 3.59).
fn minimum_of_cubic(a: Trial, b: Trial) -> Option<f64> {
    let d1 = a.slope + b.slope - 3.0 * (a.value - b.value) / (a.t - b.t);
    let d2 = (b.t - a.t).signum() * (d1 * d1 - a.slope * b.slope).sqrt();
    let t = b.t - (b.t - a.t) * (b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2);
    t.is_finite().then_some(t)
}
