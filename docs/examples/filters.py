"""Components of natural images: by variance, by independence, and by both.

    python docs/examples/filters.py kodak8/ [FIGURE]

A folder of photographs, of which 20,000 patches of 12 x 12 pixels are drawn. Without a path, the folder given by UNMIX_DATA is read.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unmix

SIDE, KEPT = 12, 36


def sparse(codes):
    """Excess kurtosis: 0 for Gaussian codes, large if most codes are near 0 and a few are large."""
    z = (codes - codes.mean(axis=0)) / codes.std(axis=0)
    return np.mean(z**4, axis=0) - 3


def area(patterns):
    """Effective area as a fraction of the patch: 1 if the energy is uniform over the patch."""
    energy = patterns**2 / np.sum(patterns**2, axis=1, keepdims=True)
    return 1 / np.sum(energy**2, axis=1) / energy.shape[1]


def main(folder, figure="filters.png"):
    X = unmix.read(folder, grey=True, patches=(SIDE, SIDE), number=20_000)
    X -= X.mean(axis=1, keepdims=True)
    models = [unmix.PCA(KEPT), unmix.SigmaPCA(KEPT, tol=1e-2, random_state=0), unmix.ICA(KEPT, tol=1e-4, random_state=0)]
    fig, axes = plt.subplots(1, 3, figsize=(9, 3.5), layout="constrained")
    out = {}
    for ax, model in zip(axes, models):
        name, codes = type(model).__name__, model.fit_transform(X)
        patterns = getattr(model, "mixing_", model.components_.T).T
        out[name] = np.median(sparse(codes)), np.median(area(patterns))
        orthonormal = np.abs(model.components_ @ model.components_.T - np.eye(KEPT)).max() < 1e-6
        print(f"{name}: kurtosis {out[name][0]:.1f}, {100 * out[name][1]:.0f} % of the patch, orthonormal: {orthonormal}, {model.report_.outcome}")
        order = np.argsort(area(patterns)) if name == "ICA" else np.arange(KEPT)
        mosaic = np.ones((6 * (SIDE + 1) + 1, 6 * (SIDE + 1) + 1)) * np.nan
        for i, pattern in enumerate(patterns[order]):
            y, x = 1 + (i // 6) * (SIDE + 1), 1 + (i % 6) * (SIDE + 1)
            mosaic[y : y + SIDE, x : x + SIDE] = pattern.reshape(SIDE, SIDE) / np.abs(pattern).max()
        ax.imshow(mosaic, cmap="RdBu_r", vmin=-1, vmax=1)
        ax.set_title(f"{name}\nkurtosis {out[name][0]:.0f}, {100 * out[name][1]:.0f} % of the patch", fontsize="medium")
        ax.set_axis_off()
    fig.savefig(figure, dpi=110)
    return out


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "kodak8")]
    main(*given) if Path(given[0]).is_dir() else sys.exit(f"there is no folder {given[0]}\n{__doc__}")
