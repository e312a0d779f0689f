//! Colours for points, from a label a row.

use crate::colour::{self, CLASSES, NEUTRAL};
use std::collections::HashMap;

/// Classes that get a colour of their own.
const MOST_CLASSES: usize = CLASSES.len();

/// Steps of a continuous scale.
const STEPS: usize = 24;

/// What colours stand for.
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
            return Colouring::Scale { name: name.clone(), range: crate::svg::extent(numbers) };
        }
        let mut classes: Vec<(&str, usize)> = counts.into_iter().collect();
        let kept = if classes.len() > MOST_CLASSES { MOST_CLASSES - 1 } else { classes.len() };
        classes.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let rest: usize = classes[kept..].iter().map(|c| c.1).sum();
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
            Colouring::None => 1,
            Colouring::Classes { classes, .. } => classes.len(),
            Colouring::Scale { .. } => STEPS + 1,
        }
    }

    /// The group of a point with this label.
    pub(crate) fn group(&self, label: &str) -> usize {
        match self {
            Colouring::None => 0,
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
            Colouring::None => ("var(--accent)".into(), false),
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

fn parse(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite())
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
        assert!(matches!(c, Colouring::Scale { range: (0.0, 33.0), .. }));
        assert_eq!((c.group("0"), c.group("33"), c.group("?")), (0, STEPS - 1, STEPS));
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
    fn no_labels_one_colour_and_empty_labels_one_class() {
        assert_eq!(Colouring::of(None).groups(), 1);
        assert_eq!(names(&of(std::iter::once(String::new()))), ["(empty)"]);
        assert_eq!(of(std::iter::empty()).group("x"), 0);
    }
}
