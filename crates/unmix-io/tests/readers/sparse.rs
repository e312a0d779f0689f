//! Sparse matrices as scipy saves them, valid and malformed.

use crate::archives::zipped;
use crate::files::*;
use unmix::{Pca, Run, with_rows};
use unmix_io::{Options, describe};
use zip::CompressionMethod::{Deflated, Stored as Plain};

/// A string as numpy stores bytes in an array without axes, as in `'csr'`.
fn word(word: &str) -> Vec<u8> {
    let header = format!("{{'descr': '|S{}', 'fortran_order': False, 'shape': (), }}\n", word.len());
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(word.as_bytes());
    out
}

fn vector<S: Stored>(data: &[S]) -> Vec<u8> {
    npy(data, &[data.len()], Order::C, false)
}

/// The arrays of a file with the 3 x 4 matrix [[1, 0, 5, 0], [0, 0, 0, 0], [0, 0, 0, -2]].
struct Parts {
    format: Vec<u8>,
    shape: Vec<u8>,
    starts: Vec<u8>,
    at: Vec<u8>,
    data: Vec<u8>,
}

const DENSE: [f64; 12] = [1.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.0];

impl Parts {
    fn by_row() -> Self {
        Self {
            format: word("csr"),
            shape: vector(&[3i64, 4]),
            starts: vector(&[0i32, 2, 2, 3]),
            at: vector(&[2i32, 0, 3]),
            data: vector(&[5.0f64, 1.0, -2.0]),
        }
    }

    fn by_column() -> Self {
        Self {
            format: word("csc"),
            starts: vector(&[0i64, 1, 1, 2, 3]),
            at: vector(&[0i64, 0, 2]),
            data: vector(&[1.0f32, 5.0, -2.0]),
            ..Self::by_row()
        }
    }

    fn zipped(self, how: zip::CompressionMethod) -> Vec<u8> {
        let named = [
            ("indices.npy", self.at),
            ("indptr.npy", self.starts),
            ("format.npy", self.format),
            ("shape.npy", self.shape),
            ("data.npy", self.data),
        ];
        let named: Vec<_> = named.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect();
        zipped(&named, how)
    }
}

#[test]
fn rows_and_columns_are_read_as_sparse_rows_stored_and_compressed() {
    let folder = Folder::new();
    for how in [Plain, Deflated] {
        for (parts, expected) in [(Parts::by_row(), "csr of float64"), (Parts::by_column(), "csc of float32")]
        {
            let input = folder.open("a.npz", parts.zipped(how), &in_shell()).unwrap();
            assert_eq!(numbers(&input.rows), DENSE);
            assert_eq!(input.stored, format!("sparse {expected}, 3 numbers stored (density 25.000 %)"));
            assert_eq!(input.shape, [Some(3), Some(4)]);
            assert!(with_rows!(&input.rows, rows => rows.sparse().is_some_and(|s| s.n_stored() == 3)));
        }
    }
}

/// scipy's format coo: entries in any order, by their rows and columns.
#[test]
fn a_list_of_entries_is_read_as_sparse_rows() {
    let folder = Folder::new();
    let archive = |rows: &[i32], columns: &[i32], n: i64| {
        let named = [
            ("row.npy", vector(rows)),
            ("col.npy", vector(columns)),
            ("format.npy", word("coo")),
            ("shape.npy", vector(&[n, 4])),
            ("data.npy", vector(&[-2.0f64, 5.0, 1.0])),
        ];
        zipped(&named, Plain)
    };
    let bytes = archive(&[2, 0, 0], &[3, 2, 0], 3);
    let input = folder.open("a.npz", &bytes, &in_shell()).unwrap();
    assert_eq!(numbers(&input.rows), DENSE);
    assert!(with_rows!(&input.rows, rows => rows.sparse().is_some_and(|s| s.n_stored() == 3)));
    let across = folder.open("a.npz", &bytes, &Options { transpose: true, ..in_shell() }).unwrap();
    assert_eq!(numbers(&across.rows), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0, -2.0]);
    for (rows, columns, n, expected) in [
        (vec![2, 0, 0], vec![3, 2, 2], 3, "has several entries in row 0 and column 2"),
        (vec![3, 0, 0], vec![3, 2, 0], 3, "entry 0 of its sparse matrix is outside of 3 x 4"),
        (vec![2, 0], vec![3, 2], 3, "holds 3 numbers in a sparse matrix with 2 rows"),
        (vec![2, 0, 0], vec![3, 2, 0], 1 << 60, "more than fit into memory"),
    ] {
        let message = folder.refusal("a.npz", archive(&rows, &columns, n), &in_shell());
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn columns_are_chosen_and_rows_exchanged_without_filling_in_zeros() {
    let folder = Folder::new();
    let bytes = Parts::by_row().zipped(Plain);
    let open = |options: Options| folder.open("a.npz", &bytes, &options).unwrap();
    let input = open(Options { columns: Some("3,0".into()), ..in_shell() });
    assert_eq!(numbers(&input.rows), [0.0, 1.0, 0.0, 0.0, -2.0, 0.0]);
    assert!(with_rows!(&input.rows, rows => rows.sparse().is_some()));
    let input = open(Options { transpose: true, feature_shape: Some(vec![3, 1]), ..in_shell() });
    assert_eq!(numbers(&input.rows), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0, -2.0]);
    assert!(with_rows!(&input.rows, rows => rows.sparse().is_some()));
    // An array of the archive that is named by its key is read as a dense array.
    let input = open(Options { key: Some("data".into()), ..in_shell() });
    assert_eq!(numbers(&input.rows), [5.0, 1.0, -2.0]);
}

#[test]
fn files_of_scipy_are_read() {
    // scipy.sparse.save_npz, compressed by rows and stored by columns: entry (i, j) is i + j/10 where 3 divides i + 2j.
    let folder = Folder::new();
    let want: Vec<f64> = (0..35)
        .map(|at| (at / 5, at % 5))
        .map(|(i, j)| if (i + 2 * j) % 3 == 0 { f64::from(i) + f64::from(j) / 10.0 } else { 0.0 })
        .collect();
    for (name, bytes) in [
        ("csr.npz", include_bytes!("fixtures/csr.npz") as &[u8]),
        ("csc.npz", include_bytes!("fixtures/csc.npz") as &[u8]),
    ] {
        let input = folder.open(name, bytes, &in_shell()).unwrap();
        assert_eq!(bits(&numbers(&input.rows)), bits(&want), "{name}");
        assert!(input.stored.starts_with(&format!("sparse {} of float64", &name[..3])), "{}", input.stored);
    }
}

#[test]
fn inconsistent_sparse_matrices_are_refused() {
    let folder = Folder::new();
    let valid = Parts::by_row;
    for (parts, expected) in [
        (Parts { format: word("bsr"), ..valid() }, "scipy's format 'bsr'"),
        (Parts { format: word(""), ..valid() }, "scipy's format ''"),
        (Parts { starts: vec![], ..valid() }, "without its 'indptr'"),
        (Parts { shape: vector(&[3i64, 4, 5]), ..valid() }, "a sparse array of 3 axes"),
        (Parts { shape: vector(&[2i64, 4]), ..valid() }, "it declares 2 x 4 entries"),
        (Parts { shape: vector(&[-1i64, 4]), ..valid() }, "it declares -1 x 4 entries"),
        (Parts { shape: vector(&[3i64, 3]), ..valid() }, "in column 3, and there are 3 columns"),
        (Parts { shape: vector(&[3i64, 1 << 40]), ..valid() }, "more than 4294967295 rows or columns"),
        (Parts { shape: vector(&[3.0f64, 4.0]), ..valid() }, "the 'shape' of its sparse matrix is float64"),
        (Parts { starts: vector(&[0i32, 2, 1, 3]), ..valid() }, "is 1, but must be from 2 to 3"),
        (Parts { starts: vector(&[0i32, 2, 2, 9]), ..valid() }, "is 9, but must be from 2 to 3"),
        (Parts { starts: vector(&[0i32, -2, 2, 3]), ..valid() }, "is -2, but must be from 0 to 3"),
        (Parts { at: vector(&[2i32, 0]), ..valid() }, "2 column indices for 3 values"),
        (Parts { at: vector(&[2i32, -1, 3]), ..valid() }, "in column -1"),
        (Parts { data: npy(&[1.0f64; 3], &[3, 1], Order::C, false), ..valid() }, "has 2 axes"),
        (Parts { data: b"text".to_vec(), ..valid() }, "does not start with the signature of a .npy file"),
        (Parts { format: word("csc"), ..valid() }, "its index pointer is for 4 - 1 columns"),
    ] {
        let message = folder.refusal("a.npz", parts.zipped(Deflated), &in_shell());
        assert!(message.contains("a.npz") && message.contains(expected), "{message}, not {expected}");
    }
    let bytes = valid().zipped(Plain);
    for (options, expected) in [
        (Options { keep: Some("1".into()), ..in_shell() }, "keep=1 is not possible"),
        (Options { rows_axis: vec![1], ..in_shell() }, "rows_axis=1 is not possible"),
        (Options { feature_shape: Some(vec![5]), ..in_shell() }, "a row has 4 features"),
    ] {
        let message = folder.refusal("a.npz", &bytes, &options);
        assert!(message.contains(expected), "{message}, not {expected}");
    }
    for cut in (0..bytes.len()).step_by(7) {
        folder.refusal("a.npz", &bytes[..cut], &in_shell());
    }
}

#[test]
fn too_many_columns_in_a_small_file_are_refused_without_allocating() {
    let folder = Folder::new();
    let shape = vector(&[3i64, u32::MAX as i64]);
    let mut input =
        folder.open("a.npz", Parts { shape, ..Parts::by_row() }.zipped(Plain), &in_shell()).unwrap();
    let pca = Pca { n_components: 1.into(), ..Default::default() };
    let message =
        with_rows!(&mut input.rows, rows => pca.fit(rows, &Run::default())).unwrap_err().to_string();
    assert!(message.contains("MiB) of memory"), "{message}");
    let shape = vector(&[u32::MAX as i64, 4]);
    let message = folder.refusal("b.npz", Parts { shape, ..Parts::by_column() }.zipped(Plain), &in_shell());
    assert!(message.contains("MiB) of memory"), "{message}");
}

#[test]
fn descriptions_of_sparse_rows_count_the_zeros() {
    let folder = Folder::new();
    let data = vector(&[5.0f64, f64::NAN, f64::INFINITY]);
    for data in [Parts::by_row().data, data] {
        let bytes = Parts { data, ..Parts::by_row() }.zipped(Plain);
        let input = folder.open("a.npz", bytes, &in_shell()).unwrap();
        let dense =
            folder.open("a.npy", npy(&numbers(&input.rows), &[3, 4], Order::C, false), &in_shell()).unwrap();
        let (sparse, dense) =
            (describe(&input, &Run::default()).unwrap(), describe(&dense, &Run::default()).unwrap());
        assert_eq!((sparse.missing, sparse.infinite), (dense.missing, dense.infinite));
        assert_eq!((sparse.incomplete_rows, sparse.constant), (dense.incomplete_rows, dense.constant));
        assert_eq!((sparse.n_rows, sparse.min, sparse.max), (3, dense.min, dense.max));
        for (a, b) in sparse.columns.iter().zip(&dense.columns) {
            assert_eq!((a.missing, a.infinite, a.min, a.max), (b.missing, b.infinite, b.min, b.max));
            for (a, b) in [(a.mean, b.mean), (a.std, b.std)] {
                assert_eq!(a.is_some(), b.is_some());
                assert!((a.unwrap_or(0.0) - b.unwrap_or(0.0)).abs() < 1e-15);
            }
        }
    }
}
