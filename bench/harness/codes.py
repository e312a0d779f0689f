"""Checks of codes, of the dictionaries and networks that make them, and of reconstructions."""

import numpy as np

from .data import BLOCK, beside
from .judge import Wrong, judge


def check_rfn(row, answer, path):
    """Difference of the objective that an engine reports from that of its loadings and noise, computed from the rows in double precision; of modes
    that solve for codes, how far these are from a solution."""
    if "certificate" in answer:
        return judge(row, {"certificate": float(answer["certificate"])})
    from engines.rectified import objective

    X = np.load(path, mmap_mode="r")
    W, psi = np.asarray(answer["components"], dtype=np.float64).T, np.asarray(answer["noise"], dtype=np.float64)
    if W.shape != (X.shape[1], row.k) or psi.shape != (X.shape[1],) or not (np.isfinite(W).all() and (psi > 0).all()):
        raise Wrong(f"loadings of shape {W.shape} and noise of shape {psi.shape}, or not finite")
    value = objective(X, W, psi)
    return judge(row, {"objective": abs(float(answer["objective"]) - value) / abs(value)})


def lasso(X, Z, A, alpha):
    """Objective and duality gap of codes, each summed over rows, in double precision: the gap by ``unmix.metrics.lasso_gap``, whoever found
    the codes."""
    import unmix
    from scipy.sparse import csr_array

    X, A, Z, value, gap = np.asarray(X, np.float64), np.asarray(A, np.float64), csr_array(Z), 0.0, 0.0
    if Z.shape != (len(X), len(A)) or not np.isfinite(Z.data).all():
        raise Wrong(f"codes of shape {Z.shape}, or not finite")
    for start in range(0, len(X), BLOCK):
        x, z = X[start : start + BLOCK], Z[start : start + BLOCK].toarray().astype(np.float64)
        value += ((x - z @ A) ** 2).sum() / 2 + alpha * abs(z).sum()
        gap += unmix.metrics.lasso_gap(x, z, A, alpha).sum()
    return value, gap


def check_lasso(row, answer, path):
    """The gaps of all codes as a fraction of their objective."""
    from .data import ALPHA

    value, gap = lasso(np.load(path), answer["codes"], np.load(beside(path, ".atoms.npy")), ALPHA)
    return judge(row, {"gap": gap / value})


def check_lasso_file(row, answer, path):
    """The gaps of the first codes as a fraction of their objective."""
    from engines.coders import file_alpha

    from .data import random_atoms

    X = np.load(path, mmap_mode="r")[: answer["codes"].shape[0]]
    value, gap = lasso(X, answer["codes"], random_atoms(row.k, X.shape[1]), file_alpha(X, row.k))
    return judge(row, {"gap": gap / value})


def check_lista(row, answer, path):
    """The largest difference of the first codes from as many steps of ISTA in double precision, relative to the largest code."""
    from engines.coders import LAYERS

    from .data import ALPHA

    X, A = np.load(path)[:2000].astype(np.float64), np.load(beside(path, ".atoms.npy")).astype(np.float64)
    step, Z = 1 / np.linalg.norm(A, ord=2) ** 2, np.zeros((len(X), len(A)))
    for _ in range(LAYERS):
        Z += step * (X - Z @ A) @ A.T
        Z = np.sign(Z) * np.maximum(np.abs(Z) - step * ALPHA, 0)
    return judge(row, {"codes": float(np.abs(answer["codes"][:2000] - Z).max() / np.abs(Z).max())})


def check_lasso_wide(row, answer, path):
    """The gap of the code as a fraction of half the squared norm of the row."""
    from engines.coders import PART

    X, A = np.load(path), np.load(beside(path, ".atoms.npy"))
    _, gap = lasso(X, answer["codes"], A, abs(A @ X[0]).max() / PART)
    return judge(row, {"gap": gap / (0.5 * np.square(X).sum())})


def check_omp(row, answer, path):
    """How far the residuals of some rows are from orthogonal to the atoms that their codes use, and by how many atoms these exceed their
    maximum number; the excess of their squared error, of all rows, over that of a pursuit in numpy."""
    from engines.coders import N_NONZERO
    from scipy.sparse import csr_array

    some = 500
    X, A = np.load(path)[:some].astype(np.float64), np.load(beside(path, ".atoms.npy")).astype(np.float64)
    Z = csr_array(answer["codes"])[:some].toarray().astype(np.float64)
    if Z.shape != (len(X), len(A)) or not np.isfinite(Z).all():
        raise Wrong(f"codes of shape {Z.shape}, or not finite")
    left, theirs = X - Z @ A, 0.0
    for x in X:
        taken, rest = [], x
        for _ in range(N_NONZERO):
            taken.append(int(abs(A @ rest).argmax()))
            rest = x - np.linalg.lstsq(A[taken].T, x, rcond=None)[0] @ A[taken]
        theirs += np.square(rest).sum()
    return judge(row, {
        "orthogonal": float(abs(left @ A.T * (Z != 0)).max()),
        "atoms": int((Z != 0).sum(axis=1).max()) - N_NONZERO,
        "error": float(np.square(left).sum() / theirs - 1),
    })


def check_dictionary(row, answer, path):
    """Excess of the objective on held-out rows over that with the atoms of SPAMS, or of scikit-learn where there is
    no SPAMS; each row solved to a gap of 1e-6, and the largest norm of an atom above 1."""
    import unmix
    from engines import Job, find

    from .data import ALPHA

    held = np.load(beside(path, ".held.npy")).astype(np.float64)

    def objective(atoms):
        coder = unmix.SparseCoder(np.asarray(atoms, np.float64), alpha=ALPHA).fit(held)
        return lasso(held, coder.transform(held), atoms, ALPHA)[0]

    name = next(name for name in ("SPAMS", "scikit-learn") if find(row.task, name).installed())
    kept = beside(path, f".dictionary{row.k}-{name}.npy")
    if not kept.exists():
        work, extract = find(row.task, name).make(Job(row, path, 1))
        np.save(kept, objective(extract(work())["atoms"]))
    norms = np.linalg.norm(np.asarray(answer["atoms"], np.float64), axis=1)
    return judge(row, {"held": objective(answer["atoms"]) / float(np.load(kept)) - 1, "norm": float(norms.max() - 1)})


def check_rebuilt(row, answer, path):
    """The share of the variance of the first rows that the reconstruction loses, and how much more that is than the least of all engines so far."""
    rebuilt = np.asarray(answer["rebuilt"], np.float64)
    X = np.load(path, mmap_mode="r")[: len(rebuilt)].astype(np.float64)
    if rebuilt.shape != X.shape or not np.isfinite(rebuilt).all():
        raise Wrong(f"a reconstruction of shape {rebuilt.shape}, or not finite")
    lost = float(((X - rebuilt) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum())
    errors = {"lost": lost}
    if "more" in row.answer:
        errors["more"] = lost / least_lost(path, lost) - 1
    if "active" in row.answer:
        errors["active"] = abs(answer["active"] - ACTIVE)
    return judge(row, errors)


def least_lost(path, lost):
    """The least share that a reconstruction of these rows has lost so far, this one included, kept beside the rows."""
    kept = beside(path, ".lost.npy")
    least = min(lost, float(np.load(kept))) if kept.exists() else lost
    np.save(kept, least)
    return least


def check_tuned(row, answer, path):
    """The mean loss of the last epoch."""
    return judge(row, {"loss": float(answer["loss"])})


#: Mean number of active units that the penalty of the task "sae relu" is meant to leave.
ACTIVE = 64
