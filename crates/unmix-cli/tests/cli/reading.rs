//! Recordings, pictures, arrays and the standard input, read and written back.

use crate::folder::{Folder, read_npy};
use unmix::Model;
use unmix::data::write_npy;
use unmix_io::{write_png, write_wav};

#[test]
fn recordings_in_another_order_give_the_same_codes() {
    let b = Folder::new();
    let tone = |f: f64| (0..4000).map(|i| 0.8 * (f * f64::from(i)).sin()).collect::<Vec<f64>>();
    let (one, two) = (tone(0.11), tone(0.037));
    for (name, share) in [("mix1", 0.7), ("mix2", 0.2), ("mix3", 0.5)] {
        let mixed: Vec<f64> = one.iter().zip(&two).map(|(a, b)| share * a + (1.0 - share) * b).collect();
        write_wav(&b.path(&format!("{name}.wav")), 8000, &mixed).unwrap();
    }
    let one_channel = b.run("fit ica mix1.wav -o one.safetensors");
    assert!(
        one_channel.err.contains("one channel: there is nothing to separate; give one file for each"),
        "{}",
        one_channel.err
    );
    assert!(!b.ok("fit pca mix1.wav -o one.safetensors").err.contains("one channel"));
    let fitted = b.ok("fit pca mix1.wav mix2.wav mix3.wav -k 2 -o m.safetensors");
    assert!(!fitted.err.contains("one channel"), "{}", fitted.err);
    let names = Model::load(&b.path("m.safetensors")).unwrap().features().names.clone();
    assert_eq!(names, Some(["mix1", "mix2", "mix3"].map(String::from).to_vec()));
    b.ok("encode m.safetensors mix1.wav mix2.wav mix3.wav -o a.npy");
    let swapped = b.ok("encode m.safetensors mix3.wav mix1.wav mix2.wav -o b.npy");
    assert!(b.read("a.npy") == b.read("b.npy") && swapped.err.is_empty(), "{}", swapped.err);
    let missing = b.run("encode m.safetensors mix1.wav mix2.wav");
    assert_eq!(missing.code, 1);
    assert!(missing.err.contains("the model needs column 'mix3'"), "{}", missing.err);
    b.ok("encode m.safetensors mix1.wav mix2.wav mix3.wav -o sources/");
    // Both components reconstruct the channels with their amplitudes.
    b.ok("fit ica mix1.wav mix2.wav mix3.wav -k 2 -o all.safetensors");
    b.ok("reconstruct all.safetensors mix1.wav mix2.wav mix3.wav -o same/");
    b.ok("encode all.safetensors same/mix1.wav same/mix2.wav same/mix3.wav -o again.npy");
    b.ok("encode all.safetensors mix1.wav mix2.wav mix3.wav -o first.npy");
    let both = ["again.npy", "first.npy"].map(|name| read_npy(&b.path(name)).0);
    assert!(!both[0].is_empty() && both[0].len() == both[1].len());
    assert!(both[0].iter().zip(&both[1]).all(|(a, b)| (a - b).abs() < 1e-2));
    b.ok("reconstruct all.safetensors mix1.wav mix2.wav mix3.wav --exclude 0 -o clean/");
    b.ok("encode all.safetensors clean/mix1.wav clean/mix2.wav clean/mix3.wav -o without.npy");
    let (codes, _) = read_npy(&b.path("without.npy"));
    let spread = |i: usize| codes.iter().skip(i).step_by(2).fold(0.0f64, |m, x| m.max(x.abs()));
    assert!(spread(0) < 0.05 && spread(1) > 1.0, "{} {}", spread(0), spread(1));
    let refused = b.run("reconstruct all.safetensors mix1.wav mix2.wav mix3.wav -o ./");
    assert!(refused.code == 1 && refused.err.contains("is read by the same command"), "{}", refused.err);
    assert!(b.ok("reconstruct m.safetensors mix2.wav mix3.wav mix1.wav").out.starts_with("mix1,mix2,mix3\n"));
    for (i, name) in ["left", "right", "far"].iter().enumerate() {
        b.write(&format!("{name}.wav"), b.read(&format!("mix{}.wav", i + 1)));
    }
    let others = b.ok("encode m.safetensors left.wav right.wav far.wav -o c.npy");
    assert!(others.err.contains("they are used in the order given"), "{}", others.err);
    assert!(b.read("a.npy") == b.read("c.npy"));
    b.write("names.txt", "Fz\nCz\nPz\n");
    b.ok("fit pca mix1.wav mix2.wav mix3.wav -k 2 --names names.txt -o n.safetensors");
    assert_eq!(Model::load(&b.path("n.safetensors")).unwrap().features().names.as_ref().unwrap()[0], "Fz");
    let sound = b.run("encode m.safetensors mix1.wav mix2.wav mix3.wav -o src.wav");
    assert!(sound.code == 2 && sound.err.contains("give a folder, as in -o src/"), "{}", sound.err);
}

#[test]
fn reconstructed_images_keep_the_names_of_their_files() {
    let b = Folder::new();
    std::fs::create_dir(b.path("photos")).unwrap();
    // Stripes of four levels, and one pixel that differs.
    let picture = |i: usize| -> Vec<f64> {
        let level = [0.2, 0.4, 0.6, 0.8][i % 4];
        (0..48)
            .map(|at| {
                if at == i {
                    1.0
                } else if at % 8 < 4 {
                    level
                } else {
                    0.1
                }
            })
            .collect()
    };
    for i in 0..12 {
        write_png(&b.path(&format!("photos/p{i:02}.png")), &picture(i), &[6, 8]).unwrap();
    }
    b.ok("fit pca photos -k 11 -o m.safetensors");
    let whole = b.ok("reconstruct m.safetensors photos -o same/");
    assert!(whole.err.contains("12 pictures in"), "{}", whole.err);
    // All components reconstruct the images to one grey level.
    b.ok("encode m.safetensors photos -o a.npy");
    b.ok("encode m.safetensors same -o b.npy");
    let both = ["a.npy", "b.npy"].map(|name| read_npy(&b.path(name)).0);
    assert!(!both[0].is_empty() && both[0].len() == both[1].len());
    assert!(both[0].iter().zip(&both[1]).all(|(a, b)| (a - b).abs() < 0.02));
    b.ok("reconstruct m.safetensors photos --exclude 0 -o clean/");
    b.ok("encode m.safetensors clean -o c.npy");
    let (codes, _) = read_npy(&b.path("c.npy"));
    assert!(codes.iter().step_by(11).all(|x| x.abs() < 0.05));
    let refused = b.run("reconstruct m.safetensors photos -o photos/");
    assert!(refused.code == 1 && refused.err.contains("is read by the same command"), "{}", refused.err);
    let (before, after) = (b.read("photos/p03.png"), b.read("same/p03.png"));
    assert_eq!(before, after);
    b.ok("fit pca photos --patches 3x3 -k 2 -o patches.safetensors");
    let patches = b.run("reconstruct patches.safetensors photos -o out/");
    assert_eq!(patches.code, 1, "whole pictures for a model of patches: {}", patches.err);
    assert!(!b.files().contains(&"out".into()), "nothing is written");
}

#[test]
fn pictures_in_other_units_than_those_of_the_fit_are_refused_or_warned_about() {
    let b = Folder::new();
    std::fs::create_dir(b.path("photos")).unwrap();
    let level = |i: usize, j: usize| ((7 * i * i + 13 * j + i * j) % 200 + 40) as f64;
    for i in 0..12 {
        let pixels: Vec<f64> = (0..48).map(|j| level(i, j) / 255.0).collect();
        write_png(&b.path(&format!("photos/p{i:02}.png")), &pixels, &[6, 8]).unwrap();
    }
    let bytes: Vec<f64> = (0..12 * 48).map(|at| level(at / 48, at % 48)).collect();
    unmix::data::write_npy(&b.path("bytes.npy"), &bytes, &[6, 8]).unwrap();
    b.ok("fit pca bytes.npy -k 3 -o bytes.safetensors");
    b.ok("fit pca photos -k 3 -o photos.safetensors");
    for (verb, more) in [("encode", ""), ("reconstruct", ""), ("reconstruct", "-o out/"), ("score", "")] {
        let refused = b.run(&format!("{verb} bytes.safetensors photos {more}"));
        assert_eq!(refused.code, 1, "{verb}");
        assert!(refused.err.contains("pictures are read as 0 to 1"), "{verb}: {}", refused.err);
        assert!(refused.err.contains("divided by 255"), "{verb}: {}", refused.err);
    }
    assert!(!b.files().contains(&"out".into()), "nothing is written");
    let warned = b.ok("encode photos.safetensors bytes.npy -o codes.npy");
    assert!(warned.err.contains("if these are bytes, divide them by 255"), "{}", warned.err);
    // The same units: no warning.
    let same = b.ok("encode photos.safetensors photos -o codes.npy");
    assert!(same.err.is_empty(), "{}", same.err);
    assert!(b.ok("encode bytes.safetensors bytes.npy -o codes.npy").err.is_empty());
    // Means that numbers from 0 to 1 could have, but not these pictures: the pixels that would be clipped show it.
    let noise = unmix::internal::num::random::Stream::new(3, 0);
    let odd: Vec<f64> = (0..12 * 48).map(|at| 0.05 * noise.normal(at) - 0.9).collect();
    unmix::data::write_npy(&b.path("odd.npy"), &odd, &[6, 8]).unwrap();
    b.ok("fit pca odd.npy -k 1 -o odd.safetensors");
    let refused = b.run("reconstruct odd.safetensors photos -o far/");
    assert!(
        refused.code == 1 && refused.err.contains("of the pixels are far outside 0 to 1"),
        "{}",
        refused.err
    );
    assert!(!b.files().contains(&"far".into()), "nothing is written");
}

#[test]
fn standard_input_is_read_as_the_file_is() {
    let b = Folder::new();
    b.both("d", 30, 3);
    b.ok("fit pca d.csv -k 2 -o m.safetensors");
    let codes = b.ok("encode m.safetensors d.csv").out;
    for file in ["d.csv", "d.npy"] {
        let piped = b.run_with("encode m.safetensors -", &b.read(file));
        assert_eq!((piped.code, piped.out == codes), (0, true), "{file}: {}", piped.err);
    }
    let fitted = b.run_with("fit pca - -k 2", &b.read("d.csv"));
    assert_eq!(fitted.code, 0, "{}", fitted.err);
    assert_eq!(Model::load(&b.path("stdin.pca.safetensors")).unwrap().n_components(), 2);
    let shown = b.run_with("show -", &b.read("d.npy"));
    assert!(shown.code == 0 && shown.out.contains("rows               30"), "{}{}", shown.out, shown.err);
    // Text separated by blanks, as numpy.savetxt writes it.
    let blanks = String::from_utf8(b.read("d.csv")).unwrap().replace(',', " ");
    let piped = b.run_with("encode m.safetensors -", blanks.as_bytes());
    assert_eq!((piped.code, piped.out == codes), (0, true), "{}", piped.err);
    let nothing = b.run_with("fit pca -", b"");
    assert!(nothing.code == 1 && nothing.err.contains("the standard input cannot be read: it is empty"));
}

#[test]
fn single_precision_is_computed_in_double_precision_on_request() {
    let b = Folder::new();
    let draws = unmix::internal::num::random::Stream::new(7, 0);
    let x: Vec<f32> = (0..2000u64)
        .flat_map(|i| {
            let [a, b, c] = [0, 1, 2].map(|j| draws.laplace(3 * i + j) as f32);
            // Up to rounding errors the last column is the sum of two others.
            [a, b, c, a + b]
        })
        .collect();
    write_npy(&b.path("ecg.npy"), &x, &[4]).unwrap();
    let single = b.ok("fit ica ecg.npy -o m.safetensors");
    assert!(single.err.contains("3 of 4 sources are kept"), "{}", single.err);
    assert!(
        single.err.contains("give rows in double precision, or compute in it with --dtype float64"),
        "{}",
        single.err
    );
    let double = b.ok("fit ica ecg.npy --dtype float64 -o m.safetensors");
    assert!(!double.err.contains("precision"), "{}", double.err);
    assert_eq!(Model::load(&b.path("m.safetensors")).unwrap().n_components(), 4);
}

#[test]
fn epochs_of_an_array_become_rows() {
    let b = Folder::new();
    // 6 epochs of 3 channels and 10 samples.
    unmix::data::write_npy(&b.path("epochs.npy"), &Folder::table(60, 3), &[3, 10]).unwrap();
    let fitted = b.ok("fit pca epochs.npy --rows-axis 0,2 -k 2 -o m.safetensors").out;
    let model = Model::load(&b.path("m.safetensors")).unwrap();
    assert_eq!((model.n_features(), model.report().n_samples), (3, 60.0));
    assert!(fitted.contains("unmix encode m.safetensors epochs.npy --rows-axis 0,2 "), "{fitted}");
    assert_eq!(b.ok("encode m.safetensors epochs.npy --rows-axis 0,2").out.lines().count(), 61);
}

#[test]
fn the_note_on_rows_of_several_axes_comes_once() {
    let b = Folder::new();
    // 20 epochs of 3 channels and 8 samples, in three files.
    for file in ["a.npy", "b.npy", "c.npy"] {
        unmix::data::write_npy(&b.path(file), &Folder::table(20, 24), &[3, 8]).unwrap();
    }
    let times = |said: &str| said.matches("has 3 axes (20 x 3 x 8)").count();
    let fitted = b.ok("fit pca a.npy b.npy c.npy -k 2 -o m.safetensors");
    assert_eq!(times(&fitted.err), 1, "{}", fitted.err);
    let words = "--rows-axis 0,1 makes 60 rows of 8, and so for 2 more files";
    assert!(fitted.err.contains(words), "{}", fitted.err);
    let warnings = Model::load(&b.path("m.safetensors")).unwrap().report().warnings.join("\n");
    assert_eq!(times(&warnings), 1, "{warnings}");
    let encoded = b.ok("encode m.safetensors a.npy b.npy -o codes.npy");
    assert_eq!(times(&encoded.err), 1, "{}", encoded.err);
    assert!(encoded.err.contains(", and so for 1 more file\n"), "{}", encoded.err);
}

#[test]
fn the_format_of_the_input_can_be_named_for_every_command() {
    let b = Folder::new();
    let lines: String = (0..40).map(|i| format!("{}\t{}\t{}\n", i % 7, (i * i) % 11, (i * 5) % 13)).collect();
    // A header that begins with the column P1 looks like an image.
    b.write("table.bin", format!("P1\tP2\tP3\n{lines}"));
    b.write("table.tsv", format!("P1\tP2\tP3\n{lines}"));
    let refused = b.run("fit pca table.bin -k 2 -o m.safetensors");
    assert_eq!(refused.code, 1, "{}", refused.err);
    let fitted = b.ok("fit pca table.bin --input-format tsv -k 2 -o m.safetensors").out;
    let next = "unmix encode m.safetensors table.bin --input-format tsv -o table.codes.csv";
    assert!(fitted.contains(next), "{fitted}");
    b.ok("fit pca table.tsv -k 2 -o same.safetensors");
    let load = |model: &str| Model::load(&b.path(model)).unwrap();
    assert_eq!(load("m.safetensors").tensor("components"), load("same.safetensors").tensor("components"));
    for verb in ["encode", "reconstruct", "score"] {
        let by_name = b.ok(&format!("{verb} m.safetensors table.tsv")).out;
        let named = b.ok(&format!("{verb} m.safetensors table.bin --input-format tsv")).out;
        assert!(!named.is_empty() && named == by_name, "{verb}");
    }
    assert!(b.ok("show table.bin --input-format tsv").out.contains("rows               40"));
    b.ok("select table.bin --input-format tsv");
    b.ok("report m.safetensors table.bin --input-format tsv -o m.html");
}

#[test]
fn additional_files_are_recognised_by_their_contents() {
    let b = Folder::new();
    b.both("d", 30, 3);
    let words: String = (0..30).map(|i| format!("kind{}\n", i % 2)).collect();
    let weights: Vec<f64> = (0..30).map(|i| 1.0 + f64::from(i % 3)).collect();
    write_npy(&b.path("w.npy"), &weights, &[1]).unwrap();
    // The same under names of other formats.
    b.write("w.csv", b.read("w.npy"));
    b.write("w.txt.npy", weights.iter().map(|w| format!("{w}\n")).collect::<String>());
    b.write("kinds.txt", &words);
    b.write("kinds.npy", &words);
    b.write("kinds", format!("kind;age\n{}", words.replace('\n', ";1\n")));
    b.write("names.npy", "x\ny\nz\n");
    b.write("places.txt", "x;y\n0;1\n1;0\n1;1\n");
    b.write("places.csv", "x,y\n0,1\n1,0\n1,1\n");
    let fitted = |weights: &str| {
        b.ok(&format!("fit pca d.npy -k 2 --weights {weights} -o m.safetensors"));
        Model::load(&b.path("m.safetensors")).unwrap().tensor("components").cloned()
    };
    let expected = fitted("w.npy");
    assert!(expected.is_some() && expected == fitted("w.csv") && expected == fitted("w.txt.npy"));
    b.ok("fit pca d.npy --names names.npy -k 2 -o n.safetensors");
    let named = Model::load(&b.path("n.safetensors")).unwrap();
    assert_eq!(named.features().names.as_deref().unwrap(), ["x", "y", "z"]);
    let page = |options: &str| {
        b.ok(&format!("report m.safetensors d.npy {options} -o page.html"));
        String::from_utf8(b.read("page.html")).unwrap().split("How it was fitted").next().unwrap().to_string()
    };
    assert!(page("--color kinds.npy") == page("--color kinds.txt"));
    assert!(page("--color kinds:kind").contains("kind1"));
    assert_eq!(page("--rate 100 --positions places.txt"), page("--rate 100 --positions places.csv"));
    let correlations = b.ok("score m.safetensors d.npy --reference w.npy").out;
    assert_eq!(b.ok("score m.safetensors d.npy --reference w.csv").out, correlations);
    // Of the input the option names the format, and of no other file.
    b.write("d.bin", b.read("d.csv"));
    b.ok("fit pca d.bin --input-format csv -k 2 --weights w.npy -o m.safetensors");
}

#[test]
fn the_format_of_the_standard_input_can_be_named() {
    let b = Folder::new();
    b.both("d", 30, 3);
    b.ok("fit pca d.npy -k 2 -o m.safetensors");
    let codes = b.ok("encode m.safetensors d.npy").out;
    let named = b.run_with("encode m.safetensors - --input-format npy", &b.read("d.npy"));
    assert_eq!((named.code, named.out == codes), (0, true), "{}", named.err);
    let wrong = b.run_with("encode m.safetensors - --input-format npy", &b.read("d.csv"));
    assert_eq!(wrong.code, 1);
    assert!(
        wrong.err.contains(
            "the standard input cannot be read: its first bytes are not those of a file of type npy, but text; give --input-format csv"
        ),
        "{}",
        wrong.err
    );
    let unknown = b.run("encode m.safetensors d.npy --input-format np");
    assert_eq!(unknown.code, 2, "{}", unknown.err);
    assert!(unknown.err.contains("there is no input format named 'np' (did you mean 'np"), "{}", unknown.err);
    assert!(unknown.err.contains("choose one of: npy, npz, csv, tsv"), "{}", unknown.err);
}

#[test]
fn pictures_without_an_extension_are_read_and_written_as_pictures() {
    let b = Folder::new();
    std::fs::create_dir(b.path("photos")).unwrap();
    for i in 0..12 {
        let pixels: Vec<f64> = (0..48).map(|j| ((7 * i * i + 13 * j + i * j) % 200) as f64 / 255.0).collect();
        write_png(&b.path(&format!("photos/p{i:02}.png")), &pixels, &[6, 8]).unwrap();
        std::fs::rename(b.path(&format!("photos/p{i:02}.png")), b.path(&format!("photos/p{i:02}"))).unwrap();
    }
    b.ok("fit pca photos --input-format png -k 3 -o m.safetensors");
    let whole = b.ok("reconstruct m.safetensors photos --input-format png -o same/");
    assert!(whole.err.contains("12 pictures in"), "{}", whole.err);
    assert_eq!(std::fs::read_dir(b.path("same")).unwrap().count(), 12);
    let other = b.ok("encode m.safetensors photos --input-format png --patches 6x8 --normalise -o codes.npy");
    assert!(other.err.contains("were read as"), "another way to read pictures: {}", other.err);
}
