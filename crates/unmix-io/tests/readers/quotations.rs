//! Quotation marks, commas within quotation marks, and lines that are not part of a table.

use crate::files::*;
use unmix::Run;
use unmix_io::{Files, Options, describe, open_with};

fn id_left_out() -> Options {
    Options { drop: Some("id".into()), ..in_shell() }
}

#[test]
fn a_quotation_that_is_open_at_the_end_of_the_file_is_refused() {
    let text = "a,b,id\n1,2,x\n3,1,\"y\n5,6,z\n7,9,w\n2,2,v\n";
    let b = Folder::new();
    for options in [id_left_out(), Options { count_text: true, ..in_shell() }] {
        for (name, bytes) in [("u.csv", text.as_bytes().to_vec()), ("u.csv.gz", gz(text.as_bytes()))] {
            let message = b.refusal(name, bytes, &options);
            assert!(
                message.contains("a cell that begins on line 3 contains all lines that follow"),
                "{message}"
            );
            assert!(message.ends_with("close the quotation mark that opens there"), "{message}");
        }
    }
    // The last byte, the header, and cells that are separated by blanks.
    for (text, line) in [("a,b\n1,2\n3,\"", 3), ("a,\"b\n1,2\n", 1), ("a b\n1 \"2\n3 4\n", 2)] {
        let message = b.refusal("u.csv", text, &in_shell());
        assert!(message.contains(&format!("begins on line {line} contains")), "{text:?}: {message}");
    }
    // Lines after the requested rows are not read.
    let some = Options { rows: Some((0, Some(1))), ..id_left_out() };
    assert_eq!(numbers(&b.open("u.csv", text, &some).unwrap().rows), [1.0, 2.0]);
}

#[test]
fn an_open_quotation_is_found_by_any_number_of_threads() {
    // More than one piece of text for each thread, with the quotation in the first, in one between, and in the last.
    let line = |i: usize, open: bool| format!("{i},{},{}r{i}\n", i % 7, if open { "\"" } else { "" });
    let n = 120_000;
    let b = Folder::new();
    for at in [5, n / 2, n - 1] {
        let text: String = (0..n).map(|i| line(i, i == at)).collect();
        let path = b.put("long.csv", format!("a,b,id\n{text}"));
        for threads in [1, 4] {
            let run = Run { threads, ..Run::default() };
            let Err(e) = open_with(&path, &id_left_out(), &run) else { panic!("line {at} is read") };
            let want = format!("a cell that begins on line {} contains", at + 2);
            assert!(e.to_string().contains(&want), "{threads} threads: {e}");
        }
    }
}

#[test]
fn quotations_that_are_closed_are_read() {
    for text in [
        "a,b,id\n1,2,\"x\"\n3,4,\"y\"",
        "a,b,id\n1,2,\"x\ny\"\n3,4,\"y\n\n\"\n",
        "a,b,id\r\n1,2,\"x\r\n\"\r\n3,4,\"\"\"\"",
        "a,b,id\n1,2,5\"\n3,4,6\"",
        "id,a,b\n\"x\",1,\"2\"\ny,3,\"4\"",
    ] {
        for (name, bytes) in [("c.csv", text.as_bytes().to_vec()), ("c.csv.gz", gz(text.as_bytes()))] {
            let input = Folder::new().open(name, bytes, &id_left_out()).unwrap();
            assert_eq!(numbers(&input.rows), [1.0, 2.0, 3.0, 4.0], "{text:?}");
        }
    }
}

#[test]
fn labels_with_an_open_quotation_are_refused() {
    let b = Folder::new();
    let path = b.put("labels.csv", "id,kind\nx,\"B\ny,T\nz,T\n");
    let text = format!("{}:kind", path.display());
    let file = unmix_io::LabelFile::of(&text, unmix_io::Wording::Shell).unwrap().unwrap();
    let rows = unmix::Rows::from_vec(vec![0.0f64; 3], 1).unwrap();
    let message = file.read(rows.used(), "kind", &Run::default()).unwrap_err().to_string();
    assert!(message.contains("a cell that begins on line 2 contains all lines that follow"), "{message}");
}

#[test]
fn commas_in_cells_between_commas_are_not_taken_for_decimal_marks() {
    let refused = |text: &str| Folder::new().refusal("t.csv", text, &in_shell());
    let message = refused("a,b,c\n\"1,000\",2,3\n1,2,5\n");
    assert!(!message.contains("--decimal"), "{message}");
    assert!(message.contains("write numbers without commas (separators of thousands?)"), "{message}");
    assert!(message.contains("leave the column out with --drop a"), "{message}");
    let message = refused("a,b\n\"1,5\",2\n1,2\n");
    assert!(
        message.contains("decimal points in place of commas") && !message.contains("--decimal"),
        "{message}"
    );
    let message = refused("a;b\n1,5;2\n1;2\n");
    assert!(message.contains("add --decimal ,"), "{message}");
    let count = Options { count_text: true, ..in_shell() };
    for (text, separate) in [("a,b\n\"1,000\",2\n1,2\n", true), ("a;b\n1,5;2\n1;2\n", false)] {
        let b = Folder::new();
        let files = Files::new(&[b.put("t.csv", text)], count.clone()).unwrap();
        let found = describe(&files.open(&Run::default()).unwrap(), &Run::default()).unwrap();
        assert_eq!((found.decimal_commas, found.commas_separate), (1, separate), "{text:?}");
    }
}

#[test]
fn lines_below_the_header_that_are_no_rows_are_named() {
    let refused = |text: &str| Folder::new().refusal("t.csv", text, &in_shell());
    let table = "1,2,5\n3,4,1\n5,7,2\n";
    let message = refused(&format!("a,b,c\n# hi\n{table}"));
    assert!(message.contains("line 2 has 1 cell, but the first line has 3"), "{message}");
    assert!(message.ends_with("delete line 2, which is not part of the table"), "{message}");
    let message = refused(&format!("a,b,c\n# hi\n\n# ho\n{table}"));
    assert!(message.ends_with("delete lines 2 to 4, which are not part of the table"), "{message}");
    // The names are just above the table.
    let message = refused(&format!("by,me,today\n# hi\na,b,c\n{table}"));
    assert!(message.ends_with("skip the lines before the table with --skip-rows 2"), "{message}");
    let message = refused(&format!("# hi\na,b,c\n{table}"));
    assert!(message.contains("--skip-rows 1"), "{message}");
}
