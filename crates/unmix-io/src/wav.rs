//! `.wav` files: samples are rows, channels columns, from -1 to 1. Several files are one recording, their channels side by side,
//! each named after its file, so that they are matched to those of a model in any order.

use crate::stored::{FromStart, read_failed};
use crate::{Input, Options, array, progress};
use hound::{SampleFormat, WavIntoSamples, WavReader, WavSpec};
use std::collections::HashSet;
use std::io::BufReader;
use std::path::Path;
use unmix::data::{Bytes, NpyHeader, NumberType, Spool};
use unmix::internal::error::counted;
use unmix::{Error, Real, Result, Run};

/// Samples a second of the file at `path`; `None` where it is no `.wav` file.
///
/// # Errors
///
/// A file that cannot be read.
pub fn sample_rate(path: &Path) -> Result<Option<u32>> {
    use std::io::Read;
    let mut file = std::fs::File::open(path).map_err(|e| Error::io("cannot read", path, e))?;
    let mut head = [0; 12];
    let known = file.read_exact(&mut head).is_ok() && begins(&head);
    if !known {
        return Ok(None);
    }
    Ok(WavReader::open(path).ok().map(|reader| reader.spec().sample_rate))
}

/// Writes one channel, numbers from -1 to 1, in 16 bits; what is outside is clipped.
///
/// # Errors
///
/// An unwritable place.
pub fn write_wav(path: &Path, rate: u32, samples: &[f64]) -> Result<()> {
    let spec =
        WavSpec { channels: 1, sample_rate: rate, bits_per_sample: 16, sample_format: SampleFormat::Int };
    let failed = |e: hound::Error| Error::io("cannot write", path, std::io::Error::other(e.to_string()));
    let mut bytes = std::io::Cursor::new(Vec::with_capacity(2 * samples.len() + 64));
    let mut writer = hound::WavWriter::new(&mut bytes, spec).map_err(failed)?;
    for x in samples {
        writer.write_sample((x.clamp(-1.0, 1.0) * f64::from(i16::MAX)).round() as i16).map_err(failed)?;
    }
    writer.finalize().map_err(failed)?;
    let mut file = unmix::data::NewFile::create(path)?;
    file.put(&bytes.into_inner())?;
    file.finish()
}

/// Whether a file begins as these files do.
pub(crate) fn begins(head: &[u8]) -> bool {
    head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WAVE")
}

type Opened<'a> = WavReader<BufReader<FromStart<&'a Bytes<'static>>>>;

/// The numbers of one file, one after the other.
enum Samples<R> {
    /// Integers, and the one that is full scale, 1.
    Int(WavIntoSamples<R, i32>, f64),
    Float(WavIntoSamples<R, f32>),
}

impl<R: std::io::Read> Samples<R> {
    fn next(&mut self) -> Option<hound::Result<f64>> {
        match self {
            Samples::Int(samples, one) => samples.next().map(|x| x.map(|x| f64::from(x) / *one)),
            Samples::Float(samples) => samples.next().map(|x| x.map(f64::from)),
        }
    }
}

/// `nameless` where bytes came from a pipe, which has no useful name.
pub(crate) fn open(
    files: &[Bytes<'static>],
    nameless: bool,
    options: &Options,
    run: &Run<'_>,
) -> Result<Input> {
    let mut readers = Vec::new();
    for bytes in files {
        let reader = WavReader::new(BufReader::with_capacity(1 << 16, FromStart::new(bytes)))
            .map_err(|e| wrong(e, bytes.path()))?;
        readers.push((reader, bytes.path()));
    }
    let Some((first, first_path)) = readers.first() else {
        return Err(Error::format("", "no file was given", "name one"));
    };
    let (rate, length) = (first.spec().sample_rate, first.duration());
    for (reader, path) in &readers {
        let differs = |what: &str, own: u32, other: u32| {
            let samples = counted(own.into(), "sample");
            let found = format!("it has {samples} per {what}, but {} has {other}", first_path.display());
            Err(Error::format(
                *path,
                found,
                "give files of one recording, which agree in both rate and length",
            )
            .with(|details| (details.need, details.got) = (Some(other.into()), Some(own.into())))
            .with(|details| details.other = Some(first_path.to_path_buf())))
        };
        match (reader.spec().sample_rate, reader.duration()) {
            (own, _) if own != rate => return differs("second", own, rate),
            (_, own) if own != length => return differs("channel", own, length),
            (_, 0) => {
                return Err(Error::format(*path, "it holds no samples", "check the program that wrote it"));
            }
            _ => {}
        }
    }
    let specs: Vec<WavSpec> = readers.iter().map(|(reader, _)| reader.spec()).collect();
    let width: usize = specs.iter().map(|spec| spec.channels as usize).sum();
    let paths: Vec<&Path> = files.iter().map(Bytes::path).collect();
    let names = if nameless || options.unnamed { None } else { names(&paths, &specs) };
    let (names, note) = match names {
        Some(names) if are_others(&names, options) => (None, others(&names, files.len(), options)),
        names => (names, None),
    };
    let single = specs.iter().all(|spec| spec.sample_format == SampleFormat::Float);
    let bytes = match single {
        true => decode::<f32>(readers, length, width, run)?,
        false => decode::<f64>(readers, length, width, run)?,
    };
    let size = if single { 4 } else { 8 };
    let number = NumberType::native(b'f', size);
    let header = NpyHeader::new(number, vec![u64::from(length), width as u64], 0);
    let mut kinds: Vec<String> = specs.iter().map(stored_as).collect();
    kinds.dedup();
    let input = array::open_named(bytes, header, names, options)?;
    let rows = input.rows.with_notes(note.into_iter().collect());
    Ok(Input { stored: kinds.join(", "), rows, ..input })
}

/// A name for each channel: that of its file without folder and extension, and the channel's number where the file has several. The
/// folder's name goes before it where files of several folders have the same name; none where that does not help.
fn names(paths: &[&Path], specs: &[WavSpec]) -> Option<Vec<String>> {
    let stem = |path: &Path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        Some(Path::new(name).file_stem()?.to_string_lossy().into_owned())
    };
    let with_folder = |path: &Path| {
        let folder = path.parent()?.file_name()?.to_string_lossy().into_owned();
        Some(format!("{folder}/{}", stem(path)?))
    };
    let distinct = |names: &Vec<String>| names.iter().collect::<HashSet<_>>().len() == names.len();
    let named = |name: &dyn Fn(&Path) -> Option<String>| {
        let files: Vec<String> = paths.iter().map(|path| name(path)).collect::<Option<_>>()?;
        let channels = files.iter().zip(specs).flat_map(|(file, spec)| match spec.channels {
            1 => vec![file.clone()],
            n => (0..n).map(|channel| format!("{file}_{channel}")).collect(),
        });
        Some(channels.collect()).filter(distinct)
    };
    named(&stem).or_else(|| named(&with_folder))
}

/// Whether a model has as many channels, with other names: another recording of the same microphones.
fn are_others(names: &[String], options: &Options) -> bool {
    let wanted = options.wanted.as_deref().filter(|wanted| wanted.len() == names.len());
    wanted.is_some_and(|wanted| !wanted.iter().any(|name| names.contains(name)))
}

/// Notes for the user about files whose order matters; for a single file there are none.
fn others(names: &[String], n_files: usize, options: &Options) -> Option<String> {
    let wanted = options.wanted.as_ref().filter(|_| n_files > 1)?;
    Some(format!(
        "the names of the files ({}, ...) differ from those that the model was fitted on ({}, ...): they are used in the order given",
        names[0], wanted[0]
    ))
}

/// All samples, those of one moment side by side.
fn decode<T: Real>(
    readers: Vec<(Opened<'_>, &Path)>,
    length: u32,
    width: usize,
    run: &Run<'_>,
) -> Result<Bytes<'static>> {
    const BATCH: usize = 1 << 16;
    let mut spool = Spool::new(readers[0].1);
    let mut sources: Vec<_> =
        readers.into_iter().map(|(reader, path)| (reader.spec(), samples(reader), path)).collect();
    let mut row = Vec::with_capacity(BATCH + width);
    for moment in 0..length {
        for (spec, samples, path) in &mut sources {
            for _ in 0..spec.channels {
                let sample = samples.next().unwrap_or(Err(hound::Error::UnfinishedSample));
                row.push(T::from_f64(sample.map_err(|e| cut(e, path, moment, length))?));
            }
        }
        if row.len() >= BATCH {
            spool.write_numbers(&row)?;
            row.clear();
            progress(run, u64::from(moment))?;
        }
    }
    spool.write_numbers(&row)?;
    spool.finish()
}

fn samples<R: std::io::Read>(reader: WavReader<R>) -> Samples<R> {
    let spec = reader.spec();
    match spec.sample_format {
        SampleFormat::Float => Samples::Float(reader.into_samples()),
        // 8 bits are stored without a sign; hound takes 128 off.
        SampleFormat::Int => {
            let one = (2f64).powi(i32::from(spec.bits_per_sample) - 1);
            Samples::Int(reader.into_samples(), one)
        }
    }
}

fn stored_as(spec: &WavSpec) -> String {
    match (spec.sample_format, spec.bits_per_sample) {
        (SampleFormat::Float, bits) => format!("float{bits}"),
        (SampleFormat::Int, bits) => format!("int{bits}"),
    }
}

/// The header is not that of a file that can be read.
fn wrong(e: hound::Error, path: &Path) -> Error {
    match e {
        hound::Error::IoError(e) if is_read_error(&e) => read_failed(e, path),
        hound::Error::IoError(_) => {
            Error::format(path, "it ends within its header", "it is truncated; copy or write it again")
        }
        hound::Error::Unsupported => {
            let remedy = "write it as PCM of 8, 16, 24 or 32 bits, or as float32";
            Error::format(path, "its sample format is not supported", remedy)
        }
        hound::Error::FormatError(why) if why.contains("bits per sample") => {
            let remedy = "write it as PCM of 8, 16, 24 or 32 bits, or as float32";
            Error::format(path, format!("its sample format is not supported ({why})"), remedy)
        }
        e => Error::format(
            path,
            format!("it is not a valid WAV file ({})", plain(&e)),
            "copy or write it again",
        ),
    }
}

/// A sample is not there.
fn cut(e: hound::Error, path: &Path, moment: u32, length: u32) -> Error {
    match e {
        hound::Error::IoError(e) if is_read_error(&e) => read_failed(e, path),
        hound::Error::TooWide | hound::Error::Unsupported | hound::Error::InvalidSampleFormat => {
            wrong(e, path)
        }
        _ => {
            let samples = counted(length.into(), "sample");
            let found = format!("its header declares {samples} per channel, but it ends after {moment}");
            Error::format(path, found, "it is truncated; copy or write it again")
                .with(|details| (details.need, details.got) = (Some(length.into()), Some(moment.into())))
        }
    }
}

/// Whether reading failed, rather than came to an end.
fn is_read_error(e: &std::io::Error) -> bool {
    e.get_ref().is_some_and(|e| e.is::<Error>())
}

fn plain(e: &hound::Error) -> String {
    let text = e.to_string().to_lowercase();
    text.trim_start_matches("ill-formed wave file: ").trim_end_matches('.').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: &[&str], channels: &[u16]) -> Option<Vec<String>> {
        let spec = |&channels: &u16| WavSpec {
            channels,
            sample_rate: 8000,
            bits_per_sample: 16,
            sample_format: SampleFormat::Int,
        };
        let paths: Vec<&Path> = paths.iter().map(|path| Path::new(*path)).collect();
        names(&paths, &channels.iter().map(spec).collect::<Vec<_>>())
    }

    #[test]
    fn channels_are_named_after_their_files() {
        let named = |names: &[&str]| Some(names.iter().map(|n| n.to_string()).collect::<Vec<_>>());
        assert_eq!(of(&["in/mix1.wav", "mix2.wav.gz"], &[1, 1]), named(&["mix1", "mix2"]));
        assert_eq!(of(&["a.wav", "b.wav"], &[2, 1]), named(&["a_0", "a_1", "b"]));
        assert_eq!(of(&["x/left.wav", "y/left.wav"], &[1, 1]), named(&["x/left", "y/left"]));
        assert_eq!(of(&["left.wav", "left.wav"], &[1, 1]), None, "the same file twice");
    }
}
