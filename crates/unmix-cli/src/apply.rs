//! Commands that apply a model to rows: encode, decode, reconstruct, score.

use crate::args::{Apply, Encode, Reconstruct, Score};
use crate::failure::{Done, Failure};
use crate::input::{self, check_order};
use crate::output::{Output, Shape, TableWriter};
use crate::progress::Progress;
use crate::score::Scored;
use crate::{cells, choice, list, picture, reference, sound, terminal};
use std::path::{Path, PathBuf};
use unmix::data::{Sink, VecSink};
use unmix::internal::error::counted;
use unmix::method::sae;
use unmix::model::{Encoded, Measures, Parts};
use unmix::{Dtype, Model, Real, Rows, Run, with_rows};
use unmix_io::Input;

/// `unmix encode`: from rows to codes.
pub(crate) fn encode(args: &Encode) -> Done {
    let (args, labels, triplets) = (&args.apply, args.labels, args.triplets);
    // Labels are a table, not sound.
    let folder = if labels { None } else { sound::folder(args)? };
    let job = match &folder {
        // A folder receives a sound file for each source.
        Some(_) => {
            let files = args.input.files(&args.reading)?;
            check_order(&args.model, &files)?;
            Job { args, triplets, files, model: Model::load(&args.model)?, output: Output::none() }
        }
        None => Job { triplets, ..Job::new(args, &[])? },
    };
    if job.model.n_components() == 0 {
        let name = args.model.display();
        let remedy = match choice::takes_k(job.model.method()) {
            Ok(()) => "fit a model with -k 1 or more",
            Err(_) => "fit a model with other settings",
        };
        let message = format!("encoding by {name} is not possible: it has 0 components; {remedy}");
        return Err(Failure::Message(message));
    }
    if let Some(folder) = &folder {
        return sound::encode(&job.model, &job.files, args, folder);
    }
    job.rows(if labels { &Map::Labels } else { &Map::Encode })
}

/// `unmix decode`: from codes to rows.
pub(crate) fn decode(args: &Apply) -> Done {
    Job::new(args, &[])?.rows(&Map::Decode)
}

/// Which part of the rows `unmix reconstruct` writes.
#[derive(Debug, PartialEq)]
pub(crate) enum ReconstructedPart {
    /// The rows, without the contribution of these components.
    Without(Vec<usize>),
    /// What the components explain, all except these.
    Explained(Vec<usize>),
}

impl ReconstructedPart {
    fn of(args: &Reconstruct, model: &Model) -> unmix::Result<Self> {
        if !args.exclude.is_empty() {
            return Ok(Self::Without(model.choose("exclude", &args.exclude)?));
        }
        let only = model.choose("only", &args.only)?;
        let others = (0..model.n_codes()).filter(|c| !args.only.is_empty() && !only.contains(c));
        Ok(Self::Explained(others.collect()))
    }

    /// Writes that part of every row.
    pub(crate) fn put<T: Real>(
        &self,
        model: &Model,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        to: &mut dyn Sink<T>,
    ) -> unmix::Result<Encoded> {
        match self {
            Self::Without(components) => model.remove(components, rows, run, to),
            Self::Explained(others) => model.reconstruct_without(others, rows, run, to),
        }
    }
}

/// `unmix reconstruct`: encodes and decodes rows, or subtracts the contribution of some components.
pub(crate) fn reconstruct(args: &Reconstruct) -> Done {
    let folder = sound::folder(&args.apply)?;
    if folder.is_some() || picture::is_named(&args.apply) {
        let files = args.apply.input.files(&args.apply.reading)?;
        check_order(&args.apply.model, &files)?;
        let pictures = picture::is_picture(&files, &args.apply.reading);
        let model = || Model::load(&args.apply.model);
        match folder {
            _ if pictures => {
                let targets = picture::targets(&files, &args.apply, folder.as_deref())?;
                let model = model()?;
                let wanted = ReconstructedPart::of(args, &model)?;
                return picture::reconstruct(&model, &files, &args.apply, &targets, &wanted);
            }
            Some(folder) => {
                let model = model()?;
                let wanted = ReconstructedPart::of(args, &model)?;
                return sound::reconstruct(&model, &files, &args.apply, &folder, wanted);
            }
            // A .png file for other rows is refused as every other extension is.
            None => {}
        }
    }
    let job = Job::new(&args.apply, &[])?;
    let wanted = ReconstructedPart::of(args, &job.model)?;
    job.rows(&Map::Reconstruct(wanted))
}

/// `unmix score`: the log-likelihood or reconstruction error of each row, its T² and Q, or a summary of all rows, as requested.
pub(crate) fn score(args: &Score) -> Done {
    let job = Job::new(&args.apply, &args.reference)?;
    if !args.reference.is_empty() {
        return reference::score(&job.model, &job.files, &job.output, args);
    }
    if args.triplets {
        return cells::score(&job.model, &job.files, &job.output, args);
    }
    if args.quality {
        let parts = Parts { components: args.parts, columns: args.parts };
        return job.rows(&Map::Quality(parts));
    }
    let scored = Scored::of(&job.model);
    if let Some(note) = scored.note(&job.model).filter(|_| !job.args.running.quiet) {
        terminal::note(&note);
    }
    if args.summary { job.summary(scored) } else { job.rows(&Map::Score(scored)) }
}

/// The map to apply.
#[derive(PartialEq)]
enum Map {
    Encode,
    Labels,
    Decode,
    Reconstruct(ReconstructedPart),
    Score(Scored),
    Quality(Parts),
}

struct Job<'a> {
    args: &'a Apply,
    /// Whether the input is a list of cells.
    triplets: bool,
    files: Vec<PathBuf>,
    model: Model,
    output: Output,
}

impl<'a> Job<'a> {
    /// `others`: texts of the command line that may name further files that it reads.
    fn new(args: &'a Apply, others: &[String]) -> Result<Self, Failure> {
        let files = args.input.files(&args.reading)?;
        let never: Vec<&Path> =
            args.files_read(&files).into_iter().chain(others.iter().map(Path::new)).collect();
        let output = Output::new(&args.writing, &never)?;
        check_order(&args.model, &files)?;
        Ok(Self { args, triplets: false, files, model: Model::load(&args.model)?, output })
    }

    fn open(&self, map: &Map, run: &Run<'_>) -> Result<Input, Failure> {
        let quiet = self.args.running.quiet;
        if self.triplets {
            return list::rows(&self.files, &self.args.reading, Some(self.model.n_features()), run, quiet);
        }
        let open = if *map == Map::Decode { input::open_codes } else { input::open_for };
        open(&self.model, &self.files, self.args.reading.options()?, run, quiet)
    }

    /// Applies the map to the rows of the input and writes the results.
    fn rows(&self, map: &Map) -> Done {
        let progress = Progress::new(&self.args.running);
        let run = progress.run(&self.args.running);
        let mut input = self.open(map, &run)?;
        // The header of an array contains the number of rows.
        input.rows.prepare(&run)?;
        let dtype = match map {
            Map::Labels | Map::Score(_) | Map::Quality(_) => Dtype::F64,
            _ => input.rows.dtype(),
        };
        let n_rows = input.rows.n_rows().unwrap_or(0);
        if matches!(map, Map::Reconstruct(_)) && self.args.reading.transpose {
            let named = input.rows.features().names.is_some();
            if !input.kept.is_empty() && !named {
                let message = "transposed reconstructions have no room for the columns of --keep; leave out --keep, and \
                               exclude these columns with --drop";
                return Err(Failure::Usage(message.into()));
            }
            let kept = input.kept.pop().map(|(_, names)| names);
            with_rows!(&input.rows, rows => self.as_given(rows, &run, map, kept))?;
            return Ok(0);
        }
        let (names, trailing) = self.columns(map);
        check_kept(&input.kept, &names)?;
        let mut writer =
            TableWriter::create(&self.output, Shape { names, trailing, kept: input.kept, n_rows }, dtype)?;
        if *map == Map::Labels {
            writer = writer.of_whole_numbers();
        }
        let encoded = with_rows!(&input.rows, rows => self.apply(rows, &run, map, &mut writer))?;
        writer.finish()?;
        progress.clear();
        warn_unsolved(&encoded);
        Ok(0)
    }

    /// Names of the output columns, and the shape of one output row.
    fn columns(&self, map: &Map) -> (Vec<String>, Vec<usize>) {
        match map {
            Map::Encode => (self.model.component_names(), vec![self.model.n_codes()]),
            Map::Labels => (vec!["label".into()], vec![]),
            Map::Score(scored) => (vec![scored.name().into()], vec![]),
            Map::Quality(parts) => {
                let names = Measures::of(&self.model, *parts).names(&self.model);
                let width = names.len();
                (names, vec![width])
            }
            Map::Decode | Map::Reconstruct(_) => {
                let shape = self.model.features().shape.clone();
                (self.feature_names(), shape.unwrap_or_else(|| vec![self.model.n_features()]))
            }
        }
    }

    fn feature_names(&self) -> Vec<String> {
        let made = || (0..self.model.n_features()).map(|j| format!("x{j}")).collect();
        self.model.features().names.clone().unwrap_or_else(made)
    }

    fn apply<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        map: &Map,
        to: &mut TableWriter,
    ) -> unmix::Result<Encoded> {
        let n_rows = match map {
            Map::Encode => return self.model.encode(rows, run, to),
            Map::Reconstruct(wanted) => return wanted.put(&self.model, rows, run, to),
            Map::Labels => self.model.labels(rows, run, to)?,
            Map::Decode => self.model.decode(rows, run, to)?,
            Map::Score(scored) => scored.put(&self.model, rows, run, to)?,
            Map::Quality(parts) => self.model.quality(rows, *parts, run, to)?,
        };
        Ok(Encoded::solved(n_rows))
    }

    /// For transposed input, writes transposed reconstructions, with the names of rows and features where the names of rows are kept. All
    /// of them are held in memory until the last row has been read.
    fn as_given<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        map: &Map,
        kept: Option<Vec<String>>,
    ) -> Result<(), Failure> {
        let (n, p) = (rows.n_rows().unwrap_or(0) as usize, self.model.n_features());
        let mut made: VecSink<T> = VecSink(Vec::new());
        if let Map::Reconstruct(wanted) = map {
            warn_unsolved(&wanted.put(&self.model, rows, run, &mut made)?);
        }
        let (names, kept) = match kept {
            Some(names) => (names, vec![("name".to_string(), self.feature_names())]),
            None => (Vec::new(), Vec::new()),
        };
        let shape = Shape { names, trailing: vec![n], kept, n_rows: p as u64 };
        let mut writer = TableWriter::create(&self.output, shape, T::DTYPE)?;
        for j in 0..p {
            let line: Vec<T> = made.0.iter().skip(j).step_by(p).copied().collect();
            Sink::<T>::put(&mut writer, &line)?;
        }
        Ok(writer.finish()?)
    }

    fn summary(&self, scored: Scored) -> Done {
        let progress = Progress::new(&self.args.running);
        let run = progress.run(&self.args.running);
        let mut input = self.open(&Map::Score(scored), &run)?;
        let mut scores = VecSink(Vec::new());
        input.rows.prepare(&run)?;
        with_rows!(&input.rows, rows => scored.put(&self.model, rows, &run, &mut scores))?;
        let mut lines = summary(scored.words(), &mut scores.0);
        if sae::is_autoencoder(&self.model) {
            let found = with_rows!(&mut input.rows, rows => sae::evaluate(&self.model, rows, &run))?;
            lines.extend(of_units(&found));
        }
        progress.clear();
        terminal::text(&aligned(&lines))
    }
}

/// Refuses columns that are copied to the output and have the name of another column there, such as a code: a later `decode` could not
/// distinguish them.
fn check_kept(kept: &[(String, Vec<String>)], others: &[String]) -> Result<(), Failure> {
    let Some((name, _)) = kept.iter().find(|(name, _)| others.contains(name)) else { return Ok(()) };
    Err(Failure::Usage(format!(
        "the column '{name}' cannot be kept: another column of the output has this name; rename the column in the input, or leave it out of \
         --keep"
    )))
}

/// Names and values, the values below each other.
pub(crate) fn aligned(lines: &[(String, String)]) -> String {
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    lines.iter().map(|(name, value)| format!("{name:width$}  {value}\n")).collect()
}

/// Reports the rows for which an iterative encoder has not converged.
pub(crate) fn warn_unsolved(encoded: &Encoded) {
    encoded.notes().iter().for_each(|note| terminal::warning(note));
}

/// Summary statistics of `scores`, called `what`, which are sorted here.
fn summary(what: &str, scores: &mut [f64]) -> Vec<(String, String)> {
    // Summed in the order of the rows, so that the sum does not depend on the ranks.
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    scores.sort_by(f64::total_cmp);
    let n = scores.len();
    let median = 0.5 * (scores[(n - 1) / 2] + scores[n / 2]);
    vec![
        ("rows".to_string(), n.to_string()),
        (format!("mean {what}"), format!("{mean:?}")),
        ("lowest".into(), format!("{:?}", scores[0])),
        ("median".into(), format!("{median:?}")),
        ("highest".into(), format!("{:?}", scores[n - 1])),
    ]
}

/// Lines with statistics of a sparse autoencoder. FVU: fraction of variance unexplained; OMP: orthogonal matching pursuit.
fn of_units(found: &sae::Evaluation) -> Vec<(String, String)> {
    let rows = match found.n_samples_omp < found.n_samples {
        true => format!(", {}", counted(found.n_samples_omp, "row")),
        false => String::new(),
    };
    let components = counted(found.n_components_pca as u64, "component");
    let mut lines = vec![
        ("L0 (active units per row)".to_string(), format!("{:?}", found.l0)),
        ("FVU (fraction of variance unexplained)".into(), format!("{:?}", found.fvu)),
        (format!("FVU of PCA of these rows, {components}"), format!("{:?}", found.fvu_pca)),
        (format!("FVU of OMP (matching pursuit), same atoms and L0{rows}"), format!("{:?}", found.fvu_omp)),
    ];
    if !rows.is_empty() {
        lines.push((format!("FVU of the codes{rows}"), format!("{:?}", found.fvu_same_rows)));
    }
    lines.extend([
        ("dead units (fraction)".into(), format!("{:?}", found.dead)),
        ("density of the units (lowest, median, highest)".into(), of_densities(&found.density)),
        ("shrinkage (1: none)".into(), format!("{:?}", found.shrinkage)),
        ("near-duplicates (fraction of atoms, cosine 0.9)".into(), format!("{:?}", found.near_duplicates)),
    ]);
    lines
}

/// The lowest, the median and the highest of the fractions of the rows that activate each unit.
fn of_densities(density: &[f64]) -> String {
    let mut sorted = density.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(lowest), Some(highest)) = (sorted.first(), sorted.last()) else { return String::new() };
    let median = 0.5 * (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]);
    format!("{lowest:?}, {median:?}, {highest:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_are_three_numbers() {
        assert_eq!(of_densities(&[0.5, 0.0, 1.0, 0.25]), "0.0, 0.375, 1.0");
        assert_eq!(of_densities(&[0.5]), "0.5, 0.5, 0.5");
    }

    #[test]
    fn the_summary_has_mean_range_and_median() {
        let lines = summary("log-likelihood", &mut [-1.0, -7.0, -4.0, 0.0]);
        let value = |name: &str| {
            let (_, value) = lines.iter().find(|(line, _)| line.starts_with(name)).unwrap();
            value.parse::<f64>().unwrap()
        };
        let found = ["rows", "mean", "lowest", "median", "highest"].map(value);
        assert_eq!(found, [4.0, -3.0, -7.0, -2.5, 0.0]);
    }
}
