//! Classifiers whose hidden layer is random, a denoising autoencoder's, or a rectified factor network's before it is fine-tuned.

mod arms;
mod data;
mod published;
mod runs;
mod tables;

use crate::Experiment;
use crate::lab::Lab;
use arms::Arm;
use data::{Parts, SETS};
use unmix::{Error, Result};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "rfn-pretraining",
    source: "Clevert, Mayr, Unterthiner & Hochreiter 2015, Tables 2 and S11",
    summary: "classifiers of digits, rectangles and convex shapes: random, denoising autoencoder and rectified factor initial layers",
    run,
};

/// Sizes of the experiment, in full or in the quick form.
#[derive(Clone, Copy)]
struct Plan {
    units: usize,
    max_epochs: u64,
    patience: u64,
    seeds: u64,
    quick: bool,
}

impl Plan {
    fn of(lab: &Lab<'_>) -> Result<Self> {
        let quick = lab.options.quick;
        let seeds = lab.options.instances.unwrap_or(if quick { 1 } else { 3 });
        if seeds == 0 {
            return Err(Error::setting("instances", 0, "must be at least 1", "leave it out: 3 seeds"));
        }
        let (units, max_epochs, patience) = if quick { (64, 12, 4) } else { (1024, 60, 10) };
        Ok(Self { units, max_epochs, patience, seeds, quick })
    }

    /// Numbers of training, validation and test pictures.
    fn sizes(&self, all: [usize; 3]) -> [usize; 3] {
        if self.quick { [400, 200, 1000] } else { all }
    }
}

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let plan = Plan::of(lab)?;
    let mut found = Vec::new();
    for spec in SETS {
        match Parts::new(spec, plan.sizes(spec.sizes), lab.options, lab.run)? {
            None => lab.note(format!(
                "Set {} was not run: it needs the digits of MNIST with their labels; give --pictures train-images-idx3-ubyte.gz, with the files \
                 of labels and of test digits beside it.",
                spec.name
            ))?,
            Some(set) => found.push((spec, runs::of(lab, &plan, &set)?)),
        }
    }
    notes(lab, &plan)?;
    tables::tables(lab, &plan, &found)
}

fn notes(lab: &mut Lab<'_>, plan: &Plan) -> Result<()> {
    lab.note(
        "Data: basic, rect and convex are generated from a seed by descriptions of the sets of Larochelle et al. (2007); they are not the original \
         files. Pixels from 0 to 1, minus the median of each over the training pictures. NORB, CIFAR-10 and the other sets of Table 2 are printed as \
         published only.",
    )?;
    let Plan { units, max_epochs, patience, seeds, .. } = *plan;
    lab.note(format!(
        "One hidden layer of {units} rectified units and a softmax layer that starts at 0, trained by stochastic gradient descent without momentum on \
         batches of 100: rates 0.1 and 0.01, masking noise 0 and 0.25, at most {max_epochs} epochs, {patience} without fewer errors on the validation part, \
         {seeds} seeds, the same for all three initial layers. For each seed the setting with the fewest validation errors counts, at its best \
         epoch. The published selection is among 144 settings for each set.",
    ))?;
    let [epochs, iterations] = [Arm::Dae, Arm::Rfn].map(|arm| arm.n_iter(plan.quick));
    lab.note(format!(
        "Initial layers: normal weights (He et al. 2015); a denoising autoencoder with a quarter of the entries masked, {epochs} epochs; a rectified factor \
         network with plain steps, rate 0.1, {iterations} iterations on all rows (their number is not given in the publication), floor of the noise in units of \
         the mean variance. The two learned layers are multiplied by one number each, so that \
         their codes have the mean squared length of those of random weights: otherwise the same learning rate would mean different steps.",
    ))?;
    lab.note(
        "Intervals are 1.96 sqrt(p (1 - p) / n) for n test pictures; the spread is the standard deviation over seeds. Initial layers whose intervals \
         overlap are not distinguished by these data; no order of them is a condition.",
    )
}
