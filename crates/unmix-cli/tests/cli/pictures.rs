//! Models of pictures that are applied to pictures which are read in another way.

use crate::folder::{Folder, read_npy};
use unmix_io::write_png;

/// Four pictures of 12 x 16 pixels of low contrast, so that parts of them are not clipped.
fn photos(b: &Folder) {
    std::fs::create_dir_all(b.path("photos")).unwrap();
    let draws = unmix::internal::num::random::Stream::new(8, 0);
    for i in 0..4 {
        let pixels: Vec<f64> = (0..192).map(|j| 0.3 + 0.4 * draws.uniform(192 * i + j)).collect();
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

/// The codes of the patches of pictures under a model of all patches of 4 x 4 pixels, and those of a folder or file of pictures.
fn codes(b: &Folder, model: &str, pictures: &str) -> Vec<f64> {
    b.ok(&format!("encode {model} {pictures} --patches 4x4 --stride 4 -o codes.npy"));
    read_npy(&b.path("codes.npy")).0
}

#[test]
fn reconstructed_patches_are_reassembled_to_pictures() {
    let b = Folder::new();
    photos(&b);
    b.ok("fit pca photos --patches 4x4 -k 16 -o all.safetensors");
    b.ok("fit pca photos --patches 4x4 -k 3 -o few.safetensors");
    // All components reconstruct the patches, and overlapping ones agree: the pictures are those that were read.
    for options in ["", " --stride 2", " --padding 3 --stride 1"] {
        let made = b.ok(&format!("reconstruct all.safetensors photos --patches 4x4{options} -o same/"));
        assert!(made.err.contains("4 pictures in same/"), "{}", made.err);
        for name in ["p0.png", "p3.png"] {
            assert_eq!(
                b.read(&format!("same/{name}")),
                b.read(&format!("photos/{name}")),
                "{options}: {name}"
            );
        }
    }
    // One picture may be written to a file.
    let one = b.ok("reconstruct all.safetensors photos/p1.png --patches 4x4 -o one.png");
    assert!(one.err.contains("1 picture, one.png; 0.00 % of its pixels"), "{}", one.err);
    assert_eq!(b.read("one.png"), b.read("photos/p1.png"));
    let kept = b.run("reconstruct all.safetensors photos --patches 4x4 -o one.png");
    assert_eq!(kept.code, 2, "{}", kept.err);
    assert!(
        kept.err.contains(
            "4 pictures cannot be written to the single file one.png; give a folder, as in -o one/"
        )
    );
    let same = b.run("reconstruct all.safetensors photos/p1.png --patches 4x4 -o photos/p1.png");
    assert!(same.code == 1 && same.err.contains("is read by the same command"), "{}", same.err);
    // Without a component, its codes are those of rows without it; pixels are rounded to 1/255.
    b.ok("reconstruct few.safetensors photos --patches 4x4 --exclude 1 -o without/");
    let (before, after) = (codes(&b, "few.safetensors", "photos"), codes(&b, "few.safetensors", "without"));
    let near = |j: usize, want: &dyn Fn(f64) -> f64| {
        let pairs = before.iter().zip(&after).skip(j).step_by(3);
        pairs.map(|(x, y)| (y - want(*x)).abs()).fold(0.0, f64::max)
    };
    assert!(near(0, &|x| x) < 0.02 && near(2, &|x| x) < 0.02 && near(1, &|_| 0.0) < 0.02);
    assert!(before.iter().skip(1).step_by(3).any(|x| x.abs() > 0.15), "the component was there");
}

#[test]
fn patches_that_leave_pixels_out_give_a_note_and_those_drawn_at_random_are_refused() {
    let b = Folder::new();
    photos(&b);
    b.ok("fit pca photos --patches 5x5 -k 23 -o m.safetensors");
    let edges = b.ok("reconstruct m.safetensors photos --patches 5x5 -o edges/");
    // 10 x 15 of 12 x 16 pixels.
    assert!(
        edges.err.contains("21.88 % of the pixels, at the right or lower edges, are in no patch"),
        "{}",
        edges.err
    );
    assert!(edges.err.contains("with --stride 1"), "{}", edges.err);
    assert_eq!(b.read("edges/p2.png"), b.read("photos/p2.png"));
    let whole = b.ok("reconstruct m.safetensors photos --patches 5x5 --stride 1 -o whole/");
    assert!(!whole.err.contains("edges"), "{}", whole.err);
    for (options, words) in [
        (
            "--number 20",
            "making pictures of patches is not possible: patches drawn at random do not cover the pictures",
        ),
        ("--stride 6", "give --stride 5 or less"),
        ("--rows :3", "leave out --rows"),
    ] {
        let refused = b.run(&format!("reconstruct m.safetensors photos --patches 5x5 {options} -o no/"));
        assert_eq!(refused.code, 1, "{options}: {}", refused.err);
        assert!(refused.err.contains(words), "{options}: {}", refused.err);
    }
    assert!(!b.files().contains(&"no".into()), "nothing is written");
    // Standardised patches get their own mean and deviation again.
    b.ok("fit pca photos --patches 4x4 --normalise -k 16 -o n.safetensors");
    b.ok("reconstruct n.safetensors photos --patches 4x4 --normalise -o normal/");
    assert_eq!(b.read("normal/p0.png"), b.read("photos/p0.png"));
}

#[test]
fn only_pictures_are_written_as_pictures() {
    let b = Folder::new();
    b.both("d", 20, 4);
    b.ok("fit pca d.npy -k 2 -o m.safetensors");
    for command in ["reconstruct m.safetensors d.npy -o d.png", "encode m.safetensors d.npy -o d.jpg"] {
        let refused = b.run(command);
        assert_eq!(refused.code, 2, "{command}: {}", refused.err);
        assert!(refused.err.contains("only 'unmix reconstruct' of pictures writes them"), "{}", refused.err);
    }
    photos(&b);
    b.ok("fit pca photos -k 3 -o whole.safetensors");
    b.ok("reconstruct whole.safetensors photos/p0.png -o p0.png");
    assert!(b.files().contains(&"p0.png".into()));
}

#[test]
fn one_picture_and_pictures_of_another_size_are_refused_with_the_option_for_patches() {
    let b = Folder::new();
    photos(&b);
    for command in ["fit pca photos/p0.png", "fit ica photos/p0.png -k 2"] {
        let refused = b.run(command);
        assert_eq!(refused.code, 1, "{command}: {}", refused.err);
        assert_eq!(
            refused.err,
            "unmix: a fit to one picture is not possible: a whole picture is one row, and a fit needs several; cut it into patches, each a row, as \
             with --patches 8x8, or give more pictures\n"
        );
    }
    b.ok("fit pca photos/p0.png --patches 4x4 -k 3 -o patches.safetensors");
    b.ok("fit pca photos -k 2 -o whole.safetensors");
    for (command, words) in [
        (
            "encode patches.safetensors photos",
            "the model was fitted to patches of 4x4 pixels with 16 numbers, and ",
        ),
        ("encode patches.safetensors photos", "is read as whole pictures with 192; add --patches 4x4"),
        ("reconstruct patches.safetensors photos/p0.png -o x.png", "add --patches 4x4"),
        ("score whole.safetensors photos --patches 5x5", "whole pictures with 192 numbers"),
        ("report whole.safetensors photos --patches 5x5", "with 25; leave out --patches"),
        ("encode patches.safetensors photos --patches 5x5", "add --patches 4x4"),
    ] {
        let refused = b.run(command);
        assert_eq!((refused.code, refused.out.as_str()), (1, ""), "{command}: {}", refused.err);
        assert!(refused.err.contains(words), "{command}: {}", refused.err);
    }
}
