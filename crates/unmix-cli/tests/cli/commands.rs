//! The main commands one after the other.

use crate::folder::{Folder, read_npy};
use serde_json::Value;
use unmix::data::write_npy;

/// Parses the CSV that the program printed: the header, and the rows of numbers.
fn csv(text: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut lines = text.lines().map(|l| l.split(',').map(String::from).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    (header, lines.map(|l| l.iter().map(|x| x.parse().unwrap()).collect()).collect())
}

fn close(a: &[f64], b: &[f64], tol: f64) {
    assert_eq!(a.len(), b.len());
    let far =
        a.iter().zip(b).find(|(x, y)| (*x - *y).abs().partial_cmp(&tol) != Some(std::cmp::Ordering::Less));
    assert!(far.is_none(), "{far:?} differ by {tol} or more");
}

#[test]
fn the_demo_recovers_its_patterns_and_its_files_can_be_used() {
    let b = Folder::new();
    let ran = b.ok("demo");
    let found: Vec<f64> = ran
        .out
        .lines()
        .filter(|l| l.contains("pattern ") && l.contains('%'))
        .map(|l| l.split_whitespace().nth(3).unwrap().parse().unwrap())
        .collect();
    assert_eq!(found.len(), 6, "{}", ran.out);
    assert!(found.iter().all(|c| *c > 0.95), "{}", ran.out);
    assert!(ran.out.contains("unmix-demo/report.html") && ran.out.matches("\n  unmix ").count() == 3);
    assert!(!ran.out.contains('\u{1b}'), "no colours without a terminal");
    assert_eq!(ran.err, "");
    let page = String::from_utf8(b.read("unmix-demo/report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>"));
    // The same fit by `unmix fit` gives the same codes.
    b.ok("fit pca unmix-demo/data.npy -k 6 -o again.safetensors");
    b.ok("encode again.safetensors unmix-demo/data.npy -o codes.npy");
    assert_eq!(b.read("codes.npy"), b.read("unmix-demo/codes.npy"));
    b.ok("report again.safetensors unmix-demo/data.npy --color unmix-demo/labels.csv -o page.html");
    assert!(String::from_utf8(b.read("page.html")).unwrap().contains("group"));
    // The demo runs again in its own folder, but refuses a folder that has other files.
    assert_eq!(b.ok("demo -o unmix-demo --quiet").err, "");
    b.write("unmix-demo/../other.txt", "x");
    let refused = b.run("demo -o .");
    assert!(refused.code == 1 && refused.err.contains("holds other files"), "{}", refused.err);
}

#[test]
fn from_a_csv_file_to_codes_and_back() {
    let b = Folder::new();
    let data = b.both("d", 60, 4);
    let fitted = b.ok("fit pca d.csv -k 4");
    assert!(fitted.out.contains("unmix encode d.pca.safetensors d.csv -o d.codes.csv"), "{}", fitted.out);
    assert!(fitted.out.contains("unmix report d.pca.safetensors d.csv -o d.html"), "{}", fitted.out);
    let (names, codes) = csv(&b.ok("encode d.pca.safetensors d.csv").out);
    assert_eq!(names, ["pca0", "pca1", "pca2", "pca3"]);
    assert_eq!(codes.len(), 60);
    b.ok("encode d.pca.safetensors d.csv -o d.codes.csv");
    let (names, back) = csv(&b.ok("decode d.pca.safetensors d.codes.csv").out);
    assert_eq!(names, ["c0", "c1", "c2", "c3"]);
    close(&back.concat(), &data, 1e-12);
    let (_, kept) = csv(&b.ok("reconstruct d.pca.safetensors d.csv").out);
    close(&kept.concat(), &data, 1e-12);
    // Codes as text and as arrays are the same to the bit.
    b.ok("encode d.pca.safetensors d.npy -o d.codes.npy");
    assert_eq!(read_npy(&b.path("d.codes.npy")), (codes.concat(), vec![60, 4]));
    let piped = b.ok("encode d.pca.safetensors d.npy --format npy");
    assert_eq!(piped.bytes, b.read("d.codes.npy"));
    b.ok("encode d.pca.safetensors d.npy -o d.codes.tsv");
    assert!(b.read("d.codes.tsv").starts_with(b"pca0\tpca1\tpca2\tpca3\n"));
    b.ok("report d.pca.safetensors d.csv --color c1 -o d.html");
    assert!(b.read("d.html").starts_with(b"<!DOCTYPE html>"));
    assert!(b.files().iter().all(|f| !f.contains("part")), "{:?}", b.files());
}

#[test]
fn scores_are_one_number_a_row_and_their_mean_is_the_summary() {
    let b = Folder::new();
    b.both("d", 50, 3);
    b.ok("fit pca d.npy -k 1");
    let (names, scores) = csv(&b.ok("score d.pca.safetensors d.npy").out);
    assert_eq!((names, scores.len()), (vec!["log_likelihood".to_string()], 50));
    b.ok("score d.pca.safetensors d.npy -o s.npy");
    assert_eq!(read_npy(&b.path("s.npy")), (scores.concat(), vec![50, 1]));
    let summary = b.ok("score d.pca.safetensors d.npy --summary").out;
    let mean: f64 = summary.lines().nth(1).unwrap().split_whitespace().last().unwrap().parse().unwrap();
    close(&[mean], &[scores.concat().iter().sum::<f64>() / 50.0], 1e-12);
    assert_eq!(b.run("score d.pca.safetensors d.npy --summary -o s.npy").code, 2);
}

#[test]
fn every_method_scores_rows() {
    let b = Folder::new();
    b.both("d", 60, 4);
    b.both("atoms", 3, 4);
    for method in unmix::METHODS {
        let given = match method.key {
            "sparse-coder" | "lista" => "--dictionary atoms.npy",
            "subspace-clustering" => "--set n_clusters=2 --set n_components=1",
            "rfn" | "stacked-rfn" => "--set n_components=2 --set max_iter=5",
            "robust-pca" => "--set alpha=1.0 --set noise=0.0",
            _ => "-k 2",
        };
        b.ok(&format!("fit {} d.npy {given} -o m.safetensors --quiet --force", method.key));
        let scored = b.ok("score m.safetensors d.npy");
        let (names, scores) = csv(&scored.out);
        assert_eq!(scores.len(), 60, "{}", method.key);
        assert!(scores.concat().iter().all(|x| x.is_finite()), "{}", method.key);
        let has_likelihood = names == ["log_likelihood"];
        assert_eq!(
            has_likelihood,
            unmix::Model::load(&b.path("m.safetensors")).unwrap().check_scores().is_ok(),
            "{}",
            method.key
        );
        assert_eq!(
            !has_likelihood,
            scored.err.contains("has no likelihood"),
            "{}: {}",
            method.key,
            scored.err
        );
        if !has_likelihood {
            let expected =
                if method.key == "subspace-clustering" { "squared_distance" } else { "squared_error" };
            assert!(
                names == [expected] && scores.concat().iter().all(|x| *x >= 0.0),
                "{}: {names:?}",
                method.key
            );
        }
        assert!(b.ok("score m.safetensors d.npy --summary -q").out.contains("mean "), "{}", method.key);
    }
    // The error is that of the reconstruction.
    let data = read_npy(&b.path("d.npy")).0;
    b.ok("fit ica d.npy -k 2 -o m.safetensors --quiet");
    b.ok("reconstruct m.safetensors d.npy -o r.npy");
    let back = read_npy(&b.path("r.npy")).0;
    let error = |i: usize| (0..4).map(|j| (data[4 * i + j] - back[4 * i + j]).powi(2)).sum::<f64>();
    let (_, scores) = csv(&b.ok("score m.safetensors d.npy -q").out);
    close(&scores.concat(), &(0..60).map(error).collect::<Vec<f64>>(), 1e-9);
}

#[test]
fn quality_is_t2_and_q_and_their_parts_on_request() {
    let b = Folder::new();
    b.both("d", 50, 3);
    b.ok("fit pca d.csv -k 2 -o m.safetensors");
    let (names, few) = csv(&b.ok("score m.safetensors d.csv --quality").out);
    assert_eq!(names, ["t2", "q"]);
    let (names, all) = csv(&b.ok("score m.safetensors d.csv --quality --parts").out);
    assert_eq!(names, ["t2", "q", "t2_pca0", "t2_pca1", "cos2_pca0", "cos2_pca1", "q_c0", "q_c1", "q_c2"]);
    assert_eq!((few.len(), all.len()), (50, 50));
    for (few, all) in few.iter().zip(&all) {
        assert_eq!(few[..], all[..2]);
        close(&[all[2] + all[3], all[6] + all[7] + all[8]], few, 1e-12);
    }
    // The log-likelihood of a row is a function of T² and Q.
    let (_, scores) = csv(&b.ok("score m.safetensors d.csv").out);
    let model = unmix::Model::load(&b.path("m.safetensors")).unwrap();
    let density = model.density().unwrap();
    let constant = 3.0 * (2.0 * std::f64::consts::PI).ln() + density.log_determinant();
    for (row, score) in few.iter().zip(&scores) {
        close(&[-0.5 * (constant + row[0] + row[1] / density.noise)], score, 1e-9);
    }
    b.ok("score m.safetensors d.csv --quality -o q.npy");
    assert_eq!(read_npy(&b.path("q.npy")), (few.concat(), vec![50, 2]));
    for wrong in ["--quality --summary", "--parts"] {
        assert_eq!(b.run(&format!("score m.safetensors d.csv {wrong}")).code, 2);
    }
}

#[test]
fn quality_of_models_without_variances_along_axes_is_the_reconstruction_error() {
    let b = Folder::new();
    b.both("d", 60, 4);
    for method in ["ica", "rica"] {
        b.ok(&format!("fit {method} d.npy -k 2 -o m.safetensors --quiet"));
        let (names, quality) = csv(&b.ok("score m.safetensors d.npy --quality").out);
        let (_, scores) = csv(&b.ok("score m.safetensors d.npy -q").out);
        assert_eq!(names, ["q"], "{method}");
        assert_eq!(quality, scores, "{method}");
        let (names, parts) = csv(&b.ok("score m.safetensors d.npy --quality --parts").out);
        assert_eq!(names.len(), 5, "{method}: {names:?}");
        for row in &parts {
            close(&[row[1..].iter().sum()], &row[..1], 1e-9);
        }
    }
    // As the help states: codes that are posterior means are no coordinates along axes.
    for (method, measures) in [
        ("neural-pca", &["t2", "q"][..]),
        ("sigma-pca", &["t2", "q"]),
        ("ppca", &["q"]),
        ("linear-eigengan", &["q"]),
        ("factor-analysis", &["q"]),
    ] {
        b.ok(&format!("fit {method} d.npy -k 1 -o m.safetensors --quiet"));
        assert_eq!(csv(&b.ok("score m.safetensors d.npy --quality").out).0, measures, "{method}");
    }
}

#[test]
fn help_is_in_the_terms_of_the_field() {
    let b = Folder::new();
    for (verb, said) in [
        ("", "Score rows: log-likelihood, or reconstruction error where the model has no likelihood"),
        ("", "Reproduce published experiments"),
        ("score", "To encode rows (what PCA users call scores) use 'unmix encode'"),
        ("score", "Q alone for methods other than pca, neural-pca and sigma-pca"),
        ("score", "T2 needs codes that are coordinates of the row along axes with variances"),
        ("fit", "Test which components are reproducible: fit both halves of N random splits of the rows"),
        ("fit", "--seed <N> Random seed"),
        ("fit", "Standardise each patch: zero mean, unit variance"),
        ("encode", "The output: .npy, .npz, .csv or .tsv, or - for standard output"),
        ("encode", "a .wav file is written for each source"),
        ("reconstruct", "a folder of .png files, or one .png file for a single picture"),
    ] {
        // Lines are wrapped.
        let help = b.ok(&format!("{verb} --help")).out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(said), "{verb}: {said}\n{help}");
    }
}

#[test]
fn reconstructions_keep_the_shape_of_images() {
    let b = Folder::new();
    write_npy(&b.path("d.npy"), &Folder::table(40, 12), &[3, 4]).unwrap();
    b.ok("fit pca d.npy -k 0.8 -o m.safetensors");
    b.ok("reconstruct m.safetensors d.npy -o r.npy");
    assert_eq!(read_npy(&b.path("r.npy")).1, [40, 3, 4]);
    b.ok("encode m.safetensors d.npy -o c.npy");
    b.ok("decode m.safetensors c.npy -o back.npy");
    assert_eq!(b.read("back.npy"), b.read("r.npy"));
    let shown: Value = serde_json::from_str(&b.ok("show m.safetensors --json").out).unwrap();
    assert_eq!(shown["feature_shape"], serde_json::json!([3, 4]));
}

#[test]
fn columns_are_matched_by_name() {
    let b = Folder::new();
    b.write("fit.csv", "a,b\n1,5\n2,3\n4,9\n7,1\n");
    b.ok("fit pca fit.csv -o m.safetensors");
    let plain = b.ok("encode m.safetensors fit.csv");
    assert_eq!(plain.err, "");
    // Columns in another order, an additional column, and a column of text that the model does not use.
    b.write("other.csv", "kind,b,id,a\nx,5,0,1\ny,3,1,2\n\"z, z\",9,2,4\nx,1,3,7\n");
    let matched = b.ok("encode m.safetensors other.csv");
    assert_eq!(matched.out, plain.out);
    assert_eq!(matched.err.lines().count(), 1, "{}", matched.err);
    assert!(matched.err.contains("ignored: kind, id"), "{}", matched.err);
    let kept = b.ok("encode m.safetensors other.csv --keep kind -q");
    assert_eq!(kept.err, "");
    assert!(kept.out.starts_with("kind,pca0,pca1\nx,") && kept.out.contains("\n\"z, z\","), "{}", kept.out);
    b.write("codes.csv", &kept.out);
    let back = b.ok("decode m.safetensors codes.csv --keep kind");
    let first: Vec<&str> = back.out.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(first[0], "x");
    close(&[first[1].parse().unwrap(), first[2].parse().unwrap()], &[1.0, 5.0], 1e-12);
    // Points are coloured by a column that is not a feature, and by a feature.
    for column in ["kind", "b"] {
        b.ok(&format!("report m.safetensors other.csv --color {column} -o {column}.html"));
    }
    // Columns by number: column 1 is the feature 'b' and column 0 is text; every column of an array is a feature.
    for column in ["0", "1"] {
        b.ok(&format!("report m.safetensors other.csv --color {column} -o by-number.html"));
    }
    write_npy(&b.path("plain.npy"), &Folder::table(30, 3), &[3]).unwrap();
    b.ok("fit pca plain.npy -o plain.safetensors");
    b.ok("report plain.safetensors plain.npy --color 1 -o plain.html");
    let beyond = b.run("report plain.safetensors plain.npy --color 3 -o beyond.html");
    assert_eq!((beyond.code, beyond.err.lines().count()), (1, 1), "{}", beyond.err);
    b.write("less.csv", "a,c\n1,2\n3,4\n");
    let missing = b.run("score m.safetensors less.csv");
    assert_eq!((missing.code, missing.err.lines().count()), (1, 1));
    assert!(missing.err.contains("the model needs column 'b'"), "{}", missing.err);
    // Columns of an array have no names and are matched by position.
    write_npy(&b.path("d.npy"), &[1.0, 5.0, 2.0, 3.0], &[2]).unwrap();
    let (_, by_position) = csv(&b.ok("encode m.safetensors d.npy").out);
    assert_eq!(by_position, csv(&plain.out).1[..2]);
}

#[test]
fn json_agrees_with_the_library() {
    let b = Folder::new();
    b.both("d", 30, 3);
    b.ok("fit pca d.csv -k 2 --set whiten=true --seed 7 --threads 1");
    let json = |command: &str| serde_json::from_str::<Value>(&b.ok(command).out).unwrap();
    let shown = json("show d.pca.safetensors --json");
    let model = unmix::Model::load(&b.path("d.pca.safetensors")).unwrap();
    assert_eq!(shown["report"], model.report().to_json());
    assert_eq!(shown["settings"]["whiten"], Value::Bool(true));
    assert_eq!((&shown["report"]["seed"], &shown["report"]["threads"]), (&7.into(), &1.into()));
    assert_eq!(shown["feature_names"], serde_json::json!(["c0", "c1", "c2"]));
    let data = json("show d.csv --json");
    assert_eq!((&data["n_rows"], &data["n_features"], &data["constant"]), (&30.into(), &3.into(), &0.into()));
    assert!(data["memory"]["pca"]["full"].as_u64().unwrap() > 0);
    let methods = json("methods --json");
    let keys: Vec<&str> = methods.as_array().unwrap().iter().map(|m| m["key"].as_str().unwrap()).collect();
    assert_eq!(keys, unmix::METHODS.iter().map(|m| m.key).collect::<Vec<_>>());
    assert_eq!(json("methods pca --json"), methods[0]);
    for text in [
        b.ok("show d.csv").out,
        b.ok("show d.pca.safetensors").out,
        b.ok("methods pca").out,
        b.ok("methods").out,
    ] {
        assert!(!text.contains('\u{1b}') && text.lines().count() > 2, "{text}");
    }
}

#[test]
fn show_counts_missing_cells_and_constant_columns() {
    let b = Folder::new();
    b.write("d.csv", "a,b,c,kind\n1,5,2,x\n2,,2,x\n3,7,2,\n4,NA,2,y\n");
    let data: Value = serde_json::from_str(&b.ok("show d.csv --json").out).unwrap();
    assert_eq!((&data["missing"], &data["constant"], &data["text"]), (&3.into(), &1.into(), &3.into()));
    assert_eq!((&data["columns"][3]["missing"], &data["columns"][3]["text"]), (&1.into(), &3.into()));
    let text = b.ok("show d.csv").out;
    let line =
        |name: &str| text.lines().find(|l| l.trim_start().starts_with(name)).unwrap().trim().to_string();
    assert!(line("missing cells").ends_with(" 3") && line("constant columns").ends_with("1: c"), "{text}");
    assert!(line("columns with text").contains(" kind; a fit needs --drop or --keep"), "{text}");
    // Text in few cells of a column of numbers may be a marker.
    b.write("m.csv", "id,a,b\nx,1,5\ny,?,2\nz,3,-\nw,4,n.d.\nv,2,2\nu,5,6\n");
    let text = b.ok("show m.csv").out;
    assert!(
        text.contains("columns with text  id; a fit needs --drop or --keep with their names\n"),
        "{text}"
    );
    assert!(
        text.contains("numbers and text   a, b; 3 cells with text: add --na TEXT if the text marks"),
        "{text}"
    );
    assert!(b.ok("show m.csv --drop id --na ? --na - --na n.d.").out.contains("missing cells      3\n"));
    // The names of all methods have one width.
    let memory: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("Memory")).skip(1).collect();
    let start = |line: &str| {
        let rest = line.trim_start().trim_start_matches(|c: char| c != ' ');
        line.len() - rest.trim_start().len()
    };
    assert!(memory.len() > 10 && memory.iter().all(|line| start(line) == start(memory[0])), "{text}");
}

#[test]
fn show_takes_several_files_and_folders_and_names_decimal_commas() {
    let b = Folder::new();
    std::fs::create_dir(b.path("shards")).unwrap();
    b.write("shards/b.csv", "a,b\n5,6\n");
    b.write("shards/a.csv", "a,b\n1,2\n3,4\n");
    let folder: Value = serde_json::from_str(&b.ok("show shards --json").out).unwrap();
    let files: Value = serde_json::from_str(&b.ok("show shards/a.csv shards/b.csv --json").out).unwrap();
    assert_eq!(
        (&folder["n_rows"], &files["n_rows"], &files["file"]),
        (&3.into(), &3.into(), &"shards/a.csv, shards/b.csv".into())
    );
    b.ok("fit pca shards -k 1 -o m.safetensors");
    b.ok("encode m.safetensors shards -o codes.npy");
    let refused = b.run("show m.safetensors shards/a.csv");
    assert!(refused.code == 2 && refused.err.contains("one model at a time"), "{}", refused.err);
    b.write("d.csv", "x;y\n1,5;2\n2,5;4,25\n");
    let text = b.ok("show d.csv").out;
    assert!(text.contains("x, y; they hold numbers with decimal commas: add --decimal ,"), "{text}");
    b.write("e.csv", "id;x;y\nu;1,5;2\nv;2,5;4,25\n");
    let text = b.ok("show e.csv").out;
    assert!(
        text.contains("3 of 5 cells with text are numbers with decimal commas: add --decimal ,"),
        "{text}"
    );
}

#[test]
fn names_that_come_twice_and_columns_that_do_not_vary_are_named() {
    let b = Folder::new();
    let x = Folder::table(60, 3);
    let line = |row: &[f64]| format!("{},{},{},7\n", row[0], row[1], row[2] + row[0]);
    b.write("d.csv", "a,b,a,c\n".to_string() + &x.chunks(3).map(line).collect::<String>());
    for method in ["pca", "ica", "factor-analysis", "sigma-pca"] {
        let result = b.ok(&format!("fit {method} d.csv -k 1 -o m.safetensors"));
        let twice = "the column name 'a' occurs more than once; duplicates are renamed, as 'a.1'";
        assert!(result.err.contains(twice), "{method}: {}", result.err);
        assert!(result.err.contains("1 of 4 columns does not vary ('c');"), "{method}: {}", result.err);
    }
}

#[test]
fn rows_that_are_the_columns_of_the_model_get_a_hint_to_transpose() {
    let b = Folder::new();
    b.both("d", 60, 5);
    b.ok("fit pca d.npy -k 2 -o m.safetensors");
    let x = Folder::table(60, 5);
    let turned: Vec<f64> =
        (0..5).flat_map(|j| x.iter().skip(j).step_by(5).copied().collect::<Vec<_>>()).collect();
    write_npy(&b.path("t.npy"), &turned, &[60]).unwrap();
    for verb in ["encode", "score", "reconstruct", "score --quality"] {
        let refused = b.run(&format!("{verb} m.safetensors t.npy"));
        assert!(refused.code == 1 && refused.err.contains("t.npy has 5 rows"), "{verb}: {}", refused.err);
        assert!(refused.err.contains("add --transpose"), "{verb}: {}", refused.err);
    }
    b.ok("encode m.safetensors t.npy --transpose -o codes.npy");
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let b = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(b.ok(&format!("completions {shell}")).out.contains("reconstruct"), "{shell}");
    }
    // The values that an option accepts.
    assert!(b.ok("completions bash").out.contains("npy npz csv tsv txt dat"));
    assert!(b.ok("man").out.contains(".TH unmix 1"));
    assert!(b.ok("man fit").out.contains("input\\-format"));
    assert!(b.ok("man fit").out.contains("max\\-seconds"));
    assert!(b.ok("--version").out.starts_with("unmix "));
    let help = b.ok("--help").out;
    assert_eq!(b.ok("help").out, help);
    assert_eq!(b.ok("help fit").out, b.ok("fit --help").out);
    assert!(b.run("help encoed").err.contains("'encode'"));
    assert!(
        help.find("unmix demo").unwrap() < help.find("Commands:").unwrap(),
        "the demo precedes the list of commands"
    );
    for verb in [
        "demo",
        "fit",
        "encode",
        "decode",
        "reconstruct",
        "impute",
        "score",
        "show",
        "report",
        "methods",
        "completions",
        "man",
    ] {
        let help = b.ok(&format!("{verb} --help")).out;
        let examples = help.split("Examples:").nth(1).unwrap();
        assert!(examples.matches("  unmix ").count() >= 2, "{verb} --help has examples");
        assert!(help.lines().all(|l| l.chars().count() <= 100), "{verb} --help");
    }
}

/// The main commands on MNIST, 60,000 handwritten digits, where `UNMIX_DATA` names a folder that has them.
#[test]
fn digits_have_constant_pixels_and_a_page() {
    let Some(folder) = std::env::var_os("UNMIX_DATA") else {
        crate::skipped::skipped(
            "digits_have_constant_pixels_and_a_page",
            "UNMIX_DATA names no folder with real data",
        );
        return;
    };
    let folder = std::path::Path::new(&folder).join("mnist").display().to_string();
    let b = Folder::new();
    let fitted = b.ok(&format!("fit pca {folder}/train-images-idx3-ubyte.gz -k 50 -o m.safetensors"));
    assert!(fitted.err.contains("67 of 784 columns do not vary"), "{}", fitted.err);
    let shown: Value = serde_json::from_str(&b.ok("show m.safetensors --json").out).unwrap();
    assert_eq!((&shown["n_components"], &shown["feature_shape"]), (&50.into(), &serde_json::json!([28, 28])));
    // 82.5 % of the variance, as for any PCA of these images with this number of components.
    let model = unmix::Model::load(&b.path("m.safetensors")).unwrap();
    let share: f64 = model.tensor("explained_variance_ratio").unwrap().f64s().iter().sum();
    close(&[share], &[0.8246], 5e-5);
    let labels = format!("{folder}/train-labels-idx1-ubyte.gz");
    b.ok(&format!("report m.safetensors {folder}/train-images-idx3-ubyte.gz --color {labels} -o page.html"));
    assert!(b.read("page.html").len() > 100_000);
    b.ok(&format!("encode m.safetensors {folder}/t10k-images-idx3-ubyte.gz -o codes.npy"));
    assert_eq!(read_npy(&b.path("codes.npy")).1, [10_000, 50]);
}

#[test]
fn sparse_files_are_shown_and_fitted_as_they_are() {
    let b = Folder::new();
    b.write("m.npz", include_bytes!("../../../unmix-io/tests/readers/fixtures/csr.npz"));
    let shown = b.ok("show m.npz").out;
    assert!(shown.contains("sparse") && shown.contains('%'), "{shown}");
    b.ok("fit pca m.npz -k 2");
    let (names, codes) = csv(&b.ok("encode m.pca.safetensors m.npz").out);
    let report: Value = serde_json::from_str(&b.ok("show m.pca.safetensors --json").out).unwrap();
    assert_eq!(codes.len() as u64, report["report"]["n_samples"].as_u64().unwrap());
    assert_eq!(names, ["pca0", "pca1"]);
    let refused = b.run("fit pca m.npz --set svd_solver=full");
    assert!(
        refused.code == 1 && refused.err.contains("full") && refused.err.contains("sparse"),
        "{}",
        refused.err
    );
    b.ok("score m.pca.safetensors m.npz --quality -o q.csv");
    // A method that needs the zeros names those that do not, and how to write them.
    let refused = b.run("fit ica m.npz");
    assert!(
        refused.code == 1
            && refused.err.contains("choose a method that takes them (pca, ppca,")
            && refused.err.contains("make the rows dense, as in Python by numpy.save"),
        "{}",
        refused.err
    );
}
