use super::*;
use clap::Parser;
use std::collections::BTreeSet;
use unmix_io::{READING_OPTIONS, ReadingOption};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    reading: Reading,
}

/// The options that a line gives.
fn reading(words: &[&str]) -> Reading {
    let line = Line::try_parse_from(["unmix"].iter().chain(words));
    line.unwrap_or_else(|e| panic!("{words:?}: {e}")).reading
}

/// Options of the table that all verbs with an input take; `--triplets` is one of those that can read a list of cells.
fn of_all_verbs() -> impl Iterator<Item = &'static ReadingOption> {
    READING_OPTIONS.iter().filter(|option| option.name != "triplets")
}

/// Each flag with its value, if it has one.
fn words(option: &ReadingOption, flag: &'static str) -> Vec<&'static str> {
    if option.example.is_empty() { vec![flag] } else { vec![flag, option.example] }
}

#[test]
fn the_program_has_the_options_of_the_table() {
    let command = <Line as clap::CommandFactory>::command();
    let flags = command.get_arguments().filter_map(|a| a.get_long()).map(|long| format!("--{long}"));
    let own: BTreeSet<String> = flags.filter(|flag| !["--help", "--version"].contains(&&**flag)).collect();
    let table = of_all_verbs().flat_map(|option| option.flags).map(|flag| flag.to_string());
    assert_eq!(own, table.collect());
}

#[test]
fn the_record_of_a_command_has_every_option() {
    for excluded in [["--no-header", "--rgb"], ["--header", "--grey"]] {
        let flags = of_all_verbs().flat_map(|option| option.flags.iter().map(move |flag| (option, *flag)));
        let given: Vec<&str> = flags
            .filter(|(_, flag)| !excluded.contains(flag))
            .flat_map(|(option, flag)| words(option, flag))
            .collect();
        let first = reading(&given);
        let recorded = first.arguments();
        for word in &given {
            assert!(recorded.iter().any(|own| own == word), "{word} is not recorded: {recorded:?}");
        }
        let again = reading(&recorded.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(format!("{first:?}"), format!("{again:?}"));
    }
}

#[test]
fn every_option_changes_the_options_of_readers() {
    let cut = ["--patches", "8x8", "--number", "9"];
    let debug_text = |words: &[&str]| format!("{:?}", reading(words).options().unwrap());
    // The file of names would have to exist.
    for option in of_all_verbs().filter(|option| option.name != "names") {
        for &flag in option.flags {
            let own = words(option, flag);
            let others: Vec<&str> = match option.field {
                "patches" => cut.chunks(2).filter(|pair| pair[0] != flag).flatten().copied().collect(),
                _ => vec![],
            };
            // A number of patches needs their size, and a seed needs the number.
            let others = if flag == "--patches" { vec![] } else { others };
            assert_ne!(debug_text(&[&others[..], &own[..]].concat()), debug_text(&others), "{flag}");
        }
    }
}
