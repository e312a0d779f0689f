//! Folders of SAELens: `sae_weights.safetensors` and `cfg.json`.
//!
//! ```text
//! W_enc  d_in x d_sae      encoder_weight, transposed
//! W_dec  d_sae x d_in      components
//! b_dec, b_enc             mean, encoder_bias
//! threshold                of jumprelu; of batch-topk its one number for every unit
//! b_gate, b_mag, r_mag     of gated: gate_bias, magnitude_bias, magnitude_log_scale
//! ```
//!
//! The order of the units is kept, because units are cited by number. Options of SAELens that are not supported here are refused by
//! name.

mod config;
mod read;
mod write;

pub use read::import;
pub use write::{Export, export};

use half::{bf16, f16};
use serde::{Deserialize, Serialize};

/// Names of the two files.
const WEIGHTS: &str = "sae_weights.safetensors";
const CONFIG: &str = "cfg.json";

/// Number type of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Precision {
    /// IEEE half precision.
    Float16,
    /// The upper half of single precision.
    Bfloat16,
    /// Single precision.
    Float32,
    /// Double precision.
    Float64,
}

impl Precision {
    /// All types, by name.
    pub const NAMES: [&'static str; 4] = ["float16", "bfloat16", "float32", "float64"];

    /// The name in `cfg.json`.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// By [`name`](Self::name), with or without PyTorch's `torch.` before it.
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Float16, Self::Bfloat16, Self::Float32, Self::Float64];
        all.into_iter().find(|each| each.name() == name.trim_start_matches("torch."))
    }

    /// The name of the type in safetensors.
    fn stored(self) -> &'static str {
        ["F16", "BF16", "F32", "F64"][self as usize]
    }

    /// Appends `x`; returns whether it is finite in this type.
    fn put(self, x: f64, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Float16 => {
                let x = f16::from_f64(x);
                out.extend_from_slice(&x.to_le_bytes());
                x.is_finite()
            }
            Self::Bfloat16 => {
                let x = bf16::from_f64(x);
                out.extend_from_slice(&x.to_le_bytes());
                x.is_finite()
            }
            Self::Float32 => {
                out.extend_from_slice(&(x as f32).to_le_bytes());
                (x as f32).is_finite()
            }
            Self::Float64 => {
                out.extend_from_slice(&x.to_le_bytes());
                true
            }
        }
    }

    /// All numbers of `bytes`.
    fn numbers(self, bytes: &[u8]) -> Vec<f64> {
        match self {
            Self::Float16 => {
                bytes.as_chunks::<2>().0.iter().map(|b| f16::from_le_bytes(*b).to_f64()).collect()
            }
            Self::Bfloat16 => {
                bytes.as_chunks::<2>().0.iter().map(|b| bf16::from_le_bytes(*b).to_f64()).collect()
            }
            Self::Float32 => {
                bytes.as_chunks::<4>().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect()
            }
            Self::Float64 => bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
        }
    }
}

/// What is known about the imported folder that the report of the model keeps: the number type, and `metadata` unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Origin {
    dtype: Precision,
    #[serde(default)]
    metadata: serde_json::Map<String, serde_json::Value>,
}

/// The name of [`Origin`] among the diagnostics of a report.
const ORIGIN: &str = "saelens";
