"""Every class on every input: an error message, or finite numbers of the right shape; a fit that did not converge gives a warning."""

import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from torture_inputs import INPUTS, MAY_REFUSE, make, refusal

from unmix import ICA, PCA, RICA, FastICA, NeuralPCA, SigmaPCA

MODELS = {
    "PCA": lambda: PCA(),
    "PCA full": lambda: PCA(svd_solver="full"),
    "PCA covariance_eigh": lambda: PCA(svd_solver="covariance_eigh", whiten=True),
    "PCA zca": lambda: PCA(whiten="zca"),
    "PCA power": lambda: PCA(n_components=1, svd_solver="power"),
    "PCA deflation": lambda: PCA(n_components=1, svd_solver="deflation"),
    "PCA randomized": lambda: PCA(n_components=1, svd_solver="randomized"),
    "PCA krylov": lambda: PCA(n_components=1, svd_solver="krylov"),
    "PCA standardize": lambda: PCA(standardize=True),
    "NeuralPCA": lambda: NeuralPCA(),
    "NeuralPCA adam": lambda: NeuralPCA(solver="adam", max_epochs=2),
    "SigmaPCA": lambda: SigmaPCA(),
    "SigmaPCA native": lambda: SigmaPCA(constraint="native"),
    "SigmaPCA width": lambda: SigmaPCA(a=0.8),
    "SigmaPCA adam": lambda: SigmaPCA(variant="ema-tanh", max_epochs=2),
    "ICA": lambda: ICA(),
    "ICA one": lambda: ICA(n_components=1),
    "ICA free": lambda: ICA(ortho=False, max_iter=100),
    "ICA extended": lambda: ICA(ortho=False, extended=True, max_iter=100),
    "ICA fastica": lambda: ICA(algorithm="fastica", max_iter=100),
    "ICA infomax": lambda: ICA(algorithm="infomax", max_iter=100),
    "ICA easi": lambda: ICA(algorithm="easi", max_iter=5),
    "ICA layers": lambda: ICA(algorithm="sigma-pca", max_iter=100),
    "ICA two layers": lambda: ICA(algorithm="sigma-pca", first_layer="sigma-pca", max_iter=100),
    "ICA without whitening": lambda: ICA(whiten=False, max_iter=50),
    "FastICA": lambda: FastICA(),
    "FastICA deflation": lambda: FastICA(algorithm="deflation", fun="exp"),
    "FastICA without whitening": lambda: FastICA(whiten=False, max_iter=50),
    "RICA": lambda: RICA(max_iter=100),
    "RICA without whitening": lambda: RICA(whiten=False, max_iter=100),
    "RICA overcomplete": lambda: RICA(8, max_iter=50),
    "RICA batches": lambda: RICA(batch_size=100, max_epochs=2),
}
OUTCOMES = {"converged", "completed", "max_iter", "time", "stalled", "collapsed"}


def allowed(model, kind, data):
    """Asserts that a message of a refusal is one of those of this kind of model and this input."""
    assert re.search(refusal(kind, data) or "(no error)", model), model
    assert 20 < len(model) < 500 and "NaN" not in model, model


def fitted(model, X):
    """Return the fitted model and whether it warned, or the message of the error."""
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    if np.shape(X)[1] > 100 and model.get_params().get("whiten") is False and "ICA" in type(model).__name__:
        # Iterations over all columns cost their cube.
        model.set_params(max_iter=8)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X)
        except (ValueError, MemoryError) as e:
            return str(e), False
    return model, any(issubclass(w.category, ConvergenceWarning) for w in caught)


@pytest.mark.parametrize("data", INPUTS)
@pytest.mark.parametrize("kind", MODELS)
def test_a_fit_is_finite_or_refused_with_a_message(kind, data):
    X = make(data)
    model, warned = fitted(MODELS[kind](), X)
    if isinstance(model, str):
        allowed(model, kind, data)
        return
    report = model.report_
    assert report.outcome in OUTCOMES
    assert warned == (report.outcome not in ("converged", "completed")), report.outcome
    k = len(model.components_)
    codes = model.transform(X)
    assert codes.shape == (len(X), X.shape[1] if "zca" in kind else k)
    for numbers in (model.components_, model.mean_, codes, model.inverse_transform(codes)):
        assert np.isfinite(numbers).all()
    assert codes.dtype == (np.float32 if X.dtype == np.float32 else np.float64)
    if report.rank is not None:
        assert report.rank <= min(X.shape)
    # RICA fits as many features as requested, whatever the rank, except where it whitens.
    every = kind in ("RICA overcomplete", "RICA without whitening")
    if k > 1 and not every and report.rank is not None and report.rank < min(X.shape[0] - 1, X.shape[1]):
        assert report.warnings, "there is no warning of the missing rank"


@pytest.mark.parametrize("data", INPUTS)
@pytest.mark.parametrize("kind", ["PCA", "PCA full", "PCA zca", "ICA", "ICA free", "FastICA", "ICA easi", "RICA", "RICA overcomplete"])
def test_rows_are_reconstructed_from_all_codes(kind, data):
    X = make(data)
    model, _ = fitted(MODELS[kind](), X)
    if isinstance(model, str):
        allowed(model, kind, data)
        return
    # With few rows RICA whitens fewer directions, with a warning.
    few = kind.startswith("RICA") and len(X) < 10 * min(X.shape)
    if few or model.report_.outcome == "collapsed":
        assert model.report_.warnings
        return
    back = model.inverse_transform(model.transform(X)).astype(float)
    centred = X.astype(float) - model.mean_.astype(float)
    eps = np.finfo(model.mean_.dtype).eps
    # Tolerances: for directions dropped as rounding errors of the sums, and for the rounding of a large mean. Encoders whose singular
    # values span many orders of magnitude lose as many digits in a round trip.
    scale = model.scale_[model.scale_ > 0].astype(float) if "zca" in kind else np.ones(1)
    spread = np.linalg.cond(model.components_.astype(float)) * scale.max() / scale.min()
    bound = 30 * max(np.sqrt(eps), eps * spread) * np.abs(centred).max() + 8 * eps * np.abs(X.astype(float)).max()
    assert np.abs(back - X).max() <= bound, (np.abs(back - X).max(), bound)


@pytest.mark.parametrize("data", INPUTS)
@pytest.mark.parametrize("kind", ["PCA covariance_eigh", "ICA", "ICA fastica", "ICA layers", "FastICA"])
def test_white_codes_are_white(kind, data):
    X = make(data)
    model, _ = fitted(MODELS[kind](), X)
    if isinstance(model, str):
        allowed(model, kind, data)
        return
    codes = model.transform(X).astype(float)
    codes = codes[:, codes.var(0) > 0]
    share = 1 - 1 / len(X) if kind.startswith("PCA") else 1
    covariance = np.cov(codes.T, bias=True).reshape(codes.shape[1], -1)
    # The smallest variance from a scatter matrix has an error of a few eps times the largest.
    spread = np.linalg.svd(X.astype(float) - X.astype(float).mean(0), compute_uv=False)[: codes.shape[1]]
    bound = max(1e-5, min(1e-2, 10 * np.finfo(model.mean_.dtype).eps * (spread[0] / spread[-1]) ** 2))
    assert codes.size and np.abs(covariance - share * np.eye(len(covariance))).max() < bound


def test_inputs_that_may_be_refused_exist():
    assert set(MAY_REFUSE) <= set(INPUTS)
