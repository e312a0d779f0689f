//! The arguments of a process, and its time limit.

use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::npy::{self, Real, Rows};

pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

unsafe extern "C" {
    fn _exit(code: c_int) -> !;
}

/// The exit code when one fit takes longer than allowed: that of `timeout`.
const OVER: c_int = 124;

pub struct Job {
    pub k: usize,
    least: usize,
    most: usize,
    seconds: f64,
    limit: f64,
    folder: PathBuf,
    /// When the fit that runs must have ended, in milliseconds of `born`; 0 while none runs.
    deadline: Arc<AtomicU64>,
    born: Instant,
}

impl Job {
    pub fn new(words: &[String]) -> Outcome<Job> {
        let [folder, k, least, most, seconds, limit] = words else {
            return Err("it takes nine arguments".into());
        };
        let (deadline, born) = (Arc::new(AtomicU64::new(0)), Instant::now());
        let seen = Arc::clone(&deadline);
        // A thread checks the time, because a fit inside a crate cannot be interrupted.
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_millis(100));
                let end = seen.load(Ordering::Relaxed);
                if end > 0 && born.elapsed().as_millis() as u64 > end {
                    // Not `exit`: OpenBLAS would wait there for the threads that work on the fit.
                    // SAFETY: `_exit` of the C library takes any number and does not return; nothing is used after it.
                    unsafe { _exit(OVER) };
                }
            }
        });
        Ok(Job {
            k: k.parse()?,
            least: least.parse()?,
            most: most.parse()?,
            seconds: seconds.parse()?,
            limit: limit.parse()?,
            folder: folder.into(),
            deadline,
            born,
        })
    }

    /// Fits until there are enough times, prints them with the memory, and returns what the last fit found.
    pub fn time<R>(&self, mut fit: impl FnMut() -> Outcome<R>) -> Outcome<R> {
        let rest = memory("VmRSS");
        let mut found = self.limited(&mut fit)?.0;
        let (mut times, mut total) = (Vec::new(), 0.0);
        while times.len() < self.most
            && (total < self.seconds || (times.len() < self.least && total < self.limit))
        {
            let (result, taken) = self.limited(&mut fit)?;
            found = result;
            times.push(taken);
            total += taken;
        }
        println!("{{\"times\": {times:?}, \"rest_kib\": {rest}, \"peak_kib\": {}}}", memory("VmHWM"));
        Ok(found)
    }

    fn limited<R>(&self, fit: &mut impl FnMut() -> Outcome<R>) -> Outcome<(R, f64)> {
        let end = self.born.elapsed().as_millis() as u64 + (self.limit * 1e3) as u64;
        self.deadline.store(end, Ordering::Relaxed);
        let start = Instant::now();
        let result = fit()?;
        let taken = start.elapsed().as_secs_f64();
        self.deadline.store(0, Ordering::Relaxed);
        Ok((result, taken))
    }

    /// Writes a part of the answer.
    pub fn tell<T: Real>(
        &self,
        name: &str,
        n: usize,
        p: usize,
        values: impl IntoIterator<Item = T>,
    ) -> Outcome<()> {
        let values = values.into_iter().map(Into::into).collect();
        npy::write(&self.folder.join(format!("{name}.npy")), &Rows { n, p, values })
    }
}

/// A line of the system's status of this process, in KiB, as JSON.
fn memory(name: &str) -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line =
        status.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().nth(1).map(str::to_owned));
    line.unwrap_or("null".to_owned())
}
