"""Metrics, data sets and figures."""

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles as reference_angles
from scipy.optimize import linear_sum_assignment

from unmix import PCA, datasets, metrics, plot

matplotlib.use("agg")


def test_patterns_are_found_again():
    data = datasets.patterns(2000, side=12, n_patterns=4, noise=0.05, seed=3)
    model = PCA(4).fit(data.X)
    assert metrics.subspace_angles(model, data.components).max() < 0.02
    assert_allclose(data.components @ data.components.T, np.eye(4), atol=1e-12)
    assert set(data.labels) == {0, 1, 2}
    assert_allclose(data.X, 0.5 + data.scores @ data.components, atol=0.05 * 6)
    assert_array_equal(datasets.patterns(2000, side=12, n_patterns=4, noise=0.05, seed=3).X, data.X)
    with pytest.raises(ValueError, match="n_patterns=5 is not possible: pictures have 4 pixels"):
        datasets.patterns(10, side=2, n_patterns=5)


def test_angles_agree_with_scipy():
    rng = np.random.RandomState(0)
    a, b = rng.randn(3, 10), rng.randn(5, 10)
    assert_allclose(metrics.subspace_angles(a, b), reference_angles(a.T, b.T), atol=1e-12)
    with pytest.raises(ValueError, match="comparing components of 10 and 9 features is not possible"):
        metrics.subspace_angles(a, b[:, :9])


def test_matching_agrees_with_scipy():
    rng = np.random.RandomState(0)
    a, b = rng.randn(6, 8), rng.randn(9, 8)
    cosines = (a / np.linalg.norm(a, axis=1)[:, None]) @ (b / np.linalg.norm(b, axis=1)[:, None]).T
    _, order = linear_sum_assignment(-np.abs(cosines))
    found = metrics.match(a, b)
    assert_array_equal(found.order, order)
    assert_allclose(found.sign * found.cosine, cosines[np.arange(6), order])
    shuffled = np.array([[-1], [1], [-1]]) * PCA(3).fit(rng.randn(50, 4)).components_[[2, 0, 1]]
    assert_allclose(metrics.match(shuffled, shuffled[::-1]).cosine, 1)
    with pytest.raises(ValueError, match="9 components cannot each have one of 6"):
        metrics.match(b, a)


def test_figures_show_what_the_model_has():
    data = datasets.patterns(300, side=10, n_patterns=3)
    model = PCA(7).fit(data.X)
    heights = [bar.get_height() for bar in plot.scree(model).patches]
    assert_allclose(heights, 100 * model.explained_variance_ratio_)
    pictures = plot.components(model, feature_shape=(10, 10))
    drawn = [ax.images[0].get_array() for ax in pictures.axes if ax.images]
    assert len(drawn) == 7
    assert_array_equal(drawn[2], model.components_[2].reshape(10, 10))
    curves = plot.components(model, n_components=2)
    assert_array_equal(curves.axes[1].lines[1].get_ydata(), model.components_[1])
    with pytest.raises(ValueError, match="holds 81 numbers, but the model has 100 features"):
        plot.components(model, feature_shape=(9, 9))
