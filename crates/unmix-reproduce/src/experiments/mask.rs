//! Completion of a rank-one matrix of which the first column and the last row are observed.

use super::CHAPTER;
use crate::Experiment;
use crate::lab::Lab;
use serde_json::json;
use unmix::internal::num::random::Stream;
use unmix::{Matrix, Result};
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "rank-one-mask",
    source: CHAPTER,
    summary: "a matrix of rank one from its first column and last row: exact along the graph of the cells, and not by the nuclear norm",
    run,
};

/// Rows and columns.
const SHAPES: [(usize, usize); 2] = [(6, 9), (30, 40)];

/// `u v'` with entries of absolute value between 0.5 and 1.5, of either sign, and the same with NaN in missing cells.
fn made(n: usize, p: usize, corner: bool) -> (Matrix<f64>, Matrix<f64>) {
    let draws = Stream::new(4, n as u64);
    let entry =
        |i: usize| (0.5 + draws.uniform(2 * i as u64)) * (draws.uniform(2 * i as u64 + 1) - 0.5).signum();
    let whole = Matrix::from_fn(n, p, |i, j| entry(i) * entry(n + j));
    let seen = |i: usize, j: usize| (j == 0 || i == n - 1) && (corner || j > 0 || i < n - 1);
    let known = Matrix::from_fn(n, p, |i, j| if seen(i, j) { whole[(i, j)] } else { f64::NAN });
    (whole, known)
}

/// Relative error over all cells, in the Frobenius norm.
fn error(whole: &Matrix<f64>, found: &Matrix<f64>) -> f64 {
    let apart: f64 = whole.as_slice().iter().zip(found.as_slice()).map(|(a, b)| (a - b).powi(2)).sum();
    (apart / whole.as_slice().iter().map(|a| a * a).sum::<f64>()).sqrt()
}

fn run(lab: &mut Lab<'_>) -> Result<()> {
    lab.note(
        "Data: u v' with entries of size 0.5 to 1.5; observed are the first column and the last row, n + p - 1 cells, as many as there are degrees \
         of freedom.",
    )?;
    let mut sheet = Sheet::new("A matrix of rank one from a column and a row", 4);
    for (n, p) in SHAPES {
        let (whole, known) = made(n, p, true);
        let exact = along_the_graph(&known);
        let off = error(&whole, &exact);
        let quantity = format!("{n} x {p}: relative error of y_i1 y_nj / y_n1");
        lab.check(quantity, off, "1e-16", "at most 1e-12", off <= 1e-12)?;
        let given =
            json!({"n_components": 1, "alpha": 0.0, "offsets": false, "tol": 1e-14, "max_iter": 3000});
        let als = completed(lab, given, &known)?;
        let off = error(&whole, &als);
        let quantity = format!("{n} x {p}: relative error of alternating least squares");
        lab.check(quantity, off, "3e-10", "at most 1e-8", off <= 1e-8)?;
        let given = json!({"n_components": 1, "algorithm": "soft-impute", "offsets": false});
        let nuclear = completed(lab, given, &known)?;
        let off = error(&whole, &nuclear);
        let quantity = format!("{n} x {p}: relative error by the nuclear norm");
        let published = if n == 6 { "0.71" } else { "0.99" };
        // The mask is not random, and the nuclear norm does not recover the matrix.
        lab.check(quantity, off, published, "at least 0.3", off >= 0.3)?;
        if n == 6 {
            let picture = |m: &Matrix<f64>| Content::Pictures {
                vectors: Matrix::from_vec(
                    1,
                    n * p,
                    m.as_slice().iter().map(|x| if x.is_nan() { 0.0 } else { *x }).collect(),
                ),
                shape: vec![n, p],
                columns: 1,
            };
            sheet.add("the matrix", picture(&whole));
            sheet.add("the observed cells", picture(&known));
            sheet.add("by alternating least squares", picture(&als));
            sheet.add("by the nuclear norm", picture(&nuclear));
        }
    }
    // Without the corner, the graph of rows and columns has two connected components.
    let (_, known) = made(6, 9, false);
    let given = json!({"n_components": 1, "alpha": 0.0, "offsets": false});
    let refused = lab.fit("matrix-completion", given, &known).is_err();
    lab.check("6 x 9 without the corner: refused", f64::from(u8::from(refused)), "1", "equal", refused)?;
    lab.figure("rank-one-mask", &sheet)
}

/// The product formula along the graph of observed cells: from the first column and the last row.
fn along_the_graph(known: &Matrix<f64>) -> Matrix<f64> {
    let n = known.rows();
    Matrix::from_fn(n, known.cols(), |i, j| known[(i, 0)] * known[(n - 1, j)] / known[(n - 1, 0)])
}

/// The whole matrix: codes of the rows times the components, with the mean.
fn completed(lab: &Lab<'_>, given: serde_json::Value, known: &Matrix<f64>) -> Result<Matrix<f64>> {
    let model = lab.fit("matrix-completion", given, known)?;
    let table = |name: &str| model.tensor(name).map_or_else(|| Matrix::zeros(0, 0), |t| t.to_matrix());
    let numbers = |name: &str, len: usize| model.tensor(name).map_or_else(|| vec![0.0; len], |t| t.f64s());
    let (codes, components) = (table("row_codes"), table("components"));
    let (mean, offsets) = (numbers("mean", known.cols()), numbers("row_offsets", known.rows()));
    let cell = |i: usize, j: usize| {
        let common: f64 = (0..components.rows()).map(|a| codes[(i, a)] * components[(a, j)]).sum();
        mean[j] + offsets[i] + common
    };
    Ok(Matrix::from_fn(known.rows(), known.cols(), cell))
}
