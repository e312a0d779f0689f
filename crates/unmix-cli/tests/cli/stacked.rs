//! Stacks of rectified factor networks on the command line: lists of settings, codes, the page, refusals.

use crate::folder::{Folder, read_npy};
use unmix::Model;
use unmix::method::stacked_rfn::layers;

#[test]
fn a_stack_is_fitted_encoded_and_shown() {
    let b = Folder::new();
    b.both("d", 120, 6);
    let fit = "fit stacked-rfn d.npy --set n_components=[7,4] --set max_iter=[20,10] --set normalize=std";
    b.ok(&format!("{fit} --seed 3 -q"));
    let model = Model::load(&b.path("d.stacked-rfn.safetensors")).unwrap();
    let all = layers(&model).unwrap();
    assert_eq!(all.iter().map(|m| (m.n_features(), m.n_codes())).collect::<Vec<_>>(), [(6, 7), (7, 4)]);
    assert_eq!(all.iter().map(|m| m.report().n_iter).collect::<Vec<_>>(), [20, 10]);
    // The lowest layer is the network that is fitted alone.
    b.ok("fit rfn d.npy -k 7 --set max_iter=20 --set normalize=std --seed 3 -q");
    let alone = Model::load(&b.path("d.rfn.safetensors")).unwrap();
    assert_eq!(all[0].tensors(), alone.tensors());
    b.ok("encode d.stacked-rfn.safetensors d.npy -o codes.npy -q");
    let (codes, shape) = read_npy(&b.path("codes.npy"));
    assert_eq!(shape, [120, 4]);
    assert!(codes.iter().all(|y| *y >= 0.0) && codes.contains(&0.0));
    b.ok("report d.stacked-rfn.safetensors d.npy -o page.html");
    let page = std::fs::read_to_string(b.path("page.html")).unwrap();
    assert!(page.contains("<section id=\"stack\">") && page.contains("objective of layer 1"));
    // A number is one layer.
    b.ok("fit stacked-rfn d.npy -k 3 --set max_iter=5 -o one.safetensors -q");
    assert_eq!(layers(&Model::load(&b.path("one.safetensors")).unwrap()).unwrap().len(), 1);
}

#[test]
fn bad_stacks_are_refused_in_one_sentence() {
    let b = Folder::new();
    b.both("d", 60, 4);
    for (settings, words) in [
        ("--set n_components=[4,3] --set e_step=cascade", "choose e_step='plain'"),
        ("--set n_components=[4,3] --set max_iter=[5,5,5]", "one for each of 2 layers"),
        ("--set n_components=[]", "-k "),
        ("--set n_components=[4,3000000000] --set max_iter=3", "layer 1 of stacked-rfn"),
        (
            "--set n_components=[4,3] --set max_iter=3 --set prior_mean=[0,-50] --set prior_cov=[1,0.01]",
            "layer 1",
        ),
    ] {
        let run = b.run(&format!("fit stacked-rfn d.npy {settings}"));
        assert!(run.code != 0 && run.err.contains(words), "{settings}: {}", run.err);
        assert_eq!(run.err.trim().lines().count(), 1, "{settings}: {}", run.err);
    }
}
