"""Tables and chart of ``docs/performance.md``, each row from the newest record of the machine that has it."""

from . import chart, record, show
from .measure import duration
from .table import BENCH

PAGE = BENCH.parent / "docs" / "performance.md"
BEGIN, END = "<!-- written by cargo xtask bench --write-docs -->", "<!-- end -->"


def write():
    """Replaces what stands between the two marks of the page, and the chart beside it."""
    machines = record.by_machine()
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    picture = "![Time of each peer as a multiple of unmix's time, by row](performance.svg)"
    tables = "\n\n".join(table(*m) for m in machines)
    PAGE.write_text(f"{before}{BEGIN}\n\n{picture}\n\n{tables}\n\n{END}{after}", encoding="utf-8")
    PAGE.with_suffix(".svg").write_text(chart.draw(machines[0][1]), encoding="utf-8")
    print(f"docs/performance.md and docs/performance.svg say what bench/records holds: {', '.join(n for m in machines for n in m[0])}")


def table(records, kept):
    """What was measured, a line for each row, then how each target went; which record holds which rows where there are several."""
    lines = [f"### With {_widest(kept['machine'])}", "", *record.about(kept)]
    for name, rows in records.items():
        what = f"All numbers of {', '.join(rows)}" if len(records) > 1 else "All numbers"
        lines.append(f"- {what}: [bench/records/{name}](../bench/records/{name}/README.md)")
    lines.append("")
    lines += [
        "| row | work | unmix | over the bound | fastest right peer | its time over ours | peak memory |",
        "|---|---|---:|---:|---|---:|---:|",
    ]
    lines += [_line(row, entry) for row, entry in kept["rows"].items()]
    lines += ["", "| row | what bounds it | bound | targets |", "|---|---|---:|---|"]
    for row, entry in kept["rows"].items():
        targets = "; ".join(_target(t) for t in entry["targets"])
        lines.append(f"| {row} | {entry['bounded_by']} | {duration(entry['bound']) if entry['bound'] else ''} | {targets} |")
    return "\n".join(lines)


def _widest(machine):
    """What a machine is called in the page: its vectors are what matters most here."""
    vectors = machine["vectors"]
    width = "vectors of 64 bytes" if "avx512f" in vectors else "vectors of 32 bytes" if "avx2" in vectors else "other vectors"
    return f"{width}: {machine['processor']}, family and model {machine['family']}, {machine['cores']} cores"


def _line(row, entry):
    own = entry["engines"]["unmix"]
    ours = duration(entry["ours"]) if entry["ours"] else own["state"]
    if own.get("detail"):
        worst = max(own["detail"].items(), key=lambda item: item[1]["ratio"])
        ours = f"two threads over one: {worst[1]['ratio']:.2f} at worst ({worst[0]})"
    over = f"{entry['over_bound']:.2f}" if entry["over_bound"] else ""
    peer, ratio = entry["fastest_peer"] or "", entry["fastest_over_ours"]
    if peer:
        peer = f"{peer}, {duration(entry['engines'][peer]['seconds'])}"
    peak = f"{own['peak_kib'] / 1024:.0f} MiB" if own.get("peak_kib") else ""
    return f"| {row} | {entry['work']} | {ours} | {over} | {peer} | {f'{ratio:.2f}' if ratio else ''} | {peak} |"


def _target(t):
    outcome = "not measured" if t["met"] is None else f"{'met' if t['met'] else '**missed**'}: {show.figure(t['found'])}"
    return f"`{t['formula']}` {outcome}"
