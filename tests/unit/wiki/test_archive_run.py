"""A run becomes a record, pages, indexes and a line of the log; the same cause again updates its page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.model import Command, Origin, PassedAgain, Place, Vcs
from pytest_dvwiki.records import WikiError, disk
from pytest_dvwiki.records.store import record_path, suite_id
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build, init

from ..samples import CAUSE, PRIMARY, TEST, archived, failed, files, fixed, layout, occurrence, passing, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    return layout(tmp_path)


def _bug(place: Layout) -> Path:
    (page,) = (place.wiki / "bugs").glob("[A-Z]*.md")
    return page


def test_the_first_run_makes_the_wiki(place: Layout) -> None:
    result = archive(place, record(1, occurrence()))
    assert sorted(result.pages_created) == [f"bugs/{_bug(place).name}", "patterns/scoreboard_fail.md"]
    assert result.page_of == {CAUSE: f"bugs/{_bug(place).name}"}
    assert result.refused == []
    made = {name for name in files(place.agent) if not name.startswith(("wiki/bugs/RTL", "tasks/2026"))}
    assert made >= {
        "journal/.gitignore",
        "wiki/.gitattributes",
        "wiki/.gitignore",
        "wiki/WIKI.md",
        "wiki/bugs/_index.md",
        "wiki/index.md",
        "wiki/log.md",
        "wiki/patterns/_index.md",
        "wiki/patterns/scoreboard_fail.md",
        "wiki/schema.yaml",
    }


def test_the_same_cause_with_other_values_updates_its_page(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    again = occurrence(primary=PRIMARY.replace("0x13", "0x77"), tests=(failed(seed="7"), failed("tests/b.py::b", "8")))
    result = archive(place, record(2, again))
    assert result.pages_created == []
    metadata = pages.read(_bug(place).read_bytes()).metadata
    assert (metadata["hit_count"], metadata["occurrence_count"], metadata["seeds"]) == (2, 3, ["7", "8", "42"])
    assert metadata["task_ids"] == [record(2).task_id, record(1).task_id]
    pattern = pages.read((place.wiki / "patterns" / "scoreboard_fail.md").read_bytes()).metadata
    assert (pattern["hit_count"], pattern["occurrence_count"], pattern["fix_success_rate"]) == (2, 3, None)


def test_the_same_record_again_changes_nothing(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    before = files(place.agent)
    times = {path: path.stat().st_mtime_ns for path in place.wiki.rglob("*.md")}
    result = archive(place, record(1, occurrence()))
    assert (result.pages_created, result.pages_updated) == ([], [])
    assert result.page_of == {CAUSE: f"bugs/{_bug(place).name}"}
    assert files(place.agent) == before
    assert {path: path.stat().st_mtime_ns for path in place.wiki.rglob("*.md")} == times


def test_the_same_record_again_makes_no_page_that_a_person_deleted(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    _bug(place).unlink()
    assert archive(place, record(1, occurrence())).pages_created == []
    assert len(archive(place, record(2, occurrence())).pages_created) == 1


@pytest.mark.parametrize(("origin", "prefix"), [("RTL_BUG", "RTL"), ("TB_BUG", "TB"), ("UNKNOWN", "UNK")])
def test_a_page_is_named_after_origin_and_first_date(place: Layout, origin: str, prefix: str) -> None:
    archive(place, record(1, occurrence(origin=Origin(type=origin, confidence=0.5))))  # type: ignore[arg-type]  # parametrised
    assert re.fullmatch(rf"{prefix}_20261121_\d{{6}}\.md", _bug(place).name)
    assert pages.read(_bug(place).read_bytes()).metadata["type"] == origin


def test_a_fault_of_a_tool_makes_no_bug_page(place: Layout) -> None:
    lost = occurrence(failure_subtype="tool_license", origin=Origin(type="TOOL", confidence=0.9))
    result = archive(place, record(1, lost))
    assert result.pages_created == ["patterns/tool_license.md"]
    assert result.page_of == {CAUSE: "patterns/tool_license.md"}


def test_an_unknown_failure_has_a_bug_page_and_no_pattern_page(place: Layout) -> None:
    strange = occurrence(failure_subtype="unknown", error_class="unknown", pattern=None)
    assert archive(place, record(1, strange)).pages_created == [f"bugs/{_bug(place).name}"]


def test_the_page_says_what_an_engineer_needs(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    text = _bug(place).read_text()
    for words in (
        "# UVM_ERROR sb.sv: reporter \\[SCBD\\] expected … got …",
        PRIMARY,
        f"`{TEST}`",
        "Seeds that failed: `42`",
        "`icarus 11.0`",
        "commit `000000000000` on `main`",
        "COCOTB_RANDOM_SEED=42 pytest",
        "- fails with 3 of 3 seeds\n",
        "[scoreboard_fail](../patterns/scoreboard_fail.md)",
        f"(source: tasks/{record(1).task_id}.yaml | log: sim_build/test_fifo.log:1880)",
    ):
        assert words in text
    for heading in ("Symptom", "Evidence", "Classification Rationale", "Related Patterns", "Reproduce", "Occurrences"):
        assert f"\n## {heading}\n" in text


def test_a_pattern_page_says_that_its_tables_are_not_all(place: Layout) -> None:
    causes = [f"{number:012x}" for number in range(21)]
    archive(place, record(1, *map(occurrence, causes[:20])))
    archive(place, record(2, occurrence(causes[20]), fixes=tuple(fixed(2, cause) for cause in causes[:20])))
    text = (place.wiki / "patterns" / "scoreboard_fail.md").read_text()
    assert "\nThe newest 20 fixes:\n" in text
    assert "\nThe newest 20 occurrences:\n" in text


def test_what_people_wrote_survives_byte_for_byte(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    page = _bug(place)
    text = page.read_text()
    edited = (
        text.replace("type: RTL_BUG", "type: TB_BUG   # the model was wrong")
        .replace("status: open", "status:    confirmed")
        .replace("owner: null", "owner: 'fifo team'\njira: [FIFO-1]")
        .replace("## Resolution", "Our own words,  with blanks  \n\n## Resolution")
        .replace(" has a workaround", " has none: not needed\n\n\ttabbed")
        .replace("\n", "\r\n")
    )
    page.write_bytes(edited.encode())
    page.chmod(0o664)
    archive(place, record(2, occurrence(tests=(failed(seed="7"),))))
    after = page.read_bytes()
    owned = (*pages.read(after).metadata,)[5:]
    assert page.stat().st_mode & 0o777 == 0o664
    assert pages.read(after).metadata["hit_count"] == 2
    assert pages.skeleton(after, owned) == pages.skeleton(edited.encode(), owned)
    assert b"The page says TB_BUG" in after or b"The page says TB\\_BUG" in after


def test_a_page_that_was_deleted_is_made_again_when_its_cause_occurs(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    name = _bug(place).name
    _bug(place).unlink()
    archive(place, passing(2))
    assert not (place.wiki / "bugs" / name).exists()
    assert archive(place, record(3, occurrence())).pages_created == [f"bugs/{name}"]


def test_a_page_of_which_a_power_cut_left_nothing_is_made_again(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    page = _bug(place)
    page.write_bytes(b"")
    assert archive(place, record(2, occurrence())).pages_created == [f"bugs/{page.name}"]
    assert pages.read(page.read_bytes()).metadata["hit_count"] == 2


def test_only_new_bug_pages_are_not_synced(place: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[str, bool]] = []
    replace = disk.replace

    def noted(path: Path, data: bytes, *, sync: bool = True) -> None:
        written.append((path.parent.name, sync))
        replace(path, data, sync=sync)

    monkeypatch.setattr(disk, "replace", noted)
    archive(place, record(1, occurrence(), occurrence("b" * 12, error_class="sim_error")))
    assert [sync for folder, sync in written if folder == "bugs"] == [False, False, True]  # the last is the index
    assert all(sync for folder, sync in written if folder != "bugs")
    written.clear()
    archive(place, record(2, occurrence()))
    assert all(sync for _, sync in written)


def test_a_build_makes_the_bug_pages_of_which_a_power_cut_left_nothing(place: Layout) -> None:
    archive(place, record(1, occurrence(), occurrence("b" * 12)))
    lost, deleted = sorted((place.wiki / "bugs").glob("TB_*.md")) or sorted((place.wiki / "bugs").glob("RTL_*.md"))
    whole = lost.read_bytes()
    lost.write_bytes(b"")
    deleted.unlink()
    build(place)
    assert lost.read_bytes() == whole
    assert not deleted.exists()


def test_a_page_with_a_conflict_is_left_alone_and_gets_no_twin(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    page = _bug(place)
    broken = page.read_bytes().replace(
        b"status: open", b"<<<<<<< a\nstatus: open\n=======\nstatus: closed\n>>>>>>> b\n"
    )
    page.write_bytes(broken)
    result = archive(place, record(2, occurrence()))
    ((name, reason),) = result.refused
    assert name == f"bugs/{page.name}"
    assert "cannot be read" in reason
    assert page.read_bytes() == broken
    assert _bug(place) == page
    assert record_path(place.tasks, record(2)).is_file()


def test_a_link_that_leads_out_of_the_wiki_is_left_alone(place: Layout, tmp_path: Path) -> None:
    archive(place, record(1, occurrence()))
    outside = tmp_path / "outside.md"
    page = _bug(place)
    outside.write_bytes(page.read_bytes())
    page.unlink()
    page.symlink_to(outside)
    before = outside.read_bytes()
    ((_, reason),) = archive(place, record(2, occurrence())).refused
    assert "out of the wiki" in reason
    assert outside.read_bytes() == before


def test_the_list_of_tests_is_kept(place: Layout) -> None:
    archived(place, record(1, occurrence()), ["b", "a"])
    assert (place.tasks / "suites" / f"{suite_id(['a', 'b'])}.txt").read_text() == "a\nb\n"
    assert f'suite: "{suite_id(["a", "b"])}"' in record_path(place.tasks, record(1)).read_text()


def test_the_log_gets_one_line_a_run_and_keeps_the_old_ones(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    first = (place.wiki / "log.md").read_bytes()
    archive(place, record(2, occurrence()))
    log = (place.wiki / "log.md").read_bytes()
    assert log.startswith(first)
    (line,) = log.removeprefix(first).decode().splitlines()
    assert (
        line
        == f"## [2026-11-21] ingest | {record(2).task_id} | 1 cause, 0 new: patterns/scoreboard_fail.md hit_count 1→2"
    )


def test_a_fix_that_comes_to_hold_reaches_the_pages_of_causes_that_did_not_occur(place: Layout) -> None:
    page = archive(place, record(1, occurrence())).page_of[CAUSE]
    archive(place, passing(2))
    for number in (3, 4, 5):
        archived(place, record(number, occurrence("b" * 12, tests=(failed("another"),))), [TEST, "another"])
    assert f"| held since `{record(5).task_id}` |" in (place.wiki / page).read_text()
    pattern = pages.read((place.wiki / "patterns" / "scoreboard_fail.md").read_bytes())
    assert pattern.metadata["fix_success_rate"] == 1.0
    assert "| 100% |" in (place.wiki / "index.md").read_text()
    assert build(place, check=True).changed == []


def test_a_run_tells_which_fixes_it_made_hold(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    archive(place, passing(2))
    held = [archived(place, record(number), [TEST]).lasting.held for number in (3, 4, 5, 6)]
    assert held == [(), (), (CAUSE,), ()]


def test_a_run_tells_which_fixes_its_passes_prove(place: Layout) -> None:
    """A test that failed in two of three runs passes three times by chance in one of 27 cases."""
    archive(place, record(1, occurrence(tests=(failed(seed="1"),))))
    archived(place, record(2, vcs=Vcs(commit=f"{1:040x}", branch="main")), [TEST])
    archive(place, record(3, occurrence(tests=(failed(seed="3"),))))
    again = PassedAgain(nodeid=TEST, simulator="icarus", fingerprint=CAUSE, seed="4", changed="commit", failed_seed="3")
    archive(place, passing(4, passed_again=(again,)))
    assert "| open, passed 1 of 3 runs needed |" in _bug(place).read_text()
    lasting = [archived(place, record(number), [TEST]).lasting for number in (5, 6, 7)]
    assert lasting == [((), ()), ((), (CAUSE,)), ((CAUSE,), ())]


def test_the_table_of_fixes_holds_whatever_git_says(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    nasty = "a | b `c` <b> [x](y) ## <!-- dvwiki:end records --> _d_"
    log = [f"{number:012x} {nasty}" for number in range(10)]
    files = [f"rtl/`{number}`|.v" for number in range(20)]
    row = fixed(2, text=nasty, log=log, log_count=500, files=files, file_count=300)
    archive(place, passing(2, fixes=(row,)))
    text = _bug(place).read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("| 2026-11-21 | `00000000`..`00000000` |"))
    assert len(re.findall(r"(?<!\\)\|", line)) == 9
    assert "; and 495 more |" in line
    assert "``rtl/`0`\\|.v``" in line
    assert " +296 |" in line
    assert text.count("<!-- dvwiki:end records") == 1
    assert build(place, check=True).changed == []


def test_passes_that_prove_nothing_are_told_with_their_reason(place: Layout) -> None:
    page = archive(place, record(1, occurrence())).page_of[CAUSE]
    archive(place, passing(2, changed="older"))
    told = f"- 2026-11-21: `{TEST}`: the commit is older than the one that failed, and the cause came after it."
    assert f"{told} (source: tasks/{record(2).task_id}.yaml)" in (place.wiki / page).read_text()


def test_archiving_leaves_what_a_build_would_make(place: Layout) -> None:
    for number in range(1, 30):
        archive(place, record(number, occurrence(f"{number % 5:012x}"), occurrence()))
    assert build(place, check=True).changed == []


def test_another_record_of_the_same_name_is_an_error(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    before = files(place.agent)
    with pytest.raises(WikiError, match="records never change"):
        archive(place, replace(record(1, occurrence()), duration_s=1.0))
    assert files(place.agent) == before


def test_a_wiki_that_cannot_be_written_is_one_line_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / ".agent").write_text("a file")
    with pytest.raises(WikiError, match="move it away") as caught:
        archive(layout(tmp_path), record(1, occurrence()))
    assert "\n" not in str(caught.value)


def test_a_run_that_died_between_record_and_pages_is_completed(place: Layout) -> None:
    archive(place, record(1, occurrence("b" * 12)))
    path = record_path(place.tasks, record(2, occurrence()))
    archive(layout(place.root / "elsewhere"), record(2, occurrence()))
    path.write_bytes(record_path(layout(place.root / "elsewhere").tasks, record(2)).read_bytes())
    result = archive(place, record(2, occurrence()))
    assert len(result.pages_created) == 1
    assert (place.wiki / "log.md").read_text().count(f"| {record(2).task_id} |") == 1


def test_init_makes_an_empty_wiki_once(place: Layout) -> None:
    made = init(place)
    assert "wiki/WIKI.md" in made
    assert "Total pages: 0" in (place.wiki / "index.md").read_text()
    before = files(place.agent)
    assert init(place) == []
    assert files(place.agent) == before
    (place.wiki / "WIKI.md").write_text("ours")
    init(place)
    assert (place.wiki / "WIKI.md").read_text() == "ours"


def test_a_failure_without_a_pattern_gets_a_page_that_says_how_to_name_it(tmp_path: Path) -> None:
    place = layout(tmp_path)
    unknown = occurrence(
        error_class="unknown", failure_subtype="unknown", pattern=None, origin=Origin(type="UNKNOWN", confidence=0.0)
    )
    archive(place, record(1, unknown))
    archive(place, record(2, unknown))
    (page,) = place.wiki.glob("bugs/UNK_*.md")
    text = page.read_text(encoding="utf-8")
    for command in ("dvwiki patterns why LOG", "dvwiki patterns propose", "dvwiki patterns test"):
        assert command in text
    assert "Seen in 2 runs" in text
    assert not list(place.wiki.glob("patterns/unknown*"))


def test_a_pass_with_another_seed_stands_beside_the_command_that_fails(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    again = PassedAgain(nodeid=TEST, simulator="icarus", fingerprint=CAUSE, seed="7", changed="seed", failed_seed="42")
    archive(place, record(2, passed_again=(again,)))
    told = pages.regions(_bug(place).read_bytes())
    assert isinstance(told, dict)
    assert "&&\n  COCOTB_RANDOM_SEED=42 pytest tests/test_fifo.py::test_fifo\n" in told["records"]
    assert "With this seed the test passed (source: tasks/regression_20261121T020000Z_000002.yaml):" in told["records"]
    assert "&&\n  COCOTB_RANDOM_SEED=7 pytest tests/test_fifo.py::test_fifo\n" in told["records"]


@pytest.mark.parametrize(
    ("dirty", "edited", "said"),
    [
        (False, (), ""),
        (True, (), "uncommitted changes; without them"),
        (True, ("rtl/fifo.sv", "rtl/other.sv"), "uncommitted changes in `rtl/fifo.sv`; without them"),
        (True, ("rtl/other.sv", "README.md"), ""),
    ],
)
def test_the_command_of_a_failure_with_uncommitted_changes_says_so(
    place: Layout, *, dirty: bool, edited: tuple[str, ...], said: str
) -> None:
    vcs = Vcs(commit="1" * 40, branch="main", dirty=dirty, edited=edited)
    archive(place, record(1, occurrence(reads=("rtl/fifo.sv",)), vcs=vcs))
    text = _bug(place).read_text()
    assert said in text
    assert ("without them the command may pass" in text) is bool(said)


def test_a_page_begins_with_how_its_cause_stands_and_has_the_advice_of_its_pattern(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    told = pages.regions(_bug(place).read_bytes())
    assert isinstance(told, dict)
    assert f"First cause: `{PRIMARY}`\n- Seen in 1 run" in told["records"]
    assert "- [scoreboard_fail](../patterns/scoreboard_fail.md): Reproduce with the same seed" in told["records"]
    archive(place, passing(2))
    told = pages.regions(_bug(place).read_bytes())
    assert isinstance(told, dict)
    fix = "`0000000` fifo: reset the read pointer, 2026-11-21: passed 1 of 4 runs needed for it to hold"
    assert f"\n- Fixed by {fix}. (source: tasks/" in told["records"]


def test_a_pattern_page_says_what_its_causes_say_as_far_as_they_are_on_record(place: Layout) -> None:
    other = replace(occurrence("b" * 12), primary="UVM_ERROR chk.sv(7) @ 3ns: late *response*")
    archive(place, record(1, occurrence(), other))
    newest = record(2, replace(other, primary="UVM_ERROR chk.sv(9) @ 4ns: no response"))
    archive(place, newest)
    page = place.wiki / "patterns" / "scoreboard_fail.md"
    first, second, *_ = (line for line in page.read_text().splitlines() if line.startswith("| [RTL_"))
    assert "| UVM_ERROR chk.sv: no response | 2026-11-21 |" in first
    assert "| UVM_ERROR sb.sv: reporter \\[SCBD\\] expected … got … | 2026-11-21 |" in second
    record_path(place.tasks, newest).unlink()
    build(place)
    assert "| UVM_ERROR chk.sv: late \\*response\\* | 2026-11-21 |" in page.read_text()


def test_the_index_says_what_each_bug_is(place: Layout) -> None:
    archive(place, record(1, occurrence()))
    (line,) = (line for line in (place.wiki / "index.md").read_text().splitlines() if _bug(place).stem in line)
    assert " | UVM_ERROR sb.sv" in line
    assert "RTL bug" not in line


def test_a_coverage_page_says_since_when_its_bin_is_as_it_is(place: Layout) -> None:
    row = {"covergroup": "fifo", "bin": "full", "action_class": "actionable", "goal": 1}
    for number, hits in ((1, 0), (30, 0), (31, 2), (60, 3)):
        archive(place, record(number, coverage=({**row, "hits": hits, "filled": hits > 0},)))
        text = (place.wiki / "coverage" / "fifo_full.md").read_text()
        day = "2026-11-21" if number < 31 else "2026-11-22"
        assert (
            f"{'Covered' if hits else 'Not covered'} since {day}, {hits} of 1 hits in the newest run. (source" in text
        )
    assert "| Date | Task | Class | Hits | State |" in text


@pytest.mark.parametrize("choice", ["COCOTB_TEST_FILTER", "TESTCASE", None])
def test_a_page_says_how_to_run_what_a_test_that_runs_alone_may_need(place: Layout, choice: str | None) -> None:
    variables = {} if choice is None else {choice: "t"}
    archive(place, record(1, occurrence(command=Command(arguments=("make",), variables=variables))))
    advice = f"If the test passes alone, run all tests of its simulation: leave out `{choice}`."
    assert (advice in _bug(place).read_text(encoding="utf-8")) is (choice is not None)


def test_a_long_command_stands_on_its_page_whole(place: Layout) -> None:
    excluded = " and ".join(["wrap", *(f"not wrap_around_number_{number}" for number in range(20))])
    long = Command(arguments=("pytest", "t.py::test_run", f"--cocotb-pytest-args=t.py -k '{excluded}'"))
    archive(place, record(1, occurrence(command=long)))
    assert "not wrap_around_number_19'\"\n" in _bug(place).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("primary", "title"),
    [
        ("AssertionError: assert 104 == 78", "AssertionError: assert … == … in check_sum"),
        ("AssertionError: assert not False", "AssertionError: assert not … in check_sum"),
        ("AssertionError: sum assert 104 == 78", "AssertionError: sum assert … == …"),
        ("ValueError: 3", "ValueError: …"),
    ],
)
def test_a_title_names_the_function_of_an_assertion_without_words(place: Layout, primary: str, title: str) -> None:
    said = Place(report="AssertionError", words="", file="tb/test_sum.py", line=12, function="check_sum")
    archive(place, record(1, occurrence(primary=primary, place=said)))
    assert f"\n# {title}\n" in _bug(place).read_text()
