//! The tests of the library in one binary, so that they are linked once: `cargo test -p unmix laws::` runs one module of them.
//!
//! Data come from `unmix`'s own counter-based random number generator, so they are the same in every run.

mod biclusters;
mod clusters;
mod complete_dictionary;
mod completion;
mod dae;
mod dictionary;
mod encoders;
mod factor;
mod golden;
mod held_out;
mod ica;
mod laws;
mod lista;
mod made;
mod model_file;
mod modules;
mod naive;
mod neural;
mod partials;
mod power;
mod ppca;
mod property;
mod quality;
mod rbm;
mod rfn;
mod rica;
mod robust_pca;
mod sae;
mod same_bits;
mod select;
mod shards;
mod sigma_pca;
mod sizes;
mod skipped;
mod solvers;
mod sparse;
mod stability;
mod stability_intervals;
mod stacked;
mod subspace_clustering;
mod sums;
mod theory;
mod weighted;
mod wording;
