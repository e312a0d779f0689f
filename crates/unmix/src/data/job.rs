//! Serialised sweeps, and the results of the workers that hold the rows.
//!
//! A job consists of the kind of gather, its state, the map of the rows to coordinates, and the sharding; a result has nodes of
//! the merge tree.

use super::projected::Map;
use super::sweep::Nodes;
use super::{AnyRows, Rows, Workers};
use crate::error::{Error, Result, counted};
use crate::num::{Dtype, Plan, Real};
use crate::run::Run;
use crate::stats::{AnyGather, AnyPartial, Packer, RowWeights, Unpacker};

/// The header of jobs and results, and the version of their format.
const MAGIC: (&str, u64) = ("unmix shards", 3);

/// Makes a gather from its packed state.
pub(crate) type UnpackGather<T> = fn(&mut Unpacker<'_>) -> Result<Box<dyn AnyGather<T>>>;

/// Makes a partial from its packed form.
type PartFrom<'a> = dyn Fn(&[u8]) -> Result<Box<dyn AnyPartial>> + 'a;

/// A serialised sweep.
pub(crate) struct Job {
    kind: String,
    dtype: Dtype,
    plan: Plan,
    /// Number of columns of the rows that are summed.
    width: usize,
    /// Number of columns of the rows that the workers hold: those that are summed, or from which `maps` compute them.
    n_features: usize,
    n_rows: u64,
    /// Whether the rows that the workers hold are sparse.
    sparse: bool,
    /// Affine maps to coordinates that are applied one after the other before the sum, serialised.
    maps: Vec<Vec<u8>>,
    state: Vec<u8>,
}

/// The result of a worker that holds rows `rows`.
struct JobResult {
    rows: std::ops::Range<u64>,
    nodes: Vec<(u64, u32, Box<dyn AnyPartial>)>,
}

impl Job {
    /// The job that sums `gather` over `rows`, cut by `plan`.
    pub(super) fn of<T: Real>(gather: &dyn AnyGather<T>, plan: Plan, rows: &Rows<'_, T>) -> Self {
        let mut state = Packer::default();
        gather.pack_any(&mut state);
        Self {
            kind: gather.kind().to_string(),
            dtype: T::DTYPE,
            plan,
            width: rows.n_features(),
            n_features: rows.n_features(),
            n_rows: rows.n_rows().unwrap_or(0),
            sparse: rows.is_sparse(),
            maps: Vec::new(),
            state: state.into_bytes(),
        }
    }

    /// The same job over rows from which `map` computes the rows of this job; `sparse`: whether those are sparse.
    pub(super) fn through<T: Real>(mut self, map: &Map<T>, sparse: bool) -> Self {
        let mut packed = Packer::default();
        map.pack(&mut packed);
        self.maps.insert(0, packed.into_bytes());
        (self.n_features, self.sparse) = (map.n_features(), sparse);
        self
    }

    /// The kind of gather.
    pub(crate) fn kind(&self) -> &str {
        &self.kind
    }

    pub(super) fn pack(&self) -> Vec<u8> {
        let mut out = self.head();
        out.count(self.plan.block_rows as u64);
        out.count(self.plan.shard_rows as u64);
        out.count(self.width as u64);
        out.count(self.n_features as u64);
        out.count(self.n_rows);
        out.count(u64::from(self.sparse));
        out.count(self.maps.len() as u64);
        self.maps.iter().for_each(|map| out.bytes(map));
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

    /// Inverse of [`pack`](Self::pack).
    pub(crate) fn unpack(bytes: &[u8]) -> Result<Self> {
        let mut from = Unpacker::new(bytes);
        let (kind, dtype) = heading(&mut from, "the job")?;
        let (block_rows, shard_rows) = (from.count()? as usize, from.count()? as usize);
        let (width, n_features) = (from.count()? as usize, from.count()? as usize);
        let (n_rows, sparse) = (from.count()?, from.flag()?);
        let maps = (0..from.count()?).map(|_| from.bytes().map(<[u8]>::to_vec)).collect::<Result<_>>()?;
        let state = from.bytes()?.to_vec();
        from.end()?;
        from.check(block_rows > 0 && shard_rows > 0 && shard_rows.is_multiple_of(block_rows))?;
        Ok(Self {
            kind,
            dtype,
            plan: Plan { block_rows, shard_rows },
            width,
            n_features,
            n_rows,
            sparse,
            maps,
            state,
        })
    }

    /// The merged total of the results of this job, whose gather is `gather`.
    pub(super) fn gathered<T: Real>(
        &self,
        gather: &dyn AnyGather<T>,
        workers: &dyn Workers,
    ) -> Result<Box<dyn AnyPartial>> {
        let answers = workers.gather_all(&self.pack())?;
        let part_from = |bytes: &[u8]| gather.part_from(bytes);
        let mut parts = answers
            .iter()
            .map(|bytes| self.answer_of(bytes, &part_from))
            .collect::<Result<Vec<JobResult>>>()?;
        parts.sort_by_key(|part| (part.rows.start, part.rows.end));
        let mut next = 0;
        for part in &parts {
            if part.rows.start != next {
                let (what, rows) = match part.rows.start < next {
                    true => ("are in two results", part.rows.start..next.min(part.rows.end)),
                    false => ("are in no result", next..part.rows.start),
                };
                return Err(self.wrong(format!("rows {} to {} {what}", rows.start, rows.end - 1)));
            }
            next = part.rows.end;
        }
        if next != self.n_rows {
            return Err(self.wrong(format!("rows {next} to {} are in no result", self.n_rows.max(1) - 1)));
        }
        let mut nodes = Nodes::default();
        for (first, height, part) in parts.into_iter().flat_map(|part| part.nodes) {
            nodes.merge_up(first, height, part);
        }
        nodes.total().ok_or_else(|| self.wrong("no worker has any rows".into()))
    }

    fn wrong(&self, found: String) -> Error {
        Error::unsupported(
            format!("the sum '{}' over {}", self.kind, counted(self.n_rows, "row")),
            found,
            "every worker must return one result, for all the rows that it holds",
        )
    }

    /// Deserialises one result: nodes that cover its rows, each shard once.
    fn answer_of(&self, bytes: &[u8], part_from: &PartFrom<'_>) -> Result<JobResult> {
        let mut from = Unpacker::new(bytes);
        let (kind, dtype) = heading(&mut from, "a result")?;
        if kind != self.kind || dtype != self.dtype {
            let found =
                format!("a result of the sum '{kind}' in {dtype}, not '{}' in {}", self.kind, self.dtype);
            return Err(self.wrong(found));
        }
        let width = from.count()?;
        if width != self.width as u64 {
            return Err(self.wrong(format!(
                "a result over rows of {}, not of {}",
                counted(width, "column"),
                self.width
            )));
        }
        let (first_row, n_rows, count) = (from.count()?, from.count()?, from.count()?);
        let size = self.plan.shard_rows as u64;
        let end = first_row.checked_add(n_rows).filter(|end| *end <= self.n_rows);
        // A worker without rows may be at the end of the rows.
        let whole = first_row.is_multiple_of(size) || first_row == self.n_rows;
        let Some(end) = end.filter(|_| whole) else {
            let found = match n_rows {
                1 => {
                    format!("a result covers row {first_row} alone, which is not a whole shard of these rows")
                }
                n => format!(
                    "a result covers {n} rows from row {first_row} on, which are not whole shards of these rows"
                ),
            };
            return Err(self.wrong(found));
        };
        let (mut nodes, mut next) = (Vec::new(), first_row.div_ceil(size));
        for _ in 0..count {
            let (first, height) = (from.count()?, from.count()?);
            if first != next {
                let found = format!("a result has a node at shard {first} instead of {next}");
                return Err(self.wrong(found));
            }
            if height > 63 || !first.is_multiple_of(1 << height) {
                return Err(self.wrong(format!("a result has a node of height {height} at shard {first}")));
            }
            next = first.saturating_add(1 << height);
            nodes.push((first, height as u32, part_from(from.bytes()?)?));
        }
        from.end()?;
        if next != end.div_ceil(size) {
            let shards = end.div_ceil(size);
            return Err(
                self.wrong(format!("the nodes of a result end at shard {next}, its rows at shard {shards}"))
            );
        }
        Ok(JobResult { rows: first_row..end, nodes })
    }

    /// The result of a worker that holds `rows`, the first of which is row `first_row` of all.
    pub(crate) fn answer<T: Real>(
        &self,
        unpack: UnpackGather<T>,
        rows: &Rows<'_, T>,
        first_row: u64,
        run: &Run<'_>,
    ) -> Result<Vec<u8>> {
        let mut from = Unpacker::new(&self.state);
        let gather = unpack(&mut from)?;
        from.end()?;
        let nodes = self.summed(&self.maps, rows, first_row, run, gather.as_ref())?;
        Ok(self.answered(first_row, rows.n_rows().unwrap_or(0), nodes))
    }

    /// The nodes of the sums of `gather` over the rows that result from applying `maps` one after the other to `rows`.
    fn summed<T: Real>(
        &self,
        maps: &[Vec<u8>],
        rows: &Rows<'_, T>,
        first_row: u64,
        run: &Run<'_>,
        gather: &dyn AnyGather<T>,
    ) -> Result<Nodes> {
        let Some((map, further)) = maps.split_first() else {
            super::sweep::check_gather(gather, rows.n_features(), &self.kind)?;
            return rows.nodes(self.plan, first_row, run, &self.kind, gather);
        };
        let mut from = Unpacker::new(map);
        let map = Map::unpack(&mut from)?;
        from.end()?;
        from.check(map.n_features() == rows.n_features())?;
        self.summed(further, &rows.mapped(&map)?, first_row, run, gather)
    }

    /// The result of a request for sample weights: the rows themselves are not read.
    pub(crate) fn answer_weights<T: Real>(&self, rows: &Rows<'_, T>, first_row: u64) -> Vec<u8> {
        let (n, size) = (rows.n_rows().unwrap_or(0), self.plan.shard_rows as u64);
        let mut nodes = Nodes::default();
        for (shard, start) in (first_row / size..).zip((0..n).step_by(size as usize)) {
            let within = start as usize..n.min(start + size) as usize;
            let weights = rows.weights().map(|w| &w[within.clone()]);
            let part: Box<dyn AnyPartial> = Box::new(RowWeights::new(within.len() as u64, weights));
            nodes.merge_up(shard, 0, part);
        }
        self.answered(first_row, n, nodes)
    }

    fn answered(&self, first_row: u64, n: u64, nodes: Nodes) -> Vec<u8> {
        let mut out = self.head();
        [self.width as u64, first_row, n].into_iter().for_each(|x| out.count(x));
        let nodes = nodes.into_nodes();
        out.count(nodes.len() as u64);
        for (first, height, part) in nodes {
            out.count(first);
            out.count(u64::from(height));
            let mut packed = Packer::default();
            part.pack_any(&mut packed);
            out.bytes(&packed.into_bytes());
        }
        out.into_bytes()
    }

    /// The result of a worker that holds no rows.
    pub(crate) fn nothing(&self, first_row: u64) -> Vec<u8> {
        let mut out = self.head();
        [self.width as u64, first_row, 0, 0].into_iter().for_each(|x| out.count(x));
        out.into_bytes()
    }

    /// Refuses rows that do not match the job, or whose position is not at a shard boundary.
    pub(crate) fn check(&self, rows: &AnyRows<'_>, first_row: u64) -> Result<()> {
        let refused = |found: String, remedy: String| {
            Err(Error::unsupported(format!("the sum '{}' over these rows", self.kind), found, remedy))
        };
        let (n, p, size) = (rows.n_rows(), rows.n_features(), self.plan.shard_rows as u64);
        if rows.dtype() != self.dtype {
            let found = format!("they are {}, but the fit is of {}", rows.dtype(), self.dtype);
            return refused(found, format!("give rows of {}", self.dtype));
        }
        if p != self.n_features {
            let found =
                format!("they have {}, but the fit is of {}", counted(p as u64, "column"), self.n_features);
            return refused(found, "give the columns of the fit".into());
        }
        let sparse = crate::with_rows!(rows, rows => rows.sparse().is_some());
        if sparse != self.sparse {
            let name = |sparse: bool| if sparse { "sparse" } else { "dense" };
            let found = format!("they are {}, but the fit is of {} rows", name(sparse), name(self.sparse));
            return refused(found, format!("give {} rows", name(self.sparse)));
        }
        let Some(n) = n else {
            return refused(
                "their number is not known in advance".into(),
                "read them into memory first".into(),
            );
        };
        let cut = |row: u64| row.is_multiple_of(size) || row == self.n_rows;
        if !cut(first_row) || !cut(first_row.saturating_add(n)) {
            let found = format!("rows {first_row} to {} of {} ", first_row + n, self.n_rows);
            let remedy = match sparse {
                true => {
                    format!(
                        "cut sparse rows of {p} columns at multiples of {}",
                        Plan::for_stored(p).shard_rows
                    )
                }
                false => {
                    format!(
                        "cut rows at multiples of {}, which is shards.shard_rows({p})",
                        Plan::alignment(p)
                    )
                }
            };
            return refused(found + "are not whole shards", remedy);
        }
        Ok(())
    }
}

/// Reads the header of a job or a result: the kind of gather and the type of the rows.
fn heading(from: &mut Unpacker<'_>, what: &str) -> Result<(String, Dtype)> {
    let wrong = |found: &str| Err(Error::format(what, found, "use the same version of unmix everywhere"));
    match from.text() {
        Ok(magic) if magic == MAGIC.0 => {}
        _ => return wrong("it is neither an unmix job nor the result of one"),
    }
    if from.count()? != MAGIC.1 {
        return wrong("it was made by another version of unmix");
    }
    let (kind, dtype) = (from.text()?, from.text()?);
    match Dtype::named(&dtype) {
        Some(dtype) => Ok((kind, dtype)),
        None => wrong("its dtype is neither float32 nor float64"),
    }
}
