"""The files for CI systems have the form that these systems ask for, and the scripts are ones that a shell can read."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CI = ROOT / "ci"
SCHEMAS = {
    "vendor.github-actions": [ROOT / "action.yml"],
    "vendor.github-workflows": sorted((CI / "examples").glob("github-*.yml")),
    "vendor.gitlab-ci": [CI / "gitlab.yml", CI / "examples" / "gitlab-ci.yml"],
}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_for_ci_systems_follow_their_schemas(schema: str) -> None:
    pytest.importorskip("check_jsonschema")
    done = subprocess.run(
        ["check-jsonschema", "--builtin-schema", schema, *map(str, SCHEMAS[schema])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", sorted(CI.rglob("*.sh")), ids=lambda path: path.name)
def test_a_shell_reads_each_script(path: Path) -> None:
    for shell in filter(shutil.which, ("sh", "bash", "dash")):
        subprocess.run([shell, "-n", str(path)], check=True)


def test_the_workflow_that_may_write_runs_nothing_of_the_pull_request() -> None:
    text = (CI / "examples" / "github-comment.yml").read_text(encoding="utf-8")
    flow = yaml.safe_load(text)
    assert flow["permissions"] == {"actions": "read", "contents": "read", "pull-requests": "write"}
    (checkout,) = (
        step for step in flow["jobs"]["comment"]["steps"] if step.get("uses", "").startswith("actions/checkout")
    )
    assert checkout["with"] == {"ref": "${{ github.event.repository.default_branch }}", "persist-credentials": False}
    scripts = " ".join(step.get("run", "") for step in flow["jobs"]["comment"]["steps"])
    assert "${{" not in scripts, "what a pull request is called must not become a command"
    assert not re.search(r"pytest |git push|git checkout|git fetch", scripts.replace("pytest-dvwiki", ""))


def test_the_action_takes_its_inputs_as_data() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert not [step for step in action["runs"]["steps"] if "${{" in step.get("run", "")]
