//! The stages of the training: layer after layer alone, all layers so far after each, and all of them at the end.

use super::net::Problem;
use crate::num::Real;

/// Layers that a stage trains, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stage {
    /// The first layer whose parameters are trained.
    pub(super) from: usize,
    /// Layers after which the loss is formed.
    pub(super) depth: usize,
    /// The first of its depth: a new layer.
    pub(super) new: bool,
    /// Steps.
    pub(super) len: u64,
}

impl Stage {
    /// Whether the rate is that of several layers.
    fn joint(self) -> bool {
        !self.new
    }

    /// Share of the learning rate at step `step`: a cosine from 1 to 0.02, and 0.3 of that where several layers are trained.
    pub(super) fn share(self, step: u64) -> f64 {
        let at = (step + 1) as f64 / self.len.max(1) as f64;
        let cosine = 0.5 * (1.0 + (std::f64::consts::PI * at.min(1.0)).cos()) + 0.02;
        if self.joint() { 0.3 * cosine } else { cosine }
    }
}

/// Steps of a layer alone, of all layers so far, and of all layers at the end, as parts of a whole.
const ALONE: u64 = 120;
const SO_FAR: u64 = 120;
const AT_THE_END: u64 = 1500;

/// The stages of `total` steps. Layers that share a matrix, and networks that were trained before, are trained together from the beginning.
pub(super) fn stages<T: Real>(of: &Problem<T>, together: bool, total: u64) -> Vec<Stage> {
    let layers = of.n_layers as u64;
    if together {
        return vec![Stage { from: 0, depth: of.n_layers, new: false, len: total }];
    }
    let parts = (0..layers).flat_map(|l| [(l, l, ALONE), (0, l, if l > 0 { SO_FAR } else { 0 })]);
    let parts: Vec<(u64, u64, u64)> = parts.chain([(0, layers - 1, AT_THE_END)]).collect();
    let whole: u64 = parts.iter().map(|part| part.2).sum();
    let mut at = 0;
    let border = |at: u64| (u128::from(total) * u128::from(at) / u128::from(whole)) as u64;
    let mut out = Vec::with_capacity(parts.len());
    for (i, (from, last, part)) in parts.into_iter().enumerate() {
        let (begin, end) = (border(at), border(at + part));
        at += part;
        let new = i % 2 == 0 && i < 2 * of.n_layers;
        out.push(Stage { from: from as usize, depth: last as usize + 1, new, len: end - begin });
    }
    // New layers begin even where there is no time to train them alone.
    out.retain(|stage| stage.len > 0 || stage.new);
    out
}
