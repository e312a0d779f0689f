//! Files compressed by gzip.

use crate::stored::{FromStart, copy};
use flate2::bufread::MultiGzDecoder;
use std::io::BufReader;
use unmix::data::Bytes;
use unmix::{Error, Result, Run};

/// How every gzip file begins.
pub(crate) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Decompresses from the front.
///
/// # Errors
///
/// The file does not begin as gzip files do.
pub(crate) fn decoder<'a>(
    bytes: &'a Bytes<'static>,
) -> Result<MultiGzDecoder<BufReader<FromStart<&'a Bytes<'static>>>>> {
    let mut magic = [0; 2];
    if bytes.len() >= 2 {
        bytes.read_at(0, &mut magic)?;
    }
    if magic != MAGIC {
        return Err(Error::format(
            bytes.path(),
            "it does not begin as a gzip file does",
            "if it is already decompressed, take .gz off its name",
        ));
    }
    Ok(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, FromStart::new(bytes))))
}

/// Decompresses everything, into memory or a temporary file.
pub(crate) fn unpack(bytes: &Bytes<'static>, run: &Run<'_>) -> Result<Bytes<'static>> {
    run.watch.event(unmix::Event::Stage("decompressing"));
    let unpacked = copy(decoder(bytes)?, bytes.path(), run)?;
    if unpacked.is_empty() {
        return Err(Error::format(
            bytes.path(),
            "it is empty once decompressed",
            "check what was to write it",
        ));
    }
    Ok(unpacked)
}
