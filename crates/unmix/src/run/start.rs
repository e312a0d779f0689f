//! Warm starts: initial values from a fitted model in place of the method's own.

use super::Run;
use crate::error::{Error, Result};
use crate::num::Matrix;

/// Initial values from the parameters of a fitted model.
pub trait Start: Sync {
    /// Key of the method of the model.
    fn method(&self) -> &str;
    /// A tensor by its name in the model file, with its shape.
    fn parameter(&self, name: &str) -> Option<(Vec<usize>, Vec<f64>)>;
    /// A checksum of all parameters.
    fn checksum(&self) -> u32;
}

impl Run<'_> {
    /// The components, `m x n_features` with `m >= k`, of the model that a fit starts from; `None` without a model.
    ///
    /// # Errors
    ///
    /// A model without components, of another width, or of fewer components.
    pub(crate) fn initial_components(&self, n_features: usize, k: usize) -> Result<Option<Matrix<f64>>> {
        let Some(init) = self.init else { return Ok(None) };
        let Some((shape, numbers)) = init.parameter("components").filter(|(shape, _)| shape.len() == 2)
        else {
            let found = format!("the {} model has no components", init.method());
            return refused(found, "start from a model with components".into());
        };
        let (rows, cols) = (shape[0], shape[1]);
        self.check_columns(cols, n_features)?;
        if rows < k {
            let found = format!("it has {rows} components, and this fit has {k}");
            return refused(found, format!("choose n_components={rows}, or start from a larger model"));
        }
        Ok(Some(Matrix::from_vec(rows, cols, numbers)))
    }

    /// The axes of each subspace, as rows of `n_features` numbers, of the model that a fit starts from, which must have `k` subspaces if that
    /// is given; `None` without a model.
    ///
    /// # Errors
    ///
    /// A model without subspaces, of another width, or of another number of them.
    pub(crate) fn initial_subspaces(
        &self,
        n_features: usize,
        k: Option<usize>,
    ) -> Result<Option<Vec<Matrix<f64>>>> {
        let Some(init) = self.init else { return Ok(None) };
        let both = init.parameter("bases").zip(init.parameter("dimensions"));
        let Some(((shape, numbers), (_, dimensions))) = both.filter(|((shape, _), _)| shape.len() == 2)
        else {
            let found = format!("the {} model has no subspaces", init.method());
            return refused(found, "start from a model of subspace-clustering".into());
        };
        self.check_columns(shape[1], n_features)?;
        let found = dimensions.len();
        if let Some(k) = k.filter(|k| *k != found) {
            let text = format!("it has {found} subspaces, and this fit has {k}");
            return refused(text, format!("choose n_clusters={found}, or start from another model"));
        }
        let (all, mut first) = (Matrix::from_vec(shape[0], shape[1], numbers), 0);
        let each = dimensions.iter().map(|d| {
            let axes = all.rows_from(first).top_rows(*d as usize);
            first += *d as usize;
            axes
        });
        Ok(Some(each.collect()))
    }

    fn check_columns(&self, cols: usize, n_features: usize) -> Result<()> {
        if cols == n_features {
            return Ok(());
        }
        let found = format!("it has {cols} columns, and the rows have {n_features}");
        refused(found, "start from a model of the same columns".into())
    }
}

fn refused<T>(found: String, remedy: String) -> Result<T> {
    Err(Error::Unsupported { asked: "a fit that starts from this model (init)".into(), found, remedy })
}
