//! Quality of the codes after every layer, compared with the same number of steps of ISTA and FISTA.

use super::net::{Buffers, Net, Problem};
use crate::num::parallel;
use crate::num::{Real, kernel};
use crate::sparse::{Atoms, Checked, Measure, measure};
use serde_json::{Value, json};

/// Rows that are processed at a time.
const ROWS_PER_BLOCK: usize = 64;

/// Means over rows after each layer.
struct Curve {
    objective: Vec<f64>,
    squared_error: Vec<f64>,
    /// Sum of duality gaps over half the sum of squared norms of the rows.
    gap: Vec<f64>,
    /// Sum of squared errors of the codes, if the true ones are known, over the sum of squares of these.
    code_error: Option<Vec<f64>>,
}

/// Sums over rows after one layer: objective, squared error, gap, squared norms, squared errors of codes.
type Sums = [f64; 5];

/// The table for these rows: of the network without its final steps of FISTA, of ISTA and of FISTA.
pub(super) fn by_layer<T: Real>(net: Net<'_, T>, atoms: &Atoms<T>, x: &[T], codes: Option<&[T]>) -> Value {
    let problem = net.problem;
    let depth = problem.n_layers;
    let of_net = curve(problem, atoms, x, codes, |x, seen| {
        let mut z = vec![T::default(); x.len() / problem.p * problem.m];
        net.codes(x, &mut z, depth, &mut Buffers::default(), |l, z| seen(l, z));
    });
    let steps = |accelerated| {
        curve(problem, atoms, x, codes, |x, seen| proximal(problem, x, depth, accelerated, seen))
    };
    let mut out = of_net.to_json();
    out["ista"] = steps(false).to_json();
    out["fista"] = steps(true).to_json();
    out["n_rows"] = json!(x.len() / problem.p);
    out
}

impl Curve {
    fn to_json(&self) -> Value {
        let mut out =
            json!({"objective": self.objective, "squared_error": self.squared_error, "gap": self.gap});
        if let Some(error) = &self.code_error {
            out["code_error"] = json!(error);
        }
        out
    }
}

/// The means for the codes that `run` passes to its callback after every layer.
fn curve<T: Real>(
    problem: &Problem<T>,
    atoms: &Atoms<T>,
    x: &[T],
    codes: Option<&[T]>,
    run: impl Fn(&[T], &mut dyn FnMut(usize, &[T])) + Sync,
) -> Curve {
    let (m, p, penalty) = (problem.m, problem.p, (problem.alpha, problem.positive));
    let blocks: Vec<Vec<Sums>> = parallel::map(x.chunks(ROWS_PER_BLOCK * p).enumerate(), |(i, x)| {
        let n = x.len() / p;
        let (mut out, mut checked) = (vec![[0.0; 5]; problem.n_layers], Checked::default());
        let mut found = vec![Measure::default(); n];
        run(x, &mut |l, z| {
            measure(atoms, penalty, x, z, &mut found, &mut checked);
            for row in &found {
                let numbers = [row.objective, row.squared_error, row.gap, row.squared_norm];
                out[l].iter_mut().zip(numbers).for_each(|(sum, x)| *sum += x);
            }
            if let Some(codes) = codes {
                let pairs = z.iter().zip(&codes[i * ROWS_PER_BLOCK * m..]);
                out[l][4] += pairs.map(|(z, c)| (z.to_f64() - c.to_f64()).powi(2)).sum::<f64>();
            }
        });
        out
    });
    let n = (x.len() / p).max(1) as f64;
    let sum = |l: usize, k: usize| blocks.iter().map(|block| block[l][k]).sum::<f64>();
    let each = |k: usize, by: &dyn Fn(usize) -> f64| -> Vec<f64> {
        (0..problem.n_layers).map(|l| sum(l, k) / by(l)).collect()
    };
    let known: Option<f64> = codes.map(|codes| codes.iter().map(|c| c.to_f64() * c.to_f64()).sum());
    Curve {
        objective: each(0, &|_| n),
        squared_error: each(1, &|_| n),
        gap: each(2, &|l| (0.5 * sum(l, 3)).max(f64::MIN_POSITIVE)),
        code_error: known.map(|known| each(4, &|_| if known > 0.0 { known } else { 1.0 })),
    }
}

/// Steps of ISTA, or of FISTA restarted for each row separately, from codes of 0.
fn proximal<T: Real>(
    problem: &Problem<T>,
    x: &[T],
    depth: usize,
    accelerated: bool,
    seen: &mut dyn FnMut(usize, &[T]),
) {
    let (m, p, t) = (problem.m, problem.p, 1.0 / problem.lipschitz);
    let n = x.len() / p;
    let (mut z, mut y) = (vec![0.0f64; n * m], vec![T::default(); n * m]);
    let (mut r, mut c) = (vec![T::default(); n * p], vec![T::default(); n * m]);
    let mut momenta = vec![1.0f64; n];
    let mut narrow = vec![T::default(); n * m];
    for l in 0..depth {
        kernel::product(&mut r, &y, &problem.atoms, n, m, p);
        r.iter_mut().zip(x).for_each(|(r, x)| *r = *x - *r);
        kernel::product(&mut c, &r, &problem.across, n, p, m);
        for (i, momentum) in momenta.iter_mut().enumerate() {
            let row = i * m..(i + 1) * m;
            let (z, y, c) = (&mut z[row.clone()], &mut y[row.clone()], &c[row]);
            let new: Vec<f64> = y
                .iter()
                .zip(c)
                .map(|(y, c)| problem.soft(y.to_f64() + t * c.to_f64(), t * problem.alpha))
                .collect();
            let uphill: f64 = (0..m).map(|j| (y[j].to_f64() - new[j]) * (new[j] - z[j])).sum();
            let next = (1.0 + (1.0 + 4.0 * *momentum * *momentum).sqrt()) / 2.0;
            let by = if accelerated && uphill <= 0.0 { (*momentum - 1.0) / next } else { 0.0 };
            *momentum = if uphill > 0.0 { 1.0 } else { next };
            for j in 0..m {
                y[j] = T::from_f64(new[j] + by * (new[j] - z[j]));
                z[j] = new[j];
            }
        }
        narrow.iter_mut().zip(&z).for_each(|(to, z)| *to = T::from_f64(*z));
        seen(l, &narrow);
    }
}

impl<T> Problem<T> {
    /// Soft thresholding of `v` at `theta`.
    fn soft(&self, v: f64, theta: f64) -> f64 {
        match () {
            () if v > theta => v - theta,
            () if v < -theta && !self.positive => v + theta,
            () => 0.0,
        }
    }
}
