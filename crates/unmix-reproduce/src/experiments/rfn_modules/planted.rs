//! Planted modules: which of them are found, by method, bound on the noise, number of units and starts.

use super::compare::{differences, judged, tables};
use super::figures;
use super::fits::{Fitted, Job, ModuleRecovery, found};
use crate::lab::{Lab, side_by_side};
use unmix::{Event, Result, Run};

/// Planted modules of a data set.
pub(super) const PLANTED: f64 = 5.0;
const INSTANCES: u64 = 10;

/// Sizes of the experiment.
pub(super) struct Plan {
    pub(super) instances: u64,
    pub(super) shifts: &'static [f64],
    pub(super) units: &'static [usize],
    pub(super) floors: &'static [f64],
    starts: usize,
    permutations: usize,
}

/// The setting that is judged.
pub(super) const JUDGED_UNITS: usize = 50;
pub(super) const JUDGED_FLOOR: f64 = 0.3;

impl Plan {
    fn of(lab: &Lab<'_>) -> Self {
        let quick = lab.options.quick;
        let instances = lab.options.instances.unwrap_or(if quick { 2 } else { INSTANCES }).max(1);
        match quick {
            true => Self {
                instances,
                shifts: &[5.0, 4.0],
                units: &[JUDGED_UNITS],
                floors: &[JUDGED_FLOOR],
                starts: 3,
                permutations: 4,
            },
            false => Self {
                instances,
                shifts: &[5.0, 4.0, 3.0],
                units: &[JUDGED_UNITS, 100],
                floors: &[0.01, JUDGED_FLOOR, 0.5],
                starts: 6,
                permutations: 4,
            },
        }
    }

    fn fitted(&self) -> Vec<Fitted> {
        let rfn = |floor: &f64| ["rms", "none"].map(|normalize| Fitted::Rfn { floor: *floor, normalize });
        [Fitted::Pca, Fitted::Ica].into_iter().chain(self.floors.iter().flat_map(rfn)).collect()
    }

    /// Those of the judged setting, which take longest, first.
    fn jobs(&self) -> Vec<Job> {
        let mut out = Vec::new();
        for &units in self.units {
            for fitted in self.fitted() {
                let judged =
                    units == JUDGED_UNITS && fitted == Fitted::Rfn { floor: JUDGED_FLOOR, normalize: "rms" };
                let permutations = if judged { self.permutations } else { 0 };
                for &shift in self.shifts {
                    out.extend((0..self.instances).map(|instance| Job {
                        shift,
                        units,
                        fitted,
                        instance,
                        starts: self.starts,
                        permutations,
                    }));
                }
            }
        }
        out.sort_by_key(|job| std::cmp::Reverse(job.permutations));
        out
    }
}

/// All results of one line of a table.
pub(super) type Done = (Job, Vec<ModuleRecovery>);

pub(super) fn planted(lab: &mut Lab<'_>) -> Result<()> {
    let plan = Plan::of(lab);
    let jobs = plan.jobs();
    estimate(lab, &jobs)?;
    let results = side_by_side(lab.run, jobs.len(), |at, run| found(jobs[at], run))?;
    let done: Vec<Done> = jobs.into_iter().zip(results).collect();
    notes(lab, &plan)?;
    judged(lab, &plan, &done)?;
    tables(lab, &plan, &done)?;
    differences(lab, &plan, &done)?;
    figures::planted(lab, &plan, &done)
}

/// Announces how long the fits will take, by the time of one of them: a job is counted as its number of fits, with 100 units as twice as long.
fn estimate(lab: &Lab<'_>, jobs: &[Job]) -> Result<()> {
    let fits = |job: &Job| match job.fitted {
        Fitted::Rfn { .. } => (job.units / JUDGED_UNITS * (job.starts + 2) * (1 + job.permutations)) as f64,
        _ => 0.5,
    };
    let one =
        Job { shift: 5.0, units: JUDGED_UNITS, fitted: Fitted::Pca, instance: 0, starts: 1, permutations: 0 };
    let rfn = Job { fitted: Fitted::Rfn { floor: JUDGED_FLOOR, normalize: "rms" }, ..one };
    let began = std::time::Instant::now();
    found(rfn, &Run { threads: 1, observer: lab.run.observer, ..Run::default() })?;
    let total = began.elapsed().as_secs_f64() / fits(&rfn) * jobs.iter().map(fits).sum::<f64>();
    let minutes = (total / lab.run.threads.max(1) as f64 / 60.0).ceil();
    lab.run
        .observer
        .event(Event::Stage(&format!("{} data sets and methods, about {minutes:.0} minutes", jobs.len())));
    Ok(())
}

fn notes(lab: &mut Lab<'_>, plan: &Plan) -> Result<()> {
    let Plan { instances, starts, permutations, .. } = plan;
    lab.note(format!(
        "Planted modules: 300 rows of 800 columns, normal noise on a background of 8 normal factors, and five modules of 8 rows and 12 columns, \
         whose cells are lower by 3 to 5 standard deviations of the noise (the shift, times a uniform number from 0.7 to 1.3); every column is \
         standardised. {instances} data sets of each shift, generated from seeds. The publication has no such table: its Fig. 3 shows modules of a \
         private screen. Beside our numbers are those of a reference measurement on five other data sets, 25 modules."
    ))?;
    lab.note(format!(
        "A module is found where, on average, 70 % of its rows and of its columns are among as many rows of largest code and columns of largest \
         loading of one unit. RFN has normalised codes, RFNn does not; 200 iterations, {starts} random starts and one from independent \
         components, ranked and grouped together by evidence as `unmix.biclusters` does (all starts pooled; random starts pooled: without the last one). Components of PCA and ICA are two units each, one \
         for each sign. First ten: found among the first ten of the ranking. Consensus: of the first five with the planted five."
    ))?;
    lab.note(format!(
        "Declared: modules with q of at most 0.1 by {permutations} copies with permuted columns; false: those that overlap with no planted module by \
         40 %. It is computed for RFN with 50 units and a bound of 0.3 on the noise variance (of the column's variance), the setting of the \
         conditions. The permuted columns have no background, so that q is too small where modules are nearly as weak as it."
    ))
}
