//! Initial dictionaries: random rows of the data, rows far from each other, cosines, or random numbers.

use super::constraint::{AtomSet, norm};
use super::dead::direction;
use crate::choices::choices;
use crate::num::Matrix;
use crate::num::random::Stream;
use std::collections::BTreeSet;

choices! {
    /// Initial atoms.
    #[derive(Default)]
    pub enum Init {
        /// Random rows, scaled to norm 1, no two of them parallel.
        #[default]
        Data = "data",
        /// Rows whose directions are far from each other: each is drawn with a probability proportional to `1 - cos²` of its angle to the
        /// nearest earlier one (Arthur & Vassilvitskii 2007).
        KMeansPlusPlus = "k-means++",
        /// A discrete cosine basis, overcomplete if there are more atoms than columns; for rows that are pictures, products of cosines over their
        /// sides and, in colour, over the channels.
        Dct = "dct",
        /// Gaussian numbers of variance `1/p`, projected on the ball.
        Random = "random",
    }
}

/// Cosine above which two rows are treated as parallel.
const PARALLEL_COSINE: f64 = 1.0 - 1e-9;

/// `count` of the numbers below `n`, each subset with equal probability, in ascending order.
pub(crate) fn chosen(n: u64, count: u64, draws: Stream) -> Vec<u64> {
    if count >= n {
        return (0..n).collect();
    }
    // Floyd's algorithm: one draw for each number.
    let mut out = BTreeSet::new();
    for (i, last) in (n - count..n).enumerate() {
        let drawn = ((u128::from(draws.bits(i as u64)) * (u128::from(last) + 1)) >> 64) as u64;
        if !out.insert(drawn) {
            out.insert(last);
        }
    }
    out.into_iter().collect()
}

/// Data for initial atoms.
pub(crate) struct InitSource<'a> {
    pub(crate) how: Init,
    pub(crate) set: AtomSet,
    /// Number of atoms.
    pub(crate) m: usize,
    /// Rows of the data in double precision, `p` numbers each.
    pub(crate) rows: &'a [f64],
    pub(crate) p: usize,
    /// Shape of a row, if it is a picture.
    pub(crate) shape: Option<&'a [usize]>,
    pub(crate) seed: u64,
}

impl InitSource<'_> {
    /// `m x p` atoms. If there are not enough rows, the others are random.
    pub(crate) fn atoms(&self) -> Matrix<f64> {
        let found = match self.how {
            Init::Data => self.of_rows(),
            Init::KMeansPlusPlus => self.spread(),
            Init::Dct => self.cosines(),
            Init::Random => Vec::new(),
        };
        let draws = Stream::new(self.seed, 0x6174_6f6d);
        let mut atoms = Matrix::zeros(self.m, self.p);
        for i in 0..self.m {
            let row = atoms.row_mut(i);
            match found.get(i) {
                Some(atom) => row.copy_from_slice(atom),
                None => {
                    let one = |j: usize| draws.normal((i * self.p + j) as u64) / (self.p as f64).sqrt();
                    row.iter_mut().enumerate().for_each(|(j, x)| *x = one(j));
                    if self.how != Init::Random {
                        let length = norm(row);
                        row.iter_mut().for_each(|x| *x /= length);
                    }
                }
            }
        }
        if self.set.positive && self.how == Init::Random {
            atoms.as_mut_slice().iter_mut().for_each(|x| *x = x.abs());
        }
        self.set.project_all(&mut atoms);
        atoms
    }

    /// Rows as atoms, in random order.
    fn directions(&self) -> Vec<Vec<f64>> {
        let mut all: Vec<Vec<f64>> =
            self.rows.chunks_exact(self.p).filter_map(|row| direction(row.to_vec(), self.set)).collect();
        Stream::new(self.seed, 0x726f_7773).shuffle(0, &mut all);
        all
    }

    /// Random rows, no two of them parallel.
    fn of_rows(&self) -> Vec<Vec<f64>> {
        let mut out: Vec<Vec<f64>> = Vec::new();
        for row in self.directions() {
            if out.len() == self.m {
                break;
            }
            if out.iter().all(|other| dot(other, &row).abs() < PARALLEL_COSINE) {
                out.push(row);
            }
        }
        out
    }

    /// k-means++ on directions.
    fn spread(&self) -> Vec<Vec<f64>> {
        let all = self.directions();
        let draws = Stream::new(self.seed, 0x6b6d_2b2b);
        let mut far = vec![1.0; all.len()];
        let mut out: Vec<Vec<f64>> = Vec::new();
        while out.len() < self.m {
            let total: f64 = far.iter().sum();
            let mut at = draws.uniform(out.len() as u64) * total;
            let eligible = |i: &usize| far[*i] > 0.0;
            let pick = (0..all.len()).filter(eligible).find(|i| {
                at -= far[*i];
                at <= 0.0
            });
            let Some(pick) = pick.or_else(|| (0..all.len()).rev().find(eligible)) else { break };
            let atom = all[pick].clone();
            for (far, row) in far.iter_mut().zip(&all) {
                let cosine = dot(&atom, row).abs();
                *far = if cosine < PARALLEL_COSINE { far.min(1.0 - cosine * cosine) } else { 0.0 };
            }
            out.push(atom);
        }
        out
    }

    /// Products of cosines in order of ascending frequency.
    fn cosines(&self) -> Vec<Vec<f64>> {
        // The channels of a colour picture have a complete basis of their own: a mean and differences.
        let (axes, channels) = match self.shape {
            Some([h, w]) if *h > 1 && *w > 1 => (vec![*h, *w], 1),
            Some([h, w, channels]) if *h > 1 && *w > 1 => (vec![*h, *w], (*channels).max(1)),
            _ => (vec![self.p], 1),
        };
        let root = (self.m.div_ceil(channels) as f64).powf(1.0 / axes.len() as f64).ceil() as usize;
        let mut lines: Vec<Vec<Vec<f64>>> = axes.iter().map(|d| waves(*d, root.max(1))).collect();
        if channels > 1 {
            lines.push(waves(channels, channels));
        }
        let mut indices: Vec<Vec<usize>> = vec![Vec::new()];
        for line in &lines {
            let longer = |index: &Vec<usize>| {
                let index = index.clone();
                (0..line.len()).map(move |i| [&index[..], &[i]].concat())
            };
            indices = indices.iter().flat_map(longer).collect();
        }
        indices.sort_by_key(|index| (index.iter().sum::<usize>(), index.clone()));
        let product = |index: Vec<usize>| {
            let mut atom = vec![1.0];
            for (line, i) in lines.iter().zip(index) {
                atom = atom.iter().flat_map(|a| line[i].iter().map(move |b| a * b)).collect();
            }
            direction(atom, self.set)
        };
        indices.into_iter().filter_map(product).take(self.m).collect()
    }
}

/// `count` cosines of length `d`, the first constant and the others of mean 0.
fn waves(d: usize, count: usize) -> Vec<Vec<f64>> {
    let wave = |k: usize| {
        let mut wave: Vec<f64> = (0..d)
            .map(|i| ((i as f64 + 0.5) * k as f64 * std::f64::consts::PI / count.max(d) as f64).cos())
            .collect();
        if k > 0 {
            let mean = wave.iter().sum::<f64>() / d as f64;
            wave.iter_mut().for_each(|x| *x -= mean);
        }
        wave
    };
    (0..count).map(wave).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::factor;
    use crate::sparse::constraint::AtomNorm;

    const BALL: AtomSet = AtomSet { norm: AtomNorm::Ball, positive: false };

    fn begin<'a>(how: Init, m: usize, rows: &'a [f64], p: usize, shape: Option<&'a [usize]>) -> Matrix<f64> {
        InitSource { how, set: BALL, m, rows, p, shape, seed: 3 }.atoms()
    }

    #[test]
    fn subsets_are_of_distinct_numbers_with_equal_probabilities() {
        let mut seen = [0u32; 7];
        for s in 0..7000 {
            let picked = chosen(7, 3, Stream::new(s, 1));
            assert!(picked.len() == 3 && picked.windows(2).all(|v| v[0] < v[1]));
            picked.iter().for_each(|i| seen[*i as usize] += 1);
        }
        assert!(seen.iter().all(|c| c.abs_diff(3000) < 170), "{seen:?}");
        assert_eq!(chosen(4, 9, Stream::new(0, 0)), [0, 1, 2, 3]);
    }

    #[test]
    fn rows_that_are_0_or_parallel_give_at_most_one_atom() {
        let rows = [1.0, 0.0, 0.0, 0.0, -2.0, 0.0, 0.0, 3.0, 4.0, 3.0];
        for how in [Init::Data, Init::KMeansPlusPlus] {
            let atoms = begin(how, 3, &rows, 2, None);
            assert!((0..3).all(|i| (norm(atoms.row(i)) - 1.0).abs() < 1e-15));
            let (most, _) = crate::sparse::constraint::coherence(&atoms, || false).unwrap();
            assert!(most < 0.9, "{how:?}: {atoms:?}");
        }
        let none = begin(Init::Data, 3, &[0.0; 4], 2, None);
        assert!((0..3).all(|i| (norm(none.row(i)) - 1.0).abs() < 1e-15));
    }

    #[test]
    fn as_many_cosines_as_columns_are_orthonormal() {
        for (shape, p) in [(None, 12), (Some(&[4usize, 4][..]), 16), (Some(&[4, 4, 3][..]), 48)] {
            let atoms = begin(Init::Dct, p, &[], p, shape);
            let gram = factor::multiply_transposed(&atoms, &atoms);
            for i in 0..p {
                for j in 0..p {
                    assert!((gram[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-13, "{i}, {j}");
                }
            }
        }
        let over = begin(Init::Dct, 25, &[], 16, Some(&[4, 4]));
        let (most, _) = crate::sparse::constraint::coherence(&over, || false).unwrap();
        assert!(over.rows() == 25 && most < 0.99, "{most}");
    }
}
