//! Sparse autoencoders on the command line: their evaluation, and folders of SAELens.

use crate::bench::Bench;
use unmix::data::write_npy;
use unmix::{Model, datasets};

#[test]
fn units_are_evaluated_and_models_go_to_folders_and_back() {
    let b = Bench::new();
    let made = datasets::sparse_codes((500, 8, 12), 0.15, 0.0, 2).unwrap();
    write_npy(&b.path("x.npy"), made.x.as_slice(), &[8]).unwrap();
    b.ok("fit sae x.npy -k 16 --set max_epochs=3 --set activation=batch-topk -q -o m.safetensors");
    let said = b.ok("score m.safetensors x.npy --summary -q").out;
    for words in [
        "mean squared error",
        "L0 (active",
        "FVU (fraction",
        "FVU of PCA of these rows, 2 components",
        "FVU of OMP",
        "dead units",
        "shrinkage",
        "near-duplicates",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("2048 rows"), "{said}");
    b.ok("export m.safetensors -o folder --to saelens");
    b.ok("import folder -o back.safetensors");
    b.ok("encode m.safetensors x.npy -o a.npy");
    b.ok("encode back.safetensors x.npy -o b.npy");
    assert_eq!(b.read("a.npy"), b.read("b.npy"));
    assert!(Model::load(&b.path("back.safetensors")).unwrap().report().run.invocation.is_some());
    b.ok("show back.safetensors");
    b.ok("report back.safetensors x.npy -o page.html");
    let again = b.run("export m.safetensors -o folder --to saelens");
    assert!(again.code == 1 && again.err.contains("already exists"), "{}", again.err);
    b.ok("export m.safetensors -o folder --to saelens --dtype bfloat16 --force");
    b.ok("import folder -o narrow.safetensors");
    let other = b.run("export m.safetensors -o folder --to pytorch");
    assert!(other.code == 2 && other.err.contains("saelens"), "{}", other.err);
    std::fs::write(b.path("ae.pt"), b"PK").unwrap();
    let pickled = b.run("import ae.pt -o no.safetensors");
    assert!(pickled.code == 1 && pickled.err.contains("pickled"), "{}", pickled.err);
    b.ok("fit pca x.npy -q -o p.safetensors");
    let pca = b.run("export p.safetensors -o folder --to saelens");
    assert!(pca.code == 1 && pca.err.contains("not a sparse autoencoder"), "{}", pca.err);
}
