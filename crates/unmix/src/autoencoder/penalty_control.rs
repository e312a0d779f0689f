//! Control of the weight of the penalty for a requested number of active units.

use serde::{Deserialize, Serialize};

/// Weight of the last batch in the running mean of the number of active units.
const NEW_BATCH_WEIGHT: f64 = 0.1;
/// Gain of the integral term: `alpha` follows the error and its change; with the integral term alone it oscillates.
const INTEGRAL_GAIN: f64 = 0.01;
const PROPORTIONAL_GAIN: f64 = 0.5;
/// Maximum change of `log alpha` in a step.
const LARGEST_LOG_ALPHA_STEP: f64 = 0.1;
/// Weight of the relative error of the number of active units of `Jumprelu`.
const JUMPRELU_ERROR_WEIGHT: f64 = 5.0;
/// Fraction of the steps over which the penalty increases to its weight.
pub(super) const WARM_UP: f64 = 0.05;
/// Fraction of the steps at the end in which `alpha` is constant.
const FROZEN_SHARE_OF_STEPS: f64 = 0.2;

/// Control of the weight of the penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PenaltyControl {
    /// Requested number of active units per row; with `None` the weight is constant.
    pub l0: Option<f64>,
    /// Whether the weight is the relative error itself, which may be negative: for `Jumprelu`.
    pub signed: bool,
    /// Number of steps of the training; `None` for a stream, whose length is unknown.
    pub steps: Option<u64>,
}

/// State of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PenaltyController {
    /// The weight, without warm-up.
    pub(super) alpha: f64,
    /// Running mean of the number of active units.
    pub(super) l0: Option<f64>,
    /// Its relative error at the last batch, as a logarithm.
    pub(super) error: f64,
}

impl PenaltyController {
    pub(super) fn new(alpha: f64) -> Self {
        Self { alpha, l0: None, error: 0.0 }
    }

    /// The weight at step `step`, counted from 1, whose batch has `now` active units per row.
    pub(super) fn weight(&mut self, how: &PenaltyControl, step: u64, now: f64) -> f64 {
        let mean = self.l0.map_or(now, |l0| (1.0 - NEW_BATCH_WEIGHT) * l0 + NEW_BATCH_WEIGHT * now);
        let first = self.l0.is_none();
        self.l0 = Some(mean);
        let at = step as f64;
        let within = |share: f64| how.steps.map(|steps| share * steps as f64);
        let share = within(WARM_UP).map_or(1.0, |warm| (at / warm.max(1.0)).min(1.0));
        let Some(wanted) = how.l0 else { return self.alpha * share };
        if how.signed {
            self.alpha = JUMPRELU_ERROR_WEIGHT * (mean / wanted - 1.0);
            return self.alpha;
        }
        let error = (mean.max(1e-3) / wanted).ln();
        let before = if first { error } else { self.error };
        let moves = within(WARM_UP).is_none_or(|warm| at > warm)
            && within(1.0 - FROZEN_SHARE_OF_STEPS).is_none_or(|frozen| at < frozen);
        if moves {
            let by = INTEGRAL_GAIN * error + PROPORTIONAL_GAIN * (error - before);
            self.alpha *= by.clamp(-LARGEST_LOG_ALPHA_STEP, LARGEST_LOG_ALPHA_STEP).exp();
        }
        self.error = error;
        self.alpha * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model in which the number of codes decreases as a power of the weight: the controller finds the weight.
    #[test]
    fn the_number_of_active_units_converges_to_its_target() {
        let how = PenaltyControl { l0: Some(8.0), signed: false, steps: Some(2000) };
        let mut controller = PenaltyController::new(0.1);
        let active = |alpha: f64| 100.0 * (-alpha).exp();
        let mut weight = 0.1;
        for step in 1..=2000 {
            weight = controller.weight(&how, step, active(weight));
        }
        assert!((active(weight) / 8.0 - 1.0).abs() < 0.02, "{}", active(weight));
        let before = controller.alpha;
        controller.weight(&how, 1900, 50.0);
        assert_eq!(controller.alpha, before, "frozen in the last fifth");
    }

    #[test]
    fn a_given_weight_is_constant_after_the_warm_up() {
        let how = PenaltyControl { l0: None, signed: false, steps: Some(100) };
        let mut controller = PenaltyController::new(2.0);
        let weights: Vec<f64> = (1..=100).map(|step| controller.weight(&how, step, 50.0)).collect();
        assert_eq!(weights[..5], [0.4, 0.8, 2.0 * 0.6, 1.6, 2.0]);
        assert!(weights[5..].iter().all(|w| *w == 2.0));
    }

    #[test]
    fn the_weight_of_thresholds_has_the_sign_of_the_error() {
        let how = PenaltyControl { l0: Some(10.0), signed: true, steps: Some(100) };
        assert_eq!(PenaltyController::new(0.0).weight(&how, 1, 20.0), 5.0);
        assert_eq!(PenaltyController::new(0.0).weight(&how, 1, 5.0), -2.5);
    }
}
