"""Arguments of :func:`unmix.open`, checked and converted for the extension."""

import contextlib
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np


def _word(column: Any) -> str:
    """A column name, quoted for a list of columns."""
    if isinstance(column, Integral):
        return str(int(column))
    plain = column and column.strip() == column and not any(c in column for c in ',"')
    return str(column) if plain else '"' + column.replace('"', '""') + '"'


def _columns(name: str, columns: Any) -> str | None:
    """A list of columns as text, as on the command line."""
    if columns is None or isinstance(columns, str):
        return columns
    form = "must be a list of names and of numbers from 0, as in ['a', 5], or text as in 'a,5-9'"
    if not isinstance(columns, Iterable):
        raise TypeError(f"{name} {form}, got {columns!r}")
    columns = list(columns)
    if name == "columns" and not columns:
        raise ValueError("columns must name at least one column, got none; None reads all")
    for column in columns:
        if not isinstance(column, str) and not _is_integer(column):
            raise TypeError(f"{name} {form}, got {column!r} in it")
        if not isinstance(column, str) and column < 0:
            raise ValueError(f"{name} {form}, got {column} in it")
    return ",".join(map(_word, columns))


def _is_integer(value: object) -> bool:
    """Whether it is an integer; True and False do not count as integers here."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def _integer(name: str, value: Any, least: int) -> int:
    """An integer that is at least `least`, and below the first one of more than 64 bits."""
    if not _is_integer(value):
        raise TypeError(f"{name} must be an integer of at least {least}, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    if value >= 2**64:
        raise ValueError(f"{name} must be an integer below 2**64, got {value!r}")
    return int(value)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {value!r}")
    return value


def _delimiter(delimiter: object) -> str:
    remedy = "choose a character such as ',' or ';', or 'tab', or 'space' for runs of blanks"
    if not isinstance(delimiter, str):
        raise TypeError(f"delimiter must be a string, got {delimiter!r}; {remedy}")
    # In the extension other words stand for these two as well.
    if delimiter not in ("tab", "space", r"\t", "whitespace") and not (len(delimiter) == 1 and delimiter.isascii()):
        raise ValueError(f"delimiter must be one ASCII character, got {delimiter!r}; {remedy}")
    return delimiter


def _choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """One of these words."""
    if value not in choices:
        raise ValueError(f"{name} must be {' or '.join(map(repr, choices[:2]))}, got {value!r}")
    return str(value)


def _names(names: Any) -> list[str] | None:
    """Names of columns; the extension checks that there is a distinct one for each column."""
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ValueError(f"names must be a list of strings, one for each column, got {names!r}")
    return [str(name) for name in names]


def _shape(name: str, shape: Any) -> tuple[int, ...] | None:
    if shape is None:
        return None
    lengths: tuple[int, ...]
    try:
        lengths = tuple(int(length) for length in (shape.split("x") if isinstance(shape, str) else shape))
    except (TypeError, ValueError):
        lengths = ()
    if not lengths or min(lengths) < 1 or (name == "patches" and len(lengths) != 2):
        raise ValueError(f"{name} must be the length of each axis, as in (28, 28), got {shape!r}")
    return lengths


def _axes(axes: Any) -> list[int]:
    """The axes of an array that run over samples; none for the default."""
    if axes is None:
        return []
    given = list(axes) if isinstance(axes, (tuple, list)) else [axes]
    if not given or any(not isinstance(axis, Integral) or int(axis) < 0 for axis in given):
        raise ValueError(f"rows_axis must be the number of an axis, from 0, or several as in (0, 1), got {axes!r}")
    return [int(axis) for axis in given]


def _range(rows: Any) -> tuple[int, int | None] | None:
    """The first row and the one after the last."""
    if rows is None:
        return None
    if isinstance(rows, slice):
        start, stop, step = rows.start, rows.stop, rows.step
    else:
        start, stop, step = (*rows, None) if isinstance(rows, (tuple, list)) and len(rows) == 2 else (None, None, 0)
    bounds = [bound for bound in (start, stop) if bound is not None]
    if step not in (None, 1) or any(not isinstance(bound, Integral) or not 0 <= int(bound) < 2**64 for bound in bounds):
        raise ValueError(f"rows must be the first row and the one after the last, as in (100, 200) or (100, None), got {rows!r}")
    return int(start or 0), None if stop is None else int(stop)


def _dtype(dtype: Any) -> str | None:
    """The name of a number type."""
    if dtype is None:
        return None
    name = ""
    with contextlib.suppress(TypeError):
        name = str(np.dtype(dtype).name)
    if name not in ("float32", "float64"):
        raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
    return name


def _na(na: Any) -> list[str]:
    """Marks of missing cells."""
    if not isinstance(na, Iterable):
        raise ValueError(f"na must be a list of strings, as in na=['?', '-'], got {na!r}")
    return [na] if isinstance(na, str) else [str(mark) for mark in na]


def _check_combination(settings: dict[str, Any]) -> None:
    """Refuses settings that are mutually exclusive, or that need another one."""
    if settings["grey"] and settings["rgb"]:
        raise ValueError("grey=True and rgb=True are mutually exclusive; give one of them")
    for name in ("stride", "padding", "number", "patch_seed", "normalise"):
        if settings[name] and settings["patches"] is None:
            raise ValueError(f"{name}={settings[name]!r} applies to patches only; give patches=(height, width) too")
    if settings["triplets"] and settings["names"] is not None:
        raise ValueError("names= and triplets=True are mutually exclusive: the columns of a list of cells are row, column and value; leave names out")


def _reading(**settings: Any) -> dict[str, Any]:
    """Settings, checked and converted for the extension."""
    converted = {
        **{name: _flag(name, settings[name]) for name in ("transpose", "grey", "rgb", "normalise", "triplets")},
        **{name: _columns(name, settings[name]) for name in ("columns", "drop")},
        **{name: None if settings[name] is None else _integer(name, settings[name], 1) for name in ("stride", "number")},
        **{name: _integer(name, settings[name], 0) for name in ("skip_rows", "padding", "patch_seed")},
        "header": None if settings["header"] is None else _flag("header", settings["header"]),
        "input_format": None if settings["input_format"] is None else _text("input_format", settings["input_format"]),
        "key": None if settings["key"] is None else _text("key", settings["key"]),
        "delimiter": None if settings["delimiter"] is None else _delimiter(settings["delimiter"]),
        "decimal": _choice("decimal", settings["decimal"], (".", ",", "point", "comma")),
        "missing": _choice("missing", settings["missing"], ("keep", "drop")),
        "names": _names(settings["names"]),
        "na": _na(settings["na"]),
        "rows": _range(settings["rows"]),
        "rows_axis": _axes(settings["rows_axis"]),
        "patches": _shape("patches", settings["patches"]),
        "feature_shape": _shape("feature_shape", settings["feature_shape"]),
        "dtype": _dtype(settings["dtype"]),
    }
    _check_combination(settings)
    return converted
