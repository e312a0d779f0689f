//! `unmix reproduce`: published experiments, figures, and numbers compared with the published ones.

use crate::args::Running;
use crate::failure::{Done, Failure};
use crate::output::own_folder;
use crate::progress::Progress;
use crate::terminal::{self, FAINT, TITLE, TYPED, paint};
use std::path::PathBuf;
use unmix_reproduce::{EXPERIMENTS, Options, chosen, reproduce as run_experiments};

/// Command-line arguments.
#[derive(clap::Args, Debug)]
pub(crate) struct Reproduce {
    /// Experiments by their keys [default: all]
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiments: Vec<String>,
    /// List the experiments
    #[arg(long, conflicts_with = "experiments")]
    pub(crate) list: bool,
    /// Smaller data and fewer repetitions
    #[arg(long)]
    pub(crate) quick: bool,
    /// Pictures to cut patches from: a CIFAR-10 batch (.bin, .bin.gz), MNIST's idx file, or a folder of images (rfn-filters:
    /// a folder with all of them) [default: pictures made by seeded code]
    #[arg(long, value_name = "PATH")]
    pub(crate) pictures: Option<PathBuf>,
    /// Activations of a language model, a row for each token, for sae-activations: a .npy file or any other table [default: that part
    /// is left out]
    #[arg(long, value_name = "FILE")]
    pub(crate) activations: Option<PathBuf>,
    /// Folder of tables whose rows have classes: folders gene_golub and so on with X.npy and y.npy (rfn-modules) [default: that part
    /// is left out]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) tables: Option<PathBuf>,
    /// Number of instances, for experiments on instances of synthetic data (rfn-tables: 4, 100 are published; rfn-modules: 10), or of seeds
    /// (rfn-pretraining: 3)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) instances: Option<u64>,
    /// Folder for figures and tables
    #[arg(short, long, value_name = "DIR", default_value = "unmix-reproduce")]
    pub(crate) output: PathBuf,
    /// Exit with code 1 if a condition does not hold
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) running: Running,
}

/// Runs experiments and prints their results.
pub(crate) fn reproduce(args: &Reproduce) -> Done {
    if args.list {
        return terminal::text(&list());
    }
    let misnamed = |e: unmix::Error| match e {
        unmix::Error::Unknown { .. } => Failure::Usage(e.to_string()),
        e => Failure::from(e),
    };
    // Keys are validated first: a typing error must not leave an empty folder.
    chosen(&args.experiments).map_err(misnamed)?;
    own_folder(&args.output, "index.html", "reproducing experiments")?;
    let progress = Progress::new(&args.running);
    let run = progress.run(&args.running);
    let options = Options {
        quick: args.quick,
        pictures: args.pictures.clone(),
        activations: args.activations.clone(),
        tables: args.tables.clone(),
        instances: args.instances,
        output: args.output.clone(),
    };
    let done = run_experiments(&args.experiments, &options, &run, |experiment| {
        if !args.running.quiet {
            progress.clear();
            terminal::note(experiment.key);
        }
    })
    .map_err(misnamed)?;
    progress.clear();
    let mut out = String::new();
    let mut failed = 0;
    for (experiment, results) in &done {
        let conditions = results.numbers.iter().filter(|n| n.condition.is_some()).count();
        let misses: Vec<_> = results.failed().collect();
        failed += misses.len();
        out += &format!(
            "{}  {}\n",
            paint(TITLE, format!("{:18}", experiment.key)),
            match (conditions, misses.len()) {
                (0, _) => "figures and numbers".to_string(),
                (1, 0) => "the condition holds".into(),
                (all, 0) => format!("all {all} conditions hold"),
                (all, some) => format!("{} of {all} conditions hold", all - some),
            }
        );
        for n in misses {
            let (condition, _) = n.condition.clone().unwrap_or_default();
            out += &format!(
                "  {}: {:.4}, published {}, condition: {condition}\n",
                n.quantity, n.ours, n.published
            );
        }
    }
    let index = args.output.join("index.html").display().to_string();
    out += &format!("\n{}  (open it in a browser)\n", paint(TYPED, index));
    terminal::text(&out)?;
    Ok(i32::from(args.strict && failed > 0))
}

fn list() -> String {
    let mut out = String::new();
    for e in EXPERIMENTS {
        out += &format!(
            "{}  {}\n{:18}  {}\n",
            paint(TITLE, format!("{:18}", e.key)),
            e.summary,
            "",
            paint(FAINT, e.source)
        );
    }
    out + &format!("\nunmix reproduce {} --quick\n", EXPERIMENTS[0].key)
}
