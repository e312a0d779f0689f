//! Rows from a `.npy` file, and answers into one.

use std::fs;
use std::path::Path;

use crate::job::Outcome;

/// Numbers that a file may hold.
pub trait Real: Copy + From<u8> + Into<f64> {}

impl Real for f32 {}
impl Real for f64 {}

/// `n` rows of `p` numbers, one row after the other.
pub struct Rows<T> {
    pub n: usize,
    pub p: usize,
    pub values: Vec<T>,
}

pub enum Table {
    F32(Rows<f32>),
    F64(Rows<f64>),
}

/// Reads a file as `numpy.save` writes one, rows first.
pub fn read(path: &Path) -> Outcome<Table> {
    let bytes = fs::read(path)?;
    let wide = bytes.starts_with(b"\x93NUMPY\x01");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    if !wide {
        return Err("no file of numpy's first format".into());
    }
    let header = std::str::from_utf8(&bytes[10..start])?;
    if !header.contains("'fortran_order': False") {
        return Err("columns first".into());
    }
    let shape =
        header.split_once("'shape': (").and_then(|(_, rest)| rest.split_once(')')).ok_or("no shape")?.0;
    let [n, p] = shape.split(',').map(|s| s.trim().parse()).collect::<Result<Vec<usize>, _>>()?[..] else {
        return Err("not two axes".into());
    };
    let numbers = &bytes[start..];
    if header.contains("'<f4'") {
        let values = numbers.as_chunks().0.iter().map(|&c| f32::from_le_bytes(c)).collect();
        Ok(Table::F32(Rows { n, p, values }))
    } else if header.contains("'<f8'") {
        let values = numbers.as_chunks().0.iter().map(|&c| f64::from_le_bytes(c)).collect();
        Ok(Table::F64(Rows { n, p, values }))
    } else {
        Err("neither f32 nor f64".into())
    }
}

/// Writes rows in double precision.
pub fn write(path: &Path, rows: &Rows<f64>) -> Outcome<()> {
    let shape = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows.n, rows.p);
    let length = (10 + shape.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(length)?.to_le_bytes());
    bytes.extend(format!("{shape:<width$}\n", width = length - 1).as_bytes());
    bytes.extend(rows.values.iter().flat_map(|v| v.to_le_bytes()));
    Ok(fs::write(path, bytes)?)
}
