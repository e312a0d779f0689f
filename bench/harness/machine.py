"""The machine and the software, described without names or places."""

import datetime
import importlib.metadata
import os
import platform
import re
import subprocess
import time
from pathlib import Path

from . import threads

_PACKAGES = (
    "numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "torch", "dask-ml", "polars", "pyarrow",
)  # fmt: skip


def describe():
    """Processor, cores, caches, memory, system, versions."""
    cpu = _cpuinfo()
    return {
        "date": datetime.date.today().isoformat(),
        "time": now(),
        "commit": _commit(),
        "cleared": threads.cleared(),
        "max_vector_bytes": threads.vectors(),
        "processor": cpu.get("model name") or platform.processor() or platform.machine(),
        "family": " ".join(cpu.get(key, "?") for key in ("cpu family", "model")),
        "vectors": [
            f for f in ("avx2", "fma", "avx512f", "asimd", "sve") if f in cpu.get("flags", cpu.get("Features", "")).split()
        ],
        "cores": _cores(),
        "caches": _caches(),
        "memory_gib": round(_memory() / 2**30, 1) if _memory() else None,
        "virtual": "hypervisor" in cpu.get("flags", "").split(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: v for name in _PACKAGES if (v := _version(name))},
        "unmix": _version("unmix"),
    }


def now():
    """The time of the day, in UTC."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="minutes")


def _commit():
    """The commit of the sources, marked where they were changed since."""
    words = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    done = subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, text=True)
    return done.stdout.strip() or None


def short_name(machine):
    """A name for the record's folder: the processor, with its family and model, since names are shared by many, and its cores."""
    words = re.sub(r"[^a-z0-9]+", "-", re.sub(r"\(.*?\)|processor|cpu|@.*", "", machine["processor"].lower())).strip("-")
    narrow = f"-vectors-{machine['max_vector_bytes']}" if machine.get("max_vector_bytes") else ""
    return f"{machine['date']}-{words}-{machine['family'].replace(' ', '-')}-{machine['cores']}-cores{narrow}"


def busy(seconds=2.0):
    """Number of cores that are busy while this process sleeps, if the system reports it: other processes, and time used by the host."""
    before = _jiffies()
    time.sleep(seconds)
    after = _jiffies()
    return None if before is None else max(0.0, (after - before) / os.sysconf("SC_CLK_TCK") / seconds)


def _jiffies():
    try:
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    except OSError:
        return None
    # user nice system idle iowait irq softirq steal ...: all but idle and iowait
    return sum(int(f) for i, f in enumerate(fields[:8]) if i not in (3, 4))


def _cpuinfo():
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def _cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _caches():
    found = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((index / f).read_text().strip() for f in ("level", "type", "size"))
        if kind != "Instruction":
            found[f"L{level}"] = size
    return found


def _memory():
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
