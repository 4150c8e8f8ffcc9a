"""Archives session reports, for `dvwiki ingest`."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.cli.transcript import print_event
from pytest_dvwiki.intake.service import WikiIngestService
from pytest_dvwiki.llm.client import connect
from pytest_dvwiki.llm.configuration import LibrarianSettings
from pytest_dvwiki.llm.model import ModelError
from pytest_dvwiki.records.disk import WikiError
from pytest_dvwiki.wiki.config import WikiConfig

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.intake.service import Done
    from pytest_dvwiki.settings import Settings


class ReportError(Exception):
    """An error in a report, which is then not archived. The message is printed after the file name."""


class SessionReports:
    """Archives session reports, read by rules and, if the project has one, by a model."""

    def __init__(self, settings: Settings) -> None:
        # Warnings of the readers begin with the name of the command, like all other problems.
        logging.basicConfig(format="dvwiki ingest: %(message)s")
        model = connect(LibrarianSettings.of(settings.layout), print_event)
        self._service = WikiIngestService(WikiConfig.of(settings), model)

    def archive(self, path: Path, task: str) -> Done | None:
        """Archive a report; return None if it mentions no failure and no coverage hole.

        Raises:
            ReportError: The report cannot be read, or the wiki cannot be written.
        """
        try:
            text = reading.read_text(path)
            if path.suffix.lower() == ".json":
                json.loads(text)
        except json.JSONDecodeError as error:
            raise ReportError(f":{error.lineno}: not JSON ({error.msg}); correct this line") from error
        except RecursionError as error:
            raise ReportError(": nested too deep; flatten it") from error
        except OSError as error:
            raise ReportError(f": {reading.reason(error)}") from error
        try:
            return self._service.archive_session((text, None, None, None), task)
        except ModelError as error:
            raise ReportError(
                f": not archived yet, because {error}; the report is kept, and the next ingest reads it again"
            ) from error
        except (OSError, WikiError) as error:
            raise ReportError(f": {reading.described(error)}") from error
