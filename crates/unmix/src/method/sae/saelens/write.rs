//! Export to a folder.

use super::super::evaluate::is_autoencoder;
use super::super::{Activation, METHOD, SparseAutoencoder};
use super::{CONFIG, ORIGIN, Origin, Precision, WEIGHTS};
use crate::data::NewFile;
use crate::error::{Error, Result};
use crate::model::{Model, require};
use crate::num::{Dtype, Matrix};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Options of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Export {
    /// Number type; by default that of the folder from which the model was imported, or else that of the model: nothing is rounded.
    pub dtype: Option<Precision>,
    /// Whether existing files are replaced.
    pub force: bool,
}

/// Version of SAELens for which `cfg.json` is written: files without a version are read as older ones, and lose their metadata.
const VERSION: &str = "6.0.0";

/// Writes a sparse autoencoder as a folder of SAELens, which is created if necessary. `batch-topk` is written as jumprelu, with its
/// threshold for every unit.
///
/// # Errors
///
/// A model of another method; existing files; a folder that cannot be written; numbers that `dtype` cannot represent.
pub fn export(model: &Model, folder: &Path, how: Export) -> Result<()> {
    if !is_autoencoder(model) {
        return Err(Error::unsupported(
            format!("exporting a model of {} to SAELens", model.method().key),
            "it is not a sparse autoencoder",
            format!("give a model of the method {}", METHOD.key),
        )
        .of_method(model.method().key)
        .working(&[METHOD.key]));
    }
    let origin = origin(model);
    let own = if model.dtype() == Dtype::F32 { Precision::Float32 } else { Precision::Float64 };
    let dtype = how.dtype.or(origin.as_ref().map(|origin| origin.dtype)).unwrap_or(own);
    let written = SaeLensTensors::of(model)?;
    let weights = written.bytes(dtype, folder)?;
    let config = written.config(dtype, origin.map(|origin| origin.metadata).unwrap_or_default());
    std::fs::create_dir_all(folder).map_err(|e| Error::io("cannot make the folder", folder, e))?;
    for name in [WEIGHTS, CONFIG] {
        let path = folder.join(name);
        if path.exists() && !how.force {
            return Err(Error::Exists { path });
        }
    }
    for (name, bytes) in [(WEIGHTS, &weights), (CONFIG, &config.into_bytes())] {
        let mut file = NewFile::create(&folder.join(name))?;
        file.put(bytes)?;
        file.finish()?;
    }
    Ok(())
}

fn origin(model: &Model) -> Option<Origin> {
    serde_json::from_value(model.report().diagnostics.get(ORIGIN)?.clone()).ok()
}

/// Tensors with SAELens's names and shapes.
struct SaeLensTensors {
    activation: Activation,
    k: Option<usize>,
    m: usize,
    p: usize,
    tensors: Vec<(&'static str, Vec<usize>, Vec<f64>)>,
}

impl SaeLensTensors {
    fn of(model: &Model) -> Result<Self> {
        let spec = SparseAutoencoder::from_settings(model.settings())?;
        let tensors = model.tensors();
        let atoms = require(tensors, "components", &[None, None])?;
        let (m, p) = (atoms.shape()[0], atoms.shape()[1]);
        let weight = Matrix::from_vec(m, p, require(tensors, "encoder_weight", &[Some(m), Some(p)])?.f64s());
        let vector = |name: &str| Ok::<_, Error>(require(tensors, name, &[Some(m)])?.f64s());
        let mut out = vec![
            ("W_dec", vec![m, p], atoms.f64s()),
            ("W_enc", vec![p, m], weight.transposed().into_vec()),
            ("b_dec", vec![p], require(tensors, "mean", &[Some(p)])?.f64s()),
        ];
        match spec.activation {
            Activation::Gated => out.extend([
                ("b_gate", vec![m], vector("gate_bias")?),
                ("b_mag", vec![m], vector("magnitude_bias")?),
                ("r_mag", vec![m], vector("magnitude_log_scale")?),
            ]),
            _ => out.push(("b_enc", vec![m], vector("encoder_bias")?)),
        }
        match spec.activation {
            Activation::Jumprelu => out.push(("threshold", vec![m], vector("threshold")?)),
            Activation::BatchTopk => {
                let one = require(tensors, "threshold", &[])?.f64s()[0];
                out.push(("threshold", vec![m], vec![one; m]));
            }
            _ => {}
        }
        let k = match spec.activation {
            Activation::Topk => Some(spec.active(m)?),
            _ => None,
        };
        Ok(Self { activation: spec.activation, k, m, p, tensors: out })
    }

    /// The bytes of the file of weights.
    fn bytes(&self, dtype: Precision, folder: &Path) -> Result<Vec<u8>> {
        let (mut data, mut header) = (Vec::new(), Map::new());
        for (name, shape, numbers) in &self.tensors {
            let start = data.len();
            for (i, x) in numbers.iter().enumerate() {
                if !dtype.put(*x, &mut data) {
                    let found = format!("entry {i} of {name} is {x:e}, which overflows in {}", dtype.name());
                    return Err(Error::unsupported(
                        format!("writing {}", folder.join(WEIGHTS).display()),
                        found,
                        "choose float32 or bfloat16",
                    ));
                }
            }
            let entry = json!({"dtype": dtype.stored(), "shape": shape, "data_offsets": [start, data.len()]});
            header.insert((*name).into(), entry);
        }
        let mut header = Value::Object(header).to_string().into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut out = (header.len() as u64).to_le_bytes().to_vec();
        out.extend_from_slice(&header);
        out.extend_from_slice(&data);
        Ok(out)
    }

    /// The text of `cfg.json`.
    fn config(&self, dtype: Precision, mut metadata: Map<String, Value>) -> String {
        metadata.entry("sae_lens_version").or_insert(VERSION.into());
        let architecture = match self.activation {
            Activation::Relu => "standard",
            Activation::Topk => "topk",
            Activation::BatchTopk | Activation::Jumprelu => "jumprelu",
            Activation::Gated => "gated",
        };
        let mut config = json!({
            "architecture": architecture,
            "d_in": self.p,
            "d_sae": self.m,
            "dtype": dtype.name(),
            "device": "cpu",
            "apply_b_dec_to_input": true,
            "normalize_activations": "none",
            "reshape_activations": "none",
            "metadata": metadata,
        });
        if let Some(k) = self.k {
            config["k"] = json!(k);
            config["rescale_acts_by_decoder_norm"] = json!(false);
        }
        format!("{config:#}\n")
    }
}
