//! Tests of the public interface of the readers, on files on the disk.

mod archives;
mod arrays;
mod contents;
mod corrupt;
mod data_sets;
mod files;
mod formats;
mod images;
mod index;
mod many;
mod pages;
mod python;
mod quotations;
#[path = "../../../unmix/tests/skipped.rs"]
mod skipped;
mod sparse;
mod tables;
mod which;
mod wording;
