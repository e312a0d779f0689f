//! Arrays: the same numbers give the same rows, whatever type, byte order, memory order and file format store them.

use crate::files::*;
use proptest::prelude::*;
use unmix::data::{RandomAccess, Source};
use unmix::{AnyRows, Dtype};
use unmix_io::{Options, open};

/// `n` numbers that every stored type can represent.
fn small(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 37 % 101) as u8).collect()
}

macro_rules! each_type {
    ($check:ident) => {
        $check::<u8>(|x| x);
        $check::<i8>(|x| x as i8);
        $check::<i16>(i16::from);
        $check::<u16>(u16::from);
        $check::<i32>(i32::from);
        $check::<u32>(u32::from);
        $check::<i64>(i64::from);
        $check::<u64>(u64::from);
        $check::<half::f16>(half::f16::from);
        $check::<f32>(f32::from);
        $check::<f64>(f64::from);
    };
}

#[test]
fn the_same_numbers_give_the_same_rows_in_every_type_order_and_wrapping() {
    fn check<S: Stored>(from: impl Fn(u8) -> S) {
        let folder = Folder::new();
        let shape = [7, 2, 3];
        let data = small(42);
        let want: Vec<f64> = data.iter().map(|&x| f64::from(x)).collect();
        let data: Vec<S> = data.into_iter().map(from).collect();
        let mut made = Vec::new();
        for order in [Order::C, Order::Fortran] {
            for big in [false, true] {
                made.push(("a.npy", npy(&data, &shape, order, big)));
            }
        }
        if S::IDX.is_some() {
            made.push(("a-idx3-ubyte", idx(&data, &shape)));
            made.push(("a.idx3-ubyte", idx(&data, &shape)));
            made.push(("a.idx", idx(&data, &shape)));
            made.push(("known-by-its-first-bytes", idx(&data, &shape)));
        }
        for (name, bytes) in made {
            for (name, bytes) in [(name.to_string(), bytes.clone()), (format!("{name}.gz"), gz(&bytes))] {
                let input = folder.open(&name, bytes, &in_shell()).unwrap();
                assert_eq!(numbers(&input.rows), want, "{name} {}", S::NUMPY);
                assert_eq!(input.shape, [Some(7), Some(2), Some(3)]);
                assert_eq!(input.rows.features().shape, Some(vec![2, 3]));
                assert_eq!(input.format.ends_with(".gz"), name.ends_with(".gz"));
                assert!(input.stored.ends_with(&(8 * S::NUMPY[1..].parse::<usize>().unwrap()).to_string()));
                let single = S::NUMPY == "f2" || S::NUMPY == "f4";
                assert_eq!(input.rows.dtype(), if single { Dtype::F32 } else { Dtype::F64 });
            }
        }
    }
    each_type!(check);
}

#[test]
fn bool_arrays_and_vectors_are_rows_too() {
    let folder = Folder::new();
    let mut bools = npy_header("{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2), }");
    bools.extend([0, 1, 7, 0]);
    let input = folder.open("b.npy", bools, &in_shell()).unwrap();
    assert_eq!((numbers(&input.rows), input.stored.as_str()), (vec![0.0, 1.0, 1.0, 0.0], "bool"));
    let vector = npy(&[1.5f64, 2.5, 3.5], &[3], Order::C, false);
    let input = folder.open("v.npy", &vector, &in_shell()).unwrap();
    assert_eq!((input.rows.n_rows(), input.rows.n_features()), (Some(3), 1));
    assert_eq!(input.rows.features().shape, None);
    let input = folder.open("v.npy", &vector, &Options { transpose: true, ..in_shell() }).unwrap();
    assert_eq!((input.rows.n_rows(), numbers(&input.rows)), (Some(1), vec![1.5, 2.5, 3.5]));
}

#[test]
fn any_axis_can_run_over_rows_or_over_features() {
    let folder = Folder::new();
    let (d, value) = ([4, 3, 5], |i: [usize; 3]| (100 * i[0] + 10 * i[1] + i[2]) as f64);
    let data: Vec<f64> =
        (0..4).flat_map(|i| (0..3).flat_map(move |j| (0..5).map(move |k| value([i, j, k])))).collect();
    for (order, axis) in [(Order::C, 0), (Order::C, 1), (Order::Fortran, 1), (Order::Fortran, 2)] {
        let bytes = npy(&data, &d, order, false);
        let rest: Vec<usize> = (0..3).filter(|&a| a != axis).collect();
        let mut want = Vec::new();
        for r in 0..d[axis] {
            for a in 0..d[rest[0]] {
                for b in 0..d[rest[1]] {
                    let mut at = [0; 3];
                    (at[axis], at[rest[0]], at[rest[1]]) = (r, a, b);
                    want.push(value(at));
                }
            }
        }
        let options = Options { rows_axis: vec![axis], ..in_shell() };
        let input = folder.open("a.npy", &bytes, &options).unwrap();
        assert_eq!(numbers(&input.rows), want, "{order:?}, rows along {axis}");
        assert_eq!(input.rows.features().shape, Some(rest.iter().map(|&a| d[a]).collect()));
        let (n, p) = (d[axis], want.len() / d[axis]);
        let input = folder.open("a.npy", &bytes, &Options { transpose: true, ..options }).unwrap();
        assert_eq!((input.rows.n_rows(), input.rows.n_features()), (Some(p as u64), n));
        assert_eq!(numbers(&input.rows), (0..n * p).map(|i| want[(i % n) * p + i / n]).collect::<Vec<_>>());
        assert_eq!(input.rows.features().shape, None);
    }
}

#[test]
fn a_file_whose_rows_have_several_axes_has_a_note() {
    let folder = Folder::new();
    let (long, square) =
        (npy(&small(2 * 3 * 8), &[2, 3, 8], Order::C, false), npy(&small(18), &[2, 3, 3], Order::C, false));
    let input = folder.open("long.npy", &long, &in_shell()).unwrap();
    let note = &input.rows.notes()[0];
    assert!(note.contains("long.npy has 3 axes (2 x 3 x 8): a row is 3 x 8 numbers"), "{note}");
    assert!(note.ends_with("--rows-axis 0,1 makes 6 rows of 8"), "{note}");
    assert!(folder.open("square.npy", &square, &in_shell()).unwrap().rows.notes().is_empty());
}

#[test]
fn rows_run_over_several_axes_in_the_given_order() {
    let folder = Folder::new();
    let (n, p, t) = (4, 3, 5);
    let value = |i: usize, j: usize, k: usize| (100 * i + 10 * j + k) as f64;
    let data: Vec<f64> =
        (0..n).flat_map(|i| (0..p).flat_map(move |j| (0..t).map(move |k| value(i, j, k)))).collect();
    let epoch_first: Vec<f64> =
        (0..n).flat_map(|i| (0..t).flat_map(move |k| (0..p).map(move |j| value(i, j, k)))).collect();
    let time_first: Vec<f64> =
        (0..t).flat_map(|k| (0..n).flat_map(move |i| (0..p).map(move |j| value(i, j, k)))).collect();
    for order in [Order::C, Order::Fortran] {
        let bytes = npy(&data, &[n, p, t], order, false);
        for (axes, want) in [(vec![0, 2], &epoch_first), (vec![2, 0], &time_first)] {
            let options = Options { rows_axis: axes, ..in_shell() };
            let input = folder.open("a.npy", &bytes, &options).unwrap();
            assert_eq!(&numbers(&input.rows), want, "{order:?}");
            assert_eq!((input.rows.n_features(), &input.rows.features().shape), (p, &None));
            let input = folder.open("a.npy", &bytes, &Options { transpose: true, ..options }).unwrap();
            assert_eq!((input.rows.n_rows(), input.rows.n_features()), (Some(p as u64), n * t));
        }
        let cut = Options { rows_axis: vec![0, 2], ..in_shell() };
        let refused = folder.refusal("a.npy", &bytes[..bytes.len() - 1], &cut);
        assert!(refused.contains("its header declares"), "{refused}");
        let all = Options { rows_axis: vec![0, 1, 2], ..in_shell() };
        let input = folder.open("a.npy", &bytes, &all).unwrap();
        assert_eq!((numbers(&input.rows), input.rows.n_features()), (data.clone(), 1));
    }
}

#[test]
fn the_shape_of_a_sample_is_requested_or_the_files_own_and_always_checked() {
    let folder = Folder::new();
    let bytes = npy(&small(36), &[3, 12], Order::C, false);
    let with = |shape: &[usize]| Options { feature_shape: Some(shape.to_vec()), ..in_shell() };
    let input = folder.open("a.npy", &bytes, &with(&[3, 4])).unwrap();
    assert_eq!(input.rows.features().shape, Some(vec![3, 4]));
    assert_eq!(
        folder.refusal("a.npy", &bytes, &with(&[5, 4])),
        "feature_shape=5 x 4 is not possible: its product is 20, but a row has 12 features; \
         choose lengths whose product is 12"
    );
    assert!(folder.refusal("a.npy", &bytes, &with(&[usize::MAX, 4])).contains("more than any file has"));
    assert!(folder.refusal("a.npy", &bytes, &with(&[])).contains("feature_shape"));
    // A selection of the columns of an image has no image shape, unless a shape is given.
    let picture = npy(&small(36), &[3, 3, 4], Order::C, false);
    let input = folder.open("a.npy", &picture, &columns("0-5", "", "")).unwrap();
    assert_eq!(input.rows.features().shape, None);
    let input =
        folder.open("a.npy", &picture, &Options { columns: Some("0-5".into()), ..with(&[2, 3]) }).unwrap();
    assert_eq!(input.rows.features().shape, Some(vec![2, 3]));
}

#[test]
fn columns_of_an_array_are_chosen_by_number_and_kept_as_text() {
    let folder = Folder::new();
    let data: Vec<f32> = (0..24).map(|i| i as f32 / 8.0).collect();
    let bytes = npy(&data, &[4, 6], Order::C, false);
    let input = folder.open("a.npy", &bytes, &columns("", "1", "5,0")).unwrap();
    assert_eq!(numbers(&input.rows)[..6], [0.25, 0.375, 0.5, 1.0, 1.125, 1.25]);
    assert_eq!(
        input.kept[0],
        ("5".into(), vec!["0.625".into(), "1.375".into(), "2.125".into(), "2.875".into()])
    );
    assert_eq!(input.kept[1].0, "0");
    assert!(
        folder
            .refusal("a.npy", &bytes, &columns("", "6", ""))
            .contains("there are 6 columns, numbered from 0")
    );
    assert!(folder.refusal("a.npy", &bytes, &columns("x", "", "")).contains("the columns have no names"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any layout, a selection of columns, in memory and in a file, as a range and as a whole, equals the selection from the whole
    /// table.
    #[test]
    fn selected_columns_are_those_of_the_whole_table(
        n in 1usize..40,
        p in 1usize..12,
        fortran in any::<bool>(),
        transpose in any::<bool>(),
        picked in prop::collection::vec(any::<prop::sample::Index>(), 1..12),
        cut in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let folder = Folder::new();
        let data: Vec<f64> = (0..n * p).map(|i| i as f64 + 0.5).collect();
        let order = if fortran { Order::Fortran } else { Order::C };
        let shape = if transpose { [p, n] } else { [n, p] };
        let stored = match transpose {
            true => (0..n * p).map(|i| data[(i % n) * p + i / n]).collect(),
            false => data.clone(),
        };
        let bytes = npy(&stored, &shape, order, false);
        let mut chosen: Vec<usize> = Vec::new();
        for j in picked.iter().map(|i| i.index(p)) {
            if !chosen.contains(&j) {
                chosen.push(j);
            }
        }
        let words: Vec<String> = chosen.iter().map(|j| j.to_string()).collect();
        let options = Options { transpose, columns: Some(words.join(",")), ..in_shell() };
        for (name, bytes) in [("a.npy", bytes.clone()), ("a.npy.gz", gz(&bytes))] {
            let input = folder.open(name, bytes, &options).unwrap();
            let want: Vec<f64> = (0..n).flat_map(|i| chosen.iter().map(move |j| i * p + j)).map(|i| data[i]).collect();
            prop_assert_eq!(numbers(&input.rows), want.clone());
            let AnyRows::F64(rows) = &input.rows else { panic!("doubles") };
            let mut streamed = Vec::new();
            let mut stream = rows.source().stream().unwrap();
            while stream.read(3, &mut streamed).unwrap() > 0 {}
            prop_assert_eq!(streamed, want.clone());
            let (row, column) = (cut.0.index(n), cut.1.index(chosen.len()));
            let mut part = vec![0.0; (n - row) * (chosen.len() - column)];
            let source: &dyn Source<f64> = rows.source();
            let random: &dyn RandomAccess<f64> = source.random().unwrap();
            random.read(row as u64..n as u64, column..chosen.len(), &mut part, &mut Vec::new()).unwrap();
            let want: Vec<f64> =
                want.chunks(chosen.len()).skip(row).flat_map(|r| r[column..].to_vec()).collect();
            prop_assert_eq!(part, want);
        }
    }

    /// Every bit pattern of a double is preserved by every format.
    #[test]
    fn every_bit_of_a_double_is_kept(data in prop::collection::vec(any::<u64>(), 1..60)) {
        let folder = Folder::new();
        let data: Vec<f64> = data.into_iter().map(f64::from_bits).map(|x| if x.is_nan() { f64::NAN } else { x }).collect();
        let shape = [data.len(), 1];
        for order in [Order::C, Order::Fortran] {
            for big in [false, true] {
                let input = folder.open("a.npy", npy(&data, &shape, order, big), &in_shell()).unwrap();
                prop_assert_eq!(bits(&numbers(&input.rows)), bits(&data));
            }
        }
        let input = folder.open("a.idx.gz", gz(&idx(&data, &shape)), &in_shell()).unwrap();
        prop_assert_eq!(bits(&numbers(&input.rows)), bits(&data));
        let lines: String = data.iter().map(|x| format!("{x:.16e}\n")).collect();
        let input = folder.open("a.csv", lines, &Options { header: Some(false), ..in_shell() }).unwrap();
        prop_assert_eq!(bits(&numbers(&input.rows)), bits(&data));
    }
}

#[test]
fn arrays_larger_than_the_limit_in_memory_are_decompressed_into_a_file() {
    // 80 MiB of bytes, more than is loaded into memory.
    let folder = Folder::new();
    let (n, p) = (10 << 20, 8);
    let mut bytes = npy_header(&format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({n}, {p}), }}"));
    bytes.extend((0..n * p).map(|i| (i % 251) as u8));
    let path = folder.put("a.npy.gz", gz(&bytes));
    let input = open(&path, &in_shell()).unwrap();
    let AnyRows::F64(rows) = &input.rows else { panic!("integers are computed in double precision") };
    let last = rows.read_range(n as u64 - 2..n as u64).unwrap();
    assert_eq!(last, ((n - 2) * p..n * p).map(|i| (i % 251) as f64).collect::<Vec<_>>());
}
