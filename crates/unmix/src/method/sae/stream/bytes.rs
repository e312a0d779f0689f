//! Bytes as a tensor of numbers.

use crate::model::Tensor;
use crate::num::Dtype;

/// Bytes in one number of double precision: as many as it represents exactly.
const BYTES_PER_NUMBER: usize = 6;

/// Encodes bytes as numbers in double precision: first their count.
pub(super) fn packed(bytes: &[u8]) -> Tensor {
    let number = |six: &[u8]| six.iter().rev().fold(0u64, |sum, byte| (sum << 8) | u64::from(*byte)) as f64;
    let numbers: Vec<f64> =
        std::iter::once(bytes.len() as f64).chain(bytes.chunks(BYTES_PER_NUMBER).map(number)).collect();
    Tensor::vector(&numbers, Dtype::F64)
}

/// Inverse of [`packed`]; `None` if numbers are missing.
pub(super) fn unpacked(tensor: &Tensor) -> Option<Vec<u8>> {
    let numbers = tensor.f64s();
    let (len, rest) = numbers.split_first()?;
    let mut out: Vec<u8> =
        rest.iter().flat_map(|x| (*x as u64).to_le_bytes().into_iter().take(BYTES_PER_NUMBER)).collect();
    if out.len() < *len as usize {
        return None;
    }
    out.truncate(*len as usize);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_restored_from_numbers() {
        for len in [0, 1, 5, 6, 7, 61] {
            let bytes: Vec<u8> = (0..len).map(|i| (i * 37 + 200) as u8).collect();
            assert_eq!(unpacked(&packed(&bytes)), Some(bytes));
        }
        assert_eq!(unpacked(&Tensor::vector(&[9.0, 1.0], Dtype::F64)), None);
    }
}
