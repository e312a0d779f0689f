//! The format that the caller names, in place of the one that is detected.

use crate::files::*;
use crate::many::pgm;
use unmix::Run;
use unmix_io::{ENDINGS, Files, InputFormat, Options, Wording, expand, is_image, open_many};

fn read_as(format: &str) -> Options {
    Options { input_format: Some(Options::input_format_of(format).unwrap()), ..in_shell() }
}

#[test]
fn text_that_begins_as_another_format_is_read_as_text_on_request() {
    let folder = Folder::new();
    for text in [
        // A header of columns P1 and P2 begins as an image of the format PBM.
        "P1\tP2\n1\t2\n3\t4\n",
        "PAR1,b\n1,2\n3,4\n",
        "ARROW1,b\n1,2\n3,4\n",
        "PK\x03\x04,b\n1,2\n3,4\n",
    ] {
        for (name, bytes) in [("data.bin", text.as_bytes().to_vec()), ("data", gz(text.as_bytes()))] {
            let message = folder.refusal(name, &bytes, &in_shell());
            assert!(message.contains("cannot be read"), "{text:?}: {message}");
            for format in ["csv", "tsv", ".TXT", "csv.gz"] {
                let input = folder.open(name, &bytes, &read_as(format)).unwrap();
                assert_eq!(numbers(&input.rows), [1.0, 2.0, 3.0, 4.0], "{text:?} as {format}");
                assert_eq!(input.rows.features().names.as_ref().unwrap().len(), 2, "{text:?} as {format}");
            }
        }
    }
    // Latin-1 with a control character is neither text nor a known format.
    let odd = b"\xf6\x07,b\n1,2\n3,4\n";
    let message = folder.refusal("data.bin", odd, &in_shell());
    assert!(message.contains("name its format with --input-format, or convert it"), "{message}");
    assert_eq!(numbers(&folder.open("data.bin", odd, &read_as("csv")).unwrap().rows), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn the_name_of_a_file_does_not_matter_where_the_format_is_named() {
    let folder = Folder::new();
    let array = npy(&[1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3], Order::C, false);
    // Whether a file is compressed is known from its first bytes: the last one is not.
    for (name, bytes, format) in [
        ("a.csv", array.clone(), "npy"),
        ("a.csv.gz", gz(&array), "npy.gz"),
        ("a", gz(&array), "npy.gz"),
        ("a.npy.gz", array.clone(), "npy"),
    ] {
        let input = folder.open(name, &bytes, &read_as("npy")).unwrap();
        assert_eq!(numbers(&input.rows), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "{name}");
        assert_eq!((input.format.as_str(), input.shape[1]), (format, Some(3)), "{name}");
    }
    let message = folder.refusal("a.csv", &array, &in_shell());
    let remedy = "or name its format with --input-format, or give the file the extension of its format";
    assert!(message.contains("null bytes") && message.ends_with(remedy), "{message}");
    let digits = idx(&[1u8, 2, 3, 4], &[2, 2]);
    let message = folder.refusal("digits.npy", &digits, &in_shell());
    assert!(
        message.contains("the signature of a .npy file; name its format with --input-format"),
        "{message}"
    );
    assert_eq!(
        numbers(&folder.open("digits.npy", &digits, &read_as("idx")).unwrap().rows),
        [1.0, 2.0, 3.0, 4.0]
    );
}

#[test]
fn pictures_are_pictures_under_any_name() {
    let folder = Folder::new();
    let path = folder.put("photo.csv", pgm(&[0, 51, 255, 0, 51, 255], 2, 3));
    let options = read_as("png");
    assert!(is_image(&path, options.input_format) && !is_image(&path, None));
    let files = Files::new(&[&path], options).unwrap();
    assert_eq!(files.row_of_pictures(), Some(in_shell().row_of_pictures()));
    let input = files.open(&Run::default()).unwrap();
    assert_eq!(input.rows.features().shape, Some(vec![2, 3]));
    assert_eq!(numbers(&input.rows), [0.0, 0.2, 1.0, 0.0, 0.2, 1.0]);
    assert!(!is_image("photo.png".as_ref(), Some(Options::input_format_of("csv").unwrap())));
}

#[test]
fn all_files_are_read_in_the_named_format_also_those_of_a_folder() {
    let folder = Folder::new();
    let here = [folder.path().to_path_buf()];
    folder.put("part-b", "a,b\n5,6\n");
    folder.put("part-a.log", "a,b\n1,2\n3,4\n");
    folder.put(".hidden", "x\n");
    let message = open_many(&here, &in_shell(), &Run::default()).err().unwrap().to_string();
    assert!(message.contains("there are no images or tables in it"), "{message}");
    let options = read_as("csv");
    assert_eq!(expand(&here, options.input_format).unwrap().len(), 2);
    let input = open_many(&here, &options, &Run::default()).unwrap();
    assert_eq!(numbers(&input.rows), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    folder.put("part-c.npy", npy(&[7.0f64, 8.0], &[1, 2], Order::C, false));
    let message = open_many(&here, &options, &Run::default()).err().unwrap().to_string();
    assert!(message.contains("part-c.npy cannot be read: it holds null bytes"), "{message}");
}

#[test]
fn a_file_that_is_not_of_the_named_format_is_refused_with_its_own() {
    let folder = Folder::new();
    let (table, array) = ("a,b\n1,2\n3,4\n", npy(&[1.0f64, 2.0], &[1, 2], Order::C, false));
    for format in InputFormat::all().map(InputFormat::name) {
        let message = match folder.open("t.csv", table, &read_as(format)) {
            Ok(input) => {
                assert!(["csv", "tsv", "txt", "dat", "asc"].contains(&format), "{format}");
                assert_eq!(numbers(&input.rows), [1.0, 2.0, 3.0, 4.0], "{format}");
                continue;
            }
            Err(e) => e.to_string(),
        };
        let refused = message.contains("but text; give --input-format csv");
        assert!(refused || message.contains("the signature of a known image format"), "{format}: {message}");
    }
    let refusal = |bytes: &[u8], format: &str, wording: Wording| {
        folder.refusal("t.csv", bytes, &Options { wording, ..read_as(format) })
    };
    assert_eq!(
        refusal(&array, "parquet", Wording::Shell),
        "t.csv cannot be read: its first bytes are not those of a file of type parquet, but those of type npy; give --input-format npy"
    );
    assert!(
        refusal(&gz(&array), "wav", Wording::PythonRead).ends_with("of type npy; give input_format='npy'")
    );
    let nothing = refusal(&[0xd0, 0xcf, 0x11, 0xe0, 0], "npz", Wording::Shell);
    assert!(nothing.ends_with("of type npz; give another --input-format, or leave it out"), "{nothing}");
    let text = refusal(&array, "csv", Wording::PythonRead);
    let remedy = "save it as text in UTF-8, or give another input_format, or leave it out";
    assert!(text.contains("null bytes") && text.ends_with(remedy), "{text}");
    let options = Options { key: Some("x".into()), ..read_as("csv") };
    assert!(folder.refusal("t.npz", table, &options).contains("the input is of type csv"));
}

#[test]
fn an_unknown_format_is_refused_with_the_known_ones() {
    let message = |text: &str| Options::input_format_of(text).unwrap_err().to_string();
    let misspelt = message("cvs");
    assert!(
        misspelt.starts_with(
            "there is no input format named 'cvs' (did you mean 'csv'?); choose one of: npy, npz, csv, tsv, txt, dat,"
        ),
        "{misspelt}"
    );
    for format in InputFormat::all() {
        assert!(misspelt.contains(format.name()), "{misspelt}");
        assert_eq!(Options::input_format_of(format.name()).unwrap(), format);
    }
    for ending in ENDINGS.iter().filter(|ending| ending.starts_with('.')) {
        assert_eq!(Options::input_format_of(ending).unwrap().name(), &ending[1..]);
    }
    assert!(message("").contains("there is no input format named ''"));
}

#[test]
fn the_first_bytes_decide_on_request_where_the_name_is_wrong() {
    let folder = Folder::new();
    let by_contents = Options { by_contents: true, ..in_shell() };
    let array = npy(&[1.0f64, 2.0, 3.0, 4.0], &[4, 1], Order::C, false);
    for (name, bytes) in [
        ("w.csv", array.clone()),
        ("w.png", array.clone()),
        ("w.csv.gz", gz(&array)),
        ("w.npy", b"1\n2\n3\n4\n".to_vec()),
        ("w.npy.gz", b"1\n2\n3\n4\n".to_vec()),
        ("w", b"w\n1\n2\n3\n4\n".to_vec()),
        // A name that fits is taken at its word: this begins as an image of the format PBM.
        ("w.csv", b"P1\n1\n2\n3\n4\n".to_vec()),
    ] {
        let input = folder.open(name, &bytes, &by_contents).unwrap();
        assert_eq!(numbers(&input.rows), [1.0, 2.0, 3.0, 4.0], "{name}");
    }
    let message = folder.refusal("w.csv", b"\0\x01", &by_contents);
    assert!(!message.contains("--input-format"), "an option that has no effect: {message}");
}

#[test]
fn files_of_other_programs_are_refused_by_name_with_a_remedy() {
    let folder = Folder::new();
    let zeros = |start: &[u8]| [start, &[0; 600]].concat();
    for (name, bytes, words) in [
        ("counts.mtx", b"%%MatrixMarket matrix coordinate\n%\n2 2 1\n1 1 3\n".to_vec(), "scipy.io.mmread"),
        ("counts.mtx.gz", gz(b"%%MatrixMarket matrix coordinate\n%\n2 2 1\n1 1 3\n"), "a Matrix Market file"),
        ("cells.h5ad", zeros(b"\x89HDF\r\n\x1a\n"), "an HDF5 file"),
        ("a.mat", zeros(b"MATLAB 5.0 MAT-file, Platform: x"), "scipy.io.loadmat"),
        ("a.xls", zeros(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "save the sheet as .csv"),
        ("a.rds", gz(&zeros(b"X\n\0\0\0\x03")), "a file of R"),
        ("a.bed", zeros(b"l\x1b\x01"), "a genotype file of PLINK"),
        ("a.pkl", zeros(b"\x80\x04\x95"), "a pickle of Python"),
        ("a.json", b"[{\"a\": 1}]\n".to_vec(), "it is JSON"),
        ("a.mp3", zeros(b"ID3\x04"), "convert it to .wav"),
        ("a.heic", zeros(b"\0\0\0\x18ftypheic"), "convert it to .png or .jpg"),
        ("a.webp", zeros(b"RIFF\0\0\0\0WEBPVP8 "), "convert it to .png or .jpg"),
    ] {
        let message = folder.refusal(name, &bytes, &in_shell());
        assert!(
            message.contains(words) && message.contains("a format that is not read"),
            "{name}: {message}"
        );
    }
    // The length of the header of a safetensors file may be the first bytes of a pickle, or of a file of R.
    for length in [640usize, 2648] {
        let header =
            format!("{:length$}", "{\"a\":{\"dtype\":\"F64\",\"shape\":[2,2],\"data_offsets\":[0,32]}}");
        let values = [1.0f64, 2.0, 3.0, 4.0].map(f64::to_le_bytes).concat();
        let bytes = [&(length as u64).to_le_bytes(), header.as_bytes(), &values].concat();
        let tensor = folder.open("blob", bytes, &in_shell()).unwrap();
        assert_eq!(numbers(&tensor.rows), [1.0, 2.0, 3.0, 4.0], "a header of {length} bytes");
    }
    // A table may begin with such letters.
    let table = folder.open("table", b"ID3,GIF8\n1,2\n3,4\n", &in_shell()).unwrap();
    assert_eq!(numbers(&table.rows), [1.0, 2.0, 3.0, 4.0]);
}
