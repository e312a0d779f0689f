//! The table of the options of reading that users give.

/// An option of reading, by the names that it has in each interface.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadingOption {
    /// Its name in messages, and as an argument of `unmix.open` if it is one.
    pub name: &'static str,
    /// The field of [`Options`](crate::Options) that it sets.
    pub field: &'static str,
    /// Its flags on the command line.
    pub flags: &'static [&'static str],
    /// A value that is not the default; empty for flags without a value.
    pub example: &'static str,
    /// Whether Python has it.
    pub in_python: bool,
}

const fn option(
    name: &'static str,
    field: &'static str,
    flags: &'static [&'static str],
    example: &'static str,
) -> ReadingOption {
    ReadingOption { name, field, flags, example, in_python: true }
}

/// All options of reading that users give. The command line, its record in a model file, Python's `unmix.open` with its types, and the page on files list them
/// again, each in its own notation; tests compare these with the table, so that an option that is added here cannot be forgotten there.
pub const READING_OPTIONS: &[ReadingOption] = &[
    option("input_format", "input_format", &["--input-format"], "csv"),
    option("columns", "columns", &["--columns"], "a,5-9"),
    option("drop", "drop", &["--drop"], "b"),
    // Codes in Python are arrays, which have no columns of text.
    ReadingOption { in_python: false, ..option("keep", "keep", &["--keep"], "label") },
    option("names", "names", &["--names"], "names.txt"),
    option("key", "key", &["--key"], "x"),
    option("transpose", "transpose", &["--transpose"], ""),
    option("rows_axis", "rows_axis", &["--rows-axis"], "0,2"),
    option("feature_shape", "feature_shape", &["--feature-shape"], "28x28"),
    option("header", "header", &["--header", "--no-header"], ""),
    option("skip_rows", "skip_rows", &["--skip-rows"], "2"),
    option("delimiter", "delimiter", &["--delimiter"], ";"),
    option("decimal", "decimal_comma", &["--decimal"], ","),
    option("na", "na", &["--na"], "?,-"),
    option("missing", "missing", &["--missing"], "drop"),
    option("dtype", "dtype", &["--dtype"], "float32"),
    option("rows", "rows", &["--rows"], "100:200"),
    option("grey", "pixels", &["--grey"], ""),
    option("rgb", "pixels", &["--rgb"], ""),
    option("patches", "patches", &["--patches"], "11x7"),
    option("stride", "patches", &["--stride"], "3"),
    option("padding", "patches", &["--padding"], "5"),
    option("number", "patches", &["--number"], "50"),
    option("patch_seed", "patches", &["--patch-seed"], "4"),
    option("normalise", "patches", &["--normalise"], ""),
    option("triplets", "triplets", &["--triplets"], ""),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use std::collections::BTreeSet;

    /// The names of all fields: the compiler refuses a list that is not complete.
    macro_rules! fields {
        ($($field:ident),*) => {{
            let Options { $($field: _),* } = Options::default();
            [$(stringify!($field)),*]
        }};
    }

    #[test]
    fn every_field_has_an_option_or_is_set_by_callers_alone() {
        let fields = fields!(
            input_format,
            by_contents,
            transpose,
            rows_axis,
            feature_shape,
            columns,
            drop,
            keep,
            copied,
            copied_stay,
            header,
            skip_rows,
            delimiter,
            decimal_comma,
            na,
            missing,
            rows,
            dtype,
            wanted,
            wanted_once,
            names,
            unnamed,
            triplets,
            n_features,
            count_text,
            row_names,
            wording,
            key,
            patches,
            pixels
        );
        let by_callers = [
            "by_contents",
            "copied",
            "copied_stay",
            "wanted",
            "wanted_once",
            "unnamed",
            "n_features",
            "count_text",
            "row_names",
            "wording",
        ];
        let of_options: BTreeSet<&str> =
            READING_OPTIONS.iter().map(|option| option.field).chain(by_callers).collect();
        assert_eq!(fields.into_iter().collect::<BTreeSet<_>>(), of_options);
    }
}
