"""Probabilistic PCA in Python: rows with missing cells, posteriors, imputation with standard errors, Rubin's rules."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import unmix
from unmix import PPCA, LinearEigenGAN


@pytest.fixture
def rows():
    draw = np.random.RandomState(1)
    whole = (draw.randn(200, 2) * [3, 2]) @ draw.randn(2, 6) + 0.3 * draw.randn(200, 6) + 1.0
    return whole, np.where(draw.rand(200, 6) < 0.2, np.nan, whole)


def test_attributes_agree(rows):
    for X in rows:
        model = PPCA(n_components=2).fit(X)
        assert_allclose(model.mixing_, model.components_.T * model.latent_scale_)
        covariance = model.mixing_ @ model.mixing_.T + model.noise_variance_ * np.eye(6)
        assert_allclose(model.get_covariance(), covariance, rtol=1e-10, atol=1e-12)
        assert_allclose(model.get_precision() @ covariance, np.eye(6), atol=1e-9)
        assert_allclose(model.explained_variance_, model.latent_scale_**2 + model.noise_variance_)
        means, covariances = model.posterior(X)
        assert_allclose(means, model.transform(X), rtol=1e-10, atol=1e-12)
        assert covariances.shape == (200, 2, 2)
        assert_allclose(covariances, covariances.transpose(0, 2, 1))
        assert_allclose(model.inverse_transform(means), means @ model.mixing_.T + model.mean_)


def test_axes_and_variances_are_those_of_scikit_learns_pca_times_n_over_n_minus_1(rows):
    decomposition = pytest.importorskip("sklearn.decomposition")
    whole, _ = rows
    theirs, ours = decomposition.PCA(2).fit(whole), PPCA(n_components=2).fit(whole)
    shrink = 199 / 200
    assert_allclose(ours.explained_variance_, theirs.explained_variance_ * shrink)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_ * shrink)
    # The maximum of the likelihood is at least scikit-learn's likelihood.
    assert ours.score(whole) >= theirs.score(whole)


def test_imputed_cells_standard_errors_and_draws(rows):
    whole, X = rows
    model = PPCA(n_components=2).fit(X)
    gaps = np.isnan(X)
    filled = model.impute(X)
    again, std, draws = model.impute(X, return_std=True, n_draws=3, bootstrap=5)
    assert_array_equal(filled, again)
    assert_array_equal(filled[~gaps], X[~gaps])
    assert np.all(std[~gaps] == 0) and np.all(std[gaps] > 0) and draws.shape == (3, 200, 6)
    assert_array_equal(draws[:, ~gaps], np.broadcast_to(X[~gaps], (3, (~gaps).sum())))
    assert_array_equal(draws, model.impute(X, n_draws=3, bootstrap=5)[1])
    assert np.mean(abs(filled - whole)[gaps] < 1.96 * std[gaps]) > 0.9
    with pytest.warns(UserWarning, match="treated as known"):
        _, known = model.impute(X[:50], return_std=True)
    assert np.all(known <= std[:50])
    single = PPCA(n_components=2).fit(X.astype(np.float32))
    assert single.impute(X.astype(np.float32)).dtype == np.float32
    # A pickled model can identify the rows of its fit.
    loaded = unmix.PPCA.__new__(PPCA)
    loaded.__setstate__(model.__getstate__())
    assert_array_equal(loaded.impute(X, return_std=True, bootstrap=5)[1], std)
    for wrong in ({"n_draws": -1}, {"bootstrap": -1}):
        with pytest.raises(ValueError, match="at least 0"):
            model.impute(X, **wrong)


def test_refits_end_at_the_time_limit(rows):
    X = rows[1]
    model = PPCA(n_components=2).fit(X)
    known = model.impute(X, return_std=True, bootstrap=0)
    with pytest.warns(UserWarning, match="refits ended early at the time limit"):
        late = model.impute(X, return_std=True, max_seconds=1e-9)
    for ours, expected in zip(late, known, strict=True):
        assert_array_equal(ours, expected)
    whole, in_time = (model.impute(X, return_std=True, bootstrap=3, max_seconds=limit) for limit in (None, 1e6))
    assert_array_equal(in_time[1], whole[1])
    assert not np.array_equal(whole[1], known[1])
    with pytest.raises(ValueError, match="max_seconds must be a number of seconds above 0 or None, got 'soon'"):
        model.impute(X, max_seconds="soon")


def test_partial_fits_refuse_missing_cells_and_name_a_remedy(rows):
    whole, X = rows
    grown = PPCA(n_components=2).partial_fit(whole[:70]).partial_fit(whole[70:])
    assert_allclose(grown.components_, PPCA(n_components=2).fit(whole).components_, atol=1e-9)
    for method in (PPCA, LinearEigenGAN, unmix.FactorAnalysis):
        with pytest.raises(ValueError, match=r"row \d+, column \d+ is NaN.* several passes.*fit all rows at once.*impute"):
            method(n_components=2).partial_fit(X)
        # The batch is not added, and later ones are.
        grown = method(n_components=2).partial_fit(whole[:70])
        with pytest.raises(ValueError, match="NaN"):
            grown.partial_fit(X[70:])
        assert grown.partial_fit(whole[70:]).n_samples_ == len(whole)
    # The remedy in the message works.
    first = PPCA(n_components=2).fit(X[:60])
    with pytest.warns(UserWarning, match="parameters are treated as known"):
        filled, _ = first.impute(X[60:], return_std=True)
    assert PPCA(n_components=2).partial_fit(first.impute(X[:60])).partial_fit(filled).n_samples_ == len(X)


def test_other_methods_refer_to_imputation(rows):
    with pytest.raises(ValueError, match="as the method impute of PPCA does"):
        unmix.PCA().fit(rows[1])


def test_blocks_are_integers_and_sum_to_the_components(rows):
    model = LinearEigenGAN(n_components=2).fit(rows[0])
    assert model.blocks_.dtype == np.int64 and model.blocks_.sum() == 2
    assert_allclose(model.score(rows[0]), PPCA(n_components=2).fit(rows[0]).score(rows[0]), rtol=1e-12)
    blocks = LinearEigenGAN(groups=[2]).fit(rows[0])
    assert blocks.latent_scale_[0] == blocks.latent_scale_[1]


def test_samples_have_the_covariance_of_the_model(rows):
    model = PPCA(n_components=2).fit(rows[0])
    drawn = model.sample(50_000, random_state=3)
    assert_array_equal(drawn, model.sample(50_000, random_state=3))
    assert_allclose(np.cov(drawn.T, bias=True), model.get_covariance(), atol=0.05 * model.explained_variance_[0])
    assert model.sample(0).shape == (0, 6)


def test_rubins_rules_by_their_formulas():
    draw = np.random.RandomState(0)
    q, u = draw.randn(7, 3), draw.rand(7, 3)
    pooled = unmix.metrics.pool(q, u)
    between = q.var(0, ddof=1)
    total = u.mean(0) + (1 + 1 / 7) * between
    assert_allclose(pooled.estimate, q.mean(0))
    assert_allclose(pooled.std_error, np.sqrt(total))
    assert_allclose(pooled.df, 6 * (1 + u.mean(0) / ((1 + 1 / 7) * between)) ** 2)
    small = unmix.metrics.pool(q, u, df_complete=20)
    assert np.all(small.df < np.minimum(pooled.df, 20))
    low, high = pooled.interval()
    assert np.all((low < pooled.estimate) & (pooled.estimate < high))
    # Without missing cells all draws are equal, and no information is missing.
    same = unmix.metrics.pool([1.0, 1.0], [0.04, 0.04])
    assert (same.std_error, same.missing_information) == (0.2, 0.0)
    assert_allclose(same.interval(), (1 - 1.959964 * 0.2, 1 + 1.959964 * 0.2), rtol=1e-6)
    with pytest.raises(ValueError, match="at least 2 draws"):
        unmix.metrics.pool([1.0], [1.0])


@pytest.mark.parametrize("wrong", [0, -3, float("nan"), float("inf"), "20", True])
def test_degrees_of_freedom_without_missing_cells_are_finite_and_above_0(wrong):
    with pytest.raises(ValueError, match="df_complete must be a finite number above 0 or None, got "):
        unmix.metrics.pool([1.0, 2.0], [0.1, 0.1], df_complete=wrong)


def test_an_estimate_all_of_whose_information_is_missing_has_an_infinite_interval():
    q, u = np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 1.0], [3.0, 3.0, 1.0]]), np.array([[0.0, 0.1, 0.0]] * 3)
    with pytest.warns(UserWarning, match="1 of 3 estimates have no variance within .* leave df_complete out, for 2 degrees of freedom"):
        pooled = unmix.metrics.pool(q, u, df_complete=10)
    assert pooled.df[0] == 0 and np.isfinite(pooled.df).all() and (pooled.df[1:] > 0).all()
    assert_allclose(pooled.missing_information[0], 1)
    low, high = pooled.interval()
    assert (low[0], high[0]) == (-np.inf, np.inf)
    assert np.isfinite(low[1:]).all() and low[2] == high[2] == 1
    # Variances that are nearly 0 give nearly 0 degrees of freedom, for which quantiles of scipy are wrong.
    with pytest.warns(UserWarning, match="infinite interval"):
        assert unmix.metrics.pool([1, 2, 3], [1e-300] * 3, df_complete=10).interval() == (-np.inf, np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many = unmix.metrics.pool([1, 2, 3], [0, 0, 0])
        # The degrees of freedom are continuous as variances go to 0.
        few = unmix.metrics.pool([1, 2, 3], [0.01] * 3, df_complete=10)
    assert many.df == 2 and np.isfinite(many.interval()).all()
    share = 4 / 3 / (4 / 3 + 0.01)
    assert_allclose(few.df, 1 / (share**2 / 2 + 1 / (11 / 13 * 10 * (1 - share))))


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_pooled_intervals_of_a_mean_cover_it(share):
    hits, runs = 0, 60
    for seed in range(runs):
        draw = np.random.RandomState(seed)
        whole = draw.randn(80, 2) @ np.array([[3.0, 1, 0, 2, -1], [0, 2, 1, -1, 1]]) + 0.5 * draw.randn(80, 5)
        X = np.where(draw.rand(80, 5) < share, np.nan, whole)
        draws = PPCA(n_components=2).fit(X).impute(X, n_draws=10, bootstrap=10)[1]
        low, high = unmix.metrics.pool(draws[:, :, 0].mean(1), draws[:, :, 0].var(1, ddof=1) / 80, df_complete=79).interval()
        hits += low < 0 < high
    # The expected number of hits is 57 of 60; the bound is four standard errors below.
    assert hits >= 50
