"""Measures the cost of failures in a session: runs with and without the plugin, in turn.

    python tests/bench/session.py [--rounds N] [--failures N] [--only NAME] [--no-summary]

Prints for each case the process time (user and system) and the peak memory of a run without the plugin, and what
`--dvwiki` adds, in total, per test, and as a multiple of pytest's time:

* `repeated`: failures of 100 causes;
* `distinct`: failures of as many causes;
* `known`: failures of as many causes, which an earlier run has archived;
* `passing`: tests that pass at once; the cost is also printed as a share of tests of 0, 10 and 100 ms;
* `one`, `one-pass`: one failing test, one passing test.

For each failure in its summary, pytest 9 searches the reports of all passed phases. From some thousand failures on,
that is most of pytest's time and hides the cost of the plugin; `--no-summary` omits the summary from all runs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FAILING = """
import pytest

LETTERS = {letters!r}
# The words are computed, since pytest parses this whole file for each failure, and a list of all words would be most of
# it.
CAUSES = [
    "w" + "".join(LETTERS[number // len(LETTERS) ** place % len(LETTERS)] for place in range(4))
    for number in range({count})
]

def check(cause, value):
    expected = value + 1
    assert value == expected, f"scoreboard channel_{{cause}} word: got 0x{{value:x}}, expected 0x{{expected:x}}"

@pytest.mark.parametrize("n", range({tests}))
def test_fails(n):
    check(CAUSES[n % {count}], n)
"""
PASSING = """
import pytest

@pytest.mark.parametrize("n", range({tests}))
def test_passes(n):
    pass
"""
LETTERS = "ghijklmnopqrstuvwz"


@dataclass(frozen=True, slots=True)
class Cost:
    """Time and memory of one run."""

    seconds: float
    """Process time, on which other work on the machine has less effect than on elapsed time."""
    megabytes: float


def run(folder: Path, *arguments: str) -> Cost:
    """Run pytest in a process, and return its process time and peak memory."""
    # Python caches compiled modules unless this variable is set.
    removed = ("DVWIKI", "PYTEST", "PYTHONDONTWRITEBYTECODE")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(removed)}
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1}:
        raise SystemExit(f"pytest ended with {process.returncode} in {folder}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def suite(tests: int, causes: int) -> str:
    """Return a file of failing tests with `causes` causes, named by letters that no fingerprint treats as a value."""
    return FAILING.format(tests=tests, letters=LETTERS, count=causes)


def cost(name: str, text: str, tests: int, rounds: int, *more: str) -> None:
    """Print what `--dvwiki` adds to runs of one file; all runs get the options `more`."""
    seconds, megabytes, base, memory = [], [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            (folder / "test_bench.py").write_text(text, encoding="utf-8")
            if name == "known":
                run(folder, "--dvwiki", *more)
            without = run(folder, "-p", "no:dvwiki", *more)
            with_it = run(folder, "--dvwiki", *more)
        seconds.append(with_it.seconds - without.seconds)
        megabytes.append(with_it.megabytes - without.megabytes)
        base.append(without.seconds)
        memory.append(without.megabytes)
    added = statistics.median(seconds)
    each = added / tests * 1000
    print(
        f"{name:9} {tests:6} tests: {statistics.median(base):7.2f} s and {statistics.median(memory):.0f} MB without, "
        f"+{added:.2f} s, +{statistics.median(megabytes):.0f} MB, "
        f"{each:.3f} ms a test, {added / statistics.median(base):.2f} x pytest",
        flush=True,
    )
    if name == "passing":
        shares = ", ".join(
            f"{each / (length + statistics.median(base) / tests * 1000):.1%} of tests of {length} ms"
            for length in (0, 10, 100)
        )
        print(f"{'':9} {shares}", flush=True)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--failures", type=int, default=10_000)
    parser.add_argument("--only")
    parser.add_argument("--no-summary", action="append_const", const="--no-summary", default=[], dest="more")
    options = parser.parse_args()
    many = options.failures
    cases = {
        "repeated": (suite(many, min(100, many)), many),
        "distinct": (suite(many, many), many),
        "known": (suite(many, many), many),
        "passing": (PASSING.format(tests=many), many),
        "one": (suite(1, 1), 1),
        "one-pass": (PASSING.format(tests=1), 1),
    }
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "test_bench.py").write_text(suite(1, 1), encoding="utf-8")
        run(Path(made), "--dvwiki")  # compiles the modules
    for name, (text, tests) in cases.items():
        if options.only in {None, name}:
            cost(name, text, tests, max(options.rounds, 5) if tests == 1 else options.rounds, *options.more)


if __name__ == "__main__":
    main()
