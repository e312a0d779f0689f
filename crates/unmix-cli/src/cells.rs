//! `unmix score --triplets`: errors of the predicted values of listed cells.

use crate::apply::aligned;
use crate::args::Score;
use crate::failure::Done;
use crate::output::Output;
use crate::progress::Progress;
use crate::{list, terminal};
use std::path::PathBuf;
use unmix::data::Triplets;
use unmix::impute::predict_cells;
use unmix::internal::error::counted;
use unmix::{Error, Model, Real, with_rows};

/// Half the width of a 95 % interval of a normal distribution, in standard errors.
const HALF_WIDTH: f64 = 1.959963984540054;

/// Cells of known value of the rows of a fit, and how far their predicted values are from these.
struct CellErrors {
    cells: Vec<(u64, u64)>,
    /// Value minus predicted value.
    errors: Vec<f64>,
    /// Number of cells inside their 95 % intervals.
    inside: usize,
}

impl CellErrors {
    fn of<T: Real>(model: &Model, list: &Triplets<T>) -> unmix::Result<Self> {
        // Refuses what a fit refuses: a list without values, a cell that is listed twice, a column that the model does not have.
        list.rows(Some(model.n_features()))?;
        let (predicted, std) = predict_cells(model, &list.cells, true)?;
        let mut found = Self { cells: Vec::new(), errors: Vec::new(), inside: 0 };
        for (at, value) in list.values.iter().flatten().enumerate().filter(|(_, x)| !x.to_f64().is_nan()) {
            let error = value.to_f64() - predicted[at];
            found.cells.push(list.cells[at]);
            found.errors.push(error);
            found.inside += usize::from(error.abs() < HALF_WIDTH * std[at]);
        }
        Ok(found)
    }

    fn n(&self) -> f64 {
        self.errors.len() as f64
    }

    fn root_mean_square(&self) -> f64 {
        (self.errors.iter().map(|e| e * e).sum::<f64>() / self.n()).sqrt()
    }

    /// The fraction of the cells that are inside their 95 % intervals.
    fn covered(&self) -> f64 {
        self.inside as f64 / self.n()
    }

    fn summary(&self) -> Vec<(String, String)> {
        let line = |name: &str, value: f64| (name.to_string(), format!("{value:?}"));
        vec![
            ("cells".into(), self.errors.len().to_string()),
            line("root mean square error", self.root_mean_square()),
            line("mean error (value minus prediction)", self.errors.iter().sum::<f64>() / self.n()),
            line("inside their 95 % intervals (fraction)", self.covered()),
        ]
    }
}

/// Writes the error of each listed cell, or prints a summary of all of them.
pub(crate) fn score(model: &Model, files: &[PathBuf], output: &Output, args: &Score) -> Done {
    check(model)?;
    let (reading, running) = (&args.apply.reading, &args.apply.running);
    let progress = Progress::new(running);
    let run = progress.run(running);
    let input = list::lines(files, reading, &run, running.quiet)?;
    let found = with_rows!(&input.rows, rows => {
        let list = rows.triplets()?;
        list::tell_numbering(&list.cells, running.quiet);
        CellErrors::of(model, &list)?
    });
    progress.clear();
    if found.cells.is_empty() {
        let (found, remedy) = ("none of its cells has a value", "give row, column and value of known cells");
        return Err(Error::format(input.rows.origin(), found, remedy).into());
    }
    if args.summary {
        return terminal::text(&aligned(&found.summary()));
    }
    if !running.quiet {
        terminal::note(&format!(
            "value minus prediction of {}: root mean square {:?}; {:.1} % are inside their 95 % intervals",
            counted(found.cells.len() as u64, "cell"),
            found.root_mean_square(),
            100.0 * found.covered()
        ));
    }
    list::write(output, &found.cells, &found.errors, "error")?;
    Ok(0)
}

/// Refuses a model that does not predict cells.
fn check(model: &Model) -> unmix::Result<()> {
    predict_cells(model, &[], false).map(|_| ()).map_err(|_| {
        Error::unsupported(
            format!("scoring a list of cells by a model of {}", model.method().key),
            "it does not predict single cells of the rows of its fit",
            "fit matrix-completion, or give rows, without --triplets",
        )
        .of_method(model.method().key)
    })
}
