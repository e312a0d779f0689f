//! Classifiers: gradients compared with finite differences, labels that follow their rows, patience, and bits.

use super::classifier::{Classifier, ClassifierLearner, ClassifierTraining};
use super::{ClassifierWeights, Corruption, FineTuned, FineTuning, Labelled, Noise};
use crate::data::{Batches, Position};
use crate::learn::Learner;
use crate::num::random::Stream;
use crate::{Outcome, Rows, Run};

const P: usize = 5;
const CLASSES: usize = 3;

fn normal(n: usize, seed: u64) -> Vec<f64> {
    let draws = Stream::new(seed, 9);
    (0..n).map(|i| draws.normal(i as u64)).collect()
}

/// Three classes of normal rows with different means.
fn labelled(n: usize, seed: u64) -> (Vec<f64>, Vec<u32>) {
    let labels: Vec<u32> = (0..n as u32).map(|i| (i * i + i / 7) % CLASSES as u32).collect();
    let mut x = normal(n * P, seed);
    for (row, label) in x.chunks_exact_mut(P).zip(&labels) {
        row[*label as usize] += 2.0;
    }
    (x, labels)
}

fn weights(m: usize, classes: usize) -> ClassifierWeights<f64> {
    let mut start = ClassifierWeights::of(&normal(m * P, 2), &normal(m, 3), classes);
    start.output = normal(m * classes, 4);
    start.offset = normal(classes, 5);
    start
}

/// Loss and gradient of a batch of all rows.
fn of_batch(x: &[f64], labels: &[u32], weights: &ClassifierWeights<f64>) -> (f64, ClassifierWeights<f64>) {
    let rows = Rows::from_slice(x, P).unwrap();
    let corruption = Corruption { noise: Noise::Mask, size: 0.3, seed: 3, n_rows: labels.len() as u64 };
    let how = ClassifierTraining { corruption, labels, validation: (&[], &[]), learning_rate: 0.1 };
    let mut learner = ClassifierLearner::new(how, P);
    let (mut weights, mut loss) = (Classifier::from(weights.clone()), None);
    let each = Batches::new(&rows, labels.len(), 1).unwrap().each(Position::default(), 1, 1, |batch| {
        loss = learner.gradient(&mut weights, batch)?;
        Ok(false)
    });
    each.unwrap();
    (loss.unwrap(), learner.last_gradient())
}

#[test]
fn gradients_are_finite_differences_of_the_loss() {
    are_finite_differences(7, CLASSES);
}

#[test]
fn so_are_those_of_units_and_classes_of_several_vectors() {
    are_finite_differences(21, 19);
}

fn are_finite_differences(m: usize, classes: usize) {
    let (x, labels) = labelled(37, 1);
    let (start, step) = (weights(m, classes), 1e-6);
    let (_, gradient) = of_batch(&x, &labels, &start);
    type Part = fn(&mut ClassifierWeights<f64>) -> &mut Vec<f64>;
    let parts: [Part; 4] = [|w| &mut w.encoder, |w| &mut w.bias, |w| &mut w.output, |w| &mut w.offset];
    for (number, part) in parts.into_iter().enumerate() {
        for (i, g) in part(&mut gradient.clone()).iter().enumerate() {
            let at = |by: f64| {
                let mut moved = start.clone();
                part(&mut moved)[i] += by;
                of_batch(&x, &labels, &moved).0
            };
            let slope = (at(step) - at(-step)) / (2.0 * step);
            assert!((g - slope).abs() < 1e-6, "{number} {i}: {g}, not {slope}");
        }
    }
}

#[test]
fn probabilities_are_those_of_softmax() {
    // One row without corruption, one unit, two classes: everything by hand.
    let weights = ClassifierWeights::<f64> {
        encoder: vec![0.5, -1.0],
        bias: vec![0.25],
        output: vec![2.0, -1.0],
        offset: vec![0.1, 0.3],
    };
    let (x, labels) = ([3.0, 1.0], [1u32]);
    let rows = Rows::from_slice(&x, 2).unwrap();
    let corruption = Corruption { noise: Noise::Mask, size: 0.0, seed: 0, n_rows: 1 };
    let how = ClassifierTraining { corruption, labels: &labels, validation: (&[], &[]), learning_rate: 0.1 };
    let mut learner = ClassifierLearner::new(how, 2);
    let (mut state, mut loss) = (Classifier::from(weights.clone()), None);
    Batches::new(&rows, 1, 0)
        .unwrap()
        .each(Position::default(), 1, 1, |batch| {
            loss = learner.gradient(&mut state, batch)?;
            Ok(false)
        })
        .unwrap();
    // h = 1.5 - 1 + 0.25 = 0.75; scores 1.6 and -0.45.
    let want = (1.6f64.exp() + (-0.45f64).exp()).ln() + 0.45;
    assert!((loss.unwrap() - want).abs() < 1e-14);
    assert_eq!((weights.n_errors(&x, &[0]), weights.n_errors(&x, &[1])), (0, 1));
}

fn tuned(how: FineTuning, m: usize, run: &Run<'_>) -> FineTuned<f64> {
    let (x, labels) = labelled(400, 1);
    let (other, its) = labelled(200, 7);
    let start = ClassifierWeights::at_random(m, P, CLASSES, 0);
    let (train, valid) = (Labelled { x: &x, labels: &labels }, Labelled { x: &other, labels: &its });
    how.fit(train, valid, start, run).unwrap()
}

#[test]
fn labels_follow_their_rows_and_patience_keeps_the_best_epoch() {
    let how = FineTuning { learning_rate: 0.2, batch_size: 7, max_epochs: 200, patience: 5, masking: 0.1 };
    let found = tuned(how, 20, &Run::default());
    let least = found.validation.iter().copied().fold(f64::INFINITY, f64::min);
    // Bayes' error of these classes is 0.13: labels that did not follow their rows would give 2/3.
    assert!(least < 0.2, "{least}");
    assert_eq!(found.outcome, Outcome::Completed);
    assert_eq!(found.validation[found.epoch as usize - 1], least);
    assert_eq!(found.validation.len() as u64, found.epoch + 5, "five epochs without a better one");
    let (other, its) = labelled(200, 7);
    assert_eq!(found.weights.n_errors(&other, &its) as f64 / 200.0, least);
}

#[test]
fn without_a_validation_part_the_last_epoch_is_the_result() {
    let (x, labels) = labelled(50, 1);
    let start = ClassifierWeights::at_random(4, P, CLASSES, 0);
    let how = FineTuning { max_epochs: 3, batch_size: 10, patience: 1, ..FineTuning::default() };
    let none = Labelled { x: &[][..], labels: &[] };
    let found = how.fit(Labelled { x: &x, labels: &labels }, none, start, &Run::default()).unwrap();
    assert_eq!((found.epoch, found.losses.len(), found.validation.len()), (3, 3, 0));
    assert!(found.losses[2] < found.losses[0]);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let how = FineTuning { learning_rate: 0.2, batch_size: 64, max_epochs: 12, patience: 4, masking: 0.2 };
    let one = tuned(how, 300, &Run { threads: 1, ..Run::default() });
    assert_eq!(one, tuned(how, 300, &Run { threads: 3, ..Run::default() }));
}

#[test]
fn inconsistent_rows_and_labels_are_refused() {
    let (x, labels) = labelled(20, 1);
    let start = || ClassifierWeights::<f64>::at_random(4, P, CLASSES, 0);
    let none = Labelled { x: &[][..], labels: &[] };
    let fit = |x: &[f64], labels: &[u32]| {
        let how = FineTuning { max_epochs: 1, ..FineTuning::default() };
        how.fit(Labelled { x, labels }, none, start(), &Run::default()).unwrap_err().to_string()
    };
    assert!(fit(&x, &labels[1..]).contains("20 rows and 19 labels"));
    assert!(fit(&x[1..], &labels).contains("99 numbers are not a multiple of the 5 columns"));
    let mut other = labels.clone();
    other[4] = 3;
    assert!(fit(&x, &other).contains("row 4 has the label 3, and there are 3 classes"));
    let start = ClassifierWeights::<f64>::at_random(4, 0, CLASSES, 0);
    let message = FineTuning::default().fit(none, none, start, &Run::default()).unwrap_err().to_string();
    assert!(message.contains("the weights have no columns"), "{message}");
}
