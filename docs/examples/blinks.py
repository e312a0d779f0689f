"""Blinks identified by their correlation with an eye channel, and removed from an EEG recording.

    python docs/examples/blinks.py eeg_eeglab/ [FIGURE]

A folder with `eeg_32ch_128hz.npy` (channels as rows, microvolts) and `channels.csv`. Without a path, the folder given by UNMIX_DATA is read.
"""

import csv
import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import butter, find_peaks, sosfiltfilt

import unmix

RATE = 128


def main(folder, figure="blinks.png"):
    table = list(csv.DictReader(Path(folder, "channels.csv").read_text().splitlines()))
    names = [row["label"] for row in table]
    # Slow drifts are not sources: they are removed by a high-pass filter at 1 Hz.
    X = sosfiltfilt(butter(2, 1, "high", fs=RATE, output="sos"), np.load(Path(folder, "eeg_32ch_128hz.npy")).T.astype(float), axis=0)
    front, back = names.index("FPz"), [i for i, name in enumerate(names) if name[0] in "PO"]
    eye = X[:, front] - X[:, names.index("EOG1")]  # from below the eye to above it: large when the lid falls
    ica = unmix.ICA(random_state=0).fit(X)
    likeness = ica.match(eye, X)[:, 0]
    blink = int(np.argmax(np.abs(likeness)))
    clean = ica.remove(X, [blink])
    at, _ = find_peaks(eye, height=150, distance=RATE // 2)
    during = np.convolve(np.isin(np.arange(len(X)), at), np.ones(RATE // 2), mode="same") > 0
    before, after, other = (y.std() for y in (X[during, front], clean[during, front], clean[~during, front]))
    removed = 1 - (np.cov(clean[:, front], eye)[0, 1] / np.cov(X[:, front], eye)[0, 1]) ** 2
    changed = 1 - clean[:, back].var(axis=0) / X[:, back].var(axis=0)
    print(f"source {blink}: correlation {abs(likeness[blink]):.2f} with the eye, the next {np.sort(np.abs(likeness))[-2]:.2f}")
    print(f"FPz during {len(at)} blinks: {before:.0f} -> {after:.0f} microvolts; at other times {other:.0f}")
    print(f"removed: {100 * removed:.1f} % of the variance that FPz shares with the eye, and at most {100 * changed.max():.1f} % at the back")
    angle, radius = (np.array([float(row[key]) for row in table]) for key in ("theta_deg", "radius"))
    places = radius[:, None] * np.column_stack([np.sin(np.radians(angle)), np.cos(np.radians(angle))])
    lines, scalp = ("FPz", "Fz", "Oz"), [i for i, name in enumerate(names) if "EOG" not in name]
    fig, axes = plt.subplot_mosaic([["map", name] for name in lines], width_ratios=[1, 3], figsize=(10, 4.2), layout="constrained")
    unmix.plot.topography(ica.mixing_[scalp, blink], places[scalp], axes["map"]).set_title(f"source {blink}, from above")
    first = at[np.argmax([np.sum((at >= i) & (at < i + 30 * RATE)) for i in at])] - RATE  # where blinks are frequent
    for name in lines:
        for data, colour, label in ((X, "C1", "as recorded"), (clean, "C0", "without the blinks")):
            part = data[first : first + 30 * RATE, names.index(name)]
            axes[name].plot(np.arange(30 * RATE) / RATE, part, color=colour, lw=0.7, label=label)
        axes[name].set(ylabel=f"{name}, µV", xlim=(0, 30))
    fig.legend(*axes["Oz"].get_legend_handles_labels(), frameon=False, ncols=2, loc="outside upper right")
    axes["Oz"].set_xlabel("seconds")
    fig.savefig(figure, dpi=110)
    return {"likeness": abs(likeness[blink]), "removed": removed, "changed": changed.max(), "before": before, "after": after}


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "eeg_eeglab")]
    main(*given) if Path(given[0], "channels.csv").is_file() else sys.exit(f"there is no recording in {given[0]}\n{__doc__}")
