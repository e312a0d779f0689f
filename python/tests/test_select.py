"""Rules for the number of components."""

import inspect
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA as ReferencePCA

import unmix
from unmix import PCA, select_components
from unmix.datasets import low_rank_plus_noise

DATA = low_rank_plus_noise(400, 20, 4, signal=3.0, seed=1)
RULES = ["mle", "minka", "bic", "gap", "gap-difference", "parallel", "gavish-donoho", "cv"]


def test_every_rule_finds_the_components_that_are_there():
    found = select_components(DATA.X, ["minka", "bic", "gavish-donoho", "gap", "parallel", "cv", "share", 0.5], random_state=0)
    for rule in ["minka", "mle", "bic", "gavish-donoho", "gap", "parallel", "cv"]:
        assert found[rule] == 4
    assert found.suggested == 4 and found.rank == 20 and found.n_samples == 400
    assert list(found)[:3] == ["minka", "bic", "gavish-donoho"] and len(found) == 11
    assert_allclose(found.explained_variance, ReferencePCA().fit(DATA.X).explained_variance_, rtol=1e-12)
    for share in [0.5, 0.8, 0.9, 0.95, 0.99]:
        assert found[share] == found[f"share-{share}"] == ReferencePCA(share).fit(DATA.X).n_components_
    for share in [0.123456789, 0.00001]:
        assert select_components(DATA.X, [share])[share] == ReferencePCA(share).fit(DATA.X).n_components_


@pytest.mark.parametrize("rule", RULES)
def test_pca_accepts_every_rule_and_agrees_with_the_table(rule):
    for x in [DATA.X, DATA.X.astype(np.float32), DATA.X[:15] if rule != "mle" else DATA.X[:20]]:
        model = PCA(rule, random_state=3).fit(x)
        assert model.n_components_ == select_components(x, rule, random_state=3)[rule]
        assert model.report_.settings["n_components"] == model.n_components_
        assert model.get_params()["n_components"] == rule
        assert model.transform(x).shape == (len(x), model.n_components_)
    with pytest.raises(ValueError, match=f"n_components='{rule}' cannot be a string with svd_solver='arpack'"):
        PCA(rule, svd_solver="arpack").fit(DATA.X)


def test_every_name_of_the_table_is_a_number_of_components():
    for x in [DATA.X, DATA.X[:15]]:
        for name, k in select_components(x, random_state=3).items():
            assert PCA(name).fit(x).n_components_ == k, name
    assert PCA("share-0.5").fit(DATA.X).n_components_ == PCA(0.5).fit(DATA.X).n_components_
    assert unmix.ICA("share-0.5", random_state=0).fit(DATA.X).n_components_ == unmix.ICA(0.5, random_state=0).fit(DATA.X).n_components_
    for wrong in ["share-1.5", "share-", "share", "gapp"]:
        with pytest.raises(ValueError, match="The 'n_components' parameter of PCA must be"):
            PCA(wrong).fit(DATA.X)


def test_minka_agrees_with_scikit_learn():
    for seed in range(10):
        x = np.random.RandomState(seed).randn(60, 12) * 0.8 ** np.arange(12)
        assert PCA("mle").fit(x).n_components_ == ReferencePCA("mle").fit(x).n_components_


def test_rows_come_from_arrays_frames_and_files(tmp_path):
    want = select_components(DATA.X, random_state=0).to_dict()
    np.save(tmp_path / "x.npy", DATA.X)
    frame = pd.DataFrame(DATA.X, columns=[f"c{j}" for j in range(20)])
    for x in [np.asfortranarray(DATA.X), frame, str(tmp_path / "x.npy"), tmp_path / "x.npy", DATA.X.tolist()]:
        assert select_components(x, random_state=0).to_dict() == want
    assert json.loads(json.dumps(want)) == want


def test_weights_count_rows():
    weights = np.arange(400) % 3
    rules = [*RULES, 0.9]
    found = select_components(DATA.X, rules, sample_weight=weights, random_state=1)
    assert dict(found) == dict(select_components(np.repeat(DATA.X, weights, axis=0), rules, random_state=1))
    with pytest.raises(ValueError, match="the weight of row 0 is 0.5"):
        select_components(DATA.X, "parallel", sample_weight=np.full(400, 0.5))


def test_the_program_prints_the_same(tmp_path):
    np.save(tmp_path / "x.npy", DATA.X)
    program = "import sys; from unmix._cli import main; sys.exit(main())"
    options = ["--json", "--seed", "7", "--rules", "bic,cv"]
    command = [sys.executable, "-c", program, "select", str(tmp_path / "x.npy"), *options]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    printed.pop("input")
    assert printed == select_components(DATA.X, ["bic", "cv"], random_state=7).to_dict()


def test_the_repr_is_a_table_for_80_columns():
    text = repr(select_components(DATA.X, ["mle", "bic", "parallel", "gavish-donoho", "cv", "share", "gap"], random_state=0))
    assert max(map(len, text.splitlines())) <= 80
    assert "minka             4  rank of the signal" in text


def test_ambiguity_warns():
    x = np.random.RandomState(0).randn(40, 30) * 0.8 ** np.arange(30)
    with pytest.warns(UserWarning, match="Minka's rule selects"):
        found = select_components(x)
    assert abs(found["minka"] - found["bic"]) > 1 and found.warnings[0] in repr(found)


def test_bad_input_is_refused_with_a_remedy():
    with pytest.raises(ValueError, match=r"there is no rule named 'paralel' \(did you mean 'parallel'\?\)"):
        select_components(DATA.X, "paralel")
    with pytest.raises(ValueError, match="between 0 and 1"):
        select_components(DATA.X, 1.5)
    for options in ({}, {"method": "ppca"}):
        with pytest.raises(ValueError, match="rules must be distinct, got 'bic' more than once; name each rule once"):
            select_components(DATA.X, rules=["bic", "bic"], **options)
    with pytest.raises(TypeError, match="rules must be names of rules or shares between 0 and 1, got 3"):
        select_components(DATA.X, [3])
    with pytest.raises(KeyError, match="'cv' was not requested"):
        select_components(DATA.X)["cv"]
    with pytest.raises(ValueError, match="row 1, column 2 is NaN"):
        select_components([[1.0, 2, 3], [2, 3, np.nan], [4, 5, 7]])
    with pytest.raises(ValueError, match="did you mean|must be a"):
        PCA("bik").fit(DATA.X)


def test_generators_are_seeded_and_refuse_bad_arguments():
    again = low_rank_plus_noise(400, 20, 4, signal=3.0, seed=1)
    assert_array_equal(again.X, DATA.X)
    assert_allclose(DATA.components @ DATA.components.T, np.eye(4), atol=1e-12)
    assert_allclose(DATA.codes.std(axis=0), [6, 5, 4, 3], rtol=0.15)
    assert abs((DATA.X - DATA.codes @ DATA.components).std() - 1) < 0.03
    with pytest.raises(ValueError, match="n_components must be at most n_features=4, got 5"):
        low_rank_plus_noise(10, 4, 5)
    assert "low_rank_plus_noise" in unmix.datasets.__all__


def with_gaps(x, share=0.1):
    return np.where(np.random.RandomState(5).rand(*x.shape) < share, np.nan, x)


@pytest.mark.parametrize("method", ["ppca", "linear-eigengan"])
def test_methods_with_a_likelihood_have_one_table_over_the_number_of_components(method, tmp_path):
    gaps = with_gaps(DATA.X)
    found = select_components(gaps, method=method, random_state=0)
    assert dict(found)["bic"] == found["cells"] == found.suggested == 4
    assert_array_equal(found.k, range(8))
    assert (np.diff(found.log_likelihood) > 0).all() and (found.cells_standard_error > 0).all()
    assert found.k[found.bic.argmin()] == found.k[found.cells.argmax()] == 4
    model = unmix.PPCA(4).fit(gaps)
    assert_allclose(found.log_likelihood[4], model.score_samples(gaps).sum(), rtol=1e-6)
    assert_allclose(found.bic[4] - found.aic[4], (np.log(400) - 2) * (4 * 20 - 6 + 20 + 1))
    np.save(tmp_path / "x.npy", gaps)
    assert select_components(tmp_path / "x.npy", method=method, random_state=0).to_dict() == found.to_dict()
    assert max(map(len, repr(found).splitlines())) <= 80 and "cells     4  best" in repr(found)


def test_the_program_has_the_same_table(tmp_path):
    np.save(tmp_path / "x.npy", with_gaps(DATA.X))
    program = "import sys; from unmix._cli import main; sys.exit(main())"
    options = ["--json", "--seed", "7", "--method", "ppca", "--max-components", "3", "--set", "standardize=true"]
    command = [sys.executable, "-c", program, "select", str(tmp_path / "x.npy"), *options]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    printed.pop("input")
    again = select_components(with_gaps(DATA.X), method="ppca", max_components=3, settings={"standardize": True}, random_state=7)
    assert printed == again.to_dict() and len(again.k) == 4


def test_rules_of_a_table_are_checked():
    with pytest.raises(ValueError, match="did you mean 'cells'"):
        select_components(DATA.X, "cels", method="ppca")
    with pytest.raises(ValueError, match="no likelihood|no log-likelihood"):
        select_components(DATA.X, method="fastica")
    with pytest.raises(ValueError, match="no method named 'nothing'"):
        select_components(DATA.X, method="nothing")
    with pytest.raises(ValueError, match="max_components, settings and max_seconds"):
        select_components(DATA.X, max_components=3)
    with pytest.raises(ValueError, match="max_components"):
        select_components(DATA.X, method="ppca", settings={"n_components": 2})
    with pytest.raises(KeyError, match="'cells' was not requested"):
        select_components(DATA.X, "bic", method="ppca", max_components=2)["cells"]


def test_a_table_ends_at_the_time_limit():
    with pytest.warns(UserWarning, match="ended early at the time limit"):
        late = select_components(DATA.X, method="ppca", rules="bic", max_seconds=1e-9)
    assert len(late.k) == 1
    in_time = select_components(DATA.X, method="ppca", rules="bic", max_components=5, max_seconds=1e6)
    assert_array_equal(in_time.bic, select_components(DATA.X, method="ppca", rules="bic", max_components=5).bic)
    with pytest.raises(ValueError, match="max_seconds can be used only with a method that has a likelihood"):
        select_components(DATA.X, max_seconds=1.0)
    with pytest.raises(ValueError, match="max_seconds must be a number of seconds above 0 or None, got 0"):
        select_components(DATA.X, method="ppca", max_seconds=0)


def test_the_types_of_results_name_every_method_with_a_table_over_the_number_of_components():
    source = inspect.getsource(inspect.getmodule(unmix.select_components))
    typed = set(re.findall(r'"([a-z-]+)"', re.search(r"method: Literal\[(.*,.*)\]", source).group(1)))
    X = np.random.default_rng(0).normal(size=(30, 4))

    def has_table(key):
        try:
            return hasattr(unmix.select_components(X, method=key, max_components=1, rules="bic"), "log_likelihood")
        except (TypeError, ValueError):
            return False

    assert typed == {method["key"] for method in unmix.methods() if has_table(method["key"])}
