"""Rows in other forms than one array, and tables and pages in notebooks."""

import inspect
import pickle
import re
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from test_readers import without_run

import unmix
from unmix import ICA, PCA, PPCA

CLASSES = [getattr(unmix, method["class"]) for method in unmix.methods()]


@pytest.fixture
def X():
    draw = np.random.RandomState(0)
    return draw.laplace(size=(300, 4)) @ draw.randn(4, 4)


@pytest.fixture
def frame(X):
    return pd.DataFrame(X, columns=list("abcd"))


def test_a_list_of_paths_is_one_table(X, tmp_path):
    paths = [tmp_path / "first.npy", str(tmp_path / "second.npy")]
    for path, part in zip(paths, (X[:100], X[100:])):
        np.save(path, part)
    model = PCA(2).fit(paths)
    assert np.array_equal(model.components_, PCA(2).fit(X).components_)
    assert np.array_equal(model.transform(tuple(paths)), model.transform(X))
    assert np.array_equal(eval(model.report_.invocation).components_, model.components_)
    with pytest.raises(FileNotFoundError, match="none.npy"):
        PCA(2).fit([paths[0], tmp_path / "none.npy"])


def test_a_file_that_is_given_twice_is_read_twice_with_a_warning(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    for rows in (unmix.open([tmp_path / "x.npy"] * 2), [tmp_path / "x.npy", str(tmp_path / "x.npy")]):
        with pytest.warns(UserWarning, match="x.npy: the file is given twice, so that its rows are read twice; give it once"):
            model = PCA(2).fit(rows)
        assert model.n_samples_ == 2 * len(X)


def test_arrays_of_more_axes_are_rows_as_their_files_are(tmp_path):
    X = np.random.RandomState(0).randn(60, 4, 5)
    np.save(tmp_path / "x.npy", X)
    by_array, by_file = PCA(2).fit(X), PCA(2).fit(tmp_path / "x.npy")
    assert np.array_equal(by_array.components_, by_file.components_) and by_array.n_features_in_ == 20
    assert np.array_equal(by_array.transform(X), by_file.transform(tmp_path / "x.npy"))
    assert np.array_equal(PCA(2).fit(X.transpose(0, 2, 1)).transform(X.transpose(0, 2, 1)), PCA(2).fit_transform(X.transpose(0, 2, 1).copy()))
    with pytest.raises(ValueError, match="20 features"):
        by_array.transform(X[:, :3])


def test_the_model_of_an_array_has_the_shape_of_its_samples_as_that_of_its_file(tmp_path):
    X = np.random.RandomState(0).randn(60, 4, 4)
    np.save(tmp_path / "x.npy", X)
    by_array, by_file = PCA(3, random_state=0).fit(X), PCA(3, random_state=0).fit(tmp_path / "x.npy")
    assert by_array._model.feature_shape == by_file._model.feature_shape == [4, 4]
    assert without_run(by_array) == without_run(by_file)
    for online in (PCA(3), unmix.DictionaryLearning(3, algorithm="online", random_state=0)):
        assert online.partial_fit(X)._model.feature_shape == [4, 4], online
    assert pickle.loads(pickle.dumps(PCA(3).partial_fit(X)))._model.feature_shape == [4, 4]
    assert PCA(3).fit(X.reshape(60, 16))._model.feature_shape is None
    assert unmix.plot.components(by_array).axes[0].images, "drawn as pictures"
    plt.close("all")


def test_a_fit_of_several_axes_warns_once_unless_rows_look_like_pictures(tmp_path):
    X = np.random.RandomState(0).randn(20, 3, 8)
    np.save(tmp_path / "x.npy", X)
    with pytest.warns(UserWarning, match=r"^X has 3 axes \(20 x 3 x 8\): a row is 3 x 8 numbers; X.reshape\(-1, 8\) makes 60 rows of 8, X.reshape\(len\(X\), -1\) these rows without this note$") as caught:
        pca = PCA(2).fit(X)
    assert len(caught) == 1 and caught[0].filename == __file__
    with pytest.warns(UserWarning, match=r"x.npy has 3 axes .*; unmix.open\(..., rows_axis=\(0, 1\)\) makes 60 rows of 8$"):
        PCA(2).fit(tmp_path / "x.npy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The rows of a fitted model have a known width, and those of the other two look like pictures, or are vectors.
        assert pca.transform(X).shape == (20, 2)
        PCA(2).fit(X.reshape(20, 4, 6))
        PCA(2).fit(X.reshape(20, 24, 1))
        rows = PCA(2).fit(unmix.open(tmp_path / "x.npy", rows_axis=(0, 1)))
        assert np.array_equal(rows.components_, PCA(2).fit(X.reshape(-1, 8)).components_)


def holder(package, name):
    """An instance of a class of another package, which may not be installed."""
    return type(name, (), {"__module__": f"{package}.module"})()


@pytest.mark.parametrize(
    "package, name, remedy",
    [
        ("mne", "RawArray", "get_data"),
        ("mne", "EpochsArray", "hstack"),
        ("anndata", "AnnData", "to_df"),
        ("anndata", "Layers", "adata.layers[name]"),
        ("anndata", "AxisArrays", "adata.obsm[name]"),
        ("anndata", "_CSRDataset", "X.to_memory()"),
        ("anndata", "CSCDataset", "X.to_memory()"),
        ("anndata", "SparseDataset", "X.to_memory()"),
        ("polars", "LazyFrame", "collect"),
    ],
)
def test_objects_of_other_packages_are_refused_with_a_remedy(package, name, remedy):
    with pytest.raises(TypeError, match=re.escape(remedy)):
        PCA().fit(holder(package, name))


def test_masked_cells_are_refused_with_a_remedy(X):
    masked = np.ma.masked_greater(X, 3.0)
    for call in (PCA(2).fit, PPCA(1).fit, PCA(2).fit(X).transform, PCA(4).fit(X).inverse_transform, unmix.select_components):
        with pytest.raises(TypeError, match="X is a masked array"):
            call(masked)
    # Both remedies work as they are written.
    filled, whole = masked.astype(float).filled(np.nan), np.ma.compress_rows(masked)
    assert np.isnan(filled).sum() == masked.mask.sum() > 0 and PPCA(1).fit(filled).components_.shape == (1, 4)
    assert PCA(2).fit(whole).n_samples_ == np.sum(~masked.mask.any(axis=1))
    # Without masked cells it is an array.
    assert np.array_equal(PCA(2).fit(np.ma.masked_array(X)).components_, PCA(2).fit(X).components_)
    assert unmix.plot.gaps(masked).get_title() == unmix.plot.gaps(filled).get_title()


def test_a_lazy_frame_of_polars_is_refused(X):
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"give X.collect\(\)"):
        PCA().fit(polars.DataFrame(X).lazy())


def test_components_are_frames(frame):
    pca, ica = PCA(2).fit(frame), ICA(random_state=0).fit(frame)
    table = pca.components_frame()
    assert list(table.index) == ["pca0", "pca1"] and list(table.columns) == list("abcd")
    np.testing.assert_array_equal(table, pca.components_)
    np.testing.assert_array_equal(ica.components_frame(), ica.components_)
    np.testing.assert_array_equal(ica.components_frame("patterns"), ica.mixing_.T)
    assert list(PCA(1).fit(frame.to_numpy()).components_frame().columns) == ["x0", "x1", "x2", "x3"]
    with pytest.raises(ValueError, match="must be 'components' or 'patterns', got 'rows'"):
        pca.components_frame("rows")
    clusters = unmix.SubspaceClustering(2, 1, algorithm="k-subspaces", random_state=0).fit(frame)
    with pytest.raises(ValueError, match="has no components_; its fitted attributes are"):
        clusters.components_frame()


def test_tables_are_frames_and_html(frame):
    found = unmix.select_components(frame, ["bic", "minka"])
    assert found.to_frame().columns.tolist() == ["rule", "k", "estimates"] and found.to_frame()["k"].tolist() == [found["bic"], found["minka"]]
    lines = unmix.select_components(frame, "bic", method="ppca", random_state=0)
    assert lines.to_frame()["bic"].tolist() == lines.bic.tolist() and "cells" not in lines.to_frame()
    tried = unmix.stability(PCA(2, random_state=0).fit(frame), frame, splits=2, restarts=1)
    table = tried.to_frame()
    assert len(table) == 2 and table["verdict"].tolist() == tried.verdict and table["interval_low"].tolist() == tried.interval[:, 0].tolist()
    report = PCA(2, n_oversamples=7).fit(frame).report_
    genes = pd.DataFrame(unmix.datasets.rare_modules(seed=0)).add_prefix("gene ")
    modules = unmix.biclusters(unmix.RFN(10, psi_min=0.3, max_iter=50, random_state=0).fit(genes), genes, n_starts=0)
    shown = modules.to_frame()
    assert shown["n_rows"].tolist() == modules.rows_.sum(axis=1).tolist() and shown.index.name == "module"
    assert "<th>evidence</th>" in modules._repr_html_() and f"gene {modules.columns_[0].argmax()}" in modules._repr_html_()
    for shown in (found, lines, tried, report, modules):
        text = shown._repr_html_()
        assert text.startswith("<table>") and text.count("<tr>") == text.count("</tr>") > 1
    assert report.solver in report._repr_html_() and "n_oversamples" in report._repr_html_()


def test_text_of_tables_is_escaped():
    from unmix._html import table

    text = table(("a<b",), [("<script>",)] * 70, notes=["1 & 2"])
    assert "<script>" not in text and "a&lt;b" in text and "10 more" in text and "1 &amp; 2" in text


def test_a_page_without_a_path_is_shown_inline(frame, tmp_path):
    pca = PCA(2).fit(frame)
    page = unmix.report(pca, frame, title="a & b")
    unmix.report(pca, frame, title="a & b", path=tmp_path / "written.html")
    assert page.text == (tmp_path / "written.html").read_text(encoding="utf-8")
    inline = page._repr_html_()
    assert inline.startswith("<iframe") and inline.count('"') == 8 and "&lt;!DOCTYPE html&gt;" in inline
    page.save(tmp_path / "saved.html")
    assert (tmp_path / "saved.html").read_bytes() == (tmp_path / "written.html").read_bytes()
    assert "MB" in repr(page)


def test_imputed_rows_are_frames_where_codes_are(frame):
    gaps = frame.mask(frame > 3)
    ppca = PPCA(1).set_output(transform="pandas").fit(gaps)
    filled, std = ppca.impute(gaps, return_std=True)
    assert list(filled.columns) == list(std.columns) == list("abcd") and filled.index.equals(frame.index) and not filled.isna().any(axis=None)
    np.testing.assert_array_equal(filled, PPCA(1).fit(gaps).impute(gaps))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_drawn_tables_are_frames_where_codes_are(frame, kind):
    pytest.importorskip(kind)
    gaps = frame.mask(frame > 3)
    ppca = PPCA(1, random_state=0).set_output(transform=kind).fit(gaps)
    arrays = PPCA(1, random_state=0).fit(gaps).impute(gaps, return_std=True, n_draws=2, bootstrap=2)
    filled, std, draws = ppca.impute(gaps, return_std=True, n_draws=2, bootstrap=2)
    assert len(draws) == 2 and arrays[2].shape == (2, *gaps.shape)
    for table, numbers in zip((filled, std, *draws), (*arrays[:2], *arrays[2]), strict=True):
        assert type(table).__module__.startswith(kind) and list(table.columns) == list("abcd")
        assert kind != "pandas" or table.index.equals(frame.index)
        np.testing.assert_array_equal(table.to_numpy(), numbers)


def test_results_are_frames_and_tables_in_notebooks(X, frame, tmp_path):
    found = unmix.metrics.match(np.eye(3), np.eye(3)[[1, 2, 0]] * [1, -1, 1])
    table = found.to_frame()
    assert list(table.columns) == ["component", "match", "sign", "cosine"]
    assert table["match"].tolist() == [2, 0, 1] and table["sign"].tolist() == [1, -1, 1] and (table["cosine"] == 1).all()
    assert "<th>cosine</th>" in found._repr_html_()
    quality = PCA(2).fit(X).quality(X, columns=True).to_frame()
    assert list(quality.columns) == ["t2", "q", "t2_0", "t2_1", "cos2_0", "cos2_1", "q_0", "q_1", "q_2", "q_3"] and len(quality) == len(X)
    np.testing.assert_allclose(quality[["t2_0", "t2_1"]].sum(axis=1), quality["t2"])
    frame.to_csv(tmp_path / "x.csv", index=False)
    shown = unmix.open(tmp_path / "x.csv")._repr_html_()
    assert "<td>rows</td><td>300</td>" in shown and "<td>a, b, c, d</td>" in shown and "float64" in shown and "unmix.open(" in shown
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3\n")
    assert "<td>error</td>" in unmix.open(tmp_path / "x.csv")._repr_html_()


def test_components_are_drawn_into_given_axes_with_colour_bars(X):
    pca = PCA(2).fit(X)
    figure, axes = plt.subplots(1, 2)
    assert unmix.plot.components(pca, axes=axes) is figure and axes[1].lines
    unmix.plot.components(pca, feature_shape=(2, 2), axes=axes)
    assert len(figure.axes) == 4, "two pictures, two colour bars"
    with pytest.raises(ValueError, match="axes has 1 axis, but 2 components are drawn"):
        unmix.plot.components(pca, axes=axes[:1])


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_estimators_have_html(cls):
    required = [p.name for p in inspect.signature(cls).parameters.values() if p.default is p.empty]
    given = dict.fromkeys(required, [[1.0, 2.0]])
    assert cls.__name__ in cls(**given)._repr_html_()
