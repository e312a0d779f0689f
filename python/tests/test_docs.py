"""Pages that make claims name the tests that hold them."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "scikit-learn.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the tests are not in a checkout")
def test_every_difference_from_scikit_learn_is_held_by_a_test():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    tests = set(re.findall(r"^def (test_\w+)", "\n".join(p.read_text() for p in HERE.glob("test_*.py")), re.MULTILINE))
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert named and set(named) <= tests, row
