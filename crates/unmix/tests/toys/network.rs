//! Codes by a network with one layer, `y = tanh((x - mean) W' D)`, and rows by its inverse, `x = mean + D⁻¹ tanh⁻¹(y) W`: a nonlinear
//! decoder.

use super::{Toy, by_row, components, dot, numbers, toy};
use unmix::data::Workspace;
use unmix::method::Method;
use unmix::model::{Code, Decoder, Encoder, RowMap};
use unmix::{Matrix, Real};

pub(crate) static METHOD: Method = toy(
    "toy-network",
    "ToyNetwork",
    &[super::N_COMPONENTS],
    |given| Toy::spec(&METHOD, given),
    |_, tensors| {
        let gain = numbers(tensors, "explained_variance")?.iter().map(|v| 0.25 / v.sqrt()).collect();
        let network = Network { mean: numbers(tensors, "mean")?, w: components(tensors)?, gain };
        Code::new(network.clone(), Back(network))
    },
    None,
);

#[derive(Clone, Debug)]
struct Network {
    mean: Vec<f64>,
    /// Unit vectors as rows, `k x p`.
    w: Matrix<f64>,
    gain: Vec<f64>,
}

impl Encoder for Network {
    fn n_features(&self) -> usize {
        self.w.cols()
    }
    fn n_codes(&self) -> usize {
        self.w.rows()
    }
    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        Box::new(self.clone())
    }
    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        Box::new(self.clone())
    }
}

impl<T: Real> RowMap<T> for Network {
    fn apply(&self, rows: &[T], out: &mut [T], _: &mut Workspace<T>) {
        by_row(rows, out, self.w.cols(), self.w.rows(), |_, x| {
            let centred: Vec<f64> = x.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
            (0..self.w.rows()).map(|i| (self.gain[i] * dot(self.w.row(i), &centred)).tanh()).collect()
        });
    }
}

#[derive(Clone, Debug)]
struct Back(Network);

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
        let Network { mean, w, gain } = &self.0;
        by_row(codes, out, w.rows(), w.cols(), |_, y| {
            // Codes are clamped to within the range of tanh, (-1, 1).
            let inverse = |i: usize| y[i].clamp(-0.999, 0.999).atanh() / gain[i];
            let at = |j: usize| mean[j] + (0..w.rows()).map(|i| inverse(i) * w[(i, j)]).sum::<f64>();
            (0..w.cols()).map(at).collect()
        });
    }
}
