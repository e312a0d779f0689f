"""Tables with column names: pandas, polars, and the interchange protocol."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context

import unmix
from unmix import PCA

NUMBERS = np.random.RandomState(0).randn(50, 4) * [4, 3, 2, 1]
NAMES = ["height", "width", "depth", "weight"]
PANDAS = pd.DataFrame(NUMBERS, columns=NAMES, index=[f"row {i}" for i in range(50)])
POLARS = pl.DataFrame(NUMBERS, schema=NAMES)
FRAMES = pytest.mark.parametrize("frame", [PANDAS, POLARS], ids=["pandas", "polars"])


@FRAMES
def test_names_are_kept(frame, tmp_path):
    model = PCA(2).fit(frame)
    assert_array_equal(model.feature_names_in_, NAMES)
    assert_array_equal(model.get_feature_names_out(), ["pca0", "pca1"])
    assert_array_equal(model.components_, PCA(2).fit(NUMBERS).components_)
    assert model._model.feature_names == NAMES
    assert not hasattr(model.fit(NUMBERS), "feature_names_in_")


def test_set_output_keeps_the_index():
    codes = PCA(2).set_output(transform="pandas").fit(PANDAS).transform(PANDAS)
    assert list(codes.columns) == ["pca0", "pca1"] and codes.index.equals(PANDAS.index)
    assert_array_equal(codes.to_numpy(), PCA(2).fit_transform(NUMBERS))
    assert PCA(2).set_output(transform="pandas").fit_transform(PANDAS).index.equals(PANDAS.index)


def test_set_output_polars():
    codes = PCA(2).set_output(transform="polars").fit_transform(POLARS)
    assert isinstance(codes, pl.DataFrame) and codes.columns == ["pca0", "pca1"]
    assert_array_equal(codes.to_numpy(), PCA(2).fit_transform(NUMBERS))


@FRAMES
def test_other_columns_are_ignored_with_one_warning(frame):
    model = PCA(2).fit(frame)
    codes = model.transform(frame)
    extra = np.full(50, 1e6)
    more = frame.assign(age=extra) if isinstance(frame, pd.DataFrame) else frame.with_columns(age=pl.Series(extra))
    with pytest.warns(UserWarning, match="columns that the model was not fitted on are ignored: age") as caught:
        assert_array_equal(model.transform(more), codes)
    assert len(caught) == 1 and caught[0].filename == __file__


@FRAMES
def test_columns_in_another_order_or_missing_are_errors_as_in_scikit_learn(frame):
    model = PCA(2).fit(frame)
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        model.transform(frame[NAMES[::-1]])
    with pytest.raises(ValueError, match="yet now missing:\n- weight"):
        model.transform(frame[NAMES[:3]])


@FRAMES
def test_errors_name_the_column(frame):
    broken = NUMBERS.copy()
    broken[6, 2] = np.nan
    broken = pd.DataFrame(broken, columns=NAMES) if isinstance(frame, pd.DataFrame) else pl.DataFrame(broken, schema=NAMES)
    for act in [PCA(2).fit, PCA(2).fit(frame).transform]:
        with pytest.raises(ValueError, match=r"Input X contains NaN\.\n.*row 6, column 2 \('depth'\) is NaN"):
            act(broken)


def test_nullable_columns_and_mixed_types():
    mixed = PANDAS.assign(height=(PANDAS.height * 10).round().astype("Int64"), width=PANDAS.width.astype("float32"))
    model = PCA(2).fit(mixed)
    assert model.components_.dtype == np.float64
    mixed.iloc[3, 0] = pd.NA
    with pytest.raises(ValueError, match=r"row 3, column 0 \('height'\) is NaN"):
        PCA(2).fit(mixed)
    with pytest.raises(ValueError, match="could not convert string to float"):
        PCA(2).fit(PANDAS.assign(kind="a"))


@FRAMES
def test_columns_of_text_are_named_with_what_to_do(frame):
    text = ["a"] * len(NUMBERS)
    pandas = isinstance(frame, pd.DataFrame)
    mixed = frame.assign(kind=text) if pandas else frame.with_columns(pl.Series("kind", text))
    drop = r"X.drop\(columns=\[...\]\), or make names of rows the index, as X.set_index\('kind'\)" if pandas else r"X.drop\(\[...\]\)$"
    for act in [PCA(2).fit, PCA(2).partial_fit, unmix.select_components]:
        with pytest.raises(ValueError, match=rf"(?s)could not convert.*\['kind'\] hold text; leave them out, as {drop}"):
            act(mixed)
    if pandas:
        assert PCA(2).fit(mixed.set_index("kind")).n_features_in_ == frame.shape[1]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_single_precision_of_frames_is_kept(kind):
    """Unless a column is of double precision."""

    def table(columns):
        if kind == "pyarrow":
            return pytest.importorskip("pyarrow").table(columns)
        return {"pandas": pd.DataFrame, "polars": pl.DataFrame}[kind](columns)

    single = NUMBERS.astype(np.float32)
    frame = table({name: single[:, j] for j, name in enumerate(NAMES)})
    model, plain = PCA(2).fit(frame), PCA(2).fit(single)
    assert model.components_.dtype == model.transform(frame).dtype == np.float32
    assert_array_equal(model.feature_names_in_, NAMES)
    assert_array_equal(model.components_, plain.components_)
    assert_array_equal(model.transform(frame), plain.transform(single))
    mixed = table({name: single[:, j].astype(np.float64 if j == 1 else np.float32) for j, name in enumerate(NAMES)})
    assert PCA(2).fit(mixed).components_.dtype == np.float64


class Interchange:
    """A table with the interchange protocol only."""

    def __init__(self, frame):
        self.frame = frame

    def __dataframe__(self, *args, **kwargs):
        return self.frame.__dataframe__(*args, **kwargs)


class Arrays:
    def __array__(self, dtype=None, copy=None):
        return np.array(NUMBERS, dtype)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*interchange.*")
def test_array_and_interchange_protocols():
    expected = PCA(2).fit(NUMBERS).components_
    assert_array_equal(PCA(2).fit(Arrays()).components_, expected)
    assert_array_equal(PCA(2).fit(NUMBERS.tolist()).components_, expected)
    model = PCA(2).fit(Interchange(PANDAS.reset_index(drop=True)))
    assert_array_equal(model.components_, expected)
    assert_array_equal(model.feature_names_in_, NAMES)


def test_names_that_come_twice_are_numbered_as_in_a_file():
    twice = PANDAS.set_axis(["height", "width", "height", "weight"], axis=1)
    with pytest.warns(UserWarning, match="the column name 'height' occurs more than once; duplicates are renamed, as 'height.1'"):
        model = PCA(2).fit(twice)
    assert list(model.feature_names_in_) == ["height", "width", "height.1", "weight"]
    with pytest.warns(UserWarning, match="occurs more than once"):
        assert_array_equal(model.transform(twice), PCA(2).fit_transform(NUMBERS))


def test_an_average_of_mne_is_refused_with_what_to_give_instead():
    evoked = type("EvokedArray", (), {"__module__": "mne.evoked"})()
    with pytest.raises(TypeError, match=r"X is an MNE average, .* give evoked.get_data\(\).T"):
        PCA(2).fit(evoked)


def test_rows_that_are_the_columns_of_the_fit_get_a_hint_to_transpose():
    model = PCA(2).fit(NUMBERS)
    with pytest.raises(ValueError, match="X has 50 features, but PCA is expecting 4 features as input.*give X.T"):
        model.transform(NUMBERS.T)


@FRAMES
def test_a_start_with_its_columns_in_another_order_is_refused(frame, tmp_path):
    """Its parameters would be those of other columns; rows without names are taken as they are."""
    first = PCA(2).fit(frame)
    other = frame[["width", "height", "depth", "weight"]]
    first.save(tmp_path / "first.safetensors")
    for init in (first, tmp_path / "first.safetensors"):
        with pytest.raises(ValueError, match="column 0 is 'height' in the model and 'width' in the rows; give the columns in the order of the model") as refused:
            PCA(2, init=init).fit(other)
        assert (refused.value.column, refused.value.column_name) == (0, "width")
    for rows in (frame, NUMBERS):
        PCA(2, init=first).fit(rows)
    path = tmp_path / "other.csv"
    pd.DataFrame(np.asarray(other), columns=list(other.columns)).to_csv(path, index=False)
    with pytest.raises(ValueError, match="in another order"):
        unmix.ICA(2, init=first).fit(path)
    unmix.ICA(2, init=first).fit(unmix.open(path, columns=NAMES))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_sparse_codes_without_sparse_output_become_frames(kind):
    draw = np.random.default_rng(0)
    X, atoms = draw.normal(size=(60, 5)), draw.normal(size=(7, 5))
    for model in (unmix.DictionaryLearning(7, alpha=0.3, random_state=0), unmix.LISTA(atoms, alpha=0.3, max_epochs=1, random_state=0)):
        plain = model.fit(X).transform(X)
        framed = model.set_output(transform=kind).transform(X)
        assert type(plain) is np.ndarray and framed.shape == plain.shape and (framed.to_numpy() == plain).all()
        assert list(framed.columns) == list(model.get_feature_names_out())


@pytest.mark.parametrize("method", [unmix.PPCA, unmix.FactorAnalysis, unmix.LinearEigenGAN, unmix.MatrixCompletion])
@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.filterwarnings("ignore:.*parameters are treated as known:UserWarning")
def test_imputed_frames_need_no_standard_errors(method, kind):
    """The empty table in place of standard errors was put into a frame with the index of the rows, which was an error."""
    gaps = np.where(np.random.RandomState(1).rand(50, 4) < 0.1, np.nan, NUMBERS)
    frame = pd.DataFrame(gaps, columns=NAMES, index=PANDAS.index) if kind == "pandas" else pl.DataFrame(gaps, schema=NAMES)
    kinds = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
    model = method(n_components=1, random_state=0).fit(frame)
    expected = model.impute(gaps, return_std=True, n_draws=2, bootstrap=2)

    def agrees(found, numbers):
        assert isinstance(found, kinds[kind]) and list(found.columns) == NAMES
        assert kind == "polars" or found.index.equals(PANDAS.index)
        assert_array_equal(found.to_numpy(), numbers)

    def check(impute):
        agrees(impute(frame), expected[0])
        filled, draws = impute(frame, n_draws=2, bootstrap=2)
        agrees(filled, expected[0])
        for table, numbers in zip(draws, expected[2], strict=True):
            agrees(table, numbers)
        filled, std = impute(frame, return_std=True, bootstrap=2)
        agrees(filled, expected[0])
        agrees(std, expected[1])
        filled, std, draws = impute(frame, return_std=True, n_draws=2, bootstrap=2)
        agrees(filled, expected[0])
        agrees(std, expected[1])
        assert len(draws) == 2

    with config_context(transform_output=kind):
        check(model.impute)
    check(model.set_output(transform=kind).impute)
