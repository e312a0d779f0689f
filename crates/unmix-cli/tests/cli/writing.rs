//! What a fit and other commands write: with a time limit, after an error, without components, through links.

use crate::folder::Folder;
use unmix::Model;

#[test]
fn a_fit_ends_at_its_time_limit_with_a_message() {
    let b = Folder::new();
    b.both("d", 4000, 12);
    let ended = b.ok("fit ica d.npy --max-seconds 0.000001 -o m.safetensors");
    assert!(ended.err.contains("it ended with 'time'"), "{}", ended.err);
    assert_eq!(Model::load(&b.path("m.safetensors")).unwrap().report().outcome.name(), "time");
    assert_eq!(b.run("fit ica d.npy --max-seconds 0.000001 --strict -o s.safetensors").code, 1);
    assert_eq!(
        Model::load(&b.path("s.safetensors")).unwrap().report().outcome.name(),
        "time",
        "nothing was there"
    );
    b.ok("fit pca d.npy -k 2 -o keep.safetensors");
    let before = b.read("keep.safetensors");
    let kept = b.run("fit ica d.npy --max-seconds 0.000001 --strict -o keep.safetensors");
    assert_eq!(kept.code, 1);
    let want = "it ended with 'time'";
    assert!(
        kept.err.contains(want) && kept.err.contains("does not replace the existing file"),
        "{}",
        kept.err
    );
    assert!(b.read("keep.safetensors") == before);
    let forced = b.run("fit ica d.npy --max-seconds 0.000001 --strict --force -o keep.safetensors");
    assert!(forced.code == 1 && b.read("keep.safetensors") != before, "{}", forced.err);
    assert_eq!(b.run("fit ica d.npy --max-seconds 0").code, 2);
}

#[test]
fn progress_without_a_terminal_is_a_line_of_the_iteration() {
    let b = Folder::new();
    b.both("d", 3000, 6);
    // The first line comes after three seconds.
    let fit = "fit neural-pca d.npy -k 3 --set solver=adam --set max_epochs=10000000 --max-seconds 4 -o m.safetensors";
    let ran = b.ok(fit);
    let lines: Vec<&str> = ran.err.lines().filter(|line| line.contains("epoch ")).collect();
    // The number of the epoch, the largest one, and the elapsed time.
    let line = lines.iter().find(|line| line.contains(" of at most 10000000, "));
    assert!(line.is_some_and(|line| line.ends_with(" s")), "{}", ran.err);
    assert!(!ran.err.contains("rows") && !ran.err.contains("left"), "no passes of an epoch: {}", ran.err);
    assert!(!b.ok(&format!("{fit} --quiet")).err.contains("epoch 1"));
}

#[test]
fn nothing_is_printed_before_the_first_row_is_computed() {
    let b = Folder::new();
    b.both("d", 30, 3);
    b.both("narrow", 30, 2);
    b.ok("fit pca d.npy -k 2 -o m.safetensors");
    b.write("nan.csv", "1,2,3\nNA,2,3\n");
    for verb in ["encode", "reconstruct", "score", "score --quality"] {
        for format in ["", " --format npy"] {
            for input in ["narrow.npy", "nan.csv"] {
                let failed = b.run(&format!("{verb} m.safetensors {input}{format}"));
                assert_eq!(
                    (failed.code, failed.bytes.len()),
                    (1, 0),
                    "{verb} {input}{format}: {}",
                    failed.out
                );
            }
        }
    }
}

#[test]
fn a_model_without_components_gives_a_warning() {
    let b = Folder::new();
    b.both("d", 30, 3);
    b.ok("fit pca d.npy -k 2 -o m.safetensors");
    // A model with 0 components is valid, but replaces a model only on request.
    let none = b.ok("fit pca d.npy -k 0 -o m.safetensors --force");
    assert!(none.err.contains("the model has 0 components: it keeps only the mean"), "{}", none.err);
    assert_eq!(Model::load(&b.path("m.safetensors")).unwrap().n_components(), 0);
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_followed_and_read_only_files_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let b = Folder::new();
    b.both("d", 30, 3);
    std::fs::create_dir(b.path("there")).unwrap();
    b.ok("fit pca d.npy -k 1 -o there/old.safetensors");
    for (link, target) in [("old", "old.safetensors"), ("new", "new.safetensors"), ("codes", "codes.npy")] {
        symlink(format!("there/{target}"), b.path(link)).unwrap();
    }
    b.ok("fit pca d.npy -k 2 -o old");
    b.ok("fit pca d.npy -k 2 -o new");
    b.ok("encode new d.npy --format npy -o codes");
    for (link, target) in [("old", "old.safetensors"), ("new", "new.safetensors"), ("codes", "codes.npy")] {
        assert!(std::fs::symlink_metadata(b.path(link)).unwrap().is_symlink(), "{link}");
        assert!(b.path("there").join(target).is_file(), "{target}");
    }
    let old = b.path("there/old.safetensors");
    assert_eq!(Model::load(&old).unwrap().n_components(), 2);
    let before = b.read("there/old.safetensors");
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o444)).unwrap();
    for command in ["fit pca d.npy -k 1 -o there/old.safetensors", "fit pca d.npy -k 1 -o old --force"] {
        let refused = b.run(command);
        assert_eq!(refused.code, 1);
        assert!(refused.err.contains("it is read-only; make it writable"), "{}", refused.err);
    }
    assert!(b.read("there/old.safetensors") == before);
}
