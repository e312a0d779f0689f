"""External programs: unmix's command line, and an example of the Rust library."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from . import Outside, engine, estimator
from .networks import TUNING, labels_of, starting_weights

BUILT = Path(sys.prefix) / "built"
_ENDING = ".exe" if os.name == "nt" else ""


def _starts(words, fits, begins):
    times = []
    for _ in range(fits["most"] + 3):
        start = time.perf_counter()
        done = subprocess.run(words, capture_output=True, check=True)
        times.append(time.perf_counter() - start)
        if not done.stdout.decode().startswith(begins):
            raise AssertionError(f"it said {done.stdout[:60]!r}")
    return Outside(times=times[3:])


@engine("start", "unmix")
def start(job):
    return _starts([f"{BUILT / 'unmix'}{_ENDING}", "--version"], job.row.fits, "unmix ")


@engine("start", "an empty program", yardstick=True)
def empty(job):
    return _starts(["true"], job.row.fits, "")


@engine("pca_file", "unmix program")
def fit_file(job):
    """A fit by the command line program, including its start and the model file; memory is that of the program alone."""
    import unmix

    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.safetensors"
        words = [f"{BUILT / 'unmix'}{_ENDING}", "fit", "pca", str(job.path), "-k", str(job.k), "-o", str(model), "--quiet"]
        times, peaks = [], []
        while len(times) < job.row.fits["least"] + 1 or (sum(times) < job.row.fits["seconds"] and len(times) <= job.row.fits["most"]):
            start = time.perf_counter()
            child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            _, status, used = os.wait4(child.pid, 0)
            times.append(time.perf_counter() - start)
            peaks.append(used.ru_maxrss // 1024 if sys.platform == "darwin" else used.ru_maxrss)
            if os.waitstatus_to_exitcode(status) != 0:
                raise AssertionError(child.stderr.read().decode()[-200:])
            child.stderr.close()
        answer = estimator(unmix.load(model))
    return Outside(times=times[1:], peak_kib=max(peaks), answer=answer)


@engine("fine-tuning", "unmix", needs=BUILT / f"fine_tuning{_ENDING}")
def fine_tuning(job):
    """Training of all layers from given weights, without the time to read the rows."""
    X, labels = job.X, labels_of(job)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("rows", "labels", "weights")]
        for file, numbers in zip(files, (X.astype("<f4"), labels.astype("<u4"), starting_weights(job.k, X.shape[1])), strict=True):
            numbers.tofile(file)
        numbers = (labels.max() + 1, TUNING["max_epochs"], TUNING["learning_rate"], job.threads)
        words = [BUILT / f"fine_tuning{_ENDING}", *files, *numbers]
        times = []
        while len(times) < job.row.fits["least"] + 1 or (sum(times) < job.row.fits["seconds"] and len(times) <= job.row.fits["most"]):
            found = json.loads(subprocess.run([str(word) for word in words], capture_output=True, check=True).stdout)
            times.append(found["seconds"])
    return Outside(times=times[1:], answer={"loss": np.array(found["losses"][-1])})
