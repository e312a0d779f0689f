//! Modules of repeated fits: from several starts, of permuted rows, and of halves of the rows.

use super::evidence::Columns;
use super::null::{permuted, q_values};
use super::units::{Unit, groups, signed, units};
use super::{Biclusters, Module, Refits, described, is_weighted, module, readable, share_of_fits};
use crate::data::splits::{Autocorrelation, consecutive, split_in_halves};
use crate::data::{AnyRows, RandomAccess, RawArray, Rows};
use crate::error::Result;
use crate::model::Model;
use crate::num::random::Stream;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::stability::{Fits, HALF, directions, readers};
use serde_json::{Map, Value};

/// Modules of fits with the settings of `model` from several starts, with stability, q-values and the agreement of halves.
pub(super) fn pooled<T: Real>(
    model: &Model,
    rows: &Rows<'_, T>,
    refits: Refits,
    run: &Run<'_>,
) -> Result<Biclusters>
where
    for<'b> AnyRows<'b>: From<Rows<'b, T>>,
{
    let source = readable(rows)?;
    let (n, p) = (source.n_rows(), rows.n_features());
    let scales = Columns::of(rows, run)?;
    let (found, fits) = of_starts(model, rows, source, refits.starts, &scales, run)?;
    let groups = groups(found);
    let codes = described(&groups, &fits, rows, run)?;
    drop(fits);
    let (mut null, mut permutations) = (Vec::new(), 0);
    while permutations < refits.permutations && !run.ends_early() {
        let numbers = permuted(source, n, p, run.seed, permutations)?;
        let array = RawArray::borrowed(&numbers, p)?;
        let shuffled = Rows::new(RawArray::borrowed(&numbers, p)?, rows.features().clone(), rows.origin());
        let (found, _) = of_starts(model, &shuffled, &array, refits.starts, &scales, run)?;
        // Fits that end early find less than those of the rows did: q-values from them would be too small.
        if run.ends_early() {
            break;
        }
        null.extend(super::units::groups(found).iter().map(|g| g[0].evidence));
        permutations += 1;
    }
    let compared = match run.ends_early() {
        true => None,
        false => Some(halves(model, rows, source, &groups, &scales.deviations, run)?),
    };
    let incomplete = run.ends_early();
    let (halves, chance) = compared.filter(|_| !incomplete).unwrap_or_default();
    let evidence: Vec<f64> = groups.iter().map(|g| g[0].evidence).collect();
    let q = (permutations > 0).then(|| q_values(&evidence, &null, permutations));
    let modules = groups.iter().zip(codes).enumerate().map(|(i, (group, codes))| Module {
        stability: Some(share_of_fits(group, refits.starts)),
        q_value: q.as_ref().map(|q| q[i]),
        halves: halves.as_ref().map(|h| h[i]),
        ..module(group, rows, codes)
    });
    Ok(Biclusters {
        n_rows: n as usize,
        n_features: p,
        starts: refits.starts,
        permutations,
        incomplete,
        without_weights: is_weighted(model),
        modules: modules.collect(),
        chance,
    })
}

/// Units of fits from several starts, and the fits: the first from independent components, if the method has this start, the others from random
/// initial values.
fn of_starts<T: Real>(
    model: &Model,
    rows: &Rows<'_, T>,
    source: &dyn RandomAccess<T>,
    starts: usize,
    scales: &Columns,
    run: &Run<'_>,
) -> Result<(Vec<Unit>, Vec<Model>)>
where
    for<'b> AnyRows<'b>: From<Rows<'b, T>>,
{
    let begun = |init: &str| begun_from(model, init);
    let independent = begun("ica");
    let n_independent = usize::from(independent.is_some());
    let mut fitted = Vec::new();
    let at_once = readers((source.n_rows(), rows.n_features()), model.n_codes(), size_of::<T>());
    let all = |settings: Map<String, Value>, seeds: Vec<u64>| {
        let fits = Fits { key: model.method().key, settings, rows, source, run };
        fits.of(seeds.into_iter().map(|seed| (None, seed)), at_once, HALF)
    };
    if let Some(settings) = independent {
        fitted.extend(all(settings, vec![run.seed])?);
    }
    let random = begun("random").unwrap_or_else(|| model.settings().clone());
    let seeds = (n_independent..starts).map(|i| run.seed.wrapping_add(i as u64)).collect();
    fitted.extend(all(random, seeds)?);
    let mut out = Vec::new();
    for (fit, model) in fitted.iter().enumerate() {
        out.extend(units(model, rows, fit, scales, run)?.0);
    }
    Ok((out, fitted))
}

/// The model's settings with another start, for methods that have it.
fn begun_from(model: &Model, init: &str) -> Option<Map<String, Value>> {
    let setting = model.method().settings.iter().find(|s| s.name == "init")?;
    if !setting.choices().contains(&init) {
        return None;
    }
    let mut settings = model.settings().clone();
    settings.insert("init".into(), init.into());
    // Every start counts separately.
    if settings.contains_key("n_init") {
        settings.insert("n_init".into(), 1.into());
    }
    Some(settings)
}

/// First random stream for the order of loadings, distinct from those of other draws.
const CHANCE_STREAM: u64 = 1 << 41;

/// For each group, the smaller of the two cosines with the nearest unit of a fit to either half of the rows; and the mean of the same for
/// loadings in random order. None if there are too few rows.
fn halves<T: Real>(
    model: &Model,
    rows: &Rows<'_, T>,
    source: &dyn RandomAccess<T>,
    groups: &[Vec<Unit>],
    deviations: &[f64],
    run: &Run<'_>,
) -> Result<(Option<Vec<f64>>, Option<f64>)>
where
    for<'b> AnyRows<'b>: From<Rows<'b, T>>,
{
    const FEWEST_ROWS: u64 = 4;
    let (n, k) = (source.n_rows(), model.n_codes());
    if n < FEWEST_ROWS || groups.is_empty() {
        return Ok((None, None));
    }
    let following = rows.picked(consecutive(n, k), run)?;
    let some: Rows<'_, T> =
        Rows::new(RawArray::borrowed(&following, rows.n_features())?, rows.features().clone(), rows.origin());
    let block_length = Autocorrelation::of(&codes_of(model, &some, run)?, k, n).block_length;
    let (left, right) = split_in_halves(n, run.seed, 0, block_length);
    let settings = begun_from(model, "random").unwrap_or_else(|| model.settings().clone());
    let fits = Fits { key: model.method().key, settings, rows, source, run };
    let jobs = vec![(Some(left), run.seed.wrapping_add(1)), (Some(right), run.seed.wrapping_add(2))];
    let both = fits.of(jobs, readers((n, rows.n_features()), k, size_of::<T>()), HALF)?;
    let both: Vec<Matrix<f64>> = both.iter().map(|m| directions(m, deviations)).collect();
    let signed = signed(model);
    let agreement = |loadings: &[f64]| {
        let nearest = |half: &Matrix<f64>| {
            let cosine = |j| {
                let cosine = half.row(j).iter().zip(loadings).map(|(a, b)| a * b).sum::<f64>();
                if signed { cosine.abs() } else { cosine }
            };
            (0..half.rows()).map(cosine).fold(0.0, f64::max)
        };
        both.iter().map(nearest).fold(1.0, f64::min)
    };
    let own: Vec<f64> = groups.iter().map(|g| agreement(&g[0].loadings)).collect();
    let by_chance = |(i, g): (usize, &Vec<Unit>)| {
        let mut loadings = g[0].loadings.clone();
        Stream::new(run.seed, CHANCE_STREAM + i as u64).shuffle(0, &mut loadings);
        agreement(&loadings)
    };
    let chance = groups.iter().enumerate().map(by_chance).sum::<f64>() / groups.len() as f64;
    Ok((Some(own), Some(chance)))
}

fn codes_of<T: Real>(model: &Model, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Vec<f64>> {
    Ok(model.encode_to_vec(rows, run)?.iter().map(|y| y.to_f64()).collect())
}
