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

#[test]
fn permuted_columns_have_few_small_q_values() {
    const SEEDS: u64 = 20;
    let p = 90;
    // Two copies, and enough for a single module to have 0.1.
    for permutations in [2, 10] {
        let small = (0..SEEDS).filter(|&seed| {
            let made = cells(60, p, 2, seed);
            let null = permuted_rows(&Rows::from_slice(&made.x, p).unwrap(), seed + 1000, 0).unwrap();
            least_q(&null, p, permutations, seed) <= 0.1
        });
        let small = small.count();
        assert!(small <= 2, "{small} of {SEEDS} with {permutations} permutations");
    }
}
