//! `unmix demo`: the main steps on synthetic data, with the result compared with the ground truth.

use crate::args::Demo;
use crate::failure::{Done, Failure};
use crate::fit;
use crate::interrupt::WritingGuard;
use crate::output::{self, Destination};
use crate::progress::Progress;
use crate::terminal::{self, FAINT, TITLE, TYPED, paint};
use std::path::Path;
use unmix::data::Features;
use unmix::data::{NpyWriter, RawArray, write_npy};
use unmix::datasets::{LowRank, patterns};
use unmix::metrics::{match_rows, subspace_angles};
use unmix::{AnyRows, Dtype, Matrix, Model, Pca, Rows, Run};
use unmix_report::Options;

/// Number of pictures, their side length in pixels, number of patterns, and standard deviation of the noise in each pixel.
const SIZES: (usize, usize, usize, f64) = (4000, 20, 6, 0.25);

/// Generates data, fits, writes the page (which shows `invocation`) and returns a summary.
pub(crate) fn demo(args: &Demo, invocation: Option<String>) -> Done {
    let (n, side, k, noise) = SIZES;
    let folder = &args.output;
    output::own_folder(folder, "truth.npy", "a demo")?;
    let progress = Progress::new(&args.running);
    let run = Run { seed: args.seed, invocation: invocation.as_deref(), ..progress.run(&args.running) };
    let made = patterns(n, side, k, noise, args.seed);
    write_data(folder, &made, side)?;

    let values: Matrix<f32> = made.x.cast();
    let features = Features { names: None, shape: Some(vec![side, side]) };
    let array = RawArray::borrowed(values.as_slice(), side * side)?;
    let mut rows = Rows::<f32>::new(array, features, "data.npy");
    let model = Pca { n_components: k.into(), ..Pca::default() }.fit(&mut rows, &run)?;
    let file = |name: &str| folder.join(name);
    fit::save(&model, &Destination::File(file(MODEL)))?;
    write_codes(&file("codes.npy"), &model, &rows, &run)?;

    let found = found(&model, &made)?;
    let page = page(&model, rows, made, invocation.clone(), &run)?;
    progress.clear();
    output::write_whole(&Destination::File(file("report.html")), page.as_bytes())?;
    terminal::text(&summary_text(folder, &found))
}

const MODEL: &str = "model.safetensors";

fn write_data(folder: &Path, made: &LowRank, side: usize) -> Result<(), Failure> {
    let _guard = WritingGuard::new();
    write_npy(&folder.join("data.npy"), made.x.cast::<f32>().as_slice(), &[side, side])?;
    write_npy(&folder.join("truth.npy"), made.axes.cast::<f32>().as_slice(), &[side, side])?;
    let lines = std::iter::once("group").chain(made.labels.iter().map(|&label| GROUPS[label]));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    Ok(output::write_whole(&Destination::File(folder.join("labels.csv")), text.as_bytes())?)
}

fn write_codes(path: &Path, model: &Model, rows: &Rows<'_, f32>, run: &Run<'_>) -> Result<(), Failure> {
    let _guard = WritingGuard::new();
    let mut codes = NpyWriter::create(path, Dtype::F32, &[model.n_codes()])?;
    model.encode(rows, run, &mut codes)?;
    Ok(codes.finish()?)
}

const GROUPS: [&str; 3] = ["A", "B", "C"];

/// Accuracy of the result.
struct Recovery {
    /// Absolute cosine of each component with its pattern, and the index of that pattern.
    cosines: Vec<(f64, usize)>,
    /// Largest angle between the two subspaces, in degrees.
    angle: f64,
    /// Fraction of the variance that each component explains.
    shares: Vec<f64>,
    seconds: f64,
}

fn found(model: &Model, made: &LowRank) -> Result<Recovery, Failure> {
    let tensor =
        |name: &str| model.tensor(name).map(|t| t.to_matrix()).unwrap_or_else(|| Matrix::zeros(0, 0));
    let components = tensor("components");
    let pairs = match_rows(&components, &made.axes);
    let angles = subspace_angles(&components, &made.axes)?;
    Ok(Recovery {
        cosines: pairs.cosine.into_iter().zip(pairs.order).collect(),
        angle: angles.first().copied().unwrap_or(0.0).to_degrees(),
        shares: tensor("explained_variance_ratio").into_vec(),
        seconds: model.report().run.seconds,
    })
}

fn page(
    model: &Model,
    rows: Rows<'_, f32>,
    made: LowRank,
    invocation: Option<String>,
    run: &Run<'_>,
) -> Result<String, Failure> {
    let labels = made.labels.iter().map(|&label| GROUPS[label].to_string()).collect();
    let options = Options {
        title: Some("unmix demo: patterns found in noisy pictures".into()),
        labels: Some(("group".into(), labels)),
        reproduce: invocation.into_iter().collect(),
        truth: Some(made.axes),
        model_name: Some(MODEL.into()),
        input_name: Some("data.npy".into()),
        ..Options::default()
    };
    Ok(unmix_report::page(model, Some(&AnyRows::F32(rows)), &options, run)?)
}

/// The summary for the terminal.
fn summary_text(folder: &Path, found: &Recovery) -> String {
    let (n, side, k, noise) = SIZES;
    let name = |file: &str| folder.join(file).display().to_string();
    let mut out = format!(
        "{}\n  {n} pictures of {side} x {side} pixels: random mixtures of {k} patterns, and noise (standard\n  \
         deviation {noise}) in every pixel. PCA is given the pictures only.\n\n{}\n",
        paint(TITLE, "Data"),
        paint(TITLE, format!("Recovery in {:.2} s", found.seconds)),
    );
    out += &paint(FAINT, "  component   variance   |cosine| with the true pattern\n");
    for (i, ((cosine, pattern), share)) in found.cosines.iter().zip(&found.shares).enumerate() {
        let share = format!("{:.1} %", 100.0 * share);
        out += &format!("  {i:>9}   {share:>8}   {cosine:.4} {} pattern {pattern}\n", bar(*cosine));
    }
    out +=
        &format!("  Largest angle between the space found and the true one: {:.1} degrees.\n\n", found.angle);
    out += &format!(
        "{}\n  {}  (open it in a browser)\n",
        paint(TITLE, "Page"),
        paint(TYPED, name("report.html"))
    );
    out +=
        &paint(FAINT, format!("  in the same folder: data.npy, truth.npy, labels.csv, {MODEL}, codes.npy\n"));
    out +=
        &format!("\n{}\n", paint(TITLE, "Next, with a file of your own (.csv, .npy, ...; rows are samples)"));
    for (command, what) in [
        ("unmix show data.csv", "what is in it"),
        ("unmix fit pca data.csv -k 10", "a model: data.pca.safetensors"),
        ("unmix report data.pca.safetensors data.csv", "a page like this one"),
    ] {
        out += &format!("  {}  {}\n", paint(TYPED, format!("{command:44}")), paint(FAINT, what));
    }
    out
}

/// Draws a number from 0 to 1 as a bar of ten characters.
fn bar(x: f64) -> String {
    let full = (10.0 * x).round().clamp(0.0, 10.0) as usize;
    format!("{}{}", "█".repeat(full), paint(FAINT, "░".repeat(10 - full)))
}
