"""Runs scikit-learn's own tests on classes of unmix.

    PYTHONPATH=python/tests/swap python -m pytest -p unmix_swap --pyargs sklearn.decomposition.tests.test_pca sklearn.decomposition.tests.test_fastica \
        sklearn.decomposition.tests.test_factor_analysis

Classes are replaced before any test module is imported. ``expected_failures.py`` lists the tests that fail for a reason; a listed
test that passes is a failure too.
"""

import os
from fnmatch import fnmatchcase

import pytest
import sklearn.decomposition

import unmix
from expected_failures import EXPECTED_FAILURES

# scikit-learn runs its tests in double precision only unless this variable is set.
os.environ.setdefault("SKLEARN_RUN_FLOAT32_TESTS", "1")


def pytest_configure(config):
    sklearn.decomposition.PCA = unmix.PCA
    sklearn.decomposition._pca.PCA = unmix.PCA
    sklearn.decomposition.FactorAnalysis = unmix.FactorAnalysis
    sklearn.decomposition._factor_analysis.FactorAnalysis = unmix.FactorAnalysis
    for name in ("FastICA", "fastica"):
        for module in (sklearn.decomposition, sklearn.decomposition._fastica):
            setattr(module, name, getattr(unmix, name))


def pytest_report_header(config):
    return f"PCA, FastICA, fastica and FactorAnalysis are those of unmix {unmix.__version__}"


def pytest_collection_modifyitems(items):
    for item in items:
        for pattern, reason in EXPECTED_FAILURES.items():
            # Brackets are part of the test names, not character sets.
            if fnmatchcase(item.name, pattern.replace("[", "[[]")):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
