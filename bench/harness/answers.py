"""Reference answers, and errors of answers relative to them."""

import numpy as np

from . import codes
from .data import BLOCK, beside
from .judge import Wrong, judge


def reference(path, k):
    """Spectrum of a data set, computed once by the accurate way: double precision, rows centred before they are multiplied,
    the remaining mean subtracted, all eigenvalues by LAPACK. Returns the variances and the axes, some more than ``k``."""
    kept = beside(path, f".top{k}.npz")
    if not kept.exists():
        X = np.load(path, mmap_mode="r")
        values, axes = _tall(X, k) if X.shape[0] >= X.shape[1] else _wide(X, k)
        np.savez(kept, variances=values, axes=axes, total=values.sum())
    with np.load(kept) as file:
        return file["variances"], file["axes"]


def _centred_blocks(X, centre):
    for start in range(0, X.shape[0], BLOCK):
        yield X[start : start + BLOCK].astype(np.float64) - centre


def _mean(X):
    return sum(block.sum(axis=0) for block in _centred_blocks(X, 0.0)) / X.shape[0]


def _tall(X, k):
    from scipy.linalg import eigh

    n, centre = X.shape[0], _mean(X)
    scatter, left = np.zeros((X.shape[1],) * 2), np.zeros(X.shape[1])
    for block in _centred_blocks(X, centre):
        scatter += block.T @ block
        left += block.sum(axis=0)
    scatter -= np.outer(left, left) / n
    values, vectors = eigh(scatter / (n - 1))
    return values[::-1].clip(0), np.ascontiguousarray(vectors[:, ::-1][:, :k].T)


def _wide(X, k):
    from scipy.linalg import eigh

    n = X.shape[0]
    centred = X.astype(np.float64) - _mean(X)
    centred -= centred.mean(axis=0)
    values, vectors = eigh(centred @ centred.T)
    values, vectors = values[::-1].clip(0), vectors[:, ::-1][:, :k]
    axes = vectors.T @ centred
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    return values / (n - 1), axes


def sine_of_largest_angle(a, b):
    """Sine of the largest principal angle between two spaces spanned by orthonormal rows: exact for small angles too."""
    a = np.linalg.qr(np.asarray(a, dtype=np.float64).T)[0]
    b = np.linalg.qr(np.asarray(b, dtype=np.float64).T)[0]
    return float(min(1.0, np.linalg.norm(b - a @ (a.T @ b), ord=2)))


def check_pca(row, answer, path):
    """Errors of components and variances; an error if they exceed those that the row allows."""
    variances, axes = reference(path, row.k)
    components, found = np.asarray(answer["components"]), np.asarray(answer["variances"], dtype=np.float64)
    if components.shape != axes[: row.k].shape or not np.isfinite(components).all():
        raise Wrong(f"components of shape {components.shape}, or not finite")
    angle = max((sine_of_largest_angle(components[:j], axes[:j]) for j in row.angles_at), default=0.0)
    variance = float(np.abs(found - variances[: row.k]).max() / variances[0])
    errors = {"angle": angle, "variance": variance}
    if "codes" in answer:
        X = np.load(path)
        codes = (X - X.mean(axis=0)) @ components.T
        errors["codes"] = float(np.abs(codes - answer["codes"]).max() / np.abs(codes).max())
    return judge(row, errors)


#: Weight of the sparsity term in rows of the task "rica".
BETA = 0.2


def rica(X, W):
    """The objective for features of length 1, in double precision: reconstruction error, and log cosh of their outputs."""
    W = W / np.linalg.norm(W, axis=1, keepdims=True)
    total = 0.0
    for block in _centred_blocks(X, 0.0):
        codes = block @ W.T
        total += ((codes @ W - block) ** 2).sum()
        total += BETA * (np.logaddexp(codes, -codes) - np.log(2.0)).sum()
    return total / X.shape[0]


def check_rica(row, answer, path):
    """Excess of the objective over that of scipy's L-BFGS after the same number of steps, relative to the decrease from the start."""
    from .data import features

    X, W = np.load(path, mmap_mode="r"), np.asarray(answer["features"], dtype=np.float64)
    if W.shape != (row.k, X.shape[1]) or not np.isfinite(W).all():
        raise Wrong(f"features of shape {W.shape}, or not finite")
    kept, start = beside(path, f".rica{row.k}.npy"), features(row.k, X.shape[1])
    if not kept.exists():
        np.save(kept, _rica_by_scipy(X, start))
    best, first = float(np.load(kept)), rica(X, start)
    return judge(row, {"rise": (rica(X, W) - best) / (first - best)})


def _rica_by_scipy(X, start, steps=100):
    """The cost after so many steps of scipy's L-BFGS, in double precision, of the same function with its gradient by hand."""
    from scipy.optimize import minimize

    def cost(w):
        V = w.reshape(start.shape)
        length = np.linalg.norm(V, axis=1, keepdims=True)
        W = V / length
        total, slope = 0.0, np.zeros_like(W)
        for block in _centred_blocks(X, 0.0):
            codes = block @ W.T
            rest = codes @ W - block
            total += (rest**2).sum() + BETA * (np.logaddexp(codes, -codes) - np.log(2.0)).sum()
            slope += 2 * codes.T @ rest + (2 * rest @ W.T + BETA * np.tanh(codes)).T @ block
        slope -= (slope * W).sum(axis=1, keepdims=True) * W
        return total / len(X), (slope / length).ravel() / len(X)

    search = minimize(cost, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": steps, "maxcor": 20, "ftol": 0.0, "gtol": 0.0})
    return search.fun


def amari(gain):
    """Distance of a matrix from a scaled permutation: 0 for one, 1 for equal entries."""
    gain, k = np.abs(gain), len(gain)
    rows, columns = gain.sum(axis=1) / gain.max(axis=1), gain.sum(axis=0) / gain.max(axis=0)
    return float((rows.sum() + columns.sum() - 2 * k) / (2 * k * (k - 1)))


def gradient(Y):
    """Largest entry of the relative gradient of sources under log cosh, each with the sign of its tails, in double precision."""
    cross, slope, second, n = 0.0, 0.0, 0.0, len(Y)
    for block in _centred_blocks(Y, 0.0):
        scores = np.tanh(block)
        cross = cross + scores.T @ block / n
        slope = slope + (1 - scores**2).sum(axis=0) / n
        second = second + block.T @ block / n
    signed = np.sign(slope - np.diag(cross))[:, None] * cross
    return float(np.abs(signed - signed.T).max() / 2), float(np.abs(second - np.eye(len(second))).max())


def check_ica(row, answer, path):
    """The gradient at the estimated sources, their deviation from whiteness, and the excess of their error over that of the reference:
    the same contrast, in double precision, iterated to convergence. Of a search over all invertible matrices (``free``) the error alone:
    its sources are not uncorrelated, and its gradient is another one."""
    from engines.own_numpy import symmetric

    X, W = np.load(path).astype(np.float64), np.asarray(answer["unmixing"], dtype=np.float64)
    if W.shape != (row.k, X.shape[1]) or not np.isfinite(W).all():
        raise Wrong(f"an unmixing matrix of shape {W.shape}, or not finite")
    X -= X.mean(axis=0)
    mixing, kept = np.load(beside(path, ".mixing.npy")), beside(path, f".ica{row.k}.npy")
    if not kept.exists():
        np.save(kept, amari(symmetric(X, tol=1e-15)[0] @ mixing))
    excess = amari(W @ mixing) / float(np.load(kept))
    if answer.get("free"):
        return judge(row, {"amari": excess})
    Y = X @ W.T
    # The scale of a source is a convention.
    Y /= Y.std(axis=0)
    entry, white = gradient(Y)
    return judge(row, {"gradient": entry, "white": white, "amari": excess})


def check_entries(row, answer, path):
    """Largest difference between the numbers read and those written."""
    numbers = np.load(beside(path, ".numbers.npy"))
    read = np.asarray(answer["array"])
    if read.shape != numbers.shape:
        raise Wrong(f"an array of shape {read.shape}, but {numbers.shape} was written")
    return judge(row, {"entries": float(np.abs(read - numbers).max())})


def _covariance(path):
    """Divisor ``n``, kept beside the rows."""
    kept = beside(path, ".covariance.npy")
    if not kept.exists():
        X = np.load(path, mmap_mode="r")
        mean = _mean(X)
        np.save(kept, sum(block.T @ block for block in _centred_blocks(X, mean)) / len(X))
    return np.load(kept)


def concentrated(S, k, log_psi):
    """``-2 log L`` a row without its constant at the best loadings of these uniquenesses, its gradient, and the loadings."""
    from scipy.linalg import eigh

    root = np.exp(log_psi / 2)
    values, vectors = eigh(S / np.outer(root, root), subset_by_index=[len(S) - k, len(S) - 1])
    values = np.maximum(values, 1.0)
    value = log_psi.sum() + (np.log(values) + 1 - values).sum() + (np.diag(S) / root**2).sum()
    slope = 1 - np.diag(S) / root**2 + (vectors**2 * (values - 1)).sum(axis=1)
    return value, slope, root[:, None] * vectors * np.sqrt(values - 1)


def check_fa(row, answer, path):
    """Deficit, in nats per row, of the log-likelihood of loadings and uniquenesses relative to its maximum, which L-BFGS finds up to
    rounding errors."""
    from scipy.optimize import minimize

    n, p = np.load(path, mmap_mode="r").shape
    if p > n:
        # Too many columns for a full check: only finiteness and positivity are checked.
        if not np.isfinite(answer["loadings"]).all() or not (np.asarray(answer["noise"]) > 0).all():
            raise Wrong("numbers that are not finite, or uniquenesses that are not positive")
        return {}
    S, kept = _covariance(path), beside(path, f".fa{row.k}.npy")
    if not kept.exists():
        start = np.log((1 - row.k / (2 * len(S))) / np.diag(np.linalg.inv(S)))
        options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10}
        found = minimize(lambda x: concentrated(S, row.k, x)[:2], start, jac=True, method="L-BFGS-B", options=options)
        np.save(kept, found.fun)
    loadings, psi = np.asarray(answer["loadings"], dtype=np.float64), np.asarray(answer["noise"], dtype=np.float64)
    if loadings.shape != (row.k, len(S)) or not (psi > 0).all():
        raise Wrong(f"loadings of shape {loadings.shape}, or uniquenesses that are not positive")
    C = loadings.T @ loadings + np.diag(psi)
    value = np.linalg.slogdet(C)[1] + np.trace(np.linalg.solve(C, S))
    return judge(row, {"nats": float(value - np.load(kept)) / 2})


def check_completion(row, answer, path):
    """Root mean square error over missing cells, relative to the matrix without noise."""
    X, truth = np.load(path, mmap_mode="r"), np.load(beside(path, ".truth.npy"), mmap_mode="r")
    hidden = np.isnan(X)
    return judge(row, {"rmse": float(np.sqrt(np.mean((np.asarray(answer["completed"]) - truth)[hidden] ** 2)))})


def check_ratings(row, answer, path):
    """Root mean square error over held-out ratings, for predictions clipped to 1 to 5."""
    hidden = np.load(beside(path, ".hidden.npy"))
    error = np.clip(np.asarray(answer["completed"], dtype=np.float64), 1, 5) - hidden
    return judge(row, {"rmse": float(np.sqrt(np.nanmean(error**2)))})


def check_gaps(row, answer, path):
    """Deficit of the log-likelihood, in nats per row, relative to converged expectation-maximisation."""
    from engines.own_numpy import gaps_start, gaps_step

    X, kept = np.load(path), beside(path, f".gaps{row.k}.npy")
    if not kept.exists():
        best, found = -np.inf, gaps_start(X, row.k)
        while True:
            value, found = gaps_step(X, found)
            if value <= best + 1e-12 * abs(best):
                break
            best = value
        np.save(kept, best)
    loadings = np.asarray(answer["loadings"], dtype=np.float64)
    if loadings.shape != (row.k, X.shape[1]) or not np.isfinite(loadings).all():
        raise Wrong(f"loadings of shape {loadings.shape}, or numbers that are not finite")
    parameters = (loadings.T, np.asarray(answer["mean"], dtype=np.float64), float(answer["noise"]))
    return judge(row, {"nats": float(np.load(kept) - gaps_step(X, parameters)[0]) / len(X)})


def check_rpca(row, answer, path):
    """Relative error of the low-rank part, and the error of its rank: the number of singular values above 1e-4 of the first."""
    truth, low = np.load(beside(path, ".low.npy")), np.asarray(answer["low_rank"], dtype=np.float64)
    if low.shape != truth.shape or not np.isfinite(low).all():
        raise Wrong(f"a low-rank part of shape {low.shape}, or numbers that are not finite")
    values = np.linalg.svd(low, compute_uv=False)
    rank = int((values > 1e-4 * values[0]).sum())
    return judge(row, {"low": float(np.linalg.norm(low - truth) / np.linalg.norm(truth)), "rank": abs(rank - row.data["rank"])})


#: Settings of rows of the task "sigma", by their names in unmix.
SIGMA = {"a": 4.0, "learning_rate": 0.01, "batch_size": 128, "max_epochs": 3}


def sigma(X, W, native=True):
    """Distance of unit rows from a stationary point, in double precision: over columns, the root mean square of the part of the
    gradient of the rule that the constraint does not balance, as a share of the gradient. About 1 at the principal axes, 0 at a
    stationary point. For the published rule that is the part orthogonal to the column itself; for the orthonormal one, the part
    that remains without the symmetric products of columns and gradients."""
    a, mean, W = SIGMA["a"], _mean(X), W.T.astype(np.float64)
    second = sum(y.T @ y for y in (x @ W for x in _centred_blocks(X, mean))) / len(X)
    s, gram, G = np.sqrt(np.diag(second)), W.T @ W, 0.0
    for x in _centred_blocks(X, mean):
        y = x @ W
        h = np.tanh(y / (a * s))
        rebuilt = (a * s * h) @ gram if native else a * s * h
        G = G + x.T @ ((rebuilt - y) * (1 - h * h))
    if native:
        across = G - W * (W * G).sum(axis=0)
    else:
        G = G * s**2
        pulls = W.T @ G
        across = G - W @ (pulls + pulls.T) / 2
    return np.sqrt(np.mean(np.square(across).sum(axis=0) / np.square(G).sum(axis=0)))


def check_sigma(row, answer, path):
    W = np.asarray(answer["components"])
    if W.shape[0] != row.k or np.abs(np.linalg.norm(W, axis=1) - 1).max() > 1e-5:
        raise Wrong(f"{W.shape} numbers that are not {row.k} rows of length 1")
    return judge(row, {"residual": sigma(np.load(path, mmap_mode="r"), W, answer.get("native", True))})


def check_msp(row, answer, path):
    """The largest distance of an atom from a true one, each matched once; and the relative gradient of the fourth powers of the codes,
    ``skew(E[y³ y']) / E y⁴``, for engines that return filters."""
    atoms, truth = np.asarray(answer["atoms"], dtype=np.float64), np.load(beside(path, ".atoms.npy"))
    if atoms.shape != (row.k, truth.shape[1]) or not np.isfinite(atoms).all():
        raise Wrong(f"atoms of shape {atoms.shape}, or not finite")
    cosines = atoms @ truth.T
    places = abs(cosines).argmax(axis=1)
    if len(set(places)) < row.k:
        raise Wrong("two atoms are nearest to one of the truth")
    signed = truth[places] * np.sign(cosines[np.arange(row.k), places])[:, None]
    errors = {"distance": float(np.linalg.norm(atoms - signed, axis=1).max())}
    if "filters" in answer:
        X, filters = np.load(path, mmap_mode="r"), np.asarray(answer["filters"], dtype=np.float64)
        cross, squares = np.zeros((row.k, row.k)), np.zeros(row.k)
        for block in _centred_blocks(X, 0.0):
            Y = block @ filters.T
            cross += (Y**3).T @ Y
            squares += (Y**2).sum(axis=0)
        scale = np.sqrt(squares / len(X))
        cross /= len(X) * np.outer(scale**3, scale)
        errors["gradient"] = float(abs(cross - cross.T).max() / 2 / np.diag(cross).mean())
    return judge(row, errors)


CHECKS = {
    "fine-tuning": codes.check_tuned,
    "dae": codes.check_rebuilt,
    "rbm": codes.check_rebuilt,
    "sae": codes.check_rebuilt,
    "sae relu": codes.check_rebuilt,
    "sae file": codes.check_rebuilt,
    "lasso": codes.check_lasso,
    "lasso file": codes.check_lasso_file,
    "lista": codes.check_lista,
    "lasso wide": codes.check_lasso_wide,
    "omp": codes.check_omp,
    "dictionary": codes.check_dictionary,
    "rfn": codes.check_rfn,
    "rfn step": codes.check_rfn,
    "rfn coordinate step": codes.check_rfn,
    "rfn file step": codes.check_rfn,
    "pca": check_pca,
    "pca_file": check_pca,
    "fit_transform": check_pca,
    "read": check_entries,
    "rica": check_rica,
    "sigma": check_sigma,
    "solver": check_sigma,
    "sweep": check_sigma,
    "second-order sweep": check_sigma,
    "epoch": check_pca,
    "ica": check_ica,
    "fa": check_fa,
    "completion": check_completion,
    "ratings": check_ratings,
    "gaps": check_gaps,
    "rpca": check_rpca,
    "msp": check_msp,
    "msp step": check_msp,
}
