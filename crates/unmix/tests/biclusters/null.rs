//! Rows without modules: few of them have a small q-value.

use super::large::cells;
use unmix::biclusters::{Refits, biclusters, permuted_rows};
use unmix::{AnyRows, Rfn, Rows, Run};

/// The least q-value of the modules of `x`.
fn least_q(x: &[f32], p: usize, permutations: usize, seed: u64) -> f64 {
    let rows = || Rows::from_slice(x, p).unwrap();
    let run = Run { seed, ..Run::default() };
    let spec = Rfn { n_components: 6, psi_min: 0.3, max_iter: 40, ..Rfn::default() };
    let model = spec.fit(&mut rows(), &run).unwrap();
    let found = biclusters(&model, &AnyRows::from(rows()), Refits { starts: 2, permutations }, &run).unwrap();
    found.modules.iter().map(|m| m.q_value.unwrap()).fold(1.0, f64::min)
}

/// In how many of the first sets a module has a q-value of at most 0.1.
fn n_small(sets: u64, permutations: usize) -> usize {
    let p = 90;
    let small = |seed: &u64| {
        let made = cells(60, p, 2, *seed);
        let null = permuted_rows(&Rows::from_slice(&made.x, p).unwrap(), seed + 1000, 0).unwrap();
        least_q(&null, p, permutations, *seed) <= 0.1
    };
    (0..sets).filter(small).count()
}

#[test]
fn permuted_columns_have_few_small_q_values() {
    // Two copies support 0.1 only for five modules together.
    let few = n_small(20, 2);
    assert!(few <= 2, "{few} of 20");
    // A single module can have 0.1 with ten copies, so one set of ten has it; 8 of 40 is the 98 % quantile of that.
    let few = n_small(40, 10);
    assert!(few <= 8, "{few} of 40");
}
