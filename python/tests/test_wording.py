"""Messages of readers in Python name Python arguments, never command-line flags."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest

import unmix

FLAG = re.compile(r"(^|[^-\w])--[a-z]")


def grey(path, size, channels=1):
    Image = pytest.importorskip("PIL.Image")
    shape = size if channels == 1 else (*size, channels)
    Image.fromarray(np.random.RandomState(0).randint(0, 255, shape).astype(np.uint8)).save(path)


def images(folder, *made):
    folder.mkdir()
    for i, (size, channels) in enumerate(made):
        grey(folder / f"{i}.png", size, channels)


def arrow(path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"a": [1.0, 2.0], "kind of": ["x", "y"]}).to_parquet(path)


def indexed(path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3.0, 1.0, 0.0]}, index=["x", "y", "z"])
    frame.to_parquet(path)


def array(path):
    with path.open("wb") as file:
        np.save(file, np.eye(3))


def safetensors(path):
    header = {name: {"dtype": "F32", "shape": [2, 2], "data_offsets": [16 * i, 16 * i + 16]} for i, name in enumerate("ab")}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + np.arange(8, dtype="<f4").tobytes())


#: How the file is written, its name, and the text that both forms of the message share.
CASES = {
    "text in a column": (lambda p: p.write_text("a,kind\n1,x\n2,y\n"), "t.csv", "leave the column out with {drop=['kind']}"),
    "text without names": (lambda p: p.write_text("1,2\n3,x\n"), "t.csv", "leave the column out with {drop=[1]}"),
    "a comma in a name": (lambda p: p.write_text('a,"b,c"\n1,x\n2,y\n'), "t.csv", "leave the column out with {drop=['b,c']}"),
    "text in Parquet": (arrow, "t.parquet", "leave the column out with {drop=['kind of']}"),
    "a header or a row": (lambda p: p.write_text("a,1\n2,3\n4,5\n"), "t.csv", "add {header=True} if it holds column names, {header=False} if it is a row"),
    "numbers like names": (lambda p: p.write_text("1990,2000,2010\n" + "1,2,3\n0,4,1\n" * 4), "t.csv", "add {header=True} if it holds names, or {header=False}"),
    "lines of unequal length": (lambda p: p.write_text("a,b\n1,2\n3,4\n5,6,7\n"), "t.csv", "not part of the table with {name:skip_rows}"),
    "text of unequal length": (lambda p: p.write_text("a,b\n1,2\nx,4,z\n5,6\n"), "t.csv", "not part of the table with {name:skip_rows}"),
    "lines before the table": (lambda p: p.write_text("made by a program\nin two lines\n" + "a,b,c\n" + "1,2,3\n4,5,7\n" * 5), "t.csv", "{skip_rows=2}"),
    "an array named as text": (array, "t.csv", "name its format with {name:input_format}, or give the file the extension"),
    "text named as an array": (lambda p: p.write_text("a,b\n1,2\n3,4\n"), "t.npy", "name its format with {name:input_format}, or give the file the extension"),
    "no known format": (lambda p: p.write_bytes(b"\xd0\xcf\x11\xe0\0"), "t.xls", "name its format with {name:input_format}, or convert it"),
    "an empty column": (lambda p: p.write_text("a,b,c\n1,2,\n3,5,\n4,4,\n"), "t.csv", "leave it out with {drop=[2]}"),
    "an index": (lambda p: p.write_text(",a,b\nx,1,2\ny,3,5\nz,0,1\n"), "t.csv", "add {columns='0-2'}"),
    "an index of Parquet": (indexed, "t.parquet", "add {columns='0-2'}"),
    "nothing but an index": (lambda p: p.write_text(",Unnamed: 1,a\n1,2,3\n4,5,7\n6,1,1\n"), "t.csv", "add {columns='0-2'}"),
    "several arrays": (lambda p: np.savez(p, x=np.eye(3), y=np.eye(2)), "t.npz", "choose it as in {key='x'}"),
    "several tensors": (safetensors, "t.safetensors", "choose it as in {key='a'}"),
    "grey and colours": (lambda p: images(p, ((8, 8), 1), ((8, 8), 3)), "grey", "give {grey=True} or {rgb=True}"),
    "images of two sizes": (lambda p: images(p, ((8, 8), 1), ((9, 8), 1)), "sizes", "as in {patches=(11, 11)}"),
}


def text_of(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except (ValueError, OSError) as refused:
            return str(refused)
    return " ".join(str(one.message) for one in caught)


@pytest.mark.parametrize("case", CASES)
def test_readers_name_arguments_and_no_flags(case, tmp_path):
    make, name, message = CASES[case]
    path = tmp_path / name
    make(path)
    by_read, by_path = (text_of(lambda: call(path)) for call in (unmix.read, unmix.PCA().fit))
    if case == "an empty column":
        # A fit refuses the missing cells and names the column.
        assert "column 2 ('c') is NaN" in by_path
        by_path = by_read.replace("drop=[2]", "unmix.open(..., drop=[2])")
    for found in (by_read, by_path):
        assert found and not FLAG.search(found), found
    for argument in re.findall(r"\{(.*?)\}", message):
        short = argument.removeprefix("name:")
        whole = f"{short} of unmix.open" if argument != short else f"unmix.open(..., {short})"
        message_read, message_path = (message.replace("{" + argument + "}", form) for form in (short, whole))
        assert short in by_read and whole in by_path, (by_read, by_path)
    if message.count("{") == 1:
        assert message_read in by_read and message_path in by_path, (by_read, by_path)


def test_the_remedy_in_a_message_works(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,"b,c",d\n1,x,2\n2,y,5\n')
    with pytest.raises(ValueError) as refused:
        unmix.read(path)
    arguments = re.search(r"leave the column out with (drop=.*)$", str(refused.value))[1]
    np.testing.assert_array_equal(eval(f"unmix.read(path, {arguments})"), [[1, 2], [2, 5]])
    with pytest.raises(ValueError) as refused:
        unmix.PCA().fit(path)
    call = re.search(r"leave the column out with (unmix.open.*)$", str(refused.value))[1]
    assert eval(call.replace("...", "path")).shape == (2, 2)


def test_messages_are_in_pythons_notation(tmp_path):
    """Operations and values of the library's messages, in the words of Python; `unmix::Caller` translates them in one place."""
    gaps = np.where(np.eye(6, 4) > 0, np.nan, np.arange(24.0).reshape(6, 4))
    path = tmp_path / "m.safetensors"
    unmix.PCA(1).fit(np.arange(12.0).reshape(6, 2) ** 2).save(path)
    grown = [unmix.PCA(1).fit(np.arange(12.0).reshape(6, 2) ** 2)._model] * 2
    for call in (
        lambda: unmix.PCA().fit(gaps),
        lambda: unmix.PCA().fit(path),
        lambda: unmix.LinearEigenGAN(groups=[1]).fit(gaps),
        lambda: unmix.ICA(ortho=False, fun="skew").fit(np.nan_to_num(gaps)),
        lambda: grown[0].merge(grown[1], (0, 1, 0), "a.merge(b)"),
        lambda: unmix._unmix.fit("sparse-coder", "{}", np.eye(3), (0, 1, 0)),
    ):
        with pytest.raises(ValueError) as refused:
            call()
        message = str(refused.value)
        assert not FLAG.search(message) and "::" not in message and "unmix fit" not in message, message
        assert not re.search(r"=(true|false|null)\b", message), message


def test_summaries_and_pages_name_calls_and_no_commands(tmp_path):
    """A model of the command line, with the stability of many components, and pages that Python makes."""
    command = shutil.which("unmix", path=os.path.dirname(sys.executable))
    if command is None:
        pytest.skip("the command unmix is not in the environment")
    np.save(tmp_path / "x.npy", np.random.RandomState(0).randn(200, 24))
    subprocess.run([command, "fit", "pca", "x.npy", "-o", "m.safetensors", "--stability", "2", "--bootstrap", "0"], cwd=tmp_path, check=True, capture_output=True)
    shown = subprocess.run([command, "show", "m.safetensors"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "(all 24: unmix show MODEL --json)" in shown
    model = unmix.load(tmp_path / "m.safetensors")
    assert "(all 24: report_.stability)" in model.summary() and not FLAG.search(model.summary())
    assert len(model.report_.stability["halves"]) == 24
    X = unmix.datasets.rare_modules(n_samples=60, n_features=50, seed=0)
    rfn = unmix.RFN(4, max_iter=5, random_state=0).fit(X)
    other = unmix.RFN(4, max_iter=6, random_state=0).fit(X)
    pages = [unmix.report(rfn, X).text, unmix.report(rfn).text, unmix.report(rfn, X, beside=other).text, unmix.report(model).text]
    for page in pages:
        body = html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))
        text = re.sub(r"unmix fit pca [^\n]*", "", body)
        assert not FLAG.search(text) and not re.search(r"\bunmix (biclusters|report|show|encode)\b", text), text
    assert "unmix.biclusters(model, X)" in pages[0] and "unmix.report(model, X, path=" in pages[1] and "random_state=1" in pages[2]
