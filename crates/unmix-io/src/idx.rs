//! idx files, the format of MNIST: two zero bytes, a type, the number of axes, their lengths, then the numbers, big-endian.

use crate::{Input, Options, array};
use unmix::data::{Bytes, NpyHeader, NumberType};
use unmix::{Error, Result};

pub(crate) fn open(bytes: Bytes<'static>, options: &Options) -> Result<Input> {
    let header = header(&bytes, options)?;
    array::open(bytes, header, options)
}

/// Whether a file begins as idx files do.
pub(crate) fn begins(head: &[u8]) -> bool {
    matches!(head, [0, 0, code, axes, ..] if number_type(*code).is_some() && (1..=8).contains(axes))
}

fn number_type(code: u8) -> Option<NumberType> {
    let (kind, size) = match code {
        0x08 => (b'u', 1),
        0x09 => (b'i', 1),
        0x0b => (b'i', 2),
        0x0c => (b'i', 4),
        0x0d => (b'f', 4),
        0x0e => (b'f', 8),
        _ => return None,
    };
    Some(NumberType::new(kind, size, true))
}

fn header(bytes: &Bytes<'_>, options: &Options) -> Result<NpyHeader> {
    let wrong = |found: String, remedy: &str| Error::format(bytes.path(), found, remedy);
    const TRUNCATED: &str = "it is truncated or corrupt; copy or write it again";
    let mut head = [0; 4 + 4 * 255];
    let have = bytes.len().min(head.len() as u64) as usize;
    bytes.read_at(0, &mut head[..have])?;
    if have < 4 {
        let found = format!("it has {have} bytes, fewer than the header of an idx file");
        return Err(wrong(found, TRUNCATED)
            .with(|details| (details.need, details.got) = (Some(4), Some(have as u64))));
    }
    let [zero, zero_too, code, axes] = [head[0], head[1], head[2], head[3]];
    let Some(number) = number_type(code).filter(|_| zero == 0 && zero_too == 0) else {
        let found = format!(
            "it starts with bytes {zero:02x} {zero_too:02x} {code:02x} {axes:02x}, which is not the signature of an idx file"
        );
        return Err(wrong(found, &options.other_format()));
    };
    let start = 4 + 4 * axes as usize;
    if have < start {
        let found = format!("its header should be {start} bytes long, but the file has {have} in all");
        return Err(wrong(found, TRUNCATED)
            .with(|details| (details.need, details.got) = (Some(start as u64), Some(have as u64))));
    }
    let shape: Vec<u64> =
        head[4..start].as_chunks::<4>().0.iter().map(|d| u32::from_be_bytes(*d) as u64).collect();
    let total = shape.iter().try_fold(number.size as u64, |a, &d| a.checked_mul(d));
    // The header has nothing else to be checked by, so the length must agree to the byte.
    match total.and_then(|t| t.checked_add(start as u64)) {
        Some(total) if total == bytes.len() => Ok(NpyHeader::new(number, shape, start as u64)),
        total => {
            let promised = total.map_or("more bytes than any file has".into(), |t| format!("{t} bytes"));
            Err(wrong(format!("its header declares {promised}, but the file has {}", bytes.len()), TRUNCATED)
                .with(|details| (details.need, details.got) = (total, Some(bytes.len()))))
        }
    }
}
