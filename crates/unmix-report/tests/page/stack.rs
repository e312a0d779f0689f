//! Stacks on the page: a table of the layers, and the filters of each in the columns of the rows.

use crate::{made, picture, rows, section};
use unmix::method::stacked_rfn::{PerLayer, filters};
use unmix::{Features, Matrix, Model, Rfn, Run, StackedRfn, datasets};
use unmix_report::Options;

fn fitted(x: &Matrix<f64>, features: Features, units: &[usize]) -> Model {
    let one = Rfn { max_iter: 20, ..Rfn::default() };
    let spec = StackedRfn { n_components: PerLayer::Each(units.to_vec()), ..StackedRfn::of(one) };
    unmix::with_rows!(&mut rows(x, features), rows => spec.fit(rows, &Run::default())).unwrap()
}

#[test]
fn every_layer_is_in_the_table_and_its_filters_are_drawn() {
    let x = datasets::patterns(300, 6, 3, 0.2, 0).x;
    for (features, drawn) in [(picture(6), "<img"), (Features::default(), "<svg")] {
        let model = fitted(&x, features.clone(), &[9, 7, 4]);
        let given = rows(&x, features);
        for html in [made(&model, Some(&given), &Options::default()), made(&model, None, &Options::default())]
        {
            let text = section(&html, "stack");
            assert_eq!(text.matches("<tr><th scope=\"row\">").count(), 3, "{text}");
            assert_eq!(text.matches("objective of layer").count(), 3);
            let shown = |i: usize| {
                let from = text.find(&format!("<strong>Layer {i}</strong>")).unwrap();
                let to = text.find(&format!("<strong>Layer {}</strong>", i + 1)).unwrap_or(text.len());
                &text[from..to]
            };
            for (i, units) in [(0, 9), (1, 7)] {
                assert!(shown(i).contains(drawn), "layer {i}");
                let n = shown(i).matches("class=\"component\"").count();
                let all = if n == units { n.to_string() } else { format!("{n} of {units} filters") };
                assert!(n > 0 && shown(i).contains(&all), "{n} of {units}");
                assert!(shown(i).contains("Filter 0 of layer"));
            }
            // The last layer's are the components.
            assert!(!text.contains("<strong>Layer 2</strong>"));
            assert_eq!(section(&html, "components").matches("class=\"component\"").count(), 4);
        }
    }
}

#[test]
fn filters_are_products_of_decoders_and_other_models_have_none() {
    let x = datasets::patterns(300, 6, 3, 0.2, 0).x;
    let model = fitted(&x, Features::default(), &[9, 7]);
    let found = filters(&model).unwrap().unwrap();
    let own = |i: usize| model.tensor(&format!("layers.{i}.components")).unwrap().to_matrix();
    assert_eq!(found[0], own(0));
    let product = unmix::internal::num::factor::multiply(&own(1), &own(0));
    assert!((0..7).all(|j| found[1].row(j).iter().zip(product.row(j)).all(|(a, b)| (a - b).abs() < 1e-12)));
    let single = unmix::with_rows!(&mut rows(&x, Features::default()), rows => {
        Rfn { n_components: 3, max_iter: 5, ..Rfn::default() }.fit(rows, &Run::default())
    });
    let single = single.unwrap();
    assert!(filters(&single).is_none() && !made(&single, None, &Options::default()).contains("id=\"stack\""));
}
