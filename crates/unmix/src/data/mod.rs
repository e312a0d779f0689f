//! Sources of rows, and the one loop over them.
//!
//! A [`Source`] yields consecutive rows from its start, repeatedly, and may offer random access. [`Rows`] owns one and cuts it into
//! shards whose length depends on the data, never on the machine; [`Rows::sweep`] sums each shard separately and merges the results
//! in a fixed tree, [`Rows::map`] transforms rows into other rows, in order.

mod any_rows;
mod batches;
mod bytes;
mod checks;
mod in_order;
mod job;
mod listed;
mod merge_stack;
mod npy;
mod owned_rows;
mod projected;
mod raw;
mod remote;
mod rows;
mod sink;
mod source;
mod sparse;
pub(crate) mod splits;
mod spool;
mod standardized;
mod subset;
mod sweep;
mod triplets;

#[doc(inline)]
pub use crate::num::{Block, Lines, Plan, Stored, Workspace};
pub use crate::run::NewFile;
pub use any_rows::AnyRows;
pub use batches::{Batch, Batches, Position};
pub use bytes::Bytes;
pub(crate) use checks::{check_n_rows, check_total_weight};
pub(crate) use job::{Job, UnpackGather};
pub use listed::listed;
pub(crate) use merge_stack::MergeStack;
pub use npy::{NpyHeader, NpyWriter, npy_header, npy_preamble, open_npy, write_npy};
pub use owned_rows::OwnedRows;
pub(crate) use projected::{MOST_BYTES_KEPT, Map, Projected};
pub use raw::{Axes, NumberType, RawArray};
pub use remote::Workers;
// Values that are given for rows, for the readers, the program and the Python package, which take them from files and arrays.
#[doc(hidden)]
pub use rows::values::{RowValues, UsedRows};
pub use rows::{Features, Rows, SelectedRows};
pub use sink::{EntrySink, RowEntries, Sink, VecSink};
pub use source::{Forward, PutRows, RandomAccess, Source, Stream};
pub use sparse::{Index, Sparse};
pub(crate) use spool::Scattered;
pub use spool::Spool;
pub(crate) use standardized::Standardized;
pub(crate) use subset::Subset;
pub(crate) use sweep::no_columns;
pub use triplets::Triplets;
