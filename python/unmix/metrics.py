"""How near two answers are, whatever order and signs they come in."""

from typing import NamedTuple

import numpy as np

from . import _unmix

__all__ = ["Match", "match", "matched_cosine", "projection_distance", "subspace_angles"]


class Match(NamedTuple):
    """A pairing of components.

    Attributes
    ----------
    order : ndarray of int
        For each component of the first model, the component of the second that it is paired with.
    sign : ndarray of float
        1 or -1 for each pair.
    cosine : ndarray of float
        Absolute cosine of each pair; 1 for the same direction.
    """

    order: np.ndarray
    sign: np.ndarray
    cosine: np.ndarray


def _rows(model):
    rows = np.asarray(getattr(model, "components_", model), dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"components are an array of 2 axes, but {rows.ndim} were given; give a fitted model or its components_")
    return rows


def _pair(a, b):
    a, b = _rows(a), _rows(b)
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"comparing components of {a.shape[1]} and {b.shape[1]} features is not possible; give models of the same features"
        )
    return a, b


def match(a, b):
    """Pair the components of two models so that the sum of absolute cosines is largest (the Hungarian method).

    Parameters
    ----------
    a, b : fitted estimator, or array-like of shape (n_components, n_features)
        ``b`` has at least as many components as ``a``.

    Returns
    -------
    match : Match
        Order, signs and cosines: ``sign[:, None] * b.components_[order]`` is nearest to ``a.components_``.

    Examples
    --------
    >>> from unmix.metrics import match
    >>> match([[1, 0], [0, 1]], [[0, -2], [1, 0]]).order
    array([1, 0])
    """
    return Match(*_unmix.match_rows(*_matchable(a, b)))


def _matchable(a, b):
    a, b = _pair(a, b)
    if len(a) > len(b):
        raise ValueError(f"{len(a)} components cannot each have one of {len(b)}; give the model with more components second")
    return a, b


def matched_cosine(a, b):
    """Return the mean absolute cosine between components of two models, paired as ``match`` does.

    Parameters
    ----------
    a, b : fitted estimator, or array-like of shape (n_components, n_features)
        ``b`` has at least as many components as ``a``.

    Returns
    -------
    cosine : float
        1 for the same directions whatever their order, sign and length. Chance is far from 0: 30 random directions of 20
        dimensions match 30 others by about 0.47. The share above a level is ``(match(a, b).cosine > 0.99).mean()``.

    Examples
    --------
    >>> from unmix.metrics import matched_cosine
    >>> matched_cosine([[1, 0], [0, 1]], [[0, -2], [1, 0]])
    1.0
    """
    return _unmix.matched_cosine(*_matchable(a, b))


def projection_distance(a, b):
    """Return ``||P_a - P_b||_F``, the distance between the projectors onto what two models' components span.

    Parameters
    ----------
    a, b : fitted estimator, or array-like of shape (n_components, n_features)
        Components as rows, linearly independent.

    Returns
    -------
    distance : float
        0 for the same subspace; ``sqrt(2 * sum(sin(angles)**2))`` over the ``subspace_angles`` of subspaces of one dimension;
        each dimension that only one of them has adds 1 below the root. Small distances keep their digits.

    Examples
    --------
    >>> from unmix.metrics import projection_distance
    >>> round(projection_distance([[1, 0, 0]], [[0, 1, 0]]) ** 2, 12)
    2.0
    """
    return _unmix.projection_distance(*_pair(a, b))


def subspace_angles(a, b):
    """Return the angles in radians between the subspaces that two models' components span, largest first.

    Parameters
    ----------
    a, b : fitted estimator, or array-like of shape (n_components, n_features)
        Components as rows.

    Returns
    -------
    angles : ndarray of shape (min of both numbers of components,)
        0 where directions are shared. Small angles keep their digits.

    Examples
    --------
    >>> from unmix.metrics import subspace_angles
    >>> subspace_angles([[1, 0, 0]], [[1, 1e-9, 0]])
    array([1.e-09])
    """
    return _unmix.subspace_angles(*_pair(a, b))
