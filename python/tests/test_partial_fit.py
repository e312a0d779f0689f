"""Sample weights, partial fits, merged models, PCA about 0, and standardized columns."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA as Reference
from sklearn.decomposition import IncrementalPCA
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

import unmix
from unmix import PCA

RANDOM = np.random.RandomState(0)
X = RANDOM.randn(300, 8) @ RANDOM.randn(8, 8) + 5
WEIGHTS = RANDOM.randint(0, 4, 300)


def by_batches(batches, **parameters):
    pca = PCA(**parameters)
    for batch in batches:
        assert pca.partial_fit(batch) is pca
    return pca


def same_bits(a, b):
    for name in ["components_", "explained_variance_", "mean_", "noise_variance_", "singular_values_"]:
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "krylov"])
@pytest.mark.parametrize("rows", [slice(None), slice(0, 7)])
def test_a_weight_is_a_number_of_repetitions(solver, rows):
    k = 3 if solver == "krylov" else None
    a = PCA(k, svd_solver=solver).fit(X[rows], sample_weight=WEIGHTS[rows])
    b = PCA(k, svd_solver=solver).fit(np.repeat(X[rows], WEIGHTS[rows], axis=0))
    assert_allclose(a.explained_variance_, b.explained_variance_, rtol=1e-9, atol=1e-12 * b.explained_variance_[0])
    assert_allclose(a.components_, b.components_, atol=1e-8)
    assert a.n_samples_ == WEIGHTS[rows].sum() and isinstance(a.n_samples_, int)
    assert_allclose(a.transform(X), b.transform(X), atol=1e-8)


def test_weights_may_be_fractions_a_number_or_a_list():
    half = PCA().fit(X, sample_weight=np.full(300, 0.5))
    assert (half.n_samples_, half.report_.n_rows, PCA().fit(X).report_.n_rows) == (150, 300, None)
    assert PCA().fit(X, sample_weight=[0.25] * 299 + [0.5]).n_samples_ == 75.25
    same_bits(PCA().fit(X, sample_weight=1), PCA().fit(X))
    codes = PCA(2).fit_transform(X, sample_weight=WEIGHTS)
    assert_array_equal(codes, PCA(2).fit(X, sample_weight=WEIGHTS).transform(X))


@pytest.mark.parametrize(
    "weights, words",
    [
        (np.r_[-1, np.ones(299)], "finite and non-negative, got -1 in row 0"),
        (np.r_[1, np.nan, np.ones(298)], "got NaN in row 1"),
        (np.ones(299), "one weight for each of the 300 rows of X, got 299 weights"),
        (np.full(300, 1e-3), "more than 1"),
        (np.zeros(300), "all zero"),
        (np.ones((300, 2)), "Sample weights must be 1D array or scalar"),
    ],
)
def test_bad_weights_are_refused(weights, words):
    pca = PCA()
    with pytest.raises(ValueError, match=words):
        pca.fit(X, sample_weight=weights)
    assert not hasattr(pca, "components_")


def test_a_row_of_weight_0_may_hold_anything():
    holed = X.copy()
    holed[3] = np.nan
    weights = np.ones(300)
    with pytest.raises(ValueError, match="NaN"):
        PCA().fit(holed, sample_weight=weights)
    weights[3] = 0
    a = PCA().fit(holed, sample_weight=weights)
    assert_allclose(a.explained_variance_, PCA().fit(np.delete(X, 3, axis=0)).explained_variance_, rtol=1e-12)


def test_batches_of_any_size_give_one_result_to_the_bit():
    whole = by_batches([X])
    for cuts in [[1], [1, 2, 3], [150], range(1, 300), [255, 256, 257]]:
        same_bits(by_batches(np.split(X, list(cuts))), whole)
    fit = PCA(svd_solver="covariance_eigh").fit(X)
    assert_allclose(whole.explained_variance_, fit.explained_variance_, rtol=1e-12)
    assert_allclose(whole.components_, fit.components_, atol=1e-10)
    assert whole.n_samples_ == 300 and whole.report_.solver == "covariance_eigh"


def test_the_noise_is_that_of_all_batches():
    # Incremental singular value decompositions keep a residual of the last batch only, and lose the variance discarded before.
    rows = RANDOM.randn(4000, 5) @ RANDOM.randn(5, 30) + 0.5 * RANDOM.randn(4000, 30)
    batches = np.array_split(rows, 80)
    ours = by_batches(batches, n_components=5)
    assert_allclose(ours.noise_variance_, 0.25, rtol=0.05)
    theirs = IncrementalPCA(5)
    for batch in batches:
        theirs.partial_fit(batch)
    assert theirs.noise_variance_ < 0.01


def test_the_model_is_computed_on_access():
    pca = PCA(n_components=3)
    pca.partial_fit(X[:1])
    assert "growing: 1 row so far" in repr(pca) and pca.n_features_in_ == 8
    with pytest.raises(NotFittedError, match="at least 2 rows"):
        pca.transform(X)
    assert not hasattr(pca, "components_")
    pca.partial_fit(X[1:2])
    with pytest.raises(NotFittedError, match="n_components"):
        pca.components_
    pca.partial_fit(X[2:])
    assert pca.components_.shape == (3, 8) and pca.n_samples_ == 300
    assert_array_equal(pca.transform(X), by_batches([X], n_components=3).transform(X))
    first = pca.components_.copy()
    pca.partial_fit(10 * X[:, ::-1])
    assert pca.n_samples_ == 600 and not np.allclose(pca.components_, first)


@pytest.mark.parametrize(
    "estimator, words",
    [
        (PCA("parallel"), "n_components='parallel' is not possible: this rule needs the rows.*choose a number, a share, 'mle', 'bic'"),
        (PCA("cv"), "n_components='cv' is not possible: this rule needs the rows.*'gap', 'gap-difference' or 'gavish-donoho'"),
        (unmix.PPCA("cells"), "n_components='cells' is not possible: this rule needs the rows.*choose a number, or leave it out"),
        (unmix.PPCA(2, algorithm="em"), "algorithm='em' is not possible: iterations need the rows.*choose 'auto' or 'closed-form'"),
        (unmix.FactorAnalysis("parallel"), "n_components='parallel' is not possible: this rule needs the rows.*or 'bic'"),
    ],
)
def test_settings_that_need_the_rows_are_refused_with_the_first_batch(estimator, words):
    with pytest.raises(ValueError, match=words):
        estimator.partial_fit(X)
    # Nothing was added.
    assert not hasattr(estimator, "components_")
    estimator.set_params(n_components=2)
    if "algorithm" in estimator.get_params() and isinstance(estimator, unmix.PPCA):
        estimator.set_params(algorithm="auto")
    assert estimator.partial_fit(X).n_samples_ == 300


def test_a_batch_that_fails_leaves_everything_as_it_was():
    pca = by_batches([X[:100]])
    pca.components_
    bad = X.copy()
    bad[7, 2] = np.inf
    with pytest.raises(ValueError, match="row 7, column 2"):
        pca.partial_fit(bad)
    with pytest.raises(ValueError, match="expecting 8 features"):
        pca.partial_fit(X[:, :5])
    same_bits(pca.partial_fit(X[100:]), by_batches([X]))


def test_fit_and_partial_fit_do_not_mix_silently():
    pca = PCA().fit(X[:50])
    with pytest.warns(UserWarning, match="partial_fit starts a new model"):
        pca.partial_fit(X)
    same_bits(pca, by_batches([X]))
    assert pca.fit(X[:50]).n_samples_ == 50
    assert not hasattr(clone(by_batches([X])), "components_")


@pytest.mark.parametrize("carry", [copy.copy, copy.deepcopy, lambda pca: pickle.loads(pickle.dumps(pca))])
@pytest.mark.parametrize("n_first", [1, 100])
def test_copies_are_updated_independently(carry, n_first):
    pca = by_batches([X[:n_first]])
    copied = carry(pca)
    same_bits(copied.partial_fit(X[n_first:]), by_batches([X]))
    same_bits(pca.partial_fit(X[n_first:200]), by_batches([X[:200]]))


def test_saved_sums_are_continued(tmp_path):
    by_batches([X[:77]]).save(tmp_path / "m.safetensors")
    back = unmix.load(tmp_path / "m.safetensors")
    same_bits(back.partial_fit(X[77:]), by_batches([X]))


def test_single_precision_is_kept():
    pca = by_batches(np.array_split(X.astype(np.float32), 3))
    assert pca.components_.dtype == np.float32
    assert_allclose(pca.explained_variance_, PCA().fit(X).explained_variance_, rtol=1e-4)


def test_frames_and_files_are_batches_too(tmp_path):
    pandas = pytest.importorskip("pandas")
    names = [f"c{i}" for i in range(8)]
    frame = pandas.DataFrame(X, columns=names)
    frame[100:].to_csv(tmp_path / "rest.csv", index=False)
    pca = PCA().partial_fit(frame[:100]).partial_fit(tmp_path / "rest.csv")
    same_bits(pca, by_batches([X]))
    assert list(pca.feature_names_in_) == names
    np.save(tmp_path / "x.npy", X)
    same_bits(PCA().partial_fit(tmp_path / "x.npy"), by_batches([X]))


def test_models_whose_columns_are_in_another_order_are_merged_by_name():
    pandas = pytest.importorskip("pandas")
    names = [f"c{i}" for i in range(8)]
    frame = pandas.DataFrame(X, columns=names)
    a = PCA(3).partial_fit(frame[:120])
    merged = a.merge(PCA(3).partial_fit(frame[120:][names[::-1]]))
    fit = PCA(3).fit(frame)
    assert list(merged.feature_names_in_) == names
    assert_allclose(merged.components_, fit.components_, atol=1e-9)
    assert_allclose(merged.mean_, fit.mean_)
    with pytest.raises(ValueError, match=r"only the first has 'c7', and only the second has 'other'"):
        a.merge(PCA(3).partial_fit(frame[120:].rename(columns={"c7": "other"})))


def test_merged_models_are_models_of_all_rows():
    a, b = by_batches([X[:120]], n_components=4), by_batches([X[120:]], n_components=4)
    merged = a.merge(b)
    fit = PCA(4).fit(X)
    assert merged is not a and merged.n_samples_ == 300 and a.n_samples_ == 120
    assert_allclose(merged.explained_variance_, fit.explained_variance_, rtol=1e-12)
    assert_allclose(merged.components_, fit.components_, atol=1e-10)
    assert merged.merge(a).partial_fit(X).n_samples_ == 720
    with pytest.raises(ValueError, match="the second holds no sums"):
        a.merge(fit)
    with pytest.raises(ValueError, match="different numbers of columns|merging sums"):
        a.merge(by_batches([X[:, :5]]))


def test_weights_in_batches():
    pca = PCA()
    for rows, weights in zip(np.split(X, 3), np.split(WEIGHTS, 3)):
        pca.partial_fit(rows, sample_weight=weights)
    assert_allclose(pca.explained_variance_, PCA().fit(X, sample_weight=WEIGHTS).explained_variance_, rtol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh"])
@pytest.mark.parametrize("rows", [slice(None), slice(0, 6)])
def test_standardized_pca_is_a_scaler_and_a_pca(solver, rows):
    units = X * 10.0 ** np.arange(-4, 4)
    scaler = StandardScaler().fit(units[rows])
    theirs = Reference().fit(scaler.transform(units[rows]))
    ours = PCA(standardize=True, svd_solver=solver).fit(units[rows])
    # StandardScaler divides by n, unmix by n - 1.
    n = len(units[rows])
    assert_allclose(ours.noise_scale_, scaler.scale_ * np.sqrt(n / (n - 1)), rtol=1e-12)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, atol=1e-12)
    assert_allclose(ours.inverse_transform(ours.transform(units[rows])), units[rows], rtol=1e-8)
    y = ours.transform(units[rows])
    assert_allclose(ours.inverse_transform(y), y @ ours.mixing_.T + ours.mean_, rtol=1e-9)
    if n > 8:
        covariance = ours.get_covariance()
        assert_allclose(covariance, np.cov(units.T), rtol=1e-6, atol=1e-9 * np.abs(covariance).max())
        assert_allclose(ours.get_precision() @ covariance, np.eye(8), atol=1e-6)
        assert_allclose(ours.score(units), Reference().fit(units).score(units), rtol=1e-6)


def test_uncentred_pca_is_the_svd_of_the_rows():
    ours = PCA(center=False, svd_solver="full").fit(X)
    _, s, vt = np.linalg.svd(X, full_matrices=False)
    assert_allclose(ours.singular_values_, s, rtol=1e-12)
    assert_allclose(np.abs(np.sum(ours.components_ * vt, axis=1)), 1, atol=1e-12)
    assert_array_equal(ours.mean_, 0)
    assert_allclose(ours.inverse_transform(ours.transform(X)), X, atol=1e-10)


def test_zca_is_white_and_nearest_to_the_rows():
    pca = PCA(whiten="zca").fit(X)
    white = pca.transform(X)
    assert white.shape == X.shape
    assert_allclose(np.cov(white.T), np.eye(8), atol=1e-9)
    # ZCA whitening is nearest to the data: the cross-covariance with the columns is symmetric.
    cross = white.T @ (X - X.mean(axis=0))
    assert_allclose(cross, cross.T, atol=1e-7)
    assert_allclose(pca.inverse_transform(white), X, atol=1e-9)
    assert_allclose(pca.second_rotation_, pca.components_)
    few = PCA(3, whiten="zca").fit(X)
    assert few.transform(X).shape == X.shape and few.components_.shape == (3, 8)
    assert list(few.get_feature_names_out()) == [f"pca{i}" for i in range(8)]
    assert_allclose(pca.score(X), Reference().fit(X).score(X), rtol=1e-9)


def test_batches_of_small_weights_count_as_the_rows_that_they_are():
    weights = np.full(300, 0.005)
    whole = PCA().fit(X, sample_weight=weights)
    grown = PCA().partial_fit(X[:120], sample_weight=weights[:120]).partial_fit(X[120:], sample_weight=weights[120:])
    assert grown.n_components_ == whole.n_components_
    assert_allclose(grown.explained_variance_, whole.explained_variance_, rtol=1e-8)
    with pytest.raises(NotFittedError, match="more than 1"):
        _ = PCA().partial_fit(X, sample_weight=weights / 2).components_


@pytest.mark.parametrize("keep", [pickle.dumps, copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
@pytest.mark.parametrize("estimator", [unmix.PCA, unmix.PPCA, unmix.FactorAnalysis], ids=lambda e: e.__name__)
def test_a_copy_leaves_the_sums_of_the_original(estimator, keep):
    X = np.random.default_rng(0).normal(size=(120, 7)) @ np.diag([5, 4, 3, 2, 1, 1, 1.0])
    fitted = estimator(2, random_state=0).partial_fit(X)
    fitted.transform(X)
    keep(fitted)
    fitted.partial_fit(X)
    assert fitted.n_samples_ == 240
