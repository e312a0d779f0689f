"""A photograph of which half of the pixels are missing, filled in by atoms that are learned from the remaining pixels.

    python docs/examples/holes.py images_pypi/camera.png [FIGURE]     (without a path, from the folder given by UNMIX_DATA)
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import unmix
from PIL import Image
from scipy.interpolate import griddata

SIDE, STEP, ALPHA = 8, 2, 20.0
patches = lambda picture, step: np.lib.stride_tricks.sliding_window_view(picture, (SIDE, SIDE))[::step, ::step]  # noqa: E731


def linear(holed):
    """Linear interpolation between the pixels that are left, on their Delaunay triangles; the nearest one outside of them."""
    left, whole = np.argwhere(~np.isnan(holed)), np.indices(holed.shape).reshape(2, -1).T
    found, nearest = (griddata(left, holed[tuple(left.T)], whole, how).reshape(holed.shape) for how in ("linear", "nearest"))
    return np.where(np.isnan(found), nearest, found)


def by_atoms(holed, atoms):
    """Every second patch coded by its observed pixels alone; the missing ones are means over the patches that overlap."""
    views = patches(holed, STEP)
    X = (views - (means := np.nanmean(views, axis=(2, 3), keepdims=True))).reshape(-1, SIDE**2)
    filled = unmix.SparseCoder(atoms, alpha=ALPHA).fit(np.nan_to_num(X)).impute(X).reshape(views.shape) + means
    total, count = np.zeros((2, *holed.shape))
    for i, j in np.ndindex(SIDE, SIDE):
        at = tuple(slice(k, k + STEP * n, STEP) for k, n in zip((i, j), views.shape))
        total[at], count[at] = total[at] + filled[:, :, i, j], count[at] + 1
    return np.where(np.isnan(holed), total / count, holed)


def main(path, figure="holes.png"):
    picture, draw = np.asarray(Image.open(path).convert("L"), dtype=float)[:512, :512], np.random.default_rng(0)
    holed = np.where(draw.random(picture.shape) < 0.5, np.nan, picture)
    filled = straight = linear(holed)
    for _ in range(2):  # the second time from the picture that the first one gives
        X = draw.permutation(patches(filled, 1).reshape(-1, SIDE**2))[:20_000]
        learned = unmix.DictionaryLearning(256, init="dct", alpha=ALPHA, max_epochs=2, random_state=0).fit(X - X.mean(axis=1, keepdims=True))
        filled = by_atoms(holed, learned.components_)
    pictures = {"linear interpolation": straight, "learned atoms": filled}
    found = {name: 10 * np.log10(255**2 / np.mean((of - picture) ** 2)) for name, of in pictures.items()}
    print("; ".join(f"{name}: {decibels:.2f} dB" for name, decibels in found.items()))
    fig, axes = plt.subplots(1, 4, figsize=(12, 3.3), layout="constrained", subplot_kw={"xticks": [], "yticks": []})
    for ax, (name, of) in zip(axes, {"half of the pixels": holed, **pictures, "the photograph": picture}.items()):
        ax.imshow(of[80:200, 180:300], cmap="gray", vmin=0, vmax=255)
        ax.set_title(f"{name}: {found[name]:.2f} dB" if name in found else name, fontsize="medium")
    fig.savefig(figure, dpi=64)
    return found


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "images_pypi", "camera.png")]
    main(*given) if Path(given[0]).is_file() else sys.exit(f"there is no photograph {given[0]}\n{__doc__}")
