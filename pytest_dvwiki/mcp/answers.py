"""The common form of all answers: data with a version number, and the same content as text within a token budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field

from pytest_dvwiki.agent.budget import cut
from pytest_dvwiki.mcp.schemas import VERSION
from pytest_dvwiki.redact import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.agent.budget import PromptBlock
    from pytest_dvwiki.tokens import Count


class Row(NamedTuple):
    """One entry of a list, as data and as text."""

    data: dict[str, Any]
    block: PromptBlock


class ToolAnswer(Struct, frozen=True, kw_only=True):
    """The result of a tool."""

    data: dict[str, Any] = field(default_factory=dict)
    """The keys and values specific to this answer, without its list."""
    text: str = ""
    """`data` as text."""
    status: str = "done"
    reason: str = ""
    """Why nothing was done, and what to do instead."""
    key: str = ""
    """Key of the list; empty if the answer has none."""
    rows: Sequence[Any] = ()
    """The entries of the list, or the items that `row` turns into entries."""
    row: Callable[[Any], Row] | None = None
    """Makes an entry from an item of `rows`; called only when needed, because only a few of thousands fit."""
    more: str = ""
    """How to get the omitted entries; put after their number, as in `, give a larger budget`."""
    left_out: tuple[str, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Return whether the call was refused."""
        return self.status in {"conflict", "denied"}


def denied(reason: str) -> ToolAnswer:
    """Return a refusal with its reason."""
    return ToolAnswer(status="denied", reason=reason)


def fitted(answer: ToolAnswer, budget: int, count: Count, reader: str = "") -> tuple[dict[str, Any], str]:
    """Return an answer as data and as text; the last rows are left out until the text fits the budget.

    Args:
        answer: The answer.
        budget: Maximum number of tokens of the text.
        count: Counts tokens.
        reader: The token that identifies the client in later calls; empty if it needs none.
    """
    head = "\n".join(filter(None, (f"{answer.status}: {answer.reason}" if answer.reason else "", answer.text)))
    texts, left_out = [head] if head else [], list(answer.left_out)
    shown: list[Any] = []
    last = f"(left out: {'; '.join([*left_out, _rest(answer, len(answer.rows))])})"
    room = budget - count(head) - count(last)
    for row in map(answer.row, answer.rows) if answer.row else answer.rows:
        whole, *shorter = row.block.lengths(count)
        # Only the first row is shortened; a later row is shown whole or left out.
        text, tokens = next((each for each in (whole, *([] if shown else shorter)) if each[1] <= room), ("", 0))
        if not text and shown:
            break
        texts.append(text or cut(row.block.header, max(room, 0), count))
        room -= tokens
        shown.append(cleaned(row.data))
    if len(shown) < len(answer.rows):
        left_out.append(_rest(answer, len(answer.rows) - len(shown)))
    if left_out:
        texts.append(f"(left out: {'; '.join(left_out)})")
    text = "\n".join(texts)
    data = {
        "schema": VERSION,
        "status": answer.status,
        **({"reason": answer.reason} if answer.reason else {}),
        **cleaned(answer.data),
        **({answer.key: shown} if answer.key else {}),
        "tokens": count(text),
        "left_out": left_out,
        **({"reader": reader} if reader else {}),
    }
    return data, text


def cleaned(value: Any) -> Any:
    """Return data without escape sequences and invisible characters in its strings."""
    match value:
        case str():
            return clean(value)
        case dict():
            return {key: cleaned(each) for key, each in value.items()}
        case list():
            return [cleaned(each) for each in value]
        case _:
            return value


def _rest(answer: ToolAnswer, number: int) -> str:
    return f"{number} of {len(answer.rows)} {answer.key}{answer.more}"
