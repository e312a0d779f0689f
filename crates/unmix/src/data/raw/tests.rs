//! Tests of `raw`.

use super::*;

fn rows_of<T: Real>(a: &RawArray<'_>) -> Vec<T> {
    let (n, p) = (Source::<T>::n_rows(a).unwrap(), Source::<T>::n_features(a));
    let mut out = vec![T::default(); n as usize * p];
    RandomAccess::<T>::read(a, 0..n, 0..p, &mut out, &mut Vec::new()).unwrap();
    out
}

#[test]
fn every_layout_of_the_same_numbers_gives_the_same_rows_in_memory_and_in_a_file() {
    // A 4 x 3 x 5 array of i16, in C order and in Fortran order, its rows along each axis in turn.
    let (d0, d1, d2) = (4u64, 3u64, 5u64);
    let value = |i: u64, j: u64, k: u64| (100 * i + 10 * j + k) as i16 - 111;
    for fortran in [false, true] {
        let strides: [i64; 3] = if fortran { [2, 8, 24] } else { [30, 10, 2] };
        let mut data = vec![0u8; 120];
        for i in 0..d0 {
            for j in 0..d1 {
                for k in 0..d2 {
                    let at = i as i64 * strides[0] + j as i64 * strides[1] + k as i64 * strides[2];
                    data[at as usize..at as usize + 2].copy_from_slice(&value(i, j, k).to_be_bytes());
                }
            }
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file, &data).unwrap();
        for axis in 0..3 {
            let dims = [d0, d1, d2];
            let rest: Vec<usize> = (0..3).filter(|&a| a != axis).collect();
            let axes = |which: &[usize]| Axes {
                dims: which.iter().map(|&a| dims[a]).collect(),
                strides: which.iter().map(|&a| strides[a]).collect(),
            };
            let number = NumberType { kind: b'i', size: 2, big_endian: true };
            let mut want = Vec::new();
            for r in 0..dims[axis] {
                for a in 0..dims[rest[0]] {
                    for b in 0..dims[rest[1]] {
                        let mut at = [0; 3];
                        (at[axis], at[rest[0]], at[rest[1]]) = (r, a, b);
                        want.push(value(at[0], at[1], at[2]) as f64);
                    }
                }
            }
            for bytes in [Bytes::Lent(&data), Bytes::open(file.path()).unwrap()] {
                let a = RawArray::new(bytes, 0, number, axes(&[axis]), axes(&rest)).unwrap();
                assert_eq!(rows_of::<f64>(&a), want, "fortran {fortran}, rows along axis {axis}");
                let p = rest.iter().map(|&r| dims[r] as usize).product::<usize>();
                let mut part = vec![0.0; 2 * (p - 2)];
                RandomAccess::<f64>::read(&a, 1..3, 1..p - 1, &mut part, &mut Vec::new()).unwrap();
                assert_eq!(part[..p - 2], want[p + 1..2 * p - 1]);
                let t = a.transposed();
                let (n, flipped) = (dims[axis] as usize, rows_of::<f64>(&t));
                assert_eq!(flipped, (0..p * n).map(|i| want[(i % n) * p + i / n]).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn a_header_that_declares_more_than_the_bytes_is_refused() {
    let r = RawArray::row_major::<f64>(Bytes::Lent(&[0; 79]), 2, 5);
    assert!(r.err().unwrap().to_string().contains("declares 80 bytes, but the file has 79"));
}

#[test]
fn half_precision_bool_and_large_integers_keep_their_values() {
    let halves: Vec<u8> =
        [1.5f32, -0.25, 65504.0].iter().flat_map(|&x| half::f16::from_f32(x).to_le_bytes()).collect();
    let a =
        RawArray::new(Bytes::Lent(&halves), 0, NumberType::little(b'f', 2), Axes::one(3, 2), Axes::one(1, 2));
    assert_eq!(rows_of::<f32>(&a.unwrap()), [1.5, -0.25, 65504.0]);
    let a = RawArray::new(
        Bytes::Lent(&[0, 7, 1]),
        0,
        NumberType::little(b'b', 1),
        Axes::one(3, 1),
        Axes::one(1, 1),
    );
    assert_eq!(rows_of::<f64>(&a.unwrap()), [0.0, 1.0, 1.0]);
    let big = (1u64 << 53).to_le_bytes();
    let a =
        RawArray::new(Bytes::Lent(&big), 0, NumberType::little(b'u', 8), Axes::one(1, 8), Axes::one(1, 8));
    assert_eq!(rows_of::<f64>(&a.unwrap()), [9007199254740992.0]);
}

#[test]
fn axes_that_no_array_has_are_refused() {
    let refused = |number: NumberType, rows: Axes, features: Axes| {
        RawArray::new(Bytes::Lent(&[0; 64]), 0, number, rows, features).err().unwrap().to_string()
    };
    let double = NumberType::little(b'f', 8);
    let long = || Axes::new(vec![1 << 32, 1 << 32], vec![0, 0]);
    assert_eq!(long().len(), u64::MAX);
    assert!(refused(double, long(), Axes::one(1, 8)).contains("its header declares lengths of"));
    assert!(refused(double, Axes::one(1 << 40, 0), Axes::one(1 << 40, 0)).contains("declares lengths of"));
    assert!(refused(NumberType::little(b'f', 3), Axes::one(1, 8), Axes::one(1, 8)).contains("not supported"));
}

#[test]
#[should_panic(expected = "an axis has a length and a stride")]
fn axes_have_as_many_strides_as_lengths() {
    Axes::new(vec![2, 4], vec![8]);
}
