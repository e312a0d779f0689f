//! Reconstructed or cleaned pictures: rows that are whole images, as a file for each.

use crate::apply::ReconstructedPart;
use crate::args::{Apply, Reading};
use crate::failure::{Done, Failure};
use crate::input;
use crate::interrupt::WritingGuard;
use crate::progress::Progress;
use crate::sound::same_file;
use crate::terminal;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use unmix::data::VecSink;
use unmix::{Error, Model, with_rows};

/// Whether the input is images.
pub(crate) fn is_picture(files: &[PathBuf], reading: &Reading) -> bool {
    files.first().is_some_and(|file| unmix_io::is_image(file, reading.input_format))
}

/// Share of clipped pixels above which pictures are refused: what is left of them is not a picture.
const CLIPPED: f64 = 0.5;
/// Pixels further outside 0 to 1 than this are no errors of a reconstruction.
const FAR: f64 = 0.1;

/// Writes the wanted part of every picture into `folder` as a `.png` file under its own name. Pixels outside the range of an image are clipped,
/// and counted; if most are, nothing is written.
pub(crate) fn reconstruct(
    model: &Model,
    files: &[PathBuf],
    args: &Apply,
    folder: &Path,
    wanted: &ReconstructedPart,
) -> Done {
    let progress = Progress::new(&args.running);
    let run = progress.run(&args.running);
    let input = input::open_for(model, files, args.reading.options()?, &run, args.running.quiet)?;
    let refusal = |found: String, remedy: &str| {
        Err(Failure::Message(format!("a folder of pictures is not possible: {found}; {remedy}")))
    };
    let array = "give the name of a file for the numbers, such as out.npy";
    let Some(shape @ ([_, _] | [_, _, 3])) = model.features().shape.as_deref() else {
        return refusal("the model was not fitted to whole pictures of one size".into(), array);
    };
    // Everything that can be refused is, before the rows are read.
    if let Some(n) = input.rows.n_rows().filter(|n| *n != files.len() as u64) {
        return refusal(format!("{} images gave {n} rows, which are patches of them", files.len()), array);
    }
    let targets = names(files, folder);
    if let Some(path) = targets.iter().find(|path| files.iter().any(|file| same_file(file, path))) {
        let found = format!("{} is read by the same command", path.display());
        return refusal(found, "choose another folder");
    }
    let numbers: Vec<f64> = with_rows!(&input.rows, rows => {
        let mut sink = VecSink(Vec::new());
        let encoded = wanted.put(model, rows, &run, &mut sink)?;
        crate::apply::warn_unsolved(&encoded);
        sink.0.iter().map(|x| unmix::Real::to_f64(*x)).collect()
    });
    let n = numbers.len() / model.n_features().max(1);
    let (share, far) = (share_outside(&numbers, 0.0), share_outside(&numbers, FAR));
    if far > CLIPPED {
        let found = format!(
            "{:.0} % of the pixels are far outside 0 to 1; pictures are read as 0 to 1, and the model may be of numbers in other units, such as \
             an array of bytes, or have no mean",
            100.0 * far
        );
        return refusal(
            found,
            "fit the model to pictures or to an array from 0 to 1; or write the numbers to a file, such as out.npy",
        );
    }
    std::fs::create_dir_all(folder).map_err(|e| Error::io("cannot write", folder, e))?;
    progress.clear();
    let _guard = WritingGuard::new();
    for (pixels, path) in numbers.chunks_exact(model.n_features()).zip(&targets) {
        unmix_io::write_png(path, pixels, shape)?;
    }
    let pictures = if n == 1 { "picture" } else { "pictures" };
    terminal::note(&format!(
        "{n} {pictures} in {}; {:.2} % of their pixels were outside 0 to 1 and are clipped",
        folder.display(),
        100.0 * share
    ));
    Ok(0)
}

/// Share of the numbers that are further outside 0 to 1 than this.
fn share_outside(numbers: &[f64], by: f64) -> f64 {
    let outside = numbers.iter().filter(|x| !(-by..=1.0 + by).contains(*x)).count();
    outside as f64 / numbers.len().max(1) as f64
}

/// A file for each picture, named as its own; a number is added to a name that another picture has.
fn names(files: &[PathBuf], folder: &Path) -> Vec<PathBuf> {
    let mut taken = HashSet::new();
    let mut name = |file: &PathBuf| {
        let stem =
            file.file_stem().map_or_else(|| "picture".into(), |stem| stem.to_string_lossy().into_owned());
        let each = std::iter::once(stem.clone()).chain((2..).map(|i| format!("{stem}-{i}")));
        let free = each.into_iter().find(|name| taken.insert(name.clone()));
        folder.join(format!("{}.png", free.unwrap_or(stem)))
    };
    files.iter().map(&mut name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pictures_of_one_name_have_two_files() {
        let files = ["a/x.png", "b/x.jpg", "b/y.bmp"].map(PathBuf::from);
        let wanted = ["out/x.png", "out/x-2.png", "out/y.png"].map(PathBuf::from);
        assert_eq!(names(&files, Path::new("out")), wanted);
    }
}
