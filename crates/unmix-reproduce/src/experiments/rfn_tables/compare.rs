//! Criteria compared with the published ones, and the rule that decides whether they agree.

use super::fits::Outcome;
use super::methods::{AVERAGED_INSTANCES, METHODS, Method, Rule};
use super::published::{self, Cell};
use super::{FittedMethod, Job, TableColumn};
use unmix::datasets::BICLUSTERS;

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

/// A criterion of a cell, or of an average of cells, and the published one.
pub(super) struct CriterionComparison {
    pub(super) ours: Option<(f64, Option<f64>)>,
    pub(super) n: usize,
    pub(super) published: Option<(f64, f64)>,
    pub(super) rule: Rule,
}

impl CriterionComparison {
    /// The largest accepted distance.
    pub(super) fn bound(&self) -> Option<f64> {
        let ((v, s), n) = (self.published?, self.n.max(1) as f64);
        match self.rule {
            Rule::Within { absolute, relative } => {
                Some(absolute + 3.0 * s.max(0.5) / n.sqrt() + relative * v)
            }
            Rule::Larger { absolute, relative } => Some(absolute.max(relative * v)),
            Rule::Average { absolute, relative } => {
                let fewer = (AVERAGED_INSTANCES as f64 / n).max(1.0);
                Some(absolute.max(relative * v) * fewer.sqrt())
            }
            Rule::Not(_) => None,
        }
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
    let suspect = is_suspect(name, place);
    let one = |criterion: usize| {
        let values: Vec<f64> = own.iter().filter_map(|o| o.as_ref().ok()?[criterion]).collect();
        let mut printed = cell.and_then(|c| c.values[criterion]);
        if *name == "PCA" && criterion == 0 {
            let exact = published::sparseness_of_pca(place.name(), place.set, place.units);
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

/// The published cell whose ER and CO contradict each other.
fn is_suspect(published: &str, place: TableColumn) -> bool {
    published == "RFNn" && place.set == 2 && place.data == 3 && place.units == 150
}

/// The average of a criterion of a method over its cells, and of the published values over the same ones, without the suspect one. The rule is that of
/// all data sets.
pub(super) fn averaged(
    method: usize,
    (set, units): (u64, usize),
    cells: &[(TableColumn, Vec<CriterionComparison>)],
    criterion: usize,
) -> CriterionComparison {
    let Method { published: name, rule, average, .. } = &METHODS[method];
    let used: Vec<&CriterionComparison> =
        cells.iter().filter(|(place, _)| !is_suspect(name, *place)).map(|(_, all)| &all[criterion]).collect();
    let mean = |of: &dyn Fn(&CriterionComparison) -> Option<f64>| {
        let values: Option<Vec<f64>> = used.iter().map(|c| of(c)).collect();
        summary(&values?).map(|v| v.0)
    };
    let rule = match average.map_or_else(|| rule(units, criterion), |rule| rule(set, units, criterion)) {
        Rule::Not(why) => Rule::Not(why),
        _ if cells.len() < BICLUSTERS.len() => Rule::Not("the rule is about the average of all data sets"),
        rule => rule,
    };
    CriterionComparison {
        ours: mean(&|c| c.ours.map(|v| v.0)).map(|v| (v, None)),
        n: used.iter().map(|c| c.n).min().unwrap_or(0),
        published: mean(&|c| c.published.map(|v| v.0)).map(|v| (v, 0.0)),
        rule,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Averages of the reference measurement with four instances, most of which the rule for eight accepts, and the same 20 % and 3.5 above.
    #[test]
    fn averages_have_rules_of_their_own() {
        let of = |method: &str, (set, units): (u64, usize), criterion: usize, ours: f64, v: f64| {
            let rule = METHODS.iter().find(|m| m.name == method).unwrap().average.unwrap();
            let rule = rule(set, units, criterion);
            CriterionComparison { ours: Some((ours, None)), n: 8, published: Some((v, 0.0)), rule }
        };
        for (method, place, values, published) in [
            ("RFN std", (1, 50), [74.6, 249.2, 109.1], [74.8, 249.0, 108.1]),
            ("RFN std", (1, 100), [80.6, 71.6, 30.0], [81.0, 68.4, 25.9]),
            ("RFN rms", (2, 150), [84.3, 19.6, 7.7], [84.3, 19.6, 7.1]),
            ("RFNn", (1, 150), [79.5, 144.9, 36.9], [80.3, 142.2, 35.0]),
            ("RFNn", (2, 100), [75.4, 209.9, 71.9], [76.3, 208.0, 69.9]),
        ] {
            for criterion in 0..3 {
                let v = published[criterion];
                let near = of(method, place, criterion, values[criterion], v);
                assert_eq!(near.holds(), Some(true), "{method} {place:?} {criterion}");
                let far = of(method, place, criterion, 1.2 * v + 3.6, v);
                assert_eq!(far.holds(), Some(false), "{method} {place:?} {criterion}");
            }
        }
        // Bounds as the text has them, and with fewer instances by their standard error.
        let bounds = |method: &str, place, n: usize| {
            [0, 1, 2].map(|criterion| {
                CriterionComparison { n, ..of(method, place, criterion, 0.0, 100.0) }.bound().unwrap()
            })
        };
        assert_eq!(bounds("RFN rms", (1, 50), 8), [1.0, 4.0, 8.0]);
        assert_eq!(bounds("RFN rms", (2, 100), 100), [1.0, 8.0, 20.0]);
        assert_eq!(bounds("RFN rms", (2, 150), 8), [1.0, 3.5, 3.5]);
        assert_eq!(bounds("RFNn", (2, 150), 8), [1.5, 4.0, 3.5]);
        assert_eq!(bounds("RFNn", (1, 100), 2), [2.0, 8.0, 40.0]);
    }

    #[test]
    fn bounds_of_methods_without_a_random_start_do_not_depend_on_instances() {
        let bound = |method: &str, units: usize, criterion: usize, v: f64, n: usize| {
            let rule = (METHODS.iter().find(|m| m.name == method).unwrap().rule)(units, criterion);
            CriterionComparison { ours: None, n, published: Some((v, 4.0)), rule }.bound()
        };
        for n in [1, 4, 100] {
            assert_eq!((bound("PCA", 50, 0, 0.55, n), bound("PCA", 50, 1, 34.0, n)), (Some(0.5), Some(1.2)));
            assert_eq!(
                (bound("PCA", 50, 1, 300.0, n), bound("ICA", 50, 1, 300.0, n)),
                (Some(3.0), Some(3.0))
            );
            assert_eq!(
                (bound("FA", 100, 1, 100.0, n), bound("FA", 50, 2, 100.0, n)),
                (Some(3.0), Some(10.0))
            );
            assert_eq!((bound("FA", 100, 2, 100.0, n), bound("ICA", 100, 1, 0.0, n)), (None, None));
        }
    }

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
