//! The extension module `unmix._unmix`: arrays in, models and arrays out.
//!
//! It contains no names of methods. Names of classes, their parameters and scikit-learn's messages are in Python, computations are
//! in the library; this module connects them.

mod autoencoder;
mod biclusters;
mod call;
mod codes;
mod error;
mod gaps;
mod input;
mod mixed;
mod model;
mod options;
mod progress;
mod quality;
mod read;
mod shards;
mod sparse;
mod stability;
mod sums;
mod tools;
#[cfg(feature = "toys")]
#[path = "../../crates/unmix/tests/toys/mod.rs"]
mod toys;

use call::{RunOptionsTuple, call, observed};
use error::{raised, report as report_of};
use input::{Input, Wanted, warn, warn_ignored};
use model::Model;
use options::{CheckpointTuple, ObserverTuple, RunOptions};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use unmix::select::{Criterion, SizeRequest, SizeRule, compare_sizes, select_components};

#[pymodule]
mod _unmix {
    use pyo3::prelude::*;

    /// Suppresses the message of panics that a reader catches, because they are reported as errors of the file.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        #[cfg(feature = "toys")]
        module.add_function(wrap_pyfunction!(super::register_toys, module)?)?;
        let _ = module;
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !unmix_io::panic_is_caught() {
                others(info);
            }
        }));
        Ok(())
    }

    #[pymodule_export]
    use super::autoencoder::{evaluate, from_saelens, to_saelens, top_rows};
    #[pymodule_export]
    use super::biclusters::{consensus_score, modules};
    #[pymodule_export]
    use super::gaps::{completed, impute, posterior, predict_cells, sample};
    #[pymodule_export]
    use super::mixed::{biclusters, independent, leaves, points, rare_modules, signals};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::quality::{lasso_gap, measures, quality, sparse_path};
    #[pymodule_export]
    use super::read::{Files, note_on_axes};
    #[pymodule_export]
    use super::shards::{fit_shards, gather_shards, shard_rows};
    #[pymodule_export]
    use super::stability::stability;
    #[pymodule_export]
    use super::sums::Sums;
    #[pymodule_export]
    use super::tools::{
        amari_distance, bernoulli_gaussian, clustering_accuracy, digit_variations, interference,
        low_rank_plus_noise, match_rows, matched_cosine, mutual_information, nmi, patterns, ppca,
        projection_distance, subspace_angles, union_of_subspaces,
    };
    #[pymodule_export]
    use super::{
        fit, has_effect, methods, num_threads, partial_fit, run_cli, select, select_sizes, set_num_threads,
        threads_variable_error,
    };

    #[pymodule_export]
    #[allow(non_upper_case_globals)] // Python's name for it.
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// Fits `method` with `settings` (JSON) to `x`, an array of two axes, a sparse matrix or files; `names` are the column names of an array,
/// `weights` the sample weights, `given` the tables that are passed in addition to the settings.
#[pyfunction]
#[pyo3(signature = (method, settings, x, run_options, names=None, weights=None, max_seconds=None, checkpoint=None, init=None, invocation=None, given=None, observer=None, feature_shape=None))]
#[allow(clippy::too_many_arguments, reason = "Python's own, by name")]
fn fit(
    py: Python<'_>,
    method: String,
    settings: &str,
    x: &Bound<'_, PyAny>,
    run_options: RunOptionsTuple,
    names: Option<Vec<String>>,
    weights: Option<Vec<f64>>,
    max_seconds: Option<f64>,
    checkpoint: Option<CheckpointTuple>,
    init: Option<&Bound<'_, Model>>,
    invocation: Option<String>,
    given: Option<NamedTables<'_>>,
    observer: Option<ObserverTuple>,
    feature_shape: Option<Vec<usize>>,
) -> PyResult<Model> {
    let settings = serde_json::from_str(settings).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
    let given = tensors(given);
    let observer = options::observer(observer);
    let options = RunOptions::new(max_seconds, checkpoint, init, invocation);
    let input = Input::new(x, None)?;
    let wanted = Wanted { names, shape: feature_shape, ..Wanted::default() };
    // A pass over the rows costs a Gram matrix of the smaller dimension; the computation after it costs the cube of this dimension.
    let cost = input.shape().map(|(n, p)| n.min(p).saturating_mul(n.min(p)).saturating_mul(n.max(p)));
    let pictures = input.pictures();
    let (fitted, notices) = observed(py, run_options.into(), observer, input.dtype(), cost, move |run| {
        options.fit(run, |run| {
            let (mut rows, notices) = input.rows(wanted, run)?;
            input.check_pictures(&rows)?;
            if let Some(weights) = weights {
                rows = rows.weighted(weights)?;
            }
            let model = unmix::fit_given(&method, &settings, given, &mut rows, run)?;
            Ok((model, notices))
        })
    })?;
    warn_ignored(py, &notices)?;
    Ok(Model::new(fitted.with_pictures(pictures)))
}

/// Tables that are passed in addition to the settings, by name.
type NamedTables<'py> = Vec<(String, numpy::PyReadonlyArray2<'py, f64>)>;

/// These tables as tensors of the library.
fn tensors(given: Option<NamedTables<'_>>) -> unmix::model::Tensors {
    let tensor = |(name, table): (String, numpy::PyReadonlyArray2<'_, f64>)| {
        let table = table.as_array();
        let (shape, numbers) = (table.shape().to_vec(), table.iter().copied().collect());
        (name, unmix::model::Tensor::new(shape, unmix::model::Values::F64(numbers)))
    };
    given.into_iter().flatten().map(tensor).collect()
}

/// The model `before` of `method` with `settings` (JSON), updated with the rows `x`; without `before`, a new model. `init` is then a model
/// whose stream is continued, or whose parameters are the initial values. The record of how pictures were read is that of the first of the
/// stream. Returns the notes about how a file was read, too: they are among the warnings of the model's report, so that the caller raises
/// them once.
#[pyfunction]
#[pyo3(signature = (method, settings, before, x, run_options, names=None, invocation=None, given=None, init=None, max_seconds=None, feature_shape=None))]
#[allow(clippy::too_many_arguments, reason = "Python's own, by name")]
fn partial_fit(
    py: Python<'_>,
    method: String,
    settings: &str,
    before: Option<&Bound<'_, Model>>,
    x: &Bound<'_, PyAny>,
    run_options: RunOptionsTuple,
    names: Option<Vec<String>>,
    invocation: Option<String>,
    given: Option<NamedTables<'_>>,
    init: Option<&Bound<'_, Model>>,
    max_seconds: Option<f64>,
    feature_shape: Option<Vec<usize>>,
) -> PyResult<(Model, Vec<String>)> {
    let settings = serde_json::from_str(settings).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
    let given = tensors(given);
    let init = init.map(|model| model.get().inner.clone());
    let before = before.map(|model| model.get().inner.clone());
    let earlier = before.as_deref().or(init.as_deref()).and_then(|model| model.report().run.pictures);
    let input = Input::new(x, earlier)?;
    // The columns are those of the earlier batches.
    let wanted = Wanted {
        names: names.or_else(|| before.as_ref().and_then(|model| model.features().names.clone())),
        shape: feature_shape,
        n_features: before.as_ref().map(|model| model.n_features()),
        pictures: earlier,
    };
    let cost = input.shape().map(|(n, p)| n.saturating_mul(p).saturating_mul(p));
    let pictures = input.pictures();
    let fitted = call(py, run_options.into(), input.dtype(), cost, move |run| {
        let (rows, notices) = input.rows(wanted, run)?;
        let start = init.as_deref().map(|model| model as &dyn unmix::Start);
        let run = &unmix::Run { invocation: invocation.as_deref(), init: start, max_seconds, ..*run };
        if let Some(first) = init.as_deref().filter(|_| before.is_none())
            && let Some(model) = unmix::method::continued(&method, &settings, &given, first, &rows, run)?
        {
            let earlier = first.report().run.pictures;
            return Ok((model.with_pictures(earlier.or(pictures)), notices));
        }
        let model = unmix::partial_fit_given(&method, &settings, given, before.as_deref(), &rows, run)?;
        let earlier = before.as_deref().and_then(|model| model.report().run.pictures);
        Ok((model.with_pictures(earlier.or(pictures)), notices))
    })?;
    let (fitted, notices) = fitted;
    warn_ignored(py, &notices)?;
    Ok((Model::new(fitted), notices.sentences()))
}

/// The number of components of `x` by each of `rules`, by name, as JSON; an empty list means the rules based on variances. `names`
/// and `weights` as for a fit.
#[pyfunction]
#[pyo3(signature = (x, rules, run_options, names=None, weights=None))]
fn select(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    rules: Vec<String>,
    run_options: RunOptionsTuple,
    names: Option<Vec<String>>,
    weights: Option<Vec<f64>>,
) -> PyResult<String> {
    let input = Input::new(x, None)?;
    let rules = Criterion::parse(&rules).map_err(|e| raised(e, input.dtype()))?;
    let (table, notices) = call(py, run_options.into(), input.dtype(), None, move |run| {
        let (mut rows, notices) = input.rows(names, run)?;
        if let Some(weights) = weights {
            rows = rows.weighted(weights)?;
        }
        let table = unmix::with_rows!(&mut rows, rows => select_components(rows, &rules, run))?;
        Ok((report_of(table.to_json()).to_string(), notices))
    })?;
    warn(py, &notices)?;
    Ok(table)
}

/// A table over the number of components of a method with a likelihood, as JSON: `wanted` are the settings as JSON, rules by name, and the
/// largest number of components. Its fits end after `max_seconds`.
#[pyfunction]
#[pyo3(signature = (method, x, wanted, run_options, names=None, weights=None, max_seconds=None))]
#[allow(clippy::too_many_arguments, reason = "Python's own, by name")]
fn select_sizes(
    py: Python<'_>,
    method: &str,
    x: &Bound<'_, PyAny>,
    wanted: (String, Vec<String>, Option<usize>),
    run_options: RunOptionsTuple,
    names: Option<Vec<String>>,
    weights: Option<Vec<f64>>,
    max_seconds: Option<f64>,
) -> PyResult<String> {
    let input = Input::new(x, None)?;
    let refused = |e| raised(e, input.dtype());
    let method = unmix::method::find(method).map_err(refused)?;
    let (settings, rules, most) = wanted;
    let rules = SizeRule::parse(method, &rules).map_err(refused)?;
    let settings = serde_json::from_str(&settings).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
    let (table, notices) = call(py, run_options.into(), input.dtype(), None, move |run| {
        let run = &unmix::Run { max_seconds, ..*run };
        let (mut rows, notices) = input.rows(names, run)?;
        if let Some(weights) = weights {
            rows = rows.weighted(weights)?;
        }
        let request = SizeRequest::new(&settings, &rules, most);
        Ok((report_of(compare_sizes(method, &mut rows, &request, run)?.to_json()).to_string(), notices))
    })?;
    warn(py, &notices)?;
    Ok(table)
}

/// The registry, as JSON.
#[pyfunction]
fn methods() -> String {
    serde_json::Value::from_iter(unmix::method::all().into_iter().map(unmix::Method::to_json)).to_string()
}

/// Whether the setting `name` of `method` has an effect in combination with `settings` (JSON).
#[pyfunction]
fn has_effect(method: &str, name: &str, settings: &str) -> PyResult<bool> {
    let refused = |e| raised(e, unmix::Dtype::F64);
    let settings: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(settings).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
    let all = unmix::method::find(method).map_err(refused)?.settings;
    let setting = all.iter().find(|setting| setting.name == name);
    let unknown = || refused(unmix::Error::unknown("setting", name, all.iter().map(|setting| setting.name)));
    Ok(setting.ok_or_else(unknown)?.has_effect(&settings))
}

/// Adds methods for the tests, one for each kind of encoder; only in wheels that are built for tests.
#[cfg(feature = "toys")]
#[pyfunction]
fn register_toys() {
    toys::register();
}

/// Default number of threads.
#[pyfunction]
fn num_threads() -> usize {
    unmix::num_threads()
}

/// The error of the environment variable of the default number of threads, if it is invalid.
#[pyfunction]
fn threads_variable_error() -> Option<String> {
    unmix::internal::num::threads::check_variable().err().map(|e| e.to_string())
}

/// Sets the number of threads for this process; 0 restores the default.
#[pyfunction]
fn set_num_threads(n: usize) {
    unmix::set_num_threads(n);
}

/// Runs the command line program with `args`, the first of which is its name, and returns its exit code.
#[pyfunction]
fn run_cli(py: Python<'_>, args: Vec<std::ffi::OsString>) -> i32 {
    py.detach(|| unmix_cli::run(args))
}
