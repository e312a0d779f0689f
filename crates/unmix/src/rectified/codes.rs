//! The pass of an iteration: rectified posterior means of every row, and their cross products with each other and with the rows.
//!
//! ```text
//! H = max(0, (X - center) B + bias)      cross = (X - center)' H      moments = H' H
//! ```
//!
//! Scaling the units to second moment 1 multiplies columns of `H`, so it is applied to the sums after the pass, and the codes are never
//! stored. A row of weight `w` is multiplied by `sqrt(w)`.

use super::corruption::{Corruption, DropoutPlace};
use crate::error::Result;
use crate::num::{Block, Matrix, Plan, Real, Stored, Workspace, kernel, parallel, widest};
use crate::stats::{AddStored, Gather, Packer, Partial, Unpacker};

/// Sums over rows of their unscaled codes `h`.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeSums {
    /// Number of rows, weighted.
    pub n: f64,
    /// `sum h_j²` before dropout, if that is not the diagonal of `moments`; else empty.
    pub squares: Vec<f64>,
    /// `sum h_j` after dropout, if requested; else empty.
    pub sums: Vec<f64>,
    /// `sum (x - center) h'`, `m x l`.
    pub cross: Matrix<f64>,
    /// `sum h h'`, `l x l`, the lower triangle.
    pub moments: Matrix<f64>,
    /// For each unit the largest number before rectification, times the square root of the weight, and its row, the first in case of
    /// ties; if requested.
    pub largest: Vec<(f64, u64)>,
}

/// Gathers [`CodeSums`].
#[derive(Clone, Debug)]
pub struct GatherCodes<T> {
    /// Offset that is subtracted from rows, `m`.
    center: Vec<f64>,
    /// `B`, `m x l`, in the type of the rows.
    b: Matrix<T>,
    /// Bias that is added to codes before rectification, `l`.
    bias: Vec<f64>,
    /// Whether `sums` are requested.
    with_sums: bool,
    /// Whether `largest` is requested.
    with_largest: bool,
    corruption: Corruption,
}

impl<T: Real> GatherCodes<T> {
    /// For codes `max(0, (x - center) b + bias)`.
    pub fn new(center: Vec<f64>, b: &Matrix<f64>, bias: Vec<f64>) -> Self {
        let with_sums = bias.iter().any(|x| *x != 0.0);
        let corruption = Corruption::default();
        Self { center, b: b.cast(), bias, with_sums, with_largest: false, corruption }
    }

    /// Requests the sums of the codes.
    pub fn with_sums(self) -> Self {
        Self { with_sums: true, ..self }
    }

    /// Requests the row of the largest number of each unit.
    pub fn with_largest(self) -> Self {
        Self { with_largest: true, ..self }
    }

    /// With dropout or input noise.
    pub fn corrupted(self, corruption: Corruption) -> Self {
        Self { corruption, ..self }
    }

    fn n_units(&self) -> usize {
        self.b.cols()
    }

    fn place(&self) -> Option<DropoutPlace> {
        self.corruption.dropout.map(|d| d.place)
    }

    /// The sum over no rows.
    pub fn empty(&self) -> CodeSums {
        let (m, l) = (self.b.rows(), self.n_units());
        let after = self.place() == Some(DropoutPlace::After);
        CodeSums {
            n: 0.0,
            squares: if after { vec![0.0; l] } else { Vec::new() },
            sums: if self.with_sums { vec![0.0; l] } else { Vec::new() },
            cross: Matrix::zeros(m, l),
            moments: Matrix::zeros(l, l),
            largest: if self.with_largest { vec![(f64::NEG_INFINITY, 0); l] } else { Vec::new() },
        }
    }

    /// Adds rows, row-major, whose indices in the data are `row(0)`, `row(1)` and so on. `O(n l (2 m + l))`.
    pub fn add_rows(
        &self,
        part: &mut CodeSums,
        data: &[T],
        weights: Option<&[f64]>,
        row: impl Fn(usize) -> u64,
        work: &mut Workspace<T>,
    ) {
        let (m, l) = (self.b.rows(), self.n_units());
        let Workspace { rows, product, nonlinear, coordinates, wide } = work;
        let counted: Vec<usize> = match weights {
            None => (0..data.len() / m).collect(),
            Some(w) => (0..w.len()).filter(|&i| w[i] > 0.0).collect(),
        };
        let n = counted.len();
        if n == 0 {
            return;
        }
        kernel::centre(data, weights, &self.center, rows);
        product.resize(n * l, T::default());
        if self.corruption.noise.is_some() {
            let mut noisy = vec![T::default(); data.len()];
            for (i, (x, out)) in data.chunks_exact(m).zip(noisy.chunks_exact_mut(m)).enumerate() {
                self.corruption.corrupt(row(i), x, out);
            }
            kernel::centre(&noisy, weights, &self.center, coordinates);
            multiply(product, coordinates, self.b.as_slice(), [n, m, l]);
        } else {
            multiply(product, rows, self.b.as_slice(), [n, m, l]);
        }
        let root = |i: usize| weights.map_or(1.0, |w| w[counted[i]].sqrt());
        self.rectify(part, product, root, |i| row(counted[i]));
        if self.place().is_some() {
            if self.place() == Some(DropoutPlace::After) {
                for codes in product.chunks_exact(l) {
                    let own = part.squares.iter_mut().zip(codes);
                    own.for_each(|(s, h)| *s += h.to_f64() * h.to_f64());
                }
            }
            for (i, codes) in product.chunks_exact_mut(l).enumerate() {
                self.corruption.drop_codes(row(counted[i]), codes);
            }
        }
        if self.with_sums {
            for (i, codes) in product.chunks_exact(l).enumerate() {
                let root = root(i);
                part.sums.iter_mut().zip(codes).for_each(|(s, h)| *s += root * h.to_f64());
            }
        }
        add_products(part, rows, product, [n, m, l], (nonlinear, wide));
        part.n += weights.map_or(n as f64, |w| w.iter().sum());
    }

    /// Adds the bias and rectifies.
    fn rectify(
        &self,
        part: &mut CodeSums,
        codes: &mut [T],
        root: impl Fn(usize) -> f64,
        row: impl Fn(usize) -> u64,
    ) {
        let l = self.n_units();
        if self.bias.iter().any(|x| *x != 0.0) {
            for (i, codes) in codes.chunks_exact_mut(l).enumerate() {
                let root = root(i);
                codes.iter_mut().zip(&self.bias).for_each(|(h, b)| *h = T::from_f64(h.to_f64() + root * b));
            }
        }
        if self.with_largest {
            for (i, codes) in codes.chunks_exact(l).enumerate() {
                for (best, h) in part.largest.iter_mut().zip(codes) {
                    if h.to_f64() > best.0 {
                        *best = (h.to_f64(), row(i));
                    }
                }
            }
        }
        let zero = T::default();
        widest(
            #[inline(always)]
            || codes.iter_mut().for_each(|h| *h = if *h > zero { *h } else { zero }),
        );
    }
}

/// Number of entries of `B` from which the products of the linear-algebra library are faster than those of this crate, which are for narrow
/// tables. They are divided into parts, which threads without a shard of their own take: of wide rows there are few shards.
const LIBRARY_FROM_ENTRIES: usize = 1 << 16;
/// Rows of the result of a wide product in a part: enough that packing the other factor for each part costs little.
const ROWS_PER_PART: usize = 512;

/// `out = a b` for `a` of `n x m` and `b` of `m x l`: `[n, m, l]`.
pub(super) fn multiply<T: Real>(out: &mut [T], a: &[T], b: &[T], [n, m, l]: [usize; 3]) {
    if m * l < LIBRARY_FROM_ENTRIES {
        return kernel::product(out, a, b, n, m, l);
    }
    let parts = out.chunks_mut(ROWS_PER_PART * l).zip(a.chunks(ROWS_PER_PART * m));
    parallel::each(parts, |(out, a)| kernel::product_of_few(out, a, b, [a.len() / m, m, l]));
}

/// Adds the cross products of `n` codes with each other and with their centred rows: `[n, m, l]`.
pub(super) fn add_products<T: Real>(
    part: &mut CodeSums,
    rows: &[T],
    codes: &[T],
    [n, m, l]: [usize; 3],
    (packed, zeros): (&mut Vec<T>, &mut Vec<f64>),
) {
    match m * l >= LIBRARY_FROM_ENTRIES {
        true => kernel::add_cross_wide(part.cross.as_mut_slice(), rows, codes, [n, m, l], packed),
        false => kernel::add_cross(part.cross.as_mut_slice(), rows, codes, n, m, l),
    }
    zeros.clear();
    zeros.resize(l, 0.0);
    let (packed, _) = kernel::pack_centred(codes, None, (zeros, zeros), None, packed);
    kernel::add_gram(part.moments.as_mut_slice(), packed, n, l);
}

impl<T: Real> Gather<T> for GatherCodes<T> {
    type Part = CodeSums;
    const KIND: &'static str = "rectified codes";

    fn plan(&self, n_features: usize) -> Plan {
        Plan::for_codes(n_features, self.n_units())
    }

    fn width(&self) -> Option<usize> {
        Some(self.b.rows())
    }

    fn zero(&self, _: usize) -> CodeSums {
        self.empty()
    }

    fn stored(&self) -> Option<&dyn AddStored<T, CodeSums>> {
        // Noise makes every entry non-zero.
        self.corruption.noise.is_none().then_some(self)
    }

    fn add(&self, part: &mut CodeSums, block: Block<'_, T>, work: &mut Workspace<T>) {
        self.add_rows(part, block.data, block.weights, |i| block.first_row + i as u64, work);
    }

    fn pack(&self, out: &mut Packer) {
        out.numbers(&self.center);
        out.matrix_of(&self.b);
        out.numbers(&self.bias);
        out.count(u64::from(self.with_sums));
        out.count(u64::from(self.with_largest));
        self.corruption.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (center, b, bias) = (from.numbers()?, from.matrix_of::<T>()?, from.numbers()?);
        let (with_sums, with_largest, corruption) = (from.flag()?, from.flag()?, Corruption::unpack(from)?);
        from.check(center.len() == b.rows() && bias.len() == b.cols())?;
        Ok(Self { center, b, bias, with_sums, with_largest, corruption })
    }
}

/// Number of sparse rows whose codes are computed at a time.
const SPARSE_ROWS_PER_BLOCK: usize = 2048;

impl<T: Real> AddStored<T, CodeSums> for GatherCodes<T> {
    /// Codes from the stored entries, in double precision: `center B` is subtracted from the bias, and `center` times the sums of the codes
    /// from the cross products, so that entries that are not stored remain zeros.
    fn add_stored(&self, part: &mut CodeSums, shard: &Stored<'_, T>) -> Result<()> {
        let (m, l) = (self.b.rows(), self.n_units());
        let b: Matrix<f64> = self.b.cast();
        let mut bias = self.bias.clone();
        for (k, c) in self.center.iter().enumerate().filter(|(_, c)| **c != 0.0) {
            bias.iter_mut().zip(b.row(k)).for_each(|(x, b)| *x -= c * b);
        }
        let about = Self { with_sums: true, ..self.clone() };
        let mut own = about.empty();
        let rows = shard.rows();
        for start in rows.clone().step_by(SPARSE_ROWS_PER_BLOCK) {
            let some = start..(start + SPARSE_ROWS_PER_BLOCK).min(rows.end);
            let codes = self.stored_codes(shard, some.clone(), (&b, &bias), &mut own)?;
            shard.fill(own.cross.as_mut_slice(), l, |k, out| {
                let (at, values) = shard.column_within(k, some.clone());
                for (&i, x) in at.iter().zip(values) {
                    let i = i as usize;
                    let w = shard.weights().map_or(1.0, |w| w[i]).sqrt() * x.to_f64();
                    out.iter_mut().zip(codes.row(i - start)).for_each(|(t, h)| *t += w * h);
                }
            })?;
            shard.fill(own.moments.as_mut_slice(), l, |j, out| {
                for i in 0..codes.rows() {
                    let code = codes.row(i);
                    if code[j] != 0.0 {
                        out[..=j].iter_mut().zip(code).for_each(|(t, h)| *t += code[j] * h);
                    }
                }
            })?;
        }
        for k in 0..m {
            let c = self.center[k];
            if c != 0.0 {
                own.cross.row_mut(k).iter_mut().zip(&own.sums).for_each(|(t, s)| *t -= c * s);
            }
        }
        if !self.with_sums {
            own.sums.clear();
        }
        part.merge(own);
        Ok(())
    }
}

impl<T: Real> GatherCodes<T> {
    /// Codes of rows `some` of a shard, each times the square root of its weight; adds the sums that need no products.
    fn stored_codes(
        &self,
        shard: &Stored<'_, T>,
        some: std::ops::Range<usize>,
        (b, bias): (&Matrix<f64>, &[f64]),
        own: &mut CodeSums,
    ) -> Result<Matrix<f64>> {
        let (l, start, zero) = (self.n_units(), some.start, 0.0);
        let weight = |i: usize| shard.weights().map_or(1.0, |w| w[i]);
        let mut codes = Matrix::zeros(some.len(), l);
        shard.fill(codes.as_mut_slice(), l, |i, out| {
            let root = weight(start + i).sqrt();
            if root == 0.0 {
                return;
            }
            out.copy_from_slice(bias);
            let (columns, values) = shard.row(start + i);
            for (&k, x) in columns.iter().zip(values) {
                let x = x.to_f64();
                out.iter_mut().zip(b.row(k as usize)).for_each(|(h, b)| *h += x * b);
            }
            out.iter_mut().for_each(|h| *h *= root);
        })?;
        for i in 0..some.len() {
            let (w, number) = (weight(start + i), shard.number(start + i));
            if w == 0.0 {
                continue;
            }
            own.n += w;
            for (best, h) in own.largest.iter_mut().zip(codes.row(i)) {
                if *h > best.0 {
                    *best = (*h, number);
                }
            }
            let code = codes.row_mut(i);
            code.iter_mut().for_each(|h| *h = if *h > zero { *h } else { zero });
            own.squares.iter_mut().zip(&*code).for_each(|(s, h)| *s += h * h);
            self.corruption.drop_codes(number, code);
            own.sums.iter_mut().zip(&*code).for_each(|(s, h)| *s += w.sqrt() * h);
        }
        Ok(codes)
    }
}

impl Partial for CodeSums {
    fn merge(&mut self, right: Self) {
        if right.n == 0.0 {
            return;
        }
        if self.n == 0.0 {
            *self = right;
            return;
        }
        self.n += right.n;
        let pairs = [
            (&mut self.squares[..], &right.squares[..]),
            (&mut self.sums[..], &right.sums[..]),
            (self.cross.as_mut_slice(), right.cross.as_slice()),
            (self.moments.as_mut_slice(), right.moments.as_slice()),
        ];
        for (left, right) in pairs {
            left.iter_mut().zip(right).for_each(|(a, b)| *a += b);
        }
        for (left, right) in self.largest.iter_mut().zip(right.largest) {
            if right.0 > left.0 {
                *left = right;
            }
        }
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        out.numbers(&self.squares);
        out.numbers(&self.sums);
        out.matrix(&self.cross);
        out.matrix(&self.moments);
        out.numbers(&self.largest.iter().map(|x| x.0).collect::<Vec<f64>>());
        self.largest.iter().for_each(|x| out.count(x.1));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (n, squares, sums) = (from.number()?, from.numbers()?, from.numbers()?);
        let (cross, moments, values) = (from.matrix()?, from.matrix()?, from.numbers()?);
        let largest = values.into_iter().map(|x| Ok((x, from.count()?))).collect::<Result<Vec<_>>>()?;
        let l = cross.cols();
        let right = |len: usize| len == 0 || len == l;
        from.check([moments.rows(), moments.cols()] == [l; 2])?;
        from.check([squares.len(), sums.len(), largest.len()].into_iter().all(right))?;
        Ok(Self { n, squares, sums, cross, moments, largest })
    }

    fn bytes(&self) -> usize {
        let numbers = self.squares.len() + self.sums.len() + 2 * self.largest.len();
        8 * (1 + numbers + self.cross.as_slice().len() + self.moments.as_slice().len())
    }
}
