"""MNE-Python's ICA with unmix's solvers: blinks removed from a recording.

    python docs/examples/mne_ica.py eeg_32ch_128hz.npy channels.csv

An array of channels as rows, in microvolts, and a table whose column ``label`` (or first column) names them. Without arguments a recording
is simulated.
"""

import csv
import sys

import numpy as np

import unmix.compat


def recording(arguments):
    if arguments:
        with open(arguments[1], newline="") as lines:
            table = list(csv.DictReader(lines))
        names = [row.get("label") or next(iter(row.values())) for row in table]
        return np.load(arguments[0]).astype(float), names
    draw = np.random.RandomState(0)
    n = 20_000
    blinks = np.convolve(draw.rand(n) < 0.002, np.hanning(40), mode="same")
    sources = np.vstack([blinks * 300, draw.laplace(size=(7, n)) * 10])
    return draw.randn(8, 8) @ sources, [f"E{i}" for i in range(8)]


def main():
    try:
        import mne
    except ImportError:
        print("this example needs mne: pip install mne")
        return
    data, names = recording(sys.argv[1:])
    raw = mne.io.RawArray(data * 1e-6, mne.create_info(names, 128.0, "eeg"), verbose="error")
    raw.filter(1.0, None, verbose="error")
    with unmix.compat.mne():
        ica = mne.preprocessing.ICA(n_components=min(15, len(names)), method="picard", random_state=0, verbose="error")
        ica.fit(raw, verbose="error")
    sources = ica.get_sources(raw).get_data()
    kurtosis = np.mean(sources**4, axis=1) / np.mean(sources**2, axis=1) ** 2 - 3
    blink = int(np.argmax(kurtosis))
    ica.exclude = [blink]
    clean = ica.apply(raw.copy(), verbose="error").get_data()
    before, after = (np.abs(x).max() * 1e6 for x in (raw.get_data(), clean))
    print(f"source {blink} of {ica.n_components_} has kurtosis {kurtosis[blink]:.0f}; without it the largest amplitude decreases")
    print(f"from {before:.0f} to {after:.0f} microvolts after {ica.n_iter_} iterations")


if __name__ == "__main__":
    main()
