//! linfa, without BLAS, which is its default: its own LOBPCG and SVD, on one thread.

use linfa::DatasetBase;
use linfa::traits::{Fit, Predict};
use linfa_ica::fast_ica::FastIca;
use linfa_reduction::Pca;
use ndarray_of_linfa::Array2;

use crate::job::{Job, Outcome};
use crate::npy::{Real, Rows};
use crate::{probed, probes};

fn array<T>(x: Rows<T>) -> Outcome<Array2<T>> {
    Ok(Array2::from_shape_vec((x.n, x.p), x.values)?)
}

/// Double precision only.
pub fn pca(x: Rows<f64>, codes: bool, job: &Job) -> Outcome<()> {
    let n = x.n;
    let rows = DatasetBase::from(array(x)?);
    let (fitted, coded) = job.time(|| {
        let fitted = Pca::params(job.k).fit(&rows)?;
        let coded = codes.then(|| fitted.predict(rows.records()));
        Ok((fitted, coded))
    })?;
    // Not `explained_variance`, which divides by the number of components.
    let variances = fitted.singular_values().iter().map(|s| s * s / (n as f64 - 1.0));
    job.tell("variances", 1, fitted.singular_values().len(), variances)?;
    let components = fitted.components();
    job.tell("components", components.nrows(), components.ncols(), components.iter().copied())?;
    match coded {
        Some(coded) => job.tell("codes", coded.nrows(), coded.ncols(), coded.iter().copied()),
        None => Ok(()),
    }
}

/// All sources, tanh, tolerance 1e-4, 200 steps: its defaults. The model does not return its matrix.
pub fn ica<T: linfa::Float + Real>(x: Rows<T>, job: &Job) -> Outcome<()> {
    let p = x.p;
    let rows = DatasetBase::from(array(x)?);
    let fitted = job.time(|| Ok(FastIca::params().ncomponents(job.k).random_state(0).fit(&rows)?))?;
    let outputs = fitted.predict(&array(probes::<T>(p))?);
    let found = probed(outputs.as_slice().ok_or("columns first")?, p, job.k);
    job.tell("unmixing", found.n, found.p, found.values)
}
