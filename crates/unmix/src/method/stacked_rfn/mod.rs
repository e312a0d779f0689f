//! Stacked rectified factor networks: layers of non-negative sparse codes, each fitted to the codes of the layer below.
//!
//! **Finds** hierarchical factors: the codes of a rectified factor network are the input of the next one.
//! **Model** `x = center_0 + W_0 h_0 + e_0`, `h_0 = center_1 + W_1 h_1 + e_1`, and so on, each layer a rectified factor network.
//! **Algorithm** (Clevert et al. 2015, section 4), greedy:
//!  1. layer 0 is fitted to the rows;
//!  2. layer `i` is fitted to the codes of layer `i - 1`, which is not changed.
//!
//! Codes of the layers below are computed in the pass over the rows, block by block: the codes of all rows are never stored. **Cost** that
//! of the layers, and in each pass of a layer an additional `O(n m l)` for every layer below it. **Equals** a rectified factor network if
//! there is one layer; each layer equals the network fitted to the codes below it, to the bit. **Fails** to improve lower layers by higher
//! ones: no error is propagated back.
//!
//! D.-A. Clevert, A. Mayr, T. Unterthiner & S. Hochreiter (2015), Rectified factor networks, NIPS.

mod lower_layers;
mod model;
mod settings;
mod start;

use super::rfn::EStep;
use super::{Accepts, Fit, Method, needs};
use crate::data::Rows;
use crate::error::{Error, Result, counted};
use crate::model::Model;
use crate::num::Real;
use crate::run::{Run, Start};
use lower_layers::LowerLayerCodes;
use serde_json::{Map, Value};
use settings::SETTINGS;
use start::LayerStart;

pub use model::{filters, layers};
pub use settings::{PerLayer, StackedRfn};

/// The registry entry.
pub(super) const METHOD: Method = Method {
    key: "stacked-rfn",
    class: "StackedRFN",
    summary: "layers of non-negative sparse codes, each fitted to the codes of the layer below",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: true, weights: true, stream: true, remote: false, missing: false },
    by_independence: true,
    of_signals: false,
    random_start: true,
    select_by_variances: false,
    to_compare: &[],
    equals: &[],
    references: &["Clevert, Mayr, Unterthiner & Hochreiter 2015"],
    spec: |given| Ok(Box::new(StackedRfn::from_settings(given)?)),
    code: model::code,
    density: None,
    memory: |_, p| {
        let l = 512u64;
        let layer = (p as u64).saturating_add(2 * l).saturating_mul(l * 8 * 24);
        vec![("plain", layer.saturating_add(needs::PROGRAM_BYTES))]
    },
};

impl StackedRfn {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that StackedRFN does not have, a value that the setting does not allow.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }

    /// Fits.
    ///
    /// A fitted stack given as a start is used layer by layer; the components of any other model are the start of the lowest layer.
    ///
    /// # Errors
    ///
    /// Settings for another number of layers, an E-step that is not that of a network, remote rows, a layer whose units are all 0 in every
    /// row or whose parameters do not fit in memory, and the errors of [`Rfn`](super::Rfn).
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        let n_layers = self.n_layers()?;
        self.check_layers(n_layers, rows.n_features(), rows.n_rows())?;
        let rows = &*rows;
        let mut layers: Vec<Model> = Vec::new();
        for i in 0..n_layers {
            if n_layers > 1 {
                run.stage(&format!("layer {i} ({} of {n_layers})", i + 1))?;
            }
            let (spec, start) = (self.layer(i), run.init.and_then(|init| LayerStart::of(init, i)));
            let own = of_layer(run, start.as_ref());
            let layer = match i {
                0 => spec.fit_within(rows, &own)?,
                _ => spec.fit_within(&LowerLayerCodes::new(rows, &layers)?.rows(rows)?, &own)?,
            };
            let dead = layer.tensor("code_scale").is_some_and(|d| d.f64s().iter().all(|d| *d == 0.0));
            if dead {
                return Err(Error::unsupported(
                    format!("layer {i} of {}", METHOD.key),
                    match layer.n_codes() {
                        1 => "its only unit is 0 in every row".into(),
                        l => format!("all of its {l} units are 0 in every row"),
                    },
                    "choose a larger prior_mean for that layer, or fewer layers",
                )
                .of_method(METHOD.key));
            }
            layers.push(layer);
        }
        Ok(self.model(rows, &layers, run)?.of_weighted_rows(rows.weighted_rows()))
    }

    fn n_layers(&self) -> Result<usize> {
        let n = self.n_components.len().unwrap_or(1);
        let other = self.lengths().into_iter().find(|(_, given)| *given != n);
        match other {
            Some((name, given)) => Err(Error::setting(
                name,
                format!("a list of {given}"),
                format!("must be one value, or one for each of {}", counted(n as u64, "layer")),
                "give as many values as n_components has",
            )),
            None => Ok(n),
        }
    }

    /// Checks before the first layer is fitted. Only the codes of `e_step='plain'` are outputs of a network layer.
    fn check_layers(&self, n_layers: usize, n_features: usize, n_rows: Option<u64>) -> Result<()> {
        let mut width = n_features;
        for i in 0..n_layers {
            let spec = self.layer(i);
            let mode = match spec.e_step {
                EStep::Plain => None,
                EStep::Cascade => Some("'cascade'"),
                EStep::Coordinate => Some("'coordinate'"),
            };
            if let Some(mode) = mode {
                let why = format!(
                    "must be 'plain' in every layer: the codes of layer {i} would be solutions of least squares problems, which no layer of a \
                     network computes"
                );
                return Err(Error::setting("e_step", mode, why, "choose e_step='plain'"));
            }
            spec.check_units(width, n_rows, &format!("layer {i} of {}", METHOD.key))?;
            width = spec.n_components;
        }
        Ok(())
    }
}

/// The run of a layer, with `start` as its initial values if there is one.
fn of_layer<'a>(run: &Run<'a>, start: Option<&'a LayerStart<'a>>) -> Run<'a> {
    Run { init: start.map(|start| start as &dyn Start), invocation: None, ..*run }
}

impl Fit for StackedRfn {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}
