//! numpy's `.npz` files: zip archives of `.npy` files. A stored array is read in place, a compressed one is unpacked once.

use crate::stored::{FromStart, copy, head};
use crate::{Input, Options, array, foreign, key, npy, sparse};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use unmix::data::{Bytes, npy_header};
use unmix::{Error, Result, Run};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

const TRUNCATED: &str = "it is truncated or corrupt; copy or write it again";

pub(crate) fn open(bytes: Bytes<'static>, options: &Options, run: &Run<'_>) -> Result<Input> {
    let path = bytes.path().to_path_buf();
    let mut archive = Archive::new(&bytes)?;
    let names: Vec<String> = archive.members.iter().map(|(name, _)| name.clone()).collect();
    if options.key.is_none() && sparse::is_sparse(&names) {
        return sparse::open(&mut archive, options, run);
    }
    let place = archive.members[key::choose(options, &names, &path)?].1;
    let member = archive.zip.by_index(place).map_err(|e| corrupt(&path, e))?;
    let (size, start) = (member.size(), member.data_start());
    if member.compression() != CompressionMethod::Stored {
        let unpacked = copy(member, &path, run)?;
        return npy::open_member(unpacked, options);
    }
    let start =
        start.filter(|s| s.checked_add(size).is_some_and(|end| end <= bytes.len())).ok_or_else(|| {
            Error::format(
                &path,
                format!("it declares an array of {size} bytes, more than the file has"),
                TRUNCATED,
            )
            .with(|details| (details.need, details.got) = (Some(size), Some(bytes.len())))
        })?;
    // The header is at the front of the member; the numbers after it are read in place.
    let front = head(member, 1 << 20, &path)?;
    let mut header = npy_header(&Bytes::Owned { data: front, path: path.clone() })?;
    let numbers = header.shape.iter().try_fold(header.number.size as u64, |a, &d| a.checked_mul(d));
    let end = numbers.and_then(|n| n.checked_add(header.start)).filter(|&end| end <= size);
    if end.is_none() {
        let name = names_of(&archive.members, place);
        let found = format!("the header of array '{name}' declares more than its {size} bytes");
        let need = numbers.and_then(|n| n.checked_add(header.start));
        return Err(Error::format(&path, found, TRUNCATED)
            .with(|details| (details.need, details.got) = (need, Some(size)))
            .with(|details| details.array = Some(name.into())));
    }
    header.start += start;
    drop(archive);
    array::open_stored(bytes, header, options)
}

/// An opened archive: the names of its arrays, and how to read one as a whole.
pub(crate) struct Archive<'b> {
    path: PathBuf,
    zip: ZipArchive<BufReader<FromStart<&'b Bytes<'static>>>>,
    /// Names without the extension, and places.
    members: Vec<(String, usize)>,
}

impl<'b> Archive<'b> {
    fn new(bytes: &'b Bytes<'static>) -> Result<Self> {
        let path = bytes.path().to_path_buf();
        let corrupt = |e| corrupt(&path, e);
        let zip = ZipArchive::new(BufReader::new(FromStart::new(bytes))).map_err(corrupt)?;
        let (mut members, mut others) = (Vec::new(), Vec::new());
        for i in 0..zip.len() {
            let name =
                zip.by_index_data(i).and_then(|m| m.name().map(|n| n.into_owned())).map_err(corrupt)?;
            match name.strip_suffix(".npy") {
                Some(array) => members.push((array.to_string(), i)),
                None => others.push(name),
            }
        }
        if let Some(error) = foreign::refused_archive(&path, &others).filter(|_| members.is_empty()) {
            return Err(error);
        }
        Ok(Self { path, zip, members })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of the array named `name`, unpacked.
    pub(crate) fn member(&mut self, name: &str, run: &Run<'_>) -> Result<Bytes<'static>> {
        let Some(place) = self.members.iter().find(|(n, _)| n == name).map(|m| m.1) else {
            let found = format!("it holds a sparse matrix without its '{name}'");
            return Err(Error::format(&self.path, found, "write it again")
                .with(|details| details.array = Some(name.into())));
        };
        let member = self.zip.by_index(place).map_err(|e| corrupt(&self.path, e))?;
        copy(member, &self.path, run)
    }
}

fn corrupt(path: &Path, e: ZipError) -> Error {
    Error::format(path, format!("it is not a valid zip archive ({})", reason(&e)), TRUNCATED)
}

fn names_of(members: &[(String, usize)], place: usize) -> &str {
    members.iter().find(|(_, i)| *i == place).map_or("", |(name, _)| name)
}

fn reason(e: &ZipError) -> String {
    e.to_string().trim_end_matches('.').to_lowercase()
}
