//! Captions are in the terms of the field, and each component has its share of the variance.

use crate::{fit, ica, made, picture, recording, rows, section};
use unmix::stability::{Trials, stability};
use unmix::{Features, Run, datasets};
use unmix_report::Options;

#[test]
fn captions_are_in_the_terms_of_the_field() {
    let data = datasets::patterns(200, 4, 3, 0.3, 0);
    let names = (0..16).map(|j| format!("c{j}")).collect();
    let named = Features { names: Some(names), shape: None };
    let model = fit(&mut rows(&data.x, named.clone()), 2);
    let given = rows(&data.x, named);
    let trials = Trials { splits: 2, restarts: 1, bootstrap: Some(0) };
    let found = stability(&model, &given, trials, &Run::default()).unwrap();
    let html = made(&model.with_stability(&found), Some(&given), &Options::default());
    let signs =
        "<span class=\"key plus\">orange</span> positive, <span class=\"key minus\">blue</span> negative";
    for (id, words) in [
        ("components", "Each chart shows the loadings of a component: "),
        ("components", signs),
        ("components", "; the percentage is its share of the variance. "),
        ("variance", "Dots mark where it reaches 50, 80, 90, 95 and 99 %."),
        ("scores", "placed by its codes (scores)"),
        (
            "reconstructions",
            "<span class=\"key pale\">Bars</span>: the data. <span class=\"key dark\">Dots</span>: the reconstruction",
        ),
        (
            "stability",
            "A point is the mean agreement of the two halves (1: identical). Its line is the 95 % interval for",
        ),
        ("reproduce", "<h2>Reproduce this page</h2>"),
    ] {
        assert!(section(&html, id).contains(words), "{id}: {words}\n{}", section(&html, id));
    }
    let model = fit(&mut rows(&data.x, Features::default()), 2);
    let html = made(&model, Some(&rows(&data.x, Features::default())), &Options::default());
    let bars = "<span class=\"key pale\">Bars</span>: the data. <span class=\"key dark\">Dots</span>: the reconstruction";
    assert!(section(&html, "reconstructions").contains(bars));
    let many = datasets::patterns(200, 8, 3, 0.3, 0);
    let model = fit(&mut rows(&many.x, Features::default()), 2);
    let html = made(&model, Some(&rows(&many.x, Features::default())), &Options::default());
    let curves = "<span class=\"key pale\">Pale</span>: the data. <span class=\"key dark\">Dark</span>: the reconstruction";
    assert!(section(&html, "reconstructions").contains(curves));
    let model = fit(&mut rows(&many.x, picture(8)), 2);
    let html = made(&model, Some(&rows(&many.x, picture(8))), &Options::default());
    assert!(section(&html, "reconstructions").contains("Left: the data. Right: the reconstruction"));
}

#[test]
fn sources_of_ica_have_shares_of_the_variance() {
    let x = recording(3000);
    let model = ica(&x, 3);
    let share = model.tensor("explained_variance_ratio").unwrap().f64s();
    assert!((share.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{share:?}");
    let html = made(&model, Some(&rows(&x, Features::default())), &Options::default());
    assert!(section(&html, "variance").contains("explained variance of each component"));
    for share in share {
        let percent = format!("{:.*} %", if share < 0.09995 { 2 } else { 1 }, 100.0 * share);
        assert!(
            section(&html, "components").contains(&percent),
            "{percent}: {}",
            section(&html, "components")
        );
    }
}
