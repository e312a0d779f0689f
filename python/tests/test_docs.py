"""Pages of the documentation name the tests that verify their claims, and their code runs."""

import gzip
import os
import re
import shutil
import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import unmix

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "scikit-learn.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the tests are not in a checkout")
def test_every_difference_from_scikit_learn_is_a_test_and_every_test_of_differences_a_row():
    lines = PAGE.read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ")][1:]
    assert len(rows) > 10
    named = []
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        assert len(cells) == 4 and all(cells), row
        name = re.fullmatch(r"`(test_\w+)`", cells[-1].strip("| "))
        assert name, row
        named.append(name[1])
    here = names_of("test_differences.py")
    assert [name for name in named if name in here] == here
    # Other rows of the table, and claims below it, are verified by tests in other files.
    below = re.findall(r"`(test_\w+)`", "\n".join(line for line in lines if not line.startswith("| ")))
    assert {*named, *below} <= {name for path in HERE.glob("test_*.py") for name in names_of(path.name)}


def pages():
    """The pages of the documentation, those that exist: none where the tests are not in a checkout."""
    return [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if page.exists()]


def pages_with(language):
    """Pages with code blocks in a language, and these blocks."""
    found = {}
    for page in pages():
        blocks = re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
        if blocks:
            found[str(page.relative_to(ROOT))] = blocks
    return found


@pytest.mark.skipif(not PAGE.exists(), reason="the tests are not in a checkout")
# Some pages show sources that cannot be distinguished from Gaussian ones, and the warning.
@pytest.mark.filterwarnings("ignore:.*cannot be distinguished from Gaussian ones:UserWarning")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("page", pages_with("python"))
def test_python_of_every_page_runs_as_it_is_and_without_a_warning(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in pages_with("python")[page]:
        exec(compile(block, page, "exec"), names)
    shown = capsys.readouterr().out
    if page in ("docs/sigma-pca.md", "docs/stability.md"):
        assert "resolved" in shown


@pytest.mark.skipif(not PAGE.exists(), reason="the tests are not in a checkout")
def test_pages_with_python_are_found():
    expected = {"README.md", "docs/ica.md", "docs/lista.md", "docs/rica.md", "docs/sigma-pca.md", "docs/sparse.md", "docs/stability.md"}
    assert expected <= set(pages_with("python"))


#: Files named in the shell commands of docs/examples.md, and their paths in the folder of real data.
RECORDINGS = {
    "foetal_ecg.npy": "ecg_fetal/foetal_ecg.npy",
    "eeg.npy": "eeg_eeglab/eeg_32ch_128hz.npy",
    "channels.csv": "eeg_eeglab/channels.csv",
    "mix1.wav": "audio_speech2/mix1.wav",
    "mix2.wav": "audio_speech2/mix2.wav",
    "source1.wav": "audio_speech2/source1.wav",
    "source2.wav": "audio_speech2/source2.wav",
    "kodak8": "kodak8",
    "olivetti_400x64x64_u8.npy": "faces/olivetti_400x64x64_u8.npy",
}


EXAMPLES = "docs/examples.md"


def shell_blocks(page):
    """Blocks of a page with commands of the program: (command, the output that the page shows) of each command. Pages that show output mark
    commands by "$ "; on others every line that begins with "unmix" is a command."""
    text = (ROOT / page).read_text() if (ROOT / page).exists() else ""
    blocks = []
    for language, block in re.findall(r"^```(.*?)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if language not in ("", "sh"):
            continue
        steps = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
        steps = [step.partition("\n")[::2] for step in steps] or [(line, "") for line in block.splitlines() if line.startswith("unmix ")]
        if steps and steps[0][0].startswith("unmix "):
            blocks.append(steps)
    return blocks


def test_shell_blocks_are_found():
    assert len(shell_blocks(EXAMPLES)) >= (4 if PAGE.exists() else 0)


def named_in(steps):
    """The recordings that the commands read."""
    return [name for name in RECORDINGS if any(re.search(rf"\b{name}\b", command) for command, _ in steps)]


def outputs(steps, folder):
    """Run commands in a folder; yields each with the output that the page shows and the output it printed, as lines."""
    program = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{program}{os.pathsep}{os.environ['PATH']}"}
    for command, shown in steps:
        ran = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, (command, ran.stderr)
        yield command, shown.splitlines(), (ran.stdout + ran.stderr).splitlines()


def write_wav(path, samples):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes((9000 * samples / np.abs(samples).max()).astype("<i2").tobytes())


def write_synthetic_files(folder):
    """Write synthetic recordings of the shapes and types that the page shows, under the same names."""
    rng = np.random.default_rng(0)
    heart = rng.laplace(size=(8, 2500)) * 10.0 ** np.linspace(2, 0, 8)[:, None]
    np.save(folder / "foetal_ecg.npy", rng.normal(size=(8, 8)) @ heart)
    blinks = np.zeros(2000)
    blinks[200::400] = 1
    blinks = np.convolve(blinks, np.hanning(40), "same")
    sources = np.vstack([80 * blinks, rng.laplace(size=(31, 2000)) * rng.uniform(1, 5, size=(31, 1))])
    mixing = rng.normal(size=(32, 32))
    mixing[:2, 0] = [5, -5]
    eeg = (mixing @ sources).astype(np.float32)
    np.save(folder / "eeg.npy", eeg)
    labels = ["FPz", "EOG1", *(f"E{i}" for i in range(30))]
    places = (f"{i},{label},{11.25 * i:g},0.4" for i, label in enumerate(labels))
    (folder / "channels.csv").write_text("\n".join(["index,label,theta_deg,radius", *places]) + "\n")
    np.save(folder / "eye.npy", (eeg[0] - eeg[1])[None])
    voices = rng.laplace(size=(2, 8000)) * np.array([[1.0], [0.5]])
    for i, (mix, voice) in enumerate(zip(np.array([[1.0, 0.6], [0.4, 1.0]]) @ voices, voices), 1):
        write_wav(folder / f"mix{i}.wav", mix)
        write_wav(folder / f"source{i}.wav", voice)
    Image = pytest.importorskip("PIL.Image")
    (folder / "kodak8").mkdir()
    for i, leaf in enumerate(unmix.datasets.leaves(8, 96, seed=0).reshape(8, 96, 96, 3)):
        Image.fromarray((255 * leaf).astype(np.uint8)).save(folder / "kodak8" / f"{i}.png")
    (folder / "camera").mkdir()
    Image.fromarray((255 * unmix.datasets.leaves(1, 64, seed=1).reshape(64, 64, 3)).astype(np.uint8)).save(folder / "camera" / "camera.png")
    np.save(folder / "glove.npy", rng.normal(size=(600, 20)).astype(np.float32))
    np.save(folder / "bands.npy", rng.integers(900, 9000, size=(20, 12, 12)).astype("<u2"))
    with gzip.open(folder / "indian_pines_200x145x145_u16.npy.gz", "wb") as file:
        file.write((folder / "bands.npy").read_bytes())
    cells = rng.permutation(40 * 30)[:600]
    lines = (f"{at // 30},{at % 30},{rng.integers(1, 6)}" for at in cells)
    (folder / "ratings.csv").write_text("\n".join(lines) + "\n")
    for name, p in (("leads", 15), ("genes", 30), ("returns", 20)):
        rows = rng.normal(size=(200, 3)) @ rng.normal(size=(3, p)) + 0.5 * rng.normal(size=(200, p))
        lost = rng.random((200, p)) < (0 if name == "returns" else 0.1)
        lines = [",".join(f"c{j}" for j in range(p)), *(",".join(map(str, row)) for row in np.where(lost, np.nan, rows).round(6))]
        (folder / f"{name}.csv").write_text("\n".join(lines).replace("nan", "") + "\n")
    np.save(folder / "highway.npy", (rng.random((12, 1, 8)) + rng.random((1, 9, 1)) * np.ones((12, 9, 8))).astype(np.float32))
    members = rng.random((6, 40)) < 0.2
    background = np.where(rng.random((40, 24)) < 0.2, rng.poisson(3, size=(40, 24)), 0)
    counts = scipy.sparse.csr_array(background + 3.0 * members.T @ (rng.random((6, 24)) < 0.2))
    scipy.sparse.save_npz(folder / "cells.npz", counts)
    np.savetxt(folder / "tumours.csv", rng.normal(size=(40, 50)), delimiter=",", header=",".join(f"g{j}" for j in range(50)), comments="")
    np.save(folder / "digits.npy", rng.random((150, 12, 12)).astype(np.float32))
    np.save(folder / "olivetti_400x64x64_u8.npy", rng.integers(0, 255, size=(60, 16, 16)).astype(np.uint8))


def timed(line):
    """Whether a line contains measured times, which depend on the machine."""
    return " ms " in line or " s on " in line


def worded(line):
    """The words of a line with every number replaced by the same symbol."""
    return re.sub(r"[-+]?\d{1,3}(,\d{3})+\b(?!\.)|[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", line).split()


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory):
    """The folder of synthetic files, of which each test takes a copy."""
    folder = tmp_path_factory.mktemp("synthetic")
    write_synthetic_files(folder)
    return folder


def commands_in_sentences(page):
    """Commands of the program between backticks in the text of a page, outside of code blocks."""
    text = (ROOT / page).read_text() if (ROOT / page).exists() else ""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    found = [" ".join(command.split()) for command in re.findall(r"`(unmix [^`]+)`", text)]
    # "unmix Adam" is the package, not the program.
    return [command for command in found if re.match(r"unmix (--)?[a-z]+( |$)", command)]


def test_every_shell_line_of_the_examples_is_found():
    page = ROOT / EXAMPLES
    found = [command for steps in shell_blocks(EXAMPLES) for command, _ in steps] + commands_in_sentences(EXAMPLES)
    lines = re.findall(r"(?:^\$ |From the shell:\s`)(unmix .*?)`?\.?$", page.read_text(), re.MULTILINE) if page.exists() else []
    assert sorted(found) == sorted(lines)
    assert len(lines) >= (14 if PAGE.exists() else 0)


def run_and_compare(steps, folder):
    """Run commands; the output has the words of every line that the page shows, and the files that the commands name are written."""
    for command, shown, printed in outputs(steps, folder):
        for line in shown:
            if line.strip() and not timed(line):
                assert worded(line) in list(map(worded, printed)), (command, line, printed)
        assert all(any(map(timed, printed)) for line in shown if timed(line)), (command, printed)
    written = [word for command, _ in steps for word in re.findall(r" -o (\S+)", command)]
    assert all((folder / name).exists() for name in written), written
    pages = [name for name in written if name.endswith(".html")]
    assert all("</html>" in (folder / name).read_text() for name in pages)


@pytest.mark.parametrize(
    "steps",
    [*shell_blocks(EXAMPLES), *([(command, "")] for command in commands_in_sentences(EXAMPLES))],
    ids=lambda steps: steps[0][0].split()[3],
)
def test_shell_lines_of_the_examples_run_on_synthetic_files(steps, synthetic, tmp_path):
    shutil.copytree(synthetic, tmp_path, dirs_exist_ok=True)
    run_and_compare(steps, tmp_path)


#: Commands with placeholders, and fits that would take minutes here, and what is run instead.
INSTEAD = {
    # Modules are pooled from 88 fits with the settings of this one.
    "unmix fit rfn rows.npy --set e_step=coordinate --set init=ica": (
        "unmix fit rfn rows.npy --set e_step=coordinate --set init=ica --set max_iter=5 -k 5"
    ),
    "unmix fit stacked-rfn rows.npy --set 'n_components=[512,256]' --set 'max_iter=[200,100]'": (
        "unmix fit stacked-rfn rows.npy --set 'n_components=[24,12]' --set 'max_iter=[20,10]'"
    ),
    "unmix fit METHOD FILE": "unmix fit pca rows.npy",
    "unmix show FILE": "unmix show rows.npy",
    "unmix show MODEL": "unmix fit pca rows.npy && unmix show rows.pca.safetensors",
    "unmix fit dictionary more.npy --init MODEL": "unmix fit dictionary more.npy --init patches.dictionary.safetensors",
    "unmix score MODEL X --quality": "unmix score patches.dictionary.safetensors patches.npy --quality",
    "unmix select FILE --method factor-analysis": "unmix select scores.csv --method factor-analysis",
    "unmix encode MODEL INPUT -o codes.npz": "unmix encode coder.safetensors patches.npy -o codes.npz",
}
#: Commands that are not run, and why; their options are compared with those of the program.
NOT_RUN = {
    "unmix reproduce KEY KEY -o FOLDER": "placeholders of experiments, which the tests of unmix-reproduce run",
    "unmix reproduce lista": "minutes; a quick form is among the tests of unmix-reproduce",
    "unmix reproduce sae-is-lista": "minutes; a quick form is among the tests of unmix-reproduce",
    "unmix reproduce rfn-modules": "minutes; a quick form is among the tests of unmix-reproduce",
    "unmix reproduce rfn-tables": "minutes; a quick form is among the tests of unmix-reproduce",
    "unmix reproduce sae-activations --activations FILE": "reads recorded activations",
}
#: Commands without a file that run as they are; all others without a file are names of commands.
ALONE = ("unmix methods", "unmix --help", "unmix --version", "unmix reproduce --list")
#: Files that a page names without saying how they are made, by the commands that make them.
BEFORE = {
    "docs/ica.md": {"unmix report eeg.ica": "unmix fit ica eeg.npy --transpose -k 20 --seed 1 -o other.safetensors"},
    "docs/sae.md": {"unmix report sae": "unmix fit sae activations.npy -k 2048 --set l0=32 --seed 1 -o seed1.safetensors"},
}


def shell_lines(page):
    """Every command of a page, in order of the blocks, then those in sentences; without a comment."""
    blocks = [command for steps in shell_blocks(page) for command, _ in steps]
    return [re.sub(r"\s+# .*", "", command) for command in [*blocks, *commands_in_sentences(page)]]


def has_a_file(command):
    """Whether a command is more than its name and options: something to run, with an input."""
    return command in ALONE or not all(word.startswith("-") for word in command.split()[2:])


def pages_with_shell_lines():
    names = [str(page.relative_to(ROOT)) for page in pages()]
    return [name for name in names if name != EXAMPLES and any(map(has_a_file, shell_lines(name)))]


def test_shell_lines_of_most_pages_are_found():
    found = [line for page in pages_with_shell_lines() for line in shell_lines(page) if has_a_file(line)]
    assert len(found) >= (70 if PAGE.exists() else 0)
    assert not PAGE.exists() or set(INSTEAD) | set(NOT_RUN) <= set(found)


def write_files_of_other_pages(folder):
    """Write small files of the names in the commands of all pages but the examples."""
    rng = np.random.default_rng(1)

    def table(name, rows, columns=None, missing=0.0):
        rows = np.where(rng.random(rows.shape) < missing, np.nan, rows).round(6)
        lines = [",".join(columns or [f"c{j}" for j in range(rows.shape[1])]), *(",".join(map(str, row)) for row in rows)]
        (folder / name).write_text("\n".join(lines).replace("nan", "") + "\n")

    def factors(n, p, k):
        return rng.laplace(size=(n, k)) @ rng.normal(size=(k, p)) + 0.5 * rng.normal(size=(n, p))

    table("measurements.csv", factors(200, 14, 4))
    table("scores.csv", factors(200, 15, 3))
    table("survey.csv", factors(200, 12, 3), missing=0.1)
    table("data.csv", factors(150, 8, 2), missing=0.1)
    table("new.csv", factors(20, 8, 2), missing=0.1)
    # Ratings by two factors; and cells without a value, which are predicted.
    ratings = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 30)) + 0.1 * rng.normal(size=(40, 30))
    (folder / "ratings.csv").write_text("".join(f"{at // 30},{at % 30},{ratings.flat[at]:.4f}\n" for at in rng.permutation(1200)[:800]))
    (folder / "hidden.csv").write_text("".join(f"{at // 30},{at % 30},{ratings.flat[at]:.4f}\n" for at in range(0, 1200, 50)))
    (folder / "asked.csv").write_text("".join(f"{rng.integers(40)},{rng.integers(30)}\n" for _ in range(3)))
    np.save(folder / "recording.npy", rng.laplace(size=(1000, 4)) @ rng.normal(size=(4, 4)))
    np.save(folder / "x.npy", rng.laplace(size=(600, 4)) @ rng.normal(size=(4, 4)))
    for name in ("left", "right"):
        shutil.copy(folder / f"mix{1 + (name == 'right')}.wav", folder / f"{name}.wav")
    shutil.copy(folder / "eye.npy", folder / "eog.npy")
    atoms = rng.normal(size=(24, 16))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    np.save(folder / "atoms.npy", atoms)
    for name, n in (("patches", 400), ("more", 300), ("activations", 300)):
        np.save(folder / f"{name}.npy", (rng.laplace(size=(n, 24)) * (rng.random((n, 24)) < 0.15)) @ atoms)
    members, columns = rng.random((80, 5)) < 0.2, rng.random((5, 20)) < 0.3
    np.save(folder / "rows.npy", 3.0 * members @ columns + 0.5 * rng.normal(size=(80, 20)))
    np.save(folder / "video.npy", np.outer(rng.random(30), rng.random(40)) + 5.0 * (rng.random((30, 40)) < 0.03))
    np.save(folder / "new.npy", np.outer(rng.random(5), rng.random(40)))
    planes = rng.normal(size=(2, 3, 12))
    np.save(folder / "points.npy", np.vstack([rng.normal(size=(60, 3)) @ plane for plane in planes]) + 0.01 * rng.normal(size=(120, 12)))


def write_decimal_commas(folder):
    rows = [f"s{i};{i},5;{'?' if i == 3 else i * i};{7 * i % 5},25;{i % 3}" for i in range(20)]
    (folder / "measurements.csv").write_text("\n".join(["sample;a;b;c;d", *rows]) + "\n")


@pytest.mark.parametrize("page", pages_with_shell_lines())
def test_shell_lines_of_every_page_run_on_synthetic_files(page, synthetic, tmp_path):
    shutil.copytree(synthetic, tmp_path, dirs_exist_ok=True)
    write_files_of_other_pages(tmp_path)
    if page == "docs/files.md":
        write_decimal_commas(tmp_path)
    steps = []
    for command in shell_lines(page):
        if has_a_file(command) and command not in NOT_RUN:
            steps += [(first, "") for start, first in BEFORE.get(page, {}).items() if command.startswith(start) and (first, "") not in steps]
            steps.append((INSTEAD.get(command, command), ""))
    run_and_compare(steps, tmp_path)


def test_commands_that_are_only_named_have_the_options_that_are_named():
    helps = {}
    for page in map(str, pages()):
        for command in shell_lines(page):
            if has_a_file(command) and command not in NOT_RUN:
                continue
            name = command.split()[1]
            if name not in helps:
                [(_, _, helps[name])] = outputs([(f"unmix {name} --help", "")], ROOT)
            for option in re.findall(r" (-[-\w]+)", command):
                assert re.search(rf"(?<!\S){option}(?!\S)", "\n".join(helps[name]).replace(",", " ")), (page, command)
    [(_, _, listed)] = outputs([("unmix reproduce --list", "")], ROOT)
    keys = {word for command in NOT_RUN for word in command.split()[2:] if not word.startswith("-") and word.islower()}
    assert all(any(re.search(rf"(?<!\S){key}(?!\S)", line) for line in listed) for key in keys), listed


@pytest.mark.parametrize("steps", shell_blocks(EXAMPLES), ids=lambda steps: steps[0][0].split()[3])
def test_shell_lines_of_the_examples_run_and_print_what_the_page_shows(steps, tmp_path):
    data = Path(os.environ.get("UNMIX_DATA", ""))
    named = named_in(steps)
    if not named:
        pytest.skip("the commands read files that the page's programs make of real data")
    if "UNMIX_DATA" not in os.environ or not all((data / RECORDINGS[name]).exists() for name in named):
        pytest.skip(f"UNMIX_DATA names no folder that holds {', '.join(RECORDINGS[name] for name in named)}")
    for name in named:
        (tmp_path / name).symlink_to(data / RECORDINGS[name])
    if "eye.npy" in str(steps):
        eeg = np.load(data / RECORDINGS["eeg.npy"])
        labels = [line.split(",")[1] for line in (data / RECORDINGS["channels.csv"]).read_text().splitlines()[1:]]
        np.save(tmp_path / "eye.npy", (eeg[labels.index("FPz")] - eeg[labels.index("EOG1")])[None])
    for command, shown, printed in outputs(steps, tmp_path):
        for line in shown:
            # Times and numbers of iterations depend on the machine.
            if line.strip() and not timed(line):
                assert any(same_line(line, other) for other in printed), (command, line, printed)


def same_line(a, b):
    """Whether two lines are equal, with numbers compared to three digits."""
    a, b = (re.split(r"[\s,:]+", re.sub(r"(?<=\d),(?=\d{3}\b)", "", line).strip()) for line in (a, b))
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        try:
            if abs(float(x) - float(y)) > 1e-3 * max(abs(float(x)), abs(float(y)), 0.1):
                return False
        except ValueError:
            if x != y:
                return False
    return True


@pytest.mark.skipif(not PAGE.exists(), reason="the tests are not in a checkout")
def test_rust_of_the_readme_is_an_example_of_the_crate_s_documentation():
    documented = (ROOT / "crates/unmix/src/lib.rs").read_text()
    for block in pages_with("rust")["README.md"]:
        assert "\n".join(f"//! {line}".rstrip() for line in block.splitlines()) in documented


def names_of(name):
    """The tests of a file, in order."""
    return re.findall(r"^def (test_\w+)", (HERE / name).read_text(), re.MULTILINE)
