"""Three simultaneous voices and three microphones: each voice is written to a separate file.

    python docs/examples/voices.py audio_lecturers3/ [FIGURE] [FOLDER]

A folder with `source1.wav`, `source2.wav`, `source3.wav` and `mixing_matrix.csv`, the amplitude of each in each microphone. The mixtures
and the estimated sources are written into FOLDER. Without a path, the folder given by UNMIX_DATA is read.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.io import wavfile

import unmix
from unmix.metrics import interference, matched_correlation


def main(folder, figure="voices.png", output="voices"):
    read = [wavfile.read(Path(folder, f"source{i}.wav")) for i in (1, 2, 3)]
    rate, voices = read[0][0], np.stack([sound.astype(float) for _, sound in read], axis=1)
    mixing = np.loadtxt(Path(folder, "mixing_matrix.csv"), delimiter=",") * voices.std(axis=0)
    voices /= voices.std(axis=0)
    X = voices @ mixing.T
    ica = unmix.ICA(random_state=0).fit(X)
    found = ica.transform(X)
    # Signal-to-interference ratio in decibels; the true voices are not used in the fit.
    before, after = interference(mixing), interference(ica, mixing)
    pairs = matched_correlation(voices, found)
    Path(output).mkdir(exist_ok=True)
    for name, sound in [("microphone", X), ("voice", found[:, pairs.order])]:
        for i, samples in enumerate((0.9 * 32767 * sound / np.abs(sound).max(axis=0)).astype(np.int16).T):
            wavfile.write(Path(output, f"{name}{i}.wav"), rate, samples)
    print(f"signal-to-interference ratios at the microphones: {', '.join(f'{x:.1f}' for x in before)} dB")
    print(f"in the estimated sources: {', '.join(f'{x:.1f}' for x in after[pairs.order])} dB")
    print(f"{X.shape[0]} samples, {ica.n_iter_} iterations; correlations with the truth from {pairs.cosine.min():.5f}")
    fig, axes = plt.subplots(3, 3, sharex=True, figsize=(9, 4.2), layout="constrained")
    part = slice(0, 6 * rate)
    columns = [("spoken", voices, "0.35"), ("at the microphones", X, "C1"), ("found", found[:, pairs.order] * pairs.sign, "C0")]
    for column, (name, sound, colour) in zip(axes.T, columns):
        column[0].set_title(name, fontsize="medium")
        for i, ax in enumerate(column):
            # The minimum and the maximum of each 600 samples look the same as all of them.
            pieces = sound[part, i].reshape(-1, 600)
            ax.fill_between(np.arange(len(pieces)) * 600 / rate, pieces.min(axis=1), pieces.max(axis=1), color=colour, lw=0)
            ax.set_yticks([])
            ax.spines[["top", "right", "left"]].set_visible(False)
            if name == "found":
                ax.set_title(f"{after[pairs.order[i]]:.0f} dB", loc="right", fontsize="small", y=0.8)
    axes[2][1].set_xlabel("seconds")
    fig.savefig(figure, dpi=110)
    return {"before": before.max(), "after": after.min()}


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "audio_lecturers3")]
    main(*given) if Path(given[0], "source1.wav").is_file() else sys.exit(f"there are no voices in {given[0]}\n{__doc__}")
