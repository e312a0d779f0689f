//! Units of an overcomplete code: how often each is active, the mean of its codes, its strongest rows, and pairs of similar atoms.

use crate::description;
use crate::sample::Quiet;
use std::ops::Range;
use unmix::data::RawArray;
use unmix::internal::num::factor;
use unmix::method::sae::is_autoencoder;
use unmix::{AnyRows, Error, Event, Matrix, Model, Real, Result, Rows, Run};

/// Strongest rows of a unit.
pub(crate) const STRONGEST_ROWS: usize = 8;
/// Units with a card, of each of three kinds.
const CARDS_OF_EACH_KIND: usize = 34;
/// Maximum number of multiplications that are spent on codes, and on cosines of atoms.
const MOST_WORK: u64 = 60_000_000_000;
/// Smallest cosine of atoms that are called similar.
pub(crate) const SIMILAR_COSINE: f64 = 0.9;
/// Atoms whose cosines with all others are held in memory.
const ATOMS_COMPARED_AT_ONCE: usize = 256;
/// Pairs of such atoms that are shown.
const MOST_PAIRS: usize = 6;

/// Why a unit has a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CardReason {
    MostUsed,
    Rarest,
    Strongest,
}

impl CardReason {
    pub(crate) fn name(self) -> &'static str {
        match self {
            CardReason::MostUsed => "most used",
            CardReason::Rarest => "rarest",
            CardReason::Strongest => "strongest",
        }
    }
}

/// Codes of one unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Unit {
    /// Rows in which it is active, and the sum of its codes.
    pub(crate) uses: u64,
    pub(crate) sum: f64,
    /// Largest codes and their rows, in descending order; of equal codes the first row.
    pub(crate) top: Vec<(f64, u64)>,
}

impl Unit {
    fn add(&mut self, row: u64, code: f64) {
        self.uses += 1;
        self.sum += code;
        if self.top.len() == STRONGEST_ROWS && self.top[STRONGEST_ROWS - 1].0 >= code {
            return;
        }
        let place = self.top.partition_point(|(other, _)| *other >= code);
        self.top.insert(place, (code, row));
        self.top.truncate(STRONGEST_ROWS);
    }

    fn largest(&self) -> f64 {
        self.top.first().map_or(0.0, |(code, _)| *code)
    }
}

/// Pairs of similar atoms.
pub(crate) struct SimilarAtoms {
    /// Some of them with their cosines, the most similar first.
    pub(crate) pairs: Vec<(usize, usize, f64)>,
    /// How many there are.
    pub(crate) n: usize,
}

/// The units as the page shows them.
pub(crate) struct Units {
    pub(crate) all: Vec<Unit>,
    /// Rows that were encoded, all of them or the first.
    pub(crate) n_rows: u64,
    pub(crate) all_rows: bool,
    /// Units with a card, in the order of the page.
    pub(crate) cards: Vec<(CardReason, usize)>,
    /// Similar atoms; none for models with too many atoms to compare.
    pub(crate) alike: Option<SimilarAtoms>,
}

/// The units of a sparse autoencoder, which may be imported and have no densities, and of other models that state how often each unit is
/// active; `None` for others, and for rows that cannot be read by number.
pub(crate) fn of(model: &Model, rows: &AnyRows<'_>, run: &Run<'_>) -> Result<Option<Units>> {
    let stated = model.tensor("density").is_some_and(|density| density.shape() == [model.n_codes()]);
    if !(stated || is_autoencoder(model)) || model.n_codes() == 0 {
        return Ok(None);
    }
    let Some((all, n_rows, all_rows)) = unmix::with_rows!(rows, rows => read(model, rows, run))? else {
        return Ok(None);
    };
    let cards = chosen(&all);
    Ok(Some(Units { all, n_rows, all_rows, cards, alike: similar_atoms(&description::decoder(model)) }))
}

/// Encodes the rows, a block at a time.
fn read<T: Real>(model: &Model, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Option<(Vec<Unit>, u64, bool)>> {
    let (p, k) = (model.n_features(), model.n_codes());
    let Some(n) = rows.source().random().map(|source| source.n_rows()) else { return Ok(None) };
    let most = (MOST_WORK / (2 * p as u64 * k as u64).max(1)).max(200);
    let end = n.min(most);
    let mut all = vec![Unit::default(); k];
    let quiet = Run { threads: run.threads, observer: &Quiet(run.observer), ..Run::default() };
    let step = (rows.plan().block_rows as u64).max(1);
    let mut at = 0;
    while at < end {
        let part: Range<u64> = at..(at + step).min(end);
        let block = rows.read_range(part.clone())?;
        let lent: Rows<'_, T> =
            Rows::new(RawArray::borrowed(&block, p)?, rows.features().clone(), rows.origin());
        let codes = model.encode_to_vec(&lent, &quiet)?;
        for (row, codes) in part.clone().zip(codes.chunks_exact(k)) {
            let active = codes.iter().enumerate().filter(|(_, y)| **y != T::default());
            active.for_each(|(j, y)| all[j].add(row, y.to_f64()));
        }
        run.observer.event(Event::Sweep { stage: "units", done: part.end, total: Some(end) });
        if run.observer.interrupted() {
            return Err(Error::Interrupted);
        }
        at = part.end;
    }
    Ok(Some((all, end, end == n)))
}

/// The most used units, the rarest, and those of the largest codes, each once.
fn chosen(all: &[Unit]) -> Vec<(CardReason, usize)> {
    let mut active: Vec<usize> = (0..all.len()).filter(|j| all[*j].uses > 0).collect();
    let mut out: Vec<(CardReason, usize)> = Vec::new();
    for kind in [CardReason::MostUsed, CardReason::Rarest, CardReason::Strongest] {
        match kind {
            CardReason::MostUsed => active.sort_by(|a, b| all[*b].uses.cmp(&all[*a].uses).then(a.cmp(b))),
            CardReason::Rarest => active.sort_by(|a, b| all[*a].uses.cmp(&all[*b].uses).then(a.cmp(b))),
            CardReason::Strongest => {
                active.sort_by(|a, b| all[*b].largest().total_cmp(&all[*a].largest()).then(a.cmp(b)));
            }
        }
        let new: Vec<usize> = active
            .iter()
            .copied()
            .filter(|j| !out.iter().any(|(_, other)| other == j))
            .take(CARDS_OF_EACH_KIND)
            .collect();
        out.extend(new.into_iter().map(|j| (kind, j)));
    }
    out
}

/// Pairs of rows with a cosine of at least [`SIMILAR_COSINE`]; none if their products, of every row with the following ones, are too many.
fn similar_atoms(atoms: &Matrix<f64>) -> Option<SimilarAtoms> {
    let (k, p) = (atoms.rows(), atoms.cols());
    if (k as u64).saturating_mul(k as u64).saturating_mul(p as u64) / 2 > MOST_WORK {
        return None;
    }
    let norms: Vec<f64> = (0..k).map(|j| atoms.row(j).iter().map(|x| x * x).sum::<f64>().sqrt()).collect();
    let unit = Matrix::from_fn(k, p, |j, c| if norms[j] > 0.0 { atoms[(j, c)] / norms[j] } else { 0.0 });
    let mut pairs = Vec::new();
    for first in (0..k).step_by(ATOMS_COMPARED_AT_ONCE) {
        let others = unit.rows_from(first);
        let some = others.clone().top_rows(ATOMS_COMPARED_AT_ONCE.min(others.rows()));
        let cosines = factor::multiply_transposed(&some, &others);
        for i in 0..cosines.rows() {
            let similar = (i + 1..cosines.cols()).filter(|j| cosines[(i, *j)] >= SIMILAR_COSINE);
            pairs.extend(similar.map(|j| (first + i, first + j, cosines[(i, j)])));
        }
    }
    pairs.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
    let n = pairs.len();
    pairs.truncate(MOST_PAIRS);
    Some(SimilarAtoms { pairs, n })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_rows_are_in_order_and_ties_go_to_the_first() {
        let mut unit = Unit::default();
        for (row, code) in [3.0, 1.0, 3.0, 0.5, 2.0, 9.0, 1.0, 1.0, 1.0, 1.0, 0.1].into_iter().enumerate() {
            unit.add(row as u64, code);
        }
        let rows: Vec<u64> = unit.top.iter().map(|(_, row)| *row).collect();
        assert_eq!(rows, [5, 0, 2, 4, 1, 6, 7, 8]);
        assert_eq!((unit.uses, unit.largest()), (11, 9.0));
    }

    #[test]
    fn cards_are_of_three_kinds_and_each_unit_has_one() {
        let unit = |uses: u64, code: f64| Unit { uses, sum: code, top: vec![(code, 0)] };
        let mut all: Vec<Unit> = (0..300).map(|j| unit(1 + j, (300 - j % 97) as f64)).collect();
        all.push(Unit::default());
        let cards = chosen(&all);
        assert_eq!(cards.len(), 3 * CARDS_OF_EACH_KIND);
        assert_eq!(
            (cards[0], cards[CARDS_OF_EACH_KIND]),
            ((CardReason::MostUsed, 299), (CardReason::Rarest, 0))
        );
        let mut units: Vec<usize> = cards.iter().map(|(_, j)| *j).collect();
        units.sort_unstable();
        units.dedup();
        assert_eq!((units.len(), units.contains(&300)), (3 * CARDS_OF_EACH_KIND, false));
    }

    #[test]
    fn nearly_equal_atoms_are_reported_as_pairs() {
        let atoms = Matrix::from_vec(4, 2, vec![1.0, 0.0, 2.0, 0.1, 0.0, 1.0, -1.0, 0.0]);
        let SimilarAtoms { pairs, n } = similar_atoms(&atoms).unwrap();
        assert_eq!((n, pairs[0].0, pairs[0].1), (1, 0, 1));
        assert!((pairs[0].2 - 2.0 / (4.01f64).sqrt()).abs() < 1e-12);
    }
}
