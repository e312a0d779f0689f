"""Components selected by the user, and frames of rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils._set_output import ADAPTERS_MANAGER, _get_output_config

from ._input import counted

if TYPE_CHECKING:
    import pandas

    from . import _unmix
    from ._base import Estimator
    from ._types import Array


def chosen(model: _unmix.Model, setting: str, selection: Any) -> Array:
    """Indices of components, ascending.

    Parameters
    ----------
    model : fitted model of the extension
        The model whose components are selected.
    setting : str
        Name of the argument, for messages.
    selection : int, str, sequence of these, or boolean mask of shape (n_components,)
        Numbers count from 0, negative ones from the end; names are those of ``get_feature_names_out``; text such as ``"0-2"`` is a
        range with both ends.

    Returns
    -------
    indices : ndarray of int64

    Raises
    ------
    ValueError
        For other types, for components that the model does not have, and for one that is given twice.
    """
    each = [selection] if isinstance(selection, (str, Integral)) or np.ndim(selection) == 0 else list(selection)
    is_mask = np.asarray(selection).dtype == bool if isinstance(selection, np.ndarray) else each and all(isinstance(one, (bool, np.bool_)) for one in each)
    if is_mask and np.ndim(selection) > 0:
        if len(each) != model.n_codes:
            raise ValueError(
                f"{setting} is a mask of {counted(len(each), 'value')}, but the model has {counted(model.n_codes, 'component')}; give one value for each"
            )
        return np.flatnonzero(each)
    for one in each:
        if isinstance(one, (bool, np.bool_)) or not isinstance(one, (str, Integral)):
            raise ValueError(
                f"{setting}={selection!r} is not possible: {one!r} is neither the number nor the name of a component; give integers, names, "
                f"or a mask of {model.n_codes} booleans"
            )
    # No model has more components than this.
    most = 2**62
    names = [name for one in each for name in (_words(one, model.n_codes) if isinstance(one, str) else [max(-most, min(int(one), most))])]
    return np.asarray(model.choose(setting, names), dtype=np.int64)


def _words(word: str, n: int) -> Sequence[int | str]:
    """The components that a string selects: a component by its name, or the numbers of a range with both ends, as in ``"0-2"``."""
    ends = re.fullmatch(r"\s*(\d+)-(\d+)\s*", word)
    if not ends or int(ends[1]) > int(ends[2]):
        return [str(word)]
    # A range that ends outside is refused by the model through its end.
    return range(int(ends[1]), int(ends[2]) + 1) if int(ends[2]) < n else [min(int(ends[2]), 2**62)]


def ordered(model: _unmix.Model, setting: str, selection: Any) -> list[int]:
    """Indices of components as from `chosen`, but in the requested order if that is a sequence."""
    is_mask = isinstance(selection, np.ndarray) and selection.dtype == bool or np.ndim(selection) == 1 and all(isinstance(a, (bool, np.bool_)) for a in selection)
    if isinstance(selection, (str, Integral)) or np.ndim(selection) != 1 or is_mask:
        return [int(i) for i in chosen(model, setting, selection)]
    # Refuses a component that is given twice, which is not visible one by one.
    chosen(model, setting, selection)
    return [int(i) for one in selection for i in chosen(model, setting, [one])]


def framed(estimator: Estimator) -> bool:
    """Whether ``set_output`` requests frames."""
    return bool(_get_output_config("transform", estimator)["dense"] != "default")


def in_frame(estimator: Estimator, rows: Array, given: Any) -> Array:
    """Rows in the container configured by ``set_output``, with the columns of the fit and the index of the input."""
    if not framed(estimator):
        return rows
    kind = _get_output_config("transform", estimator)["dense"]
    names = vars(estimator).get("feature_names_in_")
    columns = [f"x{j}" for j in range(rows.shape[1])] if names is None else list(names)
    frame: Array = ADAPTERS_MANAGER.adapters[kind].create_container(rows, given, columns=lambda: columns)
    return frame


def components_frame(estimator: Estimator, which: str) -> pandas.DataFrame:
    """Components as a data frame; see ``components_frame`` of the estimators."""
    import pandas

    if which not in ("components", "patterns"):
        raise ValueError(f"which must be 'components' or 'patterns', got {which!r}")
    if "components" not in estimator._model.tensors:
        raise ValueError(f"{type(estimator).__name__} has no components_; its fitted attributes are {', '.join(estimator._model.tensor_names)}")
    numbers = estimator.components_ if which == "components" else estimator.mixing_.T
    names = [f"{type(estimator).__name__.lower()}{i}" for i in range(len(numbers))]
    if len(numbers) == estimator._n_features_out:
        names = list(estimator.get_feature_names_out())
    columns = vars(estimator).get("feature_names_in_")
    columns = [f"x{j}" for j in range(numbers.shape[1])] if columns is None else list(columns)
    return pandas.DataFrame(np.array(numbers), index=names, columns=columns)
