"""The examples produce the results that their pages state, on the recordings that they are about."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
DATA = os.environ.get("UNMIX_DATA")

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="the tests are not in a checkout")


def program(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example.main


def draw(name, data, tmp_path, *more):
    pytest.importorskip("matplotlib").use("Agg")
    figure = tmp_path / f"{name}.png"
    found = program(name)(data, figure, *more)
    assert figure.stat().st_size > 10_000
    return found


def run(name, path, tmp_path, *more):
    if DATA is None or not Path(DATA, path).exists():
        pytest.skip(f"UNMIX_DATA names no folder that holds {path}")
    return draw(name, Path(DATA, path), tmp_path, *more)


def test_the_foetal_heartbeat_is_found(tmp_path):
    found = run("heartbeat", "ecg_fetal/foetal_ecg.npy", tmp_path)
    assert found["beats"] == 22 and 130 < found["rate"] < 138
    assert found["varies"] < 0.02 and found["left"] < 0.2


def test_blinks_are_removed_and_little_else(tmp_path):
    found = run("blinks", "eeg_eeglab", tmp_path)
    assert found["likeness"] > 0.9 and found["removed"] > 0.95
    assert found["before"] > 4 * found["after"] and found["changed"] < 0.02


def test_voices_are_separated(tmp_path):
    found = run("voices", "audio_lecturers3", tmp_path, tmp_path / "voices")
    assert found["before"] < 15 and found["after"] > 35
    assert len(list((tmp_path / "voices").glob("*.wav"))) == 6


def test_hidden_halves_of_faces_are_filled(tmp_path):
    found = run("faces", "faces/olivetti_400x64x64_u8.npy", tmp_path)
    assert found["components"] == 38
    assert found["ppca"] < 0.1 and found["ppca"] < 0.75 * min(found["mirror"], found["mean"])
    # Coverage as published on the page: below 95 %, because parameters are treated as known.
    assert 0.8 < found["inside"] < 0.87


def test_hidden_ratings_have_the_error_and_the_intervals_of_the_page(tmp_path):
    found = run("ratings", "ratings/movielens100k_user_item_rating_u16.npy", tmp_path)
    assert found["rmse"] < 0.91 and found["rmse"] < 0.97 * found["offsets"] < found["mean"]
    assert abs(found["inside"] - 0.9) < 0.015


def test_missing_leads_are_imputed_within_their_intervals(tmp_path):
    found = run("leads", "ecg_ptb", tmp_path)
    assert 0.15 < found["lost"] < 0.25 and found["error"] < 0.25 * found["size"]
    assert 0.93 < found["inside"] < 0.97


def test_hidden_expression_values_are_predicted_better_than_by_cell_types(tmp_path):
    found = run("genes", "gene_pbmc68k_700", tmp_path)
    assert max(found["completion"], found["PPCA"]) < found["means of cell types"] < found["means of genes"]
    assert 85 < found["inside"] < 92


def test_rotated_factors_of_shares_are_industries(tmp_path):
    found = run("shares", "finance/sp500_dataset.csv.gz", tmp_path)
    assert found["together"] >= 18 and found["rotated"] > 0.8 > found["plain"]


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_modules_of_all_starts_are_cell_types(tmp_path):
    found = run("modules", "gene_pbmc68k_700", tmp_path)
    assert 0.3 < found["stored"] < 0.36 and found["sure"] >= 8
    assert found["pure"] > 0.7 > 0.5 > found["others"]


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_exact_codes_agree_with_classes_better_than_plain_codes(tmp_path):
    found = run("modes", "gene_fabia_breast_a", tmp_path)
    assert found["RFN, exact codes"] > 0.4 and found["RFN, plain"] < 0.2
    assert 0.4 < found["PCA"] < 0.55 and 0.2 < found["ICA"] < 0.45


def test_decoder_rows_of_digits_are_strokes(tmp_path):
    found = run("strokes", "mnist/t10k-images-idx3-ubyte.gz", tmp_path)
    assert found["RFN"] >= 0.9 > 0.8 > found["PCA"] and found["median"] > 0.7


def test_a_photograph_is_denoised_by_its_own_atoms(tmp_path):
    pytest.importorskip("PIL")
    found = run("denoise", "images_pypi/camera.png", tmp_path)
    assert 20 < found["noisy"] < 20.3
    assert found["learned"] > found["noisy"] + 8 and found["learned"] > found["cosines"] + 0.3


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_missing_pixels_are_filled_better_than_by_linear_interpolation(tmp_path):
    pytest.importorskip("PIL")
    found = run("holes", "images_pypi/camera.png", tmp_path)
    assert 30.4 < found["linear interpolation"] < 30.8
    assert found["learned atoms"] > found["linear interpolation"] + 0.3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_dropouts_of_a_voice_are_filled_three_decibels_better_than_by_linear_interpolation(tmp_path):
    found = run("dropouts", "audio_speech2/source1.wav", tmp_path)
    assert set(found) == {1, 2, 5}
    assert all(ways["atoms"] > ways["linear"] + 3 for ways in found.values())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_word_vectors_are_sums_of_few_atoms_with_similar_words(tmp_path):
    found = run("words", "word_vectors", tmp_path)
    assert found["atoms"] < 5 and found["kept"] > 0.4
    assert found["alike"] > 0.45 > 0.05 > abs(found["chance"]) and found["named"] > 0.9


@pytest.mark.heavy
def test_units_have_words_and_differ_between_seeds(tmp_path):
    found = run("activations", "activations_minilm", tmp_path)
    assert found["fvu"] < 0.22 < 0.45 < found["pca"]
    assert found["again"] < 0.1 and found["alike"] > 1.5 * found["chance"]
    assert found["pronoun"][0] > 0.7 and found["punctuation"][0] > 0.7


@pytest.mark.heavy
def test_a_solver_chooses_atoms_better_than_an_encoder(tmp_path, capsys):
    found = run("patches", "kodak8", tmp_path)
    # One product of matrices, where the lasso iterates for each row; the times are printed.
    assert 0 < found["sparse autoencoder"]["seconds"] < found["lasso"]["seconds"]
    times = [line for line in capsys.readouterr().out.splitlines() if line.startswith("codes of ") and line.endswith(" s")]
    assert len(times) == 1 and all(f"{name} " in times[0] for name in found)
    assert all(5.5 < of["active"] < 6.5 for of in found.values())
    assert found["lasso"]["lost"] < found["matching pursuit"]["lost"] < found["sparse autoencoder"]["lost"] < 0.2


@pytest.mark.heavy
def test_eight_layers_are_closer_to_the_optimum_than_eight_steps(tmp_path):
    found = run("layers", "kodak8", tmp_path)
    assert found["fista100"] < found["above"] < found["fista8"] / 2
    assert 12 < found["steps"] < 30


def test_synthetic_voices_are_reproducible_and_separated(tmp_path):
    for folder in ("once", "again"):
        program("made_up_voices")(tmp_path / folder)
    for file in ("source1.wav", "source2.wav", "source3.wav", "mixing_matrix.csv"):
        assert (tmp_path / "once" / file).read_bytes() == (tmp_path / "again" / file).read_bytes()
    found = draw("voices", tmp_path / "once", tmp_path, tmp_path / "voices")
    assert found["before"] < 6 and found["after"] > 35


@pytest.mark.filterwarnings("ignore:SigmaPCA did not converge")
def test_filters_are_sparser_and_smaller_with_more_independence(tmp_path):
    found = run("filters", "kodak8", tmp_path)
    kurtosis, area = ([found[name][i] for name in ("PCA", "SigmaPCA", "ICA")] for i in (0, 1))
    assert kurtosis == sorted(kurtosis) and kurtosis[2] > 1.5 * kurtosis[0]
    assert area == sorted(area, reverse=True)


def test_endmembers_are_spectra_of_the_crops(tmp_path):
    found = run("endmembers", "hyperspectral", tmp_path)
    assert len(found["ICA"]) == 5 and min(found["ICA"].values()) > 0.85
    assert len(found["PCA"]) < 5 and min(found["PCA"].values()) < 0.85


def test_examples_are_short_and_name_missing_files(tmp_path):
    pytest.importorskip("matplotlib")
    programs = sorted(EXAMPLES.glob("*.py"))
    assert len(programs) > 20
    assert {path.name: n for path in programs if (n := len(path.read_text().splitlines())) > 60} == {}
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    environment.pop("UNMIX_DATA", None)
    command = [sys.executable, EXAMPLES / "heartbeat.py"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 1 and ran.stderr.startswith("there is no file ecg_fetal")
    assert "python docs/examples/heartbeat.py" in ran.stderr


def test_mne_runs_with_the_solvers_of_unmix(tmp_path):
    pytest.importorskip("mne", reason="mne is not installed: cargo xtask test all")
    command = [sys.executable, EXAMPLES / "mne_ica.py"]
    if DATA is not None and Path(DATA, "eeg_eeglab").exists():
        command += [Path(DATA, "eeg_eeglab", name) for name in ("eeg_32ch_128hz.npy", "channels.csv")]
    environment = {**os.environ, "MPLBACKEND": "Agg", "HOME": str(tmp_path)}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "needs mne" not in ran.stdout and ran.stdout.strip(), ran.stdout


@pytest.mark.heavy
def test_moving_objects_are_separated_from_the_background(tmp_path):
    found = run("background", "video", tmp_path)
    for of in found.values():
        assert 0.01 < of["share"] < 0.12 and of["robust"] < 0.3 * of["pca"]
