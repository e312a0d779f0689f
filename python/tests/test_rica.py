"""RICA in Python: warm starts, saved models, types, and the numbers on its page."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

import unmix
from unmix import RICA

PAGE = Path(__file__).parents[2] / "docs" / "rica.md"


@pytest.fixture
def rows():
    draw = np.random.RandomState(1)
    return draw.laplace(size=(1500, 5)) @ draw.randn(5, 5) + 3.0


@pytest.mark.skipif(not PAGE.exists(), reason="the tests are not in a checkout")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_examples_of_the_page_run():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert blocks
    exec("\n".join(blocks), {})


def off(found, wanted):
    """The largest absolute difference, relative to the largest number."""
    return np.abs(found - wanted).max() / np.abs(wanted).max()


def test_codes_and_mixing_follow_from_the_components(rows):
    for settings in ({}, {"n_components": 3}, {"n_components": 9, "tol": 1e-3}, {"whiten": False}):
        model = RICA(random_state=0, **settings).fit(rows)
        codes = model.transform(rows)
        assert off(codes, (rows - model.mean_) @ model.components_.T) < 1e-13
        assert off(model.mixing_, np.linalg.pinv(model.components_)) < 1e-13
        assert off(model.inverse_transform(codes), codes @ model.mixing_.T + model.mean_) < 1e-13
        # Cosines in whitened coordinates are correlations of codes.
        units = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
        cosines = np.corrcoef(codes.T) if model.whiten else units @ units.T
        assert abs(model.coherence_ - np.abs(cosines - np.eye(len(units))).max()) < 1e-12
        assert np.all(np.diff(model.report_.objective) <= 0)


def test_components_are_the_product_of_rotations_and_scales(rows):
    model = RICA().fit(rows)
    made = model.rotation_ @ np.diag(1 / model.scale_) @ model.second_rotation_
    assert off(made.T, model.components_) < 1e-13
    with pytest.raises(AttributeError, match="no rotation"):
        RICA(n_components=8, tol=1e-2).fit(rows).rotation_


def test_warm_starts_continue_the_last_fit(rows):
    model, ends = None, []
    for _ in range(3):
        with pytest.warns(ConvergenceWarning, match="did not converge in 5 iterations"):
            model = RICA(max_iter=5, tol=0.0, init=model, random_state=0).fit(rows)
        ends.append(model.report_.objective)
    for before, after in zip(ends, ends[1:]):
        assert after[0] == pytest.approx(before[-1], rel=1e-12) and after[-1] < before[-1]
    done = RICA(random_state=0).fit(rows)
    again = RICA(w_init=done.components_, tol=1e-4).fit(rows)
    assert again.n_iter_ == 0


def test_single_precision_and_files(rows, tmp_path):
    narrow = rows.astype(np.float32)
    model = RICA(random_state=0).fit(narrow)
    assert model.components_.dtype == model.transform(narrow).dtype == np.float32
    np.save(tmp_path / "rows.npy", narrow)
    other = RICA(random_state=0).fit(tmp_path / "rows.npy")
    assert np.array_equal(other.components_, model.components_)
    model.save(tmp_path / "model.safetensors")
    loaded = unmix.load(tmp_path / "model.safetensors")
    assert isinstance(loaded, RICA) and np.array_equal(loaded.transform(narrow), model.transform(narrow))


def test_bad_settings_are_refused(rows):
    for settings, words in (
        ({"beta": -1.0}, "beta"),
        ({"contrast": "exp"}, "contrast"),
        ({"n_components": 0}, "n_components"),
        ({"w_init": np.eye(4)}, "w_init=4 x 4 numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            RICA(**settings).fit(rows)


def test_features_that_all_vanish_have_the_outcome_collapsed(rows):
    with pytest.warns(ConvergenceWarning, match="outcome 'collapsed'.*smaller beta"):
        model = RICA(beta=10.0, w_init=1e-3 * np.eye(5)).fit(rows)
    assert model.report_.outcome == "collapsed"


def test_units_do_not_matter_without_whitening(rows):
    plain = RICA(whiten=False, random_state=0).fit(rows)
    tiny = RICA(whiten=False, random_state=0).fit(rows * 2.0**-20)
    assert plain.n_iter_ == tiny.n_iter_ > 3 and tiny.report_.outcome == "converged"
    assert np.array_equal(tiny.components_ * 2.0**-20, plain.components_)
    assert tiny.data_scale_ == plain.data_scale_ * 2.0**-20


def test_few_rows_of_many_columns_do_not_each_get_a_feature():
    rows = np.random.RandomState(0).randn(60, 3000)
    model = RICA(10, random_state=0).fit(rows)
    squares = model.transform(rows) ** 2
    assert (squares.max(0) / squares.sum(0)).max() < 0.4
    assert any("the first 10 are whitened" in w or "may be a spike at a single row" in w for w in model.report_.warnings)


@pytest.mark.parametrize("n_components", [5, None])
def test_sparse_factors_of_few_rows_and_many_columns_are_found_by_default(n_components):
    # An implementation in numpy (the formula of the objective, minimised by scipy) has medians of .94 to .98 and smallest cosines of .88
    # to .96 for five components, the same from each of three starts; PCA has a median of .72.
    medians, least, principal = [], [], []
    for seed in range(8):
        draw = np.random.default_rng(seed)
        factors = (draw.random((60, 5)) < 0.2) * draw.uniform(1, 2, size=(60, 5)) * draw.choice([-1, 1], size=(60, 5))
        loadings = draw.normal(size=(5, 3000))
        rows = factors @ loadings + draw.normal(size=(60, 3000))
        loadings /= np.linalg.norm(loadings, axis=1, keepdims=True)
        with warnings.catch_warnings():
            # That only some leading directions are whitened.
            warnings.simplefilter("ignore")
            found = RICA(n_components, random_state=0).fit(rows).mixing_
        cosines = np.abs(loadings @ (found / np.linalg.norm(found, axis=0)))
        a, b = linear_sum_assignment(-cosines)
        medians.append(np.median(cosines[a, b]))
        least.append(cosines[a, b].min())
        axes = np.linalg.svd(rows - rows.mean(0), full_matrices=False)[2][:5]
        cosines = np.abs(loadings @ axes.T)
        principal.append(np.median(cosines[linear_sum_assignment(-cosines)]))
    assert min(medians) >= 0.93, (medians, least)
    # A sixth feature may take a part of a factor.
    assert n_components is None or min(least) >= 0.85, (medians, least)
    assert np.median(principal) < 0.85, principal


@pytest.mark.skipif(not Path(os.environ.get("UNMIX_DATA", ""), "gene_fabia_multi_a").is_dir(), reason="UNMIX_DATA names no folder with gene_fabia_multi_a")
@pytest.mark.parametrize("contrast", ["logcosh", "smooth-l1"])
def test_genes_converge_to_the_tolerance_without_whitening(contrast):
    # 102 rows of 5565 columns: the objective is near 4000, where plain summation had errors larger than its change in the last
    # iterations.
    X = np.load(Path(os.environ["UNMIX_DATA"], "gene_fabia_multi_a", "X.npy")).astype(float)
    for k in (3, 5):
        for seed in (0, 1):
            report = RICA(k, whiten=False, contrast=contrast, random_state=seed, max_iter=5000).fit(X).report_
            assert report.outcome == "converged" and report.residual <= 1e-6, (k, seed, report.residual)
            assert report.sweeps < 300, (k, seed, report.sweeps)
