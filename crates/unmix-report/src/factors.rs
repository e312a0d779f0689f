//! The table of loadings of a factor analysis: for the page, the terminal, JSON and CSV.

use crate::description;
use crate::number::{number, percent};
use serde_json::{Map, Value, json};
use unmix::{Matrix, Model};

/// Loadings, uniquenesses and correlations of the factors of a model, in standard deviations of the columns.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FactorTable {
    /// Names of the columns, or their numbers.
    pub columns: Vec<String>,
    /// Names of the factors.
    pub factors: Vec<String>,
    /// Loadings (the pattern), factors x columns, in standard deviations of the columns; 0 for constant columns.
    pub loadings: Matrix<f64>,
    /// Share of the variance of each column that no factor explains, one for each column; 0 for constant columns.
    pub uniqueness: Vec<f64>,
    /// Share of the variance of each column that the factors explain, one for each column; 0 for constant columns.
    pub communality: Vec<f64>,
    /// Numbers of the columns, from 0, whose uniqueness is at its lower bound.
    pub heywood: Vec<usize>,
    /// Correlations of the factors, factors x factors; the identity for orthogonal ones.
    pub correlation: Matrix<f64>,
    /// Sum of squared loadings of each factor; with correlated factors the sum over columns of pattern times structure, so that these add up to the
    /// communalities.
    pub squares: Vec<f64>,
    /// Names and values of the tests and indices of fit that the model has.
    fit: Map<String, Value>,
    /// Number of columns that vary.
    n_varying: usize,
}

/// Labels of the tests and indices of fit.
const LABELS: [(&str, &str); 16] = [
    ("log_likelihood", "log-likelihood"),
    ("aic", "AIC"),
    ("bic", "BIC"),
    ("chi_square", "chi-square"),
    ("degrees_of_freedom", "degrees of freedom"),
    ("p_value", "p-value of the test of fit"),
    ("rmsea", "RMSEA"),
    ("rmsea_lower", "RMSEA, lower end of the 90 % interval"),
    ("rmsea_upper", "RMSEA, upper end of the 90 % interval"),
    ("tli", "TLI"),
    ("cfi", "CFI"),
    ("srmr", "SRMR"),
    ("kmo", "KMO"),
    ("bartlett_chi_square", "Bartlett's test: chi-square"),
    ("bartlett_degrees_of_freedom", "Bartlett's test: degrees of freedom"),
    ("bartlett_p_value", "Bartlett's test: p-value"),
];

/// Label and value of each test and index of fit in a report, without those that could not be computed.
pub(crate) fn fit_lines(fit: &Map<String, Value>) -> Vec<(String, String)> {
    let label = |key: &str| {
        let known = LABELS.iter().find(|(of, _)| *of == key);
        known.map_or_else(|| key.replace('_', " "), |(_, label)| (*label).into())
    };
    let text = |value: &Value| match value {
        Value::Number(x) => x.as_f64().map(number),
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    fit.iter().filter_map(|(key, x)| Some((label(key), text(x)?))).collect()
}

impl FactorTable {
    /// The table of a model; `None` if it is not a factor analysis.
    pub fn of(model: &Model) -> Option<Self> {
        let communality = model.tensor("communalities")?.f64s();
        let (mut raw, noise) =
            (model.tensor("components")?.to_matrix(), model.tensor("noise_variance")?.f64s());
        // With a prior of the factors their variances are not 1.
        let variances = model.tensor("factor_variance").map(|variances| variances.f64s());
        for (a, variance) in variances.iter().flatten().enumerate() {
            raw.row_mut(a).iter_mut().for_each(|x| *x *= variance.sqrt());
        }
        let correlation = model.tensor("factor_correlation")?.to_matrix();
        let heywood = model.tensor("heywood")?.f64s().iter().map(|j| *j as usize).collect();
        let (k, p) = (model.n_components(), model.n_features());
        let explained = |j: usize| -> f64 {
            let own = |a: usize| (0..k).map(|b| correlation[(a, b)] * raw[(b, j)]).sum::<f64>();
            (0..k).map(|a| raw[(a, j)] * own(a)).sum()
        };
        let variance = |j: usize| match &variances {
            // Second moments of different factors may not be 0, either.
            Some(_) if communality[j] < 1.0 => noise[j] / (1.0 - communality[j]),
            _ => explained(j) + noise[j],
        };
        let scale: Vec<f64> = (0..p).map(|j| variance(j).sqrt()).collect();
        let entry = |a: usize, j: usize| if scale[j] > 0.0 { raw[(a, j)] / scale[j] } else { 0.0 };
        let loadings = Matrix::from_fn(k, p, entry);
        let product = |a: usize, b: usize| (0..p).map(|j| loadings[(a, j)] * loadings[(b, j)]).sum::<f64>();
        let squares = (0..k).map(|a| (0..k).map(|b| correlation[(a, b)] * product(a, b)).sum()).collect();
        let fit = model.report().fit.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        Some(Self {
            columns: (0..p).map(|j| description::feature_name(model, j)).collect(),
            factors: model.component_names(),
            loadings,
            uniqueness: (0..p).map(|j| if scale[j] > 0.0 { 1.0 - communality[j] } else { 0.0 }).collect(),
            communality,
            heywood,
            correlation,
            squares,
            fit,
            n_varying: scale.iter().filter(|s| **s > 0.0).count(),
        })
    }

    /// Sum of squared loadings of each factor as a share of the variance of all columns, each of variance 1.
    pub fn shares(&self) -> Vec<f64> {
        self.squares.iter().map(|s| s / self.n_varying.max(1) as f64).collect()
    }

    fn cumulative(&self) -> Vec<f64> {
        let running = self.shares().into_iter().scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        });
        running.collect()
    }

    /// Whether factors are correlated.
    pub(crate) fn is_oblique(&self) -> bool {
        let k = self.correlation.rows();
        (0..k).any(|a| (0..a).any(|b| self.correlation[(a, b)].abs() > 1e-12))
    }

    /// Tables for a terminal: loadings with uniquenesses and communalities, sums of squared loadings, correlations of correlated factors, and
    /// tests of fit. Lines end with `\n`.
    pub fn text(&self) -> String {
        let k = self.factors.len();
        let short = |x: f64| format!("{x:.3}");
        let head = |first: &str, names: &[String], more: &[&str]| -> Vec<String> {
            let names = names.iter().map(String::as_str);
            std::iter::once(first).chain(names).chain(more.iter().copied()).map(String::from).collect()
        };
        let mut lines = vec![head("loadings", &self.factors, &["uniqueness", "communality"])];
        for (j, name) in self.columns.iter().enumerate() {
            let mut line = vec![name.clone()];
            line.extend((0..k).map(|a| short(self.loadings[(a, j)])));
            line.extend([short(self.uniqueness[j]), short(self.communality[j])]);
            line.extend(self.heywood.contains(&j).then(|| "Heywood case".into()));
            lines.push(line);
        }
        let mut out = aligned(&lines);
        let mut lines = vec![head("", &self.factors, &[])];
        let squares = [
            ("sum of squared loadings", self.squares.iter().map(|x| short(*x)).collect::<Vec<_>>()),
            ("share of the variance", self.shares().into_iter().map(percent).collect()),
            ("cumulative share", self.cumulative().into_iter().map(percent).collect()),
        ];
        for (name, values) in squares {
            lines.push(head(name, &values, &[]));
        }
        out += &format!("\n{}", aligned(&lines));
        if self.is_oblique() {
            let mut lines = vec![head("correlations", &self.factors, &[])];
            for (a, name) in self.factors.iter().enumerate() {
                let values: Vec<String> = (0..k).map(|b| short(self.correlation[(a, b)])).collect();
                lines.push(head(name, &values, &[]));
            }
            out += &format!("\n{}", aligned(&lines));
        }
        let fit = fit_lines(&self.fit);
        let width = fit.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        let fit: String = fit.iter().map(|(label, value)| format!("{label:width$}  {value}\n")).collect();
        if fit.is_empty() { out } else { format!("{out}\n{fit}") }
    }

    /// The same numbers with all digits.
    pub fn to_json(&self) -> Value {
        let rows = |of: &Matrix<f64>| (0..of.rows()).map(|a| of.row(a).to_vec()).collect::<Vec<_>>();
        json!({
            "columns": self.columns,
            "factors": self.factors,
            "loadings": rows(&self.loadings.transposed()),
            "uniqueness": self.uniqueness,
            "communality": self.communality,
            "heywood": self.heywood,
            "factor_correlation": rows(&self.correlation),
            "sum_of_squared_loadings": self.squares,
            "share": self.shares(),
            "cumulative_share": self.cumulative(),
            "fit": self.fit,
        })
    }

    /// Fields of a CSV file: a head, and a line for each column with its name, loadings, uniqueness and communality.
    pub fn records(&self) -> Vec<Vec<String>> {
        let mut head = vec!["column".to_string()];
        head.extend(self.factors.iter().cloned());
        head.extend(["uniqueness", "communality"].map(String::from));
        let line = |(j, name): (usize, &String)| {
            let numbers = (0..self.factors.len()).map(|a| self.loadings[(a, j)]);
            let numbers = numbers.chain([self.uniqueness[j], self.communality[j]]);
            std::iter::once(name.clone()).chain(numbers.map(|x| x.to_string())).collect()
        };
        std::iter::once(head).chain(self.columns.iter().enumerate().map(line)).collect()
    }
}

/// Lines with the first field flush left and the others flush right.
fn aligned(lines: &[Vec<String>]) -> String {
    let fields = lines.first().map_or(0, Vec::len);
    let width =
        |c: usize| lines.iter().filter_map(|l| l.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..fields).map(width).collect();
    let line = |line: &Vec<String>| {
        let cell = |(c, text): (usize, &String)| match widths.get(c) {
            Some(w) if c == 0 => format!("{text:w$}"),
            Some(w) => format!("  {text:>w$}"),
            // A remark after the last column.
            None => format!("  {text}"),
        };
        line.iter().enumerate().map(cell).collect::<String>() + "\n"
    };
    lines.iter().map(line).collect()
}
