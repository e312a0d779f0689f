//! RFN's settings: names, allowed values, descriptions.

use crate::method::pca::Automatic;
use crate::model::{Condition, Counted, Kind, Setting};
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// Settings of [rectified factor networks](super): `Rfn { n_components: 20, ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rfn {
    /// Number of units.
    pub n_components: usize,
    /// Algorithm of the E-step.
    pub e_step: EStep,
    /// Normalisation of the units.
    pub normalize: Normalize,
    /// Learning rate: fraction of the full update.
    pub learning_rate: LearningRate,
    /// Maximum number of iterations.
    pub max_iter: u64,
    /// Convergence tolerance.
    pub tol: Option<f64>,
    /// Initial loadings.
    pub init: Init,
    /// Number of starts, of which the best is kept.
    pub n_init: u64,
    /// Offset that is subtracted from the columns.
    pub center: Center,
    /// Lower bound on the noise variance.
    pub psi_min: f64,
    /// Unit of `psi_min` and of the start.
    pub psi_min_unit: PsiMinUnit,
    /// Form of the noise covariance.
    pub noise: NoiseForm,
    /// Direction of the M-step.
    pub m_step: MStep,
    /// Prior mean of every unit.
    pub prior_mean: f64,
    /// Prior variance of every unit.
    pub prior_cov: f64,
    /// Soft threshold of loadings.
    pub l1: f64,
    /// Weight decay of loadings.
    pub l2: f64,
    /// Upper bound on absolute loadings.
    pub w_max: Option<f64>,
    /// Dropout rate of codes.
    pub dropout: f64,
    /// Order of dropout and normalisation.
    pub dropout_place: DropoutPlace,
    /// Amount of input noise.
    pub input_noise: f64,
    /// Kind of input noise.
    pub input_noise_kind: InputNoiseKind,
    /// Acceptance criterion of a cascade.
    pub accept: Accept,
    /// Treatment of units that are 0 in every row.
    pub dead_unit: DeadUnit,
    /// Mini-batch size.
    pub batch_size: Option<usize>,
}

impl Default for Rfn {
    fn default() -> Self {
        Self {
            n_components: 50,
            e_step: EStep::Plain,
            normalize: Normalize::Rms,
            learning_rate: LearningRate::default(),
            max_iter: 1000,
            tol: None,
            init: Init::Random,
            n_init: 1,
            center: Center::default(),
            psi_min: 0.01,
            psi_min_unit: PsiMinUnit::Variance,
            noise: NoiseForm::Diagonal,
            m_step: MStep::Newton,
            prior_mean: 0.0,
            prior_cov: 1.0,
            l1: 0.0,
            l2: 0.0,
            w_max: None,
            dropout: 0.0,
            dropout_place: DropoutPlace::After,
            input_noise: 0.0,
            input_noise_kind: InputNoiseKind::Mask,
            accept: Accept::Mean,
            dead_unit: DeadUnit::Auto,
            batch_size: None,
        }
    }
}

/// An enumeration whose values are strings.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $value:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum $name { $($(#[$of])* $value,)* }
    };
}

words! {
    /// Algorithm of the E-step.
    EStep {
        /// Posterior means, rectified and scaled.
        Plain,
        /// A sequence of candidates, of which the first that decreases the objective is accepted.
        Cascade,
        /// Exact minimisation, one unit after the other.
        Coordinate,
    }
}

words! {
    /// Normalisation of the units.
    Normalize {
        /// The root mean square.
        Rms,
        /// The standard deviation.
        Std,
        /// None.
        None,
    }
}

words! {
    /// Initial loadings.
    Init {
        /// Small random numbers.
        Random,
        /// Columns of the mixing matrix of independent components.
        Ica,
    }
}

words! {
    /// Unit of the lower bound on the noise variance, and of the start.
    PsiMinUnit {
        /// Each column's variance.
        Variance,
        /// The mean variance of the columns.
        Mean,
        /// The units of the data.
        Absolute,
    }
}

words! {
    /// Form of the noise covariance.
    NoiseForm {
        /// A variance for each column.
        Diagonal,
        /// A full matrix.
        Full,
    }
}

words! {
    /// Direction of the M-step.
    MStep {
        /// Newton's direction.
        Newton,
        /// The same, with the inverse noise covariance.
        InversePsi,
        /// The gradient.
        Gradient,
    }
}

words! {
    /// Order of dropout and normalisation.
    DropoutPlace {
        /// After normalisation.
        After,
        /// Before normalisation.
        Before,
    }
}

words! {
    /// Kind of input noise.
    InputNoiseKind {
        /// Entries are set to 0.
        Mask,
        /// Entries are set to 0 or 1.
        SaltPepper,
        /// Gaussian noise is added.
        Gaussian,
    }
}

words! {
    /// Acceptance criterion of a cascade.
    Accept {
        /// The divergence of the means of the codes.
        Mean,
        /// The divergence including the covariance of the previous posterior.
        Kl,
    }
}

words! {
    /// Treatment of units that are 0 in every row.
    DeadUnit {
        /// Depending on the algorithm of the E-step.
        Auto,
        /// They are kept.
        Zero,
        /// Each is activated at one row.
        Onehot,
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

words! {
    /// The string "median".
    Median {
        /// The string "median".
        Median,
    }
}

/// Conditions for settings of `e_step='plain'`: the other modes use the codes of all rows, and random codes would make their objective fall.
const PLAIN: &[&[Condition]] = &[&[("e_step", &["\"plain\""])]];
/// The interval from 0 to 0.99.
const RATE: Kind = Kind::Number { from: Bound::Included(0.0), to: Bound::Included(0.99) };

pub(crate) const SETTINGS: &[Setting] = &[
    Setting::new("n_components", Kind::at_least(1), "50", "Number of units, which may exceed the number of columns.").by_rows(),
    Setting::new(
        "e_step",
        Kind::Words(&["plain", "cascade", "coordinate"]),
        "\"plain\"",
        "Algorithm of the E-step: 'plain' rectifies posterior means at 0 and normalises them, as in the published tables, and the \
         objective can decrease; 'coordinate' is exact for each unit, and 'cascade' tries steps until one decreases the divergence, so \
         that the objective is monotone; both keep the codes of all rows in memory.",
    ),
    Setting::new(
        "normalize",
        Kind::Words(&["rms", "std", "none"]),
        "\"rms\"",
        "Normalisation of the codes of each unit: 'rms' to second moment 1, 'std' to standard deviation 1, or 'none'.",
    ),
    Setting::new(
        "learning_rate",
        Kind::AnyOf(&[Kind::Number { from: Bound::Excluded(0.0), to: Bound::Included(1.0) }, Kind::Words(&["auto"])]),
        "\"auto\"",
        "Learning rate: parameters move by this fraction of the full update in an iteration; 'auto' is 0.1 with `e_step='plain'`, else \
         1.",
    )
    .such_as("0.1"),
    Setting::new("max_iter", Kind::at_least(1), "1000", "Maximum number of iterations; with `batch_size`, of epochs."),
    Setting::new(
        "tol",
        Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]),
        "null",
        "Convergence tolerance: the larger of the relative changes of loadings and noise in an iteration, divided by the learning rate, must be \
         below it in five successive iterations; null for exactly `max_iter` iterations.",
    )
    .such_as("1e-4"),
    Setting::new(
        "init",
        Kind::Words(&["random", "ica"]),
        "\"random\"",
        "Initial loadings: 'random' for normal numbers with 0.01 times the standard deviation of each column, 'ica' for the columns \
         of the mixing matrix of independent components, each with the sign for which its source has positive skewness.",
    ),
    Setting::new("n_init", Kind::at_least(1), "1", "Number of starts, of which the one with the largest objective is kept."),
    Setting::new(
        "center",
        Kind::AnyOf(&[Kind::Bool, Kind::Words(&["median"])]),
        "true",
        "Subtract the mean of every column; 'median' for the median, which needs access to rows by column.",
    ),
    Setting::new(
        "psi_min",
        Kind::POSITIVE,
        "0.01",
        "Lower bound on the noise variance of a column, in units of `psi_min_unit`.",
    )
    .such_as("0.01"),
    Setting::new(
        "psi_min_unit",
        Kind::Words(&["variance", "mean", "absolute"]),
        "\"variance\"",
        "Unit of `psi_min` and of the random start: 'variance' is the variance of the column, so that the units of columns do not \
         matter; 'mean' the mean variance of the columns, for pictures; 'absolute' the unit of the data.",
    ),
    Setting::new(
        "noise",
        Kind::Words(&["diagonal", "full"]),
        "\"diagonal\"",
        "Covariance of the noise: a variance for each column, or a full matrix, which absorbs covariance that units would explain.",
    ),
    Setting::new(
        "m_step",
        Kind::Words(&["newton", "inverse-psi", "gradient"]),
        "\"newton\"",
        "Direction of the M-step: Newton's; the same with the inverse of the noise covariance if that is stable; or the gradient, \
         in units of its largest stable step.",
    ),
    Setting::new(
        "prior_mean",
        Kind::Number { from: Bound::Unbounded, to: Bound::Unbounded },
        "0.0",
        "Prior mean of every unit; a negative one makes codes sparser.",
    ),
    Setting::new("prior_cov", Kind::POSITIVE, "1.0", "Prior variance of every unit.").such_as("1.0"),
    Setting::new(
        "l1",
        Kind::NON_NEGATIVE,
        "0.0",
        "Soft threshold of loadings after each iteration, in standard deviations of the column.",
    ),
    Setting::new(
        "l2",
        Kind::Number { from: Bound::Included(0.0), to: Bound::Included(1.0) },
        "0.0",
        "Weight decay: the fraction by which loadings shrink after each iteration.",
    ),
    Setting::new(
        "w_max",
        Kind::AnyOf(&[Kind::POSITIVE, Kind::Null]),
        "null",
        "Largest absolute loading, in standard deviations of the column; null for no bound.",
    )
    .such_as("10.0"),
    Setting::new("dropout", RATE, "0.0", "Dropout rate: the probability that a code is set to 0 in an iteration; `e_step='plain'` only.")
        .only(PLAIN),
    Setting::new(
        "dropout_place",
        Kind::Words(&["after", "before"]),
        "\"after\"",
        "Apply dropout after or before the normalisation of codes.",
    )
    .only(&[&[("dropout", &["!0.0"]), ("e_step", &["\"plain\""])]]),
    Setting::new(
        "input_noise",
        RATE,
        "0.0",
        "Amount of corruption of rows before they are encoded during the fit: probability for 'mask' and 'salt-pepper', standard \
         deviation for 'gaussian', relative to that of the column; `e_step='plain'` only.",
    )
    .only(PLAIN),
    Setting::new(
        "input_noise_kind",
        Kind::Words(&["mask", "salt-pepper", "gaussian"]),
        "\"mask\"",
        "Corruption of rows: 'mask' sets entries to 0, 'salt-pepper' to 0 or 1, 'gaussian' adds normal numbers.",
    )
    .only(&[&[("input_noise", &["!0.0"]), ("e_step", &["\"plain\""])]]),
    Setting::new(
        "accept",
        Kind::Words(&["mean", "kl"]),
        "\"mean\"",
        "Criterion that a step of `e_step='cascade'` must decrease: 'mean' for the divergence of the codes, 'kl' for that with the \
         covariance of the previous iteration for the old codes.",
    )
    .only(&[&[("e_step", &["\"cascade\""])]]),
    Setting::new(
        "dead_unit",
        Kind::Words(&["auto", "zero", "onehot"]),
        "\"auto\"",
        "Treatment of units that are 0 in every row: 'zero' keeps them, 'onehot' activates each at the row where it is closest to \
         positive; 'auto' is 'onehot' if the objective is monotone and codes are normalised, else 'zero'.",
    ),
    Setting::new(
        "batch_size",
        Kind::AnyOf(&[Kind::at_least(1), Kind::Null]),
        "null",
        "Mini-batch size, at least twice `n_components`: parameters are updated after each batch, from running averages of the sums; null for all \
         rows at once. `e_step='plain'` only.",
    )
    .counting(Counted::Epochs)
    .only(PLAIN),
];
