"""Results files of all writers are read alike, and the error for an unusable one names the file."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.files.results import Case, EmptyResultsError, ResultsError, read_results

if TYPE_CHECKING:
    from pathlib import Path

RUNNER = """<?xml version='1.0' encoding='utf-8'?>
<testsuites name="cocotb tests"><testsuite name="t_fifo" errors="0" failures="1" skipped="1" tests="3"
 time="0.1" timestamp="2026-11-21T20:27:30+00:00" hostname="vm">
<testcase classname="t_fifo" name="reset" time="0.010"><properties><property name="cocotb" value="True" />
<property name="random_seed" value="42" /><property name="file" value="/repo/t_fifo.py" /></properties></testcase>
<testcase classname="t_fifo" name="overflow" time="0.250">
<failure message="expected 4 got 3&#10;assert 3 == 4" type="AssertionError">Traceback (most recent call last):
  File "/repo/t_fifo.py", line 24, in overflow
    assert dut.q.value == 4
AssertionError: expected 4 got 3
</failure><properties><property name="random_seed" value="42" /><property name="file" value="/repo/t_fifo.py" />
<property name="line" value="18" /><property name="sim_time_unit" value="ns" />
<property name="sim_time_start" value="20.001" /><property name="sim_time_stop" value="70.001" />
<property name="sim_time_duration" value="50.0" /><property name="sim_time_ratio" value="nan" />
<property name="attachment" value="/repo/sim.log" /><property name="attachment" value="/repo/w.vcd" /></properties>
<system-err>Test failed with COCOTB_RANDOM_SEED=42</system-err></testcase>
<testcase classname="t_fifo" name="later" time="0.000"><skipped message="Test was skipped" />
<properties><property name="cocotb" value="True" /></properties></testcase>
</testsuite></testsuites>
"""

COCOTB_1_9 = """<testsuites name="results"><testsuite name="all" package="all">
<property name="random_seed" value="1700000000" />
<testcase name="t_bare_assert" classname="t_scoreboard" file="/repo/t_scoreboard.py" lineno="11" time="0.002"
 sim_time_ns="30.0" ratio_time="12000.5"><failure message="Test failed with RANDOM_SEED=1700000000" /></testcase>
<testcase name="t_ok" classname="t_scoreboard" file="/repo/t_scoreboard.py" lineno="4" time="0.002"
 sim_time_ns="30.0" ratio_time="12000.5" /></testsuite></testsuites>
"""

COCOTB_2_0 = """<testsuites name="results"><testsuite name="all" package="all">
<property name="random_seed" value="1795312851" />
<testcase name="wraps" classname="t_fifo" file="/repo/t_fifo.py" lineno="18" time="0.25" sim_time_ns="1250.0"
 ratio_time="5000.0"><failure error_type="AssertionError" error_msg="expected 4 got 3&#10;assert 3 == 4" /></testcase>
<testcase name="starts" classname="t_fifo" file="/repo/t_fifo.py" lineno="30" time="0" sim_time_ns="0"
 ratio_time="0"><failure msg="Test initialization failed" /></testcase></testsuite></testsuites>
"""

NATIVE = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest">
<testcase classname="test_nat" name="test_bad" time="0.001"><properties><property name="cocotb" value="True" />
<property name="sim_time_stop" value="2.001" /><property name="sim_time_unit" value="ns" />
<property name="runner_nodeid" value="test_nat.py::test_runner" /><property name="random_seed" value="42" />
<property name="file" value="test_nat.py" /><property name="line" value="12" /></properties>
<failure message="AssertionError: assert 0 == 3&#10; +  where">async def test_bad(dut):
&gt;       assert dut.d.value == 3
E       AssertionError: assert 0 == 3

/repo/test_nat.py:15: AssertionError</failure></testcase></testsuite></testsuites>
"""

JUNIT = """<testsuite name="pytest" tests="3"><testcase classname="tests.test_a.TestA" name="test_x[1]" time="1,024.5">
<error message="failed on setup with &quot;RuntimeError: no&quot;">E RuntimeError: no</error></testcase>
<testcase classname="a" name="known"><skipped type="pytest.xfail" message="later" /></testcase>
<testcase classname="a" name="both"><failure message="first">one</failure><error message="second">two</error></testcase>
</testsuite>
"""


STRIPPED = """<testsuites{root}><testsuite{suite}><testcase classname="t_fifo" name="wraps" time="0.2"{case}>
<failure{failure}>Traceback</failure>{inside}</testcase></testsuite></testsuites>
"""


def cases(tmp_path: Path, text: str | bytes) -> tuple[Case, ...]:
    path = tmp_path / "results.xml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_results(path).cases


def test_a_runner_s_file_gives_name_outcome_text_seed_time_and_place(tmp_path: Path) -> None:
    reset, overflow, later = cases(tmp_path, RUNNER)
    assert (reset.fullname, reset.status, reset.seed) == ("t_fifo.reset", "passed", "42")
    assert (overflow.status, overflow.type) == ("failed", "AssertionError")
    assert overflow.message == "expected 4 got 3\nassert 3 == 4"
    assert overflow.text.splitlines()[1] == '  File "/repo/t_fifo.py", line 24, in overflow'
    assert (overflow.sim_time_stop, overflow.sim_time_unit) == ("70.001", "ns")
    assert (overflow.file, overflow.line, overflow.duration_s) == ("/repo/t_fifo.py", 18, 0.25)
    assert overflow.attachments == ("/repo/sim.log", "/repo/w.vcd")
    assert (later.status, later.message) == ("skipped", "Test was skipped")


def test_the_first_suite_s_time_is_the_file_s(tmp_path: Path) -> None:
    cases(tmp_path, RUNNER)
    assert read_results(tmp_path / "results.xml").timestamp == "2026-11-21T20:27:30+00:00"


def test_cocotb_1_9_keeps_its_numbers_in_attributes_and_its_seed_at_the_suite(tmp_path: Path) -> None:
    failed, passed = cases(tmp_path, COCOTB_1_9)
    assert (failed.status, failed.type, failed.seed) == ("failed", None, "1700000000")
    assert (failed.file, failed.line, failed.of_cocotb) == ("/repo/t_scoreboard.py", 11, True)
    assert passed.status == "passed"


def test_cocotb_2_0_has_names_of_its_own_for_type_and_message(tmp_path: Path) -> None:
    wraps, starts = cases(tmp_path, COCOTB_2_0)
    assert (wraps.type, wraps.message) == ("AssertionError", "expected 4 got 3\nassert 3 == 4")
    assert (wraps.seed, wraps.of_cocotb) == ("1795312851", True)
    assert (starts.status, starts.type, starts.message) == ("failed", None, "Test initialization failed")


def test_the_native_plugin_writes_the_type_into_the_message_and_counts_lines_from_0(tmp_path: Path) -> None:
    (bad,) = cases(tmp_path, NATIVE)
    assert (bad.type, bad.message) == ("AssertionError", "assert 0 == 3\n +  where")
    assert (bad.file, bad.line) == ("test_nat.py", 13)


def test_a_message_without_a_type_stays_whole(tmp_path: Path) -> None:
    text = RUNNER.replace('message="expected 4 got 3&#10;assert 3 == 4" type="AssertionError"', 'message="%s"')
    (_, unexpected, _) = cases(tmp_path, text % "passed but we expected a failure")
    assert (unexpected.type, unexpected.message) == (None, "passed but we expected a failure")


def test_any_junit_file_is_read(tmp_path: Path) -> None:
    error, known, both = cases(tmp_path, JUNIT)
    assert (error.name, error.status, error.duration_s) == ("test_x[1]", "error", 1024.5)
    assert known.status == "xfailed"
    assert (both.status, both.message, both.text) == ("failed", "first", "one")


def test_names_in_any_script_and_encoding_survive(tmp_path: Path) -> None:
    text = "<?xml version='1.0' encoding='utf-16'?><testsuite><testcase name='größe/x=μ' /></testsuite>"
    assert cases(tmp_path, text.encode("utf-16"))[0].name == "größe/x=μ"


def test_an_empty_file_is_told_from_a_broken_one(tmp_path: Path) -> None:
    with pytest.raises(EmptyResultsError, match=r"results\.xml: the file is empty"):
        cases(tmp_path, "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (RUNNER[:900], "not well-formed XML"),
        ("\x00\x01", "not well-formed XML"),
        ("<html><body/></html>", "its root is <html>"),
        ("<?xml version='1.0' encoding='klingon'?><testsuite/>", "not well-formed XML"),
        ("<testsuite>" + "<a>" * 100, "nested deeper than 64"),
    ],
)
def test_a_file_that_cannot_be_used_names_file_and_reason(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ResultsError, match=reason) as caught:
        cases(tmp_path, text)
    assert caught.value.path == tmp_path / "results.xml"


def test_entities_are_refused_before_they_expand(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE b [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>'
    with pytest.raises(ResultsError, match="declares the entity 'a'"):
        cases(tmp_path, bomb)


def test_an_outside_entity_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hush")
    text = '<!DOCTYPE b [<!ENTITY a SYSTEM "secret">]><testsuite><testcase name="&a;"/></testsuite>'
    with pytest.raises(ResultsError, match="declares the entity"):
        cases(tmp_path, text)


def test_a_missing_file_and_a_folder_are_errors_too(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"cannot be read \(no such file or directory\); check"):
        read_results(tmp_path / "none.xml")
    with pytest.raises(ResultsError, match="is a folder; replace it with a regular file"):
        read_results(tmp_path)


def test_a_huge_text_keeps_head_and_tail_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "results.xml"
    with path.open("w") as stream:
        stream.write('<testsuite><testcase name="t"><failure type="E" message="m">first line\n')
        for _ in range(60):
            stream.write("x" * (1 << 20) + "\n")
        stream.write("last line</failure></testcase></testsuite>")
    tracemalloc.start()
    (case,) = read_results(path).cases
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert case.text.startswith("first line")
    assert case.text.endswith("last line")
    assert len(case.text) < 40_000
    assert peak < 4 << 20


def test_a_huge_tag_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="a tag is larger than 8 MiB"):
        cases(tmp_path, '<testsuite><testcase name="' + "x" * (24 << 20) + '"/></testsuite>')


def test_numbers_that_are_none_do_no_harm(tmp_path: Path) -> None:
    text = '<testsuite><testcase name="a" time="soon" lineno="²" /><testcase name="b" time="-inf" /></testsuite>'
    first, second = cases(tmp_path, text)
    assert (first.duration_s, first.line, second.duration_s) == (0.0, None, 0.0)


@pytest.mark.parametrize(
    ("marks", "of_cocotb", "seed"),
    [
        ({}, False, None),
        ({"root": ' name="pytest tests"', "suite": ' name="pytest"'}, False, None),
        ({"root": ' name="results"', "suite": ' name="lint"'}, False, None),
        ({"root": ' name="cocotb tests"'}, True, None),
        ({"root": ' name="results"', "suite": ' name="all" package="all"'}, True, None),
        ({"case": ' ratio_time="5000.0"'}, True, None),
        ({"inside": '<properties><property name="cocotb" value="True"/></properties>'}, True, None),
        ({"failure": ' error_msg="expected 4 got 3"'}, True, None),
        ({"failure": ' message="Test failed with RANDOM_SEED=1700000000"'}, True, "1700000000"),
    ],
)
def test_a_file_that_a_converter_shortened_is_known_by_what_only_cocotb_writes(
    tmp_path: Path, marks: dict[str, str], of_cocotb: bool, seed: str | None
) -> None:
    text = STRIPPED.format(**{"root": "", "suite": "", "case": "", "failure": "", "inside": ""} | marks)
    (case,) = cases(tmp_path, text)
    assert (case.of_cocotb, case.seed) == (of_cocotb, seed)
