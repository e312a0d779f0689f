//! The index of a pandas table: names or numbers of its rows, stored among the columns, and no feature.

use crate::selection::Selection;
use crate::{Options, Wording};
use serde_json::Value;
use std::collections::HashSet;
use unmix::{AnyRows, Real, Result, Rows, with_rows};

/// Rows from the start of a file whose numbers show whether a column numbers them: enough for that, and read quickly from files of any size.
pub(crate) const EXAMINED_ROWS: usize = 1000;

/// Fewest rows that a column without a telling name is taken to number: a short column may ascend so by chance.
const FEWEST_ROWS: usize = 10;

/// Names of columns of identifiers, in lower case.
const IDENTIFIERS: [&str; 9] = ["id", "ids", "nr", "no", "no.", "idx", "index", "subject", "patient"];

/// Places of the index among `names`, the columns of a file: those that `pandas`, the file's own description by pandas, calls so,
/// those with the name that pandas gives an index without one, and leading columns without a name.
pub(crate) fn places(names: &[String], pandas: Option<&str>) -> Vec<usize> {
    let described = pandas.map(described).unwrap_or_default();
    let n_unnamed = unnamed(names.iter().map(String::as_str));
    let is_index = |j: usize, name: &String| j < n_unnamed || described.contains(name) || is_level(name);
    names.iter().enumerate().filter(|(j, name)| is_index(*j, name)).map(|(j, _)| j).collect()
}

/// How many of the first columns have no name: pandas and R write the names of rows so, and pandas reads them back as `Unnamed: 0`, also next
/// to another index. 0 where no other column follows.
pub(crate) fn unnamed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> usize {
    let all = names.len();
    let is_unnamed = |name: &&str| name.trim().is_empty() || is_numbered(name, "Unnamed: ", "");
    let n = names.take_while(is_unnamed).count();
    if n < all { n } else { 0 }
}

/// A note about the first columns that are features and have the name of an index that pandas has made a column (`reset_index`); none where there
/// are none, or where columns were chosen, by a request or a model.
pub(crate) fn note_on_names(
    origin: &str,
    names: &[String],
    selection: &Selection,
    options: &Options,
) -> Option<String> {
    if !are_all_columns(options) {
        return None;
    }
    let is_feature = |j: usize| selection.features.as_ref().is_none_or(|features| features.contains(&j));
    let n = names.iter().take_while(|name| is_made_by_pandas(name)).count();
    let named: Vec<&str> = (0..n).filter(|j| is_feature(*j)).map(|j| names[j].as_str()).collect();
    if named.is_empty() || n == names.len() {
        return None;
    }
    let list = named.join(",");
    Some(format!(
        "{origin}: {} may be the index of a table and no feature; to leave it out, add {}",
        named.iter().map(|name| format!("column '{name}'")).collect::<Vec<_>>().join(", "),
        options.wording.plain("drop", list, true)
    ))
}

/// Whether the columns are those of the file, except some: where columns were chosen, by a request or a model, a note about one of them is of no use,
/// and so where they are those of a list of cells.
pub(crate) fn are_all_columns(options: &Options) -> bool {
    let of_model = options.wanted.is_some() || options.n_features.is_some();
    options.columns.is_none() && !of_model && !options.transpose && !options.triplets
}

/// [`note_on_numbers`] about the first feature of `rows`, which is column `column` of the file.
///
/// # Errors
///
/// Errors of reading the first rows.
pub(crate) fn note_on_rows(
    rows: &AnyRows<'_>,
    name: Option<&str>,
    column: usize,
    options: &Options,
) -> Result<Option<String>> {
    /// Numbers that are read; of wider tables fewer rows.
    const MOST_NUMBERS: usize = 1 << 20;
    let p = rows.n_features();
    if p < 2 || !are_all_columns(options) {
        return Ok(None);
    }
    let n = (MOST_NUMBERS / p).clamp(FEWEST_ROWS, EXAMINED_ROWS) as u64;
    let first: Vec<f64> = with_rows!(rows, rows => {
        rows.read_range(0..n)?.into_iter().step_by(p).map(Real::to_f64).collect()
    });
    Ok(note_on_numbers(rows.origin(), name, column, &first, options))
}

/// [`note_on_rows`] of rows that a file holds as they are: only the numbers of the first feature are read, and after the first of them the others only
/// where these ascend.
///
/// # Errors
///
/// Errors of reading them.
pub(crate) fn note_on_stored(rows: &AnyRows<'_>, column: usize, options: &Options) -> Result<Option<String>> {
    if rows.n_features() < 2 || !are_all_columns(options) {
        return Ok(None);
    }
    let name = rows.features().names.as_ref().map(|names| names[0].as_str());
    let of_first = |n: usize| -> Result<Option<String>> {
        let numbers = with_rows!(rows, rows => first_feature(rows, n as u64))?;
        Ok(note_on_numbers(rows.origin(), name, column, &numbers, options))
    };
    // What holds for all of the numbers holds for the first of them.
    match of_first(FEWEST_ROWS)? {
        None => Ok(None),
        Some(_) => of_first(EXAMINED_ROWS),
    }
}

/// The numbers of the first feature in the first `n` rows, or in all if there are fewer; none of rows that are read in their order only.
fn first_feature<T: Real>(rows: &Rows<'_, T>, n: u64) -> Result<Vec<f64>> {
    let Some(random) = rows.source().random() else { return Ok(Vec::new()) };
    let n = random.n_rows().min(n);
    let mut numbers = vec![T::default(); n as usize];
    random.read(0..n, 0..1, &mut numbers, &mut Vec::new())?;
    Ok(numbers.into_iter().map(Real::to_f64).collect())
}

/// A note about a column, the first feature, that appears to number the rows by its first `numbers`: whole numbers that ascend by one, or distinct
/// ones under the name of an identifier. The column stays a feature, because it may be one, such as a year.
pub(crate) fn note_on_numbers(
    origin: &str,
    name: Option<&str>,
    column: usize,
    numbers: &[f64],
    options: &Options,
) -> Option<String> {
    let is_noted_by_name = name.is_some_and(is_made_by_pandas);
    if !are_all_columns(options) || is_noted_by_name || numbers.iter().any(|x| x.fract() != 0.0) {
        return None;
    }
    let ascends = numbers.len() >= FEWEST_ROWS && numbers.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
    let identifies = name.is_some_and(is_identifier) && numbers.len() > 1 && {
        let mut seen = HashSet::new();
        numbers.iter().all(|x| seen.insert(x.to_bits()))
    };
    let called = name.map_or_else(|| column.to_string(), |name| format!("'{name}'"));
    (ascends || identifies).then(|| {
        format!(
            "{origin}: column {called} appears to number the rows: it may be the index of a table and no feature; to leave it out, add {}",
            options.wording.column("drop", name, column)
        )
    })
}

/// Notes for the user about the columns `index`, which are left out of `n`; none where there are none.
pub(crate) fn note(
    origin: &str,
    index: &[usize],
    names: &[String],
    n: usize,
    wording: Wording,
) -> Option<String> {
    let shown = |&j: &usize| match names[j].as_str() {
        "" => format!("{j} (no name)"),
        name => format!("{j} ('{name}')"),
    };
    let columns: Vec<String> = index.iter().map(shown).collect();
    let (what, are) = match columns.len() {
        0 => return None,
        1 => ("column", "is the index of a table and"),
        _ => ("columns", "are the index of a table and"),
    };
    Some(format!(
        "{origin}: {what} {} {are} left out; to read all columns as features, add {}",
        columns.join(", "),
        wording.plain("columns", format!("0-{}", n - 1), true)
    ))
}

/// Names of rows from the levels of an index, joined by commas; none where there is no level.
pub(crate) fn names_of_rows(levels: Vec<Vec<String>>) -> Option<Vec<String>> {
    let join = |a: Vec<String>, b: Vec<String>| a.iter().zip(b).map(|(a, b)| format!("{a}, {b}")).collect();
    levels.into_iter().reduce(join)
}

/// Whether pandas names an index so that it makes a column.
fn is_made_by_pandas(name: &str) -> bool {
    name == "index" || is_numbered(name, "level_", "")
}

/// Whether a name is usual for a column of identifiers: `ID`, `subject_id`, `PatientID`.
fn is_identifier(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    let ends = [" id", "_id", "-id", ".id"].iter().any(|end| lower.ends_with(end));
    let joined = name.trim().strip_suffix("ID").or(name.trim().strip_suffix("Id"));
    ends || IDENTIFIERS.contains(&lower.as_str())
        || joined.is_some_and(|before| before.ends_with(char::is_lowercase))
}

/// Whether pandas names an index without a name so.
fn is_level(name: &str) -> bool {
    is_numbered(name, "__index_level_", "__")
}

/// Whether a name is a number between these texts.
fn is_numbered(name: &str, before: &str, after: &str) -> bool {
    let number = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    number.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Names of the columns that a description by pandas calls the index. Other descriptions name none.
fn described(text: &str) -> Vec<String> {
    let Ok(Value::Object(about)) = serde_json::from_str(text) else { return Vec::new() };
    let columns = about.get("index_columns").and_then(Value::as_array);
    // A range of numbers is described by an object, and is not a column.
    columns.into_iter().flatten().filter_map(|name| name.as_str().map(Into::into)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str], pandas: Option<&str>) -> Vec<usize> {
        places(&names.iter().map(|n| n.to_string()).collect::<Vec<_>>(), pandas)
    }

    #[test]
    fn an_index_is_recognised_by_pandas_metadata_and_by_names() {
        let range =
            r#"{"index_columns": [{"kind": "range", "name": null, "start": 0, "stop": 3, "step": 1}]}"#;
        assert_eq!(of(&["a", "b"], Some(range)), [0; 0]);
        assert_eq!(of(&["a", "day", "b", "hour"], Some(r#"{"index_columns": ["day", "hour"]}"#)), [1, 3]);
        assert_eq!(of(&["a", "__index_level_0__", "__index_level_x__"], None), [1]);
        assert_eq!(of(&["a", "b"], Some("{")), [0; 0]);
        assert_eq!(of(&["", "", "a", ""], None), [0, 1]);
        assert_eq!(of(&["Unnamed: 0", "a", "Unnamed: 2"], None), [0]);
        assert_eq!(of(&["", "Unnamed: 0", "a"], None), [0, 1], "written twice by pandas");
        assert_eq!(of(&["Unnamed: x", "a"], None), [0; 0]);
        assert_eq!(of(&["", ""], None), [0; 0], "nothing else is there");
    }

    #[test]
    fn first_columns_named_as_an_index_by_pandas_are_noted_and_kept() {
        let names = ["level_0", "index", "a", "index"].map(String::from);
        let given =
            |features: &[usize]| Selection { features: Some(features.to_vec()), ..Selection::default() };
        let shell = Options { wording: Wording::Shell, ..Options::default() };
        let of = |features: &[usize]| note_on_names("t.csv", &names, &given(features), &shell);
        let found = of(&[0, 1, 2, 3]).unwrap();
        assert_eq!(
            found,
            "t.csv: column 'level_0', column 'index' may be the index of a table and no feature; to leave it out, add --drop level_0,index"
        );
        assert!(of(&[1, 2]).unwrap().ends_with("--drop index"));
        assert_eq!(of(&[2, 3]), None);
        let later = ["a", "index"].map(String::from);
        assert_eq!(note_on_names("t.csv", &later, &Selection::default(), &Options::default()), None);
    }

    #[test]
    fn a_first_column_that_numbers_the_rows_is_noted() {
        let shell = Options { wording: Wording::Shell, ..Options::default() };
        let of = |name: &str, numbers: &[f64]| note_on_numbers("t.csv", Some(name), 0, numbers, &shell);
        let counted: Vec<f64> = (0..12).map(|i| 7.0 + f64::from(i)).collect();
        let shuffled = [3.0, 1.0, 12.0, 7.0];
        assert_eq!(
            of("x", &counted).unwrap(),
            "t.csv: column 'x' appears to number the rows: it may be the index of a table and no feature; to leave it out, add --drop x"
        );
        assert!(of("x", &counted[..9]).is_none() && of("x", &shuffled).is_none());
        for name in ["ID", "id", "Nr", "subject_id", "PatientID", "Index"] {
            assert!(of(name, &shuffled).is_some(), "{name}");
            assert!(of(name, &[3.0, 1.0, 3.0]).is_none() && of(name, &[3.0, 1.5]).is_none(), "{name}");
        }
        for name in ["humid", "paid", "grid", "VOID", "index"] {
            assert!(of(name, &shuffled).is_none(), "{name}");
        }
        let gap = [&counted[..], &[f64::NAN]].concat();
        let years: Vec<f64> = (0..20).map(|i| 2000.0 + f64::from(i / 2)).collect();
        let zeros_and_ones: Vec<f64> = (0..20).map(|i| f64::from(i % 2)).collect();
        [gap, years, zeros_and_ones].iter().for_each(|numbers| assert_eq!(of("x", numbers), None));
        let unnamed = note_on_numbers("t.csv", None, 2, &counted, &shell).unwrap();
        assert!(unnamed.contains("column 2 appears") && unnamed.ends_with("--drop 2"), "{unnamed}");
        let python = Options { wording: Wording::PythonRead, ..Options::default() };
        let said = note_on_numbers("t.csv", Some("ID"), 0, &counted, &python).unwrap();
        assert!(said.ends_with("add drop=['ID']"), "{said}");
        let chosen = Options { columns: Some("x".into()), ..shell.clone() };
        assert_eq!(note_on_numbers("t.csv", Some("x"), 0, &counted, &chosen), None);
    }

    #[test]
    fn the_note_names_the_columns_and_a_remedy() {
        let names = ["", "day", "a"].map(String::from);
        assert_eq!(note("t.csv", &[], &names, 3, Wording::Shell), None);
        assert_eq!(
            note("t.csv", &[1], &names, 3, Wording::Shell).unwrap(),
            "t.csv: column 1 ('day') is the index of a table and left out; to read all columns as features, add --columns 0-2"
        );
        assert!(
            note("t.csv", &[0, 1], &names, 3, Wording::Shell)
                .unwrap()
                .contains("columns 0 (no name), 1 ('day') are the index")
        );
    }
}
