"""Matrices larger than memory are refused with the size needed; a failed allocation would abort the interpreter."""

import subprocess
import sys
import textwrap

import pytest

CALLS = {
    "ICA without whitening": "ICA(whiten=False).fit(X)",
    "FastICA without whitening": "FastICA(whiten=False).fit(X)",
    "RICA without whitening": "RICA(whiten=False).fit(X)",
    "sums": "PCA().partial_fit(X)",
    "EASI": "ICA(algorithm='easi').partial_fit(X)",
    "zca": "PCA(whiten='zca').fit_transform(X)",
    "covariance": "PCA().fit(X).get_covariance()",
    "precision": "PCA().fit(X).get_precision()",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of addresses are Linux's")
@pytest.mark.parametrize("limit", [None, 8 << 30], ids=["all memory", "8 GiB of addresses"])
def test_matrices_larger_than_memory_are_a_memory_error_with_their_size(limit):
    code = f"""
        import resource
        import numpy as np
        from unmix import ICA, PCA, RICA, FastICA, set_num_threads
        if {limit}:
            resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
        set_num_threads(2)
        X = np.random.default_rng(0).normal(size=(3, 200000))
        for name, call in {CALLS!r}.items():
            try:
                eval(call)
            except MemoryError as e:
                assert "MiB" in str(e), (name, e)
                print("refused", name)
    """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split("\n")[:-1] == ["refused " + name for name in CALLS]
