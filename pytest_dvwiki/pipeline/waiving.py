"""Find the waived failures of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.model import Result, Run, Verdict, Waived
    from pytest_dvwiki.pipeline.services import Services


def waived_in(run: Run, verdicts: Sequence[Verdict], services: Services) -> tuple[tuple[Waived, ...], tuple[str, ...]]:
    """Return the waived failures of a run, and notes on the waivers."""
    if not (run.failures or run.always_record) or services.waivers is None:
        return (), ()
    day = run.finished[:10]
    found = services.waivers.apply(run.failures, verdicts, services.history.names, day)
    unused = services.waivers.unused((each.id for each in found), day, "this run") if not run.part else ()
    return found, (*services.waivers.notes(day), *unused)


def with_waived(run: Run, verdicts: Sequence[Verdict], waived: Sequence[Waived]) -> tuple[Result, ...]:
    """Return the results, with outcome `waived` for tests that have only waived failures."""
    accepted = {(nodeid, each.fingerprint) for each in waived for nodeid in each.tests}
    pairs = [(failure.nodeid, verdict.fingerprint) for failure, verdict in zip(run.failures, verdicts, strict=True)]
    failing = {nodeid for nodeid, fingerprint in pairs if (nodeid, fingerprint) not in accepted}
    names = {nodeid for nodeid, _ in pairs} - failing
    return tuple(
        replace(result, outcome="waived")
        if result.outcome in {"failed", "error"} and result.nodeid in names
        else result
        for result in run.results
    )
