//! The twenty-four nonlinear variants, and further published terms and constraints.

use super::table::{Order, Step, TableEntry};
use super::{
    ActivationFunction, Anchor, Constraint, DecoderScale, Mean, Nested, Orthogonality, Sigma, Slope, Space,
    Spec, Tail,
};

/// The nonlinear reconstruction with the encoder's part of the gradient only.
const ENCODER: Spec = Spec { space: Space::Input, enc: 1.0, constraint: Constraint::Unit, ..Spec::EMPTY };
const TRAINED: Spec = Spec { sigma: Sigma::Trained, sigma_l2: 1e-3, ..ENCODER };
const LATENT: Spec = Spec { space: Space::Latent(Anchor::Identity), ..TRAINED };
/// Standard deviations from exponential moving averages.
const RUNNING: Spec = Spec { sigma: Sigma::Running, ..ENCODER };
/// The main method: the same with `h(z) = 4 tanh(z/4)`.
const MAIN: Spec = Spec { a: 4.0, ..RUNNING };
const COUPLED: Spec = Spec {
    space: Space::Latent(Anchor::Gram),
    orth: Orthogonality::Symmetric,
    beta: 1.0,
    constraint: Constraint::None,
    ..MAIN
};
/// The linear reconstruction, to which terms of independent component analysis are added.
const RECONSTRUCTION: Spec = Spec { lin_enc: 1.0, lin_dec: 1.0, constraint: Constraint::Unit, ..Spec::EMPTY };
const SUBSPACE: Spec = Spec { lin_dec: 1.0, ..Spec::EMPTY };

/// If draws beyond the last column kept all, the weights of the columns would be too similar for their order to be found.
const DROPOUT: Nested = Nested { rho: None, tail: Tail::Truncated };

const SUPER: &str = "super-Gaussian sources, by variance and independence";
const NEITHER: &str = "neither axes nor sources of super-Gaussian data: a published negative example";

const ROW: TableEntry = TableEntry {
    key: "",
    reference: "sigma-PCA, G.4",
    recovers: SUPER,
    spec: None,
    order: Order::None,
    unit: true,
    scale_free: true,
    step: Step::Quarter,
};

const fn row(key: &'static str, reference: &'static str, spec: Spec) -> TableEntry {
    TableEntry { key, reference, spec: Some(spec), ..ROW }
}

/// The variants of `sigma-pca`, numbered from 1.
pub const NONLINEAR: [TableEntry; 24] = [
    TableEntry {
        recovers: NEITHER,
        scale_free: false,
        ..row(
            "conventional",
            "Karhunen & Joutsensalo 1994; sigma-PCA, G.4 (1)",
            Spec { sigma: Sigma::One, dec: 1.0, own_units: true, ..ENCODER },
        )
    },
    TableEntry {
        recovers: NEITHER,
        ..row(
            "trained-sigma-full",
            "sigma-PCA, Eq. 25; G.4 (2)",
            Spec { sigma: Sigma::Trained, dec: 1.0, ..ENCODER },
        )
    },
    row("trained-sigma", "sigma-PCA, Eq. 34; G.4 (3)", TRAINED),
    row("trained-latent-linear", "sigma-PCA, G.4 (4)", Spec { lin_enc: 1.0, ..LATENT }),
    row(
        "trained-latent-symmetric",
        "sigma-PCA, Eq. 187; G.4 (5)",
        Spec { orth: Orthogonality::Symmetric, beta: 10.0, ..LATENT },
    ),
    TableEntry {
        order: Order::Descending,
        ..row(
            "trained-latent-asymmetric",
            "sigma-PCA, Eq. 188; G.4 (6)",
            Spec { orth: Orthogonality::Upper, beta: 10.0, ..LATENT },
        )
    },
    row(
        "trained-latent-coupled",
        "sigma-PCA, Eq. 185; G.4 (7)",
        Spec { space: Space::Latent(Anchor::Gram), orth: Orthogonality::Symmetric, beta: 1.0, ..TRAINED },
    ),
    TableEntry {
        recovers: "sub-Gaussian sources, by variance and independence",
        ..row("ema-tanh", "sigma-PCA, Eq. 34; G.4 (8)", RUNNING)
    },
    row("ema-scaled-tanh", "sigma-PCA, Eq. 34: the main method; G.4 (9)", MAIN),
    row("ema-unit-slope", "sigma-PCA, G.4 (10)", Spec { slope: Slope::One, ..MAIN }),
    row(
        "ema-hard-tanh",
        "sigma-PCA, G.4 (11)",
        Spec { h: ActivationFunction::HardTanh, a: 2.0, slope: Slope::One, ..RUNNING },
    ),
    row(
        "ema-adaptive-tanh",
        "sigma-PCA, F.1.1; G.4 (12)",
        Spec { h: ActivationFunction::ScaledTanh, adaptive: true, slope: Slope::One, ..RUNNING },
    ),
    row(
        "ema-constant-tanh",
        "sigma-PCA, F.1.1; G.4 (13)",
        Spec { h: ActivationFunction::ScaledTanh, a: 1.6, slope: Slope::One, ..RUNNING },
    ),
    TableEntry { unit: false, ..row("ema-latent-coupled", "sigma-PCA, Eq. 185; G.4 (14)", COUPLED) },
    row("ema-trained-a", "sigma-PCA, G.4 (15)", Spec { train_a: true, ..RUNNING }),
    TableEntry {
        order: Order::Descending,
        ..row("ema-deflation", "sigma-PCA, Eq. 54; G.4 (16)", Spec { deflate: true, ..MAIN })
    },
    TableEntry {
        order: Order::Descending,
        ..row(
            "ema-nested-dropout",
            "sigma-PCA, G.4 (17)",
            Spec { nested: Some(DROPOUT), orth: Orthogonality::Symmetric, beta: 1.0, ..MAIN },
        )
    },
    row(
        "ema-linear-reconstruction",
        "sigma-PCA, Eqs. 162-170; G.4 (18)",
        Spec { slope: Slope::One, lin_enc: 2.0, ..RUNNING },
    ),
    row("rica", "Le, Karpenko, Ngiam & Ng 2011; G.4 (19)", Spec { l1: 1.0, ..RECONSTRUCTION }),
    row("logcosh", "sigma-PCA, G.4 (20)", Spec { logcosh: 1.0, ..RECONSTRUCTION }),
    row("skew-symmetric", "sigma-PCA, G.4 (21)", Spec { skew: 1.0, ..RECONSTRUCTION }),
    row("no-diagonal", "sigma-PCA, G.4 (22)", Spec { nodiag: 1.0, ..RECONSTRUCTION }),
    row(
        "no-diagonal-sigma",
        "sigma-PCA, G.4 (23)",
        Spec { nodiag_sigma: 1.0, xh: ActivationFunction::Sign, ..RECONSTRUCTION },
    ),
    TableEntry {
        order: Order::Descending,
        ..row(
            "ema-triangular",
            "sigma-PCA, Eqs. 222-228; G.4 (24)",
            Spec { a: 6.0, triangle: 1.0, ..RUNNING },
        )
    },
];

/// Further published terms and constraints, and forms of this project: without keys, but covered by the same tests.
pub const NONLINEAR_MORE: [TableEntry; 20] = [
    row("weighted-latent", "sigma-PCA, Eq. 229", Spec { slope: Slope::One, weighted: true, ..MAIN }),
    TableEntry {
        order: Order::Descending,
        unit: false,
        ..row(
            "latent-upper",
            "sigma-PCA, Eq. 186",
            Spec { space: Space::Latent(Anchor::UpperGram), ..COUPLED },
        )
    },
    row("upper-orthogonality", "sigma-PCA, Eq. 130", Spec { orth: Orthogonality::Upper, beta: 1.0, ..MAIN }),
    row(
        "upper-unit-orthogonality",
        "sigma-PCA, Eq. 129",
        Spec { orth: Orthogonality::UpperUnit, beta: 1.0, ..MAIN },
    ),
    row(
        "upper-sigma-orthogonality",
        "sigma-PCA, Eq. 133",
        Spec { orth: Orthogonality::UpperSigma, beta: 1.0, ..MAIN },
    ),
    row("polar", "sigma-PCA, B.1", Spec { constraint: Constraint::Polar, ..MAIN }),
    row(
        "newton-schulz",
        "Hyvärinen 1999; sigma-PCA, B.1",
        Spec { constraint: Constraint::NewtonSchulz, ..MAIN },
    ),
    row("gram-schmidt", "sigma-PCA, B.1", Spec { constraint: Constraint::GramSchmidt, ..MAIN }),
    row("weight-norm", "Salimans & Kingma 2016", Spec { constraint: Constraint::WeightNorm, ..MAIN }),
    TableEntry { recovers: NEITHER, ..row("decoder-kept", "sigma-PCA, Eq. 25", Spec { dec: 1.0, ..MAIN }) },
    TableEntry {
        scale_free: false,
        ..row(
            "decoder-spectral",
            "sigma-PCA, Eq. 220",
            Spec { dec: 1.0, dec_scale: DecoderScale::Spectral, own_units: true, ..MAIN },
        )
    },
    TableEntry {
        scale_free: false,
        ..row(
            "decoder-no-sigma",
            "sigma-PCA, F.6",
            Spec { dec: 1.0, dec_scale: DecoderScale::NoSigma, own_units: true, ..MAIN },
        )
    },
    TableEntry {
        scale_free: false,
        ..row(
            "encoder-sigma",
            "sigma-PCA, F.6",
            Spec { dec: 1.0, dec_scale: DecoderScale::EncoderSigma, own_units: true, ..MAIN },
        )
    },
    row("skew-sigma", "a form of G.4 (21) of this project", Spec { skew_sigma: 3.0, ..RECONSTRUCTION }),
    TableEntry { unit: false, ..row("rica-subspace", "sigma-PCA, Eq. 192", Spec { l1: 1.0, ..SUBSPACE }) },
    TableEntry {
        unit: false,
        ..row("logcosh-subspace", "sigma-PCA, Eq. 205", Spec { logcosh: 1.0, ..SUBSPACE })
    },
    row("no-diagonal-subspace", "sigma-PCA, Eq. 206", Spec { nodiag: 2.0, ..SUBSPACE }),
    row("skew-subspace", "sigma-PCA, Eq. 207", Spec { skew: 2.0, ..SUBSPACE }),
    row(
        "no-diagonal-sigma-subspace",
        "sigma-PCA, Eq. 209",
        Spec { nodiag_sigma: 2.0, xh: ActivationFunction::Sign, ..SUBSPACE },
    ),
    row("not-centred", "sigma-PCA, Eq. 245", Spec { mean: Mean::Kept, ..MAIN }),
];
