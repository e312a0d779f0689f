//! Pages of `docs/` that are written by the registry, compared with it. `cargo xtask gen` writes them anew.

use std::fmt::Write;
use std::path::Path;
use unmix::METHODS;

#[test]
fn the_page_of_methods_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/methods.md");
    let page = methods_page();
    if std::env::var_os("UNMIX_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "docs/methods.md is stale: run `cargo xtask gen`");
}

fn methods_page() -> String {
    let mut page = String::from(
        "# Methods\n\nWritten from the registry by `cargo xtask gen`. A setting has one name on the command line (`--set name=value`), in \
         Rust, in Python and in model files.\n\n| method | Python | finds | sparse | weights | streams | missing |\n|---|---|---|---|---|---|---|\n",
    );
    let mark = |yes: bool| if yes { "yes" } else { "no" };
    for m in METHODS {
        let t = &m.takes;
        let _ = writeln!(
            page,
            "| [`{0}`](#{0}) | `{1}` | {2} | {3} | {4} | {5} | {6} |",
            m.key,
            m.class,
            m.summary,
            mark(t.sparse),
            mark(t.weights),
            mark(t.stream),
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
            let python = if s.python_only { " (Python only)" } else { "" };
            let _ =
                writeln!(page, "| `{}`{python} | {} | `{}` | {} |", s.name, s.type_name(), s.default, s.doc);
        }
        for variant in m.variants {
            let _ =
                writeln!(page, "\n- `{}`: {}; recovers {}", variant.key, variant.reference, variant.recovers);
        }
        if !m.equals.is_empty() {
            let _ = writeln!(page, "\nEquals: {}.", m.equals.join("; "));
        }
        let _ = writeln!(page, "\nReferences: {}.", m.references.join("; "));
    }
    page
}
