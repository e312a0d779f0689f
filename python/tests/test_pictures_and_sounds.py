"""Pictures and sounds are read as other packages read them."""

import copy
import functools
import pickle
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import wavfile
from sklearn.feature_extraction.image import reconstruct_from_patches_2d
from test_readers import SEEDS, assert_same, random, without_run

import unmix
from unmix import ICA, PCA, PPCA, RFN, DictionaryLearning, SparseAutoencoder, SparseCoder, SubspaceClustering

UNMIX = shutil.which("unmix", path=str(Path(sys.executable).parent)) or "unmix"


@SEEDS
@pytest.mark.parametrize("mode, extension", [("L", "png"), ("RGB", "png"), ("L", "bmp"), ("RGB", "tiff"), ("RGB", "ppm"), ("I;16", "png")])
def test_images_are_read_without_loss(tmp_path, mode, extension, seed):
    rng = np.random.RandomState(seed)
    shape = tuple(rng.randint(2, 30, size=2)) + ((3,) if mode == "RGB" else ())
    largest = 65535 if mode == "I;16" else 255
    for i in range(3):
        pixels = rng.randint(0, largest + 1, size=shape).astype(np.uint16 if mode == "I;16" else np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{i}.{extension}")
    theirs = np.stack([np.asarray(Image.open(path)) for path in sorted(tmp_path.iterdir())]).astype(np.float64)
    theirs = theirs.reshape(3, -1) / largest
    assert_same(unmix.read(tmp_path), theirs)
    assert_same(unmix.read(sorted(tmp_path.iterdir())[1]), theirs[1:2])
    assert_same(unmix.read(str(tmp_path / f"[02].{extension}")), theirs[[0, 2]])
    if mode == "RGB":
        colours = theirs.reshape(3, -1, 3)
        grey = 0.299 * colours[..., 0] + 0.587 * colours[..., 1] + 0.114 * colours[..., 2]
        np.testing.assert_allclose(unmix.read(tmp_path, grey=True), grey, rtol=0, atol=1e-15)
    if mode == "L":
        assert_same(unmix.read(tmp_path, rgb=True), np.repeat(theirs, 3, axis=1))


@SEEDS
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_jpeg_agrees_within_the_tolerance_of_decoders(tmp_path, mode, seed):
    rng = np.random.RandomState(seed)
    height, width = rng.randint(20, 60, size=2)
    smooth = np.add.outer(np.arange(height), np.arange(width))[..., None] * rng.rand(3) + 30 * rng.rand(3)
    pixels = np.clip(smooth, 0, 255).astype(np.uint8)
    image = Image.fromarray(pixels[..., 0] if mode == "L" else pixels)
    image.save(tmp_path / "x.jpg", quality=90, subsampling=0)
    theirs = np.asarray(Image.open(tmp_path / "x.jpg")) / 255
    ours = unmix.read(tmp_path / "x.jpg")
    assert ours.shape == (1, theirs.size)
    # The JPEG standard lets decoders round differently: by 1 of 255 in grey, and by up to 4 in colour.
    assert np.abs(ours.ravel() - theirs.ravel()).max() <= (1.01 if mode == "L" else 4.01) / 255


@SEEDS
def test_patches_are_windows_of_the_picture(tmp_path, seed):
    rng = np.random.RandomState(seed)
    pixels = rng.randint(0, 256, size=(13, 17)).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "x.png")
    windows = np.lib.stride_tricks.sliding_window_view(pixels / 255, (4, 5))
    for stride in [1, 2, 3]:
        expected = windows[::stride, ::stride].reshape(-1, 20)
        assert_same(unmix.read(tmp_path / "x.png", patches=(4, 5), stride=stride), expected)
    padded = np.lib.stride_tricks.sliding_window_view(np.pad(pixels / 255, 2, mode="symmetric"), (4, 5))
    assert_same(unmix.read(tmp_path / "x.png", patches="4x5", stride=1, padding=2), padded.reshape(-1, 20))
    some = unmix.read(tmp_path / "x.png", patches=(4, 5), number=30, patch_seed=seed)
    every = {row.tobytes() for row in windows.reshape(-1, 20)}
    assert some.shape == (30, 20) and {row.tobytes() for row in some} <= every
    clean = unmix.read(tmp_path / "x.png", patches=(4, 5), normalise=True)
    np.testing.assert_allclose(clean.mean(axis=1), 0, atol=1e-14)
    np.testing.assert_allclose(clean.std(axis=1), 1, rtol=1e-12)


@SEEDS
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("dtype, zero, one", [("u1", 128, 128), ("i2", 0, 2**15), ("i4", 0, 2**31), ("f4", 0, 1)])
def test_wav(tmp_path, dtype, zero, one, channels, seed):
    rng = np.random.RandomState(seed)
    x = random(rng, dtype, (50, channels)) if dtype != "f4" else rng.uniform(-1, 1, (50, channels)).astype("f4")
    wavfile.write(tmp_path / "x.wav", 8000, x if channels > 1 else x.ravel())
    theirs = wavfile.read(tmp_path / "x.wav")[1].reshape(50, channels)
    theirs = theirs if dtype == "f4" else (theirs.astype(np.float64) - zero) / one
    assert_same(unmix.read(tmp_path / "x.wav"), theirs)
    assert_same(unmix.read([tmp_path / "x.wav", tmp_path / "x.wav"]), np.hstack([theirs, theirs]))


def test_pictures_and_an_array_of_their_pixels_give_the_same_model(tmp_path):
    pixels = np.random.RandomState(0).randint(0, 256, size=(12, 6, 5)).astype(np.uint8)
    (tmp_path / "pictures").mkdir()
    for i, picture in enumerate(pixels):
        Image.fromarray(picture).save(tmp_path / "pictures" / f"{i:02}.png")
    np.save(tmp_path / "x.npy", pixels / 255)
    models = [PCA(3, random_state=0).fit(tmp_path / name) for name in ["pictures", "x.npy"]]
    assert without_run(models[0]) == without_run(models[1])


@SEEDS
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_patches_are_reassembled_as_on_the_command_line_and_by_scikit_learn(tmp_path, mode, seed):
    rng = np.random.RandomState(seed)
    for i, size in enumerate([(13, 17), (11, 20)]):
        Image.fromarray(rng.randint(0, 256, size=(*size, 3) if mode == "RGB" else size).astype(np.uint8)).save(tmp_path / f"{i}.png")
    model = PCA(5).fit(unmix.open(tmp_path / "*.png", patches=(4, 5), stride=1))
    model.save(tmp_path / "m.safetensors")
    for settings in [dict(stride=1), dict(stride=2, padding=3), dict(stride=3, normalise=True)]:
        rows = unmix.open([tmp_path / "0.png", tmp_path / "1.png"], patches=(4, 5), **settings)
        with warnings.catch_warnings():
            # Of patches that are read in another way than those of the fit, and of pixels that no patch covers.
            warnings.simplefilter("ignore", UserWarning)
            pictures = rows.reconstruct_from_patches(model.inverse_transform(model.transform(rows)))
        assert [picture.dtype for picture in pictures] == [np.float64] * 2
        flags = [word for name, value in settings.items() for word in [f"--{name}", str(value)][: 1 if value is True else 2]]
        arguments = ["reconstruct", "m.safetensors", "0.png", "1.png", "--patches", "4x5", *flags, "-o", "out/"]
        subprocess.run([UNMIX, *arguments], cwd=tmp_path, check=True, capture_output=True)
        for i, picture in enumerate(pictures):
            theirs = np.asarray(Image.open(tmp_path / "out" / f"{i}.png"))
            np.testing.assert_array_equal(np.floor(255 * np.clip(picture, 0, 1) + 0.5), theirs)
    one = unmix.open(tmp_path / "0.png", patches=(4, 5), stride=1)
    changed = one.read() + rng.rand(*one.shape)
    windows = changed.reshape(-1, 4, 5, 3) if mode == "RGB" else changed.reshape(-1, 4, 5)
    (picture,) = one.reconstruct_from_patches(windows)
    np.testing.assert_array_equal(picture, one.reconstruct_from_patches(changed)[0])
    np.testing.assert_allclose(picture, reconstruct_from_patches_2d(windows, picture.shape), rtol=1e-13)


def test_patches_that_make_no_pictures_are_refused(tmp_path):
    pixels = np.random.RandomState(0).randint(0, 256, size=(12, 16)).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "x.png")
    opened = functools.partial(unmix.open, tmp_path / "x.png")
    whole = opened(patches=(5, 5), stride=1)
    np.testing.assert_allclose(whole.reconstruct_from_patches(whole.read())[0], pixels / 255, rtol=1e-13)
    side_by_side = opened(patches=(5, 5))
    with pytest.warns(UserWarning, match=r"21.88 % of the pixels, .* left as they were; with stride=1 patches cover all pixels"):
        (picture,) = side_by_side.reconstruct_from_patches(0 * side_by_side.read())
    assert np.all(picture[:10, :15] == 0)
    np.testing.assert_array_equal(picture[10:], pixels[10:] / 255)
    for rows, given, message in [
        (whole, whole.read()[1:], r"patches has shape \(95, 25\), but the pictures have 96 patches of 25 numbers"),
        (whole, whole.read()[:, 1:], r"patches has shape \(96, 24\), but the pictures have 96 patches of 25 numbers"),
        (whole, np.zeros(25), r"patches must have a row for each patch, got an array of shape \(25,\)"),
        (opened(), np.zeros((1, 192)), r"the rows of these files are not patches; give patches and stride, as in unmix.open\(..., patches=\(8, 8\), stride=1\)"),
        (opened(patches=(5, 5), stride=1, rows=(0, 3)), np.zeros((3, 25)), "were selected; leave out rows, columns, drop and transpose"),
        (opened(patches=(5, 5), number=9), np.zeros((9, 25)), "leave out number, or replace it by stride=1 for all patches"),
        (opened(patches=(5, 5), stride=6), np.zeros((2, 25)), "gaps between patches that are 6 pixels apart; give stride=5 or less"),
    ]:
        with pytest.raises(ValueError, match=message):
            rows.reconstruct_from_patches(given)


def test_a_fit_to_one_picture_names_the_argument_for_patches(tmp_path):
    Image.fromarray(np.zeros((12, 16), dtype=np.uint8)).save(tmp_path / "x.png")
    for rows, remedy in [
        (unmix.open(tmp_path / "x.png"), r"cut it into patches, each a row, as with patches=\(8, 8\), or give more pictures"),
        (tmp_path / "x.png", r"as with unmix.open\(..., patches=\(8, 8\)\), or give more pictures"),
    ]:
        with pytest.raises(ValueError, match="a fit to one picture is not possible: a whole picture is one row, .*" + remedy):
            PCA().fit(rows)


def patches(folder):
    """Eight random pictures in two handles: 96 patches of 4x4 pixels, and 96 of 2x8."""
    rng = np.random.RandomState(0)
    for i in range(8):
        Image.fromarray(rng.randint(0, 256, size=(12, 16)).astype(np.uint8)).save(folder / f"{i}.png")
    return unmix.open(folder, patches="4x4"), unmix.open(folder, patches="2x8")


def comparisons(use):
    """Number of warnings of pictures that are read in another way, and the last of them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        use()
    found = [str(warning.message) for warning in caught if "cannot be compared" in str(warning.message)]
    return len(found), "".join(found[-1:])


def of_rows(name, *arguments, **named):
    """A method of a fitted estimator whose first argument are rows."""
    return lambda model, X, folder: getattr(model, name)(X, *arguments, **named)


#: Estimators, and everything that takes rows once they are fitted: functions of the estimator, the rows and a folder.
USES = [
    (
        PCA(3, random_state=0),
        {
            "transform": of_rows("transform"),
            "encode": lambda model, X, folder: model.encode(X, out=folder / "codes.npy"),
            "score": of_rows("score"),
            "score_samples": of_rows("score_samples"),
            "quality": of_rows("quality"),
            "quality of columns": of_rows("quality", columns=True),
            "partial_fit": of_rows("partial_fit"),
            "stability": lambda model, X, folder: unmix.stability(model, X, splits=2, restarts=1, bootstrap=0),
            "report": lambda model, X, folder: unmix.report(model, X, path=folder / "page.html"),
        },
    ),
    (ICA(3, random_state=0), {"remove": of_rows("remove", [0]), "match": lambda model, X, folder: model.match(np.arange(96.0), X)}),
    (ICA(algorithm="easi", random_state=0), {"partial_fit": of_rows("partial_fit")}),
    (PPCA(3), {"posterior": of_rows("posterior"), "impute": of_rows("impute", return_std=True, bootstrap=2), "partial_fit": of_rows("partial_fit")}),
    (SparseCoder(np.eye(16), alpha=0.1), {"quality": of_rows("quality"), "path": of_rows("path", n_alphas=3), "impute": of_rows("impute")}),
    (DictionaryLearning(4, random_state=0), {"partial_fit": of_rows("partial_fit")}),
    (SparseAutoencoder(n_components=4, max_epochs=2, random_state=0), {"evaluate": of_rows("evaluate"), "top_rows": of_rows("top_rows", n=2)}),
    (
        SubspaceClustering(2, 2, algorithm="ppca-mixture", random_state=0),
        {"predict": of_rows("predict"), "predict_proba": of_rows("predict_proba"), "score_samples": of_rows("score_samples")},
    ),
    (RFN(4, max_iter=5, random_state=0), {"biclusters": lambda model, X, folder: unmix.biclusters(model, X, n_starts=0)}),
]


@pytest.mark.parametrize(
    "estimator, name, use", [pytest.param(of, name, use, id=f"{type(of).__name__}-{name}") for of, uses in USES for name, use in uses.items()]
)
def test_everything_that_takes_rows_compares_how_pictures_are_read(tmp_path, estimator, name, use):
    (tmp_path / "pictures").mkdir()
    squares, bars = patches(tmp_path / "pictures")
    model = copy.deepcopy(estimator)
    with warnings.catch_warnings():
        # Most estimators have iterated too little to converge.
        warnings.simplefilter("ignore")
        getattr(model, "partial_fit" if name == "partial_fit" else "fit")(squares)
    assert comparisons(lambda: use(model, squares, tmp_path)) == (0, "")
    number, said = comparisons(lambda: use(model, bars, tmp_path))
    assert number == 1 and "read as patches of 2x8 pixels, and those of the fit were read as patches of 4x4 pixels" in said
    # Of an array it is not known what a row is.
    assert comparisons(lambda: use(model, squares.read(), tmp_path)) == (0, "")


def test_pictures_of_another_size_name_the_argument_for_patches(tmp_path):
    squares, _ = patches(tmp_path)
    model, whole = PCA(3, random_state=0).fit(squares), PCA(3, random_state=0).fit(tmp_path)
    batches = PCA(3, random_state=0).partial_fit(squares)
    fitted = r"is not possible: the model was fitted to patches of 4x4 pixels with 16 numbers, and .* is read as whole pictures with 192; use "
    for use, rows, message in [
        (model.transform, unmix.open(tmp_path), fitted + r"patches=\(4, 4\), and the other options of the fit$"),
        (model.score, tmp_path, fitted + r"unmix.open\(..., patches=\(4, 4\)\), and the other options of the fit$"),
        (batches.partial_fit, tmp_path, fitted + r"unmix.open\(..., patches=\(4, 4\)\), and the other options of the fit$"),
        (whole.transform, unmix.open(tmp_path, patches=(5, 5)), "to whole pictures with 192 numbers, .* as patches of 5x5 pixels with 25; leave out patches$"),
    ]:
        with pytest.raises(ValueError, match=message) as refused:
            use(rows)
        assert (refused.value.need, refused.value.got) in [(16, 192), (192, 25)]
    assert batches.n_samples_ == 96


def test_batches_that_continue_a_given_model_are_compared_with_its_pictures(tmp_path):
    squares, bars = patches(tmp_path)
    first = DictionaryLearning(4, random_state=0).partial_fit(squares)
    for rows, number in [(squares, 0), (bars, 1)]:
        batch = DictionaryLearning(4, init=first, random_state=0)
        assert comparisons(lambda batch=batch, rows=rows: batch.partial_fit(rows))[0] == number
        assert batch.report_.pictures == "patches of 4x4 pixels"


def test_a_batch_whose_warning_is_an_error_is_not_added(tmp_path):
    squares, bars = patches(tmp_path)
    model = PCA(3, random_state=0).partial_fit(squares)
    before = model.n_samples_
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*cannot be compared")
        with pytest.raises(UserWarning, match="cannot be compared"):
            model.partial_fit(bars)
    assert model.n_samples_ == before == 96


def test_the_way_in_which_pictures_were_read_is_kept(tmp_path):
    (squares, bars), X = patches(tmp_path), np.random.RandomState(1).rand(40, 16)
    of_array, of_bars = PCA(3, random_state=0).partial_fit(X), PCA(3, random_state=0).partial_fit(bars)
    # A batch of an array, and one of pictures that are read in another way.
    grown = PCA(3, random_state=0).partial_fit(squares).partial_fit(X)
    with pytest.warns(UserWarning, match="cannot be compared"):
        grown.partial_fit(bars)
    learned = DictionaryLearning(4, random_state=0).partial_fit(squares).partial_fit(X)
    with pytest.warns(UserWarning, match="cannot be compared"):
        merged = grown.merge(of_bars)
    for model in [grown, pickle.loads(pickle.dumps(grown)).partial_fit(X), merged, merged.merge(of_array).partial_fit(X), learned]:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*cannot be compared")
            model.transform(squares)
        with pytest.warns(UserWarning, match="read as patches of 2x8 pixels, and those of the fit were read as patches of 4x4"):
            model.transform(bars)
