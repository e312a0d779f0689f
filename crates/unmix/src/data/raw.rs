//! An array of numbers as bytes: any number type, byte order and layout, in a file or in memory.
//!
//! `.npy` and idx files, temporary files and numpy arrays are all read through this type, so that the same numbers give the same
//! rows however they are stored.

use super::bytes::Bytes;
use super::source::{Forward, RandomAccess, Source, Stream};
use crate::error::{Error, Result};
use crate::num::{Dtype, Real};
use std::ops::Range;

/// Storage format of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NumberType {
    /// `b` bool, `i` signed, `u` unsigned, `f` floating point, as numpy writes it.
    pub kind: u8,
    /// Bytes: 1, 2, 4 or 8.
    pub size: usize,
    /// Whether the most significant byte is first.
    pub big_endian: bool,
}

impl NumberType {
    /// Format of `kind` and `size`; `big_endian`: the most significant byte is first.
    pub const fn new(kind: u8, size: usize, big_endian: bool) -> Self {
        Self { kind, size, big_endian }
    }

    /// Format of `kind` and `size` in the byte order of this machine.
    pub const fn native(kind: u8, size: usize) -> Self {
        Self::new(kind, size, cfg!(target_endian = "big"))
    }

    /// Little-endian format of `kind` and `size`.
    pub const fn little(kind: u8, size: usize) -> Self {
        Self::new(kind, size, false)
    }

    /// Whether this kind and size are supported.
    pub fn known(self) -> bool {
        matches!((self.kind, self.size), (b'b', 1) | (b'i' | b'u', 1 | 2 | 4 | 8) | (b'f', 2 | 4 | 8))
    }

    /// The type in which rows of this format are computed: `float32` for floating point of up to four bytes, else `float64`.
    pub fn computed_in(self) -> Dtype {
        if self.kind == b'f' && self.size <= 4 { Dtype::F32 } else { Dtype::F64 }
    }

    /// numpy's name, as in "uint8".
    pub fn name(self) -> String {
        let kind = match self.kind {
            b'b' => return "bool".into(),
            b'i' => "int",
            b'u' => "uint",
            _ => "float",
        };
        format!("{kind}{}", 8 * self.size)
    }

    fn is_native<T: Real>(self) -> bool {
        self.kind == b'f' && self.size == T::DTYPE.size() && self.big_endian == cfg!(target_endian = "big")
    }
}

/// Some axes of an array, flattened in C order: their lengths, and their strides in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Axes {
    /// Length of each axis.
    pub dims: Vec<u64>,
    /// Bytes from one index to the next, along each axis.
    pub strides: Vec<i64>,
}

impl Axes {
    /// Axes of these lengths.
    ///
    /// # Panics
    ///
    /// Another number of strides than of lengths.
    pub fn new(dims: Vec<u64>, strides: Vec<i64>) -> Self {
        assert_eq!(dims.len(), strides.len(), "an axis has a length and a stride");
        Self { dims, strides }
    }

    /// One axis.
    pub fn one(len: u64, stride: i64) -> Self {
        Self { dims: vec![len], strides: vec![stride] }
    }

    /// Product of the lengths, at most `u64::MAX`.
    pub fn len(&self) -> u64 {
        if self.is_empty() { 0 } else { self.dims.iter().fold(1, |all: u64, d| all.saturating_mul(*d)) }
    }

    /// Whether one of the lengths is 0.
    pub fn is_empty(&self) -> bool {
        self.dims.contains(&0)
    }

    /// Byte offset of flat index `i`.
    fn offset(&self, mut i: u64) -> i64 {
        let mut offset = 0;
        for (&d, &s) in self.dims.iter().zip(&self.strides).rev() {
            offset += (i % d) as i64 * s;
            i /= d;
        }
        offset
    }

    /// Stride in bytes between consecutive flat indices, if it is constant.
    fn step(&self) -> Option<i64> {
        let mut step: Option<(i64, u64)> = None;
        for (&d, &s) in self.dims.iter().zip(&self.strides).rev() {
            if d == 1 {
                continue;
            }
            match step {
                None => step = Some((s, d)),
                Some((inner, len)) if s == inner * len as i64 => step = Some((inner, len * d)),
                Some(_) => return None,
            }
        }
        Some(step.map_or(0, |(s, _)| s))
    }
}

/// Refuses numbers that are not whole rows of `n_features`.
///
/// # Errors
///
/// An incomplete last row.
pub(super) fn check_whole_rows(n: usize, n_features: usize) -> Result<()> {
    let beyond = n.checked_rem(n_features).unwrap_or(n);
    if beyond == 0 {
        return Ok(());
    }
    let (what, remedy) = ("the last row of the array".into(), "give whole rows".into());
    Err(Error::Width { what, need: n_features, got: beyond, remedy })
}

/// An array whose axes are split into those that run over samples and those that run over features.
pub struct RawArray<'a> {
    bytes: Bytes<'a>,
    /// Byte offset of the entry whose indices are all 0.
    origin: i64,
    number: NumberType,
    rows: Axes,
    features: Axes,
    n_features: usize,
}

impl<'a> RawArray<'a> {
    /// An array of numbers at `origin + rows + features` bytes, for all indices of both.
    ///
    /// # Errors
    ///
    /// An entry that is not within the bytes, more entries than `u64` counts, numbers of a type that is not supported.
    pub fn new(
        bytes: Bytes<'a>,
        origin: i64,
        number: NumberType,
        rows: Axes,
        features: Axes,
    ) -> Result<Self> {
        if !number.known() {
            let found = format!("it holds numbers of a type that is not supported: {number:?}");
            return Err(Error::format(bytes.path(), found, "convert them to float64"));
        }
        let (mut low, mut high) = (origin as i128, origin as i128 + number.size as i128);
        for (&d, &s) in rows.dims.iter().zip(&rows.strides).chain(features.dims.iter().zip(&features.strides))
        {
            let reach = (d.max(1) - 1) as i128 * s as i128;
            low += reach.min(0);
            high += reach.max(0);
        }
        let empty = rows.is_empty() || features.is_empty();
        if !empty && rows.len().checked_mul(features.len()).is_none_or(|n| n == u64::MAX) {
            let found = format!("its header declares lengths of {:?} and {:?}", rows.dims, features.dims);
            return Err(Error::format(bytes.path(), found, "it is corrupt; copy or write it again"));
        }
        if !empty && (low < 0 || high > bytes.len() as i128) {
            return Err(Error::format(
                bytes.path(),
                format!("its header declares {high} bytes, but the file has {}", bytes.len()),
                "it is truncated or corrupt; copy or write it again",
            )
            .with(|details| (details.need, details.got) = (u64::try_from(high).ok(), Some(bytes.len()))));
        }
        let n_features = usize::try_from(features.len()).unwrap_or(usize::MAX);
        Ok(Self { bytes, origin, number, rows, features, n_features })
    }

    /// Contiguous rows of `n_features` numbers of type `T`.
    pub(crate) fn row_major<T: Real>(bytes: Bytes<'a>, n_rows: u64, n_features: usize) -> Result<Self> {
        let size = T::DTYPE.size();
        let number = NumberType::native(b'f', size);
        let rows = Axes::one(n_rows, (n_features * size) as i64);
        Self::new(bytes, 0, number, rows, Axes::one(n_features as u64, size as i64))
    }

    /// A borrowed row-major slice.
    ///
    /// # Errors
    ///
    /// A length that is not a multiple of `n_features`.
    pub fn borrowed<T: Real>(data: &'a [T], n_features: usize) -> Result<Self> {
        check_whole_rows(data.len(), n_features)?;
        // SAFETY: a slice of plain numbers is also a slice of bytes of the same extent.
        let bytes =
            unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), std::mem::size_of_val(data)) };
        Self::row_major::<T>(Bytes::Lent(bytes), (data.len() / n_features.max(1)) as u64, n_features)
    }

    /// Storage format of the numbers.
    pub fn number(&self) -> NumberType {
        self.number
    }

    /// Axes of the rows.
    pub fn rows(&self) -> &Axes {
        &self.rows
    }

    /// Axes of the features.
    pub fn features(&self) -> &Axes {
        &self.features
    }

    /// Exchanges samples and features.
    pub fn transposed(self) -> Self {
        let n_features = usize::try_from(self.rows.len()).unwrap_or(usize::MAX);
        Self { rows: self.features, features: self.rows, n_features, ..self }
    }

    /// Strides in bytes between features and between rows, if they are constant.
    fn steps(&self) -> (Option<i64>, Option<i64>) {
        (self.features.step(), self.rows.step())
    }
}

impl<T: Real> Source<T> for RawArray<'_> {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.rows.len())
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(Forward::new(self, self.n_features)))
    }

    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        Some(self)
    }
}

impl<T: Real> RandomAccess<T> for RawArray<'_> {
    fn n_rows(&self) -> u64 {
        self.rows.len()
    }

    fn by_rows(&self) -> bool {
        let size = self.number.size as i64;
        self.features.step() == Some(size) && self.rows.step() == Some(size * self.n_features as i64)
    }

    fn by_columns(&self) -> bool {
        self.bytes.in_memory().is_some() || self.rows.step() == Some(self.number.size as i64)
    }

    fn lend(&self, rows: Range<u64>) -> Option<&[T]> {
        let data = self.bytes.in_memory()?;
        let size = T::DTYPE.size();
        let dense = self.number.is_native::<T>()
            && (self.n_features == 1 || self.features.step() == Some(size as i64))
            && (self.rows.len() <= 1 || self.rows.step() == Some((size * self.n_features) as i64));
        if !dense {
            return None;
        }
        let start = self.origin as usize + rows.start as usize * size * self.n_features;
        let part = data.get(start..start + (rows.end - rows.start) as usize * size * self.n_features)?;
        if !part.as_ptr().cast::<T>().is_aligned() {
            return None;
        }
        // SAFETY: aligned (checked), of the right length, and every bit pattern is a number.
        Some(unsafe { std::slice::from_raw_parts(part.as_ptr().cast::<T>(), part.len() / size) })
    }

    fn read(&self, rows: Range<u64>, columns: Range<usize>, out: &mut [T], raw: &mut Vec<u8>) -> Result<()> {
        let (n, p) = ((rows.end - rows.start) as usize, columns.len());
        assert_eq!(out.len(), n * p, "room for {n} x {p} numbers");
        if n == 0 || p == 0 {
            return Ok(());
        }
        if self.bytes.in_memory().is_some() {
            match self.lend(rows.clone()).filter(|_| p == self.n_features) {
                Some(numbers) => out.copy_from_slice(numbers),
                None => self.read_memory(rows, columns, out),
            }
            return Ok(());
        }
        let size = self.number.size;
        match self.steps() {
            // Contiguous rows: one read.
            (Some(f), Some(r))
                if f == size as i64 && r == (self.n_features * size) as i64 && p == self.n_features =>
            {
                let at = (self.origin + rows.start as i64 * r) as u64;
                self.read_run(at, out, 1, raw)
            }
            // Each row is contiguous.
            (Some(f), _) if f == size as i64 => {
                for (i, row) in rows.enumerate() {
                    let at = self.origin + self.rows.offset(row) + (columns.start * size) as i64;
                    self.read_run(at as u64, &mut out[i * p..(i + 1) * p], 1, raw)?;
                }
                Ok(())
            }
            // Each column is contiguous.
            (_, Some(r)) if r == size as i64 => {
                for (j, column) in columns.enumerate() {
                    let at = self.origin + self.features.offset(column as u64) + rows.start as i64 * r;
                    self.read_run(at as u64, &mut out[j..(n - 1) * p + j + 1], p, raw)?;
                }
                Ok(())
            }
            _ => self.read_scattered(rows, columns, out, raw),
        }
    }
}

impl RawArray<'_> {
    /// Reads consecutive numbers at byte `at` into every `step`-th entry of `out`.
    fn read_run<T: Real>(&self, at: u64, out: &mut [T], step: usize, raw: &mut Vec<u8>) -> Result<()> {
        if self.number.is_native::<T>() && step == 1 {
            // SAFETY: plain numbers may be written as bytes; every bit pattern is a number.
            let bytes = unsafe {
                std::slice::from_raw_parts_mut(out.as_mut_ptr().cast::<u8>(), std::mem::size_of_val(out))
            };
            return self.bytes.read_at(at, bytes);
        }
        let count = out.len().div_ceil(step);
        raw.resize(count * self.number.size, 0);
        self.bytes.read_at(at, raw)?;
        convert(self.number, raw, (0..count).map(|i| i * self.number.size), out.iter_mut().step_by(step));
        Ok(())
    }

    /// Reads rows if neither rows nor columns are contiguous (an inner axis of a file is a sample axis): in the longest contiguous
    /// runs of features.
    fn read_scattered<T: Real>(
        &self,
        rows: Range<u64>,
        columns: Range<usize>,
        out: &mut [T],
        raw: &mut Vec<u8>,
    ) -> Result<()> {
        let (p, size) = (columns.len(), self.number.size as i64);
        let places: Vec<i64> = columns.map(|j| self.features.offset(j as u64)).collect();
        for (i, row) in rows.enumerate() {
            let base = self.origin + self.rows.offset(row);
            let mut start = 0;
            while start < p {
                let mut end = start + 1;
                while end < p && places[end] == places[end - 1] + size {
                    end += 1;
                }
                self.read_run((base + places[start]) as u64, &mut out[i * p + start..i * p + end], 1, raw)?;
                start = end;
            }
        }
        Ok(())
    }

    fn read_memory<T: Real>(&self, rows: Range<u64>, columns: Range<usize>, out: &mut [T]) {
        let data = self.bytes.in_memory().unwrap_or_default();
        let (p, n) = (columns.len(), (rows.end - rows.start) as usize);
        match self.steps() {
            // The inner loop runs along the axis of the smaller stride.
            (Some(f), Some(r)) => {
                let origin = self.origin + rows.start as i64 * r + columns.start as i64 * f;
                if p > 1 && f.abs() <= r.abs() {
                    for (i, row) in out.chunks_exact_mut(p).enumerate() {
                        let at = origin + i as i64 * r;
                        convert(
                            self.number,
                            data,
                            (0..p).map(|j| (at + j as i64 * f) as usize),
                            row.iter_mut(),
                        );
                    }
                } else {
                    // In tiles, so that reads and writes stay in cache.
                    const TILE: usize = 32;
                    for i0 in (0..n).step_by(TILE) {
                        let i1 = (i0 + TILE).min(n);
                        for j in 0..p {
                            let at = origin + j as i64 * f;
                            let from = (i0..i1).map(|i| (at + i as i64 * r) as usize);
                            convert(self.number, data, from, out[i0 * p + j..].iter_mut().step_by(p));
                        }
                    }
                }
            }
            _ => {
                let places: Vec<i64> = columns.map(|j| self.features.offset(j as u64)).collect();
                for (row, out) in rows.zip(out.chunks_exact_mut(p)) {
                    let base = self.origin + self.rows.offset(row);
                    convert(self.number, data, places.iter().map(|&f| (base + f) as usize), out.iter_mut());
                }
            }
        }
    }
}

/// Converts the numbers of `data` that begin at these bytes.
fn convert<'o, T: Real>(
    number: NumberType,
    data: &[u8],
    from: impl Iterator<Item = usize>,
    to: impl Iterator<Item = &'o mut T>,
) {
    macro_rules! each {
        ($t:ty) => {
            each!($t, |x: $t| x as f64)
        };
        ($t:ty, $f:expr) => {{
            const N: usize = std::mem::size_of::<$t>();
            // Of a constant length: one load, where a slice of any length would be read byte by byte.
            let bytes = |at: usize| data[at..at + N].first_chunk::<N>().copied().unwrap_or([0; N]);
            if number.big_endian {
                to.zip(from).for_each(|(o, at)| *o = T::from_f64($f(<$t>::from_be_bytes(bytes(at)))))
            } else {
                to.zip(from).for_each(|(o, at)| *o = T::from_f64($f(<$t>::from_le_bytes(bytes(at)))))
            }
        }};
    }
    match (number.kind, number.size) {
        (b'f', 2) => each!(half::f16, |x: half::f16| x.to_f64()),
        (b'f', 4) => each!(f32),
        (b'f', _) => each!(f64),
        (b'i', 1) => each!(i8),
        (b'i', 2) => each!(i16),
        (b'i', 4) => each!(i32),
        (b'i', _) => each!(i64),
        (b'b', _) => each!(u8, |x: u8| f64::from(u8::from(x != 0))),
        (_, 1) => each!(u8),
        (_, 2) => each!(u16),
        (_, 4) => each!(u32),
        _ => each!(u64),
    }
}

#[cfg(test)]
mod tests;
