"""One engine with one number of threads in a process of its own: prints its measurements as one line of JSON."""

import json
import signal
import sys
import time
from pathlib import Path

import numpy as np
from engines import Job, Outside, TooLong, find

from . import table
from .answers import CHECKS, Wrong


def memory(name):
    """A line of the system's statistics of this process, in KiB: ``VmHWM`` (peak) or ``VmRSS``; mapped pages are included."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak // 1024 if sys.platform == "darwin" else peak
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), None)


def limited(work, seconds):
    """Run ``work``; an alarm signal ends the process when it takes longer, whatever library is running."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    start = time.perf_counter()
    result = work()
    taken = time.perf_counter() - start
    signal.setitimer(signal.ITIMER_REAL, 0)
    return result, taken


def timed(work, row):
    """Seconds of several fits after a warm-up, and the result of the last; no further fits once the row's limit is used up."""
    # The first fit also loads and compiles what it needs.
    limited(work, row.limit + 10.0)
    times, fits = [], row.fits
    while sum(times) < fits["seconds"] or (len(times) < fits["least"] and sum(times) < row.limit):
        if len(times) == fits["most"]:
            break
        result, taken = limited(work, row.limit)
        times.append(taken)
    return times, result


def main(order):
    row = table.rows([order["row"]], order["quick"])[0]
    path = Path(order["path"]) if order["path"] else None
    if order.get("fits"):
        row.fits = {"least": order["fits"], "most": order["fits"], "seconds": 0.0}
    engine = find(row.task, order["engine"])
    try:
        made = engine.make(Job(row, path, order["threads"]))
    except TooLong as long:
        print(json.dumps({"state": "over", "why": str(long)}))
        return
    if isinstance(made, Outside):
        outcome = {"times": made.times, "rest_kib": made.rest_kib, "peak_kib": made.peak_kib, "detail": made.detail}
        answer = made.answer
    else:
        work, extract = made
        rest = memory("VmRSS")
        times, result = timed(work, row)
        outcome = {"times": times, "rest_kib": rest, "peak_kib": memory("VmHWM")}
        answer = extract(result) if extract else None
    if answer and "facts" in answer:
        outcome["facts"] = answer.pop("facts")
    if answer and row.task in CHECKS:
        try:
            outcome["errors"] = CHECKS[row.task](row, answer, path)
        except Wrong as wrong:
            outcome["wrong"] = str(wrong)
    outcome["version"] = getattr(made, "version", None) or _version(engine)
    print(json.dumps(outcome))


def _version(engine):
    module = sys.modules.get(engine.needs or "")
    return getattr(module, "__version__", None)


if __name__ == "__main__":
    np.seterr(all="ignore")
    main(json.loads(sys.argv[1]))
