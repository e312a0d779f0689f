"""The table of docs/scikit-learn.md, row by row: behaviour of scikit-learn, and behaviour of unmix."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA as Reference

from unmix import PCA

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

X = np.random.RandomState(0).randn(60, 5) @ np.diag([5.0, 4, 3, 2, 1]) + 7
WIDE = np.random.RandomState(0).randn(50, 500)
NAMES = list("abcde")


def test_auto_is_always_exact():
    rows = np.random.RandomState(0).randn(600, 510)
    theirs, ours = Reference(5, random_state=0).fit(rows), PCA(5, random_state=0).fit(rows)
    assert theirs._fit_svd_solver == "randomized" and ours.report_.solver in ("full", "covariance_eigh")
    exact = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)[:5] ** 2 / 599
    assert_allclose(ours.explained_variance_, exact, rtol=1e-10)
    assert np.abs(theirs.explained_variance_ / exact - 1).max() > 1e-4


def test_signs_do_not_depend_on_rounding():
    signs = {Reference: set(), PCA: set()}
    for seed in range(30):
        # The loadings are equal up to rounding errors, so the largest of them is arbitrary.
        rows = np.outer(np.random.RandomState(seed).randn(40), [1, -1, 1]) + 3
        for cls, seen in signs.items():
            seen.add(tuple(np.sign(cls(1).fit(rows).components_[0]).astype(int)))
    assert signs == {Reference: {(1, -1, 1), (-1, 1, -1)}, PCA: {(1, -1, 1)}}


def test_noise_of_wide_data_is_divided_by_the_directions_left_out():
    theirs, ours = Reference(10, svd_solver="full").fit(WIDE), PCA(10).fit(WIDE)
    left_out = WIDE.var(axis=0, ddof=1).sum() - ours.explained_variance_.sum()
    # White noise of variance 1, a part of which is explained by the ten largest components.
    assert_allclose(theirs.noise_variance_, left_out / (50 - 10))
    assert_allclose(ours.noise_variance_, left_out / (500 - 10))
    assert theirs.noise_variance_ > 8 and 0.5 < ours.noise_variance_ < 1


def test_likelihood_of_wide_data_with_all_components_is_finite():
    theirs, ours = Reference(svd_solver="full").fit(WIDE), PCA().fit(WIDE)
    assert theirs.noise_variance_ == ours.noise_variance_ == 0
    # scikit-learn inverts a singular matrix: whether the result is finite depends on the linear algebra library.
    assert np.linalg.matrix_rank(theirs.get_covariance()) < WIDE.shape[1]
    assert np.isfinite(ours.score_samples(WIDE)).all() and np.isfinite(ours.get_precision()).all()


def test_score_samples_of_single_precision_are_double():
    rows = X.astype(np.float32)
    assert Reference(2).fit(rows).score_samples(rows).dtype == np.float32
    assert PCA(2).fit(rows).score_samples(rows).dtype == np.float64


def test_components_beyond_the_rank_are_exactly_zero():
    rows = X[:, :3] @ np.random.RandomState(1).randn(3, 8)
    theirs = Reference(6, whiten=True, svd_solver="full").fit(rows)
    with pytest.warns(UserWarning, match="vary along 3 directions only, fewer than n_components=6"):
        ours = PCA(6, whiten=True).fit(rows)
    assert 0 < theirs.explained_variance_[3:].max() < 1e-25 and (ours.explained_variance_[3:] == 0).all()
    assert np.abs(theirs.transform(rows)[:, 3:]).max() > 0.1 and (ours.transform(rows)[:, 3:] == 0).all()


@pytest.mark.parametrize("rows", [np.ones((5, 3)), np.ones((1, 3))])
def test_rows_without_variance_are_an_error(rows):
    assert np.isnan(Reference().fit(rows).explained_variance_ratio_).all()
    with pytest.raises(ValueError, match="all 3 columns are constant over 5 rows|minimum of 2 is required by PCA"):
        PCA().fit(rows)


def test_numbers_that_are_not_finite_are_located():
    rows = X.copy()
    rows[7, 3] = np.nan
    with pytest.raises(ValueError, match=r"^Input X contains NaN\.") as theirs:
        Reference().fit(rows)
    with pytest.raises(ValueError, match=r"^Input X contains NaN\.\n.*row 7, column 3 is NaN"):
        PCA().fit(rows)
    assert "row 7" not in str(theirs.value)


def test_copy_false_overwrites_nothing():
    theirs, ours = X.copy(), X.copy()
    Reference(2, copy=False, svd_solver="full").fit(theirs)
    PCA(2, copy=False, svd_solver="full").fit(ours)
    assert (theirs != X).any()
    assert_array_equal(ours, X)


def test_fit_transform_is_fit_and_transform_to_the_bit():
    theirs, ours = Reference(2, svd_solver="full"), PCA(2, svd_solver="full")
    codes = theirs.fit_transform(X)
    assert (codes != theirs.transform(X)).any() and codes.flags.f_contiguous
    assert_allclose(codes, theirs.transform(X), atol=1e-12)
    codes = ours.fit_transform(X)
    assert_array_equal(codes, ours.transform(X))
    assert codes.flags.c_contiguous


def test_codes_have_the_type_of_the_rows():
    single = X.astype(np.float32)
    dtypes = {cls: [cls(2).fit(a).transform(b).dtype for a, b in [(single, X), (X, single)]] for cls in (Reference, PCA)}
    assert dtypes == {Reference: [np.float64, np.float64], PCA: [np.float64, np.float32]}


def test_fitted_arrays_are_read_only():
    theirs, ours = Reference(2).fit(X), PCA(2).fit(X)
    theirs.components_[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        ours.components_[0, 0] = 1


def test_one_draw_without_a_seed():
    np.random.seed(0)
    first = np.random.randint(10**9)
    np.random.seed(0)
    Reference(2, svd_solver="full").fit(X)
    assert np.random.randint(10**9) == first
    np.random.seed(0)
    draw, second = np.random.randint(2**31 - 1), np.random.randint(10**9)
    np.random.seed(0)
    model = PCA(2, svd_solver="full").fit(X)
    assert (model.report_.seed, np.random.randint(10**9)) == (draw, second)


def test_extra_columns_are_ignored():
    frame = pd.DataFrame(X, columns=NAMES)
    more = frame.assign(age=1.0)
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- age"):
        Reference(2).fit(frame).transform(more)
    model = PCA(2).fit(frame)
    with pytest.warns(UserWarning, match="ignored: age"):
        assert_array_equal(model.transform(more), model.transform(frame))


def test_a_path_is_accepted_as_rows(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises((TypeError, ValueError)):
        Reference(2).fit(tmp_path / "x.npy")
    assert_array_equal(PCA(2).fit(tmp_path / "x.npy").components_, PCA(2).fit(X).components_)


def test_fitted_attributes_cannot_be_assigned():
    theirs = Reference(2).fit(X)
    before = theirs.transform(X)
    theirs.components_ = -theirs.components_
    assert_allclose(theirs.transform(X), -before)
    with pytest.raises(AttributeError, match="components_ of a fitted PCA cannot be assigned"):
        PCA(2).fit(X).components_ = np.eye(5)[:2]


def test_settings_without_effect_give_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Reference(2, svd_solver="full", n_oversamples=3).fit(X)
    with pytest.warns(UserWarning, match="n_oversamples=3 has no effect here"):
        PCA(2, svd_solver="full", n_oversamples=3).fit(X)


def test_oversampling_may_be_zero():
    with pytest.raises(ValueError, match="n_oversamples"):
        Reference(2, svd_solver="randomized", n_oversamples=0).fit(X)
    ours = PCA(2, svd_solver="randomized", n_oversamples=0, iterated_power=100, random_state=0).fit(X)
    assert_allclose(ours.explained_variance_, PCA(2).fit(X).explained_variance_, rtol=1e-9)


def test_the_repr_shows_the_outcome():
    assert repr(Reference(2).fit(X)) == repr(PCA(2)) == "PCA(n_components=2)"
    assert repr(PCA(2).fit(X)) == "PCA(n_components=2)  # completed: 2 components of 60 x 5 numbers"
