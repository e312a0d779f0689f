"""Signatures and files of other packages, computed, read and written by unmix."""

from ._mne import mne
from ._picard import picard
from ._saelens import from_saelens, to_saelens

__all__ = ["from_saelens", "mne", "picard", "to_saelens"]
