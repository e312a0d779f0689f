//! Any rule on batches of rows, as published and as corrected.
//!
//! *Correction.* At its fixed point a rule in unit columns has a gradient along them, which the projection takes back; Adam
//! divides it entry by entry and turns it, and ends elsewhere. So what lies along the columns is taken away before the step
//! (`tangent`, on by default), and the rate falls linearly to 0. Literal settings are `tangent: false`.
//!
//! *Same bits.* Every epoch visits all rows in an order that depends on the seed and the epoch alone, in batches of one size or
//! one row fewer, each read in the order of the rows ([`batches`](super::batches)). So nothing depends on threads, or on where rows are kept. Rows are read
//! as they are needed: they may be more than memory holds.

use super::batches::Batches;
use super::constraint::{divide, lengths, project};
use super::{Constraint, Field, Mean, Optimiser, Sigma, Spec, State};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::num::random::Stream;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::spectrum::Decomposition;
use crate::stats::GatherLengths;

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
    /// Whether weights of orthogonality count in units of that variance, whatever else does.
    pub beta_by_variance: Option<bool>,
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
            beta_by_variance: None,
        }
    }
}

/// What is known of the rows before the first step.
#[derive(Clone, Debug)]
pub struct TrainingStart {
    /// Weights, `p x k`.
    pub w: Matrix<f64>,
    /// Mean of the rows.
    pub mean: Vec<f64>,
    /// What columns are divided by before anything else, where they are.
    pub units: Option<Vec<f64>>,
    /// Root of the mean square of their numbers, about the mean.
    pub size: f64,
    /// Mean length of a row, for rules that go by it.
    pub length: f64,
    /// Standard deviation along the last of the principal axes that are learnt.
    pub last: f64,
}

impl TrainingStart {
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
                let (about, units) = (found.mean.clone(), found.noise_scale.clone());
                let sums = rows.sweep(run, "lengths", &GatherLengths { about, units })?;
                sums.sum / sums.n
            }
            false => 1.0,
        };
        Ok(Self {
            w: found.axes.clone().top_rows(k).transposed(),
            mean: found.mean.clone(),
            units: found.noise_scale.clone(),
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
    /// The same for each component.
    pub widths: Vec<f64>,
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
    begin: &TrainingStart,
    how: &Training,
    run: &Run<'_>,
) -> Result<Trained> {
    train_by_widths(rows, spec, begin, how, &mut |_, now| Ok(now.to_vec()), run)
}

/// From weights (`p x k`) and the numbers in the nonlinearity to what these are to be.
type Widths<'a> = dyn FnMut(&Matrix<f64>, &[f64]) -> Result<Vec<f64>> + 'a;

/// [`train`], where `widths` hears of the weights (`p x k`) and the numbers in the nonlinearity before the first epoch and after
/// each, and says what the latter are to be.
pub(crate) fn train_by_widths<T: Real>(
    rows: &Rows<'_, T>,
    spec: &Spec,
    begin: &TrainingStart,
    how: &Training,
    widths: &mut Widths<'_>,
    run: &Run<'_>,
) -> Result<Trained> {
    let keeps_mean = spec.mean == Mean::Kept;
    let mean = if keeps_mean { vec![0.0; begin.mean.len()] } else { begin.mean.clone() };
    let own = how.absolute || spec.own_units;
    let size = if own { 1.0 } else { begin.size.max(f64::MIN_POSITIVE) };
    let batches = Batches::new(rows, how.batch_size, &mean, size, run.seed).divided(begin.units.as_deref());
    let mut trainer = Trainer::new(spec, begin, how, size, batches.each_epoch * how.max_epochs);
    let none = Vec::new;
    let mut out =
        Trained { w: Matrix::zeros(0, 0), a: spec.a, widths: none(), sigma: Vec::new(), steps: 0, epochs: 0 };
    trainer.choose_widths(widths)?;
    let mut told = 0;
    batches.each(how.max_epochs, run.threads, |group| {
        for x in group.batches() {
            trainer.step(x)?;
        }
        if group.last || trainer.done - told >= 64 {
            told = trainer.done;
            run.sweep_progress(&format!("epoch {}", group.epoch + 1), group.done, rows.n_rows())?;
        }
        if !group.last {
            return Ok(true);
        }
        trainer.check()?;
        out.sigma.push(trainer.state.sigma.iter().map(|s| s * size).collect());
        out.epochs += 1;
        trainer.choose_widths(widths)?;
        Ok(!run.out_of_time())
    })?;
    (out.w, out.widths) = (trainer.weights(), trainer.widths());
    (out.a, out.steps) = (trainer.state.a, trainer.done);
    Ok(out)
}

struct Trainer<T> {
    spec: Spec,
    how: Training,
    k: usize,
    steps: u64,
    done: u64,
    field: Field<T>,
    state: State,
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
    /// For rows divided by `size`, and so many steps.
    fn new(spec: &Spec, begin: &TrainingStart, how: &Training, size: f64, steps: u64) -> Self {
        let (p, k) = (begin.w.rows(), begin.w.cols());
        let mut state = State::new(spec);
        let mut spec = *spec;
        state.beta_by_variance = how.beta_by_variance.unwrap_or(!how.absolute);
        if !state.beta_by_variance {
            // The loss that it is weighed against was divided by the square.
            spec.beta /= size * size;
        }
        state.eps = 1e-3;
        // Sparsity weighed by the length of rows, as published, is too strong for the last axes.
        state.length = match how.absolute {
            true => begin.length,
            false => (0.1 * begin.length).min(0.6 * begin.last) / size,
        };
        if spec.sigma == Sigma::Trained && how.absolute {
            state.sigma = vec![1.0; k];
        }
        let w: Vec<T> = begin.w.as_slice().iter().map(|x| T::from_f64(*x)).collect();
        Self {
            spec,
            how: *how,
            k,
            steps,
            done: 0,
            field: Field::new(&spec, p, k),
            state,
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

    /// One step by a batch of rows.
    fn step(&mut self, x: &[T]) -> Result<()> {
        let left = 1.0 - self.done as f64 / self.steps as f64;
        let rate = self.how.learning_rate * if self.how.decay { left } else { 1.0 };
        self.done += 1;
        let (k, how) = (self.k, self.how.optimiser);
        let constraint = self.spec.constraint;
        self.field.pull(x, &self.w, &mut self.state);
        let orthonormal =
            matches!(constraint, Constraint::Polar | Constraint::GramSchmidt | Constraint::NewtonSchulz);
        if constraint == Constraint::WeightNorm || (self.how.tangent && constraint != Constraint::None) {
            self.field.tangent(orthonormal);
        }
        self.field.gradient(x, &self.w, &mut self.g);
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

    fn weights(&self) -> Matrix<f64> {
        Matrix::from_vec(self.w.len() / self.k, self.k, self.w.iter().map(|x| x.to_f64()).collect())
    }

    fn widths(&self) -> Vec<f64> {
        match self.state.widths.is_empty() {
            true => vec![self.state.a; self.k],
            false => self.state.widths.clone(),
        }
    }

    fn choose_widths(&mut self, choose: &mut Widths<'_>) -> Result<()> {
        let now = self.widths();
        let chosen = choose(&self.weights(), &now)?;
        if chosen != now {
            self.state.widths = chosen;
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
