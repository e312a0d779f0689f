"""Estimators and calls as source code, for the invocation that a model records."""

import inspect
import os

import numpy as np

from ._input import _is_path
from ._read import Files

#: Types whose repr determines the value, so that a value that was validated once is valid again.
SIMPLE = frozenset((type(None), bool, int, float, str))


def constructor_source(cls, values):
    """The constructor of a class, with the parameters that differ from their defaults, as source code."""
    defaults = inspect.signature(cls.__init__).parameters
    given = [(name, value) for name, value in zip(cls._parameter_names(), values) if name != "callback" and not _same(value, defaults[name].default)]
    return f"unmix.{cls.__name__}({', '.join(f'{name}={_brief(value)}' for name, value in given)})"


def call_source(written, name, X, sample_weight=None):
    """The call that makes a model, as source code: files by name, arrays as ``X``."""
    rows = "X" if not _is_path(X) else repr(X) if isinstance(X, Files) else repr([os.fspath(path) for path in X] if isinstance(X, (list, tuple)) else os.fspath(X))
    return f"{written}.{name}({rows})" if sample_weight is None else f"{written}.{name}({rows}, sample_weight=sample_weight)"


def _same(value, default):
    return value is default or (type(value) is type(default) and type(value) in SIMPLE and value == default)


def _brief(value):
    """A value as source code; arrays, and values without a short form, by their name alone."""
    text = repr(value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value)
    return text if len(text) <= 80 else f"<{type(value).__name__}>"
