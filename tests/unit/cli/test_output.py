"""No command prints cursor movements, whatever names and texts are in the files of a pull request."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.cli import main
from pytest_dvwiki.cli.output import LINE_START, cleaned

from ..capture.files.test_artefacts import log, results, write

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "x\x1b[31m\x9b2J\u202ex"
CALLS = (
    ("lint",),
    ("build",),
    ("context", "mismatch"),
    ("classify", f"{HOSTILE}.log"),
    ("scan", f"{HOSTILE}.log", f"no{HOSTILE}"),
    ("patterns", "test"),
    ("patterns", "why", f"{HOSTILE}.log"),
    ("merge", f"RTL_{HOSTILE}", HOSTILE),
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        write(root, {f"{HOSTILE}/results.xml": results(), f"{HOSTILE}/sim.log": log(), f"{HOSTILE}.log": log()})
        assert main(["init"]) == 0
        assert main(["ingest", HOSTILE]) == 0
    record = next((root / ".agent").glob("**/tasks/*/*/*.yaml"))
    shutil.copy(record, record.with_name(f"{HOSTILE}.yaml"))
    pages = root / ".agent" / "wiki" / "bugs"
    page = next(pages.glob("*_2*.md"))
    (pages / f"RTL_{HOSTILE}.md").write_text("---\n: [\n---\n", encoding="utf-8")
    page.write_text(page.read_text("utf-8").replace("\n# ", f"\n# mismatch {HOSTILE} ", 1), encoding="utf-8")
    patterns = root / ".agent" / "patterns"
    patterns.mkdir(exist_ok=True)
    (patterns / f"{HOSTILE}.yaml").write_text("patterns: [\n")
    return root


@pytest.mark.parametrize("call", CALLS, ids=lambda call: " ".join(call[:2] if call[0] == "patterns" else call[:1]))
def test_what_is_printed_moves_no_cursor(
    call: tuple[str, ...], hostile: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(hostile)
    main(list(call))
    said = "".join(capfd.readouterr())
    assert said
    assert said.replace("\n", "").isprintable()


def test_progress_begins_its_line_anew_and_odd_names_stay_readable(capsys: pytest.CaptureFixture[str]) -> None:
    with cleaned():
        print(f"{LINE_START}1 of 2: {HOSTILE}", end="")  # noqa: T201
        print(" \udcff\tüber")  # noqa: T201
    assert capsys.readouterr().out == f"{LINE_START}1 of 2: xx \\udcff\tüber\n"
