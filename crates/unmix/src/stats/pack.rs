//! Serialisation of partials: little-endian numbers and lengths.

use crate::error::{Error, Result};
use crate::num::{Matrix, Real};

/// Packs numbers into bytes.
#[derive(Default)]
pub struct Packer(Vec<u8>);

impl Packer {
    /// Appends a count.
    pub fn count(&mut self, n: u64) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    /// Appends a number.
    pub fn number(&mut self, x: f64) {
        self.0.extend_from_slice(&x.to_le_bytes());
    }

    /// Appends numbers, preceded by their count.
    pub fn numbers(&mut self, numbers: &[f64]) {
        self.count(numbers.len() as u64);
        numbers.iter().for_each(|x| self.0.extend_from_slice(&x.to_le_bytes()));
    }

    /// Appends a matrix, preceded by its shape.
    pub fn matrix(&mut self, m: &Matrix<f64>) {
        self.count(m.rows() as u64);
        self.count(m.cols() as u64);
        self.numbers(m.as_slice());
    }

    /// Appends numbers of either type, exactly.
    pub fn numbers_of<T: Real>(&mut self, numbers: &[T]) {
        self.count(numbers.len() as u64);
        numbers.iter().for_each(|x| self.number(x.to_f64()));
    }

    /// Appends a matrix of either type, preceded by its shape.
    pub(crate) fn matrix_of<T: Real>(&mut self, m: &Matrix<T>) {
        self.count(m.rows() as u64);
        self.count(m.cols() as u64);
        self.numbers_of(m.as_slice());
    }

    /// Appends optional numbers.
    pub fn maybe(&mut self, numbers: Option<&[f64]>) {
        self.count(u64::from(numbers.is_some()));
        self.numbers(numbers.unwrap_or_default());
    }

    /// Appends a string.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Appends bytes, preceded by their count.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// The serialised bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Unpacks numbers from bytes.
pub struct Unpacker<'a>(&'a [u8]);

impl<'a> Unpacker<'a> {
    /// Reads from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads a count.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if fewer than eight bytes are left.
    pub fn count(&mut self) -> Result<u64> {
        let (head, rest) = self.0.split_first_chunk::<8>().ok_or_else(corrupt)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*head))
    }

    /// Reads a number.
    ///
    /// # Errors
    ///
    /// As for [`count`](Self::count).
    pub fn number(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.count()?))
    }

    /// Reads numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the bytes end before the numbers do.
    pub fn numbers(&mut self) -> Result<Vec<f64>> {
        let n = self.count()?;
        if n > (self.0.len() / 8) as u64 {
            return Err(corrupt());
        }
        let (head, rest) = self.0.split_at(8 * n as usize);
        self.0 = rest;
        Ok(head.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
    }

    /// Reads a matrix.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the bytes end before the matrix does, or its numbers are more or fewer than its shape has.
    pub fn matrix(&mut self) -> Result<Matrix<f64>> {
        let (rows, cols) = (self.count()? as usize, self.count()? as usize);
        let data = self.numbers()?;
        if rows.checked_mul(cols) != Some(data.len()) {
            return Err(corrupt());
        }
        Ok(Matrix::from_vec(rows, cols, data))
    }

    /// Reads numbers of either type.
    ///
    /// # Errors
    ///
    /// As for [`numbers`](Self::numbers).
    pub fn numbers_of<T: Real>(&mut self) -> Result<Vec<T>> {
        Ok(self.numbers()?.into_iter().map(T::from_f64).collect())
    }

    /// Reads a matrix of either type.
    pub(crate) fn matrix_of<T: Real>(&mut self) -> Result<Matrix<T>> {
        Ok(self.matrix()?.cast())
    }

    /// Reads optional numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the bytes end before the numbers do, or are not those of [`Packer::maybe`].
    pub fn maybe(&mut self) -> Result<Option<Vec<f64>>> {
        let there = self.flag()?;
        let numbers = self.numbers()?;
        self.check(there || numbers.is_empty())?;
        Ok(there.then_some(numbers))
    }

    /// Reads a count that is 0 or 1.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if it is another number, or fewer than eight bytes are left.
    pub fn flag(&mut self) -> Result<bool> {
        let flag = self.count()?;
        self.check(flag <= 1)?;
        Ok(flag == 1)
    }

    /// Reads a string.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the bytes end before the string does, or are not UTF-8.
    pub fn text(&mut self) -> Result<String> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| corrupt())
    }

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if fewer bytes are left than their count says.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let n = self.count()?;
        if n > self.0.len() as u64 {
            return Err(corrupt());
        }
        let (head, rest) = self.0.split_at(n as usize);
        self.0 = rest;
        Ok(head)
    }

    /// An error unless the sizes of the parts of a statistic agree.
    pub(crate) fn check(&self, agree: bool) -> Result<()> {
        if agree { Ok(()) } else { Err(corrupt()) }
    }

    /// An error unless all bytes have been read.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if bytes are left.
    pub fn end(&self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(corrupt()) }
    }
}

fn corrupt() -> Error {
    Error::format("the packed sums", "they are corrupt or of another kind", "gather the shard again")
}
