"""The benchmarks, as rows of ``rows.toml``."""

import copy
from dataclasses import dataclass, field
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

BENCH = Path(__file__).resolve().parent.parent

#: Keys that a row may have; any other is an error.
_KEYS = {
    "task", "work", "data", "k", "angles_at", "quick", "answer", "bound", "bounded_by", "engines", "targets", "fits",
    "same_bits_as_in_memory", "shapes", "limit",
}  # fmt: skip


@dataclass
class Row:
    """One benchmark: a data set, a task, its engines, the criteria of a correct answer and the targets of its time."""

    name: str
    task: str
    work: str
    engines: list
    bounded_by: str
    data: dict = field(default_factory=dict)
    k: int = 0
    angles_at: list = field(default_factory=list)
    answer: dict = field(default_factory=dict)
    bound: str = ""
    targets: list = field(default_factory=list)
    fits: dict = field(default_factory=lambda: {"least": 3, "most": 25, "seconds": 3.0})
    same_bits_as_in_memory: bool = False
    shapes: list = field(default_factory=list)
    #: Time limit of a fit in seconds.
    limit: float = 20.0


def rows(names=(), quick=False):
    """The rows with these names, or all of them; ``quick`` reduces them to sizes that take almost no time, for testing the harness."""
    table = tomllib.loads((BENCH / "rows.toml").read_text(encoding="utf-8"))
    whole = dict(pair for name, entry in table.items() for pair in _seeded(name, entry))
    for name in names:
        if name not in whole and name not in table:
            raise SystemExit(f"there is no row {name!r}; choose among: {', '.join(whole)}")
    asked = {n for name in names for n in ([name] if name in whole else [own for own, _ in _seeded(name, table[name])])}
    return [_row(name, whole[name], quick) for name in whole if not names or name in asked]


def _seeded(name, entry):
    """A row, or one for each of its seeds, which goes into the data and the name."""
    entry = copy.deepcopy(entry)
    seeds = entry.pop("seeds", None)
    if not seeds:
        return [(name, entry)]
    return [(f"{name}_{seed}", {**entry, "work": f"{entry['work']}, seed {seed}", "data": {**entry["data"], "seed": seed}}) for seed in seeds]


def _row(name, entry, quick):
    unknown = entry.keys() - _KEYS
    if unknown:
        raise SystemExit(f"rows.toml: [{name}] has {', '.join(sorted(unknown))}, which is not used")
    entry = copy.deepcopy(entry)
    smaller = entry.pop("quick", {})
    if quick:
        for key, value in smaller.items():
            (entry["data"] if key in entry.get("data", {}) else entry)[key] = value
        entry["work"] = f"{entry['work']} (shrunk)"
        entry["fits"] = {"least": 2, "most": 5, "seconds": 0.05}
    row = Row(name=name, **entry)
    row.angles_at = [k for k in row.angles_at or ([row.k] if row.k else []) if k <= row.k]
    return row
