//! Pixels of colour images on a page.

use crate::{fit, made, rows, section};
use base64::Engine;
use unmix::{Features, Matrix};
use unmix_report::Options;

/// Bytes of the images embedded in a section of a page, three per pixel.
fn pictures(html: &str) -> Vec<Vec<u8>> {
    let uris = html.split("data:image/png;base64,").skip(1).map(|piece| piece.split('"').next().unwrap());
    let decoded = |uri: &str| {
        let bytes = base64::engine::general_purpose::STANDARD.decode(uri).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut out = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut out).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb);
        out
    };
    uris.map(decoded).collect()
}

/// Synthetic colour patches of 4 x 4 pixels in units of `unit`: nearly grey, with a little more variance in red than in blue.
fn patches(unit: f64) -> Matrix<f64> {
    let draw = unmix::internal::num::random::Stream::new(3, 0);
    Matrix::from_fn(300, 48, |i, j| {
        let light = draw.normal((i * 17) as u64) + 0.3 * draw.normal((1_000_000 + i * 48 + j) as u64);
        unit * (([121.0, 105.0, 94.0][j % 3] + 12.0 * light) / 255.0)
    })
}

fn page(x: &Matrix<f64>) -> String {
    let features = || Features { names: None, shape: Some(vec![4, 4, 3]) };
    let model = fit(&mut rows(x, features()), 3);
    made(&model, Some(&rows(x, features())), &Options::default())
}

#[test]
fn the_mean_of_photographs_is_brownish_grey() {
    for unit in [1.0, 255.0] {
        let x = patches(unit);
        let html = page(&x);
        let mean = &pictures(section(&html, "components"))[0];
        for (j, byte) in mean.iter().enumerate() {
            let truth = 255.0 / unit * (0..300).map(|i| x[(i, j)]).sum::<f64>() / 300.0;
            assert!(
                (f64::from(*byte) - truth).abs() <= 0.5 + 1e-9,
                "unit {unit}, byte {j}: {byte}, not {truth}"
            );
        }
        // Rows and their reconstructions are shown with their own values, without rescaling.
        let row = &pictures(section(&html, "reconstructions"))[0];
        assert!(
            row.iter()
                .enumerate()
                .all(|(j, byte)| (f64::from(*byte) - 255.0 / unit * x[(0, j)]).abs() <= 0.5 + 1e-9)
        );
    }
}

#[test]
fn a_component_without_colour_is_grey_and_0_is_in_the_middle() {
    let x = patches(1.0);
    let shown = pictures(section(&page(&x), "components"));
    // The first component is brightness: its loadings have one sign and are nearly equal in all channels.
    let first = &shown[1];
    let spread = first.iter().max().unwrap() - first.iter().min().unwrap();
    assert!(spread < 25 && (first.iter().all(|b| *b > 200) || first.iter().all(|b| *b < 55)), "{first:?}");
    // All channels share one scale: the largest loading alone reaches an end of it, and bytes are symmetric about the middle.
    let model = fit(&mut rows(&x, Features { names: None, shape: Some(vec![4, 4, 3]) }), 3);
    let component = model.code().mixing().unwrap().transposed();
    for (i, bytes) in shown[1..].iter().enumerate() {
        let most = component.row(i).iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for (byte, loading) in bytes.iter().zip(component.row(i)) {
            assert!((f64::from(*byte) - 127.5 * (1.0 + loading / most)).abs() <= 0.5 + 1e-9, "component {i}");
        }
    }
}
