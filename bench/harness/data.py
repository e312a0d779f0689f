"""Data sets, made by seeded code and kept in ``bench/data/`` (which git ignores)."""

import zlib

import numpy as np

from .table import BENCH

FOLDER = BENCH / "data"

#: Rows that are made, and looked at, at a time.
BLOCK = 65_536


def file_of(data):
    """The file that holds a data set, made on first use; what made it is in its name."""
    data = dict(data)
    make = data.pop("make")
    FOLDER.mkdir(exist_ok=True)
    label = "-".join(f"{key}{value}" for key, value in data.items() if key != "ending")
    path = FOLDER / f"{make}-{label}.{data.get('ending', 'npy')}"
    if not path.exists():
        unfinished = path.with_suffix(".part")
        MAKERS[make](unfinished, **data)
        unfinished.rename(path)
    return path


def beside(path, ending):
    """A file that belongs to a data set."""
    return path.with_name(f"{path.stem}{ending}")


def power_law(path, n, p, dtype, mean=0.0):
    """Normal rows: variances 1/j along orthonormal directions (no gap anywhere), and a mean of standard normal entries times
    ``mean``. Rows are made in f64 and rounded once."""
    generator = np.random.default_rng(zlib.crc32(f"power_law {n} {p}".encode()))
    m = min(n, p)
    directions = np.linalg.qr(generator.standard_normal((p, m)))[0].T
    directions *= np.sqrt(1.0 / np.arange(1, m + 1))[:, None]
    centre = mean * generator.standard_normal(p)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (n, p)})
        for start in range(0, n, BLOCK):
            block = generator.standard_normal((min(BLOCK, n - start), m)) @ directions
            block += centre
            file.write(np.ascontiguousarray(block, dtype=dtype).data)


def digits(path, n, p):
    """The 1797 digits of 8x8 pixels that come with scikit-learn; three pixels are always 0."""
    from sklearn.datasets import load_digits

    with path.open("wb") as file:
        np.save(file, load_digits().data[:n, :p])


def table(path, n, p, dtype, others, ending):
    """A table as people keep them: ``p`` columns of measurements (normal, uniform, amounts with two decimals, counts, by turns)
    and ``others`` that nobody wants to read, half of them text. The wanted numbers are kept beside it as an array."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    generator = np.random.default_rng(zlib.crc32(f"table {n} {p}".encode()))
    kinds = [
        lambda: generator.standard_normal(n),
        lambda: generator.uniform(0, 1000, n).round(6),
        lambda: generator.gamma(2.0, 20.0, n).round(2),
        lambda: generator.poisson(12.0, n).astype(np.float64),
    ]
    columns = {f"x{j}": kinds[j % len(kinds)]() for j in range(p)}
    numbers = np.stack([columns[f"x{j}"] for j in range(p)], axis=1)
    for j in range(others):
        labels = generator.integers(0, 5000, n)
        columns[f"other{j}"] = labels if j % 2 else np.char.add("label ", labels.astype(str))
    whole = pa.table(columns)
    if ending == "parquet":
        pyarrow.parquet.write_table(whole, path, row_group_size=131_072)
    else:
        pyarrow.csv.write_csv(whole, path, pyarrow.csv.WriteOptions(quoting_style="none"))
    np.save(beside(path, ".numbers.npy"), numbers.astype(dtype))


MAKERS = {"power_law": power_law, "digits": digits, "table": table}


def warm(path):
    """Reads a file once, so that everybody finds it in the page cache."""
    with path.open("rb", buffering=0) as file:
        chunk = bytearray(1 << 22)
        while file.readinto(chunk):
            pass
