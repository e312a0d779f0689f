"""Types in the signatures of the package."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from ._base import Estimator

#: The path of a file.
Path: TypeAlias = str | PathLike[str]
#: Rows or codes: an array of any layout and number type, a frame, a sparse matrix, the path of a file, or a handle returned by
#: `unmix.open`. Frames and sparse matrices have no common type that a checker could use.
Rows: TypeAlias = Any
#: An array of numbers, single or double precision.
Array: TypeAlias = NDArray[Any]
#: A seed.
Seed: TypeAlias = int | np.random.RandomState | None


class HasComponents(Protocol):
    """A fitted model, also of other packages."""

    @property
    def components_(self) -> Any: ...


class HasBiclusters(Protocol):
    """Biclusters, also of scikit-learn."""

    @property
    def biclusters_(self) -> Any: ...


#: What measures compare: fitted models, or components as rows.
Components: TypeAlias = "Estimator | HasComponents | ArrayLike"
#: Selected components: numbers, names, or a mask.
Chosen: TypeAlias = "int | str | np.integer[Any] | Sequence[int | str | np.integer[Any]] | NDArray[Any]"
