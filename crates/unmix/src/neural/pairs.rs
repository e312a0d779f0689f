//! Which components are told apart, by what, and which are not: the law of pairs.
//!
//! With axes kept orthonormal and the force of each weighted by `sigma^alpha`, a solution separates the pair `(i, j)` of
//! independent sources exactly where
//!
//! ```text
//! L_ij = s_j^alpha (s_i^2 A_j - s_j^2 b_j) + s_i^alpha (s_j^2 A_i - s_i^2 b_i) > 0
//! ```
//!
//! For equal variances that is `(A_i - b_i) + (A_j - b_j) > 0`: independence alone. For Gaussian sources, where `A = b < 0`, it is
//! `-A (s_i^2 - s_j^2)^2` (with `alpha = 2`, divided by nothing): variance alone. Numbers here are divided by `s^(alpha + 2)` of the
//! larger of the two, so that they do not depend on the scale of the data.

use super::auto::{CANDIDATES, CERTAIN, is_certain};
use super::forces::Look;
use crate::num::Matrix;

/// `L_ij`, and its standard error as far as `A` and `b` are uncertain.
pub fn separation(sigma: &[f64], look: &Look, alpha: f64, i: usize, j: usize) -> (f64, f64) {
    law(sigma, look, alpha, i, j, look.growth[j], look.growth[i])
}

/// The same with the codes as they are, dependent or not: negative where a small turn of the two would grow, as at a saddle.
/// `bend` has `E[z_i^2 phi'(z_j)]`, which is `A_j` where codes are independent.
pub fn curvature(
    sigma: &[f64],
    look: &Look,
    bend: &Matrix<f64>,
    alpha: f64,
    i: usize,
    j: usize,
) -> (f64, f64) {
    law(sigma, look, alpha, i, j, bend[(i, j)], bend[(j, i)])
}

fn law(sigma: &[f64], look: &Look, alpha: f64, i: usize, j: usize, of_j: f64, of_i: f64) -> (f64, f64) {
    let larger = sigma[i].max(sigma[j]);
    let (si, sj) = (sigma[i] / larger, sigma[j] / larger);
    let of_j = sj.powf(alpha) * (si * si * of_j - sj * sj * look.b[j]);
    let of_i = si.powf(alpha) * (sj * sj * of_i - si * si * look.b[i]);
    let error = (si.powf(alpha) * look.error[i]).hypot(sj.powf(alpha) * look.error[j]);
    (of_j + of_i, error)
}

/// Why a component does not count as resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Doubt {
    /// All of its codes are in the straight part of the nonlinearity, which does not see it.
    Unseen,
    /// It cannot be told from a Gaussian: it rests on its variance alone.
    Gaussian,
    /// The nonlinearity draws it to small variance, or mixes it with others like it; this `a` would not.
    WrongWidth(f64),
    /// The same, and neither candidate would do better.
    WrongShape,
    /// It is not told apart from this one.
    Tied(usize),
}

/// What can be said of a component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// `b`: negative where it is drawn to variance.
    pub seeking: f64,
    /// The smallest `L_ij` over all others; `-b` where there is no other.
    pub separation: f64,
    /// The largest `t` of the nonlinearities that were looked at.
    pub certainty: f64,
    /// Why it is not resolved, where it is not.
    pub doubt: Option<Doubt>,
}

/// A verdict on every component. `own` is what the nonlinearity in use sees, `candidates` what those of `a = "auto"` see.
pub fn verdicts(sigma: &[f64], own: &Look, candidates: &[Look], alpha: f64) -> Vec<Verdict> {
    let k = sigma.len();
    (0..k)
        .map(|j| {
            let others = (0..k).filter(|&i| i != j).map(|i| (separation(sigma, own, alpha, i, j).0, i));
            let (least, partner) =
                others.fold((f64::INFINITY, None), |m, (l, i)| if l < m.0 { (l, Some(i)) } else { m });
            let least = if k == 1 { -own.b[j] } else { least };
            let certainty = candidates.iter().map(|look| look.t[j]).fold(own.t[j], f64::max);
            let better = || {
                let works = |c: &usize| candidates[*c].b[j] < 0.0 && candidates[*c].t[j] > CERTAIN;
                match (0..candidates.len()).find(works) {
                    Some(c) => Doubt::WrongWidth(CANDIDATES[c]),
                    None => Doubt::WrongShape,
                }
            };
            let doubt = if own.b[j].abs() < 1e-12 {
                Some(Doubt::Unseen)
            } else if own.b[j] > 0.0 {
                Some(better())
            } else if own.t[j] <= CERTAIN && !is_certain(candidates, j) {
                Some(Doubt::Gaussian)
            } else if least > 0.0 {
                None
            } else if candidates.iter().any(|look| look.t[j] > CERTAIN && look.t[j] > own.t[j]) {
                Some(better())
            } else {
                partner.map(Doubt::Tied)
            };
            Verdict { seeking: own.b[j], separation: least, certainty, doubt }
        })
        .collect()
}

/// The verdicts as sentences, one for each kind of doubt.
pub fn in_words(verdicts: &[Verdict], a: &[f64]) -> Vec<String> {
    let k = verdicts.len();
    let whose = |is: &dyn Fn(&Doubt) -> bool| -> Vec<usize> {
        (0..k).filter(|&j| verdicts[j].doubt.as_ref().is_some_and(is)).collect()
    };
    let mut out = Vec::new();
    let gaussian = whose(&|d| *d == Doubt::Gaussian);
    if gaussian.len() == k && k > 0 {
        out.push(
            "no component can be told from a Gaussian one, so nothing beyond PCA could be identified: components of different \
             variances are the principal axes, those of one variance are arbitrary"
                .into(),
        );
    } else if !gaussian.is_empty() {
        out.push(format!(
            "{} near-Gaussian: resolved by variance alone, if at all",
            named(&gaussian, "is", "are")
        ));
    }
    let unseen = whose(&|d| *d == Doubt::Unseen);
    if !unseen.is_empty() {
        let tail = "not seen by this nonlinearity, whose bend no code reaches; a smaller a would do";
        out.push(format!("{} {tail}", named(&unseen, "is", "are")));
    }
    for c in CANDIDATES {
        let wrong = whose(&|d| *d == Doubt::WrongWidth(c));
        if let Some(&first) = wrong.first() {
            let widths = if wrong.iter().all(|&j| a[j] == a[first]) {
                format!("a={}", a[first])
            } else {
                "its a".into()
            };
            out.push(format!(
                "{} mixed with others by {widths}, which is wrong for {}; a={c} would tell {} apart",
                named(&wrong, "is", "are"),
                if wrong.len() == 1 { "its distribution" } else { "their distributions" },
                if wrong.len() == 1 { "it" } else { "them" },
            ));
        }
    }
    let shape = whose(&|d| *d == Doubt::WrongShape);
    if !shape.is_empty() {
        out.push(format!(
            "{} not drawn to variance by this nonlinearity; choose h='tanh' and a='auto'",
            named(&shape, "is", "are")
        ));
    }
    for (j, verdict) in verdicts.iter().enumerate() {
        if let Some(Doubt::Tied(i)) = verdict.doubt {
            out.push(format!(
                "component {j} is not told apart from component {i}: any rotation of the two fits as well"
            ));
        }
    }
    out
}

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
