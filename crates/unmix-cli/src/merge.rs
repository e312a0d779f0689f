//! `unmix merge`: merges models of parts of the data.

use crate::args::Merge;
use crate::failure::{Done, Failure};
use crate::fit::{destination, ended, save};
use crate::output::Destination;
use crate::progress::Progress;
use crate::terminal;
use std::path::PathBuf;
use unmix::{Error, Model, Run};

/// Merges from the left, saves, and prints a summary. The model records `invocation`.
pub(crate) fn merge(args: &Merge, invocation: Option<&str>) -> Done {
    let to = args.output.clone().unwrap_or_else(|| PathBuf::from("merged.safetensors"));
    let place: Destination =
        destination(&to, &args.models.iter().map(PathBuf::as_path).collect::<Vec<_>>(), args.force)?;
    let progress = Progress::new(&args.running);
    let run = Run { invocation, ..progress.run(&args.running) };
    let mut models = Vec::new();
    for path in &args.models {
        let model = Model::load(path)?;
        // Another fit would not help.
        model.check_merge()?;
        if model.sums().is_none() {
            return Err(Failure::from(Error::format(
                path,
                "it holds no sums over its rows",
                "fit it again with 'unmix fit --sums'",
            )));
        }
        models.push(model);
    }
    let mut models = models.into_iter();
    let Some(mut merged) = models.next() else { return Ok(0) };
    for model in models {
        let other = model.report().run.pictures.and_then(|row| merged.other_pictures(row));
        other.iter().for_each(|said| terminal::warning(said));
        merged = merged.merge(&model, &run)?;
    }
    progress.clear();
    save(&merged, &place)?;
    let code = ended(&merged, 0, false);
    terminal::text(&format!("{}\nThe model is {}.\n", terminal::summary(&merged), to.display()))?;
    Ok(code)
}
