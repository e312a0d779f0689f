//! Components as bars and as curves.

use crate::{fit, ica, made, picture, rows, section};
use unmix::internal::num::random::Stream;
use unmix::method::sparse_coder::Alpha;
use unmix::{Features, Matrix, Model, Rows, Run, SparseCoder};
use unmix_report::Options;

/// Lengths of the longest bar of each chart of a section.
fn longest_bars(section: &str) -> Vec<f64> {
    let bars = |svg: &str, class: &str| -> Vec<f64> {
        let begin = format!("class=\"{class}\" d=\"M");
        let number = |text: &str, end: char| text.split(end).next().unwrap().parse::<f64>().unwrap();
        let length = |d: &str| (number(d.split('H').nth(1).unwrap(), 'V') - number(d, ' ')).abs();
        svg.split(begin.as_str()).skip(1).map(length).collect()
    };
    let longest = |svg: &str| {
        let all = [bars(svg, "plus"), bars(svg, "minus")].concat();
        all.into_iter().fold(0.0, f64::max)
    };
    section.split("<svg").skip(1).map(longest).collect()
}

#[test]
fn small_components_have_a_scale_of_their_own() {
    let wave = |i: usize, hz: f64| (std::f64::consts::TAU * hz * i as f64 / 100.0).sin();
    // Two sources in two columns each; those of the second are a thousand times smaller.
    let x = Matrix::from_fn(3000, 4, |i, j| match j {
        0 | 1 => [1.0, 0.5][j] * wave(i, 7.0),
        _ => [1e-3, -0.7e-3][j - 2] * wave(i, 0.9).signum(),
    });
    let html = made(&ica(&x, 2), None, &Options::default());
    let lengths = longest_bars(section(&html, "components"));
    assert_eq!(lengths.len(), 2);
    assert!(lengths[0] > 50.0 && (lengths[0] - lengths[1]).abs() < 0.2, "{lengths:?}");
}

/// Atoms of 16 columns, and the model of 20 rows that are the last atoms.
fn coded_by_the_last_of(m: usize) -> (Matrix<f64>, Model) {
    let atoms = Matrix::from_fn(m, 16, |i, j| (1.0 + (7 * i + 3) as f64 * (j + 1) as f64).sin());
    let x = Matrix::from_fn(20, 16, |i, j| atoms[(m - 20 + i, j)]);
    let spec = SparseCoder { dictionary: Some(atoms), alpha: Alpha::Weight(0.05), ..SparseCoder::default() };
    let model = unmix::with_rows!(&mut rows(&x, picture(4)), rows => spec.fit(rows, &Run::default()));
    (x, model.unwrap())
}

/// A mosaic has all of 512 atoms; of more, the caption states how many there are. Without rows they have the order of the model.
#[test]
fn pictures_of_512_atoms_are_all_drawn() {
    for m in [512, 513] {
        let (_, model) = coded_by_the_last_of(m);
        let html = made(&model, None, &Options::default());
        let shown = section(&html, "components");
        assert!(!shown.contains("order of their use"));
        assert_eq!(shown.matches("<figure class=\"component\">").count(), 512, "{m}");
        assert!(shown.contains("<b>511</b>") && !shown.contains("<b>512</b>"), "{m}");
        assert_eq!(shown.contains("512 of 513"), m == 513);
    }
}

/// With rows, the 512 atoms that these use most are drawn, in descending order of their use.
#[test]
fn pictures_of_atoms_are_in_the_order_of_their_use() {
    for m in [513, 12 + 20] {
        let (x, model) = coded_by_the_last_of(m);
        let codes =
            model.encode_to_vec(&Rows::from_slice(x.as_slice(), 16).unwrap(), &Run::default()).unwrap();
        let uses = |j: usize| codes.iter().skip(j).step_by(m).filter(|z| **z != 0.0).count();
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by_key(|&j| std::cmp::Reverse(uses(j)));
        assert_ne!(order[0], 0);
        let html = made(&model, Some(&rows(&x, picture(4))), &Options::default());
        let shown = section(&html, "components");
        let headings = shown.split("<figcaption><b>").skip(1).map(|text| text.split('<').next().unwrap());
        let found: Vec<usize> = headings.filter_map(|text| text.parse().ok()).collect();
        assert_eq!(found, order[..m.min(512)], "{m}");
        assert!(shown.contains("class=\"pictures mosaic\"") && shown.contains("order of their use"), "{m}");
    }
}

/// Sparse codes with fewer atoms than columns have a mosaic, too.
#[test]
fn pictures_of_few_atoms_with_sparse_codes_are_a_mosaic() {
    let draw = Stream::new(2, 0);
    let x = Matrix::from_fn(200, 16, |i, j| draw.normal((16 * i + j) as u64));
    let mut given = rows(&x, picture(4));
    let settings = serde_json::json!({"n_components": 9, "max_epochs": 2});
    let model = unmix::fit("dictionary", settings.as_object().unwrap(), &mut given, &Run::default()).unwrap();
    let html = made(&model, Some(&given), &Options::default());
    let shown = section(&html, "components");
    assert!(shown.contains("class=\"pictures mosaic\""), "{shown}");
    // The order of the model is that of the use in the fit.
    assert!(!shown.contains("order of their use"));
    let dense = made(&fit(&mut given, 9), Some(&given), &Options::default());
    assert!(!section(&dense, "components").contains("mosaic"));
}

#[test]
fn many_columns_without_names_are_a_curve_if_neighbours_are_alike() {
    for p in [5000, 400] {
        curve_if_neighbours_are_alike(p);
    }
}

/// Pages of `p` columns in an arbitrary order, and of smooth profiles over them.
fn curve_if_neighbours_are_alike(p: usize) {
    let n = 40usize;
    let draw = Stream::new(1, 0);
    // Rows are mixtures of two profiles over the columns, with some noise.
    let mixture = |profile: &dyn Fn(usize, usize) -> f64| {
        Matrix::from_fn(n, p, |i, j| {
            let mixed: f64 = (0..2).map(|c| draw.normal((2 * i + c) as u64) * profile(c, j)).sum();
            mixed + 0.01 * draw.normal((1000 + i * p + j) as u64)
        })
    };
    let page_of = |x: &Matrix<f64>| {
        let model = fit(&mut rows(x, Features::default()), 2);
        let html = made(&model, Some(&rows(x, Features::default())), &Options::default());
        (model, section(&html, "components").to_string())
    };
    let (model, shown) = page_of(&mixture(&|c, j| draw.normal((1_000_000 + c * p + j) as u64)));
    assert!(
        shown.contains("only the 16 largest loadings of each are shown, with the numbers of their columns")
    );
    let bars = shown.matches("class=\"plus\"").count() + shown.matches("class=\"minus\"").count();
    assert_eq!(bars, 2 * 16);
    let component = model.code().mixing().unwrap().transposed();
    for i in 0..2 {
        let largest = (0..p).max_by(|a, b| component[(i, *a)].abs().total_cmp(&component[(i, *b)].abs()));
        assert!(shown.contains(&format!(">column {}</text>", largest.unwrap())), "component {i}");
    }
    let peak = |c: usize, j: usize| (-((j as f64 / p as f64 - [0.3, 0.64][c]) / 0.04).powi(2)).exp();
    let (_, shown) = page_of(&mixture(&peak));
    assert!(shown.contains(", column by column, each on its own scale"), "{shown}");
    assert_eq!(shown.matches("class=\"plus\"").count(), 0);
}
