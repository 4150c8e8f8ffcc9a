"""The files for CI systems have the required form, and their scripts are valid for a shell."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pytest_dvwiki.records.store import write_record

from .samples import git, layout, occurrence, record

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


def test_workflows_pass_actionlint() -> None:
    if shutil.which("actionlint") is None:
        pytest.skip("actionlint is not installed")
    done = subprocess.run(
        ["actionlint", *map(str, SCHEMAS["vendor.github-workflows"])], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def commit_record(repository: Path, name: str, **files: str) -> None:
    for path, text in {f"{name}.yaml": name, **files}.items():
        (repository / path).write_text(text)
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", f"{name}\n\nDvwiki-Task: {name}")


@pytest.mark.parametrize("path", sorted(CI.rglob("*.sh")), ids=lambda path: path.name)
def test_a_shell_reads_each_script(path: Path) -> None:
    for shell in filter(shutil.which, ("sh", "bash", "dash")):
        subprocess.run([shell, "-n", str(path)], check=True)


def test_a_shallow_clone_pushes_its_own_record_alone(tmp_path: Path) -> None:
    origin, clone, tip = tmp_path / "origin", tmp_path / "clone", tmp_path / "tip"
    git(tmp_path, "init", "-q", "-b", "main", str(origin))
    commit_record(origin, "first", **{"top.v": "old"})
    commit_record(origin, "second")
    git(tmp_path, "clone", "-q", "--depth=2", origin.as_uri(), str(clone))
    commit_record(clone, "mine")
    (origin / "top.v").write_text("new")
    git(origin, "rm", "-q", "second.yaml")
    git(origin, "commit", "-qam", "sources")
    git(origin, "checkout", "-q", "--detach")
    for answer in ("pushed to main", "main is up to date"):
        push = [str(CI / "push.sh"), "origin", "main"]
        done = subprocess.run(push, cwd=clone, capture_output=True, text=True, check=False)
        assert answer in done.stdout, done.stderr
    git(tmp_path, "clone", "-q", "-b", "main", str(origin), str(tip))
    assert sorted(path.name for path in tip.iterdir()) == [".git", "first.yaml", "mine.yaml", "top.v"]
    assert (tip / "top.v").read_text() == "new"
    assert git(tip, "log", "--format=%s").stdout.split() == ["mine", "sources", "second", "first"]


def test_pages_that_do_not_merge_are_pushed_only_with_a_build(tmp_path: Path) -> None:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    git(tmp_path, "init", "-q", "-b", "main", str(origin))
    commit_record(origin, "first", **{"page.md": "1"})
    git(tmp_path, "clone", "-q", str(origin), str(clone))
    commit_record(clone, "mine", **{"page.md": "2, mine"})
    commit_record(origin, "theirs", **{"page.md": "2, theirs"})
    tip = git(origin, "rev-parse", "main").stdout
    done = subprocess.run(
        [str(CI / "push.sh"), "origin", "main"], cwd=clone, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "holds pages, which merge only with --build; shards use --dvwiki-archive=record" in done.stderr
    assert git(origin, "rev-parse", "main").stdout == tip


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


def test_the_artifact_holds_the_records_of_its_own_run_alone(tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (script,) = (step["run"] for step in action["runs"]["steps"] if "RUNNER_TEMP" in step.get("run", ""))
    project, temporary = tmp_path / "project", tmp_path / "temporary"
    tasks = project / ".agent" / "tasks"
    month = tasks / "2026" / "11"
    git(tmp_path, "init", "-q", str(project))
    for _ in range(2):  # a project without records has none to upload
        environment = {"PATH": os.environ["PATH"], "RUNNER_TEMP": str(temporary)}
        subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=project, env=environment, check=True)
        month.mkdir(parents=True, exist_ok=True)
        commit_record(month, "earlier")
        (month / "mine of today.yaml").write_text("mine")
    # Below a hidden folder, `dvwiki ingest` would not look for it.
    assert list(temporary.rglob("*.yaml")) == [temporary / "dvwiki" / "2026" / "11" / "mine of today.yaml"]


_GH = """\
#!{python}
import json, pathlib, sys
state = pathlib.Path("comments.json")
known = json.loads(state.read_text()) if state.exists() else []
words = sys.argv[1:]
with open("calls.txt", "a") as calls:
    print(" ".join(words), file=calls)
body = next((pathlib.Path(word.split("@")[1]).read_text() for word in words if word.startswith("body=@")), "")
if "repos/o/r/pulls" in words:
    print(7)
elif "PATCH" in words:
    known[0] = body
elif "POST" in words:
    known.append(body)
elif known:
    print(1)
state.write_text(json.dumps(known))
"""


def test_the_comment_is_one_and_is_updated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flow = yaml.safe_load((CI / "examples" / "github-comment.yml").read_text(encoding="utf-8"))
    (script,) = (step["run"] for step in flow["jobs"]["comment"]["steps"] if "gh api" in step.get("run", ""))
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(_GH.format(python=sys.executable))
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{gh.parent}:{Path(sys.executable).parent}:/usr/bin:/bin")
    for name, value in {
        "REPOSITORY": "o/r",
        "HEAD_OWNER": "me",
        "HEAD_BRANCH": "x$(touch hit)",
        "HEAD_SHA": "1",
    }.items():
        monkeypatch.setenv(name, value)
    place = layout(tmp_path)
    (tmp_path / ".agent").mkdir()
    for number in (1, 2):
        write_record(tmp_path / "artifact", record(number, occurrence()))
        subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, check=True, capture_output=True)
    (comment,) = json.loads((tmp_path / "comments.json").read_text())
    assert comment.startswith("<!-- dvwiki -->\n### dvwiki: 1 cause behind 1 failed test: 1 known")
    assert not (tmp_path / "hit").exists()
    assert "PATCH repos/o/r/issues/comments/1" in (tmp_path / "calls.txt").read_text()
    assert place.tasks.is_dir()
