//! Images of digits on backgrounds, of rectangles, and of convex shapes.

use crate::error::{Error, Result};
use crate::num::Matrix;
use crate::num::random::Stream;

/// Names of the variations.
pub const DIGIT_VARIATIONS: [&str; 6] = ["basic", "bg-rand", "bg-img", "rect", "rect-img", "convex"];

/// Pixels of a side.
const SIDE: usize = 28;
const PIXELS: usize = SIDE * SIDE;
const WHITE: f64 = 255.0;

/// Maximum number of random numbers of an image.
const DRAWS_PER_IMAGE: u64 = 1 << 24;

/// Minimum standard deviation of a patch that is used as a background: more uniform ones (sky, walls) are rejected.
const LEAST_DEVIATION: f64 = 10.0;

/// Number of patches drawn for a background before the photographs are refused.
const MOST_TRIES: usize = 1000;

/// Images, with the digits or the classes that they show.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DigitVariations {
    /// `n x 784`, rows of 28 x 28 pixels from 0 to 255.
    pub x: Matrix<f64>,
    /// Index of the digit of each image in `digits`; empty for shapes.
    pub rows: Vec<usize>,
    /// The class of each shape, 1 for rectangles that are taller than wide and for convex shapes, otherwise 0; empty for digits.
    pub labels: Vec<usize>,
}

/// Variations of digits and shapes of Larochelle et al. (2007), generated from a seed by the published descriptions; these are not the
/// published files. As many images as `digits` has rows (28 x 28 pixels from 0 to 255); shapes use only their number.
///
/// - `basic`: the digits in random order.
/// - `bg-rand`: the larger of the digit and uniform noise from 0 to 255, pixel by pixel.
/// - `bg-img`: the larger of the digit and a patch of `photos` (grey values from 0 to 255).
/// - `rect`: outlines of width 1; sides uniform from 1 to 28 that differ by at least 3.
/// - `rect-img`: a rectangle of one patch on another; sides from 10 that differ by at least 5.
/// - `convex`: both classes with probability 1/2. Convex shapes are intersections of half-planes through random points of the image; their
///   number has a geometric distribution with parameter 0.195 (0 gives the whole image), and a shape has at least 19 pixels. The other shapes
///   are unions of two to four such sets, with parameter 0.07 and at least 10 pixels, that are not convex. The classes have the same mean area.
///
/// `convex` follows the published description (OpenML, data set 40765), which does not specify the points of the half-planes; the descriptions
/// of the other variations are short.
///
/// Image `i` does not depend on the number of images, except for the order of digits.
///
/// # Errors
///
/// An unknown name; no rows; for digits, rows of other than 784 pixels, or pixels outside 0 to 255; for `bg-img` and `rect-img`, no photographs,
/// photographs smaller than 28 x 28 pixels, or without patches of a standard deviation of at least 10.
pub fn digit_variations(
    name: &str,
    digits: &Matrix<f64>,
    photos: &[Matrix<f64>],
    seed: u64,
) -> Result<DigitVariations> {
    let Some(number) = DIGIT_VARIATIONS.iter().position(|known| *known == name) else {
        return Err(Error::unknown("variation of digits", name, DIGIT_VARIATIONS));
    };
    let of_digits = number < 3;
    check(digits, of_digits)?;
    if name.ends_with("img") {
        check_photos(name, photos)?;
    }
    let (n, draws) = (digits.rows(), Stream::new(seed, 30_000 + number as u64));
    let mut order: Vec<usize> = (0..n).collect();
    if of_digits {
        // The same order for all variations, so that they differ in their backgrounds only.
        Stream::new(seed, 30_010).shuffle(0, &mut order);
    }
    let (mut x, mut shown) = (Matrix::zeros(n, PIXELS), Vec::with_capacity(n));
    for (i, &digit) in order.iter().enumerate() {
        let mut draw = Draw { draws: &draws, next: i as u64 * DRAWS_PER_IMAGE };
        let row = x.row_mut(i);
        shown.push(match name {
            "rect" => draw.outline(row),
            "rect-img" => draw.rectangle(row, photos)?,
            "convex" => draw.shape(row),
            _ => {
                row.copy_from_slice(digits.row(digit));
                if name != "basic" {
                    let patch = if name == "bg-img" { draw.patch(photos)? } else { draw.noise() };
                    row.iter_mut().zip(patch).for_each(|(x, b)| *x = x.max(b));
                }
                digit
            }
        });
    }
    let (rows, labels) = if of_digits { (shown, Vec::new()) } else { (Vec::new(), shown) };
    Ok(DigitVariations { x, rows, labels })
}

fn check(digits: &Matrix<f64>, of_digits: bool) -> Result<()> {
    let (n, p) = (digits.rows(), digits.cols());
    if n == 0 || (of_digits && p != PIXELS) {
        let why = "must be rows of 784 pixels, at least one";
        return Err(Error::setting("digits", format!("{n} x {p}"), why, "give images of 28 x 28 pixels"));
    }
    let outside = |v: &f64| of_digits && !(0.0..=WHITE).contains(v);
    match digits.as_slice().iter().position(outside) {
        Some(at) => {
            let got = format!("{} in row {}, column {}", digits.as_slice()[at], at / p, at % p);
            Err(Error::setting("digits", got, "must have pixels from 0 to 255", "rescale the pixels"))
        }
        None => Ok(()),
    }
}

fn check_photos(name: &str, photos: &[Matrix<f64>]) -> Result<()> {
    if photos.is_empty() {
        return Err(Error::setting(
            "photos",
            "none",
            format!("'{name}' needs photographs"),
            "give grey images",
        ));
    }
    let small = |photo: &&Matrix<f64>| photo.rows() < SIDE || photo.cols() < SIDE;
    if let Some(photo) = photos.iter().find(small) {
        let got = format!("{} x {}", photo.rows(), photo.cols());
        return Err(Error::setting("photos", got, "must have at least 28 x 28 pixels", "leave this one out"));
    }
    let outside = |v: &&f64| !(0.0..=WHITE).contains(*v);
    match photos.iter().find_map(|photo| photo.as_slice().iter().find(outside)) {
        Some(v) => Err(Error::setting("photos", v, "must have pixels from 0 to 255", "rescale the pixels")),
        None => Ok(()),
    }
}

/// Random numbers of one image.
struct Draw<'a> {
    draws: &'a Stream,
    next: u64,
}

impl Draw<'_> {
    fn uniform(&mut self) -> f64 {
        self.next += 1;
        self.draws.uniform(self.next - 1)
    }

    /// A uniformly distributed integer from `least` to `most`.
    fn whole(&mut self, least: usize, most: usize) -> usize {
        let count = most + 1 - least;
        least + ((self.uniform() * count as f64) as usize).min(count - 1)
    }

    fn noise(&mut self) -> Vec<f64> {
        (0..PIXELS).map(|_| self.whole(0, 255) as f64).collect()
    }

    /// A patch of a photograph with at least the minimum standard deviation.
    fn patch(&mut self, photos: &[Matrix<f64>]) -> Result<Vec<f64>> {
        for _ in 0..MOST_TRIES {
            let photo = &photos[self.whole(0, photos.len() - 1)];
            let (top, left) = (self.whole(0, photo.rows() - SIDE), self.whole(0, photo.cols() - SIDE));
            let patch: Vec<f64> = (0..PIXELS).map(|at| photo[(top + at / SIDE, left + at % SIDE)]).collect();
            let mean = patch.iter().sum::<f64>() / PIXELS as f64;
            let variance = patch.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / PIXELS as f64;
            if variance.sqrt() >= LEAST_DEVIATION {
                return Ok(patch);
            }
        }
        let found =
            format!("none of {MOST_TRIES} patches has a standard deviation of {LEAST_DEVIATION} or more");
        Err(Error::unsupported(
            "backgrounds of patches of photographs",
            found,
            "give photographs with more structure",
        ))
    }

    /// Height, width, top and left of a rectangle with sides of at least `least` that differ by at least `by`.
    fn sides(&mut self, least: usize, by: usize) -> [usize; 4] {
        loop {
            let (height, width) = (self.whole(least, SIDE), self.whole(least, SIDE));
            if height.abs_diff(width) >= by {
                return [height, width, self.whole(0, SIDE - height), self.whole(0, SIDE - width)];
            }
        }
    }

    fn outline(&mut self, row: &mut [f64]) -> usize {
        let [height, width, top, left] = self.sides(1, 3);
        for i in 0..height {
            for j in 0..width {
                if i == 0 || j == 0 || i + 1 == height || j + 1 == width {
                    row[(top + i) * SIDE + left + j] = WHITE;
                }
            }
        }
        usize::from(height > width)
    }

    fn rectangle(&mut self, row: &mut [f64], photos: &[Matrix<f64>]) -> Result<usize> {
        let [height, width, top, left] = self.sides(10, 5);
        let (inside, outside) = (self.patch(photos)?, self.patch(photos)?);
        for (at, x) in row.iter_mut().enumerate() {
            let (i, j) = (at / SIDE, at % SIDE);
            let own = (top..top + height).contains(&i) && (left..left + width).contains(&j);
            *x = if own { inside[at] } else { outside[at] };
        }
        Ok(usize::from(height > width))
    }

    /// A number of a geometric distribution on 0, 1, 2, ...
    fn geometric(&mut self, parameter: f64) -> usize {
        ((1.0 - self.uniform()).ln() / (1.0 - parameter).ln()) as usize
    }

    /// The pixels of an intersection of half-planes, at least `least` of them.
    fn convex(&mut self, parameter: f64, least: usize) -> Vec<bool> {
        loop {
            let planes: Vec<[f64; 4]> = (0..self.geometric(parameter))
                .map(|_| {
                    let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
                    [sin, cos, SIDE as f64 * self.uniform(), SIDE as f64 * self.uniform()]
                })
                .collect();
            let within = |at: usize| {
                let (y, x) = ((at / SIDE) as f64 + 0.5, (at % SIDE) as f64 + 0.5);
                planes.iter().all(|[sin, cos, top, left]| (y - top) * sin + (x - left) * cos <= 0.0)
            };
            let shape: Vec<bool> = (0..PIXELS).map(within).collect();
            if shape.iter().filter(|s| **s).count() >= least {
                return shape;
            }
        }
    }

    fn shape(&mut self, row: &mut [f64]) -> usize {
        let convex = self.uniform() < 0.5;
        let shape = loop {
            if convex {
                break self.convex(0.195, 19);
            }
            let mut shape = vec![false; PIXELS];
            for _ in 0..self.whole(2, 4) {
                let more = self.convex(0.07, 10);
                shape.iter_mut().zip(more).for_each(|(s, m)| *s |= m);
            }
            if !is_convex(&shape) {
                break shape;
            }
        };
        row.iter_mut().zip(shape).for_each(|(x, s)| *x = if s { WHITE } else { 0.0 });
        usize::from(convex)
    }
}

/// Whether every pixel whose centre is on the segment between the centres of two members is a member, too, up to 1 pixel of rounding.
fn is_convex(shape: &[bool]) -> bool {
    let own: Vec<(f64, f64)> =
        (0..PIXELS).filter(|&at| shape[at]).map(|at| ((at / SIDE) as f64, (at % SIDE) as f64)).collect();
    // Midpoints are sufficient: a set that contains all midpoints of pairs of its members is convex.
    let whole = own.len() == PIXELS;
    whole
        || own.iter().enumerate().all(|(i, a)| {
            own[i + 1..].iter().all(|b| {
                let (y, x) = (0.5 * (a.0 + b.0), 0.5 * (a.1 + b.1));
                y.fract() != 0.0 || x.fract() != 0.0 || shape[y as usize * SIDE + x as usize]
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(n: usize) -> Matrix<f64> {
        Matrix::from_fn(n, PIXELS, |i, at| if at % 28 == i % 28 { 200.0 } else { 0.0 })
    }

    fn photo() -> Matrix<f64> {
        Matrix::from_fn(60, 50, |i, j| ((i * 37 + j * 91) % 256) as f64)
    }

    fn made(name: &str, n: usize, seed: u64) -> DigitVariations {
        digit_variations(name, &digits(n), &[photo()], seed).unwrap()
    }

    #[test]
    fn digits_stay_above_their_backgrounds_and_keep_their_rows() {
        let basic = made("basic", 40, 3);
        let mut sorted = basic.rows.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..40).collect::<Vec<_>>());
        assert_ne!(basic.rows, sorted);
        assert!(basic.labels.is_empty() && made("rect", 3, 3).rows.is_empty());
        for name in ["bg-rand", "bg-img"] {
            let on = made(name, 40, 3);
            assert_eq!(on.rows, basic.rows);
            assert!(on.x.as_slice().iter().zip(basic.x.as_slice()).all(|(a, b)| a >= b && *a <= WHITE));
        }
        // The mean of the noise is 127.5, where there is no digit.
        let noise = made("bg-rand", 40, 3);
        let free = noise.x.as_slice().iter().zip(basic.x.as_slice()).filter(|(_, b)| **b == 0.0);
        let values: Vec<f64> = free.map(|(a, _)| *a).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean - 127.5).abs() < 2.0, "{mean}");
    }

    #[test]
    fn rectangles_have_the_sides_of_their_class() {
        let made = made("rect", 200, 1);
        let mut classes = [0; 2];
        for i in 0..200 {
            let white: Vec<usize> = (0..PIXELS).filter(|&at| made.x[(i, at)] == WHITE).collect();
            let side = |of: fn(usize) -> usize| {
                let all = white.iter().map(|&at| of(at));
                all.clone().max().unwrap() - all.min().unwrap() + 1
            };
            let (height, width) = (side(|at| at / SIDE), side(|at| at % SIDE));
            assert!(height.abs_diff(width) >= 3);
            assert_eq!(made.labels[i], usize::from(height > width));
            let inside = height.saturating_sub(2) * width.saturating_sub(2);
            assert_eq!(white.len(), height * width - inside);
            classes[made.labels[i]] += 1;
        }
        assert!(classes.iter().all(|c| (70..=130).contains(c)), "{classes:?}");
    }

    #[test]
    fn convex_shapes_are_convex_and_the_others_are_not() {
        let made = made("convex", 3000, 2);
        let mut areas = [Vec::new(), Vec::new()];
        for i in 0..3000 {
            let shape: Vec<bool> = made.x.row(i).iter().map(|v| *v == WHITE).collect();
            assert!(i >= 100 || made.labels[i] == usize::from(is_convex(&shape)), "{i}");
            areas[made.labels[i]].push(shape.iter().filter(|s| **s).count() as f64);
        }
        assert!((1400..=1600).contains(&areas[1].len()), "{}", areas[1].len());
        // Standard errors of the means are 7 and 5 pixels.
        let mean = areas.map(|areas| areas.iter().sum::<f64>() / areas.len() as f64);
        assert!((mean[1] - mean[0]).abs() < 30.0, "{mean:?}");
    }

    #[test]
    fn seeds_determine_the_rows_and_fewer_shapes_are_the_first_of_more() {
        for name in DIGIT_VARIATIONS {
            let first = made(name, 12, 5);
            assert!(first.x == made(name, 12, 5).x && first.x != made(name, 12, 6).x, "{name}");
            if DIGIT_VARIATIONS[3..].contains(&name) {
                assert!((0..5).all(|i| made(name, 5, 5).x.row(i) == first.x.row(i)), "{name}");
            }
        }
    }

    #[test]
    fn bad_input_is_refused() {
        let refused = |name: &str, x: &Matrix<f64>, photos: &[Matrix<f64>]| {
            digit_variations(name, x, photos, 0).unwrap_err().to_string()
        };
        assert!(refused("rects", &digits(2), &[]).contains("did you mean 'rect'"));
        assert!(refused("basic", &Matrix::zeros(3, 64), &[]).contains("784"));
        assert!(refused("basic", &Matrix::zeros(0, PIXELS), &[]).contains("at least one"));
        let dark = Matrix::from_fn(1, PIXELS, |_, _| -1.0);
        assert!(refused("bg-rand", &dark, &[]).contains("from 0 to 255"));
        assert!(refused("bg-img", &digits(2), &[]).contains("needs photographs"));
        assert!(refused("rect-img", &digits(2), &[Matrix::zeros(27, 60)]).contains("28 x 28"));
        assert!(refused("bg-img", &digits(2), &[Matrix::zeros(40, 60)]).contains("standard deviation"));
    }
}
