"""Paths in place of arrays, the command line, and pages."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import unmix
from unmix import PCA

X = np.random.RandomState(0).randn(400, 4) * [4, 3, 2, 1]
NAMES = ["height", "width", "depth", "weight"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    text = ",".join(NAMES) + "\n" + "\n".join(",".join(map(repr, row)) for row in X.tolist()) + "\n"
    (tmp_path / "x.csv").write_text(text)
    with gzip.open(tmp_path / "x.csv.gz", "wt") as file:
        file.write(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_page_labels_rows_by_the_index(folder):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=NAMES, index=[f"<visit {i}>" for i in range(len(X))])
    model = PCA(2).fit(frame)

    def page(rows):
        unmix.report(model, rows, path="page.html")
        return (folder / "page.html").read_text()

    assert "<b>&lt;visit 0&gt;</b>" in page(frame) and "<b>row 0</b>" not in page(frame)
    frame.to_csv("labelled.csv")
    with pytest.warns(UserWarning, match="is the index of a table"):
        assert "<b>&lt;visit 0&gt;</b>" in page("labelled.csv")
    levels = frame.set_index([np.arange(len(X)) // 2, np.arange(len(X)) % 2])
    assert "<b>0, 0</b>" in page(levels)
    assert "<b>200</b>" in page(frame.reset_index(drop=True)[200:])
    for plain in (frame.reset_index(drop=True), "x.csv"):
        assert "<b>row 0</b>" in page(plain)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", ["x.npy", "x.csv", "x.csv.gz"])
def test_a_path_gives_the_model_of_its_rows(folder, name):
    expected = PCA(2, random_state=0).fit(X)
    model = PCA(2, random_state=0).fit(folder / name)
    assert_array_equal(model.components_, expected.components_)
    assert_array_equal(model.transform(str(folder / name)), expected.transform(X))
    assert model.score(name) == expected.score(X)
    assert (model.n_features_in_, model.n_samples_) == (4, 400)
    assert hasattr(model, "feature_names_in_") == ("csv" in name)


def test_names_of_a_path_are_replaced_by_the_next_fit(folder):
    model = PCA(2).fit("x.csv")
    assert_array_equal(model.feature_names_in_, NAMES)
    assert not hasattr(model.fit("x.npy"), "feature_names_in_")


def test_codes_and_rows_are_written_as_files(folder):
    model = PCA(2).fit("x.npy")
    assert model.encode("x.npy", out="codes.npy") is None
    assert_array_equal(np.load("codes.npy"), model.transform(X))
    model.decode("codes.npy", out=folder / "rows.npy")
    assert_array_equal(np.load("rows.npy"), model.inverse_transform(model.transform(X)))
    assert_array_equal(model.encode(X), model.transform(X))
    assert_array_equal(model.decode("codes.npy"), np.load("rows.npy"))
    model.encode(X.astype(np.float32), out="single.npy")
    assert np.load("single.npy").dtype == np.float32


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_columns_of_a_file_are_matched_by_name(folder):
    model = PCA(2).fit("x.csv")
    order = [3, 0, 2, 1]
    lines = [",".join(["age", *(NAMES[j] for j in order)])]
    lines += [",".join(["1", *(repr(float(row[j])) for j in order)]) for row in X]
    (folder / "other.csv").write_text("\n".join(lines))
    with pytest.warns(UserWarning, match="columns that the model was not fitted on are ignored: age"):
        codes = model.transform("other.csv")
    assert_array_equal(codes, model.transform(X))
    (folder / "fewer.csv").write_text("height,width\n1,2\n3,4\n")
    with pytest.raises(ValueError, match="depth"):
        model.transform("fewer.csv")


@pytest.mark.parametrize(
    "path, error, message",
    [
        ("nowhere.npy", FileNotFoundError, "nowhere.npy"),
        ("empty.csv", ValueError, "empty"),
        ("cut.npy", ValueError, "declares"),
        (".", (ValueError, OSError), "folder"),
        ("ragged.csv", ValueError, "line 3"),
        ("hole.csv", ValueError, r"Input X contains NaN\.\n.*row 1, column 1 \('b'\)"),
    ],
)
def test_files_that_cannot_be_read_are_refused_with_a_reason(folder, path, error, message):
    (folder / "empty.csv").write_text("")
    (folder / "cut.npy").write_bytes((folder / "x.npy").read_bytes()[:-100])
    (folder / "ragged.csv").write_text("a,b\n1,2\n3,4,5\n")
    (folder / "hole.csv").write_text("a,b\n1,2\n3,\n5,7\n")
    with pytest.raises(error, match=message):
        PCA().fit(path)


def test_failed_writes_leave_no_file(folder):
    model = PCA(2).fit(X)
    before = sorted(os.listdir())
    for write in [model.save, lambda path: model.encode(X, out=path), lambda path: unmix.report(model, path=path)]:
        with pytest.raises((OSError, ValueError)):
            write(folder / "no such folder" / "file")
        with pytest.raises((OSError, ValueError), match="folder"):
            write(folder)
    with pytest.raises(ValueError, match="NaN"):
        model.encode(np.where(X == X[399, 3], np.nan, X), out="codes.npy")
    assert sorted(os.listdir()) == before


def test_a_page_needs_no_network(folder):
    model = PCA(2).fit("x.csv")
    unmix.report(model, "x.csv", path="page.html", color=np.arange(400) % 3, title="Boxes & crates")
    page = (folder / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "Boxes &amp; crates" in page
    assert re.search(r"""(src|href)=(?!["']?(data:|#))|url\((?!["']?(data:|#))|@import""", page) is None
    unmix.report(model, path="plain.html")
    assert (folder / "plain.html").stat().st_size > 1000


def test_models_of_the_command_line_are_estimators_and_conversely(folder):
    command = shutil.which("unmix", path=os.path.dirname(sys.executable))
    assert command, "installing the package installs the command"
    done = subprocess.run([command, "fit", "pca", "x.csv", "-k", "2", "-o", "cli.safetensors"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ours = PCA(2, random_state=0).fit("x.csv")
    theirs = unmix.load("cli.safetensors")
    assert type(theirs) is PCA and theirs.n_components == 2
    assert_array_equal(theirs.components_, ours.components_)
    assert_array_equal(theirs.feature_names_in_, NAMES)
    ours.save("python.safetensors")
    shown = subprocess.run([command, "show", "python.safetensors", "--json"], capture_output=True, text=True, check=True)
    assert json.loads(shown.stdout)["report"] == ours.report_.to_dict()
    wrong = subprocess.run([command, "fit", "pca", "nowhere.npy"], capture_output=True, text=True)
    assert wrong.returncode == 1 and "nowhere.npy" in wrong.stderr and wrong.stdout == ""
    assert subprocess.run([command, "fti"], capture_output=True).returncode == 2


def test_a_corrupt_model_is_refused(folder):
    PCA(2).fit(X).save("model.safetensors")
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[-3] ^= 1
    (folder / "corrupt.safetensors").write_bytes(data)
    with pytest.raises(ValueError, match="checksum"):
        unmix.load("corrupt.safetensors")
    with pytest.raises(ValueError, match="x.npy cannot be read"):
        unmix.load("x.npy")
    with pytest.raises(FileNotFoundError):
        unmix.load("nowhere.safetensors")


def test_models_replace_models_and_no_other_file_unless_forced(folder):
    model = PCA(2).fit(X)
    model.save("model.safetensors")
    PCA(1).fit(X).save("model.safetensors")
    assert unmix.load("model.safetensors").n_components_ == 1
    before = (folder / "x.npy").read_bytes()
    for name in ("x.npy", folder / "x.csv"):
        message = f"writing the model to {name} is not possible: a file that is not an unmix model is there; choose another name, or give force=True to replace it"
        with pytest.raises(ValueError) as refused:
            model.save(name)
        assert str(refused.value) == message and refused.value.path == os.fspath(name)
    assert (folder / "x.npy").read_bytes() == before
    model.save("x.npy", force=True)
    assert unmix.load("x.npy").n_components_ == 2
    # As made by `tempfile`.
    (folder / "empty.safetensors").touch()
    model.save("empty.safetensors")
    assert unmix.load("empty.safetensors").n_components_ == 2
    # Other results replace any file of their format, as on the command line.
    for _ in range(2):
        model.encode(X, out="codes.npy")
        unmix.report(model, path="page.html")


def test_codes_of_no_components_keep_their_number_of_rows(tmp_path):
    model = PCA(0).fit(X)
    model.encode(X, out=tmp_path / "none.npy")
    assert np.load(tmp_path / "none.npy").shape == model.transform(X).shape == (len(X), 0)


def test_pages_replace_neither_data_nor_what_they_read(folder):
    np.savetxt("rows.csv", X, delimiter=",")
    model = PCA(2).fit("rows.csv")
    before = open("rows.csv").read()
    with pytest.raises(ValueError, match="does not end in .html"):
        unmix.report(model, "rows.csv", path="rows.csv")
    with pytest.raises(ValueError, match="rows.csv does not end in .html; choose such a name"):
        unmix.report(model, "rows.csv").save("rows.csv")
    os.rename("rows.csv", "rows.html")
    for rows in (["rows.html"], unmix.open("rows.html", input_format="csv")):
        with pytest.raises(ValueError, match="read by the same call"):
            unmix.report(model, rows, path="rows.html")
    assert open("rows.html").read() == before


def test_an_empty_selection_is_not_everything(folder):
    np.save("rows.npy", X)
    with pytest.raises(ValueError, match="columns must name at least one column"):
        unmix.open("rows.npy", columns=[])
    with pytest.raises(ValueError, match="rules must name at least one rule"):
        unmix.select_components(X, [])


def test_integers_out_of_range_are_refused_by_name(folder):
    np.save("rows.npy", X)
    for call, name in [
        (lambda: unmix.open("rows.npy", rows=(0, 2**64)), "rows"),
        (lambda: unmix.open("rows.npy").head(2**64), "n must"),
        (lambda: unmix.datasets.ppca(seed=2**64), "seed"),
        (lambda: unmix.set_num_threads(2**64), "n must"),
        (lambda: unmix.shards.gather(b"", X, -1), "first_row"),
        (lambda: unmix.PPCA(2).fit(X).sample(1.9), "n_samples"),
    ]:
        with pytest.raises(ValueError, match=name):
            call()
