"""Fuzzes one target with atheris, which is guided by branch coverage, or else with hypothesis.

    python -m tests.fuzz.run TARGET [options of libFuzzer] [folder of inputs]

TARGET is one of those in `targets.py` and `readers.py`. Inputs that reach new branches are kept in the first folder. An
input that fails is written to the current folder; `python -m tests.fuzz.run TARGET FILE` runs it again.

Useful options: -max_total_time=SECONDS, -max_len=BYTES, -dict=FILE, -timeout=SECONDS, -rss_limit_mb=MIB. Without
atheris only the first has an effect.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 4096


def dictionary() -> str:
    """Return the words of the patterns and pieces of files as a dictionary for libFuzzer."""
    from pytest_dvwiki.patterns.registry import load_registry  # noqa: PLC0415  # atheris instruments what it imports

    from .readers import PIECES  # noqa: PLC0415  # as above

    words = {text for entry in load_registry().entries for needs in entry.literals for set_ in needs for text in set_}
    quoted = (re.sub(r'["\\]', r"\\\g<0>", word) for word in sorted(words) if word.isascii() and word.isprintable())
    pieces = ("".join(f"\\x{byte:02x}" for byte in piece) for piece in PIECES if len(piece) <= 64)
    return "".join(f'"{word}"\n' for word in (*quoted, *pieces))


def seeds(target: str) -> list[bytes]:
    """Return the initial inputs: examples of the patterns, or files of the target's kind."""
    from pytest_dvwiki.patterns.registry import load_registry  # noqa: PLC0415  # as above

    from . import readers  # noqa: PLC0415  # as above

    if target in readers.READERS:
        return readers.seeds(target)
    return [text.encode() for each in load_registry() for text in each.examples]


def with_hypothesis(target: str, work: Callable[[bytes], None], until: float) -> None:
    """Run a target on hypothesis's mutations of its seeds, until the time is over."""
    from hypothesis import HealthCheck, given, settings  # noqa: PLC0415  # not needed with atheris

    from .mutations import mutated  # noqa: PLC0415

    class _EnoughError(BaseException):
        """The time is over."""

    @settings(max_examples=10**7, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(mutated(seeds(target)))
    def check(data: bytes) -> None:
        if time.monotonic() > until:
            raise _EnoughError
        work(data)

    with contextlib.suppress(_EnoughError):
        check()


def main() -> None:
    """Run a target until its options end it."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    target, given = sys.argv[1], sys.argv[2:]
    try:
        atheris: Any = importlib.import_module("atheris")  # it has no wheels for some versions of Python
    except ImportError:
        atheris = None
    with contextlib.nullcontext() if atheris is None else atheris.instrument_imports(include=["pytest_dvwiki"]):
        targets = importlib.import_module("tests.fuzz.targets").TARGETS
        targets = {**targets, **importlib.import_module("tests.fuzz.readers").READERS}
    if target not in targets:
        sys.exit(f"no target {target!r}: take one of {', '.join(targets)}")
    if atheris is None:
        limit = next((float(each.partition("=")[2]) for each in given if each.startswith("-max_total_time=")), 60.0)
        with_hypothesis(target, targets[target], time.monotonic() + limit)
        return
    with tempfile.TemporaryDirectory() as name:
        words, folder = Path(name, "words.dict"), Path(name, "seeds")
        words.write_text(dictionary(), encoding="utf-8")
        folder.mkdir()
        for number, seed in enumerate(seeds(target)):
            (folder / f"{number}").write_bytes(seed)
        options = [f"-max_len={MOST}", "-len_control=0", f"-dict={words}", *given]
        if not any(Path(each).is_file() for each in given):
            options.append(str(folder))
        atheris.Setup([sys.argv[0], *options], targets[target])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
