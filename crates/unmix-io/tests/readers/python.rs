//! Files written by Python libraries (pyarrow, numpy, soundfile, Pillow, safetensors), with numbers given by formulas.

use crate::files::*;
use unmix::{AnyRows, Dtype, Run};
use unmix_io::{Input, Options, Pixels, describe};

macro_rules! fixture {
    ($name:literal) => {
        ($name, include_bytes!(concat!("fixtures/", $name)) as &[u8])
    };
}

/// The same table of 40 rows, in every format and compression.
pub(crate) const TABLES: [(&str, &[u8]); 8] = [
    fixture!("snappy.parquet"),
    fixture!("zstd.parquet"),
    fixture!("gzip.parquet"),
    fixture!("brotli.parquet"),
    fixture!("lz4.parquet"),
    fixture!("lz4.feather"),
    fixture!("zstd.feather"),
    fixture!("stream.arrows"),
];

pub(crate) const IMAGES: [(&str, &[u8]); 6] = [
    fixture!("rgb.png"),
    fixture!("rgb.tiff"),
    fixture!("rgb.ppm"),
    fixture!("grey.png"),
    fixture!("grey.bmp"),
    fixture!("grey16.png"),
];

pub(crate) const SOUNDS: [(&str, &[u8]); 5] = [
    fixture!("PCM_U8.wav"),
    fixture!("PCM_16.wav"),
    fixture!("PCM_24.wav"),
    fixture!("PCM_32.wav"),
    fixture!("FLOAT.wav"),
];

/// All numbers, read sequentially.
fn forward(input: &Input) -> Vec<f64> {
    fn all<T: unmix::Real>(rows: &unmix::Rows<'_, T>, step: usize) -> Vec<f64> {
        let (mut out, mut stream) = (Vec::new(), rows.source().stream().unwrap());
        while stream.read(step, &mut out).unwrap() > 0 {}
        out.into_iter().map(|x| x.to_f64()).collect()
    }
    match &input.rows {
        AnyRows::F32(rows) => all(rows, 7),
        AnyRows::F64(rows) => all(rows, 7),
    }
}

#[test]
fn a_table_is_the_same_in_every_format_and_compression() {
    let folder = Folder::new();
    let cell = |i: usize, name: &str| {
        let x = i as f64;
        match name {
            "a" => x / 7.0,
            "b" => x * x - 50.0,
            "d" if i.is_multiple_of(3) => f64::NAN,
            "d" => f64::from((x / 3.0) as f32),
            "e" => (i % 2) as f64,
            _ => (x - 20.0) / 8.0,
        }
    };
    for (name, bytes) in TABLES {
        for name in [name, "known-by-its-first-bytes"] {
            let input = folder.open(name, bytes, &columns("g,a-b", "", "c,f,h")).err();
            assert!(input.unwrap().to_string().contains("no column named 'a-b'"));
            let options = columns("g,0-1,3-4", "", "c,f,h");
            let input = folder.open(name, bytes, &options).unwrap();
            let want: Vec<f64> =
                (0..40).flat_map(|i| ["g", "a", "b", "d", "e"].map(|name| cell(i, name))).collect();
            assert_eq!(bits(&forward(&input)), bits(&want), "{name}");
            assert_eq!(bits(&forward(&input)), bits(&want), "{name}, again");
            assert_eq!(input.shape, [Some(40), Some(8)]);
            assert_eq!((input.rows.n_rows(), input.rows.dtype()), (Some(40), Dtype::F64));
            assert_eq!(input.rows.features().names.as_ref().unwrap()[..3], ["g", "a", "b"]);
            let kept: Vec<&str> = input.kept.iter().map(|(_, cells)| cells[31].as_str()).collect();
            assert_eq!(kept, ["row 31", "y", "2020-02-01"]);
        }
        let message = folder.refusal(name, bytes, &in_shell());
        assert!(message.contains("column 2 ('c') is of type Utf8, which is not numeric"), "{message}");
        assert!(message.contains("--drop c, or copy it to the output with --keep c"), "{message}");
        let single = folder.open(name, bytes, &columns("d", "", "")).unwrap();
        assert_eq!((single.rows.dtype(), single.stored.as_str()), (Dtype::F32, "float32"));
        let counted = Options { count_text: true, ..in_shell() };
        let d = describe(&folder.open(name, bytes, &counted).unwrap(), &Run::default()).unwrap();
        assert_eq!((d.columns[2].text, d.columns[2].missing, d.columns[3].missing), (40, 0, 14));
        let across = Options { transpose: true, ..columns("b,a", "", "") };
        let across = folder.open(name, bytes, &across).unwrap();
        assert_eq!((across.rows.n_rows(), across.rows.n_features()), (Some(2), 40));
        assert_eq!(numbers(&across.rows)[..3], [-50.0, -49.0, -46.0]);
        let named = Options { transpose: true, row_names: true, ..columns("a,b", "", "") };
        let named = folder.open(name, bytes, &named).unwrap();
        assert_eq!(named.row_names.unwrap(), ["a", "b"]);
        assert_eq!(named.rows.features().names.as_ref().unwrap()[31], "row 31");
        let mut settled = folder.open(name, bytes, &columns("b", "", "")).unwrap();
        settled.rows.prepare(&Run::default()).unwrap();
        assert_eq!(numbers(&settled.rows)[39], 39.0 * 39.0 - 50.0);
    }
}

#[test]
fn arrays_and_tensors_are_those_of_numpy() {
    let folder = Folder::new();
    let want: Vec<f64> = (0..40).map(|i| f64::from(i) / 7.0).collect();
    let key = Options { key: Some("a".into()), ..in_shell() };
    for (name, bytes) in [fixture!("numpy.npz"), fixture!("numpy.safetensors")] {
        let input = folder.open(name, bytes, &key).unwrap();
        assert_eq!(bits(&numbers(&input.rows)), bits(&want), "{name}");
    }
}

#[test]
fn audio_is_the_same_in_every_type() {
    let folder = Folder::new();
    let want: Vec<f64> = (0..40).map(|i| f64::from(i * 37 % 256 - 128) / 128.0).collect();
    for (name, bytes) in SOUNDS {
        for (name, bytes) in
            [(name, bytes.to_vec()), ("known-by-its-first-bytes", bytes.to_vec()), ("a.wav.gz", gz(bytes))]
        {
            let input = folder.open(name, bytes, &in_shell()).unwrap();
            assert_eq!(bits(&numbers(&input.rows)), bits(&want), "{name} {}", input.stored);
            assert_eq!(input.shape, [Some(20), Some(2)]);
            assert_eq!(input.rows.dtype() == Dtype::F32, input.stored == "float32");
        }
    }
}

#[test]
fn pixels_are_the_same_in_every_format() {
    let folder = Folder::new();
    let pixel = |i: usize| (i * 37 % 256) as f64 / 255.0;
    for (name, bytes) in IMAGES {
        for known in [name, "known-by-its-first-bytes"] {
            let input = folder.open(known, bytes, &in_shell()).unwrap();
            let n = if name.starts_with("rgb") { 90 } else { 30 };
            assert_eq!(bits(&numbers(&input.rows)), bits(&(0..n).map(pixel).collect::<Vec<_>>()), "{name}");
            let shape = if n == 90 { vec![6, 5, 3] } else { vec![6, 5] };
            assert_eq!((input.rows.features().shape.clone(), input.format.as_str()), (Some(shape), "image"));
        }
    }
    let (name, bytes) = fixture!("grey.jpg");
    let input = folder.open(name, bytes, &in_shell()).unwrap();
    assert_eq!((input.rows.features().shape.clone(), input.rows.n_rows()), (Some(vec![64, 48]), Some(1)));
    // A linear ramp, which lossy compression changes by less than 0.02.
    for (at, x) in numbers(&input.rows).into_iter().enumerate() {
        assert!((x - (at / 48 + at % 48) as f64 * 2.0 / 255.0).abs() < 0.02, "{at}");
    }
    for cut in [bytes.len() / 4, bytes.len() / 2, bytes.len() - 40] {
        let message = folder.refusal(name, &bytes[..cut], &in_shell());
        assert!(message.contains("truncated") || message.contains("corrupt"), "{message}");
    }
    let grey = Options { pixels: Some(Pixels::Grey), ..in_shell() };
    let input = folder.open("rgb.png", IMAGES[0].1, &grey).unwrap();
    let want = 0.299 * pixel(3) + 0.587 * pixel(4) + 0.114 * pixel(5);
    assert_eq!((input.rows.n_features(), numbers(&input.rows)[1]), (30, want));
    let rgb = Options { pixels: Some(Pixels::Rgb), ..in_shell() };
    let input = folder.open("grey.png", IMAGES[3].1, &rgb).unwrap();
    assert_eq!(numbers(&input.rows)[..6], [pixel(0), pixel(0), pixel(0), pixel(1), pixel(1), pixel(1)]);
}
