//! Names of a transposed table: its rows become features, named by the cells of one of its columns; its columns become rows, named by the
//! header.

use crate::Options;
use crate::selection::Selection;
use std::collections::HashSet;
use unmix::{Error, Result};

/// The columns whose cells name the features of the transposed table, of `n`: those of `keep`, else the index, else the first column with
/// text, by `is_text`, among those that are left out, else among the features, which it then is not; `true` in that last case. The
/// selection keeps neither of them any longer.
pub(crate) fn naming(
    selection: &mut Selection,
    n: usize,
    is_text: impl Fn(usize) -> bool,
) -> (Vec<usize>, bool) {
    let features: Vec<usize> = selection.features.clone().unwrap_or_else(|| (0..n).collect());
    for columns in [&mut selection.kept, &mut selection.index] {
        if !columns.is_empty() {
            return (std::mem::take(columns), false);
        }
    }
    let left_out = (0..n).filter(|j| !features.contains(j) && is_text(*j)).take(1).collect::<Vec<_>>();
    if !left_out.is_empty() {
        return (left_out, false);
    }
    match features.iter().copied().find(|&j| is_text(j)) {
        Some(j) if features.len() > 1 => {
            selection.features = Some(features.into_iter().filter(|&other| other != j).collect());
            (vec![j], true)
        }
        _ => (vec![], false),
    }
}

/// The note about a column that names the features that was not requested.
pub(crate) fn note(origin: &str, column: usize, name: &str) -> String {
    format!("{origin}: column {column} ('{name}') is text and names the columns of the transposed table")
}

/// Features of the transposed table.
#[derive(Debug, PartialEq)]
pub(crate) struct TransposedFeatures {
    pub(crate) names: Option<Vec<String>>,
    /// Indices of the columns of the model; `None` if these are all columns, in the order of the file.
    pub(crate) columns: Option<Vec<usize>>,
    /// Names of columns that the model does not have.
    pub(crate) ignored: Vec<String>,
}

impl TransposedFeatures {
    /// Of features with the names `cells`, matched to the columns of a model, if there is one.
    pub(crate) fn new(cells: Option<Vec<String>>, options: &Options) -> Result<Self> {
        let Some(cells) = cells.filter(|_| !options.unnamed) else {
            return Ok(Self { names: None, columns: None, ignored: vec![] });
        };
        check_once("the transposed table", &cells, options)?;
        let names = distinct(&cells);
        let wanted = Options { wanted: options.wanted.clone(), ..Options::default() };
        let found = Selection::new(&wanted, Some(&names), names.len(), &[])?;
        let some = |columns: &[usize]| columns.iter().map(|&j| names[j].clone()).collect::<Vec<_>>();
        Ok(Self {
            ignored: some(&found.ignored),
            names: Some(found.features.as_deref().map_or_else(|| names.clone(), some)),
            columns: found.features,
        })
    }
}

/// The names of the rows as a column that is kept beside the codes.
pub(crate) fn kept(options: &Options, names: Option<&[String]>) -> Vec<(String, Vec<String>)> {
    let names = names.filter(|_| options.keep.is_some() || options.copied.is_some());
    names.into_iter().map(|names| ("name".to_string(), names.to_vec())).collect()
}

/// The note about names that occur more than once among `cells`, of which `names` were made; `None` where there are none.
pub(crate) fn repeated(origin: &str, cells: &[String], names: &[String]) -> Option<String> {
    let is_renamed =
        |(cell, name): &(&String, &String)| !cell.trim().is_empty() && cell.trim() != name.as_str();
    let (cell, name) = cells.iter().zip(names).find(is_renamed)?;
    Some(format!(
        "{origin}: the column name '{}' occurs more than once; duplicates are renamed, as '{name}'",
        cell.trim()
    ))
}

/// Refuses a name among `cells` that occurs more than once and that a model needs, where the options ask for that.
///
/// # Errors
///
/// Such a name.
pub(crate) fn check_once(origin: &str, cells: &[String], options: &Options) -> Result<()> {
    let Some(wanted) = options.wanted.as_deref().filter(|_| options.wanted_once) else { return Ok(()) };
    let times = |name: &String| cells.iter().filter(|cell| cell.trim() == name).count();
    let Some(name) = wanted.iter().find(|name| times(name) > 1) else { return Ok(()) };
    let found =
        format!("the column name '{name}' occurs {} times, and the model needs one such column", times(name));
    let remedy = "rename the others, or leave them out of the file";
    Err(Error::format(origin, found, remedy).with(|details| details.name = Some(name.clone())))
}

/// Names, each once: a repeated one gets a number appended (`a`, `a.1`), a missing one is its place.
pub(crate) fn distinct(cells: &[String]) -> Vec<String> {
    let written: HashSet<&String> = cells.iter().collect();
    let mut taken = HashSet::new();
    let mut names = Vec::with_capacity(cells.len());
    for (j, cell) in cells.iter().enumerate() {
        let cell = cell.trim();
        let base = if cell.is_empty() { j.to_string() } else { cell.into() };
        let mut name = base.clone();
        let mut again = 0;
        while taken.contains(&name) || (again > 0 && written.contains(&name)) {
            again += 1;
            name = format!("{base}.{again}");
        }
        taken.insert(name.clone());
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|w| w.to_string()).collect()
    }

    #[test]
    fn the_naming_column_is_kept_or_index_or_dropped_or_the_first_with_text() {
        let names = strings(&["a", "gene", "b", "note"]);
        let of = |options: &Options, index: &[usize]| {
            let mut selection = Selection::new(options, Some(&names), 4, index).unwrap();
            let found = naming(&mut selection, 4, |j| j % 2 == 1);
            (found, selection.features, selection.kept)
        };
        let words = |w: &str| Some(w.to_string());
        let keep = Options { keep: words("note"), drop: words("gene"), ..Options::default() };
        assert_eq!(of(&keep, &[]), ((vec![3], false), Some(vec![0, 2]), vec![]));
        assert_eq!(of(&Options::default(), &[0]).0, (vec![0], false));
        let drop = Options { drop: words("a,note"), ..Options::default() };
        assert_eq!(of(&drop, &[]), ((vec![3], false), Some(vec![1, 2]), vec![]));
        assert_eq!(of(&Options::default(), &[]), ((vec![1], true), Some(vec![0, 2, 3]), vec![]));
        let numbers = Options { columns: words("a,b"), ..Options::default() };
        assert_eq!(of(&numbers, &[]), ((vec![1], false), Some(vec![0, 2]), vec![]));
    }

    #[test]
    fn features_are_matched_to_those_of_a_model_by_name() {
        let cells = || Some(strings(&["x", "y", "x", ""]));
        let plain = TransposedFeatures::new(cells(), &Options::default()).unwrap();
        let names = strings(&["x", "y", "x.1", "3"]);
        let note = repeated("t.csv", &cells().unwrap(), &names).unwrap();
        assert!(
            note.starts_with("t.csv: the column name 'x' occurs more than once") && note.ends_with("'x.1'")
        );
        assert_eq!((repeated("t.csv", &names, &names), plain.names), (None, Some(names)));
        assert_eq!((plain.columns, plain.ignored), (None, vec![]));
        let wanted = Options { wanted: Some(strings(&["x.1", "x"])), ..Options::default() };
        let found = TransposedFeatures::new(cells(), &wanted).unwrap();
        assert_eq!((found.columns, found.ignored), (Some(vec![2, 0]), strings(&["y", "3"])));
        let missing = Options { wanted: Some(strings(&["z"])), ..Options::default() };
        assert!(
            TransposedFeatures::new(cells(), &missing).unwrap_err().to_string().contains("needs column 'z'")
        );
        assert_eq!(TransposedFeatures::new(None, &missing).unwrap().names, None);
    }
}
