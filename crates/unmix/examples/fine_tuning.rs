//! Trains a hidden layer and an output layer on rows with labels, and prints the time and the loss of every epoch as JSON.
//!
//! `fine_tuning ROWS LABELS WEIGHTS CLASSES EPOCHS RATE THREADS`: raw little-endian numbers of four bytes without a header: rows (`n x p`), labels from 0
//! (`n`, unsigned), and the initial weights of the hidden layer (`m x p`), whose biases begin at 0.

use std::time::Instant;
use unmix::Run;
use unmix::shallow::{ClassifierWeights, FineTuning, Labelled};

fn words(path: &str) -> std::io::Result<Vec<[u8; 4]>> {
    Ok(std::fs::read(path)?.as_chunks::<4>().0.to_vec())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [rows, labels, weights, classes, epochs, rate, threads] = &given[..] else {
        return Err("usage: fine_tuning ROWS LABELS WEIGHTS CLASSES EPOCHS RATE THREADS".into());
    };
    let numbers =
        |path| Ok::<Vec<f32>, std::io::Error>(words(path)?.into_iter().map(f32::from_le_bytes).collect());
    let (x, encoder) = (numbers(rows)?, numbers(weights)?);
    let labels: Vec<u32> = words(labels)?.into_iter().map(u32::from_le_bytes).collect();
    let p = x.len() / labels.len().max(1);
    if p == 0 || encoder.len() % p != 0 || encoder.is_empty() {
        return Err(
            format!("{} weights are not a multiple of the {p} numbers of a row", encoder.len()).into()
        );
    }
    let (encoder, m): (Vec<f64>, usize) =
        (encoder.iter().map(|w| f64::from(*w)).collect(), encoder.len() / p);
    let begin = ClassifierWeights::<f32>::of(&encoder, &vec![0.0; m], classes.parse()?);
    let how =
        FineTuning { learning_rate: rate.parse()?, max_epochs: epochs.parse()?, ..FineTuning::default() };
    let run = Run { threads: threads.parse()?, ..Run::default() };
    let start = Instant::now();
    let found = how.fit(Labelled::new(&x, &labels), Labelled::new(&[], &[]), begin, &run)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{{\"seconds\": {seconds}, \"losses\": {:?}}}", found.losses);
    Ok(())
}
