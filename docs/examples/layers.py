"""Codes of patches of photographs by a network of eight layers, and by steps of FISTA: how near to the optimum of the lasso.

    python docs/examples/layers.py kodak8/ [FIGURE]     (without a path, from the folder given by UNMIX_DATA)
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unmix

SIDE, ATOMS, ALPHA, LAYERS = 8, 256, 0.15, 8


def rows(files, n):  # Patches without their means, of length 1; flat ones are left out.
    X = unmix.read(files, patches=(SIDE, SIDE), grey=True, number=n).astype(np.float32)
    X -= X.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return (X / np.maximum(lengths, 1e-6))[lengths[:, 0] > 0.2]


def fista(X, A, steps):
    """The mean objective after each step from codes of 0."""
    size, codes, objective, t = np.linalg.norm(A @ A.T, 2), np.zeros((len(X), len(A)), X.dtype), [], 1.0
    ahead = codes
    for _ in range(steps):
        new = ahead - (ahead @ A - X) @ A.T / size
        new = np.sign(new) * np.maximum(np.abs(new) - ALPHA / size, 0)
        ahead, codes, t = new + (t - 1) / (later := (1 + np.sqrt(1 + 4 * t * t)) / 2) * (new - codes), new, later
        objective.append(float((0.5 * ((X - codes @ A) ** 2).sum(axis=1) + ALPHA * np.abs(codes).sum(axis=1)).mean()))
    return np.array(objective)


def main(folder, figure="layers.png", epochs=20):
    files = sorted(Path(folder).glob("*.png"))
    X, held = rows(files[:-2], 40_000), rows(files[-2:], 6000)[:2000]
    A = unmix.DictionaryLearning(ATOMS, alpha=ALPHA, max_epochs=2, random_state=0).fit(X).components_
    best = unmix.SparseCoder(A, alpha=ALPHA, tol=1e-6).fit(X[:1000]).quality(held).objective.mean()
    net = unmix.LISTA(A, alpha=ALPHA, n_layers=LAYERS, max_epochs=int(epochs), random_state=0).fit(X)
    by_fista = fista(held, A.astype(np.float32), 100) - best
    above = float(net.quality(held).objective.mean() - best)
    as_good = int(np.argmax(by_fista <= above)) + 1 if by_fista[-1] <= above else 101
    found = {"above": above / best, "fista8": float(by_fista[7] / best), "fista100": float(by_fista[-1] / best), "steps": as_good}
    print(f"{LAYERS} layers: {100 * found['above']:.2f} % above the optimum; {LAYERS} steps of FISTA {100 * found['fista8']:.2f} %, 100 steps {100 * found['fista100']:.3f} %")
    print(f"FISTA is as close after {as_good} steps" if as_good <= 100 else "FISTA is not as close after 100 steps")
    fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    ax.semilogy(range(1, 101), 100 * by_fista / best, label="FISTA, by step")
    ax.axhline(100 * found["above"], color="C1", label=f"LISTA of {LAYERS} layers, trained")
    ax.set(xlabel="steps", ylabel="above the optimum, %")
    ax.legend()
    fig.savefig(figure, dpi=80)
    return found


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "kodak8")]
    main(*given) if Path(given[0]).is_dir() else sys.exit(f"there is no folder of photographs {given[0]}\n{__doc__}")
