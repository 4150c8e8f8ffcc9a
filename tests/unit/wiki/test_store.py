from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki import WikiConfig, WikiStore
from pytest_dvwiki.wiki.page_cache import version_of
from pytest_dvwiki.wiki.writing.build import archive, build, merge

from ..samples import layout, occurrence, record
from .outcomes import denied, fetched

if TYPE_CHECKING:
    from pathlib import Path

SPEC = (
    "---\ntype: spec\nfeature: burst\nclarification_type: wording\nstatus: open\n---\n\n# Bursts\n\n## Answer\n\nYes.\n"
)


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    """Return a wiki with one bug."""
    (tmp_path / ".agent").mkdir()
    archive(layout(tmp_path), record(1, occurrence()))
    return tmp_path / ".agent" / "wiki"


def store(wiki: Path, role: str = "agent") -> WikiStore:
    return WikiStore(WikiConfig(wiki_dir=wiki), role)


def bug_page(wiki: Path) -> Path:
    (page,) = (wiki / "bugs").glob("RTL_*.md")
    return page


def resolution(wiki: Path) -> str:
    return f"bugs/{bug_page(wiki).stem}#Resolution"


def test_a_list_names_each_page_with_what_it_says_of_itself(wiki: Path) -> None:
    listed = store(wiki).list()
    assert [entry.address for entry in listed] == [f"bugs/{bug_page(wiki).stem}", "patterns/scoreboard_fail"]
    assert listed[0].metadata["fingerprint"] == occurrence().fingerprint
    assert [entry.category for entry in store(wiki).list("patterns")] == ["patterns"]
    assert store(wiki).list("nothing") == []


def test_an_agent_appends_to_a_resolution_and_no_other_byte_changes(wiki: Path) -> None:
    before = bug_page(wiki).read_text("utf-8")
    kept = fetched(store(wiki).fetch(resolution(wiki))).content
    done = store(wiki).append(resolution(wiki), "Ready was a cycle late.\n")
    assert done.status == "done"
    after = bug_page(wiki).read_text("utf-8")
    now = fetched(store(wiki).fetch(resolution(wiki)))
    note = "- unreviewed, by agent on 2026-11-22: Ready was a cycle late."
    assert now.content == f"{kept}\n\n{note}".lstrip("\n")
    assert now.version == done.version
    assert after.replace(f"\n\n{note}", "", 1) == before
    assert f"commit | - | {resolution(wiki)} by agent" in (wiki / "log.md").read_text("utf-8")


def test_what_an_agent_wrote_is_there_after_the_next_run_and_the_indexes_are_right(wiki: Path) -> None:
    store(wiki).append(resolution(wiki), "Ready was a cycle late.")
    archive(layout(wiki.parent.parent), record(2, occurrence()))
    assert "Ready was a cycle late." in bug_page(wiki).read_text("utf-8")
    assert build(layout(wiki.parent.parent), check=True).changed == []


def test_a_write_based_on_an_older_content_is_a_conflict_with_the_present_one(wiki: Path) -> None:
    address = f"bugs/{bug_page(wiki).stem}"
    mine = fetched(store(wiki, "reviewer").fetch(address))
    bug_page(wiki).write_text(mine.content.replace("status: open", "status: confirmed"), "utf-8")
    found = store(wiki, "reviewer").commit(address, mine.content.replace("owner: null", "owner: me"), mine.version)
    assert found.status == "conflict"
    assert "status: confirmed" in found.content
    assert found.version == version_of(found.content)
    assert "status: confirmed" in bug_page(wiki).read_text("utf-8")


def test_a_reviewer_sets_the_keys_that_are_people_s_and_the_index_shows_it(wiki: Path) -> None:
    address = f"bugs/{bug_page(wiki).stem}"
    mine = fetched(store(wiki, "reviewer").fetch(address))
    done = store(wiki, "reviewer").commit(address, mine.content.replace("status: open", "status: closed"), mine.version)
    assert done.status == "done"
    assert "closed" in (wiki / "index.md").read_text("utf-8")


def test_a_page_that_was_merged_is_found_by_its_former_name(wiki: Path) -> None:
    place = layout(wiki.parent.parent)
    kept = bug_page(wiki).stem
    archive(place, record(2, occurrence("a" * 12)))
    other = next(page.stem for page in (wiki / "bugs").glob("RTL_*.md") if page.stem != kept)
    merge(place, f"bugs/{kept}.md", f"bugs/{other}.md")
    pointer = fetched(store(wiki).fetch(f"bugs/{other}#Resolution"))
    assert (pointer.address, pointer.leads_to) == (f"bugs/{other}#Resolution", f"bugs/{kept}")
    assert fetched(store(wiki).fetch(f"bugs/{kept}")).leads_to == ""
    (wiki / "bugs" / f"{other}.md").unlink()
    build(place)
    found = fetched(store(wiki).fetch(f"bugs/{other}"))
    assert (found.address, found.leads_to) == (f"bugs/{kept}", "")
    assert "Seen in 2 runs" in found.content
    assert fetched(store(wiki).fetch(f"bugs/{other}#Resolution")).address == f"bugs/{kept}#Resolution"
    assert "there is no such page" in denied(store(wiki).fetch("bugs/RTL_20200101_000001"))


def test_a_write_of_what_stands_there_writes_nothing(wiki: Path) -> None:
    address = f"bugs/{bug_page(wiki).stem}"
    mine = fetched(store(wiki, "reviewer").fetch(address))
    state = {path: path.stat().st_mtime_ns for path in (*wiki.glob("*.md"), bug_page(wiki))}
    assert store(wiki, "reviewer").commit(address, mine.content, mine.version).status == "done"
    assert {path: path.stat().st_mtime_ns for path in state} == state


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("hit_count: 1", "hit_count: 7", "hit_count is made from the records; leave dvwiki's keys unchanged"),
        ("expected 0x12", "expected 0x99", "between the marks of records"),
        ("<!-- dvwiki:end records", "", "the region records has no end mark"),
        ("---\ntype", "type", "it has no frontmatter"),
        ("status: open", "status: [", "its frontmatter cannot be read"),
    ],
)
def test_what_the_tool_counts_nobody_else_writes(wiki: Path, old: str, new: str, reason: str) -> None:
    address = f"bugs/{bug_page(wiki).stem}"
    mine = fetched(store(wiki, "reviewer").fetch(address))
    assert old in mine.content
    found = store(wiki, "reviewer").commit(address, mine.content.replace(old, new, 1), mine.version)
    assert reason in denied(found)
    assert bug_page(wiki).read_text("utf-8") == mine.content


def test_a_role_is_told_what_it_may_write_where_it_may_not(wiki: Path) -> None:
    found = denied(store(wiki).commit(f"bugs/{bug_page(wiki).stem}", "x", "x"))
    assert found.startswith("bugs is for ingest, reviewer, human; the role agent may write ")
    assert "bugs/*#Resolution" in found


def test_a_project_s_own_schema_decides(wiki: Path) -> None:
    (wiki / "schema.yaml").write_text('sections: {"bugs/*#Resolution": {mode: log, writable_by: [human]}}\n', "utf-8")
    assert "the role agent may write nothing" in denied(store(wiki).append(resolution(wiki), "x"))
    assert store(wiki, "human").append(resolution(wiki), "x").status == "done"


def test_a_log_is_appended_to_and_a_snapshot_is_committed(wiki: Path) -> None:
    assert "has the mode log: write it with `append`" in denied(store(wiki).commit(resolution(wiki), "x", "x"))
    template = "patterns/scoreboard_fail#Fix Template"
    assert "has the mode snapshot: write it with `commit`" in denied(store(wiki).append(template, "x"))


@pytest.mark.parametrize("line", ["## Symptom", "# Title", "<!-- dvwiki:begin fixes"])
def test_a_text_cannot_leave_the_part_into_which_it_is_put(wiki: Path, line: str) -> None:
    assert "would end the part" in denied(store(wiki).append(resolution(wiki), f"text\n{line}\nmore"))
    fenced = f"```\n {line}\n```\n### Why"
    assert store(wiki).append(resolution(wiki), fenced).status == "done"


def test_a_session_reads_a_section_no_more_often_than_its_read_cap(wiki: Path) -> None:
    session = store(wiki)
    for _ in range(4):
        fetched(session.fetch(resolution(wiki)))
    assert "has read bugs/*#Resolution 4 times" in denied(session.fetch(resolution(wiki)))
    fetched(session.fetch("patterns/scoreboard_fail"))
    fetched(store(wiki).fetch(resolution(wiki)))


def test_a_person_makes_a_spec_page_that_the_index_lists(wiki: Path) -> None:
    done = store(wiki, "human").create("specs", "burst length/[3:0]", SPEC)
    assert done.status == "done"
    assert fetched(store(wiki).fetch(done.address)).content == SPEC
    assert (wiki / f"{done.address}.md").is_file()
    assert "burst" in (wiki / "specs" / "_index.md").read_text("utf-8")
    again = store(wiki, "human").create("specs", "burst length/[3:0]", SPEC)
    assert (again.status, again.content) == ("conflict", SPEC)


def test_pages_that_follow_from_records_are_not_made_by_hand(wiki: Path) -> None:
    assert "are made from records" in denied(store(wiki, "human").create("bugs", "RTL_20261121_000001", SPEC))
    assert "it has no frontmatter" in denied(store(wiki).create("specs", "burst", "just text"))
    assert "there is no category" in denied(store(wiki).create("../x", "burst", SPEC))


@pytest.mark.parametrize(
    "address",
    ["", "bugs/../../../etc/passwd", "/etc/passwd", "bugs/..", "bugs/a\0b", "bugs/con", "bugs/" + 300 * "x", "bugs/*"],
)
def test_a_place_outside_of_the_wiki_is_refused(wiki: Path, address: str) -> None:
    assert denied(store(wiki, "human").fetch(address))
    assert denied(store(wiki, "human").commit(address, "x", "x"))


def test_a_link_that_leads_out_of_the_wiki_is_neither_read_nor_written(wiki: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(SPEC, "utf-8")
    (wiki / "specs" / "link.md").symlink_to(outside)
    assert "leads out of the wiki" in denied(store(wiki).fetch("specs/link"))
    for version in ("not read", version_of(SPEC)):
        answer = store(wiki).commit("specs/link", f"{SPEC}\nmore\n", version)
        assert (answer.content, "leads out of the wiki" in denied(answer)) == ("", True)
    assert "leads out of the wiki" in denied(store(wiki).create("specs", "link", SPEC))
    assert outside.read_text("utf-8") == SPEC


def test_a_page_of_a_long_name_and_one_that_people_named_are_read_and_written(wiki: Path) -> None:
    (wiki / "specs" / "burst (old).md").write_text(SPEC, "utf-8")
    assert store(wiki, "human").create("specs", "x" * 300, SPEC).status == "done"
    for entry in store(wiki).list("specs"):
        assert store(wiki).commit(entry.address, f"{SPEC}\nmore\n", version_of(SPEC)).status == "done"
        assert fetched(store(wiki).fetch(entry.address)).content == f"{SPEC}\nmore\n"


def test_secrets_do_not_reach_a_page(wiki: Path) -> None:
    store(wiki).append(resolution(wiki), "see https://me:geheim@git.example.org/x")
    assert "geheim" not in bug_page(wiki).read_text("utf-8")


def test_a_page_keeps_its_line_ends(wiki: Path) -> None:
    bug_page(wiki).write_bytes(bug_page(wiki).read_bytes().replace(b"\n", b"\r\n"))
    assert store(wiki).append(resolution(wiki), "one\ntwo").status == "done"
    assert b":\r\n  one\r\n  two\r\n" in bug_page(wiki).read_bytes()
    assert bug_page(wiki).read_bytes().count(b"\n") == bug_page(wiki).read_bytes().count(b"\r\n")


def test_an_open_fence_of_a_person_does_not_open_the_tool_s_regions(wiki: Path) -> None:
    text = bug_page(wiki).read_text("utf-8")
    bug_page(wiki).write_text(text.replace("## Resolution\n", "## Resolution\n\n```\nopen\n", 1), "utf-8")
    before = bug_page(wiki).read_text("utf-8").count("dvwiki:")
    assert store(wiki).append(resolution(wiki), "more").status == "done"
    assert bug_page(wiki).read_text("utf-8").count("dvwiki:") == before


def test_a_role_that_there_is_not_is_named(wiki: Path) -> None:
    with pytest.raises(ValueError, match="there is no role 'robot'; choose from ingest, agent, reviewer, human"):
        store(wiki, "robot")


def test_a_page_with_crlf_and_a_byte_order_mark_can_be_committed_and_keeps_them(wiki: Path) -> None:
    """Redaction knows only line feeds; it must change new lines, and no existing line."""
    before = b"\xef\xbb\xbf" + bug_page(wiki).read_bytes().replace(b"\n", b"\r\n")
    before = before.replace(b"## Symptom\r\n", b"## Symptom\r\n\r\ntabs\t and \xe2\x80\xa8 stay  \r\n")
    bug_page(wiki).write_bytes(before)
    address = f"bugs/{bug_page(wiki).stem}"
    mine = fetched(store(wiki, "reviewer").fetch(address))
    done = store(wiki, "reviewer").commit(
        address, mine.content.replace("owner: null", "owner: fifo team"), mine.version
    )
    assert done.status == "done", done.reason
    assert bug_page(wiki).read_bytes() == before.replace(b"owner: null", b"owner: fifo team")
