"""Sources, axes and features that are known: recovered, or a warning."""

import numpy as np
import pytest
from test_torture_classes import fitted

from unmix import ICA, RICA, FastICA, SigmaPCA

N, K = 4000, 4


def kinds(rng, kind, n=N, k=K):
    return {
        "laplace": lambda: rng.laplace(size=(n, k)),
        "uniform": lambda: rng.uniform(-1, 1, size=(n, k)),
        "mixed": lambda: np.c_[rng.laplace(size=(n, k // 2)), rng.uniform(-1, 1, size=(n, k - k // 2))],
        "heavy": lambda: rng.standard_t(3, size=(n, k)),
        "binary": lambda: rng.choice([-1.0, 1.0], size=(n, k)),
    }[kind]()


CHANGES = {
    "plain": lambda X: X,
    "mean 1e6": lambda X: X + 1e6,
    "scale 1e140": lambda X: X * 1e140,
    "scale 1e-140": lambda X: X * 1e-140,
    "columns twice": lambda X: np.c_[X, X],
    "constant columns": lambda X: np.c_[X, np.ones((len(X), 2))],
    "sorted": lambda X: X,
    "single": lambda X: X.astype(np.float32),
    "units": lambda X: X * np.array([1e-6, 1, 1e3, 1e6]),
}
SOLVERS = {
    "ICA": lambda: ICA(),
    "ICA free": lambda: ICA(ortho=False, extended=True),
    "ICA infomax": lambda: ICA(algorithm="infomax"),
    "ICA fastica": lambda: ICA(algorithm="fastica"),
    "ICA easi": lambda: ICA(algorithm="easi"),
    "ICA layers": lambda: ICA(algorithm="sigma-pca"),
    "FastICA": lambda: FastICA(tol=1e-8, max_iter=500),
    "RICA": lambda: RICA(n_components=K),
    "RICA without whitening": lambda: RICA(n_components=K, whiten=False),
}


def recovered(codes, S):
    """For each true source, its largest absolute correlation with a code."""
    S, codes = S - S.mean(0), codes.astype(float)
    codes = codes - codes.mean(0)
    with np.errstate(invalid="ignore"):
        c = (S / np.sqrt((S**2).sum(0))).T @ (codes / np.sqrt((codes**2).sum(0)))
    return np.abs(np.nan_to_num(c)).max(1)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["laplace", "uniform", "mixed", "heavy", "binary"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_sources_are_found_or_a_warning_is_given(solver, kind, change):
    rng = np.random.default_rng(len(solver) + len(kind))
    S, mixing = kinds(rng, kind), rng.normal(size=(K, K))
    if change == "sorted":
        S = S[np.argsort(((S @ mixing.T) ** 2).sum(1))]
    X = CHANGES[change](S @ mixing.T)
    model, warned = fitted(SOLVERS[solver](), X)
    assert not isinstance(model, str), model
    with_warning = warned or bool(model.report_.warnings)
    # RICA finds sparse sources only, and without whitening trades sparsity for reconstruction.
    expected = "RICA" not in solver or (solver == "RICA" and kind in ("laplace", "heavy"))
    assert with_warning or not expected or recovered(model.transform(X), S).min() > 0.95


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("n", [1000, 4000])
def test_heavy_tails_that_two_layers_do_not_separate_give_a_warning(n, seed):
    rng = np.random.default_rng(seed)
    S = rng.standard_t(3, size=(n, K))
    X = S @ rng.normal(size=(K, K)).T
    model, warned = fitted(ICA(algorithm="sigma-pca"), X)
    assert warned or model.report_.warnings or recovered(model.transform(X), S).min() > 0.95


SPHERES = {
    "multivariate t": lambda rng: rng.normal(size=(8000, 5)) / np.sqrt(rng.chisquare(6, size=(8000, 1)) / 6),
    "gaussian, 5": lambda rng: rng.normal(size=(3000, 5)),
    "gaussian, 60": lambda rng: rng.normal(size=(3000, 60)),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SPHERES)
def test_undetermined_axes_are_not_resolved(name, seed):
    model, _ = fitted(SigmaPCA(), SPHERES[name](np.random.default_rng(seed)))
    assert not model.resolved_.any()


@pytest.mark.parametrize("shape", [(60, 3000), (30, 400), (128, 500)])
def test_few_rows_of_many_columns_give_a_warning(shape):
    X = np.random.default_rng(0).normal(size=shape)
    for model in (RICA(5), RICA(), ICA(), FastICA()):
        model, _ = fitted(model, X)
        squares = model.transform(X) ** 2
        assert model.report_.warnings
        if isinstance(model, RICA):
            assert (squares.max(0) / squares.sum(0)).max() < 0.6
