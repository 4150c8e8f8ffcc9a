"""`dvwiki check` prints the results of checks, and its exit status tells whether they passed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_status_and_output(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "good.check.yaml").write_text("description: d\ninput_files: [good.check.yaml]\n")
    (project / "bad.check.yaml").write_text(
        "description: d\ninput_files: [no.log]\nwaivers: {value: 1, waive_items: [x]}\n"
    )
    assert main(["check", "good.check.yaml"]) == 0
    assert capsys.readouterr().out == (
        "PASS good.check.yaml\n  check of type 1: d\n  found 'good.check.yaml': good.check.yaml\n"
    )
    assert main(["check", "good.check.yaml", "bad.check.yaml", "--format", "json"]) == 1
    good, bad = map(json.loads, capsys.readouterr().out.splitlines())
    assert (good["status"], bad["status"], good.keys() & {"extra", "waived"}) == ("PASS", "FAIL", set())
    assert [each["item"] for each in bad["missing"]] == ["no.log"]
    assert [each["value"] for each in bad["unused_waivers"]] == ["x"]
    assert main(["check", "bad.check.yaml", "no.check.yaml"]) == 2
    output = capsys.readouterr()
    assert output.err == "dvwiki check: no.check.yaml: there is no such file; check the name\n"
    assert "check violated in bad.check.yaml: 'no.log': is missing: there is no such file\n" in output.out
