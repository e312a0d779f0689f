//! smartcore, on one thread.

use smartcore::decomposition::pca::{PCA, PCAParameters};
use smartcore::linalg::basic::arrays::Array;
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::numbers::realnum::RealNumber;

use crate::job::{Job, Outcome};
use crate::npy::{Real, Rows};

/// Columns first, as its own constructors lay rows out.
pub fn pca<T: RealNumber + Real>(x: Rows<T>, codes: bool, job: &Job) -> Outcome<()> {
    let (n, p) = (x.n, x.p);
    let columns = (0..p).flat_map(|j| x.values.iter().skip(j).step_by(p).copied()).collect();
    drop(x.values);
    let rows = DenseMatrix::new(n, p, columns, true)?;
    let (fitted, coded) = job.time(|| {
        let fitted = PCA::fit(&rows, PCAParameters::default().with_n_components(job.k))?;
        let coded = codes.then(|| fitted.transform(&rows)).transpose()?;
        Ok((fitted, coded))
    })?;
    let axes = fitted.components();
    job.tell("components", job.k, p, (0..job.k).flat_map(|c| (0..p).map(move |j| *axes.get((j, c)))))?;
    // It does not return the variances: those of the codes are used.
    let made = match coded {
        Some(coded) => coded,
        None => fitted.transform(&rows)?,
    };
    let variances = (0..job.k).map(|c| {
        let column = || (0..n).map(|i| -> f64 { (*made.get((i, c))).into() });
        let mean = column().sum::<f64>() / n as f64;
        column().map(|v| (v - mean).powi(2)).sum::<f64>() / (n as f64 - 1.0)
    });
    job.tell("variances", 1, job.k, variances)?;
    match codes {
        true => job.tell(
            "codes",
            n,
            job.k,
            (0..n).flat_map(|i| (0..job.k).map(|c| *made.get((i, c))).collect::<Vec<T>>()),
        ),
        false => Ok(()),
    }
}
