"""The command ``unmix``."""

from __future__ import annotations

import signal
import sys

from . import _unmix


def main() -> int:
    """Run the command line program and return its exit code."""
    # The program handles Ctrl-C itself; Python's handler would only run after the work has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _unmix.run_cli(["unmix", *sys.argv[1:]])
