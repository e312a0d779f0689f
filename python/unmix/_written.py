"""Estimators and calls as source code, for the invocation that a model records.

The text is Python that can be evaluated. What has no short form as source code is a variable, which the reader defines before: the rows are
``X``, codes to be reproduced ``y``, and an array, a callable or another object has the name of its parameter, as in
``unmix.SparseCoder(dictionary=dictionary).fit(X)``; also a callback, which may have ended the fit. In a call inside another one, and in each call of a chain such as
``unmix.PCA().partial_fit(X).partial_fit(X)``, ``X`` and the names of parameters are those of that call, which may be other rows and arrays. A chain
that begins with ``model`` continues an estimator whose own call is not part of the text: it is a command of the program, longer than
``LONGEST_CALL`` or not known.
"""

import ast
import inspect
import math
import os
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from ._input import _is_path
from ._options import RunOptions
from ._read import Files

#: Types whose repr determines the value, so that a value that was validated once is valid again.
SIMPLE = frozenset((type(None), bool, int, float, str))
#: Longest call, in characters, that is part of another one.
LONGEST_CALL = 1000
#: Largest array that is written in full, in numbers, and longest text of any other value.
LARGEST_ARRAY, LONGEST_TEXT = 100, 2000


def constructor_source(cls: type[Any], values: Sequence[Any]) -> str:
    """The constructor of a class, with the parameters that differ from their defaults, as source code."""
    defaults = inspect.signature(cls.__init__).parameters
    given = [(name, value) for name, value in zip(cls._parameter_names(), values) if not (_is_generator(name, value) or _same(value, defaults[name].default))]
    return f"unmix.{cls.__name__}({', '.join(f'{name}={_source(name, value)}' for name, value in given)})"


def _is_generator(name: str, value: object) -> bool:
    """Whether a parameter is a generator of seeds, in whose place the seed that was drawn is written."""
    return name == "random_state" and not isinstance(value, Integral)


def seeded_source(written: str, state: object, seed: int) -> str:
    """A constructor as source code, with the seed that was drawn if ``random_state`` is not a number."""
    if isinstance(state, Integral):
        return written
    return f"{written[:-1]}{'' if written.endswith('()') else ', '}random_state={seed})"


def call_source(written: str, name: str, X: Any, sample_weight: Any = None, targets: Any = None) -> str:
    """The call that makes a model, as source code: files by name, arrays as ``X``, codes to be reproduced as ``y``."""
    file = None if sample_weight is None or isinstance(sample_weight, (list, tuple)) else _file(sample_weight)
    weights = "" if sample_weight is None else f", sample_weight={file or 'sample_weight'}"
    codes = "" if targets is None else f", {_file(targets) or 'y'}"
    return f"{written}.{name}({_file(X) or 'X'}{codes}{weights})"


def continued_source(call: str | None, changes: Mapping[str, Any]) -> str:
    """The estimator that ``partial_fit`` continues, as source code: the call that made it, and the parameters that have changed since."""
    begun = call if call is not None and len(call) <= LONGEST_CALL and not call.startswith("unmix ") else "model"
    changed = ", ".join(f"{name}={_source(name, value)}" for name, value in changes.items())
    return begun + (f".set_params({changed})" if changed else "")


def merged_source(left: object, right: object) -> str:
    """The call that merges two estimators, as source code; without their own calls if these are those of many parts."""
    return f"{_estimator_source('left', left)}.merge({_estimator_source('right', right)})"


def report_source(X: Any, options: Mapping[str, Any]) -> str:
    """The call of :func:`unmix.report` as source code, with the options that differ from their defaults. The models, whose own calls are on the
    page, are the variables ``model`` and ``beside``; the path is left out, because the page is the same without it."""
    given = [(name, value) for name, value in options.items() if value is not None]
    rows = "" if X is None else f", {_file(X) or 'X'}"
    return f"unmix.report(model{rows}{''.join(f', {name}={_option(name, value)}' for name, value in given)})"


def _option(name: str, value: Any) -> str:
    """An option of a page as source code. Labels are the text of numbers, which that of an array in another type is not."""
    is_variable = isinstance(value, RunOptions) or (name == "color" and isinstance(value, np.ndarray))
    return name if is_variable else _source(name, value)


def _file(X: Any) -> str | None:
    """Files as source code; None for anything else."""
    if not _is_path(X):
        return None
    return repr(X) if isinstance(X, Files) else repr([os.fspath(path) for path in X] if isinstance(X, (list, tuple)) else os.fspath(X))


def _same(value: object, default: object) -> bool:
    return value is default or (type(value) is type(default) and type(value) in SIMPLE and value == default)


def _source(name: str, value: Any) -> str:
    """The value of a parameter as source code; its name, for a variable, if the value has no short form."""
    if isinstance(value, Files):
        return repr(value)
    if isinstance(value, RunOptions):
        return _estimator_source(name, value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, (np.ndarray, np.generic)):
        if value.size > LARGEST_ARRAY:
            return name
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    text = repr(value)
    return text if type(value) in SIMPLE or (len(text) <= LONGEST_TEXT and _is_literal(value, text)) else name


def _is_literal(value: object, text: str) -> bool:
    """Whether a list, a tuple or a dict has numbers and text alone, of which ``text`` is the source code."""
    if not isinstance(value, (list, tuple, dict)):
        return False
    try:
        return bool(ast.literal_eval(text) == value)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return False


def _estimator_source(name: str, estimator: object) -> str:
    """The call that fitted an estimator, unless it is a command of the program or a long call."""
    call: str = getattr(getattr(estimator, "report_", None), "invocation", None) or ""
    return call if call.startswith("unmix.") and len(call) <= LONGEST_CALL else name
