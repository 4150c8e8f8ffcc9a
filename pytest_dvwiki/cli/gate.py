"""`dvwiki gate`: combines the gate's decisions for several shards."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, layout_of
from pytest_dvwiki.model import Gate
from pytest_dvwiki.model.sentences import count

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.settings import Layout


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="records of the shards, made with --dvwiki-gate: folders, archives, globs, files",
    )
    parser.add_argument("--shards", type=int, metavar="N", help="number of records expected")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Print which failures the gate lets through, or why it is closed.

    Returns:
        0 if the gate of each run lets all its failures through, else 1.
    """
    from pytest_dvwiki.causes.words import gate_text  # noqa: PLC0415

    records = _records(args.paths, layout_of(args))
    if not records:
        raise UsageError(f"no record in {', '.join(args.paths)}; give the folders or files with the shards' records")
    gate = joined(records)
    refused = gate.refused
    if args.shards is not None and len(records) != args.shards:
        reason = "a shard may have been killed" if len(records) < args.shards else "some are from other runs"
        refused = f"{count(len(records), 'record')} of {args.shards} expected: {reason}"
    is_open = gate.is_open and not refused
    if is_open and not gate.failures:
        print(f"dvwiki gate {gate.mode}: no failure in {count(len(records), 'run')}")
    else:
        waived = [each for record in records for each in record.waived]
        print(gate_text(gate.mode, gate, refused=refused, status=1, waived=waived))
    return 0 if is_open else 1


def joined(records: Sequence[RunRecord]) -> Gate:
    """Combine the gates of several runs.

    The result is closed if any run's gate is closed or missing, or if the runs differ in the gate's mode or base.
    """
    gates = [record.gate for record in records if record.gate is not None]
    refused = next((f"the run {each.task_id} did not use --dvwiki-gate" for each in records if each.gate is None), "")
    if not refused and len({(gate.mode, gate.base) for gate in gates}) > 1:
        refused = "the runs differ in --dvwiki-gate or --dvwiki-gate-base"
    refusals = (
        f"{each.task_id}: {each.gate.refused}" for each in records if each.gate is not None and each.gate.refused
    )
    return Gate(
        mode=gates[0].mode if gates else "new",
        base=gates[0].base if gates else None,
        refused=refused or next(refusals, ""),
        failures=tuple(row for gate in gates for row in gate.failures),
    )


def _records(paths: Sequence[str], layout: Layout) -> list[RunRecord]:
    """Return the records found in the paths, without duplicates."""
    from pytest_dvwiki.capture.files.artefacts import find_artefacts  # noqa: PLC0415
    from pytest_dvwiki.records import store  # noqa: PLC0415

    found: dict[str, RunRecord] = {}
    with tempfile.TemporaryDirectory(prefix="dvwiki-") as scratch:
        artefacts = find_artefacts(paths, root=layout.root, scratch=Path(scratch))
        problems = list(artefacts.problems)
        for each in artefacts.artefacts:
            if each.kind == "records":
                records, refusals = store.read_records(each.path, reading.read_records(each.path), each.shown)
                found |= {record.task_id: record for record in records}
                problems += refusals
    if problems:
        raise UsageError(problems[0])
    return list(found.values())
