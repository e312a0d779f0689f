//! Rectified factor networks and ten other methods on rows with planted biclusters.

mod compare;
mod e_steps;
mod fits;
mod methods;
mod published;
mod tables;

use crate::Experiment;
use crate::lab::{Lab, side_by_side};
use fits::{Outcome, fit};
use methods::{E_STEPS, METHODS, Rule};
use unmix::datasets::BICLUSTERS;
use unmix::{Error, Event, Result, Run};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "rfn-tables",
    source: "Clevert, Mayr, Unterthiner & Hochreiter 2015, Tables 1 and S5 to S10",
    summary: "rows with planted biclusters: sparseness, error and covariance of rectified factor networks and other methods",
    run,
};

/// Published numbers of units.
const UNITS: [usize; 3] = [50, 100, 150];
const INSTANCES: u64 = 4;
/// Number of instances of the publication, from which on every fit has the published number of iterations.
const PUBLISHED_INSTANCES: u64 = 100;

/// One column of a table: a set, a number of units, and a data set by its number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TableColumn {
    set: u64,
    units: usize,
    data: usize,
}

impl TableColumn {
    fn name(self) -> &'static str {
        BICLUSTERS[self.data].0
    }
}

/// The fitted method: one of the tables, or RFN with an E-step.
#[derive(Clone, Copy)]
enum FittedMethod {
    Method(usize),
    EStep(usize),
}

/// One fit.
#[derive(Clone, Copy)]
struct Job {
    what: FittedMethod,
    place: TableColumn,
    instance: u64,
}

/// Sizes of the experiment.
struct Plan {
    instances: u64,
    places: Vec<TableColumn>,
    data: Vec<usize>,
}

impl Plan {
    fn of(lab: &Lab<'_>) -> Result<Self> {
        let quick = lab.options.quick;
        let instances = lab.options.instances.unwrap_or(if quick { 1 } else { INSTANCES });
        if instances == 0 {
            return Err(Error::setting("instances", 0, "must be at least 1", "leave it out: 4 instances"));
        }
        let data: Vec<usize> = if quick { vec![0, 2, 6] } else { (0..BICLUSTERS.len()).collect() };
        let units = if quick { &UNITS[..1] } else { &UNITS[..] };
        let sets = if quick { &[1][..] } else { &[1, 2] };
        let places = sets
            .iter()
            .flat_map(|&set| units.iter().map(move |&units| (set, units)))
            .flat_map(|(set, units)| data.iter().map(move |&data| TableColumn { set, units, data }))
            .collect();
        Ok(Self { instances, places, data })
    }

    fn jobs(&self) -> Vec<Job> {
        let mut out = Vec::new();
        for &place in &self.places {
            for (at, method) in METHODS.iter().enumerate() {
                let count =
                    if method.costly && self.instances < PUBLISHED_INSTANCES { 1 } else { self.instances };
                out.extend((0..count).map(|instance| Job {
                    what: FittedMethod::Method(at),
                    place,
                    instance,
                }));
            }
            for e_step in 0..E_STEPS.len() {
                out.extend((0..self.instances).map(|instance| Job {
                    what: FittedMethod::EStep(e_step),
                    place,
                    instance,
                }));
            }
        }
        out
    }
}

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let plan = Plan::of(lab)?;
    let jobs = plan.jobs();
    let full = plan.instances >= PUBLISHED_INSTANCES;
    estimate(lab, &jobs)?;
    let found = side_by_side(lab.run, jobs.len(), |at, run| fit(jobs[at], full, run))?;
    notes(lab, &plan)?;
    let done: Vec<(Job, Outcome)> = jobs.into_iter().zip(found).collect();
    let published = published::cells()?;
    tables::tables(lab, &plan, &done, &published)?;
    e_steps::e_steps(lab, &plan, &done)
}

/// Announces how long the fits will take, by the time of one of them: others are assumed to take 4 times as long on average, which was not measured.
fn estimate(lab: &Lab<'_>, jobs: &[Job]) -> Result<()> {
    const RELATIVE: f64 = 4.0;
    let Some(first) = jobs.first() else { return Ok(()) };
    let began = std::time::Instant::now();
    fit(*first, false, &Run { threads: 1, ..Run::default() })?.ok();
    let total = began.elapsed().as_secs_f64() * RELATIVE * jobs.len() as f64 / lab.run.threads.max(1) as f64;
    let stage = format!("{} fits, about {:.0} minutes", jobs.len(), (total / 60.0).ceil());
    lab.run.observer.event(Event::Stage(&stage));
    Ok(())
}

fn notes(lab: &mut Lab<'_>, plan: &Plan) -> Result<()> {
    let n = plan.instances;
    lab.note(format!(
        "Data: 100 rows and 100 columns, a sum of 20 biclusters and normal noise (D1 to D9: standard deviation and sizes differ; set I and \
         II: entries outside biclusters of standard deviation 0.01 and 0.5), {n} of the published 100 instances, generated from seeds."
    ))?;
    lab.note(
        "A cell has SP, the percentage of codes that are 0 (below 0.01 for methods other than RFN), ER, the Frobenius norm of the residual, \
         and CO, that of the second moments of the data minus those of the model (with the second moments of the codes for RFN, with W W' for factor \
         models, so that these two are not comparable with each other). Means and standard deviations over instances; published ones in \
         parentheses, where 999 is a cap. One published cell (RFNn, set II, 150 units, D4) looks like an error, since its ER decreases while its CO \
         increases: it is not judged, and not part of the average.",
    )?;
    lab.note(
        "A criterion of RFN and RFNn holds within a + 3 max(s, 0.5) / sqrt(instances) + r v of the published v with standard deviation s: a = 1 for \
         SP, 0.5 and r = 4 % for ER, 1 and 8 % for CO. Averages over all data sets hold, with 8 or more instances, within 1 for SP (1.5 for RFNn \
         in set II), 4 % for ER (RFN with 100 units 8 %, with 150 units 3.5) and 8 %, 20 % and 3.5 for CO with 50, 100 and 150 units, three standard errors; \
         with fewer, n, within sqrt(8 / n) times that. ER of PCA, and of ICA with 50 units, holds within 1.2 or 1 %, whichever is more, SP of PCA within 0.5; \
         ER of FA within 3 %, and its CO with 50 units within 10 %.",
    )?;
    lab.note(
        "PCA, ICA and FA: averages are conditions, cells are counted. The mean of few instances differs by chance from the published one by as much as \
         these bounds (with noise of standard deviation 10, ER of 324 has a standard deviation of 4), and published cells are rounded to whole numbers, 5 or 6 \
         for ER of FA. ER of ICA must be that of PCA on the same instances.",
    )?;
    for method in METHODS {
        if let (Rule::Not(why), Rule::Not(_)) = ((method.rule)(50, 0), (method.rule)(50, 1)) {
            lab.note(format!("{} is not comparable: {why}.", method.name))?;
        }
    }
    if n < PUBLISHED_INSTANCES {
        lab.note("FAsp and FAlap: one instance and 200 of the published 500 iterations.")?;
    }
    Ok(())
}

fn roman(set: u64) -> &'static str {
    if set == 1 { "I" } else { "II" }
}
