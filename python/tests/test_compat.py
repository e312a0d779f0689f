"""Replacements for other packages: python-picard and MNE."""

import numpy as np
import pytest
import sklearn.decomposition
from numpy.testing import assert_allclose
from test_ica import kinds

import unmix
from unmix import ICA, FastICA
from unmix.metrics import amari_distance


def test_picard_has_its_own_signature():
    X, mixing, _ = kinds(4000, 5, 12)
    for given in ({}, {"ortho": False}, {"ortho": False, "extended": True}, {"n_components": 3}):
        K, W, Y, mean, n_iter = unmix.compat.picard(X.T, random_state=0, return_X_mean=True, return_n_iter=True, **given)
        k = given.get("n_components", 5)
        assert K.shape == (k, 5) and W.shape == (k, k) and Y.shape == (k, 4000)
        # The mean is over samples, one number per feature.
        assert mean.shape == (5,) and n_iter > 1
        assert_allclose(W @ K @ (X.T - mean[:, None]), Y, atol=1e-9)
    K, W, _ = unmix.compat.picard(X.T, random_state=0, tol=1e-9)
    assert_allclose(amari_distance(W @ K @ mixing), amari_distance(ICA(tol=1e-9, random_state=0).fit(X), mixing), atol=1e-6)
    assert_allclose(W @ W.T, np.eye(5), atol=1e-10)
    assert unmix.compat.picard(X.T, whiten=False, random_state=0, max_iter=5)[0] is None
    with pytest.raises(ValueError, match="fun must be the name of a contrast, got 'tan'"):
        unmix.compat.picard(X.T, fun="tan")
    # Directions without variance are dropped, so no entry is of size 1e14.
    K, W, Y = unmix.compat.picard(np.vstack([X.T, X.T[:2]]), random_state=0)
    assert K.shape == (5, 7) and np.abs(W @ K).max() < 100


def test_arguments_of_picard_without_effect_are_a_warning(recwarn):
    X, _, _ = kinds(2000, 3, 12)
    K, W, Y = unmix.compat.picard(X.T, random_state=0, m=7, check_fun=True)
    assert not [w for w in recwarn if "has no effect" in str(w.message)]
    for given in ({"m": 10}, {"ls_tries": 3}, {"lambda_min": 0.1}, {"check_fun": False}, {"fastica_it": 5}, {"jade_it": 5}):
        name, value = next(iter(given.items()))
        with pytest.warns(UserWarning, match=f"{name}={value} has no effect: it is accepted for compatibility with python-picard"):
            again = unmix.compat.picard(X.T, random_state=0, **given)
        assert np.array_equal(again[2], Y)


@pytest.mark.filterwarnings("ignore")
def test_picard_counts_iterations_from_0_as_python_picard_does():
    X, _, _ = kinds(4000, 5, 12)
    given = dict(return_n_iter=True, random_state=0, tol=1e-12)
    ours = [unmix.compat.picard(X.T, max_iter=n, **given)[-1] for n in (1, 2, 3)]
    assert ours == [0, 1, 2]
    reference = pytest.importorskip("picard", reason="python-picard is not installed")
    assert ours == [reference.picard(X.T, max_iter=n, **given)[-1] for n in (1, 2, 3)]


def test_mne_uses_the_solvers_of_unmix_inside_the_context():
    import sys

    theirs, before = sklearn.decomposition.FastICA, sys.modules.get("picard")
    with unmix.compat.mne():
        from picard import picard

        assert picard is unmix.compat.picard and issubclass(sklearn.decomposition.FastICA, FastICA)
    assert sklearn.decomposition.FastICA is theirs and sys.modules.get("picard") is before
    mne = pytest.importorskip("mne", reason="mne is not installed: cargo xtask test all")
    X, _, _ = kinds(5000, 4, 13)
    raw = mne.io.RawArray(X.T * 1e-5, mne.create_info(4, 250.0, "eeg"), verbose="error")
    for method, given in (("picard", {}), ("fastica", {}), ("picard", {"ortho": False, "extended": True})):
        with unmix.compat.mne():
            ica = mne.preprocessing.ICA(4, method=method, random_state=0, fit_params=given, verbose="error").fit(raw, verbose="error")
        back = ica.apply(raw.copy(), exclude=[], verbose="error").get_data()
        assert_allclose(back, raw.get_data(), atol=1e-12)
    theirs = mne.preprocessing.ica.infomax
    with unmix.compat.mne(), pytest.warns(UserWarning, match="the sources of method='infomax' are estimated by MNE"):
        mne.preprocessing.ICA(4, method="infomax", random_state=0, max_iter=2, verbose="error").fit(raw, verbose="error")
    assert mne.preprocessing.ica.infomax is theirs
    # MNE adds 1 to the number of picard.
    with unmix.compat.mne():
        short = mne.preprocessing.ICA(4, method="picard", random_state=0, max_iter=2, verbose="error").fit(raw, verbose="error")
    assert short.n_iter_ == 2
