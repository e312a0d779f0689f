//! Extreme sizes: two rows, one column, one component, 70,000 columns, counts beyond 32 bits, a last block of one row.

use crate::made::{apart, encode, falling, numbers, on_threads, pca, scores};
use crate::naive::NaivePca;
use serde_json::json;
use std::io::Write;
use unmix::data::{Axes, Bytes, Features, NumberType, Plan, RawArray, Source, open_npy, write_npy};
use unmix::stats::{Moments, Partial, Scatter, Triangle};
use unmix::{Matrix, Rows, metrics};

#[test]
fn two_rows_have_one_direction_the_line_between_them() {
    for p in [1, 2, 3, 50] {
        for solver in ["full", "covariance_eigh"] {
            let x = falling(2, p, 1);
            let model = pca(json!({"svd_solver": solver}), &x, p);
            let line: Vec<f64> = (0..p).map(|j| x[p + j] - x[j]).collect();
            let square: f64 = line.iter().map(|d| d * d).sum();
            let (values, axis) = (numbers(&model, "explained_variance"), numbers(&model, "components"));
            assert!((values[0] / (square / 2.0) - 1.0).abs() < 1e-14, "{solver}, p = {p}: {values:?}");
            assert!(values[1..].iter().all(|v| *v == 0.0), "{solver}, p = {p}: {values:?}");
            let along: f64 = axis[..p].iter().zip(&line).map(|(a, b)| a * b).sum::<f64>().abs();
            assert!((along / square.sqrt() - 1.0).abs() < 1e-14, "{solver}, p = {p}");
            assert!(scores(&model, &x).iter().all(|l| l.is_finite()), "{solver}, p = {p}");
        }
    }
}

#[test]
fn one_column_and_one_component() {
    let x = falling(100, 1, 2);
    let reference = NaivePca::fit(&x, 1);
    for given in [
        json!({}),
        json!({"n_components": 1, "whiten": true}),
        json!({"n_components": "mle"}),
        json!({"n_components": 0.5}),
    ] {
        let model = pca(given.clone(), &x, 1);
        assert_eq!(numbers(&model, "components"), [1.0], "{given}");
        assert!(
            (numbers(&model, "explained_variance")[0] / reference.values[0] - 1.0).abs() < 1e-13,
            "{given}"
        );
    }
}

#[test]
fn every_number_of_rows_around_a_block_gives_the_naive_variances() {
    let p = 3;
    let Plan { block_rows, shard_rows, .. } = Plan::for_width(p);
    for n in [block_rows - 1, block_rows, block_rows + 1, 3 * block_rows + 1, shard_rows + 1] {
        let x = falling(n, p, 3);
        let reference = NaivePca::fit(&x, p);
        for solver in ["full", "covariance_eigh"] {
            let model = pca(json!({"svd_solver": solver}), &x, p);
            assert!(
                apart(&numbers(&model, "explained_variance"), &reference.values)
                    < 1e-12 * reference.values[0],
                "{solver}, {n} rows"
            );
        }
    }
}

#[test]
fn a_file_of_seventy_thousand_columns_and_few_rows() {
    let (n, p) = (6, 70_000);
    let x: Vec<f32> = falling(n, p, 4).iter().map(|v| *v as f32).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.npy");
    write_npy(&path, &x, &[p]).unwrap();
    let rows = || -> Rows<'_, f32> { Rows::new(open_npy(&path).unwrap().0, Features::default(), "wide.npy") };
    let model =
        unmix::Pca { n_components: 3.into(), ..Default::default() }.fit(&mut rows(), &on_threads(2)).unwrap();
    assert_eq!(model.tensor("components").unwrap().shape(), [3, p]);
    let codes = model.encode_to_vec(&rows(), &on_threads(2)).unwrap();
    // Reference: eigenvalues of the Gram matrix of the six rows.
    let wide = crate::made::wide(&x);
    let mean = crate::naive::mean(&wide, p);
    let centred: Vec<Vec<f64>> =
        wide.chunks_exact(p).map(|r| r.iter().zip(&mean).map(|(x, m)| x - m).collect()).collect();
    let gram = (0..n)
        .map(|i| (0..n).map(|j| crate::naive::dot(&centred[i], &centred[j]) / (n as f64 - 1.0)).collect())
        .collect();
    let (values, _) = crate::naive::jacobi(gram);
    assert!(apart(&numbers(&model, "explained_variance"), &values[..3]) < 1e-5 * values[0]);
    for c in 0..3 {
        let energy: f64 =
            codes.iter().skip(c).step_by(3).map(|y| (*y as f64).powi(2)).sum::<f64>() / (n as f64 - 1.0);
        assert!((energy / values[c] - 1.0).abs() < 1e-4, "code {c}: {energy} not {}", values[c]);
    }
    // Six components, of which one exceeds the rank: its canonical direction among 70,000 columns.
    let all = unmix::Pca::default().fit(&mut rows(), &on_threads(2)).unwrap();
    let axes = numbers(&all, "components");
    assert_eq!((all.report().rank, numbers(&all, "explained_variance")[5]), (Some(5), 0.0));
    for c in 0..6 {
        let along = crate::naive::dot(&axes[c * p..(c + 1) * p], &axes[5 * p..]);
        assert!((along - f64::from(u8::from(c == 5))).abs() < 1e-5, "component {c} and the last: {along}");
    }
}

#[test]
fn rows_beyond_32_bits_are_counted_and_read() {
    // Three billion rows of one byte with all strides 0, which take no memory.
    let n = 3_000_000_000u64;
    let byte = [7u8];
    let array =
        RawArray::new(Bytes::Lent(&byte), 0, NumberType::little(b'u', 1), Axes::one(n, 0), Axes::one(1, 0))
            .unwrap();
    let rows: Rows<'_, f32> = Rows::new(array, Features::default(), "a repeated byte");
    assert_eq!(rows.n_rows(), Some(n));
    assert_eq!(rows.read_range(n - 2..n).unwrap(), [7.0, 7.0]);
}

#[test]
fn counts_beyond_32_bits_merge_without_loss() {
    let part = |n: f64, at: f64| Moments { n, mean: vec![at], rest: vec![0.0], squares: vec![n] };
    let mut a = part(3e9, 0.0);
    a.merge(part(6e9, 3.0));
    assert_eq!((a.n, a.mean[0]), (9e9, 2.0));
    // n1 n2 / (n1 + n2) = 2e9, times the squared difference of means, 9.
    assert!((a.squares[0] / (9e9 + 18e9) - 1.0).abs() < 1e-15);
    let part = |n: f64, at: f64| Scatter {
        n,
        mean: vec![at],
        rest: vec![0.0],
        lower: Matrix::from_vec(1, 1, vec![n]),
    };
    let mut b = part(3e9, 0.0);
    b.merge(part(6e9, 3.0));
    assert!((b.lower[(0, 0)] / 27e9 - 1.0).abs() < 1e-15 && b.n == 9e9);
    let part = |n: f64, at: f64| Triangle {
        n,
        mean: vec![at],
        rest: vec![0.0],
        r: Matrix::from_vec(1, 1, vec![n.sqrt()]),
        varying: 0,
    };
    let mut c = part(3e9, 0.0);
    c.merge(part(6e9, 3.0));
    let square: f64 = c.r.as_slice().iter().map(|r| r * r).sum();
    assert!((square / 27e9 - 1.0).abs() < 1e-14 && c.n == 9e9);
}

#[test]
fn a_file_whose_header_declares_more_than_it_holds_or_than_memory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let write = |shape: &str, data: usize| {
        let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut file = std::fs::File::create(&path).unwrap();
        file.write_all(b"\x93NUMPY\x01\x00").unwrap();
        file.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
        file.write_all(header.as_bytes()).unwrap();
        file.write_all(&vec![0; data]).unwrap();
        open_npy(&path).map(|(array, _)| (Source::<f64>::n_rows(&array), Source::<f64>::n_features(&array)))
    };
    assert_eq!(write("(4, 5)", 160).unwrap(), (Some(4), 5));
    assert!(write("(4, 5)", 159).unwrap_err().to_string().contains("declares"));
    assert!(write("(4000000000, 5)", 160).unwrap_err().to_string().contains("declares"));
    assert!(write("(9223372036854775807, 9223372036854775807)", 160).is_err());
    assert!(write("(1152921504606846976, 1)", 160).is_err());
    assert_eq!(write("(0, 5)", 0).unwrap(), (Some(0), 5));
    assert_eq!(write("(5, 0)", 0).unwrap(), (Some(5), 0));
    assert_eq!(write("()", 8).unwrap(), (Some(1), 1));
}

#[test]
fn too_many_columns_for_the_memory_are_refused() {
    // Two million rows and columns with stride 0: the matrix would need terabytes.
    let number = [1u8];
    let axes = || Axes::one(2_000_000, 0);
    let array = RawArray::new(Bytes::Lent(&number), 0, NumberType::little(b'u', 1), axes(), axes()).unwrap();
    let mut rows: Rows<'_, f64> = Rows::new(array, Features::default(), "the array");
    let e = unmix::Pca::default().fit(&mut rows, &on_threads(1)).unwrap_err();
    assert!(matches!(e, unmix::Error::Memory { .. }), "{e:?}");
}

#[test]
fn the_span_found_in_a_large_sample_is_the_span_that_made_it() {
    // Angles to the true axes shrink as 1/sqrt(n) with the sampling error of the covariance.
    let made = unmix::datasets::patterns(4000, 8, 3, 0.05, 1);
    let model = pca(json!({"n_components": 3}), made.x.as_slice(), 64);
    let found = Matrix::from_vec(3, 64, numbers(&model, "components"));
    let angles = metrics::subspace_angles(&found, &made.axes).unwrap();
    assert!(angles[0] < 0.01, "{angles:?}");
    assert!(encode(&model, made.x.as_slice()).iter().all(|y| y.is_finite()));
}

#[test]
fn where_the_choice_of_solver_changes_the_answer_does_not() {
    use unmix::method::pca::{Solver, auto_solver};
    for (n, p, chosen) in [
        (500, 20, Solver::Full),
        (501, 20, Solver::CovarianceEigh),
        (20, 500, Solver::Full),
        (20, 501, Solver::CovarianceEigh),
    ] {
        assert_eq!(auto_solver(n as u64, p, Some(5), false), chosen, "{n} x {p}");
        let x = falling(n, p, 6);
        let by = |solver: &str| pca(json!({"svd_solver": solver, "n_components": 5}), &x, p);
        let (auto, full, scatter) = (by("auto"), by("full"), by("covariance_eigh"));
        assert_eq!(auto.report().solver, chosen.name(), "{n} x {p}");
        for name in ["components", "explained_variance", "noise_variance", "mean"] {
            let (a, b) = (numbers(&full, name), numbers(&scatter, name));
            let own = numbers(if chosen == Solver::Full { &full } else { &scatter }, name);
            assert_eq!(numbers(&auto, name), own, "{n} x {p}: {name} to the bit");
            assert!(apart(&a, &b) < 1e-11 * numbers(&full, "explained_variance")[0], "{n} x {p}: {name}");
        }
    }
    // The Krylov solver computes up to p/12 components; above that the whole spectrum is computed.
    let (n, p) = (800, 768);
    let x = falling(n, p, 8);
    let by = |k: usize| {
        numbers(
            &pca(json!({"svd_solver": "covariance_eigh", "n_components": k}), &x, p),
            "explained_variance",
        )
    };
    let (few, whole) = (by(p / 12), by(p / 12 + 1));
    assert!(apart(&few, &whole[..p / 12]) < 1e-13 * whole[0]);
}

#[test]
fn the_page_of_solvers_states_the_choices_of_auto() {
    use unmix::method::pca::auto_solver;
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/solvers.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut cells = 0;
    for line in page.lines().filter(|l| l.starts_with("| dense |") || l.starts_with("| sparse |")) {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, kind, _, chosen, example, _] = columns[..] else { panic!("{line}") };
        let (shape, k) = example.split_once(", k ").unwrap();
        let (n, p) = shape.split_once(" x ").unwrap();
        let solver = auto_solver(n.parse().unwrap(), p.parse().unwrap(), k.parse().ok(), kind == "sparse");
        assert_eq!(format!("`{}`", solver.name()), chosen, "{line}");
        cells += 1;
    }
    assert_eq!(cells, 9);
}

#[test]
fn directions_that_so_few_rows_cannot_have_are_a_warning_only_if_they_were_requested() {
    let x: Vec<f64> = (0..3 * 10).map(|i| ((i * i * 7) % 31) as f64).collect();
    let warnings = |settings| pca(settings, &x, 10).report().warnings.clone();
    assert_eq!(warnings(json!({})), Vec::<String>::new());
    let found = warnings(json!({"n_components": 3}));
    assert!(found.len() == 1 && found[0].contains("fewer than the 3 components requested"), "{found:?}");
    // No other solver finds more directions.
    assert!(!found[0].contains("svd_solver"), "{found:?}");
}

/// All shards have such rows, and the threads find them at the same time.
#[test]
fn the_first_of_several_rows_that_are_not_finite_is_named() {
    let x = falling(4000, 32, 1);
    let model = pca(json!({"n_components": 3}), &x, 32);
    let mut bad = x.clone();
    (100..4000).step_by(25).for_each(|row| bad[row * 32 + 3] = f64::NAN);
    for _ in 0..200 {
        let rows = Rows::from_slice(&bad, 32).unwrap();
        let e = model.encode_to_vec(&rows, &unmix::Run { threads: 4, ..Default::default() }).unwrap_err();
        assert!(e.to_string().contains("row 100,"), "{e}");
    }
}
