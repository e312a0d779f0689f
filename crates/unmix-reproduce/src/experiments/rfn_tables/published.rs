//! Tables 1 and S5 to S10 of Clevert et al. (2015), as printed.

use unmix::{Error, Result};

/// Sparseness in percent, error of the reconstruction, error of the covariance.
pub(super) const CRITERIA: [&str; 3] = ["SP", "ER", "CO"];

/// Tables S5 to S10: every method on every data set, mean and standard deviation over 100 instances.
const CELLS: &str = include_str!("tables_s5_s10.csv");

/// Table 1: averages over the data sets of set I.
#[cfg(test)]
const AVERAGES: &str = include_str!("table_1.csv");

/// One cell: for each of [`CRITERIA`] the mean and the standard deviation, where they are printed.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) method: String,
    pub(super) dataset: String,
    pub(super) units: usize,
    /// 1 or 2.
    pub(super) set: u64,
    pub(super) values: [Option<(f64, f64)>; 3],
}

/// Every printed cell of tables S5 to S10.
pub(super) fn cells() -> Result<Vec<Cell>> {
    read(CELLS)
}

fn read(text: &str) -> Result<Vec<Cell>> {
    csv::Reader::from_reader(text.as_bytes())
        .records()
        .map(|record| record.ok().and_then(|r| cell(&r)).ok_or_else(broken))
        .collect()
}

fn cell(record: &csv::StringRecord) -> Option<Cell> {
    let number = |at: usize| record.get(at).and_then(|text| text.parse::<f64>().ok());
    let pair = |at: usize| number(at).zip(number(at + 1));
    Some(Cell {
        method: record.get(0)?.into(),
        dataset: record.get(1)?.into(),
        units: record.get(8)?.parse().ok()?,
        set: if record.get(9)? == "I" { 1 } else { 2 },
        values: [pair(2), pair(4), pair(6)],
    })
}

fn broken() -> Error {
    Error::unsupported(
        "the published tables of rectified factor networks",
        "a line that is not a cell",
        "restore the files from the release",
    )
}

/// Sparseness of PCA over 60 instances by the reference measurement; the printed one has no decimals. With 150 units PCA has as many components as
/// with 100.
pub(super) fn sparseness_of_pca(dataset: &str, set: u64, units: usize) -> f64 {
    let of_50_and_100 = match (dataset, set) {
        ("D1", 1) => [0.55, 3.63],
        ("D4", 1) => [0.50, 3.46],
        ("D7", 1) => [0.59, 3.72],
        ("D1", _) => [0.46, 3.51],
        ("D4", _) => [0.46, 3.52],
        ("D7", _) => [0.45, 3.50],
        ("D2" | "D5" | "D8", _) => [0.125, 1.59],
        _ => [0.065, 1.305],
    };
    of_50_and_100[usize::from(units > 50)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Averages of table 1 and of tables S5 to S10 follow from their cells, up to the rounding of the cells and of the averages. Capped
    /// cells (999) and those beside them are left out.
    #[test]
    fn printed_averages_are_those_of_the_printed_cells() {
        let cells = cells().unwrap();
        assert_eq!(cells.len(), 600);
        let mut compared = 0;
        for average in cells.iter().chain(&read(AVERAGES).unwrap()).filter(|c| c.dataset == "average") {
            let of =
                |c: &&Cell| c.method == average.method && c.units == average.units && c.set == average.set;
            let own: Vec<&Cell> = cells.iter().filter(|c| c.dataset != "average").filter(of).collect();
            assert_eq!(own.len(), 9);
            for at in 0..3 {
                let Some((printed, _)) = average.values[at] else {
                    assert!(own.iter().all(|c| c.values[at].is_none()));
                    continue;
                };
                let values: Vec<f64> = own.iter().map(|c| c.values[at].unwrap().0).collect();
                if values.iter().any(|v| *v >= 999.0) || printed >= 999.0 {
                    continue;
                }
                let mean = values.iter().sum::<f64>() / 9.0;
                // 0.5 by the rounding of the cells and 0.5 by that of the average; some averages are cut instead of rounded.
                let what = format!("{} {} {}", average.method, average.units, CRITERIA[at]);
                assert!((mean - printed).abs() <= 1.0 + 1e-9, "{what}: {mean:.2}, printed {printed}");
                compared += 1;
            }
        }
        assert!(compared > 150, "{compared}");
    }
}
