"""Classes of tumours in the codes of two modes of a rectified factor network, compared with PCA and ICA.

    python docs/examples/modes.py gene_fabia_breast_a/ [FIGURE]

The folder holds X.npy (samples x genes) and y.npy. Without a path, the folder given by UNMIX_DATA is read.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import unmix

K, STARTS = 10, 5


def models(seed):
    return {
        "RFN, exact codes": unmix.RFN(K, e_step="coordinate", max_iter=100, random_state=seed),
        "RFN, plain": unmix.RFN(K, random_state=seed),
        "PCA": unmix.PCA(K, random_state=seed),
        "ICA": unmix.ICA(K, random_state=seed),
    }


def main(folder, figure="modes.png"):
    X, classes = np.load(Path(folder, "X.npy")).astype(float), np.load(Path(folder, "y.npy"))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found, codes = {name: [] for name in models(0)}, {}
    for seed in range(STARTS):
        for name, model in models(seed).items():
            code = model.fit_transform(X)
            codes.setdefault(name, code)
            labels = KMeans(len(set(classes)), n_init=20, random_state=seed).fit_predict(code)
            found[name].append(adjusted_rand_score(classes, labels))
    result = {name: float(np.mean(values)) for name, values in found.items()}
    for name, value in result.items():
        zeros = 100 * np.mean(codes[name] == 0)
        print(f"{name}: adjusted Rand index {value:.2f} ({min(found[name]):.2f} to {max(found[name]):.2f}), {zeros:.0f} % of the codes are 0")
    order = np.argsort(classes, kind="stable")
    fig, axes = plt.subplots(1, len(codes) + 1, figsize=(12, 3.8), layout="constrained", width_ratios=[1.4] + [1] * len(codes))
    axes[0].barh(list(result), list(result.values()), color=["C0", "C0", "0.7", "0.7"])
    axes[0].set(xlabel="agreement of clusters with classes")
    axes[0].invert_yaxis()
    for ax, (name, code) in zip(axes[1:], codes.items()):
        ax.imshow((code / np.abs(code).max(axis=0).clip(1e-9))[order], aspect="auto", cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
        ax.hlines(np.flatnonzero(np.diff(classes[order])) + 0.5, -0.5, K - 0.5, color="black", linewidth=0.8)
        ax.set(title=name, xlabel="unit", ylabel="samples by class" if ax is axes[1] else "")
    fig.savefig(figure, dpi=110)
    return result


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "gene_fabia_breast_a")]
    main(*given) if Path(given[0], "y.npy").is_file() else sys.exit(f"there are no samples in {given[0]}\n{__doc__}")
