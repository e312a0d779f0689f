"""Gene expression in single cells: hidden values predicted by a low-rank model.

    python docs/examples/genes.py gene_pbmc68k_700/ [FIGURE]

The folder holds X_lognorm.npy.gz (cells x genes), y.npy and classes.txt. Without a path, the folder given by UNMIX_DATA is read.
"""

import gzip
import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import unmix

LEVELS = np.linspace(0.5, 0.99, 50)


def main(folder, figure="genes.png"):
    with gzip.open(Path(folder, "X_lognorm.npy.gz")) as opened:
        X = np.load(opened).astype(float)
    kind, kinds = np.load(Path(folder, "y.npy")), Path(folder, "classes.txt").read_text().splitlines()
    hidden = np.random.default_rng(0).random(X.shape) < 0.1
    known = np.where(hidden, np.nan, X)
    truth = X[hidden]
    models = {"completion": unmix.MatrixCompletion(random_state=0), "PPCA": unmix.PPCA(random_state=0)}
    filled = {name: model.fit(known).impute(known, return_std=True, bootstrap=0) for name, model in models.items()}
    filled["means of genes"] = (np.broadcast_to(np.nanmean(known, axis=0), X.shape), None)
    by_kind = np.array([np.nanmean(known[kind == k], axis=0) for k in range(len(kinds))])
    filled["means of cell types"] = (by_kind[kind], None)
    error = {name: float(np.sqrt(np.mean((values[hidden] - truth) ** 2))) for name, (values, _) in filled.items()}
    values, std = (of[hidden] for of in filled["completion"])
    inside = [100 * float(np.mean(np.abs(values - truth) < norm.ppf(0.5 + level / 2) * std)) for level in LEVELS]
    for name, value in error.items():
        print(f"error of {hidden.sum()} hidden values by {name}: {value:.3f}")
    error |= {"inside": float(np.interp(0.9, LEVELS, inside)), "factors": models["completion"].n_components_}
    print("{factors} factors; {inside:.1f} % of the hidden values are inside their 90 % intervals".format(**error))
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    left.barh(list(filled), [error[name] for name in filled], color=["C0", "C0", "0.7", "0.7"])
    left.set(xlabel="error of hidden values", xlim=(0.5, None))
    left.invert_yaxis()
    image = middle.hexbin(values, truth, gridsize=40, bins="log", cmap="viridis", mincnt=1)
    middle.plot([0, 6], [0, 6], color="C3", linewidth=1)
    middle.set(xlabel="filled", ylabel="hidden value")
    fig.colorbar(image, ax=middle, label="values")
    right.plot([50, 100], [50, 100], color="0.6", linewidth=1)
    right.plot(100 * LEVELS, inside, color="C0")
    right.set(xlabel="level of the interval, %", ylabel="hidden values inside, %")
    fig.savefig(figure, dpi=110)
    return error


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "gene_pbmc68k_700")]
    main(*given) if Path(given[0], "classes.txt").is_file() else sys.exit(f"there are no cells in {given[0]}\n{__doc__}")
