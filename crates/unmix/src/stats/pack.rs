//! Serialisation of partials: little-endian numbers and lengths.

use crate::error::{Error, Result};
use crate::num::{Matrix, Real};

/// Packs numbers into bytes.
#[derive(Default)]
pub struct Packer(Vec<u8>);

impl Packer {
    /// A count.
    pub fn count(&mut self, n: u64) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    /// A number.
    pub fn number(&mut self, x: f64) {
        self.0.extend_from_slice(&x.to_le_bytes());
    }

    /// Some numbers, and how many they are.
    pub fn numbers(&mut self, numbers: &[f64]) {
        self.count(numbers.len() as u64);
        numbers.iter().for_each(|x| self.0.extend_from_slice(&x.to_le_bytes()));
    }

    /// A matrix and its shape.
    pub fn matrix(&mut self, m: &Matrix<f64>) {
        self.count(m.rows() as u64);
        self.count(m.cols() as u64);
        self.numbers(m.as_slice());
    }

    /// Numbers of either type, exactly.
    pub fn numbers_of<T: Real>(&mut self, numbers: &[T]) {
        self.count(numbers.len() as u64);
        numbers.iter().for_each(|x| self.number(x.to_f64()));
    }

    /// A matrix of either type and its shape.
    pub(crate) fn matrix_of<T: Real>(&mut self, m: &Matrix<T>) {
        self.count(m.rows() as u64);
        self.count(m.cols() as u64);
        self.numbers_of(m.as_slice());
    }

    /// Numbers that may be missing altogether.
    pub fn maybe(&mut self, numbers: Option<&[f64]>) {
        self.count(u64::from(numbers.is_some()));
        self.numbers(numbers.unwrap_or_default());
    }

    /// A word.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Some bytes, and how many they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// The bytes taken.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Unpacks numbers from bytes.
pub struct Unpacker<'a>(&'a [u8]);

impl<'a> Unpacker<'a> {
    /// Over `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// A count.
    pub fn count(&mut self) -> Result<u64> {
        let (head, rest) = self.0.split_first_chunk::<8>().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*head))
    }

    /// A number.
    pub fn number(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.count()?))
    }

    /// Some numbers.
    pub fn numbers(&mut self) -> Result<Vec<f64>> {
        let n = self.count()?;
        if n > (self.0.len() / 8) as u64 {
            return Err(damaged());
        }
        let (head, rest) = self.0.split_at(8 * n as usize);
        self.0 = rest;
        Ok(head.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
    }

    /// A matrix.
    pub fn matrix(&mut self) -> Result<Matrix<f64>> {
        let (rows, cols) = (self.count()? as usize, self.count()? as usize);
        let data = self.numbers()?;
        if rows.checked_mul(cols) != Some(data.len()) {
            return Err(damaged());
        }
        Ok(Matrix::from_vec(rows, cols, data))
    }

    /// Numbers of either type.
    pub fn numbers_of<T: Real>(&mut self) -> Result<Vec<T>> {
        Ok(self.numbers()?.into_iter().map(T::from_f64).collect())
    }

    /// A matrix of either type.
    pub(crate) fn matrix_of<T: Real>(&mut self) -> Result<Matrix<T>> {
        Ok(self.matrix()?.cast())
    }

    /// Numbers that may be missing altogether.
    pub fn maybe(&mut self) -> Result<Option<Vec<f64>>> {
        let there = self.flag()?;
        let numbers = self.numbers()?;
        self.check(there || numbers.is_empty())?;
        Ok(there.then_some(numbers))
    }

    /// A count that is 0 or 1.
    pub fn flag(&mut self) -> Result<bool> {
        let flag = self.count()?;
        self.check(flag <= 1)?;
        Ok(flag == 1)
    }

    /// A word.
    pub fn text(&mut self) -> Result<String> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| damaged())
    }

    /// Some bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let n = self.count()?;
        if n > self.0.len() as u64 {
            return Err(damaged());
        }
        let (head, rest) = self.0.split_at(n as usize);
        self.0 = rest;
        Ok(head)
    }

    /// Sizes that the parts of a statistic must have.
    pub(crate) fn check(&self, agree: bool) -> Result<()> {
        if agree { Ok(()) } else { Err(damaged()) }
    }

    /// Nothing may be left.
    pub fn end(&self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(damaged()) }
    }
}

fn damaged() -> Error {
    Error::format("the packed sums", "they are damaged or of another kind", "gather the shard again")
}
