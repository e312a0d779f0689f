//! Separation of pairs of components, and verdicts.
//!
//! With axes kept orthonormal and the gradient of each weighted by `sigma^alpha`, a solution separates the pair `(i, j)` of
//! independent sources exactly where
//!
//! ```text
//! L_ij = s_j^alpha (s_i^2 A_j - s_j^2 b_j) + s_i^alpha (s_j^2 A_i - s_i^2 b_i) > 0
//! ```
//!
//! For equal variances that is `(A_i - b_i) + (A_j - b_j) > 0`: independence alone. For Gaussian sources, where `A = b < 0`, and
//! `alpha = 2`, `L_ij = -A (s_i^2 - s_j^2)^2`: variance alone. The functions below return `L_ij` divided by `s^(alpha + 2)` of the larger
//! standard deviation, so that it does not depend on the scale of the data.
//!
//! A component is *resolved* if all of the following hold: its codes are not Gaussian, and every `L_ij` of the component is positive,
//! both beyond what a search among as many directions would find under the null hypothesis ([`evidence`](super::evidence)); an
//! upper bound of its angle from the population axis is below 18 degrees; the fits of halves of the rows, if there are any, agree
//! about it; and the fit converged. Bounds are such that at most 1 model of 100 has a component that is resolved and wrong.

use super::auto::{CANDIDATES, SIGNIFICANT_ERRORS, is_significant};
use super::evidence::SamplingError;
use super::separation::Separation;
use crate::num::Matrix;

/// `L_ij` for independent codes, and its standard error due to `A` and `b`.
pub fn separation(sigma: &[f64], statistics: &Separation, alpha: f64, i: usize, j: usize) -> (f64, f64) {
    pair_coefficient(sigma, statistics, alpha, i, j, statistics.score_slope[j], statistics.score_slope[i])
}

/// `L_ij` without the assumption that codes are independent: the curvature for a rotation of the pair, negative at a saddle.
/// `pair_slope` has `E[z_i^2 phi'(z_j)]`, which is `A_j` for independent codes.
pub(crate) fn curvature(
    sigma: &[f64],
    statistics: &Separation,
    pair_slope: &Matrix<f64>,
    alpha: f64,
    i: usize,
    j: usize,
) -> (f64, f64) {
    pair_coefficient(sigma, statistics, alpha, i, j, pair_slope[(i, j)], pair_slope[(j, i)])
}

fn pair_coefficient(
    sigma: &[f64],
    statistics: &Separation,
    alpha: f64,
    i: usize,
    j: usize,
    of_j: f64,
    of_i: f64,
) -> (f64, f64) {
    let larger = sigma[i].max(sigma[j]);
    let (si, sj) = (sigma[i] / larger, sigma[j] / larger);
    let of_j = sj.powf(alpha) * (si * si * of_j - sj * sj * statistics.b[j]);
    let of_i = si.powf(alpha) * (sj * sj * of_i - si * si * statistics.b[i]);
    let error = (si.powf(alpha) * statistics.error[i]).hypot(sj.powf(alpha) * statistics.error[j]);
    (of_j + of_i, error)
}

/// Why a component does not count as resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unresolved {
    /// All of its codes are in the linear range of the nonlinearity, which cannot separate there.
    LinearRange,
    /// It cannot be distinguished from a Gaussian: it is determined by its variance alone.
    Gaussian,
    /// The nonlinearity selects minor components, or mixes it with others of the same kind; this `a` would not.
    UnsuitableWidth(f64),
    /// The same, and no candidate of `a` would separate it.
    UnsuitableNonlinearity,
    /// It is not separated from this component.
    NotSeparatedFrom(usize),
    /// It is not separated from directions outside of the components.
    NotSeparatedFromComplement,
    /// Its sampling error cannot be estimated: rows are too few, or components far from orthogonal.
    NoStandardError,
    /// The bound of its sampling error, this angle in rad, is too large.
    LargeAngle(f64),
    /// The smallest cosine between it and the corresponding components of the halves of the rows, which is too small.
    HalvesDisagree(f64),
    /// The fit ended before it converged.
    NotConverged,
}

/// The verdict on a component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// `b`, which is negative if the nonlinearity selects large variance.
    pub variance_seeking: f64,
    /// The smallest `L_ij` over all others; `-b` if there is no other component.
    pub separation: f64,
    /// The largest `t` over the nonlinearities, not corrected for selection.
    pub certainty: f64,
    /// The reason if it is not resolved.
    pub reason: Option<Unresolved>,
}

/// A component is wrong if its cosine with the population axis is below this.
pub(crate) const MIN_COSINE: f64 = 0.95;
/// The cosine below which halves of the rows disagree.
pub(crate) const MIN_HALVES_COSINE: f64 = 0.9;

/// Input of the verdicts.
#[derive(Clone, Copy, Debug)]
pub struct VerdictInput<'a> {
    /// Standard deviations along the components.
    pub sigma: &'a [f64],
    /// Exponent of the weights.
    pub alpha: f64,
    /// Statistics under the nonlinearity in use.
    pub own: &'a Separation,
    /// Statistics under the candidates of `a = "auto"`.
    pub candidates: &'a [Separation],
    /// The sampling error of each component, if it can be estimated.
    pub certainty: Option<&'a [SamplingError]>,
    /// For each component the least of the three cosines between it and the corresponding components of the two halves; none if halves were
    /// not fitted.
    pub halves: Option<&'a [f64]>,
    /// Whether the fit converged.
    pub converged: bool,
}

/// A verdict on every component.
pub fn verdicts(input: &VerdictInput<'_>) -> Vec<Verdict> {
    let k = input.sigma.len();
    let verdict = |j: usize| {
        let others =
            (0..k).filter(|&i| i != j).map(|i| separation(input.sigma, input.own, input.alpha, i, j).0);
        let least = if k == 1 { -input.own.b[j] } else { others.fold(f64::INFINITY, f64::min) };
        let certainty =
            input.candidates.iter().map(|statistics| statistics.t[j]).fold(input.own.t[j], f64::max);
        Verdict {
            variance_seeking: input.own.b[j],
            separation: least,
            certainty,
            reason: reason(input, j, least),
        }
    };
    (0..k).map(verdict).collect()
}

/// Why component `j`, whose smallest `L_ij` is `least`, is not resolved.
fn reason(input: &VerdictInput<'_>, j: usize, least: f64) -> Option<Unresolved> {
    let (own, candidates) = (input.own, input.candidates);
    let better = || {
        let works = |c: &usize| candidates[*c].b[j] < 0.0 && candidates[*c].t[j] > SIGNIFICANT_ERRORS;
        match (0..candidates.len()).find(works) {
            Some(c) => Unresolved::UnsuitableWidth(CANDIDATES[c]),
            None => Unresolved::UnsuitableNonlinearity,
        }
    };
    if own.b[j].abs() < 1e-12 {
        return Some(Unresolved::LinearRange);
    }
    if own.b[j] > 0.0 {
        return Some(better());
    }
    let Some(sampling) = input.certainty.map(|all| &all[j]) else { return Some(Unresolved::NoStandardError) };
    if sampling.t <= sampling.needed && !is_significant(candidates, j) {
        return Some(Unresolved::Gaussian);
    }
    if sampling.t <= sampling.needed || least <= 0.0 || sampling.least <= sampling.needed {
        let by_another = candidates
            .iter()
            .any(|statistics| statistics.t[j] > SIGNIFICANT_ERRORS && statistics.t[j] > own.t[j]);
        return Some(match by_another && (least <= 0.0 || sampling.t <= sampling.needed) {
            true => better(),
            false if sampling.partner < input.sigma.len() => Unresolved::NotSeparatedFrom(sampling.partner),
            false => Unresolved::NotSeparatedFromComplement,
        });
    }
    if sampling.angle >= MIN_COSINE.acos() {
        return Some(Unresolved::LargeAngle(sampling.angle));
    }
    if let Some(cosine) = input.halves.map(|h| h[j]).filter(|c| *c < MIN_HALVES_COSINE) {
        return Some(Unresolved::HalvesDisagree(cosine));
    }
    (!input.converged).then_some(Unresolved::NotConverged)
}

/// The verdicts as sentences, one for each reason.
pub fn in_words(verdicts: &[Verdict], a: &[f64]) -> Vec<String> {
    let k = verdicts.len();
    let whose = |is: &dyn Fn(&Unresolved) -> bool| -> Vec<usize> {
        (0..k).filter(|&j| verdicts[j].reason.as_ref().is_some_and(is)).collect()
    };
    let mut out = Vec::new();
    let gaussian = whose(&|d| *d == Unresolved::Gaussian);
    if gaussian.len() == k && k > 0 {
        out.push(
            "no component can be distinguished from a Gaussian one, so nothing beyond PCA is identifiable: components of distinct \
             variances are principal axes; those of equal variances may be arbitrary"
                .into(),
        );
    } else if !gaussian.is_empty() {
        out.push(format!(
            "{} near-Gaussian: resolved by variance alone, if at all",
            named(&gaussian, "is", "are")
        ));
    }
    let unseen = whose(&|d| *d == Unresolved::LinearRange);
    if !unseen.is_empty() {
        let tail =
            "in the linear range of this nonlinearity, which cannot separate there; choose a smaller a";
        out.push(format!("{} {tail}", named(&unseen, "is", "are")));
    }
    let better = |c: f64| mixed_by_width(&whose(&|d| *d == Unresolved::UnsuitableWidth(c)), a, c);
    out.extend(CANDIDATES.into_iter().filter_map(better));
    let nonlinearity = whose(&|d| *d == Unresolved::UnsuitableNonlinearity);
    if !nonlinearity.is_empty() {
        out.push(format!(
            "{} minor for this nonlinearity, which selects components of little variance (E[z phi(z)] > 0); choose h='tanh' and a='auto'",
            named(&nonlinearity, "is", "are")
        ));
    }
    for (j, verdict) in verdicts.iter().enumerate() {
        if let Some(Unresolved::NotSeparatedFrom(i)) = verdict.reason {
            out.push(format!(
                "component {j} is not separated from component {i}: within the sampling error, a rotation of the two fits as well"
            ));
        }
    }
    for (is, why) in UNRESOLVED {
        let which = whose(&is);
        if !which.is_empty() {
            out.push(format!("{} not resolved: {why}", named(&which, "is", "are")));
        }
    }
    out
}

/// The sentence about components of the widths `a` that the width `c` would separate, if there are any.
fn mixed_by_width(wrong: &[usize], a: &[f64], c: f64) -> Option<String> {
    let first = *wrong.first()?;
    let widths = match wrong.iter().all(|&j| a[j] == a[first]) {
        true => format!("a={}", a[first]),
        false => "its a".into(),
    };
    let (its, it) = match wrong.len() {
        1 => ("its distribution", "it"),
        _ => ("their distributions", "them"),
    };
    Some(format!(
        "{} mixed with others by {widths}, which does not suit {its}; a={c} would separate {it}",
        named(wrong, "is", "are"),
    ))
}

/// Whether a reason is of one kind.
type IsReason = fn(&Unresolved) -> bool;

/// Components that are not resolved, by reason.
const UNRESOLVED: [(IsReason, &str); 5] = [
    (
        |d| *d == Unresolved::NotSeparatedFromComplement,
        "within the sampling error, a rotation with directions that were not kept fits as well",
    ),
    (
        |d| *d == Unresolved::NoStandardError,
        "rows are too few, or too strongly autocorrelated, or components are too far from orthogonal, to estimate a standard error",
    ),
    (
        |d| matches!(d, Unresolved::LargeAngle(_)),
        "the upper bound of the angle from the population axis is 18 degrees or more (a cosine of 0.95); more rows would reduce it",
    ),
    (
        |d| matches!(d, Unresolved::HalvesDisagree(_)),
        "the fits of two halves of the rows and of all rows differ (a cosine below 0.9)",
    ),
    (|d| *d == Unresolved::NotConverged, "the fit ended before it converged"),
];

fn named(which: &[usize], one: &str, many: &str) -> String {
    match which {
        [j] => format!("component {j} {one}"),
        [all @ .., last] => {
            let all: Vec<String> = all.iter().map(usize::to_string).collect();
            format!("components {} and {last} {many}", all.join(", "))
        }
        [] => String::new(),
    }
}
