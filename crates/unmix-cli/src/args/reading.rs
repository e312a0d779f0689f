//! Options that several verbs share: input formats, output, and execution.

#[cfg(test)]
mod tests;

use crate::terminal;
use clap::builder::{NonEmptyStringValueParser, PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use unmix_io::{InputFormat, Patches, Pixels};

/// Files that are read as one table.
#[derive(Args, Debug)]
pub(crate) struct Inputs {
    /// Array, table, sound, image, or folder of images or of tables; rows of several files are concatenated; - is standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Writing {
    /// The output: .npy, .npz, .csv or .tsv, or - for standard output [default: -]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the output [default: by the extension of OUT, csv for standard output]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

/// Format of an output table.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text, separated by commas, with a header
    Csv,
    /// Text, separated by tabs, with a header
    Tsv,
    /// An array for numpy
    Npy,
    /// Entries that are not zero, for scipy: compressed sparse rows
    Npz,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Running")]
pub(crate) struct Running {
    /// Number of threads; results do not depend on it [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
    /// No progress, no notes about the input
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// Format of INPUT, named by an extension: csv, txt, npy, parquet, wav, png, ... [default: by its name, or its first bytes].
    /// Files given to other options are recognised by their first bytes
    #[arg(long, value_name = "FORMAT", value_parser = FormatParser, hide_possible_values = true)]
    pub(crate) input_format: Option<InputFormat>,
    /// Rows are channels: read columns as samples
    #[arg(long)]
    pub(crate) transpose: bool,
    /// Axes of the samples in an n-dimensional array, as in 0,2: rows run over both, the last one fastest [default: 0]
    #[arg(long, value_name = "AXES", value_delimiter = ',', value_parser = axis)]
    pub(crate) rows_axis: Vec<usize>,
    /// Shape of one sample, as in 28x28, so that components are drawn as pictures
    #[arg(long, value_name = "SHAPE", value_parser = shape)]
    pub(crate) feature_shape: Option<Shape>,
    /// Names of the columns, where INPUT has none: one per line, or a table with a column 'name' or 'label'
    #[arg(long, value_name = "FILE")]
    pub(crate) names: Option<PathBuf>,
    /// The names in that file, once it has been read: a pipe cannot be read again.
    #[arg(skip)]
    names_read: OnceLock<Vec<String>>,
    /// Columns to read, as in a,b,5-9: names, or numbers from 0
    #[arg(long, value_name = "COLUMNS", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) columns: Option<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMNS", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) drop: Option<String>,
    /// Columns that are not features but are copied to the output next to the codes, such as labels
    #[arg(long, value_name = "COLUMNS", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) keep: Option<String>,
    /// The first line of a text file holds names
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,
    /// The first line of a text file holds numbers
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Lines to skip at the start of a text file
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) skip_rows: usize,
    /// Delimiter of a text file: one character, or tab, or space for runs of blanks [default: detected]
    #[arg(long, value_name = "CHARACTER", allow_hyphen_values = true)]
    pub(crate) delimiter: Option<String>,
    /// Decimal separator of a text file: a point or a comma [default: .]
    #[arg(long, value_name = "MARK")]
    pub(crate) decimal: Option<String>,
    /// Marks of missing cells in a text file, as in '?,-', in addition to empty cells, NA, NaN and null
    #[arg(long, value_name = "CELLS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) na: Vec<String>,
    /// Rows with missing cells: keep or drop [default: keep]
    #[arg(long, value_name = "WHAT")]
    pub(crate) missing: Option<String>,
    /// Rows to use, as in 100:200, :50 or 100:, the end excluded
    #[arg(long, value_name = "ROWS")]
    pub(crate) rows: Option<String>,
    /// Precision of the computation: float32 or float64 [default: by the file]
    #[arg(long, value_name = "TYPE")]
    pub(crate) dtype: Option<String>,
    /// Name of the array in a file that holds several
    #[arg(long, value_name = "NAME")]
    pub(crate) key: Option<String>,
    /// Read images as greyscale
    #[arg(long, conflicts_with = "rgb")]
    pub(crate) grey: bool,
    /// Read images in colour
    #[arg(long)]
    pub(crate) rgb: bool,
    /// Cut images into patches of this height and width, as in 11x11
    #[arg(long, value_name = "SIZE", value_parser = patch)]
    pub(crate) patches: Option<Shape>,
    /// Stride of the patches, in pixels [default: the size of a patch, or 1 with --number]
    #[arg(long, value_name = "N", requires = "patches")]
    pub(crate) stride: Option<usize>,
    /// Padding in pixels on every side of an image, by reflection
    #[arg(long, value_name = "N", requires = "patches", default_value_t = 0, hide_default_value = true)]
    pub(crate) padding: usize,
    /// Draw this many patches at random, without replacement
    #[arg(long, value_name = "N", requires = "patches")]
    pub(crate) number: Option<usize>,
    /// Random seed of the patches drawn
    #[arg(long, value_name = "N", requires = "number", default_value_t = 0, hide_default_value = true)]
    pub(crate) patch_seed: u64,
    /// Standardise each patch: zero mean, unit variance
    #[arg(long, requires = "patches")]
    pub(crate) normalise: bool,
}

/// Parses the name of an input format; completions list those that there are.
#[derive(Clone)]
struct FormatParser;

impl TypedValueParser for FormatParser {
    type Value = InputFormat;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<InputFormat, clap::Error> {
        unmix_io::Options::input_format_of.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(InputFormat::all().map(|format| PossibleValue::new(format.name()))))
    }
}

/// Lengths of the axes of one sample.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape(pub(crate) Vec<usize>);

impl Reading {
    pub(crate) fn options(&self) -> unmix::Result<unmix_io::Options> {
        use unmix_io::Options;
        Ok(Options {
            wording: unmix_io::Wording::Shell,
            input_format: self.input_format,
            transpose: self.transpose,
            rows_axis: self.rows_axis.clone(),
            feature_shape: self.feature_shape.as_ref().map(|s| s.0.clone()),
            names: self.given_names()?,
            unnamed: self.names.is_some(),
            columns: self.columns.clone(),
            drop: self.drop.clone(),
            keep: self.keep.clone(),
            header: match (self.header, self.no_header) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            },
            skip_rows: self.skip_rows,
            delimiter: self.delimiter.as_deref().map(Options::delimiter_of).transpose()?,
            decimal_comma: self.decimal.as_deref().map(Options::decimal_of).transpose()?.unwrap_or(false),
            na: self.na.clone(),
            missing: self.missing.as_deref().map(Options::missing_of).transpose()?.unwrap_or_default(),
            rows: self.rows.as_deref().map(Options::rows_of).transpose()?,
            dtype: self.dtype.as_deref().map(Options::dtype_of).transpose()?,
            key: self.key.clone(),
            patches: self.patches.as_ref().map(|size| self.cut(size)),
            pixels: match (self.grey, self.rgb) {
                (true, _) => Some(Pixels::Grey),
                (_, true) => Some(Pixels::Rgb),
                _ => None,
            },
            ..Default::default()
        })
    }

    /// The names of `--names`, if there are any.
    pub(crate) fn given_names(&self) -> unmix::Result<Option<Vec<String>>> {
        let Some(path) = &self.names else { return Ok(None) };
        if self.names_read.get().is_none() {
            // No other thread sets it.
            let _ = self.names_read.set(crate::names::read(path)?);
        }
        Ok(self.names_read.get().cloned())
    }

    /// These files of a command, and those that its reading options name.
    pub(crate) fn files_read<'a>(&'a self, files: impl Iterator<Item = &'a PathBuf>) -> Vec<&'a Path> {
        files.chain(&self.names).map(PathBuf::as_path).collect()
    }

    /// Options of patches; `size` is a height and a width.
    fn cut(&self, size: &Shape) -> Patches {
        Patches {
            height: size.0[0],
            width: size.0[1],
            stride: self.stride,
            padding: self.padding,
            number: self.number,
            seed: self.patch_seed,
            normalise: self.normalise,
        }
    }

    /// The same options as command-line arguments.
    pub(crate) fn arguments(&self) -> Vec<String> {
        self.given().into_iter().flat_map(|(flag, value)| [Some(flag.to_string()), value]).flatten().collect()
    }

    /// The options that are given: flags, and their values where they have one.
    pub(crate) fn given(&self) -> Vec<(&'static str, Option<String>)> {
        let mut out = Vec::new();
        let mut value = |flag: &'static str, v: Option<String>| {
            if v.is_some() {
                out.push((flag, v));
            }
        };
        value("--input-format", self.input_format.map(|format| format.name().into()));
        let axes = self.rows_axis.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        value("--rows-axis", Some(axes).filter(|axes| !axes.is_empty()));
        let shape = |s: &Shape| s.0.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        value("--feature-shape", self.feature_shape.as_ref().map(shape));
        value("--names", self.names.as_deref().map(terminal::path_argument));
        value("--columns", self.columns.clone());
        value("--drop", self.drop.clone());
        value("--keep", self.keep.clone());
        value("--skip-rows", (self.skip_rows > 0).then(|| self.skip_rows.to_string()));
        value("--delimiter", self.delimiter.clone());
        value("--decimal", self.decimal.clone());
        value("--na", Some(self.na.join(",")).filter(|na| !na.is_empty()));
        value("--missing", self.missing.clone());
        value("--rows", self.rows.clone());
        value("--dtype", self.dtype.clone());
        value("--key", self.key.clone());
        value("--patches", self.patches.as_ref().map(shape));
        value("--stride", self.stride.map(|n| n.to_string()));
        value("--padding", (self.padding > 0).then(|| self.padding.to_string()));
        value("--number", self.number.map(|n| n.to_string()));
        value("--patch-seed", (self.patch_seed > 0).then(|| self.patch_seed.to_string()));
        let flags = [
            (self.transpose, "--transpose"),
            (self.header, "--header"),
            (self.no_header, "--no-header"),
            (self.grey, "--grey"),
            (self.rgb, "--rgb"),
            (self.normalise, "--normalise"),
        ];
        out.extend(flags.into_iter().filter(|(on, _)| *on).map(|(_, flag)| (flag, None)));
        out
    }
}

/// A list of columns with this one as the last; it is in the list once.
pub(crate) fn column_list(list: Option<&str>, name: &str) -> String {
    let word = crate::input::column_word(name);
    let mut words = list.map_or(vec![], column_words);
    words.retain(|other| *other != word);
    words.push(&word);
    words.join(",")
}

/// Whether a list of columns has this one as an entry of its own.
pub(crate) fn lists_column(list: &str, name: &str) -> bool {
    column_words(list).contains(&crate::input::column_word(name).as_str())
}

/// The entries of a list of columns; commas in double quotes separate none.
fn column_words(list: &str) -> Vec<&str> {
    let mut quoted = false;
    let entries = list.split(|c| {
        quoted ^= c == '"';
        c == ',' && !quoted
    });
    entries.map(str::trim).filter(|word| !word.is_empty()).collect()
}

fn shape(text: &str) -> Result<Shape, String> {
    let lengths: Option<Vec<usize>> = text.split(['x', ',']).map(|s| s.trim().parse().ok()).collect();
    match lengths {
        Some(lengths) if lengths.iter().all(|&d| d > 0) => Ok(Shape(lengths)),
        _ => Err("give the length of each axis, as in 28x28 or 3x32x32".into()),
    }
}

fn axis(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| "give the number of an axis, from 0, or several as in 0,2".into())
}

/// A height and a width.
fn patch(text: &str) -> Result<Shape, String> {
    match shape(text) {
        Ok(size) if size.0.len() == 2 => Ok(size),
        _ => Err("give a height and a width, as in 11x11".into()),
    }
}
