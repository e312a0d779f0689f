"""Factor analysis: differences from scikit-learn's, and the Python interface."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import chi2, kstest, ncx2
from sklearn.decomposition import FactorAnalysis as Reference
from sklearn.exceptions import ConvergenceWarning

import unmix
from unmix import FactorAnalysis

ROTATIONS = ("varimax", "quartimax", "equamax", "promax", "oblimin", "geomin")


def made(n, p, k, seed):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(n, k)) @ draw.normal(size=(k, p)) + draw.normal(size=(n, p)) * draw.uniform(0.4, 1.5, p) + 3


def covariance(fa):
    return fa.components_.T @ fa.factor_correlation_ @ fa.components_ + np.diag(fa.noise_variance_)


@pytest.mark.parametrize("n, p, k, seed", [(500, 10, 2, 0), (200, 15, 4, 1), (2000, 30, 5, 2), (100, 12, 1, 3)])
def test_the_likelihood_is_at_least_scikit_learns(n, p, k, seed):
    X = made(n, p, k, seed)
    ours = FactorAnalysis(k, tol=1e-6).fit(X)
    theirs = Reference(k, svd_method="lapack", tol=1e-8, max_iter=20_000).fit(X)
    assert not len(ours.heywood_)
    assert ours.loglike_[-1] > theirs.loglike_[-1] - 1e-6 and ours.n_iter_ < theirs.n_iter_ / 2
    assert_allclose(ours.score(X), theirs.score(X), atol=1e-6)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-3)
    # Also at the default tolerance, at which scikit-learn's iterations stop early.
    assert FactorAnalysis(k).fit(X).loglike_[-1] > Reference(k, svd_method="lapack").fit(X).loglike_[-1] - 1e-2


def test_codes_covariance_and_likelihood_are_scikit_learns():
    X = made(300, 8, 2, 4)
    ours, theirs = FactorAnalysis(2, tol=1e-9).fit(X), Reference(2, svd_method="lapack", tol=1e-9, max_iter=10_000).fit(X)
    signs = np.sign((ours.components_ * theirs.components_).sum(axis=1))
    assert_allclose(ours.components_, signs[:, None] * theirs.components_, atol=1e-4)
    assert_allclose(ours.transform(X), signs * theirs.transform(X), atol=1e-3)
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-4)
    assert_allclose(ours.get_precision() @ ours.get_covariance(), np.eye(8), atol=1e-12)
    assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-3)
    assert_allclose(ours.loglike_[-1], ours.score_samples(X).sum(), rtol=1e-12)
    assert_allclose(ours.inverse_transform(ours.transform(X)), ours.transform(X) @ ours.components_ + ours.mean_)


def test_rotations_are_scikit_learns_up_to_sign_and_order():
    X = made(400, 9, 3, 5)
    for rotation in ("varimax", "quartimax"):
        ours = FactorAnalysis(3, tol=1e-9, rotation=rotation).fit(X).components_
        theirs = Reference(3, svd_method="lapack", tol=1e-9, max_iter=10_000, rotation=rotation).fit(X).components_
        cosines = (ours / np.linalg.norm(ours, axis=1)[:, None]) @ (theirs / np.linalg.norm(theirs, axis=1)[:, None]).T
        assert sorted(np.abs(cosines).argmax(axis=1)) == [0, 1, 2]
        assert np.abs(cosines).max(axis=1).min() > 1 - 1e-3


def test_every_rotation_keeps_the_covariance():
    X = made(300, 9, 3, 6)
    plain = FactorAnalysis(3).fit(X)
    for rotation in ROTATIONS:
        fa = FactorAnalysis(3, rotation=rotation, random_state=0).fit(X)
        assert_allclose(covariance(fa), plain.get_covariance(), atol=1e-10)
        assert_allclose(fa.get_covariance(), plain.get_covariance(), atol=1e-10)
        assert_allclose(fa.communalities_, plain.communalities_, rtol=1e-12)
        assert_allclose(np.diag(fa.factor_correlation_), 1)
        scores = (X - fa.mean_) @ np.linalg.solve(covariance(fa), (fa.factor_correlation_ @ fa.components_).T)
        assert_allclose(fa.transform(X), scores, atol=1e-9)


def test_heywood_cases_are_named():
    X = made(200, 6, 2, 7)
    X = np.c_[X, X[:, 0]]
    fa = FactorAnalysis(2).fit(X)
    assert_array_equal(fa.heywood_, [0, 6])
    assert any("Heywood cases" in sentence for sentence in fa.report_.warnings)
    assert fa.heywood_.dtype == np.intp and fa.noise_variance_.min() > 0
    assert Reference(2, svd_method="lapack", tol=1e-9).fit(X).noise_variance_.min() < fa.noise_variance_.min()


def test_numbers_of_factors():
    X = made(400, 10, 2, 8)
    assert FactorAnalysis().fit(X).components_.shape == (10, 10)
    assert FactorAnalysis(0).fit(X).transform(X).shape == (400, 0)
    assert FactorAnalysis("bic").fit(X).n_components_ == FactorAnalysis("parallel", random_state=0).fit(X).n_components_ == 2
    with pytest.raises(ValueError, match="n_components=11 is not possible"):
        FactorAnalysis(11).fit(X)


def test_constant_columns_are_left_out():
    X = made(100, 5, 1, 9)
    fa, with_constant = FactorAnalysis(1).fit(X), FactorAnalysis(1).fit(np.c_[X, np.full(100, 7.0)])
    assert with_constant.components_[0, 5] == with_constant.noise_variance_[5] == 0
    assert_allclose(with_constant.loglike_, fa.loglike_)
    assert_allclose(with_constant.score_samples(np.c_[X, np.full(100, 7.0)]), fa.score_samples(X))


def test_single_precision_is_kept():
    X = made(500, 8, 2, 10)
    single, double = FactorAnalysis(2).fit(X.astype(np.float32)), FactorAnalysis(2).fit(X)
    assert single.components_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    assert_allclose(single.components_, double.components_, atol=1e-3)


def test_sums_of_batches_weights_and_sparse_rows():
    X = made(300, 7, 2, 11)
    whole = FactorAnalysis(2, tol=1e-8).fit(X)
    grown = FactorAnalysis(2, tol=1e-8).partial_fit(X[:100]).partial_fit(X[100:])
    merged = FactorAnalysis(2, tol=1e-8).partial_fit(X[:100]).merge(FactorAnalysis(2, tol=1e-8).partial_fit(X[100:]))
    for other in (grown, merged, FactorAnalysis(2, tol=1e-8).fit(csr_array(X))):
        assert_allclose(other.components_, whole.components_, atol=1e-7)
        assert_allclose(other.loglike_[-1], whole.loglike_[-1], rtol=1e-10)
    weights = np.arange(300) % 3
    weighted = FactorAnalysis(2, tol=1e-8).fit(X, sample_weight=weights)
    assert_allclose(weighted.components_, FactorAnalysis(2, tol=1e-8).fit(np.repeat(X, weights, axis=0)).components_, atol=1e-7)


def test_models_are_saved_and_loaded(tmp_path):
    X = made(200, 6, 2, 12)
    fa = FactorAnalysis(2, rotation="oblimin", standardize=True).fit(X)
    fa.save(tmp_path / "fa.safetensors")
    for other in (unmix.load(tmp_path / "fa.safetensors"), pickle.loads(pickle.dumps(fa))):
        assert_array_equal(other.transform(X), fa.transform(X))
        assert other.loglike_ == fa.loglike_ and other.fit_ == fa.fit_ and isinstance(other.heywood_, np.ndarray)
    assert_allclose(fa.mixing_, (fa.components_ * X.std(axis=0)).T)
    with pytest.raises(AttributeError):
        fa.loglike_ = []


def test_a_fit_that_did_not_converge_gives_the_warning_of_scikit_learn():
    X = made(200, 8, 2, 13)
    with pytest.warns(ConvergenceWarning, match="FactorAnalysis did not converge. You might want to increase the number of iterations"):
        FactorAnalysis(2, algorithm="em", max_iter=2, tol=1e-8).fit(X)
    with pytest.raises(ValueError, match="noise_variance_init dimension does not with number of features : 3 != 8"):
        FactorAnalysis(2, noise_variance_init=np.ones(3)).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        started = FactorAnalysis(2, noise_variance_init=np.ones(8), tol=1e-8).fit(X)
    assert_allclose(started.loglike_[-1], FactorAnalysis(2, tol=1e-8).fit(X).loglike_[-1], atol=1e-6)


def test_p_values_of_true_models_are_uniform():
    draw = np.random.default_rng(0)
    loadings, noise = draw.normal(size=(2, 10)), np.sqrt(draw.uniform(0.3, 1.5, 10))
    fits = [FactorAnalysis(2, tol=1e-6).fit(draw.normal(size=(300, 2)) @ loadings + draw.normal(size=(300, 10)) * noise) for _ in range(500)]
    values = np.array([fa.fit_.p_value for fa in fits])
    assert kstest(values, "uniform").pvalue > 0.01
    assert 0.03 < (values < 0.05).mean() < 0.08
    assert {fa.fit_.degrees_of_freedom for fa in fits} == {26.0}
    assert max(fa.n_iter_ for fa in fits) <= 20


def test_measures_of_fit_follow_their_formulas():
    n, p, q = 250, 9, 2
    X = made(n, p, q, 14)
    fa = FactorAnalysis(q, tol=1e-9).fit(X)
    S, C, R = np.cov(X.T, bias=True), fa.get_covariance(), np.corrcoef(X.T)
    discrepancy = np.linalg.slogdet(C)[1] + np.trace(np.linalg.solve(C, S)) - np.linalg.slogdet(S)[1] - p
    T, df = (n - 1 - (2 * p + 5) / 6 - 2 * q / 3) * discrepancy, ((p - q) ** 2 - p - q) / 2
    T0, df0 = -(n - 1 - (2 * p + 5) / 6) * np.linalg.slogdet(R)[1], p * (p - 1) / 2
    P = np.linalg.inv(R)
    partial = -P / np.sqrt(np.outer(np.diag(P), np.diag(P)))
    off = ~np.eye(p, dtype=bool)
    assert_allclose(fa.fit_.chi_square, T, rtol=1e-6)
    assert_allclose(fa.fit_.p_value, chi2.sf(T, df), rtol=1e-6)
    assert_allclose(fa.fit_.rmsea, np.sqrt(max(T / df - 1, 0) / (n - 1)), atol=1e-8)
    assert_allclose(fa.fit_.tli, (T0 / df0 - T / df) / (T0 / df0 - 1), rtol=1e-8)
    assert_allclose(fa.fit_.cfi, 1 - max(T - df, 0) / max(T0 - df0, T - df, 0), rtol=1e-8)
    d = np.sqrt(np.diag(S))
    assert_allclose(fa.fit_.srmr, np.sqrt(np.mean(((S - C) / np.outer(d, d))[np.tril_indices(p)] ** 2)), rtol=1e-6)
    for end, probability in ((fa.fit_.rmsea_lower, 0.95), (fa.fit_.rmsea_upper, 0.05)):
        shift = end**2 * df * (n - 1)
        below = ncx2.cdf(T, df, shift) if shift else chi2.cdf(T, df)
        assert abs(below - probability) < 1e-6 or (shift == 0 and below < probability)
    assert_allclose(fa.fit_.kmo, (R[off] ** 2).sum() / ((R[off] ** 2).sum() + (partial[off] ** 2).sum()), rtol=1e-10)
    assert_allclose(fa.fit_.bartlett_chi_square, T0, rtol=1e-10)
    assert_allclose(fa.fit_.bic, -2 * fa.loglike_[-1] + np.log(n) * (p * q - q * (q - 1) / 2 + 2 * p), rtol=1e-12)
    wide = FactorAnalysis(2).fit(X[:8])
    assert wide.fit_.p_value is None and "no more rows than columns" in wide.fit_.tests and wide.fit_.bic is not None


def test_stability_of_rotated_factors():
    draw = np.random.default_rng(15)
    loadings = np.kron(np.eye(2), np.ones(4)) * np.array([[1.5], [1.0]])
    X = draw.normal(size=(2000, 2)) @ loadings + draw.normal(size=(2000, 8))
    found = unmix.stability(FactorAnalysis(2, rotation="varimax", random_state=0).fit(X), X, splits=5, restarts=1, random_state=0)
    assert found.halves.min() > 0.99
    # Three factors are fitted to data with two: the third depends on the noise.
    found = unmix.stability(FactorAnalysis(3, rotation="varimax", random_state=0).fit(X), X, splits=5, restarts=1, random_state=0)
    assert found.halves.max() > 0.95 > found.halves.min()


def test_rows_with_missing_cells_are_fitted_scored_encoded_and_imputed():
    X = made(300, 8, 2, 4)
    gaps = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
    fa = FactorAnalysis(2, rotation="oblimin", tol=1e-6, random_state=0).fit(gaps)
    assert fa.report_.outcome == "converged" and fa.n_samples_ == 300
    assert_allclose(fa.score_samples(gaps).sum(), fa.loglike_[-1])
    assert fa.fit_.chi_square is None and fa.fit_.tests == "none, because cells are missing" and fa.fit_.bic > 0
    # Codes and imputed cells are conditional means of the joint Gaussian distribution.
    C, row = covariance(fa), int(np.isnan(gaps).any(axis=1).argmax())
    observed = ~np.isnan(gaps[row])
    solved = np.linalg.solve(C[np.ix_(observed, observed)], gaps[row, observed] - fa.mean_[observed])
    assert_allclose(fa.transform(gaps)[row], (fa.factor_correlation_ @ fa.components_)[:, observed] @ solved, atol=1e-8)
    means, covariances = fa.posterior(gaps)
    assert_allclose(means, fa.transform(gaps), atol=1e-12)
    structure = (fa.factor_correlation_ @ fa.components_)[:, observed]
    rest = fa.factor_correlation_ - structure @ np.linalg.solve(C[np.ix_(observed, observed)], structure.T)
    assert_allclose(covariances[row], rest, atol=1e-8)
    filled, std = fa.impute(gaps, return_std=True)
    assert_allclose(filled[row, ~observed], fa.mean_[~observed] + C[np.ix_(~observed, observed)] @ solved, atol=1e-8)
    assert_array_equal(filled[~np.isnan(gaps)], X[~np.isnan(gaps)])
    inside = np.abs(filled - X)[np.isnan(gaps)] < 1.96 * std[np.isnan(gaps)]
    assert 0.9 < inside.mean() < 0.99
    single = FactorAnalysis(2).fit(gaps.astype(np.float32))
    assert single.transform(gaps.astype(np.float32)).dtype == np.float32
    again = pickle.loads(pickle.dumps(fa))
    assert_array_equal(again.transform(gaps), fa.transform(gaps))
    with pytest.raises(ValueError, match="infinity"):
        FactorAnalysis(2).fit(np.where(np.isnan(gaps), np.inf, gaps))
    with pytest.raises(ValueError, match="NaN"):
        FactorAnalysis(2).partial_fit(gaps)


def test_the_number_of_factors_by_held_out_cells():
    X = made(300, 9, 2, 3)
    fa = FactorAnalysis("cells", random_state=0).fit(X)
    table = unmix.select_components(X, method="factor-analysis", random_state=0)
    assert fa.n_components_ == table["cells"] == table["bic"] == 2
    assert_allclose(table.log_likelihood[2], FactorAnalysis(2).fit(X).loglike_[-1])
    assert_allclose(table.bic[2], FactorAnalysis(2).fit(X).fit_.bic)
    with pytest.raises(ValueError, match="sums over them"):
        FactorAnalysis("cells").partial_fit(X).components_


def test_no_rule_selects_more_factors_than_are_determined():
    X = made(3000, 6, 5, 3)
    table = unmix.select_components(X, "aic", method="factor-analysis", max_components=6, random_state=0)
    assert [why is not None for why in table.excluded] == [False] * 4 + [True] * 3
    assert "Ledermann" in table.excluded[4] and table["aic"] <= 3
    assert table.to_frame()["excluded"][0] == ""
    assert FactorAnalysis("aic", random_state=0).fit(X).n_components_ == table["aic"]
    assert any("no rule selects 4, 5, 6 components" in sentence for sentence in table.warnings)


def test_the_tests_of_fit_state_where_they_are():
    X = made(300, 9, 2, 3)
    assert FactorAnalysis(2, tol=1e-6).fit(X).fit_.tests == "at the maximum of the likelihood"
    with pytest.warns(ConvergenceWarning):
        early = FactorAnalysis(2, tol=1e-9, max_iter=1).fit(X)
    assert early.fit_.tests.startswith("below the maximum of the likelihood")


def test_priors_of_loadings_and_of_factors(tmp_path):
    draw = np.random.default_rng(3)
    X = draw.laplace(size=(400, 2)) @ draw.normal(size=(2, 7)) + 0.5 * draw.normal(size=(400, 7))
    loadings = FactorAnalysis(2, prior="laplace-loadings", l1=0.05, tol=1e-4).fit(X)
    assert (np.diff(loadings.loglike_) > -1e-7).all()
    assert not hasattr(loadings, "rotation_") and loadings.fit_.chi_square is None
    assert_allclose(loadings.score_samples(X).sum(), loadings.fit_.log_likelihood)
    grown = FactorAnalysis(2, prior="laplace-loadings", l1=0.05, tol=1e-4).partial_fit(X[:150]).partial_fit(X[150:])
    assert_allclose(grown.components_, loadings.components_, atol=1e-6)
    for prior in ("laplace", "jeffreys"):
        fa = FactorAnalysis(2, prior=prior, max_iter=200, random_state=0).fit(X)
        assert (np.diff(fa.loglike_) > -1e-7).all()
        assert fa.factor_variance_.shape == (2,)
        fa.save(tmp_path / "fa.safetensors")
        # Jeffreys' prior leaves few codes that are not 0: they are compressed sparse rows.
        differs = unmix.load(tmp_path / "fa.safetensors").transform(X) != fa.transform(X)
        assert differs.nnz == 0 if prior == "jeffreys" else not differs.any()
        with pytest.raises(ValueError, match="prior of the factors"):
            fa.score(X)
        with pytest.raises(ValueError, match="posteriors of the factors need the rows"):
            FactorAnalysis(2, prior=prior).partial_fit(X).components_
    with pytest.warns(UserWarning, match="rotation='varimax' has no effect here: rotation is used only with prior='none'"):
        FactorAnalysis(2, prior="laplace", rotation="varimax", max_iter=200, random_state=0).fit(X)


@pytest.mark.parametrize("prior", ["laplace", "laplace-loadings", "jeffreys"])
def test_a_fit_that_ends_after_one_iteration_warns(prior):
    X = np.random.default_rng(0).normal(size=(120, 4)) @ np.diag([4, 3, 2, 1.0])
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        fitted = unmix.FactorAnalysis(2, prior=prior, max_iter=1).fit(X)
    assert np.isfinite(fitted.components_).all()


def test_large_weights_take_no_longer():
    """The interval of the RMSEA summed as many terms as the square root of the chi-square, 1e9 here."""
    X = np.random.default_rng(0).normal(size=(60, 5))
    fit = unmix.FactorAnalysis(1).fit(X, sample_weight=np.full(60, 1e18)).fit_
    assert 0 <= fit["rmsea_lower"] <= fit["rmsea"] <= fit["rmsea_upper"]


@pytest.mark.parametrize("prior", ["laplace", "jeffreys"])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.filterwarnings("ignore:Heywood cases:UserWarning", "ignore:FactorAnalysis did not converge")
def test_variances_of_the_factors_and_the_noise_are_those_of_the_columns(prior, standardize):
    draw = np.random.default_rng(3)
    X = draw.laplace(size=(2000, 2)) @ draw.normal(size=(2, 7)) * np.arange(1, 8) + 0.5 * draw.normal(size=(2000, 7)) * np.arange(1, 8) + 5
    X = np.c_[X, np.full(2000, 4.0)]
    fa = FactorAnalysis(2, prior=prior, standardize=standardize, noise_floor=1e-3, max_iter=500, random_state=0).fit(X)
    C = fa.mixing_ @ np.diag(fa.factor_variance_) @ fa.mixing_.T + np.diag(fa.noise_scale_**2)
    # In the units of the rows, up to the correlations of the factors over the rows.
    S = np.cov(X.T, bias=True)
    assert_allclose(np.diag(C), np.diag(S), rtol=0.03)
    assert np.abs(C - S).max() < 0.03 * S.max()
    for refused in (fa.get_covariance, fa.get_precision, lambda: fa.score(X)):
        with pytest.raises(ValueError, match="a Gaussian density of the rows under a prior of the factors is not possible"):
            refused()


def test_missing_cells_of_a_column_that_does_not_vary_have_no_errors_which_gives_a_warning():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(100, 2)) @ draw.normal(size=(2, 6)) + 0.5 * draw.normal(size=(100, 6))
    X[1:, 0] = np.nan
    model = FactorAnalysis(2, random_state=0).fit(X)
    with pytest.warns(UserWarning, match="observed cells of column 0 are equal, so that its missing cells are filled with that value"):
        std = model.impute(X, return_std=True, bootstrap=0)[1]
    assert std[1:, 0].max() == 0


def test_errors_of_imputed_cells_after_a_weighted_fit_say_why_they_treat_parameters_as_known():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(100, 2)) @ draw.normal(size=(2, 6)) + 0.5 * draw.normal(size=(100, 6))
    X[draw.random(X.shape) < 0.1] = np.nan
    model = FactorAnalysis(2, random_state=0).fit(X, sample_weight=np.r_[np.full(50, 2.0), np.ones(50)])
    with pytest.warns(UserWarning, match="the model was fitted to weighted rows, and such a fit is not repeated"):
        model.impute(X, return_std=True)
