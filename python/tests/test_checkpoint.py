"""Checkpoints, time limits and warm starts for every class."""

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import unmix

METHODS = pytest.mark.parametrize("cls", [getattr(unmix, m["class"]) for m in unmix.methods()], ids=lambda c: c.__name__)
#: Parameters with which a class uses an iterative solver, and what it has to be given.
ITERATIVE = {
    "PCA": {"svd_solver": "power", "n_components": 2},
    "RobustPCA": {"alpha": 1.0, "noise": 0.0},
    "SubspaceClustering": {"n_clusters": 2, "n_components": 2, "algorithm": "k-subspaces"},
    "SparseCoder": {"dictionary": np.random.RandomState(1).randn(6, 4)},
    "LISTA": {"dictionary": np.random.RandomState(1).randn(6, 4), "n_layers": 3, "max_epochs": 6},
    "StackedRFN": {"n_components": (4, 3), "max_iter": 60},
    # With checkpoint_every=0 a file is written after every step: these have thousands at their defaults.
    "DenoisingAutoencoder": {"max_epochs": 10},
    "GaussianRBM": {"max_epochs": 10},
    "RFN": {"max_iter": 30},
}
#: Classes whose fits of these rows end before the time limit is checked: without iterations, or converged by the first.
WITHOUT_TIME_LIMIT = {"LinearEigenGAN", "PCA", "PPCA"}


@pytest.fixture
def rows():
    draw = np.random.RandomState(0)
    return draw.laplace(size=(2000, 4)) @ draw.randn(4, 4) + 3


def made(cls, **more):
    return cls(random_state=0, **(ITERATIVE.get(cls.__name__, {}) | more))


def parameters(model):
    return {name: np.array(value) for name, value in model._model.tensors.items()}


def same(a, b):
    a, b = parameters(a), parameters(b)
    assert a.keys() == b.keys()
    return all(np.array_equal(a[name], b[name]) for name in a)


@METHODS
def test_a_checkpoint_changes_no_bit_and_is_removed(cls, rows, tmp_path):
    path = tmp_path / "fit.checkpoint"
    plain = made(cls).fit(rows)
    kept = made(cls, checkpoint=path, checkpoint_every=0.0).fit(rows)
    assert same(plain, kept) and not path.exists()
    again = made(cls, checkpoint=str(path), resume=True).fit(rows)
    assert same(plain, again) and not path.exists()


@METHODS
def test_a_fit_ended_by_its_time_limit_is_resumed(cls, rows, tmp_path):
    path = tmp_path / "fit.checkpoint"
    plain = made(cls).fit(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        cut = made(cls, checkpoint=path, checkpoint_every=0.0, max_seconds=1e-9).fit(rows)
    assert path.exists() == (cut.report_.outcome == "time") == (cls.__name__ not in WITHOUT_TIME_LIMIT)
    assert same(plain, made(cls, checkpoint=path, resume=True).fit(rows))


@METHODS
def test_a_fit_starts_from_a_model_or_its_file(cls, rows, tmp_path):
    first = made(cls).fit(rows)
    first.save(tmp_path / "first.safetensors")
    again = made(cls, init=first).fit(rows)
    assert same(again, made(cls, init=tmp_path / "first.safetensors").fit(rows))
    assert again.n_iter_ <= first.n_iter_
    if cls.__name__ not in ("DenoisingAutoencoder", "DictionaryLearning", "GaussianRBM", "RFN", "SparseAutoencoder", "StackedRFN"):  # These have a fixed number of iterations, and more of them change the model.
        a, b = (again, first) if hasattr(first, "components_") else (again.bases_, first.bases_)
        assert np.min(unmix.metrics.match(a, b).cosine) > 0.999
    # The page names the initial model, as for a fit of the command line with --init.
    for model, named in [(first, False), (again, True)]:
        unmix.report(model, path=tmp_path / "page.html")
        assert ("the same initial model give the same numbers" in (tmp_path / "page.html").read_text()) == named
    # A clone keeps the fitted model given as `init`.
    assert same(again, clone(made(cls, init=first)).fit(rows))


@METHODS
def test_bad_initial_models_are_refused(cls, rows):
    with pytest.raises(NotFittedError):
        made(cls, init=made(cls)).fit(rows)
    given = {"dictionary": ITERATIVE["SparseCoder"]["dictionary"][:, :3]} if cls in (unmix.SparseCoder, unmix.LISTA) else {}
    narrow = made(cls, **given).fit(rows[:, :3])
    with pytest.raises(ValueError, match="it has 3 columns, and the rows have 4"):
        made(cls, init=narrow).fit(rows)
    with pytest.raises(ValueError, match="resume=True needs a checkpoint"):
        made(cls, resume=True).fit(rows)


@METHODS
def test_a_checkpoint_of_other_rows_is_refused(cls, rows, tmp_path):
    path = tmp_path / "fit.checkpoint"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        made(cls, checkpoint=path, max_seconds=1e-9).fit(rows)
    assert path.exists() == (cls.__name__ not in WITHOUT_TIME_LIMIT)
    if not path.exists():
        return
    with pytest.raises(ValueError, match="other rows"):
        made(cls, checkpoint=path, resume=True).fit(rows[::-1].copy())


def test_a_killed_fit_is_resumed(tmp_path):
    path = tmp_path / "fit.checkpoint"
    code = f"""
import numpy as np, unmix
draw = np.random.RandomState(0)
rows = draw.normal(size=(4000, 20))
unmix.ICA(random_state=0, tol=1e-12, max_iter=400, checkpoint={str(path)!r}, checkpoint_every=0.0, resume=True).fit(rows).save({str(tmp_path / "a.safetensors")!r})
"""
    for wait in (0.3, 0.6, 0.9):
        running = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code])
        begun = time.monotonic()
        while not path.exists() and running.poll() is None and time.monotonic() < begun + 60:
            time.sleep(0.01)
        time.sleep(wait / 3)
        if running.poll() is None:
            os.kill(running.pid, signal.SIGKILL)
        running.wait()
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=300)
    draw = np.random.RandomState(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        want = unmix.ICA(random_state=0, tol=1e-12, max_iter=400).fit(draw.normal(size=(4000, 20)))
    assert same(want, unmix.load(tmp_path / "a.safetensors"))
