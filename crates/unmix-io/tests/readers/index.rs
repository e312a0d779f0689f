//! The index of a pandas table is not a feature, and a first line of numbers may be a header: both give a warning.

use crate::files::{Folder, Order, columns, in_shell, npy, numbers};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::collections::HashMap;
use std::sync::Arc;
use unmix_io::{Input, Options, describe};

/// Columns a, NAME, b; the values of NAME count up from 7.
fn batch(name: &str, pandas: Option<&str>) -> RecordBatch {
    let field = |name: &str, kind| Field::new(name, kind, true);
    let fields =
        vec![field("a", DataType::Float64), field(name, DataType::Int64), field("b", DataType::Float64)];
    let metadata = pandas.map(|text| HashMap::from([("pandas".to_string(), text.to_string())]));
    let schema = Schema::new_with_metadata(fields, metadata.unwrap_or_default());
    let (a, b) = (Float64Array::from(vec![1.0, 2.5, 3.0]), Float64Array::from(vec![0.5, 0.25, 0.125]));
    let rows = Int64Array::from(vec![7, 8, 9]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(a), Arc::new(rows), Arc::new(b)]).unwrap()
}

/// The table of [`batch`] in every columnar format.
fn files(name: &str, pandas: Option<&str>) -> [(&'static str, Vec<u8>); 3] {
    in_formats(&batch(name, pandas), pandas)
}

fn in_formats(batch: &RecordBatch, pandas: Option<&str>) -> [(&'static str, Vec<u8>); 3] {
    let pairs = pandas.map(|text| vec![KeyValue::new("pandas".into(), text.to_string())]);
    let made = WriterProperties::builder().set_key_value_metadata(pairs).build();
    let mut parquet = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(made)).unwrap();
    parquet.write(batch).unwrap();
    let mut file = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    file.write(batch).unwrap();
    let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    stream.write(batch).unwrap();
    [
        ("t.parquet", parquet.into_inner().unwrap()),
        ("t.feather", file.into_inner().unwrap()),
        ("t.arrows", stream.into_inner().unwrap()),
    ]
}

fn names(input: &Input) -> Vec<String> {
    input.rows.features().names.clone().unwrap_or_default()
}

const ROWS: [f64; 6] = [1.0, 0.5, 2.5, 0.25, 3.0, 0.125];

#[test]
fn names_of_rows_are_read_where_they_are_requested() {
    let folder = tempfile::tempdir().unwrap();
    let opened = |name: &str, text: &str, row_names: bool| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        unmix_io::open(&path, &unmix_io::Options { row_names, keep: None, ..in_shell() }).unwrap()
    };
    let names = |text: &str, ask: bool| opened("t.csv", text, ask).row_names;
    let table = ",a,b\nfirst,1,2\nsecond,3,4\n";
    assert_eq!(names(table, true).unwrap(), ["first", "second"]);
    assert_eq!(names(table, false), None);
    assert_eq!(names("a,b\n1,2\n3,4\n", true), None);
    assert_eq!(names(",,a\nx,1,2\ny,2,4\n", true).unwrap(), ["x, 1", "y, 2"], "levels of an index");
    let input = opened("t.csv", table, true);
    assert!(input.kept.is_empty() && input.rows.n_features() == 2);
    // Row names of several files are concatenated.
    opened("u.csv", ",a,b\nthird,5,6\n", true);
    let both = ["t.csv", "u.csv"].map(|name| folder.path().join(name));
    let options = unmix_io::Options { row_names: true, ..in_shell() };
    let stacked = unmix_io::open_many(&both, &options, &unmix::Run::default()).unwrap();
    assert_eq!(stacked.row_names.unwrap(), ["first", "second", "third"]);
}

#[test]
fn an_index_is_left_out_of_every_format_of_columns_with_a_warning() {
    let folder = Folder::new();
    for (name, pandas) in [
        ("day", Some(r#"{"index_columns": ["day"]}"#)),
        ("__index_level_0__", None),
        ("__index_level_0__", Some("?")),
    ] {
        for (file, bytes) in files(name, pandas) {
            let open = |options: &Options| folder.open(file, &bytes, options).unwrap();
            let input = open(&in_shell());
            assert_eq!((numbers(&input.rows), names(&input)), (ROWS.to_vec(), vec!["a".into(), "b".into()]));
            let notes = input.rows.notes();
            assert_eq!(notes.len(), 1, "{file}");
            let want = format!("column 1 ('{name}') is the index of a table and left out");
            assert!(notes[0].contains(&want) && notes[0].contains("add --columns 0-2"), "{}", notes[0]);
            assert_eq!(describe(&input, &Default::default()).unwrap().notes, notes);
            let whole = open(&columns("0-2", "", ""));
            assert_eq!(names(&whole), ["a", name, "b"]);
            assert!(whole.rows.notes().is_empty());
            assert_eq!(names(&open(&columns(&format!("{name},a"), "", ""))), [name, "a"]);
            let kept = open(&columns("", "", name));
            assert_eq!(kept.kept, [(name.to_string(), ["7", "8", "9"].map(String::from).to_vec())]);
            assert!(kept.rows.notes().is_empty() && open(&columns("", name, "")).rows.notes().is_empty());
            let wanted = Options { wanted: Some(vec![name.into(), "b".into()]), ..in_shell() };
            assert_eq!(names(&open(&wanted)), [name, "b"], "a model that was fitted on it");
        }
    }
    let range = r#"{"index_columns": [{"kind": "range", "name": null, "start": 0, "stop": 3, "step": 1}]}"#;
    for (file, bytes) in files("day", Some(range)) {
        let input = folder.open(file, bytes, &in_shell()).unwrap();
        assert_eq!((input.rows.n_features(), input.rows.notes().len()), (3, 0), "{file}");
    }
}

#[test]
fn a_first_column_without_a_name_is_the_index_of_a_text_table() {
    let folder = Folder::new();
    for (file, text) in [
        ("t.csv", ",a,b\n0,1,0.5\n1,2.5,0.25\n2,3,0.125\n"),
        ("t.csv", "\"\",\"a\",\"b\"\n\"x\",1,0.5\n\"y\",2.5,0.25\n\"z\",3,0.125\n"),
        ("t.tsv", "\ta\tb\n0\t1\t0.5\n1\t2.5\t0.25\n2\t3\t0.125\n"),
        ("t.csv", "Unnamed: 0,a,b\n0,1,0.5\n1,2.5,0.25\n2,3,0.125\n"),
    ] {
        let input = folder.open(file, text, &in_shell()).unwrap();
        assert_eq!((numbers(&input.rows), names(&input)), (ROWS.to_vec(), vec!["a".into(), "b".into()]));
        let note = &input.rows.notes()[0];
        assert!(note.contains("is the index of a table and left out; to read all columns"), "{note}");
    }
    let whole = folder.open("t.csv", ",a\n7,1\n8,2\n", &columns("0-1", "", "")).unwrap();
    assert_eq!((numbers(&whole.rows), whole.rows.notes().len()), (vec![7.0, 1.0, 8.0, 2.0], 0));
    let last = folder.open("t.csv", "a,\n1,7\n2,8\n", &in_shell()).unwrap();
    assert_eq!((last.rows.n_features(), last.rows.notes().len()), (2, 0), "not the first column");
    let across = Options { transpose: true, ..in_shell() };
    let across = folder.open("t.csv", ",a,b\n0,1,0.5\n1,2.5,0.25\n", &across).unwrap();
    assert_eq!(numbers(&across.rows), [1.0, 2.5, 0.5, 0.25]);
    assert_eq!((names(&across), across.rows.notes().len()), (vec!["0".into(), "1".into()], 0));
}

#[test]
fn an_index_that_pandas_wrote_twice_is_left_out_and_one_that_it_made_a_column_is_noted() {
    let folder = Folder::new();
    let twice = folder.open("t.csv", ",Unnamed: 0,a\n0,0,1\n1,1,2.5\n", &in_shell()).unwrap();
    assert_eq!((numbers(&twice.rows), names(&twice)), (vec![1.0, 2.5], vec!["a".into()]));
    let noted = |options: &Options| {
        let input = folder.open("t.csv", "index,a\n0,1\n1,2.5\n", options).unwrap();
        (input.rows.n_features(), input.rows.notes().join("; "))
    };
    let (n, note) = noted(&in_shell());
    assert_eq!(n, 2);
    assert!(note.contains("column 'index' may be the index of a table and no feature"), "{note}");
    assert!(note.ends_with("add --drop index"), "{note}");
    assert_eq!(noted(&columns("", "index", "")), (1, String::new()));
    assert_eq!(noted(&columns("index,a", "", "")), (2, String::new()));
    // The same columns in a file with types; no later column is noted.
    let (index, a) = (Int64Array::from(vec![0, 1]), Float64Array::from(vec![1.0, 2.5]));
    let fields: [(&str, ArrayRef); 2] = [("index", Arc::new(index)), ("a", Arc::new(a))];
    for (file, bytes) in in_formats(&RecordBatch::try_from_iter(fields).unwrap(), None) {
        let input = folder.open(file, bytes, &in_shell()).unwrap();
        assert_eq!((input.rows.n_features(), input.rows.notes().len()), (2, 1), "{file}");
        assert!(
            input.rows.notes()[0].contains("column 'index' may be the index"),
            "{:?}",
            input.rows.notes()
        );
    }
    for (file, bytes) in files("index", None) {
        assert!(folder.open(file, bytes, &in_shell()).unwrap().rows.notes().is_empty(), "{file}");
    }
}

#[test]
fn a_first_column_that_numbers_the_rows_is_noted_and_read() {
    let folder = Folder::new();
    let line = |first: f64, i: usize| format!("{first};{}.5;0.{}\n", i % 7, i * i % 9);
    let table = |head: &str, first: &dyn Fn(usize) -> f64| {
        head.to_string() + &(0..40).map(|i| line(first(i), i)).collect::<String>()
    };
    let opened = |text: &str, options: &Options| {
        let input = folder.open("t.csv", text, options).unwrap();
        (input.rows.n_features(), input.rows.notes().join("; "))
    };
    let counted = table("ID;a;b\n", &|i| i as f64 + 1.0);
    let (n, note) = opened(&counted, &in_shell());
    assert_eq!(n, 3, "it may be a feature");
    assert!(note.contains("t.csv: column 'ID' appears to number the rows"), "{note}");
    assert!(note.ends_with("add --drop ID"), "{note}");
    assert_eq!(opened(&counted, &columns("", "ID", "")), (2, String::new()));
    assert_eq!(opened(&counted, &columns("ID,a", "", "")), (2, String::new()));
    // Beside a column of text that is kept, numbers are written down while they are read.
    assert!(opened(&counted, &columns("", "", "b")).1.contains("column 'ID' appears"));
    assert!(opened(&table("x;a;b\n", &|i| i as f64), &in_shell()).1.contains("column 'x' appears"));
    assert!(
        opened(&table("nr;a;b\n", &|i| (i * 7 % 40) as f64), &in_shell()).1.contains("column 'nr' appears")
    );
    assert!(opened(&table("", &|i| i as f64), &in_shell()).1.ends_with("add --drop 0"));
    for (head, first) in [
        ("count;a;b\n", &(|i: usize| (i * 7 % 40) as f64) as &dyn Fn(usize) -> f64),
        ("year;a;b\n", &|i| (2000 + i / 2) as f64),
        ("class;a;b\n", &|i| (i % 2) as f64),
        ("id;a;b\n", &|i| (i % 2) as f64),
        ("x;a;b\n", &|i| i as f64 + 0.5),
    ] {
        assert_eq!(opened(&table(head, first), &in_shell()), (3, String::new()), "{head}");
    }
    let (id, a) = (
        Int64Array::from_iter_values(1..=20),
        Float64Array::from_iter_values((0..20).map(|i| f64::from(i * i % 7))),
    );
    let fields: [(&str, ArrayRef); 2] = [("id", Arc::new(id)), ("a", Arc::new(a))];
    for (file, bytes) in in_formats(&RecordBatch::try_from_iter(fields).unwrap(), None) {
        let input = folder.open(file, bytes, &in_shell()).unwrap();
        assert!(input.rows.notes().join("; ").ends_with("add --drop id"), "{file}: {:?}", input.rows.notes());
    }
    // An array has no names.
    let table: Vec<f64> = (0..40).flat_map(|i| [f64::from(i), f64::from(i * i % 7)]).collect();
    for order in [Order::C, Order::Fortran] {
        let file = npy(&table, &[40, 2], order, false);
        let noted = |options: &Options| folder.open("t.npy", &file, options).unwrap().rows.notes().join("; ");
        let note = noted(&in_shell());
        assert!(note.contains("t.npy: column 0 appears to number the rows"), "{note}");
        assert!(note.ends_with("add --drop 0"), "{note}");
        assert_eq!(noted(&columns("", "0", "")), "");
        assert_eq!(noted(&columns("0,1", "", "")), "");
        // It is a feature of a model.
        assert_eq!(noted(&Options { n_features: Some(2), ..in_shell() }), "");
        assert_eq!(noted(&Options { rows_axis: vec![1], ..in_shell() }), "");
    }
    let later: Vec<f64> = table.iter().enumerate().map(|(i, x)| if i == 60 { 7.0 } else { *x }).collect();
    let later = folder.open("t.npy", npy(&later, &[40, 2], Order::C, false), &in_shell()).unwrap();
    assert!(later.rows.notes().is_empty(), "{:?}", later.rows.notes());
}

#[test]
fn a_first_line_of_numbers_that_looks_like_names_is_a_row_with_a_warning() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|i| format!("{}.5,0.{},{},0.{}\n", i % 7, i % 9, i % 5, i % 3)).collect();
    let years = format!("2019,2020,2021,2022\n{rows}");
    let input = folder.open("t.csv", &years, &in_shell()).unwrap();
    assert_eq!(input.rows.n_rows(), Some(61), "the first line is a row");
    let note = &input.rows.notes()[0];
    let want = "line 1 (2019, 2020, 2021, 2022) was read as numbers; add --header if it holds names";
    assert!(note.contains(want), "{note}");
    for header in [true, false] {
        let options = Options { header: Some(header), ..in_shell() };
        let input = folder.open("t.csv", &years, &options).unwrap();
        assert_eq!((input.rows.n_rows(), input.rows.notes().len()), (Some(61 - u64::from(header)), 0));
    }
    let skipped = Options { skip_rows: 1, ..in_shell() };
    let behind = folder.open("t.csv", format!("about\n{years}"), &skipped).unwrap();
    assert!(behind.rows.notes()[0].contains("line 2 (2019"), "{:?}", behind.rows.notes());
    assert_eq!(folder.open("t.csv", &rows, &in_shell()).unwrap().rows.notes().len(), 0);
    let many = [folder.put("1.csv", &years), folder.put("2.csv", &years)];
    let both = unmix_io::open_many(&many, &in_shell(), &Default::default()).unwrap();
    assert_eq!(both.rows.notes().len(), 2, "one for each file");
}

#[test]
fn notes_of_the_rows_precede_the_warnings_of_the_model() {
    let folder = Folder::new();
    let mut input = folder.open("t.csv", ",a,b\n0,1,0.5\n1,2.5,0.25\n2,3,0.5\n", &in_shell()).unwrap();
    let model = unmix::fit("pca", &Default::default(), &mut input.rows, &Default::default()).unwrap();
    assert_eq!(model.report().warnings[0], input.rows.notes()[0]);
    assert_eq!(model.n_features(), 2);
}

/// Columns of lists (embeddings), as data sets of Hugging Face hold them: fixed in length by their type, or by what is in them.
#[test]
fn lists_of_numbers_of_one_length_become_columns() {
    use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, ListBuilder};
    let folder = Folder::new();
    let rows: [Option<[f32; 3]>; 3] = [Some([1.0, 2.0, 3.0]), None, Some([7.0, 8.0, 9.0])];
    let mut fixed = FixedSizeListBuilder::new(Float32Builder::new(), 3);
    let mut free = ListBuilder::new(Float32Builder::new());
    let mut ragged = ListBuilder::new(Float32Builder::new());
    for (i, row) in rows.iter().enumerate() {
        let numbers = row.unwrap_or_default();
        fixed.values().append_slice(&numbers);
        fixed.append(row.is_some());
        free.values().append_slice(if row.is_some() { &numbers } else { &[] });
        free.append(row.is_some());
        ragged.values().append_slice(&numbers[i.min(1)..]);
        ragged.append(true);
    }
    let label = Arc::new(arrow_array::StringArray::from(vec!["x", "y", "z"])) as Arc<dyn arrow_array::Array>;
    let number = Arc::new(Float64Array::from(vec![0.5, 1.5, 2.5])) as Arc<dyn arrow_array::Array>;
    let table = |lists: Arc<dyn arrow_array::Array>| {
        let each = vec![("label", label.clone()), ("embedding", lists), ("n", number.clone())];
        RecordBatch::try_from_iter(each).unwrap()
    };
    let parquet = |batch: &RecordBatch| {
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(batch).unwrap();
        writer.into_inner().unwrap()
    };
    let fixed = table(Arc::new(fixed.finish()));
    let mut file = FileWriter::try_new(Vec::new(), &fixed.schema()).unwrap();
    file.write(&fixed).unwrap();
    let feather = file.into_inner().unwrap();
    for (name, bytes) in [
        ("t.feather", feather),
        ("t.parquet", parquet(&fixed)),
        ("u.parquet", parquet(&table(Arc::new(free.finish())))),
    ] {
        let input = folder.open(name, &bytes, &columns("", "label", "")).unwrap();
        let names = ["embedding[0]", "embedding[1]", "embedding[2]", "n"];
        assert_eq!(input.rows.features().names.as_ref().unwrap()[..], names, "{name}");
        let got = numbers(&input.rows);
        assert_eq!((&got[..4], &got[8..]), (&[1.0, 2.0, 3.0, 0.5][..], &[7.0, 8.0, 9.0, 2.5][..]), "{name}");
        assert!(got[4..7].iter().all(|x| x.is_nan()) && got[7] == 1.5, "{name}: a missing list");
        let single = folder.open(name, &bytes, &columns("embedding", "", "label")).unwrap();
        assert_eq!((single.rows.dtype(), single.kept[0].1.len()), (unmix::Dtype::F32, 3));
        // The columns of a model are matched by these names, and the others are ignored.
        let wanted = Some(vec!["embedding[2]".to_string(), "embedding[0]".into()]);
        let found = folder.open(name, &bytes, &Options { wanted, ..in_shell() }).unwrap();
        assert_eq!(numbers(&found.rows)[..2], [3.0, 1.0]);
        assert_eq!(found.ignored, ["label", "n", "embedding[1]"]);
        let seen = folder.open(name, &bytes, &Options { count_text: true, ..in_shell() }).unwrap();
        let text: Vec<u64> =
            describe(&seen, &Default::default()).unwrap().columns.iter().map(|c| c.text).collect();
        assert_eq!(text, [3, 0, 0, 0, 0]);
    }
    let ragged =
        folder.refusal("r.parquet", parquet(&table(Arc::new(ragged.finish()))), &columns("", "label", ""));
    assert!(
        ragged.contains("row 1 of column 1 ('embedding') is a list of 2 numbers, and the first one has 3"),
        "{ragged}"
    );
}
