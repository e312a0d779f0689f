//! Initial values of a layer from a fitted model.

use super::model::named;
use crate::run::Start;

/// A layer of a fitted stack, or another model as the start of the lowest layer.
pub(super) struct LayerStart<'a> {
    start: &'a dyn Start,
    layer: Option<usize>,
}

impl<'a> LayerStart<'a> {
    /// The start of layer `i`: layer `i` of a stack if it exists; for any other model, its components for the lowest layer.
    pub(super) fn of(init: &'a dyn Start, i: usize) -> Option<Self> {
        let layer_of = |i: usize| init.parameter(&named(i, "components")).map(|_| i);
        match layer_of(0) {
            None => (i == 0).then_some(Self { start: init, layer: None }),
            Some(_) => layer_of(i).map(|i| Self { start: init, layer: Some(i) }),
        }
    }
}

impl Start for LayerStart<'_> {
    fn method(&self) -> &str {
        self.start.method()
    }

    fn parameter(&self, name: &str) -> Option<(Vec<usize>, Vec<f64>)> {
        match self.layer {
            Some(i) => self.start.parameter(&named(i, name)),
            None => self.start.parameter(name),
        }
    }

    fn checksum(&self) -> u32 {
        self.start.checksum()
    }
}
