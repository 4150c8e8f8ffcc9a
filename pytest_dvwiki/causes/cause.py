"""A cause: its failure, what the records and its page say of it, and what a run adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_dvwiki.records.fixes import tally

if TYPE_CHECKING:
    from pytest_dvwiki.model import Command, FirstBad, Fix, News, Occurrence, OriginType, Verdict, Waived
    from pytest_dvwiki.records.aggregate import CauseHistory, SubtypeHistory
    from pytest_dvwiki.records.fixes import FixState


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts:
    """What the bug page of a cause says, as plain data."""

    path: str
    """Relative to the wiki."""
    status: str = ""
    type: OriginType | None = None
    """A person's word where there is one, else the tool's present view."""
    is_decided: bool = False
    """Whether people decided the type: by the page's status, or by another type than the tool gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A cause on record, or of the present run."""

    name: str
    """The fingerprint; a further cause of one check has the task id of the run that opened it added."""
    occurrence: Occurrence
    """That of the present run, else the newest on record."""
    history: CauseHistory | None = None
    """What the records say, those before the present run; None where none has it."""
    page: PageFacts | None = None
    """What its page said before the present run."""
    subtype: SubtypeHistory | None = None
    """What the records say of its failure subtype; None where nobody asked."""
    advice: str = ""
    """How such failures are fixed, by the pattern or the page of the subtype."""

    # What a run adds.
    news: News | None = None
    """What the cause is to the run; None for a cause that is only on record."""
    verdict: Verdict | None = None
    page_to_read: str | None = None
    """Path of the page to read, relative to the root."""
    without_fix: bool = False
    """Whether the newest fix on record is not in the commit of the run."""
    undone: FixState | None = None
    """The newest fix that its failures undo; None where they say nothing of one."""
    fixed_elsewhere: bool = False
    """Whether the newest fix on record is that of other tests or simulators: it says nothing of those that fail."""
    first_bad: FirstBad | None = None
    """With which commits it came, where records and git tell."""
    waived: tuple[Waived, ...] = ()
    """The waivers of its failures."""
    archived_as: str = ""
    """The runs that have it already, where their artefacts were read once more."""
    like: tuple[str, str] | None = None
    """Names of an older page that says nearly the same, and of the page just made; None where there is no such one."""
    beside: Cause | None = None
    """The cause that was fixed before, where this is another fault at its check."""

    @classmethod
    def on_record(cls, name: str, history: CauseHistory, page: PageFacts | None = None) -> Cause:
        """Return a cause of the records."""
        return cls(
            name=name,
            occurrence=history.newest,
            history=history,
            page=page,
            first_bad=history.first_bad,
            waived=history.waived,
        )

    @property
    def label(self) -> str:
        """Return `error_class / failure_subtype`."""
        return f"{self.occurrence.error_class} / {self.occurrence.failure_subtype}"

    @property
    def command(self) -> Command | None:
        """Return the command that runs the failure again."""
        return self.occurrence.command

    @property
    def states(self) -> tuple[FixState, ...]:
        """Return the fixes on record, oldest first."""
        return self.history.fixes if self.history is not None else ()

    @property
    def newest_fix(self) -> Fix | None:
        """Return the fix that showed last."""
        return self.states[-1].fix if self.states else None

    @property
    def held_fix(self) -> Fix | None:
        """Return the fix that held last, whether the cause returned or not."""
        return next((state.fix for state in reversed(self.states) if state.fix.result == "held"), None)

    @property
    def ends_of_fixes(self) -> tuple[int, int]:
        """Return how many fixes held and how many failed."""
        return tally(self.states)

    @property
    def is_waived(self) -> bool:
        """Return whether every failing test is waived."""
        accepted = {nodeid for each in self.waived for nodeid in each.tests}
        return bool(accepted) and accepted >= {test.nodeid for test in self.occurrence.tests}
