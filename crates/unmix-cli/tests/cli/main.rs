//! Command-line tests: the program runs as a process in a temporary folder.

mod bad_input;
mod biclusters;
mod commands;
mod dictionary;
mod encoders;
mod folder;
mod impute;
#[cfg(unix)]
mod invocation;
mod lista;
mod loadings;
mod memory;
mod merge;
mod pictures;
#[cfg(unix)]
mod pipes;
mod reading;
mod reproduce;
mod resume;
mod rules;
mod sae;
#[path = "../../../unmix/tests/scope.rs"]
mod scope;
mod select;
#[path = "../../../unmix/tests/skipped.rs"]
mod skipped;
mod sources;
mod stability;
mod stacked;
mod tables;
mod triplets;
mod writing;
