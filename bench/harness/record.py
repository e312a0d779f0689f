"""Records: what was measured, kept beside a description of the machine."""

import json
import statistics

from . import machine, show
from .table import BENCH

FOLDER = BENCH / "records"

#: Of more fits than this a record keeps the median and the extremes.
MOST_TIMES = 100


def keep(name, entry, about):
    """Puts a row into the record of today and this machine; returns the folder, as seen from the root of the sources."""
    folder = FOLDER / machine.short_name(about)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": {}}
    kept["machine"] = about
    kept["rows"][name] = _shortened(entry)
    path.write_text(json.dumps(kept, indent=1, sort_keys=False) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(page(kept), encoding="utf-8")
    return folder.relative_to(BENCH.parent)


def _shortened(entry):
    engines = {name: {**e, "runs": [_run(run) for run in e["runs"]]} for name, e in entry["engines"].items()}
    return {**entry, "engines": engines}


def _run(run):
    times = run.get("times") or []
    if len(times) <= MOST_TIMES:
        return run
    some = {"fits": len(times), "fastest": min(times), "median": statistics.median(times), "slowest": max(times)}
    return {**{key: value for key, value in run.items() if key != "times"}, **some}


def by_machine():
    """The newest record of each row, for each machine: the records that have them, by name, each with its rows, and the contents as
    of one record. The machine with the most rows comes first."""
    found = sorted(FOLDER.glob("*/results.json"))
    if not found:
        raise SystemExit("there is no record yet: run `cargo xtask bench --record` on a quiet machine")
    machines = {}
    for path in found:
        record = json.loads(path.read_text(encoding="utf-8"))
        which = (record["machine"]["processor"], record["machine"]["family"], record["machine"]["cores"])
        machines.setdefault(which, []).append((path.parent.name, record))
    return sorted((_newest(kept) for kept in machines.values()), key=lambda m: -len(m[1]["rows"]))


def _newest(kept):
    """Of the records of one machine, oldest first."""
    rows, source = {}, {}
    for name, record in kept:
        rows.update(record["rows"])
        source.update(dict.fromkeys(record["rows"], name))
    records = {name: [row for row in rows if source[row] == name] for name, _ in reversed(kept)}
    return {name: own for name, own in records.items() if own}, {**kept[-1][1], "rows": rows}


def about(kept):
    """The machine, in lines."""
    m = kept["machine"]
    limits = next(iter(kept["rows"].values()))["ceilings"]
    caches = ", ".join(f"{level} {size}" for level, size in m["caches"].items())
    kind = "cores of a virtual machine" if m["virtual"] else "cores"
    vectors = ", ".join(m["vectors"])
    packages = ", ".join(f"{name} {version}" for name, version in m["packages"].items())
    lines = [
        f"Processor: {m['processor']} (family and model {m['family']}), {m['cores']} {kind}; {vectors}; {caches}",
        f"Memory: {m['memory_gib']} GiB. System: {m['system']}",
        f"C{show.ceilings(limits)[1:]} (of the first row; every row keeps its own)",
        f"Python {m['python']}; {packages}",
        f"unmix {m['unmix']}, profile {m['profile']}",
    ]
    if m["busy_cores_before"] is not None:
        lines.append(f"Cores at work on something else when the run began: {m['busy_cores_before']:.2f}")
    return [f"- {line}" for line in lines]


def page(kept):
    """The record's README."""
    how = "Times are medians, with the better number of threads. `/ ours` above 1 is slower than unmix, `+ MiB` what fits took."
    lines = [f"# {kept['machine']['date']}", "", *about(kept), "", how, ""]
    for name, entry in kept["rows"].items():
        lines += [f"## {name}", "", f"{entry['work']}.", "", "```", show.row(entry), "```", ""]
    return "\n".join(lines)
