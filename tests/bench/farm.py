"""Measures how long an archive of many logs takes with one and two workers, as processes and on a Dask cluster.

    python tests/bench/farm.py [--gigabytes N] [--rounds N] [--folder DIR]

Makes an archive of large logs with one failure in 100,000 lines, and runs `dvwiki scan` on it in each way in turn.
Prints a table in Markdown: the shortest time of each way, its speed, and how many times faster two workers are than
one. Fails if the ways do not print the same bytes.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scan import SCAN, write_log

_FILES = 20
_WAYS = {
    "1 process": ("--jobs", "1"),
    "2 processes": ("--jobs", "2"),
    "Dask, 1 worker": ("--engine", "dask", "--jobs", "1"),
    "Dask, 2 workers": ("--engine", "dask", "--jobs", "2"),
}


def archive(folder: Path, gigabytes: float) -> list[Path]:
    """Make the logs of an archive of this size; all have the same lines."""
    folder.mkdir(parents=True, exist_ok=True)
    first = folder / "run_00.log"
    write_log(first, int(gigabytes * 1e9 / 2**20 / _FILES))
    others = [folder / f"run_{number:02}.log" for number in range(1, _FILES)]
    for each in others:
        shutil.copyfile(first, each)
    return [first, *others]


def took(folder: Path, words: tuple[str, ...]) -> tuple[float, bytes]:
    """Return the duration of a scan in seconds, and its output without the line of its speed."""
    began = time.perf_counter()
    done = subprocess.run([*SCAN, str(folder), *words], capture_output=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode not in {0, 1}:
        sys.exit(done.stderr.decode())
    return seconds, done.stdout


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name) / "archive"
        size = sum(path.stat().st_size for path in archive(folder, options.gigabytes)) / 1e9
        took(folder, ("--jobs", "2"))  # reads the files into memory
        best = dict.fromkeys(_WAYS, float("inf"))
        printed = set()
        for _ in range(options.rounds):
            for way, words in _WAYS.items():
                seconds, output = took(folder, words)
                best[way] = min(best[way], seconds)
                printed.add(output)
        if len(printed) != 1:
            sys.exit("the ways do not print the same")
    print(f"{size:.1f} GB in {_FILES} files\n\n| way | seconds | MB/s | against one |\n| --- | --- | --- | --- |")
    for one, two in (("1 process", "2 processes"), ("Dask, 1 worker", "Dask, 2 workers")):
        for way in (one, two):
            print(f"| {way} | {best[way]:.1f} | {size * 1000 / best[way]:.0f} | {best[one] / best[way]:.2f} |")


if __name__ == "__main__":
    main()
