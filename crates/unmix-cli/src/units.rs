//! Detection of pictures in other units than those of the fit: picture files are read as 0 to 1, arrays as they are stored, often as bytes.

use crate::failure::Failure;
use crate::terminal;
use std::path::Path;
use unmix::{AnyRows, Model, with_rows};

/// Rows of an array that are examined.
const ROWS: u64 = 16;
/// How far the mean of bytes is above that of a fit to numbers from 0 to 1; 255 for the same pictures.
const FAR: f64 = 20.0;
/// Means above this are not those of numbers from 0 to 1, up to rounding.
const ABOVE: f64 = 1.001;

/// Refuses picture files where the model was fitted to larger numbers than they are read as; warns of bytes where it was fitted to numbers
/// from 0 to 1. Models without a mean, or whose rows are no pictures, are not checked.
pub(crate) fn check(model: &Model, rows: &AnyRows<'_>, first: &Path, quiet: bool) -> Result<(), Failure> {
    let Some([_, _] | [_, _, 3]) = model.features().shape.as_deref() else { return Ok(()) };
    let Some(mean) = model.tensor("mean").map(|mean| mean.f64s()) else { return Ok(()) };
    let largest = mean.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if unmix_io::is_image(first) {
        if largest <= ABOVE {
            return Ok(());
        }
        return Err(Failure::Message(format!(
            "applying the model to {} is not possible: pictures are read as 0 to 1, and the model was fitted to larger numbers (means up \
             to {largest:.4}), such as an array of bytes; give an array in the same units, or fit the model to pictures, or to an array \
             divided by 255",
            first.display()
        )));
    }
    let (lowest, average) = (
        mean.iter().copied().fold(f64::INFINITY, f64::min),
        mean.iter().sum::<f64>() / mean.len().max(1) as f64,
    );
    if quiet || lowest < 0.0 || largest > ABOVE || average <= 0.0 {
        return Ok(());
    }
    let some: Vec<f64> =
        with_rows!(rows, rows => rows.read_range(0..ROWS)?.iter().map(|x| unmix::Real::to_f64(*x)).collect());
    let bytes = some.iter().all(|x| (0.0..=255.0).contains(x) && x.fract() == 0.0);
    let now = some.iter().sum::<f64>() / some.len().max(1) as f64;
    if bytes && now > FAR * average {
        terminal::warning(&format!(
            "{} holds numbers of {now:.3} on average, and the rows of the fit {average:.3}: pictures are read as 0 to 1, arrays as they are \
             stored; if these are bytes, divide them by 255",
            rows.origin()
        ));
    }
    Ok(())
}
