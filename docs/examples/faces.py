"""Faces: what each latent variable does, and halves of faces that are filled from the other half, with error bars.

    python docs/examples/faces.py faces/olivetti_400x64x64_u8.npy [FIGURE]

Pictures (n x 64 x 64); ten of each person, one after the other. Without a path, the folder UNMIX_DATA is asked.
"""

import os
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unmix

SHOWN = (0, 14, 27, 33, 38)


def main(path, figure="faces.png"):
    pictures = np.load(path).astype(float)[:, ::2, ::2] / 255
    n, height, width = pictures.shape
    X = pictures.reshape(n, -1)
    # The last picture of each person is not in the fit; the other nine of the person are.
    new = np.arange(n) % 10 == 9
    model = unmix.PPCA().fit(X[~new])
    hidden = np.zeros((height, width), dtype=bool)
    hidden[:, width // 2 :] = True
    hidden = hidden.ravel()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the rows are not those of the fit is the point
        filled, std = model.impute(np.where(hidden, np.nan, X[new]), return_std=True)

    def error(of):
        return float(np.sqrt(np.mean((of - X[new])[:, hidden] ** 2)))

    mirrored = X[new].reshape(-1, height, width)[:, :, ::-1].reshape(len(filled), -1)
    found = {"components": model.n_components_, "ppca": error(filled), "mean": error(np.broadcast_to(model.mean_, filled.shape)), "mirror": error(mirrored)}
    print(f"{model.n_components_} components, by the Bayesian information criterion")
    print(f"root mean squared error of the hidden halves: {found['ppca']:.3f} by PPCA, {found['mirror']:.3f} by the mirrored half,")
    print(f"{found['mean']:.3f} by the mean face; pixels are from 0 to 1")
    off = np.abs(filled - X[new])[:, hidden] / std[:, hidden]
    found["inside"] = float(np.mean(off < 1.96))
    print(f"{100 * found['inside']:.1f} % of the hidden pixels are inside their 95 % intervals")
    fig = plt.figure(figsize=(10, 6.2), layout="constrained")
    above, below = fig.subfigures(2, 1, height_ratios=[1, 1])
    axes = above.subplots(3, 9)
    scale = model.latent_scale_
    for i, line in enumerate(axes):
        for step, ax in zip(np.linspace(-3, 3, 9), line, strict=True):
            face = model.mean_ + step * scale[i] * model.components_[i]
            ax.imshow(face.reshape(height, width), cmap="gray", vmin=0, vmax=1)
            ax.set_title(f"{step:+.3g}" if i == 0 else "", fontsize="small")
    above.suptitle("the mean face along the first three latent variables, in standard deviations", fontsize="medium")
    axes = below.subplots(3, len(SHOWN) + 4)
    for column, ax in zip(range(len(SHOWN)), axes.T, strict=False):
        i = SHOWN[column]
        half = np.where(hidden, 1.0, X[new][i])
        for at, picture in zip(ax, (half, filled[i], X[new][i]), strict=True):
            at.imshow(picture.reshape(height, width), cmap="gray", vmin=0, vmax=1)
    for ax in (*fig.axes,):
        ax.set_axis_off()
    below.suptitle("half a face, filled by the other half, the picture", fontsize="medium")
    fig.savefig(figure, dpi=110)
    return found


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "faces", "olivetti_400x64x64_u8.npy")]
    main(*given) if Path(given[0]).is_file() else sys.exit(f"there are no pictures at {given[0]}\n{__doc__}")
