"""Callbacks of fits, and interrupted fits that keep their result."""

import math
import pickle
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from test_checkpoint import METHODS, made, same

import unmix

#: Fits that have no iterations, or only those of a solver for a few vectors that reports none.
WITHOUT_ITERATIONS = {"PCA", "PPCA", "LinearEigenGAN"}
#: Fits of these rows without iterations, or whose first reported iteration is the last.
ENDED_BY_FIRST = WITHOUT_ITERATIONS | {"FactorAnalysis", "SparseCoder"}


@pytest.fixture
def rows():
    draw = np.random.RandomState(0)
    return draw.laplace(size=(2000, 4)) @ draw.randn(4, 4) + 3


@METHODS
def test_a_callback_is_called_with_iterations_and_changes_no_bit(cls, rows):
    seen = []
    plain = made(cls).fit(rows)
    with_callback = made(cls, callback=seen.append).fit(rows)
    assert same(plain, with_callback)
    assert seen or cls.__name__ in WITHOUT_ITERATIONS
    for iteration in seen:
        assert isinstance(iteration, unmix.Iteration)
        assert iteration.n_iter >= 1
        assert iteration.residual is None or math.isfinite(iteration.residual)
        assert iteration.max_iter is None or iteration.n_iter <= iteration.max_iter


@pytest.mark.parametrize(
    "model",
    [
        unmix.SparseAutoencoder(n_components=8, max_epochs=3),
        unmix.DictionaryLearning(n_components=6, algorithm="online", max_epochs=3),
        unmix.RICA(n_components=3, batch_size=500, max_epochs=3),
        unmix.DenoisingAutoencoder(n_components=4, max_epochs=3),
    ],
)
def test_training_reports_epochs_with_their_maximum_and_the_objective(model, rows):
    seen = []
    model.set_params(random_state=0, callback=seen.append).fit(rows)
    assert [(i.n_iter, i.max_iter, i.residual) for i in seen] == [(epoch, 3, None) for epoch in (1, 2, 3)]
    assert all(math.isfinite(i.objective) for i in seen)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("settings", [{}, {"max_iter": 5}, {"ortho": False}, {"fun": "adaptive"}, {"algorithm": "easi"}])
def test_iterations_on_a_subsample_and_on_all_rows_are_counted_together(settings):
    draw = np.random.RandomState(0)
    seen, model = [], unmix.ICA(random_state=0, **settings)
    model.set_params(callback=seen.append).fit(draw.laplace(size=(20_000, 8)) @ draw.randn(8, 8))
    counts = [iteration.n_iter for iteration in seen]
    assert counts == list(range(1, model.n_iter_ + 1))
    assert {iteration.max_iter for iteration in seen} == {model.max_iter}


@pytest.mark.parametrize("solver", ["krylov", "arpack", "power", "deflation", "randomized"])
def test_every_solver_for_a_few_components_reports_its_iterations(solver):
    X = np.random.RandomState(0).randn(300, 60) * np.linspace(1, 3, 60)
    for k in (1, 3, 50):
        seen = []
        with_callback = unmix.PCA(k, svd_solver=solver, random_state=0, callback=seen.append).fit(X)
        assert same(with_callback, unmix.PCA(k, svd_solver=solver, random_state=0).fit(X))
        assert [iteration.n_iter for iteration in seen] == sorted(iteration.n_iter for iteration in seen) or solver == "deflation"
        assert seen and seen[-1].residual is not None, (solver, k)


def test_docstrings_say_after_what_a_callback_is_called():
    for name, words in {
        "SparseCoder": "Called once, after all rows are coded, with",
        "SparseAutoencoder": "Called after every epoch with",
        "LISTA": "Called after every epoch with",
        "DenoisingAutoencoder": "Called after every epoch with",
        "GaussianRBM": "Called after every epoch with",
        "RICA": "Called after every iteration, or after every epoch where mini-batches are used, with",
        "StackedRFN": "Called after every iteration, or after every epoch where mini-batches are used, with",
        "RFN": "Called after every iteration, or after every epoch where mini-batches are used, with",
        "ICA": "Called after every iteration with",
    }.items():
        assert words in " ".join(getattr(unmix, name).__doc__.split()), name


@pytest.mark.parametrize("algorithm", ["cd", "fista", "lars"])
def test_a_sparse_coder_reports_the_worst_row(algorithm, rows):
    seen = []
    coder = made(unmix.SparseCoder, algorithm=algorithm, callback=seen.append).fit(rows)
    assert [(i.n_iter, i.residual, i.tol) for i in seen] == [(max(coder.n_iter_, 1), coder.report_.residual, coder.report_.tol)]


@METHODS
def test_stop_iteration_ends_a_fit_with_its_result(cls, rows):
    calls = []

    def stop(iteration):
        calls.append(iteration)
        raise StopIteration

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = made(cls, callback=stop).fit(rows)
    if cls.__name__ in ENDED_BY_FIRST:
        assert len(calls) <= 1 and model.report_.outcome != "interrupted"
        return
    # No other iteration is reported after it.
    assert len(calls) == 1 and model.report_.outcome == "interrupted"
    assert any(issubclass(w.category, ConvergenceWarning) and "interrupted" in str(w.message) for w in caught)
    assert all(np.isfinite(value).all() for value in model._model.tensors.values() if np.asarray(value).dtype.kind == "f")


@pytest.mark.parametrize(
    "model",
    [
        unmix.ICA(random_state=0),
        unmix.RICA(6, random_state=0, tol=1e-12),
        unmix.NeuralPCA(2, solver="adam", max_epochs=50, random_state=0),
        unmix.FastICA(random_state=0, tol=1e-12),
        unmix.RFN(6, random_state=0),
        unmix.SparseAutoencoder(8, max_epochs=50, random_state=0),
        unmix.DictionaryLearning(6, max_epochs=50, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fit_that_a_callback_ends_is_the_same_fit_with_fewer_iterations(model, rows, tmp_path):
    calls = []

    def stop(iteration):
        calls.append(iteration.n_iter)
        if len(calls) == 3:
            raise StopIteration

    path = tmp_path / "fit.checkpoint"
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        cut = clone(model).set_params(callback=stop, checkpoint=path, checkpoint_every=0.0).fit(rows)
    assert cut.report_.outcome == "interrupted"
    assert len(calls) == 3
    assert path.exists()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = clone(model).fit(rows)
        assert same(whole, clone(model).set_params(checkpoint=path, resume=True).fit(rows))


def test_another_exception_is_raised_and_the_estimator_stays_as_it_was(rows):
    def fail(iteration):
        raise RuntimeError(f"at {iteration.n_iter}")

    model = unmix.ICA(random_state=0).fit(rows)
    before = model.components_
    with pytest.raises(RuntimeError, match="at 1"):
        model.set_params(callback=fail).fit(rows)
    assert model.components_ is before


def test_a_callback_is_a_parameter_like_others(rows):
    seen = []
    model = clone(unmix.ICA(callback=seen.append, random_state=0))
    model.fit(rows)
    assert seen
    with pytest.raises(ValueError, match="callback"):
        unmix.ICA(callback=3).fit(rows)
    again = pickle.loads(pickle.dumps(unmix.ICA(callback=print, random_state=0).set_params(max_iter=1)))
    assert again.callback is print
    with pytest.raises(ValueError, match="leave callback out"):
        unmix.FastICA(fun=lambda x: (x**3, (3 * x**2).mean(axis=-1)), callback=print).fit(rows)


KEPT = """
    import os, signal, warnings
    import numpy as np
    import unmix

    X = np.random.default_rng(0).laplace(size=(4000, 6))

    def interrupt(iteration):
        if iteration.n_iter == 3:
            os.kill(os.getpid(), signal.SIGINT)

    model = unmix.NeuralPCA(3, solver="adam", max_epochs=1_000_000, random_state=0, callback=interrupt)
    with warnings.catch_warnings(record=True) as caught, unmix.keep_interrupted():
        warnings.simplefilter("always")
        model.fit(X)
    print(model.report_.outcome, len(caught), model.components_.shape)
    try:
        model.fit(X)
    except KeyboardInterrupt:
        print("interrupted", model.report_.outcome)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
def test_ctrl_c_keeps_the_result_inside_the_context():
    command = [sys.executable, "-c", textwrap.dedent(KEPT)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["interrupted 1 (3, 6)", "interrupted interrupted"], result.stdout
