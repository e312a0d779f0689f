"""Makes the environment of the benchmarks, builds unmix in its release profile, and starts them: `python3 bench/run.py --help`.

Only the standard library is used here, because nothing else is there yet.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
VENV = BENCH / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
EXTRAS = ("torch", "jax", "dask", "crates")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], add_help=False)
    parser.add_argument("--with", dest="extras", default="", metavar="LIST", help=f"install further peers: {','.join(EXTRAS)}")
    parser.add_argument("--profile", default="release", help="cargo profile of unmix; only release can be recorded")
    parser.add_argument("--no-build", action="store_true", help="measure the last build")
    parser.add_argument("-h", "--help", action="store_true")
    mine, rest = parser.parse_known_args()
    if mine.help:
        print(parser.format_help())
    extras = [e for e in mine.extras.split(",") if e]
    for extra in extras:
        if extra not in EXTRAS:
            sys.exit(f"--with {extra}: there is no such set of peers; choose among {', '.join(EXTRAS)}")
    environment(extras)
    if not mine.no_build and not mine.help and "--list" not in rest and "--write-docs" not in rest:
        build(mine.profile)
        if "crates" in extras:
            crates()
    words = [str(PYTHON), "-m", "harness", *rest, *(["--help"] if mine.help else [])]
    sys.exit(subprocess.call(words, cwd=BENCH))


def environment(extras):
    """The virtual environment with the requirements; pip is run only when they have changed."""
    if not PYTHON.exists():
        run([sys.executable, "-m", "venv", str(VENV)])
    for name in ("requirements.txt", *(f"requirements-{e}.txt" for e in extras)):
        wanted, stamp = BENCH / name, VENV / f"installed-{name}"
        if not stamp.exists() or stamp.read_text() != wanted.read_text():
            pip("-r", str(wanted))
            shutil.copyfile(wanted, stamp)


def build(profile):
    """Install the wheel, and build the command line program."""
    python, wheels = ROOT / "python", ROOT / "target" / "bench-wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    run([PYTHON, "-m", "maturin", "build", "--quiet", "--profile", profile, "--out", wheels, "--interpreter", PYTHON], python)
    pip("--no-deps", "--force-reinstall", *map(str, wheels.glob("*.whl")))
    cargo = os.environ.get("CARGO", "cargo")
    # All packages are named, so that dependencies have the features that the wheel needs and are not built twice.
    packages = ["--package", "unmix-cli", "--package", "unmix-python", "--package", "unmix"]
    run([cargo, "build", "--quiet", "--profile", profile, *packages, "--bin", "unmix", "--example", "fine_tuning"], ROOT)
    built = ROOT / "target" / ("debug" if profile == "dev" else profile)
    ending = ".exe" if os.name == "nt" else ""
    (VENV / "built").mkdir(exist_ok=True)
    for program in (built / f"unmix{ending}", built / "examples" / f"fine_tuning{ending}"):
        shutil.copy2(program, VENV / "built" / program.name)
    (VENV / "built" / "profile.txt").write_text(profile)


def crates():
    """Other Rust crates, in a separate program; rebuilt only when it or its lock file has changed."""
    source, ending = BENCH / "crates", ".exe" if os.name == "nt" else ""
    files = sorted([*source.glob("*.*"), *source.glob("src/*.rs")])
    said = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    built, stamp = VENV / "built", VENV / "built" / "crates.txt"
    if stamp.exists() and stamp.read_text() == said:
        return
    lib = subprocess.check_output([str(PYTHON), "-c", "import scipy_openblas32 as b; print(b.get_lib_dir())"], text=True).strip()
    target = ROOT / "target" / "bench-crates"
    words = [os.environ.get("CARGO", "cargo"), "build", "--quiet", "--release", "--locked", "--target-dir", target]
    run(words, source, {"OPENBLAS": lib})
    built.mkdir(exist_ok=True)
    shutil.copy2(target / "release" / f"bench-crates{ending}", built / f"bench-crates{ending}")
    stamp.write_text(said)


def pip(*words):
    run([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words])


def run(words, cwd=None, more=None):
    words = [str(w) for w in words]
    if subprocess.call(words, cwd=cwd, env={**os.environ, **(more or {})}) != 0:
        sys.exit(f"this did not work: {' '.join(words)}")


if __name__ == "__main__":
    main()
