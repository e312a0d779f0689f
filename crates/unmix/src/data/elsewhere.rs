//! Rows whose shards are elsewhere: sums over them travel as bytes.
//!
//! A sweep over such rows is packed as a *job*: which gather, its state, and how rows are cut. Whoever holds some shards answers with the
//! nodes of the merge tree that these fill ([`answer`](crate::shards::gather)), and the nodes of all answers are merged as those of one
//! process are. So the total has the same bits, whoever held which shards.

use super::ladder::Ladder;
use super::source::{Source, Stream};
use super::{AnyRows, Features, Rows};
use crate::error::{Error, Result};
use crate::num::{Dtype, Plan, Real};
use crate::run::Run;
use crate::stats::{Gather, GatherWeights, Packer, Partial, RowWeights, Unpacker, from_bytes, to_bytes};

/// Asks everybody who holds shards of the rows for sums over them.
pub trait GatherAll: Send + Sync {
    /// Sends `job` to all who hold rows and returns the answer of each, in any order: what [`shards::gather`](crate::shards::gather) makes
    /// of the job and their rows.
    ///
    /// # Errors
    ///
    /// Whatever keeps an answer from coming.
    fn gather_all(&self, job: &[u8]) -> Result<Vec<Vec<u8>>>;
}

impl<F: Fn(&[u8]) -> Result<Vec<Vec<u8>>> + Send + Sync> GatherAll for F {
    fn gather_all(&self, job: &[u8]) -> Result<Vec<Vec<u8>>> {
        self(job)
    }
}

/// Rows of which only sums are to be had.
struct Elsewhere<'a> {
    n_rows: u64,
    n_features: usize,
    all: &'a dyn GatherAll,
}

impl<T: Real> Source<T> for Elsewhere<'_> {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.n_rows)
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Err(not_here("reading rows one after the other"))
    }

    fn elsewhere(&self) -> Option<&dyn GatherAll> {
        Some(self.all)
    }
}

/// The error of what takes the rows themselves.
pub(crate) fn not_here(asked: &str) -> Error {
    Error::Unsupported {
        asked: asked.into(),
        found: "these rows are elsewhere, and only sums over them are to be had".into(),
        remedy: "choose a solver that works by full passes over the rows, or bring the rows here".into(),
    }
}

impl<'a, T: Real> Rows<'a, T> {
    /// `n_rows` rows of `n_features` numbers whose shards are with others; whatever is fitted by full passes over rows can be fitted to
    /// them.
    pub fn elsewhere(n_rows: u64, n_features: usize, all: &'a dyn GatherAll) -> Self {
        Self::new(Elsewhere { n_rows, n_features, all }, Features::default(), "the shards")
    }

    /// The error of what takes the rows themselves, where they are elsewhere.
    ///
    /// # Errors
    ///
    /// That `asked` takes rows that are here.
    pub(crate) fn here(&self, asked: &str) -> Result<()> {
        self.source().elsewhere().map_or(Ok(()), |_| Err(not_here(asked)))
    }

    /// How often each row counts, asked of those who hold them; `None` where nobody gave weights. No row is looked at.
    pub(super) fn weights_elsewhere(&self, run: &Run<'_>) -> Result<Option<Vec<f64>>> {
        let RowWeights { weights, .. } = self.sweep(run, "weights", &GatherWeights)?;
        Ok((!weights.is_empty()).then_some(weights))
    }
}

/// What jobs and answers begin with, and the number of their form.
const MAGIC: (&str, u64) = ("unmix shards", 1);

/// A sweep in packed form.
pub(crate) struct Job {
    kind: String,
    dtype: Dtype,
    plan: Plan,
    n_features: usize,
    n_rows: u64,
    state: Vec<u8>,
}

/// The answer to a job by one who holds rows `rows`.
struct Answer<P> {
    rows: std::ops::Range<u64>,
    nodes: Vec<(u64, u32, P)>,
}

impl Job {
    /// To sum `gather` over `n_rows` rows.
    pub(super) fn of<T: Real, G: Gather<T>>(gather: &G, plan: Plan, n_features: usize, n_rows: u64) -> Self {
        let mut state = Packer::default();
        gather.pack(&mut state);
        let kind = G::KIND.to_string();
        Self { kind, dtype: T::DTYPE, plan, n_features, n_rows, state: state.into_bytes() }
    }

    /// Which gather it is.
    pub(crate) fn kind(&self) -> &str {
        &self.kind
    }

    fn pack(&self) -> Vec<u8> {
        let mut out = self.head();
        out.count(self.plan.block_rows as u64);
        out.count(self.plan.shard_rows as u64);
        out.count(self.n_features as u64);
        out.count(self.n_rows);
        out.bytes(&self.state);
        out.into_bytes()
    }

    fn head(&self) -> Packer {
        let mut out = Packer::default();
        out.text(MAGIC.0);
        out.count(MAGIC.1);
        out.text(&self.kind);
        out.text(self.dtype.name());
        out
    }

    /// What [`pack`](Self::pack) made.
    pub(crate) fn unpack(bytes: &[u8]) -> Result<Self> {
        let mut from = Unpacker::new(bytes);
        let (kind, dtype) = heading(&mut from, "the job")?;
        let (block_rows, shard_rows) = (from.count()? as usize, from.count()? as usize);
        let (n_features, n_rows, state) = (from.count()? as usize, from.count()?, from.bytes()?.to_vec());
        from.end()?;
        from.check(block_rows > 0 && shard_rows > 0 && shard_rows.is_multiple_of(block_rows))?;
        Ok(Self { kind, dtype, plan: Plan { block_rows, shard_rows }, n_features, n_rows, state })
    }

    /// The total of the answers to this job.
    pub(super) fn gathered<P: Partial>(&self, all: &dyn GatherAll) -> Result<P> {
        let answers = all.gather_all(&self.pack())?;
        let mut parts =
            answers.iter().map(|bytes| self.answer_of::<P>(bytes)).collect::<Result<Vec<Answer<P>>>>()?;
        parts.sort_by_key(|part| (part.rows.start, part.rows.end));
        let mut next = 0;
        for part in &parts {
            if part.rows.start != next {
                let (what, rows) = match part.rows.start < next {
                    true => ("are in two answers", part.rows.start..next.min(part.rows.end)),
                    false => ("are in no answer", next..part.rows.start),
                };
                return Err(self.wrong(format!("rows {} to {} {what}", rows.start, rows.end - 1)));
            }
            next = part.rows.end;
        }
        if next != self.n_rows {
            return Err(self.wrong(format!("rows {next} to {} are in no answer", self.n_rows.max(1) - 1)));
        }
        let mut ladder = Ladder::default();
        for (first, height, part) in parts.into_iter().flat_map(|part| part.nodes) {
            ladder.climb(first, height, part);
        }
        ladder.total().ok_or_else(|| self.wrong("nobody has any rows".into()))
    }

    fn wrong(&self, found: String) -> Error {
        Error::Unsupported {
            asked: format!("the sum '{}' over {} rows", self.kind, self.n_rows),
            found,
            remedy: "let every worker answer once, for all the rows that it holds".into(),
        }
    }

    /// One answer: nodes that cover its rows, each shard once.
    fn answer_of<P: Partial>(&self, bytes: &[u8]) -> Result<Answer<P>> {
        let mut from = Unpacker::new(bytes);
        let (kind, dtype) = heading(&mut from, "an answer")?;
        if kind != self.kind || dtype != self.dtype {
            let found = format!("an answer about '{kind}' in {dtype}, not '{}' in {}", self.kind, self.dtype);
            return Err(self.wrong(found));
        }
        let (first_row, n_rows, count) = (from.count()?, from.count()?, from.count()?);
        let size = self.plan.shard_rows as u64;
        let end = first_row.checked_add(n_rows).filter(|end| *end <= self.n_rows);
        let Some(end) = end.filter(|_| first_row.is_multiple_of(size)) else {
            return Err(self.wrong(format!("an answer about {n_rows} rows from {first_row} on")));
        };
        let (mut nodes, mut next) = (Vec::new(), first_row / size);
        for _ in 0..count {
            let (first, height) = (from.count()?, from.count()?);
            if first != next || height > 63 || !first.is_multiple_of(1 << height) {
                let found = format!("nodes from shards {next} and {first} on that overlap or leave a gap");
                return Err(self.wrong(found));
            }
            next = first + (1 << height);
            nodes.push((first, height as u32, from_bytes(from.bytes()?)?));
        }
        from.end()?;
        if next != end.div_ceil(size) {
            return Err(self.wrong(format!("nodes of {next} shards where {} are", end.div_ceil(size))));
        }
        Ok(Answer { rows: first_row..end, nodes })
    }

    /// The answer of one who holds `rows`, the first of which is row `first_row` of all.
    pub(crate) fn answer<T: Real, G: Gather<T>>(
        &self,
        rows: &Rows<'_, T>,
        first_row: u64,
        run: &Run<'_>,
    ) -> Result<Vec<u8>> {
        let mut from = Unpacker::new(&self.state);
        let gather = G::unpack(&mut from)?;
        from.end()?;
        let n = rows.n_rows().unwrap_or(0);
        super::sweep::check_gather(&gather, self.n_features, &self.kind)?;
        let ladder = rows.nodes(self.plan, first_row, run, &self.kind, &gather)?;
        Ok(self.answered(first_row, n, ladder))
    }

    /// The answer about weights: the rows themselves are not looked at.
    pub(crate) fn answer_weights<T: Real>(&self, rows: &Rows<'_, T>, first_row: u64) -> Vec<u8> {
        let (n, size) = (rows.n_rows().unwrap_or(0), self.plan.shard_rows as u64);
        let mut ladder = Ladder::default();
        for (shard, start) in (first_row / size..).zip((0..n).step_by(size as usize)) {
            let within = start as usize..n.min(start + size) as usize;
            let weights = rows.weights().map(|w| &w[within.clone()]);
            ladder.climb(shard, 0, RowWeights::new(within.len() as u64, weights));
        }
        self.answered(first_row, n, ladder)
    }

    fn answered<P: Partial>(&self, first_row: u64, n: u64, ladder: Ladder<P>) -> Vec<u8> {
        let mut out = self.head();
        out.count(first_row);
        out.count(n);
        let nodes = ladder.into_nodes();
        out.count(nodes.len() as u64);
        for (first, height, part) in nodes {
            out.count(first);
            out.count(u64::from(height));
            out.bytes(&to_bytes(&part));
        }
        out.into_bytes()
    }

    /// The answer of one who holds no rows.
    pub(crate) fn nothing(&self, first_row: u64) -> Vec<u8> {
        let mut out = self.head();
        [first_row, 0, 0].into_iter().for_each(|x| out.count(x));
        out.into_bytes()
    }

    /// Refuses rows that do not belong to the job, or cannot lie where they are said to.
    pub(crate) fn check(&self, rows: &AnyRows<'_>, first_row: u64) -> Result<()> {
        let refused = |found: String, remedy: String| {
            Err(Error::Unsupported {
                asked: format!("the sum '{}' over these rows", self.kind),
                found,
                remedy,
            })
        };
        let (n, p, size) = (rows.n_rows(), rows.n_features(), self.plan.shard_rows as u64);
        if rows.dtype() != self.dtype {
            let found = format!("they are {}, and the fit is of {}", rows.dtype(), self.dtype);
            return refused(found, format!("give rows of {}", self.dtype));
        }
        if p != self.n_features {
            let found = format!("they have {p} columns, and the fit is of {}", self.n_features);
            return refused(found, "give the columns that the fit is of".into());
        }
        if crate::with_rows!(rows, rows => rows.sparse().is_some()) {
            return refused("they are sparse".into(), "give dense rows".into());
        }
        let Some(n) = n else {
            return refused("their number is not known".into(), "read them into memory first".into());
        };
        let cut = |row: u64| row.is_multiple_of(size) || row == self.n_rows;
        if !cut(first_row) || !cut(first_row.saturating_add(n)) {
            let found = format!("rows {first_row} to {} of {} ", first_row + n, self.n_rows);
            let alignment = Plan::alignment(p);
            let remedy = format!("cut rows at multiples of {alignment}, which is shards.shard_rows({p})");
            return refused(found + "are not whole shards", remedy);
        }
        Ok(())
    }
}

fn heading(from: &mut Unpacker<'_>, what: &str) -> Result<(String, Dtype)> {
    let wrong = |found: &str| Err(Error::format(what, found, "use the same version of unmix everywhere"));
    match from.text() {
        Ok(magic) if magic == MAGIC.0 => {}
        _ => return wrong("it is no job of unmix and no answer to one"),
    }
    if from.count()? != MAGIC.1 {
        return wrong("it was made by another version of unmix");
    }
    let (kind, dtype) = (from.text()?, from.text()?);
    match Dtype::named(&dtype) {
        Some(dtype) => Ok((kind, dtype)),
        None => wrong("its type of numbers is none of float32 and float64"),
    }
}
