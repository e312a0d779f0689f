//! Encoders of every kind on the command line, which has no code for any particular kind.

#[path = "../../../unmix/tests/toys/mod.rs"]
mod toys;

use std::path::Path;
use unmix::data::write_npy;
use unmix::{AnyRows, Model, Rows, Run, with_rows};

/// Runs the command line in this process, in which the test methods are registered; returns the exit code.
fn run(folder: &Path, line: &str) -> i32 {
    toys::register();
    let words = line.split_whitespace().map(|word| match word.split_once(':') {
        // Words that begin with `at:` are paths in the folder of the test.
        Some(("at", name)) => folder.join(name).into_os_string(),
        _ => word.into(),
    });
    unmix_cli::run(std::iter::once("unmix".into()).chain(words).collect::<Vec<std::ffi::OsString>>())
}

fn numbers(path: &Path) -> Vec<f64> {
    let mut input = unmix_io::open(path, &unmix_io::Options::default()).unwrap();
    input.rows.prepare(&Run::default()).unwrap();
    let n = input.rows.n_rows().unwrap();
    with_rows!(&input.rows, rows => rows.read_range(0..n).unwrap().iter().map(|x| unmix::Real::to_f64(*x)).collect())
}

fn made(n: usize) -> Vec<f64> {
    let draws = unmix::internal::num::random::Stream::new(9, 1);
    (0..n * 4).map(|at| draws.normal(at as u64) * [4.0, 3.0, 0.5, 0.4][at % 4] + 7.0).collect()
}

#[test]
fn every_command_works_with_encoders_of_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let x = made(300);
    write_npy(&at("x.npy"), &x, &[4]).unwrap();
    for toy in toys::TOYS.map(|toy| toy.key) {
        let ok = |line: &str| assert_eq!(run(folder.path(), line), 0, "{toy}: {line}");
        ok(&format!("fit {toy} at:x.npy --set n_components=2 -o at:m.safetensors --force -q"));
        ok("report at:m.safetensors at:x.npy -o at:page.html -q");
        let model = Model::load(&at("m.safetensors")).unwrap();
        ok("encode at:m.safetensors at:x.npy -o at:codes.npy -q");
        let codes = numbers(&at("codes.npy"));
        assert_eq!(codes, model.encode_to_vec(&Rows::from_slice(&x, 4).unwrap(), &Run::default()).unwrap());
        // Codes in compressed sparse rows have the same numbers, and decode to the same rows.
        ok("encode at:m.safetensors at:x.npy -o at:codes.npz -q");
        assert_eq!(numbers(&at("codes.npz")), codes, "{toy}");
        let archive = unmix_io::open(&at("codes.npz"), &unmix_io::Options::default()).unwrap();
        let stored = match &archive.rows {
            AnyRows::F64(rows) => rows.sparse().unwrap().n_stored(),
            AnyRows::F32(_) => unreachable!("codes of double precision"),
        };
        assert_eq!(stored, codes.iter().filter(|y| **y != 0.0).count());
        assert_eq!(stored < codes.len(), model.code().codes().sparse, "{toy}");
        ok("decode at:m.safetensors at:codes.npy -o at:back.npy -q");
        ok("decode at:m.safetensors at:codes.npz -o at:again.npy -q");
        ok("reconstruct at:m.safetensors at:x.npy -o at:both.npy -q");
        assert_eq!(numbers(&at("back.npy")), numbers(&at("again.npy")), "{toy}");
        assert_eq!(numbers(&at("back.npy")), numbers(&at("both.npy")), "{toy}");
        ok("score at:m.safetensors at:x.npy --quality --parts -o at:q.csv -q");
        let header = std::fs::read_to_string(at("q.csv")).unwrap().lines().next().unwrap().to_string();
        assert_eq!(header.contains("relative_duality_gap"), toy == "toy-solver", "{header}");
        ok("show at:m.safetensors --json");
        let page = std::fs::read_to_string(at("page.html")).unwrap();
        assert!(
            page.contains("300") && page.contains(model.method().class) && !page.contains("NaN"),
            "{toy}"
        );
    }
}

#[test]
fn missing_cells_are_encoded_where_the_encoder_supports_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_npy(&at("x.npy"), &made(300), &[4]).unwrap();
    std::fs::write(at("gaps.csv"), "a,b,c,d\n7.5,,7,6.5\n,,,\n8,7,6,5\n").unwrap();
    for (toy, supported) in [("toy-posterior", true), ("toy-gate", false)] {
        let fit = format!("fit {toy} at:x.npy -o at:m.safetensors --force -q");
        assert_eq!(run(folder.path(), &fit), 0);
        let encode = "encode at:m.safetensors at:gaps.csv -o at:codes.npy -q";
        assert_eq!(run(folder.path(), encode) == 0, supported, "{toy}");
    }
    let codes = numbers(&at("codes.npy"));
    assert!(
        codes.len() == 6 && codes.iter().all(|y| y.is_finite()) && codes[2..4] == [0.0, 0.0],
        "{codes:?}"
    );
}
