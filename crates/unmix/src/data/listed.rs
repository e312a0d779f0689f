//! Lists of columns in messages.

use super::Features;

/// Number of names in a list.
const MOST_NAMES: usize = 8;

/// Names in a message: the first eight, and the number of all of them if there are more, as in "a, b, c, d, e, f, g, h, ... (12 in all)".
pub fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let first: Vec<&str> = names.iter().take(MOST_NAMES).map(AsRef::as_ref).collect();
    let more =
        if names.len() > MOST_NAMES { format!(", ... ({} in all)", names.len()) } else { String::new() };
    first.join(", ") + &more
}

impl Features {
    /// Columns in a message: [`listed`] by their names in quotation marks, or by their numbers where they have none.
    pub fn listed(&self, columns: &[usize]) -> String {
        let called = |j: &usize| match &self.names {
            Some(names) => format!("'{}'", names[*j]),
            None => j.to_string(),
        };
        listed(&columns.iter().map(called).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_eight_are_listed_with_the_number_of_all() {
        let (unnamed, columns) = (Features::default(), [0, 2, 4, 6, 8, 10, 12, 14, 16]);
        assert_eq!(unnamed.listed(&columns[..8]), "0, 2, 4, 6, 8, 10, 12, 14");
        assert_eq!(unnamed.listed(&columns), "0, 2, 4, 6, 8, 10, 12, 14, ... (9 in all)");
        let named = Features { names: Some(vec!["a".into(), "b".into(), "c".into()]), shape: None };
        assert_eq!([named.listed(&[2, 0]), named.listed(&[])], ["'c', 'a'", ""]);
    }
}
