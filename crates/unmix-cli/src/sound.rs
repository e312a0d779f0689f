//! Sources of sound as sound: a file for each.

use crate::args::Apply;
use crate::failure::{Done, Failure};
use crate::input;
use crate::interrupt::WritingGuard;
use crate::progress::Progress;
use crate::terminal;
use std::path::{Path, PathBuf};
use unmix::data::VecSink;
use unmix::{Error, Model, with_rows};

/// The largest sample that is written: as loud as can be without the risk of clipping in a player.
const PEAK: f64 = 0.9;

/// The folder that was typed, if what was typed is one; a format that was typed is that of a file.
pub(crate) fn folder(args: &Apply) -> Option<PathBuf> {
    let path = args.writing.output.as_deref()?;
    let typed = path.to_string_lossy().ends_with(std::path::is_separator);
    ((typed || path.is_dir()) && args.writing.format.is_none()).then(|| path.into())
}

/// Writes the codes of each component over time as `ica0.wav`, `ica1.wav`, ... into `folder`, each as loud as the others.
pub(crate) fn encode(model: &Model, files: &[PathBuf], args: &Apply, folder: &Path) -> Done {
    let no_sound = |found: String| {
        let message = format!(
            "a folder of sound files is not possible: {found}; give .wav files, or the name of a file for the codes, such as \
             codes.npy"
        );
        Err(Failure::Said(message))
    };
    let mut rate = None;
    for file in files {
        match unmix_io::sample_rate(file)? {
            Some(own) => rate = Some(own),
            None => return no_sound(format!("{} is not a .wav file", file.display())),
        }
    }
    let Some(rate) = rate else { return no_sound("nothing was read".into()) };
    let progress = Progress::new(&args.running);
    let run = progress.run(&args.running);
    let input = input::open_for(model, files, args.reading.options()?, &run, args.running.quiet)?;
    let k = model.n_codes();
    let codes: Vec<f64> = with_rows!(&input.rows, rows => {
        let mut sink = VecSink(Vec::new());
        crate::apply::warn_unsolved(&model.encode(rows, &run, &mut sink)?);
        sink.0.iter().map(|x| unmix::Real::to_f64(*x)).collect()
    });
    std::fs::create_dir_all(folder).map_err(|e| Error::io("cannot write", folder, e))?;
    progress.clear();
    let _guard = WritingGuard::new();
    for (i, name) in model.component_names().iter().enumerate() {
        let mut source: Vec<f64> = codes.iter().skip(i).step_by(k).copied().collect();
        let loudest = source.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        if loudest > 0.0 {
            source.iter_mut().for_each(|x| *x *= PEAK / loudest);
        }
        unmix_io::write_wav(&folder.join(format!("{name}.wav")), rate, &source)?;
    }
    let what = if k == 1 { "file" } else { "files" };
    terminal::note(&format!("{k} {what} of {rate} samples per second in {}", folder.display()));
    Ok(0)
}
