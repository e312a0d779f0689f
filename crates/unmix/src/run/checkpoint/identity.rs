//! The identity of the fit of a checkpoint: everything that determines its bits, and the differences between two.

use super::BEGIN_ANEW;
use crate::error::{Error, Result};
use crate::num::Matrix;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Identity of the fit of a checkpoint: everything that determines its bits, except the processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Version of the program.
    pub(crate) version: String,
    pub(crate) method: String,
    /// The settings, as JSON.
    pub(crate) settings: String,
    pub(crate) seed: u64,
    pub(crate) dtype: String,
    pub(crate) n_rows: u64,
    pub(crate) n_features: u64,
    /// The shape of a sample, on which some initial values depend.
    pub(crate) feature_shape: Vec<usize>,
    /// Checksum of all numbers and weights, in order.
    pub(crate) rows: u32,
    /// Checksum of the model that the fit starts from.
    pub(crate) init: Option<u32>,
    /// Checksums of the tables given in addition to the settings, by name.
    pub(crate) tables: BTreeMap<String, u32>,
}

/// Checksum of a table: its shape and its numbers.
pub(crate) fn table_checksum(table: &Matrix<f64>) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&(table.rows() as u64).to_le_bytes());
    table.as_slice().iter().for_each(|x| hasher.update(&x.to_le_bytes()));
    hasher.finalize()
}

/// Refuses a checkpoint of another fit.
pub(super) fn compare(path: &Path, found: &Identity, requested: &Identity) -> Result<()> {
    let differs = |what: &str, found: &dyn std::fmt::Display, requested: &dyn std::fmt::Display| {
        let found = format!("it is a checkpoint of a fit with {what} {found}, but this one has {requested}");
        Err(Error::format(path, found, BEGIN_ANEW))
    };
    if found.version != requested.version {
        return differs("version", &found.version, &requested.version);
    }
    if found.method != requested.method {
        return differs("method", &found.method, &requested.method);
    }
    if found.dtype != requested.dtype {
        return differs("numbers of type", &found.dtype, &requested.dtype);
    }
    let shape = |of: &Identity| format!("{} x {}", of.n_rows, of.n_features);
    if shape(found) != shape(requested) {
        return differs("rows of shape", &shape(found), &shape(requested));
    }
    if found.feature_shape != requested.feature_shape {
        let shape = |of: &Identity| format!("{:?}", of.feature_shape);
        return differs("samples of shape", &shape(found), &shape(requested));
    }
    if found.settings != requested.settings {
        let (found, requested) = different_settings(&found.settings, &requested.settings);
        return differs("settings", &found, &requested);
    }
    if found.seed != requested.seed {
        return differs("seed", &found.seed, &requested.seed);
    }
    if found.rows != requested.rows {
        let found = "it is a checkpoint of a fit of other rows (their checksums differ)";
        return Err(Error::format(path, found, BEGIN_ANEW));
    }
    if found.init != requested.init {
        let found = "it is a checkpoint of a fit with another start (init)";
        return Err(Error::format(path, found, BEGIN_ANEW));
    }
    let mut tables = found.tables.keys().chain(requested.tables.keys());
    match tables.find(|name| found.tables.get(*name) != requested.tables.get(*name)) {
        Some(name) => {
            let found = format!("it is a checkpoint of a fit with other values of {name}");
            Err(Error::format(path, found, BEGIN_ANEW))
        }
        None => Ok(()),
    }
}

/// The settings with different values, as in "n_components=3, tol=0.001", in each of two sets of settings in JSON.
pub(super) fn different_settings(found: &str, requested: &str) -> (String, String) {
    type Settings = BTreeMap<String, serde_json::Value>;
    let read = |text: &str| serde_json::from_str::<Settings>(text);
    let (Ok(a), Ok(b)) = (read(found), read(requested)) else { return (found.into(), requested.into()) };
    let names: BTreeSet<&String> =
        a.keys().chain(b.keys()).filter(|name| a.get(*name) != b.get(*name)).collect();
    let written = |of: &Settings| {
        let value = |name: &&String| of.get(*name).map_or("null".into(), ToString::to_string);
        names.iter().map(|name| format!("{name}={}", value(name))).collect::<Vec<_>>().join(", ")
    };
    (written(&a), written(&b))
}
