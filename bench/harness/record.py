"""Records: results of runs, stored with a description of the machine."""

import json
import statistics

from . import machine, show
from .table import BENCH

FOLDER = BENCH / "records"

#: Of more fits than this a record keeps the median and the extremes.
MOST_TIMES = 100


#: Records of an earlier form were made with variables in the environment that slow OpenBLAS down, and are not shown.
FORM = 2

#: A run is disturbed where the product of its row is below this part of the best that is known of the same kind of machine,
LEAST_CEILING = 0.9
#: or two processes of ours, or of the fastest peer, differ by more than this,
MOST_SPREAD = 0.15
#: or so many cores were at work on something else when it began.
MOST_BUSY = 0.2


def keep(name, entry, about):
    """Adds a run of a row to the record of today and this machine; returns the folder, as seen from the root of the sources."""
    folder = FOLDER / machine.short_name(about)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"form": FORM, "rows": {}}
    if kept.get("form") != FORM:
        raise SystemExit(f"{path} has another form; runs of a row cannot be added to it")
    kept["machine"] = about
    kept["rows"].setdefault(name, []).append({"about": _of_the_run(about), **_shortened(entry)})
    path.write_text(json.dumps(kept, indent=1, sort_keys=False) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(page(kept, best_known()), encoding="utf-8")
    return folder.relative_to(BENCH.parent)


def _of_the_run(about):
    return {key: about[key] for key in ("time", "commit", "busy_cores_before", "cleared", "max_vector_bytes") if about.get(key) is not None}


def kind(about):
    """What makes two machines the same kind: processor, cores, and the vectors that were allowed."""
    return (about["processor"], about["family"], about["cores"], about.get("max_vector_bytes"))


def best_known():
    """The best product of each type before any row of the records of this form, by kind of machine."""
    found = {}
    for _, kept in _all():
        own = found.setdefault(kind(kept["machine"]), {})
        for run in (run for runs in kept["rows"].values() for run in runs):
            for key in ("product_float32", "product_float64"):
                own[key] = max(own.get(key, 0.0), run["row_ceilings"].get(key) or 0.0)
    return found


def disturbances(run, best):
    """Why a run is not to be relied on, in words; ``best`` are the best known products of its kind of machine."""
    found = []
    for key, own in run["row_ceilings"].items():
        if key in best and own < LEAST_CEILING * best[key]:
            found.append(f"{key.replace('_', ' of ')} {100 * own / best[key]:.0f} % of the best known")
    for name in ("unmix", run.get("fastest_peer")):
        spread = run["engines"].get(name, {}).get("spread") if name else None
        if spread is not None and spread > MOST_SPREAD:
            found.append(f"two processes of {name} differ by {100 * spread:.0f} %")
    if run.get("faster_than_bound"):
        found.append(f"faster than the bound, which is none: {', '.join(run['faster_than_bound'])}")
    busy = run["about"].get("busy_cores_before")
    if busy is not None and busy > MOST_BUSY:
        found.append(f"{busy:.1f} cores were busy")
    return found


def _shortened(entry):
    engines = {name: {**e, "runs": [_run(run) for run in e["runs"]]} for name, e in entry["engines"].items()}
    return {**entry, "engines": engines}


def _run(run):
    times = run.get("times") or []
    if len(times) <= MOST_TIMES:
        return run
    some = {"fits": len(times), "fastest": min(times), "median": statistics.median(times), "slowest": max(times)}
    return {**{key: value for key, value in run.items() if key != "times"}, **some}


def _all():
    """Names and contents of the records of this form, oldest first."""
    for path in sorted(FOLDER.glob("*/results.json")):
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept.get("form") == FORM:
            yield path.parent.name, kept


def by_machine():
    """For each kind of machine: names of its records, the newest machine entry, and all runs of each row, oldest first, each with the
    record that holds it. The kind with the most rows comes first."""
    kinds = {}
    for name, kept in _all():
        own = kinds.setdefault(kind(kept["machine"]), {"records": [], "machine": None, "rows": {}})
        own["records"].append(name)
        own["machine"] = kept["machine"]
        for row, runs in kept["rows"].items():
            own["rows"].setdefault(row, []).extend({**run, "record": name} for run in runs)
    if not kinds:
        raise SystemExit("there is no record yet: run `cargo xtask bench --record` on a quiet machine")
    best = best_known()
    found = [{**own, "best": best[which]} for which, own in kinds.items()]
    return sorted(found, key=lambda own: -len(own["rows"]))


def shown(runs, best):
    """The run of a row that is shown in the table: the last one that was not disturbed, or the last."""
    calm = [run for run in runs if not disturbances(run, best)]
    return (calm or runs)[-1]


def about(m):
    """The machine, in lines."""
    caches = ", ".join(f"{level} {size}" for level, size in m["caches"].items())
    kind_of_cores = "cores of a virtual machine" if m["virtual"] else "cores"
    vectors = ", ".join(m["vectors"])
    if m.get("max_vector_bytes"):
        vectors += f"; restricted to vectors of {m['max_vector_bytes']} bytes, all libraries and unmix alike"
    packages = ", ".join(f"{name} {version}" for name, version in m["packages"].items())
    lines = [
        f"Processor: {m['processor']} (family and model {m['family']}), {m['cores']} {kind_of_cores}; {vectors}; {caches}",
        f"Memory: {m['memory_gib']} GiB. System: {m['system']}",
        f"Python {m['python']}; {packages}",
        f"unmix {m['unmix']}, profile {m['profile']}",
    ]
    if m.get("cleared"):
        lines.append(f"Variables of the environment that were cleared: {', '.join(f'{k}={v}' for k, v in m['cleared'].items())}")
    return [f"- {line}" for line in lines]


def page(kept, best):
    """The record's README: every run of every row."""
    how = (
        "Times are medians over two processes in turn with the others, with the better number of threads. `/ ours` above 1 is slower than "
        "unmix, `+ MiB` what fits took, `spread` how much the two processes differ."
    )
    lines = [f"# {kept['machine']['date']}", "", *about(kept["machine"]), "", how, ""]
    own = best.get(kind(kept["machine"]), {})
    for name, runs in kept["rows"].items():
        lines += [f"## {name}", "", f"{runs[-1]['work']}.", ""]
        for i, run in enumerate(runs, 1):
            notes = disturbances(run, own)
            lines += [f"Run {i} of {len(runs)}, {run['about'].get('time', '')}, commit {run['about'].get('commit')}", ""]
            lines += [f"**Disturbed: {'; '.join(notes)}.**", ""] if notes else []
            lines += ["```", "  " + show.ceilings(run["ceilings"]), show.row(run), "```", ""]
    return "\n".join(lines)
