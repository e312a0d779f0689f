//! Criteria compared with the published ones, and the rule that decides whether they agree.

use super::fits::Outcome;
use super::methods::{METHODS, Method, Rule};
use super::published::{self, Cell};
use super::{FittedMethod, Job, TableColumn};

/// Mean, and standard deviation of more than one value.
pub(super) fn summary(values: &[f64]) -> Option<(f64, Option<f64>)> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some((mean, (n > 1.0).then(|| (squares / (n - 1.0)).sqrt())))
}

/// A criterion of a cell and the published one.
pub(super) struct CriterionComparison {
    pub(super) ours: Option<(f64, Option<f64>)>,
    pub(super) n: usize,
    pub(super) published: Option<(f64, f64)>,
    pub(super) rule: Rule,
}

impl CriterionComparison {
    /// The largest accepted distance.
    pub(super) fn bound(&self) -> Option<f64> {
        let (Rule::Within { absolute, relative }, Some((v, s))) = (self.rule, self.published) else {
            return None;
        };
        Some(absolute + 3.0 * s.max(0.5) / (self.n.max(1) as f64).sqrt() + relative * v)
    }

    pub(super) fn holds(&self) -> Option<bool> {
        Some((self.ours?.0 - self.published?.0).abs() <= self.bound()?)
    }

    pub(super) fn mark(&self) -> (&'static str, &'static str) {
        match (self.holds(), self.rule) {
            (Some(true), _) => ("holds", ""),
            (Some(false), _) => ("differs", ""),
            (None, Rule::Not(why)) => ("not comparable", why),
            (None, _) => ("not available", ""),
        }
    }

    pub(super) fn line(&self, name: &str) -> String {
        let pair = |v: Option<(f64, Option<f64>)>, digits: usize| match v {
            None => "-".into(),
            Some((mean, None)) => format!("{mean:.digits$}"),
            Some((mean, Some(sd))) => format!("{mean:.digits$} ± {sd:.digits$}"),
        };
        let published = self.published.map(|(mean, sd)| (mean, Some(sd)));
        format!("{name} {} ({})", pair(self.ours, 1), pair(published, 0))
    }
}

fn is(job: &Job, method: usize, place: TableColumn) -> bool {
    matches!(job.what, FittedMethod::Method(at) if at == method) && job.place == place
}

/// The criteria of a method in a place, and why it is not available.
pub(super) fn compared(
    method: usize,
    place: TableColumn,
    done: &[(Job, Outcome)],
    published: &[Cell],
) -> (Vec<CriterionComparison>, Option<String>) {
    let Method { published: name, rule, .. } = &METHODS[method];
    let own: Vec<&Outcome> = done.iter().filter(|d| is(&d.0, method, place)).map(|d| &d.1).collect();
    let of = |c: &&Cell| {
        c.method == *name && c.dataset == place.name() && c.set == place.set && c.units == place.units
    };
    let cell = published.iter().find(of);
    // The published cell whose ER and CO contradict each other.
    let suspect = *name == "RFNn" && place.set == 2 && place.data == 3 && place.units == 150;
    let one = |criterion: usize| {
        let values: Vec<f64> = own.iter().filter_map(|o| o.as_ref().ok()?[criterion]).collect();
        let mut printed = cell.and_then(|c| c.values[criterion]);
        if *name == "PCA" && criterion == 0 && place.units != 150 {
            let exact = published::sparseness_of_pca(place.name(), place.set)[place.units / 50 - 1];
            printed = printed.map(|(_, s)| (exact, s));
        }
        CriterionComparison {
            ours: summary(&values),
            n: values.len(),
            published: printed,
            rule: if suspect {
                Rule::Not("the published cell looks like an error")
            } else {
                rule(place.units, criterion)
            },
        }
    };
    let why = own.iter().find_map(|o| o.as_ref().err().cloned());
    ((0..3).map(one).collect(), why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_widens_with_the_published_deviation_and_narrows_with_instances() {
        let of = |ours: f64, n: usize| CriterionComparison {
            ours: Some((ours, Some(0.0))),
            n,
            published: Some((58.0, 1.0)),
            rule: Rule::Within { absolute: 0.5, relative: 0.04 },
        };
        assert!((of(0.0, 4).bound().unwrap() - 4.32).abs() < 1e-12);
        assert_eq!(
            [of(62.3, 4).holds(), of(62.4, 4).holds(), of(62.4, 1).holds()],
            [true, false, true].map(Some)
        );
    }

    #[test]
    fn one_instance_has_no_standard_deviation() {
        assert_eq!((summary(&[3.0]), summary(&[])), (Some((3.0, None)), None));
        assert_eq!(summary(&[1.0, 3.0]), Some((2.0, Some(2f64.sqrt()))));
    }
}
