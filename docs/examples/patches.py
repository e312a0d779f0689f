"""Patches of photographs by a sparse autoencoder, and by the lasso with a learned dictionary, at the same number of active atoms.

    python docs/examples/patches.py kodak8/ [FIGURE]     (a folder of photographs; without a path, from the folder UNMIX_DATA)
"""

import os
import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unmix

SIDE, ATOMS, ACTIVE = 8, 256, 6


def rows(files, n):
    """Patches without their means, divided by their common standard deviation."""
    X = unmix.read(files, patches=(SIDE, SIDE), grey=True, number=n).astype(np.float32)
    X -= X.mean(axis=1, keepdims=True)
    return np.random.default_rng(0).permutation(X / X.std())


def main(folder, figure="patches.png"):
    files = sorted(Path(folder).glob("*.png"))
    X, held = rows(files[:-2], 60_000), rows(files[-2:], 10_000)
    sae = unmix.SparseAutoencoder(ATOMS, l0=ACTIVE, max_epochs=10, random_state=0).fit(X)
    learned = unmix.DictionaryLearning(ATOMS, alpha=0.35, max_epochs=3, random_state=0).fit(X)
    # The penalty at which the lasso has as many active atoms, by bisection; then codes without its shrinkage.
    low, high = 0.01, 10.0
    while high / low > 1.02:
        alpha = np.sqrt(low * high)
        codes = unmix.SparseCoder(learned.components_, alpha=alpha, debias=True).fit(X).transform(held[:2000])
        low, high = (alpha, high) if (codes != 0).sum(axis=1).mean() > ACTIVE else (low, alpha)
    lasso = unmix.SparseCoder(learned.components_, alpha=high, debias=True).fit(X)
    pursuit = unmix.SparseCoder(learned.components_, algorithm="omp", n_nonzero_coefs=ACTIVE).fit(X)
    found, total = {}, ((held - held.mean(axis=0)) ** 2).sum()
    for name, model in {"sparse autoencoder": sae, "lasso": lasso, "matching pursuit": pursuit}.items():
        begun = time.perf_counter()
        codes, seconds = model.transform(held), time.perf_counter() - begun
        lost = ((held - model.inverse_transform(codes)) ** 2).sum() / total
        found[name] = {"lost": float(lost), "active": float((codes != 0).sum(axis=1).mean()), "seconds": seconds}
        print(f"{name}: {found[name]['active']:.2f} active atoms, {100 * lost:.1f} % of the variance lost")
    times = ", ".join(f"{name} {of['seconds']:.3g} s" for name, of in found.items())
    print(f"codes of {len(held)} held-out patches: {times}")
    fig, axes = plt.subplots(1, 2, figsize=(8, 4.3), layout="constrained", subplot_kw={"xticks": [], "yticks": []})
    for ax, (name, model) in zip(axes, {"sparse autoencoder": sae, "dictionary": learned}.items()):
        atoms = model.components_ / abs(model.components_).max(axis=1, keepdims=True)
        tiles = np.pad(atoms.reshape(16, 16, SIDE, SIDE), [(0, 0), (0, 0), (1, 0), (1, 0)])
        ax.imshow(tiles.transpose(0, 2, 1, 3).reshape(144, 144), cmap="RdBu_r", vmin=-1, vmax=1)
        ax.set_title(f"atoms of the {name}", fontsize="medium")
    fig.savefig(figure, dpi=80)
    return found


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "kodak8")]
    main(*given) if Path(given[0]).is_dir() else sys.exit(f"there is no folder of photographs {given[0]}\n{__doc__}")
