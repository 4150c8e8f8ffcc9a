"""Search many logs for failures in several processes; the result for a file does not depend on other files."""

from __future__ import annotations

import functools
import pickle
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.capture.files.sources import SourceError, read_source
from pytest_dvwiki.logtext.logs import blocks
from pytest_dvwiki.pipeline.farm import DIED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_dvwiki.capture.files.sources import Source
    from pytest_dvwiki.pipeline.farm import Farm
    from pytest_dvwiki.triage.texts.reading import Reading, TextClassifier


class ScannedLog(Struct, frozen=True):
    """The result of reading a log."""

    name: str
    size: int
    """Size of the unpacked log in bytes."""
    reading: Reading


class ScannedFile(Struct, frozen=True):
    """The result of reading a file: a log, or an archive of logs."""

    logs: tuple[ScannedLog, ...]
    problems: tuple[str, ...]
    """One line for each log that cannot be read completely, starting with the name of the log."""


def scan_file(
    source: Source, classifier: TextClassifier, progress: Callable[[int], None] = lambda _: None
) -> ScannedFile:
    """Read the logs of one file; `progress` repeatedly gets the number of its bytes read so far."""
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
    sources: Sequence[Source], classifier_of: Callable[[], TextClassifier], farm: Farm
) -> Iterator[ScannedFile]:
    """Read files in separate processes, and yield the result for each file, in order.

    If a process dies, only the file that it was reading is lost. All processes must be able to open the paths or URLs,
    and `classifier_of`, which makes the classifier of a process, must be picklable.

    Raises:
        FarmError: The cluster cannot be used.
    """
    return farm.map(functools.partial(_scan, pickle.dumps(classifier_of)), sources, _lost)


def _scan(classifier_of: bytes, source: Source) -> ScannedFile:
    return scan_file(source, _classifier(classifier_of))


def _lost(source: Source) -> ScannedFile:
    return ScannedFile((), (f"{source.shown}: {DIED}",))


@functools.lru_cache(maxsize=1)
def _classifier(classifier_of: bytes) -> TextClassifier:
    made: TextClassifier = pickle.loads(classifier_of)()  # noqa: S301 (made by the process that sent it)
    return made
