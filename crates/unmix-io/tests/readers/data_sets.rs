//! Real files, where `UNMIX_DATA` names a folder with them.

use crate::files::{in_shell, numbers};
use std::path::PathBuf;
use unmix::select::by_share;
use unmix::{AnyRows, Dtype, Pca, Run, with_rows};
use unmix_io::{Options, describe, open};

/// The folder of data sets; `None`, after recording that the test is skipped, where `UNMIX_DATA` is not set.
fn folder(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("UNMIX_DATA").map(PathBuf::from);
    if folder.is_none() {
        crate::skipped::skipped(test, "UNMIX_DATA names no folder of data sets");
    }
    folder
}

#[test]
fn mnist_has_its_shape_and_its_constant_pixels() {
    let Some(folder) = folder("mnist_has_its_shape_and_its_constant_pixels") else { return };
    let input = open(&folder.join("mnist/train-images-idx3-ubyte.gz"), &in_shell()).unwrap();
    assert_eq!(input.shape, [Some(60000), Some(28), Some(28)]);
    assert_eq!((input.format.as_str(), input.stored.as_str()), ("idx.gz", "uint8"));
    assert_eq!(input.rows.features().shape, Some(vec![28, 28]));
    let d = describe(&input, &Run::default()).unwrap();
    assert_eq!((d.constant, d.min, d.max, d.missing), (67, Some(0.0), Some(255.0), 0));
    // The published mean 0.1307 and standard deviation 0.3081 of the pixels of the training images.
    assert!(
        (d.mean.unwrap() / 255.0 - 0.1307).abs() < 1e-4 && (d.std.unwrap() / 255.0 - 0.3081).abs() < 1e-4
    );
    let labels = open(&folder.join("mnist/train-labels-idx1-ubyte.gz"), &in_shell()).unwrap();
    assert_eq!((labels.rows.n_rows(), labels.rows.n_features()), (Some(60000), 1));
    assert_eq!(numbers(&labels.rows)[..5], [5.0, 0.0, 4.0, 1.0, 9.0]);
}

#[test]
fn arrays_of_several_types_are_read() {
    let Some(folder) = folder("arrays_of_several_types_are_read") else { return };
    let get = |name: &str, options: &Options| open(&folder.join(name), options).unwrap();
    let digits = get("digits8x8/X_u8.npy", &in_shell());
    assert_eq!((digits.rows.n_rows(), digits.rows.n_features()), (Some(1797), 64));
    assert_eq!(numbers(&digits.rows)[..8], [0.0, 0.0, 5.0, 13.0, 9.0, 1.0, 0.0, 0.0]);
    let halves = get("activations_minilm/layer3_tokens_x384_f2.npy", &in_shell());
    assert_eq!((halves.rows.dtype(), halves.rows.n_features()), (Dtype::F32, 384));
    let channels = get("eeg_eeglab/eeg_32ch_128hz.npy", &Options { transpose: true, ..in_shell() });
    assert_eq!((channels.rows.n_rows(), channels.rows.n_features()), (Some(30504), 32));
    let ratings = get("ratings/jester5k_5000x100_f4_nan.npy.gz", &in_shell());
    let d = describe(&ratings, &Run::default()).unwrap();
    assert_eq!((d.missing, d.min, d.max), (500_000 - 363_209, Some(-9.95f32 as f64), Some(9.9f32 as f64)));
}

#[test]
fn tables_whose_first_line_holds_counts_are_read_after_it_is_skipped() {
    let Some(folder) = folder("tables_whose_first_line_holds_counts_are_read_after_it_is_skipped") else {
        return;
    };
    for (name, n, p) in [("iris", 150, 5), ("wine_data", 178, 14), ("breast_cancer", 569, 31)] {
        let path = folder.join(format!("tabular_small/{name}.csv"));
        let message = open(&path, &in_shell()).err().unwrap().to_string();
        assert!(
            message.contains("may or may not be a header") && message.contains("--skip-rows 1"),
            "{message}"
        );
        let class = (p - 1).to_string();
        let options = Options { skip_rows: 1, keep: Some(class.clone()), ..in_shell() };
        let input = open(&path, &options).unwrap();
        assert_eq!((input.rows.n_rows(), input.rows.n_features()), (Some(n), p - 1));
        assert_eq!((input.kept[0].0.as_str(), input.kept[0].1.len()), (class.as_str(), n as usize));
    }
}

#[test]
fn a_compressed_table_with_dates_names_the_column_to_leave_out() {
    let Some(folder) = folder("a_compressed_table_with_dates_names_the_column_to_leave_out") else { return };
    let path = folder.join("finance/sp500_dataset.csv.gz");
    let message = open(&path, &in_shell()).err().unwrap().to_string();
    assert!(message.contains("row 0, column 0 ('Date')") && message.contains("--drop Date"), "{message}");
    let input = open(&path, &Options { keep: Some("Date".into()), ..in_shell() }).unwrap();
    assert_eq!((input.rows.n_rows(), input.rows.n_features()), (Some(8313), 20));
    assert_eq!(input.rows.features().names.as_ref().map(Vec::len), Some(20));
}

/// Fractions of the variance that the leading components must exceed.
const SHARES: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];

/// The number of components for each fraction in `SHARES`, and the explained variance ratios of the first three.
fn spectrum(values: &[f64]) -> ([usize; 5], [f64; 3]) {
    let total: f64 = values.iter().sum();
    (SHARES.map(|share| by_share(values, total, share)), std::array::from_fn(|i| values[i] / total))
}

/// The spectrum of a PCA about the mean, or about 0.
fn pca(rows: &mut AnyRows<'_>, center: bool) -> ([usize; 5], [f64; 3]) {
    let spec = Pca { center, ..Default::default() };
    let model = with_rows!(rows, rows => spec.fit(rows, &Run::default())).unwrap();
    spectrum(&model.tensor("explained_variance").unwrap().f64s())
}

#[test]
fn digits_and_faces_span_subspaces_of_known_dimensions() {
    let Some(folder) = folder("digits_and_faces_span_subspaces_of_known_dimensions") else { return };
    let near = |found: [f64; 3], want: [f64; 3]| found.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-4);
    let mut digits = open(&folder.join("mnist/train-images-idx3-ubyte.gz"), &in_shell()).unwrap();
    digits.rows.prepare(&Run::default()).unwrap();
    let (counts, first) = pca(&mut digits.rows, true);
    assert_eq!(counts, [11, 44, 87, 154, 331]);
    assert!(near(first, [0.0970, 0.0710, 0.0617]), "{first:?}");
    assert_eq!(pca(&mut digits.rows, false).0, [3, 23, 53, 103, 281]);
    let mut faces = open(&folder.join("faces/olivetti_400x64x64_u8.npy"), &in_shell()).unwrap();
    let (counts, first) = pca(&mut faces.rows, true);
    assert_eq!(counts, [4, 27, 66, 123, 260]);
    assert!(near(first, [0.2381, 0.1399, 0.0797]), "{first:?}");
}
