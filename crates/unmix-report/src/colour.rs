//! Colours: maps for numbers and a palette for classes. Signs are blue and orange, which differ with red-green colour blindness, too.

/// Red, green, blue.
pub(crate) type Rgb = [u8; 3];

/// For classes: hues and lightness both differ, and each can be seen on white and on near-black.
pub(crate) const CLASSES: [&str; 12] = [
    "#0a75bd", "#e8912d", "#169b72", "#d1487f", "#52b6e8", "#c9541c", "#8866d4", "#9a9a14", "#7d828a",
    "#955b4c", "#0fb5b0", "#e585c6",
];

/// The colour of points without a class.
pub(crate) const NEUTRAL: &str = "#8d939c";

/// From blue (-1) over near-white (0) to orange-red (1), of equal lightness on both sides.
pub(crate) fn diverging(t: f64) -> Rgb {
    let a = t.clamp(-1.0, 1.0).abs();
    let hue = if t < 0.0 { 252.0 } else { 42.0 };
    oklch(0.975 - 0.515 * a, 0.17 * (1.95 * a).sin(), hue)
}

/// From dark violet (0) to light yellow (1), lightness rising evenly.
pub(crate) fn sequential(t: f64) -> Rgb {
    let t = t.clamp(0.0, 1.0);
    oklch(0.34 + 0.54 * t, 0.11 + 0.05 * t, 300.0 - 198.0 * t)
}

/// In the notation of CSS.
pub(crate) fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Lightness, chroma and hue (degrees) of Ottosson's Oklab to sRGB, clipped to what a screen can show.
fn oklch(lightness: f64, chroma: f64, hue: f64) -> Rgb {
    let (a, b) = (chroma * hue.to_radians().cos(), chroma * hue.to_radians().sin());
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    let linear = [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s,
    ];
    linear.map(|x| {
        let x = x.clamp(0.0, 1.0);
        let y = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
        (255.0 * y).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luma([r, g, b]: Rgb) -> f64 {
        0.2126 * r as f64 + 0.7152 * g as f64 + 0.0722 * b as f64
    }

    #[test]
    fn white_black_and_red_have_their_oklab_coordinates() {
        assert_eq!(oklch(1.0, 0.0, 0.0), [255, 255, 255]);
        assert_eq!(oklch(0.0, 0.0, 0.0), [0, 0, 0]);
        // The red primary has lightness 0.628, chroma 0.2577, hue 29.23.
        let [r, g, b] = oklch(0.627_955, 0.257_683, 29.234);
        assert!(r >= 254 && g <= 2 && b <= 2, "{r} {g} {b}");
    }

    #[test]
    fn maps_darken_and_lighten_evenly() {
        for i in 0..20 {
            let t = i as f64 / 20.0;
            assert!(
                luma(diverging(t)) > luma(diverging(t + 0.05))
                    && luma(diverging(-t)) > luma(diverging(-t - 0.05))
            );
            assert!(luma(sequential(t)) < luma(sequential(t + 0.05)));
        }
        let [r, _, b] = diverging(1.0);
        assert!(r > b, "positive is warm");
    }
}
