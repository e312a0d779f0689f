//! What contributors and CI run, by the same names: `cargo xtask test`, `cargo xtask check`, `cargo xtask gen`,
//! `cargo xtask torture`, `cargo xtask bench`.
//!
//! Nothing to install but Rust and Python 3: the Python tests get a virtual environment of their own, in `.venv`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask test [rust|python]   every test, Rust and Python (makes .venv on first use), or those of one language
cargo xtask torture              every class on arrays that nothing was tuned to (minutes; `test` takes one case in twelve)
cargo xtask check                formatting, lints and documentation, as CI wants them
cargo xtask gen                  writes the generated pages of docs/ anew
cargo xtask bench [ROW...]       times against other packages, each answer checked (makes bench/.venv); --help says more";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => tell_skipped(test_rust().and_then(|()| test_python())),
        ["test", "rust"] => tell_skipped(test_rust()),
        ["test", "python"] => test_python(),
        ["torture"] => torture(),
        ["check"] => check(),
        ["gen"] => generate(),
        ["bench", asked @ ..] => bench(asked),
        _ => Err(HELP.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

type Done = Result<(), String>;

fn test_rust() -> Done {
    let _ = std::fs::remove_file(skipped());
    run(Command::new(env!("CARGO"))
        .args(["test", "--workspace"])
        .current_dir(root())
        .env("UNMIX_SKIPPED", skipped()))
}

/// Where Rust tests write what they skipped: the output of a test that passes is not shown.
fn skipped() -> PathBuf {
    root().join("target").join("skipped-tests.txt")
}

fn tell_skipped(done: Done) -> Done {
    if let Ok(lines) = std::fs::read_to_string(skipped()) {
        println!("\nRust tests that were skipped:");
        lines.lines().for_each(|line| println!("  {line}"));
    }
    done
}

fn test_python() -> Done {
    let python = environment()?;
    let tests = root().join("python").join("tests");
    build_extension(&python)?;
    run(Command::new(&python).args(["-m", "pytest", "-q", "-rs"]).arg(&tests).current_dir(root()))?;
    // scikit-learn's own tests of its PCA and FastICA, with ours in their place.
    run(Command::new(&python)
        .args(["-m", "pytest", "-q", "-p", "unmix_swap", "-p", "no:cacheprovider", "--pyargs"])
        .args(["test_pca", "test_fastica"].map(|file| format!("sklearn.decomposition.tests.{file}")))
        .env("PYTHONPATH", tests.join("swap"))
        // Not in `python/`: its source folder would stand before the installed package.
        .current_dir(&tests))
}

/// Every case of `python/tests/torture`, which the everyday tests take a sample of.
fn torture() -> Done {
    let python = environment()?;
    build_extension(&python)?;
    let tests = root().join("python").join("tests").join("torture");
    run(Command::new(&python)
        .args(["-m", "pytest", "-q"])
        .arg(&tests)
        .env("UNMIX_TORTURE", "1")
        .current_dir(root()))
}

/// The virtual environment's interpreter, with everything that the tests need.
fn environment() -> Result<PathBuf, String> {
    let venv = root().join(".venv");
    let python = if cfg!(windows) { venv.join("Scripts/python.exe") } else { venv.join("bin/python") };
    let requirements = root().join("python/tests/requirements.txt");
    let wanted =
        std::fs::read_to_string(&requirements).map_err(|e| format!("{}: {e}", requirements.display()))?;
    let installed = venv.join("installed.txt");
    if std::fs::read_to_string(&installed).is_ok_and(|have| have == wanted) && python.exists() {
        return Ok(python);
    }
    if !python.exists() {
        let system = if cfg!(windows) { "python" } else { "python3" };
        run(Command::new(system).args(["-m", "venv"]).arg(&venv)).map_err(|e| {
            format!(
                "{e}\nthe Python tests need a virtual environment: on Debian and Ubuntu install python3-venv"
            )
        })?;
    }
    run(Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
        .arg(&requirements))?;
    std::fs::write(&installed, wanted).map_err(|e| format!("{}: {e}", installed.display()))?;
    Ok(python)
}

/// Builds the wheel in the profile that the tests have already built, and installs it.
fn build_extension(python: &Path) -> Done {
    let wheels = root().join("target").join("wheels");
    let _ = std::fs::remove_dir_all(&wheels);
    run(Command::new(python)
        .args(["-m", "maturin", "build", "--quiet", "--profile", "dev", "--features", "toys", "--out"])
        .arg(&wheels)
        .arg("--interpreter")
        .arg(python)
        .current_dir(root().join("python")))?;
    let wheel = std::fs::read_dir(&wheels)
        .map_err(|e| format!("{}: {e}", wheels.display()))?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .find(|path| path.extension().is_some_and(|e| e == "whl"))
        .ok_or("maturin built no wheel")?;
    run(Command::new(python)
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--force-reinstall",
        ])
        .arg(wheel))
}

fn check() -> Done {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"])?;
    run(Command::new(env!("CARGO"))
        .args(["doc", "--workspace", "--no-deps", "--quiet"])
        .env("RUSTDOCFLAGS", "--deny warnings")
        .current_dir(root()))
}

/// The test that compares the generated pages writes them when it is told to.
fn generate() -> Done {
    run(Command::new(env!("CARGO"))
        .args(["test", "--package", "unmix-cli", "--test", "docs"])
        .env("UNMIX_WRITE_DOCS", "1")
        .current_dir(root()))
}

/// Its own environment, its own harness: `bench/README.md`.
fn bench(asked: &[&str]) -> Done {
    let system = if cfg!(windows) { "python" } else { "python3" };
    run(Command::new(system).arg(root().join("bench").join("run.py")).args(asked).env("CARGO", env!("CARGO")))
}

fn cargo(arguments: &[&str]) -> Done {
    run(Command::new(env!("CARGO")).args(arguments).current_dir(root()))
}

fn run(command: &mut Command) -> Done {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(e) => Err(format!("{command:?} cannot be started: {e}")),
    }
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
