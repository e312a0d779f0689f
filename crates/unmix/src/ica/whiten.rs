//! Coordinates of the search: whitened ones of the rank of the rows, or the columns.

use crate::data::{MOST_BYTES_KEPT, Rows, check_n_rows};
use crate::error::{Result, counted};
use crate::model::constant_columns;
use crate::num::{Dtype, Real};
use crate::run::Run;
use crate::spectrum::{self, Bounds, Components, Coordinates, PrincipalAxes, WhiteningOptions};

/// Options of centring, scaling and whitening.
#[derive(Clone, Debug)]
pub(crate) struct Preparation {
    /// Key of the method, for messages.
    pub(crate) method: &'static str,
    /// Number of sources; by default the rank.
    pub(crate) n_components: Components,
    /// Minimum number of sources.
    pub(crate) least: usize,
    pub(crate) whiten: bool,
    pub(crate) center: bool,
    pub(crate) standardize: bool,
    /// Whether more components than rows or columns are accepted, and their number is reduced.
    pub(crate) clips: bool,
}

impl Preparation {
    /// Computes the coordinates of prepared rows: one pass, or two if there are fewer rows than columns.
    pub(crate) fn of<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Coordinates> {
        check_n_rows(self.method, rows.n_counted(), rows.origin(), "give more rows")?;
        if self.whiten { self.white(rows, run) } else { self.without_whitening(rows, run) }
    }

    fn white<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Coordinates> {
        let (n, p) = (rows.n_counted(), rows.n_features());
        let bounds = Bounds { n, p, origin: rows.origin(), least: self.least, overcomplete: false };
        let (most, mut warnings) = (bounds.most(), Vec::new());
        let requested = self.requested(bounds, &mut warnings)?;
        let Preparation { method, center, standardize, .. } = *self;
        let principal = PrincipalAxes::of(
            rows,
            WhiteningOptions { method, top: requested, center, standardize, weak: true },
            run,
        )?;
        let found = &principal.found;
        let rank = found.axes.rows();
        let wanted = match self.n_components {
            Components::Share(share) => found.fewest_for(share),
            _ => requested.unwrap_or(most),
        };
        let k = wanted.min(rank);
        if k < wanted {
            let single = (T::DTYPE == Dtype::F32 && n > p as u64).then(|| found.floor.sqrt());
            warnings.push(rank_deficient(k, wanted, n, p, single));
        }
        warnings.extend(constant_columns(found.n_constant, p, "mixing coefficients"));
        Ok(Coordinates { warnings, ..Coordinates::new(principal, k, true, 1.0) })
    }

    /// The number requested, if it is a number.
    fn requested(&self, bounds: Bounds<'_>, warnings: &mut Vec<String>) -> Result<Option<usize>> {
        let most = bounds.most();
        match self.n_components {
            Components::Count(k) if k > most && self.clips => {
                warnings.push(format!("n_components is too large: it will be set to {most}"));
                return Ok(Some(most));
            }
            _ => bounds.check(&self.n_components)?,
        }
        Ok(match self.n_components {
            Components::Count(k) => Some(k),
            _ => None,
        })
    }

    /// The columns without whitening: centred and standardised, if requested.
    fn without_whitening<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Coordinates> {
        let p = rows.n_features();
        let scatter = spectrum::scatter_of_columns(rows, self.method, run)?;
        let mut n_constant = p - scatter.varying().len();
        if n_constant == p {
            return Err(spectrum::no_variance_of(rows, self.method));
        }
        if n_constant > 0 {
            n_constant -= spectrum::hidden_columns(rows, &scatter.mean)?.len();
        }
        spectrum::check_total(self.method, scatter.total(), T::DTYPE)?;
        let noise_scale = self.standardize.then(|| {
            let squares: Vec<f64> = (0..p).map(|j| scatter.lower[(j, j)]).collect();
            spectrum::deviations(&squares, scatter.n - 1.0)
        });
        spectrum::check_scales(self.method, noise_scale.as_deref(), T::DTYPE)?;
        Ok(Coordinates { n_constant, ..Coordinates::of_columns(scatter, self.center, noise_scale) })
    }
}

/// `single` is the smallest standard deviation, relative to the first, that is above rounding errors in single precision.
fn rank_deficient(k: usize, wanted: usize, n: u64, p: usize, single: Option<f64>) -> String {
    let (directions, are) = if k == 1 { ("direction", "is") } else { ("directions", "are") };
    let few = match n <= p as u64 {
        true => format!(" ({} of {})", counted(n, "row"), counted(p as u64, "column")),
        false => String::new(),
    };
    let rounding = single.map_or(String::new(), |share| {
        format!(
            "; in single precision, standard deviations below {share:.1e} of the first cannot be distinguished from rounding \
             errors: to keep such directions, give rows in double precision"
        )
    });
    format!("the rows vary along {k} {directions} only{few}, so {k} of {wanted} sources {are} kept{rounding}")
}

/// Whether a search keeps a copy of the rows in `k` whitened coordinates: if there are at least twice as many columns, a pass over
/// the copy costs less than two thirds, and the copy is at most half as large as the rows. The decision depends on the shape alone.
pub(crate) fn keeps_copy(n: u64, p: usize, k: usize, bytes: usize) -> bool {
    p >= 2 * k && n.saturating_mul((k * bytes) as u64) <= MOST_BYTES_KEPT
}
