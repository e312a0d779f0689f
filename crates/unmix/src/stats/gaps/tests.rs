use super::*;
use crate::num::random::Stream;
use crate::num::{Block, Workspace, factor};
use crate::stats::{Gather, Partial};

fn model(p: usize, k: usize) -> LinearGaussian {
    let s = Stream::new(3, 0);
    let loadings = Matrix::from_fn(p, k, |j, a| s.normal((j * k + a) as u64));
    let noise = (0..p).map(|j| 0.2 + 0.1 * j as f64).collect();
    LinearGaussian::new((0..p).map(|j| j as f64 - 1.5).collect(), loadings, noise)
}

/// The covariance of the columns `o`, and its inverse and log-determinant by eigenvalues.
fn naive(of: &LinearGaussian, o: &[usize]) -> (Matrix<f64>, f64) {
    let (k, m) = (of.n_factors(), o.len());
    let entry = |a: usize, b: usize| {
        let (i, j) = (o[a], o[b]);
        let shared: f64 = (0..k).map(|l| of.loadings[i * k + l] * of.loadings[j * k + l]).sum();
        shared + if i == j { of.noise[i] } else { 0.0 }
    };
    let (values, vectors) = factor::eigh(&Matrix::from_fn(m, m, entry)).unwrap();
    let inverse = Matrix::from_fn(m, m, |a, b| {
        (0..m).map(|l| vectors[(l, a)] * vectors[(l, b)] / values[l]).sum::<f64>()
    });
    (inverse, values.iter().map(|v| v.ln()).sum())
}

#[test]
fn posterior_and_density_are_those_of_the_joint_gaussian() {
    let (p, k) = (6, 3);
    let of = model(p, k);
    let s = Stream::new(5, 0);
    let patterns: [&[usize]; 5] = [&[0, 1, 2, 3, 4, 5], &[1, 4], &[0, 2, 3, 5], &[], &[3]];
    for o in patterns {
        let x: Vec<f64> =
            (0..p).map(|j| if o.contains(&j) { 2.0 * s.normal(j as u64) } else { f64::NAN }).collect();
        let found = Conditional::new(of.clone()).posteriors(&x);
        let (inverse, log_determinant) = naive(&of, o);
        let deviations: Vec<f64> = o.iter().map(|&j| x[j] - of.mean[j]).collect();
        let product: Vec<f64> =
            (0..o.len()).map(|a| (0..o.len()).map(|b| inverse[(a, b)] * deviations[b]).sum()).collect();
        let cross = |a: usize| -> Vec<f64> { o.iter().map(|&j| of.loadings[j * k + a]).collect() };
        for a in 0..k {
            let want: f64 = cross(a).iter().zip(&product).map(|(w, t)| w * t).sum();
            assert!((found.means[a] - want).abs() < 1e-12, "{o:?}: factor {a}");
            for b in 0..=a {
                let (ca, cb) = (cross(a), cross(b));
                let less: f64 = (0..o.len())
                    .map(|i| (0..o.len()).map(|j| ca[i] * inverse[(i, j)] * cb[j]).sum::<f64>())
                    .sum();
                let want = f64::from(u8::from(a == b)) - less;
                let v = found.patterns[0].covariance[triangle(a) + b];
                assert!((v - want).abs() < 1e-12, "{o:?}: {a}, {b}");
            }
        }
        let square: f64 = deviations.iter().zip(&product).map(|(x, t)| x * t).sum();
        let want = -0.5 * (o.len() as f64 * (2.0 * std::f64::consts::PI).ln() + log_determinant + square);
        assert!((found.log_density[0] - want).abs() < 1e-11, "{o:?}: {} not {want}", found.log_density[0]);
    }
}

#[test]
fn a_row_has_the_same_bits_alone_and_among_others_and_patterns_are_shared() {
    let (p, k, n) = (70, 2, 40);
    let of = Conditional::new(model(p, k));
    let s = Stream::new(8, 0);
    let cell = |i: usize, j: usize| (i + j).is_multiple_of(3 + i % 2);
    let x: Vec<f64> =
        (0..n * p).map(|at| if cell(at / p, at % p) { f64::NAN } else { s.normal(at as u64) }).collect();
    let all = of.posteriors(&x);
    assert!(all.patterns.len() <= 12, "{} patterns", all.patterns.len());
    for i in 0..n {
        let alone = of.posteriors(&x[i * p..(i + 1) * p]);
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&all.means[i * k..(i + 1) * k]), bits(&alone.means), "row {i}");
        assert_eq!(all.log_density[i].to_bits(), alone.log_density[0].to_bits(), "row {i}");
        let (here, there) = (&all.patterns[all.pattern[i]], &alone.patterns[0]);
        assert_eq!(bits(&here.covariance), bits(&there.covariance), "row {i}");
        assert_eq!(here.n_observed, x[i * p..(i + 1) * p].iter().filter(|x| !x.is_nan()).count());
    }
}

#[test]
fn a_triangle_is_inverted_in_its_place() {
    let k = 7;
    let s = Stream::new(1, 0);
    let half = Matrix::from_fn(k, k, |i, j| s.normal((i * k + j) as u64));
    let full = factor::multiply_transposed(&half, &half);
    let mut lower: Vec<f64> = (0..k).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|at| full[at]).collect();
    let log_determinant = invert(&mut lower, k);
    let (values, _) = factor::eigh(&full).unwrap();
    assert!((log_determinant - values.iter().map(|v| v.ln()).sum::<f64>()).abs() < 1e-10);
    let mut out = vec![0.0; k];
    for i in 0..k {
        symmetric_product(&lower, full.row(i), &mut out);
        for (j, x) in out.iter().enumerate() {
            assert!((x - f64::from(u8::from(i == j))).abs() < 1e-9, "{i}, {j}: {x}");
        }
    }
}

#[test]
fn lists_of_cells_leave_rows_of_weight_0_out_and_name_other_weights() {
    let data = [1.0, f64::NAN, 3.0, 4.0, 5.0, f64::INFINITY, 7.0, 8.0];
    let lists = |weights: Option<&[f64]>| {
        let mut part = CellLists::default();
        let block = Block { first_row: 10, data: &data, n_features: 2, weights };
        Gather::<f64>::add(&GatherCells, &mut part, block, &mut Workspace::default());
        part
    };
    let plain = lists(None);
    assert_eq!((plain.starts, plain.weighted), (vec![0, 1, 3, 5, 7], None));
    assert_eq!(plain.infinite, Some((12, 1, f64::INFINITY)));
    let weighted = lists(Some(&[1.0, 0.0, 0.0, 2.0]));
    assert_eq!(weighted.starts, [0, 1, 1, 1, 3]);
    assert_eq!(weighted.columns, [0, 0, 1]);
    assert_eq!(weighted.values, [1.0, 7.0, 8.0]);
    assert_eq!(weighted.infinite, None);
    assert_eq!(weighted.weighted, Some((13, 2.0)));
    let mut packed = Packer::default();
    Partial::pack(&weighted, &mut packed);
    assert_eq!(CellLists::unpack(&mut Unpacker::new(&packed.into_bytes())).unwrap(), weighted);
    let mut both = lists(Some(&[1.0, 1.0, 0.0, 1.0]));
    both.merge(weighted);
    assert_eq!(both.weighted, Some((13, 2.0)));
}
