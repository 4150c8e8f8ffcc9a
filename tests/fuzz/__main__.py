"""Fuzzes every reader of files from people or git, ten minutes each.

    python -m tests.fuzz [SECONDS [TARGET …]]

A reader must not raise, take more than ten seconds for an input, or use more than a gigabyte of memory, and its message
must name file, place and remedy. An input that breaks this is written to the current folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from .readers import READERS

MINUTES = 10
HANG_S = 10
MEMORY_MIB = 1024
_SHOWN = 3000


def fuzz(target: str, seconds: int) -> tuple[int, str]:
    """Fuzz one target in its own process; return its exit status and its last output."""
    limits = (f"-max_total_time={seconds}", f"-timeout={HANG_S}", f"-rss_limit_mb={MEMORY_MIB}")
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.run", target, *limits],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return done.returncode, done.stdout[-_SHOWN:]


def main() -> int:
    """Fuzz all targets, as many at once as there are processors."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else MINUTES * 60
    targets = sys.argv[2:] or list(READERS)
    broken = 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for target, (status, said) in zip(targets, pool.map(lambda each: fuzz(each, seconds), targets), strict=True):
            last = said.strip().splitlines()[-1:] or [""]
            sys.stdout.write(f"{target}: {'held' if status == 0 else 'BROKEN'}: {last[0]}\n")
            if status:
                broken += 1
                sys.stdout.write(f"{said}\n")
            sys.stdout.flush()
    return min(broken, 1)


if __name__ == "__main__":
    sys.exit(main())
