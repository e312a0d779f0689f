"""Reference implementations without a package: numpy, and LAPACK through scipy."""

import numpy as np

from . import engine


def top(C, k):
    """The ``k`` largest eigenvalues of a symmetric matrix, and their vectors as rows."""
    from scipy.linalg import eigh

    m = C.shape[0]
    if k == m:
        values, vectors = np.linalg.eigh(C)
        return {"components": vectors[:, ::-1].T, "variances": values[::-1]}
    values, vectors = eigh(C, subset_by_index=[m - k, m - 1], driver="evr", overwrite_a=True, check_finite=False)
    return {"components": vectors[:, ::-1].T, "variances": values[::-1]}


def krylov(C, k, width=32):
    """The same, by block Krylov with full orthogonalisation, until residuals are 1e-10 of the first eigenvalue."""
    from scipy.linalg import eigh, qr

    m = C.shape[0]
    basis = np.empty((m, 0))
    images = np.empty((m, 0))
    block = np.random.default_rng(0).standard_normal((m, width))
    while True:
        for _ in range(2):
            block = block - basis @ (basis.T @ block)
        block = qr(block, mode="economic", check_finite=False)[0]
        image = C @ block
        basis, images = np.hstack([basis, block]), np.hstack([images, image])
        if basis.shape[1] >= 6 * k or basis.shape[1] + width > m:
            values, turn = eigh(basis.T @ images, check_finite=False)
            values, turn = values[::-1][:k], turn[:, ::-1][:, :k]
            vectors = basis @ turn
            worst = np.linalg.norm(images @ turn - vectors * values, axis=0).max()
            if worst <= 1e-10 * values[0] or basis.shape[1] + width > m:
                return {"components": vectors.T, "variances": values}
        block = image


def moments(blocks, p, dtype):
    """Rows, and their scatter about the mean in double precision: each block is shifted by an offset near the mean before it is
    multiplied, and the remainder of the mean is corrected at the end."""
    n, scatter, total, offset, buffer = 0, np.zeros((p, p)), np.zeros(p), None, None
    for block in blocks:
        if offset is None:
            offset = block.mean(axis=0, dtype=np.float64).astype(dtype)
            buffer = np.empty_like(block)
        centred = np.subtract(block, offset, out=buffer[: len(block)])
        scatter += centred.T @ centred
        total += np.ones(len(block), dtype) @ centred
        n += len(block)
    scatter -= np.outer(total, total) / n
    return n, scatter


def blocks_of(X, size):
    return (X[start : start + size] for start in range(0, len(X), size))


@engine("pca", "numpy")
def pca(job):
    """Centre a copy, multiply, decompose; the smaller dimension decides which Gram matrix."""
    X = job.X

    def work():
        n, p = X.shape
        centred = X - X.mean(axis=0, dtype=np.float64).astype(X.dtype)
        if n >= p:
            return top((centred.T @ centred).astype(np.float64) / (n - 1), job.k)
        return _carried(centred, top((centred @ centred.T) / (n - 1), job.k))

    return work, dict


@engine("pca", "numpy blocks")
def pca_blocks(job):
    """The same without a copy, in blocks that stay in cache."""
    X = job.X

    def work():
        n, scatter = moments(blocks_of(X, 4096), X.shape[1], X.dtype)
        return top(scatter / (n - 1), job.k)

    return work, dict


@engine("pca", "numpy krylov")
def pca_krylov(job):
    X = job.X

    def work():
        n, p = X.shape
        centred = X - X.mean(axis=0)
        if n >= p:
            return krylov((centred.T @ centred) / (n - 1), job.k)
        return _carried(centred, krylov((centred @ centred.T) / (n - 1), job.k))

    return work, dict


def _carried(centred, answer):
    """Map directions among samples to directions among features."""
    axes = answer["components"] @ centred
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    return {"components": axes, "variances": answer["variances"]}


def file_blocks(path, rows):
    """Blocks of rows of a `.npy` file, read into one buffer."""
    with path.open("rb", buffering=0) as file:
        np.lib.format.read_magic(file)
        (n, p), _, dtype = np.lib.format.read_array_header_1_0(file)
        buffer = np.empty((rows, p), dtype)
        for start in range(0, n, rows):
            block = buffer[: min(rows, n - start)]
            file.readinto(memoryview(block).cast("B"))
            yield block


@engine("pca_file", "numpy file blocks")
def pca_file(job):
    shape, dtype = (header := np.load(job.path, mmap_mode="r")).shape, header.dtype

    def work():
        n, scatter = moments(file_blocks(job.path, 8192), shape[1], dtype)
        return top(scatter / (n - 1), job.k)

    return work, dict


@engine("fit_transform", "numpy")
def fit_transform(job):
    X = job.X

    def work():
        mean = X.mean(axis=0)
        centred = X - mean
        values, vectors = np.linalg.eigh(centred.T @ centred / (len(X) - 1))
        components = vectors[:, ::-1][:, : job.k].T
        return {"components": components, "variances": values[::-1][: job.k], "codes": centred @ components.T}

    return work, dict


@engine("sigma", "numpy")
def sigma(job):
    """The steps of the rule with as few passes over a batch as numpy allows."""
    from harness.answers import SIGMA

    a, rate, size, epochs = (SIGMA[name] for name in ("a", "learning_rate", "batch_size", "max_epochs"))
    n, k = len(job.X), job.k
    steps = epochs * (n // size)

    def work():
        X = job.X - job.X.mean(axis=0)
        X /= np.sqrt(np.mean(np.square(X)))
        _, vectors = np.linalg.eigh(X.T @ X / n)
        W = np.ascontiguousarray(vectors[:, ::-1][:, :k])
        first, second, v, t = np.zeros_like(W), np.zeros_like(W), None, 0
        generator = np.random.default_rng(0)
        for _ in range(epochs):
            order = generator.permutation(n)
            for at in range(0, n // size * size, size):
                x = X[np.sort(order[at : at + size])]
                y = x @ W
                y -= y.mean(axis=0)
                now = np.einsum("ij,ij->j", y, y) / size
                v = now if v is None else v + 0.01 * (now - v)
                s = a * np.sqrt(v + 1e-3 * v.mean())
                h = np.tanh(y / s)
                e = (h * s) @ (W.T @ W)
                e -= y
                h *= h
                e *= 1 - h
                e -= e.mean(axis=0)
                G = x.T @ e
                G -= W * np.einsum("ij,ij->j", W, G)
                G *= 2 / size
                t += 1
                first += 0.1 * (G - first)
                second += 0.001 * (G * G - second)
                left = rate * (1 - (t - 1) / steps) / (1 - 0.9**t)
                W -= np.float32(left) * first / (np.sqrt(second / np.float32(1 - 0.999**t)) + np.float32(1e-7))
                W /= np.sqrt(np.einsum("ij,ij->j", W, W))
        return W.T

    return work, lambda W: {"components": W}


def white(X):
    """Centred rows in white coordinates, and the whitening matrix: from the eigenvalues of the covariance, in double precision."""
    mean = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    centred = X - mean
    values, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64) / len(X))
    whitening = (vectors / np.sqrt(values)).T.astype(X.dtype)
    return centred @ whitening.T, whitening


def nearest_rotation(M):
    u, _, v = np.linalg.svd(M)
    return u @ v


def symmetric(X, tol=1e-4, block=4096):
    """Symmetric FastICA with log cosh, block by block, until the largest half square of a row's move is below ``tol``; returns the
    unmixing matrix and the number of steps."""
    from harness.data import rotation

    Z, whitening = white(X)
    n, k = Z.shape
    W = rotation(k).astype(np.float64)
    for step in range(1, 201):
        narrow, pull, slope = W.T.astype(Z.dtype), np.zeros((k, k)), np.zeros(k)
        for rows in blocks_of(Z, block):
            scores = np.tanh(rows @ narrow)
            pull += scores.T @ rows
            np.square(scores, out=scores)
            slope += len(rows) - scores.sum(axis=0, dtype=np.float64)
        new = nearest_rotation(pull / n - (slope / n)[:, None] * W)
        new *= np.sign(np.sum(new * W, axis=1))[:, None]
        moved, W = 0.5 * np.square(new - W).sum(axis=1).max(), new
        if moved < tol:
            break
    return W @ whitening.astype(np.float64), step


@engine("ica", "numpy blocks")
def ica(job):
    X = job.X
    return lambda: symmetric(X)[0], lambda W: {"unmixing": W}


@engine("fa", "numpy")
def fa(job):
    """Expectation-maximisation on the covariance, from the first principal components, until 0.001 nats of all rows are gained."""
    X, k = job.X, job.k

    def work():
        centred = X - X.mean(axis=0)
        S, n = centred.T @ centred / len(X), len(X)
        variances = np.diag(S).copy()
        values, vectors = np.linalg.eigh(S)
        rest = values[:-k].mean()
        loadings = vectors[:, -k:] * np.sqrt(values[-k:] - rest)
        psi, before = np.maximum(variances - (loadings**2).sum(axis=1), 0.05 * variances), None
        while True:
            scaled = loadings / psi[:, None]
            inner = np.eye(k) + scaled.T @ loadings
            beta = np.linalg.solve(inner, scaled.T)
            SB = S @ beta.T
            value = np.linalg.slogdet(inner)[1] + np.log(psi).sum() + (variances / psi).sum() - (scaled * SB).sum()
            if before is not None and (before - value) * n / 2 < 1e-3:
                return loadings.T, psi
            before = value
            loadings = np.linalg.solve(np.eye(k) - beta @ loadings + beta @ SB, SB.T).T
            psi = np.maximum(variances - (loadings * SB).sum(axis=1), 1e-6 * variances)

    return work, lambda found: {"loadings": found[0], "noise": found[1]}


@engine("completion", "numpy")
def completion(job):
    """Alternating least squares with a ridge for every cell, all rows at once: the sums of a step are one product with the mask."""
    X, k = job.X, job.k

    def work():
        known = ~np.isnan(X)
        Y, M = np.where(known, X, 0.0), known.astype(float)
        # Initial directions of the cells, by subspace iteration.
        V = np.linalg.qr(np.random.default_rng(0).standard_normal((X.shape[1], k + 5)))[0]
        for _ in range(3):
            V = np.linalg.qr(Y.T @ (Y @ V))[0]
        left, size, right = np.linalg.svd(Y @ V, full_matrices=False)
        B = (V @ right.T)[:, :k] * (size[:k] / M.mean() / np.sqrt(len(X)))
        before = None
        while True:
            A = _half(Y, M, B)
            B = _half(Y.T, M.T, A)
            error = np.mean((Y - A @ B.T)[known] ** 2)
            if before is not None and abs(before - error) < 1e-3 * before:
                return A, B
            before = error

    return work, lambda found: {"completed": found[0] @ found[1].T}


def _half(Y, M, B, ridge=0.002):
    k = B.shape[1]
    pairs = (B[:, :, None] * B[:, None, :]).reshape(len(B), -1)
    table = (M @ pairs).reshape(-1, k, k)
    table[:, range(k), range(k)] += ridge * M.sum(axis=1)[:, None]
    return np.linalg.solve(table, (Y @ B)[:, :, None])[:, :, 0]


@engine("gaps", "numpy")
def gaps(job):
    """Expectation-maximisation with expanded parameters, mean included, until a row gains 1e-7 nats: all rows at once, sums by products with
    the mask."""
    X, k = job.X, job.k

    def work():
        found, before = gaps_start(X, k), None
        while True:
            value, found = gaps_step(X, found)
            if before is not None and (value - before) < 1e-7 * len(X):
                return found
            before = value

    return work, lambda found: {"loadings": found[0].T, "mean": found[1], "noise": found[2]}


def gaps_start(X, k):
    mean = np.nanmean(X, axis=0)
    Y = np.where(np.isnan(X), 0.0, X - mean)
    values, vectors = np.linalg.eigh(Y.T @ Y / len(X))
    rest = values[:-k].mean()
    return vectors[:, -k:] * np.sqrt(values[-k:] - rest), mean, rest


def gaps_step(X, parameters):
    """The log-likelihood of loadings ``(p, k)``, mean and noise, and the next ones."""
    W, mean, noise = parameters
    M, (p, k) = (~np.isnan(X)).astype(float), W.shape
    Y = np.where(M > 0, X - mean, 0.0)
    inner = (M @ (W[:, :, None] * W[:, None, :]).reshape(p, -1)).reshape(-1, k, k) / noise + np.eye(k)
    V = np.linalg.inv(inner)
    z = np.einsum("nij,nj->ni", V, Y @ W / noise)
    R, cells = (Y - z @ W.T) * M, M.sum()
    value = -0.5 * (cells * np.log(2 * np.pi * noise) + np.linalg.slogdet(inner)[1].sum() + (R**2).sum() / noise + (z**2).sum())
    ones = np.c_[z, np.ones(len(z))]
    pairs = ones[:, :, None] * ones[:, None, :]
    pairs[:, :k, :k] += V
    sums = (M.T @ pairs.reshape(len(z), -1)).reshape(p, k + 1, k + 1)
    solved = np.linalg.solve(sums, (np.where(M > 0, X, 0.0).T @ ones)[:, :, None])[:, :, 0]
    W, mean = solved[:, :k], solved[:, k]
    R = np.where(M > 0, X - mean - z @ W.T, 0.0)
    spread = (M.T @ V.reshape(len(z), -1)).reshape(p, k, k)
    noise = ((R**2).sum() + np.einsum("pi,pij,pj->", W, spread, W)) / cells
    moved = z.mean(axis=0)
    second = (z.T @ z + V.sum(axis=0)) / len(z) - np.outer(moved, moved)
    return value, (W @ np.linalg.cholesky(second), mean + W @ moved, noise)


@engine("rpca", "numpy")
def rpca(job):
    """The augmented Lagrangian with full decompositions: the penalty increases when the primal residual exceeds the dual one."""
    X = job.X

    def work():
        alpha, size = 1 / np.sqrt(max(X.shape)), np.linalg.norm(X)
        spectral = np.sqrt(np.linalg.eigvalsh(X @ X.T)[-1])
        Y, mu, S = X / max(spectral, np.abs(X).max() / alpha), 1.25 / spectral, np.zeros_like(X)
        for _ in range(500):
            Z = X - S + Y / mu
            # By the Gram matrix, which is faster than svd and accurate enough above the threshold.
            values, U = np.linalg.eigh(Z @ Z.T)
            kept = values > 1 / mu**2
            U, shrink = U[:, kept], 1 - 1 / (mu * np.sqrt(values[kept]))
            L = (U * shrink) @ (U.T @ Z)
            V = X - L + Y / mu
            new = V - np.clip(V, -alpha / mu, alpha / mu)
            Y = mu * (V - new)
            primal, dual = np.linalg.norm(X - L - new) / size, mu * np.linalg.norm(new - S) / np.linalg.norm(Y)
            S = new
            if primal <= 1e-7 and dual <= 1e-5:
                break
            if 100 * primal > dual:
                mu *= 1.5
        return L, S

    return work, lambda parts: {"low_rank": parts[0]}


@engine("msp", "numpy loop")
def msp(job):
    """The loop of Zhai et al. (2020): rows made white by the inverse root of their second moments, then the polar factor of the cubes with
    the rows, by a singular value decomposition; until the relative gradient, which the cubes give, is at most 1e-4."""
    X = job.X
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((job.k, job.k)))[0].astype(X.dtype)

    def work():
        values, vectors = np.linalg.eigh((X.T @ X / np.float32(len(X))).astype(np.float64))
        whiten = ((vectors / np.sqrt(values)) @ vectors.T).astype(X.dtype)
        Z, A = X @ whiten, start
        while True:
            Y = Z @ A.T
            # Products: a power of 3 takes ten times as long.
            cross = ((Y * Y * Y).T @ Z).astype(np.float64) / len(X)
            along = cross @ A.T
            if abs(along - along.T).max() / 2 <= 1e-4 * np.diag(along).mean():
                return A, whiten, (vectors * np.sqrt(values)) @ vectors.T
            left, _, right = np.linalg.svd(cross)
            A = (left @ right).astype(X.dtype)

    def extract(found):
        A, whiten, back = found
        atoms = A @ back
        return {"atoms": atoms / np.linalg.norm(atoms, axis=1, keepdims=True), "filters": A @ whiten}

    return work, extract


@engine("msp step", "numpy alone", yardstick=True)
def msp_step(job):
    """Both products of a step on white rows, and the cubes between."""
    X, A = job.X, np.linalg.qr(np.random.default_rng(0).standard_normal((job.k, job.k)))[0].astype(job.X.dtype)

    def work():
        Y = X @ A.T
        return (Y * Y * Y).T @ X

    return work, None
