"""A cause: its failure, history and page, and whether it is new in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from pytest_dvwiki.records.fixes import tally
from pytest_dvwiki.records.kinds import is_infrastructure

if TYPE_CHECKING:
    from pytest_dvwiki.model import Command, FirstBad, Fix, News, Occurrence, OriginType, RunId, Verdict, Waived
    from pytest_dvwiki.records.aggregate import CauseHistory
    from pytest_dvwiki.records.fixes import FixState
    from pytest_dvwiki.records.matrix import Split
    from pytest_dvwiki.records.subtype_history import SubtypeHistory

RuledOut = Literal["", "unread", "undone", "passed", "apart"]
"""Why another cause of a check cannot explain a failure of this check; empty if the other cause was fixed.

`unread`: the failing simulation read none of the changes that introduced the other cause. `undone`: these changes were
undone. `passed`: the failing tests had passed with these changes. `apart`: both causes are new, and their simulations
read no changed file in common.
"""

Doubt = Literal["", "undone", "hidden", "other tests"]
"""Why a failure may have another fault than the recorded cause to which it is counted; empty if nothing shows that.

`undone`: some changes that may have introduced the cause are undone. `hidden`: the failing tests failed with other
causes since, so that no run shows whether the fault was repaired, and sources were changed. `other tests`: all tests
that had failed with the cause pass in the run, and none of the failing ones did.
"""


class PageFacts(Struct, frozen=True, kw_only=True):
    """The entries of a cause's bug page that outputs and triage use."""

    path: str
    """Path of the page, relative to the wiki."""
    status: str = ""
    type: OriginType | None = None
    """The origin set by a person, or else the one in dvwiki's current verdict."""
    is_decided: bool = False
    """True if people decided the origin, by setting a status or by changing the value set by dvwiki."""
    owner: str = ""
    """Who works on the cause; set by people."""
    spec_section: str = ""
    """The section of the specification that the cause violates; set by people."""
    links: tuple[str, ...] = ()
    """URLs of the cause's tickets; set by people."""


class Cause(Struct, frozen=True, kw_only=True):
    """A cause in the current run or on record."""

    name: str
    """The fingerprint. Further causes of the same check are called `{fingerprint}/{task id of the first run}`."""
    occurrence: Occurrence
    """The occurrence in the current run, or else the newest on record."""
    history: CauseHistory | None = None
    """The history before the current run; None if the cause is not on record."""
    page: PageFacts | None = None
    """The entries on the cause's page, before the current run."""
    subtype: SubtypeHistory | None = None
    """The history of the failure subtype; None if not requested."""
    advice: str = ""
    """Advice on fixing the failure, from the pattern or the subtype's page."""

    # What is known about the current run.
    news: News | None = None
    """Whether the cause is new, known or regressed in the run; None if the cause is only on record."""
    verdict: Verdict | None = None
    page_to_read: str | None = None
    """Path of the page to read, relative to the root."""
    without_fix: bool = False
    """True if the run's commit does not contain the newest fix on record."""
    undone: FixState | None = None
    """The fix that did not last, as the current failures show: the newest fix, or an older one that was reverted."""
    fix_in_place: bool | None = None
    """Whether the newest fix is still in the run's sources; None if unknown."""
    changed_since_fix: bool = False
    """True if relevant sources changed between the newest fix and the run."""
    fixed_elsewhere: bool = False
    """True if the newest fix on record was for other tests or simulators than the failing ones."""
    matrix: tuple[Split, ...] = ()
    """The matrix axes that separate failing from passing runs of the same tests, at the newest failure's commit."""
    first_bad: FirstBad | None = None
    """The commits that introduced the cause; None if unknown."""
    doubt: Doubt = ""
    """Why the failure may have another fault than the one that `first_bad` introduced."""
    waived: tuple[Waived, ...] = ()
    """The waivers of the cause's failures."""
    archived_as: str = ""
    """Ids of the runs that already recorded these artefacts; empty if the artefacts are new."""
    like: tuple[str, str] | None = None
    """The names of a similar older page and of the page just created; None if there is no similar page."""
    beside: Cause | None = None
    """Another cause that the same check reported earlier, or in this run, if this cause is a different fault."""
    beside_why: RuledOut = ""
    """Why `beside` cannot explain the failure; empty if that cause was fixed."""

    run_id: RunId | None = None
    """Job and machine of the current run, if known."""

    @classmethod
    def on_record(cls, name: str, history: CauseHistory, page: PageFacts | None = None) -> Cause:
        """Return a cause that is on record, without reference to a current run."""
        return cls(
            name=name,
            occurrence=history.newest,
            history=history,
            page=page,
            matrix=history.matrix,
            first_bad=history.first_bad,
            waived=history.waived,
        )

    @property
    def word(self) -> Literal["NEW", "REGRESSED", "KNOWN", "WAIVED"]:
        """Return `NEW`, `KNOWN`, `REGRESSED` or `WAIVED`; `KNOWN` for a cause that is only on record."""
        return "WAIVED" if self.is_waived else self.news or "KNOWN"

    @property
    def label(self) -> str:
        """Return `error_class / failure_subtype`."""
        return f"{self.occurrence.error_class} / {self.occurrence.failure_subtype}"

    @property
    def tests(self) -> tuple[str, ...]:
        """Return the names of the failing tests, each once; empty if the cause was reported without tests."""
        return tuple(dict.fromkeys(test.nodeid for test in self.occurrence.tests))

    @property
    def is_infrastructure(self) -> bool:
        """Return whether the failure comes from a licence, a limit, a host or a file system, and not from a test."""
        return is_infrastructure(self.occurrence)

    @property
    def command(self) -> Command | None:
        """Return the command that reruns the failing test; None if there is none."""
        return self.occurrence.command

    @property
    def states(self) -> tuple[FixState, ...]:
        """Return the fixes on record, oldest first."""
        return self.history.fixes if self.history is not None else ()

    @property
    def newest_fix(self) -> Fix | None:
        """Return the newest fix on record; None if there is none."""
        return self.states[-1].fix if self.states else None

    @property
    def held_fix(self) -> Fix | None:
        """Return the last fix that held, even if the cause came back later; None if no fix held."""
        return next((state.fix for state in reversed(self.states) if state.fix.result == "held"), None)

    @property
    def fix_counts(self) -> tuple[int, int]:
        """Return how many fixes held and how many failed."""
        return tally(self.states)

    @property
    def is_waived(self) -> bool:
        """Return whether every failing test is waived."""
        accepted = {nodeid for each in self.waived for nodeid in each.tests}
        return bool(accepted) and accepted.issuperset(self.tests)
