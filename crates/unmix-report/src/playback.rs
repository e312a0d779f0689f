//! Time courses at audible rates as sound that a page plays: mono, 16 bits, at most 16000 samples a second.

use base64::Engine;
use maud::{Markup, html};
use std::io::Cursor;
use unmix::{Error, Result};

/// The lowest rate of rows that is played.
const LEAST_AUDIBLE_RATE: f64 = 4000.0;
/// The highest rate of the sound: of rows that come faster, averages of neighbours are played.
const MOST_SOUND_RATE: f64 = 16_000.0;
/// Bytes of all sounds of a page.
const MOST_SOUND_BYTES: f64 = 4e6;
/// The largest amplitude, below full scale so that players do not clip.
const PEAK_AMPLITUDE: f64 = 0.9;

/// One of `count` sounds of the page, if rows come at an audible rate; `accessible_name` is its name for screen readers.
///
/// # Errors
///
/// A sound that cannot be written.
pub(crate) fn player(
    values: &[f64],
    rate: Option<f64>,
    count: usize,
    accessible_name: &str,
) -> Result<Markup> {
    let Some(rate) = rate.filter(|rate| *rate >= LEAST_AUDIBLE_RATE && !values.is_empty()) else {
        return Ok(html! {});
    };
    let every = (rate / MOST_SOUND_RATE).ceil().max(1.0) as usize;
    let seconds = MOST_SOUND_BYTES / (2.0 * count.max(1) as f64 * rate / every as f64);
    let values = &values[..values.len().min((seconds * rate) as usize)];
    let bytes = wav(&averaged(values, every), (rate / every as f64).round() as u32)?;
    let address =
        format!("data:audio/wav;base64,{}", base64::engine::general_purpose::STANDARD.encode(bytes));
    Ok(html! { audio controls preload="none" aria-label=(accessible_name) src=(address) {} })
}

/// Means of `every` successive values.
fn averaged(values: &[f64], every: usize) -> Vec<f64> {
    values.chunks(every).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect()
}

/// A sound without its mean, at the largest amplitude.
fn wav(values: &[f64], rate: u32) -> Result<Vec<u8>> {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let loudest = values.iter().fold(0.0f64, |most, x| most.max((x - mean).abs()));
    let gain = if loudest > 0.0 { PEAK_AMPLITUDE / loudest } else { 0.0 };
    let sound = hound::WavSpec {
        channels: 1,
        sample_rate: rate,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let failed = |e: hound::Error| Error::io("cannot write", "a sound", std::io::Error::other(e.to_string()));
    let mut bytes = Cursor::new(Vec::with_capacity(2 * values.len() + 64));
    let mut writer = hound::WavWriter::new(&mut bytes, sound).map_err(failed)?;
    for x in values {
        writer.write_sample(((x - mean) * gain * f64::from(i16::MAX)).round() as i16).map_err(failed)?;
    }
    writer.finalize().map_err(failed)?;
    Ok(bytes.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(markup: &str) -> (u32, Vec<i16>) {
        let text = markup.split("base64,").nth(1).unwrap().split('"').next().unwrap();
        let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
        let reader = hound::WavReader::new(Cursor::new(bytes)).unwrap();
        (reader.spec().sample_rate, reader.into_samples::<i16>().map(std::result::Result::unwrap).collect())
    }

    #[test]
    fn a_tone_is_played_at_its_pitch_and_without_its_mean() {
        let tone = |rate: f64| -> Vec<f64> {
            (0..rate as usize)
                .map(|i| 5.0 + 0.01 * (std::f64::consts::TAU * 440.0 * i as f64 / rate).sin())
                .collect()
        };
        for (rate, played) in [(8000.0, 8000), (44_100.0, 14_700)] {
            let page = player(&tone(rate), Some(rate), 4, "source 0").unwrap().into_string();
            let (found, samples) = read(&page);
            assert_eq!((found, samples.len() as u32), (played, played));
            let rises = samples.windows(2).filter(|w| w[0] < 0 && w[1] >= 0).count();
            assert!((439..=441).contains(&rises), "{rises}");
            let loudest = samples.iter().map(|s| s.unsigned_abs()).max().unwrap();
            assert!((f64::from(loudest) / f64::from(i16::MAX) - PEAK_AMPLITUDE).abs() < 1e-3);
        }
    }

    #[test]
    fn slow_rows_are_not_played_and_many_sounds_are_shortened() {
        let values = vec![1.0; 200_000];
        assert!(player(&values, Some(250.0), 1, "").unwrap().into_string().is_empty());
        assert!(player(&values, None, 1, "").unwrap().into_string().is_empty());
        let (_, samples) = read(&player(&values, Some(16_000.0), 100, "").unwrap().into_string());
        assert_eq!(samples.len(), 20_000);
        assert!(samples.iter().all(|s| *s == 0), "a constant is silence");
    }
}
