"""Sparse autoencoders in Python."""

import numpy as np
import pytest
import scipy.sparse

import unmix
from unmix import DictionaryLearning, SparseAutoencoder


def made(n=1500, seed=0):
    draw = np.random.RandomState(seed)
    atoms = draw.randn(24, 12)
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    return np.abs(draw.randn(n, 24) + 1) * (draw.rand(n, 24) < 0.08) @ atoms + 0.02 * draw.randn(n, 12), atoms


def sae(**settings):
    return SparseAutoencoder(**{"n_components": 48, "l0": 3, "max_epochs": 6, "random_state": 0, **settings})


def codes_by_formula(model, X):
    u = (X - model.mean_) @ model.encoder_weight_.T
    if model.activation == "gated":
        size = np.maximum(np.exp(model.magnitude_log_scale_) * u + model.magnitude_bias_, 0)
        return np.where(u + model.gate_bias_ > 0, size, 0)
    u = u + model.encoder_bias_
    if model.activation in ("jumprelu", "batch-topk"):
        return np.where(u > model.threshold_, u, 0)
    if model.activation == "topk":
        u = np.where(u >= np.sort(u, axis=1)[:, [-model.l0]], u, 0)
    return np.maximum(u, 0)


@pytest.mark.parametrize("activation", ["relu", "topk", "batch-topk", "jumprelu", "gated"])
def test_codes_are_those_of_the_attributes(activation):
    X, _ = made()
    model = sae(activation=activation).fit(X)
    codes = model.transform(X)
    np.testing.assert_allclose(codes, codes_by_formula(model, X), atol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(codes), codes @ model.components_ + model.mean_, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    np.testing.assert_allclose(model.density_, (codes > 0).mean(axis=0))
    assert np.isclose(model.report_.l0, (codes > 0).sum(axis=1).mean())
    fvu = ((X - model.inverse_transform(codes)) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum()
    assert np.isclose(model.report_.fvu, fvu)


def test_codes_may_be_sparse_and_go_to_files(tmp_path):
    X, _ = made(400)
    dense, sparse = sae().fit(X), sae(sparse_output=True).fit(X)
    codes = sparse.transform(X)
    assert scipy.sparse.issparse(codes) and np.array_equal(codes.toarray(), dense.transform(X))
    dense.save(tmp_path / "m.safetensors")
    assert np.array_equal(unmix.load(tmp_path / "m.safetensors").transform(X), dense.transform(X))
    dense.encode(X, out=tmp_path / "codes.npz")
    assert np.array_equal(scipy.sparse.load_npz(tmp_path / "codes.npz").toarray(), dense.transform(X))


def test_a_file_and_single_precision(tmp_path):
    X, _ = made(700)
    np.save(tmp_path / "rows.npy", X)
    assert np.array_equal(sae().fit(tmp_path / "rows.npy").components_, sae().fit(X).components_)
    single = sae().fit(X.astype(np.float32))
    assert single.components_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32


def test_initial_atoms_are_an_array_or_a_model():
    X, atoms = made(600)
    slow = dict(n_components=None, learning_rate=1e-9, max_epochs=1)
    cosines = sae(dict_init=3 * atoms, **slow).fit(X).components_ @ atoms.T
    np.testing.assert_allclose(np.sort(cosines.max(axis=0)), 1, atol=1e-6)
    learnt = DictionaryLearning(n_components=20, positive_code=True, alpha=0.1, max_epochs=1, random_state=0).fit(X)
    assert sae(dict_init=learnt, **slow).fit(X).components_.shape == (20, 12)


def test_atoms_of_seeds_are_matched():
    X, _ = made(1200)
    found = unmix.stability(sae(max_epochs=10), X, cuts=2, restarts=2, random_state=0)
    assert np.shape(found.halves) == (48,)


def test_what_cannot_work_is_refused():
    X, _ = made(100)
    with pytest.raises(ValueError, match="counts active units"):
        sae(alpha=0.1).fit(X)
    with pytest.raises(ValueError, match="l0 must be at most n_components"):
        sae(l0=49).fit(X)
    with pytest.raises(ValueError, match="the rows have 12 columns"):
        sae(n_components=None, dict_init=np.eye(5)).fit(X)
