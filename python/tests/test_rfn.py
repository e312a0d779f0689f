"""Rectified factor networks from Python."""

import numpy as np
import pytest
import scipy.sparse

import unmix
from unmix import RFN
from unmix.datasets import biclusters


@pytest.fixture(scope="module")
def X():
    return biclusters("D1", seed=0)


def test_attributes_and_report(X):
    rfn = RFN(n_components=20, max_iter=50, random_state=0).fit(X)
    assert rfn.components_.shape == (20, 100) and rfn.noise_variance_.shape == (100,)
    assert not hasattr(rfn, "noise_covariance_")
    layer = np.maximum(0, X @ rfn.encoder_weight_.T + rfn.encoder_bias_)
    codes = rfn.transform(X)
    np.testing.assert_allclose(codes, layer, atol=1e-9)
    # Units have second moment 1 over the rows of the fit.
    np.testing.assert_allclose((codes**2).mean(axis=0), 1, atol=1e-9)
    np.testing.assert_allclose(rfn.inverse_transform(codes), codes @ rfn.components_ + rfn.mean_, atol=1e-9)
    assert len(rfn.report_.objective) == rfn.n_iter_ == 50
    assert rfn.report_.outcome == "completed"
    assert rfn.report_.dead_units == 0 and rfn.report_.decreases["count"] == (np.diff(rfn.report_.objective) < 0).sum()
    assert rfn.report_.rungs is None


def test_score_is_that_of_the_model(X):
    from scipy.stats import multivariate_normal

    rfn = RFN(n_components=10, max_iter=50, prior_mean=-0.4, prior_cov=1.3, random_state=0).fit(X)
    W = rfn.components_.T
    law = multivariate_normal(rfn.mean_ - 0.4 * W.sum(axis=1), 1.3 * W @ W.T + np.diag(rfn.noise_variance_))
    np.testing.assert_allclose(rfn.score_samples(X), law.logpdf(X), rtol=1e-9)
    np.testing.assert_allclose(rfn.get_covariance(), law.cov, atol=1e-9)


@pytest.mark.parametrize("mode", ["coordinate", "cascade"])
def test_modes_that_never_fall(X, mode):
    rfn = RFN(n_components=10, e_step=mode, max_iter=15, random_state=0).fit(X[:, :40])
    assert (np.diff(rfn.report_.objective) >= -1e-9).all()
    assert rfn.report_.certificate["violation"] <= 1e-8
    assert (rfn.report_.rungs is not None) == (mode == "cascade")
    codes = rfn.transform(X[:, :40])
    assert (codes >= 0).all() and not hasattr(rfn, "encoder_weight_")


def test_full_noise(X):
    rfn = RFN(n_components=5, noise="full", max_iter=20, random_state=0).fit(X[:, :20])
    assert rfn.noise_covariance_.shape == (20, 20) and not hasattr(rfn, "noise_variance_")
    assert np.isfinite(rfn.score(X[:, :20]))


def test_warm_start_continues(X):
    first = RFN(n_components=10, max_iter=30, random_state=0).fit(X)
    more = RFN(n_components=10, max_iter=10, init=first, random_state=0).fit(X)
    assert more.report_.objective[0] == pytest.approx(first.report_.final_objective, rel=1e-9)


def test_files_sparse_rows_and_names(X, tmp_path):
    counts = np.where(np.abs(X) > 1.5, np.round(np.abs(X)), 0)
    dense = RFN(n_components=8, max_iter=20, random_state=0).fit(counts)
    sparse = RFN(n_components=8, max_iter=20, random_state=0).fit(scipy.sparse.csr_array(counts))
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-7)
    np.save(tmp_path / "rows.npy", counts)
    of_file = RFN(n_components=8, max_iter=20, random_state=0).fit(tmp_path / "rows.npy")
    assert np.array_equal(of_file.components_, dense.components_)
    dense.save(tmp_path / "model.safetensors")
    again = unmix.load(tmp_path / "model.safetensors")
    assert isinstance(again, RFN) and np.array_equal(again.transform(counts), dense.transform(counts))


def test_bad_settings(X):
    with pytest.raises(ValueError, match="choose e_step='plain'"):
        RFN(e_step="cascade", batch_size=200).fit(X)
    with pytest.raises(ValueError, match="choose normalize='rms' or 'none'"):
        RFN(e_step="coordinate", normalize="std").fit(X)
    with pytest.raises(ValueError):
        RFN(n_components=0).fit(X)
    with pytest.raises(ValueError, match="row 3, column 5 is NaN"):
        RFN().fit(np.where(np.arange(10000).reshape(100, 100) == 305, np.nan, X))


def test_biclusters_are_planted():
    X, rows, columns = biclusters("D7", set=2, seed=3, return_truth=True)
    assert X.shape == (100, 100) and rows.dtype == bool and rows.shape == columns.shape == (20, 100)
    assert np.allclose(X.mean(axis=0), 0) and np.array_equal(X, biclusters("D7", set=2, seed=3))
    assert (rows.sum(axis=1)[:5] >= 20).all() and (rows.sum(axis=1)[5:] <= 8).all()
    with pytest.raises(ValueError, match="did you mean"):
        biclusters("D11")
