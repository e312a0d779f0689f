//! Settings of complete dictionary learning: names, allowed values, descriptions.

use crate::choices::{Automatic, choices};
use crate::model::{Kind, settings};
use crate::power::Contrast;
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of [complete dictionary learning](super): `CompleteDictionary { power: 3, ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct CompleteDictionary {
        /// Number of atoms, at most the number of columns and of rows; null for the rank of the rows.
        pub n_components: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(1), Kind::Null]), by_rows(), null_is_all();
        /// 'msp' estimates all atoms at once (matching, stretching and projection), 'deflation' one after another by the same steps, each orthogonal
        /// to the previous ones in whitened coordinates, 'l1' one after another by minimising the sum of absolute codes.
        pub algorithm: Algorithm = "msp", Kind::Words(Algorithm::NAMES);
        /// Power p of the maximised sum of `|code|^p`: 4, or 3, with which errors are about half as large.
        pub power: u64 = 4, Kind::between(3, 4), only(BY_POWER);
        /// Whiten the rows first, so that the atoms may be any linearly independent vectors; false for orthogonal atoms with codes of equal variance.
        pub precondition: bool = true, Kind::BOOL;
        /// After the search, minimise the sum of `log cosh` of the codes by a monotone descent from its result: errors are 2 to 5 times smaller.
        pub polish: bool = true, Kind::BOOL, only(BY_POWER);
        /// Finally minimise the sum of absolute codes of each atom, which recovers atoms up to rounding errors from rows without noise; 'auto' keeps
        /// the result for atoms with codes near 0 in more than `rank + 0.04 n_samples` rows.
        pub refine: Refine = "auto", Kind::AnyOf(&[Kind::BOOL, Kind::AUTO]), only(BY_POWER);
        /// Mini-batch size of the first epoch, for large numbers of rows: at least 20 times the number of atoms; null for all rows in every step.
        pub batch_size: Option<usize> = null,
            Kind::AnyOf(&[Kind::at_least(1), Kind::Null]), such_as("2000"), only(&[&[("algorithm", &["\"msp\""])]]);
        /// Number of random starts, of which the one with the largest objective at its end is kept.
        pub n_init: u64 = 1, Kind::at_least(1), only(BY_POWER);
        /// Subtract the mean of every column.
        pub center: bool = false, Kind::BOOL;
        /// Maximum number of iterations, the polish included; of each atom with 'l1' and 'deflation'.
        pub max_iter: u64 = 300, Kind::at_least(1);
        /// Convergence tolerance on the largest entry of the gradient: for 'msp' and 'deflation' as a fraction of the mean of `|code|^power`, for the
        /// polish of as many atoms as the rank the relative gradient of ICA; for 'l1' on the largest change of an entry of a filter in whitened
        /// coordinates. null for 1e-6 in double precision and 1e-4 in single.
        pub tol: Option<f64> = null, Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]), such_as("1e-8");
    }
    pub(super) const SETTINGS;
}

impl CompleteDictionary {
    /// The function of a code whose mean is maximised.
    pub(super) fn contrast(&self) -> Contrast {
        if self.power == 3 { Contrast::AbsCube } else { Contrast::Cube }
    }
}

choices! {
    /// Algorithm of the search for atoms.
    #[derive(Default)]
    pub enum Algorithm {
        /// All at once: matching, stretching, projection.
        #[default]
        Msp = "msp",
        /// One at a time, by minimising the sum of the absolute values of its codes.
        L1 = "l1",
        /// One at a time by the power of the codes, each orthogonal to those before in the coordinates.
        Deflation = "deflation",
    }
}

/// Whether atoms are refined by minimising the sum of the absolute values of their codes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Refine {
    /// All atoms, or none.
    Always(bool),
    /// `"auto"`: the atoms with many codes near 0 after the refinement.
    Auto(Automatic),
}

impl Default for Refine {
    fn default() -> Self {
        Refine::Auto(Automatic::Auto)
    }
}

/// Condition of the settings of the searches that maximise a power of the codes.
const BY_POWER: &[&[crate::model::Condition]] = &[&[("algorithm", &["\"msp\"", "\"deflation\""])]];
