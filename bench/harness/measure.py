"""Runs the engines of a row, one process after the other, and puts together what they say."""

import json
import signal
import statistics
import subprocess
import sys

from engines import find

from . import data
from .answers import reference
from .table import BENCH
from .threads import environment

#: A whole process may take this many times a fit's limit: imports, data, some fits, the check.
_PATIENCE = 12


def measure(row, threads, quick, only=(), say=print):
    """All engines of a row with each number of threads. Ours goes first and once more at the end, so that a machine that
    changes its mind meanwhile is noticed: its times are pooled, and the record keeps both medians."""
    path = data.file_of(row.data) if row.data else None
    if path and row.k and "angle" in row.answer:
        reference(path, row.k)
    results = {}
    chosen = [e for e in row.engines if not only or e in only or e.split()[0] in only]
    again = [e for e in chosen[:1] if e == "unmix" and len(chosen) > 1]
    for name in [*chosen, *again]:
        engine = find(row.task, name)
        entry = results.setdefault(name, {"family": engine.family, "yardstick": engine.yardstick, "runs": []})
        if not engine.installed():
            entry["state"] = "not installed"
            continue
        for n in [max(threads)] if row.task == "threads" else threads[:1] if engine.single else threads:
            if path:
                data.warm(path)
            run = one(row, name, n, path, quick)
            say(f"    {name}, {n} thread{'s' * (n > 1)}: {_brief(run)}")
            entry["runs"].append({"threads": n, **run})
    for entry in results.values():
        if entry["runs"]:
            _sum_up(entry)
    return results


def one(row, name, n, path, quick, bench=BENCH):
    """One engine in a process of its own, by the harness in the folder ``bench``, built there."""
    order = {"row": row.name, "engine": name, "threads": n, "path": str(path) if path else None, "quick": quick}
    free = ("UNMIX_NUM_THREADS",) if row.task == "threads" else ()
    python = sys.executable if bench == BENCH else str(bench / ".venv" / "bin" / "python")
    words = [python, "-m", "harness.worker", json.dumps(order)]
    patience = _PATIENCE * row.limit
    try:
        done = subprocess.run(words, cwd=bench, env=environment(n, free), capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        return {"state": "over", "why": f"the process took over {patience:.0f} s"}
    if done.returncode == -signal.SIGALRM:
        return {"state": "over", "why": f"over {row.limit:.0f} s"}
    try:
        told = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return {"state": "failed", "why": _last_line(done)}
    told.setdefault("state", "wrong" if "wrong" in told else "right")
    return told


def _last_line(done):
    """Why a process ended, without the folders of this machine."""
    lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
    last = lines[-1] if lines else f"it ended with {done.returncode} and said nothing"
    return last.replace(str(BENCH), "bench")[:200]


def _brief(run):
    if not run.get("times"):
        return run.get("why", run["state"])
    note = f" WRONG: {run['wrong']}" if "wrong" in run else ""
    return f"{duration(statistics.median(run['times']))}{note}"


def _sum_up(entry):
    """The better number of threads, the times of its runs pooled; an answer counts when every run was right."""
    pooled = {}
    for run in entry["runs"]:
        if run.get("times"):
            pooled.setdefault(run["threads"], []).append(run)
    if not pooled:
        entry["state"] = entry["runs"][0]["state"]
        entry["why"] = entry["runs"][0]["why"]
        return
    medians = {n: statistics.median([t for run in runs for t in run["times"]]) for n, runs in pooled.items()}
    chosen = min(medians, key=medians.get)
    runs = pooled[chosen]
    wrong = next((run["wrong"] for runs in pooled.values() for run in runs if "wrong" in run), None)
    entry.update(state="wrong" if wrong else "right", seconds=medians[chosen], threads=chosen)
    entry["by_threads"] = medians
    entry["each_run"] = [statistics.median(run["times"]) for run in runs]
    entry["fits"] = sum(len(run["times"]) for run in runs)
    if wrong:
        entry["why"] = wrong
    for key in ("errors", "detail", "version"):
        entry[key] = next((run[key] for run in runs if run.get(key)), None)
    for key in ("peak_kib", "rest_kib"):
        entry[key] = max((run[key] for run in runs if run.get(key)), default=None)


def duration(seconds):
    """A time as people read it: three digits and a unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1.0 or unit == "us":
            value = seconds * factor
            digits = max(0, 2 - len(str(int(value))) + 1)
            return f"{value:.{digits}f} {unit}"
    return ""
