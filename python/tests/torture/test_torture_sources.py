"""Sources, axes and features that are known: recovered, or a warning. Features of RICA are also compared with its objective."""

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
    if "RICA" in solver:
        assert_features_minimise_the_objective(model, X)
        assert_features_do_not_depend_on_units(model, SOLVERS[solver](), X)
    # RICA finds sparse sources only, and without whitening trades sparsity for reconstruction.
    if "RICA" not in solver or (solver == "RICA" and kind in ("laplace", "heavy")):
        assert warned or model.report_.warnings or recovered(model.transform(X), S).min() > 0.95


def objective_of_rica(model, X):
    """Objective and the largest entry of its gradient, by the formula of Le et al. and numpy, with beta="auto" as documented; the gradient in
    units of the mean variance of a coordinate."""
    # A power of two, so that squares neither overflow nor underflow.
    size = 2.0 ** np.floor(np.log2(np.abs(X).max()))
    Z = X.astype(float) / size
    Z, n, k = Z - Z.mean(0), len(X), len(model.components_)
    left, values, axes = np.linalg.svd(Z, full_matrices=False)
    rank = len(values) if model.report_.rank is None else model.report_.rank
    W = model.components_.astype(float) * size
    if model.whiten:
        W = W @ (axes[:rank].T * values[:rank]) / np.sqrt(n)
        Z, beta = left[:, :rank] * np.sqrt(n), 0.2
    else:
        scale = np.sqrt((Z**2).mean())
        W, Z = W * scale, Z / scale
        beta = min(0.1 * np.sqrt((Z**2).sum(1)).mean(), 0.6 * values[min(k, rank) - 1] / scale / np.sqrt(n))
    M, Y, R = Z.T @ Z / n, Z @ W.T, W.T @ W - np.eye(Z.shape[1])
    objective = np.einsum("ij,jk,ik->", R, M, R) + beta * (np.logaddexp(Y, -Y) - np.log(2)).sum(1).mean()
    gradient = 2 * W @ (R @ M + M @ R) + beta * np.tanh(Y).T @ Z / n
    return objective, np.abs(gradient).max() / (np.trace(M) / len(M))


def assert_features_minimise_the_objective(model, X):
    """The objective in the report is that of the components, it fell, its gradient is 0 where the fit converged, and rows are
    reconstructed as well as by as many principal axes."""
    report, single = model.report_, X.dtype == np.float32
    objective, gradient = objective_of_rica(model, X)
    # The second term is for columns whose objective cancels: it is 1e-6 where features of length 0 have 4.
    assert abs(objective - report.objective[-1]) <= (1e-3 if single else 1e-6) * report.objective[-1] + 1e-9
    assert report.objective[-1] <= report.objective[0]
    if report.outcome == "converged":
        assert gradient < 3 * (1e-4 if single else 1e-6)
    centred = X.astype(float) - X.astype(float).mean(0)
    size = np.abs(centred).max()
    missed = ((model.inverse_transform(model.transform(X)).astype(float) - X) / size) ** 2
    squares = np.linalg.svd(centred / size, compute_uv=False) ** 2
    assert missed.sum() <= squares[len(model.components_) :].sum() + 1e-9 * squares.sum()


def assert_features_do_not_depend_on_units(model, other, X):
    """Rows in a unit a power of two larger have the same codes."""
    again, _ = fitted(other, X * X.dtype.type(1024))
    assert again.report_.outcome == model.report_.outcome
    codes, same = model.transform(X), again.transform(X * X.dtype.type(1024))
    assert np.isfinite(codes).all() and np.abs(codes - same).max() <= 1e-9 * np.abs(codes).max()


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
