//! Initial layers: random weights, a denoising autoencoder, a rectified factor network.

use super::data::{PIXELS, Parts};
use serde_json::{Value, json};
use unmix::shallow::ClassifierWeights;
use unmix::{AnyRows, Model, Result, Rows, Run};

/// How a layer is initialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arm {
    Random,
    Dae,
    Rfn,
}

pub(super) const ARMS: [Arm; 3] = [Arm::Random, Arm::Dae, Arm::Rfn];

impl Arm {
    pub(super) fn name(self) -> &'static str {
        match self {
            Arm::Random => "random",
            Arm::Dae => "DAE",
            Arm::Rfn => "RFN",
        }
    }

    /// Number of epochs of the denoising autoencoder, of iterations of the rectified factor network.
    pub(super) fn n_iter(self, quick: bool) -> u64 {
        match (self, quick) {
            (Arm::Random, _) => 0,
            (Arm::Dae, true) => 5,
            (Arm::Dae, false) | (Arm::Rfn, true) => 30,
            (Arm::Rfn, false) => 100,
        }
    }

    /// Method and settings, for layers that are learned.
    fn method(self, units: usize, quick: bool) -> Option<(&'static str, Value)> {
        match self {
            Arm::Random => None,
            Arm::Dae => Some((
                "dae",
                json!({"n_components": units, "corruption": 0.25, "standardize": false, "max_epochs": self.n_iter(quick)}),
            )),
            Arm::Rfn => Some((
                "rfn",
                json!({
                    "n_components": units, "center": false, "psi_min_unit": "mean", "learning_rate": 0.1,
                    "max_iter": self.n_iter(quick),
                }),
            )),
        }
    }

    /// The initial network for the training part of `set`. All layers are scaled to codes of the mean squared length of random ones, so that
    /// learning rates mean the same: a positive factor of weights and biases multiplies the codes and changes nothing else.
    ///
    /// # Errors
    ///
    /// Errors of the fit.
    pub(super) fn layer(
        self,
        set: &Parts,
        units: usize,
        quick: bool,
        run: &Run<'_>,
    ) -> Result<ClassifierWeights<f32>> {
        let (train, classes) = (&set.parts[0], set.spec.classes);
        let random = ClassifierWeights::at_random(units, PIXELS, classes, run.seed);
        let Some((key, settings)) = self.method(units, quick) else { return Ok(random) };
        let Value::Object(settings) = settings else { return Ok(random) };
        let mut rows = AnyRows::F32(Rows::from_slice(&train.x, PIXELS)?);
        let model = unmix::fit(key, &settings, &mut rows, run)?;
        let mut network = network(&model, classes);
        let (own, wanted) = (network.mean_squared_code(&train.x), random.mean_squared_code(&train.x));
        if own > 0.0 {
            network.scale_units((wanted / own).sqrt());
        }
        Ok(network)
    }
}

/// The encoder of a model as a layer: `W (x - mean) + b = W x + (b - W mean)`.
fn network(model: &Model, classes: usize) -> ClassifierWeights<f32> {
    let numbers = |name: &str| model.tensor(name).map(|tensor| tensor.f64s()).unwrap_or_default();
    let (weight, mut bias, mean) = (numbers("encoder_weight"), numbers("encoder_bias"), numbers("mean"));
    for (b, row) in bias.iter_mut().zip(weight.chunks_exact(PIXELS)) {
        *b -= row.iter().zip(&mean).map(|(w, m)| w * m).sum::<f64>();
    }
    ClassifierWeights::of(&weight, &bias, classes)
}

#[cfg(test)]
mod tests {
    use super::super::data::SETS;
    use super::*;
    use crate::Options;

    #[test]
    fn learned_layers_are_encoders_times_one_number() {
        let options = Options {
            quick: true,
            pictures: None,
            activations: None,
            tables: None,
            instances: None,
            output: "unused".into(),
        };
        let set = Parts::new(SETS[1], [60, 10, 10], &options, &Run::default()).unwrap().unwrap();
        let x = &set.parts[0].x;
        let random = Arm::Random.layer(&set, 8, true, &Run::default()).unwrap();
        for arm in [Arm::Dae, Arm::Rfn] {
            let layer = arm.layer(&set, 8, true, &Run::default()).unwrap();
            assert_eq!((layer.n_units(), layer.n_classes()), (8, 2));
            let (own, wanted) = (layer.mean_squared_code(x), random.mean_squared_code(x));
            assert!((own / wanted - 1.0).abs() < 1e-3, "{arm:?}: {own} {wanted}");
        }
    }
}
