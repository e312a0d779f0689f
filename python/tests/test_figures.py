"""Figures show the values of the models: missing cells, latent variables, factors, filters and iterations."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

import unmix
from unmix import PCA, PPCA, RFN, RICA, FactorAnalysis, FastICA, NeuralPCA, RobustPCA, SparseCoder, StackedRFN, SubspaceClustering, plot

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


def rows(n=300, seed=0):
    draw = np.random.RandomState(seed)
    return draw.randn(n, 2) @ draw.randn(2, 6) + 0.3 * draw.randn(n, 6)


def modules():
    X = unmix.datasets.rare_modules(seed=0)
    model = RFN(10, psi_min=0.3, max_iter=50, random_state=0).fit(X)
    return unmix.biclusters(model, X, n_starts=0), X


SENSORS = [[0, 1], [1, 0], [0, -1], [-1, 0]]

#: For each function of `unmix.plot`: the number of axes that it draws into in this call, and the call.
CALLS = {
    "affinities": (1, lambda **into: plot.affinities([[0, 2], [2, 0]], [0, 1], **into)),
    "atoms": (3, lambda **into: plot.atoms(SparseCoder(np.eye(6)[:4], alpha=0.1).fit(rows()), rows(), feature_shape=(2, 3), **into)),
    "biclusters": (1, lambda **into: plot.biclusters(*modules(), **into)),
    "biplot": (1, lambda **into: plot.biplot(PCA(2).fit(rows()), rows(), **into)),
    "components": (2, lambda **into: plot.components(PCA(2).fit(rows()), feature_shape=(2, 3), **into)),
    "convergence": (1, lambda **into: plot.convergence(RFN(2, max_iter=20, random_state=0).fit(rows()), **into)),
    "factor_correlations": (1, lambda **into: plot.factor_correlations(FactorAnalysis(2, rotation="promax").fit(rows()), **into)),
    "filters": (2, lambda **into: plot.filters(PCA(2).fit(rows()), feature_shape=(2, 3), **into)),
    "gaps": (1, lambda **into: plot.gaps(rows(), **into)),
    "held_out": (2, lambda **into: plot.held_out(PPCA(n_components=2).fit(rows()), rows(seed=1), **into)),
    "loadings": (1, lambda **into: plot.loadings(FactorAnalysis(2).fit(rows()), **into)),
    "module": (2, lambda **into: plot.module(*modules(), **into)),
    "parts": (3, lambda **into: plot.parts(RobustPCA(random_state=0).fit(rows()), shape=(2, 3), **into)),
    "scatter": (1, lambda **into: plot.scatter(PCA(2).fit(rows()), rows(), **into)),
    "scree": (1, lambda **into: plot.scree(PCA().fit(rows()), **into)),
    "sources": (1, lambda **into: plot.sources(PCA(2).fit(rows()), rows(), **into)),
    "topography": (1, lambda **into: plot.topography([1, 2, 3, 4], SENSORS, **into)),
    "traversals": (2, lambda **into: plot.traversals(PCA(2).fit(rows()), **into)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", plot.__all__)
def test_every_figure_is_drawn_into_given_axes(name):
    count, call = CALLS[name]
    figure, axes = pyplot.subplots(1, count, squeeze=False)
    if "ax" in inspect.signature(getattr(plot, name)).parameters:
        assert count == 1 and call(ax=axes[0, 0]) is axes[0, 0]
    else:
        assert call(axes=axes) is figure
        with pytest.raises(ValueError, match=f"axes has {count - 1} ax[ei]s, but {count} "):
            call(axes=axes[0, 1:])
    assert all(ax.has_data() for ax in axes.flat)
    assert pyplot.get_fignums() == [figure.number]


def test_axes_that_are_not_needed_are_turned_off():
    axes = pyplot.subplots(2, 2)[1]
    plot.traversals(PCA(3).fit(rows()), axes=axes)
    assert [ax.axison for ax in axes.flat] == [True, True, True, False]
    # Pictures need axes for every step.
    with pytest.raises(ValueError, match="axes has 4 axes, but 6 are needed: 3 steps of 2 latent variables"):
        plot.traversals(PCA(2).fit(rows()), feature_shape=(2, 3), steps=3, axes=axes)
    with pytest.raises(ValueError, match="axes has 4 axes, but 6 are needed: 1 for each of 4 atoms, 2 for the histograms"):
        plot.atoms(SparseCoder(np.eye(6)[:4], alpha=0.1).fit(rows()), rows(), axes=axes)


@pytest.mark.filterwarnings("ignore")
def test_values_that_are_drawn_as_colours_have_a_colour_bar():
    # Axes of a figure with one panel, and those of its colour bar.
    assert len(plot.topography([1, 2, 3, 4], SENSORS).figure.axes) == 2
    assert len(plot.topography([1, 2, 3, 4], SENSORS, colorbar=False).figure.axes) == 1
    each, several = plot.gaps(rows(300)).figure.axes[1], plot.gaps(rows(1000)).figure.axes[1]
    assert [label.get_text() for label in each.get_yticklabels()] == ["observed", "missing"]
    assert several.get_ylabel() == "fraction of missing cells"
    figure = plot.module(*modules())
    assert len(figure.axes) == 3 and figure.axes[2].get_ylabel() == "standard deviations"
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()
    # Each atom has its own scale.
    mosaic = plot.atoms(SparseCoder(np.eye(6), alpha=0.1).fit(rows()), feature_shape=(2, 3))
    assert len(mosaic.axes) == 2 and mosaic.axes[1].get_ylabel() == "fraction of the atom's largest value"
    assert len(plot.atoms(SparseCoder(np.eye(6), alpha=0.1).fit(rows()), feature_shape=(1, 2, 3)).axes) == 1, "colours have none"


@pytest.mark.filterwarnings("ignore")
def test_rows_of_a_module_are_shaded_by_numbers_and_have_a_legend_of_classes():
    found, X = modules()
    numbers = np.linspace(0, 3, len(X))
    figure = plot.module(found, X, color=numbers)
    top, bar = figure.axes[0], figure.axes[3]
    assert top.get_legend() is None and len(figure.axes) == 4
    assert_allclose(bar.get_ylim(), (0, 3))
    member = found.rows_[0]
    assert_allclose(np.asarray(top.collections[1].get_array()), numbers[member])
    assert len(top.collections[0].get_offsets()) == np.count_nonzero(~member)
    classed = plot.module(found, X, color=np.arange(len(X)) % 3)
    assert [text.get_text() for text in classed.axes[0].get_legend().get_texts()] == ["0", "1", "2"] and len(classed.axes) == 3


def test_a_map_of_gaps_shows_the_share_of_missing_cells():
    X = rows(1000)
    X[:500, 2] = np.nan
    ax = plot.gaps(X)
    drawn = np.asarray(ax.images[0].get_array())
    assert drawn.shape == (400, 6)
    assert_allclose(drawn[:, 2].mean(), 0.5)
    assert drawn[:200, 2].min() == 1 and np.delete(drawn, 2, axis=1).max() == 0
    assert "in 500 of 1000 rows, in 1 of 6 columns" in ax.get_title()
    pandas = pytest.importorskip("pandas")
    named = plot.gaps(pandas.DataFrame(X, columns=list("abcdef")))
    assert [label.get_text() for label in named.get_xticklabels()] == list("abcdef")
    for wrong in (np.zeros(3), np.zeros((0, 2))):
        with pytest.raises(ValueError, match="X must be an array of two axes with at least one row and one column"):
            plot.gaps(wrong)
    with pytest.raises(ValueError, match="2 names were given, but there are 6 columns"):
        plot.gaps(X, names=["a", "b"])


@pytest.mark.filterwarnings("ignore:.*parameters are treated as known")
def test_held_out_cells_are_compared_with_their_values():
    X = rows(600)
    model = PPCA(n_components=2).fit(X[:300])
    other = X[300:].copy()
    other[::3, 1] = np.nan
    figure = plot.held_out(model, other, share=0.2)
    left, right = figure.axes
    count = round(0.2 * (other.size - 100))
    assert left.get_title().startswith(f"{count} cells: ")
    inside = float(left.get_title().split("error")[1].split(",")[1].split("%")[0])
    assert 90 < inside < 98.5
    # The coverage of a calibrated model stays within twice its confidence band.
    levels, share = right.lines[0].get_data()
    assert np.all(np.abs(share - levels) < 2 * 196 * np.sqrt(levels / 100 * (1 - levels / 100) / count) + 1)
    with pytest.raises(ValueError, match="PCA does not impute missing cells"):
        plot.held_out(PCA(2).fit(X), X)
    with pytest.raises(ValueError, match="share must be between 0 and 1, got 1"):
        plot.held_out(model, X, share=1)
    with pytest.raises(ValueError, match="of 6 observed cells is less than one cell"):
        plot.held_out(model, X[:1], share=0.01)


def test_a_traversal_adds_the_loading_of_its_component():
    X = rows()
    sources = np.random.RandomState(0).laplace(size=(300, 2)) @ np.random.RandomState(1).randn(2, 6)
    for model, unit in (
        (PPCA(n_components=2).fit(X), 1),
        (PCA(2).fit(X), None),
        # Codes that are whitened have a standard deviation of 1 themselves.
        (PCA(2, whiten=True).fit(X), 1),
        (PCA(2, whiten="zca").fit(X), 1),
        (FastICA(2, random_state=0).fit(sources), 1),
        (FastICA(2, whiten="arbitrary-variance", random_state=0).fit(sources), 1 / np.sqrt(300)),
    ):
        figure = plot.traversals(model, components=[1], span=2, steps=3)
        low, middle, high = (line.get_ydata() for line in figure.axes[0].lines)
        deviation = unit or np.sqrt(model.explained_variance_[1])
        assert_allclose(high - low, 4 * deviation * model.mixing_[:, 1], rtol=1e-9, atol=1e-12)
        assert_allclose(middle, model.mean_, atol=1e-12)
    # Codes that have other means than 0 are at their means, which are known only with rows.
    shifted = np.abs(X) + [3, 2, 1, 0, 1, 2]
    for model in (PCA(2, center=False).fit(shifted), RFN(2, max_iter=20, random_state=0).fit(shifted)):
        codes = model.transform(shifted)
        figure = plot.traversals(model, components=[1], span=2, steps=3, X=shifted)
        low, middle, high = (line.get_ydata() for line in figure.axes[0].lines)
        assert_allclose(middle, model.inverse_transform(codes.mean(axis=0)[None])[0], rtol=1e-6)
        assert_allclose(high - low, 4 * codes[:, 1].std() * model.mixing_[:, 1], rtol=1e-6, atol=1e-9)
        with pytest.raises(ValueError, match="give rows as X"):
            plot.traversals(model)
    strips = plot.traversals(PCA(2).fit(X), feature_shape=(2, 3), steps=5)
    assert len(strips.axes) == 11 and strips.axes[2].get_title() == "mean"
    clusters = SubspaceClustering(2, 2, random_state=0).fit(X)
    for given in (None, X):
        with pytest.raises(ValueError, match="this SubspaceClustering has no inverse_transform; give a model that has one, such as PCA"):
            plot.traversals(clusters, X=given)
    with pytest.raises(ValueError, match="steps at least 2"):
        plot.traversals(PCA(2).fit(X), steps=1)
    with pytest.raises(ValueError, match="holds 4 numbers, but the model has 6"):
        plot.traversals(PCA(2).fit(X), feature_shape=(2, 2))


def test_loadings_are_in_units_of_standard_deviations():
    draw = np.random.RandomState(1)
    X = (draw.randn(2000, 2) @ draw.randn(2, 7) + draw.randn(2000, 7)) * [1, 10, 0.1, 1, 1, 1, 1]
    X[:, 6] = draw.randn(2000)
    model = FactorAnalysis(2, rotation="varimax").fit(X)
    ax = plot.loadings(model)
    shown = np.array([float(text.get_text()) for text in ax.texts if text.get_text() != "H"]).reshape(7, 3)
    assert_allclose((shown[:, :2] ** 2).sum(axis=1) + shown[:, 2], 1, atol=0.03)
    assert_allclose(shown[:, :2], model.components_.T / X.std(axis=0)[:, None], atol=0.03)
    oblique = FactorAnalysis(2, rotation="promax").fit(X)
    numbers = [float(text.get_text()) for text in plot.factor_correlations(oblique).texts]
    assert_allclose(numbers, oblique.factor_correlation_.ravel(), atol=0.006)
    with pytest.raises(ValueError, match="this figure is of a FactorAnalysis"):
        plot.loadings(PCA(2).fit(X))


def test_loadings_with_a_prior_of_the_factors_are_in_units_of_standard_deviations():
    draw = np.random.RandomState(1)
    X = (draw.laplace(size=(3000, 2)) @ draw.randn(2, 7) + draw.randn(3000, 7)) * [1, 10, 0.1, 1, 1, 1, 1]
    model = FactorAnalysis(2, prior="laplace").fit(X)
    shown = np.array([float(text.get_text()) for text in plot.loadings(model).texts if text.get_text() != "H"]).reshape(7, 3)
    assert_allclose((shown[:, :2] ** 2).sum(axis=1) + shown[:, 2], 1, atol=0.05)
    deviations = np.sqrt(model.factor_variance_)
    assert_allclose(shown[:, :2], model.components_.T * deviations / X.std(axis=0)[:, None], atol=0.05)


def test_heywood_cases_are_marked():
    # A single factor would need a communality of .8 * .8 / .45 > 1 for the first column: a Heywood case.
    correlation = [[1, 0.8, 0.8], [0.8, 1, 0.45], [0.8, 0.45, 1]]
    X = np.random.RandomState(2).multivariate_normal(np.zeros(3), correlation, 1000)
    model = FactorAnalysis(1).fit(X)
    marks = [text.get_position()[1] for text in plot.loadings(model).texts if text.get_text() == "H"]
    assert list(model.heywood_) == [0] and marks == [0]


def test_rows_are_drawn_with_their_low_rank_and_sparse_parts():
    draw = np.random.RandomState(0)
    low = draw.randn(60, 2) @ draw.randn(2, 48)
    X = low + 10 * (draw.rand(60, 48) < 0.05)
    robust = RobustPCA(random_state=0).fit(X)
    figure = plot.parts(robust, rows=(3, 5), shape=(6, 8))
    # Two colour bars for each row come after the panels.
    assert len(figure.axes) == 10
    pictures = [np.asarray(ax.images[0].get_array()).ravel() for ax in figure.axes[:6]]
    assert_allclose(pictures[0], X[3], atol=1e-4)
    assert_allclose(pictures[4], low[5], atol=1e-4)
    assert_allclose(pictures[5], X[5] - low[5], atol=1e-3)
    # With noise, which neither part has, rows and missing cells are those of the fit.
    noisy = X + 0.1 * draw.randn(60, 48)
    noisy[3, 7] = np.nan
    panel = plot.parts(RobustPCA(random_state=0).fit(noisy), rows=[3]).axes[0]
    assert_array_equal(panel.lines[0].get_ydata(), noisy[3])
    # Of rows that are given, by their codes: the same, as curves.
    curves = plot.parts(robust, X, rows=[5]).axes
    assert_allclose(curves[1].lines[0].get_ydata(), low[5], atol=1e-4)
    assert_allclose(curves[2].lines[0].get_ydata(), X[5] - low[5], atol=1e-3)
    with pytest.raises(ValueError, match="needs the two parts of a RobustPCA, got a PCA"):
        plot.parts(PCA().fit(X))
    with pytest.raises(ValueError, match="got \\(7, 7\\) and 48 columns"):
        plot.parts(robust, shape=(7, 7))


def test_affinities_are_sorted_by_cluster():
    labels = np.array([1, 0, 1, 0, 0])
    table = (labels[:, None] == labels).astype(float)
    ax = plot.affinities(table, labels)
    drawn = np.asarray(ax.images[0].get_array())
    assert drawn[:3, :3].all() and drawn[3:, 3:].all() and not drawn[:3, 3:].any()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "1"]
    with pytest.raises(ValueError, match="got shape \\(5, 5\\) and 4 labels"):
        plot.affinities(table, labels[:4])


def test_atoms_are_sorted_by_use_with_histograms_of_use_and_of_rows():
    draw = np.random.RandomState(0)
    dictionary = np.eye(6)[:, :4] + 0.01 * draw.rand(6, 4)
    X = np.repeat(np.eye(4), [1, 5, 2, 9], axis=0)
    coder = SparseCoder(dictionary, alpha=0.1).fit(X)
    figure = plot.atoms(coder, X, feature_shape=(2, 2))
    mosaic = np.asarray(figure.axes[0].images[0].get_array(), dtype=float)
    # Atom 3 is used by nine rows, and its largest pixel is the last.
    assert mosaic[2, 2] == 1 and mosaic[1, 1] < 0.1
    assert [ax.get_xlabel() for ax in figure.axes[1:3]] == ["share of rows that use an atom", "atoms per row"]
    assert sum(bar.get_height() for bar in figure.axes[1].patches) == 6
    assert sum(bar.get_height() for bar in figure.axes[2].patches) == len(X)
    colours = plot.atoms(SparseCoder(draw.randn(600, 12)).fit(draw.randn(5, 12)), feature_shape=(2, 2, 3))
    assert np.asarray(colours.axes[0].images[0].get_array()).shape[2] == 3 and "512 of 600" in colours.axes[0].get_title()
    assert len(plot.atoms(coder, n_atoms=3).axes) == 3
    with pytest.raises(ValueError, match="holds 9 numbers, but the model has 4 features"):
        plot.atoms(coder, feature_shape=(3, 3))
    for wrong in (0, 1.5):
        with pytest.raises(ValueError, match=f"n_atoms must be an integer of at least 1, got {wrong}"):
            plot.atoms(coder, n_atoms=wrong)
    with pytest.raises(ValueError, match=r"feature_shape must be the lengths of the axes of a sample, as in \(28, 28\), got \(-2, -2\)"):
        plot.atoms(coder, feature_shape=(-2, -2))
    assert len(plot.atoms(coder, feature_shape=4).axes) == len(coder.components_)
    with pytest.raises(TypeError, match="a figure of atoms needs a model with components, and SubspaceClustering has none"):
        plot.atoms(SubspaceClustering(2).fit(draw.randn(20, 4)))
    with pytest.raises(NotFittedError):
        plot.atoms(SparseCoder(dictionary))


def arrows_of(ax):
    """Tips of the arrows of a biplot, and the texts beside them, in one order."""
    tips = np.array([arrow.xy for arrow in ax.texts if not arrow.get_text()])
    return tips, [text for text in ax.texts if text.get_text()]


def test_arrows_of_a_biplot_are_what_components_add_to_columns():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rows() * [1, 1, 5, 1, 0, 1], columns=[*"abcde", "a column with a long name"])
    model = PCA(3).fit(X)
    codes = model.transform(X)
    ax = plot.biplot(model, X, components=(2, 0), n_columns=4, color=X["a"])
    assert_array_equal(ax.collections[0].get_offsets(), codes[:, [2, 0]])
    tips, texts = arrows_of(ax)
    # Row by row the inner products of points and arrows, in standard deviations, are what the two components add to the columns.
    added = codes[:, [2, 0]] @ model.mixing_[:, [2, 0]].T
    largest = np.argsort(-added.std(axis=0))[:4]
    assert [text.get_text()[:17] for text in texts] == [X.columns[j][:17] for j in largest]
    spread = codes[:, [2, 0]].std(axis=0)
    drawn = (codes[:, [2, 0]] / spread) @ (tips / spread).T
    assert_allclose(drawn / drawn.std(), added[:, largest] / added[:, largest].std(), atol=1e-9)
    # The longest arrow ends at 85 % of the outermost point of one axis.
    assert_allclose(np.max(np.abs(tips) / np.abs(codes[:, [2, 0]]).max(axis=0)), 0.85)
    # A constant column has no arrow.
    assert len(arrows_of(plot.biplot(model, X, n_columns=6))[1]) == 5
    assert [text.get_text() for text in arrows_of(plot.biplot(PCA(2).fit(X.to_numpy()), X.to_numpy(), n_columns=1))[1]] == ["column 2"]


def test_columns_of_a_biplot_are_in_the_units_of_the_model():
    X = rows()
    scaled = X * [1, 1e6, 1, 1, 1e-6, 1]
    # Standardised columns, and those of factor analysis, do not depend on their units.
    for of in (lambda X: PCA(2, standardize=True).fit(X), lambda X: FactorAnalysis(2, tol=1e-10, max_iter=5000).fit(X)):
        ours, theirs = (arrows_of(plot.biplot(of(rows), rows, n_columns=6))[0] for rows in (X, scaled))
        assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)
    assert [text.get_text() for text in arrows_of(plot.biplot(PCA(2).fit(scaled), scaled, n_columns=1))[1]] == ["column 1"]


def test_names_in_a_biplot_cover_no_other_and_are_at_their_own_arrows():
    ax = plot.biplot(PCA(2).fit(rows()), rows(), n_columns=6)
    ax.figure.canvas.draw()
    tips, texts = arrows_of(ax)
    tips = ax.transData.transform(tips)
    boxes = [np.array(text.get_window_extent().get_points()) for text in texts]
    frame = np.array(ax.get_window_extent().get_points())
    distance = np.array([[np.linalg.norm(np.maximum(np.maximum(low - tip, tip - high), 0)) for tip in tips] for low, high in boxes])
    for i, box in enumerate(boxes):
        assert np.all(box[0] >= frame[0]) and np.all(box[1] <= frame[1])
        assert np.argmin(distance[i]) == i
        assert not any(np.all((box[0] < other[1]) & (other[0] < box[1])) for other in boxes[:i])


def test_a_biplot_needs_loadings_of_components():
    X = rows()
    with pytest.raises(ValueError, match="columns of mixing_, and this PCA with whiten='zca' has codes that belong to columns"):
        plot.biplot(PCA(2, whiten="zca").fit(X), X)
    with pytest.raises(ValueError, match="columns of mixing_, and this SubspaceClustering has none"):
        plot.biplot(SubspaceClustering(n_clusters=2, n_components=2, algorithm="k-subspaces").fit(X), X)
    for wrong in (0, 1.5, True, "3"):
        with pytest.raises(ValueError, match="n_columns must be a positive integer, got "):
            plot.biplot(PCA(2).fit(X), X, n_columns=wrong)
    with pytest.raises(ValueError, match="components must be two components"):
        plot.biplot(PCA(3).fit(X), X, components="0-2")


def curves_of(figure):
    return np.array([ax.lines[-1].get_ydata() for ax in figure.axes if ax.lines])


@pytest.mark.filterwarnings("ignore")
def test_filters_are_the_vectors_that_rows_are_multiplied_by():
    # Far from 0, in different units.
    X = rows() * [1, 1e-3, 1, 1e3, 1, 1] + 1e4
    sources = np.random.RandomState(0).laplace(size=(300, 6)) @ np.random.RandomState(1).randn(6, 6)
    for model, given in (
        (PCA(2), X),
        (PCA(2, whiten=True), X),
        (PCA(2, whiten="zca"), X),
        (PCA(2, center=False), X),
        (PCA(2, standardize=True), X),
        (PPCA(n_components=2), X),
        (FactorAnalysis(2, rotation="varimax"), X),
        (NeuralPCA(2, "gha", random_state=0), rows()),
        (FastICA(3, random_state=0), sources),
        (RICA(8, max_iter=20, random_state=0), sources),
    ):
        codes = model.fit(given).transform(given)
        drawn = curves_of(plot.filters(model))
        assert drawn.shape == (codes.shape[1], 6)
        assert_allclose((given - model.mean_) @ drawn.T, codes, rtol=1e-6, atol=1e-6 * np.abs(codes).max())
    ica = FastICA(3, random_state=0).fit(sources)
    assert_allclose(curves_of(plot.filters(ica, n_components=2)), ica.components_[:2], rtol=1e-9)
    # Loadings of the model, which are not its encoder.
    ppca = PPCA(n_components=2).fit(X)
    assert_array_equal(curves_of(plot.components(ppca, which="filters")), curves_of(plot.filters(ppca)))
    rfn = RFN(2, max_iter=20, random_state=0).fit(rows())
    assert_array_equal(curves_of(plot.filters(rfn)), rfn.encoder_weight_)
    pictures = plot.filters(PCA(2).fit(rows()), feature_shape=(2, 3))
    assert [ax.get_title() for ax in pictures.axes[:2]] == ["filter 0", "filter 1"] and pictures.axes[1].images
    pandas = pytest.importorskip("pandas")
    named = plot.filters(PCA(2).fit(pandas.DataFrame(rows(), columns=list("abcdef"))))
    assert len(named.axes[0].patches) == 6 and [label.get_text() for label in named.axes[1].get_xticklabels()] == list("abcdef")


@pytest.mark.filterwarnings("ignore")
def test_codes_of_solvers_and_of_several_layers_have_no_filters():
    X = rows()
    for model in (SparseCoder(np.eye(6), alpha=0.1), SparseCoder(np.eye(6), alpha=1e9), RFN(2, e_step="cascade", max_iter=5, random_state=0)):
        with pytest.raises(ValueError, match=r"computed by a solver or by a network of several layers; draw its loadings with plot\.components$"):
            plot.filters(model.fit(X))
    stack = StackedRFN((4, 2), max_iter=10, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"or the filters of a layer, as in model\.layers_\[0\]"):
        plot.filters(stack)
    assert_array_equal(curves_of(plot.filters(stack.layers_[0])), stack.layers_[0].encoder_weight_)
    with pytest.raises(TypeError, match="a figure of filters needs a model with components, and SubspaceClustering has none"):
        plot.filters(SubspaceClustering(2).fit(X))
    with pytest.raises(NotFittedError):
        plot.filters(PCA())


@pytest.mark.filterwarnings("ignore")
def test_convergence_is_the_objective_of_the_report():
    rfn = RFN(2, max_iter=20, random_state=0).fit(rows())
    ax = plot.convergence(rfn)
    assert_array_equal(ax.lines[0].get_ydata(), rfn.report_.objective)
    assert_array_equal(ax.lines[0].get_xdata(), np.arange(1, 21))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("iteration", "objective") and ax.get_title().startswith(rfn.report_.outcome)
    trained = unmix.DenoisingAutoencoder(3, max_epochs=4, random_state=0).fit(rows())
    assert plot.convergence(trained).get_xlabel() == "epoch"
    rica = RICA(3, max_iter=5, random_state=0).fit(rows())
    ax = plot.convergence(rica)
    assert ax.get_title() == f"{rica.report_.outcome}: residual {rica.report_.residual:.2g}, tol {rica.report_.tol:.2g}"
    low, high = np.min(rica.report_.objective), np.max(rica.report_.objective)
    assert ax.get_yscale() == ("log" if low > 0 and high >= 100 * low else "linear")
    stack = StackedRFN((4, 2), max_iter=10, random_state=0).fit(rows())
    ax = plot.convergence(stack)
    for line, layer in zip(ax.lines, stack.layers_, strict=True):
        assert_array_equal(line.get_ydata(), layer.report_.objective)
    assert [text.get_text()[:8] for text in ax.get_legend().get_texts()] == ["layer 0:", "layer 1:"]


@pytest.mark.filterwarnings("ignore")
def test_a_fit_without_an_objective_has_its_residual_drawn_and_a_closed_form_is_refused():
    model = NeuralPCA(2, "gha", random_state=0).fit(rows())
    report = model.report_
    assert report.objective == [] and report.residual is not None
    ax = plot.convergence(model)
    assert ax.get_ylabel() == "residual" and list(ax.lines[0].get_ydata()) == [report.residual]
    assert set(ax.lines[1].get_ydata()) == {report.tol}
    with pytest.raises(ValueError, match=r"the report of this PCA has neither: its outcome is 'completed' after 1 iteration by the solver 'full'; give a model of"):
        plot.convergence(PCA(2, svd_solver="full").fit(rows()))
    with pytest.raises(NotFittedError):
        plot.convergence(PCA())
