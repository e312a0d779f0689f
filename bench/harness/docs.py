"""Tables and chart of ``docs/performance.md``, from all records of the present form."""

from . import chart, record, show
from .measure import duration
from .table import BENCH

PAGE = BENCH.parent / "docs" / "performance.md"
BEGIN, END = "<!-- written by cargo xtask bench --write-docs -->", "<!-- end -->"


def write():
    """Replaces the text between the two marks of the page, and the chart."""
    machines = record.by_machine()
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    picture = "![Time of each peer as a multiple of unmix's time, by row](performance.svg)"
    tables = "\n\n".join(table(own) for own in machines)
    PAGE.write_text(f"{before}{BEGIN}\n\n{picture}\n\n{tables}\n\n{END}{after}", encoding="utf-8")
    first = machines[0]
    rows = {name: record.shown(runs, first["best"]) for name, runs in first["rows"].items()}
    PAGE.with_suffix(".svg").write_text(chart.draw({"rows": rows}), encoding="utf-8")
    print(f"docs/performance.md and docs/performance.svg are written from bench/records: {', '.join(n for own in machines for n in own['records'])}")


def table(own):
    """What was measured, a line for each row, then how each target went."""
    best = own["best"]
    rows = {name: record.shown(runs, best) for name, runs in own["rows"].items()}
    links = ", ".join(f"[bench/records/{name}](../bench/records/{name}/README.md)" for name in own["records"])
    lines = [f"### With {_widest(own['machine'])}", "", *record.about(own["machine"]), f"- All runs: {links}", ""]
    lines += [
        "| row | work | unmix | spread | over the bound | fastest right peer | spread | its time over ours | in all runs | peak memory |",
        "|---|---|---:|---:|---:|---|---:|---:|---:|---:|",
    ]
    lines += [_line(name, run, own["rows"][name], best) for name, run in rows.items()]
    lines += ["", "| row | ceilings of the row | what bounds it | bound | targets |", "|---|---|---|---:|---|"]
    for name, run in rows.items():
        targets = "; ".join(_target(t) for t in run["targets"])
        bound = duration(run["bound"]) if run["bound"] else ""
        lines.append(f"| {name} | {_ceilings(run['ceilings'])} | {run['bounded_by']} | {bound} | {targets} |")
    return "\n".join(lines)


def _ceilings(c):
    return f"product {c['product_float32'] / 1e9:.0f} and {c['product_float64'] / 1e9:.0f} GF/s, read {c['read'] / 1e9:.1f} GB/s"


def _widest(machine):
    """What a machine is called in the page: its vectors are what matters most here."""
    vectors = machine["vectors"]
    wide = "avx512f" in vectors and not machine.get("max_vector_bytes")
    width = "vectors of 64 bytes" if wide else "vectors of 32 bytes" if "avx2" in vectors else "other vectors"
    return f"{width}: {machine['processor']}, family and model {machine['family']}, {machine['cores']} cores"


def _line(name, run, runs, best):
    own = run["engines"]["unmix"]
    ours = duration(run["ours"]) if run["ours"] else own["state"]
    if own.get("detail"):
        worst = max(own["detail"].items(), key=lambda item: item[1]["ratio"])
        ours = f"two threads over one: {worst[1]['ratio']:.2f} at worst ({worst[0]})"
    over = f"{run['over_bound']:.2f}" if run["over_bound"] else ""
    peer, ratio = run["fastest_peer"] or "", run["fastest_over_ours"]
    spread = _spread(run["engines"].get(peer, {}))
    if peer:
        peer = f"{peer}, {duration(run['engines'][peer]['seconds'])}"
    peak = f"{own['peak_kib'] / 1024:.0f} MiB" if own.get("peak_kib") else ""
    notes = record.disturbances(run, best)
    label = f"{name} **(disturbed: {'; '.join(notes)})**" if notes else name
    cells = [label, run["work"], ours, _spread(own), over, peer, spread, f"{ratio:.2f}" if ratio else "", _all_runs(runs, best), peak]
    return f"| {' | '.join(cells)} |"


def _spread(engine):
    """By how much the two processes of an engine differ."""
    return f"{100 * engine['spread']:.0f} %" if engine.get("spread") is not None else ""


def _all_runs(runs, best):
    """The ratio of every run of a row, oldest first; disturbed ones in parentheses."""
    ratios = [(run["fastest_over_ours"], record.disturbances(run, best)) for run in runs]
    return ", ".join(f"({r:.2f})" if notes else f"{r:.2f}" for r, notes in ratios if r)


def _target(t):
    outcome = "not measured" if t["met"] is None else f"{'met' if t['met'] else '**missed**'}: {show.figure(t['found'])}"
    return f"`{t['formula']}` {outcome}"
