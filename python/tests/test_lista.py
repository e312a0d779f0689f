"""LISTA: equal to ISTA before training; training on codes or on the objective, duality gaps, bad input."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.decomposition import SparseCoder as Reference

import unmix
from unmix import LISTA, SparseCoder
from unmix.datasets import sparse_codes

CELLS = ("lista", "gregor-lecun", "cp", "alista", "step")


@pytest.fixture(scope="module")
def made():
    return sparse_codes(800, 12, 20, share=0.1, seed=3)


def net(made, **more):
    return LISTA(made.components, **({"n_layers": 3, "max_epochs": 5, "batch_size": 100, "random_state": 0} | more))


def soft(v, theta):
    return np.sign(v) * np.maximum(abs(v) - theta, 0)


def test_rows_whose_codes_are_known():
    few, many = (sparse_codes(n, 6, 9, share=0.3, noise=0.1, seed=1) for n in (50, 80))
    assert np.array_equal(few.X, many.X[:50]) and np.array_equal(few.components, many.components)
    assert np.allclose(np.linalg.norm(few.components, axis=1), 1)
    large = sparse_codes(20_000, 3, 4, share=0.3)
    assert large.codes[large.codes != 0].std() == pytest.approx(1, abs=0.02)
    assert (large.codes != 0).mean() == pytest.approx(0.3, abs=0.01)
    with pytest.raises(ValueError, match="share"):
        sparse_codes(share=0)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell != "alista"])
def test_the_initial_network_is_ista(made, cell, positive):
    alpha, A = 0.2, made.components
    Z = net(made, cell=cell, alpha=alpha, n_layers=7, max_epochs=0, positive_code=positive).fit_transform(made.X)
    t, z = 1 / np.linalg.norm(A, 2) ** 2, np.zeros((len(made.X), len(A)))
    for _ in range(7):
        v = z + t * (made.X - z @ A) @ A.T
        z = np.maximum(v - t * alpha, 0) if positive else soft(v, t * alpha)
    assert abs(Z - z).max() < 1e-11


@pytest.mark.parametrize("cell", ["lista", "cp", "alista", "step"])
def test_codes_agree_with_the_parameters(made, cell):
    model = net(made, cell=cell).fit(made.X, made.codes)
    z = np.zeros((len(made.X), 20))
    for layer in range(3):
        weights = getattr(model, "layer_weights_", [made.components])
        E = weights[min(layer, len(weights) - 1)]
        D = E if cell == "lista" else made.components
        step = model.layer_steps_[layer] if cell != "cp" else 1.0
        z = soft(z + step * (made.X - z @ D) @ E.T, model.thresholds_[layer])
    assert abs(model.transform(made.X) - z).max() < 1e-11


@pytest.mark.parametrize("cell", CELLS)
def test_training_reduces_the_error_of_held_out_rows(made, cell):
    held = sparse_codes(1600, 12, 20, share=0.1, seed=3)
    X, codes = held.X[800:], held.codes[800:]
    start, trained = (net(made, cell=cell, n_layers=4, max_epochs=n).fit(made.X, made.codes) for n in (0, 40))
    error = [((model.transform(X) - codes) ** 2).sum() for model in (start, trained)]
    assert error[1] < error[0]
    assert np.all(np.diff(trained.report_.objective) <= 0)


def test_y_is_codes_dense_or_sparse_or_a_file_or_nothing(made, tmp_path):
    dense = net(made).fit(made.X, made.codes)
    np.save(tmp_path / "codes.npy", made.codes)
    for y in (scipy.sparse.csr_array(made.codes), tmp_path / "codes.npy", made.codes.tolist()):
        assert np.array_equal(net(made).fit(made.X, y).layer_weights_, dense.layer_weights_)
    alone = net(made).fit(made.X)
    assert not np.array_equal(alone.layer_weights_, dense.layer_weights_)
    # A vector is not a table of codes: scikit-learn passes labels to every estimator.
    assert np.array_equal(net(made).fit(made.X, np.zeros(800)).layer_weights_, alone.layer_weights_)
    assert "code_error" in dense.report_.by_layer and "code_error" not in alone.report_.by_layer


def test_the_gap_bounds_the_distance_from_the_optimum_and_refining_closes_it(made):
    A, alpha = made.components, 0.1
    best = SparseCoder(A, alpha=alpha, tol=1e-12).fit(made.X).quality(made.X).objective
    theirs = Reference(A, transform_algorithm="lasso_cd", transform_alpha=alpha, transform_max_iter=10_000).fit_transform(made.X)
    assert abs(0.5 * ((made.X - theirs @ A) ** 2).sum(1) + alpha * abs(theirs).sum(1) - best).max() < 1e-3
    for refine, most in ((0, np.inf), (2000, 1e-9)):
        model = net(made, alpha=alpha, refine=refine).fit(made.X)
        found, Z = model.quality(made.X), model.transform(made.X)
        assert np.all(found.objective - best <= found.gap + 1e-12) and found.gap.max() <= most
        assert np.allclose(found.objective, 0.5 * ((made.X - Z @ A) ** 2).sum(1) + alpha * abs(Z).sum(1))
        assert np.array_equal(found.n_nonzero, (Z != 0).sum(1))


def test_a_row_has_the_same_code_alone(made):
    for dtype in (np.float64, np.float32):
        X = made.X.astype(dtype)
        model = net(made, refine=3).fit(X)
        Z = model.transform(X)
        assert Z.dtype == dtype and all(np.array_equal(model.transform(X[i : i + 1])[0], Z[i]) for i in (0, 7, 799))


def test_ties_among_the_largest_go_to_the_first():
    atoms = np.eye(4)
    model = LISTA(atoms, cell="cp", alpha=0.5, n_layers=1, max_epochs=0, support_selection=10.0).fit(np.ones((3, 4)))
    assert np.allclose(model.transform(np.ones((1, 4))), 0.5, rtol=1e-12)
    model = LISTA(np.eye(20), cell="cp", alpha=0.5, n_layers=1, max_epochs=0, support_selection=5.0).fit(np.ones((3, 20)))
    assert np.allclose(model.transform(np.ones((1, 20))), [[1.0] + [0.5] * 19])


def test_models_are_saved_and_continued(made, tmp_path):
    model = net(made, cell="alista", refine=2).fit(made.X, made.codes)
    model.save(tmp_path / "net.safetensors")
    loaded = unmix.load(tmp_path / "net.safetensors")
    assert np.array_equal(loaded.transform(made.X), model.transform(made.X))
    more = net(made, cell="alista", refine=2, init=model).fit(made.X, made.codes)
    assert more.report_.objective[-1] <= model.report_.objective[-1]
    with pytest.raises(ValueError, match="it is a model of pca"):
        net(made, init=unmix.PCA().fit(made.X)).fit(made.X)


def test_equal_and_empty_atoms_have_no_code(made):
    atoms = np.vstack([made.components, made.components[:1], np.zeros((1, 12))])
    model = LISTA(atoms, alpha=0.1, n_layers=3, max_epochs=3).fit(made.X)
    assert not model.transform(made.X)[:, 20:].any()
    assert any("2 of 22 atoms" in sentence for sentence in model.report_.warnings)


def test_bad_input_is_refused(made):
    for y, message in (
        (made.codes[:, :5], r"y must have 20 columns, one for each atom, got shape \(800, 5\)"),
        (made.codes[:9], "y must have one row for each of the 800 rows of .*, got 9 rows"),
        (np.where(made.codes == made.codes.max(), np.nan, made.codes), "not finite|finite numbers only"),
    ):
        with pytest.raises(ValueError, match=message):
            net(made).fit(made.X, y)
    with pytest.raises(ValueError, match="dictionary"):
        LISTA(made.components[:, :5]).fit(made.X)
    with pytest.raises(ValueError, match="the loss diverged in epoch .* monotone=True"):
        net(made, cell="step", monotone=False, learning_rate=1e6, n_layers=8, max_epochs=40).fit(made.X)
    with pytest.raises(ValueError, match="support_selection"):
        net(made, support_selection=11.0).fit(made.X)
    with pytest.warns(UserWarning, match="tied=.* has no effect"):
        net(made, cell="step", tied=True).fit(made.X)
    X = made.X.copy()
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        net(made).fit(X)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("supervised", [False, True])
def test_a_network_that_is_worse_than_ista_warns(supervised):
    """Networks with the cell "alista" do not start as ISTA, and training leaves some above it."""
    draw = np.random.default_rng(0)
    A = draw.normal(size=(40, 8))
    Z = draw.normal(size=(400, 40)) * (draw.random((400, 40)) < 0.1)
    X = Z @ A + 0.1 * draw.normal(size=(400, 8))
    y, name, words = (Z, "code_error", "relative error of the codes") if supervised else (None, "objective", "objective")
    few = {"n_layers": 8, "max_epochs": 3, "random_state": 0}
    with pytest.warns(UserWarning, match=f"worse than ISTA with as many steps: the mean {words} over 400 rows .* choose another cell"):
        worse = LISTA(A, cell="alista", **few).fit(X, y)
    table = worse.report_.by_layer
    assert table[name][-1] > table["ista"][name][-1]
    # Cells that start as ISTA are never worse, in single precision either, with training or without.
    for cell in ("lista", "cp", "step", "gregor-lecun"):
        for epochs in (0, 3):
            for rows in (X, X.astype(np.float32)):
                table = LISTA(A, cell=cell, **few | {"max_epochs": epochs}).fit(rows, y).report_.by_layer
                assert table[name][-1] <= (1 + 1e-4) * table["ista"][name][-1]
    # With further steps of FISTA codes are not those of the last layer.
    LISTA(A, cell="alista", refine=50, **few).fit(X, y)
    if supervised:
        return
    start = LISTA(A, alpha=1e-3, n_layers=8, max_epochs=0).fit(X)
    with pytest.warns(UserWarning, match="worse than ISTA .* choose init=None"):
        LISTA(A, alpha=5.0, n_layers=8, max_epochs=0, init=start).fit(X)
    with pytest.warns(UserWarning, match="worse than ISTA .* choose support_selection=0"):
        LISTA(np.eye(20), cell="cp", alpha=0.5, n_layers=1, max_epochs=0, support_selection=5.0).fit(np.ones((3, 20)))
