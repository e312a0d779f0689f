//! numpy's `.npy` files; the core library reads the header.

use crate::stored::{FromStart, head};
use crate::{Input, Options, array};
use unmix::data::{Bytes, npy_header};
use unmix::{Error, Result};

/// How these files begin.
pub(crate) const SIGNATURE: &[u8] = b"\x93NUMPY";

/// Opens a file.
pub(crate) fn open(bytes: Bytes<'static>, options: &Options) -> Result<Input> {
    let start = head(FromStart::new(&bytes), SIGNATURE.len() as u64, bytes.path())?;
    if start != SIGNATURE {
        let found = "it does not start with the signature of a .npy file";
        return Err(Error::format(bytes.path(), found, options.other_format()));
    }
    open_member(bytes, options)
}

/// Opens an array in an archive, whose format the user cannot name.
pub(crate) fn open_member(bytes: Bytes<'static>, options: &Options) -> Result<Input> {
    let header = npy_header(&bytes)?;
    array::open_stored(bytes, header, options)
}
