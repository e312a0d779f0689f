"""The call that made a model is Python that makes the same model; pages have the call that made them."""

import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_open import every_class, opened, table  # noqa: F401 (a fixture)
from test_readers import without_run

import unmix
from unmix import ICA, LISTA, PCA, PPCA, RICA, DictionaryLearning, FactorAnalysis, FastICA, SparseAutoencoder, SparseCoder

ROWS = np.random.default_rng(0).laplace(size=(300, 4))


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """Handles to the first 100 and the last 200 rows of a file, by its relative path."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", ROWS)
    return unmix.open("x.npy", rows=(0, 100)), unmix.open("x.npy", rows=(100, 300))


def made_again(model, /, **variables):
    """The model that the recorded call makes, which has the same parameters and the same seed."""
    again = eval(model.report_.invocation, {"unmix": unmix, **variables})
    assert again._model.tensors.keys() == model._model.tensors.keys()
    for name, tensor in model._model.tensors.items():
        np.testing.assert_array_equal(again._model.tensors[name], tensor)
    assert again.report_.seed == model.report_.seed
    return again


def streams():
    """Estimators that are fitted batch by batch, without a seed: that of the first batch is part of the call."""
    few = {"n_components": 3, "batch_size": 20}
    sums = [PCA(2), PPCA(2), FactorAnalysis(2)]
    return [*sums, ICA(algorithm="easi"), SparseAutoencoder(**few), DictionaryLearning(algorithm="online", **few)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", streams(), ids=lambda e: type(e).__name__)
def test_the_call_of_a_stream_has_all_batches(estimator, parts):
    first, second = parts
    grown = estimator.partial_fit(first).partial_fit(second)
    assert grown.report_.invocation.endswith(f").partial_fit({first!r}).partial_fit({second!r})")
    made_again(grown)
    grown.save("m.safetensors")
    continued = unmix.load("m.safetensors").partial_fit(first)
    assert continued.report_.invocation == f"{grown.report_.invocation}.partial_fit({first!r})"
    made_again(continued)


@pytest.mark.filterwarnings("ignore")
def test_a_stream_continues_the_call_of_a_fit_and_of_merged_models(parts):
    first, second = parts
    fitted = DictionaryLearning(3, batch_size=20, max_epochs=2).fit(first).partial_fit(second)
    assert fitted.report_.invocation.endswith(f".fit({first!r}).partial_fit({second!r})")
    made_again(fitted)
    made_again(PCA(1).partial_fit(first).merge(PCA(1).partial_fit(second)).partial_fit(first))
    weighted = PCA(1, random_state=0).partial_fit(first).partial_fit(ROWS, sample_weight=ROWS[:, 0] ** 2)
    assert weighted.report_.invocation.endswith(f".partial_fit({first!r}).partial_fit(X, sample_weight=sample_weight)")
    made_again(weighted, X=ROWS, sample_weight=ROWS[:, 0] ** 2)


def test_parameters_that_change_within_a_stream_are_part_of_the_call(parts):
    first, second = parts
    grown = PCA(2, random_state=0).partial_fit(first).set_params(n_components=1, whiten=True, random_state=5).partial_fit(second)
    assert ".set_params(n_components=1, whiten=True, random_state=5).partial_fit(" in grown.report_.invocation
    again = made_again(grown)
    assert again.components_.shape == (1, 4)


def test_the_estimator_before_a_batch_is_a_variable_if_its_call_is_long_or_a_command(parts):
    first, second = parts
    command = shutil.which("unmix", path=str(Path(sys.executable).parent))
    subprocess.run([command, "fit", "pca", "x.npy", "-k", "2", "--sums", "-o", "c.safetensors"], check=True, capture_output=True)
    model = unmix.load("c.safetensors")
    assert model.report_.invocation.startswith("unmix fit pca")
    assert model.merge(model).report_.invocation == "left.merge(right)"
    grown = unmix.load("c.safetensors").partial_fit(first)
    assert grown.report_.invocation == f"model.partial_fit({first!r})"
    made_again(grown, model=model)
    # The variables `model` of two calls are not the same.
    assert grown.merge(grown).report_.invocation == "left.merge(right)"
    for _ in range(60):
        grown = grown.partial_fit(second)
    assert grown.report_.invocation.startswith("model.partial_fit(") and len(grown.report_.invocation) < 1200


@pytest.mark.filterwarnings("ignore")
def test_a_callback_is_part_of_the_call_because_it_may_end_the_fit(parts):
    def callback(iteration):
        if iteration.n_iter == 2:
            raise StopIteration

    fitted = ICA(random_state=0, callback=callback).fit(parts[1])
    assert fitted.n_iter_ == 2
    assert fitted.report_.invocation == f"unmix.ICA(callback=callback, random_state=0).fit({parts[1]!r})"
    made_again(fitted, callback=callback)
    with pytest.raises(NameError, match="callback"):
        made_again(fitted)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", every_class(), ids=lambda e: type(e).__name__)
def test_the_call_of_every_class_makes_the_same_file(table, estimator):  # noqa: F811
    rows = opened(table[0])
    fitted = estimator.set_params(random_state=np.random.RandomState(7)).fit(rows)
    again = eval(fitted.report_.invocation)
    assert without_run(again) == without_run(fitted)


def test_codes_to_be_reproduced_are_named_by_their_file(parts):
    first, _ = parts
    atoms, codes = np.eye(4)[:3], np.abs(ROWS[:100, :3])
    np.save("codes.npy", codes)
    by_array = LISTA(atoms, max_epochs=1, random_state=0).fit(first, codes)
    assert by_array.report_.invocation.endswith(f".fit({first!r}, y)")
    for y in ("codes.npy", unmix.open("codes.npy")):
        by_file = LISTA(atoms, max_epochs=1, random_state=0)
        sparse = by_file.fit_transform(first, y)
        assert by_file.report_.invocation.endswith(f".fit({first!r}, {y!r})")
        np.testing.assert_array_equal(sparse, by_array.transform(first))
        made_again(by_file)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("of", [str, Path, unmix.open], ids=["str", "Path", "Files"])
def test_tables_of_parameters_are_files_or_handles(of, parts):
    def fun(y):
        return np.tanh(y), (1 - np.tanh(y) ** 2).mean(axis=-1)

    first, _ = parts
    atoms, rotation = ROWS[:3], np.linalg.qr(ROWS[:4])[0]
    np.save("atoms.npy", atoms)
    np.save("rotation.npy", rotation)
    few = {"max_epochs": 1, "random_state": 0}
    for make, array, path in [
        (lambda table: SparseCoder(table, random_state=0), atoms, "atoms.npy"),
        (lambda table: LISTA(table, **few), atoms, "atoms.npy"),
        (lambda table: DictionaryLearning(3, dict_init=table, **few), atoms, "atoms.npy"),
        (lambda table: SparseAutoencoder(3, dict_init=table, **few), atoms, "atoms.npy"),
        (lambda table: ICA(4, w_init=table, random_state=0), rotation, "rotation.npy"),
        (lambda table: FastICA(4, w_init=table, random_state=0), rotation, "rotation.npy"),
        (lambda table: FastICA(4, w_init=table, fun=fun, random_state=0), rotation, "rotation.npy"),
        (lambda table: RICA(4, w_init=table, max_iter=5, random_state=0), rotation, "rotation.npy"),
    ]:
        by_array, by_file = make(array).fit(first), make(of(path)).fit(first)
        for name, tensor in by_array._model.tensors.items():
            np.testing.assert_array_equal(by_file._model.tensors[name], tensor)
        assert path in by_file.report_.invocation
        made_again(by_file, fun=fun)


@pytest.mark.filterwarnings("ignore")
def test_an_initial_matrix_is_read_again_in_every_fit(parts):
    estimator = RICA(4, w_init="rotation.npy", max_iter=1, random_state=0)
    for seed in range(2):
        rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 4)))[0]
        np.save("rotation.npy", rotation)
        by_array = RICA(4, w_init=rotation, max_iter=1, random_state=0).fit(parts[0])
        np.testing.assert_array_equal(estimator.fit(parts[0]).components_, by_array.components_)


#: The call on a page.
MADE_BY = re.compile(r"(?<=The page was made by:</p><pre><code>).*?(?=</code>)", re.DOTALL)


def call_on(page):
    """The call on a page that reproduces it."""
    return html.unescape(MADE_BY.search(page)[0])


def test_a_page_has_the_call_that_made_it(parts):
    first, _ = parts
    Path("group.csv").write_text("site\n" + "".join(f"{i % 3}\n" for i in range(100)))
    group = unmix.open("group.csv")
    model, beside = PCA(3, random_state=0).fit(first), PCA(1, random_state=0).fit(first)
    positions, color = [[0, 1], [1, 0], [-1, 0], [0, -1]], np.float32(ROWS[:100, 0])
    variables = {"unmix": unmix, "model": model, "beside": beside, "color": color}
    for X, options, text in [
        (None, {}, "unmix.report(model)"),
        (first, {"title": "a 'b' <c>"}, f"""unmix.report(model, {first!r}, title="a 'b' <c>")"""),
        (first, {"pairs": [(0, 1), (0, 2)], "rate": None}, f"unmix.report(model, {first!r})"),
        (first, {"beside": beside, "rate": 100, "pairs": [(1, np.int64(2))]}, f"unmix.report(model, {first!r}, beside=beside, rate=100.0, pairs=[(1, 2)])"),
        (first, {"positions": np.array(positions)}, f"unmix.report(model, {first!r}, positions={positions})"),
        (first, {"color": group}, f"unmix.report(model, {first!r}, color={group!r})"),
        (first, {"color": color}, f"unmix.report(model, {first!r}, color=color)"),
        (first, {"color": [i % 2 for i in range(100)]}, None),
    ]:
        page = unmix.report(model, X, **options).text
        call = call_on(page)
        assert text is None or call == text
        assert eval(call, variables).text == page
    unmix.report(model, first, path="page.html", title="a 'b' <c>")
    assert call_on(Path("page.html").read_text()) == f"""unmix.report(model, {first!r}, title="a 'b' <c>")"""


def test_a_page_of_modules_has_the_numbers_of_fits_in_its_call(parts):
    rfn = unmix.RFN(3, max_iter=5, random_state=0).fit(np.abs(ROWS[:60]))
    page = unmix.report(rfn, np.abs(ROWS[:60]), starts=2, permutations=1).text
    assert call_on(page) == "unmix.report(model, X, starts=2, permutations=1)"
    assert eval(call_on(page), {"unmix": unmix, "model": rfn, "X": np.abs(ROWS[:60])}).text == page


def test_labels_are_a_column_of_a_file(parts):
    model = PCA(2, random_state=0).fit(ROWS)
    Path("group.csv").write_text("site,value\n" + "".join(f"{i % 3},0.5\n" for i in range(300)))
    np.save("group.npy", np.arange(300) % 3)
    column = unmix.open("group.csv", columns="site")

    by_array, by_file = (MADE_BY.sub("", unmix.report(model, ROWS, color=color).text) for color in (np.arange(300) % 3, "group.npy"))
    assert by_file == by_array
    assert "site" in unmix.report(model, ROWS, color=column).text
    with pytest.raises(ValueError, match=r"color of a file must be one column, got 2; choose one, as in unmix.open\(path, columns='group'\)"):
        unmix.report(model, ROWS, color="group.csv")


def test_labels_are_text_in_a_file_as_on_the_command_line(parts):
    pandas = pytest.importorskip("pandas")
    model = PCA(2, random_state=0).fit(ROWS)
    words = [f"w{i % 3}" for i in range(300)]
    Path("tokens.txt").write_text("\n".join(words) + "\n")
    Path("group.csv").write_text("site,value\n" + "".join(f"{word},0.5\n" for word in words))

    def page(color):
        return MADE_BY.sub("", unmix.report(model, ROWS, color=color).text)

    assert page("tokens.txt") == page(words)
    by_array = page(pandas.Series(words, name="site"))
    for color in ("group.csv:site", "group.csv:0", Path("group.csv:site"), unmix.open("group.csv", columns="site"), unmix.open("group.csv", drop="value")):
        assert page(color) == by_array, color
    with pytest.raises(ValueError, match="there is no column named 'sit'"):
        page("group.csv:sit")
    with pytest.raises(ValueError, match="color must have one value for each of the 10 rows of X, got 300 values in tokens.txt"):
        unmix.report(model, ROWS[:10], color="tokens.txt")
    for missing in ("nothing.csv", "site"):
        with pytest.raises(FileNotFoundError, match=f"cannot read {missing}"):
            page(missing)
