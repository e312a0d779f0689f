//! Progress on standard error: a bar on a terminal, a few plain lines elsewhere, nothing when quiet.

use crate::args::Running;
use crate::{interrupt, terminal};
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use unmix::{Event, Observer, Run};

/// Delay before the bar appears.
const BAR_DELAY: Duration = Duration::from_millis(300);
/// Delay before the first line, and interval between further ones.
const LINE_DELAYS: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(10));

/// Shows the progress of a run, and handles Ctrl-C.
pub(crate) struct Progress {
    shared: Option<Arc<Shared>>,
    /// Start of the run.
    began: Instant,
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

/// The last event.
#[derive(Clone, Default, PartialEq)]
struct LastEvent {
    stage: String,
    done: u64,
    total: Option<u64>,
    /// The last iteration, for an iterative fit: the progress of its passes over the rows does not predict the end.
    iteration: Option<String>,
}

impl Progress {
    pub(crate) fn new(running: &Running) -> Self {
        if running.quiet {
            return Self { shared: None, began: Instant::now() };
        }
        let shared = Arc::<Shared>::default();
        let displayed = shared.clone();
        let display = if std::io::stderr().is_terminal() { Shared::show_bar } else { Shared::print_lines };
        // On a separate thread: a long factorisation reports nothing until it has ended. Without the thread there is only no
        // progress report.
        let _ = std::thread::Builder::new().name("unmix-progress".into()).spawn(move || display(&displayed));
        Self { shared: Some(shared), began: Instant::now() }
    }

    /// A run that reports to this display.
    pub(crate) fn run(&self, running: &Running) -> Run<'_> {
        let threads = running.threads.map_or_else(unmix::num_threads, |n| n as usize);
        Run { threads, observer: self, ..Run::default() }
    }

    /// Removes the display, before something else is printed.
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

    /// Waits; returns the state, unless the run has ended meanwhile.
    fn wait(&self, time: Duration) -> Option<MutexGuard<'_, State>> {
        let waited = self.ended.wait_timeout_while(self.lock(), time, |state| !state.ended);
        let state = waited.map_or_else(|e| e.into_inner().0, |(state, _)| state);
        (!state.ended).then_some(state)
    }

    fn show_bar(&self) {
        let Some(mut state) = self.wait(BAR_DELAY) else { return };
        let bar = ProgressBar::new_spinner();
        style_bar(&bar, &state.now);
        bar.enable_steady_tick(Duration::from_millis(100));
        state.bar = Some(bar);
    }

    fn print_lines(&self) {
        let mut time = LINE_DELAYS.0;
        while let Some(state) = self.wait(time) {
            terminal::note(&line(&state.now));
            time = LINE_DELAYS.1;
        }
    }
}

/// Style of the bar for a stage.
fn style_bar(bar: &ProgressBar, now: &LastEvent) {
    let (stage, unit) = Event::stage_and_unit(&now.stage);
    let counting = format!("{{msg:15}} {{spinner}} {{human_pos}} {unit}");
    let template = match (now.total, now.done) {
        _ if now.iteration.is_some() => "{spinner} {msg}",
        (Some(0), _) => "{msg:15} {spinner} {elapsed}",
        (Some(_), _) => "{msg:15} {wide_bar} {percent:>3} %  {human_pos} of {human_len} rows  {left}",
        (None, 0) => "{msg:15} {spinner} {elapsed}",
        (None, _) => &counting,
    };
    let style =
        |text: &str| ProgressStyle::with_template(text).unwrap_or_else(|_| ProgressStyle::default_bar());
    // The bar may be drawn at any time. Without numbers until all of them are those of this stage: a mixture, such as 0 of 0 rows, is neither.
    bar.set_style(style("{msg:15} {spinner}"));
    bar.reset();
    bar.set_message(now.iteration.clone().unwrap_or_else(|| stage.to_string()));
    now.total.map_or_else(|| bar.unset_length(), |total| bar.set_length(total));
    bar.set_position(now.done);
    bar.set_style(style(template).progress_chars("━╸─").with_key("left", left));
}

/// Writes the remaining time.
fn left(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    // A writer in memory does not fail.
    let _ = out.write_str(&time_left(state.pos(), state.eta()));
}

/// The remaining time; empty before rows are done, because nothing is known about it.
fn time_left(done: u64, estimate: Duration) -> String {
    if done == 0 { String::new() } else { format!("{:#} left", HumanDuration(estimate)) }
}

fn line(now: &LastEvent) -> String {
    if let Some(iteration) = &now.iteration {
        return iteration.clone();
    }
    match (now.total, now.done) {
        (Some(total), done) if total > 0 => format!("{}: {done} of {total} rows", now.stage),
        (_, 0) => format!("{} ...", if now.stage.is_empty() { "reading" } else { &now.stage }),
        (_, done) => {
            let (stage, unit) = Event::stage_and_unit(&now.stage);
            format!("{stage}: {done} {unit}")
        }
    }
}

/// Text such as "iteration 33 of at most 1000, residual 2.7e-2 (stops at 1.0e-6), 12 s"; `what` is "iteration" or "epoch". Training has no
/// residual, and shows the objective.
fn iteration(
    what: &str,
    (n_iter, max_iter): (u64, Option<u64>),
    (residual, objective): (f64, Option<f64>),
    tol: Option<f64>,
    seconds: u64,
) -> String {
    let most = max_iter.map_or(String::new(), |most| format!(" of at most {most}"));
    let stops = tol.filter(|tol| *tol > 0.0).map_or(String::new(), |tol| format!(" (stops at {tol:.1e})"));
    let state = match objective {
        _ if residual.is_finite() => format!(", residual {residual:.1e}{stops}"),
        Some(objective) => format!(", objective {objective:.4e}"),
        None => String::new(),
    };
    format!("{what} {n_iter}{most}{state}, {seconds} s")
}

impl Observer for Progress {
    fn event(&self, event: Event<'_>) {
        let Some(shared) = &self.shared else { return };
        let mut state = shared.lock();
        let last = state.now.iteration.clone();
        let now = match event {
            Event::Sweep { stage, done, total } => {
                LastEvent { stage: stage.into(), done, total, iteration: last.clone() }
            }
            // A stage after the iterations, or before those of another solver.
            Event::Stage(stage) => LastEvent { stage: stage.into(), ..LastEvent::default() },
            Event::Iteration { n_iter, residual, objective, max_iter, tol, is_epoch } => {
                let seconds = self.began.elapsed().as_secs();
                let what = if is_epoch { "epoch" } else { "iteration" };
                let text = iteration(what, (n_iter, max_iter), (residual, objective), tol, seconds);
                LastEvent { iteration: Some(text), ..LastEvent::default() }
            }
            _ => return,
        };
        if let (Some(bar), Some(text)) = (&state.bar, &now.iteration)
            && last.is_some()
        {
            bar.set_message(text.clone());
        } else if let Some(bar) = &state.bar {
            let counting = |now: &LastEvent| now.total.is_none() && now.done > 0;
            let same = (&now.stage, now.total, counting(&now))
                == (&state.now.stage, state.now.total, counting(&state.now));
            if same { bar.set_position(now.done) } else { style_bar(bar, &now) }
        }
        state.now = now;
    }

    fn interrupted(&self) -> bool {
        interrupt::pressed() > 0
    }

    fn ends_early(&self) -> bool {
        interrupt::ends_early()
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
    use indicatif::{ProgressDrawTarget, TermLike};
    use std::io::Result;

    /// A terminal that keeps what is written.
    #[derive(Clone, Debug, Default)]
    struct Terminal(Arc<Mutex<String>>);

    impl Terminal {
        /// What was written since the last call.
        fn written(&self) -> String {
            std::mem::take(&mut *self.0.lock().unwrap())
        }
    }

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            120
        }

        fn move_cursor_up(&self, _: usize) -> Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> Result<()> {
            self.write_str(&format!("{text}\n"))
        }

        fn write_str(&self, text: &str) -> Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }

        fn clear_line(&self) -> Result<()> {
            Ok(())
        }

        fn flush(&self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_bar_never_mixes_the_numbers_of_two_stages() {
        let terminal = Terminal::default();
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let bar = ProgressBar::with_draw_target(None, target);
        style_bar(&bar, &LastEvent { stage: "sources".into(), done: 4, total: Some(9), iteration: None });
        bar.tick();
        assert!(terminal.written().contains("4 of 9 rows"));
        let iteration = Some("iteration 3 of at most 9".to_string());
        style_bar(&bar, &LastEvent { iteration, ..LastEvent::default() });
        bar.tick();
        let written = terminal.written();
        assert!(written.contains("iteration 3 of at most 9") && !written.contains("rows"), "{written}");
    }

    #[test]
    fn lines_show_the_known_numbers() {
        let now =
            |stage: &str, done, total| line(&LastEvent { stage: stage.into(), done, total, iteration: None });
        assert_eq!(now("covariance", 5, Some(9)), "covariance: 5 of 9 rows");
        assert_eq!(now("reading", 5, None), "reading: 5 rows");
        assert_eq!(now("reading files", 5, None), "reading: 5 files");
        assert_eq!(now("eigenvectors", 0, None), "eigenvectors ...");
        assert_eq!(now("features", 0, Some(0)), "features ...");
    }

    #[test]
    fn the_remaining_time_is_shown_once_rows_are_done() {
        assert_eq!(time_left(0, Duration::ZERO), "");
        assert_eq!(time_left(5, Duration::from_secs(75)), "75s left");
    }

    #[test]
    fn iterations_show_their_limits() {
        assert_eq!(
            iteration("iteration", (33, Some(1000)), (0.027, Some(5.0)), Some(1e-6), 12),
            "iteration 33 of at most 1000, residual 2.7e-2 (stops at 1.0e-6), 12 s"
        );
        assert_eq!(
            iteration("iteration", (2, None), (0.5, None), Some(0.0), 3),
            "iteration 2, residual 5.0e-1, 3 s"
        );
        assert_eq!(iteration("epoch", (2, None), (f64::INFINITY, None), None, 3), "epoch 2, 3 s");
        assert_eq!(
            iteration("epoch", (2, Some(20)), (f64::INFINITY, Some(12.3456)), None, 3),
            "epoch 2 of at most 20, objective 1.2346e1, 3 s"
        );
    }

    #[test]
    fn passes_over_the_rows_do_not_hide_the_iteration() {
        let progress = Progress { shared: Some(Arc::default()), began: Instant::now() };
        let shown = || line(&progress.shared.as_ref().unwrap().lock().now);
        let sweep = |done| progress.event(Event::Sweep { stage: "sources", done, total: Some(9) });
        sweep(4);
        assert_eq!(shown(), "sources: 4 of 9 rows");
        progress.shared.as_ref().unwrap().lock().now.iteration =
            Some(iteration("iteration", (3, Some(9)), (0.5, None), None, 1));
        sweep(5);
        assert_eq!(shown(), "iteration 3 of at most 9, residual 5.0e-1, 1 s");
        progress.event(Event::Stage("done"));
        assert_eq!(shown(), "done ...");
    }
}
