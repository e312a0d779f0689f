//! Import of a folder.

use super::super::{Activation, L0, METHOD, SparseAutoencoder};
use super::config::Config;
use super::{CONFIG, ORIGIN, Origin, Precision, WEIGHTS};
use crate::data::Features;
use crate::error::{Error, Result, counted};
use crate::method::as_map;
use crate::model::{Model, Report, Tensor, Tensors};
use crate::num::{Dtype, Matrix, kernel};
use crate::run::Run;
use safetensors::{Dtype as Stored, SafeTensors};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// Imports the model in a folder of SAELens, with its units in their order. If, according to `cfg.json`, rows are not centred before
/// the encoder, or codes are in units of the norms of the atoms, this is folded into the parameters.
///
/// # Errors
///
/// Files that are missing, corrupt or pickled; unsupported architectures, activations and normalisations, by name; topk without k;
/// tensors of unexpected names, sizes or types, and numbers that are not finite.
pub fn import(folder: &Path, run: &Run<'_>) -> Result<Model> {
    let weights = existing(folder)?;
    let config = folder.join(CONFIG);
    let text = std::fs::read_to_string(&config).map_err(|e| Error::io("cannot read", &config, e))?;
    let parsed = Config::parse(&text, &config)?;
    let bytes = std::fs::read(&weights).map_err(|e| Error::io("cannot read", &weights, e))?;
    let (mut parameters, precision) = StoredTensors::read(&bytes, &weights)?;
    let read = parameters.named(&parsed)?;
    let folded = folded(read, &parsed, &weights)?;
    model(folded, &parsed, precision, run)
}

/// Extensions of pickled files of PyTorch, which can execute arbitrary code when they are loaded.
const PICKLED: [&str; 5] = ["pt", "pth", "bin", "pkl", "ckpt"];

fn is_pickled(path: &Path) -> bool {
    path.extension().and_then(|e| e.to_str()).is_some_and(|e| PICKLED.contains(&e.to_lowercase().as_str()))
}

/// The path of the weights.
fn existing(folder: &Path) -> Result<std::path::PathBuf> {
    let pickled = |path: &Path| {
        let remedy = "if you trust its origin, load it with PyTorch, write it with save_model of SAELens, and give that folder";
        Err(Error::format(
            path,
            "it is a pickled file, which can execute arbitrary code when it is loaded",
            remedy,
        ))
    };
    if folder.is_file() {
        if is_pickled(folder) {
            return pickled(folder);
        }
        let remedy = format!("give the folder that holds {WEIGHTS} and {CONFIG}");
        return Err(Error::format(folder, "it is a file, not a folder", remedy));
    }
    let weights = folder.join(WEIGHTS);
    if !weights.is_file() && folder.is_dir() {
        let files = std::fs::read_dir(folder).map_err(|e| Error::io("cannot read", folder, e))?;
        let mut names: Vec<_> = files.flatten().map(|entry| entry.path()).collect();
        names.sort();
        if let Some(path) = names.iter().find(|path| is_pickled(path)) {
            return pickled(path);
        }
        let remedy = "give a folder that save_model of SAELens has written";
        return Err(Error::format(folder, format!("it has no {WEIGHTS}"), remedy));
    }
    Ok(weights)
}

/// The tensors of a file in double precision, which represents numbers of every type exactly.
struct StoredTensors<'p> {
    all: BTreeMap<String, (Vec<usize>, Vec<f64>)>,
    path: &'p Path,
}

/// Tensors by their names in a model.
type NamedArrays = BTreeMap<&'static str, Vec<f64>>;

/// An error of one of the tensors.
fn of_tensor(path: &Path, name: &str, found: String, remedy: &str) -> Error {
    Error::format(path, found, remedy).with(|details| details.array = Some(name.into()))
}

impl<'p> StoredTensors<'p> {
    fn read(bytes: &[u8], path: &'p Path) -> Result<(Self, Precision)> {
        let file = SafeTensors::deserialize(bytes).map_err(|e| {
            let found = format!("it is not a safetensors file or is truncated ({e})");
            Error::format(path, found, "restore the file")
        })?;
        let (mut all, mut found) = (BTreeMap::new(), Vec::new());
        for (name, view) in file.tensors() {
            let precision = match view.dtype() {
                Stored::F16 => Precision::Float16,
                Stored::BF16 => Precision::Bfloat16,
                Stored::F32 => Precision::Float32,
                Stored::F64 => Precision::Float64,
                other => {
                    let found = format!("its tensor {name} has the type {other:?}");
                    return Err(of_tensor(path, &name, found, "give tensors of F16, BF16, F32 or F64"));
                }
            };
            let numbers = precision.numbers(view.data());
            if let Some(at) = numbers.iter().position(|x| !x.is_finite()) {
                let found = format!("entry {at} of its tensor {name} is not a finite number");
                return Err(of_tensor(path, &name, found, "train the model again"));
            }
            found.push(precision);
            all.insert(name, (view.shape().to_vec(), numbers));
        }
        // The narrowest type that represents all of them.
        let precision = match () {
            () if found.contains(&Precision::Float64) => Precision::Float64,
            () if found.windows(2).any(|two| two[0] != two[1]) => Precision::Float32,
            () => found.first().copied().unwrap_or(Precision::Float32),
        };
        Ok((Self { all, path }, precision))
    }

    fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
        let Some((found, numbers)) = self.all.remove(name) else {
            let found = format!("it has no tensor {name}");
            return Err(of_tensor(self.path, name, found, "check that cfg.json names its architecture"));
        };
        if found != shape {
            let what = format!("its tensor {name} has the shape {found:?}, where {shape:?} is expected");
            return Err(of_tensor(self.path, name, what, "check that cfg.json belongs to it"));
        }
        Ok(numbers)
    }

    /// All tensors of the activation; an error if there are others.
    fn named(&mut self, config: &Config) -> Result<(usize, usize, NamedArrays)> {
        let shape = self.all.get("W_dec").map(|(shape, _)| shape.clone()).unwrap_or_default();
        let (m, p) = match shape[..] {
            [m, p] if m > 0 && p > 0 => (m, p),
            _ => return self.take("W_dec", &[0, 0]).map(|_| (0, 0, NamedArrays::new())),
        };
        for (key, got, configured) in [("d_in", p, config.sizes.0), ("d_sae", m, config.sizes.1)] {
            if let Some(configured) = configured.filter(|configured| *configured != got) {
                let found =
                    format!("its W_dec has the shape {shape:?}, but {key} in {CONFIG} is {configured}");
                let error = of_tensor(self.path, "W_dec", found, "check that the two files belong together");
                let numbers = (Some(configured as u64), Some(got as u64));
                return Err(error.with(|details| (details.need, details.got) = numbers));
            }
        }
        let mut out = NamedArrays::new();
        let weight = Matrix::from_vec(p, m, self.take("W_enc", &[p, m])?);
        out.insert("encoder_weight", weight.transposed().into_vec());
        out.insert("components", self.take("W_dec", &[m, p])?);
        out.insert("mean", self.take("b_dec", &[p])?);
        let more: &[(&str, &str)] = match config.activation {
            Activation::Gated => {
                &[("gate_bias", "b_gate"), ("magnitude_bias", "b_mag"), ("magnitude_log_scale", "r_mag")]
            }
            Activation::Jumprelu => &[("encoder_bias", "b_enc"), ("threshold", "threshold")],
            _ => &[("encoder_bias", "b_enc")],
        };
        for (ours, theirs) in more {
            out.insert(ours, self.take(theirs, &[m])?);
        }
        // For some time a factor of ones was always written.
        if self.all.get("scaling_factor").is_some_and(|(_, numbers)| numbers.iter().all(|x| *x == 1.0)) {
            self.all.remove("scaling_factor");
        }
        match self.all.keys().next() {
            None => Ok((m, p, out)),
            Some(name) => {
                let found = format!("it has a tensor {name}, which its architecture does not have");
                Err(of_tensor(self.path, name, found, "check that cfg.json names its architecture"))
            }
        }
    }
}

/// The equivalent parameters for rows minus their `mean`, with the codes that are decoded.
fn folded(
    (m, p, mut named): (usize, usize, NamedArrays),
    config: &Config,
    path: &Path,
) -> Result<(usize, usize, NamedArrays)> {
    if let Some(k) = config.k.filter(|k| *k > m) {
        let found = format!("it has {}, but k in {CONFIG} is {k}", counted(m as u64, "unit"));
        return Err(Error::format(path, found, "check that the two files belong together"));
    }
    if !config.centred {
        let (weight, mean) = (named["encoder_weight"].clone(), named["mean"].clone());
        let dot = |row: &[f64]| row.iter().zip(&mean).map(|(w, b)| w * b).sum::<f64>();
        let shift: Vec<f64> = weight.chunks_exact(p).map(dot).collect();
        let scale: Vec<f64> = match named.get("magnitude_log_scale") {
            Some(logs) => logs.iter().map(|r| r.exp()).collect(),
            None => vec![1.0; m],
        };
        for name in ["encoder_bias", "gate_bias"] {
            if let Some(bias) = named.get_mut(name) {
                bias.iter_mut().zip(&shift).for_each(|(b, s)| *b += s);
            }
        }
        if let Some(bias) = named.get_mut("magnitude_bias") {
            bias.iter_mut().zip(&shift).zip(&scale).for_each(|((b, s), by)| *b += by * s);
        }
    }
    if config.rescaled {
        let atoms = &named["components"];
        let norms: Vec<f64> = atoms.chunks_exact(p).map(|a| kernel::sum_of_squares(a).sqrt()).collect();
        if let Some(j) = norms.iter().position(|norm| *norm == 0.0) {
            let found =
                format!("row {j} of W_dec is 0, and rescale_acts_by_decoder_norm divides by its norm");
            return Err(Error::format(path, found, "leave the unit out"));
        }
        let mut each = |name: &str, width: usize, by: fn(f64) -> f64| {
            if let Some(numbers) = named.get_mut(name) {
                let rows = numbers.chunks_exact_mut(width).zip(&norms);
                rows.for_each(|(row, norm)| row.iter_mut().for_each(|x| *x *= by(*norm)));
            }
        };
        each("encoder_weight", p, |norm| norm);
        each("encoder_bias", 1, |norm| norm);
        each("components", p, |norm| 1.0 / norm);
    }
    Ok((m, p, named))
}

fn model(
    (m, p, named): (usize, usize, NamedArrays),
    config: &Config,
    precision: Precision,
    run: &Run<'_>,
) -> Result<Model> {
    let dtype = if precision == Precision::Float64 { Dtype::F64 } else { Dtype::F32 };
    let l0 = config.k.map_or(L0::default(), L0::Number);
    let spec = SparseAutoencoder {
        n_components: Some(m),
        activation: config.activation,
        l0,
        ..SparseAutoencoder::default()
    };
    let settings = as_map(&spec);
    let mut tensors = Tensors::new();
    for (name, numbers) in named {
        let tensor = match name {
            "components" | "encoder_weight" => Tensor::matrix(&Matrix::from_vec(m, p, numbers), dtype),
            _ => Tensor::vector(&numbers, dtype),
        };
        tensors.insert(name.into(), tensor);
    }
    let mut report = Report::closed_form("saelens", 0.0, p, dtype, run.seed);
    (report.n_iter, report.sweeps) = (0, 0);
    report.settings = settings.clone();
    let origin = Origin { dtype: precision, metadata: config.metadata.clone() };
    report.diagnostics.insert(ORIGIN.into(), json!(origin));
    report.end(run);
    Model::fitted(&METHOD, settings, Features::default(), 0, tensors, report)
}
