//! Tests whether a rotation of two sources in their plane makes them less Gaussian: then they are not
//! separated, even if the search has converged.
//!
//! A search with another contrast, or with adaptive widths, may converge at a mixture of two sources. The
//! criterion is `J = Σ (E log cosh y - E log cosh ν)²`, `ν` standard normal, over the two, whose bounded
//! slope limits the influence of outlying rows. The test statistic is the gain, `J` of the rotated pair minus `J` of
//! the pair itself, in units of the standard error of its first-order expansion, which is a mean over rows. For
//! autocorrelated rows the effective sample size of that mean is used.
//!
//! Measured on mixtures of 4 sources with Student's t distribution with 3 degrees of freedom: of 60 fits each with 1000 and 4000
//! rows, 17 and 13 ended with a source whose correlation with the truth is below 0.95, and all of these give a warning. Of 1700
//! fits of sources of fourteen other kinds, 2 to 20 sources and 300 to 8000 rows, whose correlations are all above 0.95, 5 give a
//! warning, 4 of them with Student's t with 6 degrees of freedom and correlations below 0.97.

use super::subsample;
use crate::data::Rows;
use crate::data::splits::autocorrelation_time;
use crate::error::Result;
use crate::num::parallel;
use crate::num::{Matrix, Real, widest};
use crate::run::Run;
use crate::stats::Contrast;

/// Angles by which pairs are rotated, in rad: slightly more than the angle for a correlation of 0.98, twice
/// that, and 45 degrees.
const ANGLES: [f64; 5] = [0.2, 0.4, std::f64::consts::FRAC_PI_4, -0.4, -0.2];

/// Required decrease of Gaussianity, in standard errors. After a rotation by 0.2 rad or more a correctly
/// separated pair is more Gaussian, so that the difference has a negative mean: see the head of this file for
/// the rate of false positives.
const LEAST_DECREASE_ERRORS: f64 = 1.5;

/// Maximum number of rows, and of values of the contrast, so that the cost is small compared with a search.
const MOST_ROWS: u64 = 1 << 14;
const MOST_VALUES: u64 = 1 << 25;

/// Minimum number of rows; if there are so many sources (some 80) that fewer rows than this could be used,
/// there is no test.
const FEWEST_ROWS: u64 = 1 << 10;

/// Number of consecutive rows from which the autocorrelation time is estimated for a pair that a rotation makes less Gaussian:
/// enough for autocorrelation times of several hundred rows.
const CONSECUTIVE_ROWS: u64 = 1 << 14;

/// Two sources that a rotation makes less Gaussian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PairRotation {
    /// Indices of the two sources.
    pub(super) pair: (usize, usize),
    /// Angle in rad.
    pub(super) angle: f64,
    /// The gain in `J` in standard errors.
    pub(super) t: f64,
}

/// The rotations of pairs of the sources `unmixing (x - mean)`, of variance 1, that significantly decrease their Gaussianity on a
/// part of the rows; for each pair the one with the largest decrease.
///
/// # Errors
///
/// Errors of a pass over the rows.
pub(super) fn better_rotations<T: Real>(
    rows: &Rows<'_, T>,
    mean: &[f64],
    unmixing: &Matrix<f64>,
    run: &Run<'_>,
) -> Result<Vec<PairRotation>> {
    let (k, n) = (unmixing.rows() as u64, subsample::n_rows(rows));
    let pairs = k * k.saturating_sub(1) / 2;
    if pairs == 0 {
        return Ok(Vec::new());
    }
    let m = (MOST_VALUES / (2 * ANGLES.len() as u64 * pairs)).min(MOST_ROWS).min(n);
    if m < n.min(FEWEST_ROWS) {
        return Ok(Vec::new());
    }
    let chosen = subsample::chosen(rows, m);
    let weights = rows.weights_at(&chosen).unwrap_or_else(|| vec![1.0; chosen.len()]);
    let columns = subsample::columns(rows, chosen, mean, unmixing, run)?;
    let rotations = of_columns(&columns, &weights);
    if rotations.is_empty() {
        return Ok(rotations);
    }
    let following =
        subsample::columns(rows, subsample::consecutive(rows, CONSECUTIVE_ROWS), mean, unmixing, run)?;
    Ok(of_dependent_rows(rotations, &following))
}

/// Those of `rotations` that remain significant with effective sample sizes; `columns` are sources of consecutive
/// rows.
fn of_dependent_rows(rotations: Vec<PairRotation>, columns: &[Vec<f64>]) -> Vec<PairRotation> {
    let with_effective_size = |rotation: PairRotation| {
        let (i, j) = rotation.pair;
        let time = autocorrelation_time(first_order(&columns[i], &columns[j], rotation.angle));
        PairRotation { t: rotation.t / time.sqrt(), ..rotation }
    };
    rotations
        .into_iter()
        .map(with_effective_size)
        .filter(|rotation| rotation.t > LEAST_DECREASE_ERRORS)
        .collect()
}

/// The significant rotation with the largest gain of each pair of columns, if rows are independent.
fn of_columns(columns: &[Vec<f64>], weights: &[f64]) -> Vec<PairRotation> {
    let each: Vec<Vec<f64>> = columns.iter().map(|y| log_cosh(y.iter().copied())).collect();
    let pairs: Vec<(usize, usize)> = (0..columns.len()).flat_map(|i| (0..i).map(move |j| (j, i))).collect();
    let best = |&(i, j): &(usize, usize)| {
        let of_angle = |&angle: &f64| {
            let (gain, error) = gain((&columns[i], &columns[j]), (&each[i], &each[j]), weights, angle);
            (gain, PairRotation { pair: (i, j), angle, t: if error > 0.0 { gain / error } else { 0.0 } })
        };
        let rotations =
            ANGLES.iter().map(of_angle).filter(|(_, rotation)| rotation.t > LEAST_DECREASE_ERRORS);
        rotations.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, rotation)| rotation)
    };
    parallel::map(pairs.iter(), best).into_iter().flatten().collect()
}

fn log_cosh<T: Real>(y: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = y.collect();
    widest(
        #[inline(always)]
        || values.iter_mut().for_each(|y| *y = y.log_cosh_of()),
    );
    values
}

/// The first-order contribution of each row to the gain in `J` by a rotation of two sources.
fn first_order(x: &[f64], y: &[f64], angle: f64) -> Vec<f64> {
    let (sin, cos) = angle.sin_cos();
    let along = log_cosh(x.iter().zip(y).map(|(x, y)| cos * x + sin * y));
    let across = log_cosh(x.iter().zip(y).map(|(x, y)| cos * y - sin * x));
    let values = [along, across, log_cosh(x.iter().copied()), log_cosh(y.iter().copied())];
    let departure =
        |v: &Vec<f64>| v.iter().sum::<f64>() / v.len() as f64 - Contrast::LogCosh(1.0).of_gaussian();
    let factors = [0, 1, 2, 3].map(|i| if i < 2 { 2.0 } else { -2.0 } * departure(&values[i]));
    (0..x.len()).map(|i| values.iter().zip(factors).map(|(v, f)| f * v[i]).sum()).collect()
}

/// The gain in `J` by a rotation of two sources, and its standard error; `unrotated` is `log cosh` of the sources themselves.
fn gain((x, y): (&[f64], &[f64]), unrotated: (&[f64], &[f64]), weights: &[f64], angle: f64) -> (f64, f64) {
    let (sin, cos) = angle.sin_cos();
    let along = log_cosh(x.iter().zip(y).map(|(x, y)| cos * x + sin * y));
    let across = log_cosh(x.iter().zip(y).map(|(x, y)| cos * y - sin * x));
    let n: f64 = weights.iter().sum();
    let mean = |values: &[f64]| values.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>() / n;
    let values = [&along[..], &across, unrotated.0, unrotated.1];
    let departure = values.map(|v| mean(v) - Contrast::LogCosh(1.0).of_gaussian());
    let gain = departure[0].powi(2) + departure[1].powi(2) - departure[2].powi(2) - departure[3].powi(2);
    // First-order contribution of a row, minus its mean.
    let factors = [2.0 * departure[0], 2.0 * departure[1], -2.0 * departure[2], -2.0 * departure[3]];
    let row = |i: usize| values.iter().zip(factors).map(|(v, f)| f * v[i]).sum::<f64>();
    let middle = values.iter().zip(factors).map(|(v, f)| f * mean(v)).sum::<f64>();
    let square: f64 = weights.iter().enumerate().map(|(i, w)| (w * (row(i) - middle)).powi(2)).sum();
    (gain, square.sqrt() / n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    fn laplace(n: usize, stream: u64) -> Vec<f64> {
        let s = Stream::new(3, stream);
        let draw = |i: usize| {
            let u = s.uniform(i as u64) - 0.5;
            -u.signum() * (1.0 - 2.0 * u.abs()).ln() / 2f64.sqrt()
        };
        (0..n).map(draw).collect()
    }

    fn rotated(x: &[f64], y: &[f64], angle: f64) -> [Vec<f64>; 2] {
        let (sin, cos) = angle.sin_cos();
        let pairs = || x.iter().zip(y);
        [pairs().map(|(x, y)| cos * x + sin * y).collect(), pairs().map(|(x, y)| cos * y - sin * x).collect()]
    }

    #[test]
    fn rotated_pairs_are_reported_with_their_angle_and_others_not() {
        let (n, alone) = (4000, laplace(4000, 2));
        for angle in [0.0, 0.2, 0.4, std::f64::consts::FRAC_PI_4, -0.4, -0.2] {
            let [x, y] = rotated(&laplace(n, 0), &laplace(n, 1), angle);
            let found = of_columns(&[x, alone.clone(), y], &vec![1.0; n]);
            if angle == 0.0 {
                assert!(found.is_empty(), "{found:?}");
                continue;
            }
            let [rotation] = found[..] else { panic!("{angle}: {found:?}") };
            // A further rotation by a right angle exchanges the two.
            let off = (rotation.angle + angle).rem_euclid(std::f64::consts::FRAC_PI_2);
            assert!(off.min(std::f64::consts::FRAC_PI_2 - off) < 1e-12, "{angle}: {rotation:?}");
            assert!(rotation.pair == (0, 2) && rotation.t > 4.0, "{rotation:?}");
        }
    }

    #[test]
    fn autocorrelated_rows_count_by_their_effective_sample_size() {
        // Every row is repeated twenty times: the effective sample size is a twentieth.
        let (n, times) = (500, 20);
        let again = |v: &[f64]| -> Vec<f64> { v.iter().flat_map(|v| vec![*v; times]).collect() };
        let [x, y] = rotated(&laplace(n, 0), &laplace(n, 1), 0.2);
        let once = of_columns(&[x.clone(), y.clone()], &vec![1.0; n]);
        let columns = [again(&x), again(&y)];
        let counted = of_columns(&columns, &vec![1.0; n * times]);
        assert!((counted[0].t / once[0].t / (times as f64).sqrt() - 1.0).abs() < 1e-9);
        let [worth] = of_dependent_rows(counted, &columns)[..] else { panic!("{once:?}") };
        assert!((0.6..1.4).contains(&(worth.t / once[0].t)), "{} and {}", worth.t, once[0].t);
        // Independent rows keep their sample size.
        assert_eq!(of_dependent_rows(once.clone(), &[x, y]), once);
    }

    #[test]
    fn a_weight_is_a_number_of_repetitions_and_0_leaves_a_row_out() {
        let n = 900;
        let [x, y] = rotated(&laplace(n, 0), &laplace(n, 1), 0.4);
        let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
        let times = |v: &[f64]| -> Vec<f64> {
            v.iter().zip(&weights).flat_map(|(v, w)| vec![*v; *w as usize]).collect()
        };
        let (each, plain) =
            ([log_cosh(x.iter().copied()), log_cosh(y.iter().copied())], [times(&x), times(&y)]);
        let all = plain.clone().map(|v| log_cosh(v.into_iter()));
        let ones = vec![1.0; plain[0].len()];
        let weighted = gain((&x, &y), (&each[0], &each[1]), &weights, -0.4);
        let repeated = gain((&plain[0], &plain[1]), (&all[0], &all[1]), &ones, -0.4);
        assert!((weighted.0 / repeated.0 - 1.0).abs() < 1e-12, "{weighted:?} {repeated:?}");
        // A row of weight 2 is one observation here.
        assert!(weighted.1 > repeated.1 && weighted.1 < 1.5 * repeated.1, "{weighted:?} {repeated:?}");
    }
}
