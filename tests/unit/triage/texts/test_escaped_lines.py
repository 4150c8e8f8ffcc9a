"""A log with escaped line feeds on one line is read as several lines."""

from __future__ import annotations

import json

import pytest

from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.texts.escaped_lines import Folds, contained_lines
from pytest_dvwiki.triage.texts.reading import TextClassifier

LOG = (
    "make: Entering directory '/w/tb'\n"
    "   40.00ns WARNING  cocotb.regression                  test_fifo.test_wrap failed\n"
    f"{' ' * 56}Traceback (most recent call last):\n"
    f'{" " * 56}  File "/w/tb/test_fifo.py", line 31, in test_wrap\n'
    f'{" " * 56}    assert dut.q.value == 5, "wrap"\n'
    f"{' ' * 56}AssertionError: assert 4 == 5\n"
    "make: *** [Makefile:9: sim] Error 1\n"
)


@pytest.mark.parametrize(
    "line",
    [
        json.dumps(LOG),
        json.dumps({"exit": 2, "stdout": LOG}),
        json.dumps(json.dumps({"stdout": LOG})),
        repr(LOG.encode()),
        f"stderr={LOG.encode()!r}",
        LOG.replace("\n", "\\n"),
        "::error file=tb.py,line=3::" + LOG.replace("%", "%25").replace("\n", "%0A"),
        LOG.replace("\n", "<br>"),
    ],
)
def test_a_log_in_a_string_has_its_lines(line: str) -> None:
    text = contained_lines(line)
    assert text is not None
    assert "AssertionError: assert 4 == 5" in [each.strip() for each in text.split("\n")]


@pytest.mark.parametrize(
    "line",
    [
        '    raise AssertionError(f"wanted {exp}\\nbut got {act}\\nat {time}")',
        '        $display("FAIL: %d\\n expected %d\\n got %d\\n", i, e, a);',
        '    print("error\\nat\\nonce\\n")',
        "echo -e 'error: a\\nerror: b\\nerror: c'",
        'File "C:\\new\\nodes\\names\\test_dut.py", line 3, in test',
        "xmvlog: *E,EXPSMC (C:\\nets\\new\\n.sv,3|1): expecting a semicolon",
        '   "wanted {exp}\\nbut got {act}"',
        "a line as any other",
    ],
)
def test_source_code_and_paths_are_left_alone(line: str) -> None:
    assert contained_lines(line) is None


def test_strings_of_a_notebook_and_of_a_container_lose_their_quotes() -> None:
    assert contained_lines('      "dut.sv:3: syntax error near \\"end\\"\\n",') == 'dut.sv:3: syntax error near "end"'
    assert (
        contained_lines('{"log":"dut.sv:3: syntax error\\n","stream":"stderr","time":"t"}') == "dut.sv:3: syntax error"
    )


def test_half_a_sign_and_bytes_that_are_no_text_do_no_harm() -> None:
    block = b'"a\\nerror: \\ud83d\\ude00 \\ud800\\n \xff"\n'
    assert Folds().feed(block) == "\na\nerror: \ufffd\ufffd \ufffd\n ".encode() + b"\xff\n\n"


def test_lines_keep_the_numbers_that_they_have_in_the_text() -> None:
    folds = Folds()
    blocks = [b'one\n"two\\ntoo\\n"\nthree\n', b'"four\\nfor\\nfore"\nfive\n']
    first = folds.feed(blocks[0])
    lines = (first + folds.feed(blocks[1], lambda: first.count(b"\n"))).decode().split("\n")
    where = {line: folds.line(number) for number, line in enumerate(lines, start=1) if line}
    assert where == {"one": 1, "two": 2, "too": 2, "three": 3, "four": 4, "for": 4, "fore": 4, "five": 5}


def test_a_verdict_names_the_line_of_the_text() -> None:
    text = "first\n" + json.dumps({"n": 1, "log": LOG}) + "\nlast\n"
    verdict = TextClassifier(load_registry()).classify_text(text)
    assert verdict is not None
    assert (verdict.error_class, verdict.failure_subtype, verdict.line) == ("sim_error", "scoreboard_fail", 2)
    assert {other.line for other in verdict.runners_up} == {2}
