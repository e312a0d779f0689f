"""Activations of a small language model as sums of few units, and the words that activate each unit.

    python docs/examples/activations.py activations_minilm/ [FIGURE]

The folder holds layer3_tokens_x384_f2.npy and tokens.txt. Without a path, the folder given by UNMIX_DATA is read.
"""

import os
import sys
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unmix

TRAIN, UNITS, SHOWN = 12_000, 1536, 6
CLASSES = {
    "pronoun": "i me my you your he him his she her it its we us our they them their who",
    "preposition": "of in to with for at by on from into upon after before between",
    "punctuation": ", . ; : ! ? \" ' - _",
    "auxiliary": "am is are was were be been have has had do did does will would could should may might must shall can",
}


def main(folder, figure="activations.png", epochs=12):
    X = np.load(Path(folder, "layer3_tokens_x384_f2.npy")).astype(np.float32)
    tokens = Path(folder, "tokens.txt").read_text().split("\n")[: len(X)]
    sae = unmix.SparseAutoencoder(UNITS, l0=32, max_epochs=int(epochs), random_state=0).fit(X[:TRAIN])
    other = unmix.SparseAutoencoder(UNITS, l0=32, max_epochs=int(epochs), random_state=1).fit(X[:TRAIN])
    held, codes = sae.evaluate(X[TRAIN:]), sae.transform(X)
    found = {"fvu": held.fvu, "pca": held.fvu_pca, "omp": held.fvu_omp, "dead": held.dead}
    again = np.abs(unmix.metrics.match(sae.components_, other.components_).cosine)
    draw = np.random.default_rng(0).standard_normal((2, UNITS, X.shape[1]))
    draw /= np.linalg.norm(draw, axis=2, keepdims=True)
    found |= {"again": float((again >= 0.7).mean()), "alike": float(again.mean()), "chance": float((draw[0, :200] @ draw[1].T).max(axis=1).mean())}
    word_class = {word: name for name, words in CLASSES.items() for word in words.split()}
    labels = np.array([word_class.get(token, "other") for token in tokens])
    probed = unmix.metrics.sparse_probing(codes, labels, k=(1, 5), X=X)
    print(f"held-out rows: {100 * held.fvu:.1f} % of the variance is lost by {held.l0:.0f} units, {100 * held.fvu_pca:.1f} % by as many components of PCA")
    print(f"a second seed: {100 * found['again']:.1f} % of the units have a match (cosine at least 0.7); mean cosine {found['alike']:.2f}, chance {found['chance']:.2f}")
    for name, unit, column in zip(probed.labels, probed.codes, probed.columns):
        found[str(name)] = (float(unit[0]), float(column[0]))
        print(f"{name}: best unit {unit[0]:.2f}, five units {unit[1]:.2f}; best column {column[0]:.2f}, five columns {column[1]:.2f}")
    fig, axes = plt.subplots(2, 3, figsize=(12, 4.4), layout="constrained")
    rows = sae.top_rows(X, n=30).rows
    use = (codes > 0).mean(axis=0)
    for ax, unit in zip(axes.flat, np.flatnonzero((use > 0.003) & (use < 0.03))[:: max(1, UNITS // 60)][:SHOWN]):
        counts = Counter(tokens[i] for i in rows[unit] if i >= 0).most_common(5)
        ax.barh([word for word, _ in counts][::-1], [count for _, count in counts][::-1], color="C0", alpha=0.7)
        ax.set(title=f"unit {unit}: active in {100 * use[unit]:.1f} % of the rows", xlabel="of its 30 strongest rows")
    fig.savefig(figure, dpi=80)
    return found


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "activations_minilm")]
    main(*given) if Path(given[0], "tokens.txt").is_file() else sys.exit(f"there are no activations in {given[0]}\n{__doc__}")
