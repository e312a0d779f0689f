//! Labelled pictures for the classifiers: variations of MNIST, generated from a seed.

use crate::Options;
use crate::pictures::{reading, unpacked};
use std::path::Path;
use unmix::datasets::digit_variations;
use unmix::shallow::Labelled;
use unmix::{Error, Matrix, Real, Result, Run};

/// Numbers of a picture.
pub(super) const PIXELS: usize = 784;

/// A set: its name in the published table, its number of classes, and the pictures of each part when all are used.
#[derive(Clone, Copy)]
pub(super) struct SetSpec {
    pub(super) name: &'static str,
    pub(super) classes: usize,
    pub(super) sizes: [usize; 3],
}

/// The sets that can be generated and are run.
pub(super) const SETS: [SetSpec; 3] = [
    SetSpec { name: "basic", classes: 10, sizes: [10_000, 2000, 50_000] },
    SetSpec { name: "rect", classes: 2, sizes: [1000, 200, 50_000] },
    SetSpec { name: "convex", classes: 2, sizes: [10_000, 2000, 50_000] },
];

/// Pictures by rows, from 0 to 1 before the median of every pixel was subtracted, and their classes.
pub(super) struct Part {
    pub(super) x: Vec<f32>,
    pub(super) labels: Vec<u32>,
}

impl Part {
    pub(super) fn labelled(&self) -> Labelled<'_, f32> {
        Labelled::new(&self.x, &self.labels)
    }
}

/// Training, validation and test part of a set.
pub(super) struct Parts {
    pub(super) spec: SetSpec,
    pub(super) parts: [Part; 3],
}

impl Parts {
    /// Generates the set with these numbers of pictures; `None` for digits if no pictures of them are given.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, fewer digits than requested.
    pub(super) fn new(
        spec: SetSpec,
        sizes: [usize; 3],
        options: &Options,
        run: &Run<'_>,
    ) -> Result<Option<Self>> {
        let n: usize = sizes.iter().sum();
        let (x, labels) = match spec.name {
            "basic" => match options.pictures.as_deref().filter(|path| label_file(path).is_some()) {
                Some(path) => digits(path, n, run)?,
                None => return Ok(None),
            },
            name => {
                let made = digit_variations(name, &Matrix::zeros(n, 0), &[], 0)?;
                (made.x, made.labels.iter().map(|label| *label as u32).collect())
            }
        };
        let mut next = 0;
        let mut parts = sizes.map(|size| {
            let rows = next..next + size;
            next += size;
            let x = &x.as_slice()[rows.start * PIXELS..rows.end * PIXELS];
            Part { x: x.iter().map(|v| (v / 255.0) as f32).collect(), labels: labels[rows].to_vec() }
        });
        let medians = medians(&parts[0].x);
        for part in &mut parts {
            part.x
                .chunks_exact_mut(PIXELS)
                .for_each(|row| row.iter_mut().zip(&medians).for_each(|(v, m)| *v -= m));
        }
        Ok(Some(Self { spec, parts }))
    }
}

/// The median of every pixel.
fn medians(x: &[f32]) -> Vec<f32> {
    let mut column = Vec::with_capacity(x.len() / PIXELS);
    let median = |pixel: usize| {
        column.clear();
        column.extend(x.iter().skip(pixel).step_by(PIXELS).copied());
        let middle = column.len() / 2;
        *column.select_nth_unstable_by(middle, f32::total_cmp).1
    };
    (0..PIXELS).map(median).collect()
}

/// The file of labels that belongs to a file of pictures in the format of MNIST, by its name.
fn label_file(pictures: &Path) -> Option<std::path::PathBuf> {
    let name = pictures.file_name()?.to_str()?;
    name.contains("images-idx3").then(|| pictures.with_file_name(name.replace("images-idx3", "labels-idx1")))
}

/// `n` digits in random order, and their classes, from the file of training digits and that of test digits beside it.
fn digits(train: &Path, n: usize, run: &Run<'_>) -> Result<(Matrix<f64>, Vec<u32>)> {
    let name = train.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let test = train.with_file_name(name.replace("train", "t10k"));
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    let both = [Some(train), Some(test.as_path()).filter(|path| *path != train && path.exists())];
    for path in both.into_iter().flatten() {
        let mut rows = unmix_io::open_with(path, &reading(), run)?.rows;
        rows.prepare(run)?;
        let count = rows.n_rows().unwrap_or(0);
        let own = unmix::with_rows!(&rows, rows => rows.read_range(0..count)?.iter().map(|v| v.to_f64()).collect::<Vec<f64>>());
        let its = label_file(path).map_or_else(|| Ok(Vec::new()), |path| read_labels(&path))?;
        if own.len() != its.len() * PIXELS {
            let found = format!("{count} pictures and {} labels", its.len());
            return Err(Error::format(path, found, "give 28x28 pictures and a label for each"));
        }
        values.extend(own);
        labels.extend(its);
    }
    if labels.len() < n {
        let found = format!("{} digits, and {n} are used", labels.len());
        return Err(Error::format(train, found, "give the files of MNIST, training and test"));
    }
    let made = digit_variations("basic", &Matrix::from_vec(labels.len(), PIXELS, values), &[], 0)?;
    let labels = made.rows.iter().take(n).map(|row| labels[*row]).collect();
    Ok((made.x, labels))
}

/// The labels of an idx file of bytes, plain or compressed.
fn read_labels(path: &Path) -> Result<Vec<u32>> {
    const HEAD: usize = 8;
    let bytes = unpacked(path)?;
    let count = bytes.get(4..HEAD).and_then(|c| c.try_into().ok()).map(u32::from_be_bytes);
    match (bytes.starts_with(&[0, 0, 8, 1]), count) {
        (true, Some(count)) if bytes.len() - HEAD == count as usize => {
            Ok(bytes[HEAD..].iter().map(|label| u32::from(*label)).collect())
        }
        _ => {
            Err(Error::format(path, "it is no list of labels in the idx format", "give the labels of MNIST"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_every_training_pixel_becomes_0() {
        let spec = SETS[2];
        let options = Options {
            quick: true,
            pictures: None,
            activations: None,
            tables: None,
            instances: None,
            output: "unused".into(),
        };
        let made = Parts::new(spec, [31, 10, 10], &options, &Run::default()).unwrap().unwrap();
        let [train, ..] = &made.parts;
        assert!(medians(&train.x).iter().all(|m| *m == 0.0));
        assert_eq!(made.parts.iter().map(|p| p.labels.len()).collect::<Vec<_>>(), [31, 10, 10]);
        // Digits need a file with labels.
        assert!(Parts::new(SETS[0], [3, 1, 1], &options, &Run::default()).unwrap().is_none());
    }

    #[test]
    fn labels_are_those_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("train-labels-idx1-ubyte");
        std::fs::write(&path, [0, 0, 8, 1, 0, 0, 0, 3, 7, 0, 9]).unwrap();
        assert_eq!(read_labels(&path).unwrap(), [7, 0, 9]);
        std::fs::write(&path, [0, 0, 8, 1, 0, 0, 0, 4, 7, 0, 9]).unwrap();
        assert!(read_labels(&path).unwrap_err().to_string().contains("no list of labels"));
        let pictures = Path::new("a/train-images-idx3-ubyte.gz");
        assert_eq!(label_file(pictures).unwrap(), Path::new("a/train-labels-idx1-ubyte.gz"));
        assert_eq!(label_file(Path::new("photo.png")), None);
    }
}
