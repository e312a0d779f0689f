//! Input of a layer: codes of the layers below, computed as rows are read.

use crate::data::{Features, RandomAccess, Rows, Source, Stream, Workspace};
use crate::error::{Error, Result};
use crate::model::{Model, RowMap};
use crate::num::Real;
use std::ops::Range;

/// Maximum number of codes of the widest layer that are computed at a time.
const CODES_PER_BLOCK: usize = 1 << 18;

/// The codes of rows after some layers, as a source of rows.
#[derive(Clone)]
pub(super) struct LowerLayerCodes<'a, T: Real> {
    source: &'a dyn RandomAccess<T>,
    maps: std::sync::Arc<[Box<dyn RowMap<T>>]>,
    /// Number of columns, then the number of units of each layer.
    widths: Vec<usize>,
}

impl<'a, T: Real> LowerLayerCodes<'a, T> {
    /// From `layers`, at least one, the lowest first.
    pub(super) fn new<'b>(rows: &'a Rows<'b, T>, layers: &[Model]) -> Result<Self> {
        let source = rows.source().random().ok_or_else(|| {
            Error::unsupported(
                "stacked-rfn",
                "the rows can be read only once, in order",
                "give rows from memory or a file",
            )
            .of_method(super::METHOD.key)
        })?;
        let widths = std::iter::once(rows.n_features()).chain(layers.iter().map(Model::n_codes)).collect();
        Ok(Self { source, maps: layers.iter().map(|m| m.code().encode_map()).collect(), widths })
    }

    /// The codes as rows, with the weights of the original rows.
    pub(super) fn rows(self, below: &'a Rows<'_, T>) -> Result<Rows<'a, T>> {
        let rows = Rows::new(self, Features::default(), below.origin());
        match below.weights() {
            Some(weights) => rows.weighted(weights.to_vec()),
            None => Ok(rows),
        }
    }

    fn width(&self) -> usize {
        self.widths[self.widths.len() - 1]
    }
}

impl<T: Real> Source<T> for LowerLayerCodes<'_, T> {
    fn n_features(&self) -> usize {
        self.width()
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.source.n_rows())
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(crate::data::Forward::new(self, self.width())))
    }

    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        Some(self)
    }
}

impl<T: Real> RandomAccess<T> for LowerLayerCodes<'_, T> {
    fn n_rows(&self) -> u64 {
        self.source.n_rows()
    }

    fn read(&self, rows: Range<u64>, columns: Range<usize>, out: &mut [T], raw: &mut Vec<u8>) -> Result<()> {
        let widest = self.widths.iter().copied().max().unwrap_or(1).max(1);
        let step = (CODES_PER_BLOCK / widest).max(1) as u64;
        let (mut codes, mut next, mut work) = (Vec::new(), Vec::new(), Workspace::default());
        let mut done = 0;
        for first in (rows.start..rows.end).step_by(step as usize) {
            let end = rows.end.min(first + step);
            let n = (end - first) as usize;
            codes.clear();
            codes.resize(n * self.widths[0], T::default());
            self.source.read(first..end, 0..self.widths[0], &mut codes, raw)?;
            for (map, width) in self.maps.iter().zip(&self.widths[1..]) {
                next.clear();
                next.resize(n * width, T::default());
                map.apply(&codes, &mut next, &mut work);
                std::mem::swap(&mut codes, &mut next);
            }
            for row in codes.chunks_exact(self.width()) {
                let to = &mut out[done..done + columns.len()];
                to.copy_from_slice(&row[columns.clone()]);
                done += columns.len();
            }
        }
        Ok(())
    }

    fn by_rows(&self) -> bool {
        self.source.by_rows()
    }
}
