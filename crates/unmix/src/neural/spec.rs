//! The specification of a rule: the terms of its loss and their options.
//!
//! Notation: rows `x` (centred), weights `W` (`p x k`), `y = x W`, `C = E x'x`, `S = W'CW`, `M = W'W`, `z = y / sigma`,
//! `u = h(z) sigma`. `[.]` marks factors that are constants in a derivative (stop-gradient). Losses are written without a leading half,
//! and rules are half-gradients of them.

use super::{ActivationFunction, Slope};
use crate::choices::choices;

/// A rule: the terms of its loss, and their weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec {
    /// Target of the nonlinear reconstruction.
    pub space: Space,
    /// Weight of the encoder's part of the gradient of the nonlinear reconstruction.
    pub enc: f64,
    /// Weight of the decoder's part.
    pub dec: f64,
    /// Divisor of the decoder's part.
    pub dec_scale: DecoderScale,
    /// The nonlinearity `h`.
    pub h: ActivationFunction,
    /// Width or height of `h`; see [`ActivationFunction`].
    pub a: f64,
    /// Whether `a` is the inverse of the standard deviation of `tanh z` in the batch, constant in the derivative.
    pub adaptive: bool,
    /// The derivative of `h`, or 1 in its place.
    pub slope: Slope,
    /// Whether `a` is learned.
    pub train_a: bool,
    /// Standard deviations along the columns.
    pub sigma: Sigma,
    /// Weight of the sum of squares of learned standard deviations.
    pub sigma_l2: f64,
    /// Centring of the rows of a batch.
    pub mean: Mean,
    /// Weight of the linear encoder, `CW(M - I)`.
    pub lin_enc: f64,
    /// Weight of the linear decoder, `W mix(S) - CW`.
    pub lin_dec: f64,
    /// Form of the linear decoder, which may break the symmetry between columns.
    pub mix: Mix,
    /// Whether the linear encoder uses the upper triangle of `M` only.
    pub upper: bool,
    /// Weight of a variance term that is maximised in addition, `-CW Lambda`.
    pub var: f64,
    /// The weights `Lambda` of the columns.
    pub lambda: Lambda,
    /// A term that keeps columns orthogonal.
    pub orth: Orthogonality,
    /// Weight of `orth`.
    pub beta: f64,
    /// Weight of a term `(1 - |w|)²/2` for every column.
    pub norm: f64,
    /// The constraint that is applied to the weights after each step.
    pub constraint: Constraint,
    /// Nested dropout: column `i` is kept with probability `q_i`.
    pub nested: Option<Nested>,
    /// Whether the code of a column is that of the row minus its projections on the previous columns (an embedded Gram-Schmidt
    /// step).
    pub deflate: bool,
    /// Whether errors of the reconstruction are weighted by `Lambda`, column by column.
    pub weighted: bool,
    /// Weight of the triangular term `W triu(E y'z) / 2`.
    pub triangle: f64,
    /// Weight of the sum of `|y|`.
    pub l1: f64,
    /// Weight of the sum of `log cosh y`.
    pub logcosh: f64,
    /// Weight of `W(B - B')`, `B = E y'h(y)`.
    pub skew: f64,
    /// Weight of `W(B - dg B)`, `B = E y'h(y)`.
    pub nodiag: f64,
    /// Weight of `W(B - B')`, `B = E y'h(z) sigma`.
    pub skew_sigma: f64,
    /// Weight of `W(B - dg B)`, `B = E y'h(z) sigma`.
    pub nodiag_sigma: f64,
    /// The nonlinearity in `skew`, `nodiag`, `skew_sigma` and `nodiag_sigma`.
    pub xh: ActivationFunction,
    /// Whether `l1`, `logcosh`, `skew` and `nodiag` are multiplied by the mean length of a row.
    pub by_length: bool,
    /// Whether the rule depends on the units of the data by design: then rows are never divided by their size first.
    pub own_units: bool,
}

/// Target of the nonlinear reconstruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// There is no nonlinear reconstruction.
    None,
    /// The row: `||x - u[W']||²`.
    Input,
    /// The code: `||[y] - u[A]||²`.
    Latent(Anchor),
}

/// The matrix `A` of a latent reconstruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// `I`.
    Identity,
    /// `M`.
    Gram,
    /// The upper triangle of `M`, which orders columns by decreasing variance.
    UpperGram,
}

/// Divisor of the decoder's part of the gradient, by which it has a smaller effect on super-Gaussian sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecoderScale {
    /// 1.
    One,
    /// The largest standard deviation.
    Spectral,
    /// The root of the sum of variances.
    Frobenius,
    /// The sum of standard deviations.
    Nuclear,
    /// 1, and the decoder's part has `h(z)` in place of `u`.
    NoSigma,
    /// 1, and column `j` of the encoder's part is multiplied by `sigma_j`.
    EncoderSigma,
}

choices! {
    /// Standard deviations along the columns.
    pub enum Sigma {
        /// Those of the batch.
        Batch = "batch",
        /// Roots of exponential moving averages of the variances of batches: `v <- 0.99 v + 0.01 var`.
        Running = "ema",
        /// Learned parameters.
        Trained = "train",
        /// 1.
        One = "one",
    }
}

/// Centring of the rows of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mean {
    /// The mean of the batch is subtracted.
    Batch,
    /// The mean of all rows is subtracted.
    Rows,
    /// Rows are not centred; codes are standardised about their mean, which is added to the reconstruction again.
    Kept,
}

/// Form of the linear decoder, given by its `-G`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// `CW - WS`: columns are not distinguished.
    Full,
    /// `CW - W triu(S)`.
    Upper,
    /// `CW - W S Lambda⁻¹`.
    Wsla1,
    /// `CW Lambda - WS`.
    Wsla2,
    /// `CW - W Lambda^½ S Lambda^-½`.
    Wsla3,
    /// `CW - W Lambda S Lambda⁻¹`.
    Wsla3Full,
    /// `CW Lambda - W Lambda S`.
    Wsla3Product,
    /// `CW - W S Lambda⁻¹ - W dg(S)(I - Lambda⁻¹)`.
    Unit4,
    /// `CW Lambda - WS - W dg(S)(Lambda - I)`.
    Unit7,
    /// `CW - W triu(S) - W(S - dg S)`.
    UpperAndFull,
    /// `CW - WS - ½ W triu1(S)`.
    FullAndUpper,
}

/// The weights of the columns, in decreasing order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lambda {
    /// Equally spaced from the first to the last.
    Steps(f64, f64),
    /// The probabilities of nested dropout.
    Nested(Nested),
    /// The variances along the columns, as shares of the largest.
    Variances,
}

/// Nested dropout: columns up to a random one, of a geometric distribution, are kept, the others dropped. Masks are replaced by their
/// expectation, which is exact for these rules and needs no draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nested {
    /// Ratio of successive probabilities of the last column kept; `None`: 0.9, and `1 - 2/k` for more than 20 columns, so that
    /// the weight of the last columns does not vanish.
    pub rho: Option<f64>,
    /// The case of a draw beyond the last column.
    pub tail: Tail,
}

/// The case of a draw of nested dropout beyond the last column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// All columns are kept: column `i` (from 0) with probability `rho^i`.
    Keep,
    /// The distribution is truncated: probabilities are divided by their sum.
    Truncated,
}

/// A term that keeps columns orthogonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orthogonality {
    /// No such term.
    None,
    /// `||I - M||²`: half-gradient `2 W(M - I)`.
    Symmetric,
    /// `||tril1(W'[W])||²`: `W triu1(M)`.
    Upper,
    /// `||tril(W'[W]) - I||²`: `W triu(M - I)`.
    UpperUnit,
    /// `||tril1(W'[W sigma])||²`: `W sigma² triu1(M)`.
    UpperSigma,
}

/// The constraint that is applied to the weights after each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// No constraint.
    None,
    /// Columns are normalised to unit length.
    Unit,
    /// The nearest matrix with orthonormal columns: the polar factor.
    Polar,
    /// The polar factor of the normalised columns, by the Newton-Schulz iteration.
    NewtonSchulz,
    /// Columns are orthonormalised in their order.
    GramSchmidt,
    /// Weight normalisation: columns are stored with any length and used with unit length; steps change the stored ones.
    WeightNorm,
}

impl Spec {
    /// A rule without terms; entries of tables are given by their differences from it.
    pub const EMPTY: Spec = Spec {
        space: Space::None,
        enc: 0.0,
        dec: 0.0,
        dec_scale: DecoderScale::One,
        h: ActivationFunction::Tanh,
        a: 1.0,
        adaptive: false,
        slope: Slope::True,
        train_a: false,
        sigma: Sigma::Batch,
        sigma_l2: 0.0,
        mean: Mean::Batch,
        lin_enc: 0.0,
        lin_dec: 0.0,
        mix: Mix::Full,
        upper: false,
        var: 0.0,
        lambda: Lambda::Steps(1.0, 0.05),
        orth: Orthogonality::None,
        beta: 0.0,
        norm: 0.0,
        constraint: Constraint::None,
        nested: None,
        deflate: false,
        weighted: false,
        triangle: 0.0,
        l1: 0.0,
        logcosh: 0.0,
        skew: 0.0,
        nodiag: 0.0,
        skew_sigma: 0.0,
        nodiag_sigma: 0.0,
        xh: ActivationFunction::Tanh,
        by_length: true,
        own_units: false,
    };

    /// Whether it has a nonlinear reconstruction.
    pub fn reconstructs(&self) -> bool {
        self.space != Space::None && (self.enc != 0.0 || self.dec != 0.0)
    }

    /// Whether it depends on the second moments of the rows only.
    pub fn is_linear(&self) -> bool {
        let further = [self.l1, self.logcosh, self.skew, self.nodiag, self.skew_sigma, self.nodiag_sigma];
        !self.reconstructs() && self.triangle == 0.0 && further.iter().all(|w| *w == 0.0)
    }
}

impl Lambda {
    /// The weights of `k` columns, whose variances are `variances`.
    pub fn of(&self, k: usize, variances: impl Fn(usize) -> f64) -> Vec<f64> {
        match *self {
            Lambda::Steps(first, last) => {
                let step = |i: usize| if k > 1 { i as f64 / (k - 1) as f64 } else { 0.0 };
                (0..k).map(|i| first + (last - first) * step(i)).collect()
            }
            Lambda::Nested(nested) => nested.kept(k),
            Lambda::Variances => {
                let largest = (0..k).map(&variances).fold(f64::MIN_POSITIVE, f64::max);
                (0..k).map(|i| variances(i) / largest).collect()
            }
        }
    }
}

impl Nested {
    /// The default: a ratio that depends on the number of columns; a draw beyond the last keeps all.
    pub const DEFAULT: Nested = Nested { rho: None, tail: Tail::Keep };

    /// The probability that each of `k` columns is kept.
    pub fn kept(&self, k: usize) -> Vec<f64> {
        let rho = self.rho.unwrap_or(if k <= 20 { 0.9 } else { 1.0 - 2.0 / k as f64 });
        let power = |i: usize| rho.powi(i as i32);
        match self.tail {
            Tail::Keep => (0..k).map(power).collect(),
            Tail::Truncated => (0..k).map(|i| (power(i) - power(k)) / (1.0 - power(k))).collect(),
        }
    }
}
