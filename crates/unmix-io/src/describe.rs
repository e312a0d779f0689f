//! Statistics of an input and of each of its columns, in one sweep.

mod missing;
mod wide;

pub(crate) use missing::missing;

use crate::Input;
use serde::Serialize;
use unmix::data::{Sparse, Workspace};
use unmix::internal::num::Block;
use unmix::stats::{Gather, Packer, Partial, Unpacker};
use unmix::{Real, Result, Rows, Run, with_rows};

/// Description of an input. Missing and infinite cells are counted; all other statistics are of the finite
/// cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Description {
    /// Format, as in "npy" or "csv.gz".
    pub format: String,
    /// How numbers are stored, as in "uint8" or "text".
    pub stored: String,
    /// The type that they are computed in, "float32" or "float64".
    pub dtype: &'static str,
    /// Length of every axis as stored.
    pub shape: Vec<Option<u64>>,
    /// Number of rows.
    pub n_rows: u64,
    /// Number of features.
    pub n_features: usize,
    /// Shape of one sample, when it has more than one axis.
    pub feature_shape: Option<Vec<usize>>,
    /// Cells that are NaN or, in text, missing.
    pub missing: u64,
    /// Cells that are infinite.
    pub infinite: u64,
    /// Cells of a text file that are neither numbers nor missing.
    pub text: u64,
    /// Those of them that are numbers with a decimal comma.
    pub decimal_commas: u64,
    /// Whether commas separate the cells of the text: those within cells are then separators of thousands, or decimal marks that cannot be
    /// read as such.
    #[serde(skip)]
    pub commas_separate: bool,
    /// Rows with a cell that is missing, infinite or text.
    pub incomplete_rows: u64,
    /// Columns whose cells are all finite and equal.
    pub constant: usize,
    /// Minimum of the finite cells.
    pub min: Option<f64>,
    /// Maximum of the finite cells.
    pub max: Option<f64>,
    /// Mean of the finite cells.
    pub mean: Option<f64>,
    /// Standard deviation of the finite cells about that mean, with their number as divisor.
    pub std: Option<f64>,
    /// The columns, in order; empty where there are more than 65,536 without names, such as pixels of a photograph.
    pub columns: Vec<Column>,
    /// Notes for the user about how it was read, in sentences.
    pub notes: Vec<String>,
}

/// Maximum number of unnamed columns that are described one by one.
const MOST_LISTED_COLUMNS: usize = 1 << 16;

/// Description of one column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Column {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Cells that are NaN or, in text, missing.
    pub missing: u64,
    /// Cells that are infinite.
    pub infinite: u64,
    /// Cells of a text file that are neither numbers nor missing.
    pub text: u64,
    /// Minimum of the finite cells; this and the next three are `None` where no cell is finite.
    pub min: Option<f64>,
    /// Maximum of the finite cells.
    pub max: Option<f64>,
    /// Mean of the finite cells.
    pub mean: Option<f64>,
    /// Standard deviation of the finite cells, with their number as divisor.
    pub std: Option<f64>,
    /// Whether its cells are all finite and equal.
    pub constant: bool,
}

/// Reads every row of `input` once and describes them. Memory: seven numbers a column and thread; of rows too long to list their
/// columns, seven numbers for each of 65,536 columns and thread, and a byte a row.
///
/// # Errors
///
/// Those of reading; [`unmix::Error::Interrupted`].
pub fn describe(input: &Input, run: &Run<'_>) -> Result<Description> {
    let p = input.rows.n_features();
    // A row that is too long for any fit is an error, and is not read completely.
    let fits = unmix::available_memory().is_none_or(|have| 8 * p as u64 <= have);
    let is_wide = p > MOST_LISTED_COLUMNS && input.rows.features().names.is_none() && fits;
    let wide = match is_wide && input.text_cells.is_empty() {
        true => with_rows!(&input.rows, rows => wide::contents(rows, run))?,
        false => None,
    };
    let (totals, columns) = match wide {
        Some(totals) => (totals, vec![]),
        None => listed(input, run)?,
    };
    let whole = column(input, usize::MAX, &totals.cells, input.text_cells.iter().sum());
    Ok(Description {
        format: input.format.clone(),
        stored: input.stored.clone(),
        dtype: input.rows.dtype().name(),
        shape: input.shape.clone(),
        n_rows: totals.n_rows,
        n_features: input.rows.n_features(),
        feature_shape: input.rows.features().shape.clone(),
        missing: whole.missing,
        infinite: whole.infinite,
        text: whole.text,
        decimal_commas: input.comma_cells,
        commas_separate: input.commas_separate,
        incomplete_rows: totals.incomplete_rows,
        constant: totals.constant,
        min: whole.min,
        max: whole.max,
        mean: whole.mean,
        std: whole.std,
        columns,
        notes: input.rows.notes().to_vec(),
    })
}

/// Statistics of all cells.
struct Totals {
    n_rows: u64,
    incomplete_rows: u64,
    /// Columns whose cells are all finite and equal.
    constant: usize,
    cells: Cells,
}

/// Statistics of all cells and of each column.
fn listed(input: &Input, run: &Run<'_>) -> Result<(Totals, Vec<Column>)> {
    let contents = with_rows!(&input.rows, rows => contents(rows, run))?;
    let text = |j: usize| input.text_cells.get(j).copied().unwrap_or(0);
    let columns =
        contents.cells.iter().enumerate().map(|(j, cells)| column(input, j, cells, text(j))).collect();
    let mut all = Cells::default();
    contents.cells.iter().for_each(|cells| all.merge(cells));
    let constant = contents.cells.iter().filter(|cells| cells.is_constant()).count();
    let (n_rows, incomplete_rows) = (contents.n_rows, contents.incomplete_rows);
    Ok((Totals { n_rows, incomplete_rows, constant, cells: all }, columns))
}

fn contents<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Contents> {
    if let Some(sparse) = rows.sparse() {
        return Ok(stored_contents(sparse));
    }
    rows.sweep(run, "describing", &GatherContents)
}

/// Statistics of sparse rows, from stored entries: the others are zeros.
fn stored_contents<T: Real>(sparse: &Sparse<'_, T>) -> Contents {
    let mut contents = Contents::empty(sparse.n_features());
    contents.n_rows = sparse.n_rows() as u64;
    for i in 0..sparse.n_rows() {
        let (columns, values) = sparse.row(i);
        for (&j, x) in columns.iter().zip(values) {
            contents.cells[j as usize].merge(&Cells::one(x.to_f64()));
        }
        contents.incomplete_rows += u64::from(values.iter().any(|x| !x.finite()));
    }
    for cells in &mut contents.cells {
        let zeros = contents.n_rows as f64 - cells.finite - cells.missing - cells.infinite;
        if zeros > 0.0 {
            cells.merge(&Cells { finite: zeros, ..Cells::one(0.0) });
        }
    }
    contents
}

fn column(input: &Input, j: usize, cells: &Cells, text: u64) -> Column {
    let any = |x: f64| (cells.finite > 0.0).then_some(x);
    let names = input.rows.features().names.as_ref();
    Column {
        name: names.and_then(|n| n.get(j)).cloned(),
        // Text was read as NaN.
        missing: cells.missing as u64 - text,
        infinite: cells.infinite as u64,
        text,
        min: any(cells.min),
        max: any(cells.max),
        mean: any(cells.mean),
        std: any((cells.squares / cells.finite).sqrt()),
        constant: cells.is_constant(),
    }
}

/// Statistics of some cells. Counts are doubles, exact up to 2^53.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cells {
    finite: f64,
    missing: f64,
    infinite: f64,
    min: f64,
    max: f64,
    mean: f64,
    /// Sum of squares about the mean.
    squares: f64,
}

impl Default for Cells {
    fn default() -> Self {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { finite: 0.0, missing: 0.0, infinite: 0.0, min, max, mean: 0.0, squares: 0.0 }
    }
}

impl Cells {
    /// Whether all of them are finite and equal.
    fn is_constant(&self) -> bool {
        self.missing + self.infinite == 0.0 && self.min == self.max
    }

    /// Statistics of one cell.
    fn one(x: f64) -> Self {
        match x.is_finite() {
            true => Self { finite: 1.0, min: x, max: x, mean: x, ..Self::default() },
            false if x.is_nan() => Self { missing: 1.0, ..Self::default() },
            false => Self { infinite: 1.0, ..Self::default() },
        }
    }

    /// Chan, Golub and LeVeque's pairwise update; merging with an empty set changes no bit.
    fn merge(&mut self, right: &Self) {
        self.missing += right.missing;
        self.infinite += right.infinite;
        if right.finite == 0.0 {
            return;
        }
        if self.finite == 0.0 {
            let (missing, infinite) = (self.missing, self.infinite);
            *self = Self { missing, infinite, ..*right };
            return;
        }
        let (n1, n2) = (self.finite, right.finite);
        let delta = right.mean - self.mean;
        self.mean += delta * (n2 / (n1 + n2));
        self.squares += right.squares + delta * delta * (n1 * n2 / (n1 + n2));
        self.finite += n2;
        self.min = self.min.min(right.min);
        self.max = self.max.max(right.max);
    }
}

/// Statistics of some rows, column by column.
#[derive(Clone, Debug, PartialEq)]
struct Contents {
    n_rows: u64,
    incomplete_rows: u64,
    cells: Vec<Cells>,
}

impl Contents {
    fn empty(p: usize) -> Self {
        Self { n_rows: 0, incomplete_rows: 0, cells: vec![Cells::default(); p] }
    }

    /// Adds a block of rows: means first, then squares about them, so that nothing cancels.
    fn gather<T: Real>(&mut self, block: Block<'_, T>) {
        self.gather_incomplete(block, |_| ());
    }

    /// [`gather`](Self::gather), and hands the number in the block of each row that is not complete to `on_incomplete`.
    fn gather_incomplete<T: Real>(&mut self, block: Block<'_, T>, mut on_incomplete: impl FnMut(usize)) {
        let p = self.cells.len();
        let mut part = Self::empty(p);
        part.n_rows = block.n_rows() as u64;
        for (i, row) in block.rows().enumerate() {
            let mut complete = true;
            for (cells, x) in part.cells.iter_mut().zip(row) {
                let x = x.to_f64();
                if x.is_finite() {
                    cells.finite += 1.0;
                    cells.mean += x;
                    cells.min = cells.min.min(x);
                    cells.max = cells.max.max(x);
                } else {
                    complete = false;
                    cells.missing += f64::from(u8::from(x.is_nan()));
                    cells.infinite += f64::from(u8::from(!x.is_nan()));
                }
            }
            if !complete {
                part.incomplete_rows += 1;
                on_incomplete(i);
            }
        }
        part.cells.iter_mut().filter(|cells| cells.finite > 0.0).for_each(|cells| cells.mean /= cells.finite);
        for row in block.rows() {
            for (cells, x) in part.cells.iter_mut().zip(row) {
                let d = x.to_f64() - cells.mean;
                cells.squares += if d.is_finite() { d * d } else { 0.0 };
            }
        }
        self.merge(part);
    }
}

/// Gathers [`Contents`].
struct GatherContents;

impl<T: Real> Gather<T> for GatherContents {
    type Part = Contents;
    const KIND: &'static str = "contents";

    fn width(&self) -> Option<usize> {
        None
    }

    fn zero(&self, n_features: usize) -> Contents {
        Contents::empty(n_features)
    }

    fn add(&self, part: &mut Contents, block: Block<'_, T>, _: &mut Workspace<T>) {
        part.gather(block);
    }

    fn pack(&self, _: &mut Packer) {}

    fn unpack(_: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl Partial for Contents {
    fn merge(&mut self, right: Self) {
        self.n_rows += right.n_rows;
        self.incomplete_rows += right.incomplete_rows;
        self.cells.iter_mut().zip(&right.cells).for_each(|(left, right)| left.merge(right));
    }

    fn pack(&self, out: &mut Packer) {
        out.count(self.n_rows);
        out.count(self.incomplete_rows);
        let numbers = |c: &Cells| [c.finite, c.missing, c.infinite, c.min, c.max, c.mean, c.squares];
        out.numbers(&self.cells.iter().flat_map(numbers).collect::<Vec<f64>>());
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (n_rows, incomplete_rows, numbers) = (from.count()?, from.count()?, from.numbers()?);
        let cells = |&[finite, missing, infinite, min, max, mean, squares]: &[f64; 7]| Cells {
            finite,
            missing,
            infinite,
            min,
            max,
            mean,
            squares,
        };
        Ok(Self { n_rows, incomplete_rows, cells: numbers.as_chunks::<7>().0.iter().map(cells).collect() })
    }

    fn bytes(&self) -> usize {
        16 + 56 * self.cells.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unmix::stats::{from_bytes, to_bytes};

    fn of(rows: &[[f64; 3]]) -> Contents {
        let mut contents = Contents::empty(3);
        contents.gather(Block { first_row: 0, data: rows.as_flattened(), n_features: 3, weights: None });
        contents
    }

    #[test]
    fn contents_merge_and_are_serialized() {
        let left = of(&[[1.0, f64::NAN, 0.1], [2.5, f64::INFINITY, 0.7]]);
        let right = of(&[[-4.0, f64::NAN, 0.3], [0.5, 3.0, f64::NAN], [1e9, 0.2, 0.9]]);
        assert_eq!(from_bytes::<Contents>(&to_bytes(&left)).unwrap(), left);
        assert!(from_bytes::<Contents>(&to_bytes(&left)[1..]).is_err());
        let merged = |mut a: Contents, b: &Contents| {
            a.merge(b.clone());
            a
        };
        assert_eq!(merged(Contents::empty(3), &left), left);
        assert_eq!(merged(left.clone(), &Contents::empty(3)), left);
        let both = merged(left.clone(), &right);
        assert_eq!((both.n_rows, both.incomplete_rows), (5, 4));
        assert_eq!((both.cells[1].finite, both.cells[1].missing, both.cells[1].infinite), (2.0, 2.0, 1.0));
        assert_eq!((both.cells[0].min, both.cells[0].max), (-4.0, 1e9));
    }
}
