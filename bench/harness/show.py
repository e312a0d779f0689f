"""Results as text."""

from .measure import duration


def ceilings(limits):
    """The ceilings of the machine."""
    giga = {name: limits[name] / 1e9 for name in ("product_float32", "product_float64", "read", "copy")}
    by = limits.get("by", {})
    return (
        f"ceilings: product {giga['product_float32']:.0f} GF/s (f32, {by.get('product_float32')}), "
        f"{giga['product_float64']:.1f} GF/s (f64, {by.get('product_float64')}); "
        f"memory read {giga['read']:.1f} GB/s, copy on one thread {giga['copy']:.1f} GB/s"
    )


def row(entry):
    """A row's table, and whether its targets were met."""
    lines = []
    if entry["bound"]:
        lines.append(f"  bound {duration(entry['bound'])}: {entry['bounded_by']}")
    head = ("engine", "time", "threads", "/ bound", "/ ours", "spread", "peak MiB", "+ MiB", "answer")
    body = [_engine(name, engine, entry) for name, engine in _sorted(entry)]
    widths = [max(len(line[c]) for line in [head, *body]) for c in range(len(head))]
    for name, *figures, answer in [head, *body]:
        cells = [name.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(figures, widths[1:], strict=False)), answer]
        lines.append("  " + "  ".join(cells).rstrip())
    detail = entry["engines"].get("unmix", {}).get("detail") or {}
    for shape, d in detail.items():
        lines.append(f"  {shape:>12}  one {duration(d['one'])}, two {duration(d['two'])}: {d['ratio']:.3f}")
    lines += [f"  {target(t)}" for t in entry["targets"]]
    return "\n".join(lines)


def target(t):
    """A target, and whether it was met."""
    if t["met"] is None:
        return f"target {t['formula']}: cannot be determined"
    return f"target {t['formula']}: {'met' if t['met'] else 'MISSED'}, {figure(t['found'])}"


def figure(x):
    """A number in a formula: seconds, ratios and mebibytes alike."""
    return f"{x:.3g}" if x is not None else "-"


def _sorted(entry):
    return sorted(entry["engines"].items(), key=lambda item: (item[0] != "unmix", item[1].get("seconds") or 1e9))


def _engine(name, engine, entry):
    state, seconds = engine.get("state"), engine.get("seconds")
    if not seconds:
        return (name, engine.get("why", state) if state == "over" else "-", "", "", "", "", "", "", _why(engine))
    over = f"{seconds / entry['bound']:.2f}" if entry["bound"] else ""
    ratio = f"{seconds / entry['ours']:.2f}" if entry["ours"] else ""
    peak, rest = engine.get("peak_kib"), engine.get("rest_kib")
    more = f"{(peak - rest) / 1024:.0f}" if peak and rest else ""
    threads = str(engine["threads"])
    spread = f"{100 * engine['spread']:.0f} %" if engine.get("spread") is not None else ""
    return (name, duration(seconds), threads, over, ratio, spread, f"{peak / 1024:.0f}" if peak else "", more, _why(engine))


def _why(engine):
    """A remark on an answer."""
    state = engine["state"]
    if state == "over":
        return ""
    if state != "right":
        return f"{'WRONG' if state == 'wrong' else state} {engine.get('why') or ''}".strip()
    errors = engine.get("errors") or {}
    return "right " + ", ".join(f"{name} {error:.0e}" for name, error in errors.items()) if errors else "right"
