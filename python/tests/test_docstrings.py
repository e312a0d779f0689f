"""Docstrings of the public interface satisfy numpydoc's validation."""

import inspect

import pytest

import unmix

REASON = "numpydoc is not installed (python/tests/requirements-all.txt)"
validate = pytest.importorskip("numpydoc.validate", reason=REASON).validate
NumpyDocString = pytest.importorskip("numpydoc.docscrape", reason=REASON).NumpyDocString

#: An extended summary is not required where the first sentence is sufficient.
IGNORED = {"ES01"}


def public():
    """Every public class, function and method of unmix and its import path; inherited methods once."""
    seen = {}
    for name in unmix.__all__:
        thing = getattr(unmix, name)
        if inspect.ismodule(thing):
            seen |= {getattr(thing, n): f"{thing.__name__}.{n}" for n in thing.__all__}
            continue
        seen[thing] = f"unmix.{name}"
        for n, member in inspect.getmembers(thing, inspect.isfunction) if inspect.isclass(thing) else ():
            if not n.startswith("_") and member.__module__.startswith("unmix"):
                seen.setdefault(inspect.unwrap(member), f"unmix.{name}.{n}")
    return {name: thing for thing, name in seen.items()}


@pytest.mark.parametrize("name", sorted(public()))
def test_docstrings_are_complete(name):
    found = [f"{code}: {message}" for code, message in validate(name)["errors"] if code not in IGNORED]
    assert not found


def has(place, path):
    for name in path.split("."):
        place = getattr(place, name, None)
    return place is not None


@pytest.mark.parametrize("name, thing", sorted(public().items()))
def test_references_in_docstrings_exist(name, thing):
    around = [unmix, inspect.getmodule(thing), *[getattr(unmix, part, None) for part in name.split(".")[1:-1]]]
    others = [other for names, _ in NumpyDocString(inspect.getdoc(thing))["See Also"] for other, _ in names]
    assert others
    for other in others:
        assert any(has(place, other.removeprefix("unmix.")) for place in around), other
