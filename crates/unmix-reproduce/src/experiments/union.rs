//! Clustering of points of a plane and of two lines in space.

use super::CHAPTER;
use crate::Experiment;
use crate::lab::Lab;
use serde_json::json;
use unmix::datasets::union_of_subspaces;
use unmix::metrics::clustering_accuracy;
use unmix::{Matrix, Result};
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "union",
    source: CHAPTER,
    summary: "Fig 2.4: points of a plane and two lines in space, coloured by the subspace that they are clustered to",
    run,
};

/// Numbers of points of the plane and of each line.
const SIZES: [usize; 3] = [150, 75, 75];
const DIMENSIONS: [usize; 3] = [2, 1, 1];
/// Standard deviations of the noise in every coordinate.
const NOISE: [f64; 2] = [0.0, 0.02];
/// Seeds of the draws.
const SEEDS: std::ops::Range<u64> = 0..5;

/// An oblique projection: two coordinates of every point.
fn projected(x: &[f64]) -> (f64, f64) {
    (0.8 * x[0] - 0.6 * x[1], 0.36 * x[0] + 0.48 * x[1] + 0.8 * x[2])
}

fn groups(x: &Matrix<f64>, labels: &[usize], name: &str) -> Content {
    let most = labels.iter().max().map_or(0, |l| l + 1);
    let of = |c: usize| (0..x.rows()).filter(|&i| labels[i] == c).map(|i| projected(x.row(i))).collect();
    Content::Groups((0..most).map(|c| (format!("{name} {c}"), of(c))).collect())
}

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let [plane, line, other] = SIZES;
    lab.note(format!(
        "Data: {plane} points of a plane and {line} and {other} of two lines through 0 in space, normal along them, with noise of standard \
         deviation {} and {}.",
        NOISE[0], NOISE[1]
    ))?;
    let seeds = if lab.options.quick { 0..1 } else { SEEDS };
    let mut sheet = Sheet::new("A plane and two lines", 2);
    for noise in NOISE {
        let mut shares = Vec::new();
        for seed in seeds.clone() {
            let made = union_of_subspaces(&SIZES, 3, &DIMENSIONS, noise, seed)?;
            let given = json!({"n_clusters": 3, "n_components": DIMENSIONS});
            let model = lab.fit("subspace-clustering", given, &made.x)?;
            let found: Vec<usize> = model
                .tensor("labels")
                .map(|t| t.f64s())
                .unwrap_or_default()
                .iter()
                .map(|l| *l as usize)
                .collect();
            let share = clustering_accuracy(&found, &made.labels);
            if seed == 0 {
                sheet.add(format!("as drawn, noise {noise}"), groups(&made.x, &made.labels, "subspace"));
                let caption = format!("as clustered: {:.1} % in the right cluster", 100.0 * share);
                sheet.add(caption, groups(&made.x, &found, "cluster"));
            }
            shares.push(share);
        }
        shares.sort_by(f64::total_cmp);
        let median = shares[shares.len() / 2];
        // Points near 0 are near every subspace: with noise some of them cannot be assigned.
        let (least, condition) = if noise == 0.0 { (0.99, "at least .99") } else { (0.93, "at least .93") };
        let quantity =
            format!("noise {noise}: share of points in the right cluster, median of {}", shares.len());
        lab.check(quantity, median, "", condition, median >= least)?;
    }
    lab.figure("union", &sheet)
}
