//! Sparse autoencoders on the command line: their evaluation, and folders of SAELens.

use crate::folder::Folder;
use unmix::data::write_npy;
use unmix::{Model, datasets};

#[test]
fn units_are_evaluated_and_models_are_exported_and_imported() {
    let b = Folder::new();
    let made = datasets::sparse_codes((500, 8, 12), 0.15, 0.0, 2).unwrap();
    write_npy(&b.path("x.npy"), made.x.as_slice(), &[8]).unwrap();
    let fitted =
        b.ok("fit sae x.npy -k 16 --set max_epochs=3 --set activation=batch-topk -q -o m.safetensors").out;
    for words in
        ["FVU (fraction of variance unexplained) 0.", "L0 (active units per row) ", " dead units of 16"]
    {
        assert!(fitted.contains(words), "{words}: {fitted}");
    }
    let l1 = b.run("fit sae x.npy -k 16 --set activation=l1");
    assert!(l1.code == 2 && l1.err.contains("with an l1 penalty is 'relu'"), "{}", l1.err);
    let weight = b.run("fit sae x.npy -k 16 --set alpha=0.1 -o no.safetensors");
    assert!(weight.code == 1 && weight.err.contains("activation='topk' has no penalty"), "{}", weight.err);
    assert!(weight.err.contains("set l0") && !b.path("no.safetensors").exists(), "{}", weight.err);
    let summary = b.ok("score m.safetensors x.npy --summary -q").out;
    for words in [
        "mean squared distance from the reconstruction",
        "L0 (active",
        "FVU (fraction",
        "FVU of PCA of these rows, 2 components",
        "FVU of OMP",
        "dead units",
        "density of the units (lowest, median, highest)",
        "shrinkage",
        "near-duplicates",
    ] {
        assert!(summary.contains(words), "{words}: {summary}");
    }
    assert!(!summary.contains("2048 rows"), "{summary}");
    b.ok("export m.safetensors -o folder --to saelens");
    b.ok("import folder -o back.safetensors");
    b.ok("encode m.safetensors x.npy -o a.npy");
    b.ok("encode back.safetensors x.npy -o b.npy");
    assert_eq!(b.read("a.npy"), b.read("b.npy"));
    assert!(Model::load(&b.path("back.safetensors")).unwrap().report().run.invocation.is_some());
    b.ok("show back.safetensors");
    b.ok("report back.safetensors x.npy -o page.html");
    // An imported model states no densities: those of the page are counted from the rows.
    let imported = String::from_utf8(b.read("page.html")).unwrap();
    assert!(imported.contains("id=\"units\"") && imported.contains("density of each unit"));
    // Cards of units: the strongest rows by their labels, with those of the rows around them.
    b.write("words.txt", {
        // Words and punctuation marks: a list, not a table.
        let line = |i: usize| if i % 7 == 3 { [",\n", "\"\n"][i % 2].into() } else { format!("w{i}x\n") };
        (0..500).map(line).collect::<String>()
    });
    b.ok("report m.safetensors x.npy --color words.txt -o words.html");
    let page = String::from_utf8(b.read("words.html")).unwrap();
    let units = page.split("<section id=\"units\">").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(units.contains("density of each unit") && units.contains("most used"));
    let card = units.split("<ol start=\"1\">").nth(1).unwrap();
    let row: usize =
        card.split("<b title=\"Row ").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    let named = |i: usize| if i % 7 == 3 { [",", "&quot;"][i % 2].to_string() } else { format!("w{i}x") };
    assert!(card.contains(&format!(">{}</b>", named(row))), "{card}");
    let neighbour = if row > 0 { row - 1 } else { row + 1 };
    assert!(card.contains(&format!("{} ", named(neighbour))), "{card}");
    let model = Model::load(&b.path("m.safetensors")).unwrap();
    let codes =
        model.encode_to_vec(&unmix::Rows::from_slice(made.x.as_slice(), 8).unwrap(), &unmix::Run::default());
    let codes = codes.unwrap();
    let largest = |j: usize| codes.iter().skip(j).step_by(16).fold(0.0f64, |m, x| m.max(*x));
    assert!((0..16).any(|j| codes[row * 16 + j] > 0.0 && codes[row * 16 + j] == largest(j)));
    let again = b.run("export m.safetensors -o folder --to saelens");
    assert!(again.code == 1 && again.err.contains("already exists"), "{}", again.err);
    assert!(again.err.contains("or add --force to replace it"), "{}", again.err);
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
