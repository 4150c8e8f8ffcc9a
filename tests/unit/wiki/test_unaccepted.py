"""Text that agents overwrote, according to the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.wiki.unaccepted import unaccepted

if TYPE_CHECKING:
    from pathlib import Path


def test_a_heading_may_have_the_word_before_the_role(tmp_path: Path) -> None:
    log = tmp_path / "log.md"
    log.write_text("# Log\n\n## [2026-11-22] commit | - | specs/burst#Repaired by hand by agent\n")
    assert unaccepted(tmp_path) == {"specs/burst#Repaired by hand": "agent"}
    log.write_text(f"{log.read_text()}## [2026-11-22] accept | - | specs/burst#Repaired by hand by Ann Lee\n")
    assert unaccepted(tmp_path) == {}
