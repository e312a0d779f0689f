"""Components that are reproduced in halves of the rows and with other seeds."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import unmix
from unmix import ICA, PCA, RICA, SigmaPCA, datasets


def test_tied_variances_are_a_group():
    data = datasets.independent(3000, ["gaussian"] * 5, [20, 6, 1, 1, 1])
    model = PCA(random_state=0).fit(data.X)
    found = unmix.stability(model, data.X, restarts=1)
    assert found.verdict[:2] == ["resolved"] * 2
    assert found.verdict[3] == "resolved as a group with 2, 4"
    assert found.halves[:2].min() > 0.99 > 0.9 > found.halves[2:].mean()
    assert (found.interval[:, 0] <= found.halves).all() and (found.halves <= found.interval[:, 1]).all()
    assert (found.interval[:2] == found.space_interval[:2]).all() and found.space_interval[2:, 0].min() > 0.9
    assert found.restarts is None and len(found) == 5 and found.splits == 20
    assert "resolved as a group with 2, 4" in repr(found)
    again = unmix.stability(model, data.X, restarts=1)
    assert_array_equal(found.halves, again.halves)


def test_printed_intervals_are_rounded_outwards_and_stay_on_their_side_of_the_threshold():
    shown = unmix._stability._ends
    assert shown((0.98961, 0.99968)) == "0.989 to 1.000"
    assert shown((0.5, 0.89996)) == "0.500 to 0.899"
    assert (shown((0.9, 1.0)), shown((0.0, 0.0))) == ("0.900 to 1.000", "0.000 to 0.000")


def test_clusters_of_all_fits():
    sources = ["laplace", "laplace", "gaussian", "laplace", "gaussian", "laplace"]
    data = datasets.independent(4000, sources, [1] * 6)
    ica = ICA(random_state=0).fit(data.X)
    found = unmix.stability(ica, data.X, splits=4, restarts=4)
    clear = found.gaussian < 1e-6
    assert clear.sum() == 4
    for clusters, n_fits in [(found.clusters.halves, 8), (found.clusters.restarts, 5), (found.clusters.both, 13)]:
        assert (clusters.quality[clear] > 0.9).all() and (clusters.fits[clear] == n_fits).all()
        assert clusters.size.sum() == 6 * n_fits and clusters.n_fits == n_fits and clusters.n_left_out == 0
        assert clusters.labels.shape == (n_fits, 6) and (clusters.labels[:, clear] == np.flatnonzero(clear)).all()
        assert clusters.centrotypes.shape == (6, 6) and len(clusters) == 6
        along = (clusters.centrotypes * ica.components_).sum(axis=1)
        along /= np.linalg.norm(clusters.centrotypes, axis=1) * np.linalg.norm(ica.components_, axis=1)
        assert (along[clear] > 0.99).all() and (clusters.similarity[clear] > 0.99).all()
    assert np.nanmax(found.clusters.halves.quality[~clear]) < 0.9
    assert "Iq halves  Iq restarts  verdict" in repr(found) and "both:" in repr(found.clusters)
    low, high = found.restarts_interval.T
    assert (low <= found.restarts).all() and (found.restarts <= high).all()
    for j, verdict in enumerate(found.verdict):
        disagrees = found.restarts_least[j] < 0.9
        expected = "; depends on" if high[j] < 0.9 else "; may depend on" if low[j] < 0.9 and disagrees else None
        assert ("initialisation" in verdict) == (expected is not None) and (expected or "") in verdict, (verdict, low[j], high[j])
    # The sources that are not Gaussian do not depend on it.
    assert (found.restarts_least[clear] > 0.9).all() and (found.restarts_least <= found.restarts).all()


def test_of_an_exact_solver_halves_alone_are_clustered():
    X = datasets.independent(2000, ["gaussian"] * 3, [9, 3, 1]).X
    found = unmix.stability(PCA(random_state=0).fit(X), X, splits=3, restarts=2)
    assert found.clusters.restarts is None and found.clusters.both is None
    assert (found.clusters.halves.quality > 0.9).all() and (found.clusters.halves.size == 6).all()
    assert "Iq restarts" not in repr(found)
    # A cluster needs several estimates; fits of all rows by an exact solver give only one.
    assert repr(unmix.stability(PCA(random_state=0).fit(X), X, splits=1, restarts=0).clusters).startswith("halves:")


def test_one_split_is_undecided_and_more_are_suggested():
    data = datasets.independent(3000, ["gaussian"] * 4, [20, 6, 2, 1])
    model = PCA(random_state=0).fit(data.X)
    one = unmix.stability(model, data.X, splits=1, restarts=0)
    assert one.verdict == ["undecided: the interval crosses 0.9"] * 4
    assert (one.interval == [0, 1]).all() and "splits=20 narrows them" in repr(one)
    many = unmix.stability(model, data.X, restarts=0)
    assert many.verdict == ["resolved"] * 4 and "narrows" not in repr(many)


def test_resamples_estimate_the_sampling_error_of_the_intervals_alone():
    X = np.random.RandomState(0).normal(size=(400, 4)) * [3.0, 1.8, 1.0, 0.5]
    model = PCA(random_state=0).fit(X)
    plain = unmix.stability(model, X, splits=5, restarts=0, bootstrap=0)
    found = unmix.stability(model, X, splits=5, restarts=0, bootstrap=np.int64(8))
    assert (plain.bootstrap, found.bootstrap) == (0, 8)
    assert unmix.stability(model, X, splits=5, restarts=0).bootstrap == 20
    assert unmix.stability(model, X, splits=1, restarts=0).bootstrap == 0, "every interval is [0, 1]"
    assert_array_equal(found.halves, plain.halves)
    assert (found.interval != plain.interval).any() and (found.interval[:, 0] <= found.halves).all()
    assert "from 8 resamples of the rows" in repr(found) and "resamples" not in repr(plain)
    with pytest.raises(ValueError, match="bootstrap must be an integer of at least 0, got -1"):
        unmix.stability(model, X, bootstrap=-1)


def test_printed_intervals_agree_with_the_verdict():
    ends = [[0.89996, 0.99], [0.9, 0.99], [0.5, 0.89996], [0.5, 0.9]]
    fields = {"halves": [0.9] * 4, "interval": ends, "space": [0.9] * 4, "space_interval": ends, "index": [1] * 4, "gaussian": [1] * 4}
    fields |= {"restarts": None, "block_length": 1, "splits": 20, "verdict": ["undecided", "resolved", "not resolvable", "undecided"]}
    fields["clusters"] = dict.fromkeys(["halves", "restarts", "both"])
    shown = repr(unmix.Stability(json.dumps(fields))).splitlines()[1:]
    for line, ends in zip(shown, ["0.899 to 0.990", "0.900 to 0.990", "0.500 to 0.899", "0.500 to 0.900"]):
        assert ends in line, line


def test_an_unfitted_estimator_is_fitted_as_a_clone():
    X = datasets.independent(800, ["laplace"] * 3, [4, 2, 1]).X
    plain = ICA(random_state=3)
    found = unmix.stability(plain, X, splits=2, restarts=1)
    assert not hasattr(plain, "components_")
    fitted = unmix.stability(ICA(random_state=3).fit(X), X, splits=2, restarts=1)
    assert_array_equal(found.halves, fitted.halves)
    assert found.verdict == fitted.verdict


def test_every_interval_is_open_after_a_time_limit():
    data = datasets.independent(500, ["gaussian"] * 3, [9, 4, 1])
    model = PCA(random_state=0).fit(data.X)
    with pytest.warns(UserWarning, match="the fits ended early at the time limit"):
        late = unmix.stability(model, data.X, splits=2, restarts=1, max_seconds=1e-9)
    assert late.incomplete and late.bootstrap == 0 and (late.interval == [0, 1]).all()
    for of in (model, PCA(random_state=0)):
        in_time = unmix.stability(of, data.X, splits=2, restarts=1, max_seconds=1e6)
        assert not in_time.incomplete and in_time.bootstrap == 20
    with pytest.raises(ValueError, match="max_seconds must be a number of seconds above 0 or None, got -1"):
        unmix.stability(model, data.X, max_seconds=-1)


def test_bad_arguments_are_refused():
    X = np.random.RandomState(0).randn(40, 3)
    model = PCA().fit(X)
    with pytest.raises(ValueError, match="splits must be an integer of at least 1, got 0"):
        unmix.stability(model, X, splits=0)
    with pytest.raises(ValueError, match="columns|features"):
        unmix.stability(model, X[:, :2])


def test_halves_of_time_series_consist_of_blocks():
    draw = np.random.RandomState(0)
    slow = np.cumsum(draw.randn(6000, 3), axis=0)
    slow -= np.apply_along_axis(np.convolve, 0, slow, np.ones(200) / 200, mode="same")
    ica = ICA(random_state=0).fit(slow)
    found = unmix.stability(ica, slow, splits=2, restarts=0)
    assert found.block_length > 20 and "were kept together" in repr(found)
    assert unmix.stability(ica, draw.permutation(slow), splits=2, restarts=0).block_length == 1


def test_report_shows_time_places_and_another_model(tmp_path):
    X = np.random.RandomState(0).laplace(size=(900, 3))
    ica, fewer = ICA(random_state=0).fit(X), ICA(2, random_state=0).fit(X[:300])
    path = tmp_path / "page.html"
    unmix.report(ica, X, path=path, rate=100, positions=[(0, 1), (1, 0), (-1, 0)], beside=fewer)
    page = path.read_text()
    for part in ("Comparison with another model", "hertz", "9 seconds", "at the places of the sensors"):
        assert part in page
    with pytest.raises(ValueError, match="positions must have two coordinates for each column"):
        unmix.report(ica, X, path=path, positions=[1, 2, 3])
    with pytest.raises(ValueError, match="columns"):
        unmix.report(ica, X, path=path, beside=PCA().fit(X[:, :2]))


def test_report_draws_pairs_of_components():
    X = np.random.RandomState(0).laplace(size=(300, 4))
    pca = PCA(4).fit(X)
    page = unmix.report(pca, X, pairs=[(2, 3), (np.int64(1), 0)]).text
    assert re.findall(r"300 rows by component (\d) .*? and component (\d)", page) == [("2", "3"), ("1", "0")]
    assert unmix.report(pca, X, pairs=[(0, 1), (0, 2)]).text == unmix.report(pca, X).text
    with pytest.raises(ValueError, match="the model has 4 components"):
        unmix.report(pca, X, pairs=[(0, 4)])
    for wrong in [(0, 1), [(0, -1)], [(0, 1, 2)], [(0.5, 1)], 3]:
        with pytest.raises(ValueError, match="pairs must be a list of pairs of components"):
            unmix.report(pca, X, pairs=wrong)


@pytest.mark.heavy
@pytest.mark.skipif(not Path(os.environ.get("UNMIX_DATA", ""), "kodak8").is_dir(), reason="UNMIX_DATA names no folder with kodak8")
def test_resolved_components_of_photographs_are_found_in_other_patches():
    folder = Path(os.environ["UNMIX_DATA"], "kodak8")
    one, two = (unmix.read(folder, grey=True, patches=(7, 7), number=12_000, patch_seed=s, normalise=True) for s in (1, 2))
    plain = SigmaPCA(10, random_state=0)
    model = clone(plain).fit(one)
    found = unmix.stability(model, one, restarts=2, bootstrap=0)
    other = clone(plain).set_params(random_state=7).fit(two)
    matched = unmix.metrics.match(model, other, one)
    # The first two components are gradients along the two sides of a patch, with nearly equal variances: halves determine their plane,
    # and it is reproduced in other patches.
    assert found.verdict[0].startswith("resolved as a group with 1") and found.verdict[1].startswith("resolved as a group with 0")
    plane = model.components_[:2] @ other.components_[matched.order[:2]].T
    assert np.linalg.svd(plane, compute_uv=False).min() > 0.95
    # Every component with the verdict "resolved" has a match with cosine above 0.85 in the fit of other patches.
    resolved = np.array([verdict == "resolved" for verdict in found.verdict])
    assert (matched.cosine[resolved] > 0.85).all(), (matched.cosine, found)
    assert sum(verdict.startswith("undecided") for verdict in found.verdict) >= 6
    # RICA has many solutions with ten features on whitened patches: each half finds others.
    found = unmix.stability(RICA(10, random_state=0).fit(one), one, splits=10, restarts=2, bootstrap=0)
    assert max(found.halves) < 0.8 and all(verdict.startswith("not resolvable") for verdict in found.verdict)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("method", ["rica", "sigma-pca"])
def test_sparse_sources_are_resolved_and_gaussian_ones_are_not(method, seed):
    draw = np.random.RandomState(seed)
    # Three sparse sources, and three Gaussian ones of the same variance, which cannot be separated.
    sources = np.c_[draw.laplace(size=(6000, 3)) / np.sqrt(2), draw.normal(size=(6000, 3))]
    mixing = draw.randn(6, 6) if method == "rica" else np.linalg.qr(draw.randn(6, 6))[0]
    X = sources @ mixing.T
    model = (RICA if method == "rica" else SigmaPCA)(6, random_state=0).fit(X)
    # Five resamples instead of 20: they cost eight fits each.
    found = unmix.stability(model, X, splits=10, restarts=2, bootstrap=5)
    correlation = np.abs(np.corrcoef(model.transform(X).T, sources.T)[:6, 6:9]).max(axis=1)
    resolved = np.array([verdict == "resolved" for verdict in found.verdict])
    assert resolved.sum() == 3 and correlation[resolved].min() > 0.99 and correlation[~resolved].max() < 0.2
    # The Gaussian components are resolved as a group if halves agree on their three-dimensional space.
    assert all(v.startswith(("resolved as a group with", "not resolvable")) for v in np.array(found.verdict)[~resolved])


def test_resamples_that_cannot_be_fitted_are_left_out_unless_a_number_was_requested():
    # Only six rows differ from 0: halves of the rows have some of them, and halves of some resamples have none.
    X = np.zeros((40, 3))
    X[:6] = np.random.RandomState(0).normal(size=(6, 3))
    model = PCA(1, random_state=0).fit(X)
    bound, found = (unmix.stability(model, X, splits=3, restarts=0, bootstrap=number, random_state=1) for number in (0, None))
    assert found.bootstrap == 0
    assert_array_equal(found.interval, bound.interval)
    with pytest.raises(ValueError, match="varies|rows"):
        unmix.stability(model, X, splits=3, restarts=0, bootstrap=200, random_state=1)


@pytest.mark.parametrize("cls", [unmix.SparseCoder, unmix.LISTA])
def test_components_that_are_given_have_no_stability(cls):
    draw = np.random.RandomState(0)
    model = cls(draw.normal(size=(6, 4)), random_state=0)
    key = model._method
    with pytest.raises(ValueError, match=f"stability of {key} is not possible: its dictionary is given, not estimated; compute the stability of"):
        unmix.stability(model, draw.normal(size=(60, 4)))
