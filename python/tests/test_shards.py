"""Fits of rows that are held by worker processes."""

import json
import struct
import subprocess
import sys

import numpy as np
import pytest

import unmix
from unmix import shards
from unmix._input import tensor_names

WORKER = """
import sys
import numpy as np
from unmix import shards
rows, first = np.load(sys.argv[1]), int(sys.argv[2])
for line in sys.stdin:
    print(shards.gather(bytes.fromhex(line), rows, first).hex(), flush=True)
"""


@pytest.fixture(scope="module")
def X():
    draw = np.random.RandomState(0)
    sources = np.c_[draw.laplace(size=(60000, 2)), draw.uniform(size=(60000, 2))]
    return sources @ draw.normal(size=(4, 4)) + 5


@pytest.fixture(scope="module")
def gather_all(X, tmp_path_factory):
    """Three workers, one of which holds half of the shards."""
    folder, step = tmp_path_factory.mktemp("shards"), shards.shard_rows(4)
    cuts = [0, step, 3 * step, len(X)]
    workers = []
    for first, last in zip(cuts, cuts[1:]):
        np.save(folder / f"{first}.npy", X[first:last])
        command = [sys.executable, "-c", WORKER, str(folder / f"{first}.npy"), str(first)]
        workers.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))

    def gather_all(job):
        for worker in workers:
            worker.stdin.write(job.hex() + "\n")
            worker.stdin.flush()
        return [bytes.fromhex(worker.stdout.readline()) for worker in reversed(workers)]

    yield gather_all
    for worker in workers:
        worker.stdin.close()
        worker.wait()


def without_run(estimator):
    """The header and the numbers of the model file of an estimator, without the record of the run."""
    content = estimator._model.to_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + size])
    del header["__metadata__"]["run"]
    return header, content[8 + size :]


@pytest.mark.parametrize(
    "estimator",
    [
        unmix.PCA(n_components=2, random_state=0),
        unmix.PCA(svd_solver="full", whiten=True, random_state=0),
        unmix.ICA(random_state=0),
        unmix.ICA(algorithm="sigma-pca", random_state=0),
        unmix.FastICA(n_components=3, random_state=0),
        unmix.SigmaPCA(n_components=2, random_state=0),
        unmix.NeuralPCA(n_components=2, random_state=0),
        unmix.RICA(n_components=3, random_state=0, max_iter=10),
        unmix.PPCA(n_components=2, random_state=0),
        unmix.LinearEigenGAN(groups=[2, 1], random_state=0),
        unmix.FactorAnalysis(n_components=1, random_state=0),
        unmix.CompleteDictionary(n_components=3, random_state=0, max_iter=10),
        unmix.RFN(n_components=5, random_state=0, max_iter=3),
        unmix.SparseCoder(np.eye(4) + 0.5, random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_bits_are_those_of_one_process(estimator, X, gather_all):
    from sklearn.base import clone

    distributed, local = shards.fit(clone(estimator), X.shape, gather_all), clone(estimator).fit(X)
    assert np.array_equal(distributed.components_, local.components_)
    assert np.array_equal(distributed.transform(X[:9]), local.transform(X[:9]))
    assert distributed.report_.n_samples == len(X) and distributed.report_.sweeps == local.report_.sweeps
    assert without_run(distributed) == without_run(local)


def test_weights_of_workers_count_as_in_one_process(X):
    X = X[:50001]
    weights = np.random.RandomState(1).randint(0, 4, size=len(X)) / 2
    step = shards.shard_rows(4)
    weights[step:] = 1

    def gather_all(job):
        return [shards.gather(job, X[step:], step), shards.gather(job, X[:step], 0, sample_weight=weights[:step])]

    for estimator in (unmix.PCA(), unmix.FastICA(n_components=2, random_state=0)):
        distributed = shards.fit(estimator, X.shape, gather_all).components_
        assert np.array_equal(distributed, estimator.fit(X, sample_weight=weights).components_)
    with pytest.raises(ValueError, match="got -1 in row 1"):
        shards.fit(unmix.PCA(), (2, 4), lambda job: [shards.gather(job, X[:2], 0, sample_weight=[1, -1])])
    with pytest.raises(ValueError, match="one weight for each of the 2 rows"):
        shards.fit(unmix.PCA(), (2, 4), lambda job: [shards.gather(job, X[:2], 0, sample_weight=[1])])


def test_sparse_rows_have_the_bits_of_one_process(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    step = shards.shard_rows(8, sparse=True)
    assert step % shards.shard_rows(8) == 0 and step > shards.shard_rows(8)
    X = sparse.random(2 * step + 300, 8, density=0.2, format="csr", random_state=0) @ sparse.diags(np.arange(8.0, 0, -1))
    parts = {0: X[:step].tocsc(), step: X[step : 2 * step].tocoo(), 2 * step: tmp_path / "rest.npz"}
    sparse.save_npz(parts[2 * step], X[2 * step :])

    def gather_all(job):
        return [shards.gather(job, rows, first) for first, rows in parts.items()]

    for estimator in (
        unmix.PCA(),
        unmix.PCA(2, svd_solver="krylov", random_state=0),
        unmix.NeuralPCA(2, random_state=0),
        unmix.PPCA(2),
        unmix.FactorAnalysis(2),
        unmix.RFN(3, max_iter=3, random_state=0),
    ):
        distributed = shards.fit(estimator, X.shape, gather_all, sparse=True).components_
        assert np.array_equal(distributed, estimator.fit(X).components_)
    with pytest.raises(ValueError, match="they are sparse, but the fit is of dense rows"):
        shards.fit(unmix.PCA(), X.shape, gather_all)
    with pytest.raises(ValueError, match="ica of sparse rows"):
        shards.fit(unmix.ICA(), X.shape, gather_all, sparse=True)


@pytest.mark.parametrize("cls", [unmix.PPCA, unmix.LinearEigenGAN, unmix.FactorAnalysis])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_with_missing_cells_have_the_bits_of_one_process(cls):
    draw, step = np.random.RandomState(0), shards.shard_rows(6)
    X = draw.randn(step + 300, 2) @ draw.randn(2, 6) + 0.3 * draw.randn(step + 300, 6)
    X[draw.rand(*X.shape) < 0.1] = np.nan
    parts = {0: X[:step], step: X[step:]}

    def gather_all(job):
        return [shards.gather(job, rows, first) for first, rows in parts.items()]

    distributed, local = shards.fit(cls(2, max_iter=5), X.shape, gather_all), cls(2, max_iter=5).fit(X)
    assert np.array_equal(distributed.components_, local.components_) and distributed.noise_variance_.tolist() == local.noise_variance_.tolist()


def test_methods_that_need_the_rows_are_refused_as_in_the_registry(X, gather_all):
    refused = [method for method in unmix.methods() if not method["takes"]["remote"]]
    assert {"lista", "robust-pca", "dictionary", "sae", "stacked-rfn"} <= {method["key"] for method in refused}
    for method in refused:
        cls = getattr(unmix, method["class"])
        estimator = cls(np.eye(4)) if "dictionary" in tensor_names(method["key"]) else cls()
        with pytest.raises(ValueError, match=f"^{method['key']} of rows held by remote workers is not possible: it needs the rows themselves"):
            shards.fit(estimator, X.shape, gather_all)


def test_exceptions_of_workers_are_raised(X):
    def gather_all(job):
        raise OSError("the network is down")

    estimator = unmix.PCA()
    with pytest.raises(OSError, match="the network is down"):
        shards.fit(estimator, X.shape, gather_all)
    assert not hasattr(estimator, "components_")


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="shape must hold positive integers, got n_samples="):
        shards.fit(unmix.PCA(), (0, 3), lambda job: [])
    with pytest.raises(TypeError, match="gather_all"):
        shards.fit(unmix.PCA(), (10, 3), None)
    with pytest.raises(ValueError, match="'float32' or 'float64', got 'int8'"):
        shards.shard_rows(3, dtype="int8")
    with pytest.raises(ValueError, match="in no result"):
        shards.fit(unmix.PCA(), (10, 3), lambda job: [])
    with pytest.raises(ValueError, match="neither an unmix job"):
        shards.gather(b"nonsense", np.zeros((10, 3)), 0)
    with pytest.raises(ValueError, match="the fit is of 3"):
        shards.fit(unmix.PCA(), (10, 3), lambda job: [shards.gather(job, np.ones((10, 4)), 0)])
    with pytest.raises(ValueError, match="held by remote workers"):
        shards.fit(unmix.ICA(algorithm="easi"), (10, 3), lambda job: [shards.gather(job, np.eye(10)[:, :3], 0)])


def test_names_of_an_earlier_fit_are_removed_and_a_callable_is_refused():
    pd = pytest.importorskip("pandas")
    X = np.random.RandomState(0).laplace(size=(200, 3))
    everywhere = lambda job: [shards.gather(job, X, 0)]  # noqa: E731
    pca = unmix.PCA().fit(pd.DataFrame(X, columns=list("abc")))
    assert not hasattr(shards.fit(pca, X.shape, everywhere), "feature_names_in_")
    with pytest.raises(ValueError, match="callable fun takes the rows themselves"):
        shards.fit(unmix.FastICA(fun=lambda x: (x**3, (3 * x**2).mean(axis=-1))), X.shape, everywhere)
