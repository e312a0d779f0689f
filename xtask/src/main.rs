//! Tasks that contributors and CI run by the same names: `cargo xtask test`, `cargo xtask check`, `cargo xtask gen`, `cargo xtask
//! torture`, `cargo xtask wheel`, `cargo xtask bench`.
//!
//! They need Rust and Python 3 alone: the Python tests run in a virtual environment in `.venv`.

mod dependencies;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask test [rust|python]   the everyday tests, Rust and Python (makes .venv on first use), or those of one language
cargo xtask test all             these and the slow tests: published experiments at length, pages in a browser, MNE; a sample of torture
cargo xtask test full            these and full forms of published experiments, which take minutes each
cargo xtask test arm [NAME...]   Rust tests of the library and the readers, all or by name, for ARM processors (aarch64), in the emulator QEMU
cargo xtask torture              every class on extreme arrays, all cases (some 12 minutes)
cargo xtask wheel                builds the wheel and tests it in a clean environment without Rust
cargo xtask check                formatting, lints, documentation and generated files, as in CI
cargo xtask gen                  writes what is generated from the registry: docs/methods.md, and parameters of the Python package
cargo xtask bench [ROW...]       times against other packages, each answer checked (makes bench/.venv); more with --help";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => print_skipped(test_both(TestScope::Everyday)),
        ["test", "all"] => print_skipped(test_both(TestScope::All)),
        ["test", "full"] => print_skipped(test_both(TestScope::Full)),
        ["test", "arm", filters @ ..] => test_arm(filters),
        ["test", "rust"] => print_skipped(test_rust(TestScope::Everyday)),
        ["test", "python"] => test_python(TestScope::Everyday),
        ["torture"] => torture(),
        ["wheel"] => wheel(),
        ["check"] => check(),
        ["gen"] => generate(),
        ["bench", requested @ ..] => bench(requested),
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

/// Which tests run: the everyday ones, also the slow ones, or also those that take minutes each.
#[derive(Clone, Copy, PartialEq)]
enum TestScope {
    Everyday,
    All,
    Full,
}

impl TestScope {
    /// Sets the environment variable that slow tests read.
    fn with_environment(self, command: &mut Command) -> &mut Command {
        match self {
            TestScope::Everyday => command,
            TestScope::All => command.env("UNMIX_TESTS", "all"),
            TestScope::Full => command.env("UNMIX_TESTS", "full"),
        }
    }

    /// The requirements file of the Python tests.
    fn requirements(self) -> PathBuf {
        let name = if self == TestScope::Everyday { "requirements.txt" } else { "requirements-all.txt" };
        root().join("python").join("tests").join(name)
    }
}

/// The Python packages are downloaded and installed while Rust compiles.
fn test_both(scope: TestScope) -> Done {
    std::thread::scope(|threads| {
        // `test_python` makes what could not be made, and reports why.
        threads.spawn(move || environment(scope));
        test_rust(scope)
    })
    .and_then(|()| test_python(scope))
}

fn test_rust(scope: TestScope) -> Done {
    let _ = std::fs::remove_file(skipped());
    // The Python extension has no Rust tests; it is built for the Python tests.
    run(scope
        .with_environment(Command::new(env!("CARGO")).args([
            "test",
            "--workspace",
            "--exclude",
            "unmix-python",
        ]))
        .current_dir(root())
        .env("UNMIX_SKIPPED", skipped()))
}

/// Programs that the tests for ARM processors need, and the packages of Debian and Ubuntu that have them.
const FOR_ARM: [(&str, &str); 2] =
    [("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"), ("qemu-aarch64", "qemu-user")];

/// Runs the tests of the library and of the readers whose names contain one of `filters`, or all, compiled for ARM processors, on any
/// Linux: QEMU emulates the processor, some twenty times as slow. The standard library for that processor must be installed.
fn test_arm(filters: &[&str]) -> Done {
    for (program, package) in FOR_ARM {
        if Command::new(program).arg("--version").output().is_err() {
            return Err(format!(
                "tests for ARM processors need {program}: on Debian and Ubuntu install {package}; and the standard library: `rustup \
                 target add aarch64-unknown-linux-gnu`"
            ));
        }
    }
    run(Command::new(env!("CARGO"))
        .args([
            "test",
            "--package",
            "unmix",
            "--package",
            "unmix-io",
            "--target",
            "aarch64-unknown-linux-gnu",
        ])
        .args(["--lib", "--tests", "--"])
        .args(filters)
        .current_dir(root())
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64 -L /usr/aarch64-linux-gnu"))
}

/// The file to which Rust tests write what they skipped: cargo hides the output of tests that pass.
fn skipped() -> PathBuf {
    root().join("target").join("skipped-tests.txt")
}

fn print_skipped(done: Done) -> Done {
    if let Ok(lines) = std::fs::read_to_string(skipped()) {
        println!("\nRust tests that were skipped:");
        lines.lines().for_each(|line| println!("  {line}"));
    }
    done
}

fn test_python(scope: TestScope) -> Done {
    let python = environment(scope)?;
    let tests = root().join("python").join("tests");
    build_extension(&python)?;
    let mut pytest = Command::new(&python);
    pytest.args(["-m", "pytest", "-q", "-rsfE"]).args(IN_PARALLEL).arg(&tests).current_dir(root());
    if scope == TestScope::Everyday {
        pytest.arg("--ignore").arg(tests.join("test_browser.py")).arg("--ignore").arg(tests.join("torture"));
    }
    run(scope.with_environment(&mut pytest))?;
    // scikit-learn's own tests of its PCA and FastICA, with the classes of this package in their place.
    run(Command::new(&python)
        .args(["-m", "pytest", "-q", "-p", "unmix_swap", "-p", "no:cacheprovider", "--pyargs"])
        .args(
            ["test_pca", "test_fastica", "test_factor_analysis"]
                .map(|file| format!("sklearn.decomposition.tests.{file}")),
        )
        .env("PYTHONPATH", tests.join("swap"))
        // Not in `python/`: its source folder would shadow the installed package.
        .current_dir(&tests))
}

/// One process for each core; the tests of a file stay together, because they share what its fixtures have fitted.
const IN_PARALLEL: [&str; 4] = ["-n", "auto", "--dist", "loadfile"];

/// Runs all cases of `python/tests/torture`.
fn torture() -> Done {
    let python = environment(TestScope::Everyday)?;
    build_extension(&python)?;
    let tests = root().join("python").join("tests").join("torture");
    run(Command::new(&python)
        .args(["-m", "pytest", "-q", "-n", "auto"])
        .arg(&tests)
        .env("UNMIX_TORTURE", "1")
        .current_dir(root()))
}

/// The interpreter of the virtual environment, with the requirements of the tests installed.
fn environment(scope: TestScope) -> Result<PathBuf, String> {
    let venv = root().join(".venv");
    let python = python_of(&venv);
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
    let everyday = read(&TestScope::Everyday.requirements())?;
    // The file of requirements of all tests includes the everyday file by name.
    let all = everyday.clone() + &read(&TestScope::All.requirements())?;
    let installed = venv.join("installed.txt");
    let enough = |have: String| have == all || (have == everyday && scope == TestScope::Everyday);
    if std::fs::read_to_string(&installed).is_ok_and(enough) && python.exists() {
        return Ok(python);
    }
    if !python.exists() {
        make_environment(&venv)?;
    }
    run(Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
        .arg(scope.requirements()))?;
    let wanted = if scope == TestScope::Everyday { everyday } else { all };
    std::fs::write(&installed, wanted).map_err(|e| format!("{}: {e}", installed.display()))?;
    Ok(python)
}

/// The interpreter of a virtual environment.
fn python_of(venv: &Path) -> PathBuf {
    if cfg!(windows) { venv.join("Scripts/python.exe") } else { venv.join("bin/python") }
}

fn make_environment(venv: &Path) -> Done {
    let system = if cfg!(windows) { "python" } else { "python3" };
    run(Command::new(system).args(["-m", "venv"]).arg(venv)).map_err(|e| {
        format!("{e}\nthe Python tests need a virtual environment: on Debian and Ubuntu install python3-venv")
    })
}

/// A script for the installed wheel: a fit of an array with the package, and of a file with the bundled program.
const TRIAL: &str = "\
import pathlib, shutil, subprocess, sys, tempfile
import numpy as np, unmix
assert shutil.which('cargo') is None and shutil.which('rustc') is None, 'Rust is on the PATH'
X = np.random.default_rng(0).normal(size=(500, 8)) @ np.diag([5, 4, 3, 1, 1, 1, 1, 1])
folder = pathlib.Path(tempfile.mkdtemp())
np.save(folder / 'x.npy', X)
here, there = unmix.PCA(3).fit(X), unmix.PCA(3).fit(str(folder / 'x.npy'))
assert (here.components_ == there.components_).all() and here.explained_variance_[0] > 20
program = shutil.which('unmix', path=pathlib.Path(sys.executable).parent)
subprocess.run([program, 'fit', 'pca', 'x.npy', '-k', '3', '-o', 'x.pca.safetensors'], cwd=folder, check=True, capture_output=True)
subprocess.run([program, 'report', 'x.pca.safetensors', 'x.npy', '-o', 'page.html'], cwd=folder, check=True, capture_output=True)
assert (folder / 'page.html').stat().st_size > 10_000
shutil.rmtree(folder)
print('the wheel of unmix', unmix.__version__, 'works')
";

/// Builds the wheel as `pip install ./python` does, and tests it in a fresh environment without Rust on the PATH.
fn wheel() -> Done {
    let target = root().join("target").join("wheel");
    let _ = std::fs::remove_dir_all(&target);
    let venv = target.join("venv");
    make_environment(&venv)?;
    let python = python_of(&venv);
    let pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&python)
        .args(pip)
        .args(["wheel", "--no-deps", "--wheel-dir"])
        .arg(&target)
        .arg(root().join("python")))?;
    let wheel = wheel_in(&target)?;
    if !wheel.to_string_lossy().contains("-abi3-") {
        return Err(format!("{} is for one version of Python only", wheel.display()));
    }
    run(Command::new(&python).args(pip).arg("install").arg(&wheel))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let rust = |folder: &PathBuf| ["cargo", "rustc"].iter().any(|name| folder.join(name).exists());
    let path = std::env::join_paths(std::env::split_paths(&path).filter(|folder| !rust(folder)));
    let path = path.map_err(|e| format!("PATH: {e}"))?;
    println!("{}", wheel.display());
    run(Command::new(&python).args(["-c", TRIAL]).env("PATH", path).current_dir(&target))
}

fn wheel_in(folder: &Path) -> Result<PathBuf, String> {
    std::fs::read_dir(folder)
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .find(|path| path.extension().is_some_and(|e| e == "whl"))
        .ok_or_else(|| "maturin built no wheel".into())
}

/// Builds the wheel in the profile that the tests have already compiled, and installs it.
fn build_extension(python: &Path) -> Done {
    let wheels = root().join("target").join("wheels");
    let _ = std::fs::remove_dir_all(&wheels);
    run(Command::new(python)
        .args(["-m", "maturin", "build", "--quiet", "--profile", "dev", "--features", "toys", "--out"])
        .arg(&wheels)
        .arg("--interpreter")
        .arg(python)
        .current_dir(root().join("python")))?;
    let wheel = wheel_in(&wheels)?;
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
    dependencies::check()?;
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"])?;
    run(Command::new(env!("CARGO"))
        .args(["doc", "--workspace", "--no-deps", "--quiet"])
        .env("RUSTDOCFLAGS", "--deny warnings")
        .current_dir(root()))?;
    run(&mut generated())
        .map_err(|e| format!("{e}\ngenerated files may be stale: `cargo xtask gen` regenerates them"))
}

/// The test that compares generated files with the registry, built with the same features as all tests.
fn generated() -> Command {
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["test", "--workspace", "--exclude", "unmix-python", "--quiet", "--test", "docs"])
        .current_dir(root());
    command
}

/// With `UNMIX_WRITE_DOCS=1` that test writes the files.
fn generate() -> Done {
    run(generated().env("UNMIX_WRITE_DOCS", "1"))
}

/// The benchmarks have an environment and a harness of their own: `bench/README.md`.
fn bench(arguments: &[&str]) -> Done {
    let system = if cfg!(windows) { "python" } else { "python3" };
    run(Command::new(system)
        .arg(root().join("bench").join("run.py"))
        .args(arguments)
        .env("CARGO", env!("CARGO")))
}

fn cargo(arguments: &[&str]) -> Done {
    run(Command::new(env!("CARGO")).args(arguments).current_dir(root()))
}

/// Runs a command, and prints how long it took if that is more than a few seconds.
fn run(command: &mut Command) -> Done {
    let begun = std::time::Instant::now();
    match command.status() {
        Ok(status) if status.success() => {
            let seconds = begun.elapsed().as_secs();
            if seconds >= 5 {
                println!("{seconds} s: {}", shown(command));
            }
            Ok(())
        }
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(e) => Err(format!("{command:?} cannot be started: {e}")),
    }
}

/// The name of a program and its first arguments.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let arguments = command.get_args().take(4);
    [program].into_iter().chain(arguments).map(|a| a.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
