"""Reference numbers of factor analysis for tests/factor.rs, computed by scikit-learn.

    pip install numpy==2.* scipy scikit-learn==1.9.1
    python make_factor.py       # writes factor.csv, factor.json

`factor.csv` has synthetic data: 120 rows of 8 columns, seeded, with two factors and unequal noise variances. The likelihood converges
slowly in scikit-learn's iterations: they stop where a step adds less than 1e-10 nats. Varimax is scikit-learn's, with its own tolerance.
"""

import json
import platform
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.decomposition import FactorAnalysis

HERE = Path(__file__).parent
MADE_WITH = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__,
             "scikit-learn": sklearn.__version__}

rng = np.random.default_rng(24)
loadings = rng.normal(size=(2, 8))
x = rng.normal(size=(120, 2)) @ loadings + rng.normal(size=(120, 8)) * rng.uniform(0.4, 1.5, 8) + np.arange(8.0)
np.savetxt(HERE / "factor.csv", x, delimiter=",", fmt="%.17g")
x = np.loadtxt(HERE / "factor.csv", delimiter=",")
cases = []
for k, rotation in ((1, None), (2, None), (2, "varimax"), (2, "quartimax")):
    fa = FactorAnalysis(k, svd_method="lapack", tol=1e-10, max_iter=1_000_000, rotation=rotation).fit(x)
    cases.append({
        "n_components": k, "rotation": rotation, "log_likelihood": fa.loglike_[-1], "iterations": fa.n_iter_,
        "noise_variance": fa.noise_variance_.tolist(), "components": fa.components_.tolist(),
        "codes": fa.transform(x[:3]).tolist(), "score_samples": fa.score_samples(x[:5]).tolist(),
    })
(HERE / "factor.json").write_text(json.dumps({"made_with": MADE_WITH, "cases": cases}, indent=1) + "\n")
