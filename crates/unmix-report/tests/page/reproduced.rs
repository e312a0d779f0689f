//! The section on reproduction: commands that were run, or properties of the fit where there are none.

use crate::{fit, made, picture, rows, section};
use unmix::{Features, Model, Outcome, Rows, Run, datasets};
use unmix_report::Options;

#[test]
fn only_commands_that_were_run_are_shown() {
    let data = datasets::patterns(60, 6, 2, 0.3, 0);
    let model = fit(&mut rows(&data.x, picture(6)), 2);
    let invocation = "unmix report m.safetensors x.npy --drop a,b -o page.html";
    let options = Options {
        reproduce: vec![invocation.into()],
        model_name: Some("m.safetensors".into()),
        input_name: Some("x.npy".into()),
        ..Default::default()
    };
    let given = rows(&data.x, picture(6));
    let html = made(&model, Some(&given), &options);
    let part = section(&html, "reproduce");
    assert_eq!(
        html.matches("unmix ").count()
            - html.matches("of unmix ").count()
            - html.matches("by unmix ").count(),
        1,
        "{part}"
    );
    assert!(
        part.contains(invocation) && part.contains("does not record the command that fitted it"),
        "{part}"
    );
    // Without recorded commands, properties of the fit are listed.
    for entry in ["<dd>pca</dd>", "<dd>n_components=2</dd>", "<dd>0</dd>", "<dd>60 rows</dd>", "<dd>36</dd>"]
    {
        assert!(part.contains(entry), "{entry}: {part}");
    }
    // A model that records its invocation needs no list, and one command that made both is shown once.
    let run = Run { invocation: Some("unmix fit pca x.npy -k 2"), ..Run::default() };
    let known = unmix::fit("pca", model.settings(), &mut rows(&data.x, picture(6)), &run).unwrap();
    let html = made(&known, Some(&given), &options);
    let part = section(&html, "reproduce");
    assert!(part.contains("unmix fit pca x.npy -k 2") && part.contains(invocation), "{part}");
    assert!(!part.contains("does not record"), "{part}");
    let whole = Options { reproduce: vec!["unmix fit pca x.npy -k 2".into()], ..options };
    assert_eq!(section(&made(&known, Some(&given), &whole), "reproduce").matches("unmix fit").count(), 1);
    // Nothing was run, so no command is shown.
    let html = made(&model, Some(&given), &Options::default());
    assert!(
        !section(&html, "reproduce").contains("<pre>")
            && section(&html, "reproduce").contains("n_components=2")
    );
}

#[test]
fn a_page_of_other_rows_has_the_name_of_the_data_of_the_fit() {
    let data = datasets::patterns(60, 6, 2, 0.3, 0);
    let run = Run { invocation: Some("unmix fit pca in/x.npy -k 2"), ..Run::default() };
    let settings = serde_json::json!({"n_components": 2}).as_object().cloned().unwrap();
    let model = unmix::fit("pca", &settings, &mut rows(&data.x, picture(6)), &run).unwrap();
    let given = rows(&data.x, picture(6));
    let page = |input: &str| {
        made(&model, Some(&given), &Options { input_name: Some(input.into()), ..Options::default() })
    };
    let other = page("y.npy");
    assert!(other.contains("<h1>PCA of x.npy</h1>") && other.contains("60 of y.npy"), "{other}");
    let same = page("x.npy");
    assert!(same.contains("<h1>PCA of x.npy</h1>") && !same.contains("rows shown"), "{same}");
}

#[test]
fn bitwise_reproducibility_is_stated_only_where_it_holds() {
    let data = datasets::patterns(60, 6, 2, 0.3, 0);
    let fitted = fit(&mut rows(&data.x, Features::default()), 2);
    let stated =
        |model: &Model| made(model, None, &Options::default()).contains("the same numbers to the bit");
    assert!(stated(&fitted));
    let mut report = fitted.report().clone();
    report.outcome = Outcome::Time;
    let (settings, tensors) = (fitted.settings().clone(), fitted.tensors().clone());
    let timed = Model::new(fitted.method(), settings, Features::default(), 1, tensors, report).unwrap();
    assert!(!stated(&timed));
    assert!(made(&timed, None, &Options::default()).contains("The time limit ended the fit"));
    let settings = fitted.settings().clone();
    let summed =
        unmix::method::fit_by_sums("pca", &settings, &rows(&data.x, Features::default()), &Run::default())
            .unwrap();
    assert!(!stated(&summed));
}

#[test]
fn an_initial_model_is_named_however_it_was_given() {
    let x = datasets::patterns(300, 3, 3, 0.5, 0).x;
    let settings = serde_json::json!({"n_components": 2, "max_iter": 3}).as_object().cloned().unwrap();
    let fitted = |init: Option<&Model>| {
        let run = Run { init: init.map(|model| model as _), ..Run::default() };
        unmix::fit("rica", &settings, &mut rows(&x, Features::default()), &run).unwrap()
    };
    let first = fitted(None);
    let again = fitted(Some(&first));
    for (model, named) in [(&first, false), (&again, true)] {
        let restored = Model::from_bytes(&model.to_bytes().unwrap(), "m.safetensors".as_ref()).unwrap();
        for model in [model, &restored] {
            let html = made(model, None, &Options::default());
            assert_eq!(html.contains("and seed, the same initial model give the same numbers"), named);
        }
    }
    // Components of two fits from one model agree because of it, not because of their seed.
    let beside = |model: &Model, other: &Model| {
        let beside = Some(("other.safetensors".to_string(), other.clone()));
        made(model, None, &Options { beside, ..Options::default() }).contains("Both fits started")
    };
    assert!(beside(&first, &first) && !beside(&again, &first) && !beside(&first, &again));
}

#[test]
fn initial_values_that_are_not_recorded_are_named() {
    let x = datasets::patterns(300, 3, 3, 0.5, 0).x;
    let start = (0..2).map(|i| (0..9).map(|j| if i == j { 1.0 } else { 0.1 }).collect()).collect();
    let spec = unmix::Rica { n_components: Some(2), w_init: Some(start), max_iter: 5, ..Default::default() };
    let model = spec.fit(&mut Rows::from_slice(x.as_slice(), 9).unwrap(), &Run::default()).unwrap();
    assert!(
        made(&model, None, &Options::default()).contains("the same start (w_init, which is not recorded)")
    );
}
