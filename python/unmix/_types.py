"""Types in the signatures of the package."""

from __future__ import annotations

from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: The path of a file.
Path: TypeAlias = str | PathLike[str]
#: Rows or codes: an array of any layout and number type, a frame, a sparse matrix, the path of a file, or a handle returned by
#: `unmix.open`. Frames and sparse matrices have no common type that a checker could use.
Rows: TypeAlias = Any
#: An array of numbers, single or double precision.
Array: TypeAlias = NDArray[Any]
#: A seed.
Seed: TypeAlias = int | np.random.RandomState | None
