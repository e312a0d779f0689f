//! `unmix score`: one number for each row, available for every model: its log-likelihood, or its squared reconstruction error.

use std::marker::PhantomData;
use unmix::data::Sink;
use unmix::model::{Measures, Parts};
use unmix::{Model, Real, Rows, Run};

/// The kind of score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scored {
    /// The logarithm of its probability density.
    LogLikelihood,
    /// Squared distance from the reconstruction.
    Error,
    /// Squared distance from the nearest subspace, for models whose codes are distances.
    Distance,
}

impl Scored {
    pub(crate) fn of(model: &Model) -> Self {
        match (model.check_scores(), model.code().decoder()) {
            (Ok(()), _) => Self::LogLikelihood,
            (Err(_), Some(_)) => Self::Error,
            (Err(_), None) => Self::Distance,
        }
    }

    /// Name of the column.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::LogLikelihood => "log_likelihood",
            Self::Error => "squared_error",
            Self::Distance => "squared_distance",
        }
    }

    /// The score in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::LogLikelihood => "log-likelihood",
            Self::Error => "squared distance from the reconstruction",
            Self::Distance => "squared distance from the nearest subspace",
        }
    }

    /// A note if the score is not a likelihood.
    pub(crate) fn note(self, model: &Model) -> Option<String> {
        let note = || {
            format!(
                "{} has no likelihood; {} of each row, large for outliers",
                model.method().key,
                self.words()
            )
        };
        (self != Self::LogLikelihood).then(note)
    }

    /// Passes the score of every row to the sink, in order.
    ///
    /// # Errors
    ///
    /// Errors of the rows.
    pub(crate) fn put<T: Real>(
        self,
        model: &Model,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        to: &mut dyn Sink<f64>,
    ) -> unmix::Result<u64> {
        match self {
            Self::LogLikelihood => model.score_samples(rows, run, to),
            Self::Error => {
                let parts = Parts::default();
                let names = Measures::of(model, parts).names(model);
                let at = names.iter().position(|n| n == "q" || n == "squared_error").unwrap_or_default();
                model.quality(
                    rows,
                    parts,
                    run,
                    &mut Each { to, width: names.len(), score: |row: &[f64]| row[at], of: PhantomData },
                )
            }
            Self::Distance => {
                let nearest =
                    |row: &[T]| row.iter().map(|d| d.to_f64().powi(2)).fold(f64::INFINITY, f64::min);
                let encoded = model.encode(
                    rows,
                    run,
                    &mut Each { to, width: model.n_codes(), score: nearest, of: PhantomData },
                )?;
                Ok(encoded.n_rows)
            }
        }
    }
}

/// Extracts one number from each row of `width` numbers.
struct Each<'a, T, F> {
    to: &'a mut dyn Sink<f64>,
    width: usize,
    score: F,
    of: PhantomData<T>,
}

impl<T, F: Fn(&[T]) -> f64> Sink<T> for Each<'_, T, F> {
    fn put(&mut self, rows: &[T]) -> unmix::Result<()> {
        let scores: Vec<f64> = rows.chunks_exact(self.width.max(1)).map(&self.score).collect();
        self.to.put(&scores)
    }
}
