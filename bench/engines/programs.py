"""Programs that are started: unmix's command line."""

import os
import subprocess
import sys
import time
from pathlib import Path

from . import Outside, engine

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
