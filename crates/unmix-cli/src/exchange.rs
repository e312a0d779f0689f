//! `unmix export` and `unmix import`: models in file formats of other programs.

use crate::args::{Export, Import};
use crate::failure::Done;
use crate::fit::{destination, save};
use crate::terminal;
use unmix::method::sae::saelens;
use unmix::{Model, Run};

/// Writes a folder of SAELens, the only format supported.
pub(crate) fn export(args: &Export) -> Done {
    let model = Model::load(&args.model)?;
    let dtype = args.dtype.as_deref().and_then(saelens::Precision::named);
    saelens::export(&model, &args.output, saelens::Export { dtype, force: args.force })?;
    terminal::text(&format!("The files are in {}.\n", args.output.display()))?;
    Ok(0)
}

/// Imports a folder of SAELens, saves the model, and prints its summary. The model records `invocation`.
pub(crate) fn import(args: &Import, invocation: Option<&str>) -> Done {
    let place = destination(&args.output, &[&args.folder], args.force)?;
    let model = saelens::import(&args.folder, &Run { invocation, ..Run::default() })?;
    save(&model, &place)?;
    let summary = terminal::summary(&model);
    terminal::text(&format!("{summary}\nThe model is {}.\n", args.output.display()))?;
    Ok(0)
}
