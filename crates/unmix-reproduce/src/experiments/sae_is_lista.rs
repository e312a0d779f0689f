//! The encoder of a sparse autoencoder with ReLU and one step of non-negative LISTA: the same codes by the same parameters.

use super::CHAPTER;
use crate::Experiment;
use crate::lab::{Lab, filters};
use crate::measure::unit_rows;
use crate::output::shown;
use serde_json::{Map, json};
use unmix::data::Workspace;
use unmix::datasets::sparse_codes;
use unmix::internal::autoencoder::{Gating, SparseGate};
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::internal::sparse::{Atoms, Lasso, Proximal, StoppingRule, Work};
use unmix::method::find;
use unmix::model::{Encoder, Report, Tensor, Tensors};
use unmix::{AnyRows, Dtype, Features, Matrix, Model, Result, Rows};
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "sae-is-lista",
    source: CHAPTER,
    summary: "equations 2.3.26 and 2.3.27: the encoder of a sparse autoencoder with ReLU is one step of non-negative LISTA, with which biases, and which encoders are not",
    run,
};

/// Columns, atoms and rows.
const P: usize = 16;
const M: usize = 40;
const N: usize = 200;
/// Weight of the penalty relative to half the squared error: lambda = .3 of the chapter.
const ALPHA: f64 = 0.15;
/// The step length in units of `1/||A||²`, at which every bias can be obtained.
const STEP: f64 = 0.9;

/// An instance, with one column and one atom more than `P` and `M`.
struct Instance {
    atoms: Atoms<f64>,
    rows: Matrix<f64>,
    /// The bias of the decoder.
    mean: Vec<f64>,
}

fn normal(stream: u64, rows: usize, cols: usize) -> Matrix<f64> {
    let draws = Stream::new(0, 80 + stream);
    Matrix::from_fn(rows, cols, |i, j| draws.normal((i * cols + j) as u64))
}

/// Normal atoms of norm 1, rows and mean. ISTA's step is `1/||A||²`: one more atom, in a column of its own that is 0 in all rows,
/// makes this `STEP` times what it is without it.
fn instance() -> Instance {
    let (unit, h, b) = (unit_rows(&normal(0, M, P)), normal(1, N, P), normal(2, 1, P));
    let longest = (Atoms::<f64>::new(&unit).lipschitz() / STEP).sqrt();
    let atoms = Matrix::from_fn(M + 1, P + 1, |j, c| match (j < M, c < P) {
        (true, true) => unit[(j, c)],
        (false, false) => longest,
        _ => 0.0,
    });
    let rows = Matrix::from_fn(N, P + 1, |i, c| if c < P { h[(i, c)] } else { 0.0 });
    let mean = (0..=P).map(|c| if c < P { b[(0, c)] } else { 0.0 }).collect();
    Instance { atoms: Atoms::new(&atoms), rows, mean }
}

impl Instance {
    /// The step length of the library's ISTA.
    fn step(&self) -> f64 {
        1.0 / self.atoms.lipschitz()
    }

    fn centred(&self) -> Matrix<f64> {
        Matrix::from_fn(N, P + 1, |i, c| self.rows[(i, c)] - self.mean[c])
    }

    /// `I - t A A'`, which maps the codes before a step to what they contribute after it.
    fn kept(&self) -> Matrix<f64> {
        let (atoms, t) = (self.atoms.matrix(), self.step());
        let gram = factor::multiply_transposed(atoms, atoms);
        Matrix::from_fn(M + 1, M + 1, |i, j| f64::from(u8::from(i == j)) - t * gram[(i, j)])
    }

    /// `b_enc = z1 - t z1 A A' - t alpha`.
    fn bias(&self, start: &[f64]) -> Vec<f64> {
        let start = Matrix::from_vec(1, M + 1, start.to_vec());
        let kept = factor::multiply(&start, &self.kept());
        kept.as_slice().iter().map(|z| z - self.step() * ALPHA).collect()
    }

    /// The codes before the step that give a bias of the first `M` units, and 0 for the last.
    fn start(&self, bias: &[f64]) -> Vec<f64> {
        let all = self.kept();
        let kept = Matrix::from_fn(M, M, |i, j| all[(i, j)]);
        let right = Matrix::from_vec(1, M, bias.iter().map(|b| b + self.step() * ALPHA).collect());
        let Some(factored) = factor::Cholesky::new(&kept) else {
            unreachable!("its eigenvalues are at least 1 - STEP")
        };
        let mut start = factored.solve_rows(&right).into_vec();
        start.push(0.0);
        start
    }

    /// Codes by the encoder of an autoencoder: `relu((x - mean) W' + b_enc)` with `W = t A`.
    fn by_autoencoder(&self, bias: Vec<f64>) -> Vec<f64> {
        let atoms = self.atoms.matrix();
        let weight = Matrix::from_fn(P + 1, M + 1, |c, j| self.step() * atoms[(j, c)]);
        let encoder = SparseGate::new(Tensor::vector(&self.mean, Dtype::F64), weight, bias, Gating::Relu);
        let mut codes = vec![0.0; N * (M + 1)];
        encoder.in_f64().apply(self.rows.as_slice(), &mut codes, &mut Workspace::default());
        codes
    }

    /// Codes by one step of ISTA from the codes `start`, the same for every row. The non-negative threshold is the positive part of
    /// the soft threshold; so `start` may have any signs.
    fn by_step(&self, start: &[f64]) -> Vec<f64> {
        let mut lasso = Lasso::of(ALPHA);
        lasso.stop = StoppingRule::Passes(1);
        let mut codes = start.repeat(N);
        Proximal::ista(lasso).code(&self.atoms, self.centred().as_slice(), &mut codes, &mut Work::default());
        codes.iter().map(|z| z.max(0.0)).collect()
    }
}

/// The largest difference.
fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Bound of the identity.
const ROUNDING: f64 = 1e-14;

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let instance = instance();
    lab.note(format!(
        "Data: {N} normal rows of {P} numbers, {M} normal atoms of norm 1, alpha = {ALPHA} (lambda = {} of the chapter); the step is {STEP} times \
         1/||A||². Both sides are computed by the library: by the encoder of SparseAutoencoder, and by LISTA and ISTA.",
        2.0 * ALPHA
    ))?;
    let mut sheet = Sheet::new("One step of LISTA, and the encoder of an autoencoder", 2);
    identity(lab, &instance, &mut sheet)?;
    which_biases(lab, &instance, &mut sheet)?;
    general(lab, &mut sheet)?;
    lab.figure("sae-is-lista", &sheet)
}

/// From codes of 0, where the step is a network of one layer, and from other codes.
fn identity(lab: &mut Lab<'_>, instance: &Instance, sheet: &mut Sheet) -> Result<()> {
    let zero = vec![0.0; M + 1];
    let settings = json!({"alpha": ALPHA, "n_layers": 1, "max_epochs": 0, "positive_code": true});
    let centred = instance.centred();
    let rows = Rows::from_slice(centred.as_slice(), P + 1)?;
    let mut any = AnyRows::F64(Rows::from_slice(centred.as_slice(), P + 1)?);
    let dictionary = [("dictionary", instance.atoms.matrix())];
    let network = Lab::fit_given("lista", settings, &dictionary, &mut any, &lab.run_of(0, None))?;
    let codes = network.encode_to_vec(&rows, lab.run)?;
    let difference = largest_difference(&codes, &instance.by_autoencoder(instance.bias(&zero)));
    let what = "a layer of LISTA: largest difference from the code of the autoencoder";
    lab.check(what, difference, "", "at most 1e-14", difference <= ROUNDING)?;

    let mut start = normal(3, 1, M).into_vec();
    start.push(0.0);
    let (step, encoder) = (instance.by_step(&start), instance.by_autoencoder(instance.bias(&start)));
    let difference = largest_difference(&step, &encoder);
    let what = "a step from any codes: largest difference from the code of the autoencoder";
    lab.check(what, difference, "3e-16", "at most 1e-14", difference <= ROUNDING)?;
    let active = step.iter().filter(|z| **z > 0.0).count() as f64 / N as f64;
    lab.number("a step from any codes: codes of a row that are not 0", active)?;
    let pairs = step.iter().zip(&encoder).filter(|(a, b)| **a > 0.0 || **b > 0.0);
    let points = pairs.take(1500).map(|(a, b)| (*a, *b)).collect();
    sheet.add("codes: of the step (across), of the autoencoder (up)", Content::Points(points));
    Ok(())
}

/// Every bias is that of a step from some codes, unless the step is such that `I - t A A'` has no inverse.
fn which_biases(lab: &mut Lab<'_>, instance: &Instance, sheet: &mut Sheet) -> Result<()> {
    let bias = normal(4, 1, M).into_vec();
    let start = instance.start(&bias);
    let mut all = bias;
    all.push(-instance.step() * ALPHA);
    let difference = largest_difference(&instance.by_step(&start), &instance.by_autoencoder(all));
    let what = "the codes that give a bias: largest difference of a code after the step from them";
    lab.check(what, difference, "1e-15", "at most 1e-14", difference <= ROUNDING)?;

    let atoms = instance.atoms.matrix();
    let unit = Matrix::from_fn(M, P, |j, c| atoms[(j, c)]);
    let values = factor::eigenvalues(&factor::multiply_transposed(&unit, &unit))?;
    let most = values.iter().copied().fold(0.0, f64::max);
    // Least over largest singular value of I - t A A', with t in units of 1/||A||².
    let part = |t: f64| {
        let sizes = values.iter().map(|v| (1.0 - t * v / most).abs());
        sizes.clone().fold(f64::INFINITY, f64::min) / sizes.fold(0.0, f64::max)
    };
    let condition = 1.0 / part(STEP);
    let what = format!("step {STEP}/||A||²: condition of the map from codes to biases");
    lab.check(what, condition, "10", "within 1e-9", (condition - 10.0).abs() <= 1e-9)?;
    let what = "step 1/||A||²: reciprocal condition of that map";
    lab.check(what, part(1.0), "6e-16", "at most 1e-14: no inverse", part(1.0) <= 1e-14)?;
    let steps: Vec<f64> = (1..200).map(|i| f64::from(i) / 200.0).collect();
    let curve: Vec<(f64, f64)> = steps.iter().map(|t| (*t, 1.0 / part(*t))).collect();
    let lines: Vec<Vec<String>> = curve.iter().map(|(t, c)| vec![shown(*t), shown(*c)]).collect();
    lab.table("condition", &["step", "condition"], &lines)?;
    let names = ("step, in units of 1/||A||²".into(), "condition".into());
    let lines = vec![("condition of the map from codes to biases".to_string(), curve)];
    let content = Content::Lines { lines, names, log_y: true, shaded: Vec::new() };
    sheet.add("which steps give every bias", content);
    Ok(())
}

/// A fitted encoder is not a multiple of its atoms: it is no step of ISTA, but a layer of LISTA-CP, whose encoder matrix is free.
fn general(lab: &mut Lab<'_>, sheet: &mut Sheet) -> Result<()> {
    let made = sparse_codes((2000, P, M), 0.1, 0.02, 0)?;
    let settings = json!({"n_components": M, "activation": "relu", "l0": 4, "max_epochs": 10});
    let model = lab.fit("sae", settings, &made.x)?;
    let tensor = |name: &str| model.tensor(name).map(Tensor::f64s).unwrap_or_default();
    let (atoms, weight) = (filters(&model), tensor("encoder_weight"));
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let cosine = sum(&weight, atoms.as_slice())
        / (sum(&weight, &weight) * sum(atoms.as_slice(), atoms.as_slice())).sqrt();
    let untied = (1.0 - cosine * cosine).max(0.0).sqrt();
    let what = "a fitted encoder: part of it that is not a multiple of the atoms";
    lab.check(what, untied, "", "at least .01: not of the form of a step of ISTA", untied >= 0.01)?;

    let (mean, bias) = (tensor("mean"), tensor("encoder_bias"));
    let layer = layer_of(&atoms, &weight, &bias)?;
    // The bias is the weight of a column of ones.
    let ones = Matrix::from_fn(2000, P + 1, |i, c| if c < P { made.x[(i, c)] - mean[c] } else { 1.0 });
    let by_layer = layer.encode_to_vec(&Rows::from_slice(ones.as_slice(), P + 1)?, lab.run)?;
    let codes = model.encode_to_vec(&Rows::from_slice(made.x.as_slice(), P)?, lab.run)?;
    let largest = codes.iter().copied().fold(0.0, f64::max);
    let difference = largest_difference(&by_layer, &codes) / largest;
    let what = "a layer of LISTA-CP with its weights: largest difference over the largest code";
    lab.check(what, difference, "", "at most 1e-14", difference <= ROUNDING)?;
    let pairs = (0..M * P).map(|i| (atoms.as_slice()[i], weight[i])).collect();
    sheet.add("a fitted autoencoder: atoms (across), encoder (up)", Content::Points(pairs));
    Ok(())
}

/// A network of one layer of LISTA-CP for rows with a column of ones: the encoder matrix `(W, b_enc)`, and no threshold above 0.
fn layer_of(atoms: &Matrix<f64>, weight: &[f64], bias: &[f64]) -> Result<Model> {
    let wider = |of: &dyn Fn(usize, usize) -> f64, last: &dyn Fn(usize) -> f64| {
        Matrix::from_fn(M, P + 1, |j, c| if c < P { of(j, c) } else { last(j) })
    };
    let components = wider(&|j, c| atoms[(j, c)], &|_| 0.0);
    let encoder = wider(&|j, c| weight[j * P + c], &|j| bias[j]);
    let numbers = unmix::model::Values::F64(encoder.into_vec());
    let tensors: Tensors = [
        ("components", Tensor::matrix(&components, Dtype::F64)),
        ("mean", Tensor::vector(&[0.0; P + 1], Dtype::F64)),
        ("alpha", Tensor::scalar(0.0, Dtype::F64)),
        ("layer_weights", Tensor::new(vec![1, M, P + 1], numbers)),
        ("thresholds", Tensor::vector(&[0.0], Dtype::F64)),
    ]
    .into_iter()
    .map(|(name, tensor)| (name.to_string(), tensor))
    .collect();
    let settings = Map::from_iter([
        ("cell".to_string(), json!("cp")),
        ("n_layers".to_string(), json!(1)),
        ("positive_code".to_string(), json!(true)),
    ]);
    let report = Report::closed_form("parameters of an autoencoder", 2000.0, P + 1, Dtype::F64, 0);
    Model::new(find("lista")?, settings, Features::default(), 0, tensors, report)
}
