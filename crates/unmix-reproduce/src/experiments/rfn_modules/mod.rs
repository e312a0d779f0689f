//! Small rare modules that rectified factor networks find: planted ones, and those of gene expression.

mod compare;
mod figures;
mod fits;
mod genes;
mod planted;
mod summaries;

use crate::Experiment;
use crate::lab::Lab;
use unmix::Result;

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "rfn-modules",
    source: "Clevert, Mayr, Unterthiner & Hochreiter 2015, Fig. 3",
    summary: "small rare modules on a correlated background: how many are found by rectified factor networks from one and from several starts, by PCA and by ICA",
    run,
};

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let tables = genes::tables(lab)?;
    planted::planted(lab)?;
    genes::genes(lab, &tables)
}
