"""Ratings of films with error bars: matrix completion of MovieLens, a tenth of the ratings hidden.

    python docs/examples/ratings.py movielens100k_user_item_rating_u16.npy [FIGURE]

Lines of user, film, rating. Without a path, the folder given by UNMIX_DATA is read.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_matrix
from scipy.stats import norm

import unmix

LEVELS = np.linspace(0.5, 0.99, 50)


def rmse(values, ratings):
    return float(np.sqrt(np.mean((np.clip(values, 1, 5) - ratings) ** 2)))


def main(path, figure="ratings.png"):
    user, film, rating = np.load(path).astype(int).T
    shape = (user.max() + 1, film.max() + 1)
    hidden = np.random.default_rng(0).random(len(rating)) < 0.1
    seen = csr_matrix((rating[~hidden].astype(float), (user[~hidden], film[~hidden])), shape)
    truth, cells = rating[hidden], np.column_stack([user, film])[hidden]
    model = unmix.MatrixCompletion(random_state=0).fit(seen)
    values, std = model.predict_cells(cells, return_std=True)
    offsets = unmix.MatrixCompletion(n_components=0, random_state=0).fit(seen).predict_cells(cells)
    off = np.abs(values - truth) / std
    inside = np.array([np.mean(off < norm.ppf(0.5 + level / 2)) for level in LEVELS])
    found = {"factors": model.n_components_, "rmse": rmse(values, truth), "offsets": rmse(offsets, truth)}
    found |= {"mean": rmse(np.full(len(truth), rating[~hidden].mean()), truth), "inside": float(np.mean(off < norm.ppf(0.95)))}
    print("{factors} factors; error of hidden ratings: {rmse:.3f}, by offsets alone {offsets:.3f}, by the mean {mean:.3f}".format(**found))
    print(f"{100 * found['inside']:.1f} % of {len(truth)} hidden ratings are inside their 90 % intervals")
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    many = np.flatnonzero(np.bincount(cells[:, 0]) >= 30)  # of these users the one whose hidden ratings differ most
    mine = np.flatnonzero(cells[:, 0] == max(many, key=lambda who: truth[cells[:, 0] == who].std()))
    mine = mine[np.argsort(values[mine])]
    left.errorbar(range(len(mine)), values[mine], norm.ppf(0.95) * std[mine], fmt=".", color="C0", elinewidth=0.8, label="predicted")
    left.plot(truth[mine], "C3_", markersize=7, label="given")
    left.set(xlabel="hidden films of one user", ylabel="rating", title="90 % intervals")
    left.legend(frameon=False, fontsize="small", loc="upper left")
    middle.plot(100 * LEVELS, np.column_stack([100 * LEVELS, 100 * inside]))
    middle.set(xlabel="level of the interval, %", ylabel="hidden ratings inside, %", title="coverage")
    known = np.bincount(film[~hidden], minlength=shape[1])[cells[:, 1]]
    right.scatter(known + 0.5, std, s=2, color="C0", alpha=0.4)
    right.set(xscale="log", xlabel="known ratings of the film", ylabel="standard error", title="few ratings, wide intervals")
    fig.savefig(figure, dpi=110)
    return found


if __name__ == "__main__":
    given = sys.argv[1:] or [Path(os.environ.get("UNMIX_DATA", ""), "ratings", "movielens100k_user_item_rating_u16.npy")]
    main(*given) if Path(given[0]).is_file() else sys.exit(f"there are no ratings at {given[0]}\n{__doc__}")
