//! Filters of whole pictures: decoder vectors of rectified factor networks, PCA, ICA and denoising autoencoders.

mod sets;

use crate::Experiment;
use crate::lab::{Lab, map};
use crate::measure::autocorrelation;
use crate::output::{Grid, GridCell};
use serde_json::{Value, json};
use sets::{PictureSet, Sources};
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, Event, Matrix, Result, Rows, Run};
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "rfn-filters",
    source: "Clevert, Mayr, Unterthiner & Hochreiter 2015, Fig. 2",
    summary: "filters of digits, digits on backgrounds, shapes and photographs by rectified factor networks, PCA, ICA and denoising autoencoders",
    run,
};

/// Filters in a mosaic, and components of PCA and ICA, which have no more than the rows have dimensions.
const FILTERS_SHOWN: usize = 100;
/// Autocorrelation from which a filter is smooth.
const SMOOTH_AUTOCORRELATION: f64 = 0.5;
/// Random stream of the filters that are drawn.
const FILTER_STREAM: u64 = 81;

struct Sizes {
    pictures: usize,
    units: usize,
    iterations: u64,
    epochs: u64,
}

/// Name, key and settings of a method.
type Method = (&'static str, &'static str, fn(&Sizes) -> Value);

const METHODS: [Method; 4] = [
    ("RFN", "rfn", |s| rfn(s.units, s.iterations)),
    ("PCA", "pca", |_| json!({"n_components": FILTERS_SHOWN})),
    ("ICA", "ica", |_| json!({"n_components": FILTERS_SHOWN})),
    ("DAE", "dae", |s| json!({"n_components": s.units, "max_epochs": s.epochs, "standardize": false})),
];

fn rfn(units: usize, iterations: u64) -> Value {
    json!({"n_components": units, "center": "median", "psi_min_unit": "mean", "learning_rate": 0.1, "max_iter": iterations})
}

/// Filters of a method: how many there are, autocorrelations of all, and those that are drawn.
struct Filters {
    autocorrelation: Vec<f64>,
    drawn: Matrix<f64>,
}

impl Filters {
    fn of(set: &PictureSet, (_, key, settings): Method, sizes: &Sizes, run: &Run<'_>) -> Result<Self> {
        let mut rows = AnyRows::F32(Rows::from_slice(&set.x, set.n_pixels())?);
        let model = unmix::fit(key, &map(settings(sizes)), &mut rows, run)?;
        let all = model.code().mixing().unwrap_or_else(|| Matrix::zeros(set.n_pixels(), 0)).transposed();
        let mut order: Vec<usize> = (0..all.rows()).collect();
        Stream::new(0, FILTER_STREAM).shuffle(0, &mut order);
        order.truncate(FILTERS_SHOWN);
        Ok(Self {
            autocorrelation: (0..all.rows()).map(|j| autocorrelation(all.row(j), &set.shape)).collect(),
            drawn: Matrix::from_fn(order.len(), all.cols(), |i, j| all[(order[i], j)]),
        })
    }

    fn smooth(&self) -> f64 {
        let smooth = self.autocorrelation.iter().filter(|a| **a > SMOOTH_AUTOCORRELATION).count();
        smooth as f64 / self.autocorrelation.len().max(1) as f64
    }

    fn median(&self) -> f64 {
        let mut sorted = self.autocorrelation.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    }
}

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let sizes = match lab.options.quick {
        true => Sizes { pictures: 2000, units: 256, iterations: 100, epochs: 10 },
        false => Sizes { pictures: 10_000, units: 1024, iterations: 100, epochs: 20 },
    };
    let sources = Sources::read(lab.options.pictures.as_deref(), sizes.pictures, lab.run)?;
    notes(lab, &sources, &sizes)?;
    let mut grid = Grid::new("Share of smooth filters, and median autocorrelation".into());
    grid.header.push("pictures".into());
    grid.header.extend(METHODS.iter().map(|m| m.0.to_string()));
    let (mut records, mut each): (Vec<Vec<String>>, Vec<Vec<String>>) = Default::default();
    let mut pictures = Sheet::new("Pictures", 4);
    for name in sets::NAMES {
        let set = sources.set(name)?;
        if records.is_empty() {
            estimate(lab, &set, &sizes)?;
        }
        pictures.add(format!("{name}: {}", set.about), set.some());
        let mut sheet = Sheet::new(format!("Filters of {name}"), METHODS.len());
        let mut row = vec![GridCell::of(vec![name.into(), set.about.clone()])];
        for method in METHODS {
            let filters = Filters::of(&set, method, &sizes, lab.run)?;
            let (smooth, median, count) = (filters.smooth(), filters.median(), filters.autocorrelation.len());
            judge(lab, (name, method.0), smooth, median, sources.digits_given)?;
            row.push(GridCell::of(vec![format!("{smooth:.3} of {count}"), format!("median {median:.2}")]));
            records.push(
                [name, method.0]
                    .map(String::from)
                    .into_iter()
                    .chain([count.to_string()])
                    .chain([smooth, median].map(|v| format!("{v:.6}")))
                    .collect(),
            );
            each.extend(
                filters
                    .autocorrelation
                    .iter()
                    .enumerate()
                    .map(|(j, a)| vec![name.into(), method.0.into(), j.to_string(), format!("{a:.6}")]),
            );
            let caption =
                format!("{}: {} of {count}, {:.0} % smooth", method.0, filters.drawn.rows(), 100.0 * smooth);
            sheet.add(
                caption,
                Content::Pictures { vectors: filters.drawn, shape: set.shape.clone(), columns: 10 },
            );
        }
        lab.figure(name, &sheet)?;
        grid.rows.push(row);
    }
    lab.figure("pictures", &pictures)?;
    lab.grid(grid)?;
    lab.table("filters", &["pictures", "method", "filters", "smooth", "median"], &records)?;
    lab.table("autocorrelations", &["pictures", "method", "filter", "autocorrelation"], &each)
}

/// The share of smooth filters; of digits by RFN at least 90 %.
fn judge(
    lab: &mut Lab<'_>,
    (set, method): (&str, &str),
    smooth: f64,
    median: f64,
    given: bool,
) -> Result<()> {
    let what = |quantity: &str| format!("{set}, {method}: {quantity}");
    let (share, middle) = (what("share of smooth filters"), what("median autocorrelation"));
    let reason = "of 2000 digits by 100 units";
    match (set, method) {
        ("basic", "RFN") if given => {
            lab.check(share, smooth, "1.00 of 2000 digits by 100 units", "at least 0.9", smooth >= 0.9)?;
            lab.beside(middle, median, ".84", reason)
        }
        ("basic", "RFN") => {
            lab.check(share, smooth, "", "at least 0.9", smooth >= 0.9)?;
            lab.number(middle, median)
        }
        ("basic", "PCA") if given => {
            lab.beside(share, smooth, ".74", reason)?;
            lab.number(middle, median)
        }
        _ => {
            lab.number(share, smooth)?;
            lab.number(middle, median)
        }
    }
}

fn notes(lab: &mut Lab<'_>, sources: &Sources, sizes: &Sizes) -> Result<()> {
    lab.note(format!(
        "Data: {}. The sets of digits and shapes are generated from descriptions of those of Larochelle et al. (2007), they are not the published files. \
         Panel NORB of the figure is omitted: its pictures are not available.",
        sources.about
    ))?;
    lab.note(format!(
        "Decoder vectors of {} units of RFN (median subtracted, bound on the noise in units of the mean variance, rate 0.1, {} iterations, instead of the published \
         rate 0.01 with 1000 iterations) and of a denoising autoencoder ({} epochs); {FILTERS_SHOWN} components of PCA and ICA. {FILTERS_SHOWN} filters of each are drawn from a seed, each on a scale of \
         its own, symmetric about 0.",
        sizes.units, sizes.iterations, sizes.epochs
    ))?;
    lab.note(
        "A filter is smooth if its autocorrelation at a shift of one pixel is above 0.5. The publication shows the figure without numbers, and describes strokes, and local and global \
         blobs; on backgrounds filters of digits and none of noise.",
    )
}

/// Announces how long all fits will take: RFN by the time of two iterations, photographs of 4 times as many pixels, and the other methods together
/// as long again, which was not measured.
fn estimate(lab: &Lab<'_>, set: &PictureSet, sizes: &Sizes) -> Result<()> {
    let began = std::time::Instant::now();
    let mut rows = AnyRows::F32(Rows::from_slice(&set.x, set.n_pixels())?);
    unmix::fit("rfn", &map(rfn(sizes.units, 2)), &mut rows, lab.run)?;
    let one = began.elapsed().as_secs_f64() / 2.0 * sizes.iterations as f64;
    let minutes = (one * (6.0 + 4.0) * 2.0 / 60.0).ceil();
    lab.run
        .observer
        .event(Event::Stage(&format!("{} sets of pictures, about {minutes:.0} minutes", sets::NAMES.len())));
    Ok(())
}
