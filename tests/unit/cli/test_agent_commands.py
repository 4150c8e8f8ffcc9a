"""`dvwiki search`, `fix` and `context` on the command line."""

from __future__ import annotations

import itertools
import json
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from pytest_dvwiki.causes.statements import Tracked, statements
from pytest_dvwiki.causes.words import Style
from pytest_dvwiki.causes.words import text as words
from pytest_dvwiki.cli import main, manual_record
from pytest_dvwiki.model import Waived
from pytest_dvwiki.runs import today
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.review import ReviewQueue
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import CAUSE, TEST, TODAY, git, layout, occurrence, record, written

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """What people say comes after the runs, one word a second: two in one second have no order."""
    clock = itertools.count(TODAY.timestamp())
    monkeypatch.setattr(manual_record, "time", SimpleNamespace(time=lambda: next(clock)))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    monkeypatch.chdir(tmp_path)
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    return place


def bug(place: Layout) -> Path:
    return next((place.wiki / "bugs").glob("RTL*"))


def fixes(place: Layout) -> list[dict[str, object]]:
    return [row for found in written(place.root) for row in found.get("fixes", ())]


def test_search_prints_pages_the_best_first(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "scoreboard", "mismatch"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Pattern: ")
    assert re.match(r"  patterns/scoreboard_fail\.md  score \d+\.\d\d, pattern, hit_count 1, ", lines[1])
    assert re.match(rf"  bugs/{bug(place).name}  score \d+\.\d\d, RTL_BUG, open, hit_count 1", lines[4])
    assert main(["search", "scoreboard", "--top-k", "1", "--category", "bugs"]) == 0
    title, page, _ = capsys.readouterr().out.splitlines()
    assert (title, page.split()[0]) == ("UVM_ERROR sb.sv: reporter [SCBD] expected … got …", f"bugs/{bug(place).name}")


def test_search_gives_json(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "0x13", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["page_path"] == f"bugs/{bug(place).name}"
    assert found["frontmatter"]["fingerprint"] == CAUSE
    assert main(["search", "licence", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out) == []


def test_search_without_a_hit_says_so_aside(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "licence"]) == 1
    assert capsys.readouterr() == ("", "no page contains any word of this query\n")


@pytest.mark.parametrize(
    "command",
    [("search", "licence"), ("merge", "A", "B"), ("fix", CAUSE, "--text", "done"), ("build",), ("compact",)],
    ids=lambda command: command[0],
)
def test_a_command_that_asks_the_wiki_says_where_it_found_none(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*command]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"dvwiki {command[0]}: no wiki in {tmp_path / '.agent' / 'wiki'}; ")
    assert "`dvwiki init`" in said.err
    assert list(tmp_path.iterdir()) == []


def test_search_takes_filters_and_marks_the_words(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    archive(place, record(30, occurrence("a" * 12, ip_type="axi", error_class="sim_error")))
    asked = ("--status", "open", "--label", "sim_error / scoreboard_fail", "--ip-type", "axi", "--since", "2026-11-22")
    assert main(["search", "expected", *asked, "--until", "2026-11-22"]) == 0
    out = capsys.readouterr().out
    assert "\n  bugs/RTL_20261122_" in out
    assert "**expected**" in out
    assert out.count("bugs/") == 1
    assert main(["search", "nothing-like-it", "--status", "open"]) == 1
    assert capsys.readouterr() == ("", "no page that passes the filters contains any word of this query\n")
    assert main(["search", "expected", "--since", "yesterday"]) == 2
    assert "--since 'yesterday': expected a day, YYYY-MM-DD" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("--status", "opne"), "no page has the status 'opne'; existing values: open (1)"),
        (("--label", "timeout"), "no page has the label 'timeout'; existing values: uvm_error / scoreboard_fail (2)"),
        (("--ip-type", "axi"), "no page has the ip type 'axi'; existing values: none"),
        (("--category", "specs"), "no page has the category 'specs'; existing values: bugs (1), patterns (1)"),
    ],
)
def test_search_names_the_values_that_there_are(
    place: Layout, capsys: pytest.CaptureFixture[str], asked: tuple[str, ...], told: str
) -> None:
    queue = ReviewQueue(place)  # what is decided cannot be asked for
    queue.decide(queue.propose("drift", "specs/x", "gone", by="lint", reason="x").id, "accepted", by="Ann")
    assert main(["search", "expected", *asked]) == 1
    assert capsys.readouterr() == ("", f"{told}\n")


def test_search_that_is_off_is_a_mistake(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    (place.agent / "project.yaml").write_text("wiki:\n  search_backend: none\n")
    assert main(["search", "licence"]) == 2
    assert "set it to bm25 or keyword" in capsys.readouterr().err
    assert main(["search", "licence", "--limit", "0"]) == 2


def test_the_projects_wiki_is_used(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    place.wiki.rename(place.root / "knowledge")
    (place.agent / "project.yaml").write_text("wiki:\n  wiki_dir: knowledge\n")
    assert main(["search", "scoreboard"]) == 0
    assert "patterns/scoreboard_fail.md" in capsys.readouterr().out


def test_a_persons_fix_stands_on_the_page(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", CAUSE, "--text", "reset the read\npointer"]) == 0
    name = bug(place).stem
    told = f"fix of {name} is on record (to take it back: `dvwiki fix {name} --take-back`)"
    assert capsys.readouterr().out == f"{told}, see .agent/wiki/bugs/{name}.md\n"
    assert "| reset the read pointer |  | person | open, passed 0 of 5 runs needed |" in bug(place).read_text()
    assert fixes(place) == [
        {"fingerprint": CAUSE, "text": "reset the read pointer", "by": "person", "commits": [], "result": "open"}
    ]


def test_a_cause_is_waived_and_the_waivers_are_listed(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    name = bug(place).stem
    place.waivers.write_text("# accepted failures\nwaivers:\n- {id: W-1, match: {test: a}, reason: r, owner: o}\n")
    git(place.root, "init", "--quiet")
    git(place.root, "config", "user.name", "Ann")
    terms = ("--reason", "waits for\nthe vendor", "--owner", "fifo team", "--expires", "2999-12-31")
    assert main(["waive", name, *terms, "--approved-by", "Bo", "--ticket", "DV-17"]) == 0
    told = f"{name} is waived by W-{name} until 2999-12-31, see .agent/waivers.yaml\n"
    assert capsys.readouterr().out == told
    assert place.waivers.read_text().startswith("# accepted failures\nwaivers:\n- {id: W-1,")
    assert (
        f"waive | - | {name} is waived by W-{name} (fifo team, until 2999-12-31)" in (place.wiki / "log.md").read_text()
    )
    assert main(["waive", CAUSE, *terms]) == 0
    capsys.readouterr()
    caught = Waived(id=f"W-{name}", fingerprint=CAUSE, tests=(TEST,), reason="r")
    archive(place, record(2, occurrence(), waived=(caught,)))
    assert main(["waivers"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "W-1: r (o)",
        "  match   test a",
        "  caught  no recorded failure",
        f"W-{name}: waits for the vendor (fifo team, until 2999-12-31)",
        f"  match   page {name}",
        f"  caught  1 test of 1 cause, last on {record(2).finished[:10]} in {record(2).task_id}",
        f"  terms   added {today()} by Ann, approved by Bo, DV-17",
        f"W-{name}.2: waits for the vendor (fifo team, until 2999-12-31)",
        f"  match   page {name}",
        "  caught  no recorded failure",
        f"  terms   added {today()} by Ann",
    ]


def test_a_page_leads_to_its_tickets(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    page = bug(place)
    text = page.read_text().replace("owner: null", "owner: fifo team  # until May")
    page.write_text(text)
    first, second = "https://tracker.example.com/DV-17", "https://tracker.example.com/DV-18?a=[b]"
    for url in (first, first, second):
        assert main(["link", page.stem, url]) == 0
    assert capsys.readouterr().out.endswith(f".agent/wiki/bugs/{page.name} now links to {second}\n")
    assert f'link: ["{first}", "{second}"]' in page.read_text()
    assert "owner: fifo team  # until May" in page.read_text()
    assert f"bugs/{page.name}: link to {second}" in (place.wiki / "log.md").read_text()
    with WikiHistory(place) as history:
        cause = history.cause(CAUSE)
    assert cause is not None
    (tracked,) = (each for each in statements(cause) if isinstance(each, Tracked))
    assert words(tracked) == f"owner fifo team; see {first}, {second}"
    assert words(tracked, Style(name="<{}>".format)) == f"owner fifo team; see {first}, <{second}>"
    assert main(["context", "--test", TEST]) == 0
    assert f"\nOwner `fifo team`; see {first}, `{second}`.\n" in capsys.readouterr().out
    assert main(["link", page.stem, "DV-17"]) == 2
    assert main(["link", "patterns/scoreboard_fail.md", first]) == 2
    assert main(["lint"]) == 0, capsys.readouterr().out


def test_an_expired_or_broken_waiver_is_listed_as_such(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    terms = ("--reason", "r", "--owner", "o", "--expires")
    for given in ("2020-01-01", "tomorrow"):
        assert main(["waive", CAUSE, *terms, given]) == 2
        assert given in capsys.readouterr().err
    assert main(["waivers"]) == 0
    assert capsys.readouterr().out == "no waivers in .agent/waivers.yaml\n"
    place.waivers.write_text("waivers:\n- {id: W-1, match: {test: a}, reason: r, owner: o, expires: 2020-01-01}\n- 7\n")
    assert main(["waivers"]) == 1
    out = capsys.readouterr().out
    assert "W-1: r (o, until 2020-01-01); EXPIRED, no longer in effect" in out
    assert "waivers.yaml:3: expected keys" in out


def test_what_was_said_can_be_taken_back(place: Layout) -> None:
    before = bug(place).read_text()
    assert main(["fix", CAUSE, "--text", "reset the pointer", "--result", "held"]) == 0
    assert main(["fix", CAUSE, "--text", "reset the wrong pointer"]) == 0
    assert main(["fix", bug(place).stem, "--take-back"]) == 0
    after = bug(place).read_text()
    assert "wrong" not in after
    assert "| reset the pointer |  | person | held |" in after
    assert main(["fix", CAUSE, "--take-back"]) == 0
    assert bug(place).read_text() == before
    log = (place.wiki / "log.md").read_text().splitlines()
    assert [line.rpartition(" | ")[2] for line in log if "| fix_" in line] == [
        *["1 fix"] * 2,
        *["1 fix taken back"] * 2,
    ]
    assert main(["build", "--check"]) == 0


def test_only_what_was_said_can_be_taken_back(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", CAUSE, "--take-back"]) == 2
    assert f"no stated fix of {bug(place).stem} is on record" in capsys.readouterr().err
    assert main(["fix", CAUSE, "--take-back", "--result", "held"]) == 2
    assert "it takes no --commit and no --result" in capsys.readouterr().err
    assert fixes(place) == []


def test_a_fix_that_held_is_what_a_prompt_shows(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", bug(place).stem, "--text", "reset the pointer", "--result", "held"]) == 0
    capsys.readouterr()
    assert main(["context", "--test", TEST]) == 0
    assert "Fixed by `reset the pointer`, 2026-11-22, held." in capsys.readouterr().out


def test_a_fix_names_its_commits(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    git(place.root, "init", "-q")
    for name in ("one", "two", "three"):
        git(place.root, "commit", "-q", "--allow-empty", "-m", name)
    one, two, three = reversed(git(place.root, "log", "--format=%H").stdout.split())
    assert main(["fix", CAUSE, "--text", "a", "--commit", "HEAD"]) == 0
    assert main(["fix", CAUSE, "--text", "b", "--commit", f"{one[:8]}..HEAD"]) == 0
    assert main(["fix", CAUSE, "--text", "c", "--commit", one]) == 0
    assert {str(row["text"]): row["commits"] for row in fixes(place)} == {
        "a": [two, three],
        "b": [one, three],
        "c": [one, one],
    }
    assert main(["fix", CAUSE, "--text", "d", "--commit", "nowhere"]) == 2
    assert "--commit nowhere: no such commit" in capsys.readouterr().err
    assert len(fixes(place)) == 3


def test_a_fix_tells_what_its_commits_touched(place: Layout) -> None:
    git(place.root, "init", "-q")
    for number in range(7):
        (place.root / f"fifo_{number}.sv").write_text("module fifo;")
    git(place.root, "add", "--", ".", ":!.agent")
    git(place.root, "commit", "-q", "-m", "fifo: | reset `the` pointer")
    assert main(["fix", CAUSE, "--text", "reset", "--commit", "HEAD"]) == 0
    (row,) = fixes(place)
    assert [str(line).partition(" ")[2] for line in cast("list[str]", row["log"])] == []
    (place.root / "fifo_0.sv").write_text("module fifo(input rst);")
    git(place.root, "commit", "-qam", "fifo: | reset `the` pointer")
    assert main(["fix", CAUSE, "--text", "reset again", "--commit", "HEAD"]) == 0
    row = next(row for row in fixes(place) if row["text"] == "reset again")
    assert [line.partition(" ")[2] for line in cast("list[str]", row["log"])] == ["fifo: | reset `the` pointer"]
    assert (row["files"], row["file_count"]) == (["fifo_0.sv"], 1)
    assert "| reset again | `fifo_0.sv` | person |" in bug(place).read_text()


@pytest.mark.parametrize("name", [CAUSE[:4], CAUSE.upper(), "bugs/{page}", ".agent/wiki/bugs/{page}.md"])
def test_a_cause_has_several_names(place: Layout, name: str) -> None:
    assert main(["fix", name.format(page=bug(place).stem), "--text", "x"]) == 0
    assert [row["fingerprint"] for row in fixes(place)] == [CAUSE]


def test_a_cause_keeps_the_name_of_a_page_that_was_merged_and_removed(place: Layout) -> None:
    kept = bug(place)
    archive(place, record(2, occurrence("b" * 12)))
    (gone,) = set((place.wiki / "bugs").glob("RTL*")) - {kept}
    assert main(["merge", CAUSE, gone.stem]) == 0
    gone.unlink()
    assert main(["fix", gone.stem, "--text", "x"]) == 0
    assert [row["fingerprint"] for row in fixes(place)] == [CAUSE]


def test_first_digits_that_two_causes_share_are_a_mistake(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    archive(place, record(2, occurrence(f"{CAUSE[:6]}ffffff")))
    assert main(["fix", CAUSE[:6], "--text", "x"]) == 2
    err = capsys.readouterr().err
    assert f"{CAUSE} (uvm_error / scoreboard_fail, bugs/RTL_" in err
    assert f"{CAUSE[:6]}ffffff (" in err
    assert main(["fix", CAUSE[:3], "--text", "x"]) == 2
    assert fixes(place) == []


@pytest.mark.parametrize("name", ["9b1f03c2a7d5", "RTL_20261121_000000"])
def test_a_cause_that_is_not_known_is_told_with_the_nearest(
    place: Layout, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fix", name, "--text", "x"]) == 2
    err = capsys.readouterr().err
    assert f"no such cause on record; nearest: {CAUSE} (uvm_error / scoreboard_fail, bugs/" in err


@pytest.mark.parametrize("arguments", [["0123456789ab", "--text", "x"], [CAUSE, "--text", " \n"]])
def test_a_fix_of_nothing_is_a_mistake(place: Layout, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert fixes(place) == []


def test_context_fills_a_template(place: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = tmp_path / "prompt.md"
    template.write_text("# Known\n{{KNOWN_ERROR_PATTERNS}}\n{{COVERAGE_HOLE_HISTORY}}\nEnd {{TASK}}\n")
    assert main(["context", "--template", str(template)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# Known\n**scoreboard_fail** (hit_count: 1, fix_rate: n/a) — ")
    assert out.endswith("\nEnd {{TASK}}\n")
    assert main(["context", "--template", str(template), "--budget", "80"]) == 0
    assert len(capsys.readouterr().out) < len(out)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--template", "absent.md"],
            "--template absent.md: cannot be read (no such file or directory); check the name",
        ),
        (["--template", "latin.md"], "--template latin.md: not UTF-8 (byte 0); save it as UTF-8"),
        (
            ["--template", "latin.md", "fifo"],
            "--template cannot be combined with a query, --test, --category, --log or --newest",
        ),
    ],
)
def test_a_template_that_cannot_be_used_is_a_mistake(
    place: Layout, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (place.root / "latin.md").write_bytes(b"\xe4")
    assert main(["context", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_context_names_pages_that_it_passed_over(place: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    page = bug(place)
    page.write_text(page.read_text().replace("status: open", "status: open\nstatus: closed"))
    for arguments in ([], ["--test", TEST]):
        assert main(["context", *arguments]) == 0
        captured = capsys.readouterr()
        assert "**scoreboard_fail**" in captured.out
        assert "**RTL_" not in captured.out
        assert captured.err.startswith(f"skipped: bugs/{page.name}: ")
        assert captured.err.count("\n") == 1
