"""An agent system's findings are archived once, outside the event loop, with the texts of the specification."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from pytest_dvwiki.agent.query import WikiQueryService
from pytest_dvwiki.intake.service import WikiIngestService
from pytest_dvwiki.records import codec
from pytest_dvwiki.wiki.config import WikiConfig
from pytest_dvwiki.wiki.lock import locked
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import CAUSE, files, layout, occurrence, record, written

if TYPE_CHECKING:
    from pathlib import Path

PADDED = """\
## Failure Summary
error_class      : uvm_error
failure_subtype  : scoreboard_fail
failing_test     : tests/test_fifo.py::test_fifo
seed             : 42
log              : /ws/project/sim/fifo_42.log:188
context_lines:
```
UVM_ERROR sb.sv(210) @ 1250ns: reporter [SCBD] expected 0x12 got 0x13
UVM_ERROR : 1
```
"""
PLAIN = """\
- **error_class**: uvm_error
- **failure_subtype**: `scoreboard_fail`
- **primary**: UVM_ERROR sb.sv(210) @ 990ns: reporter [SCBD] expected 0x7 got 0x8
"""


@pytest.fixture
def config(tmp_path: Path) -> WikiConfig:
    return WikiConfig(enabled=True, wiki_dir=tmp_path / ".agent" / "wiki")


@pytest.fixture
def service(config: WikiConfig) -> WikiIngestService:
    return WikiIngestService(config)


def metadata(config: WikiConfig, path: str) -> dict[str, Any]:
    return pages.read((config.wiki_dir / path).read_bytes()).metadata


def pattern(service: WikiIngestService, task: str = "cov_fix_001", **changes: Any) -> Any:
    arguments: dict[str, Any] = {
        "failure_subtype": "missing_timescale",
        "error_class": "compile_error",
        "context_lines": ["xmvlog: *E,NOTIME: `timescale not defined"],
        "fix_applied": None,
        "success": True,
        "task_id": task,
    }
    return service.ingest_pattern(**(arguments | changes))


class Called:
    """An agent system's object with a classification."""

    def __init__(self, **values: object) -> None:
        self.__dict__.update(values)


async def session(service: WikiIngestService, **texts: str | None) -> Any:
    arguments: dict[str, Any] = {"failure_summary": None, "classification": None, "coverage_summary": None}
    return await service.ingest_session("report of the session", **(arguments | texts), task_id="debug_7")


def test_a_pattern_gets_its_page_and_no_bug_page(config: WikiConfig, service: WikiIngestService) -> None:
    asyncio.run(pattern(service))
    assert metadata(config, "patterns/missing_timescale.md")["hit_count"] == 1
    assert list((config.wiki_dir / "bugs").glob("[!_]*")) == []
    (found,) = written(config.layout.root)
    assert found["caller_task"] == "cov_fix_001"


def test_every_task_counts_and_the_same_call_counts_once(config: WikiConfig, service: WikiIngestService) -> None:
    for task in ("a", "b", "a", "c", "a"):
        asyncio.run(pattern(service, task))
    assert metadata(config, "patterns/missing_timescale.md")["hit_count"] == 3
    asyncio.run(pattern(service, "a", context_lines=["something else"]))
    assert metadata(config, "patterns/missing_timescale.md")["hit_count"] == 4


def test_the_same_call_later_changes_nothing(config: WikiConfig, service: WikiIngestService) -> None:
    asyncio.run(pattern(service))
    before = files(config.layout.agent)
    time.sleep(1.1)
    asyncio.run(pattern(WikiIngestService(config)))
    assert files(config.layout.agent) == before


def test_the_same_call_in_another_month_is_the_same_record(config: WikiConfig, service: WikiIngestService) -> None:
    asyncio.run(pattern(service))
    (path,) = config.layout.tasks.glob("2*/*/*.yaml")
    earlier = config.layout.tasks / "2024" / "02" / path.name
    earlier.parent.mkdir(parents=True)
    finished = f'finished: "{written(config.layout.root)[0]["finished"]}"'
    text = path.read_text().replace(finished, 'finished: "2024-02-03T04:05:06Z"')
    earlier.write_bytes(codec.seal(text.partition("end: ")[0].encode()))
    path.unlink()
    asyncio.run(pattern(service))
    assert list(config.layout.tasks.glob("2*/*/*.yaml")) == [earlier]
    assert metadata(config, "patterns/missing_timescale.md")["hit_count"] == 1


def test_the_rate_counts_fixes_that_were_tried_and_no_others(config: WikiConfig, service: WikiIngestService) -> None:
    asyncio.run(pattern(service, "a"))
    assert metadata(config, "patterns/missing_timescale.md")["fix_success_rate"] is None
    asyncio.run(pattern(service, "b", fix_applied="added `timescale"))
    asyncio.run(pattern(service, "c", fix_applied="added a macro", success=False))
    page = (config.wiki_dir / "patterns" / "missing_timescale.md").read_text()
    assert metadata(config, "patterns/missing_timescale.md")["fix_success_rate"] == 0.5
    assert "added \\`timescale" in page


def test_calls_at_once_are_all_counted(config: WikiConfig) -> None:
    async def many() -> None:
        services = [WikiIngestService(config) for _ in range(4)]
        await asyncio.gather(*(pattern(services[number % 4], f"task_{number}") for number in range(12)))

    asyncio.run(many())
    assert metadata(config, "patterns/missing_timescale.md")["hit_count"] == 12


@pytest.mark.parametrize(
    "result",
    [
        "BUG_TYPE: RTL_BUG\nConfidence: 0.92\nerror_class: uvm_error\nRationale:\n- stimulus is legal\n",
        "bug_type      : RTL_BUG\nconfidence    : 92%\nerror_class : uvm_error\nreasoning: stimulus is legal",
        '{"bug_type": "RTL_BUG",\n"confidence": 0.92, "error_class": "uvm_error", "reason": "stimulus is legal"}',
        {"bug_type": "rtl_bug", "confidence": 0.92, "error_class": "uvm_error", "rationale": ["stimulus is legal"]},
        Called(
            bug_type=Called(value="RTL_BUG"), confidence=0.92, error_class="uvm_error", reasoning="stimulus is legal"
        ),
    ],
)
def test_a_bug_gets_its_page_however_the_classification_is_written(
    config: WikiConfig, service: WikiIngestService, result: object
) -> None:
    path = asyncio.run(service.ingest_bug(result, ["BRESP is SLVERR"], "debug_42", "sim/axi_42.log:12"))
    assert path.startswith("bugs/RTL_")
    found = metadata(config, path)
    assert (found["type"], found["confidence"], found["error_class"]) == ("RTL_BUG", 0.92, "uvm_error")
    text = (config.wiki_dir / path).read_text()
    assert "- stimulus is legal\n" in text
    assert "log: sim/axi_42.log:12)" in text


def test_a_bug_seen_again_keeps_its_page(config: WikiConfig, service: WikiIngestService) -> None:
    lines = ["BRESP is SLVERR at 1024ns", "BRESP is SLVERR at 2048ns"]
    paths = {
        asyncio.run(service.ingest_bug("bug_type: RTL_BUG", [line], f"task_{number}", "a.log"))
        for number, line in enumerate(lines)
    }
    (path,) = paths
    assert metadata(config, path)["hit_count"] == 2


def test_a_classification_may_name_the_cause_that_it_speaks_of(config: WikiConfig, service: WikiIngestService) -> None:
    known = archive(config.layout, record(1, occurrence())).page_of[CAUSE]
    path = asyncio.run(service.ingest_bug(f"bug_type: RTL_BUG\nfingerprint: {CAUSE}", [], "t", ""))
    assert path == known
    assert metadata(config, known)["hit_count"] == 2


def test_a_cause_that_was_called_unknown_gets_its_page_too(config: WikiConfig, service: WikiIngestService) -> None:
    assert asyncio.run(service.ingest_bug("bug_type: UNCERTAIN", ["odd"], "t", "")).startswith("bugs/UNK_")


@pytest.mark.parametrize("summary", [PADDED, PLAIN])
def test_a_session_is_read_padded_or_not(config: WikiConfig, service: WikiIngestService, summary: str) -> None:
    result = asyncio.run(session(service, failure_summary=summary, classification="BUG_TYPE: RTL_BUG\nCONFIDENCE: 0.8"))
    (path,) = [page for page in result.pages_created if page.startswith("bugs/")]
    found = metadata(config, path)
    assert (found["error_class"], found["failure_subtype"]) == ("uvm_error", "scoreboard_fail")
    assert "patterns/scoreboard_fail.md" in result.pages_created
    (kept,) = written(config.layout.root)
    assert kept["occurrences"][0]["primary"].startswith("UVM_ERROR sb.sv(210)")
    assert kept["evidence"][0] == "report of the session"
    assert result.log_entry == (config.wiki_dir / "log.md").read_text().splitlines()[-1]
    assert "| debug_7_session_" in result.log_entry
    assert (result.task_id, result.index_updated, result.search_index_updated) == ("debug_7", True, True)


def test_the_test_and_the_seed_of_a_session_are_kept(config: WikiConfig, service: WikiIngestService) -> None:
    asyncio.run(session(service, failure_summary=PADDED))
    (cause,) = written(config.layout.root)[0]["occurrences"]
    assert (cause["tests"][0]["nodeid"], cause["tests"][0]["seed"]) == ("tests/test_fifo.py::test_fifo", "42")
    assert (cause["log"]["path"], cause["log"]["line"]) == ("sim/fifo_42.log", 188)
    assert cause["excerpt"].splitlines()[-1] == "UVM_ERROR : 1"


def test_a_session_tells_of_coverage_holes(config: WikiConfig, service: WikiIngestService) -> None:
    summary = (
        "covergroup: axi_write_cov\nbin: back_pressure\naction_class: actionable\npriority: P1\n"
        "scenario: hold BREADY low\nbin: wrap\nfilled: true\n"
    )
    asyncio.run(session(service, coverage_summary=summary))
    hole = metadata(config, "coverage/axi_write_cov_back_pressure.md")
    assert (hole["action_class"], hole["priority"], hole["filled"]) == ("actionable", 1, False)
    assert metadata(config, "coverage/axi_write_cov_wrap.md")["filled"] is True


def test_a_coverage_hole_is_filled_by_a_later_call(config: WikiConfig, service: WikiIngestService) -> None:
    hole = ("axi_cov", "len[0:3]", "actionable")
    asyncio.run(service.ingest_coverage_hole(*hole, "long bursts", False, "plan_1"))
    (page,) = (config.wiki_dir / "coverage").glob("axi_cov_len*.md")
    path = f"coverage/{page.name}"
    assert metadata(config, path)["filled_by_task"] is None
    page.write_text(page.read_text().replace("## Scenario", "## Scenario\n\nOur own words."))
    asyncio.run(service.ingest_coverage_hole(*hole, "long bursts", True, "fill_2"))
    found = metadata(config, path)
    assert (found["bin"], found["filled"]) == ("len[0:3]", True)
    assert found["filled_by_task"].startswith("fill_2_coverage_")
    assert "Our own words." in page.read_text()
    index = (config.wiki_dir / "coverage" / "_index.md").read_text()
    assert "| filled |" in index


def test_an_unknown_action_class_is_an_error_that_names_the_known_ones(service: WikiIngestService) -> None:
    with pytest.raises(ValueError, match="unknown action class 'blocked'; use one of actionable, protocol_blocked, "):
        asyncio.run(service.ingest_coverage_hole("axi_cov", "len", "blocked", "", False, "t"))


def test_coverage_pages_follow_from_records(config: WikiConfig, service: WikiIngestService) -> None:
    for covergroup, name in (("a", "b_c"), ("a_b", "c")):
        asyncio.run(service.ingest_coverage_hole(covergroup, name, "actionable", "", False, "t"))
    before = files(config.wiki_dir)
    assert sum(path.startswith("coverage/a_b_c") for path in before) == 2
    for page in (config.wiki_dir / "coverage").glob("a*.md"):
        page.unlink()
    build(config.layout)
    assert list((config.wiki_dir / "coverage").glob("a*.md")) == []
    build(config.layout, restore=True)
    assert {path for path in files(config.wiki_dir) if path.startswith("coverage/")} == {
        path for path in before if path.startswith("coverage/")
    }
    assert build(config.layout, check=True).changed == []


def test_a_clarification_of_the_specification_gets_its_page_once(
    config: WikiConfig, service: WikiIngestService
) -> None:
    def said(text: str) -> str:
        call = service.ingest_spec_clarification("axi_burst_len", "ambiguous", text, "A3.4.1", "spec_task")
        return asyncio.run(call)

    assert {said("AWLEN counts beats minus one"), said("AWLEN counts beats minus one")} == {
        "specs/axi_burst_len_clarification.md"
    }
    assert said("WRAP has 2, 4, 8 or 16 beats") == "specs/axi_burst_len_clarification.md"
    page = (config.wiki_dir / "specs" / "axi_burst_len_clarification.md").read_text()
    lines = [line for line in page.splitlines() if line.startswith("- ")]
    assert [line.partition("): ")[2].partition(" (source: tasks/spec_task_spec_")[0] for line in lines] == [
        "AWLEN counts beats minus one",
        "WRAP has 2, 4, 8 or 16 beats",
    ]
    assert [found["caller_task"] for found in written(config.layout.root)] == ["spec_task", "spec_task"]
    assert build(config.layout, check=True).changed == []


def test_a_clarification_whose_page_cannot_be_written_has_none(config: WikiConfig, service: WikiIngestService) -> None:
    page = config.wiki_dir / "specs" / "f_clarification.md"
    page.parent.mkdir(parents=True)
    page.write_bytes(b"\xff")
    assert asyncio.run(service.ingest_spec_clarification("f", "missing", "text", None, "t")) == ""
    assert page.read_bytes() == b"\xff"


def test_the_event_loop_is_not_blocked(config: WikiConfig, service: WikiIngestService) -> None:
    async def main() -> None:
        with locked(config.wiki_dir):
            call = asyncio.create_task(pattern(service))
            await asyncio.sleep(0.2)
            assert not call.done()
        await asyncio.wait_for(call, 20)

    asyncio.run(main())
    assert metadata(config, "patterns/missing_timescale.md")["hit_count"] == 1


def test_a_call_that_nobody_waits_for_is_archived(config: WikiConfig, service: WikiIngestService) -> None:
    async def main() -> None:
        calls = [asyncio.create_task(pattern(service, name)) for name in ("a", "b")]
        await asyncio.sleep(0)
        for call in calls:
            call.cancel()

    with locked(config.wiki_dir):
        asyncio.run(main())
    service._threads.shutdown(wait=True)
    assert metadata(config, "patterns/missing_timescale.md")["hit_count"] == 2


def test_a_failure_is_logged_and_not_raised(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / ".agent").write_text("a file")
    service = WikiIngestService(WikiConfig(wiki_dir=tmp_path / ".agent" / "wiki"))
    with caplog.at_level(logging.ERROR):
        asyncio.run(pattern(service))
        assert asyncio.run(service.ingest_bug("bug_type: RTL_BUG", ["x"], "t", "")) == ""
        result = asyncio.run(session(service, failure_summary=PADDED))
    assert (result.pages_created, result.log_entry, result.index_updated) == ([], "", False)
    assert len(caplog.records) == 3


def test_secrets_do_not_reach_the_wiki(config: WikiConfig, service: WikiIngestService) -> None:
    secret = "ghp_" + "a1B2" * 9
    asyncio.run(session(service, failure_summary=f"{PADDED}\nprimary: failed with {secret}", classification=secret))
    asyncio.run(pattern(service, fix_applied=secret, context_lines=[secret]))
    asyncio.run(service.ingest_coverage_hole("c", "b", "actionable", secret, False, "t"))
    assert not [path for path, data in files(config.layout.agent).items() if secret.encode() in data]


@dataclass(frozen=True, slots=True)
class Slotted:
    bug_type: str


def test_a_classification_without_a_dictionary_is_read(config: WikiConfig, service: WikiIngestService) -> None:
    path = asyncio.run(service.ingest_bug(Slotted("TB_BUG"), ["x"], "t", ""))
    assert path.startswith("bugs/TB_")
    assert layout(config.layout.root) == config.layout


def test_a_reported_fix_is_history_marked_as_reported_and_never_one_that_held(
    config: WikiConfig, service: WikiIngestService
) -> None:
    for task, success in (("cov_fix_001", True), ("tb_fix_007", False), ("cov_fix_042", True)):
        asyncio.run(pattern(service, task, fix_applied="Added timescale", success=success))
    page = (config.wiki_dir / "patterns" / "missing_timescale.md").read_text()
    assert metadata(config, "patterns/missing_timescale.md")["fix_success_rate"] == pytest.approx(0.67, abs=0.01)
    assert page.count("| Added timescale | PASS (reported) |") == 2
    assert page.count("| Added timescale | FAIL (reported) |") == 1
    assert "(2 fixes held, 1 failed, 3 of them only reported)" in page
    with WikiHistory(config.layout) as history:
        known = history.subtype("missing_timescale")
        assert known is not None
        assert known.held_fix is None
    text = WikiQueryService(config).get_known_error_patterns()
    assert "**missing_timescale** (hit_count: 3, fix_rate: 67% as reported)" in text
    assert "Added timescale" not in text
    assert "(held" not in text


def test_a_bug_page_has_title_section_and_owner_as_they_were_given(config: WikiConfig) -> None:
    given = {"bug_type": "RTL_BUG", "confidence": 0.92, "spec_section": "3.4.2", "owner": "ann", "test": "test_burst"}
    call = WikiIngestService(replace(config, ip_types=("axi",))).ingest_bug(
        given | {"title": "AXI SLVERR on 256-byte Boundary Write"}, ["BRESP = 2'b10", "AWADDR=0xFF00"], "debug_042", ""
    )
    path = asyncio.run(call)
    found = metadata(config, path)
    assert (found["spec_section"], found["owner"], found["ip_type"]) == ("3.4.2", "ann", "axi")
    page = (config.wiki_dir / path).read_text()
    assert "\n# AXI SLVERR on 256-byte Boundary Write\n" in page
    assert "AWADDR=0xFF00" in page
    assert "wner `ann`; specification `3.4.2`" in WikiQueryService(config).get_known_rtl_bugs()
