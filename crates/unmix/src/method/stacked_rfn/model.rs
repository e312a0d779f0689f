//! The model of all layers, its network, and each layer as a separate model.

use super::{METHOD, StackedRfn};
use crate::data::{Features, Rows, Workspace};
use crate::error::{Error, Result};
use crate::method::{Rfn, as_map};
use crate::model::{
    Code, Codes, Encoder, Gate, LinearDecoder, Model, Outcome, Report, RowMap, Tensor, Tensors, require,
};
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use serde_json::{Map, Value, json};

/// Names of the network's tensors in the model of a layer, and in the file of all layers: a layer of the network is
/// `max(0, x weight' + bias)`.
const NETWORK: [(&str, &str); 2] = [("encoder_weight", "weight"), ("encoder_bias", "bias")];

impl StackedRfn {
    pub(super) fn model<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        layers: &[Model],
        run: &Run<'_>,
    ) -> Result<Model> {
        let settings = as_map(self);
        let first = layers[0].report();
        let mut report =
            Report::closed_form("greedy", first.n_samples, rows.n_features(), T::DTYPE, run.seed);
        report.outcome = layers.iter().map(|m| m.report().outcome).fold(first.outcome, worse);
        report.n_iter = layers.iter().map(|m| m.report().n_iter).sum();
        report.sweeps = layers.iter().map(|m| m.report().sweeps).sum();
        report.n_constant = first.n_constant;
        report.settings = settings.clone();
        for (i, layer) in layers.iter().enumerate() {
            report.warnings.extend(layer.report().warnings.iter().map(|w| format!("layer {i}: {w}")));
        }
        let each = |m: &Model| json!({"settings": m.settings(), "report": m.report()});
        report.diagnostics.insert("layers".into(), layers.iter().map(each).collect());
        let mut tensors = Tensors::new();
        for (i, layer) in layers.iter().enumerate() {
            for (name, tensor) in layer.tensors() {
                let known = NETWORK.iter().find(|(own, _)| own == name).map(|(_, short)| *short);
                tensors.insert(named(i, known.unwrap_or(name)), tensor.clone());
            }
        }
        let (mean, components) = decoded(&tensors, layers.len() - 1)?;
        tensors.insert("mean".into(), Tensor::vector(&mean, T::DTYPE));
        tensors.insert("components".into(), Tensor::matrix(&components, T::DTYPE));
        report.end(run);
        Model::fitted(&METHOD, settings, rows.features().clone(), 0, tensors, report)
    }
}

/// The outcome of two layers: that of the one that did not converge, if there is one.
fn worse(a: Outcome, b: Outcome) -> Outcome {
    let rank = |o: Outcome| match o {
        Outcome::Time | Outcome::Interrupted => 3,
        Outcome::MaxIter => 2,
        Outcome::Completed => 1,
        _ => 0,
    };
    if rank(b) > rank(a) { b } else { a }
}

/// The name of a layer's tensor in the file of all layers.
pub(super) fn named(layer: usize, name: &str) -> String {
    format!("layers.{layer}.{name}")
}

/// Number of layers.
fn count(tensors: &Tensors) -> usize {
    (0..tensors.len()).take_while(|i| tensors.contains_key(&named(*i, "weight"))).count()
}

/// The row decoded from zero codes of layer `last`, and its decoder vectors in the columns of the rows: layers are decoded one after the
/// other, and each decoder is affine.
fn decoded(tensors: &Tensors, last: usize) -> Result<(Vec<f64>, Matrix<f64>)> {
    let mut lowest = matrix(tensors, 0, "components")?;
    let mut mean = require(tensors, &named(0, "mean"), &[Some(lowest.cols())])?.f64s();
    for i in 1..=last {
        let own = matrix(tensors, i, "components")?;
        if own.cols() != lowest.rows() {
            return Err(corrupt());
        }
        let centers = require(tensors, &named(i, "mean"), &[Some(own.cols())])?.f64s();
        for (j, center) in centers.iter().enumerate() {
            mean.iter_mut().zip(lowest.row(j)).for_each(|(m, w)| *m += center * w);
        }
        lowest = factor::multiply(&own, &lowest);
    }
    Ok((mean, lowest))
}

/// The filters of every layer in the columns of the rows, the lowest layer first: the change of the decoded row per unit of each code.
/// `None` for a model without layers.
///
/// # Errors
///
/// A file whose layers are corrupt.
pub fn filters(model: &Model) -> Option<Result<Vec<Matrix<f64>>>> {
    let n = count(model.tensors());
    (n > 0).then(|| (0..n).map(|i| Ok(decoded(model.tensors(), i)?.1)).collect())
}

fn matrix(tensors: &Tensors, layer: usize, name: &str) -> Result<Matrix<f64>> {
    Ok(require(tensors, &named(layer, name), &[None, None])?.to_matrix())
}

/// Encoder by the rectified layers; decoder by the product of their loadings.
pub(super) fn code(_: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let components = require(tensors, "components", &[None, None])?;
    let mean = require(tensors, "mean", &[Some(components.shape()[1])])?.clone();
    let mut gates = Vec::new();
    for i in 0..count(tensors) {
        let weight = matrix(tensors, i, "weight")?;
        let center = require(tensors, &named(i, "mean"), &[Some(weight.cols())])?.clone();
        let offset = require(tensors, &named(i, "encoder_offset"), &[Some(weight.rows())])?.f64s();
        gates.push(Gate::new(center, weight.transposed(), offset));
    }
    let fits = |pair: &[Gate]| pair[0].n_codes() == pair[1].n_features();
    if gates.is_empty() || !gates.windows(2).all(fits) {
        return Err(corrupt());
    }
    Code::new(Network { gates }, LinearDecoder::new(mean, components.to_matrix()))
}

fn corrupt() -> Error {
    Error::corrupt_model("its layers have different widths")
}

/// The layers of a stack, the lowest first, each as the model of a rectified factor network of the codes below it.
///
/// # Errors
///
/// A model that is not a stack; a file whose layers are corrupt.
pub fn layers(model: &Model) -> Result<Vec<Model>> {
    if model.method().key != METHOD.key {
        return Err(Error::unsupported(
            format!("separating the layers of a model of {}", model.method().key),
            "it has none",
            "give a model of stacked-rfn",
        )
        .of_method(model.method().key)
        .working(&[METHOD.key]));
    }
    (0..count(model.tensors())).map(|i| layer(model, i)).collect()
}

fn layer(model: &Model, i: usize) -> Result<Model> {
    let prefix = named(i, "");
    let mut tensors = Tensors::new();
    for (name, tensor) in model.tensors() {
        let Some(short) = name.strip_prefix(&prefix) else { continue };
        let own = NETWORK.iter().find(|(_, known)| *known == short).map(|(own, _)| *own);
        tensors.insert(own.unwrap_or(short).to_string(), tensor.clone());
    }
    let layer = &model.report().diagnostics["layers"][i];
    let settings = layer["settings"].as_object().cloned().ok_or_else(corrupt)?;
    let mut report: Report = serde_json::from_value(layer["report"].clone()).map_err(|_| corrupt())?;
    report.run = model.report().run.clone();
    let features = if i == 0 { model.features().clone() } else { Features::default() };
    Rfn::of_layer(settings, features, tensors, report)
}

/// Layers of a network: the encoder of a stack.
#[derive(Clone, Debug)]
struct Network {
    gates: Vec<Gate>,
}

impl Network {
    fn map<T: Real>(&self, one: impl Fn(&Gate) -> Box<dyn RowMap<T>>) -> Box<dyn RowMap<T>> {
        let widths = self.gates.iter().map(|g| g.n_codes()).collect();
        Box::new(Chain { maps: self.gates.iter().map(one).collect(), widths })
    }
}

impl Encoder for Network {
    fn n_features(&self) -> usize {
        self.gates[0].n_features()
    }

    fn n_codes(&self) -> usize {
        self.gates[self.gates.len() - 1].n_codes()
    }

    fn codes(&self) -> Codes {
        Codes { non_negative: true, ..Codes::default() }
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        self.map(|gate| gate.in_f32())
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        self.map(|gate| gate.in_f64())
    }
}

/// Maps one after the other.
struct Chain<T> {
    maps: Vec<Box<dyn RowMap<T>>>,
    widths: Vec<usize>,
}

impl<T: Real> RowMap<T> for Chain<T> {
    fn apply(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>) {
        let last = self.maps.len() - 1;
        let n = out.len() / self.widths[last].max(1);
        let (mut codes, mut next) = (Vec::new(), Vec::new());
        for (i, map) in self.maps.iter().enumerate() {
            let from = if i == 0 { rows } else { &codes };
            if i == last {
                return map.apply(from, out, work);
            }
            next.clear();
            next.resize(n * self.widths[i], T::default());
            map.apply(from, &mut next, work);
            std::mem::swap(&mut codes, &mut next);
        }
    }
}
