"""Options that set how many processes read files, and where they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError

if TYPE_CHECKING:
    import argparse

    from pytest_dvwiki.pipeline.farm import Farm


def add_farm(parser: argparse.ArgumentParser) -> None:
    """Add the options --jobs, --engine and --scheduler."""
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="number of processes that read files (default: one per CPU, for small logs only one)",
    )
    parser.add_argument(
        "--engine",
        choices=("local", "dask"),
        default="local",
        help="where files are read: processes on this machine, or workers of a Dask cluster",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="for --engine dask: address of a scheduler (tcp://host:8786), or a batch farm (lsf, pbs, sge, slurm) for "
        "--jobs workers (default: --jobs workers on this machine)",
    )


def farm_of(args: argparse.Namespace, *, files: int, size: int) -> Farm:
    """Return the farm for reading the files: processes on this machine, or workers of a Dask cluster.

    `size` is the total size of the files on disk, in bytes.
    """
    from pytest_dvwiki.pipeline.farm import Farm  # noqa: PLC0415

    return Farm.of(args.engine, args.jobs, args.scheduler, files=files, size=size)


def check_farm(args: argparse.Namespace) -> None:
    """Check the options --jobs and --scheduler."""
    if args.jobs is not None and args.jobs < 1:
        raise UsageError(f"--jobs {args.jobs}: give a number of processes, at least 1")
    if args.scheduler and args.engine != "dask":
        raise UsageError("--scheduler works only with --engine dask; add --engine dask")
