//! Rules that a single layer learns by: every row of the tables, against what it claims.

mod bad;
mod decoder;
mod gradient;
mod linear;
mod order;
mod published;
mod recover;
mod storage;
mod twin;
mod weights;
