"""Encoders of every kind in Python, which has no code for any particular kind: the test methods with a threshold, a posterior mean, an
iterative solver and a network.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import unmix
from unmix import PCA, _unmix
from unmix._base import Estimator
from unmix._input import registry

_unmix.register_toys()
registry.cache_clear()

draw = np.random.RandomState(3)
X = draw.normal(size=(300, 4)) * [4, 3, 0.5, 0.4] + 7


class Toy(Estimator):
    """An estimator for any method of the registry, by its key."""

    _parameter_constraints = {}

    def __init__(self, method, **settings):
        self.method, self._method, self.verbose, self.given = method, method, 0, settings

    def _validate_params(self):
        pass

    def _settings_and_source(self):
        import json

        return json.dumps(self.given), f"Toy({self.method!r})"


@pytest.mark.parametrize("key", ["toy-posterior", "toy-gate", "toy-solver", "toy-network"])
def test_a_method_with_an_encoder_of_any_kind_is_an_estimator(key, tmp_path):
    toy = Toy(key).fit(X)
    codes = toy.transform(X)
    sparse = key in ("toy-gate", "toy-solver")
    assert scipy.sparse.issparse(codes) == sparse and codes.shape == (300, 2)
    dense = codes.toarray() if sparse else codes
    if sparse:
        assert codes.format == "csr" and 0 < codes.nnz < 600 and codes.has_sorted_indices
    assert_array_equal(toy.inverse_transform(codes), toy.inverse_transform(dense))
    # Codes in files that scipy and numpy can read.
    toy.encode(X, out=tmp_path / "codes.npz")
    toy.encode(X, out=tmp_path / "codes.npy")
    assert_array_equal(scipy.sparse.load_npz(tmp_path / "codes.npz").toarray(), dense)
    assert_array_equal(np.load(tmp_path / "codes.npy"), dense)
    assert_array_equal(toy.decode(tmp_path / "codes.npz"), toy.inverse_transform(dense))
    assert toy.mixing_.shape == (4, 2)
    toy.save(tmp_path / "toy.safetensors")
    assert _unmix.Model.load(tmp_path / "toy.safetensors").method == key
    unmix.report(toy, X, path=tmp_path / "page.html")
    assert "NaN" not in (tmp_path / "page.html").read_text()
    assert codes.dtype == np.float64 and toy.transform(X.astype(np.float32)).dtype == np.float32


def test_rows_that_a_solver_leaves_unsolved_are_warned_about():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Toy("toy-solver").fit(X).transform(X)
    with pytest.warns(ConvergenceWarning, match="rows were not encoded to a relative duality gap of 1e-9"):
        Toy("toy-solver", max_iter=1).fit(X).transform(X)


def test_codes_of_dense_models_are_written_as_sparse_rows_too(tmp_path):
    pca = PCA(2).fit(X)
    pca.encode(X.astype(np.float32), out=tmp_path / "codes.npz")
    found = scipy.sparse.load_npz(tmp_path / "codes.npz")
    assert found.dtype == np.float32 and found.format == "csr"
    assert_array_equal(found.toarray(), pca.transform(X.astype(np.float32)))
