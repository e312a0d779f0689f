"""Interfaces and files of other packages: their functions on the solvers of unmix, and readers and writers of their files."""

from ._mne import mne
from ._picard import picard
from ._saelens import from_saelens, to_saelens

__all__ = ["from_saelens", "mne", "picard", "to_saelens"]
