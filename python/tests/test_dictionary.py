"""Dictionary learning: given initial atoms, and partial fits that are continued, in Python and on the command line."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import unmix
from unmix import DictionaryLearning


def made(n=600, m=30, p=20, seed=0):
    """Unit atoms, and rows of 3 of them with noise."""
    draw = np.random.RandomState(seed)
    A = draw.randn(m, p)
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    Z = draw.randn(n, m) * (np.argsort(draw.rand(n, m), axis=1) < 3)
    return A, Z @ A + 0.01 * draw.randn(n, p)


@pytest.fixture(scope="module")
def data():
    return made()


def dictionary(**settings):
    return DictionaryLearning(**{"alpha": 0.1, "batch_size": 64, "max_epochs": 2, "random_state": 0, **settings})


def test_learning_starts_from_given_atoms(data, tmp_path):
    A, X = data
    from_array = dictionary(dict_init=A).fit(X)
    assert from_array.components_.shape == A.shape
    # Learning ends near the atoms from which the rows were generated.
    assert np.median(abs(from_array.components_ @ A.T).max(axis=0)) > 0.99
    np.save(tmp_path / "atoms.npy", A)
    for same in (A.tolist(), tmp_path / "atoms.npy", str(tmp_path / "atoms.npy")):
        assert np.array_equal(dictionary(dict_init=same).fit(X).components_, from_array.components_)
    # A model, fitted or in a file, is accepted in place of its components.
    from_array.save(tmp_path / "model.safetensors")
    again = dictionary(dict_init=from_array.components_).fit(X)
    for same in (from_array, tmp_path / "model.safetensors"):
        estimator = dictionary(dict_init=same)
        assert np.array_equal(estimator.fit(X).components_, again.components_)
        assert np.array_equal(clone(estimator).fit(X).components_, again.components_)
    # The atoms are not recorded as a setting.
    assert "dict_init" not in from_array.report_.settings
    assert unmix.load(tmp_path / "model.safetensors").dict_init is None


@pytest.mark.parametrize("algorithm", ["alternating", "palm", "ipalm", "layerwise", "ksvd"])
def test_every_algorithm_takes_initial_atoms(data, algorithm):
    A, X = data
    near = DictionaryLearning(algorithm=algorithm, alpha=0.1, max_iter=1, n_nonzero_coefs=3, dict_init=A, tol=0).set_params(random_state=0)
    with pytest.warns(UserWarning):
        near.fit(X)
    assert abs(near.components_ @ A.T).max(axis=0).min() > 0.9


def test_bad_initial_atoms_are_refused(data):
    A, X = data
    for given, words in [
        (A[:, :7], "20 columns"),
        (np.zeros_like(A), "atom 0 is 0"),
        (np.full_like(A, np.nan), "finite"),
    ]:
        with pytest.raises(ValueError, match=words):
            dictionary(dict_init=given).fit(X)
    with pytest.raises(ValueError, match="n_components is 7"):
        dictionary(n_components=7, dict_init=A).fit(X)
    with pytest.raises(ValueError, match="give one of the two"):
        dictionary(dict_init=A, init=dictionary().fit(X)).fit(X)


def test_partial_fits_from_given_atoms_do_not_depend_on_the_batches(data):
    A, X = data
    whole = dictionary(dict_init=A).partial_fit(X)
    parts = dictionary(dict_init=A)
    for part in np.array_split(X, 13):
        parts.partial_fit(part)
    assert np.array_equal(whole.components_, parts.components_)
    assert not np.array_equal(whole.components_, dictionary(n_components=len(A)).partial_fit(X).components_)


def test_partial_fits_continue_a_model_in_python_and_on_the_command_line(data, tmp_path, monkeypatch):
    A, X = data
    monkeypatch.chdir(tmp_path)
    for begun in (dictionary(n_components=30), dictionary(dict_init=A)):
        # Cut in the middle of a batch, and before the first one is full.
        for at in (10, 333):
            first = clone(begun).partial_fit(X[:at])
            first.save("first.safetensors")
            np.save("more.npy", X[at:])
            whole = clone(begun).partial_fit(X)
            loaded = unmix.load("first.safetensors").partial_fit(X[at:])
            started = dictionary(init="first.safetensors").partial_fit(X[at:])
            from_fitted = dictionary(init=first).partial_fit(X[at:])
            assert unmix._unmix.run_cli(["unmix", "fit", "dictionary", "more.npy", "--init", "first.safetensors", "-o", "more.safetensors", "-q"]) == 0
            for other in (loaded, started, from_fitted, unmix.load("more.safetensors")):
                assert np.array_equal(other.components_, whole.components_)
                assert np.array_equal(other.stream_codes_, whole.stream_codes_)
                assert (other.n_samples_, other.n_iter_) == (len(X), whole.n_iter_)
    # The components of a model of another method are initial atoms.
    axes = unmix.PCA(n_components=5).fit(X)
    assert dictionary(init=axes).partial_fit(X).components_.shape == (5, 20)


def test_a_time_limit_ends_a_batch_with_a_warning():
    X = made(n=1500)[1]
    model = dictionary(max_seconds=1e-9)
    with pytest.warns(ConvergenceWarning, match="outcome 'time'"):
        model.partial_fit(X)
    assert (model.report_.outcome, model.n_samples_) == ("time", 1024)
    assert any("ended early" in sentence for sentence in model.report_.warnings)
    # The other rows, as if the rows had come in two batches.
    model.set_params(max_seconds=None).partial_fit(X[1024:])
    assert np.array_equal(model.components_, dictionary().partial_fit(X).components_)


def test_dictionaries_are_not_merged(data):
    model = dictionary(n_components=10).fit(data[1])
    with pytest.raises(ValueError, match="sums over codes of different atoms cannot be added"):
        model.merge(model)
