"""Estimators and calls as source code, for the invocation that a model records."""

import inspect
import os
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator

from ._input import _is_path
from ._read import Files

#: Types whose repr determines the value, so that a value that was validated once is valid again.
SIMPLE = frozenset((type(None), bool, int, float, str))


def constructor_source(cls, values):
    """The constructor of a class, with the parameters that differ from their defaults, as source code."""
    defaults = inspect.signature(cls.__init__).parameters
    given = [(name, value) for name, value in zip(cls._parameter_names(), values) if not (_unwritten(name, value) or _same(value, defaults[name].default))]
    return f"unmix.{cls.__name__}({', '.join(f'{name}={_brief(value)}' for name, value in given)})"


def _unwritten(name, value):
    """Whether a parameter has no place in the constructor: a callback, and a generator of seeds, in whose place the seed is written."""
    return name == "callback" or (name == "random_state" and not isinstance(value, Integral))


def seeded_source(written, state, seed):
    """A constructor as source code, with the seed that was drawn if ``random_state`` is not a number."""
    if isinstance(state, Integral):
        return written
    return f"{written[:-1]}{'' if written.endswith('()') else ', '}random_state={seed})"


def call_source(written, name, X, sample_weight=None, targets=None):
    """The call that makes a model, as source code: files by name, arrays as ``X``, codes to be reproduced as ``y``."""
    rows = _file(X) or "X"
    file = None if isinstance(sample_weight, (list, tuple)) else _file(sample_weight)
    weights = "" if sample_weight is None else f", sample_weight={file or 'sample_weight'}"
    further = ", y" * (targets is not None) + weights
    return f"{written}.{name}({rows}{further})"


def _file(X):
    """Files as source code; None for anything else."""
    if not _is_path(X):
        return None
    return repr(X) if isinstance(X, Files) else repr([os.fspath(path) for path in X] if isinstance(X, (list, tuple)) else os.fspath(X))


def _same(value, default):
    return value is default or (type(value) is type(default) and type(value) in SIMPLE and value == default)


def _brief(value):
    """A value as source code; estimators, arrays and values without a short form by their type alone."""
    if isinstance(value, BaseEstimator):
        return f"<{type(value).__name__}>"
    text = repr(value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value)
    return text if len(text) <= 80 else f"<{type(value).__name__}>"
