"""An occurrence on record is named again from its excerpt, and never with less evidence than before."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from pytest_dvwiki.model import FailedTest, Occurrence
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.again import reclassify_failure
from pytest_dvwiki.triage.texts.reading import TextClassifier
from pytest_dvwiki.version import FINGERPRINT_VERSION

from ..samples import occurrence

CLASSIFIER = TextClassifier(load_registry())
OLD = FINGERPRINT_VERSION - 1
TRACEBACK = """\
AssertionError: assert 3 == 4
Traceback (most recent call last):
  File "/work/tb/checks.py", line 12, in check_read
    assert dut.q.value == expected
AssertionError: assert 3 == 4"""


def of_text(text: str, **changes: str) -> Occurrence:
    """Return the record of a failure of which only the text is known."""
    verdict = CLASSIFIER.classify_text(text)
    assert verdict is not None
    given = {
        "error_class": verdict.error_class,
        "failure_subtype": verdict.failure_subtype,
        "pattern": verdict.pattern,
        "primary": verdict.primary,
        "excerpt": text,
    }
    return occurrence(verdict.fingerprint, **(given | changes))


@pytest.mark.parametrize("version", [OLD, FINGERPRINT_VERSION])
@pytest.mark.parametrize(
    "text",
    [
        "UVM_ERROR sb.sv(210) @ 1250: top.e.a[3].sb [SCBD] expected 12 got 13",
        "%Error: rtl/dut.sv:7:3: Can't find definition of variable: 'nothing'",
        TRACEBACK,
    ],
)
def test_the_present_registry_names_as_before(text: str, version: int) -> None:
    known = of_text(text)
    verdict = reclassify_failure(known, version, CLASSIFIER)
    assert verdict is not None
    assert (verdict.fingerprint, verdict.pattern) == (known.fingerprint, known.pattern)
    assert (verdict.error_class, verdict.failure_subtype) == (known.error_class, known.failure_subtype)


def test_a_fingerprint_of_the_present_version_stays_with_its_first_cause() -> None:
    known = of_text(TRACEBACK)
    moved = occurrence("e" * 12, primary=known.primary, excerpt=known.primary)
    verdict = reclassify_failure(moved, FINGERPRINT_VERSION, CLASSIFIER)
    assert verdict is not None
    assert verdict.fingerprint == "e" * 12


def test_an_older_fingerprint_of_an_exception_needs_its_place() -> None:
    assert reclassify_failure(of_text(TRACEBACK, excerpt="AssertionError: assert 3 == 4"), OLD, CLASSIFIER) is None


@pytest.mark.parametrize("excerpt", ["", "  \n", "nothing in here is known to anybody"])
def test_what_leaves_nothing_to_judge_keeps_its_verdict(excerpt: str) -> None:
    assert reclassify_failure(occurrence(excerpt=excerpt, primary="nothing"), OLD, CLASSIFIER) is None


def test_a_first_cause_that_still_names_a_cause_stays_the_first() -> None:
    first = "UVM_ERROR sb.sv(210) @ 1250: top.e.sb [SCBD] expected 12 got 13"
    known = of_text(first, excerpt="%Error: rtl/dut.sv:7:3: syntax error, unexpected end\n" + first)
    verdict = reclassify_failure(known, FINGERPRINT_VERSION, CLASSIFIER)
    assert verdict is not None
    assert verdict.fingerprint == known.fingerprint


def test_a_roll_up_gives_way_to_the_cause_that_the_registry_knows_now() -> None:
    summary = "make: *** [Makefile:3: sim] Error 2"
    excerpt = f"%Error: rtl/dut.sv:7:3: Can't find definition of variable: 'x'\n{summary}"
    known = occurrence("e" * 12, primary=summary, pattern=None, failure_subtype="unknown", excerpt=excerpt)
    verdict = reclassify_failure(known, FINGERPRINT_VERSION, CLASSIFIER)
    assert verdict is not None
    assert verdict.failure_subtype == "undeclared_identifier"
    assert verdict.fingerprint != "e" * 12


def test_an_assertion_without_a_simulator_stays_the_testbench_s() -> None:
    plain = FailedTest(nodeid="tests/test_model.py::test_it")
    verdict = reclassify_failure(replace(of_text(TRACEBACK), tests=(plain,)), FINGERPRINT_VERSION, CLASSIFIER)
    assert verdict is not None
    assert (verdict.error_class, verdict.failure_subtype) == ("python_error", "assertion_error")
