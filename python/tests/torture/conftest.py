"""Torture tests: extreme arrays for every class. Results must be correct, or an error or warning must say why not; never NaN without a
message.

`cargo xtask torture` runs every case (some 12 minutes); `cargo xtask test all` and pytest alone run a fixed sample of one in `ONE_IN`.
"""

import os
import zlib

EVERYTHING = "UNMIX_TORTURE"
ONE_IN = 8


def pytest_collection_modifyitems(config, items):
    if os.environ.get(EVERYTHING) == "1":
        return
    kept, left, functions = [], [], set()
    for item in items:
        here = "torture" in item.path.parts and getattr(item, "callspec", None) is not None
        # Selected by a hash of the name, so that additional cases do not change the sample; and the first case of every function, and all that
        # request more memory than is available.
        drawn = zlib.crc32(item.name.encode()) % ONE_IN == 0 or "memory" in item.path.name or item.originalname not in functions
        functions.add(getattr(item, "originalname", item.name))
        (kept if drawn or not here else left).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept
