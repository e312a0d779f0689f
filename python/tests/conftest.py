"""Settings of all tests."""

import sys

import pytest


@pytest.fixture(autouse=True)
def figures_closed():
    """Closes what a test has drawn: matplotlib keeps every figure of pyplot until it is closed."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
