//! Trained layers on the command line: dictionary and codes from files, a fit ended by its time limit, duality gaps.

use crate::folder::Folder;
use unmix::data::write_npy;
use unmix::{Model, datasets};

#[test]
fn a_network_is_trained_from_files_and_resumed_after_a_time_limit() {
    let b = Folder::new();
    let made = datasets::sparse_codes((400, 8, 12), 0.15, 0.0, 2).unwrap();
    write_npy(&b.path("x.npy"), made.x.as_slice(), &[8]).unwrap();
    write_npy(&b.path("atoms.npy"), made.atoms.as_slice(), &[8]).unwrap();
    write_npy(&b.path("z.npy"), made.codes.as_slice(), &[12]).unwrap();
    let fit =
        "fit lista x.npy --dictionary atoms.npy --set n_layers=3 --set batch_size=40 --set max_epochs=4 -q";
    b.ok(&format!("{fit} --codes z.npy -o known.safetensors"));
    b.ok(&format!("{fit} -o lasso.safetensors"));
    let (known, lasso) =
        (Model::load(&b.path("known.safetensors")), Model::load(&b.path("lasso.safetensors")));
    let (known, lasso) = (known.unwrap(), lasso.unwrap());
    assert!(known.report().diagnostics["by_layer"].get("code_error").is_some());
    assert!(lasso.report().diagnostics["by_layer"].get("code_error").is_none());
    assert_ne!(known.tensors(), lasso.tensors());
    // Codes in compressed sparse rows.
    b.ok("encode lasso.safetensors x.npy -o codes.npz");
    b.ok("decode lasso.safetensors codes.npz -o back.npy");
    b.ok("reconstruct lasso.safetensors x.npy -o again.npy");
    assert_eq!(b.read("back.npy"), b.read("again.npy"));
    let quality = b.ok("score lasso.safetensors x.npy --quality").out;
    assert!(quality.starts_with("objective,gap,n_nonzero,squared_error"), "{quality:.200}");
    // The error of each layer beside ISTA and FISTA, the gap, and what was learned.
    for (model, caption, error) in [
        ("known", "error of the codes after each layer", "error, dB over 3 layers: network from "),
        ("lasso", "objective after each layer", "objective over 3 layers: network from "),
    ] {
        b.ok(&format!("report {model}.safetensors x.npy -o {model}.html"));
        let page = String::from_utf8(b.read(&format!("{model}.html"))).unwrap();
        let layers =
            page.split("<section id=\"layers\">").nth(1).unwrap().split("</section>").next().unwrap();
        for words in [
            caption,
            error,
            "duality gap after each layer",
            "log10 of the gap over 3 layers: network from ",
            "step of each layer",
            "step over 3 layers: network from ",
            "threshold of each layer",
            "threshold over 3 layers: network from ",
        ] {
            assert!(layers.contains(words), "{model}, {words}: {layers}");
        }
        let curves = |name: &str| layers.matches(&format!("; {name} from ")).count();
        assert_eq!((curves("FISTA"), curves("ISTA")), (2, 2), "{model}: {layers}");
    }
    // A time limit ends the fit; the same command resumes it, to the same bits.
    let parts =
        format!("{fit} --codes z.npy -o parts.safetensors --checkpoint a.checkpoint --every 0.001 --resume");
    b.ok(&format!("{parts} --max-seconds 0.000001"));
    assert!(b.path("a.checkpoint").exists());
    b.ok(&parts);
    assert_eq!(Model::load(&b.path("parts.safetensors")).unwrap().tensors(), known.tensors());
    // A model as initial values, and as the dictionary.
    b.ok(&format!("{fit} --codes z.npy --init known.safetensors -o more.safetensors"));
    b.ok("fit lista x.npy --dictionary known.safetensors --set max_epochs=0 -q -o start.safetensors");
    let load = |name: &str| Model::load(&b.path(name)).unwrap();
    let (more, start) = (load("more.safetensors"), load("start.safetensors"));
    let ends = |model: &Model| {
        let losses = &model.report().objective;
        (losses[0], losses[losses.len() - 1])
    };
    // The loss continues from where that of the model ended.
    assert!(ends(&more).0 <= ends(&known).1 * (1.0 + 1e-12), "{:?} after {:?}", ends(&more), ends(&known));
    assert!(ends(&more).1 < ends(&known).1, "{:?} after {:?}", ends(&more), ends(&known));
    assert_eq!(start.tensor("components"), known.tensor("components"));
    let wide = b.run(&format!("{fit} --codes x.npy -o no.safetensors"));
    let said = "--codes must have 12 columns, one for each atom, got 400 x 8";
    assert!(wide.code == 1 && wide.err.contains(said), "{}", wide.err);
    let none = b.run("fit lista x.npy -o no.safetensors -q");
    assert!(none.code == 2 && none.err.contains("--dictionary FILE"), "{}", none.err);
    let other = b.run("fit sparse-coder x.npy --dictionary atoms.npy --codes z.npy -o no.safetensors -q");
    assert!(other.code == 2 && other.err.contains("codes"), "{}", other.err);
}

#[test]
fn codes_of_all_rows_follow_the_rows_that_are_selected() {
    let b = Folder::new();
    let made = datasets::sparse_codes((60, 8, 12), 0.15, 0.0, 2).unwrap();
    write_npy(&b.path("x.npy"), made.x.as_slice(), &[8]).unwrap();
    write_npy(&b.path("atoms.npy"), made.atoms.as_slice(), &[8]).unwrap();
    write_npy(&b.path("all.npy"), made.codes.as_slice(), &[12]).unwrap();
    write_npy(&b.path("some.npy"), &made.codes.as_slice()[12 * 10..12 * 50], &[12]).unwrap();
    write_npy(&b.path("few.npy"), &made.codes.as_slice()[..12 * 7], &[12]).unwrap();
    let fit = "fit lista x.npy --dictionary atoms.npy --rows 10:50 --set n_layers=2 --set max_epochs=2 -q";
    let [all, some] = ["all", "some"].map(|codes| {
        b.ok(&format!("{fit} --codes {codes}.npy -o m.safetensors"));
        Model::load(&b.path("m.safetensors")).unwrap()
    });
    assert_eq!(all.tensors(), some.tensors());
    let refused = b.run(&format!("{fit} --codes few.npy -o m.safetensors"));
    let words = "--codes must have one row for each of the 40 rows selected of x.npy, or for each of its 60 rows, got 7 rows";
    assert!(refused.code == 1 && refused.err.contains(words), "{}", refused.err);
}
