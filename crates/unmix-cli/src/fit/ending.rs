//! The end of a fit: what is kept, and what is said about how it ended.

use crate::args::Fit;
use crate::failure::Failure;
use crate::output::Destination;
use crate::terminal::{self, TITLE, paint};
use std::path::Path;
use unmix::model::Counted;
use unmix::{Checkpoint, Model, Outcome, Report};

/// Deletes the checkpoint after the model has been written, unless the fit ended early and can be continued.
pub(super) fn finish(checkpoint: &Checkpoint, outcome: Outcome) -> Result<(), Failure> {
    if let Some(write_error) = checkpoint.write_error() {
        terminal::warning(&format!("the checkpoint could not be written: {write_error}"));
    }
    match outcome {
        early if early.is_early() && checkpoint.path().exists() => terminal::note(&format!(
            "the checkpoint {} is kept: the same command with --resume continues from it",
            checkpoint.path().display()
        )),
        _ => checkpoint.remove()?,
    }
    Ok(())
}

/// An existing file is not replaced by a model without components, nor, with `--strict`, by one of a fit that did not converge, except with
/// `--force`. The checkpoint of such a fit stays, so that the fit can be continued.
pub(super) fn keep_existing(
    model: &Model,
    args: &Fit,
    to: &Path,
    place: &Destination,
) -> Result<(), Failure> {
    let exists = matches!(place, Destination::File(path) if path.is_file());
    if !exists || args.force {
        return Ok(());
    }
    let to = to.display();
    if model.n_components() == 0 {
        return Err(Failure::Message(format!(
            "the model has 0 components and does not replace the existing file {to}; choose another number of components or another -o, or \
             add --force to replace it"
        )));
    }
    match unconverged(model.report(), model.counted()).filter(|_| args.strict) {
        Some(message) => Err(Failure::Message(format!(
            "{message}; with --strict its model does not replace the existing file {to}: give it more iterations or time, choose another -o, \
             or add --force to replace it"
        ))),
        None => Ok(()),
    }
}

/// The title and the summary of the fit, without the first `printed` warnings where they are above it on the same terminal.
pub(super) fn summary(model: &Model, printed: usize, args: &Fit) -> String {
    let title = args.title.iter().map(|title| format!("{}\n\n", paint(TITLE, title))).collect::<String>();
    let text = terminal::summary(model);
    match args.running.quiet || !terminal::is_terminal() {
        true => title + &text,
        false => title + &without_notes(text, &model.report().warnings, printed),
    }
}

/// The text of a summary without its lines of the first `n` of these warnings.
fn without_notes(text: String, warnings: &[String], n: usize) -> String {
    let line = |warning: &String| format!("note: {}\n", unmix::Caller::Shell.message(warning));
    warnings.iter().take(n).fold(text, |text, warning| text.replacen(&line(warning), "", 1))
}

/// Prints the outcome of the fit and its warnings, except the first `printed`, which were printed before; returns the exit code.
pub(crate) fn ended(model: &Model, printed: usize, strict: bool) -> i32 {
    let report = model.report();
    if !terminal::is_terminal() {
        // On a terminal the warnings are in the table.
        report.warnings.iter().skip(printed).for_each(|w| terminal::warning(w));
    }
    let (message, code) = ending(report, model.counted(), strict);
    if let Some(message) = message {
        terminal::warning(&message);
    }
    code
}

fn ending(report: &Report, counted: Counted, strict: bool) -> (Option<String>, i32) {
    let Some(message) = unconverged(report, counted) else { return (None, 0) };
    (Some(format!("{message}; the model of the last {} is saved", counted.word(1))), i32::from(strict))
}

/// How a fit ended that did not converge; `None` for others.
fn unconverged(report: &Report, counted: Counted) -> Option<String> {
    if report.outcome.is_success() {
        return None;
    }
    let reached = match (report.residual, report.tol) {
        (Some(residual), Some(tol)) => format!(" with a residual of {residual:.2e}, and tol is {tol:.2e}"),
        _ => String::new(),
    };
    let (outcome, n) = (report.outcome.name(), report.n_iter);
    let all = counted.word(n);
    Some(format!("the fit did not converge: it ended with '{outcome}' after {n} {all}{reached}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use unmix::Dtype;

    #[test]
    fn warnings_that_were_printed_are_not_in_the_summary_again() {
        let warnings = ["first".to_string(), "second".into()];
        let text = "outcome\nnote: first\nnote: second\n\ntable\n".to_string();
        assert_eq!(without_notes(text.clone(), &warnings, 1), "outcome\nnote: second\n\ntable\n");
        assert_eq!(without_notes(text.clone(), &warnings, 0), text);
    }

    #[test]
    fn a_fit_that_did_not_converge_warns_and_fails_only_when_strict() {
        let mut report = Report::closed_form("x", 10.0, 2, Dtype::F64, 0);
        assert_eq!(ending(&report, Counted::Iterations, true), (None, 0));
        (report.outcome, report.n_iter, report.residual, report.tol) =
            (Outcome::MaxIter, 7, Some(0.5), Some(1e-6));
        let (message, code) = ending(&report, Counted::Iterations, false);
        let message = message.unwrap();
        assert!(
            message.contains("'max_iter' after 7 iterations") && message.contains("5.00e-1"),
            "{message}"
        );
        assert_eq!((code, ending(&report, Counted::Iterations, true).1), (0, 1));
        let message = ending(&report, Counted::Batches, false).0.unwrap();
        assert!(message.contains("after 7 batches") && message.contains("the last batch"), "{message}");
    }
}
