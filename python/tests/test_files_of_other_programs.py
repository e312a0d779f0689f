"""Files written by pandas and cameras, and files with checksums: indices, orientations, corruption."""

import io
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from PIL import Image, ImageOps
from scipy.io import wavfile

import unmix
from unmix import PCA


def frame(n=60):
    rng = np.random.default_rng(1)
    return pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.normal(size=n)})


def write(table, path):
    match path.suffix:
        case ".parquet":
            table.to_parquet(path)
        case ".feather":
            pyarrow.feather.write_feather(pa.Table.from_pandas(table), str(path))
        case suffix:
            table.to_csv(path, sep="\t" if suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("extension", ["parquet", "feather", "csv", "tsv"])
def test_a_filtered_frame_is_fitted_without_its_index(tmp_path, extension):
    table = frame()
    table = table[table.a > -1]
    path = write(table, tmp_path / f"t.{extension}")
    with pytest.warns(UserWarning, match="is the index of a table and left out"):
        model = PCA(2).fit(path)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert "index of a table" in model.report_.warnings[0]
    np.testing.assert_array_equal(model.components_, PCA(2).fit(table.to_numpy()).components_)
    with pytest.warns(UserWarning, match="index of a table"):
        np.testing.assert_array_equal(unmix.read(path), table.to_numpy())
    whole = unmix.read(path, columns="0-3")
    assert whole.shape == (len(table), 4) and table.index.to_numpy(float).tolist() in whole.T.tolist()


@pytest.mark.parametrize("extension", ["parquet", "feather"])
def test_a_named_index_is_left_out_and_a_range_is_no_column(tmp_path, extension):
    path = write(frame().assign(day=np.arange(60) * 7.0).set_index("day"), tmp_path / f"t.{extension}")
    with pytest.warns(UserWarning, match=r"\('day'\) is the index"):
        assert unmix.read(path).shape == (60, 3)
    assert unmix.read(path, columns=["day", "a"])[:, 0].tolist() == (np.arange(60) * 7.0).tolist()
    # The default index of a frame is a range, which is not stored as a column: no warning.
    assert unmix.read(write(frame(), path)).shape == (60, 3)


@pytest.mark.parametrize("extension", ["parquet", "feather"])
def test_durations_are_refused_whatever_their_unit(tmp_path, extension):
    for unit in ("s", "ms", "us", "ns"):
        table = frame(2).assign(t=pd.to_timedelta(["1s", "2s"]).as_unit(unit))
        path = write(table, tmp_path / f"t.{extension}")
        with pytest.raises(ValueError, match=r"column 3 \('t'\) is of type Duration.*, which is not numeric"):
            unmix.read(path)
        assert unmix.read(path, drop="t").shape == (2, 3)


def test_sound_of_64_bits_is_refused_with_the_formats_that_are_read(tmp_path):
    wavfile.write(tmp_path / "t.wav", 8000, np.zeros((20, 2)))
    with pytest.raises(ValueError, match="sample format is not supported .*write it as PCM of 8, 16, 24 or 32 bits, or as float32"):
        unmix.read(tmp_path / "t.wav")


def test_a_header_of_years_is_read_as_a_row_with_a_warning(tmp_path):
    path = tmp_path / "t.csv"
    frame().set_axis([2019, 2020, 2021], axis=1).to_csv(path, index=False)
    with pytest.warns(UserWarning, match="was read as numbers; add header=True"):
        assert len(unmix.read(path)) == 61
    assert len(unmix.read(path, header=True)) == 60


def test_recordings_are_matched_by_the_names_of_their_files(tmp_path):
    rng = np.random.default_rng(0)
    paths = [tmp_path / f"mix{i}.wav" for i in range(3)]
    for path in paths:
        wavfile.write(path, 8000, rng.integers(-9000, 9000, 500).astype(np.int16))
    assert unmix.read(paths).shape == (500, 3)
    model = PCA(2).fit(paths)
    assert model.feature_names_in_.tolist() == ["mix0", "mix1", "mix2"]
    np.testing.assert_array_equal(model.transform([paths[2], paths[0], paths[1]]), model.transform(paths))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("extension", ["png", "jpg", "tiff"])
def test_images_are_rotated_as_by_pillow(tmp_path, extension, orientation):
    rng = np.random.default_rng(orientation)
    picture = Image.fromarray(rng.integers(0, 256, (24, 40, 3)).astype(np.uint8))
    exif = Image.Exif()
    exif[274] = orientation
    path = tmp_path / f"a.{extension}"
    picture.save(path, exif=exif, **({"quality": 100, "subsampling": 0} if extension == "jpg" else {}))
    want = np.asarray(ImageOps.exif_transpose(Image.open(path)), float)
    found = unmix.read(path).reshape(want.shape) * 255
    # Decoders of .jpg differ by a few grey levels.
    assert np.abs(found - want).max() < (4 if extension == "jpg" else 1e-9)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_pages_are_compared_with_their_checksums(tmp_path, compression, version):
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.normal(size=3000), "b": rng.integers(0, 50, 3000)})
    path = tmp_path / "t.parquet"
    options = dict(compression=compression, data_page_version=version, row_group_size=1500)
    pa.parquet.write_table(table, path, write_page_checksum=True, **options)
    whole, expected = path.read_bytes(), unmix.read(path)
    np.testing.assert_array_equal(expected, np.column_stack([c.to_numpy() for c in table.columns]))
    meta = pa.parquet.read_metadata(path)
    refused = 0
    for at in range(0, 40):
        column = meta.row_group(at % 2).column(at // 2 % 2)
        start = column.dictionary_page_offset or column.data_page_offset
        changed = bytearray(whole)
        changed[start + rng.integers(column.total_compressed_size)] ^= 1 << rng.integers(8)
        path.write_bytes(changed)
        try:
            pa.parquet.read_table(path, page_checksum_verification=True)
        except OSError as e:
            # Corruption of a page header, which the checksum does not cover, has other messages.
            if "CRC" in str(e):
                message = rf"page \d of row group {at % 2}, column {at // 2 % 2} \('{'ab'[at // 2 % 2]}'\), is corrupt: its checksum differs"
                with pytest.raises(ValueError, match=message):
                    unmix.read(path)
                with pytest.raises(ValueError, match=message):
                    PCA(1).fit(path)
                refused += 1
    assert refused > 20


def test_a_corrupt_file_is_an_error_and_nothing_else_is_printed(tmp_path):
    sink = io.BytesIO()
    pyarrow.feather.write_feather(pa.table({"s": ["a", "bb", "ccc"] * 50, "x": np.arange(150.0)}), sink, compression="uncompressed")
    program = f"""
import random, unmix
whole = {sink.getvalue()!r}
random.seed(0)
refused = 0
for _ in range(400):
    changed = bytearray(whole)
    for _ in range(3):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    open("t.feather", "wb").write(changed)
    try:
        unmix.read("t.feather", columns="x")
    except ValueError:
        refused += 1
assert refused > 20, refused
"""
    for trace in ["0", "1"]:
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program],
            cwd=tmp_path,
            env={"RUST_BACKTRACE": trace, "PATH": ""},
            capture_output=True,
            text=True,
        )
        assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
