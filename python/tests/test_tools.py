"""Metrics, data sets and figures."""

import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles as reference_angles
from scipy.optimize import linear_sum_assignment

import unmix
from unmix import ICA, PCA, SparseCoder, datasets, metrics, plot

matplotlib.use("agg")


def test_patterns_are_recovered():
    data = datasets.patterns(2000, side=12, n_patterns=4, noise=0.05, seed=3)
    model = PCA(4).fit(data.X)
    assert metrics.subspace_angles(model, data.components).max() < 0.02
    assert_allclose(data.components @ data.components.T, np.eye(4), atol=1e-12)
    assert set(data.labels) == {0, 1, 2}
    assert_allclose(data.X, 0.5 + data.codes @ data.components, atol=0.05 * 6)
    assert_array_equal(datasets.patterns(2000, side=12, n_patterns=4, noise=0.05, seed=3).X, data.X)
    with pytest.raises(ValueError, match="n_patterns must be at most 4, the number of pixels, got 5"):
        datasets.patterns(10, side=2, n_patterns=5)


def test_angles_agree_with_scipy():
    rng = np.random.RandomState(0)
    a, b = rng.randn(3, 10), rng.randn(5, 10)
    assert_allclose(metrics.subspace_angles(a, b), reference_angles(a.T, b.T), atol=1e-12)
    with pytest.raises(ValueError, match="components must be of the same features, got 10 and 9 features"):
        metrics.subspace_angles(a, b[:, :9])


def test_distances_of_projectors_are_those_of_the_matrices():
    rng = np.random.RandomState(0)
    projector = lambda rows: np.linalg.pinv(rows) @ rows  # noqa: E731
    for sizes in [(3, 3), (2, 5), (6, 1)]:
        a, b = (rng.randn(k, 8) for k in sizes)
        distance = metrics.projection_distance(a, b)
        assert_allclose(distance, np.linalg.norm(projector(a) - projector(b)))
        sines = np.sin(metrics.subspace_angles(a, b))
        assert_allclose(distance**2, 2 * (sines**2).sum() + abs(sizes[0] - sizes[1]))
        assert_allclose(metrics.projection_distance(a, rng.randn(len(a), len(a)) @ a), 0, atol=1e-12)
    for compare in [metrics.subspace_angles, metrics.projection_distance]:
        with pytest.raises(ValueError, match="9 rows of 8 numbers are not linearly independent"):
            compare(rng.randn(9, 8), a)
        with pytest.raises(ValueError, match="entry 1 of row 0 is not a finite number"):
            compare([[1, np.nan]], [[1, 0]])


def test_sparseness_is_that_of_hoyer_for_arrays_sparse_matrices_and_files(tmp_path):
    draw = np.random.RandomState(0)
    codes = draw.randn(50, 7) * (draw.rand(50, 7) < 0.4)
    codes[:, 0] += 1.0
    codes[0], codes[1], codes[2] = 0.0, [0, 0, -2, 0, 0, 0, 0], [3, -3, 3, 3, -3, 3, 3]
    np.save(tmp_path / "codes.npy", codes)
    found = metrics.sparseness(codes)
    norms = [np.abs(row).sum() / np.linalg.norm(row) for row in codes[1:]]
    assert_allclose(found[1:], (np.sqrt(7) - norms) / (np.sqrt(7) - 1), atol=1e-14)
    assert np.isnan(found[0]) and found[1] == 1.0 and abs(found[2]) < 1e-15 and found.dtype == np.float64
    for factor in (-1e9, 1e-200, 1e200):
        assert_allclose(metrics.sparseness(factor * codes), found, atol=1e-14)
        assert_allclose(metrics.sparseness(scipy.sparse.csr_array(factor * codes)), found, atol=1e-14)
    for other in (scipy.sparse.csr_array(codes), scipy.sparse.csc_matrix(codes), pd.DataFrame(codes), tmp_path / "codes.npy"):
        assert_allclose(metrics.sparseness(other), found, atol=1e-14)
    for wrong in (codes[0], codes[:, :1]):
        with pytest.raises(ValueError, match="codes must be an array of 2 axes with at least 2 columns, got shape"):
            metrics.sparseness(wrong)
    codes[3, 4] = np.nan
    with pytest.raises(ValueError, match="codes must be finite: entry 4 of row 3"):
        metrics.sparseness(codes)
    with pytest.raises(ValueError, match="codes must be finite"):
        metrics.sparseness(scipy.sparse.csr_array(codes))


def test_matched_cosines_are_the_mean_of_the_match():
    rng = np.random.RandomState(0)
    a, b = rng.randn(4, 9), rng.randn(6, 9)
    assert_allclose(metrics.matched_cosine(a, b), metrics.match(a, b).cosine.mean())
    assert_allclose(metrics.matched_cosine(-3 * b[[5, 0, 2]], b), 1)
    with pytest.raises(ValueError, match="6 components cannot be matched one to one with 4"):
        metrics.matched_cosine(b, a)


def test_ppca_rows_have_the_covariance_of_their_parameters():
    data = datasets.ppca(100_000, 8, [9, 4, 4], noise_variance=0.5, seed=2)
    covariance = 0.5 * np.eye(8) + data.components.T @ np.diag([8.5, 3.5, 3.5]) @ data.components
    centred = data.X - data.mean
    assert_allclose(centred.T @ centred / 100_000, covariance, atol=4 * 9 * np.sqrt(2 / 100_000))
    assert_allclose(data.components @ data.components.T, np.eye(3), atol=1e-12)
    model = PCA(3).fit(data.X)
    assert_allclose(model.explained_variance_, [9, 4, 4], rtol=0.03)
    assert_allclose(model.noise_variance_, 0.5, rtol=0.02)
    assert metrics.projection_distance(model, data.components) < 0.02
    # The axes of equal variances are arbitrary, so only the first one is compared.
    assert metrics.subspace_angles(model.components_[:1], data.components[:1]).max() < 0.02
    assert_array_equal(datasets.ppca(10, 8, [9, 4, 4], seed=2).X, datasets.ppca(10, 8, [9, 4, 4], seed=2).X)
    plane = datasets.ppca(50, 6, [2, 1], noise_variance=0)
    assert PCA().fit(plane.X).report_.rank == 2
    assert_allclose(plane.X, plane.mean + plane.latent * np.sqrt([2, 1]) @ plane.components, atol=1e-12)
    for wrong, message in [
        (dict(variances=[1] * 30), "there are 20 dimensions"),
        (dict(variances=[0.1]), "at least noise_variance, 0.25, got 0.1"),
        (dict(noise_variance=-1), "noise_variance must be finite and non-negative, got -1"),
        (dict(n_samples=0), "n_samples must be an integer of at least 1, got 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            datasets.ppca(**wrong)


def test_models_are_matched_by_decoders_or_by_codes():
    draw = np.random.RandomState(0)
    # Six columns of rank three, nearly: encoders are arbitrary in the other directions.
    sources = draw.laplace(size=(4000, 3))
    X = sources @ draw.randn(3, 6) + 1e-3 * draw.randn(4000, 6)
    a, b = ICA(3, random_state=0).fit(X[:2000]), ICA(5, random_state=1).fit(X[2000:])
    by_maps, by_codes = metrics.match(a, b), metrics.match(a, b, X)
    assert_array_equal(by_maps.order, by_codes.order)
    assert by_maps.cosine.min() > 0.99 and by_codes.cosine.min() > 0.99
    assert metrics.match(a.components_, b.components_).cosine.min() < 0.9
    assert_allclose(by_codes.cosine, metrics.matched_correlation(a.transform(X), b.transform(X)).cosine)


def test_the_negative_of_a_unit_with_non_negative_codes_is_another_unit():
    draw = np.random.RandomState(0)
    one, other = np.linalg.qr(draw.randn(6, 2))[0].T
    X = draw.laplace(size=(300, 2)) @ [one, other]

    def coder(*atoms):
        return SparseCoder(np.array(atoms), alpha=0.1, positive_code=True).fit(X)

    a, b = coder(one, -one, other), coder(-one, other, one)
    for found in (metrics.match(a, b), metrics.match(a, b, X)):
        assert found.order.tolist() == [2, 0, 1] and found.sign.tolist() == [1, 1, 1]
        assert_allclose(found.cosine, 1)
    opposite = coder(-one, -other)
    assert metrics.match(coder(one, other), opposite).cosine.max() < 1e-12 > metrics.matched_cosine(coder(one, other), opposite)
    assert metrics.match(coder(one, other), opposite, X).cosine.max() < 0.5
    # Of axes the sign is arbitrary.
    assert_allclose(metrics.match(coder(one, other).components_, opposite.components_).cosine, 1)


def test_matching_agrees_with_scipy():
    rng = np.random.RandomState(0)
    a, b = rng.randn(6, 8), rng.randn(9, 8)
    cosines = (a / np.linalg.norm(a, axis=1)[:, None]) @ (b / np.linalg.norm(b, axis=1)[:, None]).T
    _, order = linear_sum_assignment(-np.abs(cosines))
    found = metrics.match(a, b)
    assert_array_equal(found.order, order)
    assert_allclose(found.sign * found.cosine, cosines[np.arange(6), order])
    shuffled = np.array([[-1], [1], [-1]]) * PCA(3).fit(rng.randn(50, 4)).components_[[2, 0, 1]]
    assert_allclose(metrics.match(shuffled, shuffled[::-1]).cosine, 1)
    with pytest.raises(ValueError, match="9 components cannot be matched one to one with 6"):
        metrics.match(b, a)


def test_figures_show_what_the_model_has():
    data = datasets.patterns(300, side=10, n_patterns=3)
    model = PCA(7).fit(data.X)
    heights = [bar.get_height() for bar in plot.scree(model).patches]
    assert_allclose(heights, 100 * model.explained_variance_ratio_)
    pictures = plot.components(model, feature_shape=(10, 10))
    drawn = [ax.images[0].get_array() for ax in pictures.axes if ax.images]
    assert len(drawn) == 7
    assert_array_equal(drawn[2], model.components_[2].reshape(10, 10))
    curves = plot.components(model, n_components=2)
    assert_array_equal(curves.axes[1].lines[1].get_ydata(), model.components_[1])
    with pytest.raises(ValueError, match="holds 81 numbers, but the model has 100 features"):
        plot.components(model, feature_shape=(9, 9))


def test_points_are_the_codes_and_colours_the_labels():
    data = datasets.patterns(300, side=10, n_patterns=3)
    model = PCA(4).fit(data.X)
    codes = model.transform(data.X)
    ax = plot.scatter(model, data.X, components=(2, 0))
    assert_array_equal(ax.collections[0].get_offsets(), codes[:, [2, 0]])
    assert ax.get_xlabel() == f"component 2 ({100 * model.explained_variance_ratio_[2]:.3g} % of the variance)"
    labelled = plot.scatter(model, data.X, color=data.labels)
    assert [text.get_text() for text in labelled.get_legend().get_texts()] == ["0", "1", "2"]
    for label, points in enumerate(labelled.collections):
        assert_array_equal(points.get_offsets(), codes[data.labels == label][:, :2])
    numbers = plot.scatter(model, data.X, color=data.X[:, 0])
    assert_array_equal(numbers.collections[0].get_array(), data.X[:, 0])
    many = plot.scatter(model, data.X, color=[f"group {i % 13}" for i in range(300)], ax=numbers.figure.add_subplot())
    assert len(many.get_legend().get_texts()) == 11 and many.figure is numbers.figure
    whitened = plot.scatter(PCA(2, whiten="zca").fit(data.X), data.X, components=(98, 99))
    assert (whitened.get_xlabel(), whitened.get_ylabel()) == ("component 98", "component 99")
    for wrong, message in [
        (dict(components=(0, 4)), "the model has 4 components"),
        (dict(components="0-3"), "must be two or three components, one for each axis, got '0-3'"),
        (dict(components=(0, 1, 2), ax=many), "three components need axes in three dimensions"),
        (dict(components=(1, 1)), "component 1 is given twice; give each component once"),
        (dict(color=[1, 2]), "there are 300 rows"),
    ]:
        with pytest.raises(ValueError, match=message):
            plot.scatter(model, data.X, **wrong)


def test_three_components_are_drawn_in_three_dimensions():
    data = datasets.patterns(300, side=10, n_patterns=3)
    model = PCA(4).fit(data.X)
    codes = model.transform(data.X)
    ax = plot.scatter(model, data.X, components=(2, 0, 1), color=data.labels)
    assert ax.name == "3d" and ax.get_zlabel().startswith("component 1 (")
    for label, points in enumerate(ax.collections):
        assert_array_equal(np.transpose(points._offsets3d), codes[data.labels == label][:, [2, 0, 1]])
    given = ax.figure.add_subplot(projection="3d")
    assert plot.scatter(model, data.X, components="0-2", color=data.X[:, 0], ax=given) is given


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_column_of_a_frame_is_the_colour_of_its_rows(kind):
    frames = pytest.importorskip(kind)
    columns = dict(zip("abc", np.random.RandomState(0).randn(3, 60)))
    model = PCA(2).fit(frames.DataFrame(columns))
    codes = model.transform(frames.DataFrame(columns))
    # The model was not fitted on the labels, which come first.
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        labelled = plot.scatter(model, frames.DataFrame({"kind": ["x", "y", "z"] * 20, **columns}), color="kind")
        numbers = plot.scatter(model, frames.DataFrame(columns), color="b")
    assert [text.get_text() for text in labelled.get_legend().get_texts()] == ["x", "y", "z"]
    assert_array_equal(labelled.collections[1].get_offsets(), codes[1::3])
    assert_array_equal(numbers.collections[0].get_array(), columns["b"])
    assert numbers.figure.axes[1].get_ylabel() == "b"
    with pytest.raises(ValueError, match="the name of a column of X, got 'kind'; its columns are a, b, c"):
        plot.scatter(model, frames.DataFrame(columns), color="kind")
    with pytest.raises(ValueError, match="got 'kind', and X is not a data frame"):
        plot.scatter(model, codes, color="kind")


@pytest.mark.parametrize(
    ("given", "indices"),
    [
        ((2, 0), [2, 0]),
        ((-1, "pca1"), [3, 1]),
        ("1-2", [1, 2]),
        (["2-3"], [2, 3]),
        (["pca3", "pca0"], [3, 0]),
        (np.array([True, False, False, True]), [0, 3]),
        ([False, True, True, False], [1, 2]),
        (np.array([3, 1]), [3, 1]),
    ],
)
def test_components_of_a_scatter_are_chosen_by_number_range_name_or_mask(given, indices):
    data = datasets.patterns(100, side=10, n_patterns=3)
    model = PCA(4).fit(data.X)
    ax = plot.scatter(model, data.X, components=given)
    assert_array_equal(ax.collections[0].get_offsets(), model.transform(data.X)[:, indices])
    assert ax.get_xlabel().startswith(f"component {indices[0]} ")
    courses = plot.sources(model, data.X, components=given)
    assert [text.get_text() for text in courses.get_yticklabels()] == [str(i) for i in indices]


def test_few_columns_with_names_are_bars_and_colours_are_pictures():
    rng = np.random.RandomState(0)
    model = PCA(2).fit(pd.DataFrame(rng.randn(30, 4), columns=["height", "width", "depth", "weight"]))
    figure = plot.components(model)
    assert_allclose([bar.get_height() for bar in figure.axes[1].patches], model.components_[1])
    assert [text.get_text() for text in figure.axes[1].get_xticklabels()] == list(model.feature_names_in_)
    model = PCA(2).fit(rng.rand(30, 48))
    picture = plot.components(model, feature_shape=(4, 4, 3)).axes[0].images[0].get_array()
    row = model.components_[0].reshape(4, 4, 3)
    assert_allclose(picture, 0.5 + 0.5 * row / np.abs(row).max())


@pytest.mark.parametrize("data", [
    datasets.independent(300, ["laplace", "uniform", "gaussian"], [4, 4, 1], seed=1),
    datasets.signals(), datasets.signals("two-equal", seed=3), datasets.points("laplace"), datasets.points(n_samples=70, seed=1),
], ids=["independent", "signals", "signals-3", "points", "points-1"])
def test_mixtures_are_products_of_sources_and_mixing(data):
    assert_allclose(data.X, data.sources @ data.mixing.T, atol=1e-12)
    assert_allclose(data.mixing.T @ data.mixing, np.eye(data.mixing.shape[1]), atol=1e-12)


def test_mixtures_have_the_documented_variances():
    assert_allclose(datasets.independent(50, ["uniform"] * 3, [9, 1, 0.1]).sources.var(0), [9, 1, 0.1])
    assert_allclose(datasets.signals().sources.var(0), [17.144022, 9.030038, 0.372126], rtol=1e-5)
    assert_allclose(datasets.signals("two-equal").sources.var(0), [17.14402, 1, 1], rtol=1e-5)
    oblique = datasets.signals("non-orthogonal").mixing
    assert_allclose((oblique**2).sum(1), 1)
    assert np.linalg.cond(oblique) > 10
    # The same random numbers as numpy's legacy generator with seed 0.
    uniform, laplace = np.random.RandomState(0), np.random.RandomState(0)
    assert_array_equal(datasets.points("uniform").sources, uniform.uniform(-np.sqrt(2), np.sqrt(2), size=(1000, 2)))
    assert_allclose(datasets.points("laplace").sources, laplace.laplace(0, 1 / np.sqrt(2), size=(1000, 2)), rtol=1e-12)
    pictures = datasets.leaves(3, side=16, seed=2)
    assert pictures.shape == (3, 16, 16, 3) and pictures.min() >= 0 and pictures.max() <= 1
    for wrong, message in [
        (lambda: datasets.independent(10, ["laplase"]), "did you mean 'laplace'"),
        (lambda: datasets.independent(10, ["laplace"], [1, 2]), "variances=2 of them is not possible"),
        (lambda: datasets.signals("equal"), "two-equal"),
        (lambda: datasets.points("gaussian"), "give 'uniform' or 'laplace'"),
        (lambda: datasets.points(n_samples=500), "n_samples must be 1000 without a seed"),
        (lambda: datasets.signals(seed=-1), "seed must be an integer of at least 0, got -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            wrong()


def test_sources_are_drawn_below_each_other_in_seconds():
    X = np.random.RandomState(0).laplace(size=(300, 4))
    model = PCA(3).fit(X)
    ax = plot.sources(model, X, rate=100, components=[2, 0])
    lines = [line.get_ydata() for line in ax.get_lines()]
    codes = model.transform(X)
    assert_allclose(np.corrcoef(lines[0], codes[:, 2])[0, 1], 1)
    assert lines[0].min() > lines[1].max() - 0.9 and lines[0].mean() > lines[1].mean() + 0.5
    assert_allclose(ax.get_lines()[0].get_xdata()[-1], 2.99)
    assert ax.get_xlabel() == "seconds" and plot.sources(model, X).get_xlabel() == "row"
    with pytest.raises(ValueError, match="the model has 3 components"):
        plot.sources(model, X, components=[3])
    with pytest.raises(ValueError, match="rate must be a positive number of rows per second, got 0"):
        plot.sources(model, X, rate=0)


def test_a_topography_interpolates_the_values_at_its_sensors():
    angle = np.linspace(0, 2 * np.pi, 9)[:-1]
    places = np.r_[np.c_[np.sin(angle), np.cos(angle)], [[0, 0]]]
    ax = plot.topography(places[:, 1], places)  # larger towards the front, where the nose is
    drawn = ax.collections[0]
    assert drawn.zmax > 0.99 and drawn.zmin < -0.99
    head = ax.get_lines()[-1].get_ydata()
    assert head.max() > 1.1, "the nose is up"
    with pytest.raises(ValueError, match="positions two coordinates for each of at least 3 sensors"):
        plot.topography([1, 2, 3], places)
    with pytest.raises(TypeError, match=r"give a column of its mixing_, as in model.mixing_\[:, 0\]"):
        plot.topography(PCA(2).fit(np.eye(4)), places)
    with pytest.raises(ValueError, match=r"values must be finite, and \[2\] is not"):
        plot.topography([1, 2, np.nan], places[:3])
    with pytest.raises(ValueError, match="values must be numbers: could not convert"):
        plot.topography(["Fz", 2, 3], places[:3])
    with pytest.raises(ValueError, match="two sensors have the same position"):
        plot.topography([1, 2, 3, 4], [[0, 0], [0, 0], [0, 1], [1, 0]])


def test_digit_variations_keep_the_digits_and_label_the_shapes(tmp_path):
    draw = np.random.RandomState(0)
    digits = draw.randint(0, 256, (30, 28, 28)) * (draw.rand(30, 28, 28) < 0.2)
    photos = (255 * datasets.leaves(3, 48, seed=1)).astype(np.uint8)
    basic = datasets.digit_variations("basic", digits, seed=4)
    assert_array_equal(np.sort(basic.rows), np.arange(30))
    assert_array_equal(basic.X, digits.reshape(30, 784)[basic.rows])
    for name in ("bg-rand", "bg-img"):
        made = datasets.digit_variations(name, digits, photos, seed=4)
        assert_array_equal(made.rows, basic.rows)
        assert (made.X >= basic.X).all() and made.X.max() <= 255 and "labels" not in made
    np.save(tmp_path / "digits.npy", digits.reshape(30, 784))
    assert_array_equal(datasets.digit_variations("bg-rand", tmp_path / "digits.npy", seed=4).X, datasets.digit_variations("bg-rand", digits, seed=4).X)
    for name in ("rect", "rect-img", "convex"):
        made = datasets.digit_variations(name, 200, photos, seed=2)
        assert made.X.shape == (200, 784) and set(made.labels) == {0, 1} and "rows" not in made
        assert_array_equal(made.X[:10], datasets.digit_variations(name, digits[:10], list(photos), seed=2).X)
        assert not np.array_equal(made.X, datasets.digit_variations(name, 200, photos, seed=3).X)
    rectangles = datasets.digit_variations("rect", 200, seed=2)
    tall = [np.ptp(np.nonzero(x.reshape(28, 28))[0]) > np.ptp(np.nonzero(x.reshape(28, 28))[1]) for x in rectangles.X]
    assert_array_equal(rectangles.labels, tall)
    grey = [photo @ [0.299, 0.587, 0.114] for photo in photos]
    assert_allclose(datasets.digit_variations("rect-img", 5, grey).X, datasets.digit_variations("rect-img", 5, photos).X)


@pytest.mark.parametrize(
    "given, message",
    [
        (("rects", 5), "did you mean 'rect'"),
        (("basic", 5), "needs pictures of digits"),
        (("convex", 0), "digits must be an integer of at least 1"),
        (("basic", np.ones((3, 64))), "784"),
        (("bg-rand", -np.ones((3, 784))), "from 0 to 255"),
        (("basic", np.ones(784)), r"got an array of shape \(784,\)"),
        (("bg-img", np.ones((3, 784))), "needs photographs"),
        (("rect-img", 3, [np.zeros((20, 40))]), "28 x 28"),
        (("rect-img", 3, [np.zeros((40, 40))]), "standard deviation"),
        (("rect-img", 3, np.zeros(784)), "photos must be arrays of height and width"),
        (("rect", 3, None, -1), "seed"),
    ],
)
def test_bad_digit_variations_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        datasets.digit_variations(*given)


@pytest.mark.parametrize(
    "make",
    [
        lambda d: d.patterns(10**12, 100, 3),
        lambda d: d.low_rank_plus_noise(10**12, 1000, 3),
        lambda d: d.leaves(10**10, 1000),
        lambda d: d.ppca(10**12, 1000, [3.0]),
        lambda d: d.independent(10**12, ["laplace"] * 100),
        lambda d: d.points("uniform", 10**15, seed=0),
        lambda d: d.bernoulli_gaussian(10**12, 1000),
    ],
)
def test_rows_that_do_not_fit_in_memory_are_refused_with_their_size(make):
    with pytest.raises(MemoryError, match="the data set would need .*choose fewer rows"):
        make(datasets)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_components_that_are_not_finite_are_not_compared(value):
    wrong, right = np.eye(3, 7), np.eye(3, 7)
    wrong[1, 2] = value
    for measure in (metrics.match, metrics.matched_cosine, metrics.subspace_angles):
        with pytest.raises(ValueError, match="entry 2 of row 1 is not a finite number"):
            measure(wrong, right)
    with pytest.raises(ValueError, match="entry 2 of row 1 is not a finite number"):
        metrics.matched_correlation(wrong, right)


@pytest.mark.parametrize("size", [np.nan, np.inf])
def test_data_sets_of_numbers_that_are_not_finite_are_refused(size):
    with pytest.raises(ValueError, match="signal must be finite"):
        datasets.low_rank_plus_noise(5, 4, 2, signal=size)
    with pytest.raises(ValueError, match="noise must be finite"):
        datasets.patterns(5, 4, 2, noise=size)


def test_positions_that_are_not_finite_are_refused():
    positions = np.zeros((5, 2))
    positions[3, 1] = np.nan
    X = np.random.default_rng(0).normal(size=(30, 5))
    with pytest.raises(ValueError, match="that of column 3 is"):
        unmix.report(PCA(2).fit(X), positions=positions)


def test_figures_and_probes_take_files(tmp_path):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(60, 5))
    X[draw.random(X.shape) < 0.1] = np.nan
    np.save(tmp_path / "rows.npy", X)
    full = np.abs(draw.normal(size=(60, 4)))
    np.save(tmp_path / "codes.npy", full)
    labels = draw.integers(2, size=60)
    for rows in (tmp_path / "rows.npy", unmix.open(tmp_path / "rows.npy")):
        plot.gaps(rows)
        plot.held_out(unmix.PPCA(2).fit(X), rows)
    want = metrics.sparse_probing(full, labels, k=1)
    for codes in (tmp_path / "codes.npy", unmix.open(tmp_path / "codes.npy")):
        assert_array_equal(metrics.sparse_probing(codes, labels, k=1).codes, want.codes)


def test_measures_of_tables_take_files(tmp_path):
    draw = np.random.RandomState(0)
    X, Z, A = draw.laplace(size=(60, 5)), draw.laplace(size=(60, 4)), draw.laplace(size=(4, 5))
    for name, table in {"x": X, "z": Z, "a": A}.items():
        np.save(tmp_path / f"{name}.npy", table)
    for read in (str, unmix.open):
        x, z, a = (read(tmp_path / f"{name}.npy") for name in "xza")
        assert_array_equal(metrics.lasso_gap(x, z, a, alpha=0.1), metrics.lasso_gap(X, Z, A, alpha=0.1))
        assert_array_equal(metrics.matched_correlation(z, x).cosine, metrics.matched_correlation(Z, X).cosine)
        assert_array_equal(metrics.mutual_information(x), metrics.mutual_information(X))
        assert_array_equal(unmix.compat.picard(x, random_state=0)[2], unmix.compat.picard(X, random_state=0)[2])
