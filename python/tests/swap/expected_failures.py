"""Tests of scikit-learn's test_pca.py that fail with our class in place of theirs, and why.

Keys are patterns of test names. A listed test that passes is a failure: take it off the list then. Tests of array-API dispatch
to other libraries than numpy, which we do not have, skip themselves where those are not installed.
"""

_AUTO = "looks at a private attribute, and at the solver that scikit-learn's 'auto' takes; ours is always exact"
_SPARSE_RANDOMIZED = "for good: scikit-learn refuses sparse rows with svd_solver='randomized', which ours computes (waits for it)"
_SOLVER = "waits for the solvers 'arpack' and 'randomized'"
_SPARSE = "waits for sparse rows"

EXPECTED_FAILURES = {
    "test_pca_svd_solver_auto[*]": _AUTO,
    "test_sparse_pca_solver_error[*-randomized]": _SPARSE_RANDOMIZED,
    "test_pca_sparse[*]": _SPARSE,
    "test_pca_sparse_fit_transform[*]": _SPARSE,
    "test_sparse_pca_auto_arpack_singular_values_consistency[*]": _SPARSE,
    "test_pca_randomized_svd_n_oversamples": _SOLVER,
}

for _solver in ("arpack", "randomized"):
    EXPECTED_FAILURES |= {
        pattern.replace("SOLVER", _solver): _SOLVER
        for pattern in (
            "test_pca[?-SOLVER]",
            "test_whitening[SOLVER-*]",
            "test_pca_solver_equivalence[*-SOLVER]",
            "test_pca_explained_variance_empirical[SOLVER-*]",
            "test_pca_singular_values_consistency[SOLVER]",
            "test_pca_singular_values[SOLVER]",
            "test_pca_check_projection[SOLVER]",
            "test_pca_check_projection_list[SOLVER]",
            "test_pca_inverse[*-SOLVER]",
            "test_n_components_none[*-SOLVER-?]",
            "test_pca_score[SOLVER]",
            "test_pca_sanity_noise_variance[SOLVER]",
            "test_pca_score_consistency_solvers[SOLVER]",
            "test_pca_deterministic_output[SOLVER]",
            "test_pca_dtype_preservation[*-SOLVER]",
        )
    }
# Runs where SCIPY_ARRAY_API=1 is set.
EXPECTED_FAILURES["test_pca_array_api_compliance[*svd_solver='randomized')*]"] = _SOLVER
EXPECTED_FAILURES["test_pca_zero_noise_variance_edge_cases[randomized]"] = _SOLVER
