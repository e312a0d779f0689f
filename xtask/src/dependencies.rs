//! Checks of the manifests: every dependency is used, and every library is built with one set of features.

use crate::{Done, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The feature of `unmix-cli` whose dependencies are not called.
const SHARED_BUILDS: &str = "shared-builds";

pub(crate) fn check() -> Done {
    every_dependency_is_used()?;
    one_set_of_features()
}

/// The program, the tests and the wheel must use the same features of every dependency: otherwise a dependency and everything that uses
/// it would be compiled twice. Each dependency of [`SHARED_BUILDS`] must be needed for that.
fn one_set_of_features() -> Done {
    let tests = built(&["--workspace", "--exclude", "unmix-python", "--edges", "normal,build,dev"])?;
    let program = built(&["--edges", "normal,build"])?;
    let mut other: Vec<String> = program.iter().filter(|line| !tests.contains(line)).cloned().collect();
    // The wheel also has dependencies of its own, for Python.
    let name = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let wheel = built(&["--package", "unmix-python", "--edges", "normal,build"])?;
    let both = |line: &String| tests.iter().any(|t| name(t) == name(line)) && !tests.contains(line);
    other.extend(wheel.into_iter().filter(both));
    other.sort();
    other.dedup();
    if !other.is_empty() {
        return Err(format!("built with other features for the tests:\n{}", other.join("\n")));
    }
    let alone = built(&["--no-default-features", "--edges", "normal,build"])?;
    let is_needed = |library: &String| {
        let own = format!("{library} ");
        program.iter().any(|line| line.starts_with(&own) && !alone.contains(line))
    };
    let shared = shared_builds()?;
    let needless: Vec<String> = shared.into_iter().filter(|library| !is_needed(library)).collect();
    match needless.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "the feature {SHARED_BUILDS} of unmix-cli changes no feature of {}: remove it",
            needless.join(", ")
        )),
    }
}

/// The libraries of a build, each with its version and features.
fn built(arguments: &[&str]) -> Result<Vec<String>, String> {
    let tree = ["tree", "--prefix", "none", "--no-dedupe", "--format", "{p} {f}"];
    let mut command = Command::new(env!("CARGO"));
    command.args(tree).args(arguments).current_dir(root());
    let out = command.output().map_err(|e| format!("{command:?} cannot be started: {e}"))?;
    if !out.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&out.stderr)));
    }
    Ok(String::from_utf8_lossy(&out.stdout)
        .lines()
        .map(|line| line.trim_end_matches(" (*)").into())
        .collect())
}

/// The dependencies of [`SHARED_BUILDS`].
fn shared_builds() -> Result<Vec<String>, String> {
    let manifest = read(&root().join("crates/unmix-cli/Cargo.toml"))?;
    let line = manifest.lines().find(|line| line.starts_with(SHARED_BUILDS)).unwrap_or_default();
    Ok(line.split('"').filter_map(|word| word.strip_prefix("dep:")).map(String::from).collect())
}

/// Every dependency of a manifest must be named by the code of its package, except those of [`SHARED_BUILDS`].
fn every_dependency_is_used() -> Done {
    let crates = root().join("crates");
    let listed = std::fs::read_dir(&crates).map_err(|e| format!("cannot read {}: {e}", crates.display()))?;
    let mut packages: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    packages.extend([root().join("python"), root().join("xtask")]);
    let shared = shared_builds()?;
    let mut unused = Vec::new();
    for package in packages {
        let mut code = String::new();
        append_code(&package, &mut code)?;
        for dependency in dependencies(&read(&package.join("Cargo.toml"))?) {
            let not_called = package.ends_with("unmix-cli") && shared.contains(&dependency);
            if !not_called && !names(&code, &dependency.replace('-', "_")) {
                unused.push(format!("{dependency} in {}/Cargo.toml", package.display()));
            }
        }
    }
    match unused.is_empty() {
        true => Ok(()),
        false => Err(format!("dependencies that no code of their package names:\n{}", unused.join("\n"))),
    }
}

/// The names of the dependencies of a manifest, of all kinds.
fn dependencies(manifest: &str) -> Vec<String> {
    let (mut is_list, mut found) = (false, Vec::new());
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_list = line.ends_with("dependencies]");
        } else if is_list && line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            found.extend(line.split(['.', ' ', '=']).next().map(String::from));
        }
    }
    found
}

/// Appends the Rust code below a folder.
fn append_code(folder: &Path, code: &mut String) -> Done {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() && !path.ends_with("target") {
            append_code(&path, code)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            code.push_str(&read(&path)?);
        }
    }
    Ok(())
}

/// Whether the code has a path that begins with this crate, an attribute or macro of it, or a `use` of it.
fn names(code: &str, library: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(library).any(|(at, _)| {
        let rest = &code[at + library.len()..];
        !code[..at].ends_with(is_word) && (rest.starts_with("::") || rest.starts_with(';'))
    })
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}
