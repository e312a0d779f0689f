//! The coordinates in which atoms are searched, and the starts of the search.

use super::{CompleteDictionary, METHOD};
use crate::data::{MOST_BYTES_KEPT, Map, Projected, Rows, check_n_rows};
use crate::error::{Error, Result, counted};
use crate::ica::{SweptRows, View, keeps_copy};
use crate::model::constant_columns;
use crate::num::random::Stream;
use crate::num::{Dtype, Matrix, Real, factor};
use crate::run::Run;
use crate::spectrum::{self, Bounds, Coordinates, PrincipalAxes, WhiteningOptions};

/// The largest entry of the second moments minus the identity up to which rows count as white.
const WHITE_DEVIATION: f64 = 0.1;

/// Coordinates of the rows, and the number of atoms to search for.
pub(super) struct Task {
    /// Coordinates of the rows.
    pub(super) coordinates: Coordinates,
    /// Number of atoms.
    pub(super) k: usize,
    /// Whether coordinates are white; approximately, without preconditioning.
    pub(super) white: bool,
}

impl CompleteDictionary {
    /// Computes the coordinates, and the number of atoms, with warnings.
    pub(super) fn task<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Task> {
        let (n, p, origin) = (rows.n_counted(), rows.n_features(), rows.origin());
        check_n_rows(METHOD.key, n, origin, "give more rows")?;
        let bounds = Bounds { n, p, origin, least: METHOD.least_components(), overcomplete: false };
        bounds.count(self.n_components)?;
        let (mut coordinates, white) = match self.precondition {
            true => (self.whitened(rows, run)?, true),
            false => self.as_they_are(rows, run)?,
        };
        let (r, wanted) = (coordinates.k(), self.n_components.unwrap_or(p));
        let k = wanted.min(r);
        if k < wanted {
            let few = match n <= p as u64 {
                true => format!(" ({} of {})", counted(n, "row"), counted(p as u64, "column")),
                false => String::new(),
            };
            let (directions, are) = if k == 1 { ("direction", "is") } else { ("directions", "are") };
            coordinates.warnings.push(format!(
                "the rows vary along {k} {directions} only{few}, so {k} of {wanted} atoms {are} kept"
            ));
        }
        coordinates.warnings.extend(constant_columns(coordinates.n_constant, p, "entries in every atom"));
        Ok(Task { coordinates, k, white })
    }

    /// White coordinates along all directions within the rank.
    fn whitened<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Coordinates> {
        let options = WhiteningOptions {
            method: METHOD.key,
            top: None,
            center: self.center,
            standardize: false,
            weak: true,
        };
        let axes = PrincipalAxes::of(rows, options, run)?;
        let rank = axes.found.axes.rows();
        Ok(Coordinates::new(axes, rank, true, 1.0))
    }

    /// The columns divided by the root mean square of all entries, and whether they are white.
    fn as_they_are<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<(Coordinates, bool)> {
        let (key, p) = (METHOD.key, rows.n_features());
        let scatter = spectrum::scatter_of_columns(rows, key, run)?;
        let columns = Coordinates::of_columns(scatter, self.center, None);
        let total = columns.total.unwrap_or(0.0);
        if total == 0.0 {
            return Err(spectrum::no_variance_of(rows, key));
        }
        spectrum::check_total(key, total, T::DTYPE)?;
        let columns = columns.divided_by((total / p as f64).sqrt());
        let Some(moments) = &columns.moments else { unreachable!("columns have moments") };
        let variances = factor::eigenvalues(moments)?;
        let floor = 10.0 * p as f64 * T::DTYPE.eps() * variances[0];
        let rank = variances.iter().take_while(|v| **v > floor).count();
        if rank < p {
            return Err(Error::unsupported(
                format!("{key} with precondition=false"),
                format!(
                    "the rows vary along {} only, and have {}",
                    counted(rank as u64, "direction"),
                    counted(p as u64, "column")
                ),
                "leave precondition at true, or reduce the rows by pca first",
            )
            .of_method(key)
            .with_numbers(p, rank));
        }
        let off = |i: usize, j: usize| (moments[(i, j)] - f64::from(u8::from(i == j))).abs();
        let farthest = (0..p).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let farthest = farthest.map(|(i, j)| off(i, j)).fold(0.0f64, f64::max);
        let warnings = (farthest >= WHITE_DEVIATION).then(|| {
            format!(
                "the rows are not white: divided by their root mean square, their second moments differ from the identity by up to \
                 {farthest:.2}; precondition=false needs orthogonal atoms with codes of equal variance; set precondition=true for other \
                 dictionaries"
            )
        });
        let warnings = warnings.into_iter().collect();
        let coordinates = Coordinates { total: None, rank: Some(rank), warnings, ..columns };
        Ok((coordinates, farthest < WHITE_DEVIATION))
    }
}

impl Task {
    /// Start number `i`, `k x r`: Gaussian, or, for `i` 0, the atoms of a given model.
    pub(super) fn start(&self, i: u64, run: &Run<'_>) -> Result<Matrix<f64>> {
        let (k, r) = (self.k, self.coordinates.k());
        let draws = Stream::new(run.seed, i);
        let given = run.initial_components(self.coordinates.mean.len(), k)?.filter(|_| i == 0);
        Ok(match given {
            None => Matrix::from_fn(k, r, |i, j| draws.normal((i * r + j) as u64)),
            // In white coordinates atoms are nearly orthogonal, and orthogonal atoms are their own filters.
            Some(atoms) => match self.coordinates.basis() {
                None => atoms.top_rows(k),
                Some(basis) => factor::multiply_transposed(&atoms.top_rows(k), &basis),
            },
        })
    }

    /// Root mean square of the codes of a filter in these coordinates.
    pub(super) fn deviation_of(&self, filter: &[f64]) -> f64 {
        let square = match &self.coordinates.moments {
            None => crate::power::dot(filter, filter),
            Some(m) => (0..filter.len()).map(|i| filter[i] * crate::power::dot(m.row(i), filter)).sum(),
        };
        square.max(0.0).sqrt()
    }
}

/// Calls `f` with a view of the rows in the coordinates of `task`. Coordinates are copied if that saves time, or if sums over the columns
/// themselves would lose digits.
pub(super) fn with_view<T: Real, O>(
    rows: &Rows<'_, T>,
    task: &Task,
    run: &Run<'_>,
    f: impl FnOnce(&View<'_, '_, T>) -> Result<O>,
) -> Result<O> {
    let (n, p, r) = (rows.n_rows().unwrap_or(0), rows.n_features(), task.coordinates.k());
    let basis = task.coordinates.basis();
    let bytes = T::DTYPE.size();
    let fits = n.saturating_mul((r * bytes) as u64) <= MOST_BYTES_KEPT;
    let copied = keeps_copy(n, p, r, bytes) || task.k < r && task.coordinates.white && fits;
    if let Some(basis) = basis.as_ref().filter(|_| copied) {
        let map = Map::new(task.coordinates.mean.clone(), basis);
        let white = Projected::new(rows, map, "whitening", run)?;
        return f(&View { place: SweptRows::Projected(&white), mean: None, basis: None, k: r });
    }
    let mean = task.coordinates.subtracted();
    f(&View { place: SweptRows::Rows(rows), mean, basis: basis.as_ref(), k: r })
}

/// The final bound of the weights of reweighted least squares, in standard deviations of the codes.
pub(super) fn least_floor(dtype: Dtype) -> f64 {
    if dtype == Dtype::F32 { 1e-6 } else { 1e-14 }
}
