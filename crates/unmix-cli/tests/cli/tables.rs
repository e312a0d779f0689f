//! Tables as text: delimiters, names, indices, and messages about what is wrong with them.

use crate::folder::Folder;
use unmix::Model;

#[test]
fn the_index_of_a_table_is_left_out_with_a_note() {
    let b = Folder::new();
    let line = |i: i32| format!("{i},{}.5,{}.25,{}\n", i % 7, (i * i) % 11, (i * 3) % 5);
    b.write("t.csv", ",a,b,c\n".to_string() + &(0..40).map(line).collect::<String>());
    let fitted = b.ok("fit pca t.csv -k 2 -o m.safetensors");
    let note = "t.csv: column 0 (no name) is the index of a table and left out; to read all columns as features, add --columns 0-3";
    assert_eq!(fitted.err.matches(note).count(), 1, "{}", fitted.err);
    let model = Model::load(&b.path("m.safetensors")).unwrap();
    assert_eq!((model.n_features(), model.report().warnings[0].as_str()), (3, note));
    assert!(b.ok("encode m.safetensors t.csv").err.contains(note));
    assert!(b.ok("show t.csv").err.contains(note));
    assert!(b.ok("select t.csv").err.contains(note));
    assert!(b.ok("show t.csv --json").out.contains("\"notes\": ["));
    let whole = b.ok("fit pca t.csv -k 2 --columns 0-3 -o w.safetensors");
    assert!(whole.err.is_empty(), "{}", whole.err);
    assert_eq!(Model::load(&b.path("w.safetensors")).unwrap().n_features(), 4);
    assert!(b.ok("encode w.safetensors t.csv").err.is_empty(), "the index is a feature of this model");
    // Where a fit fails, the notes about the rows are printed, too: they may name the cause.
    b.write("e.csv", "a,b,c\n1,2,\n2,1,\n3,5,\n");
    let failed = b.run("fit pca e.csv -o e.safetensors");
    assert_eq!(failed.code, 1);
    assert!(failed.err.contains("column 2 ('c') is empty; leave it out with --drop 2"), "{}", failed.err);
    b.ok("fit pca e.csv --drop 2 -o e.safetensors");
}

#[test]
fn a_delimiter_at_the_end_of_every_line_makes_no_column() {
    let b = Folder::new();
    let line = |i: i32, end: &str| format!("{}.5;{};{}.25{end}\n", i % 7, (i * i) % 11, (i * 3) % 5);
    let lines = |end: &str| (0..40).map(|i| line(i, end)).collect::<String>();
    b.write("plain.csv", format!("a;b;c\n{}", lines("")));
    b.write("bare.csv", lines(""));
    b.ok("fit pca plain.csv -k 2 -o plain.safetensors");
    b.ok("fit pca bare.csv -k 2 -o bare.safetensors");
    let components = |model: &str| Model::load(&b.path(model)).unwrap().tensor("components").cloned();
    let note = "every row ends in a delimiter; the empty column that this makes is left out";
    for (name, text, same) in [
        ("both.csv", format!("a;b;c;\n{}", lines(";")), "plain.safetensors"),
        ("rows.csv", format!("a;b;c\n{}", lines(";")), "plain.safetensors"),
        ("none.csv", lines(";"), "bare.safetensors"),
    ] {
        b.write(name, text);
        let fitted = b.ok(&format!("fit pca {name} -k 2 -o m.safetensors"));
        assert_eq!(fitted.err.matches(note).count(), 1, "{name}: {}", fitted.err);
        assert_eq!(components("m.safetensors"), components(same), "{name}");
        assert_eq!(b.ok(&format!("encode m.safetensors {name}")).out.lines().count(), 41, "{name}");
        assert!(b.ok(&format!("show {name}")).out.contains("columns            3"), "{name}");
    }
    // The column may be named by its number, as that of every other empty column.
    assert!(!b.ok("fit pca both.csv -k 2 --drop 3 -o m.safetensors").err.contains(note));
    // Columns of a transposed table are its rows, and no features of a model of as many.
    b.write("across.csv", "1;2;4;\n3;5;1;\n2;2;9;\n7;1;3;\n");
    b.ok("fit pca across.csv --transpose -k 1 -o across.safetensors");
    assert_eq!(b.ok("encode across.safetensors across.csv --transpose").out.lines().count(), 4);
    // Of several files it is left out where all have it.
    b.write("q1.csv", "1,2,\n3,4,\n2,2,\n");
    b.write("q2.csv", "1,2,3\n4,5,6\n2,3,9\n");
    b.write("q3.csv", "5,2,\n4,1,\n");
    let shown = b.ok("show q1.csv q2.csv --no-header");
    assert!(shown.out.contains("columns            3") && !shown.err.contains(note), "{}", shown.out);
    let shown = b.ok("show q1.csv q3.csv --no-header");
    assert!(shown.out.contains("columns            2"), "{}", shown.out);
    assert_eq!(shown.err.matches(note).count(), 2, "{}", shown.err);
    // A column that has a cell in some row is one, and is partly missing.
    b.write("gaps.csv", format!("a;b;c;\n{}1;2;3;4\n{}", lines(";"), lines(";")));
    let refused = b.run("fit pca gaps.csv -o g.safetensors");
    assert!(refused.code == 1 && refused.err.contains("column 3 ('3') is NaN"), "{}", refused.err);
}

#[test]
fn a_last_row_of_totals_is_a_row_with_a_note() {
    let b = Folder::new();
    let numbers = |i: usize| [(i * 7 % 13) as f64 + 0.25, (i * i % 10) as f64, (i * 5 % 11) as f64 + 0.5];
    let line = |id: &str, row: [f64; 3]| format!("{id};{};{};{}\n", row[0], row[1], row[2]);
    let rows: String = (0..20).map(|i| line(&format!("s{i}"), numbers(i))).collect();
    let sums: [f64; 3] = std::array::from_fn(|j| (0..20).map(|i| numbers(i)[j]).sum());
    let head = "id;a;b;c\n";
    b.write("t.csv", format!("{head}{rows}{}", line("Summe", sums)));
    let note = "t.csv: the last row (row 20) appears to be the sum of the rows above; to leave it out, add --rows :20, or delete it";
    let fitted = b.ok("fit pca t.csv --keep id -k 1 -o m.safetensors");
    assert_eq!(fitted.err.matches(note).count(), 1, "{}", fitted.err);
    let model = Model::load(&b.path("m.safetensors")).unwrap();
    assert_eq!((model.report().n_samples, model.report().warnings[0].as_str()), (21.0, note));
    let by_numbers = b.ok("fit pca t.csv --drop id -k 1 -o m.safetensors");
    assert!(by_numbers.err.contains(note), "{}", by_numbers.err);
    assert!(b.ok("show t.csv").err.contains(note));
    let without = b.ok("fit pca t.csv --keep id --rows :20 -k 1 -o m.safetensors");
    assert!(!without.err.contains("the last row"), "{}", without.err);
    assert!(!b.ok("encode m.safetensors t.csv --keep id").err.contains("the last row"));
    b.write("mean.csv", format!("{head}{rows}{}", line("x", sums.map(|sum| sum / 20.0))));
    let fitted = b.ok("fit pca mean.csv --keep id -k 1 -o m.safetensors");
    assert!(fitted.err.contains("appears to be the mean of the rows above"), "{}", fitted.err);
    b.write("median.csv", format!("{head}{rows}{}", line("Median", [6.25, 4.0, 5.5])));
    let fitted = b.ok("fit pca median.csv --keep id -k 1 -o m.safetensors");
    assert!(fitted.err.contains("is named 'Median' and may summarise the rows above"), "{}", fitted.err);
    // Rows of several files are numbered together: `--rows` would leave out those of the second file.
    let both = b.ok("fit pca t.csv mean.csv --keep id -k 1 -o m.safetensors");
    let note =
        "t.csv: the last row (row 20) appears to be the sum of the rows above; to leave it out, delete it";
    assert!(both.err.contains(note) && !both.err.contains("--rows"), "{}", both.err);
    b.write("plain.csv", format!("{head}{rows}"));
    assert!(!b.ok("fit pca plain.csv --keep id -k 1 -o m.safetensors").err.contains("the last row"));
}

#[test]
fn a_column_that_numbers_the_rows_is_a_feature_with_a_note() {
    let b = Folder::new();
    let line = |i: i32| format!("{i};{}.5;{}.25;{}\n", i % 7, (i * i) % 11, (i * 3) % 5);
    b.write("t.csv", "ID;a;b;c\n".to_string() + &(1..41).map(line).collect::<String>());
    let note = "t.csv: column 'ID' appears to number the rows: it may be the index of a table and no feature; to leave it out, add --drop ID";
    let fitted = b.ok("fit pca t.csv -k 2 -o m.safetensors");
    assert_eq!(fitted.err.matches(note).count(), 1, "{}", fitted.err);
    let model = Model::load(&b.path("m.safetensors")).unwrap();
    assert_eq!((model.n_features(), model.report().warnings[0].as_str()), (4, note));
    assert!(b.ok("show t.csv").err.contains(note));
    assert!(b.ok("encode m.safetensors t.csv").err.is_empty(), "it is a feature of this model");
    assert!(b.ok("fit pca t.csv -k 2 --drop ID -o m.safetensors").err.is_empty());
}

#[test]
fn a_file_that_is_given_twice_is_read_twice_with_a_note() {
    let b = Folder::new();
    b.both("d", 30, 4);
    let note = "d.npy: the file is given twice, so that its rows are read twice; give it once";
    let fitted = b.ok("fit pca d.npy ./d.npy -k 2 -o m.safetensors");
    assert_eq!(fitted.err.matches(note).count(), 1, "{}", fitted.err);
    let model = Model::load(&b.path("m.safetensors")).unwrap();
    assert_eq!((model.report().n_samples, model.report().warnings[0].as_str()), (60.0, note));
    assert!(!b.ok("fit pca d.npy -k 2 -o m.safetensors").err.contains("is given twice"));
}

#[test]
fn text_files_are_read_with_any_delimiter_and_extension() {
    let b = Folder::new();
    let data = b.both("d", 30, 3);
    b.ok("fit pca d.csv -k 2 -o d.safetensors --quiet");
    let expected = b.ok("encode d.safetensors d.npy").out;
    let lines = |between: &str, width: usize| {
        let line = |row: &[f64]| row.iter().map(|x| format!("{x:>width$}")).collect::<Vec<_>>().join(between);
        data.chunks(3).map(|row| line(row) + "\n").collect::<String>()
    };
    let head = "# made by a program\n";
    for (name, text) in [
        ("savetxt.csv", lines(" ", 0)),
        ("savetxt.txt", lines(" ", 0)),
        ("named.txt", format!("{head}# c0 c1 c2\n{}", lines(" ", 0))),
        ("fixed.dat", format!("c0 c1 c2\n{}", lines("", 26))),
        ("commas.txt", format!("c0,c1,c2\n{}", lines(",", 0))),
        ("tabs.dat", lines("\t", 0)),
        ("tail.txt", format!("{head}{}", lines("  ", 0).replace('\n', " \n\n# end\n"))),
    ] {
        b.write(name, text);
        let made = b.ok(&format!("fit pca {name} -k 2 -o m.safetensors --quiet"));
        assert!(made.err.is_empty(), "{name}: {}", made.err);
        assert_eq!(b.ok("encode m.safetensors d.npy").out, expected, "{name}");
        let named = b.ok("show m.safetensors").out.contains("Columns  c0, c1, c2");
        assert_eq!(named, matches!(name, "named.txt" | "fixed.dat" | "commas.txt"), "{name}");
    }
    b.write("text.txt", "c0 c1 c2\n1 2 3\n4 x 6\n7 8 1\n");
    let refused = b.run("fit pca text.txt");
    assert!(refused.err.contains("row 1, column 1 ('c1') is the text 'x' (line 3)"), "{}", refused.err);
    b.write("decimals.txt", "a  b\n1,5  2,25\n 3,0 14,5\n7,1 8,0\n");
    b.ok("fit pca decimals.txt --decimal , -k 1 -o m.safetensors --quiet");
}

#[test]
fn a_spreadsheet_becomes_a_page() {
    let b = Folder::new();
    let line = |i: usize| {
        let cell = |j: usize| format!("{},{}", (i * (7 + 4 * j)) % 13, (i * i + j) % 10);
        let height = if i == 4 { String::new() } else { cell(0) };
        let width = if i == 11 { "NA".into() } else { cell(1) };
        format!("s{i};{height};{width};{}\r\n", cell(2))
    };
    b.write("sheet.csv", format!("id;height;width;depth\r\n{}", (0..40).map(line).collect::<String>()));
    let reading = "--drop id --delimiter ; --decimal , --missing drop";
    let fitted = b.ok(&format!("fit pca sheet.csv {reading} -k 2 -o m.safetensors"));
    assert!(fitted.err.contains("2 of 40 rows have a missing cell and are left out"), "{}", fitted.err);
    assert_eq!(Model::load(&b.path("m.safetensors")).unwrap().report().n_samples, 38.0);
    b.ok(&format!("report m.safetensors sheet.csv {reading} -o page.html"));
    let page = String::from_utf8(b.read("page.html")).unwrap();
    assert!(page.contains(">standard deviations from the mean</text>"), "the scale of rows has a name");
    assert!(page.starts_with("<!") && ["height", "width", "depth"].iter().all(|name| page.contains(name)));
    let codes = b.ok(&format!("encode m.safetensors sheet.csv {reading}")).out;
    assert_eq!(codes.lines().count(), 39);
}

#[test]
fn names_in_a_file_choose_columns() {
    let b = Folder::new();
    let data = b.both("d", 30, 4);
    b.write("names.txt", "AF3\nF7\nCz\nOz\n");
    let names = |model: &str| Model::load(&b.path(model)).unwrap().features().names.clone().unwrap();
    let fitted = b.ok("fit pca d.npy --names names.txt --drop AF3 -k 2 -o m.safetensors");
    assert_eq!(names("m.safetensors"), ["F7", "Cz", "Oz"]);
    let (_, next) = fitted.out.split_once("Next\n").unwrap();
    let next = next.lines().filter_map(|line| line.trim().strip_prefix("unmix "));
    let commands: Vec<&str> = next.collect();
    assert_eq!(commands.len(), 2, "{}", fitted.out);
    commands.iter().for_each(|line| drop(b.ok(line)));
    let codes = b.ok("encode m.safetensors d.npy --columns 1-3").out;
    assert_eq!(b.ok("encode m.safetensors d.npy --names names.txt").out, codes);
    // Names that do not fit are refused, as by fit.
    b.write("few.txt", "F7\nCz\n");
    b.write("repeated.txt", "F7\nCz\nF7\n");
    b.write("header.csv", "F7,Cz,Oz\n1,2,3\n3,1,2\n2,2,1\n");
    for (given, words) in [
        ("d.npy --columns 1-3 --names few.txt", "must have one name for each of the 3 columns, got 2 names"),
        ("d.npy --columns 1-3 --names repeated.txt", "names must be distinct, got 'F7' more than once"),
        ("header.csv --names few.txt", "the columns of header.csv have names already"),
    ] {
        let commands =
            ["encode m.safetensors", "report m.safetensors -o refused.html", "score m.safetensors"];
        for command in commands {
            let refused = b.run(&format!("{command} {given}"));
            assert!(refused.code == 1 && refused.err.contains(words), "{command} {given}: {}", refused.err);
        }
    }
    // Without a selection, or with a name for each of the columns selected, as before.
    b.ok("fit pca d.npy --names names.txt -k 2 -o all.safetensors");
    assert_eq!(names("all.safetensors").len(), 4);
    b.write("three.txt", "F7\nCz\nOz\n");
    b.ok("fit pca d.npy --names three.txt --columns 1-3 -k 2 -o three.safetensors");
    assert_eq!(names("three.safetensors"), ["F7", "Cz", "Oz"]);
    let lines = data.chunks(4).map(|row| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n");
    b.write("bare.csv", lines.collect::<String>());
    for file in ["d.npy", "bare.csv"] {
        let shown = b.ok(&format!("select {file} --names names.txt --columns Cz,Oz")).out;
        assert!(shown.contains("30 rows, 2 columns"), "{shown}");
        assert!(b.ok(&format!("show {file} --names names.txt --drop Cz")).out.contains("AF3"));
        b.ok(&format!("report m.safetensors {file} --names names.txt --color AF3 -o page.html"));
        let unknown = b.run(&format!("fit pca {file} --names names.txt --drop AF4"));
        assert!(unknown.code == 1 && unknown.err.contains("did you mean 'AF3'?"), "{}", unknown.err);
    }
}

#[test]
fn messages_about_tables_name_a_remedy() {
    let b = Folder::new();
    b.both("d", 30, 3);
    b.ok("fit pca d.csv -k 2 -o d.pca.safetensors");
    let row = "1.2573e-01 -1.3210e-01 6.4042e-01\n";
    b.write("uneven.csv", format!("{}1 2\n", row.repeat(5)));
    b.write("marks.csv", "a,b\n1,2\n3,?\n5,6\n");
    b.write("preamble.csv", "Instrument,X\nDate,today\nrun,7a\nheight,width\n1,2\n3,4\n5,6\n");
    b.write("short.csv", "Instrument: X\n\nheight,width\n1,2\n3,4\n5,6\n");
    b.write("quote.csv", "a,b\n\"1,2\n3,4\n5,6\n");
    b.write("last_quote.csv", "a,b\n1,\"2\n3,4\n5,6\n");
    b.write("ends.csv", "a,b\n1,2,\n3,4\n5,6,\n");
    b.write("gap.csv", "a,b\n1,2\n3,\n5,6\n2,2\n");
    b.write("names.npy", [0x93, 0xff, 0]);
    b.write("percent.csv", "a,b\n1,12.5%\n3,7%\n");
    b.write("thousands.csv", "a,b\n1,\"1,234.50\"\n3,5\n");
    b.write("grouped.csv", "a;b\n1;1.234,5\n3;5\n");
    b.write("blank.csv", "a;b\n1;1 234,50\n3;5\n");
    b.write("narrow.csv", "a;b\n1;1\u{202f}234,50\n3;5\n");
    b.write("group.csv", "a,b\n1,\"1,234\"\n3,5\n");
    b.write("total.csv", "a,b\n1,2\n3,5\n4,4\nTotal,11\n");
    b.write("labels.csv", format!("id,BT,age\n{}", "x,B,4\n".repeat(30)));
    for (command, words) in [
        ("fit pca uneven.csv", "add --delimiter space if cells are separated by blanks"),
        ("fit pca uneven.csv --delimiter space", "line 6 has 2 cells, but the first line has 3"),
        ("fit pca marks.csv", "add --na '?' if that marks a missing cell, or write NA"),
        ("fit pca percent.csv", "remove the percent signs in the program that wrote the file; or leave the"),
        ("fit pca percent.csv", "with --drop b"),
        ("fit pca thousands.csv", "remove the thousands separators in the program that wrote the file; or"),
        ("fit pca grouped.csv --decimal ,", "remove the thousands separators"),
        ("fit pca blank.csv --decimal ,", "remove the thousands separators"),
        ("fit pca narrow.csv", "remove the thousands separators"),
        ("fit pca d.csv --weights labels.csv", "(line 2); give a file that holds these numbers only"),
        ("fit pca group.csv", "write numbers without commas (separators of thousands?) in the program that"),
        ("fit pca total.csv", "if a summary ends the table here, leave it out with --rows :3; or leave the"),
        ("fit pca preamble.csv", "with --skip-rows 3"),
        ("fit pca short.csv", "with --skip-rows 2"),
        ("fit pca quote.csv", "close the quotation mark that opens there"),
        ("fit pca last_quote.csv", "close the quotation mark that opens there"),
        ("fit pca ends.csv", "line 2 ends in a delimiter, and the first line does not"),
        (
            "fit pca gap.csv",
            "leave such rows out with --missing drop, or fill their cells first, as 'unmix impute'",
        ),
        (
            "report d.pca.safetensors d.csv --color total.csv:a -o page.html",
            "--color must have one value for each of the 30 rows of d.csv, got 4 values in total.csv:a; give one for each row",
        ),
        (
            "report d.pca.safetensors d.csv --color labels.csv -o page.html",
            "must be one column, got 3; choose one, as in --color labels.csv:COLUMN",
        ),
        (
            "report d.pca.safetensors d.csv --color labels.csv:TB -o page.html",
            "there is no column named 'TB' (did you mean 'BT'?)",
        ),
        (
            "report d.pca.safetensors d.npy --color BT -o page.html",
            "--color BT is not possible: the columns have no names; give the number of a column, from 0, or a file",
        ),
        ("fit pca d.npy --names names.npy", "it is not text; give a text file with one name per line"),
        ("fit pca d.npy --rows-axis 0,x", "give the number of an axis, from 0, or several as in 0,2"),
        ("fit pca d.npy --rows-axis 0,0", "it is given twice; give each axis once"),
        ("encode d.pca d.csv", "did you mean 'd.pca.safetensors'?"),
        (
            "encode d.csv d.pca.safetensors",
            "the model must come before the rows: d.pca.safetensors is a model",
        ),
        (
            "impute d.csv d.pca.safetensors -o full.csv",
            "the model must come before the rows: d.pca.safetensors is a model",
        ),
        (
            "biclusters d.csv d.pca.safetensors",
            "the model must come before the rows: d.pca.safetensors is a model",
        ),
        (
            "report d.csv d.pca.safetensors -o page.html",
            "the model must come before the rows: d.pca.safetensors is a model",
        ),
    ] {
        let refused = b.run(command);
        assert!(refused.code > 0 && refused.err.contains(words), "{command}: {}", refused.err);
    }
    b.ok("report d.pca.safetensors d.csv --color labels.csv:BT -o page.html");
    b.ok("fit pca preamble.csv --skip-rows 3 -o p.safetensors");
    b.ok("fit pca short.csv --skip-rows 2 -o p.safetensors");
    b.ok("fit pca total.csv --rows :3 -o p.safetensors");
    b.ok("fit pca gap.csv --missing drop -o p.safetensors");
}

#[test]
fn a_column_may_be_kept_and_have_another_use() {
    let b = Folder::new();
    let line = |i: usize| format!("plant{i},{},{},{}\n", 1 + i % 3, (7 * i) % 13, (i * i) % 11);
    b.write("t.csv", format!("id,count,a,b\n{}", (0..30).map(line).collect::<String>()));
    let weighted = b.ok("fit pca t.csv --drop id --weights-column count -k 1 -o w.safetensors");
    let kept = b.ok("fit pca t.csv --keep id,count --weights-column count -k 1 -o k.safetensors");
    assert!(kept.out.lines().next() == weighted.out.lines().next() && kept.err.is_empty(), "{}", kept.err);
    let labels = |command: &str| {
        b.ok(&format!("report w.safetensors t.csv {command} -o page.html"));
        String::from_utf8(b.read("page.html")).unwrap()
    };
    for command in ["--keep id,count --color id", "--keep id,count --color count", "--keep id --color count"]
    {
        let page = labels(command);
        assert!(page.contains("plant0") && page.contains("count"), "{command}: rows have their names");
    }
    // Rows of the same numbers, colours from another file.
    let colours = |page: String| page.split("How it was fitted").next().unwrap().to_string();
    assert_eq!(colours(labels("--keep id,count --color count")), colours(labels("--keep id --color count")));
}

#[test]
fn a_column_that_is_left_out_and_kept_is_refused_and_one_that_has_another_use_is_not() {
    let b = Folder::new();
    let line = |i: usize| format!("plant{i},{},{},{}\n", 1 + i % 3, (7 * i) % 13, (i * i) % 11);
    b.write("t.csv", format!("id,count,a,b\n{}", (0..30).map(line).collect::<String>()));
    for (given, said) in [
        (
            "--drop id --keep id",
            "reading column 0 ('id') is not possible: both --drop id and --keep id name it",
        ),
        ("--drop id,a --keep 2", "column 2 ('a') is not possible: both --drop id,a and --keep 2 name it"),
    ] {
        let refused = b.run(&format!("fit pca t.csv {given} -o m.safetensors"));
        assert!(refused.code == 1 && refused.err.contains(said), "{given}: {}", refused.err);
        assert!(!b.path("m.safetensors").exists());
    }
    // Weights and colours may be left out as features, by whatever name.
    let plain = b.ok("fit pca t.csv --drop id --weights-column count -k 1 -o m.safetensors").out;
    for given in ["--drop id,count --weights-column count", "--drop 0-1 --weights-column count"] {
        let weighted = b.ok(&format!("fit pca t.csv {given} -k 1 -o m.safetensors")).out;
        assert_eq!(weighted.lines().next(), plain.lines().next(), "{given}");
    }
    b.ok("report m.safetensors t.csv --drop id,count --color count -o page.html");
    // One that is a feature, beside names of the rows.
    b.ok("report m.safetensors t.csv --keep id --drop count --color a -o page.html");
    let page = String::from_utf8(b.read("page.html")).unwrap();
    assert!(page.contains("plant0") && page.contains("<li class=\"what\">a</li>"));
    // The next command of a fit whose weights are kept, too.
    b.write(
        "bare.csv",
        (0..30).map(|i| format!("{},{},{}\n", (7 * i) % 13, (i * i) % 11, 1 + i % 3)).collect::<String>(),
    );
    let next = b.ok("fit pca bare.csv --keep 2 --weights-column 2 -k 1 -o m.safetensors").out;
    assert!(next.contains("--keep 2") && !next.contains("--drop"), "{next}");
}

#[test]
fn a_column_in_other_units_is_named() {
    let b = Folder::new();
    let line = |i: usize| format!("{},{},{}\n", 1000 * ((7 * i) % 13), (i * i) % 11, (3 * i) % 7);
    b.write("t.csv", format!("metres,a,b\n{}", (0..40).map(line).collect::<String>()));
    let said = "component 0 is the column 'metres' alone, with over 99.99 % of the variance";
    for (method, has_note) in [("pca", true), ("ica", false)] {
        let fitted = b.ok(&format!("fit {method} t.csv -k 2 -o m.safetensors"));
        assert_eq!(fitted.err.contains(said), has_note, "{method}: {}", fitted.err);
    }
    assert!(!b.ok("fit pca t.csv -k 2 --set standardize=true -o m.safetensors").err.contains("component 0"));
    assert!(!b.ok("fit pca t.csv -k 2 --quiet -o m.safetensors").err.contains("component 0"));
    assert!(!b.ok("fit pca t.csv --drop metres -k 2 -o m.safetensors").err.contains("component 0"));
}

#[test]
fn text_in_a_column_does_not_look_like_missing_cells() {
    let b = Folder::new();
    b.write("t.csv", "id,a\nx,1\ny,\nz,3\n");
    let shown = b.ok("show t.csv").out;
    assert!(shown.contains("incomplete rows    3, rows with cells of text included"), "{shown}");
    let shown = b.ok("show t.csv --drop id").out;
    assert!(shown.contains("incomplete rows    1\n"), "{shown}");
}

#[test]
fn a_kept_column_with_the_name_of_a_code_is_refused_by_encode_and_by_decode() {
    let b = Folder::new();
    b.write("d.csv", "pca0,b,c\n1,2,3\n4,5,7\n2,2,9\n");
    b.ok("fit pca d.csv --drop pca0 -k 1 -o m.safetensors -q");
    let kept = b.run("encode m.safetensors d.csv --keep pca0 -o codes.csv");
    let words = "the column 'pca0' cannot be kept: another column of the output has this name; rename the column in the input, or leave it out of --keep";
    assert!(kept.code == 2 && kept.err.contains(words), "{}", kept.err);
    assert!(!b.path("codes.csv").exists());
    b.write("scored.csv", "log_likelihood,b,c\n1,2,3\n4,5,7\n2,2,9\n");
    let kept = b.run("score m.safetensors scored.csv --keep log_likelihood");
    assert!(kept.code == 2 && kept.err.contains("another column of the output"), "{}", kept.err);
    b.ok("encode m.safetensors d.csv -o codes.csv -q");
    let plain = b.ok("decode m.safetensors codes.csv").out;
    // The same header by another program.
    let codes = std::fs::read_to_string(b.path("codes.csv")).unwrap();
    b.write("twice.csv", codes.lines().map(|line| format!("{line},{line}\n")).collect::<String>());
    let refused = b.run("decode m.safetensors twice.csv");
    let words = "twice.csv cannot be read: the column name 'pca0' occurs 2 times, and the model needs one such column; rename the others";
    assert!(refused.code == 1 && refused.out.is_empty() && refused.err.contains(words), "{}", refused.err);
    // Other names may come twice.
    b.write("others.csv", codes.lines().map(|line| format!("{line},x,x\n")).collect::<String>());
    assert_eq!(b.ok("decode m.safetensors others.csv -q").out, plain);
}

#[test]
fn colours_follow_the_rows_that_are_left_out() {
    let b = Folder::new();
    let line = |i: usize| {
        let a = if i == 2 { String::new() } else { format!("{}", (i * 17) % 41) };
        format!("{a},{}\n", (i * 5) % 41)
    };
    b.write("d.csv", format!("a,b\n{}", (0..40).map(line).collect::<String>()));
    // The row that is left out is the only one of its kind.
    let kind = |i: usize| if i == 2 { "gone" } else { ["even", "odd"][i % 2] };
    b.write("all.txt", (0..40).map(|i| format!("{}\n", kind(i))).collect::<String>());
    b.write(
        "kinds.csv",
        format!("id,kind\n{}", (0..40).map(|i| format!("{i},{}\n", kind(i))).collect::<String>()),
    );
    b.ok("fit pca d.csv --missing drop -k 2 -o m.safetensors");
    // Of 40 rows the even one that is left out; of rows 1 to 29, likewise.
    for (rows, odd, even) in [("", 20, 19), ("--rows 1:30", 15, 13)] {
        let page = |color: &str| {
            b.ok(&format!("report m.safetensors d.csv --missing drop {rows} --color {color} -o p.html"));
            std::fs::read_to_string(b.path("p.html")).unwrap()
        };
        for color in ["all.txt", "kinds.csv:kind"] {
            let page = page(color);
            let has =
                |kind: &str, n: usize| page.contains(&format!("{kind}<span class=\"count\">{n}</span>"));
            assert!(has("odd", odd) && has("even", even) && !page.contains("gone"), "{color} {rows}");
        }
        // A feature, whose own missing cell leaves the row out.
        page("a");
    }
    b.write("few.txt", "x\n".repeat(7));
    let refused = b.run("report m.safetensors d.csv --missing drop --color few.txt -o p.html");
    let words = "--color must have one value for each of the 39 rows selected of d.csv, or for each of its 40 rows, got 7 values in few.txt";
    assert!(refused.code == 1 && refused.err.contains(words), "{}", refused.err);
    // A column of text beside the features, in a file with other text, of rows that end before the last line.
    let whole = |i: usize| format!("{},{},{},n{i}\n", (i * 17) % 41, (i * 5) % 41, kind(i));
    let lines: String = (0..40).map(whole).collect();
    b.write("e.csv", format!("a,b,kind,note\n{lines}Total\n"));
    let reading = "--rows 1:30 --drop note";
    b.ok(&format!("fit pca e.csv {reading},kind -k 2 -o m.safetensors"));
    for color in ["kind", "a", "all.txt"] {
        b.ok(&format!("report m.safetensors e.csv {reading} --color {color} -o p.html"));
        let page = std::fs::read_to_string(b.path("p.html")).unwrap();
        assert!(color == "a" || page.contains("odd<span class=\"count\">15</span>"), "{color}");
    }
}
