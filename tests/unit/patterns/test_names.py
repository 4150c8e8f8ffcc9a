"""Words inside names decide nothing."""

from __future__ import annotations

import pytest

from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.names import nameless
from pytest_dvwiki.patterns.registry import load_registry

MATCHER = Matcher(load_registry())


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("** Error: Assertion error. Time: 50 ns Scope: tb.a_timeout_watchdog File: tb.sv Line: 9", "assertion_fail"),
        ("ERROR: tb.sv:24: Assertion a_expected_mismatch failed Time: 30 Scope: tb", "assertion_fail"),
        ("xmsim: *E,ASRTST (./tb.sv,24): (time 50 NS) Assertion tb.a_mismatch has failed", "assertion_fail"),
        ("ASSERT: Error: ASRT_0005 tb.sv(24): Assertion 'mismatch' FAILED", "assertion_fail"),
        ("[50] %Error: tb.sv:24: Assertion failed in top.tb.timeout: 'assert' failed.", "assertion_fail"),
        ("tb.vhd:9:3:@50ns:(assertion error): a_timeout_check", "assertion_fail"),
        ("AssertionError: timeout_flag must stay low", "assertion_fail"),
        ("AssertionError: model_ready never rose", "assertion_fail"),
        ("UVM_ERROR tb.sv(9) @ 50: uvm_test_top.env.drv [CHK] timeout_cfg register reads 3", "unclassified_message"),
    ],
)
def test_a_name_does_not_decide(message: str, wanted: str) -> None:
    found = MATCHER.match(message)
    assert found is not None
    assert found.pattern.failure_subtype == wanted


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("** Error: watchdog timeout Time: 50 ns Scope: tb.chk File: tb.sv Line: 9", "timeout"),
        ("ERROR: tb.sv:24: Assertion a_sum failed: expected 3 got 4 Time: 30 Scope: tb", "scoreboard_fail"),
        ("AssertionError: timeout waiting for ready", "timeout"),
        ("AssertionError: exp_data=3 act_data=4", "scoreboard_fail"),
        ("UVM_ERROR sb.sv(9) @ 50: uvm_test_top.env.scoreboard [FAIL] wrong word", "scoreboard_fail"),
        ("UVM_ERROR drv.sv(9) @ 50: uvm_test_top.env.drv [DRV_TIMEOUT] no answer", "timeout"),
    ],
)
def test_words_of_the_message_still_decide(message: str, wanted: str) -> None:
    found = MATCHER.match(message)
    assert found is not None
    assert found.pattern.failure_subtype == wanted


def test_what_is_no_name_stays() -> None:
    text = "UVM_ERROR [MODEL_OVERFLOW] tb.sb.DataMismatchError: exp_q=3 in env.scoreboard, fail_unless_equal: 4"
    assert nameless(text) == text
    assert nameless("Scope: tb.a_timeout said dut.rx_timeout, test 'x_timeout' failed") == (
        "Scope: N said dut.N, test 'N' failed"
    )
