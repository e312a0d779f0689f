//! Bad input: an error message of one sentence, exit code 1, and no output file.

use crate::folder::Folder;
use std::io::{Seek, Write};
use unmix::data::write_npy;

/// Runs a command that must fail with exit code 1: a message of one line that contains every string of `words`, and no new file.
#[track_caller]
fn refused(b: &Folder, command: &str, words: &[&str]) {
    let before = b.files();
    let ran = b.run(command);
    assert_eq!(ran.code, 1, "{command}: {}{}", ran.out, ran.err);
    assert_eq!((ran.out.as_str(), ran.err.lines().count()), ("", 1), "{command}: {}", ran.err);
    assert!(ran.err.starts_with("unmix: ") && !ran.err.trim_end().ends_with('.'), "{command}: {}", ran.err);
    for part in words {
        assert!(ran.err.contains(part), "{command} should contain '{part}': {}", ran.err);
    }
    assert_eq!(b.files(), before, "{command}");
}

fn npy_header(dictionary: &str) -> Vec<u8> {
    [b"\x93NUMPY\x01\x00".as_slice(), &(dictionary.len() as u16).to_le_bytes(), dictionary.as_bytes()]
        .concat()
}

#[test]
fn numbers_that_are_not_finite_are_named_by_row_and_column() {
    let b = Folder::new();
    let (missing, infinite) = ("leave such rows out with --missing drop", "drop or fill such rows first");
    for (value, name, remedy) in [
        (f64::NAN, "NaN", missing),
        (f64::INFINITY, "infinity", infinite),
        (f64::NEG_INFINITY, "-infinity", infinite),
    ] {
        let mut data = Folder::table(50, 4);
        data[4 * 31 + 2] = value;
        write_npy(&b.path("d.npy"), &data, &[4]).unwrap();
        refused(&b, "fit pca d.npy", &["row 31, column 2 is ", name, remedy]);
    }
    b.write("d.csv", "a,b\n1,2\n3,NA\n5,7\n");
    refused(&b, "fit pca d.csv", &["row 1, column 1 ('b') is NaN"]);
    // The same error when a model is applied.
    b.write("good.csv", "a,b\n1,2\n3,3\n5,7\n");
    b.ok("fit pca good.csv -o m.safetensors");
    for verb in ["encode", "reconstruct", "score"] {
        refused(&b, &format!("{verb} m.safetensors d.csv -o out.csv"), &["row 1, column 1 ('b') is NaN"]);
    }
}

#[test]
fn data_without_variance_or_rows_are_refused() {
    let b = Folder::new();
    write_npy::<f64>(&b.path("none.npy"), &[], &[3]).unwrap();
    refused(&b, "fit pca none.npy", &["rows"]);
    b.write("none.csv", "a,b\n");
    refused(&b, "fit pca none.csv", &["no rows"]);
    b.write("one.csv", "a,b\n1,2\n");
    refused(&b, "fit pca one.csv", &["at least 2 rows", "has 1"]);
    b.write("flat.csv", "a,b\n1,2\n1,2\n1,2\n");
    refused(
        &b,
        "fit pca flat.csv",
        &["needs a column that varies", "all 2 columns are constant over 3 rows"],
    );
    b.both("d", 9, 4);
    for (k, words) in [
        ("5", "-k 5 is not possible"),
        ("-1", "-k must be at least 0, got -1"),
        ("1.5", "-k 1.5 is not possible"),
    ] {
        refused(&b, &format!("fit pca d.npy -k {k}"), &[words]);
    }
    refused(&b, "fit pca d.npy -k 5", &["9 rows and 4 columns", "from 0 to 4"]);
    refused(&b, "fit pca d.npy -k -1", &["-k must be at least 0, got -1", "from 0 to 4"]);
    let huge = "99999999999999999999";
    let words = ["-k 100000000000000000000 is not possible", "at most min(9, 4) = 4 components"];
    refused(&b, &format!("fit pca d.npy -k {huge}"), &words);
    refused(&b, "fit pca d.npy -k 1.0", &["-k 1.0 is not possible", "a share of the variance"]);
    // Variances that underflow to 0 or to subnormal numbers are an error.
    let tiny = |by: f64| Folder::table(9, 4).iter().map(|x| x * by).collect::<Vec<f64>>();
    let single: Vec<f32> = tiny(1e-25).iter().map(|&x| x as f32).collect();
    write_npy(&b.path("tiny.npy"), &single, &[4]).unwrap();
    refused(
        &b,
        "fit pca tiny.npy",
        &["below the smallest normal number", "float32", "multiply", "or use float64"],
    );
    write_npy(&b.path("tiny.npy"), &tiny(1e-160), &[4]).unwrap();
    refused(&b, "fit pca tiny.npy", &["below the smallest normal number", "float64", "multiply"]);
}

#[test]
fn rows_that_are_modified_during_a_fit_are_refused() {
    let b = Folder::new();
    write_npy(&b.path("x.npy"), &Folder::table(20_000, 6), &[6]).unwrap();
    let ended = std::sync::atomic::AtomicBool::new(false);
    let modify_repeatedly = || {
        let mut file = std::fs::File::options().write(true).open(b.path("x.npy")).unwrap();
        while !ended.load(std::sync::atomic::Ordering::Relaxed) {
            file.seek(std::io::SeekFrom::End(-8)).unwrap();
            file.write_all(&7f64.to_le_bytes()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(modify_repeatedly);
        // A method that reads the rows in every iteration.
        let fit = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            refused(&b, "fit rfn x.npy -k 2 -q", &["x.npy", "it was modified while its rows were read"]);
        }));
        ended.store(true, std::sync::atomic::Ordering::Relaxed);
        fit.unwrap();
    });
}

/// A sparse file whose header declares 1 TiB in two rows, and whose length agrees with the header.
#[cfg(target_os = "linux")]
#[test]
fn rows_longer_than_memory_are_refused_before_anything_is_allocated() {
    let b = Folder::new();
    let header = npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 68719476736), }");
    b.write("hole.npy", &header);
    let file = std::fs::File::options().write(true).open(b.path("hole.npy")).unwrap();
    file.set_len(header.len() as u64 + (1 << 40)).unwrap();
    drop(file);
    for command in ["show hole.npy", "fit pca hole.npy -q", "fit pca hole.npy -k 1 -q"] {
        refused(&b, command, &["would need", " bytes (", " MiB) of memory", "fewer columns"]);
    }
}

#[test]
fn files_that_contradict_their_format_are_refused() {
    let b = Folder::new();
    b.write("ragged.csv", "a,b,c\n1,2,3\n4,5\n6,7,8\n");
    refused(&b, "fit pca ragged.csv", &["ragged.csv", "line 3"]);
    b.write("text.csv", "a,kind\n1,x\n2,y\n3,z\n");
    refused(&b, "fit pca text.csv", &["row 0", "'kind'", "'x'", "--drop kind"]);
    b.write("half.csv", "a,1\n2,3\n");
    refused(&b, "fit pca half.csv", &["--header", "--no-header", "--skip-rows"]);
    b.both("d", 30, 4);
    let whole = b.read("d.npy");
    b.write("cut.npy", &whole[..whole.len() - 100]);
    refused(&b, "fit pca cut.npy", &["cut.npy", "declares"]);
    b.write("magic.npy", "not an array at all");
    refused(&b, "fit pca magic.npy", &["magic.npy"]);
    b.write("pickled.npy", npy_header("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }"));
    refused(&b, "fit pca pickled.npy", &["pickled Python objects"]);
    b.write(
        "vast.npy",
        npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (9000000000000, 9000), }"),
    );
    refused(&b, "fit pca vast.npy", &["vast.npy"]);
    // An idx file: two zero bytes, type code 8 (unsigned bytes), three axes of 10 x 2 x 2, and 39 of the 40 data bytes.
    let idx = [&[0u8, 0, 8, 3, 0, 0, 0, 10, 0, 0, 0, 2, 0, 0, 0, 2][..], &[7; 39]].concat();
    b.write("cut-idx3-ubyte", idx);
    refused(&b, "fit pca cut-idx3-ubyte", &["cut-idx3-ubyte"]);
    b.write("empty.npy", "");
    refused(&b, "fit pca empty.npy", &["it is empty"]);
    b.write("empty.csv", "");
    refused(&b, "fit pca empty.csv", &["empty"]);
    refused(&b, "fit pca nowhere.npy", &["cannot read nowhere.npy"]);
    refused(&b, "fit pca magik.npy", &["cannot read magik.npy", "did you mean 'magic.npy'?"]);
    std::fs::create_dir(b.path("folder")).unwrap();
    refused(&b, "fit pca folder", &["it is a folder, and there are no images or tables in it"]);
    b.write("d.xyz", "PK\u{3}\u{4}\u{0}\u{1}\u{2}");
    refused(&b, "fit pca d.xyz", &["d.xyz"]);
    for verb in ["show cut.npy", "show ragged.csv", "show nowhere.csv", "show folder"] {
        refused(&b, verb, &[]);
    }
}

#[test]
fn models_that_are_corrupt_are_refused() {
    let b = Folder::new();
    b.both("d", 30, 4);
    b.ok("fit pca d.npy -o m.safetensors");
    let whole = b.read("m.safetensors");
    b.write("cut.safetensors", &whole[..whole.len() - 9]);
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    b.write("flipped.safetensors", flipped);
    b.write("empty.safetensors", "");
    for verb in ["encode", "decode", "reconstruct", "score", "report"] {
        let out = if verb == "report" { "out.html" } else { "out.npy" };
        refused(&b, &format!("{verb} cut.safetensors d.npy -o {out}"), &["cut.safetensors", "truncated"]);
        refused(&b, &format!("{verb} flipped.safetensors d.npy -o {out}"), &["checksum"]);
        refused(
            &b,
            &format!("{verb} d.npy d.npy -o {out}"),
            &["d.npy", "a model file that unmix has written"],
        );
    }
    for name in ["cut", "flipped", "empty"] {
        refused(&b, &format!("show {name}.safetensors"), &[name]);
    }
    b.ok("fit pca d.npy -k 0 -o none.safetensors");
    refused(&b, "encode none.safetensors d.npy", &["it has 0 components"]);
    // An existing model is not replaced by one without components.
    let kept = std::fs::read(b.path("m.safetensors")).unwrap();
    refused(&b, "fit pca d.npy -k 0 -o m.safetensors", &["0 components", "m.safetensors", "--force"]);
    assert_eq!(std::fs::read(b.path("m.safetensors")).unwrap(), kept);
    b.ok("fit pca d.npy -k 0 -o none.safetensors --force");
    // Nor to a fit that fails.
    b.write("gap.csv", "c0,c1,c2,c3\n1,2,3,4\n2,NA,1,0\n4,1,0,2\n");
    refused(&b, "fit pca gap.csv -o m.safetensors", &["row 1, column 1 ('c1') is NaN"]);
    refused(&b, "fit pca gap.csv --drop c1 -k 9 -o m.safetensors", &["-k 9 is not possible"]);
    assert_eq!(std::fs::read(b.path("m.safetensors")).unwrap(), kept);
    write_npy(&b.path("wide.npy"), &Folder::table(30, 5), &[5]).unwrap();
    refused(&b, "encode m.safetensors wide.npy -o out.npy", &["4 columns are needed, but 5"]);
    refused(&b, "decode m.safetensors wide.npy -o out.npy", &["4 columns are needed, but 5"]);
}

#[test]
fn outputs_that_cannot_be_written_are_refused() {
    let b = Folder::new();
    b.both("d", 30, 4);
    b.ok("fit pca d.npy -o m.safetensors");
    std::fs::create_dir(b.path("folder")).unwrap();
    for (command, out) in
        [("fit pca d.npy", "x"), ("encode m.safetensors d.npy", "x.csv"), ("report m.safetensors", "x.html")]
    {
        refused(
            &b,
            &format!("{command} -o nowhere/{out}"),
            &["cannot write nowhere/x", "No such file or directory"],
        );
    }
    refused(
        &b,
        "encode m.safetensors d.npy -o folder --format npy",
        &["cannot write", "folder", "it is a folder"],
    );
    refused(&b, "fit pca d.npy -o folder", &["cannot write", "it is a folder"]);
    refused(&b, "demo -o d.npy", &["d.npy"]);
    refused(&b, "report m.safetensors d.npy --color d.csv -o x.html", &["d.csv"]);
    refused(&b, "report m.safetensors d.npy --color labels.npy -o x.html", &["cannot read labels.npy"]);
    b.write("labels.csv", "a\nb\n");
    refused(
        &b,
        "report m.safetensors d.npy --color labels.csv -o x.html",
        &["30 rows of d.npy", "2 values in labels.csv"],
    );
}

#[cfg(unix)]
#[test]
fn a_number_of_threads_that_is_none_is_refused() {
    let b = Folder::new();
    for wrong in ["two", "0", "-1", "1.5"] {
        let ran = b.shell(&format!("UNMIX_NUM_THREADS={wrong} unmix methods"));
        assert!(ran.code == 2 && ran.out.is_empty(), "{wrong}: {}", ran.err);
        assert!(ran.err.contains("UNMIX_NUM_THREADS") && ran.err.contains(wrong), "{}", ran.err);
    }
    for right in ["", "1", "2"] {
        assert_eq!(b.shell(&format!("UNMIX_NUM_THREADS={right} unmix methods")).code, 0, "{right}");
    }
}
