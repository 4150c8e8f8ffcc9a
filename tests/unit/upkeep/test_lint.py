from __future__ import annotations

import json
import re
import subprocess
from datetime import date, timedelta
from pathlib import Path

import pytest

from pytest_dvwiki.agent.prompts import gather
from pytest_dvwiki.cli import main
from pytest_dvwiki.model import OtherTest
from pytest_dvwiki.settings import Settings
from pytest_dvwiki.upkeep import staleness
from pytest_dvwiki.upkeep.calibration import FEWEST
from pytest_dvwiki.upkeep.findings import KINDS, REMEDIES, WARNINGS, Finding
from pytest_dvwiki.upkeep.lint import lint, report
from pytest_dvwiki.upkeep.routine import SessionCheck, check_session
from pytest_dvwiki.wiki.page_cache import PageCache
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import TODAY, git, layout, occurrence, record

OTHER = "aa0011223344"


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    """Return a wiki with two bugs, committed."""
    (tmp_path / ".agent").mkdir()
    archive(layout(tmp_path), record(1, occurrence()))
    archive(layout(tmp_path), record(2, occurrence(OTHER, failure_subtype="timeout", primary="SimTimeoutError")))
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl" / "fifo.sv").write_text("module sync_fifo; // no old_fifo\nlogic full;\nendmodule\n", "utf-8")
    (tmp_path / "tb.py").write_text("class Board:\n    def check(self):\n        self.seen = 1\n", "utf-8")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "start")):
        git(tmp_path, *command)
    return tmp_path / ".agent" / "wiki"


def bug_page(wiki: Path) -> Path:
    return min((wiki / "bugs").glob("RTL_*.md"))


def append(wiki: Path, text: str) -> int:
    """Add a text to the end of a bug's Resolution, and return its line."""
    page = bug_page(wiki)
    head, mark, tail = page.read_text("utf-8").partition("\n## Notes\n")
    page.write_text(f"{head}\n{text}\n{mark}{tail}", "utf-8")
    return head.count("\n") + 2


def found(wiki: Path, kind: str, depth: str = "full") -> list[Finding]:
    return [each for each in lint(layout(wiki.parent.parent), depth) if each.kind == kind]  # type: ignore[arg-type]


def set_key(page: Path, old: str, new: str) -> None:
    text = page.read_text("utf-8")
    assert old in text
    page.write_text(text.replace(old, new, 1), "utf-8")


def test_each_kind_has_a_remedy() -> None:
    assert set(REMEDIES) == set(KINDS)


def test_each_kind_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "upkeep.md").read_text("utf-8")
    documented = re.findall(r"^\| `(\w+)`( \(warning\))? \| ", page, re.MULTILINE)
    assert [kind for kind, _ in documented] == list(KINDS)
    assert {kind for kind, mark in documented if mark} == WARNINGS


def test_a_sound_wiki_has_no_findings_and_says_so(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(layout(wiki.parent.parent), "full") == []
    assert main(["lint", "--root", str(wiki.parent.parent)]) == 0
    assert capsys.readouterr().out == "the wiki is sound\n"


@pytest.mark.parametrize("arguments", [(), ("--fix",), ("--format", "json"), ("--format", "github")])
def test_no_wiki_is_not_a_sound_one(
    arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lint", "--root", str(tmp_path), *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"dvwiki lint: no wiki in {tmp_path / '.agent' / 'wiki'}; ")
    assert "`dvwiki init`" in said.err
    assert not (tmp_path / ".agent").exists()


def test_each_kind_is_found_in_a_wiki_that_has_everything_wrong(wiki: Path) -> None:
    root, place = wiki.parent.parent, layout(wiki.parent.parent)
    archive(place, record(3, occurrence("b" * 12)))  # same text as the first one
    for number, digit in enumerate("cdef", 4):
        archive(place, record(number, occurrence(digit * 12, failure_subtype=f"kind_{digit}", primary=f"kind {digit}")))
    judged = [f"{number:012x}" for number in range(FEWEST)]
    archive(place, record(9, *(occurrence(name, primary=f"check_{name} failed") for name in judged)))
    hole = wiki / "coverage" / "g_b.md"
    hole.write_text("---\ntype: coverage\ncovergroup: g\nbin: b\naction_class: actionable\n---\n", "utf-8")
    build(place)
    named = {fingerprint: page for page in (wiki / "bugs").glob("RTL_*.md") if (fingerprint := own(page))}
    for name in judged:
        set_key(named[name], "type: RTL_BUG", "type: TB_BUG")
    git(root, "add", ".")
    git(root, "commit", "-qm", "more")
    for fingerprint, first, last in (("c", 100, 1), ("d", 40, 35), ("e", 40, 1)):
        page = named[fingerprint * 12]
        set_key(page, 'first_seen: "2026-11-21"', f'first_seen: "{TODAY.date() - timedelta(days=first)}"')
        set_key(page, 'last_updated: "2026-11-21"', f'last_updated: "{TODAY.date() - timedelta(days=last)}"')
    append(wiki, "It is late (source: tasks/nobody.yaml). See [x](nothing.md), `rtl/fifo.sv:old_fifo`, `rtl/gone.sv`.")
    append(wiki, "\nIt never was early.")
    set_key(named["f" * 12], "status: open", "status: done")
    set_key(named["e" * 12], "<!-- dvwiki:end records", "")
    set_key(hole, "actionable", "design_excluded")
    set_key(named[OTHER], "status: open", "status: [open")
    twin = bug_page(wiki).with_name("RTL_20991231_000001.md")
    twin.write_bytes(named["c" * 12].read_bytes())
    (wiki / "specs" / "burst.md").write_text("---\ntype: spec\nfeature: burst\n---\n<<<<<<< ours\n", "utf-8")
    (wiki / "patterns" / "timeout.md").unlink()
    (wiki.parent / "waivers.yaml").write_text("waiver: []\n", "utf-8")
    (wiki / "log.md").write_text("# DV Agentic Wiki Operation Log\n", "utf-8")
    sorted((wiki.parent / "tasks").glob("2026/11/*.yaml"))[1].unlink()
    assert {each.kind for each in lint(place, "full")} == set(KINDS)


def own(page: Path) -> str:
    return str(pages.read(page.read_bytes()).metadata["fingerprint"])


# Pages and index


def test_a_page_that_the_index_does_not_name_is_an_orphan(wiki: Path) -> None:
    set_key(wiki / "index.md", f"[{bug_page(wiki).stem}](bugs/{bug_page(wiki).stem}.md)", "gone")
    assert [each.page for each in found(wiki, "orphan", "quick")] == [f"bugs/{bug_page(wiki).name}"]


def test_a_page_that_only_the_index_names_is_missing(wiki: Path) -> None:
    name = bug_page(wiki).name
    bug_page(wiki).unlink()
    assert [each.page for each in found(wiki, "missing", "quick")] == [f"bugs/{name}"]


def test_a_title_that_the_tool_made_of_a_message_like_a_link_has_none(wiki: Path) -> None:
    says = "UVM_ERROR [sb](a.md) \\\\[burst](b.md#x) at ![mem](c.png) [port[3]](d)"
    archive(layout(wiki.parent.parent), record(30, occurrence("a" * 12, primary=says)))
    assert found(wiki, "broken_link") == []


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("status: open", "status: done", "status: 'done' is not one of open, confirmed, closed, wont_fix"),
        ("type: RTL_BUG", "type: HW", "type: 'HW' is not one of RTL_BUG, TB_BUG, UNKNOWN"),
        ("status: open", "status:", "status: has no value"),
        ("status: open", "status: [open]", "status: ['open'] is not one of open, confirmed, closed, wont_fix"),
        ("owner: null", "owner: null\nsuperseded_by: RTL_1", "superseded_by: there is no page RTL_1"),
    ],
)
def test_a_key_that_nobody_understands_is_named(wiki: Path, old: str, new: str, text: str) -> None:
    set_key(bug_page(wiki), old, new)
    assert text in [each.text for each in found(wiki, "schema")]


def test_a_page_that_replaces_another_is_linked_both_ways_with_a_reason(wiki: Path) -> None:
    one, two = sorted((wiki / "bugs").glob("RTL_*.md"))
    set_key(one, "owner: null", f"owner: null\nsuperseded_by: {two.stem}")
    texts = [each.text for each in found(wiki, "schema")]
    assert f"superseded_by: {two.stem} lacks `supersedes: {one.stem}`" in texts
    assert any(text.startswith("superseded_reason: no value") for text in texts)
    set_key(two, "owner: null", f"owner: null\nsupersedes: {one.stem}")
    set_key(one, "owner: null", "owner: null\nsuperseded_reason: same cause, better evidence")
    assert found(wiki, "schema") == []


@pytest.mark.parametrize(
    ("file", "text", "line", "told"),
    [
        ("schema.yaml", "sections: {}\nsectoins: {}\n", 2, "unknown key 'sectoins'; the nearest is 'sections'"),
        (
            "../waivers.yaml",
            "waivers:\n- id: W-1\n  expiers: x\n",
            3,
            "no such key 'expiers'; the nearest is 'expires'",
        ),
        ("../patterns/own.yaml", "- id: own.odd\n  mtach: [x]\n", 2, "unknown field; the nearest is 'match'"),
        ("../patterns/own.yaml", "- {", 2, "did not find expected node content"),
    ],
)
def test_a_key_that_nobody_knows_is_named_wherever_people_write(
    wiki: Path, file: str, text: str, line: int, told: str
) -> None:
    (wiki / "../patterns").mkdir()
    (wiki / file).write_text(text, "utf-8")
    (one,) = lint(layout(wiki.parent.parent), "full")
    assert (one.page, one.line, one.kind) == (file, line, "configuration")
    assert told in one.text


@pytest.mark.parametrize(("text", "line"), [("status: [open", 3), ("status: open\nstatus: closed", 4)])
def test_keys_that_cannot_be_read_are_named_with_their_line(wiki: Path, text: str, line: int) -> None:
    set_key(bug_page(wiki), "status: open", text)
    (one,) = found(wiki, "unreadable", "quick")
    assert one.page == f"bugs/{bug_page(wiki).name}"
    assert one.line >= line


def test_a_cause_with_two_pages_is_found_and_settled_by_fix(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = bug_page(wiki)
    twin = one.with_name("RTL_20991231_000001.md")
    twin.write_bytes(one.read_bytes())
    assert [each.page for each in found(wiki, "duplicate_cause", "quick")] == [f"bugs/{twin.name}"]
    assert main(["lint", "--root", str(wiki.parent.parent), "--fix"]) == 0
    assert "the wiki is sound" in capsys.readouterr().out


CONFLICT = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"


@pytest.mark.parametrize("conflict", [CONFLICT, "<<<<<<< ours\na\n", "a\n>>>>>>> theirs\n"])
def test_a_conflict_is_a_person_s_outside_of_what_the_tool_writes(wiki: Path, conflict: str) -> None:
    page = bug_page(wiki)
    append(wiki, conflict)
    (one,) = found(wiki, "conflict", "quick")
    assert (one.page, one.is_settled_by_build) == (f"bugs/{page.name}", False)
    assert re.match("[<>]{7}", page.read_text("utf-8").split("\n")[one.line - 1])
    assert [each.kind for each in lint(layout(wiki.parent.parent), "full")] == ["conflict"]
    assert build(layout(wiki.parent.parent)).refused != []


@pytest.mark.parametrize(
    ("file", "after", "conflict"),
    [
        ("bugs", "- Seen in 1 run", CONFLICT),
        ("bugs", "- Seen in 1 run", "<<<<<<< ours\n"),
        (
            "bugs",
            "occurrence_count: 1",
            "<<<<<<< ours\ncorroborations: 0\n=======\ncorroborations: 1\n>>>>>>> theirs\n",
        ),
        ("index.md", "| Page |", CONFLICT),
    ],
)
def test_a_conflict_in_what_the_tool_writes_is_settled_by_build(
    wiki: Path, file: str, after: str, conflict: str
) -> None:
    page = bug_page(wiki) if file == "bugs" else wiki / file
    text = page.read_text("utf-8")
    lines = text.replace("corroborations: 0\n", "").split("\n") if "corroborations" in conflict else text.split("\n")
    number = next(number for number, line in enumerate(lines) if line.startswith(after)) + 1
    page.write_text("\n".join([*lines[:number], conflict.removesuffix("\n"), *lines[number:]]), "utf-8")
    for depth in ("quick", "full"):
        (one,) = (each for each in lint(layout(wiki.parent.parent), depth) if not each.is_warning)
        assert (one.kind, one.line, one.is_settled_by_build) == ("conflict", number + 1, True)
    assert build(layout(wiki.parent.parent)).refused == []
    assert page.read_text("utf-8") == text
    assert lint(layout(wiki.parent.parent), "full") == []


def test_a_page_that_the_tool_cannot_write_is_named_with_its_line(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, root = bug_page(wiki), wiki.parent.parent
    set_key(page, "<!-- dvwiki:end records", "")
    (one,) = lint(layout(root), "full")
    assert (one.page, one.kind, one.is_settled_by_build) == (f"bugs/{page.name}", "left_alone", False)
    assert page.read_text("utf-8").split("\n")[one.line - 1] == f"<!-- dvwiki:begin records of {page.stem}"
    assert main(["build", "--root", str(root)]) == 1
    said = capsys.readouterr()
    reason = "the region records has no end mark; restore the mark, for example from git"
    assert said.err == f"left alone: bugs/{page.name}: line {one.line}: {reason}\n"
    assert said.out == "1 file left alone; everything else agrees with the records\n"


# Changes of people's keys


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("status: open", "status: confirmed", "'open' for 'confirmed'"),
        ("type: RTL_BUG", "type: TB_BUG", "'RTL_BUG' for 'TB_BUG'"),
        ("# UVM_ERROR", "# Wrong model: UVM_ERROR", "for 'Wrong model: "),
    ],
)
def test_what_people_set_on_a_page_is_no_fault_until_the_index_shows_it(
    wiki: Path, old: str, new: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    set_key(bug_page(wiki), old, new)
    (one,) = lint(layout(wiki.parent.parent), "full")
    assert (one.page, one.kind, one.is_settled_by_build) == (f"bugs/{bug_page(wiki).name}", "index_behind", True)
    assert told in one.text
    assert main(["lint", "--root", str(wiki.parent.parent)]) == 0
    assert check_session(settings(wiki, lint_interval_sessions=1)) is None
    assert main(["build", "--root", str(wiki.parent.parent)]) == 0
    assert lint(layout(wiki.parent.parent), "full") == []


def test_where_tests_are_flaky_an_edited_page_is_no_fault_either(wiki: Path) -> None:
    archive(layout(wiki.parent.parent), record(3, other=(OtherTest(nodeid="test_a.py::test_a", outcome="flaky"),)))
    set_key(bug_page(wiki), "status: open", "status: confirmed")
    assert [each.kind for each in lint(layout(wiki.parent.parent), "full")] == ["index_behind"]


@pytest.mark.parametrize(
    ("old", "new"), [("| scoreboard_fail | 1 |", "| scoreboard_fail | 7 |"), ("pages: 4", "pages: 5")]
)
def test_an_index_with_another_number_is_outdated(wiki: Path, old: str, new: str) -> None:
    set_key(wiki / "index.md", old, new)
    assert [(each.page, each.kind) for each in lint(layout(wiki.parent.parent), "full")] == [("index.md", "outdated")]


# Age


@pytest.mark.parametrize(
    ("today", "last", "kinds"),
    [
        ("2026-12-01", "2026-11-21", []),
        ("2026-12-28", "2026-12-20", ["unreviewed"]),
        ("2026-12-28", "2026-11-21", ["unseen"]),
        ("2027-03-01", "2027-02-20", ["stale"]),
    ],
)
def test_an_open_bug_grows_old(wiki: Path, today: str, last: str, kinds: list[str]) -> None:
    for page in (wiki / "bugs").glob("RTL_*.md"):
        set_key(page, 'last_updated: "2026-11-21"', f'last_updated: "{last}"')
    with PageCache(wiki, None) as page_cache:
        page_cache.refresh()
        ages = list(staleness.check_age(page_cache, date.fromisoformat(today)))
    assert [each.kind for each in ages] == kinds * 2
    set_key(bug_page(wiki), "status: open", "status: confirmed")
    with PageCache(wiki, None) as page_cache:
        page_cache.refresh()
        assert len(list(staleness.check_age(page_cache, date.fromisoformat(today)))) == len(kinds)


def test_what_is_only_to_be_looked_at_fails_no_check(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for page in (wiki / "bugs").glob("RTL_*.md"):
        set_key(page, 'first_seen: "2026-11-21"', f'first_seen: "{TODAY.date() - timedelta(days=40)}"')
        set_key(page, 'last_updated: "2026-11-21"', f'last_updated: "{TODAY.date() - timedelta(days=35)}"')
    set_key(bug_page(wiki), "passes_since: null", 'passes_since: "2026-11-21"')
    root = str(wiki.parent.parent)
    assert main(["lint", "--root", root, "--depth", "quick"]) == 0
    said = capsys.readouterr().out
    assert "unseen (warning): open, and last seen 35 days ago; close the page if" in said
    assert "unseen (warning): open, and last seen 35 days ago, passes since 2026-11-21; close the page if" in said
    assert main(["lint", "--root", root, "--depth", "quick", "--format", "github"]) == 0
    assert capsys.readouterr().out.startswith("::notice file=")
    assert not report(found(wiki, "unseen", "quick")).human_review_required
    assert check_session(settings(wiki)) is None


# Text


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("[a](../patterns/scoreboard_fail.md)", None),
        ("[a](../patterns/scoreboard_fail.md#fix-template)", None),
        ("[a](#symptom)", None),
        ("[a](https://example.org/x.md)", None),
        ("[a](../../../rtl/fifo.sv)", None),
        ("`[a](nothing.md)`", None),
        ("[a](nothing.md)", "nothing.md does not exist"),
        ("[a](no%00thing.md)", "nothing.md does not exist"),
        (f"[a]({'x' * 5000}.md)", "does not exist"),
        ("[a](../patterns/scoreboard_fail.md#nothing)", "patterns/scoreboard_fail.md has no heading for #nothing"),
        ("[a](#nothing)", "has no heading for #nothing"),
    ],
)
def test_a_link_leads_to_what_is_there(wiki: Path, link: str, problem: str | None) -> None:
    line = append(wiki, link)
    links = found(wiki, "broken_link")
    assert [each.line for each in links] == ([line] if problem else [])
    assert all(problem is not None and problem in each.text for each in links)


def test_a_page_that_somebody_took_away_is_told_once_and_its_links_are_the_tool_s(wiki: Path) -> None:
    place, page = layout(wiki.parent.parent), bug_page(wiki)
    kind = wiki / "patterns" / f"{pages.read(page.read_bytes()).metadata['failure_subtype']}.md"
    page.unlink()
    assert [(each.page, each.kind) for each in lint(place, "full")] == [
        (f"bugs/{page.name}", "missing"),
        (f"patterns/{kind.name}", "outdated"),
    ]
    build(place)
    assert lint(place, "full") == []
    build(place, restore=True)
    kind.unlink()
    build(place)
    (one,) = lint(place, "full")
    assert (one.page, one.kind) == (f"bugs/{page.name}", "broken_link")
    assert "`dvwiki build --restore`" in one.remedy
    build(place, restore=True)
    assert lint(place, "full") == []


@pytest.mark.parametrize(
    ("text", "is_claim"),
    [
        ("The ready signal is a cycle late.", True),
        ("- The arbiter must not starve port 2.", True),
        ("The ready signal is a cycle late. (source: tasks/TASK.yaml)", False),
        ("The ready signal is a cycle late.\n(source: tasks/TASK.yaml | log: a.log:3)", False),
        ("Is the ready signal late?", False),
        ("Asked the owner on Monday.", False),
        ("```\nready is late\n```", False),
        ("`ready is late`", False),
        ("<!-- it is\nnever shown, and is long -->", False),
    ],
)
def test_a_claim_names_its_source(wiki: Path, text: str, is_claim: bool) -> None:
    line = append(wiki, text.replace("TASK", record(1).task_id))
    assert [each.line for each in found(wiki, "uncited")] == ([line] if is_claim else [])


def test_a_source_is_a_run_that_the_archive_holds_or_a_file_beside_it(wiki: Path) -> None:
    (wiki.parent / "tasks" / "review_7.yaml").write_text("who: me\n", "utf-8")
    append(wiki, "It is so (source: tasks/review_7.yaml).")
    assert found(wiki, "unknown_source") == []
    line = append(wiki, "It is so (source: tasks/nobody.yaml | log: x).")
    assert [(each.line, each.text) for each in found(wiki, "unknown_source")] == [(line, "no run nobody is on record")]


@pytest.mark.parametrize(
    ("citation", "problem"),
    [
        ("`rtl/fifo.sv:sync_fifo`", None),
        ("`rtl/fifo.sv:full`", None),
        ("`rtl/fifo.sv:2`", None),
        ("`tb.py:Board.check`", None),
        ("`tb.py:Board.seen`", None),
        ("`rtl/fifo.sv:old_fifo`", "rtl/fifo.sv declares no old_fifo"),
        ("`rtl/fifo.sv:200`", "rtl/fifo.sv has only 4 lines; there is no line 200"),
        ("`rtl/gone.sv:fifo`", "rtl/gone.sv does not exist"),
        ("`tb.py:Board.score`", "tb.py declares no Board.score"),
    ],
)
def test_cited_code_is_there(wiki: Path, citation: str, problem: str | None) -> None:
    append(wiki, f"See {citation}.")
    assert [each.text for each in found(wiki, "drift")] == ([problem] if problem else [])


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("See `rtl/fifo.sv`.", None),
        ("See `fifo_old.sv`, wherever it went.", None),
        ("`sync_fifo` in `rtl/fifo.sv`", None),
        ("`something` in `rtl/fifo.sv`", None),
        ("See `rtl/gone.sv`.", "rtl/gone.sv does not exist"),
        ("`sync_fifos` in `rtl/fifo.sv`", "rtl/fifo.sv has no sync_fifos; did you mean sync_fifo?"),
    ],
)
def test_what_may_be_gone_is_told_and_nothing_more(wiki: Path, text: str, hint: str | None) -> None:
    line = append(wiki, text)
    hints = found(wiki, "drift_hint")
    assert [(each.line, each.text) for each in hints] == ([(line, hint)] if hint else [])
    assert all(each.is_warning for each in hints)
    main(["lint", "--fix", "--root", str(wiki.parent.parent)])
    assert pages.read(bug_page(wiki).read_bytes()).metadata["stale"] is False


def test_a_page_that_cites_what_is_gone_is_marked_until_it_is_there_again(wiki: Path) -> None:
    root, page = wiki.parent.parent, bug_page(wiki)
    append(wiki, "See `rtl/fifo.sv:old_fifo`.")
    written = page.read_bytes()
    found(wiki, "drift")
    assert page.read_bytes() == written
    assert main(["lint", "--fix", "--root", str(root)]) == 1
    reason = "cites missing code: rtl/fifo.sv declares no old_fifo"
    metadata = pages.read(page.read_bytes()).metadata
    assert (metadata["stale"], metadata["stale_reason"]) == (True, reason)
    assert build(layout(root), check=True).changed == []
    archive(layout(root), record(3, occurrence(metadata["fingerprint"])))
    assert pages.read(page.read_bytes()).metadata["stale_reason"] == reason
    assert f"**{page.stem}**" in gather(layout(root), category="bugs").text
    assert f"Partly out of date: {reason}." in gather(layout(root), category="bugs").text
    (root / "rtl" / "fifo.sv").write_text("module old_fifo;\nlogic full;\nendmodule\n", "utf-8")
    assert main(["lint", "--fix", "--root", str(root)]) == 0
    assert pages.read(page.read_bytes()).metadata["stale"] is False
    assert build(layout(root), check=True).changed == []


@pytest.mark.parametrize(("category", "name"), [("patterns", "scoreboard_fail.md"), ("coverage", "axi_late.md")])
def test_pattern_and_coverage_pages_are_marked_too(wiki: Path, category: str, name: str) -> None:
    root, page = wiki.parent.parent, wiki / category / name
    row = {"covergroup": "axi", "bin": "late", "action_class": "actionable"}
    archive(layout(root), record(3, coverage=(row,)))
    head, mark, tail = page.read_text("utf-8").partition("\n## History\n")
    page.write_text(f"{head}\nSee `rtl/fifo.sv:old_fifo`.\n{mark}{tail}", "utf-8")
    assert main(["lint", "--fix", "--root", str(root)]) == 1
    reason = "cites missing code: rtl/fifo.sv declares no old_fifo"
    assert pages.read(page.read_bytes()).metadata["stale_reason"] == reason
    assert build(layout(root), check=True).changed == []
    archive(layout(root), record(4, occurrence(), coverage=(row,)))
    assert f"Partly out of date: {reason}." in gather(layout(root), category=category).text
    (root / "rtl" / "fifo.sv").write_text("module old_fifo;\nlogic full;\nendmodule\n", "utf-8")
    assert main(["lint", "--fix", "--root", str(root)]) == 0
    assert pages.read(page.read_bytes()).metadata["stale"] is False


# History


def test_a_line_taken_out_of_the_log_is_found_before_and_after_the_commit(wiki: Path) -> None:
    root, log = wiki.parent.parent, wiki / "log.md"
    lines = log.read_text("utf-8").splitlines(keepends=True)
    log.write_text("".join(lines[:-1]), "utf-8")
    assert [each.text for each in found(wiki, "log_changed")] == ["1 of its committed lines are missing"]
    git(root, "commit", "-qam", "shorten")
    (one,) = found(wiki, "log_changed")
    assert one.text.startswith("commit ")
    assert one.text.endswith(" removed 1 of its lines")
    log.write_text("".join(lines), "utf-8")
    assert found(wiki, "log_changed") == []


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_record_that_was_changed_or_removed_is_found(wiki: Path, is_committed: bool) -> None:
    root = wiki.parent.parent
    one, two = sorted((wiki.parent / "tasks").glob("2026/11/*.yaml"))
    one.write_text(one.read_text("utf-8").replace("duration_s: ", "duration_s: 1"), "utf-8")
    two.unlink()
    if is_committed:
        git(root, "commit", "-qam", "tidy")
    who = "commit " if is_committed else "an uncommitted change"
    changed = found(wiki, "record_changed")
    assert [each.page for each in changed] == [f"../tasks/2026/11/{each.name}" for each in (one, two)]
    assert all(each.text.startswith(who) for each in changed)
    ends = ("changed it, but records must not change", "removed it, and no monthly file contains it")
    assert all(each.text.endswith(end) for each, end in zip(changed, ends, strict=True))
    for each in changed:
        command = re.search("`git (.*)`", each.remedy)
        assert command
        git(root, *command[1].split())
    assert found(wiki, "record_changed") == []


def test_a_record_that_cannot_be_read_is_named_with_its_line(wiki: Path) -> None:
    one = min((wiki.parent / "tasks").glob("2026/11/*.yaml"))
    one.write_text(one.read_text("utf-8").replace("\nstarted: ", "\n[[[ ", 1), "utf-8")
    (problem,) = found(wiki, "unreadable")
    assert problem.page == f"../tasks/2026/11/{one.name}"
    assert problem.line > 1
    assert "restore the record" in problem.remedy


def test_a_project_without_git_has_no_past(wiki: Path) -> None:
    subprocess.run(["rm", "-rf", str(wiki.parent.parent / ".git")], check=True)
    (wiki / "log.md").write_text("# empty\n", "utf-8")
    assert found(wiki, "log_changed") == []


def test_what_is_not_as_the_records_say_is_outdated(wiki: Path) -> None:
    set_key(wiki / "patterns" / "timeout.md", "hit_count: 1", "hit_count: 9")
    assert [each.page for each in found(wiki, "outdated")] == ["patterns/timeout.md"]
    build(layout(wiki.parent.parent))
    assert found(wiki, "outdated") == []


# The report


def test_the_report_sorts_findings_as_the_specification_names_them() -> None:
    findings = [
        Finding("bugs/a.md", 0, "orphan", "x"),
        Finding("bugs/b.md", 0, "missing", "x"),
        Finding("bugs/c.md", 4, "broken_link", "d.md is not there"),
        Finding("bugs/c.md", 7, "uncited", "x"),
    ]
    done = report(findings)
    assert done.orphan_pages == ["bugs/a.md"]
    assert done.missing_pages == ["bugs/b.md"]
    assert done.broken_links == [("bugs/c.md", "d.md is not there")]
    assert done.uncited_claims == [("bugs/c.md", 7)]
    assert done.human_review_required
    assert not report(findings[:2]).human_review_required


def test_findings_are_printed_for_people_machines_and_workflows(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = append(wiki, "It is late, 100%.")
    root = str(wiki.parent.parent)
    place = f".agent/wiki/bugs/{bug_page(wiki).name}"
    assert main(["lint", "--root", root]) == 1
    assert f"{place}:{line}: uncited: no source for 'It is late, 100%.'; end the claim" in capsys.readouterr().out
    assert main(["lint", "--root", root, "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["uncited_claims"] == [[f"bugs/{bug_page(wiki).name}", line]]
    assert main(["lint", "--root", root, "--format", "github"]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"::warning file={place},line={line},title=dvwiki uncited::no source for 'It is late, 100%25")


# In sessions


def remark(check: SessionCheck | None) -> str | None:
    """Return the remark of a session that archives nothing."""
    return check.remark(was_written=False) if check else None


def settings(wiki: Path, **changes: object) -> Settings:
    return Settings(layout=layout(wiki.parent.parent), **changes)  # type: ignore[arg-type]


def test_a_session_looks_quickly_each_time_and_fully_now_and_then(wiki: Path) -> None:
    append(wiki, "It is late.")  # only a full check reads text
    every_third = settings(wiki, lint_interval_sessions=3)
    said = [remark(check_session(every_third)) for _ in range(6)]
    line = "the wiki has 1 finding (1 uncited): `dvwiki lint` lists it"
    assert said == [None, None, line, None, None, line]


@pytest.mark.parametrize(("on_startup", "said"), [(True, True), (False, False)])
def test_a_project_decides_whether_a_session_looks(wiki: Path, on_startup: bool, said: bool) -> None:
    set_key(bug_page(wiki), "status: open", "status: done")
    line = remark(check_session(settings(wiki, lint_on_startup=on_startup, lint_interval_sessions=0)))
    assert (line is not None) is said


@pytest.mark.parametrize("interval", [1, 0])
def test_what_the_session_itself_puts_right_is_not_told(wiki: Path, interval: int) -> None:
    (wiki / "index.md").write_text("garbage")
    set_key(bug_page(wiki), "status: open", "status: done")
    before = check_session(settings(wiki, lint_interval_sessions=interval))
    assert before is not None
    unwritten = remark(before)
    assert unwritten is not None
    assert "orphan" in unwritten
    archive(layout(wiki.parent.parent), record(30, occurrence("a" * 12)))
    said = before.remark(was_written=True)
    assert said == "the wiki has 1 finding (1 schema): `dvwiki lint` lists it"


def test_what_the_session_leaves_is_told(wiki: Path) -> None:
    page = next((wiki / "patterns").glob("scoreboard_fail.md"))
    before_text = page.read_text("utf-8")
    page.write_text(re.sub(r"\nhit_count: \d+", "\nhit_count: 99", before_text), "utf-8")
    assert page.read_text("utf-8") != before_text
    before = check_session(settings(wiki, lint_interval_sessions=1))
    assert before is not None
    archive(layout(wiki.parent.parent), record(30, occurrence("a" * 12, failure_subtype="other")))
    said = before.remark(was_written=True)
    assert said == "the wiki has 1 finding (1 outdated): `dvwiki lint` lists it"


def test_a_session_without_a_wiki_makes_none(tmp_path: Path) -> None:
    assert check_session(Settings(layout=layout(tmp_path))) is None
    assert not (tmp_path / ".agent").exists()


def test_a_citation_in_a_paragraph_of_its_own_covers_its_section(wiki: Path) -> None:
    page = bug_page(wiki)
    text = page.read_text("utf-8")
    claims = "## Ours\n\nIt is late.\n\n- It was early.\n"
    page.write_text(text.replace("## Notes\n", f"{claims}\n## Notes\n"), "utf-8")
    assert len(found(wiki, "uncited")) == 2
    source = f"(source: tasks/{record(1).task_id}.yaml)"
    page.write_text(text.replace("## Notes\n", f"{claims}\n{source}\n\n## Notes\n"), "utf-8")
    assert found(wiki, "uncited") == []
