//! What a sweep costs beside what it is made of: `cargo test --test tests -- sigma_pca::speed --ignored --nocapture`, alone on the machine.

use super::problems::in_coordinates;
use std::time::Instant;
use unmix::neural::forces::{Pass, PassSums};
use unmix::neural::gpm::Polar;
use unmix::neural::native;
use unmix::neural::nonlinearity::Nonlinearity;
use unmix::num::random::Stream;
use unmix::num::{kernel, tanh};
use unmix::{Matrix, Real, Rows, Run};

/// The least of several times, in milliseconds.
fn time(mut work: impl FnMut()) -> f64 {
    let once = |work: &mut dyn FnMut()| {
        let begun = Instant::now();
        work();
        begun.elapsed().as_secs_f64() * 1e3
    };
    (0..9).map(|_| once(&mut work)).fold(f64::INFINITY, f64::min)
}

/// Two `n x r x k` products and a pass of tanh, block by block, each alone; then `extra` products of `n x k x k`.
fn parts<T: Real>(x: &[T], r: usize, k: usize, extra: usize, run: &Run<'_>) -> [f64; 3] {
    let rows = Rows::from_slice(x, r).unwrap();
    let w: Vec<T> = (0..r * k).map(|i| T::from_f64(0.01 * (i % 13) as f64)).collect();
    let zero =
        || PassSums { pull: Matrix::zeros(k, r), push: vec![], looks: vec![], bend: Matrix::zeros(k, k) };
    let sweep = |what: usize| {
        time(|| {
            let sums = rows.sweep(run, "", zero, |sums: &mut PassSums, block, work| {
                let n = block.n_rows();
                work.product.resize(n * k, T::default());
                match what {
                    0 => {
                        kernel::product(&mut work.product, block.data, &w, n, r, k);
                        kernel::add_cross(sums.pull.as_mut_slice(), &work.product, block.data, n, k, r);
                    }
                    1 => {
                        work.product.iter_mut().zip(block.data).for_each(|(z, x)| *z = *x);
                        tanh::tanh(&mut work.product);
                    }
                    _ => (0..extra).for_each(|_| {
                        let z = work.product.clone();
                        kernel::add_cross(sums.bend.as_mut_slice(), &work.product, &z, n, k, k)
                    }),
                }
            });
            std::hint::black_box(sums.unwrap());
        })
    };
    [sweep(0), sweep(1), sweep(2)]
}

fn shapes<T: Real>(n: usize, r: usize, k: usize, threads: usize) {
    let s = Stream::new(1, 1);
    let x: Vec<T> = (0..n * r)
        .map(|i| T::from_f64(s.laplace(i as u64) * (1.0 + (r - i % r) as f64 / r as f64)))
        .collect();
    let run = Run { threads, ..Run::default() };
    let [products, curve, pairs] = parts(&x, r, k, 4, &run);
    in_coordinates(&x, r, k, |rows| {
        let h = Nonlinearity::tanh(vec![4.0; k]);
        let pass = Pass::new(h.clone(), vec![]);
        let w = rows.first(k);
        let sweep = time(|| drop(rows.forces(&w, &pass, &run).unwrap()));
        let how = |max_iter| Polar { h: h.clone(), auto: false, ..Polar::auto(k, 0.0, max_iter) };
        let second = |n| time(|| drop(native::solve(&how(n), rows, rows.first(k), &run, |_, _| ()).unwrap()));
        // Past the polar steps, of which there are forty at most.
        let newton = (second(53) - second(47)) / 6.0;
        println!(
            "{} {n} x {r}, k {k}, {threads} threads: products {products:.2} ms, tanh {curve:.2}, pairs {pairs:.2}; sweep {sweep:.2} = {:.2}x; \
             second-order {newton:.2} = {:.2}x",
            T::DTYPE,
            sweep / (products + curve),
            newton / (products + curve + pairs),
        );
    });
}

#[test]
#[ignore = "prints times"]
fn a_sweep_beside_its_parts() {
    for threads in [1, 2] {
        shapes::<f32>(100_000, 128, 32, threads);
        shapes::<f64>(100_000, 128, 32, threads);
        shapes::<f64>(50_000, 32, 8, threads);
    }
}
