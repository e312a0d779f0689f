//! Fits of the method that a key names: of rows, of sums over them, and of a stream of rows.

use super::{find, with_methods};
use crate::data::{AnyRows, Features, Rows};
use crate::error::{Error, Result};
use crate::model::{Fit, Model, Sums, Tensors};
use crate::num::Real;
use crate::run::{Run, same_columns};
use serde_json::{Map, Value};

/// [`fit`] from sums over the rows, which the model stores: it can be merged with others, and more rows can be added.
///
/// # Errors
///
/// Errors of the fit; a method that needs the rows themselves, before any row is read.
pub fn fit_by_sums(
    key: &str,
    settings: &Map<String, Value>,
    rows: &AnyRows<'_>,
    run: &Run<'_>,
) -> Result<Model> {
    let spec = (find(key)?.spec)(settings)?;
    let mut sums = Sums::new(rows.n_features(), rows.dtype())?;
    if spec.takes_sums() {
        spec.check_sums()?;
        crate::with_rows!(rows, rows => sums.add(key, rows, run))?;
    }
    let model = spec.fit_sums(&sums, rows.features(), run).map_err(with_methods)?;
    Ok(model.with_notes(rows.notes()))
}

impl Sums {
    /// Adds one or more rows, for fits of the method with the key `method`. On an error nothing is added.
    ///
    /// # Errors
    ///
    /// An unknown method; sparse rows or weights that the method does not accept; numbers that are not finite (ignored in rows of weight
    /// 0), another number of columns, errors of the source.
    pub fn add<T: Real>(&mut self, method: &str, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<()> {
        self.add_for(find(method)?, rows, run).map_err(with_methods)
    }
}

/// The model of the rows of `before` followed by `rows`, by the method named `key`; of `rows` alone without
/// `before`. The model has the same bits however a stream is divided into batches.
///
/// # Errors
///
/// A method that needs all rows at once, other columns, numbers that are not finite; sparse rows and weights, where the method does not
/// accept them; a model that is computed from sums, without its sums. `before` is unchanged.
pub fn partial_fit(
    key: &str,
    settings: &Map<String, Value>,
    before: Option<&Model>,
    rows: &AnyRows<'_>,
    run: &Run<'_>,
) -> Result<Model> {
    partial_fit_given(key, settings, Tensors::new(), before, rows, run)
}

/// Refuses a batch whose columns have other names than those of the model, or the same names in another order.
fn check_names(before: Option<&Model>, rows: &AnyRows<'_>) -> Result<()> {
    let names = |features: &Features| features.names.clone();
    let known = before.and_then(|model| names(model.features()));
    same_columns("an incremental fit of this model", known.as_deref(), names(rows.features()).as_deref())
}

/// The model of the sums of `before` and of `rows`.
fn by_more_sums(
    key: &str,
    spec: &dyn Fit,
    before: Option<&Model>,
    rows: &AnyRows<'_>,
    run: &Run<'_>,
) -> Result<Model> {
    let (mut sums, features) = match before {
        None => (Sums::new(rows.n_features(), rows.dtype())?, rows.features()),
        Some(before) => {
            let sums = before.sums().cloned().ok_or_else(|| {
                Error::unsupported(
                    format!("adding rows to this {} model", before.method().key),
                    "it does not hold the sums over its rows",
                    "begin with an incremental fit of all rows, which keeps the sums",
                )
                .of_method(before.method().key)
            })?;
            (sums, before.features())
        }
    };
    spec.check_sums()?;
    crate::with_rows!(rows, rows => sums.add(key, rows, run))?;
    Ok(spec.fit_sums(&sums, features, run)?.with_notes(rows.notes()))
}

/// [`partial_fit`] with the tables that a method accepts in addition to its settings, by name. A stream that has begun keeps its tables.
///
/// # Errors
///
/// As for `partial_fit`; tables that the method does not accept, or that are not tables of finite numbers.
pub fn partial_fit_given(
    key: &str,
    settings: &Map<String, Value>,
    given: Tensors,
    before: Option<&Model>,
    rows: &AnyRows<'_>,
    run: &Run<'_>,
) -> Result<Model> {
    let method = find(key)?;
    let spec = if given.is_empty() { (method.spec)(settings)? } else { method.specify(settings, given)? };
    check_names(before, rows)?;
    if spec.takes_sums() {
        return by_more_sums(key, &*spec, before, rows, run);
    }
    let model = spec.partial_fit(before, rows, run).map_err(with_methods)?;
    Ok(model.of_stream(rows.notes()))
}

/// [`partial_fit`] starting from `before`, if it is a model of the method named `key` that stores the state of a stream: with its settings,
/// overridden by `given`. `None` if there is nothing to continue, and if tables are given in addition to the settings: they are initial values, as
/// is `before`, and a fit from both is refused.
///
/// # Errors
///
/// As for `partial_fit`.
pub fn continued(
    key: &str,
    given: &Map<String, Value>,
    tables: &Tensors,
    before: &Model,
    rows: &AnyRows<'_>,
    run: &Run<'_>,
) -> Result<Option<Model>> {
    let method = find(key)?;
    if before.method().key != method.key || !tables.is_empty() {
        return Ok(None);
    }
    let mut settings = before.settings().clone();
    settings.extend(given.clone());
    let spec = (method.spec)(&settings)?;
    if !spec.continues(before) {
        return Ok(None);
    }
    check_names(Some(before), rows)?;
    Ok(Some(spec.partial_fit(Some(before), rows, run)?.of_stream(rows.notes())))
}

/// Fits the method named `key` with `settings` (as JSON) to rows of either type: called by the command line and Python.
///
/// # Errors
///
/// Errors of the fit; a method that needs a table: [`fit_given`].
pub fn fit(key: &str, settings: &Map<String, Value>, rows: &mut AnyRows<'_>, run: &Run<'_>) -> Result<Model> {
    fit_given(key, settings, Tensors::new(), rows, run)
}

/// [`fit`] with the tables that a method accepts in addition to its settings, by name, such as a dictionary.
///
/// # Errors
///
/// Errors of the fit; tables that the method does not accept, that are not tables of finite numbers, or that are missing.
pub fn fit_given(
    key: &str,
    settings: &Map<String, Value>,
    given: Tensors,
    rows: &mut AnyRows<'_>,
    run: &Run<'_>,
) -> Result<Model> {
    let spec = find(key)?.specify(settings, given)?;
    let found = match rows {
        AnyRows::F32(rows) => spec.fit_f32(rows, run),
        AnyRows::F64(rows) => spec.fit_f64(rows, run),
    };
    let resumable = match &found {
        Ok(model) => model.report().outcome.is_early(),
        Err(_) => true,
    };
    // The file then has all loops so far, also if the fit was ended between two iterations.
    if let Some(checkpoint) = run.checkpoint.filter(|_| resumable) {
        checkpoint.write_kept();
    }
    Ok(found?.with_notes(rows.notes()))
}
