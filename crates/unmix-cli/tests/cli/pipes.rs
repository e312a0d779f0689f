//! Pipes as inputs, quotations that are never closed, and files whose names look like options.

use crate::folder::{Folder, without_run};

/// Rows, a model of them, and their codes.
fn fitted() -> Folder {
    let b = Folder::new();
    b.both("x", 40, 3);
    b.ok("fit pca x.csv -k 2 -o m.safetensors");
    b.ok("encode m.safetensors x.csv -o codes.csv");
    b
}

#[test]
fn every_command_reads_pipes_as_it_reads_files() {
    let b = fitted();
    for (command, file) in [
        ("encode m.safetensors", "x.csv"),
        ("score m.safetensors", "x.csv"),
        ("score --quality m.safetensors", "x.csv"),
        ("reconstruct m.safetensors", "x.csv"),
        ("decode m.safetensors", "codes.csv"),
        ("encode m.safetensors", "x.npy"),
    ] {
        let want = b.ok(&format!("{command} {file}")).bytes;
        // A pipe without a name, as <(...) of other shells is, and one with a name. Without a time limit, a pipe that is opened twice would
        // wait for ever for another writer.
        for line in [
            format!("cat {file} | unmix {command} /dev/stdin"),
            format!("cat {file} | unmix {command} -"),
            format!("cat {file} | unmix {command} /dev/fd/3 3<&0 </dev/null"),
            format!("rm -f p; mkfifo p; (cat {file} > p) & timeout 60 unmix {command} p"),
        ] {
            let ran = b.shell(&line);
            assert_eq!(ran.code, 0, "{line}: {}", ran.err);
            assert!(ran.bytes == want, "{line}: {}", ran.err);
        }
    }
    let shown = b.shell("cat x.csv | unmix show /dev/stdin");
    assert!(shown.code == 0 && shown.out.contains("40"), "{}", shown.err);
    let shown = b.shell("mkfifo q; (cat x.csv > q) & timeout 60 unmix show q");
    assert!(shown.code == 0 && shown.out.contains("40"), "{}", shown.err);
}

#[test]
fn a_second_read_of_a_pipe_is_refused_in_words() {
    let b = fitted();
    let score = b.shell("cat x.csv | unmix score m.safetensors - --reference c9 2>&1");
    assert!(score.code == 1 && score.out.contains("can be read only once"), "{}", score.out);
    let report = b.shell("cat x.csv | unmix report m.safetensors - --color c0 -o page.html 2>&1");
    assert!(report.code == 1 && report.out.contains("can be read only once"), "{}", report.out);
}

#[test]
fn an_open_quotation_is_refused_by_every_command() {
    let b = fitted();
    b.write("u.csv", "c0,c1,c2,id\n1,2,3,x\n3,1,2,\"y\n5,6,1,z\n7,9,1,w\n2,2,5,v\n");
    b.write("names.csv", "name,note\na,\"x\nb,y\nc,z\n");
    b.write("where.csv", "x,y,note\n1,2,\"a\n2,3,b\n3,4,c\n");
    for (line, at) in [
        ("unmix fit pca u.csv --drop id -k 1 -o u.safetensors", 3),
        ("unmix show u.csv", 3),
        ("unmix encode m.safetensors u.csv", 3),
        ("unmix encode m.safetensors - < u.csv", 3),
        ("cat u.csv | unmix fit pca - --drop id -k 1 -o u.safetensors", 3),
        ("gzip -c u.csv | unmix fit pca - --drop id -k 1 -o u.safetensors", 3),
        ("unmix fit pca x.npy --names names.csv -k 1 -o u.safetensors", 2),
        ("unmix report m.safetensors --positions where.csv -o page.html", 2),
    ] {
        let ran = b.shell(line);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{line}: {}", ran.err);
        let want = format!("a cell that begins on line {at} contains all lines that follow");
        assert!(ran.err.contains(&want), "{line}: {}", ran.err);
        assert!(ran.err.contains("close the quotation mark that opens there"), "{line}: {}", ran.err);
    }
}

/// The commands that a command suggests under "Next".
fn next(out: &str) -> Vec<&str> {
    let (_, after) = out.split_once("Next\n").unwrap();
    after.lines().map(str::trim).filter(|line| line.starts_with("unmix ")).collect()
}

#[test]
fn suggested_commands_for_files_that_begin_with_a_dash_can_be_run() {
    let b = Folder::new();
    // One direction has most of the variance, so that the rules suggest a number of components.
    let line = |x: &[f64]| {
        format!("{},{},{}\n", 10.0 * x[0] + 0.1 * x[1], 8.0 * x[0] + 0.1 * x[2], 6.0 * x[0] - 0.1 * x[1])
    };
    b.write(
        "-lead.csv",
        "a,b,c\n".to_string() + &Folder::table(40, 3).chunks(3).map(line).collect::<String>(),
    );
    let fit = b.shell("unmix fit pca -k 2 -- -lead.csv");
    assert_eq!(fit.code, 0, "{}", fit.err);
    assert!(
        fit.out.contains("encode ./-lead.pca.safetensors ./-lead.csv -o ./-lead.codes.csv"),
        "{}",
        fit.out
    );
    let select = b.shell("unmix select -- -lead.csv");
    assert!(select.out.contains(" ./-lead.csv "), "{}", select.out);
    for line in next(&fit.out).into_iter().chain(next(&select.out)) {
        let ran = b.shell(line);
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
    }
    assert!(b.files().contains(&"-lead.codes.csv".into()) && b.files().contains(&"-lead.html".into()));
    // The command that is recorded in the model makes it again.
    for fit in [
        "unmix fit pca -k 1 -o r.safetensors -- -lead.csv",
        "unmix fit pca ./-lead.csv -k 1 -o r.safetensors",
    ] {
        assert_eq!(b.shell(fit).code, 0);
        let before = b.read("r.safetensors");
        let shown = b.ok("show r.safetensors").out;
        let made_by = shown.lines().map(str::trim).find(|line| line.starts_with("unmix fit")).unwrap();
        std::fs::remove_file(b.path("r.safetensors")).unwrap();
        let ran = b.shell(made_by);
        assert_eq!(ran.code, 0, "{made_by}: {}", ran.err);
        assert!(without_run(&before) == without_run(&b.read("r.safetensors")), "{made_by}");
    }
    // The method after the input.
    let swapped = b.shell("unmix fit -- -lead.csv pca");
    assert!(swapped.err.contains("unmix fit pca ./-lead.csv"), "{}", swapped.err);
}

#[test]
fn show_names_commas_that_cannot_be_decimal_marks() {
    let b = Folder::new();
    b.write("thou.csv", "a,b,c\n\"1,000\",2,3\n1,2,5\n3,4,1\n5,7,2\n");
    let out = b.ok("show thou.csv").out;
    assert!(
        out.contains("a; they hold numbers with commas (separators of thousands?): write them without"),
        "{out}"
    );
    assert!(!out.contains("--decimal"), "{out}");
    let fit = b.run("fit pca thou.csv");
    assert!(fit.code == 1 && !fit.err.contains("--decimal"), "{}", fit.err);
}

#[test]
fn options_without_effect_on_modules_and_models_are_refused() {
    let b = fitted();
    for option in ["--permutations 5", "--max-seconds 1", "--seed 4"] {
        let ran = b.run(&format!("biclusters m.safetensors x.csv --starts 0 {option}"));
        let name = option.split(' ').next().unwrap();
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(&format!("{name} has no effect with --starts 0")), "{}", ran.err);
    }
    for option in
        ["--transpose", "--decimal ,", "--columns 1", "--names names.txt", "--skip-rows 2", "--rows :5"]
    {
        let ran = b.run(&format!("show m.safetensors {option}"));
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{option}: {}", ran.err);
        assert!(ran.err.contains("the input is a model, which has no rows"), "{}", ran.err);
        assert!(ran.err.contains("leave it out: it is for data files"), "{}", ran.err);
    }
    b.ok("show m.safetensors --json --quiet --threads 1");
}
