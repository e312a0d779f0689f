"""Types in the signatures of the package."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ._base import Estimator
    from ._read import Files

#: The path of a file.
Path: TypeAlias = str | PathLike[str]
#: An array of numbers, single or double precision. Results that `set_output` converts to frames have this type, too: a type checker cannot
#: infer what it requests.
Array: TypeAlias = NDArray[Any]
#: An array, except in cases that a type checker cannot infer from the call: a list of cells is read as a `csr_array`. With `Any` for these cases,
#: checkers accept what an array has without a test for the type.
ArrayOrSparse: TypeAlias = "Array | Any"
#: Codes of the methods with a parameter `sparse_output`: a `csr_array` of scipy, or with `False` an array. scipy comes without types, and those that
#: pyright infers from its sources lack methods such as `round` and have a single truth value as the result of comparisons.
SparseCodes: TypeAlias = Any
#: Axes to draw several panels into.
AxesOfPanels: TypeAlias = "Axes | Sequence[Axes] | NDArray[Any]"
#: A seed.
Seed: TypeAlias = int | np.random.RandomState | None


class SparseRows(Protocol):
    """A sparse array or matrix of scipy, which has no types of its own."""

    def tocsr(self) -> Any: ...


class Frame(Protocol):
    """A table of a library that implements the interchange protocol of data frames, also without ``__array__``."""

    def __dataframe__(self) -> Any: ...


#: Rows or codes: an array of any layout and number type, or what can be converted to one, such as nested lists and frames; a sparse matrix; the
#: path of a file, or several; or a handle returned by `unmix.open`. `Sequence[object]`, because type checkers do not recognise numbers in a list
#: of lists of which some have integers and others have floats.
Rows: TypeAlias = "ArrayLike | SparseRows | Frame | Path | Sequence[object] | Files"

class HasComponents(Protocol):
    """A fitted model, also of other packages."""

    @property
    def components_(self) -> ArrayLike: ...


class HasBiclusters(Protocol):
    """Biclusters, also of scikit-learn."""

    @property
    def biclusters_(self) -> tuple[ArrayLike, ArrayLike]: ...


#: What measures compare: fitted models, or components as rows.
Components: TypeAlias = "Estimator | HasComponents | ArrayLike"
#: Selected components: numbers, names, or a mask.
Chosen: TypeAlias = "int | str | np.integer[Any] | Sequence[int | str | np.integer[Any]] | NDArray[Any]"
