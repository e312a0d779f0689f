"""T², Q and standard errors of variances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from unmix import PCA, SparseCoder

X = np.random.RandomState(0).randn(200, 6) @ np.diag([5, 4, 3, 1, 1, 1]) + 7


@pytest.mark.parametrize("whiten", [False, True])
def test_quality_follows_its_formulas(whiten):
    model = PCA(3, whiten=whiten, random_state=0).fit(X)
    found = model.quality(X, columns=True)
    centred = X - model.mean_
    y = centred @ model.components_.T
    residual = centred - y @ model.components_
    assert_allclose(found.contributions, y**2 / model.explained_variance_, rtol=1e-10)
    assert_allclose(found.t2, found.contributions.sum(axis=1), rtol=1e-12)
    assert_allclose(found.q, (residual**2).sum(axis=1), rtol=1e-10)
    assert_allclose(found.column_contributions, residual**2, rtol=1e-8, atol=1e-14)
    assert_allclose(found.cos2, y**2 / (centred**2).sum(axis=1)[:, None], rtol=1e-10)
    if whiten:
        assert_allclose(found.t2, (model.transform(X) ** 2).sum(axis=1), rtol=1e-10)
    for name, value in PCA(3).fit(X).quality(X, columns=True).items():
        assert_array_equal(found[name], value)
        assert value.dtype == np.float64


def test_quality_of_files_single_precision_and_one_row(tmp_path):
    model = PCA(3).fit(X)
    np.save(tmp_path / "x.npy", X)
    found = model.quality(X)
    assert sorted(found) == ["contributions", "cos2", "q", "t2"]
    for name, value in model.quality(tmp_path / "x.npy").items():
        assert_array_equal(found[name], value)
        assert_array_equal(model.quality(X[7:8])[name], value[7:8])
    single = model.quality(X.astype(np.float32))
    assert single.t2.dtype == np.float64
    assert_allclose(single.t2, found.t2, rtol=1e-4)
    with pytest.raises(ValueError, match="row 1, column 2 is NaN"):
        model.quality([[1] * 6, [1, 2, np.nan, 4, 5, 6]])


def test_t2_and_q_distinguish_distances_within_the_subspace_and_from_it():
    model = PCA(3).fit(X)
    far = model.mean_ + 10 * model.scale_[0] * model.components_[0]
    off = model.mean_ + 10 * np.linalg.svd(model.components_)[2][-1]
    found = model.quality([far, off, model.mean_])
    assert_allclose(found.t2, [100, 0, 0], atol=1e-20)
    assert_allclose(found.q, [0, 100, 0], atol=1e-20)
    assert_allclose(found.cos2[:2], [[1, 0, 0], [0, 0, 0]], atol=1e-20)
    assert_array_equal(found.cos2[2], 0)


def test_standard_errors_of_variances():
    model = PCA().fit(X)
    assert_allclose(model.explained_variance_std_error_, model.explained_variance_ * np.sqrt(2 / 199))
    assert "explained_variance_std_error_" in dir(model)
    coder = SparseCoder(np.eye(6)).fit(X)
    names = dir(coder)
    assert "explained_variance_std_error_" not in names and "rotation_" not in names and "mixing_" in names
    assert len(set(names)) == len(names) and all(hasattr(coder, name) for name in names if name.endswith("_") and not name.startswith("_"))
    assert PCA().fit(X.astype(np.float32)).explained_variance_std_error_.dtype == np.float32
    with pytest.raises(AttributeError):
        PCA().explained_variance_std_error_


def test_quality_is_in_units_of_the_columns_where_the_model_is():
    large = X * [1, 1, 1e4, 1, 1, 1]
    model = PCA(3, standardize=True).fit(large)
    assert_allclose(model.quality(large).q, PCA(3, standardize=True).fit(X).quality(X).q, rtol=1e-8)
    z = (large - model.mean_) / model.noise_scale_
    assert_allclose(model.quality(large).t2, PCA(3).fit(z).quality(z).t2, rtol=1e-8)
    whitened = PCA(3, whiten="zca").fit(X).quality(X)
    assert_array_equal(whitened.cos2, PCA(3).fit(X).quality(X).cos2)
