"""A photograph with noise, denoised by atoms that are learned from the noisy photograph itself.

    python docs/examples/denoise.py images_pypi/camera.png [FIGURE]     (without a path, from the folder given by UNMIX_DATA)
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import unmix

NOISE, SIDE, STEP = 25.0, 8, 2


def cosines():
    """256 products of cosines: the overcomplete discrete cosine transform."""
    waves = np.cos(np.pi / 16 * np.arange(16)[:, None] * np.arange(SIDE))
    waves[1:] -= waves[1:].mean(axis=1, keepdims=True)
    return (atoms := np.kron(waves, waves)) / np.linalg.norm(atoms, axis=1, keepdims=True)


def denoised(noisy, atoms):
    """The mean over patches that overlap, each coded by as few atoms as reach the size of the noise."""
    views = np.lib.stride_tricks.sliding_window_view(noisy, (SIDE, SIDE))[::STEP, ::STEP]
    X = (views - (means := views.mean(axis=(2, 3), keepdims=True))).reshape(-1, SIDE**2).astype(np.float32)
    coder = unmix.SparseCoder(atoms, algorithm="omp", max_squared_error=(1.15 * NOISE * SIDE) ** 2, sparse_output=True).fit(X[:1000])
    codes, (total, count) = coder.transform(X), np.zeros((2, *noisy.shape))
    patches = coder.inverse_transform(codes).reshape(views.shape) + means
    for i, j in np.ndindex(SIDE, SIDE):
        at = tuple(slice(k, k + STEP * n, STEP) for k, n in zip((i, j), views.shape))
        total[at], count[at] = total[at] + patches[:, :, i, j], count[at] + 1
    return total / count, codes.nnz / len(X)


def main(path, figure="denoise.png"):
    picture, draw = np.asarray(Image.open(path).convert("L"), dtype=float)[:512, :512], np.random.default_rng(0)
    noisy = picture + NOISE * draw.standard_normal(picture.shape)
    X = draw.permutation(np.lib.stride_tricks.sliding_window_view(noisy, (SIDE, SIDE)).reshape(-1, SIDE**2))[:20_000].astype(np.float32)
    learned = unmix.DictionaryLearning(256, dict_init=cosines(), alpha=3 * NOISE, max_epochs=2, random_state=0).fit(X - X.mean(axis=1, keepdims=True))
    (by_cosines, more), (by_learned, few) = (denoised(noisy, atoms) for atoms in (cosines(), learned.components_))
    pictures = {"noisy": noisy, "cosines": by_cosines, "learned": by_learned}
    found = {name: 10 * np.log10(255**2 / np.mean((of - picture) ** 2)) for name, of in pictures.items()}
    print(f"noisy: {found['noisy']:.2f} dB; by cosines: {found['cosines']:.2f} dB, {more:.2f} atoms a patch; by learned atoms: {found['learned']:.2f} dB, {few:.2f}")
    fig, axes = plt.subplots(1, 4, figsize=(12, 3.3), layout="constrained", subplot_kw={"xticks": [], "yticks": []})
    for ax, (name, of) in zip(axes, pictures.items()):
        ax.imshow(of[60:260, 150:350], cmap="gray", vmin=0, vmax=255)
        ax.set_title(f"{name}: {found[name]:.2f} dB", fontsize="medium")
    tiles = np.pad((learned.components_ / abs(learned.components_).max(axis=1, keepdims=True)).reshape(16, 16, SIDE, SIDE), [(0, 0), (0, 0), (1, 0), (1, 0)])
    axes[3].imshow(tiles.transpose(0, 2, 1, 3).reshape(144, 144), cmap="RdBu_r", vmin=-1, vmax=1)
    fig.savefig(figure, dpi=64)
    return found


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "images_pypi", "camera.png")]
    main(*given) if Path(given[0]).is_file() else sys.exit(f"there is no photograph {given[0]}\n{__doc__}")
