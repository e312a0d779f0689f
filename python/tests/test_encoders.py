"""Encoders of every kind, tested in a separate process because registered methods stay in the registry."""

import subprocess
import sys
from pathlib import Path

import pytest
from unmix import _unmix


@pytest.mark.skipif(not hasattr(_unmix, "register_toys"), reason="the wheel was built without the methods of the tests (cargo xtask test python)")
def test_methods_of_the_tests_are_estimators():
    tests = Path(__file__).parent / "toys" / "encoders.py"
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
