//! Selection of components by number, by range or by name.

use super::Model;
use crate::error::{Error, Result, counted};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A component, or a range of them, as the user gives it: `0`, `-1`, `2-4` or `ica3`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ComponentSelection {
    /// By number from 0; negative numbers count from the end, -1 being the last.
    Number(i64),
    /// From the first to the second number, both included.
    Range(u64, u64),
    /// By name, as [`Model::component_names`] has it.
    Name(String),
}

impl FromStr for ComponentSelection {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if let Ok(number) = text.parse() {
            return Ok(ComponentSelection::Number(number));
        }
        let range = text.split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        Ok(range
            .map_or_else(|| ComponentSelection::Name(text.into()), |(a, b)| ComponentSelection::Range(a, b)))
    }
}

impl std::fmt::Display for ComponentSelection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ComponentSelection::Number(number) => number.fmt(f),
            ComponentSelection::Range(a, b) => write!(f, "{a}-{b}"),
            ComponentSelection::Name(name) => write!(f, "'{name}'"),
        }
    }
}

impl Model {
    /// Names of the codes: the class in lower case and a number from 0, as in `ica0`.
    pub fn component_names(&self) -> Vec<String> {
        let class = self.method().class.to_lowercase();
        (0..self.n_codes()).map(|i| format!("{class}{i}")).collect()
    }

    /// Indices of the components `requested` by the setting `name`, in ascending order.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] for a component that the model does not have, and for one that is given twice, also by its name or in a range.
    pub fn choose(&self, name: &str, requested: &[ComponentSelection]) -> Result<Vec<usize>> {
        let names = self.component_names();
        let mut found = Vec::new();
        for one in requested {
            for index in indices(name, one, &names)? {
                if found.contains(&index) {
                    let why = format!("component {index} is given twice");
                    return Err(Error::setting(name, one, why, "give each component once"));
                }
                found.push(index);
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

/// The components of a model with these names that a selection denotes.
fn indices(name: &str, one: &ComponentSelection, names: &[String]) -> Result<RangeInclusive<usize>> {
    let k = names.len();
    let refused = |why: String, remedy: String| Err(Error::setting(name, one, why, remedy));
    let outside = || {
        let why = format!("the model has {}, numbered from 0", counted(k as u64, "component"));
        refused(why, "give numbers or names of components of the model".into())
    };
    match one {
        ComponentSelection::Number(number) => {
            let index = if *number < 0 { number + k as i64 } else { *number };
            usize::try_from(index).ok().filter(|&i| i < k).map_or_else(outside, |i| Ok(i..=i))
        }
        ComponentSelection::Range(first, last) if first > last => refused(
            "the first number of the range is larger than the second".into(),
            format!("give {last}-{first}"),
        ),
        ComponentSelection::Range(first, last) if *last < k as u64 => Ok(*first as usize..=*last as usize),
        ComponentSelection::Range(..) => outside(),
        ComponentSelection::Name(text) => match names.iter().position(|n| n == text) {
            Some(i) => Ok(i..=i),
            None => refused("the model has no component of that name".into(), similar(text, names)),
        },
    }
}

/// The remedy for a name that no component has.
fn similar(text: &str, names: &[String]) -> String {
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    match (crate::error::nearest(text, &all), &all[..]) {
        (Some(near), _) => format!("did you mean '{near}'?"),
        (None, [first, .., last]) => format!("names go from '{first}' to '{last}'"),
        (None, [only]) => format!("its name is '{only}'"),
        (None, []) => "it has 0 components".into(),
    }
}
