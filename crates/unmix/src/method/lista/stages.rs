//! The stages of the training: each new layer alone, then all layers so far, and all layers at the end.

use super::net::Problem;
use crate::num::Real;

/// Layers that a stage trains, and the number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stage {
    /// The first layer whose parameters are trained.
    pub(super) from: usize,
    /// Number of layers after which the loss is computed.
    pub(super) depth: usize,
    /// Whether the last of these layers is new.
    pub(super) new: bool,
    /// Number of steps.
    pub(super) len: u64,
}

impl Stage {
    /// Whether several layers are trained together.
    fn joint(self) -> bool {
        !self.new
    }

    /// Factor of the learning rate at step `step`: a cosine from 1 to 0.02, multiplied by 0.3 if several layers are trained.
    pub(super) fn share(self, step: u64) -> f64 {
        let at = (step + 1) as f64 / self.len.max(1) as f64;
        let cosine = 0.5 * (1.0 + (std::f64::consts::PI * at.min(1.0)).cos()) + 0.02;
        if self.joint() { 0.3 * cosine } else { cosine }
    }
}

/// Relative numbers of steps for a layer alone, for all layers so far, and for all layers at the end.
const STEPS_ALONE: u64 = 120;
const STEPS_SO_FAR: u64 = 120;
const STEPS_AT_THE_END: u64 = 1500;

/// The stages of `total` steps. Layers that share a matrix, and networks that were trained before, are trained jointly from the beginning.
pub(super) fn stages<T: Real>(problem: &Problem<T>, together: bool, total: u64) -> Vec<Stage> {
    let layers = problem.n_layers as u64;
    if together {
        return vec![Stage { from: 0, depth: problem.n_layers, new: false, len: total }];
    }
    let parts = (0..layers).flat_map(|l| [(l, l, STEPS_ALONE), (0, l, if l > 0 { STEPS_SO_FAR } else { 0 })]);
    let parts: Vec<(u64, u64, u64)> = parts.chain([(0, layers - 1, STEPS_AT_THE_END)]).collect();
    let whole: u64 = parts.iter().map(|part| part.2).sum();
    let mut at = 0;
    let border = |at: u64| (u128::from(total) * u128::from(at) / u128::from(whole)) as u64;
    let mut out = Vec::with_capacity(parts.len());
    for (i, (from, last, part)) in parts.into_iter().enumerate() {
        let (begin, end) = (border(at), border(at + part));
        at += part;
        let new = i % 2 == 0 && i < 2 * problem.n_layers;
        out.push(Stage { from: from as usize, depth: last as usize + 1, new, len: end - begin });
    }
    // New layers are initialised even if there is no time to train them alone.
    out.retain(|stage| stage.len > 0 || stage.new);
    out
}
