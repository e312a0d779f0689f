"""Formulas of a row: its bound and its targets, worked out from what was measured."""

import math

_FUNCTIONS = {"max": max, "min": min, "log2": math.log2, "sqrt": math.sqrt}


class Missing(Exception):
    """A quantity in a formula that was not measured."""


def names(row, results, ceilings, limit=None):
    """The names that formulas may use; README.md lists them. With ``limit``, the time in seconds of a peer that was slower than that."""
    dtype = row.data.get("dtype", "float64")
    seconds = {name: e["seconds"] for name, e in results.items() if e.get("state") == "right"}
    peers = {name: s for name, s in seconds.items() if name.split()[0] != "unmix" and not results[name]["yardstick"]}

    def peer(name):
        if name in seconds:
            return seconds[name]
        alike = [s for other, s in peers.items() if other.split()[0] == name]
        if not alike and limit and any(e.get("state") == "over" and name in (other, other.split()[0]) for other, e in results.items()):
            return limit
        if not alike:
            raise Missing(f"no right time of {name}")
        return min(alike)

    known = {
        **_FUNCTIONS,
        **row.data,
        "k": row.k,
        "product": ceilings.get(f"product_{dtype}"),
        "tanh": ceilings.get(f"tanh_{dtype}"),
        "read": ceilings.get("read"),
        "copy": ceilings.get("copy"),
        "eigh": lambda p: ceilings[f"eigh_{p}"],
        "peer": peer,
    }
    own = results.get("unmix", {})
    if "unmix" in seconds:
        known["ours"] = own["seconds"]
        if own.get("peak_kib"):
            known["peak_mib"] = own["peak_kib"] / 1024
            known["more_mib"] = (own["peak_kib"] - (own.get("rest_kib") or 0)) / 1024
        known.update(own.get("facts") or {})
        if own.get("detail"):
            known["worst_ratio"] = max(d["ratio"] for d in own["detail"].values())
    if peers:
        known["fastest"] = min(peers.values())
    return known, peers


def value(formula, known):
    """A formula's value; ``None`` if a quantity in it was not measured."""
    try:
        return eval(formula, {"__builtins__": {}}, known)  # noqa: S307 - formulas are ours, in rows.toml
    except (NameError, KeyError, TypeError, Missing):
        return None


def score(row, results, ceilings):
    """Bound, ratios and targets of a row."""
    known, peers = names(row, results, ceilings)
    bound = value(row.bound, known) if row.bound else None
    if bound:
        known["bound"] = bound
    ours = known.get("ours")
    fastest = min(peers, key=peers.get) if peers else None
    return {
        "bound": bound,
        "ours": ours,
        "over_bound": ours / bound if ours and bound else None,
        # A right engine that is faster than the bound shows that it is none: a ceiling is too low, or the formula counts too much.
        "faster_than_bound": sorted(name for name, s in _right(results) if bound and s < bound),
        "fastest_peer": fastest,
        "fastest_over_ours": peers[fastest] / ours if ours and fastest else None,
        "ratios": {n: e["seconds"] / ours for n, e in results.items() if n != "unmix" and e.get("seconds") and ours},
        "targets": [_target(formula, known, names(row, results, ceilings, row.limit)[0] | {"bound": bound}) for formula in row.targets],
    }


def _right(results):
    """Engines with a correct answer, and their times in seconds."""
    return [(name, e["seconds"]) for name, e in results.items() if e.get("state") == "right" and not e["yardstick"]]


def _target(formula, known, with_limit):
    """What a target's left side is, and whether it is met: also where a peer was stopped at the limit, if that is slow enough."""
    if value(formula, known) is None and value(formula, with_limit):
        known = with_limit
    side = formula
    for sign in ("<=", ">=", "<", ">"):
        side = side.split(sign)[0]
    return {"formula": formula, "found": value(side.strip(), known), "met": value(formula, known)}
