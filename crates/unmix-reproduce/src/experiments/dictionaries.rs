//! A complete and an overcomplete dictionary of patches of digits: codes, errors and objectives.

use super::CHAPTER;
use crate::Experiment;
use crate::lab::{Lab, filters};
use crate::pictures::{GreyPatches, grey_patches};
use serde_json::json;
use unmix::internal::num::random::Stream;
use unmix::internal::sparse::{Atoms, Lasso, Measure, Work, measure};
use unmix::{Matrix, Result};
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "patch-dictionaries",
    source: CHAPTER,
    summary: "Fig 2.6: codes of digits' patches by 64 atoms of a complete dictionary and by 512 of an overcomplete one, and the ratio of their numbers of nonzero codes",
    run,
};

/// Weight of the penalty relative to half the squared error: lambda = .1 of the chapter.
const ALPHA: f64 = 0.05;
/// Threshold above which a code counts as active.
const ACTIVE_CODE: f64 = 0.1;
/// Pixels of a patch, and atoms of a complete dictionary.
const P: usize = 64;

/// Codes of held-out patches; means over patches.
struct Coded {
    counted: f64,
    nonzero: f64,
    squared_error: f64,
    /// Twice the objective, which weights half the squared error.
    objective: f64,
    /// Number of patches by number of active codes.
    histogram: Vec<(f64, f64)>,
    /// Number of patches that use each atom.
    usage: Vec<usize>,
}

impl Coded {
    fn of(atoms: &Matrix<f64>, rows: &Matrix<f64>) -> Self {
        let (n, m) = (rows.rows(), atoms.rows());
        let (ready, mut codes, mut work) = (Atoms::new(atoms), vec![0.0; n * m], Work::default());
        Lasso::of(ALPHA).code(&ready, rows.as_slice(), &mut codes, &mut work);
        let mut found = vec![Measure::default(); n];
        measure(&ready, (ALPHA, false), rows.as_slice(), &codes, &mut found, &mut work.checked);
        let each: Vec<usize> =
            codes.chunks_exact(m).map(|z| z.iter().filter(|z| z.abs() > ACTIVE_CODE).count()).collect();
        let share = |k: usize| each.iter().filter(|c| **c == k).count() as f64 / n as f64;
        let mean = |f: &dyn Fn(&Measure) -> f64| found.iter().map(f).sum::<f64>() / n as f64;
        Self {
            counted: each.iter().sum::<usize>() as f64 / n as f64,
            nonzero: mean(&|m| m.n_nonzero as f64),
            squared_error: mean(&|m| m.squared_error),
            objective: mean(&|m| 2.0 * m.objective),
            histogram: (0..=P).map(|k| (k as f64, share(k))).collect(),
            usage: (0..m).map(|j| codes.iter().skip(j).step_by(m).filter(|z| **z != 0.0).count()).collect(),
        }
    }
}

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let quick = lab.options.quick;
    let (n, held) = if quick { (1000, 150) } else { (10_000, 2000) };
    let set = grey_patches(lab.options, n, held, lab.run)?;
    lab.note(format!("Data: {}.", set.origin))?;
    lab.note("lambda of the chapter is 0.1: alpha = 0.05 with half the squared error. LASSO is the chapter's objective, twice that of alpha.")?;
    let m = if quick { 256 } else { 512 };
    let (few, more) = (complete(lab, &set)?, overcomplete(lab, &set, m)?);
    table(lab, &set, &few, &more)?;
    figure(lab, &set, &few, &more)
}

/// A dictionary, its codes, and the reference values of its line of the table.
type Row = (String, Matrix<f64>, Coded, [&'static str; 4]);

/// Dictionaries with as many atoms as pixels.
fn complete(lab: &Lab<'_>, set: &GreyPatches) -> Result<Vec<Row>> {
    let most = if lab.options.quick { 50 } else { 400 };
    let raw = json!({"precondition": false, "polish": false, "refine": false, "max_iter": most, "tol": 1e-6});
    let white = json!({"polish": false, "refine": false, "max_iter": most, "tol": 1e-6});
    let msp = |settings| Ok(unit(filters(&lab.fit("complete-dictionary", settings, &set.train)?)));
    let axes = filters(&lab.fit("pca", json!({"n_components": P}), &set.train)?);
    let named: [(&str, Matrix<f64>, [&'static str; 4]); 4] = [
        ("MSP on raw patches, 64 atoms", msp(raw)?, ["20.8", "38.8", ".112", "1.232"]),
        ("MSP on whitened patches, 64 atoms", msp(white)?, ["15.8", "24.6", ".253", "1.073"]),
        ("axes of PCA, 64", axes, ["22.0", "43.4", ".124", "1.295"]),
        (
            "pixels, 64",
            Matrix::from_fn(P, P, |i, j| f64::from(u8::from(i == j))),
            ["21.4", "23.3", ".059", "1.623"],
        ),
    ];
    Ok(named.into_iter().map(|(name, atoms, known)| row(name.into(), atoms, set, known)).collect())
}

fn unit(atoms: Matrix<f64>) -> Matrix<f64> {
    crate::measure::unit_rows(&atoms)
}

fn row(name: String, atoms: Matrix<f64>, set: &GreyPatches, known: [&'static str; 4]) -> Row {
    let coded = Coded::of(&atoms, &set.held);
    (name, atoms, coded, known)
}

/// Dictionaries of `m` atoms: by PALM, as in the chapter, and by one epoch of online learning.
fn overcomplete(lab: &Lab<'_>, set: &GreyPatches, m: usize) -> Result<Vec<Row>> {
    let blocks = if lab.options.quick { 60 } else { 1000 };
    let palm = json!({"n_components": m, "algorithm": "palm", "init": "random", "alpha": ALPHA, "max_iter": blocks, "tol": 0.0});
    let online = json!({"n_components": m, "alpha": ALPHA, "max_epochs": 1});
    let rows = Stream::new(1, 70);
    let mut order: Vec<usize> = (0..set.train.rows()).collect();
    rows.shuffle(0, &mut order);
    let data = Matrix::from_fn(m, P, |i, j| set.train[(order[i], j)]);
    let known: [[&'static str; 4]; 3] = match set.mnist && !lab.options.quick {
        true => [
            ["19.7", "40.1", ".047", ".668"],
            ["18.9", "35.7", ".034", ".630"],
            ["17.2", "31.9", ".158", ".795"],
        ],
        false => [[""; 4]; 3],
    };
    let learn = |settings| Ok(filters(&lab.fit("dictionary", settings, &set.train)?));
    Ok(vec![
        row(format!("palm, {blocks} blocks, {m} atoms"), learn(palm)?, set, known[0]),
        row(format!("online, one epoch, {m} atoms"), learn(online)?, set, known[1]),
        row(format!("{m} random patches, not learned"), unit(data), set, known[2]),
    ])
}

fn table(lab: &mut Lab<'_>, set: &GreyPatches, few: &[Row], more: &[Row]) -> Result<()> {
    let header = ["dictionary", "codes above .1", "nonzero codes", "squared error", "LASSO"];
    let line = |(name, _, c, _): &Row| {
        let numbers = [c.counted, c.nonzero, c.squared_error, c.objective].map(crate::output::shown);
        std::iter::once(name.clone()).chain(numbers).collect()
    };
    lab.table("dictionaries", &header, &few.iter().chain(more).map(line).collect::<Vec<Vec<String>>>())?;
    for (name, _, c, known) in few.iter().chain(more) {
        // The reference values are of digits.
        let known = if set.mnist { *known } else { [""; 4] };
        for (what, ours, known) in [
            ("codes above .1", c.counted, known[0]),
            ("nonzero codes", c.nonzero, known[1]),
            ("squared error of a patch", c.squared_error, known[2]),
            ("LASSO of a patch", c.objective, known[3]),
        ] {
            lab.beside(
                format!("{name}: {what}"),
                ours,
                known,
                "other random patches and starts; the conditions are about ratios",
            )?;
        }
    }
    conditions(lab, set, few, more)
}

fn conditions(lab: &mut Lab<'_>, set: &GreyPatches, few: &[Row], more: &[Row]) -> Result<()> {
    let (msp, palm, online) = (&few[0].2, &more[0], &more[1]);
    let best = few.iter().map(|row| row.2.objective).fold(f64::INFINITY, f64::min);
    let m = palm.1.rows();
    let exact = set.mnist && !lab.options.quick;
    // With a tenth of the steps on fewer atoms the error is larger.
    let (part, of_error) = if exact { (0.65, 0.5) } else { (1.0, 1.0) };
    let ratio = palm.2.objective / best;
    lab.check(
        "LASSO of palm over the smallest of 64 atoms",
        ratio,
        ".62",
        &format!("at most {part}"),
        ratio <= part,
    )?;
    let ratio = online.2.objective / best;
    lab.check(
        "LASSO of online over the smallest of 64 atoms",
        ratio,
        ".59",
        &format!("at most {part}"),
        ratio <= part,
    )?;
    let ratio = palm.2.squared_error / msp.squared_error;
    let condition = format!("at most {of_error}");
    lab.check(
        "squared error of palm over that of MSP on raw patches",
        ratio,
        ".42",
        &condition,
        ratio <= of_error,
    )?;
    let ratio = online.2.squared_error / msp.squared_error;
    let quantity = "squared error of online over that of MSP on raw patches";
    lab.beside(quantity, ratio, ".30", "the condition is about its LASSO, which is what it minimises")?;
    let (all, some) = (msp.counted / P as f64, palm.2.counted / m as f64);
    lab.note(format!(
        "The publication calls codes of more atoms \"far sparser\", with 20 of 512 above .1 compared with 17 of 64: their number is not smaller, their \
         fraction is. Here {:.1} of {m} are above .1 ({:.1} %) compared with {:.1} of {P} ({:.1} %).",
        palm.2.counted,
        100.0 * some,
        msp.counted,
        100.0 * all
    ))?;
    lab.check(
        "MSP: codes above .1, of 64",
        all,
        "17 of 64: .27",
        "more than twice that of palm",
        all > 2.0 * some,
    )?;
    lab.check(
        format!("palm: codes above .1, of {m}"),
        some,
        "20 of 512: .04",
        "less than half that of MSP",
        some < 0.5 * all,
    )?;
    usage(lab, exact, msp, palm, online)
}

/// How many atoms the patches use.
fn usage(lab: &mut Lab<'_>, exact: bool, msp: &Coded, palm: &Row, online: &Row) -> Result<()> {
    let dead = |row: &Row| row.2.usage.iter().filter(|n| **n == 0).count() as f64;
    let (of_palm, of_online) = (dead(palm), dead(online));
    if exact {
        let counts = (14.0..=23.0).contains(&msp.counted);
        lab.check("MSP on raw patches: codes above .1", msp.counted, "17 (20.8)", "14 to 23", counts)?;
        let counts = (16.0..=23.0).contains(&palm.2.counted);
        lab.check("palm: codes above .1", palm.2.counted, "20 (19.7)", "16 to 23", counts)?;
        lab.check("palm: unused atoms", of_palm, "0", "0", of_palm == 0.0)?;
        lab.check(
            "online, one epoch: LASSO",
            online.2.objective,
            ".630",
            "at most .64",
            online.2.objective <= 0.64,
        )?;
        return lab.check("online: unused atoms", of_online, "", "at most 5", of_online <= 5.0);
    }
    lab.number("palm: unused atoms", of_palm)?;
    lab.number("online: unused atoms", of_online)
}

fn figure(lab: &mut Lab<'_>, set: &GreyPatches, few: &[Row], more: &[Row]) -> Result<()> {
    let mut sheet = Sheet::new("Atoms of patches, and codes of others", 3);
    let mut order: Vec<usize> = (0..more[0].1.rows()).collect();
    Stream::new(0, 71).shuffle(0, &mut order);
    let pictures = |atoms: Matrix<f64>| Content::Pictures { vectors: atoms, shape: vec![8, 8], columns: 8 };
    sheet.add("64 atoms, MSP on raw patches", pictures(few[0].1.clone()));
    for (name, atoms, ..) in &more[..2] {
        let some = Matrix::from_fn(P, P, |i, j| atoms[(order[i], j)]);
        sheet.add(format!("64 of the atoms: {name}"), pictures(some));
    }
    let shown = [&few[0], &more[0], &more[1]];
    let lines = shown.map(|(name, _, c, _)| (name.clone(), c.histogram.clone())).to_vec();
    let names = ("codes above .1".into(), "share of patches".into());
    sheet
        .add("number of codes of a patch", Content::Lines { lines, names, log_y: false, shaded: Vec::new() });
    let some = Matrix::from_fn(P.min(set.held.rows()), P, |i, j| set.held[(i, j)]);
    sheet.add("patches", Content::Photographs { vectors: some, shape: vec![8, 8], columns: 8 });
    lab.figure("dictionaries", &sheet)
}
