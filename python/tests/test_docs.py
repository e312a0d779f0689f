"""Pages that make claims name the tests that hold them."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "scikit-learn.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the tests are not in a checkout")
def test_every_difference_from_scikit_learn_is_a_test_and_every_test_of_differences_a_row():
    lines = PAGE.read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ")][1:]
    assert len(rows) > 10
    named = []
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        assert len(cells) == 4 and all(cells), row
        name = re.fullmatch(r"`(test_\w+)`", cells[-1].strip("| "))
        assert name, row
        named.append(name[1])
    here = names_of("test_differences.py")
    assert [name for name in named if name in here] == here
    # Other rows, and what the page says below its table, are held by tests of other files.
    below = re.findall(r"`(test_\w+)`", "\n".join(line for line in lines if not line.startswith("| ")))
    assert {*named, *below} <= {name for path in HERE.glob("test_*.py") for name in names_of(path.name)}


@pytest.mark.skipif(not PAGE.exists(), reason="the tests are not in a checkout")
@pytest.mark.parametrize("page", ["sigma-pca.md", "stability.md"])
def test_examples_of_pages_run_as_they_are(page, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (PAGE.parent / page).read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), {})
    assert "resolved" in capsys.readouterr().out


def names_of(name):
    """The tests of a file, in order."""
    return re.findall(r"^def (test_\w+)", (HERE / name).read_text(), re.MULTILINE)
