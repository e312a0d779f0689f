"""Engines: one file for each package, one function for each implementation of a task.

A function decorated with :func:`engine` gets a :class:`Job`, makes the imports and preparations that are not timed, and returns
two functions: one that does the work once, and one that converts its result to an answer to check (``None`` if there is none).
An external program returns :class:`Outside` instead, with its times, or raises :class:`TooLong`.
"""

import importlib
import importlib.util
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

FILES = (
    "ours", "solvers", "scikit", "own_numpy", "rectified", "coders", "intelex", "pytorch", "networks", "jaxed", "dask_ml", "picards", "pursuits", "frames", "programs", "crates",
)  # fmt: skip

ENGINES = {}


@dataclass
class Job:
    """The task of an engine."""

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
    """Measurements of an external program: seconds, an answer, its peak memory and its memory with the data only."""

    times: list
    answer: dict = field(default_factory=dict)
    peak_kib: int | None = None
    rest_kib: int | None = None
    detail: dict = field(default_factory=dict)
    version: str | None = None


class TooLong(Exception):
    """A fit of an external program took longer than its row allows."""


@dataclass
class Engine:
    """An implementation of a task."""

    make: object
    family: str
    #: The module or file that it needs.
    needs: str | Path | None
    #: Whether it does not solve the task but only supplies a measurement for formulas: it is then not a peer.
    yardstick: bool
    #: Whether it always uses a single thread, so that it is measured with one thread only.
    single: bool

    def installed(self):
        """Whether the module or file that this engine needs is there."""
        if isinstance(self.needs, Path):
            return self.needs.exists()
        return self.needs is None or importlib.util.find_spec(self.needs) is not None


def engine(task, name, needs=None, yardstick=False, single=False):
    """Register a function as the engine ``name`` of ``task``; the first word of the name is its family, for the chart."""

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
        raise SystemExit(f"rows.toml requests the engine {name!r}, which cannot do {task!r}; there are: {have}")
    return ENGINES[task, name]


def estimator(fitted):
    """The answer that an estimator with scikit-learn's attributes holds."""
    return {"components": fitted.components_, "variances": fitted.explained_variance_}
