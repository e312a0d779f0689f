//! Text files: CSV, TSV and their variants.

use crate::files::*;
use proptest::prelude::*;
use unmix_io::Options;

fn read(name: &str, text: impl AsRef<[u8]>, options: &Options) -> unmix_io::Input {
    Folder::new().open(name, text, options).unwrap()
}

fn refused(text: impl AsRef<[u8]>, options: &Options) -> String {
    Folder::new().refusal("t.csv", text, options)
}

fn no_options() -> Options {
    in_shell()
}

#[test]
fn a_plain_table_is_read_with_its_names() {
    let input = read("t.csv", "a,b\n1,2\n3,4.5\n", &no_options());
    assert_eq!(numbers(&input.rows), [1.0, 2.0, 3.0, 4.5]);
    assert_eq!(input.rows.features().names, Some(vec!["a".into(), "b".into()]));
    assert_eq!((input.format.as_str(), input.stored.as_str()), ("csv", "text"));
    assert_eq!(input.shape, [Some(2), Some(2)]);
}

#[test]
fn tables_in_every_notation_give_the_same_rows() {
    let want = [1.0, -2.5, 3e-4, 4.0, 5.0, 6.0];
    let plain = "a,b,c\n1,-2.5,3e-4\n4,5,6\n";
    for (name, text) in [
        ("t.csv", plain.to_string()),
        ("t.CSV", plain.to_string()),
        ("t.csv", plain.replace('\n', "\r\n")),
        ("t.csv", plain.replace('\n', "\r")),
        ("t.csv", format!("\u{feff}{plain}")),
        ("t.csv", format!("{plain}\n\n\r\n  \n")),
        ("t.csv", format!("\n\n{plain}")),
        ("t.csv", plain.trim_end().to_string()),
        ("t.csv", plain.replace(',', ";")),
        ("t.csv", plain.replace(',', "\t")),
        ("t.csv", plain.replace(',', "|")),
        ("t.csv", plain.replace(',', " , ")),
        ("t.tsv", plain.replace(',', "\t")),
        ("t.tsv", plain.to_string()),
        ("t.csv", "\"a\",\"b\",c\n\"1\",\"-2.5\",3E-4\n+4,5.0,\"6\"\n".to_string()),
    ] {
        for (name, text) in
            [(name.to_string(), text.clone().into_bytes()), (format!("{name}.gz"), gz(text.as_bytes()))]
        {
            let input = read(&name, &text, &no_options());
            assert_eq!(numbers(&input.rows), want, "{name} {text:?}");
            assert_eq!(
                input.rows.features().names,
                Some(vec!["a".into(), "b".into(), "c".into()]),
                "{text:?}"
            );
        }
    }
}

#[test]
fn missing_cells_are_nan() {
    let input = read("t.csv", "a,b,c\n,NA,1\nnan,NULL,2\n NaN ,null,\n", &no_options());
    let missing: Vec<bool> = numbers(&input.rows).iter().map(|x| x.is_nan()).collect();
    assert_eq!(missing, [true, true, false, true, true, false, true, true, true]);
    let input = read("t.csv", "a,b\ninf,-inf\n", &no_options());
    assert_eq!(numbers(&input.rows), [f64::INFINITY, f64::NEG_INFINITY]);
}

#[test]
fn the_first_line_is_a_header_or_a_row_or_ambiguous() {
    let header = |h: Option<bool>, skip: usize| Options { header: h, skip_rows: skip, ..in_shell() };
    let rows = |text: &str, options: &Options| read("t.csv", text, options).rows.n_rows().unwrap();
    assert_eq!(rows("a,b\n1,2\n", &no_options()), 1);
    assert_eq!(rows("1,2\n3,4\n", &no_options()), 2);
    assert_eq!(rows("1,2\n3,4\n", &header(Some(true), 0)), 1);
    assert_eq!(
        refused("150,4,setosa\n5.1,3.5,0\n", &no_options()),
        "t.csv cannot be read: line 1 holds numbers ('150') as well as text ('setosa'), so it may or may not be a header; \
         add --header if it holds column names, --no-header if it is a row, or --skip-rows 1 to skip it"
    );
    assert_eq!(rows("150,4,setosa\n5.1,3.5,0\n", &header(None, 1)), 1);
    assert_eq!(rows("150,4,setosa\n5.1,3.5,0\n", &header(Some(true), 0)), 1);
    assert!(refused("\n150,x\n1,2\n", &no_options()).contains("line 2 holds"));
    assert!(refused("junk\n150,x\n1,2\n", &header(None, 1)).contains("line 2 holds"));
    assert!(
        refused("5.1,a\n1,b\n", &header(Some(false), 0)).contains("row 0, column 1 is the text 'a' (line 1)")
    );
    let input = read("t.csv", "2001,2002\n1,2\n", &header(Some(true), 0));
    assert_eq!(input.rows.features().names, Some(vec!["2001".into(), "2002".into()]));
}

#[test]
fn text_in_a_column_is_named_by_row_column_and_line() {
    assert_eq!(
        refused("size,kind\n1,2\n\n3,big one\n", &no_options()),
        "t.csv cannot be read: row 1, column 1 ('kind') is the text 'big one' (line 4); \
         leave the column out with --drop kind, or copy it to the output with --keep kind; \
         or add --na 'big one' if that marks a missing cell"
    );
    let mark = refused("size,kind\n1,n.a.\n3,4\n", &no_options());
    assert!(mark.contains("add --na n.a. if that marks a missing cell"), "{mark}");
    assert!(!refused("size,kind\n1,x\n3,4\n", &no_options()).contains("--na"));
    let message = refused("1,2\r\n3,4\r\n5,x\r\n", &no_options());
    assert!(
        message.contains("row 2, column 1 is the text 'x' (line 3); leave the column out with --drop 1"),
        "{message}"
    );
    let message = refused("\"a, b\",c\n\"two\nlines\",2\n", &no_options());
    assert!(message.contains("'two lines' (line 2)") && message.contains("--drop '\"a, b\"'"), "{message}");
    assert!(
        refused("a;b\n1,5;2\n", &no_options())
            .ends_with("add --decimal , if numbers have decimal commas, or write decimal points")
    );
    assert!(
        refused("junk\njunk\na,b\n1,x\n", &Options { skip_rows: 2, ..no_options() }).contains("(line 4)")
    );
    let path = Folder::new();
    let message = path.refusal("t.csv.gz", gz(b"a,b\n1,2\n3,x\n"), &no_options());
    assert!(message.contains("row 1, column 1 ('b') is the text 'x' (line 3)"), "{message}");
}

#[test]
fn lines_of_unequal_length_are_refused() {
    assert_eq!(
        refused("a,b,c\n1,2,3\n4,5\n", &no_options()),
        "t.csv cannot be read: line 3 has 2 cells, but the first line has 3; \
         give all lines the same number of cells, or skip lines that are not part of the table with --skip-rows"
    );
    assert!(refused("1,2\n3,4,5\n", &no_options()).contains("line 2 has 3 cells, but the first line has 2"));
    assert!(refused("a,b\r\n1,2\r\n\r\n1,2,x\r\n", &no_options()).contains("line 4 has 3 cells"));
}

#[test]
fn columns_are_chosen_by_name_and_number() {
    let text = "id,x,y,kind\n7,1,2,\"big, red\"\n8,3,4, small \n";
    let input = read("t.csv", text, &columns("y,1", "", "kind,id"));
    assert_eq!(numbers(&input.rows), [2.0, 1.0, 4.0, 3.0]);
    assert_eq!(input.rows.features().names, Some(vec!["y".into(), "x".into()]));
    let kept = |name: &str, cells: &[&str]| {
        (name.to_string(), cells.iter().map(|c| c.to_string()).collect::<Vec<_>>())
    };
    assert_eq!(input.kept, [kept("kind", &["big, red", " small "]), kept("id", &["7", "8"])]);
    assert_eq!(input.shape, [Some(2), Some(4)]);
    let input = read("t.csv", text, &columns("", "kind", "0"));
    assert_eq!(numbers(&input.rows), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(input.kept, [kept("id", &["7", "8"])]);
    assert!(refused(text, &columns("z", "", "")).contains("there is no column named 'z'"));
    assert!(refused(text, &columns("", "0-3", "")).contains("it leaves no column"));
    let numbered = read("t.csv", "1,a\n2,b\n", &Options { header: Some(false), ..columns("", "", "1") });
    assert_eq!(numbered.kept, [kept("1", &["a", "b"])]);
}

#[test]
fn a_table_can_be_transposed() {
    let options = Options { transpose: true, ..columns("", "name", "") };
    let text = "name,0,1,2\nleft,1,2,3\nright,4,5,6\n";
    let input = read("t.csv", text, &Options { header: Some(true), ..options.clone() });
    assert_eq!((input.rows.n_rows(), input.rows.n_features()), (Some(3), 2));
    assert_eq!(numbers(&input.rows), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let names = |input: &unmix_io::Input| input.rows.features().names.clone().unwrap_or_default();
    assert_eq!((names(&input), input.kept.len()), (vec!["left".into(), "right".into()], 0));
}

#[test]
fn the_names_of_a_transposed_table_are_those_of_its_text_column_and_its_header() {
    let text = "gene,cell1,cell2,cell3\nBRCA1,1,2,3\nTP53,4,5,6\nBRCA1,7,8,9\n";
    let transpose = |options: Options| Options { transpose: true, row_names: true, ..options };
    let names = |input: &unmix_io::Input| input.rows.features().names.clone().unwrap_or_default();
    let cells = ["cell1", "cell2", "cell3"];
    for options in [columns("", "gene", ""), columns("", "", "gene"), no_options(), columns("1-3", "", "")] {
        let requested = options.keep.is_some();
        let input = read("t.csv", text, &transpose(options.clone()));
        assert_eq!(names(&input), ["BRCA1", "TP53", "BRCA1.1"], "{options:?}");
        assert_eq!(numbers(&input.rows), [1.0, 4.0, 7.0, 2.0, 5.0, 8.0, 3.0, 6.0, 9.0]);
        assert_eq!(input.row_names.clone().unwrap(), cells);
        assert_eq!(
            input.kept,
            if requested { vec![("name".to_string(), cells.map(String::from).to_vec())] } else { vec![] }
        );
        // Only a column that was not requested is noted.
        let noted = input.rows.notes().iter().any(|n| n.contains("column 0 ('gene') is text and names the"));
        assert_eq!(noted, options.columns.is_none() && options.drop.is_none() && !requested);
    }
    // The columns of a model are matched by these names.
    let wanted = Some(["TP53", "BRCA1"].map(String::from).to_vec());
    let input = read("t.csv", text, &transpose(Options { wanted, ..no_options() }));
    assert_eq!(
        (names(&input), input.ignored),
        (vec!["TP53".into(), "BRCA1".into()], vec!["BRCA1.1".to_string()])
    );
    assert_eq!(numbers(&input.rows), [4.0, 1.0, 5.0, 2.0, 6.0, 3.0]);
    // Without a header the rows have no names.
    let bare = read("t.csv", "a,1,2\nb,3,4\n", &transpose(Options { header: Some(false), ..no_options() }));
    assert_eq!((names(&bare), bare.row_names), (vec!["a".to_string(), "b".into()], None));
    // A second column of text is an error, as it is elsewhere.
    let two = "gene,kind,cell1\nBRCA1,x,1\n";
    assert!(refused(two, &transpose(no_options())).contains("column 1 ('kind') is the text 'x'"));
}

#[test]
fn files_that_are_not_tables_are_refused_in_one_sentence() {
    assert!(refused("", &no_options()).contains("it is empty"));
    assert!(refused("\n\n\n", &no_options()).contains("it holds blank lines only"));
    assert!(refused("a,b\n", &no_options()).contains("it has a header but no rows"));
    assert!(
        refused("1,2\n", &Options { skip_rows: 1, ..no_options() }).contains("no lines remain after those")
    );
    let message = refused("1,2\n3,4\n", &Options { skip_rows: 7, ..no_options() });
    assert!(
        message.starts_with("skip_rows=7 is not possible") && message.contains("has 2 lines"),
        "{message}"
    );
    assert!(
        refused(b"PK\x03\x04\x00\x00", &no_options()).contains("null bytes, which text does not contain")
    );
    assert!(refused(b"\xff\xfea\x00,\x00b\x00", &no_options()).contains("UTF-16"));
    let windows = b"stadt;H\xf6;H\xe4\nK\xf6ln;1;2\nK\xe4ln;3;4\n";
    let options = Options { keep: Some("stadt".into()), ..no_options() };
    let input = Folder::new().open("t.csv", windows, &options).unwrap();
    assert_eq!(input.kept[0].1, ["K\u{f6}ln", "K\u{e4}ln"]);
    let names = unmix::with_rows!(&input.rows, rows => rows.features().names.clone());
    assert_eq!(names.unwrap(), ["H\u{f6}", "H\u{e4}"]);
    assert_eq!(input.rows.notes().iter().filter(|note| note.contains("read as Windows-1252")).count(), 1);
    let axis = Options { rows_axis: vec![1], ..no_options() };
    assert!(refused("1,2\n", &axis).contains("every line of a text file is a row"));
}

#[test]
fn numbers_of_every_form_are_rounded_correctly_with_every_delimiter() {
    let cells = [
        "0",
        "-0",
        "+0.0",
        "00042",
        "-1",
        "+3",
        ".5",
        "7.",
        "1e5",
        "1E-7",
        "-2.5e+3",
        "0.1",
        "12.50",
        "100.00",
        "123456789012345678",
        "9007199254740993",
        "9007199254740993.0",
        "18446744073709551615",
        "98765432109876543210",
        "0.30000000000000004",
        "-0.5975311888767603",
        "1.234567890123456789e+00",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "1e400",
        "-1e400",
        "1e-320",
        "4.9e-324",
        "2e-324",
        "1e-400",
        "0.1000000000000000055511151231257827021181583404541015625",
        "0.000000000000000000000000000000000123",
        "8.98846567431158e307",
        "1e22",
        "1e23",
        "123456789e-40",
        "inf",
        "-Infinity",
        "+inf",
        " 2.5 ",
        "3\t",
        "NaN",
        "NA",
        "",
    ];
    let want: Vec<f64> = cells.iter().map(|cell| cell.trim().parse().unwrap_or(f64::NAN)).collect();
    // Each cell is in the first, in the middle and in the last column of a row.
    let n = cells.len();
    let rows: Vec<[usize; 3]> = (0..n).map(|i| [i, (i + 1) % n, (i + 7) % n]).collect();
    for end in ["\n", "\r\n"] {
        for delimiter in [",", ";", "|"] {
            for last_end in [end, ""] {
                let lines: Vec<String> =
                    rows.iter().map(|row| row.map(|j| cells[j]).join(delimiter)).collect();
                let text = ["a", "b", "c"].join(delimiter) + end + &lines.join(end) + last_end;
                let quoted = text.replace("12.50", "\"12.50\"");
                let numbers_of = |text: &str| numbers(&read("t.csv", text, &no_options()).rows);
                let found: Vec<u64> = rows.iter().flatten().map(|&j| want[j].to_bits()).collect();
                assert_eq!(bits(&numbers_of(&text)), found, "{delimiter:?} {end:?}");
                assert_eq!(bits(&numbers_of(&quoted)), found, "by the general reader, {delimiter:?} {end:?}");
            }
        }
    }
}

#[test]
fn truth_values_and_minus_signs_are_numbers() {
    let flags = "smoker,x\nTRUE,\u{2212}1.5\nFalse,2e\u{2212}1\n";
    assert_eq!(numbers(&read("t.csv", flags, &no_options()).rows), [1.0, -1.5, 0.0, 0.2]);
    let quoted = flags.replace("TRUE", "\"TRUE\"");
    assert_eq!(numbers(&read("t.csv", quoted, &no_options()).rows), [1.0, -1.5, 0.0, 0.2]);
    // Beside numbers they are a row; alone they may be names.
    assert_eq!(
        numbers(&read("t.csv", "true,\u{2212}5\nfalse,7\n", &no_options()).rows),
        [1.0, -5.0, 0.0, 7.0]
    );
    assert!(refused("TRUE\nFALSE\nTRUE\n", &no_options()).contains("line 1 holds truth values only"));
    let bare = Options { header: Some(false), ..no_options() };
    assert_eq!(numbers(&read("t.csv", "TRUE\nFALSE\n", &bare).rows), [1.0, 0.0]);
    let comma = Options { decimal_comma: true, ..no_options() };
    assert_eq!(numbers(&read("t.csv", "a;b\n\u{2212}1,5;true\n", &comma).rows), [-1.5, 1.0]);
    // A mark of missing cells that is a number is not on them, nor do they mark numbers.
    for (mark, missing) in [("0", [false, true]), ("FALSE", [true, false])] {
        let marked = Options { na: vec![mark.into()], ..no_options() };
        let found = numbers(&read("t.csv", "a,b\nFALSE,0\n", &marked).rows);
        assert_eq!(found.iter().map(|x| x.is_nan()).collect::<Vec<_>>(), missing, "{mark}");
    }
}

#[test]
fn a_mark_of_missing_cells_is_given_once() {
    let marks =
        |marks: &[&str]| Options { na: marks.iter().map(|m| m.to_string()).collect(), ..no_options() };
    for twice in [&["?", "?"][..], &["-", "?", " ? "]] {
        let message = refused("a,b\n1,?\n2,3\n", &marks(twice));
        assert!(
            message.contains("na must be distinct, got '?' more than once; give each mark once"),
            "{message}"
        );
    }
    assert!(numbers(&read("t.csv", "a,b\n1,?\n", &marks(&["?", "-"])).rows)[1].is_nan());
}

#[test]
fn additional_files_are_not_refused_with_options_of_the_input() {
    let own = |decimal_comma| Options { by_contents: true, decimal_comma, ..no_options() };
    for (text, remedy) in [
        ("s,x\na,1\nb,2\n", "(line 2); give a file that holds these numbers only"),
        ("x,y\n1,2\nb,4\n", "(line 3); give a file that holds these numbers only"),
        ("x,y\n1,2\n3,?\n", "write NA if that marks a missing cell; or give a file that holds"),
        ("x,y\n1,2\nTotal,2\n", "if a summary ends the table here, delete it; or give a file that holds"),
        ("x\n1 2\n3 4\n", "separate the cells by commas in place of blanks"),
        ("x,y\n1,2\n3,4,5\n", "or delete lines that are not part of the table"),
        ("made by a program\na,b,c\n1,2,3\n4,5,7\n1,2,3\n", "delete the lines before the table"),
        (
            "made by a program\nin two lines\na,b,c\n1,2,3\n4,5,7\n1,2,3\n",
            "if the table begins below, delete the lines before it; or give a file that holds",
        ),
    ] {
        let message = refused(text, &own(false));
        assert!(message.contains(remedy) && !message.contains("--"), "{text:?}: {message}");
    }
    let pointed = refused("x;y\n1,5;2\n1.234;4\n", &own(true));
    assert!(pointed.contains("wrote the file; or give a file that holds these numbers only"), "{pointed}");
    // Of the input, options help.
    assert!(refused("s,x\na,1\nb,2\n", &no_options()).contains("leave the column out with --drop s"));
}

#[test]
fn lines_after_the_requested_rows_are_not_read() {
    let text = "a,b\n1,2\n3,4\nTotal,6\nsource: a census\n";
    let rows = |end: u64| Options { rows: Some((0, Some(end))), ..no_options() };
    assert_eq!(numbers(&read("t.csv", text, &rows(2)).rows), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(numbers(&read("t.csv", text, &rows(1)).rows), [1.0, 2.0]);
    assert!(refused(text, &rows(3)).contains("is the text 'Total' (line 4)"));
    // Lines of a transposed table are features.
    let across = Options { transpose: true, ..rows(1) };
    assert_eq!(numbers(&read("t.csv", "1,2\n3,4\n5,6\n", &across).rows), [1.0, 3.0, 5.0]);
}

#[test]
fn bytes_that_are_not_text_are_refused_in_numbers_and_ignored_elsewhere() {
    let text: &[u8] = b"a,b\n1,caf\xe9\n2,\xff\xfe\n";
    assert_eq!(numbers(&read("t.csv", text, &columns("a", "", "")).rows), [1.0, 2.0]);
    let message = refused(text, &no_options());
    assert!(message.contains("row 0, column 1 ('b') is the text 'caf\u{e9}' (line 2)"), "{message}");
}

#[test]
fn a_row_without_any_number_is_a_row_and_a_line_of_blanks_is_not() {
    for (name, text) in [("t.tsv", "a\tb\n1\t2\n\t\n  \n3\t4\n"), ("t.csv", "a,b\n1,2\n,\n  \n3,4\n")] {
        for text in [text.to_string(), text.replace('3', "\"3\"")] {
            let found = numbers(&read(name, &text, &no_options()).rows);
            assert_eq!(bits(&found), bits(&[1.0, 2.0, f64::NAN, f64::NAN, 3.0, 4.0]), "{text:?}");
        }
    }
}

/// An observer that interrupts the run at the first progress event of reading.
#[derive(Default)]
struct StopAtFirstEvent(std::sync::atomic::AtomicBool);

impl unmix::Observer for StopAtFirstEvent {
    fn event(&self, event: unmix::Event<'_>) {
        if let unmix::Event::Sweep { stage: "reading", done, .. } = event {
            self.0.store(done > 0, std::sync::atomic::Ordering::Relaxed);
        }
    }
    fn interrupted(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}

#[test]
fn reading_a_long_table_can_be_interrupted() {
    let folder = Folder::new();
    let path = folder.put("t.csv", "1,2\n".repeat(200_000));
    let observer = StopAtFirstEvent::default();
    let run = unmix::Run { observer: &observer, ..Default::default() };
    assert!(matches!(unmix_io::open_with(&path, &no_options(), &run), Err(unmix::Error::Interrupted)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A table written with 17 digits is read back to the bit, and has the bits of the array of the same numbers.
    #[test]
    fn seventeen_digits_are_enough(
        n in 1usize..30,
        p in 1usize..6,
        seed in any::<u64>(),
        delimiter in prop::sample::select(vec![',', ';', '\t', '|']),
        end in prop::sample::select(vec!["\n", "\r\n"]),
        named in any::<bool>(),
    ) {
        let mut state = seed | 1;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let x = f64::from_bits(state);
            if x.is_finite() { x } else { state as f64 }
        };
        let data: Vec<f64> = (0..n * p).map(|_| next()).collect();
        let line = |cells: Vec<String>| cells.join(&delimiter.to_string()) + end;
        let mut text: String = if named { line((0..p).map(|j| format!("c{j}")).collect()) } else { String::new() };
        data.chunks(p).for_each(|row| text += &line(row.iter().map(|x| format!("{x:.17e}")).collect()));
        let folder = Folder::new();
        let array = folder.open("a.npy", npy(&data, &[n, p], Order::Fortran, true), &no_options()).unwrap();
        for (name, text) in [("t.csv", text.clone().into_bytes()), ("t.tsv.gz", gz(text.as_bytes()))] {
            let table = folder.open(name, text, &no_options()).unwrap();
            prop_assert_eq!(bits(&numbers(&table.rows)), bits(&data));
            prop_assert_eq!(bits(&numbers(&table.rows)), bits(&numbers(&array.rows)));
        }
    }

    /// The line number in a message counts lines of the file, whatever line ends, blank lines and quoted line breaks come before.
    #[test]
    fn lines_are_counted_as_an_editor_counts_them(
        before in prop::collection::vec(prop::sample::select(vec!["1,2", "", "\"3\",4", "5,\"6\n\""]), 0..30),
        end in prop::sample::select(vec!["\n", "\r\n"]),
        skip in 0usize..3,
    ) {
        let mut text = format!("junk{end}").repeat(skip) + "a,b" + end;
        before.iter().for_each(|line| text += &(line.to_string() + end));
        let want = text.matches('\n').count() + 1;
        text += "7,bad";
        let message = refused(&text, &Options { skip_rows: skip, ..no_options() });
        prop_assert!(message.contains(&format!("'bad' (line {want})")), "{} in {:?}", message, text);
    }
}

#[test]
fn columns_of_fixed_width_that_touch_are_refused_with_their_place() {
    let touch = "these are 2 numbers without a separator: write the file again with wider columns";
    // In the first rows, behind the lines that decide about the delimiter, in the first line, in all lines, and beside names.
    let filled = |n: usize| "  1.500000  2.500000\n".repeat(n);
    let two = " -1.500000-12.500000\n";
    for (text, found) in [
        (
            format!("{}{two}{}", filled(2), filled(3)),
            "line 3 has 1 cell, but the first line has 2, and row 2, column 0",
        ),
        (
            format!("{}{two}", filled(99)),
            "line 100 has 1 cell, but the first line has 2, and row 99, column 0",
        ),
        (format!("{two}{}", filled(4)), "row 0, column 0 is the text '-1.500000-12.500000' (line 1)"),
        (two.repeat(5), "row 0, column 0 is the text '-1.500000-12.500000' (line 1)"),
        (
            format!("  a  b\n{}{two}", filled(3)),
            "line 5 has 1 cell, but the first line has 2, and row 3, column 0",
        ),
    ] {
        for name in ["t.csv", "t.txt", "t.dat"] {
            let message = Folder::new().refusal(name, &text, &no_options());
            assert!(message.contains(found) && message.contains(touch), "{name}: {message}");
        }
        let by_blanks = Options { delimiter: Some(b' '), ..no_options() };
        let message = refused(&text, &by_blanks);
        assert!(message.contains(touch), "{message}");
    }
    // Beside a column that does not touch, the columns are those that are seen.
    let message = refused("1.5 -2.5-3.5\n2.5 -3.5-4.5\n", &no_options());
    assert!(message.contains("row 0, column 1 is the text '-2.5-3.5' (line 1)"), "{message}");
    assert!(message.contains(touch) && message.contains("--drop 1"), "{message}");
}

#[test]
fn exponents_that_only_fortran_reads_are_refused_with_the_number_as_it_would_be_read() {
    for (text, number) in [("0.1D+01 0.2D+01\n", "0.1e+01"), ("1.5 0.1234-105\n", "0.1234e-105")] {
        let message = refused(text.repeat(4), &no_options());
        assert!(message.contains(&format!("write exponents with e, as in {number}")), "{message}");
        assert!(message.contains("row 0, column"), "{message}");
    }
}
