"""Every reader against Python's own readers, to the bit, and all of them against each other."""

import csv
import gzip
import io
import json
import struct

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unmix
from unmix import PCA

SEEDS = pytest.mark.parametrize("seed", range(4))
DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


def assert_same(found, expected):
    """Assert equal numbers to the bit, in the type in which they are computed."""
    expected = np.asarray(expected)
    kind = np.float32 if expected.dtype.kind == "f" and expected.dtype.itemsize <= 4 else np.float64
    expected = expected.astype(kind)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    # NaNs differ in their bits, which are not compared.
    clean = [np.ascontiguousarray(np.where(np.isnan(x), kind(np.nan), x)) for x in (found, expected)]
    assert clean[0].tobytes() == clean[1].tobytes()


def random(rng, dtype, shape=None):
    """Numbers over the whole range of the type, including signed zeros and the largest."""
    shape = shape or tuple(rng.randint(1, 40, size=2))
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.rand(*shape) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        x = np.frombuffer(rng.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape).copy()
        x.flat[0] = info.max
        return x
    with np.errstate(over="ignore"):
        x = (rng.randn(*shape) * 10.0 ** rng.randint(-4, 4, size=shape)).astype(dtype)
    x.flat[0] = -0.0
    x.flat[-1] = np.finfo(dtype).max if x.size > 1 else x.flat[-1]
    return x


# Arrays


@SEEDS
@pytest.mark.parametrize("dtype", DTYPES)
def test_npy_of_every_type_order_and_byte_order(tmp_path, dtype, seed):
    x = random(np.random.RandomState(seed), dtype)
    for name, stored in {
        "c": x,
        "fortran": np.asfortranarray(x),
        "big": x.astype(x.dtype.newbyteorder(">")),
        "big fortran": np.asfortranarray(x.astype(x.dtype.newbyteorder(">"))),
    }.items():
        path = tmp_path / f"{name}.npy"
        np.save(path, stored)
        assert_same(unmix.read(path), np.load(path))
        assert_same(unmix.read(path, transpose=True), np.load(path).T)
        (tmp_path / "x.npy.gz").write_bytes(gzip.compress(path.read_bytes()))
        assert_same(unmix.read(tmp_path / "x.npy.gz"), x)


@SEEDS
def test_npy_of_more_axes_is_flattened_as_numpy_does(tmp_path, seed):
    rng = np.random.RandomState(seed)
    x = random(rng, "f8", tuple(rng.randint(1, 7, size=rng.randint(3, 5))))
    for order in "CF":
        np.save(tmp_path / "x.npy", np.asarray(x, order=order))
        assert_same(unmix.read(tmp_path / "x.npy"), x.reshape(len(x), -1))
        for axis in range(x.ndim):
            moved = np.moveaxis(x, axis, 0)
            assert_same(unmix.read(tmp_path / "x.npy", rows_axis=axis), moved.reshape(len(moved), -1))
        for axes in [(0, 1), (0, 2), (2, 0), [1]]:
            moved = np.moveaxis(x, axes, range(len(axes)))
            n = np.prod(moved.shape[: len(axes)])
            assert_same(unmix.read(tmp_path / "x.npy", rows_axis=axes), moved.reshape(n, -1))
    np.save(tmp_path / "one.npy", x.ravel())
    assert_same(unmix.read(tmp_path / "one.npy"), x.reshape(-1, 1))


@SEEDS
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_by_key(tmp_path, save, seed):
    rng = np.random.RandomState(seed)
    arrays = {f"a{i}": random(rng, dtype) for i, dtype in enumerate(DTYPES)}
    save(tmp_path / "x.npz", **arrays)
    theirs = np.load(tmp_path / "x.npz")
    for key in arrays:
        assert_same(unmix.read(tmp_path / "x.npz", key=key), theirs[key])
    save(tmp_path / "one.npz", arrays["a3"])
    assert_same(unmix.read(tmp_path / "one.npz"), arrays["a3"])
    with pytest.raises(ValueError, match=r"it holds 12 arrays \(a0, a1, "):
        unmix.read(tmp_path / "x.npz")
    with pytest.raises(ValueError, match="there is no array named 'a99'"):
        unmix.read(tmp_path / "x.npz", key="a99")


def safetensors(arrays):
    names = {"?": "BOOL", "i": "I", "u": "U", "f": "F"}
    header, data = {}, b""
    for key, x in arrays.items():
        kind = "BOOL" if x.dtype.kind == "b" else f"{names[x.dtype.kind]}{8 * x.dtype.itemsize}"
        start, data = len(data), data + np.ascontiguousarray(x).tobytes()
        header[key] = {"dtype": kind, "shape": x.shape, "data_offsets": [start, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


@SEEDS
def test_safetensors_by_key(tmp_path, seed):
    rng = np.random.RandomState(seed)
    # Larger types first, as safetensors' own writer orders them.
    arrays = {f"a{dtype}": random(rng, dtype) for dtype in sorted(DTYPES, key=lambda d: -np.dtype(d).itemsize)}
    (tmp_path / "x.safetensors").write_bytes(safetensors(arrays))
    for key, x in arrays.items():
        assert_same(unmix.read(tmp_path / "x.safetensors", key=key), x)


@SEEDS
@pytest.mark.parametrize("code, dtype", [(8, "u1"), (9, "i1"), (11, ">i2"), (12, ">i4"), (13, ">f4"), (14, ">f8")])
def test_idx(tmp_path, code, dtype, seed):
    rng = np.random.RandomState(seed)
    x = random(rng, dtype[-2:], (rng.randint(1, 20), 4, 5)).astype(dtype)
    content = bytes([0, 0, code, 3]) + struct.pack(">3I", *x.shape) + x.tobytes()
    (tmp_path / "x-idx3-ubyte").write_bytes(content)
    (tmp_path / "x-idx3-ubyte.gz").write_bytes(gzip.compress(content))
    for path in tmp_path.iterdir():
        assert_same(unmix.read(path), x.reshape(len(x), -1))


# Tables


@SEEDS
@pytest.mark.parametrize("separator, extension", [(",", "csv"), ("\t", "tsv"), (";", "csv")])
def test_text_is_read_to_the_nearest_number(tmp_path, separator, extension, seed):
    rng = np.random.RandomState(seed)
    frame = pd.DataFrame(random(rng, "f8", (30, 5)), columns=list("abcde"))
    frame.iloc[1:-1] = frame.iloc[1:-1].mask(pd.DataFrame(rng.rand(28, 5) < 0.1, columns=frame.columns, index=range(1, 29)))
    path = tmp_path / f"x.{extension}"
    for missing in ["", "NA", "NaN", "null"]:
        frame.to_csv(path, sep=separator, index=False, na_rep=missing)
        with open(path, newline="") as file:
            cells = list(csv.reader(file, delimiter=separator))[1:]
        theirs = np.array([[np.nan if c == missing else float(c) for c in row] for row in cells])
        assert_same(unmix.read(path), theirs)
        assert_same(unmix.read(path), frame.to_numpy())
    frame.fillna(0).to_csv(path, sep=separator, index=False, header=False)
    assert_same(unmix.read(path), frame.fillna(0).to_numpy())
    assert_same(unmix.read(path, header=True), frame.fillna(0).to_numpy()[1:])
    with gzip.open(tmp_path / f"y.{extension}.gz", "wt") as file:
        file.write(path.read_text())
    assert_same(unmix.read(tmp_path / f"y.{extension}.gz"), frame.fillna(0).to_numpy())


@SEEDS
def test_numbers_with_many_digits_are_read_as_by_python(tmp_path, seed):
    rng = np.random.RandomState(seed)
    texts = [f"{rng.randint(10)}.{''.join(map(str, rng.randint(10, size=rng.randint(1, 40))))}e{rng.randint(-320, 300)}" for _ in range(200)]
    texts += ["5e-324", "2.2250738585072011e-308", "1.7976931348623157e308", "-0", "+3", ".5", "7."]
    (tmp_path / "x.csv").write_text("x\n" + "\n".join(texts) + "\n")
    assert_same(unmix.read(tmp_path / "x.csv"), np.array([[float(t)] for t in texts]))


def mixed(rng, n=60):
    """A table with every type of number, missing cells, and floats of different sizes."""
    columns = {f"c{i}": random(rng, dtype, (n, 1)).ravel() for i, dtype in enumerate(DTYPES) if dtype != "f2"}
    frame = pl.DataFrame(columns)
    holes = {name: frame[name].to_list() for name in ["c0", "c3", "c10", "c11"]}
    for cells in holes.values():
        for i in rng.randint(1, n - 1, size=5):
            cells[i] = None
    return frame.with_columns(**{name: pl.Series(cells, dtype=frame[name].dtype) for name, cells in holes.items()})


def as_numbers(frame):
    """The cells of a table as a numpy array."""
    return np.column_stack([np.array([np.nan if c is None else c for c in frame[name].to_list()], np.float64) for name in frame.columns])


@SEEDS
@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "zstd", "gzip", "lz4", "brotli"])
def test_parquet_in_row_groups(tmp_path, compression, seed):
    frame, path = mixed(np.random.RandomState(seed)), tmp_path / "x.parquet"
    for size in [7, 60]:
        frame.write_parquet(path, row_group_size=size, compression=compression)
        theirs = pl.read_parquet(path)
        assert_same(unmix.read(path), as_numbers(theirs))
        assert_same(unmix.read(path, columns=["c7", "c1"]), as_numbers(theirs.select("c7", "c1")))
        assert_same(unmix.read(path, drop=[0, "c3"]), as_numbers(theirs.drop("c0", "c3")))
        single = theirs.select("c10").to_numpy().astype(np.float32)
        assert_same(unmix.read(path, columns="c10"), single)


@SEEDS
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip", "lz4", "brotli"])
@pytest.mark.parametrize("page_version", ["1.0", "2.0"])
def test_parquet_of_pyarrow_with_any_pages(tmp_path, compression, page_version, seed):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng, n, path = np.random.RandomState(seed), 3000, tmp_path / "x.parquet"
    holes = rng.rand(n) < 0.01
    columns = {
        "unlike": rng.randn(n),
        "words": rng.randint(0, 7, n) / 4,
        "both": np.where(np.arange(n) < 800, rng.randint(0, 3, n), rng.randn(n)),
        "i64": rng.randint(-(2**60), 2**60, n),
        "i32": rng.randint(-(2**31), 2**31 - 1, n).astype(np.int32),
        "u16": rng.randint(0, 2**16, n).astype(np.uint16),
        "f32": rng.randn(n).astype(np.float32),
        "f16": rng.randn(n).astype(np.float16),
        "yes": rng.rand(n) < 0.5,
        "amount": rng.randint(-(10**6), 10**6, n) / 100,
        "holes": rng.randn(n),
    }
    types = {"amount": pa.decimal128(10, 2)}
    arrays = [
        pa.array([round(v, 2) for v in x], pa.float64()).cast(types[name]) if name in types else pa.array(x, mask=holes if name == "holes" else None)
        for name, x in columns.items()
    ]
    table = pa.table(arrays, names=list(columns))
    want = np.column_stack([np.where(holes, np.nan, x) if name == "holes" else x.astype(np.float64) for name, x in columns.items()])
    for options in [
        {"use_dictionary": False},
        {"row_group_size": 1100, "data_page_size": 700, "write_batch_size": 64},
        {"dictionary_pagesize_limit": 300, "data_page_size": 1000, "write_batch_size": 64, "row_group_size": 2999},
        {"row_group_size": 1, "use_dictionary": ["words"]},
    ]:
        part = slice(0, 60 if options.get("row_group_size") == 1 else n)
        pq.write_table(table[part], path, compression=compression, data_page_version=page_version, **options)
        for threads in [1, 2, 5]:
            unmix.set_num_threads(threads)
            try:
                assert_same(unmix.read(path), want[part])
                assert_same(unmix.read(path, columns=["both", "f32", "unlike"]), want[part][:, [2, 6, 0]])
                assert_same(unmix.read(path, columns=["f32", "f16"]), want[part][:, [6, 7]].astype(np.float32))
            finally:
                unmix.set_num_threads(None)


@SEEDS
def test_long_texts_are_read_as_by_python_with_any_number_of_threads(tmp_path, seed):
    rng, n = np.random.RandomState(seed), 20_000
    x = np.column_stack([rng.randn(n), rng.randn(n) * 10.0 ** rng.randint(-12, 13, n), rng.uniform(0, 1000, n).round(6), rng.poisson(9, n), rng.gamma(2, 20, n).round(2)])
    forms = ["{!r}", "{:.18e}", "{:.6g}"]
    lines = [",".join(forms[seed % 3 if seed < 3 else rng.randint(3)].format(float(v)) for v in row) for row in x]
    end = ["\n", "\r\n"][seed % 2]
    for i in rng.randint(0, n, 50):
        lines[i] += end * rng.randint(1, 4)
    path = tmp_path / "x.csv"
    path.write_bytes(("a,b,c,d,e" + end + end.join(lines) + end * (seed % 3)).encode())
    want = np.array([[float(v) for v in line.split(",")] for line in end.join(lines).split(end) if line])
    for threads in [1, 2, 5]:
        unmix.set_num_threads(threads)
        try:
            assert_same(unmix.read(path), want)
            assert_same(unmix.read(path, columns="d,b"), want[:, [3, 1]])
        finally:
            unmix.set_num_threads(None)


@SEEDS
@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_arrow_file_and_stream(tmp_path, compression, seed):
    frame = mixed(np.random.RandomState(seed))
    frame.write_ipc(tmp_path / "x.arrow", compression=compression)
    frame.write_ipc_stream(tmp_path / "x.arrows", compression=compression)
    assert_same(unmix.read(tmp_path / "x.arrow"), as_numbers(pl.read_ipc(tmp_path / "x.arrow")))
    assert_same(unmix.read(tmp_path / "x.arrows"), as_numbers(pl.read_ipc_stream(tmp_path / "x.arrows")))


@pytest.mark.parametrize("write", ["write_parquet", "write_ipc"])
def test_columns_of_words_are_named_and_can_be_left_out(tmp_path, write):
    frame = pl.DataFrame({"x": [0.5, 1.5, 0.5, 1.5], "kind": pl.Series(["a", "b", "a", "b"], dtype=pl.Categorical), "y": [1, 2, 1, 2]})
    getattr(frame, write)(tmp_path / "x.table")
    with pytest.raises(ValueError, match="column 1 \\('kind'\\).*drop=\\['kind'\\]"):
        unmix.read(tmp_path / "x.table")
    assert_same(unmix.read(tmp_path / "x.table", drop="kind"), frame.drop("kind").to_numpy())


# All formats


def without_run(model):
    """The bytes of a model file without the run record."""
    content = model._model.to_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + size])
    del header["__metadata__"]["run"]
    return json.dumps(header, sort_keys=True), content[8 + size :]


def written(folder, x):
    """Write an array in every format; returns paths of files without and with column names, and options for reading them."""
    frame = pl.DataFrame(x, schema=list("abcd"))
    plain, named = {}, {}
    np.save(folder / "c.npy", x)
    np.save(folder / "f.npy", np.asfortranarray(x))
    np.save(folder / "big.npy", x.astype(">f8"))
    np.savez(folder / "stored.npz", x=x)
    np.savez_compressed(folder / "packed.npz", x=x, y=x[:3])
    (folder / "x.safetensors").write_bytes(safetensors({"x": x}))
    (folder / "x.idx").write_bytes(bytes([0, 0, 14, 2]) + struct.pack(">2I", *x.shape) + x.astype(">f8").tobytes())
    rows = "\n".join(",".join(map(repr, row)) for row in x.tolist()) + "\n"
    (folder / "bare.csv").write_text(rows)
    (folder / "bare.tsv").write_text(rows.replace(",", "\t"))
    for name in ["c.npy", "bare.csv"]:
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    for name in ["c.npy", "f.npy", "big.npy", "c.npy.gz", "stored.npz", "x.safetensors", "x.idx", "bare.csv", "bare.tsv", "bare.csv.gz"]:
        plain[name] = folder / name
    (folder / "x.csv").write_text("a,b,c,d\n" + rows)
    (folder / "x.tsv").write_text("a\tb\tc\td\n" + rows.replace(",", "\t"))
    frame.write_parquet(folder / "x.parquet", row_group_size=37)
    frame.write_ipc(folder / "x.arrow")
    frame.write_ipc_stream(folder / "x.arrows")
    for name in ["x.csv", "x.tsv", "x.parquet", "x.arrow", "x.arrows"]:
        named[name] = folder / name
    return plain, named


def test_the_same_numbers_give_the_same_model_whatever_file_they_are_in(tmp_path):
    x = np.random.RandomState(0).randn(500, 4) @ np.diag([4.0, 3, 2, 1]) + 1 / 3
    plain, named = written(tmp_path, x)
    fit = PCA(3, random_state=0).fit
    expected = without_run(fit(x))
    for name, path in plain.items():
        assert without_run(fit(path)) == expected, name
        assert_same(unmix.read(path), x)
    assert_same(unmix.read(tmp_path / "packed.npz", key="x"), x)
    expected = without_run(fit(pl.DataFrame(x, schema=list("abcd"))))
    for name, path in named.items():
        assert without_run(fit(path)) == expected, name
        assert_same(unmix.read(path), x)
    halves = [tmp_path / "1.npy", tmp_path / "2.csv"]
    np.save(halves[0], x[:123])
    halves[1].write_text("\n".join(",".join(map(repr, row)) for row in x[123:].tolist()))
    assert_same(unmix.read(halves), x)


def test_bad_options_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    for settings, message in [
        (dict(key="a"), "key='a' is not possible"),
        (dict(header=True), "header=True is not possible"),
        (dict(patches=(2, 2)), r"patches=\(2, 2\) is not possible"),
        (dict(patches=(2,)), "patches must be the length of each axis"),
        (dict(stride=2), "stride=2 applies to patches only"),
        (dict(grey=True, rgb=True), "grey=True and rgb=True are mutually exclusive; give one of them"),
        (dict(columns=["a"]), r"columns=\['a'\] is not possible: the columns have no names"),
        (dict(rows_axis=5), "rows_axis=5"),
        (dict(rows_axis=(0, 5)), "rows_axis=5"),
        (dict(rows_axis=(0, 0)), "give each axis once"),
        (dict(rows_axis=-1), "from 0, or several as in \\(0, 1\\), got -1"),
        (dict(rows_axis=()), "rows_axis must be the number of an axis"),
        (dict(rows_axis="0,1"), "rows_axis must be the number of an axis"),
        (dict(feature_shape=(2, 2)), "2x2|4 numbers|feature_shape"),
    ]:
        with pytest.raises(ValueError, match=message):
            unmix.read(tmp_path / "x.npy", **settings)
    with pytest.raises(FileNotFoundError):
        unmix.read(tmp_path / "nowhere.npy")
    with pytest.raises(TypeError, match="transposed"):
        unmix.read(tmp_path / "x.npy", transposed=True)


def test_names_with_commas_and_numbers_choose_columns(tmp_path):
    frame = pd.DataFrame(np.arange(12.0).reshape(3, 4), columns=["a,b", "c", 'say "d"', "e"])
    frame.to_csv(tmp_path / "x.csv", index=False)
    for columns in (["a,b", 3], ['say "d"'], "1-2", [np.int64(2), "c"]):
        chosen = [1, 2] if columns == "1-2" else [frame.columns.get_loc(c) if isinstance(c, str) else int(c) for c in columns]
        assert_same(unmix.read(tmp_path / "x.csv", columns=columns), frame.to_numpy()[:, chosen])
    buffer = io.StringIO()
    frame.to_csv(buffer, index=False)
    (tmp_path / "y.csv").write_text("a note\nanother\n" + buffer.getvalue())
    assert_same(unmix.read(tmp_path / "y.csv", skip_rows=2), frame.to_numpy())


def test_exceptions_carry_rows_columns_and_lines(tmp_path):
    """The rows, columns and lines named in a message are also attributes of the exception."""
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,x7\n")
    with pytest.raises(ValueError) as text:
        unmix.read(path)
    found = text.value
    assert (found.line, found.row, found.column, found.column_name, found.cell) == (3, 1, 1, "b", "x7")
    path.write_text("a,b\n1,2\n3,4,5\n6,7\n")
    with pytest.raises(ValueError) as ragged:
        unmix.read(path)
    assert (ragged.value.line, ragged.value.need, ragged.value.got) == (3, 2, 3)
    assert not hasattr(ragged.value, "row")
    np.savez(tmp_path / "two.npz", a=np.ones((2, 2)), b=np.ones((2, 2)))
    with pytest.raises(ValueError) as several:
        unmix.read(tmp_path / "two.npz")
    assert (several.value.need, several.value.got) == (1, 2)
    for name, text in (("first.csv", "a,b\n1,2\n"), ("other.csv", "a,c\n1,2\n")):
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError) as unlike:
        unmix.read([tmp_path / "first.csv", tmp_path / "other.csv"])
    assert (unlike.value.column, unlike.value.column_name, unlike.value.other) == (1, "c", str(tmp_path / "first.csv"))
    rows = np.ones((5, 3))
    rows[4, 2] = np.inf
    with pytest.raises(ValueError) as infinite:
        PCA().fit(rows)
    assert (infinite.value.row, infinite.value.column) == (4, 2)
    with pytest.raises(ValueError) as many:
        unmix.SigmaPCA(9).fit(np.random.RandomState(0).normal(size=(20, 3)))
    assert many.value.setting == "n_components"


def test_exceptions_carry_the_details_of_their_message(tmp_path):
    """Every field of an error is an attribute of the exception; docs/scikit-learn.md lists them."""
    X = np.random.RandomState(0).normal(size=(20, 3))
    absent, text = tmp_path / "absent.csv", tmp_path / "t.csv"
    text.write_text("a,b\n1,2\n3,x7\n")
    fitted = PCA(2).partial_fit(X)

    def raised(kind, call):
        with pytest.raises(kind) as caught:
            call()
        return caught.value, vars(caught.value)

    e, facts = raised(ValueError, lambda: unmix.metrics.amari_distance(np.ones((2, 3))))
    assert set(facts) == {"requested", "found", "remedy"} and str(e) == f"{e.requested} is not possible: {e.found}; {e.remedy}"
    assert (e.requested, e.found) == ("the Amari distance", "the gain is 2 x 3")
    e, facts = raised(ValueError, lambda: unmix.stability(unmix.SparseCoder(dictionary=np.eye(3)), X))
    assert (e.requested, e.found) == ("stability of sparse-coder", "its dictionary is given, not estimated")
    assert (e.method, e.array) == ("sparse-coder", "dictionary")
    coder = unmix.SparseCoder(dictionary=np.eye(3), algorithm="omp").fit(X)
    e, facts = raised(ValueError, lambda: coder.path(X))
    assert e.method == "sparse-coder" and set(facts) == {"requested", "found", "remedy", "method", "works"}
    e, facts = raised(ValueError, lambda: PCA(2, init=fitted).fit(X[:, :2]))
    assert (e.need, e.got) == (2, 3) and "it has 3 columns, and the rows have 2" in e.found
    e, facts = raised(ValueError, lambda: unmix.datasets.independent(10, ["laplac"]))
    assert (e.kind, e.name, e.suggestion) == ("distribution", "laplac", "laplace") and set(facts) == {"kind", "name", "suggestion", "known"}
    assert e.known[:2] == ["laplace", "logistic"] and str(e).endswith("choose one of: " + ", ".join(e.known))
    e, facts = raised(ValueError, lambda: unmix.select_components(X, rules=["zzz"]))
    assert set(facts) == {"kind", "name", "known"} and "minka" in e.known
    e, facts = raised(ValueError, lambda: unmix.SigmaPCA(9).fit(X))
    assert (e.setting, e.got) == ("n_components", "9") and set(facts) == {"setting", "got", "why", "remedy"}
    assert e.why in str(e) and str(e).endswith(e.remedy)
    for parameters in ({"n_components": 9}, {"n_components": 9, "svd_solver": "arpack"}, {"n_components": "bic", "svd_solver": "arpack"}):
        e, facts = raised(ValueError, lambda: PCA(**parameters).fit(X))
        assert set(facts) == {"setting", "got", "why", "remedy"} and e.got == str(parameters["n_components"])
        assert str(e) == f"n_components={parameters['n_components']!r} {e.why}: {e.remedy}"
    for call in (lambda: unmix.variants("pac"), lambda: unmix.select_components(X, method="pac")):
        e, facts = raised(ValueError, call)
        assert (e.kind, e.name, e.suggestion) == ("method", "pac", "pca") and "rica" in e.known and "(did you mean 'pca'?)" in str(e)
    e, facts = raised(ValueError, lambda: PCA().fit(np.full((5, 3), 2.0)))
    assert facts == {"method": "pca", "n_features": 3, "n_samples": 5}
    e, facts = raised(ValueError, lambda: PCA().fit(X * 1e200))
    assert facts == {"method": "pca", "dtype": "float64"}
    X[4, 2] = np.nan
    e, facts = raised(ValueError, lambda: PCA().fit(X))
    assert facts == {"method": "pca", "row": 4, "column": 2, "what": "NaN"}
    e, facts = raised(ValueError, lambda: fitted.inverse_transform(np.ones((4, 3))))
    assert (e.what, e.need, e.got) == ("decode", 2, 3) and str(e).endswith(e.remedy) and set(facts) == {"what", "need", "got", "remedy"}
    e, facts = raised(FileNotFoundError, lambda: unmix.read(absent))
    assert facts == {"what": "cannot read", "path": str(absent)} and e.errno == 2
    e, facts = raised(ValueError, lambda: unmix.read(text))
    assert e.path == str(text) and e.found in str(e) and str(e).endswith(e.remedy) and "drop=['b']" in e.remedy
    e, facts = raised(MemoryError, lambda: unmix.datasets.independent(10**13, ["laplace"]))
    assert (e.what, e.need) == ("the data set", 160000000000016) and e.got < e.need and str(e).endswith(e.remedy)


@pytest.mark.parametrize("compression", ["snappy", "zstd"])
def test_large_parquet_is_fitted_and_encoded_as_its_numbers_are(tmp_path, compression):
    """More data than are kept in memory, in several row groups, with a column of integers and one with a missing cell."""
    rng = np.random.RandomState(0)
    rows = rng.randn(100_000, 90)
    rows[:, 3] = rng.randint(0, 50, size=len(rows))
    path = tmp_path / "large.parquet"
    frame = pd.DataFrame(rows, columns=[f"x{j}" for j in range(90)]).astype({"x3": "int32"})
    frame["gap"] = np.where(np.arange(len(rows)) == 70_000, np.nan, 1.0)
    frame.to_parquet(path, compression=compression, row_group_size=15_000, index=False)
    handle = unmix.open(path, drop="gap")
    expected = PCA(n_components=5).fit(rows)
    before = unmix.get_num_threads()
    try:
        for threads in (1, 3):
            unmix.set_num_threads(threads)
            found = PCA(n_components=5).fit(handle)
            assert found.components_.tobytes() == expected.components_.tobytes()
            assert found.transform(handle).tobytes() == expected.transform(rows).tobytes()
    finally:
        unmix.set_num_threads(before)
    whole = unmix.read(path)
    assert_same(whole[:, :90], rows)
    assert np.flatnonzero(np.isnan(whole[:, 90])).tolist() == [70_000]
