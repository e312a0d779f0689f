//! Independent sources on the command line: voices from two microphones, and components removed from a recording.

use crate::folder::{Folder, read_npy};
use unmix::data::write_npy;
use unmix::internal::num::random::Stream;

/// Two voices (a hum and clicks) as two microphones record them: instantaneous mixtures.
fn voices(n: usize) -> [Vec<f64>; 2] {
    let s = Stream::new(1, 0);
    let hum = |i: usize| (0.05 * i as f64).sin();
    let click = |i: usize| s.laplace(i as u64);
    let mix = |a: f64, b: f64| (0..n).map(|i| 0.15 * (a * hum(i) + b * click(i))).collect::<Vec<f64>>();
    [mix(1.0, 0.5), mix(0.4, -0.8)]
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let dot = |x: &[f64], mx: f64, y: &[f64], my: f64| {
        x.iter().zip(y).map(|(a, b)| (a - mx) * (b - my)).sum::<f64>()
    };
    dot(a, ma, b, mb) / (dot(a, ma, a, ma) * dot(b, mb, b, mb)).sqrt()
}

#[test]
fn sources_of_two_recordings_are_written_as_audio_files() {
    let b = Folder::new();
    let n = 8000;
    for (name, samples) in ["left.wav", "right.wav"].iter().zip(voices(n)) {
        unmix_io::write_wav(&b.path(name), 8000, &samples).unwrap();
    }
    let fitted = b.ok("fit ica left.wav right.wav -o v.safetensors");
    assert!(fitted.out.contains("ICA of 8,000 x 2 float64: 2 components"), "{}", fitted.out);
    assert!(fitted.out.contains("converged after"), "{}", fitted.out);
    // The next command writes sounds.
    assert!(
        fitted.out.contains("encode v.safetensors left.wav right.wav -o left.codes/\n"),
        "{}",
        fitted.out
    );
    b.ok("encode v.safetensors left.wav right.wav -o left.codes/");
    assert!(b.path("left.codes/ica1.wav").is_file());
    b.ok("encode v.safetensors left.wav right.wav -o voices/");
    let hum: Vec<f64> = (0..n).map(|i| (0.05 * i as f64).sin()).collect();
    let mut best: f64 = 0.0;
    for name in ["voices/ica0.wav", "voices/ica1.wav"] {
        assert_eq!(unmix_io::sample_rate(&b.path(name)).unwrap(), Some(8000));
        b.ok(&format!("fit pca {name} -o p.safetensors"));
        b.ok(&format!("reconstruct p.safetensors {name} -o x.npy"));
        let (samples, _) = read_npy(&b.path("x.npy"));
        let peak = samples.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        assert!((peak - 0.9).abs() < 1e-3, "{name}: {peak}");
        best = best.max(correlation(&samples, &hum).abs());
    }
    assert!(best > 0.99, "{best}");
    let kept = b.run("encode v.safetensors left.wav right.wav --keep left -o kept/");
    assert!(
        kept.code == 2
            && kept.err.contains("cannot hold the columns of --keep (left)")
            && kept.err.contains(".csv"),
        "{}",
        kept.err
    );
    let kept = b.run("reconstruct v.safetensors left.wav right.wav --keep left -o kept/");
    assert!(kept.code == 2 && kept.err.contains("cannot hold the columns of --keep (left)"), "{}", kept.err);
    assert!(!b.path("kept").exists());
    let one = b.run("reconstruct v.safetensors left.wav right.wav --exclude 0 -o clean.wav");
    let folder = "each source or channel is written to its own file: give a folder, as in -o clean/";
    assert!(one.code == 2 && one.err.contains(folder), "{}", one.err);
    let refused = b.run("encode v.safetensors left.wav right.wav -o codes");
    assert!(refused.code == 2 && refused.err.contains("extension"), "{}", refused.err);
}

#[test]
fn sources_are_excluded_and_compared_with_references() {
    let b = Folder::new();
    let (n, [left, right]) = (3000, voices(3000));
    let third: Vec<f64> = (0..n).map(|i| ((i / 40) % 2) as f64).collect();
    let table: Vec<f64> = (0..n)
        .flat_map(|i| [left[i] + 0.1 * third[i], right[i] - 0.2 * third[i], 0.3 * left[i] + 0.5 * third[i]])
        .collect();
    // Channels as rows of the array, the usual layout of recordings.
    let channels: Vec<f64> =
        (0..3).flat_map(|j| (0..n).map(|i| table[3 * i + j]).collect::<Vec<_>>()).collect();
    write_npy(&b.path("eeg.npy"), &channels, &[n]).unwrap();
    write_npy(&b.path("light.npy"), &third, &[n]).unwrap();
    let ran = b.ok("fit ica eeg.npy --transpose -o m.safetensors");
    assert!(ran.out.contains("3,000 x 3"), "{}", ran.out);
    let scored = b.ok("score m.safetensors eeg.npy --transpose --reference light.npy").out;
    let lines: Vec<Vec<f64>> =
        scored.lines().skip(1).map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    assert!(scored.starts_with("component,light\n0,") && lines.len() == 3, "{scored}");
    // A signal of one axis, and one stored in the other direction, are the same.
    write_npy(&b.path("flat.npy"), &third, &[]).unwrap();
    for turned in ["flat.npy", "light.npy"] {
        for how in ["", "--transpose"] {
            let file = if how.is_empty() { "rows.npy" } else { "eeg.npy" };
            write_npy(&b.path("rows.npy"), &table, &[3]).unwrap();
            let other = b.ok(&format!("score m.safetensors {file} {how} --reference {turned}")).out;
            let numbers = |text: &str| -> Vec<f64> {
                text.lines().skip(1).map(|l| l.split(',').nth(1).unwrap().parse().unwrap()).collect()
            };
            let (a, b) = (numbers(&other), numbers(&scored));
            let same = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9);
            assert!(same, "{turned} {how}: {other}");
        }
    }
    // References with several columns are named by file and column number.
    let own = b.ok("score m.safetensors eeg.npy --transpose --reference eeg.npy").out;
    assert!(own.starts_with("component,eeg[0],eeg[1],eeg[2]\n0,"), "{own}");
    let which = lines.iter().find(|l| l[1].abs() > 0.99).unwrap_or_else(|| panic!("{scored}"))[0] as usize;
    b.ok(&format!("reconstruct m.safetensors eeg.npy --transpose --exclude {which} -o clean.npy"));
    let (clean, shape) = read_npy(&b.path("clean.npy"));
    // The output has the layout of the input: channels as rows.
    assert_eq!(shape, [3, n]);
    for channel in clean.chunks_exact(n) {
        assert!(correlation(channel, &third).abs() < 0.02);
    }
    b.ok("reconstruct m.safetensors eeg.npy --transpose -o whole.csv");
    b.ok("fit pca eeg.npy --transpose --drop 2 -k 1 -o two.safetensors");
    let kept = b.run("reconstruct two.safetensors eeg.npy --transpose --keep 2 -o kept.npy");
    assert!(kept.code != 0 && kept.err.contains("no room for the columns of --keep"), "{}", kept.err);
    let text = std::fs::read_to_string(b.path("whole.csv")).unwrap();
    let lines: Vec<Vec<f64>> =
        text.lines().map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    assert_eq!((lines.len(), lines[0].len()), (3, n));
    for (line, channel) in lines.iter().zip(channels.chunks_exact(n)) {
        assert!(line.iter().zip(channel).all(|(a, b)| (a - b).abs() < 1e-12));
    }
    // Names of channels are read from a table beside the recording.
    b.write("channels.csv", "index,label,x\n0,FPz,1\n1,EOG,2\n2,light,3\n");
    b.ok("fit ica eeg.npy --transpose --names channels.csv -o named.safetensors");
    assert!(b.ok("show named.safetensors --json").out.contains("\"EOG\""));
    let named = b.ok("score named.safetensors eeg.npy --transpose --reference EOG").out;
    let number = b.ok("score named.safetensors eeg.npy --transpose --reference eeg.npy").out;
    assert!(named.starts_with("component,EOG\n0,"), "{named}");
    let second = |line: &str, at: usize| line.split(',').nth(at).unwrap().parse::<f64>().unwrap();
    assert_eq!((named.lines().count(), number.lines().count()), (4, 4), "{named}{number}");
    for (a, b) in named.lines().zip(number.lines()).skip(1) {
        assert!((second(a, 1) - second(b, 2)).abs() < 1e-12, "{a} {b}");
    }
    b.ok("report named.safetensors eeg.npy --transpose --rate 100 -o named.html");
    assert!(std::fs::read_to_string(b.path("named.html")).unwrap().contains("FPz"));
    b.write("few.txt", "a\nb\n");
    let refused = b.run("fit ica eeg.npy --transpose --names few.txt -o named.safetensors");
    assert!(
        refused.code == 1 && refused.err.contains("one name for each of the 3 columns, got 2 names"),
        "{}",
        refused.err
    );
    b.write("repeated.txt", "FPz\nEOG\nFPz\n");
    let refused = b.run("fit ica eeg.npy --transpose --names repeated.txt -o named.safetensors");
    assert!(
        refused.code == 1 && refused.err.contains("names must be distinct, got 'FPz' more than once"),
        "{}",
        refused.err
    );
    let refused = b.run("reconstruct m.safetensors eeg.npy --transpose --exclude 3 -o clean.npy");
    assert!(refused.code == 1 && refused.err.contains("--exclude 3 is not possible"), "{}", refused.err);
    let refused = b.run("score m.safetensors eeg.npy --transpose --reference nothing");
    let found = "--reference nothing is neither a file nor a column of the input: the columns have no names; give a file";
    assert!(refused.code == 1 && refused.err.contains(found), "{}", refused.err);
    let twice = "--reference light.npy --reference flat.npy --reference light.npy";
    let refused = b.run(&format!("score m.safetensors eeg.npy --transpose {twice}"));
    let message = "--reference light.npy is given twice; name each reference once";
    assert!(refused.code == 2 && refused.err.contains(message), "{}", refused.err);
    let both = b.ok("score m.safetensors eeg.npy --transpose --reference light.npy --reference flat.npy").out;
    assert!(both.starts_with("component,light,flat\n0,"), "{both}");
}

#[test]
fn excluded_components_are_named_by_number_range_or_name() {
    let b = Folder::new();
    let x = b.both("d", 600, 9);
    b.ok("fit ica d.npy -o m.safetensors");
    b.ok("encode m.safetensors d.npy -o codes.npy");
    let without = |excluded: &str| {
        b.ok(&format!("reconstruct m.safetensors d.npy --exclude {excluded} -o out.npy"));
        read_npy(&b.path("out.npy")).0
    };
    let same =
        |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    let plain = without("0,1,2,7");
    assert!(!same(&plain, &x), "rows change");
    // Ranges include both ends, names and negative numbers denote the same components.
    for excluded in ["0-2,ica7", "ica0,1-2,-2", "-2,0-2", "-9,-8,-7,-2", "0-1,2,ica7", "7,ica2,1,0"] {
        assert!(same(&without(excluded), &plain), "{excluded}");
    }
    let whole = without("0-8");
    let mean: Vec<f64> = (0..9).map(|j| x.iter().skip(j).step_by(9).sum::<f64>() / 600.0).collect();
    assert!(whole.chunks(9).all(|row| same(row, &mean)), "without any source every row is the mean");
    for (excluded, why) in [
        ("9", "--exclude 9 is not possible: the model has 9 components, numbered from 0"),
        ("-10", "--exclude -10 is not possible"),
        ("0-9", "--exclude 0-9 is not possible"),
        (
            "2-0",
            "--exclude 2-0 is not possible: the first number of the range is larger than the second; give 0-2",
        ),
        ("ica9", "the model has no component of that name; did you mean 'ica"),
        ("pca0", "the model has no component of that name"),
        ("0,0", "--exclude 0 is not possible: component 0 is given twice; give each component once"),
        ("0-1,1-2", "--exclude 1-2 is not possible: component 1 is given twice"),
        ("7,ica7", "--exclude 'ica7' is not possible: component 7 is given twice"),
    ] {
        let refused = b.run(&format!("reconstruct m.safetensors d.npy --exclude {excluded} -o no.npy"));
        assert!(refused.code == 1 && refused.err.contains(why), "{excluded}: {}", refused.err);
    }
}

#[test]
fn excluded_components_are_subtracted_and_what_no_component_explains_is_kept() {
    let b = Folder::new();
    let x = b.both("d", 600, 9);
    for method in ["ica", "pca", "factor-analysis", "sigma-pca"] {
        b.ok(&format!("fit {method} d.npy -k 4 -o m.safetensors"));
        let run = |what: &str, out: &str| {
            b.ok(&format!("reconstruct m.safetensors d.npy {what} -o {out}"));
            read_npy(&b.path(out)).0
        };
        let explained = run("", "all.npy");
        let only = run("--only 0,3", "only.npy");
        let clean = run("--exclude 1-2", "clean.npy");
        let rest = x.iter().zip(&explained).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(rest > 0.1, "{method}: something is left unexplained");
        for (i, x) in x.iter().enumerate() {
            let wanted = x - (explained[i] - only[i]);
            assert!((clean[i] - wanted).abs() < 1e-9, "{method}: {} {wanted}", clean[i]);
        }
        let others = run("--exclude 0-3", "none.npy");
        let mean: Vec<f64> = (0..9).map(|j| x.iter().skip(j).step_by(9).sum::<f64>() / 600.0).collect();
        for (i, out) in others.iter().enumerate() {
            assert!((out - (x[i] - explained[i] + mean[i % 9])).abs() < 1e-9, "{method}");
        }
    }
    let both = b.run("reconstruct m.safetensors d.npy --only 0 --exclude 1");
    assert!(both.code == 2 && both.err.contains("cannot be used with"), "{}", both.err);
    let refused = b.run("reconstruct m.safetensors d.npy --only 4");
    assert!(refused.code == 1 && refused.err.contains("--only 4 is not possible"), "{}", refused.err);
}

/// The page labels rows by the index of their table, or by a column kept with --keep.
#[test]
fn a_page_names_rows_as_their_table_does() {
    let b = Folder::new();
    let x = Folder::table(40, 3);
    let mut text = ",site,a,b,c".to_string();
    for (i, row) in x.chunks(3).enumerate() {
        text += &format!("\nvisit{i},place{i},{},{},{}", row[0], row[1], row[2]);
    }
    b.write("t.csv", text + "\n");
    b.ok("fit pca t.csv --drop site -k 2 -o m.safetensors");
    b.ok("report m.safetensors t.csv --drop site -o index.html");
    let page = String::from_utf8(b.read("index.html")).unwrap();
    assert!(page.contains("<b>visit0</b>") && !page.contains("<b>row 0</b>") && !page.contains("place1"));
    assert_eq!(page.matches("<title>visit17</title>").count(), 1, "each point has its name");
    b.ok("report m.safetensors t.csv --keep site -o kept.html");
    let page = String::from_utf8(b.read("kept.html")).unwrap();
    assert!(page.contains("<b>place0</b>") && !page.contains("visit0"));
    b.ok("report m.safetensors t.csv --color site -o coloured.html");
    // Compressed labels are those of the file itself.
    let labels: String = (0..40).map(|i| format!("kind {}\n", i % 3)).collect();
    b.write("kinds.csv", labels);
    b.ok("report m.safetensors t.csv --color kinds.csv -o plain.html");
    #[cfg(unix)]
    {
        assert_eq!(b.shell("gzip kinds.csv && gzip -k t.csv").code, 0);
        b.ok("report m.safetensors t.csv --color kinds.csv.gz -o packed.html");
        let body = |name: &str| String::from_utf8(b.read(name)).unwrap().matches("kind 2").count();
        assert!(body("packed.html") > 0);
        assert_eq!(body("packed.html"), body("plain.html"));
        b.ok("report m.safetensors t.csv --color t.csv.gz:site -o column.html");
    }
    let page = String::from_utf8(b.read("coloured.html")).unwrap();
    assert!(page.contains("<b>visit0</b>"), "a column of colours does not name rows");
    b.both("d", 40, 3);
    b.ok("fit pca d.csv -k 2 -o d.safetensors");
    b.ok("report d.safetensors d.csv -o d.html");
    assert!(String::from_utf8(b.read("d.html")).unwrap().contains("<b>row 0</b>"));
}

#[test]
fn a_fit_that_did_not_converge_warns_and_strict_fails() {
    let b = Folder::new();
    b.both("d", 400, 4);
    let ran = b.run("fit ica d.csv --set max_iter=1 --set tol=1e-12 -o m.safetensors");
    assert!(ran.code == 0 && ran.err.contains("it ended with 'max_iter' after 1 iteration "), "{}", ran.err);
    assert_eq!(
        b.run("fit ica d.csv --set max_iter=1 --set tol=1e-12 --strict -o m.safetensors").code,
        1,
        "kept"
    );
    assert_eq!(b.run("fit ica d.csv --set max_iter=1 --set tol=1e-12 --strict -o new.safetensors").code, 1);
    assert!(b.path("new.safetensors").is_file());
    b.ok("fit fastica d.csv -k 3 -o f.safetensors");
    b.ok("report f.safetensors d.csv -o f.html");
    assert!(b.ok("encode f.safetensors d.csv").out.starts_with("fastica0,fastica1,fastica2\n"));
}

#[test]
fn references_follow_the_rows_that_are_left_out() {
    let b = Folder::new();
    let noise = |i: usize, by: usize| ((i * by) % 41) as f64 / 10.0;
    // `c` is a copy of `a`; each has a gap, in different rows.
    let line = |i: usize| {
        let (a, c) = (noise(i, 17).to_string(), noise(i, 17).to_string());
        let (a, c) = (if i == 2 { "" } else { &a }, if i == 25 { "" } else { &c });
        format!("{a},{},{c},{}\n", noise(i, 5) / 9.0, noise(i, 17))
    };
    b.write("d.csv", format!("a,b,c,whole\n{}", (0..40).map(line).collect::<String>()));
    b.write("whole.txt", (0..40).map(|i| format!("{}\n", noise(i, 17))).collect::<String>());
    let known: Vec<String> = (0..40).filter(|i| *i != 2).map(|i| format!("{}\n", noise(i, 17))).collect();
    b.write("known.txt", known.concat());
    b.ok("fit pca d.csv --columns a,b --missing drop -k 2 -o m.safetensors");
    let first = |rest: &str| {
        let ran = b.ok(&format!("score m.safetensors d.csv {rest}"));
        (ran.out.lines().nth(1).unwrap().split(',').nth(1).unwrap().parse::<f64>().unwrap().abs(), ran.err)
    };
    let (of_column, err) = first("--columns a,b --missing drop --reference c");
    assert!(of_column > 0.99, "{of_column}");
    assert!(err.contains("--reference c: 1 of 39 rows has no number of it and is left out"), "{err}");
    for reference in ["whole", "whole.txt", "known.txt", "a"] {
        let (found, err) = first(&format!("--columns a,b --missing drop --reference {reference}"));
        assert!(found > 0.99 && !err.contains("left out of"), "{reference}: {found} {err}");
        let (of_some, _) = first(
            &format!("--columns a,b --missing drop --rows 1:30 --reference {reference}")
                .replace("known.txt", "whole.txt"),
        );
        assert!(of_some > 0.99, "{reference}: {of_some}");
    }
    // Signals of all rows as lines of a file, and another number of rows.
    let across = |by: usize| (0..40).map(|i| noise(i, by).to_string()).collect::<Vec<_>>().join(",");
    b.write("across.csv", format!("{}\n{}\n", across(17), across(5)));
    let (found, _) = first("--columns a,b --missing drop --reference across.csv");
    assert!(found > 0.99, "{found}");
    b.write("few.txt", "1\n2\n4\n");
    let refused = b.run("score m.safetensors d.csv --columns a,b --missing drop --reference few.txt");
    let words = "--reference must have one row for each of the 39 rows selected of d.csv, or for each of its 40 rows, got 3 rows in few.txt";
    assert!(refused.code == 1 && refused.err.contains(words), "{}", refused.err);
}
