"""The lessons of a session's transcript: extracted before its record is written, and put on pages afterwards."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pytest_dvwiki.llm.model import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.librarian.lessons import SessionLessons
    from pytest_dvwiki.llm.model import Model
    from pytest_dvwiki.settings import Layout

_logger = logging.getLogger(__name__)


class Learning:
    """The lessons of one session.

    Args:
        layout: Where the wiki is.
        task_id: Name of the session's record, which the lessons cite.
        model: The model; None for rules alone.
    """

    def __init__(self, layout: Layout, task_id: str, model: Model | None) -> None:
        self.problem = ""
        """Why no lessons were extracted."""
        self._layout = layout
        self._task_id = task_id
        self._model = model
        self._found: SessionLessons | None = None

    def read(self, transcript: str, texts: Sequence[str | None]) -> str:
        """Extract the lessons, unless an earlier call did; return the text that the record has to keep, if any.

        A transcript that no model could read is kept, and the next call with the same transcript tries again.
        """
        from pytest_dvwiki.librarian import lessons  # noqa: PLC0415  # only a transcript needs the librarian
        from pytest_dvwiki.llm.configuration import LibrarianSettings  # noqa: PLC0415

        if lessons.is_noted(self._layout, self._task_id):
            return ""
        self._found = lessons.of_session(LibrarianSettings.of(self._layout), transcript, texts, self._model)
        self.problem = self._found.problem
        return self._found.text if self._found.drafts or self.problem else ""

    def learn(self) -> list[str]:
        """Put the lessons on their pages, and return the pages; call this after writing the record that they cite."""
        if self._found is None or self.problem:
            return []
        from pytest_dvwiki.librarian import lessons  # noqa: PLC0415  # as above
        from pytest_dvwiki.runs import today  # noqa: PLC0415
        from pytest_dvwiki.wiki.kinds import topic  # noqa: PLC0415

        source = topic.source(self._task_id, today().isoformat())
        try:
            done = lessons.learn(self._layout, self._found.drafts, source, model=self._model, by=self._found.by)
        except ModelError as error:
            self.problem = str(error)
            return []
        for page, reason in done.refused:
            _logger.warning("no lesson was put on %s: %s", page, reason)
        lessons.note(self._layout, self._task_id, done)
        return [*done.added, *done.confirmed]
