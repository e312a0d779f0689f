"""Settings of all tests."""

import os
import sys

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "heavy: runs where UNMIX_TESTS is 'all', as in `cargo xtask test all`")


def pytest_collection_modifyitems(items):
    if os.environ.get("UNMIX_TESTS") in ("all", "full"):
        return
    for item in items:
        if item.get_closest_marker("heavy"):
            item.add_marker(pytest.mark.skip(reason="UNMIX_TESTS is not 'all'"))


@pytest.fixture(autouse=True)
def figures_closed():
    """Closes what a test has drawn: matplotlib keeps every figure of pyplot until it is closed."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
