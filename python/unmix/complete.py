"""Complete dictionaries: as many atoms as directions."""

from ._base import Estimator
from ._parameters import CompleteDictionaryParameters


class CompleteDictionary(CompleteDictionaryParameters, Estimator):
    """Complete dictionary learning: as many atoms as directions, of which every row needs few.

    Rows are sparse combinations of linearly independent atoms, ``x = mean + z @ A``; each code is 0 in many rows. All atoms are found at
    once, by the largest sum of fourth powers of the codes in whitened coordinates. Without noise, they are then found to rounding.

    Parameters
    ----------

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The atoms, rows of length 1, by falling ``usage_``; the entry of largest magnitude of each is positive.
    usage_ : ndarray of shape (n_components,)
        Mean absolute value of the codes of each atom.
    kurtosis_ : ndarray of shape (n_components,)
        Excess kurtosis of the codes about 0: 0 for Gaussian ones, ``3 * (1 - share) / share`` where a share of them is normal and the others
        are 0.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows with ``center=True``, else zeros.
    mixing_ : ndarray of shape (n_features, n_components)
        What decodes: ``components_.T``.
    rotation_, scale_, second_rotation_ : ndarray
        ``transform(x) = (x - mean_) @ rotation_ @ diag(1 / scale_) @ second_rotation_``; with ``precondition=False`` only the last of
        them.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Iterations, and numbers of atoms, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where all of them had one.
    report_ : Report
        How the fit went; ``objective`` is the sum over atoms of the mean of ``abs(y)**power / power``, ``y`` the codes of variance 1, after
        each step of the search; ``fit`` how many atoms were refined, and how many kept as the polish left them.

    See Also
    --------
    ICA : Independent sources, of flat tails too.
    RICA : Sparse features, which may be more than columns.

    Notes
    -----
    The search repeats ``W = polar(E[y**3 x'])`` with ``y = W x`` in white coordinates, and near the end the fixed point of FastICA. The
    polish minimises the sum of ``log(cosh(y))`` from there. The refinement minimises the mean absolute value of the codes of each atom by
    itself; without noise its minimum is the atom, with noise it is biased, and then not kept.

    References
    ----------
    Y. Zhai, Z. Yang, Z. Liao, J. Wright & Y. Ma (2020), Complete dictionary learning via l4-norm maximization over the orthogonal group.
    J. Sun, Q. Qu & J. Wright (2017), Complete dictionary recovery over the sphere.
    Y. Bai, Q. Jiang & J. Sun (2019), Subgradient descent learns orthogonal dictionaries.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import CompleteDictionary
    >>> draw = np.random.RandomState(0)
    >>> codes = draw.randn(3000, 6) * (draw.rand(3000, 6) < 0.3)
    >>> X = codes @ draw.randn(6, 6)
    >>> model = CompleteDictionary(random_state=0).fit(X)
    >>> round(float((abs(model.transform(X)) < 1e-9).mean()), 1)
    0.7
    """

    _method = "complete-dictionary"
