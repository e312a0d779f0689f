"""ICA and FastICA: as good as scikit-learn's, and what the class does besides."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn.decomposition
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

import unmix
from unmix import ICA, FastICA
from unmix.metrics import amari_distance, interference, matched_correlation, mutual_information


def kinds(n, k, seed):
    """Laplace, uniform, Bernoulli and Gauss, Student: unit variance."""
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
    ours, theirs = [], []
    for seed in range(4):
        X, mixing, _ = kinds(4000, 6, seed)
        given = dict(fun=fun, algorithm=algorithm, tol=1e-10, max_iter=1000, random_state=seed)
        # The same start, in the same white coordinates up to signs.
        ours.append(amari_distance(FastICA(**given).fit(X), mixing))
        theirs.append(amari_distance(sklearn.decomposition.FastICA(**given).fit(X), mixing))
    if algorithm == "parallel":
        # One solution, whatever the start.
        assert np.all(np.array(ours) <= 1.01 * np.array(theirs))
    else:
        # Which source comes first depends on the start.
        assert np.mean(ours) <= 1.3 * np.mean(theirs)


def test_the_defaults_are_as_near_to_the_truth_as_scikit_learns_defaults():
    for seed in range(4):
        X, mixing, _ = kinds(20_000, 8, seed)
        ours, theirs = (cls(random_state=0).fit(X) for cls in (FastICA, sklearn.decomposition.FastICA))
        assert amari_distance(ours, mixing) <= 1.01 * amari_distance(theirs, mixing)
        assert abs(ours.n_iter_ - theirs.n_iter_) <= 3
        assert amari_distance(ICA(random_state=0).fit(X), mixing) <= 1.01 * amari_distance(theirs, mixing)


def test_single_precision_converges_and_stays_single():
    X, mixing, _ = kinds(20_000, 6, 0)
    single = X.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for estimator in (ICA(random_state=0), FastICA(random_state=0)):
            fitted = estimator.fit(single)
            assert fitted.components_.dtype == fitted.transform(single).dtype == np.float32
            assert amari_distance(fitted, mixing) < 1.02 * amari_distance(type(estimator)(random_state=0).fit(X), mixing)


def test_a_callable_finds_what_the_name_of_the_same_function_finds():
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
    with pytest.raises(ValueError, match="it has to return two arrays"):
        FastICA(fun=np.tanh).fit(X)
    with pytest.warns(ConvergenceWarning, match="FastICA did not converge. Consider increasing"):
        FastICA(fun=cube, max_iter=1, tol=0).fit(X)


def test_deflation_that_did_not_converge_warns():
    X, _, _ = kinds(500, 4, 2)
    with pytest.warns(ConvergenceWarning, match="FastICA did not converge"):
        FastICA(algorithm="deflation", max_iter=1, random_state=0).fit(X)


def test_rows_of_lower_rank_keep_what_they_have():
    X, _, _ = kinds(3000, 3, 3)
    wide = X @ np.random.RandomState(3).randn(3, 7)
    for estimator in (ICA(random_state=0), FastICA(random_state=0)):
        with pytest.warns(UserWarning, match="the rows vary along 3 directions only"):
            fitted = estimator.fit(wide)
        assert fitted.components_.shape == (3, 7) and np.abs(fitted.components_).max() < 100
        assert_allclose(fitted.inverse_transform(fitted.transform(wide)), wide, atol=1e-9)


def test_gaussian_rows_are_told():
    X = np.random.RandomState(0).randn(5000, 4)
    with pytest.warns(UserWarning, match="4 of 4 sources cannot be told from Gaussian ones"):
        ICA(random_state=0).fit(X)


def test_removing_sources_leaves_everything_else():
    X, _, _ = kinds(2000, 6, 4)
    X = X + 3.0
    ica = ICA(n_components=4, random_state=0).fit(X)
    sources = ica.transform(X)
    clean = ica.remove(X, exclude=[0, 2])
    assert_allclose(X - clean, sources[:, [0, 2]] @ ica.mixing_[:, [0, 2]].T, atol=1e-10)
    # What no source explains stays, where inverse_transform loses it.
    assert_allclose(ica.transform(clean)[:, [0, 2]], 0, atol=1e-9)
    assert_allclose(ica.transform(clean)[:, [1, 3]], sources[:, [1, 3]], atol=1e-9)
    kept = sources.copy()
    kept[:, [0, 2]] = 0
    assert_allclose(ica.inverse_transform(sources, exclude=[0, 2]), ica.inverse_transform(kept), atol=1e-12)
    assert_allclose(ica.remove(X, exclude=[]), X)
    with pytest.raises(ValueError, match="the model has 4 sources, which count from 0"):
        ica.remove(X, exclude=[4])


def test_sources_are_matched_with_reference_channels():
    pandas = pytest.importorskip("pandas")
    X, _, sources = kinds(4000, 4, 5)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "eye"])
    ica = ICA(random_state=0).fit(frame)
    measured = np.corrcoef(ica.transform(frame).T, frame["eye"])[:-1, -1]
    assert_allclose(ica.match("eye")[:, 0], measured, atol=1e-10)
    assert_allclose(ica.match([3, 0])[:, 0], measured, atol=1e-10)
    beside = ica.match(sources, frame)
    assert beside.shape == (4, 4) and (np.abs(beside).max(axis=1) > 0.99).all()
    with pytest.raises(ValueError, match="no column that the model was fitted on"):
        ica.match("nose")
    with pytest.raises(ValueError, match="channels of the same samples"):
        ica.match(sources[:10], frame)


def test_sources_of_maximum_likelihood_are_matched_as_measured():
    X, _, _ = kinds(1500, 4, 6)
    ica = ICA(ortho=False, extended=True, random_state=0).fit(X)
    measured = np.corrcoef(ica.transform(X).T, X.T)[:4, 4:]
    assert_allclose(ica.match(range(4)), measured, atol=1e-8)


def test_one_scale_of_tolerances():
    X, _, _ = kinds(4000, 5, 7)
    for given in ({}, {"algorithm": "fastica"}, {"ortho": False}, {"algorithm": "infomax"}):
        ica = ICA(tol=1e-7, random_state=0, **given).fit(X)
        assert ica.report_.outcome == "converged" and ica.report_.residual <= ica.report_.tol == 1e-7
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        assert ICA(max_iter=1, tol=1e-12, random_state=0).fit(X).report_.outcome == "max_iter"


def test_starts_are_seeded_and_may_be_given():
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


def test_saved_models_and_files_are_what_they_were(tmp_path):
    X, _, _ = kinds(1000, 4, 9)
    np.save(tmp_path / "x.npy", X)
    for estimator in (ICA(random_state=0), FastICA(random_state=0, n_components=3)):
        fitted = estimator.fit(X)
        from_file = type(estimator)(**estimator.get_params()).fit(tmp_path / "x.npy")
        assert from_file.components_.tobytes() == fitted.components_.tobytes()
        fitted.save(tmp_path / "m.safetensors")
        again = unmix.load(tmp_path / "m.safetensors")
        assert type(again) is type(fitted) and again.transform(X).tobytes() == fitted.transform(X).tobytes()


def test_whitening_is_scikit_learns_up_to_sign():
    X, _, _ = kinds(800, 5, 10)
    for whiten in ("unit-variance", "arbitrary-variance"):
        given = dict(n_components=3, whiten=whiten, random_state=0, max_iter=500, tol=1e-10)
        ours, theirs = FastICA(**given).fit(X), sklearn.decomposition.FastICA(**given).fit(X)
        sign = np.sign(np.sum(ours.whitening_ * theirs.whitening_, axis=1, keepdims=True))
        assert_allclose(ours.whitening_ * sign, theirs.whitening_, rtol=1e-8, atol=1e-12)
        assert_allclose(ours.transform(X).var(axis=0), theirs.transform(X).var(axis=0), rtol=1e-8)
        pair = unmix.metrics.match(ours, theirs)
        assert_allclose(ours.components_, pair.sign[:, None] * theirs.components_[pair.order], atol=1e-4)


def test_the_function_returns_what_the_class_holds():
    X, _, _ = kinds(500, 4, 11)
    K, W, S, mean, n_iter = unmix.fastica(X, random_state=0, return_X_mean=True, return_n_iter=True)
    fitted = FastICA(random_state=0).fit(X)
    assert_allclose((X - mean) @ K.T @ W.T, S, atol=1e-10)
    assert_allclose(S, fitted.transform(X)) and n_iter == fitted.n_iter_
    K, W, S = unmix.fastica(X, whiten=False, compute_sources=False, random_state=0)
    assert K is None and S is None and W.shape == (4, 4)


def test_picard_has_its_own_signature():
    X, mixing, _ = kinds(4000, 5, 12)
    for given in ({}, {"ortho": False}, {"ortho": False, "extended": True}, {"n_components": 3}):
        K, W, Y, mean, n_iter = unmix.compat.picard(X.T, random_state=0, return_X_mean=True, return_n_iter=True, **given)
        k = given.get("n_components", 5)
        assert K.shape == (k, 5) and W.shape == (k, k) and Y.shape == (k, 4000)
        # Of the features, not of the samples.
        assert mean.shape == (5,) and n_iter > 1
        assert_allclose(W @ K @ (X.T - mean[:, None]), Y, atol=1e-9)
    K, W, _ = unmix.compat.picard(X.T, random_state=0, tol=1e-9)
    assert_allclose(amari_distance(W @ K @ mixing), amari_distance(ICA(tol=1e-9, random_state=0).fit(X), mixing), atol=1e-6)
    assert_allclose(W @ W.T, np.eye(5), atol=1e-10)
    assert unmix.compat.picard(X.T, whiten=False, random_state=0, max_iter=5)[0] is None
    with pytest.raises(ValueError, match="fun='tan' is not possible"):
        unmix.compat.picard(X.T, fun="tan")
    # Directions that the data do not have are dropped: no entry of size 1e14.
    K, W, Y = unmix.compat.picard(np.vstack([X.T, X.T[:2]]), random_state=0)
    assert K.shape == (5, 7) and np.abs(W @ K).max() < 100


def test_mne_finds_our_solvers_while_the_block_lasts():
    import sys

    theirs, before = sklearn.decomposition.FastICA, sys.modules.get("picard")
    with unmix.compat.mne():
        from picard import picard

        assert picard is unmix.compat.picard and issubclass(sklearn.decomposition.FastICA, FastICA)
    assert sklearn.decomposition.FastICA is theirs and sys.modules.get("picard") is before
    mne = pytest.importorskip("mne")
    X, _, _ = kinds(5000, 4, 13)
    raw = mne.io.RawArray(X.T * 1e-5, mne.create_info(4, 250.0, "eeg"), verbose="error")
    for method, given in (("picard", {}), ("fastica", {}), ("picard", {"ortho": False, "extended": True})):
        with unmix.compat.mne():
            ica = mne.preprocessing.ICA(4, method=method, random_state=0, fit_params=given, verbose="error").fit(raw, verbose="error")
        back = ica.apply(raw.copy(), exclude=[], verbose="error").get_data()
        assert_allclose(back, raw.get_data(), atol=1e-12)


def test_what_sources_share():
    X, mixing, sources = kinds(5000, 3, 14)
    ica = ICA(random_state=0).fit(X)
    found = ica.transform(X)
    assert (matched_correlation(found, sources).cosine > 0.99).all()
    assert (interference(ica, mixing) > 20).all()
    # Not of the source that is mostly 0: what little it holds of others decides its ranks there.
    smooth = np.random.RandomState(0).laplace(size=(5000, 3))
    mixed = smooth @ mixing.T
    before, after = mutual_information(mixed), mutual_information(ICA(random_state=0).fit_transform(mixed))
    assert np.abs(after).max() < 0.03 < before.max()
    with pytest.raises(ValueError, match="give sources of the same samples"):
        matched_correlation(found, sources[:5])


def test_a_search_may_begin_on_some_rows_and_end_when_time_is_up():
    X, mixing, _ = kinds(20_000, 6, 3)
    whole, some = (ICA(random_state=0, tol=1e-9, subsample=m).fit(X) for m in (0, 3000))
    assert_allclose(whole.components_, some.components_, atol=1e-6)
    with pytest.warns(ConvergenceWarning):
        hurried = ICA(random_state=0, max_seconds=1e-9).fit(X)
    assert hurried.report_.outcome == "time" and hurried.transform(X).shape == (20_000, 6)


@pytest.mark.parametrize("first_layer", ["pca", "sigma-pca"])
def test_two_layers_find_sources_that_are_mixed_obliquely(first_layer):
    draw = np.random.RandomState(4)
    mixing = draw.randn(4, 4)
    X = draw.laplace(size=(10_000, 4)) @ mixing.T
    assert amari_distance(ICA(algorithm="sigma-pca", first_layer=first_layer, random_state=0).fit(X), mixing) < 0.03


def test_sources_may_follow_any_of_the_laws():
    data = unmix.datasets.independent(20_000, ["bernoulli-gaussian", "student-5", "four-humps-apart", "two-uneven-humps-near"])
    assert amari_distance(ICA(random_state=0).fit(data.X), data.mixing) < 0.03
