//! A naive implementation of the field: expectations as loops over rows, matrices as loops over entries.

mod loss;

pub(super) use loss::loss;

use unmix::Matrix;
use unmix::internal::neural::nonlinearity::ActivationFunction;
use unmix::internal::neural::{
    Anchor, DecoderScale, Lambda, Mean, Mix, Orthogonality, Slope, Space, Spec, State,
};

pub(super) struct Gradient {
    pub(super) g: Vec<f64>,
    pub(super) sigma: Vec<f64>,
    pub(super) a: f64,
}

type M = Vec<Vec<f64>>;

fn table(r: usize, c: usize, f: impl Fn(usize, usize) -> f64) -> M {
    (0..r).map(|i| (0..c).map(|j| f(i, j)).collect()).collect()
}

fn product(a: &M, b: &M) -> M {
    table(a.len(), b[0].len(), |i, j| (0..b.len()).map(|l| a[i][l] * b[l][j]).sum())
}

fn transposed(a: &M) -> M {
    table(a[0].len(), a.len(), |i, j| a[j][i])
}

fn scaled(a: &M, by: f64) -> M {
    table(a.len(), a[0].len(), |i, j| a[i][j] * by)
}

fn sum(a: &M, b: &M) -> M {
    table(a.len(), a[0].len(), |i, j| a[i][j] + b[i][j])
}

fn minus(a: &M, b: &M) -> M {
    sum(a, &scaled(b, -1.0))
}

fn identity(k: usize) -> M {
    table(k, k, |i, j| f64::from(u8::from(i == j)))
}

fn diagonal(d: &[f64]) -> M {
    table(d.len(), d.len(), |i, j| if i == j { d[i] } else { 0.0 })
}

fn dg(a: &M) -> M {
    table(a.len(), a.len(), |i, j| if i == j { a[i][i] } else { 0.0 })
}

fn triu(a: &M, above: usize) -> M {
    table(a.len(), a.len(), |i, j| if i + above <= j { a[i][j] } else { 0.0 })
}

fn tril(a: &M, below: usize) -> M {
    transposed(&triu(&transposed(a), below))
}

fn squares(a: &M) -> f64 {
    a.iter().flatten().map(|x| x * x).sum()
}

fn entries(a: &M, b: &M) -> f64 {
    a.iter().flatten().zip(b.iter().flatten()).map(|(x, y)| x * y).sum()
}

fn of(m: &Matrix<f64>) -> M {
    table(m.rows(), m.cols(), |i, j| m[(i, j)])
}

fn rows_of(x: &[f64], p: usize) -> M {
    x.chunks(p).map(<[f64]>::to_vec).collect()
}

fn h(function: ActivationFunction, a: f64, z: f64) -> (f64, f64) {
    match function {
        ActivationFunction::Tanh => (a * (z / a).tanh(), 1.0 - (z / a).tanh().powi(2)),
        ActivationFunction::HardTanh => (z.clamp(-a, a), f64::from(u8::from(z.abs() < a))),
        ActivationFunction::ScaledTanh => (a * z.tanh(), a * (1.0 - z.tanh().powi(2))),
        ActivationFunction::Sign => (z.signum(), 0.0),
        ActivationFunction::Identity => (z, 1.0),
        ActivationFunction::Relu => (z.max(0.0), f64::from(u8::from(z > 0.0))),
        other => panic!("{other:?} has no second implementation here"),
    }
}

fn column(a: &M, j: usize) -> Vec<f64> {
    a.iter().map(|r| r[j]).collect()
}

fn mean(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len() as f64
}

fn deviation(v: &[f64]) -> f64 {
    let m = mean(v);
    mean(&v.iter().map(|x| (x - m).powi(2)).collect::<Vec<_>>()).sqrt()
}

/// Quantities that the formulas share: rows, weights, codes, covariance, `S = W'CW`, `M = W'W`, weights of the columns, and keep
/// probabilities.
struct Parts {
    x: M,
    w: M,
    y: M,
    c: M,
    s: M,
    m: M,
    lambda: Vec<f64>,
    q: Vec<f64>,
    n: f64,
    length: f64,
}

impl Parts {
    fn new(spec: &Spec, x: &[f64], w: &Matrix<f64>, state: &State) -> Self {
        let (x, w) = (rows_of(x, w.rows()), of(w));
        let n = x.len() as f64;
        let y = product(&x, &w);
        let c = scaled(&product(&transposed(&x), &x), 1.0 / n);
        let s = product(&transposed(&w), &product(&c, &w));
        let m = product(&transposed(&w), &w);
        let k = w[0].len();
        let variances = |j: usize| match spec.lambda {
            Lambda::Variances => s[j][j],
            _ => 1.0,
        };
        let lambda = spec.lambda.of(k, variances);
        let q = spec.nested.map(|n| n.kept(k)).unwrap_or_default();
        let length = if spec.by_length { state.length } else { 1.0 };
        Self { x, w, y, c, s, m, lambda, q, n, length }
    }

    fn kept(&self) -> M {
        let k = self.q.len();
        table(k, k, |i, j| self.q[i.max(j)])
    }
}

fn hadamard(a: &M, b: &M) -> M {
    table(a.len(), a[0].len(), |i, j| a[i][j] * b[i][j])
}

pub(super) fn gradient(spec: &Spec, x: &[f64], w: &Matrix<f64>, state: &State) -> Gradient {
    let parts = Parts::new(spec, x, w, state);
    let k = parts.m.len();
    let mut out = Gradient { g: Vec::new(), sigma: vec![0.0; k], a: 0.0 };
    let mut g = scaled(&parts.w, 0.0);
    if spec.space != Space::None {
        g = sum(&g, &reconstruction(spec, &parts, state, &mut out));
    }
    g = sum(&g, &linear(spec, &parts));
    g = sum(&g, &product(&parts.w, &orthogonality(spec, &parts, state)));
    g = sum(&g, &extras(spec, &parts));
    out.g = g.concat();
    out
}

fn reconstruction(spec: &Spec, parts: &Parts, state: &State, out: &mut Gradient) -> M {
    let Parts { x, w, y, m, lambda, q, n, .. } = parts;
    let k = m.len();
    let sigma = &state.sigma;
    let seen = if spec.deflate { minus(y, &product(y, &tril(m, 1))) } else { y.clone() };
    let means: Vec<f64> =
        (0..k).map(|j| if spec.mean == Mean::Kept { mean(&column(&seen, j)) } else { 0.0 }).collect();
    let z = table(x.len(), k, |i, j| (seen[i][j] - means[j]) / sigma[j]);
    let adapted: Vec<f64> = (0..k)
        .map(|j| match spec.adaptive {
            true => 1.0 / deviation(&column(&z, j).iter().map(|z| z.tanh()).collect::<Vec<_>>()),
            false => state.a,
        })
        .collect();
    let values = table(x.len(), k, |i, j| h(spec.h, adapted[j], z[i][j]).0);
    let slopes = table(x.len(), k, |i, j| match spec.slope {
        Slope::One => 1.0,
        Slope::True => h(spec.h, adapted[j], z[i][j]).1,
        other => panic!("{other:?} has no second implementation here"),
    });
    let u = table(x.len(), k, |i, j| values[i][j] * sigma[j] + means[j]);
    let weighted = |rows: &M, by: &[f64]| table(rows.len(), k, |i, j| rows[i][j] * by[j]);
    let error = match spec.space {
        Space::Latent(anchor) => {
            let a = match anchor {
                Anchor::Identity => identity(k),
                Anchor::Gram => m.clone(),
                Anchor::UpperGram => triu(m, 0),
            };
            product(&minus(&product(&u, &a), y), &transposed(&a))
        }
        _ if spec.weighted => minus(&product(&weighted(&u, lambda), m), &weighted(y, lambda)),
        _ if spec.nested.is_some() => minus(&product(&u, &hadamard(m, &parts.kept())), &weighted(y, q)),
        _ => minus(&product(&u, m), y),
    };
    let mut g = scaled(w, 0.0);
    // The gradient, row by row.
    for i in 0..x.len() {
        for j in 0..k {
            let scale = if spec.dec_scale == DecoderScale::EncoderSigma { sigma[j] } else { 1.0 };
            let d = spec.enc * scale * error[i][j] * slopes[i][j] / n;
            for r in 0..w.len() {
                g[r][j] += x[i][r] * d;
            }
            if spec.deflate {
                // y'_j = y_j - sum_{l > j} y_l (w_l . [w_j]): the gradient with respect to w_l is not 0.
                for l in j + 1..k {
                    for r in 0..w.len() {
                        g[r][l] -= d * (x[i][r] * m[l][j] + y[i][l] * w[r][j]);
                    }
                }
            }
            out.sigma[j] += error[i][j] * (values[i][j] - z[i][j] * slopes[i][j]) / n;
            let t = z[i][j] / state.a;
            out.a += error[i][j] * sigma[j] * (t.tanh() - t * (1.0 - t.tanh().powi(2))) / n;
        }
    }
    (0..k).for_each(|j| out.sigma[j] += spec.sigma_l2 * sigma[j]);
    if spec.dec != 0.0 {
        let out = if spec.dec_scale == DecoderScale::NoSigma { &values } else { &u };
        let over = match spec.dec_scale {
            DecoderScale::Spectral => sigma.iter().fold(0.0f64, |m, s| m.max(*s)),
            DecoderScale::Frobenius => sigma.iter().map(|s| s * s).sum::<f64>().sqrt(),
            DecoderScale::Nuclear => sigma.iter().sum(),
            _ => 1.0,
        };
        let back = minus(&product(out, &transposed(w)), x);
        g = sum(&g, &scaled(&product(&transposed(&back), out), spec.dec / over / n));
    }
    if spec.triangle != 0.0 {
        let s = scaled(&product(&transposed(y), &z), 1.0 / n);
        g = sum(&g, &scaled(&product(w, &triu(&s, 0)), 0.5 * spec.triangle));
    }
    g
}

fn linear(spec: &Spec, parts: &Parts) -> M {
    let Parts { w, c, s, m, lambda, q, .. } = parts;
    let k = m.len();
    let cw = product(c, w);
    let mut g = scaled(w, 0.0);
    if spec.nested.is_some() && spec.space == Space::None {
        let once = minus(&product(w, &hadamard(s, &parts.kept())), &product(&cw, &diagonal(q)));
        let again = minus(&product(&cw, &hadamard(m, &parts.kept())), &product(&cw, &diagonal(q)));
        return sum(&once, &again);
    }
    let l = diagonal(lambda);
    let inverse = diagonal(&lambda.iter().map(|x| 1.0 / x).collect::<Vec<_>>());
    let root = diagonal(&lambda.iter().map(|x| x.sqrt()).collect::<Vec<_>>());
    let inverse_root = diagonal(&lambda.iter().map(|x| 1.0 / x.sqrt()).collect::<Vec<_>>());
    let ws = |s: &M| product(w, s);
    let cwl = product(&cw, &l);
    let decoder = match spec.mix {
        Mix::Full => minus(&ws(s), &cw),
        Mix::Upper => minus(&ws(&triu(s, 0)), &cw),
        Mix::Wsla1 => minus(&ws(&product(s, &inverse)), &cw),
        Mix::Wsla2 => minus(&ws(s), &cwl),
        Mix::Wsla3 => minus(&ws(&product(&product(&root, s), &inverse_root)), &cw),
        Mix::Wsla3Full => minus(&ws(&product(&product(&l, s), &inverse)), &cw),
        Mix::Wsla3Product => minus(&ws(&product(&l, s)), &cwl),
        Mix::Unit4 => {
            let more = product(&dg(s), &minus(&identity(k), &inverse));
            minus(&sum(&ws(&product(s, &inverse)), &ws(&more)), &cw)
        }
        Mix::Unit7 => minus(&sum(&ws(s), &ws(&product(&dg(s), &minus(&l, &identity(k))))), &cwl),
        Mix::UpperAndFull => minus(&sum(&ws(&triu(s, 0)), &ws(&minus(s, &dg(s)))), &cw),
        Mix::FullAndUpper => minus(&sum(&ws(s), &scaled(&ws(&triu(s, 1)), 0.5)), &cw),
    };
    g = sum(&g, &scaled(&decoder, spec.lin_dec));
    let seen = if spec.upper { triu(m, 0) } else { m.clone() };
    g = sum(&g, &scaled(&product(&cw, &minus(&seen, &identity(k))), spec.lin_enc));
    minus(&g, &scaled(&cwl, spec.var))
}

fn orthogonality(spec: &Spec, parts: &Parts, state: &State) -> M {
    let (m, k) = (&parts.m, parts.m.len());
    let beta = spec.beta;
    match spec.orth {
        Orthogonality::None => scaled(m, 0.0),
        Orthogonality::Symmetric => scaled(&minus(m, &identity(k)), 2.0 * beta),
        Orthogonality::Upper => scaled(&triu(m, 1), beta),
        Orthogonality::UpperUnit => scaled(&minus(&triu(m, 0), &identity(k)), beta),
        Orthogonality::UpperSigma => {
            let squares: Vec<f64> = state.sigma.iter().map(|s| s * s).collect();
            scaled(&product(&diagonal(&squares), &triu(m, 1)), beta)
        }
    }
}

/// The matrix `B` of the codes, standardized or not.
fn outer(spec: &Spec, parts: &Parts, standardised: bool) -> M {
    let k = parts.m.len();
    let sigma: Vec<f64> =
        (0..k).map(|j| if standardised { deviation(&column(&parts.y, j)) } else { 1.0 }).collect();
    table(k, k, |i, j| {
        let each = parts.y.iter().map(|y| y[i] * h(spec.xh, 1.0, y[j] / sigma[j]).0 * sigma[j]);
        each.sum::<f64>() / parts.n
    })
}

fn extras(spec: &Spec, parts: &Parts) -> M {
    let Parts { x, w, y, n, length, .. } = parts;
    let mut g = scaled(w, 0.0);
    for (i, row) in x.iter().enumerate() {
        for j in 0..w[0].len() {
            let gradient = spec.l1 * y[i][j].signum() + spec.logcosh * y[i][j].tanh();
            (0..w.len()).for_each(|r| g[r][j] += 0.5 * length * gradient * row[r] / n);
        }
    }
    let (raw, standard) = (outer(spec, parts, false), outer(spec, parts, true));
    let skewed = |b: &M| minus(b, &transposed(b));
    let off = |b: &M| minus(b, &dg(b));
    for (weight, table) in [
        (spec.skew * length, skewed(&raw)),
        (spec.nodiag * length, off(&raw)),
        (spec.skew_sigma, skewed(&standard)),
        (spec.nodiag_sigma, off(&standard)),
    ] {
        g = sum(&g, &scaled(&product(w, &table), 0.5 * weight));
    }
    g
}
