"""`dvwiki init --agent` installs the skill for agents, and its commands run unchanged."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from pytest_dvwiki.cli import main
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import PRIMARY, git, layout, occurrence, record

if TYPE_CHECKING:
    import pytest

SKILL = Path(".agents/skills/dvwiki-triage/SKILL.md")


def test_it_is_installed_once_and_stays_as_people_changed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    assert not SKILL.exists()
    assert main(["init", "--agent"]) == 0
    assert f"made {SKILL}" in capsys.readouterr().out
    text = SKILL.read_text("utf-8")
    _, front, _ = text.split("---\n", 2)
    assert yaml.safe_load(front).keys() == {"name", "description"}
    assert yaml.safe_load(front)["name"] == SKILL.parent.name
    assert main(["init", "--agent"]) == 0
    assert "SKILL.md" not in capsys.readouterr().out
    SKILL.write_text(f"{text}\nOurs.\n", "utf-8")
    assert main(["init", "--agent"]) == 0
    assert f"{SKILL} differs from the current skill and was left alone" in capsys.readouterr().out
    assert SKILL.read_text("utf-8").endswith("Ours.\n")
    assert main(["init", "--agent", "other/skills"]) == 0
    assert Path("other/skills/dvwiki-triage/SKILL.md").read_text("utf-8") == text


def test_its_commands_run_as_they_stand(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    (tmp_path / "sim.log").write_text(f"{PRIMARY}\n", "utf-8")
    assert main(["init", "--agent", "--root", str(tmp_path)]) == 0
    (page,) = (path.stem for path in (place.wiki / "bugs").glob("RTL*"))
    commands = re.findall(r"```sh\n(.*?)```", (tmp_path / SKILL).read_text("utf-8"), re.DOTALL)
    said = {}
    for command in "".join(commands).splitlines():
        done = subprocess.run(
            ["sh", "-eu", "-c", command],
            cwd=tmp_path,
            env=os.environ
            | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
            | {"LOG": "sim.log", "WORDS": "scoreboard mismatch", "PAGE": f"bugs/{page}"}
            | {"NOTE": f"The pointer wraps early. (source: tasks/{record(1).task_id}.yaml)"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        said[command] = done.stdout
    assert f"Page: bugs/{page}.md" in said["dvwiki context --newest"]
    assert "pattern uvm.scoreboard_mismatch" in said['dvwiki context --log "$LOG"']
    assert page in said['dvwiki search "$WORDS" --category bugs']
    assert "COCOTB_RANDOM_SEED=42 pytest tests/test_fifo.py::test_fifo" in said['dvwiki rerun "$PAGE"']
    assert PRIMARY in said['dvwiki get "$PAGE"']
    assert "by agent on" in (place.wiki / "bugs" / f"{page}.md").read_text("utf-8")
    assert said["dvwiki lint --depth quick"].strip() == "the wiki is sound"
