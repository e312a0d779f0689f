//! The same rows give the same bits with every method, for any number of threads and however the rows are stored.

use super::{Case, every_case};
use crate::made::{Known, bits, digest, fit_any, on_threads, repetitions, settings};
use crate::same_bits::everywhere;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use unmix::data::Plan;
use unmix::{Model, Rows};

/// Numbers of threads, over which fits are distributed.
const THREADS: [usize; 4] = [1, 2, 3, 7];

/// Kinds of storage that `everywhere` visits.
const KINDS: usize = 8;

impl Case {
    /// Rows for several shards, where the case has more rows than columns.
    fn rows_of_shards<T: Known>(&self) -> Vec<T> {
        self.rows(match self.n > self.p && self.p < 100 {
            true => 2 * Plan::for_sources(self.p, self.p).shard_rows + 300,
            false => self.n,
        })
    }

    fn on<T: Known>(&self, rows: Rows<'_, T>, threads: usize) -> Model {
        let model = fit_any(self.method.key, &self.given_briefly(), &mut T::any(rows), &on_threads(threads));
        model.unwrap_or_else(|e| panic!("{self}: {e}"))
    }
}

/// The storage and threads of a case's fits: every `every`-th kind of storage, which is 1, 2 or 4, from one that depends on the number of
/// the case. Over successive cases all kinds are visited, each with every number of threads; where a method has few cases, by fits on
/// several numbers of threads, as many as `rounds`, which differ by `step` turns.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    number: usize,
    every: usize,
    rounds: usize,
    step: usize,
}

impl Turns {
    /// The turns of a case with this number, on one number of threads for each kind of storage.
    pub(super) fn single(number: usize, every: usize) -> Self {
        Self { number, every, rounds: 1, step: 0 }
    }

    /// The turns of one of `cases` cases, which together visit every kind of storage with every number of threads. `every` is 1 or 2.
    fn complete(number: usize, every: usize, cases: usize) -> Self {
        // A kind of storage has this many of the cases, at least.
        let step = (cases / every).max(1);
        Self { number, every, rounds: THREADS.len().div_ceil(step), step }
    }

    /// The threads in a round for the kind of storage at this place of `everywhere`, if this case uses it.
    fn threads(self, place: usize, round: usize) -> Option<usize> {
        let Self { number, every, step, .. } = self;
        let (stride, first) = match every {
            4 => (2, number + number / 4),
            _ => (1, number / every),
        };
        let has_turn = place % every == number % every;
        has_turn.then(|| THREADS[(stride * (place / every) + first + round * step) % THREADS.len()])
    }
}

/// The cases of every method with their turns: every `every`-th kind of storage, which is 2 or 4, more of them if the method has few cases.
/// With every second kind, all numbers of threads are visited.
fn with_turns(cases: Vec<Case>, every: usize) -> Vec<(Case, Turns)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    cases.iter().for_each(|case| *counts.entry(case.method.key).or_default() += 1);
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let turns = |case: &Case| {
        let next = numbers.entry(case.method.key).or_default();
        let number = *next;
        *next += 1;
        match counts[case.method.key] {
            n if n >= every && every > 2 => Turns::single(number, every),
            n if n >= 2 => Turns::complete(number, 2, n),
            n => Turns::complete(number, 1, n),
        }
    };
    let turns: Vec<Turns> = cases.iter().map(turns).collect();
    cases.into_iter().zip(turns).collect()
}

/// Storage and threads, as they were visited by the cases of each method.
#[derive(Default)]
pub(super) struct Visited {
    pairs: BTreeMap<&'static str, BTreeSet<(String, usize)>>,
    /// The number of cases, and of how many kinds of storage each visited one, if its turns were single.
    cases: BTreeMap<&'static str, (usize, Option<usize>)>,
}

impl Visited {
    /// Asserts that the cases of every method visited every kind of storage and every number of threads, and every pair unless the turns were
    /// single ones of too few cases.
    fn check(&self) {
        for (key, pairs) in &self.pairs {
            let storage: BTreeSet<&str> = pairs.iter().map(|(storage, _)| storage.as_str()).collect();
            let threads: BTreeSet<usize> = pairs.iter().map(|(_, threads)| *threads).collect();
            assert_eq!(storage.len(), KINDS, "{key}: {storage:?}");
            assert_eq!(threads, BTreeSet::from(THREADS), "{key}");
            let (cases, single) = self.cases[key];
            if single.is_none_or(|every| cases >= THREADS.len() * every) {
                assert_eq!(pairs.len(), KINDS * THREADS.len(), "{key}: {pairs:?}");
            }
        }
    }
}

/// The first round is on rows of several shards, further ones are on the few rows of the case.
pub(super) fn check<T: Known>(case: &Case, turns: Turns, visited: &mut Visited) {
    check_rounds(case, &case.rows_of_shards::<T>(), (turns, 0..1), visited);
    if turns.rounds > 1 {
        check_rounds(case, &case.data::<T>(), (turns, 1..turns.rounds), visited);
    }
    let counted = visited.cases.entry(case.method.key).or_default();
    *counted = (counted.0 + 1, (turns.every == 4).then_some(turns.every));
}

fn check_rounds<T: Known>(
    case: &Case,
    x: &[T],
    (turns, rounds): (Turns, Range<usize>),
    visited: &mut Visited,
) {
    let one = case.on(Rows::from_slice(x, case.p).unwrap(), 1);
    let want = digest(&one);
    let codes = one.encode_to_vec(&Rows::from_slice(x, case.p).unwrap(), &on_threads(1)).unwrap();
    let pairs = visited.pairs.entry(case.method.key).or_default();
    let (mut place, mut visits) = (0, 0);
    let mut visit = |storage: &str, rows: Rows<'_, T>| {
        let threads = turns.threads(place % KINDS, rounds.start + place / KINDS);
        place += 1;
        let Some(threads) = threads else { return };
        visits += 1;
        pairs.insert((storage.to_string(), threads));
        // Codes are computed before the fit, which would read a stream into memory.
        let found = one.encode_to_vec(&rows, &on_threads(threads)).unwrap();
        assert!(found == codes, "{case}, {storage}, {threads} threads: codes differ");
        let model = case.on(rows, threads);
        assert!(
            digest(&model) == want,
            "{case}, {storage}, {threads} threads:\n{}\n{}",
            bits(&one),
            bits(&model)
        );
    };
    rounds.clone().for_each(|_| everywhere(x, case.p, &mut visit));
    assert_eq!((place, visits), (KINDS * rounds.len(), KINDS / turns.every * rounds.len()));
    // The code of a row does not depend on the rows encoded with it.
    let k = one.n_codes();
    for i in (0..x.len() / case.p).step_by(x.len() / case.p / 5 + 1) {
        let alone = Rows::from_slice(&x[i * case.p..(i + 1) * case.p], case.p).unwrap();
        let code = one.encode_to_vec(&alone, &on_threads(1)).unwrap();
        assert!(code == codes[i * k..(i + 1) * k], "{case}: the code of row {i} alone differs");
    }
}

fn check_every_case<T: Known>(every: usize) {
    let mut visited = Visited::default();
    for (case, turns) in with_turns(every_case(), every) {
        check::<T>(&case, turns, &mut visited);
    }
    visited.check();
}

#[test]
fn every_path_gives_the_same_bits_from_every_storage() {
    check_every_case::<f64>(repetitions(4, 2));
}

#[test]
fn every_path_gives_the_same_bits_in_single_precision() {
    check_every_case::<f32>(4);
}

#[test]
fn turns_visit_every_storage_with_every_number_of_threads() {
    for every in [1, 2, 4] {
        let visits = |number: usize| {
            let turns = Turns::single(number, every);
            (0..KINDS).filter_map(move |place| Some((place, turns.threads(place, 0)?)))
        };
        assert!((0..9).all(|number| visits(number).count() == KINDS / every));
        let pairs: BTreeSet<(usize, usize)> = (0..4 * every).flat_map(visits).collect();
        assert_eq!(pairs.len(), KINDS * THREADS.len(), "every {every}");
        let few: BTreeSet<usize> = (0..every).flat_map(visits).map(|(_, threads)| threads).collect();
        assert_eq!(few, BTreeSet::from(THREADS), "every {every}");
    }
    for (cases, every) in (2..12).map(|cases| (cases, 2)).chain([(1, 1)]) {
        let visits = |number: usize| {
            let turns = Turns::complete(number, every, cases);
            let places = (0..turns.rounds).flat_map(|round| (0..KINDS).map(move |place| (place, round)));
            places.filter_map(move |(place, round)| Some((place, turns.threads(place, round)?)))
        };
        let pairs: BTreeSet<(usize, usize)> = (0..cases).flat_map(visits).collect();
        assert_eq!(pairs.len(), KINDS * THREADS.len(), "{cases} cases");
    }
}

#[test]
fn every_model_is_restored_from_its_file() {
    for case in every_case() {
        let model = case.fit(&case.data::<f64>());
        let back = Model::from_bytes(&model.to_bytes().unwrap(), "the model".as_ref()).unwrap();
        assert_eq!(bits(&back), bits(&model), "{case}");
        let x = case.data::<f64>();
        let rows = || Rows::from_slice(&x, case.p).unwrap();
        let codes = |model: &Model| model.encode_to_vec(&rows(), &on_threads(2)).unwrap();
        assert_eq!(codes(&back), codes(&model), "{case}");
    }
}

#[test]
fn methods_take_remote_rows_and_missing_cells_as_declared() {
    for case in every_case() {
        if !case.method.accepts.remote {
            let nobody = |_: &[u8]| Ok(Vec::new());
            let mut rows = unmix::AnyRows::F64(Rows::remote(3000, case.p, &nobody));
            let message = fit_any(case.method.key, &settings(case.given.clone()), &mut rows, &on_threads(1));
            let message = message.map(|_| ()).unwrap_err().to_string();
            assert!(message.contains("load the rows on this machine"), "{case}: {message}");
        }
        let mut x = case.data::<f64>();
        x[case.p + 1] = f64::NAN;
        assert_eq!(case.try_fit(&x).is_ok(), case.takes_gaps(), "{case}");
    }
}
