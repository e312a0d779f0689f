"""Codes of rows, and rows of codes, by a fitted model."""

from __future__ import annotations

import os
from typing import overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._input import refuse_overwriting
from ._sklearn import Base
from ._types import Array, Path, Rows


class Coding(Base):
    """Encoding and decoding. It inherits from scikit-learn's classes, which convert the result of a ``transform`` for ``set_output``."""

    def transform(self, X: Rows) -> Array:
        """Return the codes of rows.

        Rows are encoded independently of each other, by the fitted parameters alone. Rows of a file are read block by block, but the codes
        are held in memory; ``encode`` can write them to a file instead.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows with the columns that the model was fitted on.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Codes, in the type of the rows (float32 or float64); scipy's ``csr_array`` where the codes of the method are sparse.

        See Also
        --------
        inverse_transform : From codes back to rows.
        encode : The same, also into a file.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PCA(n_components=1).fit(X).transform([[3, 2]]).round(2)
        array([[3.61]])
        """
        check_is_fitted(self)
        return self._model.encode(self._rows(X), self._run_arguments())

    def inverse_transform(self, X: Rows) -> Array:
        """Decode: return the rows of given codes: ``X @ mixing_.T + mean_``.

        Decoding is affine in the codes, also for methods whose encoder is not. ``inverse_transform(transform(X))`` is the approximation of
        ``X`` by the model; its error is what the components do not represent, and for codes that are shrunk, such as posterior means, the
        shrinkage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components), path or Files
            Codes.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows, in the type of the codes.

        See Also
        --------
        transform : From rows to codes.
        decode : The same, also into a file.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PCA(n_components=1).fit(X).inverse_transform([[3.0]]).round(2)
        array([[2.52, 1.63]])
        """
        check_is_fitted(self)
        if getattr(self, "n_components_", None) == 0 and isinstance(X, np.ndarray) and X.shape[1:] == (0,):
            # Codes of a model without components hold no numbers; every row is the mean.
            mean = getattr(self, "mean_", np.zeros(self.n_features_in_))
            return np.tile(mean.astype(X.dtype), (len(X), 1))
        return self._model.decode(self._codes(X), self._run_arguments())

    @overload
    def encode(self, X: Rows, out: None = None) -> Array: ...
    @overload
    def encode(self, X: Rows, out: Path) -> None: ...
    @overload
    def encode(self, X: Rows, out: Path | None = None) -> Array | None: ...
    def encode(self, X: Rows, out: Path | None = None) -> Array | None:
        """Return the codes of rows (``transform``), or write them to a file.

        Use it instead of ``transform`` if rows or codes do not fit in memory: with a file as ``X`` and another as ``out``, only a few rows
        are in memory at a time. ``unmix encode`` does the same on the command line.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.
        out : path, optional
            A file to write, a few rows at a time, so that neither rows nor codes need to fit in memory; the extension determines the format:
            ``.npy``, ``.npz`` (compressed sparse rows, which scipy reads), ``.csv`` or ``.tsv``.

        Returns
        -------
        ndarray of shape (n_samples, n_components), or None if they were written to a file
            Codes.

        See Also
        --------
        transform : The codes as an array.
        decode : From codes back to rows.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> import os, tempfile, numpy as np
        >>> path = os.path.join(tempfile.mkdtemp(), "codes.npy")
        >>> PCA(n_components=1).fit(X).encode(X, out=path)
        >>> np.load(path).shape
        (6, 1)
        """
        if out is None:
            return self.transform(X)
        check_is_fitted(self)
        refuse_overwriting(X, out)
        return self._model.encode(self._rows(X), self._run_arguments(), os.fspath(out))

    @overload
    def decode(self, X: Rows, out: None = None) -> Array: ...
    @overload
    def decode(self, X: Rows, out: Path) -> None: ...
    @overload
    def decode(self, X: Rows, out: Path | None = None) -> Array | None: ...
    def decode(self, X: Rows, out: Path | None = None) -> Array | None:
        """Return the rows decoded from codes (``inverse_transform``), or write them to a file.

        Use it instead of ``inverse_transform`` if codes or rows do not fit in memory, with files as ``X`` and ``out``. ``unmix decode``
        does the same on the command line.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components), path or Files
            Codes.
        out : path, optional
            A file to write, as for ``encode``.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or None if they were written to a file
            Rows.

        See Also
        --------
        inverse_transform : The rows as an array.
        encode : From rows to codes.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PCA(n_components=1).fit(X).decode([[3.0]]).round(2)
        array([[2.52, 1.63]])
        """
        if out is None:
            return self.inverse_transform(X)
        check_is_fitted(self)
        refuse_overwriting(X, out)
        return self._model.decode(self._codes(X), self._run_arguments(), os.fspath(out))
