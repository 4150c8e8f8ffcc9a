"""Runs the tests with faults and many processes at full scale, the longer half of `make survive`."""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile

from .faults import KILLED_AT, REFUSED_AT, TESTS, is_available, kill, refuse, start
from .work import WAYS

KILLS = 1000
REFUSALS = 100
"""Number of calls that fail with each error."""


def main() -> int:
    """Run all tests, and return 1 if something was torn or lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--refusals", type=int, default=REFUSALS)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="of the choice of calls")
    parser.add_argument("ways", nargs="*", choices=[[], *WAYS], metavar="WAY", help="default: all")
    args = parser.parse_args()
    ways = args.ways or list(WAYS)
    random.seed(args.seed)
    _say(f"seed {args.seed}")
    failed = 0
    if is_available():
        failed += _faults("killed", args.kills, [(way, at) for way in ways for at in start(way).places(KILLED_AT)])
        refusals = [(way, at) for way in ways for at in start(way).places(REFUSED_AT)]
        failed += _faults("ENOSPC", args.refusals, refusals)
        failed += _faults("EIO", args.refusals, refusals)
    else:
        _say("no faults were tried: strace is missing, or may not watch a process; install it, or allow it to")
        failed += 1
    if not args.ways:
        with tempfile.TemporaryDirectory(prefix="dvwiki-") as folder:
            command = [sys.executable, "-m", f"{__package__}.crowd", folder]
            failed += subprocess.run(command, cwd=TESTS, check=False).returncode != 0
    return 1 if failed else 0


def _faults(fault: str, count: int, places: list[tuple[str, int]]) -> int:
    """Try a fault at some calls, or at all if there are fewer; return the number of errors."""
    chosen = random.sample(places, min(count, len(places)))
    wrong = 0
    for way in WAYS:
        numbers = sorted(number for name, number in chosen if name == way)
        found = {number: _wrong(fault, way, number) for number in numbers}
        bad = {number: text for number, text in found.items() if text}
        for number, text in bad.items():
            _say(f"{way}: {fault} at call {number}: {text}")
        calls = sum(name == way for name, _ in places)
        if calls:
            _say(f"{fault:8}{way:16}{len(numbers):5} of {calls:4} calls, {len(bad)} wrong")
        wrong += len(bad)
    _say(f"{fault:8}{'all':16}{len(chosen):5} of {len(places):4} calls, {wrong} wrong")
    return wrong


def _wrong(fault: str, way: str, number: int) -> str | None:
    if fault == "killed":
        return kill(start(way), number)
    return refuse(start(way), number, fault, for_ever=fault == "ENOSPC")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
