"""Other packages' signatures over our solvers."""

from ._mne import mne
from ._picard import picard

__all__ = ["mne", "picard"]
