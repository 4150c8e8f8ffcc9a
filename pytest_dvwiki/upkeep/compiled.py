"""Accepts text written by a model: a lesson on a page, or the shortened lessons of a page."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_dvwiki.wiki.kinds import topic
from pytest_dvwiki.wiki.review import ReviewError, ReviewQueue
from pytest_dvwiki.wiki.writing import build
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.kinds.topic import Lesson
    from pytest_dvwiki.wiki.review import Proposal


def accept(layout: Layout, proposal: Proposal, by: str) -> str:
    """Put the text of a proposal of kind `compiled` on its page.

    Args:
        layout: Where the wiki is.
        proposal: The proposal. Its target is a lesson (`topics/gotchas#0123abcd`), or a page whose lessons are all
            replaced.
        by: The person.

    Raises:
        ReviewError: The target was removed or changed after the proposal was made.
    """
    address, _, lesson_id = proposal.target.partition("#")
    path = f"{address}.md"
    given = topic.lessons(proposal.text)

    def decide(data: bytes | None) -> bytes:
        if data is None:
            raise ReviewError(f"there is no page {path} any more; reject the proposal")
        if lesson_id:
            return topic.with_lessons(data, _accepted(topic.lessons(data.decode()), lesson_id, given))
        if topic.version(data) != proposal.base:
            raise ReviewError(
                f"{path} has changed since this was proposed; reject the proposal, and run `dvwiki compile` again"
            )
        return topic.with_lessons(data, given)

    try:
        reason = build.change_page(layout, path, decide, log_text=f"{proposal.target} accepted by {by}")
    except (UnicodeDecodeError, YamlError) as error:
        reason = f"it cannot be read: {error}"
    if reason:
        raise ReviewError(f"{path}: {reason}")
    if not lesson_id:
        _close_others(layout, proposal, {f"{address}#{each.id}" for each in given}, by)
    return f"{proposal.target}: accepted"


def _close_others(layout: Layout, accepted: Proposal, present: set[str], by: str) -> None:
    """Reject pending proposals for lessons that the accepted text no longer contains."""
    queue = ReviewQueue(layout)
    for each in queue.pending():
        if each.kind == "compiled" and each.target.startswith(f"{accepted.target}#") and each.target not in present:
            queue.decide(each.id, "rejected", by=by, note=f"replaced by {accepted.id}")


def reject(layout: Layout, proposal: Proposal, by: str) -> None:
    """Mark the lesson of a rejected proposal as superseded. If the target is a page, do nothing."""
    address, _, lesson_id = proposal.target.partition("#")

    def decide(data: bytes | None) -> bytes | None:
        if data is None:
            return None
        return topic.with_lessons(
            data,
            [
                replace(each, section=topic.SUPERSEDED, reason=f"{topic.REJECTED} {topic.reason(by)}", unreviewed="")
                if each.id == lesson_id and each.unreviewed
                else each
                for each in topic.lessons(data.decode())
            ],
        )

    if lesson_id:
        with suppress(UnicodeDecodeError, YamlError):
            build.change_page(layout, f"{address}.md", decide, log_text=f"{proposal.target} rejected by {by}")


def _accepted(present: list[Lesson], lesson_id: str, accepted: list[Lesson]) -> list[Lesson]:
    """Return the lessons of a page, with one of them replaced by the accepted text.

    Raises:
        ReviewError: The page no longer has this lesson.
    """
    if all(each.id != lesson_id for each in present):
        raise ReviewError(f"there is no lesson {lesson_id} any more; reject the proposal")
    words = accepted[0] if accepted else next(each for each in present if each.id == lesson_id)
    shown = {lesson_id: replace(words, id=lesson_id)}
    return [
        replace(each, unreviewed="", title=shown[each.id].title, text=shown[each.id].text) if each.id in shown else each
        for each in present
    ]
