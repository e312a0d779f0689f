"""The heartbeat of an unborn child, separated from recordings of eight electrodes on its mother.

    python docs/examples/heartbeat.py foetal_ecg.npy [FIGURE]

Eight channels as rows, 250 samples per second: five on the abdomen, three on the thorax. Without a path, the folder given by UNMIX_DATA is read.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import find_peaks

import unmix

RATE = 250


def beats(source):
    """Times of the beats of a source, and the variation of the intervals: small if these are beats of one heart."""
    upright = source * np.sign(np.mean(source**3))
    found, _ = find_peaks(upright, height=0.5 * np.quantile(upright, 0.995), distance=RATE // 4)
    steps = np.diff(found) / RATE
    return upright, found, 60 / np.median(steps), steps.std() / steps.mean()


def main(data, figure="heartbeat.png"):
    X = np.load(data).T
    ica = unmix.ICA(random_state=0).fit(X)
    hearts = [beats(source) for source in ica.transform(X).T]
    # Of the two heartbeats the faster one is the child's.
    mothers = [i for i, (_, _, rate, varies) in enumerate(hearts) if varies < 0.1 and rate < 105]
    child = min((i for i, heart in enumerate(hearts) if heart[2] > 105), key=lambda i: hearts[i][3])
    source, at, rate, varies = hearts[child]
    mother = hearts[mothers[0]]
    left = np.abs(source[mother[1]]).mean() / source[at].mean()
    print(f"mother: {len(mother[1])} beats, {mother[2]:.0f} a minute, in sources {mothers}")
    print(f"child: {len(at)} beats, {rate:.0f} a minute, in source {child}; the intervals between them vary by {100 * varies:.1f} %")
    print(f"at the beats of the mother, the child's source is at {100 * left:.0f} % of its amplitude at its own beats")
    rows = [("abdomen, as recorded", X[:, 0]), ("without the mother", ica.remove(X, mothers)[:, 0]), (f"source {child}", source)]
    fig, axes = plt.subplots(3, 1, sharex=True, figsize=(9, 4.6), layout="constrained")
    for ax, (name, y), colour in zip(axes, rows, ["0.35", "0.35", "C3"]):
        ax.plot(np.arange(len(y)) / RATE, y, color=colour, lw=0.8)
        ax.vlines(mother[1] / RATE, *ax.get_ylim(), color="C0", lw=5, alpha=0.15)
        ax.set_title(name, loc="left", fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
    axes[2].plot(at / RATE, source[at] * 1.15, "v", color="C3", ms=5)
    axes[2].set(xlabel="seconds (blue: beats of the mother; triangles: beats of the child)", xlim=(0, len(source) / RATE))
    fig.savefig(figure, dpi=110)
    return {"rate": rate, "beats": len(at), "varies": varies, "left": left}


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "ecg_fetal/foetal_ecg.npy")]
    main(*given) if Path(given[0]).is_file() else sys.exit(f"there is no file {given[0]}\n{__doc__}")
