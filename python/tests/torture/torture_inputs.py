"""The arrays by name, and the errors that each may cause."""

import numpy as np

N, P = 400, 6


def _mix(sources, seed=5):
    p = sources.shape[1]
    return sources @ np.random.default_rng(seed).normal(size=(p, p)) + 1.0


def _condition(rng, span, n=N, p=P):
    """Gaussian rows whose standard deviations decrease geometrically by a total factor of `span`."""
    rotation = np.linalg.qr(rng.normal(size=(p, p)))[0]
    return rng.normal(size=(n, p)) * np.geomspace(1, 1 / span, p) @ rotation


def _series(rng, share, n=N, p=P):
    """Gaussian autoregressive series of order 1 with coefficient `share`."""
    noise, out = rng.normal(size=(n, p)), np.zeros((n, p))
    for i in range(n):
        out[i] = (share * out[i - 1] if i else 0) + noise[i]
    return out


def _with(X, **cells):
    for key, value in cells.items():
        i, j = map(int, key[1:].split("_"))
        X[i, j] = value
    return X


def _columns(X, **columns):
    for key, value in columns.items():
        X[:, int(key[1:])] = value
    return X


def _spherical(rng):
    return rng.normal(size=(N, P)) / np.sqrt(rng.chisquare(6, size=(N, 1)) / 6)


def _by_length(rng):
    X = _mix(rng.laplace(size=(N, P)))
    return X[np.argsort((X**2).sum(1))]


def _duplicated(rng):
    X = _mix(rng.laplace(size=(N, P)))
    X[:, 4], X[:, 5] = X[:, 0], X[:, 1]
    return X


def _single(X):
    with np.errstate(over="ignore", under="ignore"):
        return X.astype(np.float32)


INPUTS = {
    "gaussian": lambda rng: rng.normal(size=(N, P)),
    "laplace": lambda rng: _mix(rng.laplace(size=(N, P))),
    "uniform": lambda rng: _mix(rng.uniform(-1, 1, size=(N, P))),
    "kinds": lambda rng: _mix(np.c_[rng.laplace(size=(N, 3)), rng.uniform(-1, 1, size=(N, 3))]),
    "heavy": lambda rng: _mix(rng.standard_cauchy(size=(N, P))),
    "lognormal": lambda rng: _mix(rng.lognormal(0, 2, size=(N, P))),
    "spherical": _spherical,
    "series 0.9": lambda rng: _series(rng, 0.9),
    "series 0.999": lambda rng: _series(rng, 0.999),
    "sorted": _by_length,
    "one after another": lambda rng: np.repeat(_mix(rng.laplace(size=(N // 8, P))), 8, axis=0),
    "mean 1e6": lambda rng: rng.normal(size=(N, P)) * np.arange(1, P + 1) + 1e6,
    "mean 1e9": lambda rng: rng.normal(size=(N, P)) * np.arange(1, P + 1) + 1e9,
    "mean 1e15": lambda rng: rng.normal(size=(N, P)) * np.arange(1, P + 1) + 1e15,
    "mean in some": lambda rng: _mix(rng.laplace(size=(N, P))) + np.array([0, 1e12, 0, -1e9, 0, 0]),
    "scale 1e150": lambda rng: 1e150 * rng.laplace(size=(N, P)),
    "scale 1e-150": lambda rng: 1e-150 * rng.laplace(size=(N, P)),
    "scale 1e160": lambda rng: 1e160 * rng.laplace(size=(N, P)),
    "scale 1e-161": lambda rng: 1e-161 * rng.laplace(size=(N, P)),
    "denormal": lambda rng: 1e-310 * rng.laplace(size=(N, P)),
    "single": lambda rng: _single(_mix(rng.laplace(size=(N, P)))),
    "single, mean 1e6": lambda rng: _single(rng.normal(size=(N, P)) + 1e6),
    "single, 5e-23": lambda rng: _single(5e-23 * rng.laplace(size=(N, P))),
    "single, 1e18": lambda rng: _single(1e18 * rng.laplace(size=(N, P))),
    "outlier 1e6": lambda rng: _with(_mix(rng.laplace(size=(N, P))), c3_2=1e6),
    "outlier 1e12": lambda rng: _with(_mix(rng.laplace(size=(N, P))), c3_2=1e12),
    "outlier 1e100": lambda rng: _with(_mix(rng.laplace(size=(N, P))), c3_2=1e100),
    "single, outlier": lambda rng: _single(_with(_mix(rng.laplace(size=(N, P))), c3_2=1e9)),
    "duplicated": _duplicated,
    "sum of others": lambda rng: (lambda X: _columns(X, c5=X[:, 0] + X[:, 1]))(_mix(rng.laplace(size=(N, P)))),
    "rank 2": lambda rng: rng.laplace(size=(N, 2)) @ rng.normal(size=(2, P)),
    "rank 1": lambda rng: rng.laplace(size=(N, 1)) @ rng.normal(size=(1, P)),
    "condition 1e4": lambda rng: _condition(rng, 1e4),
    "condition 1e8": lambda rng: _condition(rng, 1e8),
    "condition 1e15": lambda rng: _condition(rng, 1e15),
    "columns in units of their own": lambda rng: rng.laplace(size=(N, P)) * np.geomspace(1e-8, 1e8, P),
    "constant columns": lambda rng: _columns(_mix(rng.laplace(size=(N, P))), c1=3.0, c4=0.0),
    "nearly constant column": lambda rng: _columns(_mix(rng.laplace(size=(N, P))), c1=3.0 + 1e-15 * rng.integers(0, 2, N)),
    "tiny column": lambda rng: (lambda X: _columns(X, c1=1e-200 * X[:, 1]))(_mix(rng.laplace(size=(N, P)))),
    "constant": lambda rng: np.full((N, P), 0.1),
    "binary": lambda rng: rng.integers(0, 2, size=(N, P)).astype(float),
    "counts": lambda rng: rng.poisson(0.3, size=(N, P)),
    "mostly zero": lambda rng: rng.laplace(size=(N, P)) * (rng.random((N, P)) < 0.03),
    "one of six": lambda rng: np.eye(P)[rng.integers(0, P, N)],
    "large integers": lambda rng: rng.integers(-(2**62), 2**62, size=(N, P)),
    "bytes": lambda rng: rng.integers(0, 256, size=(N, P), dtype=np.uint8),
    "half": lambda rng: rng.laplace(size=(N, P)).astype(np.float16),
    "other order of bytes": lambda rng: _mix(rng.laplace(size=(N, P))).astype(">f8"),
    "every second row": lambda rng: _mix(rng.laplace(size=(2 * N, P)))[::2],
    "column by column": lambda rng: np.asfortranarray(_mix(rng.laplace(size=(N, P)))),
    "seven rows": lambda rng: rng.laplace(size=(7, P)),
    "as many rows as columns": lambda rng: rng.laplace(size=(P, P)),
    "two rows": lambda rng: rng.laplace(size=(2, P)),
    "two rows, the same": lambda rng: np.repeat(rng.laplace(size=(1, P)), 2, axis=0),
    "one column": lambda rng: rng.laplace(size=(N, 1)),
    "wide": lambda rng: rng.laplace(size=(20, 300)),
    "wide, mean 1e9": lambda rng: rng.laplace(size=(20, 300)) + 1e9,
    "wide, rank 3": lambda rng: rng.laplace(size=(20, 3)) @ rng.normal(size=(3, 300)),
}

# Inputs that may be refused, with words that the message must contain; all others are fitted (`refusal` adds the exceptions of single models).
MAY_REFUSE = {
    "scale 1e160": "largest number",
    "scale 1e-161": "multiply",
    "denormal": "multiply",
    "single, 5e-23": "multiply",
    "single, 1e18": "largest number",
    "constant": "varies",
    "two rows, the same": "varies",
}


def refusal(kind, data):
    """Words that must be in the message if a model of this kind refuses an input; None if it must fit."""
    words = [MAY_REFUSE[data]] if data in MAY_REFUSE else []
    # Without whitening, columns may span more orders of magnitude than the type has digits.
    words += ["too many orders of magnitude"] if "without whitening" in kind else []
    # A column that only standardising has to divide by its deviation.
    words += ["variance of column 1 is below the smallest normal number"] if (kind, data) == ("PCA standardize", "tiny column") else []
    return "|".join(words) or None


def make(name):
    return INPUTS[name](np.random.default_rng(sum(map(ord, name))))
