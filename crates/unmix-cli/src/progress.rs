//! Progress on standard error: a bar on a terminal, a few plain lines elsewhere, nothing when quiet.

use crate::args::Running;
use crate::{interrupt, terminal};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;
use unmix::{Event, Run, Watch};

/// When the bar appears: work that ends sooner shows none.
const BAR: Duration = Duration::from_millis(300);
/// When the first plain line appears, and how long until each further one.
const LINES: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(10));

/// Shows the progress of a run, and handles Ctrl-C.
pub(crate) struct Progress {
    shared: Option<Arc<Shared>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    now: LastEvent,
    bar: Option<ProgressBar>,
    ended: bool,
}

/// What was last heard.
#[derive(Clone, Default, PartialEq)]
struct LastEvent {
    stage: String,
    done: u64,
    total: Option<u64>,
}

impl Progress {
    pub(crate) fn new(running: &Running) -> Self {
        if running.quiet {
            return Self { shared: None };
        }
        let shared = Arc::<Shared>::default();
        let teller = shared.clone();
        let tell = if std::io::stderr().is_terminal() { Shared::show_bar } else { Shared::say_lines };
        // A thread of its own: a long factorisation reports nothing until it has ended. Without it there is no progress to
        // see, and nothing else is missing.
        let _ = std::thread::Builder::new().name("unmix-progress".into()).spawn(move || tell(&teller));
        Self { shared: Some(shared) }
    }

    /// A run that reports here.
    pub(crate) fn run(&self, running: &Running) -> Run<'_> {
        let threads = running.threads.map_or_else(unmix::num_threads, |n| n as usize);
        Run { threads, watch: self, ..Run::default() }
    }

    /// Ends the show, before something else is printed.
    pub(crate) fn clear(&self) {
        let Some(shared) = &self.shared else { return };
        let mut state = shared.lock();
        state.ended = true;
        if let Some(bar) = state.bar.take() {
            bar.finish_and_clear();
        }
        shared.ended.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits; the state, unless the run has ended meanwhile.
    fn wait(&self, time: Duration) -> Option<MutexGuard<'_, State>> {
        let waited = self.ended.wait_timeout_while(self.lock(), time, |state| !state.ended);
        let state = waited.map_or_else(|e| e.into_inner().0, |(state, _)| state);
        (!state.ended).then_some(state)
    }

    fn show_bar(&self) {
        let Some(mut state) = self.wait(BAR) else { return };
        let bar = ProgressBar::new_spinner();
        dress(&bar, &state.now);
        bar.enable_steady_tick(Duration::from_millis(100));
        state.bar = Some(bar);
    }

    fn say_lines(&self) {
        let mut time = LINES.0;
        while let Some(state) = self.wait(time) {
            terminal::note(&line(&state.now));
            time = LINES.1;
        }
    }
}

/// The looks of the bar at a stage.
fn dress(bar: &ProgressBar, now: &LastEvent) {
    let template = match (now.total, now.done) {
        (Some(_), _) => "{msg:15} {wide_bar} {percent:>3} %  {human_pos} of {human_len} rows  {eta} left",
        (None, 0) => "{msg:15} {spinner} {elapsed}",
        (None, _) => "{msg:15} {spinner} {human_pos} rows",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("━╸─"));
    bar.reset();
    bar.set_message(now.stage.clone());
    now.total.map_or_else(|| bar.unset_length(), |total| bar.set_length(total));
    bar.set_position(now.done);
}

fn line(now: &LastEvent) -> String {
    match (now.total, now.done) {
        (Some(total), done) => format!("{}: {done} of {total} rows", now.stage),
        (None, 0) => format!("{} ...", if now.stage.is_empty() { "reading" } else { &now.stage }),
        (None, done) => format!("{}: {done} rows", now.stage),
    }
}

impl Watch for Progress {
    fn event(&self, event: Event<'_>) {
        let Some(shared) = &self.shared else { return };
        let now = match event {
            Event::Sweep { stage, done, total } => LastEvent { stage: stage.into(), done, total },
            Event::Stage(stage) => LastEvent { stage: stage.into(), ..LastEvent::default() },
            Event::Iteration { n_iter, residual, .. } => {
                LastEvent { stage: format!("iteration {n_iter}, {residual:.1e}"), ..LastEvent::default() }
            }
            _ => return,
        };
        let mut state = shared.lock();
        if let Some(bar) = &state.bar {
            let counting = |now: &LastEvent| now.total.is_none() && now.done > 0;
            let same = (&now.stage, now.total, counting(&now))
                == (&state.now.stage, state.now.total, counting(&state.now));
            if same { bar.set_position(now.done) } else { dress(bar, &now) }
        }
        state.now = now;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_what_is_known() {
        let now = |stage: &str, done, total| line(&LastEvent { stage: stage.into(), done, total });
        assert_eq!(now("covariance", 5, Some(9)), "covariance: 5 of 9 rows");
        assert_eq!(now("reading", 5, None), "reading: 5 rows");
        assert_eq!(now("eigenvectors", 0, None), "eigenvectors ...");
    }
}
