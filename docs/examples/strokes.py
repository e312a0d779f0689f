"""Strokes of handwritten digits: the decoder vectors of a rectified factor network as images.

    python docs/examples/strokes.py mnist/t10k-images-idx3-ubyte.gz [FIGURE]

Without a path, the folder given by UNMIX_DATA is read.
"""

import gzip
import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unmix

N, K, SIDE = 2000, 100, 28


def autocorrelation(picture):
    """Autocorrelation of an image at a shift of one pixel: the mean over the two directions."""
    x = picture.reshape(SIDE, SIDE) - picture.mean()
    return ((x[:, 1:] * x[:, :-1]).sum() + (x[1:] * x[:-1]).sum()) / (2 * (x * x).sum())


def main(path, figure="strokes.png"):
    with gzip.open(path) as opened:
        X = np.frombuffer(opened.read(), np.uint8, offset=16).reshape(-1, SIDE * SIDE)[:N] / np.float32(255)
    rfn = unmix.RFN(K, center="median", psi_min_unit="mean", max_iter=100, random_state=0).fit(X)
    pca = unmix.PCA(K, random_state=0).fit(X)
    codes = rfn.transform(X)
    smooth = {name: np.array([autocorrelation(row) for row in model.components_]) for name, model in {"RFN": rfn, "PCA": pca}.items()}
    result = {name: float((of > 0.5).mean()) for name, of in smooth.items()}
    result |= {"median": float(np.median(smooth["RFN"])), "zeros": float((codes == 0).mean())}
    result["left"] = float(((rfn.inverse_transform(codes) - X) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum())
    print(f"{100 * result['RFN']:.0f} % of {K} decoder vectors are smooth (autocorrelation at a pixel above 0.5, median {result['median']:.2f}); of PCA {100 * result['PCA']:.0f} %")
    print(f"{100 * result['zeros']:.0f} % of the codes are 0; {100 * result['left']:.0f} % of the variance is not explained")
    fig, axes = plt.subplots(1, 2, figsize=(10, 5.3), layout="constrained")
    for ax, (name, model) in zip(axes, {"decoder rows of RFN": rfn, "components of PCA": pca}.items()):
        rows = model.components_ / np.abs(model.components_).max(axis=1, keepdims=True)
        tiles = np.pad(rows.reshape(10, 10, SIDE, SIDE), ((0, 0), (0, 0), (1, 1), (1, 1)))
        ax.imshow(tiles.transpose(0, 2, 1, 3).reshape(10 * (SIDE + 2), -1), cmap="RdBu_r", vmin=-1, vmax=1)
        ax.set(title=name, xticks=[], yticks=[])
    fig.savefig(figure, dpi=64)
    return result


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "mnist", "t10k-images-idx3-ubyte.gz")]
    main(*given) if Path(given[0]).is_file() else sys.exit(f"there are no digits in {given[0]}\n{__doc__}")
