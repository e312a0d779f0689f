//! A sample of the rows with codes and reconstructions.

use crate::alpha_path::{self, AlphaPath};
use crate::description;
use crate::missing::Gaps;
use crate::number::{count, counted};
use unmix::data::{RawArray, VecSink};
use unmix::model::{Certificate, Unsolved};
use unmix::{Error, Event, Matrix, Model, Observer, Real, Result, Rows, Run};

/// Maximum number of rows that are drawn as points.
const MOST_POINTS: u64 = 5000;

/// Maximum number of multiplications that are spent on them, which limits the time for very wide rows.
const MOST_WORK: u64 = 20_000_000_000;

/// Rows shown beside their reconstruction.
const MOST_EXAMPLES: usize = 8;

/// Rows whose codes are certified; they are encoded once more for that.
const MOST_CERTIFIED_ROWS: usize = 500;

/// Rows whose affinities are drawn.
const MOST_CLUSTERED_ROWS: usize = 240;
/// Scores that are drawn unless others are requested.
const DEFAULT_SCORES: usize = 3;

/// Rows at a fixed stride: some of their codes, and their reconstructions.
pub(crate) struct Sample {
    /// Rows there are.
    pub(crate) n_rows: u64,
    /// Numbers of the sampled rows.
    pub(crate) index: Vec<u64>,
    /// The components whose codes are kept, in ascending order.
    pub(crate) drawn: Vec<usize>,
    /// The codes of each row on these.
    pub(crate) codes: Matrix<f64>,
    /// Of how many rows each code is not 0.
    pub(crate) uses: Vec<u64>,
    /// How many codes of each row are not 0.
    pub(crate) nonzeros: Vec<u32>,
    /// Root mean square of each feature about the model's mean.
    pub(crate) spread: Vec<f64>,
    /// Share of the sampled rows' squared distances from the mean that their reconstructions keep; in standard deviations of the columns,
    /// where the model standardises them. None where codes are not decoded.
    pub(crate) kept: Option<f64>,
    /// Some of the rows with their reconstructions; none where codes are not decoded.
    pub(crate) examples: Vec<Example>,
    /// Correlation of each component's codes with those of each of another model.
    pub(crate) beside: Option<Matrix<f64>>,
    /// Some of the rows, less the centre, and their nearest subspaces, of a model that consists of subspaces.
    pub(crate) clustered: Option<(Matrix<f64>, Vec<usize>)>,
    /// Missing cells.
    pub(crate) gaps: Gaps,
    /// The sampled rows for which an iterative encoder did not converge.
    pub(crate) unsolved: Option<Unsolved>,
    /// The criterion of convergence of some of the rows' codes, of models that encode by a solver.
    pub(crate) certified: Option<(Certificate, Vec<f64>)>,
    /// Codes of some of the rows along alpha, of models whose codes have a penalty.
    pub(crate) along: Option<AlphaPath>,
}

/// A row and its reconstruction.
pub(crate) struct Example {
    pub(crate) index: u64,
    pub(crate) row: Vec<f64>,
    pub(crate) fitted: Vec<f64>,
    /// All codes of the row.
    pub(crate) codes: Vec<f64>,
    /// Distance between the two, relative to that of the row from the mean.
    pub(crate) error: f64,
}

/// Passes on a requested stop, but not the progress of the many small encodings.
pub(crate) struct Quiet<'a>(pub(crate) &'a dyn Observer);

impl Observer for Quiet<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

impl Sample {
    /// "200 rows", or "5,000 of 70,000 rows" where these are some of the rows.
    pub(crate) fn described(&self) -> String {
        match (self.index.len() as u64, self.n_rows) {
            (some, all) if some == all => counted(all, "row"),
            (some, all) => format!("{} of {} rows", count(some), count(all)),
        }
    }

    /// The codes of the rows on component `i`, which must be one of `drawn`.
    pub(crate) fn codes_of(&self, i: usize) -> impl Iterator<Item = f64> {
        let place = self.drawn.partition_point(|other| *other < i);
        (0..self.codes.rows()).map(move |row| self.codes[(row, place)])
    }

    /// Reads rows at a fixed stride, at most 5000 of them, a block at a time. Scores on the first components, and on those of `pairs`, are
    /// kept.
    pub(crate) fn of<T: Real>(
        model: &Model,
        beside: Option<&Model>,
        pairs: &[(usize, usize)],
        rows: &Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<Self> {
        let (p, k) = (model.n_features(), model.n_codes());
        if rows.n_features() != p {
            return Err(Error::Width {
                what: "report".into(),
                need: p,
                got: rows.n_features(),
                remedy: format!("choose the columns of {} that the model was fitted on", rows.origin()),
            });
        }
        let n_rows = count_rows(rows, run)?;
        let affordable = (MOST_WORK / (2 * p as u64 * k.max(1) as u64)).clamp(200, MOST_POINTS);
        let stride = stride(n_rows.div_ceil(affordable));
        let total = n_rows.div_ceil(stride) as usize;
        let mut read = Read::new(model, pairs, total);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let mut unsolved: Option<Unsolved> = None;
        let (mut coded, every) = (Vec::new(), total.div_ceil(alpha_path::n_rows(k)).max(1));
        let penalised = model.code().encoder().along_alpha().is_some();
        // The page has them with sparse codes only.
        let codes = model.code().codes();
        let certificate = model.code().encoder().certificate().filter(|_| codes.sparse || codes.non_negative);
        let (mut gaps, every_certified) = (Vec::new(), total.div_ceil(MOST_CERTIFIED_ROWS).max(1));
        let quiet = Run { threads: run.threads, observer: &Quiet(run.observer), ..Run::default() };
        visit(rows, n_rows, stride, |numbers, block| {
            let (codes, fitted, left) = through(model, rows, numbers, block, &quiet)?;
            unsolved = unsolved.take().into_iter().chain(left).reduce(Unsolved::merged);
            if let Some(other) = beside {
                let lent: Rows<'_, T> =
                    Rows::new(RawArray::borrowed(block, p)?, rows.features().clone(), rows.origin());
                ours.extend(codes.iter().map(|y| y.to_f64()));
                theirs.extend(other.encode_to_vec(&lent, &quiet)?.iter().map(|y| y.to_f64()));
            }
            if certificate.is_some() {
                let some = (read.index.len()..).zip(block.chunks_exact(p));
                let some = some.filter(|(i, _)| i % every_certified == 0).flat_map(|(_, row)| row).copied();
                gaps.extend(certificates(model, rows, &some.collect::<Vec<T>>(), &quiet)?);
            }
            if penalised {
                let some = (read.index.len()..).zip(block.chunks_exact(p)).filter(|(i, _)| i % every == 0);
                some.for_each(|(_, row)| coded.extend(row.iter().map(|x| x.to_f64())));
            }
            let each = block.chunks_exact(p).zip(fitted.chunks_exact(p));
            for (i, (&number, (x, fitted))) in numbers.iter().zip(each).enumerate() {
                read.add(number, x, fitted, &codes[i * k..(i + 1) * k]);
            }
            run.observer.event(Event::Sweep {
                stage: "report",
                done: read.index.len() as u64,
                total: Some(total as u64),
            });
            if run.observer.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
        })?;
        let n = read.index.len();
        let beside = match beside {
            Some(_) if n > 1 => Some(crate::window::correlations(&ours, &theirs, n)?),
            _ => None,
        };
        let along = if coded.is_empty() { None } else { AlphaPath::of(model, &coded, run)? };
        let certified = certificate.map(|certificate| (certificate, gaps));
        Ok(Self { n_rows, beside, unsolved, certified, along, ..read.sample() })
    }
}

/// The part of a sample that has been read.
struct Read {
    mean: Vec<f64>,
    /// The factors of the differences in each column.
    own_unit: Vec<f64>,
    /// Codes of a row that are kept.
    drawn: Vec<usize>,
    /// Rows, by their place in the sample, that are examples.
    wanted: Vec<usize>,
    decodes: bool,
    /// The stride of the sampled rows whose affinities are drawn; the rows, less the centre, and their
    /// nearest subspaces.
    every: Option<usize>,
    near: Vec<f64>,
    labels: Vec<usize>,
    index: Vec<u64>,
    codes: Vec<f64>,
    uses: Vec<u64>,
    nonzeros: Vec<u32>,
    examples: Vec<Example>,
    /// Sums of squares of the columns about their means, and how many cells there are of each.
    spread: Vec<f64>,
    seen: Vec<u64>,
    /// Rows of the sample in all.
    total: usize,
    gaps: Gaps,
    /// Sums over rows of the squares that reconstructions miss, and of all.
    lost: f64,
    all: f64,
}

impl Read {
    /// Nothing yet of `total` rows.
    fn new(model: &Model, pairs: &[(usize, usize)], total: usize) -> Self {
        let (p, decodes) = (model.n_features(), model.code().decodes());
        let first = 0..model.n_codes().min(DEFAULT_SCORES);
        let mut drawn: Vec<usize> = first.chain(pairs.iter().flat_map(|&(a, b)| [a, b])).collect();
        drawn.sort_unstable();
        drawn.dedup();
        let wanted = if decodes { MOST_EXAMPLES.min(total) } else { 0 };
        Self {
            mean: crate::description::mean(model).unwrap_or_else(|| vec![0.0; p]),
            own_unit: comparison_scales(model),
            drawn,
            wanted: (0..wanted).map(|i| i * total / wanted).collect(),
            decodes,
            every: model.tensor("bases").map(|_| total.div_ceil(MOST_CLUSTERED_ROWS).max(1)),
            near: Vec::new(),
            labels: Vec::new(),
            index: Vec::new(),
            codes: Vec::new(),
            uses: vec![0; model.n_codes()],
            nonzeros: Vec::new(),
            examples: Vec::new(),
            spread: vec![0.0; p],
            seen: vec![0; p],
            total,
            gaps: Gaps::new(total, p),
            lost: 0.0,
            all: 0.0,
        }
    }

    /// Adds row `number` of the data, its reconstruction, and its codes.
    fn add<T: Real>(&mut self, number: u64, x: &[T], fitted: &[T], codes: &[T]) {
        self.gaps.add(self.index.len(), self.total, x);
        let (mut missed, mut size) = (0.0, 0.0);
        for (j, (value, found)) in x.iter().zip(fitted).enumerate() {
            let (value, found) = (value.to_f64(), found.to_f64());
            if value.is_nan() {
                continue;
            }
            self.seen[j] += 1;
            self.spread[j] += (value - self.mean[j]).powi(2);
            missed += ((value - found) * self.own_unit[j]).powi(2);
            size += ((value - self.mean[j]) * self.own_unit[j]).powi(2);
        }
        (self.lost, self.all) = (self.lost + missed, self.all + size);
        if self.wanted.contains(&self.index.len()) {
            let wide = |v: &[T]| v.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
            // A missing cell is drawn at its reconstructed value.
            let drawn = |(x, f): (&T, &T)| if x.to_f64().is_nan() { f.to_f64() } else { x.to_f64() };
            let row = x.iter().zip(fitted).map(drawn).collect();
            // A row that is the mean itself is reconstructed exactly.
            let error = if size > 0.0 { (missed / size).sqrt() } else { 0.0 };
            self.examples.push(Example {
                index: number,
                row,
                fitted: wide(fitted),
                codes: wide(codes),
                error,
            });
        }
        let used = codes.iter().map(|y| u32::from(*y != T::default()));
        self.uses.iter_mut().zip(used.clone()).for_each(|(n, used)| *n += u64::from(used));
        self.nonzeros.push(used.sum());
        if self.every.is_some_and(|every| self.index.len().is_multiple_of(every)) {
            self.near.extend(x.iter().zip(&self.mean).map(|(x, mean)| x.to_f64() - mean));
            let nearest = codes.iter().enumerate().min_by(|a, b| a.1.to_f64().total_cmp(&b.1.to_f64()));
            self.labels.push(nearest.map_or(0, |(label, _)| label));
        }
        self.index.push(number);
        self.codes.extend(self.drawn.iter().map(|&i| codes[i].to_f64()));
    }

    /// The sample, without another model or an encoder.
    fn sample(mut self) -> Sample {
        let n = self.index.len();
        let p = self.mean.len();
        let clustered = self.every.map(|_| (Matrix::from_vec(self.labels.len(), p, self.near), self.labels));
        self.spread.iter_mut().zip(&self.seen).for_each(|(s, n)| *s = (*s / *n.max(&1) as f64).sqrt());
        Sample {
            n_rows: 0,
            beside: None,
            codes: Matrix::from_vec(n, self.drawn.len(), self.codes),
            drawn: self.drawn,
            index: self.index,
            uses: self.uses,
            nonzeros: self.nonzeros,
            spread: self.spread,
            kept: self.decodes.then(|| if self.all > 0.0 { 1.0 - self.lost / self.all } else { 1.0 }),
            examples: self.examples,
            clustered,
            gaps: self.gaps,
            unsolved: None,
            certified: None,
            along: None,
        }
    }
}

/// The factors by which differences in each column are multiplied before they are compared with those in others: a model of standardised columns
/// examined them in their standard deviations.
fn comparison_scales(model: &Model) -> Vec<f64> {
    let scale = description::column_scales(model);
    (0..model.n_features()).map(|j| scale.get(j).filter(|s| **s > 0.0).map_or(1.0, |s| 1.0 / s)).collect()
}

/// The least odd prime that is not less, or 1: files are often laid out with a period (of the digits of MNIST, those in even
/// rows were written by other people than those in odd ones), and a stride that shares a factor with it would sample one part only.
fn stride(least: u64) -> u64 {
    let prime =
        |n: u64| n % 2 == 1 && (3..).step_by(2).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    if least <= 1 { 1 } else { (least.max(3)..).find(|&n| prime(n)).unwrap_or(least) }
}

/// Codes and reconstructions of a block (the rows themselves where codes are not decoded), and the rows that were not solved; errors name rows by their numbers in the input.
fn through<T: Real>(
    model: &Model,
    rows: &Rows<'_, T>,
    numbers: &[u64],
    block: &[T],
    run: &Run<'_>,
) -> Result<(Vec<T>, Vec<T>, Option<Unsolved>)> {
    let p = model.n_features();
    let lent = Rows::new(RawArray::borrowed(block, p)?, rows.features().clone(), rows.origin());
    let named = |e: Error| match e {
        Error::NotFinite { method: _, row, column, name, what } => Error::NotFinite {
            method: "report".into(),
            row: numbers.get(row as usize).copied().unwrap_or(row),
            column,
            name,
            what,
        },
        other => other,
    };
    let codes = model.encode_to_vec(&lent, run).map_err(named)?;
    if !model.code().decodes() {
        return Ok((codes, block.to_vec(), None));
    }
    let mut fitted = VecSink(Vec::new());
    let unsolved = model.reconstruct(&lent, run, &mut fitted).map_err(named)?.unsolved;
    let in_input = |mut left: Unsolved| {
        left.worst_row = numbers.get(left.worst_row as usize).copied().unwrap_or(left.worst_row);
        left
    };
    Ok((codes, fitted.0, unsolved.map(in_input)))
}

/// The criterion of convergence for the codes of each row of a block, which were encoded before.
fn certificates<T: Real>(model: &Model, rows: &Rows<'_, T>, block: &[T], run: &Run<'_>) -> Result<Vec<f64>> {
    let mut found = VecSink(Vec::new());
    if !block.is_empty() {
        let array = RawArray::borrowed(block, model.n_features())?;
        let rows = Rows::<T>::new(array, rows.features().clone(), rows.origin());
        model.certificates(&rows, run, &mut found)?;
    }
    Ok(found.0)
}

/// Passes on every `stride`-th row, in blocks, with their numbers.
fn visit<T: Real>(
    rows: &Rows<'_, T>,
    n_rows: u64,
    stride: u64,
    mut f: impl FnMut(&[u64], &[T]) -> Result<()>,
) -> Result<()> {
    let (p, step) = (rows.n_features(), rows.plan().block_rows);
    let (mut numbers, mut block) = (Vec::new(), Vec::new());
    let mut put = |number: u64, row: &[T], last: bool| -> Result<()> {
        if !last {
            numbers.push(number);
            block.extend_from_slice(row);
        }
        if !numbers.is_empty() && (last || numbers.len() == step) {
            f(&numbers, &block)?;
            numbers.clear();
            block.clear();
        }
        Ok(())
    };
    if let Some(random) = rows.source().random() {
        let (mut row, mut raw) = (vec![T::default(); p], Vec::new());
        for i in (0..n_rows).step_by(stride as usize) {
            random.read(i..i + 1, 0..p, &mut row, &mut raw)?;
            put(i, &row, false)?;
        }
    } else {
        let (mut stream, mut buffer, mut first) = (rows.source().stream()?, Vec::new(), 0u64);
        loop {
            buffer.clear();
            let n = stream.read(step, &mut buffer)? as u64;
            if n == 0 {
                break;
            }
            let ours = (first.next_multiple_of(stride)..first + n).step_by(stride as usize);
            for i in ours {
                let at = (i - first) as usize * p;
                put(i, &buffer[at..at + p], false)?;
            }
            first += n;
        }
    }
    put(0, &[], true)
}

/// The number of rows: one pass if it is not known.
fn count_rows<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<u64> {
    if let Some(n) = rows.n_rows() {
        return Ok(n);
    }
    let (mut stream, mut buffer, mut n) = (rows.source().stream()?, Vec::new(), 0u64);
    loop {
        buffer.clear();
        match stream.read(rows.plan().shard_rows, &mut buffer)? {
            0 => return Ok(n),
            more => n += more as u64,
        }
        run.observer.event(Event::Sweep { stage: "counting rows", done: n, total: None });
        if run.observer.interrupted() {
            return Err(Error::Interrupted);
        }
    }
}

#[cfg(test)]
mod tests;
