"""The result of a check: the six scenarios, waivers, and odd input."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from pytest_dvwiki.checks import text
from pytest_dvwiki.checks.schema import CheckError

if TYPE_CHECKING:
    from .conftest import Folder

CHECK = """
description: Confirm the netlist/spef version is correct.
input_files: ["${RUN}/logs/sta*.log"]
items:
- {name: netlist loading, match: 'Reading netlist (?P<value>\\S+)', pattern: false}
- {name: netlist version, match: '^// Generator: (?P<value>(?P<tool>\\S*) (?P<version>\\S*))',
   required: [tool, version], from: netlist loading}
- {name: SPEF loading, match: 'Reading spef (?P<value>\\S+)', pattern: false}
- {name: SPEF version, match: '^\\*PROGRAM "(?P<value>[^"]*)"', from: SPEF loading}
"""
LOG = "start\nReading netlist top.v\n"
NETLIST = "// Generator: Genus 21.1\n// Generator: Innovus 20.1\nmodule top;\n"
LISTS = ("found", "missing", "extra", "waived", "unused_waivers")


def outcome(folder: Folder, check: str, **files: str) -> dict[str, Any]:
    """Return status and lists of a result, by name of the item, or by tag and value."""
    folder.write("logs/sta.log", files.get("log", LOG))
    folder.write("logs/top.v", files.get("netlist", NETLIST))
    folder.write("logs/top.spef", files.get("spef", '*SPEF\n*PROGRAM "StarRC 2023"\n'))
    told = folder.check(check, RUN=str(folder.path)).as_json()
    return {"status": told["status"]} | {
        name: [entry["item"] or (entry["tag"], entry["value"]) for entry in told[name]]
        for name in LISTS
        if name in told
    }


def block(requirements: str, waivers: str) -> str:
    return f"{CHECK}requirements: {requirements}\nwaivers: {waivers}\n"


NETLIST_ITEMS = ["netlist loading", "netlist version"]
SPEF_ITEMS = ["SPEF loading", "SPEF version"]
WITH_SPEF = LOG + "Reading spef top.spef\n"


@pytest.mark.parametrize(
    ("requirements", "waivers", "log", "expected"),
    [
        pytest.param(
            "{value: N/A}", "{value: N/A}", WITH_SPEF,
            {"status": "PASS", "found": NETLIST_ITEMS + SPEF_ITEMS, "missing": []},
            id="1 everything there",
        ),
        pytest.param(
            "{value: N/A}", "{value: N/A}", LOG,
            {"status": "FAIL", "found": NETLIST_ITEMS, "missing": SPEF_ITEMS},
            id="1 before extraction",
        ),
        pytest.param(
            "{value: N/A}", "{value: 0, waive_items: [Legacy design exception]}", LOG,
            {"status": "PASS", "found": NETLIST_ITEMS, "missing": [],
             "waived": [*SPEF_ITEMS, ("[WAIVED_INFO]", "Legacy design exception")], "unused_waivers": []},
            id="2",
        ),
        pytest.param(
            "{value: N/A}", "{value: 2, waive_items: ['*SPEF*', SPEF version]}", LOG,
            {"status": "PASS", "found": NETLIST_ITEMS, "missing": [], "waived": SPEF_ITEMS, "unused_waivers": []},
            id="3 synthesis",
        ),
        pytest.param(
            "{value: N/A}", "{value: 2, waive_items: ['*SPEF*', '*synthesis*']}", WITH_SPEF,
            {"status": "PASS", "found": NETLIST_ITEMS + SPEF_ITEMS, "missing": [], "waived": [],
             "unused_waivers": [("[WAIVER]", "*SPEF*"), ("[WAIVER]", "*synthesis*")]},
            id="3 everything there",
        ),
        pytest.param(
            "{value: 2, pattern_items: [Genus|Innovus, '2023']}", "{value: N/A}", WITH_SPEF,
            {"status": "PASS", "found": NETLIST_ITEMS + SPEF_ITEMS, "missing": [], "extra": []},
            id="4",
        ),
        pytest.param(
            "{value: 2, pattern_items: [Innovus, '2023']}", "{value: 0}", LOG,
            {"status": "PASS", "found": ["netlist loading"], "missing": [], "extra": [],
             "waived": [*SPEF_ITEMS, "netlist version"], "unused_waivers": []},
            id="5",
        ),
        pytest.param(
            "{value: 2, pattern_items: [Innovus, '2024']}", "{value: 2, waive_items: ['regex:Genus 2', nothing]}",
            WITH_SPEF,
            {"status": "FAIL", "found": ["netlist loading", "SPEF loading"], "missing": [], "extra": ["SPEF version"],
             "waived": ["netlist version"], "unused_waivers": [("[WAIVER]", "nothing")]},
            id="6",
        ),
    ],
)  # fmt: skip
def test_the_six_scenarios(
    folder: Folder, requirements: str, waivers: str, log: str, expected: dict[str, object]
) -> None:
    assert outcome(folder, block(requirements, waivers), log=log) == expected


def test_an_entry_says_where_it_comes_from(folder: Folder) -> None:
    folder.write("logs/sta.log", WITH_SPEF)
    folder.write("logs/top.v", NETLIST)
    told = folder.check(
        CHECK + "waivers: {value: 1, waive_items: ['*SPEF version*']}\n", RUN=str(folder.path)
    ).as_json()
    assert told["found"][1] == {
        "item": "netlist version",
        "value": "Genus 21.1",
        "source_file": "logs/top.v",
        "line_number": 1,
        "matched_content": "// Generator: Genus 21.1",
        "parsed_fields": {"tool": "Genus", "version": "21.1"},
    }
    (waived,) = told["waived"]
    assert (waived["waiver"], waived["line_number"]) == ("*SPEF version*", None)
    assert told["missing"][0]["source_file"].endswith("top.spef")  # the file that the log names is missing
    assert told["status"] == "FAIL"
    json.dumps(told)


def test_a_global_waiver_has_tags_and_lines(folder: Folder) -> None:
    folder.write("logs/sta.log", "")
    result = folder.check(CHECK + "waivers:\n  value: 0\n  waive_items:\n  - legacy\n", RUN=str(folder.path))
    assert [each.tag for each in result.waived] == ["[WAIVED_AS_INFO]"] * 4 + ["[WAIVED_INFO]"]
    assert [*text.notes(result)] == ["[WAIVED_INFO] a.check.yaml:13: legacy"]


ONE = "description: d\ninput_files: ['*.log']\nitems: [{name: version, match: 'tool (?P<value>.*)'}]\n"


@pytest.mark.parametrize(
    ("logs", "requirements", "found", "missing", "extra"),
    [
        pytest.param(("x", "tool 1"), "", ["1"], 0, [], id="several files, one with it"),
        pytest.param(("tool 1", "tool 2"), "", ["1", "2"], 0, [], id="several files, nothing says which is right"),
        pytest.param(("tool 1", "tool 2"), "'1'", ["1"], 0, ["2"], id="conflicting data"),
        pytest.param(("tool 3", "tool 2"), "'1'", [], 0, ["3", "2"], id="no pattern found"),
        pytest.param(("x", "y"), "'1'", [], 1, [], id="nothing found"),
        pytest.param(("tool  \t", "x"), "", [], 1, [], id="whitespace only"),
        pytest.param(("tool 1\ntool 2", "x"), "", ["1"], 0, [], id="two headers"),
        pytest.param(("tool \ntool 2", "x"), "", [], 1, [], id="two headers, the first empty"),
        pytest.param(("tool 1", "tool "), "", ["1"], 1, [], id="incomplete in one file"),
        pytest.param(("", ""), "", [], 1, [], id="empty files"),
    ],
)
def test_odd_data(
    folder: Folder, logs: tuple[str, str], requirements: str, *, found: list[str], missing: int, extra: list[str]
) -> None:
    folder.write("a.log", logs[0])
    folder.write("b.log", logs[1])
    patterns = f"requirements: {{value: 1, pattern_items: [{requirements}]}}\n" if requirements else ""
    result = folder.check(ONE + patterns)
    assert [each.value for each in result.found] == found
    assert len(result.missing) == missing
    assert [each.value for each in result.extra] == extra
    assert result.status == ("FAIL" if missing or extra else "PASS")


def test_some_patterns_found(folder: Folder) -> None:
    folder.write("a.log", "a 1\nb 2\n")
    items = "items: [{name: a, match: 'a (?P<value>.)'}, {name: b, match: 'b (?P<value>.)'}, {name: c, match: c}]\n"
    patterns = "requirements: {value: 3, pattern_items: ['1', '1', c]}\n"
    result = folder.check("description: d\ninput_files: [a.log]\n" + items + patterns)
    assert [[each.item for each in some] for some in (result.found, result.missing, result.extra)] == [
        ["a"],
        ["c"],
        ["b"],
    ]
    assert [*text.lines(result)][:3] == [
        "check violated in a.check.yaml: 'c': is missing: no line of a.log matches",
        "check violated in a.check.yaml: 'b': does not match '1': 2 (a.log:2)",
        "    b 2",
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.log.gz", gzip.compress(b"tool caf\xe9\n")),
        ("a.log.bz2", bz2.compress(b"tool caf\xe9\n")),
        ("a.log.xz", lzma.compress("tool café\n".encode())),
        ("a.log.zst", zstandard.compress("tool café\n".encode())),
        ("a.log", b"tool caf\xe9\n"),
        ("a.log", "tool café\n".encode()),
    ],
    ids=["gz", "bz2", "xz", "zst", "latin-1", "utf-8"],
)
def test_compressed_files_and_other_encodings(folder: Folder, name: str, content: bytes) -> None:
    folder.write(name, content)
    result = folder.check(ONE.replace("*.log", "a.log*"))
    assert [(each.value, each.source_file, each.line_number) for each in result.found] == [("café", name, 1)]


def test_a_broken_file_is_a_violation_and_no_claim_is_made_about_its_lines(folder: Folder) -> None:
    folder.write("a.log.gz", gzip.compress(b"line\n" * 100_000)[:100])
    folder.write("b.log.gz", gzip.compress(b"tool 1\n"))
    result = folder.check(ONE.replace("*.log", "*.gz"))
    assert [each.value for each in result.found] == ["1"]
    ((item, reason),) = [(each.item, each.reason) for each in result.missing]
    assert item == "a.log.gz"
    assert reason.startswith("is missing: it cannot be unpacked: ")
    (folder.path / "b.log.gz").unlink()
    missing = folder.check(ONE.replace("*.log", "*.gz")).missing
    assert [each.item for each in missing] == ["version", "a.log.gz"]
    assert missing[0].reason == "is missing: its file cannot be read"


def test_without_items_each_entry_is_an_item_that_needs_a_file_with_content(folder: Folder) -> None:
    folder.write("a1.log", "")
    folder.write("a2.log", "x")
    folder.write("empty.log", "")
    os.mkfifo(folder.path / "fifo.log")
    files = "input_files: ['a?.log', empty.log, no.log, 'no*.log', fifo.log, 'f*.log']\n"
    result = folder.check("description: d\n" + files)
    assert [(each.item, each.value) for each in result.found] == [("a?.log", "a2.log")]
    assert [(each.item, each.reason.removeprefix("is missing: ")) for each in result.missing] == [
        ("empty.log", "empty.log is empty"),
        ("no.log", "there is no such file"),
        ("no*.log", "there is no such file"),
        ("fifo.log", "fifo.log is a FIFO; replace it with a regular file"),
        ("f*.log", "there is no such file"),
    ]


@pytest.mark.parametrize("name", ["no.log", "a\0b", "x" * 5000])
def test_an_extracted_name_that_names_no_file_is_missing(folder: Folder, name: str) -> None:
    folder.write("a.log", f"reads {name}\n")
    items = "[{name: n, match: 'reads (?P<value>.+)'}, {name: v, from: n, match: '.'}]"
    missing = folder.check(f"description: d\ninput_files: [a.log]\nitems: {items}\n").missing
    assert "is missing: its file cannot be read" in [each.reason for each in missing if each.item == "v"]


def test_variables_and_brackets_stand_for_themselves(folder: Folder) -> None:
    folder.write("run[1]*/a[2].log", "x")
    entry = "description: d\ninput_files: ['${RUN}/a[2].log']\n"
    assert folder.check(entry, RUN=str(folder.path / "run[1]*")).status == "PASS"
    for environment in ({}, {"RUN": ""}):
        with pytest.raises(CheckError, match=r"a\.check\.yaml:2: the variable RUN is not set; export it"):
            folder.check(entry, **environment)


def test_too_many_files_are_refused(folder: Folder) -> None:
    for number in range(1001):
        (folder.path / f"{number}.log").touch()
    with pytest.raises(
        CheckError, match=r"a\.check\.yaml:2: '\*\.log' matches more than 1000 files; make it more specific"
    ):
        folder.check("description: d\ninput_files: ['*.log']\n")


def test_a_named_file_is_looked_for_beside_the_log_and_the_check(folder: Folder) -> None:
    folder.write("logs/a.log", "spef deep/a.spef\n")
    items = "items: [{name: a, match: 'spef (?P<path>\\S+)'}, {name: b, match: '.+', from: a}]\n"
    check = "description: d\ninput_files: [logs/a.log]\n" + items
    assert [each.item for each in folder.check(check).missing] == ["b", "a.spef"]
    folder.write("deep/a.spef", "of the check\n")
    assert folder.check(check).found[1].value == "of the check"
    folder.write("logs/deep/a.spef", "of the log\n")
    assert folder.check(check).found[1].value == "of the log"
    folder.write("logs/a.log", "nothing\n")
    assert [each.reason for each in folder.check(check).missing][1] == "is missing: 'a' names no file"


def test_secrets_and_escapes_of_a_file_do_not_get_out(folder: Folder) -> None:
    folder.write("a.log", "tool \x1b[31mred\x1b[0m password=hunter2hunter2\n")
    told = json.dumps(folder.check(ONE).as_json()) + "\n".join(text.lines(folder.check(ONE)))
    assert "hunter2" not in told
    assert "\x1b" not in told
    assert "u001b" not in told


def test_nothing_to_check_is_told(folder: Folder) -> None:
    result = folder.check("description: d\n")
    assert (result.status, result.is_empty) == ("PASS", True)
    assert [*text.notes(result)] == [
        "[CHECK] a.check.yaml: the check has neither items nor input_files, so nothing was checked"
    ]


EXPECTED = """expected:
- {when: it is there, status: PASS, found: [version], missing: []}
- {when: it is not, status: FAIL, found: [], missing: [version]}
"""


def test_a_check_with_expected_results_is_right_where_it_has_one_of_them(folder: Folder) -> None:
    folder.write("a.log", "tool 1")
    result = folder.check(ONE + EXPECTED)
    assert (result.is_right, result.as_json()["expectation"]) == (True, "it is there")
    folder.write("a.log", "x")
    result = folder.check(ONE + EXPECTED)
    assert (result.status, result.is_right) == ("FAIL", True)
    assert [*text.notes(result)] == ["[CHECK] a.check.yaml: FAIL as expected: it is not"]
    result = folder.check(ONE + EXPECTED.replace("status: FAIL", "status: PASS"))
    assert (result.is_right, result.as_json()["expectation"]) == (False, None)
    assert next(text.lines(result)) == (
        "check violated in a.check.yaml: 'expected': the result matches none of the 2 expected results"
    )


def test_expected_results_compare_only_the_lists_that_they_have(folder: Folder) -> None:
    folder.write("a.log", "x")
    waived = "waivers: {value: 0, waive_items: [old tool]}\n"
    assert folder.check(ONE + waived + "expected: [{status: PASS, waived: [version, old tool]}]\n").is_right
    assert not folder.check(ONE + waived + "expected: [{status: PASS, waived: [version]}]\n").is_right
