//! Model files: intact, truncated, modified, of another version, and paths that cannot be written.

use crate::made::{bits, falling, numbers, pca};
use serde_json::{Value, json};
use std::path::Path;
use unmix::{Error, Model};

fn small() -> Model {
    pca(json!({"n_components": 2, "whiten": true}), &falling(20, 3, 1), 3)
}

fn read(bytes: &[u8]) -> unmix::Result<Model> {
    Model::from_bytes(bytes, Path::new("m.safetensors"))
}

/// The header as JSON, and the bytes of the tensors.
fn parts(bytes: &[u8]) -> (Value, Vec<u8>) {
    let n = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    (serde_json::from_slice(&bytes[8..8 + n]).unwrap(), bytes[8 + n..].to_vec())
}

fn whole((header, data): (Value, Vec<u8>)) -> Vec<u8> {
    let mut text = header.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    [&(text.len() as u64).to_le_bytes(), text.as_slice(), &data].concat()
}

/// The file with its description modified.
fn described(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (mut header, data) = parts(bytes);
    let entry = &mut header["__metadata__"]["unmix"];
    let mut description: Value = serde_json::from_str(entry.as_str().unwrap()).unwrap();
    change(&mut description);
    *entry = description.to_string().into();
    whole((header, data))
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let bytes = small().to_bytes().unwrap();
    for n in 0..bytes.len() {
        match read(&bytes[..n]) {
            Err(Error::Format { .. }) => {}
            other => panic!("cut to {n} of {} bytes: {:?}", bytes.len(), other.map(|m| bits(&m))),
        }
    }
    assert!(read(&[bytes.clone(), vec![0]].concat()).is_err(), "a byte too many");
}

#[test]
fn a_changed_byte_is_an_error_unless_it_lies_in_the_run_record() {
    let model = small();
    let bytes = model.to_bytes().unwrap();
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize + 8;
    let text = String::from_utf8_lossy(&bytes[8..header]).into_owned();
    let run = text.find(r#","run":"#).unwrap() + 8;
    let run = run - 6..run + text[run - 8..].find('}').unwrap() + 3;
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            match read(&changed) {
                Err(e) if at >= header => assert!(e.to_string().contains("checksum"), "byte {at}: {e}"),
                Err(_) => {}
                // Time and duration of the fit are not part of the fitted model.
                Ok(found) if run.contains(&at) => {
                    assert_eq!(bits(&found), bits(&model), "byte {at} ^ {flip}")
                }
                Ok(_) => panic!(
                    "byte {at} of {} ^ {flip} was not detected: {:?}",
                    bytes.len(),
                    &text[at.saturating_sub(28)..(at + 12).min(text.len())]
                ),
            }
        }
    }
}

#[test]
fn an_unknown_format_is_refused_with_the_version_to_install() {
    let newer = described(&small().to_bytes().unwrap(), |d| {
        d["format"] = 2.into();
        d["version"] = "3.1.4".into();
    });
    let error = read(&newer).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("its format is 2") && text.contains("install version 3.1.4 of unmix"), "{text}");
    let Error::Format { details, .. } = error else { panic!("{text}") };
    assert_eq!((details.need, details.got, details.version.as_deref()), (Some(1), Some(2), Some("3.1.4")));
    let older =
        described(&small().to_bytes().unwrap(), |d| drop(d.as_object_mut().unwrap().shift_remove("format")));
    let text = read(&older).unwrap_err().to_string();
    assert!(text.contains("its format is not recorded"), "{text}");
    let neither = described(&small().to_bytes().unwrap(), |d| {
        let d = d.as_object_mut().unwrap();
        d.shift_remove("format");
        d.shift_remove("version");
    });
    let text = read(&neither).unwrap_err().to_string();
    assert!(text.ends_with("install a later version of unmix"), "{text}");
}

#[test]
fn a_shape_whose_numbers_cannot_be_counted_is_an_error() {
    let m = small();
    // The product of these axes overflows to 3 modulo 2^64, the number of features.
    let shape = Some(vec![0xaaaa_aaaa_aaaa_aaab, 9]);
    let features = unmix::Features { names: None, shape };
    let made = Model::new(
        m.method(),
        m.settings().clone(),
        features,
        m.ddof(),
        m.tensors().clone(),
        m.report().clone(),
    );
    assert!(matches!(made, Err(Error::Width { .. })));
}

#[test]
fn a_file_that_is_no_model_is_refused() {
    for (bytes, word) in [
        (Vec::new(), "it is empty"),
        (b"id,x\n1,2\n".to_vec(), "not a safetensors file"),
        (
            whole((json!({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}), vec![0; 4])),
            "no unmix model",
        ),
        (u64::MAX.to_le_bytes().to_vec(), "not a safetensors file"),
    ] {
        let text = read(&bytes).unwrap_err().to_string();
        assert!(text.contains(word), "{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(Model::load(folder.path()).unwrap_err().to_string().contains("folder"));
    assert!(matches!(Model::load(&folder.path().join("none")), Err(Error::Io { .. })));
    assert!(
        !unmix::model::is_model_file(folder.path())
            && !unmix::model::is_model_file(&folder.path().join("none"))
    );
}

#[test]
fn the_safetensors_library_reads_the_file() {
    let model = small();
    let bytes = model.to_bytes().unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(file.len(), model.tensors().len());
    let found = file.tensor("components").unwrap();
    assert_eq!((found.shape(), found.dtype()), (&[2usize, 3][..], safetensors::Dtype::F64));
    let values: Vec<f64> = found.data().as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    assert_eq!(values, numbers(&model, "components"));
    // The tensors are aligned, so that other programs may map the file into memory.
    assert!(
        file.tensors().iter().all(|(_, t)| t.data().as_ptr() as usize % 4 == bytes.as_ptr() as usize % 4)
    );
}

#[test]
fn settings_with_many_digits_are_restored_from_the_file() {
    let x = falling(40, 5, 1);
    for i in 0..200u64 {
        let share = unmix::internal::num::random::Stream::new(5, 0).uniform(i);
        let model = pca(json!({ "n_components": share }), &x, 5);
        let bytes = model.to_bytes().unwrap();
        assert_eq!(read(&bytes).unwrap().to_bytes().unwrap(), bytes, "share {share}");
    }
}

#[test]
fn saving_replaces_the_file_whole_or_leaves_it_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    let names = || {
        let mut names: Vec<String> = folder
            .path()
            .read_dir()
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    let model = small();
    std::fs::write(&path, "before").unwrap();
    model.save(&path).unwrap();
    assert_eq!(names(), ["m.safetensors"]);
    assert_eq!(bits(&Model::load(&path).unwrap()), bits(&model));
    assert!(unmix::model::is_model_file(&path));

    // The path is a folder, in a folder that does not exist, or below a file: an error that names the path, and no file left behind.
    std::fs::create_dir(folder.path().join("taken")).unwrap();
    for (at, word) in
        [("taken", "folder"), ("none/m.safetensors", "cannot write"), ("m.safetensors/below", "cannot write")]
    {
        let text = model.save(&folder.path().join(at)).unwrap_err().to_string();
        assert!(text.contains(word) && text.contains(at), "{text}");
        assert_eq!(names(), ["m.safetensors", "taken"]);
    }
    assert_eq!(folder.path().join("taken").read_dir().unwrap().count(), 0);
    assert_eq!(bits(&Model::load(&path).unwrap()), bits(&model));
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_not_writable_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(folder.path().join("probe"), "").is_ok() {
        crate::skipped::skipped(
            "a_folder_that_is_not_writable_is_an_error",
            "this user may write everywhere",
        );
        return;
    }
    let e = small().save(&folder.path().join("m.safetensors")).unwrap_err();
    assert!(matches!(e, Error::Io { .. }), "{e:?}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}
