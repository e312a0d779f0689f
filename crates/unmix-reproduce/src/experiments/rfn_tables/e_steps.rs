//! The E-steps of RFN on the same instances.

use super::compare::summary;
use super::fits::Outcome;
use super::methods::E_STEPS;
use super::{Job, Plan, FittedMethod, roman};
use crate::lab::Lab;
use crate::output::{Grid, GridCell, shown};
use unmix::Result;

/// The E-steps on the same instances.
pub(super) fn e_steps(lab: &mut Lab<'_>, plan: &Plan, done: &[(Job, Outcome)]) -> Result<()> {
    lab.note(
        "E-steps on the same instances: the published tables come from the plain projection (1000 iterations with the rate 0.1), whose \
         objective may decrease from one iteration to the next. The cascade and coordinate E-steps (100 iterations with the rate 1) never \
         decrease it; SP, ER and CO of all three are comparable, the objective (larger \
         is better) most directly.",
    )?;
    let mut grid = Grid::new("E-steps of RFN on the same instances".into());
    grid.header.extend(["data", "plain", "cascade", "coordinate"].map(String::from));
    let mut lines = Vec::new();
    for &place in &plan.places {
        let label = format!("set {}, {} units, {}", roman(place.set), place.units, place.name());
        let mut row = vec![GridCell::of(vec![label])];
        for (at, e_step) in E_STEPS.iter().enumerate() {
            let own: Vec<&Outcome> = done
                .iter()
                .filter(|d| matches!(d.0.what, FittedMethod::EStep(e) if e == at) && d.0.place == place)
                .map(|d| &d.1)
                .collect();
            let mut text = Vec::new();
            for (criterion, name) in ["SP", "ER", "CO", "objective"].iter().enumerate() {
                let values: Vec<f64> = own.iter().filter_map(|o| o.as_ref().ok()?[criterion]).collect();
                let Some((mean, sd)) = summary(&values) else { continue };
                let deviation = sd.map_or(String::new(), |sd| format!(" ± {}", shown(sd)));
                text.push(format!("{name} {}{deviation}", shown(mean)));
                lines.push(vec![
                    roman(place.set).into(),
                    place.units.to_string(),
                    place.name().into(),
                    (*e_step).into(),
                    (*name).into(),
                    format!("{mean:.6}"),
                    sd.map_or(String::new(), |sd| format!("{sd:.6}")),
                    values.len().to_string(),
                ]);
            }
            if let Some(why) = own.iter().find_map(|o| o.as_ref().err()) {
                text.push(why.clone());
            }
            row.push(GridCell::of(text));
        }
        grid.rows.push(row);
    }
    lab.grid(grid)?;
    lab.table(
        "e-steps",
        &["set", "units", "data", "e_step", "criterion", "ours", "ours_sd", "instances"],
        &lines,
    )
}
