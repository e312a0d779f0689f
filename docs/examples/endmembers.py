"""Endmembers of an airborne hyperspectral image with 200 bands.

    python docs/examples/endmembers.py hyperspectral/ [FIGURE]

A folder with `indian_pines_200x145x145_u16.npy.gz` (bands x rows x columns) and `indian_pines_gt_u8.npy`, the class of each pixel, which
is not used in the fit. Without a path, the folder given by UNMIX_DATA is read.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unmix

CLASSES = "alfalfa,corn,corn,corn,pasture,trees,pasture,hay,oats,soy,soy min. till,soy,wheat,woods,buildings,steel towers".split(",")
PURE = 100  # pixels at either end of a component


def ends(codes, X, truth):
    """For each class found at either end of a component: component, sign, purity, correlation of the spectra, and the spectra."""
    found, spread = {}, X.std(axis=0)
    for j in range(codes.shape[1]):
        for side in (1, -1):
            at = np.argsort(-side * codes[:, j])[:PURE]
            count = np.bincount(truth[at], minlength=17)[1:]
            best, share = int(count.argmax()), count.max() / max(count.sum(), 1)
            here, there = ((X[rows].mean(axis=0) - X.mean(axis=0)) / spread for rows in (at, truth == best + 1))
            if count.sum() >= PURE / 4 and share >= 0.8 and share > found.get(best, (0, 0, 0))[2]:
                found[best] = j, side, share, np.corrcoef(here, there)[0, 1], here, there
    return found


def main(folder, figure="endmembers.png"):
    X = unmix.read(Path(folder, "indian_pines_200x145x145_u16.npy.gz"), transpose=True)  # a row for each pixel
    truth = np.load(Path(folder, "indian_pines_gt_u8.npy")).ravel()
    out = {}
    for model in (unmix.PCA(12), unmix.ICA(12, random_state=0)):
        found = ends(codes := model.fit_transform(X), X, truth)
        out[type(model).__name__] = {CLASSES[c]: end[3] for c, end in found.items()}
        listed = ", ".join(f"{CLASSES[c]} {end[3]:.2f} (purity {end[2]:.2f})" for c, end in sorted(found.items()))
        print(f"{type(model).__name__}: {len(found)} materials at ends of components, with correlations of their spectra with the truth: {listed}")
    fig, axes = plt.subplots(2, len(found), figsize=(10, 4.2), layout="constrained", height_ratios=[1.3, 1])
    for (c, (j, side, _, likeness, here, there)), (top, bottom) in zip(sorted(found.items()), axes.T):
        top.imshow(side * codes[:, j].reshape(145, 145), cmap="magma", vmin=0, vmax=np.quantile(side * codes[:, j], 0.995))
        top.contour(truth.reshape(145, 145) == c + 1, [0.5], colors="w", linewidths=0.5)
        top.set(xticks=[], yticks=[], title=f"{CLASSES[c]} (source {j})")
        bottom.plot(there, color="0.6", lw=3, label="truth")
        bottom.plot(here, color="C3", lw=1, label="found")
        bottom.set(xlabel=f"band (correlation {likeness:.2f})", yticks=[])
    axes[1][0].legend(frameon=False, fontsize="small")
    fig.savefig(figure, dpi=80)
    return out


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "hyperspectral")]
    main(*given) if Path(given[0], "indian_pines_gt_u8.npy").is_file() else sys.exit(f"there is no picture in {given[0]}\n{__doc__}")
