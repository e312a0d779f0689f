"""What every estimator has: rows in, a fitted model kept, codes out."""

import functools
import json
import os
import sys
import warnings
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _unmix
from ._report import Report
from ._threads import threads_here


@functools.cache
def registry():
    """The methods by key, as ``unmix methods --json`` lists them."""
    return {method["key"]: method for method in json.loads(_unmix.methods())}


def tell(message, category=UserWarning):
    """Warn at the line of the caller's own code, however deep in ours and scikit-learn's we are."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("unmix", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def tell_ignored(columns):
    """Say which columns were left out."""
    tell(f"columns that the model does not know are ignored: {', '.join(columns)}")


#: Types whose values are what they look like, so that what was valid once is valid again.
_SIMPLE = (type(None), bool, int, float, str)


@functools.lru_cache(maxsize=4096)
def _validate(cls, given):
    """Validate parameters, once for each set of values; what is not valid raises and is not remembered."""
    BaseEstimator._validate_params(cls(**{name: value for name, _, value in given}))


def _is_path(X):
    return isinstance(X, (str, os.PathLike))


def _is_plain(dtype):
    """Whether the extension reads numbers of this type as they are."""
    return dtype.kind in "biuf" and dtype.itemsize <= 8


def _json(value):
    """A setting as JSON has it."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    return value.item() if isinstance(value, np.generic) else value


class Estimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all estimators. A subclass names its method and its parameters."""

    _method: str
    #: The fewest rows that a fit needs.
    _min_samples = 2

    # Fitting

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Fit the model to rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path
            Rows: an array of any layout and number type, a pandas or polars frame, or the path of a file, which is streamed.
            float32 is computed in float32, everything else in float64.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator. When fitting fails or is interrupted, it is as it was before.
        """
        self._fit(X)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X, y=None):
        """Fit the model to rows and return their codes: ``fit(X).transform(X)``, to the bit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path
            Rows, as for ``fit``.
        y : None
            Ignored.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_components)
            Codes, in the type of the rows.
        """
        rows = self._fit(X)
        return self._model.encode(rows, self._facts())

    def _fit(self, X):
        before = vars(self).copy()
        try:
            rows = self._rows(X, reset=True)
            self._check(rows)
            names = None if _is_path(rows) else vars(self).get("feature_names_in_")
            facts = (self._seed(), threads_here(), int(self.verbose))
            settings = json.dumps(self._settings())
            model = _unmix.fit(self._method, settings, rows, facts, None if names is None else list(names))
            self._adopt(model)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        self._warn()
        return rows

    def _validate_params(self):
        # scikit-learn's validation takes longer than a small fit.
        given = tuple((name, type(value), value) for name, value in ((n, getattr(self, n)) for n in self._parameter_names()))
        if all(kind in _SIMPLE for _, kind, _ in given):
            _validate(type(self), given)
        else:
            super()._validate_params()

    @classmethod
    @functools.cache
    def _parameter_names(cls):
        return cls._get_param_names()

    def _settings(self):
        """The settings that the registry lists, from the attributes of the same names."""
        return {name: _json(getattr(self, name)) for name in self._setting_names()}

    @classmethod
    @functools.cache
    def _setting_names(cls):
        return [s["name"] for s in registry()[cls._method]["settings"] if not s["python_only"]]

    def _check(self, rows):
        """Refuse settings that do not suit the rows, in scikit-learn's words. Methods of ours have nothing to add."""

    def _adopt(self, model):
        """Take over a fitted model: its parameters become attributes, read-only, that share its memory."""
        attributes = vars(self)
        attributes["_model"] = model
        for name, value in model.tensors.items():
            attributes[name + "_"] = value
        attributes["n_features_in_"] = model.n_features
        if "feature_names_in_" not in attributes and model.feature_names is not None:
            attributes["feature_names_in_"] = np.asarray(model.feature_names, dtype=object)

    def _warn(self):
        outcome, success, _, _ = self._model.end
        if not success:
            report = self.report_
            reached = "" if report.residual is None else f": the residual is {report.residual:.3g}, and tol is {report.tol:.3g}"
            tell(
                f"{type(self).__name__} did not converge in {report.n_iter} iterations (outcome '{outcome}'){reached}; "
                "allow more iterations, or a larger tol",
                ConvergenceWarning,
            )

    def _seed(self):
        state = getattr(self, "random_state", None)
        return int(state) if isinstance(state, Integral) else int(check_random_state(state).randint(2**31 - 1))

    def _facts(self):
        return (0, threads_here(), int(self.verbose))

    # Rows

    def _rows(self, X, reset=False):
        """Rows as the extension takes them: a path, or an array of two axes that is a copy only where it has to be.

        Numbers are not scanned here: what is not finite is found by the pass over the rows that reads them anyway.
        """
        if _is_path(X):
            path = os.fspath(X)
            if reset:
                vars(self).pop("feature_names_in_", None)
            return path
        if type(X) is np.ndarray and self._is_ready(X, reset):
            return X
        if not hasattr(X, "__array__") and hasattr(X, "__dataframe__"):
            from pandas.api.interchange import from_dataframe

            X = from_dataframe(X)
        if not reset:
            X = self._known_columns(X)
        plain = isinstance(X, np.ndarray) and _is_plain(X.dtype)
        return validate_data(
            self,
            X,
            reset=reset,
            # Any plain number is converted block by block; only what is not one has to be converted as a whole.
            dtype=None if plain else [np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=self._min_samples if reset else 1,
        )

    def _is_ready(self, X, reset):
        """Whether ``validate_data`` would return this array as it is, without a word; it takes longer than a small fit."""
        if X.ndim != 2 or not _is_plain(X.dtype) or X.shape[0] < (self._min_samples if reset else 1) or X.shape[1] < 1:
            return False
        attributes = vars(self)
        if reset:
            attributes.pop("feature_names_in_", None)
            attributes["n_features_in_"] = X.shape[1]
            return True
        return X.shape[1] == attributes["n_features_in_"] and "feature_names_in_" not in attributes

    def _known_columns(self, X):
        """Leave out the columns of a frame that the model does not know, when it knows all the others."""
        columns = getattr(X, "columns", None)
        known = vars(self).get("feature_names_in_")
        if columns is None or known is None or len(columns) <= len(known):
            return X
        names = set(known)
        kept = [c for c in columns if c in names]
        if len(kept) != len(known):
            return X
        extra = [str(c) for c in columns if c not in names]
        tell_ignored(extra)
        return X[kept]

    # Using the model

    def transform(self, X):
        """Return the codes of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path
            Rows with the columns that the model was fitted on.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_components)
            Codes, in the type of the rows (float32 or float64).
        """
        check_is_fitted(self)
        return self._model.encode(self._rows(X), self._facts())

    def inverse_transform(self, X):
        """Return the rows that codes stand for: ``X @ mixing_.T + mean_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components), or path
            Codes.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            Rows, in the type of the codes.
        """
        check_is_fitted(self)
        return self._model.decode(self._codes(X), self._facts())

    def encode(self, X, out=None):
        """Return the codes of rows (``transform``), or write them to a file.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path
            Rows.
        out : path, optional
            A ``.npy`` file to write, a few rows at a time, so that neither rows nor codes need to fit in memory.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_components), or None when they were written
            Codes.
        """
        if out is None:
            return self.transform(X)
        check_is_fitted(self)
        return self._model.encode(self._rows(X), self._facts(), os.fspath(out))

    def decode(self, X, out=None):
        """Return the rows that codes stand for (``inverse_transform``), or write them to a file.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components), or path
            Codes.
        out : path, optional
            A ``.npy`` file to write.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features), or None when they were written
            Rows.
        """
        if out is None:
            return self.inverse_transform(X)
        check_is_fitted(self)
        return self._model.decode(self._codes(X), self._facts(), os.fspath(out))

    def _codes(self, X):
        from sklearn.utils.validation import check_array

        if _is_path(X):
            return os.fspath(X)
        plain = isinstance(X, np.ndarray) and _is_plain(X.dtype)
        dtype = None if plain else [np.float64, np.float32]
        return check_array(X, input_name="X", dtype=dtype, ensure_all_finite=False)

    # Keeping the model

    def save(self, path):
        """Write the fitted model to one safetensors file, which ``unmix.load`` and the command line read.

        Parameters
        ----------
        path : path
            Where to; nothing half-written is left there when writing fails.
        """
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    def __getstate__(self):
        state = super().__getstate__()
        if "_model" not in state:
            return state
        # The parameters are in the model's bytes already.
        lent = {name + "_" for name in self._model.tensors}
        return {name: value for name, value in state.items() if name not in lent}

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_model" in vars(self):
            self._adopt(self._model)

    # Facts of the fit

    def __sklearn_is_fitted__(self):
        return "_model" in vars(self)

    def __getattr__(self, name):
        # Only what is computed from the model on request comes here; before a fit it does not exist.
        make = _ON_REQUEST.get(name)
        if make is not None and "_model" in vars(self):
            return make(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self):
        return [*super().__dir__(), *(_ON_REQUEST if "_model" in vars(self) else ())]

    @property
    def _n_features_out(self):
        return self._model.n_components

    def summary(self):
        """Return the table that the command line prints after a fit, as text."""
        check_is_fitted(self)
        return self._model.summary()

    def __repr__(self, N_CHAR_MAX=700):
        text = super().__repr__(N_CHAR_MAX)
        if "_model" not in vars(self):
            return text
        outcome, _, _, n_samples = self._model.end
        return f"{text}  # {outcome}: {self._model.n_components} components of {_whole(n_samples)} x {self.n_features_in_} numbers"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = registry()[self._method]["takes"]["sparse"]
        return tags


def _whole(n):
    """A number of rows, as an int where it is one."""
    return int(n) if n.is_integer() else n


def _mixing(estimator):
    return estimator._model.mixing.astype(estimator.mean_.dtype, copy=False)


#: Attributes of a fitted estimator that are made from its model when somebody asks.
_ON_REQUEST = {
    "mixing_": _mixing,
    "rotation_": lambda estimator: estimator.components_.T,
    "n_components_": lambda estimator: estimator._model.n_components,
    "n_samples_": lambda estimator: _whole(estimator._model.end[3]),
    "n_iter_": lambda estimator: estimator.report_.n_iter,
    "report_": lambda estimator: Report(estimator._model.report),
}
