"""Learning linear and independent structure from data.

>>> import numpy as np, unmix
>>> X = np.random.RandomState(0).randn(100, 5) @ np.diag([5, 3, 1, 1, 1])
>>> unmix.PCA(n_components=2).fit(X).report_.outcome
'completed'

Estimators follow scikit-learn's conventions; :func:`load` returns a saved one, and the command ``unmix`` reads the same files.

Exceptions of fits, models and readers have the details of their message as attributes, where they apply: of a request that is not supported
``requested``, ``found`` and ``remedy``, of an unknown name ``kind``, ``name``, ``suggestion`` and ``known``, of a setting ``setting``, ``got``, ``why`` and
``remedy``, of rows and files ``path``, ``line``, ``row``, ``column``, ``column_name``, ``byte``, ``need`` and ``got``. docs/scikit-learn.md lists all of them.
"""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import sys
import tempfile
from numbers import Integral
from typing import TYPE_CHECKING, Any, overload

from . import _unmix
from ._threads import get_num_threads, set_num_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from . import compat, datasets, metrics, plot, shards
    from ._base import Estimator
    from ._biclusters import Biclusters, biclusters
    from ._fastica import FastICA, fastica
    from ._html import Page
    from ._options import Iteration, keep_interrupted
    from ._read import Files, open as open, read
    from ._report import Report
    from ._select import Comparison, Selection, select_components
    from ._stability import Stability, stability
    from ._types import Path, Rows
    from .autoencoder import SparseAutoencoder
    from .boltzmann import GaussianRBM
    from .complete import CompleteDictionary
    from .completion import MatrixCompletion
    from .denoising import DenoisingAutoencoder
    from .dictionary import DictionaryLearning
    from .factor_analysis import FactorAnalysis
    from .ica import ICA
    from .lista import LISTA
    from .neural import NeuralPCA, SigmaPCA
    from .pca import PCA
    from .ppca import PPCA, LinearEigenGAN
    from .rectified import RFN, StackedRFN
    from .rica import RICA
    from .robust import RobustPCA
    from .sparse import SparseCoder
    from .subspaces import SubspaceClustering

__all__ = [
    "Biclusters",
    "Comparison",
    "CompleteDictionary",
    "DenoisingAutoencoder",
    "GaussianRBM",
    "DictionaryLearning",
    "FactorAnalysis",
    "FastICA",
    "Files",
    "ICA",
    "Iteration",
    "LISTA",
    "LinearEigenGAN",
    "MatrixCompletion",
    "NeuralPCA",
    "PCA",
    "PPCA",
    "Page",
    "RFN",
    "RICA",
    "Report",
    "RobustPCA",
    "Selection",
    "SigmaPCA",
    "SparseAutoencoder",
    "SparseCoder",
    "Stability",
    "StackedRFN",
    "SubspaceClustering",
    "biclusters",
    "compat",
    "datasets",
    "fastica",
    "get_num_threads",
    "keep_interrupted",
    "load",
    "methods",
    "metrics",
    "plot",
    "read",
    "report",
    "select_components",
    "set_num_threads",
    "shards",
    "stability",
    "variants",
]
__version__ = _unmix.__version__

#: Modules and names that are imported on first use. The command ``unmix``, which is started through this package, needs none of them, nor
#: scikit-learn.
_MODULES = ("compat", "datasets", "metrics", "plot", "shards")
_NAMES = {
    "_biclusters": ("Biclusters", "biclusters"),
    "_fastica": ("FastICA", "fastica"),
    "_html": ("Page",),
    "_options": ("Iteration", "keep_interrupted"),
    "_read": ("Files", "open", "read"),
    "_report": ("Report",),
    "_select": ("Comparison", "Selection", "select_components"),
    "_stability": ("Stability", "stability"),
    "autoencoder": ("SparseAutoencoder",),
    "boltzmann": ("GaussianRBM",),
    "complete": ("CompleteDictionary",),
    "completion": ("MatrixCompletion",),
    "denoising": ("DenoisingAutoencoder",),
    "dictionary": ("DictionaryLearning",),
    "factor_analysis": ("FactorAnalysis",),
    "ica": ("ICA",),
    "lista": ("LISTA",),
    "neural": ("NeuralPCA", "SigmaPCA"),
    "pca": ("PCA",),
    "ppca": ("PPCA", "LinearEigenGAN"),
    "rectified": ("RFN", "StackedRFN"),
    "rica": ("RICA",),
    "robust": ("RobustPCA",),
    "sparse": ("SparseCoder",),
    "subspaces": ("SubspaceClustering",),
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names}


if not TYPE_CHECKING:

    def __getattr__(name):
        if name in _MODULES or name in _NAMES:
            return importlib.import_module(f".{name}", __name__)
        if name in _WHERE:
            found = globals()[name] = getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
            return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_WHERE})


def load(path: Path) -> Estimator:
    """Return the estimator that was saved to ``path``, by Python or by the command line.

    The class is that of the method in the file, and the estimator encodes, decodes and reports as after its fit. The file contains numbers
    and text only: unlike a pickle, it cannot execute code when it is read.

    Parameters
    ----------
    path : path
        A model file.

    Returns
    -------
    object
        The fitted estimator; parameters that are not in the file, such as ``verbose``, have their defaults. Type checkers accept what
        all classes have; after ``assert isinstance(model, PCA)`` they accept the rest of that class.

    See Also
    --------
    unmix.report : A page about a model.

    Examples
    --------
    >>> from unmix import PCA
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> import os, tempfile, unmix
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> PCA(n_components=1).fit(X).save(path)
    >>> unmix.load(path).n_components_
    1
    """
    from ._input import registry, tensor_names

    model = _unmix.Model.load(os.fspath(path))
    cls = getattr(sys.modules[__name__], registry()[model.method]["class"])
    # Tables that a class requires are parameters of its models.
    given = {name: model.tensors["components"] for name in tensor_names(model.method) if name == "dictionary"}
    estimator: Estimator = cls(**given, **json.loads(model.settings))
    estimator._adopt(model)
    return estimator


def methods() -> list[dict[str, Any]]:
    """Return the registry of methods: a list of dicts, as ``unmix methods --json`` prints it.

    It is the single source of the parameters of the classes, of the options of the command line and of their defaults. ``"takes"`` states
    whether a method takes sparse rows (``"sparse"``), sample weights (``"weights"``), rows that do not fit in memory (``"stream"``: a fit with
    the default settings does not hold all of them), rows that remote workers hold (``"remote"``: it needs only sums over them; see
    :func:`unmix.shards.fit`), and missing cells (``"missing"``).

    Returns
    -------
    list of dict
        One for each method, with its ``"key"``, ``"class"``, ``"settings"`` and what it accepts.

    See Also
    --------
    variants : Published variants of one method.

    Examples
    --------
    >>> import unmix
    >>> [method["key"] for method in unmix.methods()][:3]
    ['pca', 'ppca', 'linear-eigengan']
    """
    from ._input import registry

    return list(registry().values())


def variants(method: str) -> list[dict[str, str]]:
    """Return the published variants of a method: a list of dicts with ``key``, ``reference`` and ``recovers``.

    A variant is a published learning rule, given by values of the settings of the method: ``variant=`` of the class selects it by its key,
    and single settings can still be changed.

    Parameters
    ----------
    method : str
        Its key, as in ``"pca"``.

    Returns
    -------
    list of dict
        One for each variant; empty for a method without any.

    See Also
    --------
    methods : All methods.
    NeuralPCA : A class with variants.
    SigmaPCA : Another one.

    Examples
    --------
    >>> import unmix
    >>> unmix.variants("neural-pca")[7]["key"]
    'gha'
    """
    from ._input import registry, unknown_method

    if method not in registry():
        raise unknown_method(method)
    listed: list[dict[str, str]] = registry()[method]["variants"]
    return listed


def _refits(X: Rows | None, starts: int | None, permutations: int | None, max_seconds: float | None) -> tuple[int, int, float | None] | None:
    """The numbers of starts and permuted copies of the modules of a page, and the time limit of their fits; None without starts."""
    from ._biclusters import biclusters
    from ._options import default_of, seconds

    limit = seconds(max_seconds)
    if starts is permutations is limit is None:
        return None
    if starts is None:
        needs = "max_seconds needs" if permutations is None else "permutations need"
        raise ValueError(f"{needs} starts, the number of fits whose units are pooled; give starts={default_of(biclusters, 'n_starts')}")
    if X is None:
        raise ValueError("starts need the rows X, to which the fits are made; give X")
    permutations = default_of(biclusters, "n_permutations") if permutations is None else permutations
    for name, value, least in (("starts", starts, 1), ("permutations", permutations, 0)):
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    return int(starts), int(permutations), limit


def _places(positions: ArrayLike) -> list[tuple[float, float]]:
    """Positions of sensors as pairs of numbers."""
    import numpy as np

    places = np.asarray(positions, dtype=np.float64)
    if places.ndim != 2 or places.shape[1] != 2:
        raise ValueError(f"positions must have two coordinates for each column, but have shape {places.shape}")
    if not np.isfinite(places).all():
        row = int(np.argwhere(~np.isfinite(places).all(axis=1))[0, 0])
        raise ValueError(f"positions must be finite, but that of column {row} is {tuple(places[row].tolist())}")
    return [(float(x), float(y)) for x, y in places]


def _pairs(pairs: Sequence[tuple[int, int]] | None) -> list[tuple[int, int]] | None:
    """Pairs of components as integers."""
    if pairs is None:
        return None
    found: list[tuple[int, int]] = []
    try:
        found = [(a, b) for a, b in pairs]
        is_list = True
    except (TypeError, ValueError):
        is_list = False
    if not is_list or not all(isinstance(i, Integral) and i >= 0 for pair in found for i in pair):
        raise ValueError(f"pairs must be a list of pairs of components, as in [(0, 1), (0, 3)], got {pairs!r}")
    return [(int(a), int(b)) for a, b in found]


@overload
def report(
    model: Estimator,
    X: Rows | None = None,
    *,
    path: None = None,
    color: ArrayLike | Path | Files | None = None,
    title: str | None = None,
    beside: Estimator | None = None,
    rate: float | None = None,
    positions: ArrayLike | None = None,
    starts: int | None = None,
    permutations: int | None = None,
    pairs: Sequence[tuple[int, int]] | None = None,
    max_seconds: float | None = None,
) -> Page: ...
@overload
def report(
    model: Estimator,
    X: Rows | None = None,
    *,
    path: Path | None = None,
    color: ArrayLike | Path | Files | None = None,
    title: str | None = None,
    beside: Estimator | None = None,
    rate: float | None = None,
    positions: ArrayLike | None = None,
    starts: int | None = None,
    permutations: int | None = None,
    pairs: Sequence[tuple[int, int]] | None = None,
    max_seconds: float | None = None,
) -> Page | None: ...
def report(
    model: Estimator,
    X: Rows | None = None,
    *,
    path: Path | None = None,
    color: ArrayLike | Path | Files | None = None,
    title: str | None = None,
    beside: Estimator | None = None,
    rate: float | None = None,
    positions: ArrayLike | None = None,
    starts: int | None = None,
    permutations: int | None = None,
    pairs: Sequence[tuple[int, int]] | None = None,
    max_seconds: float | None = None,
) -> Page | None:
    """Make one self-contained HTML page about a fitted estimator: write it to a file, or return it.

    It shows the outcome of the fit, the components as pictures, curves or bars, the variance they explain, stability if it was measured,
    and with rows codes and reconstructions. At most 5000 rows, at a fixed stride, are drawn as points. The page has no scripts and needs no
    network access.

    Its last section has the call of the fit and that of this function, in which ``model`` and ``beside`` are the estimators, ``X``, ``color`` and
    ``positions`` the arrays that have no short form as source code.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array-like of shape (n_samples, n_features), path or Files, optional
        Rows to show: a scatter plot of their codes, and some of them beside their reconstructions. Labels of a pandas index replace
        row numbers.
    path : path, optional
        HTML file to write; without it the page is returned, and a notebook shows it inline.
    color : array-like of shape (n_samples,), path or Files, optional
        A label for each row, which determines the colour of its point; or a file of one column of numbers or of text, such as a list with
        one token per line, ``"FILE:COLUMN"`` for a column of a table, by name or number, or a handle to files that selects one column. If
        ``X`` is a file or a handle, also the name of one of its columns, or its number as text. Of a handle that leaves out rows, labels
        may be those of all rows of its files.
    title : str, optional
        Title of the page.
    beside : estimator, optional
        Another estimator, fitted to the same columns; its components are paired with those of ``model`` and shown beside them.
    rate : float, optional
        Sampling rate, in rows per second: with it, time courses and spectra of the components are drawn.
    positions : array-like of shape (n_features, 2), optional
        Position of the sensor of each column, seen from above: to the right, and to the front.
    starts : int, optional
        For models of non-negative codes: number of fits whose units are pooled into the modules of the page, with stability and q-values, as
        ``n_starts`` of :func:`unmix.biclusters`; by default modules are the units of ``model`` alone.
    permutations : int, optional
        Number of copies of the rows with permuted columns, as ``n_permutations`` of :func:`unmix.biclusters`, with its default.
    pairs : list of (int, int), optional
        Pairs of components whose codes are the axes of a scatter plot each; ``[(0, 1), (0, 2)]`` by default.
    max_seconds : float, optional
        Time limit in seconds for the fits of ``starts`` and ``permutations``, as of :func:`unmix.biclusters`.

    Returns
    -------
    Page or None
        The page; None if it was written to ``path``.

    See Also
    --------
    unmix.plot.components : Components as matplotlib figures.
    stability : Stability of the components of a model.

    Examples
    --------
    >>> from unmix import PCA
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> import os, tempfile, unmix
    >>> path = os.path.join(tempfile.mkdtemp(), "page.html")
    >>> unmix.report(PCA(n_components=2).fit(X), X, path=path, title="Six rows")
    >>> os.path.getsize(path) > 10_000
    True
    """
    from sklearn.utils.validation import check_is_fitted

    from ._biclusters import Biclusters, biclusters
    from ._html import Page, check_page_name
    from ._input import labels, refuse_overwriting, row_names
    from ._options import default_of
    from ._written import report_source

    if isinstance(model, Biclusters):
        raise TypeError(
            "a page is made of a fitted estimator, not of Biclusters: unmix.report(model, X, starts=...) has the modules of several starts, "
            "unmix.plot.biclusters(found, X) draws these"
        )
    check_is_fitted(model)
    if beside is not None:
        check_is_fitted(beside)
    refits = _refits(X, starts, permutations, max_seconds)
    rows, names = (None, None) if X is None else (model._rows(X), row_names(X))
    named = None if color is None else labels(color)
    places = None if positions is None else _places(positions)
    shown_pairs, other, rate = _pairs(pairs), None if beside is None else beside._model, None if rate is None else float(rate)
    options: dict[str, Any] = {"color": color, "title": title, "beside": beside, "rate": rate, "positions": positions}
    options |= {
        "starts": starts,
        "permutations": None if permutations == default_of(biclusters, "n_permutations") else permutations,
        "pairs": None if shown_pairs == [(0, 1), (0, 2)] else shown_pairs,
    }
    options["max_seconds"] = None if refits is None else refits[2]
    shown = (title, other, rate, places, names, refits, shown_pairs, report_source(X, options))
    if path is not None:
        check_page_name(path)
        refuse_overwriting(X, path)
        model._model.page(os.fspath(path), model._run_arguments(), rows, named, shown)
        return None
    with tempfile.TemporaryDirectory() as folder:
        whole = pathlib.Path(folder, "page.html")
        model._model.page(str(whole), model._run_arguments(), rows, named, shown)
        return Page(whole.read_text(encoding="utf-8"))
