//! Reconstructed or cleaned pictures: a file for each, of rows that are whole images or patches of them.

use crate::apply::ReconstructedPart;
use crate::args::{Apply, Reading};
use crate::failure::{Done, Failure};
use crate::interrupt::WritingGuard;
use crate::output::{self, Destination};
use crate::progress::Progress;
use crate::{input, sound, terminal};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use unmix::data::VecSink;
use unmix::internal::error::counted;
use unmix::{Error, Model, Run, with_rows};
use unmix_io::{CutImages, Input, Picture};

/// Whether the input is images.
pub(crate) fn is_picture(files: &[PathBuf], reading: &Reading) -> bool {
    files.first().is_some_and(|file| unmix_io::is_image(file, reading.input_format))
}

/// Whether `-o` names a picture. A format given explicitly is that of the file, whatever its name is.
pub(crate) fn is_named(args: &Apply) -> bool {
    let ending = args.writing.output.as_deref().and_then(Path::extension).map(|e| e.to_ascii_lowercase());
    ending.is_some_and(|ending| ending == "png") && args.writing.format.is_none()
}

/// The file for each picture: that of `-o`, or one in `folder` under the name of the picture that is read.
pub(crate) fn targets(
    files: &[PathBuf],
    args: &Apply,
    folder: Option<&Path>,
) -> Result<Vec<PathBuf>, Failure> {
    let targets = match (folder, args.writing.output.as_deref()) {
        (Some(folder), _) => names(files, folder),
        (None, Some(one)) if files.len() == 1 => vec![one.to_path_buf()],
        (None, one) => {
            let one = one.unwrap_or(Path::new("out.png"));
            let folder = terminal::path_argument(&one.with_extension(""));
            return Err(Failure::Usage(format!(
                "{} pictures cannot be written to the single file {}; give a folder, as in -o {}/",
                files.len(),
                one.display(),
                folder
            )));
        }
    };
    sound::refuse_kept(args)?;
    let never = args.files_read(files);
    let in_place = |path: &PathBuf| match output::place(path, &never)? {
        Destination::File(path) | Destination::Device(path) => Ok(path),
        Destination::StandardOutput => Ok(path.clone()),
    };
    targets.iter().map(in_place).collect()
}

/// Share of clipped pixels above which pictures are refused: what is left of them is not a picture.
const MOST_CLIPPED_SHARE: f64 = 0.5;
/// Pixels further outside 0 to 1 than this are not reconstruction errors.
const LARGEST_OVERSHOOT: f64 = 0.1;
/// What else would work where there are no pictures to write.
const ARRAY: &str = "give the name of a file for the numbers, such as out.npy";

fn refusal(found: impl Into<String>, remedy: &str) -> Failure {
    Failure::Message(format!("writing pictures is not possible: {}; {remedy}", found.into()))
}

/// Writes the wanted part of every picture to `targets`, one for each of `files`; patches are reassembled. Pixels outside the range of
/// an image are clipped, and counted; if most are, nothing is written.
pub(crate) fn reconstruct(
    model: &Model,
    files: &[PathBuf],
    args: &Apply,
    targets: &[PathBuf],
    wanted: &ReconstructedPart,
) -> Done {
    let progress = Progress::new(&args.running);
    let run = progress.run(&args.running);
    let options = args.reading.options()?;
    let input = input::open_for(model, files, options.clone(), &run, args.running.quiet)?;
    let cut = input.cut_images(&options)?;
    let pictures = match cut {
        Some(cut) => of_patches(model, &input, cut, wanted, &run)?,
        None => of_rows(model, &input, files.len(), wanted, &run)?,
    };
    let share = clipped(&pictures)?;
    if let Some(folder) = args.writing.output.as_deref().filter(|_| !is_named(args)) {
        std::fs::create_dir_all(folder).map_err(|e| Error::io("cannot write", folder, e))?;
    }
    progress.clear();
    let _guard = WritingGuard::new();
    for (picture, path) in pictures.iter().zip(targets) {
        unmix_io::write_png(path, &picture.pixels, &picture.shape)?;
    }
    let whose = if pictures.len() == 1 { "its" } else { "their" };
    terminal::note(&format!(
        "{}; {} of {whose} pixels were outside 0 to 1 and are clipped",
        written(targets, args),
        share_clipped(share)
    ));
    if let Some(note) = cut.and_then(|cut| cut.note_on_uncovered(&pictures)) {
        terminal::warning(&note);
    }
    Ok(0)
}

/// A share of pixels in percent: one that would be rounded to 0.00 is not 0.
fn share_clipped(share: f64) -> String {
    if share > 0.0 && share < 1e-4 { "less than 0.01 %".into() } else { format!("{:.2} %", 100.0 * share) }
}

/// Pictures reassembled from the wanted part of each patch.
fn of_patches(
    model: &Model,
    input: &Input,
    cut: &CutImages,
    wanted: &ReconstructedPart,
    run: &Run<'_>,
) -> Result<Vec<Picture>, Failure> {
    // Refused before the rows are read.
    let mut assembly = cut.assembly()?;
    let encoded = with_rows!(&input.rows, rows => wanted.put(model, rows, run, &mut assembly)?);
    crate::apply::warn_unsolved(&encoded);
    Ok(assembly.finish()?)
}

/// Pictures that are the wanted part of a row each, of which there are `n`.
fn of_rows(
    model: &Model,
    input: &Input,
    n: usize,
    wanted: &ReconstructedPart,
    run: &Run<'_>,
) -> Result<Vec<Picture>, Failure> {
    let Some(shape @ ([_, _] | [_, _, 3])) = model.features().shape.as_deref() else {
        return Err(refusal("the model was not fitted to whole pictures of one size", ARRAY));
    };
    // Everything that can be refused is, before the rows are read.
    if let Some(found) = input.rows.n_rows().filter(|found| *found != n as u64) {
        let found = format!("{} gave {}", counted(n as u64, "image"), counted(found, "row"));
        return Err(refusal(found, ARRAY));
    }
    let numbers: Vec<f64> = with_rows!(&input.rows, rows => {
        let mut sink = VecSink(Vec::new());
        let encoded = wanted.put(model, rows, run, &mut sink)?;
        crate::apply::warn_unsolved(&encoded);
        sink.0.iter().map(|x| unmix::Real::to_f64(*x)).collect()
    });
    Ok(numbers.chunks_exact(model.n_features()).map(|pixels| Picture::new(pixels.into(), shape)).collect())
}

/// The share of pixels that are outside 0 to 1; an error where most of them are far outside.
fn clipped(pictures: &[Picture]) -> Result<f64, Failure> {
    let far = share_outside(pictures, LARGEST_OVERSHOOT);
    if far > MOST_CLIPPED_SHARE {
        let found = format!(
            "{:.0} % of the pixels are far outside 0 to 1; pictures are read as 0 to 1, and the model may be of numbers in other units, such as \
             an array of bytes, or have no mean",
            100.0 * far
        );
        return Err(refusal(
            found,
            "fit the model to pictures or to an array from 0 to 1; or write the numbers to a file, such as out.npy",
        ));
    }
    Ok(share_outside(pictures, 0.0))
}

/// What was written, in words.
fn written(targets: &[PathBuf], args: &Apply) -> String {
    let place = args.writing.output.as_deref().unwrap_or(Path::new("-")).display();
    match targets {
        [_] if is_named(args) => format!("1 picture, {place}"),
        [_] => format!("1 picture in {place}"),
        _ => format!("{} pictures in {place}", targets.len()),
    }
}

/// Share of the numbers that are further outside 0 to 1 than this.
fn share_outside(pictures: &[Picture], by: f64) -> f64 {
    let numbers = || pictures.iter().flat_map(|picture| &picture.pixels);
    let outside = numbers().filter(|x| !(-by..=1.0 + by).contains(*x)).count();
    outside as f64 / numbers().count().max(1) as f64
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
    fn a_small_share_is_not_rounded_to_0() {
        let cases = [(0.0, "0.00 %"), (1e-6, "less than 0.01 %"), (1e-4, "0.01 %"), (0.25, "25.00 %")];
        cases.iter().for_each(|(share, text)| assert_eq!(share_clipped(*share), *text));
    }

    #[test]
    fn two_pictures_of_one_name_have_two_files() {
        let files = ["a/x.png", "b/x.jpg", "b/y.bmp"].map(PathBuf::from);
        let wanted = ["out/x.png", "out/x-2.png", "out/y.png"].map(PathBuf::from);
        assert_eq!(names(&files, Path::new("out")), wanted);
    }
}
