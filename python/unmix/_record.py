"""Results with named fields."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from sklearn.utils import Bunch

#: Maximum length of a value, and of a line, in the repr.
_MOST, _WIDTH = 60, 100


class Record(Bunch):
    """A Bunch whose repr has a few lines: arrays are shown by their types and shapes."""

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={_brief(value)}" for name, value in self.items())
        lines = textwrap.wrap(f"Record({fields})", _WIDTH, subsequent_indent=" " * 7, break_long_words=False, break_on_hyphens=False)
        return "\n".join(lines)


def _brief(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype") and np.size(value) > 4:
        return f"<{value.dtype} array of shape {value.shape}>"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    text = repr(value)
    if len(text) <= _MOST:
        return text
    length = f" of length {len(value)}" if hasattr(value, "__len__") else ""
    return f"<{type(value).__name__}{length}>"
