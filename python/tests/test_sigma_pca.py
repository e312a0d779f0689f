"""SigmaPCA in Python: accuracy, verdicts, files, and the parameter `a`."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import unmix


def mixed(n=4000, seed=0, dtype=np.float64):
    """Four sources of two kinds, three of them of equal variance, rotated; and their axes as columns."""
    rng = np.random.default_rng(seed)
    sources = np.c_[rng.laplace(size=(n, 2)) / np.sqrt(2), rng.uniform(-np.sqrt(3), np.sqrt(3), size=(n, 2))]
    axes = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    return (sources * [3, 1, 1, 1] @ axes.T + 5).astype(dtype), axes


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tied_sources_of_both_kinds_are_found_and_resolved(dtype):
    X, axes = mixed(dtype=dtype)
    model = unmix.SigmaPCA().fit(X)
    assert np.abs(model.components_ @ axes).max(axis=1).min() > 0.99
    assert model.resolved_.dtype == bool and model.resolved_.all()
    np.testing.assert_allclose(np.sort(model.a_), [0.8, 0.8, 4, 4], rtol=1e-6)
    assert (model.separation_ > 0).all() and (model.seeking_ < 0).all()
    assert model.report_.outcome == "converged" and model.report_.solver == "gpm"
    assert model.report_.orthonormality <= 1e-6
    assert model.components_.dtype == dtype and model.transform(X).dtype == dtype


def test_gaussian_rows_give_the_principal_axes_and_a_warning():
    X = np.random.default_rng(1).normal(size=(2000, 5)) * [5, 4, 3, 2, 1]
    model, pca = unmix.SigmaPCA().fit(X), unmix.PCA().fit(X)
    np.testing.assert_allclose(model.components_, pca.components_, atol=1e-10)
    np.testing.assert_allclose(model.explained_variance_, pca.explained_variance_ * 1999 / 2000)
    assert not model.resolved_.any()
    assert any("nothing beyond PCA" in w for w in model.report_.warnings)


def test_saved_models_keep_their_verdicts(tmp_path):
    X, _ = mixed()
    model = unmix.SigmaPCA(n_components=3, whiten=True).fit(X)
    model.save(tmp_path / "model.safetensors")
    again = unmix.load(tmp_path / "model.safetensors")
    assert again.resolved_.dtype == bool and again.report_ == model.report_
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_allclose(model.transform(X).std(axis=0), 1)
    assert "resolved" in model.summary()


def test_widths_are_a_number_or_one_for_each():
    X, _ = mixed()
    assert unmix.SigmaPCA(a=4).fit(X).a_.tolist() == [4.0] * 4
    assert sorted(unmix.SigmaPCA(n_components=2, a=np.array([0.8, 3.0])).fit(X).a_) == [0.8, 3.0]
    with pytest.raises(ValueError, match="there are 4 components"):
        unmix.SigmaPCA(a=[1.0, 2.0]).fit(X)
    with pytest.raises(ValueError, match="'deriv' parameter"):
        unmix.SigmaPCA(deriv="two").fit(X)


def test_the_published_fixed_point_is_nearly_orthonormal_and_decodes_by_least_squares():
    X, axes = mixed()
    model = unmix.SigmaPCA(n_components=3, constraint="native").fit(X)
    assert model.report_.solver == "second-order" and 1e-9 < model.report_.orthonormality < 0.05
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    np.testing.assert_allclose(model.mixing_, np.linalg.pinv(model.components_), atol=1e-12)
    assert np.abs(model.components_ @ axes).max(axis=1).min() > 0.99


def test_a_fit_that_did_not_converge_gives_a_warning():
    X, _ = mixed()
    with pytest.warns(unmix._base.ConvergenceWarning, match="did not converge in 3 iterations"):
        model = unmix.SigmaPCA(max_iter=3).fit(X)
    assert model.report_.outcome == "max_iter" and model.n_iter_ == 3


def patches(n, seed):
    """Random 11 x 11 patches of the first 500 photographs of CIFAR-10, zero padded, with every column standardised."""
    folder = os.environ.get("UNMIX_DATA")
    file = folder and Path(folder) / "cifar10" / "data_batch_1.bin.gz"
    if not file or not file.exists():
        pytest.skip("UNMIX_DATA names no folder that holds cifar10/data_batch_1.bin.gz")
    with gzip.open(file) as f:
        raw = np.frombuffer(f.read(500 * 3073), np.uint8).reshape(-1, 3073)
    images = raw[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1).astype(np.float32) / 255
    padded = np.pad(images, ((0, 0), (5, 5), (5, 5), (0, 0)))
    at = np.random.default_rng(seed).permutation(512_000)[:n]
    rows = np.stack([padded[i, y : y + 11, x : x + 11].ravel() for i, y, x in zip(at // 1024, at // 32 % 32, at % 32)])
    rows -= rows.mean(axis=0)
    return rows / np.sqrt(1e-3 + (rows**2).mean(axis=0))


def kurtosis(codes):
    """Excess kurtosis, averaged over components."""
    return ((codes**4).mean(axis=0) / (codes**2).mean(axis=0) ** 2 - 3).mean()


@pytest.mark.heavy
def test_photographs_have_sparse_components_that_agree_between_samples():
    X = patches(122_880, 7)
    assert 2 < kurtosis(unmix.PCA(32).fit_transform(X)) < 3.5
    native = unmix.SigmaPCA(32, a=4.0, constraint="native", tol=0.05, halves=False).fit(X)
    assert native.report_.outcome == "converged" and 0.05 < native.report_.orthonormality < 0.12
    assert 6.5 < kurtosis(native.transform(X)) < 8.5
    # Two disjoint random samples, each 12 % of all patches, with the default solver.
    with pytest.warns(UserWarning, match="40"):
        halves = [unmix.SigmaPCA(32, max_iter=40, halves=False).fit(part) for part in (X[:61_440], X[61_440:])]
    agree(halves)
    # And with the published fixed point.
    agree([unmix.SigmaPCA(32, a=4.0, constraint="native", tol=0.05, halves=False).fit(part) for part in (X[:61_440], X[61_440:])])


def agree(models):
    """Components of two disjoint samples of photographs agree approximately; how well depends on the samples."""
    cosines = np.abs(models[0].components_ @ models[1].components_.T)
    matched = cosines[linear_sum_assignment(-cosines)]
    assert matched.mean() >= 0.93 and (matched > 0.95).sum() >= 22, matched


def column_residual(X, model, alpha=2.0):
    """Root mean square over columns of the relative first-order residual, on all rows, by the formulas."""
    W, X = model.components_.T.astype(float), X.astype(float) - X.mean(axis=0, dtype=float)
    Y = X @ W
    sigma, a = np.sqrt((Y**2).mean(axis=0)), model.a_.astype(float)
    t = np.tanh(Y / sigma / a)
    if model.get_params()["constraint"] == "native":
        G = X.T @ ((a * t * sigma @ (W.T @ W) - Y) * (1 - t * t)) / len(X)
        R = G - W * (W * G).sum(axis=0)
        return np.sqrt(((R**2).sum(axis=0) / (G**2).sum(axis=0)).mean())
    H = -(sigma ** (1 + alpha)) * (X.T @ ((a * t - Y / sigma) * (1 - t * t))) / len(X)
    F = W.T @ H
    R = H - W @ (F + F.T) / 2
    return np.sqrt(((R**2).sum(axis=0) / (H**2).sum(axis=0)).mean())


def photographs(pictures, seed):
    """20000 random 8 x 8 patches of colour photographs."""
    folder = Path(os.environ.get("UNMIX_DATA", ""), pictures)
    if not os.environ.get("UNMIX_DATA") or not folder.is_dir():
        pytest.skip(f"UNMIX_DATA names no folder that holds {pictures}")
    return unmix.read(folder, patches=(8, 8), number=20_000, patch_seed=seed)


@pytest.mark.heavy
@pytest.mark.parametrize("pictures, seed", [("kodak8", 1), ("kodak8", 2), ("bsds500_train60", 1)])
def test_patches_of_photographs_are_solved_to_the_tolerance(pictures, seed):
    X = photographs(pictures, seed).astype(np.float64)
    model = unmix.SigmaPCA(24, halves=False).fit(X)
    assert model.report_.outcome == "converged" and model.report_.residual <= 1e-8
    # The solver works in the first 4 k principal coordinates; the gradient has a small part outside of them.
    assert column_residual(X, model) < 0.01
    native = unmix.SigmaPCA(24, constraint="native", tol=0.05, halves=False).fit(X)
    assert native.report_.outcome == "converged"
    assert column_residual(X, native) <= 0.1


@pytest.mark.heavy
@pytest.mark.parametrize("pictures, seed", [("kodak8", 1), ("bsds500_train60", 1)])
def test_patches_of_photographs_in_single_precision_are_solved_as_far_as_rounding_allows(pictures, seed):
    X = photographs(pictures, seed).astype(np.float32)
    model = unmix.SigmaPCA(24, halves=False).fit(X)
    assert model.report_.outcome == "converged" and model.report_.residual <= model.report_.tol == 1e-4
    assert model.components_.dtype == np.float32 and column_residual(X, model) < 0.01
    # With a tolerance below rounding errors the fit ends at these, and the report states it where the tolerance is not reached.
    least = unmix.SigmaPCA(24, halves=False, tol=1e-8).fit(X)
    assert least.report_.outcome == "converged" and least.report_.residual <= 16 * np.finfo(np.float32).eps
    said = any("as small as rounding allows on rows of float32, and tol is 1e-8" in w for w in least.report_.warnings)
    assert said == (least.report_.residual > 1e-8)


def test_reports_of_photographs_have_the_agreement_of_halves():
    X = patches(30_000, 7)
    with pytest.warns(UserWarning, match="40"):
        model = unmix.SigmaPCA(32, max_iter=40).fit(X)
    halves = np.array(model.report_.halves)
    # Some axes are reproduced in halves and some are not, as the report states.
    assert halves.shape == (32,) and (halves > 0.9).sum() >= 8 and halves.min() < 0.9
    assert "halves agree" in model.summary()


@pytest.mark.parametrize("variant", [v["key"] for v in unmix.variants("sigma-pca")])
def test_every_published_variant_is_an_estimator_with_all_attributes(variant):
    X, _ = mixed(2000)
    model = unmix.SigmaPCA(3, variant=variant, max_epochs=2, random_state=0).fit(X)
    assert model.report_.settings["variant"] == variant and model.report_.solver == "adam"
    assert model.components_.shape == (3, X.shape[1])
    for name in ("a_", "seeking_", "separation_", "resolved_", "explained_variance_", "scale_"):
        assert getattr(model, name).shape == (3,), name
    assert model.resolved_.dtype == bool
    assert np.allclose(np.linalg.norm(model.components_, axis=1), 1)
    assert np.allclose(model.transform(X), (X - X.mean(0)) @ model.components_.T, atol=1e-9)


def test_trained_solvers_choose_a_width_for_every_component():
    rng = np.random.default_rng(0)
    S = np.column_stack([rng.laplace(size=(8000, 2)) / np.sqrt(2), rng.uniform(-1, 1, (8000, 2)) * np.sqrt(3)])
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    model = unmix.SigmaPCA(4, solver="adam", random_state=0).fit(S @ Q.T)
    assert sorted(model.a_) == [0.8, 0.8, 4.0, 4.0]
    assert np.abs(model.components_ @ Q).max(0).min() > 0.99
    assert model.resolved_.all()


def test_codes_are_decoded_linearly_or_through_the_nonlinearity():
    X, _ = mixed()
    plain = unmix.SigmaPCA(3).fit(X)
    through_tanh = unmix.SigmaPCA(3, reconstruct="nonlinear").fit(X)
    codes = through_tanh.transform(X)
    np.testing.assert_array_equal(codes, plain.transform(X))
    h = through_tanh.a_ * np.tanh(codes / through_tanh.scale_ / through_tanh.a_)
    np.testing.assert_allclose(through_tanh.inverse_transform(codes), h * through_tanh.scale_ @ through_tanh.components_ + through_tanh.mean_, atol=1e-12)
    np.testing.assert_allclose(plain.inverse_transform(codes), codes @ plain.mixing_.T + plain.mean_, atol=1e-12)


def test_weights_of_published_variants_are_settings_and_free_lengths_are_reported():
    X, _ = mixed(2000)
    lengths = [
        unmix.SigmaPCA(2, variant="ema-latent-coupled", beta=beta, max_epochs=60, random_state=0).fit(X).report_.norms
        for beta in (0.01, 1.0)
    ]
    # The larger the penalty, the nearer the lengths to 1.
    assert (np.array(lengths[0]) > np.array(lengths[1])).all() and (np.array(lengths[1]) > 1).all()
    learned = [
        unmix.SigmaPCA(1, variant="trained-sigma", sigma_l2=l2, max_epochs=200, random_state=0).fit(X).trained_scale_
        for l2 in (1e-3, 1e-2)
    ]
    assert learned[0] > learned[1]
    standard = unmix.SigmaPCA(2, variant=9, standardize=True, max_epochs=2, random_state=0).fit(X * [1, 10, 100, 1000])
    np.testing.assert_allclose(standard.noise_scale_, X.std(axis=0, ddof=1) * [1, 10, 100, 1000])
    with pytest.warns(UserWarning, match="beta=1.0 has no effect here: beta is used only with variant='trained-latent-symmetric' or"):
        unmix.SigmaPCA(2, variant=9, beta=1.0).fit(X)


def test_halves_of_rows_are_compared_in_the_report():
    X, _ = mixed()
    model = unmix.SigmaPCA().fit(X)
    assert min(model.report_.halves) > 0.98 and "halves agree" in model.summary()


def test_the_report_has_every_name():
    X = np.random.RandomState(0).laplace(size=(300, 4))
    assert unmix.SigmaPCA(halves=False).fit(X).report_.halves is None
    assert len(unmix.SigmaPCA(halves=True).fit(X).report_.halves) == 4
    assert unmix.PCA().fit(X).report_.orthonormality is None


@pytest.mark.parametrize("distribution", ["uniform", "sine", "beta", "laplace", "half"])
@pytest.mark.parametrize("make", [lambda: unmix.SigmaPCA(halves=False), lambda: unmix.ICA(algorithm="sigma-pca")])
def test_twenty_sources_of_one_variance_and_any_kind_are_found(distribution, make):
    rng, shape = np.random.default_rng(0), (8000, 20)
    draw = {
        "uniform": lambda: rng.uniform(-1, 1, shape),
        "sine": lambda: np.sin(2 * np.pi * rng.random(shape)),
        "beta": lambda: rng.beta(0.7, 0.7, shape),
        "laplace": lambda: rng.laplace(size=shape),
        "half": lambda: np.where(np.arange(20) < 10, rng.laplace(size=shape) / 2**0.5, rng.uniform(-(3**0.5), 3**0.5, shape)),
    }
    model = make().fit(draw[distribution]())
    axes = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    assert (np.abs(axes).max(axis=0) > 0.95).all()
    assert model.report_.outcome == "converged"
    assert not any("nothing beyond PCA" in w or "Gaussian" in w for w in model.report_.warnings)


@pytest.mark.parametrize("kind", ["uniform", "sines"])
def test_eight_tied_sources_in_6000_rows_are_resolved_correctly(kind):
    resolved = 0
    for seed in range(10):
        draw = np.random.default_rng(seed)
        if kind == "uniform":
            sources = draw.uniform(-1, 1, (6000, 8))
        else:
            frequencies, phases = draw.uniform(0.01, 0.4, 8), draw.uniform(0, 2 * np.pi, 8)
            sources = np.sin(2 * np.pi * frequencies * np.arange(6000)[:, None] + phases)
        sources = (sources - sources.mean(axis=0)) / sources.std(axis=0)
        axes = np.linalg.qr(draw.normal(size=(8, 8)))[0]
        model = unmix.SigmaPCA(8, random_state=0).fit(sources @ axes.T)
        cosines = np.abs(model.components_ @ axes).max(axis=1)
        assert (cosines[model.resolved_] > 0.95).all()
        resolved += model.resolved_.sum()
    # The specification requires 80 % of 80 components.
    assert resolved >= 64


def heavy_tailed(name, seed):
    """Rows of twelve columns of equal variance whose fit once stalled."""
    r = np.random.default_rng(seed)
    if name == "elliptical":
        S = r.standard_normal((2000, 12)) * np.sqrt(5 / r.chisquare(5, (2000, 1)))
    else:
        S = np.exp(r.standard_normal((1500, 12))) if name == "lognormal" else r.standard_t(3, (2000, 12))
        S = (S - S.mean(0)) / S.std(0)
    return S @ np.linalg.qr(r.standard_normal((12, 12)))[0]


# The first alternates between two points with full steps; in the others the residual grows for hundreds of iterations while a saddle is left.
@pytest.mark.parametrize(("name", "seed"), [("student", 130), ("elliptical", 150), ("lognormal", 145)])
def test_heavy_tails_converge(name, seed):
    model = unmix.SigmaPCA(halves=False, max_iter=20_000, random_state=0).fit(heavy_tailed(name, seed))
    assert model.report_.outcome == "converged" and model.report_.residual <= 1e-8
