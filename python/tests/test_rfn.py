"""Rectified factor networks from Python."""

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

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
    distribution = multivariate_normal(rfn.mean_ - 0.4 * W.sum(axis=1), 1.3 * W @ W.T + np.diag(rfn.noise_variance_))
    np.testing.assert_allclose(rfn.score_samples(X), distribution.logpdf(X), rtol=1e-9)
    np.testing.assert_allclose(rfn.get_covariance(), distribution.cov, atol=1e-9)


@pytest.mark.parametrize("mode", ["coordinate", "cascade"])
def test_exact_modes_never_decrease_the_objective(X, mode):
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
    for name, value in [("batch_size", 50), ("dropout", 0.2), ("input_noise", 0.2)]:
        with pytest.raises(ValueError, match=f"{name}={value} is not possible: e_step='cascade' .* leave {name} out, or choose e_step='plain'"):
            RFN(n_components=3, e_step="cascade", max_iter=5, **{name: value}).fit(X)
    with pytest.raises(ValueError, match="choose normalize='rms' or 'none'"):
        RFN(e_step="coordinate", normalize="std").fit(X)
    with pytest.raises(ValueError, match="n_components"):
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


@pytest.fixture(scope="module")
def planted():
    return unmix.datasets.rare_modules(shift=5, seed=0, return_truth=True)


def test_biclusters_of_a_fit_with_weights_warn_that_they_have_none(planted):
    X = planted[0]
    weighted = RFN(5, max_iter=5, random_state=0).fit(X, sample_weight=np.full(len(X), 2.0))
    with pytest.warns(UserWarning, match="fitted to rows with weights, which modules do not have: every row counts once"):
        unmix.biclusters(weighted, X, n_starts=0)


def test_biclusters_of_a_model(planted):
    X, rows, columns = planted
    rfn = RFN(50, init="ica", psi_min=0.3, max_iter=50, random_state=0)
    with pytest.raises(NotFittedError):
        rfn.biclusters(X)
    found = rfn.fit(X).biclusters(X)
    assert isinstance(found, unmix.Biclusters) and found.n_starts_ == 1 and found.n_permutations_ == 0
    assert (np.diff(found.evidence_) <= 0).all() and (found.evidence_[:5] > 0).all()
    # The five planted modules come first, and their columns are low.
    assert unmix.metrics.consensus_score((found.rows_[:5], found.columns_[:5]), (rows, columns)) > 0.85
    assert found.rare_[:5].all() and found.small_[:5].all() and (found.signs_[:5].sum(axis=1) < -8).all()
    assert ((found.signs_ != 0) == found.columns_).all()
    assert np.isnan(found.stability_).all() and np.isnan(found.q_value_).all() and np.isnan(found.halves_).all() and np.isnan(found.halves_chance_)
    # scikit-learn's interface.
    assert all(a is b for a, b in zip(found.biclusters_, (found.rows_, found.columns_)))
    i, j = found.get_indices(2)
    assert np.array_equal(i, np.flatnonzero(found.rows_[2])) and np.array_equal(j, np.flatnonzero(found.columns_[2]))
    assert np.array_equal(found.get_submatrix(2, X), X[np.ix_(i, j)]) and found.get_shape(2) == (len(i), len(j))
    # Members by the formula of the code: above half of the code-weighted level.
    fit, unit = found.units_[0][0]
    code = rfn.transform(X)[:, unit]
    assert fit == 0 and np.array_equal(found.rows_[0], code > np.sqrt((code**4).sum() / (code**2).sum()) / 2)
    assert found.codes_.shape == found.rows_.shape and np.array_equal(found.codes_[0], code.astype(np.float32))
    w = rfn.components_[unit]
    information = np.log1p((w**2 / rfn.noise_variance_).sum() * (code**2).mean()) / 2
    assert found.information_[0] == pytest.approx(information, rel=1e-9)


def test_a_module_is_drawn_with_its_codes(planted):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X = planted[0]
    found = RFN(50, init="ica", psi_min=0.3, max_iter=50, random_state=0).fit(X).biclusters(X)
    top = unmix.plot.module(found, X, 1).axes[0]
    inside = found.rows_[1]
    drawn = [np.asarray(points.get_offsets())[:, 1] for points in top.collections]
    assert np.array_equal(drawn[0], found.codes_[1][~inside]) and np.array_equal(drawn[1], found.codes_[1][inside])
    assert drawn[1].min() > drawn[0].max() and top.get_ylabel() == "code"


def test_a_map_of_modules_has_the_names_of_rows_and_columns(planted):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X = planted[0]
    frame = pd.DataFrame(X, index=[f"cell {i}" for i in range(len(X))], columns=[f"gene {j}" for j in range(X.shape[1])])
    found = RFN(50, init="ica", psi_min=0.3, max_iter=50, random_state=0).fit(frame).biclusters(frame)
    ax = unmix.plot.biclusters(found, frame, n_modules=5)
    assert {label.get_text() for label in ax.get_xticklabels()} == {f"gene {j}" for j in np.flatnonzero(found.columns_[:5].any(axis=0))}
    assert {label.get_text() for label in ax.get_yticklabels()} == {f"cell {i}" for i in np.flatnonzero(found.rows_[:5].any(axis=0))}


def test_the_page_has_modules_of_several_starts(planted):
    X = planted[0]
    rfn = RFN(50, psi_min=0.3, max_iter=30, random_state=0).fit(X)
    page = unmix.report(rfn, X, starts=2, permutations=1).text
    found = unmix.biclusters(rfn, X, n_starts=2, n_permutations=1)
    assert f"<strong>{len(found)}</strong> modules" in page and ">stability</th>" in page and ">q</th>" in page
    assert f"{found.evidence_[0]:.1f}" in page
    with pytest.warns(UserWarning, match="the fits ended early"):
        late = unmix.biclusters(rfn, X, n_starts=2, n_permutations=1, max_seconds=1e-9)
    assert late.incomplete_ and not found.incomplete_ and late.n_permutations_ == 0
    assert np.isnan(late.q_value_).all() and np.isnan(late.halves_).all()
    with pytest.warns(UserWarning, match="the fits ended early"):
        assert "the fits ended early" in unmix.report(rfn, X, starts=2, permutations=1, max_seconds=1e-9).text
    with pytest.raises(ValueError, match="max_seconds needs starts"):
        unmix.report(rfn, X, max_seconds=1.0)
    with pytest.raises(ValueError, match="permutations need starts"):
        unmix.report(rfn, X, permutations=1)
    with pytest.raises(ValueError, match="starts need the rows X"):
        unmix.report(rfn, starts=2)
    with pytest.raises(ValueError, match="starts must be an integer of at least 1, got 0"):
        unmix.report(rfn, X, starts=0)
    # Modules are not a model: the message names the model to give.
    with pytest.raises(TypeError, match="a page is made of a fitted estimator, not of Biclusters") as raised:
        unmix.report(found, X)
    assert "evidence" not in str(raised.value)


def test_modules_of_several_starts(planted):
    X, rows, columns = planted
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    settings = RFN(50, psi_min=0.3, max_iter=30, random_state=0)
    found = unmix.biclusters(settings, frame, n_starts=2, n_permutations=1)
    assert not hasattr(settings, "components_")
    fitted = unmix.biclusters(clone(settings).fit(frame), frame, n_starts=2, n_permutations=1)
    assert np.array_equal(found.rows_, fitted.rows_) and np.array_equal(found.q_value_, fitted.q_value_)
    assert set(np.unique(found.stability_)) <= {0.5, 1.0} and found.n_starts_ == 2 and found.n_permutations_ == 1
    assert found.q_value_.min() >= 0.2 - 1e-12 and (found.q_value_[:5] <= 0.2 + 1e-12).all()
    assert ((found.q_value_ >= 0) & (found.q_value_ <= 1)).all() and (np.diff(found.q_value_) >= 0).all()
    assert ((found.halves_ >= 0) & (found.halves_ <= 1)).all() and 0 < found.halves_chance_ < 0.5
    assert unmix.metrics.consensus_score((found.rows_[:5], found.columns_[:5]), (rows, columns)) > 0.85
    table = found.to_frame()
    assert list(table.columns) == [
        "n_rows", "n_columns", "evidence", "concentration", "information", "stability", "q_value", "halves", "rare", "small", "positive", "negative",
    ]  # fmt: skip
    assert len(table) == len(found) and table.index.name == "module"
    down = [f"gene {j}" for j in np.flatnonzero(found.signs_[0] == -1)]
    assert table["negative"][0] == ", ".join(down) and len(repr(found).splitlines()) == len(found) + 1
    with pytest.raises(ValueError, match="n_starts must be an integer of at least 0, got -1"):
        unmix.biclusters(settings, X, n_starts=-1)
    with pytest.raises(ValueError, match="may be negative"):
        unmix.biclusters(unmix.PCA(2), X, n_starts=0)


def test_no_module_is_a_warning_and_a_table_without_lines():
    # Of 3 columns no two have squared loadings above 4/3 of the sum of all.
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = RFN(1, max_iter=20, random_state=0).fit(X)
    with pytest.warns(UserWarning, match="no module was found: no unit has large codes in at least 2 rows") as warned:
        found = model.biclusters(X)
    assert "pool more starts" in str(warned[0].message)
    assert len(found) == 0 and found.rows_.shape == (0, 60) and found.codes_.shape == (0, 60)
    table = found.to_frame()
    assert len(table) == 0 and {"evidence", "positive"} <= set(table.columns) and table.index.name == "module"
    assert repr(found) == "no module was found" and "no module was found" in found._repr_html_()


def test_modules_of_sparse_rows():
    X = np.where(np.random.default_rng(0).random((120, 40)) < 0.8, 0, 1.0)
    X[:20, :6] += 3
    model = RFN(6, psi_min=0.3, max_iter=50, random_state=0).fit(scipy.sparse.csr_array(X))
    of_sparse, of_dense = model.biclusters(scipy.sparse.csr_array(X)), model.biclusters(X)
    assert np.array_equal(of_sparse.rows_, of_dense.rows_) and np.array_equal(of_sparse.columns_, of_dense.columns_)


def test_stability_of_units(planted):
    X = planted[0]
    model = RFN(20, psi_min=0.3, max_iter=30, random_state=0).fit(X)
    found = unmix.stability(model, X, splits=2, restarts=1, bootstrap=0)
    assert len(found) == 20 and found.gaussian.size == 0 and 0 < found.chance < 0.5
    assert not any("group" in verdict for verdict in found.verdict)
    # Units of columns in other units of measurement are the same ones.
    scale = 2.0 ** np.arange(X.shape[1]).clip(0, 12)
    other = RFN(20, psi_min=0.3, max_iter=30, random_state=0).fit(X * scale)
    np.testing.assert_allclose(unmix.stability(other, X * scale, splits=2, restarts=1, bootstrap=0).halves, found.halves, atol=1e-6)


def test_batches_of_digits():
    # rfn.md, section 8: 50 passes over 2000 digits in batches of 250 come to at least -152 nats a row, where 200 full passes reach -147.5.
    path = Path(os.environ.get("UNMIX_DATA", "")) / "mnist" / "t10k-images-idx3-ubyte.gz"
    if "UNMIX_DATA" not in os.environ or not path.exists():
        pytest.skip(f"UNMIX_DATA names no folder that holds {path.name}")
    X = np.frombuffer(gzip.open(path).read(), np.uint8, offset=16).reshape(-1, 784)[:2000] / 255.0
    X /= np.sqrt(X.var(axis=0).mean())
    # The measured value includes pixels that do not vary, with the smallest noise variance.
    constant = -0.5 * np.log(2 * np.pi * 0.01) * (X.std(axis=0) == 0).sum()
    settings = RFN(64, psi_min_unit="absolute", batch_size=250, max_iter=50, random_state=0)
    assert settings.fit(X).report_.final_objective + constant >= -152


@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (600, 20)])
def test_sparse_rows_start_from_independent_components_as_dense_ones_do(shape):
    rng = np.random.default_rng(0)
    X = np.where(rng.random(shape) < 0.3, rng.exponential(size=shape), 0)
    dense = unmix.RFN(5, init="ica", max_iter=5, random_state=0).fit(X)
    sparse = unmix.RFN(5, init="ica", max_iter=5, random_state=0).fit(scipy.sparse.csr_array(X))
    np.testing.assert_allclose(sparse.components_, dense.components_, rtol=1e-5, atol=1e-7)


def test_a_certificate_that_does_not_hold_is_a_warning():
    X = np.random.default_rng(1).poisson(0.3, size=(80, 25)).astype(float)
    model = RFN(10, e_step="coordinate", prior_mean=-1.0, max_iter=60, random_state=0).fit(X)
    certificate = model.report_.certificate
    told = [warning for warning in model.report_.warnings if "first-order conditions of the final codes" in warning]
    assert certificate["clipped"] and certificate["violation"] > certificate["tol"] and len(told) == 1
    holds = RFN(4, e_step="coordinate", psi_min=0.3, max_iter=30, random_state=0).fit(X)
    assert holds.report_.certificate["violation"] <= holds.report_.certificate["tol"]
    assert not any("first-order conditions" in warning for warning in holds.report_.warnings)


def test_biclusters_of_other_tables_and_permutations_without_starts_are_refused():
    rows, columns = np.eye(2, 10, dtype=bool), np.eye(2, 6, dtype=bool)
    with pytest.raises(ValueError, match="biclusters must be of the same rows and columns"):
        unmix.metrics.consensus_score((rows, columns), (rows[:, :3], columns[:, :4]))
    X = np.random.default_rng(0).normal(size=(40, 10))
    model = RFN(3, max_iter=5, random_state=0).fit(X)
    with pytest.raises(ValueError, match="n_permutations=5 has no effect with n_starts=0"):
        unmix.biclusters(model, X, n_starts=0, n_permutations=5)
