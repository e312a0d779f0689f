//! Rows with planted biclusters: some rows and some columns that vary together.

use crate::error::{Error, Result};
use crate::num::Matrix;
use crate::num::random::Stream;

/// Names of the data sets of Clevert et al. (2015), each with the standard deviation of its noise, and its numbers of large and small
/// biclusters.
pub const BICLUSTERS: [(&str, (f64, usize, usize)); 9] = [
    ("D1", (1.0, 10, 10)),
    ("D2", (5.0, 10, 10)),
    ("D3", (10.0, 10, 10)),
    ("D4", (1.0, 15, 5)),
    ("D5", (5.0, 15, 5)),
    ("D6", (10.0, 15, 5)),
    ("D7", (1.0, 5, 15)),
    ("D8", (5.0, 5, 15)),
    ("D9", (10.0, 5, 15)),
];

/// Rows and columns of these data.
const SIDE: usize = 100;

/// Rows with planted biclusters, and the members of these.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlantedBiclusters {
    /// `n x p`, columns of mean 0.
    pub x: Matrix<f64>,
    /// For each bicluster, whether each row is a member.
    pub rows: Vec<Vec<bool>>,
    /// For each bicluster, whether each column is a member.
    pub columns: Vec<Vec<bool>>,
}

/// The benchmark of Clevert et al. (2015, S12): 100 rows of 100 columns, a sum of 20 biclusters `z w'` and normal noise. Large biclusters have
/// 20 to 30 rows and 20 to 30 columns, small ones 3 to 8 of each. `z` and `w` are normal: for members with mean 1 and standard deviation 1,
/// for others with mean 0 and standard deviation 0.01 (`set` 1) or 0.5 (`set` 2). Columns are centred.
///
/// # Errors
///
/// Another name than "D1" to "D9", another set.
pub fn biclusters(name: &str, set: u64, seed: u64) -> Result<PlantedBiclusters> {
    let Some((number, (_, (sd, large, small)))) = BICLUSTERS.iter().enumerate().find(|(_, of)| of.0 == name)
    else {
        return Err(Error::unknown("data set of biclusters", name, BICLUSTERS.iter().map(|of| of.0)));
    };
    let outside = match set {
        1 => 0.01,
        2 => 0.5,
        _ => return Err(Error::setting("set", set, "must be 1 or 2", "")),
    };
    // Every data set and every set has its own random streams.
    let own = |part: u64| Stream::new(seed, 1000 * part + 10 * number as u64 + set);
    let (sizes, places, inside, around) = (own(1), own(2), own(3), own(4));
    let (mut x, mut rows, mut columns) = (Matrix::zeros(SIDE, SIDE), Vec::new(), Vec::new());
    for b in 0..large + small {
        let (least, count) = if b < *large { (20, 11) } else { (3, 6) };
        let side = |which: u64| {
            let at = 2 * b as u64 + which;
            let size = least + (sizes.uniform(at) * count as f64) as usize;
            let mut all: Vec<usize> = (0..SIDE).collect();
            places.shuffle(at * SIDE as u64, &mut all);
            let mut member = vec![false; SIDE];
            all[..size].iter().for_each(|&i| member[i] = true);
            let value = |i: usize| {
                let draw = at * SIDE as u64 + i as u64;
                if member[i] { 1.0 + inside.normal(draw) } else { outside * around.normal(draw) }
            };
            let values: Vec<f64> = (0..SIDE).map(value).collect();
            (member, values)
        };
        let ((row, z), (column, w)) = (side(0), side(1));
        for (i, z) in z.iter().enumerate() {
            x.row_mut(i).iter_mut().zip(&w).for_each(|(x, w)| *x += z * w);
        }
        rows.push(row);
        columns.push(column);
    }
    let noise = own(5);
    x.as_mut_slice().iter_mut().enumerate().for_each(|(i, x)| *x += sd * noise.normal(i as u64));
    let means: Vec<f64> =
        (0..SIDE).map(|j| (0..SIDE).map(|i| x[(i, j)]).sum::<f64>() / SIDE as f64).collect();
    for i in 0..SIDE {
        x.row_mut(i).iter_mut().zip(&means).for_each(|(x, m)| *x -= m);
    }
    Ok(PlantedBiclusters { x, rows, columns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_moments_are_those_of_the_benchmark() {
        let (mut counts, mut energy) = (Vec::new(), 0.0);
        for seed in 0..30 {
            let made = biclusters("D5", 1, seed).unwrap();
            assert_eq!((made.x.rows(), made.x.cols(), made.rows.len()), (100, 100, 20));
            let size = |of: &Vec<bool>| of.iter().filter(|x| **x).count();
            for (b, of) in made.rows.iter().enumerate().chain(made.columns.iter().enumerate()) {
                let range = if b < 15 { 20..=30 } else { 3..=8 };
                assert!(range.contains(&size(of)), "{b}: {}", size(of));
                counts.push(size(of));
            }
            for j in 0..100 {
                assert!((0..100).map(|i| made.x[(i, j)]).sum::<f64>().abs() < 1e-9);
            }
            energy += made.x.as_slice().iter().map(|x| x * x).sum::<f64>() / 30.0;
        }
        // Every size from 20 to 30 and from 3 to 8 comes.
        assert!((20..=30).chain(3..=8).all(|size| counts.contains(&size)), "{counts:?}");
        // A cell of noise has 25, one in a bicluster about 4 more; 15 of 625 cells of 10,000 and five of 30.
        let want = 99.0 / 100.0 * 25.0 * 10_000.0;
        assert!(energy > want && energy < 1.25 * want, "{energy} {want}");
    }

    #[test]
    fn seeds_sets_and_names_determine_the_rows() {
        let x = |name: &str, set, seed| biclusters(name, set, seed).unwrap().x;
        assert!(x("D1", 1, 3).as_slice() == x("D1", 1, 3).as_slice());
        let first = x("D1", 1, 3)[(0, 0)];
        for other in [x("D1", 1, 4), x("D1", 2, 3), x("D2", 1, 3)] {
            assert!(other[(0, 0)] != first);
        }
        assert!(biclusters("D10", 1, 0).unwrap_err().to_string().contains("did you mean 'D1'?"));
        assert!(biclusters("D1", 3, 0).unwrap_err().to_string().contains("must be 1 or 2"));
    }
}
