"""Tests the exit status of `dvwiki spec generate`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.cli import main

from ..specs.samples import ITEM, SECTION3, replies

if TYPE_CHECKING:
    from pathlib import Path

    from llm_server import LlmServer


def test_done_and_needs_review(project: Path, llm_server: LlmServer, capsys: pytest.CaptureFixture[str]) -> None:
    llm_server.set_up(project, calls_per_minute=0)
    llm_server.say(*replies())
    (project / "IMP-1.yaml").write_text(ITEM)
    assert main(["spec", "generate", "IMP-1.yaml", "--output", "out"]) == 0
    out = capsys.readouterr().out
    assert "IMP-1: round 5 of 5, implementation guide: " in out
    assert "spec.section4: openai small: answered (" in out
    assert "IMP-1: warning: IMP-1.check.yaml.draft is not in the review queue: there is no wiki\n" in out
    assert out.endswith("IMP-1: done: out/IMP-1_ItemSpec.md\n")
    assert "../logs/sta*.log" in (project / "out/IMP-1.check.yaml.draft").read_text()
    (request, *_) = llm_server.requests
    assert request["messages"][0]["content"].startswith("## Role")
    llm_server.say(*replies(section3=SECTION3.replace("Netlist version", "header")))
    (project / "IMP-2.yaml").write_text(ITEM)
    assert main(["spec", "generate", "IMP-1.yaml", "IMP-2.yaml", "--output", "out", "--debug", "seen"]) == 1
    assert "dvwiki spec: the waiver '3.2 Netlist by hand' mentions no item of section 2\n" in capsys.readouterr().err
    assert main(["spec", "generate", "--clean", "0", "--output", "out"]) == 0
    assert capsys.readouterr().out == "removed 1 round folder from out/.resume_cache\n"


def test_wrong_input_and_no_model(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "a.yaml").write_text("description: d\n")
    assert main(["spec", "generate"]) == 2
    assert main(["spec", "generate", "--clean", "-1"]) == 2
    assert main(["spec", "generate", "a.yaml", "--jobs", "0"]) == 2
    assert main(["spec", "generate", "no.yaml"]) == 2
    assert capsys.readouterr().err.endswith("dvwiki spec: no.yaml: there is no such file; check the name\n")
    assert main(["spec", "generate", "a.yaml", "no.yaml"]) == 3
    assert "dvwiki spec: no model is set up; list one under" in capsys.readouterr().err
    settings = {"librarian": {"backends": [{"command": "no-such-command"}]}}
    (project / ".agent/project.yaml").write_text(json.dumps(settings))
    assert main(["spec", "generate", "a.yaml"]) == 3
    assert "dvwiki spec: no model answered: command: " in capsys.readouterr().err


def test_the_old_call_names_the_actions(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["spec", "axi", "--type", "t", "--text", "x"])
    assert "choose from" in capsys.readouterr().err
