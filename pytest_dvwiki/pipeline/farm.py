"""Reading of many logs by the workers of a Dask cluster: on this machine, elsewhere, or as jobs of a batch farm."""

from __future__ import annotations

import functools
import pickle
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.pipeline.scan import ScannedFile, lost, scan_as_told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_dvwiki.capture.files.sources import Source
    from pytest_dvwiki.triage.texts.reading import TextClassifier

BATCH = {"lsf": "LSFCluster", "pbs": "PBSCluster", "sge": "SGECluster", "slurm": "SLURMCluster"}
"""Batch farms, each with its class in dask-jobqueue; Dask's own configuration has queue, memory and the like."""


class FarmError(Exception):
    """A cluster that cannot be used; its text is the reason with a remedy."""


def scan_on_farm(
    sources: Sequence[Source], classifier_of: Callable[[], TextClassifier], jobs: int, scheduler: str | None = None
) -> Iterator[ScannedFile]:
    """Read files on a cluster; a file whose worker died is read by another one.

    Args:
        sources: The files; the workers must find them by the same paths or URLs.
        classifier_of: Makes the classifier of a worker; it must be possible to pickle it.
        jobs: Number of workers, if the cluster is started here.
        scheduler: Address of a scheduler, `tcp://host:8786`, or a batch farm, one of `BATCH`; if None, the workers are
            on this machine.

    Yields:
        The result for each file, in their order.

    Raises:
        FarmError: The cluster cannot be used.
    """
    try:
        import distributed  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise FarmError("the engine dask needs the extra farm: pip install 'pytest-dvwiki[farm]'") from error
    with ExitStack() as stack:
        client = _client(distributed, stack, jobs, scheduler)
        scan = functools.partial(scan_as_told, pickle.dumps(classifier_of))
        futures = client.map(scan, list(sources), pure=False)
        for source, future in zip(sources, futures, strict=True):
            try:
                yield future.result()
            except distributed.scheduler.KilledWorker:
                yield lost(source)
            future.release()


def _client(distributed: Any, stack: ExitStack, jobs: int, scheduler: str | None) -> Any:
    try:
        if scheduler is None:
            cluster = stack.enter_context(
                distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
            )
        elif scheduler in BATCH:
            import dask_jobqueue  # noqa: PLC0415

            cluster = stack.enter_context(getattr(dask_jobqueue, BATCH[scheduler])())
            cluster.scale(jobs=jobs)
        else:
            cluster = scheduler
        return stack.enter_context(distributed.Client(cluster))
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        where = "a cluster on this machine" if scheduler is None else scheduler
        raise FarmError(
            f"{where} cannot be used: {str(error).partition(chr(10))[0] or type(error).__name__}"
        ) from error
