//! The table of the options of a fit that users give and that are not settings of its method.

/// An option of a fit, by the names that it has in each interface.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunOption {
    /// The field of [`Run`](super::Run) that it sets; `checkpoint.every` is a function of [`Checkpoint`](super::Checkpoint).
    pub field: &'static str,
    /// Its flag of `unmix fit`; `None` where the command line has none.
    pub flag: Option<&'static str>,
    /// A value on the command line that is not the default; empty for flags without a value.
    pub example: &'static str,
    /// The parameter of every estimator in Python; `None` where it is an option of the process, or of a block of code.
    pub parameter: Option<&'static str>,
    /// The default of that parameter, as JSON.
    pub default: &'static str,
}

const fn option(
    field: &'static str,
    (flag, example): (&'static str, &'static str),
    (parameter, default): (&'static str, &'static str),
) -> RunOption {
    RunOption { field, flag: Some(flag), example, parameter: Some(parameter), default }
}

/// All options of a fit that are not settings, in the order of the parameters in Python. `unmix fit`, the classes of the Python package with their
/// constraints and docstrings, and the page on long fits have them, each in its own notation; they are generated from the table or
/// compared with it by tests, so that an option that is added here cannot be forgotten there.
pub const RUN_OPTIONS: &[RunOption] = &[
    // scikit-learn's name. The default there draws a seed; elsewhere it is 0.
    option("seed", ("--seed", "7"), ("random_state", "null")),
    option("max_seconds", ("--max-seconds", "1.5"), ("max_seconds", "null")),
    // A command line has no functions.
    RunOption { flag: None, ..option("observer", ("", ""), ("callback", "null")) },
    option("checkpoint", ("--checkpoint", "a.checkpoint"), ("checkpoint", "null")),
    option("checkpoint.every", ("--every", "2.5"), ("checkpoint_every", "60.0")),
    option("checkpoint.resume", ("--resume", ""), ("resume", "false")),
    option("init", ("--init", "m.safetensors"), ("init", "null")),
    option("observer", ("--quiet", ""), ("verbose", "0")),
    // `unmix.set_num_threads` and `unmix.keep_interrupted` in Python.
    RunOption { parameter: None, ..option("threads", ("--threads", "2"), ("", "")) },
    RunOption { parameter: None, ..option("observer", ("--keep-interrupted", ""), ("", "")) },
];

#[cfg(test)]
mod tests {
    use super::super::{Checkpoint, Run};
    use super::*;
    use std::collections::BTreeSet;

    /// The names of all fields: the compiler refuses a list that is not complete.
    macro_rules! fields {
        ($($field:ident),*) => {{
            let Run { $($field: _),* } = Run::default();
            [$(stringify!($field)),*]
        }};
    }

    #[test]
    fn every_field_has_an_option_or_is_set_by_callers_alone() {
        let fields = fields!(seed, threads, max_seconds, observer, started, checkpoint, init, invocation);
        let of_options = RUN_OPTIONS.iter().map(|option| option.field.split('.').next().unwrap());
        let expected: BTreeSet<&str> = of_options.chain(["started", "invocation"]).collect();
        assert_eq!(fields.into_iter().collect::<BTreeSet<_>>(), expected);
    }

    #[test]
    fn the_interval_of_checkpoints_in_python_is_the_default() {
        let option = RUN_OPTIONS.iter().find(|option| option.field == "checkpoint.every").unwrap();
        let given = Checkpoint::new("a").every(option.default.parse().unwrap());
        assert_eq!(format!("{given:?}"), format!("{:?}", Checkpoint::new("a")));
    }
}
