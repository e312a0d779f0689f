//! Several files read as one: stacked, side by side, by pattern, from a folder; and images cut into patches.

use crate::files::*;
use proptest::prelude::*;
use std::path::PathBuf;
use unmix::{AnyRows, Dtype, Run};
use unmix_io::{Input, Options, Patches, Pixels, describe, open_many};

fn many(paths: &[PathBuf], options: &Options) -> unmix::Result<Input> {
    open_many(paths, options, &Run::default())
}

fn refusal(folder: &Folder, paths: &[PathBuf], options: &Options) -> String {
    let message = many(paths, options).err().expect("a refusal").to_string();
    message.replace(&format!("{}/", folder.path().display()), "")
}

/// A grey-scale image as a `.pgm` file.
pub(crate) fn pgm(pixels: &[u8], height: usize, width: usize) -> Vec<u8> {
    [format!("P5\n{width} {height}\n255\n").as_bytes(), pixels].concat()
}

/// A 16-bit `.wav` file.
fn wav(channels: u16, rate: u32, samples: &[i16]) -> Vec<u8> {
    let spec = hound::WavSpec {
        channels,
        sample_rate: rate,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let mut file = std::io::Cursor::new(Vec::new());
    let mut writer = hound::WavWriter::new(&mut file, spec).unwrap();
    samples.iter().for_each(|&x| writer.write_sample(x).unwrap());
    writer.finalize().unwrap();
    file.into_inner()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Stacked files of any lengths and formats give the rows of the whole table, in parts and as a whole, and the same description on
    /// several threads.
    #[test]
    fn pieces_of_a_table_are_the_table(cuts in prop::collection::vec(1usize..40, 1..6), p in 1usize..5, single in any::<bool>()) {
        let folder = Folder::new();
        let n: usize = cuts.iter().sum();
        let data: Vec<f32> = (0..n * p).map(|i| i as f32 / 8.0).collect();
        let (mut paths, mut at) = (Vec::new(), 0);
        for (i, rows) in cuts.iter().enumerate() {
            let part = &data[at * p..(at + rows) * p];
            let doubles: Vec<f64> = part.iter().map(|&x| f64::from(x)).collect();
            paths.push(match i % 3 {
                0 if !single => folder.put(&format!("{i}.npy.gz"), gz(&npy(&doubles, &[*rows, p], Order::Fortran, true))),
                1 if !single => {
                    let line = |row: &[f32]| row.iter().map(f32::to_string).collect::<Vec<_>>().join(",") + "\n";
                    folder.put(&format!("{i}.csv"), part.chunks(p).map(line).collect::<String>())
                }
                _ => folder.put(&format!("{i}.npy"), npy(part, &[*rows, p], Order::C, false)),
            });
            at += rows;
        }
        let input = many(&paths, &in_shell()).unwrap();
        let want: Vec<f64> = data.iter().map(|&x| f64::from(x)).collect();
        prop_assert_eq!(numbers(&input.rows), want.clone());
        prop_assert_eq!(input.shape.clone(), vec![Some(n as u64), Some(p as u64)]);
        if single {
            prop_assert_eq!(input.rows.dtype(), Dtype::F32);
        }
        let whole = folder.open("whole.npy", npy(&want, &[n, p], Order::C, false), &in_shell()).unwrap();
        let (a, b) = (describe(&input, &Run::default()).unwrap(), describe(&whole, &Run { threads: 1, ..Run::default() }).unwrap());
        prop_assert_eq!(a.columns, b.columns);
        if let AnyRows::F64(rows) = &input.rows {
            let mut streamed = Vec::new();
            let mut stream = rows.source().stream().unwrap();
            while stream.read(3, &mut streamed).unwrap() > 0 {}
            prop_assert_eq!(streamed, want);
        }
    }
}

#[test]
fn files_that_do_not_agree_are_refused_with_both_values() {
    let folder = Folder::new();
    let put = |name: &str, text: &str| folder.put(name, text);
    let (ab, ac) = (put("ab.csv", "a,b,id\n1,2,x\n3,4,y\n"), put("ac.csv", "a,c,id\n1,2,x\n3,4,y\n"));
    let abc = put("abc.csv", "a,b,c,id\n1,2,3,z\n");
    let options = Options { keep: Some("id".into()), ..in_shell() };
    let message = refusal(&folder, &[ab.clone(), abc], &options);
    assert_eq!(
        message,
        "abc.csv cannot be read: it has 3 features per row, but there are 2 in ab.csv; \
         give files with the same columns, or choose those that they share"
    );
    assert!(
        refusal(&folder, &[ab.clone(), ac], &options)
            .contains("it has 'c' as feature 1, but that is 'b' in ab.csv")
    );
    let twice = many(&[ab.clone(), ab.clone()], &options).unwrap();
    assert_eq!(twice.kept, [("id".to_string(), ["x", "y", "x", "y"].map(String::from).to_vec())]);
    assert_eq!(numbers(&twice.rows), [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
    let note = twice.rows.notes().join("; ");
    assert!(
        note.ends_with("ab.csv: the file is given twice, so that its rows are read twice; give it once"),
        "{note}"
    );
    // Also by another path.
    let other = folder.path().join("..").join(folder.path().file_name().unwrap()).join("ab.csv");
    let thrice = many(&[ab.clone(), other, ab.clone()], &options).unwrap().rows.notes().join("; ");
    assert!(thrice.contains("the file is given 3 times, so that its rows are read 3 times"), "{thrice}");
    let shaped = |name: &str, shape: &[usize]| folder.put(name, npy(&[0u8; 12], shape, Order::C, false));
    let (tall, wide) = (shaped("tall.npy", &[1, 4, 3]), shaped("wide.npy", &[1, 3, 4]));
    let message = refusal(&folder, &[tall, wide], &in_shell());
    assert!(message.contains("it has samples of shape 3 x 4, but they have 4 x 3 in tall.npy"), "{message}");
    let audio = folder.put("a.wav", wav(1, 8000, &[1, 2]));
    let message = refusal(&folder, &[ab, audio], &options);
    assert!(message.contains("it is of type wav, but ab.csv is of type csv"), "{message}");
    let none: [PathBuf; 0] = [];
    assert!(refusal(&folder, &none, &options).contains("no file was given"));
}

#[test]
fn patterns_in_quotes_are_expanded_by_name() {
    let folder = Folder::new();
    for i in [2u8, 0, 1] {
        folder.put(&format!("part-{i}.npy"), npy(&[i, 10 + i], &[1, 2], Order::C, false));
    }
    let input = many(&[folder.path().join("part-*.npy")], &in_shell()).unwrap();
    assert_eq!(numbers(&input.rows), [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]);
    let message = refusal(&folder, &[folder.path().join("other-*.npy")], &in_shell());
    assert!(message.contains("other-*.npy cannot be read: no file matches this pattern"), "{message}");
    assert!(
        refusal(&folder, &[folder.path().join("part-[.npy")], &in_shell())
            .contains("it is not a valid pattern")
    );
    folder.put("[odd].npy", npy(&[5u8, 6], &[1, 2], Order::C, false));
    let input = many(&[folder.path().join("[odd].npy")], &in_shell()).unwrap();
    assert_eq!(numbers(&input.rows), [5.0, 6.0], "a file that is there is no pattern");
}

#[test]
fn recordings_are_combined_as_channels() {
    let folder = Folder::new();
    let (left, both) = (
        folder.put("l.wav", wav(1, 8000, &[-32768, 16384])),
        folder.put("b.wav", wav(2, 8000, &[0, 1, 2, 3])),
    );
    let input = many(&[left.clone(), both.clone()], &in_shell()).unwrap();
    let unit = 1.0 / 32768.0;
    assert_eq!(numbers(&input.rows), [-1.0, 0.0, unit, 0.5, 2.0 * unit, 3.0 * unit]);
    assert_eq!((input.shape, input.stored), (vec![Some(2), Some(3)], "int16".into()));
    let fast = folder.put("fast.wav", wav(1, 44100, &[1, 2]));
    let message = refusal(&folder, &[left.clone(), fast], &in_shell());
    assert!(message.contains("it has 44100 samples per second, but l.wav has 8000"), "{message}");
    let long = folder.put("long.wav", wav(1, 8000, &[1, 2, 3]));
    let message = refusal(&folder, &[left, long], &in_shell());
    assert!(message.contains("it has 3 samples per channel, but l.wav has 2"), "{message}");
    let whole = wav(2, 8000, &[1; 40]);
    let message = folder.refusal("cut.wav", &whole[..whole.len() - 10], &in_shell());
    assert!(
        message.contains("its header declares 20 samples per channel, but it ends after 17"),
        "{message}"
    );
    assert!(folder.refusal("a.wav", &whole[..30], &in_shell()).contains("it ends within its header"));
    assert!(folder.refusal("a.wav", wav(1, 8000, &[]), &in_shell()).contains("it holds no samples"));
    assert!(folder.refusal("a.wav", "1,2\n3,4\n5,6\n", &in_shell()).contains("it is not a valid WAV file"));
}

#[test]
fn recordings_are_found_by_the_names_of_their_files_in_any_order() {
    let folder = Folder::new();
    let (a, b) =
        (folder.put("a.wav", wav(1, 8000, &[1, 2, 3])), folder.put("b.wav", wav(1, 8000, &[7, 8, 9])));
    let names = |input: &Input| input.rows.features().names.clone().unwrap_or_default();
    let input = many(&[a.clone(), b.clone()], &in_shell()).unwrap();
    let numbers_in_order = bits(&numbers(&input.rows));
    assert_eq!(names(&input), ["a", "b"]);
    let wanted = |names: &[&str]| Options {
        wanted: Some(names.iter().map(|n| n.to_string()).collect()),
        ..in_shell()
    };
    let swapped = many(&[b.clone(), a.clone()], &wanted(&["a", "b"])).unwrap();
    assert_eq!((bits(&numbers(&swapped.rows)), names(&swapped)), (numbers_in_order.clone(), names(&input)));
    assert!(swapped.rows.notes().is_empty());
    let more = folder.put("c.wav", wav(1, 8000, &[4, 4, 4]));
    let extra = many(&[more.clone(), b.clone(), a.clone()], &wanted(&["a", "b"])).unwrap();
    assert_eq!(
        (bits(&numbers(&extra.rows)), extra.ignored),
        (numbers_in_order.clone(), vec!["c".to_string()])
    );
    let missing = refusal(&folder, &[a.clone(), more.clone()], &wanted(&["a", "b"]));
    assert!(missing.contains("the model needs column 'b'"), "{missing}");
    // No file has the name of a column of the model, as for another recording with the same microphones.
    let other = many(&[a.clone(), b.clone()], &wanted(&["left", "right"])).unwrap();
    assert_eq!((bits(&numbers(&other.rows)), names(&other).len()), (numbers_in_order.clone(), 0));
    assert!(other.rows.notes()[0].contains("they are used in the order given"), "{:?}", other.rows.notes());
    let unnamed = Options { unnamed: true, ..in_shell() };
    assert_eq!(names(&many(&[a.clone(), b.clone()], &unnamed).unwrap()).len(), 0);
    let chosen = many(&[a, b], &Options { columns: Some("b".into()), ..in_shell() }).unwrap();
    assert_eq!(names(&chosen), ["b"]);
    let stereo = many(&[folder.put("s.wav", wav(2, 8000, &[0, 1, 2, 3]))], &in_shell()).unwrap();
    assert_eq!(names(&stereo), ["s_0", "s_1"]);
}

#[test]
fn a_folder_without_images_stands_for_its_tables_of_one_format() {
    let folder = Folder::new();
    let here = || [folder.path().to_path_buf()];
    folder.put("part-b.csv", "a,b\n5,6\n");
    folder.put("part-a.csv", "a,b\n1,2\n3,4\n");
    folder.put(".hidden.csv", "x\n");
    folder.put("read.me", "not a table");
    std::fs::create_dir(folder.path().join("within.csv")).unwrap();
    let input = many(&here(), &in_shell()).unwrap();
    assert_eq!(numbers(&input.rows), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let handle = unmix_io::Files::new(&here(), in_shell()).unwrap();
    assert_eq!(handle.about(&Default::default()).unwrap().n_rows, 3);
    folder.put("other.txt", "1 2\n");
    let mixed = refusal(&folder, &here(), &in_shell());
    assert!(mixed.contains("it is a folder with files of several formats (.csv, .txt)"), "{mixed}");
    assert!(mixed.contains("*.csv*'"), "{mixed}");
}

#[test]
fn a_fit_reads_the_rows_of_a_handle_to_several_files() {
    let folder = Folder::new();
    folder.put("part-a.csv", "a,b\n1,2\n3,4\n");
    folder.put("part-b.csv", "a,b\n5,7\n9,\n");
    let (run, settings) = (Run::default(), Default::default());
    let paths = [folder.path().join("part-*.csv")];
    let all = unmix_io::Files::new(&paths, in_shell()).unwrap();
    assert_eq!(all.missing(&run).unwrap(), [0, 1]);
    let complete = Options { missing: unmix_io::Missing::Drop, ..in_shell() };
    let files = unmix_io::Files::new(&paths, complete).unwrap();
    assert_eq!(files.missing(&run).unwrap(), [0, 0]);
    let model = unmix::fit("pca", &settings, &mut files.open(&run).unwrap().rows, &run).unwrap();
    let table = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0];
    let mut rows = AnyRows::from(unmix::Rows::from_slice(&table, 2).unwrap());
    let by_array = unmix::fit("pca", &settings, &mut rows, &run).unwrap();
    assert_eq!(model.tensor("components"), by_array.tensor("components"));
    assert_eq!(model.features().names, Some(vec!["a".into(), "b".into()]));
    let cells = folder.put("cells.csv", "row,column,value\n0,0,1\n1,1,5\n2,1,7\n");
    let listed = Options { triplets: true, ..in_shell() };
    let files = unmix_io::Files::new(&[&cells], listed).unwrap();
    assert_eq!(files.missing(&run).unwrap(), [2, 1]);
}

/// More unnamed columns than `describe` lists.
#[test]
fn missing_cells_of_many_columns_without_names_are_counted() {
    let p = (1 << 16) + 2;
    let mut line = vec!["1"; p];
    line[p - 1] = "NaN";
    let folder = Folder::new();
    let path = folder.put("wide.txt", format!("{}\n", line.join(" ")).repeat(2));
    let files = unmix_io::Files::new(&[&path], in_shell()).unwrap();
    let missing = files.missing(&Run::default()).unwrap();
    assert_eq!((missing.len(), missing[p - 1], missing.iter().sum::<u64>()), (p, 2, 2));
}

#[test]
fn a_folder_is_read_as_its_images() {
    let folder = Folder::new();
    let empty = refusal(&folder, &[folder.path().to_path_buf()], &in_shell());
    assert!(
        empty.contains("it is a folder, and there are no images or tables in it; give a file in it"),
        "{empty}"
    );
    folder.put("b.pgm", pgm(&[51; 6], 2, 3));
    folder.put("a.pgm", pgm(&[255; 6], 2, 3));
    folder.put("notes.txt", "not an image");
    let input = many(&[folder.path().to_path_buf()], &in_shell()).unwrap();
    assert_eq!(numbers(&input.rows), [[1.0; 6], [0.2; 6]].as_flattened());
    assert_eq!(input.rows.features().shape, Some(vec![2, 3]));
    let small = folder.put("small.pgm", pgm(&[0; 4], 2, 2));
    let message = refusal(&folder, &[folder.path().join("a.pgm"), small], &in_shell());
    assert!(
        message.contains("it has 2 x 2 pixels, but a.pgm has 2 x 3 pixels; make all images equally large"),
        "{message}"
    );
    let mixed = folder.put(
        "z.ppm",
        b"P6\n3 2\n255\n\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01",
    );
    let message = refusal(&folder, &[folder.path().join("a.pgm"), mixed], &in_shell());
    assert!(message.contains("it is in colour, but a.pgm is grey; give --grey or --rgb"), "{message}");
    let whole = pgm(&[7; 600], 20, 30);
    assert!(folder.refusal("cut.pgm", &whole[..300], &in_shell()).contains("truncated"));
    assert!(
        folder
            .refusal("a.png", "1,2\n", &in_shell())
            .contains("it does not start with the signature of a known image format")
    );
    let message =
        folder.refusal("a.csv", "1,2\n3,4\n", &Options { pixels: Some(Pixels::Grey), ..in_shell() });
    assert!(
        message.contains("grey=true is not possible: the input is of type csv, which has no pixels"),
        "{message}"
    );
}

/// The value at `y, x` of a test image, in 0 to 255.
fn pixel(image: usize, y: usize, x: usize) -> u8 {
    ((image * 101 + y * 37 + x * 11) % 256) as u8
}

fn images(folder: &Folder, sizes: &[(usize, usize)]) -> Vec<PathBuf> {
    let one = |(i, &(h, w)): (usize, &(usize, usize))| {
        let pixels: Vec<u8> = (0..h * w).map(|at| pixel(i, at / w, at % w)).collect();
        folder.put(&format!("{i}.pgm"), pgm(&pixels, h, w))
    };
    sizes.iter().enumerate().map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Patches equal slices of the padded image.
    #[test]
    fn patches_are_slices(
        sizes in prop::collection::vec((3usize..9, 3usize..9), 1..4),
        (h, w) in (1usize..4, 1usize..4),
        stride in prop::option::of(1usize..4),
        padding in 0usize..5,
    ) {
        let folder = Folder::new();
        let paths = images(&folder, &sizes);
        let options = Options { patches: Some(Patches { stride, padding, ..Patches::of(h, w) }), ..Default::default() };
        let mirror = |i: usize, n: usize| {
            let mut at = i as i64 - padding as i64;
            loop {
                match at {
                    _ if at < 0 => at = -1 - at,
                    _ if at >= n as i64 => at = 2 * n as i64 - 1 - at,
                    _ => return at as usize,
                }
            }
        };
        let mut want = Vec::new();
        for (i, &(height, width)) in sizes.iter().enumerate() {
            for top in (0..=height + 2 * padding - h).step_by(stride.unwrap_or(h)) {
                for left in (0..=width + 2 * padding - w).step_by(stride.unwrap_or(w)) {
                    let cells = (top..top + h).flat_map(|y| (left..left + w).map(move |x| (y, x)));
                    want.extend(cells.map(|(y, x)| f64::from(pixel(i, mirror(y, height), mirror(x, width))) / 255.0));
                }
            }
        }
        let input = many(&paths, &options).unwrap();
        prop_assert_eq!(numbers(&input.rows), want.clone());
        prop_assert_eq!(input.rows.features().shape.clone(), Some(vec![h, w]));
        let first = Options { columns: Some("0".into()), ..options };
        let input = many(&paths, &first).unwrap();
        prop_assert_eq!(numbers(&input.rows), want.iter().copied().step_by(h * w).collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Reassembled patches are the images that they were cut from, for every grid without gaps.
    #[test]
    fn patches_are_reassembled_to_the_pictures(
        sizes in prop::collection::vec((3usize..9, 3usize..9), 1..4),
        (h, w) in (1usize..4, 1usize..4),
        step in 1usize..4,
        padding in 0usize..5,
        normalise in any::<bool>(),
        pixels in prop::option::of(Just(Pixels::Rgb)),
    ) {
        let folder = Folder::new();
        let paths = images(&folder, &sizes);
        let stride = step.min(h).min(w);
        let patches = Patches { stride: Some(stride), padding, normalise, ..Patches::of(h, w) };
        let input = many(&paths, &Options { patches: Some(patches), pixels, ..in_shell() }).unwrap();
        let cut = input.patches.as_ref().unwrap();
        prop_assert_eq!(Some(cut.n_patches()), input.rows.n_rows());
        let mut assembly = cut.assembly().unwrap();
        // Rows come in blocks of any length.
        for rows in numbers(&input.rows).chunks(input.rows.n_features() * 3) {
            unmix::data::Sink::<f64>::put(&mut assembly, rows).unwrap();
        }
        let pictures = assembly.finish().unwrap();
        prop_assert_eq!(pictures.len(), sizes.len());
        let channels = if pixels.is_some() { 3 } else { 1 };
        for (i, (picture, &(height, width))) in pictures.iter().zip(&sizes).enumerate() {
            prop_assert_eq!(&picture.shape[..2], &[height, width]);
            prop_assert_eq!(picture.pixels.len(), height * width * channels);
            let outside = |length: usize, patch: usize| ((length + 2 * padding - patch) % stride).saturating_sub(padding);
            let (below, right) = (outside(height, h), outside(width, w));
            prop_assert_eq!(picture.n_uncovered, height * width - (height - below) * (width - right));
            for (at, x) in picture.pixels.iter().enumerate() {
                let at = at / channels;
                let want = f64::from(pixel(i, at / width, at % width)) / 255.0;
                prop_assert!((x - want).abs() < 1e-12, "image {i}, pixel {at}: {x} and {want}");
            }
        }
    }
}

#[test]
fn overlapping_patches_are_averaged() {
    let folder = Folder::new();
    let path = folder.put("line.pgm", pgm(&[10, 20, 30], 1, 3));
    let patches = Patches { stride: Some(1), ..Patches::of(1, 2) };
    let input = many(&[path], &Options { patches: Some(patches), ..in_shell() }).unwrap();
    let mut assembly = input.patches.unwrap().assembly().unwrap();
    unmix::data::Sink::<f32>::put(&mut assembly, &[0.25, 0.5, 1.0, 0.75]).unwrap();
    let pictures = assembly.finish().unwrap();
    assert_eq!(pictures[0].pixels, [0.25, 0.75, 0.75]);
    assert_eq!(pictures[0].shape, [1, 3]);
}

#[test]
fn patches_that_do_not_cover_pictures_make_none() {
    let folder = Folder::new();
    let paths = images(&folder, &[(8, 8)]);
    let with = |options: Options| many(&paths, &options).unwrap().patches;
    let of = |patches: Patches| Options { patches: Some(patches), ..in_shell() };
    let refused = |patches: Patches| with(of(patches)).unwrap().assembly().err().unwrap().to_string();
    let drawn = refused(Patches { number: Some(9), ..Patches::of(3, 3) });
    assert!(drawn.contains("drawn at random do not cover the pictures; leave out --number"), "{drawn}");
    assert!(drawn.contains("--stride 1"), "{drawn}");
    let gaps = refused(Patches { stride: Some(3), ..Patches::of(4, 2) });
    assert!(gaps.contains("gaps between patches that are 3 pixels apart; give --stride 2 or less"), "{gaps}");
    // Some of the rows, or of the pixels, are not pictures.
    assert!(with(Options { rows: Some((0, Some(2))), ..of(Patches::of(4, 4)) }).is_none());
    assert!(with(Options { columns: Some("0-3".into()), ..of(Patches::of(4, 4)) }).is_none());
    assert!(with(in_shell()).is_none());
    let of_selected = |options: Options| {
        let input = many(&paths, &options).unwrap();
        input.cut_images(&options).map(|cut| cut.is_some()).map_err(|e| e.to_string())
    };
    let selected = of_selected(Options { rows: Some((0, Some(2))), ..of(Patches::of(4, 4)) }).unwrap_err();
    assert!(
        selected.contains("were selected; leave out --rows, --columns, --drop and --transpose"),
        "{selected}"
    );
    assert_eq!(of_selected(of(Patches::of(4, 4))), Ok(true));
    assert_eq!(of_selected(in_shell()), Ok(false));
    let few = with(of(Patches::of(4, 4))).unwrap().assembly().unwrap().finish().unwrap_err().to_string();
    assert!(few.contains("there are 0 patches of 4"), "{few}");
}

#[test]
fn patches_are_drawn_by_seed_without_repetition_and_normalised() {
    let folder = Folder::new();
    let paths = images(&folder, &[(12, 9), (7, 8)]);
    let with = |patches: Patches| many(&paths, &Options { patches: Some(patches), ..in_shell() });
    let all = numbers(&with(Patches { stride: Some(1), ..Patches::of(3, 3) }).unwrap().rows);
    let (n, mut read) = (10 * 7 + 5 * 6, Vec::new());
    assert_eq!(all.len(), n * 9);
    let drawn = |seed| numbers(&with(Patches { number: Some(20), seed, ..Patches::of(3, 3) }).unwrap().rows);
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
    for patch in drawn(1).chunks(9) {
        let at = all.chunks(9).position(|own| own == patch).expect("a patch of the images");
        assert!(read.last().is_none_or(|&last| last < at));
        read.push(at);
    }
    for patch in numbers(&with(Patches { normalise: true, ..Patches::of(3, 3) }).unwrap().rows).chunks(9) {
        let (mean, square) =
            (patch.iter().sum::<f64>() / 9.0, patch.iter().map(|x| x * x).sum::<f64>() / 9.0);
        assert!(mean.abs() < 1e-14 && (square - 1.0).abs() < 1e-13);
    }
    let flat = folder.put("flat.pgm", pgm(&[77; 16], 4, 4));
    let options =
        Options { patches: Some(Patches { normalise: true, ..Patches::of(4, 4) }), ..Default::default() };
    assert_eq!(numbers(&many(&[flat], &options).unwrap().rows), [0.0; 16]);
    let refused = |patches: Patches| with(patches).err().unwrap().to_string();
    let message = refused(Patches { number: Some(101), ..Patches::of(3, 3) });
    assert!(
        message.contains("number=101 is not possible: the images have 100 patches of 3 x 3 pixels"),
        "{message}"
    );
    let message = refused(Patches::of(8, 8));
    assert!(message.contains("patches=8x8 is not possible: an image has 7 x 8 pixels"), "{message}");
    assert!(refused(Patches::of(0, 8)).contains("must be at least 1x1"));
    let python =
        Options { patches: Some(Patches::of(8, 8)), wording: unmix_io::Wording::PythonRead, ..in_shell() };
    let message = many(&paths, &python).err().unwrap().to_string();
    assert!(message.contains("patches=(8, 8) is not possible: an image has 7 x 8 pixels"), "{message}");
    assert!(
        refused(Patches { stride: Some(0), ..Patches::of(3, 3) })
            .contains("stride must be at least 1, got 0")
    );
}
