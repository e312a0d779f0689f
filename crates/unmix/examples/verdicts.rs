//! Error rate and frequency of the verdict `resolved`: SigmaPCA on sampling designs whose axes are known, or that have none.
//!
//! ```text
//! cargo run --release -p unmix --example verdicts -- [DESIGNS] [SIZES] [SEEDS] [SETTINGS]
//! cargo run --release -p unmix --example verdicts -- "ties,bimodal" 1000x4,3000x30 0-10 '{"halves": false}'
//! ```
//!
//! Sizes are rows x columns; without any, from 300 x 4 to 20000 x 60. Each fit has one thread.
//!
//! A component is wrong if its verdict is "resolved" and its cosine with every true axis is below 0.95, or there are no axes. A line for
//! every design and size: models; components; those with a cosine of at least 0.95; resolved; resolved and wrong; models that have such a
//! component, the 95 % upper bound of their share. With `VERBOSE` set, also a line for every model that is wrong.

#[path = "../tests/sigma_pca/designs.rs"]
mod designs;

use designs::{DESIGNS, Sample, make, upper_bound, wrong_below};
use unmix::{AnyRows, Rows, Run};

/// The sizes if none are given.
const SIZES: &str = "300x4,1000x5,1000x10,3000x10,20000x10,3000x30,8000x30,20000x30,3000x60,8000x60,20000x60";

/// Counts over the models of one design and size.
#[derive(Clone, Copy, Default)]
struct Count {
    models: usize,
    components: usize,
    right: usize,
    resolved: usize,
    wrong: usize,
    wrong_models: usize,
}

impl Count {
    fn add(&mut self, more: Count) {
        self.models += more.models;
        self.components += more.components;
        self.right += more.right;
        self.resolved += more.resolved;
        self.wrong += more.wrong;
        self.wrong_models += more.wrong_models;
    }

    fn line(&self, design: &str, size: &str) -> String {
        let Count { models, components, right, resolved, wrong, wrong_models } = self;
        let bound = 100.0 * upper_bound(*wrong_models, *models);
        format!(
            "{design:28} {size:>9} {models:6} {components:7} {right:7} {resolved:9} {wrong:6} {wrong_models:6} {bound:6.1} %"
        )
    }
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize, default: &str| given.get(i).cloned().unwrap_or_else(|| default.into());
    let (which, sizes, seeds) = (word(0, "all"), word(1, SIZES), word(2, "0-4"));
    let settings: serde_json::Map<_, _> =
        serde_json::from_str(&word(3, "{}")).expect("settings are a JSON object");
    let pair = |s: &str, by: char| -> (u64, u64) {
        let (a, b) = s.split_once(by).expect("two numbers");
        (a.parse().expect("a number"), b.parse().expect("a number"))
    };
    let (first, end) = pair(&seeds, '-');
    println!(
        "{:28} {:>9} {:>6} {:>7} {:>7} {:>9} {:>6} {:>6} {:>8}",
        "design", "rows", "models", "comps", "right", "resolved", "wrong", "models", "at most"
    );
    let mut all = Count::default();
    for (name, design) in
        DESIGNS.iter().filter(|(name, _)| which == "all" || which.split(',').any(|w| name.contains(w)))
    {
        let mut of_design = Count::default();
        for size in sizes.split(',') {
            let (n, p) = pair(size, 'x');
            let mut count = Count::default();
            for seed in first..end {
                let sample = make(*design, n as usize, p as usize, seed);
                let one = judge(&sample, &settings);
                if std::env::var_os("VERBOSE").is_some() && one.wrong > 0 {
                    println!("  {name} {size} seed {seed}: {} wrong", one.wrong);
                }
                count.add(one);
            }
            println!("{}", count.line(name, size));
            of_design.add(count);
        }
        println!("{}", of_design.line(name, "all"));
        all.add(of_design);
    }
    println!("{}", all.line("all", ""));
}

/// Fits a model to a sample and compares its verdicts with the true axes.
fn judge(sample: &Sample, settings: &serde_json::Map<String, serde_json::Value>) -> Count {
    let rows = Rows::from_slice(sample.x.as_slice(), sample.x.cols()).expect("rows");
    let run = Run { threads: 1, ..Run::default() };
    let model = unmix::fit("sigma-pca", settings, &mut AnyRows::from(rows), &run).expect("a fit");
    let resolved = model.tensor("resolved").expect("a verdict").f64s();
    let cosines = sample.cosines(&model.tensor("components").expect("axes").to_matrix());
    let wrong = (0..resolved.len()).filter(|&j| resolved[j] != 0.0 && cosines[j] < wrong_below()).count();
    Count {
        models: 1,
        components: resolved.len(),
        right: cosines.iter().filter(|c| **c >= wrong_below()).count(),
        resolved: resolved.iter().filter(|r| **r != 0.0).count(),
        wrong,
        wrong_models: usize::from(wrong > 0),
    }
}
