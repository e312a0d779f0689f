"""Stock returns: factors rotated to industries by factor analysis.

    python docs/examples/shares.py finance/sp500_dataset.csv.gz [FIGURE]

Prices, a column for each share, a line for each day. Without a path, the folder given by UNMIX_DATA is read.
"""

import gzip
import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unmix

INDUSTRIES = {
    "computers": "AAPL AMD MSFT",
    "finance, industry": "BAC JPM GE",
    "shops": "BBY HD WMT",
    "energy": "CVX RRC XOM",
    "medicine": "JNJ LLY MRK PFE UNH",
    "household": "KO PEP PG",
}


def main(path, figure="shares.png"):
    with gzip.open(path, "rt") as lines:
        names = next(lines).strip().split(",")[1:]
        prices = np.array([line.split(",")[1:] for line in lines], dtype=float)
    order = [names.index(name) for industry in INDUSTRIES.values() for name in industry.split()]
    returns = np.diff(np.log(prices[-3000:, order]), axis=0)
    plain = unmix.FactorAnalysis(n_components=5, standardize=True).fit(returns)
    model = unmix.FactorAnalysis(n_components=5, standardize=True, rotation="oblimin", rotation_normalize=True).fit(returns)
    tables = {"not rotated": plain.components_, "oblimin": model.components_}  # in standard deviations, as the columns are standardized
    simple = {name: float(np.mean(np.max(table**2, axis=0) / np.sum(table**2, axis=0))) for name, table in tables.items()}
    own = np.abs(tables["oblimin"]).argmax(axis=0)  # the factor on which a stock loads most
    ends = np.cumsum([0, *(len(industry.split()) for industry in INDUSTRIES.values())])
    groups = [np.bincount(own[a:b], minlength=5).max() for a, b in zip(ends[:-1], ends[1:], strict=True)]
    found = {"rotated": simple["oblimin"], "plain": simple["not rotated"], "together": int(sum(groups)), "rmsea": model.fit_.rmsea}
    found["correlation"] = float(np.abs(model.factor_correlation_[np.triu_indices(5, 1)]).mean())
    print("one factor explains {rotated:.0%} of the communality of a stock; {plain:.0%} before the rotation".format(**found))
    print("{together} of 20 stocks load most on the factor of their industry; factors have correlations of {correlation:.2f}".format(**found))
    fig, axes = plt.subplots(1, 3, figsize=(9.6, 5.2), layout="constrained", width_ratios=(1, 1, 0.8))
    for ax, (title, table) in zip(axes, tables.items(), strict=False):
        image = ax.imshow(table.T, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
        ax.set(title=f"loadings, {title}", xlabel="factor", yticks=range(20), yticklabels=np.array(names)[order])
        for end in ends[1:-1]:
            ax.axhline(end - 0.5, color="0.3", linewidth=0.8)
    fig.colorbar(image, ax=axes[1], label="standard deviations")
    unmix.plot.factor_correlations(model, axes[2])
    fig.savefig(figure, dpi=110)
    return found


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "finance", "sp500_dataset.csv.gz")]
    main(*given) if Path(given[0]).is_file() else sys.exit(f"there are no prices at {given[0]}\n{__doc__}")
