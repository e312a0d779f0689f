//! Sample weights of the search by sizes, whose minima change with them; those of the other algorithms are among the laws.

use super::*;
use crate::made::{apart, numbers};
use unmix::method::complete_dictionary::Algorithm;

#[test]
fn atoms_by_sizes_of_weighted_rows_are_those_of_repeated_rows() {
    let (n, p) = (400, 4);
    let spec = CompleteDictionary { algorithm: Algorithm::L1, ..Default::default() };
    // With noise the minima depend on every row.
    let x = bernoulli_gaussian((n, p, p), 0.3, 0.1, false, 5).unwrap().x.into_vec();
    let weights: Vec<f64> = (0..n).map(|i| [1.0, 3.0, 0.0, 1.0, 2.0][i % 5]).collect();
    let repeated: Vec<f64> =
        x.chunks_exact(p).zip(&weights).flat_map(|(row, w)| row.repeat(*w as usize)).collect();
    let of = |mut rows: Rows<'_, f64>| spec.fit(&mut rows, &on_threads(2)).unwrap();
    let plain = of(Rows::from_slice(&repeated, p).unwrap());
    let wanted = numbers(&plain, "components");
    // Rows of weight 0 may have missing cells.
    let mut spoiled = x.clone();
    (0..n).filter(|i| weights[*i] == 0.0).for_each(|i| spoiled[i * p + 1] = f64::NAN);
    let weighted = of(Rows::from_slice(&spoiled, p).unwrap().weighted(&weights[..]).unwrap());
    assert_eq!(weighted.report().n_samples, plain.report().n_samples);
    for name in ["components", "usage", "kurtosis"] {
        let (a, b) = (numbers(&weighted, name), numbers(&plain, name));
        assert!(apart(&a, &b) <= 1e-4 * b.iter().fold(0.0f64, |m, v| m.max(v.abs())), "{name}: {a:?}\n{b:?}");
    }
    let each_once = of(Rows::from_slice(&x, p).unwrap());
    let moved = apart(&numbers(&each_once, "components"), &wanted);
    assert!(moved > 1e-3, "the weights change the atoms by {moved:e} only");
    // Weights of 1 give the bits of a fit without weights.
    let ones = of(Rows::from_slice(&x, p).unwrap().weighted(vec![1.0; n]).unwrap());
    assert_eq!(numbers(&ones, "components"), numbers(&each_once, "components"));
}
