"""No secrets and no unprintable characters leave a process."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from pytest_dvwiki.redact import clean, redact, shorten_paths


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("cloning https://alice:hunter22@git.example.com/rtl.git", "hunter22"),
        ("cloning https://alice@git.example.com/rtl.git", "alice"),
        ("LM_LICENSE_FILE=27000@lic1.corp.example:27001@lic2.corp.example", "corp.example"),
        ("Unable to check out a licence from 5280@cadence-lic", "cadence-lic"),
        ("License server machine: lic-eu.corp.example", "lic-eu"),
        ("SNPSLMD_LICENSE_FILE: /tools/license/key.dat", "key.dat"),
        ("Authorization: Bearer abcdefghijklmnop.qrstuv", "abcdefghijklmnop"),
        ("export API_KEY=s3cr3ts3cr3t", "s3cr3ts3cr3t"),
        ('{"password": "correct horse"}', "correct"),
        ("vsim --token abc123def", "abc123def"),
        ("pushed with ghp_abcdefghijklmnopqrstuvwxyz012345", "ghp_abc"),
        ("key AKIAABCDEFGHIJKLMNOP used", "AKIAABCDEFGHIJKLMNOP"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc", "eyJhbGci"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
        ("E   AssertionError: no reply\nE   ghp_abcdefghijklmnopqrstuvwxyz012345", "ghp_abc"),
    ],
)
def test_secrets_are_masked(text: str, secret: str) -> None:
    assert secret in text
    masked = redact(text)
    assert secret not in masked
    assert "[redacted]" in masked


@pytest.mark.parametrize(
    "text",
    [
        "UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] expected 0x12 got 0x13",
        "axi_secret_reg = 0x1234",
        "assert dut.key == 5",
        "token_count: 42",
        "waiting at 1250@ posedge clk",
        "Error at fifo.sv:12: port `data' is not a port of u_fifo.",
        "file:///home/build/rtl/fifo.sv",
    ],
)
def test_what_a_log_says_stays(text: str) -> None:
    assert redact(text) == text


def test_colours_in_a_results_file_are_removed() -> None:
    assert clean("#x1B[91mMISMATCH! Exp: 165#x1B[0m, colour #x1B2F") == "MISMATCH! Exp: 165, colour #x1B2F"


def test_escape_codes_and_control_characters_are_taken_out() -> None:
    assert clean("\x1b[31mFAILED\x1b[0m\x07 a\x00b \x1b]8;;http://x\x07link\x1b]8;;\x07\tend\r\nnext\rlast") == (
        "FAILED ab link\tend\nnext\nlast"
    )


def test_bidirectional_controls_cannot_turn_a_line_round() -> None:
    assert clean("a\u202eb\u2066c\u2028d\ufeff") == "abcd"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/work/p/tb/x.py:5: AssertionError", "tb/x.py:5: AssertionError"),
        ('File "/opt/v/lib/python3.11/site-packages/cocotb/handle.py", line 4', 'File "cocotb/handle.py", line 4'),
        ('File "/usr/lib/python3.12/importlib/__init__.py", line 1', 'File "importlib/__init__.py", line 1'),
        ("/home/alice/proj/rtl/fifo.v:12: error", "rtl/fifo.v:12: error"),
        ("ERROR ..oject-1/tb/env.py(139) [top]: x", "ERROR tb/env.py(139) [top]: x"),
        ("http://host.example/a/b/c.html", "http://host.example/a/b/c.html"),
        ("/tb/dut/u_fifo/sig is X", "/tb/dut/u_fifo/sig is X"),
        ("../rtl/a/b.v", "../rtl/a/b.v"),
    ],
)
def test_paths_say_the_same_on_every_machine(text: str, shown: str) -> None:
    assert shorten_paths(text, PurePosixPath("/work/p")) == shown
