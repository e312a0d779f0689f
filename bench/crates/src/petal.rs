//! petal-decomposition, with LAPACK of OpenBLAS. Its exact PCA computes all left vectors, `n` by `n` numbers.

use ndarray_of_petal::Array2;
use petal_decomposition::{FastIcaBuilder, PcaBuilder, RandomizedPcaBuilder};

use crate::job::{Job, Outcome};
use crate::npy::Rows;
use crate::{probed, probes};

/// The types of its models are bounded by a private trait: so one function for each type.
macro_rules! engine {
    ($name:ident, $real:ty) => {
        pub fn $name(task: &str, engine: &str, x: Rows<$real>, job: &Job) -> Outcome<()> {
            let (n, p) = (x.n, x.p);
            let array = |x: Rows<$real>| Array2::from_shape_vec((x.n, x.p), x.values);
            let rows = array(x)?;
            macro_rules! pca {
                ($make:expr) => {{
                    let (fitted, coded) = job.time(|| {
                        let mut model = $make.build::<$real>();
                        if task == "fit_transform" {
                            let coded = model.fit_transform(&rows)?;
                            return Ok((model, Some(coded)));
                        }
                        model.fit(&rows)?;
                        Ok((model, None))
                    })?;
                    let variances =
                        fitted.singular_values().iter().map(|&s| f64::from(s).powi(2) / (n as f64 - 1.0));
                    job.tell("variances", 1, job.k, variances)?;
                    job.tell("components", job.k, p, fitted.components().iter().copied())?;
                    match coded {
                        Some(coded) => job.tell("codes", n, job.k, coded.iter().copied()),
                        None => Ok(()),
                    }
                }};
            }
            match (task, engine) {
                ("pca" | "fit_transform", "petal exact") => pca!(PcaBuilder::new(job.k)),
                ("pca" | "fit_transform", "petal randomized") => {
                    pca!(RandomizedPcaBuilder::new(job.k).seed(0))
                }
                // As many sources as features; tanh, tolerance 1e-4, 200 steps.
                ("ica", "petal") => {
                    let fitted = job.time(|| {
                        let mut model = FastIcaBuilder::new().seed(0).build::<$real>();
                        model.fit(&rows)?;
                        Ok(model)
                    })?;
                    let outputs = fitted.transform(&array(probes(p))?)?;
                    let found = probed(&outputs.iter().copied().collect::<Vec<_>>(), p, outputs.ncols());
                    job.tell("unmixing", found.n, found.p, found.values)
                }
                _ => Err(format!("{engine} cannot do {task} in {}", stringify!($real)).into()),
            }
        }
    };
}

engine!(of_f32, f32);
engine!(of_f64, f64);
