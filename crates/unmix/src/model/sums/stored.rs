//! Sums as bytes, for another process, and as tensors of a model file.

use super::Sums;
use crate::data::{MergeStack, Plan};
use crate::error::Result;
use crate::model::Tensor;
use crate::num::{Dtype, Matrix, Values};
use crate::stats::{Packer, Partial, Scatter, Unpacker};
use std::collections::BTreeMap;

/// Kind of a part of the sums in a file: merged streams, a node of the merge tree with its height, the open shard with its number of blocks.
const BASE: f64 = 0.0;
const TREE: f64 = 1.0;
const OPEN: f64 = 2.0;

impl Sums {
    /// Serialises the sums for another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Packer::default();
        out.count(self.dtype.size() as u64);
        out.count(u64::from(self.base.is_some()));
        self.base.iter().for_each(|s| s.pack(&mut out));
        out.count(self.tree.nodes().len() as u64);
        for (height, part) in self.tree.nodes() {
            out.count(u64::from(height));
            part.pack(&mut out);
        }
        self.open.0.pack(&mut out);
        out.count(self.open.1 as u64);
        out.numbers(&self.waiting);
        out.numbers(&self.weights);
        out.numbers(&self.counts());
        out.into_bytes()
    }

    /// Inverse of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    ///
    /// Bytes of another format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Unpacker::new(bytes);
        let dtype = if from.count()? == Dtype::F32.size() as u64 { Dtype::F32 } else { Dtype::F64 };
        let base = if from.count()? == 1 { Some(Scatter::unpack(&mut from)?) } else { None };
        let mut tree = MergeStack::default();
        for _ in 0..from.count()? {
            let height = u32::try_from(from.count()?).unwrap_or(u32::MAX);
            let part = Scatter::unpack(&mut from)?;
            from.check(tree.append(height, part))?;
        }
        let open = Scatter::unpack(&mut from)?;
        let plan = Plan::for_width(open.mean.len());
        let sums = Self {
            dtype,
            plan,
            base,
            tree,
            open: (open, from.count()? as usize),
            waiting: from.numbers()?,
            weights: from.numbers()?,
            rows: None,
            counted: None,
            weighted: false,
        };
        let sums = sums.counting(&from.numbers()?);
        from.check(sums.fits_together())?;
        from.end()?;
        Ok(sums)
    }

    /// Number of rows, whether they had weights, and number of rows of weights other than 0, as numbers; those that are not known are left out.
    fn counts(&self) -> Vec<f64> {
        let Some(rows) = self.rows else { return Vec::new() };
        let known = [rows as f64, f64::from(u8::from(self.weighted))];
        known.into_iter().chain(self.counted.map(|n| n as f64)).collect()
    }

    /// Inverse of [`counts`](Self::counts).
    fn counting(mut self, counts: &[f64]) -> Self {
        (self.rows, self.weighted, self.counted) = match counts {
            [rows, weighted, counted @ ..] => {
                (Some(*rows as u64), *weighted != 0.0, counted.first().map(|n| *n as u64))
            }
            _ => (None, false, None),
        };
        self
    }

    /// Whether lengths are consistent and within their bounds.
    fn fits_together(&self) -> bool {
        let p = self.n_features();
        let wide = self.parts().all(|s| s.mean.len() == p);
        let room = self.open.1 < self.plan.shard_rows / self.plan.block_rows
            && self.weights.len() < self.plan.block_rows;
        let mut counts = self.parts().map(|s| s.n).chain(self.weights.iter().copied());
        wide && room && self.waiting.len() == self.weights.len() * p && counts.all(|w| w >= 0.0)
    }

    /// As tensors of a model file, by name.
    pub(crate) fn tensors(&self) -> BTreeMap<String, Tensor> {
        let p = self.n_features();
        let (mut n, mut mean, mut rest, mut scatter, mut place) = (vec![], vec![], vec![], vec![], vec![]);
        let mut put = |s: &Scatter, kind: f64, number: f64| {
            n.push(s.n);
            mean.extend_from_slice(&s.mean);
            rest.extend_from_slice(&s.rest);
            scatter.extend_from_slice(s.lower.as_slice());
            place.extend_from_slice(&[kind, number]);
        };
        self.base.iter().for_each(|s| put(s, BASE, 0.0));
        self.tree.nodes().for_each(|(height, s)| put(s, TREE, f64::from(height)));
        put(&self.open.0, OPEN, self.open.1 as f64);
        let tensor = |shape: Vec<usize>, numbers: Vec<f64>| Tensor::new(shape, Values::F64(numbers));
        let (m, rows, counted) = (n.len(), self.weights.len(), self.counts());
        BTreeMap::from([
            ("sums_n".into(), tensor(vec![m], n)),
            ("sums_mean".into(), tensor(vec![m, p], mean)),
            ("sums_rest".into(), tensor(vec![m, p], rest)),
            ("sums_scatter".into(), tensor(vec![m, p, p], scatter)),
            ("sums_place".into(), tensor(vec![m, 2], place)),
            ("sums_rows".into(), tensor(vec![rows, p], self.waiting.clone())),
            ("sums_weights".into(), tensor(vec![rows], self.weights.clone())),
            ("sums_counted".into(), tensor(vec![counted.len()], counted)),
        ])
    }

    /// From the tensors of a model file of `p` columns; `None` if they are inconsistent.
    pub(crate) fn from_tensors(tensors: &BTreeMap<String, Tensor>, p: usize, dtype: Dtype) -> Option<Self> {
        let get = |name: &str, shape: &[usize]| {
            let tensor = tensors.get(name).filter(|t| t.shape() == shape)?;
            tensor.values().first_not_finite().is_none().then(|| tensor.f64s())
        };
        let m = *tensors.get("sums_n")?.shape().first()?;
        let waiting = *tensors.get("sums_weights")?.shape().first()?;
        let (n, mean) = (get("sums_n", &[m])?, get("sums_mean", &[m, p])?);
        let (scatter, place) = (get("sums_scatter", &[m, p, p])?, get("sums_place", &[m, 2])?);
        // Files of earlier versions do not have the second part of the mean.
        let rest =
            if tensors.contains_key("sums_rest") { get("sums_rest", &[m, p])? } else { vec![0.0; m * p] };
        let mut sums = Self::empty(p, dtype);
        sums.waiting = get("sums_rows", &[waiting, p])?;
        sums.weights = get("sums_weights", &[waiting])?;
        for i in 0..m {
            let part = Scatter {
                n: n[i],
                mean: mean[i * p..(i + 1) * p].to_vec(),
                rest: rest[i * p..(i + 1) * p].to_vec(),
                lower: Matrix::from_vec(p, p, scatter[i * p * p..(i + 1) * p * p].to_vec()),
            };
            match (place[2 * i], place[2 * i + 1]) {
                (BASE, _) => sums.base = Some(part),
                (TREE, height) => sums.tree.append(height as u32, part).then_some(())?,
                (OPEN, blocks) => sums.open = (part, blocks as usize),
                _ => return None,
            }
        }
        // Files of earlier versions have two of the three counts, or none.
        let counts = get("sums_counted", &[3]).or_else(|| get("sums_counted", &[2]));
        let sums = sums.counting(&counts.unwrap_or_default());
        sums.fits_together().then_some(sums)
    }
}
