"""Complete dictionaries in Python: atoms, codes, files, and the page about them."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import unmix
from unmix import FastICA, CompleteDictionary
from unmix.datasets import bernoulli_gaussian


@pytest.fixture
def made():
    return bernoulli_gaussian(3000, 8, 8, share=0.3, orthogonal=False, seed=1)


def cosines(a, b):
    return abs(a @ b.T)


def test_atoms_codes_and_their_scale(made, tmp_path):
    model = CompleteDictionary(random_state=0).fit(made.X)
    near = cosines(model.components_, made.components)
    assert sorted(near.argmax(1)) == list(range(8)) and near.max(1).min() > 1 - 1e-12
    assert_allclose((model.components_**2).sum(1), 1, rtol=1e-12)
    codes = model.transform(made.X)
    assert_allclose(model.inverse_transform(codes), made.X, atol=1e-11)
    order = near.argmax(1)
    sign = np.sign((model.components_ * made.components[order]).sum(1))
    assert_allclose(codes * sign, made.codes[:, order], atol=1e-10)
    assert_allclose(model.usage_, abs(codes).mean(0), rtol=1e-10)
    assert (np.diff(model.usage_) <= 0).all()
    assert_allclose(model.kurtosis_, (codes**4).mean(0) / (codes**2).mean(0) ** 2 - 3, rtol=1e-8)
    assert_array_equal(model.mixing_, model.components_.T)
    parts = (made.X - model.mean_) @ model.rotation_ / model.scale_ @ model.second_rotation_
    assert_allclose(parts, codes, atol=1e-11)
    assert model.report_.fit == {"refined": 8, "polished": 0} and not model.report_.warnings
    model.save(tmp_path / "m.safetensors")
    for other in (unmix.load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(other.transform(made.X), codes)


def test_files_and_arrays_give_the_same_bits(made, tmp_path):
    np.save(tmp_path / "rows.npy", made.X)
    a, b = (CompleteDictionary(random_state=0).fit(x) for x in (made.X, tmp_path / "rows.npy"))
    assert_array_equal(a.components_, b.components_)
    single = CompleteDictionary(random_state=0).fit(made.X.astype(np.float32))
    assert single.components_.dtype == np.float32 and single.transform(made.X.astype(np.float32)).dtype == np.float32
    assert cosines(single.components_, made.components).max(1).min() > 1 - 1e-6


def test_the_search_alone_is_fastica_with_cube(made):
    plain = CompleteDictionary(polish=False, refine=False, tol=1e-10, random_state=0).fit(made.X)
    white = made.X @ plain.rotation_ / plain.scale_
    ica = FastICA(fun="cube", whiten=False, tol=1e-18, max_iter=500, random_state=0).fit(white)
    codes, sources = plain.transform(made.X), ica.transform(white)
    alike = abs(np.corrcoef(codes.T, sources.T)[:8, 8:])
    assert alike.max(1).min() > 1 - 1e-9 and sorted(alike.argmax(1)) == list(range(8))


def test_few_steps_and_gaussian_rows_warn(made):
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        CompleteDictionary(max_iter=1, polish=False, random_state=0).fit(made.X)
    draw = np.random.RandomState(0)
    model = CompleteDictionary(random_state=0, max_iter=1000).fit(draw.randn(4000, 5))
    assert any("not super-Gaussian" in w for w in model.report_.warnings)


def test_the_page_has_a_card_for_each_atom(made, tmp_path):
    model = CompleteDictionary(random_state=0).fit(made.X)
    unmix.report(model, made.X, path=tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "CompleteDictionary" in page and page.count('class="component"') == 8


def test_l1_is_less_accurate_than_the_polish_where_no_code_is_0():
    X = np.random.default_rng(0).laplace(size=(3000, 4)) @ np.random.default_rng(1).normal(size=(4, 4))

    def apart(a, b):
        """The largest angle between an atom of ``a`` and the nearest of ``b``; of the difference, because a cosine of 1 - 1e-16 has half of the digits."""
        return max(np.minimum(*(np.linalg.norm(atom - sign * b, axis=1) for sign in (1, -1))).min() for atom in a)

    for settings, least, most in (({"algorithm": "l1", "max_iter": 1000}, 1e-4, 0.02), ({}, 0, 1e-6)):
        fits = [CompleteDictionary(random_state=seed, **settings).fit(X) for seed in (0, 1)]
        assert all(fit.report_.outcome == "converged" for fit in fits)
        assert least <= apart(fits[0].components_, fits[1].components_) <= most
    plain, polished = (CompleteDictionary(algorithm="l1", polish=polish, refine=polish, random_state=0).fit(X) for polish in (False, True))
    assert_array_equal(plain.components_, polished.components_)
