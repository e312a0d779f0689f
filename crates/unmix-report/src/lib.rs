//! Figures and self-contained pages.
//!
//! [`page`] makes one HTML page of a fitted model: the method, the data and the outcome of the fit, the
//! components as images, curves or bars, sources over time, explained variance, stability, codes and
//! reconstructions of rows, a comparison with another model, and the commands to reproduce it. The page has
//! no network access and no scripts. [`summary`] is the table that a terminal shows after a fit,
//! [`FactorTable`] that of loadings, [`mosaic`] the components as one PNG, and [`Sheet`] a separate figure.
//!
//! ```
//! use unmix::{Pca, Rows, Run, data::AnyRows, datasets};
//!
//! let data = datasets::patterns(200, 12, 3, 0.2, 0);
//! let mut rows = Rows::from_slice(data.x.as_slice(), 144)?;
//! let model = Pca { n_components: 3.into(), ..Default::default() }.fit(&mut rows, &Run::default())?;
//! println!("{}", unmix_report::summary(&model));
//! let options = unmix_report::Options { truth: Some(data.axes), ..Default::default() };
//! let html = unmix_report::page(&model, Some(&AnyRows::F64(rows)), &options, &Run::default())?;
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! # Ok::<(), unmix::Error>(())
//! ```

mod alpha_path;
mod caller;
mod colour;
mod description;
mod factors;
mod figure;
mod missing;
mod modules;
mod moments;
mod number;
mod page;
mod picture;
mod playback;
mod quality;
mod sample;
mod sheet;
mod summary;
mod svg;
mod units;
mod window;

pub use factors::FactorTable;
pub use page::page;
pub use picture::mosaic;
pub use sheet::{Content, Panel, Sheet, Stroke, StrokeKind};
pub use summary::summary;

/// Inputs of a page besides the model. All are optional.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// For whom the page is made: its text names calls in Python, or commands.
    pub caller: unmix::Caller,
    /// Title of the page.
    pub title: Option<String>,
    /// A label for each row, to colour points by: the name of the column, and one value a row.
    pub labels: Option<(String, Vec<String>)>,
    /// A name for each row, shown in place of its number.
    pub row_names: Option<Vec<String>>,
    /// The commands that were run to make the page, one a line, exactly as they were typed, or the call in Python. The invocation of
    /// the fit is stored in the model.
    pub reproduce: Vec<String>,
    /// True components for comparison (rows, `n_features` wide), for data with known ground truth.
    pub truth: Option<unmix::Matrix<f64>>,
    /// The model file, as the user would name it.
    pub model_name: Option<String>,
    /// The input, as the user would name it.
    pub input_name: Option<String>,
    /// Sampling rate, in rows per second, where rows follow each other in time.
    pub rate: Option<f64>,
    /// Position of the sensor of each column, seen from above: to the right, and to the front.
    pub positions: Option<Vec<(f64, f64)>>,
    /// Another model of the same columns, and its name, for comparison.
    pub beside: Option<(String, unmix::Model)>,
    /// Pairs of components whose codes are the axes of a scatter plot each, from 0; none for the first and the second, and the first and the
    /// third.
    pub pairs: Vec<(usize, usize)>,
    /// Modules of these rows, pooled over several fits, in place of those of the units of the model alone.
    pub modules: Option<unmix::biclusters::Biclusters>,
}
