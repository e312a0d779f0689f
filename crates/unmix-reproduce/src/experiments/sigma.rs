//! Standard deviations that are learnt: without a brake they grow without end.

use crate::Experiment;
use crate::lab::{Lab, Rate, as_pictures, train_rule};
use crate::measure;
use unmix::Result;
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "trained-sigma",
    source: "Fig 9 of sigma-PCA, arXiv 2311.13580v3",
    summary: "learnt standard deviations grow at every epoch unless their squares are penalised",
    run,
};

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let set = lab.patches()?;
    let reference = lab.converged(&set)?;
    let mut sheet = Sheet::new("Filters with learnt standard deviations", 3);
    let epochs: &[usize] = if lab.options.quick { &[1, 3, 6] } else { &[3, 6, 10] };
    let mut curves = Vec::new();
    for (name, l2) in [("no penalty", 0.0), ("penalty 0.001", 1e-3)] {
        let mut ratios = Vec::new();
        for &n in epochs {
            let rate = Rate { learning_rate: 0.01, epochs: n as u64, absolute: false };
            let (w, learnt) =
                train_rule(lab, &set.x, set.n_features(), "trained-sigma", rate, |spec| spec.sigma_l2 = l2)?;
            let seen: Vec<f64> = measure::moments(&measure::scores(&set.x, &measure::unit_rows(&w)))
                .iter()
                .map(|m| m.0.sqrt())
                .collect();
            let mut ratio: Vec<f64> = learnt.iter().zip(&seen).map(|(l, s)| l / s).collect();
            ratio.sort_by(f64::total_cmp);
            let middle = ratio.get(ratio.len() / 2).copied().unwrap_or(f64::NAN);
            ratios.push((n as f64, middle));
            let agreement = measure::matched(&w, &reference);
            lab.number(
                format!("{name}, {n} epochs: agreement with the converged filters"),
                agreement.mean,
                "",
            )?;
            if n != epochs[1] {
                sheet.add(
                    format!("{name}, {n} epochs: sigma over deviation {middle:.1}"),
                    as_pictures(&w, &set),
                );
            }
        }
        let grows = ratios.windows(2).all(|w| w[1].1 > w[0].1);
        let (first, last) = (ratios[0].1, ratios[ratios.len() - 1].1);
        lab.number(format!("{name}: sigma over deviation after the first and"), first, "")?;
        let published = if l2 == 0.0 { "grows: 10 to 90 in 10 epochs" } else { "stays: 3.4-6.8" };
        if l2 == 0.0 {
            lab.check(
                format!("{name}: after the last epoch"),
                last,
                published,
                "grows from each to the next",
                grows,
            )?;
        } else {
            lab.check(format!("{name}: after the last epoch"), last, published, "at most 8", last <= 8.0)?;
        }
        curves.push((name.to_string(), ratios));
    }
    lab.figure("trained-sigma", &sheet)?;
    let mut sheet = Sheet::new("Learnt standard deviation over the true one, median of the components", 1);
    sheet.add(
        "by epoch",
        Content::Lines { lines: curves, names: ("epochs".into(), "ratio".into()), log_y: false },
    );
    lab.figure("ratio", &sheet)
}
