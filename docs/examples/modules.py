"""Modules of cells and genes in sparse counts: which cell types they are.

    python docs/examples/modules.py gene_pbmc68k_700/ [FIGURE]

The folder holds X_lognorm.npy.gz (cells x genes), genes.txt, y.npy and classes.txt. Without a path, the folder given by UNMIX_DATA is read.
"""

import gzip
import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse

import unmix

SHOWN = 12


def main(folder, figure="modules.png"):
    with gzip.open(Path(folder, "X_lognorm.npy.gz")) as opened:
        X = scipy.sparse.csr_array(np.load(opened).astype(float))
    kind, kinds = np.load(Path(folder, "y.npy")), Path(folder, "classes.txt").read_text().splitlines()
    genes = Path(folder, "genes.txt").read_text().splitlines()
    rfn = unmix.RFN(30, init="ica", psi_min=0.3, max_iter=100, random_state=0)
    found = unmix.biclusters(rfn, X, n_starts=4, n_permutations=4)
    sure = np.flatnonzero(found.stability_ == 1)
    of_kind = np.array([[(kind[rows] == k).mean() for k in range(len(kinds))] for rows in found.rows_])
    share = np.bincount(kind, minlength=len(kinds)) / len(kind)
    best = (of_kind / share).argmax(axis=1)
    result = {"modules": len(found), "sure": len(sure), "stored": float(X.nnz / np.prod(X.shape)), "declared": int((found.q_value_ <= 0.1).sum())}
    result["pure"] = float(np.mean(of_kind[sure].max(axis=1) > 0.5))
    result["others"] = float(np.mean(np.delete(of_kind.max(axis=1), sure) > 0.5))
    print(f"{100 * result['stored']:.0f} % of the numbers are stored; {len(found)} modules, {len(sure)} found from all four starts, {result['declared']} with q of at most 0.1")
    for i in sure[:SHOWN]:
        up = [genes[j] for j in np.flatnonzero(found.signs_[i] == 1)][:5]
        print(f"  {found.rows_[i].sum():>3} cells, {100 * of_kind[i, best[i]]:3.0f} % {kinds[best[i]]} ({100 * share[best[i]]:.0f} % of all): {', '.join(up)}")
    print(f"more than half of the cells are of one type in {100 * result['pure']:.0f} % of them, and in {100 * result['others']:.0f} % of the others")
    fig, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    image = left.imshow(of_kind[sure[:SHOWN]].T, aspect="auto", cmap="Blues", vmin=0, vmax=1)
    left.set(xlabel="module, by decreasing evidence", yticks=range(len(kinds)), title="share of the cells of a module")
    left.set_yticklabels(kinds, fontsize="small")
    fig.colorbar(image, ax=left)
    unmix.plot.biclusters(found, X, n_modules=8, ax=right)
    fig.savefig(figure, dpi=110)
    return result


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "gene_pbmc68k_700")]
    main(*given) if Path(given[0], "classes.txt").is_file() else sys.exit(f"there are no cells in {given[0]}\n{__doc__}")
