"""Read the logs of earlier runs in parallel, for `dvwiki ingest`."""

from __future__ import annotations

import functools
import pickle
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.leftovers.lone_logs import ReadLog, read_log
from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.pipeline.farm import DIED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.simulations.named_runs import PathTemplate
    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.pipeline.farm import Farm


def read_logs(
    logs: Sequence[Artefact], registry: Registry, templates: Sequence[PathTemplate], farm: Farm
) -> Iterator[ReadLog | OSError]:
    """Yield the content of each log, or the reason why it cannot be read, in order.

    All processes of the farm must be able to open the paths of the logs.

    Raises:
        FarmError: The cluster cannot be used.
    """
    return farm.map(functools.partial(_read, pickle.dumps((registry, tuple(templates)))), logs, _lost)


def _read(how: bytes, log: Artefact) -> ReadLog | OSError:
    matcher, templates = _tools(how)
    try:
        return read_log(log, matcher, templates)
    except OSError as error:
        return error


def _lost(_: Artefact) -> OSError:
    return OSError(None, DIED)


@functools.lru_cache(maxsize=1)
def _tools(how: bytes) -> tuple[Matcher, Sequence[PathTemplate]]:
    registry, templates = pickle.loads(how)  # noqa: S301 (made by the process that sent it)
    return Matcher(registry), templates
