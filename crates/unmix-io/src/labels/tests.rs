//! Tests of `labels`.

use super::*;
use unmix::Rows;
use unmix::data::SelectedRows;

/// Rows to be labelled.
fn rows(n: usize) -> AnyRows<'static> {
    Rows::from_vec(vec![0.0f64; n], 1).unwrap().into()
}

#[test]
fn labels_are_read_with_and_without_a_header() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kind.csv");
    let labels = |text: &str, n| {
        std::fs::write(&path, text).unwrap();
        let file = LabelFile { path: &path, column: None, wording: Wording::Shell };
        file.read(rows(n).used(), "kind", &Run::default())
    };
    let abc = || vec!["a".to_string(), "b, c".into()];
    assert_eq!(labels("a\n\"b, c\"\n", 2).unwrap(), ("kind".to_string(), abc()));
    assert_eq!(labels("group\na\n\"b, c\"\n", 2).unwrap(), ("group".to_string(), abc()));
    let message = |text, n| labels(text, n).unwrap_err().to_string();
    let found = message("a\nb\n", 5);
    assert!(found.starts_with("--color must have one value for each of the 5 rows of the array"), "{found}");
    assert!(found.contains(", got 2 values in ") && found.contains("kind.csv; give one for each"), "{found}");
    let found = message("a,b\nc,d\n", 2);
    assert!(found.starts_with("color of a file must be one column, got 2; choose one"), "{found}");
    let found = message("a\nb\nc,d\n", 2);
    assert!(found.starts_with("color of a file must be one column, got 2 in line 3 of "), "{found}");
}

#[test]
fn labels_follow_the_rows_that_are_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kind.csv");
    let selected = SelectedRows::new(vec![0..1, 2..4], 4).unwrap();
    let three = rows(3).selected(selected);
    let labels = |text: &str, column: Option<&str>| {
        std::fs::write(&path, text).unwrap();
        let file = LabelFile { path: &path, column, wording: Wording::Shell };
        file.read(three.used(), "kind", &Run::default()).map_err(|e| e.to_string())
    };
    let acd = |name: &str| Ok((name.to_string(), ["a", "c", "d"].map(String::from).to_vec()));
    // A list with as many lines as the file has rows, and one more than rows are used, has no header where the first label is there again, or all
    // are numbers.
    let words = |name: &str, labels: [&str; 3]| Ok((name.to_string(), labels.map(String::from).to_vec()));
    assert_eq!(labels("a\nb\na\nb\n", None), words("kind", ["a", "a", "b"]));
    assert_eq!(labels("1\n2\n3\n4\n", None), words("kind", ["1", "3", "4"]));
    // It has one where the first line is there once and other labels repeat, or is the only one that is no number.
    assert_eq!(labels("group\na\nb\na\n", None), words("group", ["a", "b", "a"]));
    assert_eq!(labels("age\n1\n\"\"\n4\n", None), words("age", ["1", "", "4"]));
    assert_eq!(labels("x,BT\n1,a\n2,b\n3,a\n", Some("1")), words("BT", ["a", "b", "a"]));
    // Others may be either, unless the column is named.
    let refused = labels("kind\na\nb\nc\n", None).unwrap_err();
    assert!(
        refused.starts_with("--color")
            && refused.contains("its first line may be a header or a label: it has 4 lines"),
        "{refused}"
    );
    assert!(refused.contains("kind.csv:COLUMN, or give one value for each row that is used"), "{refused}");
    assert_eq!(labels("kind\na\nb\nc\n", Some("kind")), words("kind", ["a", "b", "c"]));
    assert!(labels("x,y\n1,a\n2,b\n3,c\n", Some("1")).unwrap_err().contains("may be a header or a label"));
    assert_eq!(labels("group\na\nb\nc\nd\n", None), acd("group"));
    assert_eq!(labels("a\nc\nd\n", None), acd("kind"));
    assert_eq!(labels("x,BT\n1,a\n2,b\n3,c\n4,d\n", Some("BT")), acd("BT"));
    assert_eq!(labels("x,BT\n1,a\n3,c\n4,d\n", Some("BT")), acd("BT"));
    let refused = labels("x,BT\n1,a\n2,b\n", Some("BT")).unwrap_err();
    let words = "each of the 3 rows selected of the array, or for each of its 4 rows, got 2 values in ";
    assert!(refused.contains(words) && refused.contains("kind.csv:BT;"), "{refused}");
    // In a handle, too; and a column of the file of the rows.
    let handle = |text: &str, columns: Option<&str>| {
        std::fs::write(&path, text).unwrap();
        let missing = Missing::Drop;
        let options = Options { columns: columns.map(Into::into), missing, ..Options::default() };
        Files::new(&[&path], options).unwrap()
    };
    let run = Run::default();
    let numbers = labels_of(&handle("n,m\n1,5\n,5\n3,5\n4.5,5\n", Some("n")), three.used(), "color", &run);
    assert_eq!(numbers.unwrap().1, ["1", "3", "4.5"]);
    let text = "x,BT,y\n1,a,?\n2,b,7\n3,c,1\n4,d,8\n";
    for column in ["BT", "1"] {
        let found = labels_in_column(&handle(text, Some("x,y")), column, three.used(), &run);
        assert_eq!(found.map_err(|e| e.to_string()), acd("BT"), "{column}");
    }
    // The only feature, and the only column.
    for columns in [Some("BT"), None] {
        let found = labels_in_column(&handle("BT\na\nb\nc\nd\n", columns), "BT", three.used(), &run);
        assert_eq!(found.map_err(|e| e.to_string()), acd("BT"), "{columns:?}");
    }
    let found = labels_in_column(&handle(text, Some("BT")), "BT", three.used(), &run);
    assert_eq!(found.map_err(|e| e.to_string()), acd("BT"));
    let refused = |column: &str| {
        labels_in_column(&handle(text, None), column, three.used(), &run).unwrap_err().to_string()
    };
    assert!(
        refused("TB").contains("there is no column named 'TB' (did you mean 'BT'?)"),
        "{}",
        refused("TB")
    );
    assert!(refused("7").starts_with("color=7 is not possible: there are 3 columns"), "{}", refused("7"));
}

#[test]
fn a_column_of_a_table_is_chosen_by_name_or_number() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("patients.csv");
    let labels = |text: &str, column: &str| {
        std::fs::write(&path, text).unwrap();
        let text = format!("{}:{column}", path.display());
        let wording = Wording::PythonPath;
        let file = LabelFile::of(&text, wording).unwrap().unwrap();
        assert_eq!(file, LabelFile { path: &path, column: Some(column), wording });
        file.read(rows(2).used(), "patients", &Run::default())
    };
    let bt = || ("BT".to_string(), vec!["B".to_string(), "T".into()]);
    assert_eq!(labels("id,BT,age\nx,B,3\ny,T,4\n", "BT").unwrap(), bt());
    assert_eq!(labels("id;BT;age\nx;B;3,5\ny;T;4,0\n", "1").unwrap(), bt());
    assert_eq!(labels("x,B\ny,T\n", "1").unwrap(), ("column 1".to_string(), bt().1));
    let e = labels("id,BT\nx,B\ny,T\n", "TB").unwrap_err();
    assert!(e.to_string().contains("there is no column named 'TB'"), "{e}");
    assert!(e.to_string().contains("id, BT"), "{e}");
}

#[test]
fn labels_of_a_handle_are_numbers_or_text() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("patients.csv");
    let labels = |text: &str, columns: Option<&str>| {
        std::fs::write(&path, text).unwrap();
        let wording = Wording::PythonRead;
        let options = Options { columns: columns.map(Into::into), wording, ..Options::default() };
        labels_of(&Files::new(&[&path], options)?, rows(2).used(), "color", &Run::default())
    };
    let words = |name: &str, values: [&str; 2]| (name.to_string(), values.map(String::from).to_vec());
    let table = "id,BT,age\nx,B,3\ny,T,4.5\n";
    assert_eq!(labels(table, Some("BT")).unwrap(), words("BT", ["B", "T"]));
    assert_eq!(labels(table, Some("1")).unwrap(), words("BT", ["B", "T"]));
    assert_eq!(labels(table, Some("age")).unwrap(), words("age", ["3", "4.5"]));
    assert_eq!(labels("BT\nB\nT\n", None).unwrap(), words("BT", ["B", "T"]));
    assert_eq!(labels("1\n2\n", None).unwrap(), words("color", ["1", "2"]));
    let message = labels(table, None).unwrap_err().to_string();
    assert!(
        message.starts_with("color of a file must be one column, got 3; choose one, as in unmix.open("),
        "{message}"
    );
}
