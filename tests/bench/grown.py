"""Makes a wiki like that of a project after years of regressions; the same numbers give the same wiki.

    python tests/bench/grown.py FOLDER [--pages N] [--records N]

Writes records to FOLDER with enough causes, subtypes and coverage bins for N pages, and builds the wiki from them. As
in a real project, few causes make most of the failures, and most causes share few labels.
"""

from __future__ import annotations

import argparse
import bisect
import itertools
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.model import (
    BinRow,
    Command,
    FailedTest,
    FixRow,
    LogReference,
    Occurrence,
    Origin,
    PassedAgain,
    RunRecord,
    Simulator,
    Suite,
    Totals,
    Vcs,
)
from pytest_dvwiki.records.codec import encode
from pytest_dvwiki.records.store import record_path, suite_id, write_suite
from pytest_dvwiki.settings import Layout
from pytest_dvwiki.wiki.writing.build import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_dvwiki.model import OriginType

BEGAN = datetime(2024, 11, 1, tzinfo=UTC)
_DAYS = 730
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_IPS = ("axi", "ddr", "pcie", "fifo", "dma", "noc", "uart", "spi", "eth", "usb", "cache", "mmu", "gpio", "i2c")
_UNITS = ("reader", "writer", "arbiter", "bridge", "decoder", "queue", "monitor", "driver", "scoreboard", "sequencer")
_SIGNALS = ("valid", "ready", "data", "addr", "burst", "last", "resp", "strobe", "grant", "credit", "parity", "empty")
_VERBS = (
    "mismatch",
    "lost",
    "stuck",
    "late",
    "dropped",
    "repeated",
    "unexpected",
    "out of order",
    "corrupted",
    "unknown",
)
_CLASSES = ("uvm_error", "assertion", "sim_error", "uvm_fatal", "python_error")
_ORIGINS: tuple[OriginType, ...] = ("RTL_BUG", "TB_BUG", "UNKNOWN")
_KINDS = 120
"""Subtypes of a wiki of 10,000 pages."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The size of a wiki."""

    pages: int
    records: int

    @property
    def kinds(self) -> int:
        """Return the number of pattern pages."""
        return max(5, min(_KINDS, self.pages // 10))

    @property
    def bins(self) -> int:
        """Return the number of coverage pages."""
        return self.pages // 10

    @property
    def causes(self) -> int:
        """Return the number of bug pages."""
        return self.pages - self.kinds - self.bins


class Generator:
    """Makes the records of a wiki.

    Args:
        numbers: Size of the wiki.
        seed: Seed of the words and dates.
    """

    def __init__(self, numbers: Numbers, seed: int = 1) -> None:
        self.numbers = numbers
        self._dice = random.Random(seed)
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(numbers.causes)))
        self._kind_weights = list(accumulate(1 / (rank + 1) for rank in range(numbers.kinds)))
        self.tests = [
            f"tests/test_{ip}.py::test_{ip}::{unit}_{number}" for ip in _IPS for unit in _UNITS for number in range(4)
        ]

    def records(self) -> Iterator[RunRecord]:
        """Yield all records in the order of time; each cause and bin occurs in at least one."""
        dice, count = self._dice, self.numbers.records
        moments = sorted(dice.randrange(_DAYS * 86_400) for _ in range(count))
        debut: dict[int, list[int]] = {}
        for cause in range(self.numbers.causes):
            debut.setdefault(dice.randrange(count), []).append(cause)
        bins: dict[int, list[int]] = {}
        for number in range(self.numbers.bins):
            for _ in range(dice.randrange(1, 4)):
                bins.setdefault(dice.randrange(count), []).append(number)
        seen: list[int] = []
        failing: dict[int, None] = {}
        for number, moment in enumerate(moments):
            causes = dict.fromkeys(debut.get(number, []))
            seen += causes
            causes |= dict.fromkeys(self._any(seen) for _ in range(dice.randrange(3)) if seen)
            # The cause that has failed longest is fixed first.
            fixed = [cause for cause in itertools.islice(failing, dice.randrange(2)) if cause not in causes]
            yield self.record(number, moment, list(causes), bins.get(number, []), fixed)
            failing |= causes
            for cause in fixed:
                del failing[cause]

    def _any(self, seen: Sequence[int]) -> int:
        """Return one of the causes seen so far, early ones with a higher probability."""
        share = self._dice.random() * self._weights[len(seen) - 1]
        return seen[bisect.bisect(self._weights, share, 0, len(seen) - 1)]

    def record(
        self, number: int, second: int, causes: Sequence[int], bins: Sequence[int] = (), fixed: Sequence[int] = ()
    ) -> RunRecord:
        """Return one run.

        Args:
            number: Number of the run, for its id and commit.
            second: End of the run, in seconds after `BEGAN`.
            causes: Numbers of the failing causes.
            bins: Numbers of the coverage bins in its report.
            fixed: Numbers of the causes that pass again.
        """
        finished = BEGAN + timedelta(seconds=second)
        names = self.tests[: 400 + number // 500]
        return RunRecord(
            task_id=f"nightly_{finished:%Y%m%dT%H%M%SZ}_{number:06x}",
            tool="pytest-dvwiki 0.1.0",
            registry="9f2c",
            fingerprint_version=1,
            started=(finished - timedelta(seconds=600)).strftime(_TIME),
            finished=finished.strftime(_TIME),
            duration_s=600.0,
            vcs=Vcs(commit=f"{number:040x}", branch="main"),
            simulators=(Simulator(name="icarus", version="12.0"),),
            suites=(Suite(suite=suite_id(names), simulator="icarus"),) if number % 4 == 0 else (),
            totals=Totals(passed=len(names) - len(causes), failed=len(causes)),
            occurrences=tuple(self.occurrence(cause, number) for cause in causes),
            passed_again=tuple(self._again(cause) for cause in fixed),
            fixes=tuple(self._fix(cause, number) for cause in fixed),
            coverage=tuple(self._bin(each, number) for each in dict.fromkeys(bins)),
        )

    def suites(self) -> list[list[str]]:
        """Return the lists of tests to which records refer."""
        return [self.tests[: 400 + step] for step in range(self.numbers.records // 500 + 1)]

    def occurrence(self, cause: int, run: int) -> Occurrence:
        """Return a cause as seen in a run: always the same words, with other values in each run."""
        words = random.Random(f"cause {cause}")
        values = random.Random(f"cause {cause} run {run}")
        ip, unit, signal, verb = (words.choice(choice) for choice in (_IPS, _UNITS, _SIGNALS, _VERBS))
        kind = words.choices(range(self.numbers.kinds), cum_weights=self._kind_weights)[0]
        place = f"tb.dut.u_{ip}_{unit}{words.randrange(8)}.{signal}_{words.randrange(4)}"
        report = f"[{ip.upper()}_{unit.upper()}_{cause}] {signal} {verb}"
        told = f"UVM_ERROR {ip}_{unit}.sv({words.randrange(40, 900)}) @ {values.randrange(10**6)}ns: {place} {report}"
        primary = f"{told}: expected 0x{values.randrange(2**16):04x} got 0x{values.randrange(2**16):04x}"
        around = [self._info(ip, words, values) for _ in range(12)]
        tests = [
            FailedTest(
                nodeid=words.choice(self.tests),
                seed=str(values.randrange(10**9)),
                sim_time="1250 ns",
                simulator="icarus",
                duration_s=float(60 + run % 600),
            )
        ]
        return Occurrence(
            fingerprint=fingerprint_of(cause),
            error_class=_CLASSES[kind % len(_CLASSES)],
            failure_subtype=kind_of(kind),
            pattern="uvm.scoreboard_mismatch" if kind % 2 else None,
            origin=Origin(
                type=words.choices(_ORIGINS, (6, 3, 1))[0],
                confidence=words.randrange(50, 96) / 100,
                reasons=("fails with 3 of 3 seeds",),
            ),
            primary=primary,
            tests=tuple(tests),
            excerpt="\n".join([*around[:6], primary, *around[6:]]),
            log=LogReference(path=f"sim_build/{ip}/sim.log", line=values.randrange(1, 90_000)),
            command=Command(
                arguments=("pytest", tests[0].nodeid),
                variables={"COCOTB_RANDOM_SEED": tests[0].seed or ""},
                test=tests[0].nodeid,
            ),
            ip_type=ip,
        )

    @staticmethod
    def _info(ip: str, words: random.Random, values: random.Random) -> str:
        name = f"{ip}.{words.choice(_UNITS)} {words.choice(_SIGNALS)}"
        return f"{values.randrange(10**6)}ns INFO {name} = 0x{values.randrange(2**32):08x}"

    def _again(self, cause: int) -> PassedAgain:
        test = self.occurrence(cause, 0).tests[0]
        return PassedAgain(
            nodeid=test.nodeid,
            fingerprint=fingerprint_of(cause),
            seed="1",
            changed="commit",
            failed_seed="1",
            simulator=test.simulator,
        )

    def _fix(self, cause: int, run: int) -> FixRow:
        words = random.Random(f"fix {cause} {run}")
        done = words.choice(("reset", "hold", "delay", "mask"))
        subject = f"{words.choice(_IPS)}: {words.choice(_SIGNALS)} {done} in {words.choice(_UNITS)}"
        return FixRow(
            fingerprint=fingerprint_of(cause),
            text=subject,
            by="git",
            commits=(
                f"{run - 1:040x}",
                f"{run:040x}",
            ),
            result="open",
            log=(f"{run:012x} {subject}",),
            log_count=1,
            files=(f"rtl/{words.choice(_IPS)}_{words.choice(_UNITS)}.sv",),
            file_count=1,
        )

    def _bin(self, number: int, run: int) -> BinRow:
        words = random.Random(f"bin {number}")
        return BinRow(
            covergroup=f"{words.choice(_IPS)}.{words.choice(_SIGNALS)}_{words.choice(_UNITS)}",
            bin=f"bin_{number}",
            action_class=words.choice(("actionable", "protocol_blocked", "needs_investigation")),
            feature=f"{words.choice(_UNITS)} {words.choice(_SIGNALS)}",
            priority=words.randrange(1, 10),
            scenario=f"hold {words.choice(_SIGNALS)} low for {words.randrange(2, 99)} cycles",
            filled=random.Random(f"{number} {run}").random() < 0.4,
        )


def fingerprint_of(cause: int) -> str:
    """Return the fingerprint of a cause from its number."""
    return f"{random.Random(cause).getrandbits(48):012x}"


def kind_of(kind: int) -> str:
    """Return the name of a subtype from its number."""
    known = ("scoreboard_fail", "timeout", "assertion_fail", "x_propagation", "protocol_violation", "null_handle")
    return known[kind] if kind < len(known) else f"{_SIGNALS[kind % 12]}_{_VERBS[kind % 10].replace(' ', '_')}_{kind}"


def layout_of(folder: Path) -> Layout:
    """Return the places of the project in a folder."""
    return Layout(root=folder, wiki=folder / ".agent" / "wiki")


def write_records(folder: Path, numbers: Numbers) -> Layout:
    """Write the records without pages."""
    place, generator = layout_of(folder), Generator(numbers)
    for names in generator.suites():
        write_suite(place.tasks, names)
    for record in generator.records():
        path = record_path(place.tasks, record)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode(record))
    return place


def grow(folder: Path, numbers: Numbers, progress: Callable[[str], None] = print) -> Layout:
    """Write a wiki: its records, then its pages."""
    place = write_records(folder, numbers)
    progress(f"{numbers.records} records written")
    result = build(place, restore=True)
    progress(f"{len(result.changed)} pages made in {result.seconds:.1f} s")
    return place


def main() -> None:
    """Grow a wiki."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--records", type=int, help="default: two for each page")
    options = parser.parse_args()
    grow(options.folder, Numbers(options.pages, options.records or 2 * options.pages))


if __name__ == "__main__":
    main()
