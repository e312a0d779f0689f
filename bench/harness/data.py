"""Data sets, generated from seeds and kept in ``bench/data/`` (which git ignores)."""

import zlib

import numpy as np

from .table import BENCH

FOLDER = BENCH / "data"

#: Rows that are generated and checked at a time.
BLOCK = 65_536


def file_of(data):
    """The file of a data set, generated on first use; its name contains the parameters."""
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
    """An additional file of a data set."""
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
    """A table as in practice: ``p`` columns of measurements (normal, uniform, amounts with two decimals, counts, in turn) and
    ``others`` that are not used, half of them text. The numbers of the used columns are stored as an array, too."""
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


def leaves(generator, size, colours):
    """A picture of fallen leaves (dead leaves model): opaque discs of every size that occlude each other."""
    picture = np.zeros((size, size, colours))
    for _ in range(6000):
        radius = 3.0 / np.sqrt(generator.uniform(3.0**2 / 120.0**2, 1.0))
        x, y = generator.uniform(0, size, 2)
        rows = slice(max(0, int(y - radius)), int(y + radius) + 1)
        columns = slice(max(0, int(x - radius)), int(x + radius) + 1)
        v, u = np.ogrid[rows.start : min(rows.stop, size), columns.start : min(columns.stop, size)]
        leaf = picture[rows, columns]
        leaf[(u - x) ** 2 + (v - y) ** 2 < radius**2] = generator.uniform(size=colours)
    return picture + 0.02 * generator.standard_normal(picture.shape)


def patches(path, n, side, dtype, white=True):
    """Patches of a picture of leaves at random positions."""
    generator = np.random.default_rng(zlib.crc32(f"patches {n} {side}".encode()))
    size = 1024
    picture = leaves(generator, size, 1)[..., 0]
    corners = generator.integers(0, size - side, (n, 2))
    X = np.stack([picture[i : i + side, j : j + side].ravel() for i, j in corners])
    if white:
        X -= X.mean(axis=0)
        values, vectors = np.linalg.eigh(X.T @ X / n)
        X = (X @ vectors / np.sqrt(values)) @ vectors.T
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(X, dtype=dtype))


def pictures(path, n, side, dtype):
    """Patches of 500 pictures of leaves in colour, 32x32 pixels each, as photographs of that size are prepared: around every
    pixel, with zeros beyond the edge; ``n`` of these 512,000 at random, every number standardised."""
    generator = np.random.default_rng(zlib.crc32(f"pictures {side}".encode()))
    tiles = leaves(generator, 1024, 3).reshape(32, 32, 32, 32, 3).swapaxes(1, 2).reshape(1024, 32, 32, 3)[:500].astype(dtype)
    edge = side // 2
    tiles = np.pad(tiles, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    at = generator.permutation(500 * 32 * 32)[:n]
    X = np.empty((n, 3 * side * side), dtype)
    for i, (tile, y, x) in enumerate(zip(at // 1024, at // 32 % 32, at % 32, strict=True)):
        X[i] = tiles[tile, y : y + side, x : x + side].ravel()
    X -= X.mean(axis=0)
    X /= np.sqrt(1e-3 + np.square(X).mean(axis=0))
    with path.open("wb") as file:
        np.save(file, X)


def mixture(path, n, p, dtype, seed=0):
    """Square mixtures of independent sources of four kinds by turns, all of variance 1: Laplace, uniform, Bernoulli and Gauss (three
    in ten are not 0), Student of 6 degrees. Mixing and mean are normal numbers; the mixing is kept beside the rows."""
    generator = np.random.default_rng(zlib.crc32(f"mixture {n} {p}{f' {seed}' if seed else ''}".encode()))
    kinds = [
        lambda: generator.laplace(size=n) / np.sqrt(2.0),
        lambda: generator.uniform(-np.sqrt(3.0), np.sqrt(3.0), n),
        lambda: generator.standard_normal(n) * (generator.random(n) < 0.3) / np.sqrt(0.3),
        lambda: generator.standard_t(6, n) / np.sqrt(1.5),
    ]
    mixing, mean = generator.standard_normal((p, p)), generator.standard_normal(p)
    sources = np.stack([kinds[j % len(kinds)]() for j in range(p)], axis=1)
    np.save(beside(path, ".mixing.npy"), mixing)
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(sources @ mixing.T + mean, dtype=dtype))


def factors(path, n, p, q, dtype):
    """Rows of a few factors of falling size, noise of another variance in every column (0.3 to 3), and a mean."""
    generator = np.random.default_rng(zlib.crc32(f"factors {n} {p} {q}".encode()))
    loadings = generator.standard_normal((p, q)) * np.sqrt(np.arange(q, 0, -1) / q)
    noise, mean = np.sqrt(generator.uniform(0.3, 3.0, p)), generator.standard_normal(p)
    X = generator.standard_normal((n, q)) @ loadings.T + generator.standard_normal((n, p)) * noise + mean
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(X, dtype=dtype))


def some_cells(path, n, p, q, share, noise, dtype):
    """A matrix of ``q`` normal factors, noise, and gaps: rows and columns differ in how many of their cells are known, as with ratings. All
    cells without noise are kept beside."""
    generator = np.random.default_rng(71)
    truth = generator.standard_normal((n, q)) @ generator.standard_normal((q, p)) / np.sqrt(q)
    often = generator.gamma(4.0, 0.25, n)[:, None] * generator.gamma(4.0, 0.25, p)
    known = generator.random((n, p)) < np.minimum(share * often / often.mean(), 0.9)
    X = np.where(known, truth + noise * generator.standard_normal((n, p)), np.nan)
    np.save(beside(path, ".truth.npy"), truth)
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(X, dtype=dtype))


def rows_with_gaps(path, n, p, q, share, noise, dtype):
    """Rows of ``q`` normal factors of falling size, noise of one size, a mean, and a share of the cells missing."""
    generator = np.random.default_rng(zlib.crc32(f"rows with gaps {n} {p} {q} {share}".encode()))
    loadings = generator.standard_normal((q, p)) * np.sqrt(np.arange(q, 0, -1) / q)[:, None]
    X = generator.standard_normal((n, q)) @ loadings + noise * generator.standard_normal((n, p)) + generator.standard_normal(p)
    X[generator.random((n, p)) < share] = np.nan
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(X, dtype=dtype))


def ratings(path, n, p, q, cells, dtype):
    """Whole ratings of 1 to 5 of some cells, as many of a row and of a column as in tables of films: offsets of both sides, ``q`` normal factors,
    noise. Beside it: a tenth of the ratings, which are hidden."""
    generator = np.random.default_rng(zlib.crc32(f"ratings {n} {p} {q} {cells}".encode()))
    often = generator.gamma(0.8, 1.0, n)[:, None] * generator.gamma(0.5, 1.0, p)
    known = generator.random((n, p)) < np.minimum(cells * often / often.sum(), 0.9)
    common = generator.standard_normal((n, q)) @ generator.standard_normal((q, p)) * (0.35 / np.sqrt(q))
    mean = 3.5 + 0.45 * generator.standard_normal(n)[:, None] + 0.5 * generator.standard_normal(p) + common
    X = np.clip(np.rint(mean + 0.9 * generator.standard_normal((n, p))), 1, 5)
    hidden = known & (generator.random((n, p)) < 0.1)
    hidden &= (known & ~hidden).any(axis=1)[:, None] & (known & ~hidden).any(axis=0)
    np.save(beside(path, ".hidden.npy"), np.where(hidden, X, np.nan))
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(np.where(known & ~hidden, X, np.nan), dtype=dtype))


def corrupted(path, n, p, rank, share, dtype):
    """A matrix of this rank, with entries of about ``sqrt(rank) / n``, and errors of -1 and 1 in a share of its cells. Beside it: the matrix."""
    generator = np.random.default_rng(zlib.crc32(f"corrupted {n} {p} {rank} {share}".encode()))
    low = generator.standard_normal((n, rank)) @ generator.standard_normal((rank, p)) / n
    wrong = generator.random((n, p)) < share
    np.save(beside(path, ".low.npy"), low)
    with path.open("wb") as file:
        np.save(file, np.asarray(low + np.where(wrong, np.sign(generator.standard_normal((n, p))), 0), dtype=dtype))


def sparse_codes(path, n, p, share, dtype):
    """Sparse combinations of ``p`` atoms, independent directions of length 1: a share of the codes is normal with variance ``1 / share``, the
    others are 0. The atoms are kept beside the rows."""
    generator = np.random.default_rng(zlib.crc32(f"sparse codes {n} {p} {share}".encode()))
    atoms = generator.standard_normal((p, p))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    codes = generator.standard_normal((n, p)) * (generator.random((n, p)) < share) / np.sqrt(share)
    np.save(beside(path, ".atoms.npy"), atoms)
    with path.open("wb") as file:
        np.save(file, np.asarray(codes @ atoms, dtype=dtype))


def overcomplete(path, n, p, atoms, active, dtype):
    """Sums of ``active`` atoms of length 1 out of more than there are columns, at random, with positive codes, and a little noise."""
    generator = np.random.default_rng(zlib.crc32(f"overcomplete {n} {p} {atoms} {active}".encode()))
    directions = generator.standard_normal((atoms, p))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (n, p)})
        # Blocks as large as the smaller data sets of this kind.
        for start in range(0, n, 200_000):
            rows = min(200_000, n - start)
            X = 0.05 * generator.standard_normal((rows, p))
            for _ in range(active):
                X += (1 + generator.exponential(size=(rows, 1))) * directions[generator.integers(0, atoms, rows)]
            file.write(np.ascontiguousarray(X, dtype=dtype).data)


def classes(path, n, p, classes, dtype):
    """Numbers of at least 0 around the mean of their class, most of them 0 as in pictures of digits; the labels are kept beside the rows."""
    generator = np.random.default_rng(zlib.crc32(f"classes {n} {p} {classes}".encode()))
    means = generator.standard_normal((classes, p)) - 1
    labels = generator.integers(0, classes, n)
    np.save(beside(path, ".labels.npy"), labels.astype(np.uint32))
    with path.open("wb") as file:
        np.save(file, np.maximum(0.3 * (means[labels] + 3 * generator.standard_normal((n, p))), 0).astype(dtype))


def random_atoms(k, p):
    """Atoms of length 1 in random directions."""
    atoms = np.random.default_rng(zlib.crc32(f"random atoms {k} {p}".encode())).standard_normal((k, p))
    return atoms / np.linalg.norm(atoms, axis=1, keepdims=True)


#: Weight of the penalty in rows of the tasks "lasso" and "dictionary".
ALPHA = 0.15


def unit_patches(path, n, side, k, dtype):
    """Patches of a picture of leaves without their means, of length 1, flat ones left out. Beside them 2000 more, held out, and ``k`` atoms
    of length 1 that scikit-learn learns from the first 20000 in one epoch; the first ``k`` patches are where it begins."""
    from sklearn.decomposition import MiniBatchDictionaryLearning

    generator, size, held = np.random.default_rng(zlib.crc32(f"unit patches {n} {side}".encode())), 1024, 2000
    picture, parts = leaves(generator, size, 1)[..., 0], []
    while sum(map(len, parts)) < n + held:
        corners = generator.integers(0, size - side, (n + held, 2))
        X = np.stack([picture[i : i + side, j : j + side].ravel() for i, j in corners]).astype(np.float64)
        X -= X.mean(axis=1, keepdims=True)
        X = X[X.std(axis=1) > 0.01 * X.std()]
        parts.append(X / np.linalg.norm(X, axis=1, keepdims=True))
    X = np.concatenate(parts)[: n + held]
    settings = {"alpha": ALPHA, "batch_size": 256, "max_iter": 1, "max_no_improvement": None, "tol": 0.0, "random_state": 0}
    learned = MiniBatchDictionaryLearning(k, fit_algorithm="cd", dict_init=X[:k], **settings).fit(X[: min(n, 20_000)])
    atoms = learned.components_ / np.linalg.norm(learned.components_, axis=1, keepdims=True)
    for name, part in [("atoms", atoms), ("held", X[n:])]:
        np.save(beside(path, f".{name}.npy"), np.ascontiguousarray(part, dtype=dtype))
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(X[:n], dtype=dtype))


def neighbours(path, n, p, correlation):
    """One row of ``p`` numbers, the sum of 20 of ``n`` atoms of length 1, and noise; neighbouring atoms have this correlation."""
    generator = np.random.default_rng(zlib.crc32(f"neighbours {n} {p}".encode()))
    atoms = generator.standard_normal((n, p))
    for j in range(1, n):
        atoms[j] = correlation * atoms[j - 1] + np.sqrt(1 - correlation**2) * atoms[j]
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    row = generator.standard_normal(20) @ atoms[generator.choice(n, 20, replace=False)]
    row += 0.01 * generator.standard_normal(p)
    np.save(beside(path, ".atoms.npy"), atoms)
    with path.open("wb") as file:
        np.save(file, row[None])


def features(k, p):
    """Initial features: normal rows of length 1."""
    W = np.random.default_rng(k + p).standard_normal((k, p))
    return W / np.linalg.norm(W, axis=1, keepdims=True)


def rotation(k):
    """Initial unmixing matrix: a random rotation of white coordinates."""
    return np.linalg.qr(np.random.default_rng(k).standard_normal((k, k)))[0]


MAKERS = {
    make.__name__: make
    for make in (
        power_law, digits, table, patches, pictures, mixture, factors, some_cells, rows_with_gaps, ratings, corrupted, sparse_codes, overcomplete,
        unit_patches, neighbours, classes,
    )
}  # fmt: skip


def warm(path):
    """Read a file once, so that all engines find it in the page cache."""
    with path.open("rb", buffering=0) as file:
        chunk = bytearray(1 << 22)
        while file.readinto(chunk):
            pass
