"""The recipes of `ci` for a shard, as scripts for a shell in a clone; they exit with 0 even if tests fail."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT = Path(__file__).parents[2]
_INPUTS = {
    "${{ inputs.run }}": "pytest tests",
    "${{ inputs.task }}": "nightly",
    "${{ inputs.push }}": "main",
    "${{ inputs.push != '' && 'yes' || 'no' }}": "yes",
    "${{ inputs.build == 'yes' && '--build' || '' }}": "",
}
"""The action's expressions, with their values in the example of a nightly matrix."""
_FAILED = "[ $? -eq 1 ]"


def by_hand() -> str:
    run = "python -m pytest -q tests --dvwiki --dvwiki-task nightly --dvwiki-archive=record --dvwiki-commit"
    return f"{run}\n{_FAILED} || exit 9\nci/push.sh origin main"


def github() -> str:
    """Return the steps of the action in order, with the variables that a runner sets."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    *steps, last = (each for each in action["runs"]["steps"] if each.get("if") != "inputs.push == ''")
    lines = [f"export GITHUB_ACTION_PATH={ROOT} GITHUB_OUTPUT=../output$JOB", 'rm -f "$GITHUB_OUTPUT"']
    for step in steps:
        assert step["shell"] == "bash"
        variables = {name: _INPUTS.get(value, value) for name, value in step["env"].items()}
        lines.append(f"{_bash(step['run'], variables)} || exit 8")
    assert last["env"] == {"STATUS": "${{ steps.tests.outputs.status }}"}
    lines.append(f'STATUS=$(sed -n s/status=//p "$GITHUB_OUTPUT") {_bash(last["run"], {})}')
    return "\n".join([*lines, _FAILED])


def gitlab() -> str:
    """Return the script of the template, after a checkout without a branch, as on GitLab."""
    shard = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text("utf-8"))[".dvwiki-shard"]
    variables = {**shard["variables"], "CI_DEFAULT_BRANCH": "main"}
    detached = 'git checkout -q --detach\nexport DVWIKI_PUSH_URL="$(git remote get-url origin)"'
    return f"{detached}\n{_bash(chr(10).join(shard['script']), variables)}\n{_FAILED}"


def jenkins() -> str:
    text = (ROOT / "ci" / "examples" / "Jenkinsfile").read_text("utf-8")
    variables = dict(re.findall(r"(DVWIKI_\w+) = '(\w+)'", text))
    tests, push = re.findall(r"sh '([^']+)'", text)[:2]
    return f"{_bash(tests, variables)}\n{_FAILED} || exit 9\n{_bash(push, variables)}"


def _bash(script: str, variables: Mapping[str, str]) -> str:
    given = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
    return f"{given} bash -eo pipefail -c {shlex.quote(script)}".lstrip()


RECIPES: tuple[Callable[[], str], ...] = (by_hand, github, gitlab, jenkins)
