"""The chart of ratios: for each row, every engine's time in units of ours, on a logarithmic axis."""

import math
from html import escape

#: Families in the order of the legend: a shape and a colour each (light page, dark page), distinguishable without colours.
_FAMILIES = {
    "scikit-learn": ("circle", "#c2570c", "#ff9d5c"),
    "numpy": ("square", "#1f6fb5", "#6cb6ff"),
    "intelex": ("diamond", "#7a3fb0", "#c9a0ff"),
    "PyTorch": ("triangle", "#b3261e", "#ff8a80"),
    "JAX": ("down", "#1b7f4b", "#6fe0a8"),
    "picard": ("diamond", "#a3195b", "#ff8fc0"),
    "dask-ml": ("down", "#6b5b00", "#d9c44a"),
    "polars": ("circle", "#00707a", "#4fd1d9"),
    "pyarrow": ("square", "#3d6b1f", "#9ccf6f"),
    "linfa": ("triangle", "#8a4b08", "#e0a96d"),
    "petal": ("down", "#b0306a", "#ff9cc8"),
    "smartcore": ("circle", "#4a4a8a", "#a9a9f0"),
}
#: Text, secondary text, lines, page.
_LIGHT = ("#1f2328", "#59636e", "#d1d9e0", "#ffffff")
_DARK = ("#e6edf3", "#9198a1", "#3d444d", "#0d1117")
_WIDTH, _LEFT, _RIGHT, _STEP, _TOP, _BOTTOM = 860, 130, 30, 44, 112, 56


def draw(kept):
    """The chart as SVG."""
    rows = [(name, _points(entry)) for name, entry in kept["rows"].items()]
    rows = [(name, points) for name, points in rows if points]
    ratios = [r for _, points in rows for _, r, _, _ in points] + [0.5, 2.0]
    low, high = math.floor(math.log10(min(ratios)) * 3) / 3, math.ceil(math.log10(max(ratios)) * 3) / 3
    height = _TOP + _STEP * len(rows) + _BOTTOM
    scale = (_WIDTH - _LEFT - _RIGHT) / (high - low)

    def at(ratio):
        return _LEFT + (math.log10(ratio) - low) * scale

    parts = [_head(height), *_legend({p[0] for _, points in rows for p in points})]
    parts += _axis(low, high, at, _TOP - 12, height - _BOTTOM)
    for i, (name, points) in enumerate(rows):
        parts += _row(name, points, at, _TOP + _STEP * i + _STEP / 2)
    parts.append(
        f'<text class="quiet" x="{_LEFT}" y="{height - 14}">time of each peer as a multiple of unmix\'s time, in one run; '
        "hollow: the answer was wrong</text></svg>"
    )
    return "\n".join(parts) + "\n"


def _points(entry):
    found = []
    for name, engine in entry["engines"].items():
        if name in entry["ratios"] and not engine["yardstick"] and engine["family"] in _FAMILIES:
            found.append((engine["family"], entry["ratios"][name], engine["state"] == "right", name))
    return found


def _head(height):
    light, dark = (_style(inks, side) for inks, side in ((_LIGHT, 1), (_DARK, 2)))
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="system-ui, DejaVu Sans, sans-serif" '
        'font-size="13"><title>Time of each peer over unmix\'s time</title>\n'
        f"<style>.quiet{{font-size:12px}}.one,.mark{{stroke-width:1.6}}{light}"
        f"@media (prefers-color-scheme:dark){{{dark}}}</style>\n"
        f'<rect class="page" width="{_WIDTH}" height="{height}"/>'
    )


def _style(inks, side):
    """Style rules without CSS variables, which some viewers do not support."""
    ink, quiet, line, page = inks
    colours = "".join(f".f{i}{{fill:{f[side]};stroke:{f[side]}}}" for i, f in enumerate(_FAMILIES.values()))
    rest = f"text{{fill:{ink}}}.quiet{{fill:{quiet}}}.line{{stroke:{line}}}.one{{stroke:{ink}}}.page{{fill:{page}}}"
    return f"{rest}{colours}.wrong{{fill:{page}}}"


def _legend(present):
    parts, x, y = [], _LEFT, 24
    for family in [f for f in _FAMILIES if f in present]:
        width = 38 + 7.4 * len(family)
        if x + width > _WIDTH:
            x, y = _LEFT, y + 20
        parts += [_mark(family, x + 6, y, True, family), f'<text x="{x + 18:.1f}" y="{y + 4}">{escape(family)}</text>']
        x += width
    return parts


def _axis(low, high, at, top, bottom):
    parts = []
    for decade in range(math.floor(low), math.ceil(high) + 1):
        for step in (1, 2, 5):
            ratio = step * 10.0**decade
            if not low - 1e-9 <= math.log10(ratio) <= high + 1e-9:
                continue
            kind = "one" if ratio == 1.0 else "line"
            parts.append(f'<line class="{kind}" x1="{at(ratio):.1f}" x2="{at(ratio):.1f}" y1="{top}" y2="{bottom}"/>')
            parts.append(f'<text class="quiet" x="{at(ratio):.1f}" y="{bottom + 18}" text-anchor="middle">{ratio:g}</text>')
    parts.append(f'<text class="quiet" x="{at(1.0) + 5:.1f}" y="{top - 6}">slower than unmix →</text>')
    parts.append(f'<text class="quiet" x="{at(1.0) - 5:.1f}" y="{top - 6}" text-anchor="end">← faster</text>')
    return parts


def _row(name, points, at, y):
    parts = [f'<text x="{_LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(name)}</text>']
    parts.append(f'<line class="line" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y + _STEP / 2:.1f}" y2="{y + _STEP / 2:.1f}"/>')
    taken = []
    for family, ratio, right, label in sorted(points, key=lambda p: p[1]):
        x = at(ratio)
        # Markers that would overlap are moved up and down alternately.
        shift = next(s for s in (0, -9, 9, -15, 15, 4) if s == 4 or all(abs(x - a) > 11 or abs(s - b) > 7 for a, b in taken))
        taken.append((x, shift))
        parts.append(_mark(family, x, y + shift, right, f"{label}: {ratio:.2f}{'' if right else ', wrong'}"))
    return parts


def _mark(family, x, y, right, title):
    shape = _FAMILIES[family][0]
    kind = f"mark f{list(_FAMILIES).index(family)}{'' if right else ' wrong'}"
    if shape == "circle":
        inner = f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4.5">'
    else:
        corners = {
            "square": [(-4, -4), (4, -4), (4, 4), (-4, 4)],
            "diamond": [(0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0)],
            "triangle": [(0, -5), (5, 4), (-5, 4)],
            "down": [(0, 5), (5, -4), (-5, -4)],
        }[shape]
        inner = f'<polygon class="{kind}" points="{" ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in corners)}">'
    return f"{inner}<title>{escape(title)}</title></{inner[1:].split(' ')[0]}>"
