//! LISTA at 8 and 16 layers, compared with as many steps of ISTA and FISTA: errors of known codes, and objectives.

mod steps;

use super::CHAPTER;
use crate::Experiment;
use crate::lab::Lab;
use crate::output::shown;
use serde_json::{Value, json};
use unmix::datasets::sparse_codes;
use unmix::internal::sparse::{Atoms, Lasso, Proximal, StoppingRule};
use unmix::{AnyRows, Matrix, Model, Result, Rows};
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "lista",
    source: CHAPTER,
    summary: "equations 2.3.22 to 2.3.25: codes by trained layers (LISTA, Gregor & LeCun, LISTA-CP, ALISTA, learned steps), compared with the same number of steps of ISTA and FISTA",
    run,
};

/// Share of the codes that are not 0.
const NONZERO_SHARE: f64 = 0.08;
/// Rows whose codes by layer are measured at a time: the library does so for at most 512 rows of a fit.
const AT_ONCE: usize = 500;
/// Weights of the penalty, of which ISTA and FISTA get the best for the test rows; lambda of the chapter is twice this.
const ALPHAS: [f64; 8] = [0.25, 0.15, 0.1, 0.05, 0.025, 0.01, 0.005, 0.0025];
/// Why single values are not comparable.
const OTHER_DRAWS: &str = "other draws, other starts; the conditions are about differences";
const RESTARTED: &str = "other draws, and FISTA with restarts";

/// Sizes.
struct Plan {
    p: usize,
    m: usize,
    /// Numbers of training and test rows.
    n: usize,
    test: usize,
    n_layers: usize,
    epochs: u64,
    /// Instances, over which medians are taken.
    instances: u64,
    /// Networks of learned steps: numbers of layers, and of epochs.
    depths: &'static [usize],
    step_epochs: u64,
    /// Minimum advantage over FISTA, in dB.
    margin: f64,
}

/// As published: 5220 steps of Adam on batches of 256 rows, each row in 20 of them.
const FULL: Plan = Plan {
    p: 50,
    m: 100,
    n: 261 * 256,
    test: 4000,
    n_layers: 16,
    epochs: 20,
    instances: 3,
    depths: &[4, 8, 16, 24],
    step_epochs: 20,
    margin: 3.0,
};

const QUICK: Plan = Plan {
    p: 20,
    m: 40,
    n: 20 * 256,
    test: 500,
    n_layers: 8,
    epochs: 30,
    instances: 1,
    depths: &[4, 8],
    step_epochs: 10,
    margin: 0.0,
};

/// A cell, the threshold of its start for atoms with `||A||² = 1`, and errors in dB after 8 and 16 layers.
struct Row {
    cell: &'static str,
    name: &'static str,
    theta: f64,
    published: [&'static str; 2],
    /// Published advantages over FISTA.
    gains: [&'static str; 2],
    /// Maximum error after 16 layers.
    most: Option<f64>,
}

const ROWS: [Row; 4] = [
    Row {
        cell: "lista",
        name: "LISTA",
        theta: 0.05,
        published: ["-11.1", "-16.3"],
        gains: ["4.7", "4.6"],
        most: None,
    },
    Row {
        cell: "cp",
        name: "LISTA-CP",
        theta: 0.1,
        published: ["-14.2", "-23.2"],
        gains: ["7.8", "11.5"],
        most: Some(-20.0),
    },
    Row {
        cell: "alista",
        name: "ALISTA",
        theta: 0.1,
        published: ["-18.3", "-25.8"],
        gains: ["11.9", "14.1"],
        most: Some(-22.0),
    },
    Row {
        cell: "gregor-lecun",
        name: "Gregor & LeCun",
        theta: 0.05,
        published: ["", ""],
        gains: ["", ""],
        most: None,
    },
];

/// Known codes of training and test rows.
struct Instance {
    atoms: Matrix<f64>,
    lipschitz: f64,
    train: Vec<f32>,
    codes: Matrix<f64>,
    test: Matrix<f64>,
    truth: Matrix<f64>,
}

impl Instance {
    fn new(plan: &Plan, noise: f64, seed: u64) -> Result<Self> {
        let made = sparse_codes((plan.n + plan.test, plan.p, plan.m), NONZERO_SHARE, noise, seed)?;
        let train = made.x.as_slice()[..plan.n * plan.p].iter().map(|x| *x as f32).collect();
        Ok(Self {
            lipschitz: Atoms::<f64>::new(&made.atoms).lipschitz(),
            train,
            test: made.x.rows_from(plan.n),
            truth: made.codes.rows_from(plan.n),
            codes: made.codes.top_rows(plan.n),
            atoms: made.atoms,
        })
    }

    /// Trains a network to give the known codes.
    fn trained(&self, lab: &Lab<'_>, mut settings: Value, epochs: u64) -> Result<Model> {
        settings["max_epochs"] = epochs.into();
        let mut rows = AnyRows::F32(Rows::from_slice(&self.train, self.atoms.cols())?);
        let tables = [("dictionary", &self.atoms), ("codes", &self.codes)];
        Lab::fit_given("lista", settings, &tables, &mut rows, &lab.run_of(0, None))
    }

    /// Errors of the test rows' codes in dB, after every layer of the network `init`, or of its start, and after as many steps of ISTA and of
    /// FISTA.
    fn errors(&self, lab: &Lab<'_>, settings: &Value, init: Option<&Model>) -> Result<[Vec<f64>; 3]> {
        let tables = by_layer(lab, (&self.test, Some(&self.truth)), &self.atoms, settings, init)?;
        let m = self.atoms.rows();
        let sizes = self.truth.as_slice().chunks(AT_ONCE * m);
        let sizes: Vec<f64> = sizes.map(|z| z.iter().map(|z| z * z).sum()).collect();
        let in_db = |of: &str| {
            let parts = weighted(&tables, &sizes, of, "code_error");
            parts.into_iter().map(|part| 10.0 * part.log10()).collect()
        };
        Ok([in_db(""), in_db("ista"), in_db("fista")])
    }
}

/// The tables by layer of blocks of rows: of the network `init`, or else of the start, without training.
fn by_layer(
    lab: &Lab<'_>,
    (x, codes): (&Matrix<f64>, Option<&Matrix<f64>>),
    atoms: &Matrix<f64>,
    settings: &Value,
    init: Option<&Model>,
) -> Result<Vec<Value>> {
    let block = |of: &Matrix<f64>, first: usize| of.rows_from(first).top_rows(AT_ONCE.min(of.rows() - first));
    let mut out = Vec::new();
    for first in (0..x.rows()).step_by(AT_ONCE) {
        let (x, codes) = (block(x, first), codes.map(|codes| block(codes, first)));
        let mut tables = vec![("dictionary", atoms)];
        tables.extend(codes.as_ref().map(|codes| ("codes", codes)));
        let mut settings = settings.clone();
        settings["max_epochs"] = 0.into();
        let mut rows = AnyRows::F64(Rows::from_slice(x.as_slice(), x.cols())?);
        let model = Lab::fit_given("lista", settings, &tables, &mut rows, &lab.run_of(0, init))?;
        out.push(model.report().diagnostics["by_layer"].clone());
    }
    Ok(out)
}

/// The mean of a column of the tables, of the network itself if `of` is empty.
fn weighted(tables: &[Value], weights: &[f64], of: &str, column: &str) -> Vec<f64> {
    let numbers = |table: &Value| -> Vec<f64> {
        let table = if of.is_empty() { table } else { &table[of] };
        let column = table[column].as_array().into_iter().flatten();
        column.map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
    };
    let total: f64 = weights.iter().sum();
    let mut out: Vec<f64> = Vec::new();
    for (table, weight) in tables.iter().zip(weights) {
        let found = numbers(table);
        out.resize(found.len(), 0.0);
        out.iter_mut().zip(found).for_each(|(sum, x)| *sum += weight / total * x);
    }
    out
}

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let plan = if lab.options.quick { QUICK } else { FULL };
    lab.note(format!(
        "Data: {} training rows and {} test rows, each a combination of {} normal atoms of {} numbers and norm 1 whose codes are N(0, 1) with \
         probability {NONZERO_SHARE}, else 0; {} instances. Single precision for training.",
        plan.n, plan.test, plan.m, plan.p, plan.instances
    ))?;
    lab.note(
        "The published numbers are reference values, measured on other draws with new rows in every batch. Errors after 8 layers are those of the intermediate code of the \
         network of 16. ISTA and FISTA have, after every number of steps, the alpha that is best for the test rows; FISTA has restarts.",
    )?;
    let mut sheet = Sheet::new("Codes by trained layers, and by steps of ISTA and FISTA", 2);
    start(lab, &plan)?;
    supervised(lab, &plan, &mut sheet)?;
    if !lab.options.quick {
        noisy(lab, &plan)?;
    }
    steps::learned_steps(lab, &plan, &mut sheet)?;
    lab.figure("lista", &sheet)
}

fn settings(row: &Row, instance: &Instance, n_layers: usize) -> Value {
    json!({"cell": row.cell, "alpha": row.theta * instance.lipschitz, "n_layers": n_layers})
}

/// Before training a network is ISTA, except that of ALISTA.
fn start(lab: &mut Lab<'_>, plan: &Plan) -> Result<()> {
    let few = Plan { n: 256, test: AT_ONCE, ..*plan };
    let instance = Instance::new(&few, 0.0, 0)?;
    for cell in ["lista", "gregor-lecun", "cp", "step"] {
        let settings = json!({"cell": cell, "alpha": 0.1, "n_layers": plan.n_layers});
        let tables = by_layer(lab, (&instance.test, None), &instance.atoms, &settings, None)?;
        let column = |of: &str| weighted(&tables, &[1.0], of, "objective");
        let pairs = column("").into_iter().zip(column("ista"));
        let far = pairs.map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
        let what = format!("{cell}, not trained: largest relative difference of the objective from ISTA");
        lab.check(what, far, "3e-16", "at most 1e-14", far <= 1e-14)?;
    }
    Ok(())
}

/// The least over `ALPHAS`, at every number of steps.
fn best(found: &[[Vec<f64>; 3]], which: usize) -> Vec<f64> {
    let depth = found.first().map_or(0, |f| f[which].len());
    (0..depth).map(|l| found.iter().map(|f| f[which][l]).fold(f64::INFINITY, f64::min)).collect()
}

/// Errors of ISTA and FISTA, each with its best alpha.
fn steps_of(lab: &Lab<'_>, instance: &Instance, n_layers: usize) -> Result<[Vec<f64>; 2]> {
    let mut found = Vec::new();
    for alpha in ALPHAS {
        found.push(instance.errors(lab, &json!({"alpha": alpha, "n_layers": n_layers}), None)?);
    }
    Ok([best(&found, 1), best(&found, 2)])
}

/// The curves of all methods for one instance: ISTA, FISTA, and those of [`ROWS`].
fn curves(lab: &Lab<'_>, plan: &Plan, instance: &Instance) -> Result<Vec<Vec<f64>>> {
    let mut out = steps_of(lab, instance, plan.n_layers)?.to_vec();
    for row in &ROWS {
        let settings = settings(row, instance, plan.n_layers);
        let model = instance.trained(lab, settings.clone(), plan.epochs)?;
        let [net, ..] = instance.errors(lab, &settings, Some(&model))?;
        out.push(net);
    }
    Ok(out)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    0.5 * (values[(values.len() - 1) / 2] + values[values.len() / 2])
}

/// Networks that are trained to give known codes.
fn supervised(lab: &mut Lab<'_>, plan: &Plan, sheet: &mut Sheet) -> Result<()> {
    let mut all: Vec<Vec<Vec<f64>>> = Vec::new();
    let mut first = None;
    for seed in 0..plan.instances {
        let instance = Instance::new(plan, 0.0, seed)?;
        all.push(curves(lab, plan, &instance)?);
        first.get_or_insert(instance);
    }
    let names: Vec<&str> = ["ISTA", "FISTA"].into_iter().chain(ROWS.iter().map(|row| row.name)).collect();
    let error_after = |method: usize, l: usize| median(all.iter().map(|curves| curves[method][l - 1]));
    let (quick, last) = (lab.options.quick, plan.n_layers);
    let depths: Vec<usize> = [8, 16].into_iter().filter(|l| *l <= last).collect();
    let known = |method: usize, at: usize| match (quick, method) {
        (true, _) => "",
        (_, 0) => ["-4.6", "-6.8"][at],
        (_, 1) => ["-6.4", "-11.7"][at],
        (_, method) => ROWS[method - 2].published[at],
    };
    for (method, name) in names.iter().enumerate() {
        for (at, l) in depths.iter().enumerate() {
            let what = format!("{name}: error after {l} layers, dB");
            let why = if *name == "FISTA" { RESTARTED } else { OTHER_DRAWS };
            lab.beside(what, error_after(method, *l), known(method, at), why)?;
        }
    }
    let margin = plan.margin;
    let condition =
        if quick { "above 0".to_string() } else { format!("at least {margin} dB better than FISTA") };
    for (i, row) in ROWS.iter().enumerate().filter(|(_, row)| !row.gains[0].is_empty()) {
        for (at, &l) in depths.iter().enumerate() {
            let gain = median(all.iter().map(|c| c[1][l - 1] - c[i + 2][l - 1]));
            let published = if quick { "" } else { row.gains[at] };
            let what = format!("{}: advantage over FISTA after {l} layers, dB", row.name);
            lab.check(what, gain, published, &condition, if quick { gain > 0.0 } else { gain >= margin })?;
        }
        if let Some(most) = row.most.filter(|_| !quick) {
            let found = error_after(i + 2, last);
            let what = format!("{}: error after {last} layers", row.name);
            lab.check(what, found, row.published[1], &format!("at most {most} dB"), found <= most)?;
        }
    }
    if let Some(instance) = first.filter(|_| !quick) {
        let found = many_steps(&instance);
        let what = "FISTA: error after 1000 steps at alpha = 0.0025, dB";
        lab.beside(what, found, "-41.9", RESTARTED)?;
    }
    errors_by_layer(lab, &names, &all)?;
    let curve = |method: usize| (1..=last).map(|l| (l as f64, error_after(method, l))).collect();
    let lines = names.iter().enumerate().map(|(i, name)| (name.to_string(), curve(i))).collect();
    let names = ("layer, or step".into(), "error of the codes, dB".into());
    sheet.add(
        "trained to give known codes",
        Content::Lines { lines, names, log_y: false, shaded: Vec::new() },
    );
    Ok(())
}

/// The table of errors of every instance, method and layer.
fn errors_by_layer(lab: &mut Lab<'_>, names: &[&str], all: &[Vec<Vec<f64>>]) -> Result<()> {
    let mut lines = Vec::new();
    for (seed, curves) in all.iter().enumerate() {
        for (name, curve) in names.iter().zip(curves) {
            let line = |(l, x): (usize, &f64)| {
                vec![seed.to_string(), name.to_string(), (l + 1).to_string(), shown(*x)]
            };
            lines.extend(curve.iter().enumerate().map(line));
        }
    }
    lab.table("error-by-layer", &["instance", "method", "layer", "error_db"], &lines)
}

/// The error of FISTA after 1000 steps, with a small alpha, on the first test rows.
fn many_steps(instance: &Instance) -> f64 {
    let atoms = Atoms::<f64>::new(&instance.atoms);
    let mut lasso = Lasso::of(ALPHAS[ALPHAS.len() - 1]);
    lasso.stop = StoppingRule::Passes(1000);
    let n = instance.test.rows().min(2 * AT_ONCE);
    let (x, truth) = (instance.test.clone().top_rows(n), instance.truth.clone().top_rows(n));
    let mut codes = vec![0.0; n * instance.atoms.rows()];
    Proximal::fista(lasso).code_all(&atoms, x.as_slice(), &mut codes);
    let error: f64 = codes.iter().zip(truth.as_slice()).map(|(z, c)| (z - c).powi(2)).sum();
    10.0 * (error / truth.as_slice().iter().map(|c| c * c).sum::<f64>()).log10()
}

/// With noise a network of 8 layers is better than 16 steps of FISTA.
fn noisy(lab: &mut Lab<'_>, plan: &Plan) -> Result<()> {
    let instance = Instance::new(plan, 0.05, 7)?;
    let row = &ROWS[1];
    let settings = settings(row, &instance, 8);
    let model = instance.trained(lab, settings.clone(), plan.epochs)?;
    let [net, ..] = instance.errors(lab, &settings, Some(&model))?;
    let [_, fista] = steps_of(lab, &instance, 16)?;
    lab.beside("noise .05, FISTA: error after 16 steps, dB", fista[15], "-11.2", RESTARTED)?;
    let what = "noise .05, LISTA-CP: error after 8 layers, dB";
    lab.check(what, net[7], "-14.6", "below that of FISTA after 16 steps", net[7] < fista[15])
}
