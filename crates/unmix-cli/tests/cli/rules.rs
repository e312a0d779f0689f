//! Properties of every command: deterministic output, no input or foreign file overwritten, and different exit codes for wrong usage
//! and for failure.

use crate::folder::{Folder, without_run};
use serde_json::Value;
use unmix::Model;
use unmix::data::write_npy;

#[test]
fn a_model_has_the_same_bytes_for_any_number_of_threads() {
    let b = Folder::new();
    // More than one shard, and more rows than the automatic choice gives to the solver for small data.
    let (n, p) = (40_000, 30);
    write_npy(&b.path("d.npy"), &Folder::table(n, p), &[p]).unwrap();
    b.ok("fit pca d.npy -k 5 --threads 1 -o one.safetensors");
    b.ok("fit pca d.npy -k 5 --threads 2 -o two.safetensors");
    let (one, two) = (b.read("one.safetensors"), b.read("two.safetensors"));
    assert_eq!(without_run(&one), without_run(&two));
    assert_ne!(one, two, "the number of threads is recorded in 'run'");
    b.ok("encode one.safetensors d.npy --threads 1 -o one.npy");
    b.ok("encode one.safetensors d.npy --threads 2 -o two.npy");
    assert_eq!(b.read("one.npy"), b.read("two.npy"));
}

#[test]
fn the_same_numbers_as_text_and_as_an_array_give_the_same_bits() {
    let b = Folder::new();
    b.both("d", 700, 5);
    b.ok("fit pca d.npy -k 3 -o a.safetensors");
    b.ok("fit pca d.csv -k 3 -o t.safetensors");
    let load = |name: &str| Model::load(&b.path(name)).unwrap();
    let (array, text) = (load("a.safetensors"), load("t.safetensors"));
    assert_eq!(array.tensors(), text.tensors());
    assert_eq!((&array.features().names, text.features().names.as_ref().map(Vec::len)), (&None, Some(5)));
    // Without a header the model of the text file differs from that of the array in the entry `run` alone.
    let body = String::from_utf8(b.read("d.csv")).unwrap();
    b.write("bare.csv", body.split_once('\n').unwrap().1);
    b.ok("fit pca bare.csv -k 3 -o n.safetensors");
    assert_eq!(without_run(&b.read("a.safetensors")), without_run(&b.read("n.safetensors")));
    assert_eq!(b.ok("encode a.safetensors d.npy").out, b.ok("encode t.safetensors d.csv").out);
}

#[test]
fn files_that_are_not_models_are_not_replaced_and_inputs_never() {
    let b = Folder::new();
    b.both("d", 20, 3);
    b.write("notes.txt", "mine");
    let refused = b.run("fit pca d.npy -o notes.txt");
    assert_eq!((refused.code, refused.err.lines().count()), (1, 1));
    assert!(refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(b.read("notes.txt"), b"mine");
    b.ok("fit pca d.npy -o notes.txt --force");
    assert!(unmix::model::is_model_file(&b.path("notes.txt")));
    // A model file is replaced without --force, and so is a file without contents.
    b.ok("fit pca d.npy -k 1 -o notes.txt");
    b.write("empty", "");
    b.ok("fit pca d.npy -o empty");
    assert_eq!(Model::load(&b.path("notes.txt")).unwrap().n_components(), 1);

    let (data, model) = (b.read("d.npy"), b.read("notes.txt"));
    for command in [
        "fit pca d.npy -o d.npy --force",
        "encode notes.txt d.npy -o d.npy",
        "encode notes.txt d.npy -o ./notes.txt --format csv",
        "score notes.txt d.npy -o d.npy",
        "report notes.txt d.npy -o d.npy",
        "report notes.txt -o notes.txt",
    ] {
        let refused = b.run(command);
        assert_eq!((refused.code, refused.err.lines().count()), (1, 1), "{command}: {}", refused.err);
        assert!(refused.err.contains("it is read by the same command"), "{command}: {}", refused.err);
    }
    assert!(b.read("d.npy") == data && b.read("notes.txt") == model);
    b.write("old.npy", "anything");
    b.ok("encode notes.txt d.npy -o old.npy");
    assert!(b.read("old.npy").starts_with(b"\x93NUMPY"));
    b.write("page.html", "anything");
    b.ok("report notes.txt d.npy -o page.html");
    assert!(b.read("page.html").starts_with(b"<!DOCTYPE html>"));
    // Without -o, also a model of other data with a file of the same name; the model records its data.
    std::fs::create_dir(b.path("there")).unwrap();
    b.write("there/d.npy", b.read("d.npy"));
    for input in ["d.npy", "there/d.npy"] {
        b.ok(&format!("fit pca {input}"));
        let made = Model::load(&b.path("d.pca.safetensors")).unwrap().report().run.invocation.clone();
        assert_eq!(made.as_deref(), Some(format!("unmix fit pca {input}").as_str()));
    }
}

#[test]
fn wrong_usage_has_exit_code_2() {
    let b = Folder::new();
    b.both("d", 20, 3);
    b.ok("fit pca d.csv -o m.safetensors");
    let before = b.files();
    for (command, words) in [
        ("fit pac d.npy", "did you mean 'pca'?"),
        ("fit fa d.npy", "did you mean 'factor-analysis'?"),
        ("fit robust-pca d.npy -k 2", "-k is not possible for robust-pca: it finds the number of components"),
        ("fit stacked-rfn d.npy -k 20,5", "give a list as in -k '[20,5]'"),
        ("fit pca d.npy --set whitten=true", "did you mean 'whiten'?"),
        ("fit pca d.npy --set whiten=maybe", "whiten must be true, false, or 'zca', got 'maybe'"),
        ("fit pca d.npy --set svd_solver=ful", "did you mean 'full'?"),
        ("fit pca d.npy --set whiten", "KEY=VALUE"),
        ("fit pca d.npy -k 2 --set n_components=3", "are both given"),
        ("fit pca d.npy -k some", "got 'some'"),
        ("fit pca d.npy --threads 0", "--threads"),
        ("fit pca d.npy --max-seconds=-1", "seconds"),
        ("fit pca d.npy -o -", "a model cannot be written to standard output"),
        ("encode m.safetensors d.csv -o codes.xyz", "end it in .npy, .npz, .csv or .tsv"),
        ("encode m.safetensors d.csv -o src.wav", "written to its own file: give a folder, as in -o src/"),
        ("fit ica d.npy -k mle", "or 'all', got 'mle'; rules are available in pca only"),
        ("methods pac", "did you mean 'pca'?"),
        ("man fti", "did you mean 'fit'?"),
        ("encoed m.safetensors d.csv", "encode"),
        ("fit pca", "INPUT"),
        ("fit", "for example: unmix fit pca data.csv -k 10\n"),
        ("pca d.npy", "to fit a model: unmix fit pca FILE\n"),
        ("d.npy", "to describe a file: unmix show d.npy; to fit a model: unmix fit pca d.npy\n"),
        ("fit d.npy pca", "the method must come before the input: unmix fit pca d.npy"),
        ("fit d.npy", "for example: unmix fit pca data.csv -k 10\n"),
        ("fit pca d.npy --exclude 0", "unexpected argument '--exclude'"),
        ("report m.safetensors --force", "unexpected argument '--force'"),
        ("stability d.npy", "to analyse stability: unmix fit METHOD FILE --stability 10\n"),
        ("fit pca d.npy --k 3", "for the number of components use -k 10\n"),
        ("fit pca d.npy -n 3", "for the number of components use -k 10\n"),
        ("fit pca d.npy --whiten", "whiten is a setting of pca: use --set whiten=VALUE\n"),
        ("fit pca d.npy --seed -1", "if -1 is the value of --seed, it must not be negative\n"),
        ("select d.npy --max-components -12", "if -12 is the value of --max-components, it must not"),
        ("fit ica d.npy --max-iter 3", ": use --set max_iter="),
        ("score m.safetensors", "for example: unmix score data.pca.safetensors new.csv\n"),
        (
            "fit pca d.npy --set n_components=true",
            "-k must be a non-negative integer, a share of the variance",
        ),
        ("fit pca d.npy --set tol=small", "tol must be a number, got 'small'"),
        ("", "unmix demo"),
    ] {
        let ran = b.run(command);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{command}: {}", ran.err);
        assert!(ran.err.contains(words), "{command}: {}", ran.err);
        assert!(!ran.err.contains("as a value"), "{command}: {}", ran.err);
        // The parser adds no other suggestion.
        let hinted = ["use -k 10", ": use --set", "is the value of", "to fit a model:"];
        let has_hint = hinted.iter().any(|hint| words.contains(hint));
        assert!(!has_hint || !ran.err.contains("tip:"), "{command}: {}", ran.err);
    }
    let rows = b.run("decode m.safetensors d.csv");
    assert_eq!((rows.code, rows.out.as_str()), (1, ""));
    assert!(rows.err.contains("has the features of the model, and codes are needed (pca0, "), "{}", rows.err);
    assert!(rows.err.contains("use 'unmix reconstruct MODEL INPUT' for rows"), "{}", rows.err);
    b.write("neither.csv", "a,b\n1,2\n");
    let neither = b.run("decode m.safetensors neither.csv");
    assert!(neither.code == 1 && neither.err.contains("the model needs column 'pca0'"), "{}", neither.err);
    std::fs::remove_file(b.path("neither.csv")).unwrap();
    let kept = b.run("encode m.safetensors d.csv --keep c0 -o codes.npy");
    assert!(kept.code == 1 && kept.err.contains("the model needs column 'c0'"), "{}", kept.err);
    b.write("k.csv", "id,c0,c1,c2\nx,1,2,3\n");
    let kept = b.run("encode m.safetensors k.csv --keep id -o codes.npy");
    assert!(kept.code == 2 && kept.err.contains("cannot keep id"), "{}", kept.err);
    std::fs::remove_file(b.path("k.csv")).unwrap();
    assert_eq!(b.files(), before);
}

#[test]
fn suggested_commands_work() {
    let b = Folder::new();
    b.both("d", 20, 3);
    let suggested = |command: &str| {
        let out = b.ok(command).out;
        let lines: Vec<String> =
            out.lines().filter_map(|l| l.strip_prefix("  unmix ")).map(Into::into).collect();
        lines
    };
    let both = suggested("fit pca d.csv");
    assert_eq!(both.iter().map(|c| &c[..6]).collect::<Vec<_>>(), ["encode", "report"]);
    // A model with 0 components has no codes, so `encode` is not suggested.
    let one = suggested("fit pca d.csv -k 0 -o none.safetensors");
    assert_eq!(one.iter().map(|c| &c[..6]).collect::<Vec<_>>(), ["report"]);
    both.iter().rev().chain(&one).for_each(|command| {
        b.ok("fit pca d.csv");
        b.ok(command);
    });
}

#[test]
fn few_rows_and_many_columns_give_a_hint() {
    let b = Folder::new();
    write_npy(&b.path("d.npy"), &Folder::table(4, 200), &[200]).unwrap();
    assert!(b.ok("fit pca d.npy -k 1").err.contains("add --transpose"));
    assert_eq!(b.ok("fit pca d.npy -k 1 --quiet").err, "");
    let transposed = b.ok("fit pca d.npy -k 1 --transpose");
    assert!(
        !transposed.err.contains("add --transpose") && transposed.out.contains("d.npy --transpose -o"),
        "{}",
        transposed.out
    );
}

#[test]
fn warnings_of_a_fit_go_to_standard_error() {
    let b = Folder::new();
    b.write("d.csv", "a,b,c\n1,2,7\n2,4,7\n3,6,7\n5,10,7\n");
    let fitted = b.ok("fit pca d.csv -k 3 --strict");
    assert!(
        fitted.err.contains("1 of 3 columns does not vary") && fitted.err.contains("1 direction only"),
        "{}",
        fitted.err
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_pipe_gives_no_message_and_a_full_disk_gives_one() {
    let b = Folder::new();
    let (n, p) = (20_000, 8);
    write_npy(&b.path("d.npy"), &Folder::table(n, p), &[p]).unwrap();
    b.ok("fit pca d.npy -o m.safetensors");
    let program = env!("CARGO_BIN_EXE_unmix");
    let shell = |script: &str| {
        let out = std::process::Command::new("bash")
            .current_dir(b.path(""))
            .args(["-c", &format!("set -o pipefail; {script}")])
            .output()
            .unwrap();
        (
            out.status.code().unwrap(),
            String::from_utf8(out.stdout).unwrap(),
            String::from_utf8(out.stderr).unwrap(),
        )
    };
    let (code, out, err) = shell(&format!("{program} encode m.safetensors d.npy | head -n 1"));
    assert_eq!((code, out.trim().split(',').count(), err.as_str()), (0, p, ""));
    for command in [
        "encode m.safetensors d.npy > /dev/full",
        "encode m.safetensors d.npy --format npy > /dev/full",
        "encode m.safetensors d.npy -o /dev/full",
        "fit pca d.npy -o /dev/full",
        "fit pca d.npy -o x.safetensors > /dev/full",
        "report m.safetensors -o /dev/full",
        "methods --json > /dev/full",
        "--help > /dev/full",
    ] {
        let (code, _, err) = shell(&format!("{program} {command}"));
        assert_eq!((code, err.lines().count()), (1, 1), "{command}: {err}");
        assert!(err.starts_with("unmix: cannot write ") && err.contains("No space left"), "{command}: {err}");
    }
    assert!(std::fs::metadata("/dev/full").is_ok_and(|m| !m.is_file()));
}

#[cfg(unix)]
#[test]
fn an_interruption_ends_with_code_130_and_leaves_no_file() {
    let b = Folder::new();
    let (n, p) = (400_000, 40);
    write_npy(&b.path("d.npy"), &Folder::table(n, p), &[p]).unwrap();
    b.ok("fit pca d.npy -o m.safetensors");
    let before = b.files();
    let mut running = std::process::Command::new(env!("CARGO_BIN_EXE_unmix"))
        .current_dir(b.path(""))
        .args(["reconstruct", "m.safetensors", "d.npy", "-o", "r.csv"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let pid = running.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let signalled = std::time::Instant::now();
    let code = running.wait().unwrap().code();
    let waited = signalled.elapsed().as_secs_f64();
    let mut err = String::new();
    std::io::Read::read_to_string(&mut running.stderr.take().unwrap(), &mut err).unwrap();
    assert_eq!((code, err.as_str()), (Some(130), "unmix: interrupted\n"));
    // The program must end within 1 s of the signal; the limit of 2 s is for a busy machine.
    assert!(waited < 2.0, "{waited} s");
    assert_eq!(b.files(), before);
}

#[cfg(unix)]
#[test]
fn an_interrupted_fit_keeps_its_model_on_request() {
    let b = Folder::new();
    write_npy(&b.path("d.npy"), &Folder::table(2000, 8), &[8]).unwrap();
    let fit = "fit neural-pca d.npy -k 3 -o m.safetensors --set solver=adam --set max_epochs=1000000 --checkpoint c --every 0.01";
    let mut running = std::process::Command::new(env!("CARGO_BIN_EXE_unmix"))
        .current_dir(b.path(""))
        .args(fit.split(' '))
        .arg("--keep-interrupted")
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // The checkpoint is begun before the iterations; it grows with the first state of them.
    let size = || std::fs::metadata(b.path("c")).map_or(0, |m| m.len());
    let begun = std::time::Instant::now();
    while size() < 1000 && begun.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = running.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let code = running.wait().unwrap().code();
    let mut err = String::new();
    std::io::Read::read_to_string(&mut running.stderr.take().unwrap(), &mut err).unwrap();
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("it ended with 'interrupted'") && err.contains("c is kept"), "{err}");
    let kept = Model::load(&b.path("m.safetensors")).unwrap();
    assert_eq!(kept.report().outcome.name(), "interrupted");
    // The same command with a time limit resumes from the checkpoint.
    b.ok(&format!("{fit} --resume --max-seconds 0.5"));
    let resumed = Model::load(&b.path("m.safetensors")).unwrap();
    assert!(resumed.report().n_iter > kept.report().n_iter);
}

#[test]
fn safetensors_files_are_shown_as_models_or_data_by_their_contents() {
    let b = Folder::new();
    b.both("d", 30, 4);
    b.ok("fit pca d.npy -k 2 -o model.st");
    let header = r#"{"x":{"dtype":"F64","shape":[3,2],"data_offsets":[0,48]}}       "#;
    let numbers = [1.0, 2.0, 4.0, 3.0, 5.0, 9.0].map(f64::to_le_bytes).concat();
    b.write("rows.safetensors", [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &numbers].concat());
    let kind = |name: &str| {
        let shown: Value = serde_json::from_str(&b.ok(&format!("show {name} --json")).out).unwrap();
        shown["kind"].clone()
    };
    assert_eq!([kind("model.st"), kind("rows.safetensors")], ["model", "data"]);
}

#[test]
fn a_page_is_never_written_over_data() {
    let b = Folder::new();
    b.write("a.csv", "x,y\n1,2\n2,1\n3,5\n");
    assert_eq!(b.run("fit pca a.csv -o m.safetensors").code, 0);
    b.write("other.npy", "numbers of somebody");
    let ran = b.run("report m.safetensors -o other.npy");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("does not end in .html"), "{}", ran.err);
    assert_eq!(b.read("other.npy"), b"numbers of somebody");
    assert_eq!(b.run("report m.safetensors -o page.HTML").code, 0);
}

/// Also files that the command reads beside its rows and its model.
#[test]
fn side_files_are_never_replaced() {
    let b = Folder::new();
    b.both("d", 20, 3);
    b.ok("fit pca d.csv -k 2 -o m.safetensors");
    b.ok("fit dictionary d.npy -k 4 --set alpha=0.1 -o dictionary.safetensors");
    b.write("w.csv", "1\n".repeat(20));
    b.write("names.csv", "p\nq\nr\n");
    b.write("signal.csv", format!("y\n{}", "1\n2\n".repeat(10)));
    b.write("label.html", "1\n2\n".repeat(10));
    let files = [
        "d.npy",
        "m.safetensors",
        "dictionary.safetensors",
        "w.csv",
        "names.csv",
        "signal.csv",
        "label.html",
    ];
    let before = files.map(|file| b.read(file));
    for command in [
        "fit pca d.npy --weights w.csv -o w.csv --force",
        "fit pca d.npy --names names.csv -o names.csv --force",
        "fit sparse-coder d.npy --dictionary dictionary.safetensors -o dictionary.safetensors",
        "fit rfn d.npy -k 2 --checkpoint d.npy",
        "fit rfn d.npy -k 2 --init m.safetensors --checkpoint ./m.safetensors -o other.safetensors",
        "encode m.safetensors d.npy --names names.csv -o names.csv",
        "score m.safetensors d.csv --reference signal.csv -o signal.csv",
        "report m.safetensors d.csv --color label.html -o label.html",
        "report m.safetensors d.csv --color label.html:0 -o label.html",
    ] {
        let refused = b.run(command);
        assert_eq!((refused.code, refused.err.lines().count()), (1, 1), "{command}: {}", refused.err);
        assert!(refused.err.contains("it is read by the same command"), "{command}: {}", refused.err);
    }
    assert!(files.map(|file| b.read(file)) == before);
}

#[test]
fn no_command_writes_two_results_to_one_file() {
    let b = Folder::new();
    b.both("d", 30, 4);
    b.write("gaps.csv", "a,b,c\n1,2,3\n,4,5\n2,1,4\n0,3,2\n1,1,1\n5,2,0\n");
    b.ok("fit ppca gaps.csv -k 1 -o p.safetensors");
    for command in [
        "fit pca d.npy -k 2 --checkpoint m.safetensors -o m.safetensors",
        "fit pca d.npy -k 2 --checkpoint ./m.safetensors -o m.safetensors",
        "fit rfn d.npy -k 2 --checkpoint d.rfn.safetensors",
        "impute p.safetensors gaps.csv -o full.csv --std full.csv",
        "impute p.safetensors gaps.csv -o full.csv --draws 2 --std full.1.csv",
    ] {
        let refused = b.run(command);
        assert_eq!((refused.code, refused.err.lines().count()), (2, 1), "{command}: {}", refused.err);
        assert!(refused.err.contains("which would be lost"), "{command}: {}", refused.err);
    }
    for file in ["m.safetensors", "d.rfn.safetensors", "full.csv", "full.1.csv"] {
        assert!(!b.path(file).exists(), "{file}");
    }
}

#[test]
fn all_components_are_those_of_methods_that_have_all() {
    let b = Folder::new();
    b.both("d", 30, 4);
    for method in ["pca", "ica", "factor-analysis"] {
        b.ok(&format!("fit {method} d.npy -k all -o m.safetensors"));
    }
    for method in ["ppca", "linear-eigengan", "matrix-completion", "rfn", "rbm", "sae"] {
        let refused = b.run(&format!("fit {method} d.npy -k all"));
        assert_eq!((refused.code, refused.err.lines().count()), (2, 1), "{method}: {}", refused.err);
        assert!(refused.err.contains("-k all is not possible for"), "{method}: {}", refused.err);
    }
}

#[test]
fn options_that_do_not_apply_are_refused_by_name() {
    let b = Folder::new();
    b.both("d", 30, 4);
    let refused = b.run("fit pca d.npy --dictionary d.npy");
    assert!(refused.code == 2 && refused.err.contains("pca takes no --dictionary"), "{}", refused.err);
    assert!(refused.err.contains("sparse-coder"), "{}", refused.err);
    let refused = b.shell("unmix fit pca d.csv --columns ''");
    assert!(refused.code == 2 && refused.err.contains("--columns"), "{}", refused.err);
    b.ok("fit rfn d.npy -k 4 -o r.safetensors");
    b.both("narrow", 30, 3);
    for starts in [0, 1, 2] {
        let permutations = if starts > 0 { "--permutations 1" } else { "" };
        let refused = b.run(&format!("biclusters r.safetensors narrow.npy --starts {starts} {permutations}"));
        assert!(
            refused.code == 1 && refused.err.contains("4 columns are needed"),
            "{starts}: {}",
            refused.err
        );
    }
    let refused = b.run("biclusters r.safetensors d.npy -o members.npy");
    assert!(refused.code == 2 && refused.err.contains("end the name in .csv"), "{}", refused.err);
}
