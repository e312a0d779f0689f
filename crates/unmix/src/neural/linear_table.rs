//! The fourteen linear rules, and further forms of three of them.

use super::table::{Order, Step, TableEntry};
use super::{Lambda, Mix, Nested, Spec};

const RULE: Spec = Spec { lin_dec: 1.0, ..Spec::EMPTY };
const AUTOENCODER: Spec = Spec { lin_enc: 1.0, lin_dec: 1.0, ..Spec::EMPTY };

const ROW: TableEntry = TableEntry {
    key: "",
    reference: "",
    recovers: "axes, by decreasing variance",
    spec: None,
    order: Order::Descending,
    unit: true,
    scale_free: true,
    step: Step::Quarter,
};

/// The variants of `neural-pca`, numbered from 1.
pub const LINEAR: [TableEntry; 14] = [
    TableEntry { key: "svd", reference: "Pearson 1901; Hotelling 1933", ..ROW },
    TableEntry {
        key: "autoencoder",
        reference: "Bourlard & Kamp 1988; Baldi & Hornik 1989",
        recovers: "the subspace: an orthonormal basis of it",
        spec: Some(AUTOENCODER),
        order: Order::None,
        ..ROW
    },
    TableEntry {
        key: "oja",
        reference: "Oja 1989, subspace learning algorithm",
        recovers: "the subspace: an orthonormal basis of it",
        spec: Some(RULE),
        order: Order::None,
        ..ROW
    },
    TableEntry {
        key: "wsla-inverse",
        reference: "Oja, Ogawa & Wangviwattana 1992, weighted subspace",
        recovers: "axes, by decreasing variance; columns of length sqrt(lambda)",
        spec: Some(Spec { mix: Mix::Wsla1, ..RULE }),
        unit: false,
        step: Step::QuarterOfLast,
        ..ROW
    },
    TableEntry {
        key: "wsla",
        reference: "Oja, Ogawa & Wangviwattana 1992, weighted subspace",
        recovers: "axes, by decreasing variance; columns of length sqrt(lambda)",
        spec: Some(Spec { mix: Mix::Wsla2, ..RULE }),
        unit: false,
        ..ROW
    },
    TableEntry {
        key: "wsla-unit",
        reference: "sigma-PCA, Eq. 55",
        spec: Some(Spec { mix: Mix::Wsla3, ..RULE }),
        ..ROW
    },
    TableEntry {
        key: "weighted-unit-loss",
        reference: "sigma-PCA, Eqs. 82, 98, 100",
        spec: Some(Spec { mix: Mix::Unit7, ..RULE }),
        ..ROW
    },
    TableEntry {
        key: "gha",
        reference: "Sanger 1989, generalised Hebbian algorithm",
        spec: Some(Spec { mix: Mix::Upper, ..RULE }),
        ..ROW
    },
    TableEntry {
        key: "gha-encoder",
        reference: "sigma-PCA, G.3 (9)",
        spec: Some(Spec { mix: Mix::Upper, upper: true, ..AUTOENCODER }),
        ..ROW
    },
    TableEntry {
        key: "gha-subspace",
        reference: "sigma-PCA, Eq. 105",
        spec: Some(Spec { mix: Mix::UpperAndFull, ..RULE }),
        ..ROW
    },
    TableEntry {
        key: "gha-reconstruction",
        reference: "sigma-PCA, Eq. 104",
        spec: Some(Spec { mix: Mix::FullAndUpper, ..AUTOENCODER }),
        ..ROW
    },
    TableEntry {
        key: "nested-dropout",
        reference: "Rippel, Gelbart & Adams 2014",
        spec: Some(Spec { nested: Some(Nested::DEFAULT), ..AUTOENCODER }),
        ..ROW
    },
    TableEntry {
        key: "weighted-variance",
        reference: "sigma-PCA, Eq. 111",
        recovers: "axes, by decreasing variance; columns of length sqrt(1 + lambda/2)",
        spec: Some(Spec { var: 1.0, ..AUTOENCODER }),
        unit: false,
        ..ROW
    },
    TableEntry {
        key: "variance-nested-dropout",
        reference: "sigma-PCA, Eq. 114",
        recovers: "axes, by decreasing variance; columns of length sqrt(1 + q/2)",
        spec: Some(Spec { var: 1.0, lambda: Lambda::Nested(Nested::DEFAULT), ..AUTOENCODER }),
        unit: false,
        ..ROW
    },
];

/// Further forms of the weighted rule with unit columns: without keys, but covered by the same tests.
pub const LINEAR_MORE: [TableEntry; 4] = [
    TableEntry {
        key: "wsla-unit-full",
        reference: "sigma-PCA, Eq. 91",
        spec: Some(Spec { mix: Mix::Wsla3Full, ..RULE }),
        step: Step::QuarterOfLast,
        ..ROW
    },
    TableEntry {
        key: "wsla-unit-product",
        reference: "sigma-PCA, Eq. 92",
        spec: Some(Spec { mix: Mix::Wsla3Product, ..RULE }),
        ..ROW
    },
    TableEntry {
        key: "weighted-unit-inverse",
        reference: "sigma-PCA, Eqs. 81, 97",
        spec: Some(Spec { mix: Mix::Unit4, ..RULE }),
        step: Step::QuarterOfLast,
        ..ROW
    },
    TableEntry {
        key: "weighted-variance-rising",
        reference: "sigma-PCA, Eq. 111 with alpha = -1",
        recovers: "axes, by increasing variance; columns of length sqrt(1 - lambda/2)",
        spec: Some(Spec { var: -1.0, ..AUTOENCODER }),
        order: Order::None,
        unit: false,
        ..ROW
    },
];
