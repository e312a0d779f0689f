//! Options of a fit that are not settings, in the Python package and on the page on long fits, are those of the table.

use super::reading::between;
use super::wording::value;
use unmix::internal::run::RUN_OPTIONS;

#[test]
fn python_and_the_page_on_long_fits_have_the_run_options_of_the_table() {
    let remedy = "has other options than RUN_OPTIONS in crates/unmix/src/run/options.rs: make them agree";
    let in_python: Vec<&str> = RUN_OPTIONS.iter().filter_map(|option| option.parameter).collect();
    let constraints = between("python/unmix/_options.py", "RUN_OPTIONS: dict[str, list[Any]] = {", "\n}");
    let constrained = constraints.lines().filter_map(|line| line.trim().strip_prefix('"')?.split('"').next());
    assert_eq!(constrained.collect::<Vec<_>>(), in_python, "_options.py {remedy}");
    let page = between("docs/checkpoints.md", "| Python | command line | Rust | |", "\n\n");
    let rows = page.lines().filter(|line| line.starts_with("| "));
    assert_eq!(rows.count(), RUN_OPTIONS.len(), "docs/checkpoints.md {remedy}");
    for option in RUN_OPTIONS {
        let parameter = option.parameter.map(|name| format!("`{name}=`")).unwrap_or_default();
        let flag = option.flag.map(|flag| format!("`{flag}`")).unwrap_or_default();
        let described = page.lines().any(|line| line.contains(&parameter) && line.contains(&flag));
        assert!(described, "docs/checkpoints.md has no line with {parameter} and {flag}");
    }
}

#[test]
fn classes_without_a_run_option_have_its_default() {
    let attributes = between(
        "python/unmix/_options.py",
        "# For classes that have no parameters of these names.\n",
        "\n\n",
    );
    assert!(attributes.lines().count() > 3, "{attributes}");
    for line in attributes.lines() {
        let (name, rest) = line.trim().split_once(": ").unwrap();
        let default = rest.rsplit_once(" = ").unwrap().1;
        let option = RUN_OPTIONS.iter().find(|option| option.parameter == Some(name));
        let expected = option.unwrap_or_else(|| panic!("{name} is not a run option")).default;
        assert_eq!(default, value(expected), "{name} of _options.py");
    }
}
