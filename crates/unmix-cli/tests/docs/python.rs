//! Parameters in the Python package, generated from the registry: a module with signatures, constraints and types, and a section of
//! every class's docstring.

use super::wording::{WIDTH, filled, sentences, value};
use std::fmt::Write;
use unmix::internal::run::RUN_OPTIONS;
use unmix::method::{Method, Setting};

/// The first lines of the generated module.
const HEAD: &str = r#""""Parameters of the estimators: names, types, ranges and defaults.

Written from the registry of methods by `cargo xtask gen`, as are the sections on parameters in the docstrings of the classes.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, Options, RealNotInt, StrOptions

from ._options import RUN_OPTIONS, START, ShareName
from ._record import FitIndices
from ._report import Report

if TYPE_CHECKING:
    from ._base import Estimator
    from ._options import Iteration
    from ._read import Files
"#;

/// A parameter of an estimator, in Python.
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) annotation: String,
    /// Its type, as written in docstrings.
    pub(crate) described: String,
    pub(crate) default: String,
    pub(crate) doc: String,
    constraint: Vec<String>,
}

/// Parameters of every estimator for the options of a fit that are not settings: name, annotation, type in words, and sentences. Their
/// names, order and defaults are those of [`RUN_OPTIONS`]; their constraints are in `_options.py`.
const RUN_PARAMETERS: [[&str; 4]; 8] = [
    [
        "random_state",
        "int | np.random.RandomState | None",
        "int, RandomState or None",
        "Seed of the random numbers, recorded in ``report_.seed``; None draws one from numpy's global state.",
    ],
    [
        "max_seconds",
        "float | None",
        "float or None",
        "Time limit in seconds: iterations end with the current result, and ``report_.outcome`` is ``\"time\"``.",
    ],
    [
        "callback",
        "Callable[[Iteration], Any] | None",
        "callable or None",
        "Called after every iteration with an :class:`unmix.Iteration`; if it raises StopIteration the fit ends with the current result, \
         and ``report_.outcome`` is ``\"interrupted\"``. Another exception ends the fit without a result.",
    ],
    [
        "checkpoint",
        "str | PathLike[str] | None",
        "path or None",
        "A file to which the state of the iterations is written during the fit, so that an interrupted fit can be resumed; removed when \
         the fit is complete, kept if ``max_seconds`` or ``callback`` ended it.",
    ],
    ["checkpoint_every", "float", "float", "Seconds between two writes of the checkpoint."],
    [
        "resume",
        "bool",
        "bool",
        "Resume from ``checkpoint``, with the same bits as an uninterrupted fit; if the file does not exist, the fit starts from the \
         beginning. A checkpoint of other rows, settings or seed is refused.",
    ],
    [
        "init",
        "Estimator | str | PathLike[str] | None",
        "fitted estimator, path or None",
        "A fitted model, or the path of one, whose components are the initial values, instead of the method's own.",
    ],
    [
        "verbose",
        "int",
        "{0, 1, 2}",
        "0 for no output, 1 for a progress bar, 2 for a line for each iteration, on stderr.",
    ],
];

/// The parameters of the run options, in the order of their table.
fn run_parameters() -> Vec<Parameter> {
    let offered = RUN_OPTIONS.iter().filter_map(|option| Some((option.parameter?, option.default)));
    let all: Vec<Parameter> = offered.map(|(name, default)| run_parameter(name, value(default))).collect();
    assert_eq!(all.len(), RUN_PARAMETERS.len(), "RUN_PARAMETERS has other parameters than RUN_OPTIONS");
    all
}

fn run_parameter(name: &str, default: String) -> Parameter {
    let own = RUN_PARAMETERS.iter().find(|own| own[0] == name);
    let [name, annotation, described, doc] =
        own.unwrap_or_else(|| panic!("RUN_PARAMETERS has no {name}: add its type")).map(String::from);
    Parameter { name, annotation, described, default, doc, constraint: Vec::new() }
}

/// The module with the parameters of all estimators and the types of their fitted attributes, which are parsed from the docstrings;
/// `text_of` returns the text of the file that defines a method's class.
pub(crate) fn module(methods: &[Method], text_of: &dyn Fn(&Method) -> String) -> String {
    let mut out = HEAD.to_string();
    for method in methods {
        for setting in method.settings {
            if let Some(alias) = alias(method, setting) {
                let words: Vec<String> = setting.choices().iter().map(|w| format!("\"{w}\"")).collect();
                let _ = writeln!(out, "\n{alias} = Literal[\n{}]", filled(&(words.join(", ") + ","), 4));
            }
        }
    }
    methods.iter().for_each(|method| class(&mut out, method, &attributes(&text_of(method), method)));
    out
}

/// Fitted attributes and their types, parsed from the docstring of a method's class.
fn attributes(text: &str, method: &Method) -> Vec<(String, &'static str)> {
    let class = text.split_once(&format!("\nclass {}(", method.class)).map_or("", |(_, class)| class);
    let section = class.split_once("\n    Attributes\n    ----------\n").map_or("", |(_, section)| section);
    let mut all = Vec::new();
    for line in section.lines().take_while(|line| !line.is_empty()) {
        let Some((names, type_name)) = line.split_once(" : ").filter(|_| !line.starts_with("     ")) else {
            continue;
        };
        // A property has its type where the class defines it.
        if class.contains(&format!("\n    def {}(self)", names.trim())) {
            continue;
        }
        let annotation = match type_name.split(' ').next() {
            Some("ndarray") => "NDArray[Any]",
            Some("int") => "int",
            Some("float") => "float",
            Some("Report") => "Report",
            // There is one: `fit_` of factor analysis.
            Some("Bunch") => "FitIndices",
            Some("list") if type_name == "list of float" => "list[float]",
            Some("list") if type_name == "list of ndarray" => "list[NDArray[Any]]",
            _ => panic!("{}: the type of {names}, {type_name}, has no annotation", method.class),
        };
        all.extend(names.trim().split(", ").map(|name| (name.to_string(), annotation)));
    }
    all
}

/// The base class that declares the parameters of an estimator.
fn class(out: &mut String, method: &Method, attributes: &[(String, &str)]) {
    let parameters = parameters(method);
    let name = method.class;
    let _ = writeln!(
        out,
        "\n\nclass {name}Parameters:\n    \"\"\"Parameters and fitted attributes of :class:`{name}`.\"\"\"\n"
    );
    let of_parameters = parameters.iter().map(|p| (p.name.as_str(), p.annotation.as_str()));
    let of_the_fit = attributes.iter().map(|(name, annotation)| (name.as_str(), *annotation));
    of_parameters.chain(of_the_fit).for_each(|(name, annotation)| {
        let _ = writeln!(out, "    {name}: {annotation}");
    });
    out.push('\n');
    let _ = writeln!(out, "    _parameter_constraints: dict[str, list[Any]] = {{\n        **RUN_OPTIONS,");
    for p in parameters.iter().filter(|p| !p.constraint.is_empty()) {
        let line = format!("        \"{}\": [{}],", p.name, p.constraint.join(", "));
        let _ = match line.len() > WIDTH {
            true => writeln!(
                out,
                "        \"{}\": [\n            {},\n        ],",
                p.name,
                p.constraint.join(",\n            ")
            ),
            false => writeln!(out, "{line}"),
        };
    }
    out.push_str("    }\n");
    argument_ranges(out, method);
    out.push_str("\n    def __init__(\n        self,\n");
    let mut positional = true;
    for p in &parameters {
        if positional && !["n_clusters", "n_components", "variant", "dictionary"].contains(&p.name.as_str()) {
            out.push_str("        *,\n");
            positional = false;
        }
        let default = if p.default.is_empty() { String::new() } else { format!(" = {}", p.default) };
        let _ = writeln!(out, "        {}: {}{default},", p.name, p.annotation);
    }
    // One update: an assignment calls `__setattr__`, for each parameter of every estimator that is made.
    out.push_str("    ) -> None:\n        vars(self).update(\n");
    for p in &parameters {
        let _ = writeln!(out, "            {0}={0},", p.name);
    }
    out.push_str("        )\n");
}

/// The ranges of the numbers in settings that have named numbers, such as `fun_args` of FastICA.
fn argument_ranges(out: &mut String, method: &Method) {
    for setting in method.settings {
        for (name, kind) in setting.kind.arguments() {
            let range = kind.in_python().constraints.join(", ");
            let _ = writeln!(out, "    _{}_{name} = {range}", setting.name);
        }
    }
}

/// The text of a file with the section on parameters of a class's docstring replaced by the one generated from the registry.
///
/// # Panics
///
/// If the text does not define the class, or its docstring has no sections on parameters and attributes.
pub(crate) fn documented(text: &str, method: &Method) -> String {
    let class = format!("\nclass {}(", method.class);
    let heading = "    Parameters\n    ----------\n";
    let next = "\n    Attributes\n    ----------\n";
    let found = text.find(&class).and_then(|class| {
        let begin = class + text[class..].find(heading)? + heading.len();
        Some((begin, begin + text[begin..].find(next)?))
    });
    let (begin, end) =
        found.unwrap_or_else(|| panic!("{} has no sections on its parameters and attributes", method.class));
    let mut section = String::new();
    for p in parameters(method) {
        let default = if p.default.is_empty() { String::new() } else { format!(", default={}", p.default) };
        let _ = writeln!(section, "    {} : {}{default}", p.name, p.described);
        section += &filled(&p.doc, 8);
    }
    format!("{}{section}{}", &text[..begin], &text[end..])
}

/// The parameters of an estimator: settings of its method, then run options.
pub(crate) fn parameters(method: &Method) -> Vec<Parameter> {
    // Tables that belong to the rows are arguments of `fit`.
    let settings = method.settings.iter().filter(|setting| !setting.with_rows);
    let mut all: Vec<Parameter> = settings.map(|setting| parameter(method, setting)).collect();
    for mut option in run_parameters() {
        if option.name == "callback" {
            option.doc = on_callback(method, &option.doc);
        }
        if let Some(own) = all.iter_mut().find(|p| p.name == option.name) {
            // A method's own initial values are accepted beside a fitted model.
            let model = "a fitted model, or the path of one, whose components are the initial weights";
            own.doc = format!("{}; or {model}.", own.doc.trim_end_matches('.'));
            own.annotation = format!("{} | {}", own.annotation, option.annotation);
            own.described = format!("{}, {}", own.described, option.described);
            own.constraint.push("*START".into());
            continue;
        }
        // In the signature of scikit-learn's class of the same name `random_state` is the last of its parameters.
        let theirs =
            method.settings.iter().rposition(|s| s.python_only).filter(|_| option.name == "random_state");
        let place = theirs.map_or(all.len(), |last| last + 1);
        all.insert(place, option);
    }
    all
}

/// The sentences `doc` on the callback of every class, with the events after which those of this method are called.
fn on_callback(method: &Method, doc: &str) -> String {
    let (iteration, epochs) =
        ("after every iteration", method.settings.iter().find(|setting| setting.name == "max_epochs"));
    assert!(doc.contains(iteration), "the callback is called {iteration}: {doc}");
    match (method.key, epochs) {
        // Rows are coded independently, so that they have no iterations in common.
        ("sparse-coder", _) => "Called once, after all rows are coded, with an :class:`unmix.Iteration`: the largest number of iterations and the \
                                largest residual of a row; not with ``\"omp\"``. StopIteration has no effect then; another exception ends the fit \
                                without a result."
            .into(),
        (_, Some(epochs)) if epochs.only.is_empty() => doc.replacen(iteration, "after every epoch", 1),
        (_, Some(_)) | ("rfn" | "stacked-rfn", _) => {
            let either = "after every iteration, or after every epoch where mini-batches are used,";
            doc.replacen(iteration, either, 1)
        }
        _ => doc.into(),
    }
}

fn parameter(method: &Method, setting: &Setting) -> Parameter {
    let of_kind = setting.kind.in_python();
    let (mut annotations, mut constraints) = (of_kind.annotations, of_kind.constraints);
    if let Some(alias) = alias(method, setting) {
        annotations.retain(|one| !one.starts_with("Literal[\""));
        annotations.insert(0, alias.clone());
        let words = constraints.iter_mut().filter(|one| one.starts_with("StrOptions"));
        words.for_each(|one| *one = format!("StrOptions(set(get_args({alias})))"));
    }
    let mut parameter = Parameter {
        name: setting.name.into(),
        annotation: annotations.join(" | "),
        described: of_kind.described,
        default: if setting.default.is_empty() { String::new() } else { value(setting.default) },
        doc: sentences(setting.doc),
        constraint: constraints,
    };
    if setting.tensor {
        parameter.annotation += " | Estimator | str | PathLike[str] | Files";
        parameter.described += ", fitted estimator, path or Files";
        parameter.constraint.push("*START".into());
    } else if setting.kind.takes_table() {
        // A handle is array-like for scikit-learn: it has a shape.
        parameter.annotation += " | str | PathLike[str] | Files";
        parameter.described += ", path or Files";
        parameter.constraint.extend(["str", "PathLike"].map(String::from));
    }
    parameter
}

/// The name of the type alias for a setting with more than 8 choices, too many for a signature.
fn alias(method: &Method, setting: &Setting) -> Option<String> {
    let many = setting.choices().len() > 8;
    many.then(|| format!("{}{}", method.class, setting.name[..1].to_uppercase() + &setting.name[1..]))
}
