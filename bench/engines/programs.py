"""External programs: unmix's command line."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import Outside, engine, estimator

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
