"""The same numbers give the same bits for every type and memory layout, and arrays are not copied."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import unmix
from unmix import PCA

ROWS, COLUMNS = 30_000, 37


def numbers(dtype):
    x = np.random.RandomState(0).randn(ROWS, COLUMNS) * np.linspace(3, 40, COLUMNS) + 100
    return x.astype(dtype)


def reversed_strides(x):
    return np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]


def every_other(x):
    wide = np.full((2 * x.shape[0], 3 * x.shape[1]), 77, x.dtype)
    wide[::2, ::3] = x
    return wide[::2, ::3]


def unaligned(x):
    raw = np.zeros(x.nbytes + 1, np.uint8)
    view = raw[1:].view(x.dtype).reshape(x.shape)
    view[:] = x
    assert not view.flags.aligned
    return view


def read_only(x):
    x = x.copy()
    x.setflags(write=False)
    return x


LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "negative strides": reversed_strides,
    "every other row and third column": every_other,
    "the other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "unaligned": unaligned,
    "read-only": read_only,
    "transposed twice": lambda x: np.ascontiguousarray(x.T).T,
}


def bits(model, X):
    """All tensors of a model, codes and log-likelihoods as bytes, without the run record."""
    parts = [np.asarray(model._model.tensors[name]).tobytes() for name in sorted(model._model.tensors)]
    return parts + [model.transform(X).tobytes(), model.score_samples(X).tobytes()]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", ["full", "covariance_eigh"])
@pytest.mark.parametrize("wide", [False, True])
def test_layouts(dtype, solver, wide):
    X = numbers(dtype)
    X = np.ascontiguousarray(X[:60].T[:, :30].T) if wide else X
    model = PCA(3, svd_solver=solver)
    expected = bits(model.fit(X), X)
    for name, layout in LAYOUTS.items():
        same = layout(X)
        assert_array_equal(same, X)
        assert bits(model.fit(same), same) == expected, name


def test_memory_maps_and_files(tmp_path):
    X = numbers(np.float64)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "f.npy", np.asfortranarray(X))
    model = PCA(3)
    expected = bits(model.fit(X), X)
    for rows in [np.load(tmp_path / "x.npy", mmap_mode="r"), tmp_path / "x.npy", str(tmp_path / "f.npy")]:
        assert bits(model.fit(rows), rows) == expected


@pytest.mark.parametrize("stored", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.float16, bool, np.longdouble, object])
def test_everything_but_single_precision_is_computed_in_double(stored):
    X = (numbers(np.float64)[:500] / 2).astype(np.int8).astype(stored)
    model = PCA(3).fit(X)
    assert model.components_.dtype == model.transform(X).dtype == np.float64
    assert bits(model, X) == bits(PCA(3).fit(X.astype(np.float64)), X.astype(np.float64))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", ["full", "covariance_eigh"])
def test_threads(dtype, solver):
    X = numbers(dtype)
    seen = set()
    try:
        for n in [1, 2, 3, 5]:
            unmix.set_num_threads(n)
            model = PCA(svd_solver=solver, random_state=0).fit(X)
            assert model.report_.threads == n == unmix.get_num_threads()
            seen.add(tuple(bits(model, X)))
    finally:
        unmix.set_num_threads(None)
    assert len(seen) == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("whiten", [False, True])
def test_rows_get_the_same_codes_alone_and_together_and_from_fit_transform(dtype, whiten):
    X = numbers(dtype)
    model = PCA(5, whiten=whiten, random_state=0)
    codes = model.fit(X).transform(X)
    assert_array_equal(PCA(5, whiten=whiten, random_state=0).fit_transform(X), codes)
    rows = model.inverse_transform(codes)
    for i in [0, 1, 255, 256, ROWS - 1]:
        assert_array_equal(model.transform(X[i : i + 1]), codes[i : i + 1])
        assert_array_equal(model.inverse_transform(codes[i : i + 1]), rows[i : i + 1])
    assert_array_equal(model.score_samples(X[4000:4003]), model.score_samples(X)[4000:4003])
    assert codes.flags.c_contiguous and codes.flags.writeable and codes.dtype == dtype


def test_codes_have_the_type_of_the_rows_and_parameters_that_of_the_fit():
    X = numbers(np.float64)
    single = PCA(3).fit(X.astype(np.float32))
    assert single.transform(X).dtype == np.float64 and single.components_.dtype == np.float32
    assert PCA(3).fit(X).transform(X.astype(np.float32)).dtype == np.float32


MEMORY = """
    import resource, sys, tracemalloc
    import numpy as np
    import unmix

    dtype, layout, solver, method = sys.argv[1:]
    size = np.dtype(dtype).itemsize
    X = np.empty((200_000_000 // (250 * size), 250), dtype, order=layout)
    # The same rows again and again: drawing others takes longer than the fit.
    rows = (100 * np.random.default_rng(0).standard_normal((1000, 250), dtype=np.float32)).astype(dtype)
    for start in range(0, len(X), 1000):
        X[start : start + 1000] = rows[: len(X) - start]
    small = X[:1000].copy()
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    # Once in small, so that what is loaded on first use is not counted.
    model = unmix.PCA(3, svd_solver=solver).fit(small)
    before = peak()
    tracemalloc.start()
    result = getattr(model, method)(X)
    print(peak() - before, tracemalloc.get_traced_memory()[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is in other units elsewhere")
@pytest.mark.parametrize(
    "dtype, layout, solver, method",
    [
        ("<f8", "C", "covariance_eigh", "fit_transform"),
        ("<f8", "C", "full", "fit"),
        ("<f4", "C", "covariance_eigh", "fit_transform"),
        ("<f8", "F", "covariance_eigh", "score_samples"),
        (">f8", "C", "covariance_eigh", "fit"),
        ("<i2", "C", "covariance_eigh", "fit_transform"),
    ],
)
def test_200_megabytes_are_not_copied(dtype, layout, solver, method):
    program = textwrap.dedent(MEMORY)
    command = [sys.executable, "-c", program, dtype, layout, solver, method]
    grown, traced = map(int, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    # Codes and log-likelihoods of int16 rows take 400,000 x 3 and 400,000 numbers; the rest are blocks of a few megabytes.
    assert grown < 80e6, f"{grown / 1e6:.0f} MB more than before"
    assert traced < 12e6, f"{traced / 1e6:.0f} MB of arrays"
