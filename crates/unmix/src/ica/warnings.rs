//! Warnings about sources that may be wrong: rows that were not white, too few rows, sources that are nearly Gaussian,
//! contrasts of the wrong sign, and a likelihood below that of a Gaussian.

use super::pair_rotations::better_rotations;
use super::search::Algorithm;
use super::{Search, SolverResult, subsample};
use crate::data::Rows;
use crate::data::splits::autocorrelation_time;
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::spectrum::Coordinates;
use crate::stats::{Contrast, SourceSums};

/// Threshold, in standard errors, for the deviation of the covariance of white rows from the identity. Heavy
/// tails make the standard error of a variance two to three times `1 / sqrt(n)`.
const NOT_WHITE_ERRORS: f64 = 5.0;

const HEAVY_TAILS: &str = "have heavier tails than a Gaussian";
const FLAT_TAILS: &str = "have flatter tails than a Gaussian";

/// Maximum number of sources that a warning lists; for more it gives their number.
const MOST_LISTED_SOURCES: usize = 12;

/// Number of consecutive rows from which autocorrelation is estimated.
const CONSECUTIVE_ROWS: u64 = 1 << 13;

/// Sources whose statistic exceeds the critical value by this factor remain significant with an effective
/// sample size of a 25th of the rows.
const SURELY_SIGNIFICANT_RATIO: f64 = 5.0;

/// Warnings about the result of a search; `place[i]` is the index in the model of its source `i`.
///
/// # Errors
///
/// Errors of a pass over the rows.
pub(super) fn warnings_about<T: Real>(
    rows: &Rows<'_, T>,
    coordinates: &Coordinates,
    search: &Search<'_>,
    found: &SolverResult,
    place: &[usize],
    run: &Run<'_>,
) -> Result<Vec<String>> {
    let (n, k) = (coordinates.n, coordinates.k());
    let mut out = Vec::new();
    out.extend(not_white(coordinates, search));
    if n < 5.0 * (k * k) as f64 {
        let (sources, remedy) = match k {
            1 => ("1 source".into(), "give more rows"),
            k => (format!("{k} sources"), "choose fewer components"),
        };
        out.push(format!(
            "{n} rows are few for {sources}: with fewer than about 5 x {k} x {k} rows a source may be a spike at a single row; {remedy}"
        ));
    }
    let Some(sums) = &found.sums else { return Ok(out) };
    let alone = tails(coordinates, search, sums, &found.w);
    let times = autocorrelation_times(rows, coordinates, search, found, &alone, run)?;
    let tails: Vec<f64> = alone.iter().zip(&times).map(|(tail, time)| tail / time.sqrt()).collect();
    let like_gaussian: Vec<usize> = (0..k).filter(|&i| tails[i].abs() < 1.0).collect();
    if n >= 5.0 * (k * k) as f64 && like_gaussian.len() >= 2 {
        let time = like_gaussian.iter().map(|&i| times[i]).fold(1.0, f64::max);
        let dependent = match time > 1.0 {
            true => format!(
                " (consecutive rows are dependent: the effective number of rows is about {:.0} of {n})",
                n / time
            ),
            false => String::new(),
        };
        out.push(format!(
            "{} of {k} sources cannot be distinguished from Gaussian ones{dependent}: ICA does not separate Gaussian sources, so \
             these are defined only up to a rotation among them",
            like_gaussian.len()
        ));
    }
    if let Some(words) = fixed_sign(search) {
        out.extend(wrong_sign((0..k).filter(|&i| tails[i] < -1.0).map(|i| place[i]).collect(), words));
    }
    out.extend(less_likely_than_gaussian(coordinates, search, found));
    Ok(out)
}

/// A warning about sources that two layers of sigma-PCA left mixed: all of them if none is significantly
/// non-Gaussian, or some pairs whose widths are dominated by a few outlying rows.
pub(super) fn mixed_sources<T: Real>(
    rows: &Rows<'_, T>,
    coordinates: &Coordinates,
    search: &Search<'_>,
    found: &SolverResult,
    place: &[usize],
    run: &Run<'_>,
) -> Result<Option<String>> {
    if !matches!(search.algorithm, Algorithm::Layers { .. }) {
        return Ok(None);
    }
    if found.outcome == Outcome::Completed {
        return Ok(Some(
            "no source differs from a Gaussian by the criterion of this algorithm, so no rotation was estimated: the sources are \
             whitened coordinates in an arbitrary rotation; try algorithm='picard'"
                .into(),
        ));
    }
    let rotations =
        better_rotations(rows, &subtracted(rows, coordinates), &coordinates.folded(&found.w), run)?;
    let Some(worst) = rotations.iter().max_by(|a, b| a.t.total_cmp(&b.t)) else { return Ok(None) };
    let (i, j) = (place[worst.pair.0], place[worst.pair.1]);
    let others = match rotations.len() - 1 {
        0 => String::new(),
        1 => ", and so is another pair".into(),
        more => format!(", and so are {more} other pairs"),
    };
    Ok(Some(format!(
        "sources {} and {} are not separated: rotated by {:.0} degrees in their plane they are less Gaussian, by {:.1} standard \
         errors{others}; try algorithm='picard'",
        i.min(j),
        i.max(j),
        worst.angle.abs().to_degrees(),
        worst.t
    )))
}

/// Warnings about the sources of a stream; `ranked[i]` is the source with index `i` in the model.
pub(super) fn of_stream(tails: &[f64], extended: bool, ranked: &[usize]) -> Option<String> {
    let wrong = (0..ranked.len()).filter(|&i| !extended && tails[ranked[i]] < -1.0);
    wrong_sign(wrong.collect(), (HEAVY_TAILS, FLAT_TAILS))
}

fn wrong_sign(mut sources: Vec<usize>, (assumed, seen): (&str, &str)) -> Option<String> {
    sources.sort_unstable();
    (!sources.is_empty()).then(|| {
        format!(
            "{} {seen}, but with this contrast and extended=false sources are assumed to {assumed}: such sources are not separated from \
             each other; set extended=true",
            listed(&sources)
        )
    })
}

/// Deviation of each source from a Gaussian, `E g'(y) E y² - E[y g(y)]`, in units of its critical value: positive if a minimum of
/// `E G` separates the source, negative if a maximum does.
fn tails(coordinates: &Coordinates, search: &Search<'_>, sums: &SourceSums, w: &Matrix<f64>) -> Vec<f64> {
    let (n, k) = (coordinates.n, coordinates.k());
    // A search with fitted contrasts keeps the sums of the rotation at which it began.
    let size = match search.adaptive {
        Some(_) => vec![1.0; k],
        None => sizes(coordinates, w),
    };
    // The search over k dimensions selects the largest value, which the critical value accounts for.
    let chance = ((k as f64).sqrt() + 2.0) / n.sqrt();
    // Sources of white rows all have the same scale, up to rounding: one integral serves all of them.
    let mut known: Option<(f64, f64)> = None;
    let mut deviation = |size: f64| match known {
        Some((of, deviation)) if (of - size).abs() <= 1e-9 * size => deviation,
        _ => known.insert((size, search.contrast.deviation_of_gaussian(size))).1,
    };
    let tail = |i: usize| {
        let limit = deviation(size[i]) * chance;
        (sums.slope[i] * size[i] * size[i] - sums.cross[(i, i)]) / limit
    };
    (0..k).map(tail).collect()
}

/// Offset that is subtracted from rows.
fn subtracted<T: Real>(rows: &Rows<'_, T>, coordinates: &Coordinates) -> Vec<f64> {
    coordinates.subtracted().map_or_else(|| vec![0.0; rows.n_features()], <[f64]>::to_vec)
}

/// Autocorrelation times of the terms that [`tails`] averages, for sources whose warning may depend on
/// them; 1 for the others.
fn autocorrelation_times<T: Real>(
    rows: &Rows<'_, T>,
    coordinates: &Coordinates,
    search: &Search<'_>,
    found: &SolverResult,
    tails: &[f64],
    run: &Run<'_>,
) -> Result<Vec<f64>> {
    let mut times = vec![1.0; tails.len()];
    let near: Vec<usize> = (0..tails.len()).filter(|&i| tails[i].abs() < SURELY_SIGNIFICANT_RATIO).collect();
    let significant = near.iter().any(|&i| tails[i].abs() >= 1.0);
    let wrong = fixed_sign(search).is_some() && near.iter().any(|&i| tails[i] < -1.0);
    // A single nearly Gaussian source is identifiable.
    if !(significant && near.len() >= 2 || wrong) {
        return Ok(times);
    }
    let unmixing = coordinates.folded(&found.w);
    let of_near = Matrix::from_fn(near.len(), unmixing.cols(), |i, j| unmixing[(near[i], j)]);
    let chosen = subsample::consecutive(rows, CONSECUTIVE_ROWS);
    let columns = subsample::columns(rows, chosen, &subtracted(rows, coordinates), &of_near, run)?;
    for (&i, mut y) in near.iter().zip(columns) {
        let n = y.len().max(1) as f64;
        let size = (y.iter().map(|y| y * y).sum::<f64>() / n).sqrt();
        if size > 0.0 {
            y.iter_mut().for_each(|y| *y /= size);
            search.contrast.departures(size, &mut y);
            times[i] = autocorrelation_time(y);
        }
    }
    Ok(times)
}

/// Standard deviation of each source, from the second moments of the coordinates.
pub(super) fn sizes(coordinates: &Coordinates, w: &Matrix<f64>) -> Vec<f64> {
    let second = match &coordinates.moments {
        None => factor::multiply_transposed(w, w),
        Some(c) => factor::multiply_transposed(&factor::multiply(w, c), w),
    };
    (0..w.rows()).map(|i| second[(i, i)].max(0.0).sqrt()).collect()
}

/// For searches whose contrasts have one sign: the tails that they assume, and those that they cannot separate.
fn fixed_sign(search: &Search<'_>) -> Option<(&'static str, &'static str)> {
    let fixed = match search.algorithm {
        Algorithm::PicardO { extended } | Algorithm::Picard { extended } | Algorithm::Easi { extended } => {
            !extended
        }
        _ => false,
    };
    fixed.then_some(match search.contrast {
        Contrast::LogCosh(_) | Contrast::Exp => (HEAVY_TAILS, FLAT_TAILS),
        Contrast::Cube | Contrast::AbsCube => (FLAT_TAILS, HEAVY_TAILS),
        Contrast::Skew => ("have negative skewness", "have positive skewness"),
    })
}

/// A warning if rows that are only rotated are not white: a rotation does not remove correlations.
fn not_white(coordinates: &Coordinates, search: &Search<'_>) -> Option<String> {
    let moments = coordinates.moments.as_ref().filter(|_| search.rotates_only())?;
    let p = moments.rows();
    let off = |(i, j): (usize, usize)| (moments[(i, j)] - f64::from(u8::from(i == j))).abs();
    let all = (0..p).flat_map(|i| (0..=i).map(move |j| (i, j)));
    let (i, j) = all.max_by(|a, b| off(*a).total_cmp(&off(*b)))?;
    let what = match i == j {
        true => format!("the variance of column {i} is {:.3}", moments[(i, i)]),
        false => format!("the covariance of columns {j} and {i} is {:.3}", moments[(i, j)]),
    };
    (off((i, j)) > NOT_WHITE_ERRORS / coordinates.n.sqrt()).then(|| {
        format!(
            "the rows are not white ({what}), and with whiten=false this algorithm estimates a rotation, which separates sources \
             of whitened rows only; leave whiten at its default, or whiten the rows first"
        )
    })
}

/// A warning if a Gaussian model of the rows has a higher likelihood than the sources, as with a wrong density of these.
fn less_likely_than_gaussian(
    coordinates: &Coordinates,
    search: &Search<'_>,
    found: &SolverResult,
) -> Option<String> {
    let Algorithm::Picard { .. } = search.algorithm else { return None };
    let entropy = 0.5 * coordinates.k() as f64 * (1.0 + (2.0 * std::f64::consts::PI).ln());
    let determinant = coordinates.moments.as_ref().map_or(0.0, |c| 0.5 * super::linear::log_determinant(c));
    let behind = found.value - (entropy + determinant);
    // A constant column has no density; whitened coordinates contain none.
    let has_density = coordinates.moments.is_none() || coordinates.n_constant == 0;
    (behind > 0.0 && behind.is_finite() && has_density).then(|| {
        let remedy = match fixed_sign(search) {
            Some(_) => "; set extended=true if sources may have flatter tails than a Gaussian",
            None => "",
        };
        format!(
            "a Gaussian model of the rows has a higher likelihood than these sources, by {behind:.3} nats for each row: the \
             assumed density of the sources does not fit{remedy}"
        )
    })
}

/// "source 3 seems to", "sources 0, 2 and 5 seem to".
fn listed(places: &[usize]) -> String {
    let names: Vec<String> = places.iter().map(usize::to_string).collect();
    match names.as_slice() {
        [one] => format!("source {one} seems to"),
        [all @ .., last] if names.len() <= MOST_LISTED_SOURCES => {
            format!("sources {} and {last} seem to", all.join(", "))
        }
        _ => format!("{} sources seem to", names.len()),
    }
}
