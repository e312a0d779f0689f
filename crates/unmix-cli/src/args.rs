//! The command line: the commands (verbs, in the code) and their help; `verbs` has the options of each, `reading` those that several share.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};

mod deferred;
mod reading;
mod verbs;

pub(crate) use deferred::Deferred;
pub(crate) use reading::*;
pub(crate) use verbs::*;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Cyan.on_default().bold())
    .usage(AnsiColor::Cyan.on_default().bold())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Yellow.on_default());

/// Linear structure and independent sources, learned from a file.
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
Typical steps, from a file to a report:
  unmix demo                                   try it on generated data
  unmix fit pca data.csv -k 10                 fit a model: data.pca.safetensors
  unmix encode data.pca.safetensors data.csv   10 numbers for each row
  unmix report data.pca.safetensors data.csv   one page: report.html";

const AFTER: &str = "\
Rows are samples and columns are features; use --transpose if columns are samples.
Results go to standard output or to -o, progress and warnings to standard error.
Exit code: 0 done, 1 the data or the fit failed, 2 wrong usage, 130 interrupted.
'unmix COMMAND --help' shows examples.";

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Run the main steps on synthetic data and compare the result with the ground truth
    #[command(after_help = "\
Examples:
  unmix demo                 writes data, model, codes and a page into unmix-demo/
  unmix demo -o /tmp/first   writes them elsewhere
  unmix demo --seed 7        other data of the same kind")]
    Demo(Deferred<Demo>),
    /// Fit a model to a file
    #[command(after_help = "\
Examples:
  unmix fit pca data.csv -k 10                          ten components: data.pca.safetensors
  unmix fit pca digits.npy -k 0.9 -o d.safetensors      enough for more than 90 % of the variance
  unmix fit pca eeg.npy --transpose --set whiten=true   rows are channels; unit variance
  unmix fit pca table.csv --drop id,date -k mle         without two columns; Minka's rule
  unmix fit pca survey.csv --weights-column count       rows with frequencies
  unmix fit pca sheet.csv --keep id --decimal , --missing drop
                                                        decimal commas; without rows with missing cells

'unmix methods pca' lists the settings that --set takes.")]
    Fit(Deferred<Fit>),
    /// Encode rows: one number (code, score) for each component
    #[command(after_help = "\
Examples:
  unmix encode data.pca.safetensors data.csv                          text, to the terminal
  unmix encode data.pca.safetensors data.npy -o codes.npy             an array
  unmix encode data.pca.safetensors data.csv --keep id -o codes.csv   with column 'id'
  unmix encode voices.ica.safetensors left.wav right.wav -o voices/   a sound file for each source
  unmix encode data.subspace-clustering.safetensors data.csv --labels   the cluster of each row

Where INPUT is sound files, -o may also be a folder: a .wav file is written for each source.
Where the model and the file both have column names, columns are matched by name.")]
    Encode(Deferred<Encode>),
    /// Decode codes to rows
    #[command(after_help = "\
Examples:
  unmix decode data.pca.safetensors codes.npy -o rows.npy
  unmix decode data.pca.safetensors codes.csv --keep id -o rows.csv")]
    Decode(Deferred<Apply>),
    /// Reconstruct rows: encode, then decode, with the offsets of rows of a matrix completion; or remove components from rows
    #[command(after_help = "\
Examples:
  unmix reconstruct digits.pca.safetensors digits.npy -o clean.npy   an array of pictures
  unmix reconstruct data.pca.safetensors data.csv > kept.csv
  unmix reconstruct eeg.ica.safetensors eeg.npy --exclude 0,3 -o clean.npy   without two of its sources
  unmix reconstruct eeg.ica.safetensors eeg.npy --only 2 -o heart.npy        one source, and the mean
  unmix reconstruct voices.ica.safetensors left.wav right.wav --exclude 0 -o clean/   cleaned sound files
  unmix reconstruct a.pca.safetensors p.jpg --patches 8x8 --stride 1 -o q.png   patches put together

Rows are replaced by what the components explain of them. With --exclude, only the contribution of
these components is subtracted: everything else is unchanged, also what no component explains.

Where INPUT is sound files, -o may also be a folder: a .wav file is written for each channel. Where
INPUT is pictures, -o may also be a folder of .png files, or one .png file for a single picture.")]
    Reconstruct(Deferred<Reconstruct>),
    /// Fill missing cells by a model that accepts them
    #[command(after_help = "\
Examples:
  unmix fit ppca data.csv                                           empty cells, NA and NaN are missing
  unmix impute data.ppca.safetensors data.csv -o full.csv           observed cells are left unchanged
  unmix impute data.ppca.safetensors data.csv -o full.csv --std errors.csv
  unmix impute data.ppca.safetensors data.csv -o full.csv --draws 5     also full.1.csv to full.5.csv

Standard errors are those of a new observation of the cell. For the rows of the fit they include the uncertainty
of the parameters: as the model stores it (matrix-completion), or by the bootstrap (refits to resampled rows).")]
    Impute(Deferred<Impute>),
    /// Score rows: log-likelihood, or reconstruction error where the model has no likelihood
    #[command(after_help = "\
Examples:
  unmix score data.pca.safetensors new.csv              one number per row: its log-likelihood
  unmix score data.pca.safetensors new.csv --summary    their mean and range
  unmix score data.pca.safetensors new.npy -o scores.npy
  unmix score data.pca.safetensors new.csv --quality            two numbers per row: T2 and Q
  unmix score data.pca.safetensors new.csv --quality --parts -o q.csv
  unmix score eeg.ica.safetensors eeg.csv --reference eog       which sources are like a recorded channel
  unmix score ratings.safetensors hidden.csv --triplets --summary    errors of listed cells

Models without a likelihood (ica, rica, dictionary, ...) give the squared distance of each row from
its reconstruction, summed over the columns.
To encode rows (what PCA users call scores) use 'unmix encode'.

T2 (Hotelling): squared distance from the mean along the components, each in its standard deviations.
Q: squared distance from the subspace of the components. With --parts, also what they are made of:
t2_C and cos2_C for each component C (its term of T2; the squared cosine of the angle between row
and component), q_X for each column X (its term of Q).
T2 needs codes that are coordinates of the row along axes with variances: pca, neural-pca and
sigma-pca have it. Other models have Q alone (ppca, linear-eigengan and factor-analysis, whose
codes are posterior means, ica, rica, ...), or measures of sparse codes, such as their duality gap
(sparse-coder, lista, ...).")]
    Score(Deferred<Score>),
    /// Find modules (biclusters), sets of rows with sets of columns, by a model of non-negative codes
    #[command(after_help = "\
Examples:
  unmix fit rfn genes.csv -k 50 --set psi_min=0.3
  unmix biclusters genes.rfn.safetensors genes.csv -o modules.csv     members of all modules
  unmix biclusters genes.rfn.safetensors genes.csv --starts 0         units of the model alone, without refits

The settings of the model are fitted again from several starts, and to copies of the rows whose columns are permuted.
evidence: gain in log-likelihood by the rows and columns of the module, minus what a search over all sets of
this size gains by chance, in nats; stability: share of the starts that found the module; q: estimated false
discovery rate of the modules up to and including this line, which with N copies is at least 1/N for the first.
Judge a module by q first, then by stability. The verdict of 'unmix fit --stability' is about single units of
one fit, and can be 'not resolvable' where several starts find a module by different units.")]
    Biclusters(Deferred<Modules>),
    /// Merge models of parts of the data into one model of all rows
    #[command(after_help = "\
Examples:
  unmix fit pca january.npy --sums                       a model that can be merged
  unmix fit pca february.npy --sums
  unmix merge january.pca.safetensors february.pca.safetensors -o year.pca.safetensors

The settings are those of the first model. Equal to a fit of all rows at once, up to rounding.")]
    Merge(Deferred<Merge>),
    /// Write a sparse autoencoder as files of another program
    #[command(after_help = "\
Examples:
  unmix export activations.sae.safetensors -o sae --to saelens
  unmix export activations.sae.safetensors -o sae --to saelens --dtype bfloat16

Writes DIR/sae_weights.safetensors and DIR/cfg.json, which SAE.load_from_disk of SAELens reads. batch-topk is
written as jumprelu, with its threshold for every unit.")]
    Export(Deferred<Export>),
    /// Read a sparse autoencoder of another program
    #[command(after_help = "\
Examples:
  unmix import sae -o downloaded.sae.safetensors      a folder that save_model of SAELens has written

Unit indices are preserved. Not supported, and rejected with the reason: other architectures, normalised or
reshaped rows, topk without k, pickled files.")]
    Import(Deferred<Import>),
    /// Describe a model or a data file
    #[command(after_help = "\
Examples:
  unmix show data.csv                       shape, columns, missing cells, memory for a fit
  unmix show shards/                        the tables in a folder, as one
  unmix show data.pca.safetensors           the data, the settings and the outcome of the fit
  unmix show data.pca.safetensors --json    the same for a script
  unmix show scores.factor-analysis.safetensors --loadings loadings.csv    loadings, uniquenesses, communalities")]
    Show(Deferred<Show>),
    /// Compare the rules for the number of components
    #[command(after_help = "\
Examples:
  unmix select data.csv                            rules that need only the variances
  unmix select data.npy --rules minka,bic,0.9      two of them, and a share of the variance
  unmix select data.csv --rules parallel,cv        these two need the rows, in memory
  unmix select data.csv --json                     the same for a script, with the spectrum
  unmix select gaps.csv --method ppca              one table over k: log-likelihood, AIC, BIC, held-out cells

Rules of pca: minka (or mle), bic, gavish-donoho, gap, gap-difference, share, parallel, cv.
Rules of the methods with a likelihood (ppca, linear-eigengan, factor-analysis): aic, bic, cells.")]
    Select(Deferred<Select>),
    /// Write one self-contained HTML page about a model, and about rows when given
    #[command(after_help = "\
Examples:
  unmix report data.pca.safetensors                               the model alone: report.html
  unmix report data.pca.safetensors data.csv --color species      points coloured by a column
  unmix report digits.pca.safetensors digits.npy --color labels.npy -o digits.html
  unmix report genes.pca.safetensors genes.npy --color patients.csv:diagnosis
  unmix report ratings.safetensors ratings.csv --triplets         rows given by a list of cells")]
    Report(Deferred<Report>),
    /// Reproduce published experiments: figures, and numbers next to the published ones
    #[command(after_help = "\
Examples:
  unmix reproduce --list                                     the experiments
  unmix reproduce signals                                    one of them: unmix-reproduce/index.html
  unmix reproduce signals points -o figures                  two of them on one page
  unmix reproduce --quick                                    all of them, on smaller data
  unmix reproduce filters --pictures data_batch_1.bin        patches of the published pictures")]
    Reproduce(Deferred<crate::reproduce::Reproduce>),
    /// List the methods, or the settings of a method
    #[command(after_help = "\
Examples:
  unmix methods
  unmix methods pca
  unmix methods --json")]
    Methods(Deferred<Methods>),
    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  unmix completions bash > ~/.local/share/bash-completion/completions/unmix
  unmix completions fish > ~/.config/fish/completions/unmix.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of the program, or of one command
    #[command(after_help = "\
Examples:
  unmix man | man -l -
  unmix man fit > unmix-fit.1")]
    Man {
        /// The command
        verb: Option<String>,
    },
}
