"""Measures the cost of the plugin for a run, as ratios of paired runs.

    python tests/bench/overhead.py [--rounds N] [--tests N]

Compares whole processes in pairs:
    off     pytest with the plugin installed and `--dvwiki` absent, against `-p no:dvwiki`
    on      `--dvwiki` on a suite of passing tests of 5 ms each, against `-p no:dvwiki`
Also prints how many milliseconds the import of the plugin takes without `--dvwiki`.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SUITE = """
import time
import pytest

@pytest.mark.parametrize("n", range({tests}))
def test_passes(n):
    time.sleep(0.005)
"""


def seconds(folder: Path, *arguments: str) -> float:
    """Return the duration of one run of pytest."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


def compare(name: str, folder: Path, rounds: int, *arguments: str) -> None:
    """Print the ratio of runs with these arguments to runs without the plugin, in turn."""
    ratios = []
    for _ in range(rounds):
        without = seconds(folder, "-p", "no:dvwiki")
        ratios.append(seconds(folder, *arguments) / without)
    print(
        f"{name:4} ratio to no plugin: median {statistics.median(ratios):.4f}, "
        f"min {min(ratios):.4f}, max {max(ratios):.4f}, {rounds} pairs"
    )


def import_milliseconds(folder: Path, rounds: int) -> float:
    """Return the median import time of the plugin without `--dvwiki`, as Python measures it."""
    code = "import pytest; import pytest_dvwiki.plugin"
    found = []
    for _ in range(rounds):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", code], cwd=folder, capture_output=True, text=True, check=True
        )
        total = re.findall(r"\|\s+(\d+) \|\s?pytest_dvwiki(?:\.plugin)?$", done.stderr, re.MULTILINE)
        found.append(sum(int(microseconds) for microseconds in total) / 1000)
    return statistics.median(found)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tests", type=int, default=2000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_one.py").write_text("def test_one():\n    pass\n")
        print(f"off  imports of the plugin: median {import_milliseconds(folder, 2 * options.rounds):.1f} ms")
        compare("off", folder, 2 * options.rounds)
        (folder / "test_one.py").unlink()
        (folder / "test_suite.py").write_text(SUITE.format(tests=options.tests))
        compare("on", folder, options.rounds, "--dvwiki")


if __name__ == "__main__":
    main()
