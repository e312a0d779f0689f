//! Figures and self-contained pages.

use unmix::{AnyRows, Model, Result, Run};

/// What a page is made from besides the model.
#[derive(Default)]
pub struct Options {
    /// Title of the page.
    pub title: Option<String>,
    /// A label for each row, to colour points by: the name of the column, and one value a row.
    pub labels: Option<(String, Vec<String>)>,
    /// Commands that make the model and the page again, one a line.
    pub reproduce: Vec<String>,
    /// True components to show beside the found ones (rows, `n_features` wide), for data whose truth is known.
    pub truth: Option<unmix::Matrix<f64>>,
    /// The model file and the input, as a person would name them.
    pub model_name: Option<String>,
    /// See `model_name`.
    pub input_name: Option<String>,
}

/// The page as HTML: no network, no scripts from elsewhere.
pub fn page(_model: &Model, _rows: Option<&AnyRows<'_>>, _options: &Options, _run: &Run<'_>) -> Result<String> {
    todo!()
}
