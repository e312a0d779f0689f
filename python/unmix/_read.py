"""Rows in files: a handle from which they are streamed, or an array."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

import numpy as np

from . import _unmix
from ._html import table
from ._reading import _reading
from ._threads import threads_here
from ._types import Array, ArrayOrSparse, Path

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Unpack

#: The types of computations, as accepted by NumPy.
_Float: TypeAlias = Literal["float32", "float64"] | type[np.float32] | type[np.float64] | type[float] | np.dtype[np.float32] | np.dtype[np.float64]


class Files:
    """A handle to rows in files, which are read when they are needed; returned by :func:`unmix.open`.

    Every function and estimator of unmix that takes rows also takes such a handle, and streams the rows. The files must not change: one
    that was modified or replaced after it was opened is refused, also while a fit reads its rows, and so is a folder to which files were
    added. The standard input (``"-"``) and pipes are copied when they are first read.

    Parameters
    ----------
    path : path or list of paths
        As for :func:`unmix.open`.
    settings : dict
        All keyword arguments of :func:`unmix.open`, by name.

    See Also
    --------
    unmix.open : The function that returns this object.

    Examples
    --------
    >>> import pathlib, tempfile, unmix
    >>> path = pathlib.Path(tempfile.mkdtemp(), "boxes.csv")
    >>> _ = path.write_text("height,width\\n1,2\\n3,4\\n5,7\\n")
    >>> rows = unmix.open(path)
    >>> len(rows), rows.dtype
    (3, dtype('float64'))
    >>> unmix.PCA(n_components=1).fit(rows).transform(rows).shape
    (3, 1)
    """

    def __init__(self, path: Path | Sequence[Path], settings: dict[str, Any]) -> None:
        paths = _paths_of(path)
        self._given = (paths, settings)
        self._files = _unmix.Files([os.fspath(p) for p in paths], _reading(**settings))
        self._about: tuple[int, int, list[str] | None, str] | None = None
        self._missing: Array | None = None

    def _known(self) -> tuple[int, int, list[str] | None, str]:
        if self._about is not None:
            self._files.check_unchanged()
        else:
            self._about = self._files.about(_run_arguments())
        return self._about

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns.

        Rows that ``rows=`` or ``missing="drop"`` leave out, and columns that are not read, are not counted. It is determined on first
        access, by a pass over the rows if the format does not state their number, and then kept as long as the files do not change. Of a
        list of cells it is the shape of the matrix, up to the last row and the last column that have a cell.

        See Also
        --------
        Files.names : Names of the columns.

        Examples
        --------
        >>> import pathlib, tempfile, unmix
        >>> path = pathlib.Path(tempfile.mkdtemp(), "boxes.csv")
        >>> _ = path.write_text("height,width\\n1,2\\n3,4\\n5,7\\n")
        >>> unmix.open(path).shape
        (3, 2)
        """
        n_rows, n_features, _, _ = self._known()
        return n_rows, n_features

    @property
    def names(self) -> list[str] | None:
        """Names of the columns; None if the file has none.

        They are those of the columns that are read, in their order. ``fit`` keeps them as ``feature_names_in_``, and messages and figures
        use them.

        See Also
        --------
        Files.shape : Numbers of rows and of columns.

        Examples
        --------
        >>> import pathlib, tempfile, unmix
        >>> path = pathlib.Path(tempfile.mkdtemp(), "boxes.csv")
        >>> _ = path.write_text("height,width\\n1,2\\n3,4\\n5,7\\n")
        >>> unmix.open(path).names
        ['height', 'width']
        """
        return self._known()[2]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the computations with these rows: float32 or float64.

        float32 for numbers that are stored as float32 or float16, float64 for all others, unless ``dtype=`` of :func:`unmix.open` gives
        another type. Components and codes of a fit have this type.

        See Also
        --------
        Files.read : All rows, in this type.

        Examples
        --------
        >>> import pathlib, tempfile, unmix
        >>> path = pathlib.Path(tempfile.mkdtemp(), "boxes.csv")
        >>> _ = path.write_text("height,width\\n1,2\\n3,4\\n5,7\\n")
        >>> unmix.open(path).dtype
        dtype('float64')
        """
        return np.dtype(self._known()[3])

    @property
    def missing(self) -> Array:
        """Number of missing cells of each column; takes one pass over the rows.

        Most methods refuse missing cells; ``missing="drop"`` of :func:`unmix.open` leaves out the rows that have any. Of a list of cells, all
        cells that are not listed are missing; of a sparse matrix that scipy saved (``.npz``), entries that are not stored are zeros. The
        result is kept as long as the files do not change, so that further accesses take no pass.

        See Also
        --------
        unmix.PPCA : A method that accepts missing cells.

        Examples
        --------
        >>> import pathlib, tempfile, unmix
        >>> path = pathlib.Path(tempfile.mkdtemp(), "boxes.csv")
        >>> _ = path.write_text("height,width\\n1,2\\n3,4\\n5,\\n")
        >>> unmix.open(path).missing
        array([0, 1])
        """
        if self._missing is not None:
            self._files.check_unchanged()
        else:
            self._missing = np.asarray(self._files.missing(_run_arguments()), dtype=np.int64)
        return self._missing

    @property
    def paths(self) -> list[str]:
        """The files, in the order of their rows.

        Folders, and patterns such as ``"part-*.npy"``, are replaced by the files that they stood for when the handle was made. A folder to
        which files of the same kind were added since, or from which some were removed, is refused; files that match a pattern and were
        added since are not read.

        See Also
        --------
        unmix.open : Accepts several files.

        Examples
        --------
        >>> import pathlib, tempfile, unmix
        >>> path = pathlib.Path(tempfile.mkdtemp(), "boxes.csv")
        >>> _ = path.write_text("height,width\\n1,2\\n3,4\\n5,7\\n")
        >>> unmix.open(path).paths == [str(path)]
        True
        """
        return [os.fspath(path) for path in self._files.paths]

    def head(self, n: int = 5) -> ArrayOrSparse:
        """Return the first rows.

        Use it to check delimiter, decimal separator and columns before a fit: for most formats no more of the file is read than is needed
        for these rows.

        Parameters
        ----------
        n : int, default=5
            Maximum number of rows.

        Returns
        -------
        ndarray or csr_array of shape (n, n_features)
            In the type ``dtype``; missing cells are NaN. Of a list of cells, and of a sparse matrix that
            scipy saved (``.npz``), a sparse array of scipy with the stored entries.

        See Also
        --------
        Files.read : All rows.

        Examples
        --------
        >>> import pathlib, tempfile, unmix
        >>> path = pathlib.Path(tempfile.mkdtemp(), "boxes.csv")
        >>> _ = path.write_text("height,width\\n1,2\\n3,4\\n5,7\\n")
        >>> unmix.open(path).head(1)
        array([[1., 2.]])
        """
        if not isinstance(n, Integral) or n < 0:
            raise ValueError(f"n must be a non-negative integer, got {n!r}")
        if n >= 2**64:
            raise ValueError(f"n must be an integer below 2**64, got {n!r}")
        return self._files.read(_run_arguments(), int(n))

    def read(self) -> ArrayOrSparse:
        """Return all rows, in memory.

        Estimators take the handle itself; those that stream need memory for a few rows only. Text and compressed files are decoded
        again in every pass: if all rows fit into memory and are used often, read them once as an array.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_features)
            In the type ``dtype``; missing cells are NaN. Of a list of cells, and of a sparse matrix that
            scipy saved (``.npz``), a sparse array of scipy with the stored entries.

        See Also
        --------
        Files.head : The first rows.

        Examples
        --------
        >>> import pathlib, tempfile, unmix
        >>> path = pathlib.Path(tempfile.mkdtemp(), "boxes.csv")
        >>> _ = path.write_text("height,width\\n1,2\\n3,4\\n5,7\\n")
        >>> unmix.open(path).read().shape
        (3, 2)
        """
        return self._files.read(_run_arguments())

    def reconstruct_from_patches(self, patches: ArrayLike) -> list[NDArray[np.float64]]:
        """Return the pictures that patches make, with overlapping patches averaged.

        It is what ``unmix reconstruct MODEL x.png --patches 8x8 --stride 1 -o out.png`` writes, before pixels are clipped to 0 to 1 and
        rounded to 8 bits; for one picture and a stride of 1 also what scikit-learn's ``reconstruct_from_patches_2d`` returns. Patches of
        ``normalise=True`` get the mean and the standard deviation of the patch in the file again. Pixels in no patch, at the right or lower
        edges, are those of the file; a warning gives their share, which is 0 for ``stride=1``.

        Parameters
        ----------
        patches : array-like of shape (n_patches, n_features) or (n_patches, height, width) or (n_patches, height, width, 3)
            All patches, in the order of the rows of this handle: reconstructions, as returned by ``inverse_transform``.

        Returns
        -------
        list of ndarray of shape (height, width) or (height, width, 3)
            A picture for each of ``paths``.

        See Also
        --------
        Files.read : The patches of the files.

        Examples
        --------
        >>> import pathlib, tempfile, unmix
        >>> path = pathlib.Path(tempfile.mkdtemp(), "x.pgm")
        >>> _ = path.write_bytes(b"P5 4 3 255 " + bytes(range(0, 120, 10)))
        >>> patches = unmix.open(path, patches=(2, 2), stride=1)
        >>> pca = unmix.PCA(n_components=1).fit(patches)
        >>> pictures = patches.reconstruct_from_patches(pca.inverse_transform(pca.transform(patches)))
        >>> [picture.shape for picture in pictures]
        [(3, 4)]
        """
        rows = np.asarray(patches, dtype=np.float64)
        if rows.ndim < 2:
            raise ValueError(f"patches must have a row for each patch, got an array of shape {rows.shape}")
        return self._files.reconstruct_from_patches(_run_arguments(), rows.reshape(len(rows), int(np.prod(rows.shape[1:]))))

    def __len__(self) -> int:
        return self.shape[0]

    if not TYPE_CHECKING:
        # For type checkers a handle is not an array: functions of arrays alone would seem to accept it.

        def __array__(self, dtype=None, copy=None):
            # Without this method numpy makes an array of one object.
            raise TypeError(f"{self!r} is a handle to files and not an array: give its rows, read(), or the first of them, head()")

    def __repr__(self) -> str:
        paths, settings = self._given
        shown = repr(os.fspath(paths[0]) if len(paths) == 1 else [os.fspath(p) for p in paths])
        # Compared as source text, because arrays have no single truth value.
        written = {name: repr(value.tolist() if hasattr(value, "tolist") else value) for name, value in settings.items()}
        changed = "".join(f", {name}={text}" for name, text in written.items() if text != repr(_SETTINGS[name]))
        return f"unmix.open({shown}{changed})"

    def _repr_html_(self) -> str:
        try:
            (n_rows, n_features), names = self.shape, self.names
        except (OSError, ValueError) as e:
            # A notebook shows what is wrong with the files, and no traceback.
            return table(["property", "value"], [("error", e)], caption=repr(self))
        known = [("rows", n_rows), ("columns", n_features), ("type", self.dtype), ("names", "none" if names is None else ", ".join(names))]
        return table(["property", "value"], known, caption=repr(self))

    def __reduce__(self) -> tuple[Callable[..., Files], tuple[Any, ...]]:
        if self._files.read_once:
            raise TypeError(f"{self!r} cannot be pickled: no other process can read the standard input or a pipe again; give its rows, read()")
        return _copied, (*self._given, self._files.paths, self._files.stamps)


def _paths_of(given: Any) -> list[Path]:
    """The argument ``path`` of ``open`` as a list. Other objects that can be iterated over, such as an open file, would be taken for a list of names."""
    form = "path must be a path or a list of paths, as in 'rows.csv' or ['a.npy', 'b.npy']"
    if isinstance(given, (str, os.PathLike)):
        paths: list[Any] = [given]
    elif (other := _no_path(given)) is not None:
        raise TypeError(f"{form}, got {other}")
    else:
        paths = list(given)
    if not paths:
        raise ValueError(f"{form}, got no path; name at least one file")
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"{form}, got {reprlib.repr(path)} in a list")
        if not os.fspath(path):
            raise ValueError(f"{form}, got an empty name; name a file")
    return paths


def described_file(given: Any) -> str | None:
    """An open file as a clause of a message, with what to give instead; None for other objects."""
    if not hasattr(given, "read") or hasattr(given, "shape"):
        return None
    name = getattr(given, "name", None)
    return f"an open file; give its path, {name!r}" if isinstance(name, str) else "an open file; write its contents to a file, and give the path"


def _no_path(given: Any) -> str | None:
    """What an object is that is not a list of paths, and what to do with it; None for lists, whatever is in them."""
    if isinstance(given, Files):
        return "a handle; give it to fit and to the other functions as it is"
    if (file := described_file(given)) is not None:
        return file
    if len(getattr(given, "shape", (0,))) != 1:
        return f"rows in memory, of type {type(given).__name__}; give them to fit and to the other functions as they are"
    if isinstance(given, (bytes, bytearray, Mapping)) or not isinstance(given, Iterable):
        return reprlib.repr(given)
    return None


def _copied(paths: list[Path], settings: dict[str, Any], found: list[Path], stamps: str | None) -> Files:
    """A copy of a handle, also in another process: of the files that it has found, as they were when it was made."""
    handle = Files.__new__(Files)
    handle._given = (paths, settings)
    handle._files = _unmix.Files(found, _reading(**settings), stamps)
    handle._about = handle._missing = None
    return handle


def listed_cells(files: Files) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Rows and columns of the cells of a list, in the order of its lines."""
    return files._files.cells(_run_arguments())


def _run_arguments() -> tuple[int, int, int]:
    return 0, threads_here(), 0


def open(
    path: Path | Sequence[Path],
    *,
    input_format: str | None = None,
    columns: str | Sequence[str | int] | None = None,
    drop: str | Sequence[str | int] | None = None,
    names: Sequence[str] | None = None,
    key: str | None = None,
    transpose: bool = False,
    rows_axis: int | tuple[int, ...] | None = None,
    feature_shape: tuple[int, ...] | str | None = None,
    header: bool | None = None,
    skip_rows: int = 0,
    delimiter: str | None = None,
    decimal: Literal[".", ","] = ".",
    na: str | Sequence[str] = (),
    missing: Literal["keep", "drop"] = "keep",
    dtype: _Float | None = None,
    rows: tuple[int, int | None] | slice | None = None,
    grey: bool = False,
    rgb: bool = False,
    patches: tuple[int, int] | str | None = None,
    stride: int | None = None,
    padding: int = 0,
    number: int | None = None,
    patch_seed: int = 0,
    normalise: bool = False,
    triplets: bool = False,
) -> Files:
    """Open files as a handle to their rows, which every function that takes rows streams.

    Only the lengths and times of the files are read; rows are read when they are needed, and never all at once. The
    options correspond to those of the command line.

    Parameters
    ----------
    path : path or list of paths
        ``.npy``, ``.npz``, ``.csv``, ``.tsv``, ``.txt``, ``.dat``, ``.parquet``, Arrow, ``.safetensors``, idx, ``.wav``, images
        or a folder of images or of tables of one format, many of them also as ``.gz``. Pictures are read as 0 to 1, sound as -1 to 1,
        arrays and tables as they are stored. Several files are concatenated as rows in the given order; ``.wav``
        files are channels of one recording. Patterns such as ``"part-*.npy"`` stand for the matching files, in order of their names.
        The index of a pandas table is left out, with a warning, unless ``columns`` names it; images are rotated according to
        their EXIF orientation; checksums of Parquet pages are verified, if there are any. ``"-"`` is the standard input of the process.
    input_format : str, optional
        The format of all files, and of the standard input, named by an extension such as ``"csv"``, ``"npy"`` or ``"parquet"``: they are read
        as if their names had it, also where they are compressed. By default the extension determines the format, or the first bytes where
        it is unknown. Of a folder all files are read, except hidden ones.
    columns, drop : str or list of str and int, optional
        Columns to read, in this order, and columns to leave out: names, or numbers counted from 0; also as text, ``"a,b,5-9"``.
    names : list of str, optional
        Names of the columns of a file that has none, such as an array or a table without a header: one for each column, before ``columns``
        and ``drop`` select some of them. Channels of sound files get these names in place of those of the files.
    key : str, optional
        Name of the array, for a file that contains several.
    transpose : bool, default=False
        Whether rows of the file are channels: its columns are then samples. The features of a transposed table have the names in its
        index, or in the first column with text, among those that ``drop`` leaves out if there is one.
    rows_axis : int or tuple of int, optional
        The axis of an array that runs over samples, 0 by default; the others are flattened. Of several axes, as in ``(0, 2)`` for
        epochs x channels x time, rows run over all, the last one fastest.
    feature_shape : tuple of int, optional
        Shape of one sample; its product must be the number of columns.
    header : bool, optional
        Whether the first line of a text file contains names; detected by default.
    skip_rows : int, default=0
        Lines to skip at the start of a text file.
    delimiter : str, optional
        Delimiter of a text file: one character, ``"tab"``, or ``"space"`` for runs of blanks; detected by default.
    decimal : {".", ","}, default="."
        Decimal separator of a text file.
    na : str or list of str, default=()
        Marks of missing cells in a text file, in addition to empty cells, NA, NaN and null; a number marks all cells that are equal to
        it. A mark that no cell has is a warning.
    missing : {"keep", "drop"}, default="keep"
        Treatment of rows with missing cells: ``"drop"`` leaves them out, and a warning gives their number; ``"keep"`` reads missing
        cells as NaN, which most methods refuse.
    dtype : {"float32", "float64"}, optional
        The type of the computations. By default float32 for numbers that are stored as float32 or float16, float64 for all
        others.
    rows : (int, int or None) or slice, optional
        The first row to read, and the one after the last.
    grey, rgb : bool, default=False
        Read images as grey, or as colour; by default like the first image.
    patches : (int, int), optional
        Height and width of patches to cut from images.
    stride, padding, number, patch_seed, normalise : int, int, int, int, bool
        Stride of the patches in pixels; padding in pixels on every side; number of patches to draw, and their random seed; whether
        to standardise each patch (zero mean, unit variance).
    triplets : bool, default=False
        Whether each line is a cell of a matrix: row, column, value, rows and columns numbered from 0. The rows are then sparse, as those of
        ``scipy.sparse.coo_array((values, (rows, columns)))``: for :class:`MatrixCompletion` all other cells are missing, for methods
        that accept sparse rows they are 0. The other options apply to the list. The cells are held in memory during a fit.

    Returns
    -------
    Files
        A handle with ``shape``, ``names``, ``dtype``, ``missing``, ``head()``, ``read()``, and ``reconstruct_from_patches()`` for pictures.
        Nothing is rescaled, except images (0 to 1) and ``.wav`` (-1 to 1).

    See Also
    --------
    read : The same rows as an array in memory.

    Examples
    --------
    >>> import pathlib, tempfile, unmix
    >>> path = pathlib.Path(tempfile.mkdtemp(), "boxes.csv")
    >>> _ = path.write_text("name;height;width\\na;1,5;2\\nb;3;4,25\\nc;?;1\\nd;4;8\\n")
    >>> rows = unmix.open(path, drop="name", decimal=",", na="?")
    >>> rows.shape, rows.names, rows.missing
    ((4, 2), ['height', 'width'], array([1, 0]))
    >>> rows.head(1)
    array([[1.5, 2. ]])
    >>> complete = unmix.open(path, drop="name", decimal=",", na="?", missing="drop")
    >>> complete.shape
    (3, 2)

    A list of cells is the matrix that they are in:

    >>> path = pathlib.Path(tempfile.mkdtemp(), "ratings.csv")
    >>> _ = path.write_text("user,film,stars\\n0,0,4\\n0,2,1\\n1,1,5\\n")
    >>> cells = unmix.open(path, triplets=True)
    >>> cells.shape, cells.missing
    ((2, 3), array([1, 1, 1]))
    """
    settings = {name: value for name, value in locals().items() if name != "path"}
    return Files(path, settings)


_SETTINGS: dict[str, Any] = open.__kwdefaults__ or {}


class ReadSettings(TypedDict, total=False):
    """The keyword arguments of `open`, with their types."""

    input_format: str | None
    columns: str | Sequence[str | int] | None
    drop: str | Sequence[str | int] | None
    names: Sequence[str] | None
    key: str | None
    transpose: bool
    rows_axis: int | tuple[int, ...] | None
    feature_shape: tuple[int, ...] | str | None
    header: bool | None
    skip_rows: int
    delimiter: str | None
    decimal: Literal[".", ","]
    na: str | Sequence[str]
    missing: Literal["keep", "drop"]
    dtype: _Float | None
    rows: tuple[int, int | None] | slice | None
    grey: bool
    rgb: bool
    patches: tuple[int, int] | str | None
    stride: int | None
    padding: int
    number: int | None
    patch_seed: int
    normalise: bool
    triplets: bool


def read(path: Path | Sequence[Path], **settings: Unpack[ReadSettings]) -> ArrayOrSparse:
    """Return the rows of files as an array, read as by ``fit`` and the command line.

    It is ``unmix.open(path, **settings).read()``: all rows are held in memory. Estimators also take the path, or the handle that
    :func:`unmix.open` returns, and most of them stream the rows.

    Parameters
    ----------
    path : path or list of paths
        As for :func:`unmix.open`.
    **settings
        Keyword arguments of :func:`unmix.open`.

    Returns
    -------
    ndarray or csr_array of shape (n_samples, n_features)
        Type float32 for numbers that are stored as float32 or float16, float64 for all others. Nothing is rescaled, except
        images (0 to 1) and ``.wav`` (-1 to 1). Missing cells are NaN. With ``triplets=True``, and of a sparse matrix that scipy saved
        (``.npz``), a sparse array of scipy.

    See Also
    --------
    open : The same rows, streamed.

    Examples
    --------
    >>> import pathlib, tempfile, unmix
    >>> path = pathlib.Path(tempfile.mkdtemp(), "boxes.csv")
    >>> _ = path.write_text("name,height,width\\na,1,2\\nb,3,4\\n")
    >>> unmix.read(path, drop="name")
    array([[1., 2.],
           [3., 4.]])
    """
    return open(path, **settings).read()
