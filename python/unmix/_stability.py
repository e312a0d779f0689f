"""How far to believe a decomposition."""

import json
from numbers import Integral

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._threads import threads_here


class Stability:
    """What halves of the rows and other seeds find again, component by component.

    Attributes
    ----------
    halves : ndarray of shape (n_components,)
        How alike two disjoint halves of the rows find the component, mean over the cuts: 1 is the same twice.
    interval : ndarray of shape (n_components, 2)
        How much that mean varies with the cuts that were made (percentiles of means over cuts drawn with repetition); no confidence
        interval over other rows.
    restarts : ndarray of shape (n_components,) or None
        How alike other seeds find it; None where every seed gives the same bits.
    index : ndarray of shape (n_components,)
        Similarity to its own partners less that to the others, like ICASSO's index, without its clusters.
    gaussian : ndarray of shape (n_components,)
        The probability that its codes would look so unlike a Gaussian if they were one, tested on rows that it was not chosen on, in
        either half, the larger.
    stretch : int
        How many consecutive rows stayed together when rows were cut into halves and tested: 1 where each row stands alone; more in a
        recording, whose neighbouring samples are so alike that halves would be copies of each other.
    verdict : list of str
        ``"resolved"``, ``"resolved as a group with ..."`` or ``"not resolvable from these data"``, and whether the start mattered.
    """

    def __init__(self, text):
        facts = json.loads(text)
        self.verdict = facts["verdict"]
        for name in ("halves", "interval", "index", "gaussian"):
            setattr(self, name, np.array(facts[name], dtype=float))
        self.stretch = int(facts["stretch"])
        self.restarts = None if facts["restarts"] is None else np.array(facts["restarts"])

    def __len__(self):
        return len(self.verdict)

    def __repr__(self):
        lines = ["component  halves  restarts  verdict"]
        for j, verdict in enumerate(self.verdict):
            restarts = "       -" if self.restarts is None else f"{self.restarts[j]:8.3f}"
            lines.append(f"{j:>9}  {self.halves[j]:6.3f}  {restarts}  {verdict}")
        if self.stretch > 1:
            lines.append(f"rows follow one another: {self.stretch} at a time stayed together")
        return "\n".join(lines)


def stability(estimator, X, *, cuts=5, restarts=5, random_state=None, verbose=0):
    """Fit an estimator again, to random halves of the rows and from other seeds, and say what is found again.

    Parameters
    ----------
    estimator : estimator
        Fitted to ``X``, or not fitted: then a clone of it is fitted first, and the estimator stays as it is.
    X : array-like of shape (n_samples, n_features), or path
        The rows that it was fitted to.
    cuts : int, default=5
        Cuts of the rows into two random halves; each costs two fits of half the rows.
    restarts : int, default=5
        Fits of all rows from other seeds.
    random_state : int, RandomState or None, default=None
        Where the draws of the halves begin; None for the seed that the estimator was fitted with.
    verbose : {0, 1, 2}, default=0
        0 silent, 1 a progress bar, 2 a line for each step, on stderr.

    Returns
    -------
    stability : Stability
        Arrays in the order of the components; its repr is a table.

    Examples
    --------
    >>> import unmix
    >>> data = unmix.datasets.independent(1000, ["gaussian"] * 4, [9, 4, 1, 1])
    >>> found = unmix.stability(unmix.PCA(random_state=0).fit(data.X), data.X, random_state=0)
    >>> found.verdict[0], found.verdict[2]
    ('resolved', 'resolved as a group with 3')
    """
    for name, value in {"cuts": cuts, "restarts": restarts}.items():
        least = 1 if name == "cuts" else 0
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name}={value!r} is not possible; give a whole number from {least}")
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        estimator = clone(estimator).fit(X)
    rows = estimator._rows(X)
    seed = estimator.report_.seed if random_state is None else _seed_of(estimator, random_state)
    facts = (seed, threads_here(), int(verbose))
    return Stability(_unmix.stability(estimator._model, rows, facts, int(cuts), int(restarts)))


def _seed_of(estimator, random_state):
    drawer = type(estimator)()
    drawer.random_state = random_state
    return drawer._seed()
