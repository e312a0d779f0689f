"""Reference numbers for tests/golden.rs, computed by scikit-learn.

    pip install numpy==2.* scipy scikit-learn==1.9.1
    python make.py              # writes small.csv, small.json
    python make.py X_u8.npy     # writes digits.json as well, from the 1797 x 64 digits (UCI optdigits, test part)

The versions that computed the committed numbers are recorded in each file under "made_with". `small.csv` has synthetic data: 40
rows of 6 columns, seeded, two of which are nearly copies of others; it is written in full precision and read back, so that
both sides use the same numbers. Where scikit-learn and this library differ by design (sign of components, noise variance of
wide data) the comparison accounts for it; the numbers here are scikit-learn's, unchanged.
"""

import json
import platform
import sys
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.decomposition import PCA

HERE = Path(__file__).parent
MADE_WITH = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__,
             "scikit-learn": sklearn.__version__}


def record(x, **settings):
    pca = PCA(**settings).fit(x)
    codes = pca.transform(x)
    return {
        "settings": settings,
        "n_components": int(pca.n_components_),
        "mean": pca.mean_.tolist(),
        "components": pca.components_[:10].tolist(),  # at most 10, to keep the file short
        "explained_variance": pca.explained_variance_.tolist(),
        "explained_variance_ratio": pca.explained_variance_ratio_.tolist(),
        "singular_values": pca.singular_values_.tolist(),
        "noise_variance": float(pca.noise_variance_),
        "first_codes": codes[:5].tolist(),
        "score": float(pca.score(x)),
        "score_samples": pca.score_samples(x[:5]).tolist(),
    }


def write(name, cases):
    text = json.dumps({"made_with": MADE_WITH, "cases": cases}, indent=None, separators=(",", ":"))
    (HERE / name).write_text(text.replace('{"settings"', '\n{"settings"') + "\n")


rng = np.random.default_rng(20)
latent = rng.normal(size=(40, 4)) * [3.0, 1.5, 0.8, 0.3]
small = latent @ rng.normal(size=(4, 6)) + 0.1 * rng.normal(size=(40, 6)) + [5.0, -3.0, 0.0, 100.0, 0.5, 2.0]
small[:, 5] = small[:, 1] + 1e-3 * rng.normal(size=40)
np.savetxt(HERE / "small.csv", small, delimiter=",", fmt="%.17g")
small = np.loadtxt(HERE / "small.csv", delimiter=",")
write("small.json", [
    record(small, svd_solver="full"),
    record(small, svd_solver="covariance_eigh", n_components=3),
    record(small, svd_solver="full", n_components=2, whiten=True),
    record(small, svd_solver="full", n_components="mle"),
    record(small, svd_solver="full", n_components=0.95),
    record(small, svd_solver="auto", n_components=1),
    record(small[:5], svd_solver="full", n_components=2),
])

if len(sys.argv) > 1:
    digits = np.load(sys.argv[1]).reshape(1797, 64).astype(float)
    write("digits.json", [
        record(digits, svd_solver="full", n_components=10),
        record(digits, svd_solver="covariance_eigh", n_components=10, whiten=True),
        record(digits, svd_solver="full", n_components="mle"),
        record(digits, svd_solver="full", n_components=0.9),
    ])
