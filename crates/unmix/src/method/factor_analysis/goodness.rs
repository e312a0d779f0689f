//! Tests and indices of goodness of fit, and tests of whether the columns are correlated.
//!
//! ```text
//! T = (n - 1 - (2p + 5)/6 - 2q/3) (log|C| + tr(C^-1 R) - log|R| - p)     chi-square of ((p - q)^2 - (p + q))/2 degrees of freedom (Bartlett 1951)
//! RMSEA = sqrt(max(T/df - 1, 0) / (n - 1))                                Steiger & Lind 1980
//!   90 % interval: sqrt(L / (df (n - 1))), L the noncentralities at which P(chi2(df, L) <= T) is 0.95 and 0.05      Browne & Cudeck 1993, eq. 10
//! TLI = (T0/df0 - T/df) / (T0/df0 - 1), T0 of no factors                 Tucker & Lewis 1973
//! CFI = 1 - max(T - df, 0) / max(T0 - df0, T - df, 0)                     Bentler 1990
//! SRMR = sqrt(sum_{i <= j} (r_ij - c_ij)^2 / (p (p + 1)/2)), c in units of the columns' standard deviations          Bentler 1995; Hu & Bentler 1999
//! KMO = sum r_ij^2 / (sum r_ij^2 + sum a_ij^2), i != j, a = -P_ij/sqrt(P_ii P_jj), P = R^-1          Kaiser 1970
//! Bartlett's test of sphericity: -(n - 1 - (2p + 5)/6) log|R|, p (p - 1)/2 degrees of freedom
//! ```

use super::likelihood::{Moments, Point};
use super::row_moments::RowMoments;
use super::search::SearchResult;
use crate::error::Result;
use crate::num::{Matrix, factor};
use crate::run::Outcome;
use crate::select::ln_gamma;
use serde_json::{Map, Value};

/// Number of parameters of `q` factors of `p` columns, including means, without rotations.
pub(super) fn parameters(p: f64, q: f64) -> f64 {
    p * q - 0.5 * q * (q - 1.0) + 2.0 * p
}

/// The statistics of fit, by name; the uniquenesses of `n_heywood` columns are at their lower bound. Those that cannot be computed are `null`,
/// with the reason in `tests`: missing cells, singular correlations, or no degrees of freedom. Otherwise `tests` is where they were computed.
///
/// # Errors
///
/// An eigendecomposition that does not converge.
pub(super) fn goodness(
    row_moments: &RowMoments,
    found: &SearchResult,
    (q, n_heywood): (usize, usize),
) -> Result<Map<String, Value>> {
    let (p, q, n) = (row_moments.varying.len() as f64, q as f64, row_moments.n);
    let mut out = Map::new();
    let mut put = |name: &str, x: Option<f64>| {
        let finite = x.filter(|x| x.is_finite());
        out.insert(name.into(), finite.map_or(Value::Null, Value::from));
    };
    let likelihood = found.log_likelihood.last().copied().unwrap_or(f64::NAN);
    put("log_likelihood", Some(likelihood));
    put("aic", Some(-2.0 * likelihood + 2.0 * parameters(p, q)));
    put("bic", Some(-2.0 * likelihood + n.ln() * parameters(p, q)));
    let inverse = row_moments.moments.inverse(row_moments.dtype.eps()).filter(|_| n > p);
    let (Some(inverse), Moments::Table(r)) = (inverse, &row_moments.moments) else {
        out.extend(without_tests(row_moments.gaps.is_some(), n > p));
        return Ok(out);
    };
    let log_det: f64 = factor::eigenvalues(r)?.iter().map(|v| v.ln()).sum();
    let (correlated, partial) = sums_of_squares(r, &inverse);
    let scale = n - 1.0 - (2.0 * p + 5.0) / 6.0;
    let (none, degrees_none) = (-scale * log_det, 0.5 * p * (p - 1.0));
    let degrees = 0.5 * ((p - q).powi(2) - (p + q));
    let test = ((scale - 2.0 * q / 3.0) * (found.point.value - log_det - p)).max(0.0);
    let tested = degrees > 0.0 && scale - 2.0 * q / 3.0 > 0.0;
    let if_tested = |x: f64| Some(x).filter(|_| tested);
    put("chi_square", if_tested(test));
    put("degrees_of_freedom", Some(degrees.max(0.0)));
    put("p_value", if_tested(chi_square_above(test, degrees)));
    put("rmsea", if_tested(((test / degrees - 1.0).max(0.0) / (n - 1.0)).sqrt()));
    let at = |probability: f64| (noncentrality(test, degrees, probability) / (degrees * (n - 1.0))).sqrt();
    let interval = if tested { [Some(at(0.95)), Some(at(0.05))] } else { [None; 2] };
    put("rmsea_lower", interval[0]);
    put("rmsea_upper", interval[1]);
    let base = none / degrees_none;
    put("tli", if_tested((base - test / degrees) / (base - 1.0)).filter(|_| base > 1.0));
    let (excess, excess_none) = ((test - degrees).max(0.0), (none - degrees_none).max(0.0));
    let largest = excess.max(excess_none);
    put("cfi", if_tested(if largest > 0.0 { 1.0 - excess / largest } else { 1.0 }));
    put("srmr", Some(root_mean_square_residual(r, &found.point)));
    put("kmo", Some(correlated / (correlated + partial)).filter(|_| p > 1.0));
    let sphere = |x: f64| Some(x).filter(|_| scale > 0.0 && p > 1.0);
    put("bartlett_chi_square", sphere(none));
    put("bartlett_degrees_of_freedom", Some(degrees_none));
    put("bartlett_p_value", sphere(chi_square_above(none, degrees_none)));
    let tests = match tested {
        true => where_tested(found.outcome, n_heywood),
        false => "no test of the fit, because no degrees of freedom are left".into(),
    };
    out.insert("tests".into(), tests.into());
    Ok(out)
}

/// Where the statistics were computed. Their distributions are those at a maximum inside the bounds.
fn where_tested(outcome: Outcome, n_heywood: usize) -> String {
    let at_floor = match n_heywood {
        0 => None,
        1 => Some("the uniqueness of 1 column is at noise_floor (a Heywood case)".to_string()),
        n => Some(format!("the uniquenesses of {n} columns are at noise_floor (Heywood cases)")),
    };
    let early =
        (!outcome.is_success()).then(|| format!("the fit did not converge (outcome '{}')", outcome.name()));
    match (early, at_floor) {
        (None, None) => "at the maximum of the likelihood".into(),
        (None, Some(floor)) => {
            format!("at the maximum of the likelihood within noise_floor, approximate, because {floor}")
        }
        (Some(early), None) => format!("below the maximum of the likelihood, approximate, because {early}"),
        (Some(early), Some(floor)) => {
            format!("below the maximum of the likelihood, approximate, because {early}, and {floor}")
        }
    }
}

/// The entries where the correlations have no inverse: of rows with `gaps`, of more rows than columns, or of fewer.
fn without_tests(gaps: bool, more_rows: bool) -> impl Iterator<Item = (String, Value)> {
    let why = if gaps {
        "cells are missing"
    } else if more_rows {
        "the correlations are singular"
    } else {
        "there are no more rows than columns"
    };
    let none = NAMES.into_iter().map(|name| (name.to_string(), Value::Null));
    none.chain([("tests".to_string(), format!("none, because {why}").into())])
}

/// Sums over pairs of columns of the squares of their correlations, and of their partial correlations given all other columns.
fn sums_of_squares(r: &Matrix<f64>, inverse: &Matrix<f64>) -> (f64, f64) {
    let (mut correlated, mut partial) = (0.0, 0.0);
    for i in 0..r.rows() {
        for j in 0..i {
            correlated += r[(i, j)].powi(2);
            partial += inverse[(i, j)].powi(2) / (inverse[(i, i)] * inverse[(j, j)]);
        }
    }
    (correlated, partial)
}

pub(super) const NAMES: [&str; 13] = [
    "chi_square",
    "degrees_of_freedom",
    "p_value",
    "rmsea",
    "rmsea_lower",
    "rmsea_upper",
    "tli",
    "cfi",
    "srmr",
    "kmo",
    "bartlett_chi_square",
    "bartlett_degrees_of_freedom",
    "bartlett_p_value",
];

/// Root mean square of the residual correlations, the variances included (SRMR).
fn root_mean_square_residual(r: &Matrix<f64>, at: &Point) -> f64 {
    let (l, psi, p) = (at.loadings(), at.psi(), r.rows());
    let modelled = |i: usize, j: usize| {
        let common: f64 = (0..l.rows()).map(|a| l[(a, i)] * l[(a, j)]).sum();
        common + if i == j { psi[i] } else { 0.0 }
    };
    let pairs = (0..p).flat_map(|i| (0..=i).map(move |j| (i, j)));
    let squares: f64 = pairs.map(|(i, j)| (r[(i, j)] - modelled(i, j)).powi(2)).sum();
    (squares / (0.5 * (p * (p + 1)) as f64)).sqrt()
}

/// The noncentrality at which the noncentral chi-square distribution is at most `x` with this probability; 0 if it is less without one.
fn noncentrality(x: f64, degrees: f64, probability: f64) -> f64 {
    let below = |noncentrality: f64| noncentral_below(x, degrees, noncentrality);
    if below(0.0) <= probability {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, x.max(1.0));
    while below(high) > probability {
        (low, high) = (high, 2.0 * high);
    }
    // Bisection to the precision of the numbers.
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if below(middle) > probability { low = middle } else { high = middle }
    }
}

/// Noncentrality above which the distribution function is that of a transformed normal variable.
const LARGE_NONCENTRALITY: f64 = 1e6;

/// Distribution function of the noncentral chi-square distribution: central ones of `degrees + 2 j` degrees of freedom, weighted by the Poisson
/// distribution of mean `noncentrality / 2`, from its mode in both directions. `O(sqrt(noncentrality))` terms, each from the one before.
fn noncentral_below(x: f64, degrees: f64, noncentrality: f64) -> f64 {
    if noncentrality > LARGE_NONCENTRALITY {
        return noncentral_below_normal(x, degrees, noncentrality);
    }
    let (mean, half) = (0.5 * noncentrality, 0.5 * x);
    let mode = mean.floor();
    let a = 0.5 * degrees + mode;
    let below = 1.0 - chi_square_above(x, 2.0 * a);
    if mean == 0.0 || x <= 0.0 {
        return below;
    }
    let weight = (mode * mean.ln() - mean - ln_gamma(mode + 1.0)).exp();
    // Difference between the distribution functions of 2a and of 2a + 2 degrees of freedom.
    let step = (a * half.ln() - half - ln_gamma(a + 1.0)).exp();
    let least = weight * f64::EPSILON;
    let mut sum = weight * below;
    let (mut j, mut w, mut f, mut t, mut b) = (mode, weight, below, step, a);
    while w > least {
        f = (f - t).max(0.0);
        b += 1.0;
        t *= half / b;
        j += 1.0;
        w *= mean / j;
        sum += w * f;
    }
    (j, w, f, t, b) = (mode, weight, below, step, a);
    while j > 0.0 && w > least {
        t *= b / half;
        b -= 1.0;
        f = (f + t).min(1.0);
        w *= j / mean;
        j -= 1.0;
        sum += w * f;
    }
    sum.clamp(0.0, 1.0)
}

/// The same for a large noncentrality, at the cost of no more than a formula: a power of the variable is nearly normal (Sankaran 1963, Biometrika
/// 50:199, the third approximation).
fn noncentral_below_normal(x: f64, degrees: f64, noncentrality: f64) -> f64 {
    let (one, two, three) =
        (degrees + noncentrality, degrees + 2.0 * noncentrality, degrees + 3.0 * noncentrality);
    let h = 1.0 - 2.0 / 3.0 * one * three / (two * two);
    let p = two / (one * one);
    let m = (h - 1.0) * (1.0 - 3.0 * h);
    // (x / one)^h - 1, without the cancellation of a ratio near 1.
    let power = (h * ((x - one) / one).ln_1p()).exp_m1();
    let shift = h * p * (h - 1.0 - 0.5 * (2.0 - h) * m * p);
    let z = (power - shift) / (h * (2.0 * p).sqrt() * (1.0 + 0.5 * m * p));
    let tail = 0.5 * chi_square_above(z * z, 1.0);
    if z < 0.0 { tail } else { 1.0 - tail }
}

/// Upper tail probability at `x` of the chi-square distribution with `degrees` degrees of freedom: the regularised incomplete gamma function,
/// by its series below the mean and by its continued fraction (Lentz) above.
fn chi_square_above(x: f64, degrees: f64) -> f64 {
    let (a, x) = (0.5 * degrees, 0.5 * x);
    if !(x > 0.0 && a > 0.0) {
        return 1.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut k) = (1.0 / a, 1.0 / a, a);
        while term > sum * f64::EPSILON * 0.1 {
            k += 1.0;
            term *= x / k;
            sum += term;
        }
        return (1.0 - front * sum).clamp(0.0, 1.0);
    }
    let (mut b, mut c) = (x + 1.0 - a, f64::MAX);
    let mut d = 1.0 / b;
    let mut fraction = d;
    for i in 1..10_000 {
        let i = f64::from(i);
        let step = -i * (i - a);
        b += 2.0;
        d = 1.0 / (step * d + b);
        c = b + step / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < 4.0 * f64::EPSILON {
            break;
        }
    }
    (front * fraction).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::{
        LARGE_NONCENTRALITY, chi_square_above, noncentral_below, noncentral_below_normal, noncentrality,
    };

    /// scipy.stats.ncx2.cdf, and its roots in the noncentrality by scipy.optimize.brentq, 1.17.1.
    #[test]
    fn noncentral_chi_square_and_its_interval_are_scipys() {
        for (x, degrees, noncentral, want) in [
            (500.0, 207.0, 300.0, 0.4395552269517347),
            (60.0, 26.0, 20.0, 0.8838394797300014),
            (3.0, 1.0, 0.5, 0.839944426939826),
            (21_000.0, 10_000.0, 10_500.0, 0.9771067579212186),
            (900.0, 4.0, 1000.0, 0.04731346463854802),
        ] {
            let found = noncentral_below(x, degrees, noncentral);
            assert!((found - want).abs() < 1e-10, "{x} {degrees} {noncentral}: {found:e} {want:e}");
        }
        for (x, degrees, want) in [
            (60.0, 26.0, [15.201228476265042, 60.5110737079784]),
            (300.0, 207.0, [50.847901077389956, 143.15847006368298]),
            (40.0, 26.0, [0.7495097694037874, 35.177479619621245]),
            (20.0, 26.0, [0.0, 7.394738830685842]),
            (9000.0, 207.0, [8486.41413190563, 9107.010118993181]),
        ] {
            let found = [0.95, 0.05].map(|probability| noncentrality(x, degrees, probability));
            let near = found.iter().zip(want).all(|(a, b)| (a - b).abs() <= 1e-8 * b);
            assert!(near, "{x} {degrees}: {found:?} {want:?}");
        }
    }

    /// Both branches agree where they meet, and large chi-squares, as of large weights, take no longer.
    #[test]
    fn large_noncentralities_are_those_of_a_normal_variable() {
        for (degrees, z) in [(5.0, -1.6), (5.0, 0.0), (26.0, 1.6), (5000.0, 1.0)] {
            let x = degrees + LARGE_NONCENTRALITY + z * (2.0 * (degrees + 2.0 * LARGE_NONCENTRALITY)).sqrt();
            let (sum, normal) = (
                noncentral_below(x, degrees, LARGE_NONCENTRALITY),
                noncentral_below_normal(x, degrees, LARGE_NONCENTRALITY),
            );
            assert!((sum - normal).abs() < 1e-6, "{degrees} {z}: {sum} {normal}");
        }
        // The interval of a normal variable of mean x and standard deviation 2 sqrt(x).
        for x in [1e10f64, 1e15, 1e21] {
            for (probability, z) in [(0.95, 1.6448536269514722), (0.05, -1.6448536269514722)] {
                let found = noncentrality(x, 5.0, probability);
                let expected = x - z * 2.0 * x.sqrt();
                assert!(
                    (found / expected - 1.0).abs() < 1e-4 / x.sqrt().min(1e5),
                    "{x:e}: {found:e} {expected:e}"
                );
            }
        }
    }

    /// scipy.stats.chi2.sf, 1.17.1.
    #[test]
    fn tails_of_chi_square_are_scipys() {
        for (x, degrees, want) in [
            (3.841458820694124, 1.0, 0.05),
            (1.0, 1.0, 0.31731050786291115),
            (0.1, 4.0, 0.9987908957257497),
            (26.0, 26.0, 0.46310474709968075),
            (60.0, 26.0, 0.00016769764955133082),
            (500.0, 300.0, 3.3592224575792775e-12),
        ] {
            let found = chi_square_above(x, degrees);
            assert!((found / want - 1.0).abs() < 1e-9, "{x} {degrees}: {found:e} {want:e}");
        }
        assert_eq!(chi_square_above(0.0, 5.0), 1.0);
    }
}
