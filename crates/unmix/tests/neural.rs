//! Learning rules of a single layer: every entry of the tables against its documented properties.

mod bad;
mod decoder;
mod gradient;
mod linear;
mod naive;
mod order;
mod published;
mod recover;
mod storage;
mod weights;
