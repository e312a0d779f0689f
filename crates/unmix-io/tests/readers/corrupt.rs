//! Malformed and corrupt files: one clear error message each, and never a panic.

use crate::archives::{tensors, zipped};
use crate::files::*;
use crate::python;
use proptest::prelude::*;
use std::path::Path;
use unmix::Run;
use unmix_io::{Options, describe, open};

fn refused(name: &str, bytes: impl AsRef<[u8]>) -> String {
    Folder::new().refusal(name, bytes, &in_shell())
}

#[test]
fn missing_files_folders_and_unknown_types_are_refused() {
    let folder = Folder::new();
    let message = |p: &Path| open(p, &in_shell()).err().unwrap().to_string();
    assert!(message(&folder.path().join("none.npy")).contains("No such file"));
    assert!(
        message(folder.path())
            .contains("it is a folder, and there are no images or tables in it; give a file in it")
    );
    for name in ["a.npy", "a.csv", "a.idx", "a.npy.gz", "a.csv.gz", "a.what", "a"] {
        assert!(refused(name, "").contains("it is empty"), "{name}");
    }
    let unknown = refused("a.xls", b"\xd0\xcf\x11\xe0");
    assert!(
        unknown.contains("its extension is unknown")
            && unknown.contains(".npy, .npz, .csv, .tsv, .txt, .dat, .idx, -ubyte"),
        "{unknown}"
    );
    assert!(unknown.contains("such as .csv, .npy or .parquet"), "{unknown}");
    assert!(refused("zero", b"1,2\n\0,4\n").contains("its extension is unknown"));
}

#[test]
fn text_with_an_unknown_extension_or_none_is_a_table() {
    let folder = Folder::new();
    let latin1 = b"Gr\xf6\xdfe,b\n1,2\n3,4\n".as_slice();
    // The first 512 bytes end within a character.
    let long = format!("{}\u{e4},b\n1,2\n3,4\n", "x".repeat(511));
    for (name, bytes) in [
        ("noending", b"1,2\n3,4\n".to_vec()),
        ("sheet.prn", b"a;b\n1;2\n3;4\n".to_vec()),
        ("run.2024", b"1 2\n3 4\n".to_vec()),
        ("part.gz", gz(b"1\t2\n3\t4\n")),
        ("latin1", latin1.to_vec()),
        ("long", long.into_bytes()),
    ] {
        let input = folder.open(name, bytes, &in_shell()).unwrap();
        assert_eq!(numbers(&input.rows), [1.0, 2.0, 3.0, 4.0], "{name}");
    }
}

#[test]
fn files_with_a_wrong_signature_are_refused() {
    assert!(
        refused("a.npy", "1,2\n3,4\n and so on")
            .contains("it does not start with the signature of a .npy file")
    );
    assert!(refused("a.npy.gz", "1,2\n").contains(
        "it does not start with the signature of a gzip file; if it is already decompressed, remove .gz from its name"
    ));
    assert!(refused("a.npy", gz(b"x")).contains("it does not start with the signature of a .npy file"));
    assert!(refused("a.idx", [0, 0, 8]).contains("it has 3 bytes"));
    assert!(
        refused("a.idx", [0, 0, 7, 1, 0, 0, 0, 1, 0])
            .contains("it starts with bytes 00 00 07 01, which is not the signature of an idx file")
    );
    assert!(
        refused("train-images-idx3-ubyte", [0, 0, 8, 3, 0, 0]).contains("its header should be 16 bytes long")
    );
}

#[test]
fn headers_that_declare_more_than_there_is_are_refused() {
    let array = npy(&[1.0f64; 12], &[4, 3], Order::C, false);
    let cut = &array[..array.len() - 1];
    assert!(refused("a.npy", cut).contains(&format!(
        "its header declares {} bytes, but the file has {}",
        array.len(),
        cut.len()
    )));
    assert!(refused("a.npy.gz", gz(cut)).contains("truncated"));
    assert!(refused("a.npy", &array[..50]).contains("truncated"));
    let numbers = idx(&[1u8; 12], &[4, 3]);
    assert!(refused("a.idx", &numbers[..20]).contains("its header declares 24 bytes, but the file has 20"));
    assert!(
        refused("a.idx", [&numbers[..], &[0]].concat())
            .contains("its header declares 24 bytes, but the file has 25")
    );
    let vast: Vec<u8> = [&[0, 0, 0x0e, 8][..], &[0xff; 32], &[1; 16]].concat();
    assert!(refused("a.idx", vast).contains("more bytes than any file has"));
    let npy_of = |shape: &str, descr: &str| {
        let mut file =
            npy_header(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"));
        file.extend([0; 64]);
        refused("a.npy", file)
    };
    assert!(npy_of("(9223372036854775807, 9)", "'<f8'").contains("too large for any machine"));
    assert!(
        npy_of("(1000000000, 1000000)", "'<f4'")
            .contains("its header declares 4000000000000128 bytes, but the file has 192")
    );
    assert!(
        npy_of("(0, 1000000000000)", "'<f4'").contains("its shape is 0 x 1000000000000, so it holds no rows")
    );
    assert!(
        npy_of("(5, 0)", "'<f4'")
            .contains("its shape is 5 x 0, so it holds no columns; check the program that wrote it")
    );
    assert!(npy_of("()", "'<f4'").contains("a single number and no rows"));
    assert!(npy_of("(2,)", "'|O'").contains("pickled Python objects"));
    assert!(npy_of("(2,)", "'<U4'").contains("it holds text, not numbers"));
    assert!(npy_of("(2,)", "[('x', '<f4')]").contains("records with named fields"));
    assert!(npy_of("(2,)", "'<f16'").contains("'<f16'"));
    assert!(npy_of("(-2,)", "'<f4'").contains("shape as (-2,)"));
}

#[test]
fn corrupt_compressed_files_are_refused() {
    let whole =
        gz(&npy(&(0..4000).map(|i| f64::from(i).sin()).collect::<Vec<_>>(), &[400, 10], Order::C, false));
    assert!(
        refused("a.npy.gz", &whole[..whole.len() / 2])
            .contains("its compressed data end early; it is truncated")
    );
    let mut corrupted = whole.clone();
    *corrupted.last_mut().unwrap() ^= 1;
    assert!(refused("a.npy.gz", corrupted).contains("its compressed data are corrupt"));
    let text = gz("1.25,2.5\n".repeat(9999).as_bytes());
    assert!(refused("a.csv.gz", &text[..text.len() - 20]).contains("its compressed data end early"));
    for (name, whole) in [("a.npy.gz", &whole), ("a.csv.gz", &text)] {
        for rest in [&b"x"[..], b"not gzip at all", b"\0\0\0 "] {
            let message = refused(name, [whole, rest].concat());
            assert!(message.contains("after the end of the gzip stream there are other bytes"), "{message}");
        }
        let second = refused(name, [whole.as_slice(), &whole[..9]].concat());
        assert!(second.contains("its compressed data end early"), "{second}");
        // Zeros after a gzip stream are padding.
        let folder = Folder::new();
        let padded = folder.open(name, [whole.as_slice(), &[0; 1000]].concat(), &in_shell()).unwrap();
        let plain = folder.open(&format!("plain.{name}"), whole, &in_shell()).unwrap();
        assert_eq!(numbers(&padded.rows), numbers(&plain.rows));
    }
    // Two concatenated gzip streams are read as one text.
    let twice = Folder::new().open("a.csv.gz", [text.as_slice(), &text].concat(), &in_shell()).unwrap();
    assert_eq!(numbers(&twice.rows), [1.25, 2.5].repeat(2 * 9999));
    assert!(refused("a.csv.gz", gz(b"")).contains("it holds blank lines only"));
    assert!(refused("a.npy.gz", gz(b"")).contains("it is empty once decompressed"));
}

#[test]
fn options_for_another_kind_of_file_are_refused() {
    let folder = Folder::new();
    let array = npy(&[1u8; 6], &[2, 3], Order::C, false);
    let message = |options: Options| folder.refusal("a.npy", &array, &options);
    assert!(message(Options { header: Some(true), ..in_shell() }).contains("header=true is not possible"));
    assert!(message(Options { skip_rows: 1, ..in_shell() }).contains("it is for text files"));
    let twice = message(Options { rows_axis: vec![1, 0, 1], ..in_shell() });
    assert_eq!(twice, "rows_axis=1 is not possible: it is given twice; give each axis once");
    let axis = message(Options { rows_axis: vec![2], ..in_shell() });
    assert_eq!(
        axis,
        "rows_axis=2 is not possible: the array has shape 2 x 3, with axes 0 to 1; choose one of those"
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_and_known_by_its_first_bytes() {
    let folder = Folder::new();
    let array = npy(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2], Order::C, false);
    for (i, bytes) in
        [array.clone(), gz(&array), b"1,2\n3,4\n".to_vec(), gz(b"a;b\n1;2\n3;4\n")].into_iter().enumerate()
    {
        let path = folder.path().join(format!("pipe{i}"));
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let write = std::thread::spawn({
            let path = path.clone();
            move || std::fs::write(path, bytes).unwrap()
        });
        let input = open(&path, &in_shell()).unwrap();
        write.join().unwrap();
        assert_eq!(numbers(&input.rows), [1.0, 2.0, 3.0, 4.0], "{}", input.format);
    }
}

/// Opens a file and, where that succeeds, reads every number; neither may panic.
fn must_not_panic(name: &str, bytes: &[u8]) {
    let folder = Folder::new();
    if let Ok(input) = folder.open(name, bytes, &in_shell()) {
        let _ = describe(&input, &Run { threads: 1, ..Run::default() });
    }
}

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let data: Vec<f32> = (0..60).map(|i| i as f32 / 7.0).collect();
    let array = npy(&data, &[5, 3, 4], Order::C, false);
    let numbers = idx(&data, &[5, 3, 4]);
    let text = "a,\"b, c\",d\n1,2.5e3,\"x\"\"y\"\n4,,6\r\n7,8,9\n".to_string();
    let table = "x,y\n1.5,2\n3,4\n5,6\n".to_string();
    let others = python::TABLES.iter().chain(&python::IMAGES).chain(&python::SOUNDS);
    let others = others.map(|(name, bytes)| (*name, bytes.to_vec())).chain([
        ("a.npy", array.clone()),
        ("a.npy.gz", gz(&array)),
        ("a.idx", numbers.clone()),
        ("a-ubyte.gz", gz(&numbers)),
        ("nameless", numbers),
        ("a.csv", text.into_bytes()),
        ("a.tsv", table.clone().into_bytes()),
        ("a.csv.gz", gz(table.as_bytes())),
        ("a.npz", zipped(&[("a.npy", array.clone())], zip::CompressionMethod::Stored)),
        ("b.npz", zipped(&[("a.npy", array)], zip::CompressionMethod::Deflated)),
        (
            "a.safetensors",
            tensors(&[("a", "F32", &[20, 3], data.iter().flat_map(|x| x.to_le_bytes()).collect())]),
        ),
    ]);
    others.collect()
}

/// One of the sample files.
fn one(which: prop::sample::Index) -> (&'static str, Vec<u8>) {
    let mut all = samples();
    let at = which.index(all.len());
    all.swap_remove(at)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn cut_files_never_panic(which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>()) {
        let (name, bytes) = one(which);
        must_not_panic(name, &bytes[..at.index(bytes.len())]);
    }

    #[test]
    fn cut_arrays_are_always_errors(which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>()) {
        let (name, bytes) = one(which);
        // A prefix of a text file may be a valid file, and so may a stream of record batches cut after a batch.
        prop_assume!(!name.contains("sv") && name != "stream.arrows");
        let cut = &bytes[..at.index(bytes.len())];
        let folder = Folder::new();
        // Some image formats end with bytes without data.
        if let Ok(input) = folder.open(name, cut, &in_shell()) {
            prop_assert!(python::IMAGES.iter().any(|(image, _)| *image == name), "{}", name);
            let whole = folder.open(name, &bytes, &in_shell()).unwrap();
            prop_assert_eq!(numbers(&input.rows), numbers(&whole.rows));
        }
    }

    #[test]
    fn files_with_other_bytes_in_them_never_panic(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        near_the_start in any::<bool>(),
    ) {
        let (name, mut bytes) = one(which);
        let within = if near_the_start { bytes.len().min(100) } else { bytes.len() };
        changes.into_iter().for_each(|(at, byte)| bytes[at.index(within)] = byte);
        must_not_panic(name, &bytes);
    }

    #[test]
    fn bytes_at_random_never_panic(which in any::<prop::sample::Index>(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        must_not_panic(one(which).0, &bytes);
    }

    #[test]
    fn text_at_random_never_panics(text in "[-0-9.eEaN,;\t|\"\r\n ]{0,200}") {
        must_not_panic("a.csv", text.as_bytes());
    }
}
