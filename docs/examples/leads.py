"""Dropouts in leads of an electrocardiogram, imputed from the other leads.

    python docs/examples/leads.py ecg_ptb/ [FIGURE]

The folder holds ecg_15lead_1000hz_int16.npy (leads x time) and leads.txt. Without a path, the folder given by UNMIX_DATA is read.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unmix

SHOWN = ("v2", "v5", "vz")


def dropped(n, p, rate):
    """Cells that are lost: each lead is lost repeatedly, for half a second to two seconds."""
    draw, lost = np.random.default_rng(0), np.zeros((n, p), dtype=bool)
    for lead in range(p):
        for start in draw.integers(n, size=n // (5 * rate)):
            lost[start : start + int(draw.uniform(0.5, 2) * rate), lead] = True
    return lost


def main(folder, figure="leads.png"):
    rate, names = 250, Path(folder, "leads.txt").read_text().split()
    X = np.load(Path(folder, "ecg_15lead_1000hz_int16.npy")).T[::4] / 2000.0
    lost = dropped(*X.shape, rate)
    model = unmix.FactorAnalysis(n_components=8, noise_floor=1e-4).fit(np.where(lost, np.nan, X))
    filled, std = model.impute(np.where(lost, np.nan, X), return_std=True, bootstrap=0)
    error = [np.sqrt(np.mean((filled - X)[lost[:, j], j] ** 2)) for j in range(len(names))]
    found = {"lost": float(lost.mean()), "error": float(np.sqrt(np.mean((filled - X)[lost] ** 2)))}
    found["size"] = float(np.sqrt(np.mean((X - X.mean(axis=0))[lost] ** 2)))
    found["inside"] = float(np.mean(np.abs(filled - X)[lost] < 1.96 * std[lost]))
    print(f"{found['lost']:.0%} of the cells are lost; error: {1e3 * found['error']:.0f} microvolts of a signal of {1e3 * found['size']:.0f}")
    print(f"{found['inside']:.0%} of them are inside their 95 % intervals")
    fig, axes = plt.subplots(len(SHOWN), 1, figsize=(9.6, 6), layout="constrained")
    for ax, name, j in zip(axes, SHOWN, map(names.index, SHOWN), strict=True):
        first = np.flatnonzero(lost[4 * rate :, j])[0] + 3 * rate  # a second before the lead is lost
        at = slice(first, first + 6 * rate)
        time, gone = np.arange(len(X))[at] / rate, np.where(lost[at, j], filled[at, j], np.nan)
        ax.plot(time, X[at, j], color="0.75", linewidth=2.5, label="recorded")
        ax.plot(time, np.where(lost[at, j], np.nan, X[at, j]), color="0.2", linewidth=0.8, label="known")
        ax.fill_between(time, gone - 1.96 * std[at, j], gone + 1.96 * std[at, j], color="C1", alpha=0.4, label="95 % interval")
        ax.plot(time, gone, color="C3", linewidth=0.8, label="filled")
        ax.set(ylabel=f"{name}, mV", xlim=(time[0], time[-1]))
        ax.set_title(f"where {name} is lost: {1e3 * error[j]:.0f} microvolts", loc="left", fontsize="small")
    axes[0].legend(frameon=False, ncols=4, fontsize="small", loc="lower right", bbox_to_anchor=(1, 1))
    axes[-1].set_xlabel("seconds")
    fig.savefig(figure, dpi=110)
    return found


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "ecg_ptb")]
    main(*given) if Path(given[0], "leads.txt").is_file() else sys.exit(f"there is no recording in {given[0]}\n{__doc__}")
