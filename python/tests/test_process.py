"""Ctrl-C, forks, worker processes and threads."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import unmix
from unmix import PCA

X = np.random.RandomState(0).randn(5000, 30)

LONG = """
    import os, signal, sys, threading, time
    import numpy as np
    import unmix

    X = np.random.default_rng(0).standard_normal((int(sys.argv[1]), int(sys.argv[2])))
    model = unmix.PCA(2).fit(X[:50, :3])
    before = vars(model).copy()
    moments = []

    def interrupt():
        moments.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(float(sys.argv[3]), interrupt).start()
    try:
        model.set_params(n_components=None)
        while True:
            model.fit(X)
            before = vars(model).copy()
    except KeyboardInterrupt:
        print(time.monotonic() - moments[0], vars(model) == before | {"n_components": None})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
@pytest.mark.parametrize(
    "rows, columns, after",
    [
        (20_000, 400, 0.4),  # Sweeps over the rows.
        (2600, 2500, 2.0),  # A long eigenvalue decomposition, which does not check for interrupts.
        (200, 20, 0.4),  # Fits too small to run in a thread of their own.
    ],
)
def test_ctrl_c_within_a_second(rows, columns, after):
    command = [sys.executable, "-c", textwrap.dedent(LONG), str(rows), str(columns), str(after)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    seconds, unchanged = result.stdout.split()
    assert float(seconds) < 1.0
    assert unchanged == "True"


def wait_for_work(pid):
    """Wait until the command has started its worker thread; before that, Ctrl-C interrupts the imports of Python."""
    for _ in range(600):
        time.sleep(0.05)
        if not os.path.isdir("/proc"):
            return time.sleep(2)
        names = [open(f"/proc/{pid}/task/{task}/comm").read().strip() for task in os.listdir(f"/proc/{pid}/task")]
        if "unmix-work" in names:
            return time.sleep(0.3)
    raise AssertionError("the command never began to work")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
def test_ctrl_c_ends_the_command(tmp_path):
    np.save(tmp_path / "x.npy", np.random.RandomState(0).randn(2600, 2500))
    command = [os.path.join(os.path.dirname(sys.executable), "unmix"), "fit", "pca", "x.npy"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    wait_for_work(process.pid)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    # The command waits 0.7 s for the computation to stop; then the process is ended.
    assert time.monotonic() - start < 2.5
    assert process.returncode == 130 and "interrupted" in err
    assert os.listdir(tmp_path) == ["x.npy"]


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="the platform has no signal SIGUSR1")
def test_handlers_of_other_signals_run_during_a_fit():
    class Signalled(Exception):
        pass

    def handle(*_):
        raise Signalled

    previous = signal.signal(signal.SIGUSR1, handle)
    # With nearly equal variances deflation converges slowly: one such fit takes many seconds.
    slow = PCA(5, svd_solver="deflation", iterated_power=10**12)
    try:
        flat = np.random.RandomState(0).randn(3000, 600)
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
        with pytest.raises(Signalled):
            while True:
                slow.fit(flat)
    finally:
        signal.signal(signal.SIGUSR1, previous)


def test_other_threads_run_during_a_fit():
    big = np.random.RandomState(0).randn(3000, 1200)
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.01):
            ticks.append(time.monotonic())

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.monotonic()
    PCA().fit(big)
    seconds = time.monotonic() - start
    done.set()
    ticker.join()
    assert len(ticks) > 20 * seconds


def test_fits_on_other_threads_give_the_same_bits():
    expected = PCA(3).fit(X).transform(X)
    found = joblib.Parallel(n_jobs=4, backend="threading")(
        joblib.delayed(lambda: PCA(3).fit(X).transform(X))() for _ in range(8)
    )
    for codes in found:
        assert_array_equal(codes, expected)


def components(_):
    return PCA(3).fit(X).components_


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_after_a_fit_works():
    unmix.set_num_threads(2)
    try:
        large = np.random.RandomState(0).randn(60_000, 40)
        PCA(3).fit(large)  # Creates a thread pool, which the child process does not inherit.
        expected = components(None)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            for found in pool.map_async(components, range(4)).get(timeout=60):
                assert_array_equal(found, expected)
        assert_array_equal(components(None), expected)
    finally:
        unmix.set_num_threads(None)


def threads_in_a_worker():
    model = PCA(3).fit(X)
    return model.report_.threads, unmix.get_num_threads(), model.components_


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_a_joblib_worker_uses_one_thread(backend, monkeypatch):
    monkeypatch.delenv("UNMIX_NUM_THREADS", raising=False)
    expected = PCA(3).fit(X).components_
    for fitted, default, found in joblib.Parallel(n_jobs=2, backend=backend)(
        joblib.delayed(threads_in_a_worker)() for _ in range(4)
    ):
        assert fitted == default == 1
        assert_array_equal(found, expected)


def test_the_number_of_threads_can_be_chosen(monkeypatch):
    for n in [1, 3]:
        unmix.set_num_threads(n)
        assert unmix.get_num_threads() == n
    unmix.set_num_threads(None)
    monkeypatch.delenv("UNMIX_NUM_THREADS", raising=False)
    assert unmix.get_num_threads() == len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else True
    monkeypatch.setenv("UNMIX_NUM_THREADS", "3")
    assert unmix.get_num_threads() == 3
    for wrong in [0, -1, 1.5, "2"]:
        with pytest.raises(ValueError, match="n must be a positive integer, or None for the default, got"):
            unmix.set_num_threads(wrong)


@pytest.mark.parametrize("value, wrong", [("two", True), ("0", True), ("-1", True), ("1.5", True), ("", False), ("2", False)])
def test_a_number_of_threads_that_is_none_warns_on_import(value, wrong):
    environment = {**os.environ, "UNMIX_NUM_THREADS": value, "PYTHONPATH": os.pathsep.join(sys.path)}
    code = (
        "import joblib, unmix; print(unmix.get_num_threads())\n"
        "print(*joblib.Parallel(2, backend='threading')(joblib.delayed(unmix.get_num_threads)() for _ in range(2)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    here, workers = ran.stdout.splitlines()
    # A value that is not valid counts as none, also in workers, which then use one thread.
    assert int(here) >= 1 and workers == ("2 2" if value == "2" else "1 1")
    assert ("UNMIX_NUM_THREADS" in ran.stderr and "positive integer" in ran.stderr) == wrong, ran.stderr


def test_verbose_prints_on_stderr_and_nothing_else_is_printed(capfd):
    big = np.random.RandomState(0).randn(3000, 900)
    PCA(2).fit(big)
    assert capfd.readouterr() == ("", "")
    PCA(2, verbose=2).fit(big)
    out, err = capfd.readouterr()
    assert out == "" and "covariance" in err and "eigenvectors" in err


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_progress_without_a_terminal_names_iteration_maximum_residual_and_tolerance(capfd):
    def slow(iteration):
        if iteration.n_iter == 2:
            # Longer than the interval between two lines where there is no terminal, as in notebooks.
            time.sleep(2.3)
        if iteration.n_iter == 3:
            raise StopIteration

    X = np.random.RandomState(0).laplace(size=(4000, 100))
    unmix.ICA(4, tol=1e-9, random_state=0, verbose=1, callback=slow).fit(X)
    out, err = capfd.readouterr()
    line = r"^iteration 1 of at most 500, residual [\d.]+e-?\d+ \(stops at 1\.0e-9\), \d+ s$"
    assert out == "" and re.search(line, err, re.MULTILINE), err
