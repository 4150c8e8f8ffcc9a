"""Fuzzes one target with atheris, which follows the branches that an input takes.

    pip install atheris
    python -m tests.fuzz.run TARGET [options of libFuzzer] [folder of inputs]

TARGET is one of those of `targets.py`; a first folder given is where inputs that reach something new are kept. An input
that breaks a promise is written to the present folder and named; `python -m tests.fuzz.run TARGET FILE` tries it again.

Useful options: -max_total_time=SECONDS, -max_len=BYTES, -dict=FILE, -timeout=SECONDS.
"""

from __future__ import annotations

import importlib
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

MOST = 4096
RESULTS = """<?xml version="1.0" encoding="utf-8"?>
<testsuites name="results"><testsuite name="all"><property name="random_seed" value="42"/>
<testcase name="test_a" classname="test_fifo" file="tb.py" lineno="3" time="0.1" sim_time_ns="10" ratio_time="9">
<failure type="AssertionError" message="assert 1 == 2"><![CDATA[Traceback]]></failure></testcase>
<testcase name="test_b" classname="test_fifo"><properties><property name="attachment" value="sim.log"/></properties>
<skipped/><error message="Failed: x"/></testcase></testsuite></testsuites>
"""


def dictionary() -> str:
    """The words that the patterns look for, as libFuzzer reads them."""
    from pytest_dvwiki.patterns.registry import load_registry  # noqa: PLC0415  # atheris instruments what it imports

    words = {text for entry in load_registry().entries for needs in entry.literals for set_ in needs for text in set_}
    quoted = (re.sub(r'["\\]', r"\\\g<0>", word) for word in sorted(words) if word.isascii() and word.isprintable())
    return "".join(f'"{word}"\n' for word in quoted)


def write_seeds(target: str, folder: Path) -> None:
    """Writes inputs to begin with: what the patterns are for, or a results file."""
    from pytest_dvwiki.patterns.registry import load_registry  # noqa: PLC0415  # as above

    examples = [RESULTS] if target == "results" else [text for each in load_registry() for text in each.examples]
    for number, example in enumerate(examples):
        (folder / f"{number}").write_text(example, encoding="utf-8")


def main() -> None:
    """Runs a target until its options end it."""
    atheris: Any = importlib.import_module("atheris")  # not among the tools of the tests
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with atheris.instrument_imports(include=["pytest_dvwiki"]):
        targets = importlib.import_module("tests.fuzz.targets")
    if sys.argv[1] not in targets.TARGETS:
        sys.exit(f"no target {sys.argv[1]!r}: take one of {', '.join(targets.TARGETS)}")
    target, given = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as name:
        words, seeds = Path(name, "words.dict"), Path(name, "seeds")
        words.write_text(dictionary(), encoding="utf-8")
        seeds.mkdir()
        write_seeds(target, seeds)
        options = [f"-max_len={MOST}", "-len_control=0", f"-dict={words}", *given]
        if not any(Path(each).is_file() for each in given):
            options.append(str(seeds))
        atheris.Setup([sys.argv[0], *options], targets.TARGETS[target])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
