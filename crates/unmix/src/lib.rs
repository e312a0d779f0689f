//! Decompositions of data into components: PCA, ICA, factor analysis, sparse coding, matrix completion and related methods.
//!
//! Every linear model here is a special case of one equation (rows are samples):
//!
//! ```text
//! y = (x - mean) B,      B = diag(1/noise) W diag(1/scale) V
//! ```
//!
//! PCA finds `W` by variance, sigma-PCA by variance and independence, ICA also finds `V`. A method is a plain
//! struct with public fields and a `fit`, which returns a [`Model`] with `encode` and `decode`. All models
//! have the same file format.
//!
//! ```
//! use unmix::{Pca, Rows, Run};
//!
//! // Five samples of three features: the second is twice the first, the third is constant.
//! let x = [1.0, 2.0, 5.0, 2.0, 4.0, 5.0, 3.0, 6.0, 5.0, 4.0, 8.0, 5.0, 5.0, 10.0, 5.0];
//! let mut rows = Rows::from_slice(&x, 3)?;
//! let model = Pca { n_components: 1.into(), ..Default::default() }.fit(&mut rows, &Run::default())?;
//! let axis = model.tensor("components").unwrap().f64s();
//! assert!((axis[1] / axis[0] - 2.0).abs() < 1e-12 && axis[2] == 0.0);
//! # Ok::<(), unmix::Error>(())
//! ```
//!
//! The example of the README: from rows in memory to a model file, which the program and Python read, too:
//!
//! ```
//! # let numbers: Vec<f64> = (0..800).map(|i| f64::from(i * i % 101)).collect();
//! # let folder = tempfile::tempdir().unwrap();
//! # std::env::set_current_dir(folder.path()).unwrap();
//! use unmix::{Pca, Rows, Run};
//!
//! let mut rows = Rows::from_slice(&numbers, 8)?;                       // 8 columns, row-major, f32 or f64
//! let model = Pca { n_components: 3.into(), ..Default::default() }.fit(&mut rows, &Run::default())?;
//! let codes = model.encode_to_vec(&rows, &Run::default())?;
//! model.save("numbers.pca.safetensors".as_ref())?;                     // the program and Python read the same file
//! # assert_eq!(codes.len(), 300);
//! # Ok::<(), unmix::Error>(())
//! ```
//!
//! **Compatibility.** Settings and options are structs with public fields: build them with
//! `..Default::default()`, so that new fields do not break your code. Returned structs, and enums that may
//! get more variants, are `#[non_exhaustive]`: a `match` needs `_`. Not so [`Method`], which is written as a literal, and enums that are
//! complete, such as [`AnyRows`] and [`Dtype`]. [`Error`] holds details in fields.
//!
//! Rows come from a [`data::Source`]: a slice, a `.npy` file of any size, or a reader of the `unmix-io` crate. The same
//! rows, settings and seed give the same bits in every number, for any number of threads, from memory and from disk.

mod autoencoder;
pub mod biclusters;
mod choices;
pub mod data;
pub mod datasets;
mod elementwise;
mod error;
mod ica;
pub mod impute;
// For the other crates of this workspace and for tests: its documentation states its contents and the reason.
#[doc(hidden)]
pub mod internal;
mod learn;
mod machine;
pub mod method;
pub mod metrics;
pub mod model;
mod neural;
mod num;
pub mod power;
mod rectified;
mod run;
pub mod select;
pub mod shallow;
pub mod shards;
mod solve;
mod sparse;
mod spectrum;
pub mod stability;
pub mod stats;

pub use data::{AnyRows, Features, Rows};
pub use error::{Caller, Error, ErrorDetails, Result};
// Memory of the machine, and arrays in huge pages, for the readers and the Python package.
#[doc(hidden)]
pub use machine::{available_memory, zeros};
pub use method::{
    CompleteDictionary, DenoisingAutoencoder, DictionaryLearning, FactorAnalysis, FastIca, GaussianRbm, Ica,
    LinearEigenGan, Lista, METHODS, MatrixCompletion, Method, NeuralPca, Pca, Ppca, Rfn, Rica, RobustPca,
    SigmaPca, SparseAutoencoder, SparseCoder, StackedRfn, SubspaceClustering, fit, fit_given, partial_fit,
    partial_fit_given,
};
pub use model::{Model, Outcome, Report};
#[doc(inline)]
pub use num::threads::{num_threads, set_num_threads};
#[doc(inline)]
pub use num::{Dtype, Matrix, Real};
pub use run::{Checkpoint, Event, Observer, Run, Silent, Start};
