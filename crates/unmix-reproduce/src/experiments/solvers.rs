//! Solvers of the lasso on one row: convergence of each, and the theoretical bounds.

use super::CHAPTER;
use crate::Experiment;
use crate::lab::Lab;
use unmix::internal::num::random::Stream;
use unmix::internal::sparse::{Atoms, Checked, Lasso, Measure, Proximal, StoppingRule, Work, measure};
use unmix::{Matrix, Result};
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "lasso-solvers",
    source: CHAPTER,
    summary: "section 2.3: subgradients, ISTA, FISTA with and without restarts and coordinate descent on one lasso, compared with their bounds",
    run,
};

/// Weight of the penalty relative to half the squared error; that of the chapter is twice this.
const ALPHA: f64 = 0.05;

/// One row and its atoms.
struct Instance {
    atoms: Atoms<f64>,
    x: Vec<f64>,
    best: f64,
    /// `||z*||²`.
    size: f64,
}

/// 64 x 256 normal atoms of norm 1, 8 codes `N(0, 1)` shifted away from 0 by 1, noise .01; `common` is the weight of a common
/// direction that is added to all atoms.
fn instance(seed: u64, common: f64) -> Instance {
    const P: usize = 64;
    const M: usize = 256;
    let [a, of, z, e] = [0, 1, 2, 3].map(|i| Stream::new(seed, 60 + i));
    let mut atoms = Matrix::from_fn(M, P, |j, c| a.normal((j * P + c) as u64) + common * of.normal(c as u64));
    for j in 0..M {
        let norm = dot(atoms.row(j), atoms.row(j)).sqrt();
        atoms.row_mut(j).iter_mut().for_each(|a| *a /= norm);
    }
    let mut places: Vec<usize> = (0..M).collect();
    z.shuffle(1000, &mut places);
    let mut x: Vec<f64> = (0..P).map(|c| 0.01 * e.normal(c as u64)).collect();
    for (i, &j) in places[..8].iter().enumerate() {
        let size = z.normal(2 * i as u64) + z.normal(2 * i as u64 + 1).signum();
        x.iter_mut().zip(atoms.row(j)).for_each(|(x, a)| *x += size * a);
    }
    let atoms = Atoms::new(&atoms);
    let mut out = Instance { atoms, x, best: 0.0, size: 0.0 };
    let mut lasso = Lasso::of(ALPHA);
    lasso.stop = StoppingRule::UpTo { tol: 1e-14, max_passes: 1_000_000 };
    let mut best = vec![0.0; M];
    lasso.code(&out.atoms, &out.x, &mut best, &mut Work::default());
    out.best = 2.0 * out.measure(&best).objective;
    out.size = dot(&best, &best);
    out
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Instance {
    fn measure(&self, z: &[f64]) -> Measure {
        let mut out = [Measure::default()];
        measure(&self.atoms, (ALPHA, false), &self.x, z, &mut out, &mut Checked::default());
        out[0]
    }

    /// `A (x - z A)`.
    fn correlations(&self, z: &[f64]) -> Vec<f64> {
        let a = self.atoms.matrix();
        let mut r = self.x.clone();
        for (j, z) in z.iter().enumerate().filter(|(_, z)| **z != 0.0) {
            r.iter_mut().zip(a.row(j)).for_each(|(r, a)| *r -= z * a);
        }
        (0..a.rows()).map(|j| dot(a.row(j), &r)).collect()
    }

    /// Measures after every step of a solver, up to `n` of them or to a relative gap of `until`.
    fn steps(&self, solver: Solver, n: usize, until: f64) -> Vec<Measure> {
        let m = self.atoms.n_atoms();
        let lipschitz = self.atoms.lipschitz();
        let (mut z, mut y, mut t) = (vec![0.0; m], vec![0.0; m], 1.0f64);
        let mut one = Lasso::of(ALPHA);
        one.stop = StoppingRule::Passes(1);
        let mut work = Work::default();
        let mut out = Vec::with_capacity(n);
        for k in 0..n {
            match solver {
                Solver::Subgradient(c) => {
                    let by = c / (lipschitz * ((k + 1) as f64).sqrt());
                    let slopes = self.correlations(&z);
                    let sign = |z: f64| if z == 0.0 { 0.0 } else { z.signum() };
                    z.iter_mut().zip(slopes).for_each(|(z, c)| *z += by * (c - ALPHA * sign(*z)));
                }
                Solver::CoordinateDescent => {
                    one.code(&self.atoms, &self.x, &mut z, &mut work);
                }
                Solver::Proximal { momentum, restart } => {
                    let shrunk = |t: f64| t - t.clamp(-ALPHA / lipschitz, ALPHA / lipschitz);
                    let slopes = self.correlations(&y);
                    let next: Vec<f64> =
                        y.iter().zip(slopes).map(|(y, c)| shrunk(y + c / lipschitz)).collect();
                    let back = y.iter().zip(&next).zip(&z).map(|((y, n), z)| (y - n) * (n - z)).sum::<f64>();
                    let after = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
                    let again = !momentum || (restart && back > 0.0);
                    let by = if again { 0.0 } else { (t - 1.0) / after };
                    t = if again { 1.0 } else { after };
                    y = next.iter().zip(&z).map(|(n, z)| n + by * (n - z)).collect();
                    z = next;
                }
            }
            out.push(self.measure(&z));
            if out.last().is_some_and(|m| m.relative_gap() <= until) {
                break;
            }
        }
        out
    }

    /// `F - F*`, twice the objective, which weights half the squared error.
    fn above(&self, m: &Measure) -> f64 {
        2.0 * m.objective - self.best
    }
}

#[derive(Clone, Copy)]
enum Solver {
    /// Step lengths `c / (L sqrt(k))`.
    Subgradient(f64),
    Proximal {
        momentum: bool,
        restart: bool,
    },
    CoordinateDescent,
}

const ISTA: Solver = Solver::Proximal { momentum: false, restart: false };
const FISTA: Solver = Solver::Proximal { momentum: true, restart: false };
const RESTARTED: Solver = Solver::Proximal { momentum: true, restart: true };

/// Name, solver, published numbers of steps to the gaps of [`GAPS`].
const SOLVERS: [(&str, Solver, [f64; 3]); 4] = [
    ("ISTA", ISTA, [298.0, 434.0, 622.0]),
    ("FISTA", FISTA, [99.0, 246.0, 488.0]),
    ("FISTA, restarted", RESTARTED, [55.0, 99.0, 143.0]),
    ("coordinate descent", Solver::CoordinateDescent, [27.0, 33.0, 41.0]),
];

/// Gaps as fractions of the squared norm of the row, in the units of the chapter.
const GAPS: [f64; 3] = [1e-3, 1e-6, 1e-10];

/// Number of steps drawn, and maximum number counted.
const STEPS_DRAWN: usize = 300;
const MOST_STEPS: usize = 1500;

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let mut sheet = Sheet::new("F - F* of solvers of one lasso", 2);
    let one = instance(0, 0.0);
    curves(lab, &one, &mut sheet)?;
    counts(lab)?;
    coherent(lab, &mut sheet)?;
    same_as_ours(lab, &one)?;
    lab.figure("lasso-solvers", &sheet)
}

/// Lower bound of the values drawn.
const LEAST_DRAWN_GAP: f64 = 1e-9;

fn drawn(instance: &Instance, found: &[Measure]) -> Vec<(f64, f64)> {
    let point = |(k, m): (usize, &Measure)| ((k + 1) as f64, instance.above(m).max(LEAST_DRAWN_GAP));
    found.iter().enumerate().map(point).collect()
}

fn lines(lines: Vec<(String, Vec<(f64, f64)>)>) -> Content {
    Content::Lines { lines, names: ("step".into(), "F - F*".into()), log_y: true, shaded: Vec::new() }
}

/// `F - F*` after every step, with the bounds `L ||z*||² / k` and `4 L ||z*||² / (k + 1)²`.
fn curves(lab: &mut Lab<'_>, one: &Instance, sheet: &mut Sheet) -> Result<()> {
    let subgradients =
        [0.03, 0.1, 0.3, 1.0, 3.0].map(|c| one.steps(Solver::Subgradient(c), STEPS_DRAWN, -1.0));
    let least = |found: &Vec<Measure>| found.iter().map(|m| one.above(m)).fold(f64::INFINITY, f64::min);
    let best = subgradients.iter().min_by(|a, b| least(a).total_cmp(&least(b)));
    let mut all = vec![("subgradients".to_string(), drawn(one, best.map_or(&[][..], |b| b)))];
    let size = one.atoms.lipschitz() * one.size;
    for (name, solver, _) in SOLVERS {
        let found = one.steps(solver, STEPS_DRAWN, -1.0);
        let bound = |k: f64| match name {
            "ISTA" => Some((size / k, ".26")),
            "FISTA" => Some((4.0 * size / ((k + 1.0) * (k + 1.0)), ".45")),
            _ => None,
        };
        let part = |(k, m): (usize, &Measure)| bound((k + 1) as f64).map(|b| (one.above(m) / b.0, b.1));
        let parts = found.iter().enumerate().filter_map(part);
        if let Some((largest, published)) = parts.reduce(|a, b| if b.0 > a.0 { b } else { a }) {
            let what = format!("{name}: largest part of its bound");
            lab.check(what, largest, published, "at most 1", largest <= 1.0)?;
        }
        for k in [10, 30, 100, 300] {
            let published = published(name, k);
            lab.beside(
                format!("{name}: F - F* after {k} steps"),
                one.above(&found[k - 1]),
                published,
                OTHER_DRAWS,
            )?;
        }
        all.push((name.into(), drawn(one, &found)));
    }
    let bound = |name: &str, f: &dyn Fn(f64) -> f64| {
        (name.to_string(), (1..=STEPS_DRAWN).map(|k| (k as f64, f(k as f64))).collect::<Vec<_>>())
    };
    all.push(bound("bound of ISTA", &|k| size / k));
    all.push(bound("bound of FISTA", &|k| 4.0 * size / ((k + 1.0) * (k + 1.0))));
    sheet.add("64 columns, 256 atoms, 8 of them active", lines(all));
    Ok(())
}

/// Why single numbers of an instance are not comparable.
const OTHER_DRAWS: &str = "other draws of the instance";

/// Reference values, measured on another draw of the instance, as text.
fn published(name: &str, k: usize) -> &'static str {
    match (name, k) {
        ("ISTA", 10) => ".727",
        ("ISTA", 30) => ".472",
        ("ISTA", 100) => ".207",
        ("ISTA", _) => "3.4e-5",
        ("FISTA", 10) => ".566",
        ("FISTA", 30) => ".131",
        ("FISTA", 100) => "1.3e-6",
        ("FISTA", _) => "1e-12",
        _ => "",
    }
}

/// Numbers of steps to a gap, medians over instances.
fn counts(lab: &mut Lab<'_>) -> Result<()> {
    const N: u64 = 10;
    let instances: Vec<Instance> = (0..N).map(|seed| instance(seed, 0.0)).collect();
    let mut medians = Vec::new();
    for (name, solver, published) in SOLVERS {
        let found: Vec<Vec<Measure>> =
            instances.iter().map(|i| i.steps(solver, MOST_STEPS, GAPS[2])).collect();
        for (gap, published) in GAPS.into_iter().zip(published) {
            let first = |found: &Vec<Measure>| found.iter().position(|m| m.relative_gap() <= gap);
            let mut steps: Vec<f64> =
                found.iter().map(|f| first(f).map_or(MOST_STEPS, |k| k + 1) as f64).collect();
            steps.sort_by(f64::total_cmp);
            let median = 0.5 * (steps[(N as usize - 1) / 2] + steps[N as usize / 2]);
            let near = (0.5 * published..=1.5 * published).contains(&median);
            let what = format!("{name}: steps to a gap of {gap:e}, median of {N} rows");
            lab.check(what, median, &published.to_string(), "within 50 %", near)?;
            medians.push(median);
        }
    }
    let order = (0..3).all(|i| medians[6 + i] < medians[3 + i] && medians[3 + i] < medians[i]);
    let steps = medians[8] / medians[2];
    lab.check(
        "steps of restarted FISTA over those of ISTA",
        steps,
        ".23",
        "restarted before FISTA before ISTA",
        order,
    )
}

/// Highly correlated atoms: only restarts reach the optimum.
fn coherent(lab: &mut Lab<'_>, sheet: &mut Sheet) -> Result<()> {
    let one = instance(0, 1.5);
    let mut all = Vec::new();
    for (name, solver, published, most) in [
        ("ISTA", ISTA, "9e-2 after 3000", None),
        ("FISTA", FISTA, "7e-9 after 3000", None),
        ("FISTA, restarted", RESTARTED, "1e-16", Some(1e-12)),
    ] {
        let found = one.steps(solver, 1000, -1.0);
        let above = one.above(&found[999]);
        let what = format!("coherent atoms, {name}: F - F* after 1000 steps");
        match most {
            Some(most) => lab.check(what, above, published, "at most 1e-12", above <= most)?,
            None if name == "ISTA" => lab.check(what, above, published, "above 1e-3", above > 1e-3)?,
            None => lab.beside(what, above, published, "another number of steps, and other draws")?,
        }
        all.push((name.to_string(), drawn(&one, &found)));
    }
    sheet.add("the same with atoms that share a direction", lines(all));
    Ok(())
}

/// The library's steps agree with the formulas.
fn same_as_ours(lab: &mut Lab<'_>, one: &Instance) -> Result<()> {
    let mut lasso = Lasso::of(ALPHA);
    lasso.stop = StoppingRule::Passes(60);
    for (name, theirs, solver) in
        [("ISTA", Proximal::ista(lasso), ISTA), ("restarted FISTA", Proximal::fista(lasso), RESTARTED)]
    {
        let mut z = vec![0.0; one.atoms.n_atoms()];
        theirs.code(&one.atoms, &one.x, &mut z, &mut Work::default());
        let found = one.steps(solver, 60, -1.0);
        let off = (one.measure(&z).objective - found[59].objective).abs();
        let what = format!("{name} of the library after 60 steps: distance of its objective");
        lab.check(what, off, "", "at most 1e-10", off <= 1e-10)?;
    }
    Ok(())
}
