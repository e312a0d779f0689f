//! RFN's settings: names, allowed values, descriptions.

use crate::choices::{Automatic, choices};
use crate::model::{Counted, Kind, settings};
use serde::{Deserialize, Serialize};
use std::ops::Bound;

settings! {
    /// Settings of [rectified factor networks](super): `Rfn { n_components: 20, ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Rfn {
        /// Number of units, which may exceed the number of columns.
        pub n_components: usize = 50, Kind::at_least(1), by_rows();
        /// Algorithm of the E-step: 'plain' rectifies posterior means at 0 and normalises them, as in the published tables, and the objective can
        /// decrease; 'coordinate' is exact for each unit, and 'cascade' tries steps until one decreases the divergence, so that the objective is
        /// monotone; both keep the codes of all rows in memory.
        pub e_step: EStep = "plain", Kind::Words(EStep::NAMES);
        /// Normalisation of the codes of each unit: 'rms' to second moment 1, 'std' to standard deviation 1, or 'none'.
        pub normalize: Normalize = "rms", Kind::Words(Normalize::NAMES);
        /// Learning rate: parameters move by this fraction of the full update in an iteration; 'auto' is 0.1 with `e_step='plain'`, else 1.
        pub learning_rate: LearningRate = "auto",
            Kind::AnyOf(&[Kind::number(Bound::Excluded(0.0), Bound::Included(1.0)), Kind::AUTO]),
            such_as("0.1");
        /// Maximum number of iterations; with `batch_size`, of epochs.
        pub max_iter: u64 = 1000, Kind::at_least(1);
        /// Convergence tolerance: the larger of the relative changes of loadings and noise in an iteration, divided by the learning rate, must be
        /// below it in five successive iterations; null for exactly `max_iter` iterations.
        pub tol: Option<f64> = null, Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]), such_as("1e-4");
        /// Initial loadings: 'random' for normal numbers with 0.01 times the standard deviation of each column, 'ica' for the columns of the mixing
        /// matrix of independent components, each with the sign for which its source has positive skewness.
        pub init: Init = "random", Kind::Words(Init::NAMES);
        /// Number of starts, of which the one with the largest objective is kept.
        pub n_init: u64 = 1, Kind::at_least(1), without_init();
        /// Subtract the mean of every column; 'median' for the median, which needs access to rows by column.
        pub center: Center = true, Kind::AnyOf(&[Kind::BOOL, Kind::Words(Median::NAMES)]);
        /// Lower bound on the noise variance of a column, in units of `psi_min_unit`.
        pub psi_min: f64 = 0.01, Kind::POSITIVE, such_as("0.01");
        /// Unit of `psi_min` and of the random start: 'variance' is the variance of the column, so that the units of columns do not matter; 'mean'
        /// the mean variance of the columns, for pictures; 'absolute' the unit of the data.
        pub psi_min_unit: PsiMinUnit = "variance", Kind::Words(PsiMinUnit::NAMES);
        /// Covariance of the noise: a variance for each column, or a full matrix, which absorbs covariance that units would explain.
        pub noise: NoiseForm = "diagonal", Kind::Words(NoiseForm::NAMES);
        /// Direction of the M-step: Newton's; the same with the inverse of the noise covariance if that is stable; or the gradient, in units of its
        /// largest stable step.
        pub m_step: MStep = "newton", Kind::Words(MStep::NAMES);
        /// Prior mean of every unit; a negative one makes codes sparser.
        pub prior_mean: f64 = 0.0, Kind::number(Bound::Unbounded, Bound::Unbounded);
        /// Prior variance of every unit.
        pub prior_cov: f64 = 1.0, Kind::POSITIVE, such_as("1.0");
        /// Soft threshold of loadings after each iteration, in standard deviations of the column.
        pub l1: f64 = 0.0, Kind::NON_NEGATIVE;
        /// Weight decay: the fraction by which loadings shrink after each iteration.
        pub l2: f64 = 0.0, Kind::number(Bound::Included(0.0), Bound::Included(1.0));
        /// Largest absolute loading, in standard deviations of the column; null for no bound.
        pub w_max: Option<f64> = null, Kind::AnyOf(&[Kind::POSITIVE, Kind::Null]), such_as("10.0");
        /// Dropout rate: the probability that a code is set to 0 in an iteration; `e_step='plain'` only.
        pub dropout: f64 = 0.0, RATE;
        /// Apply dropout after or before the normalisation of codes.
        pub dropout_place: DropoutPlace = "after", Kind::Words(DropoutPlace::NAMES), only(&[&[("dropout", &["!0.0"]), ("e_step", &["\"plain\""])]]);
        /// Amount of corruption of rows before they are encoded during the fit: probability for 'mask' and 'salt-pepper', standard deviation for
        /// 'gaussian', relative to that of the column; `e_step='plain'` only.
        pub input_noise: f64 = 0.0, RATE;
        /// Corruption of rows: 'mask' sets entries to 0, 'salt-pepper' to 0 or 1, 'gaussian' adds normal numbers.
        pub input_noise_kind: InputNoiseKind = "mask",
            Kind::Words(InputNoiseKind::NAMES),
            only(&[&[("input_noise", &["!0.0"]), ("e_step", &["\"plain\""])]]);
        /// Criterion that a step of `e_step='cascade'` must decrease: 'mean' for the divergence of the codes, 'kl' for that with the covariance of
        /// the previous iteration for the old codes.
        pub accept: Accept = "mean", Kind::Words(Accept::NAMES), only(&[&[("e_step", &["\"cascade\""])]]);
        /// Treatment of units that are 0 in every row: 'zero' keeps them, 'onehot' activates each at the row where it is closest to positive; 'auto'
        /// is 'onehot' if the objective is monotone and codes are normalised, else 'zero'.
        pub dead_unit: DeadUnit = "auto", Kind::Words(DeadUnit::NAMES);
        /// Mini-batch size, at least twice `n_components`: parameters are updated after each batch, from running averages of the sums; null for all
        /// rows at once. `e_step='plain'` only.
        pub batch_size: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(1), Kind::Null]), counting(Counted::Epochs);
    }
    pub(crate) const SETTINGS;
}

choices! {
    /// Algorithm of the E-step.
    pub enum EStep {
        /// Posterior means, rectified and scaled.
        Plain = "plain",
        /// A sequence of candidates, of which the first that decreases the objective is accepted.
        Cascade = "cascade",
        /// Exact minimisation, one unit after the other.
        Coordinate = "coordinate",
    }
}

choices! {
    /// Normalisation of the units.
    pub enum Normalize {
        /// The root mean square.
        Rms = "rms",
        /// The standard deviation.
        Std = "std",
        /// None.
        None = "none",
    }
}

choices! {
    /// Initial loadings.
    pub enum Init {
        /// Small random numbers.
        Random = "random",
        /// Columns of the mixing matrix of independent components.
        Ica = "ica",
    }
}

choices! {
    /// Unit of the lower bound on the noise variance, and of the start.
    pub enum PsiMinUnit {
        /// Each column's variance.
        Variance = "variance",
        /// The mean variance of the columns.
        Mean = "mean",
        /// The units of the data.
        Absolute = "absolute",
    }
}

choices! {
    /// Form of the noise covariance.
    pub enum NoiseForm {
        /// A variance for each column.
        Diagonal = "diagonal",
        /// A full matrix.
        Full = "full",
    }
}

choices! {
    /// Direction of the M-step.
    pub enum MStep {
        /// Newton's direction.
        Newton = "newton",
        /// The same, with the inverse noise covariance.
        InversePsi = "inverse-psi",
        /// The gradient.
        Gradient = "gradient",
    }
}

choices! {
    /// Order of dropout and normalisation.
    pub enum DropoutPlace {
        /// After normalisation.
        After = "after",
        /// Before normalisation.
        Before = "before",
    }
}

choices! {
    /// Kind of input noise.
    pub enum InputNoiseKind {
        /// Entries are set to 0.
        Mask = "mask",
        /// Entries are set to 0 or 1.
        SaltPepper = "salt-pepper",
        /// Gaussian noise is added.
        Gaussian = "gaussian",
    }
}

choices! {
    /// Acceptance criterion of a cascade.
    pub enum Accept {
        /// The divergence of the means of the codes.
        Mean = "mean",
        /// The divergence including the covariance of the previous posterior.
        Kl = "kl",
    }
}

choices! {
    /// Treatment of units that are 0 in every row.
    pub enum DeadUnit {
        /// Depending on the algorithm of the E-step.
        Auto = "auto",
        /// They are kept.
        Zero = "zero",
        /// Each is activated at one row.
        Onehot = "onehot",
    }
}

/// Learning rate: fraction of the full update.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum LearningRate {
    /// A fraction of at most 1.
    Rate(f64),
    /// 0.1 in plain mode, else 1.
    Auto(Automatic),
}

impl Default for LearningRate {
    fn default() -> Self {
        LearningRate::Auto(Automatic::Auto)
    }
}

/// Offset that is subtracted from the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Center {
    /// Their means, or nothing.
    Mean(bool),
    /// Their medians.
    Median(Median),
}

impl Default for Center {
    fn default() -> Self {
        Center::Mean(true)
    }
}

choices! {
    /// The string "median".
    pub enum Median {
        /// The string "median".
        Median = "median",
    }
}

/// The interval from 0 to 0.99.
const RATE: Kind = Kind::number(Bound::Included(0.0), Bound::Included(0.99));
