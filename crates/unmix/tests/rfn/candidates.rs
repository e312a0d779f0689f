//! The step of reduced matrices: alone it lowers the divergence in every E-step, and the whole sequence of candidates uses it.

use super::{centred, diagnostic, fit};
use serde_json::json;
use unmix::datasets::biclusters;
use unmix::internal::num::Matrix;
use unmix::internal::num::random::Stream;
use unmix::internal::rectified::cascade::{Candidate, CandidateSearch, project};
use unmix::internal::rectified::statistics::{Expected, Moments};
use unmix::internal::rectified::{
    GatherStoredCodes, MStep, Noise, Normalisation, Parameters, Prior, Statistics, Step, StoredCodes,
};
use unmix::{Rows, Run};

const PRIOR: Prior = Prior { mean: 0.0, variance: 1.0 };

/// Iterations of 50 units without normalisation whose only candidate is the step of reduced matrices: how often it was taken.
fn alone(x: &Matrix<f64>, l: usize, iterations: usize) -> usize {
    let (n, m) = (x.rows(), x.cols());
    let c: Vec<f64> = (0..m).map(|k| (0..n).map(|i| x[(i, k)].powi(2)).sum::<f64>() / n as f64).collect();
    let draws = Stream::new(0, 0);
    let w = Matrix::from_fn(m, l, |k, j| 0.01 * c[k].sqrt() * draws.normal((k * l + j) as u64));
    let mut at = Parameters { w, noise: Noise::Diagonal(c.iter().map(|c| 0.1 * c).collect()) };
    let step = Step {
        rate: 0.1,
        how: MStep::Newton,
        sd: c.iter().map(|c| c.sqrt()).collect(),
        bounds: c.iter().map(|c| (0.01 * c, *c)).collect(),
        relative: true,
        spectrum: (0.0, f64::INFINITY),
        l1: 0.0,
        l2: 0.0,
        w_max: None,
    };
    let (rows, run, center) = (Rows::from_slice(x.as_slice(), m).unwrap(), Run::default(), vec![0.0; m]);
    let (mut mu, mut taken): (Option<StoredCodes<f64>>, usize) = (None, 0);
    let moments = Moments::Diagonal(c);
    for _ in 0..iterations {
        let posterior = at.posterior(PRIOR).unwrap();
        let g = at.precision(&posterior.a, PRIOR);
        let mut p = StoredCodes::zeros(n, l);
        p.fill(&rows, (&center, &posterior.b, &posterior.bias), &run).unwrap();
        let codes = match mu.take() {
            None => {
                project(&mut p, Normalisation::None, n as f64, None);
                p
            }
            Some(mu) => {
                let candidates = [Candidate::Reduced];
                let how = Normalisation::None;
                let search = CandidateSearch {
                    p: &p,
                    mu: &mu,
                    g: &g,
                    n: n as f64,
                    weights: None,
                    how,
                    allowance: 0.0,
                    candidates: &candidates,
                };
                let (codes, candidate) = search.first_decrease();
                assert_eq!(candidate, Candidate::Reduced);
                assert!(search.divergence(&codes) < search.divergence(&mu));
                taken += 1;
                codes
            }
        };
        let sums =
            rows.sweep(&run, "sums of codes", &GatherStoredCodes { center: &center, codes: &codes }).unwrap();
        let stats = Statistics::scaled(&sums, vec![1.0; l]);
        let s = stats.second_moments(&posterior);
        let expected = Expected::new(&at.w, &stats, &s, &moments);
        at = step.take(&at, &stats, &s, &expected).unwrap().parameters;
        mu = Some(codes);
    }
    taken
}

#[test]
fn steps_of_reduced_matrices_alone_lower_the_divergence_in_every_iteration() {
    assert_eq!(alone(&biclusters("D1", 1, 0).unwrap().x, 50, 100), 99);
}

#[test]
fn the_whole_sequence_takes_steps_of_reduced_matrices() {
    let x = centred(biclusters("D1", 1, 0).unwrap().x);
    let mut reduced = 0;
    for normalize in ["rms", "none"] {
        let given = json!({"n_components": 50, "e_step": "cascade", "max_iter": 40, "learning_rate": 0.1, "normalize": normalize});
        let candidates = diagnostic(&fit(x.as_slice(), 100, given), "rungs");
        reduced += candidates["reduced"].as_u64().unwrap_or_else(|| panic!("{normalize}: {candidates}"));
    }
    assert!(reduced > 0);
}
