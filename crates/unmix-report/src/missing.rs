//! A map of missing cells.

use unmix::Real;

/// Runs of rows and of columns in a map of missing cells.
const MOST_ROW_RUNS: usize = 160;
const MOST_COLUMN_RUNS: usize = 320;

/// Where cells are missing, in runs of consecutive sampled rows and of columns.
pub(crate) struct Gaps {
    /// Rows with a missing cell.
    pub(crate) rows: u64,
    /// Missing cells of each column.
    pub(crate) of_column: Vec<u64>,
    /// Runs of rows.
    pub(crate) lines: usize,
    /// Runs of columns.
    pub(crate) bins: usize,
    /// Missing cells, and all, of each run of rows and columns.
    map: Vec<[u32; 2]>,
}

impl Gaps {
    /// None yet of rows of `p` columns, `total` of them.
    pub(crate) fn new(total: usize, p: usize) -> Self {
        let (lines, bins) = (total.min(MOST_ROW_RUNS), p.min(MOST_COLUMN_RUNS));
        Self { rows: 0, of_column: vec![0; p], lines, bins, map: vec![[0; 2]; lines * bins] }
    }

    /// Adds row number `at` of `total`.
    pub(crate) fn add<T: Real>(&mut self, at: usize, total: usize, x: &[T]) {
        let (p, line) = (x.len(), at * self.lines / total.max(1));
        let mut any = false;
        for (j, x) in x.iter().enumerate() {
            let run = &mut self.map[line.min(self.lines - 1) * self.bins + j * self.bins / p];
            run[1] += 1;
            if x.to_f64().is_nan() {
                run[0] += 1;
                self.of_column[j] += 1;
                any = true;
            }
        }
        self.rows += u64::from(any);
    }

    /// Share of the cells of each run that is missing, line by line.
    pub(crate) fn shares(&self) -> Vec<f64> {
        self.map.iter().map(|run| f64::from(run[0]) / f64::from(run[1].max(1))).collect()
    }
}
