//! Application of a model to rows: codes, reconstructions, certificates.

use super::Model;
use super::code::{Encoded, RowMap, Unsolved};
use super::sparse::SparseEncoder;
use super::unencoded::Unencoded;
use crate::data::{Rows, Sink, Sparse, VecSink, Workspace};
use crate::error::{Error, Result, counted};
use crate::num::{Block, Real, widest};
use crate::run::Run;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How components are excluded from rows: the result.
#[derive(Clone, Copy)]
enum Excluding {
    /// The decoded codes of the other components.
    Decode,
    /// The rows, from which these components are subtracted.
    Subtract,
}

impl Model {
    /// Codes of `rows`, in order, in the type of the rows: `n_codes` numbers for each row. The bits of a code do not depend on the
    /// other rows.
    ///
    /// If the encoder iterates, rows that did not reach its tolerance are encoded as well, and their number is returned.
    ///
    /// # Errors
    ///
    /// Rows of another width; numbers that are not finite, except NaN in dense rows if the encoder accepts missing cells; errors of the source.
    pub fn encode<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<T>,
    ) -> Result<Encoded> {
        self.check_columns("encode", rows)?;
        let encoder = self.code.encoder();
        if let (Some(sparse), Some((mean, matrix))) = (rows.sparse(), encoder.linear()) {
            if let Some((row, column, x)) = sparse.first_not_finite() {
                // The map of sparse rows has no posteriors of the observed cells, which that of dense rows has.
                return Err(match x.is_nan() && encoder.codes().missing {
                    true => {
                        let remedy = "make the rows dense, or leave such rows out";
                        rows.gap_of_sparse("encoding", row, column, remedy)
                    }
                    false => rows.not_finite_at("encoding", row, column, x),
                });
            }
            let n_rows = SparseEncoder::new::<T>(mean, matrix).apply(sparse, run, "encoding", sink)?;
            return Ok(Encoded::solved(n_rows));
        }
        if let Some(sparse) = rows.sparse().filter(|_| encoder.codes().stored) {
            let n_rows = self.encode_cells(sparse, rows, run, sink)?;
            return Ok(Encoded::solved(n_rows));
        }
        let coder = ModelEncoder::of(self);
        let step = |block: Block<'_, T>, out: &mut [T], work: &mut Workspace<T>| {
            coder.check("encoding", rows, &block)?;
            coder.encode(&block, out, work);
            Ok(())
        };
        let n_rows = rows.map(run, "encoding", self.n_codes(), step, sink)?;
        Ok(coder.encoded(n_rows))
    }

    /// Codes of sparse rows whose observed cells are the stored entries.
    fn encode_cells<T: Real>(
        &self,
        sparse: &Sparse<'_, T>,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<T>,
    ) -> Result<u64> {
        if let Some((row, column, x)) = sparse.first_not_finite() {
            return Err(rows.not_finite_at("encoding", row, column, x));
        }
        let (encoder, k) = (self.code.encoder(), self.n_codes());
        let row = |i: usize, out: &mut [T]| {
            let (columns, values) = sparse.row(i);
            let values: Vec<f64> = values.iter().map(|x| x.to_f64()).collect();
            let mut code = vec![0.0; k];
            encoder.of_cells(columns, &values, &mut code);
            out.iter_mut().zip(&code).for_each(|(to, z)| *to = T::from_f64(*z));
        };
        sparse.map(run, "encoding", k, row, sink)
    }

    /// Sparse rows as rows with missing cells, if the encoder interprets stored entries as the observed cells.
    pub(super) fn cells_of<'r, T: Real>(&self, rows: &'r Rows<'_, T>) -> Option<Rows<'r, T>> {
        if self.code.codes().stored { rows.as_cells() } else { None }
    }

    /// Replaces the missing cells (NaN) of rows by those of their reconstruction, and adds their number to `filled`, that of rows without an observed
    /// cell to `unseen`; observed cells are unchanged.
    pub(crate) fn fill<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        (filled, unseen): (&AtomicU64, &AtomicU64),
        run: &Run<'_>,
        sink: &mut dyn Sink<f64>,
    ) -> Result<u64> {
        let (coder, decoder) = (ModelEncoder::of(self), self.code.decode_map::<T>("filling cells")?);
        let step = |block: Block<'_, T>, out: &mut [f64], work: &mut Workspace<T>| {
            coder.check("imputing", rows, &block)?;
            filled.fetch_add(block.n_missing(), Relaxed);
            let n = block.n_rows();
            let mut codes = vec![T::default(); n * self.n_codes()];
            let mut back = vec![T::default(); n * self.n_features];
            coder.map.apply(block.data, &mut codes, work);
            decoder.apply(&codes, &mut back, work);
            for ((out, x), fill) in out.iter_mut().zip(block.data).zip(&back) {
                *out = if x.to_f64().is_nan() { fill.to_f64() } else { x.to_f64() };
            }
            Ok(())
        };
        let n_rows = rows.map(run, "imputing", self.n_features, step, sink)?;
        unseen.fetch_add(coder.unseen.load(Relaxed), Relaxed);
        Ok(n_rows)
    }

    /// Reconstructs rows from `codes`, in order.
    ///
    /// # Errors
    ///
    /// A model without a decoder; codes of another width; numbers that are not finite; errors of the source.
    pub fn decode<T: Real>(&self, codes: &Rows<'_, T>, run: &Run<'_>, sink: &mut dyn Sink<T>) -> Result<u64> {
        let decoder = self.code.decode_map::<T>("decoding")?;
        self.check_width("decode", codes.n_features(), self.n_codes(), codes.origin())?;
        let step = |block: Block<'_, T>, out: &mut [T], work: &mut Workspace<T>| {
            codes.check_finite("decoding", &block)?;
            decoder.apply(block.data, out, work);
            Ok(())
        };
        codes.map(run, "decoding", self.n_features, step, sink)
    }

    /// `decode(encode(rows))`, in one pass; for a matrix completion with the offset of each row, which codes do not hold: the conditional
    /// means of all cells given the observed ones.
    ///
    /// # Errors
    ///
    /// As for [`encode`](Self::encode); a model without a decoder.
    pub fn reconstruct<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<T>,
    ) -> Result<Encoded> {
        self.reconstruct_without(&[], rows, run, sink)
    }

    /// [`reconstruct`](Self::reconstruct) with the codes of some components set to 0.
    ///
    /// # Errors
    ///
    /// As for `reconstruct`; a component that does not exist.
    pub fn reconstruct_without<T: Real>(
        &self,
        exclude: &[usize],
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<T>,
    ) -> Result<Encoded> {
        self.through_codes(exclude, Excluding::Decode, rows, run, sink)
    }

    /// Rows without the contribution of some components, `x - (decode(z) - decode(z'))`: `z` is the code of `x`, and `z'` the same with
    /// the codes of these components set to 0. All else is unchanged, including what no component explains; missing cells stay missing.
    ///
    /// Of a linear decoder `z M' + mean` that is `x - z[exclude] M[:, exclude]'`.
    ///
    /// # Errors
    ///
    /// As for [`reconstruct_without`](Self::reconstruct_without).
    pub fn remove<T: Real>(
        &self,
        exclude: &[usize],
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<T>,
    ) -> Result<Encoded> {
        self.through_codes(exclude, Excluding::Subtract, rows, run, sink)
    }

    /// Decoded codes without the components `exclude`; or the rows minus the difference that these components make to the decoded rows.
    fn through_codes<T: Real>(
        &self,
        exclude: &[usize],
        how: Excluding,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<T>,
    ) -> Result<Encoded> {
        let k = self.n_codes();
        if let Some(c) = exclude.iter().find(|&&c| c >= k) {
            let why = format!("the model has {}, numbered from 0", counted(k as u64, "component"));
            return Err(Error::setting("exclude", c, why, "choose components of the model"));
        }
        self.check_columns("reconstruct", rows)?;
        let cells = self.cells_of(rows);
        let rows = cells.as_ref().unwrap_or(rows);
        let (coder, decoder) = (ModelEncoder::of(self), self.code.decode_map::<T>("reconstructing rows")?);
        let unencoded = Unencoded::of(self);
        let step = |block: Block<'_, T>, out: &mut [T], work: &mut Workspace<T>| {
            coder.check("reconstructing rows", rows, &block)?;
            let mut codes = vec![T::default(); block.n_rows() * k];
            let means = unencoded.as_ref().map(|unencoded| unencoded.encode(block.data, &mut codes));
            if means.is_none() {
                coder.encode(&block, &mut codes, work);
            }
            let subtract = matches!(how, Excluding::Subtract);
            let mut whole = vec![T::default(); if subtract { out.len() } else { 0 }];
            if subtract {
                decoder.apply(&codes, &mut whole, work);
            }
            for code in codes.chunks_exact_mut(k.max(1)) {
                exclude.iter().for_each(|&c| code[c] = T::default());
            }
            decoder.apply(&codes, out, work);
            if let (Some(unencoded), Some(means), false) = (&unencoded, &means, subtract) {
                unencoded.add(means, out);
            }
            for ((out, x), whole) in out.iter_mut().zip(block.data).zip(&whole) {
                *out = T::from_f64(x.to_f64() - (whole.to_f64() - out.to_f64()));
            }
            Ok(())
        };
        let n_rows = rows.map(run, "reconstructing", self.n_features, step, sink)?;
        Ok(coder.encoded(n_rows))
    }

    /// Convergence measure of the code of every row: one number for each row, the quantity of [`Certificate`](super::Certificate).
    ///
    /// # Errors
    ///
    /// As for [`encode`](Self::encode); an encoder that does not iterate.
    pub fn certificates<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<f64>,
    ) -> Result<u64> {
        self.check_columns("certificates of codes", rows)?;
        if self.code.encoder().certificate().is_none() {
            return Err(Error::unsupported(
                format!("certificates of the codes of the {} model", self.method.key),
                "its codes have a closed form, without iterations",
                "encode the rows",
            )
            .of_method(self.method.key));
        }
        let (coder, k) = (ModelEncoder::of(self), self.n_codes());
        let step = |block: Block<'_, T>, out: &mut [f64], work: &mut Workspace<T>| {
            coder.check("computing certificates", rows, &block)?;
            let mut codes = vec![T::default(); block.n_rows() * k];
            coder.map.certified(block.data, &mut codes, out, work);
            Ok(())
        };
        rows.map(run, "encoding", 1, step, sink)
    }

    /// [`encode`](Self::encode) into memory.
    ///
    /// # Errors
    ///
    /// As for `encode`.
    pub fn encode_to_vec<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Vec<T>> {
        let mut sink = VecSink(Vec::new());
        self.encode(rows, run, &mut sink)?;
        Ok(sink.0)
    }

    /// [`decode`](Self::decode) into memory.
    ///
    /// # Errors
    ///
    /// As for `decode`.
    pub fn decode_to_vec<T: Real>(&self, codes: &Rows<'_, T>, run: &Run<'_>) -> Result<Vec<T>> {
        let mut sink = VecSink(Vec::new());
        self.decode(codes, run, &mut sink)?;
        Ok(sink.0)
    }

    /// Refuses rows of another number of columns than those of the fit, with a hint if they are transposed.
    pub(crate) fn check_columns<T: Real>(&self, what: &str, rows: &Rows<'_, T>) -> Result<()> {
        let (got, need, origin) = (rows.n_features(), self.n_features, rows.origin());
        if got != need && rows.n_rows() == Some(need as u64) {
            let remedy = format!(
                "{origin} has {}: if these are the columns of the fit, transpose it first",
                counted(need as u64, "row")
            );
            return Err(Error::Width { what: what.into(), need, got, remedy });
        }
        self.check_width(what, got, need, origin)
    }

    pub(crate) fn check_width(&self, what: &str, got: usize, need: usize, origin: &str) -> Result<()> {
        if got == need {
            return Ok(());
        }
        let remedy = match what {
            "decode" => format!("give codes of this model; {origin} is not that"),
            _ => format!("choose the columns of {origin} that the model was fitted on"),
        };
        Err(Error::Width { what: what.into(), need, got, remedy })
    }
}

/// The encoder of a model for rows of one type, the rows for which it did not converge, and those without an observed cell.
pub(super) struct ModelEncoder<'m, T> {
    model: &'m Model,
    pub(super) map: Box<dyn RowMap<T>>,
    unsolved: Mutex<Option<Unsolved>>,
    unseen: AtomicU64,
}

impl<'m, T: Real> ModelEncoder<'m, T> {
    pub(super) fn of(model: &'m Model) -> Self {
        Self { model, map: model.code.encode_map(), unsolved: Mutex::new(None), unseen: 0.into() }
    }

    /// Refuses numbers that are not finite, except NaN that represents a missing cell; counts rows without an observed cell.
    pub(super) fn check(&self, stage: &str, rows: &Rows<'_, T>, block: &Block<'_, T>) -> Result<()> {
        let codes = self.model.code.codes();
        match codes.missing {
            true => rows.check_infinite(stage, block)?,
            false => rows.check_finite(stage, block)?,
        }
        if codes.missing && codes.sparse && block.n_features > 0 {
            let unseen = block.rows().filter(|row| row.iter().all(|x| x.to_f64().is_nan())).count();
            self.unseen.fetch_add(unseen as u64, Relaxed);
        }
        match self.model.code.encoder().least_cells() {
            0 => Ok(()),
            least => rows.check_cells(block, least),
        }
    }

    pub(super) fn encode(&self, block: &Block<'_, T>, out: &mut [T], work: &mut Workspace<T>) {
        let Some(certificate) = self.model.code.encoder().certificate() else {
            return self.map.apply(block.data, out, work);
        };
        let mut gaps = vec![0.0; block.n_rows()];
        self.map.certified(block.data, out, &mut gaps, work);
        if let Some(found) = Unsolved::among(certificate, block.first_row, &gaps) {
            let mut all = self.unsolved.lock().unwrap_or_else(|e| e.into_inner());
            *all = Some(match all.take() {
                None => found,
                Some(others) => others.merged(found),
            });
        }
    }

    /// The result for `n_rows` rows.
    fn encoded(self, n_rows: u64) -> Encoded {
        let unsolved = self.unsolved.into_inner().unwrap_or_else(|e| e.into_inner());
        Encoded { n_rows, unsolved, unseen: self.unseen.into_inner() }
    }
}

impl<T: Real> Rows<'_, T> {
    /// An error that names the first number of the block that is not finite.
    pub(crate) fn check_finite(&self, what: &str, block: &Block<'_, T>) -> Result<()> {
        if widest(
            #[inline(always)]
            || block.data.iter().fold(true, |all, x| all & x.finite()),
        ) {
            return Ok(());
        }
        self.check_each(what, block, |x| x.finite())
    }

    /// An error that names the first infinite number of the block; NaN is a missing cell.
    pub(crate) fn check_infinite(&self, what: &str, block: &Block<'_, T>) -> Result<()> {
        self.check_each(what, block, |x| x.finite() || x.to_f64().is_nan())
    }

    /// An error that names the first row with missing cells that has fewer than `least` observed cells.
    fn check_cells(&self, block: &Block<'_, T>, least: usize) -> Result<()> {
        let p = block.n_features;
        let cells = |row: &[T]| row.iter().filter(|x| !x.to_f64().is_nan()).count();
        let few = block.rows().map(cells).position(|cells| cells < least.min(p));
        few.map_or(Ok(()), |i| {
            let number = self.number_of(block.first_row + i as u64);
            Err(Error::unsupported(
                format!("the code of row {number} of {}", self.origin()),
                format!(
                    "the row has {}, and scores='bartlett' needs one for each of the {least} factors",
                    counted(cells(&block.data[i * p..(i + 1) * p]) as u64, "observed cell")
                ),
                "leave the row out, or fit with scores='regression'",
            )
            .with_numbers(least, cells(&block.data[i * p..(i + 1) * p]))
            .with(|d| d.row = Some(number)))
        })
    }

    fn check_each(&self, what: &str, block: &Block<'_, T>, is_right: impl Fn(T) -> bool) -> Result<()> {
        let Some(at) = block.data.iter().position(|x| !is_right(*x)) else { return Ok(()) };
        let column = at % block.n_features;
        let row = block.first_row + (at / block.n_features) as u64;
        Err(self.not_finite_at(what, row, column, block.data[at].to_f64()))
    }
}
