//! The methods of the tables: settings, definition of a zero and of the covariance of the model, and the rule for each criterion.

use serde_json::{Value, json};

/// A row of the tables.
pub(super) struct Method {
    /// The name of the row.
    pub(super) name: &'static str,
    /// Its name in the published tables.
    pub(super) published: &'static str,
    /// The method of this library.
    pub(super) key: &'static str,
    /// Settings for a number of units; with `true` the published number of iterations where that takes very long.
    pub(super) settings: fn(usize, bool) -> Value,
    pub(super) covariance: Covariance,
    /// Whether fits take so long that one instance represents all unless the run is the full one.
    pub(super) costly: bool,
    /// The rule of a cell, for a number of units and a criterion.
    pub(super) rule: fn(usize, usize) -> Rule,
    /// The rule of the average over the data sets, for a set, a number of units and a criterion, if it is not that of cells. The latter then
    /// allows for the number of instances, so that cells are conditions, too; of other methods only averages are.
    pub(super) average: Option<fn(u64, usize, usize) -> Rule>,
}

/// The second moments of rows according to a model.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Covariance {
    /// `W S W' + Psi` with the second moments `S` of the codes; zeros of the codes are exact.
    Codes,
    /// `W W' + Psi`; codes below 0.01 count as zeros.
    Factors,
    /// Not defined; codes below 0.01 count as zeros.
    None,
}

/// How a criterion is compared with the published value `v` of standard deviation `s`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    /// Within `absolute + 3 max(s, 0.5) / sqrt(instances) + relative v`.
    Within { absolute: f64, relative: f64 },
    /// Within the larger of `absolute` and `relative v`, whatever the number of instances.
    Larger { absolute: f64, relative: f64 },
    /// The same for [`AVERAGED_INSTANCES`] instances and more, whose average has a third of this as its standard error; of fewer the bound is larger in
    /// proportion to the standard error.
    Average { absolute: f64, relative: f64 },
    /// Not compared, with the reason.
    Not(&'static str),
}

/// Number of instances for which the rules of averages are stated.
pub(super) const AVERAGED_INSTANCES: usize = 8;

/// Mini-batches of networks, whose sizes are not given.
const BATCH_ROWS: u64 = 10;

/// Rows and columns of the data; centred, they have one dimension less.
const SIDE: usize = 100;

const fn within(absolute: f64, relative: f64) -> Rule {
    Rule::Within { absolute, relative }
}

const fn larger(absolute: f64, relative: f64) -> Rule {
    Rule::Larger { absolute, relative }
}

const fn average(absolute: f64, relative: f64) -> Rule {
    Rule::Average { absolute, relative }
}

fn rectified(_: usize, criterion: usize) -> Rule {
    [within(1.0, 0.0), within(0.5, 0.04), within(1.0, 0.08)][criterion]
}

/// Averages of RFN over the data sets.
fn rectified_average(_: u64, units: usize, criterion: usize) -> Rule {
    match (criterion, units) {
        (0, _) => average(1.0, 0.0),
        (1, 50) => average(0.0, 0.04),
        (1, 100) => average(0.0, 0.08),
        _ => covariance_average(units),
    }
}

/// Averages of RFN without normalisation.
fn unnormalised_average(set: u64, units: usize, criterion: usize) -> Rule {
    match criterion {
        0 => average(if set == 2 { 1.5 } else { 1.0 }, 0.0),
        1 => average(0.0, 0.04),
        _ => covariance_average(units),
    }
}

/// Averages of CO; with 150 units, more than there are rows, it is so small that the bound is absolute, as is that of ER of RFN.
fn covariance_average(units: usize) -> Rule {
    match units {
        50 => average(0.0, 0.08),
        100 => average(0.0, 0.20),
        _ => average(3.5, 0.0),
    }
}

fn factors(units: usize, criterion: usize) -> Rule {
    match criterion {
        0 => Rule::Not("codes depend on the rotation of the factors"),
        1 => larger(0.0, 0.03),
        _ if units == 50 => larger(0.0, 0.10),
        _ => Rule::Not("with as many factors as columns CO depends on the start, which is not given"),
    }
}

fn principal(_: usize, criterion: usize) -> Rule {
    match criterion {
        0 => larger(0.5, 0.0),
        1 => larger(1.2, 0.01),
        _ => Rule::Not("not defined"),
    }
}

fn independent(units: usize, criterion: usize) -> Rule {
    match criterion {
        0 => Rule::Not("the number of iterations is not given"),
        1 if units == 50 => larger(1.2, 0.01),
        1 => Rule::Not("the data have fewer dimensions than units"),
        _ => Rule::Not("not defined"),
    }
}

fn rfn(units: usize, more: (&str, &str)) -> Value {
    let mut out = json!({"n_components": units});
    out[more.0] = json!(more.1);
    out
}

fn prior(name: &str, units: usize, iterations: u64) -> Value {
    json!({"n_components": units, "prior": name, "noise_floor": 0.01, "max_iter": iterations})
}

const fn method(
    name: &'static str,
    key: &'static str,
    settings: fn(usize, bool) -> Value,
    covariance: Covariance,
    rule: fn(usize, usize) -> Rule,
) -> Method {
    Method { name, published: name, key, settings, covariance, costly: false, rule, average: None }
}

/// The methods that the published tables compare; RFN by two definitions of the normalisation.
pub(super) const METHODS: [Method; 11] = [
    Method {
        published: "RFN",
        average: Some(rectified_average),
        ..method("RFN rms", "rfn", |k, _| rfn(k, ("normalize", "rms")), Covariance::Codes, rectified)
    },
    Method {
        published: "RFN",
        average: Some(rectified_average),
        ..method("RFN std", "rfn", |k, _| rfn(k, ("normalize", "std")), Covariance::Codes, rectified)
    },
    Method {
        average: Some(unnormalised_average),
        ..method("RFNn", "rfn", |k, _| rfn(k, ("normalize", "none")), Covariance::Codes, rectified)
    },
    method(
        "DAE",
        "dae",
        // The published rate, 1e-4, is that of the squared error of a row; here it is that of the mean over a batch.
        |k, _| {
            json!({
                "n_components": k, "corruption": 0.2, "solver": "plain-sgd", "learning_rate": 1e-4 * BATCH_ROWS as f64, "batch_size": BATCH_ROWS,
                "max_epochs": 1000,
            })
        },
        Covariance::None,
        |_, _| Rule::Not("loss, batch size and stopping rule are not given"),
    ),
    method(
        "RBM",
        "rbm",
        |k, _| json!({"n_components": k, "learning_rate": 0.01, "batch_size": BATCH_ROWS, "max_epochs": 1000}),
        Covariance::None,
        |_, _| Rule::Not("start, batch size and scaling of the rows are not given"),
    ),
    Method {
        costly: true,
        ..method(
            "FAsp",
            "factor-analysis",
            |k, full| prior("jeffreys", k, if full { 500 } else { 200 }),
            Covariance::Factors,
            |_, _| Rule::Not("published errors above the norm of the data look like those of a diverged run"),
        )
    },
    Method {
        costly: true,
        ..method(
            "FAlap",
            "factor-analysis",
            |k, full| prior("laplace", k, if full { 500 } else { 200 }),
            Covariance::Factors,
            |_, _| Rule::Not("start and bounds of the variational precisions are not given"),
        )
    },
    method("ICA", "fastica", |k, _| json!({"n_components": k.min(SIDE - 1)}), Covariance::None, independent),
    method(
        "SFA",
        "factor-analysis",
        |k, _| {
            let mut settings = prior("laplace-loadings", k, 500);
            settings["l1"] = json!(5e-5);
            settings
        },
        Covariance::Factors,
        |_, _| Rule::Not("the unit of the weight of the penalty is not given"),
    ),
    method("FA", "factor-analysis", |k, _| prior("none", k, 500), Covariance::Factors, factors),
    method("PCA", "pca", |k, _| json!({"n_components": k.min(SIDE)}), Covariance::None, principal),
];

/// E-steps of RFN that are compared on the same instances: as published, and the two that never decrease the objective.
pub(super) const E_STEPS: [&str; 3] = ["plain", "cascade", "coordinate"];

/// Settings of RFN with an E-step of [`E_STEPS`]; a cascade of 1000 iterations would take much longer than all other methods.
pub(super) fn with_e_step(units: usize, e_step: usize) -> Value {
    let mut out = rfn(units, ("e_step", E_STEPS[e_step]));
    out["max_iter"] = json!(if e_step == 0 { 1000 } else { 100 });
    out
}
