//! Detection of pictures in other units than those of the fit: picture files are read as 0 to 1, arrays as they are stored, often as bytes;
//! and of a table whose columns have different units.

use crate::failure::Failure;
use crate::terminal;
use std::path::Path;
use unmix::{AnyRows, Model, with_rows};

/// The share of the variance above which the first component is examined, and that of its squared loadings above which it is one column.
const DOMINATING_SHARES: (f64, f64) = (0.95, 0.98);

/// The note that the first component is a single column of a table, where that may be a matter of units and the method can standardise.
pub(crate) fn of_columns(model: &Model) -> Option<String> {
    let names = model.features().names.as_ref().filter(|names| names.len() > 2)?;
    model.settings().get("standardize").filter(|set| **set == false)?;
    // Filters of sources are not what a component adds to the columns, and some fits have a warning of their own.
    let warned = model.report().warnings.iter().any(|warning| warning.contains("standardize=true"));
    if warned || model.tensor("mixing").is_some() {
        return None;
    }
    let share = *model.tensor("explained_variance_ratio")?.f64s().first()?;
    let components = model.tensor("components")?.f64s();
    let squares: Vec<f64> = components.iter().take(names.len()).map(|x| x * x).collect();
    let (column, most) = squares.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    let one = share > DOMINATING_SHARES.0 && *most > DOMINATING_SHARES.1 * squares.iter().sum::<f64>();
    let share = if share > 0.9999 { "over 99.99".into() } else { format!("{:.1}", 100.0 * share) };
    one.then(|| {
        format!(
            "component 0 is the column '{}' alone, with {share} % of the variance; if columns have different units, --set standardize=true \
             divides each by its standard deviation",
            names[column]
        )
    })
}

/// Rows of an array that are examined.
const EXAMINED_ROWS: u64 = 16;
/// How far the mean of bytes is above that of a fit to numbers from 0 to 1; 255 for the same pictures.
const LEAST_RATIO_OF_BYTES: f64 = 20.0;
/// Means above this are not those of numbers from 0 to 1, up to rounding.
const LARGEST_MEAN_TO_1: f64 = 1.001;

/// The mean of a model whose rows are pictures. Models without a mean, or whose rows are not pictures, are not checked.
fn mean_of_pictures(model: &Model) -> Option<Vec<f64>> {
    let Some([_, _] | [_, _, 3]) = model.features().shape.as_deref() else { return None };
    model.tensor("mean").map(|mean| mean.f64s())
}

fn largest(mean: &[f64]) -> f64 {
    mean.iter().fold(0.0f64, |m, x| m.max(x.abs()))
}

/// Refuses picture files, the first of which is at `first`, where the model was fitted to larger numbers than they are read as.
pub(crate) fn check_pictures(model: &Model, first: &Path) -> Result<(), Failure> {
    let largest = mean_of_pictures(model).map_or(0.0, |mean| largest(&mean));
    if largest <= LARGEST_MEAN_TO_1 {
        return Ok(());
    }
    Err(Failure::Message(format!(
        "applying the model to {} is not possible: pictures are read as 0 to 1, and the model was fitted to larger numbers (means up \
         to {largest:.4}), such as an array of bytes; give an array in the same units, or fit the model to pictures, or to an array \
         divided by 255",
        first.display()
    )))
}

/// Warns of bytes where the model was fitted to numbers from 0 to 1.
pub(crate) fn check_array(model: &Model, rows: &AnyRows<'_>, quiet: bool) -> Result<(), Failure> {
    let Some(mean) = mean_of_pictures(model) else { return Ok(()) };
    let (lowest, average) = (
        mean.iter().copied().fold(f64::INFINITY, f64::min),
        mean.iter().sum::<f64>() / mean.len().max(1) as f64,
    );
    if quiet || lowest < 0.0 || largest(&mean) > LARGEST_MEAN_TO_1 || average <= 0.0 {
        return Ok(());
    }
    let some: Vec<f64> = with_rows!(rows, rows => rows.read_range(0..EXAMINED_ROWS)?.iter().map(|x| unmix::Real::to_f64(*x)).collect());
    let bytes = some.iter().all(|x| (0.0..=255.0).contains(x) && x.fract() == 0.0);
    let now = some.iter().sum::<f64>() / some.len().max(1) as f64;
    if bytes && now > LEAST_RATIO_OF_BYTES * average {
        terminal::warning(&format!(
            "{} holds numbers of {now:.3} on average, and the rows of the fit {average:.3}: pictures are read as 0 to 1, arrays as they are \
             stored; if these are bytes, divide them by 255",
            rows.origin()
        ));
    }
    Ok(())
}
