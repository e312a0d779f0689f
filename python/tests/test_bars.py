"""Acceptance bounds of the specification that independent implementations miss, in every sample or in some: unmix misses them alike.

Each reference implementation is written from the published formulas in numpy, and runs on the same rows as the fit. The pages that
quote a bound state what is measured here.
"""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, root
from sklearn.decomposition import FastICA as Reference

from unmix import ICA, FastICA, SigmaPCA
from unmix.metrics import amari_distance

TIED = np.array([16, 4, 4, 4, 2, 0.5, 0.4, 0.3, 0.2, 0.1])


def independent(kind, n, seed):
    """Ten sources of unit variance in the sample, multiplied by the roots of `TIED` and rotated; and their axes as columns. The first five
    are wanted."""
    rng = np.random.default_rng(seed)
    sources = rng.laplace(size=(n, 10)) if kind == "laplace" else rng.uniform(-1, 1, size=(n, 10))
    sources = (sources - sources.mean(0)) / sources.std(0)
    axes = np.linalg.qr(rng.normal(size=(10, 10)))[0]
    return sources * np.sqrt(TIED) @ axes.T, axes


def gradients(X, k, a):
    """The function of `w_j` that is 0 where unit columns are parallel to the gradient of the nonlinear reconstruction error."""
    n, p = X.shape
    C = X.T @ X / n

    def residual(numbers):
        W = numbers.reshape(p, k)
        length = np.linalg.norm(W, axis=0)
        U = W / length
        sigma = np.sqrt(np.einsum("ij,ik,kj->j", U, C, U))
        Y = X @ U
        t = np.tanh(Y / sigma / a)
        G = X.T @ ((sigma * a * t @ (U.T @ U) - Y) * (1 - t * t)) / n
        return ((G - U * (U * G).sum(0)) / sigma**2 + U * (length - 1)).ravel()

    return residual


def fixed_point(X, begin, a):
    """Unit columns `w_j` parallel to the gradient of the nonlinear reconstruction error, by scipy's root finder."""
    residual, of_some = gradients(X, begin.shape[1], a), gradients(X[::5], begin.shape[1], a)

    def jacobian(w):
        """By differences, and of a fifth of the rows: the root does not depend on it."""
        here, step = of_some(w), 1e-7
        return np.stack([of_some(w + step * e) - here for e in np.eye(w.size)], axis=1) / step

    found = root(residual, begin.ravel(), jac=jacobian, tol=1e-10)
    assert np.abs(residual(found.x)).max() < 1e-8
    return found.x.reshape(begin.shape)


@pytest.mark.heavy
def test_the_fixed_point_is_as_far_from_orthonormal_as_that_of_a_reference():
    # The bound is 1e-2 on synthetic data. It holds for all samples of 20,000 rows; for 6000 rows of uniform sources it fails with
    # either implementation.
    for n, kind, a, least, most in [(20_000, "laplace", 4.0, 0, 0.01), (20_000, "uniform", 0.8, 0, 0.01), (6000, "uniform", 0.8, 0.01, 0.02)]:
        distances = []
        for seed in range(12):
            X, axes = independent(kind, n, seed)
            axes = axes[:, :5]
            expected = fixed_point(X - X.mean(0), axes, a)
            ours = SigmaPCA(n_components=5, constraint="native", a=a, tol=1e-8).fit(X)
            distances.append(np.linalg.norm(expected.T @ expected - np.eye(5)))
            assert abs(ours.report_.orthonormality - distances[-1]) < 1e-6, (n, kind, seed)
            assert np.abs(ours.components_ @ expected).max(1).min() > 1 - 1e-10
            # The bound on the cosines with the true axes holds.
            assert n < 20_000 or np.abs(ours.components_ @ axes).max(1).min() >= 0.9995
        assert least <= max(distances) <= most, (n, kind, np.sort(distances))


def polar(M):
    U, _, Vt = np.linalg.svd(M, full_matrices=False)
    return U @ Vt


CONTRASTS = {"cube": (lambda y: y**3, lambda y: 3 * y * y), "logcosh": (np.tanh, lambda y: 1 - np.tanh(y) ** 2)}


def last_ratio(rotations):
    """The last ratio of successive changes of the rotation, among changes that are neither far from convergence nor below 1e-6: the square of a
    smaller one is a rounding error of the objective, by which the fit may refuse it."""
    changes = []
    for before, after in pairwise(rotations):
        products = after @ before.T
        order = np.abs(products).argmax(1)
        sign = np.sign(products[np.arange(len(order)), order])
        changes.append(np.abs(after - sign[:, None] * before[order]).max())
        pairs = [(a, b) for a, b in zip(changes, changes[1:]) if a < 1e-2 and b > 1e-6]
        if changes[-1] < 1e-6:
            break
    return pairs[-1][1] / pairs[-1][0]


def contractions(X, fun, begin):
    """Contraction factors of the fixed-point iteration near the solution, by the formula and by unmix, from the same initial rotation."""

    def ours(rotation):
        """The fit after one iteration from a rotation."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ICA(algorithm="fastica", fun=fun, tol=0, max_iter=1, w_init=rotation, order="found", subsample=0).fit(X)

    first = ours(begin)
    Z = (X - first.mean_) @ first.rotation_ / first.scale_
    g, slope = CONTRASTS[fun]

    def theirs(rotation):
        Y = Z @ rotation.T
        return polar(g(Y).T @ Z / len(Z) - slope(Y).mean(0)[:, None] * rotation)

    return last_ratio(iterated(theirs, begin)), last_ratio(iterated(lambda rotation: ours(rotation).second_rotation_.T, begin))


def iterated(step, rotation):
    """Rotations after 0, 1, 2, ... iterations, 40 at most, computed on request."""
    for _ in range(40):
        yield rotation
        rotation = step(rotation)


@pytest.mark.heavy
def test_the_fixed_point_iteration_contracts_as_a_reference():
    # The bounds are .3, .088 and .016 for 1000, 10,000 and 100,000 rows, measured once with five sources that are not 0 with
    # probability 1/5, by kurtosis.
    medians = []
    for n, draws in [(1000, 9), (10_000, 9), (100_000, 5)]:
        references = []
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            S = (rng.random((n, 5)) < 0.2) * rng.normal(size=(n, 5)) / np.sqrt(0.2)
            expected, ours = contractions(S @ rng.normal(size=(5, 5)).T, "cube", np.linalg.qr(rng.normal(size=(5, 5)))[0])
            assert ours == pytest.approx(expected, rel=0.02), (n, seed)
            references.append(expected)
        medians.append(np.median(references))
    assert medians[0] <= 0.3 and medians[1] <= 0.088, medians
    # The formula does not reach the third bound; the rate, proportional to 1 / sqrt(n), agrees with the first two.
    assert 0.016 < medians[2] < 0.04 and 0.05 < medians[2] / medians[0] < 0.2, medians


def mixed_kinds(n, k, seed):
    """Mixed Laplace, uniform, Bernoulli-Gaussian and Student's t sources, and the mixing matrix."""
    rng = np.random.RandomState(seed)
    makers = [
        lambda: rng.laplace(size=n) / np.sqrt(2),
        lambda: (rng.rand(n) - 0.5) * np.sqrt(12),
        lambda: (rng.rand(n) < 0.3) * rng.randn(n) / np.sqrt(0.3),
        lambda: rng.standard_t(6, n) / np.sqrt(1.5),
    ]
    mixing = rng.randn(k, k)
    return np.stack([makers[i % 4]() for i in range(k)], axis=1) @ mixing.T, mixing


def test_errors_of_deflation_are_those_of_scikit_learn_and_depend_on_the_initial_vectors():
    # The bound is an Amari distance of at most 1.01 times scikit-learn's with the same contrast. In deflation the order of the sources
    # depends on the initial vectors, and so do the errors of later sources.
    same, other = [], []
    for seed in range(8):
        X, mixing = mixed_kinds(4000, 6, seed)
        rng = np.random.RandomState(100 + seed)
        given = dict(algorithm="deflation", tol=1e-12, max_iter=2000)
        begin = np.linalg.qr(rng.randn(6, 6))[0]
        theirs = Reference(w_init=begin, **given).fit(X)
        ours = FastICA(w_init=begin, **given).fit(X)
        same.append(amari_distance(ours, mixing) / amari_distance(theirs, mixing))
        again = Reference(w_init=np.linalg.qr(rng.randn(6, 6))[0], **given).fit(X)
        other.append(amari_distance(again, mixing) / amari_distance(theirs, mixing))
    assert max(same) <= 1.01, same
    # scikit-learn from another start, relative to scikit-learn from the first.
    assert max(other) > 1.1 and min(other) < 0.9, other


class Adam:
    """Steps of Adam for one parameter."""

    def __init__(self):
        self.first, self.second, self.steps = 0.0, 0.0, 0

    def __call__(self, gradient, rate):
        self.steps += 1
        self.first = 0.9 * self.first + 0.1 * gradient
        self.second = 0.999 * self.second + 0.001 * gradient * gradient
        return rate * (self.first / (1 - 0.9**self.steps)) / (np.sqrt(self.second / (1 - 0.999**self.steps)) + 1e-7)


def trained(X, k, seed, deflate=False, a=4.0, hard=False, learn=None, constant=False, rate=0.01, batch=128, epochs=20, triangle=0.0):
    """Adam on the encoder's part of the nonlinear reconstruction error, with gradients projected to the tangent space of unit columns
    and a learning rate that decreases to 0, unless it is `constant`. The nonlinearity is `a tanh(z / a)`, or with `hard` a clipped line whose
    derivative is replaced by 1. `learn` is "a", or "sigma" with the published penalty of 1e-3. `triangle` is the weight of a term that orders
    columns, in the units of the rows. Returns the columns, and the standard
    deviations by which codes are divided.
    """
    n = len(X)
    W = np.linalg.eigh(X.T @ X)[1][:, ::-1][:, :k].copy()
    rng, steps, step = np.random.default_rng(seed), epochs * (n // batch), 0
    variance, sigma, of_w, of_sigma, of_a = None, np.ones(k), Adam(), Adam(), Adam()
    for _ in range(epochs):
        order = rng.permutation(n)
        for at in range(0, n - batch + 1, batch):
            rows, step = X[order[at : at + batch]], step + 1
            Y = rows @ W
            if learn != "sigma":
                now = Y.var(0)
                variance = now if variance is None else 0.9 * variance + 0.1 * now
                sigma = np.sqrt(variance)
            Z = Y / sigma
            t = np.tanh(Z / a)
            h, slope = (np.clip(Z, -a, a), 1.0) if hard else (a * t, 1 - t * t)
            M = W.T @ W
            # Deflation: the reconstruction for a column uses this column and those before it.
            error = sigma * h @ (np.triu(M) if deflate else M) - Y
            G = rows.T @ (error * slope) / batch
            G += triangle / 2 * W @ np.triu(Y.T @ Z / batch)
            G -= W * (W * G).sum(0)
            now = rate * (1 if constant else 1 - step / steps)
            if learn == "sigma":
                sigma = sigma - of_sigma((error * (h - Z * slope)).mean(0) + 1e-3 * sigma, now)
            if learn == "a":
                a = a - of_a((error * sigma * (t - Z / a * slope)).mean(0).sum(), now)
            W -= of_w(G, now)
            W /= np.linalg.norm(W, axis=0)
    return W, sigma


def least_cosine(W, axes):
    """The smallest cosine between columns of `W` and the axes that they are matched with, a different one for each."""
    cosines = np.abs(axes.T @ W) / np.linalg.norm(W, axis=0)
    a, b = linear_sum_assignment(-cosines)
    return cosines[a, b].min()


def ours(X, variant, seed):
    settings = dict(solver="adam", learning_rate=0.01, batch_size=128, max_epochs=20)
    return SigmaPCA(n_components=5, variant=variant, random_state=seed, **settings).fit(X).components_.T


# The smallest cosine in one published run: five of ten Laplace sources in 20,000 rows, which are those of `independent` with seed 1.
# `trained-latent-symmetric` is left out, since one of the published seeds ends at .72, and so are the rules whose weights were published in
# units of the data.
PUBLISHED = {
    "trained-sigma": 0.9999,
    "trained-latent-linear": 0.9999,
    "trained-latent-asymmetric": 0.9984,
    "trained-latent-coupled": 0.9999,
    "ema-scaled-tanh": 0.9999,
    "ema-unit-slope": 0.9998,
    "ema-hard-tanh": 0.9996,
    "ema-adaptive-tanh": 0.9995,
    "ema-constant-tanh": 0.9998,
    "ema-latent-coupled": 0.9997,
    "ema-trained-a": 0.9999,
    "ema-deflation": 0.9988,
    "ema-nested-dropout": 0.9998,
    "ema-linear-reconstruction": 0.9999,
    "skew-symmetric": 0.9999,
}
# Half a unit of the last published digit.
ROUNDING = 5e-5


@pytest.mark.heavy
@pytest.mark.parametrize("variant", PUBLISHED)
def test_published_cosines_are_reached_on_the_published_rows(variant):
    # The published run had one order of the rows.
    X, axes = independent("laplace", 20_000, 1)
    least = PUBLISHED[variant] - ROUNDING
    of_reference = {"ema-hard-tanh": dict(a=2.0, hard=True), "ema-trained-a": dict(a=1.0, learn="a")}.get(variant)
    orders = range(5 if of_reference is None else 15)
    found = np.sort([least_cosine(ours(X, variant, seed), axes) for seed in orders])
    if of_reference is None:
        assert np.median(found) >= least, (variant, PUBLISHED[variant], found)
        return
    # For these two, orders of the rows lead to values on both sides of the published one, at distances of about its rounding.
    references = np.sort([least_cosine(trained(X, 5, seed, **of_reference)[0], axes) for seed in orders])
    assert max(found) >= least, (variant, PUBLISHED[variant], found, references)
    assert np.median(found) >= min(least, np.median(references) - ROUNDING), (variant, PUBLISHED[variant], found, references)
    assert min(references) < PUBLISHED[variant], (variant, PUBLISHED[variant], found, references)


@pytest.mark.heavy
@pytest.mark.parametrize("variant", ["ema-scaled-tanh", "ema-deflation"])
def test_training_recovers_axes_as_well_as_a_reference(variant):
    # Published: .9999 and .9988 on the first of these draws. Others have values below, with both implementations.
    references, found = [], []
    for seed in range(1, 8):
        X, axes = independent("laplace", 20_000, seed)
        expected = trained(X - X.mean(0), 5, seed, deflate=variant == "ema-deflation")[0]
        references.append(least_cosine(expected, axes))
        found.append(least_cosine(ours(X, variant, seed), axes))
    message = (variant, PUBLISHED[variant], np.array(found), np.array(references))
    assert references[0] >= PUBLISHED[variant] - ROUNDING and found[0] >= PUBLISHED[variant] - ROUNDING, message
    # Medians of all draws.
    least = {"ema-scaled-tanh": 0.9998, "ema-deflation": 0.9988}[variant]
    assert np.median(found) >= least and np.median(references) >= least, message
    assert np.abs(np.subtract(found, references)).max() < 1e-3, message
    below = {"ema-scaled-tanh": 0.9998, "ema-deflation": 0.9985}[variant]
    assert min(found) < below and min(references) < below, message


@pytest.mark.heavy
def test_the_triangular_term_rotates_axes_in_a_reference_too():
    # Bound of the other rules: .9985, and published for this one: .9926 on the first of these draws. No draw decides: both implementations
    # have values from .99 to .9995, above the bound and below it, that differ less between them than between draws.
    references, found = [], []
    for seed in range(1, 6):
        X, axes = independent("laplace", 20_000, seed)
        references.append(least_cosine(trained(X - X.mean(0), 5, seed, a=6.0, triangle=1.0, epochs=60)[0], axes))
        settings = dict(solver="adam", learning_rate=0.01, batch_size=128, max_epochs=60, beta_scale="absolute")
        model = SigmaPCA(n_components=5, variant="ema-triangular", random_state=seed, **settings).fit(X)
        found.append(least_cosine(model.components_.T, axes))
    message = (np.array(found), np.array(references))
    assert np.abs(np.subtract(found, references)).max() < 1e-3, message
    assert abs(references[0] - 0.9926) < 1e-3 and abs(found[0] - 0.9926) < 1e-3, message
    for values in (references, found):
        assert min(values) < 0.9985 < max(values) and min(values) > 0.99, message


def equilibria(X, W):
    """The ratio of learned to true standard deviation at which the gradient of the former, with a penalty of 1e-3, is 0 for the codes of each
    column."""
    Z = X @ W
    Z /= Z.std(0)
    low, high = np.ones(W.shape[1]), np.full(W.shape[1], 20.0)
    for _ in range(30):
        middle = (low + high) / 2
        t = Z / middle
        h = np.tanh(t)
        above = ((t - h) * (h - t * (1 - h * h))).mean(0) > 1e-3
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return low


@pytest.mark.heavy
def test_learned_deviations_are_as_published_for_rows_whose_own_equilibrium_is():
    # Bound: within 2 % of 4.37 after 60 epochs at a constant rate, for every column. It holds in every order of the published rows, the
    # first sample. In the tenth one source has an equilibrium of 4.47, which exceeds the bound.
    held = {}
    for sample in (1, 10):
        X, _ = independent("laplace", 20_000, sample)
        X = X - X.mean(0)
        held[sample] = []
        for seed in range(3):
            W, sigma = trained(X, 5, seed, a=1.0, learn="sigma", constant=True, epochs=60)
            ratios, own = sigma / (X @ W).std(0), equilibria(X, W)
            message = (sample, seed, ratios, own)
            assert np.abs(ratios / own - 1).max() < 0.01, message
            assert abs(ratios.mean() / 4.37 - 1) <= 0.02, message
            held[sample].append(np.abs(ratios / 4.37 - 1).max() <= 0.02)
        if sample == 10:
            assert own.max() > 4.37 * 1.02, message
    assert all(held[1]) and sum(held[10]) <= 1, held
