//! Fits that are killed at random moments and resumed from their checkpoints.

use crate::folder::Folder;
use std::time::{Duration, Instant};
use unmix::data::write_npy;
use unmix::internal::num::random::Stream;
use unmix::{METHODS, Model};

/// Settings for fits of [`rows`] with many iterations: each kind of iteration of a method, by full passes and by mini-batches.
fn fits(method: &str) -> &'static [&'static str] {
    match method {
        "pca" => &["-k 5 --set svd_solver=power --set tol=1e-15"],
        "ppca" => &["-k 5 --set algorithm=em --set tol=0"],
        "linear-eigengan" => &["-k 5"],
        "neural-pca" => &["-k 8 --set tol=1e-13", "-k 8 --set solver=adam --set max_epochs=40"],
        "sigma-pca" => &[
            "-k 8 --set tol=1e-14 --set max_iter=400",
            "-k 8 --set variant=ema-tanh --set max_epochs=40",
            "-k 8 --set constraint=native --set tol=1e-12 --set max_iter=100",
        ],
        "ica" => &[
            "--set tol=1e-14 --set max_iter=300 --set ortho=false",
            "--set algorithm=easi --set tol=1e-14 --set max_iter=60",
        ],
        "fastica" => &["--set tol=1e-16 --set max_iter=300"],
        "rica" => {
            &["-k 40 --set tol=1e-12 --set max_iter=300", "-k 20 --set batch_size=200 --set max_epochs=10"]
        }
        "factor-analysis" => {
            &["-k 5 --set algorithm=em --set tol=1e-9 --set max_iter=3000", "-k 5 --set tol=1e-12"]
        }
        "matrix-completion" => &["-k 6 --set tol=0 --set max_iter=400"],
        // It makes one or two passes.
        "sparse-coder" => &[],
        "lista" => &["--dictionary atoms.npy --set n_layers=3 --set batch_size=100 --set max_epochs=12"],
        "robust-pca" => &["--set noise=0 --set tol=1e-15 --set max_iter=40"],
        "rfn" => &[
            "-k 30 --set max_iter=300",
            "-k 10 --set batch_size=200 --set max_iter=20",
            "-k 10 --set e_step=coordinate --set max_iter=40",
        ],
        "stacked-rfn" => &["--set n_components=[20,10] --set max_iter=[60,60]"],
        "complete-dictionary" => {
            &["--set tol=1e-14 --set max_iter=300 --set refine=true", "--set algorithm=l1 --set max_iter=60"]
        }
        "subspace-clustering" => &[
            "-k 3 --set algorithm=k-subspaces --set n_clusters=6 --set n_init=30",
            "-k 2 --set algorithm=ppca-mixture --set n_clusters=3 --set tol=0 --set max_iter=100",
        ],
        "rbm" => &["--set max_epochs=30"],
        "dae" => &["--set max_epochs=30", "--set tied=true --set solver=sgd --set max_epochs=30"],
        "sae" => &["--set max_epochs=30", "--set activation=relu --set l0=4 --set max_epochs=30"],
        "dictionary" => &[
            "-k 60 --set batch_size=50 --set max_epochs=60",
            "-k 20 --set algorithm=alternating --set tol=0 --set max_iter=15",
            "-k 20 --set algorithm=ksvd --set tol=0 --set max_iter=8",
        ],
        other => panic!("there are no fits of {other} here: add them"),
    }
}

/// The same for rows with missing cells.
fn fits_with_gaps(method: &str) -> &'static [&'static str] {
    match method {
        "factor-analysis" => &["-k 3 --set tol=1e-12 --set max_iter=60"],
        "matrix-completion" => &[
            "-k 4 --set algorithm=soft-impute --set max_iter=10",
            "-k 3 --set algorithm=ppca-em --set tol=0 --set max_iter=40",
        ],
        _ => &[],
    }
}

/// 3000 rows of 20 columns: linear mixtures of heavy-tailed sources.
fn rows() -> Vec<f64> {
    let (n, p) = (3000, 20);
    let draws = Stream::new(5, 0);
    let heavy: Vec<f64> = (0..n * p).map(|i| draws.normal(i as u64).powi(3)).collect();
    let mixing: Vec<f64> = (0..p * p).map(|i| draws.normal((n * p + i) as u64)).collect();
    let entry = |i: usize, j: usize| (0..p).map(|c| heavy[i * p + c] * mixing[c * p + j]).sum::<f64>();
    (0..n).flat_map(|i| (0..p).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).collect()
}

/// Tensors (as bits) and report of a model, which do not include the time at which it was fitted.
fn parameters(model: &Model) -> String {
    let tensors = model.tensors().iter();
    let bits = tensors.map(|(name, t)| (name, t.f64s().iter().map(|x| x.to_bits()).collect::<Vec<_>>()));
    format!("{:?} {}", bits.collect::<Vec<_>>(), serde_json::to_string(model.report()).unwrap())
}

/// A folder with the files of the fits: complete rows, the same with a missing cell in every fifth row, and atoms.
fn folder() -> Folder {
    let (b, mut x) = (Folder::new(), rows());
    write_npy(&b.path("rows.npy"), &x, &[20]).unwrap();
    let draws = Stream::new(6, 0);
    let atoms: Vec<f64> = (0..24 * 20).map(|i| draws.normal(i)).collect();
    write_npy(&b.path("atoms.npy"), &atoms, &[20]).unwrap();
    (0..3000).step_by(5).for_each(|i| x[20 * i + i / 5 % 20] = f64::NAN);
    write_npy(&b.path("gaps.npy"), &x, &[20]).unwrap();
    b
}

/// Resumes a fit up to `most` times, until it has been killed `wanted` times at a random moment, and then to its end; returns the number of
/// kills that ended a running process. A fit that ends before the kill must have the bits of an uninterrupted one; the next one begins anew.
fn killed(b: &Folder, fit: &str, (wanted, most): (u64, u64)) -> u64 {
    let begun = Instant::now();
    b.ok(&format!("{fit} -o whole.safetensors"));
    let whole = begun.elapsed();
    let want = parameters(&Model::load(&b.path("whole.safetensors")).unwrap());
    let again = format!("{fit} -o parts.safetensors --checkpoint a.checkpoint --every 0.001 --resume");
    let draws = Stream::new(11, fit.len() as u64);
    let mut kills = 0;
    let compared = |kills: u64| {
        let found = parameters(&Model::load(&b.path("parts.safetensors")).unwrap());
        assert!(found == want, "{fit}, killed {kills} times");
        assert!(!b.path("a.checkpoint").exists(), "{fit}");
    };
    for time in 0..most {
        if kills == wanted {
            break;
        }
        let mut child = b.start(&again);
        std::thread::sleep(Duration::from_secs_f64(whole.as_secs_f64() * draws.uniform(time)));
        let running = child.try_wait().unwrap().is_none();
        if running {
            child.kill().unwrap();
        }
        match child.wait().unwrap() {
            status if status.success() => compared(kills),
            status => {
                assert!(running, "{fit}: {status}");
                kills += 1;
            }
        }
    }
    b.ok(&again);
    compared(kills);
    kills
}

/// Two kills of each fit, ten with the heavy tests, or as many as `UNMIX_KILLS` gives.
#[test]
fn a_killed_fit_resumes_to_the_same_bits() {
    let requested: Option<u64> = std::env::var("UNMIX_KILLS").ok().and_then(|n| n.parse().ok());
    let wanted = requested.unwrap_or(if crate::scope::all() { 10 } else { 2 });
    let most = 20 * wanted;
    let b = folder();
    let complete = METHODS.iter().flat_map(|m| fits(m.key).iter().map(|fit| (m.key, "rows.npy", *fit)));
    let gaps = METHODS.iter().flat_map(|m| fits_with_gaps(m.key).iter().map(|fit| (m.key, "gaps.npy", *fit)));
    for (method, file, settings) in complete.chain(gaps) {
        let fit = format!("fit {method} {file} {settings} -q");
        let kills = killed(&b, &fit, (wanted, most));
        println!("{fit}: killed {kills} times");
        assert!(
            kills == wanted,
            "{fit}: {most} moments ended {kills} running processes, the others had ended before"
        );
    }
}

#[test]
fn checkpoints_of_other_fits_are_refused_in_one_sentence() {
    let b = Folder::new();
    write_npy(&b.path("rows.npy"), &rows(), &[20]).unwrap();
    let fit = "fit ica rows.npy --checkpoint a.checkpoint --every 0.001 -o m.safetensors";
    let cut = b.ok(&format!("{fit} --set tol=1e-14 --max-seconds 0.001 --seed 1"));
    assert!(cut.err.contains("a.checkpoint is kept") && cut.err.contains("--resume"), "{}", cut.err);
    let refused = |command: &str, words: &[&str]| {
        let run = b.run(command);
        assert!(run.code == 1 && words.iter().all(|w| run.err.contains(w)), "{command}: {}", run.err);
        assert_eq!(run.err.trim().lines().count(), 1, "{}", run.err);
    };
    refused(&format!("{fit} --resume"), &["a.checkpoint", "settings", "delete it"]);
    refused(&format!("{fit} --set tol=1e-14 --resume"), &["a.checkpoint", "seed 1"]);
    let whole = std::fs::read(b.path("a.checkpoint")).unwrap();
    b.write("a.checkpoint", &whole[..20]);
    refused(&format!("{fit} --resume"), &["truncated or corrupt"]);
    b.write("notes.txt", "mine");
    refused("fit ica rows.npy --checkpoint notes.txt", &["not a checkpoint"]);
    assert_eq!(std::fs::read_to_string(b.path("notes.txt")).unwrap(), "mine");
    let usage = b.run("fit ica rows.npy --resume");
    assert!(usage.code == 2 && usage.err.contains("--checkpoint"), "{}", usage.err);
    // Without a checkpoint file `--resume` begins a new fit.
    b.ok("fit ica rows.npy --checkpoint b.checkpoint --resume");
    assert!(!b.path("b.checkpoint").exists());
}

#[test]
fn a_fit_starts_from_a_model() {
    let b = Folder::new();
    write_npy(&b.path("rows.npy"), &rows(), &[20]).unwrap();
    let steps = |model: &str| Model::load(&b.path(model)).unwrap().report().n_iter;
    for method in ["ica", "fastica", "rica", "sigma-pca", "neural-pca", "factor-analysis"] {
        b.ok(&format!("fit {method} rows.npy -k 6 -o first.safetensors"));
        b.ok(&format!("fit {method} rows.npy -k 6 --init first.safetensors -o again.safetensors"));
        let (first, again) = (steps("first.safetensors"), steps("again.safetensors"));
        assert!(again <= first / 2 + 1, "{method}: {again} steps after {first}");
    }
    write_npy(&b.path("narrow.npy"), &rows(), &[10]).unwrap();
    let run = b.run("fit ica narrow.npy --init again.safetensors");
    assert!(run.code == 1 && run.err.contains("it has 20 columns, and the rows have 10"), "{}", run.err);
    let run = b.run("fit sigma-pca rows.npy -k 7 --init again.safetensors");
    assert!(run.code == 1 && run.err.contains("it has 6 components, and this fit has 7"), "{}", run.err);
}
