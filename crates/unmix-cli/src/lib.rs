//! The `unmix` command line program as a library: [`run`] is what the program and the Python package call.
//!
//! Results go to standard output or to a file, progress and warnings to standard error. Exit codes: 0 done, 1 the data or the
//! fit failed (one sentence on standard error), 2 wrong usage, 130 interrupted.

mod apply;
mod args;
mod biclusters;
mod cells;
mod choice;
mod demo;
mod exchange;
mod failure;
mod fit;
mod hints;
mod impute;
mod input;
mod interrupt;
mod list;
mod merge;
mod methods;
mod names;
mod output;
mod panics;
mod picture;
mod positions;
mod progress;
mod reference;
mod report;
mod reproduce;
mod score;
mod select;
mod show;
mod side_file;
mod sound;
mod terminal;
mod units;
mod weights;

pub use output::TableFile;

use args::{Cli, Deferred, Verb};
use clap::error::ContextKind;
use clap::{CommandFactory, Parser};
use failure::{Done, Failure};
use std::ffi::OsString;
use std::panic::UnwindSafe;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Time that the work has to stop after a request. Long steps, such as a large eigenvalue problem, are not interrupted.
const GRACE_PERIOD: Duration = Duration::from_millis(700);

/// Runs the command `args`, the first of which is the program's name, and returns the exit code.
///
/// Never ends the process and never panics. The work is done on a separate thread, so that Ctrl-C is handled within a second
/// whatever the work is doing; a thread that is still running then ends with the process.
///
/// ```
/// assert_eq!(unmix_cli::run(["unmix", "methods", "--json"].map(Into::into)), 0);
/// assert_eq!(unmix_cli::run(["unmix", "mehtods"].map(Into::into)), 2);
/// ```
pub fn run(args: impl IntoIterator<Item = OsString>) -> i32 {
    let args = with_help(args.into_iter().collect());
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(mut e) => {
            let hint = hints::hint(&args, &e).filter(|_| e.use_stderr());
            // The parser suggests to write an unknown option after '--', as the name of a file, which is never meant.
            e.remove(ContextKind::Suggested);
            if hint.is_some() {
                // Its other suggestions would contradict the hint.
                e.remove(ContextKind::SuggestedArg);
                e.remove(ContextKind::SuggestedSubcommand);
            }
            let shown = e.print().map_err(terminal::standard_output);
            if let Some(hint) = hint {
                terminal::note(&hint);
            } else if e.use_stderr()
                && let Some(example) = example(&args)
            {
                terminal::note(&format!("for example: {example}"));
            }
            return shown.map_or_else(|failed| failed.report(), |()| e.exit_code());
        }
    };
    let invocation = invocation(&args);
    supervise(move || work(cli, invocation))
}

/// `unmix help fit` as `unmix fit --help`, and `unmix help` as `unmix --help`. Not a command of the parser: that would declare the options of all
/// commands again in manual pages and completions.
fn with_help(mut args: Vec<OsString>) -> Vec<OsString> {
    let before = args.len();
    while args.get(1).is_some_and(|word| word == "help") {
        args.remove(1);
    }
    if args.len() < before {
        args.push("--help".into());
    }
    args
}

/// The command line, quoted for a shell; `None` if it is not Unicode.
fn invocation(args: &[OsString]) -> Option<String> {
    let words: Option<Vec<&str>> = args.iter().skip(1).map(|word| word.to_str()).collect();
    Some(format!("unmix {}", terminal::command(&words?)))
}

/// The first example in the help of the verb.
fn example(args: &[OsString]) -> Option<String> {
    let command = Cli::command();
    let verb = args.get(1).and_then(|word| command.find_subcommand(word))?;
    let help = verb.get_after_help()?.to_string();
    let line = help.lines().map(str::trim).find(|line| line.starts_with("unmix "))?;
    // Its description follows after two or more blanks.
    Some(line.split("  ").next().unwrap_or(line).into())
}

/// Runs `work` on a separate thread, and returns when it has ended, or after an interruption.
fn supervise(work: impl FnOnce() -> Done + UnwindSafe + Send + 'static) -> i32 {
    interrupt::listen();
    let recorder = panics::PanicRecorder::new();
    let (send, receive) = mpsc::channel();
    // The recursion of the factorisations needs more stack than the default of 2 MiB.
    let builder = std::thread::Builder::new().name("unmix-work".into()).stack_size(16 << 20);
    let spawned = builder.spawn(move || {
        let result = std::panic::catch_unwind(work);
        // The receiver is dropped after an interruption.
        let _ = send.send(result);
    });
    if let Err(e) = spawned {
        return Failure::Message(format!("a thread cannot be started: {e}")).report();
    }
    let mut since: Option<Instant> = None;
    loop {
        match receive.recv_timeout(Duration::from_millis(50)) {
            Ok(Ok(Ok(code))) => return code,
            Ok(Ok(Err(failed))) => return failed.report(),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                return Failure::Message(recorder.sentence()).report();
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let waited = match interrupt::pressed() {
            0 => continue,
            1 => since.get_or_insert_with(Instant::now).elapsed() > GRACE_PERIOD && !interrupt::writing(),
            _ => true,
        };
        if waited {
            terminal::clear_line();
            return Failure::from(unmix::Error::Interrupted).report();
        }
    }
}

fn work(cli: Cli, invocation: Option<String>) -> Done {
    unmix::internal::num::threads::check_variable().map_err(|e| Failure::Usage(e.to_string()))?;
    match cli.verb {
        Verb::Demo(Deferred(args)) => demo::demo(&args, invocation),
        Verb::Fit(Deferred(args)) => fit::fit(&args, invocation.as_deref()),
        Verb::Encode(Deferred(args)) => apply::encode(&args),
        Verb::Decode(Deferred(args)) => apply::decode(&args),
        Verb::Reconstruct(Deferred(args)) => apply::reconstruct(&args),
        Verb::Impute(Deferred(args)) => impute::impute(&args),
        Verb::Score(Deferred(args)) => apply::score(&args),
        Verb::Biclusters(Deferred(args)) => biclusters::modules(&args),
        Verb::Merge(Deferred(args)) => merge::merge(&args, invocation.as_deref()),
        Verb::Export(Deferred(args)) => exchange::export(&args),
        Verb::Import(Deferred(args)) => exchange::import(&args, invocation.as_deref()),
        Verb::Show(Deferred(args)) => show::show(&args),
        Verb::Select(Deferred(args)) => select::select(&args),
        Verb::Report(Deferred(args)) => report::report(&args, invocation),
        Verb::Reproduce(Deferred(args)) => reproduce::reproduce(&args),
        Verb::Methods(Deferred(args)) => methods::methods(&args),
        Verb::Completions { shell } => completions(shell),
        Verb::Man { verb } => man(verb.as_deref()),
    }
}

fn completions(shell: clap_complete::Shell) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "unmix", &mut script);
    terminal::bytes(&script)
}

fn man(verb: Option<&str>) -> Done {
    let mut command = Cli::command();
    command.build();
    let page = match verb {
        None => command,
        Some(verb) => match command.find_subcommand(verb) {
            Some(found) => found.clone(),
            None => {
                let known = command.get_subcommands().map(|c| c.get_name());
                return Err(Failure::Usage(unmix::Error::unknown("command", verb, known).to_string()));
            }
        },
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text).map_err(terminal::standard_output)?;
    terminal::bytes(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_is_reported_in_a_sentence_with_exit_code_1() {
        assert_eq!(supervise(|| panic!("two and two are five")), 1);
        let recorder = panics::PanicRecorder::new();
        let _ = std::panic::catch_unwind(|| panic!("two and two are {}", 5));
        let sentence = recorder.sentence();
        assert!(
            sentence.contains("(two and two are 5 at ") && sentence.contains("please report it"),
            "{sentence}"
        );
        assert_eq!(supervise(|| Ok(0)), 0);
    }
}
