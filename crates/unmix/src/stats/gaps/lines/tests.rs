use super::*;
use crate::num::random::Stream;

#[test]
fn transformed_and_selected_factors_are_those_of_the_transformed_posterior() {
    let (k, s) = (3, Stream::new(12, 0));
    let width = LinePosteriors::width(k);
    let table: Vec<f64> = (0..2 * width).map(|i| s.normal(i as u64)).collect();
    let before = LinePosteriors::new(k, table);
    let mut after = before.clone();
    let matrix = Matrix::from_fn(2, 2, |a, b| s.normal((500 + 2 * a + b) as u64));
    after.transform(&matrix, 0.5, |i| i == 1, 1);
    assert_eq!(after.mean(0), before.mean(0));
    let full = |a: usize, b: usize| match (a, b) {
        (2, 2) => 0.5,
        (2, _) | (_, 2) => 0.0,
        _ => matrix[(a, b)],
    };
    let v = |a: usize, b: usize| before.covariance(1)[triangle(a.max(b)) + a.min(b)];
    for a in 0..k {
        let want: f64 = (0..k).map(|b| full(a, b) * before.mean(1)[b]).sum();
        assert!((after.mean(1)[a] - want).abs() < 1e-14);
        for b in 0..=a {
            let mut want = 0.0;
            for c in 0..k {
                want += (0..k).map(|d| full(a, c) * v(c, d) * full(b, d)).sum::<f64>();
            }
            assert!((after.covariance(1)[triangle(a) + b] - want).abs() < 1e-13);
        }
    }
    let some = before.chosen(&[(2, 1.0), (0, -1.0)]);
    assert_eq!(some.mean(1), [before.mean(1)[2], -before.mean(1)[0]]);
    assert_eq!(some.covariance(1), [v(2, 2), -v(2, 0), v(0, 0)]);
}
