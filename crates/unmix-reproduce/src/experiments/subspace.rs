//! Number of dimensions that pictures span: scree plot, mean and first components, centred and not.

use super::CHAPTER;
use crate::Experiment;
use crate::lab::Lab;
use crate::pictures::{PictureRows, PictureSet, rows_of_pictures};
use serde_json::json;
use unmix::{Matrix, Model, Result};
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "subspace",
    source: CHAPTER,
    summary: "Fig 2.1: digits and faces span a low-dimensional subspace, with centring and without",
    run,
};

/// Fractions of the variance for which components are counted.
const SHARES: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];

/// Reference values for a set of pictures: numbers of components whose cumulative fraction exceeds each of [`SHARES`], and the
/// first fractions.
struct ReferenceValues {
    centred: [usize; 5],
    uncentred: Option<[usize; 5]>,
    first: &'static [f64],
    /// Tolerance on the first fractions.
    within: f64,
}

/// Reference values, by [`PictureSet`].
fn reference_values(whole: PictureSet) -> Option<ReferenceValues> {
    match whole {
        PictureSet::Mnist => Some(ReferenceValues {
            centred: [11, 44, 87, 154, 331],
            uncentred: Some([3, 23, 53, 103, 281]),
            first: &[0.0970, 0.0710, 0.0617],
            within: 1e-4,
        }),
        PictureSet::Olivetti => Some(ReferenceValues {
            centred: [4, 27, 66, 123, 260],
            uncentred: None,
            first: &[0.2381, 0.1399, 0.0797],
            within: 1e-4,
        }),
        // Fractions decrease by the factor 0.7 from one direction to the next, for twelve of them; the square of the mean is three
        // times the total variance.
        PictureSet::Made => Some(ReferenceValues {
            centred: [2, 5, 7, 8, 11],
            uncentred: Some([1, 2, 4, 6, 10]),
            first: &[0.304_211, 0.212_947, 0.149_063],
            within: 1e-6,
        }),
        PictureSet::Other => None,
    }
}

/// A spectrum with its axes.
struct Spectrum {
    variances: Vec<f64>,
    shares: Vec<f64>,
    axes: Matrix<f64>,
    mean: Vec<f64>,
}

impl Spectrum {
    fn of(model: &Model) -> Self {
        let numbers = |name: &str| model.tensor(name).map(|t| t.f64s()).unwrap_or_default();
        Self {
            variances: numbers("explained_variance"),
            shares: numbers("explained_variance_ratio"),
            axes: crate::lab::filters(model),
            mean: numbers("mean"),
        }
    }

    /// Number of components whose cumulative fraction exceeds `share`.
    fn count(&self, share: f64) -> usize {
        let mut sum = 0.0;
        let enough = self.shares.iter().position(|s| {
            sum += s;
            sum > share
        });
        enough.map_or(self.shares.len(), |i| i + 1)
    }

    /// Number of components and cumulative fraction, up to nearly all.
    fn cumulative(&self) -> Vec<(f64, f64)> {
        let mut sum = 0.0;
        let most = self.count(0.995).max(16);
        self.shares.iter().take(most).enumerate().map(|(i, s)| ((i + 1) as f64, add(&mut sum, *s))).collect()
    }

    fn scree(&self) -> Vec<(f64, f64)> {
        // Smaller values are rounding errors of directions in which the rows do not vary.
        let drawn = self.shares.iter().take(self.count(0.995).max(16)).filter(|s| **s > 1e-9);
        drawn.enumerate().map(|(i, s)| ((i + 1) as f64, *s)).collect()
    }

    /// The first axes as pictures.
    fn pictures(&self, shape: &[usize]) -> Content {
        // Directions in which the rows do not vary are arbitrary.
        let seen = self.shares.iter().take(16).filter(|s| **s > 1e-9).count();
        let first = self.axes.clone().top_rows(seen);
        Content::Pictures { vectors: first, shape: shape.to_vec(), columns: 4 }
    }
}

fn add(sum: &mut f64, x: f64) -> f64 {
    *sum += x;
    *sum
}

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let mut pictures = rows_of_pictures(lab.options, lab.run)?;
    lab.note(format!("Data: {}.", pictures.origin))?;
    let centred = Spectrum::of(&lab.fit_rows("pca", json!({}), &mut pictures.rows)?);
    let uncentred = Spectrum::of(&lab.fit_rows("pca", json!({"center": false}), &mut pictures.rows)?);
    figure(lab, &pictures, &centred, &uncentred)?;
    let known = reference_values(pictures.whole);
    counts(lab, "centred", &centred, known.as_ref().map(|k| k.centred))?;
    counts(lab, "not centred", &uncentred, known.as_ref().and_then(|k| k.uncentred))?;
    for (i, ours) in centred.shares.iter().take(3).enumerate() {
        let quantity = format!("centred: share of component {i}");
        match &known {
            Some(known) => {
                let holds = (ours - known.first[i]).abs() <= known.within;
                let condition = format!("within {}", known.within);
                lab.check(quantity, *ours, &known.first[i].to_string(), &condition, holds)?;
            }
            None => lab.number(quantity, *ours)?,
        }
    }
    interlaced(lab, &centred, &uncentred)
}

fn counts(lab: &mut Lab<'_>, name: &str, found: &Spectrum, known: Option<[usize; 5]>) -> Result<()> {
    for (i, share) in SHARES.into_iter().enumerate() {
        let (quantity, ours) =
            (format!("{name}: components for {:.0} % of the variance", 100.0 * share), found.count(share));
        match known {
            Some(counts) => {
                lab.check(quantity, ours as f64, &counts[i].to_string(), "equal", ours == counts[i])?;
            }
            None => lab.number(quantity, ours as f64)?,
        }
    }
    Ok(())
}

/// Second moments about 0 are those about the mean plus a rank-one matrix, `m mᵀ`: eigenvalues do not decrease, and none rises
/// above the previous one (Weyl 1912). This holds for any rows, so it detects wrong centring on any pictures.
fn interlaced(lab: &mut Lab<'_>, centred: &Spectrum, uncentred: &Spectrum) -> Result<()> {
    let (about_mean, about_0) = (&centred.variances, &uncentred.variances);
    let slack = 1e-6 * about_0.first().copied().unwrap_or(0.0);
    let k = about_mean.len().min(about_0.len());
    let broken = (0..k)
        .filter(|&i| about_mean[i] > about_0[i] + slack || (i > 0 && about_0[i] > about_mean[i - 1] + slack))
        .count();
    let quantity =
        format!("of {k} variances, those not between two of the others, with and without centring");
    lab.check(quantity, broken as f64, "0", "none", broken == 0)
}

fn figure(lab: &mut Lab<'_>, pictures: &PictureRows, centred: &Spectrum, uncentred: &Spectrum) -> Result<()> {
    let photographs = |vectors: Matrix<f64>, columns| Content::Photographs {
        vectors,
        shape: pictures.shape.clone(),
        columns,
    };
    let lines = |a: Vec<(f64, f64)>, b: Vec<(f64, f64)>, name: &str, log_y: bool| Content::Lines {
        lines: vec![("centred".into(), a), ("not centred".into(), b)],
        names: ("component".into(), name.into()),
        log_y,
        shaded: Vec::new(),
    };
    let mut sheet = Sheet::new(format!("Pictures in few dimensions: {}", pictures.origin), 3);
    sheet.add("16 of the pictures", photographs(pictures.some()?, 4));
    let mean = Matrix::from_vec(1, centred.mean.len(), centred.mean.clone());
    sheet.add("their mean", photographs(mean, 1));
    sheet.add("share of the variance", lines(centred.scree(), uncentred.scree(), "share", true));
    sheet.add("the first 16 components", centred.pictures(&pictures.shape));
    sheet.add("the first 16 without centring: the first is the mean", uncentred.pictures(&pictures.shape));
    let caption = "cumulative share: components needed for any part of the variance";
    sheet.add(caption, lines(centred.cumulative(), uncentred.cumulative(), "cumulative share", false));
    lab.figure("subspace", &sheet)
}
