//! Independent component analysis: accuracy of the sources as theory predicts it, and warnings where there are none.

mod adaptive;
mod bad;
mod equal;
mod exact;
mod found;
mod landscape;
mod made;
mod stream;
mod theory;
mod warnings;
