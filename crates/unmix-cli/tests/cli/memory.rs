//! Peak memory of the program, measured where the system reports it.
#![cfg(target_os = "linux")]

use crate::folder::Folder;
use crate::scope::in_all;
use flate2::{Compression, write::GzEncoder};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::codecs::tiff::TiffEncoder;
use image::{ExtendedColorType, ImageEncoder};
use serde_json::Value;
use std::io::Write;
use unmix::METHODS;

/// The arguments of a fit of few components, in few iterations, with default settings otherwise: each pass reads all rows, so that a
/// copy shows after the first. Atoms of the dictionaries that are given are in "atoms.npy".
fn few_components(key: &str) -> &'static str {
    match key {
        "lista" => "--dictionary atoms.npy --set n_layers=1 --set max_epochs=1",
        "sparse-coder" => "--dictionary atoms.npy",
        // Fewer atoms than columns are searched for in whitened coordinates of all rows, which are kept up to 1 GiB.
        "complete-dictionary" => "--set max_iter=1",
        "dictionary" | "sae" | "dae" | "rbm" => "-k 2 --set max_epochs=1",
        "ica" | "fastica" | "rica" | "sigma-pca" => "-k 2 --set max_iter=2",
        "rfn" => "-k 2 --set max_iter=1",
        "stacked-rfn" => "--set n_components=[4,2] --set max_iter=1",
        _ => "-k 2",
    }
}

/// Writes "rows.npy", 96 MiB in single precision, and "atoms.npy"; returns the number of bytes of the first. The rows have more than the two
/// windows of 2^22 numbers in which mini-batches are mixed, and the program takes some 20 MiB.
fn write_rows(b: &Folder) -> u64 {
    let (p, copies) = (32, 24);
    let table: Vec<f32> = Folder::table(1 << 15, p).iter().map(|x| *x as f32).collect();
    let x = table.repeat(copies);
    unmix::data::write_npy(&b.path("rows.npy"), &x, &[p]).unwrap();
    unmix::data::write_npy(&b.path("atoms.npy"), &Folder::table(4, p), &[p]).unwrap();
    (size_of::<f32>() * x.len()) as u64
}

#[test]
fn methods_that_stream_do_not_hold_all_rows() {
    let b = Folder::new();
    let size = write_rows(&b);
    let fitted = |key: &str, more: &str| {
        let fit = format!(
            "fit {key} rows.npy -q --threads 2 --force -o m.safetensors {} {more}",
            few_components(key)
        );
        let (code, peak, err) = b.peak(&fit);
        assert_eq!(code, 0, "{fit}: {err}");
        peak
    };
    for method in METHODS.iter().filter(|method| method.accepts.stream) {
        let peak = fitted(method.key, "");
        assert!(peak < size, "{}: {} MiB for {} MiB of rows", method.key, peak >> 20, size >> 20);
    }
    // A fit that holds the rows is seen.
    let peak = fitted("dictionary", "--set algorithm=palm --set max_iter=1");
    assert!(peak > size, "{} MiB for {} MiB of rows", peak >> 20, size >> 20);
}

#[test]
fn estimates_grow_with_the_number_of_rows_only_where_they_are_held() {
    let p = 32;
    for n in [1u64 << 34, 1 << 44] {
        let rows = n * p as u64 * size_of::<f64>() as u64;
        for method in METHODS {
            for (solver, bytes) in (method.memory)(n, p) {
                let holds = bytes >= rows;
                assert_eq!(
                    holds, !method.accepts.stream,
                    "{} by {solver}, {n} rows: {bytes} bytes",
                    method.key
                );
                // Coordinates of all rows, and of parts of them, are kept up to 1 GiB each.
                assert!(holds || bytes < 5 << 30, "{} by {solver}, {n} rows: {bytes} bytes", method.key);
            }
        }
    }
}

#[test]
fn autoencoders_of_wide_rows_are_also_estimated_with_fewer_units_than_the_default() {
    let of = |p: usize| {
        let sae = METHODS.iter().find(|method| method.key == "sae").unwrap();
        (sae.memory)(100, p)
    };
    assert_eq!(of(784).len(), 1);
    let [(_, all), (name, fewer)] = of(3 * 640 * 480)[..] else { panic!("two estimates") };
    assert!(name.ends_with("1024 units"), "{name}");
    // Encoder and decoder in double precision take 14 GiB of the second.
    assert!(all > 1 << 47 && (14 << 30..1 << 40).contains(&fewer), "{all} and {fewer} bytes");
    // Parameters, gradients, moments, the model and its file: ten tables of the units and the columns.
    let tables = 10 * 8 * 1024 * 3 * 640 * 480;
    assert!((tables..tables + tables / 5).contains(&fewer), "{fewer} bytes");
}

#[test]
fn estimates_for_few_wide_rows_are_limited_by_their_number() {
    let of = |key: &str, n: u64, p: usize| {
        let method = METHODS.iter().find(|method| method.key == key).unwrap();
        (method.memory)(n, p).into_iter().map(|(_, bytes)| bytes).max().unwrap()
    };
    let (n, p) = (4u64, 500_000usize);
    let rows = n * p as u64 * 8;
    for key in ["pca", "ppca", "linear-eigengan", "neural-pca", "sigma-pca", "matrix-completion"] {
        let bytes = of(key, n, p);
        assert!(bytes < 20 * rows + (32 << 20), "{key}: {} times the rows", bytes / rows);
    }
    // Directions beside more rows than these are searched in a space of some hundred vectors.
    assert!(of("pca", 64, p) > 64 * 88 * p as u64 + 2000 * p as u64);
}

#[test]
fn the_estimate_for_few_wide_rows_agrees_with_the_peak_of_a_fit() {
    let b = Folder::new();
    let (n, p) = (12, 200_000);
    unmix::data::write_npy(&b.path("wide.npy"), &Folder::table(n, p), &[p]).unwrap();
    let shown: Value = serde_json::from_str(&b.ok("show wide.npy --json --threads 2").out).unwrap();
    let solvers = shown["memory"]["pca"].as_object().unwrap();
    let most = solvers.values().filter_map(Value::as_u64).max().unwrap() as f64;
    let (code, peak, err) = b.peak("fit pca wide.npy -q --threads 2 -o m.safetensors");
    assert_eq!(code, 0, "{err}");
    let ratio = most / peak as f64;
    assert!((0.5..2.0).contains(&ratio), "{most:.3e} bytes estimated, {peak:.3e} measured");
}

#[test]
fn estimates_of_memory_agree_with_the_peak_of_fits() {
    let b = Folder::new();
    let sizes = [(20_000, 20), (30, 20_000), (1500, 300)];
    for (n, p) in sizes.into_iter().take(if crate::scope::all() { 3 } else { 1 }) {
        let name = format!("d{n}.npy");
        unmix::data::write_npy(&b.path(&name), &Folder::table(n, p), &[p]).unwrap();
        let shown: Value =
            serde_json::from_str(&b.ok(&format!("show {name} --json --threads 2")).out).unwrap();
        for method in
            ["pca", "neural-pca", "sigma-pca", "ica", "fastica", "rica", "robust-pca", "complete-dictionary"]
        {
            let solvers = shown["memory"][method].as_object().unwrap();
            let most = solvers.values().filter_map(Value::as_u64).max().unwrap() as f64;
            // The default of most methods: all components.
            let all = format!("fit {method} {name} -q --threads 2 --max-seconds 2 -o m.safetensors");
            let (code, peak, err) = b.peak(&all);
            assert_eq!(code, 0, "{all}: {err}");
            let ratio = most / peak as f64;
            assert!(
                (0.5..2.0).contains(&ratio),
                "{method} of {n} x {p}: {most:.3e} estimated, {peak:.3e} measured"
            );
        }
    }
}

#[test]
fn a_photograph_is_shown_in_less_than_ten_times_its_size() {
    let b = Folder::new();
    let (height, width) = (3000, 4000);
    let mut file = std::io::BufWriter::new(std::fs::File::create(b.path("a.ppm")).unwrap());
    write!(file, "P6\n{width} {height}\n255\n").unwrap();
    let line: Vec<u8> = (0..3 * width).map(|i| (i * i % 251) as u8).collect();
    (0..height).for_each(|_| file.write_all(&line).unwrap());
    drop(file);
    let (code, peak, err) = b.peak("show a.ppm");
    assert_eq!(code, 0, "{err}");
    assert!(peak < 10 * 3 * height * width, "{} MiB", peak >> 20);
}

#[test]
fn a_compressed_photograph_is_shown_in_less_than_ten_times_its_decoded_size() {
    let b = Folder::new();
    let (height, width) = (3000u32, 4000u32);
    let pixels: Vec<u8> = (0..height * width * 3)
        .map(|i| {
            let (y, x, channel) = (i / (3 * width), i / 3 % width, i % 3);
            // Smooth in both directions, as photographs are, with a little texture.
            ((x / 20 + y / 30 + 40 * channel) % 200 + x * y % 7) as u8
        })
        .collect();
    let file = |name: &str| std::io::BufWriter::new(std::fs::File::create(b.path(name)).unwrap());
    let jpeg = JpegEncoder::new_with_quality(file("a.jpg"), 85);
    jpeg.write_image(&pixels, width, height, ExtendedColorType::Rgb8).unwrap();
    let png = PngEncoder::new_with_quality(file("a.png"), CompressionType::Fast, FilterType::Sub);
    png.write_image(&pixels, width, height, ExtendedColorType::Rgb8).unwrap();
    let tiff = TiffEncoder::new(file("a.tif"));
    tiff.write_image(&pixels, width, height, ExtendedColorType::Rgb8).unwrap();
    drop(pixels);
    let decoded = u64::from(height) * u64::from(width) * 3;
    for name in ["a.jpg", "a.png", "a.tif"] {
        let (code, peak, err) = b.peak(&format!("show {name}"));
        assert_eq!(code, 0, "{name}: {err}");
        assert!(peak < 10 * decoded, "{name}: {} MiB", peak >> 20);
    }
}

#[test]
fn lines_that_are_too_long_are_refused_in_little_memory_also_compressed() {
    let b = Folder::new();
    let part = b"1,".repeat(1 << 19);
    for compressed in [false, true] {
        let write = |name: &str, first: &[u8], parts: usize| {
            let file = std::fs::File::create(b.path(name)).unwrap();
            let mut file: Box<dyn Write> = match compressed {
                true => Box::new(GzEncoder::new(file, Compression::fast())),
                false => Box::new(file),
            };
            file.write_all(first).unwrap();
            (0..parts).for_each(|_| file.write_all(&part).unwrap());
        };
        let ending = if compressed { "csv.gz" } else { "csv" };
        let first = format!("first.{ending}");
        write(&first, b"", 80);
        let (code, peak, err) = b.peak(&format!("show {first}"));
        assert!(code == 1 && err.contains("line 1 is longer than 64 MiB"), "{first}: {err}");
        assert!(peak < 100 << 20, "{first}: {} MiB", peak >> 20);
        let later = format!("later.{ending}");
        write(&later, b"a,b\n1,2\n", 30);
        let (code, peak, err) = b.peak(&format!("show {later}"));
        assert!(code == 1 && err.contains("line 3 is longer than 16 MiB"), "{later}: {err}");
        assert!(peak < 300 << 20, "{later}: {} MiB", peak >> 20);
    }
}

#[test]
fn three_gigabytes_are_fitted_in_less_than_300_megabytes() {
    if !in_all("three gigabytes are fitted in less than 300 megabytes") {
        return;
    }
    let b = Folder::new();
    let (n, p) = (3_000_000_000u64 / 64, 8u64);
    let dictionary = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, {p}), }}");
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.as_bytes());
    let length = bytes.len() as u64 + 8 * n * p;
    bytes.extend(Folder::table(1000, p as usize).iter().flat_map(|x| x.to_le_bytes()));
    let mut file = std::fs::File::create(b.path("d.npy")).unwrap();
    file.write_all(&bytes).unwrap();
    // The other rows are zeros in a hole of the file, which takes no space on the disk.
    file.set_len(length).unwrap();
    let (code, peak, err) = b.peak("fit pca d.npy -k 2 -q -o m.safetensors");
    assert_eq!(code, 0, "{err}");
    assert!(peak < 300 << 20, "{} MiB", peak >> 20);
}
