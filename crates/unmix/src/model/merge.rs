//! The model of the rows of two models, from the sums that both store.

use super::{Model, Sums};
use crate::data::{Features, listed};
use crate::error::{Error, Result};
use crate::run::Run;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

impl Model {
    /// The model of the union of this model's rows and those of `right`, with the settings and the columns of this one. If the columns
    /// of `right` have the same names in another order, its sums are reordered, which is exact. The record of how pictures were read is that
    /// of this one.
    ///
    /// # Errors
    ///
    /// Models of different methods or columns, models of a method that is not computed from sums ([`check_merge`](Self::check_merge)) or that do
    /// not store their sums, columns in different orders with a name twice.
    pub fn merge(&self, right: &Self, run: &Run<'_>) -> Result<Self> {
        if self.method.key != right.method.key {
            let found =
                format!("one was fitted by {} and the other by {}", self.method.key, right.method.key);
            return Err(refused(found, "merge models of one method"));
        }
        self.check_merge()?;
        let order = order(&self.features, &right.features)?;
        let (Some(a), Some(b)) = (self.sums(), right.sums()) else {
            let which = if self.sums.is_none() { "the first" } else { "the second" };
            let remedy = "fit it again by unmix::method::fit_by_sums, which stores sums";
            return Err(refused(format!("{which} holds no sums over its rows"), remedy));
        };
        let b: Cow<'_, Sums> = match &order {
            Some(order) => Cow::Owned(b.reordered(order)),
            None => Cow::Borrowed(b),
        };
        let merged = (self.method.spec)(&self.settings)?.fit_sums(&a.merged(&b)?, &self.features, run)?;
        Ok(merged.with_pictures(self.report.run.pictures))
    }

    /// Refuses a model that cannot be merged however it is fitted: its method does not compute models from sums over rows.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for such a model; settings that its method does not have.
    pub fn check_merge(&self) -> Result<()> {
        let spec = (self.method.spec)(&self.settings)?;
        match spec.takes_sums() {
            true => Ok(()),
            false => Err(refused(spec.not_merged().into(), "fit one model to the rows of both")
                .of_method(self.method.key)),
        }
    }
}

fn refused(found: String, remedy: impl Into<String>) -> Error {
    Error::unsupported("merging two models", found, remedy)
}

/// The position among the columns of `right` of every column of `left`; `None` if they are in the same order, or have no names.
fn order(left: &Features, right: &Features) -> Result<Option<Vec<usize>>> {
    let (Some(ours), Some(theirs)) = (&left.names, &right.names) else { return Ok(None) };
    if ours == theirs {
        let shapes =
            format!("a row has shape {:?} in the first and {:?} in the second", left.shape, right.shape);
        return if left.shape == right.shape {
            Ok(None)
        } else {
            Err(refused(shapes, "merge models of the same columns"))
        };
    }
    // With a name twice, the same sums could be taken twice, and others left out.
    for (which, names) in [("first", ours), ("second", theirs)] {
        if let Some(name) = given_twice(names) {
            let found =
                format!("their columns are not in the same order, and two of the {which} are named '{name}'");
            return Err(refused(found, "fit both to columns of distinct names"));
        }
    }
    let places: HashMap<&str, usize> =
        theirs.iter().enumerate().map(|(j, name)| (name.as_str(), j)).collect();
    let order: Option<Vec<usize>> = ours.iter().map(|name| places.get(name.as_str()).copied()).collect();
    match order.filter(|order| order.len() == theirs.len()) {
        Some(order) => Ok(Some(order)),
        None => Err(other_names(ours, theirs)),
    }
}

/// The first name that is the same as one before it.
fn given_twice(names: &[String]) -> Option<&str> {
    let mut seen = HashSet::new();
    names.iter().map(String::as_str).find(|name| !seen.insert(*name))
}

/// The error that names the columns that only one of the models has.
fn other_names(ours: &[String], theirs: &[String]) -> Error {
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|name| !those.contains(name)).map(|name| format!("'{name}'")).collect()
    };
    let said = [("first", only(ours, theirs)), ("second", only(theirs, ours))];
    let said = said.iter().filter(|(_, names)| !names.is_empty());
    let said: Vec<String> =
        said.map(|(which, names)| format!("only the {which} has {}", listed(names))).collect();
    let both: Vec<&String> = ours.iter().filter(|name| theirs.contains(name)).collect();
    let remedy: String = match both.is_empty() {
        true => "merge models of the same columns, in any order".into(),
        false => format!(
            "fit both to the same columns, in any order, such as those that both have: {}",
            listed(&both)
        ),
    };
    refused(format!("their columns have different names: {}", said.join(", and ")), remedy)
}
