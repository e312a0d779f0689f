//! One fit: its criteria, or why there are none.

use super::methods::{Covariance, METHODS, Method, with_e_step};
use super::{FittedMethod, Job, TableColumn};
use serde_json::Value;
use unmix::datasets::{BICLUSTERS, biclusters};
use unmix::internal::num::factor;
use unmix::{AnyRows, Error, Matrix, Model, Result, Rows, Run};

/// SP, ER, CO and the objective of one fit.
pub(super) type Values = [Option<f64>; 4];

/// One fit's values, or why there are none.
pub(super) type Outcome = std::result::Result<Values, String>;

/// Fits one instance. Instances and their seeds do not depend on how many there are.
pub(super) fn fit(job: Job, full: bool, run: &Run<'_>) -> Result<Outcome> {
    let TableColumn { set, units, data } = job.place;
    let (key, settings, covariance) = match job.what {
        FittedMethod::Method(at) => {
            let Method { key, settings, covariance, .. } = &METHODS[at];
            (*key, settings(units, full), *covariance)
        }
        FittedMethod::EStep(at) => ("rfn", with_e_step(units, at), Covariance::Codes),
    };
    if unmix::method::find(key).is_err() {
        return Ok(Err("not available".into()));
    }
    let x = biclusters(job.place.name(), set, job.instance)?.x;
    let single: Vec<f32> = x.as_slice().iter().map(|&v| v as f32).collect();
    let mut rows = AnyRows::F32(Rows::from_slice(&single, x.cols())?);
    let seed = (job.instance * 2 + set - 1) * BICLUSTERS.len() as u64 + data as u64;
    let run = Run { seed, threads: 1, observer: run.observer, ..Run::default() };
    let Value::Object(settings) = settings else { return Ok(Err("not available".into())) };
    match unmix::fit(key, &settings, &mut rows, &run) {
        Ok(model) => measured(&model, &x, &single, covariance, &run).map(Ok),
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(e) => Ok(Err(format!("not available: {e}"))),
    }
}

/// Zeros among the codes in percent, norms of the residual and of the residual covariance, and the objective.
fn measured(
    model: &Model,
    x: &Matrix<f64>,
    single: &[f32],
    covariance: Covariance,
    run: &Run<'_>,
) -> Result<Values> {
    let codes = model.encode_to_vec(&Rows::from_slice(single, x.cols())?, run)?;
    let back = model.decode_to_vec(&Rows::from_slice(&codes, model.n_codes())?, run)?;
    let zero = |z: f32| if covariance == Covariance::Codes { z == 0.0 } else { z.abs() < 0.01 };
    let zeros = codes.iter().filter(|z| zero(**z)).count() as f64;
    let left: f64 = x.as_slice().iter().zip(&back).map(|(x, b)| (x - f64::from(*b)).powi(2)).sum();
    let objective = model.report().diagnostics.get("final_objective").and_then(Value::as_f64);
    Ok([
        Some(100.0 * zeros / codes.len() as f64),
        Some(left.sqrt()),
        residual_covariance(model, x, covariance),
        objective,
    ])
}

/// `||C - W S W' - Psi||` with the second moments `C` of the rows, `S` of the codes or the identity.
fn residual_covariance(model: &Model, x: &Matrix<f64>, covariance: Covariance) -> Option<f64> {
    if covariance == Covariance::None {
        return None;
    }
    let w = model.tensor("components")?.to_matrix().transposed();
    let psi = model.tensor("noise_variance")?.f64s();
    let explained = match covariance {
        Covariance::Codes => {
            factor::multiply_transposed(&factor::multiply(&w, &model.tensor("code_moments")?.to_matrix()), &w)
        }
        _ => factor::multiply_transposed(&w, &w),
    };
    let (n, p) = (x.rows() as f64, x.cols());
    let c = factor::multiply(&x.transposed(), x);
    let cell = |at: usize| {
        let (i, j) = (at / p, at % p);
        (c[(i, j)] / n - explained[(i, j)] - if i == j { psi[i] } else { 0.0 }).powi(2)
    };
    Some((0..p * p).map(cell).sum::<f64>().sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::side_by_side;

    fn bits(found: &[Outcome]) -> Vec<[Option<u64>; 4]> {
        found.iter().map(|o| o.as_ref().unwrap().map(|v| v.map(f64::to_bits))).collect()
    }

    #[test]
    fn instances_have_the_same_bits_alone_and_among_more_on_any_number_of_threads() {
        let place = TableColumn { set: 1, units: 50, data: 0 };
        let pca = METHODS.iter().position(|m| m.name == "PCA").unwrap();
        let of = |n: usize, threads: usize| {
            let run = Run { threads, ..Run::default() };
            let job = |i: usize| Job { what: FittedMethod::Method(pca), place, instance: i as u64 };
            bits(&side_by_side(&run, n, |i, run| fit(job(i), false, run)).unwrap())
        };
        let (four, eight) = (of(4, 1), of(8, 3));
        assert_eq!(four, eight[..4]);
        assert!(eight.iter().all(|v| eight.iter().filter(|w| *w == v).count() == 1));
    }

    #[test]
    fn every_method_of_the_tables_exists_and_an_error_is_passed_on() {
        let run = Run { threads: 2, ..Run::default() };
        let failed = side_by_side(&run, 5, |i, _| if i == 2 { Err(Error::Interrupted) } else { Ok(i) });
        assert!(matches!(failed, Err(Error::Interrupted)));
        for method in &METHODS {
            assert!(unmix::method::find(method.key).is_ok(), "{}", method.name);
        }
    }
}
