"""Distances between the subspaces that components span."""

from __future__ import annotations

from .. import _unmix
from .._types import Array, Components
from ._components import _pair


def projection_distance(a: Components, b: Components) -> float:
    """Return ``||P_a - P_b||_F``, the distance between the projectors onto the spans of two models' components.

    It compares the spans alone: rotations, scales and orders of the components do not matter. Components that are linearly dependent span
    fewer dimensions; more components than columns are refused.

    Parameters
    ----------
    a, b : fitted estimator, or array-like of shape (n_components, n_features)
        Components as rows, linearly independent.

    Returns
    -------
    float
        0 for the same subspace; ``sqrt(2 * sum(sin(angles)**2))`` over the ``subspace_angles`` of subspaces of the same dimension;
        a difference of dimensions is added under the root. Small distances are accurate.

    See Also
    --------
    subspace_angles : All angles between the subspaces.

    Notes
    -----
    ``P_a = Q_a.T @ Q_a`` with orthonormal rows ``Q_a`` that span the components of ``a``. For dimensions ``k_a >= k_b`` the distance is
    computed as ``sqrt(k_a - k_b + 2 ||Q_b - Q_b Q_a.T Q_a||_F**2)``, without the ``n_features x n_features`` projectors and without
    cancellation.

    It takes ``O(n_features k**2)`` operations for ``k`` components.

    Examples
    --------
    >>> from unmix.metrics import projection_distance
    >>> round(projection_distance([[1, 0, 0]], [[0, 1, 0]]) ** 2, 12)
    2.0
    """
    return _unmix.projection_distance(*_pair(a, b))


def subspace_angles(a: Components, b: Components) -> Array:
    """Return the angles in radians between the subspaces that two models' components span, largest first.

    They compare the spans alone, irrespective of a rotation inside them: the largest angle is pi/2 if a direction of one subspace is
    orthogonal to the other. As :func:`scipy.linalg.subspace_angles`, for components as rows.

    Parameters
    ----------
    a, b : fitted estimator, or array-like of shape (n_components, n_features)
        Components as rows.

    Returns
    -------
    ndarray of shape (min of both numbers of components,)
        0 for shared directions. Small angles are accurate.

    See Also
    --------
    projection_distance : One number for all angles.

    Notes
    -----
    With orthonormal rows ``Q_a`` and ``Q_b`` of the two spans, the cosines of the angles are the singular values of ``Q_b @ Q_a.T``, and
    their sines those of ``Q_b - Q_b Q_a.T Q_a`` for the smaller subspace ``b``; angles below pi/4 are computed from the sines.

    They take ``O(n_features k**2)`` operations for ``k`` components.

    Examples
    --------
    >>> from unmix.metrics import subspace_angles
    >>> subspace_angles([[1, 0, 0]], [[1, 1e-9, 0]])
    array([1.e-09])
    """
    return _unmix.subspace_angles(*_pair(a, b))
