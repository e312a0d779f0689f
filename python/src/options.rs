//! Options of a fit that are not settings of its method, from Python.

use crate::model::Model;
use crate::progress::CallbackObserver;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use unmix::{Checkpoint, Result, Run, Start};

/// A checkpoint as Python passes it: the file, seconds between two writes, and whether to resume from it.
pub(crate) type CheckpointTuple = (PathBuf, f64, bool);

/// An observer as Python passes it: the callback, and whether an interrupted fit keeps its result.
pub(crate) type ObserverTuple = (Option<Py<PyAny>>, bool);

/// The observer of a fit.
pub(crate) fn observer(given: Option<ObserverTuple>) -> CallbackObserver {
    let (callback, keeps_interrupted) = given.unwrap_or_default();
    CallbackObserver { callback, keeps_interrupted }
}

/// Options of a fit besides its rows and settings.
pub(crate) struct RunOptions {
    max_seconds: Option<f64>,
    checkpoint: Option<Checkpoint>,
    init: Option<Arc<unmix::Model>>,
    invocation: Option<String>,
}

impl RunOptions {
    /// From Python's values.
    pub(crate) fn new(
        max_seconds: Option<f64>,
        checkpoint: Option<CheckpointTuple>,
        init: Option<&Bound<'_, Model>>,
        invocation: Option<String>,
    ) -> Self {
        let checkpoint =
            checkpoint.map(|(path, every, resume)| Checkpoint::new(path).every(every).resume(resume));
        Self { max_seconds, checkpoint, init: init.map(|model| model.get().inner.clone()), invocation }
    }

    /// Runs `fit` with these options. The checkpoint of a completed fit is removed; it is kept where the fit ended early.
    pub(crate) fn fit<T>(
        &self,
        run: &Run<'_>,
        fit: impl FnOnce(&Run<'_>) -> Result<(unmix::Model, T)>,
    ) -> Result<(unmix::Model, T)> {
        let init = self.init.as_deref().map(|model| model as &dyn Start);
        let run = Run {
            max_seconds: self.max_seconds,
            checkpoint: self.checkpoint.as_ref(),
            init,
            invocation: self.invocation.as_deref(),
            ..*run
        };
        let (model, other) = fit(&run)?;
        if let Some(checkpoint) = self.checkpoint.as_ref().filter(|_| !model.report().outcome.is_early()) {
            checkpoint.remove()?;
        }
        Ok((model, other))
    }
}
