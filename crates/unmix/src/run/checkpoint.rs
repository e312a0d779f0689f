//! Checkpoints: the state of a fit's loops in one file, from which an interrupted fit can be resumed.
//!
//! A fit is a function of its rows, settings and seed, so the loops ([`Steps`](crate::solve::Steps)) that it runs through come in the
//! same order each time. A loop is identified by its position: its number among the loops begun so far, and
//! for a nested loop also the iteration of the outer one. A checkpoint holds the serialised state of loops by
//! their positions, each at the end of one of its iterations. A resumed fit begins like any other; a loop
//! whose position is in the file takes its state from there. Computations between loops, and iterations after
//! the last stored state, are repeated and have the same bits.
//!
//! The interval between two writes is that of the file, not of a loop. States are serialised more often than the
//! file is written, so that a write holds the loops that have ended since the last one, too.

mod identity;

use super::{NewFile, Run};
use crate::error::{Error, Result};
use identity::compare;
pub(crate) use identity::{Identity, table_checksum};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The first bytes of a checkpoint; the number is that of its format.
const MAGIC: &[u8; 20] = b"unmix checkpoint  2\n";

/// Seconds between two writes by default.
const SECONDS_BETWEEN_WRITES: f64 = 60.0;

/// The state of a loop is serialised again after this multiple of the time that it took: about 1 % of the time of the loop.
const SERIALISED_AFTER_MULTIPLE: u32 = 100;

/// A file with the state of a fit.
///
/// ```
/// use unmix::{Checkpoint, Ica, Rows, Run};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("ica.checkpoint");
/// # let x: Vec<f64> = (0..4000).map(|i| f64::from(i * i % 1013)).collect();
/// let checkpoint = Checkpoint::new(&path).every(0.5).resume(true);
/// let run = Run { checkpoint: Some(&checkpoint), ..Run::default() };
/// let model = Ica::default().fit(&mut Rows::from_slice(&x, 4)?, &run)?;
/// // Once the model is stored, the checkpoint is no longer needed.
/// checkpoint.remove()?;
/// # Ok::<(), unmix::Error>(())
/// ```
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    every: Duration,
    resume: bool,
    journal: Mutex<Journal>,
}

/// A loop's position: number and iteration of each loop around it, then its own number.
type Key = Vec<(u64, u64)>;

/// The identity of the fit, its running loops, and the states stored so far.
#[derive(Debug, Default)]
struct Journal {
    /// `None` until a fit has begun: loops before that belong to no fit.
    of: Option<Identity>,
    records: BTreeMap<Key, Record>,
    /// The loops that run, the outermost first.
    active: Vec<Level>,
    /// Number of outermost loops begun.
    begun: u64,
    /// Time of the last write.
    written: Option<Instant>,
    /// Whether states were kept after it.
    unwritten: bool,
    /// The reason why the last write failed.
    write_error: Option<String>,
}

/// A running loop.
#[derive(Debug)]
struct Level {
    number: u64,
    n_iter: u64,
    /// Loops begun in this iteration.
    begun: u64,
}

/// The state of a loop at the end of an iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    name: String,
    state: Vec<u8>,
}

/// The contents of the file.
#[derive(Serialize, Deserialize)]
struct Content<'a> {
    of: Cow<'a, Identity>,
    records: Cow<'a, BTreeMap<Key, Record>>,
}

impl Checkpoint {
    /// A checkpoint that is written to `path` once a minute while a fit iterates.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let every = Duration::from_secs_f64(SECONDS_BETWEEN_WRITES);
        Self { path: path.into(), every, resume: false, journal: Mutex::default() }
    }

    /// Sets the interval between two writes, in seconds; 0 writes after every iteration.
    #[must_use]
    pub fn every(mut self, seconds: f64) -> Self {
        self.every = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self
    }

    /// Sets whether a fit resumes from the file. Without a file, it starts from the beginning.
    #[must_use]
    pub fn resume(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The reason why the last write failed, if it did; the fit itself is not affected.
    pub fn write_error(&self) -> Option<String> {
        self.journal().write_error.clone()
    }

    /// Removes the file, if there is one: to be called when the model has been stored.
    ///
    /// # Errors
    ///
    /// The system's reason if it cannot be removed.
    pub fn remove(&self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("cannot remove", &self.path, e))
            }
            _ => Ok(()),
        }
    }

    /// Begins a fit: compares its identity with that of the file if it resumes, and writes the file.
    pub(crate) fn bind(&self, of: Identity) -> Result<()> {
        let mut journal = self.journal();
        *journal = Journal::default();
        match (self.path.exists(), self.resume) {
            (true, true) => {
                let found = read(&self.path)?;
                compare(&self.path, &found.of, &of)?;
                journal.records = found.records.into_owned();
            }
            (true, false) => check_replaceable(&self.path)?,
            (false, _) => {}
        }
        journal.of = Some(of);
        // So that a path that cannot be written is an error before hours of work.
        journal.write(&self.path)
    }

    /// Writes the states that were kept since the last write, at the end of a fit that may be resumed.
    pub(crate) fn write_kept(&self) {
        let mut journal = self.journal();
        if journal.unwritten {
            let written = journal.write(&self.path);
            journal.write_error = written.err().map(|e| e.to_string());
        }
    }

    /// Begins a loop: returns its position, and its state in the file if there is one.
    pub(crate) fn enter<S: DeserializeOwned>(
        &self,
        name: &str,
        run: &Run<'_>,
    ) -> Result<(LoopPosition<'_>, Option<S>)> {
        let (place, kept) = self.enter_packed(name, run)?;
        let state = kept.map(|state| {
            postcard::from_bytes(&state).map_err(|_| {
                self.unreadable(&format!("its state of '{name}' cannot be read by this version"))
            })
        });
        Ok((place, state.transpose()?))
    }

    fn enter_packed(&self, name: &str, run: &Run<'_>) -> Result<(LoopPosition<'_>, Option<Vec<u8>>)> {
        let mut journal = self.journal();
        let number = match journal.active.last_mut() {
            Some(around) => {
                around.begun += 1;
                around.begun - 1
            }
            None => {
                journal.begun += 1;
                journal.begun - 1
            }
        };
        let depth = journal.active.len();
        let key = journal.key_of(number);
        journal.active.push(Level { number, n_iter: 0, begun: 0 });
        let (in_time, packed) = (!run.ends_early(), (Instant::now(), Duration::ZERO));
        let place = LoopPosition { checkpoint: self, key, depth, name: name.into(), in_time, packed };
        let kept = journal.records.get(&place.key).cloned();
        // Abandoning the position clears the journal, too.
        drop(journal);
        match kept {
            Some(record) if record.name != name => {
                let found =
                    format!("it holds the state of '{}' where that of '{name}' is expected", record.name);
                Err(self.unreadable(&found))
            }
            kept => Ok((place, kept.map(|record| record.state))),
        }
    }

    fn unreadable(&self, found: &str) -> Error {
        Error::format(&self.path, found, BEGIN_ANEW)
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const BEGIN_ANEW: &str = "delete it, or fit without resuming";

impl Journal {
    fn key_of(&self, number: u64) -> Key {
        let around = self.active.iter().map(|level| (level.number, level.n_iter));
        around.chain([(number, 0)]).collect()
    }

    /// Whether so much time has passed since the last write.
    fn is_due(&self, every: Duration) -> bool {
        self.written.is_none_or(|written| written.elapsed() >= every)
    }

    /// Replaces the state of a loop, and those of the loops inside it.
    fn insert(&mut self, key: Key, record: Record) {
        let depth = key.len() - 1;
        let inside = |other: &Key| {
            other.len() > key.len() && other[..depth] == key[..depth] && other[depth].0 == key[depth].0
        };
        self.records.retain(|other, _| !inside(other));
        self.records.insert(key, record);
        self.unwritten = true;
    }

    fn write(&mut self, path: &Path) -> Result<()> {
        let Some(of) = &self.of else { return Ok(()) };
        self.written = Some(Instant::now());
        let content = Content { of: Cow::Borrowed(of), records: Cow::Borrowed(&self.records) };
        let packed = postcard::to_allocvec(&content).unwrap_or_default();
        let mut file = NewFile::create(path)?;
        file.put(MAGIC)?;
        file.put(&crc32fast::hash(&packed).to_le_bytes())?;
        file.put(&packed)?;
        file.finish()?;
        self.unwritten = false;
        Ok(())
    }
}

/// Refuses to replace a file that is not a checkpoint, of any version.
fn check_replaceable(path: &Path) -> Result<()> {
    let mut beginning = Vec::new();
    let opened = std::fs::File::open(path).and_then(|file| file.take(16).read_to_end(&mut beginning));
    opened.map_err(|e| Error::io("cannot read", path, e))?;
    match beginning == MAGIC[..16] {
        true => Ok(()),
        false => Err(Error::format(path, "it is not a checkpoint", "give the checkpoint another name")),
    }
}

fn read(path: &Path) -> Result<Content<'static>> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("cannot read", path, e))?;
    let refused = |found: &str, remedy: &str| Err(Error::format(path, found, remedy));
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return match bytes.starts_with(&MAGIC[..16]) {
            true => refused("it is a checkpoint of another version of unmix", BEGIN_ANEW),
            false => refused("it is not a checkpoint", "give the checkpoint another name"),
        };
    };
    let content = rest.split_first_chunk::<4>().and_then(|(sum, packed)| {
        let whole = u32::from_le_bytes(*sum) == crc32fast::hash(packed);
        whole.then(|| postcard::from_bytes(packed).ok()).flatten()
    });
    match content {
        Some(content) => Ok(content),
        None => refused("it is truncated or corrupt", "delete it to fit from the beginning"),
    }
}

/// The position of a running loop in the nesting of loops.
pub(crate) struct LoopPosition<'c> {
    checkpoint: &'c Checkpoint,
    key: Key,
    depth: usize,
    name: String,
    /// Whether no loop so far was truncated by the time limit or the observer.
    in_time: bool,
    /// When its state was last serialised, and how long that took.
    packed: (Instant, Duration),
}

impl LoopPosition<'_> {
    /// Ends an iteration, `last` if no other one follows, and with it the loops inside it. If the interval has passed, the file
    /// is written.
    pub(crate) fn ended<S: Serialize>(&mut self, n_iter: u64, last: bool, run: &Run<'_>, state: &S) {
        self.ended_packed(n_iter, last, run, &|| postcard::to_allocvec(state).ok());
    }

    fn ended_packed(&mut self, n_iter: u64, last: bool, run: &Run<'_>, pack: &dyn Fn() -> Option<Vec<u8>>) {
        let mut journal = self.checkpoint.journal();
        journal.active.truncate(self.depth + 1);
        let Some(own) = journal.active.last_mut() else { return };
        let alone = std::mem::take(&mut own.begun) == 0;
        own.n_iter = n_iter;
        let late = run.ends_early();
        // An iteration in which a loop may have been truncated is not one that an uninterrupted fit would have taken.
        self.in_time &= alone || !late;
        let due = late || run.observer.interrupted() || journal.is_due(self.checkpoint.every);
        // A loop may end after any iteration without a further call: its state is kept for the next write. That of a loop with others
        // inside it takes the place of theirs.
        let (packed, took) = self.packed;
        let kept =
            due || last || !alone || packed.elapsed() >= took.saturating_mul(SERIALISED_AFTER_MULTIPLE);
        if journal.of.is_none() || !self.in_time || !kept {
            return;
        }
        let begun = Instant::now();
        let Some(state) = pack() else { return };
        journal.insert(self.key.clone(), Record { name: self.name.clone(), state });
        self.packed = (Instant::now(), begun.elapsed());
        if due {
            let written = journal.write(&self.checkpoint.path);
            journal.write_error = written.err().map(|e| e.to_string());
        }
    }

    /// Sets the number of iterations after which the loop continues.
    pub(crate) fn at(&self, n_iter: u64) {
        if let Some(own) = self.checkpoint.journal().active.get_mut(self.depth) {
            own.n_iter = n_iter;
        }
    }
}

impl Drop for LoopPosition<'_> {
    fn drop(&mut self) {
        self.checkpoint.journal().active.truncate(self.depth);
    }
}

#[cfg(test)]
mod tests;
