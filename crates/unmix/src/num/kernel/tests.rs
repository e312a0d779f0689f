//! Tests of `kernel`.

use super::*;
use crate::num::random::Stream;

#[test]
fn a_constant_column_has_its_constant_as_mean_to_the_bit() {
    let rows: Vec<f64> = (0..301).flat_map(|i| [0.1, i as f64, 1e300]).collect();
    let (mut mean, mut rest) = ([0.0; 3], [f64::NAN; 3]);
    assert_eq!(means(&rows, None, 3, &mut mean, &mut rest), 301.0);
    assert_eq!((mean, rest), ([0.1, 150.0, 1e300], [0.0; 3]));
    let weights: Vec<f64> = (0..301).map(|i| f64::from(i % 3)).collect();
    assert_eq!(means(&rows, Some(&weights), 3, &mut mean, &mut rest), 300.0);
    assert_eq!(([mean[0], mean[2]], [rest[0], rest[2]]), ([0.1, 1e300], [0.0; 2]));
}

#[test]
fn symmetric_products_are_sums_over_rows_for_widths_about_the_panel() {
    for p in [1, 5, 64, 65, 300, 511, 512, 515, 700] {
        let (n, s) = (19, Stream::new(4, p as u64));
        let rows: Vec<f64> = (0..n * p).map(|i| s.normal(i as u64)).collect();
        let single: Vec<f32> = rows.iter().map(|&x| x as f32).collect();
        let (mut total, mut total_single) = (vec![1.0; p * p], vec![1.0; p * p]);
        let (mut packed, mut packed_single) = (vec![f64::NAN; 7], Vec::new());
        let zero = vec![0.0; p];
        let (packed, packed_rows) = pack_centred(&rows, None, (&zero, &zero), None, &mut packed);
        assert_eq!((packed_rows, packed.as_ptr().align_offset(64)), (n, 0));
        let (packed_single, _) = pack_centred(&single, None, (&zero, &zero), None, &mut packed_single);
        add_gram(&mut total, packed, n, p);
        add_gram(&mut total_single, packed_single, n, p);
        for i in (0..p).step_by(1 + p / 40) {
            for j in 0..=i {
                let want: f64 = 1.0 + (0..n).map(|r| rows[r * p + i] * rows[r * p + j]).sum::<f64>();
                let (got, got_single) = (total[i * p + j], total_single[i * p + j]);
                assert!((got - want).abs() < 1e-13, "p {p}, entry {i}, {j}: {got} instead of {want}");
                assert!((got_single - want).abs() < 1e-4, "p {p}, entry {i}, {j}: {got_single} in single");
            }
        }
    }
}

#[test]
fn a_row_has_the_same_bits_alone_and_in_any_block() {
    for (p, k) in [(1, 1), (3, 2), (64, 64), (784, 50), (1200, 7), (2000, 130)] {
        let s = Stream::new(1, p as u64);
        let n = 67;
        let a: Vec<f64> = (0..n * p).map(|i| s.normal(i as u64)).collect();
        let b: Vec<f64> = (0..p * k).map(|i| s.normal((n * p + i) as u64)).collect();
        let mut whole = vec![0.0; n * k];
        product(&mut whole, &a, &b, n, p, k);
        for size in [1, 3, 8, 9, 16, 31, 66] {
            for start in (0..n).step_by(size) {
                let rows = size.min(n - start);
                let mut part = vec![0.0; rows * k];
                product(&mut part, &a[start * p..(start + rows) * p], &b, rows, p, k);
                assert_eq!(part, whole[start * k..(start + rows) * k], "p {p}, k {k}, {rows} rows");
            }
        }
    }
}
