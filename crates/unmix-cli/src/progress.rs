//! Progress on standard error: a bar on a terminal, a few plain lines elsewhere, nothing when quiet.

use crate::args::Running;
use crate::{interrupt, terminal};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use unmix::{Event, Run, Watch};

/// Work that ends sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(300);
/// Plain lines begin after the first and come no faster than the second.
const LINES: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(10));

/// Shows how far a run is, and hears Ctrl-C.
pub(crate) struct Progress {
    kind: Kind,
    started: Instant,
    state: Mutex<State>,
}

enum Kind {
    Nothing,
    Bar,
    Lines,
}

#[derive(Default)]
struct State {
    bar: Option<ProgressBar>,
    stage: String,
    counted: Option<u64>,
    said: Option<Instant>,
}

impl Progress {
    pub(crate) fn new(running: &Running) -> Self {
        let kind = match (running.quiet, std::io::stderr().is_terminal()) {
            (true, _) => Kind::Nothing,
            (false, true) => Kind::Bar,
            (false, false) => Kind::Lines,
        };
        Self { kind, started: Instant::now(), state: Mutex::default() }
    }

    /// A run that reports here.
    pub(crate) fn run(&self, running: &Running) -> Run<'_> {
        let threads = running.threads.map_or_else(unmix::num_threads, |n| n as usize);
        Run { threads, watch: self, ..Run::default() }
    }

    /// Takes the bar away, before something is printed.
    pub(crate) fn clear(&self) {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(bar) = state.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn bar(&self, state: &mut State, stage: &str, done: u64, total: Option<u64>) {
        let fresh = state.bar.is_none();
        let bar = state.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        if fresh || state.stage != stage || state.counted != total {
            let template = match (total, done) {
                (Some(_), _) => "{msg:18} {bar:32} {percent:>3} %  {human_pos} of {human_len} rows  {eta} left",
                (None, 0) => "{msg:18} {spinner}",
                (None, _) => "{msg:18} {spinner} {human_pos} rows",
            };
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.progress_chars("━╸─"));
            bar.reset();
            bar.set_message(stage.to_string());
            total.map_or_else(|| bar.unset_length(), |t| bar.set_length(t));
            (state.stage, state.counted) = (stage.into(), total);
        }
        bar.set_position(done);
    }

    fn say(&self, state: &mut State, line: &str) {
        let due = state.said.is_none_or(|at| at.elapsed() > LINES.1);
        if self.started.elapsed() > LINES.0 && due {
            state.said = Some(Instant::now());
            terminal::note(line);
        }
    }
}

impl Watch for Progress {
    fn event(&self, event: Event<'_>) {
        if self.started.elapsed() < PATIENCE {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        match (&self.kind, event) {
            (Kind::Nothing, _) => {}
            (Kind::Bar, Event::Sweep { stage, done, total }) => self.bar(&mut state, stage, done, total),
            (Kind::Bar, Event::Stage(stage)) => self.bar(&mut state, stage, 0, None),
            (Kind::Bar, Event::Iteration { n_iter, residual, .. }) => {
                self.bar(&mut state, &format!("iteration {n_iter}, {residual:.1e}"), 0, None)
            }
            (Kind::Lines, Event::Sweep { stage, done, total }) => {
                let of = total.map(|t| format!(" of {t}")).unwrap_or_default();
                self.say(&mut state, &format!("{stage}: {done}{of} rows"))
            }
            (Kind::Lines, Event::Stage(stage)) => self.say(&mut state, stage),
            (Kind::Lines, Event::Iteration { n_iter, residual, .. }) => {
                self.say(&mut state, &format!("iteration {n_iter}: residual {residual:.1e}"))
            }
        }
    }

    fn interrupted(&self) -> bool {
        interrupt::pressed() > 0
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
