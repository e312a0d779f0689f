//! Parquet files of every version, compression, and length of pages and row groups, also with dictionary encoding abandoned half way.

use crate::files::*;
use arrow_array::cast::AsArray;
use arrow_array::*;
use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use unmix::{AnyRows, Real, Rows};
use unmix_io::Input;

const ROWS: usize = 2600;
const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

/// A pseudo-random number for row `i` (a bit mixer).
fn mixed(i: usize) -> u64 {
    let x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// The value of column `name` in row `i`; `None` where it is missing.
fn cell(i: usize, name: &str) -> Option<f64> {
    let x = mixed(i);
    Some(match name {
        // a: distinct values; b: few distinct values, preceded by a constant run; c: integers.
        "a" => (x as i64) as f64 / 3.0,
        "b" if i < 1000 => 7.5,
        "b" => (x % 5) as f64 / 4.0,
        "c" => (x as i64) as f64,
        "d" => f64::from(x as i32),
        "e" => f64::from((x as i64 as f32) / 3.0),
        // f: nullable, without missing cells; g: some missing cells; h: all cells missing.
        "f" => -((x % 1000) as f64) / 8.0,
        "g" if i == 1700 => return None,
        "g" => (x % 3) as f64,
        "h" => return None,
        // Types that are not decoded directly.
        "i" => f64::from(u8::from(x.is_multiple_of(3))),
        "j" => f64::from(x as u16),
        "k" if i.is_multiple_of(11) => return None,
        "k" => half::f16::from_f64((x % 2048) as f64 / 4.0).to_f64(),
        // Repeated values first, then distinct ones, so that the writer abandons the dictionary.
        "l" if i % 900 < 200 => f64::from_bits((x % 4) << 52),
        _ => f64::from_bits((x % 0x7ff0) << 48 | 1),
    })
}

fn batch() -> RecordBatch {
    let all = |name| (0..ROWS).map(move |i| cell(i, name));
    let filled = |name| all(name).map(|x| x.unwrap_or_default());
    let columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("a", Arc::new(Float64Array::from_iter_values(filled("a"))), false),
        ("b", Arc::new(Float64Array::from_iter_values(filled("b"))), false),
        ("c", Arc::new(Int64Array::from_iter_values((0..ROWS).map(|i| mixed(i) as i64))), true),
        ("d", Arc::new(Int32Array::from_iter_values((0..ROWS).map(|i| mixed(i) as i32))), true),
        ("e", Arc::new(Float32Array::from_iter_values(filled("e").map(|x| x as f32))), false),
        ("f", Arc::new(Float64Array::from_iter_values(filled("f"))), true),
        ("g", Arc::new(Float64Array::from_iter(all("g"))), true),
        ("h", Arc::new(Float64Array::from_iter(all("h"))), true),
        ("i", Arc::new(BooleanArray::from_iter(all("i").map(|x| x.map(|x| x == 1.0)))), true),
        ("j", Arc::new(UInt16Array::from_iter_values(filled("j").map(|x| x as u16))), true),
        ("k", Arc::new(Float16Array::from_iter(all("k").map(|x| x.map(half::f16::from_f64)))), true),
        ("l", Arc::new(Float64Array::from_iter_values(filled("l"))), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn written(batch: &RecordBatch, make: WriterPropertiesBuilder) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(make.build())).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// The values of the named columns, row by row; NaN where a cell is missing.
fn wanted(names: &[&str]) -> Vec<f64> {
    (0..ROWS).flat_map(|i| names.iter().map(move |name| cell(i, name).unwrap_or(f64::NAN))).collect()
}

/// All numbers as read by the sequential reader, and as decoded by all threads: into one buffer (`fill`), and by a consumer that takes
/// rows in any order, which must get each row exactly once.
fn both<T: Real>(rows: &Rows<'_, T>, threads: usize) -> (unmix::Result<Vec<f64>>, unmix::Result<Vec<f64>>) {
    let p = rows.n_features();
    let n = rows.n_rows().unwrap() as usize * p;
    let doubles = |x: Vec<T>| x.into_iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
    let front = rows.read_range(0..u64::MAX).map(doubles);
    // Any value that is not overwritten shows up as 1234.5.
    let mut out = vec![T::from_f64(1234.5); n];
    let filled = rows.source().fill(&mut out, threads).unwrap_or(Ok(())).map(|()| doubles(out));
    let taken = Mutex::new((0, vec![T::from_f64(1234.5); n]));
    let put = |first: u64, rows: &[T]| {
        let (count, out) = &mut *taken.lock().unwrap();
        *count += rows.len();
        out[first as usize * p..][..rows.len()].copy_from_slice(rows);
        Ok(())
    };
    match rows.source().scatter(&put, threads) {
        Some(Ok(())) => {
            let (count, out) = taken.into_inner().unwrap();
            assert_eq!(count, n);
            assert_eq!(bits(&doubles(out)), bits(filled.as_ref().unwrap()));
        }
        Some(Err(e)) => assert!(filled.is_err(), "{e}"),
        None => {}
    }
    (front, filled)
}

fn read(input: &Input, threads: usize) -> (unmix::Result<Vec<f64>>, unmix::Result<Vec<f64>>) {
    match &input.rows {
        AnyRows::F32(rows) => both(rows, threads),
        AnyRows::F64(rows) => both(rows, threads),
    }
}

fn check(make: WriterPropertiesBuilder, what: &str) {
    let (folder, file) = (Folder::new(), written(&batch(), make));
    for (chosen, names) in [
        ("", &NAMES[..]),
        ("l,a,d", &["l", "a", "d"]),
        ("k,e", &["k", "e"]),
        ("g", &["g"]),
        ("b,c,d,e,f,l,a,j,g", &["b", "c", "d", "e", "f", "l", "a", "j", "g"]),
    ] {
        let input = folder.open("t.parquet", &file, &columns(chosen, "", "")).unwrap();
        let want = bits(&wanted(names));
        for threads in 1..4 {
            let (front, filled) = read(&input, threads);
            assert_eq!(bits(&front.unwrap()), want, "{what}, columns {chosen}, from the front");
            assert_eq!(bits(&filled.unwrap()), want, "{what}, columns {chosen}, {threads} threads");
        }
    }
}

const VERSIONS: [WriterVersion; 2] = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];

#[test]
fn every_codec_and_version_gives_the_same_numbers() {
    for codec in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::try_new(1).unwrap()),
        Compression::BROTLI(BrotliLevel::try_new(1).unwrap()),
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::try_new(1).unwrap()),
    ] {
        for version in VERSIONS {
            let make = WriterProperties::builder().set_compression(codec).set_writer_version(version);
            check(make.set_max_row_group_row_count(Some(1000)), &format!("{codec:?} {version:?}"));
        }
    }
}

#[test]
fn pages_and_row_groups_of_any_length_give_the_same_numbers() {
    for version in VERSIONS {
        for (words, group, page) in [
            // Bytes of the dictionary, rows of a row group, rows of a page.
            (0, 5000, 5000),
            (0, 700, 37),
            (1 << 20, 5000, 5000),
            (1 << 20, 1, 5000),
            (1 << 20, 256, 64),
            (1 << 20, 1031, 300),
            (400, 5000, 64),
            (400, 2599, 100),
        ] {
            let make = WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .set_writer_version(version)
                .set_dictionary_enabled(words > 0)
                .set_dictionary_page_size_limit(words)
                .set_max_row_group_row_count(Some(group))
                .set_data_page_row_count_limit(page)
                .set_write_batch_size(page.min(64));
            // Row groups of one row are many, so one version is enough.
            if group > 1 || version == WriterVersion::PARQUET_1_0 {
                check(
                    make,
                    &format!("{version:?}, dictionaries of {words} bytes, {group} rows, pages of {page}"),
                );
            }
        }
    }
}

#[test]
fn a_single_row_and_no_row_at_all() {
    let (folder, all) = (Folder::new(), batch());
    let one = written(&all.slice(1700, 1), WriterProperties::builder());
    let input = folder.open("t.parquet", &one, &columns("a,g,d", "", "")).unwrap();
    let want = [cell(1700, "a").unwrap(), f64::NAN, cell(1700, "d").unwrap()];
    let (front, filled) = read(&input, 2);
    assert_eq!((bits(&front.unwrap()), bits(&filled.unwrap())), (bits(&want), bits(&want)));
    let none = written(&all.slice(0, 0), WriterProperties::builder());
    assert!(folder.refusal("t.parquet", none, &in_shell()).contains("it has no rows"));
}

#[test]
fn more_columns_than_are_held_at_once_and_lists_among_them() {
    let n = 500;
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for j in 0..37 {
        let numbers = Float64Array::from_iter_values((0..n).map(|i| mixed(i * 37 + j) as f64));
        columns.push((format!("x{j}"), Arc::new(numbers)));
        if j.is_multiple_of(9) {
            let of = (0..n).map(|i| Some((0..i % 3).map(|k| Some(k as f64)).collect::<Vec<_>>()));
            let lists = ListArray::from_iter_primitive::<types::Float64Type, _, _>(of);
            columns.push((format!("list{j}"), Arc::new(lists)));
        }
    }
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let make = WriterProperties::builder()
        .set_max_row_group_row_count(Some(90))
        .set_compression(Compression::SNAPPY);
    let (folder, file) = (Folder::new(), written(&batch, make));
    assert!(folder.refusal("t.parquet", &file, &in_shell()).contains("column 1 ('list0')"));
    let input = folder
        .open("t.parquet", &file, &crate::files::columns("", "list0,list9,list18,list27,list36", ""))
        .unwrap();
    let want: Vec<f64> = (0..n * 37).map(|i| mixed(i) as f64).collect();
    for threads in [1, 2, 5] {
        let (front, filled) = read(&input, threads);
        assert_eq!((bits(&front.unwrap()), bits(&filled.unwrap())), (bits(&want), bits(&want)));
    }
}

/// The numbers of columns a to g and l as the parquet crate reads them; `None` where it returns an error, or where the row groups do
/// not have as many rows as the file declares.
fn by_library(file: Vec<u8>) -> Option<Vec<f64>> {
    use types::{Float32Type, Float64Type, Int32Type, Int64Type};
    let read = || {
        let how = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let builder =
            ParquetRecordBatchReaderBuilder::try_new_with_options(bytes::Bytes::from(file), how).ok()?;
        let metadata = builder.metadata().clone();
        let declared = metadata.file_metadata().num_rows();
        if metadata.row_groups().iter().map(|group| group.num_rows()).sum::<i64>() != declared {
            return None;
        }
        let places: Vec<usize> = ["a", "b", "c", "d", "e", "f", "g", "l"]
            .iter()
            .map(|name| builder.schema().index_of(name))
            .collect::<Result<_, _>>()
            .ok()?;
        let mut out = Vec::new();
        for batch in builder.build().ok()? {
            let batch = batch.ok()?;
            let cell = |column: usize, row: usize| {
                let cells = batch.column(column);
                Some(match cells.data_type() {
                    _ if cells.is_null(row) => f64::NAN,
                    DataType::Float64 => cells.as_primitive::<Float64Type>().value(row),
                    DataType::Float32 => cells.as_primitive::<Float32Type>().value(row).into(),
                    DataType::Int64 => cells.as_primitive::<Int64Type>().value(row) as f64,
                    DataType::Int32 => cells.as_primitive::<Int32Type>().value(row).into(),
                    _ => return None,
                })
            };
            for row in 0..batch.num_rows() {
                for &place in &places {
                    out.push(cell(place, row)?);
                }
            }
        }
        (out.len() as i64 == declared * places.len() as i64).then_some(out)
    };
    // The library may panic on corrupt files.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).ok().flatten()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// With up to 3 bytes changed: never a panic, and where the library's own reader succeeds, its numbers.
    #[test]
    fn corrupt_pages_are_read_as_the_library_reads_them(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        snappy in any::<bool>(),
        version in prop::sample::select(&VERSIONS),
        words in any::<bool>(),
    ) {
        let codec = if snappy { Compression::SNAPPY } else { Compression::UNCOMPRESSED };
        let make = WriterProperties::builder()
            .set_compression(codec)
            .set_writer_version(version)
            .set_dictionary_enabled(words)
            .set_max_row_group_row_count(Some(30));
        let mut file = written(&batch().slice(960, 80), make);
        changes.into_iter().for_each(|(at, byte)| { let n = file.len(); file[at.index(n)] = byte; });
        let folder = Folder::new();
        if let Ok(input) = folder.open("t.parquet", &file, &columns("a,b,c,d,e,f,g,l", "", "")) {
            // A corrupt number of rows may request more memory than is available.
            prop_assume!(input.rows.n_rows().unwrap() < 1_000_000);
            let (front, filled) = read(&input, 2);
            match by_library(file) {
                Some(want) => {
                    let fail = |e: unmix::Error| TestCaseError::fail(e.to_string());
                    prop_assert_eq!(bits(&front.map_err(fail)?), bits(&want));
                    prop_assert_eq!(bits(&filled.map_err(fail)?), bits(&want));
                }
                None => prop_assert_eq!(front.ok().map(|x| bits(&x)), filled.ok().map(|x| bits(&x))),
            }
        }
    }
}
