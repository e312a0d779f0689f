"""PCA in Python: results, attributes, errors."""

import copy
import functools
import pickle
import re
import warnings

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA as Reference
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unmix
from unmix import PCA

DIGITS = load_digits().data
SOLVERS = ["auto", "full", "covariance_eigh"]


def signs(ours, theirs):
    """1 or -1 for each component, because sign conventions differ."""
    return np.sign(np.sum(ours.components_ * theirs.components_, axis=1))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("rows", [1797, 40])
def test_digits_agree_with_scikit_learn(solver, whiten, rows):
    X = DIGITS[:rows]
    ours = PCA(12, svd_solver=solver, whiten=whiten).fit(X)
    theirs = Reference(12, svd_solver="full", whiten=whiten).fit(X)
    s = signs(ours, theirs)
    for name in ["explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"]:
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10, atol=1e-13, err_msg=name)
    assert_allclose(ours.components_, s[:, None] * theirs.components_, atol=1e-9)
    codes = ours.transform(X)
    assert_allclose(codes, s * theirs.transform(X), atol=1e-8)
    assert_allclose(ours.inverse_transform(codes), theirs.inverse_transform(theirs.transform(X)), atol=1e-8)
    assert (ours.n_samples_, ours.n_features_in_, ours.n_components_) == (rows, 64, 12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_likelihood_agrees_with_scikit_learn(solver):
    ours = PCA(12, svd_solver=solver).fit(DIGITS)
    theirs = Reference(12, svd_solver="full").fit(DIGITS)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-10)
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-9)
    assert_allclose(ours.get_precision(), theirs.get_precision(), atol=1e-9)
    assert_allclose(ours.score_samples(DIGITS), theirs.score_samples(DIGITS), rtol=1e-9)
    assert_allclose(ours.score(DIGITS), theirs.score(DIGITS), rtol=1e-10)


@pytest.mark.parametrize("n_components", ["mle", 0.9, 0.35, None, 0])
def test_the_number_of_components_agrees_with_scikit_learn(n_components):
    # The three pixels that are always blank would give log(0) in scikit-learn's evidence.
    X = DIGITS[:, DIGITS.std(axis=0) > 0.3]
    theirs = Reference(n_components, svd_solver="full").fit(X)
    assert PCA(n_components).fit(X).n_components_ == theirs.n_components_


def test_the_likelihood_of_a_whitened_model_is_scikit_learns():
    # scikit-learn multiplies unit rows by the standard deviations once too often; the drop-in class does the same, the model file does
    # not.
    whitened, theirs = PCA(5, whiten=True).fit(DIGITS), Reference(5, whiten=True, svd_solver="full").fit(DIGITS)
    assert_allclose(whitened.get_covariance(), theirs.get_covariance(), rtol=1e-9, atol=1e-9)
    assert_allclose(whitened.get_precision(), theirs.get_precision(), rtol=1e-9, atol=1e-9)
    assert_allclose(whitened.score_samples(DIGITS), theirs.score_samples(DIGITS), rtol=1e-9)
    plain = PCA(5).fit(DIGITS)
    assert plain.score(DIGITS) > whitened.score(DIGITS)
    assert_array_equal(plain.components_, whitened.components_)


def test_the_noise_of_wide_data_is_a_mean_over_all_directions_left_out():
    # scikit-learn 1.9 divides by min(n, p) - k, which gives 9 here for white noise of variance 1.
    X = np.random.RandomState(0).randn(50, 500)
    model = PCA(10).fit(X)
    total = X.var(axis=0, ddof=1).sum()
    assert_allclose(model.noise_variance_, (total - model.explained_variance_.sum()) / 490, rtol=1e-10)
    assert 0.5 < model.noise_variance_ < 1.0
    assert_allclose(np.trace(model.get_covariance()), total, rtol=1e-10)
    assert PCA().fit(X).noise_variance_ == 0


@pytest.mark.parametrize("whiten", [False, True])
def test_attributes_agree_with_transform(whiten):
    model = PCA(4, whiten=whiten).fit(DIGITS)
    codes = model.transform(DIGITS)
    assert_allclose(model.scale_**2, model.explained_variance_)
    assert_array_equal(model.rotation_, model.components_.T)
    assert_allclose(codes @ model.mixing_.T + model.mean_, model.inverse_transform(codes), atol=1e-10)
    deviations = np.ones(4) if whiten else model.scale_
    assert_allclose(codes.std(axis=0, ddof=1), deviations, rtol=1e-10)
    largest = np.abs(model.components_).argmax(axis=1)
    assert (model.components_[np.arange(4), largest] > 0).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_below_the_rank_variances_and_whitened_codes_are_exactly_zero(solver):
    rng = np.random.RandomState(0)
    X = rng.randn(300, 4) @ rng.randn(4, 12) + 7
    with pytest.warns(UserWarning, match="vary along 4 directions only, fewer than n_components=9"):
        model = PCA(9, whiten=True, svd_solver=solver).fit(X)
    assert model.report_.rank == 4
    assert (model.explained_variance_[4:] == 0).all() and (model.explained_variance_[:4] > 0).all()
    codes = model.transform(X)
    assert (codes[:, 4:] == 0).all()
    assert_allclose(model.components_ @ model.components_.T, np.eye(9), atol=1e-12)


def test_constant_columns_are_counted_without_a_warning(recwarn):
    X = DIGITS.copy()
    X[:, [3, 9]] = 5
    model = PCA(5).fit(X)
    assert not recwarn.list
    assert model.report_.n_constant == int((X.std(axis=0) == 0).sum()) == 5
    assert (model.components_[:, [3, 9]] == 0).all()
    assert "5 of 64 columns do not vary" in model.report_.warnings[0]


def test_single_precision_keeps_its_digits_with_a_large_mean():
    rng = np.random.RandomState(0)
    X = (1e6 + rng.randn(20_000, 6) * [30, 20, 15, 10, 8, 5]).astype(np.float32)
    single, double = PCA(3).fit(X), PCA(3).fit(X.astype(np.float64))
    assert single.components_.dtype == single.mean_.dtype == single.transform(X).dtype == np.float32
    assert single.noise_variance_.dtype == single.get_covariance().dtype == np.float32
    assert_allclose(single.explained_variance_, double.explained_variance_, rtol=1e-5)
    assert_allclose(single.components_, double.components_, atol=1e-4)
    assert_allclose(single.transform(X), double.transform(X), atol=0.2)  # Single-precision numbers near the mean have a spacing of 0.06.


def test_the_report_describes_the_fit():
    report = PCA(5, random_state=11, svd_solver="full").fit(DIGITS).report_
    assert (report.outcome, report.n_iter, report.sweeps, report.solver) == ("completed", 1, 1, "full")
    assert (report.n_samples, report.n_features, report.dtype, report.rank) == (1797, 64, "float64", 61)
    assert (report.objective, report.residual, report.tol, report.seed) == ([], None, None, 11)
    assert report.seconds > 0 and report.threads >= 1 and report.processor
    assert report.settings["svd_solver"] == "full"
    assert report.to_dict()["rank"] == 61


def test_seeds_come_from_random_state():
    seed = lambda state: PCA(random_state=state).fit(DIGITS[:50]).report_.seed  # noqa: E731
    assert seed(5) == 5
    assert seed(np.random.RandomState(3)) == np.random.RandomState(3).randint(2**31 - 1)
    np.random.seed(8)
    assert seed(None) == np.random.RandomState(8).randint(2**31 - 1)


def test_copies_and_pickles_and_files_hold_the_same_model(tmp_path):
    model = PCA(5, whiten=True, random_state=0).fit(DIGITS)
    model.save(tmp_path / "digits.safetensors")
    joblib.dump(model, tmp_path / "digits.joblib")
    again = [
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        joblib.load(tmp_path / "digits.joblib"),
        unmix.load(tmp_path / "digits.safetensors"),
    ]
    for other in again:
        assert type(other) is PCA and other.whiten is True and other.n_components == 5
        assert_array_equal(other.transform(DIGITS), model.transform(DIGITS))
        assert_array_equal(other.components_, model.components_)
        assert other._model.to_bytes() == (tmp_path / "digits.safetensors").read_bytes()
        assert other.report_ == model.report_
    # The pickle contains the parameters only once.
    assert len(pickle.dumps(model)) < 1.3 * len(model._model.to_bytes()) + 500
    assert not hasattr(clone(model), "components_")


def test_arrays_of_a_model_are_read_only():
    model = PCA(2).fit(DIGITS)
    with pytest.raises(ValueError, match="read-only"):
        model.components_[0, 0] = 1


def test_parameters_outlive_their_estimator():
    components = PCA(2).fit(DIGITS).components_
    expected = PCA(2).fit(DIGITS).components_
    [PCA(2).fit(np.random.rand(50, 64)) for _ in range(20)]
    assert_array_equal(components, expected)


def test_the_repr_and_the_summary_show_the_outcome():
    model = PCA(2)
    assert repr(model) == "PCA(n_components=2)"
    assert repr(model.fit(DIGITS)).startswith("PCA(n_components=2)  # completed: 2 components")
    assert "1,797 x 64" in model.summary() and "cumulative" in model.summary()


def test_it_is_a_step_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), PCA(3)).fit(DIGITS)
    assert pipeline.transform(DIGITS).shape == (1797, 3)
    assert_array_equal(pipeline.get_feature_names_out(), ["pca0", "pca1", "pca2"])


@pytest.mark.parametrize("copy_", [True, False])
def test_rows_are_never_overwritten(copy_):
    X = DIGITS.copy()
    PCA(5, copy=copy_, svd_solver="full").fit_transform(X)
    assert_array_equal(X, DIGITS)


def test_parameters_that_are_only_accepted_give_one_warning():
    def said(fit):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit()
        return [str(w.message) for w in caught]

    ending = "has no effect: it is accepted for compatibility with scikit-learn"
    normalised = PCA(2, power_iteration_normalizer="LU", svd_solver="full")
    for fit in (lambda: normalised.fit(DIGITS), lambda: normalised.fit_transform(DIGITS)):
        assert [w for w in said(fit) if ending in w] == [f"power_iteration_normalizer='LU' {ending}"]
    grown = clone(normalised).set_params(svd_solver="covariance_eigh")
    assert [w for w in said(lambda: grown.partial_fit(DIGITS).components_) if ending in w] == [f"power_iteration_normalizer='LU' {ending}"]
    factors = unmix.FactorAnalysis(2, iterated_power=4)
    assert [w for w in said(lambda: factors.fit(DIGITS[:, 20:30])) if ending in w] == [f"iterated_power=4 {ending}"]
    # Arrays are never modified, so that nothing is lost by `copy`; the decomposition is exact, and bases are orthonormal, as these ask.
    exact = unmix.FactorAnalysis(2, svd_method="lapack")
    for estimator in (PCA(2, copy=False), unmix.FactorAnalysis(2, copy=False), exact, PCA(2, power_iteration_normalizer="QR")):
        assert not [w for w in said(functools.partial(estimator.fit, DIGITS[:, 20:30])) if ending in w]


def bad(value, at=(7, 3), dtype=np.float64):
    X = DIGITS.astype(dtype)
    X[at] = value
    return X


@pytest.mark.parametrize(
    "X, message",
    [
        (bad(np.nan), "Input X contains NaN.\npca needs finite numbers, but row 7, column 3 is NaN"),
        (bad(np.inf), "Input X contains infinity or a value too large for dtype('float64').\npca needs finite numbers"),
        (bad(-np.inf, dtype=np.float32), "Input X contains infinity or a value too large for dtype('float32').\n"),
        (bad(np.nan)[:, ::-1], "row 7, column 60 is NaN"),
        (bad(np.nan).T, "row 3, column 7 is NaN"),
        (bad(1e300), "the sum exceeds the largest number of float64"),
        (np.ones((5, 3)), "needs a column that varies, but all 3 columns are constant over 5 rows"),
        (DIGITS[:1], "Found array with 1 sample(s) (shape=(1, 64)) while a minimum of 2 is required by PCA."),
        (DIGITS[:0], "Found array with 0 sample(s) (shape=(0, 64)) while a minimum of 2 is required by PCA."),
        (DIGITS[:, :0], "Found array with 0 feature(s) (shape=(1797, 0)) while a minimum of 1 is required by PCA."),
        (DIGITS[0], "Expected 2D array, got 1D array instead"),
        (DIGITS.astype(complex), "Complex data not supported"),
        ([["a", "b"], ["c", "d"]], "could not convert string to float"),
    ],
)
def test_rows_that_cannot_be_fitted_are_refused_with_a_reason(X, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        PCA().fit(X)


@pytest.mark.parametrize("method", ["transform", "score_samples"])
def test_numbers_that_are_not_finite_are_found_after_the_fit_too(method):
    model = PCA(2).fit(DIGITS)
    with pytest.raises(ValueError, match=r"Input X contains NaN\.\n.* row 7, column 3 is NaN"):
        getattr(model, method)(bad(np.nan))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.inverse_transform([[0.0, np.nan]])


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"n_components": 65}, "n_components=65 must be between 0 and min(n_samples, n_features)=64 with svd_solver='full'; X has"),
        ({"n_components": 65, "svd_solver": "covariance_eigh"}, "=64 with svd_solver='covariance_eigh'"),
        ({"n_components": -1}, "The 'n_components' parameter of PCA must be an int in the range [0, inf)"),
        ({"n_components": 1.0}, "The 'n_components' parameter of PCA must be"),
        ({"n_components": "three"}, "The 'n_components' parameter of PCA must be"),
        ({"svd_solver": "fast"}, "The 'svd_solver' parameter of PCA must be a str among"),
        ({"whiten": "yes"}, "The 'whiten' parameter of PCA must be"),
    ],
)
def test_bad_settings_are_refused_with_a_reason(settings, message):
    model = PCA(**settings)
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit(DIGITS)
    assert vars(model) == vars(clone(model))


def test_too_few_rows_for_minkas_rule_are_refused():
    with pytest.raises(ValueError, match="n_components='mle' is only supported if n_samples >= n_features; X has 40 rows"):
        PCA("mle").fit(DIGITS[:40])


def test_codes_of_another_width_are_refused():
    with pytest.raises(ValueError, match="decode: 3 columns are needed, but 2 were given"):
        PCA(3).fit(DIGITS).inverse_transform(np.zeros((1, 2)))


def test_a_fit_that_fails_leaves_the_estimator_as_it_was():
    model = PCA(3).fit(DIGITS)
    before = vars(model).copy()
    for X in [bad(np.nan)[:, :10], np.ones((4, 7)), DIGITS[:1], "nowhere.npy"]:
        with pytest.raises((ValueError, OSError)):
            model.fit(X)
        assert vars(model) == before


def test_fitted_attributes_do_not_exist_before_a_fit():
    for name in ["components_", "report_", "mixing_", "n_components_", "_model"]:
        assert not hasattr(PCA(), name)
    with pytest.raises(Exception, match="This PCA instance is not fitted yet"):
        PCA().transform(DIGITS)


def test_the_likelihood_of_a_model_without_noise_is_finite():
    # scikit-learn inverts a singular matrix here.
    X = DIGITS[:40]
    model = PCA().fit(X)
    assert model.noise_variance_ == 0
    assert np.isfinite(model.score_samples(X)).all() and np.isfinite(model.get_precision()).all()
    assert model.score_samples(X.astype(np.float32)).dtype == np.float64


def test_random_state_none_takes_one_draw_from_numpys_global_state():
    np.random.seed(0)
    PCA().fit(DIGITS[:50])
    after = np.random.randint(10**9)
    np.random.seed(0)
    np.random.randint(2**31 - 1)
    assert np.random.randint(10**9) == after


@pytest.mark.parametrize("solver", ["arpack", "krylov", "power", "deflation", "randomized"])
def test_solvers_of_first_components_agree_with_scikit_learn(solver):
    ours = PCA(5, svd_solver=solver, iterated_power=2000 if solver == "power" else "auto", random_state=0).fit(DIGITS)
    theirs = Reference(5, svd_solver="full").fit(DIGITS)
    # Seven iterations leave an error of 1e-5 of its variance in the fifth component of the digits; the other solvers converge to
    # rounding errors.
    rtol = 1e-4 if solver == "randomized" else 1e-10
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=rtol)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=rtol)
    assert_allclose(np.abs(np.sum(ours.components_ * theirs.components_, axis=1)), 1, atol=1e-3)
    # 61 columns vary, too few for a Krylov basis, so the full decomposition is computed.
    assert ours.report_.outcome == ("converged" if solver in ("power", "deflation") else "completed")


def test_a_tall_table_that_varies_along_fewer_directions_than_columns_gives_a_warning():
    X = np.random.RandomState(0).normal(size=(2000, 4))
    X[7, 0] = 1e12
    with pytest.warns(UserWarning, match="vary along 1 direction only.*svd_solver='full' does"):
        assert PCA().fit(X).report_.rank == 1
    # No warning where the rank is that of the columns, where a constant column explains it, or where there are few rows.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PCA(svd_solver="full").fit(X).report_.rank == 4
        assert PCA().fit(np.c_[X[8:], np.ones(len(X) - 8)]).report_.rank == 4
        assert PCA().fit(np.random.RandomState(0).normal(size=(5, 9))).report_.rank == 4


@pytest.mark.parametrize("solver", ["arpack", "krylov"])
def test_variances_too_small_for_a_scatter_matrix_give_a_warning(solver):
    rng = np.random.RandomState(0)
    left, right = np.linalg.qr(rng.randn(300, 12))[0], np.linalg.qr(rng.randn(12, 12))[0]
    X = left * np.logspace(0, -8, 12) @ right.T
    with pytest.warns(UserWarning, match="below .* of the first, where a scatter matrix leaves fewer than about three digits"):
        model = PCA(11, svd_solver=solver, random_state=0).fit(X)
    assert any("three digits" in sentence for sentence in model.report_.warnings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PCA(11, svd_solver="full").fit(X)
        PCA(3, svd_solver=solver, random_state=0).fit(X)
