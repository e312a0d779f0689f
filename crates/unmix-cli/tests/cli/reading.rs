//! Notes about how files were read, and which output file is written where.

use crate::folder::{Folder, read_npy};
use unmix::Model;
use unmix_io::{write_png, write_wav};

#[test]
fn the_index_of_a_table_is_left_out_with_a_note() {
    let b = Folder::new();
    let line = |i: i32| format!("{i},{}.5,{}.25,{}\n", i % 7, (i * i) % 11, (i * 3) % 5);
    b.write("t.csv", ",a,b,c\n".to_string() + &(0..40).map(line).collect::<String>());
    let fitted = b.ok("fit pca t.csv -k 2 -o m.safetensors");
    let note = "t.csv: column 0 (no name) is the index of a table and left out; to read all columns as features, add --columns 0-3";
    assert_eq!(fitted.err.matches(note).count(), 1, "{}", fitted.err);
    let model = Model::load(&b.path("m.safetensors")).unwrap();
    assert_eq!((model.n_features(), model.report().warnings[0].as_str()), (3, note));
    assert!(b.ok("encode m.safetensors t.csv").err.contains(note));
    assert!(b.ok("show t.csv").err.contains(note));
    assert!(b.ok("select t.csv").err.contains(note));
    assert!(b.ok("show t.csv --json").out.contains("\"notes\": ["));
    let whole = b.ok("fit pca t.csv -k 2 --columns 0-3 -o w.safetensors");
    assert!(whole.err.is_empty(), "{}", whole.err);
    assert_eq!(Model::load(&b.path("w.safetensors")).unwrap().n_features(), 4);
    assert!(b.ok("encode w.safetensors t.csv").err.is_empty(), "the index is a feature of this model");
    // Where a fit fails, the notes about the rows are printed, too: they may name the cause.
    b.write("e.csv", "a,b,\n1,2,\n2,1,\n3,5,\n");
    let failed = b.run("fit pca e.csv -o e.safetensors");
    assert_eq!(failed.code, 1);
    assert!(failed.err.contains("column 2 ('2') is empty; leave it out with --drop 2"), "{}", failed.err);
    b.ok("fit pca e.csv --drop 2 -o e.safetensors");
}

#[test]
fn recordings_in_another_order_give_the_same_codes() {
    let b = Folder::new();
    let tone = |f: f64| (0..4000).map(|i| 0.8 * (f * f64::from(i)).sin()).collect::<Vec<f64>>();
    let (one, two) = (tone(0.11), tone(0.037));
    for (name, share) in [("mix1", 0.7), ("mix2", 0.2), ("mix3", 0.5)] {
        let mixed: Vec<f64> = one.iter().zip(&two).map(|(a, b)| share * a + (1.0 - share) * b).collect();
        write_wav(&b.path(&format!("{name}.wav")), 8000, &mixed).unwrap();
    }
    b.ok("fit pca mix1.wav mix2.wav mix3.wav -k 2 -o m.safetensors");
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
    let patches = b.run("reconstruct patches.safetensors photos --patches 3x3 -o out/");
    assert!(patches.code == 1 && patches.err.contains("which are patches of them"), "{}", patches.err);
    assert!(!patches.err.contains("reconstructing"), "refused before anything is computed: {}", patches.err);
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
    // The same units: nothing is said.
    let same = b.ok("encode photos.safetensors photos -o codes.npy");
    assert!(same.err.is_empty(), "{}", same.err);
    assert!(b.ok("encode bytes.safetensors bytes.npy -o codes.npy").err.is_empty());
    // Means that numbers from 0 to 1 could have, but not these pictures: the pixels that would be clipped tell.
    let noise = unmix::num::random::Stream::new(3, 0);
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
    let nothing = b.run_with("fit pca -", b"");
    assert!(nothing.code == 1 && nothing.err.contains("the standard input cannot be read: it is empty"));
}

#[test]
fn a_fit_ends_at_its_time_limit_with_a_message() {
    let b = Folder::new();
    b.both("d", 4000, 12);
    let ended = b.ok("fit ica d.npy --max-seconds 0.000001 -o m.safetensors");
    assert!(ended.err.contains("it ended with 'time'"), "{}", ended.err);
    assert_eq!(Model::load(&b.path("m.safetensors")).unwrap().report().outcome.name(), "time");
    assert_eq!(b.run("fit ica d.npy --max-seconds 0.000001 --strict -o s.safetensors").code, 1);
    assert_eq!(b.run("fit ica d.npy --max-seconds 0").code, 2);
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

#[test]
fn text_files_are_read_with_any_delimiter_and_extension() {
    let b = Folder::new();
    let data = b.both("d", 30, 3);
    b.ok("fit pca d.csv -k 2 -o d.safetensors --quiet");
    let expected = b.ok("encode d.safetensors d.npy").out;
    let lines = |between: &str, width: usize| {
        let line = |row: &[f64]| row.iter().map(|x| format!("{x:>width$}")).collect::<Vec<_>>().join(between);
        data.chunks(3).map(|row| line(row) + "\n").collect::<String>()
    };
    let head = "# made by a program\n";
    for (name, text) in [
        ("savetxt.csv", lines(" ", 0)),
        ("savetxt.txt", lines(" ", 0)),
        ("named.txt", format!("{head}# c0 c1 c2\n{}", lines(" ", 0))),
        ("fixed.dat", format!("c0 c1 c2\n{}", lines("", 26))),
        ("commas.txt", format!("c0,c1,c2\n{}", lines(",", 0))),
        ("tabs.dat", lines("\t", 0)),
        ("tail.txt", format!("{head}{}", lines("  ", 0).replace('\n', " \n\n# end\n"))),
    ] {
        b.write(name, text);
        let made = b.ok(&format!("fit pca {name} -k 2 -o m.safetensors --quiet"));
        assert!(made.err.is_empty(), "{name}: {}", made.err);
        assert_eq!(b.ok("encode m.safetensors d.npy").out, expected, "{name}");
        let named = b.ok("show m.safetensors").out.contains("Columns  c0, c1, c2");
        assert_eq!(named, matches!(name, "named.txt" | "fixed.dat" | "commas.txt"), "{name}");
    }
    b.write("text.txt", "c0 c1 c2\n1 2 3\n4 x 6\n7 8 1\n");
    let refused = b.run("fit pca text.txt");
    assert!(refused.err.contains("row 1, column 1 ('c1') is the text 'x' (line 3)"), "{}", refused.err);
    b.write("decimals.txt", "a  b\n1,5  2,25\n 3,0 14,5\n7,1 8,0\n");
    b.ok("fit pca decimals.txt --decimal , -k 1 -o m.safetensors --quiet");
}

#[test]
fn a_spreadsheet_becomes_a_page() {
    let b = Folder::new();
    let line = |i: usize| {
        let cell = |j: usize| format!("{},{}", (i * (7 + 4 * j)) % 13, (i * i + j) % 10);
        let height = if i == 4 { String::new() } else { cell(0) };
        let width = if i == 11 { "NA".into() } else { cell(1) };
        format!("s{i};{height};{width};{}\r\n", cell(2))
    };
    b.write("sheet.csv", format!("id;height;width;depth\r\n{}", (0..40).map(line).collect::<String>()));
    let reading = "--drop id --delimiter ; --decimal , --missing drop";
    let fitted = b.ok(&format!("fit pca sheet.csv {reading} -k 2 -o m.safetensors"));
    assert!(fitted.err.contains("2 of 40 rows have a missing cell and are left out"), "{}", fitted.err);
    assert_eq!(Model::load(&b.path("m.safetensors")).unwrap().report().n_samples, 38.0);
    b.ok(&format!("report m.safetensors sheet.csv {reading} -o page.html"));
    let page = String::from_utf8(b.read("page.html")).unwrap();
    assert!(page.starts_with("<!") && ["height", "width", "depth"].iter().all(|name| page.contains(name)));
    let codes = b.ok(&format!("encode m.safetensors sheet.csv {reading}")).out;
    assert_eq!(codes.lines().count(), 39);
}

#[test]
fn names_in_a_file_choose_columns() {
    let b = Folder::new();
    let data = b.both("d", 30, 4);
    b.write("names.txt", "AF3\nF7\nCz\nOz\n");
    let names = |model: &str| Model::load(&b.path(model)).unwrap().features().names.clone().unwrap();
    let fitted = b.ok("fit pca d.npy --names names.txt --drop AF3 -k 2 -o m.safetensors");
    assert_eq!(names("m.safetensors"), ["F7", "Cz", "Oz"]);
    let (_, next) = fitted.out.split_once("Next\n").unwrap();
    let next = next.lines().filter_map(|line| line.trim().strip_prefix("unmix "));
    let commands: Vec<&str> = next.collect();
    assert_eq!(commands.len(), 2, "{}", fitted.out);
    commands.iter().for_each(|line| drop(b.ok(line)));
    let codes = b.ok("encode m.safetensors d.npy --columns 1-3").out;
    assert_eq!(b.ok("encode m.safetensors d.npy --names names.txt").out, codes);
    // Names that do not fit are refused, as by fit.
    b.write("few.txt", "F7\nCz\n");
    b.write("repeated.txt", "F7\nCz\nF7\n");
    b.write("header.csv", "F7,Cz,Oz\n1,2,3\n3,1,2\n2,2,1\n");
    for (given, words) in [
        ("d.npy --columns 1-3 --names few.txt", "must have one name for each of the 3 columns, got 2 names"),
        ("d.npy --columns 1-3 --names repeated.txt", "names must be distinct, got 'F7' more than once"),
        ("header.csv --names few.txt", "the columns of header.csv have names already"),
    ] {
        let commands = ["encode m.safetensors", "report m.safetensors -o refused.html", "score m.safetensors"];
        for command in commands {
            let refused = b.run(&format!("{command} {given}"));
            assert!(refused.code == 1 && refused.err.contains(words), "{command} {given}: {}", refused.err);
        }
    }
    // Without a selection, or with a name for each of the columns selected, as before.
    b.ok("fit pca d.npy --names names.txt -k 2 -o all.safetensors");
    assert_eq!(names("all.safetensors").len(), 4);
    b.write("three.txt", "F7\nCz\nOz\n");
    b.ok("fit pca d.npy --names three.txt --columns 1-3 -k 2 -o three.safetensors");
    assert_eq!(names("three.safetensors"), ["F7", "Cz", "Oz"]);
    let lines = data.chunks(4).map(|row| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n");
    b.write("bare.csv", lines.collect::<String>());
    for file in ["d.npy", "bare.csv"] {
        let shown = b.ok(&format!("select {file} --names names.txt --columns Cz,Oz")).out;
        assert!(shown.contains("30 rows, 2 columns"), "{shown}");
        assert!(b.ok(&format!("show {file} --names names.txt --drop Cz")).out.contains("AF3"));
        b.ok(&format!("report m.safetensors {file} --names names.txt --color AF3 -o page.html"));
        let unknown = b.run(&format!("fit pca {file} --names names.txt --drop AF4"));
        assert!(unknown.code == 1 && unknown.err.contains("did you mean 'AF3'?"), "{}", unknown.err);
    }
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
fn messages_about_tables_name_a_remedy() {
    let b = Folder::new();
    b.both("d", 30, 3);
    b.ok("fit pca d.csv -k 2 -o d.pca.safetensors");
    let row = "1.2573e-01 -1.3210e-01 6.4042e-01\n";
    b.write("uneven.csv", format!("{}1 2\n", row.repeat(5)));
    b.write("marks.csv", "a,b\n1,2\n3,?\n5,6\n");
    b.write("preamble.csv", "Instrument,X\nDate,today\nrun,7a\nheight,width\n1,2\n3,4\n5,6\n");
    b.write("short.csv", "Instrument: X\n\nheight,width\n1,2\n3,4\n5,6\n");
    b.write("quote.csv", "a,b\n\"1,2\n3,4\n5,6\n");
    b.write("names.npy", [0x93, 0xff, 0]);
    b.write("percent.csv", "a,b\n1,12.5%\n3,7%\n");
    b.write("thousands.csv", "a,b\n1,\"1,234.50\"\n3,5\n");
    b.write("grouped.csv", "a;b\n1;1.234,5\n3;5\n");
    b.write("group.csv", "a,b\n1,\"1,234\"\n3,5\n");
    b.write("total.csv", "a,b\n1,2\n3,5\n4,4\nTotal,11\n");
    for (command, words) in [
        ("fit pca uneven.csv", "add --delimiter space if cells are separated by blanks"),
        ("fit pca uneven.csv --delimiter space", "line 6 has 2 cells, but the first line has 3"),
        ("fit pca marks.csv", "add --na '?' if that marks a missing cell, or write NA"),
        ("fit pca percent.csv", "remove the percent signs in the program that wrote the file; or leave the"),
        ("fit pca percent.csv", "with --drop b"),
        ("fit pca thousands.csv", "remove the thousands separators in the program that wrote the file; or"),
        ("fit pca grouped.csv --decimal ,", "remove the thousands separators"),
        ("fit pca group.csv", "have decimal commas, or write numbers without thousands separators"),
        ("fit pca total.csv", "if a summary ends the table here, leave it out with --rows :3; or leave the"),
        ("fit pca preamble.csv", "with --skip-rows 3"),
        ("fit pca short.csv", "with --skip-rows 2"),
        ("fit pca quote.csv", "close the quotation mark that opens there"),
        ("fit pca d.npy --names names.npy", "it is not text; give a text file with one name per line"),
        ("fit pca d.npy --rows-axis 0,x", "give the number of an axis, from 0, or several as in 0,2"),
        ("fit pca d.npy --rows-axis 0,0", "it is given twice; give each axis once"),
        ("encode d.pca d.csv", "did you mean 'd.pca.safetensors'?"),
        (
            "encode d.csv d.pca.safetensors",
            "the model must come before the rows: d.pca.safetensors is a model",
        ),
    ] {
        let refused = b.run(command);
        assert!(refused.code > 0 && refused.err.contains(words), "{command}: {}", refused.err);
    }
    b.ok("fit pca preamble.csv --skip-rows 3 -o p.safetensors");
    b.ok("fit pca short.csv --skip-rows 2 -o p.safetensors");
    b.ok("fit pca total.csv --rows :3 -o p.safetensors");
}
