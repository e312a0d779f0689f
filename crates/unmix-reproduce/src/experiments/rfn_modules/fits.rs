//! Fits to one data set with planted modules, and the modules recovered.

use crate::lab::map;
use serde_json::{Value, json};
use unmix::biclusters::{Biclusters, Module, Refits, biclusters, of_models};
use unmix::datasets::{PlantedBiclusters, RareModules, rare_modules};
use unmix::metrics::{Bicluster, consensus_score};
use unmix::{AnyRows, Matrix, Model, Result, Rows, Run};

/// A module is found where the top rows and columns of a unit are, on average, at least this share of the planted ones; below the second
/// bound a declared module is false.
const FOUND_SHARE: f64 = 0.7;
const FALSE_SHARE: f64 = 0.4;
/// A module is declared up to this q-value.
pub(super) const LEVEL: f64 = 0.1;
/// Modules of a ranking that count as the first.
const FIRST_MODULES: usize = 10;
const ITERATIONS: u64 = 200;
/// Iterations of the reference measurement from independent components.
const FEW_ITERATIONS: u64 = 50;

/// A method to compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fitted {
    Pca,
    Ica,
    /// With a lower bound on the noise variance, in variances of the columns, and normalisation or none.
    Rfn {
        floor: f64,
        normalize: &'static str,
    },
}

impl Fitted {
    pub(super) fn name(self) -> &'static str {
        match self {
            Fitted::Pca => "PCA",
            Fitted::Ica => "ICA",
            Fitted::Rfn { normalize: "none", .. } => "RFNn",
            Fitted::Rfn { .. } => "RFN",
        }
    }
}

/// Fits whose units are ranked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Starts {
    /// The only fit of a method without random starts.
    Only,
    /// One random start; the mean over all of them.
    One,
    /// All random starts.
    Random,
    /// One from independent components.
    Independent,
    /// The same with fewer iterations.
    IndependentBriefly,
    /// All random starts and the one from independent components.
    All,
}

impl Starts {
    pub(super) fn words(self) -> &'static str {
        match self {
            Starts::Only => "both signs",
            Starts::One => "one random start",
            Starts::Random => "random starts pooled",
            Starts::Independent => "start from ICA",
            Starts::IndependentBriefly => "start from ICA, 50 iterations",
            Starts::All => "all starts pooled",
        }
    }
}

/// One fit: a method, a data set, a seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Job {
    pub(super) shift: f64,
    pub(super) units: usize,
    pub(super) fitted: Fitted,
    pub(super) instance: u64,
    /// Random starts.
    pub(super) starts: usize,
    /// Copies with permuted columns, for q-values; none where q-values are not requested.
    pub(super) permutations: usize,
}

/// How well one ranking of modules recovers the planted ones.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModuleRecovery {
    pub(super) starts: Starts,
    /// Planted modules found, and among the first of the ranking.
    pub(super) found: f64,
    pub(super) first: f64,
    /// Consensus of as many first modules as are planted with these.
    pub(super) consensus: f64,
    pub(super) declared: Option<SignificantModules>,
}

/// Modules with a small q-value: their number, that of planted ones among them, and that of false ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SignificantModules {
    pub(super) all: f64,
    pub(super) modules: f64,
    pub(super) wrong: f64,
}

/// Data of a shift and an instance.
pub(super) fn data(shift: f64, instance: u64) -> Result<PlantedBiclusters> {
    rare_modules(&RareModules { shift, ..RareModules::default() }, instance)
}

/// Rows in single precision.
pub(super) fn single(x: &Matrix<f64>) -> Vec<f32> {
    x.as_slice().iter().map(|&v| v as f32).collect()
}

/// Fits rows of `p` columns on one thread.
pub(super) fn fit(
    key: &str,
    settings: Value,
    (x, p): (&[f32], usize),
    seed: u64,
    run: &Run<'_>,
) -> Result<Model> {
    let own = Run { seed, threads: 1, observer: run.observer, ..Run::default() };
    unmix::fit(key, &map(settings), &mut AnyRows::F32(Rows::from_slice(x, p)?), &own)
}

/// Fits, ranks and compares.
pub(super) fn found(job: Job, run: &Run<'_>) -> Result<Vec<ModuleRecovery>> {
    let made = data(job.shift, job.instance)?;
    let (x, p, base) = (single(&made.x), made.x.cols(), 1000 * job.instance);
    let rows = AnyRows::F32(Rows::from_slice(&x, p)?);
    let own = Run { seed: base, threads: 1, observer: run.observer, ..Run::default() };
    let fit = |key: &str, settings: Value, seed: u64| fit(key, settings, (&x, p), seed, run);
    let pooled = |starts: Starts, models: &[Model]| -> Result<ModuleRecovery> {
        Ok(compared(starts, &of_models(models, &rows, &own)?, &made))
    };
    let Fitted::Rfn { floor, normalize } = job.fitted else {
        let key = if job.fitted == Fitted::Pca { "pca" } else { "ica" };
        let model = fit(key, json!({"n_components": job.units}), base)?;
        return Ok(vec![pooled(Starts::Only, &[model])?]);
    };
    let rfn = |init: &str, iterations: u64| json!({"n_components": job.units, "psi_min": floor, "normalize": normalize, "init": init, "max_iter": iterations});
    let mut models = vec![fit("rfn", rfn("ica", ITERATIONS), base)?];
    for start in 1..=job.starts as u64 {
        models.push(fit("rfn", rfn("random", ITERATIONS), base + start)?);
    }
    let random = &models[1..];
    let ones: Vec<ModuleRecovery> =
        random.iter().map(|m| pooled(Starts::One, std::slice::from_ref(m))).collect::<Result<_>>()?;
    let briefly = fit("rfn", rfn("ica", FEW_ITERATIONS), base)?;
    let all = match job.permutations {
        0 => of_models(&models, &rows, &own)?,
        // The same fits, and those of the copies.
        permutations => biclusters(&models[0], &rows, Refits { starts: models.len(), permutations }, &own)?,
    };
    Ok(vec![
        mean(&ones),
        pooled(Starts::Random, random)?,
        pooled(Starts::Independent, &models[..1])?,
        pooled(Starts::IndependentBriefly, &[briefly])?,
        compared(Starts::All, &all, &made),
    ])
}

fn mean(of: &[ModuleRecovery]) -> ModuleRecovery {
    let mean = |get: fn(&ModuleRecovery) -> f64| of.iter().map(get).sum::<f64>() / of.len().max(1) as f64;
    ModuleRecovery {
        starts: Starts::One,
        found: mean(|f| f.found),
        first: mean(|f| f.first),
        consensus: mean(|f| f.consensus),
        declared: None,
    }
}

/// How well a ranking recovers the planted modules.
fn compared(starts: Starts, ranking: &Biclusters, made: &PlantedBiclusters) -> ModuleRecovery {
    let hits: Vec<(f64, usize)> = ranking.modules.iter().map(|m| overlap(m, made)).collect();
    let declared: Vec<(f64, usize)> = hits
        .iter()
        .zip(&ranking.modules)
        .filter(|(_, m)| m.q_value.is_some_and(|q| q <= LEVEL))
        .map(|(hit, _)| *hit)
        .collect();
    ModuleRecovery {
        starts,
        found: distinct(&hits),
        first: distinct(&hits[..hits.len().min(FIRST_MODULES)]),
        consensus: consensus(&ranking.modules, made),
        declared: (ranking.permutations > 0).then(|| SignificantModules {
            all: declared.len() as f64,
            modules: distinct(&declared),
            wrong: declared.iter().filter(|hit| hit.0 < FALSE_SHARE).count() as f64,
        }),
    }
}

/// Planted modules among the hits.
fn distinct(hits: &[(f64, usize)]) -> f64 {
    let mut own: Vec<usize> = hits.iter().filter(|hit| hit.0 >= FOUND_SHARE).map(|hit| hit.1).collect();
    own.sort_unstable();
    own.dedup();
    own.len() as f64
}

/// The mean of two shares: of the rows of a planted module that are among as many rows of largest code, and of its columns among as many of
/// largest loading; for the planted module where it is largest.
pub(super) fn overlap(m: &Module, made: &PlantedBiclusters) -> (f64, usize) {
    let rows = falling(m.codes.iter().map(|y| f64::from(*y)));
    let columns = falling(m.loadings.iter().map(|w| w.abs()));
    let share = |order: &[usize], of: &[bool]| {
        let size = of.iter().filter(|member| **member).count();
        order[..size].iter().filter(|i| of[**i]).count() as f64 / size.max(1) as f64
    };
    let each = made.rows.iter().zip(&made.columns).enumerate();
    each.map(|(i, (r, c))| (0.5 * (share(&rows, r) + share(&columns, c)), i))
        .fold((0.0, 0), |best, at| if at.0 > best.0 { at } else { best })
}

/// Places of the numbers, the largest first.
fn falling(values: impl Iterator<Item = f64>) -> Vec<usize> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]).then(a.cmp(b)));
    order
}

fn consensus(modules: &[Module], made: &PlantedBiclusters) -> f64 {
    let members = |of: &[bool]| (0..of.len() as u32).filter(|i| of[*i as usize]).collect::<Vec<u32>>();
    let truth: Vec<(Vec<u32>, Vec<u32>)> =
        made.rows.iter().zip(&made.columns).map(|(r, c)| (members(r), members(c))).collect();
    let truth: Vec<Bicluster<'_>> = truth.iter().map(|(r, c)| (r.as_slice(), c.as_slice())).collect();
    let first = modules.iter().take(truth.len());
    let first: Vec<Bicluster<'_>> = first.map(|m| (m.rows.as_slice(), m.columns.as_slice())).collect();
    consensus_score(&first, &truth)
}

/// Modules of one fit that begins at independent components, for a figure.
pub(super) fn ranking(
    made: &PlantedBiclusters,
    units: usize,
    floor: f64,
    run: &Run<'_>,
) -> Result<Biclusters> {
    let (x, p) = (single(&made.x), made.x.cols());
    let settings =
        json!({"n_components": units, "psi_min": floor, "init": "ica", "max_iter": FEW_ITERATIONS});
    let model = fit("rfn", settings, (&x, p), 0, run)?;
    of_models(&[model], &AnyRows::F32(Rows::from_slice(&x, p)?), run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(fitted: Fitted, instance: u64) -> Job {
        Job { shift: 5.0, units: 20, fitted, instance, starts: 1, permutations: 0 }
    }

    #[test]
    fn a_module_whose_top_rows_and_columns_are_the_planted_ones_is_found() {
        let made = data(5.0, 0).unwrap();
        let found = ranking(&made, 20, 0.3, &Run::default()).unwrap();
        let mut m = found.modules[0].clone();
        m.codes = made.rows[3].iter().map(|r| f32::from(u8::from(*r))).collect();
        m.loadings = made.columns[3].iter().map(|c| -f64::from(u8::from(*c))).collect();
        assert_eq!(overlap(&m, &made), (1.0, 3));
        // Half of the rows have no code.
        let own: Vec<usize> = (0..300).filter(|i| made.rows[3][*i]).collect();
        own[..4].iter().for_each(|i| m.codes[*i] = -1.0);
        let (share, module) = overlap(&m, &made);
        assert!((0.75..0.9).contains(&share) && module == 3, "{share}");
        assert_eq!(distinct(&[(0.8, 3), (0.9, 3), (0.6, 1), (0.7, 2)]), 2.0);
    }

    #[test]
    fn jobs_are_the_same_on_any_thread_and_differ_between_instances() {
        let rfn = Fitted::Rfn { floor: 0.3, normalize: "rms" };
        let one = |instance| found(job(rfn, instance), &Run::default()).unwrap();
        assert_eq!(one(0), one(0));
        assert_eq!(one(0).len(), 5);
        assert_ne!(one(0)[4].consensus, one(1)[4].consensus);
    }
}
