//! Messages name settings as the user types them: flags on the command line, arguments in Python.

use crate::files::*;
use std::path::Path;
use unmix::Run;
use unmix_io::{Options, Patches, Wording, open_with};

/// Only `wording.rs` writes flags into messages, so that readers never mention flags in Python.
#[test]
fn no_message_of_a_reader_spells_a_flag_itself() {
    fn files(folder: &Path, out: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs")
                // The two places where words are translated for the caller, and the tables of the flags, which have no messages.
                && !path.ends_with("wording.rs")
                && !path.ends_with("error/caller.rs")
                && !path.ends_with("reading_options.rs")
                && !path.ends_with("run/options.rs")
                // Unit tests in files of their own.
                && !path.ends_with("tests.rs")
            {
                out.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = Vec::new();
    for folder in ["unmix-io/src", "unmix/src", "../python/src"] {
        files(&root.join(folder), &mut all);
    }
    assert!(all.len() > 100, "{}", all.len());
    let spelt = |line: &str| {
        line.match_indices("--").any(|(i, _)| line[i + 2..].starts_with(|c: char| c.is_ascii_lowercase()))
    };
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let found: Vec<&str> = lines.filter(|line| spelt(line)).collect();
        assert!(found.is_empty(), "{}: {found:?}", path.display());
    }
}

#[test]
fn messages_for_python_name_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let message = |name: &str, text: &str, wording: Wording| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        match open_with(&path, &Options { wording, ..in_shell() }, &Run::default()) {
            Err(refused) => refused.to_string(),
            Ok(input) => input.rows.notes().join("; "),
        }
    };
    let table = "a,kind\n1,x\n2,y\n";
    assert!(
        message("t.csv", table, Wording::Shell)
            .contains("--drop kind, or copy it to the output with --keep kind")
    );
    // In Rust, which is the default, settings are fields of the options.
    let rust = message("t.csv", table, Wording::default());
    assert!(
        rust.ends_with("leave the column out with drop=kind, or read it as text with keep=kind"),
        "{rust}"
    );
    assert!(!rust.contains("--"), "{rust}");
    let read = message("t.csv", table, Wording::PythonRead);
    assert!(read.ends_with("leave the column out with drop=['kind']"), "{read}");
    let path = message("t.csv", table, Wording::PythonPath);
    assert!(path.ends_with("leave the column out with unmix.open(..., drop=['kind'])"), "{path}");
    let zeros = "a\0b\n1,2\n";
    let named = |wording| message("z.csv", zeros, wording);
    assert!(named(Wording::Shell).contains("name its format with --input-format, or give the file"));
    assert!(named(Wording::PythonRead).contains("name its format with input_format, or give the file"));
    assert!(named(Wording::PythonPath).contains("name its format with input_format of unmix.open, or give"));
    let index = message("i.csv", ",a\nx,1\ny,2\n", Wording::PythonRead);
    assert!(index.contains("add columns='0-1'"), "{index}");
}

#[test]
fn values_are_in_the_notation_of_the_caller() {
    let folder = Folder::new();
    let (table, array) = ("a,b,c\n1,2,3\n4,5,6\n", npy(&[1.0f64; 12], &[2, 2, 3], Order::C, false));
    let both = |name: &str, bytes: &[u8], options: &dyn Fn() -> Options| {
        [Wording::Shell, Wording::PythonRead]
            .map(|wording| folder.refusal(name, bytes, &Options { wording, ..options() }))
    };
    let text = |words: &str| Some(words.to_string());
    let csv = |options: &dyn Fn() -> Options| both("t.csv", table.as_bytes(), options);
    let npy = |options: &dyn Fn() -> Options| both("t.npy", &array, options);
    for (messages, shell, python) in [
        (csv(&|| Options { drop: text("a,a"), ..in_shell() }), "drop=a,a is", "drop=['a', 'a'] is"),
        (csv(&|| Options { drop: text("0-2"), ..in_shell() }), "drop=0-2 is", "drop=['0-2'] is"),
        (csv(&|| Options { columns: text("0,7"), ..in_shell() }), "columns=7 is", "columns=[7] is"),
        (csv(&|| Options { rows: Some((3, Some(9))), ..in_shell() }), "rows=3:9 is", "rows=(3, 9) is"),
        (csv(&|| Options { rows: Some((3, None)), ..in_shell() }), "rows=3: is", "rows=(3, None) is"),
        (csv(&|| Options { key: text("k"), ..in_shell() }), "key=k is", "key='k' is"),
        (csv(&|| Options { rows_axis: vec![0, 1], ..in_shell() }), "rows_axis=0,1 is", "rows_axis=(0, 1) is"),
        (
            csv(&|| Options { patches: Some(Patches::of(3, 3)), ..in_shell() }),
            "patches=3x3 is",
            "patches=(3, 3) is",
        ),
        (npy(&|| Options { na: vec!["?".into()], ..in_shell() }), "na=? is", "na='?' is"),
        (npy(&|| Options { delimiter: Some(b';'), ..in_shell() }), "delimiter=; is", "delimiter=';' is"),
        (npy(&|| Options { columns: text("x"), ..in_shell() }), "as in 0,5-9", "as in [0, 5] or '0,5-9'"),
    ] {
        assert!(messages[0].contains(shell), "{}", messages[0]);
        assert!(messages[1].contains(python), "{}", messages[1]);
    }
}

#[test]
fn errors_carry_places_and_numbers_in_fields() {
    let details = |name: &str, bytes: &[u8]| match Folder::new().open(name, bytes, &in_shell()) {
        Err(unmix::Error::Format { details, found, .. }) => (*details, found),
        Err(e) => panic!("{name}: {e}"),
        Ok(_) => panic!("{name} was opened"),
    };
    let (at, found) = details("t.csv", b"a,b\n1,2\n3,x7\n");
    assert_eq!(
        (at.line, at.row, at.column, at.name.as_deref(), at.cell.as_deref()),
        (Some(3), Some(1), Some(1), Some("b"), Some("x7")),
        "{found}"
    );
    let (at, found) = details("t.csv", b"a,b\n1,2\n3,4,5\n6,7\n");
    assert_eq!((at.line, at.need, at.got, at.row), (Some(3), Some(2), Some(3), None), "{found}");
    let whole = npy(&[1.0f64; 10], &[5, 2], Order::C, false);
    let (at, found) = details("x.npy", &whole[..whole.len() - 1]);
    assert_eq!((at.need, at.got), (Some(whole.len() as u64), Some(whole.len() as u64 - 1)), "{found}");
    let whole = idx(&[1u8; 12], &[3, 4]);
    let (at, found) = details("a.idx", &whole[..whole.len() - 2]);
    assert_eq!((at.need, at.got), (Some(whole.len() as u64), Some(whole.len() as u64 - 2)), "{found}");
    let (at, found) = details("a.idx", &whole[..6]);
    assert_eq!((at.need, at.got), (Some(12), Some(6)), "{found}");
    // The header declares ten 16-bit samples; the file has four.
    let mut audio = b"RIFF\x38\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    audio.extend([8000u32.to_le_bytes(), 16_000u32.to_le_bytes(), [2, 0, 16, 0]].concat());
    audio.extend(b"data\x14\0\0\0\0\0\x01\0\x02\0\x03\0");
    let (at, found) = details("a.wav", &audio);
    assert_eq!((at.need, at.got), (Some(10), Some(4)), "{found}");
}
