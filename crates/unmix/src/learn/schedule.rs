//! Learning rate schedules.

use serde::{Deserialize, Serialize};

/// The learning rate of every step, as a fraction of the initial one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub(crate) enum Schedule {
    /// Constant.
    #[default]
    Constant,
    /// Decreases linearly from 1 at the first step to 0 after the last.
    Linear,
    /// Increases linearly to 1 at step `steps`, counted from 1, then decreases linearly to 0 after the last.
    WarmUp {
        /// Number of warm-up steps.
        steps: u64,
    },
    /// Increases linearly to 1 at step `rise`, counted from 1, stays there, and decreases linearly over the last `fall` steps to 0
    /// after the last.
    Plateau {
        /// Number of warm-up steps.
        rise: u64,
        /// Number of steps of the final decrease.
        fall: u64,
    },
}

impl Schedule {
    /// The fraction at step `step`, counted from 0, of `total` steps; positive for every step.
    pub(crate) fn share(self, step: u64, total: u64) -> f64 {
        match self {
            Schedule::Constant => 1.0,
            Schedule::Linear => 1.0 - step as f64 / total.max(1) as f64,
            Schedule::WarmUp { steps } if step < steps => (step + 1) as f64 / steps as f64,
            Schedule::Plateau { rise, fall } => {
                let risen = (step + 1) as f64 / rise.max(1) as f64;
                let left = total.saturating_sub(step) as f64 / fall.max(1) as f64;
                risen.min(left).min(1.0)
            }
            Schedule::WarmUp { steps } => {
                1.0 - (step - steps) as f64 / total.saturating_sub(steps).max(1) as f64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_positive_and_end_near_0() {
        let total = 1000;
        for schedule in [Schedule::Linear, Schedule::WarmUp { steps: 100 }, Schedule::WarmUp { steps: 0 }] {
            let shares: Vec<f64> = (0..total).map(|step| schedule.share(step, total)).collect();
            assert!(shares.iter().all(|s| *s > 0.0 && *s <= 1.0), "{schedule:?}");
            assert!(shares[999] < 0.0012 && schedule.share(total, total) == 0.0, "{schedule:?}");
            let peak = shares.iter().position(|s| *s == 1.0).unwrap();
            assert_eq!(peak, if schedule == (Schedule::WarmUp { steps: 100 }) { 99 } else { 0 });
            assert!(shares[..peak].is_sorted() && shares[peak..].is_sorted_by(|a, b| a >= b));
        }
        assert!((0..total).all(|step| Schedule::Constant.share(step, total) == 1.0));
        let plateau = Schedule::Plateau { rise: 50, fall: 200 };
        let shares: Vec<f64> = (0..total).map(|step| plateau.share(step, total)).collect();
        assert_eq!((shares[0], shares[48], shares[999]), (0.02, 0.98, 0.005));
        assert!(shares[49..=800].iter().all(|s| *s == 1.0) && shares[801] < 1.0);
    }

    #[test]
    fn a_warm_up_may_be_longer_than_the_training() {
        let schedule = Schedule::WarmUp { steps: 10 };
        assert_eq!((schedule.share(0, 4), schedule.share(3, 4)), (0.1, 0.4));
        assert_eq!(schedule.share(10, 4), 1.0);
    }
}
