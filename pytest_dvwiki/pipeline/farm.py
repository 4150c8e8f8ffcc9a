"""Read many files in parallel: in local processes, or with Dask on this machine or on a batch farm."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from pytest_dvwiki.reading import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
BATCH = {"lsf": "LSFCluster", "pbs": "PBSCluster", "sge": "SGECluster", "slurm": "SLURMCluster"}
"""Batch farms and their dask-jobqueue classes. Queue and memory are set in Dask's configuration."""
DIED = "the processes that read this file were killed, perhaps because they needed too much memory"
_WORTH_PROCESSES = 20_000_000
"""Total size of the files on disk, in bytes, above which several processes are faster than one."""


class FarmError(UserError):
    """Raised if a cluster cannot be used; the message gives the reason and a remedy."""


class Farm(Struct, frozen=True):
    """The processes or cluster that read files."""

    jobs: int
    """Number of processes, or of cluster workers to start."""
    dask: bool = False
    scheduler: str | None = None
    """Address of a scheduler (`tcp://host:8786`), or one of `BATCH`; None for workers on this machine."""

    @classmethod
    def of(cls, engine: str, jobs: int | None, scheduler: str | None, *, files: int, size: int) -> Farm:
        """Choose where to read files, given a command's options, the number of files and their total size in bytes.

        Without `jobs`, there is one process per CPU, or a single process for small files.
        """
        worth = engine == "dask" or size > _WORTH_PROCESSES
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return cls(max(1, min(jobs or (cpus if worth else 1), files)), engine == "dask", scheduler)

    @property
    def is_here(self) -> bool:
        """Return whether this process reads all files itself."""
        return self.jobs == 1 and not self.dask

    def map(
        self, task: Callable[[_Item], _Result], items: Sequence[_Item], lost: Callable[[_Item], _Result]
    ) -> Iterator[_Result]:
        """Yield the result of a task for each item, in order.

        The task must be picklable, and depend only on its item. `lost` returns the result for an item whose processes
        died repeatedly.

        Raises:
            FarmError: The cluster cannot be used.
        """
        return self._on_cluster(task, items, lost) if self.dask else self._in_processes(task, items, lost)

    def _in_processes(
        self, task: Callable[[_Item], _Result], items: Sequence[_Item], lost: Callable[[_Item], _Result]
    ) -> Iterator[_Result]:
        begin, jobs = 0, self.jobs
        while begin < len(items):
            # After a process died, the next item is tried alone, because that item may be the reason.
            end = len(items) if jobs > 1 else begin + 1
            with ProcessPoolExecutor(jobs) as pool:
                try:
                    for result in pool.map(task, items[begin:end]):
                        begin += 1
                        yield result
                    jobs = self.jobs
                except BrokenProcessPool:
                    if jobs == 1:
                        yield lost(items[begin])
                        begin += 1
                    jobs = self.jobs if jobs == 1 else 1

    def _on_cluster(
        self, task: Callable[[_Item], _Result], items: Sequence[_Item], lost: Callable[[_Item], _Result]
    ) -> Iterator[_Result]:
        try:
            import distributed  # noqa: PLC0415 (an extra)
        except ImportError as error:
            raise FarmError("the engine dask needs the extra farm: pip install 'pytest-dvwiki[farm]'") from error
        with ExitStack() as stack:
            futures = self._client(distributed, stack).map(task, list(items), pure=False)
            for item, future in zip(items, futures, strict=True):
                try:
                    yield future.result()
                except distributed.scheduler.KilledWorker:
                    yield lost(item)
                future.release()

    def _client(self, distributed: Any, stack: ExitStack) -> Any:
        before = dict(os.environ)
        try:
            if self.scheduler is None:
                # Without an address, the dashboard listens on all interfaces, on a port that others may use.
                local = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
                cluster = stack.enter_context(distributed.LocalCluster(n_workers=self.jobs, **local))
            elif self.scheduler in BATCH:
                import dask_jobqueue  # noqa: PLC0415

                cluster = stack.enter_context(getattr(dask_jobqueue, BATCH[self.scheduler])())
                cluster.sync(_submit, cluster, self.jobs, distributed.Status.failed)
            else:
                cluster = self.scheduler
            return stack.enter_context(distributed.Client(cluster))
        except (ImportError, OSError, ValueError, RuntimeError) as error:
            raise FarmError(
                f"{self.scheduler or 'a cluster on this machine'} cannot be used: {_reason(error)}"
            ) from error
        finally:
            # Dask sets variables for its workers, such as PYTHONHASHSEED, that would end up in printed commands.
            for name in os.environ.keys() - before.keys():
                del os.environ[name]


async def _submit(cluster: Any, jobs: int, failed: Any) -> None:
    """Submit jobs to a batch farm and wait until they are accepted, but not until they run.

    `cluster.scale` would only log a refused job, and the tasks would wait forever.
    """
    for _ in range(jobs):
        cluster.worker_spec.update(cluster.new_worker_spec())
    try:
        await cluster
    except (OSError, RuntimeError):
        for job in cluster.workers.values():
            job.status = failed  # else the cluster cannot be closed
        raise


def _reason(error: Exception) -> str:
    """Return the last output line of a failed command, or else the first line of the error."""
    output = [line for line in str(error).partition("stderr:\n")[2].split("\n") if line]
    first = str(error).partition("\n")[0] or type(error).__name__
    example = ", for example:"
    if first.endswith(example):
        return (
            f"{first.removesuffix(example)}: set it in dask-jobqueue's configuration or in DASK_JOBQUEUE__… variables"
        )
    return output[-1] if output else first
