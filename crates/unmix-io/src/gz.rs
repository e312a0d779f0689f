//! Files compressed by gzip.

use crate::stored::{FromStart, copy};
use flate2::bufread::GzDecoder;
use std::io::{BufRead, BufReader, Read, Result as IoResult};
use std::path::Path;
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
) -> Result<Members<'a, BufReader<FromStart<&'a Bytes<'static>>>>> {
    let mut magic = [0; 2];
    if bytes.len() >= 2 {
        bytes.read_at(0, &mut magic)?;
    }
    if magic != MAGIC {
        return Err(Error::format(
            bytes.path(),
            "it does not start with the signature of a gzip file",
            "if it is already decompressed, remove .gz from its name",
        ));
    }
    let from = BufReader::with_capacity(1 << 16, FromStart::new(bytes));
    Ok(Members { current: Some(GzDecoder::new(from)), path: bytes.path() })
}

/// The compressed streams of a file, one after the other. Zeros after the last are padding, as in gzip itself; anything else
/// there is a separate error, because the file was not truncated.
pub(crate) struct Members<'a, R> {
    current: Option<GzDecoder<R>>,
    path: &'a Path,
}

impl<R: BufRead> Read for Members<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> IoResult<usize> {
        while let Some(decoder) = &mut self.current {
            let n = decoder.read(out)?;
            if n > 0 || out.is_empty() {
                return Ok(n);
            }
            let Some(mut from) = self.current.take().map(GzDecoder::into_inner) else { break };
            match after_padding(&mut from)? {
                None => {}
                Some(first) if first == MAGIC[0] => self.current = Some(GzDecoder::new(from)),
                Some(_) => {
                    return Err(std::io::Error::other(Error::format(
                        self.path,
                        "after the end of the gzip stream there are other bytes",
                        "remove them, or write the file again",
                    )));
                }
            }
        }
        Ok(0)
    }
}

/// The next byte that is not zero, which stays where it is.
fn after_padding(from: &mut impl BufRead) -> IoResult<Option<u8>> {
    loop {
        let buffer = from.fill_buf()?;
        if buffer.is_empty() {
            return Ok(None);
        }
        let zeros = buffer.iter().take_while(|b| **b == 0).count();
        let first = buffer.get(zeros).copied();
        from.consume(zeros);
        if first.is_some() {
            return Ok(first);
        }
    }
}

/// Decompresses everything, into memory or a temporary file.
pub(crate) fn unpack(bytes: &Bytes<'static>, run: &Run<'_>) -> Result<Bytes<'static>> {
    run.observer.event(unmix::Event::Stage("decompressing"));
    let unpacked = copy(decoder(bytes)?, bytes.path(), run)?;
    if unpacked.is_empty() {
        return Err(Error::format(
            bytes.path(),
            "it is empty once decompressed",
            "check the program that wrote it",
        ));
    }
    Ok(unpacked)
}
