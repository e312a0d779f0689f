//! The width `a` of `a tanh(z / a)`, chosen for every component by what its codes look like.
//!
//! A small `a` tells sub-Gaussian sources apart, a large one super-Gaussian sources, and each fails at the other's: two tied
//! sources of the wrong kind are mixed, whatever a fixed `a` is. So every component gets the candidate that separates it
//! better, once that is more than chance.

use super::forces::Look;

/// For sub-Gaussian and for super-Gaussian sources.
pub const CANDIDATES: [f64; 2] = [0.8, 4.0];

/// How many standard errors of `A - b` are more than chance.
pub const CERTAIN: f64 = 4.0;

/// Sweeps in which components are looked at: often while they move far, seldom later. The first look is at the start, before
/// a wrong `a` can pull a tied pair to where it is worst told apart.
const LOOKS: [u64; 9] = [0, 1, 2, 3, 5, 8, 12, 20, 30];

/// The last of them: what has not shown itself by then is not distinguishable from Gaussian.
pub const LAST_LOOK: u64 = 30;

/// Whether components are looked at after so many sweeps.
pub(super) fn looks_at(sweep: u64) -> bool {
    LOOKS.contains(&sweep)
}

/// The best candidate of every component, where it is certain; what it has, where not.
pub(crate) fn choose(looks: &[Look], now: &[f64]) -> Vec<f64> {
    (0..now.len())
        .map(|j| match is_certain(looks, j) {
            false => now[j],
            true => {
                let best = (0..CANDIDATES.len())
                    .fold(0, |best, c| if looks[c].score[j] > looks[best].score[j] { c } else { best });
                CANDIDATES[best]
            }
        })
        .collect()
}

/// The best candidate of every component, certain or not, whatever it has had before.
pub(crate) fn choose_anew(looks: &[Look], k: usize) -> Vec<f64> {
    let best =
        |j: usize| (0..looks.len()).fold(0, |b, c| if looks[c].score[j] > looks[b].score[j] { c } else { b });
    (0..k).map(|j| CANDIDATES[best(j)]).collect()
}

/// What the better candidate sees of each of `k` components.
pub(crate) fn best(looks: &[Look], k: usize) -> Look {
    let mut out = Look::default();
    for j in 0..k {
        let best = looks
            .iter()
            .fold(&looks[0], |best, look| if look.score[j] > best.score[j] { look } else { best });
        out.b.push(best.b[j]);
        out.growth.push(best.growth[j]);
        out.score.push(best.score[j]);
        out.t.push(best.t[j]);
        out.error.push(best.error[j]);
    }
    out
}

/// Whether the components at the principal axes, taken together, are less Gaussian than chance would have them: the sum of the
/// squares of the larger `t` of each has mean `k` there, and standard deviation `sqrt(2 k)`, because nothing was chosen by them
/// yet. Small samples may show together what none of their components shows alone.
pub(super) fn stand_out(looks: &[Look]) -> bool {
    let k = looks.first().map_or(0, |look| look.t.len());
    let largest = |j: usize| looks.iter().fold(0.0f64, |m, look| m.max(look.t[j]));
    let sum: f64 = (0..k).map(|j| largest(j).powi(2)).sum();
    sum > k as f64 + CERTAIN * (2.0 * k as f64).sqrt()
}

/// Whether some candidate tells component `j` from others of its variance.
pub(super) fn is_certain(looks: &[Look], j: usize) -> bool {
    looks.iter().any(|look| look.t[j] > CERTAIN)
}
