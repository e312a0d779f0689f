"""Static type checking: scripts of users, and the stub of the extension against the extension."""

import ast
import doctest
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import unmix
from unmix import _unmix
from unmix._base import Estimator
from unmix._read import ReadSettings

#: Options of mypy for packages without types.
CONFIGURATION = Path(__file__).parents[1] / "pyproject.toml"
has_mypy = pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed (python/tests/requirements-all.txt)")
has_configuration = pytest.mark.skipif(not CONFIGURATION.exists(), reason="the tests are not in a checkout")

#: A script of a user. Lines that end in a comment have an error; the comment is the name in which a type checker must find it.
SCRIPT = '''
import numpy as np

import unmix
from unmix import ICA, PCA, RICA, FastICA, NeuralPCA, SigmaPCA
from unmix.datasets import independent
from unmix.metrics import amari_distance, match

data = independent(500, ["laplace", "uniform", "laplace"], [9.0, 4.0, 1.0], seed=1)
X = np.asarray(data.X)
pca = PCA(n_components=2, svd_solver="full", random_state=0).fit(X)
codes = pca.transform(X)
print(pca.n_components_, pca.explained_variance_ratio_.sum(), codes.mean(axis=0))
print(pca.n_compnents)  # n_compnents
ica = ICA(3, fun="logcosh", random_state=np.random.RandomState(0), max_seconds=10.0)
sources = ica.fit_transform(X)
ica.fit_transfrom(X)  # fit_transfrom
print(sources.std(axis=0), ica.mixing_ @ ica.mixing_.T, ica.report_.residual, ica.n_iter_)
print(ica.report_.resdual)  # resdual
print(amari_distance(ica, data.mixing), match(pca, ica).order, ica.remove(X, [0]).shape)
for estimator in (FastICA(2), RICA(4, beta="auto"), NeuralPCA(2, "gha"), SigmaPCA(2, a=[0.8, 4.0])):
    estimator.fit(X).save("model.safetensors")
again = unmix.load("model.safetensors")
opened = unmix.open("x.csv", drop=["label"], decimal=",", missing="drop", rows=(0, 100))
print(opened.shape[0], opened.names, opened.missing.sum(), opened.head(3).mean(), PCA(2).fit(opened).report_.invocation)
print(opened.shpae)  # shpae
print(again.components_, unmix.select_components(X)["minka"], unmix.variants("neural-pca")[0]["key"])
rows = unmix.read("x.csv", drop=["label"], header=True)
other = PCA(3, whiten="zca", checkpoint="state", init=pca).set_params(tol=0.0).fit(rows)
grown = PCA(2).partial_fit(X, sample_weight=np.ones(len(X)))
stream = ICA(algorithm="easi", whiten=False).partial_fit(X)
print(other.get_feature_names_out(), other.score(X), other.merge(other).summary())
print(grown.mean_, stream.components_, grown.quality(X).t2)
print(PCA("share-0.9").fit(X).n_components_, ICA("share-0.75"), FastICA("share-0.5"), PCA("bic"), PCA(0.9))
PCA(svd_solver="ful")  # svd_solver
tried = unmix.stability(ica, X, splits=3)
print(tried.verdict[0], tried.interval.shape, tried.clusters.halves)
print(pca.n_iter_, pca.quality(X).t2.max(), unmix.load("model.safetensors").summary())
print(pca.quality(X).t22)  # t22
print(data.Xx)  # Xx
print(again.componnts_)  # componnts_
loaded = unmix.load("pca.safetensors")
assert isinstance(loaded, PCA)
print(loaded.quality(X).q, loaded.explained_variance_)
print(unmix.FactorAnalysis(2).fit(X).fit_.rmsea < 0.05)
print(unmix.FactorAnalysis(2).fit(X).fit_.rmsae)  # rmsae
rfn = unmix.RFN(2).fit(X)
print(rfn.mixing_ @ rfn.mixing_.T, rfn.rotation_.shape, rfn.report_.final_objective)
lista = unmix.LISTA(np.eye(3), alpha=0.1).fit(X)
print(lista.report_.by_layer["gap"], lista.report_.loss.upper(), lista.quality(X).gap.max())
print(lista.report_.loss.uper())  # uper
sae = unmix.SparseAutoencoder(4).fit(X)
print(sae.report_.fvu < 0.5, sae.report_.l0 + 1, sae.evaluate(X).density.max(), sae.top_rows(X).rows[0])
print(sae.evaluate(X).densty)  # densty
print(sae.top_rows(X).row)  # row
coder = unmix.SparseCoder(np.eye(3), alpha=0.1).fit(X)
print(coder.report_.worst_gap, coder.path(X).alphas, coder.quality(X).n_nonzero.sum(), coder.rotation_)
print(coder.path(X).alpha)  # alpha
print(unmix.StackedRFN([3, 2]).fit(X).report_.layers[0]["report"])
clusters = unmix.SubspaceClustering(2).fit(X)
print(clusters.labels_, clusters.fit_predict(X))
print(clusters.labls_)  # labls_
unmix.plot.scree(pca)
unmix.plot.scree("nonsense")  # scree
unmix.report(pca, X, beside=again).save("page.html")
unmix.report(pca, X, path="page.html")
print(tried.clusters.halves.quality.max(), unmix.metrics.matched_correlation(X, X).cosine)
print(tried.clusters.halves.qualty)  # qualty
unmix.report(5)  # report
unmix.biclusters(rfn, X).get_indices(0)
unmix.biclusters(3, X)  # biclusters
print(unmix.metrics.projection_distance(pca, np.eye(3)), unmix.metrics.amari_distance(np.eye(3)))
unmix.open("x.csv", missing="dorp")  # missing
unmix.open("x.csv", decimal=";")  # decimal
unmix.open("x.csv", input_format=3)  # input_format
unmix.open("x.bin", input_format="csv").read()
unmix.open("x.csv", dtype="float23")  # dtype
unmix.open("x.csv", dtype=X.dtype, decimal=",", missing="keep").read()
unmix.read("x.csv", colums=["a"])  # colums
only_rows = unmix.datasets.biclusters("D1")
members, columns = unmix.datasets.biclusters("D1", return_truth=True)[1:]
print(only_rows.shape, members.sum(), columns.sum())
print(unmix.datasets.union_of_subspaces().bases[0].shape, unmix.datasets.leaves(2).shape)
print(pca.encode(X).mean(axis=0), pca.decode(codes, None).shape, ica.inverse_transform(sources, exclude=[0]).shape)
print(pca.encode(X).shpe)  # shpe
pca.encode("x.csv", out="codes.npy")
pca.fit(None)  # fit
pca.fit(data)  # fit
print(ica.remove(X, "ica0").men())  # men
ppca = unmix.PPCA(2).fit(X)
filled, errors = ppca.impute(X, return_std=True)
print(filled.shape, errors.max(), ppca.impute(X).mean(), ppca.impute(X, n_draws=3)[1])
filled, errors, tables = ppca.impute(X, return_std=True, n_draws=3)
print(errors.mox(), ppca.impute(X).mean())  # mox
print(coder.transform(X).toarray().mean(), sae.fit_transform(X).toarray(), sae.encode(X).shape, unmix.DictionaryLearning(4).fit(X).transform(X).std())
print(unmix.read("x.csv").mean(axis=0), opened.read().T, unmix.shards.shard_rows(3, np.float32))
print(opened.read().maen())  # maen
print(grown.partial_fit(X).n_sampels_)  # n_sampels_
unmix.plot.scree(pca).set_titel("variances")  # set_titel
unmix.plot.components(pca, axes=3)  # components
unmix.plot.scree(pca).set_title("variances")
unmix.plot.components(pca).savefig("components.png")
whitening, unmixing, found = unmix.fastica(X, 2)
print(whitening.shape, found.std(axis=0), unmix.compat.picard(X.T)[1].shape, unmix.biclusters(rfn, X).get_submatrix(0, X).shape)
print(unmix.select_components(X, method="ppca").to_dict()["method"], clusters.predict(X), ppca.posterior(X)[0].shape)
'''


def mistakes(path):
    """Line numbers with a mistake, and the name that is wrong."""
    lines = enumerate(path.read_text().splitlines(), 1)
    return {number: line.partition("  # ")[2] for number, line in lines if "  # " in line}


def environment():
    """The environment of mypy: MYPYPATH is needed where the package is not installed."""
    folder = Path(unmix.__file__).parents[1]
    installed = folder.name in ("site-packages", "dist-packages")
    return dict(os.environ) if installed else {**os.environ, "MYPYPATH": str(folder)}


def errors(command, path):
    """Line numbers at which a type checker reports errors, and its messages."""
    ran = subprocess.run([*command, str(path)], capture_output=True, text=True, cwd=path.parent, env=environment())
    found = {}
    for line in ran.stdout.splitlines():
        place, kind, message = line.partition(" error: ")
        if kind:
            assert Path(place.split(":")[0]).name == path.name, line
            found[int(place.split(":")[1])] = message
    assert found, ran.stdout + ran.stderr
    return found


def run_pyright(folder, *arguments):
    """The report of pyright in a folder: of pyright itself, whose program comes from the npm registry, or of basedpyright, which has it in its wheel."""
    refused = []
    # `--verifytypes` uses the packages of the first `python` of the path.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for module in ("pyright", "basedpyright"):
        if importlib.util.find_spec(module) is None:
            refused.append(f"{module} is not installed (python/tests/requirements-all.txt)")
            continue
        command = [sys.executable, "-m", module, "--outputjson", "--pythonpath", sys.executable, *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, "PATH": path})
        if "generalDiagnostics" in ran.stdout:
            return json.loads(ran.stdout)
        refused.append(f"{module} could not be started: {ran.stderr[-200:]}")
    pytest.skip("; ".join(refused))


def pyright(folder):
    """The messages of pyright about the files of a folder."""
    return run_pyright(folder)["generalDiagnostics"]


def test_pyright_infers_the_type_of_every_public_name(tmp_path):
    found = run_pyright(tmp_path, "--verifytypes", "unmix", "--ignoreexternal")["typeCompleteness"]
    exported = [symbol for symbol in found["symbols"] if symbol["isExported"]]
    assert len(exported) > 150
    vague = {s["name"]: [d["message"] for d in s["diagnostics"]] for s in exported if not s["isTypeKnown"] or s["isTypeAmbiguous"]}
    assert not vague and found["completenessScore"] == 1, vague


def test_pyright_finds_the_mistakes_of_a_script_and_nothing_else(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    # extraPaths are needed where the package is not installed.
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(Path(unmix.__file__).parents[1])]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    found = {d["range"]["start"]["line"] + 1: d["message"] for d in pyright(tmp_path) if d["severity"] == "error"}
    wrong = mistakes(path)
    assert set(found) == set(wrong), found
    assert all(name in found[number] for number, name in wrong.items()), found


@has_mypy
def test_mypy_finds_the_mistakes_of_a_script_and_nothing_else(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}"]
    found, wrong = errors(command, path), mistakes(path)
    assert set(found) == set(wrong), found
    assert all(name in found[number] for number, name in wrong.items()), found


#: The public names of the extension, in wheels for users and in those for tests.
NAMES = {name for name in dir(_unmix) if not name.startswith("_")} - {"register_toys"}


#: What to do about a stub that differs from the extension.
STALE = "python/unmix/_unmix.pyi differs from the extension: write there what #[pymodule] in python/src/lib.rs and its #[pymethods] have now"


def in_stub(function):
    """Arguments of a function of the stub: name and default of each, which is empty where there is none. All have types, and so has the result."""
    given = function.args
    assert not (given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs), function.name
    assert function.returns is not None, f"{function.name} has no type of its result"
    untyped = [a.arg for a in given.args if a.annotation is None and a.arg not in ("self", "cls")]
    assert not untyped, (function.name, untyped)
    empty = [inspect.Parameter.empty] * (len(given.args) - len(given.defaults))
    defaults = empty + [ast.literal_eval(default) for default in given.defaults]
    return [(a.arg, default) for a, default in zip(given.args, defaults, strict=True)]


def in_extension(function):
    """The same of the extension, as far as its signatures say it: names and defaults."""
    parameters = inspect.signature(function).parameters.values()
    assert all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY) for p in parameters), function
    return [(p.name, p.default) for p in parameters]


def test_the_stub_has_the_names_arguments_defaults_and_kinds_of_the_extension():
    text = Path(unmix.__file__).with_name("_unmix.pyi").read_text()
    stub = {node.name: node for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert set(stub) == NAMES, STALE
    for name, node in stub.items():
        there = getattr(_unmix, name)
        if isinstance(node, ast.FunctionDef):
            assert in_stub(node) == in_extension(there), f"{name}: {STALE}"
            continue
        members = {member.name: member for member in node.body if isinstance(member, ast.FunctionDef)}
        assert {m for m in members if not m.startswith("_")} == {m for m in dir(there) if not m.startswith("_")}, f"{name}: {STALE}"
        if "__new__" in members:
            assert in_stub(members["__new__"])[1:] == in_extension(there), f"{name}: {STALE}"
        for method, member in members.items():
            if method.startswith("_"):
                continue
            kinds = {decorator.id for decorator in member.decorator_list}
            own = vars(there)[method]
            assert ("property" in kinds) == inspect.isgetsetdescriptor(own), f"{name}.{method}: {STALE}"
            assert ("staticmethod" in kinds) == isinstance(own, staticmethod), f"{name}.{method}: {STALE}"
            if "property" in kinds:
                assert [a for a, _ in in_stub(member)] == ["self"], f"{name}.{method}: {STALE}"
            else:
                assert in_stub(member) == in_extension(getattr(there, method)), f"{name}.{method}: {STALE}"


@has_mypy
def test_stubtest_finds_no_difference_between_the_stub_and_the_extension(tmp_path):
    allowed = tmp_path / "allowed.txt"
    # Every extension has `__all__`; the other function is in wheels for tests.
    allowed.write_text("unmix._unmix.__all__\nunmix._unmix.register_toys\n")
    options = ["--concise", "--ignore-disjoint-bases", "--ignore-unused-allowlist", f"--allowlist={allowed}"]
    command = [sys.executable, "-m", "mypy.stubtest", *options, "unmix._unmix"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment())
    assert ran.returncode == 0, f"{STALE}\n{ran.stdout}{ran.stderr}"


@pytest.mark.parametrize("name", sorted(name for name in NAMES if inspect.isclass(getattr(_unmix, name))))
def test_properties_of_the_extension_have_the_types_of_the_stub(name, tmp_path):
    text = Path(unmix.__file__).with_name("_unmix.pyi").read_text()
    [node] = [n for n in ast.parse(text).body if isinstance(n, ast.ClassDef) and n.name == name]
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,5\n")
    fitted = unmix.PCA(2).fit([[1.0, 2.0, 0.0], [3.0, 1.0, 1.0], [5.0, 4.0, 0.0], [2.0, 2.0, 7.0]])
    thing = {"Model": lambda: fitted._model, "Sums": _unmix.Sums, "Files": lambda: unmix.open(path)._files}[name]()
    plain = {"str": str, "int": int, "float": float, "bool": bool, "list": list, "tuple": tuple, "dict": dict, "None": type(None)}
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and any(d.id == "property" for d in member.decorator_list):
            types = [t.strip().partition("[")[0] for t in ast.unparse(member.returns).split(" | ")]
            known = tuple(plain[t] for t in types if t in plain)
            if len(known) == len(types):
                assert isinstance(getattr(thing, member.name), known), f"{name}.{member.name}"


def public_functions(name):
    """The functions of a public name of the package: itself, those of a module, the methods and properties of a class; with parameters."""
    thing = getattr(unmix, name)
    things = [getattr(thing, n) for n in thing.__all__] if inspect.ismodule(thing) else [thing]
    for one in things:
        members = [] if inspect.isfunction(one) else [m for _, m in inspect.getmembers(one)]
        # Of a property the function that computes it.
        members = [m.fget if isinstance(m, property) else m for m in members]
        functions = [one] if inspect.isfunction(one) else [m for m in members if inspect.isfunction(m)]
        for function in functions:
            if function.__module__.startswith("unmix") and not function.__name__.startswith("_"):
                yield function, set(inspect.signature(function).parameters) - {"self"}


@pytest.mark.parametrize("name", [*unmix.__all__, "open"])
def test_public_functions_and_methods_have_annotations(name):
    for function, names in public_functions(name):
        missing = names - set(function.__annotations__)
        assert not missing and "return" in function.__annotations__, (function.__qualname__, missing)


@pytest.mark.parametrize("name", [*unmix.__all__, "open"])
def test_no_parameter_and_no_result_of_a_public_function_is_any(name):
    # `Any` as a part of a type is allowed: `Array | Any` and `dict[str, Any]` say more than `Any`.
    for function, names in public_functions(name):
        vague = {n for n in names | {"return"} if str(function.__annotations__[n]) in ("Any", "typing.Any", "object", "Any | None")}
        assert not vague, (function.__qualname__, vague)


@has_mypy
@has_configuration
def test_mypy_strict_finds_nothing_in_the_package(tmp_path):
    command = [sys.executable, "-m", "mypy", "--strict", f"--config-file={CONFIGURATION}", f"--cache-dir={tmp_path}", "-p", "unmix"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "no issues found in " in ran.stdout, ran.stdout + ran.stderr


def examples(folder):
    """Files with the Python of every page and of every docstring with examples."""
    for page in sorted(folder.parent.glob("docs/**/*.md")):
        if blocks := re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
            yield f"page_{page.stem.replace('-', '_')}", "\n".join(blocks)
    for path in sorted((folder / "unmix").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)):
                found = doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
                if found:
                    yield f"{path.stem}_{getattr(node, 'name', 'module')}_{getattr(node, 'lineno', 0)}", "".join(example.source for example in found)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder with the examples of pages and docstrings."""
    folder = tmp_path_factory.mktemp("examples")
    for name, text in examples(CONFIGURATION.parent):
        (folder / f"example_{name}.py").write_text(text)
    assert len(list(folder.glob("example_page_*.py"))) > 10 and len(list(folder.iterdir())) > 150
    return folder


@has_mypy
@has_configuration
def test_mypy_finds_nothing_in_the_examples_of_pages_and_docstrings(written, tmp_path):
    files = [str(path) for path in sorted(written.glob("*.py"))]
    # Functions of examples have no annotations.
    options = ["--strict", "--allow-untyped-defs", "--allow-untyped-calls", "--follow-imports=silent", "--scripts-are-modules"]
    command = [sys.executable, "-m", "mypy", *options, f"--config-file={CONFIGURATION}", f"--cache-dir={tmp_path}", *files]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=written, env=environment())
    assert ran.returncode == 0 and "no issues found in " in ran.stdout, ran.stdout + ran.stderr


@has_configuration
def test_pyright_finds_nothing_in_the_examples_of_pages_and_docstrings(written):
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(Path(unmix.__file__).parents[1])]}
    (written / "pyrightconfig.json").write_text(json.dumps(settings))
    found = [f"{Path(d['file']).name}: {d['message']}" for d in pyright(written) if d["severity"] == "error"]
    assert not found, "\n".join(found)


def test_the_package_ignores_no_errors_of_checkers_but_those_about_methods_with_fewer_arguments_than_in_the_base():
    ignored = {}
    for path in sorted(Path(unmix.__file__).parent.rglob("*.py")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if "type: ignore" in line and "# type: ignore[override]" not in line:
                ignored[f"{path.name}:{number}"] = line.strip()
    # A class whose objects have no hash.
    assert set(ignored.values()) <= {"__hash__: ClassVar[None] = None  # type: ignore[assignment]"}, ignored


def fitted():
    """A fitted estimator of every class, and those with attributes that depend on a setting."""
    X = unmix.datasets.sparse_codes(200, 8, 8, share=0.3, seed=0).X
    gaps = X.copy()
    gaps[3, 2] = np.nan
    first = {
        "SparseCoder": {"dictionary": np.eye(8), "alpha": 0.1},
        "LISTA": {"dictionary": np.eye(8), "alpha": 0.1, "n_layers": 2, "max_epochs": 2},
        "RobustPCA": {},
        "StackedRFN": {"n_components": (4, 2), "max_iter": 5},
        "SubspaceClustering": {"n_clusters": 2},
        "CompleteDictionary": {},
    }
    classes = [getattr(unmix, name) for name in unmix.__all__ if inspect.isclass(getattr(unmix, name))]
    for cls in classes:
        if issubclass(cls, Estimator):
            yield cls(**first.get(cls.__name__, {"n_components": 3})).fit(X)
    yield unmix.PPCA(2).fit(gaps)
    yield unmix.SparseCoder(np.eye(8), alpha="cv").fit(X)
    yield unmix.SigmaPCA(2, variant="trained-sigma").fit(X)
    yield unmix.RFN(2, e_step="cascade", max_iter=5).fit(X)
    yield unmix.SparseAutoencoder(4, activation="relu").fit(X)
    yield unmix.FactorAnalysis(2, rotation="promax").fit(X)
    yield unmix.SubspaceClustering(2, 2, algorithm="ppca-mixture").fit(X)


@pytest.mark.filterwarnings("ignore")
def test_every_fitted_attribute_and_every_field_of_a_report_is_annotated():
    untyped = set()
    for estimator in fitted():
        cls = type(estimator)
        known = {name for base in cls.__mro__ for name in vars(base).get("__annotations__", {})}
        known |= {name for name, member in inspect.getmembers(cls) if isinstance(member, property)}
        names = {name for name in dir(estimator) if name.endswith("_") and not name.startswith("_") and hasattr(estimator, name)}
        untyped |= {f"{cls.__name__}.{name}" for name in names - known}
        untyped |= {f"{cls.__name__}.report_.{name}" for name in set(estimator.report_.to_dict()) - set(unmix.Report.__annotations__)}
    assert not untyped, sorted(untyped)


@pytest.mark.filterwarnings("ignore:Heywood")
def test_fields_of_results_are_annotated():
    data = unmix.datasets
    X = data.sparse_codes(200, 8, 8, share=0.3, seed=0).X
    sae, coder = unmix.SparseAutoencoder(4, random_state=0).fit(X), unmix.SparseCoder(np.eye(8), alpha=0.1).fit(X)
    results = [
        *(data.low_rank_plus_noise(), data.ppca(), data.union_of_subspaces(), data.patterns(20), data.bernoulli_gaussian(20), data.sparse_codes(20)),
        *(data.independent(), data.points(), data.signals(), data.digit_variations("convex", 3), data.digit_variations("basic", np.zeros((3, 784)))),
        *(unmix.PCA(2).fit(X).quality(X, columns=True), coder.quality(X), coder.path(X, 3), sae.evaluate(X), sae.top_rows(X)),
        *(unmix.FactorAnalysis(2).fit(X).fit_, unmix.FactorAnalysis(2, prior="laplace").fit(X).fit_),
        unmix.metrics.sparse_probing(X, np.arange(200) % 2, k=(1,), X=X),
    ]
    for result in results:
        declared = {name for base in type(result).__mro__ for name in vars(base).get("__annotations__", {})}
        assert set(result) <= declared, (type(result).__name__, set(result) - declared)


def test_the_settings_of_read_are_the_arguments_of_open():
    of_open = {name: of for name, of in unmix.open.__annotations__.items() if name not in ("path", "return")}
    assert {name: of.__forward_arg__ for name, of in ReadSettings.__annotations__.items()} == of_open
