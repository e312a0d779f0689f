"""Singular values in extended precision: one-sided Jacobi (Hestenes 1958) on numpy's long double."""

import numpy as np

DIGITS = np.finfo(np.longdouble).eps


def singular_values(X, center=True):
    """Return the singular values of the rows about their mean, largest first, in long double."""
    A = np.array(X, dtype=np.longdouble)
    if center:
        A = A - A.mean(0)
        A = A - A.mean(0)
    if A.shape[0] < A.shape[1]:
        A = A.T.copy()
    size = np.abs(A).max()
    if size == 0:
        return np.zeros(A.shape[1], dtype=np.longdouble)
    A /= size
    p = A.shape[1]
    for _ in range(60):
        rotated = False
        for i in range(p - 1):
            for j in range(i + 1, p):
                a, b, c = A[:, i] @ A[:, i], A[:, j] @ A[:, j], A[:, i] @ A[:, j]
                if abs(c) <= 4 * DIGITS * np.sqrt(a * b):
                    continue
                rotated = True
                z = (b - a) / (2 * c)
                t = (1 if z >= 0 else -1) / (abs(z) + np.sqrt(1 + z * z))
                cos = 1 / np.sqrt(1 + t * t)
                A[:, i], A[:, j] = cos * (A[:, i] - t * A[:, j]), cos * (t * A[:, i] + A[:, j])
        if not rotated:
            break
    return np.sort(np.sqrt((A * A).sum(0)))[::-1] * size
