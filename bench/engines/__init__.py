"""Who does the work: one file for each package, one function for each way that it is asked.

A function decorated with :func:`engine` gets a :class:`Job`, imports and prepares what is not to be timed, and returns two
functions: one that does the work once, and one that turns what it returned into an answer to check (``None`` where there is
none). A program of its own returns :class:`Outside` instead, with the times that it took, or
raises :class:`TooLong`.
"""

import importlib
import importlib.util
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

FILES = (
    "ours", "solvers", "scikit", "own_numpy", "rectified", "coders", "intelex", "pytorch", "jaxed", "dask_ml", "picards", "pursuits", "frames", "programs", "crates",
)  # fmt: skip

ENGINES = {}


@dataclass
class Job:
    """What an engine is asked to do."""

    row: object
    path: Path
    threads: int

    @property
    def k(self):
        return self.row.k

    @property
    def X(self):
        """The rows in memory."""
        return np.load(self.path)

    def columns(self):
        """Names of the columns to read from a table."""
        return [f"x{j}" for j in range(self.row.data["p"])]


@dataclass
class Outside:
    """What a program of its own measured: seconds, an answer, its memory at its peak and with no more than the data."""

    times: list
    answer: dict = field(default_factory=dict)
    peak_kib: int | None = None
    rest_kib: int | None = None
    detail: dict = field(default_factory=dict)
    version: str | None = None


class TooLong(Exception):
    """A fit of a program of its own took longer than its row allows."""


@dataclass
class Engine:
    """One way to do a task."""

    make: object
    family: str
    #: The module that it needs, or the file.
    needs: str | Path | None
    #: It does not solve the task, so it is no peer: a measure for formulas.
    yardstick: bool
    #: It never has a second thread at work, so that to offer it one measures the same again.
    single: bool

    def installed(self):
        """Whether what this engine needs is there."""
        if isinstance(self.needs, Path):
            return self.needs.exists()
        return self.needs is None or importlib.util.find_spec(self.needs) is not None


def engine(task, name, needs=None, yardstick=False, single=False):
    """Lists a function as the engine ``name`` of ``task``; the first word of the name is its family, for the chart."""

    def listed(make):
        ENGINES[task, name] = Engine(make, name.split()[0], needs, yardstick, single)
        return make

    return listed


def find(task, name):
    """The engine ``name`` of ``task``."""
    for file in FILES:
        importlib.import_module(f"engines.{file}")
    if (task, name) not in ENGINES:
        have = ", ".join(n for t, n in ENGINES if t == task)
        raise SystemExit(f"rows.toml asks for the engine {name!r}, which cannot do {task!r}; there are: {have}")
    return ENGINES[task, name]


def estimator(fitted):
    """The answer that an estimator with scikit-learn's attributes holds."""
    return {"components": fitted.components_, "variances": fitted.explained_variance_}
