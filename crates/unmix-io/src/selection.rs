//! Selection of feature columns, and of columns that are copied to the output with the codes: the options
//! `columns`, `drop` and `keep`.

use crate::{Options, Wording};
use std::collections::{HashMap, HashSet};
use unmix::{Error, Result};

/// Columns by number, from 0.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// The features, in order; `None` when they are all columns in their own order.
    pub(crate) features: Option<Vec<usize>>,
    /// Columns that are copied to the output with the codes.
    pub(crate) kept: Vec<usize>,
    /// Columns that were not requested.
    pub(crate) ignored: Vec<usize>,
    /// Columns of an index that are left out because they were not requested.
    pub(crate) index: Vec<usize>,
}

impl Selection {
    /// The selection that `options` make of `n` columns, of which each has a name or none has. Those of `index` are features only
    /// where they are requested, or needed by a model.
    ///
    /// # Errors
    ///
    /// A column that does not exist, is named twice, or is both left out and copied; no feature left.
    pub(crate) fn new(
        options: &Options,
        names: Option<&[String]>,
        n: usize,
        index: &[usize],
    ) -> Result<Self> {
        let columns = Columns::new(names, n, options.wording);
        let list =
            |setting, words: &Option<String>| columns.list(setting, words.as_deref().unwrap_or_default());
        let (requested, drop, kept) =
            (list("columns", &options.columns)?, list("drop", &options.drop)?, list("keep", &options.keep)?);
        if let Some(both) = drop.iter().find(|j| kept.contains(j)) {
            return Err(columns.dropped_and_kept(*both, options));
        }
        let own = if options.copied_stay { kept.clone() } else { vec![] };
        let kept = with_last(kept, list("keep", &options.copied)?);
        let wanted = options.wanted.as_deref().filter(|_| names.is_some() && !options.transpose);
        if requested.is_empty() && drop.is_empty() && kept.is_empty() && wanted.is_none() && index.is_empty()
        {
            return Ok(Self { features: None, kept, ignored: vec![], index: vec![] });
        }
        let left_out = if options.copied_stay { &own } else { &kept };
        let mut out: HashSet<usize> = drop.iter().chain(left_out).copied().collect();
        let is_wanted = |j: usize| wanted.is_some_and(|w| names.is_some_and(|names| w.contains(&names[j])));
        let left =
            index.iter().copied().filter(|&j| requested.is_empty() && !out.contains(&j) && !is_wanted(j));
        let index: Vec<usize> = left.collect();
        out.extend(&index);
        let from = if requested.is_empty() { (0..n).collect() } else { requested };
        let features: Vec<usize> = from.into_iter().filter(|j| !out.contains(j)).collect();
        if features.is_empty() && !index.is_empty() {
            return Err(Error::unsupported(
                "reading the columns as features",
                "none is left besides the index of the table",
                format!(
                    "add {} to read the index as a feature",
                    options.wording.plain("columns", format!("0-{}", n - 1), true)
                ),
            ));
        }
        if features.is_empty() {
            let (setting, words) = match drop.is_empty() {
                true => ("keep", options.keep.as_deref().or(options.copied.as_deref())),
                false => ("drop", options.drop.as_deref()),
            };
            return Err(Error::setting(
                setting,
                value(options.wording, words.unwrap_or_default()),
                "it leaves no column as a feature",
                "name fewer columns",
            ));
        }
        let (features, ignored) = match wanted {
            Some(wanted) => columns.wanted(wanted, &features)?,
            None => (features, vec![]),
        };
        let all = features.len() == n && features.iter().enumerate().all(|(i, &j)| i == j);
        Ok(Self { features: if all { None } else { Some(features) }, kept, ignored, index })
    }
}

/// The columns there are.
struct Columns<'a> {
    names: HashMap<&'a str, usize>,
    known: &'a [String],
    n: usize,
    wording: Wording,
}

impl<'a> Columns<'a> {
    fn new(names: Option<&'a [String]>, n: usize, wording: Wording) -> Self {
        let known = names.unwrap_or_default();
        let names = known.iter().enumerate().map(|(j, name)| (name.as_str(), j)).collect();
        Self { names, known, n, wording }
    }

    /// The numbers of the columns in `words`, in that order.
    fn list(&self, setting: &str, words: &str) -> Result<Vec<usize>> {
        let mut columns = Vec::new();
        let mut seen = HashSet::new();
        for word in split(words) {
            for j in self.one(setting, &word)? {
                if !seen.insert(j) {
                    return Err(Error::setting(
                        setting,
                        value(self.wording, words),
                        format!("it names {} twice", self.described(j)),
                        "name each column once",
                    ));
                }
                columns.push(j);
            }
        }
        Ok(columns)
    }

    /// A column by its number and name, in words.
    fn described(&self, j: usize) -> String {
        self.known.get(j).map_or(format!("column {j}"), |name| format!("column {j} ('{name}')"))
    }

    /// The error for a column that is among both `drop` and `keep`.
    fn dropped_and_kept(&self, j: usize, options: &Options) -> Error {
        let given = |setting, words: &Option<String>| {
            let words = words.as_deref().unwrap_or_default();
            self.wording.column_list(setting, words, &split(words))
        };
        let (drop, keep) = (given("drop", &options.drop), given("keep", &options.keep));
        Error::unsupported(
            format!("reading {}", self.described(j)),
            format!("both {drop} and {keep} name it"),
            "name it in one of the two",
        )
        .with(|d| d.column = Some(j))
    }

    /// The columns named `wanted`, in that order, and those of `from` that are not among them.
    fn wanted(&self, wanted: &[String], from: &[usize]) -> Result<(Vec<usize>, Vec<usize>)> {
        let there: HashSet<usize> = from.iter().copied().collect();
        let find = |name: &String| {
            let found = self.names.get(name.as_str()).copied().filter(|j| there.contains(j));
            found.ok_or_else(|| {
                Error::unsupported(
                    "matching the columns to those of the model by name",
                    format!("the model needs column '{name}', which is not among the columns read"),
                    "give all columns that the model was fitted on, with the same names",
                )
                .with(|d| d.name = Some(name.clone()))
            })
        };
        let features: Vec<usize> = wanted.iter().map(find).collect::<Result<_>>()?;
        let used: HashSet<usize> = features.iter().copied().collect();
        Ok((features, from.iter().copied().filter(|j| !used.contains(j)).collect()))
    }

    /// A name, a number, or a range of numbers with both ends included. Names take precedence.
    fn one(&self, setting: &str, word: &str) -> Result<std::ops::RangeInclusive<usize>> {
        if let Some(&j) = self.names.get(word) {
            return Ok(j..=j);
        }
        let number = |s: &str| s.trim().parse::<u64>().ok();
        let ends = match word.split_once('-') {
            Some((from, to)) => number(from).zip(number(to)),
            None => number(word).map(|j| (j, j)),
        };
        let requested = || self.wording.columns_value(word, &[word.to_string()]);
        let refused = |why: String, remedy: String| Err(Error::setting(setting, requested(), why, remedy));
        match ends {
            None if self.known.is_empty() => refused(
                "the columns have no names".into(),
                format!("choose numbers from 0 to {}, as in {}", self.n - 1, self.wording.columns_example()),
            ),
            None => Err(self.no_such_name(word)),
            Some((from, to)) if from > to => refused(
                "the range runs backwards".into(),
                format!("write {}", self.wording.text_value(&format!("{to}-{from}"))),
            ),
            Some((_, to)) if to >= self.n as u64 => refused(
                match self.n {
                    1 => "there is 1 column, number 0".into(),
                    n => format!("there are {n} columns, numbered from 0"),
                },
                format!("choose numbers from 0 to {}", self.n - 1),
            ),
            Some((from, to)) => Ok(from as usize..=to as usize),
        }
    }

    fn no_such_name(&self, word: &str) -> Error {
        Error::unknown("column", word, self.known.iter().map(String::as_str))
    }
}

/// Columns with `last` at their end, each once.
fn with_last(mut columns: Vec<usize>, last: Vec<usize>) -> Vec<usize> {
    columns.retain(|j| !last.contains(j));
    columns.extend(last);
    columns
}

/// The value of an option that lists columns, of which `words` is the text.
pub(crate) fn value(wording: Wording, words: &str) -> String {
    wording.columns_value(words, &split(words))
}

/// Words between commas, as a line of a text file is split: a name with a comma goes in double quotes.
fn split(words: &str) -> Vec<String> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(words.as_bytes());
    let record = reader.records().next().and_then(|r| r.ok());
    let cells = record.iter().flatten().filter(|w| !w.is_empty());
    cells.map(Into::into).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(
        columns: &str,
        drop: &str,
        keep: &str,
        names: &[&str],
        n: usize,
    ) -> std::result::Result<Selection, String> {
        let words = |w: &str| Some(w.to_string()).filter(|w| !w.is_empty());
        let options =
            Options { columns: words(columns), drop: words(drop), keep: words(keep), ..Default::default() };
        let names: Vec<String> = names.iter().map(|n| n.to_string()).collect();
        Selection::new(&options, Some(&names[..]).filter(|n| !n.is_empty()), n, &[])
            .map_err(|e| e.to_string())
    }

    #[test]
    fn names_numbers_and_ranges_are_understood() {
        let names = ["a", "b", "7", "x,y", "2-3", "f", "g", "h"];
        let features = |c: &str, d: &str, k: &str| select(c, d, k, &names, 8).unwrap().features;
        assert_eq!(features("", "", ""), None);
        assert_eq!(features("0-7", "", ""), None);
        assert_eq!(features("g, a,4-5", "", ""), Some(vec![6, 0, 4, 5]));
        assert_eq!(
            features("7,2-3", "", ""),
            Some(vec![2, 4]),
            "names take precedence over numbers and ranges"
        );
        assert_eq!(features("\"x,y\",b", "", ""), Some(vec![3, 1]));
        assert_eq!(features("", "0-1,4", "f"), Some(vec![2, 3, 6, 7]));
        assert_eq!(select("", "b", "h,a", &names, 8).unwrap().kept, [7, 0]);
        assert_eq!(select("a-b", "", "", &["a-b", "c"], 2).unwrap().features, Some(vec![0]));
    }

    #[test]
    fn columns_of_a_model_are_found_by_name_and_others_ignored() {
        let names = ["id", "b", "a", "c"].map(String::from);
        let with = |wanted: &[&str], options: Options, names: Option<&[String]>| {
            let wanted = Some(wanted.iter().map(|w| w.to_string()).collect());
            Selection::new(&Options { wanted, ..options }, names, 4, &[])
        };
        let found = with(&["a", "b"], Options::default(), Some(&names)).unwrap();
        assert_eq!((found.features, found.ignored), (Some(vec![2, 1]), vec![0, 3]));
        let keep = || Options { keep: Some("id".into()), ..Default::default() };
        let found = with(&["b", "a", "c"], keep(), Some(&names)).unwrap();
        assert_eq!((found.features, found.kept, found.ignored), (Some(vec![1, 2, 3]), vec![0], vec![]));
        assert!(
            with(&["a", "z"], keep(), Some(&names))
                .unwrap_err()
                .to_string()
                .contains("the model needs column 'z'")
        );
        assert!(
            with(&["a", "id"], keep(), Some(&names))
                .unwrap_err()
                .to_string()
                .contains("the model needs column 'id'")
        );
        assert_eq!(with(&["a", "b"], Options::default(), None).unwrap().features, None);
    }

    #[test]
    fn a_column_is_either_left_out_or_copied() {
        let names = ["id", "b", "a", "x,y"].map(String::from);
        let read = |drop: &str, keep: &str, copied: &str, wording| {
            let words = |w: &str| Some(w.to_string()).filter(|w| !w.is_empty());
            let (drop, keep, copied) = (words(drop), words(keep), words(copied));
            let options = Options { drop, keep, copied, wording, ..Options::default() };
            Selection::new(&options, Some(&names), 4, &[]).map_err(|e| e.to_string())
        };
        let refused = |drop, keep, wording| read(drop, keep, "", wording).unwrap_err();
        assert_eq!(
            refused("id", "id", Wording::Shell),
            "reading column 0 ('id') is not possible: both --drop id and --keep id name it; name it in one of the two"
        );
        let by_number = refused("b,\"x,y\"", "2-3", Wording::Shell);
        assert!(
            by_number.contains("('x,y')")
                && by_number.contains("both --drop 'b,\"x,y\"' and --keep 2-3 name")
        );
        let python = refused("id,1", "b", Wording::PythonRead);
        assert!(
            python.contains("column 1 ('b') is not possible: both drop=['id', 1] and keep=['b'] name it")
        );
        // Those that are copied for another use may be left out as features, or be kept.
        let weights = |drop, keep| read(drop, keep, "b", Wording::Shell).unwrap();
        assert_eq!((weights("id,b", "").features, weights("id,b", "").kept), (Some(vec![2, 3]), vec![1]));
        assert_eq!(weights("", "1,id").kept, [0, 1]);
        // Those that stay may be the only feature.
        let one = Some("b".to_string());
        let both = Options { columns: one.clone(), copied: one, copied_stay: true, ..Options::default() };
        let found = Selection::new(&both, Some(&names), 4, &[]).unwrap();
        assert_eq!((found.features, found.kept), (Some(vec![1]), vec![1]));
        assert!(Selection::new(&Options { copied_stay: false, ..both }, Some(&names), 4, &[]).is_err());
    }

    #[test]
    fn an_index_is_a_feature_only_where_it_is_requested() {
        let names = ["id", "a", "b"].map(String::from);
        let with = |columns: &str, drop: &str, keep: &str, wanted: &[&str]| {
            let words = |w: &str| Some(w.to_string()).filter(|w| !w.is_empty());
            let wanted: Vec<String> = wanted.iter().map(|w| w.to_string()).collect();
            let options = Options {
                columns: words(columns),
                drop: words(drop),
                keep: words(keep),
                wanted: Some(wanted).filter(|w| !w.is_empty()),
                ..Default::default()
            };
            let found = Selection::new(&options, Some(&names), 3, &[0]).unwrap();
            (found.features, found.index, found.ignored)
        };
        assert_eq!(with("", "", "", &[]), (Some(vec![1, 2]), vec![0], vec![]));
        assert_eq!(with("0-2", "", "", &[]), (None, vec![], vec![]));
        assert_eq!(with("id,b", "", "", &[]), (Some(vec![0, 2]), vec![], vec![]));
        assert_eq!(with("", "id", "", &[]), (Some(vec![1, 2]), vec![], vec![]));
        assert_eq!(with("", "", "id", &[]), (Some(vec![1, 2]), vec![], vec![]));
        assert_eq!(with("", "", "", &["b", "id"]), (Some(vec![2, 0]), vec![], vec![1]));
        assert_eq!(with("", "", "", &["b"]), (Some(vec![2]), vec![0], vec![1]));
        let shell = Options { wording: Wording::Shell, ..Options::default() };
        let alone = Selection::new(&shell, Some(&names), 3, &[0, 1, 2]).unwrap_err();
        assert!(alone.to_string().contains("add --columns 0-2"), "{alone}");
    }

    #[test]
    fn unknown_columns_are_refused_with_the_known_ones() {
        let message = |c: &str, d: &str, k: &str, names: &[&str]| select(c, d, k, names, 4).unwrap_err();
        let names = ["height", "width", "depth", "kind"];
        assert!(
            message("heigth", "", "", &names).contains("no column named 'heigth' (did you mean 'height'?)")
        );
        assert!(message("", "4", "", &[]).contains("drop=4 is not possible: there are 4 columns"));
        assert!(message("", "0-9999999999999", "", &[]).contains("there are 4 columns"));
        assert!(
            message("", "", "3-1", &[])
                .contains("keep=3-1 is not possible: the range runs backwards; write 1-3")
        );
        assert!(message("x", "", "", &[]).contains("the columns have no names"));
        assert!(message("width,0-2", "", "", &names).contains("it names column 1 ('width') twice"));
        assert!(message("", "0-3", "", &[]).contains("drop=0-3 is not possible: it leaves no column"));
        let python = |columns: &str, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|n| n.to_string()).collect();
            let wording = Wording::PythonRead;
            let options = Options { columns: Some(columns.into()), wording, ..Default::default() };
            let names = Some(&names[..]).filter(|n| !n.is_empty());
            Selection::new(&options, names, 3, &[]).unwrap_err().to_string()
        };
        assert!(
            python("a,a", &["a", "b", "c"]).contains("columns=['a', 'a'] is not possible: it names column 0")
        );
        assert!(python("0,0", &[]).contains("columns=[0, 0] is not possible: it names column 0 twice"));
        assert!(
            python("x", &[]).contains("columns=['x'] is not possible: the columns have no names; choose")
        );
        assert!(python("x", &[]).ends_with("choose numbers from 0 to 2, as in [0, 5] or '0,5-9'"));
        assert!(
            python("2-1", &[])
                .ends_with("columns=['2-1'] is not possible: the range runs backwards; write '1-2'")
        );
        let many: Vec<String> = (0..500).map(|i| format!("gene{i}")).collect();
        let options = Options { columns: Some("protein".into()), ..Default::default() };
        let long = Selection::new(&options, Some(&many), 500, &[]).unwrap_err().to_string();
        assert!(long.contains("gene7, ... (500 in all)") && !long.contains("gene8"), "{long}");
    }
}
