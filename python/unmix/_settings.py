"""Settings of estimators: validated, and in the form in which the extension and a model file have them."""

from __future__ import annotations

import functools
import json
import operator
import os
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import check_array, check_is_fitted

from . import _unmix
from ._input import dense, registry, tensor_names, warn
from ._options import RunOptions
from ._sklearn import InvalidParameterError, Part
from ._types import Array
from ._written import SIMPLE, constructor_source


@functools.lru_cache(maxsize=4096)
def _settings_and_source_of(cls: type[Any], values: tuple[Any, ...], kinds: tuple[type, ...]) -> tuple[str, str]:
    """The settings of an estimator with these values, as JSON, and its constructor as source code. The values are validated, once for each
    set of them; invalid values raise and are not cached."""
    estimator = cls(**dict(zip(cls._parameter_names(), values)))
    estimator._validate_params()
    return _written(estimator._settings()), constructor_source(cls, values)


def _written(settings: dict[str, Any]) -> str:
    """Settings as JSON, which has no NaN and no infinities."""
    try:
        return json.dumps(settings, allow_nan=False)
    except ValueError:
        for name, value in settings.items():
            if isinstance(value, (list, tuple, float)):
                numbers = np.asarray(value, dtype=np.float64)
                wrong = numbers[~np.isfinite(numbers)]
                if len(wrong):
                    raise ValueError(f"{name} must contain finite numbers only, got {wrong[0]}") from None
        raise


def _json(value: Any) -> Any:
    """Convert a setting to JSON."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    return value.item() if isinstance(value, np.generic) else value


def _table(value: Any, name: str) -> Array:
    """A table of numbers: an array, the components of a model, a file of either, or a handle to files."""
    if isinstance(value, RunOptions):
        check_is_fitted(value)
        value = cast(Any, value).components_
    elif isinstance(value, (str, os.PathLike)) and os.fspath(value).endswith(".safetensors"):
        value = _unmix.Model.load(os.fspath(value)).tensors.get("components")
    return numbers(value, name)


def numbers(value: Any, name: str) -> Array:
    """A table of numbers: an array, a file of one, or a handle to files."""
    table: Array = check_array(dense(value), dtype=np.float64, order="C", ensure_all_finite=False, input_name=name)
    return table


@functools.cache
def _accepted_only(method: str) -> list[tuple[str, tuple[Any, ...]]]:
    """Parameters that are accepted for compatibility alone, with their defaults and the values that request what is done anyway."""
    settings = (s for s in registry()[method]["settings"] if s["python_only"] and not s["has_effect"])
    return [(s["name"], (s["default"], *s["also_accepts"])) for s in settings]


class Settings(Part):
    """Parameters of an estimator as settings of its method."""

    def _settings_and_source(self) -> tuple[str, str]:
        """Settings as JSON, and the constructor as source code, with the parameters that differ from their defaults.

        Parameters are validated as by scikit-learn's decorator of ``fit``, which takes longer than all other Python code of a small fit.
        """
        # `Any`, because type checkers do not accept a class as a key of a cache.
        cls: Any = type(self)
        values, kinds = self._given()
        if SIMPLE.issuperset(kinds) and not self._reads_settings():
            try:
                return _settings_and_source_of(cls, values, kinds)
            except InvalidParameterError:
                if not get_config()["skip_parameter_validation"]:
                    raise
        elif not get_config()["skip_parameter_validation"]:
            self._validate_params()
        return _written(self._settings()), constructor_source(cls, values)

    def _reads_settings(self) -> bool:
        """Whether a setting is read from a file, whose numbers may change."""
        return False

    def _given(self) -> tuple[tuple[Any, ...], tuple[type, ...]]:
        """Values of the parameters, and their types: 1, 1.0 and True are equal, but not the same setting."""
        values = self._parameters()(self)
        return values, tuple(map(type, values))

    @classmethod
    @functools.cache
    def _parameters(cls) -> Callable[[Any], tuple[Any, ...]]:
        """A function that returns the values of all parameters of an estimator."""
        return operator.attrgetter(*cls._parameter_names())

    @classmethod
    @functools.cache
    def _parameter_names(cls) -> list[str]:
        return cls._get_param_names()

    def _settings(self) -> dict[str, Any]:
        """The settings that the registry lists, from the attributes of the same names."""
        settings = {name: _json(getattr(self, name)) for name in self._setting_names()}
        if "init" in settings and self._starts_from_model():
            # A model is not a setting: its parameters are passed as initial values.
            del settings["init"]
        return settings

    @classmethod
    @functools.cache
    def _setting_names(cls) -> list[str]:
        return [s["name"] for s in registry()[cls._method]["settings"] if not s["python_only"] and not s["tensor"]]

    def _given_tables(self) -> list[tuple[str, Array]]:
        """The parameters that are tables, by name, for the extension."""
        tables = [(name, getattr(self, name)) for name in tensor_names(self._method)]
        return [(name, _table(value, name)) for name, value in tables if value is not None]

    @classmethod
    @functools.cache
    def _own_starts(cls) -> Sequence[str]:
        """Values of ``init`` that are choices of the setting."""
        return next((s["choices"] for s in registry()[cls._method]["settings"] if s["name"] == "init"), ())

    def _warn_accepted(self) -> None:
        """Warn about parameters that have no effect."""
        for name, silent in _accepted_only(self._method):
            if (value := getattr(self, name)) not in silent:
                warn(f"{name}={value!r} has no effect: it is accepted for compatibility with scikit-learn")
