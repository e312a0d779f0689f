//! Gradients by unit: entries of a batch sorted by unit, and for each unit sums over the rows that activate it, in order.

use super::Activation;
use super::parameters::Parameters;
use super::rows::{ActiveUnits, Entry, ROWS_PER_SLICE, dot};
use crate::num::parallel;
use crate::num::simd::add_multiple;
use crate::num::{Real, widest};

/// Units that one thread processes at a time.
const UNITS_PER_TASK: usize = 32;

/// Entries by unit: rows ascend within each unit.
#[derive(Clone, Debug, Default)]
pub(super) struct ByUnit<T> {
    starts: Vec<usize>,
    entries: Vec<(u32, Entry<T>)>,
}

impl<T: Real> ByUnit<T> {
    /// Sorts the entries of slices, or those of dead units.
    pub(super) fn sort(&mut self, slices: &[ActiveUnits<T>], m: usize, dead: bool) {
        self.starts.clear();
        self.starts.resize(m + 2, 0);
        for slice in slices {
            let entries = if dead { &slice.dead } else { &slice.entries };
            entries.iter().for_each(|e| self.starts[e.unit as usize + 2] += 1);
        }
        for j in 2..m + 2 {
            self.starts[j] += self.starts[j - 1];
        }
        self.entries.resize(self.starts[m + 1], (0, Entry::default()));
        for (number, slice) in slices.iter().enumerate() {
            let (ends, entries) =
                if dead { (&slice.dead_ends, &slice.dead) } else { (&slice.ends, &slice.entries) };
            let mut first = 0;
            for (i, end) in ends.iter().enumerate() {
                let row = (number * ROWS_PER_SLICE + i) as u32;
                for entry in &entries[first..*end] {
                    let place = &mut self.starts[entry.unit as usize + 1];
                    self.entries[*place] = (row, *entry);
                    *place += 1;
                }
                first = *end;
            }
        }
    }

    fn of(&self, unit: usize) -> &[(u32, Entry<T>)] {
        match self.starts.is_empty() {
            true => &[],
            false => &self.entries[self.starts[unit]..self.starts[unit + 1]],
        }
    }

    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.entries.clear();
    }
}

/// Scalar sums of a unit.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    bias: f64,
    slope: f64,
    more: [f64; 3],
    fired: u64,
}

/// Entries of a batch, and their rows.
pub(super) struct Rows<'b, T> {
    pub(super) entries: &'b ByUnit<T>,
    pub(super) dead: &'b ByUnit<T>,
    pub(super) centred: &'b [T],
    pub(super) residual: &'b [T],
    pub(super) dead_residual: &'b [T],
}

impl<T: Real> Rows<'_, T> {
    /// Writes the gradient into `to`, and the number of activations of each unit into `fired`.
    pub(super) fn gradient(
        &self,
        activation: Activation,
        parameters: &Parameters<T>,
        to: &mut Parameters<T>,
        fired: &mut [u64],
    ) {
        let (p, m) = (parameters.n_features(), parameters.n_units());
        let mut sums = vec![Sums::default(); m];
        let mut by_mean = vec![0.0f64; m.div_ceil(UNITS_PER_TASK) * p];
        let width = UNITS_PER_TASK * p;
        let decoders = to.decoder.chunks_mut(width).zip(to.encoder.chunks_mut(width));
        let others = sums.chunks_mut(UNITS_PER_TASK).zip(by_mean.chunks_mut(p));
        let units = decoders.zip(others).enumerate();
        parallel::each(units, |(number, ((decoder, encoder), (sums, by_mean)))| {
            widest(
                #[inline(always)]
                || {
                    let each = decoder.chunks_exact_mut(p).zip(encoder.chunks_exact_mut(p)).zip(sums);
                    for (i, ((decoder, encoder), sums)) in each.enumerate() {
                        let j = number * UNITS_PER_TASK + i;
                        *sums = self.unit(activation, parameters, j, decoder, encoder);
                        if sums.slope != 0.0 {
                            let row = &parameters.encoder[j * p..(j + 1) * p];
                            by_mean.iter_mut().zip(row).for_each(|(s, w)| *s += sums.slope * w.to_f64());
                        }
                    }
                },
            );
        });
        for (j, sums) in sums.iter().enumerate() {
            fired[j] = sums.fired;
            to.bias[j] = T::from_f64(sums.bias);
            match activation {
                Activation::Jumprelu => to.log_threshold[j] = T::from_f64(sums.more[0]),
                Activation::Gated => {
                    to.magnitude[j] = T::from_f64(sums.more[1]);
                    to.log_scale[j] = T::from_f64(sums.more[2]);
                }
                _ => {}
            }
        }
        // The mean is added to the reconstruction, and subtracted before the encoder.
        let mut mean = vec![0.0f64; p];
        for row in self.residual.chunks_exact(p) {
            mean.iter_mut().zip(row).for_each(|(s, e)| *s += e.to_f64());
        }
        for part in by_mean.chunks_exact(p) {
            mean.iter_mut().zip(part).for_each(|(s, w)| *s -= w);
        }
        to.mean.iter_mut().zip(&mean).for_each(|(g, s)| *g = T::from_f64(*s));
    }

    /// The gradient with respect to the atom of unit `j`, without the component along the atom, and with respect to its encoder
    /// vector.
    #[inline(always)]
    fn unit(
        &self,
        activation: Activation,
        parameters: &Parameters<T>,
        j: usize,
        decoder: &mut [T],
        encoder: &mut [T],
    ) -> Sums {
        let (p, zero, mut sums) = (decoder.len(), T::default(), Sums::default());
        decoder.fill(zero);
        encoder.fill(zero);
        for (entries, residual) in [(self.entries, self.residual), (self.dead, self.dead_residual)] {
            for (row, entry) in entries.of(j) {
                let at = *row as usize * p..(*row as usize + 1) * p;
                if entry.z > zero {
                    add_multiple(decoder, entry.z, &residual[at.clone()]);
                }
                if entry.slope != zero {
                    add_multiple(encoder, entry.slope, &self.centred[at]);
                }
                sums.slope += entry.slope.to_f64();
                sums.more.iter_mut().zip(&entry.more).for_each(|(s, x)| *s += x.to_f64());
            }
        }
        sums.fired = self.entries.of(j).iter().filter(|(_, e)| e.z > zero).count() as u64;
        sums.bias = if activation == Activation::Gated { sums.more[0] } else { sums.slope };
        let atom = parameters.atom(j);
        let along = dot(decoder, atom);
        add_multiple(decoder, zero - along, atom);
        sums
    }
}
