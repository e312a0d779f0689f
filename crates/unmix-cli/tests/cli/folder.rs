//! A temporary folder for each test, in which the program is run.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use unmix::data::write_npy;

/// A temporary folder that is the working directory of the program.
pub(crate) struct Folder {
    dir: tempfile::TempDir,
}

/// Exit code and output of a run of the program.
pub(crate) struct Ran {
    /// Exit code.
    pub(crate) code: i32,
    /// Standard output as bytes.
    pub(crate) bytes: Vec<u8>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

fn ran(output: Output) -> Ran {
    let Output { status, stdout, stderr } = output;
    Ran {
        code: status.code().unwrap(),
        out: String::from_utf8_lossy(&stdout).into_owned(),
        bytes: stdout,
        err: String::from_utf8(stderr).unwrap(),
    }
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs `unmix` with the arguments in `command`, which are separated by whitespace.
    pub(crate) fn run(&self, command: &str) -> Ran {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_unmix"));
        ran(program.current_dir(self.dir.path()).args(command.split_whitespace()).output().unwrap())
    }

    /// Runs a line in the shell, with `unmix` on the PATH.
    #[cfg(unix)]
    pub(crate) fn shell(&self, line: &str) -> Ran {
        let folder = Path::new(env!("CARGO_BIN_EXE_unmix")).parent().unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
        let mut shell = std::process::Command::new("sh");
        ran(shell.current_dir(self.dir.path()).env("PATH", path).args(["-c", line]).output().unwrap())
    }

    /// Starts `unmix` without waiting for it; its output is discarded.
    pub(crate) fn start(&self, command: &str) -> std::process::Child {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_unmix"));
        program.current_dir(self.dir.path()).args(command.split_whitespace());
        program.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Runs `unmix` with `input` as its standard input.
    pub(crate) fn run_with(&self, command: &str, input: &[u8]) -> Ran {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_unmix"));
        program.current_dir(self.dir.path()).args(command.split_whitespace());
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().unwrap();
        // The input fits into the buffer of the pipe, so the write cannot deadlock; a program that does not read its input is not an
        // error here.
        let _ = child.stdin.take().unwrap().write_all(input);
        ran(child.wait_with_output().unwrap())
    }

    /// Runs `unmix`; returns its exit code, its peak resident memory in bytes, and its standard error.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak(&self, command: &str) -> (i32, u64, String) {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_unmix"));
        program.current_dir(self.dir.path()).args(command.split_whitespace());
        let errors = std::fs::File::create(self.path("errors.txt")).unwrap();
        let mut child = program.stdout(Stdio::null()).stderr(errors).spawn().unwrap();
        let status = format!("/proc/{}/status", child.id());
        // The peak that the system reports for a process that has ended includes the memory of its parent, so it is polled while the
        // process runs.
        let mut peak = 0;
        let code = loop {
            if let Some(ended) = child.try_wait().unwrap() {
                break ended.code().unwrap();
            }
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            // Before the program is executed, the process has the name and the memory of its parent.
            let text = if text.starts_with("Name:\tunmix\n") { text } else { String::new() };
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
            peak = peak.max(kib.unwrap_or(0) << 10);
            std::thread::sleep(std::time::Duration::from_millis(1));
        };
        (code, peak, std::fs::read_to_string(self.path("errors.txt")).unwrap())
    }

    /// Runs `unmix` and asserts that the exit code is 0.
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

    /// Names of all files in the folder, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// `n` rows of `p` independent normal numbers, whose means and standard deviations differ by column.
    pub(crate) fn table(n: usize, p: usize) -> Vec<f64> {
        let noise = unmix::internal::num::random::Stream::new(5, 0);
        (0..n * p).map(|i| (i % p) as f64 + (1.0 + (i % p) as f64) * noise.normal(i as u64)).collect()
    }

    /// Writes the same numbers to `name.npy` and to `name.csv` with a header, and returns them.
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

/// The rows of a CSV text with a header.
pub(crate) fn numbers(text: &str) -> Vec<Vec<f64>> {
    let line = |line: &str| line.split(',').map(|x| x.parse().unwrap()).collect();
    text.lines().skip(1).map(line).collect()
}

/// A model file without its entry `run`, whose times and number of threads differ between runs.
pub(crate) fn without_run(bytes: &[u8]) -> (serde_json::Value, Vec<u8>) {
    let n = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + n]).unwrap();
    assert!(header["__metadata__"].as_object_mut().unwrap().remove("run").is_some());
    (header, bytes[8 + n..].to_vec())
}

/// The numbers and the shape of a `.npy` file of doubles.
pub(crate) fn read_npy(path: &Path) -> (Vec<f64>, Vec<usize>) {
    let (array, shape) = unmix::data::open_npy(path).unwrap();
    let rows = unmix::Rows::<f64>::new(array, Default::default(), "test");
    let (n, p) = (rows.n_rows().unwrap(), rows.n_features());
    let mut all = vec![n as usize];
    all.extend(shape.unwrap_or(vec![p]));
    (rows.read_range(0..n).unwrap(), all)
}
