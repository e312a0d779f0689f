"""Other Rust crates, in the program of `bench/crates`, which `run.py --with crates` builds."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from . import Outside, TooLong, engine

#: Compiled for a generic processor, which is cargo's default.
PROGRAM = Path(sys.prefix) / "built" / "bench-crates"
LOCK = Path(__file__).resolve().parent.parent / "crates" / "Cargo.lock"

#: Exit code when a fit takes longer than the row allows.
_OVER = 124


def _run(job, name):
    with tempfile.TemporaryDirectory() as folder:
        fits, row = job.row.fits, job.row
        numbers = (row.k, fits["least"], fits["most"], float(fits["seconds"]), float(row.limit))
        words = [PROGRAM, row.task, name, job.path, folder, *numbers]
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
        if done.returncode == _OVER:
            raise TooLong(f"over {row.limit:.0f} s")
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            raise RuntimeError(lines[-1] if lines else f"it ended with {done.returncode} and printed nothing")
        answer = {file.stem: np.load(file) for file in Path(folder).iterdir()}
    if "variances" in answer:
        answer["variances"] = answer["variances"].ravel()
    return Outside(answer=answer, **json.loads(done.stdout))


def _version(crate):
    found = re.search(rf'name = "{crate}"\nversion = "(.+)"', LOCK.read_text(encoding="utf-8"))
    return found and found[1]


def _listed(task, name, crate, single):
    def make(job):
        outside = _run(job, name)
        outside.version = _version(crate)
        return outside

    engine(task, name, needs=PROGRAM, single=single)(make)


for _task, _ica in (("pca", "linfa-reduction"), ("fit_transform", "linfa-reduction"), ("ica", "linfa-ica")):
    _listed(_task, "linfa", _ica, single=True)
for _task in ("pca", "fit_transform"):
    _listed(_task, "smartcore", "smartcore", single=True)
    # Its exact PCA computes as many left vectors as there are rows: at most some ten thousand rows.
    for _name in ("petal exact", "petal randomized"):
        _listed(_task, _name, "petal-decomposition", single=False)
_listed("ica", "petal", "petal-decomposition", single=False)
