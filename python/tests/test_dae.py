"""Denoising autoencoders in Python."""

import numpy as np
import pytest

import unmix
from unmix import DenoisingAutoencoder
from unmix.datasets import biclusters


@pytest.fixture(scope="module")
def X():
    return biclusters("D1", seed=0)


def dae(**settings):
    return DenoisingAutoencoder(**{"n_components": 20, "max_epochs": 40, "random_state": 0, **settings})


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("settings", [{}, {"tied": True}, {"standardize": False, "noise": "gaussian"}, *({"solver": s, "corruption": 0.0} for s in ("sgd", "plain-sgd"))])
def test_codes_agree_with_the_attributes(X, settings, dtype):
    rows = X.astype(dtype)
    model = dae(**settings).fit(rows)
    codes, atol = model.transform(rows), 1e-10 if dtype is np.float64 else 1e-4
    assert codes.dtype == model.components_.dtype == dtype and codes.shape == (100, 20) and codes.min() >= 0
    by_formula = np.maximum(0, (rows - model.mean_) @ model.encoder_weight_.T + model.encoder_bias_)
    np.testing.assert_allclose(codes, by_formula, atol=atol)
    back = model.inverse_transform(codes)
    np.testing.assert_allclose(back, codes @ model.components_ + model.mean_, atol=atol)
    np.testing.assert_allclose(model.density_, (codes > 0).mean(axis=0))
    assert np.isclose(model.report_.l0, (codes > 0).sum(axis=1).mean())
    assert model.report_.dead_units == (model.density_ == 0).sum()
    fvu = ((rows - back) ** 2).sum() / ((rows - rows.mean(axis=0)) ** 2).sum()
    assert np.isclose(model.report_.fvu, fvu, rtol=1e-4)
    assert model.n_iter_ == len(model.report_.objective) == 40 and model.report_.objective[-1] < model.report_.objective[0]
    # Units are sorted by decreasing contribution to the rows, in standard deviations of the columns.
    scale = rows.std(axis=0, ddof=1) if model.standardize else 1
    use = codes.sum(axis=0) * np.linalg.norm(model.components_ / scale, axis=1)
    assert np.all(use[1:] <= use[:-1] * (1 + 1e-5))
    # The weights of a tied decoder are those of the encoder for standardised rows.
    tied = np.allclose(model.components_ / scale, model.encoder_weight_ * scale, rtol=1e-4, atol=1e-6)
    assert tied == model.tied


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"corruption": 1.0}, "corruption"),
        ({"noise": "salt"}, "noise"),
        ({"n_components": 0}, "n_components"),
        ({"learning_rate": 1e6, "solver": "sgd"}, "learning_rate.*choose a lower one"),
    ],
)
def test_bad_settings_are_refused(X, settings, message):
    with pytest.raises(ValueError, match=message):
        dae(**settings).fit(X)


def test_the_page_has_the_units(X):
    text = unmix.report(dae().fit(X), X).text
    assert "nonzero entries" in text and "NaN" not in text and text.count('class="component"') == 20
