"""Stacks of rectified factor networks from Python."""

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import unmix
from unmix import RFN, StackedRFN
from unmix.datasets import biclusters

PAGE = Path(__file__).parents[2] / "docs" / "rfn.md"


@pytest.fixture(scope="module")
def X():
    return biclusters("D1", seed=0)


@pytest.fixture(scope="module")
def stack(X):
    return StackedRFN(n_components=(20, 8), max_iter=(60, 30), normalize=["rms", "std"], random_state=0).fit(X)


def relu(X, layers):
    for weight, bias in layers:
        X = np.maximum(0, X @ weight.T + bias)
    return X


def test_layers_are_models_of_the_codes_below(X, stack):
    first, second = stack.layers_
    assert isinstance(first, RFN) and isinstance(second, RFN)
    alone = RFN(20, max_iter=60, random_state=0).fit(X)
    upper = RFN(8, max_iter=30, normalize="std", random_state=0).fit(alone.transform(X))
    for a, b in ((first, alone), (second, upper)):
        assert np.array_equal(a.components_, b.components_) and np.array_equal(a.encoder_weight_, b.encoder_weight_)
        assert a.report_.objective == b.report_.objective and a.get_params()["max_iter"] == b.get_params()["max_iter"]
    codes = stack.transform(X)
    assert np.array_equal(codes, second.transform(first.transform(X)))
    np.testing.assert_allclose(stack.inverse_transform(codes), first.inverse_transform(second.inverse_transform(codes)), atol=1e-9)
    np.testing.assert_allclose(stack.components_, second.components_ @ first.components_, atol=1e-9)
    assert stack.n_iter_ == 90 and stack.n_components_ == 8 and stack.n_features_in_ == 100
    assert [layer["report"]["n_iter"] for layer in stack.report_.layers] == [60, 30]
    # Layers have the methods of a single network.
    assert np.isfinite(first.score(X)) and len(first.biclusters(X)) > 0
    with pytest.raises(AttributeError, match="layers_"):
        StackedRFN().layers_  # noqa: B018


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_network_computes_the_codes(X, dtype, tmp_path):
    rows = X.astype(dtype)
    stack = StackedRFN(n_components=(30, 12, 6), max_iter=40, prior_mean=(0.0, -0.1, 0.0), random_state=0).fit(rows)
    codes, network = stack.transform(rows), stack.network()
    assert [weight.shape for weight, _ in network] == [(30, 100), (12, 30), (6, 12)]
    assert codes.dtype == dtype and all(weight.dtype == bias.dtype == dtype for weight, bias in network)
    np.testing.assert_allclose(relu(rows, network), codes, atol=1e-6 * max(1, codes.max()))
    # The file has the same numbers under the names that other programs look for.
    stack.save(tmp_path / "stack.safetensors")
    content = (tmp_path / "stack.safetensors").read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    for i, (weight, bias) in enumerate(network):
        for name, value in (("weight", weight), ("bias", bias)):
            entry = header[f"layers.{i}.{name}"]
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            assert np.array_equal(np.frombuffer(content[begin:end], dtype).reshape(entry["shape"]), value)
    again = unmix.load(tmp_path / "stack.safetensors")
    assert isinstance(again, StackedRFN) and np.array_equal(again.transform(rows), codes)
    assert [layer.n_components_ for layer in again.layers_] == [30, 12, 6]
    assert np.array_equal(pickle.loads(pickle.dumps(stack)).transform(rows), codes)


@pytest.mark.skipif(not PAGE.exists(), reason="the tests are not in a checkout")
def test_pytorch_loads_the_network_with_the_lines_of_the_page(X, stack, tmp_path, monkeypatch):
    lines = re.search(r"^```pytorch\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)[1]
    assert len(lines.splitlines()) == 8
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("safetensors", reason="safetensors is not installed")
    stack.save(tmp_path / "stack.safetensors")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(lines, str(PAGE), "exec"), names)
    with torch.no_grad():
        codes = names["network"](torch.from_numpy(X)).numpy()
    np.testing.assert_allclose(codes, stack.transform(X), atol=1e-6)


def test_a_number_of_units_is_one_layer(X):
    one = StackedRFN(15, max_iter=20, random_state=0).fit(X)
    alone = RFN(15, max_iter=20, random_state=0).fit(X)
    assert np.array_equal(one.transform(X), alone.transform(X)) and len(one.layers_) == 1
    assert np.array_equal(one.components_, alone.components_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_settings_of_layers_are_lists_tuples_or_arrays(X):
    given = [(12, 5), [12, 5], np.array([12, 5])]
    fits = [StackedRFN(n, max_iter=np.array([5, 4]), center=[True, "median"], tol=(None, 1e-4), init=("ica", "random"), random_state=0).fit(X) for n in given]
    assert all(np.array_equal(fit.components_, fits[0].components_) for fit in fits[1:])
    assert np.array_equal(clone(fits[2]).fit(X).components_, fits[0].components_)
    assert fits[0].layers_[1].tol == 1e-4 and fits[0].layers_[0].tol is None


def test_files_sparse_rows_and_weights(X, stack, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    of_file = clone(stack).fit(tmp_path / "rows.npy")
    assert np.array_equal(of_file.components_, stack.components_)
    counts = np.where(np.abs(X) > 1.5, np.round(np.abs(X)), 0)
    sparse, dense = (StackedRFN((8, 4), max_iter=20, random_state=0).fit(rows) for rows in (scipy.sparse.csr_array(counts), counts))
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-7)
    np.testing.assert_allclose(sparse.transform(scipy.sparse.csr_array(counts)), dense.transform(counts), atol=1e-7)


def test_initial_values_of_each_layer(X, stack):
    more = clone(stack).set_params(init=stack, max_iter=5).fit(X)
    # The rows of the upper layer have changed slightly: its initial objective is close to the last one, far above that of random
    # weights.
    before, after = stack.layers_[1].report_, more.layers_[1].report_
    assert abs(after.objective[0] - before.final_objective) < 0.2 * (before.final_objective - before.objective[0])
    assert more.layers_[0].report_.objective[0] == pytest.approx(stack.layers_[0].report_.final_objective, rel=1e-9)
    # Another model is the start of the lowest layer.
    first = RFN(20, max_iter=60, random_state=0).fit(X)
    of_rfn = clone(stack).set_params(init=first, max_iter=5).fit(X)
    assert np.array_equal(of_rfn.layers_[0].components_, more.layers_[0].components_)
    with pytest.raises(ValueError, match="it has 20 components, and this fit has 25"):
        StackedRFN((25, 8), init=stack, max_iter=5).fit(X)


def test_stability_refits_all_layers(X):
    stack = StackedRFN((10, 4), max_iter=20, random_state=0).fit(X)
    found = unmix.stability(stack, X, splits=2, restarts=1, bootstrap=0)
    assert len(found) == 4 and (found.halves >= 0).all() and (found.halves <= 1).all() and found.halves.max() > found.chance > 0


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"e_step": "coordinate"}, "e_step must be 'plain' in every layer.*got 'coordinate'; choose e_step='plain'"),
        ({"e_step": ("plain", "cascade")}, "the codes of layer 1 .*got 'cascade'"),
        ({"max_iter": (5, 5, 5)}, "max_iter must be one value, or one for each of 2 layers, got a list of 3"),
        ({"n_components": (4, 0)}, "n_components"),
        ({"n_components": ()}, "n_components"),
        ({"n_components": (4, 3_000_000_000)}, "layer 1 of stacked-rfn of 4 columns and 3000000000 components"),
        ({"batch_size": (None, 5), "n_components": (4, 3)}, "batch_size must be at least twice n_components, here 6"),
        ({"prior_mean": (0.0, -50.0), "prior_cov": (1.0, 0.01), "max_iter": 3}, "layer 1 of stacked-rfn is not possible: all of its 3 units are 0 in every row"),
    ],
)
def test_bad_stacks_are_refused(X, settings, message):
    with pytest.raises((ValueError, MemoryError), match=message):
        StackedRFN(**{"n_components": (4, 3), **settings}).fit(X)
    with pytest.raises(ValueError, match="row 3, column 5 is NaN"):
        StackedRFN((4, 3), max_iter=5).fit(np.where(np.arange(10000).reshape(100, 100) == 305, np.nan, X))


def test_the_page_has_the_layers(X, stack):
    text = unmix.report(stack, X).text
    layers = text.partition('<section id="stack">')[2].partition("</section>")[0]
    assert "objective of layer 1" in layers and "6 of 20 filters" in layers and layers.count('class="component"') == 6
