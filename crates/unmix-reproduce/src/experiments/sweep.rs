//! Variation of single parameters: the width of the tanh, and the scale of the input.

use crate::Experiment;
use crate::lab::{K, Lab, as_pictures, filters};
use crate::measure;
use crate::pictures::{PatchSet, PublishedPictures};
use serde_json::json;
use unmix::Result;
use unmix_report::{Content, Sheet};

pub(super) const WIDTH: Experiment = Experiment {
    key: "width",
    source: "Fig 11 of sigma-PCA, arXiv 2311.13580v3",
    summary: "a tanh(z/a) on patches: a = 2 is nearly PCA, from 3 on axes separate and kurtosis rises, without the published decay beyond 14",
    run: width,
};

pub(super) const SCALING: Experiment = Experiment {
    key: "scaling",
    source: "Fig 10 of sigma-PCA, arXiv 2311.13580v3",
    summary: "input times 0.01, 100 and 1000: the same filters",
    run: scaling,
};

const WIDTHS: [f64; 12] = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 14.0, 18.0, 22.0, 26.0, 30.0];

fn width(lab: &mut Lab<'_>) -> Result<()> {
    let set = lab.patches()?;
    let others = lab.others(&set)?;
    let linear = filters(&lab.fit_patches("pca", json!({"n_components": K}), &set)?);
    let mut sheet = Sheet::new("Filters by the width a of the tanh", 4);
    let (mut rising, mut first, mut last) = (Vec::new(), 0.0, 0.0);
    for a in WIDTHS {
        let settings = json!({"n_components": K, "a": a, "max_iter": if lab.options.quick { 40 } else { 80 }, "tol": 1e-4});
        let w = filters(&lab.fit_patches("sigma-pca", settings, &set)?);
        let name = format!("a = {a}");
        let seen = lab.measured(&name, &w, &set, &others)?;
        if a == 2.0 {
            let near = measure::matched(&w, &linear).mean;
            let (condition, holds) = if set.known == PublishedPictures::Cifar10 {
                ("within .03 of .96", (near - 0.96).abs() < 0.03)
            } else {
                ("above .8", near > 0.8)
            };
            lab.check("a = 2: agreement with linear PCA", near, ".96", condition, holds)?;
            first = seen.kurtosis;
        }
        if a == 8.0 {
            last = seen.kurtosis;
        }
        rising.push((a, seen.kurtosis));
        sheet.add(format!("a = {a}: kurtosis {:.1}", seen.kurtosis), as_pictures(&w, &set));
    }
    check_kurtosis(lab, &rising, (first, last), &set)?;
    lab.figure("width", &sheet)?;
    let mut curve = Sheet::new("Mean excess kurtosis by the width of the tanh", 1);
    let lines = vec![("kurtosis".to_string(), rising)];
    curve.add(
        "from 2 on it rises",
        Content::Lines {
            lines,
            names: ("a".into(), "excess kurtosis".into()),
            log_y: false,
            shaded: Vec::new(),
        },
    );
    lab.figure("kurtosis", &curve)
}

/// Published properties of the kurtosis as a function of the width; `first` is that at `a = 2`, `last` that at `a = 8`.
fn check_kurtosis(
    lab: &mut Lab<'_>,
    rising: &[(f64, f64)],
    (first, last): (f64, f64),
    set: &PatchSet,
) -> Result<()> {
    let upward = rising.iter().filter(|p| (2.0..=8.0).contains(&p.0)).collect::<Vec<_>>();
    let rises = upward.windows(2).filter(|w| w[1].1 > w[0].1).count();
    lab.check(
        "steps from a = 2 to 8 at which the kurtosis rises",
        rises as f64,
        "all 4",
        "all 4",
        rises + 1 == upward.len(),
    )?;
    if set.known == PublishedPictures::Cifar10 {
        let holds = (first - 2.7).abs() <= 0.3;
        lab.check("kurtosis at a = 2", first, "2.7", "within .3 of 2.7", holds)?;
        let wide = rising.iter().filter(|p| p.0 >= 6.0).map(|p| p.1);
        let (low, high) = wide.fold((f64::INFINITY, 0.0f64), |(l, h), k| (l.min(k), h.max(k)));
        lab.check("smallest kurtosis from a = 6 on", low, "9.7", "at least 9", low >= 9.0)?;
        lab.check("largest kurtosis from a = 6 on", high, "11.4", "at most 12", high <= 12.0)?;
    }
    lab.check(
        "kurtosis at a = 8 over that at a = 2",
        last / first,
        "10.5-11.4 over 2.7 (CIFAR-10)",
        "above 1.5",
        last > 1.5 * first,
    )
}

fn scaling(lab: &mut Lab<'_>) -> Result<()> {
    let set = lab.patches()?;
    let fit = |lab: &Lab<'_>, factor: f32| {
        let mut scaled = (*set).clone();
        scaled.x.iter_mut().for_each(|v| *v *= factor);
        let settings = json!({"n_components": K, "max_iter": if lab.options.quick { 30 } else { 60 }});
        lab.fit_patches("sigma-pca", settings, &scaled).map(|model| filters(&model))
    };
    let reference = fit(lab, 1.0)?;
    let mut sheet = Sheet::new("Filters of patches times a factor", 3);
    for factor in [0.01f32, 100.0, 1000.0] {
        let w = fit(lab, factor)?;
        let least = measure::matched(&w, &reference).least;
        sheet.add(format!("times {factor}: smallest cosine {least:.6}"), as_pictures(&w, &set));
        // In single precision, a factor that is not a power of two rounds every number.
        lab.check(
            format!("times {factor}: smallest cosine with the filters of the patches themselves"),
            least,
            "same filters",
            "at least .999",
            least >= 0.999,
        )?;
    }
    lab.figure("scaling", &sheet)
}
