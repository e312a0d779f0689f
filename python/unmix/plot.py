"""Figures of fitted models, by matplotlib (``pip install unmix[plot]``)."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

__all__ = ["components", "scree"]


def scree(model, ax=None):
    """Draw the share of the variance that each component explains, and the cumulative share.

    Parameters
    ----------
    model : fitted estimator with ``explained_variance_ratio_``
        As ``PCA``.
    ax : matplotlib Axes, optional
        Where to; new axes when left out.

    Returns
    -------
    ax : matplotlib Axes
        With everything drawn.
    """
    check_is_fitted(model)
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(layout="constrained").add_subplot()
    share = 100 * np.asarray(model.explained_variance_ratio_)
    ax.bar(np.arange(len(share)), share, label="of this component")
    ax.plot(np.arange(len(share)), np.cumsum(share), "o-", color="C1", markersize=3, label="cumulative")
    ax.set(xlabel="component", ylabel="share of the variance, %", ylim=(0, None))
    ax.legend(frameon=False)
    return ax


def components(model, feature_shape=None, n_components=None):
    """Draw components: as pictures when the features have a shape of two axes, else as curves.

    Parameters
    ----------
    model : fitted estimator
        With ``components_``.
    feature_shape : tuple of int, optional
        Shape of one sample, as in ``(28, 28)``; what the model's file says when left out.
    n_components : int, optional
        How many to draw, at most 25 unless said.

    Returns
    -------
    figure : matplotlib Figure
        One panel for each component.
    """
    import matplotlib.pyplot as plt

    check_is_fitted(model)
    shape = tuple(feature_shape or model._model.feature_shape or (model.n_features_in_,))
    if np.prod(shape) != model.n_features_in_:
        raise ValueError(f"feature_shape={shape} holds {np.prod(shape)} numbers, but the model has {model.n_features_in_} features")
    count = min(n_components or 25, len(model.components_))
    columns = min(count, 5) or 1
    figure, axes = plt.subplots(-(-count // columns) or 1, columns, squeeze=False, layout="constrained")
    for ax in axes.flat:
        ax.set_axis_off()
    for i, ax in enumerate(axes.flat[:count]):
        row = np.asarray(model.components_[i])
        ax.set_title(str(i), fontsize="small")
        if len(shape) == 2:
            most = np.abs(row).max() or 1
            ax.imshow(row.reshape(shape), cmap="RdBu_r", vmin=-most, vmax=most)
        else:
            ax.axhline(0, color="0.8", linewidth=0.5)
            ax.plot(row, linewidth=1)
    return figure
