"""A voice with repeated dropouts of a few milliseconds, imputed by atoms that are learned from the rest of it.

    python docs/examples/dropouts.py audio_speech2/source1.wav [FIGURE]     (without a path, from the folder given by UNMIX_DATA)
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import unmix
from scipy.io import wavfile

FRAME, STEP, EVERY = 256, 32, 0.05
windows = lambda sound: np.lib.stride_tricks.sliding_window_view(sound, FRAME)[::STEP]  # noqa: E731


def by_atoms(lost, atoms, alpha):
    """Frames coded by their observed samples alone; lost samples are weighted means over the frames, those in the middle of a frame count most."""
    X, weight = windows(lost), np.hanning(FRAME + 2)[1:-1]
    some = np.isnan(X).any(axis=1) & ~np.isnan(X).all(axis=1)
    filled = unmix.SparseCoder(atoms, alpha=alpha).fit(np.nan_to_num(X)).impute(X[some])
    total, count = np.zeros((2, len(lost)))
    for start, frame in zip(STEP * np.flatnonzero(some), filled):
        at = slice(start, start + FRAME)
        total[at], count[at] = total[at] + weight * frame, count[at] + weight
    return np.where(np.isnan(lost) & (count > 0), total / np.maximum(count, 1e-12), np.nan_to_num(lost))


def main(path, figure="dropouts.png"):
    rate, sound = wavfile.read(path)
    sound, time, found = sound - sound.mean(), np.arange(len(sound)), {}
    alpha = 0.05 * np.sqrt(np.mean(sound**2) * FRAME)
    for milliseconds in (1, 2, 5):
        length = int(rate * milliseconds / 1000)
        holes = (time > FRAME) & (time % int(EVERY * rate) < length)
        lost = np.where(holes, np.nan, sound)
        whole = np.random.default_rng(0).permutation(windows(lost)[~np.isnan(windows(lost)).any(axis=1)])[:10_000]
        learned = unmix.DictionaryLearning(384, init="dct", alpha=alpha, max_epochs=2, random_state=0).fit(whole)
        ways = {"linear": np.interp(time, time[~holes], sound[~holes]), "atoms": by_atoms(lost, learned.components_, alpha)}
        found[milliseconds] = {name: 10 * np.log10(np.sum(sound[holes] ** 2) / np.sum((way - sound)[holes] ** 2)) for name, way in ways.items()}
        print(f"gaps of {milliseconds} ms: " + ", ".join(f"{name} {decibels:.2f} dB" for name, decibels in found[milliseconds].items()))
    # Of the longest gaps the one whose energy is the upper quartile.
    gaps = sorted(np.flatnonzero(np.diff(holes.astype(int)) == 1), key=lambda i: np.sum(sound[i : i + length] ** 2))
    span = slice((at := gaps[3 * len(gaps) // 4]) - 2 * length, at + 3 * length)
    fig, ax = plt.subplots(figsize=(10, 2.8), layout="constrained")
    for name, way in {**ways, "the voice": sound}.items():
        label, style = (f"{name}, {found[5][name]:.1f} dB", "-") if name in ways else (name, "k--")
        ax.plot(1000 * time[span] / rate, way[span], style, lw=1, label=label)
    ax.axvspan(1000 * (at + 1) / rate, 1000 * (at + length) / rate, color="0.9")
    ax.set(xlabel="milliseconds", yticks=[])
    ax.legend(fontsize="small", loc="lower left")
    fig.savefig(figure, dpi=80)
    return found


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "audio_speech2", "source1.wav")]
    main(*given) if Path(given[0]).is_file() else sys.exit(f"there is no recording {given[0]}\n{__doc__}")
