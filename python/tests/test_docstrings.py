"""Docstrings of the public interface satisfy numpydoc's validation; those of estimators state an equation and their sources."""

import inspect
import operator
import re

import pytest

import unmix

REASON = "numpydoc is not installed (python/tests/requirements-all.txt)"
validate = pytest.importorskip("numpydoc.validate", reason=REASON).validate
NumpyDocString = pytest.importorskip("numpydoc.docscrape", reason=REASON).NumpyDocString

#: Works without a DOI, an arXiv number and a permanent address: books, reports, and proceedings that have none.
WITHOUT_NUMBER = {
    "Efficient implementation of the K-SVD algorithm using batch orthogonal matching pursuit",
    "Factor analysis as a statistical method",
    "ICA with reconstruction cost for efficient overcomplete feature learning",
    "Learning fast approximations of sparse coding",
    "Multivariate quality control",
    "Variational Bayesian approach to movie rating prediction",
}
NUMBER = r"doi:10\.\d{4,}/\S+|arXiv:\d{4}\.\d{4,5}|https://\S+"
#: Functions, classes of results and methods, besides all of `unmix.metrics` and `unmix.datasets`, that compute something by a formula.
BY_FORMULA = [
    "Biclusters",
    "Comparison",
    "FactorAnalysis.get_covariance",
    "FactorAnalysis.get_precision",
    "FactorAnalysis.score_samples",
    "ICA.remove",
    "MatrixCompletion.predict_cells",
    "PCA.get_covariance",
    "PCA.get_precision",
    "PCA.quality",
    "PCA.score_samples",
    "PPCA.get_covariance",
    "PPCA.get_precision",
    "PPCA.impute",
    "PPCA.posterior",
    "PPCA.sample",
    "PPCA.score_samples",
    "Selection",
    "SparseAutoencoder.evaluate",
    "SparseCoder.path",
    "SparseCoder.quality",
    "Stability",
    "SubspaceClustering.score_samples",
    "biclusters",
    "select_components",
    "stability",
]
#: A formula in code or math markup: an equation, or terms with an operator or a call.
FORMULA = r":math:`|``[^`]*( [-+*/@] |\*\*|<=|>=| = |\w\()[^`]*``"
#: An equation, an update or an objective in code or math markup.
EQUATION = r":math:`|``[^`]* (=|<-|\+) [^`]*``"


def is_member(member):
    """Whether an attribute of a class is a method or a property that is defined in this package."""
    function = member.fget if isinstance(member, property) else member
    return inspect.isfunction(function) and function.__module__.startswith("unmix")


def public():
    """Every public class, function, method and property of unmix and its import path; inherited ones once."""
    # `open` is not in `__all__`, so that `from unmix import *` does not replace the built-in function.
    things = {f"unmix.{name}": getattr(unmix, name) for name in [*unmix.__all__, "open"]}
    modules = [thing for thing in things.values() if inspect.ismodule(thing)]
    things |= {f"{module.__name__}.{n}": getattr(module, n) for module in modules for n in module.__all__}
    seen = {}
    for name, thing in things.items():
        if inspect.ismodule(thing):
            continue
        seen[thing] = name
        for n, member in inspect.getmembers(thing, is_member) if inspect.isclass(thing) else ():
            if not n.startswith("_"):
                seen.setdefault(inspect.unwrap(member), f"{name}.{n}")
    return {name: thing for thing, name in seen.items()}


@pytest.mark.parametrize("name", sorted(public()))
def test_docstrings_are_complete(name):
    assert not validate(name)["errors"]


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


def references(thing):
    """The entries of the References of a docstring, each in one line: an entry begins in a line with a year."""
    lines = "\n".join(NumpyDocString(inspect.getdoc(thing))["References"])
    return [" ".join(entry.split()) for entry in re.split(r"\n(?=.*\(\d{4}\))", lines) if entry.strip()]


@pytest.mark.parametrize("method", unmix.methods(), ids=lambda m: m["class"])
def test_estimators_state_an_equation_and_their_sources(method):
    cls = getattr(unmix, method["class"])
    assert re.search(EQUATION, " ".join(NumpyDocString(inspect.getdoc(cls))["Notes"]))
    assert references(cls)


@pytest.mark.parametrize("name", sorted([*BY_FORMULA, *(f"{m}.{name}" for m in ("metrics", "datasets") for name in getattr(unmix, m).__all__)]))
def test_what_is_computed_by_a_formula_states_it(name):
    notes = " ".join(NumpyDocString(inspect.getdoc(operator.attrgetter(name)(unmix)))["Notes"])
    assert re.search(FORMULA, notes)
    # Measures state their cost, too.
    assert "O(" in notes or not name.startswith("metrics.") or inspect.isclass(operator.attrgetter(name)(unmix))


def test_references_have_a_number():
    entries = {entry: name for name, thing in public().items() for entry in references(thing)}
    without = {entry: name for entry, name in entries.items() if not re.search(NUMBER, entry)}
    for entry, name in without.items():
        assert any(title in entry for title in WITHOUT_NUMBER), (name, entry)
    assert all(any(title in entry for entry in without) for title in WITHOUT_NUMBER)
