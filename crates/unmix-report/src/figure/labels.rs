//! Colours for points, from a label a row.

use crate::colour::{self, CLASSES, NEUTRAL};
use std::collections::HashMap;

/// Classes that get a colour of their own.
const MOST_CLASSES: usize = CLASSES.len();

/// Steps of a continuous scale.
const STEPS: usize = 24;

/// The quantity that colours encode.
pub(crate) enum Colouring {
    /// One colour for all.
    None,
    /// A colour for each class: its name and how many of all rows are in it.
    Classes {
        /// Name of the label.
        name: String,
        /// The classes; one more for "other", where there are too many.
        classes: Vec<(String, usize)>,
        /// Class of each value that has one.
        of: HashMap<String, usize>,
    },
    /// A scale of colours for numbers.
    Scale {
        /// Name of the label.
        name: String,
        /// Least and greatest.
        range: (f64, f64),
        /// The labels that have these, where they are written as dates.
        ends: Option<(String, String)>,
    },
    /// One colour for all, because nearly every row has a value of its own.
    Unlike {
        /// Name of the label.
        name: String,
        /// How many different values there are.
        values: usize,
    },
}

impl Colouring {
    /// Classes where there are few different values, a scale where there are many and nearly all are numbers, and the most
    /// frequent classes otherwise.
    pub(crate) fn of(labels: Option<&(String, Vec<String>)>) -> Self {
        let Some((name, values)) = labels else { return Colouring::None };
        let mut counts: HashMap<&str, usize> = HashMap::new();
        values.iter().for_each(|v| *counts.entry(v.trim()).or_default() += 1);
        let numbers: Vec<f64> = values.iter().filter_map(|v| parse(v)).collect();
        if counts.len() > MOST_CLASSES && numbers.len() * 10 >= values.len() * 9 {
            let whole = numbers.iter().all(|x| x.fract() == 0.0);
            let range = crate::svg::extent(numbers);
            // Dates and whole numbers, such as years, are shown as they were given.
            let as_given = whole || values.iter().any(|v| date(v).is_some());
            let end = |x: f64| values.iter().find(|v| parse(v) == Some(x)).map(|v| v.trim().to_string());
            let ends = if as_given { end(range.0).zip(end(range.1)) } else { None };
            return Colouring::Scale { name: name.clone(), range, ends };
        }
        let mut classes: Vec<(&str, usize)> = counts.into_iter().collect();
        let kept = if classes.len() > MOST_CLASSES { MOST_CLASSES - 1 } else { classes.len() };
        classes.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let rest: usize = classes[kept..].iter().map(|c| c.1).sum();
        // Eleven colours for a handful of points do not describe the others.
        if rest * 2 > values.len() && classes[0].1 * 50 < values.len() {
            return Colouring::Unlike { name: name.clone(), values: classes.len() };
        }
        classes.truncate(kept);
        classes.sort_by(|a, b| match (parse(a.0), parse(b.0)) {
            (Some(x), Some(y)) => x.total_cmp(&y),
            _ => a.0.cmp(b.0),
        });
        let of = classes.iter().enumerate().map(|(i, c)| (c.0.to_string(), i)).collect();
        let shown = |text: &str| if text.is_empty() { "(empty)".to_string() } else { text.to_string() };
        let mut classes: Vec<(String, usize)> = classes.into_iter().map(|(v, n)| (shown(v), n)).collect();
        if rest > 0 {
            classes.push(("other".into(), rest));
        }
        Colouring::Classes { name: name.clone(), classes, of }
    }

    /// How many groups points can fall into.
    pub(crate) fn groups(&self) -> usize {
        match self {
            Colouring::None | Colouring::Unlike { .. } => 1,
            Colouring::Classes { classes, .. } => classes.len(),
            Colouring::Scale { .. } => STEPS + 1,
        }
    }

    /// The group of a point with this label.
    pub(crate) fn group(&self, label: &str) -> usize {
        match self {
            Colouring::None | Colouring::Unlike { .. } => 0,
            Colouring::Classes { of, classes, .. } => {
                of.get(label.trim()).copied().unwrap_or(classes.len().saturating_sub(1))
            }
            Colouring::Scale { range: (low, high), .. } => match parse(label) {
                Some(x) if high > low => (((x - low) / (high - low) * STEPS as f64) as usize).min(STEPS - 1),
                Some(_) => 0,
                None => STEPS,
            },
        }
    }

    /// Colour of a group, and whether its dots are square.
    pub(crate) fn style(&self, group: usize) -> (String, bool) {
        match self {
            // The page's own colour.
            Colouring::None | Colouring::Unlike { .. } => ("var(--accent)".into(), false),
            Colouring::Classes { of, .. } if group >= of.len() => (NEUTRAL.into(), false),
            Colouring::Classes { .. } => (CLASSES[group % MOST_CLASSES].into(), group >= MOST_CLASSES / 2),
            Colouring::Scale { .. } if group == STEPS => (NEUTRAL.into(), false),
            Colouring::Scale { .. } => (Self::step(group), false),
        }
    }

    /// Colours of the scale, from the least number to the greatest.
    pub(crate) fn steps() -> impl Iterator<Item = String> {
        (0..STEPS).map(Self::step)
    }

    fn step(i: usize) -> String {
        colour::hex(colour::sequential((i as f64 + 0.5) / STEPS as f64))
    }
}

/// A number, or the number of a day.
fn parse(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite()).or_else(|| date(text))
}

/// The number of the day that "2021-03-31" is, with or without a time of day after it (Hinnant 2013: days from civil).
fn date(text: &str) -> Option<f64> {
    let day = text.trim().split([' ', 'T']).next()?;
    let [year, month, of_month] = *day.split('-').collect::<Vec<_>>() else { return None };
    if (year.len(), month.len(), of_month.len()) != (4, 2, 2) {
        return None;
    }
    let number = |text: &str| text.parse::<u32>().ok().map(f64::from);
    let (year, month, of_month) = (number(year)?, number(month)?, number(of_month)?);
    if !(1.0..=12.0).contains(&month) || !(1.0..=31.0).contains(&of_month) {
        return None;
    }
    // The year begins in March, so that a leap day is its last.
    let (year, month) = if month > 2.0 { (year, month - 3.0) } else { (year - 1.0, month + 9.0) };
    let leaps = (year / 4.0).floor() - (year / 100.0).floor() + (year / 400.0).floor();
    let clock = time_of_day(text.trim().get(11..).unwrap_or(""));
    Some(365.0 * year + leaps + ((153.0 * month + 2.0) / 5.0).floor() + of_month + clock)
}

/// "13:45:10" as a fraction of a day; 0 for other texts.
fn time_of_day(text: &str) -> f64 {
    let parts = text.split(':').take(3).map(|part| part.parse::<f64>().unwrap_or(0.0));
    parts.zip([24.0, 1440.0, 86400.0]).map(|(part, of)| part / of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl Iterator<Item = String>) -> Colouring {
        Colouring::of(Some(&("label".into(), values.collect())))
    }

    fn names(colouring: &Colouring) -> Vec<&str> {
        match colouring {
            Colouring::Classes { classes, .. } => classes.iter().map(|c| c.0.as_str()).collect(),
            _ => panic!("classes were expected"),
        }
    }

    #[test]
    fn few_values_are_classes_in_the_order_of_their_numbers() {
        let c = of((0..40).map(|i| ((i * 7) % 11).to_string()));
        assert_eq!(names(&c), ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
        assert_eq!((c.group("10"), c.group(" 3 ")), (10, 3));
        assert_ne!(c.style(3), c.style(10));
    }

    #[test]
    fn many_numbers_are_a_scale() {
        let c = of((0..100).map(|i| format!("{}", i as f64 / 3.0)));
        assert!(matches!(c, Colouring::Scale { range: (0.0, 33.0), ends: None, .. }));
        assert_eq!((c.group("0"), c.group("33"), c.group("?")), (0, STEPS - 1, STEPS));
        let Colouring::Scale { ends: Some(ends), .. } = of((0..40).map(|i| i.to_string())) else {
            panic!("the ends of whole numbers were expected")
        };
        assert_eq!(ends, ("0".to_string(), "39".to_string()));
    }

    #[test]
    fn of_many_words_the_most_frequent_keep_their_colour() {
        let c = of((0..20).flat_map(|i| std::iter::repeat_n(format!("w{i:02}"), i + 1)));
        let found = names(&c);
        assert_eq!((found.len(), found[0], found[11]), (12, "w09", "other"));
        assert_eq!((c.group("w00"), c.group("w19")), (11, 10));
        assert_eq!(c.style(11).0, NEUTRAL);
    }

    #[test]
    fn dates_are_a_scale_of_days() {
        let days = [date("1999-12-31"), date("2000-01-01"), date("2000-02-29"), date("2000-03-01 12:00:00")];
        let days = days.map(|d| d.unwrap() - date("2000-01-01").unwrap());
        assert_eq!(days, [-1.0, 0.0, 59.0, 60.5]);
        assert!(
            ["2000-13-01", "2000-1-1", "x-01-01", "12-2000-01", ""].iter().all(|text| date(text).is_none())
        );
        let c = of((0..60).map(|i| format!("2021-{:02}-{:02}", 1 + i / 28, 1 + i % 28)));
        let Colouring::Scale { ends: Some(ends), .. } = &c else { panic!("a scale was expected") };
        assert_eq!(*ends, ("2021-01-01".to_string(), "2021-03-04".to_string()));
        assert_eq!((c.group("2021-01-01"), c.group("2021-03-04")), (0, STEPS - 1));
    }

    #[test]
    fn distinct_values_in_every_row_have_one_colour() {
        let c = of((0..200).map(|i| format!("sample {i}")));
        assert!(matches!(c, Colouring::Unlike { values: 200, .. }));
        assert_eq!((c.groups(), c.group("sample 7")), (1, 0));
    }

    #[test]
    fn no_labels_one_colour_and_empty_labels_one_class() {
        assert_eq!(Colouring::of(None).groups(), 1);
        assert_eq!(names(&of(std::iter::once(String::new()))), ["(empty)"]);
        assert_eq!(of(std::iter::empty()).group("x"), 0);
    }
}
