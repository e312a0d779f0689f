"""Restricted Boltzmann machines in Python."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

import unmix
from unmix import PCA, GaussianRBM
from unmix.datasets import biclusters


@pytest.fixture(scope="module")
def X():
    return biclusters("D1", seed=0)


def rbm(**settings):
    return GaussianRBM(**{"n_components": 20, "max_epochs": 40, "random_state": 0, **settings})


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("settings", [{}, {"n_steps": 3, "batch_size": 30}])
def test_codes_are_those_of_the_attributes(X, settings, dtype):
    rows = X.astype(dtype)
    model = rbm(**settings).fit(rows)
    codes, atol = model.transform(rows), 1e-10 if dtype is np.float64 else 1e-4
    assert codes.dtype == model.components_.dtype == dtype and codes.shape == (100, 20)
    assert 0 <= codes.min() and codes.max() <= 1
    by_formula = 1 / (1 + np.exp(-((rows - model.mean_) @ model.encoder_weight_.T + model.encoder_bias_)))
    np.testing.assert_allclose(codes, by_formula, atol=atol)
    back = model.inverse_transform(codes)
    np.testing.assert_allclose(back, codes @ model.components_ + model.mean_, atol=atol)
    fvu = ((rows - back) ** 2).sum() / ((rows - rows.mean(axis=0)) ** 2).sum()
    assert np.isclose(model.report_.fvu, fvu, rtol=1e-4)
    assert len(model.report_.objective) == 40 and model.report_.objective[-1] < model.report_.objective[0]
    scale = rows.std(axis=0, ddof=1)
    np.testing.assert_allclose(model.components_ / scale, model.encoder_weight_ * scale, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"n_steps": 2, "batch_size": 33}])
def test_threads_files_and_saved_models_have_the_same_bits(X, settings, tmp_path):
    model = rbm(**settings).fit(X)
    before = unmix.get_num_threads()
    try:
        for threads in (1, 3):
            unmix.set_num_threads(threads)
            again = clone(model).fit(X)
            assert np.array_equal(again.components_, model.components_) and np.array_equal(again.transform(X), model.transform(X))
    finally:
        unmix.set_num_threads(before)
    np.save(tmp_path / "rows.npy", X)
    pd.DataFrame(X).to_parquet(tmp_path / "rows.parquet")
    for file in ("rows.npy", "rows.parquet"):
        assert np.array_equal(clone(model).fit(tmp_path / file).encoder_weight_, model.encoder_weight_)
    model.save(tmp_path / "m.safetensors")
    for again in (unmix.load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(model))):
        assert isinstance(again, GaussianRBM) and np.array_equal(again.transform(X), model.transform(X))
    assert not np.array_equal(clone(model).set_params(random_state=1).fit(X).components_, model.components_)


def test_columns_of_a_frame_and_stability(X):
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(100)])
    model = rbm(max_epochs=5).fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns) and np.array_equal(model.components_, rbm(max_epochs=5).fit(X).components_)
    found = unmix.stability(rbm(max_epochs=5), X, cuts=2, restarts=1, random_state=0)
    assert np.shape(found.halves) == (20,)


def test_a_start_is_a_model_of_this_class_or_directions_of_another(X):
    first = rbm().fit(X)
    slow = dict(max_epochs=1, learning_rate=1e-12)
    again = rbm(init=first, **slow).fit(X)
    np.testing.assert_allclose(again.transform(X), first.transform(X), atol=1e-5)
    pca = PCA(20).fit(X)
    standard = X.std(axis=0, ddof=1)
    started = rbm(init=pca, **slow).fit(X)
    cosine = unmix.metrics.match(started.components_ / standard, pca.components_ / standard).cosine
    assert np.abs(cosine).min() > 0.999
    with pytest.raises(ValueError, match="it has 3 components, and this fit has 20"):
        rbm(init=PCA(3).fit(X)).fit(X)


def test_a_column_that_does_not_vary_is_warned_of(X):
    constant = X.copy()
    constant[:, 4] = 3.3
    model = rbm(max_epochs=3).fit(constant)
    assert "1 of 100 columns does not vary" in model.report_.warnings[0] and model.report_.n_constant == 1
    assert not model.components_[:, 4].any() and np.allclose(model.inverse_transform(model.transform(constant))[:, 4], 3.3)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"n_steps": 0}, "n_steps"),
        ({"n_components": 0}, "n_components"),
        ({"learning_rate": 1e6}, "learning_rate.*choose a lower one"),
    ],
)
def test_what_cannot_work_is_refused(X, settings, message):
    with pytest.raises(ValueError, match=message):
        rbm(**settings).fit(X)


def test_rows_that_cannot_be_fitted_are_refused(X):
    with pytest.raises(MemoryError, match=r"choose fewer units \(n_components\)"):
        rbm(n_components=3_000_000_000_000).fit(X)
    with pytest.raises(ValueError, match="row 3, column 5 is NaN"):
        rbm().fit(np.where(np.arange(10000).reshape(100, 100) == 305, np.nan, X))
    with pytest.raises(ValueError, match="column that varies"):
        rbm().fit(np.ones((10, 3)))
    with pytest.raises(TypeError, match="dense"):
        rbm().fit(scipy.sparse.csr_array(X))
    with pytest.raises(TypeError, match="sample_weight"):
        rbm().fit(X, sample_weight=np.ones(100))
    model = rbm(max_epochs=2).fit(X)
    assert not hasattr(model, "score")
    with pytest.raises(ValueError, match="100"):
        model.transform(X[:, :7])


def test_binary_rows_are_warned_of():
    rows = (np.random.default_rng(0).random((60, 8)) < 0.4).astype(float)
    assert any("only 0 and 1" in said for said in rbm(n_components=3, max_epochs=2).fit(rows).report_.warnings)


def test_the_page_has_the_units(X):
    text = unmix.report(rbm().fit(X), X).text
    assert "NaN" not in text
