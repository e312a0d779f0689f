use super::*;
use crate::num::random::Stream;

/// A number of twice the precision, as the sum of two.
#[derive(Clone, Copy)]
struct DoubleDouble(f64, f64);

impl DoubleDouble {
    fn sum(self, b: Self) -> Self {
        let s = self.0 + b.0;
        let t = s - self.0;
        let low = (self.0 - (s - t)) + (b.0 - t) + self.1 + b.1;
        DoubleDouble(s + low, low - ((s + low) - s))
    }
    fn times(self, b: Self) -> Self {
        let p = self.0 * b.0;
        let low = self.0.mul_add(b.0, -p) + self.0 * b.1 + self.1 * b.0;
        DoubleDouble(p + low, low - ((p + low) - p))
    }
    fn over(self, b: Self) -> Self {
        let q = self.0 / b.0;
        let rest = self.sum(b.times(DoubleDouble(-q, 0.0)));
        let more = (rest.0 + rest.1) / b.0;
        DoubleDouble(q + more, more - ((q + more) - q))
    }
    /// `e^x - 1` by Taylor's series at `x / 2^m`, and `expm1(2x) = e (e + 2)`.
    fn expm1(self) -> Self {
        let mut m = 0;
        let mut x = self;
        while x.0.abs() > 0.05 {
            (x, m) = (DoubleDouble(0.5 * x.0, 0.5 * x.1), m + 1);
        }
        let mut sum = DoubleDouble(0.0, 0.0);
        for i in (1..=18).rev() {
            sum = x.over(DoubleDouble(f64::from(i), 0.0)).times(sum.sum(DoubleDouble(1.0, 0.0)));
        }
        (0..m).fold(sum, |e, _| e.times(e.sum(DoubleDouble(2.0, 0.0))))
    }
}

fn tanh_wide(x: f64) -> DoubleDouble {
    let e = DoubleDouble(2.0 * x.abs().min(30.0), 0.0).expm1();
    let t = e.over(e.sum(DoubleDouble(2.0, 0.0)));
    DoubleDouble(t.0.copysign(x), t.1 * x.signum())
}

fn exp_wide(x: f64) -> DoubleDouble {
    let one = DoubleDouble(1.0, 0.0);
    let far = DoubleDouble(x.abs(), 0.0).expm1().sum(one);
    if x < 0.0 { one.over(far) } else { far }
}

/// One step of Halley's method from the logarithm in double precision.
fn log_cosh_wide(x: f64) -> DoubleDouble {
    let f = DoubleDouble(x.abs(), 0.0).expm1();
    let s = f.times(f).over(f.sum(DoubleDouble(1.0, 0.0)));
    let s = DoubleDouble(0.5 * s.0, 0.5 * s.1);
    let y = DoubleDouble(s.0.ln_1p(), 0.0);
    let e = y.expm1();
    let gap = s.sum(DoubleDouble(-e.0, -e.1)).over(s.sum(e).sum(DoubleDouble(2.0, 0.0)));
    y.sum(DoubleDouble(2.0 * gap.0, 2.0 * gap.1))
}

/// Error in units in the last place of the true value, if that is a normal number.
fn units(got: f64, truth: DoubleDouble, eps: f64) -> f64 {
    let place = 2f64.powi(truth.0.abs().log2().floor() as i32) * eps;
    ((got - truth.0) - truth.1).abs() / place
}

/// Numbers of every magnitude and both signs, more of them where the curvature of the functions is large.
fn of_all_magnitudes(n: u64, low: f64, high: f64) -> Vec<f64> {
    let s = Stream::new(2, 0);
    (0..n)
        .map(|i| {
            let size = match i % 3 {
                0 => (low.ln() + s.uniform(2 * i) * (high / low).ln()).exp(),
                _ => 4.0 * s.uniform(2 * i) * if i % 3 == 1 { 1.0 } else { 6.0 },
            };
            if s.uniform(2 * i + 1) < 0.5 { -size } else { size }
        })
        .collect()
}

#[test]
fn errors_are_within_the_stated_bounds() {
    let mut worst = [0.0f64; 8];
    let mut at = [0.0f64; 8];
    let mut see = |i: usize, e: f64, x: f64| {
        if e > worst[i] {
            (worst[i], at[i]) = (e, x)
        }
    };
    for x in of_all_magnitudes(150_000, 1e-300, 1e3) {
        see(0, units(x.tanh_of(), tanh_wide(x), f64::EPSILON), x);
        see(6, units(x.tanh_about(), tanh_wide(x), f64::EPSILON), x);
        if (1e-140..30.0).contains(&x.abs()) {
            see(1, units(x.log_cosh_of(), log_cosh_wide(x), f64::EPSILON), x);
        }
        if (1e-18..700.0).contains(&x.abs()) {
            see(2, units(x.exp_of(), exp_wide(x), f64::EPSILON), x);
        }
    }
    let narrow = f64::from(f32::EPSILON);
    for x in of_all_magnitudes(400_000, 1e-36, 1e2) {
        let (x, w) = (x as f32, f64::from(x as f32));
        see(3, units(f64::from(x.tanh_of()), DoubleDouble(w.tanh(), 0.0), narrow), w);
        see(7, units(f64::from(x.tanh_about()), DoubleDouble(w.tanh(), 0.0), narrow), w);
        if (1e-18..30.0).contains(&w.abs()) {
            see(4, units(f64::from(x.log_cosh_of()), DoubleDouble(w.log_cosh_of(), 0.0), narrow), w);
        }
        if w.abs() < 85.0 {
            see(5, units(f64::from(x.exp_of()), DoubleDouble(w.exp(), 0.0), narrow), w);
        }
    }
    let stated = [1.5, 6.0, 1.2, 1.5, 4.5, 1.2, 2.5, 2.5];
    assert!(worst.iter().zip(stated).all(|(w, p)| *w <= p), "{worst:?} {at:?}");
}

macro_rules! edges {
    ($t:ident, $far:expr) => {
        let inf = $t::INFINITY;
        for tiny in [0.0, $t::from_bits(1), 1e3 * $t::from_bits(1), $t::MIN_POSITIVE] {
            for x in [tiny, -tiny] {
                assert_eq!(x.tanh_of().to_bits(), x.to_bits(), "{x:e}");
                assert_eq!(x.tanh_about().to_bits(), x.to_bits(), "{x:e}");
                assert_eq!(x.log_cosh_of().to_bits(), 0, "{x:e}");
                assert_eq!(x.exp_of(), 1.0);
            }
        }
        for far in [$far, 100.0 * $far, $t::MAX, inf] {
            assert_eq!([far.tanh_of(), (-far).tanh_of()], [1.0, -1.0]);
            assert_eq!([far.tanh_about(), (-far).tanh_about()], [1.0, -1.0]);
            let line = far - std::$t::consts::LN_2;
            assert_eq!([far.log_cosh_of(), (-far).log_cosh_of()], [line, line]);
        }
        assert_eq!([(-inf).exp_of(), $t::MIN.exp_of(), inf.exp_of(), $t::MAX.exp_of()], [0.0, 0.0, inf, inf]);
        let nan = $t::NAN;
        assert!(
            nan.tanh_of().is_nan()
                && nan.tanh_about().is_nan()
                && nan.log_cosh_of().is_nan()
                && nan.exp_of().is_nan()
        );
    };
}

#[test]
fn extreme_and_special_arguments() {
    edges!(f64, 22.0f64.max(45.0));
    edges!(f32, 21.0f32);
    // Subnormal values of the exponential are rounded once.
    assert!((-740.0f64).exp_of() > 0.0 && ((-740.0f64).exp_of() / (-740.0f64).exp() - 1.0).abs() < 0.3);
    assert_eq!((-800.0f64).exp_of(), 0.0);
}

/// `f` of every number, in place, in whatever vectors the compiler makes of the loop.
#[inline(always)]
fn each(values: &mut [f64], f: impl Fn(f64) -> f64) {
    widest(
        #[inline(always)]
        || values.iter_mut().for_each(|x| *x = f(*x)),
    );
}

#[test]
fn a_number_has_the_same_bits_in_any_position() {
    let numbers = of_all_magnitudes(1003, 1e-9, 1e2);
    let log_cosh = |values: &mut [f64]| each(values, |x| x.log_cosh_of());
    let exp = |values: &mut [f64]| each(values, |x| x.exp_of());
    type InPlace<'a> = &'a dyn Fn(&mut [f64]);
    let functions: [InPlace<'_>; 3] = [&tanh::<f64>, &log_cosh, &exp];
    let whole = functions.map(|f| {
        let mut all = numbers.clone();
        f(&mut all);
        all
    });
    for (start, len) in [(0, 1), (1, 7), (5, 64), (3, 1000), (1002, 1)] {
        for (f, whole) in functions.into_iter().zip(&whole) {
            let mut part = numbers[start..start + len].to_vec();
            f(&mut part);
            assert_eq!(part, whole[start..start + len]);
        }
    }
    let narrow: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
    let mut all = narrow.clone();
    tanh(&mut all);
    assert!(narrow.iter().zip(&all).all(|(x, t)| x.tanh_of().to_bits() == t.to_bits()));
}
