"""Sparse rows in Python: every format, number type and index type of scipy's."""

import resource
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.decomposition import PCA as Reference

import unmix
from unmix import PCA, metrics

N, P = 300, 40


def rows(dtype=np.float64, n=N, p=P):
    """Sparse rows with a few dominant directions, and one dense column."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, p)) * (rng.uniform(size=(n, p)) < 0.15) * np.linspace(3, 0.5, p)
    X[:, : p // 8] += rng.standard_normal((n, 1)) * (rng.uniform(size=(n, 1)) < 0.5)
    X[:, -1] = 10 + rng.standard_normal(n)
    return X.astype(dtype)


X = rows()


def agree(ours, theirs, rtol):
    assert_allclose(ours.mean_, theirs.mean_, rtol=rtol, atol=rtol)
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=rtol)
    assert_allclose(ours.components_, theirs.components_, atol=1e3 * rtol)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=rtol)


@pytest.mark.parametrize("solver", ["auto", "covariance_eigh", "arpack", "krylov", "power", "deflation", "randomized"])
def test_every_solver_but_full_accepts_sparse_rows(solver):
    S = sparse.csr_array(X)
    ours = PCA(3, svd_solver=solver, iterated_power=2000, random_state=0).fit(S)
    agree(ours, PCA(3, svd_solver="full").fit(X), 1e-9)
    with pytest.raises(TypeError, match='only support sparse inputs with the "arpack" and "covariance_eigh" solvers'):
        PCA(3, svd_solver="full").fit(S)
    if solver in ("covariance_eigh", "arpack"):
        theirs = Reference(3, svd_solver=solver, random_state=0).fit(S)
        assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-8)
        assert_allclose(np.abs(np.sum(ours.components_ * theirs.components_, axis=1)), 1, rtol=1e-6)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("container", ["matrix", "array"])
def test_every_format_gives_the_same(kind, container):
    S = getattr(sparse, f"{kind}_{container}")(X)
    model, want = PCA(4).fit(S), PCA(4).fit(sparse.csr_array(X))
    assert_array_equal(model.components_, want.components_)
    assert_array_equal(model.transform(S), want.transform(sparse.csr_array(X)))
    assert_array_equal(PCA(4).fit_transform(S), model.transform(S))


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, bool])
def test_every_type_is_computed_as_its_dense_rows_are(index, dtype):
    dense = (X * 10).astype(dtype)
    S = sparse.csr_array(dense)
    S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    before = [S.data.copy(), S.indices.copy(), S.indptr.copy()]
    model, want = PCA(3).fit(S), PCA(3, svd_solver="covariance_eigh").fit(dense)
    single = dense.dtype == np.float32
    assert model.components_.dtype == model.transform(S).dtype == (np.float32 if single else np.float64)
    agree(model, want, 1e-5 if single else 1e-11)
    for now, then in zip([S.data, S.indices, S.indptr], before):
        assert_array_equal(now, then)
        assert now.dtype == then.dtype


def test_order_repeats_and_stored_zeros_do_not_matter():
    S = sparse.csr_array(X)
    data, indices, indptr = [], [], [0]
    for i in range(N):
        of = slice(S.indptr[i], S.indptr[i + 1])
        data += [*(S.data[of][::-1] / 2), 0.0, *(S.data[of] / 2)]
        indices += [*S.indices[of][::-1], 2, *S.indices[of]]
        indptr.append(len(data))
    unordered = sparse.csr_array((np.array(data), np.array(indices), np.array(indptr)), shape=X.shape)
    agree(PCA(3).fit(unordered), PCA(3).fit(S), 1e-13)
    assert_allclose(PCA(3).fit_transform(unordered), PCA(3).fit_transform(S), atol=1e-12)


@pytest.mark.parametrize("whiten", [False, True])
def test_sparse_rows_give_what_dense_rows_give(whiten):
    S = sparse.csc_array(X)
    model = PCA(5, whiten=whiten).fit(S)
    assert_allclose(model.transform(S), model.transform(X), atol=1e-12)
    assert_allclose(model.score_samples(S), model.score_samples(X), rtol=1e-12)
    assert_allclose(model.score(S), model.score(X), rtol=1e-12)
    assert_allclose(model.inverse_transform(model.transform(S)), model.inverse_transform(model.transform(X)), atol=1e-10)
    for i in [0, 100]:
        assert_array_equal(model.transform(S[[i]]), model.transform(S)[[i]])
    agree(PCA(0.7).fit(S), PCA(0.7, svd_solver="covariance_eigh").fit(X), 1e-11)


def test_a_column_far_from_zero_costs_sparse_rows_no_digits():
    far = X.copy()
    far[:, -1] += 1e6
    S = sparse.csr_array(far)
    model = PCA(4).fit(S)
    assert_allclose(model.explained_variance_, PCA(4).fit(X).explained_variance_, rtol=1e-9)
    assert_allclose(model.transform(S), model.transform(far), atol=1e-11)


def test_numbers_that_are_not_finite_are_found_where_they_are_stored():
    for value, words in [(np.nan, "Input X contains NaN"), (-np.inf, "Input X contains infinity")]:
        S = sparse.csr_array(X)
        S.data[S.indptr[7]] = value
        model = PCA(2).fit(sparse.csr_array(X))
        for call in [PCA(2).fit, PCA(2, svd_solver="krylov").fit, model.transform]:
            with pytest.raises(ValueError, match=words) as e:
                call(S)
            assert f"row 7, column {S.indices[S.indptr[7]]} is" in str(e.value)


def test_sparse_rows_too_large_to_be_dense_are_fitted():
    # 160 GB in dense form; the stored entries take 12 MB.
    n, p, stored = 200_000, 100_000, 1_000_000
    rng = np.random.RandomState(0)
    at = rng.randint(n, size=stored), rng.randint(p, size=stored)
    values = rng.standard_normal(stored)
    group = np.arange(n) % 7
    values = np.concatenate([values, 60 / (1 + group)])
    at = np.concatenate([at[0], np.arange(n)]), np.concatenate([at[1], group * 1000])
    S = sparse.coo_array((values, at), shape=(n, p)).tocsr()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = PCA(5).fit(S)
    codes = model.transform(S)
    scale = 1 if sys.platform == "darwin" else 1024
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * scale < 2e9
    assert model.report_.solver == "krylov"
    assert model.report_.outcome == "converged"
    assert_allclose(codes.var(axis=0, ddof=1), model.explained_variance_, rtol=1e-9)
    assert_allclose(codes.mean(axis=0), 0, atol=1e-10)


def test_a_file_of_scipy_gives_the_model_of_its_matrix(tmp_path):
    for kind in ["csr", "csc"]:
        for compressed in [False, True]:
            S = sparse.csr_array(X).asformat(kind)
            path = tmp_path / "rows.npz"
            sparse.save_npz(path, S, compressed=compressed)
            model = PCA(3).fit(path)
            assert_array_equal(model.components_, PCA(3).fit(S).components_)
            assert_array_equal(model.transform(path), model.transform(S))
            read = unmix.read(path)
            assert isinstance(read, sparse.csr_array) and read.nnz == S.nnz and unmix.open(path).head(3).shape == (3, P)
            assert_array_equal(read.toarray(), X)
            assert not unmix.open(path).missing.any()
            # Where all entries are needed, they are read.
            assert_array_equal(metrics.mutual_information(path), metrics.mutual_information(X))


@pytest.mark.parametrize("settings", [{}, {"standardize": True}, {"center": False}, {"whiten": "zca"}])
def test_weights_and_units_are_those_of_dense_rows(settings):
    weights = np.arange(N) % 3
    model = PCA(3, **settings).fit(sparse.csr_array(X), sample_weight=weights)
    want = PCA(3, svd_solver="covariance_eigh", **settings).fit(X, sample_weight=weights)
    assert model.n_samples_ == weights.sum()
    agree(model, want, 1e-11)
    assert_allclose(model.transform(sparse.csr_array(X)), want.transform(X), atol=1e-9)


def test_batches_may_be_sparse():
    model, want = PCA(3), PCA(3)
    for start in range(0, N, 100):
        model.partial_fit(sparse.csr_array(X[start : start + 100]))
        want.partial_fit(X[start : start + 100])
    assert_array_equal(model.components_, want.components_)


def test_frames_of_sparse_columns_keep_their_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(X), columns=[f"c{j}" for j in range(P)])
    model = PCA(3).fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    agree(model, PCA(3).fit(X), 1e-11)
