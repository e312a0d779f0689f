"""Restricted Boltzmann machines in Python."""

import numpy as np
import pytest

import unmix
from unmix import GaussianRBM
from unmix.datasets import biclusters


@pytest.fixture(scope="module")
def X():
    return biclusters("D1", seed=0)


def rbm(**settings):
    return GaussianRBM(**{"n_components": 20, "max_epochs": 40, "random_state": 0, **settings})


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("settings", [{}, {"n_steps": 3, "batch_size": 30}])
def test_codes_agree_with_the_attributes(X, settings, dtype):
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


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"n_steps": 0}, "n_steps"),
        ({"n_components": 0}, "n_components"),
        ({"learning_rate": 1e6}, "learning_rate.*choose a lower one"),
    ],
)
def test_bad_settings_are_refused(X, settings, message):
    with pytest.raises(ValueError, match=message):
        rbm(**settings).fit(X)


def test_binary_rows_give_a_warning():
    rows = (np.random.default_rng(0).random((60, 8)) < 0.4).astype(float)
    assert any("only 0 and 1" in sentence for sentence in rbm(n_components=3, max_epochs=2).fit(rows).report_.warnings)


def test_the_page_has_the_units(X):
    text = unmix.report(rbm().fit(X), X).text
    assert "NaN" not in text and "nonzero entries" not in text and text.count('class="component"') == 20
