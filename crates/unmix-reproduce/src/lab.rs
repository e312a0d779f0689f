//! Shared parts of experiments: data, fits, and output.

use crate::experiments::published;
use crate::output::{Folder, Grid, Number, Results};
use crate::pictures::{self, PatchSet};
use crate::{Experiment, Options, measure};
use serde_json::{Map, Value};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use unmix::data::{Features, RawArray};
use unmix::internal::learn::Optimiser;
use unmix::internal::neural::{NONLINEAR, NONLINEAR_MORE, Spec, Trained, Training, TrainingStart, train};
use unmix::internal::spectrum::{self, Request, auto_solver};
use unmix::model::{Tensor, Tensors};
use unmix::{AnyRows, Dtype, Error, Event, Matrix, Model, Observer, Result, Rows, Run, Start};
use unmix_report::{Content, Sheet};

/// Data, options and results of an experiment.
pub(crate) struct Lab<'a> {
    pub(crate) options: &'a Options,
    pub(crate) run: &'a Run<'a>,
    folder: Option<Folder>,
    experiment: &'static str,
    patches: Option<Rc<PatchSet>>,
    converged: Option<Rc<Matrix<f64>>>,
}

/// Why measures of single filters are not comparable.
pub(crate) const OTHER_PATCHES: &str =
    "of other patches; the conditions are about differences between filters";

/// Number of components in every experiment with pictures.
pub(crate) const K: usize = 32;

impl<'a> Lab<'a> {
    pub(crate) fn new(options: &'a Options, run: &'a Run<'a>) -> Result<Self> {
        std::fs::create_dir_all(&options.output)
            .map_err(|e| Error::io("cannot create the folder", &options.output, e))?;
        Ok(Self { options, run, folder: None, experiment: "", patches: None, converged: None })
    }

    pub(crate) fn begin(&mut self, experiment: &Experiment) -> Result<()> {
        self.experiment = experiment.key;
        self.folder = Some(Folder::new(self.options.output.join(experiment.key))?);
        Ok(())
    }

    pub(crate) fn end(&mut self) -> Result<Results> {
        self.folder.take().map_or_else(|| Ok(Results::default()), Folder::close)
    }

    fn folder(&mut self) -> Result<&mut Folder> {
        self.folder.as_mut().ok_or_else(|| {
            Error::unsupported(
                "writing a result",
                "no experiment has begun",
                "run one of the experiments by its key",
            )
        })
    }

    /// Writes a figure.
    pub(crate) fn figure(&mut self, name: &str, sheet: &Sheet) -> Result<()> {
        self.folder()?.figure(name, sheet)
    }

    /// Writes a table.
    pub(crate) fn table(&mut self, name: &str, header: &[&str], rows: &[Vec<String>]) -> Result<()> {
        self.folder()?.table(name, header, rows)
    }

    /// Adds a table to the page; its numbers belong into a [`Lab::table`], too.
    pub(crate) fn grid(&mut self, grid: Grid) -> Result<()> {
        self.folder()?.results.grids.push(grid);
        Ok(())
    }

    /// Adds a note about the data or the method.
    pub(crate) fn note(&mut self, text: impl Into<String>) -> Result<()> {
        self.folder()?.results.notes.push(text.into());
        Ok(())
    }

    /// Records a number that was not published.
    pub(crate) fn number(&mut self, quantity: impl Into<String>, ours: f64) -> Result<()> {
        self.beside(quantity, ours, "", "")
    }

    /// Records a number and the published one, and why they are not comparable; an empty `published` is one that is not known.
    pub(crate) fn beside(
        &mut self,
        quantity: impl Into<String>,
        ours: f64,
        published: &str,
        reason: &str,
    ) -> Result<()> {
        let reason = if published.is_empty() { String::new() } else { reason.into() };
        let published = published.into();
        let number = Number { quantity: quantity.into(), ours, published, condition: None, reason };
        self.folder()?.results.numbers.push(number);
        Ok(())
    }

    /// Records a number with the condition that it must satisfy.
    pub(crate) fn check(
        &mut self,
        quantity: impl Into<String>,
        ours: f64,
        published: &str,
        condition: &str,
        holds: bool,
    ) -> Result<()> {
        let condition = Some((condition.into(), holds));
        let (quantity, published) = (quantity.into(), published.into());
        let number = Number { quantity, ours, published, condition, reason: String::new() };
        self.folder()?.results.numbers.push(number);
        Ok(())
    }

    /// Fits double-precision rows.
    pub(crate) fn fit(&self, method: &str, settings: Value, x: &Matrix<f64>) -> Result<Model> {
        let mut rows = AnyRows::F64(Rows::from_slice(x.as_slice(), x.cols())?);
        unmix::fit(method, &map(settings), &mut rows, self.run)
    }

    /// Fits rows of either precision.
    pub(crate) fn fit_rows(&self, method: &str, settings: Value, rows: &mut AnyRows<'_>) -> Result<Model> {
        unmix::fit(method, &map(settings), rows, self.run)
    }

    /// The run of one of several fits: with a seed, and the model from whose parameters the fit starts.
    pub(crate) fn run_of<'r>(&'r self, seed: u64, init: Option<&'r Model>) -> Run<'r> {
        let Run { threads, max_seconds, observer, started, .. } = *self.run;
        let init = init.map(|model| model as &dyn Start);
        Run { seed, threads, max_seconds, observer, started, init, ..Run::default() }
    }

    /// Fits rows of either precision with tables in addition to the settings, such as a dictionary.
    pub(crate) fn fit_given(
        method: &str,
        settings: Value,
        tables: &[(&str, &Matrix<f64>)],
        rows: &mut AnyRows<'_>,
        run: &Run<'_>,
    ) -> Result<Model> {
        let table = |(name, m): &(&str, &Matrix<f64>)| (name.to_string(), Tensor::matrix(m, Dtype::F64));
        let given: Tensors = tables.iter().map(table).collect();
        unmix::fit_given(method, &map(settings), given, rows, run)
    }

    /// Fits patches.
    pub(crate) fn fit_patches(&self, method: &str, settings: Value, set: &PatchSet) -> Result<Model> {
        let features = Features { names: None, shape: Some(set.shape.clone()) };
        let array = RawArray::borrowed(&set.x, set.n_features())?;
        let mut rows = AnyRows::F32(Rows::new(array, features, "patches"));
        unmix::fit(method, &map(settings), &mut rows, self.run)
    }

    /// The patches, cut once; a note describes them.
    pub(crate) fn patches(&mut self) -> Result<Rc<PatchSet>> {
        if self.patches.is_none() {
            self.patches = Some(Rc::new(pictures::patches(self.options, self.run)?));
        }
        let set = self.patches.clone().unwrap_or_else(|| unreachable!("filled above"));
        self.note(format!("Data: {}, {} rows of {} numbers.", set.origin, set.len(), set.n_features()))?;
        Ok(set)
    }

    /// The filters of [`Lab::converged`] as reference.
    pub(crate) fn others(&mut self, set: &PatchSet) -> Result<ReferenceFilters> {
        Ok(ReferenceFilters { filters: self.converged(set)?, name: "the converged filters" })
    }

    /// The filters to which the default solver converges with a = 4, the published main method: the reference for other filters.
    pub(crate) fn converged(&mut self, set: &PatchSet) -> Result<Rc<Matrix<f64>>> {
        if self.converged.is_none() {
            let settings = serde_json::json!({"n_components": K, "a": 4.0, "max_iter": 150, "tol": 1e-4});
            let model = self.fit_patches("sigma-pca", settings, set)?;
            self.converged = Some(Rc::new(filters(&model)));
        }
        Ok(self.converged.clone().unwrap_or_else(|| unreachable!("filled above")))
    }

    /// Records kurtosis, effective pixels, orthonormality, and agreement with `others`, for filters of patches, with the values
    /// published for the panel `name` of this experiment.
    pub(crate) fn measured(
        &mut self,
        name: &str,
        w: &Matrix<f64>,
        set: &PatchSet,
        others: &ReferenceFilters,
    ) -> Result<FilterMeasures> {
        let unit = measure::unit_rows(w);
        let eighth = &set.x[..set.len().div_ceil(8) * set.n_features()];
        let moments = measure::moments(&measure::scores(eighth, &unit));
        let kurtosis = moments.iter().map(|m| m.1).sum::<f64>() / moments.len() as f64;
        let agreement = measure::matched(&unit, &others.filters);
        let measures = FilterMeasures {
            kurtosis,
            pixels: measure::effective_pixels(&unit, set.channels()),
            orthonormality: measure::orthonormality(w),
            agreement: agreement.mean,
            close: agreement.close,
        };
        let [kurtosis, pixels, orthonormality, agreement, _] = self.published(set, name);
        self.beside(format!("{name}: mean excess kurtosis"), measures.kurtosis, kurtosis, OTHER_PATCHES)?;
        self.beside(format!("{name}: effective pixels of a filter"), measures.pixels, pixels, OTHER_PATCHES)?;
        self.beside(
            format!("{name}: orthonormality"),
            measures.orthonormality,
            orthonormality,
            OTHER_PATCHES,
        )?;
        self.beside(
            format!("{name}: mean cosine with {}", others.name),
            measures.agreement,
            agreement,
            OTHER_PATCHES,
        )?;
        Ok(measures)
    }

    /// Published values for the panel `name` of this experiment.
    pub(crate) fn published(&self, set: &PatchSet, name: &str) -> published::Filters {
        published::filters(set.known, self.experiment, name)
    }
}

/// Passes on that the user requested a stop, and no progress: fits that run side by side would mix theirs.
struct OnlyInterruption<'a>(&'a dyn Observer);

impl Observer for OnlyInterruption<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

/// The results of `work` for 0 to `n`, in this order, on the threads of `run` with one thread for each call. After an error no call
/// begins, and the first one is returned.
pub(crate) fn side_by_side<R: Send>(
    run: &Run<'_>,
    n: usize,
    work: impl Fn(usize, &Run<'_>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let observer = OnlyInterruption(run.observer);
    let (next, done, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let results: Vec<Mutex<Option<Result<R>>>> = (0..n).map(|_| Mutex::new(None)).collect();
    let worker = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= n || failed.load(Ordering::Relaxed) {
                return;
            }
            let result = work(at, &Run { threads: 1, observer: &observer, ..Run::default() });
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            *results[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            let done = done.fetch_add(1, Ordering::Relaxed) as u64 + 1;
            run.observer.event(Event::Sweep { stage: "fits", done, total: Some(n as u64) });
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..run.threads.clamp(1, n.max(1)) {
            scope.spawn(worker);
        }
    });
    let taken = results.into_iter().map(|r| r.into_inner().unwrap_or_else(PoisonError::into_inner));
    taken.flatten().collect()
}

/// Reference filters, and their description.
#[derive(Clone, Debug)]
pub(crate) struct ReferenceFilters {
    pub(crate) filters: Rc<Matrix<f64>>,
    pub(crate) name: &'static str,
}

/// Results of [`Lab::measured`].
#[derive(Clone, Debug)]
pub(crate) struct FilterMeasures {
    pub(crate) kurtosis: f64,
    pub(crate) pixels: f64,
    pub(crate) orthonormality: f64,
    pub(crate) agreement: f64,
    pub(crate) close: usize,
}

/// Settings by name.
pub(crate) fn map(settings: Value) -> Map<String, Value> {
    match settings {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The encoder vectors, unit or not, `k x p`.
pub(crate) fn filters(model: &Model) -> Matrix<f64> {
    model.tensor("components").map_or_else(|| Matrix::zeros(0, 0), |t| t.to_matrix())
}

/// Rows as pictures, 8 in a line.
pub(crate) fn as_pictures(w: &Matrix<f64>, set: &PatchSet) -> Content {
    Content::Pictures { vectors: w.clone(), shape: set.shape.clone(), columns: 8 }
}

/// Columns of `x` as curves.
pub(crate) fn as_courses(x: &Matrix<f64>) -> Content {
    Content::Courses(x.transposed())
}

/// Settings of a published variant, trained as recommended for it: with the tangent gradient, and a rate
/// that decreases to zero.
pub(crate) fn trained(lab: &Lab<'_>, variant: &str, k: usize, more: Value) -> Value {
    let n = lab.patches.as_ref().map_or(20_000, |set| set.len());
    let mut out = serde_json::json!({
        "n_components": k, "variant": variant, "solver": "adam", "learning_rate": PUBLISHED_RATE, "batch_size": 128,
        "max_epochs": epochs(lab.options.quick, n),
    });
    for (name, value) in map(more) {
        out[name] = value;
    }
    out
}

/// Settings of a published linear rule on patches, whose variances are so close that full batches would take very many steps: trained
/// as published, from random directions.
pub(crate) fn trained_linear(lab: &Lab<'_>, variant: &str) -> Value {
    if variant == "svd" {
        return serde_json::json!({"n_components": K, "variant": variant});
    }
    trained(lab, variant, K, serde_json::json!({"learning_rate": SMALLER_PUBLISHED_RATE}))
}

/// Training options of a rule that is modified for an experiment.
#[derive(Clone, Copy)]
pub(crate) struct TrainingOptions {
    pub(crate) k: usize,
    pub(crate) learning_rate: f64,
    pub(crate) epochs: u64,
    /// Whether the rate decreases to zero; otherwise it is constant, as published.
    pub(crate) decay: bool,
    /// Whether weights of terms are in the units of the data, as published.
    pub(crate) absolute: bool,
}

impl TrainingOptions {
    /// As in [`trained`]: the published rate at first, then a decreasing one.
    pub(crate) fn usual(lab: &Lab<'_>, set: &PatchSet) -> Self {
        let epochs = epochs(lab.options.quick, set.len());
        Self { k: K, learning_rate: PUBLISHED_RATE, epochs, decay: true, absolute: false }
    }
}

/// Trains the rule `key`, with or without a public key, after `change`, from the axes of linear PCA.
pub(crate) fn train_rule(
    lab: &Lab<'_>,
    x: &[f32],
    p: usize,
    key: &str,
    how: TrainingOptions,
    change: impl Fn(&mut Spec),
) -> Result<Trained> {
    let mut spec = rule_of(key)?;
    change(&mut spec);
    let rows = Rows::from_slice(x, p)?;
    let request = Request {
        method: "reproduce",
        solver: auto_solver((x.len() / p) as u64, p, None, false),
        top: None,
        center: true,
        standardize: false,
        tol: 0.0,
        rounds: None,
        n_oversamples: 0,
        start: None,
    };
    let axes = spectrum::decompose(&rows, lab.run, &request)?;
    let begin = TrainingStart::at_axes(&rows, &axes, &spec, how.k, lab.run)?;
    let how = Training {
        optimiser: Optimiser::Adam,
        learning_rate: how.learning_rate,
        batch_size: 128,
        max_epochs: how.epochs,
        tangent: true,
        decay: how.decay,
        absolute: how.absolute,
        beta_by_variance: None,
    };
    train(&rows, &spec, &begin, &how, lab.run)
}

/// The record of a rule, with or without a public key.
pub(crate) fn rule_of(key: &str) -> Result<Spec> {
    let all = || NONLINEAR.iter().chain(&NONLINEAR_MORE);
    let row = all().find(|row| row.key == key);
    row.and_then(|row| row.spec).ok_or_else(|| Error::unknown("rule", key, all().map(|row| row.key)))
}

/// The published learning rate of Adam.
const PUBLISHED_RATE: f64 = 0.01;

/// The smaller of the two published rates: at the larger one 64 columns of an asymmetric nonlinearity do not remain distinct.
pub(crate) const SMALLER_PUBLISHED_RATE: f64 = 1e-3;

/// Number of epochs for about the published number of steps: 3 of 4000 batches of 128 rows; a sixth of that when quick.
pub(crate) fn epochs(quick: bool, n: usize) -> u64 {
    let steps = if quick { 2000 } else { 12_000 };
    (steps * 128usize).div_ceil(n.max(1)).max(3) as u64
}

/// Filters by a rule without a public key, trained as the others.
pub(crate) fn rule(lab: &Lab<'_>, set: &PatchSet, key: &str) -> Result<Matrix<f64>> {
    let how = TrainingOptions::usual(lab, set);
    Ok(train_rule(lab, &set.x, set.n_features(), key, how, |_| ())?.w.transposed())
}
