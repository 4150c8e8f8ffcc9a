"""A topic page, `topics/{topic}.md`, and its lessons; lessons on a pattern page have the same format.

Nothing on a topic page is derived from records. Each lesson has its own heading. Below its text, lines in a fixed
format give its id, a source for each session that taught it, and links to other lessons. The number of sources shows
how often a lesson was confirmed; a stored count could be wrong after a merge of two branches.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_dvwiki.search.tokenizer import tokens
from pytest_dvwiki.wiki.text import pages, parts
from pytest_dvwiki.wiki.text.markdown import one_line, plain, prose
from pytest_dvwiki.wiki.text.notes import UNREVIEWED
from pytest_dvwiki.wiki.text.splice import newline_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TOPICS = ("architecture", "dependencies", "gotchas", "testing")
DEFAULT_TOPIC = "gotchas"
"""The topic of a lesson for which no topic was given."""
LESSONS, GENERAL, SUPERSEDED = "Lessons", "General", "Superseded"
SECTIONS = (LESSONS, GENERAL, SUPERSEDED)
SUMMARY = "Most confirmed"
"""Heading of the summary that dvwiki makes without a model."""
REJECTED = "rejected by"
"""Prefix of the reason under a lesson that a person rejected."""
_SUMMARY = 5
_LEVEL = 3
"""The level of a lesson's heading."""
_TITLE = 80
_WORDS = 150
_REASON = 200
_LINE = re.compile(
    r"- (?:lesson `(?P<id>[0-9a-f]{8})`"
    r"|\(source: (?P<source>[^)]*)\)"
    r"|supersedes `(?P<supersedes>[0-9a-f]{8})`"
    r"|superseded by `(?P<by>[0-9a-f]{8})`: (?P<reason>.*)"
    r"|superseded: (?P<fixed>.*)"
    r"|see also `(?P<also>[0-9a-f]{8})`(?P<where>.*)"
    r"|unreviewed: (?P<unreviewed>.*))"
)
_TASK = re.compile(r"tasks/([^|)\s]+?)\.ya?ml(?=[ |]|$)")
_SEEN = re.compile(r"\| seen: (\d{4}-\d\d-\d\d)")
_CITATION = re.compile(r"\(\s*source\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A lesson: one thing that was learned, with its sources."""

    id: str
    title: str
    """The title in Markdown, on one line."""
    text: str
    """The text in Markdown."""
    sources: tuple[str, ...] = ()
    """The text of each citation, without `source: `."""
    section: str = LESSONS
    supersedes: tuple[str, ...] = ()
    """Ids of the lessons that this lesson replaces."""
    superseded_by: str = ""
    """Id of the lesson that replaces this lesson; empty if there is none."""
    reason: str = ""
    """Why the lesson was superseded; empty if it was not."""
    see_also: tuple[tuple[str, str], ...] = ()
    """The id of each related lesson, with the Markdown after the id, such as a link to another page."""
    unreviewed: str = ""
    """The lesson's author, while a person still has to accept the lesson; else empty."""
    raw: str = field(default="", compare=False, repr=False)
    """The lesson's Markdown, as read from its page."""

    @property
    def is_active(self) -> bool:
        """Return whether the lesson is still valid, not superseded."""
        return self.section != SUPERSEDED

    @property
    def words(self) -> frozenset[str]:
        """Return the words of title and text, for comparing lessons."""
        return frozenset(tokens(f"{self.title} {self.text}"))

    @property
    def tasks(self) -> tuple[str, ...]:
        """Return the task ids in the lesson's citations."""
        return tuple(task for source in self.sources for task in _TASK.findall(source))

    @property
    def since(self) -> str:
        """Return the earliest date in the lesson's sources; empty if there is none."""
        return min((day for source in self.sources for day in _SEEN.findall(source)), default="")

    @property
    def seen(self) -> str:
        """Return the latest date in the lesson's sources; empty if there is none."""
        return max((day for source in self.sources for day in _SEEN.findall(source)), default="")

    def markdown(self) -> str:
        """Return the lesson as its page shows it."""
        ended = [f"- superseded by `{self.superseded_by}`: {self.reason}"] if self.superseded_by else []
        ended += [f"- superseded: {self.reason}"] if self.reason and not self.superseded_by else []
        lines = [
            f"- lesson `{self.id}`",
            *([f"- unreviewed: {self.unreviewed}"] if self.unreviewed else []),
            *(f"- (source: {source})" for source in self.sources),
            *(f"- supersedes `{other}`" for other in self.supersedes),
            *ended,
            *(f"- see also `{other}`{where}" for other, where in self.see_also),
        ]
        text = [self.text.strip(), ""] if self.text.strip() else []
        return "\n".join([f"### {self.title}", "", *text, *lines])


def lesson(title: str, text: str, sources: Iterable[str], *, unreviewed: str = "") -> Lesson:
    """Return a lesson made from untrusted text; code spans are kept, all other Markdown is escaped.

    Args:
        title: The title. If it is too long, it is cut, and the full title is put in front of the text.
        text: The text; only the first 150 words are kept.
        sources: The contents of the lesson's citations.
        unreviewed: The author of the lesson, if a person still has to accept the lesson.
    """
    # Text from outside must not contain citations or other lines that only dvwiki writes.
    title, text = (_CITATION.sub("(", each).lstrip("-+*=#> \t\n") for each in (title, text))
    title = f"{title} (lesson)" if title.strip() in SECTIONS or not title.strip() else title
    if len(one_line(title)) > _TITLE and not text.startswith(title):
        text = f"{title}. {text}" if text else title
    shown = " ".join(text.split()[:_WORDS])
    digest = hashlib.sha256(f"{title}\0{shown}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return Lesson(
        id=digest,
        title=prose(title, _TITLE),
        text=prose(shown, 10 * _WORDS),
        sources=tuple(dict.fromkeys(sources)),
        unreviewed=unreviewed,
    )


def source(task_id: str, day: str) -> str:
    """Return the content of a citation: a session's record and date."""
    return f"tasks/{task_id}.yaml | seen: {day[:10]}"


def reason(text: str) -> str:
    """Format untrusted text as the reason why a lesson was superseded."""
    return prose(text, _REASON)


def lessons(text: str) -> list[Lesson]:
    """Return the lessons of a page, section by section, in their order on the page."""
    return [each for section in SECTIONS for each in _of_section(text, section)]


def _of_section(text: str, section: str) -> list[Lesson]:
    found = parts.part(text, section)
    return [_read(section, chunk) for chunk in _chunks(text[slice(*found)] if found else "")[1:]]


def _chunks(body: str) -> list[str]:
    """Split a section: return the text before its first lesson, then each lesson with its heading."""
    lines = body.replace("\r\n", "\n").split("\n")
    headings = ((index, parts.heading_of(line)) for index, line in parts.unfenced(lines))
    starts = [index for index, heading in headings if heading and heading.level <= _LEVEL]
    return ["\n".join(lines[start:end]) for start, end in zip([0, *starts], [*starts, len(lines)], strict=True)]


def _read(section: str, chunk: str) -> Lesson:
    """Parse a lesson from its text on a page."""
    first, *lines = chunk.split("\n")
    heading = parts.heading_of(first)
    title = heading.words if heading else ""
    outside_fences = {index for index, _ in parts.unfenced(lines)}
    keys: dict[str, list[str]] = {}
    where: list[str] = []
    text: list[str] = []
    for index, line in enumerate(lines):
        found = _LINE.fullmatch(line.strip())
        if not found or index not in outside_fences:
            text.append(line)
            continue
        for name, value in found.groupdict().items():
            if value is not None and name != "where":
                keys.setdefault(name, []).append(value)
        if found["also"]:
            where.append(found["where"])
    body = "\n".join(text).strip()
    return Lesson(
        id=keys["id"][0] if "id" in keys else lesson(plain(title), plain(body), ()).id,
        title=title,
        text=body,
        sources=tuple(dict.fromkeys(keys.get("source", ()))),
        section=section,
        supersedes=tuple(keys.get("supersedes", ())),
        superseded_by=keys.get("by", [""])[0],
        reason=keys.get("reason", keys.get("fixed", [""]))[0],
        see_also=tuple(zip(keys.get("also", ()), where, strict=True)),
        unreviewed=keys.get("unreviewed", [""])[0],
        raw=chunk.strip("\n"),
    )


def sections(listed: Sequence[Lesson]) -> str:
    """Return lessons as Markdown, grouped under the headings of their sections."""
    shown = {name: "\n\n".join(each.markdown() for each in listed if each.section == name) for name in SECTIONS}
    return "\n\n".join(f"## {name}\n\n{text}" for name, text in shown.items() if text)


def version(data: bytes) -> str:
    """Return a hash that changes when any lesson of a page changes."""
    shown = "\0".join(each.markdown() for each in lessons(data.decode("utf-8", "replace")))
    return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def new(topic: str) -> bytes:
    """Return a new topic page."""
    people = {"type": "topic", "topic": topic}
    return pages.draft(people, (), topic.replace("_", " ").capitalize(), [(LESSONS, "")]).text.encode()


def with_lessons(data: bytes, listed: Sequence[Lesson]) -> bytes:
    """Return a page with its lessons replaced; all other text stays.

    Raises:
        UnicodeDecodeError: The page is not UTF-8.
    """
    text = data.decode()
    newline = newline_of(text)
    text = text.replace("\r\n", "\n")
    for section in SECTIONS:
        present, wanted = _of_section(text, section), [each for each in listed if each.section == section]
        if wanted == present:
            continue
        # An unchanged lesson stays byte for byte.
        raw = {each: each.raw for each in present}
        shown = "\n\n".join(raw.get(each) or each.markdown() for each in wanted)
        place = parts.part(text, section)
        if place is None:
            text = f"{text.rstrip()}\n\n## {section}\n\n{shown}\n"
        else:
            above = _chunks(text[slice(*place)])[0].strip("\n")
            below = text[place[1] :].lstrip("\n")
            pieces = [text[: place[0]].rstrip("\n"), above, shown, below.rstrip("\n")]
            text = "\n\n".join(filter(None, pieces)) + "\n"
    return _with_status(text.replace("\n", newline).encode(), listed)


def with_summary(data: bytes, listed: Iterable[Lesson]) -> bytes:
    """Return a page with an updated summary: the titles of the most confirmed lessons, each with a source."""
    known = sorted(
        (each for each in listed if each.is_active and not each.unreviewed), key=lambda each: -len(each.tasks)
    )
    lines = [f"- {each.title}{f' (source: {each.sources[0]})' if each.sources else ''}" for each in known[:_SUMMARY]]
    text = data.decode()
    newline = newline_of(text)
    text = text.replace("\r\n", "\n")
    place = parts.part(text, SUMMARY)
    if place is not None:
        text = text[: place[0]].rstrip("\n") + "\n\n" + "\n".join(lines) + "\n\n" + text[place[1] :].lstrip("\n")
    elif lines:
        found = re.search(rf"^## {LESSONS}[ \t]*$", text, re.MULTILINE)
        at = found.start() if found else len(text)
        text = f"{text[:at]}## {SUMMARY}\n\n" + "\n".join(lines) + f"\n\n{text[at:]}"
    return text.replace("\n", newline).encode()


def _with_status(data: bytes, listed: Iterable[Lesson]) -> bytes:
    """Return a topic page with the status `unreviewed` if a lesson awaits review, else without status.

    A page that is not a topic page is returned unchanged.
    """
    metadata = pages.read(data).metadata
    wanted = UNREVIEWED if any(each.unreviewed for each in listed) else None
    if metadata.get("type") != "topic" or metadata.get("status") == wanted:
        return data
    edited = pages.edit(data, {"status": wanted}, {})
    return data if isinstance(edited, pages.Refused) else edited


def confirmed(known: Lesson, more: Iterable[str]) -> Lesson:
    """Return a lesson with more sources."""
    return replace(known, sources=tuple(dict.fromkeys((*known.sources, *more))))
