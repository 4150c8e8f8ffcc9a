"""Search many logs for failures, in several processes: each result depends on its file alone."""

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
    """One log that was read."""

    name: str
    size: int
    """Size of the unpacked log in bytes."""
    reading: Reading


class ScannedFile(Struct, frozen=True):
    """One file that was read: a log, or an archive of logs."""

    logs: tuple[ScannedLog, ...]
    problems: tuple[str, ...]
    """One line for each log that cannot be read to its end, beginning with the log's name."""


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
    sources: Sequence[Source], classifier_of: Callable[[], TextClassifier], farm: Farm
) -> Iterator[ScannedFile]:
    """Read files in separate processes; if a process dies, at most the file that it was reading is lost.

    Args:
        sources: The files; every reader must find them by the same paths or URLs.
        classifier_of: Makes the classifier of a process; a function that can be pickled.
        farm: Where to read the files.

    Yields:
        The result for each file, in the order of the files.

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
