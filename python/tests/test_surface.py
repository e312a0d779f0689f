"""The Python interface agrees with the registry."""

import doctest
import importlib
import inspect
import itertools
import json
import pkgutil
import subprocess
import sys

import numpy as np
import pytest
from sklearn.decomposition import PCA as ReferencePCA

import unmix
from unmix import _options, _unmix

#: Run options: parameters of every class, but no settings of a method. A Rust test compares the names with the table of the library.
RUN_OPTIONS = set(_options.RUN_OPTIONS)
METHODS = pytest.mark.parametrize("method", unmix.methods(), ids=lambda m: m["key"])


def parameters(cls):
    return {p.name: p.default for p in list(inspect.signature(cls.__init__).parameters.values())[1:]}


@METHODS
def test_names_and_defaults_agree(method):
    cls = getattr(unmix, method["class"])
    offered = parameters(cls)
    # Tables that belong to the rows of a fit are arguments of `fit`.
    settings = {s["name"]: s for s in method["settings"] if not s["with_rows"]}
    # A method that has a setting for the start also accepts a model there.
    assert set(settings) == set(offered) - (RUN_OPTIONS - set(settings))
    assert RUN_OPTIONS <= set(offered)
    for name, setting in settings.items():
        if setting["tensor"] and offered[name] is inspect.Parameter.empty:
            # A table that has to be given.
            continue
        # A default that can be changed would be shared by all estimators.
        default = tuple(setting["default"]) if isinstance(setting["default"], list) else setting["default"]
        assert offered[name] == default and type(offered[name]) is type(default), name
        assert setting["doc"].endswith("."), name


@METHODS
def test_every_choice_is_accepted_by_the_class(method):
    cls = getattr(unmix, method["class"])
    given = {s["name"]: [[1.0]] for s in method["settings"] if s["tensor"] and not s["with_rows"]}
    for setting in method["settings"]:
        for choice in setting["choices"]:
            cls(**(given | {setting["name"]: choice}))._validate_params()


#: Numbers at and around the ends of the ranges of settings.
NUMBERS = (-1, 0, 1, 2, 3, -0.5, 0.0, 1e-9, 0.5, 1.0, 1.5, 1e308)


@METHODS
def test_the_class_and_the_library_refuse_the_same_numbers(method):
    cls = getattr(unmix, method["class"])
    tables = {"dictionary": np.eye(4)} if parameters(cls).get("dictionary", 0) is inspect.Parameter.empty else {}
    # The range of n_components depends on the rows, too: a fit of no rows does not come to it.
    settings = [s["name"] for s in method["settings"] if not (s["python_only"] or s["tensor"] or s["name"] == "n_components")]
    for name, value in itertools.product(settings, NUMBERS):
        try:
            cls(**tables, **{name: value})._validate_params()
            refused_by_class = False
        except ValueError:
            refused_by_class = True
        with pytest.raises(ValueError) as refused:
            _unmix.fit(method["key"], json.dumps({name: value}), np.zeros((0, 4)), (0, 1, 0), given=list(tables.items()) or None)
        assert refused_by_class == str(refused.value).startswith((f"{name} must", f"{name}=")), (name, value, str(refused.value))


@METHODS
def test_every_parameter_and_public_method_is_documented(method):
    cls = getattr(unmix, method["class"])
    for name in parameters(cls):
        assert f"{name} : " in cls.__doc__, name
    for name, member in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_") and member.__module__.startswith("unmix"):
            assert member.__doc__, name


@METHODS
def test_wrong_arguments_are_refused_in_the_name_of_the_class(method):
    cls = getattr(unmix, method["class"])
    with pytest.raises(TypeError, match=rf"^{cls.__name__}\.__init__\(\)"):
        cls(n_component=3)


def test_pca_begins_with_scikit_learns_parameters():
    ours, theirs = parameters(unmix.PCA), parameters(ReferencePCA)
    assert list(ours.items())[: len(theirs)] == list(theirs.items())


def test_the_registry_and_the_package_agree():
    assert {m["class"] for m in unmix.methods()} <= set(unmix.__all__)
    assert unmix.variants("pca") == []
    with pytest.raises(ValueError, match="there is no method named 'pac'"):
        unmix.variants("pac")
    for name in unmix.__all__:
        assert hasattr(unmix, name)


@pytest.mark.parametrize("name", ["unmix", *(m.name for m in pkgutil.walk_packages(unmix.__path__, "unmix."))])
def test_examples_in_the_documentation_run(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_the_command_imports_neither_scikit_learn_nor_numpy():
    program = """
import sys, unmix._cli
heavy = {"numpy", "scipy", "pandas", "sklearn", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
import unmix
assert set(unmix.__all__) <= set(dir(unmix)) and unmix.PCA.__module__ == "unmix.pca" and unmix.pca.PCA is unmix.PCA
assert all(getattr(unmix, name) is not None for name in unmix.__all__)
assert not hasattr(unmix, "PAC")
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_which_parameters_are_accepted_only_is_part_of_the_registry():
    found = {}
    for method in unmix.methods():
        parameters = inspect.signature(getattr(unmix, method["class"])).parameters
        for setting in method["settings"]:
            if setting["python_only"] and not setting["has_effect"]:
                found[method["key"], setting["name"]] = setting["also_accepts"]
                assert parameters[setting["name"]].default not in setting["also_accepts"]
                for value in setting["also_accepts"]:
                    getattr(unmix, method["class"])(**{setting["name"]: value})._validate_params()
    assert found == {
        ("pca", "copy"): [False],
        ("pca", "power_iteration_normalizer"): ["QR"],
        ("factor-analysis", "copy"): [False],
        ("factor-analysis", "svd_method"): ["lapack"],
        ("factor-analysis", "iterated_power"): [],
    }
