"""Sparse codes by a given dictionary: comparison with scikit-learn, duality gaps, bad input."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from scipy import optimize
from sklearn.decomposition import sparse_encode
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

import unmix
from unmix import SparseCoder
from unmix.metrics import lasso_gap

LASSO = ["cd", "fista", "ista", "lars"]


def made(n=40, m=60, p=24, seed=0):
    """Unit atoms, and rows of 4 of them with noise."""
    draw = np.random.RandomState(seed)
    A = draw.randn(m, p)
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    Z = np.zeros((n, m))
    for z in Z:
        z[draw.choice(m, 4, replace=False)] = draw.randn(4) + np.sign(draw.randn(4))
    return A, Z @ A + 0.02 * draw.randn(n, p)


def objective(X, Z, A, alpha):
    return 0.5 * ((X - Z @ A) ** 2).sum() + alpha * abs(Z).sum()


@pytest.fixture(scope="module")
def data():
    return made()


@pytest.mark.parametrize("algorithm", LASSO)
@pytest.mark.parametrize("positive", [False, True])
def test_every_algorithm_reaches_the_objective_of_scikit_learn(data, algorithm, positive):
    A, X = data
    alpha = 0.2
    given = {"algorithm": algorithm, "positive_code": positive, "tol": 1e-10, "max_iter": 100_000}
    Z = SparseCoder(A, alpha=alpha, **given).fit_transform(X)
    # The problem of its algorithm "lasso_cd", whose tolerance cannot be chosen there.
    lasso = Lasso(alpha / X.shape[1], fit_intercept=False, positive=positive, tol=1e-11, max_iter=100_000)
    theirs = objective(X, lasso.fit(A.T, X.T).coef_, A, alpha)
    assert abs(objective(X, Z, A, alpha) - theirs) <= 1e-8 * theirs
    # The codes of that algorithm are at most as good.
    codes = sparse_encode(X, A, algorithm="lasso_cd", alpha=alpha, positive=positive, max_iter=100_000)
    assert objective(X, codes, A, alpha) >= theirs * (1 - 1e-8)
    # The duality gap bounds the distance from the optimum.
    assert lasso_gap(X, Z, A, alpha, positive).max() <= 1e-10 * 0.5 * (X**2).sum(axis=1).max()
    for other in (alpha / 2, 2 * alpha):
        assert abs(objective(X, SparseCoder(A, alpha=other, **given).fit_transform(X), A, alpha) - theirs) > 1e-3 * theirs
    if positive:
        assert Z.min() >= 0


def test_pursuit_agrees_with_scikit_learn(data):
    A, X = data
    ours = SparseCoder(A, algorithm="omp", n_nonzero_coefs=5).fit_transform(X)
    assert abs(ours - sparse_encode(X, A, algorithm="omp", n_nonzero_coefs=5)).max() < 1e-10
    assert ((ours != 0).sum(axis=1) == 5).all()
    to_error = SparseCoder(A, algorithm="omp", max_squared_error=0.1).fit_transform(X)
    assert (((X - to_error @ A) ** 2).sum(axis=1) <= 0.1).all()
    by_default = SparseCoder(A, algorithm="omp").fit(X)
    assert by_default.report_.settings["n_nonzero_coefs"] == 2


def test_gaps_are_bounds(data):
    A, X = data
    best = SparseCoder(A, alpha=0.1, tol=1e-12).fit(X).quality(X).objective
    Z = np.random.RandomState(1).randn(len(X), len(A)) * 0.1
    each = 0.5 * ((X - Z @ A) ** 2).sum(axis=1) + 0.1 * abs(Z).sum(axis=1)
    gaps = lasso_gap(X, Z, A, 0.1)
    assert (gaps >= each - best - 1e-12).all()
    assert np.array_equal(lasso_gap(X, scipy.sparse.csr_array(Z), A, 0.1), gaps)
    assert np.isinf(lasso_gap(X, -abs(Z), A, 0.1, positive=True)).all()
    # The gap at a dual point that is computed here.
    x, z = X[0], Z[0]
    r = x - z @ A
    c = A @ r
    s = np.clip(x @ r / (r @ r), -0.1 / abs(c).max(), 0.1 / abs(c).max())
    assert gaps[0] == pytest.approx(each[0] - 0.5 * (x @ x - (x - s * r) @ (x - s * r)), rel=1e-9)
    with pytest.raises(ValueError, match="X must be n x p"):
        lasso_gap(X, Z[:, :3], A, 0.1)
    with pytest.raises(ValueError, match="alpha must be positive"):
        lasso_gap(X, Z, A, 0.0)


def test_quality_and_report(data):
    A, X = data
    coder = SparseCoder(A, alpha=0.1).fit(X)
    Z, found = coder.transform(X), coder.quality(X)
    assert np.allclose(found.objective, 0.5 * ((X - Z @ A) ** 2).sum(axis=1) + 0.1 * abs(Z).sum(axis=1), rtol=1e-12)
    assert np.array_equal(found.n_nonzero, (Z != 0).sum(axis=1))
    assert np.allclose(found.squared_error, ((X - Z @ A) ** 2).sum(axis=1), rtol=1e-10)
    assert np.allclose(found.gap, lasso_gap(X, Z, A, 0.1), rtol=1e-6, atol=1e-18)
    report = coder.report_
    assert report.outcome == "converged" and report.not_converged == 0
    assert report.worst_gap == pytest.approx((found.gap / (0.5 * (X**2).sum(axis=1))).max(), rel=1e-6)
    assert report.worst_gap <= report.tol == 1e-6
    assert report.alpha_max == pytest.approx(abs(X @ A.T).max())
    assert SparseCoder(A).fit(X).alpha_ == pytest.approx(0.1 * abs(X @ A.T).max(axis=1).mean())
    assert "components_" in dir(coder) and not hasattr(coder, "rotation_")


def test_scaled_rows_have_scaled_codes(data):
    A, X = data
    assert np.allclose(SparseCoder(A).fit_transform(1000 * X), 1000 * SparseCoder(A).fit_transform(X), rtol=1e-3, atol=1e-3)


def test_the_path_begins_with_zero_codes(data):
    A, X = data
    path = SparseCoder(A, alpha=0.1, tol=1e-8).fit(X).path(X, n_alphas=7)
    assert path.alphas[0] == pytest.approx(abs(X @ A.T).max()) and path.alphas[-1] == pytest.approx(path.alphas[0] / 1000)
    assert (path.n_nonzero[0] <= 1).all() and path.objective.shape == (7, len(X))
    assert (np.diff(path.squared_error, axis=0) <= 1e-6).all()
    third = SparseCoder(A, alpha=path.alphas[3], tol=1e-8).fit(X).quality(X)
    assert np.allclose(path.objective[3], third.objective, rtol=1e-6)
    with pytest.raises(ValueError, match="n_alphas"):
        SparseCoder(A, alpha=0.1).fit(X).path(X, n_alphas=0)


def test_alpha_by_held_out_entries():
    draw = np.random.RandomState(0)
    A = draw.randn(30, 20)
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    Z = draw.randn(150, 30) * (draw.rand(150, 30) < 0.1)
    low_noise, high_noise = (Z @ A + s * draw.randn(150, 20) for s in (0.02, 0.3))
    few, many = (SparseCoder(A, alpha="cv", random_state=0).fit(X) for X in (low_noise, high_noise))
    assert few.alpha_ / few.report_.alpha_max < many.alpha_ / many.report_.alpha_max
    curve = many.report_.cv
    assert len(curve["alphas"]) == len(curve["errors"]) == len(curve["standard_errors"]) == 13
    assert many.alpha_ == curve["alphas"][int(np.argmin(curve["errors"]))]


@pytest.mark.heavy
@pytest.mark.parametrize("deviation", [0.04, 0.1])
def test_alpha_by_held_out_entries_is_near_the_best_for_rows_without_noise(deviation):
    path = Path(os.environ.get("UNMIX_DATA", "")) / "images_pypi" / "camera.png"
    if "UNMIX_DATA" not in os.environ or not path.exists():
        pytest.skip(f"UNMIX_DATA names no folder that holds {path.name}")
    # 500 patches of a photograph, and 143 products of cosines.
    windows = np.lib.stride_tricks.sliding_window_view(np.asarray(Image.open(path).convert("L")) / 255, (8, 8)).reshape(-1, 64)
    patches = windows[np.random.RandomState(0).permutation(len(windows))[:500]]
    noisy = patches + deviation * np.random.RandomState(10).randn(*patches.shape)
    rows, true = (of - of.mean(axis=1, keepdims=True) for of in (noisy, patches))
    waves = np.cos(np.arange(8)[:, None] * np.arange(12) * np.pi / 12)
    waves[:, 1:] -= waves[:, 1:].mean(axis=0)
    waves /= np.linalg.norm(waves, axis=0)
    A = np.kron(waves, waves).T[1:]
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    coder = SparseCoder(A, alpha="cv", random_state=0).fit(rows)
    alphas = list(coder.report_.cv["alphas"])
    assert len(alphas) == 13
    with warnings.catch_warnings():
        # The largest has codes of zeros.
        warnings.simplefilter("ignore")
        errors = [((SparseCoder(A, alpha=alpha).fit_transform(rows) @ A - true) ** 2).mean() for alpha in alphas]
    assert errors[-1] > min(errors)
    assert errors[alphas.index(coder.alpha_)] <= 1.15 * min(errors)


def test_debias_is_least_squares_on_the_atoms(data):
    A, X = data
    plain, code = (SparseCoder(A, alpha=0.2, debias=debias).fit_transform(X) for debias in (False, True))
    assert np.array_equal(plain != 0, code != 0)
    for x, z in zip(X, code):
        used = z != 0
        assert np.allclose(np.linalg.lstsq(A[used].T, x, rcond=None)[0], z[used], atol=1e-9)


def test_missing_cells(data):
    A, X = data
    gaps = np.where(np.random.RandomState(2).rand(*X.shape) < 0.3, np.nan, X)
    gaps[5] = np.nan
    coder = SparseCoder(A, alpha=0.1, tol=1e-9).fit(gaps)
    assert any("1 row has no observed cell" in sentence for sentence in coder.report_.warnings)
    with pytest.warns(UserWarning, match="1 row has no observed cell, and its code is 0"):
        Z = coder.transform(gaps)
    assert not Z[5].any()
    for x, z in zip(gaps[:5], Z):
        present = ~np.isnan(x)
        assert lasso_gap(x[None, present], z[None], A[:, present], 0.1)[0] <= 1e-9 * 0.5 * (x[present] ** 2).sum()
    assert np.allclose(lasso_gap(gaps, Z, A, 0.1), coder.quality(gaps).gap, rtol=1e-6, atol=1e-15)
    with pytest.warns(UserWarning, match="1 row has no observed cell, and is filled by a code of 0"):
        filled = coder.impute(gaps)
    present = ~np.isnan(gaps)
    assert np.array_equal(filled[present], X[present]) and np.allclose(filled[~present], (Z @ A)[~present])
    # Better than the mean of the column.
    assert ((filled - X)[~present] ** 2).mean() < 0.7 * (X[~present] ** 2).mean()


def test_codes_sparse_in_files_and_back(data, tmp_path):
    A, X = data
    coder = SparseCoder(A, alpha=0.2).fit(X)
    dense = coder.transform(X)
    sparse = SparseCoder(A, alpha=0.2, sparse_output=True).fit(X).transform(X)
    assert isinstance(sparse, scipy.sparse.csr_array) and np.array_equal(sparse.toarray(), dense)
    coder.encode(X, out=tmp_path / "codes.npz")
    assert np.array_equal(scipy.sparse.load_npz(tmp_path / "codes.npz").toarray(), dense)
    assert np.allclose(coder.decode(tmp_path / "codes.npz"), dense @ A)
    assert np.allclose(coder.inverse_transform(sparse), dense @ A)
    coder.save(tmp_path / "coder.safetensors")
    again = unmix.load(tmp_path / "coder.safetensors")
    assert np.array_equal(again.transform(X), dense) and np.array_equal(again.dictionary, A)
    by_path = SparseCoder(tmp_path / "coder.safetensors", alpha=0.2).fit(X)
    by_model = SparseCoder(coder, alpha=0.2).fit(X)
    assert np.array_equal(by_path.transform(X), dense) and np.array_equal(by_model.transform(X), dense)
    np.save(tmp_path / "atoms.npy", A)
    assert np.array_equal(SparseCoder(tmp_path / "atoms.npy", alpha=0.2).fit(X).transform(X), dense)


def test_single_precision(data):
    A, X = data
    coder = SparseCoder(A, alpha=0.2).fit(X.astype(np.float32))
    Z = coder.transform(X.astype(np.float32))
    assert Z.dtype == np.float32 and coder.report_.tol == 1e-5
    assert lasso_gap(X.astype(np.float32), Z, A.astype(np.float32), 0.2).max() <= 1.01e-5 * 0.5 * (X**2).sum(axis=1).max()
    # Rows of single precision are coded to the tolerance of a model of double precision.
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        SparseCoder(A, alpha=0.2).fit(X).transform(X.astype(np.float32))


def test_center_subtracts_means(data):
    A, X = data
    coder = SparseCoder(A, alpha=0.2, center=True).fit(X + 5)
    assert np.allclose(coder.mean_, X.mean(axis=0) + 5)
    assert np.allclose(coder.transform(X + 5), SparseCoder(A, alpha=0.2).fit_transform(X - X.mean(axis=0)), atol=1e-3)


def test_bad_input(data):
    A, X = data
    with_zeros = np.vstack([A, np.zeros((2, A.shape[1])), A[:1]])
    coder = SparseCoder(with_zeros, alpha=0.2).fit(X)
    message = " ".join(coder.report_.warnings)
    assert "2 atoms are zero" in message and "1 atom is a duplicate of an earlier one" in message
    assert not coder.transform(X)[:, -3:].any()
    high = SparseCoder(A, alpha=100.0).fit(X)
    assert not high.transform(X).any() and f"alpha_max = {abs(X @ A.T).max():.6f}e0" in " ".join(high.report_.warnings)
    for dictionary, words in [
        (A[:, :5], "24 columns, and the atoms have 5"),
        (np.zeros_like(A), "all atoms are zero"),
        (np.where(A == A[3, 4], np.nan, A), "row 3, column 4"),
        (None, "no dictionary was given"),
    ]:
        with pytest.raises(ValueError, match=words):
            SparseCoder(dictionary, alpha=0.2).fit(X)
    for alpha in (-1.0, 0.0, "some"):
        with pytest.raises(ValueError, match="alpha"):
            SparseCoder(A, alpha=alpha).fit(X)
    with pytest.raises(ValueError, match="orthogonal to every atom"):
        SparseCoder(A).fit(np.zeros_like(X))
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        short = SparseCoder(A, algorithm="ista", alpha=0.01, max_iter=2).fit(X)
    assert short.report_.outcome == "max_iter" and short.report_.not_converged == len(X)
    one = SparseCoder(A, alpha=0.2).fit(X[:1])
    assert one.transform(X[:1]).shape == (1, len(A))


def test_matching_pursuit_has_no_duality_gap_to_reach():
    draw = np.random.default_rng(0)
    atoms = draw.normal(size=(9, 7))
    coder = unmix.SparseCoder(atoms / np.linalg.norm(atoms, axis=1, keepdims=True), algorithm="omp", n_nonzero_coefs=2)
    report = coder.fit(draw.normal(size=(50, 7))).report_
    assert report.outcome == "completed" and not report.warnings


def test_bad_numbers_of_alphas_and_draws_are_refused():
    coder = unmix.SparseCoder(np.eye(3), alpha=0.1).fit(np.eye(3))
    with pytest.raises(ValueError, match="n_alphas must be an integer"):
        coder.path(np.eye(3), [0.5, 0.1])
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(ValueError, match="n_draws must be an integer"):
        unmix.PPCA(1).fit(X).impute(X, n_draws=2.5)


def test_alpha_is_by_the_largest_product_of_the_sign_that_codes_may_have():
    draw = np.random.default_rng(0)
    A, X = draw.normal(size=(6, 4)), draw.normal(size=(30, 4))
    products = X @ A.T
    for positive, sizes in ((False, abs(products).max(1)), (True, products.max(1))):
        for coder in (SparseCoder(A, positive_code=positive).fit(X), unmix.LISTA(A, positive_code=positive, max_epochs=0).fit(X)):
            assert coder.alpha_ == pytest.approx(0.1 * np.maximum(sizes, 0).mean())
            assert coder.report_.alpha_max == pytest.approx(sizes.max())


def test_rows_that_coordinate_descent_does_not_solve_are_solved_by_the_homotopy():
    draw = np.random.RandomState(0)
    A = draw.randn(20, 10)
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    X = draw.randn(200, 10)
    found = {name: SparseCoder(A, alpha=0.01, algorithm=name, random_state=0).fit(X) for name in ("cd", "lars")}
    assert found["cd"].report_.not_converged == 0 and found["cd"].report_.worst_gap <= 1e-6
    cost = {name: 0.5 * ((X - (z := model.transform(X)) @ A) ** 2).sum() + 0.01 * np.abs(z).sum() for name, model in found.items()}
    assert_allclose(cost["cd"], cost["lars"], rtol=1e-6)
    # The code of a row alone is that among others.
    assert_array_equal(found["cd"].transform(X[3:4]), found["cd"].transform(X)[3:4])


def test_debiased_codes_that_must_not_be_negative_are_non_negative_least_squares():
    draw = np.random.default_rng(0)
    A, X = draw.normal(size=(10, 8)), draw.normal(size=(50, 8))
    given = {"alpha": 0.05, "positive_code": True, "random_state": 0}
    before = SparseCoder(A, **given).fit(X).transform(X)
    model = SparseCoder(A, debias=True, **given).fit(X)
    codes = model.transform(X)
    for x, plain, code in zip(X, before, codes):
        used = plain != 0
        assert_allclose(code[used], optimize.nnls(A[used].T, x)[0] if used.any() else 0, atol=1e-9)
    assert np.isfinite(model.quality(X).gap).all()


def test_rows_without_a_positive_product_are_refused():
    draw = np.random.default_rng(0)
    A, X = -np.abs(draw.normal(size=(4, 3))), np.abs(draw.normal(size=(10, 3)))
    with pytest.raises(ValueError, match="no row of X has a positive inner product with an atom"):
        SparseCoder(A, positive_code=True).fit(X)
