//! Samples that are images, as PNG.

use crate::colour::{self, Rgb};
use crate::description;
use base64::Engine;
use unmix::{Error, Matrix, Model, Result};

/// Layout of the numbers of a sample in a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Layout {
    pub(crate) height: usize,
    pub(crate) width: usize,
    colour: Colour,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Colour {
    Grey,
    /// Red, green, blue side by side for each pixel.
    Interleaved,
    /// All reds, then all greens, then all blues.
    Planar,
}

impl Layout {
    /// A picture where the shape is (h, w), (h, w, 3), (3, h, w), or these with 1 for 3. Where both ends are 3, the last axis is
    /// the colour.
    pub(crate) fn of(shape: Option<&[usize]>) -> Option<Self> {
        let (height, width, colour) = match *shape? {
            [h, w] | [h, w, 1] | [1, h, w] => (h, w, Colour::Grey),
            [h, w, 3] => (h, w, Colour::Interleaved),
            [3, h, w] => (h, w, Colour::Planar),
            _ => return None,
        };
        // A strip one pixel high is a curve.
        (height > 1 && width > 1).then_some(Self { height, width, colour })
    }

    /// Whether a pixel has a colour of its own.
    pub(crate) fn is_colour(&self) -> bool {
        self.colour != Colour::Grey
    }

    fn channels(&self) -> usize {
        if self.colour == Colour::Grey { 1 } else { 3 }
    }

    fn at(&self, y: usize, x: usize, channel: usize) -> usize {
        match self.colour {
            Colour::Grey => y * self.width + x,
            Colour::Interleaved => (y * self.width + x) * 3 + channel,
            Colour::Planar => (channel * self.height + y) * self.width + x,
        }
    }

    /// Shrinks by the least whole factor that brings `count` pictures under `bytes` uncompressed.
    pub(crate) fn shrink_for(&self, count: usize, bytes: usize) -> usize {
        let size = |f: usize| self.height.div_ceil(f) * self.width.div_ceil(f) * self.channels() * count;
        (1..).find(|&f| size(f) <= bytes || (self.height.max(self.width)).div_ceil(f) <= 24).unwrap_or(1)
    }
}

/// Mapping of numbers to colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// 0 is white (grey in colour pictures), the ends are minus and plus this number.
    Signed(f64),
    /// From black to white.
    Range(f64, f64),
}

impl Scale {
    /// Symmetric about 0, up to the largest entry.
    pub(crate) fn signed(values: &[f64]) -> Self {
        Scale::Signed(values.iter().fold(0.0f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE))
    }

    /// For pictures that are shown as they are, and not as what is added to others: grey ones from their smallest to their largest
    /// entry, colours as a screen shows them.
    pub(crate) fn plain<'a>(layout: Layout, pictures: impl IntoIterator<Item = &'a [f64]>) -> Self {
        let (low, high) = crate::svg::extent(pictures.into_iter().flatten().copied());
        if layout.is_colour() {
            return Self::colours(low, high);
        }
        if low < high { Scale::Range(low, high) } else { Scale::Range(low - 1.0, low + 1.0) }
    }

    /// Stretching the three channels to what they hold would turn every grey into a bright colour. Numbers from 0 to 1 and from 0 to 255 are
    /// shown as they are, others about a middle grey that represents 0.
    fn colours(low: f64, high: f64) -> Self {
        // Interpolated pixels may lie beyond the ends by a rounding.
        let within = |most: f64| low >= -1e-6 * most && high <= most * (1.0 + 1e-6);
        match (low, high) {
            _ if within(1.0) => Scale::Range(0.0, 1.0),
            _ if within(255.0) => Scale::Range(0.0, 255.0),
            (low, high) if low >= 0.0 => Scale::Range(0.0, high),
            (low, high) => Scale::Signed(high.max(-low)),
        }
    }

    /// Where `x` lies between the ends, 0 to 1.
    fn unit(self, x: f64) -> f64 {
        let t = match self {
            Scale::Signed(most) => 0.5 + 0.5 * x / most,
            Scale::Range(low, high) => (x - low) / (high - low),
        };
        t.clamp(0.0, 1.0)
    }
}

/// Pixels, one byte (an index into [`palette`]) or three (red, green, blue) each.
struct Pixels {
    height: usize,
    width: usize,
    channels: usize,
    data: Vec<u8>,
}

/// Entry 254 is the upper end, so that 127 is exactly the middle; 255 is the gap between pictures.
const TOP: f64 = 254.0;

fn palette(scale: Scale) -> Vec<u8> {
    let colour = |i: usize| -> Rgb {
        match scale {
            _ if i == 255 => [255; 3],
            Scale::Signed(_) => colour::diverging((i as f64 - 127.0) / 127.0),
            Scale::Range(..) => [(255.0 * i as f64 / TOP).round() as u8; 3],
        }
    };
    (0..256).flat_map(colour).collect()
}

fn pixels(values: &[f64], layout: Layout, scale: Scale, shrink: usize) -> Pixels {
    let (height, width) = (layout.height.div_ceil(shrink), layout.width.div_ceil(shrink));
    let channels = layout.channels();
    let top = if channels == 1 { TOP } else { 255.0 };
    let mut data = Vec::with_capacity(height * width * channels);
    for y in 0..height {
        for x in 0..width {
            for c in 0..channels {
                let (ys, xs) = (
                    y * shrink..layout.height.min((y + 1) * shrink),
                    x * shrink..layout.width.min((x + 1) * shrink),
                );
                let n = (ys.len() * xs.len()) as f64;
                let sum: f64 = ys
                    .flat_map(|v| xs.clone().map(move |u| (v, u)))
                    .map(|(v, u)| values[layout.at(v, u, c)])
                    .sum();
                data.push((top * scale.unit(sum / n)).round() as u8);
            }
        }
    }
    Pixels { height, width, channels, data }
}

fn png(pixels: &Pixels, scale: Scale) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let failed = |e: png::EncodingError| Error::io("cannot encode", "a picture", e.into());
    let mut encoder = png::Encoder::new(&mut out, pixels.width as u32, pixels.height as u32);
    encoder.set_depth(png::BitDepth::Eight);
    if pixels.channels == 1 {
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(palette(scale));
    } else {
        encoder.set_color(png::ColorType::Rgb);
    }
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&pixels.data).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(out)
}

/// One sample as a `data:` address.
pub(crate) fn data_uri(values: &[f64], layout: Layout, scale: Scale, shrink: usize) -> Result<String> {
    let bytes = png(&pixels(values, layout, scale, shrink), scale)?;
    Ok(format!("data:image/png;base64,{}", base64::engine::general_purpose::STANDARD.encode(bytes)))
}

/// The first `count` components of a model whose features have the shape of a picture, side by side in one PNG of `columns`
/// pictures a row; each is scaled to its own largest entry, symmetric about 0.
///
/// # Errors
///
/// [`Error::Unsupported`] where the features are not a picture, or nothing is to be shown.
pub fn mosaic(model: &Model, count: usize, columns: usize) -> Result<Vec<u8>> {
    let refuse =
        |found: String, remedy: &str| Error::unsupported("a mosaic of the components", found, remedy);
    let Some(layout) = Layout::of(model.features().shape.as_deref()) else {
        let found = match &model.features().shape {
            Some(shape) => format!("the features have shape {shape:?}, which is not that of a picture"),
            None => "the features have no shape".to_string(),
        };
        return Err(refuse(found, "fit with a feature shape such as 28x28, or 28x28x3 for colour"));
    };
    let (count, columns) = (count.min(model.n_components()), columns.min(count));
    if count == 0 || columns == 0 {
        return Err(refuse("there is none to show".into(), "request at least one component and one column"));
    }
    let decoder = description::decoder(model);
    Ok(tile(&decoder, count, columns.min(count), layout, Scale::signed)?.0)
}

/// The first `count` vectors as one PNG, and its width and height. `scale` is that of one vector, and of the same kind for all.
pub(crate) fn tile(
    vectors: &Matrix<f64>,
    count: usize,
    columns: usize,
    layout: Layout,
    scale: impl Fn(&[f64]) -> Scale,
) -> Result<(Vec<u8>, (usize, usize))> {
    let gap = (layout.width.max(layout.height) / 14).max(1);
    let (height, width, channels) = (layout.height, layout.width, layout.channels());
    let mut sheet = Pixels {
        height: count.div_ceil(columns) * (height + gap) - gap,
        width: columns * (width + gap) - gap,
        channels,
        data: Vec::new(),
    };
    sheet.data = vec![255; sheet.height * sheet.width * channels];
    for i in 0..count {
        let one = pixels(vectors.row(i), layout, scale(vectors.row(i)), 1);
        let (top, left) = (i / columns * (height + gap), i % columns * (width + gap));
        for (y, line) in one.data.chunks_exact(width * channels).enumerate() {
            let start = ((top + y) * sheet.width + left) * channels;
            sheet.data[start..start + line.len()].copy_from_slice(line);
        }
    }
    // The colours are in the palette: only the kind of the scale matters here.
    let kind = if count == 0 { Scale::Signed(1.0) } else { scale(vectors.row(0)) };
    Ok((png(&sheet, kind)?, (sheet.width, sheet.height)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut out = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut out).unwrap();
        (info.width, info.height, out[..info.buffer_size()].to_vec())
    }

    #[test]
    fn shapes_that_are_pictures() {
        let size = |shape: &[usize]| Layout::of(Some(shape)).map(|l| (l.height, l.width, l.channels()));
        assert_eq!(size(&[4, 5]), Some((4, 5, 1)));
        assert_eq!(size(&[4, 5, 3]), Some((4, 5, 3)));
        assert_eq!(size(&[3, 4, 5]), Some((4, 5, 3)));
        assert_eq!(size(&[4, 5, 1]), Some((4, 5, 1)));
        assert!([&[7][..], &[1, 7], &[4, 5, 6], &[2, 4, 5, 3]].iter().all(|s| size(s).is_none()));
        assert_eq!(Layout::of(None), None);
    }

    #[test]
    fn zero_is_near_white_and_the_ends_are_blue_and_orange() {
        let values = [-2.0, 0.0, 2.0, 1.0];
        let layout = Layout::of(Some(&[2, 2])).unwrap();
        let scale = Scale::signed(&values);
        let (w, h, data) = decoded(&png(&pixels(&values, layout, scale, 1), scale).unwrap());
        assert_eq!((w, h, data.len()), (2, 2, 12));
        assert_eq!(data[..3], colour::diverging(-1.0));
        assert_eq!(data[3..6], colour::diverging(0.0));
        assert_eq!(data[6..9], colour::diverging(1.0));
    }

    #[test]
    fn colours_are_kept() {
        let grey = [121.0, 105.0, 94.0];
        let layout = Layout::of(Some(&[2, 2, 3])).unwrap();
        let shown =
            |values: &[f64], scale: Scale| decoded(&png(&pixels(values, layout, scale, 1), scale).unwrap()).2;
        for unit in [1.0, 1.0 / 255.0] {
            let mean: Vec<f64> = (0..12).map(|i| unit * grey[i % 3]).collect();
            let bytes = shown(&mean, Scale::plain(layout, [mean.as_slice()]));
            assert_eq!(bytes, [121, 105, 94].repeat(4), "unit {unit}");
        }
        // About 0: grey is in the middle, and all channels have the scale of the largest entry.
        let signed: Vec<f64> = (0..12).map(|i| if i == 0 { -2.0 } else { 0.5 }).collect();
        let bytes = shown(&signed, Scale::plain(layout, [signed.as_slice()]));
        assert_eq!((bytes[0], bytes[1], bytes[11]), (0, 159, 159));
        assert_eq!(bytes, shown(&signed, Scale::signed(&signed)));
        assert_eq!(shown(&[0.0; 12], Scale::Signed(1.0)), [128; 12]);
        // Large numbers without a sign begin at black.
        assert_eq!(Scale::plain(layout, [[0.0, 4095.0].as_slice()]), Scale::Range(0.0, 4095.0));
        // Pictures in grey are stretched, as before.
        let layout = Layout::of(Some(&[2, 2])).unwrap();
        assert_eq!(Scale::plain(layout, [[3.0, 5.0].as_slice()]), Scale::Range(3.0, 5.0));
    }

    #[test]
    fn planar_and_interleaved_colours_are_the_same_picture() {
        let interleaved: Vec<f64> = (0..24).map(|i| i as f64).collect();
        let planar: Vec<f64> = (0..24).map(|i| interleaved[i % 8 * 3 + i / 8]).collect();
        let scale = Scale::Range(0.0, 23.0);
        let a = pixels(&interleaved, Layout::of(Some(&[2, 4, 3])).unwrap(), scale, 1);
        let b = pixels(&planar, Layout::of(Some(&[3, 2, 4])).unwrap(), scale, 1);
        assert_eq!(a.data, b.data);
        assert_eq!((a.data[0], a.data[23]), (0, 255));
    }

    #[test]
    fn shrinking_averages_and_keeps_the_ragged_edge() {
        let values = [0.0, 2.0, 10.0, 4.0, 6.0, 20.0];
        let one = pixels(&values, Layout::of(Some(&[2, 3])).unwrap(), Scale::Range(0.0, 15.0), 2);
        assert_eq!((one.height, one.width), (1, 2));
        assert_eq!(one.data, [(TOP * 3.0 / 15.0).round() as u8, 254]);
        let large = Layout::of(Some(&[1000, 500])).unwrap();
        let f = large.shrink_for(20, 1 << 20);
        assert!(f > 1 && 20 * (1000 / f) * (500 / f) <= 1 << 20);
        assert_eq!(Layout::of(Some(&[28, 28])).unwrap().shrink_for(50, 1 << 20), 1);
    }

    #[test]
    fn a_mosaic_has_its_pictures_in_reading_order() {
        let vectors = Matrix::from_fn(3, 4, |i, j| if i == j { 1.0 } else { 0.0 });
        let (w, h, data) =
            decoded(&tile(&vectors, 3, 2, Layout::of(Some(&[2, 2])).unwrap(), Scale::signed).unwrap().0);
        assert_eq!((w, h), (5, 5));
        let at = |y: usize, x: usize| {
            [data[(y * 5 + x) * 3], data[(y * 5 + x) * 3 + 1], data[(y * 5 + x) * 3 + 2]]
        };
        let high = colour::diverging(1.0);
        assert_eq!((at(0, 0), at(0, 4), at(4, 0)), (high, high, high));
        assert_eq!((at(0, 2), at(4, 4)), ([255; 3], [255; 3]), "gaps are white");
    }
}
