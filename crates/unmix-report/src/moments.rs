//! Moments of the codes of all rows, accumulated in one pass.

use unmix::data::Sink;
use unmix::{Model, Real, Result, Rows, Run};

/// Mean and sums of powers of deviations from it, over the values of a quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    n: f64,
    mean: f64,
    second: f64,
    third: f64,
    fourth: f64,
    /// The factor of the values, a power of 2, so that fourth powers stay in range whatever their unit; 0 while all were 0.
    unit: f64,
}

impl Moments {
    /// Mean square of the deviations from the mean.
    pub(crate) fn variance(&self) -> f64 {
        if self.n > 0.0 && self.unit > 0.0 { self.second / self.n / self.unit / self.unit } else { 0.0 }
    }

    /// Moments of these values.
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let (n, sum) = values.clone().fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x));
        let mean = if n > 0.0 { sum / n } else { 0.0 };
        let mut out = Self { n, mean, ..Self::default() };
        for x in values {
            let (d, square) = (x - mean, (x - mean) * (x - mean));
            out.second += square;
            out.third += square * d;
            out.fourth += square * square;
        }
        out
    }

    /// Of these values and those of `right` together (Pébay 2008, equations 2.1 and 2.9).
    fn merge(&mut self, right: &Self) {
        if right.n == 0.0 {
            return;
        }
        let (a, b, n) = (self.n, right.n, self.n + right.n);
        let d = right.mean - self.mean;
        self.fourth += right.fourth
            + d.powi(4) * a * b * (a * a - a * b + b * b) / n.powi(3)
            + 6.0 * d * d * (a * a * right.second + b * b * self.second) / (n * n)
            + 4.0 * d * (a * right.third - b * self.third) / n;
        self.third += right.third
            + d.powi(3) * a * b * (a - b) / (n * n)
            + 3.0 * d * (a * right.second - b * self.second) / n;
        self.second += right.second + d * d * a * b / n;
        self.mean += d * b / n;
        self.n = n;
    }

    /// Fourth central moment over the square of the second, less 3: 0 for a Gaussian. `None` where all values are equal.
    pub(crate) fn excess_kurtosis(&self) -> Option<f64> {
        (self.second > 0.0).then(|| self.n * self.fourth / self.second / self.second - 3.0)
    }
}

/// Sums over blocks of codes; blocks of one length whatever the lengths in which codes come, so that the bits do not depend on them.
struct Gatherer {
    width: usize,
    moments: Vec<Moments>,
    waiting: Vec<f64>,
}

/// Rows of codes in a block.
const BLOCK: usize = 1024;

impl Gatherer {
    fn new(width: usize) -> Self {
        Self { width, moments: vec![Moments::default(); width], waiting: Vec::new() }
    }

    fn block(&mut self, codes: &[f64]) {
        for (i, own) in self.moments.iter_mut().enumerate() {
            let of_one = codes[i..].iter().step_by(self.width);
            if own.unit == 0.0 {
                let most = of_one.clone().fold(0.0f64, |m, y| m.max(y.abs()));
                own.unit =
                    if most > 0.0 { (-most.log2().floor()).clamp(-1000.0, 1000.0).exp2() } else { 0.0 };
            }
            let unit = own.unit;
            own.merge(&Moments::of(of_one.map(|y| unit * y)));
        }
    }

    fn end(mut self) -> Vec<Moments> {
        let rest = std::mem::take(&mut self.waiting);
        if !rest.is_empty() {
            self.block(&rest);
        }
        self.moments
    }
}

impl<T: Real> Sink<T> for Gatherer {
    fn put(&mut self, codes: &[T]) -> Result<()> {
        self.waiting.extend(codes.iter().map(|y| y.to_f64()));
        let size = BLOCK * self.width.max(1);
        let whole = self.waiting.len() / size * size;
        let waiting = std::mem::take(&mut self.waiting);
        waiting[..whole].chunks_exact(size).for_each(|block| self.block(block));
        self.waiting = waiting[whole..].to_vec();
        Ok(())
    }
}

/// Moments of each component's codes over all rows, in one pass.
pub(crate) fn of_codes<T: Real>(model: &Model, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Vec<Moments>> {
    let mut sums = Gatherer::new(model.n_codes());
    model.encode(rows, run, &mut sums)?;
    Ok(sums.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive(y: &[f64]) -> f64 {
        let n = y.len() as f64;
        let mean = y.iter().sum::<f64>() / n;
        let moment = |power: i32| y.iter().map(|v| (v - mean).powi(power)).sum::<f64>() / n;
        moment(4) / (moment(2) * moment(2)) - 3.0
    }

    fn gathered(codes: &[f64], width: usize, piece: usize) -> Vec<Moments> {
        let mut sums = Gatherer::new(width);
        codes.chunks(piece * width).for_each(|c| Sink::<f64>::put(&mut sums, c).unwrap());
        sums.end()
    }

    #[test]
    fn merged_blocks_have_the_moments_of_all_values() {
        use unmix::datasets::{Distribution, independent};
        let made = independent(
            5000,
            &[Distribution::Laplace, Distribution::Uniform, Distribution::Exponential],
            &[1.0; 3],
            3,
        )
        .unwrap();
        // A mean of a thousand standard deviations costs raw moments nine digits of the fourth.
        let codes: Vec<f64> = made.sources.as_slice().iter().map(|x| x + 1000.0).collect();
        for (i, found) in gathered(&codes, 3, 77).iter().enumerate() {
            assert!((found.variance() - 1.0).abs() < 1e-3, "{i}: {}", found.variance());
            let own: Vec<f64> = codes.iter().skip(i).step_by(3).copied().collect();
            let (found, naive) = (found.excess_kurtosis().unwrap(), naive(&own));
            assert!((found - naive).abs() < 1e-9 * (3.0 + naive.abs()), "{i}: {found}, not {naive}");
        }
    }

    #[test]
    fn the_bits_do_not_depend_on_the_lengths_of_the_blocks() {
        let codes: Vec<f64> = (0..10_000).map(|i| ((i * i) % 97) as f64 * 0.1).collect();
        assert_eq!(gathered(&codes, 2, 5000), gathered(&codes, 2, 313));
    }

    #[test]
    fn values_that_are_all_the_same_have_no_kurtosis() {
        assert_eq!(Moments::of([2.5; 40].into_iter()).excess_kurtosis(), None);
        assert_eq!(Moments::default().excess_kurtosis(), None);
    }

    #[test]
    fn the_unit_of_the_codes_does_not_matter() {
        let of = |unit: f64| {
            let codes: Vec<f64> =
                (0..3000).map(|i| if i < 1100 { 0.0 } else { unit * (i % 7) as f64 }).collect();
            gathered(&codes, 1, 500)[0].excess_kurtosis().unwrap()
        };
        for unit in [1e-300, 1e-120, 1e120, 1e300] {
            assert!((of(unit) - of(1.0)).abs() < 1e-9, "{unit}: {}, not {}", of(unit), of(1.0));
        }
    }
}
