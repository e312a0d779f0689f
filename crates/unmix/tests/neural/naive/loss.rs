//! The published loss functions.

use super::{
    M, Parts, column, dg, diagonal, entries, h, identity, mean, minus, of, outer, product, scaled, squares,
    table, transposed, tril, triu,
};
use unmix::Matrix;
use unmix::internal::neural::{Anchor, DecoderScale, Mean, Mix, Orthogonality, Slope, Space, Spec, State};

type Loss<'a> = Box<dyn Fn(&Matrix<f64>, &[f64], f64) -> f64 + 'a>;

/// The published loss as a function of weights, standard deviations and `a`, with stop-gradient copies held at `w` and `state`; `None`
/// where only an update is published, or where the slope is not the derivative of the nonlinearity.
pub(crate) fn loss<'a>(spec: &'a Spec, x: &[f64], w: &Matrix<f64>, state: &'a State) -> Option<Loss<'a>> {
    let held = Parts::new(spec, x, w, state);
    let update_only = spec.weighted
        || spec.slope == Slope::One
        || spec.adaptive
        || spec.upper
        || spec.dec_scale == DecoderScale::NoSigma
        || spec.dec_scale == DecoderScale::EncoderSigma
        || !matches!(spec.mix, Mix::Full | Mix::Wsla2 | Mix::Unit7 | Mix::FullAndUpper);
    // Rules with a linear decoder alone and additional terms are sums of updates, too, but each term has a loss.
    if update_only {
        return None;
    }
    Some(Box::new(move |v, sigma, a| {
        let v = of(v);
        let mut total = 0.0;
        if spec.space != Space::None {
            total += reconstruction_loss(spec, &held, &v, sigma, a, state);
        }
        total
            + linear_loss(spec, &held, &v)
            + orthogonality_loss(spec, &held, &v, state)
            + extra_loss(spec, &held, &v)
    }))
}

fn mean_square(a: &M) -> f64 {
    squares(a) / a.len() as f64
}

fn reconstruction_loss(spec: &Spec, held: &Parts, v: &M, sigma: &[f64], a: f64, state: &State) -> f64 {
    let Parts { x, w, y, m, q, n, .. } = held;
    let k = m.len();
    let codes = |v: &M| {
        let y = product(x, v);
        match spec.deflate {
            true => minus(&y, &product(&y, &tril(&product(&transposed(v), w), 1))),
            false => y,
        }
    };
    let fixed = codes(w);
    let means: Vec<f64> =
        (0..k).map(|j| if spec.mean == Mean::Kept { mean(&column(&fixed, j)) } else { 0.0 }).collect();
    let out = |v: &M, sigma: &[f64], a: f64| {
        let seen = codes(v);
        table(x.len(), k, |i, j| h(spec.h, a, (seen[i][j] - means[j]) / sigma[j]).0 * sigma[j] + means[j])
    };
    let u = out(v, sigma, a);
    let mut total = match (spec.space, spec.nested) {
        (Space::Latent(anchor), _) => {
            let a = match anchor {
                Anchor::Identity => identity(k),
                Anchor::Gram => m.clone(),
                Anchor::UpperGram => triu(m, 0),
            };
            mean_square(&minus(y, &product(&u, &a)))
        }
        (_, Some(_)) => expected_over_masks(q, |mask| {
            let masked = table(x.len(), k, |i, j| u[i][j] * mask[j]);
            mean_square(&minus(x, &product(&masked, &transposed(w))))
        }),
        _ => mean_square(&minus(x, &product(&u, &transposed(w)))),
    } * spec.enc;
    total += spec.sigma_l2 * sigma.iter().map(|s| s * s).sum::<f64>();
    if spec.dec != 0.0 {
        // The encoder's output is held fixed in the decoder's loss, whose scale counts standard deviations once.
        let fixed = out(w, &state.sigma, state.a);
        let over = match spec.dec_scale {
            DecoderScale::Spectral => state.sigma.iter().fold(0.0f64, |m, s| m.max(*s)),
            DecoderScale::Frobenius => state.sigma.iter().map(|s| s * s).sum::<f64>().sqrt(),
            DecoderScale::Nuclear => state.sigma.iter().sum(),
            _ => 1.0,
        };
        total += spec.dec / over * mean_square(&minus(x, &product(&fixed, &transposed(v))));
    }
    if spec.triangle != 0.0 {
        let z = table(x.len(), k, |i, j| fixed[i][j] / state.sigma[j]);
        let s = scaled(&product(&transposed(y), &z), 1.0 / n);
        total += spec.triangle * entries(v, &product(w, &triu(&s, 0)));
    }
    total
}

/// The mean of `f` over the masks of nested dropout, which keep the first columns up to a random one.
fn expected_over_masks(q: &[f64], f: impl Fn(&[f64]) -> f64) -> f64 {
    let k = q.len();
    (0..k)
        .map(|last| {
            let mask: Vec<f64> = (0..k).map(|j| f64::from(u8::from(j <= last))).collect();
            (q[last] - q.get(last + 1).copied().unwrap_or(0.0)) * f(&mask)
        })
        .sum()
}

fn linear_loss(spec: &Spec, held: &Parts, v: &M) -> f64 {
    let Parts { x, w, s, lambda, q, .. } = held;
    let k = lambda.len();
    let coded = product(x, v);
    let weigh = |by: &dyn Fn(usize) -> f64| {
        let weighted = table(x.len(), k, |i, j| coded[i][j] * by(j).sqrt());
        mean_square(&weighted)
    };
    if spec.nested.is_some() && spec.space == Space::None {
        return expected_over_masks(q, |mask| {
            let masked = table(x.len(), k, |i, j| coded[i][j] * mask[j]);
            mean_square(&minus(x, &product(&masked, &transposed(v))))
        });
    }
    let mut total = match (spec.lin_enc, spec.lin_dec) {
        (0.0, 0.0) => 0.0,
        (enc, 0.0) => enc * mean_square(&minus(x, &product(&coded, &transposed(w)))),
        (0.0, dec) => dec * mean_square(&minus(x, &product(&product(x, w), &transposed(v)))),
        _ => mean_square(&minus(x, &product(&coded, &transposed(v)))),
    };
    match spec.mix {
        Mix::Wsla2 => total += weigh(&|_| 1.0) - weigh(&|j| lambda[j]),
        Mix::Unit7 => {
            total += weigh(&|_| 1.0) - weigh(&|j| lambda[j]);
            let by = |v: &M, l: &dyn Fn(usize) -> f64| {
                squares(&table(v.len(), k, |i, j| v[i][j] * (s[j][j] * l(j)).sqrt()))
            };
            total += by(v, &|j| lambda[j]) - by(v, &|_| 1.0);
        }
        Mix::FullAndUpper => total += entries(v, &product(w, &triu(s, 1))),
        _ => {}
    }
    if spec.var != 0.0 {
        total -= spec.var * weigh(&|j| lambda[j]);
    }
    total
}

fn orthogonality_loss(spec: &Spec, held: &Parts, v: &M, state: &State) -> f64 {
    let k = held.m.len();
    let mixed = product(&transposed(v), &held.w);
    spec.beta
        * match spec.orth {
            Orthogonality::None => 0.0,
            Orthogonality::Symmetric => squares(&minus(&identity(k), &product(&transposed(v), v))),
            Orthogonality::Upper => squares(&tril(&mixed, 1)),
            Orthogonality::UpperUnit => squares(&minus(&tril(&mixed, 0), &identity(k))),
            Orthogonality::UpperSigma => squares(&tril(&product(&mixed, &diagonal(&state.sigma)), 1)),
        }
}

fn extra_loss(spec: &Spec, held: &Parts, v: &M) -> f64 {
    let Parts { x, w, n, length, .. } = held;
    let coded = product(x, v);
    let mean_of = |f: &dyn Fn(f64) -> f64| coded.iter().flatten().map(|y| f(*y)).sum::<f64>() / n;
    let (raw, standard) = (outer(spec, held, false), outer(spec, held, true));
    let drawn = |weight: f64, b: M| weight * entries(v, &product(w, &b));
    spec.l1 * length * mean_of(&f64::abs)
        + spec.logcosh * length * mean_of(&|y| y.cosh().ln())
        + drawn(spec.skew * length, minus(&raw, &transposed(&raw)))
        + drawn(spec.nodiag * length, minus(&raw, &dg(&raw)))
        + drawn(spec.skew_sigma, minus(&standard, &transposed(&standard)))
        + drawn(spec.nodiag_sigma, minus(&standard, &dg(&standard)))
}
