//! Rows by two of their codes.

use crate::{fit, made, picture, rows, section};
use unmix::{AnyRows, Run, datasets};
use unmix_report::{Options, page};

/// Positions of the points of a figure, in the order of the rows.
fn points(svg: &str) -> Vec<(f64, f64)> {
    let point = |piece: &str| -> Option<(f64, f64)> {
        let (x, y) = piece.rsplit_once(' ')?;
        Some((x.rsplit('M').next()?.parse().ok()?, y.parse().ok()?))
    };
    svg.split("h0").filter_map(point).collect()
}

#[test]
fn rows_are_drawn_by_the_given_pairs_of_components() {
    let data = datasets::patterns(400, 12, 4, 0.2, 0);
    let model = fit(&mut rows(&data.x, picture(12)), 6);
    let given = rows(&data.x, picture(12));
    let of = |pairs: Vec<(usize, usize)>| {
        let html = made(&model, Some(&given), &Options { pairs, ..Options::default() });
        section(&html, "scores").to_string()
    };
    let chosen = of(vec![(5, 3), (1, 0)]);
    assert_eq!(chosen.matches("<svg").count(), 2);
    for axes in ["400 rows by component 5 (", "400 rows by component 1 ("] {
        assert!(chosen.contains(axes), "{axes}");
    }
    assert!(chosen.contains(">component 3 (") && !chosen.contains(">component 2 ("));
    // The points with the largest codes are the rightmost and the highest ones.
    let AnyRows::F64(plain) = &given else { panic!("double precision") };
    let codes = model.encode_to_vec(plain, &Run::default()).unwrap();
    let largest = |c: usize| (0..400).max_by(|a, b| codes[6 * a + c].total_cmp(&codes[6 * b + c])).unwrap();
    let drawn = points(chosen.split("<svg").nth(1).unwrap());
    assert_eq!(drawn.len(), 400);
    let right = drawn.iter().fold(0.0, |m: f64, p| m.max(p.0));
    let top = drawn.iter().fold(f64::INFINITY, |m, p| m.min(p.1));
    assert_eq!((drawn[largest(5)].0, drawn[largest(3)].1), (right, top));
    assert_eq!(of(Vec::new()), of(vec![(0, 1), (0, 2)]), "without pairs");
}

#[test]
fn a_pair_that_is_given_twice_is_refused() {
    let data = datasets::patterns(40, 5, 4, 0.2, 0);
    let model = fit(&mut rows(&data.x, picture(5)), 3);
    let given = rows(&data.x, picture(5));
    let of = |pairs: Vec<(usize, usize)>| {
        page(&model, Some(&given), &Options { pairs, ..Options::default() }, &Run::default())
    };
    let refused = of(vec![(1, 0), (0, 2), (1, 0)]).unwrap_err().to_string();
    assert_eq!(
        refused,
        "drawing rows by the components 1 and 0 is not possible: this pair is given twice; give each pair once"
    );
    // The axes exchanged are another figure.
    assert!(of(vec![(1, 0), (0, 1)]).is_ok());
}

#[test]
fn pairs_of_other_than_two_components_are_refused() {
    let data = datasets::patterns(40, 5, 4, 0.2, 0);
    let model = fit(&mut rows(&data.x, picture(5)), 3);
    let given = rows(&data.x, picture(5));
    for pair in [(0, 3), (7, 1), (2, 2)] {
        let options = Options { pairs: vec![(0, 1), pair], ..Options::default() };
        let refused = page(&model, Some(&given), &options, &Run::default()).unwrap_err().to_string();
        let (a, b) = pair;
        assert_eq!(
            refused,
            format!(
                "drawing rows by the components {a} and {b} is not possible: the model has 3 components, numbered from 0; \
                 give two different ones"
            )
        );
    }
}
