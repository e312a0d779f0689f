//! Tests and indices of goodness of fit, and tests of whether the columns are correlated.
//!
//! ```text
//! T = (n - 1 - (2p + 5)/6 - 2q/3) (log|C| + tr(C^-1 R) - log|R| - p)     chi-square of ((p - q)^2 - (p + q))/2 degrees of freedom (Bartlett 1951)
//! RMSEA = sqrt(max(T/df - 1, 0) / (n - 1))                                Steiger & Lind 1980
//! TLI = (T0/df0 - T/df) / (T0/df0 - 1), T0 of no factors                 Tucker & Lewis 1973
//! KMO = sum r_ij^2 / (sum r_ij^2 + sum a_ij^2), i != j, a = -P_ij/sqrt(P_ii P_jj), P = R^-1          Kaiser 1970
//! Bartlett's test of sphericity: -(n - 1 - (2p + 5)/6) log|R|, p (p - 1)/2 degrees of freedom
//! ```

use super::likelihood::Moments;
use super::row_moments::RowMoments;
use super::search::SearchResult;
use crate::error::Result;
use crate::num::factor;
use crate::select::ln_gamma;
use serde_json::{Map, Value};

/// Number of parameters of `q` factors of `p` columns, including means, without rotations.
pub(super) fn parameters(p: f64, q: f64) -> f64 {
    p * q - 0.5 * q * (q - 1.0) + 2.0 * p
}

/// The statistics of fit, by name. Those that cannot be computed are `null`, with the reason in `tests`: missing cells, singular
/// correlations, or no degrees of freedom.
///
/// # Errors
///
/// An eigendecomposition that does not converge.
pub(super) fn goodness(
    row_moments: &RowMoments,
    found: &SearchResult,
    q: usize,
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
        for name in NAMES {
            out.insert(name.into(), Value::Null);
        }
        let why = if row_moments.gaps.is_some() {
            "cells are missing"
        } else if n > p {
            "the correlations are singular"
        } else {
            "there are no more rows than columns"
        };
        out.insert("tests".into(), format!("none, because {why}").into());
        return Ok(out);
    };
    let log_det: f64 = factor::eigenvalues(r)?.iter().map(|v| v.ln()).sum();
    let (mut correlated, mut partial) = (0.0, 0.0);
    for i in 0..r.rows() {
        for j in 0..i {
            correlated += r[(i, j)].powi(2);
            partial += inverse[(i, j)].powi(2) / (inverse[(i, i)] * inverse[(j, j)]);
        }
    }
    let scale = n - 1.0 - (2.0 * p + 5.0) / 6.0;
    let (none, degrees_none) = (-scale * log_det, 0.5 * p * (p - 1.0));
    let degrees = 0.5 * ((p - q).powi(2) - (p + q));
    let test = ((scale - 2.0 * q / 3.0) * (found.point.value - log_det - p)).max(0.0);
    let tested = degrees > 0.0 && scale - 2.0 * q / 3.0 > 0.0;
    let told = |x: f64| Some(x).filter(|_| tested);
    put("chi_square", told(test));
    put("degrees_of_freedom", Some(degrees.max(0.0)));
    put("p_value", told(chi_square_above(test, degrees)));
    put("rmsea", told(((test / degrees - 1.0).max(0.0) / (n - 1.0)).sqrt()));
    let base = none / degrees_none;
    put("tli", told((base - test / degrees) / (base - 1.0)).filter(|_| base > 1.0));
    put("kmo", Some(correlated / (correlated + partial)).filter(|_| p > 1.0));
    let sphere = |x: f64| Some(x).filter(|_| scale > 0.0 && p > 1.0);
    put("bartlett_chi_square", sphere(none));
    put("bartlett_degrees_of_freedom", Some(degrees_none));
    put("bartlett_p_value", sphere(chi_square_above(none, degrees_none)));
    let said = if tested {
        "at the maximum of the likelihood"
    } else {
        "no test of the fit, because no degrees of freedom are left"
    };
    out.insert("tests".into(), said.into());
    Ok(out)
}

pub(super) const NAMES: [&str; 9] = [
    "chi_square",
    "degrees_of_freedom",
    "p_value",
    "rmsea",
    "tli",
    "kmo",
    "bartlett_chi_square",
    "bartlett_degrees_of_freedom",
    "bartlett_p_value",
];

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
    use super::chi_square_above;

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
