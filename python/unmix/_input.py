"""Conversion of rows for the extension, and warnings about them."""

from __future__ import annotations

import difflib
import functools
import glob
import json
import os
import sys
import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, validate_data

from . import _unmix
from ._read import Files, described_file
from ._read import open as open_files
from ._read import read as read_file
from ._sklearn import Part
from ._threads import threads_here
from ._types import Array


@functools.cache
def registry() -> dict[str, dict[str, Any]]:
    """The methods by key, as ``unmix methods --json`` lists them."""
    return {method["key"]: method for method in json.loads(_unmix.methods())}


@functools.cache
def tensor_names(method: str) -> list[str]:
    """Settings of a method that are tables; those given together with the rows of a fit are arguments of ``fit``."""
    return [s["name"] for s in registry()[method]["settings"] if s["tensor"] and not s["with_rows"]]


def unknown_method(method: object) -> ValueError:
    """The error about the key of a method that is not in the registry, with the attributes of those that the extension raises."""
    near = difflib.get_close_matches(str(method), registry(), 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    error = ValueError(f"there is no method named {method!r}{hint}; choose one of: {', '.join(registry())}")
    vars(error).update(kind="method", name=method, known=list(registry()))
    if near:
        vars(error).update(suggestion=near[0])
    return error


def refused_setting(setting: str, got: object, why: str, remedy: str) -> ValueError:
    """The error about a setting outside its domain, with the attributes of those that the extension raises."""
    error = ValueError(f"{setting}={got!r} {why}: {remedy}")
    vars(error).update(setting=setting, got=str(got), why=why, remedy=remedy)
    return error


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the caller's line, from any depth of unmix's and scikit-learn's code."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("unmix", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_ignored(columns: Sequence[str]) -> None:
    """Warn about columns that were ignored."""
    warn(f"columns that the model was not fitted on are ignored: {', '.join(columns)}")


def warn_unconverged(message: str) -> None:
    """Warn about rows for which an iterative encoder did not converge."""
    warn(message, ConvergenceWarning)


def _is_path(X: object) -> bool:
    """Whether rows are in files: a path, a list of paths, or a handle returned by :func:`unmix.open`."""
    if type(X) is np.ndarray:
        # The common case first: an isinstance check with an abstract class takes a tenth of the time of a small fit.
        return False
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(isinstance(path, (str, os.PathLike)) for path in X)
    return isinstance(X, (str, os.PathLike, Files, _unmix.Files))


def in_memory(X: Any) -> Any:
    """Rows or codes in memory: those of files are read."""
    if not _is_path(X):
        return X
    if isinstance(X, _unmix.Files):
        # Rows as `_rows` returns them.
        return X.read((0, threads_here(), 0))
    return X.read() if isinstance(X, Files) else read_file(X)


def in_memory_by_names(X: Any, names: Sequence[str] | None) -> Any:
    """Rows in memory; of files whose columns have names, the columns of these names, in this order, as the extension reads them: a handle that
    leaves out rows with missing cells then does so for these columns alone."""
    if not _is_path(X) or isinstance(X, _unmix.Files) or names is None:
        return in_memory(X)
    files = X if isinstance(X, Files) else open_files(X)
    found = files.names
    wanted = list(names) if found is not None and set(names) <= set(found) else None
    return files._files.read((0, threads_here(), 0), None, wanted)


def values_in_memory(X: Any, rows: Any = None) -> Any:
    """Values for ``rows``, in memory, with all entries. A handle gives also those of rows that it leaves out for missing cells: values are matched with
    rows by their number. Only where that is not the number of rows of an array, it leaves out its own."""
    if not isinstance(X, Files):
        return dense(X)
    values = dense(X._files.read((0, threads_here(), 0), None, None, True))
    shape = () if rows is None or isinstance(rows, (Files, _unmix.Files)) else np.shape(rows)
    if shape and shape[0] != len(values):
        used = dense(X.read())
        values = used if len(used) == shape[0] else values
    return values


def of_used_rows(X: Any, values: Any, name: str, one: str = "value", names: Sequence[str] | None = None) -> Any:
    """The values, of an array with one for each row, that belong to the rows of ``X``. Of a handle that leaves out rows these are those of the rows
    that are left, where there is a value for every row of its files; another number of values is refused, with ``name``, that of the
    argument, and ``one``, the word for a value. ``names`` are the columns that are read, if they are chosen by name."""
    files = X._files if isinstance(X, Files) else X
    if not isinstance(files, _unmix.Files) or values.ndim == 0:
        return values
    places = files.places_of_values((0, threads_here(), 0), len(values), (name, one), None if names is None else list(names))
    return values if places is None else values[places]


def refuse_overwriting(X: Any, out: Any) -> None:
    """Refuse to write to a file from which the same call reads rows."""
    if not _is_path(X) or isinstance(X, _unmix.Files) or not os.path.exists(out):
        return
    given = X._given[0] if isinstance(X, Files) else X if isinstance(X, (list, tuple)) else [X]
    read = [path for pattern in given for path in (glob.glob(os.fspath(pattern)) or [os.fspath(pattern)])]
    inside = [os.path.join(path, name) for path in read if os.path.isdir(path) for name in os.listdir(path)]
    if any(os.path.exists(path) and os.path.samefile(path, out) for path in [*read, *inside]):
        raise ValueError(f"writing to {os.fspath(out)} is not possible: it is read by the same call; choose another name")


def refuse_replacing(path: str) -> None:
    """Refuse to write a model over a file that is not one, which may be data, as the command line does."""
    # Programs that choose a name, such as `tempfile`, make an empty file of it.
    if not os.path.isfile(path) or os.path.getsize(path) == 0 or _unmix.Model.is_file(path):
        return
    error = ValueError(
        f"writing the model to {path} is not possible: a file that is not an unmix model is there; choose another name, or give force=True to "
        "replace it"
    )
    vars(error).update(path=path)
    raise error


def counted(n: Any, one: str) -> str:
    """A number with a word, "1 row", "2 rows"; ``one`` is the word for one, whose plural ends in s."""
    return f"{n} {one}" if n == 1 else f"{n} {one}s"


def dense(X: Any) -> Any:
    """Numbers in memory, with all entries if they are stored sparsely."""
    X = in_memory(X)
    return X.toarray() if issparse(X) else X


def _file(X: Any) -> str | _unmix.Files:
    """Rows in files, converted for the extension."""
    if isinstance(X, Files):
        return X._files
    if isinstance(X, (list, tuple)):
        return open_files(X)._files
    if isinstance(X, _unmix.Files):
        return X
    path: str = os.fspath(X)
    return path


_BACKED = "a sparse matrix of anndata in a file; give X.to_memory()"

#: Objects of other packages that contain rows but cannot be converted to an array, by package and class name: what they are, and what to
#: pass instead.
_HOLDERS = {
    ("mne", "Raw"): "an MNE recording, whose rows are channels; give raw.get_data().T, one row for each time, or use unmix.compat with mne.preprocessing.ICA",
    ("mne", "Evoked"): "an MNE average, whose rows are channels; give evoked.get_data().T, one row for each time",
    ("mne", "Epochs"): "MNE epochs; give numpy.hstack(epochs.get_data()).T, one row for each time, or use unmix.compat with mne.preprocessing.ICA",
    ("anndata", "AnnData"): "an AnnData object; give adata.to_df(), with the names of the variables, or adata.X, or one of adata.layers",
    ("anndata", "Layers"): "the layers of an AnnData object; give one of them, as in adata.layers[name]",
    ("anndata", "AxisArrays"): "several arrays of an AnnData object; give one of them, as in adata.obsm[name]",
    ("anndata", "CSRDataset"): _BACKED,
    ("anndata", "CSCDataset"): _BACKED,
    # The name of both before anndata 0.10.
    ("anndata", "SparseDataset"): _BACKED,
    ("polars", "LazyFrame"): "a lazy frame; give X.collect()",
}


def _refuse_holders(X: object) -> None:
    """Raise an error that names what to pass instead, for objects that numpy cannot convert to a table, or not without losing cells."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise TypeError(
            "X is a masked array, and its masked cells would be read as numbers; give X.astype(float).filled(numpy.nan) to a method that "
            "takes missing cells, such as PPCA, or the rows that have none: numpy.ma.compress_rows(X)"
        )
    file = described_file(X)
    if file is not None:
        raise TypeError(f"X is {file}")
    for cls in type(X).__mro__:
        package = cls.__module__.partition(".")[0]
        for (holder, prefix), remedy in _HOLDERS.items():
            if package == holder and cls.__name__.lstrip("_").startswith(prefix):
                raise TypeError(f"X is {remedy}")


def _is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether the extension reads numbers of this type directly."""
    return dtype.kind in "biuf" and dtype.itemsize <= 8


def _is_single(X: Any) -> bool:
    """Whether a polars or Arrow table has columns of single precision only; scikit-learn checks pandas' frames only."""
    if isinstance(X, np.ndarray) or hasattr(X, "iloc") or not hasattr(X, "__array__"):
        return False
    types: Any = getattr(X, "dtypes", None) or getattr(getattr(X, "schema", None), "types", ())
    # 'Float32' is polars' name, 'float' that of Arrow.
    return len(types) > 0 and all(str(kind) in ("Float32", "float") for kind in types)


def _weights(sample_weight: Any, rows: Any) -> list[float] | None:
    """Weights as a list of numbers; the extension validates them, row by row."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real) and not _is_path(rows):
        return [float(sample_weight)] * rows.shape[0]
    if isinstance(sample_weight, (str, os.PathLike, Files)):
        sample_weight = _column(sample_weight, "sample_weight", rows)
    weights: Array = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        raise ValueError("sample_weight must have one number for each row of a file, got a single number; leave it out for equal weights")
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array; give one number for each row")
    numbers: list[float] = weights.tolist()
    return numbers


def _column(file: Any, name: str, rows: Any = None) -> Array:
    """The numbers of a file, or handle to one, of one column, for ``rows``; they are the argument ``name``."""
    if isinstance(file, Files) and file._files.lists_cells:
        raise ValueError(f"{name} must be one number for each row, got a list of cells; open a file with one column, without triplets=True")
    table = values_in_memory(file, rows)
    if table.ndim == 2 and table.shape[1] != 1:
        raise ValueError(f"{name} of a file must be one column, got {table.shape[1]}; choose one, as in unmix.open(path, columns='weight')")
    return np.ravel(table)


def labels(color: Any) -> tuple[str, list[str]] | _unmix.Files | str:
    """The labels of rows for the extension, which reads those of files: their name and a label for each row, opened files, or a path as text."""
    if isinstance(color, Files):
        return color._files
    if isinstance(color, (str, os.PathLike)):
        return str(os.fspath(color))
    return str(getattr(color, "name", None) or "color"), [str(label) for label in np.asarray(color)]


def _with_distinct_columns(X: Any) -> Any:
    """A pandas frame whose column names are distinct: one that comes again gets a number, as in a file."""
    columns = getattr(X, "columns", None)
    if not hasattr(X, "iloc") or columns is None or columns.is_unique or not all(isinstance(name, str) for name in columns):
        return X
    taken: set[str] = set()
    names: list[str] = []
    written = set(columns)
    first: tuple[str, str] | None = None
    for column in columns:
        name, again = column, 0
        while name in taken or (again and name in written):
            again += 1
            name = f"{column}.{again}"
        if again and first is None:
            first = (column, name)
        taken.add(name)
        names.append(name)
    assert first is not None, "the columns are not unique"
    warn(f"the column name '{first[0]}' occurs more than once; duplicates are renamed, as '{first[1]}'")
    return X.set_axis(names, axis=1)


def _refuse_repeated_cells(X: Any, name: str) -> None:
    """Refuse sparse rows in which a cell is stored more than once, where stored entries are observed cells: scipy would add their values."""
    if X.format == "bsr":
        X = X.tocoo(copy=False)
    if X.format in ("csr", "csc"):
        lengths = np.diff(X.indptr)
        if (lengths < 0).any() or lengths.sum() > len(X.indices):
            # The extension names what is wrong with the arrays.
            return
        major = np.repeat(np.arange(len(lengths)), lengths)
        minor = X.indices[: len(major)]
    elif X.format == "coo":
        major, minor = X.row, X.col
    else:
        # The other formats hold one value for each cell.
        return
    after = major[1:] > major[:-1]
    if (after | ((major[1:] == major[:-1]) & (minor[1:] > minor[:-1]))).all():
        return
    order = np.lexsort((minor, major))
    major, minor = major[order], minor[order]
    again = np.flatnonzero((major[1:] == major[:-1]) & (minor[1:] == minor[:-1]))
    if not len(again):
        return
    first = int(major[again[0]]), int(minor[again[0]])
    row, column = first[::-1] if X.format == "csc" else first
    times = int(np.count_nonzero((major == first[0]) & (minor == first[1])))
    raise ValueError(
        f"the cell in row {row} and column {column} of X is stored {times} times; {name} takes each stored entry as an observation of its "
        "cell, and scipy would add their values: keep one of them, or their mean"
    )


def _text_columns(X: Any) -> str | None:
    """What to do about the columns of a frame that are not numbers, such as names of rows; None where there are none."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    text = []
    for name in columns:
        try:
            np.asarray(X[name], dtype=np.float64)
        except (TypeError, ValueError):
            text.append(name)
    if not text:
        return None
    shown = f"{text[:8]}"[:-1] + (f", ... ({len(text)} in all)]" if len(text) > 8 else "]")
    drop = "X.drop(columns=[...])" if hasattr(X, "iloc") else "X.drop([...])"
    index = f", or make names of rows the index, as X.set_index({text[0]!r})" if hasattr(X, "iloc") else ""
    return f"The columns {shown} hold text; leave them out, as {drop}{index}"


def sample_shape(X: Any) -> dict[str, tuple[int, ...]]:
    """The shape of a sample of an array that has more than two axes, as the argument of the extension that the model gets it by; none of other rows."""
    return {"feature_shape": X.shape[1:]} if isinstance(X, np.ndarray) and X.ndim > 2 else {}


class Input(Part):
    """Conversion of rows and codes for estimators."""

    #: Minimum number of rows of a fit.
    _min_samples = 2
    #: Whether the stored entries of sparse rows are observed cells, and all others missing; otherwise these are 0.
    _stored_are_cells = False

    def _rows(self, X: Any, reset: bool = False, min_samples: int | None = None) -> Any:
        """Rows in the form that the extension takes: a path, or an array of two axes, copied only if necessary.

        Numbers are not scanned here: those that are not finite are found by the first pass over the rows.
        """
        least = (min_samples or self._min_samples) if reset else 1
        if _is_path(X):
            self._refuse_list(X)
            if reset:
                vars(self).pop("feature_names_in_", None)
            return _file(X)
        if type(X) is np.ndarray and self._is_ready(X, reset, least):
            return X
        _refuse_holders(X)
        if isinstance(X, np.ndarray) and X.ndim > 2:
            # As in a file: the first axis runs over samples, and each sample is one row of features.
            note = _unmix.note_on_axes("X", X.shape) if reset else None
            if note is not None:
                warn(note)
            X = X.reshape(len(X), -1)
        if not hasattr(X, "__array__") and hasattr(X, "__dataframe__"):
            from pandas.api.interchange import from_dataframe

            X = from_dataframe(X)
        X = _with_distinct_columns(X)
        if not reset:
            X = self._known_columns(X)
            self._refuse_transposed(X)
        if self._stored_are_cells and issparse(X) and X.ndim == 2:
            # Before the conversion to compressed rows, which adds repeated entries.
            _refuse_repeated_cells(X, type(self).__name__)
        plain = isinstance(X, np.ndarray) and _is_plain(X.dtype)
        try:
            return validate_data(
                self,
                X,
                reset=reset,
                accept_sparse=("csr", "csc") if registry()[self._method]["takes"]["sparse"] else False,
                # Any plain number type is converted block by block; only others must be converted as a whole.
                dtype=None if plain else np.float32 if _is_single(X) else [np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=least,
            )
        except ValueError as e:
            text = _text_columns(X)
            if not text:
                raise
            raise ValueError(f"{e}\n{text}") from e

    def _refuse_list(self, X: Any) -> None:
        """Refuse a list of cells for a method that takes no sparse rows."""
        if isinstance(X, Files) and X._files.lists_cells and not registry()[self._method]["takes"]["sparse"]:
            raise ValueError(
                f"{self._method} of a list of cells is not possible: it needs all entries of the rows; use MatrixCompletion, for which "
                "the cells that are not listed are missing, or give rows without triplets=True"
            )

    def _is_ready(self, X: Array, reset: bool, least: int) -> bool:
        """Whether ``validate_data`` would return this array unchanged and without a warning; it takes longer than a small fit."""
        if X.ndim != 2 or not _is_plain(X.dtype) or X.shape[0] < least or X.shape[1] < 1:
            return False
        attributes = vars(self)
        if reset:
            attributes.pop("feature_names_in_", None)
            attributes["n_features_in_"] = X.shape[1]
            return True
        return X.shape[1] == attributes["n_features_in_"] and "feature_names_in_" not in attributes

    def _refuse_transposed(self, X: Any) -> None:
        """Refuse rows of another width that has the columns of the fit as its rows."""
        need = vars(self).get("n_features_in_")
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) == 2 and shape[0] == need != shape[1]:
            name = type(self).__name__
            raise ValueError(
                f"X has {shape[1]} features, but {name} is expecting {need} features as input. "
                f"X has {counted(need, 'row')}: if these are the columns of the fit, give X.T"
            )

    def _known_columns(self, X: Any) -> Any:
        """Drop the columns of a frame that the model was not fitted on, if it has all the others."""
        columns = getattr(X, "columns", None)
        known = vars(self).get("feature_names_in_")
        if columns is None or known is None or len(columns) <= len(known):
            return X
        names = set(known)
        kept = [c for c in columns if c in names]
        if len(kept) != len(known):
            return X
        extra = [str(c) for c in columns if c not in names]
        warn_ignored(extra)
        return X[kept]

    def _codes(self, X: Any) -> Any:
        if _is_path(X):
            return _file(X)
        _refuse_holders(X)
        plain = isinstance(X, np.ndarray) and _is_plain(X.dtype)
        dtype = None if plain else np.float32 if _is_single(X) else [np.float64, np.float32]
        return check_array(X, input_name="X", accept_sparse=("csr", "csc"), dtype=dtype, ensure_all_finite=False)


def row_names(X: Any) -> list[str] | None:
    """Labels of a pandas index as text; None for a default index, or if there is none."""
    index = getattr(X, "index", None)
    if index is None or callable(index):
        return None
    if (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1):
        return None
    return [", ".join(map(str, label)) if isinstance(label, tuple) else str(label) for label in index]
