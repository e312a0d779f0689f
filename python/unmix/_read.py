"""Files as arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral

from . import _unmix
from ._threads import threads_here
from ._types import Array, Path


def _word(column):
    """A column as one word of the list that the readers take."""
    if isinstance(column, Integral):
        return str(int(column))
    plain = column and column.strip() == column and not any(c in column for c in ',"')
    return column if plain else '"' + column.replace('"', '""') + '"'


def _columns(columns):
    """A list of columns as the command line has it; text is one already."""
    if columns is None or isinstance(columns, str):
        return columns
    return ",".join(map(_word, columns))


def _shape(name, shape):
    if isinstance(shape, str):
        shape = shape.split("x")
    try:
        shape = None if shape is None else tuple(int(length) for length in shape)
    except (TypeError, ValueError):
        shape = ()
    if shape is not None and (not shape or min(shape) < 1 or (name == "patches" and len(shape) != 2)):
        raise ValueError(f"{name} is not possible as given; give the length of each axis, as in (28, 28)")
    return shape


def read(
    path: Path | Sequence[Path],
    *,
    transpose: bool = False,
    rows_axis: int | None = None,
    feature_shape: tuple[int, ...] | str | None = None,
    columns: str | Sequence[str | int] | None = None,
    drop: str | Sequence[str | int] | None = None,
    header: bool | None = None,
    skip_rows: int = 0,
    key: str | None = None,
    grey: bool = False,
    rgb: bool = False,
    patches: tuple[int, int] | str | None = None,
    stride: int | None = None,
    padding: int = 0,
    number: int | None = None,
    patch_seed: int = 0,
    normalise: bool = False,
) -> Array:
    """Read files as ``fit`` and the command line would, and return their rows.

    The settings are the flags of the command line. ``fit(path)`` streams a file that says all about itself; what needs one of
    these is read by this function first: ``PCA().fit(unmix.read("data.npz", key="x"))``.

    Parameters
    ----------
    path : path or list of paths
        ``.npy``, ``.npz``, ``.csv``, ``.tsv``, ``.parquet``, Arrow, ``.safetensors``, idx, ``.wav``, images or a folder of
        images, each also ``.gz`` where that is usual. Several files follow each other as rows; ``.wav`` files stand side by
        side as channels. Patterns such as ``"part-*.npy"`` are files by name.
        The index of a pandas table is left out, with a warning, unless ``columns`` asks for it; images are turned as their
        camera says; pages of Parquet files are compared with their checksums, where they have any.
    transpose : bool
        Rows are channels: read columns as samples.
    rows_axis : int, optional
        The axis of an array that runs over samples, 0 unless said; the others are flattened.
    feature_shape : tuple of int, optional
        Shape of one sample; refused where it does not fit.
    columns, drop : str or list of str and int, optional
        Columns to read, in this order, and columns to leave out: names, or numbers from 0; as text also ``"a,b,5-9"``.
    header : bool, optional
        Whether the first line of a text file holds names; found out when not said (``--header``, ``--no-header``).
    skip_rows : int
        Lines of a text file to pass over.
    key : str, optional
        Which array of a file that holds several.
    grey, rgb : bool
        Read images in grey, or in colour; as the first of them is when neither is said.
    patches : (int, int), optional
        Height and width of the patches that images are cut into.
    stride, padding, number, patch_seed, normalise : int, int, int, int, bool
        Pixels from one patch to the next; pixels by which images are made larger on every side; how many patches to draw, and
        where drawing begins; whether to take each patch's mean off it and divide by its standard deviation.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        Type float32 for numbers that are stored as float32 or float16, float64 for everything else. Nothing is rescaled, except
        images (0 to 1) and ``.wav`` (-1 to 1). Missing cells are NaN.

    See Also
    --------
    PCA : Whose ``fit`` takes paths as well.

    Examples
    --------
    >>> import os, tempfile, unmix
    >>> path = os.path.join(tempfile.mkdtemp(), "boxes.csv")
    >>> _ = open(path, "w").write("name,height,width\\na,1,2\\nb,3,4\\n")
    >>> unmix.read(path, drop="name")
    array([[1., 2.],
           [3., 4.]])
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    reading = dict(
        transpose=bool(transpose),
        rows_axis=rows_axis,
        feature_shape=_shape("feature_shape", feature_shape),
        columns=_columns(columns),
        drop=_columns(drop),
        header=header,
        skip_rows=skip_rows,
        key=key,
        grey=bool(grey),
        rgb=bool(rgb),
        patches=_shape("patches", patches),
        stride=stride,
        padding=padding,
        number=number,
        patch_seed=patch_seed,
        normalise=bool(normalise),
    )
    if grey and rgb:
        raise ValueError("grey=True and rgb=True say different things; keep one of them")
    for name in ("stride", "padding", "number", "patch_seed", "normalise"):
        if reading[name] and patches is None:
            raise ValueError(f"{name}={reading[name]!r} is about patches, and none are asked for; give patches=(height, width) too")
    return _unmix.read([os.fspath(p) for p in paths], (0, threads_here(), 0), reading)
