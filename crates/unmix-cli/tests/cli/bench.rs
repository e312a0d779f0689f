//! A folder of its own for each test, and the program run in it.

use std::path::{Path, PathBuf};
use std::process::Output;
use unmix::data::write_npy;

/// A folder that the program runs in.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
}

/// What the program did.
pub(crate) struct Ran {
    /// Exit code.
    pub(crate) code: i32,
    /// Standard output, byte by byte.
    pub(crate) bytes: Vec<u8>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs `unmix` with words between blanks.
    pub(crate) fn run(&self, command: &str) -> Ran {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_unmix"));
        let Output { status, stdout, stderr } =
            program.current_dir(self.dir.path()).args(command.split_whitespace()).output().unwrap();
        Ran {
            code: status.code().unwrap(),
            out: String::from_utf8_lossy(&stdout).into_owned(),
            bytes: stdout,
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Runs `unmix` and expects that it did what it was asked.
    pub(crate) fn ok(&self, command: &str) -> Ran {
        let ran = self.run(command);
        assert_eq!(ran.code, 0, "unmix {command}: {}", ran.err);
        ran
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Names of everything in the folder, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// `n` rows of `p` numbers without structure, but with means and scales that differ by column.
    pub(crate) fn table(n: usize, p: usize) -> Vec<f64> {
        let noise = unmix::num::random::Stream::new(5, 0);
        (0..n * p).map(|i| (i % p) as f64 + (1.0 + (i % p) as f64) * noise.normal(i as u64)).collect()
    }

    /// The same numbers as `name.npy` and as `name.csv` with a header.
    pub(crate) fn both(&self, name: &str, n: usize, p: usize) -> Vec<f64> {
        let data = Self::table(n, p);
        write_npy(&self.path(&format!("{name}.npy")), &data, &[p]).unwrap();
        let mut text = (0..p).map(|j| format!("c{j}")).collect::<Vec<_>>().join(",");
        for row in data.chunks(p) {
            text += &format!("\n{}", row.iter().map(f64::to_string).collect::<Vec<_>>().join(","));
        }
        self.write(&format!("{name}.csv"), text + "\n");
        data
    }
}

/// Numbers of a `.npy` file of doubles, and its shape.
pub(crate) fn read_npy(path: &Path) -> (Vec<f64>, Vec<usize>) {
    let (array, shape) = unmix::data::open_npy(path).unwrap();
    let rows = unmix::Rows::<f64>::new(array, Default::default(), "test");
    let (n, p) = (rows.n_rows().unwrap(), rows.n_features());
    let mut all = vec![n as usize];
    all.extend(shape.unwrap_or(vec![p]));
    (rows.some(0..n).unwrap(), all)
}
