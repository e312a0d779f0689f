//! Sound output: sources, or cleaned channels, with a file for each.

use crate::apply::ReconstructedPart;
use crate::args::Apply;
use crate::failure::{Done, Failure};
use crate::input;
use crate::interrupt::WritingGuard;
use crate::output::is_same_place;
use crate::progress::Progress;
use crate::terminal;
use std::path::{Path, PathBuf};
use unmix::data::VecSink;
use unmix::internal::error::counted;
use unmix::{Error, Model, with_rows};

/// The largest amplitude written, below full scale so that players do not clip.
const PEAK_AMPLITUDE: f64 = 0.9;

/// The output folder of sounds or pictures, if the output is one; a format given explicitly is that of a file. Columns of `--keep` have no
/// place in such files, and are refused.
pub(crate) fn folder(args: &Apply) -> Result<Option<PathBuf>, Failure> {
    let Some(path) = args.writing.output.as_deref() else { return Ok(None) };
    let names_a_folder = path.to_string_lossy().ends_with(std::path::is_separator);
    if !(names_a_folder || path.is_dir()) || args.writing.format.is_some() {
        return Ok(None);
    }
    refuse_kept(args)?;
    Ok(Some(path.into()))
}

/// Refuses columns of `--keep`, for which sound and picture files have no place.
pub(crate) fn refuse_kept(args: &Apply) -> Result<(), Failure> {
    args.reading.keep.as_ref().map_or(Ok(()), |kept| {
        Err(Failure::Usage(format!(
            "sound and picture files cannot hold the columns of --keep ({kept}); leave --keep out, or give -o the name of a .csv or .tsv file"
        )))
    })
}

/// Writes the codes of each component over time as `ica0.wav`, `ica1.wav`, ... into `folder`, each normalised to the same
/// amplitude.
pub(crate) fn encode(model: &Model, files: &[PathBuf], args: &Apply, folder: &Path) -> Done {
    write(model, files, args, folder, &SoundOutput::Sources)
}

/// Writes the wanted part of the channels into `folder` under their own names. Their amplitudes are kept;
/// if one would be clipped, all are scaled by a common factor.
pub(crate) fn reconstruct(
    model: &Model,
    files: &[PathBuf],
    args: &Apply,
    folder: &Path,
    wanted: ReconstructedPart,
) -> Done {
    write(model, files, args, folder, &SoundOutput::Channels(wanted))
}

/// The kind of output.
enum SoundOutput {
    Sources,
    /// This part of the channels.
    Channels(ReconstructedPart),
}

impl SoundOutput {
    /// Names of the output numbers of a row.
    fn names(&self, model: &Model) -> Vec<String> {
        match self {
            SoundOutput::Sources => model.component_names(),
            SoundOutput::Channels(_) => match &model.features().names {
                Some(names) => names.iter().map(|name| name.replace(std::path::is_separator, "_")).collect(),
                None => (0..model.n_features()).map(|j| format!("channel{j}")).collect(),
            },
        }
    }

    /// Factors of the samples: each source is normalised, channels keep their relative amplitudes.
    fn gains(&self, columns: &[Vec<f64>]) -> Vec<f64> {
        let loudest = |column: &Vec<f64>| column.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let peaks: Vec<f64> = columns.iter().map(loudest).collect();
        match self {
            SoundOutput::Sources => {
                peaks.iter().map(|peak| if *peak > 0.0 { PEAK_AMPLITUDE / peak } else { 1.0 }).collect()
            }
            SoundOutput::Channels(_) => {
                let peak = peaks.iter().copied().fold(0.0, f64::max);
                vec![if peak > 1.0 { PEAK_AMPLITUDE / peak } else { 1.0 }; peaks.len()]
            }
        }
    }
}

fn write(model: &Model, files: &[PathBuf], args: &Apply, folder: &Path, made: &SoundOutput) -> Done {
    let rate = common_rate(files)?;
    let names = made.names(model);
    for name in &names {
        let path = folder.join(format!("{name}.wav"));
        if files.iter().any(|file| is_same_place(file, &path)) {
            let message = format!(
                "writing to {} is not possible: it is read by the same command; choose another folder",
                path.display()
            );
            return Err(Failure::Message(message));
        }
    }
    let progress = Progress::new(&args.running);
    let run = progress.run(&args.running);
    let input = input::open_for(model, files, args.reading.options()?, &run, args.running.quiet)?;
    let numbers: Vec<f64> = with_rows!(&input.rows, rows => {
        let mut sink = VecSink(Vec::new());
        let encoded = match made {
            SoundOutput::Sources => model.encode(rows, &run, &mut sink)?,
            SoundOutput::Channels(wanted) => wanted.put(model, rows, &run, &mut sink)?,
        };
        crate::apply::warn_unsolved(&encoded);
        sink.0.iter().map(|x| unmix::Real::to_f64(*x)).collect()
    });
    let k = names.len();
    let columns: Vec<Vec<f64>> =
        (0..k).map(|i| numbers.iter().skip(i).step_by(k).copied().collect()).collect();
    std::fs::create_dir_all(folder).map_err(|e| Error::io("cannot write", folder, e))?;
    progress.clear();
    let _guard = WritingGuard::new();
    for ((name, column), gain) in names.iter().zip(&columns).zip(made.gains(&columns)) {
        let samples: Vec<f64> = column.iter().map(|x| x * gain).collect();
        unmix_io::write_wav(&folder.join(format!("{name}.wav")), rate, &samples)?;
    }
    let (files, samples) = (counted(k as u64, "file"), counted(rate.into(), "sample"));
    terminal::note(&format!("{files} of {samples} per second in {}", folder.display()));
    Ok(0)
}

/// The common sampling rate of the files, which must be sound files.
fn common_rate(files: &[PathBuf]) -> Result<u32, Failure> {
    let no_sound = |found: String| {
        Failure::Message(format!(
            "a folder of sound files is not possible: {found}; give .wav files, or the name of a file for the numbers, such as \
             out.npy"
        ))
    };
    let mut rate = None;
    for file in files {
        if input::is_read_once(file) {
            return Err(no_sound(format!("{} can be read only once", file.display())));
        }
        match unmix_io::sample_rate(file)? {
            Some(own) => rate = Some(own),
            None => return Err(no_sound(format!("{} is not a .wav file", file.display()))),
        }
    }
    rate.ok_or_else(|| no_sound("nothing was read".into()))
}
