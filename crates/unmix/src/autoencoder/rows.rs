//! Rows of a batch, a slice at a time: active units, residuals, and their contributions to the gradients of units.

use super::parameters::Parameters;
use super::select::{largest, maxima, reaching};
use super::{Activation, Penalty};
use crate::num::products::Weights;
use crate::num::simd::{SIMD_WIDTH, add_multiple};
use crate::num::{Real, widest};

/// Rows that one thread processes at a time.
pub(super) const ROWS_PER_SLICE: usize = 32;

/// An active unit of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry<T> {
    /// The unit.
    pub(super) unit: u32,
    /// Its pre-activation.
    pub(super) u: T,
    /// Its code.
    pub(super) z: T,
    /// Derivative of the loss with respect to the product of encoder and row.
    pub(super) slope: T,
    /// Derivatives with respect to parameters of some activations: the threshold; or the bias of the gate, the bias and the scale of
    /// the magnitude.
    pub(super) more: [T; 3],
}

/// The active units of a slice of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveUnits<T> {
    /// End of the entries of each row.
    pub(super) ends: Vec<usize>,
    pub(super) entries: Vec<Entry<T>>,
    /// The same for dead units, in the auxiliary loss.
    pub(super) dead_ends: Vec<usize>,
    pub(super) dead: Vec<Entry<T>>,
    /// Number of non-zero codes.
    pub(super) active: u64,
    /// Half the squared errors, the penalty without its weight, and the auxiliary loss.
    pub(super) loss: [f64; 3],
    /// Maxima of groups of pre-activations, and buffers of `largest`.
    pub(super) tops: Vec<T>,
    pub(super) found: Vec<(u32, T)>,
    candidate_ends: Vec<usize>,
    residual: Vec<T>,
}

/// Quantities of units that every row needs, computed once for a batch.
#[derive(Debug, Default)]
pub(super) struct BatchConstants<T> {
    /// The transposed encoder, `n_features x n_units`.
    pub(super) encoder: Weights<T>,
    /// Thresholds, or scales of magnitudes.
    pub(super) exp: Vec<T>,
}

/// Inputs common to all rows of a batch.
pub(super) struct BatchInputs<'p, T: Real> {
    pub(super) parameters: &'p Parameters<T>,
    pub(super) ready: &'p BatchConstants<T>,
    pub(super) activation: Activation,
    /// Number of active units per row, if it is set.
    pub(super) l0: usize,
    pub(super) penalty: Penalty,
    pub(super) bandwidth: f64,
    /// Whether each unit is dead, and the number of dead units in the auxiliary code; empty without an auxiliary loss.
    pub(super) dead: &'p [bool],
    pub(super) auxk: usize,
}

/// `a' b`, in an order that does not depend on memory alignment.
#[inline(always)]
pub(super) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let ((a, ra), (b, rb)) = (a.as_chunks::<SIMD_WIDTH>(), b.as_chunks::<SIMD_WIDTH>());
    let mut sums = [T::default(); SIMD_WIDTH];
    for (a, b) in a.iter().zip(b) {
        for l in 0..SIMD_WIDTH {
            sums[l] = a[l].times_plus(b[l], sums[l]);
        }
    }
    let rest = ra.iter().zip(rb).fold(T::default(), |s, (a, b)| a.times_plus(*b, s));
    sums.iter().fold(rest, |s, x| s + *x)
}

/// Row-major buffers of one slice.
pub(super) struct SliceBuffers<'b, T> {
    /// Rows minus `b`.
    pub(super) centred: &'b mut [T],
    /// Pre-activations.
    pub(super) u: &'b mut [T],
    /// Derivatives of the loss with respect to the reconstruction.
    pub(super) residual: &'b mut [T],
    /// The same for the auxiliary loss.
    pub(super) dead_residual: &'b mut [T],
}

impl<T: Real> ActiveUnits<T> {
    /// Pre-activations of the rows `x`, and the entries that depend on each row alone; for `BatchTopk` the maxima of groups, where codes are
    /// penalised the number of active units, which are [listed](Self::list) if the batch is not dense.
    pub(super) fn encode(&mut self, inputs: &BatchInputs<'_, T>, x: &[T], part: &mut SliceBuffers<'_, T>) {
        let (p, m) = (inputs.parameters.n_features(), inputs.parameters.n_units());
        for (row, to) in x.chunks_exact(p).zip(part.centred.chunks_exact_mut(p)) {
            to.iter_mut().zip(row).zip(&inputs.parameters.mean).for_each(|((t, x), b)| *t = *x - *b);
        }
        inputs.ready.encoder.product(part.u, part.centred, m);
        self.ends.clear();
        self.entries.clear();
        self.tops.clear();
        self.active = 0;
        widest(
            #[inline(always)]
            || {
                for u in part.u.chunks_exact_mut(m) {
                    if inputs.activation != Activation::Gated {
                        u.iter_mut().zip(&inputs.parameters.bias).for_each(|(u, b)| *u += *b);
                    }
                    match inputs.activation {
                        Activation::BatchTopk => maxima(u, &mut self.tops),
                        Activation::Relu => {
                            self.active += u.iter().map(|u| u64::from(*u > T::default())).sum::<u64>();
                        }
                        Activation::Jumprelu => {
                            let each = u.iter().zip(&inputs.ready.exp);
                            self.active += each.map(|(u, theta)| u64::from(*u > *theta)).sum::<u64>();
                        }
                        _ => self.append(inputs, u),
                    }
                }
            },
        );
    }

    /// Lists the active units of all rows, given their pre-activations.
    pub(super) fn list(&mut self, inputs: &BatchInputs<'_, T>, u: &[T]) {
        self.active = 0;
        self.ends.clear();
        self.entries.clear();
        widest(
            #[inline(always)]
            || u.chunks_exact(inputs.parameters.n_units()).for_each(|u| self.append(inputs, u)),
        );
    }

    /// Appends the entries of a row, given its pre-activations.
    #[inline(always)]
    fn append(&mut self, inputs: &BatchInputs<'_, T>, u: &[T]) {
        let zero = T::default();
        let plain = |unit: u32, u: T| Entry { unit, u, z: u, ..Entry::default() };
        match inputs.activation {
            Activation::Relu | Activation::BatchTopk => {
                let positive = (0..).zip(u).filter(|(_, u)| **u > zero);
                self.entries.extend(positive.map(|(j, u)| plain(j, *u)));
            }
            Activation::Topk => {
                largest(u, inputs.l0, &mut self.tops, &mut self.found);
                self.entries.extend(self.found.iter().map(|(j, u)| plain(*j, *u)));
            }
            Activation::Jumprelu => {
                let half = T::from_f64(inputs.bandwidth / 2.0);
                for (j, (u, theta)) in (0..).zip(u.iter().zip(&inputs.ready.exp)) {
                    if *u > *theta {
                        self.entries.push(plain(j, *u));
                    } else if *theta - *u < half {
                        self.entries.push(Entry { unit: j, u: *u, ..Entry::default() });
                    }
                }
            }
            Activation::Gated => {
                let parameters = inputs.parameters;
                for (j, (s, b)) in u.iter().zip(&parameters.bias).enumerate() {
                    if *s + *b > zero {
                        let q = inputs.ready.exp[j].times_plus(*s, parameters.magnitude[j]);
                        let z = if q > zero { q } else { zero };
                        self.entries.push(Entry { unit: j as u32, u: *s, z, ..Entry::default() });
                    }
                }
            }
        }
        let before = self.ends.last().map_or(0, |end| *end);
        self.active += self.entries[before..].iter().filter(|e| e.z > zero).count() as u64;
        self.ends.push(self.entries.len());
    }

    /// For `BatchTopk`: the positive pre-activations that are at least `bound`.
    pub(super) fn candidates(&mut self, u: &[T], m: usize, bound: T) {
        self.found.clear();
        self.candidate_ends.clear();
        widest(
            #[inline(always)]
            || {
                for row in u.chunks_exact(m) {
                    reaching(row, bound, &mut self.found);
                    self.candidate_ends.push(self.found.len());
                }
            },
        );
    }

    /// Keeps the candidates above `least`, and of those equal to it the first `quota`.
    pub(super) fn keep(&mut self, least: T, quota: &mut usize) {
        let mut first = 0;
        for end in &self.candidate_ends {
            for (unit, u) in &self.found[first..*end] {
                if *u < least || (*u == least && *quota == 0) {
                    continue;
                }
                *quota -= usize::from(*u == least);
                self.entries.push(Entry { unit: *unit, u: *u, z: *u, ..Entry::default() });
                self.active += 1;
            }
            self.ends.push(self.entries.len());
            first = *end;
        }
    }

    /// Residuals, losses and derivatives of the rows; `n` is the number of rows of the batch.
    pub(super) fn differentiate(
        &mut self,
        inputs: &BatchInputs<'_, T>,
        n: usize,
        part: &mut SliceBuffers<'_, T>,
    ) {
        let (p, m) = (inputs.parameters.n_features(), inputs.parameters.n_units());
        let over = 1.0 / n as f64;
        (self.loss, self.active) = ([0.0; 3], 0);
        self.dead_ends.clear();
        self.dead.clear();
        widest(
            #[inline(always)]
            || {
                let mut first = 0;
                for i in 0..self.ends.len() {
                    let end = self.ends[i];
                    let row = i * p..(i + 1) * p;
                    let (x, e) = (&part.centred[row.clone()], &mut part.residual[row.clone()]);
                    self.row(inputs, over, first..end, x, e);
                    if !inputs.dead.is_empty() {
                        let to = &mut part.dead_residual[row];
                        self.dead_row(inputs, over, &part.u[i * m..(i + 1) * m], e, to);
                    }
                    let scale = T::from_f64(over);
                    e.iter_mut().for_each(|e| *e *= scale);
                    first = end;
                }
            },
        );
    }

    /// One row: writes its residual, not yet divided by the number of rows, into `e`.
    #[inline(always)]
    fn row(
        &mut self,
        inputs: &BatchInputs<'_, T>,
        over: f64,
        at: std::ops::Range<usize>,
        x: &[T],
        e: &mut [T],
    ) {
        let (parameters, zero) = (inputs.parameters, T::default());
        let entries = &mut self.entries[at];
        e.iter_mut().zip(x).for_each(|(e, x)| *e = zero - *x);
        for entry in entries.iter().filter(|entry| entry.z > zero) {
            add_multiple(e, entry.z, parameters.atom(entry.unit as usize));
            self.active += 1;
        }
        self.loss[0] += 0.5 * e.iter().map(|e| e.to_f64() * e.to_f64()).sum::<f64>();
        let scale = T::from_f64(over);
        let weight = T::from_f64(inputs.penalty.weight * over);
        match inputs.activation {
            Activation::Topk | Activation::BatchTopk => {
                for entry in entries {
                    entry.slope = dot(e, parameters.atom(entry.unit as usize)) * scale;
                }
            }
            Activation::Relu => {
                for entry in entries {
                    self.loss[1] += entry.z.to_f64();
                    entry.slope = dot(e, parameters.atom(entry.unit as usize)).times_plus(scale, weight);
                }
            }
            Activation::Jumprelu => {
                let kernel = T::from_f64(1.0 / inputs.bandwidth);
                let half = T::from_f64(inputs.bandwidth / 2.0);
                for entry in entries {
                    let theta = inputs.ready.exp[entry.unit as usize];
                    let by_code = dot(e, parameters.atom(entry.unit as usize)) * scale;
                    self.loss[1] += f64::from(u8::from(entry.z > zero));
                    entry.slope = if entry.z > zero { by_code } else { zero };
                    let near = (entry.u - theta).absolute() < half;
                    let jump = theta.times_plus(by_code, weight) * kernel * theta;
                    entry.more[0] = if near { zero - jump } else { zero };
                }
            }
            Activation::Gated => {
                // The auxiliary reconstruction of `Gated`, from the rectified gates; atoms and mean are held constant.
                let gate = |entry: &Entry<T>| entry.u + parameters.bias[entry.unit as usize];
                self.residual.clear();
                self.residual.extend(x.iter().map(|x| zero - *x));
                for entry in entries.iter() {
                    add_multiple(&mut self.residual, gate(entry), parameters.atom(entry.unit as usize));
                    self.loss[1] += gate(entry).to_f64();
                }
                self.loss[2] += 0.5 * self.residual.iter().map(|e| e.to_f64() * e.to_f64()).sum::<f64>();
                for entry in entries {
                    let (j, scale_of) = (entry.unit as usize, inputs.ready.exp[entry.unit as usize]);
                    let atom = parameters.atom(j);
                    let by_gate = dot(&self.residual, atom).times_plus(scale, weight);
                    let by_size = if entry.z > zero { dot(e, atom) * scale } else { zero };
                    entry.slope = scale_of.times_plus(by_size, by_gate);
                    entry.more = [by_gate, by_size, by_size * scale_of * entry.u];
                }
            }
        }
    }

    /// The auxiliary loss of a row: the largest pre-activations among dead units reconstruct its residual `e`, which is held
    /// constant.
    #[inline(always)]
    fn dead_row(&mut self, inputs: &BatchInputs<'_, T>, over: f64, u: &[T], e: &[T], to: &mut [T]) {
        let (parameters, zero) = (inputs.parameters, T::default());
        let gated = inputs.activation == Activation::Gated;
        let each = u.iter().zip(inputs.dead).enumerate().filter(|(_, (_, dead))| **dead);
        let each = each.map(|(j, (u, _))| (j, if gated { *u + parameters.bias[j] } else { *u }));
        self.found.clear();
        self.found.extend(each.filter(|(_, u)| *u > zero).map(|(j, u)| (j as u32, u)));
        if self.found.len() > inputs.auxk {
            let descending = |a: &(u32, T), b: &(u32, T)| {
                b.1.partial_cmp(&a.1).unwrap_or(std::cmp::Ordering::Equal).then(a.0.cmp(&b.0))
            };
            self.found.select_nth_unstable_by(inputs.auxk - 1, descending);
            self.found.truncate(inputs.auxk);
            self.found.sort_unstable_by_key(|(j, _)| *j);
        }
        to.copy_from_slice(e);
        for (unit, z) in &self.found {
            add_multiple(to, *z, parameters.atom(*unit as usize));
        }
        if !self.found.is_empty() {
            self.loss[2] +=
                0.5 * AUXILIARY_LOSS_WEIGHT * to.iter().map(|e| e.to_f64() * e.to_f64()).sum::<f64>();
        }
        let scale = T::from_f64(AUXILIARY_LOSS_WEIGHT * over);
        to.iter_mut().for_each(|e| *e *= scale);
        for (unit, z) in &self.found {
            let slope = dot(to, parameters.atom(*unit as usize));
            let more = if gated { [slope, zero, zero] } else { [zero; 3] };
            self.dead.push(Entry { unit: *unit, u: *z, z: *z, slope, more });
        }
        self.dead_ends.push(self.dead.len());
    }
}

/// Weight of the auxiliary loss of dead units relative to the reconstruction loss.
pub(super) const AUXILIARY_LOSS_WEIGHT: f64 = 1.0 / 32.0;
