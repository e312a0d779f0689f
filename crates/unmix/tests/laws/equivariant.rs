//! Rows in other units, shifted, or in another order of rows or columns have the reconstructions of the model moved likewise; the distances
//! of rows to clusters, which have no reconstruction, are scaled.
//!
//! A fit of every method makes every [`Move`], or is listed with the reason why it does not have the property.

use crate::made::{encode, on_threads, settings, tables};
use serde_json::{Value, json};
use unmix::data::VecSink;
use unmix::datasets::{Distribution, independent};
use unmix::internal::num::random::Stream;
use unmix::model::{Tensor, Tensors};
use unmix::{AnyRows, Dtype, METHODS, Matrix, Model, Rows};

const ROWS: usize = 120;
const COLUMNS: usize = 4;

/// Largest difference of the moved reconstructions, as a share of the largest number in them. Fits end at residuals of 1e-10 or after a fixed
/// number of steps; without these they differ by 1e-15.
const SAME: f64 = 1e-6;

/// A change of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Move {
    /// A number added to each column.
    Shift,
    /// Another unit of all columns: multiplied by 4, 3.7, 1e9 and 2^-30.
    Unit,
    /// Multiplied by -3.7.
    Sign,
    /// Rows in another order.
    Rows,
    /// Columns in another order.
    Columns,
}

use Move::{Columns, Rows as Order, Shift, Sign, Unit};

const MOVES: [Move; 5] = [Shift, Unit, Sign, Order, Columns];

/// Rows after a move: multiplied, shifted, and taken in these orders.
struct Moved {
    factor: f64,
    shift: f64,
    rows: Vec<usize>,
    columns: [usize; COLUMNS],
}

impl Moved {
    fn all(what: Move) -> Vec<Self> {
        let still = || Self { factor: 1.0, shift: 0.0, rows: (0..ROWS).collect(), columns: [0, 1, 2, 3] };
        let by = |factor: &f64| Self { factor: *factor, ..still() };
        match what {
            Shift => vec![Self { shift: 100.0, ..still() }],
            Unit => [4.0, 3.7, 1e9, 2f64.powi(-30)].iter().map(by).collect(),
            Sign => vec![by(&-3.7)],
            Order => {
                let draws = Stream::new(99, 0);
                let mut rows: Vec<usize> = (0..ROWS).collect();
                rows.sort_by_key(|i| draws.bits(*i as u64));
                vec![Self { rows, ..still() }]
            }
            Columns => vec![Self { columns: [2, 0, 3, 1], ..still() }],
        }
    }

    /// `x`, moved.
    fn of(&self, x: &[f64]) -> Vec<f64> {
        let number = |i: usize, j: usize| x[i * COLUMNS + j] * self.factor + self.shift * j as f64;
        let row = |i: &usize| self.columns.map(|j| number(*i, j));
        self.rows.iter().flat_map(row).collect()
    }
}

/// A fit, and the moves after which it is another one.
struct Fit {
    key: &'static str,
    given: Value,
    without: Vec<(Move, &'static str)>,
}

const ABOUT_ZERO: &str = "codes are about 0, not about the mean";
const NOT_NEGATIVE: &str = "codes are not negative";
const BATCHES: &str = "batches of rows are chosen by their numbers";
const ROWS_CHOSEN: &str = "it starts from rows that are chosen by their numbers";
const RANDOM_COLUMNS: &str = "it starts at a random number for each column";

fn fits() -> Vec<Fit> {
    let has_all = |key, given| Fit { key, given, without: Vec::new() };
    let fit = |key, given, without: &[(Move, &'static str)]| Fit { key, given, without: without.to_vec() };
    vec![
        has_all("pca", json!({"n_components": 2})),
        has_all("pca", json!({"n_components": 2, "standardize": true, "whiten": true})),
        has_all("ppca", json!({"n_components": 2})),
        has_all("linear-eigengan", json!({"n_components": 2})),
        has_all("neural-pca", json!({"n_components": 2, "tol": 1e-10})),
        fit(
            "neural-pca",
            json!({"n_components": 2, "solver": "adam", "batch_size": 30, "max_epochs": 3}),
            &[(Order, BATCHES), (Columns, RANDOM_COLUMNS)],
        ),
        has_all("sigma-pca", json!({"n_components": 2, "tol": 1e-10})),
        has_all("sigma-pca", json!({"n_components": 2, "constraint": "native", "tol": 1e-10})),
        has_all("ica", json!({"n_components": 2, "tol": 1e-10})),
        has_all("ica", json!({"ortho": false, "extended": true, "n_components": 2, "tol": 1e-10})),
        has_all("fastica", json!({"n_components": 2})),
        has_all("rica", json!({"n_components": 2, "tol": 1e-10})),
        has_all("factor-analysis", json!({"n_components": 1, "tol": 1e-10})),
        fit(
            "matrix-completion",
            json!({"n_components": 2}),
            &[(Shift, "the prior of the offsets has mean 0")],
        ),
        has_all("robust-pca", json!({"alpha": 0.12, "center": true})),
        has_all("sparse-coder", json!({"center": true})),
        fit("sparse-coder", json!({"algorithm": "omp", "n_nonzero_coefs": 2}), &[(Shift, ABOUT_ZERO)]),
        fit(
            "lista",
            json!({"n_layers": 3, "max_epochs": 3, "batch_size": 30}),
            &[(Shift, ABOUT_ZERO), (Order, BATCHES)],
        ),
        fit("dictionary", json!({"max_epochs": 2}), &[(Shift, ABOUT_ZERO), (Order, BATCHES)]),
        fit(
            "dictionary",
            json!({"algorithm": "alternating", "center": true, "max_iter": 10}),
            &[(Order, ROWS_CHOSEN)],
        ),
        has_all("subspace-clustering", json!({"n_clusters": 2, "center": true})),
        fit("subspace-clustering", json!({"n_clusters": 2}), &[(Shift, ABOUT_ZERO)]),
        has_all("complete-dictionary", json!({"n_components": 2, "center": true, "tol": 1e-10})),
        fit("complete-dictionary", json!({"n_components": 2, "tol": 1e-10}), &[(Shift, ABOUT_ZERO)]),
        has_all("complete-dictionary", json!({"n_components": 2, "algorithm": "deflation", "center": true})),
        fit(
            "rfn",
            json!({"n_components": 3, "max_iter": 6}),
            &[(Sign, NOT_NEGATIVE), (Columns, RANDOM_COLUMNS)],
        ),
        fit(
            "rfn",
            json!({"n_components": 3, "max_iter": 6, "e_step": "coordinate"}),
            &[(Sign, NOT_NEGATIVE), (Columns, RANDOM_COLUMNS)],
        ),
        fit(
            "stacked-rfn",
            json!({"n_components": [3, 2], "max_iter": 6}),
            &[(Sign, NOT_NEGATIVE), (Columns, RANDOM_COLUMNS)],
        ),
        fit(
            "sae",
            json!({"n_components": 6, "l0": 2, "batch_size": 30, "max_epochs": 3}),
            &[(Sign, NOT_NEGATIVE), (Order, BATCHES), (Columns, RANDOM_COLUMNS)],
        ),
        fit(
            "dae",
            json!({"n_components": 4, "batch_size": 30, "max_epochs": 3}),
            &[(Sign, NOT_NEGATIVE), (Order, BATCHES), (Columns, RANDOM_COLUMNS)],
        ),
        fit(
            "rbm",
            json!({"n_components": 4, "batch_size": 30, "max_epochs": 3}),
            &[(Sign, NOT_NEGATIVE), (Order, BATCHES), (Columns, RANDOM_COLUMNS)],
        ),
    ]
}

/// Mixed sources, which the rows determine by more than their variances.
fn rows() -> Vec<f64> {
    let laws =
        [Distribution::Laplace, Distribution::Uniform, Distribution::Exponential, Distribution::Laplace];
    let z = independent(ROWS, &laws, &[9.0, 5.0, 2.0, 1.0], 11).unwrap().x;
    let turn = [2.0, -0.5, 0.3, 0.9, 0.4, 1.5, -0.7, 0.2, -1.1, 0.6, 1.8, 0.1, 0.3, -0.2, 0.5, 1.3];
    let turn = Matrix::from_fn(COLUMNS, COLUMNS, |i, j| turn[COLUMNS * i + j]);
    unmix::internal::num::factor::multiply(&z, &turn).into_vec()
}

/// The model of the moved rows `x`; columns of given atoms are exchanged with those of the rows.
fn fitted(fit: &Fit, x: &[f64], columns: &[usize; COLUMNS]) -> Model {
    let exchanged = |tensor: &Tensor| {
        let atoms = tensor.to_matrix();
        Tensor::matrix(&Matrix::from_fn(atoms.rows(), COLUMNS, |i, j| atoms[(i, columns[j])]), Dtype::F64)
    };
    let given: Tensors =
        tables(fit.key, COLUMNS).iter().map(|(name, tensor)| (name.clone(), exchanged(tensor))).collect();
    let mut rows = AnyRows::F64(Rows::from_slice(x, COLUMNS).unwrap());
    let model = unmix::fit_given(fit.key, &settings(fit.given.clone()), given, &mut rows, &on_threads(2));
    model.unwrap_or_else(|e| panic!("{} {}: {e}", fit.key, fit.given))
}

/// Reconstructions of rows, or their codes if these are distances.
fn seen(model: &Model, x: &[f64]) -> Vec<f64> {
    if !model.code().decodes() {
        return encode(model, x);
    }
    let mut sink = VecSink(Vec::new());
    model.reconstruct(&Rows::from_slice(x, COLUMNS).unwrap(), &on_threads(2), &mut sink).unwrap();
    sink.0
}

/// The largest difference between what is seen of the moved rows and what is expected, as a share of the largest number.
fn error(fit: &Fit, moved: &Moved, x: &[f64], before: &Model) -> f64 {
    let y = moved.of(x);
    let after = fitted(fit, &y, &moved.columns);
    let (found, still) = (seen(&after, &y), seen(before, x));
    let want = match before.code().decodes() {
        true => moved.of(&still),
        false => {
            let k = before.n_codes();
            let row = |i: &usize| still[i * k..(i + 1) * k].iter().map(|d| d * moved.factor.abs());
            moved.rows.iter().flat_map(row).collect()
        }
    };
    let size = still.iter().fold(0.0f64, |m, v| m.max(v.abs())) * moved.factor.abs();
    assert!(size > 0.0, "{} {}: nothing is reconstructed", fit.key, fit.given);
    crate::made::apart(&found, &want) / size
}

#[test]
fn every_method_is_equivariant_or_listed_with_a_reason() {
    let x = rows();
    let fits = fits();
    for fit in &fits {
        let before = fitted(fit, &x, &[0, 1, 2, 3]);
        for what in MOVES {
            let errors: Vec<f64> = Moved::all(what).iter().map(|m| error(fit, m, &x, &before)).collect();
            let worst = errors.iter().fold(0.0f64, |m, e| if e.is_nan() { f64::NAN } else { m.max(*e) });
            match fit.without.iter().find(|(listed, _)| *listed == what) {
                None => assert!(worst < SAME, "{} {} {what:?}: {errors:?}", fit.key, fit.given),
                // A reason that no longer applies is removed.
                Some((_, why)) => {
                    assert!(worst > 0.01 * SAME, "{} {} {what:?} is listed: {why}", fit.key, fit.given);
                }
            }
        }
    }
    for method in METHODS {
        assert!(fits.iter().any(|fit| fit.key == method.key), "add a fit of {}", method.key);
    }
}
