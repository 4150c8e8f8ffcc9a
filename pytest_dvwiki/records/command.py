"""The command of a failure with another seed."""

from __future__ import annotations

import re
import shlex

_SEED = re.compile(r"\b((?:COCOTB_)?RANDOM_SEED)=(?:'[^']*'|\S+)")


def with_seed(command: str, seed: str | None) -> str | None:
    """A command that runs a test again, with this seed instead of its own; None where it has none."""
    if seed is None or not _SEED.search(command):
        return None
    return _SEED.sub(lambda found: f"{found[1]}={shlex.quote(seed)}", command, count=1)
