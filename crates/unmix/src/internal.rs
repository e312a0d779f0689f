//! Items of the numerical modules that other crates of this workspace use: the published experiments, the readers, the program and the Python
//! package build on them, and tests compare them with naive implementations. They are not part of the library's interface and may change in any
//! version; items that are not listed here are private.

/// Autoencoders.
pub mod autoencoder {
    pub use crate::autoencoder::{Evaluation, Gating, SparseGate, random_atoms};
}

/// Words of messages.
pub mod error {
    pub use crate::error::counted;
}

/// Element-wise functions.
pub mod elementwise {
    pub use crate::elementwise::Penalty;
}

/// Mergeable statistics of rows with missing cells.
pub mod gaps {
    pub use crate::stats::gaps::{
        CellLists, Conditional, ExpectedMoments, FactorSums, GatherCells, GatherFactors, GatherMoments,
        GatherObserved, LinearGaussian, ObservedCells,
    };
}

/// Training on mini-batches.
pub mod learn {
    pub use crate::learn::Optimiser;
}

/// Learning rules of a single layer.
pub mod neural {
    pub use crate::neural::{
        ActivationFunction, Anchor, Constraint, DecoderScale, Field, LINEAR, LINEAR_MORE, Lambda, Mean, Mix,
        NONLINEAR, NONLINEAR_MORE, Order, Orthogonality, Sigma, Slope, Space, Spec, State, TableEntry,
        Trained, Training, TrainingStart, flow, native, train,
    };
    /// Sampling errors.
    pub mod evidence {
        pub use crate::neural::evidence::SamplingError;
    }
    /// The deterministic solver.
    pub mod gpm {
        pub use crate::neural::gpm::{FixedPoint, GpmOptions};
    }
    /// Nonlinearities with their moments.
    pub mod nonlinearity {
        pub use crate::neural::nonlinearity::{ActivationFunction, Nonlinearity};
    }
    /// Which pairs of components a nonlinearity separates.
    pub mod pairs {
        pub use crate::neural::pairs::{Unresolved, VerdictInput, in_words, separation, verdicts};
    }
    /// The objective of separation.
    pub mod separation {
        pub use crate::neural::separation::{Pass, PassSums, Separation};
    }
    /// Principal directions as a start.
    pub mod start {
        pub use crate::neural::start::{Principal, PrincipalOptions};
    }
}

/// Linear algebra and random numbers.
pub mod num {
    pub use crate::num::{Block, Matrix, factor, pseudo_inverse, random};
    /// The number of threads.
    pub mod threads {
        pub use crate::num::threads::check_variable;
    }
}

/// Rectified factor networks.
pub mod rectified {
    pub use crate::rectified::{
        CodeSums, Corruption, GatherCodes, GatherCubes, GatherStoredCodes, MStep, Noise, Normalisation,
        Parameters, Posterior, Prior, Statistics, Step, StoredCodes,
    };
    /// Codes by a cascade of sets.
    pub mod cascade {
        pub use crate::rectified::cascade::{Candidate, CandidateSearch, project};
    }
    /// Corruption of rows.
    pub mod corruption {
        pub use crate::rectified::corruption::{Dropout, DropoutPlace};
    }
    /// Third moments of rows.
    pub mod cubes {
        pub use crate::rectified::cubes::Cubes;
    }
    /// Statistics of a pass.
    pub mod statistics {
        pub use crate::rectified::statistics::{Expected, Moments};
    }
}

/// The table of the options of a fit, with which tests compare those of the program and of the Python package.
pub mod run {
    pub use crate::run::{RUN_OPTIONS, RunOption};
}

/// Sparse codes of rows.
pub mod sparse {
    pub use crate::sparse::{
        Atoms, Checked, Lasso, Measure, Proximal, StoppingRule, Work, lasso_gap, measure,
    };
}

/// Variances and principal directions of rows.
pub mod spectrum {
    pub use crate::spectrum::{Decomposition, Request, Solver, auto_solver, decompose};
}
