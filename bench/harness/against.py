"""This build of unmix beside another one: the rows of both in turn, so that a machine that slows down slows both.

The other checkout has been built by its own `bench/run.py`; its own harness and engines are used, because interfaces may differ.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

from . import data, machine, record
from .measure import duration, one
from .table import BENCH

#: A row counts as slower, or as larger, if its ratio is above this.
MOST = 1.03

#: What `import unmix` loads where it is installed: in both environments the same, or times and peaks of memory are not comparable.
SHARED = ("joblib", "numpy", "pandas", "polars", "pyarrow", "scikit-learn", "scipy", "threadpoolctl")


def compare(rows, threads, other, rounds, only=(), keep=False):
    """Measure and print; return the number of rows that are slower or larger than `MOST` allows."""
    other = Path(other).resolve() / "bench"
    if not (other / ".venv" / "built" / "profile.txt").exists():
        sys.exit(f"--against: {other.parent} has no build: run `cargo xtask bench --quick tiny` there first")
    _check_packages(other)
    found, load = {}, machine.busy()
    for row in rows:
        for name in (e for e in row.engines if e.split()[0] == "unmix" and (not only or e in only)):
            entry = _alternate(row, name, threads, other, rounds)
            found[f"{row.name}: {name}"] = entry
            print(f"{row.name:20} {name:16} {_line(entry)}", flush=True)
    worse = sum(bool(entry.get("worse")) for entry in found.values())
    if keep:
        about = {**machine.describe(), "busy_cores_before": load, "before": _commit(other.parent), "after": _commit(BENCH.parent)}
        print(f"kept in {_keep(found, about)}")
    return worse


def _check_packages(other):
    """Ends where the two environments differ in a package that is loaded with unmix: pandas is a third of the peak of a small fit, and
    slows scikit-learn's checks of input."""
    ours, theirs = _packages(BENCH), _packages(other)
    if differ := sorted(f"{name} {theirs.get(name, 'not')} there, {ours.get(name, 'not')} here" for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)):
        sys.exit(f"--against: the two environments hold different packages ({'; '.join(differ)}); install the same in both")


def _packages(bench):
    python = bench / ".venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    listed = json.loads(subprocess.check_output([str(python), "-m", "pip", "list", "--format", "json"], text=True))
    return {entry["name"]: entry["version"] for entry in listed if entry["name"] in SHARED}


def _alternate(row, name, threads, other, rounds):
    path = data.file_of(row.data) if row.data else None
    if path:
        data.warm(path)
    runs = {"before": [], "after": []}
    n = max(threads)
    for turn in range(rounds):
        sides = [("before", other), ("after", BENCH)]
        for side, bench in sides[:: 1 if turn % 2 else -1]:
            run = one(row, name, n, path, quick=False, bench=bench)
            if run["state"] not in ("right", "wrong") or not run.get("times"):
                return {"state": f"{side}: {run.get('why', run['state'])}"}
            runs[side].append(run)
    return _ratios(runs, n)


def _ratios(runs, threads):
    """Ratios after / before: of medians and of the fastest fits of all processes, and of the peaks of memory."""
    times = {side: [t for run in each for t in run["times"]] for side, each in runs.items()}
    medians = {side: statistics.median(t) for side, t in times.items()}
    least = {side: min(t) for side, t in times.items()}
    peaks = {side: statistics.median(run["peak_kib"] for run in each) for side, each in runs.items() if each[0].get("peak_kib")}
    entry = {
        "state": "wrong" if any(run["state"] == "wrong" for run in runs["after"]) else "right",
        "threads": threads,
        "seconds": medians,
        "fastest": least,
        "each_run": {side: [statistics.median(run["times"]) for run in each] for side, each in runs.items()},
        "ratio": medians["after"] / medians["before"],
        "ratio_of_fastest": least["after"] / least["before"],
        "peak_kib": peaks,
        "memory_ratio": peaks["after"] / peaks["before"] if len(peaks) == 2 else None,
    }
    entry["worse"] = entry["ratio"] > MOST or (entry["memory_ratio"] or 0.0) > MOST
    return entry


def _line(entry):
    if "ratio" not in entry:
        return entry["state"]
    seconds, memory = entry["seconds"], entry["memory_ratio"]
    text = f"{duration(seconds['before'])} -> {duration(seconds['after'])}: {entry['ratio']:.3f}, fastest {entry['ratio_of_fastest']:.3f}"
    if memory:
        text += f", peak of memory {memory:.3f}"
    return text + (", WORSE" if entry["worse"] else "") + (", WRONG" if entry["state"] == "wrong" else "")


def _commit(folder):
    done = subprocess.run(["git", "-C", folder, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or None


def _keep(found, about):
    """Write next to the records of the day, with a file for each run: a rerun replaces nothing."""
    folder = record.FOLDER / machine.short_name(about)
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{about['after']}-against-{about['before']}"
    runs = len(list(folder.glob(f"{name}*.json")))
    path = folder / (f"{name}-{runs + 1}.json" if runs else f"{name}.json")
    path.write_text(json.dumps({"machine": about, "rows": found}, indent=1) + "\n", encoding="utf-8")
    return path.relative_to(BENCH.parent)
