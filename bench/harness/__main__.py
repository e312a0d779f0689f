"""The benchmarks: `cargo xtask bench [ROW...]`."""

import argparse
import json
import os
import sys

from . import against, ceilings, machine, record, show, table
from . import threads as processes
from .data import FOLDER
from .measure import measure
from .score import score


def main():
    parser = argparse.ArgumentParser(prog="cargo xtask bench", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="benchmarks to run; all of them unless named")
    parser.add_argument("--list", action="store_true", help="the rows, and what each is")
    parser.add_argument("--quick", action="store_true", help="small data: tests the harness, without meaningful times")
    parser.add_argument("--only", default="", metavar="LIST", help="engines, or families of them, separated by commas")
    parser.add_argument("--threads", default="1,2", metavar="LIST", help="numbers of threads; the better counts (default 1,2)")
    parser.add_argument("--record", action="store_true", help="keep the rows that ran in bench/records/<date>-<machine>/")
    parser.add_argument(
        "--write-docs", action="store_true", help="write table and chart of docs/performance.md from the newest record"
    )
    parser.add_argument("--against", metavar="FOLDER", help="compare with the unmix that another checkout's bench has built, in turn")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each of the two, with --against (default 3)")
    parser.add_argument(
        "--vectors", type=int, choices=[32], help="keep all libraries and unmix to vectors of 32 bytes, as on a processor without wider ones"
    )
    asked = parser.parse_args()
    if asked.vectors:
        processes.restrict_to_narrow_vectors()
    if asked.write_docs:
        from . import docs

        return docs.write()
    chosen = table.rows(asked.rows, asked.quick)
    if asked.list:
        for row in chosen:
            print(f"{row.name:18} {row.work}")
        return None
    if asked.record and (asked.quick or (asked.only and not asked.against)):
        sys.exit("--record keeps whole rows at full size: leave out --quick and --only")
    threads = [int(n) for n in asked.threads.split(",")]
    only = [e for e in asked.only.split(",") if e]
    if asked.against:
        return 1 if against.compare(chosen, threads, asked.against, asked.rounds, only, asked.record) else 0
    return run(chosen, threads, asked.quick, only, asked.record)


def run(rows, threads, quick, only, keep):
    """Measure and print; each row is recorded when it ends, so that an interruption loses at most one."""
    load = machine.busy()
    if load is not None and load > 0.2 and not quick:
        print(f"{load:.1f} cores are busy with other processes: times will be too long.", file=sys.stderr)
    profile = (table.BENCH / ".venv" / "built" / "profile.txt").read_text()
    if profile != "release" and keep:
        sys.exit(f"unmix was built with the profile {profile!r}: records are of what is published; leave out --profile")
    about = {**machine.describe(), "profile": profile, "busy_cores_before": load}
    if about["cleared"]:
        print(f"cleared from the environment of all processes: {', '.join(about['cleared'])}")
    limits = ceilings.measure(threads, quick)
    print(show.ceilings(limits) + ("; data are small, so times are not meaningful" if quick else ""))
    failed = 0
    for row in rows:
        print(f"\n{row.name}: {row.work}", flush=True)
        about["busy_cores_before"], about["time"] = machine.busy(), machine.now()
        now = ceilings.measure([max(threads)], quick, short=True)
        limits = ceilings.joined(limits, now)
        results = measure(row, threads, quick, only, say=lambda line: print(line, file=sys.stderr, flush=True))
        entry = {"work": row.work, "bounded_by": row.bounded_by, "ceilings": limits, "engines": results}
        entry["row_ceilings"] = {key: value for key, value in now.items() if key.startswith("product")}
        entry.update(score(row, results, limits))
        if quick:
            entry["targets"] = []
        print(show.row(entry))
        _last(row.name, entry, about)
        if keep:
            print(f"kept in {record.keep(row.name, entry, about)}")
        failed += results.get("unmix", {"state": "right"})["state"] != "right"
    # A missed target is a result; a wrong or missing answer of unmix is an error.
    return 1 if failed else 0


def _last(name, entry, about):
    """Write the results of the last run, for inspection."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / "last.json"
    kept = json.loads(path.read_text()) if path.exists() else {"rows": {}}
    kept["machine"] = about
    kept["rows"][name] = entry
    part = path.with_suffix(".part")
    part.write_text(json.dumps(kept, indent=1))
    os.replace(part, path)


if __name__ == "__main__":
    sys.exit(main())
