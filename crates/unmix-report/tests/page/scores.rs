//! Rows by two of their codes.

use crate::{fit, made, picture, rows, section};
use unmix::method::pca::{Whiten, Zca};
use unmix::{AnyRows, Features, Matrix, Pca, Run, datasets};
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

/// Two columns of large variance, opposed in one direction, and six small ones.
fn columns() -> (Matrix<f64>, Features) {
    let noise = unmix::internal::num::random::Stream::new(4, 0);
    let x = Matrix::from_fn(300, 8, |i, j| {
        let draw = |at: usize| noise.normal((9 * i + at) as u64);
        match j {
            0 => 3.0 * draw(8) + 0.1 * draw(0),
            1 => -3.0 * draw(8) + 0.1 * draw(1),
            2 => 2.0 * draw(2),
            _ => 0.2 * draw(j),
        }
    });
    let names = ["left", "<right>", "up", "d", "e", "f", "g", "h"].map(String::from);
    (x, Features { names: Some(names.into()), shape: None })
}

#[test]
fn columns_of_large_loadings_have_arrows_that_can_be_hidden() {
    let (x, features) = columns();
    let model = fit(&mut rows(&x, features.clone()), 3);
    let html = made(&model, Some(&rows(&x, features)), &Options::default());
    let scores = section(&html, "scores");
    assert!(scores.contains("type=\"checkbox\"") && scores.contains("for=\"arrows\""), "{scores}");
    assert!(scores.contains("covariance biplot"));
    let first = scores.split("<svg").nth(1).unwrap();
    assert_eq!(first.matches("class=\"arrow\"").count(), 8);
    // The largest first; names are text.
    assert!(
        first.contains("Arrows: left, &lt;right&gt;, up, ")
            || first.contains("Arrows: &lt;right&gt;, left, up, "),
        "{first}"
    );
    // Shafts begin at the origin; those of the opposed columns point to opposite sides, along the first axis.
    let tip = |name: &str| -> ((f64, f64), (f64, f64)) {
        let path =
            first.split(&format!("<title>{name}</title>")).next().unwrap().rsplit("d=\"M").next().unwrap();
        let number =
            |text: &str| text.split_once(' ').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap();
        let (from, to) = path.split('M').next().unwrap().split_once('L').unwrap();
        (number(from), number(to))
    };
    let ((ox, oy), left) = tip("left");
    let ((rx, ry), right) = tip("&lt;right&gt;");
    assert_eq!((ox, oy), (rx, ry));
    assert!((left.0 - ox) * (right.0 - ox) < 0.0 && (left.0 - ox).abs() > 30.0, "{left:?} {right:?}");
    assert!((left.1 - oy).abs() < 0.3 * (left.0 - ox).abs(), "{left:?}");
    let up = tip("up").1;
    assert!((up.1 - oy).abs() > (up.0 - ox).abs(), "{up:?}");
}

#[test]
fn pictures_and_components_without_variance_have_no_arrows() {
    let data = datasets::patterns(200, 5, 3, 0.2, 0);
    let model = fit(&mut rows(&data.x, picture(5)), 3);
    let html = made(&model, Some(&rows(&data.x, picture(5))), &Options::default());
    assert!(!section(&html, "scores").contains("arrow"));
    // Codes that are rotated back to the columns belong to no component.
    let (x, features) = columns();
    let spec = Pca { n_components: 3.into(), whiten: Whiten::Rotated(Zca::Zca), ..Pca::default() };
    let model =
        unmix::with_rows!(&mut rows(&x, features.clone()), rows => spec.fit(rows, &Run::default())).unwrap();
    let html = made(&model, Some(&rows(&x, features)), &Options::default());
    assert!(!section(&html, "scores").contains("class=\"arrow\""));
}
