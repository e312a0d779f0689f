//! Experiments run, write their outputs, and reproduce the published results.

#[path = "../../unmix/tests/scope.rs"]
mod scope;
#[path = "../../unmix/tests/skipped.rs"]
mod skipped;

mod full_forms;

use scope::in_all;
use std::path::{Path, PathBuf};
use unmix::Run;
use unmix_reproduce::{EXPERIMENTS, Experiment, Number, Options, Results, Verdict, reproduce};

fn run(key: &str, folder: &Path) -> Results {
    run_on(key, None, folder)
}

fn run_on(key: &str, pictures: Option<PathBuf>, folder: &Path) -> Results {
    run_with(key, Options { pictures, ..quick(folder) })
}

/// Options of the quick form without files.
fn quick(folder: &Path) -> Options {
    Options {
        quick: true,
        pictures: None,
        activations: None,
        tables: None,
        instances: None,
        output: folder.into(),
    }
}

fn run_with(key: &str, options: Options) -> Results {
    run_in(key, &options, &Run::default())
}

fn run_in(key: &str, options: &Options, run: &Run<'_>) -> Results {
    let mut done = reproduce(&[key], options, run, |_| ()).unwrap();
    assert_eq!(done.len(), 1);
    done.remove(0).1
}

fn holds(key: &str, least: usize) {
    holds_on(key, None, least);
}

fn holds_on(key: &str, pictures: Option<PathBuf>, least: usize) {
    let folder = tempfile::tempdir().unwrap();
    let results = run_on(key, pictures, folder.path());
    checked(key, &results, folder.path(), least);
}

fn checked(key: &str, results: &Results, folder: &Path, least: usize) {
    let missed: Vec<String> = results.failed().map(|n| format!("{}: {}", n.quantity, n.ours)).collect();
    assert!(missed.is_empty(), "{key}: {missed:?}");
    let conditions = results.numbers.iter().filter(|n| n.condition.is_some()).count();
    assert!(conditions >= least, "{key}: {conditions} conditions");
    // A number with a published value has a verdict, and one that is not comparable a reason.
    for n in &results.numbers {
        let why = if n.verdict() == Some(Verdict::NotComparable) {
            !n.reason.is_empty()
        } else {
            n.reason.is_empty()
        };
        assert!(why && (n.verdict().is_some() || n.published.is_empty()), "{key}: {}", n.quantity);
    }
    for figure in &results.figures {
        let svg = std::fs::read_to_string(folder.join(key).join(figure)).unwrap();
        assert!(svg.starts_with("<svg") && !without_pixels(&svg).contains("NaN"), "{figure}");
    }
    let table = std::fs::read_to_string(folder.join(key).join("numbers.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + results.numbers.len(), "one line a number, none broken");
    assert!(std::fs::read_to_string(folder.join("index.html")).unwrap().contains(&format!("id=\"{key}\"")));
}

/// Every file that an experiment wrote, by name.
fn written(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = |file: PathBuf| {
        (file.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&file).unwrap())
    };
    let mut out: Vec<(String, Vec<u8>)> = files.map(named).collect();
    out.sort();
    out
}

/// The experiment holds, and writes the same bytes on one thread and on two.
fn holds_and_repeats(key: &str, least: usize) {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for (threads, folder) in [1, 2].into_iter().zip(&folders) {
        let run = Run { threads, ..Run::default() };
        checked(key, &run_in(key, &quick(folder.path()), &run), folder.path(), least);
    }
    let [one, two] = folders.map(|folder| written(&folder.path().join(key)));
    assert!(one.len() > 2 && one == two, "{key}");
}

/// A figure without its embedded images, whose base64 text may contain any word.
fn without_pixels(svg: &str) -> String {
    let mut parts = svg.split("base64,");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.split_once('"').map_or("", |(_, rest)| rest))
}

/// Tests that run the quick forms of experiments, and [`TESTED`], the keys of these. Each line is the name of the test, the function that runs
/// an experiment, whether it runs in the long tests only, and experiments with the least number of their conditions.
macro_rules! quick_forms {
    ($($test:ident $how:ident $([$length:ident])? ($($key:literal: $least:literal),+);)+) => {
        $(
            #[test]
            fn $test() {
                $(if !$length(stringify!($test)) {
                    return;
                })?
                $($how($key, $least);)+
            }
        )+

        const TESTED: &[&str] = &[$($($key),+),+];
    };
}

quick_forms! {
    curves_of_the_text holds ("shapes": 12);
    points_of_two_sources holds ("points": 12);
    the_input_may_be_scaled holds ("scaling": 3);
    time_signals holds ("signals": 30);
    transformations_and_their_inverses holds ("transforms": 13);
    a_point_its_projection_and_its_residual holds ("projection": 12);
    a_plane_and_two_lines holds ("union": 2);
    a_matrix_of_rank_one_from_a_column_and_a_row holds ("rank-one-mask": 7);
    norms_on_the_sphere_and_sparse_codes holds ("sphere-norms": 8);
    solvers_of_the_lasso_take_as_many_steps_as_published holds ("lasso-solvers": 18);
    one_step_of_lista_and_the_encoder_of_an_autoencoder holds ("sae-is-lista": 7);
    trained_layers_compared_with_steps_of_ista_and_fista holds ("lista": 9);
    units_of_autoencoders_compared_with_known_atoms holds ("sae-activations": 2);
    // Ten numbers of components, three explained variance ratios and the order of variances, all known exactly.
    synthetic_pictures_span_few_dimensions holds ("subspace": 14);
    learned_deviations_grow_unless_penalised holds ("trained-sigma": 7);
    // Cells of RFN by two normalisations and of RFNn, and the error of ICA, which is that of PCA; averages are judged in the full form.
    tables_of_rectified_factor_networks holds_and_repeats [in_all] ("rfn-tables": 4);
    rare_modules_of_rectified_factor_networks holds_and_repeats [in_all] ("rfn-modules": 7);
    filters_of_whole_images holds_and_repeats [in_all] ("rfn-filters": 1);
    overcomplete_codes_of_patches_have_smaller_errors holds [in_all] ("patch-dictionaries": 5);
    every_linear_rule holds [in_all] ("linear-rules": 14);
    asymmetric_nonlinearities holds [in_all] ("asymmetric": 4);
    every_nonlinear_rule holds [in_all] ("nonlinear-rules": 24);
    filters_of_pictures holds [in_all] ("filters": 5, "more-filters": 1, "rotation": 1, "width": 3, "outputs": 2);
    latent_standard_deviations_and_reconstruction_ica holds [in_all] ("latent": 7, "rica": 9);
    classifiers_from_layers_learned_without_labels holds ("rfn-pretraining": 0);
}

#[test]
fn every_experiment_has_a_test_of_its_quick_form() {
    let untested: Vec<&str> = EXPERIMENTS.iter().map(|e| e.key).filter(|key| !TESTED.contains(key)).collect();
    assert!(untested.is_empty(), "{untested:?}");
}

#[test]
fn keys_differ_and_unknown_ones_are_refused() {
    let mut keys: Vec<&str> = EXPERIMENTS.iter().map(|e| e.key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), EXPERIMENTS.len());
    let folder = tempfile::tempdir().unwrap();
    let options = quick(folder.path());
    let none = |e: &Experiment| panic!("{} ran before the keys were read", e.key);
    let refused = reproduce(&["shapes", "singals"], &options, &Run::default(), none).unwrap_err().to_string();
    assert!(refused.contains("did you mean 'signals'"), "{refused}");
}

#[test]
fn files_that_are_not_images_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data_batch_1.bin");
    std::fs::write(&file, [7u8; 100]).unwrap();
    let options = Options { pictures: Some(file), ..quick(&folder.path().join("out")) };
    let refused = reproduce(&["filters"], &options, &Run::default(), |_| ()).unwrap_err().to_string();
    assert!(refused.contains("its 100 bytes are not a multiple of a record of 3073 bytes"), "{refused}");
}

/// Backgrounds of digits are patches of photographs.
#[test]
fn photographs_smaller_than_a_digit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let photos = folder.path().join("photos");
    std::fs::create_dir(&photos).unwrap();
    let pixels: Vec<f64> = (0..20 * 20).map(|i| f64::from(i % 7) / 7.0).collect();
    unmix_io::write_png(&photos.join("small.png"), &pixels, &[20, 20]).unwrap();
    let options = Options { pictures: Some(photos), ..quick(&folder.path().join("out")) };
    let refused = reproduce(&["rfn-filters"], &options, &Run::default(), |_| ()).unwrap_err().to_string();
    assert!(refused.contains("small.png cannot be read: it has 20 x 20 pixels"), "{refused}");
    assert!(refused.ends_with("give photographs of at least 28 x 28 pixels"), "{refused}");
}

#[test]
fn activations_are_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("activations.npy");
    let x: Vec<f32> = (0..600u32 * 12).map(|i| ((i * i * 7 + i / 12) % 101) as f32 / 50.0).collect();
    unmix::data::write_npy(&file, &x, &[12]).unwrap();
    let options = Options { activations: Some(file.clone()), ..quick(&folder.path().join("out")) };
    let results = run_with("sae-activations", options);
    let named = |part: &str| results.numbers.iter().filter(|n| n.quantity.contains(part)).count();
    assert_eq!(named("FVU of held-out rows"), 2);
    assert!(results.notes.iter().any(|n| n.starts_with("Activations: 480 rows of 12 numbers")));
    // Reference values are of other activations.
    assert!(results.numbers.iter().all(|n| n.published.is_empty()));
    let table = std::fs::read_to_string(folder.path().join("out/sae-activations/activations.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 4);
    let options = Options { activations: Some(file), ..quick(&folder.path().join("again")) };
    run_with("sae-activations", options);
    for name in ["activations.csv", "toy.csv", "numbers.csv", "sae-activations.svg"] {
        let of =
            |out: &str| std::fs::read(folder.path().join(out).join("sae-activations").join(name)).unwrap();
        assert_eq!(of("out"), of("again"), "{name}");
    }
}

#[test]
fn activations_that_are_too_few_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("activations.npy");
    unmix::data::write_npy(&file, &[0.5f32; 24], &[12]).unwrap();
    let options = Options { activations: Some(file), ..quick(&folder.path().join("out")) };
    let refused = reproduce(&["sae-activations"], &options, &Run::default(), |_| ()).unwrap_err().to_string();
    assert!(refused.contains("it has 2 rows of 12 numbers"), "{refused}");
}

#[test]
fn the_files_of_pretrained_classifiers_are_the_same_on_any_number_of_threads() {
    // Three initial layers on two sets, since there are no digits: errors, intervals, epochs.
    let folder = tempfile::tempdir().unwrap();
    let files = |threads: usize| {
        let output = folder.path().join(threads.to_string());
        let options = Options { instances: Some(2), ..quick(&output) };
        let run = Run { threads, ..Run::default() };
        let results = reproduce(&["rfn-pretraining"], &options, &run, |_| ()).unwrap().remove(0).1;
        assert!(results.numbers.len() >= 2 * 3 * 4, "{}", results.numbers.len());
        let layers = results.notes.iter().find(|note| note.starts_with("Initial layers")).unwrap();
        assert!(layers.contains(" 5 epochs") && layers.contains(" 30 iterations"), "{layers}");
        let of = |name: &str| std::fs::read(output.join("rfn-pretraining").join(name)).unwrap();
        ["numbers.csv", "runs.csv", "table_2.csv", "table_s11.csv", "rfn-pretraining.svg"].map(of)
    };
    assert_eq!(files(1), files(2));
}

#[test]
fn modules_of_gene_expression_compared_with_classes() {
    let test = "modules_of_gene_expression_compared_with_classes";
    let Some(data) = std::env::var_os("UNMIX_DATA").map(PathBuf::from) else {
        return skipped::skipped(test, "UNMIX_DATA is not set");
    };
    if !in_all(test) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let results = run_with("rfn-modules", Options { tables: Some(data), ..quick(folder.path()) });
    checked("rfn-modules", &results, folder.path(), 7);
    let table = std::fs::read_to_string(folder.path().join("rfn-modules/genes.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 6 * 4, "six tables, four methods");
    assert!(results.figures.contains(&"gene_golub.svg".to_string()));
}

#[test]
fn a_folder_without_tables_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("none");
    std::fs::create_dir(&none).unwrap();
    let given = Options { tables: Some(none), ..quick(&folder.path().join("out")) };
    let refused = reproduce(&["rfn-modules"], &given, &Run::default(), |_| ()).unwrap_err().to_string();
    assert!(refused.contains("gene_golub"), "{refused}");
}

#[test]
fn digits_and_faces_span_as_many_dimensions_as_published() {
    let Some(data) = std::env::var_os("UNMIX_DATA").map(PathBuf::from) else {
        return skipped::skipped(
            "digits_and_faces_span_as_many_dimensions_as_published",
            "UNMIX_DATA is not set",
        );
    };
    for (file, least) in [("mnist/train-images-idx3-ubyte.gz", 14), ("faces/olivetti_400x64x64_u8.npy", 9)] {
        holds_on("subspace", Some(data.join(file)), least);
    }
}

#[test]
fn rows_without_the_shape_of_a_picture_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.csv");
    std::fs::write(&file, "1,2\n3,5\n4,4\n").unwrap();
    let options = Options { pictures: Some(file), ..quick(&folder.path().join("out")) };
    let refused = reproduce(&["subspace"], &options, &Run::default(), |_| ()).unwrap_err().to_string();
    assert!(refused.contains("its rows have no shape"), "{refused}");
    // Files are given on the command line, in whose notation the options of reading are named.
    let file = folder.path().join("text.csv");
    std::fs::write(&file, "a,b\n1,2\n3,x\n4,4\n").unwrap();
    let options = Options { pictures: Some(file), ..quick(&folder.path().join("out")) };
    let refused = reproduce(&["subspace"], &options, &Run::default(), |_| ()).unwrap_err().to_string();
    assert!(refused.contains("is the text 'x'") && refused.contains("--drop b"), "{refused}");
}

#[test]
fn a_number_outside_its_published_range_is_marked() {
    let of = |ours: f64, published: &str| Number::new(String::new(), ours, published.into()).outside();
    let (below, above) = (Some("below the published range"), Some("above the published range"));
    assert_eq!(of(0.9951, ".9975-.9997"), below);
    assert_eq!(of(0.99746, ".9975-.9997"), None);
    assert_eq!(of(0.9999, ".9975-.9997"), above);
    assert_eq!((of(0.94, ">= .995"), of(0.9951, ">= .995")), (below, None));
    assert_eq!((of(0.02, "<= .01"), of(0.009, "<= .01")), (above, None));
    for words in [".756", "all", "1 - 2 beta, and 1 stays 1", "from .01 to .03 (CIFAR-10)", ".4-.5 (MNIST)"] {
        assert_eq!(of(7.0, words), None, "{words}");
    }
    // The number of results outside the published range is the same on the page, in the table and in what is returned.
    let folder = tempfile::tempdir().unwrap();
    let results = run("signals", folder.path());
    let marked = results.outside().count();
    let page = std::fs::read_to_string(folder.path().join("index.html")).unwrap();
    let table = std::fs::read_to_string(folder.path().join("signals/numbers.csv")).unwrap();
    assert!(marked > 0 && page.contains("of its numbers are outside the published range"));
    assert_eq!(table.matches("the published range").count(), marked);
}
