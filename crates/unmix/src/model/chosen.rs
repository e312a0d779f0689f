//! Selection of components by number, by range or by name.

use super::Model;
use crate::error::{Error, Result};
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

    /// Indices of the components `requested` by the setting `name`, in ascending order, without duplicates.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] for a component that the model does not have.
    pub fn choose(&self, name: &str, requested: &[ComponentSelection]) -> Result<Vec<usize>> {
        let names = self.component_names();
        let k = names.len();
        let mut found = Vec::new();
        for one in requested {
            let outside = || {
                let why = format!("the model has {k} components, numbered from 0");
                Error::setting(name, one, why, "give numbers or names of components of the model")
            };
            match one {
                ComponentSelection::Number(number) => {
                    let index = if *number < 0 { number + k as i64 } else { *number };
                    found.push(usize::try_from(index).ok().filter(|&i| i < k).ok_or_else(outside)?);
                }
                ComponentSelection::Range(first, last) if first <= last && (*last as usize) < k => {
                    found.extend(*first as usize..=*last as usize);
                }
                ComponentSelection::Range(first, last) if first > last => {
                    let why = "the first number of the range is larger than the second";
                    return Err(Error::setting(name, one, why, format!("give {last}-{first}")));
                }
                ComponentSelection::Range(..) => return Err(outside()),
                ComponentSelection::Name(text) => {
                    let unknown = || {
                        let all: Vec<&str> = names.iter().map(String::as_str).collect();
                        let why = "the model has no component of that name".to_string();
                        let remedy = match crate::error::nearest(text, &all) {
                            Some(near) => format!("did you mean '{near}'?"),
                            None if k > 0 => format!("names go from '{}' to '{}'", all[0], all[k - 1]),
                            None => "it has 0 components".into(),
                        };
                        Error::setting(name, one, why, remedy)
                    };
                    found.push(names.iter().position(|n| n == text).ok_or_else(unknown)?);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}
