//! Codes by a threshold: `y = max(0, s (x - mean) W' - threshold)`, with a scale `s` for every component in the model file.
//! Non-negative and sparse.

use super::{Toy, by_row, components, dot, number, numbers, setting, toy};
use unmix::data::Workspace;
use unmix::method::{Method, Setting};
use unmix::model::{Code, Codes, Decoder, Encoder, RowMap};
use unmix::{Matrix, Real};

pub(crate) static METHOD: Method = row();

const SETTINGS: &[Setting] = &[
    super::N_COMPONENTS,
    number("threshold", "0.5", "Threshold that is subtracted from standardised codes."),
];

pub(crate) const fn row() -> Method {
    toy(
        "toy-gate",
        "ToyGate",
        SETTINGS,
        |given| Toy::spec(&METHOD, given),
        |settings, tensors| {
            let scale = numbers(tensors, "explained_variance")?.iter().map(|v| 1.0 / v.sqrt()).collect();
            let gate = Gate {
                mean: numbers(tensors, "mean")?,
                w: components(tensors)?,
                scale,
                threshold: setting(settings, "threshold"),
            };
            Code::new(gate.clone(), Back(gate))
        },
        None,
    )
}

#[derive(Clone, Debug)]
struct Gate {
    mean: Vec<f64>,
    /// Unit vectors as rows, `k x p`.
    w: Matrix<f64>,
    scale: Vec<f64>,
    threshold: f64,
}

impl Encoder for Gate {
    fn n_features(&self) -> usize {
        self.w.cols()
    }
    fn n_codes(&self) -> usize {
        self.w.rows()
    }
    fn codes(&self) -> Codes {
        Codes { sparse: true, non_negative: true, missing: false, stored: false, ..Codes::default() }
    }
    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        Box::new(self.clone())
    }
    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        Box::new(self.clone())
    }
}

impl<T: Real> RowMap<T> for Gate {
    fn apply(&self, rows: &[T], out: &mut [T], _: &mut Workspace<T>) {
        by_row(rows, out, self.w.cols(), self.w.rows(), |_, x| {
            let centred: Vec<f64> = x.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
            let code = |i: usize| (self.scale[i] * dot(self.w.row(i), &centred) - self.threshold).max(0.0);
            (0..self.w.rows()).map(code).collect()
        });
    }
}

/// The decoder `x = mean + (y / s) W`.
#[derive(Clone, Debug)]
struct Back(Gate);

impl Decoder for Back {
    fn n_features(&self) -> usize {
        self.0.w.cols()
    }
    fn n_codes(&self) -> usize {
        self.0.w.rows()
    }
    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        Box::new(self.clone())
    }
    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        Box::new(self.clone())
    }
}

impl<T: Real> RowMap<T> for Back {
    fn apply(&self, codes: &[T], out: &mut [T], _: &mut Workspace<T>) {
        let Gate { mean, w, scale, .. } = &self.0;
        by_row(codes, out, w.rows(), w.cols(), |_, y| {
            let at = |j: usize| mean[j] + (0..w.rows()).map(|i| y[i] / scale[i] * w[(i, j)]).sum::<f64>();
            (0..w.cols()).map(at).collect()
        });
    }
}
