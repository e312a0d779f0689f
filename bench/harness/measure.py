"""Run the engines of a row, one process after the other, and combine their results."""

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile

from engines import find

from . import data
from .answers import reference
from .table import BENCH
from .threads import environment

#: Time limit of a process as a multiple of that of a fit: imports, data, several fits, the check.
_PATIENCE = 12


def measure(row, threads, quick, only=(), say=print):
    """All engines of a row in two rounds, each in turn: in the first with each number of threads, in the second with the one that was
    better. Every process makes the same number of fits, as many as ours makes in 3 s (3 to 25), or as the row's limit allows."""
    path = data.file_of(row.data) if row.data else None
    if path and row.k and "angle" in row.answer:
        reference(path, row.k)
    chosen = [e for e in row.engines if not only or e in only or e.split()[0] in only]
    results = {}
    for name in chosen:
        engine = find(row.task, name)
        results[name] = {"family": engine.family, "yardstick": engine.yardstick, "runs": []}
        if not engine.installed():
            results[name]["state"] = "not installed"
    fits = _fits(row, max(threads), path, quick)
    for turn in (1, 2):
        for name, entry in results.items():
            engine = find(row.task, name)
            for n in _threads(row, engine, threads) if turn == 1 else _again(entry):
                if not engine.installed():
                    continue
                if path:
                    data.warm(path)
                run = one(row, name, n, path, quick, fits=fits)
                say(f"    round {turn}, {name}, {n} thread{'s' * (n > 1)}: {_brief(run)}")
                entry["runs"].append({"round": turn, "threads": n, **run})
    for entry in results.values():
        if entry["runs"]:
            _sum_up(entry)
    return results


def _threads(row, engine, threads):
    return [max(threads)] if row.task == "threads" else threads[:1] if engine.single else threads


def _again(entry):
    """The number of threads for the second round: that of the faster process, none where there is no time."""
    timed = [run for run in entry["runs"] if run.get("times")]
    return [min(timed, key=lambda run: statistics.median(run["times"]))["threads"]] if timed else []


def _fits(row, n, path, quick):
    """Fits of each process, from a process of ours whose times do not count; ``None`` where ours is not in the row."""
    if "unmix" not in row.engines or not find(row.task, "unmix").installed() or row.fits["most"] == 1:
        return None
    if path:
        data.warm(path)
    run = one(row, "unmix", n, path, quick)
    return len(run["times"]) if run.get("times") else None


def one(row, name, n, path, quick, bench=BENCH, fits=None):
    """One engine in a process of its own, by the harness in the folder ``bench``, built there; ``fits`` fits if it is given."""
    order = {"row": row.name, "engine": name, "threads": n, "path": str(path) if path else None, "quick": quick, "fits": fits}
    free = ("UNMIX_NUM_THREADS",) if row.task == "threads" else ()
    python = sys.executable if bench == BENCH else str(bench / ".venv" / "bin" / "python")
    words = [python, "-m", "harness.worker", json.dumps(order)]
    patience = _PATIENCE * row.limit
    try:
        done = _ended(words, bench, environment(n, free), patience)
    except subprocess.TimeoutExpired:
        return {"state": "over", "why": f"the process took over {patience:.0f} s"}
    if done.returncode == -signal.SIGALRM:
        return {"state": "over", "why": f"over {row.limit:.0f} s"}
    try:
        outcome = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return {"state": "failed", "why": _last_line(done)}
    outcome.setdefault("state", "wrong" if "wrong" in outcome else "right")
    return outcome


def _ended(words, folder, variables, patience):
    """What a process wrote, as soon as it has ended; processes that it started, which may hold its output open, are ended with it."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(words, cwd=folder, env=variables, stdout=out, stderr=err, start_new_session=True)
        try:
            process.wait(patience)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(words, process.returncode, out.read(), err.read())


def _last_line(done):
    """The reason why a process failed, without folders of this machine."""
    lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
    last = lines[-1] if lines else f"it ended with {done.returncode} and said nothing"
    return last.replace(str(BENCH), "bench")[:200]


def _brief(run):
    if not run.get("times"):
        return run.get("why", run["state"])
    note = f" WRONG: {run['wrong']}" if "wrong" in run else ""
    return f"{duration(statistics.median(run['times']))}{note}"


def _sum_up(entry):
    """The better number of threads; one median over the fits of its two processes; an answer counts when every run was right."""
    pooled = {}
    for run in entry["runs"]:
        if run.get("times"):
            pooled.setdefault(run["threads"], []).append(run)
    if not pooled:
        entry["state"] = entry["runs"][0]["state"]
        entry["why"] = entry["runs"][0]["why"]
        return
    medians = {n: statistics.median([t for run in runs for t in run["times"]]) for n, runs in pooled.items()}
    # The number of threads that both rounds have.
    chosen = max(pooled, key=lambda n: (len(pooled[n]), -medians[n]))
    runs = pooled[chosen]
    wrong = next((run["wrong"] for runs in pooled.values() for run in runs if "wrong" in run), None)
    entry.update(state="wrong" if wrong else "right", seconds=medians[chosen], threads=chosen)
    entry["by_threads"] = medians
    entry["each_run"] = [statistics.median(run["times"]) for run in runs]
    entry["spread"] = max(entry["each_run"]) / min(entry["each_run"]) - 1.0
    entry["fits"] = sum(len(run["times"]) for run in runs)
    if wrong:
        entry["why"] = wrong
    for key in ("errors", "detail", "version", "facts"):
        entry[key] = next((run[key] for run in runs if run.get(key)), None)
    for key in ("peak_kib", "rest_kib"):
        entry[key] = max((run[key] for run in runs if run.get(key)), default=None)


def duration(seconds):
    """A time with three digits and a unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1.0 or unit == "us":
            value = seconds * factor
            digits = max(0, 2 - len(str(int(value))) + 1)
            return f"{value:.{digits}f} {unit}"
    return ""
