"""Three synthetic voices for `voices.py`, free to use and redistribute.

    python docs/examples/made_up_voices.py FOLDER

Each is a train of pulses at a pitch that drifts, through three resonances of the throat (formants) that change from syllable to
syllable, with breath noise at the onset of each and pauses between words. Ten seconds at 16 kHz, the same each time. The results
in FOLDER are `source1.wav`, `source2.wav`, `source3.wav`, and `mixing_matrix.csv`: the amplitude of each in each of three microphones.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.io import wavfile
from scipy.signal import lfilter

RATE, SECONDS = 16_000, 10
VOWELS = np.array([[730, 1090, 2440], [270, 2290, 3010], [300, 870, 2240], [530, 1840, 2480], [570, 840, 2410]])  # Hz, for a man
MIXING = [[1.0, 0.6, 0.4], [0.5, 1.0, 0.6], [0.3, 0.5, 1.0]]


def syllable(rng, pitch, throat, length):
    """``length`` samples of one vowel at ``pitch`` Hz; ``throat`` scales its formants, as a shorter throat does."""
    t = np.arange(length) / length
    phase = np.cumsum(pitch * (1.1 - 0.2 * t) / RATE + 0.002 * rng.standard_normal(length) / np.sqrt(RATE))
    sound = np.diff(np.floor(phase), prepend=0.0) + 0.02 * rng.standard_normal(length)
    for centre, width in zip(throat * rng.permutation(VOWELS)[0], (80, 100, 150)):
        r, angle = np.exp(-np.pi * width / RATE), 2 * np.pi * centre / RATE
        sound = lfilter([1 - r], [1, -2 * r * np.cos(angle), r * r], sound)
    breath = 0.3 * sound.std() * rng.standard_normal(length) * np.exp(-t * 25)
    return (sound / sound.std() + breath / sound.std()) * np.sin(np.pi * t) ** 0.6 * rng.uniform(0.4, 1)


def voice(rng, pitch, throat):
    """Words of one to four syllables with pauses between them, of the given duration."""
    parts, length = [], 0
    while length < RATE * SECONDS:
        for _ in range(rng.integers(1, 5)):
            parts.append(syllable(rng, pitch * rng.uniform(0.9, 1.15), throat, int(RATE * rng.uniform(0.1, 0.28))))
        parts.append(np.zeros(int(RATE * rng.uniform(0.08, 0.5))))
        length = sum(map(len, parts))
    return np.concatenate(parts)[: RATE * SECONDS]


def main(folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for i, (pitch, throat) in enumerate([(105, 1.0), (190, 1.16), (240, 1.25)]):
        sound = voice(np.random.default_rng([16, i]), pitch, throat)
        wavfile.write(Path(folder, f"source{i + 1}.wav"), RATE, (0.9 * 32767 * sound / abs(sound).max()).astype(np.int16))
    np.savetxt(Path(folder, "mixing_matrix.csv"), MIXING, delimiter=",", fmt="%g")


if __name__ == "__main__":
    main(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
