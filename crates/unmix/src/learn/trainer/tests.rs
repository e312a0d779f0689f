//! The laws of [`Trainer`](super::Trainer), on least squares.

use super::*;
use crate::data::Rows;
use crate::error::Error;
use crate::num::random::Stream;

/// `last column = w · other columns + bias`, by least squares.
struct Line {
    gradient: Vec<f32>,
    of_bias: f64,
    /// Batches seen, for tests that stop.
    seen: usize,
    stops_after: usize,
    /// Rows of a validation part.
    held: Vec<f32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Fitted {
    w: Vec<f32>,
    bias: f64,
    epochs: u64,
}

impl Line {
    fn new() -> Self {
        Self { gradient: vec![0.0; 3], of_bias: 0.0, seen: 0, stops_after: usize::MAX, held: Vec::new() }
    }
}

impl Learner<f32> for Line {
    type State = Fitted;

    fn gradient(&mut self, state: &mut Fitted, batch: &Batch<'_, f32>) -> Result<Option<f64>> {
        self.seen += 1;
        if self.seen > self.stops_after {
            return Err(Error::Interrupted);
        }
        let (mut sums, mut loss, mut n) = ([0.0; 4], 0.0, 0.0);
        for (i, x) in batch.x.chunks_exact(4).enumerate() {
            let weight = batch.weights.map_or(1.0, |w| w[i]);
            let predicted: f64 = (0..3).map(|j| f64::from(state.w[j] * x[j])).sum();
            let e = predicted + state.bias - f64::from(x[3]);
            (0..3).for_each(|j| sums[j] += weight * e * f64::from(x[j]));
            sums[3] += weight * e;
            loss += weight * e * e / 2.0;
            n += weight;
        }
        self.gradient = sums[..3].iter().map(|s| (s / n) as f32).collect();
        self.of_bias = sums[3] / n;
        Ok(Some(loss / n))
    }

    fn parameters(&mut self, state: &mut Fitted, updates: &mut Updates<'_, f32>) {
        updates.take(&mut state.w, &self.gradient);
        updates.take_wide(std::slice::from_mut(&mut state.bias), &[self.of_bias]);
    }

    fn validate(&mut self, state: &Fitted) -> Result<Option<f64>> {
        let error = |x: &[f32]| {
            let predicted: f64 = (0..3).map(|j| f64::from(state.w[j] * x[j])).sum();
            (predicted + state.bias - f64::from(x[3])).powi(2)
        };
        Ok((!self.held.is_empty()).then(|| self.held.chunks_exact(4).map(error).sum()))
    }

    fn epoch_ended(&mut self, state: &mut Fitted) -> Result<()> {
        state.epochs += 1;
        Ok(())
    }
}

type State = TrainerState<Fitted, f32>;

fn begin() -> State {
    TrainerState::new(Fitted { w: vec![0.0; 3], bias: 0.0, epochs: 0 })
}

/// Rows of a line with a little noise: `x0 - 2 x1 + 0.5 x2 + 3`.
fn numbers(n: usize) -> Vec<f32> {
    let draws = Stream::new(8, 0);
    let row = |i: usize| {
        let x: Vec<f64> = (0..4).map(|j| draws.normal((4 * i + j) as u64)).collect();
        let y = x[0] - 2.0 * x[1] + 0.5 * x[2] + 3.0 + 0.01 * x[3];
        [x[0] as f32, x[1] as f32, x[2] as f32, y as f32]
    };
    (0..n).flat_map(row).collect()
}

fn trainer(optimiser: Optimiser) -> Trainer {
    Trainer { optimiser, learning_rate: 0.05, schedule: Schedule::Linear, max_epochs: 20, patience: None }
}

fn run() -> Run<'static> {
    Run { threads: 1, seed: 3, ..Run::default() }
}

#[test]
fn least_squares_are_solved_and_the_loss_decreases() {
    let x = numbers(500);
    let rows = Rows::from_slice(&x, 4).unwrap();
    let batches = Batches::new(&rows, 32, 3).unwrap();
    for optimiser in [Optimiser::Sgd, Optimiser::Adam] {
        let mut state = begin();
        let outcome = trainer(optimiser).train(&batches, &mut Line::new(), &mut state, &run()).unwrap();
        assert_eq!((outcome, state.steps, state.position.epoch), (Outcome::Completed, 16 * 20, 20));
        assert_eq!((state.position.batch, state.learner.epochs, state.history.len()), (0, 20, 20));
        let Fitted { w, bias, .. } = &state.learner;
        let away = [w[0] - 1.0, w[1] + 2.0, w[2] - 0.5, *bias as f32 - 3.0];
        assert!(away.iter().all(|e| e.abs() < 0.01), "{optimiser:?}: {away:?}");
        // What is left is the noise: half of its variance.
        let (first, last) = (state.history[0], state.history[19]);
        assert!(first > 0.1 && (last / 0.5e-4 - 1.0).abs() < 0.25, "{optimiser:?}: {first} {last}");
    }
}

/// The state as what a checkpoint would hold.
fn text(state: &State) -> String {
    serde_json::to_string(state).unwrap()
}

#[test]
fn training_that_was_stopped_anywhere_ends_with_the_same_bits() {
    let x = numbers(100);
    let rows = Rows::from_slice(&x, 4).unwrap();
    let batches = Batches::new(&rows, 17, 3).unwrap();
    for optimiser in [Optimiser::Sgd, Optimiser::Adam] {
        let trainer =
            Trainer { max_epochs: 4, schedule: Schedule::WarmUp { steps: 5 }, ..trainer(optimiser) };
        let mut want = begin();
        trainer.train(&batches, &mut Line::new(), &mut want, &run()).unwrap();
        for stops_after in 0..24 {
            let mut state = begin();
            let mut first = Line { stops_after, ..Line::new() };
            let stopped = trainer.train(&batches, &mut first, &mut state, &run());
            assert!(matches!(stopped, Err(Error::Interrupted)));
            let mut again: State = serde_json::from_str(&text(&state)).unwrap();
            assert_eq!(again.steps, stops_after as u64);
            trainer.train(&batches, &mut Line::new(), &mut again, &run()).unwrap();
            assert_eq!(text(&again), text(&want), "{optimiser:?} after {stops_after}");
        }
    }
}

#[test]
fn the_time_limit_is_checked_after_every_step_and_the_state_kept() {
    let x = numbers(100);
    let rows = Rows::from_slice(&x, 4).unwrap();
    let batches = Batches::new(&rows, 20, 3).unwrap();
    let trainer = Trainer { max_epochs: 2, ..trainer(Optimiser::Adam) };
    let timed = Run { max_seconds: Some(0.0), ..run() };
    let (mut want, mut state) = (begin(), begin());
    trainer.train(&batches, &mut Line::new(), &mut want, &run()).unwrap();
    for steps in 1..=10 {
        let outcome = trainer.train(&batches, &mut Line::new(), &mut state, &timed).unwrap();
        // The last step is not truncated by anything.
        let expected = if steps < 10 { Outcome::Time } else { Outcome::Completed };
        assert_eq!((outcome, state.steps), (expected, steps));
    }
    assert_eq!(text(&state), text(&want));
    // More steps than can be counted.
    let endless = Trainer { max_epochs: u64::MAX, ..trainer };
    assert_eq!(endless.train(&batches, &mut Line::new(), &mut begin(), &timed).unwrap(), Outcome::Time);
    // Nothing is left to be done.
    let outcome = trainer.train(&batches, &mut Line::new(), &mut state, &timed).unwrap();
    assert_eq!((outcome, text(&state)), (Outcome::Completed, text(&want)));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let x = numbers(1000);
    let rows = Rows::from_slice(&x, 4).unwrap();
    let batches = Batches::new(&rows, 10, 3).unwrap();
    let on = |threads| {
        let mut state = begin();
        let run = Run { threads, ..run() };
        trainer(Optimiser::Adam).train(&batches, &mut Line::new(), &mut state, &run).unwrap();
        text(&state)
    };
    assert_eq!(on(1), on(2));
}

#[test]
fn weights_count_and_batches_without_rows_take_no_step() {
    let mut x = numbers(200);
    // A hundred rows of another line count nothing.
    x.chunks_exact_mut(4).step_by(2).for_each(|row| row[3] = 100.0);
    let weights: Vec<f64> = (0..200).map(|i| f64::from(i % 2)).collect();
    let rows = Rows::from_slice(&x, 4).unwrap().weighted(weights).unwrap();
    let batches = Batches::new(&rows, 1, 3).unwrap();
    let mut state = begin();
    let trainer = Trainer { learning_rate: 0.01, ..trainer(Optimiser::Adam) };
    trainer.train(&batches, &mut Line::new(), &mut state, &run()).unwrap();
    assert_eq!((state.steps, state.position.epoch), (100 * 20, 20));
    assert!((state.learner.bias - 3.0).abs() < 0.05, "{}", state.learner.bias);
}

#[test]
fn a_state_of_other_rows_is_refused() {
    let x = numbers(100);
    let rows = Rows::from_slice(&x, 4).unwrap();
    let mut state = begin();
    state.position.batch = 5;
    let batches = Batches::new(&rows, 50, 3).unwrap();
    let refused = trainer(Optimiser::Sgd).train(&batches, &mut Line::new(), &mut state, &run()).unwrap_err();
    assert!(refused.to_string().contains("has 2 batches"), "{refused}");
}

/// Requests a stop after some events.
struct StopAfter(std::sync::atomic::AtomicUsize);

impl crate::Observer for StopAfter {
    fn interrupted(&self) -> bool {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 3
    }
}

#[test]
fn training_can_be_interrupted() {
    let x = numbers(100);
    let rows = Rows::from_slice(&x, 4).unwrap();
    let batches = Batches::new(&rows, 10, 3).unwrap();
    let (observer, mut state) = (StopAfter(Default::default()), begin());
    let stopped = trainer(Optimiser::Sgd).train(
        &batches,
        &mut Line::new(),
        &mut state,
        &Run { observer: &observer, ..run() },
    );
    assert!(matches!(stopped, Err(Error::Interrupted)) && state.position.epoch < 4);
}

#[test]
fn patience_ends_training_at_the_best_state_of_the_validation_part() {
    let x = numbers(60);
    let rows = Rows::from_slice(&x, 4).unwrap();
    let batches = Batches::new(&rows, 17, 3).unwrap();
    // A validation part of another line, which the fit passes on its way.
    let held: Vec<f32> = x.chunks_exact(4).flat_map(|x| [x[0], x[1], x[2], x[3] / 2.0]).collect();
    let line = || Line { held: held.clone(), ..Line::new() };
    let patient = Trainer { patience: Some(4), max_epochs: 400, ..trainer(Optimiser::Adam) };
    let mut want = begin();
    assert_eq!(patient.train(&batches, &mut line(), &mut want, &run()).unwrap(), Outcome::Completed);
    let best =
        (0..want.validation.len()).reduce(|a, b| if want.validation[b] < want.validation[a] { b } else { a });
    let best = best.unwrap();
    assert!(best > 0 && want.validation.len() == best + 1 + 4, "{:?}", want.validation);
    assert_eq!(want.learner.epochs, best as u64 + 1, "the state at the best epoch");
    assert_eq!(line().validate(&want.learner).unwrap(), Some(want.validation[best]));
    // Without patience the validation part is not looked at.
    let mut plain = begin();
    trainer(Optimiser::Adam).train(&batches, &mut line(), &mut plain, &run()).unwrap();
    assert!(plain.validation.is_empty() && plain.learner.epochs == 20);
    // Stopped anywhere, it ends with the same bits.
    for stops_after in (0..4 * want.validation.len()).step_by(3) {
        let mut state = begin();
        let stopped = patient.train(&batches, &mut Line { stops_after, ..line() }, &mut state, &run());
        assert!(matches!(stopped, Err(Error::Interrupted)));
        let mut again: State = serde_json::from_str(&text(&state)).unwrap();
        patient.train(&batches, &mut line(), &mut again, &run()).unwrap();
        assert_eq!(text(&again), text(&want), "after {stops_after}");
    }
}
