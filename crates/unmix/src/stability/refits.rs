//! Components of the fits of halves, and from other seeds, compared with the model.

use super::clusters::Fit;
use super::compare::{MatchedFit, Reference, codes, space};
use super::gaussian;
use crate::data::Rows;
use crate::error::Result;
use crate::model::Model;
use crate::num::{Matrix, Real};
use crate::run::Run;

/// Results of the fits of halves, for each component of the model.
#[derive(Default)]
pub(super) struct HalvesResult {
    /// For each split, the agreement of its halves on each component.
    pub(super) agreement: Vec<Vec<f64>>,
    /// For each split, the vectors of its halves in the order of the model's components.
    pub(super) pairs: Vec<(Matrix<f64>, Matrix<f64>)>,
    /// For each fit, the matching of its components to those of the model.
    pub(super) orders: Vec<Vec<Option<usize>>>,
    /// For each fit, its similarity to the model.
    pub(super) to_model: Vec<Matrix<f64>>,
}

impl HalvesResult {
    /// `fitted` are the fits of the two halves of every split.
    pub(super) fn compared<T: Real>(
        reference: &Reference<'_, T>,
        fitted: &[Model],
        run: &Run<'_>,
    ) -> Result<Self> {
        let mut out = Self::default();
        for both in fitted.chunks_exact(2) {
            let (a, b) = (reference.place(&both[0], run)?, reference.place(&both[1], run)?);
            out.agreement.push(reference.between(&a.vectors, &b.vectors));
            out.to_model.extend([reference.similar(&a.vectors), reference.similar(&b.vectors)]);
            out.orders.extend([a.order, b.order]);
            out.pairs.push((a.vectors, b.vectors));
        }
        Ok(out)
    }

    /// The agreement of the halves of every split on component `j`.
    pub(super) fn of(&self, j: usize) -> Vec<f64> {
        self.agreement.iter().map(|split| split[j]).collect()
    }

    /// For each component, the larger p-value of two tests of Gaussianity: of the codes of the `held_out` rows of either half of the first
    /// split, by the fit of the other half.
    pub(super) fn gaussian<'a, T: Real>(
        &self,
        k: usize,
        fitted: &[Model],
        split: Option<&(Vec<u64>, Vec<u64>)>,
        held_out: impl Fn(&[u64]) -> Rows<'a, T>,
        dependent: bool,
        run: &Run<'_>,
    ) -> Result<Vec<f64>> {
        let mut out = vec![0.0; k];
        let (Some((left, right)), [a, b, ..]) = (split, fitted) else { return Ok(out) };
        for (model, order, rows) in [(a, &self.orders[0], right), (b, &self.orders[1], left)] {
            let codes = codes(model, &held_out(rows), run)?;
            let p = gaussian::p_values(&codes, model.n_codes(), dependent);
            let of_component = |j: usize| order[j].map_or(1.0, |i| p[i]);
            (0..k).for_each(|j| out[j] = f64::max(out[j], of_component(j)));
        }
        Ok(out)
    }

    /// For each component, the agreement of the halves of every split on the subspace of its group; on the
    /// component itself if it has no group, or if its group is the `whole` space.
    pub(super) fn spaces(&self, groups: &[Vec<usize>], whole: bool) -> Result<Vec<Vec<f64>>> {
        let of_group = |(j, others): (usize, &Vec<usize>)| {
            let alone = others.is_empty() || (whole && others.len() + 1 == groups.len());
            if alone { Ok(self.of(j)) } else { space(&self.pairs, j, others) }
        };
        groups.iter().enumerate().map(of_group).collect()
    }

    /// The components of all fits, which are clustered.
    pub(super) fn estimates<'a>(&'a self, fitted: &'a [Model]) -> Vec<Fit<'a>> {
        let all = self.pairs.iter().flat_map(|(a, b)| [a, b]).zip(&self.orders).zip(fitted);
        all.map(|((vectors, order), model)| Fit { model, vectors, order }).collect()
    }
}

/// Results of the fits of all rows from other seeds, for each component of the model.
pub(super) struct RestartsResult {
    /// For each fit, its agreement with the model on each component.
    pub(super) agreement: Vec<Vec<f64>>,
    /// For each fit, its vectors in the order of the model's components.
    pub(super) placed: Vec<MatchedFit>,
    /// For each fit, its similarity to the model.
    pub(super) to_model: Vec<Matrix<f64>>,
    /// Whether the components of all fits have the bits of those of the model.
    pub(super) same: bool,
}

impl RestartsResult {
    pub(super) fn compared<T: Real>(
        reference: &Reference<'_, T>,
        model: &Model,
        others: &[Model],
        run: &Run<'_>,
    ) -> Result<Self> {
        let mut out = Self { agreement: Vec::new(), placed: Vec::new(), to_model: Vec::new(), same: true };
        let components = |of: &Model| of.tensor("components").map(|t| t.f64s());
        for other in others {
            out.same &= components(other) == components(model);
            let found = reference.place(other, run)?;
            let all = reference.similar(&found.vectors);
            out.placed.push(found);
            out.agreement.push((0..all.rows()).map(|j| all[(j, j)]).collect());
            out.to_model.push(all);
        }
        Ok(out)
    }

    /// The estimates to be clustered with the model: none if all fits are identical.
    pub(super) fn estimates<'a>(&'a self, model: Fit<'a>, others: &'a [Model]) -> Vec<Fit<'a>> {
        if self.same {
            return Vec::new();
        }
        let placed = others.iter().zip(&self.placed);
        let placed = placed.map(|(model, p)| Fit { model, vectors: &p.vectors, order: &p.order });
        std::iter::once(model).chain(placed).collect()
    }
}
