//! Selection of rows, the type in which they are read, number formats of text, and handles to files.

use crate::files::*;
use unmix::{Dtype, Run};
use unmix_io::{Files, Missing, Options, Wording, open};

#[test]
fn a_mark_that_is_a_number_marks_equal_numbers_and_one_that_marks_nothing_is_noted() {
    let read = |text: &str, na: &[&str], decimal_comma: bool| {
        let na = na.iter().map(|mark| mark.to_string()).collect();
        let options = Options { na, decimal_comma, ..in_shell() };
        let input = Folder::new().open("t.csv", text, &options).unwrap();
        let gaps: Vec<bool> = numbers(&input.rows).iter().map(|x| x.is_nan()).collect();
        (gaps, input.rows.notes().to_vec())
    };
    let text = "a,b\n0,1\n0.0,0.5\n-0,10\n 0e0,00\n";
    let gaps = [true, false, true, false, true, false, true, true];
    for marks in [&["0"][..], &["0.0"], &["0", "0.00"]] {
        assert_eq!(read(text, marks, false), (gaps.to_vec(), vec![]), "{marks:?}");
    }
    let (gaps, notes) = read("a;b\n-9,5;1\n2,5;-9,50\n", &["-9,5"], true);
    assert_eq!((gaps, notes.len()), (vec![true, false, false, true], 0));
    let (gaps, notes) = read("a,b\n1,2\n?,4\n", &["?", "-999", "b"], false);
    assert_eq!(gaps, [false, false, true, false]);
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("no cell is '-999', given as a missing cell by --na -999"), "{notes:?}");
    assert!(notes[1].contains("no cell is 'b'"), "the header holds no cells: {notes:?}");
    // The mark may be on a cell of the rows that are not read.
    let options = Options { na: vec!["?".into()], rows: Some((0, Some(1))), ..in_shell() };
    let input = Folder::new().open("t.csv", "a,b\n1,2\n?,4\n", &options).unwrap();
    assert!(input.rows.notes().is_empty(), "{:?}", input.rows.notes());
}

#[test]
fn decimal_commas_other_delimiters_and_marks_of_missing_cells() {
    let want = [1.5, 2.0, f64::NAN, 4.25, 1000.0, -3.0];
    let same = |got: &[f64]| {
        got.iter().zip(want).all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()))
    };
    let (comma, na) = (Options { decimal_comma: true, ..in_shell() }, vec!["?".into(), "n. a.".into()]);
    let marked = Options { na: na.clone(), ..comma.clone() };
    for (name, text, options) in [
        ("t.csv", "a;b\n1,5;2\n?;4,25\n1e3;-3,0\n", marked.clone()),
        ("t.csv", "1,5;2\n n. a. ;4,25\n1e3;-3,0\n", marked.clone()),
        ("t.csv", "\"1,5\";2\n?;\"4,25\"\n1e3;-3,0\n", marked.clone()),
        ("t.tsv", "1,5\t2\n\t4,25\n1e3\t-3\n", comma.clone()),
        ("t.csv", "1.5:2\n?:4.25\n1e3:-3\n", Options { delimiter: Some(b':'), na: na.clone(), ..in_shell() }),
        ("t.csv", "1.5 2\n? 4.25\n1e3 -3\n", Options { delimiter: Some(b' '), na, ..in_shell() }),
    ] {
        for (name, text) in
            [(name.to_string(), text.as_bytes().to_vec()), (format!("{name}.gz"), gz(text.as_bytes()))]
        {
            let input = Folder::new().open(&name, &text, &options).unwrap();
            let got = numbers(&input.rows);
            assert!(got.len() == want.len() && same(&got), "{name}: {got:?}");
        }
    }
    let refused = |text: &str, options: &Options| Folder::new().refusal("t.csv", text, options);
    // Numbers in quotes may have decimal commas where commas are delimiters.
    let both = Options { delimiter: Some(b','), ..comma };
    let input = Folder::new().open("t.csv", "a,b\n\"1,5\",\"2\"\n3,\"4,25\"\n", &both).unwrap();
    assert_eq!(numbers(&input.rows), [1.5, 2.0, 3.0, 4.25]);
    assert!(refused("a,b\n1,5,2\n", &both).contains("line 2 has 3 cells"));
    // A point may separate thousands.
    let points = refused("a;b\n1.500;2,5\n", &marked);
    assert!(
        points.contains("is the text '1.500' (line 2)") && points.contains("a point may separate thousands"),
        "{points}"
    );
    // Numbers with thousands separators are refused, and text is read as text.
    assert!(refused("a;b\n1.234,5;2\n", &marked).contains("is the text '1.234,5' (line 2)"));
    let npy = Folder::new().refusal("x.npy", npy(&[1.0, 2.0], &[2, 1], Order::C, false), &marked);
    assert!(npy.contains("which has no cells of text"), "{npy}");
    let na = Options { na: vec!["255".into()], ..in_shell() };
    let bytes = crate::files::npy(&[1.0, 255.0], &[2, 1], Order::C, false);
    let npy = Folder::new().refusal("x.npy", bytes, &na);
    assert!(npy.contains("na=255") && npy.contains("write NaN in place of such numbers"), "{npy}");
}

#[test]
fn a_delimiter_at_the_end_of_every_line_makes_no_column() {
    let note = "every row ends in a delimiter; the empty column that this makes is left out";
    let opened = |name: &str, text: &[u8], options: &Options| {
        let input = Folder::new().open(name, text, options).unwrap();
        let noted = input.rows.notes().iter().filter(|said| said.ends_with(note)).count();
        assert_eq!(noted, 1, "{name}: {:?}", input.rows.notes());
        input
    };
    for text in
        ["1;2;\n3;4;\n", "a;b;\n1;2;\n3;4;\n", "a;b\r\n1;2;\r\n3;4;\r\n", "\"a\";b;\n1;\"2\";\n\n3;4; \n"]
    {
        for (name, bytes) in [("t.csv", text.as_bytes().to_vec()), ("t.csv.gz", gz(text.as_bytes()))] {
            let input = opened(name, &bytes, &in_shell());
            assert_eq!(numbers(&input.rows), [1.0, 2.0, 3.0, 4.0], "{name}: {text:?}");
            let names = text.contains('a').then(|| vec!["a".to_string(), "b".to_string()]);
            assert_eq!(input.rows.features().names, names, "{name}: {text:?}");
        }
    }
    let comma = Options { decimal_comma: true, na: vec!["?".into()], ..in_shell() };
    let decimals = opened("t.csv", b"a;b;\n1,5;?;\n3;4,25;\n", &comma);
    let got = numbers(&decimals.rows);
    assert!(got[0] == 1.5 && got[1].is_nan() && got[2..] == [3.0, 4.25], "{got:?}");
    let kept = opened("t.csv", b"id;x;\ns;1;\nt;2;\n", &Options { keep: Some("id".into()), ..in_shell() });
    assert_eq!((numbers(&kept.rows), kept.kept[0].1.concat()), (vec![1.0, 2.0], "st".to_string()));
    // Totals below the rows that are read may be of another form.
    let first = Options { rows: Some((0, Some(2))), ..in_shell() };
    let some = opened("t.csv", b"a;b;\n1;2;\n3;4;\nTotal 10\n", &first);
    assert_eq!(numbers(&some.rows), [1.0, 2.0, 3.0, 4.0]);
    let first = Options { rows: Some((0, Some(3))), ..in_shell() };
    let some = opened("t.csv", b"1;2;\n3;4;\n5;1;\nTotal 10\n", &first);
    assert_eq!(numbers(&some.rows), [1.0, 2.0, 3.0, 4.0, 5.0, 1.0]);
    // A line of blanks is not a row; one with a delimiter alone is a missing cell of a single column.
    let single = opened("t.csv", b"1;\n2;\n \n4;\n", &in_shell());
    assert_eq!(numbers(&single.rows), [1.0, 2.0, 4.0]);
    let missing = opened("t.csv", b"1;\n2;\n ;\n4;\n", &in_shell());
    let got = numbers(&missing.rows);
    assert!(got.len() == 4 && got[2].is_nan(), "{got:?}");
    // The features of a model belong to the lines of a transposed table.
    let transposed = Options { transpose: true, n_features: Some(4), ..in_shell() };
    let input = opened("t.csv", b"1;2;4;\n3;5;1;\n2;2;9;\n7;1;3;\n", &transposed);
    assert_eq!((input.rows.n_rows(), input.rows.n_features()), (Some(3), 4));
    // A column that has a name, or a cell, is one.
    for (text, n_features) in [("a;b;c\n1;2;\n3;4;\n", 3), ("a;b;\n1;2;\n3;4;5\n", 3), ("a;b\n1;2\n3;\n", 2)]
    {
        let input = Folder::new().open("t.csv", text, &in_shell()).unwrap();
        assert_eq!(input.rows.n_features(), n_features, "{text:?}");
        assert!(!input.rows.notes().concat().contains(note), "{text:?}");
    }
}

#[test]
fn rows_are_chosen_by_number_and_by_completeness() {
    let text = "id,x,y\na,1,2\nb,,4\nc,5,6\nd,7,\ne,9,10\n";
    let keep = |rows, missing| Options { keep: Some("id".into()), rows, missing, ..in_shell() };
    for (rows, missing, want, ids) in [
        (Some((1, Some(3))), Missing::Keep, vec![f64::NAN, 4.0, 5.0, 6.0], "bc"),
        (Some((3, None)), Missing::Keep, vec![7.0, f64::NAN, 9.0, 10.0], "de"),
        (None, Missing::Drop, vec![1.0, 2.0, 5.0, 6.0, 9.0, 10.0], "ace"),
        (Some((1, Some(99))), Missing::Drop, vec![5.0, 6.0, 9.0, 10.0], "ce"),
    ] {
        let folder = Folder::new();
        let input = folder.open("t.csv", text, &keep(rows, missing)).unwrap();
        let got = numbers(&input.rows);
        let same = got.iter().zip(&want).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()));
        assert!(same && got.len() == want.len(), "{got:?}");
        assert_eq!(input.kept[0].1.concat(), ids);
        assert_eq!(input.rows.n_rows(), Some(want.len() as u64 / 2));
        let note = input.rows.notes().concat();
        assert_eq!(
            note.contains("rows have a missing cell and are left out"),
            missing == Missing::Drop,
            "{note}"
        );
    }
    let refused = |text: &str, options: &Options| Folder::new().refusal("t.csv", text, options);
    assert!(refused(text, &keep(Some((5, None)), Missing::Keep)).contains("there are rows 0 to 4"));
    assert!(refused("x\nNA\n\"\"\n", &keep_none(Missing::Drop)).contains("each of its"));
}

fn keep_none(missing: Missing) -> Options {
    Options { missing, ..in_shell() }
}

/// Rows that were selected keep the numbers of the file in messages, and take weights of its rows.
#[test]
fn selected_rows_are_named_and_weighted_by_the_rows_of_the_file() {
    let folder = Folder::new();
    let mut x: Vec<f64> = (0..40).map(|i| f64::from(i * i % 7)).collect();
    x[2 * 7] = f64::INFINITY;
    x[2 * 3 + 1] = f64::NAN;
    let path = folder.put("d.npy", npy(&x, &[20, 2], Order::C, false));
    let fit = |options: Options, weights: Option<&[f64]>| {
        let rows = open(&path, &options).unwrap().rows;
        let mut rows = match weights {
            None => rows,
            Some(weights) => rows.weighted(weights.to_vec())?,
        };
        unmix::fit("pca", &Default::default(), &mut rows, &Run::default())
    };
    let some = || Options { rows: Some((5, Some(15))), ..in_shell() };
    let message = fit(some(), None).err().unwrap().to_string();
    assert!(message.contains("row 7, column 0 is infinity"), "{message}");
    let complete = || Options { missing: Missing::Drop, ..in_shell() };
    let message = fit(complete(), None).err().unwrap().to_string();
    assert!(message.contains("row 7, column 0 is infinity"), "{message}");
    // The row that is no number has weight 0.
    let weights: Vec<f64> = (0..20).map(|i| if i == 7 { 0.0 } else { f64::from(1 + i % 3) }).collect();
    let own = fit(some(), Some(&weights[5..15])).unwrap();
    assert_eq!(fit(some(), Some(&weights)).unwrap().tensors(), own.tensors());
    assert_eq!(own.report().n_samples, weights[5..15].iter().sum::<f64>());
    let left: f64 = weights.iter().sum::<f64>() - weights[3];
    assert_eq!(fit(complete(), Some(&weights)).unwrap().report().n_samples, left);
    let message = fit(some(), Some(&weights[..7])).err().unwrap().to_string();
    assert!(
        message.contains("10 rows selected of") && message.contains("each of its 20 rows, got 7"),
        "{message}"
    );
}

/// Text that is read in part: the rows after the last one requested are counted only where values for all rows of the file may follow.
#[test]
fn rows_after_those_that_are_requested_are_counted_when_values_for_all_rows_follow() {
    let folder = Folder::new();
    let row = |i: usize| format!("{},5;{}\n", i % 7, i % 5);
    let whole = format!("a;b\n{}", (0..9).map(row).collect::<String>());
    let options = |rows| Options { rows: Some(rows), decimal_comma: true, ..in_shell() };
    let weights: Vec<f64> = (0..9).map(|i| f64::from(i + 1)).collect();
    let weighted = |rows: unmix::AnyRows<'static>, n: usize| {
        let rows = rows.weighted(weights[..n].to_vec()).map_err(|e| e.to_string())?;
        Ok::<Vec<f64>, String>(unmix::with_rows!(&rows, rows => rows.weights().unwrap_or_default().to_vec()))
    };
    for (name, text) in [("t.csv", whole.clone().into_bytes()), ("t.csv.gz", gz(whole.as_bytes()))] {
        let opened = |rows| folder.open(name, &text, &options(rows)).unwrap().rows;
        for (rows, range) in [((0, Some(4)), 0..4), ((2, Some(5)), 2..5), ((0, Some(9)), 0..9)] {
            let n_rows = || opened(rows).selection().and_then(|selected| selected.n_rows());
            assert_eq!(n_rows(), None, "{name}: not counted");
            assert_eq!(weighted(opened(rows), range.len()).unwrap(), weights[..range.len()], "{name}");
            assert_eq!(weighted(opened(rows), 9).unwrap(), weights[range], "{name}");
        }
        let refused = weighted(opened((2, Some(5))), 7).unwrap_err();
        assert!(
            refused.contains("each of the 3 rows selected of") && refused.contains("its 9 rows"),
            "{refused}"
        );
        // The file is read again to count its rows, and only for that.
        let rows = opened((0, Some(4)));
        std::fs::remove_file(folder.path().join(name)).unwrap();
        assert_eq!(weighted(rows, 4).unwrap(), weights[..4]);
        let rows = opened((0, Some(4)));
        folder.put(name, b"a;b\n1;2\n");
        assert!(weighted(rows, 9).unwrap_err().contains("it was modified after it was opened"), "{name}");
    }
    // Of several files, all of which are read in part.
    let paths = ["p.csv", "q.csv"].map(|name| folder.put(name, &whole));
    let input = unmix_io::open_many(&paths, &options((1, Some(4))), &Run::default()).unwrap();
    let all: Vec<f64> = (0..18).map(f64::from).collect();
    let rows = input.rows.weighted(all).unwrap();
    assert_eq!(unmix::with_rows!(&rows, rows => rows.weights().unwrap().to_vec()), [1.0, 2.0, 3.0]);
    // What follows may be of any form, and even be cut off.
    let broken = format!("{whole}Total;;;\nno number\n");
    let rows = folder.open("t.csv", broken, &options((0, Some(4)))).unwrap().rows;
    assert_eq!(weighted(rows, 4).unwrap(), weights[..4]);
    let mut random = 7u32;
    let long: String = (0..200_000)
        .map(|i| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            format!("{},5;{}\n", random, row(i).len())
        })
        .collect();
    let mut packed = gz(format!("a;b\n{long}").as_bytes());
    packed.truncate(packed.len() / 2);
    let rows = folder.open("long.csv.gz", packed, &options((0, Some(4)))).unwrap().rows;
    assert_eq!(weighted(rows, 4).unwrap(), weights[..4]);
}

#[test]
fn the_type_is_the_requested_one_and_single_and_double_files_are_mixed() {
    let folder = Folder::new();
    let x: Vec<f64> = (0..12).map(|i| 0.1 + f64::from(i)).collect();
    let double = folder.put("d.npy", npy(&x, &[4, 3], Order::C, false));
    let single = folder
        .put("s.npy", npy(&x.iter().map(|&x| x as f32).collect::<Vec<_>>(), &[4, 3], Order::Fortran, false));
    let run = Run::default();
    let as_type = |dtype| Options { dtype: Some(dtype), rows: Some((1, Some(3))), ..in_shell() };
    for (path, dtype) in
        [(&double, Dtype::F32), (&single, Dtype::F64), (&single, Dtype::F32), (&double, Dtype::F64)]
    {
        let input = open(path, &as_type(dtype)).unwrap();
        assert_eq!(input.rows.dtype(), dtype);
        let rounded = dtype == Dtype::F32 || path == &single;
        let want: Vec<f64> = x[3..9].iter().map(|&x| if rounded { f64::from(x as f32) } else { x }).collect();
        assert_eq!(numbers(&input.rows), want);
    }
    let both = unmix_io::open_many(&[&single, &double], &in_shell(), &run).unwrap();
    assert_eq!(both.rows.dtype(), Dtype::F64);
    let want: Vec<f64> = x.iter().map(|&x| f64::from(x as f32)).chain(x.iter().copied()).collect();
    assert_eq!(numbers(&both.rows), want);
}

#[test]
fn repeated_names_in_a_file_are_made_distinct_and_repeated_requests_are_refused() {
    let folder = Folder::new();
    let path = folder.put("t.csv", "a,a,b\n1,2,3\n4,5,7\n");
    let run = Run::default();
    let names = |input: unmix_io::Input| input.rows.features().names.clone().unwrap();
    assert_eq!(names(open(&path, &in_shell()).unwrap()), ["a", "a.1", "b"]);
    let columns = |text: &str| Options { columns: Some(text.into()), ..in_shell() };
    let files = Files::new(&[&path], columns("a.1,b")).unwrap();
    assert_eq!(names(files.open(&run).unwrap()), ["a.1", "b"]);
    for (text, name) in [("a,a", "'a'"), ("b,0,b", "'b'"), ("1,a.1", "'a.1'"), ("0-1,1", "'a.1'")] {
        let refused = Files::new(&[&path], columns(text)).unwrap().open(&run).err().unwrap().to_string();
        assert!(refused.contains(name) && refused.ends_with("name each column once"), "{text}: {refused}");
    }
}

#[test]
fn columns_without_names_take_given_ones_before_and_after_a_selection() {
    let folder = Folder::new();
    let path = folder.put("t.csv", "5,2,3\n4,5,7\n");
    let run = Run::default();
    let files = |names: &str, columns: &str| {
        let names = Some(names.split(',').map(String::from).collect());
        Files::new(&[&path], Options { names, columns: Some(columns.into()), ..in_shell() }).unwrap()
    };
    let named = |input: unmix_io::Input| input.rows.features().names.clone().unwrap();
    assert_eq!(named(files("a,b,c", "c,a").open(&run).unwrap()), ["c", "a"]);
    assert_eq!(named(files("c,a", "2,0").open(&run).unwrap()), ["c", "a"]);
    // The columns of a model, in its order.
    let wanted = |options: &mut Options| options.wanted = Some(vec!["c".into(), "a".into()]);
    assert_eq!(named(files("a,b,c", "0,2").open_as(&run, wanted).unwrap()), ["c", "a"]);
    assert_eq!(named(files("c,a", "2,0").open_as(&run, wanted).unwrap()), ["c", "a"]);
    let refused = |files: Files| files.open_as(&run, wanted).err().unwrap().to_string();
    assert!(
        refused(files("a,c", "0,2")).ends_with(
            "also for those that are not selected, or select the columns of the model in its order"
        )
    );
    assert!(refused(files("a,b,c,d", "0,2")).contains("one name for each of the 2 columns"));
    assert!(refused(files("a,a", "0,2")).contains("'a' more than once"));
    let header = folder.put("h.csv", "u,v,w\n1,2,3\n");
    let names = Some(["a", "b", "c"].map(String::from).to_vec());
    let refused = Files::new(&[&header], Options { names, ..in_shell() }).unwrap().open(&run);
    assert!(refused.err().unwrap().to_string().contains("have names already"));
}

#[test]
fn a_handle_reads_again_and_refuses_files_that_have_changed() {
    let folder = Folder::new();
    let path = folder.put("t.csv", "a,b\n1,2\n3,\n");
    let run = Run::default();
    let files = Files::new(&[&path], in_shell()).unwrap();
    let about = files.about(&run).unwrap();
    assert_eq!((about.n_rows, about.n_features, about.dtype), (2, 2, Dtype::F64));
    assert_eq!(about.names, Some(vec!["a".into(), "b".into()]));
    assert_eq!(files.describe(&run).unwrap().columns[1].missing, 1);
    assert_eq!(numbers(&files.open(&run).unwrap().rows)[..3], [1.0, 2.0, 3.0]);
    folder.put("t.csv", "a,b\n1,2\n3,4\n");
    let changed = files.open(&run).err().unwrap().to_string();
    assert!(changed.contains("it had 11 bytes when it was opened and has 12 now"), "{changed}");
    // The same length, other numbers.
    let files = Files::new(&[&path], in_shell()).unwrap();
    folder.put("t.csv", "a,b\n1,2\n3,9\n");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    let changed = files.open(&run).err().unwrap().to_string();
    assert!(changed.contains("it was modified after it was opened; open it again"), "{changed}");
    assert_eq!(files.check_unchanged().unwrap_err().to_string(), changed);
    // So does a copy, which is made after the change.
    let copied = |stamps: &str| Files::new(&[&path], in_shell()).unwrap().with_stamps(stamps);
    let copy = copied(&files.stamps().unwrap()).unwrap();
    assert_eq!(copy.open(&run).err().unwrap().to_string(), changed);
    let refused = copied("[]").unwrap_err().to_string();
    assert!(refused.contains("it has 1 file, and stamps of 0; open the files again"), "{refused}");
    std::fs::remove_file(&path).unwrap();
    assert!(files.open(&run).is_err());
    assert!(Files::new(&[folder.path().join("none.npy")], in_shell()).is_err());
    assert!(Files::new(&[folder.path()], in_shell()).is_err(), "a folder without images");
}

#[test]
fn a_handle_refuses_a_folder_to_which_files_were_added_or_from_which_some_were_removed() {
    let folder = Folder::new();
    let run = Run::default();
    let table = |name: &str| folder.put(name, "a,b\n1,2\n3,4\n");
    table("a.csv");
    let b = table("b.csv");
    let opened = || Files::new(&[folder.path()], in_shell()).unwrap();
    let refused = |files: &Files, words: &str| {
        let error = files.open(&run).err().unwrap();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(files.check_unchanged().unwrap_err().to_string(), error.to_string());
    };
    let files = opened();
    let copied = |files: &Files| {
        let paths: Vec<_> = files.paths().collect();
        Files::new(&paths, in_shell()).unwrap().with_stamps(&files.stamps().unwrap()).unwrap()
    };
    // Results may be written next to the data, and hidden files are never read.
    folder.put("codes.npy", npy(&[1.0f64], &[1, 1], Order::C, false));
    folder.put(".hidden.csv", "a,b\n1,2\n");
    std::fs::create_dir(folder.path().join("within.csv")).unwrap();
    assert_eq!(files.about(&run).unwrap().n_rows, 4);
    assert_eq!(copied(&files).about(&run).unwrap().n_rows, 4);
    std::fs::remove_file(folder.path().join("codes.npy")).unwrap();
    let c = table("c.csv");
    let words = "'c.csv' was added to the folder after it was opened; open it again";
    refused(&files, words);
    refused(&copied(&files), words);
    table("d.csv");
    refused(&files, "'c.csv' and 1 more file were added to the folder after it was opened");
    let files = opened();
    assert_eq!(files.about(&run).unwrap().n_rows, 8);
    std::fs::remove_file(&b).unwrap();
    refused(&files, "'b.csv' was removed from the folder after it was opened; open it again");
    // The file itself was given, and not its folder.
    let files = Files::new(&[&c], in_shell()).unwrap();
    table("e.csv");
    files.check_unchanged().unwrap();
}

#[test]
fn a_handle_refuses_a_folder_of_pictures_to_which_one_was_added() {
    let folder = Folder::new();
    let run = Run::default();
    let picture = |name: &str| folder.put(name, b"P5\n2 1\n255\n\x01\x02");
    picture("a.pgm");
    picture("b.pgm");
    let files = Files::new(&[folder.path()], in_shell()).unwrap();
    folder.put("codes.csv", "a\n1\n");
    assert_eq!(files.about(&run).unwrap().n_rows, 2);
    picture("c.pgm");
    let refused = files.open(&run).err().unwrap().to_string();
    assert!(refused.contains("'c.pgm' was added to the folder after it was opened"), "{refused}");
}

#[cfg(unix)]
#[test]
fn changed_files_of_equal_length_and_modification_time_are_refused() {
    let folder = Folder::new();
    let path = folder.put("t.npy", npy(&[1.0f64, 2.0], &[2, 1], Order::C, false));
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    let restore = |path: &std::path::Path| {
        std::fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
    };
    let refused = |files: &Files| files.open(&Run::default()).err().unwrap().to_string();
    let files = Files::new(&[&path], in_shell()).unwrap();
    files.check_unchanged().unwrap();
    // Systems count the time of a change in steps of some milliseconds.
    std::thread::sleep(std::time::Duration::from_millis(50));
    folder.put("t.npy", npy(&[1.0f64, 3.0], &[2, 1], Order::C, false));
    restore(&path);
    assert!(refused(&files).contains("it was modified after it was opened; open it again"));
    let files = Files::new(&[&path], in_shell()).unwrap();
    let other = folder.put("other.npy", npy(&[1.0f64, 4.0], &[2, 1], Order::C, false));
    restore(&other);
    std::fs::rename(&other, &path).unwrap();
    assert!(refused(&files).contains("it was replaced by another file after it was opened; open it again"));
}

#[test]
fn changed_files_are_refused_while_a_fit_reads_them() {
    let folder = Folder::new();
    let path = folder.put("t.npy", npy(&[1.0f64, 2.0, 3.0, 5.0], &[2, 2], Order::C, false));
    let run = Run::default();
    let mut rows = Files::new(&[&path], in_shell()).unwrap().open(&run).unwrap().rows;
    assert_eq!(numbers(&rows), [1.0, 2.0, 3.0, 5.0]);
    folder.put("t.npy", npy(&[1.0f64, 2.0, 3.0, 7.0], &[2, 2], Order::C, false));
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    let refused = unmix::fit("pca", &Default::default(), &mut rows, &run).unwrap_err().to_string();
    assert!(
        refused.contains("it was modified while its rows were read; make sure that nothing"),
        "{refused}"
    );
}

#[cfg(unix)]
#[test]
fn a_handle_copies_a_pipe_and_reads_it_again() {
    let folder = Folder::new();
    let path = folder.path().join("pipe");
    let make = || assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    make();
    let files = Files::new(&[&path], in_shell()).unwrap();
    assert!(files.read_once());
    let run = Run::default();
    // A pipe that cannot be opened has lost nothing.
    std::fs::remove_file(&path).unwrap();
    for _ in 0..2 {
        let missing = files.open(&run).err().unwrap().to_string();
        assert!(!missing.contains("start the program again"), "{missing}");
    }
    make();
    let write = std::thread::spawn({
        let path = path.clone();
        move || std::fs::write(path, "a,b\n1,2\n3,4\n").unwrap()
    });
    for files in [files.clone(), files] {
        assert_eq!(numbers(&files.open(&run).unwrap().rows), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(files.about(&run).unwrap().n_rows, 2);
    }
    write.join().unwrap();
}

#[test]
fn the_standard_input_is_given_once() {
    assert!(Files::new(&["-"], in_shell()).is_ok());
    let refused = Files::new(&["-", "-"], in_shell()).err().unwrap().to_string();
    assert!(refused.contains("the standard input") && refused.contains("more than once"), "{refused}");
}

#[test]
fn a_list_of_cells_becomes_sparse_rows() {
    let folder = Folder::new();
    let path = folder.put("t.csv", "row,column,value\n2,1,5\n0,2,0\n0,0,\n");
    let run = Run::default();
    let options = Options { triplets: true, ..in_shell() };
    let files = Files::new(&[&path], options.clone()).unwrap();
    let about = files.about(&run).unwrap();
    assert_eq!((about.n_rows, about.n_features, about.names), (3, 3, None));
    assert_eq!(files.cells(&run).unwrap(), [(2, 1), (0, 2), (0, 0)]);
    // A model determines the number of columns, and its names are not those of the list.
    let input = files
        .open_as(&run, |options| {
            (options.n_features, options.wanted) = (Some(5), Some(vec!["a".into()]));
        })
        .unwrap();
    let (rows, shape) = (&input.rows, &input.shape);
    assert_eq!((rows.n_features(), &shape[..]), (5, &[Some(3), Some(5)][..]));
    let unmix::AnyRows::F64(rows) = rows else { panic!("{}", rows.dtype().name()) };
    assert_eq!(rows.sparse().unwrap().row(0), (&[2u32][..], &[0.0][..]));
    let refused = |text: &str| folder.refusal("x.csv", text, &options);
    assert!(refused("a,b,c,d\n0,0,1,2\n").ends_with("choose three, as in --columns a,b,c"));
    assert!(refused("a,b,c\nann,0,1\n").contains("replace names by numbers first"));
    let from_one = folder.open("x.csv", "a,b,c\n1,1,3\n1,2,4\n", &options).unwrap();
    assert!(from_one.rows.notes()[0].contains("are rows and columns numbered from 1?"));
}

#[test]
fn decimal_commas_without_a_header_are_between_semicolons() {
    let text = "1,5;2\n3,1;4\n7,25;1\n";
    let comma = Options { decimal_comma: true, ..in_shell() };
    let found = Folder::new().open("t.csv", text, &comma).unwrap();
    assert_eq!(numbers(&found.rows), [1.5, 2.0, 3.1, 4.0, 7.25, 1.0]);
    // The same message with names and without: the cells are those between semicolons.
    let refused = |text: &str, options: &Options| Folder::new().refusal("t.csv", text, options);
    let remedy =
        "is the text '1,5' (line 1); add --decimal , if numbers have decimal commas, or write decimal points";
    assert!(refused(text, &in_shell()).ends_with(remedy), "{}", refused(text, &in_shell()));
    let named = refused(&format!("a,x;b\n{text}"), &in_shell());
    assert!(named.contains("row 0, column 0 ('a,x') is the text '1,5' (line 2); add --decimal ,"), "{named}");
    // Every cell has a comma.
    assert!(refused("1,5;2,5\n3,1;4,5\n", &in_shell()).contains("column 0 is the text '1,5' (line 1)"));
    assert_eq!(numbers(&Folder::new().open("t.csv", "1,2\n3,4\n", &in_shell()).unwrap().rows).len(), 4);
}

#[test]
fn commas_that_separate_cells_are_not_decimal_commas() {
    let comma = Options { decimal_comma: true, ..in_shell() };
    let refused = |name: &str, text: &str, options: &Options| Folder::new().refusal(name, text, options);
    assert_eq!(
        refused("x.csv", "a,b,c\n1,2,3\n4,5,7\n", &comma),
        "x.csv cannot be read: with --decimal , a comma is no delimiter, the delimiter is taken to be ';', and line 2 has none: it is the \
         text '1,2,3'; leave --decimal , out if commas separate the cells, or name another delimiter with --delimiter"
    );
    assert!(refused("x.tsv", "1,2,3\n4,5,7\n", &comma).contains("the delimiter is taken to be a tab"));
    assert!(
        refused("x.csv", "a,b\n1,234\n1,234,567\n", &comma)
            .contains("line 3 has none: it is the text '1,234,567'")
    );
    let python = Options { wording: Wording::PythonRead, ..comma.clone() };
    assert!(refused("x.csv", "a,b,c\n1,2,3\n", &python).ends_with(
        "leave decimal=',' out if commas separate the cells, or name another delimiter with delimiter"
    ));
    // A delimiter that was given, and a number with thousands separators in a table of one column.
    let given = Options { delimiter: Some(b'|'), ..comma.clone() };
    assert!(!refused("x.csv", "a,b,c\n1,2,3\n", &given).contains("is taken to be"));
    assert!(refused("x.csv", "a\n1.234,5\n", &comma).contains("remove the thousands separators"));
}

#[test]
fn a_name_that_a_model_needs_is_refused_where_it_comes_twice_if_so_requested() {
    let folder = Folder::new();
    let wanted = Some(["a", "b"].map(String::from).to_vec());
    let options = Options { wanted, ..in_shell() };
    let once = Options { wanted_once: true, ..options.clone() };
    let text = "a,b,a,c,c\n1,2,3,4,5\n";
    assert_eq!(numbers(&folder.open("t.csv", text, &options).unwrap().rows), [1.0, 2.0]);
    assert_eq!(
        folder.refusal("t.csv", text, &once),
        "t.csv cannot be read: the column name 'a' occurs 2 times, and the model needs one such column; rename the others, or leave them out of \
         the file"
    );
    // Others may be repeated.
    assert_eq!(numbers(&folder.open("u.csv", "a,b,c,c\n1,2,3,4\n", &once).unwrap().rows), [1.0, 2.0]);
    let across = Options { transpose: true, keep: Some("name".into()), ..once };
    assert!(
        folder
            .refusal("v.csv", "name,x\na,1\nb,2\na,3\n", &across)
            .contains("the column name 'a' occurs 2 times")
    );
}
