//! Warm starts: initial values from a fitted model in place of the method's own.

use super::Run;
use crate::error::{Error, Result, counted};
use crate::num::Matrix;

/// Initial values from the parameters of a fitted model.
pub trait Start: Sync {
    /// Key of the method of the model.
    fn method(&self) -> &str;
    /// A tensor by its name in the model file, with its shape.
    fn parameter(&self, name: &str) -> Option<(Vec<usize>, Vec<f64>)>;
    /// A checksum of all parameters.
    fn checksum(&self) -> u32;
    /// Names of the columns of its parameters, if they have names.
    fn feature_names(&self) -> Option<&[String]> {
        None
    }
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
            let found = format!("it has {}, and this fit has {k}", counted(rows as u64, "component"));
            let remedy = format!("choose n_components={rows}, or start from a larger model");
            return Err(refusal(found, remedy).with_numbers(k, rows));
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
            let text = format!("it has {}, and this fit has {k}", counted(found as u64, "subspace"));
            let remedy = format!("choose n_clusters={found}, or start from another model");
            return Err(refusal(text, remedy).with_numbers(k, found));
        }
        let (all, mut first) = (Matrix::from_vec(shape[0], shape[1], numbers), 0);
        let each = dimensions.iter().map(|d| {
            let axes = all.rows_from(first).top_rows(*d as usize);
            first += *d as usize;
            axes
        });
        Ok(Some(each.collect()))
    }

    /// [`same_columns`] of the model that the fit starts from and of the rows.
    pub(crate) fn check_initial_names(&self, names: Option<&[String]>) -> Result<()> {
        same_columns(STARTED, self.init.and_then(|init| init.feature_names()), names)
    }

    fn check_columns(&self, cols: usize, n_features: usize) -> Result<()> {
        if cols == n_features {
            return Ok(());
        }
        let found = format!("it has {}, and the rows have {n_features}", counted(cols as u64, "column"));
        Err(refusal(found, "start from a model of the same columns").with_numbers(n_features, cols))
    }
}

fn refused<T>(found: String, remedy: String) -> Result<T> {
    Err(refusal(found, remedy))
}

fn refusal(found: String, remedy: impl Into<String>) -> Error {
    Error::unsupported(STARTED, found, remedy)
}

/// Such a fit in messages.
const STARTED: &str = "a fit that starts from this model (init)";

/// Refuses rows whose columns do not have the names of those of a model, or not in its order, where both have names: parameters of the model
/// would be used for other columns. Rows that a model encodes are put into its order where they are read; a fit keeps the order of its rows.
///
/// # Errors
///
/// Such rows, with the first column that differs.
pub(crate) fn same_columns(request: &str, known: Option<&[String]>, names: Option<&[String]>) -> Result<()> {
    let (Some(known), Some(names)) = (known, names) else { return Ok(()) };
    let Some(j) = (0..known.len().min(names.len())).find(|&j| known[j] != names[j]) else { return Ok(()) };
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names
    };
    let (how, remedy) = match sorted(known) == sorted(names) {
        true => ("its columns are in another order", "give the columns in the order of the model"),
        false => ("its columns have other names", "give the columns of the model, in its order"),
    };
    let found = format!("{how}: column {j} is '{}' in the model and '{}' in the rows", known[j], names[j]);
    Err(Error::unsupported(request, found, remedy)
        .with(|details| (details.column, details.name) = (Some(j), Some(names[j].clone()))))
}
