//! Third moments of projections, unnormalised: their signs are those of the skewness.

use crate::error::Result;
use crate::num::{Block, Matrix, Plan, Real, Workspace, kernel};
use crate::stats::{Gather, Packer, Partial, Unpacker};

/// Sums over rows of the cubes of `(x - center) b`.
#[derive(Clone, Debug, PartialEq)]
pub struct Cubes {
    /// Number of rows, weighted.
    pub n: f64,
    /// A sum for each column of `b`.
    pub sums: Vec<f64>,
}

/// Gathers [`Cubes`].
#[derive(Clone, Debug)]
pub struct GatherCubes<T> {
    center: Vec<f64>,
    b: Matrix<T>,
}

impl<T: Real> GatherCubes<T> {
    /// For rows minus `center` projected on the columns of `b`, `m x k`.
    pub fn new(center: Vec<f64>, b: &Matrix<f64>) -> Self {
        Self { center, b: b.cast() }
    }
}

impl<T: Real> Gather<T> for GatherCubes<T> {
    type Part = Cubes;
    const KIND: &'static str = "cubes";

    fn plan(&self, n_features: usize) -> Plan {
        Plan::for_codes(n_features, self.b.cols())
    }

    fn width(&self) -> Option<usize> {
        Some(self.b.rows())
    }

    fn zero(&self, _: usize) -> Cubes {
        Cubes { n: 0.0, sums: vec![0.0; self.b.cols()] }
    }

    fn add(&self, part: &mut Cubes, block: Block<'_, T>, work: &mut Workspace<T>) {
        let (m, k) = (self.b.rows(), self.b.cols());
        let Workspace { rows, product, wide, .. } = work;
        let (centred, weights) = block.counted(Some(&self.center), rows, wide);
        let n = centred.len() / m;
        product.resize(n * k, T::default());
        kernel::product(product, centred, self.b.as_slice(), n, m, k);
        for (i, row) in product.chunks_exact(k.max(1)).enumerate() {
            let w = weights.map_or(1.0, |w| w[i]);
            part.n += w;
            part.sums.iter_mut().zip(row).for_each(|(s, y)| *s += w * y.to_f64().powi(3));
        }
    }

    fn pack(&self, out: &mut Packer) {
        out.numbers(&self.center);
        out.matrix_of(&self.b);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (center, b) = (from.numbers()?, from.matrix_of::<T>()?);
        from.check(center.len() == b.rows())?;
        Ok(Self { center, b })
    }
}

impl Partial for Cubes {
    fn merge(&mut self, right: Self) {
        if right.n == 0.0 {
            return;
        }
        if self.n == 0.0 {
            *self = right;
            return;
        }
        self.n += right.n;
        self.sums.iter_mut().zip(right.sums).for_each(|(a, b)| *a += b);
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        out.numbers(&self.sums);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self { n: from.number()?, sums: from.numbers()? })
    }

    fn bytes(&self) -> usize {
        8 * (1 + self.sums.len())
    }
}
