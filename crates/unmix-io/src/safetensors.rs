//! `.safetensors` files as data: one tensor, read in place.

use crate::{Input, Options, array, key, progress};
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use unmix::data::{Bytes, NpyHeader, NumberType, Spool};
use unmix::{Error, Result, Run};

/// Longest header that the format allows.
const LONGEST_HEADER_BYTES: u64 = 100_000_000;

/// Whether a file begins as these files do: the header's length, then the header, in JSON.
pub(crate) fn begins(head: &[u8]) -> bool {
    let length = head.first_chunk::<8>().map(|n| u64::from_le_bytes(*n));
    length.is_some_and(|n| (2..=LONGEST_HEADER_BYTES).contains(&n)) && head.get(8..10) == Some(b"{\"")
}

pub(crate) fn open(bytes: Bytes<'static>, options: &Options, run: &Run<'_>) -> Result<Input> {
    let path = bytes.path().to_path_buf();
    let (start, metadata) = metadata(&bytes)?;
    if metadata.metadata().as_ref().is_some_and(|m| m.contains_key("unmix")) {
        let remedy = format!("to read a model use {}", options.wording.model_reader());
        return Err(Error::format(&path, "it is a model that unmix has written, not data", remedy));
    }
    let mut names = metadata.offset_keys();
    names.sort();
    let name = &names[key::choose(options, &names, &path)?];
    let Some(tensor) = metadata.info(name) else {
        return Err(Error::format(&path, format!("it has no tensor '{name}'"), "write it again")
            .with(|details| details.array = Some(name.clone())));
    };
    let at = start + tensor.data_offsets.0 as u64;
    let shape: Vec<u64> = tensor.shape.iter().map(|&d| d as u64).collect();
    if tensor.dtype == Dtype::BF16 {
        let (bytes, number) = (widened(&bytes, at, tensor.data_offsets, run)?, NumberType::little(b'f', 4));
        let input = array::open_stored(bytes, NpyHeader::new(number, shape, 0), options)?;
        return Ok(Input { stored: "bfloat16".into(), ..input });
    }
    let number = number_type(tensor.dtype).ok_or_else(|| {
        let found =
            format!("tensor '{name}' holds numbers of type {:?}, which is not supported", tensor.dtype);
        Error::format(&path, found, "write it as float32").with(|details| details.array = Some(name.clone()))
    })?;
    array::open_stored(bytes, NpyHeader::new(number, shape, at), options)
}

/// The header, and the first byte after it. The library checks that tensors follow one another and have the lengths of their shapes.
fn metadata(bytes: &Bytes<'_>) -> Result<(u64, Metadata)> {
    let wrong = |found: String| {
        Error::format(bytes.path(), found, "it is truncated or corrupt; copy or write it again")
    };
    let mut length = [0; 8];
    if bytes.len() < 8 {
        return Err(wrong(format!("it has {} bytes, fewer than any safetensors file", bytes.len()))
            .with(|details| (details.need, details.got) = (Some(8), Some(bytes.len()))));
    }
    bytes.read_at(0, &mut length)?;
    let length = u64::from_le_bytes(length);
    let start = 8 + length.min(LONGEST_HEADER_BYTES);
    if length > LONGEST_HEADER_BYTES || start > bytes.len() {
        return Err(wrong(format!(
            "its header should be {length} bytes long, but the file has {} in all",
            bytes.len()
        ))
        .with(|details| (details.need, details.got) = (Some(length), Some(bytes.len()))));
    }
    let mut header = vec![0; length as usize];
    bytes.read_at(8, &mut header)?;
    let metadata: Metadata = serde_json::from_slice(&header)
        .map_err(|e| wrong(format!("its header is not that of a safetensors file ({e})")))?;
    let promised = (metadata.data_len() as u64).saturating_add(start);
    if promised != bytes.len() {
        return Err(wrong(format!("its header declares {promised} bytes, but the file has {}", bytes.len()))
            .with(|details| (details.need, details.got) = (Some(promised), Some(bytes.len()))));
    }
    Ok((start, metadata))
}

fn number_type(dtype: Dtype) -> Option<NumberType> {
    let (kind, size) = match dtype {
        Dtype::BOOL => (b'b', 1),
        Dtype::U8 => (b'u', 1),
        Dtype::U16 => (b'u', 2),
        Dtype::U32 => (b'u', 4),
        Dtype::U64 => (b'u', 8),
        Dtype::I8 => (b'i', 1),
        Dtype::I16 => (b'i', 2),
        Dtype::I32 => (b'i', 4),
        Dtype::I64 => (b'i', 8),
        Dtype::F16 => (b'f', 2),
        Dtype::F32 => (b'f', 4),
        Dtype::F64 => (b'f', 8),
        _ => return None,
    };
    Some(NumberType::little(kind, size))
}

/// Numbers of type bfloat16, which are the upper halves of those of single precision, as the latter.
fn widened(bytes: &Bytes<'_>, at: u64, (from, to): (usize, usize), run: &Run<'_>) -> Result<Bytes<'static>> {
    const BYTES_PER_STEP: usize = 1 << 18;
    let mut spool = Spool::new(bytes.path());
    let (mut halves, mut whole) = (Vec::new(), Vec::new());
    for start in (0..to - from).step_by(BYTES_PER_STEP) {
        halves.resize(BYTES_PER_STEP.min(to - from - start), 0);
        bytes.read_at(at + start as u64, &mut halves)?;
        whole.clear();
        halves.as_chunks::<2>().0.iter().for_each(|half| whole.extend([0, 0, half[0], half[1]]));
        spool.write(&whole)?;
        progress(run, (start / 2) as u64)?;
    }
    spool.finish()
}
