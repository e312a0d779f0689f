//! Photographs are read in the orientation in which they are viewed.

use crate::files::{Folder, in_shell, numbers};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use unmix_io::{Options, Patches};

const HEIGHT: usize = 2;
const WIDTH: usize = 3;

/// Exif metadata with a single entry, the orientation tag.
fn exif(orientation: u16) -> Vec<u8> {
    let mut bytes = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01".to_vec();
    bytes.extend(orientation.to_be_bytes());
    bytes.extend([0; 6]);
    bytes
}

/// Row and column in the stored image of the pixel at row `y` and column `x` of the viewed image, by the standard (Exif 2.3, tag 274):
/// which side of the stored image is the top, and which the left.
fn stored_at(orientation: u16, y: usize, x: usize) -> (usize, usize) {
    let (bottom, right) = (HEIGHT - 1, WIDTH - 1);
    match orientation {
        2 => (y, right - x),
        3 => (bottom - y, right - x),
        4 => (bottom - y, x),
        5 => (x, y),
        6 => (bottom - x, y),
        7 => (bottom - x, right - y),
        8 => (x, right - y),
        _ => (y, x),
    }
}

fn pixel(y: usize, x: usize) -> u8 {
    (20 + 100 * y + 30 * x) as u8
}

fn viewed(orientation: u16) -> (Vec<f64>, Vec<usize>) {
    let (height, width) = if (5..=8).contains(&orientation) { (WIDTH, HEIGHT) } else { (HEIGHT, WIDTH) };
    let at = |i: usize| stored_at(orientation, i / width, i % width);
    let pixels = (0..height * width).map(|i| f64::from(pixel(at(i).0, at(i).1)) / 255.0);
    (pixels.collect(), vec![height, width])
}

fn stored() -> Vec<u8> {
    (0..HEIGHT * WIDTH).map(|i| pixel(i / WIDTH, i % WIDTH)).collect()
}

fn png(orientation: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = PngEncoder::new(&mut bytes);
    encoder.set_exif_metadata(exif(orientation)).unwrap();
    encoder.write_image(&stored(), WIDTH as u32, HEIGHT as u32, ExtendedColorType::L8).unwrap();
    bytes
}

#[test]
fn images_are_rotated_by_their_exif_orientation() {
    let folder = Folder::new();
    for orientation in 0..=9 {
        let input = folder.open("a.png", png(orientation), &in_shell()).unwrap();
        let (want, shape) = viewed(orientation);
        assert_eq!(numbers(&input.rows), want, "orientation {orientation}");
        assert_eq!(input.rows.features().shape, Some(shape.clone()), "orientation {orientation}");
        let mut bytes = Vec::new();
        let mut encoder = JpegEncoder::new_with_quality(&mut bytes, 100);
        encoder.set_exif_metadata(exif(orientation)).unwrap();
        encoder.write_image(&stored(), WIDTH as u32, HEIGHT as u32, ExtendedColorType::L8).unwrap();
        let input = folder.open("a.jpg", bytes, &in_shell()).unwrap();
        assert_eq!(input.rows.features().shape, Some(shape), "orientation {orientation}");
        // JPEG compression is lossy: a pixel may change by up to 3 of 255.
        let found = numbers(&input.rows);
        let near =
            found.len() == want.len() && found.iter().zip(&want).all(|(a, b)| (a - b).abs() < 3.5 / 255.0);
        assert!(near, "orientation {orientation}: {found:?} {want:?}");
    }
}

#[test]
fn patches_are_cut_after_exif_rotation() {
    let (folder, options) = (Folder::new(), Options { patches: Some(Patches::of(1, 2)), ..in_shell() });
    let input = folder.open("a.png", png(6), &options).unwrap();
    let (want, shape) = viewed(6);
    assert_eq!((numbers(&input.rows), input.rows.n_rows()), (want, Some(3)));
    assert_eq!(shape, [3, 2]);
}

#[test]
fn several_images_are_called_by_the_first_and_their_number() {
    let folder = Folder::new();
    let paths = ["a.png", "b.png", "c.png"].map(|name| folder.put(name, png(1)));
    let origin = |paths: &[std::path::PathBuf]| {
        let input = unmix_io::open_many(paths, &in_shell(), &unmix::Run::default()).unwrap();
        input.rows.origin().to_string()
    };
    assert!(origin(&paths).ends_with("a.png and 2 more"), "{}", origin(&paths));
    assert!(origin(&paths[..1]).ends_with("a.png"));
}
