//! Single-layer neural PCA, linear and nonlinear: rules that find axes by variance, and by independence where variance does
//! not tell axes apart.

pub mod nonlinearity;
