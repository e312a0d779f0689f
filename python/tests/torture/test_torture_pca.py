"""Singular values of PCA against extended precision: as accurate as the solver promises, or a warning."""

from functools import lru_cache

import numpy as np
import pytest
from test_torture_classes import allowed, fitted
from torture_inputs import INPUTS, make
from torture_reference import singular_values

from unmix import PCA

CLOSED = ("full", "covariance_eigh", "auto")
ITERATIVE = ("arpack", "krylov", "power", "deflation", "randomized")


@lru_cache(maxsize=None)
def reference(data):
    return singular_values(make(data))


@pytest.mark.parametrize("data", INPUTS)
@pytest.mark.parametrize("solver, number", [*((s, "all") for s in CLOSED), *((s, n) for s in ITERATIVE for n in ("three", "all"))])
def test_variances_are_those_of_extended_precision(solver, number, data):
    X = make(data)
    truncated, most = solver in ITERATIVE, min(X.shape)
    # "arpack" finds all but the last.
    k = min(3, most) if number == "three" else max(1, most - 1) if solver == "arpack" else most
    model, warned = fitted(PCA(n_components=k, svd_solver=solver), X)
    if isinstance(model, str) and solver == "arpack" and k == most:
        assert "strictly less than" in model
        return
    if isinstance(model, str):
        allowed(model, f"PCA {solver}", data)
        return
    assert model.n_components_ == k
    want = reference(data)[:k]
    found = model.singular_values_.astype(np.longdouble)
    first, eps = want[0], np.finfo(model.mean_.dtype).eps
    if warned and model.report_.outcome != "completed":
        assert truncated, "closed forms do not iterate"
        return
    # Errors are relative to the largest singular value, or to its square where sums of squares are formed.
    exact = solver == "full" or (solver == "auto" and max(X.shape) <= 500)
    slack = {"power": 1e-5, "deflation": 1e-5, "randomized": 1e-2}.get(solver, 0.0)
    share = 100 * eps * np.sqrt(max(X.shape))
    rank = model.report_.rank if model.report_.rank is not None else model.n_components_
    for i, (a, b) in enumerate(zip(found, want)):
        if i >= rank:
            # Below the rounding errors of the solver variances are set to 0, with a warning.
            assert a == 0 and model.report_.warnings
            assert b <= (20 * max(X.shape) * eps if exact else 30 * np.sqrt(eps)) * first
        elif exact:
            assert abs(a - b) <= share * first, (i, a, b)
        else:
            assert abs(a * a - b * b) <= (share + slack) * first**2, (i, a, b)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9, 1e11])
@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "krylov"])
@pytest.mark.parametrize("n", [200, 2000, 5000])
def test_a_large_mean_costs_no_digits(offset, solver, n):
    rng = np.random.default_rng(0)
    X = np.arange(1, 9) * rng.normal(size=(n, 8)) + offset
    model = PCA(n_components=7, svd_solver=solver).fit(X)
    want = singular_values(X)[:7]
    assert np.abs(model.singular_values_ / want - 1).max() < 7e-13


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6])
def test_single_precision_keeps_the_precision_of_its_rows(offset):
    rng = np.random.default_rng(0)
    X = (np.arange(1, 9) * rng.normal(size=(3000, 8)) + offset).astype(np.float32)
    want = singular_values(X)
    for solver in ("full", "covariance_eigh"):
        found = PCA(svd_solver=solver).fit(X).singular_values_
        assert np.abs(found / want - 1).max() < 3e-6, solver


@pytest.mark.parametrize("cut", [1, 7, 256, 1000])
def test_partial_fits_agree_with_extended_precision(cut):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 8)) + 1e9
    model = PCA()
    for start in range(0, len(X), cut):
        model.partial_fit(X[start : start + cut])
    assert np.abs(model.singular_values_ / singular_values(X) - 1).max() < 7e-13
