//! Files with several arrays: numpy's zip archives (`.npz`), and safetensors.

use crate::files::*;
use std::io::Write;
use unmix::{Dtype, Pca, Rows, Run};
use unmix_io::Options;
use zip::CompressionMethod::{Deflated, Stored as Plain};
use zip::write::SimpleFileOptions;

/// A zip archive with these members, each a name and its bytes.
pub(crate) fn zipped(members: &[(&str, Vec<u8>)], how: zip::CompressionMethod) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(how)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A safetensors file: name, type, shape and bytes of each tensor.
pub(crate) fn tensors(of: &[(&str, &str, &[usize], Vec<u8>)]) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, dtype, shape, bytes) in of {
        let offsets = [data.len(), data.len() + bytes.len()];
        header.insert(
            (*name).into(),
            serde_json::json!({"dtype": dtype, "shape": shape, "data_offsets": offsets}),
        );
        data.extend(bytes);
    }
    let header = serde_json::to_vec(&header).unwrap();
    [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat()
}

fn keyed(key: &str) -> Options {
    Options { key: Some(key.into()), ..in_shell() }
}

fn little<S: Stored>(data: &[S]) -> Vec<u8> {
    data.iter().flat_map(|x| x.little()).collect()
}

#[test]
fn arrays_in_an_archive_are_those_that_were_written() {
    let folder = Folder::new();
    let a: Vec<f32> = (0..60).map(|i| (i as f32).sin()).collect();
    let b: Vec<i16> = (0..12).map(|i| i * 99 - 500).collect();
    let members = [
        ("images.npy", npy(&a, &[5, 3, 4], Order::C, false)),
        ("labels.npy", npy(&b, &[4, 3], Order::Fortran, true)),
        ("notes.txt", b"nobody reads this".to_vec()),
    ];
    for how in [Plain, Deflated] {
        let bytes = zipped(&members, how);
        for (name, bytes) in
            [("a.npz", bytes.clone()), ("known-by-its-first-bytes", bytes.clone()), ("a.npz.gz", gz(&bytes))]
        {
            let input = folder.open(name, &bytes, &keyed("images")).unwrap();
            assert_eq!(numbers(&input.rows), a.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
            assert_eq!(
                (input.rows.features().shape.clone(), input.rows.dtype()),
                (Some(vec![3, 4]), Dtype::F32)
            );
            let input = folder.open(name, &bytes, &keyed("labels")).unwrap();
            assert_eq!(numbers(&input.rows), b.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
            assert_eq!((input.stored.as_str(), &input.format[..3]), ("int16", "npz"));
        }
        let message = folder.refusal("a.npz", &bytes, &in_shell());
        assert_eq!(
            message,
            "a.npz cannot be read: it holds 2 arrays (images, labels), but one must be chosen; choose it as in --key images"
        );
        let message = folder.refusal("a.npz", &bytes, &keyed("label"));
        assert_eq!(
            message,
            "there is no array named 'label' (did you mean 'labels'?); choose one of: images, labels"
        );
        let alone = folder.open("a.npz", zipped(&members[..1], how), &in_shell()).unwrap();
        assert_eq!(alone.shape, [Some(5), Some(3), Some(4)]);
    }
}

#[test]
fn inconsistent_archives_are_refused() {
    let folder = Folder::new();
    let refusal = |bytes: &[u8]| folder.refusal("a.npz", bytes, &in_shell());
    let array = npy(&[1.0f64; 12], &[4, 3], Order::C, false);
    assert!(refusal(&zipped(&[], Plain)).contains("it holds no arrays"));
    assert!(
        refusal(&zipped(&[("a.npy", array[..array.len() - 8].to_vec())], Plain))
            .contains("declares more than its")
    );
    assert!(
        refusal(&zipped(&[("a.npy", array[..array.len() - 8].to_vec())], Deflated)).contains("truncated")
    );
    assert!(
        refusal(&zipped(&[("a.npy", b"text".to_vec())], Plain))
            .contains("does not start with the signature of a .npy file")
    );
    let whole = zipped(&[("a.npy", array.clone())], Deflated);
    assert!(refusal(&whole[..whole.len() - 30]).contains("it is not a valid zip archive"));
    let mut corrupted = whole.clone();
    let at = whole.len() / 2 - 60;
    corrupted[at] ^= 0x55;
    assert!(refusal(&corrupted).contains("compressed data"), "{}", refusal(&corrupted));
    assert!(
        folder
            .refusal("a.npy", &array, &keyed("x"))
            .contains("key=x is not possible: the input is of type npy")
    );
}

#[test]
fn tensors_of_every_type_are_rows() {
    fn check<S: Stored>(dtype: &str, from: impl Fn(u8) -> S) {
        let folder = Folder::new();
        let data: Vec<u8> = (0..24u32).map(|i| (i * 37 % 101) as u8).collect();
        let stored: Vec<S> = data.iter().map(|&x| from(x)).collect();
        let bytes = tensors(&[("w", dtype, &[4, 2, 3], little(&stored))]);
        for (name, bytes) in
            [("a.safetensors", bytes.clone()), ("nameless", bytes.clone()), ("a.safetensors.gz", gz(&bytes))]
        {
            let input = folder.open(name, bytes, &in_shell()).unwrap();
            assert_eq!(
                numbers(&input.rows),
                data.iter().map(|&x| f64::from(x)).collect::<Vec<_>>(),
                "{dtype}"
            );
            assert_eq!((input.rows.features().shape.clone(), input.shape.len()), (Some(vec![2, 3]), 3));
        }
    }
    check::<u8>("U8", |x| x);
    check::<i8>("I8", |x| x as i8);
    check::<u16>("U16", u16::from);
    check::<i16>("I16", i16::from);
    check::<u32>("U32", u32::from);
    check::<i32>("I32", i32::from);
    check::<u64>("U64", u64::from);
    check::<i64>("I64", i64::from);
    check::<half::f16>("F16", half::f16::from);
    check::<half::bf16>("BF16", half::bf16::from);
    check::<f32>("F32", f32::from);
    check::<f64>("F64", f64::from);
}

#[test]
fn brain_floats_keep_every_bit() {
    let halves: Vec<half::bf16> = (0..=u16::MAX).map(half::bf16::from_bits).filter(|x| !x.is_nan()).collect();
    let bytes = tensors(&[("w", "BF16", &[halves.len(), 1], little(&halves))]);
    let input = Folder::new().open("a.safetensors", bytes, &in_shell()).unwrap();
    assert_eq!((input.stored.as_str(), input.rows.dtype()), ("bfloat16", Dtype::F32));
    assert_eq!(bits(&numbers(&input.rows)), bits(&halves.iter().map(|x| x.to_f64()).collect::<Vec<_>>()));
}

#[test]
fn inconsistent_safetensors_are_refused() {
    let folder = Folder::new();
    let refusal = |bytes: &[u8]| folder.refusal("a.safetensors", bytes, &in_shell());
    let row = |name| (name, "F32", &[1usize, 2][..], little(&[1f32, 2.0]));
    let whole = tensors(&[row("b"), row("a")]);
    assert!(
        refusal(&whole).contains("it holds 2 arrays (a, b), but one must be chosen; choose it as in --key a")
    );
    assert!(folder.refusal("a.safetensors", &whole, &keyed("c")).contains("choose one of: a, b"));
    assert_eq!(numbers(&folder.open("a.safetensors", &whole, &keyed("a")).unwrap().rows), [1.0, 2.0]);
    let (all, cut) = (whole.len(), whole.len() - 1);
    assert!(
        refusal(&whole[..cut]).contains(&format!("its header declares {all} bytes, but the file has {cut}"))
    );
    assert!(refusal(&whole[..5]).contains("it has 5 bytes"));
    assert!(refusal(&whole[..30]).contains("bytes long, but the file has 30 in all"));
    assert!(refusal(&[0xff; 64]).contains("its header should be 18446744073709551615 bytes long"));
    assert!(
        refusal(&tensors(&[("a", "F32", &[usize::MAX, 9], vec![])]))
            .contains("its header is not that of a safetensors file")
    );
    assert!(refusal(&tensors(&[("a", "C64", &[1, 1], vec![0; 8])])).contains("holds numbers of type C64"));
    assert!(refusal(&tensors(&[])).contains("it holds no arrays"));
    assert!(
        refusal(&tensors(&[("a", "F32", &[0, 3], vec![])]))
            .contains("its shape is 0 x 3, so it holds no rows")
    );
}

#[test]
fn a_model_is_not_data() {
    let folder = Folder::new();
    let x: Vec<f64> = (0..20).map(|i| f64::from(i * i % 7)).collect();
    let mut rows = Rows::from_slice(&x, 2).unwrap();
    let model = Pca::default().fit(&mut rows, &Run::default()).unwrap();
    let message = folder.refusal("m.safetensors", model.to_bytes().unwrap(), &in_shell());
    assert!(
        message.contains("it is a model that unmix has written, not data; to read a model use 'unmix show'"),
        "{message}"
    );
}
