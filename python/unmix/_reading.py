"""Arguments of :func:`unmix.open`, checked and converted for the extension."""

from collections.abc import Iterable
from numbers import Integral

import numpy as np


def _word(column):
    """A column name, quoted for a list of columns."""
    if isinstance(column, Integral):
        return str(int(column))
    plain = column and column.strip() == column and not any(c in column for c in ',"')
    return column if plain else '"' + column.replace('"', '""') + '"'


def _columns(columns):
    """A list of columns as text, as on the command line."""
    if columns is None or isinstance(columns, str):
        return columns
    return ",".join(map(_word, columns))


def _names(names):
    """Names of columns; the extension checks that there is a distinct one for each column."""
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ValueError(f"names must be a list of strings, one for each column, got {names!r}")
    return [str(name) for name in names]


def _shape(name, shape):
    if isinstance(shape, str):
        shape = shape.split("x")
    try:
        shape = None if shape is None else tuple(int(length) for length in shape)
    except (TypeError, ValueError):
        shape = ()
    if shape is not None and (not shape or min(shape) < 1 or (name == "patches" and len(shape) != 2)):
        raise ValueError(f"{name} must be the length of each axis, as in (28, 28)")
    return shape


def _axes(axes):
    """The axes of an array that run over samples; none for the default."""
    if axes is None:
        return []
    given = list(axes) if isinstance(axes, (tuple, list)) else [axes]
    if not given or any(not isinstance(axis, Integral) or axis < 0 for axis in given):
        raise ValueError(f"rows_axis must be the number of an axis, from 0, or several as in (0, 1), got {axes!r}")
    return [int(axis) for axis in given]


def _range(rows):
    """The first row and the one after the last."""
    if rows is None:
        return None
    if isinstance(rows, slice):
        start, stop, step = rows.start, rows.stop, rows.step
    else:
        start, stop, step = (*rows, None) if isinstance(rows, (tuple, list)) and len(rows) == 2 else (None, None, 0)
    bounds = [bound for bound in (start, stop) if bound is not None]
    if step not in (None, 1) or any(not isinstance(bound, Integral) or bound < 0 for bound in bounds):
        raise ValueError(f"rows must be the first row and the one after the last, as in (100, 200) or (100, None), got {rows!r}")
    return int(start or 0), None if stop is None else int(stop)


def _dtype(dtype):
    """The name of a number type; the extension validates it."""
    try:
        return None if dtype is None else np.dtype(dtype).name
    except TypeError:
        return str(dtype)


def _reading(grey, rgb, patches, **settings):
    """Settings, converted for the extension."""
    if grey and rgb:
        raise ValueError("grey=True and rgb=True exclude each other; keep one of them")
    for name in ("stride", "padding", "number", "patch_seed", "normalise"):
        if settings[name] and patches is None:
            raise ValueError(f"{name}={settings[name]!r} applies to patches only; give patches=(height, width) too")
    if settings["triplets"] and settings["names"] is not None:
        raise ValueError("names= and triplets=True exclude each other: the columns of a list of cells are row, column and value; leave names out")
    na = settings["na"]
    if not isinstance(na, Iterable):
        raise ValueError(f"na must be a list of strings, as in na=['?', '-'], got {na!r}")
    return {
        **settings,
        "grey": bool(grey),
        "rgb": bool(rgb),
        "patches": _shape("patches", patches),
        "transpose": bool(settings["transpose"]),
        "normalise": bool(settings["normalise"]),
        "rows_axis": _axes(settings["rows_axis"]),
        "triplets": bool(settings["triplets"]),
        "feature_shape": _shape("feature_shape", settings["feature_shape"]),
        "columns": _columns(settings["columns"]),
        "drop": _columns(settings["drop"]),
        "names": _names(settings["names"]),
        "na": [na] if isinstance(na, str) else [str(mark) for mark in na],
        "rows": _range(settings["rows"]),
        "dtype": _dtype(settings["dtype"]),
    }
