//! Test files of every format.

use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::path::{Path, PathBuf};
use unmix::AnyRows;
use unmix_io::{Input, Options, Wording, open};

/// A type of number that files store.
pub(crate) trait Stored: Copy {
    /// numpy's kind and size, as in "f8".
    const NUMPY: &'static str;
    /// The type code in an idx file, where the format has one.
    const IDX: Option<u8>;
    fn big(self) -> Vec<u8>;
    fn little(self) -> Vec<u8> {
        self.big().into_iter().rev().collect()
    }
}

macro_rules! stored {
    ($($t:ty, $numpy:literal, $idx:expr;)*) => {$(
        impl Stored for $t {
            const NUMPY: &'static str = $numpy;
            const IDX: Option<u8> = $idx;
            fn big(self) -> Vec<u8> {
                self.to_be_bytes().to_vec()
            }
        }
    )*};
}

stored! {
    u8, "u1", Some(0x08);
    i8, "i1", Some(0x09);
    i16, "i2", Some(0x0b);
    u16, "u2", None;
    i32, "i4", Some(0x0c);
    u32, "u4", None;
    i64, "i8", None;
    u64, "u8", None;
    half::f16, "f2", None;
    half::bf16, "bf", None;
    f32, "f4", Some(0x0d);
    f64, "f8", Some(0x0e);
}

/// Options whose messages have the notation of the command line.
pub(crate) fn in_shell() -> Options {
    Options { wording: Wording::Shell, ..Options::default() }
}

/// Memory order of an array: row-major (C) or column-major (Fortran).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    C,
    Fortran,
}

/// A `.npy` file of `data`, which is given in row-major order.
pub(crate) fn npy<S: Stored>(data: &[S], shape: &[usize], order: Order, big: bool) -> Vec<u8> {
    let fortran = if order == Order::Fortran { "True" } else { "False" };
    let lengths: String = shape.iter().map(|d| format!("{d}, ")).collect();
    let end = if big { '>' } else { '<' };
    let descr = format!("{end}{}", S::NUMPY);
    let mut file =
        npy_header(&format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({lengths}), }}"));
    let bytes = |x: S| if big { x.big() } else { x.little() };
    match order {
        Order::C => data.iter().for_each(|&x| file.extend(bytes(x))),
        Order::Fortran => (0..data.len()).for_each(|mut at| {
            let (mut flat, mut step) = (0, data.len());
            for &d in shape {
                step /= d;
                flat += (at % d) * step;
                at /= d;
            }
            file.extend(bytes(data[flat]));
        }),
    }
    file
}

/// The header of a `.npy` file with this dictionary.
pub(crate) fn npy_header(dictionary: &str) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    let text = format!("{dictionary:<117}\n");
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file
}

/// An idx file of `data`.
pub(crate) fn idx<S: Stored>(data: &[S], shape: &[usize]) -> Vec<u8> {
    let mut file = vec![0, 0, S::IDX.expect("a type of idx files"), shape.len() as u8];
    shape.iter().for_each(|&d| file.extend((d as u32).to_be_bytes()));
    data.iter().for_each(|x| file.extend(x.big()));
    file
}

/// The bytes compressed with gzip.
pub(crate) fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A temporary folder, removed when dropped.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Writes a file and opens it.
    pub(crate) fn open(
        &self,
        name: &str,
        bytes: impl AsRef<[u8]>,
        options: &Options,
    ) -> unmix::Result<Input> {
        open(&self.put(name, bytes), options)
    }

    /// The error message for a file that is refused, without the leading path of the file.
    pub(crate) fn refusal(&self, name: &str, bytes: impl AsRef<[u8]>, options: &Options) -> String {
        match self.open(name, bytes, options) {
            Ok(input) => panic!("{name} was opened: {:?}", input.shape),
            Err(e) => e.to_string().replace(&format!("{}/", self.0.path().display()), ""),
        }
    }
}

/// All numbers of the rows, as doubles.
pub(crate) fn numbers(rows: &AnyRows<'_>) -> Vec<f64> {
    let n = rows.n_rows().unwrap();
    match rows {
        AnyRows::F32(rows) => rows.read_range(0..n).unwrap().into_iter().map(f64::from).collect(),
        AnyRows::F64(rows) => rows.read_range(0..n).unwrap(),
    }
}

/// The bits of the numbers, so that 0 differs from -0 and NaN equals itself.
pub(crate) fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// Options for `columns`, `drop` and `keep`; an empty string means that the option is not given.
pub(crate) fn columns(columns: &str, drop: &str, keep: &str) -> Options {
    let words = |w: &str| Some(w.to_string()).filter(|w| !w.is_empty());
    Options { columns: words(columns), drop: words(drop), keep: words(keep), ..in_shell() }
}
