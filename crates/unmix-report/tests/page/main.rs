//! Properties that every page must have, checked on pages of synthetic data.

mod beside;
mod captions;
mod checks;
mod codes;
mod colours;
mod components;
mod factors;
mod methods;
mod modules;
mod objective;
mod reproduced;
mod scores;
mod sources;
mod stack;
mod weights;

use checks::{described, fetches_nothing, well_formed};
use unmix::data::RawArray;
use unmix::{AnyRows, Features, Matrix, Model, Pca, Rows, Run, datasets};
use unmix_report::{Options, mosaic, page, summary};

fn rows<'a>(x: &'a Matrix<f64>, features: Features) -> AnyRows<'a> {
    AnyRows::F64(Rows::new(RawArray::borrowed(x.as_slice(), x.cols()).unwrap(), features, "patterns"))
}

fn fit(rows: &mut AnyRows<'_>, k: usize) -> Model {
    let spec = Pca { n_components: k.into(), ..Default::default() };
    unmix::with_rows!(rows, rows => spec.fit(rows, &Run::default())).unwrap()
}

fn picture(side: usize) -> Features {
    Features { names: None, shape: Some(vec![side, side]) }
}

fn made(model: &Model, rows: Option<&AnyRows<'_>>, options: &Options) -> String {
    let html = page(model, rows, options, &Run::default()).unwrap();
    well_formed(&html);
    fetches_nothing(&html);
    described(&html);
    html
}

fn section<'a>(html: &'a str, id: &str) -> &'a str {
    let start = html.find(&format!("<section id=\"{id}\">")).unwrap_or_else(|| panic!("no section '{id}'"));
    html[start..].split("</section>").next().unwrap()
}

#[test]
fn pictures_are_as_many_as_components_rows_and_truths() {
    let data = datasets::patterns(400, 12, 4, 0.2, 0);
    let mut any = rows(&data.x, picture(12));
    let model = fit(&mut any, 4);
    let labels = data.labels.iter().map(|g| format!("group {g}")).collect();
    let options = Options {
        truth: Some(data.axes.clone()),
        labels: Some(("group".into(), labels)),
        ..Default::default()
    };
    let html = made(&model, Some(&any), &options);
    let components = section(&html, "components");
    assert_eq!(components.matches("class=\"component\"").count(), 4);
    assert_eq!(components.matches("<img").count(), 4 + 1, "and the mean");
    assert_eq!(section(&html, "truth").matches("<img").count(), 2 * 4);
    assert_eq!(section(&html, "reconstructions").matches("<img").count(), 2 * 8);
    assert_eq!(section(&html, "scores").matches("<svg").count(), 2);
    // One point for each row in both figures of scores.
    assert_eq!(section(&html, "scores").matches("h0").count(), 2 * 400);
    for group in ["group 0", "group 1", "group 2"] {
        assert!(section(&html, "scores").contains(group));
    }
    let share = model.tensor("explained_variance_ratio").unwrap().f64s();
    assert!(html.contains(&format!("{:.1} %", 100.0 * share.iter().sum::<f64>())));
    assert!(summary(&model).starts_with("PCA of 400 x 144 float64: 4 components, "));
    assert!(mosaic(&model, 4, 2).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn many_components_are_folded_and_few_pixels_are_not_needed() {
    let data = datasets::patterns(300, 10, 4, 0.2, 0);
    let mut any = rows(&data.x, picture(10));
    let model = fit(&mut any, 100);
    let html = made(&model, Some(&any), &Options::default());
    assert_eq!(section(&html, "components").matches("class=\"component\"").count(), 95);
    assert!(section(&html, "components").contains("95 of 100 components are shown"));
    // The model has all components, so every level of cumulative variance is reached.
    assert!(!section(&html, "variance").contains("more than"));
    assert_eq!(section(&html, "variance").matches("scope=\"row\"").count(), 100);
}

#[test]
fn without_a_shape_components_and_the_truth_are_curves() {
    let data = datasets::patterns(200, 8, 3, 0.1, 0);
    let mut any = rows(&data.x, Features::default());
    let model = fit(&mut any, 3);
    let numbers = (0..200).map(|i| format!("{}", data.codes[(i, 0)])).collect();
    let options = Options {
        truth: Some(data.axes.clone()),
        labels: Some(("strength".into(), numbers)),
        ..Default::default()
    };
    let html = made(&model, Some(&any), &options);
    assert!(!html.contains("<img"));
    assert_eq!(section(&html, "components").matches("<svg").count(), 3 + 1);
    assert_eq!(section(&html, "truth").matches("<svg").count(), 3);
    assert!(section(&html, "scores").contains("linear-gradient"), "many numbers are a scale");
    assert!(mosaic(&model, 3, 3).unwrap_err().to_string().contains("the features have no shape"));
}

#[test]
fn markup_in_names_is_escaped() {
    let markup = "<script>alert('x')</script>\"><img src=x onerror=alert(1)> & https://example.org";
    let data = datasets::patterns(50, 2, 2, 0.5, 0);
    let names = (0..4).map(|j| format!("{markup}{j}")).collect();
    let mut any = rows(&data.x, Features { names: Some(names), shape: None });
    let model = fit(&mut any, 2);
    let options = Options {
        title: Some(markup.into()),
        labels: Some((markup.into(), (0..50).map(|i| format!("{markup}{}", i % 3)).collect())),
        reproduce: vec![markup.into()],
        model_name: Some(markup.into()),
        input_name: Some(markup.into()),
        ..Default::default()
    };
    let html = made(&model, Some(&any), &options);
    assert!(!html.contains("<script") && !html.contains("<img") && html.contains("&lt;script&gt;"));
    assert_eq!(section(&html, "components").matches("<svg").count(), 2);
    let alone = made(&model, None, &Options { reproduce: Vec::new(), ..options });
    assert!(!alone.contains("<script"));
}

#[test]
fn without_rows_the_page_shows_the_command_for_them() {
    let data = datasets::patterns(60, 6, 2, 0.3, 0);
    let model = fit(&mut rows(&data.x, picture(6)), 2);
    let options = Options {
        model_name: Some("my model.safetensors".into()),
        input_name: Some("x.npy".into()),
        ..Default::default()
    };
    let html = made(&model, None, &options);
    assert!(section(&html, "scores").contains("unmix report 'my model.safetensors' x.npy -o report.html"));
    assert!(!html.contains("id=\"reconstructions\""));
}

#[test]
fn few_components_few_rows_and_more_components_than_the_rank_have_a_page() {
    let data = datasets::patterns(40, 5, 2, 0.3, 0);
    for k in [0, 1, 2, 25] {
        let mut any = rows(&data.x, picture(5));
        let model = fit(&mut any, k);
        let html =
            made(&model, Some(&any), &Options { truth: Some(data.axes.clone()), ..Default::default() });
        assert_eq!(section(&html, "components").matches("class=\"component\"").count(), k);
        assert_eq!(html.contains("id=\"truth\""), k > 0);
    }
    // Two rows, one column that varies, single precision, and more components than the rank.
    let x = [1.0f32, 7.0, 2.0, 7.0];
    let mut any = AnyRows::F32(Rows::from_slice(&x, 2).unwrap());
    let model = fit(&mut any, 2);
    let html = made(&model, Some(&any), &Options::default());
    assert!(html.contains("1 of 2 columns does not vary; its loadings are 0."), "warnings are on the page");
    assert!(html.contains("float32"));
}

#[test]
fn a_fit_that_did_not_converge_has_a_warning_and_a_model_without_variances_no_variance_section() {
    let data = datasets::patterns(60, 6, 2, 0.3, 0);
    let fitted = fit(&mut rows(&data.x, picture(6)), 2);
    let kept =
        ["components", "mean", "scale"].map(|name| (name.to_string(), fitted.tensor(name).unwrap().clone()));
    let mut report = fitted.report().clone();
    report.outcome = unmix::Outcome::MaxIter;
    report.n_iter = 500;
    report.objective = vec![9.0, 4.0, 3.5];
    (report.residual, report.tol) = (Some(0.0123), Some(1e-6));
    report.warnings = vec!["sheet.csv: 2 of 60 rows are left out".into(), "the rows are few".into()];
    let settings = fitted.settings().clone();
    let model = Model::new(fitted.method(), settings, picture(6), 1, kept.into(), report).unwrap();
    let html = made(&model, Some(&rows(&data.x, picture(6))), &Options::default());
    assert!(html.contains(
        "did not converge: max_iter ended it after 500 iterations (residual 0.01230, tolerance 1.000e\u{2212}6)"
    ));
    assert!(html.contains("li class=\"warn\"") && !html.contains("class=\"good\""));
    // A sentence begins with a capital, the name of a file as it is.
    assert!(html.contains(">sheet.csv: 2 of 60 rows are left out.<") && html.contains(">The rows are few.<"));
    assert_eq!(section(&html, "fit").matches("<svg").count(), 1, "the objective is drawn");
    assert!(section(&html, "fit").contains(">objective</text>"), "the vertical axis has a name");
    assert!(!html.contains("id=\"variance\"") && !html.contains("variance kept"));
    assert!(summary(&model).contains("not converged: max_iter ended it"));
}

#[test]
fn pages_of_large_colour_images_are_small() {
    let (h, w) = (160, 120);
    let draw = unmix::internal::num::random::Stream::new(5, 0);
    let x = Matrix::from_fn(30, h * w * 3, |i, j| draw.uniform((i * h * w * 3 + j) as u64));
    let mut any = rows(&x, Features { names: None, shape: Some(vec![h, w, 3]) });
    let model = fit(&mut any, 29);
    let html =
        made(&model, Some(&any), &Options { truth: Some(x.clone().top_rows(20)), ..Default::default() });
    assert_eq!(section(&html, "components").matches("<img").count(), 29 + 1);
}

#[test]
fn labels_and_rows_of_other_sizes_are_refused_in_one_sentence() {
    let data = datasets::patterns(40, 4, 2, 0.3, 0);
    let mut any = rows(&data.x, picture(4));
    let model = fit(&mut any, 2);
    let refused =
        |options: Options| page(&model, Some(&any), &options, &Run::default()).unwrap_err().to_string();
    assert_eq!(
        refused(Options { labels: Some(("class".into(), vec!["a".into()])), ..Default::default() }),
        "colouring points by 'class' is not possible: it has 1 value for 40 rows; give one label for each row"
    );
    assert!(
        refused(Options { truth: Some(Matrix::zeros(2, 5)), ..Default::default() })
            .contains("16 columns are needed, but 5")
    );
    let other = datasets::patterns(40, 3, 2, 0.3, 0);
    let error =
        page(&model, Some(&rows(&other.x, picture(3))), &Options::default(), &Run::default()).unwrap_err();
    assert!(error.to_string().contains("16 columns are needed, but 9 were given"));
}

/// Two sines and a square wave mixed into three channels, 100 rows per second.
fn recording(n: usize) -> Matrix<f64> {
    let wave = |i: usize, hz: f64| (std::f64::consts::TAU * hz * i as f64 / 100.0).sin();
    let mixed = [[1.0, 0.5, 0.2], [0.3, 1.0, -0.4], [0.1, -0.6, 1.0]];
    Matrix::from_fn(n, 3, |i, c| {
        let s = [wave(i, 7.0), wave(i, 0.9).signum(), wave(i, 21.3)];
        (0..3).map(|j| mixed[c][j] * s[j]).sum()
    })
}

fn ica(x: &Matrix<f64>, k: usize) -> Model {
    let settings = serde_json::json!({ "n_components": k }).as_object().cloned().unwrap();
    unmix::fit("ica", &settings, &mut rows(x, Features::default()), &Run::default()).unwrap()
}

#[test]
fn sources_are_drawn_below_each_other_with_spectra_where_the_rate_is_given() {
    let x = recording(3000);
    let (model, given) = (ica(&x, 3), rows(&x, Features::default()));
    let plain = made(&model, Some(&given), &Options::default());
    assert!(
        plain.contains("Codes by row") && plain.contains("2,000 consecutive rows from the middle of 3,000")
    );
    assert_eq!(plain.matches(" by row\"").count(), 3);
    assert_eq!(plain.matches(">std. dev.</text>").count(), 3, "the vertical axes have a unit");
    assert!(!plain.contains("hertz"), "no sampling rate is given");
    let options = Options { rate: Some(100.0), ..Options::default() };
    let timed = made(&model, Some(&given), &options);
    assert!(timed.contains("12 seconds from the middle of 30"), "{timed}");
    assert_eq!((timed.matches(">hertz<").count(), timed.matches(">seconds<").count()), (3, 3));
    // Maps of loadings at the positions of the sensors.
    let places = Some(vec![(0.0, 1.0), (1.0, 0.0), (-1.0, 0.0)]);
    let mapped = made(&model, Some(&given), &Options { positions: places, ..options.clone() });
    assert!(mapped.contains("at the places of the sensors") && mapped.matches("<circle").count() >= 9);
    let wrong =
        |options: &Options| page(&model, Some(&given), options, &Run::default()).unwrap_err().to_string();
    let few = wrong(&Options { positions: Some(vec![(0.0, 0.0)]), ..Options::default() });
    assert!(few.contains("places") && few.contains("3 columns"), "{few}");
    assert!(wrong(&Options { rate: Some(-1.0), ..Options::default() }).contains("must be positive"));
    // Images are not a time series: the page has no section on sources over time.
    let data = datasets::patterns(60, 5, 3, 0.2, 1);
    let mut pictures = rows(&data.x, picture(5));
    let model = fit(&mut pictures, 3);
    assert!(!made(&model, Some(&pictures), &Options::default()).contains("id=\"sources\""));
}

#[test]
fn every_component_has_its_verdict() {
    let x = recording(3000);
    let given = rows(&x, Features::default());
    let model = ica(&x, 3);
    let trials = unmix::stability::Trials { splits: 2, restarts: 1, bootstrap: Some(0) };
    let found = unmix::stability::stability(&model, &given, trials, &Run::default()).unwrap();
    let html = made(&model.with_stability(&found), Some(&given), &Options::default());
    let of = |class: &str| html.matches(&format!("class=\"verdict {class}\"")).count();
    assert_eq!(of("good") + of("warn") + of("open"), 6, "for three components and three time courses");
    assert!(found.block_length > 1 && html.contains("rows were kept together"), "{}", found.block_length);
}

#[test]
fn rows_are_labelled_by_their_names() {
    let x = recording(3000);
    let given = rows(&x, Features::default());
    // Two sources of three leave a residual in each row, so that rows are shown beside their reconstructions.
    let model = ica(&x, 2);
    let names: Vec<String> = (0..3000).map(|i| format!("<day {i}>")).collect();
    let named = Options { row_names: Some(names), ..Options::default() };
    let html = made(&model, Some(&given), &named);
    assert!(
        html.contains("<b>&lt;day 0&gt;</b>") && !html.contains("<b>row 0</b>"),
        "beside reconstructions"
    );
    // 2000 rows from the middle are drawn, beginning with row 500: the labels are the names in the middle of each of seven runs of 286
    // rows.
    assert!(html.contains(">&lt;day 643&gt;</text>"), "along time courses");
    assert!(!html.contains("<day"));
    // With a sampling rate the time axis is in seconds.
    let timed = made(&model, Some(&given), &Options { rate: Some(100.0), ..named.clone() });
    assert!(!timed.contains("day 643") && timed.contains("<b>&lt;day 0&gt;</b>"));
    let few = Options { row_names: Some(vec!["a".into()]), ..Options::default() };
    let refused = page(&model, Some(&given), &few, &Run::default()).unwrap_err().to_string();
    assert!(refused.contains("1 name given for 3000 rows"), "{refused}");
}

#[test]
fn only_resolved_components_have_a_green_mark() {
    use datasets::Distribution;
    let x = datasets::independent(3000, &[Distribution::Laplace; 4], &[1.0; 4], 1).unwrap().x;
    let gaussian = datasets::independent(3000, &[Distribution::Gaussian; 4], &[1.0; 4], 1).unwrap().x;
    for (x, max_iter, green) in [(&x, 500, 4), (&x, 2, 0), (&gaussian, 500, 0)] {
        let given = rows(x, Features::default());
        let settings = serde_json::json!({"max_iter": max_iter}).as_object().cloned().unwrap();
        let model =
            unmix::fit("sigma-pca", &settings, &mut rows(x, Features::default()), &Run::default()).unwrap();
        let html = made(&model, Some(&given), &Options::default());
        let (good, warn) =
            (html.matches("class=\"verdict good\"").count(), html.matches("class=\"verdict warn\"").count());
        assert_eq!((good > 0, warn > 0), (green > 0, green == 0), "max_iter {max_iter}: {good} {warn}");
    }
}

#[test]
fn the_page_shows_how_a_fit_ended() {
    let data = datasets::patterns(60, 6, 2, 0.3, 0);
    let fitted = fit(&mut rows(&data.x, picture(6)), 2);
    let with = |change: fn(&mut unmix::Report)| {
        let (mut report, settings) = (fitted.report().clone(), fitted.settings().clone());
        change(&mut report);
        Model::new(fitted.method(), settings, picture(6), 1, fitted.tensors().clone(), report).unwrap()
    };
    assert!(summary(&fitted).contains("\ncompleted; solver "));
    let once = with(|report| report.objective = vec![2.0]);
    assert!(summary(&once).contains("\ncompleted, 1 iteration; solver "), "{}", summary(&once));
    let imported = with(|report| (report.n_iter, report.sweeps, report.n_samples) = (0, 0, 0.0));
    assert!(summary(&imported).contains("\nimported, not fitted; solver "), "{}", summary(&imported));
    let head = made(&imported, None, &Options::default());
    assert!(
        head.contains("The parameters were imported, not fitted: <code>")
            && !head.contains("The fit imported")
    );
}

#[test]
fn numbers_of_a_part_of_the_rows_show_the_number_of_rows() {
    let x = Matrix::from_fn(6000, 4, |i, j| ((i * (j + 3) + i * i % 7) % 11) as f64 + 20.0);
    let given = rows(&x, Features::default());
    let html = made(&fit(&mut rows(&x, Features::default()), 1), Some(&given), &Options::default());
    let text = section(&html, "reconstructions");
    assert!(text.contains("Over 2,000 of 6,000 rows, ") && text.contains("distance from the mean"), "{text}");
    let raw = Pca { n_components: 1.into(), center: false, ..Default::default() };
    let raw = unmix::with_rows!(&mut rows(&x, Features::default()), rows => raw.fit(rows, &Run::default()));
    let html = made(&raw.unwrap(), Some(&given), &Options::default());
    let text = section(&html, "reconstructions");
    assert!(text.contains("length of the row") && text.contains("of the sum of squares"), "{text}");
}
