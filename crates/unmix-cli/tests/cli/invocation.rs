//! The command line recorded in a model, when it is run again, writes the same file.

use crate::folder::{Folder, without_run};
use serde_json::Value;
use unmix::data::write_npy;
use unmix::{METHODS, Model, datasets};

#[test]
fn the_printed_command_makes_the_same_file() {
    let b = Folder::new();
    let line = |i: usize| format!("r{i};{},5;{};{};{}", (i * 31) % 17, (i * i) % 13, (i * 7) % 11, 1 + i % 3);
    let lines: Vec<String> = (0..80).map(line).collect();
    b.write("my data.csv", format!("id;a b;c;d;w\n{}\n", lines.join("\n")));
    b.both("d", 60, 4);
    b.write("names.txt", "one\ntwo\nthree\nit's four\n");
    b.write("w.csv", (0..60).map(|i| format!("{}\n", i % 3)).collect::<String>());
    b.both("atoms", 6, 4);
    let line = |i: usize| format!("{}\t{}\t{}\n", i % 7, (i * i) % 11, (i * 5) % 13);
    b.write("table.bin", format!("P1\tP2\tP3\n{}", (0..40).map(line).collect::<String>()));
    let cell = |i: usize| (0..5).map(move |j| format!("{i},{j},{}.5\n", (i * 7 + j * j) % 11));
    b.write("cells.csv", (0..12).flat_map(cell).collect::<String>());
    for fit in [
        "unmix fit pca 'my data.csv' --drop id --decimal , --weights-column w -k 2 --rows 10: -o m.safetensors",
        "unmix fit pca d.npy --names names.txt --weights w.csv --sums -k 0.9 --set whiten=true -o m.safetensors",
        "unmix fit sparse-coder d.npy --dictionary atoms.npy --set alpha=0.1 -o m.safetensors",
        "unmix fit dictionary d.npy --dict-init atoms.npy --set max_epochs=1 -o m.safetensors",
        "unmix fit matrix-completion cells.csv --triplets -k 1 --set alpha=0.1 -o m.safetensors",
        "unmix fit pca d.npy -k 2 --stability 2 --max-seconds 1000 -o m.safetensors",
        "unmix fit ica d.npy -k 2 --set 'fun=\"exp\"' --seed 7 --threads 1 --quiet -o m.safetensors",
        "unmix fit neural-pca d.npy -k 1 --set solver=adam --set max_epochs=2 --init start.safetensors -o m.safetensors",
        "unmix fit pca 'my data.csv' --keep id,w --decimal , -k 2 -o m.safetensors",
        // The command reads standard input again; what is redirected to it is no part of it.
        "unmix fit pca - -k 2 -o m.safetensors < d.csv",
        "unmix fit pca table.bin --input-format tsv -k 2 -o m.safetensors",
        "unmix fit pca - --input-format npy -k 2 -o m.safetensors < d.npy",
        "unmix fit ica - --keep id --drop w --decimal , -k 2 --seed 3 -o m.safetensors < 'my data.csv'",
    ] {
        b.ok("fit pca d.npy -k 1 -o start.safetensors --quiet");
        assert_replayed(&b, fit, "m.safetensors");
    }
}

/// Runs the line in a shell, and then the command that `show` prints for the model it made, which must write the same file, except for
/// times and the number of threads. Standard input is redirected to the second command as to the first one.
fn assert_replayed(b: &Folder, line: &str, model: &str) {
    let input = line.split_once(" < ").map(|(_, file)| format!(" < {file}")).unwrap_or_default();
    let made = b.shell(line);
    assert_eq!(made.code, 0, "{line}: {}", made.err);
    let before = b.read(model);
    let printed = printed_command(b, model);
    std::fs::remove_file(b.path(model)).unwrap();
    assert!(!printed.contains(" < "), "{printed}");
    let again = b.shell(&format!("{printed}{input}"));
    assert_eq!(again.code, 0, "{printed}: {}", again.err);
    assert!(without_run(&before) == without_run(&b.read(model)), "{printed}");
}

/// The command that `show` prints for a model; its JSON and the page have the same one.
fn printed_command(b: &Folder, model: &str) -> String {
    let shown = b.ok(&format!("show {model}")).out;
    let printed = shown.lines().map(str::trim).find(|line| line.starts_with("unmix ")).unwrap();
    let recorded: Value = serde_json::from_str(&b.ok(&format!("show {model} --json")).out).unwrap();
    assert_eq!(recorded["report"]["invocation"], printed);
    b.ok(&format!("report {model} -o m.html"));
    let page = std::fs::read_to_string(b.path("m.html")).unwrap();
    let escaped =
        printed.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    assert!(page.contains(&escaped), "{printed}");
    printed.into()
}

/// Options with which a fit of a method to 120 rows of 6 columns is short.
fn short_fit(method: &str) -> &'static str {
    match method {
        "pca" | "neural-pca" | "sigma-pca" | "ica" | "fastica" | "ppca" | "linear-eigengan"
        | "factor-analysis" => "-k 2",
        "rica" => "-k 2 --set max_iter=20",
        "matrix-completion" => "-k 2 --set max_iter=5",
        "robust-pca" => "--set noise=0 --set max_iter=20",
        "subspace-clustering" => "-k 1 --set n_clusters=2",
        "complete-dictionary" => "--set max_iter=20",
        "dictionary" => "-k 7 --set max_epochs=1",
        "sparse-coder" => "--dictionary atoms.npy --set alpha=0.1",
        "lista" => "--dictionary atoms.npy --set n_layers=2 --set batch_size=40 --set max_epochs=1",
        "sae" => "-k 9 --set max_epochs=1",
        "dae" | "rbm" => "-k 4 --set max_epochs=1",
        "rfn" => "-k 3 --set max_iter=5",
        "stacked-rfn" => "--set 'n_components=[4,3]' --set 'max_iter=[5,5]'",
        other => panic!("there is no short fit of {other} here: add one"),
    }
}

#[test]
fn the_printed_command_makes_the_same_file_by_every_method() {
    let b = Folder::new();
    b.both("d", 120, 6);
    b.both("atoms", 8, 6);
    for method in METHODS {
        let fit = format!("unmix fit {} d.npy {} --seed 5", method.key, short_fit(method.key));
        assert_replayed(&b, &format!("{fit} -q -o m.safetensors"), "m.safetensors");
    }
}

#[test]
fn the_printed_command_of_a_stability_analysis_with_resamples_makes_the_same_file() {
    let b = Folder::new();
    b.both("d", 60, 4);
    for fit in [
        "unmix fit pca d.csv -k 2 --stability 3 --bootstrap 4 -o m.safetensors",
        "unmix fit ica d.npy -k 2 --seed 5 --stability 3 --bootstrap 0 -o m.safetensors",
    ] {
        assert_replayed(&b, fit, "m.safetensors");
    }
}

#[test]
fn the_printed_command_of_a_merge_makes_the_same_file() {
    let b = Folder::new();
    let data = b.both("d", 60, 4);
    write_npy(&b.path("its end.npy"), &data[40 * 4..], &[4]).unwrap();
    b.ok("fit pca d.npy --sums -k 2 --rows :40 -o one.safetensors");
    assert_eq!(b.shell("unmix fit pca 'its end.npy' --sums -k 2 -o 'the other.safetensors'").code, 0);
    assert_replayed(
        &b,
        "unmix merge one.safetensors 'the other.safetensors' -o both.safetensors",
        "both.safetensors",
    );
}

#[test]
fn the_printed_command_of_trained_layers_makes_the_same_file() {
    let b = Folder::new();
    let made = datasets::sparse_codes((200, 8, 12), 0.15, 0.0, 2).unwrap();
    write_npy(&b.path("d.npy"), made.x.as_slice(), &[8]).unwrap();
    write_npy(&b.path("atoms.npy"), made.atoms.as_slice(), &[8]).unwrap();
    write_npy(&b.path("codes.npy"), made.codes.as_slice(), &[12]).unwrap();
    let lista = "unmix fit lista d.npy --dictionary atoms.npy --codes codes.npy --set n_layers=2 --set batch_size=40 --set max_epochs=2";
    assert_replayed(&b, &format!("{lista} --seed 3 -q -o m.safetensors"), "m.safetensors");
    // From initial values, which the fit does not change.
    b.ok(
        "fit lista d.npy --dictionary atoms.npy --set n_layers=2 --set max_epochs=0 -q -o start.safetensors",
    );
    assert_replayed(&b, &format!("{lista} --init start.safetensors -q -o m.safetensors"), "m.safetensors");
}

#[test]
fn the_printed_command_of_a_stream_that_is_continued_makes_the_same_file() {
    let b = Folder::new();
    let made = datasets::sparse_codes((300, 8, 12), 0.15, 0.0, 2).unwrap();
    write_npy(&b.path("first.npy"), &made.x.as_slice()[..160 * 8], &[8]).unwrap();
    write_npy(&b.path("more.npy"), &made.x.as_slice()[160 * 8..], &[8]).unwrap();
    b.ok("fit dictionary first.npy -k 12 --set batch_size=64 --set max_epochs=1 -q -o first.safetensors");
    for (before, more) in [
        (
            "first.safetensors",
            "unmix fit dictionary more.npy --init first.safetensors -q -o second.safetensors",
        ),
        (
            "second.safetensors",
            "unmix fit dictionary first.npy --init second.safetensors --seed 4 -q -o third.safetensors",
        ),
    ] {
        let after = more.rsplit(' ').next().unwrap();
        assert_replayed(&b, more, after);
        let load = |model: &str| Model::load(&b.path(model)).unwrap();
        assert!(load(after).report().n_samples > load(before).report().n_samples, "{more}");
        // Settings that are not given are those of the model only where its stream is continued.
        assert_eq!(load(after).settings()["batch_size"], 64, "{more}");
    }
}

#[test]
fn the_printed_command_of_an_import_makes_the_same_file() {
    let b = Folder::new();
    let made = datasets::sparse_codes((200, 8, 12), 0.15, 0.0, 2).unwrap();
    write_npy(&b.path("x.npy"), made.x.as_slice(), &[8]).unwrap();
    b.ok("fit sae x.npy -k 12 --set max_epochs=1 -q -o m.safetensors");
    b.ok("export m.safetensors -o folder --to saelens");
    std::fs::rename(b.path("folder"), b.path("its folder")).unwrap();
    assert_replayed(&b, "unmix import 'its folder' -o back.safetensors", "back.safetensors");
}

#[test]
fn the_printed_command_of_the_demo_makes_the_same_files() {
    let b = Folder::new();
    assert_replayed(&b, "unmix demo --seed 3 -q", "unmix-demo/model.safetensors");
    let first = ["data.npy", "truth.npy", "labels.csv", "codes.npy"]
        .map(|name| b.read(&format!("unmix-demo/{name}")));
    std::fs::remove_dir_all(b.path("unmix-demo")).unwrap();
    assert_replayed(&b, "unmix demo --seed 3 -q -o unmix-demo", "unmix-demo/model.safetensors");
    let second = ["data.npy", "truth.npy", "labels.csv", "codes.npy"]
        .map(|name| b.read(&format!("unmix-demo/{name}")));
    assert!(first == second);
}

/// Text of a page without entities.
fn unescaped(html: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(html.to_string(), |text, (entity, c)| text.replace(entity, c))
}

#[test]
fn the_title_of_a_fit_is_that_of_its_pages() {
    let b = Folder::new();
    b.both("d", 60, 4);
    let fitted = b.shell("unmix fit pca d.csv -k 2 -o m.safetensors --title \"Sarah's rows\"");
    assert_eq!(fitted.code, 0, "{}", fitted.err);
    assert!(fitted.out.starts_with("Sarah's rows\n"), "{}", fitted.out);
    let title = |report: &str| {
        b.ok(report);
        let page = unescaped(&String::from_utf8(b.read("page.html")).unwrap());
        page.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0.to_string()
    };
    assert_eq!(title("report m.safetensors d.csv -o page.html"), "Sarah's rows");
    assert_eq!(title("report m.safetensors d.csv -o page.html --title other"), "other");
}

#[test]
fn the_printed_line_makes_the_same_page() {
    let b = Folder::new();
    b.both("d", 60, 4);
    b.write(
        "my labels.csv",
        format!("id,kind\n{}", (0..60).map(|i| format!("r{i},{}\n", i % 3)).collect::<String>()),
    );
    let places: String = (0..4).map(|i| format!("{},{}\n", i % 2, i / 2)).collect();
    b.write("places.csv", format!("x,y\n{places}"));
    let table = String::from_utf8(b.read("d.csv")).unwrap();
    let named =
        |(i, line): (usize, &str)| format!("{},{line}\n", if i == 0 { "id".into() } else { format!("r{i}") });
    b.write("named.csv", table.lines().enumerate().map(named).collect::<String>());
    b.ok("fit pca d.csv -k 2 -o m.safetensors --quiet");
    b.ok("fit ica d.csv -k 2 -o other.safetensors --quiet");
    for report in [
        "unmix report m.safetensors -o page.html",
        "unmix report m.safetensors d.csv -o page.html --color c1 --title 'one & \"two\"' --rows 3:50",
        "unmix report m.safetensors d.npy -o page.html --color 'my labels.csv:kind' --beside other.safetensors",
        "unmix report other.safetensors d.csv -o page.html --rate 20 --positions places.csv --quiet",
        "unmix report m.safetensors d.csv -o page.html --pair 1,0 --pair 0,1",
        "unmix report m.safetensors named.csv -o page.html --keep id",
        "unmix report m.safetensors - -o page.html --keep id < named.csv",
    ] {
        let input = report.split_once(" < ").map(|(_, file)| format!(" < {file}")).unwrap_or_default();
        let made = b.shell(report);
        assert_eq!(made.code, 0, "{report}: {}", made.err);
        let page = String::from_utf8(b.read("page.html")).unwrap();
        let (_, after) = page.split_once("The page was made by:").unwrap();
        let printed = unescaped(after.split_once("<code>").unwrap().1.split_once("</code>").unwrap().0);
        assert!(printed.starts_with("unmix report "), "{printed}");
        std::fs::remove_file(b.path("page.html")).unwrap();
        assert!(!printed.contains(" < "), "{printed}");
        let again = b.shell(&format!("{printed}{input}"));
        assert_eq!(again.code, 0, "{printed}: {}", again.err);
        assert!(page.as_bytes() == b.read("page.html"), "{printed}");
    }
}

#[test]
fn rows_are_drawn_by_the_given_pairs_of_components() {
    let b = Folder::new();
    b.both("d", 60, 4);
    b.ok("fit pca d.csv -k 4 -o m.safetensors --quiet");
    b.ok("report m.safetensors d.csv -o page.html --pair 2,3 --pair 3,0 --pair 1,2");
    let page = String::from_utf8(b.read("page.html")).unwrap();
    for axes in ["60 rows by component 2 (", "60 rows by component 3 (", "60 rows by component 1 ("] {
        assert!(page.contains(axes), "{axes}");
    }
    for (given, expected) in [
        ("0,4", "the model has 4 components"),
        ("1,1", "give two different ones"),
        ("0,1 --pair 2,3 --pair 0,1", "this pair is given twice; give each pair once"),
        ("1", "give two numbers of components, as in 0,3"),
        ("a,b", "give two numbers of components, as in 0,3"),
    ] {
        let refused = b.run(&format!("report m.safetensors d.csv -o other.html --pair {given}"));
        assert!(refused.code != 0 && refused.err.contains(expected), "{given}: {}", refused.err);
    }
}
