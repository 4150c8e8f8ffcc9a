"""Calibration: whether the confidence of verdicts matches how often people agree (four of five at 80 %).

Each cause counts once. The origin in the first verdict is compared with the `type` of the cause's page, once a person
has confirmed or closed the page or changed the type. Verdicts of UNKNOWN are ignored.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.upkeep.findings import Finding
from pytest_dvwiki.wiki.kinds.bug import is_decided, is_pointer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.wiki.page_cache import PageCache

FEWEST = 20
"""Minimum total number of decisions; nothing is reported if there are fewer."""
FEWEST_OF_DECILE = 8
"""Minimum number of decisions in a decile for a finding."""
CHANCE = 0.025
"""A decile is reported if the probability of its number of right verdicts, or of a more extreme one, is below this."""
_CLAIMS = frozenset({"RTL_BUG", "TB_BUG"})
_NAMED = 3


class Decision(Struct, frozen=True):
    """The origin that the verdict on one cause gave, and the origin that people decided on."""

    claimed: str
    confidence: float
    decided: str
    pattern: str | None

    @property
    def right(self) -> bool:
        """Return whether the verdict agrees with the decision."""
        return self.claimed == self.decided


class Decile(Struct, frozen=True):
    """Decisions about verdicts of similar confidence."""

    low: int
    """Lowest confidence, in percent, such as 80 for 0.80 to 0.89."""
    decisions: tuple[Decision, ...]

    @property
    def high(self) -> int:
        """Return the highest confidence, in percent."""
        return 100 if self.low == 90 else self.low + 9  # noqa: PLR2004  # the last decile includes 100 %

    @property
    def count(self) -> int:
        """Return the number of decisions."""
        return len(self.decisions)

    @property
    def right(self) -> int:
        """Return the number of right verdicts."""
        return sum(decision.right for decision in self.decisions)

    @property
    def mean(self) -> float:
        """Return the mean confidence, 0 to 1."""
        return sum(decision.confidence for decision in self.decisions) / self.count

    @property
    def is_off(self) -> bool:
        """Return whether the number of right verdicts is unlikely to be chance."""
        if self.count < FEWEST_OF_DECILE:
            return False
        return min(_chance(range(self.right + 1), self), _chance(range(self.right, self.count + 1), self)) < CHANCE


def _chance(rights: Iterable[int], decile: Decile) -> float:
    """Return the probability of these numbers of right verdicts, if the stated confidence is correct."""
    n, p = decile.count, decile.mean
    return sum(math.comb(n, right) * p**right * (1 - p) ** (n - right) for right in rights)


def deciles(archive: Archive, page_cache: PageCache) -> tuple[Decile, ...]:
    """Return the deciles that have decisions, lowest first, or none if there are too few decisions in total."""
    decisions = list(_decisions(archive, page_cache))
    return by_decile(decisions) if len(decisions) >= FEWEST else ()


def by_decile(decisions: Iterable[Decision]) -> tuple[Decile, ...]:
    """Group decisions by the confidence of their verdicts, the lowest decile first."""
    groups: dict[int, list[Decision]] = {}
    for decision in decisions:
        # Round first: in binary, 0.58 times 100 is less than 58.
        groups.setdefault(min(90, round(decision.confidence * 100) // 10 * 10), []).append(decision)
    return tuple(Decile(low, tuple(groups[low])) for low in sorted(groups))


def check_calibration(shown: Iterable[Decile]) -> Iterator[Finding]:
    """Yield a finding for each decile in which chance does not explain the number of right verdicts."""
    for decile in shown:
        if decile.is_off:
            wrong = Counter(decision.pattern or "no pattern" for decision in decile.decisions if not decision.right)
            named = ", ".join(f"{pattern} ({count})" for pattern, count in wrong.most_common(_NAMED))
            mostly = f"; wrong most often: {named}" if named else ""
            yield Finding(
                "bugs/_index.md",
                0,
                "calibration",
                f"people agreed with {decile.right} of {decile.count} verdicts of {decile.low}-{decile.high}% "
                f"confidence, where about {decile.mean * decile.count:.0f} were expected{mostly}",
            )


def table(shown: Sequence[Decile]) -> list[str]:
    """Return the lines of a table that compares verdicts with decisions; empty without deciles."""
    if not shown:
        return []
    lines = [f"confidence compared with {sum(decile.count for decile in shown)} decisions by people:"]
    lines.append(f"  {'STATED':>7}  {'MEAN':>5}  {'CAUSES':>6}  RIGHT")
    for decile in shown:
        stated = f"{decile.low}-{decile.high}%"
        right = f"{decile.right} ({decile.right / decile.count:.0%}){', off' if decile.is_off else ''}"
        lines.append(f"  {stated:>7}  {decile.mean:>5.0%}  {decile.count:>6}  {right}")
    return lines


def _decisions(archive: Archive, page_cache: PageCache) -> Iterator[Decision]:
    decided = {
        page.path: page
        for page in page_cache.all("bugs")
        if not page.problem and not is_pointer(page) and is_decided(page) and page.text("type") in _CLAIMS
    }
    first = archive.first_occurrences({path: page.fingerprints() for path, page in decided.items()})
    for path, occurrence in first.items():
        if occurrence.origin.type in _CLAIMS:
            yield Decision(
                claimed=occurrence.origin.type,
                confidence=occurrence.origin.confidence,
                decided=decided[path].text("type"),
                pattern=occurrence.pattern,
            )
