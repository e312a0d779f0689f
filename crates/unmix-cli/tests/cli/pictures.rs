//! Models of pictures that are applied to pictures which are read in another way.

use crate::folder::Folder;
use unmix_io::write_png;

/// Four pictures of 12 x 16 pixels.
fn photos(b: &Folder) {
    std::fs::create_dir_all(b.path("photos")).unwrap();
    let draws = unmix::internal::num::random::Stream::new(8, 0);
    for i in 0..4 {
        let pixels: Vec<f64> = (0..192).map(|j| draws.uniform(192 * i + j)).collect();
        write_png(&b.path(&format!("photos/p{i}.png")), &pixels, &[12, 16]).unwrap();
    }
}

#[test]
fn pictures_that_are_read_in_another_way_than_those_of_the_fit_give_a_warning() {
    let b = Folder::new();
    photos(&b);
    b.ok("fit pca photos --patches 4x4 --normalise -k 3 -o m.safetensors");
    let row = "patches of 4x4 pixels, each standardised";
    assert!(b.ok("show m.safetensors").out.contains(&format!("Pictures read as  {row}")));
    assert!(b.ok("show m.safetensors --json").out.contains(&format!("\"pictures\": \"{row}\"")));
    let said = "cannot be compared";
    let same = b.ok("score m.safetensors photos --patches 4x4 --normalise --summary");
    assert!(!same.err.contains(said), "{}", same.err);
    // Which patches are read does not change what a row is.
    let closer = b.ok("score m.safetensors photos --patches 4x4 --normalise --stride 1 --summary");
    assert!(!closer.err.contains(said), "{}", closer.err);
    let plain = b.ok("score m.safetensors photos --patches 4x4 --summary");
    for words in [
        "pictures are read as patches of 4x4 pixels, and those of the fit were read as patches of 4x4 pixels, each standardised",
        said,
    ] {
        assert!(plain.err.contains(words), "{}", plain.err);
    }
    // The options are those given.
    assert_ne!(plain.out, same.out);
    let long = b.ok("encode m.safetensors photos --patches 2x8 --normalise -o codes.npy");
    assert!(long.err.contains("read as patches of 2x8 pixels, each standardised"), "{}", long.err);
    let quiet = b.ok("encode m.safetensors photos --patches 2x8 --normalise -o codes.npy --quiet");
    assert!(!quiet.err.contains(said), "{}", quiet.err);
    // Of an array nothing is known.
    b.both("d", 20, 16);
    assert!(!b.ok("encode m.safetensors d.npy -o codes.npy").err.contains(said));
    b.ok("fit pca d.npy -k 3 -o array.safetensors");
    assert!(!b.ok("encode array.safetensors photos --patches 4x4 -o codes.npy").err.contains(said));
}

#[test]
fn merged_models_of_pictures_that_were_read_in_different_ways_give_a_warning() {
    let b = Folder::new();
    photos(&b);
    b.ok("fit pca photos --patches 4x4 --normalise -k 3 --sums -o a.safetensors");
    b.ok("fit pca photos --patches 4x4 -k 3 --sums -o b.safetensors");
    assert!(b.ok("merge a.safetensors b.safetensors -o c.safetensors").err.contains("cannot be compared"));
    assert!(!b.ok("merge a.safetensors a.safetensors -o c.safetensors").err.contains("cannot be compared"));
    let applied = b.ok("encode c.safetensors photos --patches 4x4 -o codes.npy");
    assert!(applied.err.contains("cannot be compared"), "{}", applied.err);
}
