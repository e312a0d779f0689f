//! Modules of many rows in the presence of outliers: logarithms of overdispersed counts, as of cells and genes.

use unmix::biclusters::{Refits, biclusters};
use unmix::internal::num::random::Stream;
use unmix::metrics::consensus_score;
use unmix::{AnyRows, Rfn, Rows, Run};

pub(super) const GENES: usize = 600;

/// `ln(1 + count)` of 300 cells and 600 genes, and the members of five modules of 25 cells and 20 genes, whose means are six times as large.
/// Counts are Poisson with gamma means of three degrees of freedom, so that single counts can be far above the mean.
pub(super) struct Cells {
    pub(super) x: Vec<f32>,
    pub(super) modules: Vec<(Vec<u32>, Vec<u32>)>,
}

/// Cells of a seed, with `n_modules` modules.
pub(super) fn cells(n: usize, p: usize, n_modules: usize, seed: u64) -> Cells {
    let stream = |part: u64| Stream::new(seed, part);
    let chosen = |part: u64, of: usize, size: usize| {
        let mut all: Vec<u32> = (0..of as u32).collect();
        stream(part).shuffle(0, &mut all);
        let mut first = all[..size].to_vec();
        first.sort_unstable();
        first
    };
    let modules: Vec<(Vec<u32>, Vec<u32>)> = (0..n_modules as u64)
        .map(|m| (chosen(10 + 2 * m, n, n / 12), chosen(11 + 2 * m, p, p / 30)))
        .collect();
    let (base, depth, draws) = (stream(1), stream(2), stream(3));
    let mut x = Vec::with_capacity(n * p);
    for i in 0..n {
        for j in 0..p {
            let fold =
                modules.iter().filter(|(r, c)| r.contains(&(i as u32)) && c.contains(&(j as u32))).count();
            let mean = -base.uniform(j as u64).max(1e-9).ln()
                * (0.3 * depth.normal(i as u64)).exp()
                * 6f64.powi(fold as i32);
            let at = 8 * (i * p + j) as u64;
            let gamma = (0..3).map(|d| -draws.uniform(at + d).max(1e-12).ln()).sum::<f64>() / 3.0;
            x.push(poisson(mean * gamma, draws.uniform(at + 3)).ln_1p() as f32);
        }
    }
    Cells { x, modules }
}

/// The quantile of a Poisson distribution.
fn poisson(mean: f64, uniform: f64) -> f64 {
    let (mut k, mut term) = (0.0, (-mean).exp());
    let mut below = term;
    while below < uniform && k < 500.0 {
        k += 1.0;
        term *= mean / k;
        below += term;
    }
    k
}

#[test]
fn modules_of_many_rows_are_declared_and_none_else() {
    let made = cells(300, GENES, 5, 0);
    let rows = || Rows::from_slice(&made.x, GENES).unwrap();
    let spec = Rfn { n_components: 12, psi_min: 0.3, max_iter: 100, ..Rfn::default() };
    let model = spec.fit(&mut rows(), &Run::default()).unwrap();
    let refits = Refits { starts: 4, permutations: 4 };
    let found = biclusters(&model, &AnyRows::from(rows()), refits, &Run::default()).unwrap();
    let declared: Vec<_> = found.modules.iter().filter(|m| m.q_value.unwrap() <= 0.1).collect();
    let hits: Vec<Option<usize>> = declared
        .iter()
        .map(|m| {
            let own = [(m.rows.as_slice(), m.columns.as_slice())];
            let same =
                |(r, c): &(Vec<u32>, Vec<u32>)| consensus_score(&own, &[(r.as_slice(), c.as_slice())]) > 0.5;
            made.modules.iter().position(same)
        })
        .collect();
    assert!(hits.iter().all(|hit| hit.is_some()), "{hits:?}");
    let mut own: Vec<usize> = hits.into_iter().flatten().collect();
    own.sort_unstable();
    own.dedup();
    assert!(own.len() >= 4, "{own:?}");
    // They are the first.
    assert!(declared.iter().all(|m| m.evidence >= found.modules[declared.len() - 1].evidence));
}
