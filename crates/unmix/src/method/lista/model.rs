//! The model of a trained network, and its encoder and decoder.

use super::net::{Buffers, Net, Params, Problem};
use super::packed::{Packed, ROWS_PER_PIECE};
use super::settings::{LayerType, Lista};
use crate::data::Workspace;
use crate::error::{Error, Result};
use crate::model::{Code, Codes, Encoder, LinearDecoder, RowMap, Tensor, Tensors, require};
use crate::num::parallel::made_once;
use crate::num::{Dtype, Matrix, Real, as_type, as_type_mut};
use crate::run::Run;
use crate::sparse::{Atoms, Checked, Lasso, Measure, Proximal, StoppingRule, Work, measure};
use serde_json::{Map, Value};
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

const WEIGHTS: &str = "layer_weights";
const RECURRENT: &str = "recurrent_weights";
const STEPS: &str = "layer_steps";
const THRESHOLDS: &str = "thresholds";

/// The tensors of the model file.
pub(super) fn parameters<T: Real>(problem: &Problem<T>, atoms: &Atoms<T>, params: &Params<T>) -> Tensors {
    let (m, p, dtype) = (problem.m, problem.p, T::DTYPE);
    let stored = |shape: Vec<usize>, values: Vec<T>| Tensor::new(shape, T::into_values(values));
    let mut out = Tensors::new();
    let mut put = |name: &str, tensor: Tensor| out.insert(name.to_string(), tensor);
    put("components", Tensor::matrix(atoms.matrix(), dtype));
    put("mean", Tensor::vector(&vec![0.0; p], dtype));
    put("alpha", Tensor::scalar(problem.alpha, Dtype::F64));
    match &problem.analytic {
        Some((w, _)) => _ = put(WEIGHTS, stored(vec![1, m, p], w.clone())),
        None if !params.weights.is_empty() => {
            _ = put(WEIGHTS, stored(vec![params.weights.len(), m, p], params.weights.concat()));
        }
        None => {}
    }
    if !params.recurrent.is_empty() {
        put(RECURRENT, stored(vec![m, m], params.recurrent.clone()));
    }
    if !params.steps.is_empty() {
        put(STEPS, Tensor::vector(&params.steps, Dtype::F64));
    }
    let thresholds: Vec<f64> = match params.thresholds.is_empty() {
        true => params.steps.iter().map(|step| step * problem.alpha).collect(),
        false => params.thresholds.clone(),
    };
    put(THRESHOLDS, Tensor::vector(&thresholds, Dtype::F64));
    out
}

/// Numbers of matrices, of step lengths and of thresholds of a network.
fn counts(given: &Lista) -> [usize; 3] {
    let l = given.n_layers;
    let matrices = match given.cell {
        LayerType::Lista | LayerType::Cp if !given.tied => l,
        LayerType::Step => 0,
        _ => 1,
    };
    let steps = if given.cell.has_steps() { l } else { 0 };
    [matrices, steps, if given.cell == LayerType::GregorLecun { 1 } else { l }]
}

/// Reads the entries of a tensor, by its name and its shape.
type Numbers<'a> = &'a dyn Fn(&str, Vec<usize>) -> Result<Vec<f64>>;

/// The parameters of the network of `given` for `m` atoms of `p` numbers from the tensors that `get` returns, and the encoder matrix
/// of ALISTA.
fn read<T: Real>(
    given: &Lista,
    (m, p): (usize, usize),
    get: Numbers<'_>,
) -> Result<(Params<T>, Option<Vec<f64>>)> {
    let own = |values: Vec<f64>| values.into_iter().map(T::from_f64).collect::<Vec<T>>();
    let [n_matrices, n_steps, n_thresholds] = counts(given);
    let matrices = if n_matrices > 0 { get(WEIGHTS, vec![n_matrices, m, p])? } else { Vec::new() };
    let (weights, analytic) = match given.cell {
        LayerType::Alista => (Vec::new(), Some(matrices)),
        _ => (own(matrices).chunks_exact((m * p).max(1)).map(<[T]>::to_vec).collect(), None),
    };
    let recurrent = match given.cell {
        LayerType::GregorLecun => own(get(RECURRENT, vec![m, m])?),
        _ => Vec::new(),
    };
    let steps = if n_steps > 0 { get(STEPS, vec![n_steps])? } else { Vec::new() };
    let thresholds = match given.cell {
        LayerType::Step => Vec::new(),
        _ => get(THRESHOLDS, vec![n_thresholds])?,
    };
    Ok((Params { weights, recurrent, steps, thresholds }, analytic))
}

/// The parameters of the model given as a start.
pub(super) fn initial<T: Real>(
    given: &Lista,
    (m, p): (usize, usize),
    run: &Run<'_>,
) -> Result<Option<Params<T>>> {
    let Some(init) = run.init else { return Ok(None) };
    let refused = |found: String| {
        Error::unsupported(
            "a fit that starts from this model (init)",
            found,
            "start from a model of lista with as many layers and atoms, with the same cell and tied",
        )
        .of_method(super::METHOD.key)
    };
    if init.method() != super::METHOD.key {
        return Err(refused(format!("it is a model of {}", init.method())));
    }
    let get = |name: &str, shape: Vec<usize>| match init.parameter(name) {
        Some((found, values)) if found == shape => Ok(values),
        Some((found, _)) => {
            Err(refused(format!("its {name} have shape {found:?}, and this fit needs {shape:?}")))
        }
        None => Err(refused(format!("it has no {name}"))),
    };
    read(given, (m, p), &get).map(|(params, _)| Some(params))
}

/// Encoder by the layers, decoder by the atoms.
pub(super) fn code(settings: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let given = Lista::from_settings(settings)?;
    let components = require(tensors, "components", &[None, None])?;
    let (m, p) = (components.shape()[0], components.shape()[1]);
    let mean = require(tensors, "mean", &[Some(p)])?.clone();
    let alpha = require(tensors, "alpha", &[])?.f64s()[0];
    if alpha.is_nan() || alpha < 0.0 {
        return Err(Error::corrupt_model(format!("its alpha is {alpha}")));
    }
    let get = |name: &str, shape: Vec<usize>| {
        let shape: Vec<Option<usize>> = shape.into_iter().map(Some).collect();
        require(tensors, name, &shape).map(Tensor::f64s)
    };
    let (params, analytic) = read::<f64>(&given, (m, p), &get)?;
    let encoder = Layers {
        given: Arc::new(given),
        dictionary: Arc::new(components.to_matrix()),
        alpha,
        params: Arc::new(params),
        analytic: Arc::new(analytic),
        dtype: components.values().dtype(),
        narrow: Arc::default(),
        wide: Arc::default(),
    };
    Code::new(encoder, LinearDecoder::new(mean, components.to_matrix()))
}

/// The network as an encoder.
#[derive(Clone, Debug)]
struct Layers {
    given: Arc<Lista>,
    dictionary: Arc<Matrix<f64>>,
    alpha: f64,
    params: Arc<Params<f64>>,
    analytic: Arc<Option<Vec<f64>>>,
    /// Type of the fit.
    dtype: Dtype,
    narrow: Arc<OnceLock<Arc<TypedNetwork<f32>>>>,
    wide: Arc<OnceLock<Arc<TypedNetwork<f64>>>>,
}

/// The network prepared for one number type.
#[derive(Debug)]
pub(super) struct TypedNetwork<C: Real> {
    pub(super) problem: Problem<C>,
    pub(super) params: Params<C>,
    pub(super) across: Vec<Vec<C>>,
    packed: Option<Packed<C>>,
    pub(super) atoms: Atoms<C>,
    pub(super) refine: usize,
}

impl Layers {
    fn ready<C: Real>(&self) -> Arc<TypedNetwork<C>> {
        let own = |values: &[f64]| values.iter().map(|x| C::from_f64(*x)).collect::<Vec<C>>();
        let atoms = Atoms::new(&self.dictionary);
        let problem = Problem::with_analytic(&self.given, &atoms, self.alpha, self.analytic.as_deref());
        let params = Params {
            weights: self.params.weights.iter().map(|w| own(w)).collect(),
            recurrent: own(&self.params.recurrent),
            steps: self.params.steps.clone(),
            thresholds: self.params.thresholds.clone(),
        };
        let across = params.across(&problem);
        let packed = Packed::of(Net { problem: &problem, params: &params, across: &across });
        Arc::new(TypedNetwork { problem, params, across, packed, atoms, refine: self.given.refine })
    }

    fn wide(&self) -> Arc<TypedNetwork<f64>> {
        made_once(&self.wide, || self.ready()).clone()
    }
}

impl<C: Real> TypedNetwork<C> {
    pub(super) fn net(&self) -> Net<'_, C> {
        Net { problem: &self.problem, params: &self.params, across: &self.across }
    }

    /// Codes of rows, including the final steps of FISTA.
    pub(super) fn codes(&self, x: &[C], z: &mut [C], work: &mut (Buffers<C>, Work<C>)) {
        let (m, p) = (self.problem.m, self.problem.p);
        for (x, z) in x.chunks(ROWS_PER_PIECE * p).zip(z.chunks_mut(ROWS_PER_PIECE * m)) {
            match &self.packed {
                Some(packed) => packed.codes(self.net(), x, z, &mut work.0),
                None => self.net().codes(x, z, self.problem.n_layers, &mut work.0, |_, _| {}),
            }
            if self.refine > 0 {
                let stop = StoppingRule::Passes(self.refine);
                let lasso = Lasso { positive: self.problem.positive, stop, ..Lasso::of(self.problem.alpha) };
                Proximal::fista(lasso).code(&self.atoms, x, z, &mut work.1);
            }
        }
    }
}

impl Encoder for Layers {
    fn n_features(&self) -> usize {
        self.dictionary.cols()
    }

    fn n_codes(&self) -> usize {
        self.dictionary.rows()
    }

    fn codes(&self) -> Codes {
        Codes { sparse: true, non_negative: self.given.positive_code, ..Codes::default() }
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        match self.dtype {
            Dtype::F32 => {
                let network = made_once(&self.narrow, || self.ready()).clone();
                Box::new(CodeMap { network, rows: PhantomData })
            }
            Dtype::F64 => Box::new(CodeMap { network: self.wide(), rows: PhantomData }),
        }
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        Box::new(CodeMap { network: self.wide(), rows: PhantomData })
    }

    fn measures(&self) -> &'static [&'static str] {
        &["objective", "gap", "n_nonzero", "squared_error"]
    }
}

/// The encoder for rows of type `T`, computed in type `C`.
struct CodeMap<T, C: Real> {
    network: Arc<TypedNetwork<C>>,
    rows: PhantomData<fn(T)>,
}

impl<T: Real, C: Real> CodeMap<T, C> {
    /// Rows and their codes in the type of the computation.
    fn coded(&self, rows: &[T]) -> (Vec<C>, Vec<C>) {
        let x: Vec<C> = rows.iter().map(|x| C::from_f64(x.to_f64())).collect();
        let mut z = vec![C::default(); rows.len() / self.network.problem.p.max(1) * self.network.problem.m];
        self.network.codes(&x, &mut z, &mut Default::default());
        (x, z)
    }
}

impl<T: Real, C: Real> RowMap<T> for CodeMap<T, C> {
    fn apply(&self, rows: &[T], out: &mut [T], _: &mut Workspace<T>) {
        let (m, p) = (self.network.problem.m, self.network.problem.p);
        let (mut x, mut z, mut work) = (Vec::new(), Vec::new(), Default::default());
        if let (Some(rows), Some(out)) = (as_type(rows), as_type_mut(out)) {
            return self.network.codes(rows, out, &mut work);
        }
        // Rows that are propagated together are converted together, so that their codes are copied from the cache.
        for (rows, out) in rows.chunks(ROWS_PER_PIECE * p.max(1)).zip(out.chunks_mut(ROWS_PER_PIECE * m)) {
            x.clear();
            x.extend(rows.iter().map(|x| C::from_f64(x.to_f64())));
            z.resize(out.len(), C::default());
            self.network.codes(&x, &mut z, &mut work);
            out.iter_mut().zip(&z).for_each(|(to, z)| *to = T::from_f64(z.to_f64()));
        }
    }

    fn measured(&self, rows: &[T], out: &mut [f64], _: &mut Workspace<T>) {
        let (x, mut z) = self.coded(rows);
        // Measures are of the codes as returned, rounded to the type of the rows.
        z.iter_mut().for_each(|z| *z = C::from_f64(T::from_f64(z.to_f64()).to_f64()));
        let mut found = vec![Measure::default(); out.len() / 4];
        let penalty = (self.network.problem.alpha, self.network.problem.positive);
        measure(&self.network.atoms, penalty, &x, &z, &mut found, &mut Checked::default());
        for (out, m) in out.chunks_exact_mut(4).zip(&found) {
            out.copy_from_slice(&[m.objective, m.gap, m.n_nonzero as f64, m.squared_error]);
        }
    }
}
