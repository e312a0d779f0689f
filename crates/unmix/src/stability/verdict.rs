//! What can be told from the rows about each component: itself, a group that it belongs to, or nothing.
//!
//! Two directions are told apart by their variances, where a method looks at these and they differ by more than chance would turn
//! them: two axes of variances `u` and `v` are turned against each other by `sqrt(u v / n) / |u - v|` radians, standard deviation
//! (Anderson 1963, of Gaussian rows; `n` counts rows that are worth an independent one). Or they are told apart by independence, where a method looks at that and at least one of the
//! two is not Gaussian: a rotation of two Gaussian sources of equal variance changes no density at all. Pairs that neither tells
//! apart make groups. A group whose space both halves of the rows find is resolved as a group; what neither finds is not resolvable
//! from these rows. Nor is a group of all the components there can be: its space is that of the columns, which any rows find.

use super::STABLE;

/// What is known of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The direction is determined by the rows.
    Resolved,
    /// The space that it spans with these others is; the direction inside is not.
    Group(Vec<usize>),
    /// Half of the rows find neither.
    NotResolvable,
}

impl Verdict {
    /// In words.
    pub fn in_words(&self) -> String {
        match self {
            Verdict::Resolved => "resolved".into(),
            Verdict::Group(others) => {
                let names: Vec<String> = others.iter().map(ToString::to_string).collect();
                format!("resolved as a group with {}", names.join(", "))
            }
            Verdict::NotResolvable => "not resolvable from these data".into(),
        }
    }
}

/// How often, at most, a model of Gaussian components has one that is called otherwise: each counts as not Gaussian below this
/// probability over their number (Bonferroni).
pub const LEVEL: f64 = 0.01;
/// Axes that chance turns by more than this many radians are not told apart by their variances.
const TURN: f64 = 0.25;

/// What is needed to judge.
pub(super) struct Evidence<'a> {
    /// Whether the method looks at variances: their values, where it does.
    pub(super) variances: Option<&'a [f64]>,
    /// Whether the method looks at independence: for each component the probability of such codes if it were Gaussian.
    pub(super) gaussian: Option<&'a [f64]>,
    /// Number of rows.
    pub(super) n: f64,
    /// For each component how many rows are worth one.
    pub(super) memory: &'a [f64],
}

/// For each component the others that it cannot be told from, itself left out.
pub(super) fn groups(k: usize, seen: &Evidence<'_>) -> Vec<Vec<usize>> {
    let apart = |i: usize, j: usize| {
        let by_variance = seen.variances.is_some_and(|v| {
            let (a, b) = (v[i], v[j]);
            let n = seen.n / (seen.memory[i] * seen.memory[j]).sqrt();
            (a * b / n).sqrt() < TURN * (a - b).abs()
        });
        let level = LEVEL / k as f64;
        by_variance || seen.gaussian.is_some_and(|p| p[i] < level || p[j] < level)
    };
    let mut label: Vec<usize> = (0..k).collect();
    for i in 0..k {
        for j in 0..i {
            if !apart(i, j) {
                let (from, to) = (label[i].max(label[j]), label[i].min(label[j]));
                label.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
            }
        }
    }
    (0..k).map(|i| (0..k).filter(|&j| j != i && label[j] == label[i]).collect()).collect()
}

/// Judges, given how well halves of the rows agree about each component and about the space of each group. `complete`: there are as
/// many components as columns.
pub(super) fn verdicts(
    groups: Vec<Vec<usize>>,
    halves: &[f64],
    spaces: &[f64],
    complete: bool,
) -> Vec<Verdict> {
    let k = groups.len();
    groups
        .into_iter()
        .enumerate()
        .map(|(j, others)| match (others.is_empty(), halves[j], spaces[j]) {
            (true, agree, _) if agree >= STABLE => Verdict::Resolved,
            (false, _, agree) if agree >= STABLE && !(complete && others.len() + 1 == k) => {
                Verdict::Group(others)
            }
            _ => Verdict::NotResolvable,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_neither_variance_nor_independence_tells_apart_is_a_group() {
        let (v, p) = ([9.0, 4.0, 4.01, 1.0], [0.5, 0.5, 0.5, 0.5]);
        let by = |variances: bool, gaussian: bool, p: &[f64; 4]| {
            groups(
                4,
                &Evidence {
                    variances: variances.then_some(&v[..]),
                    gaussian: gaussian.then_some(&p[..]),
                    n: 1000.0,
                    memory: &[1.0; 4],
                },
            )
        };
        assert_eq!(by(true, false, &p), [vec![], vec![2], vec![1], vec![]]);
        assert_eq!(by(false, true, &p)[0], [1, 2, 3], "four Gaussian sources");
        assert!(
            by(true, true, &[0.5, 0.5, 0.001, 0.5]).iter().all(Vec::is_empty),
            "one of a tie is not Gaussian"
        );
        assert_eq!(by(false, true, &[0.0, 0.5, 0.0, 0.5]), [vec![], vec![3], vec![], vec![1]]);
    }

    #[test]
    fn a_group_is_resolved_where_its_space_is() {
        let groups = vec![vec![], vec![2], vec![1], vec![]];
        let found = verdicts(groups, &[0.99, 0.5, 0.5, 0.4], &[0.99, 0.97, 0.97, 0.4], true);
        assert_eq!(
            found,
            [Verdict::Resolved, Verdict::Group(vec![2]), Verdict::Group(vec![1]), Verdict::NotResolvable]
        );
        assert_eq!(found[1].in_words(), "resolved as a group with 2");
        let all = || vec![vec![1], vec![0]];
        assert_eq!(
            verdicts(all(), &[0.5; 2], &[1.0; 2], true),
            [Verdict::NotResolvable, Verdict::NotResolvable]
        );
        assert_eq!(verdicts(all(), &[0.5; 2], &[1.0; 2], false)[0], Verdict::Group(vec![1]));
    }
}
