"""Pages that make claims name the tests that hold them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

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
    # Other rows, and what the page says below its table, are held by tests of other files.
    below = re.findall(r"`(test_\w+)`", "\n".join(line for line in lines if not line.startswith("| ")))
    assert {*named, *below} <= {name for path in HERE.glob("test_*.py") for name in names_of(path.name)}


def pages_with(language):
    """Pages that have blocks of a language, with these."""
    found = {}
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        blocks = re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE) if page.exists() else []
        if blocks:
            found[str(page.relative_to(ROOT))] = blocks
    return found


@pytest.mark.skipif(not PAGE.exists(), reason="the tests are not in a checkout")
# Pages show sources that cannot be told from Gaussian ones, and what is said of them.
@pytest.mark.filterwarnings("ignore:.*cannot be told from Gaussian ones:UserWarning")
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
    expected = {"README.md", "docs/ica.md", "docs/rica.md", "docs/sigma-pca.md", "docs/stability.md"}
    assert expected <= set(pages_with("python"))


#: Files that the shell lines of docs/examples.md name, where the folder of real data has them.
RECORDINGS = {
    "foetal_ecg.npy": "ecg_fetal/foetal_ecg.npy",
    "eeg.npy": "eeg_eeglab/eeg_32ch_128hz.npy",
    "channels.csv": "eeg_eeglab/channels.csv",
    "mix1.wav": "audio_speech2/mix1.wav",
    "mix2.wav": "audio_speech2/mix2.wav",
    "source1.wav": "audio_speech2/source1.wav",
    "source2.wav": "audio_speech2/source2.wav",
    "kodak8": "kodak8",
}


def shell_blocks():
    """Blocks of docs/examples.md that hold commands of the program: (commands, what the page shows below each)."""
    page = ROOT / "docs" / "examples.md"
    text = page.read_text() if page.exists() else ""
    blocks = []
    for block in re.findall(r"^```\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        steps = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
        steps = [step.partition("\n")[::2] for step in steps]
        if steps and steps[0][0].startswith("unmix "):
            blocks.append(steps)
    return blocks


def test_shell_blocks_are_found():
    assert len(shell_blocks()) >= (4 if PAGE.exists() else 0)


@pytest.mark.parametrize("steps", shell_blocks(), ids=lambda steps: steps[0][0].split()[3])
def test_shell_lines_of_the_examples_run_and_print_what_the_page_shows(steps, tmp_path):
    data = Path(os.environ.get("UNMIX_DATA", ""))
    named = [name for name in RECORDINGS if any(re.search(rf"\b{name}\b", command) for command, _ in steps)]
    if "UNMIX_DATA" not in os.environ or not all((data / RECORDINGS[name]).exists() for name in named):
        pytest.skip(f"UNMIX_DATA names no folder that holds {', '.join(RECORDINGS[name] for name in named)}")
    for name in named:
        (tmp_path / name).symlink_to(data / RECORDINGS[name])
    if "eye.npy" in str(steps):
        eeg = np.load(data / RECORDINGS["eeg.npy"])
        labels = [line.split(",")[1] for line in (data / RECORDINGS["channels.csv"]).read_text().splitlines()[1:]]
        np.save(tmp_path / "eye.npy", (eeg[labels.index("FPz")] - eeg[labels.index("EOG1")])[None])
    program = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{program}{os.pathsep}{os.environ['PATH']}"}
    for command, shown in steps:
        ran = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, (command, ran.stderr)
        printed = (ran.stdout + ran.stderr).splitlines()
        for line in shown.splitlines():
            # Times and numbers of iterations are those of one machine.
            if line.strip() and " ms " not in line and " s on " not in line:
                assert any(same_line(line, other) for other in printed), (command, line, printed)


def same_line(a, b):
    """Whether two lines say the same, numbers to three digits."""
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
