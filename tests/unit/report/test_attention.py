"""What needs attention in the morning: causes with news, the people who should look, and both summaries."""

from __future__ import annotations

import builtins
import re
import subprocess
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from msgspec.structs import replace

from pytest_dvwiki.cli import main
from pytest_dvwiki.model import FirstBad, Place, RunRecord, Totals
from pytest_dvwiki.report import status, summary, templating
from pytest_dvwiki.report.attention import ProjectData, shown
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import CAUSE, failed, layout, occurrence, passing, record
from .sites import Elements

if TYPE_CHECKING:
    import pytest

    from pytest_dvwiki.report.attention import Attention
    from pytest_dvwiki.settings import Layout

DOCS = Path(__file__).parents[3] / "docs"
DAY = date(2026, 11, 22)
OTHER = "0a66a656159d"
HOSTILE = "<script>alert(1)</script> | `x` [y](http://z)"


def found(place: Layout, since: date | None = None) -> Attention:
    with ProjectData(place) as sources:
        return sources.attention(DAY, since)


def words(place: Layout, since: date | None = None) -> list[tuple[str, str]]:
    return [(each.cause.name, each.word) for each in found(place, since).news]


def git(root: Path, *arguments: str) -> None:
    settings = ["-c", "user.name=Ada Lee", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", root, *settings, *arguments], check=True, capture_output=True)


def test_causes_are_new_known_and_fixed_by_their_days(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence(), totals=Totals(passed=3, failed=1)))
    archive(place, record(26, occurrence(OTHER), occurrence()))
    assert words(place) == [(OTHER, "NEW"), (CAUSE, "NEW")]
    assert words(place, DAY) == [(OTHER, "NEW"), (CAUSE, "KNOWN")]
    archive(place, replace(passing(27), totals=Totals(passed=1)))
    assert words(place, DAY) == [(OTHER, "NEW"), (CAUSE, "FIXED")]
    attention = found(place)
    assert attention.runs == 3
    assert attention.headline == "1 new, 1 fixed"
    assert [page.cause for page in attention.open] == [OTHER]


def test_a_cause_that_returns_after_its_fix_held_is_regressed(tmp_path: Path) -> None:
    place = layout(tmp_path)
    for each in (record(1, occurrence()), passing(2), *(record(n) for n in (3, 4))):
        archive(place, each)
    archive(place, passing(5, changed="nothing"))
    fixed = found(place).news
    assert [each.word for each in fixed] == ["FIXED"]
    archive(place, record(30, occurrence(), regressed=(CAUSE,)))
    assert words(place, DAY) == [(CAUSE, "REGRESSED")]


def test_the_page_then_the_commit_then_the_file_say_who_should_look(tmp_path: Path) -> None:
    place = layout(tmp_path)
    git(tmp_path, "init", "--quiet")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_fifo.py").write_text("x = 1\n", encoding="utf-8")
    git(tmp_path, "add", "tests")
    git(tmp_path, "commit", "--quiet", "--message", "tests")
    archive(place, record(1, occurrence()))
    (item,) = found(place).news
    assert shown(item.lookers) == "Ada Lee (changed tests/test_fifo.py last)"

    (tmp_path / "CODEOWNERS").write_text("tests/ @fifo-team\ntb/ @bench-team\n", encoding="utf-8")
    git(tmp_path, "add", "CODEOWNERS")
    git(tmp_path, "commit", "--quiet", "--message", "owners")
    (item,) = found(place).news
    assert shown(item.lookers) == "@fifo-team (owner of tests/test_fifo.py in CODEOWNERS)"
    with ProjectData(place) as sources:
        at = replace(item.cause, occurrence=occurrence(place=Place(report="UVM_ERROR", words="", file="tb/sb.py")))
        assert shown(sources.lookers(at)) == "@bench-team (owner of tb/sb.py in CODEOWNERS)"
        head = subprocess.run(["git", "-C", tmp_path, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        commit = head.stdout[:12]
        came = FirstBad(
            fingerprint=CAUSE,
            nodeid="t",
            good="1" * 40,
            bad=head.stdout.strip(),
            log=(f"{commit} owners",),
            log_count=1,
        )
        at = replace(item.cause, first_bad=replace(came, owners=("@rtl-team",)))
        told = (
            f"Ada Lee (wrote {commit[:7]}, the commit that introduced the cause); "
            "@rtl-team (owner, in CODEOWNERS, of files that changed when the cause appeared)"
        )
        assert shown(sources.lookers(at)) == told

    page = next((place.wiki / "bugs").glob("[A-Z]*.md"))
    page.write_text(page.read_text("utf-8").replace("\nowner: null\n", "\nowner: Grace\n"), "utf-8")
    (item,) = found(place).news
    assert shown(item.lookers) == "Grace (owner on its page)"


def test_of_several_tests_that_of_the_command_says_who(tmp_path: Path) -> None:
    place = layout(tmp_path)
    git(tmp_path, "init", "--quiet")
    (tmp_path / "CODEOWNERS").write_text("tests/test_a.py @a-team\ntests/test_fifo.py @fifo-team\n", encoding="utf-8")
    git(tmp_path, "add", "CODEOWNERS")
    git(tmp_path, "commit", "--quiet", "--message", "owners")
    archive(place, record(1, occurrence(tests=(failed("tests/test_a.py::test_a"), failed()))))
    (item,) = found(place).news
    assert shown(item.lookers) == "@fifo-team (owner of tests/test_fifo.py in CODEOWNERS)"


def test_of_a_cause_that_was_reported_without_a_test_nothing_is_said_of_tests(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence(tests=())))
    attention = found(place)
    assert "  NEW        since 2026-11-21, " in "\n".join(status.render(attention, width=200))
    assert "uvm_error / scoreboard_fail, since 2026-11-21" in re.sub(r"[*\\\\]", "", summary.markdown(attention))
    assert "0 tests" not in summary.html(attention)


def test_nobody_is_named_without_evidence(tmp_path: Path) -> None:
    archive(layout(tmp_path), record(1, occurrence()))
    (item,) = found(layout(tmp_path)).news
    assert shown(item.lookers) == "nobody: neither CODEOWNERS nor git names anyone"


WAIVERS = """\
waivers:
  - {id: W-1, match: {fingerprint: x}, reason: late, owner: fifo team, expires: "2026-11-29"}
  - {id: W-2, match: {fingerprint: x}, reason: over, owner: fifo team, expires: "2026-11-21"}
  - {id: W-3, match: {fingerprint: x}, reason: long, owner: fifo team, expires: "2026-11-30"}
  - {id: W-4, match: {fingerprint: x}, reason: for good, owner: fifo team}
"""


def test_waivers_that_end_within_a_week_are_told(tmp_path: Path) -> None:
    place = layout(tmp_path)
    place.agent.mkdir()
    place.waivers.write_text(WAIVERS, encoding="utf-8")
    attention = found(place)
    assert [each.id for each in attention.expiring] == ["W-1"]
    assert [each.id for each in attention.expired] == ["W-2"]
    lines = list(status.render(attention, width=80))
    assert lines[0] == "No run is on record."
    assert "  expires    W-1: late (fifo team, until 2026-11-29)" in lines
    assert "  expired    W-2: over (fifo team, until 2026-11-21)" in lines


def test_the_run_of_that_name_before_is_told(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence(), totals=Totals(passed=7, failed=2)))
    other = record(2, totals=Totals(passed=1))
    archive(place, replace(other, task_id=other.task_id.replace("regression", "smoke")))
    archive(place, record(3, totals=Totals()))
    assert found(place).before is None
    archive(place, record(26, occurrence(), totals=Totals(passed=8, failed=1)))
    attention = found(place)
    lines = list(status.render(attention, width=80))
    assert lines[:2] == [
        "The newest run, regression, 2026-11-22 02:10 UTC: 1 failed, 8 passed.",
        "The previous run of that name: 2 failed, 7 passed.",
    ]
    assert "1 failed, 8 passed. The previous run of that name: 2 failed, 7 passed. " in summary.markdown(attention)


def crowd(place: Layout, number: int) -> None:
    """Archive a run with many causes, each with a hostile message."""
    causes = [occurrence(f"{n:012x}", primary=f"{HOSTILE} {n}") for n in range(number)]
    archive(place, record(26, *causes, totals=Totals(passed=3, failed=number)))


def test_the_state_fits_on_one_screen(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, *(occurrence(f"{n:012x}", primary=f"old {n}") for n in range(100, 110))))
    crowd(place, 30)
    place.waivers.write_text(WAIVERS, encoding="utf-8")
    archive(place, RunRecord.stated("fix_20261122T090000Z_0a1b2c", "2026-11-22T09:00:00Z"))  # no run
    lines = list(status.render(found(place, DAY), width=80))
    assert len(lines) <= 24
    assert all(len(line) <= 80 for line in lines)
    assert lines[0] == "The newest run, regression, 2026-11-22 02:10 UTC: 30 failed, 3 passed."
    assert lines[1] == "1 run since 2026-11-22; causes: 30 new; 40 bug pages open."
    assert "  and 25 more: dvwiki report --summary" in lines
    assert "  and 7 more open pages" in lines


def test_the_summary_in_markdown_keeps_what_logs_hold_in_its_cells(tmp_path: Path) -> None:
    place = layout(tmp_path)
    crowd(place, 1)
    text = summary.markdown(found(place))
    rendered = MarkdownIt("commonmark").render(text)
    assert "<script>" not in rendered
    assert "href" not in rendered
    assert "## New (1)" in text
    assert "Run it again: `cd" in text


def test_the_summary_for_mail_needs_nothing_from_outside(tmp_path: Path) -> None:
    place = layout(tmp_path)
    crowd(place, 25)
    page = Elements(summary.html(found(place)))
    assert {tag for tag, _ in page.found}.isdisjoint({"script", "style", "link", "img", "a", "form"})
    assert all({"class", "id", "src", "href"}.isdisjoint(attributes) for _, attributes in page.found)
    assert HOSTILE in page.text
    assert "and 5 more" in page.text
    assert "New (25)" in page.text


def test_the_commands_print_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    place = layout(tmp_path)
    archive(place, record(26, occurrence()))
    monkeypatch.chdir(tmp_path)
    for call, told in (
        (["status"], "  NEW        1 test, since 2026-11-22, RTL_2026"),
        (["report", "--summary"], "# Regression on 2026-11-22\n"),
        (["report", "--summary", "--format", "html"], "<!DOCTYPE html>"),
    ):
        assert main(call) == 0
        assert told in capsys.readouterr().out
    assert main(["status", "--since", "yesterday"]) == 2
    assert "--since yesterday: give a day such as 2026-12-31" in capsys.readouterr().err


def test_the_commands_of_the_documentation_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive(layout(tmp_path), record(26, occurrence()))
    monkeypatch.chdir(tmp_path)
    pages = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("summary.md", "report.md"))
    calls = re.findall(r"^\$ dvwiki ((?!serve)[^|>#\n]+)", pages, re.MULTILINE)
    assert len(calls) == 4
    for call in calls:
        assert main(call.split()) == 0
    assert (tmp_path / "build" / "report" / "index.html").is_file()


def test_without_the_extra_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    archive(layout(tmp_path), record(26, occurrence()))
    monkeypatch.chdir(tmp_path)
    imported = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "jinja2":
            raise ModuleNotFoundError(name="jinja2")
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    templating.environment.cache_clear()
    assert main(["report", "--summary", "--format", "html"]) == 2
    told = "dvwiki report: jinja2 is not installed: `pip install 'pytest-dvwiki[report]'` installs it\n"
    assert capsys.readouterr().err == told
    assert main(["report", "--summary"]) == 0
