//! Model files: safetensors with a description.
//!
//! The header is written here, in sorted order, so that the same fit gives the same bytes (the safetensors library writes metadata
//! in the order of a hash table); it is read and validated by the library. One checksum covers the tensors, another their
//! description; whatever differs between two runs of one fit is in a separate entry, `run`, which neither checksum covers.

use super::report::{Report, RunRecord};
use super::tensor::Tensor;
use super::{Method, Model, SIGN_RULE, Sums};
use crate::data::{Features, NewFile};
use crate::error::{Error, Result};
use crate::num::{Dtype, Values};
use safetensors::{Dtype as Stored, SafeTensors};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Number of the file format that this version writes and reads.
pub const FORMAT: u64 = 1;

#[derive(Serialize, Deserialize)]
struct Description {
    format: u64,
    version: String,
    method: String,
    settings: Map<String, Value>,
    #[serde(flatten)]
    features: Features,
    dtype: Dtype,
    ddof: u64,
    sign_rule: u32,
    /// Checksum of the tensors' bytes.
    checksum: String,
    /// Checksum of the tensors' names, types and shapes, and of this description with this entry left empty.
    header_checksum: String,
    report: Report,
}

impl Model {
    /// Serialises the model to the bytes of a file.
    ///
    /// # Errors
    ///
    /// A description that cannot be written as JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut data = Vec::new();
        let mut header = Map::new();
        let mut tensors = Map::new();
        let sums = self.sums().map(Sums::tensors).unwrap_or_default();
        // 8-byte numbers first, so that every tensor is aligned.
        let mut order: Vec<(&String, &Tensor)> = self.tensors.iter().chain(&sums).collect();
        order.sort_by_key(|(_, t)| std::cmp::Reverse(t.values().dtype().size()));
        for (name, tensor) in order {
            let start = data.len();
            data.extend_from_slice(&tensor.values().to_le_bytes());
            let dtype = if tensor.values().dtype() == Dtype::F32 { "F32" } else { "F64" };
            let entry = json!({"dtype": dtype, "shape": tensor.shape(), "data_offsets": [start, data.len()]});
            tensors.insert(name.clone(), entry);
        }
        let description = Description {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            method: self.method.key.into(),
            settings: self.settings.clone(),
            features: self.features.clone(),
            dtype: self.dtype,
            ddof: self.ddof,
            sign_rule: SIGN_RULE,
            checksum: checksum(&data),
            header_checksum: String::new(),
            report: self.report.clone(),
        };
        let text =
            |v: serde_json::Result<String>| v.map_err(|e| corrupt(Path::new("the model"), e.to_string()));
        let description = text(serde_json::to_string(&description))?;
        let seal = header_checksum(&tensors, &description);
        let metadata = json!({
            "unmix": description.replacen(&checksum_entry(""), &checksum_entry(&seal), 1),
            "run": text(serde_json::to_string(&self.report.run))?,
        });
        header.insert("__metadata__".into(), metadata);
        header.extend(tensors);
        let mut header = text(serde_json::to_string(&header))?.into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut out = Vec::with_capacity(8 + header.len() + data.len());
        out.extend_from_slice(&(header.len() as u64).to_le_bytes());
        out.extend_from_slice(&header);
        out.extend_from_slice(&data);
        Ok(out)
    }

    /// Writes the file: to a temporary file in the same folder, synced, then renamed. No partly written file is left behind.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut file = NewFile::create(path)?;
        file.put(&self.to_bytes()?)?;
        file.finish()
    }
}

/// Reads a model from the bytes of a file; `path` is for messages, and `find` looks up its method.
pub(crate) fn read_model(
    bytes: &[u8],
    path: &Path,
    find: impl Fn(&str) -> Result<&'static Method>,
) -> Result<Model> {
    let not_ours = |found: String| Error::format(path, found, "give a model file that unmix has written");
    if bytes.is_empty() {
        return Err(not_ours("it is empty".into()));
    }
    let (n, metadata) = SafeTensors::read_metadata(bytes)
        .map_err(|e| not_ours(format!("it is not a safetensors file or is truncated ({e})")))?;
    let entry = |key: &str| metadata.metadata().as_ref().and_then(|m| m.get(key).cloned());
    let text = entry("unmix").ok_or_else(|| not_ours("it holds tensors, but no unmix model".into()))?;
    let description = described(&text, path)?;
    check_sums(&description, &text, bytes, n, path)?;
    let tensors = tensors_of(bytes, path)?;
    let mut report = description.report;
    report.run = entry("run").and_then(|r| serde_json::from_str::<RunRecord>(&r).ok()).unwrap_or_default();
    let method = find(&description.method).map_err(|_| {
        let found =
            format!("it was fitted by '{}', a method that this version does not have", description.method);
        Error::format(path, found, format!("install version {} of unmix or later", description.version))
            .with(|details| details.version = Some(description.version.clone()))
    })?;
    let (sums, tensors): (BTreeMap<_, _>, _) =
        tensors.into_iter().partition(|(name, _)| name.starts_with("sums_"));
    let (settings, features) = (description.settings, description.features);
    let model = Model::new(method, settings, features, description.ddof, tensors, report)?;
    if sums.is_empty() {
        return Ok(model);
    }
    match Sums::from_tensors(&sums, model.n_features(), model.dtype()) {
        Some(sums) => Ok(model.with_sums(sums)),
        None => Err(corrupt(path, "its sums are inconsistent".into())),
    }
}

/// The description of a model; its format and sign rule must be supported by this version.
fn described(text: &str, path: &Path) -> Result<Description> {
    let raw: Value = serde_json::from_str(text).map_err(|e| corrupt(path, e.to_string()))?;
    match raw.get("format").and_then(Value::as_u64) {
        Some(FORMAT) => {}
        number => {
            let found = number.map_or("not recorded".into(), |number| number.to_string());
            let version = raw.get("version").and_then(Value::as_str).map(String::from);
            let remedy = match &version {
                Some(version) => format!("install version {version} of unmix or later"),
                None => "install a later version of unmix".into(),
            };
            let found = format!("its format is {found}, and this version reads {FORMAT}");
            return Err(Error::format(path, found, remedy).with(|details| {
                (details.need, details.got, details.version) = (Some(FORMAT), number, version);
            }));
        }
    }
    let description: Description = serde_json::from_value(raw).map_err(|e| corrupt(path, e.to_string()))?;
    if description.sign_rule != SIGN_RULE {
        let found = format!(
            "its signs follow rule {}, but this version supports rule {SIGN_RULE}",
            description.sign_rule
        );
        let remedy = format!("install version {} of unmix", description.version);
        return Err(Error::format(path, found, remedy).with(|details| {
            (details.need, details.got) = (Some(SIGN_RULE.into()), Some(description.sign_rule.into()));
            details.version = Some(description.version);
        }));
    }
    Ok(description)
}

/// Verifies both checksums; the header has `n` bytes.
fn check_sums(description: &Description, text: &str, bytes: &[u8], n: usize, path: &Path) -> Result<()> {
    let tensors = match serde_json::from_slice(&bytes[8..n + 8]) {
        Ok(Value::Object(mut header)) => {
            header.shift_remove("__metadata__");
            header
        }
        _ => Map::new(),
    };
    let empty = text.replacen(&checksum_entry(&description.header_checksum), &checksum_entry(""), 1);
    if header_checksum(&tensors, &empty) != description.header_checksum {
        return Err(corrupt(path, "its checksum does not match its description".into()));
    }
    if checksum(&bytes[n + 8..]) != description.checksum {
        return Err(corrupt(path, "its checksum does not match its numbers".into()));
    }
    Ok(())
}

/// All tensors, by name.
fn tensors_of(bytes: &[u8], path: &Path) -> Result<BTreeMap<String, Tensor>> {
    let file = SafeTensors::deserialize(bytes).map_err(|e| corrupt(path, e.to_string()))?;
    let mut tensors = BTreeMap::new();
    for (name, view) in file.tensors() {
        let values = match view.dtype() {
            Stored::F32 => {
                Values::F32(view.data().as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
            }
            Stored::F64 => {
                Values::F64(view.data().as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
            }
            other => {
                let error = corrupt(path, format!("its tensor '{name}' has type {other:?}"));
                return Err(error.with(|details| details.array = Some(name)));
            }
        };
        tensors.insert(name, Tensor::new(view.shape().to_vec(), values));
    }
    Ok(tensors)
}

/// Whether a file is an unmix model (of any format): such files may be replaced without `--force`.
pub fn is_model_file(path: &Path) -> bool {
    let header = || -> Option<bool> {
        use std::io::Read;
        let mut file = std::fs::File::open(path).ok()?;
        let mut length = [0; 8];
        file.read_exact(&mut length).ok()?;
        let length = u64::from_le_bytes(length);
        let mut text = Vec::new();
        file.take(length.min(100 << 20)).read_to_end(&mut text).ok()?;
        let header: Value = serde_json::from_slice(&text).ok()?;
        Some(header.get("__metadata__")?.get("unmix").is_some())
    };
    header().unwrap_or(false)
}

fn checksum(data: &[u8]) -> String {
    format!("crc32:{:08x}", crc32fast::hash(data))
}

/// Checksum of everything except the tensors' bytes and the run.
fn header_checksum(tensors: &Map<String, Value>, description: &str) -> String {
    let tensors = serde_json::to_string(tensors).unwrap_or_default();
    checksum([tensors.as_bytes(), description.as_bytes()].concat().as_slice())
}

/// The entry of the description that holds its own checksum.
fn checksum_entry(checksum: &str) -> String {
    format!(r#""header_checksum":"{checksum}""#)
}

fn corrupt(path: &Path, found: String) -> Error {
    Error::format(path, format!("it is corrupt ({found})"), "fit the model again, or restore the file")
}
