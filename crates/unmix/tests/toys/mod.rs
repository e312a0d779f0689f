//! One test method for each kind of encoder, built from the public interface: a posterior mean that supports missing cells, a threshold
//! with stored scales, an iterative solver with a certificate for every row, and a small network with a nonlinear decoder.
//!
//! They are not meant to be useful. They show that a method of any kind is supported everywhere (model file, fit, encode, decode,
//! score, page, Python) without code for that kind.

#![allow(dead_code, reason = "each program that includes this file uses a part of it")]

mod gate;
mod network;
mod posterior;
mod solver;

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use unmix::method::{self, Accepts, Fit, Kind, Method, Setting};
use unmix::model::{Gaussian, Tensor, Tensors};
use unmix::{Error, Matrix, Model, Real, Result, Rows, Run};

/// The inner product; this file is part of programs without the helpers of the tests.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// All test methods.
pub(crate) static TOYS: [&Method; 4] = [&posterior::METHOD, &gate::METHOD, &solver::METHOD, &network::METHOD];

/// Registers them in this process.
pub(crate) fn register() {
    for toy in TOYS {
        method::register(toy).unwrap();
    }
}

const N_COMPONENTS: Setting = Setting::new("n_components", Kind::at_least(0), "2", "Number of components.");

const fn number(name: &'static str, default: &'static str, doc: &'static str) -> Setting {
    Setting::new(name, Kind::NUMBER, default, doc)
}

/// The common part of the test methods: leading components of PCA, from which each derives its parameters.
struct Toy {
    method: &'static Method,
    settings: Map<String, Value>,
}

/// An entry of the registry.
const fn toy(
    key: &'static str,
    class: &'static str,
    settings: &'static [Setting],
    spec: method::MakeSpec,
    code: fn(&Map<String, Value>, &Tensors) -> Result<unmix::model::Code>,
    density: Option<fn(&Tensors) -> Result<Gaussian>>,
) -> Method {
    Method {
        key,
        class,
        summary: "a method of the tests",
        settings,
        variants: &[],
        accepts: Accepts { sparse: true, weights: true, stream: true, remote: true, missing: false },
        by_independence: false,
        of_signals: false,
        random_start: false,
        select_by_variances: false,
        to_compare: &[],
        equals: &[],
        references: &[],
        spec,
        code,
        density,
        memory: |n_rows, n_features| vec![("pca", 8 * n_rows.min(n_features as u64).pow(2))],
    }
}

impl Toy {
    fn spec(method: &'static Method, given: &Map<String, Value>) -> Result<Box<dyn Fit>> {
        Ok(Box::new(Self { method, settings: method::resolve(method.settings, given)? }))
    }

    fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        self.method.check_rows(rows, run)?;
        let k = self.settings["n_components"].as_u64().unwrap_or(0);
        let pca = unmix::Pca::from_settings(&Map::from_iter([("n_components".into(), k.into())]))?;
        let found = pca.fit(rows, run)?;
        let mut tensors: BTreeMap<String, Tensor> = BTreeMap::new();
        for (name, tensor) in found.tensors() {
            if ["components", "mean", "explained_variance", "noise_variance"].contains(&name.as_str()) {
                tensors.insert(name.clone(), tensor.clone());
            }
        }
        let mut report = found.report().clone();
        report.solver = "pca".into();
        Model::new(self.method, self.settings.clone(), rows.features().clone(), 1, tensors, report)
    }
}

impl Fit for Toy {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }

    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}

/// A tensor that a model file must have.
fn tensor<'a>(tensors: &'a Tensors, name: &str) -> Result<&'a Tensor> {
    tensors
        .get(name)
        .ok_or_else(|| Error::unsupported("a toy", format!("the file has no {name}"), "fit again"))
}

fn components(tensors: &Tensors) -> Result<Matrix<f64>> {
    tensor(tensors, "components").map(Tensor::to_matrix)
}

fn numbers(tensors: &Tensors, name: &str) -> Result<Vec<f64>> {
    tensor(tensors, name).map(Tensor::f64s)
}

/// The value of a numeric setting.
fn setting(settings: &Map<String, Value>, name: &str) -> f64 {
    settings[name].as_f64().unwrap_or(f64::NAN)
}

/// Applies `f` to one row at a time in double precision, so that a row has the same bits alone and among others.
fn by_row<T: Real>(
    rows: &[T],
    out: &mut [T],
    p: usize,
    k: usize,
    mut f: impl FnMut(usize, &[f64]) -> Vec<f64>,
) {
    for (i, (row, out)) in rows.chunks_exact(p).zip(out.chunks_exact_mut(k)).enumerate() {
        let wide: Vec<f64> = row.iter().map(|x| x.to_f64()).collect();
        f(i, &wide).iter().zip(out).for_each(|(y, out)| *out = T::from_f64(*y));
    }
}

/// The entry of the threshold method in the registry, for modification.
pub(crate) fn gate() -> Method {
    gate::row()
}
