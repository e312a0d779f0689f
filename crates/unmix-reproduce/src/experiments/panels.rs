//! Panels of filters with their measures, as in most figures of picture patches.

use crate::lab::{K, Lab, FilterMeasures, OTHER_PATCHES, ReferenceFilters, as_pictures, filters, rule_of, trained};
use crate::measure::{self, Decoder};
use crate::pictures::{PatchSet, PublishedPictures};
use serde_json::Value;
use std::rc::Rc;
use unmix::{Matrix, Result};
use unmix_report::Sheet;

/// A figure under construction, the patches of its filters, and the reference filters.
pub(super) struct Panels {
    pub(super) sheet: Sheet,
    pub(super) set: Rc<PatchSet>,
    pub(super) others: ReferenceFilters,
}

impl Panels {
    /// An empty figure about the patches, compared with the converged filters.
    pub(super) fn new(lab: &mut Lab<'_>, title: impl Into<String>, columns: usize) -> Result<Self> {
        let set = lab.patches()?;
        let others = lab.others(&set)?;
        Ok(Self { sheet: Sheet::new(title, columns), set, others })
    }

    /// Adds filters with their measures, and with the loss of the decoder if it has one.
    pub(super) fn add(
        &mut self,
        lab: &mut Lab<'_>,
        caption: &str,
        w: &Matrix<f64>,
        decoder: Option<Decoder>,
    ) -> Result<FilterMeasures> {
        let set = &self.set;
        let w = by_variance(w, set);
        let measures = lab.measured(caption, &w, set, &self.others)?;
        let mut text = format!("{caption}: kurtosis {:.1}, {:.0} pixels", measures.kurtosis, measures.pixels);
        if let Some(decoder) = decoder {
            let loss = measure::loss(&set.x, &w, decoder);
            let published = lab.published(set, caption)[4];
            lab.beside(format!("{caption}: loss"), loss, published, OTHER_PATCHES)?;
            text += &format!(", loss {loss:.1}");
        }
        self.sheet.add(text, as_pictures(&w, set));
        Ok(measures)
    }

    /// Trains a variant of sigma-PCA in the common way, and adds it.
    pub(super) fn train(
        &mut self,
        lab: &mut Lab<'_>,
        caption: &str,
        variant: &str,
        more: Value,
    ) -> Result<FilterMeasures> {
        let settings = trained(lab, variant, K, more);
        let w = filters(&lab.fit_patches("sigma-pca", settings, &self.set)?);
        self.add(lab, caption, &w, Decoder::of(&rule_of(variant)?))
    }
}

/// Rows in the order of decreasing variance of the unit filters.
pub(super) fn by_variance(w: &Matrix<f64>, set: &PatchSet) -> Matrix<f64> {
    let some = &set.x[..set.len().div_ceil(8) * set.n_features()];
    let variances: Vec<f64> =
        measure::moments(&measure::scores(some, &measure::unit_rows(w))).iter().map(|m| m.0).collect();
    let mut order: Vec<usize> = (0..w.rows()).collect();
    order.sort_by(|a, b| variances[*b].total_cmp(&variances[*a]));
    Matrix::from_fn(w.rows(), w.cols(), |i, j| w.row(order[i])[j])
}

/// A ratio of effective pixels that must be below `most` on the published pictures; on others, whose filters have other sizes, it
/// is only reported.
pub(super) fn pixels(
    lab: &mut Lab<'_>,
    set: &PatchSet,
    quantity: &str,
    ours: f64,
    published: &str,
    most: f64,
) -> Result<()> {
    if set.known == PublishedPictures::Other && set.channels() == 3 {
        return lab.beside(quantity, ours, published, "published for other pictures");
    }
    lab.check(quantity, ours, published, &format!("at most {most}"), ours <= most)
}
