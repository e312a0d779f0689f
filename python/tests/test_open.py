"""`unmix.open`: a handle to rows in files, accepted wherever rows are."""

import copy
import gzip
import inspect
import io
import json
import os
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import unmix
from unmix import ICA, PCA, RFN, RICA, NeuralPCA


@pytest.fixture
def table(tmp_path):
    """A table as German spreadsheets write it (decimal commas, semicolons), and its numbers."""
    X = np.random.default_rng(0).laplace(size=(300, 4)).round(3)
    path = tmp_path / "t.csv"
    lines = [f"r{i};" + ";".join(f"{x}".replace(".", ",") for x in row) for i, row in enumerate(X)]
    path.write_text("id;a;b;c;d\n" + "\n".join(lines) + "\n")
    return path, X


def opened(path, **settings):
    return unmix.open(path, drop=["id"], decimal=",", **settings)


def test_a_handle_describes_its_files(table):
    path, X = table
    rows = opened(path)
    assert rows.shape == X.shape and len(rows) == 300 and rows.names == list("abcd")
    assert rows.dtype == np.float64 and rows.missing.tolist() == [0, 0, 0, 0] and rows.paths == [os.fspath(path)]
    np.testing.assert_array_equal(rows.head(3), X[:3])
    np.testing.assert_array_equal(rows.read(), X)
    assert rows.head(999).shape == X.shape
    assert repr(rows) == f"unmix.open({os.fspath(path)!r}, drop=['id'], decimal=',')"
    np.testing.assert_array_equal(eval(repr(rows)).read(), X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(rows)).read(), X)


@pytest.mark.filterwarnings("error")
def test_numpy_makes_no_array_of_a_handle(table):
    """Without a method of its own numpy would make an array of one object."""
    path, X = table
    rows = opened(path)
    for call in (np.asarray, np.array, np.mean, lambda rows: np.concatenate([X, rows]), lambda rows: X - rows):
        with pytest.raises(TypeError, match=r"^unmix\.open\(.* is a handle to files and not an array: give its rows, read\(\)"):
            call(rows)
    np.testing.assert_array_equal(np.asarray(rows.read()), X)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda rows: pickle.loads(pickle.dumps(rows))], ids=["deepcopy", "pickle"])
def test_a_copy_of_a_handle_refuses_files_that_have_changed_and_reads_no_others(tmp_path, copied):
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", np.eye(4))
    rows = unmix.open(tmp_path / "*.npy")
    np.save(tmp_path / "c.npy", np.eye(4))
    same = copied(rows)
    assert same.paths == rows.paths and same.shape == (8, 4) and repr(same) == repr(rows)
    np.testing.assert_array_equal(copied(same).read(), rows.read())
    np.save(tmp_path / "b.npy", 2 * np.eye(4))
    with pytest.raises(ValueError, match="open it again"):
        copied(rows).read()


#: Few components and iterations, where the defaults take long, and what a class has to be given.
SHORT = {
    "RFN": {"n_components": 3, "max_iter": 5},
    "RICA": {"n_components": 2, "max_iter": 20},
    "RobustPCA": {"alpha": 1.0, "noise": 0.0},
    "SigmaPCA": {"n_components": 2, "max_iter": 20},
    "StackedRFN": {"n_components": (3, 2), "max_iter": 5},
    "SubspaceClustering": {"n_clusters": 2, "n_components": 2, "algorithm": "k-subspaces"},
}


def short(cls):
    """Parameters with which a class is fitted in little time."""
    parameters = inspect.signature(cls).parameters
    required = {p.name: np.random.RandomState(1).randn(6, 4) for p in parameters.values() if p.default is p.empty}
    few = {"n_components": 2, "max_epochs": 2} if cls.__name__ not in SHORT else SHORT[cls.__name__]
    return required | {name: value for name, value in few.items() if name in parameters and name not in required}


def every_class():
    """An estimator of every class of the registry, and those of other ways to read rows."""
    classes = [getattr(unmix, method["class"]) for method in unmix.methods()]
    made = [cls(**short(cls)) for cls in classes]
    return [*made, PCA(2, svd_solver="full"), NeuralPCA(2, solver="adam", max_epochs=2), RICA(2, batch_size=50, max_epochs=2)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", every_class(), ids=lambda e: type(e).__name__)
def test_every_call_accepts_a_handle_and_gives_the_bits_of_the_array(table, estimator, tmp_path):
    from sklearn.base import clone

    path, X = table
    rows = opened(path)
    by_file, by_array = clone(estimator).set_params(random_state=0), clone(estimator).set_params(random_state=0)
    codes = by_file.fit_transform(rows)
    np.testing.assert_array_equal(codes, by_array.fit_transform(X))
    for name, tensor in by_array._model.tensors.items():
        np.testing.assert_array_equal(by_file._model.tensors[name], tensor)
    assert list(by_file.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(by_file.transform(rows), codes)
    by_file.encode(rows, out=tmp_path / "codes.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "codes.npy"), codes)
    unmix.report(by_file, rows, path=tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 5_000


def test_partial_fit_selection_scores_and_stability_accept_a_handle(table):
    path, X = table
    rows = opened(path)
    grown = PCA(2).partial_fit(opened(path, rows=(0, 100))).partial_fit(opened(path, rows=slice(100, None)))
    np.testing.assert_array_equal(grown.components_, PCA(2).partial_fit(X).components_)
    np.testing.assert_array_equal(grown.score_samples(rows), grown.score_samples(X))
    assert dict(unmix.select_components(rows)) == dict(unmix.select_components(X))
    pca = PCA(2).fit(rows)
    by_file, by_array = (unmix.stability(pca, given, splits=2, restarts=1, random_state=0) for given in (rows, X))
    np.testing.assert_array_equal(by_file.halves, by_array.halves)


def test_missing_cells_are_counted_and_rows_with_them_left_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n?,4\n5,6\n7,-\n9,12\n")
    rows = unmix.open(path, na="?,-".split(","))
    assert rows.missing.tolist() == [1, 1]
    with pytest.raises(ValueError, match="NaN"):
        PCA().fit(rows)
    complete = unmix.open(path, na=["?", "-"], missing="drop")
    with pytest.warns(UserWarning, match="2 of 5 rows have a missing cell and are left out"):
        pca = PCA().fit(complete)
    np.testing.assert_array_equal(pca.components_, PCA().fit([[1, 2], [5, 6], [9, 12]]).components_)
    single = unmix.open(path, na=["?", "-"], dtype=np.float32, rows=(0, 1))
    assert single.dtype == np.float32 and single.read().dtype == np.float32 and single.shape == (1, 2)


def test_missing_cells_of_many_columns_without_names_are_counted(tmp_path):
    X = np.zeros((3, 70_000), dtype=np.float32)
    X[1, [0, 69_999]] = np.nan
    np.save(tmp_path / "wide.npy", X)
    rows = unmix.open(tmp_path / "wide.npy")
    assert rows.names is None and rows.shape == X.shape
    np.testing.assert_array_equal(rows.missing, np.isnan(X).sum(axis=0))


def test_one_weight_for_a_file_and_negative_numbers_of_rows_are_refused(table):
    rows = opened(table[0])
    with pytest.raises(ValueError, match="one number for each row of a file, got a single number"):
        PCA(1).fit(rows, sample_weight=2.0)
    with pytest.raises(ValueError, match="n must be a non-negative integer, got -1"):
        rows.head(-1)
    assert rows.head(2**62).shape == rows.shape


def test_columns_may_be_an_array(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,2,3\n4,5,7\n7,8,8\n1,0,4\n")
    for columns in (np.array([0, 2]), np.array(["a", "c"])):
        pca = PCA(1).fit(unmix.open(path, columns=columns))
        assert list(pca.feature_names_in_) == ["a", "c"]
        np.testing.assert_array_equal(eval(pca.report_.invocation).components_, pca.components_)


def test_columns_without_names_take_those_of_the_caller(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("5,2,3\n4,5,7\n7,8,8\n1,0,4\n")
    rows = unmix.open(path, names=["a", "b", "c"], columns=["c", "a"])
    assert rows.names == ["c", "a"] and rows.read().tolist() == [[3, 5], [7, 4], [8, 7], [4, 1]]
    assert eval(repr(rows)).names == pickle.loads(pickle.dumps(rows)).names == ["c", "a"]
    pca = PCA(1, random_state=0).fit(rows)
    assert list(pca.feature_names_in_) == ["c", "a"]
    np.testing.assert_array_equal(eval(pca.report_.invocation).components_, pca.components_)
    # Columns are matched by these names, and names of the selected columns alone must have the order of the model.
    codes = pca.transform(rows)
    np.testing.assert_array_equal(pca.transform(unmix.open(path, names=np.array(["a", "b", "c"]), columns=["a", "c"])), codes)
    np.testing.assert_array_equal(pca.transform(unmix.open(path, names=["c", "a"], columns=[2, 0])), codes)
    with pytest.raises(ValueError, match="give one name for each column of the input"):
        pca.transform(unmix.open(path, names=["a", "c"], columns=[0, 2]))
    for names, message in [
        (["a", "b"], "must have one name for each of the 3 columns"),
        (["a", "b", "a"], "'a' more than once"),
        ("abc", "names must be a list of strings"),
        (5, "names must be a list of strings"),
    ]:
        with pytest.raises(ValueError, match=message):
            unmix.open(path, names=names).shape
    with pytest.raises(ValueError, match="names= and triplets=True are mutually exclusive"):
        unmix.open(path, names=["a", "b", "c"], triplets=True)
    path.write_text("u,v,w\n1,2,3\n4,5,7\n")
    with pytest.raises(ValueError, match="have names already"):
        unmix.open(path, names=["a", "b", "c"]).shape


def test_changed_files_and_bad_options_are_refused(table, tmp_path):
    path, X = table
    rows = opened(path)
    PCA(1).fit(rows)
    path.write_text(path.read_text() + "r;1;2;3;4\n")
    before = path.stat().st_size - len("r;1;2;3;4\n")
    with pytest.raises(ValueError, match="bytes when it was opened and has .* now.*open it again") as changed:
        PCA(1).fit(rows)
    assert (changed.value.need, changed.value.got) == (before, path.stat().st_size)
    rows = opened(path)
    stat = path.stat()
    path.write_text(path.read_text().replace("1", "2"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 5_000_000_000))
    assert path.stat().st_size == stat.st_size
    with pytest.raises(ValueError, match="it was modified after it was opened; open it again"):
        PCA(1).fit(rows)
    for settings, message in [
        ({"missing": "mean"}, "must be 'keep' or 'drop', got"),
        ({"decimal": "-"}, r"must be '\.' or ',', got"),
        ({"delimiter": "::"}, "must be one ASCII character, got"),
        ({"dtype": "int32"}, "float32.*float64"),
        ({"dtype": "banana"}, "float32.*float64"),
        ({"na": 5}, "must be a list of strings"),
        ({"na": ["?", "?"]}, "na must be distinct, got '\\?' more than once; give each mark once"),
        ({"rows": (1,)}, "the first row and the one after the last"),
        ({"rows": 5}, "the first row and the one after the last"),
        ({"rows": (5, 5), "drop": "id", "decimal": ","}, "there are rows 0 to"),
        ({"rows": slice(0, 9, 2)}, "the first row and the one after the last"),
        ({"stride": 2}, "stride=2 applies to patches only"),
        ({"columns": ["a", "b", "a"], "decimal": ","}, "it names column 1 \\('a'\\) twice; name each column once"),
    ]:
        with pytest.raises(ValueError, match=message):
            unmix.open(path, **settings).shape
    for settings, message in [
        ({"skip_rows": -1}, "skip_rows must be an integer of at least 0, got -1"),
        ({"patches": (2, 2), "stride": 0}, "stride must be an integer of at least 1, got 0"),
        ({"skip_rows": 2**64}, r"skip_rows must be an integer below 2\*\*64, got 18446744073709551616"),
        ({"columns": [-1]}, "columns must be a list of names and of numbers from 0, .*, got -1 in it"),
        ({"delimiter": "||"}, "delimiter must be one ASCII character, got '\\|\\|'; .* or 'tab', or 'space'"),
        ({"drop": ["a", "a"]}, r"drop=\['a', 'a'\] is not possible: it names column 1 \('a'\) twice"),
        ({"drop": ["id"], "decimal": ",", "rows": (900, 909)}, r"rows=\(900, 909\) is not possible: there are rows 0 to"),
        ({"header": False, "columns": ["x"]}, r"columns=\['x'\] is not possible: .*, as in \[0, 5\] or '0,5-9'"),
        ({"patches": (3, 3)}, r"patches=\(3, 3\) is not possible"),
        ({"input_format": "cvs"}, r"there is no input format named 'cvs' \(did you mean 'csv'\?\); choose one of: npy, npz, csv"),
        ({"input_format": "parquet"}, "not those of a file of type parquet, but text; give input_format='csv'"),
    ]:
        with pytest.raises(ValueError, match=message):
            unmix.open(path, **settings).shape
    for settings, message in [
        ({"header": "yes"}, "header must be True or False, got 'yes'"),
        ({"transpose": "yes"}, "transpose must be True or False, got 'yes'"),
        ({"skip_rows": 1.5}, "skip_rows must be an integer of at least 0, got 1.5"),
        ({"columns": 5}, "columns must be a list of names and of numbers from 0, .*, got 5"),
        ({"key": 5}, "key must be a string, got 5"),
        ({"input_format": 5}, "input_format must be a string, got 5"),
    ]:
        with pytest.raises(TypeError, match=message):
            unmix.open(path, **settings)
    with pytest.raises(TypeError, match="colums"):
        unmix.open(path, colums="a")
    with pytest.raises(FileNotFoundError):
        unmix.open(tmp_path / "none.csv")


def test_what_is_not_a_path_is_refused_with_what_would_work(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.eye(3))
    with path.open("rb") as file:
        for given, error, message in [
            (None, TypeError, "got None"),
            (3, TypeError, "got 3"),
            (np.eye(3), TypeError, "got rows in memory, of type ndarray; give them to fit and to the other functions as they are"),
            (file, TypeError, f"got an open file; give its path, {os.fspath(path)!r}"),
            (io.BytesIO(b"1,2"), TypeError, "got an open file; write its contents to a file, and give the path"),
            (unmix.open(path), TypeError, "got a handle; give it to fit and to the other functions as it is"),
            (b"x.npy", TypeError, "got b'x.npy'"),
            ({"x": 1}, TypeError, "got {'x': 1}"),
            ([[1.0, 2.0]], TypeError, "got [1.0, 2.0] in a list"),
            ([], ValueError, "got no path; name at least one file"),
            ("", ValueError, "got an empty name; name a file"),
        ]:
            for call in (unmix.open, unmix.read):
                with pytest.raises(error, match="^path must be a path or a list of paths, as in 'rows.csv'") as refused:
                    call(given)
                assert str(refused.value).endswith(message)
        with pytest.raises(TypeError, match="X is an open file; give its path, .*x.npy"):
            PCA().fit(file)
    # Lists of all kinds name files.
    for paths in ([path], (os.fspath(path),), iter([path]), np.array([os.fspath(path)])):
        assert unmix.open(paths).shape == (3, 3)


def modified_later(path):
    """Moves the modification time of a file: systems count it in steps of some milliseconds."""
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 5_000_000_000))


def test_properties_of_changed_files_are_not_given_from_memory(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,\n")
    rows = unmix.open(path)
    assert (rows.shape, rows.names, rows.dtype, rows.missing.tolist()) == ((2, 2), ["a", "b"], np.float64, [0, 1])
    path.write_text("c,d\n,4\n3,5\n")
    modified_later(path)
    for name in ("shape", "names", "dtype", "missing"):
        with pytest.raises(ValueError, match="after it was opened; open it again"):
            getattr(rows, name)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        rows.shape


@pytest.mark.skipif(os.name != "posix", reason="other systems have no number of a file")
def test_changed_files_of_equal_length_and_modification_time_are_refused(tmp_path):
    path, other = tmp_path / "t.npy", tmp_path / "other.npy"
    np.save(path, [[1.0, 2.0], [3.0, 5.0]])
    stat = path.stat()
    rows = unmix.open(path)
    assert rows.shape == (2, 2)
    np.save(other, [[1.0, 2.0], [3.0, 6.0]])
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    other.rename(path)
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (stat.st_size, stat.st_mtime_ns)
    for call in (lambda: rows.shape, lambda: PCA(1).fit(rows), rows.read):
        with pytest.raises(ValueError, match="it was replaced by another file after it was opened; open it again"):
            call()


def test_changed_files_are_refused_while_a_fit_reads_them(tmp_path):
    path = tmp_path / "t.npy"
    X = np.random.default_rng(0).normal(size=(2000, 4))

    def overwrite(iteration):
        with path.open("r+b") as file:
            file.seek(-X.nbytes, os.SEEK_END)
            file.write(np.zeros_like(X).tobytes())
        modified_later(path)

    for opened in (os.fspath, unmix.open):
        np.save(path, X)
        with pytest.raises(ValueError, match="it was modified while its rows were read; make sure that nothing writes to it"):
            # A method that reads the rows in every iteration.
            RFN(2, max_iter=20, random_state=0, callback=overwrite).fit(opened(path))


def test_sample_weights_follow_the_rows_of_a_handle(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[25, 1] = np.nan
    np.save(tmp_path / "x.npy", X)
    weights = 1.0 + np.arange(30) % 4
    some = unmix.open(tmp_path / "x.npy", rows=(4, 20))
    by_all, by_some = (PCA(2).fit(some, sample_weight=given) for given in (weights, weights[4:20]))
    assert np.array_equal(by_all.components_, by_some.components_)
    complete = unmix.open(tmp_path / "x.npy", missing="drop")
    assert PCA(2).fit(complete, sample_weight=weights).n_samples_ == weights.sum() - weights[25]
    with pytest.raises(ValueError, match="each of the 16 rows selected of .*, or for each of its 30 rows, got 5 weights"):
        PCA(2).fit(some, sample_weight=weights[:5])
    with pytest.raises(ValueError, match="row 25, column 1 is NaN"):
        PCA(2).fit(unmix.open(tmp_path / "x.npy", rows=(20, 30)))


def test_sample_weights_are_a_column_of_a_file(table, tmp_path):
    path, X = table
    weights = np.random.RandomState(0).uniform(0.5, 2, len(X))
    np.savetxt(tmp_path / "w.csv", np.c_[weights, weights], delimiter=",", header="a,b", comments="", fmt="%.17g")
    column = unmix.open(tmp_path / "w.csv", columns="b")
    by_array, by_file = (PCA(2, random_state=0).fit(X, sample_weight=given) for given in (weights, column))
    np.testing.assert_array_equal(by_array.components_, by_file.components_)
    assert "sample_weight=unmix.open(" in PCA(2).fit(X, sample_weight=column).report_.invocation
    with pytest.raises(ValueError, match="must be one column, got 2"):
        PCA(2).fit(X, sample_weight=unmix.open(tmp_path / "w.csv"))


def test_the_call_that_made_a_model_is_recorded(table, tmp_path):
    path, X = table
    pca = PCA(2, whiten=True, random_state=0).fit(opened(path))
    call = pca.report_.to_dict()["invocation"]
    assert call == f"unmix.PCA(n_components=2, random_state=0, whiten=True).fit(unmix.open({os.fspath(path)!r}, drop=['id'], decimal=','))"
    again = eval(call)
    np.testing.assert_array_equal(again.components_, pca.components_)
    pca.save(tmp_path / "m.safetensors")
    unmix.report(pca, path=tmp_path / "m.html")
    assert "unmix.PCA(n_components=2, random_state=0, whiten=True).fit(" in (tmp_path / "m.html").read_text()
    for made, text in [
        (PCA(1, random_state=3).fit(X), "unmix.PCA(n_components=1, random_state=3).fit(X)"),
        (
            PCA(1, random_state=3).fit(X, sample_weight=np.ones(300)),
            "unmix.PCA(n_components=1, random_state=3).fit(X, sample_weight=sample_weight)",
        ),
        (PCA(random_state=3).partial_fit(X), "unmix.PCA(random_state=3).partial_fit(X)"),
        (
            PCA(1, random_state=3).partial_fit(X).merge(PCA(random_state=4).partial_fit(X)),
            "unmix.PCA(n_components=1, random_state=3).partial_fit(X).merge(unmix.PCA(random_state=4).partial_fit(X))",
        ),
        (ICA(2, w_init=np.eye(2), random_state=3).fit(X), "unmix.ICA(n_components=2, random_state=3, w_init=[[1.0, 0.0], [0.0, 1.0]]).fit(X)"),
        (
            ICA(2, init=ICA(2, random_state=0).fit(X), random_state=3).fit(X),
            "unmix.ICA(init=unmix.ICA(n_components=2, random_state=0).fit(X), n_components=2, random_state=3).fit(X)",
        ),
    ]:
        assert made.report_.to_dict()["invocation"] == text
    # The seed that was drawn is written, so that the call gives the same bits.
    for state in (None, np.random.RandomState(5)):
        for made in (ICA(2, random_state=state).fit(X), ICA(random_state=state).fit(X)):
            call_again = made.report_.invocation
            assert f"random_state={made.report_.seed})" in call_again
            np.testing.assert_array_equal(eval(call_again).components_, made.components_)
    # Codes to be reproduced are part of the call.
    atoms = np.eye(3)[:, : X.shape[1]] if X.shape[1] <= 3 else np.eye(X.shape[1])
    y = np.maximum(X[:, : len(atoms)], 0)
    learned = unmix.LISTA(atoms, max_epochs=1, random_state=0).fit(X, y)
    assert learned.report_.invocation.endswith(".fit(X, y)")
    for ignored in (None, np.arange(len(X))):
        assert unmix.LISTA(atoms, max_epochs=1, random_state=0).fit(X, ignored).report_.invocation.endswith(".fit(X)")
    merged = PCA(1, random_state=3).partial_fit(X)
    for _ in range(12):
        merged = merged.merge(merged)
    assert len(merged.report_.invocation) < 3000
    assert json.loads(json.dumps(pca.report_.to_dict()))["invocation"] == call


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_calls_with_arrays_models_paths_and_callables_can_be_evaluated(table, tmp_path):
    _, X = table
    rotation = np.linalg.qr(np.random.RandomState(1).randn(4, 4))[0]
    dictionary = np.random.RandomState(2).randn(40, 4)
    np.save(tmp_path / "atoms.npy", dictionary)
    start = ICA(2, random_state=0).fit(X)

    def fun(y):
        return np.tanh(y), (1 - np.tanh(y) ** 2).mean(axis=-1)

    for made, part in [
        (ICA(4, w_init=rotation, random_state=0).fit(X), f"w_init={rotation.tolist()!r}"),
        (ICA(4, w_init=rotation.tolist(), random_state=0).fit(X), f"w_init={rotation.tolist()!r}"),
        (ICA(2, init=start, random_state=1).fit(X), f"init={start.report_.invocation}"),
        (unmix.FastICA(2, fun=fun, random_state=0).fit(X), "fun=fun"),
        (unmix.SparseCoder(dictionary, random_state=0).fit(X), "dictionary=dictionary"),
        (unmix.SparseCoder(tmp_path / "atoms.npy", random_state=0).fit(X), f"dictionary={os.fspath(tmp_path / 'atoms.npy')!r}"),
        (unmix.SparseCoder(start, random_state=0).fit(X), f"dictionary={start.report_.invocation}"),
    ]:
        call = made.report_.invocation
        assert part in call
        again = eval(call, {"unmix": unmix, "X": X, "fun": fun, "dictionary": dictionary})
        assert again.report_.invocation == call
        np.testing.assert_array_equal(again.components_, made.components_)
        np.testing.assert_array_equal(again.transform(X), made.transform(X))
    # A model that was made from another one, many times over, does not contain all of their calls.
    for _ in range(25):
        start = ICA(2, init=start, max_iter=1, random_state=0).fit(X)
    assert len(start.report_.invocation) < 1200


def test_a_transposed_table_has_the_names_in_its_column_of_text(tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text("gene,cell1,cell2,cell3\nBRCA1,1,2,3\nTP53,4,5,9\n")
    for settings in [{"drop": "gene"}, {}]:
        rows = unmix.open(path, transpose=True, **settings)
        assert (rows.shape, rows.names) == ((3, 2), ["BRCA1", "TP53"])
    model = PCA(1).fit(unmix.open(path, transpose=True))
    assert model._model.feature_names == ["BRCA1", "TP53"]


def test_a_folder_stands_for_its_tables(tmp_path):
    for i in range(3):
        (tmp_path / f"part{i}.csv").write_text(f"a,b\n{i},1\n{i},2\n")
    assert unmix.open(tmp_path).shape == (6, 2)
    assert unmix.open(tmp_path, columns="a").read().ravel().tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("copied", [lambda rows: rows, lambda rows: pickle.loads(pickle.dumps(rows))], ids=["handle", "copy"])
def test_a_folder_to_which_files_were_added_is_refused(tmp_path, copied):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("a,b\n1,2\n3,4\n")
    rows = unmix.open(tmp_path)
    np.save(tmp_path / "codes.npy", np.eye(2))
    assert copied(rows).shape == (4, 2)
    (tmp_path / "c.csv").write_text("a,b\n5,6\n")
    for use in (lambda rows: rows.shape, lambda rows: rows.read(), lambda rows: unmix.PCA(1).fit(rows)):
        with pytest.raises(ValueError, match=r"'c\.csv' was added to the folder after it was opened; open it again"):
            use(copied(rows))
    (tmp_path / "c.csv").unlink()
    assert copied(rows).shape == (4, 2)


def _wav(folder, X):
    wavfile = pytest.importorskip("scipy.io.wavfile")
    wavfile.write(folder / "x.wav", 8000, (X / np.abs(X).max()).astype(np.float32))
    return "x.wav"


def _pictures(folder, X):
    image = pytest.importorskip("PIL.Image")
    (folder / "pictures").mkdir()
    for i in range(3):
        image.fromarray(np.uint8(255 * np.random.default_rng(i).random((20, 24)))).save(folder / "pictures" / f"{i}.png")
    return "pictures"


def test_pictures_that_are_read_in_another_way_than_those_of_the_fit_give_a_warning(tmp_path):
    folder = tmp_path / _pictures(tmp_path, None)
    standardised = unmix.open(folder, patches=(4, 4), normalise=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = unmix.PCA(3).fit(standardised)
        codes = model.transform(unmix.open(folder, patches=(4, 4), normalise=True, stride=2))
        model.transform(standardised.read())
    assert codes.shape[1] == 3
    model.save(tmp_path / "m.safetensors")
    for fitted in (model, unmix.load(tmp_path / "m.safetensors")):
        for apply in (fitted.transform, fitted.score_samples):
            with pytest.warns(UserWarning, match="of 4x4 pixels, and those of the fit were read as patches of 4x4 pixels, each standardised"):
                apply(unmix.open(folder, patches=(4, 4)))


def _array(name, of):
    def write(folder, X):
        # Into an open file: numpy appends .npy to other names.
        with (folder / name).open("wb") as file:
            np.save(file, of(X))
        return name

    return write


def _text(content):
    def write(folder, X):
        (folder / "x.txt").write_text(content(X))
        return "x.txt"

    return write


def _arrays(folder, X):
    np.savez(folder / "x.npz", a=X, b=X[:, ::-1])
    return "x.npz"


def _lines(X, by):
    return "\n".join(by.join(map(str, row)) for row in X) + "\n"


#: A file for every way to read one: how it is written, and the settings.
WAYS = {
    "wav": (_wav, {}),
    "patches": (_pictures, {"patches": (5, 5), "number": 200, "grey": True}),
    "pictures": (_pictures, {"grey": True}),
    "key": (_arrays, {"key": "b"}),
    "transpose": (_array("x.npy", np.transpose), {"transpose": True}),
    "input_format": (_array("x.csv", lambda X: X), {"input_format": "npy"}),
    "rows_axis": (_array("x.npy", lambda X: X.T.reshape(2, 2, -1)), {"rows_axis": 2}),
    "rows": (_array("x.npy", lambda X: X), {"rows": (7, 150), "dtype": "float32"}),
    "no header": (_text(lambda X: _lines(X, ",")), {"header": False}),
    "skip_rows": (_text(lambda X: "made by a program\n\n" + _lines(X, ";")), {"skip_rows": 2, "delimiter": ";"}),
    "blanks": (_text(lambda X: _lines(X, "  ")), {"delimiter": "space"}),
    "na": (_text(lambda X: _lines(X, ",") + "-999,1,2,3\n"), {"na": "-999", "missing": "drop"}),
}


@pytest.mark.filterwarnings("ignore:.*left out")
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_read_a_file_is_streamed_into_a_fit(way, tmp_path):
    write, settings = WAYS[way]
    path = tmp_path / write(tmp_path, np.random.default_rng(0).laplace(size=(300, 4)))
    rows = unmix.open(path, **settings)
    X = unmix.read(path, **settings)
    streamed, held = PCA(1, random_state=0).fit(rows), PCA(1, random_state=0).fit(X)
    for name, tensor in held._model.tensors.items():
        np.testing.assert_array_equal(streamed._model.tensors[name], tensor)
    np.testing.assert_array_equal(streamed.transform(rows), held.transform(X))


def test_the_format_of_a_file_can_be_named(tmp_path):
    X = np.random.default_rng(0).laplace(size=(30, 3))
    path = tmp_path / "data.bin"
    # A header that begins with the column P1 looks like an image.
    path.write_text("P1\tP2\tP3\n" + _lines(X, "\t"))
    with pytest.raises(ValueError, match="cannot be read: its image is corrupt"):
        unmix.read(path)
    np.testing.assert_array_equal(unmix.read(path, input_format="tsv"), X)
    rows = unmix.open(path, input_format=".TSV")
    assert rows.names == ["P1", "P2", "P3"]
    assert repr(rows) == f"unmix.open({str(path)!r}, input_format='.TSV')"
    model = PCA(2, random_state=0).fit(rows)
    assert model.report_.invocation.endswith(f".fit(unmix.open({str(path)!r}, input_format='.TSV'))")
    again = eval(model.report_.invocation)
    np.testing.assert_array_equal(again.components_, model.components_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(rows)).read(), X)
    compressed = tmp_path / "compressed"
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    np.testing.assert_array_equal(unmix.read(compressed, input_format="tsv"), X)


def test_the_format_of_the_standard_input_can_be_named(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(3, 2))
    script = "import sys, unmix; print(unmix.read('-', input_format=sys.argv[1]).tolist())"
    for format, found in [("npy", "[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]"), ("wav", "but those of type npy; give input_format='npy'")]:
        with (tmp_path / "x.npy").open() as file:
            ran = subprocess.run([sys.executable, "-c", script, format], stdin=file, capture_output=True, text=True)
        assert found in ran.stdout + ran.stderr, ran.stderr


#: Reads the standard input more than once: shape, a fit, codes; and what a handle of it refuses.
STDIN = """
import pickle, sys
import numpy as np, unmix
rows = unmix.open("-", drop=["id"], decimal=",")
print(rows.shape, rows.names, repr(rows))
model = unmix.PCA(1, random_state=0).fit(rows)
np.testing.assert_array_equal(model.components_, unmix.PCA(1, random_state=0).fit(rows.read()).components_)
print(model.transform(rows).shape, model.report_.invocation)
try:
    pickle.dumps(rows)
except TypeError as refused:
    print(refused)
try:
    unmix.open("-").shape
except ValueError as refused:
    print(refused)
"""


def test_the_standard_input_is_copied_and_read_again(table):
    path, X = table
    with path.open() as file:
        ran = subprocess.run([sys.executable, "-c", STDIN], stdin=file, capture_output=True, text=True)
    piped = subprocess.run([sys.executable, "-c", STDIN], input=path.read_text(), capture_output=True, text=True)
    assert ran.returncode == piped.returncode == 0, ran.stderr + piped.stderr
    assert ran.stdout == piped.stdout
    described, fitted, pickled, again = ran.stdout.splitlines()
    assert described == "(300, 4) ['a', 'b', 'c', 'd'] unmix.open('-', drop=['id'], decimal=',')"
    assert fitted == "(300, 1) unmix.PCA(n_components=1, random_state=0).fit(unmix.open('-', drop=['id'], decimal=','))"
    assert "cannot be pickled" in pickled and "the standard input" in again and "it is empty" in again


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_copied_and_read_again(table, tmp_path):
    path, X = table
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    rows = opened(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(path.read_text()))
    writer.start()
    np.testing.assert_array_equal(rows.read(), X)
    writer.join()
    np.testing.assert_array_equal(rows.head(2), X[:2])


def test_a_list_of_cells_is_a_sparse_matrix(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text("user;film;day;stars\n0;2;9;1,5\n0;0;9;0\n2;1;8;4\n1;1;7;\n")
    settings = {"columns": ["user", "film", "stars"], "decimal": ",", "triplets": True}
    cells = unmix.open(path, **settings)
    assert (cells.shape, len(cells), cells.names, cells.dtype) == ((3, 3), 3, None, np.float64)
    assert cells.missing.tolist() == [2, 2, 2]
    S = cells.read()
    assert (S.format, S.nnz, S.toarray().tolist()) == ("csr", 3, [[0, 0, 1.5], [0, 0, 0], [0, 4, 0]])
    assert cells.head(1).shape == (1, 3) and cells.head(1).nnz == 2
    assert repr(cells).endswith("decimal=',', triplets=True)")
    for again in (eval(repr(cells)), pickle.loads(pickle.dumps(cells))):
        assert (again.read() != S).nnz == 0
    assert unmix.read(path, dtype="float32", **settings).dtype == np.float32
    # Cells that are not listed are 0 for other methods that take sparse rows.
    pca = PCA(1, random_state=0).fit(cells)
    np.testing.assert_array_equal(pca.components_, PCA(1, random_state=0).fit(S).components_)
    path.write_text("row,column,value\n0,1,2\n1,0,1\n")
    narrow = unmix.open(path, triplets=True)
    assert narrow.shape == (2, 2) and pca.transform(narrow).shape == (2, 1)


def test_lists_of_cells_are_refused_where_they_have_no_meaning(tmp_path):
    path = tmp_path / "cells.csv"

    def cells(text):
        path.write_text(text)
        return unmix.open(path, triplets=True)

    rows = cells("r,c,v\n0,0,1\n1,1,2\n2,0,3\n")
    fitted = ICA(2, random_state=0).fit(np.random.default_rng(0).laplace(size=(300, 2)))
    for call in (lambda: ICA(1).fit(rows), lambda: fitted.transform(rows)):
        with pytest.raises(ValueError, match="ica of a list of cells is not possible: it needs all entries.*use MatrixCompletion"):
            call()
    with pytest.raises(ValueError, match="sample_weight must be one number for each row, got a list of cells"):
        PCA(1).fit(np.eye(3), sample_weight=rows)
    for text, message in [
        ("a,b,c,d\n0,0,1,2\n", "choose three, as in columns='a,b,c'"),
        ("a,b,c\nann,0,1\n", "replace names by numbers first"),
        ("a,b,c\n0,0,1\n0,0,2\n", "lines 0 and 1 .* are of the same cell"),
        ("a,b\n0,0\n", "has no column of values"),
        ("a,b,c\n0.5,0,1\n", "number rows and columns from 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            cells(text).shape
    with pytest.warns(UserWarning, match="are rows and columns numbered from 1"):
        cells("a,b,c\n1,1,3\n1,2,4\n").read()


def test_modules_parts_and_references_accept_a_handle(tmp_path):
    X = np.abs(np.random.default_rng(0).normal(size=(60, 5)))
    X[:20, :2] += 4
    np.save(tmp_path / "x.npy", X)
    handle = unmix.open(tmp_path / "x.npy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = unmix.biclusters(unmix.RFN(2, max_iter=20, random_state=0).fit(X), X, n_starts=0)
        ica = unmix.ICA(2, random_state=0).fit(X)
    for rows in (handle, tmp_path / "x.npy", X):
        for i in range(len(found)):
            np.testing.assert_array_equal(found.get_submatrix(i, rows), X[np.ix_(*found.get_indices(i))])
    low_rank = unmix.RobustPCA(noise=0.0).fit(X)
    drawn = [unmix.plot.parts(low_rank, rows).axes[0].lines[0].get_ydata() for rows in (handle, X)]
    np.testing.assert_array_equal(*drawn)
    np.testing.assert_array_equal(ica.match(handle, X), ica.match(X, handle))
    with pytest.raises(ValueError, match="a handle or an array together with X; X is not given"):
        ica.match(handle)
