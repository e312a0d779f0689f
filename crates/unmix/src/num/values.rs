//! Numbers of either type.

use super::Dtype;

/// Numbers whose type is known at run time only.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
}

impl Values {
    /// Number of entries.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(v) => v.len(),
            Values::F64(v) => v.len(),
        }
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Type of the entries.
    pub fn dtype(&self) -> Dtype {
        match self {
            Values::F32(_) => Dtype::F32,
            Values::F64(_) => Dtype::F64,
        }
    }

    pub(crate) fn first_not_finite(&self) -> Option<usize> {
        match self {
            Values::F32(v) => v.iter().position(|x| !x.is_finite()),
            Values::F64(v) => v.iter().position(|x| !x.is_finite()),
        }
    }

    pub(crate) fn to_le_bytes(&self) -> Vec<u8> {
        match self {
            Values::F32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Values::F64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }
}
