"""Folders of the package SAELens."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Literal

from sklearn.utils.validation import check_is_fitted

from .. import _unmix
from .._types import Path

if TYPE_CHECKING:
    from .._base import Estimator
    from ..autoencoder import SparseAutoencoder

_TYPES = ("float16", "bfloat16", "float32", "float64")


def to_saelens(
    model: Estimator,
    path: Path,
    *,
    dtype: Literal["float16", "bfloat16", "float32", "float64"] | None = None,
    force: bool = False,
) -> None:
    """Write a sparse autoencoder as a folder of SAELens: ``sae_weights.safetensors`` and ``cfg.json``.

    ``SAE.load_from_disk`` of SAELens reads it. The indices of units are preserved. ``activation="batch-topk"`` is written as jumprelu, with the
    same threshold for every unit, as in SAELens. Codes are those of the model: the scale of ``normalize`` is part of the parameters.

    Parameters
    ----------
    model : SparseAutoencoder
        A fitted model.
    path : path
        The folder, which is created if it does not exist.
    dtype : {"float16", "bfloat16", "float32", "float64"} or None, default=None
        Type of the parameters; None for that of the folder from which the model was read, or else of the model, so that nothing is rounded.
    force : bool, default=False
        Whether to replace existing files in the folder.

    See Also
    --------
    from_saelens : Reads such a folder.

    Examples
    --------
    >>> import os, tempfile, unmix
    >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
    >>> sae = unmix.SparseAutoencoder(n_components=4, random_state=0).fit(X)
    >>> folder = tempfile.mkdtemp()
    >>> unmix.compat.to_saelens(sae, folder)
    >>> sorted(os.listdir(folder))
    ['cfg.json', 'sae_weights.safetensors']
    """
    from ..autoencoder import SparseAutoencoder

    if not isinstance(model, SparseAutoencoder):
        raise TypeError(f"to_saelens writes a SparseAutoencoder, got a {type(model).__name__}")
    check_is_fitted(model)
    if dtype is not None and dtype not in _TYPES:
        raise ValueError(f"dtype must be one of {', '.join(map(repr, _TYPES))}, or None, got {dtype!r}")
    _unmix.to_saelens(model._model, os.fspath(path), dtype, bool(force))


def from_saelens(path: Path) -> SparseAutoencoder:
    """Return the sparse autoencoder in a folder of SAELens.

    The indices of units are preserved, and codes are those of the encoder that SAELens documents: relu (standard), topk, jumprelu or gated.
    Encoders of rows that are not centred (``apply_b_dec_to_input`` false) and the rescaling of topk (``rescale_acts_by_decoder_norm``)
    are folded into the parameters. Other architectures and activations, normalised or reshaped rows, topk without k, and pickled
    files are refused, with an error that names them.

    Parameters
    ----------
    path : path
        The folder, with ``sae_weights.safetensors`` (float16, bfloat16, float32 or float64) and ``cfg.json``.

    Returns
    -------
    SparseAutoencoder
        A fitted model, in double precision if the parameters of the folder are, else in single. ``components_`` are the atoms of the
        folder, of any norm, and there is no ``density_``.

    See Also
    --------
    to_saelens : Writes such a folder.

    Examples
    --------
    >>> import tempfile, unmix
    >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
    >>> sae = unmix.SparseAutoencoder(n_components=4, random_state=0).fit(X)
    >>> folder = tempfile.mkdtemp()
    >>> unmix.compat.to_saelens(sae, folder)
    >>> bool((unmix.compat.from_saelens(folder).transform(X) == sae.transform(X)).all())
    True
    """
    from ..autoencoder import SparseAutoencoder

    text = os.fspath(path)
    model = _unmix.from_saelens(text, f"unmix.compat.from_saelens({text!r})")
    estimator = SparseAutoencoder(**json.loads(model.settings))
    estimator._adopt(model)
    return estimator
