//! How messages name the settings of reading: as fields in Rust, as the user types them on the command line, or as arguments in Python.

use std::path::{MAIN_SEPARATOR, Path};

/// Where settings are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wording {
    /// In a program in Rust, as fields of [`Options`](crate::Options): `drop=name`.
    #[default]
    Rust,
    /// On the command line: `--drop name`.
    Shell,
    /// As arguments of the Python functions `open` and `read`: `drop=['name']`.
    PythonRead,
    /// In Python where a path alone is given, so that the file has to be opened first: `unmix.open(..., drop=['name'])`.
    PythonPath,
}

impl Wording {
    /// A setting of value true, or one that is off.
    pub(crate) fn flag(self, name: &str, on: bool) -> String {
        match (self, on) {
            (Self::Shell, true) => flag(name),
            (Self::Shell, false) => format!("--no-{name}"),
            (Self::Rust, on) => format!("{name}={on}"),
            (_, on) => self.python(name, if on { "True" } else { "False" }),
        }
    }

    /// A setting that is a number, or a list of columns written as one word.
    pub(crate) fn plain(self, name: &str, value: impl std::fmt::Display, quoted: bool) -> String {
        match self {
            Self::Shell => format!("{} {}", flag(name), shell_quoted(&value.to_string())),
            Self::Rust => format!("{name}={value}"),
            _ if quoted => self.python(name, &literal(&value.to_string())),
            _ => self.python(name, &value.to_string()),
        }
    }

    /// A setting without a value.
    pub(crate) fn name(self, name: &str) -> String {
        match self {
            Self::Shell => flag(name),
            Self::Rust | Self::PythonRead => name.into(),
            Self::PythonPath => format!("{name} of unmix.open"),
        }
    }

    /// A setting that lists columns, of this one: by its name, or by its number where it has none.
    pub(crate) fn column(self, setting: &str, name: Option<&str>, number: usize) -> String {
        match (self, name) {
            (Self::Shell, Some(name)) => format!("{} {}", flag(setting), word(name)),
            (Self::Shell, None) => format!("{} {number}", flag(setting)),
            (Self::Rust, Some(name)) => format!("{setting}={}", entry(name)),
            (Self::Rust, None) => format!("{setting}={number}"),
            (_, Some(name)) => self.python(setting, &format!("[{}]", literal(name))),
            (_, None) => self.python(setting, &format!("[{number}]")),
        }
    }

    /// A setting that lists these columns.
    pub(crate) fn columns(self, setting: &str, columns: &[String]) -> String {
        let entries: Vec<String> = columns.iter().map(|name| entry(name)).collect();
        self.plain(setting, entries.join(","), true)
    }

    /// A setting that lists columns, with `words` as its text and `entries` as the words in it.
    pub(crate) fn column_list(self, setting: &str, words: &str, entries: &[String]) -> String {
        match self {
            Self::Rust | Self::Shell => self.plain(setting, words, true),
            _ => self.python(setting, &self.columns_value(words, entries)),
        }
    }

    /// The setting that reads only the first rows.
    pub(crate) fn first_rows(self, n: u64) -> String {
        match self {
            Self::Shell => format!("{} :{n}", flag("rows")),
            Self::Rust => format!("rows=(0, Some({n}))"),
            _ => self.python("rows", &format!("(0, {n})")),
        }
    }

    /// A setting of height and width.
    pub(crate) fn size(self, name: &str, height: usize, width: usize) -> String {
        self.plain(name, self.size_value(height, width), false)
    }

    /// Height and width as a value.
    pub(crate) fn size_value(self, height: usize, width: usize) -> String {
        match self {
            Self::Rust | Self::Shell => format!("{height}x{width}"),
            _ => format!("({height}, {width})"),
        }
    }

    /// A range of rows as a value; the end is excluded.
    pub(crate) fn rows_value(self, start: u64, end: Option<u64>) -> String {
        match (self, end) {
            (Self::Rust, end) => format!("({start}, {end:?})"),
            (Self::Shell, end) => format!("{start}:{}", end.map(|end| end.to_string()).unwrap_or_default()),
            (_, Some(end)) => format!("({start}, {end})"),
            (_, None) => format!("({start}, None)"),
        }
    }

    /// Text as a value.
    pub(crate) fn text_value(self, text: &str) -> String {
        match self {
            Self::Rust | Self::Shell => text.into(),
            _ => literal(text),
        }
    }

    /// Entries of a list of columns as a value, of which `words` is the text; a number is written as one in Python.
    pub(crate) fn columns_value(self, words: &str, entries: &[String]) -> String {
        let entry = |word: &String| if word.parse::<u64>().is_ok() { word.clone() } else { literal(word) };
        match self {
            Self::Rust | Self::Shell => words.into(),
            _ => format!("[{}]", entries.iter().map(entry).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Axes as a value.
    pub(crate) fn axes_value(self, axes: &[usize]) -> String {
        let numbers = axes.iter().map(usize::to_string).collect::<Vec<_>>();
        match (self, axes) {
            (Self::Rust | Self::Shell, _) | (_, [_]) => numbers.join(","),
            _ => format!("({})", numbers.join(", ")),
        }
    }

    /// An example of a list of columns by number.
    pub(crate) fn columns_example(self) -> &'static str {
        match self {
            Self::Rust | Self::Shell => "0,5-9",
            _ => "[0, 5] or '0,5-9'",
        }
    }

    /// A setting that lists axes, of which there are two or more.
    pub(crate) fn axes(self, name: &str, axes: impl Iterator<Item = usize>) -> String {
        self.plain(name, self.axes_value(&axes.collect::<Vec<_>>()), false)
    }

    /// What to do about a column that holds text. In Python no column can be kept beside the codes.
    pub(crate) fn without_column(self, name: Option<&str>, number: usize) -> String {
        let drop = format!("leave the column out with {}", self.column("drop", name, number));
        match self {
            Self::Rust => format!("{drop}, or read it as text with {}", self.column("keep", name, number)),
            Self::Shell => {
                format!("{drop}, or copy it to the output with {}", self.column("keep", name, number))
            }
            _ => drop,
        }
    }

    /// What reads the file of a model.
    pub(crate) fn model_reader(self) -> &'static str {
        match self {
            Self::Rust => "Model::load",
            Self::Shell => "'unmix show'",
            Self::PythonRead | Self::PythonPath => "unmix.load",
        }
    }

    fn python(self, name: &str, value: &str) -> String {
        match self {
            Self::PythonPath => format!("unmix.open(..., {name}={value})"),
            _ => format!("{name}={value}"),
        }
    }
}

/// A path as an argument of a command: one that begins with a dash would be taken for an option.
pub fn path_argument(path: &Path) -> String {
    let text = path.to_string_lossy();
    match text.starts_with('-') && text != "-" {
        true => format!(".{MAIN_SEPARATOR}{text}"),
        false => text.into_owned(),
    }
}

fn flag(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

/// A name as an entry of a list of columns, quoted for the list where needed and then for a shell.
fn word(name: &str) -> String {
    shell_quoted(&entry(name))
}

/// A name as an entry of a list of columns, quoted where needed.
pub(crate) fn entry(name: &str) -> String {
    let plain = !name.is_empty() && name.trim() == name && !name.contains([',', '"']);
    if plain { name.into() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// A value as one word of a POSIX shell.
fn shell_quoted(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    match !value.is_empty() && value.chars().all(plain) {
        true => value.into(),
        false => format!("'{}'", value.replace('\'', r"'\''")),
    }
}

/// Text as Python writes it.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_named_in_the_notation_of_each_interface() {
        use Wording::{PythonPath, PythonRead, Shell};
        let all = [Shell, PythonRead, PythonPath];
        assert_eq!(
            all.map(|w| w.column("drop", Some("a b"), 3)),
            ["--drop 'a b'", "drop=['a b']", "unmix.open(..., drop=['a b'])"]
        );
        assert_eq!(all.map(|w| w.column("drop", None, 3))[..2], ["--drop 3", "drop=[3]"]);
        assert_eq!(Shell.column("keep", Some("x,y"), 0), "--keep '\"x,y\"'");
        assert_eq!(Shell.column("drop", Some("mass (kg)"), 0), "--drop 'mass (kg)'");
        assert_eq!(Shell.column("drop", Some("it's $5"), 0), r"--drop 'it'\''s $5'");
        assert_eq!(Shell.column("drop", Some("6\" pipe"), 0), "--drop '\"6\"\" pipe\"'");
        assert_eq!(Shell.column("drop", Some("größe"), 0), "--drop größe");
        assert_eq!(Shell.plain("na", "?", true), "--na '?'");
        assert_eq!(PythonRead.column("drop", Some("it's"), 0), "drop=['it\\'s']");
        assert_eq!(all.map(|w| w.flag("header", false))[..2], ["--no-header", "header=False"]);
        assert_eq!(all.map(|w| w.plain("skip_rows", 2, false))[..2], ["--skip-rows 2", "skip_rows=2"]);
        assert_eq!(all.map(|w| w.plain("columns", "0-2", true))[..2], ["--columns 0-2", "columns='0-2'"]);
        assert_eq!(all.map(|w| w.size("patches", 11, 7))[..2], ["--patches 11x7", "patches=(11, 7)"]);
        assert_eq!(
            all.map(|w| w.axes("rows_axis", 0..2)),
            ["--rows-axis 0,1", "rows_axis=(0, 1)", "unmix.open(..., rows_axis=(0, 1))"]
        );
        assert_eq!(all.map(|w| w.first_rows(7))[..2], ["--rows :7", "rows=(0, 7)"]);
        let values = |value: &dyn Fn(Wording) -> String| [Shell, PythonRead].map(value);
        assert_eq!(values(&|w| w.size_value(3, 4)), ["3x4", "(3, 4)"]);
        assert_eq!(values(&|w| w.rows_value(3, Some(9))), ["3:9", "(3, 9)"]);
        assert_eq!(values(&|w| w.rows_value(3, None)), ["3:", "(3, None)"]);
        assert_eq!(values(&|w| w.text_value("it's")), ["it's", "'it\\'s'"]);
        let entries = ["a", "0", "5-9"].map(String::from);
        assert_eq!(values(&|w| w.columns_value("a,0,5-9", &entries)), ["a,0,5-9", "['a', 0, '5-9']"]);
        assert_eq!(values(&|w| w.axes_value(&[0, 2])), ["0,2", "(0, 2)"]);
        assert_eq!(values(&|w| w.axes_value(&[5])), ["5", "5"]);
        let names = ["a".to_string(), "b,c".into()];
        assert_eq!(
            all.map(|w| w.columns("columns", &names))[..2],
            ["--columns 'a,\"b,c\"'", "columns='a,\"b,c\"'"]
        );
        assert!(Shell.without_column(None, 1).contains("--keep 1"));
        let rust = Wording::default();
        assert_eq!(
            [rust.column("drop", Some("a b"), 3), rust.column("drop", None, 3)],
            ["drop=a b", "drop=3"]
        );
        assert_eq!(
            [rust.flag("header", false), rust.plain("skip_rows", 2, false)],
            ["header=false", "skip_rows=2"]
        );
        assert_eq!([rust.first_rows(7), rust.rows_value(3, None)], ["rows=(0, Some(7))", "(3, None)"]);
        assert_eq!(rust.name("input_format"), "input_format");
        assert_eq!(
            rust.without_column(None, 1),
            "leave the column out with drop=1, or read it as text with keep=1"
        );
        assert_eq!(PythonRead.without_column(None, 1), "leave the column out with drop=[1]");
    }
}
