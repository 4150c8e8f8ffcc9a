"""`dvwiki compile`: compiles each topic that is due, by a model or by rules.

A model's result becomes a proposal in the review queue, and the page stays as it is until a person accepts the
proposal. A result by rules is written to the page without review. If nothing changed, nothing is written.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec
from msgspec import Struct

from pytest_dvwiki import reading
from pytest_dvwiki.causes.words import fix_text
from pytest_dvwiki.librarian import condense
from pytest_dvwiki.librarian.condense import Claim, Relations
from pytest_dvwiki.librarian.lessons import names_of
from pytest_dvwiki.llm.client import tell
from pytest_dvwiki.llm.model import AnswerError, ModelError, parsed, quoted
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.records import aggregate, disk
from pytest_dvwiki.runs import today
from pytest_dvwiki.tokens import by_rule
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.kinds import topic
from pytest_dvwiki.wiki.page_summary import page_name
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.review import ReviewQueue
from pytest_dvwiki.wiki.writing import build

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_dvwiki.librarian.condense import CompiledLessons
    from pytest_dvwiki.llm.configuration import LibrarianSettings
    from pytest_dvwiki.llm.model import Model
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.kinds.topic import Lesson

Status = Literal["few", "unchanged", "waiting", "nothing", "proposed", "written", "failed"]
_FEWEST = 2
_ELSEWHERE = 50
"""Maximum number of lessons on other pages that are shown to the model, so that it can refer to them."""
_ANSWER = 4096
_WORKAROUND = re.compile(
    r"work-?around|\buntil (?:it|this|that|the \w+) is fixed|known to fail|expected to fail|not fixed yet",
    re.IGNORECASE,
)
_BUG = re.compile(r"\b(?:RTL|TB|UNK)_\d{8}_\d+\b")
_Shape = TypeVar("_Shape")


class Outcome(Struct, frozen=True, kw_only=True):
    """The outcome of a compile for one page."""

    page: str
    """Path of the page, relative to the wiki."""
    status: Status
    text: str = ""
    """What was done, or why nothing was done."""
    details: tuple[str, ...] = ()
    """One line for each change, each refused text, and each lesson that a person should look at."""


class _State(msgspec.Struct):
    """What is remembered of a page's last compile."""

    versions: tuple[str, ...] = ()
    """The page's version before the compile, and the version that the compile made or proposed."""
    day: str = ""
    """The date of the compile; empty if there was none."""
    by_rules: bool = False
    """Whether the page was compiled by rules, so that a model can do more."""


def pages(layout: Layout, names: Sequence[str] = ()) -> list[str]:
    """Return the paths of all topic pages, or of the given topics only."""
    return [f"topics/{name}.md" for name in (names or names_of(layout, "topics"))]


def compile_topics(
    settings: LibrarianSettings, names: Sequence[str] = (), *, model: Model | None = None
) -> Iterator[Outcome]:
    """Compile topics, one after the other, and yield each outcome.

    Args:
        settings: The settings.
        names: The topics; if empty, all topics that are due.
        model: The model; if None, topics are compiled by rules.
    """
    with WikiHistory(settings.layout) as history:
        for page in pages(settings.layout, names):
            yield _Page(settings, page, history, model).compiled(is_named=bool(names))


def planned(settings: LibrarianSettings, names: Sequence[str] = ()) -> Iterator[tuple[str, int, int]]:
    """Yield each page that a model would compile, the tokens in the prompts, and the maximum tokens in the answers."""
    with WikiHistory(settings.layout) as history:
        for name in pages(settings.layout, names):
            page = _Page(settings, name, history, None)
            if page.reason(is_named=bool(names)) is None:
                size = by_rule(condense.RELATE_SYSTEM + page.prompt()) + by_rule(condense.WRITE_SYSTEM + page.prompt())
                yield name, size, 2 * _ANSWER


class _Page:
    """One page, which is compiled if it is due.

    Args:
        settings: The settings.
        page: The page, relative to the wiki.
        history: The records and pages.
        model: The model; None to compile by rules.
    """

    def __init__(self, settings: LibrarianSettings, page: str, history: WikiHistory, model: Model | None) -> None:
        self._settings = settings
        self._layout = settings.layout
        self._page = page
        self._history = history
        self._model = model
        try:
            self._data = outside.read(self._layout.wiki, page)
        except OSError:
            self._data = b""
        self._lessons = topic.lessons(self._data.decode("utf-8", "replace"))
        self._active = [each for each in self._lessons if each.is_active]
        self._version = topic.version(self._data)

    def reason(self, *, is_named: bool) -> Outcome | None:
        """Return why the page is not compiled now, as an outcome; None if the page is due."""
        fewest = max(_FEWEST, self._settings.threshold)
        if len(self._active) < fewest:
            return self._outcome("few", f"it has {count(len(self._active), 'lesson')}, fewer than {fewest}")
        for each in ReviewQueue(self._layout).all():
            if (each.kind, each.target, each.base) == ("compiled", self._address, self._version):
                what = f"was {each.decision}" if each.decision else "awaits review: `dvwiki review`"
                return self._outcome("unchanged" if each.decision else "waiting", f"the proposal {each.id} {what}")
        known = self._state()
        can_do_more = known.by_rules and self._model is not None
        days = (today() - date.fromisoformat(known.day)).days if known.day else self._settings.interval
        if self._version in known.versions and not can_do_more:
            return self._outcome("unchanged", "nothing changed since the last compile")
        if days < self._settings.interval and not (is_named or can_do_more):
            return self._outcome(
                "unchanged", f"compiled on {known.day}; give the topic on the command line to compile it again"
            )
        return None

    def compiled(self, *, is_named: bool) -> Outcome:
        """Compile the page if it is due, and return the outcome."""
        outcome = self.reason(is_named=is_named)
        if outcome is not None:
            return outcome
        if self._model is not None:
            try:
                return self._by_model(self._model)
            except ModelError as error:
                if not error.rules:
                    return self._outcome("failed", str(error))
        return self._by_rules()

    def prompt(self) -> str:
        """Return the model's prompt: the lessons of the page, and the titles of lessons on other pages."""
        titles = "\n".join(f"id: {name}: {lesson.title}" for name, lesson in self._elsewhere().items())
        return f"{condense.shown(self._active)}\n\n{quoted('elsewhere', titles)}"

    # By a model

    def _by_model(self, model: Model) -> Outcome:
        tell(model, "stage", "compile", f"{self._page}: {len(self._active)} lessons")
        remembered = _Answers(self._layout, model)
        relations = remembered.ask(condense.RELATE, condense.RELATE_SYSTEM, self.prompt(), Relations)
        same = condense.groups(self._active, relations)
        claims: tuple[Claim, ...] = ()
        if same:
            prompt = "\n".join(f"<group>\n{condense.shown(group)}\n</group>" for group in same)
            claims = remembered.ask(condense.WRITE, condense.WRITE_SYSTEM, prompt, tuple[Claim, ...])
        made = condense.compiled(
            self._layout,
            self._lessons,
            relations,
            claims,
            elsewhere={
                each.id: f" in [{page_name(page)}]({page_name(page)}.md)"
                for page, listed in self._others()
                for each in listed
            },
            resolves=lambda task: self._history.archive.record(task) is not None,
        )
        for each in made.refused:
            tell(model, "warning", "compile", f"{self._page}: refused: {each}")
        outcome = self._proposed(made, remembered.backend)
        remembered.forget()
        return outcome

    def _proposed(self, made: CompiledLessons, by: str) -> Outcome:
        """Put a model's result for the page into the review queue, unless the result changes nothing."""
        data = topic.with_lessons(self._data, made.lessons)
        details = (
            *made.done,
            *(f"refused: {each}" for each in made.refused),
            *(f"stays as it is, for review: {each}" for each in made.kept),
        )
        if topic.version(data) == self._version:
            self._remember((self._version,))
            return self._outcome("nothing", "nothing to change", details)
        proposal = ReviewQueue(self._layout).propose(
            "compiled",
            self._address,
            topic.sections(made.lessons),
            by=by,
            reason="; ".join(details),
            base=self._version,
            sources=dict.fromkeys(source for each in made.lessons for source in each.sources),
        )
        self._remember((self._version, topic.version(data)))
        return self._outcome("proposed", f"`dvwiki review show {proposal.id}`", details)

    # By rules

    def _by_rules(self) -> Outcome:
        done: list[str] = []

        def decide(data: bytes | None) -> bytes | None:
            if data is None:
                return None
            made = condense.by_rules(topic.lessons(data.decode()), self._fixed)
            done.extend(made.done)
            return topic.with_summary(topic.with_lessons(data, made.lessons), made.lessons)

        try:
            refusal = build.change_page(self._layout, self._page, decide, log_text=f"{self._page} compiled by rules")
        except ValueError as error:
            refusal = f"it cannot be read: {error}"
        if refusal:
            return self._outcome("failed", refusal)
        now = outside.read(self._layout.wiki, self._page)
        self._remember((self._version, topic.version(now)), by_rules=True)
        return (
            self._outcome("nothing", "nothing to change")
            if now == self._data
            else self._outcome("written", "compiled by rules", tuple(done))
        )

    def _fixed(self, lesson: Lesson) -> str:
        """Describe the fix that made a workaround obsolete; empty if no fix has held since the lesson was learned."""
        text = f"{lesson.title} {lesson.text}"
        if not _WORKAROUND.search(text):
            return ""
        for name in _BUG.findall(text):
            page = self._history.page_cache.get(f"bugs/{name}.md")
            cause = aggregate.cause(self._history.archive, page.fingerprints()) if page else None
            state = cause.fixes[-1] if cause and cause.fixes else None
            if state and state.fix.result == "held" and not state.returned and lesson.seen < state.fix.date[:10]:
                return topic.reason(f"{name} was fixed on {state.fix.date[:10]} by {fix_text(state.fix)}, which held")
        return ""

    # Places

    @property
    def _address(self) -> str:
        return self._page.removesuffix(".md")

    def _outcome(self, status: Status, text: str, details: Iterable[str] = ()) -> Outcome:
        return Outcome(page=self._page, status=status, text=text, details=tuple(details))

    def _elsewhere(self) -> dict[str, Lesson]:
        found = {each.id: each for _, listed in self._others() for each in listed}
        return dict(list(found.items())[:_ELSEWHERE])

    def _others(self) -> Iterator[tuple[str, list[Lesson]]]:
        """Yield the other topic pages with their active lessons."""
        for page in pages(self._layout):
            if page != self._page:
                with suppress(OSError):
                    text = outside.read(self._layout.wiki, page).decode("utf-8", "replace")
                    yield page, [each for each in topic.lessons(text) if each.is_active]

    # What is remembered

    def _state(self) -> _State:
        return _states(self._layout).get(self._page, _State())

    def _remember(self, versions: tuple[str, ...], *, by_rules: bool = False) -> None:
        states = _states(self._layout) | {self._page: _State(versions, today().isoformat(), by_rules)}
        disk.replace(_cache(self._layout) / "compiled.json", msgspec.json.encode(states))


class _Answers:
    """The model's answers for one page, kept on disk until the page is done, so that a killed compile can continue."""

    def __init__(self, layout: Layout, model: Model) -> None:
        self._folder = _cache(layout)
        self._model = model
        self._files: list[str] = []
        self.backend = ""
        """The backend and model that answered last."""

    def ask(self, step: str, system: str, prompt: str, shape: type[_Shape]) -> _Shape:
        """Return the answer to a prompt, converted to the type `shape`; a stored answer is reused.

        Raises:
            ModelError: No backend answered, or the answer cannot be used.
        """
        key = f"{step}\0{system}\0{prompt}".encode("utf-8", "replace")
        name = f"{hashlib.sha256(key).hexdigest()[:24]}.answer.json"
        self._files.append(name)
        with suppress(OSError, ValueError, KeyError, TypeError, AnswerError):
            kept = json.loads(reading.read_text(self._folder / name))
            found = parsed(kept["text"], shape)
            self.backend = str(kept["backend"])
            return found
        answer = self._model.complete(prompt, system=system, step=step, max_tokens=_ANSWER)
        found = parsed(answer.text, shape)
        self.backend = answer.source
        kept = {"text": answer.text, "backend": self.backend}
        disk.replace(self._folder / name, json.dumps(kept).encode("utf-8", "backslashreplace"))
        return found

    def forget(self) -> None:
        """Delete the stored answers, because the result is on disk."""
        for name in self._files:
            (self._folder / name).unlink(missing_ok=True)


def _cache(layout: Layout) -> Path:
    return layout.wiki / ".cache" / "librarian"


def _states(layout: Layout) -> dict[str, _State]:
    try:
        return msgspec.json.decode(reading.read_bytes(_cache(layout) / "compiled.json"), type=dict[str, _State])
    except (OSError, msgspec.MsgspecError):
        return {}
