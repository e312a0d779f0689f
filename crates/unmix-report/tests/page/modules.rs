//! Modules on the page: their numbers, a map of their rows and columns, and a panel for each, whose rows are read by number.

use crate::{made, rows, section};
use unmix::biclusters::{Refits, biclusters, of_model};
use unmix::datasets::{PlantedBiclusters, RareModules, rare_modules};
use unmix::{AnyRows, Features, Matrix, Model, Rfn, Run};
use unmix_report::Options;

fn planted(n_samples: usize) -> PlantedBiclusters {
    let of = RareModules {
        n_samples,
        n_features: 60,
        n_modules: 2,
        shift: 8.0,
        n_factors: 2,
        ..RareModules::default()
    };
    rare_modules(&of, 1).unwrap()
}

fn named() -> Features {
    Features { names: Some((0..60).map(|j| format!("<gene {j}>")).collect()), shape: None }
}

fn fitted(x: &Matrix<f64>, features: Features) -> Model {
    let spec = Rfn { n_components: 6, psi_min: 0.3, max_iter: 60, ..Rfn::default() };
    unmix::with_rows!(&mut rows(x, features), rows => spec.fit(rows, &Run::default())).unwrap()
}

#[test]
fn modules_are_listed_mapped_and_drawn_by_class() {
    let made_rows = planted(200);
    let model = fitted(&made_rows.x, named());
    let given = rows(&made_rows.x, named());
    let labels = (0..200).map(|i| if made_rows.rows[0][i] { "ill" } else { "well" }.to_string()).collect();
    let options = Options { labels: Some(("state".into(), labels)), ..Options::default() };
    let html = made(&model, Some(&given), &options);
    let text = section(&html, "modules");
    let found = of_model(&model, &given, &Run::default()).unwrap();
    assert!(text.contains(&format!("<strong>{}</strong> module", found.modules.len())), "{text}");
    let first = &found.modules[0];
    assert!(text.contains(&format!("<td>{:.1}</td><td>{:.2}</td>", first.evidence, first.concentration)));
    // A map with as many frames as modules that have rows and columns of their own, and a panel for each module.
    assert_eq!(text.matches("<image ").count(), 1);
    assert!(text.matches("<rect class=\"frame\"").count() >= 2);
    assert_eq!(text.matches("aria-label=\"Module ").count(), found.modules.len().min(12));
    assert!(text.contains("ill") && text.contains("sorted by class"));
    // Names of columns are shown as text.
    assert!(text.contains("&lt;gene"));
    // All members are listed by name, the strongest first; rows without names by number.
    assert_eq!(text.matches("<details class=\"members\">").count(), found.modules.len().min(24));
    let lists: String = text.split("<details class=\"members\">").nth(1).unwrap().into();
    let lists = lists.split("</details>").next().unwrap();
    assert!(first.columns.iter().all(|j| lists.contains(&format!("&lt;gene {j}&gt;"))), "{lists}");
    let numbers = lists.split("<b>rows</b>: ").nth(1).unwrap().split("</p>").next().unwrap();
    let mut numbers: Vec<u32> = numbers.split(", ").map(|i| i.parse().unwrap()).collect();
    assert!(numbers.windows(2).all(|i| first.codes[i[0] as usize] >= first.codes[i[1] as usize]));
    numbers.sort_unstable();
    assert_eq!(numbers, first.rows);
    // Names of rows are used where they are known.
    let row_names = Some((0..200).map(|i| format!("cell {i}")).collect());
    let html = made(&model, Some(&given), &Options { row_names, ..Options::default() });
    let lists = section(&html, "modules");
    let listed = lists.split("<b>rows</b>: ").nth(1).unwrap().split("</p>").next().unwrap();
    let mut listed: Vec<&str> = listed.split(", ").collect();
    let mut names: Vec<String> = first.rows.iter().map(|i| format!("cell {i}")).collect();
    listed.sort_unstable();
    names.sort_unstable();
    assert_eq!(listed, names);
    // Stability and q are of refits.
    assert!(!text.contains("<th scope=\"col\">stability</th>") && text.contains("with refits the page"));
    let pooled = biclusters(&model, &given, Refits { starts: 2, permutations: 1 }, &Run::default()).unwrap();
    let html = made(&model, Some(&given), &Options { modules: Some(pooled), ..Options::default() });

    let text = section(&html, "modules");
    for word in ["stability", "q", "agreement of halves"] {
        assert!(text.contains(&format!("<th scope=\"col\">{word}</th>")), "{word}");
    }
    // Codes and the objective are counted, too.
    assert!(section(&html, "codes").contains("of all entries are 0"));
    let falls = model.report().objective.windows(2).any(|pair| pair[1] < pair[0]);
    let words = if falls { "it falls in" } else { "it never falls" };
    assert!(section(&html, "fit").contains(words), "{words}");
}

#[test]
fn a_page_without_any_module_has_a_sentence_about_it() {
    let x = Matrix::from_fn(40, 3, |i, j| ((7 * i * i + 13 * j + i * j) % 29) as f64);
    let features = || Features { names: None, shape: None };
    let spec = Rfn { n_components: 1, max_iter: 20, ..Rfn::default() };
    let model =
        unmix::with_rows!(&mut rows(&x, features()), rows => spec.fit(rows, &Run::default())).unwrap();
    let html = made(&model, Some(&rows(&x, features())), &Options::default());
    let text = section(&html, "modules");
    assert!(text.contains("no module was found") && text.contains("pool more starts"), "{text}");
    assert!(!text.contains("<table") && !text.contains("<svg"), "{text}");
}

#[test]
fn models_without_modules_have_no_such_section() {
    let made_rows = planted(60);
    let model = fitted(&made_rows.x, Features::default());
    assert!(!made(&model, None, &Options::default()).contains("id=\"modules\""));
    // Units of pictures are shown as pictures.
    let features = Features { names: None, shape: Some(vec![6, 10]) };
    let model = fitted(&made_rows.x, features.clone());
    assert!(
        !made(&model, Some(&rows(&made_rows.x, features)), &Options::default()).contains("id=\"modules\"")
    );
    let AnyRows::F64(weighted) = rows(&made_rows.x, Features::default()) else {
        unreachable!("double precision")
    };
    let weighted = AnyRows::F64(weighted.weighted(vec![2.0; 60]).unwrap());
    let model = fitted(&made_rows.x, Features::default());
    assert!(!made(&model, Some(&weighted), &Options::default()).contains("id=\"modules\""));
}
