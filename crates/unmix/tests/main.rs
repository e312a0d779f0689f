//! The tests of the library, in one program so that it is linked once: `cargo test -p unmix laws::` runs one file of them.
//!
//! Data come from `unmix`'s own counter-based generator, so every run sees the same numbers.

mod clusters;
mod complete_dictionary;
mod completion;
mod encoders;
mod factor;
mod golden;
mod held_out;
mod ica;
mod laws;
mod made;
mod model_file;
mod modules;
mod naive;
mod neural;
mod partials;
mod ppca;
mod property;
mod quality;
mod rica;
mod robust_pca;
mod same_bits;
mod seen;
mod select;
mod shards;
mod sigma_pca;
mod sizes;
mod skipped;
mod solvers;
mod sparse;
mod stability;
mod stability_intervals;
mod subspace_clustering;
mod sums;
mod theory;
