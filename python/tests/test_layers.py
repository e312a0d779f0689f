"""Properties of all classes with one dense hidden layer, in Python: denoising autoencoders and restricted Boltzmann machines."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

import unmix
from unmix import PCA, DenoisingAutoencoder, GaussianRBM
from unmix.datasets import biclusters

each_class = pytest.mark.parametrize("cls", [DenoisingAutoencoder, GaussianRBM])


@pytest.fixture(scope="module")
def X():
    return biclusters("D1", seed=0)


def layer(cls, **settings):
    return cls(**{"n_components": 20, "max_epochs": 40, "random_state": 0, **settings})


@pytest.mark.parametrize(
    "cls, settings",
    [
        (DenoisingAutoencoder, {}),
        (DenoisingAutoencoder, {"tied": True, "noise": "gaussian", "solver": "sgd", "batch_size": 33}),
        (GaussianRBM, {}),
        (GaussianRBM, {"n_steps": 2, "batch_size": 33}),
    ],
)
def test_threads_files_and_saved_models_have_the_same_bits(cls, settings, X, tmp_path):
    model = layer(cls, **settings).fit(X)
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
        assert isinstance(again, cls) and np.array_equal(again.transform(X), model.transform(X))
    assert not np.array_equal(clone(model).set_params(random_state=1).fit(X).components_, model.components_)


@each_class
def test_columns_of_a_frame_and_stability(cls, X):
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(100)])
    model = layer(cls, max_epochs=5).fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert np.array_equal(model.components_, layer(cls, max_epochs=5).fit(X).components_)
    found = unmix.stability(layer(cls, max_epochs=5), X, splits=2, restarts=1, bootstrap=0, random_state=0)
    assert np.shape(found.halves) == (20,)


@each_class
def test_initial_values_are_a_model_of_this_class_or_directions_of_another(cls, X):
    first = layer(cls).fit(X)
    slow = {"max_epochs": 1, "learning_rate": 1e-12}
    again = layer(cls, init=first, **slow).fit(X)
    np.testing.assert_allclose(again.transform(X), first.transform(X), atol=1e-5)
    pca = PCA(20).fit(X)
    standard = X.std(axis=0, ddof=1)
    started = layer(cls, init=pca, **slow).fit(X)
    cosine = unmix.metrics.match(started.components_ / standard, pca.components_ / standard).cosine
    assert np.abs(cosine).min() > 0.999
    with pytest.raises(ValueError, match="it has 3 components, and this fit has 20"):
        layer(cls, init=PCA(3).fit(X)).fit(X)


@each_class
def test_a_column_that_does_not_vary_gives_a_warning(cls, X):
    constant = X.copy()
    constant[:, 4] = 3.3
    model = layer(cls, max_epochs=3).fit(constant)
    assert "1 of 100 columns does not vary" in model.report_.warnings[0] and model.report_.n_constant == 1
    assert not model.components_[:, 4].any() and np.allclose(model.inverse_transform(model.transform(constant))[:, 4], 3.3)


@each_class
def test_rows_that_cannot_be_fitted_are_refused(cls, X):
    with pytest.raises(MemoryError, match=r"choose fewer units \(n_components\)"):
        layer(cls, n_components=3_000_000_000_000).fit(X)
    with pytest.raises(ValueError, match="row 3, column 5 is NaN"):
        layer(cls).fit(np.where(np.arange(10000).reshape(100, 100) == 305, np.nan, X))
    with pytest.raises(ValueError, match="column that varies"):
        layer(cls).fit(np.ones((10, 3)))
    with pytest.raises(TypeError, match="dense"):
        layer(cls).fit(scipy.sparse.csr_array(X))
    with pytest.raises(TypeError, match="sample_weight"):
        layer(cls).fit(X, sample_weight=np.ones(100))
    model = layer(cls, max_epochs=2).fit(X)
    assert not hasattr(model, "score")
    with pytest.raises(ValueError, match="100"):
        model.transform(X[:, :7])
