"""What every estimator has: rows in, a fitted model kept, codes out."""

import functools
import json
import os
import sys
import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
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


class _Growing:
    """Sums over the rows seen so far, and what to make of them when somebody asks."""

    def __init__(self, sums, settings, facts):
        self.sums, self.settings, self.facts = sums, settings, facts

    def copy(self):
        return _Growing(self.sums.copy(), self.settings, self.facts)


def _is_fitted_name(name):
    return name.endswith("_") and not name.startswith("_")


class Incremental:
    """Estimators whose models are made of sums over rows: batches can be added, and models merged."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None, sample_weight=None):
        """Add rows to those seen so far. However a stream is cut into batches, the result is the same to the bit.

        A batch may have any number of rows, from 1. Components are computed when they are first asked for, from sums that
        ``save`` and pickles keep. Equal to ``fit`` of all rows at once up to rounding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path
            Rows, as for ``fit``. The type of the first batch is that of the model.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.

        Returns
        -------
        self : object
            When a batch fails, nothing of it is added.
        """
        growing = vars(self).get("_growing")
        if growing is None and "_model" in vars(self):
            tell(
                "partial_fit starts anew: fit does not keep the sums of its rows, so they are not part of the model that grows "
                "now; use partial_fit from the first batch on"
            )
        before = vars(self).copy()
        try:
            rows = self._rows(X, reset=growing is None, min_samples=1)
            sums = _unmix.Sums() if growing is None else growing.sums
            facts = (self._seed(), threads_here(), int(self.verbose))
            sums.add(self._method, rows, facts, self._names(rows), _weights(sample_weight, rows))
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        self._forget()
        n_features, names = sums.columns
        self.n_features_in_ = n_features
        if names is not None and "feature_names_in_" not in vars(self):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self._growing = _Growing(sums, json.dumps(self._settings()), facts)
        return self

    def _solve(self):
        growing = self._growing
        try:
            self._adopt(growing.sums.model(self._method, growing.settings, growing.facts))
        except ValueError as e:
            raise NotFittedError(str(e)) from None
        self._warn()

    def merge(self, other):
        """Return a new estimator of the rows of both, with the parameters of this one.

        Parameters
        ----------
        other : estimator of the same class
            Both hold their sums: they have grown by ``partial_fit``, or were merged, or fitted by ``unmix fit --sums``.

        Returns
        -------
        merged : estimator
            Equal to a fit of all rows up to rounding.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        merged = clone(self)
        merged._adopt(self._model.merge(other._model, self._facts()))
        return merged


class Estimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all estimators. A subclass names its method and its parameters."""

    _method: str
    #: The fewest rows that a fit needs.
    _min_samples = 2

    # Fitting

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Fit the model to rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path
            Rows: an array of any layout and number type, a pandas or polars frame, or the path of a file, which is streamed;
            where the method takes them, sparse rows of scipy's, in which zeros are not filled in.
            float32 is computed in float32, everything else in float64.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: 2 is the row twice, 0 leaves it out. ``n_samples_`` is their sum.

        Returns
        -------
        self : object
            The fitted estimator. When fitting fails or is interrupted, it is as it was before.
        """
        self._fit(X, sample_weight)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X, y=None, sample_weight=None):
        """Fit the model to rows and return their codes: ``fit(X).transform(X)``, to the bit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path
            Rows, as for ``fit``.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts in the fit.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_components)
            Codes, in the type of the rows.
        """
        rows = self._fit(X, sample_weight)
        return self._model.encode(rows, self._facts())

    def _fit(self, X, sample_weight=None):
        before = vars(self).copy()
        try:
            rows = self._rows(X, reset=True)
            self._check(rows)
            facts = (self._seed(), threads_here(), int(self.verbose))
            settings = json.dumps(self._settings())
            weights, seconds = _weights(sample_weight, rows), getattr(self, "max_seconds", None)
            model = _unmix.fit(self._method, settings, rows, facts, self._names(rows), weights, seconds)
            self._forget()
            self._adopt(model)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        self._warn()
        return rows

    def _names(self, rows):
        """Names of an array's columns; a file says its own."""
        names = None if _is_path(rows) else vars(self).get("feature_names_in_")
        return None if names is None else list(names)

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
        if "_growing" not in attributes and (sums := model.sums()) is not None:
            attributes["_growing"] = _Growing(sums, model.settings, (model.seed, threads_here(), int(self.verbose)))
        for name, value in model.tensors.items():
            attributes[name + "_"] = value
        attributes["n_features_in_"] = model.n_features
        if "feature_names_in_" not in attributes and model.feature_names is not None:
            attributes["feature_names_in_"] = np.asarray(model.feature_names, dtype=object)

    def _forget(self):
        """Drop what was fitted before: sums, a model, its parameters."""
        attributes = vars(self)
        attributes.pop("_growing", None)
        model = attributes.pop("_model", None)
        for name in () if model is None else model.tensors:
            attributes.pop(name + "_", None)

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

    def _rows(self, X, reset=False, min_samples=None):
        """Rows as the extension takes them: a path, or an array of two axes that is a copy only where it has to be.

        Numbers are not scanned here: what is not finite is found by the pass over the rows that reads them anyway.
        """
        least = (min_samples or self._min_samples) if reset else 1
        if _is_path(X):
            path = os.fspath(X)
            if reset:
                vars(self).pop("feature_names_in_", None)
            return path
        if type(X) is np.ndarray and self._is_ready(X, reset, least):
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
            accept_sparse=("csr", "csc") if registry()[self._method]["takes"]["sparse"] else False,
            # Any plain number is converted block by block; only what is not one has to be converted as a whole.
            dtype=None if plain else [np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=least,
        )

    def _is_ready(self, X, reset, least):
        """Whether ``validate_data`` would return this array as it is, without a word; it takes longer than a small fit."""
        if X.ndim != 2 or not _is_plain(X.dtype) or X.shape[0] < least or X.shape[1] < 1:
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
            growing = state.get("_growing")
            # Sums grow in place: a copy grows by itself.
            return state if growing is None else {**state, "_growing": growing.copy()}
        # A model that has been made of sums holds them.
        state.pop("_growing", None)
        # The parameters are in the model's bytes already.
        lent = {name + "_" for name in self._model.tensors}
        return {name: value for name, value in state.items() if name not in lent}

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_model" in vars(self):
            self._adopt(self._model)

    # Facts of the fit

    def __sklearn_is_fitted__(self):
        return "_model" in vars(self) or "_growing" in vars(self)

    def __getattr__(self, name):
        # Only what is computed from the model on request comes here; before a fit it does not exist.
        if "_growing" in vars(self) and "_model" not in vars(self) and (name == "_model" or _is_fitted_name(name)):
            self._solve()
            return getattr(self, name)
        make = _ON_REQUEST.get(name)
        if make is not None and "_model" in vars(self):
            return make(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self):
        return [*super().__dir__(), *(_ON_REQUEST if self.__sklearn_is_fitted__() else ())]

    @property
    def _n_features_out(self):
        return self._model.n_codes

    def summary(self):
        """Return the table that the command line prints after a fit, as text."""
        check_is_fitted(self)
        return self._model.summary()

    def __repr__(self, N_CHAR_MAX=700):
        text = super().__repr__(N_CHAR_MAX)
        if "_growing" in vars(self) and "_model" not in vars(self):
            return f"{text}  # growing: {_whole(self._growing.sums.n_samples)} rows so far"
        if "_model" not in vars(self):
            return text
        outcome, _, _, n_samples = self._model.end
        return f"{text}  # {outcome}: {self._model.n_components} components of {_whole(n_samples)} x {self.n_features_in_} numbers"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = registry()[self._method]["takes"]["sparse"]
        return tags


def _weights(sample_weight, rows):
    """Weights as a list of numbers; the extension says what is wrong with them, row by row."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real) and not _is_path(rows):
        return [float(sample_weight)] * rows.shape[0]
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array; give one number for each row")
    return weights.tolist()


def _whole(n):
    """A number of rows, as an int where it is one."""
    return int(n) if n.is_integer() else n


def _mixing(estimator):
    return estimator._model.mixing.astype(estimator.mean_.dtype, copy=False)


def _rotation(estimator):
    if "mixing" in estimator._model.tensors:
        raise AttributeError(f"this {type(estimator).__name__!r} model has no rotation; components_ encode and mixing_ decodes")
    return estimator.components_.T


def _std_error(estimator):
    errors = estimator._model.explained_variance_std_error
    if errors is None:
        raise AttributeError(f"{type(estimator).__name__!r} has no variances along its components, and so no errors of them")
    return errors.astype(estimator.mean_.dtype, copy=False)


#: Attributes of a fitted estimator that are made from its model when somebody asks.
_ON_REQUEST = {
    "mixing_": _mixing,
    "explained_variance_std_error_": _std_error,
    "rotation_": _rotation,
    "n_components_": lambda estimator: estimator._model.n_components,
    "n_samples_": lambda estimator: _whole(estimator._model.end[3]),
    "n_iter_": lambda estimator: estimator.report_.n_iter,
    "report_": lambda estimator: Report(estimator._model.report),
}
