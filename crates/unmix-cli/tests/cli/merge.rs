//! Sample weights on the command line, and models of parts of the rows merged into one.

use crate::folder::Folder;
use serde_json::Value;

fn report(b: &Folder, model: &str) -> Value {
    let json: Value = serde_json::from_str(&b.ok(&format!("show {model} --json")).out).unwrap();
    json["report"].clone()
}

/// Explained variances and their ratios, as the table of components prints them.
fn variance_lines(text: &str) -> Vec<String> {
    text.lines().skip(1).filter(|l| l.contains('%')).map(|l| l.trim().to_string()).collect()
}

#[test]
fn weights_from_a_file_and_from_a_column_are_the_same_as_rows_repeated() {
    let b = Folder::new();
    b.write("d.csv", "a,b,count\n1,2,1\n3,1,2\n2,2.5,0\n5,4,1\n0,1,3\n");
    b.write("plain.csv", "a,b\n1,2\n3,1\n2,2.5\n5,4\n0,1\n");
    b.write("w.csv", "1\n2\n0\n1\n3\n");
    b.write("repeated.csv", "a,b\n1,2\n3,1\n3,1\n5,4\n0,1\n0,1\n0,1\n");
    let column = b.ok("fit pca d.csv --weights-column count -o column.safetensors");
    let file = b.ok("fit pca plain.csv --weights w.csv -o file.safetensors");
    let repeated = b.ok("fit pca repeated.csv -o repeated.safetensors");
    assert_eq!(variance_lines(&column.out), variance_lines(&repeated.out));
    assert_eq!(variance_lines(&file.out), variance_lines(&repeated.out));
    assert!(file.out.starts_with("PCA of 5 x 2 float64, weights sum to 7: "), "{}", file.out);
    assert!(repeated.out.starts_with("PCA of 7 x 2 float64: "), "{}", repeated.out);
    let report_of = report(&b, "column.safetensors");
    assert_eq!((&report_of["n_samples"], &report_of["n_rows"]), (&7.into(), &5.into()));
    assert!(report(&b, "repeated.safetensors")["n_rows"].is_null());
    // The column of weights is not a feature, whatever other columns are kept.
    assert_eq!(report(&b, "column.safetensors")["n_features"], 2);
    b.ok("fit pca d.csv --keep a --weights-column 2 -o kept.safetensors");
    assert_eq!(report(&b, "kept.safetensors")["n_features"], 1);
    // Columns without names are matched by position: the suggested commands leave out that of the weights.
    b.write("numbers.csv", "1,2,1\n3,1,2\n2,2.5,0\n5,4,1\n0,1,3\n");
    for (drop, dropped) in [("", " --drop 2 "), (" --drop 0", " --drop 0,2 ")] {
        let fitted = b
            .ok(&format!("fit pca numbers.csv --no-header{drop} --weights-column 2 -k 1 -o n.safetensors"))
            .out;
        let next = fitted.lines().find_map(|line| line.trim().strip_prefix("unmix encode ")).unwrap();
        assert!(next.contains(dropped), "{next}");
        b.ok(&format!("encode {next}"));
    }
}

#[test]
fn weights_of_all_rows_of_the_file_follow_the_selection_of_rows() {
    let b = Folder::new();
    b.both("d", 30, 3);
    let lines = |rows: std::ops::Range<i32>| rows.map(|i| format!("{}\n", 1 + i % 4)).collect::<String>();
    b.write("all.csv", lines(0..30));
    b.write("some.csv", lines(4..20));
    b.write("few.csv", lines(0..5));
    b.ok("fit pca d.npy -k 2 --rows 4:20 --weights all.csv -o all.safetensors");
    b.ok("fit pca d.npy -k 2 --rows 4:20 --weights some.csv -o some.safetensors");
    let [all, some] =
        ["all", "some"].map(|name| unmix::Model::load(&b.path(&format!("{name}.safetensors"))).unwrap());
    assert_eq!(all.tensors(), some.tensors());
    let refused = b.run("fit pca d.npy -k 2 --rows 4:20 --weights few.csv");
    let words = "--weights must have one weight for each of the 16 rows selected of d.npy, or for each of its 30 rows, got 5 weights";
    assert!(refused.code == 1 && refused.err.contains(words), "{}", refused.err);
}

/// Text with decimal commas is read up to the last row that is requested; the others are counted.
#[test]
fn weights_of_all_rows_follow_a_range_of_rows_of_text_that_is_read_in_part() {
    let b = Folder::new();
    let rows: String = (0..30).map(|i| format!("{},5;{}\n", (i * 7) % 11, (i * 5) % 13)).collect();
    b.write("d.csv", format!("a;b\n{rows}"));
    let lines = |rows: std::ops::Range<i32>| rows.map(|i| format!("{}\n", 1 + i % 4)).collect::<String>();
    b.write("all.csv", lines(0..30));
    for (rows, range) in [(":20", 0..20), ("4:20", 4..20), ("4:", 4..30)] {
        b.write("some.csv", lines(range));
        let [all, some] = ["all", "some"].map(|weights| {
            b.ok(&format!(
                "fit pca d.csv --decimal , --rows {rows} --weights {weights}.csv -k 1 -o m.safetensors"
            ));
            unmix::Model::load(&b.path("m.safetensors")).unwrap()
        });
        assert_eq!(all.tensors(), some.tensors(), "{rows}");
    }
    let refused = b.run("fit pca d.csv --decimal , --rows :3 --weights some.csv -k 1");
    let words = "each of the 3 rows selected of d.csv, or for each of its 30 rows, got 26 weights";
    assert!(refused.code == 1 && refused.err.contains(words), "{}", refused.err);
}

#[test]
fn weights_are_read_with_the_marks_of_the_input_where_these_are_needed() {
    let b = Folder::new();
    b.write("d.csv", "a;b;w\n1,5;2;1,5\n3;1,25;2,25\n2;2,5;0,5\n5;1;?\n4;4,5;1\n");
    let with_marks = "fit pca d.csv --drop w --decimal , --na ? --delimiter ; -k 1";
    let fitted = |weights: &str| {
        b.write("w.csv", weights);
        b.ok(&format!("{with_marks} --weights w.csv -o m.safetensors"));
        unmix::Model::load(&b.path("m.safetensors")).unwrap()
    };
    let pointed = fitted("1.5\n2.25\n0.5\n3\n1\n");
    // Without integers the commas would separate two columns.
    for text in ["1,5\n2,25\n0,5\n3,0\n1,0\n", "w\n1,5\n2,25\n0,5\n3\n1\n"] {
        assert_eq!(fitted(text).tensors(), pointed.tensors(), "{text}");
    }
    let refused = |command: &str, words: &str| {
        let run = b.run(command);
        assert!(run.code == 1 && run.err.contains(words), "{command}: {}", run.err);
    };
    b.write("w.csv", "1,5\n2\n?\n1\n1\n");
    refused(
        &format!("{with_marks} --weights w.csv"),
        "--weights must be finite and non-negative, got NaN in row 2",
    );
    b.write("w.csv", "1,5\n2,5\n1,5\n2,5\n1,5\n");
    b.write("plain.csv", "a,b\n1,2\n3,1\n2,2.5\n5,1\n4,4\n");
    refused(
        "fit pca plain.csv --weights w.csv",
        "it has 2 columns; give a file of one column, with one weight for each row; if its commas are decimal marks, write points",
    );
    // The input would be read with the option, too.
    b.write("w.txt", "w;\n1,5;\n2,5;\n1,5;\n2,5;\n1,5;\n");
    let run = b.run("fit pca plain.csv --weights w.txt -k 1");
    let advised = run.err.contains("if its commas are decimal marks, write points");
    assert!(run.code == 1 && advised && !run.err.contains("--decimal"), "{}", run.err);
    // A column of the input: marked cells are missing there.
    refused(
        "fit pca d.csv --decimal , --na ? -k 1 --weights-column w",
        "--weights-column w is not possible: row 3 of column w is missing; write a weight in that cell; 0 leaves the row out",
    );
    refused(
        "fit pca d.csv --decimal , --na ? -k 1 --weights-column 7",
        "--weights-column 7 is not possible: there are 3 columns, numbered from 0",
    );
    b.ok("fit pca d.csv --decimal , --rows :3 --weights-column w -k 1 -o m.safetensors");
}

#[test]
fn bad_weights_are_refused_in_one_sentence() {
    let b = Folder::new();
    b.write("d.csv", "a,b,kind\n1,2,x\n3,1,y\n2,2.5,x\n");
    b.write("two.csv", "1\n2\n");
    b.write("wide.csv", "1,2\n2,3\n1,1\n");
    b.write("negative.csv", "1\n-2\n1\n");
    let refused = |command: &str, words: &[&str]| {
        let run = b.run(command);
        assert!(run.code == 1 && words.iter().all(|w| run.err.contains(w)), "{command}: {}", run.err);
        assert_eq!(run.err.trim().lines().count(), 1, "{}", run.err);
    };
    refused("fit pca d.csv --drop kind --weights two.csv", &["2 weights", "3 rows"]);
    refused("fit pca d.csv --drop kind --weights wide.csv", &["2 columns"]);
    refused("fit pca d.csv --drop kind --weights negative.csv", &["row 1", "-2"]);
    refused("fit pca d.csv --weights-column kind", &["row 0", "'x'", "not a number"]);
    refused("fit pca d.csv --drop kind --weights-column size", &["size"]);
    // Rows have their numbers in the file, and the option is the one that was given.
    b.write("bad.csv", "a,b,w\n1,1,1\n1,2,1\n2,5,1\n3,3,x\n4,9,2\n7,9,-2\n5,1,1\n");
    refused("fit pca bad.csv --rows 2: --weights-column w -k 1", &["row 3 of column w is 'x'"]);
    refused(
        "fit pca bad.csv --rows 4: --weights-column w -k 1",
        &["--weights-column must", "got -2 in row 5"],
    );
    refused("fit pca d.csv --drop kind --weights none.csv", &["none.csv"]);
    assert_eq!(b.run("fit pca d.csv --weights two.csv --weights-column a").code, 2);
}

#[test]
fn models_whose_columns_are_in_another_order_are_merged_by_name() {
    let b = Folder::new();
    let cell = |i: usize| [(i % 7) as f64, 10.0 + ((i * i) % 11) as f64, 10.0 * ((i * 5) % 13) as f64];
    let text = |range: std::ops::Range<usize>, order: [usize; 3]| {
        let line = |cells: [String; 3]| format!("{}\n", order.map(|j| cells[j].clone()).join(","));
        let rows = range.map(|i| line(cell(i).map(|x| x.to_string())));
        line(["x", "y", "z"].map(String::from)) + &rows.collect::<String>()
    };
    b.write("all.csv", text(0..90, [0, 1, 2]));
    b.write("one.csv", text(0..40, [0, 1, 2]));
    b.write("two.csv", text(40..90, [2, 0, 1]));
    let whole = b.ok("fit pca all.csv --set svd_solver=covariance_eigh -o all.safetensors");
    b.ok("fit pca one.csv --sums -o one.safetensors");
    b.ok("fit pca two.csv --sums -o two.safetensors");
    let merged = b.ok("merge one.safetensors two.safetensors -o merged.safetensors");
    assert_eq!(variance_lines(&merged.out), variance_lines(&whole.out));
    let tensor = |file: &str, name: &str| {
        let model = unmix::Model::load(&b.path(file)).unwrap();
        assert_eq!(model.features().names, Some(["x", "y", "z"].map(String::from).to_vec()));
        model.tensor(name).unwrap().f64s()
    };
    for name in ["components", "mean", "explained_variance"] {
        let both = [tensor("merged.safetensors", name), tensor("all.safetensors", name)];
        let size = both[1].iter().fold(0.0f64, |m, x| m.max(x.abs()));
        assert!(both[0].iter().zip(&both[1]).all(|(a, b)| (a - b).abs() < 1e-9 * size), "{name}: {both:?}");
    }
    // A merged model can be merged again.
    b.ok("merge merged.safetensors two.safetensors -o again.safetensors");
    assert_eq!(report(&b, "again.safetensors")["n_samples"], 140);
    b.write("other.csv", "z,w,x\n1,2,3\n4,5,7\n2,2,1\n");
    b.ok("fit pca other.csv --sums -o other.safetensors");
    let refused = b.run("merge one.safetensors other.safetensors -o out.safetensors");
    for words in ["only the first has 'y'", "only the second has 'w'", "those that both have: x, z"] {
        assert!(refused.code == 1 && refused.err.contains(words), "{}", refused.err);
    }
}

#[test]
fn models_of_parts_merge_to_the_model_of_all() {
    let b = Folder::new();
    let rows: Vec<String> =
        (0..90).map(|i| format!("{},{},{}\n", i % 7, (i * i) % 11, (i * 5) % 13)).collect();
    b.write("all.csv", ["x,y,z\n", &rows.concat()].concat());
    for (part, range) in [("one", 0..20), ("two", 20..21), ("three", 21..90)] {
        b.write(&format!("{part}.csv"), ["x,y,z\n", &rows[range].concat()].concat());
    }
    let whole = b.ok("fit pca all.csv --set svd_solver=covariance_eigh");
    b.ok("fit pca one.csv --sums");
    b.ok("fit pca three.csv --sums -o three.safetensors");
    let merged = b.ok("merge one.pca.safetensors three.safetensors -o merged.safetensors");
    assert_eq!(report(&b, "merged.safetensors")["n_samples"], 89);
    // A model of a single row is refused; its sums can still be merged.
    assert!(b.run("fit pca two.csv --sums").err.contains("at least 2 rows"));
    b.ok("fit pca one.csv two.csv --sums -o first.safetensors");
    let merged_all = b.ok("merge first.safetensors three.safetensors --quiet");
    assert_eq!(variance_lines(&merged_all.out), variance_lines(&whole.out));
    assert_ne!(variance_lines(&merged.out), variance_lines(&whole.out));
    assert_eq!(report(&b, "merged.safetensors")["n_samples"], 90);
    // A merged model can encode rows, and can be merged again.
    b.ok("encode merged.safetensors all.csv -o codes.npy");
    b.ok("merge merged.safetensors three.safetensors -o again.safetensors");
    b.ok("fit pca all.csv -o plain.safetensors");
    let refused = b.run("merge merged.safetensors plain.safetensors -o out.safetensors");
    assert!(refused.code == 1 && refused.err.contains("plain.safetensors") && refused.err.contains("--sums"));
    assert_eq!(b.run("merge merged.safetensors -o out.safetensors").code, 2);
}
