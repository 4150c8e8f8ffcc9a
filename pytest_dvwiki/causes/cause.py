"""A cause: its failure, its history and page, and what is new about it in a run."""

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


class PageFacts(Struct, frozen=True, kw_only=True):
    """The facts on the bug page of a cause, as plain data."""

    path: str
    """Path of the page, relative to the wiki."""
    status: str = ""
    type: OriginType | None = None
    """The type that a person gave, else the origin in the current verdict of dvwiki."""
    is_decided: bool = False
    """True if people decided the type, by the page's status or by changing the type that dvwiki gave."""
    owner: str = ""
    """Who works on the cause; set by people."""
    spec_section: str = ""
    """The section of the specification that the cause violates; set by people."""
    links: tuple[str, ...] = ()
    """URLs of the cause's tickets; set by people."""


class Cause(Struct, frozen=True, kw_only=True):
    """A cause, either in the current run or only on record."""

    name: str
    """The fingerprint. For a later cause of the same check: the fingerprint, `/`, and the task id of its first run."""
    occurrence: Occurrence
    """The occurrence in the current run, else the newest on record."""
    history: CauseHistory | None = None
    """The history before the current run; None if no record has the cause."""
    page: PageFacts | None = None
    """The facts on the cause's page, as they were before the current run."""
    subtype: SubtypeHistory | None = None
    """The history of the failure subtype; None if it was not asked for."""
    advice: str = ""
    """How to fix such failures, from the pattern or from the page of the subtype."""

    # News of the current run.
    news: News | None = None
    """What the cause is to the run; None for a cause that is only on record."""
    verdict: Verdict | None = None
    page_to_read: str | None = None
    """Path of the page to read, relative to the root."""
    without_fix: bool = False
    """True if the run's commit does not contain the newest fix on record."""
    undone: FixState | None = None
    """The newest fix, if the current failures show that the fix did not last; else None."""
    fix_in_place: bool | None = None
    """Whether the run's sources have the changes of the newest fix; False if these were undone, None if unknown."""
    changed_since_fix: bool = False
    """True if sources that may matter to the failure changed between the newest fix and the run."""
    fixed_elsewhere: bool = False
    """True if the newest fix on record is for tests or simulators other than those that fail."""
    matrix: tuple[Split, ...] = ()
    """The axes that separate failures from passes of the same tests, at the commit of the newest failure."""
    first_bad: FirstBad | None = None
    """The commits that introduced the cause; None unless records and git show them."""
    waived: tuple[Waived, ...] = ()
    """The waivers of the cause's failures."""
    archived_as: str = ""
    """The runs that already recorded the cause, if their artefacts were read again; else empty."""
    like: tuple[str, str] | None = None
    """The name of a similar older page and of the page just made; None if there is no similar page."""
    beside: Cause | None = None
    """The fixed cause that the same check reported before, if this cause is another fault."""

    run_id: RunId | None = None
    """The job and machine of the current run, if they are on record."""

    @classmethod
    def on_record(cls, name: str, history: CauseHistory, page: PageFacts | None = None) -> Cause:
        """Return a cause made from the records."""
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
        """Return what the cause is to the run; `KNOWN` for a cause that is only on record."""
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
        """Return whether a licence, a limit, a host or a file system is at fault, so that no test is blamed."""
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
        """Return the last fix that held, even if the cause returned later; None if no fix held."""
        return next((state.fix for state in reversed(self.states) if state.fix.result == "held"), None)

    @property
    def ends_of_fixes(self) -> tuple[int, int]:
        """Return how many fixes held and how many failed."""
        return tally(self.states)

    @property
    def is_waived(self) -> bool:
        """Return whether every failing test is waived."""
        accepted = {nodeid for each in self.waived for nodeid in each.tests}
        return bool(accepted) and accepted.issuperset(self.tests)
