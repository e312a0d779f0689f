//! Pictures reassembled from the patches that they were cut into: overlapping patches are averaged.

use crate::patches::{Patches, moments};
use crate::{Input, Options};
use unmix::data::Sink;
use unmix::{Error, Real, Result};

/// Images that were cut into patches, each of which is a row.
#[derive(Clone)]
pub struct CutImages {
    patches: Patches,
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Picture {
    /// Its pixels, row by row, colours side by side.
    pub pixels: Vec<f64>,
    /// (height, width) or (height, width, 3).
    pub shape: Vec<usize>,
    /// Pixels that are in no patch, which are those of the image.
    pub n_uncovered: usize,
}

impl Picture {
    /// A picture of these pixels, in this shape.
    pub fn new(pixels: Vec<f64>, shape: &[usize]) -> Self {
        Self { pixels, shape: shape.to_vec(), n_uncovered: 0 }
    }
}

/// Why no pictures can be made of patches.
fn refusal(found: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::unsupported("making pictures of patches", found, remedy)
}

impl Input {
    /// The pictures whose patches are the rows, which were read with these options; `None` if no patches were cut.
    ///
    /// # Errors
    ///
    /// Options that select some of the patches, or some of the pixels of each.
    pub fn cut_images(&self, options: &Options) -> Result<Option<&CutImages>> {
        if self.patches.is_some() || options.patches.is_none() {
            return Ok(self.patches.as_ref());
        }
        let selections = ["rows", "columns", "drop"].map(|name| options.wording.name(name)).join(", ");
        Err(refusal(
            "some of the patches, or of their pixels, were selected",
            format!("leave out {selections} and {}", options.wording.name("transpose")),
        ))
    }
}

impl CutImages {
    pub(crate) fn of(patches: &Patches) -> Self {
        Self { patches: patches.clone() }
    }

    /// Number of patches.
    pub fn n_patches(&self) -> u64 {
        self.patches.len()
    }

    /// Numbers in a patch.
    pub fn n_features(&self) -> usize {
        self.patches.n_features()
    }

    /// Takes the patches of all images, in their order, as rows, and makes pictures of them.
    ///
    /// # Errors
    ///
    /// Patches drawn at random, or with gaps between them.
    pub fn assembly(&self) -> Result<Assembly> {
        let (how, stride, wording) = (&self.patches.how, self.patches.stride, self.patches.wording);
        if how.number.is_some() {
            let (number, closer) = (wording.name("number"), wording.plain("stride", 1, false));
            return Err(refusal(
                "patches drawn at random do not cover the pictures",
                format!("leave out {number}, or replace it by {closer} for all patches"),
            ));
        }
        let largest = how.height.min(how.width);
        if stride.0 > how.height || stride.1 > how.width {
            let found = format!("there are gaps between patches that are {} pixels apart", stride.0);
            let remedy = format!("give {} or less", wording.plain("stride", largest, false));
            return Err(refusal(found, remedy));
        }
        let n_pixels: usize = self.patches.images.iter().map(|image| image.height * image.width).sum();
        Ok(Assembly {
            patches: self.patches.clone(),
            next: 0,
            sums: vec![0.0; n_pixels * self.patches.channels],
            counts: vec![0; n_pixels],
            row: vec![0.0; self.patches.n_features()],
        })
    }

    /// The note on pixels of these pictures that are in no patch.
    pub fn note_on_uncovered(&self, pictures: &[Picture]) -> Option<String> {
        let n: usize = pictures.iter().map(|picture| picture.n_uncovered).sum();
        let all: usize = pictures.iter().map(|picture| picture.shape[0] * picture.shape[1]).sum();
        (n > 0).then(|| {
            format!(
                "{:.2} % of the pixels, at the right or lower edges, are in no patch and left as they were; with {} patches cover all pixels",
                100.0 * n as f64 / all as f64,
                self.patches.wording.plain("stride", 1, false)
            )
        })
    }
}

/// Receives patches as rows, in the order in which they were cut. Memory: the pixels of all pictures, and a counter for each.
pub struct Assembly {
    patches: Patches,
    /// The number of the next patch.
    next: u64,
    /// Sums over patches, of each number of all pictures.
    sums: Vec<f64>,
    /// Patches that each pixel is in.
    counts: Vec<u32>,
    /// Space for the pixels of a patch.
    row: Vec<f64>,
}

impl<T: Real> Sink<T> for Assembly {
    fn put(&mut self, rows: &[T]) -> Result<()> {
        for row in rows.chunks_exact(self.patches.n_features()) {
            // Patches that were standardised get the mean and the standard deviation of their pixels again.
            let (mean, deviation) = match self.patches.how.normalise {
                true => {
                    self.patches.pixels_of(self.next, &mut self.row)?;
                    moments(&self.row)
                }
                false => (0.0, 1.0),
            };
            self.row.iter_mut().zip(row).for_each(|(to, x)| *to = mean + deviation * x.to_f64());
            self.add();
            self.next += 1;
        }
        Ok(())
    }
}

impl Assembly {
    /// Adds the next patch, whose pixels are in `row`, except what lies in the padding.
    fn add(&mut self) {
        let (at, top, left) = self.patches.place(self.next);
        let (image, channels) = (self.patches.images[at], self.patches.channels);
        let (padding, width) = (self.patches.how.padding, self.patches.how.width);
        let first = image.start as usize / channels;
        for (i, pixel) in self.row.chunks_exact(channels).enumerate() {
            let place = (top + i / width).checked_sub(padding).zip((left + i % width).checked_sub(padding));
            let Some((y, x)) = place.filter(|&(y, x)| y < image.height && x < image.width) else { continue };
            let to = first + y * image.width + x;
            self.counts[to] += 1;
            let sums = &mut self.sums[to * channels..(to + 1) * channels];
            sums.iter_mut().zip(pixel).for_each(|(sum, x)| *sum += x);
        }
    }

    /// The pictures: means of the patches, and the image's own pixels at its edges, where no patch is.
    ///
    /// # Errors
    ///
    /// Fewer or more patches than the images have; pixels that can no longer be read.
    pub fn finish(mut self) -> Result<Vec<Picture>> {
        if self.next != self.patches.len() {
            let found = match self.next {
                1 => format!("there is 1 patch of {}", self.patches.len()),
                n => format!("there are {n} patches of {}", self.patches.len()),
            };
            return Err(refusal(found, "give all patches")
                .with_numbers(self.patches.len() as usize, self.next as usize));
        }
        let channels = self.patches.channels;
        let means = self.sums.chunks_exact_mut(channels).zip(&self.counts).filter(|(_, n)| **n > 0);
        means.for_each(|(sums, &n)| sums.iter_mut().for_each(|sum| *sum /= f64::from(n)));
        let mut out = Vec::new();
        for image in &self.patches.images {
            let (first, n) = (image.start as usize / channels, image.height * image.width);
            let mut pixels = self.sums[first * channels..(first + n) * channels].to_vec();
            let mut n_uncovered = 0;
            for (i, pixel) in pixels.chunks_exact_mut(channels).enumerate() {
                if self.counts[first + i] == 0 {
                    self.patches.run(image.start + (i * channels) as u64, pixel)?;
                    n_uncovered += 1;
                }
            }
            let colours = (channels > 1).then_some(channels);
            let shape = [image.height, image.width].into_iter().chain(colours).collect();
            out.push(Picture { pixels, shape, n_uncovered });
        }
        Ok(out)
    }
}
