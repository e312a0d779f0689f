//! Warm starts: the parameters of a fitted model in place of a method's own start.

use super::Run;
use crate::error::{Error, Result};
use crate::num::Matrix;

/// An initial point other than the method's own: the parameters of a fitted model.
pub trait Start: Sync {
    /// Key of the method that it was fitted by.
    fn method(&self) -> &str;
    /// A tensor by its name in the model file, with its shape.
    fn parameter(&self, name: &str) -> Option<(Vec<usize>, Vec<f64>)>;
    /// A checksum of all parameters.
    fn checksum(&self) -> u32;
}

impl Run<'_> {
    /// The components, `m x n_features`, of the model that a fit is to start from, `m` at least `k`.
    ///
    /// # Errors
    ///
    /// A model without components, of another width, or of fewer components.
    pub(crate) fn initial_components(&self, n_features: usize, k: usize) -> Result<Option<Matrix<f64>>> {
        let Some(init) = self.init else { return Ok(None) };
        let refused = |found: String, remedy: String| {
            let asked = "a fit that starts from this model (init)".into();
            Err(Error::Unsupported { asked, found, remedy })
        };
        let Some((shape, numbers)) = init.parameter("components").filter(|(shape, _)| shape.len() == 2)
        else {
            let found = format!("the {} model has no components", init.method());
            return refused(found, "start from a model that has".into());
        };
        let (rows, cols) = (shape[0], shape[1]);
        if cols != n_features {
            let found = format!("it has {cols} columns, and the rows have {n_features}");
            return refused(found, "start from a model of the same columns".into());
        }
        if rows < k {
            let found = format!("it has {rows} components, and this fit has {k}");
            return refused(found, format!("choose n_components={rows}, or start from a larger model"));
        }
        Ok(Some(Matrix::from_vec(rows, cols, numbers)))
    }
}
