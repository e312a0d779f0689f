//! Modules of the library import each other in one direction, in the order of docs/tour.md, and no code depends on the key of a method.

mod public_types;

use std::path::{Path, PathBuf};

/// The modules below `src`, each of which imports only those before it.
const ORDER: [&str; 28] = [
    "error",
    "choices",
    "machine",
    "num",
    "elementwise",
    "run",
    "solve",
    "stats",
    "data",
    "metrics",
    "datasets",
    "model",
    "spectrum",
    "learn",
    "sparse",
    "autoencoder",
    "shallow",
    "neural",
    "rectified",
    "ica",
    "power",
    "select",
    "method",
    "stability",
    "biclusters",
    "impute",
    "shards",
    "internal",
];

/// The modules of names that `lib.rs` re-exports.
const SHORT: [(&str, &[&str]); 7] = [
    ("error", &["Error", "ErrorDetails", "Result", "nearest"]),
    ("machine", &["available_memory", "zeros"]),
    ("num", &["num_threads", "set_num_threads", "Dtype", "Matrix", "Real"]),
    ("run", &["Checkpoint", "Event", "Run", "Silent", "Start", "Observer"]),
    ("data", &["AnyRows", "Features", "Rows", "with_rows"]),
    ("model", &["Model", "Outcome", "Report"]),
    (
        "method",
        &[
            "CompleteDictionary",
            "DenoisingAutoencoder",
            "DictionaryLearning",
            "FactorAnalysis",
            "FastIca",
            "GaussianRbm",
            "Ica",
            "LinearEigenGan",
            "Lista",
            "METHODS",
            "MatrixCompletion",
            "Method",
            "NeuralPca",
            "Pca",
            "Ppca",
            "Rfn",
            "Rica",
            "RobustPca",
            "SigmaPca",
            "SparseAutoencoder",
            "SparseCoder",
            "StackedRfn",
            "SubspaceClustering",
            "fit",
            "fit_given",
            "partial_fit",
        ],
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Rust files below a folder, and their text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            out.push((path, text));
        }
    }
    out.sort();
    out
}

/// The text without comments, and without the unit tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The paths after every `crate::` in a text, with braces expanded.
fn imports(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        let Some(inside) = rest.strip_prefix('{') else {
            out.push(rest);
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (i, c) in inside.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    out.push(inside[start..i].trim());
                    start = i + 1;
                }
                _ => {}
            }
            if c == '}' && start == i + 1 {
                break;
            }
        }
    }
    out.retain(|path| !path.is_empty());
    out
}

/// The position in the order of the module in which a path begins.
fn module_of(path: &str) -> usize {
    let first = path.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap();
    let module = SHORT.iter().find(|(_, names)| names.contains(&first)).map_or(first, |(module, _)| module);
    ORDER.iter().position(|r| *r == module).unwrap_or_else(|| panic!("'{first}' is in no module of ORDER"))
}

#[test]
fn modules_import_one_way() {
    let folder = root().join("crates/unmix/src");
    let mut against = Vec::new();
    for (path, text) in sources(&folder) {
        let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
        if name == "lib.rs" || name.ends_with("tests.rs") {
            continue;
        }
        let own = module_of(name.strip_suffix(".rs").unwrap());
        let code = code(&text);
        for import in imports(&code) {
            let other = module_of(import);
            if other > own {
                let path = import.split([';', '(', ' ', '\n']).next().unwrap();
                against.push(format!("{name} imports crate::{path}"));
            }
        }
    }
    assert!(against.is_empty(), "against the order of docs/tour.md:\n{}", against.join("\n"));
}

/// Rows are read by sweeps and maps (`data/sweep/shards.rs`), by sources of rows made of others, and in the places that the decision about gathers
/// lists with their reasons: a sum over rows that is not among them is to be a gather.
#[test]
fn loops_over_rows_that_are_no_sweeps_are_listed() {
    let root = root();
    let decision = std::fs::read_to_string(root.join("docs/decisions/0011-gathers.md")).unwrap();
    let mut unlisted = Vec::new();
    for folder in ["crates/unmix", "crates/unmix-io", "crates/unmix-report", "crates/unmix-cli", "python"] {
        for (path, text) in sources(&root.join(folder).join("src")) {
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
            let code = code(&text);
            let reads = code.contains(".stream()?") || code.contains("source().random()");
            let swept = name.ends_with("data/sweep/shards.rs") || code.contains(" Source<T> for ");
            if name.ends_with("tests.rs") || !reads || swept {
                continue;
            }
            // By the path below the crate that the decision is about, or below the folder of the crates.
            let listed = [name.trim_start_matches("crates/unmix/src/"), name.trim_start_matches("crates/")];
            let in_report = name.strip_prefix("crates/unmix-report/src/");
            if !listed.iter().copied().chain(in_report).any(|name| decision.contains(&format!("`{name}`"))) {
                unlisted.push(name);
            }
        }
    }
    assert!(
        unlisted.is_empty(),
        "loops over rows that docs/decisions/0011-gathers.md does not list: {unlisted:?}"
    );
}

#[test]
fn imports_are_found_in_every_form() {
    let text = "use crate::num::Real;\nuse crate::{Rows, data::{A, B}, ica};\nlet x = crate::fit(1);";
    let modules: Vec<&str> = imports(text).into_iter().map(|path| ORDER[module_of(path)]).collect();
    assert_eq!(modules, ["num", "data", "data", "ica", "method"]);
    assert_eq!(code("a // crate::ica\n#[cfg(test)]\nmod tests {\n    use crate::ica;\n}"), "a ");
}

#[test]
fn the_tour_names_the_order() {
    let tour = std::fs::read_to_string(root().join("docs/tour.md")).unwrap();
    assert!(tour.contains(&ORDER.join(" ← ")), "docs/tour.md should have: {}", ORDER.join(" ← "));
}

/// Files outside `src/method` in which keys of methods occur in quotation marks, and why nothing depends on the method there.
const QUOTED: [(&str, &[&str], &str); 17] = [
    ("crates/unmix/src/biclusters/refits.rs", &["ica"], "a value of the setting `init`"),
    ("crates/unmix/src/ica/layers.rs", &["ica"], "for messages"),
    ("crates/unmix/src/ica/search.rs", &["fastica", "sigma-pca"], "names of solvers"),
    ("crates/unmix/src/neural/gpm/held_out.rs", &["sigma-pca"], "for messages"),
    ("crates/unmix/src/neural/nonlinear_table.rs", &["rica"], "a published rule"),
    ("crates/unmix/src/sparse/alternating.rs", &["dictionary"], "a loop, as checkpoints name it"),
    ("crates/unmix/src/sparse/ksvd.rs", &["dictionary"], "a loop, as checkpoints name it"),
    ("crates/unmix/src/sparse/online.rs", &["dictionary"], "a loop, as checkpoints name it"),
    ("crates/unmix/src/spectrum/mod.rs", &["pca"], "for messages"),
    ("crates/unmix-cli/src/args/verbs.rs", &["pca"], "the default of an option"),
    (
        "crates/unmix-cli/src/choice.rs",
        &["factor-analysis", "matrix-completion", "ppca", "robust-pca", "subspace-clustering"],
        "suggestions for other usual names",
    ),
    ("crates/unmix-cli/src/fit.rs", &["dictionary"], "a tensor"),
    ("crates/unmix-report/src/page/objective.rs", &["fastica"], "a solver, which two methods have"),
    ("crates/unmix-reproduce/src/lab.rs", &["sigma-pca"], "the method of a published experiment"),
    (
        "python/unmix/__init__.py",
        &["dictionary", "fastica", "ica", "lista", "pca", "ppca", "rica"],
        "modules, a function and a tensor",
    ),
    (
        "python/unmix/_select.py",
        &["factor-analysis", "linear-eigengan", "pca", "ppca"],
        "the default of a parameter, an example in a message, and types of results, which a Python test compares with the registry",
    ),
    ("python/unmix/datasets/__init__.py", &["ppca"], "a function"),
];

/// Folders and files in which keys are quoted because they are about single methods.
const ABOUT_METHODS: [&str; 3] = [
    "crates/unmix/src/method/",
    "crates/unmix-reproduce/src/experiments/",
    // Generated from the registry.
    "python/unmix/_parameters.py",
];

/// Python files below a folder, without docstrings and comments.
fn python(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(python(&path));
        } else if path.extension().is_some_and(|e| e == "py") {
            out.push((path.clone(), python_code(&std::fs::read_to_string(&path).unwrap())));
        }
    }
    out
}

fn python_code(text: &str) -> String {
    let code: String = text.split("\"\"\"").step_by(2).collect();
    code.lines().map(|line| line.split('#').next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The key of every method that is quoted in a line, unless the line declares the method of a Python class.
fn quoted_keys(line: &str) -> Vec<&'static str> {
    let quoted = |key: &str| ['"', '\''].iter().any(|mark| line.contains(&format!("{mark}{key}{mark}")));
    let declares = line.trim_start().starts_with("_method = ");
    unmix::METHODS.iter().map(|m| m.key).filter(|key| !declares && quoted(key)).collect()
}

/// Whether a line of Python compares the key of a class, its `_method`.
fn compares_a_class(line: &str) -> bool {
    let operand = |rest: &str| rest.split([' ', ')', ':', ',']).next().unwrap().ends_with("._method");
    line.contains("._method == ")
        || line.contains("._method != ")
        || [" == ", " != "].iter().any(|operator| line.split(operator).skip(1).any(operand))
}

#[test]
fn no_code_depends_on_the_key_of_a_method() {
    let mut files = python(&root().join("python/unmix"));
    for folder in ["unmix", "unmix-io", "unmix-report", "unmix-reproduce", "unmix-cli"] {
        files.extend(sources(&root().join("crates").join(folder).join("src")));
    }
    files.extend(sources(&root().join("python/src")));
    let (mut wrong, mut used) = (Vec::new(), Vec::new());
    for (path, text) in files {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        if name.ends_with("tests.rs") || ABOUT_METHODS.iter().any(|about| name.starts_with(about)) {
            continue;
        }
        let text = if name.ends_with(".rs") { code(&text) } else { text };
        for line in text.lines() {
            let of_model = [".key ", ".key)", "method()"].iter().any(|c| line.contains(c));
            for key in quoted_keys(line) {
                let allowed = QUOTED.iter().any(|(file, keys, _)| *file == name && keys.contains(&key));
                used.push((name.clone(), key));
                if !allowed || of_model {
                    wrong.push(format!("{name}: {}", line.trim()));
                }
            }
            if name.ends_with(".py") && compares_a_class(line) {
                wrong.push(format!("{name}: {}", line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "properties of methods belong to the registry:\n{}", wrong.join("\n"));
    for (file, keys, _) in QUOTED {
        for key in keys {
            assert!(used.iter().any(|(f, k)| f == file && k == key), "QUOTED: \"{key}\" is not in {file}");
        }
    }
}

#[test]
fn quoted_keys_are_found_in_every_form() {
    assert_eq!(quoted_keys("const OF_VARIANCES: &str = \"pca\";"), ["pca"]);
    assert_eq!(quoted_keys("    [\"dae\", 'rbm', \"rfns\"]"), ["dae", "rbm"]);
    assert!(quoted_keys("    _method = \"pca\"").is_empty() && quoted_keys("unmix fit pca x.npy").is_empty());
    assert!(compares_a_class("of_variances = method == PCA._method"));
    assert!(compares_a_class("if self._method != method:"));
    assert!(!compares_a_class("return next(s for s in registry()[cls._method] if s == name)"));
    assert_eq!(python_code("\"\"\"As in\n\"pca\".\"\"\"\na = 1  # \"ica\"\nb = 2"), "\na = 1  \nb = 2");
}

/// Identifiers that docs/tour.md has another word for, that word, and the files that may have them.
const OTHER_WORDS: [(&str, &str, &[&str]); 2] = [
    ("typed", "invocation for a command line, arguments for its words, quoted for a word of a shell", &[]),
    // The field of `Error` keeps its name.
    ("asked", "requested, or request", &["crates/unmix/src/error.rs", "python/src/error.rs"]),
];

/// Whether a line of code has this identifier outside of text, other than as the field of a literal.
fn has_identifier(line: &str, name: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    line.split('"').step_by(2).any(|code| {
        code.match_indices(name).any(|(at, _)| {
            let (before, after) = (&code[..at], &code[at + name.len()..]);
            // The type of a parameter begins with a reference or a capital letter.
            let is_type = |rest: &str| rest.starts_with(|c: char| c.is_uppercase() || "&[(".contains(c));
            let is_field = after.strip_prefix(": ").is_some_and(|rest| !is_type(rest));
            !before.ends_with(inside) && !after.starts_with(inside) && !is_field
        })
    })
}

#[test]
fn identifiers_are_words_of_the_glossary() {
    let mut wrong = Vec::new();
    for folder in [
        "crates/unmix",
        "crates/unmix-io",
        "crates/unmix-report",
        "crates/unmix-reproduce",
        "crates/unmix-cli",
        "python",
    ] {
        for (path, text) in sources(&root().join(folder).join("src")) {
            let file = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
            for (name, word, files) in OTHER_WORDS {
                let text = code(&text);
                let found =
                    text.lines().filter(|line| !files.contains(&&*file) && has_identifier(line, name));
                wrong.extend(found.map(|line| format!("{file}: {} ('{name}': use {word})", line.trim())));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn identifiers_are_found_and_fields_and_text_are_not() {
    for line in [
        "let asked = 1;",
        "fn f(asked: &str)",
        "fn f(k: u8, asked: Option<u8>)",
        "x(asked, \"a\")",
        "Some(asked) => asked",
    ] {
        assert!(has_identifier(line, "asked"), "{line}");
    }
    for line in [
        "asked: \"using\".into(),",
        "asked: format!(\"{x}\"),",
        "f(\"asked for\")",
        "unasked(1)",
        "asked_for = 1",
    ] {
        assert!(!has_identifier(line, "asked"), "{line}");
    }
}
