//! What can be typed: verbs, flags, and the help that teaches them.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use unmix_io::{Patches, Pixels};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Cyan.on_default().bold())
    .usage(AnsiColor::Cyan.on_default().bold())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Yellow.on_default());

/// Linear and independent structure, learned from a file.
#[derive(Parser, Debug)]
#[command(name = "unmix", bin_name = "unmix", version, styles = STYLES, max_term_width = 100)]
#[command(arg_required_else_help = true, subcommand_required = true, disable_help_subcommand = true)]
#[command(before_help = MAIN_PATH, after_help = AFTER, help_template = TEMPLATE)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

const MAIN_PATH: &str = "\
The main path, from a file to a page that you can open:
  unmix demo                                   see it work on data made here
  unmix fit pca data.csv -k 10                 fit a model: data.pca.safetensors
  unmix encode data.pca.safetensors data.csv   10 numbers for each row
  unmix report data.pca.safetensors data.csv   one page: report.html";

const AFTER: &str = "\
Rows are samples and columns are features; --transpose where it is the other way round.
Results go to standard output or to -o, progress and warnings to standard error.
Exit code: 0 done, 1 the data or the fit failed, 2 wrong usage, 130 interrupted.
'unmix VERB --help' shows examples.";

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Show the main job on data made by seeded code, the truth beside the result
    #[command(after_help = "\
Examples:
  unmix demo                 writes data, model, codes and a page into unmix-demo/
  unmix demo -o /tmp/first   writes them elsewhere
  unmix demo --seed 7        other data of the same kind")]
    Demo(Demo),
    /// Fit a model to a file
    #[command(after_help = "\
Examples:
  unmix fit pca data.csv -k 10                          ten components: data.pca.safetensors
  unmix fit pca digits.npy -k 0.9 -o d.safetensors      enough for more than 90 % of the variance
  unmix fit pca eeg.npy --transpose --set whiten=true   rows are channels; unit variance
  unmix fit pca table.csv --drop id,date -k mle         without two columns; Minka's rule
  unmix fit pca survey.csv --weights-column count       rows that count more than once

'unmix methods pca' lists the settings that --set takes.")]
    Fit(Fit),
    /// Rows to codes: one number for each component
    #[command(after_help = "\
Examples:
  unmix encode data.pca.safetensors data.csv                          text, to the terminal
  unmix encode data.pca.safetensors data.npy -o codes.npy             an array
  unmix encode data.pca.safetensors data.csv --keep id -o codes.csv   with column 'id' beside
  unmix encode voices.ica.safetensors left.wav right.wav -o voices/   a sound file for each source

Where the model and the file both have column names, columns are matched by name.")]
    Encode(Apply),
    /// Codes back to rows
    #[command(after_help = "\
Examples:
  unmix decode data.pca.safetensors codes.npy -o rows.npy
  unmix decode data.pca.safetensors codes.csv --keep id -o rows.csv")]
    Decode(Apply),
    /// Rows to codes and back: what the model keeps of each row
    #[command(after_help = "\
Examples:
  unmix reconstruct digits.pca.safetensors digits.npy -o clean.npy   pictures stay pictures
  unmix reconstruct data.pca.safetensors data.csv > kept.csv
  unmix reconstruct eeg.ica.safetensors eeg.npy --exclude 0,3 -o clean.npy   without two of its sources")]
    Reconstruct(Reconstruct),
    /// Log-likelihood of each row, where the model has one, or how far it is from what the model knows
    #[command(after_help = "\
Examples:
  unmix score data.pca.safetensors new.csv              one number a row: low ones are unlike the rest
  unmix score data.pca.safetensors new.csv --summary    their mean and range
  unmix score data.pca.safetensors new.npy -o scores.npy
  unmix score data.pca.safetensors new.csv --quality            two numbers a row: T2 and Q
  unmix score data.pca.safetensors new.csv --quality --parts -o q.csv
  unmix score eeg.ica.safetensors eeg.csv --reference eog       which sources are like a recorded channel

T2 (Hotelling): squared distance from the mean along the components, each in its standard deviations.
Q: squared distance from the subspace of the components. With --parts, also what they are made of:
t2_C and cos2_C for each component C (its term of T2; the squared cosine of the angle between row
and component), q_X for each column X (its term of Q).")]
    Score(Score),
    /// Models of parts of the data to one model of all of it
    #[command(after_help = "\
Examples:
  unmix fit pca january.npy --sums                       a model that can be merged
  unmix fit pca february.npy --sums
  unmix merge january.pca.safetensors february.pca.safetensors -o year.pca.safetensors

The settings are those of the first model. Equal to a fit of all rows at once, up to rounding.")]
    Merge(Merge),
    /// What is in a model or in a data file
    #[command(after_help = "\
Examples:
  unmix show data.csv                       shape, columns, missing cells, memory for a fit
  unmix show data.pca.safetensors           what was fitted on what, and how it ended
  unmix show data.pca.safetensors --json    the same for a script")]
    Show(Show),
    /// How many components to keep, by every rule side by side
    #[command(after_help = "\
Examples:
  unmix select data.csv                            rules that look at the variances: quick
  unmix select data.npy --rules minka,bic,0.9      two of them, and a share of the variance
  unmix select data.csv --rules parallel,cv        these two look at the rows, in memory
  unmix select data.csv --json                     the same for a script, with the spectrum

Rules: minka (or mle), bic, gavish-donoho, gap, gap-difference, share, parallel, cv.")]
    Select(Select),
    /// Write one self-contained page about a model, and about rows when given
    #[command(after_help = "\
Examples:
  unmix report data.pca.safetensors                               the model alone: report.html
  unmix report data.pca.safetensors data.csv --color species      points coloured by a column
  unmix report digits.pca.safetensors digits.npy --color labels.npy -o digits.html")]
    Report(Report),
    /// Make published experiments again: figures, and numbers beside the published ones
    #[command(after_help = "\
Examples:
  unmix reproduce --list                                     what there is
  unmix reproduce signals                                    one of them: unmix-reproduce/index.html
  unmix reproduce --quick                                    all of them, on smaller data
  unmix reproduce filters --pictures data_batch_1.bin        patches of the published pictures")]
    Reproduce(crate::reproduce::Reproduce),
    /// List the methods, or the settings of one
    #[command(after_help = "\
Examples:
  unmix methods
  unmix methods pca
  unmix methods --json")]
    Methods(Methods),
    /// Print a script that completes what you type in your shell
    #[command(after_help = "\
Examples:
  unmix completions bash > ~/.local/share/bash-completion/completions/unmix
  unmix completions fish > ~/.config/fish/completions/unmix.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of the program or of one verb
    #[command(after_help = "\
Examples:
  unmix man | man -l -
  unmix man fit > unmix-fit.1")]
    Man {
        /// The verb
        verb: Option<String>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Folder for what it writes
    #[arg(short, long, value_name = "DIR", default_value = "unmix-demo")]
    pub(crate) output: PathBuf,
    /// Where random draws begin
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct Fit {
    /// The method: see 'unmix methods'
    pub(crate) method: String,
    #[command(flatten)]
    pub(crate) input: Inputs,
    /// How many components: a number, a share of the variance such as 0.9, 'all', or a rule (see --help)
    ///
    /// Rules: 'mle' (Minka's), 'bic', 'gavish-donoho', 'parallel', 'cv'; 'unmix select' shows what each of them says.
    #[arg(short = 'k', long = "components", value_name = "N", allow_hyphen_values = true)]
    pub(crate) k: Option<String>,
    /// The model file [default: <name of INPUT>.<method>.safetensors in this folder]
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// A setting of the method, as in whiten=true; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, serde_json::Value)>,
    /// Where random draws begin
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Stop iterating after S seconds and keep what was reached
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) max_seconds: Option<f64>,
    /// Exit with code 1 when the fit did not converge
    #[arg(long)]
    pub(crate) strict: bool,
    /// Replace an existing file even if it is not an unmix model
    #[arg(long)]
    pub(crate) force: bool,
    /// Names of the columns, where INPUT has none: one a line, or a table with a column 'name' or 'label'
    #[arg(long, value_name = "FILE")]
    pub(crate) names: Option<PathBuf>,
    /// How often each row counts: a file with one number for each row
    #[arg(long, value_name = "FILE", conflicts_with = "weights_column")]
    pub(crate) weights: Option<PathBuf>,
    /// How often each row counts: a column of INPUT, by name or number
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weights_column: Option<String>,
    /// Say what is found again: cut the rows N times into halves, fit each, and fit all rows from N other seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) stability: Option<u16>,
    /// Keep the sums over the rows in the model, so that models can be merged and grown
    #[arg(long)]
    pub(crate) sums: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct Merge {
    /// Models that hold their sums: fitted with --sums, or grown by partial_fit
    #[arg(value_name = "MODEL", required = true, num_args = 2..)]
    pub(crate) models: Vec<PathBuf>,
    /// The model file
    #[arg(short, long, value_name = "MODEL", default_value = "merged.safetensors")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file even if it is not an unmix model
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct Apply {
    /// A model that 'unmix fit' has written
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) input: Inputs,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct Reconstruct {
    #[command(flatten)]
    pub(crate) apply: Apply,
    /// Components that count as 0, by number from 0, as in 0,3
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) exclude: Vec<usize>,
}

#[derive(Args, Debug)]
pub(crate) struct Score {
    #[command(flatten)]
    pub(crate) apply: Apply,
    /// Print the mean and the range instead of one number a row
    #[arg(long, conflicts_with_all = ["output", "format"])]
    pub(crate) summary: bool,
    /// Write T2 and Q of each row in place of its log-likelihood
    #[arg(long, conflicts_with = "summary")]
    pub(crate) quality: bool,
    /// With --quality: also the part of each component and of each column
    #[arg(long, requires = "quality")]
    pub(crate) parts: bool,
    /// Write the correlation of each component with a file's columns, or with a column of INPUT, instead
    #[arg(long, value_name = "FILE|COLUMN", conflicts_with_all = ["summary", "quality"])]
    pub(crate) reference: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// A model or a data file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct Select {
    #[command(flatten)]
    pub(crate) input: Inputs,
    /// Rules, separated by commas; a number is a share of the variance [default: all but parallel and cv]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) rules: Vec<String>,
    /// Where the random draws of parallel and cv begin
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct Report {
    /// A model that 'unmix fit' has written
    pub(crate) model: PathBuf,
    /// Rows to show through the model
    #[arg(value_name = "INPUT")]
    pub(crate) input: Vec<PathBuf>,
    /// The page
    #[arg(short, long, value_name = "PAGE", default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// Rows a second: draws time courses and spectra [default: what .wav files say]
    #[arg(long, value_name = "HZ", requires = "input", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Where the sensor of each column is: a table with columns x and y, or theta_deg (from the nose) and radius
    #[arg(long, value_name = "FILE")]
    pub(crate) positions: Option<PathBuf>,
    /// Another model of the same columns, whose components are paired with this one's
    #[arg(long, value_name = "MODEL")]
    pub(crate) beside: Option<PathBuf>,
    /// Colour points by a column of INPUT (name or number), or by a file with one value a row
    #[arg(long, value_name = "FILE|COLUMN", requires = "input")]
    pub(crate) color: Option<String>,
    /// Title of the page
    #[arg(long)]
    pub(crate) title: Option<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct Methods {
    /// One method
    pub(crate) method: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is read as one table.
#[derive(Args, Debug)]
pub(crate) struct Inputs {
    /// Array, table, sound, image or folder of images; rows of several files follow each other; - is standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Writing {
    /// The output: .npy, .csv or .tsv, or - for standard output [default: -]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the output [default: by the ending of OUT, csv for standard output]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

/// Format of a table that is written.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text, separated by commas, with a header
    Csv,
    /// Text, separated by tabs, with a header
    Tsv,
    /// An array for numpy
    Npy,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Running")]
pub(crate) struct Running {
    /// Threads to use; never changes a result [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
    /// No progress, no hints
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// Rows are channels: read columns as samples
    #[arg(long)]
    pub(crate) transpose: bool,
    /// The axis of an n-dimensional array that runs over samples [default: 0]
    #[arg(long, value_name = "AXIS")]
    pub(crate) rows_axis: Option<usize>,
    /// Shape of one sample, as in 28x28, so that components are drawn as pictures
    #[arg(long, value_name = "SHAPE", value_parser = shape)]
    pub(crate) feature_shape: Option<Shape>,
    /// Columns to read, as in a,b,5-9: names, or numbers from 0
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) columns: Option<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) drop: Option<String>,
    /// Columns that are not features but are copied beside the codes, such as labels
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) keep: Option<String>,
    /// The first line of a text file holds names
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,
    /// The first line of a text file holds numbers
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Lines to pass over at the start of a text file
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) skip_rows: usize,
    /// Which array of a file that holds several
    #[arg(long, value_name = "NAME")]
    pub(crate) key: Option<String>,
    /// Read images in grey
    #[arg(long, conflicts_with = "rgb")]
    pub(crate) grey: bool,
    /// Read images in colour
    #[arg(long)]
    pub(crate) rgb: bool,
    /// Cut images into patches of this height and width, as in 11x11
    #[arg(long, value_name = "SIZE", value_parser = patch)]
    pub(crate) patches: Option<Shape>,
    /// Pixels from one patch to the next [default: side by side, or 1 with --number]
    #[arg(long, value_name = "N", requires = "patches")]
    pub(crate) stride: Option<usize>,
    /// Pixels by which images are made larger on every side, as in a mirror
    #[arg(long, value_name = "N", requires = "patches", default_value_t = 0, hide_default_value = true)]
    pub(crate) padding: usize,
    /// Draw this many patches, none of them twice
    #[arg(long, value_name = "N", requires = "patches")]
    pub(crate) number: Option<usize>,
    /// Where drawing patches begins
    #[arg(long, value_name = "N", requires = "number", default_value_t = 0, hide_default_value = true)]
    pub(crate) patch_seed: u64,
    /// Take each patch's mean off it and divide by its standard deviation
    #[arg(long, requires = "patches")]
    pub(crate) normalise: bool,
}

/// A list of columns with one more at its end.
pub(crate) fn column_list(list: Option<&str>, name: &str) -> String {
    let name = crate::input::column_word(name);
    list.map_or(name.clone(), |list| format!("{list},{name}"))
}

/// Lengths of the axes of one sample.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape(pub(crate) Vec<usize>);

impl Reading {
    pub(crate) fn options(&self) -> unmix_io::Options {
        unmix_io::Options {
            transpose: self.transpose,
            rows_axis: self.rows_axis,
            feature_shape: self.feature_shape.as_ref().map(|s| s.0.clone()),
            columns: self.columns.clone(),
            drop: self.drop.clone(),
            keep: self.keep.clone(),
            header: match (self.header, self.no_header) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            },
            skip_rows: self.skip_rows,
            key: self.key.clone(),
            patches: self.patches.as_ref().map(|size| self.cut(size)),
            pixels: match (self.grey, self.rgb) {
                (true, _) => Some(Pixels::Grey),
                (_, true) => Some(Pixels::Rgb),
                _ => None,
            },
            ..Default::default()
        }
    }

    /// How images are cut; `size` is a height and a width.
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

    /// The same flags, as they would be typed.
    pub(crate) fn typed(&self) -> Vec<String> {
        let mut out = Vec::new();
        let mut value = |flag: &str, v: Option<String>| {
            if let Some(v) = v {
                out.extend([flag.to_string(), v]);
            }
        };
        value("--rows-axis", self.rows_axis.map(|a| a.to_string()));
        let shape = |s: &Shape| s.0.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        value("--feature-shape", self.feature_shape.as_ref().map(shape));
        value("--columns", self.columns.clone());
        value("--drop", self.drop.clone());
        value("--keep", self.keep.clone());
        value("--skip-rows", (self.skip_rows > 0).then(|| self.skip_rows.to_string()));
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
        out.extend(flags.iter().filter(|(on, _)| *on).map(|(_, flag)| flag.to_string()));
        out
    }
}

fn shape(text: &str) -> Result<Shape, String> {
    let lengths: Option<Vec<usize>> = text.split(['x', ',']).map(|s| s.trim().parse().ok()).collect();
    match lengths {
        Some(lengths) if lengths.iter().all(|&d| d > 0) => Ok(Shape(lengths)),
        _ => Err("give the length of each axis, as in 28x28 or 3x32x32".into()),
    }
}

/// A height and a width.
fn patch(text: &str) -> Result<Shape, String> {
    match shape(text) {
        Ok(size) if size.0.len() == 2 => Ok(size),
        _ => Err("give a height and a width, as in 11x11".into()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s > 0.0 && s.is_finite() => Ok(s),
        _ => Err("give a number of seconds above 0".into()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(hz) if hz > 0.0 && hz.is_finite() => Ok(hz),
        _ => Err("give the number of rows a second, as in 250".into()),
    }
}

/// `key=value`; the value is JSON, or else a word.
fn key_value(text: &str) -> Result<(String, serde_json::Value), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE, as in whiten=true")?;
    if key.trim().is_empty() {
        return Err("write it as KEY=VALUE, as in whiten=true".into());
    }
    Ok((key.trim().into(), json_or_word(value.trim())))
}

/// A value as it was typed: JSON, or else a word.
pub(crate) fn json_or_word(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
