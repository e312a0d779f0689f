//! Folders of SAELens: round trips, the documented encoders, refusals.

use super::*;
use crate::made::{apart, encode, numbers, on_threads};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;
use unmix::method::sae::Activation;
use unmix::method::sae::saelens::{Export, Precision, export, import};

const ALL: [Activation; 5] =
    [Activation::Relu, Activation::Topk, Activation::BatchTopk, Activation::Jumprelu, Activation::Gated];

fn trained(activation: Activation) -> (Model, Vec<f64>) {
    let (x, _) = toy(300, 1);
    let spec = SparseAutoencoder { n_components: Some(40), activation, max_epochs: 3, ..Default::default() };
    (fit(&spec, &x, 32, 0), x)
}

fn read(folder: &Path) -> unmix::Result<Model> {
    import(folder, &on_threads(1))
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).unwrap()
}

#[test]
fn exported_models_are_imported_to_the_bit() {
    for activation in ALL {
        let (model, x) = trained(activation);
        let folder = TempDir::new().unwrap();
        let (first, second) = (folder.path().join("a"), folder.path().join("b"));
        export(&model, &first, Export::default()).unwrap();
        let back = read(&first).unwrap();
        for (name, tensor) in back.tensors() {
            match (activation, name.as_str()) {
                (Activation::BatchTopk, "threshold") => {
                    assert!(tensor.f64s().iter().all(|t| *t == numbers(&model, "threshold")[0]));
                }
                _ => assert_eq!(Some(tensor), model.tensor(name), "{activation:?} {name}"),
            }
        }
        assert_eq!(encode(&back, &x), encode(&model, &x), "{activation:?}");
        export(&back, &second, Export::default()).unwrap();
        for name in ["sae_weights.safetensors", "cfg.json"] {
            assert_eq!(bytes(&first, name), bytes(&second, name), "{activation:?} {name}");
        }
        let cfg: Value = serde_json::from_slice(&bytes(&first, "cfg.json")).unwrap();
        assert_eq!(cfg["d_in"], 32);
        assert_eq!(cfg["k"], if activation == Activation::Topk { json!(5) } else { Value::Null });
        let named = ["standard", "topk", "jumprelu", "jumprelu", "gated"];
        assert_eq!(cfg["architecture"], named[ALL.iter().position(|a| *a == activation).unwrap()]);
        // A saved model can be exported, too.
        let file = folder.path().join("m.safetensors");
        back.save(&file).unwrap();
        export(&Model::load(&file).unwrap(), &second, Export { force: true, ..Default::default() }).unwrap();
        assert_eq!(bytes(&first, "cfg.json"), bytes(&second, "cfg.json"));
    }
}

#[test]
fn models_in_lower_precision_are_exported_again_to_the_bit() {
    let (model, _) = trained(Activation::Gated);
    let folder = TempDir::new().unwrap();
    for dtype in [Precision::Float16, Precision::Bfloat16, Precision::Float32] {
        let (first, second) = (folder.path().join(dtype.name()), folder.path().join("again"));
        export(&model, &first, Export { dtype: Some(dtype), force: true }).unwrap();
        let back = read(&first).unwrap();
        assert_eq!(back.dtype(), unmix::Dtype::F32);
        export(&back, &second, Export { force: true, ..Default::default() }).unwrap();
        for name in ["sae_weights.safetensors", "cfg.json"] {
            assert_eq!(bytes(&first, name), bytes(&second, name), "{dtype:?} {name}");
        }
        let far = apart(&numbers(&back, "components"), &numbers(&model, "components"));
        assert!(far < if dtype == Precision::Float32 { 1e-7 } else { 1e-2 }, "{dtype:?}: {far:e}");
    }
}

/// A folder of `tensors` and `cfg`.
fn written(folder: &Path, tensors: &BTreeMap<&str, (Vec<usize>, Vec<f64>)>, cfg: &Value) {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, (shape, numbers)) in tensors {
        let start = data.len();
        numbers.iter().for_each(|x| data.extend_from_slice(&x.to_le_bytes()));
        header.insert(
            (*name).into(),
            json!({"dtype": "F64", "shape": shape, "data_offsets": [start, data.len()]}),
        );
    }
    let header = Value::Object(header).to_string();
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat();
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("sae_weights.safetensors"), file).unwrap();
    std::fs::write(folder.join("cfg.json"), cfg.to_string()).unwrap();
}

/// Random tensors of an architecture, 6 columns and 9 units, with atoms of any length.
fn made(architecture: &str) -> BTreeMap<&'static str, (Vec<usize>, Vec<f64>)> {
    let (p, m) = (6, 9);
    let draw = |stream: u64, n: usize| {
        let of = Stream::new(5, stream);
        (0..n).map(|i| of.normal(i as u64)).collect::<Vec<f64>>()
    };
    let mut out = BTreeMap::from([
        ("W_enc", (vec![p, m], draw(1, p * m))),
        ("W_dec", (vec![m, p], draw(2, p * m))),
        ("b_dec", (vec![p], draw(3, p))),
    ]);
    match architecture {
        "gated" => out.extend([
            ("b_gate", (vec![m], draw(4, m))),
            ("b_mag", (vec![m], draw(5, m))),
            ("r_mag", (vec![m], draw(6, m))),
        ]),
        _ => out.extend([("b_enc", (vec![m], draw(4, m)))]),
    }
    if architecture == "jumprelu" {
        // Thresholds may be below 0; codes are non-negative in any case.
        out.insert("threshold", (vec![m], draw(7, m)));
    }
    out
}

/// Codes and reconstruction of a row, as SAELens documents them.
fn documented(
    architecture: &str,
    tensors: &BTreeMap<&str, (Vec<usize>, Vec<f64>)>,
    cfg: &Value,
    x: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let (p, m) = (6, 9);
    let t = |name: &str| &tensors[name].1;
    let input: Vec<f64> = match cfg["apply_b_dec_to_input"] == json!(false) {
        true => x.to_vec(),
        false => x.iter().zip(t("b_dec")).map(|(x, b)| x - b).collect(),
    };
    let product = |j: usize| (0..p).map(|c| input[c] * t("W_enc")[c * m + j]).sum::<f64>();
    let norm = |j: usize| t("W_dec")[j * p..(j + 1) * p].iter().map(|w| w * w).sum::<f64>().sqrt();
    let rescale = cfg["rescale_acts_by_decoder_norm"] == json!(true);
    let mut z: Vec<f64> = (0..m)
        .map(|j| match architecture {
            "gated" => {
                let gate = product(j) + t("b_gate")[j] > 0.0;
                let size = product(j) * t("r_mag")[j].exp() + t("b_mag")[j];
                if gate { size.max(0.0) } else { 0.0 }
            }
            "jumprelu" => {
                let u = product(j) + t("b_enc")[j];
                if u > t("threshold")[j] { u.max(0.0) } else { 0.0 }
            }
            "topk" => (product(j) + t("b_enc")[j]) * if rescale { norm(j) } else { 1.0 },
            _ => (product(j) + t("b_enc")[j]).max(0.0),
        })
        .collect();
    if architecture == "topk" {
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|a, b| z[*b].total_cmp(&z[*a]));
        order[3..].iter().for_each(|j| z[*j] = 0.0);
        z.iter_mut().for_each(|z| *z = z.max(0.0));
    }
    let back = |c: usize| {
        let part = |j: usize| z[j] / if rescale { norm(j) } else { 1.0 } * t("W_dec")[j * p + c];
        t("b_dec")[c] + (0..m).map(part).sum::<f64>()
    };
    (z.clone(), (0..p).map(back).collect())
}

#[test]
fn codes_are_those_of_the_documented_encoders() {
    let folder = TempDir::new().unwrap();
    let of = Stream::new(9, 1);
    let x: Vec<f64> = (0..60 * 6).map(|i| of.normal(i as u64)).collect();
    for (architecture, centred, rescale) in [
        ("standard", true, false),
        ("standard", false, false),
        ("topk", true, false),
        ("topk", false, true),
        ("topk", true, true),
        ("jumprelu", true, false),
        ("jumprelu", false, false),
        ("gated", true, false),
        ("gated", false, false),
    ] {
        let tensors = made(architecture);
        let mut cfg = json!({"architecture": architecture, "apply_b_dec_to_input": centred});
        if architecture == "topk" {
            cfg["k"] = json!(3);
            cfg["rescale_acts_by_decoder_norm"] = json!(rescale);
        }
        written(folder.path(), &tensors, &cfg);
        let model = read(folder.path()).unwrap();
        let codes = encode(&model, &x);
        let back = model.decode_to_vec(&Rows::from_slice(&codes, 9).unwrap(), &on_threads(1)).unwrap();
        for i in 0..60 {
            let (z, row) = documented(architecture, &tensors, &cfg, &x[i * 6..(i + 1) * 6]);
            let far = apart(&z, &codes[i * 9..(i + 1) * 9]).max(apart(&row, &back[i * 6..(i + 1) * 6]));
            assert!(far < 1e-12, "{architecture} {centred} {rescale}: {far:e}");
        }
    }
}

#[test]
fn older_configurations_are_read() {
    let folder = TempDir::new().unwrap();
    let mut tensors = made("standard");
    tensors.insert("scaling_factor", (vec![9], vec![1.0; 9]));
    let cfg = json!({"activation_fn_str": "topk", "activation_fn_kwargs": {"k": 3}, "normalize_activations": null,
        "d_in": 6, "d_sae": 9, "dtype": "torch.float32"});
    written(folder.path(), &tensors, &cfg);
    let model = read(folder.path()).unwrap();
    assert_eq!(model.settings()["activation"], "topk");
    assert_eq!(model.settings()["l0"], 3);
}

#[test]
fn unsupported_configurations_and_tensors_are_refused() {
    let folder = TempDir::new().unwrap();
    let (place, tensors) = (folder.path().join("sae"), made("standard"));
    let message = |tensors: &BTreeMap<&'static str, (Vec<usize>, Vec<f64>)>, cfg: Value| {
        written(&place, tensors, &cfg);
        read(&place).unwrap_err().to_string()
    };
    for (cfg, words) in [
        (json!({"architecture": "topk"}), "has no k"),
        (json!({"activation_fn_str": "topk"}), "has no k"),
        (json!({"architecture": "topk", "k": 10}), "it has 9 units, but k in cfg.json is 10"),
        (json!({"architecture": "transcoder"}), "its architecture is 'transcoder'"),
        (json!({"activation_fn": "tanh-relu"}), "its activation_fn is 'tanh-relu'"),
        (json!({"normalize_activations": "layer_norm"}), "its normalize_activations is \"layer_norm\""),
        (json!({"normalize_activations": true}), "its normalize_activations is true"),
        (json!({"reshape_activations": "hook_z"}), "its reshape_activations is \"hook_z\""),
        (json!({"hook_name": "blocks.1.attn.hook_z"}), "whose activations are reshaped"),
        (json!({"rescale_acts_by_decoder_norm": true}), "rescale_acts_by_decoder_norm is true"),
        (json!({"architecture": "jumprelu"}), "has no tensor threshold"),
        (json!({"d_sae": 10}), "d_sae in cfg.json is 10"),
    ] {
        let error = message(&tensors, cfg.clone());
        assert!(error.contains(words), "{cfg}: {error}");
    }
    let mut more = tensors.clone();
    more.insert("scaling_factor", (vec![9], vec![2.0; 9]));
    assert!(message(&more, json!({})).contains("has a tensor scaling_factor"));
    let mut broken = tensors.clone();
    broken.get_mut("b_enc").unwrap().1[2] = f64::NAN;
    assert!(message(&broken, json!({})).contains("entry 2 of its tensor b_enc"));
    let mut short = tensors.clone();
    short.insert("b_enc", (vec![8], vec![0.0; 8]));
    assert!(message(&short, json!({})).contains("b_enc has the shape [8]"));
    std::fs::write(place.join("sae_weights.safetensors"), b"PK").unwrap();
    assert!(read(&place).unwrap_err().to_string().contains("not a safetensors file"));
    std::fs::write(place.join("cfg.json"), b"{").unwrap();
    assert!(read(&place).unwrap_err().to_string().contains("not JSON"));
    std::fs::remove_file(place.join("sae_weights.safetensors")).unwrap();
    assert!(read(&place).unwrap_err().to_string().contains("has no sae_weights.safetensors"));
    std::fs::write(place.join("ae.pt"), b"PK").unwrap();
    for path in [place.clone(), place.join("ae.pt")] {
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("pickled") && error.contains("save_model"), "{error}");
    }
    // Writing: another method, a file that exists, numbers that overflow in half precision.
    let (model, x) = trained(Activation::Relu);
    let pca = unmix::Pca::default().fit(&mut Rows::from_slice(&x, 32).unwrap(), &Run::default()).unwrap();
    let error = export(&pca, &place, Export::default()).unwrap_err().to_string();
    let words = "exporting a model of pca to SAELens is not possible: it is not a sparse autoencoder";
    assert!(error.starts_with(words), "{error}");
    let error = export(&model, &place, Export::default()).unwrap_err();
    assert!(error.to_string().contains("already exists"), "{error}");
    assert!(matches!(error, unmix::Error::Exists { path } if path == place.join("cfg.json")));
    let large: Vec<f64> = x.iter().map(|x| 1e7 * x).collect();
    let spec = SparseAutoencoder { n_components: Some(8), max_epochs: 1, ..Default::default() };
    let half = Export { dtype: Some(Precision::Float16), force: true };
    let error = export(&fit(&spec, &large, 32, 0), &place, half).unwrap_err().to_string();
    assert!(error.contains("overflows in float16") && !error.contains("cannot be read"), "{error}");
}
