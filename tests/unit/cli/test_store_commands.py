"""`dvwiki list`, `get`, `commit`, `append`, `handoff`, `sections` and `review` on the command line."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.cli import main
from pytest_dvwiki.wiki.review import ReviewQueue
from pytest_dvwiki.wiki.schema import load_schema
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

SPEC = "---\ntype: spec\nfeature: burst\nstatus: open\n---\n\n# Bursts\n\nUp to 16 beats.\n\n## Answer\n\nYes.\n"


class Shell:
    """Runs commands, and returns exit status, output and errors."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str, text: str = "") -> tuple[int, str, str]:
        self._monkeypatch.setattr("sys.stdin", io.StringIO(text))
        status = main(list(arguments))
        return status, *self._capsys.readouterr()

    def json(self, *arguments: str, text: str = "") -> Any:
        return json.loads(self(*arguments, "--format", "json", text=text)[1])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    project = tmp_path / "project"
    (project / ".agent").mkdir(parents=True)
    monkeypatch.chdir(project)
    archive(layout(project), record(1, occurrence()))
    (layout(project).wiki / "specs" / "burst.md").write_text(SPEC, "utf-8")
    return layout(project)


@pytest.fixture
def shell(place: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


def test_a_list_has_a_line_and_a_summary_for_each_page(shell: Shell) -> None:
    status, out, _ = shell("list", "specs")
    assert status == 0
    assert out.splitlines()[0].startswith("specs/burst  Bursts  (open, 9 words, ")
    assert out.splitlines()[1] == "  Up to 16 beats."
    (entry,) = shell.json("list", "specs")
    assert {"address", "title", "summary", "version", "last_author", "words", "category", "status"} <= entry.keys()
    assert shell("list", "coverage") == (1, "", "no page in coverage\n")


def test_a_page_is_read_changed_and_read_again(shell: Shell, place: Layout) -> None:
    status, out, err = shell("get", "specs/burst")
    assert (status, out) == (0, SPEC)
    version = err.rpartition(" ")[2].strip()
    done = shell("commit", "specs/burst", "--version", version, text=SPEC.replace("16", "8"))
    assert (done[0], done[1].startswith("specs/burst: written, version ")) == (0, True)
    conflict = shell("commit", "specs/burst", "--version", version, text=SPEC.replace("16", "4"))
    assert conflict[:2] == (1, SPEC.replace("16", "8") + "\n")
    assert "dvwiki commit: conflict: somebody changed it" in conflict[2]
    assert shell("get", "specs/burst#Answer")[1] == "Yes.\n"
    cut = shell("get", "specs/burst", "--budget", "25")
    assert "lines left out, about " in cut[2]
    assert "version" not in cut[2]
    assert "there is no such page" in shell("get", "specs/nothing")[2]
    (bug,) = (place.wiki / "bugs").glob("RTL_*.md")
    added = shell("append", f"bugs/{bug.stem}#Resolution", "--text", "Ready was a cycle late.")
    assert added[0] == 0
    assert "Ready was a cycle late." in bug.read_text("utf-8")
    refused = shell("commit", f"bugs/{bug.stem}", "--version", "x", text="x")
    assert (refused[0], "bugs is for ingest, reviewer, human; the role agent may write" in refused[2]) == (1, True)
    assert shell("append", "log", "--role", "robot", "--text", "x")[::2] == (
        2,
        "dvwiki append: there is no role 'robot'; choose from ingest, agent, reviewer, human\n",
    )


def test_a_handoff_says_who_has_the_work(shell: Shell) -> None:
    done = shell("handoff", "reviewer", "Look at the resolution.", "--task", "fifo")
    assert done == (0, "agent -> reviewer, handoff 1 of at most 6\n", "")
    back = shell("handoff", "agent", "No, you.", "--role", "reviewer", "--task", "fifo")
    assert back[1].startswith("reviewer -> human, handoff 2 of at most 6; agent is not later than reviewer in agent ->")
    assert shell("handoff", "human", " ")[::2] == (
        1,
        "dvwiki handoff: denied: the summary is empty; say what the next role has to know\n",
    )


def test_a_section_is_proposed_and_takes_effect_when_accepted(shell: Shell, place: Layout) -> None:
    listed = shell("sections")[1]
    assert "bugs/*#Resolution  log, written by agent, reviewer, human, 4 reads in a turn\n" in listed
    assert listed.endswith("handoffs: agent -> reviewer -> human, at most 6 for a task\n")
    words = ("--mode", "log", "--writable-by", "agent", "human", "--title", "Decisions", "--reason", "Why we chose.")
    before = (place.wiki / "schema.yaml").read_text("utf-8")
    done = shell("sections", "propose", "decisions", *words)
    (proposal,) = ReviewQueue(place).pending()
    assert done[1] == f"decisions: waits for review; a person has to accept it: `dvwiki review accept {proposal.id}`\n"
    assert "denied" in shell("append", "decisions", "--text", "We wait.")[2]
    assert shell("review", "accept", proposal.id, "--by", "Ann")[:2] == (0, "decisions is a section now\n")
    assert "decisions" in load_schema(place.wiki).writable("agent")
    after = (place.wiki / "schema.yaml").read_text("utf-8")
    assert [line for line in after.splitlines() if line not in before.splitlines()] == [f"  {proposal.text}"]
    assert shell("append", "decisions", "--text", "We wait.")[0] == 0
    assert "note | - | agent: We wait." in (place.wiki / "decisions.md").read_text("utf-8")


def test_a_draft_is_shown_edited_and_accepted(shell: Shell, place: Layout) -> None:
    draft = SPEC.replace("Bursts", "Wrapping bursts")
    said = shell("commit", "specs/axi/wrap", text=draft)[1]
    assert said.startswith("specs/axi/wrap: waits for review; a person has to accept")
    (proposal,) = ReviewQueue(place).pending()
    listed = shell("review")[1].splitlines()
    assert (
        listed[0] == f"{proposal.id}  page specs/axi/wrap, by agent on 2026-11-22: a new page, made by the role agent"
    )
    found = shell("search", "wrapping")[1].splitlines()
    assert found[1].startswith(f"  review/{proposal.id}.md  score ")
    assert found[1].endswith(", unreviewed, for specs/axi/wrap")
    assert "Wrapping" not in shell("context", "wrapping")[1]
    assert "# Wrapping bursts" in shell("review", "show", proposal.id[:5])[1]
    assert shell("review", "edit", proposal.id, "--file", "-", "--by", "Ann", text=draft.replace("16", "2"))[0] == 0
    done = shell("review", "accept", proposal.id, "--by", "Bob", "--note", "as the manual says")
    assert done[1] == "specs/axi/wrap is a page now\n"
    assert "Up to 2 beats." in (place.wiki / "specs" / "axi" / "wrap.md").read_text("utf-8")
    assert "review/" not in shell("search", "wrapping")[1]
    decided = ReviewQueue(place).get(proposal.id)
    assert (decided.edited_by, decided.decided_by, decided.decision, decided.note) == (
        "Ann",
        "Bob",
        "accepted",
        "as the manual says",
    )
    assert "accepted by Bob on 2026-11-22" in shell("review", "--all")[1]
    assert shell("review", "reject", proposal.id)[0] == 2


def test_a_change_of_a_page_that_changed_meanwhile_cannot_be_accepted(shell: Shell, place: Layout) -> None:
    version = shell.json("get", "specs/burst")["version"]
    proposal = ReviewQueue(place).propose(
        "page", "specs/burst", SPEC.replace("16", "8"), by="librarian", reason="shorter", base=version
    )
    assert "-Up to 16 beats.\n+Up to 8 beats." in shell("review", "show", proposal.id)[1]
    shell("commit", "specs/burst", "--version", version, text=SPEC.replace("16", "4"))
    status, _, err = shell("review", "accept", proposal.id)
    assert (status, "specs/burst: somebody changed it after you read it" in err) == (2, True)
    assert ReviewQueue(place).get(proposal.id).decision is None
    assert shell("review", "reject", proposal.id, "--by", "Ann")[1] == f"{proposal.id} is rejected\n"


def test_an_rtl_bug_that_nobody_has_judged_is_confirmed_by_a_person(shell: Shell, place: Layout) -> None:
    (bug,) = (place.wiki / "bugs").glob("RTL_*.md")
    before = bug.read_text("utf-8")
    out = shell("review")[1].splitlines()
    assert out[0] == "1 RTL bug not reviewed yet; accept those that are right:"
    assert out[1].startswith(f"{bug.stem}  UVM_ERROR sb.sv: ")
    assert out[1].endswith(", seen in 1 run, last on 2026-11-21")
    assert "no such proposal; to judge a bug, set `type` or `status`" in shell("review", "reject", bug.stem)[2]
    assert shell("review", "accept", bug.stem, "--by", "Ann")[1] == f"bugs/{bug.name} is confirmed\n"
    after = bug.read_text("utf-8")
    assert after.replace("confirmed_by: Ann\n", "").replace('confirmed_on: "2026-11-22"\n', "") == before.replace(
        "status: open", "status: confirmed", 1
    )
    assert shell("review")[1] == "nothing waits for review\n"
    assert shell("review", "accept", bug.stem)[0] == 2


def test_a_merge_and_a_pattern_are_carried_out(shell: Shell, place: Layout) -> None:
    archive(place, record(2, occurrence("a" * 12)))
    kept, other = sorted(path.stem for path in (place.wiki / "bugs").glob("RTL_*.md"))
    queue = ReviewQueue(place)
    merge = queue.propose("merge", kept, other, by="librarian", reason="one check")
    assert f"bugs/{other}.md is superseded by bugs/{kept}.md" in shell("review", "accept", merge.id)[1]
    assert f"superseded_by: {kept}" in (place.wiki / "bugs" / f"{other}.md").read_text("utf-8").replace('"', "")
    pattern = (
        '- id: own.frob\n  error_class: sim_error\n  failure_subtype: timeout\n  tier: cause\n  match: ["frob {}"]\n'
        "  description: It frobs.\n  fix: Stop it.\n"
    )
    bad = queue.propose("pattern", "own.frob", pattern.format("("), by="agent", reason="seen often")
    assert "own.frob.yaml" in shell("review", "accept", bad.id)[2]
    good = queue.propose("pattern", "own.frob", pattern.format("of the bus"), by="agent", reason="seen often")
    assert shell("review", "accept", good.id)[1].startswith("patterns/own.frob.yaml is active now")
    assert "frob of the bus" in (place.patterns / "own.frob.yaml").read_text("utf-8")
