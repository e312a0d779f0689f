//! Images of the dead leaves model: discs that occlude each other, a simple model of the statistics of natural images.

use crate::num::random::Stream;

/// Images of equal size, with values from 0 to 1.
///
/// Exhaustive, because images from files are given in it, too.
#[derive(Clone, Debug)]
pub struct Pictures {
    /// Number of images.
    pub n: usize,
    /// Height in pixels.
    pub height: usize,
    /// Width in pixels.
    pub width: usize,
    /// Values of a pixel: 1 for grey, 3 for red, green and blue.
    pub channels: usize,
    /// The values, `n x height x width x channels`, row-major.
    pub values: Vec<f64>,
}

/// Number of discs in one image, which cover nearly every pixel.
const LEAVES_PER_IMAGE: usize = 400;

/// `n` colour images of `side x side` pixels by the dead leaves model (Lee, Mumford & Huang 2001): each disc occludes the previous
/// ones, and radii follow a power law with exponent -3, so that the statistics are scale-invariant. As in natural images, there are
/// edges at all positions, orientations and scales, and the power spectrum decreases with frequency. `O(n side²)` for each of 400
/// discs.
pub fn leaves(n: usize, side: usize, seed: u64) -> Pictures {
    let channels = 3;
    let mut values = vec![0.5; n * side * side * channels];
    let draws = Stream::new(seed, 24);
    let (least, most) = (1.5, 0.5 * side as f64);
    for (picture, pixels) in values.chunks_exact_mut(side * side * channels).enumerate() {
        for leaf in 0..LEAVES_PER_IMAGE {
            let draw = |i: usize| draws.uniform(((picture * LEAVES_PER_IMAGE + leaf) * 8 + i) as u64);
            let (cx, cy) = (draw(0) * side as f64, draw(1) * side as f64);
            // The inverse of the distribution function of a density r^-3 between the two ends.
            let (a, b) = (1.0f64 / (least * least), 1.0 / (most * most));
            let radius = (a - draw(2) * (a - b)).sqrt().recip();
            // Discs differ more in brightness than in colour: the channels of natural images are correlated.
            let grey = draw(3);
            let colour = [4, 5, 6].map(|i| (grey + 0.3 * (draw(i) - 0.5)).clamp(0.0, 1.0));
            let span = |c: f64| {
                ((c - radius).floor().max(0.0) as usize, ((c + radius).ceil().max(0.0) as usize).min(side))
            };
            let ((x0, x1), (y0, y1)) = (span(cx), span(cy));
            for y in y0..y1 {
                for x in x0..x1 {
                    let (dx, dy) = (x as f64 + 0.5 - cx, y as f64 + 0.5 - cy);
                    if dx * dx + dy * dy <= radius * radius {
                        pixels[(y * side + x) * channels..][..channels].copy_from_slice(&colour);
                    }
                }
            }
        }
    }
    Pictures { n, height: side, width: side, channels, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_pixels_are_correlated_more_than_far_ones() {
        let pictures = leaves(40, 32, 3);
        let at = |i: usize, y: usize, x: usize| pictures.values[((i * 32 + y) * 32 + x) * 3];
        let mean = pictures.values.iter().sum::<f64>() / pictures.values.len() as f64;
        let correlation = |apart: usize| {
            let pairs = (0..40).flat_map(|i| (0..32).map(move |y| (i, y)));
            let product = |(i, y): (usize, usize)| (at(i, y, 4) - mean) * (at(i, y, 4 + apart) - mean);
            pairs.map(product).sum::<f64>() / (40.0 * 32.0)
        };
        let (near, far) = (correlation(1) / correlation(0), correlation(20) / correlation(0));
        assert!(near > 0.7 && far < 0.45 && near < 1.0, "{near} {far}");
        assert!(pictures.values.iter().all(|v| (0.0..=1.0).contains(v)));
    }
}
