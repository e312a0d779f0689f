//! Search for sources in coordinates: choice of the solver and of initial values.

use super::linear::polar;
use super::orthogonal::{self, Step, StepAcceptance};
use super::view::{SweptRows, View};
use super::whiten;
use super::{Limits, SolverResult, adaptive, free, layers, online, subsample, unit};
use crate::data::{Map, Projected, Rows};
use crate::error::{Error, Result, counted};
use crate::num::random::Stream;
use crate::num::{Matrix, Real};
use crate::run::{Phase, Run};
use crate::solve::best_of_starts;
use crate::spectrum::Coordinates;
use crate::stats::Contrast;

/// A solver and its options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Algorithm {
    /// Limited-memory BFGS over rotations.
    PicardO {
        /// Whether the sign of a source's contrast is estimated.
        extended: bool,
    },
    /// Limited-memory BFGS over all invertible matrices, by maximum likelihood.
    Picard {
        /// As for `PicardO`.
        extended: bool,
    },
    /// Symmetric fixed point with a monotone objective.
    FastIca,
    /// One unit after the other; the gradient is the stopping criterion.
    Deflation,
    /// Symmetric fixed point as in other implementations; the change of the rotation is the stopping criterion.
    Parallel,
    /// One unit after the other; the change of the unit is the stopping criterion.
    OneByOne,
    /// Online steps on one row at a time, then the estimating equations on all rows.
    Easi {
        /// As for `PicardO`.
        extended: bool,
    },
    /// Two layers of sigma-PCA.
    Layers {
        /// Whether the first one is sigma-PCA; else it is PCA.
        both: bool,
    },
}

/// Name of a solver, for reports.
pub(crate) fn solver_name(search: &Search<'_>) -> &'static str {
    match (search.algorithm, search.contrast) {
        _ if search.adaptive == Some(false) => "picard",
        (Algorithm::PicardO { .. }, _) => "picard-o",
        (Algorithm::Picard { .. }, Contrast::LogCosh(0.5)) => "infomax",
        (Algorithm::Picard { .. }, _) => "picard",
        (Algorithm::FastIca | Algorithm::Parallel, _) => "fastica",
        (Algorithm::Deflation | Algorithm::OneByOne, _) => "fastica deflation",
        (Algorithm::Easi { .. }, _) => "easi",
        (Algorithm::Layers { .. }, _) => "sigma-pca",
    }
}

/// A search for sources.
#[derive(Clone, Debug)]
pub(crate) struct Search<'s> {
    pub(crate) algorithm: Algorithm,
    pub(crate) contrast: Contrast,
    pub(crate) limits: Limits,
    /// Number of starts, of which the best result is kept.
    pub(crate) n_init: u64,
    /// The first start, `k x k`, instead of a random rotation.
    pub(crate) start: Option<&'s Matrix<f64>>,
    /// Number of rows for the first steps of a search over rotations; see [`subsample`].
    pub(crate) subsample: Option<u64>,
    /// Whether the search continues with contrasts that are fitted to the sources, and if so whether over rotations; see
    /// [`adaptive`].
    pub(crate) adaptive: Option<bool>,
}

impl Search<'_> {
    /// Whether the initial matrix must be a rotation; for deflation, rows are orthogonalised one by one.
    fn rotates(&self) -> bool {
        use Algorithm::{FastIca, Layers, Parallel, PicardO};
        matches!(self.algorithm, PicardO { .. } | FastIca | Parallel | Layers { .. })
    }

    /// Whether the result is a rotation of the coordinates, which then have to be white.
    pub(super) fn rotates_only(&self) -> bool {
        self.adaptive != Some(false)
            && !matches!(self.algorithm, Algorithm::Picard { .. } | Algorithm::Easi { .. })
    }

    /// Runs the search on prepared rows.
    pub(crate) fn run<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        coordinates: &Coordinates,
        run: &Run<'_>,
    ) -> Result<SolverResult> {
        let (n, p, k) = (rows.n_rows().unwrap_or(0), rows.n_features(), coordinates.k());
        if self.algorithm == (Algorithm::Layers { both: true }) && self.start.is_none() {
            let (rotation, solved, sweeps) = layers::first(rows, coordinates, &self.limits, run)?;
            let limits =
                Limits { max_iter: self.limits.max_iter.saturating_sub(solved.n_iter), ..self.limits };
            let second = Search { start: Some(&rotation), limits, ..self.clone() };
            let phase = self.phase(solved.n_iter, run);
            let mut found = second.run(rows, coordinates, &Run { observer: &phase, ..*run })?;
            (found.n_iter, found.sweeps) = (found.n_iter + solved.n_iter, found.sweeps + sweeps);
            return Ok(found);
        }
        let basis = coordinates.basis();
        let layers = matches!(self.algorithm, Algorithm::Layers { .. });
        let copied = |_: &&Matrix<f64>| layers || whiten::keeps_copy(n, p, k, T::DTYPE.size());
        if let Some(basis) = basis.as_ref().filter(copied) {
            let map = Map::new(coordinates.mean.clone(), basis);
            let white = Projected::new(rows, map, "whitening", run)?;
            let view = View { place: SweptRows::Projected(&white), mean: None, basis: None, k };
            let mut found = self.best_of_starts(&view, coordinates, run)?;
            found.sweeps += 1;
            return Ok(found);
        }
        let mean = coordinates.subtracted();
        self.best_of_starts(
            &View { place: SweptRows::Rows(rows), mean, basis: basis.as_ref(), k },
            coordinates,
            run,
        )
    }

    fn best_of_starts<T: Real>(
        &self,
        view: &View<'_, '_, T>,
        coordinates: &Coordinates,
        run: &Run<'_>,
    ) -> Result<SolverResult> {
        let mut sweeps = 0;
        let one = |i: u64| {
            let mut found = self.start_at(view, coordinates, self.start(view.k, i, run)?, run)?;
            if let Some(ortho) = self.adaptive {
                found =
                    adaptive::refine(view, coordinates.moments.as_ref(), ortho, found, &self.limits, run)?;
            }
            sweeps += found.sweeps;
            Ok(found)
        };
        let found =
            best_of_starts(self.n_init, run, one, |found| &mut found.outcome, |a, b| a.value < b.value)?;
        Ok(SolverResult { sweeps, ..found })
    }

    /// The observer of a phase of the search, after so many iterations of the phases before: its counts go on.
    fn phase<'r>(&self, before: u64, run: &Run<'r>) -> Phase<'r> {
        Phase { observer: run.observer, before, max_iter: self.limits.max_iter }
    }

    fn start_at<T: Real>(
        &self,
        view: &View<'_, '_, T>,
        coordinates: &Coordinates,
        start: Matrix<f64>,
        run: &Run<'_>,
    ) -> Result<SolverResult> {
        let contrast = self.contrast;
        let before = self.before(view, coordinates, start, run)?;
        let limits = &Limits { max_iter: self.limits.max_iter.saturating_sub(before.n_iter), ..self.limits };
        let phase = self.phase(before.n_iter, run);
        let run = &Run { observer: &phase, ..*run };
        let by = |step, acceptance, extended, start| {
            orthogonal::solve(view, contrast.into(), (step, acceptance), extended, start, limits, run)
        };
        let start = before.w;
        let mut found = match self.algorithm {
            Algorithm::PicardO { extended } => by(Step::Picard, StepAcceptance::Objective, extended, start),
            Algorithm::FastIca => by(Step::FastIca, StepAcceptance::Objective, true, start),
            Algorithm::Parallel => by(Step::FastIca, StepAcceptance::Change, true, start),
            Algorithm::Deflation => {
                unit::solve(view, contrast, StepAcceptance::Objective, start, limits, run)
            }
            Algorithm::OneByOne => unit::solve(view, contrast, StepAcceptance::Change, start, limits, run),
            Algorithm::Layers { .. } => layers::solve(view, contrast, &start, limits, run),
            Algorithm::Easi { extended } => {
                online::solve(view, coordinates.moments.as_ref(), extended, start, limits, run)
            }
            Algorithm::Picard { extended } => {
                let moments = coordinates.moments.as_ref();
                free::solve(view, moments, contrast.into(), extended, start, limits, run)
            }
        }?;
        (found.n_iter, found.sweeps) = (found.n_iter + before.n_iter, found.sweeps + before.sweeps);
        Ok(found)
    }

    /// Preparation of the search: steps on a subsample, if there are many rows; for a search over all
    /// invertible matrices first one over rotations, whose result is near the solution and is found in fewer
    /// steps.
    fn before<T: Real>(
        &self,
        view: &View<'_, '_, T>,
        coordinates: &Coordinates,
        start: Matrix<f64>,
        run: &Run<'_>,
    ) -> Result<SolverResult> {
        let extended = match self.algorithm {
            Algorithm::PicardO { extended } | Algorithm::Picard { extended } => extended,
            _ => true,
        };
        let free = matches!(self.algorithm, Algorithm::Picard { .. });
        let mut at = SolverResult { sweeps: 0, ..SolverResult::not_finite(start) };
        let rotates = self.rotates() || free && coordinates.white && self.start.is_none();
        if !rotates || matches!(self.algorithm, Algorithm::Parallel | Algorithm::Layers { .. }) {
            return Ok(at);
        }
        let mut go_on = |view: &View<'_, '_, T>, most: u64, share: f64| -> Result<()> {
            let most = most.min(self.limits.max_iter - at.n_iter);
            let (n_iter, sweeps) = (at.n_iter, at.sweeps);
            let phase = self.phase(n_iter, run);
            let run = &Run { observer: &phase, ..*run };
            let found = orthogonal::approach(view, self.contrast.into(), extended, at.w.clone(), most, run)?;
            let sweeps = sweeps + (found.sweeps as f64 * share).ceil() as u64;
            at = SolverResult { n_iter: n_iter + found.n_iter, sweeps, ..found };
            Ok(())
        };
        let n = subsample::n_rows(view.rows());
        let auto = matches!(self.algorithm, Algorithm::PicardO { .. } | Algorithm::Picard { .. });
        if let Some(m) = subsample::size(self.subsample, n, view.k, auto && self.start.is_none()) {
            let rows = view.picked(subsample::chosen(view.rows(), m), run)?;
            let some = View { place: SweptRows::Rows(&rows), mean: view.mean, basis: view.basis, k: view.k };
            go_on(&some, subsample::MOST_STEPS, m as f64 / n as f64)?;
        }
        if free {
            go_on(view, u64::MAX, 1.0)?;
        }
        Ok(at)
    }

    /// Start number `i`: a random rotation, or the first one given.
    fn start(&self, k: usize, i: u64, run: &Run<'_>) -> Result<Matrix<f64>> {
        match self.start.filter(|_| i == 0) {
            None => {
                let stream = Stream::new(run.seed, i);
                polar(&Matrix::from_fn(k, k, |r, c| stream.normal((r * k + c) as u64)))
            }
            Some(given) if given.rows() < k || given.cols() < k => Err(Error::setting(
                "w_init",
                format!("{} x {}", given.rows(), given.cols()),
                format!(
                    "must be a {k} x {k} matrix, with one row for each of {}",
                    counted(k as u64, "source")
                ),
                "",
            )),
            Some(given) => {
                // The rank may be less than the number requested: then only the leading block is used.
                let given = Matrix::from_fn(k, k, |r, c| given[(r, c)]);
                if self.rotates() { polar(&given) } else { Ok(given) }
            }
        }
    }
}
