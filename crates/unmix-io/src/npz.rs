//! numpy's `.npz` files: zip archives of `.npy` files. A stored array is read in place, a compressed one is unpacked once.

use crate::stored::{FromStart, copy, head};
use crate::{Input, Options, array, key, npy};
use std::io::BufReader;
use unmix::data::{Bytes, npy_header};
use unmix::{Error, Result, Run};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

const CUT: &str = "it was cut short or is not what it says; copy or write it again";

pub(crate) fn open(bytes: Bytes<'static>, options: &Options, run: &Run<'_>) -> Result<Input> {
    let path = bytes.path().to_path_buf();
    let damaged =
        |e: ZipError| Error::format(&path, format!("it is no sound zip archive ({})", reason(&e)), CUT);
    let mut archive = ZipArchive::new(BufReader::new(FromStart::new(&bytes))).map_err(damaged)?;
    let mut members = Vec::new();
    for i in 0..archive.len() {
        let name =
            archive.by_index_data(i).and_then(|m| m.name().map(|n| n.into_owned())).map_err(damaged)?;
        members.extend(name.strip_suffix(".npy").map(|name| (name.to_string(), i)));
    }
    let names: Vec<String> = members.iter().map(|(name, _)| name.clone()).collect();
    if options.key.is_none() && ["indptr", "data", "shape"].iter().all(|n| names.iter().any(|name| name == n))
    {
        let remedy = "save its rows as an array, as in numpy.save('rows.npy', matrix.toarray())";
        return Err(Error::format(&path, "it holds a sparse matrix of scipy's", remedy));
    }
    let place = members[key::choose(options.key.as_deref(), &names, &path)?].1;
    let member = archive.by_index(place).map_err(damaged)?;
    let (size, start) = (member.size(), member.data_start());
    if member.compression() != CompressionMethod::Stored {
        let unpacked = copy(member, &path, run)?;
        return npy::open(unpacked, options);
    }
    let start =
        start.filter(|s| s.checked_add(size).is_some_and(|end| end <= bytes.len())).ok_or_else(|| {
            Error::format(&path, format!("it promises an array of {size} bytes, more than it has"), CUT)
        })?;
    // The header is at the front of the member; the numbers behind it stay where they are.
    let front = head(member, 1 << 20, &path)?;
    let mut header = npy_header(&Bytes::Owned { data: front, path: path.clone() })?;
    let numbers = header.shape.iter().try_fold(header.number.size as u64, |a, &d| a.checked_mul(d));
    let end = numbers.and_then(|n| n.checked_add(header.start)).filter(|&end| end <= size);
    if end.is_none() {
        let found = format!(
            "the header of array '{}' promises more than its {size} bytes",
            names_of(&members, place)
        );
        return Err(Error::format(&path, found, CUT));
    }
    header.start += start;
    drop(archive);
    array::open(bytes, header, options)
}

fn names_of(members: &[(String, usize)], place: usize) -> &str {
    members.iter().find(|(_, i)| *i == place).map_or("", |(name, _)| name)
}

fn reason(e: &ZipError) -> String {
    e.to_string().trim_end_matches('.').to_lowercase()
}
