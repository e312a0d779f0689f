//! Rectified factor networks and ten other methods on rows with planted biclusters.

mod methods;
mod published;

use crate::Experiment;
use crate::lab::{Lab, side_by_side};
use crate::output::{Grid, GridCell, shown};
use methods::{Covariance, E_STEPS, METHODS, Method, Rule, with_e_step};
use published::{CRITERIA, Cell};
use serde_json::Value;
use unmix::datasets::{BICLUSTERS, biclusters};
use unmix::num::factor;
use unmix::{AnyRows, Error, Event, Matrix, Model, Result, Rows, Run};

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
const ALL: u64 = 100;

/// One column of a table: a set, a number of units, and a data set by its number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    set: u64,
    units: usize,
    data: usize,
}

impl Place {
    fn name(self) -> &'static str {
        BICLUSTERS[self.data].0
    }
}

/// What is fitted: a method of the tables, or RFN with an E-step.
#[derive(Clone, Copy)]
enum What {
    Method(usize),
    EStep(usize),
}

/// One fit.
#[derive(Clone, Copy)]
struct Job {
    what: What,
    place: Place,
    instance: u64,
}

/// SP, ER, CO and the objective of one fit.
type Values = [Option<f64>; 4];

/// One fit's values, or why there are none.
type Outcome = std::result::Result<Values, String>;

/// What is run.
struct Plan {
    instances: u64,
    places: Vec<Place>,
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
            .flat_map(|(set, units)| data.iter().map(move |&data| Place { set, units, data }))
            .collect();
        Ok(Self { instances, places, data })
    }

    fn jobs(&self) -> Vec<Job> {
        let mut out = Vec::new();
        for &place in &self.places {
            for (at, method) in METHODS.iter().enumerate() {
                let count = if method.costly && self.instances < ALL { 1 } else { self.instances };
                out.extend((0..count).map(|instance| Job { what: What::Method(at), place, instance }));
            }
            for e_step in 0..E_STEPS.len() {
                out.extend((0..self.instances).map(|instance| Job {
                    what: What::EStep(e_step),
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
    let full = plan.instances >= ALL;
    estimate(lab, &jobs)?;
    let found = side_by_side(lab.run, jobs.len(), |at, run| fit(jobs[at], full, run))?;
    notes(lab, &plan)?;
    let done: Vec<(Job, Outcome)> = jobs.into_iter().zip(found).collect();
    let published = published::cells()?;
    tables(lab, &plan, &done, &published)?;
    e_steps(lab, &plan, &done)
}

/// Announces how long the fits will take, by the time of one of them: others are assumed to take 4 times as long on average, which was not measured.
fn estimate(lab: &Lab<'_>, jobs: &[Job]) -> Result<()> {
    const RELATIVE: f64 = 4.0;
    let Some(first) = jobs.first() else { return Ok(()) };
    let began = std::time::Instant::now();
    fit(*first, false, &Run { threads: 1, ..Run::default() })?.ok();
    let total = began.elapsed().as_secs_f64() * RELATIVE * jobs.len() as f64 / lab.run.threads.max(1) as f64;
    let said = format!("{} fits, about {:.0} minutes", jobs.len(), (total / 60.0).ceil());
    lab.run.watch.event(Event::Stage(&said));
    Ok(())
}

/// Fits one instance. Instances and their seeds do not depend on how many there are.
fn fit(job: Job, full: bool, run: &Run<'_>) -> Result<Outcome> {
    let Place { set, units, data } = job.place;
    let (key, settings, covariance) = match job.what {
        What::Method(at) => {
            let Method { key, settings, covariance, .. } = &METHODS[at];
            (*key, settings(units, full), *covariance)
        }
        What::EStep(at) => ("rfn", with_e_step(units, at), Covariance::Codes),
    };
    if unmix::method::find(key).is_err() {
        return Ok(Err("not available".into()));
    }
    let x = biclusters(job.place.name(), set, job.instance)?.x;
    let single: Vec<f32> = x.as_slice().iter().map(|&v| v as f32).collect();
    let mut rows = AnyRows::F32(Rows::from_slice(&single, x.cols())?);
    let seed = (job.instance * 2 + set - 1) * BICLUSTERS.len() as u64 + data as u64;
    let run = Run { seed, threads: 1, watch: run.watch, ..Run::default() };
    let Value::Object(settings) = settings else { return Ok(Err("not available".into())) };
    match unmix::fit(key, &settings, &mut rows, &run) {
        Ok(model) => measured(&model, &x, &single, covariance, &run).map(Ok),
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(e) => Ok(Err(format!("not available: {e}"))),
    }
}

/// Zeros among the codes in percent, norms of the residual and of the residual covariance, and the objective.
fn measured(
    model: &Model,
    x: &Matrix<f64>,
    single: &[f32],
    covariance: Covariance,
    run: &Run<'_>,
) -> Result<Values> {
    let codes = model.encode_to_vec(&Rows::from_slice(single, x.cols())?, run)?;
    let back = model.decode_to_vec(&Rows::from_slice(&codes, model.n_codes())?, run)?;
    let zero = |z: f32| if covariance == Covariance::Codes { z == 0.0 } else { z.abs() < 0.01 };
    let zeros = codes.iter().filter(|z| zero(**z)).count() as f64;
    let left: f64 = x.as_slice().iter().zip(&back).map(|(x, b)| (x - f64::from(*b)).powi(2)).sum();
    let objective = model.report().facts.get("final_objective").and_then(Value::as_f64);
    Ok([Some(100.0 * zeros / codes.len() as f64), Some(left.sqrt()), apart(model, x, covariance), objective])
}

/// `||C - W S W' - Psi||` with the second moments `C` of the rows, `S` of the codes or the identity.
fn apart(model: &Model, x: &Matrix<f64>, covariance: Covariance) -> Option<f64> {
    if covariance == Covariance::None {
        return None;
    }
    let w = model.tensor("components")?.to_matrix().transposed();
    let psi = model.tensor("noise_variance")?.f64s();
    let explained = match covariance {
        Covariance::Codes => {
            factor::multiply_transposed(&factor::multiply(&w, &model.tensor("code_moments")?.to_matrix()), &w)
        }
        _ => factor::multiply_transposed(&w, &w),
    };
    let (n, p) = (x.rows() as f64, x.cols());
    let c = factor::multiply(&x.transposed(), x);
    let cell = |at: usize| {
        let (i, j) = (at / p, at % p);
        (c[(i, j)] / n - explained[(i, j)] - if i == j { psi[i] } else { 0.0 }).powi(2)
    };
    Some((0..p * p).map(cell).sum::<f64>().sqrt())
}

fn notes(lab: &mut Lab<'_>, plan: &Plan) -> Result<()> {
    let n = plan.instances;
    lab.note(format!(
        "Data: 100 rows and 100 columns, a sum of 20 biclusters and normal noise (D1 to D9: standard deviation and sizes differ; set I and \
         II: entries outside biclusters of standard deviation 0.01 and 0.5), {n} of the published 100 instances, generated from seeds."
    ))?;
    lab.note(
        "A cell has SP, the percentage of codes that are 0 (below 0.01 for methods other than RFN), ER, the Frobenius norm of the residual, \
         and CO, that of the data's second moments minus the model's (with the second moments of the codes for RFN, with W W' for factor \
         models, so that these two are not comparable with each other). Means and standard deviations over instances; published ones in \
         parentheses, where 999 is a cap. In the average of set II, 150 units, RFNn includes a published cell (D4) that looks like an error: \
         its ER falls while its CO rises.",
    )?;
    lab.note(
        "A criterion holds within a + 3 max(s, 0.5) / sqrt(instances) + r v of the published v with standard deviation s: a = 1 for SP, 0.5 \
         and r = 4 % for ER, 1 and 8 % for CO of RFN and RFNn; ER of PCA, and of ICA with 50 units, 1.2 and 1 %, SP of PCA 0.5; ER of FA 3 %, \
         and its CO with 50 units 10 %.",
    )?;
    for method in METHODS {
        if let (Rule::Not(why), Rule::Not(_)) = ((method.rule)(50, 0), (method.rule)(50, 1)) {
            lab.note(format!("{} is not comparable: {why}.", method.name))?;
        }
    }
    if n < ALL {
        lab.note("FAsp and FAlap: one instance and 200 of the published 500 iterations.")?;
    }
    Ok(())
}

/// Mean and standard deviation.
fn summary(values: &[f64]) -> Option<(f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some((mean, if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 }))
}

/// A criterion of a cell beside the published one.
struct Compared {
    ours: Option<(f64, f64)>,
    n: usize,
    published: Option<(f64, f64)>,
    rule: Rule,
}

impl Compared {
    /// The largest accepted distance.
    fn bound(&self) -> Option<f64> {
        let (Rule::Within { absolute, relative }, Some((v, s))) = (self.rule, self.published) else {
            return None;
        };
        Some(absolute + 3.0 * s.max(0.5) / (self.n.max(1) as f64).sqrt() + relative * v)
    }

    fn holds(&self) -> Option<bool> {
        Some((self.ours?.0 - self.published?.0).abs() <= self.bound()?)
    }

    fn mark(&self) -> (&'static str, &'static str) {
        match (self.holds(), self.rule) {
            (Some(true), _) => ("holds", ""),
            (Some(false), _) => ("differs", ""),
            (None, Rule::Not(why)) => ("not comparable", why),
            (None, _) => ("not available", ""),
        }
    }

    fn line(&self, name: &str) -> String {
        let pair = |v: Option<(f64, f64)>, digits: usize| {
            v.map_or("-".into(), |(mean, sd)| format!("{mean:.digits$} ± {sd:.digits$}"))
        };
        format!("{name} {} ({})", pair(self.ours, 1), pair(self.published, 0))
    }
}

fn is(job: &Job, method: usize, place: Place) -> bool {
    matches!(job.what, What::Method(at) if at == method) && job.place == place
}

/// The criteria of a method in a place, and why it is not available.
fn compared(
    method: usize,
    place: Place,
    done: &[(Job, Outcome)],
    published: &[Cell],
) -> (Vec<Compared>, Option<String>) {
    let Method { published: name, rule, .. } = &METHODS[method];
    let own: Vec<&Outcome> = done.iter().filter(|d| is(&d.0, method, place)).map(|d| &d.1).collect();
    let of = |c: &&Cell| {
        c.method == *name && c.dataset == place.name() && c.set == place.set && c.units == place.units
    };
    let cell = published.iter().find(of);
    // The published cell whose ER and CO contradict each other.
    let suspect = *name == "RFNn" && place.set == 2 && place.data == 3 && place.units == 150;
    let one = |criterion: usize| {
        let values: Vec<f64> = own.iter().filter_map(|o| o.as_ref().ok()?[criterion]).collect();
        let mut printed = cell.and_then(|c| c.values[criterion]);
        if *name == "PCA" && criterion == 0 && place.units != 150 {
            let exact = published::sparseness_of_pca(place.name(), place.set)[place.units / 50 - 1];
            printed = printed.map(|(_, s)| (exact, s));
        }
        Compared {
            ours: summary(&values),
            n: values.len(),
            published: printed,
            rule: if suspect {
                Rule::Not("the published cell looks like an error")
            } else {
                rule(place.units, criterion)
            },
        }
    };
    let why = own.iter().find_map(|o| o.as_ref().err().cloned());
    ((0..3).map(one).collect(), why)
}

fn roman(set: u64) -> &'static str {
    if set == 1 { "I" } else { "II" }
}

/// The tables, every number as CSV, and how many judged criteria differ.
fn tables(lab: &mut Lab<'_>, plan: &Plan, done: &[(Job, Outcome)], published: &[Cell]) -> Result<()> {
    let (mut lines, mut averages) = (Vec::new(), Vec::new());
    let mut tables: Vec<(u64, usize)> = plan.places.iter().map(|p| (p.set, p.units)).collect();
    tables.dedup();
    for (set, units) in tables {
        let mut grid = Grid::new(format!("Set {}, {units} units", roman(set)));
        grid.header.push("method".into());
        grid.header.extend(plan.data.iter().map(|&d| BICLUSTERS[d].0.to_string()));
        grid.header.push("average".into());
        for (at, method) in METHODS.iter().enumerate() {
            let mut row = vec![GridCell::of(vec![method.name.into()])];
            let (mut judged, mut differing, mut all) = (0, 0, Vec::new());
            for &data in &plan.data {
                let place = Place { set, units, data };
                let (criteria, why) = compared(at, place, done, published);
                judged += criteria.iter().filter(|c| c.holds().is_some()).count();
                differing += criteria.iter().filter(|c| c.holds() == Some(false)).count();
                for (c, name) in criteria.iter().zip(CRITERIA) {
                    lines.push(record(method.name, place, name, c, why.as_deref()));
                }
                row.push(cell(&criteria, why));
                all.push(criteria);
            }
            let (cell, records) = average(method.name, set, units, &all);
            row.push(cell);
            averages.extend(records);
            grid.rows.push(row);
            if judged > 0 {
                let what = format!(
                    "set {}, {units} units, {}: criteria of {judged} that differ from the published ones",
                    roman(set),
                    method.name
                );
                // The iterations of the published FA are not given, those here end at the maximum of the likelihood.
                match method.name {
                    "FA" => lab.number(what, differing as f64, "")?,
                    _ => lab.check(what, differing as f64, "", "none", differing == 0)?,
                }
            }
        }
        lab.grid(grid)?;
    }
    let header = [
        "method",
        "set",
        "units",
        "data",
        "criterion",
        "ours",
        "ours_sd",
        "instances",
        "published",
        "published_sd",
        "bound",
        "mark",
        "why",
    ];
    lab.table("cells", &header, &lines)?;
    lab.table("averages", &["method", "set", "units", "criterion", "ours", "published"], &averages)
}

fn cell(criteria: &[Compared], why: Option<String>) -> GridCell {
    if let Some(why) = why {
        let mut lines: Vec<String> = criteria
            .iter()
            .zip(CRITERIA)
            .filter(|(c, _)| c.published.is_some())
            .map(|(c, name)| c.line(name))
            .collect();
        // The reason is in the table of all numbers.
        lines.push(why.split(':').next().unwrap_or_default().into());
        return GridCell::of(lines);
    }
    let own = |(c, _): &(&Compared, &str)| c.ours.is_some() || c.published.is_some();
    let mut lines: Vec<String> =
        criteria.iter().zip(CRITERIA).filter(own).map(|(c, name)| c.line(name)).collect();
    let differ: Vec<&str> =
        criteria.iter().zip(CRITERIA).filter(|(c, _)| c.holds() == Some(false)).map(|c| c.1).collect();
    let judged = criteria.iter().any(|c| c.holds().is_some());
    lines.push(match (differ.is_empty(), judged) {
        (false, _) => format!("differs: {}", differ.join(", ")),
        (true, true) => "holds".into(),
        (true, false) => "not comparable".into(),
    });
    GridCell { lines, missed: !differ.is_empty() }
}

fn record(method: &str, place: Place, criterion: &str, c: &Compared, why: Option<&str>) -> Vec<String> {
    let number = |v: Option<f64>| v.map_or(String::new(), |v| format!("{v:.6}"));
    let (mark, reason) = match why {
        Some(why) => ("not available", why),
        None => c.mark(),
    };
    vec![
        method.into(),
        roman(place.set).into(),
        place.units.to_string(),
        place.name().into(),
        criterion.into(),
        number(c.ours.map(|v| v.0)),
        number(c.ours.map(|v| v.1)),
        c.n.to_string(),
        number(c.published.map(|v| v.0)),
        number(c.published.map(|v| v.1)),
        number(c.bound()),
        mark.into(),
        reason.into(),
    ]
}

/// Averages over the data sets that were run, of the published values over the same ones.
fn average(method: &str, set: u64, units: usize, all: &[Vec<Compared>]) -> (GridCell, Vec<Vec<String>>) {
    let (mut lines, mut records) = (Vec::new(), Vec::new());
    for (at, name) in CRITERIA.iter().enumerate() {
        let mean = |of: &dyn Fn(&Compared) -> Option<f64>| {
            let values: Option<Vec<f64>> = all.iter().map(|c| of(&c[at])).collect();
            summary(&values?).map(|v| v.0)
        };
        let ours = mean(&|c| c.ours.map(|v| v.0));
        let published = mean(&|c| c.published.map(|v| v.0));
        if ours.is_none() && published.is_none() {
            continue;
        }
        let text = |v: Option<f64>| v.map_or("-".into(), |v| format!("{v:.1}"));
        lines.push(format!("{name} {} ({})", text(ours), text(published)));
        let number = |v: Option<f64>| v.map_or(String::new(), |v| format!("{v:.6}"));
        records.push(vec![
            method.into(),
            roman(set).into(),
            units.to_string(),
            (*name).into(),
            number(ours),
            number(published),
        ]);
    }
    (GridCell::of(lines), records)
}

/// The E-steps on the same instances.
fn e_steps(lab: &mut Lab<'_>, plan: &Plan, done: &[(Job, Outcome)]) -> Result<()> {
    lab.note(
        "E-steps on the same instances: the published tables come from the plain projection (1000 iterations with the rate 0.1), whose \
         objective may decrease from one iteration to the next. The cascade and coordinate E-steps (100 iterations with the rate 1) never \
         decrease it; SP, ER and CO of all three are comparable, the objective (larger \
         is better) most directly.",
    )?;
    let mut grid = Grid::new("E-steps of RFN on the same instances".into());
    grid.header.extend(["data", "plain", "cascade", "coordinate"].map(String::from));
    let mut lines = Vec::new();
    for &place in &plan.places {
        let label = format!("set {}, {} units, {}", roman(place.set), place.units, place.name());
        let mut row = vec![GridCell::of(vec![label])];
        for (at, e_step) in E_STEPS.iter().enumerate() {
            let own: Vec<&Outcome> = done
                .iter()
                .filter(|d| matches!(d.0.what, What::EStep(e) if e == at) && d.0.place == place)
                .map(|d| &d.1)
                .collect();
            let mut text = Vec::new();
            for (criterion, name) in ["SP", "ER", "CO", "objective"].iter().enumerate() {
                let values: Vec<f64> = own.iter().filter_map(|o| o.as_ref().ok()?[criterion]).collect();
                let Some((mean, sd)) = summary(&values) else { continue };
                text.push(format!("{name} {} ± {}", shown(mean), shown(sd)));
                lines.push(vec![
                    roman(place.set).into(),
                    place.units.to_string(),
                    place.name().into(),
                    (*e_step).into(),
                    (*name).into(),
                    format!("{mean:.6}"),
                    format!("{sd:.6}"),
                    values.len().to_string(),
                ]);
            }
            if let Some(why) = own.iter().find_map(|o| o.as_ref().err()) {
                text.push(why.clone());
            }
            row.push(GridCell::of(text));
        }
        grid.rows.push(row);
    }
    lab.grid(grid)?;
    lab.table(
        "e-steps",
        &["set", "units", "data", "e_step", "criterion", "ours", "ours_sd", "instances"],
        &lines,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(found: &[Outcome]) -> Vec<[Option<u64>; 4]> {
        found.iter().map(|o| o.as_ref().unwrap().map(|v| v.map(f64::to_bits))).collect()
    }

    #[test]
    fn instances_have_the_same_bits_alone_and_among_more_on_any_number_of_threads() {
        let place = Place { set: 1, units: 50, data: 0 };
        let pca = METHODS.iter().position(|m| m.name == "PCA").unwrap();
        let of = |n: usize, threads: usize| {
            let run = Run { threads, ..Run::default() };
            let job = |i: usize| Job { what: What::Method(pca), place, instance: i as u64 };
            bits(&side_by_side(&run, n, |i, run| fit(job(i), false, run)).unwrap())
        };
        let (four, eight) = (of(4, 1), of(8, 3));
        assert_eq!(four, eight[..4]);
        assert!(eight.iter().all(|v| eight.iter().filter(|w| *w == v).count() == 1));
    }

    #[test]
    fn a_method_that_does_not_exist_is_not_available_and_an_error_is_passed_on() {
        let run = Run { threads: 2, ..Run::default() };
        let failed = side_by_side(&run, 5, |i, _| if i == 2 { Err(Error::Interrupted) } else { Ok(i) });
        assert!(matches!(failed, Err(Error::Interrupted)));
        let place = Place { set: 1, units: 50, data: 0 };
        for (at, method) in METHODS.iter().enumerate().filter(|(_, m)| unmix::method::find(m.key).is_err()) {
            let found = fit(Job { what: What::Method(at), place, instance: 0 }, false, &run).unwrap();
            assert_eq!(found.unwrap_err(), "not available", "{}", method.name);
        }
    }

    #[test]
    fn the_rule_widens_with_the_published_deviation_and_narrows_with_instances() {
        let of = |ours: f64, n: usize| Compared {
            ours: Some((ours, 0.0)),
            n,
            published: Some((58.0, 1.0)),
            rule: Rule::Within { absolute: 0.5, relative: 0.04 },
        };
        assert!((of(0.0, 4).bound().unwrap() - 4.32).abs() < 1e-12);
        assert_eq!(
            [of(62.3, 4).holds(), of(62.4, 4).holds(), of(62.4, 1).holds()],
            [true, false, true].map(Some)
        );
    }
}
