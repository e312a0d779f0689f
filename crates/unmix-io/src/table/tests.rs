use super::*;
use arrow_array::RecordBatch;
use arrow_array::{ArrayRef, BooleanArray, Float32Array, Float64Array, Int32Array, Int64Array};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};

fn table(compression: Compression, version: WriterVersion) -> Table {
    let n = 700;
    let whole = |i: i64| (i * 77) % 501;
    let columns: [(&str, ArrayRef, bool); 7] = [
        ("f64", Arc::new(Float64Array::from_iter_values((0..n).map(|i| i as f64 / 7.0))), false),
        ("words", Arc::new(Float64Array::from_iter_values((0..n).map(|i| (i % 3) as f64))), true),
        ("i64", Arc::new(Int64Array::from_iter_values((0..n).map(whole))), true),
        ("i32", Arc::new(Int32Array::from_iter_values((0..n).map(|i| whole(i) as i32))), true),
        ("f32", Arc::new(Float32Array::from_iter_values((0..n).map(|i| i as f32))), false),
        ("hole", Arc::new(Float64Array::from_iter((0..n).map(|i| (i != 500).then_some(0.5)))), true),
        ("bool", Arc::new(BooleanArray::from_iter((0..n).map(|i| Some(i % 2 == 0)))), true),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let make = WriterProperties::builder()
        .set_compression(compression)
        .set_writer_version(version)
        .set_max_row_group_row_count(Some(300));
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(make.build())).unwrap();
    writer.write(&batch).unwrap();
    let data = writer.into_inner().unwrap();
    let bytes = unmix::data::Bytes::Owned { data, path: "t.parquet".into() };
    let file = crate::parquet::File::open(bytes).unwrap();
    Table { file: Arc::new(file), columns: (0..7).collect() }
}

#[test]
fn only_columns_with_missing_cells_or_of_other_types_are_left_to_the_general_reader() {
    for compression in [Compression::SNAPPY, Compression::UNCOMPRESSED, Compression::LZ4_RAW] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let table = table(compression, version);
            let mut tools = Tools::<f64>::default();
            for (number, n) in [300, 300, 100].into_iter().enumerate() {
                let mut out = vec![-1.0; n * 7];
                let mut part = Part::new(&table, number, n as u64, &tools);
                part.read(&mut out, &mut tools).unwrap();
                part.end().unwrap();
                let places = part.general.iter().flat_map(|general| &general.places);
                let mut left: Vec<usize> = places.map(|(feature, _)| *feature).collect();
                left.sort_unstable();
                // The cell that is missing is in the second row group.
                let hole = if number == 1 { vec![5, 6] } else { vec![6] };
                assert_eq!(left, hole, "{compression:?} {version:?} group {number}");
                for (i, row) in out.chunks(7).enumerate() {
                    let i = (number * 300 + i) as i64;
                    let (whole, even) = (((i * 77) % 501) as f64, f64::from(u8::from(i % 2 == 0)));
                    assert_eq!(row[..5], [i as f64 / 7.0, (i % 3) as f64, whole, whole, i as f64]);
                    assert!(if i == 500 { row[5].is_nan() } else { row[5] == 0.5 }, "row {i}");
                    assert_eq!(row[6], even);
                }
            }
        }
    }
}

#[test]
fn a_column_is_decoded_directly_up_to_its_first_missing_cell() {
    let n = 3000usize;
    let some = |i: usize| (i != 2500).then_some(i as f64);
    let columns: [(&str, ArrayRef, bool); 2] = [
        ("whole", Arc::new(Float64Array::from_iter_values((0..n).map(|i| -(i as f64)))), true),
        ("gap", Arc::new(Float64Array::from_iter((0..n).map(some))), true),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    // Without statistics only the page itself indicates that a cell is missing.
    let make = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::None)
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(1000)
        .set_write_batch_size(100);
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(make.build())).unwrap();
    writer.write(&batch).unwrap();
    let bytes = unmix::data::Bytes::Owned { data: writer.into_inner().unwrap(), path: "t.parquet".into() };
    let table = Table { file: Arc::new(crate::parquet::File::open(bytes).unwrap()), columns: vec![1, 0, 1] };
    let mut tools = Tools::<f64>::default();
    let mut part = Part::new(&table, 0, n as u64, &tools);
    let mut out = vec![0.0; 3 * n];
    part.read(&mut out[..3 * 1990], &mut tools).unwrap();
    assert!(part.general.is_empty(), "the first two pages are whole");
    part.read(&mut out[3 * 1990..], &mut tools).unwrap();
    part.end().unwrap();
    assert_eq!((part.straight.len(), part.general[0].places.len()), (1, 2));
    for (i, row) in out.chunks(3).enumerate() {
        let bits = |x: f64| if x.is_nan() { 0 } else { x.to_bits() };
        let own = some(i).unwrap_or(f64::NAN);
        assert_eq!([bits(row[0]), bits(row[1]), bits(row[2])], [bits(own), bits(-(i as f64)), bits(own)]);
    }
}
