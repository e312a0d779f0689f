//! Contents of `cfg.json`, for the current SAELens and for versions before 6.

use super::super::Activation;
use crate::error::{Error, Result};
use serde_json::{Map, Value};
use std::path::Path;

/// The parts of a configuration that determine the codes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Config {
    pub(super) activation: Activation,
    /// For topk.
    pub(super) k: Option<usize>,
    /// Whether `b_dec` is subtracted from rows before the encoder.
    pub(super) centred: bool,
    /// Whether pre-activations are multiplied, and decoded codes divided, by the norms of the atoms.
    pub(super) rescaled: bool,
    pub(super) sizes: (Option<usize>, Option<usize>),
    pub(super) metadata: Map<String, Value>,
}

/// Architectures that a model can have.
const ARCHITECTURES: [&str; 4] = ["standard", "topk", "jumprelu", "gated"];

impl Config {
    /// From the text of the file `path`.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self> {
        let raw: Map<String, Value> = serde_json::from_str(text)
            .map_err(|e| Error::format(path, format!("it is not JSON ({e})"), "restore the file"))?;
        let refused = |key: &str, found: String, works: &str| {
            Error::format(path, format!("its {key} is {found}"), format!("give a model with {works}"))
        };
        for (key, value) in [("normalize_activations", "none"), ("reshape_activations", "none")] {
            // Versions before 4 had a boolean, or no entry.
            match raw.get(key) {
                None | Some(Value::Null | Value::Bool(false)) => {}
                Some(found) if found == value => {}
                Some(found) => {
                    return Err(refused(
                        key,
                        found.to_string(),
                        "'none', for example after folding the normalisation into its weights",
                    ));
                }
            }
        }
        let hook = word(&raw, &["hook_name", "hook_point"]).unwrap_or_default();
        if raw.get("reshape_activations").is_none() && hook.contains("hook_z") {
            return Err(refused(
                "hook_name",
                format!("\"{hook}\", whose activations are reshaped"),
                "activations that are not reshaped",
            ));
        }
        if raw.get("finetuning_scaling_factor") == Some(&Value::Bool(true)) {
            return Err(refused("finetuning_scaling_factor", "true".into(), "false"));
        }
        let (activation, k) = activation(&raw, path)?;
        let flag = |key: &str, default: bool| match raw.get(key) {
            None | Some(Value::Null) => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(refused(key, other.to_string(), "true or false")),
        };
        let rescaled = flag("rescale_acts_by_decoder_norm", false)?;
        if rescaled && activation != Activation::Topk {
            let found = "true, which is supported for topk only";
            return Err(refused("rescale_acts_by_decoder_norm", found.into(), "false"));
        }
        let size = |key: &str| raw.get(key).and_then(Value::as_u64).map(|n| n as usize);
        Ok(Self {
            activation,
            k,
            centred: flag("apply_b_dec_to_input", true)?,
            rescaled,
            sizes: (size("d_in"), size("d_sae")),
            metadata: raw.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default(),
        })
    }
}

/// The first of these entries that is text.
fn word<'v>(raw: &'v Map<String, Value>, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|key| raw.get(*key).and_then(Value::as_str))
}

fn activation(raw: &Map<String, Value>, path: &Path) -> Result<(Activation, Option<usize>)> {
    let architecture = match raw.get("architecture") {
        None => "standard",
        Some(Value::String(name)) => name,
        Some(other) => {
            let found = format!("its architecture is {other}");
            return Err(Error::format(path, found, "give one of standard, topk, jumprelu, gated"));
        }
    };
    if !ARCHITECTURES.contains(&architecture) {
        let found = format!("its architecture is '{architecture}'");
        return Err(Error::format(path, found, "give one of standard, topk, jumprelu, gated"));
    }
    // Before version 6 topk was an activation of the architecture standard.
    let function = word(raw, &["activation_fn", "activation_fn_str"]).unwrap_or("relu");
    let topk = architecture == "topk" || (architecture == "standard" && function == "topk");
    if !topk && function != "relu" {
        let found = format!("its activation_fn is '{function}' with the architecture '{architecture}'");
        return Err(Error::format(path, found, "give one with relu, or with topk and its k"));
    }
    if !topk {
        return Ok(match architecture {
            "jumprelu" => (Activation::Jumprelu, None),
            "gated" => (Activation::Gated, None),
            _ => (Activation::Relu, None),
        });
    }
    let given = raw.get("activation_fn_kwargs").and_then(|more| more.get("k"));
    let k = raw.get("k").or(given).and_then(Value::as_u64).filter(|k| *k > 0);
    match k {
        Some(k) => Ok((Activation::Topk, Some(k as usize))),
        None => {
            let found = "its architecture is topk, but it has no k, the number of active units";
            Err(Error::format(path, found, "add k, as in the training of the model"))
        }
    }
}
