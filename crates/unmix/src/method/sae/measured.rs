//! Use of the units of a trained layer, and its residual, on a sample of the rows.

use super::start::chosen;
use crate::autoencoder::{Evaluation, evaluate, evaluate_until};
use crate::data::Rows;
use crate::error::{Result, counted};
use crate::model::{Encoder, map_of};
use crate::num::{Matrix, Real};
use crate::run::Run;

/// Maximum number of rows on which use, residual and density of a fitted model are measured.
const MOST_MEASURED_ROWS: u64 = 1 << 15;
/// The same once the fit has been ended early, by its time limit or its observer: as many as of a stream.
const MOST_MEASURED_ROWS_LATE: u64 = 1024;
/// Number of products up to which this is not shortened.
const MOST_QUICK_PRODUCTS: u64 = 1 << 31;

/// Use of the units, and the residual.
pub(in crate::method) struct Measured<T> {
    pub(in crate::method) used: Evaluation,
    /// The rows on which they were measured.
    pub(in crate::method) x: Vec<T>,
    /// That there are fewer rows than otherwise, because the fit was ended early.
    pub(in crate::method) warning: Option<String>,
}

/// Measures the units of `encoder` on a sample of the rows. `mean` and `atoms` are those of the model; `center` is the mean of the rows.
/// Once the run [ends early](Run::ends_early), which may be before or meanwhile, the sample has 1024 rows, or more if this takes little
/// time; order and density of the units are then those on these rows.
///
/// # Errors
///
/// Interruption, errors of the source.
pub(in crate::method) fn measured<T: Real>(
    rows: &Rows<'_, T>,
    encoder: &dyn Encoder,
    decoding: (&[f64], &Matrix<f64>, &[f64]),
    run: &Run<'_>,
) -> Result<Measured<T>> {
    run.stage("use")?;
    let n = rows.n_rows().unwrap_or(0);
    let sample = |count: u64| rows.picked(chosen(n, count, run.seed), run);
    let (all, late) =
        (n.min(MOST_MEASURED_ROWS), n.min(rows_when_late(encoder.n_codes(), encoder.n_features())));
    let map = map_of::<T>(encoder);
    if late == all || !run.ends_early() {
        let x = sample(all)?;
        let stop = || late < all && run.ends_early();
        if let Some(used) = evaluate_until(encoder, &*map, &x, decoding, &stop) {
            return Ok(Measured { used, x, warning: None });
        }
    }
    let x = sample(late)?;
    let used = evaluate(encoder, &*map, &x, decoding);
    let warning = format!(
        "the use of the units, by which they are ordered, was measured on {} instead of {all}, because the \
         fit was ended early",
        counted(late, "row")
    );
    Ok(Measured { used, x, warning: Some(warning) })
}

/// Number of rows on which `m` units of `p` numbers are measured once the fit has been ended early.
fn rows_when_late(m: usize, p: usize) -> u64 {
    let each = (m as u64).saturating_mul(p as u64).max(1);
    (MOST_QUICK_PRODUCTS / each).clamp(MOST_MEASURED_ROWS_LATE, MOST_MEASURED_ROWS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_models_are_measured_on_all_rows_of_the_sample() {
        assert_eq!(rows_when_late(256, 64), MOST_MEASURED_ROWS);
        assert_eq!(rows_when_late(16384, 64), 2048);
        assert_eq!([rows_when_late(50_000, 64), rows_when_late(usize::MAX, 2)], [MOST_MEASURED_ROWS_LATE; 2]);
    }
}
