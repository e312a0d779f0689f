"""The background of two videos and the moving objects in front of it: robust PCA of frames.

    python docs/examples/background.py video/ [FIGURE]

The folder holds escalator_199x130x160_u8.npy.gz and highway_200x120x160_u8.npy.gz. Without a path, the folder given by UNMIX_DATA is read.
"""

import gzip
import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unmix

SHOWN = {"escalator": 24, "highway": 20}


def frames(folder, name):
    """Every fourth frame, every second pixel of both directions; grey levels from 0 to 1."""
    (path,) = Path(folder).glob(f"{name}_*_u8.npy.gz")
    with gzip.open(path) as opened:
        return np.load(opened)[::4, ::2, ::2] / 255.0


def main(folder, figure="background.png"):
    fig, panels = plt.subplots(2, 4, figsize=(11, 4.6), layout="constrained")
    found = {}
    for line, (name, shown) in zip(panels, SHOWN.items()):
        video = frames(folder, name)
        shape, X = video.shape[1:], video.reshape(len(video), -1)
        # Exactly low rank plus sparse, without a noise term.
        model = unmix.RobustPCA(noise=0, tol=1e-5, random_state=0).fit(X)
        background, objects = model.low_rank_, model.sparse_
        share = float(np.mean(abs(objects) > 0.1))
        # PCA of the same rank includes part of the moving objects in the background.
        plain = unmix.PCA(model.n_components_).fit(X)
        moving = abs(objects) > 0.1
        left = [float(np.mean(abs(part - np.median(X, axis=0))[moving])) for part in (background, plain.inverse_transform(plain.transform(X)))]
        found[name] = {"rank": model.n_components_, "share": share, "robust": left[0], "pca": left[1]}
        print(f"{name}: {len(X)} frames, background of rank {model.n_components_}, {100 * share:.1f} % of the pixels move;")
        print(f"  the background there differs from its median by {left[0]:.3f}, by {left[1]:.3f} with PCA of that rank")
        pictures = {"frame": X[shown], "background": background[shown], "moving objects": objects[shown], "PCA": plain.inverse_transform(plain.transform(X))[shown]}
        for ax, (title, picture) in zip(line, pictures.items()):
            style = {"cmap": "RdBu_r", "vmin": -0.5, "vmax": 0.5} if title == "moving objects" else {"cmap": "gray", "vmin": 0, "vmax": 1}
            ax.imshow(picture.reshape(shape), **style)
            ax.set(xticks=[], yticks=[], title=title)
        line[0].set_ylabel(name)
    fig.savefig(figure, dpi=110)
    return found


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "video")]
    main(*given) if list(Path(given[0]).glob("highway*")) else sys.exit(f"there are no videos in {given[0]}\n{__doc__}")
