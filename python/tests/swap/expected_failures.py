"""Tests of scikit-learn's test_pca.py, test_fastica.py and test_factor_analysis.py that are expected to fail with unmix's classes in
place of scikit-learn's, with reasons.

Keys are patterns of test names. A listed test that passes is a failure, and must be removed from the list. Tests of array-API dispatch
to other libraries than numpy, which unmix does not support, are skipped where those are not installed.
"""

_AUTO = "reads a private attribute and expects the solver that scikit-learn's 'auto' chooses; that of unmix is always exact"
_SPARSE_RANDOMIZED = "scikit-learn refuses sparse rows with svd_solver='randomized', which unmix accepts"

EXPECTED_FAILURES = {
    "test_pca_svd_solver_auto[*]": _AUTO,
    "test_sparse_pca_solver_error[*-randomized]": _SPARSE_RANDOMIZED,
}
