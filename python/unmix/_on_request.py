"""Attributes of a fitted estimator that are computed from its model on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._report import Report

if TYPE_CHECKING:
    from ._base import Estimator
    from ._types import Array


def _whole(n: float) -> float:
    """A number of rows, as an int if it is an integer."""
    return int(n) if n.is_integer() else n


def _mixing(estimator: Estimator) -> Array:
    mixing = estimator._model.mixing
    if mixing is None:
        raise AttributeError(f"{type(estimator).__name__!r} has no mixing_: its codes cannot be decoded")
    return mixing.astype(estimator.mean_.dtype, copy=False)


def _rotation(estimator: Estimator) -> Array:
    if not {"mixing", "spread"}.isdisjoint(estimator._model.tensor_names) or not estimator._orthonormal:
        raise AttributeError(f"this {type(estimator).__name__!r} model has no rotation_; components_ and mixing_ are its matrices")
    return estimator.components_.T


def _std_error(estimator: Estimator) -> Array:
    errors = estimator._model.explained_variance_std_error
    if errors is None:
        raise AttributeError(f"{type(estimator).__name__!r} has no explained_variance_, and so no standard errors of it")
    return errors.astype(estimator.mean_.dtype, copy=False)


#: Attributes of a fitted estimator that are computed from its model on access.
_ON_REQUEST: dict[str, Callable[[Estimator], Any]] = {
    "mixing_": _mixing,
    "explained_variance_std_error_": _std_error,
    "rotation_": _rotation,
    "n_components_": lambda estimator: estimator._model.n_components,
    "n_samples_": lambda estimator: _whole(estimator._model.end[3]),
    "n_iter_": lambda estimator: estimator.report_.n_iter,
    "report_": lambda estimator: Report(estimator._model.report),
}
