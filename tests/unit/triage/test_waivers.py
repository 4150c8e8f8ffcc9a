"""Failures that people accept: matches, expired entries, and errors in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.model import Failure, Verdict, Waived
from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.waivers import Accepting, Waivers, load_waivers

if TYPE_CHECKING:
    from pathlib import Path

CAUSE = "9b1f03c2a7d4"
FAILURE = Failure(nodeid="tests/test_fifo.py::test_k[fatal]")
VERDICT = Verdict(
    error_class="uvm_error",
    failure_subtype="scoreboard_fail",
    fingerprint=CAUSE,
    primary="UVM_ERROR sb.sv(210) @ 1250: [SCBD] expected 0x12 got 0x13",
    pattern="uvm.scoreboard_mismatch",
)
DAY = "2026-11-21"


def read(tmp_path: Path, text: str) -> tuple[Waivers, list[str]]:
    path = tmp_path / "waivers.yaml"
    path.write_text(text, encoding="utf-8")
    waivers = load_waivers(path)
    return waivers, [problem.removeprefix(f"{tmp_path}/") for problem in waivers.problems]


def one(match: str, **keys: str) -> str:
    fields = {"reason": "waits for the specification", "owner": "fifo team", "expires": "'2026-12-31'"} | keys
    told = "".join(f"    {key}: {value}\n" for key, value in fields.items())
    return f"waivers:\n  - id: W-12\n    match: {match}\n{told}"


def names_of(fingerprint: str, former: str | None) -> tuple[list[str], list[str]]:
    prints = [name for name in (fingerprint, former) if name]
    return prints, ["RTL_20261121_480127"] if fingerprint == CAUSE else []


def waived(waivers: Waivers, day: str = DAY) -> tuple[Waived, ...]:
    return waivers.apply([FAILURE], [VERDICT], names_of, day)


@pytest.mark.parametrize(
    "match",
    [
        f"{{fingerprint: '{CAUSE}'}}",
        "{pattern: uvm.scoreboard_mismatch}",
        "{test: 'tests/test_fifo.py::test_k[fatal]'}",
        "{test: 'tests/*::test_k[*]'}",
        "{test: 'tests/test_fifo.py::test_k[????l]'}",
        "{message: '*expected 0x?? got*'}",
        "{message: 'regex:expected 0x[0-9a-f]+ got'}",
        "{page: RTL_20261121_480127}",
        f"{{fingerprint: '{CAUSE}', test: '*test_k*', message: 'regex:^UVM_ERROR'}}",
    ],
)
def test_a_failure_that_agrees_in_all_that_is_given_is_waived(tmp_path: Path, match: str) -> None:
    waivers, problems = read(tmp_path, one(match))
    assert problems == []
    (found,) = waived(waivers)
    assert found == Waived(
        id="W-12",
        fingerprint=CAUSE,
        tests=(FAILURE.nodeid,),
        reason="waits for the specification",
        owner="fifo team",
        expires="2026-12-31",
    )
    assert waivers.notes(DAY) == waivers.unused([found.id], DAY, "this run") == ()


@pytest.mark.parametrize(
    "match",
    [
        "{fingerprint: '9b1f*x'}",
        "{test: 'test_k[fatal]'}",
        "{test: 'tests/test_fifo.py::test_[kl]?fatal?'}",
        "{message: 'expected'}",
        "{message: 'regex:^expected'}",
        f"{{fingerprint: '{CAUSE}', test: 'other'}}",
        "{page: RTL_*7x}",
    ],
)
def test_any_other_failure_counts_and_the_waiver_is_unused(tmp_path: Path, match: str) -> None:
    waivers, problems = read(tmp_path, one(match))
    assert (problems, waived(waivers)) == ([], ())
    assert waivers.unused((), DAY, "3 runs") == ("[WAIVER] W-12: matched no failure of 3 runs",)


def test_an_expired_waiver_counts_as_absent_and_says_so(tmp_path: Path) -> None:
    waivers, _ = read(tmp_path, one(f"{{fingerprint: '{CAUSE}'}}"))
    assert waived(waivers, "2026-12-31")
    assert waived(waivers, "2027-01-01") == ()
    (note,) = waivers.notes("2027-01-01")
    assert note == (
        "[WAIVER] expired and no longer in effect: W-12: waits for the specification (fifo team, until 2026-12-31);"
        " renew or remove it"
    )


@pytest.mark.parametrize(
    ("match", "accepted"),
    [
        ("{message: '*expected 0x12*'}", True),
        ("{pattern: 'uvm.*'}", True),
        ("{pattern: 'uvm.*', message: 'regex:0x13$'}", True),
        ("{pattern: 'uvm.*', message: 'regex:0x14$'}", False),
        ("{pattern: 'cocotb.*'}", False),
        ("{message: '*expected 0x12*', test: '*'}", False),
    ],
)
@pytest.mark.parametrize("day", [DAY, "2027-01-01"])
def test_an_error_line_is_accepted_where_its_message_and_pattern_tell(
    tmp_path: Path, match: str, accepted: bool, day: str
) -> None:
    waivers, _ = read(tmp_path, one(match))
    line = "UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] expected 0x12 got 0x13"
    assert Accepting(Matcher(load_registry()), waivers, day).is_accepted(line) is (accepted and day == DAY)


def test_under_global_every_error_line_is_accepted(tmp_path: Path) -> None:
    waivers, _ = read(tmp_path, "mode: global\n")
    assert Accepting(Matcher(load_registry()), waivers, DAY).is_accepted("UVM_ERROR x")


def test_a_waiver_may_have_no_end(tmp_path: Path) -> None:
    waivers, problems = read(tmp_path, one(f"{{fingerprint: '{CAUSE}'}}", expires="null"))
    assert (problems, waived(waivers, "2999-01-01")[0].expires) == ([], None)


def test_global_accepts_every_failure_prints_each_reason_and_calls_none_unused(tmp_path: Path) -> None:
    waivers, problems = read(
        tmp_path, "mode: global\n" + one("{test: other}").replace("    match: {test: other}\n", "")
    )
    assert problems == []
    (found,) = waived(waivers)
    assert (found.id, found.tests) == ("global", (FAILURE.nodeid,))
    assert waivers.notes("2999-01-01") == (
        "[WAIVED_INFO] W-12: waits for the specification (fifo team, until 2026-12-31)",
    )


def test_without_a_file_or_with_an_empty_one_nothing_is_waived(tmp_path: Path) -> None:
    assert load_waivers(tmp_path / "waivers.yaml") == Waivers()
    assert read(tmp_path, "") == (Waivers(), [])
    assert read(tmp_path, "mode: selective\nwaivers: []\n") == (Waivers(), [])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("mode: selective\nwaivers: ]\n", "waivers.yaml:2: "),
        ("- a\n", "waivers.yaml:1: expected `mode:` and `waivers:`; no failure is waived"),
        ("mode: all\n", "waivers.yaml:1: mode 'all': write selective or global; selective is assumed"),
        ("waiver: []\n", "waivers.yaml:1: unknown key 'waiver'; the nearest is 'waivers'"),
        ("\nwaivers: x\n", "waivers.yaml:2: expected a list: a waiver begins with `- id:`; no failure is waived"),
        (
            "waivers:\n  - x\n",
            "waivers.yaml:2: expected keys id, match, reason, owner, expires, approved_by, ticket, added_by, added",
        ),
        (one("{test: x}", reson="y"), "waivers.yaml:7: no such key 'reson'; the nearest is 'reason'"),
        (one("{test: x}", reason="''"), "waivers.yaml:4: a waiver needs reason"),
        (one("{test: x}").replace("    owner: fifo team\n", ""), "waivers.yaml:2: a waiver needs owner"),
        (one("{}"), "waivers.yaml:3: `match` needs at least one condition: fingerprint, pattern"),
        (one("{tests: x}"), "waivers.yaml:3: a waiver cannot match by 'tests'; the nearest is 'test'"),
        (one("{fingerprint: 12345678}"), "waivers.yaml:3: fingerprint must be a quoted string, got 12345678"),
        (one("{message: 'regex:('}"), "waivers.yaml:3: 'regex:(' is not a valid regular expression"),
        (one("{test: x}", expires="soon"), "waivers.yaml:6: expires 'soon' is not a date; write it as 2026-12-31"),
        (one("{test: x}") + one("{test: x}").removeprefix("waivers:\n"), "waivers.yaml:7: the id 'W-12' appears twice"),
    ],
)
def test_a_mistake_names_file_line_and_remedy(tmp_path: Path, text: str, told: str) -> None:
    waivers, (problem,) = read(tmp_path, text)
    assert problem.startswith(told)
    assert f"[WAIVER] {tmp_path}/{problem}" in waivers.notes(DAY)


def test_a_waiver_that_cannot_be_used_leaves_the_others(tmp_path: Path) -> None:
    good = f"  - id: W-1\n    match: {{fingerprint: '{CAUSE}'}}\n    reason: r\n    owner: o\n"
    waivers, problems = read(tmp_path, one("{tests: x}") + good)
    assert [each.id for each in waived(waivers)] == ["W-1"]
    assert problems[0].endswith("; this waiver is ignored")


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"\x00", b"a: &x [*x]", b"? [a]\n: b", b"waivers:\n  - [1]: 2\n"])
def test_a_file_of_any_bytes_is_read(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "waivers.yaml").write_bytes(data)
    assert load_waivers(tmp_path / "waivers.yaml").problems
