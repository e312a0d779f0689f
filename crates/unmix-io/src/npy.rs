//! numpy's `.npy` files; the core library reads the header.

use crate::{Input, Options, array};
use unmix::Result;
use unmix::data::{Bytes, npy_header};

pub(crate) fn open(bytes: Bytes<'static>, options: &Options) -> Result<Input> {
    let header = npy_header(&bytes)?;
    array::open_stored(bytes, header, options)
}
