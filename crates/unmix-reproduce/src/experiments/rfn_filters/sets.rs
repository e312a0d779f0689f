//! Sets of whole pictures: digits and shapes, and small photographs in colour.

use crate::pictures::{cifar, numbers, opened, reading};
use std::path::{Path, PathBuf};
use unmix::datasets::{DIGIT_VARIATIONS, Pictures, digit_variations, leaves};
use unmix::{Error, Matrix, Result, Run};
use unmix_report::Content;

/// Sets in the order of the figure, without NORB.
pub(super) const NAMES: [&str; 7] =
    ["basic", "bg-img", "bg-rand", "convex", "rect", "rect-img", "photographs"];

/// Pixels of a side of a digit.
const SIDE: usize = 28;
/// Photographs for backgrounds.
const PHOTOS: usize = 30;
/// Pictures of a panel.
const PICTURES_PER_PANEL: usize = 25;

/// Pictures from which the sets are made.
pub(super) struct Sources {
    /// `n x 784`, from 0 to 255.
    digits: Matrix<f64>,
    /// Whether digits were read, not generated.
    pub(super) digits_given: bool,
    /// Grey, from 0 to 255.
    photos: Vec<Matrix<f64>>,
    colour: Pictures,
    /// Their origins.
    pub(super) about: String,
}

/// A set of pictures.
pub(super) struct PictureSet {
    /// The pictures as consecutive rows of numbers from 0 to 1.
    pub(super) x: Vec<f32>,
    /// (height, width) or (height, width, 3).
    pub(super) shape: Vec<usize>,
    pub(super) about: String,
}

impl PictureSet {
    pub(super) fn n_pixels(&self) -> usize {
        self.shape.iter().product()
    }

    /// The first pictures.
    pub(super) fn some(&self) -> Content {
        let p = self.n_pixels();
        let rows = (self.x.len() / p).min(PICTURES_PER_PANEL);
        let vectors = Matrix::from_fn(rows, p, |i, j| f64::from(self.x[i * p + j]));
        Content::Photographs { vectors, shape: self.shape.clone(), columns: 5 }
    }
}

/// Files that were found: an idx file of digits, a batch of CIFAR-10, photographs.
#[derive(Default)]
struct Paths {
    digits: Option<PathBuf>,
    colour: Option<PathBuf>,
    photos: Vec<PathBuf>,
}

impl Paths {
    /// What `--pictures` names: a file of digits or of CIFAR-10, or a folder that holds such files or photographs, or folders of them.
    fn of(path: &Path) -> Result<Self> {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let mut out = Self::default();
        if !path.is_dir() {
            match name.contains(".bin") {
                true => out.colour = Some(path.into()),
                false => out.digits = Some(path.into()),
            }
            return Ok(out);
        }
        let mut folders = vec![path.to_path_buf()];
        folders.extend(entries(path)?.into_iter().filter(|entry| entry.is_dir()));
        for folder in folders {
            let files = entries(&folder)?;
            let first = |begins: &str| {
                let own = |file: &&PathBuf| {
                    file.file_name().is_some_and(|n| n.to_string_lossy().starts_with(begins))
                };
                files.iter().find(own).cloned()
            };
            out.digits = out
                .digits
                .or_else(|| first("train-images-idx3-ubyte").or_else(|| first("t10k-images-idx3-ubyte")));
            out.colour = out.colour.or_else(|| first("data_batch_1.bin"));
            if out.photos.is_empty() {
                out.photos = files.into_iter().filter(|file| is_photo(file)).take(PHOTOS).collect();
            }
        }
        if out.digits.is_none() && out.colour.is_none() && out.photos.is_empty() {
            let found = "it has no train-images-idx3-ubyte, no data_batch_1.bin and no image".to_string();
            return Err(Error::format(path, found, "give a folder that has one of them, or a file"));
        }
        Ok(out)
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let cannot = |e| Error::io("cannot read", folder, e);
    let read = std::fs::read_dir(folder).map_err(cannot)?;
    let mut out =
        read.map(|entry| entry.map(|e| e.path())).collect::<std::io::Result<Vec<_>>>().map_err(cannot)?;
    out.sort();
    Ok(out)
}

fn is_photo(file: &Path) -> bool {
    file.extension().is_some_and(|e| matches!(e.to_string_lossy().as_ref(), "jpg" | "jpeg" | "png"))
}

impl Sources {
    /// `n` digits and colour pictures, and photographs; what `pictures` does not name is generated.
    pub(super) fn read(pictures: Option<&Path>, n: usize, run: &Run<'_>) -> Result<Self> {
        let paths = pictures.map(Paths::of).transpose()?.unwrap_or_default();
        let (digits, of_digits) = match &paths.digits {
            Some(path) => (digits(path, n, run)?, "digits of the file".to_string()),
            None => (
                grey(&leaves(n, SIDE, 0)),
                "synthetic pictures (fallen leaves) instead of digits".to_string(),
            ),
        };
        let (photos, of_photos) = match paths.photos.is_empty() {
            false => {
                (photos(&paths.photos, run)?, format!("{} photographs for backgrounds", paths.photos.len()))
            }
            true => {
                const SIDE: usize = 96;
                let made = grey(&leaves(PHOTOS, SIDE, 1));
                let one = |i: usize| Matrix::from_vec(SIDE, SIDE, made.row(i).to_vec());
                let about = "synthetic pictures instead of photographs for backgrounds".to_string();
                ((0..PHOTOS).map(one).collect(), about)
            }
        };
        let (colour, of_colour) = match &paths.colour {
            Some(path) => {
                let read = cifar(path, n)?;
                let about = format!("{} whole pictures of CIFAR-10", read.n);
                (read, about)
            }
            None => (leaves(n, 32, 2), "synthetic pictures instead of CIFAR-10".to_string()),
        };
        let about = format!("{} {of_digits}; {of_photos}; {of_colour}", digits.rows());
        Ok(Self { digits_given: paths.digits.is_some(), digits, photos, colour, about })
    }

    /// The set of a name.
    pub(super) fn set(&self, name: &str) -> Result<PictureSet> {
        if !DIGIT_VARIATIONS.contains(&name) {
            let Pictures { n, height, width, channels, values } = &self.colour;
            let about = format!("{n} pictures in colour");
            return Ok(PictureSet { x: single(values, 1.0), shape: vec![*height, *width, *channels], about });
        }
        let made = digit_variations(name, &self.digits, &self.photos, 0)?;
        let about = format!("{} pictures", made.x.rows());
        Ok(PictureSet { x: single(made.x.as_slice(), 1.0 / 255.0), shape: vec![SIDE, SIDE], about })
    }
}

fn single(values: &[f64], scale: f64) -> Vec<f32> {
    values.iter().map(|v| (v * scale) as f32).collect()
}

/// Means of the channels, from 0 to 255, a row for each picture.
fn grey(pictures: &Pictures) -> Matrix<f64> {
    let (pixels, c) = (pictures.height * pictures.width, pictures.channels);
    let mean = |i: usize, j: usize| {
        let pixel = &pictures.values[(i * pixels + j) * c..][..c];
        (255.0 * pixel.iter().sum::<f64>() / c as f64).clamp(0.0, 255.0)
    };
    Matrix::from_fn(pictures.n, pixels, mean)
}

fn digits(path: &Path, n: usize, run: &Run<'_>) -> Result<Matrix<f64>> {
    let read = opened(path, n, run)?;
    if (read.height, read.width) != (SIDE, SIDE) {
        let found = format!("its pictures have {} x {} pixels", read.height, read.width);
        return Err(Error::format(path, found, "give pictures of 28 x 28 pixels, as those of MNIST"));
    }
    Ok(grey(&read))
}

fn photos(paths: &[PathBuf], run: &Run<'_>) -> Result<Vec<Matrix<f64>>> {
    let options = unmix_io::Options { pixels: Some(unmix_io::Pixels::Grey), ..reading() };
    let one = |path: &PathBuf| {
        let rows = unmix_io::open_with(path, &options, run)?.rows;
        let shape = rows.features().shape.clone().unwrap_or_default();
        let (height, width) = (shape.first().copied().unwrap_or(0), shape.get(1).copied().unwrap_or(0));
        let values: Vec<f64> = numbers(rows, 1, run)?.iter().map(|v| (255.0 * v).clamp(0.0, 255.0)).collect();
        if height < SIDE || width < SIDE || values.len() != height * width {
            let found =
                format!("it has {height} x {width} pixels, and backgrounds are patches of 28 x 28 pixels");
            return Err(Error::format(path, found, "give photographs of at least 28 x 28 pixels"));
        }
        Ok(Matrix::from_vec(height, width, values))
    };
    paths.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_searched_with_its_folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert!(Paths::of(path).err().unwrap().to_string().contains("no image"));
        std::fs::create_dir(path.join("mnist")).unwrap();
        std::fs::create_dir(path.join("photos")).unwrap();
        for file in [
            "mnist/train-images-idx3-ubyte.gz",
            "mnist/t10k-images-idx3-ubyte.gz",
            "photos/b.png",
            "photos/a.jpg",
        ] {
            std::fs::write(path.join(file), []).unwrap();
        }
        let found = Paths::of(path).unwrap();
        assert_eq!(found.digits, Some(path.join("mnist/train-images-idx3-ubyte.gz")));
        assert_eq!(
            (found.colour, found.photos),
            (None, vec![path.join("photos/a.jpg"), path.join("photos/b.png")])
        );
        assert!(Paths::of(&path.join("data_batch_1.bin")).unwrap().digits.is_none());
    }

    #[test]
    fn every_set_is_made_of_generated_images() {
        let sources = Sources::read(None, 6, &Run::default()).unwrap();
        for name in NAMES {
            let set = sources.set(name).unwrap();
            assert_eq!(set.x.len(), 6 * set.n_pixels(), "{name}");
            assert!(set.x.iter().all(|v| (0.0..=1.0).contains(v)), "{name}");
        }
    }
}
