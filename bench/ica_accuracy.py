"""Accuracy of estimated sources, compared with other packages with the same contrast: writes the table of docs/ica.md.

    bench/.venv/bin/python bench/ica_accuracy.py [--write]

Every input is mixed by a square matrix of normal numbers, five times; all packages start at the same rotation and iterate to
convergence. Numbers are medians of the Amari distance.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import unmix
from picard import picard
from sklearn.decomposition import FastICA

PAGE = Path(__file__).resolve().parent.parent / "docs" / "ica.md"
BEGIN, END = "<!-- accuracy: bench/ica_accuracy.py -->", "<!-- /accuracy -->"

KINDS = ["laplace", "uniform", "bernoulli-gaussian", "student-6"]
HEAVY = ["laplace", "logistic", "student-5", "bernoulli-gaussian", "exponential", "student-6", "laplace", "bernoulli-gaussian"]
LIGHT = ["uniform", "arcsine", "bimodal", "laplace-pair", "two-humps-apart", "two-humps-near", "four-humps-apart", "four-humps-near"]
UNEVEN = [f"{n}-uneven-humps-{d}" for n in ("two", "four") for d in ("apart", "near")] + ["exponential", "laplace", "uniform", "arcsine"]
INPUTS = [
    ("four kinds, 2000x8", KINDS * 2, 2_000),
    ("four kinds, 20000x8", KINDS * 2, 20_000),
    ("four kinds, 20000x20", KINDS * 5, 20_000),
    ("heavy tails, 5000x8", HEAVY, 5_000),
    ("light tails, 5000x8", LIGHT, 5_000),
    ("asymmetric mixtures, 5000x8", UNEVEN, 5_000),
    ("all three, 20000x24", HEAVY + LIGHT + UNEVEN, 20_000),
]


def ours(**settings):
    return lambda X, W: unmix.ICA(tol=1e-9, max_iter=1000, w_init=W, **settings).fit(X).components_


def theirs(fun):
    def work(X, W):
        return FastICA(whiten="unit-variance", fun=fun, tol=1e-15, max_iter=300, w_init=W).fit(X).components_

    return work


def picards(ortho):
    def work(X, W):
        K, turn, _ = picard(X.T, ortho=ortho, extended=True, tol=1e-9, max_iter=500, w_init=W)
        return turn @ K

    return work


#: unmix, and the peer with the same contrast.
PAIRS = [
    ("logcosh", ours(), "scikit-learn", theirs("logcosh")),
    ("logcosh, Picard-O", ours(), "python-picard", picards(True)),
    ("exp", ours(fun="exp"), "scikit-learn", theirs("exp")),
    ("cube", ours(fun="cube"), "scikit-learn", theirs("cube")),
    ("maximum likelihood", ours(ortho=False, extended=True), "python-picard", picards(False)),
]

#: Contrasts of unmix that no peer has.
FITTED = [("adaptive", ours(fun="adaptive")), ("adaptive, ortho=False", ours(fun="adaptive", ortho=False))]


def distances(distributions, n):
    found = {name: ([], []) for name, *_ in PAIRS}
    fitted = {name: [] for name, _ in FITTED}
    for seed in range(5):
        draw = np.random.RandomState(seed)
        k = len(distributions)
        mixing, W = draw.randn(k, k), np.linalg.qr(draw.randn(k, k))[0]
        X = unmix.datasets.independent(n, distributions, seed=seed).sources @ mixing.T
        for name, our, _, their in PAIRS:
            for which, work in ((0, our), (1, their)):
                found[name][which].append(unmix.metrics.amari_distance(work(X, W) @ mixing))
        for name, our in FITTED:
            fitted[name].append(unmix.metrics.amari_distance(our(X, W) @ mixing))
    medians = {name: tuple(float(np.median(d)) for d in pair) for name, pair in found.items()}
    return medians, {name: float(np.median(d)) for name, d in fitted.items()}


def table():
    heads = [f"{name}: ours / {peer}" for name, _, peer, _ in PAIRS] + ["default / best peer"] + [name for name, _ in FITTED]
    lines = ["| input | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    worst, best, least = 0.0, [], {name: [] for name, _ in FITTED}
    for label, distributions, n in INPUTS:
        found, fitted = distances(distributions, n)
        worst = max([worst, *(a / b for a, b in found.values())])
        peer = min(b for _, b in found.values())
        best.append(found[PAIRS[0][0]][0] / peer)
        for name, distance in fitted.items():
            least[name].append(distance / peer)
        cells = [f"{a:.4f} / {b:.4f}" for a, b in found.values()] + [f"{best[-1]:.2f}"] + [f"{d:.4f}" for d in fitted.values()]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    means = {name: f"{np.exp(np.mean(np.log(r))):.2f}" for name, r in {"default": best, **least}.items()}
    lines.append("")
    lines.append(f"Largest ratio to the peer of the same contrast: {worst:.3f}. To the best peer of all, which is another on every input, geometric")
    lines.append("means: " + ", ".join(f"{name} {mean}" for name, mean in means.items()) + ".")
    return "\n".join(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    text = table()
    print("\n".join(text.splitlines()[-2:]))
    if "--write" in sys.argv:
        page = PAGE.read_text(encoding="utf-8")
        head, rest = page.split(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")
