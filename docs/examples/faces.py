"""Faces: the effect of each latent variable, and halves of faces imputed from the other half, with error bars.

    python docs/examples/faces.py faces/olivetti_400x64x64_u8.npy [FIGURE]

Pictures (n x 64 x 64), ten of each person one after the other. Without a path, the folder given by UNMIX_DATA is read.
"""

import os
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unmix

SHOWN = (0, 6, 14, 20, 27, 30, 33, 36, 38)


def main(path, figure="faces.png"):
    pictures = np.load(path)[:, ::2, ::2] / 255.0
    n, height, width = pictures.shape
    X = pictures.reshape(n, -1)
    new = np.arange(n) % 10 == 9  # the last picture of each person is not in the fit
    model = unmix.PPCA().fit(X[~new])
    hidden = np.tile(np.arange(width) >= width // 2, height)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*parameters are treated as known")
        filled, std = model.impute(np.where(hidden, np.nan, X[new]), return_std=True)
    mirrored = X[new].reshape(-1, height, width)[:, :, ::-1].reshape(filled.shape)
    error = {"ppca": filled, "mirror": mirrored, "mean": np.broadcast_to(model.mean_, filled.shape)}
    error = {name: float(np.sqrt(np.mean((of - X[new])[:, hidden] ** 2))) for name, of in error.items()}
    inside = float(np.mean(np.abs(filled - X[new])[:, hidden] < 1.96 * std[:, hidden]))
    print(f"{model.n_components_} components, by the Bayesian information criterion")
    print("error of the hidden halves: {ppca:.3f} by PPCA, {mirror:.3f} by the mirrored half, {mean:.3f} by the mean face".format(**error))
    print(f"{100 * inside:.0f} % of the hidden pixels are inside their 95 % intervals, which take the parameters as known")
    fig, axes = plt.subplots(6, len(SHOWN), figsize=(9.6, 7), layout="constrained")
    for line, column in np.ndindex(axes.shape):
        ax, i = axes[line, column], SHOWN[column]
        step = np.linspace(-3, 3, len(SHOWN))[column]
        moved = model.mean_ + step * model.latent_scale_[min(line, 2)] * model.components_[min(line, 2)]
        shown = [moved, moved, moved, np.where(hidden, 1, X[new][i]), filled[i], X[new][i]][line]
        ax.imshow(shown.reshape(height, width), cmap="gray", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"{step:+.3g} sd" if line == 0 else "", fontsize="small")
        names = ("latent 0", "latent 1", "latent 2", "half", "filled", "picture")
        ax.set_ylabel(names[line] if column == 0 else "", fontsize="small")
    fig.savefig(figure, dpi=110)
    return {"components": model.n_components_, "inside": inside, **error}


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "faces", "olivetti_400x64x64_u8.npy")]
    main(*given) if Path(given[0]).is_file() else sys.exit(f"there are no pictures at {given[0]}\n{__doc__}")
