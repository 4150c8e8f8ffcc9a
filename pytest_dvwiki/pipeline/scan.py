"""Reading of many logs for the failures in them, in several processes: the result of a file depends on nothing else."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.files.sources import SourceError, read_source
from pytest_dvwiki.capture.texts.logs import blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_dvwiki.capture.files.sources import Source
    from pytest_dvwiki.triage.texts.reading import Reading, TextClassifier

_DIED = "the process that read it died, twice; it may need more memory than there is"


@dataclass(frozen=True, slots=True)
class ScannedLog:
    """One log that was read."""

    name: str
    size: int
    """Bytes, unpacked."""
    reading: Reading


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """One file that was read: a log, or an archive of logs."""

    logs: tuple[ScannedLog, ...]
    problems: tuple[str, ...]
    """One line for each log that cannot be read to its end, beginning with its name."""


def scan_file(
    source: Source, classifier: TextClassifier, progress: Callable[[int], None] = lambda _: None
) -> ScannedFile:
    """Read the logs of one file.

    Args:
        source: The file.
        classifier: Names the failures.
        progress: Called repeatedly with the number of the file's bytes read so far.
    """
    logs, problems = [], []

    def readable(name: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from pieces
        except SourceError as error:
            problems.append(f"{name}: {error}")

    try:
        for name, pieces in read_source(source, progress):
            sieve, size = classifier.sieve(), 0
            for block in blocks(readable(name, pieces)):
                size += len(block)
                sieve.feed(block)
            logs.append(ScannedLog(name, size, classifier.conclude(sieve.finish())))
    except SourceError as error:
        problems.append(f"{source.shown}: {error}")
    return ScannedFile(tuple(logs), tuple(problems))


def scan_files(
    sources: Sequence[Source], classifier_of: Callable[[], TextClassifier], jobs: int
) -> Iterator[ScannedFile]:
    """Read files in several processes; a process that dies costs the file that it read, after a second try alone.

    Args:
        sources: The files.
        classifier_of: Makes the classifier of a process; it is pickled.
        jobs: Number of processes.

    Yields:
        The result for each file, in their order.
    """
    begin, tries = 0, jobs
    while begin < len(sources):
        # After a process died, the next file is tried alone: it may be the cause.
        end = len(sources) if tries > 1 else begin + 1
        with ProcessPoolExecutor(tries, initializer=_start, initargs=(classifier_of,)) as pool:
            try:
                for result in pool.map(_scan, sources[begin:end]):
                    begin += 1
                    yield result
                tries = jobs
            except BrokenProcessPool:
                if tries == 1:
                    yield ScannedFile((), (f"{sources[begin].shown}: {_DIED}",))
                    begin += 1
                tries = jobs if tries == 1 else 1


_classifiers: list[TextClassifier] = []
"""The classifier of this process, once `_start` made it."""


def _start(classifier_of: Callable[[], TextClassifier]) -> None:
    _classifiers.append(classifier_of())


def _scan(source: Source) -> ScannedFile:
    return scan_file(source, _classifiers[0])
