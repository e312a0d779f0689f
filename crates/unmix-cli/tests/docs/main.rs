//! Files generated from the registry of methods (pages of `docs/`, parameters of the Python package) are compared with it. `cargo xtask
//! gen` writes them. Lists of the options of reading and of runs are compared with their tables.

mod functions;
mod python;
mod reading;
mod running;
mod wording;

use std::fmt::Write;
use std::path::Path;
use unmix::METHODS;

#[test]
fn files_written_from_the_registry_are_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
    let mut files = vec![("docs/methods.md".to_string(), methods_page())];
    let mut package: Vec<_> = std::fs::read_dir(root.join("python/unmix")).unwrap().flatten().collect();
    package.sort_by_key(std::fs::DirEntry::file_name);
    for entry in package {
        let path = format!("python/unmix/{}", entry.file_name().to_string_lossy());
        if path.ends_with(".py") && !path.ends_with("/_parameters.py") {
            let text = read(&path);
            let here = |m: &&unmix::Method| text.contains(&format!("\nclass {}(", m.class));
            let text_of_all =
                METHODS.iter().filter(here).fold(text.clone(), |text, m| python::documented(&text, m));
            let text_of_all = functions::written(&path, &text_of_all, METHODS);
            files.push((path, text_of_all));
        }
    }
    for method in METHODS {
        let class = format!("\nclass {0}({0}Parameters, ", method.class);
        let has = files.iter().any(|(_, text)| text.contains(&class));
        assert!(has, "no class {0} in python/unmix has its parameters from {0}Parameters", method.class);
    }
    let text_of = |method: &unmix::Method| {
        let class = format!("\nclass {}(", method.class);
        files.iter().find(|(_, text)| text.contains(&class)).map(|(_, text)| text.clone()).unwrap_or_default()
    };
    files.push(("python/unmix/_parameters.py".to_string(), python::module(METHODS, &text_of)));
    let stale: Vec<_> = files.into_iter().filter(|(path, text)| read(path) != *text).collect();
    if std::env::var_os("UNMIX_WRITE_DOCS").is_some() {
        stale.iter().for_each(|(path, text)| std::fs::write(root.join(path), text).unwrap());
        return;
    }
    let names: Vec<&str> = stale.iter().map(|(path, _)| path.as_str()).collect();
    assert!(names.is_empty(), "{} differ from the registry: run `cargo xtask gen`", names.join(", "));
}

fn methods_page() -> String {
    let mut page = String::from(
        "# Methods\n\nWritten from the registry by `cargo xtask gen`. A setting has one name on the command line (`--set name=value`), in \
         Rust, in Python and in model files.\n\n*Streams*: with the default settings, a fit of a few components holds at most 1 GiB \
         of coordinates of the rows in memory, so the rows may be larger than memory. *Remote*: it needs only sums over the rows, so \
         [workers](shards.md) may hold them. The descriptions of settings that need all rows state it.\n\n| method | Python | finds | sparse | weights | streams | remote | missing |\n|---|---|---|---|---|---|---|---|\n",
    );
    let mark = |yes: bool| if yes { "yes" } else { "no" };
    for m in METHODS {
        let t = &m.accepts;
        let _ = writeln!(
            page,
            "| [`{0}`](#{0}) | `{1}` | {2} | {3} | {4} | {5} | {6} | {7} |",
            m.key,
            m.class,
            m.summary,
            mark(t.sparse),
            mark(t.weights),
            mark(t.stream),
            mark(t.remote),
            mark(t.missing)
        );
    }
    for m in METHODS {
        let _ = writeln!(
            page,
            "\n## {}\n\n{}.\n\n| setting | type | default | what it does |\n|---|---|---|---|",
            m.key, m.summary
        );
        for s in m.settings {
            let python = match (s.python_only, s.tensor) {
                (true, _) => " (Python only)",
                (_, true) if s.with_rows => " (a table: `y` of `fit`, `--NAME FILE`)",
                (_, true) => " (a table: an argument, `--NAME FILE`)",
                _ => "",
            };
            let type_name = s.type_name();
            let default = if s.default.is_empty() { "required" } else { s.default };
            let _ = writeln!(page, "| `{}`{python} | {type_name} | `{}` | {} |", s.name, default, s.doc);
        }
        for variant in m.variants {
            let _ =
                writeln!(page, "\n- `{}`: {}; recovers {}", variant.key, variant.reference, variant.recovers);
        }
        if !m.equals.is_empty() {
            let _ = writeln!(page, "\nEquivalences: {}.", m.equals.join("; "));
        }
        let _ = writeln!(page, "\nReferences: {}.", m.references.join("; "));
    }
    page
}
