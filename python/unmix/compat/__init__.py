"""Signatures of other packages, computed by the solvers of unmix."""

from ._mne import mne
from ._picard import picard

__all__ = ["mne", "picard"]
