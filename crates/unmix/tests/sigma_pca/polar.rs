//! Orthonormal components by polar steps.

use super::problems::{Problem, in_coordinates, least_cosine, published, tied};
use unmix::datasets::Law::{self, Exponential, Laplace, Uniform};
use unmix::neural::gpm::{Polar, Solved};
use unmix::neural::nonlinearity::Nonlinearity;
use unmix::neural::start::Principal;
use unmix::num::factor;
use unmix::num::random::Stream;
use unmix::{Matrix, Run};

fn solve(rows: &Principal<'_, f64>, how: &Polar, start: Matrix<f64>) -> (Solved, Vec<(u64, Matrix<f64>)>) {
    let mut log = Vec::new();
    // Covariance and rotation count, too.
    let before = rows.sweeps() - 2;
    let solved =
        how.solve(rows, start, &Run::default(), |sweeps, w| log.push((sweeps - before, w.clone()))).unwrap();
    (solved, log)
}

/// Sweeps after which every row stays within a cosine of 0.999 of where it ends.
fn sweeps_to(log: &[(u64, Matrix<f64>)], end: &Matrix<f64>) -> u64 {
    let far = log.iter().rposition(|(_, w)| least_cosine(w, end) < 0.999);
    log[far.map_or(0, |i| i + 1).min(log.len() - 1)].0
}

#[test]
fn table() {
    let mut all = published();
    for (name, laws) in [
        ("laplace", [Laplace; 5]),
        ("uniform", [Uniform; 5]),
        ("mixed", [Laplace, Uniform, Laplace, Uniform, Laplace]),
        ("mixed2", [Exponential, Uniform, Uniform, Laplace, Exponential]),
    ] {
        for n in [4000, 20000] {
            all.push(tied(&format!("{name} {n}"), n, laws, 11));
        }
    }
    for problem in &all {
        let (k, p) = (problem.k(), problem.x.cols());
        in_coordinates(problem.x.as_slice(), p, k, |rows| {
            for a in [None, Some(if problem.name.contains("lapl") { 4.0 } else { 0.8 })] {
                let how = match a {
                    None => Polar::auto(k, 1e-9, 2000),
                    Some(a) => {
                        Polar { h: Nonlinearity::tanh(vec![a]), auto: false, ..Polar::auto(k, 1e-9, 2000) }
                    }
                };
                let (s, log) = solve(rows, &how, rows.first(k));
                let cos = least_cosine(&rows.directions(&s.w), &problem.truth);
                println!(
                    "{:20} a {a:?}: .999 in {}, end {} {:?} res {:?} cos {cos:.5} a {:?} t {:.1?}",
                    problem.name,
                    sweeps_to(&log, &s.w),
                    log.last().unwrap().0,
                    s.outcome,
                    s.residual,
                    s.a,
                    s.own.t
                );
                if a.is_none() && problem.x.rows() <= 4000 {
                    let mut n: Vec<u64> = Vec::new();
                    let mut off = 0;
                    for seed in 0..20 {
                        let draw = Stream::new(seed, 99);
                        let start = factor::polar_rows(&Matrix::from_fn(k, rows.r(), |i, j| {
                            draw.normal((i * rows.r() + j) as u64)
                        }))
                        .unwrap();
                        let (q, log) = solve(rows, &how, start);
                        off += usize::from(least_cosine(&q.w, &s.w) < 0.9999);
                        n.push(sweeps_to(&log, &q.w));
                    }
                    n.sort();
                    println!("     random: {n:?} elsewhere {off}");
                }
            }
        });
    }
    let _: Option<(Problem, Law)> = None;
}
