"""Tests for every store of pages: on disk, and in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.wiki.config import WikiConfig
from pytest_dvwiki.wiki.page_cache import version_of
from pytest_dvwiki.wiki.review import ReviewQueue
from pytest_dvwiki.wiki.store import WikiStore
from pytest_dvwiki.wiki.store_memory import MemoryStore, MemoryWiki
from pytest_dvwiki.wiki.writing.build import init

from ..samples import layout
from .outcomes import denied, fetched

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.wiki.store_protocol import Store

SPEC = (
    "---\ntype: spec\nfeature: burst\nclarification_type: wording\nstatus: open\n---\n\n# Bursts\n\n"
    "Lengths up to 16.\n\n## Answer\n\nYes.\n\n## Sources\n\nThe manual.\n"
)
SCHEMA = """\
roles: [planner, architect, engineer]
sections:
  specs: {writable_by: [planner, human], read_cap: 2}
  "specs/*#Answer": {mode: log, writable_by: [engineer]}
  vision: {title: Vision, description: Where to, writable_by: [planner]}
  log: {mode: log, writable_by: [agent, engineer]}
  handoffs: {title: Handoffs, mode: log, writable_by: [planner, architect, engineer]}
pipeline: [planner, architect, engineer]
"""


class Place:
    """The store under test."""

    def __init__(self, kind: str, root: Path) -> None:
        self.memory = MemoryWiki(schema=SCHEMA) if kind == "memory" else None
        self.layout = layout(root)
        if self.memory is None:
            init(self.layout)
            (self.layout.wiki / "schema.yaml").write_text(SCHEMA, "utf-8")

    def open(self, role: str = "planner") -> Store:
        if self.memory is not None:
            return MemoryStore(self.memory, role)
        return WikiStore(WikiConfig(wiki_dir=self.layout.wiki), role)

    def put(self, path: str, text: str) -> None:
        if self.memory is not None:
            self.memory.files[path] = text.encode()
        else:
            (self.layout.wiki / path).parent.mkdir(exist_ok=True)
            (self.layout.wiki / path).write_text(text, "utf-8")

    def proposals(self) -> list[tuple[str, str, str]]:
        if self.memory is not None:
            return [(kind, target, text.strip()) for kind, target, text in self.memory.proposals]
        return [(each.kind, each.target, each.text) for each in ReviewQueue(self.layout).pending()]


@pytest.fixture(params=["files", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(request.param, tmp_path)


def test_a_list_says_of_each_page_what_a_reader_needs_to_choose(place: Place) -> None:
    place.put("specs/burst.md", SPEC)
    (entry,) = place.open().list()
    assert (entry.address, entry.category, entry.title, entry.summary, entry.status, entry.words, entry.pages) == (
        "specs/burst",
        "specs",
        "Bursts",
        "Lengths up to 16.",
        "open",
        13,
        0,
    )
    assert (entry.version, entry.last_author) == (version_of(SPEC), "")
    place.open("engineer").append("specs/burst#Answer", "Seen in 3 runs.")
    (entry,) = place.open().list("specs")
    assert entry.last_author == "engineer"


def test_above_fifty_pages_a_sub_folder_is_one_line(place: Place) -> None:
    for number in range(49):
        place.put(f"specs/axi/p{number:02}.md", SPEC)
    place.put("specs/burst.md", SPEC)
    assert len(place.open().list()) == 50
    place.put("specs/b.md", SPEC)
    shown = [(entry.address, entry.pages, entry.summary) for entry in place.open().list("specs")]
    assert shown == [
        ("specs/axi/", 49, "49 pages"),
        ("specs/b", 0, "Lengths up to 16."),
        ("specs/burst", 0, "Lengths up to 16."),
    ]
    assert [entry.address for entry in place.open().list("specs/axi/")][:2] == ["specs/axi/p00", "specs/axi/p01"]
    assert fetched(place.open().fetch("specs/axi/p07")).content == SPEC


def test_a_commit_needs_the_version_that_was_read(place: Place) -> None:
    place.put("specs/burst.md", SPEC)
    mine, theirs = place.open(), place.open()
    read = fetched(mine.fetch("specs/burst"))
    done = theirs.commit("specs/burst", read.content.replace("16", "8"), read.version)
    assert (done.status, done.version) == ("done", version_of(SPEC.replace("16", "8")))
    conflict = mine.commit("specs/burst", read.content.replace("16", "4"), read.version)
    assert (conflict.status, conflict.content, conflict.version) == (
        "conflict",
        SPEC.replace("16", "8"),
        done.version,
    )
    assert mine.commit("specs/burst", conflict.content.replace("8", "4"), conflict.version).status == "done"
    assert mine.commit("specs/burst", SPEC, "").status == "conflict"


def test_a_role_writes_only_its_sections_and_hears_which(place: Place) -> None:
    place.put("specs/burst.md", SPEC)
    assert denied(place.open("architect").commit("specs/burst", SPEC, version_of(SPEC))) == (
        "specs is for planner, human; the role architect may write handoffs (schema.yaml)"
    )
    assert "has the mode log: write it with `append`" in denied(
        place.open("engineer").commit("specs/burst#Answer", "x", "x")
    )
    assert "is not an address in the wiki" in denied(place.open().fetch("decisions"))
    with pytest.raises(ValueError, match="there is no role 'robot'; choose from ingest, agent"):
        place.open("robot")


def test_a_new_page_of_an_agent_waits_for_a_person_and_a_person_s_does_not(place: Place) -> None:
    found = place.open().commit("specs/axi/burst", SPEC, "")
    assert (found.status, found.address, bool(found.proposal)) == ("proposed", "specs/axi/burst", True)
    assert place.proposals() == [("page", "specs/axi/burst", SPEC.strip())]
    assert place.open().list() == []
    assert "it has no frontmatter" in denied(place.open().commit("specs/other", "just text", ""))
    assert "lacks type and feature" in denied(place.open().commit("specs/other", "---\ntitle: x\n---\ntext", ""))
    assert "'../x' is not a page name" in denied(place.open("human").commit("specs/../x", SPEC, ""))
    assert place.open("human").commit("specs/axi/burst", SPEC, "").status == "done"
    assert [entry.address for entry in place.open().list()] == ["specs/axi/burst"]


def test_a_section_of_its_own_is_a_file_that_its_roles_write(place: Place) -> None:
    assert place.open().commit("vision", "Ship it.\n", "").status == "done"
    read = fetched(place.open().fetch("vision"))
    assert place.open().commit("vision", "Ship it soon.\n", read.version).status == "done"
    assert place.open().commit("vision", "Ship it now.\n", read.version).status == "conflict"
    (entry,) = place.open().list()
    assert (entry.address, entry.title, entry.summary, entry.last_author, entry.words) == (
        "vision",
        "Vision",
        "Where to",
        "planner",
        3,
    )
    assert place.open("agent").append("log", "tried\n## two [2020-01-01] seeds").status == "done"
    assert "] note | - | agent: tried ## two [2020-01-01] seeds\n" in fetched(place.open().fetch("log")).content
    assert denied(place.open("agent").append("log", "x" * 5000)).startswith("it has 5000 characters")


def test_a_turn_ends_with_a_write_and_not_with_a_refusal(place: Place) -> None:
    place.put("specs/burst.md", SPEC)
    session = place.open()
    for _ in range(2):
        version = fetched(session.fetch("specs/burst")).version
    refusal = denied(session.fetch("specs/burst"))
    assert refusal.startswith(
        "this turn has read specs 2 times (specs/burst), the most that its read_cap allows; write"
    )
    assert session.commit("specs/burst", SPEC, "0").status == "conflict"
    denied(session.append("specs/burst#Answer", "x"))
    denied(session.fetch("specs/burst"))
    assert len(session.list()) == 1
    assert session.commit("specs/burst", SPEC.replace("16", "8"), version).status == "done"
    fetched(session.fetch("specs/burst"))
    fetched(session.fetch("specs/burst"))
    assert session.handoff("architect", "Read the page.").status == "done"
    fetched(session.fetch("specs/burst"))


def test_a_content_cut_to_a_budget_has_no_version_and_names_what_is_missing(place: Place) -> None:
    place.put("specs/burst.md", SPEC)
    whole = fetched(place.open().fetch("specs/burst"))
    assert whole.shortened(1000, len) is whole
    cut = whole.shortened(120, len)
    assert SPEC.startswith(cut.content)
    assert len(cut.content) <= 120
    assert cut.version == ""
    assert cut.left_out == "5 lines left out, about 30 tokens; its parts: `specs/burst#Sources`"


def test_a_handoff_goes_forward_and_says_so(place: Place) -> None:
    done = place.open().handoff("architect", "Bursts\nare open.", task="burst")
    assert (done.status, done.by, done.to, done.asked_for, done.step, done.max_steps) == (
        "done",
        "planner",
        "architect",
        "",
        1,
        6,
    )
    for role, target, to in (
        ("architect", "planner", "engineer"),
        ("architect", "architect", "engineer"),
        ("engineer", "planner", "engineer"),
        ("engineer", "engineer", "engineer"),
        ("planner", "engineer", "engineer"),
    ):
        done = place.open(role).handoff(target, "Go on.", task="burst")
        assert (done.status, done.to) == ("done", to)
        assert done.asked_for == ("" if target == to != role else target)
    assert place.open("architect").handoff("planner", "x", "other").reason == (
        "planner is not later than architect in planner -> architect -> engineer; the attempt was noted, and"
        " engineer has the work"
    )
    lines = fetched(place.open().fetch("handoffs")).content.splitlines()
    assert lines[0] == "# Handoffs"
    assert lines[2].endswith("] handoff | burst | planner -> architect: Bursts are open.")
    assert lines[3].endswith("] handoff | burst | architect -> engineer (asked for planner): Go on.")
    last = place.open().list("handoffs")[0]
    assert (last.address, last.last_author) == ("handoffs", "architect")


def test_after_max_steps_a_task_is_handed_on_no_more(place: Place) -> None:
    for step in range(6):
        assert place.open().handoff("engineer", "Again.").step == step + 1
    before = fetched(place.open().fetch("handoffs")).content
    refused = place.open().handoff("engineer", "Again.")
    assert (refused.status, refused.to) == ("denied", "")
    assert "the 6 handoffs of this work are used up (max_steps of schema.yaml)" in refused.reason
    assert fetched(place.open().fetch("handoffs")).content == before
    assert place.open().handoff("engineer", "Another one.", task="t2").status == "done"


@pytest.mark.parametrize(
    ("role", "asked", "reason"),
    [
        ("planner", ("engineer", " \n", ""), "the summary is empty"),
        ("planner", ("robot", "Go.", ""), "there is no role 'robot' in the pipeline planner -> architect -> engineer"),
        ("human", ("engineer", "Go.", ""), "the role human is not in the pipeline"),
        ("planner", ("engineer", "x" * 5000, ""), "it has 5000 characters, more than 4000"),
        ("planner", ("engineer", "Go.", "a | b"), "the task 'a | b' is not a name"),
    ],
)
def test_a_handoff_without_sense_is_refused(place: Place, role: str, asked: tuple[str, str, str], reason: str) -> None:
    found = place.open(role).handoff(*asked)
    assert found.status == "denied"
    assert reason in found.reason
    assert "there is no such page" in denied(place.open().fetch("handoffs"))


def test_a_new_section_is_checked_and_waits_for_a_person(place: Place) -> None:
    store = place.open("architect")
    found = store.create_section(
        "decisions", mode="log", writable_by=["architect", "engineer"], title="Key: decisions", reason="Why we chose."
    )
    assert found.status == "proposed"
    assert place.proposals() == [
        (
            "section",
            "decisions",
            'decisions: {title: "Key: decisions", mode: log, writable_by: [architect, engineer], read_cap: 4}',
        )
    ]
    assert "decisions" not in store.schema.writable("architect")
    for name, mode, role, title, reason in (
        ("index", "log", "architect", "Index", "unknown section"),
        ("decisions", "diary", "architect", "D", "mode 'diary' is unknown"),
        ("decisions", "log", "robot", "D", "writable_by must be a list of known roles, not 'robot'"),
        ("decisions", "log", "architect", "", "give it a title"),
        ("specs", "log", "architect", "", "there is a section specs already"),
    ):
        assert reason in denied(
            store.create_section(name, mode=mode, writable_by=[role], title=title, reason="Because.")
        )
    assert "say in `reason`" in denied(store.create_section("notes", mode="log", writable_by=[], title="N", reason=" "))
