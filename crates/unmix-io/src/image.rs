//! Images: each a row of pixels from 0 to 1, or cut into patches, each a row; in the orientation in which they are viewed.

use crate::assembly::CutImages;
use crate::patches::{Patches as Cut, StoredImage};
use crate::stored::{self, FromStart};
use crate::{Input, Options, Pixels, array, gz, jpeg, progress, progress_of};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult, Limits};
use std::io::{BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};
use unmix::data::{Bytes, NpyHeader, NumberType, Spool};
use unmix::{AnyRows, Error, Features, Result, Rows, Run};

/// Reads each file once; `first` holds the first one's bytes when they came from a pipe. All images have the first one's colours, unless `options` specify them.
pub(crate) fn open(
    mut first: Option<Bytes<'static>>,
    files: &[PathBuf],
    options: &Options,
    run: &Run<'_>,
) -> Result<Input> {
    let mut pixels = options.pixels;
    let mut spool = Spool::new(named(files));
    let (mut places, mut kinds): (Vec<StoredImage>, Vec<String>) = Default::default();
    for (i, path) in files.iter().enumerate() {
        let bytes = match first.take() {
            Some(bytes) => bytes,
            None => stored::open(path, run)?.bytes,
        };
        let (image, format) = decode(bytes, path, options, run)?;
        let colours = if is_grey(&image, format) { Pixels::Grey } else { Pixels::Rgb };
        let requested = *pixels.get_or_insert(colours);
        if options.pixels.is_none() && requested != colours {
            return Err(other_colours(path, &files[0], (colours, requested), options));
        }
        let place = StoredImage {
            start: spool.written() / 8,
            height: image.height() as usize,
            width: image.width() as usize,
        };
        if let (Some(first), None) = (places.first().copied(), &options.patches)
            && (first.height, first.width) != (place.height, place.width)
        {
            return Err(other_size(path, &files[0], (place, first), options));
        }
        write(&image, requested, path, &mut spool)?;
        places.push(place);
        let kind = format!("{:?}", image.color()).to_lowercase();
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
        // Rows of patches are counted later: here a picture is the unit.
        progress_of(run, "reading files", i as u64 + 1)?;
    }
    let channels = pixels.map_or(1, Pixels::channels);
    let mut shape = vec![places.len() as u64];
    if let [first, rest @ ..] = &places[..]
        && rest.iter().all(|p| (p.height, p.width) == (first.height, first.width))
    {
        shape.extend([first.height as u64, first.width as u64]);
        shape.extend((channels > 1).then_some(channels as u64));
    }
    let bytes = spool.finish()?;
    let input = match &options.patches {
        None => array::open(bytes, header(shape.clone()), options)?,
        Some(patches) => cut(bytes, places, patches, channels, options, run)?,
    };
    Ok(Input { stored: kinds.join(", "), shape: shape.into_iter().map(Some).collect(), ..input })
}

/// Writes pixels from 0 to 1 as an image of 8 bits, grey or in three colours by its `shape`, (height, width) or (height, width, 3); pixels outside
/// that range are clipped.
///
/// # Errors
///
/// Pixels that are not those of an image of this shape; a file that cannot be written.
pub fn write_png(path: &Path, pixels: &[f64], shape: &[usize]) -> Result<()> {
    let refused = || {
        let found = format!("{} pixels are not an image of shape {shape:?}", pixels.len());
        Error::format(path, found, "give (height, width) or (height, width, 3)")
    };
    let (height, width, colours) = match *shape {
        [height, width] => (height, width, image::ExtendedColorType::L8),
        [height, width, 3] => (height, width, image::ExtendedColorType::Rgb8),
        _ => return Err(refused()),
    };
    if shape.iter().product::<usize>() != pixels.len() || pixels.is_empty() {
        return Err(refused());
    }
    let values: Vec<u8> = pixels.iter().map(|x| (255.0 * x.clamp(0.0, 1.0)).round() as u8).collect();
    let mut bytes = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut bytes);
    image::ImageEncoder::write_image(encoder, &values, width as u32, height as u32, colours)
        .map_err(|e| Error::io("cannot write", path, std::io::Error::other(e.to_string())))?;
    let mut file = unmix::data::NewFile::create(path)?;
    file.put(&bytes)?;
    file.finish()
}

/// The name of the rows in messages: the file, or the first of several and their number, as for other files.
fn named(files: &[PathBuf]) -> PathBuf {
    match files {
        [first, others @ ..] if !others.is_empty() => {
            format!("{} and {} more", first.display(), others.len()).into()
        }
        _ => files[0].clone(),
    }
}

/// The error of an image whose colours are not those of the `first` file.
fn other_colours(path: &Path, first: &Path, (own, others): (Pixels, Pixels), options: &Options) -> Error {
    let found = format!("it is {}, but {} is {}", own.name(), first.display(), others.name());
    let (grey, rgb) = (options.wording.flag("grey", true), options.wording.flag("rgb", true));
    Error::format(path, found, format!("give {grey} or {rgb} to read all of them in the same way"))
        .with(|details| details.other = Some(first.to_path_buf()))
}

/// The error of an image that is not as large as the `first` file.
fn other_size(
    path: &Path,
    first: &Path,
    (own, others): (StoredImage, StoredImage),
    options: &Options,
) -> Error {
    let size = |p: StoredImage| format!("{} x {} pixels", p.height, p.width);
    let found = format!("it has {}, but {} has {}", size(own), first.display(), size(others));
    let patches = options.wording.size("patches", 11, 11);
    Error::format(path, found, format!("make all images equally large, or read patches, as in {patches}"))
        .with(|details| details.other = Some(first.to_path_buf()))
}

/// Doubles in the byte order of this machine, in C order.
fn header(shape: Vec<u64>) -> NpyHeader {
    NpyHeader::new(NumberType::native(b'f', 8), shape, 0)
}

/// Patches as rows. They are cut where they are read, or written down first when columns of them are requested.
fn cut(
    bytes: Bytes<'static>,
    places: Vec<StoredImage>,
    patches: &crate::Patches,
    channels: usize,
    options: &Options,
    run: &Run<'_>,
) -> Result<Input> {
    let path = bytes.path().to_path_buf();
    let sample = [&[patches.height, patches.width][..], if channels > 1 { &[3] } else { &[] }].concat();
    let source = Cut::new(bytes, places, patches.clone(), channels, options.wording)?;
    let n = source.len();
    let lists = [&options.columns, &options.drop, &options.keep, &options.copied];
    let requested = lists.iter().any(|list| list.is_some()) || options.transpose;
    if requested {
        let (mut spool, mut buffer) = (Spool::new(&path), vec![0.0; source.n_features()]);
        for i in 0..n {
            source.patch(i, &mut buffer)?;
            spool.write_numbers(&buffer)?;
            progress(run, i)?;
        }
        let shape: Vec<u64> = std::iter::once(n).chain(sample.iter().map(|&d| d as u64)).collect();
        return array::open(spool.finish()?, header(shape), options);
    }
    let shape = array::feature_shape(options, Some(sample), source.n_features())?;
    let patches = Some(CutImages::of(&source));
    let rows = Rows::new(source, Features { names: None, shape }, path.display().to_string());
    Ok(Input {
        rows: AnyRows::F64(rows),
        format: String::new(),
        stored: String::new(),
        shape: vec![],
        kept: vec![],
        row_names: None,
        ignored: vec![],
        text_cells: vec![],
        comma_cells: 0,
        commas_separate: false,
        patches,
        unread: vec![],
    })
}

fn decode(
    bytes: Bytes<'static>,
    path: &Path,
    options: &Options,
    run: &Run<'_>,
) -> Result<(DynamicImage, ImageFormat)> {
    let start = stored::head(FromStart::new(&bytes), 2, path)?;
    let bytes = if start == gz::MAGIC { gz::unpack(&bytes, run)? } else { bytes };
    let failed = |e| stored::read_failed(e, path);
    let reader =
        ImageReader::new(BufReader::new(FromStart::new(&bytes))).with_guessed_format().map_err(failed)?;
    let Some(format) = reader.format() else {
        return Err(Error::format(
            path,
            "it does not start with the signature of a known image format",
            format!("give .png, .jpg, .bmp, .pgm, .ppm or .tiff files, or {}", options.other_format()),
        ));
    };
    if format == ImageFormat::Jpeg {
        let whole = stored::head(FromStart::new(&bytes), u64::MAX, path)?;
        if !jpeg::is_whole(&whole) {
            return Err(Error::format(
                path,
                "it ends within the image",
                "it is truncated; copy or write it again",
            ));
        }
    }
    oriented(reader).map(|image| (image, format)).map_err(|e| match e {
        ImageError::IoError(e) if e.get_ref().is_some_and(|e| e.is::<Error>()) => failed(e),
        ImageError::IoError(_) => {
            Error::format(path, "it ends within the image", "it is truncated; copy or write it again")
        }
        ImageError::Limits(_) => {
            Error::format(path, "it declares an image of more than 512 MiB", "cut it into smaller ones")
        }
        ImageError::Unsupported(e) => Error::format(
            path,
            format!("it is of an unsupported image type ({e})"),
            "write it as a .png file",
        ),
        e => Error::format(path, format!("its image is corrupt ({e})"), "copy or write it again"),
    })
}

/// The image in the orientation in which it is viewed: cameras store the pixels as the sensor has them, and the orientation in the metadata.
fn oriented(reader: ImageReader<impl BufRead + Seek>) -> ImageResult<DynamicImage> {
    let mut decoder = reader.into_decoder()?;
    Limits::default().reserve(decoder.total_bytes())?;
    // Corrupt metadata has no valid orientation.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    Ok(image)
}

/// Bitmaps have no shades of grey except as colours.
fn is_grey(image: &DynamicImage, format: ImageFormat) -> bool {
    match image {
        DynamicImage::ImageRgb8(colours) if format == ImageFormat::Bmp => {
            colours.pixels().all(|p| p[0] == p[1] && p[1] == p[2])
        }
        _ => !image.color().has_color(),
    }
}

/// Writes pixels from 0 to 1 down, row by row; colours side by side. Floating point numbers are taken as they are.
fn write(image: &DynamicImage, pixels: Pixels, path: &Path, spool: &mut Spool) -> Result<()> {
    let byte = |x: u8| f64::from(x) / 255.0;
    let word = |x: u16| f64::from(x) / 65535.0;
    let color = image.color();
    let mut strips = PixelSink {
        channels: color.channel_count() as usize,
        colours: if color.has_color() { 3 } else { 1 },
        pixels,
        path,
        spool,
    };
    match image {
        DynamicImage::ImageLuma8(i) => strips.write(i, byte),
        DynamicImage::ImageLumaA8(i) => strips.write(i, byte),
        DynamicImage::ImageRgb8(i) => strips.write(i, byte),
        DynamicImage::ImageRgba8(i) => strips.write(i, byte),
        DynamicImage::ImageLuma16(i) => strips.write(i, word),
        DynamicImage::ImageLumaA16(i) => strips.write(i, word),
        DynamicImage::ImageRgb16(i) => strips.write(i, word),
        DynamicImage::ImageRgba16(i) => strips.write(i, word),
        DynamicImage::ImageRgb32F(i) => strips.write(i, f64::from),
        DynamicImage::ImageRgba32F(i) => strips.write(i, f64::from),
        other => {
            let found = format!("its pixels are of an unsupported kind ({:?})", other.color());
            Err(Error::format(path, found, "write it as a .png file"))
        }
    }
}

/// Where pixels go, some at a time: as doubles, those of a photograph are eight times as long as it is.
struct PixelSink<'a> {
    /// Samples of a pixel, and how many of them are colours.
    channels: usize,
    colours: usize,
    pixels: Pixels,
    path: &'a Path,
    spool: &'a mut Spool,
}

impl PixelSink<'_> {
    fn write<S: Copy>(&mut self, samples: &[S], number: impl Fn(S) -> f64) -> Result<()> {
        /// Pixels of a strip.
        const STRIP: usize = 1 << 16;
        let mut strip = Vec::with_capacity(STRIP * self.pixels.channels());
        for part in samples.chunks(STRIP * self.channels) {
            strip.clear();
            for pixel in part.chunks_exact(self.channels) {
                if pixel.get(self.colours).is_some_and(|&alpha| number(alpha) != 1.0) {
                    return Err(Error::format(
                        self.path,
                        "some of its pixels are transparent",
                        "flatten it onto a background first",
                    ));
                }
                match (&pixel[..self.colours], self.pixels) {
                    (&[r, g, b], pixels) => match (number(r), number(g), number(b), pixels) {
                        (r, g, b, Pixels::Rgb) => strip.extend([r, g, b]),
                        (r, g, b, Pixels::Grey) if r == g && g == b => strip.push(r),
                        // The luma weights of ITU-R BT.601, which most programs use.
                        (r, g, b, Pixels::Grey) => strip.push(0.299 * r + 0.587 * g + 0.114 * b),
                    },
                    (&[grey, ..], Pixels::Rgb) => strip.extend([number(grey); 3]),
                    (&[grey, ..], Pixels::Grey) => strip.push(number(grey)),
                    ([], _) => {}
                }
            }
            self.spool.write_numbers(&strip)?;
        }
        Ok(())
    }
}
