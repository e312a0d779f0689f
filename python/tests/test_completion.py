"""Matrix completion in Python: cells, errors, sparse rows, ratings."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import unmix
from unmix import MatrixCompletion

sparse = pytest.importorskip("scipy.sparse")


@pytest.fixture
def ratings():
    draw = np.random.RandomState(3)
    truth = draw.randn(90, 3) @ draw.randn(3, 60) + draw.randn(90, 1) + 2 * draw.randn(60) + 5.0
    known = np.where(draw.rand(90, 60) < 0.4, truth + 0.2 * draw.randn(90, 60), np.nan)
    return truth, known


def test_attributes_agree(ratings):
    truth, X = ratings
    model = MatrixCompletion().fit(X)
    assert (model.n_components_, model.components_.shape, model.row_codes_.shape) == (3, (3, 60), (90, 3))
    assert_allclose(model.transform(X), model.row_codes_, atol=1e-10)
    assert_allclose(model.component_variance_, (model.components_**2).sum(axis=1))
    assert abs(model.noise_variance_ / 0.04 - 1) < 0.1
    whole = model.row_codes_ @ model.components_ + model.mean_ + model.row_offsets_[:, None]
    assert_allclose(model.completed_, whole, atol=1e-10)
    assert_allclose(model.inverse_transform(model.row_codes_), whole - model.row_offsets_[:, None], atol=1e-10)
    hidden = np.isnan(X)
    assert np.sqrt(np.mean((model.completed_ - truth)[hidden] ** 2)) < 0.15
    with pytest.raises(AttributeError):
        MatrixCompletion().completed_
    with pytest.raises(AttributeError, match="cannot be assigned"):
        model.completed_ = whole


def test_predicted_and_imputed_cells_agree_and_intervals_cover(ratings):
    truth, X = ratings
    model = MatrixCompletion(n_components=3).fit(X)
    filled, std = model.impute(X, return_std=True)
    hidden = np.isnan(X)
    assert_array_equal(filled[~hidden], X[~hidden])
    cells = np.argwhere(hidden)
    values, errors = model.predict_cells(cells, return_std=True)
    assert_allclose(values, filled[hidden], atol=1e-10)
    assert_allclose(errors, std[hidden], atol=1e-10)
    assert_allclose(values, model.completed_[hidden], atol=1e-10)
    assert_array_equal(model.predict_cells(cells[:5].tolist()), values[:5])
    measured = truth[hidden] + 0.2 * np.random.RandomState(0).randn(hidden.sum())
    assert 0.93 < np.mean(abs(measured - values) < 1.96 * errors) < 0.97
    draws = model.impute(X, n_draws=2)[1]
    assert draws.shape == (2, 90, 60) and np.isfinite(draws).all()
    means, covariances = model.posterior(X)
    assert_allclose(means, model.row_codes_, atol=1e-10)
    assert covariances.shape == (90, 3, 3)
    # Imputation of new rows from their observed cells.
    assert_allclose(model.impute(X[:4]), filled[:4], atol=1e-10)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_stored_entries_are_the_observed_cells(ratings, form):
    _, X = ratings
    X = X.copy()
    X[~np.isnan(X)] = X[~np.isnan(X)].round()
    rows, columns = np.nonzero(~np.isnan(X))
    S = form(sparse.coo_array((X[rows, columns], (rows, columns)), shape=X.shape))
    a, b = (MatrixCompletion(n_components=3, random_state=0).fit(rows) for rows in (S, X))
    assert (X == 0).any()
    assert_array_equal(a.components_, b.components_)
    assert_allclose(a.transform(S), b.row_codes_, atol=1e-10)
    assert_allclose(a.impute(S), b.impute(X), atol=1e-10)


@pytest.mark.parametrize("form", ["coo", "csr", "csc", "bsr"])
@pytest.mark.parametrize("container", ["array", "matrix"])
def test_a_cell_that_is_stored_twice_is_refused(form, container):
    """Scipy adds the values of repeated entries, so two ratings of 3 would be one of 6."""
    X = np.arange(1.0, 13.0).reshape(4, 3)
    rows, columns = np.nonzero(X > 2)
    once = sparse.coo_array((X[rows, columns], (rows, columns)), shape=X.shape)
    model = MatrixCompletion(n_components=0).fit(once.asformat(form))
    # The entry of row 2, column 1 is stored again at the end of its row, of its column, of its block, or of the list.
    if form == "coo":
        parts = np.r_[once.data, 3.0], (np.r_[rows, 2], np.r_[columns, 1])
    elif form == "csr":
        S = once.tocsr()
        at = S.indptr[3]
        parts = np.insert(S.data, at, 3.0), np.insert(S.indices, at, 1), S.indptr + (np.arange(5) > 2)
    elif form == "csc":
        S = once.tocsc()
        at = S.indptr[2]
        parts = np.insert(S.data, at, 3.0), np.insert(S.indices, at, 2), S.indptr + (np.arange(4) > 1)
    else:
        S = sparse.csr_array(once).tobsr((1, 1))
        at = S.indptr[3]
        parts = np.insert(S.data, at, 3.0, axis=0), np.insert(S.indices, at, 1), S.indptr + (np.arange(5) > 2)
    twice = getattr(sparse, f"{form}_{container}")(parts, shape=X.shape)
    for call in [MatrixCompletion(n_components=0).fit, MatrixCompletion(n_components=0).fit_transform, model.transform, model.impute]:
        with pytest.raises(ValueError, match="row 2 and column 1 of X is stored 2 times; MatrixCompletion"):
            call(twice)
    # Elsewhere repeated entries are added, as by scipy.
    assert_allclose(unmix.PCA(2).fit(twice).mean_, twice.toarray().mean(axis=0))


def test_a_list_of_cells_in_a_file_is_the_sparse_matrix(ratings, tmp_path):
    _, X = ratings
    rows, columns = np.nonzero(~np.isnan(X))
    order = np.random.RandomState(0).permutation(len(rows))
    path = tmp_path / "cells.csv"
    path.write_text("row,column,value\n" + "".join(f"{rows[i]},{columns[i]},{float(X[rows[i], columns[i]])!r}\n" for i in order))
    cells = unmix.open(path, triplets=True)
    assert cells.shape == X.shape
    S = sparse.coo_array((X[rows, columns], (rows, columns)), shape=X.shape).tocsr()
    by_file, by_array = (MatrixCompletion(n_components=3, random_state=0).fit(given) for given in (cells, S))
    for name, tensor in by_array._model.tensors.items():
        assert_array_equal(by_file._model.tensors[name], tensor)
    assert_array_equal(by_file.transform(cells), by_array.transform(S))
    assert_array_equal(by_file.impute(cells), by_array.impute(S))
    call = by_file.report_.invocation
    assert "triplets=True" in call
    assert_array_equal(eval(call).components_, by_file.components_)
    # Those of the command line.
    saved = tmp_path / "m.safetensors"
    assert unmix._unmix.run_cli(["unmix", "fit", "matrix-completion", str(path), "--triplets", "-k", "3", "-o", str(saved), "-q"]) == 0
    assert_array_equal(unmix.load(saved).components_, by_file.components_)
    # The cells of a list, in the order of its lines; also of one without values.
    at = np.c_[rows, columns][order]
    for given in (cells, unmix.open(path, triplets=True, columns=["row", "column"])):
        for found, want in zip(by_file.predict_cells(given, return_std=True), by_file.predict_cells(at, return_std=True)):
            assert_array_equal(found, want)
    path.write_text("row,column\n1,1\n2,1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_array_equal(by_file.predict_cells(unmix.open(path, triplets=True)), by_file.predict_cells([[1, 1], [2, 1]]))
    many = [(i, j) for i in range(1, 6) for j in range(1, 5)]
    path.write_text("row,column\n" + "".join(f"{i},{j}\n" for i, j in many))
    with pytest.warns(UserWarning, match="numbered from 1\\? They are numbered from 0 here"):
        assert_array_equal(by_file.predict_cells(unmix.open(path, triplets=True)), by_file.predict_cells(many))
    # The last columns of other rows may have no cell.
    path.write_text("row,column,value\n0,1,2.5\n")
    assert by_file.transform(unmix.open(path, triplets=True)).shape == (1, 3)
    unmix.report(by_file, S, path=tmp_path / "sparse.html")
    unmix.report(by_file, X, path=tmp_path / "gaps.html")
    assert (tmp_path / "sparse.html").read_text() == (tmp_path / "gaps.html").read_text()


def test_bad_input_is_named(ratings):
    _, X = ratings
    model = MatrixCompletion(n_components=2).fit(X)
    for cells, words in [([[90, 0]], "cell 0 is outside"), ([[0, 0], [1, -1]], "cell 1"), ([[0.5, 1]], "integers"), ([1, 2, 3], "shape")]:
        with pytest.raises(ValueError, match=words):
            model.predict_cells(cells)
    assert model.predict_cells([]).shape == (0,)
    with pytest.raises(ValueError, match="from 0 to 60"):
        MatrixCompletion(n_components=61).fit(X)
    with pytest.raises(ValueError, match="infinity"):
        MatrixCompletion().fit(np.where(np.isnan(X), np.inf, X))
    X = X.copy()
    X[:, 7] = np.nan
    assert any("column 7 has no observed cell" in sentence for sentence in MatrixCompletion(n_components=2).fit(X).report_.warnings)


def test_a_saved_model_predicts_the_same(ratings, tmp_path):
    _, X = ratings
    model = MatrixCompletion(n_components=3).fit(X.astype(np.float32))
    assert model.components_.dtype == np.float32 and model.completed_.dtype == np.float32
    model.save(tmp_path / "m.safetensors")
    again = unmix.load(tmp_path / "m.safetensors")
    for a, b in zip(model.predict_cells([[0, 1]], return_std=True), again.predict_cells([[0, 1]], return_std=True)):
        assert_array_equal(a, b)
    started = MatrixCompletion(n_components=3, init=model).fit(X.astype(np.float32))
    assert started.n_iter_ <= model.n_iter_ // 2 + 1


def test_ratings_have_the_error_and_the_coverage_of_the_page():
    path = Path(os.environ.get("UNMIX_DATA", "")) / "ratings" / "movielens100k_user_item_rating_u16.npy"
    if "UNMIX_DATA" not in os.environ or not path.exists():
        pytest.skip(f"UNMIX_DATA names no folder that holds {path.name}")
    R = np.load(path).astype(int)
    error, inside, ridge = [], [], []
    for seed in range(5):
        test = np.random.default_rng(seed).random(len(R)) < 0.1
        known, hidden = R[~test], R[test]
        shape = (R[:, 0].max() + 1, R[:, 1].max() + 1)
        S = sparse.csr_array((known[:, 2].astype(float), (known[:, 0], known[:, 1])), shape=shape)
        values, std = MatrixCompletion().fit(S).predict_cells(hidden[:, :2], return_std=True)
        error.append(np.sqrt(np.mean((np.clip(values, 1, 5) - hidden[:, 2]) ** 2)))
        inside.append([np.mean(abs(values - hidden[:, 2]) < z * std) for z in (1.6449, 1.96)])
        # A ridge of given weight, stopped early.
        with pytest.warns(ConvergenceWarning):
            values = MatrixCompletion(n_components=8, alpha=0.15, max_iter=15, tol=0).fit(S).predict_cells(hidden[:, :2])
        ridge.append(np.sqrt(np.mean((np.clip(values, 1, 5) - hidden[:, 2]) ** 2)))
    assert np.median(error) <= 0.912, error
    assert np.median(ridge) <= 0.92, ridge
    assert np.all(abs(np.median(inside, axis=0) - [0.9, 0.95]) < 0.015), inside


def test_the_weight_of_the_ridge_is_relative_to_the_size_of_the_cells():
    draw = np.random.default_rng(5)
    k, alpha = 2, 0.3
    X = draw.normal(size=(40, k)) @ draw.normal(size=(k, 15)) + 0.3 * draw.normal(size=(40, 15))
    X[draw.random(X.shape) < 0.5] = np.nan
    for unit in (1, 10):
        given = {"alpha": alpha, "offsets": False, "tol": 1e-13, "max_iter": 20000, "random_state": 0}
        model = MatrixCompletion(k, **given).fit(unit * X)
        weight = alpha * unit * np.sqrt(np.nanmean(X**2))
        # Weighted alternating least squares (Zhou et al. 2008) in the units of the data, from the solution.
        cells = unit * X
        V = model.components_
        for _ in range(300):
            A = np.array([ridge(V[:, ~np.isnan(x)], x[~np.isnan(x)], weight) for x in cells])
            V = np.array([ridge(A[~np.isnan(x)].T, x[~np.isnan(x)], weight) for x in cells.T]).T
        assert_allclose(model.row_codes_ @ model.components_, A @ V, atol=1e-6 * unit)


def ridge(loadings, x, weight):
    """The code of cells by ridge regression, whose penalty is ``weight`` for each of them."""
    return np.linalg.solve(loadings @ loadings.T + weight * len(x) * np.eye(len(loadings)), loadings @ x)


@pytest.mark.parametrize("settings", [{"alpha": 0.05}, {"alpha": 0.0}])
def test_a_row_without_cells_has_errors_of_the_size_of_the_columns(settings):
    draw = np.random.RandomState(0)
    Y = draw.randn(80, 2) @ draw.randn(2, 40) + draw.randn(40)
    spread = Y.std(axis=0)
    Y[draw.rand(80, 40) < 0.6] = np.nan
    Y[5] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = unmix.MatrixCompletion(2, random_state=0, **settings).fit(Y)
        _, errors = model.impute(Y, return_std=True, bootstrap=0)
        _, new = model.impute(np.full((1, 40), np.nan), return_std=True, bootstrap=0)
    for found in (errors[5], new[0]):
        assert (found < 3 * spread.max()).all() and np.median(found / spread) > 0.5, found / spread


@pytest.mark.parametrize("settings", [{"n_components": 2, "alpha": 0.05}, {"algorithm": "soft-impute", "alpha": 5.0}])
def test_columns_and_rows_without_cells_are_covered_as_stated(settings):
    inside = {"columns": [], "rows": []}
    for seed in range(15):
        draw = np.random.RandomState(seed)
        Y = draw.randn(60, 2) @ draw.randn(2, 40) + 0.7 * draw.randn(60, 1) + draw.randn(40) + 0.4 * draw.randn(60, 40)
        X = np.where(draw.rand(60, 40) < 0.5, Y, np.nan)
        X[:4], X[:, :4] = np.nan, np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MatrixCompletion(random_state=0, **settings).fit(X)
        for what, (rows, columns) in {"columns": (range(4, 60), range(4)), "rows": (range(4), range(4, 40))}.items():
            at = np.array([(i, j) for i in rows for j in columns])
            values, std = model.predict_cells(at, return_std=True)
            inside[what].append(np.mean(abs(values - Y[tuple(at.T)]) < 1.96 * std))
    assert all(0.88 < np.mean(shares) < 0.99 for shares in inside.values()), inside


@pytest.mark.parametrize("settings", [{"alpha": 0.1}, {"algorithm": "ppca-em"}, {"algorithm": "soft-impute", "alpha": 5.0}])
def test_errors_of_single_cells_that_treat_the_parameters_as_known_give_a_warning(ratings, settings):
    _, X = ratings
    cells = [[0, 1], [2, 3]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MatrixCompletion(2, random_state=0, **settings).fit(X)
    with pytest.warns(UserWarning, match="single cells are predicted without the rows of the fit.*parameters are treated as known"):
        model.predict_cells(cells, return_std=True)
    variational = MatrixCompletion(2, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Values alone have no errors; of the variational fit they include those of the parameters.
        model.predict_cells(cells)
        model.predict_cells([], return_std=True)
        variational.predict_cells(cells, return_std=True)


def test_a_completed_matrix_that_does_not_fit_in_memory_is_refused_with_its_size():
    n = 400_000
    far = np.array([0, 1, n - 2, n - 1])
    rows, columns = np.repeat(far, 4), np.tile(far, 4)
    S = sparse.coo_array((np.arange(16.0) % 5, (rows, columns)), shape=(n, n)).tocsr()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MatrixCompletion(n_components=0, max_iter=2).fit(S)
    with pytest.raises(MemoryError, match="the completed matrix of 400000 rows and 400000 columns would need .*predict the cells that are needed"):
        model.completed_
    assert np.isfinite(model.predict_cells([[5, 7], [1, n - 1]])).all()
