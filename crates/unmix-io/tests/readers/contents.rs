//! `describe`: statistics of the contents of a file.

use crate::files::*;
use proptest::prelude::*;
use unmix::Run;
use unmix_io::describe;

fn on_threads(threads: usize) -> Run<'static> {
    Run { threads, ..Run::default() }
}

#[test]
fn a_table_is_described_column_by_column() {
    let folder = Folder::new();
    let text = "a,b,c,d\n1,NA,5,\n2,inf,5,\n3,4,5,\n6,-2,5,NA\n";
    let input = folder.open("t.csv", text, &in_shell()).unwrap();
    let d = describe(&input, &Run::default()).unwrap();
    assert_eq!(
        (d.n_rows, d.n_features, d.missing, d.infinite, d.incomplete_rows, d.constant),
        (4, 4, 5, 1, 4, 1)
    );
    assert_eq!((d.format.as_str(), d.stored.as_str(), d.dtype), ("csv", "text", "float64"));
    assert_eq!((d.min, d.max), (Some(-2.0), Some(6.0)));
    // The sum is 34 over 10 finite cells; merging the columns may round.
    assert!((d.mean.unwrap() - 3.4).abs() < 1e-14);
    let [a, b, c, empty] = &d.columns[..] else { panic!("four columns") };
    assert_eq!(
        (a.name.as_deref(), a.min, a.max, a.mean, a.std),
        (Some("a"), Some(1.0), Some(6.0), Some(3.0), Some(3.5f64.sqrt()))
    );
    assert_eq!(
        (b.missing, b.infinite, b.min, b.max, b.mean, b.std),
        (1, 1, Some(-2.0), Some(4.0), Some(1.0), Some(3.0))
    );
    assert_eq!((c.constant, c.std, a.constant, b.constant), (true, Some(0.0), false, false));
    assert_eq!((empty.missing, empty.min, empty.mean, empty.constant), (4, None, None, false));
    let json = serde_json::to_value(&d).unwrap();
    assert_eq!(json["columns"][3]["min"], serde_json::Value::Null);
    assert_eq!(json["columns"][0]["max"], 6.0);
}

#[test]
fn a_large_mean_costs_no_digit_of_the_standard_deviation() {
    let folder = Folder::new();
    let data: Vec<f64> = (0..100_000).map(|i| 1e9 + (i % 2) as f64).collect();
    let input = folder.open("a.npy", npy(&data, &[100_000, 1], Order::C, false), &in_shell()).unwrap();
    let d = describe(&input, &Run::default()).unwrap();
    assert!((d.columns[0].std.unwrap() - 0.5).abs() < 1e-12 && (d.std.unwrap() - 0.5).abs() < 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Counts and moments agree with direct computation, and have the same bits for any number of threads, in memory and in a file.
    #[test]
    fn numbers_agree_with_those_computed_directly(
        n in 1usize..600,
        p in 1usize..5,
        seed in any::<u32>(),
        scale in -20i32..20,
    ) {
        let cell = |i: usize| {
            let draw = (i as u32).wrapping_mul(2654435761).wrapping_add(seed).wrapping_mul(2246822519) >> 7;
            match draw % 11 {
                0 => f64::NAN,
                1 => f64::NEG_INFINITY,
                _ => (f64::from(draw) / f64::from(1 << 25) - 0.5) * 2f64.powi(scale),
            }
        };
        let data: Vec<f64> = (0..n * p).map(cell).collect();
        let folder = Folder::new();
        let bytes = npy(&data, &[n, p], Order::Fortran, false);
        let input = folder.open("a.npy", &bytes, &in_shell()).unwrap();
        let d = describe(&input, &on_threads(1)).unwrap();
        for j in 0..p {
            let cells: Vec<f64> = data.iter().skip(j).step_by(p).copied().collect();
            let finite: Vec<f64> = cells.iter().copied().filter(|x| x.is_finite()).collect();
            let column = &d.columns[j];
            prop_assert_eq!(column.missing, cells.iter().filter(|x| x.is_nan()).count() as u64);
            prop_assert_eq!(column.infinite, cells.iter().filter(|x| x.is_infinite()).count() as u64);
            prop_assert_eq!(column.min, finite.iter().copied().reduce(f64::min));
            prop_assert_eq!(column.max, finite.iter().copied().reduce(f64::max));
            let m = finite.len() as f64;
            let mean = finite.iter().sum::<f64>() / m;
            let std = (finite.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / m).sqrt();
            let near = |got: Option<f64>, want: f64| match got {
                None => m == 0.0,
                Some(got) => (got - want).abs() <= 1e-13 * 2f64.powi(scale),
            };
            prop_assert!(near(column.mean, mean) && near(column.std, std));
        }
        prop_assert_eq!(d.incomplete_rows, data.chunks(p).filter(|r| r.iter().any(|x| !x.is_finite())).count() as u64);
        let other = folder.open("a.npy.gz", gz(&npy(&data, &[n, p], Order::C, true)), &in_shell()).unwrap();
        let again = describe(&other, &on_threads(3)).unwrap();
        prop_assert_eq!(d.columns, again.columns);
    }
}
