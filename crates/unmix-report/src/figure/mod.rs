//! The figures of a page, each with a text alternative.

mod arrows;
mod labels;
mod layers;
mod names;
mod scatter;
mod source;
mod spectrum;
mod vector;

pub(crate) use arrows::Arrow;
pub(crate) use labels::Colouring;
pub(crate) use layers::{Series, by_layer};
pub(crate) use names::{Area, GAP, Label, Position, Room, around, short};
pub(crate) use scatter::{legend, scatter};
pub(crate) use source::{TimeCourse, course, power, small_bars, topography};
pub(crate) use spectrum::{
    alpha_curve, certificates, cumulative, densities, held_out_curve, histogram, objective, over_epochs,
    scree, use_of_components,
};
pub(crate) use vector::{bars, curve, overlay, standardised, terms};

/// Width of a drawing in its own units; a page shows two beside each other, a phone one.
pub(crate) const WIDTH: f64 = 440.0;
