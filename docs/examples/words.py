"""Words as sums of few atoms that are named after words: the meanings of a word are separated.

    python docs/examples/words.py word_vectors/ [FIGURE]

The folder holds glove6b_100d_top10000_f4.npy and words.txt. Without a path, the folder given by UNMIX_DATA is read.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unmix

ATOMS, SHOWN = 400, ("apple", "bank", "spring", "paris", "piano", "king")


def main(folder, figure="words.png"):
    X = np.load(Path(folder, "glove6b_100d_top10000_f4.npy"))
    words = Path(folder, "words.txt").read_text().splitlines()[: len(X)]
    X = X - X.mean(axis=0)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    # Codes are not negative, so that an atom has one meaning: that of the words with the largest codes.
    model = unmix.DictionaryLearning(ATOMS, alpha=0.3, positive_code=True, max_epochs=3, random_state=0).fit(X)
    codes = model.transform(X)
    top = np.argsort(-codes, axis=0, kind="stable")[:8]
    names = ["/".join(words[i] for i in column) for column in top[:3].T]
    among = np.array([np.corrcoef(X[column])[np.triu_indices(8, 1)].mean() for column in top.T])
    draw = np.random.default_rng(0)
    chance = np.mean([np.corrcoef(X[draw.choice(len(X), 8)])[np.triu_indices(8, 1)].mean() for _ in range(200)])
    found = {"atoms": float((codes != 0).sum(axis=1).mean()), "kept": float(1 - ((X - codes @ model.components_) ** 2).sum() / (X**2).sum())}
    found |= {"alike": float(np.median(among)), "chance": float(round(chance, 2)) + 0.0, "named": float(np.mean(among > 0.3))}
    print(f"{len(X)} words, {ATOMS} atoms, {found['atoms']:.1f} of them for a word, {100 * found['kept']:.0f} % of the variance")
    print(f"the eight words that use an atom most correlate by {found['alike']:.2f} (median over atoms), eight random ones by {found['chance']:.2f}")
    fig, axes = plt.subplots(2, 3, figsize=(12, 3.6), layout="constrained")
    for ax, word in zip(axes.flat, SHOWN):
        code = codes[words.index(word)]
        used = [j for j in np.argsort(-code)[:4] if code[j] > 0.02]
        print(f"{word} = " + " + ".join(f"{code[j]:.2f} {names[j]}" for j in used[:2]))
        ax.barh(range(len(used)), code[used], color="C0", alpha=0.6)
        for y, j in enumerate(used):
            ax.text(0.01, y, names[j], va="center", fontsize="small")
        ax.set(title=word, yticks=[], ylim=(3.6, -0.6), xlim=(0, 0.6))
        ax.spines[["top", "right", "left"]].set_visible(False)
    fig.savefig(figure, dpi=100)
    return found


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "word_vectors")]
    main(*given) if Path(given[0], "words.txt").is_file() else sys.exit(f"there are no word vectors in {given[0]}\n{__doc__}")
