"""riscv-dv: iss_regr.log, the comparison of two simulators, with seed.yaml beside it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.capture.files.results import CASE_LIMIT, Case, ResultsError, ResultsFile
from pytest_dvwiki.capture.runners import Runner
from pytest_dvwiki.redact import MASKED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_PROGRAM = "Test binary: "
_TRACE = re.compile(r"(\w{1,40}) : \S{1,1000}\.csv")
_VERDICT = re.compile(r"\[(PASSED|FAILED)\]: ")
_NUMBERED = re.compile(r"(\w{1,200})_(\d{1,6})")
_SEED = re.compile(r"^(\w{1,200})_(\d{1,6}): '?(\d{1,100})'?$", re.MULTILINE)
_SUMMARY = re.compile(r"^\d+ PASSED, \d+ FAILED$", re.MULTILINE)
"""The last line of iss_regr.log, written after all comparisons."""
_NO_RESULT = "the comparison of the two traces ended without a result"
_BEGINNING = 1 << 20
"""Number of bytes at the start of the generator's log that show whether it ran as a UVM test."""
_KEPT = 200
"""Maximum number of lines of a comparison that are kept."""


def _read(path: Path) -> ResultsFile:
    try:
        text = reading.read_bytes(path).decode(errors="replace")
    except OSError as error:
        raise ResultsError(path, reading.reason(error)) from error
    # A full disk may have cut off the name of the last program.
    parts = [lines for part in text.split(_PROGRAM)[1:] if (lines := part.splitlines())]
    if len(parts) > CASE_LIMIT:
        raise ResultsError(path, f"more than {CASE_LIMIT} tests; split the file before a `{_PROGRAM.strip()}`")
    programs = [PurePosixPath(lines[0].strip()) for lines in parts]
    is_complete = _SUMMARY.search(text) is not None
    seeds = dict(_seeds(path.parent, [program.stem for program in programs], is_complete=is_complete))
    # The path of a program may be relative to the folder in which run.py was called.
    folders = {program.parts[:1] for program in programs[:1]}
    is_called_here = (path.parent.parent / "run.py").is_file() and folders == {(path.parent.name,)}
    cases = []
    for program, (_, *lines) in zip(programs, parts, strict=True):
        seed, options = seeds.get(program.stem, (None, ()))
        simulators = [found[1] for line in lines[:2] if (found := _TRACE.match(line))]
        # Target, generator and other options are in none of the run's files.
        words = ("python3", "run.py", *options, "--iss", ",".join(simulators), MASKED)
        command = words if seed and is_called_here else ()
        cases.append(_case(program.stem, lines[len(simulators) :], seed=seed, command=command))
    return ResultsFile(cases=tuple(cases), folder=path.parent.parent, repeats=True)


def _case(name: str, lines: Sequence[str], *, seed: str | None, command: tuple[str, ...]) -> Case:
    end = next((number for number, line in enumerate(lines) if _VERDICT.match(line)), None)
    if end is not None and lines[end].startswith("[PASSED]"):
        return Case(name=name, seed=seed)
    compared = [line.strip() for line in lines[:end]][:_KEPT]
    # The first mismatch is three lines: its number, and the instruction in each of the traces.
    message = " ".join(compared[:3]) if end is not None else _NO_RESULT
    text = "\n".join(compared[3:] if end is not None else compared)
    return Case(name=name, status="failed", message=message, text=text, seed=seed, command=command)


def _seeds(
    folder: Path, programs: Sequence[str], *, is_complete: bool
) -> Iterator[tuple[str, tuple[str, tuple[str, ...]]]]:
    """Yield each program with its seed and the options that generate it again, if the files show them.

    The generator is called once for each batch of a test, with one seed. As a UVM test, it generates all programs of
    the batch from this seed. In Python (pyflow), it gives every program but the first a random seed.
    """
    batches: dict[str, dict[str, str]] = {}
    for test, number, seed in _SEED.findall(reading.start_of(folder / "seed.yaml", reading.MOST)):
        batches.setdefault(test, {})[number] = seed
    numbered = [(program, *found.groups()) for program in programs if (found := _NUMBERED.fullmatch(program))]
    counts = Counter(test for _, test, _ in numbered)
    for program, test, number in numbered:
        seeds = batches.get(test, {})
        if number in seeds and (number == "0" or (is_complete and len(seeds) == counts[test])):
            yield program, (seeds[number], ("--test", test, "--seed", seeds[number]))
        elif len(seeds) == 1 and "UVM_INFO" in reading.start_of(folder / f"sim_{test}_0.log", _BEGINNING):
            (seed,) = seeds.values()
            yield program, (seed, ("--test", test, "--iterations", str(int(number) + 1), "--start_seed", seed))


RUNNER = Runner(
    recognises=lambda name, head: name.endswith(".log") and head.startswith(_PROGRAM.encode()),
    read=_read,
    logs=("*_sim/*.log",),
)
