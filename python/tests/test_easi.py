"""ICA of a stream of rows, by EASI: partial fits."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from test_ica import kinds

import unmix
from unmix import ICA
from unmix.metrics import amari_distance


def test_easi_converges_on_rows_that_are_sorted():
    S = np.random.default_rng(0).laplace(size=(8000, 4))
    S = S[np.argsort((S**2).sum(1))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        easi, picard = (ICA(algorithm=a, random_state=0).fit(S) for a in ("easi", "picard"))
    assert easi.report_.outcome == "converged" and easi.report_.residual <= 1e-6
    assert unmix.metrics.match(easi, picard).cosine.min() > 1 - 1e-9
    with pytest.warns(ConvergenceWarning, match="the residual is"):
        assert ICA(algorithm="easi", max_iter=2, random_state=0).fit(S).report_.outcome == "max_iter"


def stream(n, k, seed, distribution="kinds"):
    draw = np.random.RandomState(seed)
    S = kinds(n, k, seed)[2] if distribution == "kinds" else draw.uniform(-1, 1, size=(n, k))
    mixing = np.eye(k) + 0.4 * draw.randn(k, k)
    return S @ mixing.T + np.arange(k), mixing


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_partial_fits_do_not_depend_on_the_batches_and_are_saved_and_loaded(dtype, tmp_path):
    X, _ = stream(3000, 4, 0)
    X = X.astype(dtype)
    whole = ICA(algorithm="easi").partial_fit(X)
    for cuts in ([1, 2, 40, 63, 64, 65, 1000], list(range(7, 3000, 501)), [2999]):
        ica = ICA(algorithm="easi")
        for i, batch in enumerate(np.split(X, cuts)):
            batch = np.asfortranarray(batch) if i % 2 else batch
            assert ica.partial_fit(batch) is ica
            if i % 3 == 1:
                ica = pickle.loads(pickle.dumps(ica))
            if i % 3 == 2:
                ica.save(tmp_path / "m.safetensors")
                ica = unmix.load(tmp_path / "m.safetensors")
        for name in ("components_", "mixing_", "mean_", "component_variance_", "stream_"):
            assert getattr(ica, name).tobytes() == getattr(whole, name).tobytes(), (cuts, name)
        assert ica.components_.dtype == dtype and ica.report_.n_samples == 3000
    np.save(tmp_path / "x.npy", X)
    assert ICA(algorithm="easi").partial_fit(tmp_path / "x.npy").components_.tobytes() == whole.components_.tobytes()


def test_partial_fits_separate_sources_in_any_units_and_continue_a_fit():
    found = []
    for seed in range(5):
        X, mixing = stream(40_000, 4, seed)
        ica = ICA(algorithm="easi").partial_fit(X)
        small = ICA(algorithm="easi").partial_fit(1e-9 * X)
        assert_allclose(1e-9 * small.components_, ica.components_, rtol=1e-6, atol=1e-9)
        found.append(amari_distance(ica, mixing))
    assert np.median(found) < 0.03, found
    assert_allclose(ica.inverse_transform(ica.transform(X)), X, atol=1e-9)
    assert ica.report_.outcome == "completed" and ica.report_.residual < 0.1
    # partial_fit continues a fit.
    fitted = ICA(algorithm="easi", random_state=0).fit(X)
    on = ICA(algorithm="easi", random_state=0).fit(X).partial_fit(X[:10_000])
    assert on.report_.n_samples == 50_000
    assert amari_distance(on, mixing) < amari_distance(fitted, mixing) + 0.01


def test_the_wrong_pairing_of_nonlinearity_and_sources_diverges():
    # tanh is a score function for heavy tails: for sub-Gaussian sources the solution is unstable (Cardoso & Laheld 1996, section V).
    wrong, right = [], []
    for seed in range(5):
        X, mixing = stream(40_000, 4, seed, "uniform")
        start = np.linalg.inv(mixing / np.sqrt(3))
        wrong.append(amari_distance(ICA(algorithm="easi", extended=False, w_init=start).partial_fit(X), mixing))
        right.append(amari_distance(ICA(algorithm="easi", w_init=start).partial_fit(X), mixing))
    assert np.median(wrong) > 0.4 and np.median(right) < 0.03, (wrong, right)


def test_bad_partial_fits_are_refused():
    X, _ = stream(500, 4, 1)
    assert not hasattr(ICA(), "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        ICA().partial_fit(X)
    for given, words in (
        ({"n_components": 3}, "give 4, or leave it out"),
        ({"n_components": 0.9}, "a share of the variance needs all rows at once"),
        ({"order": "kurtosis"}, "choose 'variance' or 'found'"),
        ({"w_init": np.eye(3)}, "give a 4 x 4 matrix"),
    ):
        with pytest.raises(ValueError, match=words):
            ICA(algorithm="easi", **given).partial_fit(X)
    with pytest.warns(UserWarning, match="standardize=.* has no effect here: the sources of incremental fits do not depend"):
        ICA(algorithm="easi", standardize=True).partial_fit(X)
    ica = ICA(algorithm="easi").partial_fit(X[:200])
    before = ica.components_.tobytes()
    bad = X[200:].copy()
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match="row 7, column 2"):
        ica.partial_fit(bad)
    with pytest.raises(ValueError):
        ica.partial_fit(X[:, :3])
    assert ica.components_.tobytes() == before and ica.report_.n_samples == 200
    whole = ICA(algorithm="easi").partial_fit(X)
    assert ica.partial_fit(X[200:]).components_.tobytes() == whole.components_.tobytes()


def test_partial_fits_of_files_match_columns_by_name(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, _, _ = kinds(2000, 3, 21)
    first, second = (pandas.DataFrame(part, columns=["a", "b", "c"]) for part in (X[:1000], X[1000:]))
    first.to_csv(tmp_path / "first.csv", index=False)
    second.to_csv(tmp_path / "second.csv", index=False)
    second[["c", "a", "b"]].to_csv(tmp_path / "permuted.csv", index=False)
    same, permuted = (
        ICA(algorithm="easi", random_state=0).partial_fit(tmp_path / "first.csv").partial_fit(tmp_path / name)
        for name in ("second.csv", "permuted.csv")
    )
    np.testing.assert_array_equal(same.components_, permuted.components_)


def test_a_note_about_a_file_is_raised_once_by_a_partial_fit(tmp_path):
    pandas = pytest.importorskip("pandas")
    # With the index of the frame, which is left out.
    pandas.DataFrame(kinds(1000, 3, 21)[0], columns=["a", "b", "c"]).to_csv(tmp_path / "x.csv")
    for model in (ICA(algorithm="easi", random_state=0), unmix.DictionaryLearning(3, random_state=0)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.partial_fit(tmp_path / "x.csv")
        assert sum("is the index of a table" in str(one.message) for one in caught) == 1, [str(one.message) for one in caught]
        assert sum("is the index of a table" in sentence for sentence in model.report_.warnings) == 1
