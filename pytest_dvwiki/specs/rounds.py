"""Keeps the files of one item's rounds, so that a later call can resume an interrupted one."""

from __future__ import annotations

import hashlib
import re
import shutil
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki import reading
from pytest_dvwiki.records import disk
from pytest_dvwiki.specs.prompts import configuration, extracted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.checks.schema import Outline
    from pytest_dvwiki.specs.prompts import Round, Texts

CACHE = ".resume_cache"
LEAST = 100
"""Minimum size of a result in bytes; a smaller result is treated as damaged."""
_DAY = 86_400
_OURS = re.compile(r".+-[0-9a-f]{12}")


class RoundFiles(Struct, frozen=True):
    """The folder for the files of one item's rounds."""

    folder: Path

    @classmethod
    def of(cls, parent: Path, name: str, outline: Outline, texts: Texts, model: str) -> RoundFiles:
        """Return the folder for a combination of item, text files and model."""
        files = "\0".join(entry for entry, _ in outline.input_files)
        parts = (configuration(outline), files, texts.system, texts.guidance, texts.template, model)
        digest = hashlib.sha256("\0\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
        return cls(parent / f"{name}-{digest[:12]}")

    def result(self, round_: Round, system: str, prompt: str) -> str | None:
        """Return the saved result of a round if it is from the same prompts or was edited by a person, else None."""
        result = self._text(round_, round_.name)
        if result is None or len(result.encode()) < LEAST:
            return None
        response = self._text(round_, "response")
        is_edited = response is None or extracted(response, round_.name)[0] != result.strip()
        is_same = (self._text(round_, "system_prompt"), self._text(round_, "prompt")) == (system, prompt)
        return result.strip() if is_edited or is_same else None

    def keep(self, round_: Round, *, system: str, prompt: str, response: str, result: str) -> None:
        """Write the files of a round. The result is written last, so that an interrupted round has none."""
        self._path(round_, round_.name).unlink(missing_ok=True)
        for kind, text in (
            ("system_prompt", system),
            ("prompt", prompt),
            ("response", response),
            (round_.name, result),
        ):
            disk.replace(self._path(round_, kind), text.encode())

    def _path(self, round_: Round, kind: str) -> Path:
        return self.folder / f"round{round_.number}_{kind}.md"

    def _text(self, round_: Round, kind: str) -> str | None:
        try:
            return reading.read_text(self._path(round_, kind))
        except OSError:
            return None


def clean(parent: Path, days: float) -> list[Path]:
    """Remove the folders of rounds in which nothing was written for the given number of days, and return them."""
    return [folder for folder in _old(parent, time.time() - days * _DAY) if _removed(folder)]


def _old(parent: Path, before: float) -> Iterator[Path]:
    with suppress(FileNotFoundError):
        for folder in sorted(parent.iterdir()):
            if folder.is_symlink() or not _OURS.fullmatch(folder.name) or not any(folder.glob("round1_*.md")):
                continue
            if max(path.lstat().st_mtime for path in (folder, *folder.iterdir())) <= before:
                yield folder


def _removed(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
