"""Sparse autoencoders in Python."""

import json
import pickle

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import sklearn.utils
from sklearn.base import clone

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
def test_codes_agree_with_the_attributes(activation):
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
    learned = DictionaryLearning(n_components=20, positive_code=True, alpha=0.1, max_epochs=1, random_state=0).fit(X)
    assert sae(dict_init=learned, **slow).fit(X).components_.shape == (20, 12)


def matched(a, b):
    """The mean cosine of rows of ``a`` with rows of ``b``, paired so that it is largest."""
    cosines = a @ b.T
    return cosines[scipy.optimize.linear_sum_assignment(-cosines)].mean()


def test_atoms_of_seeds_are_matched():
    X, _ = made(2500)
    for settings in ({"max_epochs": 10}, {"n_components": 24, "l0": 2, "max_epochs": 60}):
        model = sae(**settings)
        found = unmix.stability(model, X, splits=2, restarts=2, bootstrap=0, random_state=0)
        for agreement in (found.halves, found.restarts):
            assert agreement.shape == (model.n_components,) and (np.abs(agreement) <= 1).all()
        # Chance is the agreement of as many random directions of 12 columns.
        draw = np.random.RandomState(0)
        directions = (draw.randn(12, model.n_components, 12) for _ in range(2))
        directions = [d / np.linalg.norm(d, axis=2, keepdims=True) for d in directions]
        by_chance = [matched(a, b) for a, b in zip(*directions)]
        assert abs(found.chance - np.mean(by_chance)) < 4 * np.std(by_chance)
    # As many atoms as the rows have, in many epochs, agree more than that; those of other seeds more than those of halves.
    assert found.chance + 0.05 < found.halves.mean() < found.restarts.mean()


@pytest.mark.parametrize("activation", ["topk", "batch-topk"])
def test_a_weight_without_a_penalty_is_refused_with_what_would_work(activation):
    X, _ = made(300)
    for fit in (lambda model: model.fit(X), lambda model: model.partial_fit(X)):
        with pytest.raises(ValueError, match=f"alpha=0.1 is not possible: activation='{activation}' has no penalty") as refused:
            fit(sae(activation=activation, alpha=0.1))
        assert "set l0" in str(refused.value) and "activation='relu', 'gated' or 'jumprelu'" in str(refused.value)


def test_bad_settings_are_refused():
    X, _ = made(100)
    with pytest.raises(ValueError, match="l0 must be at most n_components"):
        sae(l0=49).fit(X)
    with pytest.raises(ValueError, match="the rows have 12 columns"):
        sae(n_components=None, dict_init=np.eye(5)).fit(X)


def test_the_repr_of_records_has_a_few_lines():
    X, _ = made(600)
    model = sae(n_components=64, max_epochs=2).fit(X)
    found, top = model.evaluate(X), model.top_rows(X)
    for record in (found, top, unmix.PCA(2).fit(X).quality(X), made_by_sparse_codes()):
        lines = repr(record).splitlines()
        assert isinstance(record, sklearn.utils.Bunch) and len(lines) <= 6 and max(map(len, lines)) <= 100
        assert all(f"{name}=" in repr(record) for name in record)
    assert f"density=<float64 array of shape (64,)>, shrinkage={found.shrinkage:.6g}" in " ".join(repr(found).split())
    assert pickle.loads(pickle.dumps(found)).fvu == found.fvu


def made_by_sparse_codes():
    return unmix.datasets.sparse_codes(50, 12, 16, share=0.1, seed=0)


def test_the_evaluation_is_that_of_the_codes(tmp_path):
    X, _ = made(900)
    Y = made(2500, seed=1)[0]
    model = sae(max_epochs=10).fit(X)
    found, codes = model.evaluate(Y), model.transform(Y)
    left = ((Y - model.inverse_transform(codes)) ** 2).sum(axis=1)
    about = ((Y - Y.mean(axis=0)) ** 2).sum(axis=1)
    assert np.isclose(found.fvu, left.sum() / about.sum()) and found.n_samples == 2500 and found.n_samples_omp == 2048
    np.testing.assert_array_equal(found.density, (codes > 0).mean(axis=0))
    assert np.isclose(found.l0, (codes > 0).sum(axis=1).mean()) and found.dead == (found.density == 0).mean()
    fitted, rows = codes @ model.components_, Y - model.mean_
    assert np.isclose(found.shrinkage, (fitted * rows).sum() / (fitted**2).sum())
    ratio = unmix.PCA(found.n_components_pca).fit(Y).explained_variance_ratio_
    assert np.isclose(found.fvu_pca, 1 - ratio.sum())
    assert found.fvu_omp < found.fvu_same_rows and np.isclose(found.fvu_same_rows, found.fvu, rtol=0.1)
    coder = unmix.SparseCoder(model.components_, algorithm="omp", n_nonzero_coefs=3).fit(rows)
    by_omp = ((rows - coder.transform(rows) @ model.components_) ** 2).sum() / about.sum()
    assert np.isclose(found.fvu_omp, by_omp, rtol=0.1)
    np.save(tmp_path / "rows.npy", Y)
    again = model.evaluate(tmp_path / "rows.npy")
    assert all(np.array_equal(again[name], found[name]) for name in found)
    with pytest.raises(ValueError, match="12"):
        model.evaluate(Y[:, :5])
    with pytest.raises(ValueError, match="a column that varies"):
        model.evaluate(np.ones((5, 12)))


def test_the_strongest_rows_are_those_of_a_sort():
    X, _ = made(500)
    model = sae().fit(X)
    codes = model.transform(X)
    top = model.top_rows(X, n=4)
    assert top.rows.shape == top.codes.shape == (48, 4)
    for j in range(48):
        order = [i for i in np.argsort(-codes[:, j], kind="stable")[:4] if codes[i, j] > 0]
        assert [i for i in top.rows[j] if i >= 0] == order
        np.testing.assert_array_equal(top.codes[j, : len(order)], codes[order, j])
    assert model.top_rows(X[:3]).rows.shape == (48, 3)
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        model.top_rows(X, n=0)


@pytest.mark.parametrize("activation", ["relu", "topk", "batch-topk", "jumprelu", "gated"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_saelens_folders_are_restored_to_the_bit(tmp_path, activation, dtype):
    X = made(400)[0].astype(dtype)
    model = sae(activation=activation, max_epochs=2).fit(X)
    unmix.compat.to_saelens(model, tmp_path / "sae")
    back = unmix.compat.from_saelens(tmp_path / "sae")
    assert back.components_.dtype == dtype and np.array_equal(back.components_, model.components_)
    assert np.array_equal(back.transform(X), model.transform(X))
    assert back.report_.invocation.startswith("unmix.compat.from_saelens(")
    assert back.evaluate(X).fvu == model.evaluate(X).fvu
    unmix.compat.to_saelens(back, tmp_path / "again")
    for name in ("sae_weights.safetensors", "cfg.json"):
        assert (tmp_path / "sae" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    back.save(tmp_path / "m.safetensors")
    assert np.array_equal(unmix.load(tmp_path / "m.safetensors").transform(X), model.transform(X))
    assert "48" in repr(back) and back.summary() and len(back.fit(X).components_) == 48


def test_saelens_folders_are_read_by_safetensors(tmp_path):
    numpy = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    X = made(300)[0].astype(np.float32)
    model = sae(max_epochs=1).fit(X)
    unmix.compat.to_saelens(model, tmp_path)
    weights = numpy.load_file(tmp_path / "sae_weights.safetensors")
    assert np.array_equal(weights["W_enc"], model.encoder_weight_.T) and np.array_equal(weights["W_dec"], model.components_)
    assert set(weights) == {"W_enc", "W_dec", "b_enc", "b_dec"}


@pytest.mark.parametrize("activation", ["relu", "topk", "batch-topk", "jumprelu", "gated"])
def test_saelens_reads_these_folders(tmp_path, activation):
    saelens = pytest.importorskip("sae_lens", reason="sae_lens is not installed")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    X = made(300)[0].astype(np.float32)
    model = sae(activation=activation, max_epochs=2).fit(X)
    unmix.compat.to_saelens(model, tmp_path)
    theirs = saelens.SAE.load_from_disk(str(tmp_path))
    np.testing.assert_allclose(theirs.encode(torch.from_numpy(X)).detach().numpy(), model.transform(X), atol=1e-4)


@pytest.mark.parametrize("activation", ["relu", "topk", "batch-topk", "jumprelu", "gated"])
def test_folders_of_saelens_are_read(tmp_path, activation):
    saelens = pytest.importorskip("sae_lens", reason="sae_lens is not installed")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    X = made(300)[0].astype(np.float32)
    unmix.compat.to_saelens(sae(activation=activation, max_epochs=2).fit(X), tmp_path / "ours")
    theirs = saelens.SAE.load_from_disk(str(tmp_path / "ours"))
    theirs.save_model(str(tmp_path / "theirs"))
    back = unmix.compat.from_saelens(tmp_path / "theirs")
    codes = theirs.encode(torch.from_numpy(X)).detach()
    np.testing.assert_allclose(back.transform(X), codes.numpy(), atol=1e-4)
    np.testing.assert_allclose(back.inverse_transform(codes.numpy()), theirs.decode(codes).detach().numpy(), atol=1e-4)


def with_equal_units(path):
    """Give the second half of the units in a file of 48 units the parameters of the first half."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    numbers = bytearray(data[start:])
    for name, entry in json.loads(data[8:start]).items():
        if name == "__metadata__" or 48 not in entry["shape"]:
            continue
        (begin, end), dtype = entry["data_offsets"], {"F32": np.float32, "F64": np.float64}[entry["dtype"]]
        stored = np.frombuffer(numbers[begin:end], dtype).reshape(entry["shape"]).copy()
        units = np.moveaxis(stored, stored.shape.index(48), 0)
        units[24:] = units[:24]
        numbers[begin:end] = stored.tobytes()
    path.write_bytes(data[:start] + bytes(numbers))


@pytest.mark.parametrize("activation", ["relu", "topk", "batch-topk", "jumprelu", "gated"])
def test_codes_of_equal_units_do_not_depend_on_other_rows(tmp_path, activation):
    X, _ = made(200)
    unmix.compat.to_saelens(sae(activation=activation, max_epochs=10).fit(X), tmp_path)
    with_equal_units(tmp_path / "sae_weights.safetensors")
    model = unmix.compat.from_saelens(tmp_path)
    codes = model.transform(X)
    first, second = codes[:, :24], codes[:, 24:]
    if activation == "topk":
        # The last of three active units is one of two with equal pre-activations: the first.
        assert (codes > 0).sum(axis=1).max() == 3 and ((first > 0) & (second == 0)).any()
        assert (second <= first).all() and (second[second > 0] == first[second > 0]).all()
    else:
        np.testing.assert_array_equal(first, second)
    assert (codes > 0).any()
    for i in range(len(X)):
        np.testing.assert_array_equal(model.transform(X[i : i + 1])[0], codes[i])
    for rows in (slice(3, 20), slice(7, 200), slice(0, 199, 3)):
        np.testing.assert_array_equal(model.transform(X[rows]), codes[rows])


def test_bad_saelens_folders_are_refused(tmp_path):
    X, _ = made(100)
    model = sae(max_epochs=1).fit(X)
    with pytest.raises(TypeError, match="writes a SparseAutoencoder, got a PCA"):
        unmix.compat.to_saelens(unmix.PCA(2).fit(X), tmp_path)
    with pytest.raises(ValueError, match="dtype must be one of .*got 'float8'"):
        unmix.compat.to_saelens(model, tmp_path, dtype="float8")
    unmix.compat.to_saelens(model, tmp_path, dtype="float16")
    with pytest.raises(ValueError, match="already exists; give another folder, or give force=True to replace it") as exists:
        unmix.compat.to_saelens(model, tmp_path)
    assert exists.value.path == str(tmp_path / "sae_weights.safetensors")
    unmix.compat.to_saelens(model, tmp_path, force=True)
    (tmp_path / "ae.pt").write_bytes(b"PK")
    with pytest.raises(ValueError, match="pickled"):
        unmix.compat.from_saelens(tmp_path / "ae.pt")


def test_probes_find_the_unit_that_determines_a_label():
    draw = np.random.RandomState(0)
    codes = np.abs(draw.randn(600, 20)) * (draw.rand(600, 20) < 0.2)
    labels = np.where(codes[:, 7] > 0, "seven", np.where(codes[:, 3] > 0, "three", "none"))
    found = unmix.metrics.sparse_probing(codes, labels, k=(1, 2), X=codes @ draw.randn(20, 30))
    assert found.labels.tolist() == ["none", "seven", "three"] and found.codes.shape == found.columns.shape == (3, 2)
    assert found.units[1, 0] == 7 and found.units[2, 0] == 3
    assert found.codes[1, 0] > 0.95 and found.columns[1, 0] < 0.85 and found.all_columns.shape == (3,)
    sparse = unmix.metrics.sparse_probing(scipy.sparse.csr_array(codes), labels, k=(1, 2))
    np.testing.assert_allclose(sparse.codes, found.codes)
    np.testing.assert_array_equal(sparse.units, found.units)
    assert "columns" not in sparse
    # Labels that are independent of the units are predicted at the level of chance.
    chance = unmix.metrics.sparse_probing(codes, draw.rand(600) < 0.5, k=(5,)).codes
    assert (np.abs(chance - 0.5) < 0.1).all()
    for given, message in [
        (dict(k=(0,)), "from 1 to 20"),
        (dict(k=(21,)), "from 1 to 20"),
        (dict(X=codes[:5]), "X must have one row for each label"),
        (dict(labels=labels[:5]), "codes must have one row for each label"),
        (dict(labels=np.arange(600)), "must have two classes"),
    ]:
        with pytest.raises(ValueError, match=message):
            unmix.metrics.sparse_probing(codes, **{"labels": labels, **given})


@pytest.mark.parametrize("activation", ["relu", "topk", "batch-topk", "jumprelu", "gated"])
def test_partial_fits_do_not_depend_on_the_batches(tmp_path, activation):
    X, _ = made(1600)
    begun = sae(activation=activation, batch_size=64)
    whole = clone(begun).partial_fit(X)
    assert whole.n_iter_ == 25 and whole.n_samples_ == 1600 and whole.report_.fvu > 0
    for cuts in ([1, 50, 1024, 1100], [700], [1500]):
        parts = clone(begun)
        for part in np.split(X, cuts):
            assert parts.partial_fit(part) is parts
        for name, value in whole._model.tensors.items():
            assert np.array_equal(getattr(parts, name + "_"), value), name
    first = clone(begun).partial_fit(X[:1300])
    first.save(tmp_path / "first.safetensors")
    np.save(tmp_path / "rest.npy", X[1300:])
    for more in (unmix.load(tmp_path / "first.safetensors"), pickle.loads(pickle.dumps(first)), clone(begun).set_params(init=first)):
        assert np.array_equal(more.partial_fit(tmp_path / "rest.npy").components_, whole.components_)
    np.testing.assert_allclose(whole.transform(X), codes_by_formula(whole, X), atol=1e-12)


def test_partial_fits_learn_and_continue_a_fit():
    X, atoms = made(20_000)
    model = sae(n_components=48, batch_size=64).partial_fit(X[:10_000])
    before = model.evaluate(X[-2000:]).fvu
    model.partial_fit(X[10_000:18_000])
    assert model.evaluate(X[-2000:]).fvu < before < 0.5
    # The reference has made a single step.
    cosines = [np.median(unmix.metrics.match(atoms, m.components_).cosine) for m in (model, sae(batch_size=64).partial_fit(X[:64]))]
    assert cosines[0] > cosines[1] + 0.1
    fitted = sae(max_epochs=20).fit(X[:2000])
    left = fitted.evaluate(X[-2000:]).fvu
    components = fitted.components_.copy()
    fitted.partial_fit(X[2000:2100])
    # Too few rows for more than one step.
    assert np.median(unmix.metrics.match(components, fitted.components_).cosine) > 0.99
    assert fitted.partial_fit(X[2100:10_000]).evaluate(X[-2000:]).fvu < 1.2 * left


def test_bad_partial_fits_are_refused():
    X, _ = made(1200)
    model = sae(batch_size=64).partial_fit(X)
    bits = model.components_.copy()
    for setting, message in [({"n_components": 40}, "48 units"), ({"activation": "relu"}, "'topk'")]:
        with pytest.raises(ValueError, match=message):
            model.set_params(**setting).partial_fit(X)
        model.set_params(n_components=48, activation="topk")
    broken = X.copy()
    broken[700, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(broken)
    with pytest.raises(ValueError, match="12"):
        model.partial_fit(X[:, :5])
    assert np.array_equal(model.components_, bits) and model.n_samples_ == 1200
    assert sae().partial_fit(X[:1]).partial_fit(X[:1]).transform(X[:3]).shape == (3, 48)


def test_l0_has_an_effect_beside_alpha_for_jumprelu_alone():
    X, _ = made(300)
    for activation in ("jumprelu", "relu", "gated"):
        few, many = (sae(activation=activation, alpha=0.05, l0=l0, max_epochs=2, random_state=0).fit(X).components_ for l0 in (2, 8))
        assert np.array_equal(few, many) == (activation != "jumprelu")


@pytest.mark.parametrize("activation, epochs", [("jumprelu", 5), ("topk", 1), ("batch-topk", 5)])
def test_dead_units_of_the_report_are_those_that_no_row_activates(activation, epochs):
    draw = np.random.RandomState(0)
    X = np.abs(draw.randn(600, 30)) * (draw.rand(600, 30) < 0.1) @ draw.randn(30, 12)
    model = unmix.SparseAutoencoder(200, l0=2, activation=activation, max_epochs=epochs, random_state=0).fit(X)
    assert model.report_.dead_units == (model.density_ == 0).sum() == round(200 * model.evaluate(X).dead) > 0
