"""Selection of components by name, fitted attributes, and files of codes."""

import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import unmix
from unmix import ICA, PCA, RICA, FastICA, NeuralPCA, SigmaPCA


def mixed(n=1500, k=5, seed=0):
    draw = np.random.RandomState(seed)
    return draw.laplace(size=(n, k)) @ draw.randn(k, k) + 3.0


@pytest.fixture(scope="module")
def fitted():
    X = mixed()
    return X, ICA(random_state=0).fit(X)


@pytest.mark.parametrize(
    ("given", "indices"),
    [
        ([0], [0]),
        (2, [2]),
        (np.int64(2), [2]),
        ([-1], [4]),
        ("ica3", [3]),
        (["ica3", 0], [0, 3]),
        (np.array([False, True, False, True, False]), [1, 3]),
        ([False, False, True, False, False], [2]),
        (np.zeros(5, dtype=bool), []),
        (np.array([3, 1]), [1, 3]),
        ([], []),
        ((1, 2), [1, 2]),
        ("0-2", [0, 1, 2]),
        (["0-1", "ica3", -1], [0, 1, 3, 4]),
        (["2-2"], [2]),
    ],
)
def test_sources_are_excluded_by_number_range_name_or_mask(fitted, given, indices):
    X, ica = fitted
    sources = ica.transform(X)
    kept = sources.copy()
    kept[:, indices] = 0
    assert_allclose(ica.transform(ica.remove(X, given)), kept, atol=1e-9)
    assert_allclose(ica.inverse_transform(sources, exclude=given), kept @ ica.mixing_.T + ica.mean_, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([6.9], "neither the number nor the name"),
        ([1.0], "neither the number nor the name"),
        (0.5, "neither the number nor the name"),
        (True, "neither the number nor the name"),
        ([True, 1], "neither the number nor the name"),
        ([None], "neither the number nor the name"),
        ([[0, 1]], "neither the number nor the name"),
        ([5], "the model has 5 components, numbered from 0"),
        ([-6], "the model has 5 components, numbered from 0"),
        ([10**30], "the model has 5 components, numbered from 0"),
        (np.ones(0, dtype=bool), "a mask of 0 values, but the model has 5 components"),
        (np.ones(4, dtype=bool), "a mask of 4 values, but the model has 5 components"),
        (["ica9"], "did you mean 'ica"),
        (["nose"], "no component of that name"),
        ("0-5", "the model has 5 components, numbered from 0"),
        ("0-99999999999999999999", "the model has 5 components, numbered from 0"),
        ("2-0", "no component of that name"),
        ([0, 0], "component 0 is given twice; give each component once"),
        (np.array([1, 1]), "component 1 is given twice"),
        ([0, -5], "component 0 is given twice"),
        (["ica3", 0, "ica3"], "component 3 is given twice"),
        (["2-2", 2], "component 2 is given twice"),
        (["0-2", "1-3"], "component 1 is given twice"),
    ],
)
def test_other_values_of_exclude_are_refused(fitted, given, message):
    X, ica = fitted
    for call in (lambda: ica.remove(X, given), lambda: ica.inverse_transform(ica.transform(X), exclude=given)):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.filterwarnings("error")
def test_sources_are_removed_and_matched_where_output_is_a_frame(kind):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X = mixed()
    names = list("abcde")
    frame = pandas.DataFrame(X, columns=names, index=np.arange(len(X)) + 7) if kind == "pandas" else polars.DataFrame(X, schema=names)
    plain = ICA(random_state=0).fit(X)
    ica = ICA(random_state=0).set_output(transform=kind).fit(frame)
    clean = ica.remove(frame, [0])
    assert list(clean.columns) == names
    assert_allclose(np.asarray(clean), plain.remove(X, [0]), atol=1e-9)
    if kind == "pandas":
        assert_array_equal(clean.index, frame.index)
    assert_allclose(ica.match(X[:, 0], frame), plain.match(X[:, 0], X), atol=1e-9)
    assert_allclose(np.asarray(ica.inverse_transform(ica.transform(frame), exclude="ica0")), plain.remove(X, 0), atol=1e-9)


@pytest.mark.filterwarnings("error")
def test_a_frame_raises_no_warning_about_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(mixed(), columns=list("abcde"))
    ica = ICA(random_state=0).fit(frame)
    assert isinstance(ica.remove(frame, [0]), np.ndarray)


def test_the_global_output_configuration_applies():
    pytest.importorskip("pandas")
    from sklearn import config_context

    X = mixed()
    ica = ICA(random_state=0).fit(X)
    with config_context(transform_output="pandas"):
        assert list(ica.remove(X, [0]).columns) == ["x0", "x1", "x2", "x3", "x4"]


#: Few components and iterations, where the defaults take long, and settings with which a class fits the rows of `mixed`.
SHORT = {
    "RFN": {"n_components": 3, "max_iter": 5},
    "RobustPCA": {"alpha": 1.0, "noise": 0.0},
    "StackedRFN": {"n_components": (3, 2), "max_iter": 5},
    "SubspaceClustering": {"n_clusters": 2, "n_components": 2, "algorithm": "k-subspaces"},
}
EVERY_CLASS = pytest.mark.parametrize("make", [getattr(unmix, method["class"]) for method in unmix.methods()], ids=lambda c: c.__name__)


def estimator(make):
    """An estimator of this class that is fitted to five columns in little time."""
    parameters = inspect.signature(make).parameters
    required = {p.name: np.random.RandomState(1).randn(6, 5) for p in parameters.values() if p.default is p.empty}
    few = SHORT.get(make.__name__, {"n_components": 2, "max_epochs": 2})
    return make(random_state=0, **required, **{name: value for name, value in few.items() if name in parameters and name not in required})


def fitted_names(model):
    """Names of the attributes that a fit sets, and of those that are computed from the model on access."""
    # Tensors of layers are attributes of the layers.
    parameters = {f"{name}_" for name in model._model.tensors if "." not in name}
    return sorted(parameters | {"mixing_", "rotation_", "explained_variance_std_error_", "n_components_", "n_samples_", "n_iter_", "report_"} | model._derived)


@EVERY_CLASS
@pytest.mark.filterwarnings("ignore")
def test_fitted_attributes_cannot_be_assigned(make):
    X = mixed(400)
    model = estimator(make).fit(X)
    before = model.transform(X)
    for name in fitted_names(model):
        with pytest.raises(AttributeError, match=f"{name} of a fitted {make.__name__} cannot be assigned.*fit again"):
            setattr(model, name, getattr(model, name, None))
    assert_array_equal(model.transform(X), before)
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_array_equal(copied.transform(X), before)
    # Other attributes can be assigned, and a fit replaces the fitted ones.
    model.note_ = 1
    for again in (clone(model), model):
        assert_array_equal(again.fit(X).transform(X), before)


@EVERY_CLASS
@pytest.mark.filterwarnings("ignore")
def test_arrays_of_a_fit_cannot_be_edited(make):
    X = mixed(400)
    model = estimator(make).fit(X)
    before = model.transform(X)
    edited = 0
    for each in (model, pickle.loads(pickle.dumps(model))):
        for name in fitted_names(each):
            value = getattr(each, name, None)
            for array in value if isinstance(value, list) else [value]:
                # Tables as large as the rows are made for the caller, who may modify them.
                if isinstance(array, np.ndarray) and name not in ("low_rank_", "sparse_", "completed_"):
                    with pytest.raises(ValueError, match="read-only"):
                        array[...] = 0
                    edited += 1
        assert_array_equal(each.transform(X), before)
    assert edited >= 2


@pytest.mark.parametrize("make", [PCA, NeuralPCA, SigmaPCA, ICA, FastICA, RICA])
@pytest.mark.filterwarnings("ignore")
def test_a_fit_with_other_parameters_replaces_the_attributes(make):
    X = mixed(400)
    model = estimator(make).fit(X)
    model.n_components = 3
    assert model.fit(X).components_.shape == (3, 5)


@pytest.mark.parametrize("extension", ["npy", "csv", "tsv"])
def test_codes_and_rows_are_written_in_the_format_of_the_extension(tmp_path, extension):
    X = mixed(50)
    pca = PCA(n_components=2).fit(X)
    codes, rows = pca.transform(X), pca.inverse_transform(pca.transform(X))
    pca.encode(X, out=tmp_path / f"codes.{extension}")
    pca.decode(codes, out=tmp_path / f"rows.{extension}")
    assert_array_equal(unmix.read(tmp_path / f"codes.{extension}"), codes)
    assert_array_equal(unmix.read(tmp_path / f"rows.{extension}"), rows)
    if extension != "npy":
        separator = "," if extension == "csv" else "\t"
        assert (tmp_path / f"codes.{extension}").read_text().splitlines()[0] == f"pca0{separator}pca1"


@pytest.mark.parametrize("name", ["codes.xyz", "codes"])
def test_an_unknown_extension_is_refused(tmp_path, name):
    pca = PCA(n_components=2).fit(mixed(50))
    with pytest.raises(ValueError, match=r"the format is not clear from the extension; end it in \.npy, \.npz, \.csv or \.tsv"):
        pca.encode(mixed(50), out=tmp_path / name)
    assert not (tmp_path / name).exists()


def test_single_precision_of_polars_and_arrow_is_kept():
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    X = mixed(100).astype(np.float32)
    columns = {f"c{j}": X[:, j] for j in range(5)}
    for frame in (polars.DataFrame(columns), arrow.table(columns)):
        pca = PCA().fit(frame)
        assert pca.components_.dtype == np.float32 and pca.transform(frame).dtype == np.float32
        assert_array_equal(pca.components_, PCA().fit(X).components_)
    mixed_types = {**columns, "c0": X[:, 0].astype(np.float64)}
    for frame in (polars.DataFrame(mixed_types), arrow.table(mixed_types)):
        assert PCA().fit(frame).components_.dtype == np.float64


def test_patterns_are_drawn_and_filters_on_request(fitted):
    pytest.importorskip("matplotlib").use("Agg")
    from unmix import plot

    _, ica = fitted

    def drawn(**how):
        figure = plot.components(ica, **how)
        panel = figure.axes[0]
        return panel.get_title(), panel.lines[-1].get_ydata()

    title, curve = drawn()
    assert title == "pattern 0"
    assert_allclose(curve, ica.mixing_[:, 0])
    title, curve = drawn(which="filters")
    assert title == "filter 0"
    assert_allclose(curve, ica.components_[0])
    with pytest.raises(ValueError, match="which must be 'patterns' or 'filters', got"):
        plot.components(ica, which="both")


def test_sources_have_shares_of_the_variance_that_add_up():
    pytest.importorskip("matplotlib").use("Agg")
    plot = unmix.plot
    X = np.random.RandomState(0).laplace(size=(3000, 5)) @ np.random.RandomState(1).randn(5, 5)
    total = X.var(axis=0).sum()
    ica = ICA(random_state=0).fit(X)
    S = ica.transform(X)
    parts = [(np.outer(S[:, i], ica.mixing_[:, i])).var(axis=0).sum() / total for i in range(5)]
    assert_allclose(ica.explained_variance_ratio_, parts, rtol=1e-9)
    assert_allclose(ica.explained_variance_ratio_.sum(), 1, rtol=1e-9)
    few = ICA(3, random_state=0).fit(X)
    assert_allclose(few.explained_variance_ratio_.sum(), PCA(3).fit(X).explained_variance_ratio_.sum(), rtol=1e-6)
    heights = [bar.get_height() for bar in plot.scree(ica).patches]
    assert_allclose(heights, 100 * ica.explained_variance_ratio_)
    assert not hasattr(ICA(ortho=False, random_state=0).fit(X), "explained_variance_ratio_")
    with pytest.raises(ValueError, match="needs a model with explained_variance_ratio_.*this RICA has none"):
        plot.scree(RICA(random_state=0).fit(X))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (ICA(orthogonalization="deflation"), "orthogonalization"),
        (ICA(first_layer="sigma-pca"), "first_layer"),
        (ICA(algorithm="fastica", ortho=False), "ortho"),
        (ICA(algorithm="infomax", fun="exp"), "fun"),
        (NeuralPCA(learning_rate=1e9), "learning_rate"),
        (NeuralPCA(variant="svd", solver="adam"), "solver"),
        (SigmaPCA(variant=9, constraint="native", max_epochs=2), "constraint"),
        (unmix.RFN(3, e_step="cascade", normalize="none", dropout_place="before", max_iter=3), "dropout_place"),
        (SigmaPCA(batch_size=7), "batch_size"),
        (RICA(max_epochs=5), "max_epochs"),
        (PCA(svd_solver="full", n_oversamples=3), "n_oversamples"),
        (PCA(tol=0.1), "tol"),
        (PCA(2, svd_solver="auto", tol=1e-3), "tol"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_setting_without_effect_gives_a_warning(model, name):
    X = mixed(300)
    with pytest.warns(UserWarning, match=f"{name}=.* has no effect here: {name} is used only (with|if) "):
        model.set_params(random_state=0).fit(X)
    assert any(name in sentence for sentence in model.report_.warnings)


def overlapping():
    """Rows of two atoms, of which the second comes again nearly as a third."""
    draw = np.random.RandomState(0)
    atoms = np.eye(3, 6)
    atoms[2] = atoms[1] + 0.01 * np.eye(6)[4]
    return atoms, draw.laplace(size=(200, 3)) * (draw.rand(200, 3) < 0.4) @ atoms


@pytest.mark.parametrize(
    ("model", "make", "words"),
    [
        (lambda: unmix.DictionaryLearning(3, dict_init=overlapping()[0], alpha=1e-3, max_iter=1), lambda: overlapping()[1], "pair of atoms has a cosine above 0.99"),
        (lambda: unmix.SparseCoder(np.eye(6)[[0, 1, 1]], alpha=0.1), lambda: overlapping()[1], "duplicate of an earlier one"),
        (lambda: unmix.SubspaceClustering(2), lambda: np.vstack([mixed(40), np.zeros((1, 5))]), "row is 0 and lies in every subspace"),
        (lambda: unmix.GaussianRBM(2, max_epochs=1), lambda: (mixed(100) > 3) * 1.0, "contain only 0 and 1"),
        (lambda: unmix.RFN(60, max_iter=2, tol=None), lambda: mixed(40), "at least as many units as rows"),
        (lambda: unmix.FactorAnalysis(4), lambda: mixed(200), "Ledermann bound"),
        (lambda: RICA(8, random_state=0), lambda: mixed(40), "rows are few"),
        (lambda: SigmaPCA(3), lambda: np.random.RandomState(0).randn(500, 4), "nothing beyond PCA"),
    ],
)
def test_every_warning_that_concerns_the_validity_of_a_fit_is_raised(model, make, words):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = model().fit(make())
    raised = " ".join(str(warning.message) for warning in caught)
    assert words in raised, fitted.report_.warnings
    exact = ("columns do not vary", "columns does not vary", "as small as rounding allows")
    assert all(sentence in raised or any(part in sentence for part in exact) for sentence in fitted.report_.warnings)


@pytest.mark.filterwarnings("error")
def test_a_setting_that_never_has_an_effect_gives_a_warning():
    X = mixed(300)
    with pytest.warns(UserWarning, match="whiten_solver='eigh' has no effect here: whiten_solver is accepted for compatibility only"):
        FastICA(whiten_solver="eigh", random_state=0).fit(X)
    FastICA(whiten_solver="svd", random_state=0).fit(X)
    PCA(2, svd_solver="krylov", tol=1e-3).fit(X)
    PCA().fit(X)


def test_attributes_of_partial_fits_cannot_be_assigned():
    X = mixed(100)
    pca = PCA().partial_fit(X)
    with pytest.raises(AttributeError, match="components_ of a fitted PCA cannot be assigned"):
        pca.components_ = np.eye(5)


def test_loading_adds_no_warnings(tmp_path):
    with pytest.warns(UserWarning, match="learning_rate=1.0 has no effect here"):
        model = NeuralPCA(2, learning_rate=1.0, random_state=0).fit(mixed(300))
    model.save(tmp_path / "m.safetensors")
    again = unmix.load(tmp_path / "m.safetensors")
    assert again.report_.warnings == model.report_.warnings == pickle.loads(pickle.dumps(again)).report_.warnings
    again.save(tmp_path / "n.safetensors")
    assert (tmp_path / "m.safetensors").read_bytes() == (tmp_path / "n.safetensors").read_bytes()


def test_remove_matches_columns_of_files_by_name(tmp_path):
    """Rows in files as in frames: other orders, additional columns, handles; no warning about names."""
    pd = pytest.importorskip("pandas")
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.laplace(size=(400, 5)) @ draw.normal(size=(5, 5)), columns=list("abcde"))
    ica = unmix.ICA(random_state=0).fit(frame)
    expected = ica.remove(frame, [0])
    names = ["e", "d", "extra", "c", "b", "a"]
    other = frame.assign(extra=1.0)[names]
    for name, rows in [("same.csv", frame), ("other.csv", other)]:
        rows.to_csv(tmp_path / name, index=False)
        for given in (tmp_path / name, [tmp_path / name], unmix.open(tmp_path / name)):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="columns that the model was not fitted on")
                if name == "same.csv":
                    warnings.simplefilter("error", UserWarning)
                np.testing.assert_allclose(ica.remove(given, [0]), expected, atol=1e-9)


def test_a_file_that_is_read_is_not_written(tmp_path):
    pd = pytest.importorskip("pandas")
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.normal(size=(50, 3)), columns=list("abc"))
    (tmp_path / "folder").mkdir()
    path = tmp_path / "folder" / "rows.csv"
    frame.to_csv(path, index=False)
    before, pca = path.read_bytes(), unmix.PCA(2).fit(frame)
    given = [path, str(path), [path], unmix.open(path), path.parent, tmp_path / "folder" / "*.csv"]
    for rows in given:
        with pytest.raises(ValueError, match="it is read by the same call; choose another name"):
            pca.encode(rows, out=path)
        assert path.read_bytes() == before
    np.save(tmp_path / "codes.npy", pca.transform(frame))
    with pytest.raises(ValueError, match="it is read by the same call"):
        pca.decode(tmp_path / "codes.npy", out=tmp_path / "codes.npy")
    pca.encode(path, out=tmp_path / "codes.npy")
