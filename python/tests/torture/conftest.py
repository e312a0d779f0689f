"""Torture: arrays that nothing was tuned to, for every class. Right, or said; never a number that is none, never silent.

`cargo xtask torture` and `cargo xtask test all` run every case (some minutes); pytest alone one in so many of them, always the same ones.
"""

import os
import zlib

EVERYTHING = "UNMIX_TORTURE"
ONE_IN = 12


def pytest_collection_modifyitems(config, items):
    if os.environ.get(EVERYTHING) == "1":
        return
    kept, left = [], []
    for item in items:
        here = "torture" in item.path.parts and getattr(item, "callspec", None) is not None
        # By name, so that a case that is added changes no other.
        drawn = zlib.crc32(item.name.encode()) % ONE_IN == 0
        (kept if drawn or not here else left).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept
