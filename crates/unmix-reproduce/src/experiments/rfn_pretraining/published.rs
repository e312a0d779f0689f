//! Tables 2 and S11 of Clevert et al. (2015), as printed.

use unmix::{Error, Result};

/// Table 2: test errors in percent with their intervals.
const TABLE_2: &str = include_str!("table_2.csv");
/// Table S11: test errors of convolutional networks in percent.
const TABLE_S11: &str = include_str!("table_s11.csv");

/// Methods of Table 2 in its order.
pub(super) const METHODS: [&str; 6] = ["SVM", "RBM", "DBN", "SAE", "SDAE", "RFN"];

/// A line of Table 2.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) set: String,
    /// Number of test pictures, in thousands as printed.
    pub(super) n_test: String,
    /// Error and half-width of its interval, in percent, for each of [`METHODS`].
    pub(super) errors: [Option<(f64, f64)>; 6],
}

/// The lines of Table 2.
pub(super) fn table_2() -> Result<Vec<Line>> {
    let mut reader = csv::Reader::from_reader(TABLE_2.as_bytes());
    reader.records().map(|record| record.ok().and_then(|r| line(&r)).ok_or_else(broken)).collect()
}

fn line(record: &csv::StringRecord) -> Option<Line> {
    let number = |at: usize| record.get(at).and_then(|text| text.parse::<f64>().ok());
    let pair = |method: usize| number(4 + 2 * method).zip(number(5 + 2 * method));
    Some(Line {
        set: record.get(0)?.into(),
        n_test: record.get(3)?.into(),
        errors: [0, 1, 2, 3, 4, 5].map(pair),
    })
}

/// Header and lines of Table S11.
pub(super) fn table_s11() -> Result<Vec<Vec<String>>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(TABLE_S11.as_bytes());
    let text = |record: csv::StringRecord| record.iter().map(String::from).collect();
    reader.records().map(|record| record.map(text).map_err(|_| broken())).collect()
}

fn broken() -> Error {
    Error::unsupported(
        "the published tables of pretraining",
        "a line that is not of a table",
        "restore the files from the release",
    )
}

/// Half of the 95 % interval of a share `error` of `n` pictures.
pub(super) fn half_interval(error: f64, n: f64) -> f64 {
    1.96 * (error * (1.0 - error) / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_intervals_are_those_of_the_formula_and_two_are_not_to_their_last_digit() {
        let lines = table_2().unwrap();
        assert_eq!(lines.len(), 9);
        let mut other = Vec::new();
        for line in &lines {
            let n = match line.n_test.as_str() {
                "24k" => 24_300.0,
                text => 1000.0 * text.trim_end_matches('k').parse::<f64>().unwrap(),
            };
            let known = METHODS.iter().zip(line.errors);
            for (method, (error, printed)) in known.filter_map(|(method, e)| e.map(|e| (method, e))) {
                let apart = (100.0 * half_interval(error / 100.0, n) - printed).abs();
                assert!(apart < 0.02, "{} {method}: {apart}", line.set);
                if apart > 0.0061 {
                    other.push(format!("{} {method}", line.set));
                }
            }
        }
        assert_eq!(other, ["rect RFN", "CIFAR RFN"]);
    }

    #[test]
    fn table_s11_has_a_line_for_each_network() {
        let lines = table_s11().unwrap();
        assert_eq!((lines.len(), lines[0][0].as_str(), lines[3][0].as_str()), (7, "network", "5C-NIN"));
    }
}
