"""Subspace clustering in Python: labels, distances, mixtures, data sets, metrics."""

import pickle

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

import unmix
from unmix import PPCA, SubspaceClustering
from unmix.datasets import union_of_subspaces
from unmix.metrics import clustering_accuracy, nmi


@pytest.fixture(scope="module")
def made():
    return union_of_subspaces((60, 50, 40), 20, (2, 3, 3), noise=0.05, seed=1)


def test_labels_are_the_nearest_subspaces(made):
    model = SubspaceClustering(random_state=0).fit(made.X)
    assert model.labels_.dtype == np.int64 and model.dimensions_.tolist() == [2, 3, 3]
    assert clustering_accuracy(made.labels, model.labels_) > 0.98 and model.n_clusters_ == 3
    assert [axes.shape for axes in model.subspaces_] == [(2, 20), (3, 20), (3, 20)]
    distances = model.transform(made.X)
    for k, axes in enumerate(model.subspaces_):
        rest = made.X - made.X @ axes.T @ axes
        assert np.allclose(distances[:, k], np.linalg.norm(rest, axis=1), atol=1e-12)
    assert np.array_equal(model.predict(made.X), distances.argmin(axis=1))
    assert np.array_equal(model.predict(made.X), model.labels_)
    assert np.array_equal(SubspaceClustering(random_state=0).fit_predict(made.X), model.labels_)
    assert np.array_equal(SubspaceClustering(random_state=0).fit_transform(made.X), distances)
    assert "3 subspaces of 150 x 20" in repr(model)


def test_attributes_that_do_not_apply_do_not_exist(made):
    model = SubspaceClustering(3, 3, random_state=0).fit(made.X)
    for name in ["inverse_transform", "decode", "mixing_", "components_", "predict_proba", "score", "score_samples", "weights_"]:
        assert not hasattr(model, name), name
    with pytest.raises(AttributeError, match="inverse_transform"):
        model.inverse_transform(model.transform(made.X))
    with pytest.raises(AttributeError, match="labels_ of a fitted SubspaceClustering cannot be assigned"):
        model.labels_ = made.labels
    with pytest.raises(ValueError, match="read-only"):
        model.labels_[0] = 1


def test_a_file_and_a_pickle_are_the_same_model(made, tmp_path):
    model = SubspaceClustering(3, [3, 2, 3], random_state=0).fit(made.X)
    model.save(tmp_path / "m.safetensors")
    for again in (unmix.load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(model))):
        assert again.labels_.dtype == np.int64 and np.array_equal(again.labels_, model.labels_)
        assert np.array_equal(again.transform(made.X), model.transform(made.X))
        assert again.n_components == [3, 2, 3]


def test_a_mixture_has_probabilities_and_a_likelihood(made):
    model = SubspaceClustering(3, [2, 3, 3], algorithm="ppca-mixture", random_state=0).fit(made.X)
    proba = model.predict_proba(made.X)
    assert np.allclose(proba.sum(axis=1), 1) and np.array_equal(proba.argmax(axis=1), model.predict(made.X))
    assert np.isclose(model.weights_.sum(), 1) and np.allclose(model.noise_variance_, 0.05**2, rtol=0.3)
    assert not model.means_.any() and model.variances_.shape == (8,)
    assert np.isclose(model.score(made.X), model.score_samples(made.X).mean())
    assert np.isclose(model.score(made.X), model.report_.objective[-1])
    one = SubspaceClustering(1, 3, algorithm="ppca-mixture", center=True, random_state=0).fit(made.X)
    assert np.allclose(one.score_samples(made.X), PPCA(3).fit(made.X).score_samples(made.X))


def test_single_precision_is_kept(made):
    model = SubspaceClustering(3, 3, random_state=0).fit(made.X.astype(np.float32))
    assert model.transform(made.X.astype(np.float32)).dtype == np.float32 and model.bases_.dtype == np.float32
    assert model.labels_.dtype == np.int64


def test_bad_input_is_named(made):
    with pytest.raises(ValueError, match="n_clusters=200"):
        SubspaceClustering(200).fit(made.X)
    with pytest.raises(ValueError, match="n_components=21"):
        SubspaceClustering(2, 21).fit(made.X)
    with pytest.raises(ValueError, match="NaN"):
        SubspaceClustering().fit(np.where(np.arange(20) == 3, np.nan, made.X))


def test_metrics_take_any_labels():
    draw = np.random.RandomState(0)
    a, b = draw.randint(4, size=300), draw.randint(3, size=300)
    assert clustering_accuracy(a, 3 - a) == 1 and nmi(a, 3 - a) == pytest.approx(1)
    assert nmi(a, b) == pytest.approx(normalized_mutual_info_score(a, b))
    assert clustering_accuracy(list("aab"), ["x", "x", "x"]) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="two lists of the same length"):
        nmi([1, 2], [1, 2, 3])


def test_unions_of_subspaces_have_the_requested_dimensions():
    made = union_of_subspaces((30, 20), 7, (1, 3))
    for k, basis in enumerate(made.bases):
        assert np.allclose(basis @ basis.T, np.eye(len(basis)))
        rows = made.X[made.labels == k]
        assert np.allclose(rows @ basis.T @ basis, rows)
    with pytest.raises(ValueError, match="dimensions must be an integer of at least 0, got -1"):
        union_of_subspaces((3,), 3, -1)
    with pytest.raises(ValueError, match="the number of columns is 3"):
        union_of_subspaces((3,), 3, 4)


@pytest.mark.parametrize("algorithm", ["ssc", "shape"])
def test_algorithms_without_iterations_use_no_start_and_do_not_advise_one(made, algorithm):
    first = SubspaceClustering(3, 3, random_state=0).fit(made.X)
    with pytest.warns(UserWarning, match="init has no effect here: init is used only with algorithm="):
        SubspaceClustering(3, 3, algorithm=algorithm, init=first, random_state=0).fit(made.X)
    model = SubspaceClustering(3, 3, algorithm=algorithm)
    assert model._advice("time") == "increase max_seconds" and "init" not in model._advice("interrupted")
    assert "init=" in SubspaceClustering(3, 3)._advice("time")


def test_rows_whose_squares_overflow_have_probabilities(made):
    model = SubspaceClustering(3, [2, 3, 3], algorithm="ppca-mixture", random_state=0).fit(made.X)
    with np.errstate(all="raise"):
        far = 1e160 * made.X
        assert np.array_equal(model.predict_proba(far), model.predict_proba(1e9 * made.X))
        assert np.array_equal(model.predict(far), model.predict(1e9 * made.X))
    assert (model.score_samples(far) == -np.inf).all()
