//! Arguments of a command that are declared only when it is used.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Id};

/// Declares the arguments `T` of a verb only when that verb is parsed, or its help is printed: declaring those of all verbs would
/// delay every start of the program.
#[derive(Debug)]
pub(crate) struct Deferred<T>(pub(crate) T);

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| described(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| described(command, T::augment_args_for_update))
    }

    fn group_id() -> Option<Id> {
        T::group_id()
    }
}

/// Declares arguments and keeps the description of the verb: a group of arguments would replace it by its own.
fn described(command: Command, augment: fn(Command) -> Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    augment(command).about(about).long_about(None::<&str>)
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
