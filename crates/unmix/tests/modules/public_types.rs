//! Public types may grow without breaking code that uses them, and what is not for users is hidden from the documentation.

use super::{code, root, sources};
use std::path::{Path, PathBuf};

/// Exhaustive public enumerations, which may be matched without `_`: rows and numbers in one of the two floating-point types; where
/// bytes may be; and the ways to choose components.
const COMPLETE: [&str; 5] = ["AnyRows", "Bytes", "ComponentSelection", "Dtype", "Values"];

/// Types that functions return and callers do not build, so that fields may be added.
const RETURNED: [&str; 22] = [
    "About",
    "Choice",
    "Clustering",
    "Clusters",
    "Column",
    "Description",
    "Input",
    "LowRank",
    "MapPoint",
    "Match",
    "MixedSources",
    "Picture",
    "Plan",
    "PlantedBiclusters",
    "PpcaSample",
    "Quality",
    "Report",
    "Residual",
    "RunRecord",
    "Stability",
    "Table",
    "TopRows",
];

/// Public structures with public fields that are neither `#[non_exhaustive]` nor have a default, and why.
const WRITTEN: [(&str, &str); 10] = [
    ("Accepts", "every method writes it as a literal, so that no entry is left out"),
    ("Block", "callers with rows of their own add them to a sum"),
    ("Method", "every method writes it as a literal, so that no entry is left out"),
    ("Options", "of reproductions: the caller decides about each; those of other crates have a default"),
    ("Patches", "written as `Patches { stride: ..., ..Patches::of(8, 8) }`"),
    ("PictureRow", "readers of pictures write how they read them, and leave nothing out"),
    ("Pictures", "images from files are given in it, too"),
    ("PowerIteration", "none of its parameters has a default that suits all maps"),
    ("SparseLoadings", "none of its parameters has a default"),
    ("Stroke", "callers draw with it"),
];

/// The crates that are libraries.
const LIBRARIES: [&str; 5] = ["unmix", "unmix-io", "unmix-report", "unmix-reproduce", "unmix-cli"];

/// A public enumeration or structure.
struct PublicType {
    name: String,
    is_enum: bool,
    non_exhaustive: bool,
    /// Whether it has a default, derived or written.
    default: bool,
    /// Whether one of its fields is public.
    public_fields: bool,
}

/// Public enumerations and structures in a text.
fn public_types(text: &str) -> Vec<PublicType> {
    let (mut attributes, mut out) = (String::new(), Vec::new());
    let lines: Vec<&str> = text.lines().collect();
    for (i, line) in lines.iter().enumerate() {
        let words = line.strip_prefix("pub enum ").or(line.strip_prefix("pub struct "));
        if let Some(rest) = words {
            let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap();
            let body = lines[i + 1..].iter().take_while(|line| !line.starts_with('}'));
            let in_braces = line.ends_with('{') && body.clone().any(|line| line.starts_with("    pub "));
            let written =
                |line: &&str| line.starts_with("impl") && line.contains(&format!(" Default for {name}"));
            out.push(PublicType {
                name: name.to_string(),
                is_enum: line.starts_with("pub enum"),
                non_exhaustive: attributes.contains("#[non_exhaustive]"),
                default: attributes.contains("Default") || lines.iter().any(written),
                public_fields: in_braces || line.contains("(pub "),
            });
        }
        match line.starts_with("#[")
            || (!attributes.is_empty() && (line.starts_with(' ') || line.starts_with(')')))
        {
            true => attributes += line,
            false => attributes.clear(),
        }
    }
    out
}

/// Files of a crate, relative to its `src`, without comments and tests.
fn code_of(krate: &str) -> Vec<(String, String)> {
    let folder = root().join("crates").join(krate).join("src");
    let relative = |path: &Path| path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
    sources(&folder).into_iter().map(|(path, text)| (relative(&path), code(&text))).collect()
}

/// The names in the `pub use` of these files that are not hidden from the documentation.
fn exported_names(files: &[(String, String)]) -> Vec<String> {
    let mut out = Vec::new();
    for (_, text) in files {
        for (at, _) in text.match_indices("pub use ") {
            if !text[..at].trim_end().ends_with("#[doc(hidden)]") {
                let names =
                    text[at..].split(';').next().unwrap().split(|c: char| !c.is_alphanumeric() && c != '_');
                out.extend(names.map(String::from));
            }
        }
    }
    out
}

/// Whether the module in this file is declared as public by the one that it is in. A module that is hidden from the documentation is not.
fn is_public_module(files: &[(String, String)], file: &str) -> bool {
    let module = file.strip_suffix("/mod.rs").unwrap_or(file.trim_end_matches(".rs"));
    let (parents, name) = match module.rsplit_once('/') {
        Some((parent, name)) => ([format!("{parent}.rs"), format!("{parent}/mod.rs")], name),
        None => (["lib.rs".to_string(), "lib.rs".to_string()], module),
    };
    let declares = |text: &str| {
        let declaration = format!("pub mod {name};");
        text.split_once(&declaration)
            .is_some_and(|(before, _)| !before.trim_end().ends_with("#[doc(hidden)]"))
    };
    file == "lib.rs" || files.iter().any(|(path, text)| parents.contains(path) && declares(text))
}

/// Numerical modules of the library, which are private; other modules and `lib.rs` re-export what users need of them.
const NUMERICAL: [&str; 9] =
    ["autoencoder", "elementwise", "learn", "neural", "num", "rectified", "solve", "sparse", "spectrum"];

/// The module below `src` that a file is in.
fn module_of_file(file: &str) -> &str {
    file.split('/').next().unwrap().trim_end_matches(".rs")
}

/// The names that these files re-export from a numerical module.
fn re_exported(files: &[(String, String)], module: &str) -> Vec<String> {
    let starts = [format!("pub use crate::{module}::"), format!("pub use {module}::")];
    let mut out = Vec::new();
    for (_, text) in files {
        for start in &starts {
            for rest in text.split(start.as_str()).skip(1) {
                let names = rest.split(';').next().unwrap().split(|c: char| !c.is_alphanumeric() && c != '_');
                out.extend(names.map(String::from));
            }
        }
    }
    out
}

/// The public types of the libraries that their documentation shows, with their crates, and all enumerations of modules that are not numerical.
fn shown_types() -> Vec<(&'static str, PublicType)> {
    let mut out = Vec::new();
    for krate in LIBRARIES {
        let is_numerical = |file: &str| krate == "unmix" && NUMERICAL.contains(&module_of_file(file));
        let (numerical, mut files): (Vec<_>, Vec<_>) =
            code_of(krate).into_iter().partition(|(file, _)| is_numerical(file));
        // Traits of `stats` are public, its statistics are not; `internal` is hidden from the documentation.
        files.retain(|(file, _)| krate != "unmix" || !["internal", "stats"].contains(&module_of_file(file)));
        let exported = exported_names(&files);
        for (file, text) in &files {
            let is_public = is_public_module(&files, file);
            let shown = public_types(text)
                .into_iter()
                .filter(|t| t.is_enum || is_public || exported.contains(&t.name));
            out.extend(shown.map(|found| (krate, found)));
        }
        for (file, text) in &numerical {
            let exported = re_exported(&files, module_of_file(file));
            let shown = public_types(text).into_iter().filter(|t| exported.contains(&t.name));
            out.extend(shown.map(|found| (krate, found)));
        }
    }
    out
}

#[test]
fn numerical_modules_are_private_and_what_other_crates_use_of_them_is_hidden() {
    let lib = std::fs::read_to_string(root().join("crates/unmix/src/lib.rs")).unwrap();
    for module in NUMERICAL {
        assert!(lib.contains(&format!("\nmod {module};\n")), "lib.rs has no private module {module}");
    }
    assert!(lib.contains("#[doc(hidden)]\npub mod internal;\n"));
    let hidden: Vec<&str> = lib.split("#[doc(hidden)]\npub mod ").skip(1).collect();
    assert_eq!(hidden.len(), 1, "modules for other crates are part of `internal`");
}

/// The files that use the library from outside: its tests, and the other crates with theirs.
fn users() -> Vec<(PathBuf, String)> {
    let mut users = sources(&root().join("crates/unmix/tests"));
    for krate in
        ["crates/unmix-io", "crates/unmix-report", "crates/unmix-reproduce", "crates/unmix-cli", "python"]
    {
        users.extend(sources(&root().join(krate)));
    }
    users
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The names that a text has from a module of the library, which is empty or ends in `::`: the name after the path, or those in braces after it.
fn names_from<'a>(text: &'a str, module: &str) -> Vec<&'a str> {
    let path = format!("unmix::{module}");
    let after = text.match_indices(&path).map(|(at, _)| &text[at + path.len()..]);
    let names = after.map(|rest| match rest.strip_prefix('{') {
        Some(list) => list.split('}').next().unwrap(),
        None => rest.split(|c| !is_word(c)).next().unwrap(),
    });
    names.flat_map(|names| names.split(|c| !is_word(c)).filter(|name| !name.is_empty())).collect()
}

#[test]
fn hidden_names_are_used_by_other_crates_or_tests() {
    let (folder, users) = (root().join("crates/unmix/src"), users());
    let mut unused = Vec::new();
    for (path, text) in sources(&folder) {
        let file = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
        let module = file.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::") + "::";
        let module = if file == "lib.rs" { "" } else { module.as_str() };
        for statement in text.split("#[doc(hidden)]\npub use ").skip(1) {
            let (_, names) = statement.split(';').next().unwrap().rsplit_once("::").unwrap();
            for name in names.split(|c| !is_word(c)).filter(|name| !name.is_empty()) {
                if !users.iter().any(|(_, text)| names_from(text, module).contains(&name)) {
                    unused.push(format!("{module}{name}"));
                }
            }
        }
    }
    assert!(unused.is_empty(), "hidden, and used nowhere else: make them private: {}", unused.join(", "));
}

#[test]
fn names_from_a_module_are_found_in_every_form() {
    let text = "use unmix::{Rows, zeros};\nuse unmix::stats::{\n    A,\n    B as C,\n};\nlet x = unmix::stats::d(unmix::run());";
    assert_eq!(names_from(text, "stats::"), ["A", "B", "as", "C", "d"]);
    assert!(["Rows", "zeros", "run"].iter().all(|name| names_from(text, "").contains(name)));
    assert!(!names_from(text, "").contains(&"A"));
}

#[test]
fn everything_in_internal_is_used_by_other_crates_or_tests() {
    let internal = std::fs::read_to_string(root().join("crates/unmix/src/internal.rs")).unwrap();
    let mut users = users();
    users.retain(|(_, text)| text.contains("unmix::internal::"));
    for statement in code(&internal).split("pub use crate::").skip(1) {
        let (_, names) = statement.split(';').next().unwrap().rsplit_once("::").unwrap();
        for name in names.split(|c| !is_word(c)).filter(|name| !name.is_empty()) {
            let uses = |text: &str| text.split(|c| !is_word(c)).any(|word| word == name);
            assert!(users.iter().any(|(_, text)| uses(text)), "internal.rs: nothing uses {name}");
        }
    }
}

#[test]
fn types_that_may_grow_are_non_exhaustive() {
    let (mut enums, mut structs, mut written) = (Vec::new(), Vec::new(), Vec::new());
    let types = shown_types();
    for (krate, found) in &types {
        let name = format!("{krate}: {}", found.name);
        if found.non_exhaustive {
            continue;
        }
        if found.is_enum && !COMPLETE.contains(&&*found.name) {
            enums.push(name);
        } else if !found.is_enum && found.public_fields && !found.default {
            let known = WRITTEN.iter().any(|(written, _)| *written == found.name);
            if known { &mut written } else { &mut structs }.push(name);
        }
    }
    assert!(enums.is_empty(), "#[non_exhaustive] is missing, or a word in COMPLETE:\n{}", enums.join("\n"));
    assert!(
        structs.is_empty(),
        "#[non_exhaustive] is missing, or a reason in WRITTEN:\n{}",
        structs.join("\n")
    );
    for (name, _) in WRITTEN {
        assert!(written.iter().any(|w| w.ends_with(&format!(": {name}"))), "WRITTEN: {name} needs no reason");
    }
    for name in RETURNED.into_iter().chain(["FactorTable", "Grid", "NpyHeader", "Triplets"]) {
        let is_open =
            |(_, found): &(_, PublicType)| found.name == name && !found.is_enum && found.non_exhaustive;
        assert!(types.iter().any(is_open), "{name} is not #[non_exhaustive]");
    }
}

#[test]
fn public_types_are_found_in_every_form() {
    let text = "#[derive(Clone)]\n#[non_exhaustive]\npub struct A<T> {\n    x: T,\n}\n\npub struct B(pub u8);\n#[derive(\n    Default,\n)]\n\
                pub struct C {\n    pub x: u8,\n}\npub enum D {\n    X,\n}\nimpl Default for B {}\npub struct E;\n";
    let found: Vec<_> = public_types(text)
        .into_iter()
        .map(|t| (t.name, t.is_enum, t.non_exhaustive, t.default, t.public_fields))
        .collect();
    let expected = [
        ("A", false, true, false, false),
        ("B", false, false, true, true),
        ("C", false, false, true, true),
        ("D", true, false, false, false),
        ("E", false, false, false, false),
    ];
    assert_eq!(found, expected.map(|(name, a, b, c, d)| (name.to_string(), a, b, c, d)));
    let file = |name: &str, text: &str| (name.to_string(), text.to_string());
    let files = [
        file(
            "lib.rs",
            "pub mod a;\nmod b;\n#[doc(hidden)]\npub mod c;\n#[doc(hidden)]\npub use b::X;\npub use b::{Y, Z};\n",
        ),
        file("a/mod.rs", "pub mod d;"),
    ];
    assert_eq!(exported_names(&files).iter().filter(|name| ["X", "Y", "Z"].contains(&&***name)).count(), 2);
    let public = ["a/mod.rs", "b.rs", "c.rs", "a/d.rs", "lib.rs"].map(|file| is_public_module(&files, file));
    assert_eq!(public, [true, false, false, true, true]);
}

/// Items for the other crates of this workspace, which users of the libraries do not need.
const INTERNAL: [(&str, &[&str]); 2] = [
    ("unmix", &["available_memory", "zeros"]),
    (
        "unmix-io",
        &[
            "LabelFile",
            "READING_OPTIONS",
            "Wording",
            "have_names",
            "named",
            "note_on_axes",
            "note_on_requested_cells",
            "panic_is_caught",
            "text",
        ],
    ),
];

#[test]
fn items_for_other_crates_are_hidden_from_the_documentation() {
    for (krate, items) in INTERNAL {
        let lib = std::fs::read_to_string(root().join("crates").join(krate).join("src/lib.rs")).unwrap();
        let shown = exported_names(&[("lib.rs".into(), code(&lib))]);
        for item in items {
            assert!(!shown.iter().any(|name| name == item), "{krate}::{item} is not hidden");
            assert!(lib.contains(item), "{krate}::{item} is not there");
        }
    }
    let shallow = std::fs::read_to_string(root().join("crates/unmix/src/shallow/mod.rs")).unwrap();
    let shown = exported_names(&[("mod.rs".into(), code(&shallow))]);
    assert!(shown.contains(&"FineTuning".to_string()), "{shown:?}");
    assert!(!shown.iter().any(|name| name.ends_with("Learner") || name.ends_with("Training")), "{shown:?}");
}
