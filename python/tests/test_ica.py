"""ICA and FastICA: accuracy compared with scikit-learn's, and additional features."""

import inspect
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import unmix
from unmix import ICA, RICA, FastICA
from unmix.metrics import amari_distance, interference, matched_correlation, mutual_information


def kinds(n, k, seed):
    """Mixed Laplace, uniform, Bernoulli-Gaussian and Student's t sources of unit variance."""
    draw = np.random.RandomState(seed)
    makers = [
        lambda: draw.laplace(size=n) / np.sqrt(2),
        lambda: (draw.rand(n) - 0.5) * np.sqrt(12),
        lambda: (draw.rand(n) < 0.3) * draw.randn(n) / np.sqrt(0.3),
        lambda: draw.standard_t(6, n) / np.sqrt(1.5),
    ]
    sources = np.stack([makers[i % 4]() for i in range(k)], axis=1)
    mixing = draw.randn(k, k)
    return sources @ mixing.T, mixing, sources


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_sources_are_as_near_to_the_truth_as_scikit_learns(fun, algorithm):
    for seed in range(4):
        X, mixing, _ = kinds(4000, 6, seed)
        given = dict(fun=fun, algorithm=algorithm, tol=1e-10, max_iter=1000, random_state=seed)
        ours, start = FastICA(**given).fit(X), None
        if algorithm == "deflation":
            # In deflation the order of the sources, and with it the solution, depends on the initial vectors: scikit-learn starts near
            # ours, in our order.
            ours = ICA(fun=fun, algorithm="fastica", orthogonalization="deflation", order="found", tol=1e-10, max_iter=1000, random_state=seed)
            white = sklearn.decomposition.FastICA(random_state=0).fit(X).whitening_
            start = ours.fit(X).components_ @ np.linalg.inv(white)
            # The start is perturbed, so that scikit-learn has to iterate.
            start += 1e-3 * np.random.RandomState(seed).randn(6, 6)
        theirs = sklearn.decomposition.FastICA(w_init=start, **given).fit(X)
        assert amari_distance(ours, mixing) <= 1.01 * amari_distance(theirs, mixing)
        if algorithm == "deflation":
            assert unmix.metrics.match(ours, theirs).cosine.min() > 1 - 1e-6


def test_the_defaults_are_as_near_to_the_truth_as_scikit_learns_defaults():
    for seed in range(4):
        X, mixing, _ = kinds(20_000, 8, seed)
        ours, theirs = (cls(random_state=0).fit(X) for cls in (FastICA, sklearn.decomposition.FastICA))
        assert amari_distance(ours, mixing) <= 1.01 * amari_distance(theirs, mixing)
        assert abs(ours.n_iter_ - theirs.n_iter_) <= 3
        assert amari_distance(ICA(random_state=0).fit(X), mixing) <= 1.01 * amari_distance(theirs, mixing)


def test_single_precision_converges_and_is_kept():
    X, mixing, _ = kinds(20_000, 6, 0)
    single = X.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for estimator in (ICA(random_state=0), FastICA(random_state=0)):
            fitted = estimator.fit(single)
            assert fitted.components_.dtype == fitted.transform(single).dtype == np.float32
            assert amari_distance(fitted, mixing) < 1.02 * amari_distance(type(estimator)(random_state=0).fit(X), mixing)


def test_a_share_of_the_variance_and_no_iterations():
    rows = np.random.RandomState(0).laplace(size=(500, 4)) * [9.0, 4.0, 1.0, 1.0]
    for cls in (FastICA, ICA):
        few = cls(0.95, random_state=0).fit(rows)
        assert few.n_components_ == 2 and few.transform(rows).shape == (500, 2)
        # The start is a random rotation of whitened coordinates, and with max_iter=0 remains so.
        with pytest.warns(ConvergenceWarning):
            start = cls(max_iter=0, random_state=0).fit(rows)
        assert start.n_iter_ == 0 and start.report_.outcome == "max_iter"
        codes = start.transform(rows)
        assert_allclose(np.cov(codes.T), np.eye(4), atol=5e-3)


def test_a_callable_gives_the_solution_of_the_named_contrast():
    X, _, _ = kinds(2000, 4, 1)

    def cube(x, power=3):
        return x**power, (power * x ** (power - 1)).mean(axis=-1)

    for algorithm in ("parallel", "deflation"):
        given = dict(algorithm=algorithm, tol=1e-12, max_iter=500, random_state=0)
        named = FastICA(fun="cube", **given).fit(X)
        for called in (FastICA(fun=cube, **given).fit(X), FastICA(fun=cube, fun_args={"power": 3}, whiten="unit-variance", **given).fit(X)):
            found = unmix.metrics.match(called, named).cosine
            assert (found > 1 - 1e-8).all() if algorithm == "parallel" else (found > 0.99).all()
            assert called.n_iter_ > 1 and called.whitening_.shape == (4, 4)
            assert_allclose(called._unmixing @ called.whitening_, called.components_, atol=1e-10)
        again = pickle.loads(pickle.dumps(FastICA(**given).fit(X)))
        assert_allclose(again.whitening_, named.whitening_, atol=1e-12)
    with pytest.raises(ValueError, match="it must return two arrays"):
        FastICA(fun=np.tanh).fit(X)
    with pytest.warns(ConvergenceWarning, match="FastICA did not converge. Consider increasing"):
        FastICA(fun=cube, max_iter=1, tol=0).fit(X)
    for algorithm in ("parallel", "deflation"):
        with pytest.warns(ConvergenceWarning):
            start = FastICA(fun=cube, algorithm=algorithm, max_iter=0, random_state=0).fit(X)
        assert start.n_iter_ == 0 and start.report_.outcome == "max_iter" and start.report_.residual is None
        assert_allclose(np.cov(start.transform(X).T), np.eye(4), atol=5e-3)


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_the_report_of_a_callable_describes_its_iterations(algorithm, tmp_path):
    X, _, _ = kinds(2000, 4, 1)

    def cube(x):
        return x**3, (3 * x**2).mean(axis=-1)

    found = FastICA(algorithm=algorithm, fun=cube, tol=1e-6, max_iter=300, random_state=0).fit(X)
    report = found.report_
    assert report.outcome == "converged" and report.n_iter == found.n_iter_ > 1
    assert 0 <= report.residual < report.tol == 1e-6
    assert (report.settings["fun"], report.settings["max_iter"], report.settings["w_init"]) == ("cube", 300, None)
    found.save(tmp_path / "m.safetensors")
    again = unmix.load(tmp_path / "m.safetensors")
    assert again.report_ == report == pickle.loads(pickle.dumps(unmix.load(tmp_path / "m.safetensors"))).report_
    unmix.report(again, X, path=tmp_path / "m.html")
    page = (tmp_path / "m.html").read_text()
    assert "did not converge" not in page and f"{report.n_iter} iterations" in page
    with pytest.warns(ConvergenceWarning, match="FastICA did not converge. Consider increasing"):
        short = FastICA(algorithm=algorithm, fun=cube, max_iter=1, tol=0, random_state=0).fit(X)
    assert (short.report_.outcome, short.report_.n_iter, short.n_iter_) == ("max_iter", 1, 1)


def test_few_rows_for_the_sources_give_a_warning():
    X, _, _ = kinds(40, 5, 0)
    for estimator in (ICA(random_state=0), FastICA(random_state=0), RICA(random_state=0)):
        with pytest.warns(UserWarning, match="40 rows are few for"):
            estimator.fit(X)


def test_deflation_that_did_not_converge_warns():
    X, _, _ = kinds(500, 4, 2)
    with pytest.warns(ConvergenceWarning, match="FastICA did not converge"):
        FastICA(algorithm="deflation", max_iter=1, random_state=0).fit(X)


def test_rows_of_lower_rank_have_fewer_components():
    X, _, _ = kinds(3000, 3, 3)
    wide = X @ np.random.RandomState(3).randn(3, 7)
    for estimator in (ICA(random_state=0), FastICA(random_state=0)):
        with pytest.warns(UserWarning, match="the rows vary along 3 directions only"):
            fitted = estimator.fit(wide)
        assert fitted.components_.shape == (3, 7) and np.abs(fitted.components_).max() < 100
        assert_allclose(fitted.inverse_transform(fitted.transform(wide)), wide, atol=1e-9)


def test_gaussian_rows_give_a_warning():
    X = np.random.RandomState(0).randn(5000, 4)
    with pytest.warns(UserWarning, match="4 of 4 sources cannot be distinguished from Gaussian ones"):
        ICA(random_state=0).fit(X)


@pytest.mark.parametrize("given", [{"ortho": False}, {"algorithm": "infomax"}, {"algorithm": "easi", "extended": False}])
def test_contrasts_of_the_wrong_sign_give_a_warning(given):
    X = np.random.RandomState(1).uniform(-1, 1, size=(8000, 4)) @ np.random.RandomState(2).randn(4, 4)
    with pytest.warns(UserWarning, match="flatter tails than a Gaussian.*set extended=True"):
        ICA(random_state=0, **given).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ICA(random_state=0, **{**given, "extended": True}).fit(X)


def test_a_likelier_gaussian_model_and_rows_that_are_not_white_give_warnings():
    flat = np.random.RandomState(1).uniform(-1, 1, size=(8000, 4))
    with pytest.warns(UserWarning, match="a Gaussian model of the rows has a higher likelihood"):
        ICA(algorithm="infomax", random_state=0).fit(flat)
    heavy = np.random.RandomState(1).laplace(size=(8000, 4)) @ np.random.RandomState(2).randn(4, 4)
    for estimator in (ICA(whiten=False, random_state=0), FastICA(whiten=False, random_state=0)):
        with pytest.warns(UserWarning, match="the rows are not white"):
            estimator.fit(heavy)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ICA(whiten=False, ortho=False, random_state=0).fit(heavy)


def test_pairs_that_two_layers_do_not_separate_give_a_warning():
    rng = np.random.default_rng(6)
    X = rng.standard_t(3, size=(4000, 4)) @ rng.normal(size=(4, 4)).T
    with pytest.warns(UserWarning, match="are not separated: rotated by .* degrees in their plane.*algorithm='picard'"):
        ICA(algorithm="sigma-pca", random_state=0).fit(X)


def test_removing_sources_keeps_the_rest_of_the_rows():
    X, _, _ = kinds(2000, 6, 4)
    X = X + 3.0
    ica = ICA(n_components=4, random_state=0).fit(X)
    sources = ica.transform(X)
    clean = ica.remove(X, exclude=[0, 2])
    assert_allclose(X - clean, sources[:, [0, 2]] @ ica.mixing_[:, [0, 2]].T, atol=1e-10)
    # The part of the rows that no source explains is kept, which inverse_transform loses.
    assert_allclose(ica.transform(clean)[:, [0, 2]], 0, atol=1e-9)
    assert_allclose(ica.transform(clean)[:, [1, 3]], sources[:, [1, 3]], atol=1e-9)
    kept = sources.copy()
    kept[:, [0, 2]] = 0
    assert_allclose(ica.inverse_transform(sources, exclude=[0, 2]), ica.inverse_transform(kept), atol=1e-12)
    for others in ([1, 3], ["ica1", 3], np.array([False, True, False, True]), [3, -3]):
        assert_allclose(ica.inverse_transform(sources, include=others), ica.inverse_transform(kept), atol=1e-12)
    assert_allclose(ica.inverse_transform(sources, include=[]), np.broadcast_to(ica.mean_, X.shape), atol=1e-12)
    with pytest.raises(ValueError, match="exclude= and include= are both given; keep one of them"):
        ica.inverse_transform(sources, exclude=[0], include=[1])
    with pytest.raises(ValueError, match="include=-3 is not possible: component 1 is given twice"):
        ica.inverse_transform(sources, include=[1, -3])
    assert_allclose(ica.remove(X, exclude=[]), X)
    with pytest.raises(ValueError, match="the model has 4 components, numbered from 0"):
        ica.remove(X, exclude=[4])


def test_sources_are_matched_with_reference_channels():
    pandas = pytest.importorskip("pandas")
    X, _, sources = kinds(4000, 4, 5)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "eye"])
    ica = ICA(random_state=0).fit(frame)
    measured = np.corrcoef(ica.transform(frame).T, frame["eye"])[:-1, -1]
    assert_allclose(ica.match("eye")[:, 0], measured, atol=1e-10)
    assert_allclose(ica.match([3, 0])[:, 0], measured, atol=1e-10)
    correlations = ica.match(sources, frame)
    assert correlations.shape == (4, 4) and (np.abs(correlations).max(axis=1) > 0.99).all()
    with pytest.raises(ValueError, match="not a column that the model was fitted on"):
        ica.match("nose")
    with pytest.raises(ValueError, match="channels of the same samples"):
        ica.match(sources[:10], frame)


def test_sources_of_maximum_likelihood_are_matched_as_measured():
    X, _, _ = kinds(1500, 4, 6)
    ica = ICA(ortho=False, extended=True, random_state=0).fit(X)
    measured = np.corrcoef(ica.transform(X).T, X.T)[:4, 4:]
    assert_allclose(ica.match(range(4)), measured, atol=1e-8)


def test_the_tolerance_bounds_the_residual_of_every_algorithm():
    X, _, _ = kinds(4000, 5, 7)
    for given in ({}, {"algorithm": "fastica"}, {"ortho": False}, {"algorithm": "infomax"}):
        ica = ICA(tol=1e-7, random_state=0, **given).fit(X)
        assert ica.report_.outcome == "converged" and ica.report_.residual <= ica.report_.tol == 1e-7
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        assert ICA(max_iter=1, tol=1e-12, random_state=0).fit(X).report_.outcome == "max_iter"


def test_initial_values_are_seeded_or_given():
    X, _, _ = kinds(1000, 4, 8)
    a, b = (ICA(random_state=3, n_init=2).fit(X) for _ in range(2))
    assert a.components_.tobytes() == b.components_.tobytes()
    start = np.eye(4) + 0.1
    given = ICA(w_init=start, tol=1e-10).fit(X)
    assert unmix.metrics.matched_cosine(given, ICA(random_state=1, tol=1e-10).fit(X)) > 1 - 1e-6
    with pytest.raises(ValueError, match="4 x 4"):
        ICA(w_init=np.eye(3)).fit(X)
    with pytest.raises(ValueError, match=r"w_init has invalid shape -- should be \(4, 4\)"):
        FastICA(w_init=np.eye(3)).fit(X)
    for estimator in (ICA, FastICA):
        with pytest.raises(ValueError, match="w_init must contain finite numbers only, got nan"):
            estimator(w_init=np.full((4, 4), np.nan)).fit(X)
        with pytest.raises(ValueError, match="w_init must be invertible, got a 4 x 4 matrix of rank 0"):
            estimator(w_init=np.zeros((4, 4))).fit(X)


def test_models_of_files_and_saved_models_are_equal(tmp_path):
    X, _, _ = kinds(1000, 4, 9)
    np.save(tmp_path / "x.npy", X)
    for estimator in (ICA(random_state=0), FastICA(random_state=0, n_components=3)):
        fitted = estimator.fit(X)
        from_file = type(estimator)(**estimator.get_params()).fit(tmp_path / "x.npy")
        assert from_file.components_.tobytes() == fitted.components_.tobytes()
        fitted.save(tmp_path / "m.safetensors")
        again = unmix.load(tmp_path / "m.safetensors")
        assert type(again) is type(fitted) and again.transform(X).tobytes() == fitted.transform(X).tobytes()


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube", lambda x: (x**3, (3 * x**2).mean(axis=-1))])
def test_w_init_means_what_it_means_in_scikit_learn(fun, algorithm):
    for seed in range(4):
        X, _, _ = kinds(1000, 4, seed)
        given = dict(fun=fun, algorithm=algorithm, tol=1e-10, max_iter=1000, w_init=np.random.RandomState(seed).randn(4, 4))
        ours, theirs = FastICA(**given).fit(X), sklearn.decomposition.FastICA(**given).fit(X)
        assert unmix.metrics.match(ours, theirs).cosine.min() > 1 - 1e-8
        # The same iterations, up to rounding errors near the tolerance.
        assert abs(ours.n_iter_ - theirs.n_iter_) <= 1
        assert_allclose(ours._unmixing @ ours.whitening_, ours.components_, atol=1e-10)


def test_whitening_is_scikit_learns():
    X, _, _ = kinds(800, 5, 10)
    for whiten in ("unit-variance", "arbitrary-variance"):
        given = dict(n_components=3, whiten=whiten, random_state=0, max_iter=500, tol=1e-10)
        ours, theirs = FastICA(**given).fit(X), sklearn.decomposition.FastICA(**given).fit(X)
        assert_allclose(ours.whitening_, theirs.whitening_, rtol=1e-8, atol=1e-12)
        assert_allclose(ours.transform(X).var(axis=0), theirs.transform(X).var(axis=0), rtol=1e-8)
        pair = unmix.metrics.match(ours, theirs)
        assert_allclose(ours.components_, pair.sign[:, None] * theirs.components_[pair.order], atol=1e-4)


def test_the_function_agrees_with_the_class():
    X, _, _ = kinds(500, 4, 11)
    K, W, S, mean, n_iter = unmix.fastica(X, random_state=0, return_X_mean=True, return_n_iter=True)
    fitted = FastICA(random_state=0).fit(X)
    assert_allclose((X - mean) @ K.T @ W.T, S, atol=1e-10)
    assert_allclose(S, fitted.transform(X))
    assert n_iter == fitted.n_iter_
    K, W, S = unmix.fastica(X, whiten=False, compute_sources=False, random_state=0)
    assert K is None and S is None and W.shape == (4, 4)


def test_metrics_of_separated_sources():
    X, mixing, sources = kinds(5000, 3, 14)
    ica = ICA(random_state=0).fit(X)
    found = ica.transform(X)
    assert (matched_correlation(found, sources).cosine > 0.99).all()
    assert (interference(ica, mixing) > 20).all()
    # Sources that are mostly 0 are left out: small residuals of other sources would determine their ranks there.
    smooth = np.random.RandomState(0).laplace(size=(5000, 3))
    mixed = smooth @ mixing.T
    before, after = mutual_information(mixed), mutual_information(ICA(random_state=0).fit_transform(mixed))
    assert np.abs(after).max() < 0.03 < before.max()
    with pytest.raises(ValueError, match="one row for each of the same samples"):
        matched_correlation(found, sources[:5])


def test_fits_begin_on_a_subsample_and_end_at_the_time_limit():
    X, mixing, _ = kinds(20_000, 6, 3)
    whole, some = (ICA(random_state=0, tol=1e-9, subsample=m).fit(X) for m in (0, 3000))
    assert_allclose(whole.components_, some.components_, atol=1e-6)
    with pytest.warns(ConvergenceWarning):
        timed = ICA(random_state=0, max_seconds=1e-9).fit(X)
    assert timed.report_.outcome == "time" and timed.transform(X).shape == (20_000, 6)


def test_a_subsample_has_more_rows_than_there_are_sources():
    X, _, _ = kinds(2000, 6, 3)
    with pytest.raises(ValueError) as refused:
        ICA(random_state=0, subsample=6).fit(X)
    expected = "subsample must be 0 or more than n_components, which is 6 for these rows, got 6; choose at least 7, or 0 for all rows"
    assert str(refused.value) == expected and refused.value.setting == "subsample"
    with pytest.warns(UserWarning, match="subsample=6 has no effect here"):
        ICA(random_state=0, algorithm="fastica", orthogonalization="deflation", subsample=6).fit(X)
    # As many rows as there are, or more, are all of them.
    whole, more = (ICA(random_state=0, subsample=m).fit(X) for m in (0, 10**6))
    assert_array_equal(whole.components_, more.components_)


def test_the_objective_is_that_of_the_iterations_on_all_rows():
    X, _, _ = kinds(20_000, 6, 3)
    seen = []
    whole = ICA(random_state=0, subsample=0).fit(X).report_
    some = ICA(random_state=0, subsample=3000, callback=seen.append).fit(X).report_
    assert len(whole.objective) == whole.n_iter and 0 < len(some.objective) < some.n_iter
    # Iterations on the subsample have no objective, but are passed to the callback.
    assert [iteration.objective for iteration in seen if iteration.objective is not None] == some.objective and len(seen) > len(some.objective)
    with pytest.warns(ConvergenceWarning):
        assert ICA(random_state=0, subsample=3000, max_iter=2).fit(X).report_.objective == []


def test_the_report_lists_the_iterations_that_change_a_sign():
    draw = np.random.RandomState(0)
    X = np.hstack([draw.laplace(size=(400, 2)), draw.uniform(-1.7, 1.7, (400, 6))])
    reports = [ICA(random_state=seed).fit(X).report_ for seed in range(12)]
    assert any(report.sign_changes for report in reports)
    for report in reports:
        rises = np.flatnonzero(np.diff(report.objective) > 1e-13) + 2
        assert set(rises) <= set(report.sign_changes or [])
    assert ICA(extended=False, random_state=0).fit(X[:, :2]).report_.sign_changes is None


@pytest.mark.parametrize("first_layer", ["pca", "sigma-pca"])
def test_two_layers_find_sources_that_are_mixed_obliquely(first_layer):
    draw = np.random.RandomState(4)
    mixing = draw.randn(4, 4)
    X = draw.laplace(size=(10_000, 4)) @ mixing.T
    assert amari_distance(ICA(algorithm="sigma-pca", first_layer=first_layer, random_state=0).fit(X), mixing) < 0.03


def test_sources_of_other_distributions_are_separated():
    data = unmix.datasets.independent(20_000, ["bernoulli-gaussian", "student-5", "four-humps-apart", "two-uneven-humps-near"])
    assert amari_distance(ICA(random_state=0).fit(data.X), data.mixing) < 0.03


PAGE = Path(__file__).parents[2] / "docs" / "ica.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the tests are not in a checkout")
def test_examples_of_the_page_run_as_they_are():
    blocks, names = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL), {}
    assert len(blocks) >= 2
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    assert names["clean"].shape == names["X"].shape and names["stream"].components_.shape == (6, 6)


@pytest.mark.skipif(not PAGE.exists(), reason="the tests are not in a checkout")
def test_every_row_of_the_table_of_equalities_names_a_test():
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    start = next(i for i, row in enumerate(rows) if row[0] == "named method")
    table = [row for row in rows[start + 1 :] if len(row) == 4][:10]
    folder = PAGE.parents[1] / "crates" / "unmix" / "tests" / "ica"
    for row in table:
        file, test = re.fullmatch(r"(?:`(\w+\.rs)`: )?`(\w+)`", row[3]).groups()
        assert f"fn {test}()" in (folder / (file or "equal.rs")).read_text(), row
    assert len(table) == 10


def test_weights_are_used_or_refused():
    draw = np.random.RandomState(0)
    X = draw.laplace(size=(600, 3)) @ draw.normal(size=(3, 3))
    weights = np.tile([1.0, 2.0, 0.0], 200)
    repeated = np.repeat(X, weights.astype(int), axis=0)
    weighted = FastICA(random_state=0, tol=1e-10, max_iter=500).fit(X, sample_weight=weights)
    plain = FastICA(random_state=0, tol=1e-10, max_iter=500).fit(repeated)
    np.testing.assert_allclose(weighted.components_, plain.components_, rtol=1e-4, atol=1e-6)
    # The means that a callable computes ignore weights.
    with pytest.raises(ValueError, match="callable fun: its mean over the rows ignores the weights"):
        FastICA(fun=lambda x: (x**3, (3 * x**2).mean(axis=-1)), random_state=0).fit(X, sample_weight=weights)


def test_sparse_sources_may_be_excluded():
    draw = np.random.RandomState(0)
    X = draw.laplace(size=(400, 3)) @ draw.randn(3, 3)
    ica = ICA(random_state=0).fit(X)
    sources = ica.transform(X)
    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_matrix):
        assert_allclose(ica.inverse_transform(kind(sources), exclude=[0, "ica2"]), ica.inverse_transform(sources, exclude=[0, 2]))
    assert (sources[:, 0] != 0).all()


def test_the_function_has_the_settings_of_the_class():
    function, own = (inspect.signature(of).parameters for of in (unmix.fastica, FastICA))
    names = [name for name in function if name != "X"]
    settings = names[: names.index("random_state") + 1]
    assert settings == list(own)[: len(settings)] and {s["name"] for s in unmix_settings("fastica")} <= set(settings)
    for name in settings:
        assert (function[name].default, function[name].annotation) == (own[name].default, own[name].annotation), name
    documented = numpydoc_parameters(unmix.fastica.__doc__)
    assert {name: documented[name] for name in settings} == {name: numpydoc_parameters(FastICA.__doc__)[name] for name in settings}


def unmix_settings(method):
    return next(found["settings"] for found in unmix.methods() if found["key"] == method)


def numpydoc_parameters(text):
    """The parameters of a docstring: name, and type and description."""
    section = inspect.cleandoc(text).split("Parameters\n----------\n")[1].split("\n\n")[0]
    return dict(re.findall(r"^(\w+) : (.*(?:\n .*)*)", section, flags=re.MULTILINE))


@pytest.mark.parametrize("alpha", [0.99, 2.01, np.nan, "1", None])
def test_alpha_has_the_range_of_the_registry(alpha):
    with pytest.raises(ValueError, match=r"alpha must be in \[1,2\]"):
        FastICA(fun_args={"alpha": alpha}).fit(np.random.RandomState(0).laplace(size=(100, 2)))


@pytest.mark.parametrize("alpha", [1, 1.5, np.int64(2), np.float32(1.5)])
def test_alpha_may_be_a_number_of_numpy(alpha):
    X = np.random.RandomState(0).laplace(size=(300, 2))
    fitted, plain = (FastICA(fun_args={"alpha": number}, random_state=0).fit(X) for number in (alpha, float(alpha)))
    np.testing.assert_array_equal(fitted.components_, plain.components_)
