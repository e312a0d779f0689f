//! Options of reading, in the Python package and on the page on files, are those of the table.

use std::path::Path;
use unmix_io::READING_OPTIONS;

/// The text between two texts in a file of the repository.
pub(crate) fn between(path: &str, start: &str, end: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join(path)).unwrap();
    let rest = text.split_once(start).unwrap_or_else(|| panic!("{path} has no '{start}'")).1;
    rest.split_once(end).unwrap_or_else(|| panic!("{path} has no '{end}' after '{start}'")).0.to_string()
}

/// The names at the beginning of lines of the form `name: type`, in alphabetical order.
fn names(lines: &str) -> Vec<String> {
    let name = |line: &str| line.trim().split_once(": ").map(|(name, _)| name.to_string());
    let mut names: Vec<String> = lines.lines().filter_map(name).collect();
    names.sort();
    names
}

#[test]
fn python_and_the_page_on_files_have_the_options_of_the_table() {
    let mut expected: Vec<&str> = READING_OPTIONS.iter().filter(|o| o.in_python).map(|o| o.name).collect();
    expected.sort();
    let remedy =
        "lists other options than READING_OPTIONS in crates/unmix-io/src/reading_options.rs: make them agree";
    for (path, start, end) in [
        ("python/unmix/_read.py", "def open(\n    path: Path | Sequence[Path],", ") -> Files:"),
        ("python/unmix/_read.py", "The keyword arguments of `open`, with their types.", "\ndef read("),
        ("python/src/read.rs", "pub(crate) struct Reading {", "\n}"),
    ] {
        assert_eq!(names(&between(path, start, end)), expected, "{path}, after '{start}', {remedy}");
    }
    let parameters = between(
        "python/unmix/_read.py",
        "The\n    options correspond to those of the command line.",
        "Returns",
    );
    let documented = |name: &str| {
        let mut heads = parameters.lines().filter_map(|line| line.split_once(" : ")).map(|(names, _)| names);
        heads.any(|names| names.trim().split(", ").any(|own| own == name))
    };
    let checked = between("python/unmix/_reading.py", "def _reading(", "return converted");
    let page = between("docs/files.md", "| Python and Rust | command line | |", "\n\n");
    for option in READING_OPTIONS.iter().filter(|option| option.in_python) {
        let name = option.name;
        assert!(documented(name), "the docstring of unmix.open has no parameter {name}");
        assert!(checked.contains(&format!("\"{name}\"")), "_reading.py does not convert {name}");
        assert!(page.contains(&format!("`{name}=")), "docs/files.md does not have `{name}=`");
        for flag in option.flags {
            let ended = ["`", " ", "="].iter().any(|end| page.contains(&format!("`{flag}{end}")));
            assert!(ended, "docs/files.md does not have `{flag}`");
        }
    }
}
