//! Independent component analysis: that sources come out as theory says, and what happens where there are none.

mod adaptive;
mod bad;
mod equal;
mod exact;
mod found;
mod landscape;
mod made;
mod stream;
mod theory;
mod told;
