//! The laws of [`Order`](super::Order).

use super::*;

/// Rows of an epoch in the order in which batches of one row would come.
fn epoch(order: &Order, number: u64) -> Vec<u64> {
    let mut window = Window::default();
    let mut out = Vec::new();
    for w in 0..order.windows() {
        order.fill(number, w, &mut window);
        assert_eq!((window.first, window.number), (out.len() as u64, w));
        out.extend(window.order.iter().map(|place| order.row(&window, *place)));
        assert_eq!(window.end(), out.len() as u64);
    }
    out
}

fn sorted(rows: &[u64]) -> Vec<u64> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows
}

fn correlation(a: impl Fn(usize) -> f64, b: impl Fn(usize) -> f64, n: usize) -> f64 {
    let mean = |f: &dyn Fn(usize) -> f64| (0..n).map(f).sum::<f64>() / n as f64;
    let (ma, mb) = (mean(&a), mean(&b));
    let product = |f: &dyn Fn(usize) -> f64, g: &dyn Fn(usize) -> f64| mean(&|i| f(i) * g(i));
    let (da, db) = (|i: usize| a(i) - ma, |i: usize| b(i) - mb);
    product(&da, &db) / (product(&da, &da) * product(&db, &db)).sqrt()
}

#[test]
fn every_row_is_used_once_in_every_epoch() {
    for (n, shard, most) in
        [(1, 1, 1), (7, 8, 1), (100, 8, 3), (101, 8, 3), (1000, 16, 7), (64, 1, 5), (97, 4, 1)]
    {
        let order = Order::cut(n, shard, most, 5);
        let epochs: Vec<Vec<u64>> = (0..3).map(|number| epoch(&order, number)).collect();
        let all: Vec<u64> = (0..n).collect();
        assert!(epochs.iter().all(|rows| sorted(rows) == all), "{n} {shard} {most}");
        assert!(n < 10 || (epochs[0] != epochs[1] && epochs[1] != epochs[2] && epochs[0] != all));
        let other = epoch(&Order::cut(n, shard, most, 6), 0);
        assert!(n < 10 || other != epochs[0]);
        for at in 0..n {
            let (mut window, number) = (Window::default(), order.window_at(1, at));
            order.fill(1, number, &mut window);
            assert!((window.first..window.end()).contains(&at));
        }
    }
}

#[test]
fn windows_are_of_one_size_or_one_shard_fewer() {
    for (n, shard, most) in [(65, 1, 64), (1000, 4, 7), (129, 1, 128)] {
        let order = Order::cut(n, shard, most, 1);
        let (mut window, mut sizes) = (Window::default(), Vec::new());
        for w in 0..order.windows() {
            order.fill(0, w, &mut window);
            sizes.push(window.shards.len() as u64);
        }
        let (least, largest) = (*sizes.iter().min().unwrap(), *sizes.iter().max().unwrap());
        assert!(largest <= most && largest - least <= 1, "{sizes:?}");
    }
}

#[test]
fn every_order_of_the_shards_is_equally_likely() {
    // One shard a window, one row a shard: the order of the rows is that of the shards.
    let (rounds, mut seen) = (24_000u64, std::collections::BTreeMap::new());
    for seed in 0..rounds {
        *seen.entry(epoch(&Order::cut(4, 1, 1, seed), 0)).or_insert(0u64) += 1;
    }
    // A standard deviation of a count of 1000 is 31; five of them allowed.
    assert!(seen.len() == 24 && seen.values().all(|c| c.abs_diff(1000) < 155), "{seen:?}");
}

#[test]
fn shards_of_a_window_are_spread_over_the_data() {
    let order = Order::cut(1 << 20, 16, 128, 3);
    let (mut window, mut places) = (Window::default(), Vec::new());
    for w in 0..order.windows() {
        order.fill(2, w, &mut window);
        places.extend(window.shards.iter().map(|shard| (*shard as f64, w as f64)));
    }
    let n = places.len();
    let r = correlation(|i| places[i].0, |i| places[i].1, n);
    assert!(r.abs() < 4.0 / (n as f64).sqrt(), "{r}");
    // Chance puts two neighbours into one of 512 windows once in 512 times.
    let window_of: std::collections::BTreeMap<u64, u64> =
        places.iter().map(|p| (p.0 as u64, p.1 as u64)).collect();
    let together = (1..n as u64).filter(|s| window_of[s] == window_of[&(s - 1)]).count();
    assert!(together.abs_diff(n / 512) < 5 * 12, "{together}");
}

#[test]
fn rows_are_shuffled_inside_a_window() {
    let order = Order::cut(40_000, 32, 128, 9);
    for number in 0..2 {
        let mut window = Window::default();
        for w in 0..order.windows() {
            order.fill(number, w, &mut window);
            let n = window.order.len();
            let r = correlation(|i| i as f64, |i| f64::from(window.order[i]), n);
            let steps =
                correlation(|i| f64::from(window.order[i]), |i| f64::from(window.order[i + 1]), n - 1);
            assert!(r.abs().max(steps.abs()) < 4.0 / (n as f64).sqrt(), "{r} {steps}");
        }
    }
    let (one, two) = (epoch(&order, 0), epoch(&order, 1));
    let r = correlation(|i| one[i] as f64, |i| two[i] as f64, one.len());
    assert!(r.abs() < 4.0 / (one.len() as f64).sqrt(), "{r}");
}

#[test]
fn batches_of_sorted_rows_are_nearly_as_balanced_as_random_ones() {
    // Ten classes one after the other, ten thousand rows of 784 numbers each: shards of 32 rows, windows of 128 shards.
    let (n, classes) = (100_000u64, 10);
    let order = Order::new(n, 784, 4);
    assert!(order.windows() > 10);
    let rows = epoch(&order, 0);
    let spread: f64 = rows
        .chunks_exact(100)
        .map(|batch| {
            let mut counts = vec![0.0f64; classes];
            batch.iter().for_each(|row| counts[(row * classes as u64 / n) as usize] += 1.0);
            counts.iter().map(|c| (c - 10.0).powi(2) / 10.0).sum::<f64>()
        })
        .sum::<f64>()
        / (n / 100) as f64;
    // Drawn at random: chi-squared of 9 degrees of freedom. In the order of the data: 900.
    assert!((8.0..18.0).contains(&spread), "{spread}");
}

#[test]
fn data_of_one_window_are_shuffled_as_a_whole() {
    let order = Order::new(5000, 64, 1);
    assert_eq!(order.windows(), 1);
    let rows = epoch(&order, 0);
    // A permutation of n places moves a row by n/3 on average.
    let moved = rows.iter().zip(0..).map(|(row, i)| row.abs_diff(i) as f64).sum::<f64>() / 5000.0;
    assert!((moved / 5000.0 - 1.0 / 3.0).abs() < 0.02, "{moved}");
    assert!(Order::new(1 << 17, 64, 1).windows() == 2 && Order::new(3, 1 << 24, 1).windows() == 3);
}
