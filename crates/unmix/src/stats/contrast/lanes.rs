//! Vectorised sums of functions of many numbers: each lane of a vector has sums of its own.

use super::ContrastSums;
use crate::num::simd::{SIMD_WIDTH, padded};
use crate::num::{Real, widest};

/// Number of independent partial sums, so that the compiler can vectorise without reordering sums.
pub(super) const LANES: usize = SIMD_WIDTH;

/// Numbers of a lane whose sum is computed in their own type before it is added in double precision. The product of this number of
/// factors, each at most 2, is in the range of single precision.
const NUMBERS_PER_RUN: usize = 64;

/// Number of runs whose products together are in the range of double precision: one logarithm serves all of them.
const RUNS_PER_LOGARITHM: usize = 15;

/// Sums of each lane.
#[derive(Clone, Copy)]
struct Lanes<T> {
    sums: [[T; LANES]; 2],
    product: [T; LANES],
}

/// Writes `w f(y).0` into `out`, and returns the sums of `w f(y).1` and `w f(y).2` in double precision.
pub(in crate::stats) fn weighted<T: Real>(
    y: &[T],
    weights: &[f64],
    out: &mut [T],
    f: impl Fn(T) -> (T, T, T),
) -> ContrastSums {
    widest(
        #[inline(always)]
        || {
            let mut sums = [[0.0; LANES]; 2];
            for ((y, w), out) in y.chunks(LANES).zip(weights.chunks(LANES)).zip(out.chunks_mut(LANES)) {
                for (l, ((y, w), out)) in y.iter().zip(w).zip(out).enumerate() {
                    let (g, slope, loss) = f(*y);
                    *out = T::from_f64(w * g.to_f64());
                    sums[0][l] += w * slope.to_f64();
                    sums[1][l] += w * loss.to_f64();
                }
            }
            let [slope, loss] = sums.map(|s| s.iter().sum());
            ContrastSums { slope, loss }
        },
    )
}

/// Writes into `out` the first result of `f` for each number of `y` and its value of `expensive`. Of the other results, two are
/// summed, and the sum of the logarithm of the third, which is from 1 to 2, is computed as that of a product: sums for each of
/// `width` interleaved sources; `width` divides [`LANES`].
///
/// The expensive function, tanh or exp, has its own vectorised loop over a few numbers, which are still in the first-level cache
/// for the second loop.
#[inline(always)]
pub(in crate::stats) fn lanes<T: Real>(
    y: &[T],
    out: &mut [T],
    width: usize,
    expensive: impl Fn(T, T) -> T,
    f: impl Fn(T, T) -> (T, [T; 3]),
) -> [[f64; LANES]; 3] {
    assert!(LANES.is_multiple_of(width) && y.len().is_multiple_of(width), "panels of {width} numbers");
    let (mut totals, mut factors) = ([[0.0; LANES]; 3], [1.0; LANES]);
    let log = |[.., logs]: &mut [[f64; LANES]; 3], factors: &mut [f64; LANES]| {
        logs.iter_mut().zip(factors).for_each(|(log, x)| *log += std::mem::replace(x, 1.0).ln());
    };
    let runs = y.chunks(NUMBERS_PER_RUN * LANES).zip(out.chunks_mut(NUMBERS_PER_RUN * LANES));
    for (number, (y, out)) in runs.enumerate() {
        y.iter().zip(&mut *out).for_each(|(y, out)| *out = expensive(*y, *out));
        // `black_box`: otherwise LLVM would scalarise the accumulators.
        let run = std::hint::black_box(run(y, out, &f));
        for l in 0..LANES {
            totals[0][l] += run.sums[0][l].to_f64();
            totals[1][l] += run.sums[1][l].to_f64();
            factors[l] *= run.product[l].to_f64();
        }
        if number % RUNS_PER_LOGARITHM == RUNS_PER_LOGARITHM - 1 {
            log(&mut totals, &mut factors);
        }
    }
    log(&mut totals, &mut factors);
    totals.map(|lanes| of_sources(lanes, width))
}

/// A run of [`lanes`], with the values of the expensive function in `out`.
#[inline(always)]
fn run<T: Real>(y: &[T], out: &mut [T], f: impl Fn(T, T) -> (T, [T; 3])) -> Lanes<T> {
    let (mut first, mut second, mut product) =
        ([T::default(); LANES], [T::default(); LANES], [T::from_f64(1.0); LANES]);
    let ((cells, last), (cells_out, last_out)) = (y.as_chunks::<LANES>(), out.as_chunks_mut::<LANES>());
    for (y, out) in cells.iter().zip(cells_out) {
        let (y, t) = (*y, *out);
        // One loop for each result: a common loop is scalarised.
        for l in 0..LANES {
            out[l] = f(y[l], t[l]).0;
        }
        for l in 0..LANES {
            first[l] += f(y[l], t[l]).1[0];
        }
        for l in 0..LANES {
            second[l] += f(y[l], t[l]).1[1];
        }
        for l in 0..LANES {
            product[l] *= f(y[l], t[l]).1[2];
        }
    }
    let (y, t) = (padded(last), padded(last_out));
    for l in 0..LANES {
        // A constant index: accumulators with a variable index are kept in memory.
        if l < last.len() {
            let (g, [a, b, factor]) = f(y[l], t[l]);
            last_out[l] = g;
            (first[l], second[l], product[l]) = (first[l] + a, second[l] + b, product[l] * factor);
        }
    }
    Lanes { sums: [first, second], product }
}

/// Adds the lanes of each source; entries from `width` on are undefined.
#[inline(always)]
fn of_sources(mut lanes: [f64; LANES], width: usize) -> [f64; LANES] {
    for i in width..LANES {
        lanes[i % width] += lanes[i];
    }
    lanes
}
