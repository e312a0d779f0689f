//! The acceptance designs: medians over five seeds.

use super::{fit, labels, union};
use crate::made::median;
use unmix::SubspaceClustering;
use unmix::datasets::UnionOfSubspaces;
use unmix::method::subspace_clustering::{Algorithm, Dimensions};
use unmix::metrics::{clustering_accuracy, nmi};

const SEEDS: u64 = 5;

/// Columns, dimensions, rows of each subspace, noise.
type Design = (usize, &'static [usize], usize, f64);

fn made((p, dimensions, each, noise): Design, seed: u64) -> UnionOfSubspaces {
    union(p, dimensions, each, noise, seed)
}

fn accuracy(algorithm: Algorithm, design: Design, given: bool) -> f64 {
    let one = |seed| {
        let made = made(design, seed);
        let same = design.1.iter().all(|d| *d == design.1[0]);
        let dimensions = match same {
            true => Dimensions::Same(design.1[0]),
            false => Dimensions::Each(design.1.to_vec()),
        };
        let spec = SubspaceClustering {
            n_clusters: given.then_some(design.1.len()),
            n_components: given.then_some(dimensions),
            algorithm,
            ..Default::default()
        };
        clustering_accuracy(&made.labels, &labels(&fit(&spec, &made.x)))
    };
    median((0..SEEDS).map(one).collect())
}

const NOISELESS: Design = (30, &[3, 3, 3], 60, 0.0);
const NOISY: Design = (30, &[3, 3, 3], 60, 0.1);
const FIVE: Design = (15, &[5, 5, 5, 5, 5], 60, 0.02);
const OVERLAPPING: Design = (9, &[3, 3, 3, 3], 80, 0.02);
const UNEQUAL: Design = (30, &[2, 4, 6], 50, 0.05);

#[test]
fn sparse_subspace_clustering_meets_its_targets() {
    for design in [NOISELESS, NOISY, FIVE, OVERLAPPING, UNEQUAL] {
        let found = accuracy(Algorithm::Ssc, design, true);
        let least = if design == NOISELESS { 1.0 } else { 0.97 };
        assert!(found >= least, "{design:?}: {found}");
    }
}

#[test]
fn k_subspaces_from_its_clusters_meets_its_targets() {
    for design in [NOISELESS, NOISY, FIVE, OVERLAPPING, UNEQUAL] {
        let found = accuracy(Algorithm::SscKSubspaces, design, true);
        assert!(found >= 0.99, "{design:?}: {found}");
    }
}

#[test]
fn the_other_algorithms_find_well_separated_subspaces() {
    for algorithm in [Algorithm::KSubspaces, Algorithm::Shape] {
        for design in [NOISELESS, NOISY] {
            let found = accuracy(algorithm, design, true);
            assert!(found >= 0.99, "{algorithm:?}, {design:?}: {found}");
        }
    }
    let found = accuracy(Algorithm::KSubspaces, OVERLAPPING, true);
    assert!(found >= 0.99, "{found}");
}

#[test]
fn the_number_of_clusters_and_their_dimensions_are_found() {
    for design in [NOISELESS, NOISY, UNEQUAL] {
        let made = made(design, 1);
        let model = fit(&SubspaceClustering::default(), &made.x);
        assert_eq!(model.n_codes(), design.1.len(), "{design:?}");
        let mut dimensions = crate::made::numbers(&model, "dimensions");
        dimensions.sort_by(f64::total_cmp);
        let want: Vec<f64> = design.1.iter().map(|d| *d as f64).collect();
        assert_eq!(dimensions, want, "{design:?}");
        let found = labels(&model);
        assert!(clustering_accuracy(&made.labels, &found) >= 0.98, "{design:?}");
        // Two wrong rows of 180 are an NMI of .94.
        assert!(nmi(&made.labels, &found) > 0.93, "{design:?}");
    }
}
