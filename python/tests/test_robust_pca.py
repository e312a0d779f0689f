"""Robust PCA in Python: both parts, missing cells, files, and the numbers on its page."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import unmix
from unmix import RobustPCA


@pytest.fixture
def parts():
    draw = np.random.RandomState(2)
    low = draw.randn(90, 3) @ draw.randn(3, 60)
    sparse = np.where(draw.rand(90, 60) < 0.05, 10 * np.sign(draw.randn(90, 60)), 0)
    return low, sparse


def test_both_parts_are_computed_from_the_rows_of_the_fit(parts, tmp_path):
    low, sparse = parts
    model = RobustPCA(random_state=0).fit(low + sparse)
    assert model.n_components_ == 3 and model.noise_std_ == 0 and model.report_.rank == 3
    assert_allclose(model.low_rank_, low, atol=1e-4)
    assert_allclose(model.sparse_, sparse, atol=1e-4)
    assert_array_equal(model.sparse_ != 0, sparse != 0)
    assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-12)
    assert_allclose(model.singular_values_, np.linalg.svd(low, compute_uv=False)[:3], rtol=1e-5)
    model.save(tmp_path / "m.safetensors")
    for other in (unmix.load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert_array_equal(other.transform(low), model.transform(low))
    with pytest.raises(AttributeError, match="not in a model file"):
        unmix.load(tmp_path / "m.safetensors").low_rank_
    assert not hasattr(RobustPCA(), "low_rank_")
    np.save(tmp_path / "rows.npy", low + sparse)
    of_file = RobustPCA(random_state=0).fit(tmp_path / "rows.npy")
    assert_array_equal(of_file.sparse_, model.sparse_)


def test_gaps_noise_and_rank_0(parts):
    low, sparse = parts
    draw = np.random.RandomState(3)
    X = low + sparse + 0.1 * draw.randn(*low.shape)
    X[draw.rand(*X.shape) < 0.1] = np.nan
    model = RobustPCA(random_state=0).fit(X)
    assert model.n_components_ == 3 and 0.09 < model.noise_std_ < 0.12
    assert np.isfinite(model.low_rank_).all() and not model.sparse_[np.isnan(X)].any()
    assert np.abs(model.low_rank_ - low).max() < 0.5
    codes = RobustPCA(random_state=0).fit_transform(X)
    assert_array_equal(codes, model.transform(X))
    none = RobustPCA(random_state=0).fit(sparse)
    assert none.n_components_ == 0 and none.transform(sparse).shape == (90, 0)
    # Every row is decoded to the mean, as the low-rank part is.
    assert_array_equal(none.inverse_transform(none.transform(sparse)), none.low_rank_)
    assert not none.low_rank_.any() and none.low_rank_.shape == (90, 60)
    assert_array_equal(none.sparse_, sparse)


def test_standardized_columns_in_different_units(parts):
    low, sparse = parts
    units = np.tile([1.0, 1000.0, 1e-3], 20)
    draw = np.random.RandomState(3)
    X = (low + sparse + 0.1 * draw.randn(*low.shape)) * units
    with pytest.warns(UserWarning, match="standardize=[Tt]rue"):
        RobustPCA(random_state=0).fit(X)
    model = RobustPCA(standardize=True, random_state=0).fit(X)
    assert model.n_components_ == 3
    assert model.noise_std_.shape == model.spread_.shape == (60,)
    assert_allclose(model.noise_std_ / model.spread_, model.report_.settings["noise"])
    assert np.median(np.abs(model.low_rank_ / units - low)) < 0.1
    axes = model.components_ / model.spread_
    assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    assert_allclose(model.inverse_transform(model.transform(X)), model.transform(X) @ model.components_ + model.mean_)
    far = np.abs(X - model.low_rank_) > 4.5 * model.noise_std_
    assert_array_equal(model.sparse_ != 0, far)
    assert_allclose(model.report_.sparse_share, far.mean(), rtol=1e-12)
    assert 0.04 < model.report_.sparse_share < 0.1
    assert "sparse part in " in model.summary()
    assert not hasattr(model, "rotation_") and hasattr(RobustPCA(random_state=0).fit(low + sparse), "rotation_")
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform(X), model.transform(X))
    exact = RobustPCA(standardize=True, random_state=0).fit((low + sparse) * units)
    assert not exact.noise_std_.any()
    assert_array_equal(exact.sparse_ != 0, sparse != 0)
    single = RobustPCA(standardize=True, random_state=0).fit(X.astype(np.float32))
    assert single.components_.dtype == single.sparse_.dtype == single.low_rank_.dtype == np.float32


def test_what_is_reported_is_of_the_parts_that_are_given_back(parts):
    low, sparse = parts
    X = low + sparse + 0.5 * np.random.RandomState(3).randn(*low.shape)
    for noise in ("auto", 0.4, 0.0):
        model = RobustPCA(noise=noise, center=True, random_state=0).fit(X)
        values = np.linalg.svd(model.low_rank_ - model.mean_, compute_uv=False)[: model.n_components_]
        assert_allclose(model.singular_values_, values, rtol=1e-5)
        assert_allclose(model.report_.sparse_share, np.mean(model.sparse_ != 0), rtol=1e-12)
        if noise != "auto":
            assert model.noise_std_ == model.report_.settings["noise"] == noise


def test_single_precision_is_kept(parts):
    model = RobustPCA(random_state=0).fit((parts[0] + parts[1]).astype(np.float32))
    assert model.components_.dtype == model.low_rank_.dtype == model.sparse_.dtype == np.float32
    assert_allclose(model.low_rank_, parts[0], atol=1e-3)


def test_bad_input_is_refused(parts):
    X = parts[0].copy()
    with pytest.raises(ValueError, match="infinity"):
        RobustPCA().fit(np.where(np.arange(60) == 7, np.inf, X))
    with pytest.raises(ValueError, match="column 7"):
        RobustPCA().fit(np.where(np.arange(60) == 7, np.nan, X))
    with pytest.raises(ValueError, match="alpha"):
        RobustPCA(alpha=0.0).fit(X)
    with pytest.raises(AttributeError, match="low_rank_ of a fitted RobustPCA cannot be assigned"):
        RobustPCA().fit(X).low_rank_ = X


def test_medians_can_add_one_to_the_rank():
    draw = np.random.RandomState(1)
    X = draw.randn(60, 2) @ draw.randn(2, 40) + 10 * (draw.rand(60, 40) < 0.05)
    assert [RobustPCA(center=center, random_state=0).fit(X).n_components_ for center in (False, True)] == [2, 3]


def test_missing_cells_are_filled_with_the_low_rank_part(parts, tmp_path):
    low, sparse = parts
    gaps = np.random.RandomState(4).rand(*low.shape) < 0.1
    X = np.where(gaps, np.nan, low + sparse)
    model = RobustPCA(random_state=0).fit(X)
    filled = model.impute(X)
    assert_array_equal(filled[~gaps], X[~gaps])
    assert_allclose(filled[gaps], model.low_rank_[gaps], rtol=1e-12, atol=1e-14)
    assert np.median(abs(filled - low)[gaps]) < 1e-3
    # New rows, of a loaded model, and in single precision.
    model.save(tmp_path / "m.safetensors")
    again = unmix.load(tmp_path / "m.safetensors")
    assert_array_equal(again.impute(X[:5]), filled[:5])
    assert again.impute(X[:5].astype(np.float32)).dtype == np.float32
    for wanted in ({"return_std": True}, {"n_draws": 2}):
        with pytest.raises(ValueError, match="the codes of this model have no distribution"):
            again.impute(X, **wanted)
    with pytest.raises(ValueError, match="n_draws must be an integer of at least 0"):
        again.impute(X, n_draws=-1)
    pytest.importorskip("pandas")
    assert_array_equal(model.set_output(transform="pandas").impute(X[:5]).to_numpy(), filled[:5])
