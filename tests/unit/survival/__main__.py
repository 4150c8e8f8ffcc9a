"""The promises at full scale: `make survive`, which takes half an hour."""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections import Counter

from .faults import KILLED_AT, PROJECT, REFUSED_AT, is_available, kill, refuse, start
from .work import WAYS

KILLS = 1000
REFUSALS = 100
"""Of each error."""


def main() -> int:
    """Runs all, and gives 1 where something was torn or lost."""
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
        _say("no faults: strace is missing, or may not watch a process")
    if not args.ways:
        with tempfile.TemporaryDirectory(prefix="dvwiki-") as folder:
            command = [sys.executable, "-m", f"{__package__}.crowd", folder]
            failed += subprocess.run(command, cwd=PROJECT, check=False).returncode != 0
    return 1 if failed else 0


def _faults(fault: str, count: int, places: list[tuple[str, int]]) -> int:
    """Tries a fault at some calls, or at all where there are no more; gives how many went wrong."""
    chosen = sorted(random.sample(places, min(count, len(places))))
    done: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for way, number in chosen:
        begun = start(way)
        found = kill(begun, number) if fault == "killed" else refuse(begun, number, fault, for_ever=fault == "ENOSPC")
        done[way] += 1
        if found:
            wrong[way] += 1
            _say(f"{way}: {fault} at call {number}: {found}")
    for way, cases in done.items():
        calls = sum(1 for name, _ in places if name == way)
        _say(f"{fault:8}{way:16}{cases:5} of {calls:4} calls, {wrong[way]} wrong")
    _say(f"{fault:8}{'all':16}{done.total():5} of {len(places):4} calls, {wrong.total()} wrong")
    return wrong.total()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
