"""Base class of the estimators."""

from __future__ import annotations

import contextlib
import json
import os
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._coding import Coding
from ._components import components_frame
from ._fixed import fixed
from ._growing import Growing
from ._input import Input, _is_path, _weights, counted, refuse_replacing, registry, sample_shape, tensor_names, warn
from ._on_request import _ON_REQUEST, _whole
from ._options import RunOptions
from ._settings import Settings
from ._threads import threads_here
from ._types import Array, Path, Rows
from ._written import call_source, continued_source, seeded_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pandas
    from numpy.typing import ArrayLike
    from sklearn.utils import Tags
    from typing_extensions import Self

    from ._report import Report


def _is_fitted_name(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


#: How to continue a fit that ended early, by outcome.
ADVICE = {
    "time": "increase max_seconds, or continue from this model with init=",
    "interrupted": "continue from this model with init=, or from a checkpoint with resume=True",
    "stalled": "more iterations do not help; report_.warnings may name a remedy",
}


class _RemoteRows:
    """Shape and type of rows that remote workers hold."""

    def __init__(self, shape: tuple[int, int], dtype: str) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)


class Estimator(RunOptions, Settings, Input, Coding):
    """Base of all estimators. A subclass names its method and its parameters."""

    #: Attributes of fitted estimators. Those of ``_ON_REQUEST`` are not attributes of the classes, so they are declared here for type checkers.
    components_: Array
    mean_: Array
    mixing_: Array
    rotation_: Array
    explained_variance_std_error_: Array
    n_components_: int
    n_samples_: int
    n_iter_: int
    report_: Report

    #: Sums over the rows so far of a model that is computed from them, after `partial_fit`.
    _growing: Growing
    #: Name of the units that codes belong to, for the repr: components, factors or subspaces.
    _units = "components"
    #: Whether rows of ``components_`` may be axes.
    _orthonormal = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Python's messages about arguments contain this name: that of the public class, not of the generated one.
        if cls.__init__.__qualname__ == f"{cls.__name__}Parameters.__init__":
            cls.__init__.__qualname__ = f"{cls.__name__}.__init__"

    # Fitting

    def fit(self, X: Rows, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to rows.

        The rows are not changed, and the number of threads has no influence on the result. An earlier fit is replaced, not continued,
        unless ``init`` gives a model to start from. ``report_`` has the outcome; a fit that did not converge issues a ConvergenceWarning.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows: an array of any layout and number type, a pandas or polars frame, the path of a file, which is streamed, or a handle
            returned by :func:`unmix.open`; if the method supports it, a scipy sparse matrix, of which no dense copy is made.
            float32 is computed in float32, everything else in float64.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights: 2 counts a row twice, 0 leaves it out. ``n_samples_`` is their sum.

        Returns
        -------
        object
            The fitted estimator. When fitting fails or is interrupted, it is as it was before.

        See Also
        --------
        fit_transform : Fit, and return the codes.
        transform : Codes of other rows.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PCA(n_components=1).fit(X).components_.round(2)
        array([[0.84, 0.54]])
        """
        self._fit(X, sample_weight)
        return self

    def fit_transform(self, X: Rows, y: None = None, sample_weight: ArrayLike | None = None) -> Array:
        """Fit the model to rows and return their codes: ``fit(X).transform(X)``, to the bit.

        The rows are encoded in a further pass over them after the fit. The codes are held in memory; if they do not fit, call ``fit``, and
        then ``encode`` with a file as ``out``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows, as for ``fit``.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights: 2 counts a row twice in the fit, 0 leaves it out.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Codes, in the type of the rows.

        See Also
        --------
        fit : Fit the model alone.
        transform : Codes of other rows.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PCA(n_components=1).fit_transform(X).ravel().round(2)
        array([-1.38, -2.22, -3.61,  1.38,  2.22,  3.61])
        """
        rows, threads = self._fit(X, sample_weight)
        return self._model.encode(rows, (0, threads, int(self.verbose)))

    def _fit(self, X: Any, sample_weight: Any = None, targets: Any = None) -> tuple[Any, int]:
        """Fit; return the rows as read and the number of threads. ``targets`` are given together with the rows, such as the codes that
        LISTA is trained to reproduce."""
        before = vars(self).copy()
        # The body of _kept_on_error inline: a context manager is a noticeable part of a small fit.
        try:
            settings, written = self._settings_and_source()
            rows = self._rows(X, reset=True)
            self._check(rows)
            weights, seed, threads = _weights(sample_weight, rows), self._seed(), threads_here()
            options = self._run_options(call_source(self._seeded(written, seed), "fit", X, sample_weight, targets))
            run_options = (seed, threads, int(self.verbose))
            if tensor_names(self._method):
                options["given"] = self._given_tables() + ([] if targets is None else self._target_tables(targets))
            options.update(sample_shape(X))
            model = _unmix.fit(self._method, settings, rows, run_options, self._names(rows), weights, **options)
            self._forget()
            self._adopt(model)
        except BaseException:
            self._restore(before)
            raise
        self._warn_accepted()
        self._warn()
        return rows, threads

    def _fit_shards(self, shape: tuple[int, int], dtype: str, gather_all: Callable[[bytes], Iterable[bytes]], sparse: bool) -> None:
        """Fit rows that remote workers hold; see :func:`unmix.shards.fit`."""
        with self._kept_on_error():
            settings, written = self._settings_and_source()
            self._check(_RemoteRows(shape, dtype))
            seed = self._seed()
            run_options = (seed, threads_here(), int(self.verbose))
            options = self._run_options(f"unmix.shards.fit({self._seeded(written, seed)}, {shape!r}, gather_all, dtype={dtype!r}, sparse={sparse!r})")
            if tensor_names(self._method):
                options["given"] = self._given_tables()
            model = _unmix.fit_shards(self._method, settings, (*shape, sparse), dtype, gather_all, run_options, **options)
            self._forget()
            # Shards have no column names; those of an earlier fit do not apply.
            vars(self).pop("feature_names_in_", None)
            self._adopt(model)
        self._warn_accepted()
        self._warn()

    @contextlib.contextmanager
    def _kept_on_error(self) -> Iterator[None]:
        """Restore the estimator if a fit fails."""
        before = vars(self).copy()
        try:
            yield
        except BaseException:
            self._restore(before)
            raise

    def _restore(self, before: dict[str, Any]) -> None:
        vars(self).clear()
        vars(self).update(before)

    def _names(self, rows: Any) -> list[str] | None:
        """Names of an array's columns; those of a file are in the file."""
        names = None if _is_path(rows) else vars(self).get("feature_names_in_")
        return None if names is None else list(names)

    def _check(self, rows: Any) -> None:
        """Refuse settings that are incompatible with the rows, with scikit-learn's messages. By default nothing."""

    def _adopt(self, model: _unmix.Model) -> None:
        """Take a fitted model as the result of the fit: its parameters become read-only attributes that share its memory."""
        attributes = vars(self)
        attributes["_model"] = model
        if "_growing" not in attributes and (sums := model.sums()) is not None:
            attributes["_growing"] = Growing(sums, model.settings, (model.seed, threads_here(), int(self.verbose)))
        for name, value in model.tensors.items():
            # Tensors of layers are attributes of the layers.
            if "." not in name:
                attributes[name + "_"] = value
        attributes["n_features_in_"] = model.n_features
        if "feature_names_in_" not in attributes and model.feature_names is not None:
            attributes["feature_names_in_"] = np.asarray(model.feature_names, dtype=object)

    def _forget(self) -> None:
        """Remove the results of an earlier fit: sums, the model, and the attributes of its parameters."""
        attributes = vars(self)
        attributes.pop("_growing", None)
        model = attributes.pop("_model", None)
        for name in () if model is None else model.tensor_names:
            attributes.pop(name + "_", None)

    def _warn(self) -> None:
        doubts = self._doubts()
        outcome, success, _, _ = self._model.end
        if not success:
            report = self.report_
            reached, small = "", False
            if report.residual is not None and report.tol is not None:
                reached = f": the residual is {report.residual:.3g}, and tol is {report.tol:.3g}"
                small = report.residual <= report.tol
            advice = self._advice(outcome)
            # More iterations do not help if the report gives another remedy.
            remedies = [sentence for sentence in doubts if sentence not in self._model.without_effect]
            if remedies and (outcome == "collapsed" or small):
                advice = remedies[-1]
                doubts.remove(advice)
            warn(
                f"{type(self).__name__} did not converge in {report.n_iter} {self._model.counted} (outcome '{outcome}'){reached}; {advice}",
                ConvergenceWarning,
            )
        for sentence in doubts:
            warn(sentence)

    def _advice(self, outcome: str) -> str:
        """What to do about a fit that did not converge."""
        if outcome in ("time", "interrupted") and not self._continues():
            return "increase max_seconds" if outcome == "time" else "continue from a checkpoint with resume=True"
        return ADVICE.get(outcome) or f"increase {self._limits()}"

    def _continues(self) -> bool:
        """Whether a fit with these parameters can start from a model, with ``init=``."""
        return "init" in self._parameter_names()

    def _limits(self) -> str:
        """The names of the settings that end the iterations."""
        names = self._parameter_names()
        limits = [name for name in ("max_iter", "max_epochs", "iterated_power", "tol") if name in names]
        return " or ".join(limits) or "max_seconds"

    def _doubts(self) -> list[str]:
        """The warnings of the report that are raised as Python warnings: all that concern the validity of the result."""
        return [sentence for sentence in self._model.doubts if not (sentence.startswith("the rows vary along") and self._all_that_vary())]

    def _all_that_vary(self) -> bool:
        """Whether there are as many components as columns that vary, and no other number was requested."""
        report = self.report_
        return getattr(self, "n_components", 0) is None and report.rank == self.n_features_in_ - report.n_constant

    def _target_tables(self, targets: Any) -> list[tuple[str, Array]]:
        """The tables that are given together with the rows, by name, for the extension. By default none."""
        return []

    def _seed(self) -> int:
        state = getattr(self, "random_state", None)
        # The common case first: the test of an abstract class takes longer.
        if state is not None and isinstance(state, Integral):
            return int(state)
        # The type is given because detecting it takes as long again.
        return int(check_random_state(state).randint(2**31 - 1, dtype=np.int64))

    def _seed_after(self, seed: int) -> int:
        """The seed of a batch that continues a fit with ``seed``. A generator of seeds does not draw another one, which no call could give."""
        state = getattr(self, "random_state", None)
        return int(state) if isinstance(state, Integral) else seed

    def _continued(self, call: str | None, before: str, after: str, seed: int) -> str:
        """The estimator that ``call`` made, with settings ``before``, as JSON, and ``seed``, as source code; parameters that have changed
        since, according to the settings ``after``, are set."""
        old, new = json.loads(before), json.loads(after)
        names = [name for name, value in new.items() if name in old and old[name] != value]
        if self._seed_after(seed) != seed:
            names.append("random_state")
        return continued_source(call, {name: getattr(self, name) for name in names})

    def _seeded(self, written: str, seed: int) -> str:
        """The constructor as source code, with the seed in place of a generator of seeds."""
        return seeded_source(written, getattr(self, "random_state", None), seed) if "random_state" in self._parameter_names() else written

    def _run_arguments(self) -> tuple[int, int, int]:
        return (0, threads_here(), int(self.verbose))

    # Keeping the model

    def save(self, path: Path, *, force: bool = False) -> None:
        """Write the fitted model to one safetensors file, which ``unmix.load`` and the command line read.

        The file has the parameters, the settings and the report, and after ``partial_fit`` also the state from which learning continues. It
        contains numbers and text only, so that, unlike a pickle, it cannot execute code when it is read, and other programs can read its
        tensors.

        Parameters
        ----------
        path : path
            File to write. An existing model is replaced; another file is not, unless ``force`` is True. If writing fails, no partly written
            file is left.
        force : bool, default=False
            Whether to replace an existing file that is not a model of unmix.

        See Also
        --------
        unmix.load : Read the file again.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> import os, tempfile, unmix
        >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
        >>> PCA(n_components=1).fit(X).save(path)
        >>> unmix.load(path).n_samples_
        6
        """
        check_is_fitted(self)
        file = os.fspath(path)
        if not force:
            refuse_replacing(file)
        self._model.save(file)

    def __getstate__(self) -> dict[str, Any]:
        # A copy: scikit-learn may return the attributes themselves, which must stay as they are.
        state = dict(super().__getstate__())
        if "_model" not in state:
            growing = state.get("_growing")
            # Sums are updated in place, so a copy needs its own.
            return state if growing is None else {**state, "_growing": growing.copy()}
        # A model computed from sums holds them.
        state.pop("_growing", None)
        # The parameters are part of the model's bytes.
        lent = {name + "_" for name in self._model.tensors}
        return {name: value for name, value in state.items() if name not in lent}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_model" in vars(self):
            self._adopt(self._model)

    # Report of the fit

    def __setattr__(self, name: str, value: Any) -> None:
        # Parameters are set here, too, so the common case is tested first and fast.
        if name[-1:] == "_" and _is_fitted_name(name) and self._is_of_the_fit(name):
            raise AttributeError(
                f"{name} of a fitted {type(self).__name__} cannot be assigned: transform and the other methods would not use the new value; fit again, "
                "or compute with copies of the arrays, as in (X - mean_) @ mixing_"
            )
        object.__setattr__(self, name, value)

    #: Fitted attributes besides the parameters of the model and the quantities computed from them on request.
    _derived: ClassVar[frozenset[str]] = frozenset()

    def _is_of_the_fit(self, name: str) -> bool:
        """Whether this is an attribute that a fit sets; the numbers and names of columns are set by scikit-learn."""
        if not self.__sklearn_is_fitted__() or name in ("n_features_in_", "feature_names_in_"):
            return False
        # Incremental sums are first converted to a model.
        return name in _ON_REQUEST or name in self._derived or name[:-1] in self._model.tensors

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self) or "_growing" in vars(self)

    if not TYPE_CHECKING:
        # Hidden from type checkers, which would accept every name as an attribute.

        def __getattr__(self, name):
            # Only attributes that are computed from the model on request come here; before a fit they do not exist.
            if "_growing" in vars(self) and "_model" not in vars(self) and (name == "_model" or _is_fitted_name(name)):
                self._solve()
                return getattr(self, name)
            make = _ON_REQUEST.get(name)
            if make is not None and "_model" in vars(self):
                return fixed(make(self))
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        names = set(super().__dir__())
        if "_model" in vars(self):
            # Not all of them exist: a model without axes has no rotation_.
            names.update(name for name in _ON_REQUEST if hasattr(self, name))
        elif "_growing" in vars(self):
            names.update(_ON_REQUEST)
        return sorted(names)

    @property
    def _n_features_out(self) -> int:
        return self._model.n_codes

    def summary(self) -> str:
        """Return the table that the command line prints after a fit, as text.

        It has the shape of the rows, the outcome of the fit, the solver and the warnings, and, for methods whose components explain
        variance, a line for each of the first ten and for the last one. The same values are attributes of ``report_`` and of the estimator.

        Returns
        -------
        str
            Several lines.

        See Also
        --------
        unmix.report : A page about the model.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> len(PCA(n_components=1).fit(X).summary().splitlines()) > 2
        True
        """
        check_is_fitted(self)
        return self._model.summary()

    def components_frame(self, which: Literal["components", "patterns"] = "components") -> pandas.DataFrame:
        """Return the components as a data frame, with their names and those of the columns.

        Components have the names of ``get_feature_names_out``, such as ``pca0``; columns without names are ``x0``, ``x1`` and so on. The
        numbers are a copy, so that changes of the frame do not change the model.

        Parameters
        ----------
        which : {"components", "patterns"}, default="components"
            ``"components"``: rows of ``components_``. ``"patterns"``: columns of ``mixing_``, the loadings of each component, which
            for independent components differ from ``components_``, the filters.

        Returns
        -------
        pandas.DataFrame
            One row for each component, one column for each feature.

        See Also
        --------
        unmix.plot.components : The same as figures.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PCA(n_components=1).fit(X).components_frame().round(2)
                x0    x1
        pca0  0.84  0.54
        """
        check_is_fitted(self)
        return components_frame(self, which)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = super().__repr__(N_CHAR_MAX)
        if "_growing" in vars(self) and "_model" not in vars(self):
            n_samples = _whole(self._growing.sums.n_samples)
            return f"{text}  # growing: {counted(n_samples, 'row')} so far"
        if "_model" not in vars(self):
            return text
        outcome, _, _, n_samples = self._model.end
        units = counted(self._model.n_components, self._units.removesuffix("s"))
        return f"{text}  # {outcome}: {units} of {_whole(n_samples)} x {self.n_features_in_} numbers"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = registry()[self._method]["takes"]["sparse"]
        return tags
