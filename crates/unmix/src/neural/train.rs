//! Any rule on batches of rows, as published and as corrected.
//!
//! *Correction.* At its fixed point a rule in unit columns has a gradient along them, which the projection takes back; Adam
//! divides it entry by entry and turns it, and ends elsewhere. So what lies along the columns is taken away before the step
//! (`tangent`, on by default), and the rate falls linearly to 0. Literal settings are `tangent: false`.
//!
//! *Same bits.* Every epoch visits all rows in an order that depends on the seed and the epoch alone, in batches of one size or
//! one row fewer, each read in the order of the rows. So nothing depends on threads, or on where rows are kept. Rows are read
//! as they are needed: they may be more than memory holds.

use super::constraint::{divide, lengths, project};
use super::{Constraint, Field, Mean, Optimiser, Sigma, Spec, State};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::num::random::Stream;
use crate::num::{Matrix, Real, factor, widest};
use crate::run::Run;
use crate::spectrum::Decomposition;
use crate::stats::Lengths;

/// How to train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Training {
    /// How gradients become steps.
    pub optimiser: Optimiser,
    /// Its rate, at the beginning.
    pub learning_rate: f64,
    /// Rows of a batch at most.
    pub batch_size: usize,
    /// How often all rows are visited.
    pub max_epochs: u64,
    /// Takes away the part of the gradient along the columns themselves, where these are kept at unit length.
    pub tangent: bool,
    /// The rate falls linearly to 0.
    pub decay: bool,
    /// Everything in the units of the data, as published; otherwise rows are divided by their size first, and weights of
    /// orthogonality count in units of the mean variance along the columns.
    pub absolute: bool,
}

impl Default for Training {
    fn default() -> Self {
        Self {
            optimiser: Optimiser::Adam,
            learning_rate: 0.01,
            batch_size: 128,
            max_epochs: 20,
            tangent: true,
            decay: true,
            absolute: false,
        }
    }
}

/// What is known of the rows before the first step.
#[derive(Clone, Debug)]
pub struct Begin {
    /// Weights, `p x k`.
    pub w: Matrix<f64>,
    /// Mean of the rows.
    pub mean: Vec<f64>,
    /// Root of the mean square of their numbers, about the mean.
    pub size: f64,
    /// Mean length of a row, for rules that go by it.
    pub length: f64,
    /// Standard deviation along the last of the principal axes that are learnt.
    pub last: f64,
}

impl Begin {
    /// At the first `k` principal axes of the rows, at most as many as the rank.
    ///
    /// # Errors
    ///
    /// Those of a sweep, which rules that go by the length of rows need.
    pub fn at_axes<T: Real>(
        rows: &Rows<'_, T>,
        found: &Decomposition,
        spec: &Spec,
        k: usize,
        run: &Run<'_>,
    ) -> Result<Self> {
        let (k, p) = (k.min(found.axes.rows()), found.mean.len());
        let share = (found.n - 1.0) / found.n;
        let by_length =
            spec.by_length && [spec.l1, spec.logcosh, spec.skew, spec.nodiag].iter().any(|w| *w != 0.0);
        let length = match by_length {
            true => {
                let about = &found.mean;
                let sums =
                    rows.sweep(run, "lengths", Lengths::default, |sums, block, _| sums.gather(block, about))?;
                sums.sum / sums.n
            }
            false => 1.0,
        };
        Ok(Self {
            w: found.axes.clone().top_rows(k).transposed(),
            mean: found.mean.clone(),
            size: (found.total * share / p as f64).sqrt(),
            length,
            last: found.values.get(k.max(1) - 1).map_or(1.0, |v| (v * share).max(0.0).sqrt()),
        })
    }

    /// With random orthonormal directions in place of the axes.
    pub fn at_random(mut self, seed: u64) -> Self {
        let (p, k) = (self.w.rows(), self.w.cols());
        let draws = Stream::new(seed, 0x6e70);
        let random = Matrix::from_fn(k, p, |j, i| draws.normal((j * p + i) as u64));
        self.w = factor::orthonormal_rows(&random).transposed();
        self
    }
}

/// Weights as they were left.
#[derive(Clone, Debug)]
pub struct Trained {
    /// `p x k`.
    pub w: Matrix<f64>,
    /// The number in the nonlinearity.
    pub a: f64,
    /// Standard deviations as the rule has them, in the units of the data, after each epoch.
    pub sigma: Vec<Vec<f64>>,
    /// Steps.
    pub steps: u64,
    /// Epochs, where time was up before the last one.
    pub epochs: u64,
}

/// Trains the rule `spec` on settled rows.
///
/// # Errors
///
/// Weights that grow without bound, what the source reports, interruption.
pub fn train<T: Real>(
    rows: &Rows<'_, T>,
    spec: &Spec,
    begin: &Begin,
    how: &Training,
    run: &Run<'_>,
) -> Result<Trained> {
    let mut trainer = Trainer::new(rows, spec, begin, how);
    let n = rows.n_rows().unwrap_or(0);
    let mut out = Trained { w: Matrix::zeros(0, 0), a: spec.a, sigma: Vec::new(), steps: 0, epochs: 0 };
    let mut order: Vec<u64> = (0..n).collect();
    for epoch in 0..how.max_epochs {
        Stream::new(run.seed, 0x7472_6169 + epoch).shuffle(0, &mut order);
        let mut done = 0;
        for batch in 0..trainer.batches {
            let end = ((batch + 1) as u128 * n as u128 / trainer.batches as u128) as usize;
            order[done..end].sort_unstable();
            trainer.step(rows, &order[done..end])?;
            if batch % 64 == 63 || end as u64 == n {
                run.sweep_progress(&format!("epoch {}", epoch + 1), end as u64, Some(n))?;
            }
            done = end;
        }
        trainer.check()?;
        out.sigma.push(trainer.state.sigma.iter().map(|s| s * trainer.size).collect());
        out.epochs += 1;
        if run.out_of_time() {
            break;
        }
    }
    out.w = Matrix::from_vec(begin.w.rows(), begin.w.cols(), trainer.w.iter().map(|x| x.to_f64()).collect());
    (out.a, out.steps) = (trainer.state.a, trainer.done);
    Ok(out)
}

struct Trainer<T> {
    spec: Spec,
    how: Training,
    p: usize,
    k: usize,
    /// What is subtracted from rows, and what they are then divided by.
    mean: Vec<f64>,
    size: f64,
    batches: u64,
    steps: u64,
    done: u64,
    field: Field<T>,
    state: State,
    x: Vec<T>,
    raw: Vec<u8>,
    w: Vec<T>,
    /// Weights of any length, where these are what is stored.
    stored: Vec<T>,
    g: Vec<T>,
    memory: Memory<T>,
}

/// What the optimiser remembers of all parameters.
struct Memory<T> {
    w: super::optimiser::Memory<T>,
    sigma: super::optimiser::Memory<f64>,
    a: super::optimiser::Memory<f64>,
}

/// Learnt standard deviations and numbers of nonlinearities stay above these, in the units of rows divided by their size.
const LEAST_SIGMA: f64 = 1e-3;
const LEAST_A: f64 = 1e-2;

impl<T: Real> Trainer<T> {
    fn new(rows: &Rows<'_, T>, spec: &Spec, begin: &Begin, how: &Training) -> Self {
        let (p, k) = (begin.w.rows(), begin.w.cols());
        let own = how.absolute || spec.own_units;
        let size = if own { 1.0 } else { begin.size.max(f64::MIN_POSITIVE) };
        let mut state = State::new(spec);
        state.beta_by_variance = !how.absolute;
        state.eps = 1e-3;
        // Sparsity weighed by the length of rows, as published, is too strong for the last axes.
        state.length = match how.absolute {
            true => begin.length,
            false => (0.1 * begin.length).min(0.6 * begin.last) / size,
        };
        if spec.sigma == Sigma::Trained && how.absolute {
            state.sigma = vec![1.0; k];
        }
        let n = rows.n_rows().unwrap_or(0);
        let batches = n.div_ceil(how.batch_size.max(1) as u64).max(1);
        let w: Vec<T> = begin.w.as_slice().iter().map(|x| T::from_f64(*x)).collect();
        let keeps_mean = spec.mean == Mean::Kept;
        Self {
            spec: *spec,
            how: *how,
            p,
            k,
            mean: if keeps_mean { vec![0.0; p] } else { begin.mean.clone() },
            size,
            batches,
            steps: batches * how.max_epochs,
            done: 0,
            field: Field::new(spec, p, k),
            state,
            x: Vec::new(),
            raw: Vec::new(),
            stored: if spec.constraint == Constraint::WeightNorm { w.clone() } else { Vec::new() },
            g: vec![T::default(); p * k],
            memory: Memory {
                w: super::optimiser::Memory::new(p * k),
                sigma: super::optimiser::Memory::new(k),
                a: super::optimiser::Memory::new(1),
            },
            w,
        }
    }

    fn step(&mut self, rows: &Rows<'_, T>, which: &[u64]) -> Result<()> {
        self.gather(rows, which)?;
        let left = 1.0 - self.done as f64 / self.steps as f64;
        let rate = self.how.learning_rate * if self.how.decay { left } else { 1.0 };
        self.done += 1;
        let (k, how) = (self.k, self.how.optimiser);
        let constraint = self.spec.constraint;
        self.field.pull(&self.x, &self.w, &mut self.state);
        let orthonormal =
            matches!(constraint, Constraint::Polar | Constraint::GramSchmidt | Constraint::NewtonSchulz);
        if constraint == Constraint::WeightNorm || (self.how.tangent && constraint != Constraint::None) {
            self.field.tangent(orthonormal);
        }
        self.field.gradient(&self.x, &self.w, &mut self.g);
        if constraint == Constraint::WeightNorm {
            let by = lengths(&self.stored, k);
            divide(&mut self.g, &by);
            self.memory.w.step(how, rate, &mut self.stored, &self.g);
            self.w.copy_from_slice(&self.stored);
            let by = lengths(&self.w, k);
            divide(&mut self.w, &by);
        } else {
            self.memory.w.step(how, rate, &mut self.w, &self.g);
            project(constraint, &mut self.w, k)?;
        }
        if self.spec.sigma == Sigma::Trained {
            self.memory.sigma.step(how, rate, &mut self.state.sigma, &self.field.further.sigma);
            self.state.sigma.iter_mut().for_each(|s| *s = s.max(LEAST_SIGMA));
        }
        if self.spec.train_a {
            let mut a = [self.state.a];
            self.memory.a.step(how, rate, &mut a, &[self.field.further.a]);
            self.state.a = a[0].max(LEAST_A);
        }
        Ok(())
    }

    /// The rows of a batch, centred and divided by their size.
    fn gather(&mut self, rows: &Rows<'_, T>, which: &[u64]) -> Result<()> {
        let p = self.p;
        self.x.resize(which.len() * p, T::default());
        let random = rows.settled();
        let inverse = 1.0 / self.size;
        for (&i, out) in which.iter().zip(self.x.chunks_exact_mut(p)) {
            match random.lend(i..i + 1) {
                Some(row) => widest(|| {
                    for ((o, x), m) in out.iter_mut().zip(row).zip(&self.mean) {
                        *o = T::from_f64((x.to_f64() - m) * inverse);
                    }
                }),
                None => {
                    random.read(i..i + 1, 0..p, out, &mut self.raw)?;
                    widest(|| {
                        for (o, m) in out.iter_mut().zip(&self.mean) {
                            *o = T::from_f64((o.to_f64() - m) * inverse);
                        }
                    });
                }
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let finite = self.w.iter().all(|x| x.finite()) && self.state.sigma.iter().all(|s| s.is_finite());
        if finite {
            return Ok(());
        }
        Err(Error::setting(
            "learning_rate",
            self.how.learning_rate,
            "the weights grew without bound",
            "choose a smaller one, or solver='auto'",
        ))
    }
}
