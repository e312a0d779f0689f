//! The terms that depend on second moments only: `X'E/n = C W A`, `W K`.

use super::{Mix, Orthogonality, Spec};
use crate::num::Matrix;

/// The terms of the half-gradient: `G = X'(Y A)/n + W K`, both `k x k`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinearGradient {
    /// `A`.
    pub outer: Matrix<f64>,
    /// `K`.
    pub inner: Matrix<f64>,
}

impl LinearGradient {
    /// No terms.
    pub(crate) fn zero(k: usize) -> Self {
        Self { outer: Matrix::zeros(k, k), inner: Matrix::zeros(k, k) }
    }
}

/// `to += weight f(i, j)`, entry by entry.
pub(super) fn add(to: &mut Matrix<f64>, weight: f64, f: impl Fn(usize, usize) -> f64) {
    let k = to.cols();
    for (at, x) in to.as_mut_slice().iter_mut().enumerate() {
        *x += weight * f(at / k, at % k);
    }
}

/// Entry of the identity.
pub(super) fn unit(i: usize, j: usize) -> f64 {
    f64::from(u8::from(i == j))
}

/// Entries of the upper triangle, with the diagonal.
pub(super) fn upper(m: &Matrix<f64>) -> impl Fn(usize, usize) -> f64 + '_ {
    |i, j| if i <= j { m[(i, j)] } else { 0.0 }
}

/// Entries of the upper triangle, without the diagonal.
pub(super) fn strictly_upper(m: &Matrix<f64>) -> impl Fn(usize, usize) -> f64 + '_ {
    |i, j| if i < j { m[(i, j)] } else { 0.0 }
}

/// The linear terms of a rule and the orthogonality terms, from `S = W'CW` and `M = W'W`; `beta` is the weight of
/// orthogonality in the units of the data, `sigma` the standard deviations along the columns.
///
/// With rows as samples, upper triangles order columns by decreasing variance. (The paper has lower ones, which order them by
/// increasing variance.)
pub(crate) fn linear_gradient(
    spec: &Spec,
    s: &Matrix<f64>,
    m: &Matrix<f64>,
    beta: f64,
    sigma: &[f64],
) -> LinearGradient {
    let k = s.rows();
    let mut half_gradient = LinearGradient::zero(k);
    let LinearGradient { outer, inner } = &mut half_gradient;
    match &spec.nested {
        Some(nested) if !spec.reconstructs() => {
            let q = nested.kept(k);
            let kept = |i: usize, j: usize| q[i.max(j)];
            add(inner, spec.lin_dec, |i, j| s[(i, j)] * kept(i, j));
            add(outer, spec.lin_dec, |i, j| -unit(i, j) * q[j]);
            add(outer, spec.lin_enc, |i, j| m[(i, j)] * kept(i, j) - unit(i, j) * q[j]);
        }
        _ => {
            if spec.lin_dec != 0.0 {
                decoder(spec, s, &mut half_gradient);
            }
            let outer = &mut half_gradient.outer;
            match spec.upper {
                true => add(outer, spec.lin_enc, |i, j| upper(m)(i, j) - unit(i, j)),
                false => add(outer, spec.lin_enc, |i, j| m[(i, j)] - unit(i, j)),
            }
        }
    }
    let LinearGradient { outer, inner } = &mut half_gradient;
    if spec.var != 0.0 {
        let lambda = spec.lambda.of(k, |i| s[(i, i)]);
        add(outer, -spec.var, |i, j| unit(i, j) * lambda[j]);
    }
    match spec.orth {
        Orthogonality::None => {}
        Orthogonality::Symmetric => add(inner, 2.0 * beta, |i, j| m[(i, j)] - unit(i, j)),
        Orthogonality::Upper => add(inner, beta, strictly_upper(m)),
        Orthogonality::UpperUnit => add(inner, beta, |i, j| upper(m)(i, j) - unit(i, j)),
        Orthogonality::UpperSigma => add(inner, beta, |i, j| sigma[i] * sigma[i] * strictly_upper(m)(i, j)),
    }
    if spec.norm != 0.0 {
        add(inner, 0.5 * spec.norm, |i, j| unit(i, j) * (1.0 - 1.0 / m[(j, j)].sqrt()));
    }
    half_gradient
}

/// `W mix(S) - CW`, weighted.
fn decoder(spec: &Spec, s: &Matrix<f64>, half_gradient: &mut LinearGradient) {
    let k = s.rows();
    let l = spec.lambda.of(k, |i| s[(i, i)]);
    let weight = spec.lin_dec;
    let (outer, inner) = (&mut half_gradient.outer, &mut half_gradient.inner);
    let full = |i: usize, j: usize| s[(i, j)];
    let upper = upper(s);
    match spec.mix {
        Mix::Full => add(inner, weight, full),
        Mix::Upper => add(inner, weight, upper),
        Mix::Wsla1 => add(inner, weight, |i, j| s[(i, j)] / l[j]),
        Mix::Wsla2 => add(inner, weight, full),
        Mix::Wsla3 => add(inner, weight, |i, j| s[(i, j)] * (l[i] / l[j]).sqrt()),
        Mix::Wsla3Full => add(inner, weight, |i, j| s[(i, j)] * l[i] / l[j]),
        Mix::Wsla3Product => add(inner, weight, |i, j| l[i] * s[(i, j)]),
        Mix::Unit4 => {
            add(inner, weight, |i, j| s[(i, j)] / l[j] + unit(i, j) * s[(j, j)] * (1.0 - 1.0 / l[j]))
        }
        Mix::Unit7 => add(inner, weight, |i, j| s[(i, j)] + unit(i, j) * s[(j, j)] * (l[j] - 1.0)),
        Mix::UpperAndFull => add(inner, weight, |i, j| upper(i, j) + s[(i, j)] - unit(i, j) * s[(i, j)]),
        Mix::FullAndUpper => add(inner, weight, |i, j| s[(i, j)] + 0.5 * strictly_upper(s)(i, j)),
    }
    let weighted = matches!(spec.mix, Mix::Wsla2 | Mix::Wsla3Product | Mix::Unit7);
    add(outer, -weight, |i, j| unit(i, j) * if weighted { l[j] } else { 1.0 });
}
