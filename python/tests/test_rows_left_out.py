"""Values for rows follow the rows that a handle leaves out: they are those of the rows that are left, or of all rows of its files."""

import re
from pathlib import Path

import numpy as np
import pytest

import unmix
from unmix import ICA, LISTA, PCA
from unmix.datasets import sparse_codes
from unmix.metrics import sparse_probing

pytestmark = pytest.mark.filterwarnings("ignore:.* rows? (has|have) a missing cell:UserWarning")

#: The call on a page.
MADE_BY = re.compile(r"(?<=The page was made by:</p><pre><code>).*?(?=</code>)", re.DOTALL)

#: The row with a missing cell is the only one of its kind.
KINDS = ["gone" if i == 2 else ["even", "odd"][i % 2] for i in range(40)]
LEFT = [kind for kind in KINDS if kind != "gone"]

REFUSED = r"must have one {} for each of the 39 rows selected of d.csv, or for each of its 40 rows, got 7 {}s"


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A handle to the complete rows of a table with a column of text."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{'' if i == 2 else i * 17 % 41},{i * 5 % 41},{kind}\n" for i, kind in enumerate(KINDS)]
    Path("d.csv").write_text("a,b,kind\n" + "".join(lines))
    return unmix.open("d.csv", drop="kind", missing="drop")


def counts(page):
    """The numbers of rows of each kind."""
    return {kind: int(n) for kind, n in re.findall(r'(\w+)<span class="count">(\d+)</span>', page)}


def test_colours_of_a_page_follow_the_rows_that_are_left_out(rows):
    model = PCA(2, random_state=0).fit(rows)
    Path("all.txt").write_text("\n".join(KINDS) + "\n")
    Path("left.txt").write_text("\n".join(LEFT) + "\n")

    def page(color):
        return MADE_BY.sub("", unmix.report(model, rows, color=color).text)

    of_all = page(KINDS)
    assert counts(of_all) == {"even": 19, "odd": 20} and "gone" not in of_all
    for color in (LEFT, np.array(KINDS), "all.txt", Path("left.txt")):
        assert page(color) == of_all, color
    of_column = page("kind")
    assert counts(of_column) == {"even": 19, "odd": 20} and "gone" not in of_column
    for color in ("2", "d.csv:kind", unmix.open("d.csv", columns="kind"), unmix.open("d.csv", columns="kind", missing="drop")):
        assert page(color) == of_column, color
    # A column of features, whose own missing cell leaves the row out.
    assert page("a") == page(unmix.open("d.csv", columns="a", missing="drop")) == page("0")


def test_colours_of_another_length_and_of_no_column_are_refused(rows):
    model = PCA(2, random_state=0).fit(rows)
    Path("few.txt").write_text("x\n" * 7)
    for color, ends in ((KINDS[:7], "; give one for each row"), ("few.txt", " in few.txt; give"), (Path("few.txt"), " in few.txt")):
        with pytest.raises(ValueError, match="color " + REFUSED.format("value", "value") + ends):
            unmix.report(model, rows, color=color)
    with pytest.raises(ValueError, match=r"there is no column named 'knd' \(did you mean 'kind'\?\)"):
        unmix.report(model, rows, color="knd")
    with pytest.raises(ValueError, match="color='7' is not possible: there are 3 columns"):
        unmix.report(model, rows, color="7")
    with pytest.raises(FileNotFoundError, match="cannot read kind"):
        unmix.report(model, rows.read(), color="kind")


def test_colours_follow_a_range_of_rows_and_the_columns_of_a_path(rows):
    model = PCA(2, random_state=0).fit(rows)
    # With a mark of missing cells, text is read up to the last row that is requested.
    some = unmix.open("d.csv", drop="kind", missing="drop", rows=(1, 30), na="?")
    with pytest.warns(UserWarning, match="1 of 29 rows has a missing cell"):
        pages = [unmix.report(model, some, color=color).text for color in (KINDS, "kind", [kind for kind in KINDS[1:30] if kind != "gone"])]
    assert all(counts(page) == {"even": 13, "odd": 15} for page in pages)
    lines = Path("d.csv").read_text().splitlines(keepends=True)
    Path("full.csv").write_text("".join(line for i, line in enumerate(lines) if i != 3))
    with pytest.warns(UserWarning, match="ignored"):
        assert counts(unmix.report(model, "full.csv", color=LEFT).text) == {"even": 19, "odd": 20}
    with pytest.warns(UserWarning, match="ignored"):
        assert counts(unmix.report(model, "full.csv", color="kind").text) == {"even": 19, "odd": 20}


def test_weights_of_a_handle_are_those_of_all_of_its_rows(rows):
    def weighted(gap):
        weights = 1.0 + np.arange(40) % 4
        Path("w.csv").write_text("w,n\n" + "".join(f"{'' if i == gap else w},0\n" for i, w in enumerate(weights)))
        return weights, unmix.open("w.csv", columns="w", missing="drop")

    weights, file = weighted(2)
    by_array, by_file = (PCA(1).fit(rows, sample_weight=given) for given in (weights, file))
    np.testing.assert_array_equal(by_array.components_, by_file.components_)
    # Another row without a weight is no reason to shift the others.
    with pytest.raises(ValueError, match="got nan in row 5|got NaN in row 5"):
        PCA(1).fit(rows, sample_weight=weighted(5)[1])
    with pytest.raises(ValueError, match="sample_weight " + REFUSED.format("weight", "weight")):
        PCA(1).fit(rows, sample_weight=weights[:7])


def test_target_codes_follow_the_rows_of_a_handle(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = sparse_codes(60, 8, 12, share=0.15, seed=2)
    np.save("x.npy", made.X)
    rows = unmix.open("x.npy", rows=(10, 50))

    def fitted(y):
        return LISTA(made.components, alpha=0.1, n_layers=2, max_epochs=2, random_state=0).fit(rows, y)

    of_all, of_some = fitted(made.codes), fitted(made.codes[10:50])
    np.testing.assert_array_equal(of_all.layer_weights_, of_some.layer_weights_)
    with pytest.raises(ValueError, match="y must have one row for each of the 40 rows selected of x.npy, or for each of its 60 rows, got 7 rows"):
        fitted(made.codes[:7])


def test_references_of_sources_follow_the_rows_of_a_handle(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = np.random.RandomState(0)
    S = draw.laplace(size=(300, 3))
    X = S @ draw.randn(3, 3)
    X[7, 1] = np.nan
    np.save("x.npy", X)
    np.save("s.npy", S)
    rows = unmix.open("x.npy", missing="drop")
    ica = ICA(random_state=0).fit(rows)
    found = ica.match(np.delete(S, 7, axis=0), rows)
    assert np.abs(found).max(axis=0).min() > 0.8
    for reference in (S, unmix.open("s.npy"), "s.npy"):
        np.testing.assert_array_equal(ica.match(reference, rows), found)
    with pytest.raises(ValueError, match="reference must have one row for each of the 299 rows selected of x.npy, or for each of its 300 rows, got 5"):
        ica.match(S[:5], rows)
    # Rows without a number of the reference, in an array and in a handle that would leave them out.
    S[9, 0] = np.nan
    np.save("s.npy", S)
    for reference in (S, unmix.open("s.npy", missing="drop")):
        with pytest.warns(UserWarning, match="reference: 1 of 299 rows has no number of it and is left out of its correlations"):
            part = ica.match(reference, rows)
        np.testing.assert_allclose(part, ica.match(np.delete(S, [7, 9], axis=0), np.delete(X, [7, 9], axis=0)), atol=1e-12)
    with pytest.raises(ValueError, match="numbers in at least 2 rows, got 0"):
        ica.match(np.full(299, np.nan), rows)


def test_rows_are_left_out_by_the_columns_of_the_model_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.RandomState(0).laplace(size=(60, 3)) @ [[1, 0.5, 0], [0.2, 1, 0], [0, 0, 1]]
    lines = [",".join("" if (i, j) in ((2, 0), (4, 2)) else str(x) for j, x in enumerate(row)) + "\n" for i, row in enumerate(X)]
    Path("d.csv").write_text("a,b,c\n" + "".join(lines))
    ica = ICA(2, random_state=0).fit(unmix.open("d.csv", columns=["a", "b"], missing="drop"))
    wide = unmix.open("d.csv", missing="drop")
    assert len(wide) == 58
    with pytest.warns(UserWarning, match="ignored"):
        cleaned = ica.remove(wide, [0])
    np.testing.assert_allclose(cleaned, ica.remove(np.delete(X[:, :2], 2, axis=0), [0]), atol=1e-9)


def test_colours_of_figures_and_labels_of_probes_follow_the_rows_of_a_handle(rows):
    numbers = np.arange(40.0)
    model = PCA(2, random_state=0).fit(rows)
    for color in (numbers, np.delete(numbers, 2)):
        drawn = unmix.plot.scatter(model, rows, color=color).collections[0].get_array()
        np.testing.assert_array_equal(drawn, np.delete(numbers, 2))
    with pytest.raises(ValueError, match="color " + REFUSED.format("value", "value")):
        unmix.plot.scatter(model, rows, color=numbers[:7])
    codes = rows.read()
    labels = ["yes" if kind == "even" else "no" for kind in KINDS]
    expected = sparse_probing(codes, np.delete(labels, 2), k=(1,))
    for X in (None, rows):
        found = sparse_probing(rows, labels, k=(1,), X=X)
        np.testing.assert_array_equal(found.codes, expected.codes)
    np.testing.assert_array_equal(sparse_probing(codes, labels, k=(1,), X=rows).codes, expected.codes)
    with pytest.raises(ValueError, match="labels " + REFUSED.format("label", "label")):
        sparse_probing(rows, labels[:7])


def test_handles_of_values_leave_out_their_own_rows_only_for_an_array_of_those_left(rows):
    Path("w.csv").write_text("w\n" + "".join("NA\n" if i == 2 else f"{1 + i % 3}\n" for i in range(40)))
    weights, X = unmix.open("w.csv", missing="drop", header=True), rows.read()
    of_array = PCA(2, random_state=0).fit(X, sample_weight=weights)
    given = [1 + i % 3 for i in range(40) if i != 2]
    assert np.array_equal(of_array.components_, PCA(2, random_state=0).fit(X, sample_weight=given).components_)
