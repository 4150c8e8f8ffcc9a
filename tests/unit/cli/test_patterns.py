"""`dvwiki patterns`: active patterns, why one won, their tests, and usable proposals."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from pytest_dvwiki.cli import main
from pytest_dvwiki.model import Origin
from pytest_dvwiki.patterns.registry import load_registry, precedence
from pytest_dvwiki.records import store

from ..samples import failed, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

OWN = """
- id: {id}
  error_class: sim_error
  failure_subtype: protocol_violation
  tier: cause
  tools: [serdes]
  match: ["{match}"]
  description: The link went down.
  fix: Ask the link team.
  examples: ["{example}"]
"""
LINK = OWN.format(id="own.link", match="LINK: lane \\\\d+ lost its lock", example="LINK: lane 3 lost its lock")
LOG = """\
all is well
UVM_ERROR sb.sv(210) @ 1250: env.sb [SCBD] expected 3 got 4, 0 errors so far
dut.sv:7: error: Unknown module type: missing_sub
dut.sv:9: error: Unknown module type: other_sub
2 error(s) during elaboration.
simulation finished with 0 errors and no failures
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".agent" / "patterns").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def own(root: Path, text: str = LINK, name: str = "own.yaml") -> Path:
    path = root / ".agent" / "patterns" / name
    path.write_text(text, encoding="utf-8")
    return path


def said(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert main(["patterns", *arguments]) == status
    return capsys.readouterr().out


# list


def test_list_shows_all_in_their_order_with_their_files(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(root, LINK + LINK.replace("own.link", "icarus.fatal"))
    lines = said(capsys, "list").splitlines()
    whole = len(load_registry())
    assert lines[0].split() == ["PATTERN", "CLASS", "/", "SUBTYPE", "TIER", "FILE"]
    assert lines[-1] == f"{whole + 1} of {whole + 1} patterns ({whole - 1} built in, 2 of the project)"
    assert len(lines) == whole + 3
    names = [line.split()[0] for line in lines[1:-1]]
    assert names[0].startswith("benign.")
    assert names.index("own.link") < names.index("uvm.scoreboard_mismatch")
    replaced = next(line for line in lines if line.startswith("icarus.fatal "))
    assert replaced.endswith(".agent/patterns/own.yaml (replaces builtin/icarus.yaml)")


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (("--tool", "serdes"), {"own.link"}),
        (("--own",), {"own.link"}),
        (("--subtype", "protocol_violation", "--tool", "SerDes"), {"own.link"}),
        (("--class", "compile_error", "--own"), set()),
        (("LINK", "team"), {"own.link"}),
        (("--tier", "benign", "zero"), {"benign.zero_count"}),
    ],
)
def test_list_filters(
    root: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], ids: set[str]
) -> None:
    own(root)
    found = {entry["id"] for entry in json.loads(said(capsys, "list", *arguments, "--format", "json"))}
    assert found == ids if ids != {"benign.zero_count"} else ids <= found


def test_list_as_json_has_every_field(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(root)
    (entry,) = json.loads(said(capsys, "list", "--own", "--format", "json"))
    assert entry["match"] == ["LINK: lane \\d+ lost its lock"]
    assert (entry["source"], entry["replaces"]) == (".agent/patterns/own.yaml", None)


def test_list_in_detail_says_what_to_do(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(root)
    text = said(capsys, "list", "--own", "-v")
    assert "    means    The link went down.\n    fix      Ask the link team.\n" in text
    assert "    match    LINK: lane \\d+ lost its lock\n" in text


def test_a_broken_pattern_is_told_and_the_others_are_listed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(root, LINK + LINK.replace("own.link", "own.bad").replace("tier: cause", "tier: root"))
    assert main(["patterns", "list", "--own"]) == 0
    captured = capsys.readouterr()
    assert "own.link" in captured.out
    assert "left out: .agent/patterns/own.yaml:15: pattern own.bad: field tier: " in captured.err


# why


def test_why_names_line_pattern_rule_and_runners_up(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(root, OWN.format(id="own.module", match="Unknown module type: other", example="Unknown module type: other"))
    (root / "build.log").write_text(LOG, encoding="utf-8")
    text = said(capsys, "why", "build.log")
    assert text.startswith("build.log: uvm_error / scoreboard_fail, fingerprint ")
    assert "  line     2: UVM_ERROR sb.sv(210)" in text
    assert "  pattern  uvm.scoreboard_mismatch (builtin/uvm.yaml)" in text
    assert "  rule     the earliest message that gives a cause" in text
    assert "  not      3: dut.sv:7: error: Unknown module type: missing_sub (icarus.unknown_module)" in text
    assert "        2  uvm.scoreboard_mismatch (cause)  <- this one" in text
    assert "        4  own.module (cause)\n" in text
    assert "also matched by icarus.unknown_module" in text.partition("own.module (cause)")[2]
    assert all(" ".join(rule.split())[:60] in " ".join(text.split()) for rule in precedence())


def test_why_tells_what_a_benign_pattern_took_back(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(root, "- {id: own.soft, tier: benign, match: ['Unknown module type'], description: We build parts.}\n")
    (root / "build.log").write_text("dut.sv:7: error: Unknown module type: missing_sub\n", encoding="utf-8")
    text = said(capsys, "why", "build.log")
    assert text.startswith("build.log: no failure found\n")
    assert "        1  own.soft (benign)  <- no failure\n" in text


def test_why_tells_what_stands_in_a_test_that_passed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "sim.log").write_text(
        "     0.00ns INFO     cocotb.regression                  running t.a (1/1)\n"
        "    20.00ns ERROR    scoreboard                         MISMATCH: expected 3 got 4\n"
        "    30.00ns INFO     cocotb.regression                  t.a passed\n",
        encoding="utf-8",
    )
    text = said(capsys, "why", "sim.log")
    assert text.startswith("sim.log: no failure found\n")
    assert "cause, noise)  <- in a test that passed" in text


def test_why_reads_standard_input_and_stays_short(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flood = "".join(f"dut.sv:{n}: error: Unknown module type: m{n} {'x ' * 300}\n" for n in range(1, 501))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(flood.encode())))
    text = said(capsys, "why", "-")
    assert text.startswith("standard input: compile_error / missing_module")
    assert "Patterns match 500 of its 500 lines; the first 20:" in text
    assert len(text.splitlines()) < 120
    assert max(map(len, text.splitlines())) <= 130


def test_why_as_json(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "build.log").write_text(LOG, encoding="utf-8")
    answer = json.loads(said(capsys, "why", "build.log", "--format", "json", "--limit", "1"))
    assert answer["verdict"]["pattern"] == "uvm.scoreboard_mismatch"
    assert (answer["matched"], len(answer["lines"])) == (4, 1)


def test_why_of_a_file_that_is_not_there(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["patterns", "why", "absent.log"]) == 2
    assert "absent.log: cannot be read (no such file or directory); check the name" in capsys.readouterr().err


# test


def test_test_passes_where_all_holds(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(root)
    samples = root / ".agent" / "patterns" / "samples"
    for name, text in {"own.link/one.log": "boot\nLINK: lane 7 lost its lock\n", "passes/ok.log": "0 errors\n"}.items():
        (samples / name).parent.mkdir(parents=True)
        (samples / name).write_text(text, encoding="utf-8")
    assert said(capsys, "test").endswith(" counterexamples, 2 samples: no problems\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (LINK.replace("lane 3", "lane three"), "own.yaml: pattern own.link: field examples: the pattern does not"),
        (LINK.replace("lane \\\\d+", "(?!x)"), "own.yaml:7: pattern own.link: field match: "),
        (LINK.replace("  fix: Ask the link team.\n", ""), "own.yaml:2: pattern own.link: field fix: "),
        (
            OWN.format(id="own.wide", match="error: ", example="error: x"),
            "own.yaml: pattern own.wide: field match: matches the example ",
        ),
    ],
)
def test_test_names_file_pattern_and_field(
    root: Path, capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    own(root, text)
    assert f".agent/patterns/{told}" in said(capsys, "test", status=1)


def test_test_checks_files_before_they_are_saved(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "draft.yaml").write_text(LINK.replace("lane 3", "lane three"), encoding="utf-8")
    assert "draft.yaml: pattern own.link: field examples" in said(capsys, "test", "draft.yaml", status=1)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("own.link/a.log", "nothing here\n", "samples/own.link/a.log: pattern own.link: field match: finds nothing"),
        ("own.link/a.log", "dut.sv:3: syntax error\n", "field match: matches line 1, 'dut.sv:3: syntax error'"),
        ("passes/a.log", "LINK: lane 1 lost its lock\n", "pattern own.link: field match: matches line 1"),
        ("own.gone/a.log", "x\n", "samples/own.gone/a.log: no pattern has the id own.gone"),
    ],
)
def test_test_names_samples_that_fail(
    root: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, told: str
) -> None:
    own(root)
    path = root / ".agent" / "patterns" / "samples" / name
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert told in said(capsys, "test", status=1)


# propose


def unknown(
    root: Path, runs: int, text: str = "frame dropped by lane {n} of the serdes", fingerprint: str = "a" * 12
) -> None:
    for number in range(runs):
        primary = text.format(n=number + 2)
        store.write_record(
            layout(root).tasks,
            record(
                number + 40 * (fingerprint != "a" * 12),
                occurrence(
                    fingerprint,
                    error_class="unknown",
                    failure_subtype="unknown",
                    pattern=None,
                    origin=Origin(type="UNKNOWN", confidence=0.0),
                    primary=primary,
                    excerpt=f"before\n{primary}\nafter",
                    tests=(failed(),),
                ),
                occurrence(),
            ),
        )


def test_propose_prints_yaml_that_holds_once_saved(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unknown(root, 3)
    text = said(capsys, "propose")
    assert "# 3 runs, 3 failing tests, 2026-11-21, fingerprint aaaaaaaaaaaa: tests/test_fifo.py::" in text
    (entry,) = yaml.safe_load(text)
    assert entry["match"] == ["frame dropped by lane \\S+ of the serdes"]
    assert entry["examples"][0] == "frame dropped by lane 4 of the serdes"
    assert entry["error_class"] == "sim_error"
    assert not list((root / ".agent" / "patterns").iterdir())  # printed, never written
    own(root, text)
    assert "no problems" in said(capsys, "test")
    assert said(capsys, "propose") == ""  # now it is known


def test_propose_asks_for_enough_runs_and_says_what_it_passed_over(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown(root, 2)
    assert main(["patterns", "propose", "--min-runs", "3"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "no failure without a pattern was seen in 3 or more runs\n"
        "failures without a pattern that were seen in fewer than 3 runs: 1\n"
    )


def test_propose_tells_causes_apart_by_their_records(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unknown(root, 2)
    unknown(root, 2, text="frame held by lane {n} of the serdes", fingerprint="b" * 12)
    entries = yaml.safe_load(said(capsys, "propose"))
    assert [entry["match"] for entry in entries] == [
        ["frame dropped by lane \\S+ of the serdes"],
        ["frame held by lane \\S+ of the serdes"],
    ]
    assert "frame held by lane 3 of the serdes" in entries[0]["counterexamples"]


def test_propose_without_records(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["patterns", "propose"]) == 2
    assert "records come with `pytest --dvwiki` and `dvwiki ingest`" in capsys.readouterr().err
