//! PCA's settings: what they are called, what they may be, what they mean.

use crate::model::{Kind, Setting};
use crate::spectrum::{Components, Solver};
use serde::{Deserialize, Serialize};

/// Settings of [PCA](super): `Pca { n_components: 10.into(), ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pca {
    /// How many components to keep.
    pub n_components: Components,
    /// Scale codes to unit variance.
    pub whiten: Whiten,
    /// How the spectrum is found.
    pub svd_solver: Solver,
    /// Variation about the mean; `false`: about 0.
    pub center: bool,
    /// Divide every column by its standard deviation first.
    pub standardize: bool,
    /// The largest residual `||C v - variance v||` that iterative solvers accept, as a share of the first variance; 0 for
    /// rounding level.
    pub tol: f64,
    /// Rounds of `randomized`; the most that `power` and `deflation` take for a component.
    pub iterated_power: Rounds,
    /// Directions that `randomized` and `power` carry beside those asked for.
    pub n_oversamples: usize,
}

impl Default for Pca {
    fn default() -> Self {
        Self {
            n_components: Components::All,
            whiten: Whiten::default(),
            svd_solver: Solver::Auto,
            center: true,
            standardize: false,
            tol: 0.0,
            iterated_power: Rounds::default(),
            n_oversamples: 10,
        }
    }
}

/// Whether codes are scaled to unit variance, and how they then lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Whiten {
    /// Divided by the standard deviation along each component, or not.
    Scaled(bool),
    /// And turned back towards the columns: a number for each column, as near to the (scaled) column as white numbers can be.
    Turned(Zca),
}

/// The word `"zca"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Zca {
    /// Zero-phase component analysis (Bell & Sejnowski 1997).
    Zca,
}

impl Default for Whiten {
    fn default() -> Self {
        Whiten::Scaled(false)
    }
}

impl From<bool> for Whiten {
    fn from(scaled: bool) -> Self {
        Whiten::Scaled(scaled)
    }
}

/// How many rounds an iteration takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Rounds {
    /// That many.
    Count(u64),
    /// `"auto"`: for `randomized` 7 where fewer than a tenth of the components are asked for, else 4; for `power` and
    /// `deflation` 1000 at most.
    Auto(Automatic),
}

/// The word `"auto"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Automatic {
    /// The word `"auto"`.
    Auto,
}

impl Default for Rounds {
    fn default() -> Self {
        Rounds::Auto(Automatic::Auto)
    }
}

impl Rounds {
    pub(super) fn rounds(&self) -> Option<u64> {
        match self {
            Rounds::Count(n) => Some(*n),
            Rounds::Auto(_) => None,
        }
    }
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        name: "n_components",
        kind: Kind::Components,
        choices: &["mle", "bic", "parallel", "gavish-donoho", "cv"],
        default: "null",
        doc: "How many components to keep: a number, a share of the variance between 0 and 1 (the fewest components that \
              explain more), null for all, or a rule that finds it: 'mle' (Minka's, for no fewer rows than columns), 'bic', \
              'gavish-donoho' (best for denoising), 'parallel' and 'cv' (these two hold the rows in memory).",
        python_only: false,
        only: &[],
    },
    Setting {
        name: "whiten",
        kind: Kind::BoolOrChoice,
        choices: &["zca"],
        default: "false",
        doc: "Divide codes by the standard deviation along each component; 'zca' then turns them back towards the columns: \
              one number for each column.",
        python_only: false,
        only: &[],
    },
    Setting {
        name: "svd_solver",
        kind: Kind::Choice,
        choices: &["auto", "full", "covariance_eigh", "arpack", "randomized", "krylov", "power", "deflation"],
        default: "\"auto\"",
        doc: "How the spectrum is found: 'full' by singular values (small ones accurate), 'covariance_eigh' by a scatter \
              matrix (fast), 'auto' by the shape of the data, one of these two ('krylov' for a few components of large \
              sparse rows). For the first components of very many columns: 'krylov' (or 'arpack') to rounding level, \
              'randomized' approximately, 'power' and 'deflation' as textbooks have it.",
        python_only: false,
        only: &[],
    },
    Setting {
        name: "center",
        kind: Kind::Bool,
        choices: &[],
        default: "true",
        doc: "Subtract the mean; false for directions of the largest second moment about 0.",
        python_only: false,
        only: &[],
    },
    Setting {
        name: "standardize",
        kind: Kind::Bool,
        choices: &[],
        default: "false",
        doc: "Divide every column by its standard deviation first, so that none counts more for its unit.",
        python_only: false,
        only: &[],
    },
    Setting {
        name: "copy",
        kind: Kind::Bool,
        choices: &[],
        default: "true",
        doc: "Accepted for scikit-learn's sake; the input is never overwritten.",
        python_only: true,
        only: &[],
    },
    Setting {
        name: "tol",
        kind: Kind::Number,
        choices: &[],
        default: "0.0",
        doc: "The largest residual that iterative solvers accept, as a share of the first variance; 0 for rounding level.",
        python_only: false,
        only: &[&[(
            "svd_solver",
            &["\"arpack\"", "\"krylov\"", "\"randomized\"", "\"power\"", "\"deflation\""],
        )]],
    },
    Setting {
        name: "iterated_power",
        kind: Kind::IntegerOrChoice,
        choices: &["auto"],
        default: "\"auto\"",
        doc: "Rounds of 'randomized' (auto: 7 for few components, else 4); the most that 'power' and 'deflation' take for a \
              component (auto: 1000).",
        python_only: false,
        only: &[&[("svd_solver", &["\"randomized\"", "\"power\"", "\"deflation\""])]],
    },
    Setting {
        name: "n_oversamples",
        kind: Kind::Integer,
        choices: &[],
        default: "10",
        doc: "Directions that 'randomized' and 'power' carry beside those asked for.",
        python_only: false,
        only: &[&[("svd_solver", &["\"randomized\"", "\"power\""])]],
    },
    Setting {
        name: "power_iteration_normalizer",
        kind: Kind::Choice,
        choices: &["auto", "QR", "LU", "none"],
        default: "\"auto\"",
        doc: "Accepted for scikit-learn's sake; directions are always kept apart by QR.",
        python_only: true,
        only: &[],
    },
];
